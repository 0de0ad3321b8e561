/* SPDX-License-Identifier: MIT */
#include "code_places.h"

#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "src/symbols/symbols.h"

#define N_KEPT 4096u /* a power of two */

/* Modules that are inspected for one of the budget. */
#define MODULES_A_BUDGET 256u

struct name {
	uint64_t pc;
	bool is_used;
	const char *function;            /* borrowed, NULL: none is known */
	const struct ts_code_line *line; /* the same */
};

struct module {
	uint64_t pc, from, until; /* positions at which this holds: from <= k < until */
	uint32_t process;
	uint64_t first;           /* the module's address */
	const char *name;         /* borrowed; NULL: no module, or one without a name */
	size_t i;                 /* the module's ordinal; with a name only */
};

struct ts_code_places {
	const struct ts_ask *ask;
	size_t n_modules;
	struct name names[N_KEPT];
	struct module modules[N_KEPT];
};

struct ts_code_places *ts_code_places_new(const struct ts_ask *ask, struct ts_error *err)
{
	struct ts_code_places *c = calloc(1, sizeof(*c));
	struct ts_module_info m;

	if (!c)
		return ts_no_memory(err, "places in the program");
	c->ask = ask;
	while (ts_query_module(ask->q, c->n_modules, &m))
		c->n_modules++;
	return c;
}

void ts_code_places_free(struct ts_code_places *c)
{
	free(c);
}

static unsigned slot_of(uint64_t pc)
{
	return (unsigned)((pc ^ pc >> 12) % N_KEPT);
}

/* ------------------------------------------------------------------------------------------------- modules */

static const char *last_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *back = path ? strrchr(path, '\\') : NULL;

	slash = back && (!slash || back > slash) ? back : slash;
	return slash && slash[1] ? slash + 1 : path;
}

/* Of several modules with the byte the one that appeared last has it. */
static void find_module(const struct ts_code_places *c, struct module *k, uint64_t pos)
{
	struct ts_module_info m;

	k->name = NULL;
	k->from = 0;
	k->until = TS_NO_POS;
	for (size_t i = 0; i < c->n_modules && ts_query_module(c->ask->q, i, &m); i++) {
		if (m.process != k->process || k->pc < m.first || k->pc > m.last)
			continue;
		if (m.from <= pos && pos < m.until) {
			k->name = last_name(m.file);
			k->first = m.first;
			k->i = i;
		}
		/* what holds here ends where one of these begins or ends */
		for (unsigned edge = 0; edge < 2; edge++) {
			uint64_t at = edge ? m.until : m.from;

			if (at <= pos && at > k->from)
				k->from = at;
			if (at > pos && at < k->until)
				k->until = at;
		}
	}
}

static const struct module *module_of(struct ts_code_places *c, uint64_t pos, uint32_t process, uint64_t pc,
				      struct ts_budget *budget)
{
	struct module *k = &c->modules[slot_of(pc)];

	if (!k->until || k->pc != pc || k->process != process || pos < k->from || pos >= k->until) {
		k->pc = pc;
		k->process = process;
		find_module(c, k, pos);
		for (size_t n = c->n_modules / MODULES_A_BUDGET; n && ts_budget_take(budget); n--)
			continue;
	}
	return k;
}

size_t ts_code_places_module_number(struct ts_code_places *c, uint64_t pos, uint32_t process, uint64_t pc,
				    struct ts_budget *budget)
{
	const struct module *k = module_of(c, pos, process, pc, budget);

	return k->name ? k->i + 1 : 0;
}

void ts_code_places_module(struct ts_code_places *c, struct ts_row *row, unsigned i, uint64_t pos, uint32_t process,
			   uint64_t pc, struct ts_budget *budget)
{
	const struct module *k = module_of(c, pos, process, pc, budget);

	if (!k->name)
		return;
	ts_row_text(row, i, k->name);
	ts_row_addr(row, i + 1, pc - k->first);
}

/* --------------------------------------------------------------------------------------------------- names */

void ts_code_places_line(struct ts_code_places *c, struct ts_row *row, unsigned i, uint64_t pc)
{
	struct name *k = &c->names[slot_of(pc)];

	if (!c->ask->symbols)
		return;
	if (!k->is_used || k->pc != pc) {
		k->pc = pc;
		k->is_used = true;
		k->function = ts_ask_function(c->ask, pc);
		k->line = ts_code_lines_at(ts_symbols_lines(c->ask->symbols), pc);
	}
	ts_row_text(row, i, k->function);
	if (!k->line)
		return;
	ts_row_text(row, i + 1, k->line->file);
	ts_row_number(row, i + 2, k->line->line);
}
