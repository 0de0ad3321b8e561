/* SPDX-License-Identifier: MIT */
/*
 * Two traces written by hand, between which a byte 0xff stands: their differences, by the options that the first byte chooses.
 * The same trace twice has none.
 */
#include "fuzz.h"

#include <string.h>

#include "fuzz_opened.h"
#include "src/ask/diff/diff.h"
#include "src/ask/grammar/question.h"
#include "src/ask/output/answer.h"

/* More than any two short traces take. */
#define MAX_SLICES 1000000u

static uint64_t compare(struct fuzz_opened *a, struct fuzz_opened *b, uint8_t bits)
{
	struct ts_diff_options options = { .is_rebased = bits & 1, .is_all = bits & 2 };
	struct ts_error err = { 0 };
	struct ts_rows *rows = ts_diff_open(&a->ask, b->q, &options, &err);
	struct ts_answer *answer = rows ? ts_answer_of_rows(&a->ask, &ts_verb_diff, rows, TS_NO_LIMIT, TS_FORM_JSON, &err) : NULL;
	enum ts_next got = TS_MORE;
	uint64_t n = 0;
	struct ts_buf out;

	ts_buf_init(&out);
	fuzz_require(answer || err.text[0]);
	for (unsigned i = 0; answer && got == TS_MORE; i++) {
		got = ts_answer_run(answer, 1, &out, &out, &err);
		fuzz_require(i < MAX_SLICES);
	}
	fuzz_require(!answer || got == TS_END);
	if (answer)
		n = ts_answer_n_rows(answer);
	ts_answer_free(answer);
	ts_buf_fini(&out);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_opened a, b;
	uint8_t bits = len ? *bytes : 0;
	size_t n;

	if (!len)
		return 0;
	bytes++;
	len--;
	n = fuzz_first_part(bytes, len);
	if (fuzz_opened_init(&a, bytes, n)) {
		fuzz_require(!compare(&a, &a, bits));
		if (n < len && fuzz_opened_init(&b, bytes + n + 1, len - n - 1))
			fuzz_require(!compare(&a, &b, bits) == !compare(&b, &a, bits & ~1) || bits & 1);
		if (n < len)
			fuzz_opened_fini(&b);
	}
	fuzz_opened_fini(&a);
	return 0;
}
