/* SPDX-License-Identifier: MIT */
#include "ask_text.h"

#include "asserts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	free(a->cells);
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

void ask_cells(struct ask_text *a, const char *question)
{
	char *rest, *line;
	uint64_t n = 0;

	ck_assert_msg(ask_text(a, TS_FORM_TSV, question), "%s: %s", question, a->err.text);
	if (a->n_rows > a->cap_cells) {
		a->cap_cells = a->n_rows;
		a->cells = realloc(a->cells, a->cap_cells * sizeof(*a->cells));
		ck_assert_ptr_nonnull(a->cells);
	}
	ts_buf_putc(&a->out, 0);
	rest = strchr((char *)a->out.data, '\n') + 1;
	for (; (line = strsep(&rest, "\n")) && *line; n++) {
		ck_assert_msg(n < a->n_rows, "%s: more than %" PRIu64 " lines", question, a->n_rows);
		for (unsigned i = 0; i < ASK_TEXT_CELLS; i++) {
			char *cell = strsep(&line, "\t");

			a->cells[n][i] = cell ? cell : "";
		}
	}
	ck_assert_uint_eq(n, a->n_rows);
}

uint64_t ask_number(const struct ask_text *a, uint64_t row, unsigned column)
{
	const char *cell = a->cells[row][column];

	return *cell ? strtoull(cell, NULL, 0) : TS_NO_POS;
}

bool ask_byte(const struct ask_text *a, const char *cell, size_t i, size_t len, uint8_t *byte)
{
	bool is_big_endian = ts_query_regset(a->q)->arch->is_big_endian;
	size_t digits = strlen(cell), from_end = 2 * (is_big_endian ? len - 1 - i : i);
	char pair[3] = "00";

	if (strncmp(cell, "0x", 2) != 0) {
		ck_assert_msg(3 * i + 2 <= digits, "%s: byte %zu", cell, i);
		memcpy(pair, cell + 3 * i, 2);
	} else {
		for (unsigned k = 0; k < 2; k++) {
			if (from_end + k + 2 < digits)
				pair[1 - k] = cell[digits - 1 - from_end - k];
		}
	}
	*byte = (uint8_t)strtoul(pair, NULL, 16);
	return strcmp(pair, "??") != 0;
}
