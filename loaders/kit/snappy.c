/* SPDX-License-Identifier: MIT */
#include "snappy.h"

#include <assert.h>
#include <inttypes.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "src/base/collections/bisect.h"
#include "src/base/cursor.h"
#include "src/base/collections/vec.h"

/*
 * Where chunks are shorter than SHORT_CHUNK, reading WINDOW_LEN bytes takes less time than reading their headers one
 * by one: a read costs 2.9 us, and the page cache gives 10 bytes a nanosecond (measured on a virtual machine).
 */
#define WINDOW_LEN  (256u << 10)
#define SHORT_CHUNK (24u << 10)

enum chunk_type {
	COMPRESSED = 0x00,
	STORED = 0x01,
	FIRST_SKIPPABLE = 0x80,
	IDENTIFIER = 0xff,
};

/* A chunk header as read, and the first bytes of its body. */
struct head {
	uint64_t off;  /* in the file */
	uint64_t left; /* bytes of the file after the header */
	uint32_t len;  /* of the body */
	uint8_t type;
	uint8_t body[16];
	size_t n_body; /* valid in body: as many as the chunk and the file have */
};

/* The part of the file that is in memory while its headers are scanned. */
struct window {
	uint8_t bytes[WINDOW_LEN];
	uint64_t off; /* file offset of bytes */
	size_t len;
	bool is_next_short; /* the chunk before was short: read on beyond the next header */
};

static uint32_t tables[8][256];
static once_flag tables_once = ONCE_FLAG_INIT;

static void make_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
		tables[0][i] = crc;
	}
	for (int t = 1; t < 8; t++)
		for (int i = 0; i < 256; i++)
			tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
}

static uint32_t load_u32le(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t snappy_crc32c_by_table(const uint8_t *data, size_t len)
{
	uint32_t crc = ~0u;

	call_once(&tables_once, make_tables);
	for (; len >= 8; data += 8, len -= 8) {
		uint32_t lo = crc ^ load_u32le(data);
		uint32_t hi = load_u32le(data + 4);

		crc = tables[7][lo & 0xff] ^ tables[6][lo >> 8 & 0xff] ^ tables[5][lo >> 16 & 0xff] ^
		      tables[4][lo >> 24] ^ tables[3][hi & 0xff] ^ tables[2][hi >> 8 & 0xff] ^
		      tables[1][hi >> 16 & 0xff] ^ tables[0][hi >> 24];
	}
	while (len--)
		crc = crc >> 8 ^ tables[0][(crc ^ *data++) & 0xff];
	return ~crc;
}

#ifdef __x86_64__
/*
 * The instruction's result comes three instructions later, so that three strands of STRAND_LEN bytes take the
 * time of one.  To append a strand's sum to another's, that one is carried over STRAND_LEN zeros: by the
 * tables, a byte of it at a time, for the sum of a sum is the sum of the sums.
 */
#define STRAND_LEN 1024u

static uint32_t zeros[4][256];
static once_flag zeros_once = ONCE_FLAG_INIT;

__attribute__((target("sse4.2"))) static void make_zeros(void)
{
	for (unsigned bit = 0; bit < 32; bit++) {
		uint64_t crc = UINT64_C(1) << bit;

		for (unsigned n = 0; n < STRAND_LEN; n += 8)
			crc = __builtin_ia32_crc32di(crc, 0);
		zeros[bit / 8][1u << bit % 8] = (uint32_t)crc;
	}
	for (unsigned t = 0; t < 4; t++)
		for (unsigned i = 1; i < 256; i++)
			zeros[t][i] = zeros[t][i & (i - 1)] ^ zeros[t][i & -i];
}

static uint64_t over_zeros(uint64_t crc)
{
	return zeros[0][crc & 0xff] ^ zeros[1][crc >> 8 & 0xff] ^ zeros[2][crc >> 16 & 0xff] ^
	       zeros[3][crc >> 24 & 0xff];
}

__attribute__((target("sse4.2"))) static uint64_t crc32c_of_strands(uint64_t crc, const uint8_t *data)
{
	uint64_t second = 0, third = 0, words[3];

	for (unsigned n = 0; n < STRAND_LEN; n += 8) {
		for (unsigned i = 0; i < 3; i++)
			memcpy(&words[i], data + i * STRAND_LEN + n, 8);
		crc = __builtin_ia32_crc32di(crc, words[0]);
		second = __builtin_ia32_crc32di(second, words[1]);
		third = __builtin_ia32_crc32di(third, words[2]);
	}
	return over_zeros(over_zeros(crc) ^ second) ^ third;
}

__attribute__((target("sse4.2"))) static uint32_t crc32c_by_instruction(const uint8_t *data, size_t len)
{
	uint64_t crc = 0xffffffffu;

	call_once(&zeros_once, make_zeros);
	for (; len >= 3 * STRAND_LEN; data += 3 * STRAND_LEN, len -= 3 * STRAND_LEN)
		crc = crc32c_of_strands(crc, data);
	for (; len >= 8; data += 8, len -= 8) {
		uint64_t word;

		memcpy(&word, data, 8);
		crc = __builtin_ia32_crc32di(crc, word);
	}
	while (len--)
		crc = __builtin_ia32_crc32qi((uint32_t)crc, *data++);
	return ~(uint32_t)crc;
}
#endif

uint32_t snappy_crc32c(const uint8_t *data, size_t len)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return crc32c_by_instruction(data, len);
#endif
	return snappy_crc32c_by_table(data, len);
}

/* Read at least a header and its h->body at @off into the window, as far as the file goes. */
static bool fill_window(struct window *w, const struct ts_source *src, uint64_t off, struct ts_error *err)
{
	struct ts_error ignored = { 0 };

	w->off = off;
	if (w->is_next_short && ts_source_read(src, off, w->bytes, sizeof(w->bytes), &w->len, &ignored))
		return true;
	w->len = 0; /* what follows may be what cannot be read */
	return ts_source_read(src, off, w->bytes, SNAPPY_HEADER_LEN + sizeof(((struct head *)NULL)->body), &w->len,
			      err);
}

/* Read the header at @off, which is not the end of the file. */
static bool read_head(const struct snappy_frames *f, struct window *w, uint64_t off, struct head *h,
		      struct ts_error *err)
{
	struct ts_cursor c;
	size_t got;

	if ((off < w->off || off - w->off + SNAPPY_HEADER_LEN + sizeof(h->body) > w->len) &&
	    !fill_window(w, f->src, off, err))
		return false;
	got = w->len - (size_t)(off - w->off);
	if (got < SNAPPY_HEADER_LEN)
		return ts_fail(err, TS_ETRUNC, off, "the file ends inside a snappy chunk header");
	c = ts_cursor(w->bytes + (off - w->off), got, off, "snappy chunk", err);
	h->off = off;
	h->left = ts_source_len(f->src) - off - SNAPPY_HEADER_LEN;
	h->type = ts_u8(&c);
	h->len = ts_u16le(&c);
	h->len |= (uint32_t)ts_u8(&c) << 16;
	h->n_body = c.left < h->len ? c.left : h->len;
	if (h->n_body > sizeof(h->body))
		h->n_body = sizeof(h->body);
	memcpy(h->body, c.p, h->n_body);
	w->is_next_short = h->len < SHORT_CHUNK;
	return true;
}

static bool check_identifier(const struct head *h, struct ts_error *err)
{
	if (h->len != SNAPPY_IDENTIFIER_LEN - SNAPPY_HEADER_LEN)
		return ts_fail(err, TS_ECORRUPT, h->off, "snappy stream identifier of %" PRIu32 " bytes",
			       h->len);
	if (h->n_body == h->len && memcmp(h->body, &SNAPPY_IDENTIFIER[SNAPPY_HEADER_LEN], h->len) != 0)
		return ts_fail(err, TS_ECORRUPT, h->off,
			       "snappy stream identifier with other bytes than sNaPpY");
	return true;
}

/* The decoded length that begins a snappy block, at most five bytes of seven bits. */
static bool block_len(const struct head *h, uint64_t *len, struct ts_error *err)
{
	*len = 0;
	for (size_t i = 0; i < 5 && SNAPPY_CRC_LEN + i < h->n_body; i++) {
		*len |= (uint64_t)(h->body[SNAPPY_CRC_LEN + i] & 0x7f) << 7 * i;
		if (!(h->body[SNAPPY_CRC_LEN + i] & 0x80))
			return true;
	}
	if (h->n_body < h->len && h->n_body < SNAPPY_CRC_LEN + 5)
		return true; /* truncated by the end of the file, which is reported as that */
	return ts_fail(err, TS_ECORRUPT, h->off, "snappy block without a length");
}

static bool check_data(const struct head *h, uint64_t *decoded_len, struct ts_error *err)
{
	if (h->len < SNAPPY_CRC_LEN)
		return ts_fail(err, TS_ECORRUPT, h->off,
			       "snappy data chunk of %" PRIu32 " bytes has no checksum", h->len);
	if (h->len > SNAPPY_MAX_BODY)
		return ts_fail(err, TS_ECORRUPT, h->off,
			       "snappy data chunk of %" PRIu32 " bytes, at most %u are legal", h->len,
			       SNAPPY_MAX_BODY);
	if (h->type == STORED)
		*decoded_len = h->len - SNAPPY_CRC_LEN;
	else if (!block_len(h, decoded_len, err))
		return false;
	if (*decoded_len > SNAPPY_MAX_DECODED)
		return ts_fail(err, TS_ECORRUPT, h->off,
			       "snappy chunk decodes to %" PRIu64 " bytes, at most %u are legal",
			       *decoded_len, SNAPPY_MAX_DECODED);
	return true;
}

static bool add_chunk(struct snappy_frames *f, const struct head *h, uint64_t decoded_len,
		      struct ts_error *err)
{
	if (!ts_vec_reserve(&f->chunks, f->n, &f->cap, 1, sizeof(*f->chunks)))
		return ts_no_memory(err, "the table of snappy chunks");
	f->chunks[f->n++] = (struct snappy_chunk){
		.file_off = h->off,
		.off = f->len,
		.body_len = h->len,
		.is_stored = h->type == STORED,
	};
	f->len += decoded_len;
	return true;
}

/* A data chunk that decodes to nothing has only a checksum to check, and is not entered. */
static bool check_empty(const struct head *h, struct ts_error *err)
{
	uint32_t stored = load_u32le(h->body), crc = snappy_mask_crc(snappy_crc32c(NULL, 0));

	if (h->type == COMPRESSED && h->len != SNAPPY_CRC_LEN + 1)
		return ts_fail(err, TS_ECORRUPT, h->off, "snappy block with a decoded length of 0 has %" PRIu32 " bytes",
			       h->len - SNAPPY_CRC_LEN);
	if (stored != crc)
		return ts_fail(err, TS_ECORRUPT, h->off,
			       "snappy chunk's checksum is 0x%08" PRIx32 ", its bytes give 0x%08" PRIx32,
			       stored, crc);
	return true;
}

/* Check one chunk's header and, if it holds data, enter it. */
static bool scan_chunk(struct snappy_frames *f, const struct head *h, struct ts_error *err)
{
	bool is_data = h->type == COMPRESSED || h->type == STORED;
	uint64_t decoded_len = 0;

	if (!is_data && h->type < FIRST_SKIPPABLE)
		return ts_fail(err, TS_ECORRUPT, h->off, "snappy chunk of the reserved type 0x%02x", h->type);
	if (h->type == IDENTIFIER && !check_identifier(h, err))
		return false;
	if (is_data && !check_data(h, &decoded_len, err))
		return false;
	if (h->len > h->left)
		return ts_fail(err, TS_ETRUNC, h->off,
			       "the file ends inside a snappy chunk: its body has %" PRIu32 " bytes, %" PRIu64
			       " are left",
			       h->len, h->left);
	if (is_data && !decoded_len)
		return check_empty(h, err);
	return !is_data || add_chunk(f, h, decoded_len, err);
}

/* Read the identifier at *@off and move past it. */
static bool scan_start(const struct snappy_frames *f, struct window *w, uint64_t *off, struct ts_error *err)
{
	struct head h;

	if (*off >= ts_source_len(f->src))
		return ts_fail(err, TS_ETRUNC, *off, "the file ends before the snappy stream identifier");
	if (!read_head(f, w, *off, &h, err))
		return false;
	if (h.type != IDENTIFIER)
		return ts_fail(err, TS_ECORRUPT, *off,
			       "snappy chunk of type 0x%02x where the stream identifier must be", h.type);
	if (!check_identifier(&h, err))
		return false;
	if (h.len > h.left)
		return ts_fail(err, TS_ETRUNC, *off, "the file ends inside the snappy stream identifier");
	*off += SNAPPY_IDENTIFIER_LEN;
	return true;
}

/* Enter all chunks; f->end gets why no more follow.  Returns false if there is not even a start. */
static bool scan(struct snappy_frames *f, struct window *w, uint64_t off, struct ts_error *err)
{
	struct head h;

	if (!scan_start(f, w, &off, err))
		return false;
	while (off < ts_source_len(f->src)) {
		if (!read_head(f, w, off, &h, &f->end) || !scan_chunk(f, &h, &f->end))
			break;
		off += SNAPPY_HEADER_LEN + (uint64_t)h.len;
	}
	if (f->end.code == TS_OK || f->end.code == TS_ETRUNC || f->end.code == TS_ECORRUPT)
		return true;
	*err = f->end;
	snappy_frames_fini(f);
	return false;
}

bool snappy_frames_scan(struct snappy_frames *f, const struct ts_source *src, uint64_t off,
			struct ts_error *err)
{
	struct window *w = malloc(sizeof(*w));
	bool done;

	*f = (struct snappy_frames){ .src = src };
	ts_error_reset(&f->end);
	if (!w)
		return ts_no_memory(err, "scanning snappy chunks");
	w->off = 0;
	w->len = 0;
	w->is_next_short = false;
	done = scan(f, w, off, err);
	free(w);
	return done;
}

void snappy_frames_fini(struct snappy_frames *f)
{
	free(f->chunks);
	*f = (struct snappy_frames){ 0 };
}

size_t snappy_frames_find(const struct snappy_frames *f, uint64_t off)
{
	size_t at = 1;

	assert(off < f->len);
	TS_BISECT(at, f->n, i, f->chunks[i].off <= off);
	return at - 1;
}

uint32_t snappy_frames_decoded_len(const struct snappy_frames *f, size_t i)
{
	uint64_t end = i + 1 < f->n ? f->chunks[i + 1].off : f->len;

	return (uint32_t)(end - f->chunks[i].off);
}

static bool decode_block(const struct snappy_chunk *chunk, const uint8_t *block, size_t block_len,
			 uint8_t *out, uint32_t out_len, struct ts_error *err)
{
	size_t len;

	if (snappy_uncompressed_length((const char *)block, block_len, &len) != SNAPPY_OK || len != out_len)
		return ts_fail(err, TS_ECORRUPT, chunk->file_off,
			       "snappy block changed its length since it was scanned");
	if (snappy_uncompress((const char *)block, block_len, (char *)out, &len) != SNAPPY_OK)
		return ts_fail(
			err, TS_ECORRUPT, chunk->file_off,
			"snappy block is damaged: a literal or a copy is out of range, or its length is not the %" PRIu32
			" bytes in its header",
			out_len);
	return true;
}

bool snappy_frames_decode(const struct snappy_frames *f, size_t i, uint8_t *out, uint8_t *scratch,
			  struct ts_error *err)
{
	const struct snappy_chunk *chunk = &f->chunks[i];
	uint32_t out_len = snappy_frames_decoded_len(f, i);
	uint32_t stored, crc;

	if (!ts_source_read_all(f->src, chunk->file_off + SNAPPY_HEADER_LEN, scratch, chunk->body_len, err))
		return false;
	if (chunk->is_stored)
		memcpy(out, scratch + SNAPPY_CRC_LEN, out_len);
	else if (!decode_block(chunk, scratch + SNAPPY_CRC_LEN, chunk->body_len - SNAPPY_CRC_LEN, out, out_len, err))
		return false;
	stored = load_u32le(scratch);
	crc = snappy_mask_crc(snappy_crc32c(out, out_len));
	if (crc != stored)
		return ts_fail(err, TS_ECORRUPT, chunk->file_off,
			       "snappy chunk's checksum is 0x%08" PRIx32 ", its bytes give 0x%08" PRIx32,
			       stored, crc);
	return true;
}
