/* SPDX-License-Identifier: MIT */
#include "diff_case.h"

#include "src/ask/diff/diff.h"
#include "unit.h"

void open_script(struct opened *o)
{
	struct ts_error err = { 0 };

	o->tl = ts_timeline_new(&o->s->rec, NULL, &err);
	ck_assert_ptr_nonnull(o->tl);
	if (o->has_digests)
		ts_timeline_make_digests(o->tl);
	while (ts_timeline_grow(o->tl, UINT64_MAX, &err) == TS_MORE)
		;
	o->q = ts_query_new(o->tl, &err);
	ck_assert_ptr_nonnull(o->q);
}

void fini(struct opened *o)
{
	ts_query_free(o->q);
	ts_timeline_free(o->tl);
	script_free(o->s);
}

struct ts_rows *open_diff(struct ts_query *a, struct ts_query *b, bool is_rebased, struct ts_error *err)
{
	static struct ts_ask ask;
	const struct ts_diff_options options = { .is_rebased = is_rebased, .is_all = true };

	ask = (struct ts_ask){ .q = a, .n_steps = ts_query_end(a) };
	return ts_diff_open(&ask, b, &options, err);
}

bool next_row(struct ts_rows *d, struct ts_row *row)
{
	struct ts_error err = { 0 };
	enum ts_next got;

	do {
		struct ts_budget budget = { 3 };

		got = d->ops->next(d, row, &budget, &err);
	} while (got == TS_MORE);
	ck_assert_msg(got != TS_FAIL, "%s", err.text);
	return got == TS_ITEM;
}
