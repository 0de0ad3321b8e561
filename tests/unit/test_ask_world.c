/* SPDX-License-Identifier: MIT */
/*
 * threads, processes, modules, maps and events against the naive twin, on random recordings: what is there at a position, and
 * since when and until when, by a look at each position.
 */
#include "unit.h"

#include "ask_text.h"
#include "naive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_STEPS   200u
#define MAX_ROWS  2000u
#define MAX_CELLS 8u

static struct script *s;
static struct naive *nv;
static struct ask_text a;
static struct script_random rnd;
static char *cells[MAX_ROWS][MAX_CELLS];
static unsigned n_rows;

/* The rows of the answer, cell by cell. */
static void ask(const char *question)
{
	char *rest, *line;

	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	ts_buf_putc(&a.out, 0);
	rest = strchr((char *)a.out.data, '\n') + 1;
	n_rows = 0;
	while (n_rows < MAX_ROWS && (line = strsep(&rest, "\n")) && *line) {
		for (unsigned i = 0; i < MAX_CELLS; i++) {
			char *cell = strsep(&line, "\t");

			cells[n_rows][i] = cell ? cell : "";
		}
		n_rows++;
	}
	ck_assert_uint_eq(n_rows, a.n_rows);
}

static uint64_t number(unsigned row, unsigned cell)
{
	return *cells[row][cell] ? strtoull(cells[row][cell], NULL, 0) : TS_NO_POS;
}

static uint32_t thread_of(uint64_t tid)
{
	for (uint32_t i = 0; i < a.names.n_tids; i++) {
		if ((uint64_t)a.names.tids[i] == tid)
			return i;
	}
	ck_abort_msg("no thread %" PRIu64, tid);
	return 0;
}

/* What @is_there says of @user from @begin on, as positions; *end gets TS_NO_POS where it is there at the last one. */
static void find_span(bool (*is_there)(uint64_t pos, const void *user), const void *user, uint64_t *begin, uint64_t *end)
{
	*begin = 0;
	while (*begin <= N_STEPS && !is_there(*begin, user))
		++*begin;
	*end = N_STEPS + 1;
	while (*end > *begin && !is_there(*end - 1, user))
		--*end;
	*end = *end == N_STEPS + 1 ? TS_NO_POS : *end;
}

static bool is_alive(uint64_t pos, const void *user)
{
	return naive_is_alive(nv, pos, *(const uint32_t *)user);
}

static void check_threads(uint64_t at)
{
	char question[60];
	unsigned n = 0;

	snprintf(question, sizeof(question), "threads at %" PRIu64, at);
	ask(question);
	for (uint32_t i = 0; i < a.names.n_tids; i++)
		n += naive_is_alive(nv, at, i);
	ck_assert_uint_eq(n_rows, n);
	for (unsigned row = 0; row < n_rows; row++) {
		uint32_t thread = thread_of(number(row, 0));
		uint64_t begin, end, steps = 0;

		find_span(is_alive, &thread, &begin, &end);
		for (uint64_t pos = 0; pos < N_STEPS; pos++)
			steps += s->steps.steps[pos].thread == thread;
		ck_assert_int_eq(number(row, 1), a.names.pids[s->rec.threads[thread].process]);
		ck_assert_uint_eq(number(row, 2), begin);
		ck_assert_uint_eq(number(row, 3), end);
		ck_assert_uint_eq(number(row, 4), steps);
	}
}

static void check_processes(void)
{
	uint64_t all = 0;

	ask("processes in 0:end");
	for (unsigned row = 0; row < n_rows; row++) {
		uint64_t begin = TS_NO_POS;

		for (uint64_t pos = N_STEPS; pos-- > 0;) {
			uint32_t process = s->rec.threads[s->steps.steps[pos].thread].process;

			begin = (uint64_t)a.names.pids[process] == number(row, 0) ? pos : begin;
		}
		ck_assert_uint_eq(number(row, 1), begin);
		all += number(row, 3);
	}
	ck_assert_uint_eq(all, N_STEPS);
}

static bool is_loaded(uint64_t pos, const void *user)
{
	const struct naive_module *m = user, *found;
	uint32_t at = 0;

	while ((found = naive_next_module(nv, pos, m->process, &at))) {
		if (found == m)
			return true;
	}
	return false;
}

static void check_modules(uint64_t at)
{
	const struct naive_module *m;
	char question[60];
	uint32_t i = 0, process = s->rec.threads[naive_thread(nv, at)].process;
	unsigned n = 0;

	snprintf(question, sizeof(question), "modules at %" PRIu64, at);
	ask(question);
	for (; (m = naive_next_module(nv, at, process, &i)); n++) {
		uint64_t begin, end;
		unsigned row = 0;

		find_span(is_loaded, m, &begin, &end);
		while (row < n_rows && (number(row, 2) != m->first || number(row, 0) != begin))
			row++;
		ck_assert_msg(row < n_rows, "%s: 0x%" PRIx64, question, m->first);
		ck_assert_uint_eq(number(row, 1), end);
		ck_assert_uint_eq(number(row, 3), m->last - m->first + 1);
		ck_assert_str_eq(cells[row][4], m->file ? m->file : "");
	}
	ck_assert_uint_eq(n_rows, n);
}

/* The row of the map with the byte; n_rows if there is none. */
static unsigned map_of(uint64_t addr)
{
	unsigned row = 0;

	while (row < n_rows && addr - number(row, 2) >= number(row, 3))
		row++;
	return row;
}

static void check_byte(uint64_t at, uint32_t process, uint64_t addr)
{
	const struct naive_mapping *m = naive_mapping(nv, at, process, addr);
	unsigned row = map_of(addr);
	const char *file = m && m->file ? m->file : m && m->desc ? m->desc : "";

	ck_assert_msg((row < n_rows) == (m != NULL), "0x%" PRIx64 " at %" PRIu64, addr, at);
	if (!m)
		return;
	ck_assert_int_eq(cells[row][4][0], m->prot & TS_PROT_READ ? 'r' : '-');
	ck_assert_int_eq(cells[row][4][1], m->prot & TS_PROT_WRITE ? 'w' : '-');
	ck_assert_int_eq(cells[row][4][2], m->prot & TS_PROT_EXEC ? 'x' : '-');
	ck_assert_str_eq(cells[row][5], file);
	ck_assert_uint_le(number(row, 0), at);
	ck_assert_uint_gt(number(row, 1), at);
	ck_assert_ptr_nonnull(naive_mapping(nv, number(row, 0), process, addr));
	if (number(row, 1) != TS_NO_POS)
		ck_assert_ptr_ne(naive_mapping(nv, number(row, 1) - 1, process, addr), NULL);
}

static void check_maps(uint64_t at)
{
	uint32_t process = s->rec.threads[naive_thread(nv, at)].process;
	char question[60];

	snprintf(question, sizeof(question), "maps at %" PRIu64, at);
	ask(question);
	for (unsigned i = 0; i < SCRIPT_N_ARENAS; i++) {
		for (uint64_t addr = script_arenas[i].first;; addr++) {
			check_byte(at, process, addr);
			if (addr == script_arenas[i].last)
				break;
		}
	}
}

/* The steps that have an event of the kind, and whose the first one is. */
static void check_events(const char *name, enum ts_event_kind kind)
{
	char question[40];
	uint64_t step, from = 0;
	uint32_t thread;
	unsigned row = 0;

	snprintf(question, sizeof(question), "events %s", name);
	ask(question);
	for (; naive_next_event(nv, kind, from, &step, &thread); from = step + 1) {
		ck_assert_msg(row < n_rows, "%s: step %" PRIu64, name, step);
		ck_assert_uint_eq(number(row, 0), step);
		ck_assert_uint_eq(thread_of(number(row, 1)), thread);
		ck_assert_str_eq(cells[row][2], name);
		while (row < n_rows && number(row, 0) == step)
			row++;
	}
	ck_assert_uint_eq(row, n_rows);
}

START_TEST(the_world_is_that_of_the_twin)
{
	s = script_random_new((uint64_t)_i, N_STEPS);
	ck_assert_ptr_nonnull(s);
	ask_text_init(&a, s);
	nv = naive_new(s, false, false);
	ck_assert_ptr_nonnull(nv);
	rnd.state = (uint64_t)_i;
	for (unsigned i = 0; i < 8; i++) {
		uint64_t at = script_below(&rnd, N_STEPS + 1);

		check_threads(at);
		check_modules(at);
		check_maps(at);
	}
	check_processes();
	check_events("syscall", TS_EV_SYSCALL);
	check_events("signal", TS_EV_SIGNAL);
	check_events("fault", TS_EV_FAULT);
	check_events("thread-end", TS_EV_THREAD_END);
	check_events("gap", TS_EV_GAP);
	check_events("exit", TS_EV_EXIT);
	check_events("interrupt", TS_EV_INTERRUPT);
	naive_free(nv);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* Few of them have a thread that ends before the recording does. */
START_TEST(threads_end_where_the_twin_says)
{
	s = script_random_new((uint64_t)_i + 1000, N_STEPS);
	ck_assert_ptr_nonnull(s);
	ask_text_init(&a, s);
	nv = naive_new(s, false, false);
	ck_assert_ptr_nonnull(nv);
	rnd.state = (uint64_t)_i;
	check_threads(script_below(&rnd, N_STEPS + 1));
	naive_free(nv);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_world");
	TCase *c = tcase_create("ask_world");

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, the_world_is_that_of_the_twin, 1, 40);
	tcase_add_loop_test(c, threads_end_where_the_twin_says, 1, 200);
	suite_add_tcase(suite, c);
	return suite;
}
