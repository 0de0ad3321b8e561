/* SPDX-License-Identifier: MIT */
/*
 * How fast is the comparison of two recordings that differ in one register of one step, or nowhere.
 *
 * Processor time up to the first row and to the end, with the digests of chunks that `diff` makes and
 * without; beside it a comparison that asks for the registers at each position, by the same query door, and
 * gdb stepping, by the clock. BENCH_SIZES is that of bench_formats; the format is Usercorn's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "pass.h"
#include "recording.h"
#include "src/ask/output/answer.h"
#include "src/ask/diff/diff.h"
#include "src/ask/grammar/question.h"

#define MAX_SIZES     8
#define TABLE         "diff"
#define N_NAIVE       100000 /* steps */
#define N_GDB         2000
#define SLICE         4 /* chunks, as the program has it */

/* What is asked: the first divergence, and all that is to be said. */
#define MAX_FIRST_S 0.5
#define MAX_WHOLE_S 5

struct compared {
	double first_s, whole_s;
	uint64_t n_rows;
};

static struct compared compare(const struct bench_trace *a, const struct bench_trace *b)
{
	struct ts_ask ask = { .q = a->q, .n_steps = ts_query_end(a->q) };
	double start = bench_cpu();
	struct compared r = { 0 };
	struct ts_error err = { 0 };
	const struct ts_diff_options options = { .is_all = true };
	struct ts_rows *rows = ts_diff_open(&ask, b->q, &options, &err);
	struct ts_answer *answer = rows ? ts_answer_of_rows(&ask, &ts_verb_diff, rows, TS_NO_LIMIT, TS_FORM_JSON, &err) : NULL;
	enum ts_next got = TS_MORE;
	struct ts_buf out;

	bench_check(answer, &err);
	ts_buf_init(&out);
	while (got == TS_MORE) {
		ts_buf_reset(&out);
		got = ts_answer_run(answer, SLICE, &out, &out, &err);
		bench_check(got != TS_FAIL, &err);
		if (!r.first_s && (ts_answer_n_rows(answer) || got == TS_END))
			r.first_s = bench_cpu() - start;
	}
	r.whole_s = bench_cpu() - start;
	r.n_rows = ts_answer_n_rows(answer);
	ts_answer_free(answer);
	ts_buf_fini(&out);
	return r;
}

/* ----------------------------------------------------------------------------------------- two recordings */

static struct ts_buf read_file(const char *path)
{
	static uint8_t piece[1 << 16];
	FILE *in = fopen(path, "rb");
	struct ts_buf b;
	size_t got;

	ts_buf_init(&b);
	while (in && (got = fread(piece, 1, sizeof(piece), in)) > 0)
		ts_buf_put(&b, piece, got);
	if (!in || fclose(in) || !b.len || !ts_buf_ok(&b))
		bench_die("%s cannot be read", path);
	return b;
}

static void write_file(const char *path, const struct ts_buf *bytes)
{
	FILE *out = bench_create(path);

	bench_write(out, bytes->data, bytes->len);
	bench_finish(out);
}

/* An eight-byte register that the first such step from @pos on writes; its value to @value. */
static void find_value(struct bench_trace *t, uint64_t pos, uint8_t value[8])
{
	const struct ts_regset *set = ts_query_regset(t->q);
	struct ts_error err = { 0 };

	for (;; pos++) {
		const struct ts_steps *b;
		const struct ts_step *st = ts_query_step(t->q, pos, &b, &err);

		bench_check(st, &err);
		for (uint32_t i = 0; i < st->n_effects; i++) {
			const struct ts_effect *e = &b->effects[st->first + i];

			if (e->kind != TS_FX_REG_WRITE || e->len != 8 || e->addr == set->regs[set->pc].off)
				continue;
			memcpy(value, b->data + e->data, 8);
			return;
		}
	}
}

#define OP_REG     5 /* Usercorn's: then a number of two bytes, and the value */
#define OP_REG_LEN 11u

/* Write @path as @bytes with one value changed that a step at about @percent writes to a register. */
static void record_changed(struct bench_trace *a, const char *path, struct ts_buf *bytes, unsigned percent)
{
	size_t at = bytes->len / 100 * percent;
	uint8_t value[8];

	find_value(a, ts_query_end(a->q) / 100 * percent, value);
	while (at + OP_REG_LEN < bytes->len &&
	       (bytes->data[at] != OP_REG || memcmp(bytes->data + at + 3, value, 8) != 0))
		at++;
	if (at + OP_REG_LEN >= bytes->len)
		bench_die("no register to change in the recording");
	bytes->data[at + 3] ^= 1;
	write_file(path, bytes);
	bytes->data[at + 3] ^= 1;
}

/* ------------------------------------------------------------------------------------------------- others */

/* Registers and pc at each position, million positions a second. */
static double compare_naively(const struct bench_trace *a, const struct bench_trace *b)
{
	size_t len = ts_query_regset(a->q)->g_len;
	uint8_t *regs = malloc(4 * len);
	struct ts_error err = { 0 };
	double start = bench_cpu();
	uint64_t n_different = 0;

	if (!regs)
		bench_die("no memory");
	for (uint64_t pos = 0; pos < N_NAIVE; pos++) {
		bench_check(ts_query_regs(a->q, pos, 0, regs, regs + len, &err), &err);
		bench_check(ts_query_regs(b->q, pos, 0, regs + 2 * len, regs + 3 * len, &err), &err);
		n_different += memcmp(regs, regs + 2 * len, len) != 0;
	}
	free(regs);
	if (n_different)
		bench_die("the recordings differ too early");
	return N_NAIVE / (bench_cpu() - start) / 1e6;
}

/* Seconds by the clock of gdb stepping through both, with the registers of each step. */
static double run_gdb(const char *path, unsigned n)
{
	const char *program = getenv("TRACESTUB");
	double start = bench_now();
	char command[1000];

	snprintf(command, sizeof(command),
		 "%s gdb --quiet '%s' -- -nx -batch -ex 'python [(gdb.execute(\"stepi\", to_string=True), "
		 "gdb.execute(\"info registers\", to_string=True)) for i in range(%u)]' >/dev/null 2>&1",
		 program ? program : "./tracestub", path, n);
	return system(command) ? 0 : bench_now() - start;
}

static double step_with_gdb(const char *a, const char *b)
{
	double none = run_gdb(a, 0) + run_gdb(b, 0), all = run_gdb(a, N_GDB) + run_gdb(b, N_GDB);

	return none > 0 && all > none ? N_GDB / (all - none) : 0;
}

/* Seconds by the clock of the program, which has to build both indexes. */
static double run_program(const char *a, const char *b)
{
	const char *program = getenv("TRACESTUB");
	double start = bench_now();
	char command[1000];
	int status;

	snprintf(command, sizeof(command), "%s diff --quiet '%s' '%s' --index none >/dev/null", program ? program : "./tracestub", a, b);
	status = system(command);
	return status == -1 || status > 1 << 8 ? 0 : bench_now() - start;
}

/* ------------------------------------------------------------------------------------------------ figures */

static void figure(const char *column, const char *name, double value, enum bench_asked asked, double limit)
{
	bench_figure(TABLE, column, name, value, asked, limit, NULL);
}

static void open_as(struct bench_trace *t, const char *path, enum bench_index how)
{
	bench_build(t, path, how);
	bench_ask(t);
}

static void measure_pair(const char *column, const char *what, const char *a, const char *b,
			 enum bench_index how)
{
	struct bench_trace x, y;
	struct compared r;
	char name[80];

	open_as(&x, a, how);
	open_as(&y, b, how);
	r = compare(&x, &y);
	snprintf(name, sizeof(name), "%s: first row, s", what);
	if (r.n_rows)
		figure(column, name, r.first_s, how == BENCH_COMPARED ? BENCH_AT_MOST : BENCH_NOTHING, MAX_FIRST_S);
	snprintf(name, sizeof(name), "%s: whole, s", what);
	figure(column, name, r.whole_s, BENCH_AT_MOST, MAX_WHOLE_S);
	bench_close(&x);
	bench_close(&y);
}

static void measure_size(uint64_t millions)
{
	static const unsigned percents[] = { 10, 50, 99 };
	char *a = bench_temp("diff-a"), *b = bench_temp("diff-b"), column[32];
	struct bench_recording rec = { 0 };
	struct ts_buf bytes;
	struct bench_trace t, u;

	bench_usercorn_v0.record(&bench_usercorn_v0, a, millions * 1000000, &rec);
	snprintf(column, sizeof(column), "%" PRIu64 " M", millions);
	bytes = read_file(a);
	for (unsigned i = 0; i < 3; i++) {
		char what[40];

		open_as(&t, a, BENCH_COMPARED);
		record_changed(&t, b, &bytes, percents[i]);
		bench_close(&t);
		snprintf(what, sizeof(what), "one value at %u %%", percents[i]);
		measure_pair(column, what, a, b, BENCH_COMPARED);
		if (percents[i] == 50)
			measure_pair(column, "the same without digests", a, b, BENCH_TO_FILE);
	}
	figure(column, "  and both are indexed before, by the clock, s", run_program(a, b), BENCH_NOTHING, 0);
	write_file(b, &bytes);
	measure_pair(column, "no difference", a, b, BENCH_COMPARED);
	open_as(&t, a, BENCH_TO_FILE);
	open_as(&u, b, BENCH_TO_FILE);
	figure(column, "naive, million steps a second", compare_naively(&t, &u), BENCH_NOTHING, 0);
	bench_close(&t);
	bench_close(&u);
	figure(column, "gdb stepping through both, steps a second", step_with_gdb(a, b), BENCH_NOTHING, 0);
	ts_buf_fini(&bytes);
	bench_remove(a);
	bench_remove(b);
	free(a);
	free(b);
}

int main(void)
{
	uint64_t millions[MAX_SIZES];
	size_t n = bench_sizes(millions, MAX_SIZES);

	bench_about(TABLE, "two recordings: %s", bench_usercorn_v0.about);
	for (size_t i = 0; i < n; i++)
		measure_size(millions[i]);
	return 0;
}
