/* SPDX-License-Identifier: MIT */
#include "runs_builder.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"

/* Bytes of the longest run. */
#define MAX_RUN_LEN (TS_MAX_RUN * (uint64_t)UINT8_MAX)

void ts_runs_builder_init(struct ts_runs_builder *b, struct ts_runs *runs)
{
	*b = (struct ts_runs_builder){ .runs = runs };
}

static void drop_packed(struct ts_runs_builder *b)
{
	ts_postings_fini(&b->packed.postings);
	free(b->packed.by_pc);
	b->packed = (struct ts_packed_runs){ 0 };
}

void ts_runs_builder_fini(struct ts_runs_builder *b)
{
	drop_packed(b);
	ts_pairs_fini(&b->pairs);
	ts_hash_table_fini(&b->by_run);
	free(b->after);
	*b = (struct ts_runs_builder){ 0 };
}

/* One to eight bytes as a number, another one for others of as many: each byte is in it. */
static uint64_t bytes_of(const uint8_t *p, uint32_t n)
{
	uint32_t first, last;

	if (n < 4)
		return (uint64_t)p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16;
	memcpy(&first, p, 4);
	memcpy(&last, p + n - 4, 4);
	return (uint64_t)last << 32 | first;
}

/* Of a run of at least one step. */
static uint64_t hash_run(uint64_t pc, uint32_t process, uint32_t n, const uint8_t *lens)
{
	uint64_t h = ts_hash_begin(pc, (uint64_t)process << 32 | n);

	for (; n > 8; n -= 8, lens += 8)
		h = ts_hash_add(h, bytes_of(lens, 8));
	return ts_hash_end(h ^ bytes_of(lens, n));
}

static bool is_run(const void *user, uint32_t i, const void *key)
{
	const struct ts_runs *r = user;
	const struct ts_run *x = &r->runs[i];
	const struct ts_open_run *o = key;

	return x->pc == o->pc && x->n == o->n && x->len == o->len && x->process == o->process &&
	       !memcmp(r->lens + x->lens, o->lens, o->n);
}

static uint64_t hash_of_run(const void *user, uint32_t i)
{
	const struct ts_runs *r = user;
	const struct ts_run *x = &r->runs[i];

	return hash_run(x->pc, x->process, x->n, r->lens + x->lens);
}

static bool grow_runs(struct ts_runs_builder *b)
{
	struct ts_runs *r = b->runs;
	uint32_t cap = b->cap ? b->cap * 2 : 512;
	struct ts_run *runs = cap < UINT32_MAX / 2 ? realloc(r->runs, cap * sizeof(*runs)) : NULL;
	uint32_t *after;

	if (!runs)
		return false;
	r->runs = runs;
	after = realloc(b->after, cap * sizeof(*after));
	if (!after)
		return false;
	memset(after + b->cap, 0, (cap - b->cap) * sizeof(*after));
	b->after = after;
	b->cap = cap;
	return true;
}

static bool add_lens(struct ts_runs_builder *b, const uint8_t *lens, size_t n)
{
	struct ts_runs *r = b->runs;

	if (r->n_lens > UINT32_MAX - n || !ts_vec_reserve(&r->lens, r->n_lens, &b->cap_lens, n, 1))
		return false;
	if (n) /* a recording of trace frames has none */
		memcpy(r->lens + r->n_lens, lens, n);
	r->n_lens += n;
	return true;
}

/* Ordinal of the open run, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t look_up(struct ts_runs_builder *b)
{
	struct ts_runs *r = b->runs;
	const struct ts_open_run *o = &b->open;
	uint32_t lens = (uint32_t)r->n_lens;
	uint32_t *slot;

	if (!ts_hash_table_reserve(&b->by_run, r->n, 1, hash_of_run, r)) /* runs that came from an index file are put in, too */
		return UINT32_MAX;
	slot = ts_hash_table_slot(&b->by_run, hash_run(o->pc, o->process, o->n, o->lens), is_run, r, o);
	if (*slot)
		return *slot - 1;
	if ((r->n == b->cap && !grow_runs(b)) || !add_lens(b, o->lens, o->n))
		return UINT32_MAX;
	r->runs[r->n] = (struct ts_run){ o->pc, o->process, lens, o->len, (uint16_t)o->n, 0 };
	*slot = ++r->n;
	if (o->len > r->max_len)
		r->max_len = o->len;
	return r->n - 1;
}

/* The same.  Most runs are followed by the run that followed them the last time. */
static uint32_t intern(struct ts_runs_builder *b)
{
	struct ts_runs *r = b->runs;
	uint32_t run = r->n ? b->after[b->last] : 0;

	if (!r->n || !is_run(r, run, &b->open))
		run = look_up(b);
	if (run == UINT32_MAX)
		return run;
	b->after[b->last] = run;
	b->last = run;
	__builtin_prefetch(&r->runs[b->after[run]]); /* long before it is compared */
	return run;
}

bool ts_runs_flush(struct ts_runs_builder *b)
{
	uint32_t run;

	if (!b->open.n)
		return true;
	run = intern(b);
	if (run == UINT32_MAX || !ts_pairs_add(&b->pairs, run, (uint32_t)(b->open.pos - b->runs->end)))
		return false;
	b->open.n = 0;
	return true;
}

/* Start a run with the step at @pos, ending the open one.  Returns false if memory is exhausted. */
static bool start(struct ts_runs_builder *b, uint64_t pos, uint32_t process, uint32_t thread, uint64_t pc,
		  uint16_t insn_len)
{
	struct ts_open_run *o = &b->open;

	if (!ts_runs_flush(b))
		return false;
	if (pc == TS_NO_PC)
		return true;
	o->pos = pos;
	o->pc = pc;
	o->process = process;
	o->thread = thread;
	o->n = 1;
	o->last_len = o->lens[0] = insn_len > UINT8_MAX ? 0 : (uint8_t)insn_len;
	o->len = o->last_len;
	o->next_pc = pc + o->last_len;
	return true;
}

/* May a step of @thread follow the last one of the open run? */
static bool is_open(const struct ts_open_run *o, uint32_t thread)
{
	return o->n && o->n < TS_MAX_RUN && o->last_len && o->thread == thread;
}

bool ts_runs_step(struct ts_runs_builder *b, uint64_t pos, uint32_t process, uint32_t thread, uint64_t pc,
		  uint16_t insn_len)
{
	struct ts_open_run *o = &b->open;

	if (!is_open(o, thread) || pc != o->next_pc || insn_len > UINT8_MAX || pc < o->pc || pc == TS_NO_PC)
		return start(b, pos, process, thread, pc, insn_len);
	o->lens[o->n++] = o->last_len = (uint8_t)insn_len;
	o->len += insn_len;
	o->next_pc = pc + insn_len;
	return true;
}

const struct ts_step *ts_runs_extend(struct ts_runs_builder *b, const struct ts_step *s,
				     const struct ts_step *end)
{
	struct ts_open_run *o = &b->open;
	uint32_t thread = o->thread;
	uint8_t *to = o->lens + o->n;
	uint64_t pc = o->next_pc;

	if (s == end || !is_open(o, s->thread) || o->pc > UINT64_MAX - MAX_RUN_LEN)
		return s;
	if (end - s > TS_MAX_RUN - o->n)
		end = s + (TS_MAX_RUN - o->n);
	for (; s < end && s->pc == pc && s->thread == thread; s++) {
		unsigned insn_len = s->insn_len;

		if (insn_len - 1 >= UINT8_MAX)
			break;
		*to++ = (uint8_t)insn_len;
		pc += insn_len;
	}
	o->n = (uint32_t)(to - o->lens);
	o->last_len = to[-1];
	o->len += (uint32_t)(pc - o->next_pc);
	o->next_pc = pc;
	return s;
}

static int compare_pcs(const void *a, const void *b, void *runs)
{
	const struct ts_run *x = (const struct ts_run *)runs + *(const uint32_t *)a;
	const struct ts_run *y = (const struct ts_run *)runs + *(const uint32_t *)b;

	return (x->pc > y->pc) - (x->pc < y->pc);
}

static bool sort_by_pc(struct ts_runs_builder *b)
{
	struct ts_runs *r = b->runs;
	struct ts_packed_runs *p = &b->packed;

	p->by_pc = malloc((r->n ? r->n : 1) * sizeof(*p->by_pc));
	if (!p->by_pc)
		return false;
	for (uint32_t i = 0; i < r->n; i++)
		p->by_pc[i] = i;
	qsort_r(p->by_pc, r->n, sizeof(*p->by_pc), compare_pcs, r->runs);
	p->n_by_pc = r->n;
	return true;
}

bool ts_runs_pack(struct ts_runs_builder *b)
{
	struct ts_runs *r = b->runs;

	drop_packed(b);
	if (!ts_postings_seal(&b->packed.postings, &b->pairs, r->n) ||
	    (r->n_by_pc != r->n && !sort_by_pc(b)))
		return false;
	b->packed.is_there = true;
	return true;
}

static bool room_for_segment(struct ts_runs_builder *b)
{
	struct ts_runs *r = b->runs;

	return ts_vec_reserve(&r->segments, r->n_segments, &b->cap_segments, 1, sizeof(*r->segments));
}

/* Turn the packed runs into a segment, in place of a copy if one exists. */
bool ts_runs_seal(struct ts_runs_builder *b, uint64_t end, bool is_copy)
{
	struct ts_runs *r = b->runs;
	struct ts_packed_runs *p = &b->packed;

	if (!p->is_there && !(ts_runs_flush(b) && ts_runs_pack(b)))
		return false;
	if (b->has_copy)
		ts_postings_fini(&r->segments[--r->n_segments].postings);
	b->has_copy = false;
	if (!room_for_segment(b))
		return false;
	r->segments[r->n_segments++] = (struct ts_runs_segment){ r->end, p->postings };
	if (p->by_pc) {
		free(r->by_pc);
		r->by_pc = p->by_pc;
		r->n_by_pc = p->n_by_pc;
	}
	*p = (struct ts_packed_runs){ 0 };
	b->has_copy = is_copy;
	if (is_copy)
		return true;
	b->pairs.n = 0;
	r->end = end;
	return true;
}

/* -------------------------------------------------------------------------------------------- index files */

void ts_runs_save(struct ts_runs_builder *b, struct ts_index_file *f)
{
	struct ts_runs *r = b->runs;
	const struct ts_runs_segment *seg = &r->segments[r->n_segments - 1];
	uint64_t bounds[2] = { seg->start, r->end };

	ts_index_put(f, bounds, 2, sizeof(bounds[0]));
	ts_postings_save(&seg->postings, f);
	ts_index_put(f, r->runs + b->n_saved, r->n - b->n_saved, sizeof(*r->runs));
	ts_index_put(f, r->lens + b->n_saved_lens, r->n_lens - b->n_saved_lens, 1);
	ts_index_put_packed(f, r->by_pc, r->n_by_pc, sizeof(*r->by_pc));
	b->n_saved = r->n;
	b->n_saved_lens = r->n_lens;
}

/* The arrays of a segment that covers [start, end); those of the runs are left. */
static bool load_segment(struct ts_runs_segment *seg, struct ts_index_arrays *a, uint64_t start, uint64_t end)
{
	const uint64_t *bounds = ts_index_take_n(a, sizeof(*bounds), 2);

	if (!bounds || bounds[0] != start || bounds[1] != end || start >= end || end - start > UINT32_MAX)
		return false;
	seg->start = start;
	return ts_postings_load(&seg->postings, a);
}

bool ts_runs_load_sealed(struct ts_runs_builder *b, struct ts_index_arrays *a)
{
	struct ts_runs *r = b->runs;
	struct ts_runs_segment *seg = &r->segments[r->n_segments - 1], mapped;

	if (!load_segment(&mapped, a, seg->start, r->end))
		return false;
	ts_postings_fini(&seg->postings);
	*seg = mapped;
	return true;
}

/* Is it a run as the builder makes them, its lengths there? */
static bool check_run(const struct ts_runs *r, const struct ts_run *x)
{
	uint64_t len = 0;

	if (!x->n || x->n > TS_MAX_RUN || (size_t)x->lens + x->n > r->n_lens)
		return false;
	for (unsigned i = 0; i < x->n; i++)
		len += r->lens[x->lens + i];
	return x->len == len;
}

static bool add_runs(struct ts_runs_builder *b, const struct ts_run *runs, size_t n)
{
	struct ts_runs *r = b->runs;

	while (b->cap - r->n < n) {
		if (!grow_runs(b))
			return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (!check_run(r, &runs[i]))
			return false;
		if (runs[i].len > r->max_len)
			r->max_len = runs[i].len;
		r->runs[r->n++] = runs[i];
	}
	return true;
}

/* Does by_pc name runs, by address? */
static bool check_by_pc(const struct ts_runs *r, const uint32_t *by_pc)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (by_pc[i] >= r->n || (i && r->runs[by_pc[i - 1]].pc > r->runs[by_pc[i]].pc))
			return false;
	}
	return true;
}

bool ts_runs_load(struct ts_runs_builder *b, struct ts_index_arrays *a, uint64_t end)
{
	struct ts_runs *r = b->runs;
	size_t n_runs, n_lens, n_by_pc;
	const struct ts_run *runs;
	const uint8_t *lens;

	if (!room_for_segment(b) || !load_segment(&r->segments[r->n_segments], a, r->end, end))
		return false;
	r->n_segments++;
	r->end = end;
	runs = ts_index_take(a, sizeof(*runs), &n_runs);
	lens = ts_index_take(a, 1, &n_lens);
	if (a->is_bad || !add_lens(b, lens, n_lens) || !add_runs(b, runs, n_runs))
		return false;
	b->loaded_by_pc = ts_index_take_unread(a, sizeof(*b->loaded_by_pc), &n_by_pc);
	b->loaded_from = a->blocks;
	b->n_saved = r->n;
	b->n_saved_lens = r->n_lens;
	return !a->is_bad && n_by_pc == r->n;
}

bool ts_runs_end_load(struct ts_runs_builder *b)
{
	struct ts_runs *r = b->runs;
	size_t len = r->n * sizeof(*r->by_pc);

	if (!ts_index_blocks_use(b->loaded_from, b->loaded_by_pc, len) || !check_by_pc(r, b->loaded_by_pc))
		return false;
	r->by_pc = malloc(len + sizeof(*r->by_pc));
	if (!r->by_pc)
		return false;
	memcpy(r->by_pc, b->loaded_by_pc, len);
	r->n_by_pc = r->n;
	return true;
}
