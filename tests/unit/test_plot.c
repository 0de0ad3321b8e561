/* SPDX-License-Identifier: MIT */
/*
 * The data of pictures of random recordings, counted again from all steps.
 *
 * The model has tiny chunks here: a range of up to 512 steps is decoded, a longer one is drawn from the
 * index.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask_text.h"
#include "src/plot/plot.h"
#include "src/query/search/call_list.h"
#include "src/trace/chunk.h"

#define N_STEPS 2000u

static const struct ts_plot_bounds bounds = {
	.max_cols = 150,
	.max_code_rows = 40,
	.max_data_rows = 30,
	.max_filled = 2000,
	.max_calls = 5000,
	.max_marks = 20,
};

static struct script *s;
static struct ask_text a;
static struct ts_plot p;

static void draw(uint64_t seed, uint64_t from, uint64_t to, const struct ts_plot_bounds *b)
{
	s = script_random_new(seed, N_STEPS);
	ask_text_init(&a, &s->rec);
	from = from < a.ask.n_steps ? from : 0;
	ck_assert_msg(ts_plot_init(&p, &a.ask, from, to < a.ask.n_steps ? to : a.ask.n_steps, b, NULL, &a.err), "%s", a.err.text);
}

static void finish(void)
{
	ts_plot_fini(&p);
	ask_text_fini(&a);
	script_free(s);
}

/* Take one off the cell of an address, which must not be empty. */
static void take_off(struct ts_grid *g, const struct ts_areas *areas, uint64_t pos, uint32_t process,
		     uint64_t addr)
{
	uint32_t row = ts_areas_row(areas, process, addr), *cell;

	ck_assert_uint_lt(row, g->n_rows);
	cell = &g->cells[(size_t)ts_grid_col(g, pos) * g->n_rows + row];
	ck_assert_uint_gt(*cell, 0);
	--*cell;
}

static uint32_t process_of(uint32_t thread)
{
	return s->rec.threads[thread].process;
}

/* Each step counts once at its address, and nothing else does. */
static void check_code(void)
{
	for (uint64_t pos = p.from; pos < p.to; pos++) {
		const struct ts_step *step = &s->steps.steps[pos];

		if (step->pc != TS_NO_PC)
			take_off(&p.code, &p.code_areas, pos, process_of(step->thread), step->pc);
	}
	ck_assert_uint_eq(ts_grid_n_filled(&p.code), 0);
}

/* Every access is in a cell that is not empty; what no instruction did is no access. */
static void check_accesses(enum ts_effect_kind kind, const struct ts_grid *g)
{
	for (uint64_t pos = p.from; pos < p.to; pos++) {
		const struct ts_step *step = &s->steps.steps[pos];
		uint32_t thread = step->thread;

		for (uint32_t i = 0; i < step->n_effects; i++) {
			const struct ts_effect *fx = &s->steps.effects[step->first + i];
			uint32_t row;

			thread = fx->kind == TS_FX_THREAD ? fx->item : thread;
			if (fx->kind != kind || !fx->len || fx->is_hidden)
				continue;
			row = ts_areas_row(&p.data_areas, process_of(thread), fx->addr);
			ck_assert_uint_lt(row, g->n_rows);
			/* what the index has of the chunk stands at the chunk's begin */
			ck_assert_uint_gt(g->cells[(size_t)ts_grid_col(g, pos) * g->n_rows + row], 0);
		}
	}
}

/* Was a byte of the row accessed by a step of the column's chunks, or changed otherwise? */
static bool is_touched(const struct ts_grid *g, uint32_t col, uint32_t row, bool is_read)
{
	uint64_t first = ts_grid_pos(g, col), end = ts_grid_pos(g, col + 1);

	first = p.is_exact ? first : first / TS_CHUNK_STEPS * TS_CHUNK_STEPS;
	for (uint64_t pos = first; pos < end && pos < N_STEPS; pos++) {
		const struct ts_step *step = &s->steps.steps[pos];
		uint32_t thread = step->thread;

		for (uint32_t i = 0; i < step->n_effects; i++) {
			const struct ts_effect *fx = &s->steps.effects[step->first + i];
			bool counts = (fx->kind == TS_FX_READ && is_read && !fx->is_hidden) ||
				      (fx->kind == TS_FX_WRITE && !is_read) ||
				      (!p.is_exact && !is_read && fx->kind >= TS_FX_WRITE &&
				       fx->kind <= TS_FX_FORGET);

			thread = fx->kind == TS_FX_THREAD ? fx->item : thread;
			if (!counts || !fx->len)
				continue;
			for (uint64_t k = 0; k < p.data_areas.n; k++) {
				const struct ts_area *x = &p.data_areas.items[k];
				uint64_t lo, hi;

				if (row < x->row || row >= x->row + x->n_rows ||
				    x->process != process_of(thread))
					continue;
				lo = x->first + (row - x->row) * x->step;
				hi = x->last - lo < x->step ? x->last : lo + x->step - 1;
				/* lines of 16 bytes are what the index has */
				if ((fx->addr & ~UINT64_C(15)) <= hi && ((fx->addr + fx->len - 1) | 15) >= lo)
					return true;
			}
		}
	}
	return false;
}

static void check_memory(const struct ts_grid *g, bool is_read)
{
	check_accesses(is_read ? TS_FX_READ : TS_FX_WRITE, g);
	for (uint32_t col = 0; col < g->n_cols; col++) {
		for (uint32_t row = 0; row < g->n_rows; row++) {
			if (g->cells[(size_t)col * g->n_rows + row])
				ck_assert_msg(is_touched(g, col, row, is_read), "column %u, row %u", col,
					      row);
		}
	}
}

static void check_threads(void)
{
	for (uint32_t col = 0; col < p.threads.n_cols; col++) {
		for (uint32_t row = 0; row < p.threads.n_rows; row++) {
			bool ran = false;

			for (uint64_t pos = ts_grid_pos(&p.threads, col);
			     pos < ts_grid_pos(&p.threads, col + 1); pos++)
				ran |= pos >= p.from && pos < p.to && s->steps.steps[pos].thread == row;
			ck_assert_int_eq(p.threads.cells[(size_t)col * p.threads.n_rows + row] != 0, ran);
		}
	}
}

static void check_marks(enum ts_mark_kind kind, enum ts_event_kind event)
{
	const struct ts_mark_list *l = &p.marks.kinds[kind];
	uint64_t n = 0, first = TS_NO_POS;

	for (uint64_t pos = p.from; pos < p.to; pos++) {
		const struct ts_step *step = &s->steps.steps[pos];

		for (uint32_t i = 0; i < step->n_effects; i++) {
			const struct ts_effect *fx = &s->steps.effects[step->first + i];

			if (fx->kind != TS_FX_EVENT || s->steps.events[fx->item].kind != event)
				continue;
			n++;
			first = first == TS_NO_POS ? pos : first;
		}
	}
	ck_assert_uint_le(l->n, bounds.max_marks);
	ck_assert(!n == !l->n);
	if (n)
		ck_assert_uint_eq(l->items[0].pos, first);
	for (size_t i = 0; i < l->n; i++) {
		ck_assert(!i || l->items[i - 1].pos < l->items[i].pos || l->items[i].n == 1);
		n -= l->items[i].n;
	}
	ck_assert_uint_eq(n, 0);
}

/* The deepest bar at each position is the innermost call there. */
static void check_calls(void)
{
	ck_assert_uint_eq(p.calls.min_len, 0);
	for (unsigned i = 0; i < p.calls.n_threads; i++) {
		const struct ts_call_thread *x = &p.calls.threads[i];

		for (uint64_t pos = p.from; pos < p.to; pos++) {
			struct ts_call call;
			bool is_open = ts_query_innermost_call(a.q, x->thread, pos, &call), has_bar = false;

			if (!is_open)
				continue;
			ck_assert_uint_ge(x->depths[ts_grid_col(&p.code, pos)], call.depth);
			for (size_t k = 0; k < x->n; k++)
				has_bar |= x->bars[k].depth == call.depth && pos >= x->bars[k].from &&
					   pos < x->bars[k].until;
			ck_assert(has_bar || call.depth > TS_CALL_DEPTHS);
		}
	}
}

static void check_all(void)
{
	check_marks(TS_MARK_SYSCALL, TS_EV_SYSCALL);
	check_marks(TS_MARK_SIGNAL, TS_EV_SIGNAL);
	check_marks(TS_MARK_GAP, TS_EV_GAP);
	check_threads();
	check_calls();
	check_memory(&p.writes, false);
	check_memory(&p.reads, true);
	check_code();
}

START_TEST(a_long_range_is_drawn_from_the_index)
{
	draw((uint64_t)_i, (uint64_t)_i * 37 % 700, N_STEPS - (uint64_t)_i * 11 % 300, &bounds);
	ck_assert(!p.is_exact);
	ck_assert(p.code.n_cols <= bounds.max_cols && ts_grid_n_filled(&p.code) <= bounds.max_filled);
	check_all();
	finish();
}
END_TEST

START_TEST(a_short_range_is_decoded)
{
	uint64_t from = (uint64_t)_i * 83 % 1500;

	draw((uint64_t)_i, from, from + 1 + (uint64_t)_i * 41 % 400, &bounds);
	ck_assert(p.is_exact);
	check_all();
	finish();
}
END_TEST

/* A column for each position: it has the position's own pc and function. */
START_TEST(single_positions_have_their_own_names)
{
	draw(3, 100, 220, &bounds);
	ck_assert_uint_eq(p.code.shift, 0);
	for (uint64_t pos = p.from; pos < p.to; pos++)
		ck_assert_uint_eq(p.pcs[ts_grid_col(&p.code, pos)], s->steps.steps[pos].pc);
	finish();
}
END_TEST

/* One function is all code of process 0, and has most steps of each column that has any. */
START_TEST(columns_are_named_by_most_of_their_steps)
{
	s = script_random_new(5, N_STEPS);
	ask_text_init(&a, &s->rec);
	ck_assert(ts_symbols_add(a.symbols, 0, UINT64_MAX, 0, "<all>", true));
	ck_assert(ts_plot_init(&p, &a.ask, 0, a.ask.n_steps, &bounds, NULL, &a.err));
	for (uint32_t col = 0; col < p.code.n_cols; col++) {
		uint64_t n = 0;

		for (uint32_t row = 0; row < p.code.n_rows; row++)
			n += p.code.cells[(size_t)col * p.code.n_rows + row];
		ck_assert_int_eq(p.functions[col] != TS_NO_LABEL, n != 0);
		if (n)
			ck_assert_str_eq(ts_labels_text(&p.labels, p.functions[col]), "<all>");
	}
	finish();
}
END_TEST

/* With room for a few bars the longest are kept: none that was left out is as long as min_len. */
START_TEST(the_longest_calls_are_kept)
{
	struct ts_plot_bounds few = bounds;
	uint64_t n_all = 0, n_long = 0, n_kept = 0, min_len;

	few.max_calls = 8;
	draw((uint64_t)_i, 0, N_STEPS, &few);
	min_len = p.calls.min_len;
	for (unsigned i = 0; i < p.calls.n_threads; i++)
		n_kept += p.calls.threads[i].n;
	finish();
	draw((uint64_t)_i, 0, N_STEPS, &bounds);
	for (unsigned i = 0; i < p.calls.n_threads; i++) {
		for (size_t k = 0; k < p.calls.threads[i].n; k++) {
			n_all++;
			n_long += p.calls.threads[i].bars[k].until - p.calls.threads[i].bars[k].from >=
				  min_len;
		}
	}
	finish();
	ck_assert_uint_le(n_kept, few.max_calls);
	ck_assert_uint_eq(n_kept, n_long);
	ck_assert(min_len || n_all == n_kept);
}
END_TEST

/* Neither drawing has a tag of a name in it. */
START_TEST(names_are_text_in_both_drawings)
{
	static const char hostile[] = "</script><script>alert(1)</script></title><b onload=\"x\">&\x01\xff";
	struct ts_buf out;

	s = script_random_new(6, N_STEPS);
	ask_text_init(&a, &s->rec);
	ck_assert(ts_symbols_add(a.symbols, 0, UINT64_MAX, 0, hostile, true));
	ck_assert(ts_plot_init(&p, &a.ask, 0, a.ask.n_steps, &bounds, NULL, &a.err));
	ts_buf_init(&out);
	for (int is_svg = 0; is_svg < 2; is_svg++) {
		const char *text, *name;

		ts_buf_reset(&out);
		(is_svg ? ts_svg_put : ts_html_put)(&out, &p, hostile);
		ck_assert(ts_buf_ok(&out));
		text = ts_buf_text(&out);
		name = strstr(text, "alert(1)");
		ck_assert_ptr_nonnull(name);
		for (; name; name = strstr(name + 1, "alert(1)"))
			ck_assert(name[-1] == ';' || !strncmp(name - 6, "\\u003e", 6));
		ck_assert_ptr_null(strstr(text, "<b onload"));
		ck_assert_ptr_null(strchr(text, '\x01'));
		ck_assert_ptr_null(strchr(text, '\xff'));
	}
	ts_buf_fini(&out);
	finish();
}
END_TEST

/* What stands left of the axis has room there. */
START_TEST(long_names_do_not_leave_the_picture)
{
	static const char begin[] = "class=\"owner\">";
	struct ts_buf out;
	unsigned n = 0;

	s = script_random_new(6, N_STEPS);
	ask_text_init(&a, &s->rec);
	ck_assert(ts_plot_init(&p, &a.ask, 0, a.ask.n_steps, &bounds, NULL, &a.err));
	ck_assert(p.code_areas.n && p.data_areas.n);
	p.code_areas.items[0].label = ts_labels_add(&p.labels, "_json.cpython-311-x86_64-linux-gnu.so");
	/* the 24th byte, the first that is left out, is within a character */
	p.data_areas.items[0].label =
		ts_labels_add(&p.labels, "1234567890123456789012\xc3\xa4\xc3\xa4\xc3\xa4");
	ts_buf_init(&out);
	ts_svg_put(&out, &p, "names");
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&out), ">_json.cpython-311-x86_6...</text>"));
	for (const char *at = ts_buf_text(&out); (at = strstr(at, begin)); n++) {
		at += strlen(begin);
		ck_assert_uint_le(strcspn(at, "<"), 26);
	}
	ck_assert_uint_ge(n, 3);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&out), ">1234567890123456789012...</text>"));
	ts_buf_fini(&out);
	finish();
}
END_TEST

/* Cells of random levels, as many as may be, far from each other. */
static void fill(struct ts_grid *g, struct script_random *rnd)
{
	ck_assert(ts_grid_init(g, 0, UINT64_C(1) << 40, 0, ts_html_bounds.max_cols, 100));
	while (ts_grid_n_filled(g) < ts_html_bounds.max_filled) {
		for (unsigned i = 0; i < 1000; i++)
			g->cells[script_below(rnd, (uint64_t)g->n_cols * g->n_rows)] =
				(uint32_t)script_random(rnd);
	}
	ts_grid_fit(g, ts_html_bounds.max_filled);
}

/* All that a page can have at once, in numbers with many digits. */
START_TEST(a_page_at_its_bounds_is_below_two_megabytes)
{
	struct script_random rnd = { 1 };
	struct ts_call_thread *x = &p.calls.threads[0];
	struct ts_buf out;
	char name[200];

	p = (struct ts_plot){ .to = UINT64_C(1) << 40, .calls = { .n_threads = 1 } };
	ck_assert(ts_labels_init(&p.labels));
	for (unsigned i = 0; i < TS_MAX_LABELS; i++) {
		snprintf(name, sizeof(name), "<%u>%090u", i, i);
		ts_labels_add(&p.labels, name);
	}
	ck_assert(p.labels.is_full);
	fill(&p.code, &rnd);
	fill(&p.writes, &rnd);
	fill(&p.reads, &rnd);
	p.functions = calloc(p.code.n_cols, sizeof(*p.functions));
	x->depths = calloc(p.code.n_cols, sizeof(*x->depths));
	x->n = ts_html_bounds.max_calls;
	x->bars = calloc(x->n, sizeof(*x->bars));
	ck_assert(p.functions && x->depths && x->bars);
	for (uint32_t i = 0; i < p.code.n_cols; i++) {
		p.functions[i] = (uint32_t)script_below(&rnd, p.labels.n);
		x->depths[i] = (uint32_t)script_below(&rnd, 100000);
	}
	for (size_t i = 0; i < x->n; i++)
		x->bars[i] = (struct ts_call_bar){
			.from = i << 26, .until = i << 27, .depth = 30, .label = p.labels.n - 1
		};
	for (unsigned kind = 0; kind < TS_N_MARK_KINDS; kind++) {
		struct ts_mark_list *l = &p.marks.kinds[kind];

		l->n = ts_html_bounds.max_marks;
		l->items = calloc(l->n, sizeof(*l->items));
		ck_assert_ptr_nonnull(l->items);
		for (size_t i = 0; i < l->n; i++)
			l->items[i] =
				(struct ts_timeline_mark){ (UINT64_C(1) << 40) - i, 1000000, p.labels.n - 1 };
	}
	ts_buf_init(&out);
	ts_html_put(&out, &p, "title");
	ck_assert(ts_buf_ok(&out));
	ck_assert_uint_gt(out.len, 1000000);
	ck_assert_uint_lt(out.len, 2000000);
	ts_buf_fini(&out);
	ts_plot_fini(&p);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("plot");
	TCase *tc = tcase_create("plot");

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, a_long_range_is_drawn_from_the_index, 0, 20);
	tcase_add_loop_test(tc, a_short_range_is_decoded, 0, 20);
	tcase_add_test(tc, single_positions_have_their_own_names);
	tcase_add_test(tc, columns_are_named_by_most_of_their_steps);
	tcase_add_loop_test(tc, the_longest_calls_are_kept, 0, 10);
	tcase_add_test(tc, names_are_text_in_both_drawings);
	tcase_add_test(tc, long_names_do_not_leave_the_picture);
	tcase_add_test(tc, a_page_at_its_bounds_is_below_two_megabytes);
	suite_add_tcase(suite, tc);
	return suite;
}
