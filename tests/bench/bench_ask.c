/* SPDX-License-Identifier: MIT */
/*
 * How fast are questions answered: each verb over a recording of each size.
 *
 * Of a table: processor time up to the first row, rows a second to JSON, and million steps of the recording a
 * second where all of it is looked at.  Of a row: 1,000 random questions, the 99th percentile; those about
 * ANY take what random steps wrote.
 *
 * `why` has a row for each value of a chain, and a row stands for all turns of a loop.  The turns are
 * followed one by one before their count is known, and the chunks that they lie in are decoded: so answers
 * with a loop are also told apart from those without.  Of the former, a row costs what its turns cost; what
 * is told besides is a turn, a decoded chunk (the naive scan says what that costs at least), and a row when
 * the same is asked once more.
 *
 * Beside them the naive scan, which decodes all steps for any question, and gdb doing the same by the clock:
 * from write to write by a watchpoint and reverse-continue, from call to call by a breakpoint and continue,
 * and counting by stepi.
 *
 * `find` decodes the chunks that it cannot pass over: in some of them a match begins or ends.  Where rows come
 * from each chunk no filter helps, and a row costs its share of a decoded chunk.
 *
 * BENCH_SIZES and BENCH_FORMATS are those of bench_formats; without formats, the sizes are Usercorn's, and of
 * each other one a recording of a million steps is asked.  There is one recording at a time.  BENCH_VERBS="why
 * find" are the only verbs that are measured, with neither the naive scan nor gdb.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "pass.h"
#include "recording.h"
#include "src/ask/output/answer.h"
#include "src/symbols/names.h"
#include "src/ask/verb.h"
#include "src/query/find_filter.h"

#define MAX_SIZES   8
#define N_QUESTIONS 1000
#define N_WHYS      300
#define N_SAMPLES   4096
#define N_ELSEWHERE 64 /* more chunks than are kept */
#define N_REVERSES  300
#define N_STEPIS    2000
#define N_REGISTERS 10 /* each costs gdb a stepi for every step between two writes */

/* What is asked. */
#define MAX_P99_US      1000
#define MAX_MILLION_S   2
#define MAX_STEPS_A_WRITE 100 /* rarer writes cost the decoding of a chunk each */
#define MIN_FIND_RATE   200 /* million steps a second */

/* Chunks a slice, as the program has it. */
#define SLICE 16

struct session {
	struct bench_trace t;
	struct ts_names names;
	struct ts_ask ask;
	const char *table; /* borrowed */
	char column[32];
	uint64_t addr; /* that is written most often, of those that samples met */
	uint64_t pc;   /* the same of executed ones */
	const char *rare; /* borrowed; the register that the fewest of them wrote */
	uint64_t addrs[N_SAMPLES]; /* that samples met */
	const char *regs[N_SAMPLES]; /* borrowed; the same of registers */
	size_t n_addrs, n_regs;
	bool has_counts; /* what is measured has a column `count` */
};

/* Seconds of the processor, and by the clock. */
struct answered {
	double seconds, first_s, clock_s;
	uint64_t n_rows;
	uint64_t n_counted; /* the sum of the column `count` */
	uint64_t n_chunks;  /* that were decoded */
};

/* The sum of the numbers "count" of the rows in @json. */
static uint64_t sum_counts(const char *json)
{
	static const char name[] = "\"count\":";
	uint64_t sum = 0;

	while ((json = strstr(json, name))) {
		json += sizeof(name) - 1;
		sum += strtoull(json, NULL, 10);
	}
	return sum;
}

static struct answered ask(struct session *s, const char *question)
{
	struct answered r = { 0 };
	struct ts_error err = { 0 };
	struct ts_buf out;
	uint64_t epoch = ts_query_epoch(s->t.q);
	double start = bench_cpu(), clock_start = bench_now();
	struct ts_answer *a = ts_answer_new(&s->ask, question, TS_FORM_JSON, &err);
	enum ts_next got = TS_MORE;

	bench_check(a, &err);
	ts_buf_init(&out);
	while (got == TS_MORE) {
		ts_buf_reset(&out);
		got = ts_answer_run(a, SLICE, &out, &out, &err);
		bench_check(got != TS_FAIL, &err);
		if (s->has_counts)
			r.n_counted += sum_counts(ts_buf_text(&out));
		if (!r.first_s && (ts_answer_n_rows(a) || got == TS_END))
			r.first_s = bench_cpu() - start;
	}
	r.seconds = bench_cpu() - start;
	r.clock_s = bench_now() - clock_start;
	r.n_rows = ts_answer_n_rows(a);
	r.n_chunks = ts_query_epoch(s->t.q) - epoch;
	ts_answer_free(a);
	ts_buf_fini(&out);
	return r;
}

/* ---------------------------------------------------------------------------------------- what to ask for */

static uint64_t random_below(uint64_t n)
{
	static uint64_t x = UINT64_C(0x853c49e6748fea9b);

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (x >> 11) % n;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t most_frequent(uint64_t *items, size_t n)
{
	uint64_t best = 0;
	size_t most = 0;

	qsort(items, n, sizeof(*items), compare);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && items[end] == items[i];)
			end++;
		if (end - i > most) {
			most = end - i;
			best = items[i];
		}
	}
	return best;
}

/* The register at @off of the 'g' layout. */
static unsigned reg_at(const struct ts_regset *set, uint64_t off)
{
	unsigned i = 0;

	while (i + 1 < set->n_regs && set->regs[i + 1].off <= off)
		i++;
	return i;
}

static const char *most_rare(const struct ts_regset *set, const size_t *n_writes)
{
	unsigned best = (unsigned)set->sp;

	for (unsigned i = 0; i < set->n_regs; i++) {
		if (n_writes[i] && n_writes[i] < n_writes[best])
			best = i;
	}
	return set->regs[best].name;
}

static void take_register(struct session *s, const struct ts_regset *set, unsigned reg, size_t *n_writes)
{
	n_writes[reg]++;
	if ((int)reg != set->pc && s->n_regs < N_SAMPLES)
		s->regs[s->n_regs++] = set->regs[reg].name;
}

static void choose(struct session *s)
{
	static uint64_t addrs[N_SAMPLES], pcs[N_SAMPLES];
	const struct ts_regset *set = ts_query_regset(s->t.q);
	size_t n_addrs = 0, *n_writes = calloc(set->n_regs, sizeof(*n_writes));

	if (!n_writes)
		bench_die("no memory");
	n_writes[set->sp] = SIZE_MAX;

	for (size_t i = 0; i < N_SAMPLES; i++) {
		struct ts_error err = { 0 };
		const struct ts_steps *b;
		const struct ts_step *st = ts_query_step(s->t.q, random_below(s->ask.n_steps), &b, &err);

		bench_check(st, &err);
		pcs[i] = st->pc;
		for (uint32_t k = 0; k < st->n_effects && n_addrs < N_SAMPLES; k++) {
			const struct ts_effect *e = &b->effects[st->first + k];

			if (e->kind == TS_FX_WRITE)
				addrs[n_addrs++] = e->addr;
			else if (e->kind == TS_FX_REG_WRITE)
				take_register(s, set, reg_at(set, e->addr), n_writes);
		}
	}
	s->rare = most_rare(set, n_writes);
	free(n_writes);
	memcpy(s->addrs, addrs, n_addrs * sizeof(*addrs));
	s->n_addrs = n_addrs;
	s->addr = most_frequent(addrs, n_addrs);
	s->pc = most_frequent(pcs, N_SAMPLES);
}

/* ------------------------------------------------------------------------------------------------ figures */

static void figure(const struct session *s, const char *verb, const char *what, double value,
		   enum bench_asked asked, double limit)
{
	char name[80];

	snprintf(name, sizeof(name), "%s: %s", verb, what);
	bench_figure(s->table, s->column, name, value, asked, limit, NULL);
}

/* Is the verb, the first word of @label, measured? */
static bool is_measured(const char *label)
{
	char verb[40];

	snprintf(verb, sizeof(verb), "%.*s", (int)strcspn(label, " ,"), label);
	return bench_is_named("BENCH_VERBS", verb);
}

/* @is_scan: all of the recording is looked at. */
static void measure_table(struct session *s, const char *verb, const char *question, bool is_scan)
{
	struct answered r;
	double rate;

	if (!is_measured(verb))
		return;
	ask(s, question);
	r = ask(s, question);
	rate = (double)s->ask.n_steps / r.seconds / 1e6;
	figure(s, verb, "first row, ms", r.first_s * 1e3, BENCH_NOTHING, 0);
	if (r.n_rows >= 100)
		figure(s, verb, "rows a second", (double)r.n_rows / r.seconds, BENCH_NOTHING, 0);
	if (is_scan)
		figure(s, verb, "million steps a second", rate, BENCH_NOTHING, 0);
	if (!strncmp(verb, "history", 7) && r.n_rows >= s->ask.n_steps / MAX_STEPS_A_WRITE)
		figure(s, verb, "a million writes, s", r.seconds / (double)r.n_rows * 1e6, BENCH_AT_MOST,
		       MAX_MILLION_S);
}

/* The first question of all makes what the later ones use. */
static void measure_find(struct session *s, const char *verb, const char *question)
{
	bool is_first = !ts_query_has_values(s->t.q);
	uint64_t n_chunks = (s->ask.n_steps - 1) / TS_CHUNK_STEPS + 1;
	double millions = (double)s->ask.n_steps / 1e6;
	struct answered r;

	if (!is_measured(verb))
		return;
	r = ask(s, question);
	if (is_first && ts_query_has_values(s->t.q))
		figure(s, verb, "the first one, million steps a second", millions / r.seconds, BENCH_NOTHING,
		       0);
	r = ask(s, question);
	figure(s, verb, "a later one, million steps a second", millions / r.seconds,
	       !strcmp(verb, "find") ? BENCH_AT_LEAST : BENCH_NOTHING, MIN_FIND_RATE);
	figure(s, verb, "decoded chunks, %", 100.0 * (double)r.n_chunks / (double)n_chunks, BENCH_NOTHING, 0);
	if (r.n_rows < 100)
		return;
	figure(s, verb, "rows a chunk", (double)r.n_rows / (double)n_chunks, BENCH_NOTHING, 0);
	figure(s, verb, "a row, us", r.seconds / (double)r.n_rows * 1e6, BENCH_NOTHING, 0);
}

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A WHAT that a random step wrote: a register or an address. */
static void put_what(const struct session *s, char *text, size_t size)
{
	if (s->n_regs && (!s->n_addrs || random_below(2)))
		snprintf(text, size, "$%s", s->regs[random_below(s->n_regs)]);
	else
		snprintf(text, size, "0x%" PRIx64, s->addrs[random_below(s->n_addrs)]);
}

/* @question with * replaced by any WHAT, at a random position. */
static void put_somewhere(const struct session *s, const char *question, char *text, size_t size)
{
	const char *star = strchr(question, '*');
	char what[40] = "";
	int before = star ? (int)(star - question) : (int)strlen(question);

	if (star)
		put_what(s, what, sizeof(what));
	snprintf(text, size, "%.*s%s%s at %" PRIu64, before, question, what, star ? star + 1 : "",
		 random_below(s->ask.n_steps));
}

/* Questions with one row. */
static void measure_row(struct session *s, const char *verb, const char *question)
{
	static double times[N_QUESTIONS], clock_times[N_QUESTIONS];

	if (!is_measured(verb))
		return;
	for (unsigned i = 0; i < N_QUESTIONS; i++) {
		char text[200];
		struct answered r;

		put_somewhere(s, question, text, sizeof(text));
		r = ask(s, text);
		times[i] = r.seconds;
		clock_times[i] = r.clock_s;
	}
	qsort(times, N_QUESTIONS, sizeof(times[0]), compare_times);
	qsort(clock_times, N_QUESTIONS, sizeof(clock_times[0]), compare_times);
	figure(s, verb, "p99, us", times[N_QUESTIONS * 99 / 100] * 1e6, BENCH_AT_MOST, MAX_P99_US);
	figure(s, verb, "p99 by the clock, us", clock_times[N_QUESTIONS * 99 / 100] * 1e6, BENCH_NOTHING, 0);
}

/* Seconds of questions for one of something. */
struct times {
	double items[N_WHYS];
	size_t n;
};

static void add_time(struct times *t, double seconds, uint64_t n)
{
	t->items[t->n++] = seconds / (double)(n ? n : 1);
}

/* The median and the 99th percentile. */
static void spread(struct session *s, const char *verb, const char *what, struct times *t,
		   enum bench_asked asked)
{
	char name[80];

	if (!t->n)
		return;
	qsort(t->items, t->n, sizeof(t->items[0]), compare_times);
	snprintf(name, sizeof(name), "%s, p50, us", what);
	figure(s, verb, name, t->items[t->n / 2] * 1e6, BENCH_NOTHING, 0);
	snprintf(name, sizeof(name), "%s, p99, us", what);
	figure(s, verb, name, t->items[t->n * 99 / 100] * 1e6, asked, MAX_P99_US);
}

/* What the last question decoded makes room for other chunks. */
static void look_elsewhere(struct session *s)
{
	for (unsigned i = 0; i < N_ELSEWHERE; i++) {
		struct ts_error err = { 0 };
		const struct ts_steps *b;

		bench_check(ts_query_step(s->t.q, random_below(s->ask.n_steps), &b, &err), &err);
	}
}

/* What a verb's answers cost. */
struct whys {
	struct times answers, rows;
	struct times plain_rows;        /* of answers without a loop */
	struct times rows_again, turns; /* of answers with one */
	struct times loop_rows;         /* the same, the first time */
	double seconds, loop_seconds;
	uint64_t n_rows, n_loop_chunks;
};

static void ask_why(struct session *s, struct whys *y, const char *question)
{
	struct answered r = ask(s, question);

	add_time(&y->answers, r.seconds, 1);
	add_time(&y->rows, r.seconds, r.n_rows);
	y->seconds += r.seconds;
	y->n_rows += r.n_rows;
	if (r.n_counted <= r.n_rows) {
		add_time(&y->plain_rows, r.seconds, r.n_rows);
		return;
	}
	add_time(&y->loop_rows, r.seconds, r.n_rows);
	add_time(&y->turns, r.seconds, r.n_counted);
	y->loop_seconds += r.seconds;
	y->n_loop_chunks += r.n_chunks;
	look_elsewhere(s);
	add_time(&y->rows_again, ask(s, question).seconds, r.n_rows);
}

static void measure_why(struct session *s, const char *verb, const char *question)
{
	static struct whys y;

	if (!is_measured(verb))
		return;
	y = (struct whys){ 0 };
	s->has_counts = true;
	for (unsigned i = 0; i < N_WHYS; i++) {
		char text[200];

		put_somewhere(s, question, text, sizeof(text));
		ask_why(s, &y, text);
	}
	s->has_counts = false;
	spread(s, verb, "an answer", &y.answers, BENCH_NOTHING);
	spread(s, verb, "a row", &y.rows, BENCH_AT_MOST);
	figure(s, verb, "a row, mean, us", y.seconds / (double)(y.n_rows ? y.n_rows : N_WHYS) * 1e6, BENCH_AT_MOST,
	       MAX_P99_US);
	spread(s, verb, "a row, no loop", &y.plain_rows, BENCH_AT_MOST);
	spread(s, verb, "a row, loops", &y.loop_rows, BENCH_NOTHING);
	spread(s, verb, "a row, loops, again", &y.rows_again, BENCH_AT_MOST);
	spread(s, verb, "a turn", &y.turns, BENCH_AT_MOST);
	if (y.n_loop_chunks)
		figure(s, verb, "loops, a decoded chunk, us", y.loop_seconds / (double)y.n_loop_chunks * 1e6,
		       BENCH_NOTHING, 0);
}

/*
 * Seconds by the clock of gdb doing @setup, then @n times @command; what it costs to start it is in them.  0:
 * it failed.
 */
static double run_gdb(const char *path, const char *place, const char *setup, const char *command, unsigned n)
{
	const char *program = getenv("TRACESTUB");
	double start = bench_now();
	char line[1000];

	snprintf(line, sizeof(line),
		 "timeout 120 %s gdb --quiet '%s' -- -nx -batch -ex 'set can-use-hw-watchpoints 1' -ex 'monitor goto %s' -ex 'stepi' "
		 "-ex '%s' -ex 'python [gdb.execute(\"%s\", to_string=True) for i in range(%u)]' >/dev/null 2>&1",
		 program ? program : "./tracestub", path, place, setup, command, n);
	return system(line) ? 0 : bench_now() - start;
}

static void measure_one_gdb(struct session *s, const char *path, const char *verb, const char *what,
			    const char *place, const char *setup, const char *command, unsigned n)
{
	double none = run_gdb(path, place, setup, command, 0), all = run_gdb(path, place, setup, command, n);

	if (none > 0 && all > none)
		figure(s, verb, what, n / (all - none) / (strcmp(command, "stepi") ? 1 : 1e6), BENCH_NOTHING, 0);
	else
		printf("gdb did not do it: %s, %s\n", verb, what);
}

static void measure_gdb(struct session *s, const char *path)
{
	char setup[60];

	snprintf(setup, sizeof(setup), "watch *(char *)%" PRIu64, s->addr);
	measure_one_gdb(s, path, "history", "gdb's reverse-continue, rows a second", "end", setup,
			"reverse-continue", N_REVERSES);
	snprintf(setup, sizeof(setup), "awatch *(char *)%" PRIu64, s->addr);
	measure_one_gdb(s, path, "accesses", "gdb's continue, rows a second", "begin", setup, "continue",
			N_REVERSES);
	snprintf(setup, sizeof(setup), "watch $%s", s->rare);
	measure_one_gdb(s, path, "history of a rare register", "gdb's reverse-continue, rows a second", "end",
			setup, "reverse-continue", N_REGISTERS);
	snprintf(setup, sizeof(setup), "break *%" PRIu64, s->pc);
	measure_one_gdb(s, path, "executions, calls", "gdb's continue, rows a second", "begin", setup,
			"continue", N_REVERSES);
	measure_one_gdb(s, path, "hot, coverage", "gdb's stepi, million steps a second", "begin", "", "stepi",
			N_STEPIS);
	puts("gdb has no find over time, strings, why, why branch, events, threads or maps of all positions, nor a stack of calls "
	     "that does not unwind");
}

/* The program, asked once, has an index that it opens again. */
static void ask_program(const char *path)
{
	const char *program = getenv("TRACESTUB");
	char line[1000];

	snprintf(line, sizeof(line), "%s query '%s' --quiet when >/dev/null 2>&1",
		 program ? program : "./tracestub", path);
	if (system(line))
		bench_die("%s cannot be asked", path);
}

/* Seconds by the clock of a question to the program, the start of it and what opens the index included. */
static void measure_file(struct session *s, const char *path, const char *exec, const char *form)
{
	const char *program = getenv("TRACESTUB");
	char *out = bench_temp("coverage"), line[1000], name[40];
	double start = bench_now();

	snprintf(line, sizeof(line), "%s query '%s' --quiet coverage --%s '%s' %s%s >/dev/null 2>&1",
		 program ? program : "./tracestub", path, form, out, exec ? "--exec " : "", exec ? exec : "");
	snprintf(name, sizeof(name), "coverage --%s", form);
	if (system(line))
		printf("%s was not written: no file of this recording's program has its lines\n", name);
	else
		figure(s, name, "by the clock, s", bench_now() - start, BENCH_NOTHING, 0);
	bench_remove(out);
	free(out);
}

static void measure_naive(struct session *s, const char *path)
{
	double start = bench_cpu(), seconds;

	bench_pass_decode(path);
	seconds = bench_cpu() - start;
	figure(s, "naive scan", "million steps a second", (double)s->ask.n_steps / seconds / 1e6,
	       BENCH_NOTHING, 0);
	figure(s, "naive scan", "any question, ms", seconds * 1e3, BENCH_NOTHING, 0);
	figure(s, "naive scan", "a chunk, us", seconds * TS_CHUNK_STEPS / (double)s->ask.n_steps * 1e6,
	       BENCH_NOTHING, 0);
}

static void measure_rows(struct session *s)
{
	static const struct {
		const char *verb, *question;
	} rows[] = {
		{ "when", "when" },
		{ "last-write ANY", "last-write *" },
		{ "next-write ANY", "next-write *" },
		{ "last-change ANY", "last-change *" },
		{ "next-change ANY", "next-change *" },
		{ "last-write $sp", "last-write $sp" },
		{ "last-change $sp", "last-change $sp" },
		{ "history ANY last 1", "history * last 1" },
		{ "history ANY first 1", "history * first 1" },
		{ "stack", "stack" },
		{ "registers", "registers" },
		{ "calls first 1", "calls first 1" },
		{ "calls last 1", "calls last 1" },
		{ "events first 1", "events first 1" },
		{ "events last 1", "events last 1" },
		{ "threads", "threads" },
		{ "modules", "modules" },
		{ "maps", "maps" },
	};
	char question[60];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		measure_row(s, rows[i].verb, rows[i].question);
	snprintf(question, sizeof(question), "last-write 0x%" PRIx64, s->addr);
	measure_row(s, "last-write ADDR", question);
	snprintf(question, sizeof(question), "memory 0x%" PRIx64 ",64", s->addr);
	measure_row(s, "memory ADDR,64", question);
	snprintf(question, sizeof(question), "last-write $%s", s->rare);
	measure_row(s, "last-write of a rare register", question);
	snprintf(question, sizeof(question), "last-exec 0x%" PRIx64, s->pc);
	measure_row(s, "last-exec ADDR", question);
	snprintf(question, sizeof(question), "next-exec 0x%" PRIx64, s->pc);
	measure_row(s, "next-exec ADDR", question);
	snprintf(question, sizeof(question), "why 0x%" PRIx64, s->addr);
	measure_why(s, "why ADDR", question);
	measure_why(s, "why ANY depth 1", "why * depth 1");
	measure_why(s, "why ANY", "why *");
	measure_why(s, "why branch", "why branch");
}

static void measure(struct session *s, const struct bench_format *format, const char *path)
{
	char history[60], accesses[60], executions[60], all_rare[60];

	snprintf(history, sizeof(history), "history 0x%" PRIx64, s->addr);
	snprintf(accesses, sizeof(accesses), "accesses 0x%" PRIx64 ",8 rwx", s->addr);
	snprintf(executions, sizeof(executions), "executions 0x%" PRIx64, s->pc);
	snprintf(all_rare, sizeof(all_rare), "history $%s first 1000000", s->rare);
	measure_rows(s);
	measure_table(s, "history", history, false);
	measure_table(s, "history $sp", "history $sp first 1000000", false);
	measure_table(s, "history of a rare register", all_rare, false);
	measure_table(s, "accesses", accesses, false);
	measure_table(s, "executions", executions, false);
	measure_table(s, "calls", "calls", false);
	measure_table(s, "events", "events", false);
	if (ts_query_facts(s->t.q)->is_physical) { /* at position 0 it is a search of gigabytes */
		measure_find(s, "find", "find u32:0x12345678 in 1:");
		measure_find(s, "find text", "find \"wanted text\" in 1:");
	} else {
		measure_find(s, "find", "find u32:0x12345678");
		measure_find(s, "find bytes", "find 00 00 00 01");
		measure_find(s, "find text", "find \"wanted text\"");
		measure_find(s, "find two bytes", "find 12 34");
		measure_find(s, "find three bytes", "find 7f 00 00");
		measure_find(s, "find one byte", "find 0a");
	}
	measure_table(s, "strings", "strings", true);
	measure_table(s, "hot", "hot", true);
	measure_table(s, "coverage", "coverage", true);
	if (is_measured("coverage")) {
		ask_program(path);
		measure_file(s, path, NULL, "drcov");
		measure_file(s, path, format->program ? bench_data(format->program) : NULL, "lcov");
	}
	if (is_measured("naive")) {
		measure_naive(s, path);
		measure_gdb(s, path);
	}
}

static void measure_size(const struct bench_format *format, uint64_t millions)
{
	char *path = bench_temp("ask"), table[60];
	struct bench_recording rec = { 0 };
	struct ts_error err = { 0 };
	static struct session s;

	s = (struct session){ 0 };
	format->record(format, path, millions * 1000000, &rec);
	bench_build(&s.t, path, BENCH_TO_FILE);
	bench_ask(&s.t);
	bench_check(ts_names_init(&s.names, s.t.q, &err), &err);
	s.ask = (struct ts_ask){ .q = s.t.q, .names = &s.names, .n_steps = ts_query_end(s.t.q) };
	snprintf(table, sizeof(table), "ask %s", format->name);
	s.table = table;
	snprintf(s.column, sizeof(s.column), "%" PRIu64 " M", millions);
	choose(&s);
	bench_about(s.table, "questions to a recording of %s: %s", format->name, format->about);
	measure(&s, format, path);
	ts_names_fini(&s.names);
	bench_close(&s.t);
	bench_remove(path);
	free(path);
}

/* Trace frames are no recording of all steps. */
static bool is_asked(const struct bench_format *format, uint64_t millions)
{
	bool is_named = getenv("BENCH_FORMATS") && *getenv("BENCH_FORMATS");

	if (format->max_steps && millions * 1000000 > format->max_steps)
		return false;
	if (is_named)
		return bench_is_wanted(format->name);
	return format == &bench_usercorn_v0 || (millions == 1 && !format->is_extra && format != &bench_tfile);
}

int main(void)
{
	uint64_t millions[MAX_SIZES];
	size_t n = bench_sizes(millions, MAX_SIZES);

	for (unsigned i = 0; bench_formats[i]; i++) {
		for (size_t k = 0; k < n; k++) {
			if (is_asked(bench_formats[i], millions[k]))
				measure_size(bench_formats[i], millions[k]);
		}
	}
	return 0;
}
