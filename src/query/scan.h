/* SPDX-License-Identifier: MIT */
/*
 * What a scan over the whole index needs: how often each instruction was executed, and which memory is known.
 */
#ifndef TS_SCAN_H
#define TS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query.h"

/* An instruction, and how often it was executed. */
struct ts_executed {
	uint32_t process;
	uint64_t pc;
	uint8_t len; /* bytes, 0 if unknown */
	uint64_t n;
};

/*
 * Call @use with what was executed by steps [@from, @to).  One address may come several times, in no order: the
 * counts are to be added.
 */
void ts_query_each_executed(const struct ts_query *q, uint64_t from, uint64_t to,
			    void (*use)(void *user, const struct ts_executed *x), void *user);

#define TS_SCAN_PAGE_BITS 12

/*
 * The numbers (address >> TS_SCAN_PAGE_BITS) of the pages of [@first, @last] of @process of which a byte may be
 * known at some position, ascending, to *pages, which the caller frees; *n gets how many.
 *
 * Returns false if memory is exhausted.
 */
bool ts_query_pages(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last, uint64_t **pages,
		    size_t *n);

#endif
