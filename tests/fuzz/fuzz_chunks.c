/* SPDX-License-Identifier: MIT */
/*
 * A kept table of snappy chunks, and the stream that it is said to be of: two bytes of length, little-endian,
 * the table, the stream.  Whatever the table says, a chunk of it lies within the stream, and what it decodes
 * to is good or an error.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>

#include "loaders/kit/snappy.h"

struct kept {
	const uint8_t *bytes;
	size_t len;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool recall(void *user, struct ts_buf *out)
{
	const struct kept *k = user;

	ts_buf_put(out, k->bytes, k->len);
	return ts_buf_ok(out);
}

static void keep(void *user, const struct ts_buf *bytes)
{
	(void)user;
	(void)bytes;
}

static void decode(const struct snappy_frames *f, size_t i)
{
	static uint8_t out[SNAPPY_MAX_DECODED], scratch[SNAPPY_MAX_BODY];
	struct ts_error err = { 0 };

	require(snappy_frames_decoded_len(f, i) <= sizeof(out));
	if (!snappy_frames_decode(f, i, out, scratch, &err))
		require(err.code != TS_OK && err.text[0]);
}

/* They follow each other, in the file and in the decoded stream. */
static void check_chunks(const struct snappy_frames *f)
{
	uint64_t end = SNAPPY_IDENTIFIER_LEN, off = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct snappy_chunk *c = &f->chunks[i];

		require(c->file_off >= end && c->off == off);
		end = c->file_off + SNAPPY_HEADER_LEN + c->body_len;
		require(end <= ts_source_len(f->src));
		off += snappy_frames_decoded_len(f, i);
		decode(f, i);
	}
	require(off == f->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ts_error err = { 0 };
	size_t table_len = len < 2 ? 0 : (size_t)(bytes[0] | bytes[1] << 8);
	struct snappy_frames frames, twin;
	struct ts_source_keeper keeper = { .recall = recall, .keep = keep };
	struct ts_source *src;
	struct kept kept;

	if (len < 2 || table_len > len - 2)
		return 0;
	kept = (struct kept){ bytes + 2, table_len };
	keeper.user = &kept;
	src = ts_source_from_memory(bytes + 2 + table_len, len - 2 - table_len, "fuzz", &err);
	require(src);
	ts_source_set_keeper(src, &keeper);
	if (snappy_table_open(&frames, src, 0, NULL, &err)) {
		check_chunks(&frames);
		require(snappy_table_open(&twin, src, 0, &frames, &err) && twin.n == frames.n);
		snappy_frames_fini(&twin);
		snappy_frames_fini(&frames);
	} else {
		require(err.code != TS_OK && err.text[0]);
	}
	ts_source_close(src);
	return 0;
}
