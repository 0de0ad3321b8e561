/* SPDX-License-Identifier: MIT */
/*
 * The known state of each thread.
 *
 * The reader keeps for each thread which register bytes it has told the model, so that a recorder's full
 * snapshots cost nothing if nothing changed.  Flags that are logged bit by bit are combined here: a byte of a
 * flag register is told when all its bits are known.
 *
 * Telling means adding an effect to the reader's open step.  Offsets and data are those of the 'g' layout.
 */
#ifndef LOADERS_BAP_STATE_H
#define LOADERS_BAP_STATE_H

#include "loaders/kit/threads.h"
#include "snapshot.h"
#include "thread.h"
#include "trace.h"
#include "word_ops.h"

/* The number of threads whose state is kept: those seen last. */
#define BAP_MAX_LIVE 64

struct bap_results;

/* The state of all threads at a place of the trace, and the destination of the open step's effects. */
struct bap_known {
	struct bap *rec;             /* borrowed */
	struct bap_look *look;       /* borrowed */
	struct ts_steps *out;        /* borrowed; the open step */
	struct ts_end *end;          /* borrowed; the recording's end, as far as known */
	struct bap_shown *shown;     /* owned; the last list of one of the threads; NULL until it is of use */
	struct bap_results *results; /* owned; NULL until it is of use */
	struct bap_thread *live[BAP_MAX_LIVE]; /* owned; the one seen last comes first */
	uint32_t n_live;
	uint8_t serial;   /* counts lists of values before an instruction, never 0 */
	bool notes_first; /* a look at the first frames, which fills rec->first_flags */
	struct threads threads;
};

/* Initialize @k: nothing is known. */
void bap_known_init(struct bap_known *k, struct bap *rec, struct bap_look *look, struct ts_end *end);
void bap_known_fini(struct bap_known *k);

/* Nothing is known of a thread's registers yet. */
void bap_forget_flags(const struct regmap *names, struct bap_thread *t);

/* Drop all threads. */
void bap_forget_threads(struct bap_known *k);

/* All register bytes are untold again, except for those that the previous instruction wrote. */
void bap_forget_told(struct bap_known *k);

/* Restart the count of lists. */
void bap_forget_seen(struct bap_known *k);

/* A list of values before an instruction begins: no register was seen in it. */
static inline void bap_start_list(struct bap_known *k)
{
	if (__builtin_expect(!++k->serial, 0))
		bap_forget_seen(k);
}

/*
 * A value before the instruction.  The first value of each byte in a frame counts; the last instruction's
 * result has precedence.
 */
void bap_see_reg(struct bap_known *k, struct bap_thread *t, uint32_t off, const uint8_t *data, uint32_t len);

/* A value after the instruction. */
void bap_write_reg(struct bap_known *k, struct bap_thread *t, uint32_t off, const uint8_t *data,
		   uint32_t len);

/* bap_see_reg() for the first @len bytes, 1 to 8, of a word (word_ops.h). */
void bap_see_word(struct bap_known *k, struct bap_thread *t, uint32_t off, uint64_t word, uint32_t len);

/*
 * bap_see_word() for bytes that are not flags and that the list shows once: most were told, and have not
 * changed.
 */
static inline void bap_see_first(struct bap_known *k, struct bap_thread *t, uint32_t off, uint64_t word,
				 uint32_t len)
{
	uint64_t differs = (ts_load(t->data + off) ^ word) | (~ts_load(t->state + off) & BAP_ONES);

	if (__builtin_expect((differs & bap_first_bytes(len)) != 0, 0))
		bap_see_word(k, t, off, word, len);
}

/* An effect with the first @len bytes of a word. */
static inline void bap_tell_word(struct bap_known *k, enum ts_effect_kind kind, uint32_t off, uint64_t word,
				 uint32_t len)
{
	uint8_t bytes[8];

	memcpy(bytes, &word, sizeof(bytes));
	ts_steps_word(k->out, kind, off, bytes, len);
}

/* Remember that the instruction wrote there, while there is room for it. */
static inline void bap_note_last(struct bap_thread *t, uint32_t off, uint32_t len)
{
	if (t->n_last < BAP_MAX_LAST)
		t->last[t->n_last++] = (struct bap_extent){ off, len };
}

/* Did the thread's previous instruction write the byte, and is its value still known? */
bool bap_is_written(const struct bap_thread *t, uint32_t off);

/* The first @len bytes of a word are written, unless they are what was told already. */
static inline void bap_write_bytes(struct bap_known *k, struct bap_thread *t, uint32_t off, uint64_t word,
				   uint32_t len)
{
	uint64_t mask = bap_first_bytes(len), state = ts_load(t->state + off);

	if (!(((ts_load(t->data + off) ^ word) | (~state & BAP_ONES)) & mask))
		return;
	bap_shown_changed(k->shown, t, off, len);
	bap_tell_word(k, TS_FX_REG_WRITE, off, word, len);
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

/* Registers were changed to values that are not logged. */
void bap_lose_reg(struct bap_known *k, struct bap_thread *t, uint32_t off, uint32_t len);

/* The registers of all threads were changed to values that are not logged. */
void bap_lose_all_threads(struct bap_known *k);

/* The following effects belong to @t. */
void bap_switch_thread(struct bap_known *k, const struct bap_thread *t);

/* A new instruction of the thread begins: drop the record of the writes of the previous one. */
static inline void bap_age_writes(struct bap_thread *t)
{
	t->n_last = 0;
	for (unsigned i = 0; i < REGMAP_MAX_FLAGS; i++)
		t->flags[i].last = 0;
}

/* Warn that a value before an instruction differs from the previous instruction's result, which is used. */
void bap_warn_contradiction(struct bap_known *k);

/*
 * Bits before the instruction (see: told by bap_tell_flags() at the end of the list) or after it (write), of
 * flag register @group: those of @mask have @value, at their positions in the register.
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

static inline void bap_write_flags(struct bap_thread *t, unsigned group, uint32_t mask, uint32_t value)
{
	struct bap_flag_bits *f = &t->flags[group];

	f->value = (f->value & ~mask) | (value & mask);
	f->known |= mask;
	f->last |= mask;
}

/*
 * Tell the bytes with a bit in @bits whose needed bits are all known; for the others, with @is_write, tell
 * that they changed.
 */
void bap_tell_flags(struct bap_known *k, struct bap_thread *t, unsigned group, uint32_t bits, bool is_write);

/* Tell the flags at the end of a list of values before an instruction. */
void bap_see_all_flags(struct bap_known *k, struct bap_thread *t);

#endif
