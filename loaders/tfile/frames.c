/* SPDX-License-Identifier: MIT */
/*
 * The frames of a trace file: where they are, and what their blocks say.
 *
 * A frame's length is trusted and its blocks are not: a buffer that went round leaves blocks that are other
 * memory in frames whose places are right.
 */
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/bytes.h"
#include "src/base/collections/vec.h"

/* ---------------------------------------------------------------------------------------- numbers, memory */

static uint64_t take_number(struct ts_cursor *c, size_t len, bool is_big_endian)
{
	const uint8_t *p = ts_take(c, len);

	return p ? ts_number(p, len, is_big_endian) : 0;
}

/* Room for one more item; NULL without memory. */
static void *grow(void *items, size_t n, size_t *cap, size_t item_len, struct ts_error *err)
{
	if (ts_vec_reserve(&items, n, cap, 1, item_len))
		return items;
	return ts_no_memory(err, "frames");
}

/* ------------------------------------------------------------------------------------------------ places */

enum found {
	FOUND,
	FOUND_END,
	FOUND_CUT,
	FOUND_TOO_MUCH, /* for --max-memory */
};

/* Bytes that the list of frames has for each: its place, and its ordinal, in arrays that double. */
#define MEMORY_A_FRAME 64u

/* The number of copies of a frame's bytes: in two readers, and in the frame that questions use. */
#define COPIES_OF_A_FRAME 8u

static bool is_too_much(const struct tfile *t, const struct tfile_place *place)
{
	uint64_t max = t->base.max_memory;

	return max && (t->frames.n_frames >= max / MEMORY_A_FRAME || place->len > max / COPIES_OF_A_FRAME);
}

/* The frame whose head is at @off; on FOUND_CUT *left says how many bytes there are. */
static bool read_place(struct ts_window *w, uint64_t off, bool is_big_endian, struct tfile_place *place,
		       enum found *found, uint64_t *left, struct ts_error *err)
{
	uint64_t file_len = w->end;
	const uint8_t *head;
	size_t got;

	head = ts_window_at(w, off, TFILE_FRAME_HEAD, &got, err);
	if (!head)
		return false;
	*left = got;
	*found = !got ? FOUND_END : got < TFILE_FRAME_HEAD ? FOUND_CUT : FOUND;
	if (got >= 2 && !ts_number(head, 2, is_big_endian))
		*found = FOUND_END;
	if (*found != FOUND)
		return true;
	*place = (struct tfile_place){
		.off = off + TFILE_FRAME_HEAD,
		.len = (uint32_t)ts_number(head + 2, 4, is_big_endian),
		.tracepoint = (uint16_t)ts_number(head, 2, is_big_endian),
	};
	*left = file_len - place->off;
	if (place->len > *left)
		*found = FOUND_CUT;
	return true;
}

/* All frames' places; *off gets where they end, and *last and *left what is there. */
static bool read_places(struct tfile *t, struct ts_window *w, uint64_t *off, enum found *found,
			struct tfile_place *last, uint64_t *left, struct ts_error *err)
{
	for (*off = t->frames_off;;) {
		size_t cap = t->cap_places;
		struct tfile_place *p;

		if (!read_place(w, *off, t->is_big_endian, last, found, left, err))
			return false;
		if (*found == FOUND && is_too_much(t, last))
			*found = FOUND_TOO_MUCH;
		if (*found != FOUND)
			return true;
		p = grow(t->places, t->frames.n_frames, &cap, sizeof(*p), err);
		if (!p)
			return false;
		t->places = p;
		t->cap_places = cap;
		t->places[t->frames.n_frames++] = *last;
		*off = last->off + last->len;
	}
}

bool tfile_find_frames(struct tfile *t, struct ts_error *err)
{
	struct tfile_place last = { 0 };
	struct ts_window w;
	uint64_t off, left;
	enum found found;
	bool done;

	ts_window_init(&w, t->src, ts_source_len(t->src));
	done = read_places(t, &w, &off, &found, &last, &left, err);
	ts_window_fini(&w);
	if (!done)
		return false;
	if (found == FOUND_CUT && left < TFILE_FRAME_HEAD && off + left == ts_source_len(t->src))
		ts_fail(&t->damage, TS_ETRUNC, off,
			"frame %" PRIu64 ": its head has %d bytes but %" PRIu64 " are left",
			t->frames.n_frames, TFILE_FRAME_HEAD, left);
	else if (found == FOUND_CUT)
		ts_fail(&t->damage, TS_ETRUNC, off,
			"frame %" PRIu64 ": it has %" PRIu32 " bytes but %" PRIu64 " are left",
			t->frames.n_frames, last.len, left);
	else if (found == FOUND_TOO_MUCH)
		ts_fail(&t->damage, TS_ELIMIT, off,
			"frame %" PRIu64 " of %" PRIu32 " bytes: --max-memory allows no more", t->frames.n_frames, last.len);
	else if (off == ts_source_len(t->src))
		ts_recording_warn(&t->base, "no mark at the end of the frames: some may be missing");
	return true;
}

unsigned tfile_rate_order(const struct tfile *t, bool is_big_endian)
{
	uint64_t off = t->frames_off, left;
	struct tfile_place place = { 0 };
	enum found found = FOUND;
	struct ts_window w;
	unsigned rate = 0;

	ts_window_init(&w, t->src, ts_source_len(t->src));
	for (unsigned i = 0; i < 64 && found == FOUND; i++) {
		struct ts_error err = { 0 };

		if (!read_place(&w, off, is_big_endian, &place, &found, &left, &err))
			break;
		if (found == FOUND)
			rate += ts_tracing_find_number(&t->tracing, place.tracepoint) ? 3 : 1;
		off = place.off + place.len;
	}
	ts_window_fini(&w);
	return rate + (found == FOUND_END);
}

static void add_location(struct tfile_number *number, const struct ts_tracepoint *tp)
{
	number->is_sole = !number->tp;
	if (!number->tp)
		number->tp = tp;
}

bool tfile_sort_frames(struct tfile *t, struct ts_error *err)
{
	uint64_t n = t->frames.n_frames, at = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (t->places[i].tracepoint >= t->n_numbers)
			t->n_numbers = t->places[i].tracepoint + 1u;
	}
	t->order_of = calloc(t->n_numbers + 1, sizeof(*t->order_of));
	t->order = calloc(n + 1, sizeof(*t->order));
	t->numbers = calloc(t->n_numbers + 1, sizeof(*t->numbers));
	if (!t->order_of || !t->order || !t->numbers)
		return ts_no_memory(err, "frames");
	for (const struct ts_tracepoint *tp = t->tracing.points; tp; tp = tp->next) {
		if (tp->number < t->n_numbers)
			add_location(&t->numbers[tp->number], tp);
	}
	for (uint64_t i = 0; i < n; i++)
		t->order_of[t->places[i].tracepoint]++;
	for (uint32_t i = 0; i <= t->n_numbers; i++) {
		at += t->order_of[i];
		t->order_of[i] = at; /* where the tracepoint's frames end */
	}
	for (uint64_t i = n; i-- > 0;)
		t->order[--t->order_of[t->places[i].tracepoint]] = i;
	return true;
}

/* ------------------------------------------------------------------------------------------------ blocks */

/* What is wrong with a block is in the cursor's error. */

static void add_memory(struct tfile *t, struct tfile_frame *f, struct ts_cursor *c)
{
	uint64_t addr = take_number(c, 8, t->is_big_endian) & ts_arch_addr_mask(t->base.regs.arch);
	uint64_t len = take_number(c, 2, t->is_big_endian);
	const uint8_t *data = ts_take(c, len);
	struct tfile_memory *p;

	if (ts_ok(c) && len && addr > UINT64_MAX - (len - 1))
		ts_fail(c->err, TS_ECORRUPT, c->off, "memory past the end of the address space");
	if (ts_ok(c) && f->n_memory >= t->max_blocks)
		ts_fail(c->err, TS_ELIMIT, c->off, "more than %" PRIu64 " blocks of memory: --max-memory allows no more", t->max_blocks);
	if (!ts_ok(c))
		return;
	p = grow(f->memory, f->n_memory, &f->cap_memory, sizeof(*p), c->err);
	if (!p)
		return;
	f->memory = p;
	f->memory[f->n_memory++] = (struct tfile_memory){ addr, len, data };
}

static void add_var(struct tfile *t, struct tfile_frame *f, struct ts_cursor *c)
{
	uint32_t number = (uint32_t)take_number(c, 4, t->is_big_endian);
	int64_t value = (int64_t)take_number(c, 8, t->is_big_endian);
	struct ts_frame_var *p;

	if (!ts_ok(c))
		return;
	p = grow(f->vars, f->n_vars, &f->cap_vars, sizeof(*p), c->err);
	if (!p)
		return;
	f->vars = p;
	f->vars[f->n_vars++] = (struct ts_frame_var){ number, value };
}

static void add_block(struct tfile *t, struct tfile_frame *f, uint64_t reg_len, struct ts_cursor *c)
{
	uint64_t off = c->off;
	uint8_t kind = ts_u8(c);
	const uint8_t *p;

	switch (kind) {
	case 'R':
		p = ts_take(c, reg_len);
		if (!f->regs)
			f->regs = p;
		break;
	case 'M': add_memory(t, f, c); break;
	case 'V': add_var(t, f, c); break;
	case 'S': ts_take(c, take_number(c, 2, t->is_big_endian)); break; /* of a static marker: not shown */
	default: ts_fail(c->err, TS_ECORRUPT, off, "a block of unknown kind 0x%02x", kind); break;
	}
}

/* All blocks; on failure @odd says what was wrong with the first bad one. */
static bool read_blocks(struct tfile *t, struct tfile_frame *f, uint64_t reg_len, struct ts_error *odd)
{
	struct ts_cursor c = ts_cursor(f->bytes.data, f->bytes.len, t->places[f->n].off, "block", odd);

	f->regs = NULL;
	f->n_memory = f->n_vars = 0;
	while (ts_ok(&c) && c.left)
		add_block(t, f, reg_len, &c);
	return ts_ok(&c);
}

static bool read_bytes(struct tfile *t, uint64_t n, struct tfile_frame *f, struct ts_error *err)
{
	const struct tfile_place *place = &t->places[n];
	const uint8_t *from;
	uint8_t *to;

	f->n = n;
	ts_buf_reset(&f->bytes);
	to = ts_buf_add(&f->bytes, place->len);
	if (!to)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF,
			       "no memory for a frame of %" PRIu32 " bytes", place->len);
	if (!f->window)
		return ts_source_read_all(t->src, place->off, to, place->len, err);
	from = ts_window_need(f->window, place->off, place->len, err);
	if (!from)
		return false;
	memcpy(to, from, place->len);
	return true;
}

bool tfile_fits(struct tfile *t, uint64_t reg_len, struct ts_error *err)
{
	struct tfile_frame f = { 0 };
	bool fits = true;

	for (uint64_t i = 0; i < t->frames.n_frames && i < 16 && fits; i++) {
		struct ts_error odd = { 0 };

		if (!read_bytes(t, i, &f, err))
			break;
		fits = read_blocks(t, &f, reg_len, &odd);
		if (odd.code == TS_ENOMEM) {
			*err = odd;
			break;
		}
	}
	tfile_frame_fini(&f);
	return fits;
}

/* -------------------------------------------------------------------------------------- what a frame says */

/* The ranges of the frame's memory without overlap, by address. */
static bool cover(struct tfile_frame *f, struct ts_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_memory; i++) {
		struct ts_range *p = grow(f->covered, n, &f->cap_covered, sizeof(*p), err);

		if (!p)
			return false;
		f->covered = p;
		f->covered[n++] = (struct ts_range){ f->memory[i].addr, f->memory[i].len };
	}
	f->n_covered = ts_ranges_merge(f->covered, n);
	return true;
}

/*
 * The collected pc.  Without one that is the tracepoint's address, as in gdb's target tfile, unless the
 * tracepoint has several locations or steps.
 */
static void find_pc(const struct tfile *t, struct tfile_frame *f)
{
	const struct ts_regset *set = &t->base.regs;
	const struct ts_reg *pc = &set->regs[set->pc];
	const struct tfile_number *number = &t->numbers[t->places[f->n].tracepoint];

	f->pc = TS_NO_PC;
	if (f->regs && pc->off + pc->len <= t->known_len)
		f->pc = ts_arch_get(set->arch, f->regs + pc->off, pc->len) & ts_arch_addr_mask(set->arch);
	else if (number->is_sole && !number->tp->n_steps)
		f->pc = number->tp->addr & ts_arch_addr_mask(set->arch);
}

bool tfile_load(struct tfile *t, uint64_t n, struct tfile_frame *f, struct ts_error *err)
{
	struct ts_error odd = { 0 };

	if (!read_bytes(t, n, f, err))
		return ts_fail_prefix(err, "frame %" PRIu64, n);
	if (!read_blocks(t, f, t->reg_len, &odd) && odd.code == TS_ENOMEM) {
		*err = odd;
		return false;
	}
	if (odd.code != TS_OK)
		ts_warn_at(&t->warner, n, "frame %" PRIu64 " at 0x%" PRIx64
			   ": its blocks are ignored from here on: %s", n, odd.off, odd.text);
	find_pc(t, f);
	return cover(f, err);
}

void tfile_frame_fini(struct tfile_frame *f)
{
	ts_buf_fini(&f->bytes);
	free(f->memory);
	free(f->covered);
	free(f->vars);
	*f = (struct tfile_frame){ 0 };
}

/* -------------------------------------------------------------------------------------- for questions */

static const struct tfile *of_frames(const struct ts_frames *f)
{
	return (const struct tfile *)((const char *)f - offsetof(struct tfile, frames));
}

/* Is the frame one of the steps after its tracepoint? */
static bool is_step(const struct tfile *t, const struct tfile_frame *f)
{
	uint16_t number = t->places[f->n].tracepoint;
	const struct ts_tracepoint *tp = t->numbers[number].tp;

	if (!tp || !tp->n_steps || f->pc == TS_NO_PC)
		return false;
	for (; tp; tp = tp->next) {
		if (tp->number == number && tp->addr == f->pc)
			return false;
	}
	return true;
}

static bool frames_get(struct ts_frames *frames, uint64_t n, struct ts_frame *out, struct ts_error *err)
{
	struct tfile *t = (struct tfile *)of_frames(frames);
	struct tfile_frame *f = t->scratch;

	if (!tfile_load(t, n, f, err))
		return false;
	out->pos = n;
	out->tracepoint = t->places[n].tracepoint;
	out->has_regs = f->regs != NULL;
	out->has_pc = f->pc != TS_NO_PC;
	out->is_step = is_step(t, f);
	for (size_t i = 0; i < f->n_memory; i++)
		ts_frame_add_range(out, f->memory[i].addr, f->memory[i].len);
	for (size_t i = 0; i < f->n_vars; i++)
		ts_frame_add_var(out, f->vars[i].number, f->vars[i].value);
	return true;
}

static uint64_t frames_pos(const struct ts_frames *, uint64_t n)
{
	return n;
}

static uint64_t frames_next_of(const struct ts_frames *frames, uint32_t number, uint64_t from)
{
	const struct tfile *t = of_frames(frames);
	uint64_t at, end;

	if (number >= t->n_numbers)
		return TS_NO_FRAME;
	at = t->order_of[number];
	end = t->order_of[number + 1];
	TS_BISECT(at, end, i, t->order[i] < from);
	return at < end ? t->order[at] : TS_NO_FRAME;
}

void tfile_init_frames(struct tfile *t)
{
	static const struct ts_frames_ops ops = { .get = frames_get,
						  .pos = frames_pos,
						  .next_of = frames_next_of };

	t->frames.ops = &ops;
}
