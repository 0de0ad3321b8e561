/* SPDX-License-Identifier: MIT */
/*
 * The snappy framing format: a file of chunks, each decodable alone.
 *
 * A chunk is a type byte, a 24-bit little-endian length and a body.  0xff is the stream identifier
 * ("sNaPpY"), 0x00 a snappy block and 0x01 plain bytes, both after a masked CRC-32C of the decoded bytes;
 * 0x80..0xfe are skipped, 0x02..0x7f must not be.  A data chunk decodes to at most 64 KiB.  Scanning the
 * headers gives a table of the chunks by their offset in the decoded stream, so that each can be decoded
 * without the others.  The codec does not depend on the contents of the stream.
 */
#ifndef LOADERS_SNAPPY_H
#define LOADERS_SNAPPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/source/source.h"

/* The chunk that opens a framed stream. */
#define SNAPPY_IDENTIFIER "\xff\x06\x00\x00sNaPpY"
#define SNAPPY_IDENTIFIER_LEN 10

/* Type and length of a chunk; the checksum that begins the body of a data chunk. */
#define SNAPPY_HEADER_LEN 4
#define SNAPPY_CRC_LEN    4

/* The largest decoded length of a data chunk, and of its body: CRC and a block of incompressible bytes. */
#define SNAPPY_MAX_DECODED 65536u
#define SNAPPY_MAX_BODY (4 + 76490u)

/* A data chunk. */
struct snappy_chunk {
	uint64_t file_off; /* of its header */
	uint64_t off;      /* of its first byte in the decoded stream */
	uint32_t body_len; /* CRC included */
	bool is_stored;    /* plain bytes, not a snappy block */
};

/* The data chunks of a file, in order. */
struct snappy_frames {
	const struct ts_source *src; /* borrowed */
	struct snappy_chunk *chunks; /* owned */
	size_t n, cap;
	uint64_t len;                /* bytes of the decoded stream, up to end */
	/*
	 * TS_OK: the file ends after the last chunk.  Else the file is truncated (TS_ETRUNC) or damaged
	 * there.
	 */
	struct ts_error end;
};

/*
 * Scan the chunk headers of @src (borrowed) from file offset @off, where the stream identifier must be.
 * Bodies are not read: a damaged body is found when it is decoded.
 *
 * Returns true on success, also if the file is truncated or damaged after the identifier: *f then has the
 * chunks before the damage, and f->end describes it.  The caller calls snappy_frames_fini().
 * Returns false if the file does not begin with the identifier (TS_ECORRUPT, TS_ETRUNC).
 * Returns false if the file cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool snappy_frames_scan(struct snappy_frames *f, const struct ts_source *src, uint64_t off,
			struct ts_error *err);
void snappy_frames_fini(struct snappy_frames *f);

/*
 * Returns the ordinal of the chunk that contains byte @off of the decoded stream; @off must be less than
 * f->len.
 */
size_t snappy_frames_find(const struct snappy_frames *f, uint64_t off);

/* Returns the decoded length of chunk @i in bytes. */
uint32_t snappy_frames_decoded_len(const struct snappy_frames *f, size_t i);

/*
 * Decode chunk @i into @out, which has snappy_frames_decoded_len() bytes.  @scratch has SNAPPY_MAX_BODY
 * bytes.
 *
 * Returns false if the block is damaged or its CRC differs (TS_ECORRUPT).
 * Returns false if the block cannot be read any more (TS_EIO).
 */
bool snappy_frames_decode(const struct snappy_frames *f, size_t i, uint8_t *out, uint8_t *scratch,
			  struct ts_error *err);

/* Returns the CRC-32C (Castagnoli) of @len bytes, not masked. */
uint32_t snappy_crc32c(const uint8_t *data, size_t len);

/* snappy_crc32c() without the processor's instruction, for the test that compares both. */
uint32_t snappy_crc32c_by_table(const uint8_t *data, size_t len);

/* The form in which a chunk stores a CRC. */
static inline uint32_t snappy_mask_crc(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* --------------------------------------------------------------------------------- snappy_table.c */

/* Tables with fewer chunks are not stored: to scan the headers again is faster. */
#define SNAPPY_TABLE_MIN_KEPT 4096u

/*
 * Set *f to the table of the frames from @off on, with two shortcuts to snappy_frames_scan().  @like, NULL or the table of
 * another recording, is copied if its source is @src.  A table from the layout cache (ts_source_layout) is used if its
 * chunks are consecutive and within the file.  Returns as snappy_frames_scan() does.
 */
bool snappy_table_open(struct snappy_frames *f, const struct ts_source *src, uint64_t off,
		       const struct snappy_frames *like, struct ts_error *err);

/* -------------------------------------------------------------------------------- snappy_source.c */

/*
 * A source of the decoded stream of @frames, which are borrowed until it is closed.  A read that reaches a
 * damaged chunk returns the bytes before the chunk, and then fails with the chunk's offset in the compressed
 * file (TS_ECORRUPT).
 *
 * Returns the source, which the caller closes with ts_source_close().
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *snappy_source_open(const struct snappy_frames *frames, struct ts_error *err);

#endif
