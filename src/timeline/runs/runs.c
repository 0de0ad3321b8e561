/* SPDX-License-Identifier: MIT */
#include "runs.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"

void ts_runs_fini(struct ts_runs *r)
{
	for (size_t i = 0; i < r->n_segments; i++)
		ts_postings_fini(&r->segments[i].postings);
	free(r->segments);
	free(r->groups); /* what is in them lies in the index file */
	free(r->runs);
	free(r->lens);
	free(r->by_pc);
	*r = (struct ts_runs){ 0 };
}

bool ts_runs_set_group(struct ts_runs *r, size_t group, const struct ts_run_group *g)
{
	if (!ts_vec_extend(&r->groups, &r->n_groups, group, sizeof(*r->groups)))
		return false;
	r->groups[group] = *g;
	return true;
}

/* The run whose beginnings are looked for. */
struct hunt {
	const struct ts_runs *r;
	uint32_t run;
};

static uint64_t hunt_in(const void *user, size_t group)
{
	const struct hunt *h = user;

	return group < h->r->n_groups ? ts_run_group_segments(&h->r->groups[group], h->run) : TS_GROUP_ALL;
}

/* Ordinal of the segment in which @pos lies; the last one if @pos is after all. */
static size_t segment_of(const struct ts_runs *r, uint64_t pos)
{
	size_t at = 1;

	TS_BISECT(at, r->n_segments, i, r->segments[i].start <= pos);
	return at - 1;
}

/*
 * The position at which the run began according to the postings.  Returns TS_NO_POS, and marks the index file
 * as damaged, if that position is not in the segment or the run does not fit before the end.
 */
static uint64_t check_start(const struct ts_runs *r, size_t segment, uint32_t run, uint32_t found)
{
	const struct ts_runs_segment *seg = &r->segments[segment];
	uint64_t pos = seg->start + found;

	if (!seg->postings.file)
		return pos;
	if (pos < (segment + 1 < r->n_segments ? seg[1].start : r->end) && r->end - pos >= r->runs[run].n)
		return pos;
	ts_index_blocks_note_damage(seg->postings.file);
	return TS_NO_POS;
}

/*
 * The position >= @pos at which a run began.  One that is >= @until need not be found: with a nearer answer at
 * hand, not all segments are searched for a rare run.
 */
static uint64_t next_start(const struct ts_runs *r, uint32_t run, uint64_t pos, uint64_t until)
{
	const struct hunt h = { r, run };
	size_t s = segment_of(r, pos);

	for (; s < r->n_segments && r->segments[s].start < until;
	     s = ts_groups_next(hunt_in, &h, s + 1, r->n_segments)) {
		const struct ts_runs_segment *seg = &r->segments[s];
		uint64_t rel = pos > seg->start ? pos - seg->start : 0;
		uint32_t found = rel < UINT32_MAX ? ts_postings_next(&seg->postings, run, (uint32_t)rel)
						  : TS_NO_POSTING;

		if (found != TS_NO_POSTING)
			return check_start(r, s, run, found);
	}
	return TS_NO_POS;
}

/* Does segment @s end before position @from?  The last one does not. */
static bool ends_before(const struct ts_runs *r, size_t s, uint64_t from)
{
	return s + 1 < r->n_segments && r->segments[s + 1].start <= from;
}

/* The destination of ts_runs_fill(): one run of a segment. */
struct filling {
	uint64_t start, from, to;
	uint32_t *starts, run;
};

static void fill_start(void *user, uint32_t value)
{
	const struct filling *f = user;
	uint64_t pos = f->start + value;

	if (pos >= f->from && pos < f->to)
		f->starts[pos - f->from] = f->run + 1;
}

void ts_runs_fill(const struct ts_runs *r, uint64_t from, uint64_t to, uint32_t *starts)
{
	struct filling f = { .from = from, .to = to, .starts = starts };

	for (size_t s = segment_of(r, from); s < r->n_segments && r->segments[s].start < to; s++) {
		const struct ts_postings *set = &r->segments[s].postings;

		f.start = r->segments[s].start;
		for (size_t i = 0; i < set->n_keys; i++) {
			f.run = ts_postings_key(set, i);
			if (f.run < r->n)
				ts_postings_each(set, i, fill_start, &f);
		}
	}
}

uint64_t ts_runs_prev_start(const struct ts_runs *r, uint32_t run, uint64_t pos, uint64_t from)
{
	const struct hunt h = { r, run };

	for (size_t s = segment_of(r, pos); s != SIZE_MAX && !ends_before(r, s, from);
	     s = ts_groups_prev(hunt_in, &h, s)) {
		const struct ts_runs_segment *seg = &r->segments[s];
		uint64_t rel = pos - seg->start;
		uint32_t found = ts_postings_prev(&seg->postings, run,
						  rel < UINT32_MAX ? (uint32_t)rel : UINT32_MAX - 1);

		if (found != TS_NO_POSTING)
			return check_start(r, s, run, found);
	}
	return TS_NO_POS;
}

/*
 * Ordinal of the first (last) instruction of a run in [from, to] whose address is in [first, last]; -1 if
 * none is found.
 */
static int first_insn(const struct ts_runs *r, const struct ts_run *x, uint64_t from, uint64_t first,
		      uint64_t last)
{
	uint64_t pc = x->pc;

	for (unsigned i = 0; i < x->n; pc += r->lens[x->lens + i++]) {
		if (i >= from && pc >= first && pc <= last)
			return (int)i;
	}
	return -1;
}

static int last_insn(const struct ts_runs *r, const struct ts_run *x, uint64_t to, uint64_t first,
		     uint64_t last)
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
	uint32_t at = 0;

	TS_BISECT(at, r->n_by_pc, i, r->runs[r->by_pc[i]].pc < least);
	return at;
}

/*
 * The first position >= @pos (last position <= @pos) at which a run executed an address in [first, last],
 * unless that is not before (after) @best.  @best is TS_NO_POS before the first one.
 */
static uint64_t next_in_run(const struct ts_runs *r, uint32_t run, uint64_t first, uint64_t last,
			    uint64_t pos, uint64_t best)
{
	const struct ts_run *x = &r->runs[run];
	uint64_t start;
	int i;

	if (first_insn(r, x, 0, first, last) < 0)
		return TS_NO_POS;
	start = ts_runs_prev_start(r, run, pos, pos > x->n ? pos - x->n : 0);
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
	const struct ts_run *x = &r->runs[run];
	uint64_t start, from = best != TS_NO_POS && best > x->n ? best - x->n : 0;
	int i;

	if (first_insn(r, x, 0, first, last) < 0)
		return TS_NO_POS;
	start = ts_runs_prev_start(r, run, pos, from);
	if (start == TS_NO_POS)
		return TS_NO_POS;
	i = last_insn(r, x, pos - start, first, last);
	if (i >= 0)
		return start + (unsigned)i;
	start = start ? ts_runs_prev_start(r, run, start - 1, from) : TS_NO_POS;
	return start == TS_NO_POS ? TS_NO_POS : start + (unsigned)last_insn(r, x, UINT64_MAX, first, last);
}

uint64_t ts_runs_find(const struct ts_runs *r, uint32_t process, uint64_t first, uint64_t last, uint64_t pos, bool is_reverse)
{
	uint64_t best = TS_NO_POS;

	for (uint32_t i = first_candidate(r, first); i < r->n_by_pc && r->runs[r->by_pc[i]].pc <= last; i++) {
		uint32_t run = r->by_pc[i];

		if (r->runs[run].process == process)
			best = ts_nearer(best, (is_reverse ? prev_in_run : next_in_run)(r, run, first, last, pos, best), is_reverse);
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
	uint64_t n_begun;         /* how often a run was executed, so far */
	uint32_t n;               /* instructions of the run */
	uint64_t counts[TS_MAX_RUN];
};

static void count_run(void *user, uint32_t value)
{
	struct counting *c = user;
	uint64_t pos = c->start + value;
	uint64_t lo = c->from > pos ? c->from - pos : 0, hi = c->to > pos ? c->to - pos : 0;

	c->n_begun++;
	for (uint64_t i = lo; i < c->n && i < hi; i++)
		c->counts[i]++;
}

static void use_run(const struct ts_runs *r, uint32_t run, const struct counting *c,
		    void (*use)(void *user, const struct ts_run_count *c), void *user)
{
	const struct ts_run *x = &r->runs[run];
	struct ts_run_count count = { .process = x->process, .pc = x->pc };

	for (uint32_t i = 0; i < x->n; i++) {
		count.len = r->lens[x->lens + i];
		count.n = c->counts[i];
		if (count.n)
			use(user, &count);
		count.pc += count.len;
	}
}

bool ts_runs_each(const struct ts_runs *r, uint64_t from, uint64_t to, struct ts_runs_at *at, uint64_t max,
		  void (*use)(void *user, const struct ts_run_count *c), void *user)
{
	struct counting c = { .from = from, .to = to };

	for (; at->segment < r->n_segments; at->segment++, at->key = 0) {
		const struct ts_runs_segment *seg = &r->segments[at->segment];
		bool is_over = at->segment + 1 < r->n_segments && seg[1].start + TS_MAX_RUN <= from;

		c.start = seg->start;
		if (is_over || seg->start >= to)
			continue;
		for (; at->key < seg->postings.n_keys; at->key++) {
			uint32_t run = ts_postings_key(&seg->postings, at->key);

			if (c.n_begun >= max)
				return true;
			if (run >= r->n)
				continue;
			c.n = r->runs[run].n;
			memset(c.counts, 0, sizeof(c.counts));
			ts_postings_each(&seg->postings, at->key, count_run, &c);
			use_run(r, run, &c, use, user);
		}
	}
	return false;
}

/* The positions of one run in a segment. */
struct starts {
	uint64_t start; /* of the segment */
	void (*use)(void *user, uint64_t pos);
	void *user;
};

static void use_start(void *user, uint32_t value)
{
	const struct starts *s = user;

	s->use(s->user, s->start + value);
}

void ts_runs_each_start(const struct ts_runs *r, uint32_t run, uint64_t from, uint64_t to,
			void (*use)(void *user, uint64_t pos), void *user)
{
	struct starts starts = { .use = use, .user = user };

	from = from > TS_MAX_RUN ? from - TS_MAX_RUN : 0;
	for (size_t s = segment_of(r, from); s < r->n_segments && r->segments[s].start < to; s++) {
		uint64_t start = r->segments[s].start, first = from > start ? from - start : 0;
		uint64_t end = to - start < UINT32_MAX ? to - start : UINT32_MAX;

		starts.start = start;
		if (first < end)
			ts_postings_each_of(&r->segments[s].postings, run, (uint32_t)first, (uint32_t)end, use_start, &starts);
	}
}

/* Of its segments, @in_files says whether those in an index file count. */
static uint64_t mem(const struct ts_runs *r, bool in_files)
{
	uint64_t sum = r->n * sizeof(*r->runs) + r->n_lens + r->n_by_pc * sizeof(*r->by_pc);

	for (size_t i = 0; i < r->n_segments; i++)
		sum += in_files || !r->segments[i].postings.file ? ts_postings_mem(&r->segments[i].postings) : 0;
	return sum;
}

uint64_t ts_runs_mem(const struct ts_runs *r)
{
	return mem(r, true);
}

uint64_t ts_runs_own_mem(const struct ts_runs *r)
{
	return mem(r, false);
}
