/* SPDX-License-Identifier: MIT */
/*
 * threads, processes, modules, maps, memory, registers and events against the naive twin, on random recordings and on those of
 * each format: what is there at a position, and since when and until when, by a look at each position.
 */
#include "unit.h"

#include "ask_text.h"
#include "naive.h"
#include "sample.h"
#include "twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_STEPS 200u

static struct script *s;
static struct naive *nv;
static struct ask_text a;
static struct script_random rnd;
static uint64_t n_steps;

static uint32_t thread_of(uint64_t tid)
{
	for (uint32_t i = 0; i < a.names.n_tids; i++) {
		if ((uint64_t)a.names.tids[i] == tid)
			return i;
	}
	ck_abort_msg("no thread %" PRIu64, tid);
	return 0;
}

/* From when until when something is there; end: TS_NO_POS where it is there at the last position. */
struct span {
	uint64_t begin, end;
};
static struct span thread_spans[SCRIPT_MAX_THREADS], *module_spans;

static struct span find_span(bool (*is_there)(uint64_t pos, uint32_t i), uint32_t i)
{
	struct span x = { 0, n_steps + 1 };

	while (x.begin <= n_steps && !is_there(x.begin, i))
		++x.begin;
	while (x.end > x.begin && !is_there(x.end - 1, i))
		--x.end;
	x.end = x.end == n_steps + 1 ? TS_NO_POS : x.end;
	return x;
}

static bool is_there_in(struct span x, uint64_t from, uint64_t to)
{
	return x.begin < to && x.end > from;
}

static bool is_alive(uint64_t pos, uint32_t thread)
{
	return naive_is_alive(nv, pos, thread);
}

static bool is_loaded(uint64_t pos, uint32_t module)
{
	const struct naive_module *m = &nv->modules[module];

	return m->from < nv->first_seq[pos] && m->until >= nv->first_seq[pos];
}

static void find_spans(void)
{
	for (uint32_t i = 0; i < s->n_threads; i++)
		thread_spans[i] = find_span(is_alive, i);
	free(module_spans);
	module_spans = calloc(nv->n_modules + 1, sizeof(*module_spans));
	ck_assert_ptr_nonnull(module_spans);
	for (uint32_t i = 0; i < nv->n_modules; i++)
		module_spans[i] = find_span(is_loaded, i);
}

/* " at P" or " in A:B", and the positions that it is about. */
static void any_place(char *words, uint64_t *from, uint64_t *to, uint64_t *at)
{
	*at = script_below(&rnd, n_steps + 1);
	*from = *at;
	*to = *at + 1;
	sprintf(words, " at %" PRIu64, *at);
	if (script_chance(&rnd, 30)) {
		*from = script_below(&rnd, n_steps);
		*to = *from + 1 + script_below(&rnd, n_steps - *from);
		sprintf(words + strlen(words), " in %" PRIu64 ":%" PRIu64, *from, *to);
	}
}

static void check_threads(void)
{
	char question[90] = "threads";
	uint64_t from, to, at;
	unsigned n = 0;

	any_place(question + strlen(question), &from, &to, &at);
	ask_cells(&a, question);
	for (uint32_t i = 0; i < a.names.n_tids; i++)
		n += is_there_in(thread_spans[i], from, to);
	ck_assert_uint_eq(a.n_rows, n);
	for (unsigned row = 0; row < a.n_rows; row++) {
		uint32_t thread = thread_of(ask_number(&a, row, 0));
		uint64_t steps = 0;

		for (uint64_t pos = 0; pos < n_steps; pos++)
			steps += s->steps.steps[pos].thread == thread;
		ck_assert_int_eq(ask_number(&a, row, 1), a.names.pids[s->rec.threads[thread].process]);
		ck_assert_uint_eq(ask_number(&a, row, 2), thread_spans[thread].begin);
		ck_assert_uint_eq(ask_number(&a, row, 3), thread_spans[thread].end);
		ck_assert_uint_eq(ask_number(&a, row, 4), steps);
	}
}

/* Of a machine what cr3 has of the page tables' address, UINT64_MAX if that is not known; else the process's number. */
static uint64_t process_at(uint64_t pos)
{
	uint32_t thread = s->steps.steps[pos].thread;
	int cr3 = ts_regset_find(&s->rec.regs, "cr3");
	uint64_t value = 0;
	uint8_t byte;

	if (!ts_query_facts(a.q)->is_physical || cr3 < 0 || ts_regset_find(&s->rec.regs, "cs") < 0)
		return (uint64_t)a.names.pids[s->rec.threads[thread].process];
	for (unsigned i = 0; i < s->rec.regs.regs[cr3].len; i++) {
		if (!naive_reg(nv, pos, thread, s->rec.regs.regs[cr3].off + i, &byte))
			return UINT64_MAX;
		value |= (uint64_t)byte << 8 * i;
	}
	return value & UINT64_C(0x7ffffffffffff000);
}

static void check_processes(void)
{
	uint64_t all = 0;

	ask_cells(&a, "processes in 0:end");
	for (unsigned row = 0; row < a.n_rows; row++) {
		uint64_t begin = TS_NO_POS;

		uint64_t steps = 0;

		for (uint64_t pos = n_steps; pos-- > 0;) {
			bool is_it = process_at(pos) == ask_number(&a, row, 0);

			begin = is_it ? pos : begin;
			steps += is_it;
		}
		ck_assert_uint_eq(ask_number(&a, row, 1), begin);
		ck_assert_uint_eq(ask_number(&a, row, 3), steps);
		all += steps;
	}
	ck_assert_uint_eq(all, n_steps);
}

/*
 * Modules that are the files of maps, if their paths are absolute: some of the bytes that such a map has, and
 * where each of the modules begins.
 */
static void check_files(const char *question, uint64_t from, uint64_t to, uint32_t process)
{
	uint64_t pos = from + script_below(&rnd, to - from);

	for (unsigned row = 0; row < a.n_rows; row++) {
		const struct naive_mapping *m = naive_mapping(nv, ask_number(&a, row, 0), process, ask_number(&a, row, 2));

		ck_assert_msg(m && m->file && !strcmp(m->file, a.cells[row][4]), "%s: %s", question,
			      a.cells[row][4]);
		ck_assert(is_there_in((struct span){ ask_number(&a, row, 0), ask_number(&a, row, 1) }, from, to));
	}
	for (unsigned i = 0; i < 20; i++) {
		uint64_t addr = s->bytes[script_below(&rnd, s->n_bytes)];
		const struct naive_mapping *m = naive_mapping(nv, pos, process, addr);
		unsigned row = 0;

		while (row < a.n_rows && (addr - ask_number(&a, row, 2) >= ask_number(&a, row, 3) || pos < ask_number(&a, row, 0) ||
					pos >= ask_number(&a, row, 1)))
			row++;
		ck_assert_msg(!m || !m->file || *m->file != '/' ||
				      (row < a.n_rows && !strcmp(m->file, a.cells[row][4])),
			      "%s: 0x%" PRIx64, question, addr);
	}
}

static void check_modules(void)
{
	char question[90] = "modules";
	uint64_t from, to, at;
	uint32_t process;
	unsigned n = 0;

	any_place(question + strlen(question), &from, &to, &at);
	process = s->rec.threads[naive_thread(nv, at)].process;
	ask_cells(&a, question);
	if (s->rec.maps_are_modules) {
		check_files(question, from, to, process);
		return;
	}
	for (uint32_t i = 0; i < nv->n_modules; i++) {
		const struct naive_module *m = &nv->modules[i];
		struct span x = module_spans[i];
		unsigned row = 0;

		if (m->process != process || !is_there_in(x, from, to) || x.begin == x.end)
			continue;
		while (row < a.n_rows && (ask_number(&a, row, 2) != m->first || ask_number(&a, row, 0) != x.begin))
			row++;
		ck_assert_msg(row < a.n_rows, "%s: 0x%" PRIx64, question, m->first);
		ck_assert_uint_eq(ask_number(&a, row, 1), x.end);
		ck_assert_uint_eq(ask_number(&a, row, 3), m->last - m->first + 1);
		ck_assert_str_eq(a.cells[row][4], m->file ? m->file : "");
		n++;
	}
	ck_assert_uint_eq(a.n_rows, n);
}

/* The row of the map with the byte.  Returns a.n_rows if no map has it. */
static unsigned map_of(uint64_t addr)
{
	unsigned row = 0;

	while (row < a.n_rows && addr - ask_number(&a, row, 2) >= ask_number(&a, row, 3))
		row++;
	return row;
}

static void check_byte(uint64_t at, uint32_t process, uint64_t addr)
{
	const struct naive_mapping *m = naive_mapping(nv, at, process, addr);
	unsigned row = map_of(addr);
	const char *file = m && m->file ? m->file : m && m->desc ? m->desc : "";

	ck_assert_msg((row < a.n_rows) == (m != NULL), "0x%" PRIx64 " at %" PRIu64, addr, at);
	if (!m)
		return;
	ck_assert_int_eq(a.cells[row][4][0], m->prot & TS_PROT_READ ? 'r' : '-');
	ck_assert_int_eq(a.cells[row][4][1], m->prot & TS_PROT_WRITE ? 'w' : '-');
	ck_assert_int_eq(a.cells[row][4][2], m->prot & TS_PROT_EXEC ? 'x' : '-');
	ck_assert_str_eq(a.cells[row][5], file);
	ck_assert_uint_le(ask_number(&a, row, 0), at);
	ck_assert_uint_gt(ask_number(&a, row, 1), at);
	ck_assert_ptr_nonnull(naive_mapping(nv, ask_number(&a, row, 0), process, addr));
	if (ask_number(&a, row, 1) != TS_NO_POS)
		ck_assert_ptr_ne(naive_mapping(nv, ask_number(&a, row, 1) - 1, process, addr), NULL);
}

/* @n of the bytes. */
static void check_maps(size_t n)
{
	uint64_t at = script_below(&rnd, n_steps + 1);
	uint32_t process = s->rec.threads[naive_thread(nv, at)].process;
	char question[60];

	snprintf(question, sizeof(question), "maps at %" PRIu64, at);
	ask_cells(&a, question);
	for (size_t i = 0; i < n; i++)
		check_byte(at, process, s->bytes[n == s->n_bytes ? i : script_below(&rnd, s->n_bytes)]);
}

/* The steps that have an event of the kind, and whose the first one is. */
static void check_events(const char *name, enum ts_event_kind kind)
{
	char question[40];
	uint64_t step, from = 0;
	uint32_t thread;
	unsigned row = 0;

	snprintf(question, sizeof(question), "events %s", name);
	ask_cells(&a, question);
	for (; naive_next_event(nv, kind, from, &step, &thread); from = step + 1) {
		ck_assert_msg(row < a.n_rows, "%s: step %" PRIu64, name, step);
		ck_assert_uint_eq(ask_number(&a, row, 0), step);
		ck_assert_uint_eq(thread_of(ask_number(&a, row, 1)), thread);
		ck_assert_str_eq(a.cells[row][2], name);
		while (row < a.n_rows && ask_number(&a, row, 0) == step)
			row++;
	}
	ck_assert_uint_eq(row, a.n_rows);
	if (!a.n_rows && ts_query_facts(a.q)->absent_events >> kind & 1)
		ck_assert_msg(strstr(ts_buf_text(&a.end), "does not record"), "%s: %s", name, ts_buf_text(&a.end));
}

/* ---------------------------------------------------------------------------------- memory and registers */

/* The byte at @addr, as the row that contains it shows it.  Returns false if it is unknown: an empty cell has no known byte. */
static bool shown_byte(uint64_t addr, uint8_t *value)
{
	for (unsigned row = 0; row < a.n_rows; row++) {
		if (addr - ask_number(&a, row, 0) < ask_number(&a, row, 1))
			return *a.cells[row][2] &&
			       ask_byte(&a, a.cells[row][2], addr - ask_number(&a, row, 0), ask_number(&a, row, 1), value);
	}
	return false;
}

static void check_memory(void)
{
	uint64_t pos = script_below(&rnd, n_steps + 1), addr = s->bytes[script_below(&rnd, s->n_bytes)];
	uint64_t last = s->bytes[s->n_bytes - 1], len = 1 + script_below(&rnd, last - addr < 70 ? last - addr + 1 : 70);
	uint32_t process = s->rec.threads[naive_thread(nv, pos)].process;
	char question[100];

	if (ts_query_facts(a.q)->is_physical) /* the twin knows no page tables */
		return;
	sprintf(question, "memory 0x%" PRIx64 ",%" PRIu64 " at %" PRIu64, addr, len, pos);
	if (!ask_text(&a, TS_FORM_TSV, question)) {
		ck_assert_msg(strstr(a.err.text, "passes the end of the address space"), "%s", a.err.text);
		ts_error_reset(&a.err);
		return;
	}
	ask_cells(&a, question);
	for (uint64_t i = 0; i < len; i++) {
		uint8_t want = 0, got = 0;
		bool is_known;

		if (!naive_is_tracked(nv, addr + i))
			continue;
		is_known = naive_mem(nv, pos, process, addr + i, &want);
		ck_assert_msg(shown_byte(addr + i, &got) == is_known, "%s: byte %" PRIu64, question, i);
		ck_assert_msg(!is_known || got == want, "%s: byte %" PRIu64, question, i);
	}
}

static void check_registers(void)
{
	const struct ts_regset *regs = ts_query_regset(a.q);
	uint64_t pos = script_below(&rnd, n_steps + 1);
	uint32_t thread = naive_thread(nv, pos);
	char question[100];

	sprintf(question, "registers at %" PRIu64, pos);
	ask_cells(&a, question);
	ck_assert_uint_eq(a.n_rows, regs->n_regs);
	for (unsigned row = 0; row < a.n_rows; row++) {
		const struct ts_reg *r = &regs->regs[row];

		ck_assert_str_eq(a.cells[row][0], r->name);
		ck_assert_uint_eq(ask_number(&a, row, 1), r->len);
		for (uint32_t i = 0; (int)row != regs->pc && i < r->len; i++) {
			uint8_t want = 0, got = 0;
			bool is_known = naive_reg(nv, pos, thread, r->off + i, &want);

			ck_assert_msg((*a.cells[row][2] && ask_byte(&a, a.cells[row][2], i, r->len, &got)) == is_known,
				      "%s: %s %s", question, r->name, a.cells[row][2]);
			ck_assert_msg(!is_known || got == want, "%s: %s %s", question, r->name, a.cells[row][2]);
		}
	}
}

/* ------------------------------------------------------------------------------------- events, one by one */

static const char *const event_names[TS_N_EVENT_KINDS] = {
	[TS_EV_SYSCALL] = "syscall", [TS_EV_SIGNAL] = "signal", [TS_EV_FAULT] = "fault", [TS_EV_INTERRUPT] = "interrupt",
	[TS_EV_THREAD_END] = "thread-end", [TS_EV_GAP] = "gap", [TS_EV_EXIT] = "exit",
};

/* The row of an event that the recording has. */
static void check_event_row(unsigned row, uint64_t step, uint32_t thread, const struct ts_event *ev)
{
	char arguments[200] = "", result[24] = "";
	size_t n = 0;

	for (unsigned i = 0; ev->kind == TS_EV_SYSCALL && i < ev->n_args && i < 6; i++)
		n += (size_t)sprintf(arguments + n, "%s0x%" PRIx64, i ? ", " : "", ev->args[i]);
	if (ev->kind == TS_EV_SYSCALL && ev->has_ret)
		sprintf(result, "0x%" PRIx64, ev->ret);
	ck_assert_uint_eq(ask_number(&a, row, 0), step);
	ck_assert_uint_eq(thread_of(ask_number(&a, row, 1)), thread);
	ck_assert_str_eq(a.cells[row][2], event_names[ev->kind]);
	ck_assert_str_eq(a.cells[row][4], arguments);
	ck_assert_str_eq(a.cells[row][5], result);
}

/* Rows of a kind, in a range, of a thread: each is that of the walk, in its order. */
static void check_listed_events(void)
{
	enum ts_event_kind kind = (enum ts_event_kind)script_below(&rnd, TS_N_EVENT_KINDS);
	uint64_t from = script_below(&rnd, n_steps), to = from + 1 + script_below(&rnd, n_steps - from);
	uint32_t only = script_chance(&rnd, 50) ? (uint32_t)script_below(&rnd, a.names.n_tids) : TS_NO_THREAD;
	char question[100];
	unsigned row = 0;
	int n = sprintf(question, "events %s in %" PRIu64 ":%" PRIu64, event_names[kind], from, to);

	if (only != TS_NO_THREAD)
		sprintf(question + n, " thread %" PRId64, a.names.tids[only]);
	ask_cells(&a, question);
	for (uint64_t step = from; step < to; step++) {
		const struct ts_step *st = &s->steps.steps[step];
		uint32_t thread = st->thread;

		for (uint32_t i = st->first; i < st->first + st->n_effects; i++) {
			const struct ts_effect *e = &s->steps.effects[i];
			const struct ts_event *ev = &s->steps.events[e->item];

			if (e->kind == TS_FX_THREAD)
				thread = e->item;
			if (e->kind != TS_FX_EVENT || ev->kind != kind ||
			    (only != TS_NO_THREAD && only != thread))
				continue;
			ck_assert_msg(row < a.n_rows, "%s: step %" PRIu64, question, step);
			check_event_row(row++, step, thread, ev);
		}
	}
	ck_assert_uint_eq(row, a.n_rows);
}

static void begin(uint64_t seed)
{
	s = script_random_new(seed, N_STEPS);
	ck_assert_ptr_nonnull(s);
	ask_text_init(&a, &s->rec);
	nv = naive_new(s, false, false);
	ck_assert_ptr_nonnull(nv);
	n_steps = N_STEPS;
	find_spans();
}

static void finish(void)
{
	naive_free(nv);
	ask_text_fini(&a);
	script_free(s);
}

START_TEST(registers_that_are_named_come_in_the_order_of_the_names)
{
	char question[100];

	begin(1);
	ask_cells(&a, "registers sp $pc at 3");
	ck_assert_uint_eq(a.n_rows, 2);
	ck_assert_str_eq(a.cells[0][0], "sp");
	ck_assert_str_eq(a.cells[1][0], "pc");
	ck_assert_str_eq(a.cells[1][2], (sprintf(question, "0x%" PRIx64, s->steps.steps[3].pc), question));
	ck_assert(!ask_text(&a, TS_FORM_TSV, "registers nope"));
	ck_assert_ptr_nonnull(strstr(a.err.text, "'nope' is not a register"));
	ck_assert(!ask_text(&a, TS_FORM_TSV, "memory $sp"));
	finish();
}
END_TEST

static void check_all_events(void)
{
	check_events("syscall", TS_EV_SYSCALL);
	check_events("signal", TS_EV_SIGNAL);
	check_events("fault", TS_EV_FAULT);
	check_events("thread-end", TS_EV_THREAD_END);
	check_events("gap", TS_EV_GAP);
	check_events("exit", TS_EV_EXIT);
	check_events("interrupt", TS_EV_INTERRUPT);
}

START_TEST(the_world_is_that_of_the_twin)
{
	begin((uint64_t)_i);
	rnd.state = (uint64_t)_i;
	for (unsigned i = 0; i < 8; i++) {
		check_threads();
		check_modules();
		check_maps(s->n_bytes);
		check_memory();
		check_registers();
	}
	check_processes();
	check_all_events();
	for (unsigned i = 0; i < 20; i++)
		check_listed_events();
	finish();
}
END_TEST

/* Few of them have a thread that ends before the recording does. */
START_TEST(threads_end_where_the_twin_says)
{
	begin((uint64_t)_i + 1000);
	rnd.state = (uint64_t)_i;
	check_threads();
	finish();
}
END_TEST

START_TEST(the_world_of_a_sample_is_that_of_the_twin)
{
	unsigned n = sample_n_questions(_i, 12);
	struct sample x;

	sample_open(&x, sample_names[_i]);
	ask_text_init(&a, x.rec);
	s = x.s;
	nv = x.nv;
	n_steps = s->steps.n_steps;
	rnd.state = twins_seed((uint64_t)_i);
	find_spans();
	check_processes();
	check_all_events();
	for (unsigned i = 0; i < n; i++) {
		check_threads();
		check_modules();
		check_maps(30);
		check_memory();
		check_registers();
		check_listed_events();
	}
	ask_text_fini(&a);
	sample_close(&x);
}
END_TEST

START_TEST(a_process_is_called_by_its_first_thread_with_a_name)
{
	s = script_new("x86_64", 3, NULL);
	ck_assert_ptr_nonnull(s);
	strcpy(s->rec.threads[1].name, "worker");
	strcpy(s->rec.threads[2].name, "other");
	for (unsigned i = 0; i < 6; i++)
		ts_steps_close(&s->steps, 0x401000, 4, i % 3);
	ask_text_init(&a, &s->rec);
	ask_cells(&a, "processes");
	ck_assert_uint_eq(a.n_rows, 1);
	ck_assert_str_eq(a.cells[0][4], "worker");
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* A recording of many modules and maps: each run of an answer looks at few of them. */
START_TEST(what_is_there_is_listed_in_slices)
{
	static const char *const questions[] = { "modules", "maps last 1" };
	enum { N_EACH = 3000 };

	s = script_new("x86_64", 2, NULL);
	ck_assert_ptr_nonnull(s);
	for (unsigned i = 0; i < N_EACH; i++) {
		uint64_t addr = UINT64_C(0x10000000) + i * 0x10000;

		ck_assert_ptr_nonnull(ts_steps_map(&s->steps, addr, 0x1000, "heap", 4, NULL, 0));
		ck_assert(ts_steps_load(&s->steps, addr, 0x1000, "part.so", 7));
		ts_steps_close(&s->steps, 0x401000, 4, i % 2);
	}
	ask_text_init(&a, &s->rec);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		struct ts_buf out;
		struct ts_error err;
		struct ts_answer *answer;
		enum ts_next got = TS_MORE;
		unsigned n_runs = 0;

		ts_buf_init(&out);
		ts_error_reset(&err);
		answer = ts_answer_new(&a.ask, questions[i], TS_FORM_TSV, &err);
		ck_assert_msg(answer != NULL, "%s: %s", questions[i], err.text);
		for (; got == TS_MORE && !ts_answer_n_rows(answer); n_runs++)
			got = ts_answer_run(answer, 1, &out, &out, &err);
		ck_assert_msg(n_runs >= N_EACH / 64, "%s: %u runs", questions[i], n_runs);
		while (got == TS_MORE)
			got = ts_answer_run(answer, 1, &out, &out, &err);
		ck_assert_msg(got == TS_END, "%s: %s", questions[i], err.text);
		ck_assert(strcmp(questions[i], "maps last 1") || strstr(ts_buf_text(&out), "0x1bb70000")); /* i = 2999 */
		ts_answer_free(answer);
		ts_buf_fini(&out);
	}
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* How often the threads took turns does not matter: a few runs tell how many steps each has. */
START_TEST(steps_of_threads_are_not_counted_turn_by_turn)
{
	enum { N_TURNS = 20000 };

	s = script_new("x86_64", 2, NULL);
	ck_assert_ptr_nonnull(s);
	for (unsigned i = 0; i < N_TURNS; i++) {
		ts_steps_close(&s->steps, 0x401000, 4, 0);
		ts_steps_close(&s->steps, 0x401000, 4, 1);
		ts_steps_close(&s->steps, 0x401000, 4, 1);
	}
	ask_text_init(&a, &s->rec);
	ask_cells(&a, "threads");
	ck_assert_uint_eq(a.n_rows, 2);
	ck_assert_str_eq(a.cells[0][4], "20000");
	ck_assert_str_eq(a.cells[1][4], "40000");
	ck_assert_uint_le(a.n_runs, 3);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* Maps, which the recording has no list of by step, and system calls, of which it has one. */
START_TEST(events_of_all_kinds_come_in_order)
{
	enum { N = 40 };

	s = script_new("x86_64", 1, NULL);
	ck_assert_ptr_nonnull(s);
	for (unsigned i = 0; i < N; i++) {
		uint64_t addr = UINT64_C(0x10000000) + (i * 7 % N) * 0x10000;

		ck_assert_ptr_nonnull(ts_steps_map(&s->steps, addr, 0x1000, "heap", 4, NULL, 0));
		ts_steps_event(&s->steps, TS_EV_SYSCALL);
		ts_steps_close(&s->steps, 0x401000, 4, 0);
	}
	ask_text_init(&a, &s->rec);
	ask_cells(&a, "events");
	ck_assert_uint_eq(a.n_rows, 2 * N);
	for (unsigned i = 0; i < a.n_rows; i++) {
		ck_assert_uint_eq(strtoul(a.cells[i][0], NULL, 10), i / 2);
		ck_assert_str_eq(a.cells[i][2], i % 2 ? "map" : "syscall");
	}
	ask_cells(&a, "events map last 3");
	ck_assert_uint_eq(a.n_rows, 3);
	for (unsigned i = 0; i < a.n_rows; i++)
		ck_assert_uint_eq(strtoul(a.cells[i][0], NULL, 10), N - 3 + i);
	/* the call has no arguments, which is not the same as unknown ones */
	ck_assert(ask_text(&a, TS_FORM_JSON, "events syscall first 1"));
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\"arguments\":[],\"result\":null"));
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_world");
	TCase *c = tcase_create("ask_world");

	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, the_world_is_that_of_the_twin, 1, 40);
	tcase_add_loop_test(c, threads_end_where_the_twin_says, 1, 200);
	tcase_add_test(c, registers_that_are_named_come_in_the_order_of_the_names);
	tcase_add_test(c, a_process_is_called_by_its_first_thread_with_a_name);
	tcase_add_test(c, what_is_there_is_listed_in_slices);
	tcase_add_test(c, events_of_all_kinds_come_in_order);
	tcase_add_test(c, steps_of_threads_are_not_counted_turn_by_turn);
	suite_add_tcase(suite, c);
	suite_add_tcase(suite, sample_case(the_world_of_a_sample_is_that_of_the_twin));
	return suite;
}
