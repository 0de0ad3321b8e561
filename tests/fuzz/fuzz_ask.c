/* SPDX-License-Identifier: MIT */
/*
 * A question, to a recording of a few steps: it is answered, or refused with one line and an example.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "src/ask/output/answer.h"
#include "src/symbols/names.h"
#include "src/symbols/symbols.h"
#include "src/timeline/timeline.h"
#include "tests/unit/script.h"

static void require(bool holds)
{
	if (!holds)
		abort();
}

static struct script *make_recording(void)
{
	struct script *s = script_new("x86_64", 1, NULL);

	require(s != NULL);
	for (unsigned i = 0; i < 8; i++) {
		ts_steps_value(&s->steps, i % 2 ? TS_FX_WRITE : TS_FX_READ, 0x5000 + i, "text", 4);
		ts_steps_close(&s->steps, 0x401000 + 4 * i, 4, 0);
	}
	return s;
}

/* What coverage writes and marks keep is not for a fuzz target. */
static bool writes_files(const char *text)
{
	return strstr(text, "drcov") || strstr(text, "lcov");
}

static void ask(struct ts_ask *a, const char *text)
{
	struct ts_answer *answer;
	struct ts_error err;
	struct ts_buf out;
	enum ts_next got;

	ts_error_reset(&err);
	answer = ts_answer_new(a, text, TS_FORM_JSON, &err);
	if (!answer) {
		require(err.code != TS_OK && !strchr(err.text, '\n'));
		require(err.code != TS_EUSAGE || strstr(err.text, "; example: "));
		return;
	}
	ts_buf_init(&out);
	do
		got = ts_answer_run(answer, 1, &out, &out, &err);
	while (got == TS_MORE);
	if (got == TS_FAIL) /* a place that was searched for is not in the recording */
		require(err.code == TS_EUSAGE && *err.text && !strchr(err.text, '\n'));
	else
		require(strstr(ts_buf_text(&out), "{\"complete\":") != NULL);
	ts_buf_fini(&out);
	ts_answer_free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct script *s = make_recording();
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);
	struct ts_symbols *symbols = ts_symbols_new();
	struct ts_names names;
	struct ts_query *q;
	struct ts_ask a;
	char *text = calloc(1, len + 1);

	require(tl && symbols && text);
	while (ts_timeline_grow(tl, UINT64_MAX, &err) == TS_MORE)
		;
	q = ts_query_new(tl, &err);
	require(q && ts_names_init(&names, q, &err));
	a = (struct ts_ask){ .q = q, .names = &names, .symbols = symbols, .n_steps = ts_query_end(q) };
	if (len)
		memcpy(text, bytes, len);
	if (!writes_files(text))
		ask(&a, text);
	free(text);
	ts_names_fini(&names);
	ts_symbols_free(symbols);
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
	return 0;
}
