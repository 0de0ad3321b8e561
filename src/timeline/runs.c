/* SPDX-License-Identifier: MIT */
#include "runs.h"

#include <stdlib.h>
#include <string.h>

#include "postings.h"
#include "src/index/index_file.h"

struct run {
	uint64_t pc;
	uint32_t process;
	uint32_t lens; /* where its instructions' lengths begin */
	uint32_t len;  /* bytes; of a last instruction of unknown length, 0 */
	uint16_t n;    /* instructions */
	uint16_t zero; /* no padding: runs go to index files */
};

struct segment {
	uint64_t start; /* its first position; postings are relative to it */
	struct ts_postings postings;
};

/* What was noted, sorted. */
struct packed {
	struct ts_postings postings;
	uint32_t *by_pc; /* owned */
	uint32_t n_by_pc;
	bool is_there;
};

struct ts_runs {
	struct ts_open_run open;
	struct run *runs;         /* owned; by ordinal */
	uint32_t n, cap;
	uint32_t *table;          /* owned; hash table of ordinals + 1, a power of two */
	size_t n_table;
	uint8_t *lens;            /* owned */
	size_t n_lens, cap_lens;
	struct ts_pairs pairs;    /* of the segment that is being read: run, position */
	uint64_t start;           /* of that segment */
	uint32_t *by_pc;          /* owned; ordinals by address, made when a segment is sealed */
	uint32_t n_by_pc;
	uint32_t max_len;         /* of any run, at least 1 */
	struct segment *segments; /* owned */
	size_t n_segments;
	bool has_copy;            /* the last of them is a copy of what was noted so far */
	struct packed packed;     /* what is to become the next of them */
	uint32_t n_saved;         /* how many runs are in the index file */
	size_t n_saved_lens;
};

struct ts_runs *ts_runs_new(void)
{
	struct ts_runs *r = calloc(1, sizeof(*r));

	if (r)
		r->max_len = 1;
	return r;
}

static void drop_packed(struct ts_runs *r)
{
	ts_postings_fini(&r->packed.postings);
	free(r->packed.by_pc);
	r->packed = (struct packed){ 0 };
}

void ts_runs_free(struct ts_runs *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_segments; i++)
		ts_postings_fini(&r->segments[i].postings);
	free(r->segments);
	drop_packed(r);
	ts_pairs_fini(&r->pairs);
	free(r->runs);
	free(r->table);
	free(r->lens);
	free(r->by_pc);
	free(r);
}

struct ts_open_run *ts_runs_open(struct ts_runs *r)
{
	return &r->open;
}

static uint64_t hash_run(uint64_t pc, uint32_t process, uint32_t n, const uint8_t *lens)
{
	uint64_t h = (pc + process * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x9e3779b97f4a7c15) + n;

	for (uint32_t i = 0; i + 8 <= n; i += 8) {
		uint64_t w;

		memcpy(&w, lens + i, 8);
		h = (h ^ w) * UINT64_C(0xff51afd7ed558ccd);
	}
	return h ^ h >> 32;
}

static bool is_run(const struct ts_runs *r, uint32_t i, const struct ts_open_run *o)
{
	const struct run *x = &r->runs[i];

	return x->pc == o->pc && x->n == o->n && x->len == o->len && x->process == o->process &&
	       !memcmp(r->lens + x->lens, o->lens, o->n);
}

static bool grow_table(struct ts_runs *r)
{
	size_t n = r->n_table ? r->n_table * 2 : 1024;
	uint32_t *table;

	while (n <= 2 * (size_t)r->n) /* runs that came from an index file are not in it yet */
		n *= 2;
	table = calloc(n, sizeof(*table));
	if (!table)
		return false;
	free(r->table);
	r->table = table;
	r->n_table = n;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct run *x = &r->runs[i];
		size_t at = hash_run(x->pc, x->process, x->n, r->lens + x->lens) & (n - 1);

		while (table[at])
			at = (at + 1) & (n - 1);
		table[at] = i + 1;
	}
	return true;
}

static bool grow_runs(struct ts_runs *r)
{
	uint32_t cap = r->cap ? r->cap * 2 : 512;
	struct run *runs = cap < UINT32_MAX / 2 ? realloc(r->runs, cap * sizeof(*runs)) : NULL;

	if (!runs)
		return false;
	r->runs = runs;
	r->cap = cap;
	return true;
}

static bool add_lens(struct ts_runs *r, const uint8_t *lens, size_t n)
{
	if (r->cap_lens - r->n_lens < n) {
		size_t cap = r->cap_lens ? r->cap_lens * 2 : 4096;
		uint8_t *p;

		while (cap - r->n_lens < n)
			cap *= 2;
		p = cap < UINT32_MAX ? realloc(r->lens, cap) : NULL;

		if (!p)
			return false;
		r->lens = p;
		r->cap_lens = cap;
	}
	memcpy(r->lens + r->n_lens, lens, n);
	r->n_lens += n;
	return true;
}

/* Ordinal of the open run, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t intern(struct ts_runs *r)
{
	const struct ts_open_run *o = &r->open;
	uint32_t lens = (uint32_t)r->n_lens;
	size_t at;

	if (2 * (size_t)r->n >= r->n_table && !grow_table(r))
		return UINT32_MAX;
	at = hash_run(o->pc, o->process, o->n, o->lens) & (r->n_table - 1);
	for (; r->table[at]; at = (at + 1) & (r->n_table - 1)) {
		if (is_run(r, r->table[at] - 1, o))
			return r->table[at] - 1;
	}
	if ((r->n == r->cap && !grow_runs(r)) || !add_lens(r, o->lens, o->n))
		return UINT32_MAX;
	r->runs[r->n] = (struct run){ o->pc, o->process, lens, o->len, (uint16_t)o->n, 0 };
	r->table[at] = ++r->n;
	if (o->len > r->max_len)
		r->max_len = o->len;
	return r->n - 1;
}

bool ts_runs_flush(struct ts_runs *r)
{
	uint32_t run;

	if (!r->open.n)
		return true;
	run = intern(r);
	if (run == UINT32_MAX || !ts_pairs_add(&r->pairs, run, (uint32_t)(r->open.pos - r->start)))
		return false;
	r->open.n = 0;
	return true;
}

bool ts_runs_start(struct ts_runs *r, uint64_t pos, uint32_t process, uint32_t thread, uint64_t pc,
		   uint16_t insn_len)
{
	struct ts_open_run *o = &r->open;

	if (!ts_runs_flush(r))
		return false;
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

static int compare_pcs(const void *a, const void *b, void *runs)
{
	const struct run *x = (const struct run *)runs + *(const uint32_t *)a;
	const struct run *y = (const struct run *)runs + *(const uint32_t *)b;

	return (x->pc > y->pc) - (x->pc < y->pc);
}

static bool sort_by_pc(struct ts_runs *r)
{
	struct packed *p = &r->packed;

	p->by_pc = malloc((r->n ? r->n : 1) * sizeof(*p->by_pc));
	if (!p->by_pc)
		return false;
	for (uint32_t i = 0; i < r->n; i++)
		p->by_pc[i] = i;
	qsort_r(p->by_pc, r->n, sizeof(*p->by_pc), compare_pcs, r->runs);
	p->n_by_pc = r->n;
	return true;
}

bool ts_runs_pack(struct ts_runs *r)
{
	drop_packed(r);
	if (!ts_postings_seal(&r->packed.postings, &r->pairs, r->n) ||
	    (r->n_by_pc != r->n && !sort_by_pc(r)))
		return false;
	r->packed.is_there = true;
	return true;
}

static bool room_for_segment(struct ts_runs *r)
{
	struct segment *p = realloc(r->segments, (r->n_segments + 1) * sizeof(*p));

	if (p)
		r->segments = p;
	return p != NULL;
}

/* What was packed becomes a segment, in place of a copy if there is one. */
static bool install(struct ts_runs *r)
{
	struct packed *p = &r->packed;

	if (!p->is_there && !(ts_runs_flush(r) && ts_runs_pack(r)))
		return false;
	if (r->has_copy)
		ts_postings_fini(&r->segments[--r->n_segments].postings);
	r->has_copy = false;
	if (!room_for_segment(r))
		return false;
	r->segments[r->n_segments++] = (struct segment){ r->start, p->postings };
	if (p->by_pc) {
		free(r->by_pc);
		r->by_pc = p->by_pc;
		r->n_by_pc = p->n_by_pc;
	}
	*p = (struct packed){ 0 };
	return true;
}

bool ts_runs_seal(struct ts_runs *r, uint64_t end)
{
	if (!install(r))
		return false;
	r->pairs.n = 0;
	r->start = end;
	return true;
}

bool ts_runs_seal_copy(struct ts_runs *r)
{
	r->has_copy = install(r);
	return r->has_copy;
}

/* -------------------------------------------------------------------------------------- next and previous */

/* The segments' ordinal in which @pos lies (or after whose start it is). */
static size_t segment_of(const struct ts_runs *r, uint64_t pos)
{
	size_t lo = 0, n = r->n_segments;

	while (n > 1) {
		size_t half = n / 2;

		if (r->segments[lo + half].start <= pos) {
			lo += half;
			n -= half;
		} else {
			n = half;
		}
	}
	return lo;
}

/*
 * The position at which the run began by what a file says: TS_NO_POS if neither the segment has it nor the
 * recording what the run executed.  Who asked finds out by the mark.
 */
static uint64_t check_start(const struct ts_runs *r, size_t segment, uint32_t run, uint32_t found)
{
	const struct segment *seg = &r->segments[segment];
	uint64_t pos = seg->start + found;

	if (!seg->postings.is_damaged)
		return pos;
	if (pos < (segment + 1 < r->n_segments ? seg[1].start : r->start) && r->start - pos >= r->runs[run].n)
		return pos;
	*seg->postings.is_damaged = true;
	return TS_NO_POS;
}

/*
 * The position >= @pos (<= @pos) at which a run began; one that is not below @until (not above @from) need not
 * be found: who has a nearer answer already does not look through all segments for a rare run.
 */
static uint64_t next_start(const struct ts_runs *r, uint32_t run, uint64_t pos, uint64_t until)
{
	for (size_t s = segment_of(r, pos); s < r->n_segments && r->segments[s].start < until; s++) {
		const struct segment *seg = &r->segments[s];
		uint64_t rel = pos > seg->start ? pos - seg->start : 0;
		uint32_t found = rel < UINT32_MAX ? ts_postings_next(&seg->postings, run, (uint32_t)rel)
						  : TS_NO_POSTING;

		if (found != TS_NO_POSTING)
			return check_start(r, s, run, found);
	}
	return TS_NO_POS;
}

static uint64_t prev_start(const struct ts_runs *r, uint32_t run, uint64_t pos, uint64_t from)
{
	for (size_t s = segment_of(r, pos) + 1; s-- > 0;) {
		const struct segment *seg = &r->segments[s];
		uint64_t rel = pos - seg->start;
		uint32_t found = ts_postings_prev(&seg->postings, run,
						  rel < UINT32_MAX ? (uint32_t)rel : UINT32_MAX - 1);

		if (found != TS_NO_POSTING)
			return check_start(r, s, run, found);
		if (seg->start <= from)
			break;
	}
	return TS_NO_POS;
}

/*
 * Ordinal of the first (last) instruction of a run in [from, to] whose address is in [first, last]; -1 if
 * there is none.
 */
static int first_insn(const struct ts_runs *r, const struct run *x, uint64_t from, uint64_t first,
		      uint64_t last)
{
	uint64_t pc = x->pc;

	for (unsigned i = 0; i < x->n; pc += r->lens[x->lens + i++]) {
		if (i >= from && pc >= first && pc <= last)
			return (int)i;
	}
	return -1;
}

static int last_insn(const struct ts_runs *r, const struct run *x, uint64_t to, uint64_t first, uint64_t last)
{
	uint64_t pc = x->pc;
	int found = -1;

	for (unsigned i = 0; i < x->n && i <= to; pc += r->lens[x->lens + i++]) {
		if (pc >= first && pc <= last)
			found = (int)i;
	}
	return found;
}

/* Where the runs that may hold an address >= @first begin in by_pc. */
static uint32_t first_candidate(const struct ts_runs *r, uint64_t first)
{
	uint64_t least = first > r->max_len ? first - r->max_len : 0;
	uint32_t lo = 0, n = r->n_by_pc;

	while (n) {
		uint32_t half = n / 2;

		if (r->runs[r->by_pc[lo + half]].pc < least) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

/*
 * The first position >= @pos (last position <= @pos) at which a run executed an address in [first, last],
 * unless that is not before (behind) @best; TS_NO_POS: there is none yet.
 */
static uint64_t next_in_run(const struct ts_runs *r, uint32_t run, uint64_t first, uint64_t last,
			    uint64_t pos, uint64_t best)
{
	const struct run *x = &r->runs[run];
	uint64_t start;
	int i;

	if (first_insn(r, x, 0, first, last) < 0)
		return TS_NO_POS;
	start = prev_start(r, run, pos, pos > x->n ? pos - x->n : 0);
	if (start != TS_NO_POS && pos - start < x->n) {
		i = first_insn(r, x, pos - start, first, last);
		if (i >= 0)
			return start + (unsigned)i;
	}
	start = pos == UINT64_MAX ? TS_NO_POS : next_start(r, run, pos + 1, best);
	return start == TS_NO_POS ? TS_NO_POS : start + (unsigned)first_insn(r, x, 0, first, last);
}

static uint64_t prev_in_run(const struct ts_runs *r, uint32_t run, uint64_t first, uint64_t last,
			    uint64_t pos, uint64_t best)
{
	const struct run *x = &r->runs[run];
	uint64_t start, from = best != TS_NO_POS && best > x->n ? best - x->n : 0;
	int i;

	if (first_insn(r, x, 0, first, last) < 0)
		return TS_NO_POS;
	start = prev_start(r, run, pos, from);
	if (start == TS_NO_POS)
		return TS_NO_POS;
	i = last_insn(r, x, pos - start, first, last);
	if (i >= 0)
		return start + (unsigned)i;
	start = start ? prev_start(r, run, start - 1, from) : TS_NO_POS;
	return start == TS_NO_POS ? TS_NO_POS : start + (unsigned)last_insn(r, x, UINT64_MAX, first, last);
}

uint64_t ts_runs_next(const struct ts_runs *r, uint32_t process, uint64_t first, uint64_t last, uint64_t pos)
{
	uint64_t best = TS_NO_POS;

	for (uint32_t i = first_candidate(r, first); i < r->n_by_pc && r->runs[r->by_pc[i]].pc <= last; i++) {
		uint64_t found;

		if (r->runs[r->by_pc[i]].process != process)
			continue;
		found = next_in_run(r, r->by_pc[i], first, last, pos, best);
		if (found < best)
			best = found;
	}
	return best;
}

uint64_t ts_runs_prev(const struct ts_runs *r, uint32_t process, uint64_t first, uint64_t last, uint64_t pos)
{
	uint64_t best = TS_NO_POS;

	for (uint32_t i = first_candidate(r, first); i < r->n_by_pc && r->runs[r->by_pc[i]].pc <= last; i++) {
		uint64_t found;

		if (r->runs[r->by_pc[i]].process != process)
			continue;
		found = prev_in_run(r, r->by_pc[i], first, last, pos, best);
		if (found != TS_NO_POS && (best == TS_NO_POS || found > best))
			best = found;
	}
	return best;
}

bool ts_runs_next_start(const struct ts_runs *r, uint32_t process, uint64_t addr, uint64_t *start)
{
	uint32_t i = first_candidate(r, addr);

	while (i < r->n_by_pc &&
	       (r->runs[r->by_pc[i]].pc < addr || r->runs[r->by_pc[i]].process != process))
		i++;
	if (i == r->n_by_pc)
		return false;
	*start = r->runs[r->by_pc[i]].pc;
	return true;
}

/* Counting how often each instruction of one run was executed in [from, to). */
struct counting {
	uint64_t start, from, to; /* of the segment; positions */
	uint32_t n;               /* instructions of the run */
	uint64_t counts[TS_MAX_RUN];
};

static void count_run(void *user, uint32_t value)
{
	struct counting *c = user;
	uint64_t pos = c->start + value;
	uint64_t lo = c->from > pos ? c->from - pos : 0, hi = c->to > pos ? c->to - pos : 0;

	for (uint64_t i = lo; i < c->n && i < hi; i++)
		c->counts[i]++;
}

static void use_run(const struct ts_runs *r, uint32_t run, const struct counting *c,
		    void (*use)(void *user, const struct ts_run_count *c), void *user)
{
	const struct run *x = &r->runs[run];
	struct ts_run_count count = { .process = x->process, .pc = x->pc };

	for (uint32_t i = 0; i < x->n; i++) {
		count.len = r->lens[x->lens + i];
		count.n = c->counts[i];
		if (count.n)
			use(user, &count);
		count.pc += count.len;
	}
}

void ts_runs_each(const struct ts_runs *r, uint64_t from, uint64_t to,
		  void (*use)(void *user, const struct ts_run_count *c), void *user)
{
	struct counting c = { .from = from, .to = to };

	for (size_t s = 0; s < r->n_segments; s++) {
		const struct segment *seg = &r->segments[s];
		bool is_over = s + 1 < r->n_segments && r->segments[s + 1].start + TS_MAX_RUN <= from;

		c.start = seg->start;
		if (is_over || seg->start >= to)
			continue;
		for (size_t k = 0; k < seg->postings.n_keys; k++) {
			uint32_t run = seg->postings.keys[k];

			if (run >= r->n)
				continue;
			c.n = r->runs[run].n;
			memset(c.counts, 0, sizeof(c.counts));
			ts_postings_each(&seg->postings, k, count_run, &c);
			use_run(r, run, &c, use, user);
		}
	}
}

uint64_t ts_runs_n_distinct(const struct ts_runs *r)
{
	return r->n;
}

uint64_t ts_runs_mem(const struct ts_runs *r)
{
	uint64_t sum = r->n * sizeof(*r->runs) + r->n_lens + r->n_by_pc * sizeof(*r->by_pc);

	for (size_t i = 0; i < r->n_segments; i++)
		sum += ts_postings_mem(&r->segments[i].postings);
	return sum;
}

/* -------------------------------------------------------------------------------------------- index files */

void ts_runs_save(struct ts_runs *r, struct ts_index_file *f)
{
	const struct segment *seg = &r->segments[r->n_segments - 1];
	uint64_t bounds[2] = { seg->start, r->start };

	ts_index_put(f, bounds, 2, sizeof(bounds[0]));
	ts_postings_save(&seg->postings, f);
	ts_index_put(f, r->runs + r->n_saved, r->n - r->n_saved, sizeof(*r->runs));
	ts_index_put(f, r->lens + r->n_saved_lens, r->n_lens - r->n_saved_lens, 1);
	ts_index_put(f, r->by_pc, r->n_by_pc, sizeof(*r->by_pc));
	r->n_saved = r->n;
	r->n_saved_lens = r->n_lens;
}

/* The arrays of a segment that covers [start, end); those of the runs are left. */
static bool load_segment(struct segment *seg, struct ts_index_arrays *a, uint64_t start, uint64_t end)
{
	const uint64_t *bounds = ts_index_take_n(a, sizeof(*bounds), 2);

	if (!bounds || bounds[0] != start || bounds[1] != end || start >= end || end - start > UINT32_MAX)
		return false;
	seg->start = start;
	return ts_postings_load(&seg->postings, a);
}

bool ts_runs_load_sealed(struct ts_runs *r, struct ts_index_arrays *a)
{
	struct segment *seg = &r->segments[r->n_segments - 1], mapped;

	if (!load_segment(&mapped, a, seg->start, r->start))
		return false;
	ts_postings_fini(&seg->postings);
	*seg = mapped;
	return true;
}

/* Is it a run as the builder makes them, its lengths there? */
static bool check_run(const struct ts_runs *r, const struct run *x)
{
	uint64_t len = 0;

	if (!x->n || x->n > TS_MAX_RUN || (size_t)x->lens + x->n > r->n_lens)
		return false;
	for (unsigned i = 0; i < x->n; i++)
		len += r->lens[x->lens + i];
	return x->len == len;
}

static bool add_runs(struct ts_runs *r, const struct run *runs, size_t n)
{
	while (r->cap - r->n < n) {
		if (!grow_runs(r))
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

bool ts_runs_load(struct ts_runs *r, struct ts_index_arrays *a, uint64_t end)
{
	const uint32_t *by_pc;
	size_t n_runs, n_lens;
	const struct run *runs;
	const uint8_t *lens;

	if (!room_for_segment(r) || !load_segment(&r->segments[r->n_segments], a, r->start, end))
		return false;
	r->n_segments++;
	r->start = end;
	runs = ts_index_take(a, sizeof(*runs), &n_runs);
	lens = ts_index_take(a, 1, &n_lens);
	if (a->is_bad || !add_lens(r, lens, n_lens) || !add_runs(r, runs, n_runs))
		return false;
	by_pc = ts_index_take_n(a, sizeof(*by_pc), r->n);
	free(r->by_pc);
	r->by_pc = by_pc && check_by_pc(r, by_pc) ? malloc((r->n + 1) * sizeof(*by_pc)) : NULL;
	r->n_by_pc = 0;
	if (!r->by_pc)
		return false;
	memcpy(r->by_pc, by_pc, r->n * sizeof(*by_pc));
	r->n_by_pc = r->n_saved = r->n;
	r->n_saved_lens = r->n_lens;
	return true;
}
