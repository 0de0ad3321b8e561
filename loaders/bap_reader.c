/* SPDX-License-Identifier: MIT */
/*
 * Frames into steps.
 *
 * Step k is the k-th std frame, and all other frames behind it up to the next std frame: those say what is so before the next
 * instruction.  Only a system call's frame belongs to the std frame after it that has its address.
 *
 * Of each thread the reader keeps which register bytes it has told the model, so that a recorder's full snapshots cost nothing
 * where nothing changed; every BAP_FORGET steps it starts anew, which keeps decode points there small.  Flags that are logged bit
 * by bit are put together here: a byte of a flag register is told when all its bits are known.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bap.h"
#include "bap_schema.h"

#define BAP_FORGET 1024
#define MAX_THREADS 4096
#define MAX_MODULES 4096
#define MAX_PENDING 8
#define MAX_LAST 16
#define BUF_LEN (256u << 10)
#define SCAN_FRAMES 4096

/* What is known of a register byte. */
enum byte_state {
	BYTE_UNTOLD,
	BYTE_TOLD,
	BYTE_WRITTEN, /* told, and written by the thread's previous instruction, all of whose writes are logged */
};

struct extent {
	uint32_t off, len;
};

struct thread {
	uint64_t id;      /* as recorded */
	uint32_t ordinal; /* in the recording */
	uint8_t *data;    /* owned, as are those below; the registers in the 'g' layout */
	uint8_t *state;   /* enum byte_state a byte */
	uint32_t *seen;   /* the frame (reader's serial) in whose list before the instruction the byte was */
	struct extent last[MAX_LAST]; /* where BYTE_WRITTEN is */
	unsigned n_last;
	struct flag_bits {
		uint32_t value, known;
		uint32_t last; /* bits that the previous instruction wrote */
		uint32_t seen; /* bits in this frame's list before the instruction */
	} flags[BAP_MAX_FLAGS];
};

/* A system call that waits for its instruction. */
struct pending {
	uint64_t address, thread_id;
	uint64_t number, args[TS_MAX_SYSCALL_ARGS];
	uint64_t n_args;
};

struct bap_reader {
	struct ts_reader base;
	struct bap *rec;
	uint8_t *buf;       /* owned; bytes of the file from buf_off on */
	size_t buf_len, buf_cap;
	uint64_t buf_off;
	uint64_t off;       /* of the next frame */
	uint64_t n_frames;  /* before it */
	uint64_t n_steps;
	uint32_t serial;    /* counts frames, never 0 */
	struct thread **threads; /* owned */
	uint32_t n_threads, cap_threads;
	struct thread *now; /* the last frame's */
	struct pending pending[MAX_PENDING];
	unsigned n_pending;
	struct ts_steps *out; /* borrowed during next() */
	bool is_first_time; /* this frame is looked at for the first time: count its oddities */
};

#define warn(r, ...) \
	do { \
		if ((r)->is_first_time) \
			ts_recording_warn(&(r)->rec->base, __VA_ARGS__); \
	} while (0)

/* ------------------------------------------------------------------------------------------------ bytes */

/* The @len bytes at file offset @off, valid until the next call; there are so many.  NULL on failure. */
static const uint8_t *bytes_at(struct bap_reader *r, uint64_t off, uint64_t len, struct ts_error *err)
{
	size_t want = BUF_LEN;

	if (off >= r->buf_off && off - r->buf_off <= r->buf_len && len <= r->buf_len - (off - r->buf_off))
		return r->buf + (off - r->buf_off);
	if (len > want)
		want = (size_t)len;
	if (want > r->rec->end - off)
		want = (size_t)(r->rec->end - off);
	if (want > r->buf_cap) {
		uint8_t *p = realloc(r->buf, want);

		if (!p) {
			ts_fail(err, TS_ENOMEM, off, "no memory for a frame of %" PRIu64 " bytes", len);
			return NULL;
		}
		r->buf = p;
		r->buf_cap = want;
	}
	r->buf_len = 0;
	if (!ts_source_read_all(r->rec->src, off, r->buf, want, err))
		return NULL;
	r->buf_off = off;
	r->buf_len = want;
	return r->buf;
}

static uint64_t le64(const uint8_t *p)
{
	uint64_t n = 0;

	for (unsigned i = 8; i--;)
		n = n << 8 | p[i];
	return n;
}

static bool fail_cut(const struct bap_reader *r, uint64_t left, const char *what, struct ts_error *err)
{
	return ts_fail(err, TS_ETRUNC, r->off, "frame %" PRIu64 ": %s, but %" PRIu64 " bytes are left%s", r->n_frames, what, left,
		       r->rec->is_closed ? " before the index" : ": the recording was not finished");
}

/* The next frame's bytes to @c, not taken yet.  Returns TS_END behind the last frame. */
static enum ts_next peek_frame(struct bap_reader *r, struct ts_cursor *c, struct ts_error *err)
{
	uint64_t left = r->rec->end - r->off, len;
	const uint8_t *p;
	char text[64];

	if (!left)
		return TS_END;
	if (left < BAP_LEN_LEN) {
		fail_cut(r, left, "a length has 8 bytes", err);
		return TS_FAIL;
	}
	p = bytes_at(r, r->off, BAP_LEN_LEN, err);
	if (!p)
		return TS_FAIL;
	len = le64(p);
	if (!len || len > BAP_MAX_FRAME) {
		ts_fail(err, TS_ECORRUPT, r->off, "frame %" PRIu64 ": its length is %" PRIu64 " bytes", r->n_frames, len);
		return TS_FAIL;
	}
	if (len > left - BAP_LEN_LEN) {
		snprintf(text, sizeof(text), "its length is %" PRIu64 " bytes", len);
		fail_cut(r, left - BAP_LEN_LEN, text, err);
		return TS_FAIL;
	}
	p = bytes_at(r, r->off, BAP_LEN_LEN + len, err);
	if (!p)
		return TS_FAIL;
	*c = ts_cursor(p + BAP_LEN_LEN, (size_t)len, r->off + BAP_LEN_LEN, "frame", err);
	return TS_ITEM;
}

/* Compare an entry of the index with the frame that it should point at. */
static void check_index(struct bap_reader *r)
{
	struct bap *rec = r->rec;
	uint64_t entry = r->n_frames / rec->toc_step;
	struct ts_error err = { 0 };
	uint8_t bytes[8];

	if (entry < rec->toc_first || entry - rec->toc_first >= rec->toc_n)
		return;
	entry -= rec->toc_first;
	if (!entry && !rec->toc_first)
		return;
	if (!ts_source_read_all(rec->src, rec->end + 8 + entry * 8, bytes, sizeof(bytes), &err))
		return;
	if (le64(bytes) != r->off)
		warn(r, "an entry of the index points at no frame's start; the index is not used");
}

/* The frame that was peeked at is being read; it takes @len bytes. */
static void take_frame(struct bap_reader *r, size_t len)
{
	struct bap *rec = r->rec;

	if (rec->toc_step && r->is_first_time && r->n_frames % rec->toc_step == 0)
		check_index(r);
	r->off += BAP_LEN_LEN + len;
	r->n_frames++;
	if (r->off > rec->read_until) {
		rec->read_until = r->off;
		rec->n_walked = r->n_frames;
	}
}

/* ------------------------------------------------------------------------------------------------ threads */

static void free_thread(struct thread *t)
{
	if (!t)
		return;
	free(t->data);
	free(t->seen);
	free(t);
}

static struct thread *new_thread(struct bap_reader *r, uint64_t id, struct ts_error *err)
{
	const struct bap *rec = r->rec;
	uint32_t len = rec->base.regs.g_len;
	bool is_one_based = rec->recorder == BAP_TRACEWRAP || rec->recorder == BAP_OLD_TRACEWRAP;
	struct thread *t = calloc(1, sizeof(*t));

	if (t) {
		t->data = calloc(len, 2);
		t->seen = calloc(len, sizeof(*t->seen));
	}
	if (t && t->data && t->seen) {
		t->state = t->data + len;
		t->id = id;
		/* gdb's numbers begin with 1; Pin's and the plugin's with 0 */
		t->ordinal = ts_recording_thread(&r->rec->base, 0, 1, is_one_based && id ? id : id + 1 ? id + 1 : 1);
		for (unsigned i = 0; i < rec->names.n_flags; i++) {
			t->flags[i].value = rec->names.flags[i].usual;
			t->flags[i].known = ~rec->names.flags[i].need;
		}
		if (t->ordinal != TS_NO_THREAD)
			return t;
	}
	free_thread(t);
	ts_fail(err, TS_ENOMEM, r->off, "no memory for a thread");
	return NULL;
}

static struct thread *find_thread(struct bap_reader *r, uint64_t id, struct ts_error *err)
{
	struct thread *t;

	if (r->now && r->now->id == id)
		return r->now;
	for (uint32_t i = 0; i < r->n_threads; i++)
		if (r->threads[i]->id == id)
			return r->threads[i];
	if (r->n_threads == MAX_THREADS) {
		ts_fail(err, TS_ELIMIT, r->off, "frame %" PRIu64 ": more than %d threads", r->n_frames, MAX_THREADS);
		return NULL;
	}
	if (r->n_threads == r->cap_threads) {
		uint32_t cap = r->cap_threads ? r->cap_threads * 2 : 4;
		struct thread **p = realloc(r->threads, cap * sizeof(struct thread *));

		if (!p) {
			ts_fail(err, TS_ENOMEM, r->off, "no memory for a thread");
			return NULL;
		}
		r->threads = p;
		r->cap_threads = cap;
	}
	t = new_thread(r, id, err);
	if (t)
		r->threads[r->n_threads++] = t;
	return t;
}

static void forget_threads(struct bap_reader *r)
{
	for (uint32_t i = 0; i < r->n_threads; i++)
		free_thread(r->threads[i]);
	r->n_threads = 0;
	r->now = NULL;
}

/* All register bytes are untold again, but for those that the previous instruction wrote. */
static void forget_told(struct bap_reader *r)
{
	uint32_t len = r->rec->base.regs.g_len;

	for (uint32_t i = 0; i < r->n_threads; i++)
		for (uint32_t j = 0; j < len; j++)
			if (r->threads[i]->state[j] == BYTE_TOLD)
				r->threads[i]->state[j] = BYTE_UNTOLD;
}

/* ------------------------------------------------------------------------------------------------ registers */

static bool is_same(const struct thread *t, uint32_t off, const uint8_t *data, uint32_t len)
{
	return !memchr(t->state + off, BYTE_UNTOLD, len) && !memcmp(t->data + off, data, len);
}

/* A value before the instruction.  The last instruction's result is believed more. */
static void see_first(struct bap_reader *r, struct thread *t, uint32_t off, const uint8_t *data, uint32_t len)
{
	if (is_same(t, off, data, len))
		return;
	for (uint32_t i = 0; i < len; i++) {
		if (t->state[off + i] == BYTE_WRITTEN && t->data[off + i] != data[i]) {
			warn(r, "values before an instruction that contradict the result of the one before it are not believed");
			return;
		}
	}
	ts_steps_value(r->out, TS_FX_REG_READ, off, data, len);
	memcpy(t->data + off, data, len);
	for (uint32_t i = 0; i < len; i++)
		if (t->state[off + i] == BYTE_UNTOLD)
			t->state[off + i] = BYTE_TOLD;
}

/* The same; of a frame's values the first one of each byte counts. */
static void see_reg(struct bap_reader *r, struct thread *t, uint32_t off, const uint8_t *data, uint32_t len)
{
	for (uint32_t i = 0, n; i < len; i += n) {
		for (n = 0; i + n < len && t->seen[off + i + n] != r->serial; n++)
			t->seen[off + i + n] = r->serial;
		if (n)
			see_first(r, t, off + i, data + i, n);
		else
			n = 1;
	}
}

static void note_written(struct thread *t, uint32_t off, uint32_t len)
{
	memset(t->state + off, BYTE_TOLD, len);
	if (t->n_last == MAX_LAST)
		return;
	memset(t->state + off, BYTE_WRITTEN, len);
	t->last[t->n_last++] = (struct extent){ off, len };
}

static void write_reg(struct bap_reader *r, struct thread *t, uint32_t off, const uint8_t *data, uint32_t len)
{
	if (!is_same(t, off, data, len)) {
		ts_steps_value(r->out, TS_FX_REG_WRITE, off, data, len);
		memcpy(t->data + off, data, len);
	}
	note_written(t, off, len);
}

/* Registers got a value that is not logged. */
static void lose_reg(struct bap_reader *r, struct thread *t, uint32_t off, uint32_t len)
{
	ts_steps_effect(r->out, TS_FX_REG_WRITE, off, len);
	memset(t->state + off, BYTE_UNTOLD, len);
}

/* The thread's previous instruction is no longer the previous one. */
static void age_writes(struct thread *t)
{
	for (unsigned i = 0; i < t->n_last; i++)
		for (uint32_t j = t->last[i].off; j < t->last[i].off + t->last[i].len; j++)
			if (t->state[j] == BYTE_WRITTEN)
				t->state[j] = BYTE_TOLD;
	t->n_last = 0;
	for (unsigned i = 0; i < BAP_MAX_FLAGS; i++)
		t->flags[i].last = 0;
}

/* ------------------------------------------------------------------------------------------------ flags */

/* Byte @i of a flag register in the 'g' layout: which of its bits count, and what they are. */
static uint32_t flag_shift(const struct bap *rec, unsigned len, unsigned i)
{
	return 8 * (rec->base.regs.arch->is_big_endian ? len - 1 - i : i);
}

/* Tell the bytes with a bit in @bits whose needed bits are all known; of the others, with @is_write, that they changed. */
static void tell_flags(struct bap_reader *r, struct thread *t, unsigned group, uint32_t bits, bool is_write)
{
	const struct bap_flags *def = &r->rec->names.flags[group];
	const struct flag_bits *f = &t->flags[group];

	for (unsigned i = 0; i < def->len; i++) {
		unsigned shift = flag_shift(r->rec, def->len, i);
		uint8_t byte = (uint8_t)(f->value >> shift);

		bool is_touched = bits >> shift & 0xff;

		if (!is_touched && def->need >> shift & 0xff)
			continue;
		if (!is_touched) {
			see_reg(r, t, def->off + i, &byte, 1); /* nobody ever logs its bits */
			continue;
		}
		if (def->need & ~f->known & UINT32_C(0xff) << shift) {
			if (is_write)
				lose_reg(r, t, def->off + i, 1);
		} else if (is_write) {
			write_reg(r, t, def->off + i, &byte, 1);
		} else {
			see_reg(r, t, def->off + i, &byte, 1);
		}
	}
}

/* Bits before the instruction; told at the end of the list. */
static void see_flags(struct bap_reader *r, struct thread *t, unsigned group, uint32_t mask, uint32_t value)
{
	struct flag_bits *f = &t->flags[group];

	if (f->last & mask & (f->value ^ value))
		warn(r, "values before an instruction that contradict the result of the one before it are not believed");
	mask &= ~f->seen & ~f->last;
	f->value = (f->value & ~mask) | (value & mask);
	f->known |= mask;
	f->seen |= mask;
}

static void write_flags(struct thread *t, unsigned group, uint32_t mask, uint32_t value)
{
	struct flag_bits *f = &t->flags[group];

	f->value = (f->value & ~mask) | (value & mask);
	f->known |= mask;
	f->last |= mask;
}

/* ------------------------------------------------------------------------------------------------ operands */

struct operand {
	const struct bap_slot *slot; /* NULL: memory */
	uint64_t addr;
	const uint8_t *value;
	uint32_t len;  /* bytes */
	uint32_t bits;
	bool is_read, is_written;
};

/* How many bits of the value count. */
static uint32_t operand_bits(struct bap_reader *r, uint64_t bit_length, uint64_t len)
{
	int64_t bits = pb_zigzag(bit_length);

	if (!bits)
		return (uint32_t)len * 8;
	if (bits < 0 || (uint64_t)bits > len * 8) {
		warn(r, "bit lengths beyond the value's length are not believed");
		return (uint32_t)len * 8;
	}
	return (uint32_t)bits;
}

/* Where the operand is.  False if it is ignored or damaged. */
static bool read_place(struct bap_reader *r, const struct pb_value *specific, struct ts_cursor *parent, struct operand *op)
{
	struct ts_cursor c = ts_cursor(specific->p, (size_t)specific->n, specific->off, parent->what, parent->err);
	struct pb_message m, what;

	if (!pb_read(&c, &bap_specific, &m))
		return false;
	if (pb_has(&m, SPECIFIC_REG) && (!pb_has(&m, SPECIFIC_MEM) || m.v[1].off > m.v[0].off)) {
		c = pb_sub(&m, SPECIFIC_REG, parent);
		if (!pb_read(&c, &bap_reg, &what))
			return false;
		op->slot = bap_names_find(&r->rec->names, what.v[0].p, what.v[0].p ? (size_t)what.v[0].n : 0);
		if (op->slot->kind != BAP_SLOT_NONE)
			return true;
		if (what.v[0].n && what.v[0].n <= 64)
			warn(r, "register \"%.*s\" is none of %s's, its values are left out", (int)what.v[0].n,
			     (const char *)what.v[0].p, r->rec->base.regs.arch->name);
		else
			warn(r, "operands whose register's name is empty or longer than 64 bytes are left out");
		return false;
	}
	if (!pb_has(&m, SPECIFIC_MEM)) {
		warn(r, "operands that are neither register nor memory are left out");
		return false;
	}
	c = pb_sub(&m, SPECIFIC_MEM, parent);
	if (!pb_read(&c, &bap_mem, &what))
		return false;
	op->slot = NULL;
	op->addr = what.v[0].n & r->rec->addr_mask;
	return true;
}

static bool check_memory(struct bap_reader *r, const struct operand *op)
{
	if (op->bits % 8)
		warn(r, "memory operands of parts of bytes are left out");
	else if (op->len - 1 > r->rec->addr_mask - op->addr)
		warn(r, "memory operands that pass the end of the address space are left out");
	else
		return true;
	return false;
}

/* Read one operand.  False if it is ignored or (the cursor's error says so) damaged. */
static bool read_operand(struct bap_reader *r, struct ts_cursor *c, struct operand *op)
{
	struct pb_message m, usage;
	struct ts_cursor u;

	if (!pb_read(c, &bap_operand, &m))
		return false;
	u = pb_sub(&m, OPERAND_USAGE, c);
	if (!pb_read(&u, &bap_usage, &usage))
		return false;
	op->is_read = usage.v[USAGE_READ - 1].n;
	op->is_written = usage.v[USAGE_WRITTEN - 1].n;
	if (!read_place(r, &m.v[OPERAND_SPECIFIC - 1], c, op))
		return false;
	op->value = m.v[OPERAND_VALUE - 1].p;
	op->len = (uint32_t)m.v[OPERAND_VALUE - 1].n;
	if (!op->value || !op->len) {
		warn(r, "operands without a value are left out");
		return false;
	}
	op->bits = operand_bits(r, m.v[OPERAND_BIT_LENGTH - 1].n, op->len);
	op->len = (op->bits + 7) / 8;
	return op->slot || check_memory(r, op);
}

/* The low @len bytes of a value in the target's order. */
static void to_target(const struct bap *rec, const uint8_t *value, uint32_t len, uint8_t *out)
{
	if (!rec->base.regs.arch->is_big_endian) {
		memcpy(out, value, len);
		return;
	}
	for (uint32_t i = 0; i < len; i++)
		out[i] = value[len - 1 - i];
}

static uint32_t low_bits(unsigned n)
{
	return n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1;
}

/* The value's place in its flag register: *mask and *value. */
static void flag_value(const struct operand *op, uint32_t *mask, uint32_t *value)
{
	unsigned bits = op->slot->kind == BAP_SLOT_FLAG ? op->slot->bits : op->bits < 32 ? op->bits : 32;
	uint32_t n = 0;

	for (uint32_t i = op->len < 4 ? op->len : 4; i--;)
		n = n << 8 | op->value[i];
	*mask = low_bits(bits) << op->slot->shift;
	*value = n << op->slot->shift & *mask;
}

/* Where a register's value goes, in the target's order. */
struct part {
	uint32_t off, len;
	uint8_t data[64];
};

/* The part of the value that goes to one place; the low one, or the one beyond byte 16. */
static struct part low_part(const struct bap *rec, const struct operand *op)
{
	const struct bap_slot *s = op->slot;
	uint32_t len = s->off_high ? 16 : s->len;
	struct part p = { .len = op->len < len ? op->len : len };

	if (p.len > sizeof(p.data))
		p.len = sizeof(p.data);
	p.off = s->off + (rec->base.regs.arch->is_big_endian ? len - p.len : 0);
	to_target(rec, op->value, p.len, p.data);
	return p;
}

static struct part high_part(const struct bap *rec, const struct operand *op)
{
	struct part p = { .off = op->slot->off_high, .len = op->len > 16 ? op->len - 16 : 0 };

	if (p.len > 16)
		p.len = 16;
	if (p.len)
		to_target(rec, op->value + 16, p.len, p.data);
	return p;
}

static void see_operand(struct bap_reader *r, struct thread *t, const struct operand *op)
{
	uint32_t mask, value;
	struct part p;

	switch (op->slot->kind) {
	case BAP_SLOT_REG:
		p = low_part(r->rec, op);
		see_reg(r, t, p.off, p.data, p.len);
		if (op->slot->off_high && op->len > 16) {
			p = high_part(r->rec, op);
			see_reg(r, t, p.off, p.data, p.len);
		}
		break;
	case BAP_SLOT_FLAG:
	case BAP_SLOT_FLAGS:
		flag_value(op, &mask, &value);
		see_flags(r, t, op->slot->group, mask, value);
		break;
	case BAP_SLOT_NONE:
	case BAP_SLOT_PC:
	case BAP_SLOT_IGNORE:
		break;
	}
}

/* A write of the low part of a register that clears the rest. */
static void extend_part(const struct bap *rec, const struct bap_slot *s, struct part *p)
{
	uint32_t more = s->extend - p->len;

	if (rec->base.regs.arch->is_big_endian) {
		memmove(p->data + more, p->data, p->len);
		memset(p->data, 0, more);
		p->off -= more;
	} else {
		memset(p->data + p->len, 0, more);
	}
	p->len = s->extend;
}

static void write_operand(struct bap_reader *r, struct thread *t, const struct operand *op)
{
	uint32_t mask, value;
	uint64_t pc = 0;
	struct part p;

	switch (op->slot->kind) {
	case BAP_SLOT_REG:
		p = low_part(r->rec, op);
		if (op->slot->extend && p.len == op->slot->len)
			extend_part(r->rec, op->slot, &p);
		write_reg(r, t, p.off, p.data, p.len);
		if (op->slot->off_high && op->len > 16) {
			p = high_part(r->rec, op);
			write_reg(r, t, p.off, p.data, p.len);
		}
		break;
	case BAP_SLOT_FLAG:
	case BAP_SLOT_FLAGS:
		flag_value(op, &mask, &value);
		write_flags(t, op->slot->group, mask, value);
		break;
	case BAP_SLOT_PC:
		for (uint32_t i = op->len < 8 ? op->len : 8; i--;)
			pc = pc << 8 | op->value[i];
		r->base.end.pc = pc & r->rec->addr_mask;
		r->base.end.has_pc = true;
		break;
	case BAP_SLOT_NONE:
	case BAP_SLOT_IGNORE:
		break;
	}
}

/* The old recorder lists what is written with its old value: the new one is not there. */
static void lose_operand(struct bap_reader *r, struct thread *t, const struct operand *op)
{
	const struct bap_slot *s = op->slot;
	uint32_t mask, value;

	if (!s) {
		ts_steps_effect(r->out, TS_FX_WRITE, op->addr, op->len);
	} else if (s->kind == BAP_SLOT_REG) {
		lose_reg(r, t, s->off, s->off_high ? 16 : s->extend ? s->extend : s->len);
		if (s->off_high)
			lose_reg(r, t, s->off_high, 16);
	} else if (s->kind == BAP_SLOT_FLAG || s->kind == BAP_SLOT_FLAGS) {
		flag_value(op, &mask, &value);
		t->flags[s->group].known &= ~(mask & r->rec->names.flags[s->group].need);
		tell_flags(r, t, s->group, mask, true);
	}
}

/* ------------------------------------------------------------------------------------------------ memory */

static void memory_value(struct bap_reader *r, enum ts_effect_kind kind, const struct operand *op, bool is_hidden)
{
	bool is_word = r->rec->recorder == BAP_OLD_TRACEWRAP && op->len > 1;
	uint32_t len = is_word ? 1 : op->len;
	struct ts_effect *e;
	uint8_t *data;

	if (is_word && kind == TS_FX_WRITE) /* of which only the first byte is sure to be accessed */
		ts_steps_effect(r->out, kind, op->addr + 1, op->len - 1);
	e = ts_steps_value(r->out, kind, op->addr, r->rec->is_mem_reversed ? op->value + (op->len - len) : op->value, len);
	if (!e)
		return;
	e->is_hidden = is_hidden;
	data = r->out->data + e->data;
	for (uint32_t i = 0; r->rec->is_mem_reversed && i < len / 2; i++) {
		uint8_t byte = data[i];

		data[i] = data[len - 1 - i];
		data[len - 1 - i] = byte;
	}
}

/* Did this frame's list see the same memory before?  Then that is not the value before the instruction. */
static bool is_seen_memory(const struct bap_reader *r, const struct operand *op)
{
	const struct ts_steps *b = r->out;

	for (uint32_t i = b->n_closed; i < b->n_effects && i < b->n_closed + 16; i++)
		if (b->effects[i].kind == TS_FX_READ && b->effects[i].addr == op->addr && b->effects[i].len == op->len)
			return true;
	return false;
}

/* ------------------------------------------------------------------------------------------------ std frames */

/* The list before the instruction. */
static bool read_pre_list(struct bap_reader *r, struct thread *t, const struct pb_message *std, struct ts_cursor *frame,
			  unsigned *n_operands)
{
	struct ts_cursor list = pb_sub(std, STD_PRE_LIST, frame), item;
	struct operand op;

	while (pb_next_item(&list, &bap_operand_list, &item)) {
		++*n_operands;
		if (!read_operand(r, &item, &op))
			continue;
		if (op.slot)
			see_operand(r, t, &op);
		else if (!is_seen_memory(r, &op))
			memory_value(r, TS_FX_READ, &op, !op.is_read);
	}
	for (unsigned i = 0; i < r->rec->names.n_flags; i++) {
		if (t->flags[i].seen)
			tell_flags(r, t, i, t->flags[i].seen, false);
		t->flags[i].seen = 0;
	}
	return ts_ok(frame);
}

/* Of a frame without a list of values after the instruction: what the list before it says to be written. */
static void lose_written(struct bap_reader *r, struct thread *t, const struct pb_message *std, struct ts_cursor *frame)
{
	struct ts_cursor list = pb_sub(std, STD_PRE_LIST, frame), item;
	struct operand op;

	while (pb_next_item(&list, &bap_operand_list, &item))
		if (read_operand(r, &item, &op) && op.is_written)
			lose_operand(r, t, &op);
}

static bool read_post_list(struct bap_reader *r, struct thread *t, const struct pb_message *std, struct ts_cursor *frame,
			   unsigned *n_operands)
{
	struct ts_cursor list = pb_sub(std, STD_POST_LIST, frame), item;
	struct operand op;

	while (pb_next_item(&list, &bap_operand_list, &item)) {
		++*n_operands;
		if (!read_operand(r, &item, &op))
			continue;
		if (op.slot)
			write_operand(r, t, &op);
		else
			memory_value(r, TS_FX_WRITE, &op, false);
	}
	for (unsigned i = 0; i < r->rec->names.n_flags; i++)
		if (t->flags[i].last)
			tell_flags(r, t, i, t->flags[i].last, true);
	return ts_ok(frame);
}

#define ARM_T UINT32_C(0x20)
#define ARM_IT UINT32_C(0x0600fc00)
#define ARM_GE UINT32_C(0x000f0000)

static uint32_t arm_t(const struct pb_value *mode)
{
	return mode->n >= 3 && !memcmp(mode->p + mode->n - 3, "t32", 3) ? ARM_T : 0;
}

/* The instruction set of an ARM frame: the cpsr's T bit, at least where the frame or its length tells. */
static void see_mode(struct bap_reader *r, struct thread *t, const struct pb_message *std)
{
	if (pb_has(std, STD_MODE))
		see_flags(r, t, 0, ARM_T, arm_t(&std->v[STD_MODE - 1]));
	else if (std->v[STD_RAWBYTES - 1].n == 2)
		see_flags(r, t, 0, ARM_T, ARM_T);
}

/* The cpsr's IT bits after a Thumb instruction, which say for how many more a condition holds. */
static void step_it(struct bap_reader *r, struct thread *t, const struct pb_value *raw)
{
	uint32_t cpsr = t->flags[0].value, it = (cpsr >> 8 & 0xfc) | (cpsr >> 25 & 3), next;

	if (!(cpsr & ARM_T) || !(t->flags[0].known & ARM_T))
		return;
	if (raw->n == 2 && raw->p[1] == 0xbf && raw->p[0] & 0xf)
		next = raw->p[0];
	else
		next = it & 7 ? (it & 0xe0) | (it << 1 & 0x1f) : 0;
	if (next == it)
		return;
	write_flags(t, 0, ARM_IT, (next & 0xfc) << 8 | (next & 3) << 25);
	tell_flags(r, t, 0, ARM_IT, true);
}

/* What an instruction of which the recorder logs nothing is known to change: that is unknown until it is seen again. */
static void lose_named(struct bap_reader *r, struct thread *t, const char *names)
{
	for (const char *p = names; *p; p += strlen(p) + 1) {
		const struct bap_slot *s = bap_names_find(&r->rec->names, (const uint8_t *)p, strlen(p));

		if (s->kind == BAP_SLOT_REG && t->state[s->off] != BYTE_WRITTEN)
			lose_reg(r, t, s->off, s->len);
	}
}

static bool is_insn(const struct pb_value *raw, const char *bytes, size_t len)
{
	return raw->n >= len && raw->p && !memcmp(raw->p, bytes, len);
}

#define X86_AF UINT32_C(0x10)
#define X86_ZF UINT32_C(0x40)
#define X86_STATUS UINT32_C(0x8d5)

/* Opcode and the three bits that extend it of an x86 instruction with one opcode byte behind its prefixes; 0: it is none. */
static unsigned x86_opcode(const struct pb_value *raw)
{
	uint64_t i = 0;

	while (i < raw->n && (raw->p[i] == 0x66 || raw->p[i] == 0x67 || (raw->p[i] & 0xf0) == 0x40 || (raw->p[i] & 0xfe) == 0x64))
		i++;
	return i + 1 < raw->n ? (unsigned)raw->p[i] << 8 | (raw->p[i + 1] >> 3 & 7) : 0;
}

/*
 * What tracewrap logs wrongly or not at all on x86, seen by stepping the same programs: results of multiplications and divisions
 * of one operand; flags of neg, and of shifts that may be by zero.  Of AF it says nothing where it is not defined: the emulator
 * then clears it.
 */
static void lose_x86(struct bap_reader *r, struct thread *t, const struct pb_value *raw)
{
	unsigned op = x86_opcode(raw), what = op & 0xfe00, extend = op & 7;
	struct flag_bits *f = &t->flags[0];
	bool is_arith = what == 0xf600 && extend >= 4;

	if (is_arith)
		lose_named(r, t, r->rec->addr_mask == UINT64_MAX ? "rax\0rdx\0" : "eax\0edx\0");
	if (!r->rec->names.n_flags)
		return;
	if (is_arith || (what == 0xf600 && extend == 3) || what == 0xd200) {
		f->known &= ~X86_STATUS;
		tell_flags(r, t, 0, X86_STATUS, true);
	} else if (f->last & X86_ZF && !(f->last & X86_AF)) {
		write_flags(t, 0, X86_AF, 0);
		tell_flags(r, t, 0, X86_AF, true);
	}
}

/* ARM's parallel additions and subtractions, which set the GE bits. */
static bool is_parallel(const struct pb_value *raw, bool is_thumb)
{
	if (raw->n != 4)
		return false;
	if (is_thumb)
		return raw->p[1] == 0xfa && raw->p[0] & 0x80 && (raw->p[3] & 0xf0) == 0xf0 && !(raw->p[2] & 0xb0);
	return (raw->p[3] & 0xf) == 6 && (raw->p[2] & 0xb0) == 0x10 && !(raw->p[2] & 0x20);
}

/* With operands, but without those that an emulator's helper writes. */
static void lose_helpers(struct bap_reader *r, struct thread *t, const struct pb_value *raw)
{
	if (r->rec->arch == BAP_ARCH_X86) {
		lose_x86(r, t, raw);
	} else if (r->rec->arch == BAP_ARCH_ARM && r->rec->names.n_flags && is_parallel(raw, t->flags[0].value & ARM_T) &&
		   !(t->flags[0].last & ARM_GE)) {
		t->flags[0].known &= ~ARM_GE;
		tell_flags(r, t, 0, ARM_GE, true);
	}
}

/* Without any operand: a system call, or one that an emulator's helper does. */
static void lose_unlogged(struct bap_reader *r, struct thread *t, const struct pb_value *raw)
{
	bool is_64 = r->rec->addr_mask == UINT64_MAX;

	switch (r->rec->arch) {
	case BAP_ARCH_X86:
		if (is_insn(raw, "\x0f\xa2", 2)) /* cpuid */
			lose_named(r, t, is_64 ? "rax\0rbx\0rcx\0rdx\0" : "eax\0ebx\0ecx\0edx\0");
		else if (is_insn(raw, "\x0f\x31", 2) || is_insn(raw, "\x0f\x01\xd0", 3)) /* rdtsc, xgetbv */
			lose_named(r, t, is_64 ? "rax\0rdx\0" : "eax\0edx\0");
		else if (!raw->n || is_insn(raw, "\x0f\x05", 2) || is_insn(raw, "\xcd\x80", 2)) /* syscall, int $0x80 */
			lose_named(r, t, is_64 ? "rax\0rcx\0r11\0" : "eax\0");
		break;
	case BAP_ARCH_ARM: /* svc */
		if ((raw->n == 2 && raw->p[1] == 0xdf) || (raw->n == 4 && (raw->p[3] & 0xf) == 0xf))
			lose_named(r, t, "r0\0");
		break;
	case BAP_ARCH_AARCH64:
		if (is_insn(raw, "\x01\0\0\xd4", 4)) /* svc #0 */
			lose_named(r, t, "x0\0");
		break;
	case BAP_ARCH_POWERPC: /* sc */
		if (is_insn(raw, "\x44\0\0\x02", 4) || is_insn(raw, "\x02\0\0\x44", 4))
			lose_named(r, t, "r3\0");
		break;
	case BAP_ARCH_MIPS: /* syscall */
		if (is_insn(raw, "\0\0\0\x0c", 4) || is_insn(raw, "\x0c\0\0\0", 4))
			lose_named(r, t, "v0\0a3\0");
		break;
	default:
		break;
	}
}

/* The number that the instruction's own registers show, where a recorder stored the address instead. */
static bool syscall_number(struct bap_reader *r, const struct thread *t, uint64_t *number)
{
	const char *reg = r->rec->addr_mask == UINT64_MAX ? "rax" : "eax";
	const struct bap_slot *s = bap_names_find(&r->rec->names, (const uint8_t *)reg, 3);

	if (s->kind != BAP_SLOT_REG || memchr(t->state + s->off, BYTE_UNTOLD, s->len))
		return false;
	*number = ts_arch_get(r->rec->base.regs.arch, t->data + s->off, s->len);
	return true;
}

/* The system call that was announced for this instruction, if one was. */
static void take_pending(struct bap_reader *r, const struct thread *t, uint64_t address)
{
	for (unsigned i = 0; i < r->n_pending; i++) {
		struct pending *p = &r->pending[i];
		struct ts_event *ev;

		if (p->address != address || p->thread_id != t->id)
			continue;
		ev = ts_steps_event(r->out, TS_EV_SYSCALL);
		if (ev) {
			ev->number = p->number;
			if (p->number == p->address && !syscall_number(r, t, &ev->number))
				ev->number = UINT64_MAX;
			ev->n_args = (uint8_t)p->n_args;
			memcpy(ev->args, p->args, sizeof(ev->args));
		}
		memmove(p, p + 1, (--r->n_pending - i) * sizeof(*p));
		return;
	}
}

static void see_code(struct bap_reader *r, uint64_t pc, const struct pb_value *raw)
{
	struct ts_effect *e;

	if (!raw->p || !raw->n || raw->n > 64 || raw->n - 1 > r->rec->addr_mask - pc)
		return;
	e = ts_steps_value(r->out, TS_FX_READ, pc, raw->p, (uint32_t)raw->n);
	if (e)
		e->is_hidden = true;
}

/* Read a std frame's message into the open step; *t and *pc get whose it is and where. */
static bool read_std(struct bap_reader *r, struct ts_cursor *c, struct thread **t, uint64_t *pc, uint16_t *insn_len)
{
	bool is_arm = r->rec->arch == BAP_ARCH_ARM && r->rec->names.n_flags;
	unsigned n_operands = 0;
	struct pb_message std;
	const struct pb_value *raw = &std.v[STD_RAWBYTES - 1];

	if (!pb_read(c, &bap_std, &std))
		return false;
	*t = find_thread(r, std.v[STD_THREAD_ID - 1].n, c->err);
	if (!*t)
		return false;
	r->now = *t;
	*pc = std.v[STD_ADDRESS - 1].n & r->rec->addr_mask;
	*insn_len = raw->n <= 64 ? (uint16_t)raw->n : 0;
	r->base.end = (struct ts_end){ 0 };
	see_code(r, *pc, raw);
	if (is_arm)
		see_mode(r, *t, &std);
	if (!read_pre_list(r, *t, &std, c, &n_operands))
		return false;
	take_pending(r, *t, *pc);
	age_writes(*t);
	if (!pb_has(&std, STD_POST_LIST))
		lose_written(r, *t, &std, c);
	if (!read_post_list(r, *t, &std, c, &n_operands))
		return false;
	if (!n_operands)
		lose_unlogged(r, *t, raw);
	else if (r->rec->recorder == BAP_TRACEWRAP || r->rec->recorder == BAP_OLD_TRACEWRAP)
		lose_helpers(r, *t, raw);
	if (is_arm)
		step_it(r, *t, raw);
	return ts_ok(c);
}

/* ------------------------------------------------------------------------------------------------ other frames */

static bool read_syscall(struct bap_reader *r, struct ts_cursor *c)
{
	struct pending p = { 0 };
	struct pb_message m;
	struct ts_cursor list;
	uint64_t key;

	if (!pb_read(c, &bap_syscall, &m))
		return false;
	p.address = m.v[SYSCALL_ADDRESS - 1].n & r->rec->addr_mask;
	p.thread_id = m.v[SYSCALL_THREAD_ID - 1].n;
	p.number = m.v[SYSCALL_NUMBER - 1].n;
	list = pb_sub(&m, SYSCALL_ARGUMENTS, c);
	while (list.left && p.n_args < TS_MAX_SYSCALL_ARGS) {
		key = pb_varint(&list);
		if (ts_ok(&list) && key != (1 << 3 | PB_VARINT))
			return ts_fail(c->err, TS_ECORRUPT, list.off, "frame: an argument of a system call has wire type %u", (unsigned)(key & 7));
		p.args[p.n_args++] = (uint64_t)pb_zigzag(pb_varint(&list));
	}
	if (!ts_ok(c))
		return false;
	if (r->n_pending == MAX_PENDING) {
		warn(r, "system calls without their instruction are left out");
		memmove(r->pending, r->pending + 1, --r->n_pending * sizeof(p));
	}
	r->pending[r->n_pending++] = p;
	return true;
}

/* gdb's number for what a recorder calls an exception: a signal of Linux, or a code of Windows. */
static uint64_t gdb_signal(uint64_t number)
{
	static const struct {
		uint32_t number;
		uint8_t gdb;
	} others[] = {
		{ 7, 10 }, { 10, 30 }, { 12, 31 }, { 17, 20 }, { 18, 19 }, { 19, 17 }, { 20, 18 }, { 23, 16 },
		{ 0xc0000005, 11 }, { 0xc000001d, 4 }, { 0x80000003, 5 }, { 0x80000004, 5 }, { 0xc0000094, 8 },
		{ 0xc0000096, 4 }, { 0xc00000fd, 11 }, { 0x80000002, 10 },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].number == number)
			return others[i].gdb;
	return number && number <= 15 ? number : 143; /* unknown */
}

static bool read_exception(struct bap_reader *r, struct ts_cursor *c)
{
	struct pb_message m;
	struct ts_event *ev;

	if (!pb_read(c, &bap_exception, &m))
		return false;
	ev = ts_steps_event(r->out, TS_EV_SIGNAL);
	if (ev) {
		ev->number = gdb_signal(m.v[EXCEPTION_NUMBER - 1].n);
		ev->has_addr = pb_has(&m, EXCEPTION_FROM);
		ev->addr = m.v[EXCEPTION_FROM - 1].n & r->rec->addr_mask;
	}
	return true;
}

/* Bytes of input: memory that is seen. */
static bool read_taint_intro(struct bap_reader *r, struct ts_cursor *c)
{
	struct pb_message m;
	struct ts_cursor list, item;

	if (!pb_read(c, &bap_taint_intro, &m))
		return false;
	list = pb_sub(&m, 1, c);
	while (pb_next_item(&list, &bap_taint_list, &item)) {
		struct operand op = { 0 };

		if (!pb_read(&item, &bap_taint, &m))
			return false;
		op.addr = m.v[TAINT_ADDR - 1].n & r->rec->addr_mask;
		op.value = m.v[TAINT_VALUE - 1].p;
		op.len = (uint32_t)m.v[TAINT_VALUE - 1].n;
		op.bits = op.len * 8;
		if (op.value && op.len && check_memory(r, &op)) {
			struct ts_effect *e = ts_steps_value(r->out, TS_FX_WRITE, op.addr, op.value, op.len);

			if (e)
				e->is_hidden = true;
		}
	}
	return ts_ok(c);
}

static bool read_modload(struct bap_reader *r, struct ts_cursor *c)
{
	uint64_t low, high;
	struct pb_message m;

	if (!pb_read(c, &bap_modload, &m))
		return false;
	low = m.v[MODLOAD_LOW - 1].n & r->rec->addr_mask;
	high = m.v[MODLOAD_HIGH - 1].n & r->rec->addr_mask;
	if (high % 4096 == 0 && high > low) /* Pin's is the last address, others may mean the first behind it */
		high--;
	if (high < low || high - low == UINT64_MAX)
		warn(r, "modules that end before they begin are left out");
	else if (r->is_first_time && ++r->rec->n_modules > MAX_MODULES)
		warn(r, "modules beyond the first %d are left out", MAX_MODULES);
	else if (r->rec->n_modules <= MAX_MODULES)
		ts_steps_load(r->out, low, high - low + 1, (const char *)m.v[MODLOAD_NAME - 1].p, (size_t)m.v[MODLOAD_NAME - 1].n);
	return true;
}

/* One value of a key frame. */
static bool read_key_value(struct bap_reader *r, struct thread *t, struct ts_cursor *c)
{
	struct operand op = { 0 };
	struct pb_message m;

	if (!pb_read(c, &bap_value, &m))
		return false;
	op.value = m.v[VALUE_VALUE - 1].p;
	op.len = (uint32_t)m.v[VALUE_VALUE - 1].n;
	if (!op.value || !op.len || !read_place(r, &m.v[VALUE_SPECIFIC - 1], c, &op))
		return ts_ok(c);
	op.bits = operand_bits(r, m.v[VALUE_BIT_LENGTH - 1].n, op.len);
	op.len = (op.bits + 7) / 8;
	if (op.slot)
		see_operand(r, t, &op);
	else if (check_memory(r, &op))
		memory_value(r, TS_FX_READ, &op, true);
	return true;
}

/* The effects that follow are those of @t. */
static void switch_thread(struct bap_reader *r, const struct thread *t)
{
	struct ts_effect *e = ts_steps_effect(r->out, TS_FX_THREAD, 0, 0);

	if (e)
		e->item = t->ordinal;
}

/* The values of one thread; one that is not named is the thread of the last instruction. */
static bool read_key_list(struct bap_reader *r, struct ts_cursor *c)
{
	struct thread *t = r->now;
	struct pb_message m, source;
	struct ts_cursor tag, list, item;

	if (!pb_read(c, &bap_tagged, &m))
		return false;
	tag = pb_sub(&m, TAGGED_SOURCE, c);
	if (!pb_read(&tag, &bap_source, &source))
		return false;
	if (pb_has(&source, SOURCE_THREAD_ID))
		t = find_thread(r, source.v[SOURCE_THREAD_ID - 1].n, c->err);
	if (!t)
		return false;
	switch_thread(r, t);
	list = pb_sub(&m, TAGGED_VALUES, c);
	while (pb_next_item(&list, &bap_value_list, &item))
		if (!read_key_value(r, t, &item))
			return false;
	for (unsigned i = 0; i < r->rec->names.n_flags; i++) {
		if (t->flags[i].seen)
			tell_flags(r, t, i, t->flags[i].seen, false);
		t->flags[i].seen = 0;
	}
	switch_thread(r, r->now);
	return ts_ok(c);
}

static bool read_key(struct bap_reader *r, struct ts_cursor *c)
{
	struct ts_cursor lists, item;
	struct pb_message m;

	if (!pb_read(c, &bap_key, &m))
		return false;
	r->serial++;
	lists = pb_sub(&m, 1, c);
	while (pb_next_item(&lists, &bap_tagged_lists, &item))
		if (!read_key_list(r, &item))
			return false;
	return ts_ok(c);
}

/* ------------------------------------------------------------------------------------------------ frames */

/* Which kind of frame it is, and its message; 0: none that is known. */
static unsigned frame_kind(const struct pb_message *m)
{
	unsigned kind = 0;

	for (unsigned i = 1; i <= FRAME_KEY; i++)
		if (pb_has(m, i) && (!kind || m->v[i - 1].off > m->v[kind - 1].off))
			kind = i;
	return kind;
}

/* Read a frame that is no std frame into the open step. */
static bool read_other(struct bap_reader *r, unsigned kind, struct ts_cursor *body)
{
	switch (kind) {
	case FRAME_SYSCALL:
		return read_syscall(r, body);
	case FRAME_EXCEPTION:
		return read_exception(r, body);
	case FRAME_TAINT_INTRO:
		return read_taint_intro(r, body);
	case FRAME_MODLOAD:
		return read_modload(r, body);
	case FRAME_KEY:
		return read_key(r, body);
	default:
		warn(r, "frames of a kind that is not known are left out");
		return true;
	}
}

/* Open the next frame: its kind and its message.  It is not taken yet: *len says how long it is. */
static enum ts_next open_frame(struct bap_reader *r, unsigned *kind, struct ts_cursor *body, size_t *len, struct ts_error *err)
{
	struct ts_cursor c;
	struct pb_message m;
	enum ts_next next = peek_frame(r, &c, err);

	if (next != TS_ITEM)
		return next;
	r->is_first_time = r->off >= r->rec->read_until;
	*len = c.left;
	if (!pb_read(&c, &bap_frame, &m)) {
		ts_fail_prefix(err, "frame %" PRIu64, r->n_frames);
		return TS_FAIL;
	}
	*kind = frame_kind(&m);
	if (*kind)
		*body = pb_sub(&m, *kind, &c);
	body->err = err;
	return TS_ITEM;
}

/* Where a batch stood, to go back if a frame turns out to be damaged. */
struct mark {
	uint32_t n_effects, n_data, n_modules, n_events;
};

static struct mark mark_of(const struct ts_steps *b)
{
	return (struct mark){ b->n_effects, b->n_data, b->n_modules, b->n_events };
}

static void go_back(struct ts_steps *b, const struct mark *m)
{
	b->n_effects = m->n_effects;
	b->n_data = m->n_data;
	b->n_modules = m->n_modules;
	b->n_events = m->n_events;
}

/*
 * Take in the frames up to the next std frame, which say what is so before it.  A damaged one is left for the next call of
 * next(), which reports it.
 */
static void read_others(struct bap_reader *r)
{
	for (;;) {
		struct mark mark = mark_of(r->out);
		struct ts_cursor body = { 0 };
		struct ts_error err;
		unsigned kind;
		size_t len;

		ts_error_reset(&err);
		if (open_frame(r, &kind, &body, &len, &err) != TS_ITEM || kind == FRAME_STD)
			return;
		if (!read_other(r, kind, &body)) {
			go_back(r->out, &mark);
			return;
		}
		take_frame(r, len);
	}
}

/* ARM: the next frame of the thread tells the instruction set that this instruction changed to. */
static void look_at_next_mode(struct bap_reader *r, struct thread *t)
{
	struct ts_cursor body = { 0 };
	struct ts_error err;
	struct pb_message std;
	unsigned kind;
	size_t len;

	ts_error_reset(&err);
	if (open_frame(r, &kind, &body, &len, &err) != TS_ITEM || kind != FRAME_STD || !pb_read(&body, &bap_std, &std) ||
	    std.v[STD_THREAD_ID - 1].n != t->id || !pb_has(&std, STD_MODE) ||
	    (t->flags[0].value & ARM_T) == arm_t(&std.v[STD_MODE - 1]))
		return;
	write_flags(t, 0, ARM_T, arm_t(&std.v[STD_MODE - 1]));
	tell_flags(r, t, 0, ARM_T, true);
}

/* Say at the end what the walk over all frames found. */
static void end_walk(struct bap_reader *r)
{
	struct bap *rec = r->rec;

	if (rec->is_walked)
		return;
	rec->is_walked = true;
	if (r->n_pending)
		ts_recording_warn(&rec->base, "system calls without their instruction are left out");
	if (rec->is_closed && rec->n_frames != rec->n_walked)
		ts_recording_warn(&rec->base, "the header says %" PRIu64 " frames, there are %" PRIu64, rec->n_frames, rec->n_walked);
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct bap_reader *r = (struct bap_reader *)base;
	struct mark mark = mark_of(out);
	struct ts_cursor body = { 0 };
	struct thread *t;
	uint16_t insn_len;
	enum ts_next found;
	unsigned kind;
	uint64_t pc;
	size_t len;

	r->out = out;
	found = open_frame(r, &kind, &body, &len, err);
	if (found != TS_ITEM) {
		if (found == TS_END)
			end_walk(r);
		return found;
	}
	if (r->n_steps % BAP_FORGET == 0)
		forget_told(r);
	if (++r->serial == 0)
		r->serial = 1;
	if (!(kind == FRAME_STD ? read_std(r, &body, &t, &pc, &insn_len) : read_other(r, kind, &body))) {
		go_back(out, &mark);
		ts_fail_prefix(err, "frame %" PRIu64, r->n_frames);
		return TS_FAIL;
	}
	if (kind != FRAME_STD) { /* only after a resume() at the very start */
		take_frame(r, len);
		return next(base, out, err);
	}
	take_frame(r, len);
	read_others(r);
	if (r->rec->has_modes)
		look_at_next_mode(r, t);
	r->n_steps++;
	ts_steps_close(out, pc, insn_len, t->ordinal);
	return TS_ITEM;
}

/* ------------------------------------------------------------------------------------------------ decode points */

/*
 * A decode point: offset, frame, step, then the system calls that wait, then each thread's id, flags, and what was told of its
 * registers: runs of offset, length, data; the runs that the last instruction wrote first.
 */
static void put64(struct ts_buf *b, uint64_t n)
{
	ts_buf_put(b, &n, sizeof(n));
}

static void put_run(struct ts_buf *b, const struct thread *t, uint32_t off, uint32_t len)
{
	put64(b, off);
	put64(b, len);
	ts_buf_put(b, t->data + off, len);
}

static bool is_written(const struct thread *t, const struct extent *e)
{
	return !memchr(t->state + e->off, BYTE_UNTOLD, e->len);
}

static void save_thread(const struct bap_reader *r, const struct thread *t, struct ts_buf *b)
{
	uint32_t g_len = r->rec->base.regs.g_len, end;
	uint64_t n_last = 0;

	put64(b, t->id);
	ts_buf_put(b, t->flags, sizeof(t->flags));
	for (unsigned i = 0; i < t->n_last; i++)
		n_last += is_written(t, &t->last[i]);
	put64(b, n_last);
	for (unsigned i = 0; i < t->n_last; i++)
		if (is_written(t, &t->last[i]))
			put_run(b, t, t->last[i].off, t->last[i].len);
	for (uint32_t i = 0; r->n_steps % BAP_FORGET && i < g_len; i = end) {
		end = i + 1;
		if (t->state[i] != BYTE_TOLD)
			continue;
		while (end < g_len && t->state[end] == BYTE_TOLD)
			end++;
		put_run(b, t, i, end - i);
	}
	put64(b, UINT64_MAX);
}

static void save(const struct ts_reader *base, struct ts_buf *b)
{
	const struct bap_reader *r = (const struct bap_reader *)base;

	put64(b, r->off);
	put64(b, r->n_frames);
	put64(b, r->n_steps);
	ts_buf_put(b, &r->base.end, sizeof(r->base.end));
	put64(b, r->n_pending);
	ts_buf_put(b, r->pending, r->n_pending * sizeof(r->pending[0]));
	put64(b, r->now ? r->now->id : 0);
	put64(b, r->n_threads);
	for (uint32_t i = 0; i < r->n_threads; i++)
		save_thread(r, r->threads[i], b);
}

static void get(struct ts_cursor *c, void *data, size_t len)
{
	const uint8_t *p = ts_take(c, len);

	if (p)
		memcpy(data, p, len);
}

static uint64_t get64(struct ts_cursor *c)
{
	uint64_t n = 0;

	get(c, &n, sizeof(n));
	return n;
}

/* A run of register bytes; false when there is none. */
static bool get_run(struct bap_reader *r, struct thread *t, struct ts_cursor *c, enum byte_state state, struct extent *run)
{
	uint32_t g_len = r->rec->base.regs.g_len;
	uint64_t off = get64(c), len;

	if (off >= g_len)
		return false;
	len = get64(c);
	if (len > g_len - off || len > c->left)
		return ts_fail(c->err, TS_ECORRUPT, TS_NO_OFF, "a decode point has registers beyond the last");
	get(c, t->data + off, (size_t)len);
	memset(t->state + off, (int)state, (size_t)len);
	*run = (struct extent){ (uint32_t)off, (uint32_t)len };
	return true;
}

static bool resume_thread(struct bap_reader *r, struct ts_cursor *c)
{
	struct thread *t = find_thread(r, get64(c), c->err);
	uint64_t n_last;
	struct extent run;

	if (!t)
		return false;
	get(c, t->flags, sizeof(t->flags));
	n_last = get64(c);
	while (n_last-- && t->n_last < MAX_LAST && get_run(r, t, c, BYTE_WRITTEN, &run))
		t->last[t->n_last++] = run;
	while (get_run(r, t, c, BYTE_TOLD, &run))
		;
	return ts_ok(c);
}

static bool resume(struct ts_reader *base, const uint8_t *point, size_t len, struct ts_error *err)
{
	struct bap_reader *r = (struct bap_reader *)base;
	struct ts_cursor c = ts_cursor(point, len, 0, "decode point", err);
	uint64_t now, n;

	forget_threads(r);
	r->off = get64(&c);
	r->n_frames = get64(&c);
	r->n_steps = get64(&c);
	get(&c, &r->base.end, sizeof(r->base.end));
	n = get64(&c);
	r->n_pending = n < MAX_PENDING ? (unsigned)n : MAX_PENDING;
	get(&c, r->pending, r->n_pending * sizeof(r->pending[0]));
	now = get64(&c);
	for (n = get64(&c); n && ts_ok(&c); n--)
		resume_thread(r, &c);
	if (ts_ok(&c) && (c.left || r->off < r->rec->first || r->off > r->rec->end))
		ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "a decode point that is none of this trace");
	r->now = r->n_threads ? find_thread(r, now, err) : NULL;
	return ts_ok(&c);
}

static void close_reader(struct ts_reader *base)
{
	struct bap_reader *r = (struct bap_reader *)base;

	forget_threads(r);
	free(r->threads);
	free(r->buf);
	free(r);
}

/* ------------------------------------------------------------------------------------------------ the start */

static struct bap_reader *reader_at_start(struct bap *rec, struct ts_error *err)
{
	static const struct ts_reader_ops ops = { .next = next, .save = save, .resume = resume, .close = close_reader };
	struct bap_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a reader");
		return NULL;
	}
	r->base.ops = &ops;
	r->serial = 1;
	r->rec = rec;
	r->off = rec->first;
	return r;
}

/* Frames before the first instruction belong to the initial state; @out NULL: which is known already. */
static bool skip_to_first(struct bap_reader *r, struct ts_steps *out, struct ts_error *err)
{
	struct ts_steps ignored;
	enum ts_next found;
	unsigned kind;
	size_t len;

	ts_steps_init(&ignored);
	r->out = out ? out : &ignored;
	for (;;) {
		struct ts_cursor body = { 0 };

		found = open_frame(r, &kind, &body, &len, err);
		if (found != TS_ITEM || kind == FRAME_STD)
			break;
		if (!read_other(r, kind, &body)) {
			ts_fail_prefix(err, "frame %" PRIu64, r->n_frames);
			found = TS_FAIL;
			break;
		}
		take_frame(r, len);
		ts_steps_reset(&ignored);
	}
	ts_steps_fini(&ignored);
	if (found == TS_END)
		ts_fail(err, TS_EUNSUPPORTED, r->rec->end, "no instructions: %" PRIu64 " frames, none of an instruction", r->n_frames);
	return found == TS_ITEM;
}

struct ts_reader *bap_reader_new(struct bap *rec, struct ts_error *err)
{
	struct bap_reader *r = reader_at_start(rec, err);

	if (r)
		r->now = find_thread(r, rec->first_thread, err);
	if (r && r->now && skip_to_first(r, NULL, err))
		return &r->base;
	if (r)
		close_reader(&r->base);
	return NULL;
}

/* Walk the first frames: @look is called with each std frame. */
static bool scan(struct bap *rec, void (*look)(struct bap_reader *r, const struct pb_message *std, struct ts_cursor *body, void *user),
		 void *user, struct ts_error *err)
{
	struct bap_reader *r = reader_at_start(rec, err);
	struct ts_error later;
	bool done;

	if (!r)
		return false;
	ts_error_reset(&later);
	rec->read_until = UINT64_MAX; /* nothing is said twice */
	done = skip_to_first(r, NULL, err);
	for (unsigned i = 0; done && i < SCAN_FRAMES; i++) {
		struct ts_cursor body = { 0 };
		struct pb_message std;
		unsigned kind;
		size_t len;

		if (open_frame(r, &kind, &body, &len, &later) != TS_ITEM)
			break;
		if (kind == FRAME_STD && pb_read(&body, &bap_std, &std))
			look(r, &std, &body, user);
		take_frame(r, len);
	}
	rec->read_until = 0;
	rec->n_walked = 0;
	close_reader(&r->base);
	return done;
}

/* Mark the features of the registers that a list of operands names. */
static void note_features(struct bap_reader *r, struct ts_cursor list, uint32_t *features)
{
	struct ts_cursor item;
	struct operand op;

	while (pb_next_item(&list, &bap_operand_list, &item))
		if (read_operand(r, &item, &op) && op.slot && (op.slot->kind == BAP_SLOT_REG || op.slot->kind == BAP_SLOT_FLAGS))
			*features |= 1u << op.slot->feature;
}

static void look_at_features(struct bap_reader *r, const struct pb_message *std, struct ts_cursor *body, void *user)
{
	if (!r->n_steps++)
		r->rec->first_thread = std->v[STD_THREAD_ID - 1].n;
	note_features(r, pb_sub(std, STD_PRE_LIST, body), user);
	note_features(r, pb_sub(std, STD_POST_LIST, body), user);
	r->rec->has_modes |= r->rec->arch == BAP_ARCH_ARM && pb_has(std, STD_MODE);
}

bool bap_scan(struct bap *rec, uint32_t *features, struct ts_error *err)
{
	*features = 0;
	return scan(rec, look_at_features, features, err);
}

bool bap_read_initial(struct bap *rec, struct ts_error *err)
{
	struct bap_reader *r = reader_at_start(rec, err);
	bool done = false;

	if (!r)
		return false;
	r->now = find_thread(r, rec->first_thread, err);
	if (r->now)
		done = skip_to_first(r, &rec->base.initial, err);
	close_reader(&r->base);
	return done;
}

/* ------------------------------------------------------------------------------------------------ byte order */

/* Major opcodes that most of a MIPS program consists of. */
static bool is_mips_opcode(uint8_t top)
{
	switch (top >> 2) {
	case 0x03: /* jal */
	case 0x04: /* beq */
	case 0x05: /* bne */
	case 0x09: /* addiu */
	case 0x0f: /* lui */
	case 0x23: /* lw */
	case 0x2b: /* sw */
		return true;
	default:
		return false;
	}
}

static void look_at_code(struct bap_reader *r, const struct pb_message *std, struct ts_cursor *body, void *user)
{
	const struct pb_value *raw = &std->v[STD_RAWBYTES - 1];
	int *lead = user;

	(void)r;
	(void)body;
	if (raw->n == 4)
		*lead += is_mips_opcode(raw->p[0]) - is_mips_opcode(raw->p[3]);
}

bool bap_is_code_big_endian(struct bap *rec)
{
	struct ts_error ignored;
	int lead = 0;

	ts_error_reset(&ignored);
	scan(rec, look_at_code, &lead, &ignored);
	return lead >= 0;
}

/* A byte of memory as both orders have it. */
struct both {
	uint64_t addr;
	uint8_t bytes[2];
	bool is_there;
};

#define N_BOTH 4096

struct vote {
	struct both seen[N_BOTH];
	uint64_t n_against[2]; /* contradictions: memory order, reversed */
};

static void vote_operand(struct vote *v, const struct operand *op, bool is_read)
{
	for (uint32_t i = 0; i < op->len; i++) {
		struct both *b = &v->seen[(op->addr + i) % N_BOTH];
		const uint8_t bytes[2] = { op->value[i], op->value[op->len - 1 - i] };

		for (unsigned k = 0; is_read && b->is_there && b->addr == op->addr + i && k < 2; k++)
			v->n_against[k] += b->bytes[k] != bytes[k];
		*b = (struct both){ op->addr + i, { bytes[0], bytes[1] }, true };
	}
}

static void look_at_memory(struct bap_reader *r, const struct pb_message *std, struct ts_cursor *body, void *user)
{
	for (unsigned field = STD_PRE_LIST; field <= STD_POST_LIST; field++) {
		struct ts_cursor list = pb_sub(std, field, body), item;
		struct operand op;

		while (pb_next_item(&list, &bap_operand_list, &item))
			if (read_operand(r, &item, &op) && !op.slot && op.len <= 64)
				vote_operand(user, &op, field == STD_PRE_LIST);
	}
}

void bap_vote_memory_order(struct bap *rec)
{
	struct vote *v = calloc(1, sizeof(*v));
	struct ts_error ignored;

	ts_error_reset(&ignored);
	if (v && scan(rec, look_at_memory, v, &ignored) && v->n_against[0] != v->n_against[1])
		rec->is_mem_reversed = v->n_against[1] < v->n_against[0];
	free(v);
}
