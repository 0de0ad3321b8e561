/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace of whatever format they look like: its index is built, written to a file, and read
 * back, and both are asked the same questions.  Chunks are tiny, so that short traces have many.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loaders/loader.h"
#include "src/ask/output/answer.h"
#include "src/symbols/names.h"
#include "src/symbols/symbols.h"
#include "src/base/log.h"
#include "src/timeline/timeline.h"

#define MAX_STEPS   3000u
#define MAX_TOUCHED (UINT64_C(1) << 20)
#define N_POSITIONS 5u
#define MAX_THREADS 4u
#define MAX_BYTES   64u

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* What one index answers; two answer the same. */
struct told {
	struct ts_buf text;
};

static void put(struct told *told, const void *bytes, size_t len)
{
	ts_buf_put(&told->text, bytes, len);
}

/* Bytes that are not known are not looked at. */
static void put_known(struct told *told, uint8_t *data, const uint8_t *known, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[i] = known[i] ? data[i] : 0;
	put(told, data, len);
	put(told, known, len);
}

static void ask_registers(struct ts_query *q, uint64_t pos, struct told *told)
{
	struct ts_error err = { 0 };
	uint32_t len = ts_query_regset(q)->g_len;
	uint8_t *data = calloc(2, len);

	require(data);
	for (uint32_t t = 0; t < ts_query_n_threads(q) && t < MAX_THREADS; t++) {
		uint64_t pc = 0;
		bool has_pc = false;

		require(ts_query_regs(q, pos, t, data, data + len, &err));
		put_known(told, data, data + len, len);
		require(ts_query_pc(q, pos, t, &pc, &has_pc, &err));
		pc = has_pc ? pc : 0;
		put(told, &pc, sizeof(pc));
	}
	free(data);
}

/* Memory where the step at @pos reads and writes, there and at the end. */
static void ask_memory(struct ts_query *q, uint64_t pos, struct told *told)
{
	const struct ts_steps *batch = NULL;
	struct ts_error err = { 0 };
	const struct ts_step *step = pos < ts_query_end(q) ? ts_query_step(q, pos, &batch, &err) : NULL;
	struct ts_effect effects[8];
	uint32_t n = 0;

	for (uint32_t i = 0; step && i < step->n_effects && n < 8; i++) {
		const struct ts_effect *e = &batch->effects[step->first + i];

		if (e->kind == TS_FX_READ || e->kind == TS_FX_WRITE)
			effects[n++] = *e;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint8_t data[MAX_BYTES], known[MAX_BYTES];
		size_t len = effects[i].len < MAX_BYTES ? effects[i].len : MAX_BYTES;

		for (unsigned k = 0; k < 2; k++) {
			require(ts_query_mem(q, k ? ts_query_end(q) : pos, 0, effects[i].addr, len, data, known, &err));
			put_known(told, data, known, len);
		}
	}
}

static void ask_text(struct ts_query *q, const char *question, struct told *told)
{
	struct ts_error err = { 0 };
	struct ts_symbols *symbols = ts_symbols_new();
	struct ts_names names;
	struct ts_answer *answer;
	enum ts_next got = TS_MORE;
	struct ts_ask a;

	require(symbols && ts_names_init(&names, q, &err));
	a = (struct ts_ask){ .q = q, .names = &names, .symbols = symbols, .n_steps = ts_query_end(q) };
	answer = ts_answer_new(&a, question, TS_FORM_TSV, &err);
	if (!answer)
		require(err.text[0]);
	while (answer && got == TS_MORE)
		got = ts_answer_run(answer, 4, &told->text, &told->text, &err);
	require(!answer || got == TS_END);
	ts_answer_free(answer);
	ts_names_fini(&names);
	ts_symbols_free(symbols);
}

static void ask(struct ts_timeline *tl, unsigned turn, struct told *told)
{
	static const char *const questions[] = {
		"threads",  "processes", "modules",       "maps",         "events last 20", "calls first 20",
		"hot",      "stack",     "strings first 5", "when",       "history $sp first 9",
		"find \"a\" first 3",    "executions 0:-1 last 3",        "accesses 0:0x7fffffffffffffff last 9",
	};
	struct ts_error err = { 0 };
	struct ts_query *q = ts_query_new(tl, &err);

	require(q);
	for (uint64_t i = turn % FUZZ_SHARE; i < N_POSITIONS; i += FUZZ_SHARE) {
		uint64_t pos = ts_query_end(q) * i / (N_POSITIONS - 1);

		ask_registers(q, pos, told);
		ask_memory(q, pos, told);
	}
	for (size_t i = turn % FUZZ_SHARE; i < sizeof(questions) / sizeof(questions[0]); i += FUZZ_SHARE)
		ask_text(q, questions[i], told);
	ts_query_free(q);
}

/* Returns whether all steps are in the index, MAX_STEPS at the most. */
static bool build(struct ts_timeline *tl)
{
	struct ts_error err = { 0 };
	enum ts_next grow = TS_MORE;

	while (grow == TS_MORE && ts_timeline_n_read(tl) < MAX_STEPS)
		grow = ts_timeline_grow(tl, 100, &err);
	require(grow != TS_FAIL || err.text[0]);
	return grow == TS_END;
}

static struct ts_recording *open_trace(const struct ts_source *src)
{
	const struct ts_loader_options opt = { 0 };
	struct ts_error err = { 0 };
	const struct ts_loader *loader = ts_loader_probe(src, &err);

	return loader ? ts_loader_open(loader, src, &opt, &err) : NULL;
}

/*
 * A few bytes of a trace may claim that gigabytes were read, each page of which the index lists: such traces,
 * and those that cannot be read, are left out.
 */
static bool is_small(const struct ts_source *src)
{
	struct ts_recording *rec = open_trace(src);
	struct ts_error err = { 0 };
	struct ts_reader *reader = rec ? rec->ops->reader(rec, &err) : NULL;
	uint64_t touched = 0;
	struct ts_steps steps;

	ts_steps_init(&steps);
	for (unsigned n = 0; reader && touched <= MAX_TOUCHED && n < MAX_STEPS; n++) {
		ts_steps_reset(&steps);
		if (ts_reader_next(reader, &steps, &err) != TS_ITEM)
			break;
		for (uint32_t i = 0; i < steps.n_effects && touched <= MAX_TOUCHED; i++)
			touched += steps.effects[i].kind == TS_FX_READ || steps.effects[i].kind == TS_FX_WRITE ? steps.effects[i].len : 0;
	}
	ts_steps_fini(&steps);
	ts_reader_close(reader);
	ts_recording_close(rec);
	return reader && touched <= MAX_TOUCHED;
}

/* The index of the trace in the file, which is made by the first call. */
static bool ask_file(const struct ts_source *src, const char *path, unsigned turn, struct told *told)
{
	const struct ts_index_key key = { .signer = { .id = 1 } };
	struct ts_recording *rec = open_trace(src);
	struct ts_error err = { 0 };
	struct ts_timeline *tl = rec ? ts_timeline_new(rec, NULL, &err) : NULL;
	bool is_new = access(path, F_OK), done = false;
	struct ts_index_file *file = !tl ? NULL : is_new ? ts_index_create(path, &key, &err) : ts_index_open(path, &key, &err);

	if (tl) {
		require(file && ts_timeline_use_file(tl, file, &err));
		done = build(tl);
		if (done)
			ask(tl, turn, told);
	}
	ts_timeline_free(tl);
	ts_recording_close(rec);
	return done;
}

/* The index, one that was not finished, and the files of its sections: the key is that of any trace. */
static void remove_index(const char *path)
{
	static const char *const ends[] = { "", ".part", ".calls", ".find" };
	char name[80];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		remove(name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_from_memory(bytes, len, "fuzz", &err);
	unsigned turn = fuzz_turn(bytes, len);
	struct told first, second;
	char path[64];

	require(src);
	ts_log_set_level(TS_LOG_ERROR);
	snprintf(path, sizeof(path), "fuzz.%d.tsindex", (int)getpid());
	remove_index(path);
	ts_buf_init(&first.text);
	ts_buf_init(&second.text);
	if (is_small(src) && ask_file(src, path, turn, &first)) {
		require(ask_file(src, path, turn, &second));
		require(first.text.len == second.text.len &&
			!memcmp(first.text.data, second.text.data, first.text.len));
	}
	ts_buf_fini(&first.text);
	ts_buf_fini(&second.text);
	ts_source_close(src);
	remove_index(path);
	return 0;
}
