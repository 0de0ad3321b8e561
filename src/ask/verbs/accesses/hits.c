/* SPDX-License-Identifier: MIT */
#include "hits.h"

#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/places.h"
#include "src/base/collections/vec.h"
#include "src/query/code/insn_reads.h"
#include "src/query/search/run_chunks.h"
#include "src/search/writes.h"

/* A longer WHAT is not tracked through the chunk: each read is compared with the state instead. */
#define MAX_CARRIED 4096u

/* Values of at most this many bytes are stored with the hits. */
#define MAX_VALUED 64u

/* The number of steps of the first part of a chunk that is taken in parts, and how the parts grow. */
#define FIRST_PART  (TS_CHUNK_STEPS < 64 ? 2u : TS_CHUNK_STEPS / 32)
#define PART_GROWTH 4u

bool ts_hits_init(struct ts_hits *h, struct ts_error *err)
{
	bool is_memory = h->what->kind == TS_WHAT_MEM;
	uint64_t len = ts_hits_len(h);
	size_t g_len = is_memory ? 0 : ts_query_regset(h->q)->g_len;

	ts_buf_init(&h->bytes);
	h->is_open = ts_query_n_events(h->q, TS_EV_GAP) != 0; /* the code of a gap may have read */
	h->infers_reads = is_memory && h->kinds >> TS_HIT_READ & 1 && ts_query_infers_reads(h->q);
	h->has_late = !is_memory && ts_query_facts(h->q)->is_before;
	if (!is_memory && !h->what->is_pc) {
		h->loc = ts_what_register_location(h->what, ts_query_regset(h->q), h->thread);
		h->does = ts_does_of_location(h->q, h->loc.kind == TS_IN_REGS, h->loc.base, h->loc.mask);
	}
	h->base = is_memory ? h->what->addr : h->what->off;
	h->reg_chunks.limit = h->end;
	if (!len || len > MAX_CARRIED)
		return true;
	h->data = malloc(2 * ((size_t)len + g_len));
	if (!h->data)
		return ts_no_memory(err, "a question");
	h->known = h->data + len;
	h->regs = h->known + len;
	return true;
}

void ts_hits_fini(struct ts_hits *h)
{
	free(h->items);
	free(h->data);
	ts_buf_fini(&h->bytes);
}

/* --------------------------------------------------------------------------------------------- one step */

/* The current step. */
struct step {
	const struct ts_steps *batch;
	const struct ts_step *s;
	uint64_t pos;
	size_t first;      /* its first hit */
	bool is_replaced;  /* a range of WHAT got new contents */
	const struct ts_decoded *d; /* its instruction, if WHAT is a register */
	uint64_t by_operands;       /* the mask of the bytes of the register that its operands, or its system call, write */
};

static struct ts_hit *add(struct ts_hits *h, const struct step *st, enum ts_hit_kind kind, uint64_t first,
			  uint64_t last)
{
	struct ts_hit *hit;

	if (!ts_vec_reserve(&h->items, h->n, &h->cap, 1, sizeof(*h->items))) {
		h->is_failed = true;
		return NULL;
	}
	hit = &h->items[h->n++];
	*hit = (struct ts_hit){ .pos = st->pos, .first = first, .last = last, .kind = kind };
	hit->pc = st->s->pc;
	hit->thread = st->s->thread;
	hit->insn_len = st->s->insn_len;
	return hit;
}

/* If a step read a byte twice, the first value is used. */
static void take_earlier(struct ts_hits *h, const struct ts_hit *earlier, const struct ts_hit *hit)
{
	uint64_t first = earlier->first > hit->first ? earlier->first : hit->first;
	uint64_t last = earlier->last < hit->last ? earlier->last : hit->last;
	const uint8_t *from = h->bytes.data + earlier->seen;
	uint8_t *to = h->bytes.data + hit->seen;
	size_t from_len = (size_t)(earlier->last - earlier->first) + 1,
	       to_len = (size_t)(hit->last - hit->first) + 1;

	if (earlier->kind != TS_HIT_READ || first > last)
		return;
	for (uint64_t a = first; a - first <= last - first; a++) {
		if (!from[from_len + (a - earlier->first)])
			continue;
		to[a - hit->first] = from[a - earlier->first];
		to[to_len + (a - hit->first)] = 1;
		if (a == last)
			break;
	}
}

/* The hit of a read holds the value that was seen (@value: NULL for none), and which bytes of it are known. */
static void add_read(struct ts_hits *h, const struct step *st, const uint8_t *value, uint64_t first, uint64_t last)
{
	size_t len = (size_t)(last - first) + 1;
	struct ts_hit *hit = add(h, st, TS_HIT_READ, first, last);
	uint8_t *room = ts_buf_add(&h->bytes, 2 * len);

	if (!hit || !room) {
		h->is_failed = true;
		return;
	}
	hit->seen = (uint64_t)(room - h->bytes.data);
	memset(room, 0, 2 * len);
	if (value) {
		memcpy(room, value, len);
		memset(room + len, 1, len);
	}
	for (size_t i = st->first; i + 1 < h->n; i++)
		take_earlier(h, &h->items[i], hit);
}

/* Add hits for the reads that are derived from the step's instruction.  Their values are those of memory. */
static bool take_inferred_reads(struct ts_hits *h, const struct step *st, struct ts_error *err)
{
	struct ts_insn_reads r;

	if (ts_query_process(h->q, st->s->thread) != h->process)
		return true;
	if (!ts_query_unrecorded_reads(h->q, st->pos, &r, err))
		return false;
	h->is_open |= r.is_open;
	for (unsigned i = 0; i < r.n; i++) {
		uint64_t first = r.items[i].first > h->what->addr ? r.items[i].first : h->what->addr;
		uint64_t last = r.items[i].last < h->what->last ? r.items[i].last : h->what->last;

		if (first <= last)
			add_read(h, st, NULL, first, last);
	}
	return true;
}

/* Did the step write or replace a byte of [first, last] so far? */
static bool has_written(const struct ts_hits *h, const struct step *st, uint64_t first, uint64_t last)
{
	for (size_t i = st->first; i < h->n; i++) {
		const struct ts_hit *hit = &h->items[i];

		if (hit->pos == st->pos && !hit->is_maybe && hit->kind != TS_HIT_READ &&
		    hit->kind != TS_HIT_EXEC && hit->first <= last && hit->last >= first)
			return true;
	}
	return false;
}

/*
 * May the value that a read shows contradict what was known before the step, or may a byte be new that a gap
 * has changed?
 */
static bool may_contradict(const struct ts_hits *h, const struct step *st, const uint8_t *value,
			   uint64_t first, uint64_t last)
{
	uint64_t chunk = st->pos / TS_CHUNK_STEPS, off = first - h->base;
	bool is_memory = h->what->kind == TS_WHAT_MEM;

	if (st->pos % TS_CHUNK_STEPS == 0 || !h->data)
		return ts_hits_find_part(h, TS_ACCESS_CHANGE, first, last, chunk, TS_FORWARDS) == chunk;
	for (uint64_t i = 0; i <= last - first; i++) {
		if (h->known[off + i] ? h->data[off + i] != value[i] : is_memory)
			return true;
	}
	return false;
}

static void carry(struct ts_hits *h, const uint8_t *value, uint64_t first, uint64_t last)
{
	uint64_t off = first - h->base;
	size_t len = (size_t)(last - first) + 1;

	if (!h->data)
		return;
	memset(h->known + off, value != NULL, len);
	if (value)
		memcpy(h->data + off, value, len);
}

/*
 * A value contradicts what was known.  The change is visible at the step's own position, so the step before made it.  If the
 * step read two values of one byte, the step itself did.  Both hits are added; the values at their positions decide.
 */
static void add_contradiction(struct ts_hits *h, const struct step *st, uint64_t first, uint64_t last)
{
	for (uint64_t back = 0; back < 2 && back <= st->pos; back++) {
		struct ts_hit *hit = add(h, st, TS_HIT_UNEXPLAINED, first, last);

		if (!hit)
			return;
		hit->is_maybe = true;
		hit->pos -= back;
	}
}

/* The step read a value: memory had it before the step, except for bytes that the step has written. */
static void take_sight(struct ts_hits *h, const struct step *st, const uint8_t *value, uint64_t first,
		       uint64_t last)
{
	uint64_t end;

	if (!value || !ts_hits_want(h, TS_HIT_UNEXPLAINED))
		return;
	for (uint64_t at = first;; at = end + 1) {
		bool is_written = has_written(h, st, at, at);

		for (end = at; end < last && has_written(h, st, end + 1, end + 1) == is_written;)
			end++;
		if (!is_written && may_contradict(h, st, value + (at - first), at, end))
			add_contradiction(h, st, at, end);
		carry(h, value + (at - first), at, end);
		if (end == last)
			break;
	}
}

static void take_read(struct ts_hits *h, const struct step *st, const struct ts_effect *e, uint64_t first,
		      uint64_t last)
{
	const uint8_t *value = ts_effect_data(st->batch, e);

	value = value ? value + (first - e->addr) : NULL;
	take_sight(h, st, value, first, last);
	if (!e->is_hidden && ts_hits_want(h, TS_HIT_READ))
		add_read(h, st, value, first, last);
}

static const enum ts_hit_kind kinds[] = {
	[TS_WRITER_STEP] = TS_HIT_WRITE,
	[TS_WRITER_MAP] = TS_HIT_MAP,
	[TS_WRITER_UNEXPLAINED] = TS_HIT_UNEXPLAINED,
	[TS_WRITER_INPUT] = TS_HIT_WRITE,
};

static void take_memory(struct ts_hits *h, struct step *st, const struct ts_effect *e)
{
	uint64_t first = h->what->addr, last = h->what->last, e_last = e->addr + (e->len - 1);
	const uint8_t *value = ts_effect_data(st->batch, e);
	enum ts_writer_kind writer;

	if (!ts_effect_is_on_memory(e))
		return;
	first = e->addr > first ? e->addr : first;
	last = e_last < last ? e_last : last;
	if (first > last)
		return;
	if (!ts_effect_writes_memory(e, &writer)) {
		take_read(h, st, e, first, last);
		return;
	}
	if (ts_hits_want(h, e->kind == TS_FX_WRITE ? kinds[writer] : TS_HIT_MAP))
		add(h, st, kinds[writer], first, last);
	carry(h, value ? value + (first - e->addr) : NULL, first, last);
	st->is_replaced |= e->kind != TS_FX_WRITE;
}

/* The bytes (or flags) [@first, @last] that have other values than before, as far as those are known. */
static uint64_t find_differences(const struct ts_hits *h, const uint8_t *value, uint64_t first, uint64_t last)
{
	uint64_t mask = 0;

	if (!value)
		return h->loc.kind == TS_IN_FLAGS ? h->loc.mask : ts_mask(first - h->base, last - first + 1);
	for (uint64_t i = first - h->base; i <= last - h->base; i++) {
		uint8_t diff = h->known[i] ? h->data[i] ^ value[i - (first - h->base)] : 0;
		uint64_t byte = h->loc.kind == TS_IN_FLAGS ? h->base + i - ts_what_flags_off(h->what, ts_query_regset(h->q)) : i;

		mask |= h->loc.kind == TS_IN_FLAGS ? (uint64_t)diff << 8 * byte : (uint64_t)(diff != 0) << byte;
	}
	return mask & h->loc.mask;
}

/*
 * The recording says that registers were written: all of one, as a rule, also where the instruction writes a
 * part.  What the instruction's operands or its system call write is a hit already.
 */
static void take_register_write(struct ts_hits *h, const struct step *st, const uint8_t *value, uint64_t first,
				uint64_t last)
{
	bool is_compared = st->s->thread != h->thread || st->s->is_undone || (st->d && st->d->is_insn);
	uint64_t changed = is_compared && h->loc.mask & ~st->by_operands ? find_differences(h, value, first, last) : 0;
	struct ts_written w = { 0 };

	if (!is_compared || changed & ~st->by_operands)
		w = ts_recorded_write(h->q, st->batch, st->s, st->d, &h->loc, st->by_operands, h->loc.mask, changed);
	if (w.mask)
		add(h, st, kinds[w.kind], first, last);
	carry(h, value, first, last);
}

/* Add hits for the bytes that the operands write, changed or not. */
static void take_operands(struct ts_hits *h, const struct step *st)
{
	unsigned first, len;

	if (!st->by_operands)
		return;
	if (h->loc.kind == TS_IN_FLAGS || h->is_whole) {
		add(h, st, TS_HIT_WRITE, h->base, h->base + h->what->len - 1);
		return;
	}
	for (unsigned at = 0; ts_mask_run(st->by_operands, at, &first, &len); at = first + len)
		add(h, st, TS_HIT_WRITE, h->base + first, h->base + first + len - 1);
}

static void take_register(struct ts_hits *h, const struct step *st, const struct ts_effect *e)
{
	uint64_t first = h->what->off, last = first + h->what->len - 1, e_last = e->addr + (e->len - 1);
	const uint8_t *value = ts_effect_data(st->batch, e);

	if (e->kind == TS_FX_FORGET_REGS) {
		add(h, st, TS_HIT_UNEXPLAINED, first, last);
		carry(h, NULL, first, last);
		return;
	}
	if ((e->kind != TS_FX_REG_WRITE && e->kind != TS_FX_REG_READ) || !e->len || e->addr > last ||
	    e_last < first)
		return;
	first = e->addr > first ? e->addr : first;
	last = e_last < last ? e_last : last;
	value = value ? value + (first - e->addr) : NULL;
	if (e->kind == TS_FX_REG_READ)
		take_sight(h, st, value, first, last);
	else
		take_register_write(h, st, value, first, last);
}

static void take_step(struct ts_hits *h, struct step *st)
{
	struct ts_step_effects all = ts_step_effects(st->batch, st->s);
	bool is_memory = h->what->kind == TS_WHAT_MEM;
	const struct ts_effect *e;

	if (h->what->is_pc && all.thread == h->thread)
		add(h, st, TS_HIT_WRITE, h->what->off, h->what->off + h->what->len - 1);
	if (ts_hits_want(h, TS_HIT_EXEC) && ts_query_process(h->q, all.thread) == h->process && st->s->pc != TS_NO_PC &&
	    st->s->pc >= h->exec_first && st->s->pc <= h->exec_last)
		add(h, st, TS_HIT_EXEC, st->s->pc, st->s->pc);
	take_operands(h, st);
	while (!h->what->is_pc && (e = ts_step_effects_next(&all))) {
		if (is_memory && ts_query_process(h->q, all.thread) == h->process)
			take_memory(h, st, e);
		else if (!is_memory && (all.thread == h->thread || e->kind == TS_FX_FORGET_REGS))
			take_register(h, st, e);
	}
}

/*
 * Find out what the step's instruction and its system call write of the register that is asked about, or a system call of its
 * thread that returns after the step.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
static bool find_operands(struct ts_hits *h, struct step *st, struct ts_error *err)
{
	st->d = NULL;
	st->by_operands = 0;
	if (h->what->kind == TS_WHAT_MEM || h->what->is_pc || !ts_query_has_operands(h->q))
		return true;
	if (!ts_writes_by_insn(h->q, st->pos, &h->loc, &st->d, &st->by_operands, err))
		return false;
	return ts_query_thread(h->q, st->pos) == h->thread ||
	       ts_late_result_at(h->q, st->pos, &h->loc, &st->by_operands, err);
}

static uint32_t next_thread(const struct ts_hits *h, const struct step *st)
{
	bool is_at_hand = st->s + 1 < st->batch->steps + st->batch->n_steps;

	return is_at_hand ? st->s[1].thread : ts_query_thread(h->q, st->pos + 1);
}

/*
 * Do the operands of the step's instruction never write the register?  If they may, and what they write depends on the bytes of
 * the instruction alone, st->d and st->by_operands are set; else st->d becomes NULL.
 */
static bool is_idle(const struct ts_hits *h, struct step *st)
{
	const struct ts_decoded *d;
	struct ts_does does;
	uint64_t maybe;

	st->d = NULL;
	st->by_operands = 0;
	if (h->what->kind == TS_WHAT_MEM)
		return !h->may_read;
	if (h->what->is_pc)
		return true;
	if (st->s->thread != h->thread)
		return next_thread(h, st) != h->thread; /* else a system call may return */
	if (!(h->parts >> st->pos % TS_CHUNK_STEPS / TS_PART_STEPS & 1))
		return true;
	if (!ts_query_known_does(h->q, st->pos / TS_CHUNK_STEPS, st->batch, st->s, &does))
		return false;
	if (!ts_does_share(&does, &h->does))
		return true;
	d = ts_query_known_code(h->q, st->pos / TS_CHUNK_STEPS, st->s);
	if (!d)
		return false;
	st->by_operands = ts_operands_write(d, &h->loc, true, &maybe);
	maybe &= ~st->by_operands;
	if (!maybe)
		st->d = d;
	return !st->by_operands && !maybe;
}

/* May the step have a hit by its effects or its address? */
static bool touches(const struct ts_hits *h, const struct step *st)
{
	uint64_t len = h->what->kind == TS_WHAT_MEM ? h->what->last - h->what->addr : h->what->len - 1;
	const struct ts_effect *e = &st->batch->effects[st->s->first], *end = e + st->s->n_effects;

	if (h->what->is_pc || ts_hits_want(h, TS_HIT_EXEC))
		return true;
	for (; e < end; e++) {
		if (e->addr - h->base <= len || h->base - e->addr < e->len || e->kind == TS_FX_FORGET_REGS)
			return true; /* one begins in the other, or all registers are lost */
	}
	return false;
}

/* ---------------------------------------------------------------------------------------------- a chunk */

/* Leave out the changes at steps before @start, among the first @n hits, that @hit is the row of.  Returns how many are left. */
static size_t drop(struct ts_hits *h, size_t n, uint64_t start, const struct ts_hit *hit)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct ts_hit *early = &h->items[i];

		if (early->pos >= start || (!h->is_whole && (early->first > hit->last || early->last < hit->first)))
			h->items[kept++] = *early;
	}
	return kept;
}

/*
 * A change that shows in the chunk's first step is left out if the step before it wrote these bytes: that is its
 * row.
 */
static bool drop_early(struct ts_hits *h, uint64_t start, struct ts_error *err)
{
	struct step st = { .pos = start - 1 };
	struct ts_hit hit;
	size_t n;

	if (!h->n || h->items[0].pos >= start)
		return true;
	st.s = ts_query_step(h->q, start - 1, &st.batch, err);
	if (!st.s || !find_operands(h, &st, err))
		return false;
	st.s = ts_query_step(h->q, start - 1, &st.batch, err);
	if (!st.s)
		return false;
	n = h->n;
	st.first = n;
	take_step(h, &st);
	for (size_t i = n; i < h->n; i++) {
		if (h->items[i].pos != start - 1 || h->items[i].is_maybe || h->items[i].kind == TS_HIT_READ ||
		    h->items[i].kind == TS_HIT_EXEC)
			continue;
		hit = h->items[i];
		n = drop(h, n, start, &hit);
	}
	h->n = n;
	return true;
}

/* The thread, pc and length of an unexplained change are those of the step before which it shows. */
static bool set_steps(struct ts_hits *h, struct ts_error *err)
{
	for (size_t i = 0; i < h->n; i++) {
		const struct ts_steps *batch;
		const struct ts_step *s;

		if (h->items[i].kind != TS_HIT_UNEXPLAINED || !h->items[i].is_maybe)
			continue;
		s = ts_query_step(h->q, h->items[i].pos, &batch, err);
		if (!s)
			return false;
		h->items[i].pc = s->pc;
		h->items[i].thread = s->thread;
		h->items[i].insn_len = s->insn_len;
	}
	return true;
}

static bool start_carrying(struct ts_hits *h, uint64_t pos, struct ts_error *err)
{
	return !h->data || !ts_hits_want(h, TS_HIT_UNEXPLAINED) || ts_hits_read_what(h, pos, err);
}

/* WHAT before a step, to be kept with what the step did. */
struct before {
	uint8_t data[MAX_VALUED];
	bool is_known;
};

static size_t valued_len(const struct ts_hits *h)
{
	uint64_t len = ts_hits_len(h);

	return h->data && h->is_whole && !h->what->is_pc && len <= MAX_VALUED ? (size_t)len : 0;
}

static void keep_before(const struct ts_hits *h, size_t len, struct before *b)
{
	b->is_known = len && !memchr(h->known, 0, len);
	if (b->is_known)
		memcpy(b->data, h->data, len);
}

/* Does the next step show the registers of a thread that waited since an earlier step?  Values that were carried are not its. */
static bool shows_late(const struct ts_hits *h, const struct step *st)
{
	struct ts_step_effects all = ts_step_effects(st->batch, st->s);
	const struct ts_effect *e;

	while (h->has_late && st->s->thread != h->thread && (e = ts_step_effects_next(&all))) {
		if (e->kind == TS_FX_REG_WRITE && all.thread == h->thread)
			return true;
	}
	return false;
}

/* Is what the step writes to registers shown by a later step than the next one? */
static bool is_late(const struct ts_hits *h, const struct step *st)
{
	return h->has_late && ts_query_thread(h->q, st->pos + 1) != st->s->thread;
}

/* The values of a step's write: they need not be asked for where they are known, and nothing contradicts. */
static void keep_values(struct ts_hits *h, const struct step *st, size_t len, const struct before *b)
{
	uint8_t *room;

	if (!b->is_known || h->n == st->first || memchr(h->known, 0, len) ||
	    h->items[st->first].kind != TS_HIT_WRITE)
		return;
	room = ts_buf_add(&h->bytes, 2 * len);
	if (!room)
		return;
	memcpy(room, b->data, len);
	memcpy(room + len, h->data, len);
	h->items[st->first].has_values = true;
	h->items[st->first].values = (uint64_t)(room - h->bytes.data);
}

/* Add the hits of the steps from @start on, below @end, which lie in one chunk. */
static bool take_steps(struct ts_hits *h, uint64_t start, uint64_t end, struct ts_error *err)
{
	uint64_t chunk_start = start - start % TS_CHUNK_STEPS;
	size_t valued = valued_len(h);
	struct before before;
	struct step st = { 0 };

	if (!start_carrying(h, start, err))
		return false;
	for (st.pos = start; st.pos < end; st.pos++) {
		/* all of the steps at once; what start_carrying() asks may end the loan */
		if (!st.batch && !ts_query_step(h->q, end - 1, &st.batch, err))
			return false;
		st.s = &st.batch->steps[st.pos - chunk_start];
		if (is_idle(h, &st) && !touches(h, &st))
			continue;
		if (!st.d && (!find_operands(h, &st, err) || !ts_query_step(h->q, end - 1, &st.batch, err)))
			return false;
		st.first = h->n;
		if (h->may_read && st.pos < ts_query_n_steps(h->q) &&
		    !ts_query_reads_are_recorded(h->q, st.pos / TS_CHUNK_STEPS, st.batch, st.s) &&
		    (!take_inferred_reads(h, &st, err) || !ts_query_step(h->q, end - 1, &st.batch, err)))
			return false;
		st.s = &st.batch->steps[st.pos - chunk_start];
		if (!st.by_operands && !touches(h, &st))
			continue;
		st.is_replaced = false;
		if (shows_late(h, &st) &&
		    (!start_carrying(h, st.pos, err) || !ts_query_step(h->q, end - 1, &st.batch, err)))
			return false;
		st.s = &st.batch->steps[st.pos - chunk_start];
		keep_before(h, valued, &before);
		take_step(h, &st);
		if (st.pos + 1 < end && !is_late(h, &st)) /* the next step may contradict */
			keep_values(h, &st, valued, &before);
		if (st.is_replaced) {
			if (!start_carrying(h, st.pos + 1, err))
				return false;
			st.batch = NULL;
		}
	}
	return true;
}

/* Leave out the hits of other steps than those from @start on, below @end. */
static void keep_steps(struct ts_hits *h, uint64_t start, uint64_t end)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++) {
		if (h->items[i].pos >= start && h->items[i].pos < end)
			h->items[n++] = h->items[i];
	}
	h->n = n;
}

/*
 * List the hits of the steps from @start on, below @end, a part of a chunk.  Registers and memory are visible as the next step
 * shows them: the step after the part is examined too, unless another chunk begins with it.
 */
static bool take_part(struct ts_hits *h, uint64_t start, uint64_t end, struct ts_error *err)
{
	bool is_begin = start % TS_CHUNK_STEPS == 0;

	h->n = 0;
	ts_buf_reset(&h->bytes);
	if (!take_steps(h, start, end + (end < h->taken_end), err))
		return false;
	ts_hits_sort(h);
	keep_steps(h, is_begin && start ? start - 1 : start, end);
	if (is_begin && h->kinds >> TS_HIT_UNEXPLAINED & 1 && !drop_early(h, start, err))
		return false;
	ts_hits_make_rows(h);
	if (h->is_failed || !ts_buf_ok(&h->bytes))
		return ts_no_memory(err, "a question");
	return set_steps(h, err);
}

bool ts_hits_take(struct ts_hits *h, uint64_t chunk, struct ts_error *err)
{
	struct ts_read_search reads = ts_hits_read_search(h, false);

	if (h->infers_reads && !ts_query_learn_reads(h->q, chunk, h->n_taken++, err))
		return false;
	h->may_read = h->infers_reads && ts_query_may_read(h->q, &reads, chunk);
	h->taken_start = chunk * TS_CHUNK_STEPS;
	h->taken_end = h->taken_start + TS_CHUNK_STEPS;
	if (h->taken_end > ts_query_end(h->q))
		h->taken_end = ts_query_end(h->q);
	if (h->taken_end > h->end)
		h->taken_end = h->end;
	h->left = h->taken_end;
	h->n = 0;
	h->part = h->is_late_first && (h->what->kind == TS_WHAT_REG || h->may_read) ? FIRST_PART : TS_CHUNK_STEPS;
	return h->taken_start >= h->taken_end || ts_hits_take_more(h, err);
}

void ts_hits_drop(struct ts_hits *h)
{
	h->n = 0;
	h->left = h->taken_start;
}

bool ts_hits_take_more(struct ts_hits *h, struct ts_error *err)
{
	uint64_t end = h->left;

	h->parts = ts_reg_chunks_parts(&h->reg_chunks, h->q, h->taken_start / TS_CHUNK_STEPS);
	if (h->reg_chunks.is_ready && h->reg_chunks.found == h->taken_start / TS_CHUNK_STEPS && h->reg_chunks.found_start < end)
		h->part = end - h->reg_chunks.found_start;
	h->left = end - h->taken_start > h->part ? end - h->part : h->taken_start;
	h->part *= PART_GROWTH;
	return take_part(h, h->left, end, err);
}
