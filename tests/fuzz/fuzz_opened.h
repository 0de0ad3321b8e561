/* SPDX-License-Identifier: MIT */
/*
 * For targets about what is made of recordings: a trace written by hand, read and ready to be asked.
 */
#ifndef TS_TESTS_FUZZ_OPENED_H
#define TS_TESTS_FUZZ_OPENED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/ask/verb.h"
#include "src/symbols/names.h"
#include "src/symbols/symbols.h"
#include "src/timeline/timeline.h"

struct fuzz_opened {
	struct ts_source *src;
	struct ts_timeline *tl;
	struct ts_query *q;
	struct ts_symbols *symbols;
	struct ts_names names;
	struct ts_ask ask;
};

/* Returns false if the bytes are no such trace; @o is to be finished all the same. */
bool fuzz_opened_init(struct fuzz_opened *o, const uint8_t *bytes, size_t len);
void fuzz_opened_fini(struct fuzz_opened *o);

/* The first part of an input that a byte 0xff divides: its length; that of the whole input if no byte does. */
size_t fuzz_first_part(const uint8_t *bytes, size_t len);

void fuzz_require(bool holds);

#endif
