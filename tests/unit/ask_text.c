/* SPDX-License-Identifier: MIT */
#include "ask_text.h"

#include "asserts.h"
#include <inttypes.h>
#include <stdio.h>

#include "twins.h"

void ask_text_init(struct ask_text *a, struct ts_recording *rec)
{
	*a = (struct ask_text){ 0 };
	ts_error_reset(&a->err);
	ts_buf_init(&a->out);
	ts_buf_init(&a->end);
	a->tl = ts_timeline_new(rec, NULL, &a->err);
	ck_assert_ptr_nonnull(a->tl);
	while (ts_timeline_grow(a->tl, UINT64_MAX, &a->err) == TS_MORE)
		;
	a->q = ts_query_new(a->tl, &a->err);
	ck_assert_ptr_nonnull(a->q);
	ck_assert(ts_names_init(&a->names, a->q, &a->err));
	a->symbols = ts_symbols_new();
	ck_assert_ptr_nonnull(a->symbols);
	a->ask = (struct ts_ask){ .q = a->q, .names = &a->names, .symbols = a->symbols,
				  .may_write_files = true, .n_steps = ts_query_end(a->q) };
}

void ask_text_fini(struct ask_text *a)
{
	if (twins_n_questions())
		printf("%" PRIu64 " answers\n", a->n_answers);
	ts_buf_fini(&a->out);
	ts_buf_fini(&a->end);
	ts_names_fini(&a->names);
	ts_symbols_free(a->symbols);
	ts_query_free(a->q);
	ts_timeline_free(a->tl);
}

bool ask_text(struct ask_text *a, enum ts_form_kind form, const char *question)
{
	struct ts_answer *answer;
	enum ts_next got;

	ts_error_reset(&a->err);
	ts_buf_reset(&a->out);
	ts_buf_reset(&a->end);
	answer = ts_answer_new(&a->ask, question, form, &a->err);
	if (!answer)
		return false;
	a->most_rows = 0;
	a->n_runs = 0;
	do {
		uint64_t n = ts_answer_n_rows(answer);

		got = ts_answer_run(answer, ASK_TEXT_CHUNKS, &a->out, &a->end, &a->err);
		a->n_runs++;
		n = ts_answer_n_rows(answer) - n;
		a->most_rows = n > a->most_rows ? n : a->most_rows;
	} while (got == TS_MORE);
	ck_assert_msg(got == TS_END, "%s: %s", question, a->err.text);
	a->n_rows = ts_answer_n_rows(answer);
	a->go = ts_answer_go(answer);
	ts_answer_free(answer);
	a->n_answers++;
	return true;
}
