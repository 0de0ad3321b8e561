/* SPDX-License-Identifier: MIT */
#include "entry_counts.h"

#include <stdlib.h>

#include "src/arch/arch.h"
#include "src/base/bisect.h"
#include "src/base/vec.h"
#include "src/query/call_list.h"

/* Blocks of calls that are counted in the time of a chunk that is decoded. */
#define BLOCKS_A_CHUNK 8u

void ts_entry_counts_init(struct ts_entry_counts *c, struct ts_ask *ask, uint32_t process)
{
	*c = (struct ts_entry_counts){ .ask = ask, .process = process };
}

void ts_entry_counts_fini(struct ts_entry_counts *c)
{
	free(c->items);
	c->items = NULL;
	c->n = c->cap = 0;
}

bool ts_entry_counts_add(struct ts_entry_counts *c, uint64_t addr)
{
	if (!ts_vec_reserve(&c->items, c->n, &c->cap, 1, sizeof(*c->items)))
		return false;
	c->items[c->n++] = (struct ts_entry_count){ .addr = addr };
	return true;
}

static struct ts_entry_count *find(const struct ts_entry_counts *c, uint64_t addr)
{
	size_t at = 0;

	TS_BISECT(at, c->n, i, c->items[i].addr < addr);
	return at < c->n && c->items[at].addr == addr ? &c->items[at] : NULL;
}

bool ts_entry_counts_has(const struct ts_entry_counts *c, uint64_t addr)
{
	return find(c, addr) != NULL;
}

static void add_executed(void *user, const struct ts_executed *x)
{
	struct ts_entry_counts *c = user;
	struct ts_entry_count *found = x->process == c->process ? find(c, x->pc) : NULL;

	if (found)
		found->n += x->n;
}

/*
 * The last step of the thread that can have called and be followed by the callee's first instruction, TS_NO_POS if
 * there is none.
 */
static uint64_t last_caller(const struct ts_entry_counts *c, uint32_t thread)
{
	const struct ts_query *q = c->ask->q;
	unsigned n = 1 + ts_query_regset(q)->arch->has_delay_slots;
	uint64_t pos = c->ask->n_steps ? ts_query_prev_step(q, thread, c->ask->n_steps - 1) : TS_NO_POS;

	while (n-- && pos != TS_NO_POS)
		pos = pos ? ts_query_prev_step(q, thread, pos - 1) : TS_NO_POS;
	return pos;
}

static void count_block(struct ts_entry_counts *c, uint32_t n_calls)
{
	struct ts_call calls[TS_CALL_BLOCK];
	uint64_t last = last_caller(c, c->thread);
	uint32_t n = ts_query_call_block(c->ask->q, c->thread, c->ordinal, calls);

	for (uint32_t i = 0; i < n && calls[i].ordinal < n_calls; i++) {
		struct ts_entry_count *found;

		if (calls[i].kind == TS_CALL_SWITCH || last == TS_NO_POS || calls[i].pos > last)
			continue;
		found = find(c, calls[i].target);
		if (found)
			found->n--;
	}
	c->ordinal += n;
}

bool ts_entry_counts_run(struct ts_entry_counts *c, struct ts_budget *budget)
{
	struct ts_query *q = c->ask->q;
	unsigned n = 0;

	while (!c->has_executed) {
		if (!ts_budget_take(budget))
			return false;
		c->has_executed = !ts_query_each_executed(q, 0, c->ask->n_steps, &c->executed, add_executed, c);
	}
	while (c->thread < ts_query_n_threads(q)) {
		uint32_t n_calls = ts_query_process(q, c->thread) == c->process
					   ? ts_query_n_calls_before(q, c->thread, c->ask->n_steps) : 0;

		if (c->ordinal >= n_calls) {
			c->thread++;
			c->ordinal = 0;
			continue;
		}
		if (n++ % BLOCKS_A_CHUNK == 0 && !ts_budget_take(budget))
			return false;
		count_block(c, n_calls);
	}
	return true;
}

bool ts_entry_counts_has_others(const struct ts_entry_counts *c, uint64_t addr)
{
	const struct ts_entry_count *found = find(c, addr);

	return !found || found->n;
}
