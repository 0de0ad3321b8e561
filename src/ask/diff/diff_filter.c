/* SPDX-License-Identifier: MIT */
/*
 * Which differences are rows: by kind, position and function.
 */
#include "diff_parts.h"

#include <fnmatch.h>
#include <string.h>

#include "src/ask/verbs/cells.h"

static const struct {
	const char *name;
	unsigned kind;
} kinds[] = { { "path", TS_DIFF_PATHS }, { "register", TS_DIFF_REGISTERS }, { "memory", TS_DIFF_MEMORY } };

static unsigned kind_named(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strlen(kinds[i].name) == len && !memcmp(kinds[i].name, text, len))
			return kinds[i].kind;
	}
	return 0;
}

bool ts_diff_parse_kinds(const char *text, unsigned *mask)
{
	*mask = 0;
	for (;; text++) {
		size_t len = strcspn(text, ",");
		unsigned kind = kind_named(text, len);

		if (!kind)
			return false;
		*mask |= kind;
		text += len;
		if (!*text)
			return true;
	}
}

bool ts_diff_item_pc(struct ts_diff *d, const struct ts_diff_item *x, uint64_t *pc, struct ts_error *err)
{
	bool is_of_a = x->pos < x->end;
	const struct ts_step *st;
	const struct ts_steps *batch;

	*pc = TS_NO_PC;
	if (!is_of_a && x->pos2 >= x->end2)
		return true;
	st = ts_query_step(is_of_a ? d->a : d->b, is_of_a ? x->pos : x->pos2, &batch, err);
	if (st && st->pc != TS_NO_PC)
		*pc = is_of_a ? st->pc : ts_diff_to_a(d, st->pc);
	return st != NULL;
}

/* A C++ function matches by its name alone, too: `ns::f` is `ns::f(int)`. */
static bool is_function_named(const char *name, const char *pattern)
{
	char bare[256];
	size_t len = name ? strcspn(name, "(") : 0;

	if (!name)
		return false;
	if (!fnmatch(pattern, name, 0))
		return true;
	if (!name[len] || len >= sizeof(bare))
		return false;
	memcpy(bare, name, len);
	bare[len] = 0;
	return !fnmatch(pattern, bare, 0);
}

bool ts_diff_is_wanted(struct ts_diff *d, const struct ts_diff_item *x, bool *is_wanted, struct ts_error *err)
{
	const struct ts_diff_options *o = &d->options;
	unsigned kind = x->is_path ? TS_DIFF_PATHS : x->is_reg ? TS_DIFF_REGISTERS : TS_DIFF_MEMORY;
	uint64_t pc;

	*is_wanted = (!o->kinds || o->kinds & kind) && (!o->has_range || (x->pos >= o->from && x->pos < o->to));
	if (!*is_wanted || !o->function)
		return true;
	if (!ts_diff_item_pc(d, x, &pc, err))
		return false;
	*is_wanted = pc != TS_NO_PC && is_function_named(ts_ask_function(d->rows.ask, pc), o->function);
	return true;
}

bool ts_diff_filter(struct ts_diff *d, struct ts_error *err)
{
	size_t n = d->at;

	for (size_t i = d->at; i < d->n; i++) {
		bool is_wanted;

		if (!ts_diff_is_wanted(d, &d->items[i], &is_wanted, err))
			return false;
		if (is_wanted)
			d->items[n++] = d->items[i];
	}
	d->n = n;
	return true;
}
