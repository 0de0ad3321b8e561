/* SPDX-License-Identifier: MIT */
#include "code_samples.h"

#include <stdlib.h>
#include <string.h>

#include "src/query/paging.h"
#include "src/query/snapshot.h"

/* The first samples of a page are this far apart, so that a program of a page or two has some. */
#define SPACING UINT64_C(64)

/* The number of known bytes at the beginning of @known. */
static size_t n_leading(const uint8_t *known, size_t len)
{
	const uint8_t *unknown = memchr(known, 0, len);

	return unknown ? (size_t)(unknown - known) : len;
}

/* Append the piece at @addr, which @process executed first at @pos, if any of it is known. */
static bool add(struct ts_code_samples *s, struct ts_query *q, uint32_t process, uint64_t addr, uint64_t pos,
		struct ts_error *err)
{
	struct ts_code_sample *sample = &s->items[s->n];
	uint8_t known[TS_CODE_SAMPLE_LEN];

	if (!ts_virtual_mem(q, pos, process, addr, TS_CODE_SAMPLE_LEN, sample->bytes, known, err))
		return false;
	sample->addr = addr;
	sample->len = (uint8_t)n_leading(known, TS_CODE_SAMPLE_LEN);
	s->n += sample->len > 0;
	return true;
}

/*
 * The next piece at or after *addr: *start gets its address, *addr where to go on, @spacing bytes further.
 *
 * Returns false after the last.
 */
static bool next(const struct ts_runs *runs, uint32_t process, uint64_t spacing, uint64_t *addr,
		 uint64_t *start)
{
	if (*addr == UINT64_MAX || !ts_runs_next_start(runs, process, *addr, start))
		return false;
	*addr = UINT64_MAX - *start > spacing ? *start + spacing : UINT64_MAX;
	return true;
}

/* The least spacing at which the pieces are not too many. */
static uint64_t choose_spacing(const struct ts_runs *runs, uint32_t process)
{
	uint64_t spacing = SPACING / 4, addr, start;
	size_t n;

	do {
		spacing *= 4;
		addr = n = 0;
		while (n <= TS_MAX_CODE_SAMPLES && next(runs, process, spacing, &addr, &start))
			n++;
	} while (n > TS_MAX_CODE_SAMPLES);
	return spacing;
}

bool ts_code_samples_init(struct ts_code_samples *s, struct ts_query *q, uint32_t process,
			  struct ts_error *err)
{
	const struct ts_runs *runs = &q->tl->runs;
	uint64_t spacing = choose_spacing(runs, process), addr = 0, start;

	*s = (struct ts_code_samples){ .items = calloc(TS_MAX_CODE_SAMPLES, sizeof(*s->items)) };
	if (!s->items)
		return ts_no_memory(err, "samples of the code");
	while (next(runs, process, spacing, &addr, &start)) {
		uint64_t pos = ts_runs_find(runs, process, start, start, 0, TS_FORWARDS);

		if (pos < ts_query_n_steps(q) && !add(s, q, process, start, pos, err)) {
			ts_code_samples_fini(s);
			return false;
		}
	}
	return true;
}

void ts_code_samples_fini(struct ts_code_samples *s)
{
	free(s->items);
	*s = (struct ts_code_samples){ 0 };
}
