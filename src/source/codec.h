/* SPDX-License-Identifier: MIT */
/*
 * Compressed data, decoded piece by piece: gzip, xz and zstd, each with any number of members or frames one
 * after the other.
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

/* The compression of data that begins with these bytes. */
enum ts_codec_kind ts_codec_detect(const uint8_t *head, size_t len);

struct ts_codec;

/* A decoder, for a kind that is not TS_CODEC_NONE.  Returns NULL if memory is exhausted (TS_ENOMEM). */
struct ts_codec *ts_codec_new(enum ts_codec_kind kind, struct ts_error *err);
void ts_codec_free(struct ts_codec *c);

/* The next compressed bytes. */
struct ts_codec_input {
	const uint8_t *p; /* borrowed */
	size_t left;
	bool is_last;     /* nothing follows them */
};

/*
 * Decode bytes from @in, which is advanced, into the @cap bytes (more than 0) at @out; *got gets their
 * number.
 *
 * Returns TS_ITEM while there is more to decode: if @in is then empty, the next bytes are needed.  Returns
 * TS_END when everything has been decoded.  Returns TS_FAIL if the data ends too early (TS_ETRUNC), is
 * damaged or followed by other data (TS_ECORRUPT), needs more memory to decode than any usual file
 * (TS_ELIMIT), or memory is exhausted (TS_ENOMEM); the *got bytes are still valid.
 */
enum ts_next ts_codec_decode(struct ts_codec *c, struct ts_codec_input *in, uint8_t *out, size_t cap,
			     size_t *got, struct ts_error *err);

#endif
