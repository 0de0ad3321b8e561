/* SPDX-License-Identifier: MIT */
/*
 * Questions in tests: to a recording, in any form, with the answer as text.
 */
#ifndef TS_TESTS_ASK_TEXT_H
#define TS_TESTS_ASK_TEXT_H

#include "script.h"
#include "src/ask/output/answer.h"
#include "src/symbols/names.h"
#include "src/symbols/symbols.h"
#include "src/ask/verb.h"
#include "src/timeline/timeline.h"

/* The number of chunks that one run of an answer searches. */
#define ASK_TEXT_CHUNKS 2

/* The cells of a row that ask_cells() splits. */
#define ASK_TEXT_CELLS 13

struct ask_text {
	struct ts_timeline *tl;
	struct ts_query *q;
	struct ts_names names;
	struct ts_symbols *symbols;
	struct ts_ask ask;
	struct ts_buf out, end; /* of the last answer */
	struct ts_error err;
	uint64_t n_rows;
	uint64_t most_rows; /* of one run of the last answer */
	unsigned n_runs;    /* of the last answer */
	uint64_t go;
	uint64_t n_answers; /* to all questions */
	char *(*cells)[ASK_TEXT_CELLS]; /* owned; the rows that ask_cells() split: they point into @out */
	uint64_t cap_cells;
};

/* Read all of @rec, which stays the caller's. */
void ask_text_init(struct ask_text *a, struct ts_recording *rec);
void ask_text_fini(struct ask_text *a);

/* Ask; false if the question was refused: a->err says why. */
bool ask_text(struct ask_text *a, enum ts_form_kind form, const char *question);

/*
 * Ask, and split the rows of the answer: a->cells[row][column], "" beyond the last column.  The test fails if the question is
 * refused.
 */
void ask_cells(struct ask_text *a, const char *question);

/* The number in a cell, TS_NO_POS if the cell is empty. */
uint64_t ask_number(const struct ask_text *a, uint64_t row, unsigned column);

/* Byte @i of a cell that is a value of @len bytes, "0x12f" or "2f ?? 01".  Returns whether it is known. */
bool ask_byte(const struct ask_text *a, const char *cell, size_t i, size_t len, uint8_t *byte);

#endif
