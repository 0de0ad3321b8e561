/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include "src/query/paging.h"

/*
 * The number of steps backwards that are all examined; fewer if runs have been searched for the same place
 * before.
 */
#define N_NEAR    1024u
#define N_NEAREST 64u

/*
 * The work for one unit of the budget: steps that are examined, runs that are decoded, runs that are looked
 * up.
 */
#define STEPS_A_BUDGET 128u
#define RUNS_A_BUDGET  4u
#define LOOKS_A_BUDGET 64u

/* The number of steps that cannot be the writer and cost as much as one that is examined. */
#define MAX_PASSED 64u

#define CHANGES ((unsigned)TS_ACCESS_CHANGE | (unsigned)TS_ACCESS_REPLACE)

static void end_search(struct ts_writer_search *s)
{
	s->is_begun = false;
}

static void end_runs(struct ts_writer_runs *r)
{
	if (r->is_used)
		ts_run_search_fini(&r->search);
	r->is_used = false;
}

void ts_writer_search_fini(struct ts_writer_search *s)
{
	end_search(s);
	for (unsigned i = 0; i < TS_N_WRITER_RUNS; i++)
		end_runs(&s->runs[i]);
}

/* Returns the search among runs that can be continued from @pos; NULL if none is found. */
static struct ts_writer_runs *find_runs(struct ts_writer_search *s, const struct ts_query *q, uint64_t pos)
{
	for (unsigned i = 0; i < TS_N_WRITER_RUNS; i++) {
		struct ts_writer_runs *r = &s->runs[i];

		if (r->is_used && r->pos >= pos && r->does.regs == s->does.regs &&
		    r->does.flags == s->does.flags && r->does.is_branch == s->does.is_branch &&
		    r->n_steps == ts_query_n_steps(q))
			return r;
	}
	return NULL;
}

/* A new one in place of that which was not used for the longest time. */
static struct ts_writer_runs *begin_runs(struct ts_writer_search *s, struct ts_query *q, struct ts_error *err)
{
	struct ts_writer_runs *r = s->runs;

	for (unsigned i = 1; i < TS_N_WRITER_RUNS; i++)
		r = s->runs[i].used < r->used ? &s->runs[i] : r;
	end_runs(r);
	r->is_used = true;
	r->does = s->does;
	r->n_steps = ts_query_n_steps(q);
	return ts_run_search_init(&r->search, q, &s->does, err) ? r : NULL;
}

/* A chain in a loop asks for the same places again and again. */
static void take_does(struct ts_writer_search *s, const struct ts_query *q, const struct ts_location *loc)
{
	struct ts_writer_does *known = &s->known[(loc->base ^ loc->base >> 5) % TS_N_WRITER_DOES];
	uint64_t mask = loc->kind == TS_IN_PC ? 0 : loc->mask;

	if (loc->kind == TS_IN_MEMORY)
		return;
	if (!known->is_used || known->kind != loc->kind || known->base != loc->base || known->mask != mask) {
		*known = (struct ts_writer_does){ true, loc->kind, loc->base, mask, { 0 } };
		known->does = ts_does_of_location(q, loc->kind == TS_IN_REGS, loc->base, mask);
	}
	s->does = known->does;
}

static void begin_search(struct ts_writer_search *s, struct ts_query *q, const struct ts_location *loc,
			 uint64_t before, uint64_t stop)
{
	uint64_t near;

	s->stop = stop;
	s->is_begun = true;
	s->pos = s->before = before;
	s->loc = *loc;
	if (!s->n_steps || s->n_steps != ts_query_n_steps(q)) { /* of a recording that grows, again */
		s->n_steps = ts_query_n_steps(q);
		s->may_contradict = ts_writes_may_contradict(q);
	}
	s->among = NULL;
	s->chunk = before ? (before - 1) / TS_CHUNK_STEPS : TS_NO_CHUNK;
	take_does(s, q, loc);
	near = loc->kind != TS_IN_MEMORY && (find_runs(s, q, before) || ts_query_knows_write_runs(q)) ? N_NEAREST : N_NEAR;
	s->first = before > near ? before - near : 0;
}

/* ----------------------------------------------------------------------------------------------- registers */

/* The last chunk up to @chunk in which the recording shows @accesses (a mask of enum ts_access) of the registers. */
static uint64_t last_shown(const struct ts_writer_search *s, const struct ts_query *q, unsigned accesses, uint64_t chunk)
{
	const struct ts_regset *set = ts_query_regset(q);
	uint64_t first = s->loc.base, last = first + 63;

	if (s->loc.kind == TS_IN_PC)
		return TS_NO_CHUNK;
	if (s->loc.kind == TS_IN_FLAGS) {
		first = set->regs[set->flags].off;
		last = first + 3;
	} else {
		first += (unsigned)__builtin_ctzll(s->loc.mask);
		last = s->loc.base + 63 - (unsigned)__builtin_clzll(s->loc.mask);
	}
	return ts_query_find_register(q, accesses, s->loc.owner, (uint32_t)first, (uint32_t)last, chunk, TS_BACKWARDS);
}

/*
 * Runs of instructions that may write it: the last one up to step @pos, *first and *end of its steps, *first
 * is TS_NO_POS if none is found.
 */
static enum ts_next find_run(struct ts_writer_search *s, struct ts_query *q, uint64_t pos, uint64_t *first,
			     uint64_t *end, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next need = TS_MORE;

	while ((need = ts_query_need_write_runs(q, RUNS_A_BUDGET, err)) == TS_MORE) {
		if (!ts_budget_take(budget))
			return TS_MORE;
	}
	if (need == TS_FAIL)
		return TS_FAIL;
	if (!s->among)
		s->among = find_runs(s, q, pos);
	if (!s->among && !(s->among = begin_runs(s, q, err)))
		return TS_FAIL;
	s->among->used = ++s->clock;
	s->among->pos = pos;
	while (!ts_run_search_prev(&s->among->search, q, pos, LOOKS_A_BUDGET, first, end)) {
		if (!ts_budget_take(budget))
			return TS_MORE;
	}
	return TS_ITEM;
}

/*
 * From step @pos back to the last one that may write it.  TS_ITEM: go on from s->pos down to s->first.
 */
static enum ts_next skip(struct ts_writer_search *s, struct ts_query *q, uint64_t pos, struct ts_budget *budget,
			 struct ts_error *err)
{
	uint64_t first = TS_NO_POS, end = 0, chunk, start = TS_NO_POS, stop = 0;
	unsigned accesses = CHANGES;
	enum ts_next got;

	if (!ts_query_has_write_runs(q)) {
		s->first = 0;
		return TS_ITEM;
	}
	got = find_run(s, q, pos, &first, &end, budget, err);
	if (got != TS_ITEM)
		return got;
	if (ts_query_lacks_code(q)) /* what is not known to write it may have left it as it was */
		accesses |= TS_ACCESS_WRITE;
	chunk = last_shown(s, q, accesses, pos / TS_CHUNK_STEPS);
	if (chunk != TS_NO_CHUNK) {
		start = chunk ? chunk * TS_CHUNK_STEPS - 1 : 0;
		stop = (chunk + 1) * TS_CHUNK_STEPS;
	}
	if (first == TS_NO_POS && start == TS_NO_POS)
		return TS_END;
	if (first == TS_NO_POS || (start != TS_NO_POS && stop > end)) {
		first = first == TS_NO_POS || start > end ? start : first < start ? first : start;
		end = stop;
	}
	s->first = first;
	if (end <= pos)
		s->pos = end;
	return TS_ITEM;
}

static bool is_branch(const struct ts_decoded *d)
{
	if (!d->is_insn)
		return false;
	switch (d->ops.flow) {
	case TS_OP_BRANCH:
	case TS_OP_JUMP_INDIRECT:
	case TS_OP_CALL_INDIRECT:
	case TS_OP_RETURN: return true;
	default: return false;
	}
}

/* A result of the call of step @pos that came later, but before where the search began. */
static bool look_for_late(struct ts_writer_search *s, struct ts_query *q, uint64_t pos, struct ts_written *written,
			  struct ts_error *err)
{
	const struct ts_decoded *d = ts_query_insn(q, pos, err);
	uint64_t at, mask;

	if (d && ts_late_result(q, pos, d, &s->loc, &at, &mask) && at >= s->stop && at < s->before) {
		*written = (struct ts_written){ mask, TS_WRITER_INPUT };
		s->pos = at;
	}
	return d != NULL;
}

static bool look(struct ts_writer_search *s, struct ts_query *q, struct ts_written *written,
		 struct ts_error *err)
{
	const struct ts_decoded *d;

	if (s->loc.kind != TS_IN_PC)
		return ts_step_writes(q, s->pos, &s->loc, s->may_contradict, written, err) &&
		       (written->mask || look_for_late(s, q, s->pos, written, err));
	d = ts_query_insn(q, s->pos, err);
	written->mask = d && is_branch(d);
	return d != NULL;
}

/* Does the step, which is another thread's, have an effect on the registers of the location? */
static bool touches_registers(const struct ts_writer_search *s, const struct ts_steps *b, const struct ts_step *st)
{
	struct ts_step_effects all = ts_step_effects(b, st);
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		if ((e->kind == TS_FX_REG_WRITE && all.thread == s->loc.owner) || e->kind == TS_FX_FORGET_REGS)
			return true;
	}
	return false;
}

/*
 * The last step of another thread in [@first, s->pos) that may have changed registers of the owner: a signal that was
 * delivered to it, or what a switch to it shows.  *pos is set to TS_NO_POS if none is found.
 *
 * Returns false if the trace cannot be read.
 */
static bool find_foreign(const struct ts_writer_search *s, struct ts_query *q, uint64_t first, uint64_t *pos,
			 struct ts_error *err)
{
	uint64_t chunk = first < s->pos ? last_shown(s, q, CHANGES, (s->pos - 1) / TS_CHUNK_STEPS) : TS_NO_CHUNK;

	for (; chunk != TS_NO_CHUNK && chunk >= first / TS_CHUNK_STEPS;
	     chunk = chunk ? last_shown(s, q, CHANGES, chunk - 1) : TS_NO_CHUNK) {
		uint64_t begin = chunk * TS_CHUNK_STEPS, end = begin + TS_CHUNK_STEPS;
		const struct ts_steps *b;

		*pos = end < s->pos ? end : s->pos;
		if (!ts_query_step(q, *pos - 1, &b, err))
			return false;
		while (*pos > begin && *pos > first) {
			--*pos;
			if (touches_registers(s, b, &b->steps[*pos - begin]))
				return true;
		}
	}
	*pos = TS_NO_POS;
	return true;
}

/* Examine the step before s->pos, or pass over those that cannot be. */
static enum ts_next look_back(struct ts_writer_search *s, struct ts_query *q, struct ts_written *written,
			      struct ts_budget *budget, struct ts_error *err)
{
	uint64_t pos = s->pos ? ts_query_prev_step(q, s->loc.owner, s->pos - 1) : TS_NO_POS;
	uint64_t first = pos == TS_NO_POS ? 0 : pos + 1, foreign;

	written->mask = 0;
	if (s->loc.kind != TS_IN_PC) {
		if (!find_foreign(s, q, first > s->stop ? first : s->stop, &foreign, err))
			return TS_FAIL;
		if (foreign != TS_NO_POS) {
			s->pos = foreign;
			return ts_step_writes(q, s->pos, &s->loc, s->may_contradict, written, err) ? TS_ITEM : TS_FAIL;
		}
	}
	if (pos == TS_NO_POS || (pos < s->stop && s->loc.kind == TS_IN_PC))
		return TS_END;
	if (pos < s->stop && !look_for_late(s, q, pos, written, err))
		return TS_FAIL;
	if (pos < s->stop)
		return written->mask ? TS_ITEM : TS_END;
	if (pos < s->first)
		return skip(s, q, pos, budget, err);
	s->pos = pos;
	return look(s, q, written, err) ? TS_ITEM : TS_FAIL;
}

/* May the effects of the owner's step change the location, or belong to another thread? */
static bool may_change(const struct ts_writer_search *s, const struct ts_regset *set, const struct ts_steps *b,
		       const struct ts_step *st)
{
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		switch (e->kind) {
		case TS_FX_REG_READ:
		case TS_FX_WRITE:
		case TS_FX_READ: break;
		case TS_FX_REG_WRITE:
			if (s->loc.kind == TS_IN_REGS ? ts_location_overlap(&s->loc, e->addr, e->len) != 0
						      : e->addr < set->regs[set->flags].off + UINT64_C(4) &&
								set->regs[set->flags].off < e->addr + e->len)
				return true;
			break;
		default: return true;
		}
	}
	return false;
}

/*
 * Go back over the owner's steps of one chunk that look() finds to write nothing of the location, as far as that is seen at
 * once.
 */
static bool pass_over(struct ts_writer_search *s, struct ts_query *q, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(q);
	uint64_t first = s->first > s->stop ? s->first : s->stop, chunk, start;
	const struct ts_steps *b;
	struct ts_does does;

	if (s->pos <= first || s->may_contradict)
		return true;
	chunk = (s->pos - 1) / TS_CHUNK_STEPS;
	start = chunk * TS_CHUNK_STEPS;
	if (!ts_query_step(q, s->pos - 1, &b, err))
		return false;
	if (first < start)
		first = start;
	for (unsigned n = 0; s->pos > first && n < MAX_PASSED; n++, s->pos--) {
		const struct ts_step *st = &b->steps[s->pos - 1 - start];

		if (st->thread != s->loc.owner || (s->loc.kind != TS_IN_PC && may_change(s, set, b, st)))
			return true;
		if (!ts_query_known_does(q, chunk, b, st, &does) || ts_does_share(&does, &s->does))
			return true;
	}
	return true;
}

static enum ts_next find_register(struct ts_writer_search *s, struct ts_query *q, struct ts_written *written,
				  struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got;

	do {
		if (s->n_looked++ % STEPS_A_BUDGET == 0 && !ts_budget_take(budget))
			return TS_MORE;
		if (!pass_over(s, q, err))
			return TS_FAIL;
		got = look_back(s, q, written, budget, err);
	} while (got == TS_ITEM && !written->mask);
	return got;
}

/* -------------------------------------------------------------------------------------------------- memory */

static uint64_t last_access(const struct ts_writer_search *s, const struct ts_query *q, uint64_t chunk)
{
	unsigned accesses = TS_ACCESS_WRITE | TS_ACCESS_REPLACE | (s->may_contradict ? TS_ACCESS_CHANGE : 0);
	uint64_t first = s->loc.base + (unsigned)__builtin_ctzll(s->loc.mask);
	uint64_t last = s->loc.base + 63 - (unsigned)__builtin_clzll(s->loc.mask);

	return ts_query_find_access(q, accesses, s->loc.owner, first, last, chunk, TS_BACKWARDS);
}

/* Does an effect of the step, or of the next one, touch the location?  Most steps of a chunk do not. */
static bool touches(const struct ts_writer_search *s, const struct ts_steps *b, const struct ts_step *st)
{
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (ts_effect_is_on_memory(e) && ts_location_overlap(&s->loc, e->addr, e->len))
			return true;
	}
	return false;
}

/* Steps of the chunk, from the one before s->pos back. */
static enum ts_next find_in_chunk(struct ts_writer_search *s, struct ts_query *q, struct ts_written *written,
				  struct ts_error *err)
{
	uint64_t start = s->chunk * TS_CHUNK_STEPS, last = s->pos - 1, end = ts_query_n_steps(q) - 1;
	const struct ts_steps *b;

	if (last > (s->chunk + 1) * TS_CHUNK_STEPS - 1)
		last = (s->chunk + 1) * TS_CHUNK_STEPS - 1;
	end = end < start + TS_CHUNK_STEPS ? end : start + TS_CHUNK_STEPS - 1;
	if (!ts_query_step(q, end, &b, err))
		return TS_FAIL;
	for (uint64_t pos = last + 1; pos-- > (s->stop > start ? s->stop : start);) {
		const struct ts_step *st = &b->steps[pos - start];

		if (!touches(s, b, st) && !(s->may_contradict && (pos == end || touches(s, b, st + 1))))
			continue;
		if (!ts_step_writes(q, pos, &s->loc, s->may_contradict, written, err))
			return TS_FAIL;
		s->pos = pos;
		if (written->mask)
			return TS_ITEM;
		if (!ts_query_step(q, end, &b, err))
			return TS_FAIL;
	}
	s->pos = start;
	/* what the chunk's first step contradicts is a change of the step before */
	if (!s->may_contradict || start <= s->stop || !touches(s, b, &b->steps[0]))
		return TS_ITEM;
	s->pos = start - 1;
	return ts_step_writes(q, start - 1, &s->loc, true, written, err) ? TS_ITEM : TS_FAIL;
}

static enum ts_next find_memory(struct ts_writer_search *s, struct ts_query *q, struct ts_written *written,
				struct ts_budget *budget, struct ts_error *err)
{
	written->mask = 0;
	while (!written->mask) {
		uint64_t chunk = s->chunk == TS_NO_CHUNK || !s->pos ? TS_NO_CHUNK : last_access(s, q, s->chunk);
		enum ts_next got;

		if (chunk == TS_NO_CHUNK || (chunk + 1) * TS_CHUNK_STEPS <= s->stop)
			return TS_END;
		if (!ts_budget_take(budget))
			return TS_MORE;
		s->chunk = chunk;
		got = find_in_chunk(s, q, written, err);
		if (got != TS_ITEM)
			return got;
		if (!written->mask)
			s->chunk = chunk ? chunk - 1 : TS_NO_CHUNK;
	}
	return TS_ITEM;
}

/* Translate the location to the addresses of effects.  *is_mapped is false if no memory is mapped there. */
static bool translate(struct ts_writer_search *s, struct ts_query *q, uint64_t before, bool *is_mapped,
		      struct ts_error *err)
{
	struct ts_translation t;

	*is_mapped = true;
	if (s->loc.kind != TS_IN_MEMORY || !ts_paging_is_known(q))
		return true;
	if (!ts_translate_at(q, before, s->loc.owner, s->loc.base, &t, err))
		return false;
	*is_mapped = t.mapping == TS_MAPPED;
	s->loc.base = t.phys;
	return true;
}

/* -------------------------------------------------------------------------------------------------- search */

static enum ts_next finish(struct ts_writer_search *s, struct ts_query *q, const struct ts_written *written,
			   struct ts_writer *w, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(q, s->pos, &b, err);

	if (!st)
		return TS_FAIL;
	*w = (struct ts_writer){
		.pos = s->pos, .pc = st->pc, .thread = st->thread, .kind = written->kind, .mask = written->mask
	};
	return TS_ITEM;
}

enum ts_next ts_writer_find(struct ts_writer_search *s, struct ts_query *q, const struct ts_location *loc,
			    uint64_t before, uint64_t stop, struct ts_writer *w, struct ts_budget *budget,
			    struct ts_error *err)
{
	struct ts_written written = { 0 };
	bool is_mapped = true;
	enum ts_next got;

	if (!s->is_begun) {
		begin_search(s, q, loc, before, stop);
		if (!translate(s, q, before, &is_mapped, err)) {
			end_search(s);
			return TS_FAIL;
		}
	}
	if (!is_mapped)
		got = TS_END;
	else
		got = (loc->kind == TS_IN_MEMORY ? find_memory : find_register)(s, q, &written, budget, err);
	if (got != TS_MORE)
		end_search(s);
	return got == TS_ITEM ? finish(s, q, &written, w, err) : got;
}

enum ts_next ts_writer_find_branch(struct ts_writer_search *s, struct ts_query *q, uint32_t thread,
				   uint64_t before, struct ts_writer *w, struct ts_budget *budget,
				   struct ts_error *err)
{
	const struct ts_location pc = { .kind = TS_IN_PC, .owner = thread, .mask = 1 };

	return ts_writer_find(s, q, &pc, before, 0, w, budget, err);
}
