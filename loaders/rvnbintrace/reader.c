/* SPDX-License-Identifier: MIT */
/*
 * Events into steps: one event, one step.
 *
 *      diff byte, or ff ff, description, diff byte    the latter is an interrupt or exception
 *          low half: entries of memory, high half: entries of registers, which follow in this order
 *          15 of either: 14 here, and after them another diff byte of the same event
 *      memory: physical address (P bytes), u8 length, or ff and the length (P bytes); bytes
 *      register: u8 id, or ff and u16 id; then its value, nothing if the id is that of an operation
 *
 * Values are those after the event.  An operation's result depends on the value before: a reader keeps the
 * values of registers that operations change, and those that x87's registers are made of; they and the place
 * in the file are a decode point.
 *
 * The recorders do not record the lengths of instructions.  Where rip grows by at most the length of the
 * longest instruction, the difference is used: to the model a length only means that the next address
 * follows.  Questions take the length from the code (guesses_lengths).
 */
#include "regs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/kit/insn_len.h"
#include "src/trace/point.h"
#include "src/base/collections/bisect.h"

/* An entry without memory's bytes fits in; so does a piece of memory's bytes. */
#define MIN_LEFT 2048u
_Static_assert(MIN_LEFT >= RVN_MAX_REG_LEN + 3, "a register's entry fits in");

/* Entries of memory and of 14 registers fit in that have a short form, and a word more. */
#define MIN_SHORT 256u

#define OTHER_FOLLOWS 0xff
#define EVENT_OTHER   0xff
#define MORE          15

#define MAX_INSN_LEN 15

/* One event writes no more memory than this. */
#define MAX_EVENT_DATA (UINT64_C(256) << 20)

struct rvn_reader {
	struct ts_reader base;
	struct rvn *rec;             /* borrowed */
	struct ts_window window;
	struct ts_cursor c;          /* over the bytes in the window that come next */
	uint64_t n;                  /* events before this place */
	uint8_t *kept;               /* owned; current values */
	uint8_t x87[RVN_X87_LEN];    /* as the steps so far show them */
	const struct rvn_span *span; /* where memory was written last, NULL at first */
	uint64_t data_len;           /* memory written by this event */
	bool is_x87_changed;         /* by this event */
	unsigned n_changed;
	uint16_t changed[RVN_MAX_TARGETS]; /* other registers that are reported at its end, by ordinal */
	uint64_t noted[RVN_MAX_TARGETS];   /* by target: the last event that changed it, plus 1 */
	struct ts_steps *out;              /* borrowed during next() */
};

/* ------------------------------------------------------------------------------------------------ bytes */

/* Have the next MIN_LEFT bytes in the cursor, or all that there are. */
static inline bool look_ahead(struct rvn_reader *r)
{
	return ts_window_ahead(&r->window, &r->c, MIN_LEFT);
}

static void go_to(struct rvn_reader *r, uint64_t off)
{
	r->c = ts_cursor(NULL, 0, off, "events", NULL);
}

/* ------------------------------------------------------------------------------------------------ memory */

/* Returns the span that contains @addr, or the next one; NULL if none is found. */
static const struct rvn_span *find_span(const struct rvn *rec, uint64_t addr)
{
	uint32_t at = 0;

	TS_BISECT(at, rec->n_spans, i, rec->spans[i].last < addr);
	return at < rec->n_spans ? &rec->spans[at] : NULL;
}

/* The parts of [addr, last] that lie in the machine's memory. */
static void write_parts(struct rvn_reader *r, uint64_t addr, uint64_t last, const uint8_t *data)
{
	const struct rvn_span *end = r->rec->spans + r->rec->n_spans;

	ts_warn_at(&r->rec->warner, r->n,
		   "memory was written outside the machine's regions: the bytes outside are ignored");
	for (const struct rvn_span *s = find_span(r->rec, addr); s && s < end && s->first <= last; s++) {
		uint64_t lo = addr > s->first ? addr : s->first, hi = last < s->last ? last : s->last;

		ts_steps_value(r->out, TS_FX_WRITE, lo, data + (lo - addr), (uint32_t)(hi - lo + 1));
	}
}

/* @len > 0 */
static inline void write_piece(struct rvn_reader *r, uint64_t addr, const uint8_t *data, uint64_t len)
{
	uint64_t last = addr + (len - 1);
	const struct rvn_span *s = r->span;

	if (__builtin_expect(!s || addr < s->first || last > s->last, 0)) {
		s = find_span(r->rec, addr);
		if (!s || addr < s->first || last > s->last || last < addr) {
			write_parts(r, addr, last < addr ? UINT64_MAX : last, data);
			return;
		}
		r->span = s;
	}
	if (len <= 8) /* the window has more bytes (TS_WINDOW_PAD) */
		ts_steps_word(r->out, TS_FX_WRITE, addr, data, (uint32_t)len);
	else
		ts_steps_value(r->out, TS_FX_WRITE, addr, data, (uint32_t)len);
}

static bool fail_long(struct rvn_reader *r, uint64_t off, uint64_t addr, uint64_t len)
{
	uint64_t left = r->rec->end - r->c.off;

	if (len > left)
		return ts_fail(r->c.err, TS_ETRUNC, off,
			       "%" PRIu64 " bytes of memory at 0x%" PRIx64 " but %" PRIu64 " are left", len,
			       addr, left);
	return ts_fail(r->c.err, TS_ELIMIT, off, "it writes more than %" PRIu64 " bytes of memory",
		       MAX_EVENT_DATA);
}

/*
 * Memory's bytes, MIN_LEFT at a time: the effects of an event are the same wherever the window happens to begin.
 */
static bool read_contents(struct rvn_reader *r, uint64_t off, uint64_t addr, uint64_t len)
{
	bool is_past = false; /* beyond the last address */

	if (len > r->rec->end - r->c.off || len > MAX_EVENT_DATA - r->data_len)
		return fail_long(r, off, addr, len);
	r->data_len += len;
	while (len && look_ahead(r)) {
		uint64_t n = len < MIN_LEFT ? len : MIN_LEFT;
		const uint8_t *p = ts_take(&r->c, n);

		if (!p)
			return false;
		if (!is_past)
			write_piece(r, addr, p, n);
		is_past |= n > UINT64_MAX - addr;
		addr += n;
		len -= n;
	}
	return !len;
}

/*
 * Nearly all entries: a word in the span that was written last.  Returns false, having done nothing, if it is
 * another.
 */
static inline bool read_short_memory(struct rvn_reader *r)
{
	const struct rvn_span *s = r->span;
	unsigned addr_len = r->rec->addr_len;
	const uint8_t *p = r->c.p;
	uint64_t addr, len;

	if (!s || r->c.left < MIN_SHORT)
		return false;
	addr = rvn_le(p, addr_len);
	len = p[addr_len];
	if (len - 1 >= 8 || addr < s->first || addr > s->last || len - 1 > s->last - addr ||
	    r->data_len > MAX_EVENT_DATA - 8)
		return false;
	r->data_len += len;
	ts_steps_word(r->out, TS_FX_WRITE, addr, p + addr_len + 1, (uint32_t)len);
	ts_take(&r->c, addr_len + 1 + len);
	return true;
}

static inline bool read_memory(struct rvn_reader *r)
{
	unsigned addr_len = r->rec->addr_len;
	uint64_t off = r->c.off, addr, len;
	const uint8_t *p;

	if (!look_ahead(r))
		return false;
	if (__builtin_expect(read_short_memory(r), 1))
		return true;
	p = ts_take(&r->c, addr_len + 1u);
	if (!p)
		return false;
	addr = rvn_le(p, addr_len);
	len = p[addr_len];
	if (__builtin_expect(len == RVN_LONG_LEN, 0)) {
		p = ts_take(&r->c, addr_len);
		if (!p)
			return false;
		len = rvn_le(p, addr_len);
	}
	return read_contents(r, off, addr, len);
}

/* ---------------------------------------------------------------------------------------------- registers */

/* Note that a register whose value the reader keeps has changed. */
static inline void note_change(struct rvn_reader *r, uint16_t ordinal, const struct rvn_reg *reg)
{
	if (reg->role == RVN_X87) {
		r->is_x87_changed = true;
	} else if (reg->role != RVN_PC && r->noted[reg->target] != r->n + 1) {
		r->noted[reg->target] = r->n + 1;
		r->changed[r->n_changed++] = ordinal;
	}
}

static inline uint8_t *kept_value(const struct rvn_reader *r, const struct rvn_reg *reg)
{
	return r->kept + reg->kept;
}

/*
 * Of the next @n registers those with a short form, up to the first without it.  Returns how many are left.
 */
static inline unsigned read_short_registers(struct rvn_reader *r, unsigned n)
{
	const struct rvn *rec = r->rec;
	const uint8_t *p = r->c.p;

	if (r->c.left < MIN_SHORT)
		return n;
	for (; n; n--) {
		const struct rvn_short *s = &rec->shorts[*p];

		if (s->way == RVN_NO_SHORT)
			break;
		p++;
		if (s->way == RVN_APPEND) {
			ts_steps_word(r->out, TS_FX_REG_WRITE, s->off, p, s->len);
		} else {
			uint8_t *value = r->kept + s->kept;
			uint64_t old = rvn_le(value, 8), made = ((old & s->keep) | s->set) + s->add;

			made += rvn_le(p, 8) & s->take;
			made = htole64((made & s->mask) | (old & ~s->mask));
			memcpy(value, &made, 8);
			if (s->way == RVN_KEEP_NOTE)
				note_change(r, s->ordinal, &rec->regs[s->ordinal]);
		}
		p += s->len;
	}
	ts_take(&r->c, (uint64_t)(p - r->c.p));
	return n;
}

static void operate_bytes(uint8_t *value, const struct rvn_op *op, unsigned len)
{
	unsigned carry = 0;

	for (unsigned i = 0; i < len; i++) {
		switch ((enum rvn_op_kind)op->kind) {
		case RVN_SET: value[i] = op->operand[i]; break;
		case RVN_ADD:
			carry += (unsigned)value[i] + op->operand[i];
			value[i] = (uint8_t)carry;
			carry >>= 8;
			break;
		case RVN_AND: value[i] &= op->operand[i]; break;
		case RVN_OR: value[i] |= op->operand[i]; break;
		}
	}
}

static void operate(struct rvn_reader *r, const struct rvn_op *op)
{
	const struct rvn_reg *reg = &r->rec->regs[op->reg];
	uint8_t *value = kept_value(r, reg);

	operate_bytes(value, op, reg->len);
	note_change(r, op->reg, reg);
}

/* Of any form. */
static __attribute__((noinline)) bool read_register(struct rvn_reader *r)
{
	const struct rvn *rec = r->rec;
	const struct rvn_reg *reg;
	uint64_t off = r->c.off;
	uint16_t id, ordinal;
	const uint8_t *value;

	if (!look_ahead(r))
		return false;
	id = ts_u8(&r->c);
	if (__builtin_expect(id == RVN_LONG_ID, 0))
		id = ts_u16le(&r->c);
	if (id < 256 && rec->ops[id].reg != RVN_NO_REG) {
		operate(r, &rec->ops[id]);
		return ts_ok(&r->c);
	}
	ordinal = rec->reg_of_id[id];
	if (__builtin_expect(ordinal == RVN_NO_REG, 0))
		return ts_fail(r->c.err, TS_ECORRUPT, off, "unknown register id %u", id);
	reg = &rec->regs[ordinal];
	value = ts_take(&r->c, reg->len);
	if (!value)
		return false;
	if (reg->kept == RVN_NOT_KEPT) {
		rvn_append_padded(reg, value, r->out);
	} else {
		memcpy(kept_value(r, reg), value, reg->len);
		note_change(r, ordinal, reg);
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------ events */

/* The description of an event that is not an instruction. */
static __attribute__((noinline)) bool read_other(struct rvn_reader *r)
{
	uint64_t off = r->c.off;
	uint8_t type = ts_u8(&r->c), len;
	struct ts_event *ev;
	const uint8_t *text;
	char *false_code; /* one of the recorders writes that of the first exception with all */
	size_t n;

	if (ts_ok(&r->c) && type != EVENT_OTHER)
		return ts_fail(r->c.err, TS_ECORRUPT, off, "an event of type %u, only 255 is known", type);
	len = ts_u8(&r->c);
	text = ts_take(&r->c, len);
	ev = text ? ts_steps_event(r->out, TS_EV_INTERRUPT) : NULL;
	if (!ev)
		return ts_ok(&r->c);
	n = len < sizeof(ev->text) ? len : sizeof(ev->text) - 1;
	for (size_t i = 0; i < n; i++)
		ev->text[i] = (char)(text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?');
	ev->text[n] = '\0';
	false_code = strstr(ev->text, " with error code ");
	if (false_code)
		*false_code = '\0';
	return true;
}

static bool read_entries(struct rvn_reader *r, uint8_t diff)
{
	unsigned n = (diff & 15) == MORE ? 14 : diff & 15;

	for (; n; n--)
		if (!read_memory(r))
			return false;
	n = diff >> 4 == MORE ? 14 : diff >> 4;
	if (n && !look_ahead(r))
		return false;
	while ((n = read_short_registers(r, n)) > 0) {
		if (!read_register(r))
			return false;
		n--;
	}
	return true;
}

static inline bool is_continued(uint8_t diff)
{
	return (diff & 15) == MORE || diff >> 4 == MORE;
}

/* More entries than one @diff counts; after the last one there is one that counts fewer. */
static __attribute__((noinline)) bool read_continuations(struct rvn_reader *r)
{
	uint8_t diff;

	do {
		if (!look_ahead(r))
			return false;
		diff = ts_u8(&r->c);
		if (diff == OTHER_FOLLOWS)
			return ts_fail(r->c.err, TS_ECORRUPT, r->c.off - 1,
				       "a continuation with 255, which begins another event");
		if (!ts_ok(&r->c) || !read_entries(r, diff))
			return false;
	} while (is_continued(diff));
	return true;
}

static inline bool read_event(struct rvn_reader *r, bool *is_other)
{
	uint8_t diff = ts_u8(&r->c);

	*is_other = diff == OTHER_FOLLOWS;
	if (__builtin_expect(*is_other, 0)) {
		if (!read_other(r))
			return false;
		diff = ts_u8(&r->c);
	}
	if (!ts_ok(&r->c) || !read_entries(r, diff))
		return false;
	return !__builtin_expect(is_continued(diff), 0) || read_continuations(r);
}

/* Those of the x87, which follow from what is kept. */
static __attribute__((noinline)) void tell_x87(struct rvn_reader *r)
{
	const struct rvn *rec = r->rec;
	uint8_t x87[RVN_X87_LEN];

	r->is_x87_changed = false;
	rvn_make_x87(rec, r->kept, x87);
	for (unsigned i = 0; i < RVN_N_ST; i++) {
		uint32_t len, at = rvn_x87_at(i, &len);

		if (memcmp(x87 + at, r->x87 + at, len) && rvn_has_x87(rec, i))
			ts_steps_value(r->out, TS_FX_REG_WRITE, rec->x87_off + at, x87 + at, len);
	}
	memcpy(r->x87, x87, sizeof(x87));
}

/* Append the effects of the registers that are reported once, at the end of the event. */
static inline void tell_changes(struct rvn_reader *r)
{
	const struct rvn *rec = r->rec;

	for (unsigned i = 0; i < r->n_changed; i++)
		rvn_append_padded(&rec->regs[r->changed[i]], kept_value(r, &rec->regs[r->changed[i]]), r->out);
	r->n_changed = 0;
	if (__builtin_expect(r->is_x87_changed, 0))
		tell_x87(r);
}

static uint64_t pc_of(const struct rvn_reader *r)
{
	return rvn_le(r->kept + r->rec->regs[r->rec->pc].kept, 8);
}

/* The bytes end between two events. */
static enum ts_next end_of_bytes(struct rvn_reader *r)
{
	const struct rvn *rec = r->rec;

	if (rec->n_events != UINT64_MAX)
		ts_fail(r->c.err, TS_ETRUNC, r->c.off,
			"events: %" PRIu64 " are promised, but the bytes end after %" PRIu64, rec->n_events,
			r->n);
	else if (rec->is_unfinished)
		ts_fail(r->c.err, TS_ETRUNC, r->c.off,
			"the recording was not finished: it ends after %" PRIu64 " events", r->n);
	return r->c.err->code == TS_OK ? TS_END : TS_FAIL;
}

/* The length of the instruction at @from, if the next address or a call's return address determines it; 0: unknown. */
static inline uint16_t insn_len(const struct rvn_reader *r, uint64_t from, uint64_t to)
{
	uint16_t len;

	if (to - from > MAX_INSN_LEN)
		return 0;
	if (!r->data_len) /* a call writes memory */
		return (uint16_t)(to - from);
	len = ts_insn_len_of_call(r->out, from, to);
	return len ? len : (uint16_t)(to - from);
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct rvn_reader *r = (struct rvn_reader *)base;
	uint64_t pc = r->base.end.pc, start = r->c.off;
	bool is_other;

	r->c.err = err;
	if (r->n == r->rec->n_events)
		return TS_END;
	if (look_ahead(r) && !r->c.left)
		return end_of_bytes(r);
	r->out = out;
	r->data_len = 0;
	if (!ts_ok(&r->c) || !read_event(r, &is_other)) {
		go_to(r, start);
		ts_fail_prefix(err, "%" PRIu64 " events are kept; event %" PRIu64, r->n, r->n);
		return TS_FAIL;
	}
	tell_changes(r);
	r->n++;
	r->base.end.pc = pc_of(r);
	ts_steps_close(out, pc, is_other ? 0 : insn_len(r, pc, r->base.end.pc), 0);
	return TS_ITEM;
}

/* ------------------------------------------------------------------------------------------- plain events */

/*
 * A plain event has entries in their short forms only, which nearly all events have, all of them in the window.  It is
 * made with less work for each, and undone where it turns out not to be plain.
 */
#define MAX_ENTRIES   14u /* of memory, and of registers */
#define MAX_PLAIN_LEN 512u
_Static_assert(2 * MAX_ENTRIES <= TS_MANY_EFFECTS, "nothing is to be joined");
_Static_assert(MAX_PLAIN_LEN >= 1 + MAX_ENTRIES * (8 + 1 + 8 + 1 + 8), "a plain event fits in");

/* Kept values that the open event changed, as they were. */
struct undo {
	unsigned n;
	uint8_t *at[MAX_ENTRIES];
	uint64_t value[MAX_ENTRIES];
};

/* Members are used one by one and never by address, so that a processor's registers hold them. */
struct plain {
	const struct rvn_short *shorts; /* as in the recording */
	uint8_t *kept;                  /* as in the reader */
	uint64_t first, last;           /* the span where memory was written last; nothing, if first is more than last */
	unsigned addr_len;
	struct ts_effect *effects;      /* as in the batch */
	uint8_t *data;
	const uint8_t *p;               /* the next byte of the trace */
	uint32_t n_effects, n_data;
};

static inline void put_word(struct plain *x, enum ts_effect_kind kind, uint64_t addr, const uint8_t *bytes, uint32_t len)
{
	x->effects[x->n_effects++] = (struct ts_effect){ .addr = addr, .len = len, .data = x->n_data, .kind = kind };
	memcpy(x->data + x->n_data, bytes, 8);
	x->n_data += len;
}

static inline bool take_plain_memory(struct plain *x)
{
	const uint64_t addr = rvn_le(x->p, x->addr_len), len = x->p[x->addr_len];

	if (len - 1 >= 8 || addr < x->first || addr > x->last || len - 1 > x->last - addr)
		return false;
	put_word(x, TS_FX_WRITE, addr, x->p + x->addr_len + 1, (uint32_t)len);
	x->p += x->addr_len + 1 + len;
	return true;
}

/* Append the registers that are reported at the end of the open event. */
struct changed {
	unsigned n;
	uint64_t targets; /* bit i: target i is among them */
	const struct rvn_short *regs[MAX_ENTRIES];
};

static inline bool change_plainly(const struct plain *x, const struct rvn_short *s, struct undo *undo, struct changed *c)
{
	uint8_t *value = x->kept + s->kept;
	const uint64_t old = rvn_le(value, 8);
	uint64_t made = ((old & s->keep) | s->set) + s->add;

	undo->at[undo->n] = value;
	undo->value[undo->n++] = htole64(old);
	made += rvn_le(x->p, 8) & s->take;
	made = htole64((made & s->mask) | (old & ~s->mask));
	memcpy(value, &made, 8);
	if (s->way == RVN_KEEP)
		return true;
	if (!s->width || s->target >= 64)
		return false;
	if (!(c->targets >> s->target & 1))
		c->regs[c->n++] = s;
	c->targets |= UINT64_C(1) << s->target;
	return true;
}

static inline bool take_plain_register(struct plain *x, struct undo *undo, struct changed *c)
{
	const struct rvn_short *s = &x->shorts[*x->p++];

	if (s->way == RVN_APPEND)
		put_word(x, TS_FX_REG_WRITE, s->off, x->p, s->len);
	else if (s->way == RVN_NO_SHORT || !change_plainly(x, s, undo, c))
		return false;
	x->p += s->len;
	return true;
}

static inline bool take_plain_event(struct plain *x, struct undo *undo)
{
	const uint8_t diff = *x->p++;
	struct changed c;

	undo->n = c.n = 0;
	c.targets = 0;
	if (is_continued(diff))
		return false;
	for (unsigned n = diff & 15; n; n--)
		if (!take_plain_memory(x))
			return false;
	for (unsigned n = diff >> 4; n; n--)
		if (!take_plain_register(x, undo, &c))
			return false;
	for (unsigned i = 0; i < c.n; i++)
		put_word(x, TS_FX_REG_WRITE, c.regs[i]->off, x->kept + c.regs[i]->kept, c.regs[i]->width);
	return true;
}

static void give_back(const struct undo *undo)
{
	for (unsigned i = undo->n; i-- > 0;)
		memcpy(undo->at[i], &undo->value[i], 8);
}

/* Are the bytes of the event at @p, of @left, all there if it is plain? */
static inline bool is_at_hand(const uint8_t *p, uint64_t left, unsigned addr_len)
{
	return __builtin_expect(left >= MAX_PLAIN_LEN, 1) ||
	       (left && left > (*p & 15) * (addr_len + 9u) + (*p >> 4) * 9u);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How many effects, and bytes, @out may have so that those of one more event have room.  Returns false: none. */
static bool room_of(const struct ts_steps *out, uint32_t *max_effects, uint32_t *max_data)
{
	const uint32_t n = 2 * MAX_ENTRIES;

	if (out->cap_effects < n || out->cap_data < n * 8)
		return false;
	*max_effects = out->cap_effects - n;
	*max_data = out->cap_data - n * 8;
	return true;
}

static void next_plain(struct ts_reader *base, uint32_t max, struct ts_steps *out)
{
	struct rvn_reader *r = (struct rvn_reader *)base;
	const uint64_t n_most = least(least(max, out->cap_steps - out->n_steps), r->rec->n_events - r->n);
	struct ts_step *step = out->steps + out->n_steps;
	uint32_t max_effects, max_data;
	const uint8_t *begin = r->c.p;
	uint64_t left = r->c.left;
	const uint8_t *pc = r->kept + r->rec->regs[r->rec->pc].kept;
	uint64_t n = 0, from = r->base.end.pc;
	struct undo undo;
	struct plain x = { .shorts = r->rec->shorts,
			   .kept = r->kept,
			   .first = r->span ? r->span->first : 1,
			   .last = r->span ? r->span->last : 0,
			   .addr_len = r->rec->addr_len,
			   .effects = out->effects,
			   .data = out->data,
			   .p = begin,
			   .n_effects = out->n_effects,
			   .n_data = out->n_data };

	if (!r->c.left || !room_of(out, &max_effects, &max_data))
		return;
	r->out = out;
	for (; n < n_most && is_at_hand(begin, left, x.addr_len) && x.n_effects <= max_effects && x.n_data <= max_data; n++) {
		const uint32_t first = x.n_effects;
		uint64_t to;

		if (!take_plain_event(&x, &undo)) {
			give_back(&undo);
			break;
		}
		to = rvn_le(pc, 8);
		r->data_len = *begin & 15; /* 0 or not */
		out->n_closed = first;
		out->n_effects = x.n_effects;
		*step++ = (struct ts_step){ .pc = from,
					    .first = first,
					    .n_effects = x.n_effects - first,
					    .insn_len = insn_len(r, from, to) };
		out->n_closed = x.n_effects;
		out->n_data = x.n_data;
		from = to;
		left -= (uint64_t)(x.p - begin);
		begin = x.p;
	}
	ts_take(&r->c, (uint64_t)(begin - r->c.p));
	r->base.end.pc = from;
	r->n += n;
	out->n_steps += (uint32_t)n;
}

/* ------------------------------------------------------------------------------------------ decode points */

/* Go to a place with the values in r->kept. */
static void start_at(struct rvn_reader *r, uint64_t off, uint64_t n)
{
	go_to(r, off);
	r->n = n;
	r->n_changed = 0;
	r->is_x87_changed = false;
	memset(r->noted, 0, sizeof(r->noted));
	rvn_make_x87(r->rec, r->kept, r->x87);
	r->base.end = (struct ts_end){ .pc = pc_of(r), .has_pc = true };
}

/* A decode point: where the next event is, its ordinal, how what is kept differs from position 0. */
static bool point(struct ts_reader *base, struct ts_point *p)
{
	struct rvn_reader *r = (struct rvn_reader *)base;
	const struct rvn *rec = r->rec;
	uint64_t off = ts_point_number(p, r->c.off - rec->first, rec->end - rec->first);
	/* an event has at least one byte */
	uint64_t n = ts_point_number(p, r->n, off < rec->n_events ? off : rec->n_events);

	if (!ts_point_change(p, r->kept, rec->kept, rec->kept_len) || !ts_point_close(p))
		return false;
	if (!p->to)
		start_at(r, rec->first + off, n);
	return true;
}

static void close_reader(struct ts_reader *base)
{
	struct rvn_reader *r = (struct rvn_reader *)base;

	ts_window_fini(&r->window);
	free(r->kept);
}

static const struct ts_reader_ops ops = {
	.size = sizeof(struct rvn_reader), .next = next, .next_plain = next_plain, .point = point,
	.close = close_reader
};

struct ts_reader *rvn_reader_new(struct rvn *rec, struct ts_error *err)
{
	struct rvn_reader *r = ts_reader_new(&ops, err);

	if (!r)
		return NULL;
	r->rec = rec;
	ts_window_init(&r->window, rec->src, rec->end);
	r->kept = malloc(rec->kept_len + RVN_KEPT_PAD);
	if (!r->kept) {
		ts_no_memory(err, "a reader");
		ts_reader_close(&r->base);
		return NULL;
	}
	memcpy(r->kept, rec->kept, rec->kept_len + RVN_KEPT_PAD);
	start_at(r, rec->first, 0);
	return &r->base;
}
