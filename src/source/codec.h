/* SPDX-License-Identifier: MIT */
/*
 * Decoders of compressed data in pieces: gzip, xz and zstd, each with any number of consecutive members or frames.
 */
#ifndef TS_CODEC_H
#define TS_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/next.h"

enum ts_codec_kind {
	TS_CODEC_NONE,
	TS_CODEC_GZIP,
	TS_CODEC_XZ,
	TS_CODEC_ZSTD,
};

/* The number of bytes that ts_codec_detect() needs. */
#define TS_CODEC_HEAD 6

/* Returns the compression of data that begins with these bytes. */
enum ts_codec_kind ts_codec_detect(const uint8_t *head, size_t len);

struct ts_codec;

/* A decoder, for a kind that is not TS_CODEC_NONE; the caller frees it.  Returns NULL if memory is exhausted (TS_ENOMEM). */
struct ts_codec *ts_codec_new(enum ts_codec_kind kind, struct ts_error *err);
void ts_codec_free(struct ts_codec *c);

/* The next compressed bytes. */
struct ts_codec_input {
	const uint8_t *p; /* borrowed */
	size_t left;
	bool is_last;     /* they are the last ones */
};

/*
 * Decode bytes from @in, which is advanced, into the @cap (> 0) bytes at @out; *got is set to the number of decoded
 * bytes.
 *
 * Returns TS_ITEM while there is more to decode; if @in is then empty, the caller must provide the next bytes.  Returns
 * TS_END when everything has been decoded.  Returns TS_FAIL if the data is truncated (TS_ETRUNC), is damaged or
 * followed by other data (TS_ECORRUPT), needs an unusual amount of memory to decode (TS_ELIMIT), or memory is exhausted
 * (TS_ENOMEM); the *got bytes are still valid.
 */
enum ts_next ts_codec_decode(struct ts_codec *c, struct ts_codec_input *in, uint8_t *out, size_t cap,
			     size_t *got, struct ts_error *err);

#endif
