/* SPDX-License-Identifier: MIT */
/*
 * The known state of each thread.
 *
 * The reader records for each thread which register bytes it has reported, so that a recorder's snapshots of
 * all registers produce effects only for changes.  Flags that are logged bit by bit are combined here: a byte
 * of a flag register is reported when all its bits are known.
 *
 * To report a value is to append an effect with it to the reader's open step.  Offsets and data are
 * those of the 'g' layout.
 */
#ifndef LOADERS_BAP_STATE_H
#define LOADERS_BAP_STATE_H

#include "loaders/kit/threads.h"
#include "snapshot.h"
#include "thread.h"
#include "trace.h"
#include "word_ops.h"

/* The number of threads whose state is kept: those with the most recent frames. */
#define BAP_MAX_LIVE 64

struct bap_results;

/* The state of all threads at a place of the trace, and the destination of the open step's effects. */
struct bap_known {
	struct bap *rec;             /* borrowed */
	struct bap_look *look;       /* borrowed */
	struct ts_steps *out;        /* borrowed; the open step */
	struct ts_end *end;          /* borrowed; the recording's end, as far as known */
	struct bap_shown *shown;     /* owned; the last list of one of the threads; NULL until it is needed */
	struct bap_results *results; /* owned; NULL until it is needed */
	struct bap_thread *live[BAP_MAX_LIVE]; /* owned; the most recent one first */
	uint32_t n_live;
	uint8_t serial;   /* counts lists of values before an instruction, never 0 */
	bool notes_first; /* the first frames are being scanned, to fill rec->first_flags */
	struct threads threads;
};

/* Initialize @k: no register is known.  The other parameters are borrowed until bap_known_fini(). */
void bap_known_init(struct bap_known *k, struct bap *rec, struct bap_look *look, struct ts_end *end);
void bap_known_fini(struct bap_known *k);

/* Make all flags of a thread unknown. */
void bap_forget_flags(const struct regmap *names, struct bap_thread *t);

/* Drop all threads. */
void bap_forget_threads(struct bap_known *k);

/* Mark all register bytes as not reported, except those that the previous instruction wrote. */
void bap_forget_reported(struct bap_known *k);

/* Restart the serial numbers of lists at 1. */
void bap_forget_seen(struct bap_known *k);

/* Begin a list of values before an instruction: no register byte has been seen in it. */
static inline void bap_start_list(struct bap_known *k)
{
	if (__builtin_expect(!++k->serial, 0))
		bap_forget_seen(k);
}

/*
 * Process a register value before the instruction.  If a frame has several values of a byte, the first one
 * counts.  The result of the previous instruction has precedence.
 */
void bap_see_reg(struct bap_known *k, struct bap_thread *t, uint32_t off, const uint8_t *data, uint32_t len);

/* Process a register value after the instruction. */
void bap_write_reg(struct bap_known *k, struct bap_thread *t, uint32_t off, const uint8_t *data,
		   uint32_t len);

/* bap_see_reg() for the first @len bytes, 1 to 8, of a word (word_ops.h). */
void bap_see_word(struct bap_known *k, struct bap_thread *t, uint32_t off, uint64_t word, uint32_t len);

/*
 * bap_see_word() for bytes that are not flags and that the list has once.  The fast path is a value that was
 * reported and has not changed.
 */
static inline void bap_see_first(struct bap_known *k, struct bap_thread *t, uint32_t off, uint64_t word,
				 uint32_t len)
{
	uint64_t differs = (ts_load(t->data + off) ^ word) | (~ts_load(t->state + off) & BAP_ONES);

	if (__builtin_expect((differs & bap_first_bytes(len)) != 0, 0))
		bap_see_word(k, t, off, word, len);
}

/* Append an effect with the first @len bytes of a word. */
static inline void bap_append_word(struct bap_known *k, enum ts_effect_kind kind, uint32_t off, uint64_t word,
				 uint32_t len)
{
	uint8_t bytes[8];

	memcpy(bytes, &word, sizeof(bytes));
	ts_steps_word(k->out, kind, off, bytes, len);
}

/* Record that the instruction wrote [off, off + len), if it has fewer than BAP_MAX_LAST writes. */
static inline void bap_note_last(struct bap_thread *t, uint32_t off, uint32_t len)
{
	if (t->n_last < BAP_MAX_LAST)
		t->last[t->n_last++] = (struct bap_extent){ off, len };
}

/* Did the thread's previous instruction write the byte, and is its value still known? */
bool bap_is_written(const struct bap_thread *t, uint32_t off);

/* Report that the first @len bytes of a word are written, unless these values were reported before. */
static inline void bap_write_bytes(struct bap_known *k, struct bap_thread *t, uint32_t off, uint64_t word,
				   uint32_t len)
{
	uint64_t mask = bap_first_bytes(len), state = ts_load(t->state + off);

	if (!(((ts_load(t->data + off) ^ word) | (~state & BAP_ONES)) & mask))
		return;
	bap_shown_changed(k->shown, t, off, len);
	bap_append_word(k, TS_FX_REG_WRITE, off, word, len);
	bap_store(t->data + off, word, mask);
	bap_store(t->state + off, BAP_ONES, mask);
}

/* bap_write_reg() for the first @len bytes, 1 to 8, of a word. */
static inline void bap_write_word(struct bap_known *k, struct bap_thread *t, uint32_t off, uint64_t word,
				  uint32_t len)
{
	bap_note_last(t, off, len);
	bap_write_bytes(k, t, off, word, len);
}

/* Make registers [off, off + len) unknown: they were changed to values that are not logged. */
void bap_lose_reg(struct bap_known *k, struct bap_thread *t, uint32_t off, uint32_t len);

/* Make the registers of all threads unknown. */
void bap_lose_all_threads(struct bap_known *k);

/* Append TS_FX_THREAD: the following effects belong to @t. */
void bap_switch_thread(struct bap_known *k, const struct bap_thread *t);

/* Begin an instruction of the thread: drop the record of the writes of the previous one. */
static inline void bap_age_writes(struct bap_thread *t)
{
	t->n_last = 0;
	for (unsigned i = 0; i < REGMAP_MAX_FLAGS; i++)
		t->flags[i].last = 0;
}

/*
 * Warn that a value before an instruction differs from the result of the previous instruction; the result is
 * used.
 */
void bap_warn_contradiction(struct bap_known *k);

/*
 * Process the bits @mask of flag register @group, which have the values @value: before the instruction
 * (bap_see_flags(); bap_see_all_flags() reports them at the end of the list), or after it
 * (bap_write_flags()).
 */
static inline void bap_see_flags(struct bap_known *k, struct bap_thread *t, unsigned group, uint32_t mask,
				 uint32_t value)
{
	struct bap_flag_bits *f = &t->flags[group];

	if (__builtin_expect((f->last & mask & (f->value ^ value)) != 0, 0))
		bap_warn_contradiction(k);
	mask &= ~f->seen & ~f->last;
	f->contradicted |= mask & f->known & (f->value ^ value);
	f->value = (f->value & ~mask) | (value & mask);
	f->known |= mask;
	f->seen |= mask;
}

/* Set the flags @mask of a group to @value: they are known, and the last instruction wrote them. */
static inline void bap_write_flags(struct bap_thread *t, unsigned group, uint32_t mask, uint32_t value)
{
	struct bap_flag_bits *f = &t->flags[group];

	f->value = (f->value & ~mask) | (value & mask);
	f->known |= mask;
	f->last |= mask;
}

/*
 * Report the bytes of flag register @group that have a bit in @bits and whose bits are all known.  With
 * @is_write, the other bytes with a bit in @bits become unknown.
 */
void bap_report_flags(struct bap_known *k, struct bap_thread *t, unsigned group, uint32_t bits, bool is_write);

/* Report the flags at the end of a list of values before an instruction. */
void bap_see_all_flags(struct bap_known *k, struct bap_thread *t);

#endif
