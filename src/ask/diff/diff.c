/* SPDX-License-Identifier: MIT */
#include "diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff_parts.h"
#include "src/ask/verbs/code_places.h"

enum column {
	COL_POSITION,
	COL_END,
	COL_POSITION2,
	COL_END2,
	COL_KIND,
	COL_FUNCTION,
	COL_FILE,
	COL_LINE,
	COL_WHAT,
	COL_OLD,
	COL_NEW,
};

static const struct ts_column columns[] = {
	[COL_POSITION] = { .name = "position", .type = TS_COLUMN_NUMBER },
	[COL_END] = { .name = "end", .type = TS_COLUMN_NUMBER },
	[COL_POSITION2] = { .name = "position2", .type = TS_COLUMN_NUMBER },
	[COL_END2] = { .name = "end2", .type = TS_COLUMN_NUMBER },
	[COL_KIND] = { .name = "kind", .type = TS_COLUMN_TEXT },
	[COL_FUNCTION] = { .name = "function", .type = TS_COLUMN_TEXT },
	[COL_FILE] = { .name = "file", .type = TS_COLUMN_TEXT },
	[COL_LINE] = { .name = "line", .type = TS_COLUMN_NUMBER },
	[COL_WHAT] = { .name = "what", .type = TS_COLUMN_TEXT },
	[COL_OLD] = { .name = "old", .type = TS_COLUMN_VALUE },
	[COL_NEW] = { .name = "new", .type = TS_COLUMN_VALUE },
};

const struct ts_verb ts_verb_diff = {
	.name = "diff",
	.help = "Show where two recordings of one program differ.",
	TS_COLUMNS(columns),
};

/* ------------------------------------------------------------------------------------------------- making */

static int16_t *make_reg_at(const struct ts_regset *set, const struct ts_diff_reg *regs, unsigned n,
			    bool is_b)
{
	int16_t *at = malloc((set->g_len + 1) * sizeof(*at));

	for (uint32_t i = 0; at && i < set->g_len; i++)
		at[i] = -1;
	for (unsigned i = 0; at && i < n; i++) {
		const struct ts_reg *r = is_b ? regs[i].b : regs[i].a;

		for (unsigned k = 0; k < r->len; k++)
			at[r->off + k] = (int16_t)i;
	}
	return at;
}

/* Registers that both have, the pc left out. */
static bool make_regs(struct ts_diff *d, struct ts_error *err)
{
	const struct ts_regset *a = ts_query_regset(d->a), *b = ts_query_regset(d->b);

	d->regs = malloc((a->n_regs + 1) * sizeof(*d->regs));
	d->touched = calloc(a->n_regs + 1, sizeof(*d->touched));
	d->list = malloc((a->n_regs + 1) * sizeof(*d->list));
	if (!d->regs || !d->touched || !d->list)
		return ts_diff_no_memory(err);
	for (unsigned i = 0; i < a->n_regs && i < INT16_MAX; i++) {
		int k = (int)i == a->pc ? -1 : ts_regset_find(b, a->regs[i].name);

		if (k >= 0 && b->regs[k].len == a->regs[i].len && b->regs[k].len <= MAX_REG_LEN)
			d->regs[d->n_regs++] = (struct ts_diff_reg){ &a->regs[i], &b->regs[k] };
	}
	d->reg_at_a = make_reg_at(a, d->regs, d->n_regs, false);
	d->reg_at_b = make_reg_at(b, d->regs, d->n_regs, true);
	return (d->reg_at_a && d->reg_at_b) || ts_diff_no_memory(err);
}

static bool side_init(struct ts_diff_side *s, struct ts_query *q, uint32_t thread, const int16_t *reg_at,
		      struct ts_error *err)
{
	size_t len = ts_query_regset(q)->g_len;

	*s = (struct ts_diff_side){ .q = q, .thread = thread, .pos = TS_NO_POS, .reg_at = reg_at };
	s->has_thread = thread < ts_query_n_threads(q);
	s->data = calloc(3, len + 1);
	s->known = s->data ? s->data + len : NULL;
	s->is_doubtful = s->data ? s->data + 2 * len : NULL;
	s->end = s->has_thread ? 0 : ts_query_end(q);
	if (s->has_thread)
		s->pos = ts_query_next_step(q, thread, 0);
	return s->data || ts_diff_no_memory(err);
}

static bool make_lanes(struct ts_diff *d, struct ts_error *err)
{
	uint32_t a = ts_query_n_threads(d->a), b = ts_query_n_threads(d->b);

	d->n_lanes = a > b ? a : b;
	d->lanes = calloc(d->n_lanes + 1, sizeof(*d->lanes));
	if (!d->lanes)
		return ts_diff_no_memory(err);
	for (uint32_t i = 0; i < d->n_lanes; i++) {
		if (!side_init(&d->lanes[i].a, d->a, i, d->reg_at_a, err) ||
		    !side_init(&d->lanes[i].b, d->b, i, d->reg_at_b, err))
			return false;
	}
	return true;
}

/* -------------------------------------------------------------------------------------------------- lanes */

/* The state before the threads' first steps. */
static bool begin(struct ts_diff *d, struct ts_diff_lane *l, struct ts_error *err)
{
	l->is_begun = true;
	if (l->a.pos == TS_NO_POS || l->b.pos == TS_NO_POS)
		return true;
	l->a.slice_end = ts_query_slice_end(d->a, l->a.pos);
	l->b.slice_end = ts_query_slice_end(d->b, l->b.pos);
	if (!ts_diff_read_regs(&l->a, l->a.pos, err) || !ts_diff_read_regs(&l->b, l->b.pos, err))
		return false;
	for (unsigned i = 0; i < d->n_regs; i++) {
		if (!ts_diff_compare_reg(d, l, &d->regs[i], 0, err))
			return false;
	}
	return true;
}

/* Other threads may run before the thread's next step, and write its registers. */
static void advance(struct ts_diff_side *s)
{
	s->end = s->pos + 1;
	s->pos = ts_diff_step_after(s, s->pos);
	if (s->pos != s->end)
		memset(s->is_doubtful, 1, ts_query_regset(s->q)->g_len);
}

/* The lane's position among those of A. */
static uint64_t stands_at(const struct ts_diff_lane *l)
{
	if (l->apart.is_there)
		return l->apart.a;
	return l->a.pos == TS_NO_POS ? l->a.end : l->a.pos;
}

/* The lane with the lowest position, and the position up to which it is the lowest: so the rows ascend. */
static void choose_lane(struct ts_diff *d)
{
	d->lane = NULL;
	d->limit = TS_NO_POS;
	for (uint32_t i = 0; i < d->n_lanes; i++) {
		struct ts_diff_lane *l = &d->lanes[i];

		if (l->is_over)
			continue;
		if (!d->lane || stands_at(l) < stands_at(d->lane)) {
			d->limit = d->lane ? stands_at(d->lane) : TS_NO_POS;
			d->lane = l;
		} else if (stands_at(l) < d->limit) {
			d->limit = stands_at(l);
		}
	}
}

/* Is it the chunk, and is it still there? */
static bool is_held(const struct ts_diff_held *held, const struct ts_query *q, uint64_t chunk)
{
	return held->steps && held->chunk == chunk && held->epoch == ts_query_epoch(q);
}

/* The side's next step, to be examined before anything else is asked of the recordings. */
static bool find_step(struct ts_diff_side *s, struct ts_diff_held *held, struct ts_diff_acting *x,
		      struct ts_error *err)
{
	uint64_t chunk = s->pos / TS_CHUNK_STEPS;

	if (s->pos == TS_NO_POS)
		return true;
	if (!is_held(held, s->q, chunk)) {
		if (!ts_query_step_whole(s->q, s->pos, &held->steps, err)) {
			held->steps = NULL;
			return false;
		}
		held->chunk = chunk;
		held->epoch = ts_query_epoch(s->q);
	}
	x->batch = held->steps;
	x->step = &held->steps->steps[s->pos % TS_CHUNK_STEPS];
	return true;
}

/* Compare the lane's next steps. */
static bool run_lane(struct ts_diff *d, struct ts_diff_lane *l, struct ts_error *err)
{
	struct ts_diff_acting a = { 0 }, b = { .is_of_b = true };

	if (!l->is_begun)
		return begin(d, l, err);
	if (l->apart.is_there) {
		ts_diff_distinguish(d, l);
		return true;
	}
	if (l->a.pos == TS_NO_POS && l->b.pos == TS_NO_POS) {
		l->is_over = true;
		return true;
	}
	if (!find_step(&l->a, &d->held_a, &a, err) || !find_step(&l->b, &d->held_b, &b, err))
		return false;
	if (!a.step || !b.step || a.step->pc != ts_diff_to_a(d, b.step->pc))
		return ts_diff_part(d, l, err);
	if (!ts_diff_compare_step(d, l, &a, &b, err) || !ts_diff_sift(d, l, err))
		return false;
	advance(&l->a);
	advance(&l->b);
	return true;
}

/* Go over chunks that are the same, if any begin here. */
static bool skip(struct ts_diff *d, bool *is_skipped, struct ts_error *err)
{
	*is_skipped = false;
	if (!d->digests.a || d->lane->a.pos % TS_CHUNK_STEPS || !d->lane->is_begun || d->lane->apart.is_there)
		return true;
	if (!ts_diff_skip(d, d->lane, is_skipped, err))
		return false;
	if (*is_skipped)
		d->lane = NULL;
	return true;
}

/* Go on until there is a difference. */
static enum ts_next run_lanes(struct ts_diff *d, struct ts_budget *budget, struct ts_error *err)
{
	bool is_skipped;

	while (!d->n) {
		if (!d->lane || d->lane->is_over || stands_at(d->lane) > d->limit)
			choose_lane(d);
		if (!d->lane || (d->options.has_range && stands_at(d->lane) >= d->options.to))
			return TS_END;
		if (d->n_looked++ % TS_CHUNK_STEPS == 0 && !ts_budget_take(budget))
			return TS_MORE;
		d->rows.at = stands_at(d->lane);
		if (!skip(d, &is_skipped, err))
			return TS_FAIL;
		if (is_skipped)
			continue;
		if (!run_lane(d, d->lane, err))
			return TS_FAIL;
	}
	return TS_ITEM;
}

/* --------------------------------------------------------------------------------------------------- rows */

static bool put_row(struct ts_diff *d, const struct ts_diff_item *x, struct ts_row *row, struct ts_error *err)
{
	bool is_big = ts_query_regset(d->a)->arch->is_big_endian;
	bool is_number = x->is_reg || x->len == 1 || x->len == 2 || x->len == 4 || x->len == 8;
	uint64_t pc;

	if (!ts_diff_item_pc(d, x, &pc, err))
		return false;
	ts_row_number(row, COL_POSITION, x->pos);
	ts_row_number(row, COL_END, x->end);
	ts_row_number(row, COL_POSITION2, x->pos2);
	ts_row_number(row, COL_END2, x->end2);
	ts_row_text(row, COL_KIND, x->is_path ? "path" : x->is_reg ? "register" : "memory");
	if (pc != TS_NO_PC)
		ts_code_places_line(d->code, row, COL_FUNCTION, pc);
	if (x->is_path)
		return true;
	ts_row_text(row, COL_WHAT, x->what);
	ts_row_value(row, COL_OLD, x->old, x->old_known, x->len, is_number, is_big);
	ts_row_value(row, COL_NEW, x->new, x->new_known, x->len, is_number, is_big);
	return true;
}

/* Go on until there are items that are wanted. */
static enum ts_next find_items(struct ts_diff *d, struct ts_budget *budget, struct ts_error *err)
{
	while (d->at == d->n) {
		enum ts_next got;

		d->at = d->n = 0;
		got = ts_diff_run_start(d, budget, err);
		if (got == TS_END)
			got = run_lanes(d, budget, err);
		if (d->is_failed)
			ts_diff_no_memory(err);
		if (got != TS_ITEM || d->is_failed)
			return d->is_failed ? TS_FAIL : got;
		if (!ts_diff_filter(d, err))
			return TS_FAIL;
	}
	return TS_ITEM;
}

static void put_note(struct ts_diff *d)
{
	bool is_many = d->noise.n_items > 1;
	char *note = d->rows.note;
	size_t size = sizeof(d->rows.note);
	int n = 0;

	if (d->noise.n_items)
		n = snprintf(note, size,
			     "%" PRIu64 " difference%s of clocks, random numbers, process numbers and moved addresses, and of what was made "
			     "of nothing else, %s left out; --all shows %s", d->noise.n_items, is_many ? "s" : "", is_many ? "are" : "is",
			     is_many ? "them" : "it");
	if (d->options.is_rebased && !d->rebase.has_names)
		snprintf(note + n, size - (size_t)n,
			 "%sno module or region has the same name in both recordings: --rebase moves the program by its first pc and the "
			 "stack by its first address", n ? "; " : "");
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct ts_diff *d = (struct ts_diff *)rows;
	enum ts_next got = find_items(d, budget, err);

	if (got == TS_ITEM && !put_row(d, &d->items[d->at++], row, err))
		return TS_FAIL;
	if (got == TS_END)
		put_note(d);
	return got;
}

static void close_diff(struct ts_rows *rows)
{
	struct ts_diff *d = (struct ts_diff *)rows;

	for (uint32_t i = 0; d->lanes && i < d->n_lanes; i++) {
		free(d->lanes[i].a.data);
		free(d->lanes[i].b.data);
	}
	ts_rebase_fini(&d->rebase);
	ts_diff_noise_fini(&d->noise);
	ts_code_places_free(d->code);
	free(d->lanes);
	free(d->items);
	free(d->suspects);
	free(d->start.pages);
	free(d->regs);
	free(d->touched);
	free(d->list);
	free(d->reg_at_a);
	free(d->reg_at_b);
}

static const struct ts_rows_ops ops = { sizeof(struct ts_diff), NULL, next, close_diff };

static bool rebase(struct ts_diff *d, struct ts_error *err)
{
	const struct ts_diff_options *o = &d->options;

	return (!o->program || ts_rebase_add_program(&d->rebase, d->a, d->b, o->program, o->program_base, err)) &&
	       ts_rebase_init(&d->rebase, d->a, d->b, err);
}

struct ts_rows *ts_diff_open(struct ts_ask *ask, struct ts_query *b, const struct ts_diff_options *options, struct ts_error *err)
{
	struct ts_query *a = ask->q;
	const struct ts_arch *x = ts_query_regset(a)->arch, *y = ts_query_regset(b)->arch;
	struct ts_diff *d = ts_rows_open(&ops, ask, NULL, false, err);

	if (!d)
		return NULL;
	d->a = a;
	d->b = b;
	d->options = *options;
	d->code = ts_code_places_new(ask, err);
	d->has_kernel = ts_query_facts(a)->has_syscalls && ts_query_facts(b)->has_syscalls;
	d->is_initial_sure = d->has_kernel || !strcmp(ts_query_facts(a)->format, ts_query_facts(b)->format);
	if (d->code && x != y)
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the recordings are of different processors: %s and %s",
			x->name, y->name);
	else if (d->code && make_regs(d, err) && ts_stack_moves_add(&d->stack, &d->rebase, a, b, err) &&
		 (!options->is_rebased || rebase(d, err)) && make_lanes(d, err) &&
		 ts_diff_noise_begin(d, options->is_all, err)) {
		d->has_moves = ts_rebase_is_any(&d->rebase);
		d->hides_moved = d->has_moves && (options->is_rebased || !d->noise.is_off);
		ts_diff_take_digests(d);
		return &d->rows;
	}
	ts_rows_close(&d->rows);
	return NULL;
}
