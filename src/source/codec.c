/* SPDX-License-Identifier: MIT */
#include "codec.h"

#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/*
 * How much memory decoding may need: that of the largest windows that the tools use without being asked for
 * more.
 */
#define XZ_MAX_MEMORY (UINT64_C(512) << 20)
#define ZSTD_MAX_WINDOW_LOG 29

struct ts_codec {
	enum ts_codec_kind kind;
	bool has_stream; /* the library's state is there */
	bool is_between; /* a member or frame has ended, and nothing of another has been seen */
	z_stream gzip;
	lzma_stream xz;
	ZSTD_DStream *zstd;
};

enum ts_codec_kind ts_codec_detect(const uint8_t *head, size_t len)
{
	if (len >= 3 && !memcmp(head, "\x1f\x8b\x08", 3))
		return TS_CODEC_GZIP;
	if (len >= 6 && !memcmp(head, "\xfd" "7zXZ", 6))
		return TS_CODEC_XZ;
	if (len >= 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4))
		return TS_CODEC_ZSTD;
	return TS_CODEC_NONE;
}

static const char *name_of(enum ts_codec_kind kind)
{
	static const char *const names[] = { "none", "gzip", "xz", "zstd" };

	return names[kind];
}

static bool start(struct ts_codec *c)
{
	switch (c->kind) {
	case TS_CODEC_NONE: break;
	case TS_CODEC_GZIP: return inflateInit2(&c->gzip, 15 + 16) == Z_OK; /* 16: of gzip, not of zlib */
	case TS_CODEC_XZ:
		c->xz = (lzma_stream)LZMA_STREAM_INIT;
		return lzma_stream_decoder(&c->xz, XZ_MAX_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
	case TS_CODEC_ZSTD:
		c->zstd = ZSTD_createDStream();
		return c->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(c->zstd, ZSTD_d_windowLogMax,
								       ZSTD_MAX_WINDOW_LOG));
	}
	return false;
}

struct ts_codec *ts_codec_new(enum ts_codec_kind kind, struct ts_error *err)
{
	struct ts_codec *c = calloc(1, sizeof(*c));

	if (c) {
		c->kind = kind;
		c->has_stream = start(c);
	}
	if (!c || !c->has_stream) {
		ts_codec_free(c);
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a %s decoder", name_of(kind));
		return NULL;
	}
	return c;
}

void ts_codec_free(struct ts_codec *c)
{
	if (!c)
		return;
	if (c->kind == TS_CODEC_GZIP && c->has_stream)
		inflateEnd(&c->gzip);
	if (c->kind == TS_CODEC_XZ && c->has_stream)
		lzma_end(&c->xz);
	ZSTD_freeDStream(c->zstd);
	free(c);
}

static enum ts_next fail(const struct ts_codec *c, enum ts_code code, const char *what, struct ts_error *err)
{
	ts_fail(err, code, TS_NO_OFF, "the %s data %s", name_of(c->kind), what);
	return TS_FAIL;
}

static enum ts_next fail_truncated(const struct ts_codec *c, struct ts_error *err)
{
	return fail(c, TS_ETRUNC, "is truncated", err);
}

static enum ts_next fail_damaged(const struct ts_codec *c, struct ts_error *err)
{
	return fail(c, TS_ECORRUPT, "is damaged", err);
}

static enum ts_next fail_no_memory(const struct ts_codec *c, struct ts_error *err)
{
	return fail(c, TS_ENOMEM, "cannot be decoded: no memory", err);
}

/* -------------------------------------------------------------------------------------------------- gzip */

/* Between members: zeros may pad the file, as on a tape.  TS_ITEM: a member begins. */
static enum ts_next begin_member(struct ts_codec *c, struct ts_codec_input *in, struct ts_error *err)
{
	while (in->left && !*in->p) {
		in->p++;
		in->left--;
	}
	if (!in->left)
		return in->is_last ? TS_END : TS_ITEM;
	if (*in->p != 0x1f)
		return fail(c, TS_ECORRUPT, "is followed by other data", err);
	c->is_between = false;
	inflateReset(&c->gzip);
	return TS_ITEM;
}

static enum ts_next decode_gzip(struct ts_codec *c, struct ts_codec_input *in, uint8_t *out, size_t cap,
				size_t *got, struct ts_error *err)
{
	z_stream *z = &c->gzip;
	uInt had = in->left < UINT_MAX ? (uInt)in->left : UINT_MAX;
	uInt room = cap < UINT_MAX ? (uInt)cap : UINT_MAX;
	int status;

	if (c->is_between)
		return begin_member(c, in, err);
	z->next_in = in->p;
	z->avail_in = had;
	z->next_out = out;
	z->avail_out = room;
	status = inflate(z, Z_NO_FLUSH);
	in->p += had - z->avail_in;
	in->left -= had - z->avail_in;
	*got = room - z->avail_out;
	if (status == Z_STREAM_END) {
		c->is_between = true;
		return TS_ITEM;
	}
	if (status == Z_MEM_ERROR)
		return fail_no_memory(c, err);
	if (status != Z_OK && status != Z_BUF_ERROR)
		return fail_damaged(c, err);
	return !in->left && in->is_last && !*got ? fail_truncated(c, err) : TS_ITEM;
}

/* ---------------------------------------------------------------------------------------------------- xz */

static enum ts_next decode_xz(struct ts_codec *c, struct ts_codec_input *in, uint8_t *out, size_t cap,
			      size_t *got, struct ts_error *err)
{
	lzma_stream *x = &c->xz;
	lzma_ret status;

	x->next_in = in->p;
	x->avail_in = in->left;
	x->next_out = out;
	x->avail_out = cap;
	status = lzma_code(x, in->is_last ? LZMA_FINISH : LZMA_RUN);
	in->p = x->next_in;
	in->left = x->avail_in;
	*got = cap - x->avail_out;
	switch (status) {
	case LZMA_OK: return TS_ITEM;
	case LZMA_STREAM_END: return TS_END;
	case LZMA_BUF_ERROR: return in->is_last ? fail_truncated(c, err) : TS_ITEM;
	case LZMA_MEM_ERROR: return fail_no_memory(c, err);
	case LZMA_MEMLIMIT_ERROR: return fail(c, TS_ELIMIT, "needs more than 512 MiB to be decoded", err);
	default: return fail_damaged(c, err);
	}
}

/* -------------------------------------------------------------------------------------------------- zstd */

static enum ts_next fail_zstd(const struct ts_codec *c, size_t status, struct ts_error *err)
{
	switch (ZSTD_getErrorCode(status)) {
	case ZSTD_error_memory_allocation: return fail_no_memory(c, err);
	case ZSTD_error_frameParameter_windowTooLarge:
		return fail(c, TS_ELIMIT, "needs more than 512 MiB to be decoded", err);
	default: return fail_damaged(c, err);
	}
}

static enum ts_next decode_zstd(struct ts_codec *c, struct ts_codec_input *in, uint8_t *out, size_t cap,
				size_t *got, struct ts_error *err)
{
	ZSTD_inBuffer from = { in->p, in->left, 0 };
	ZSTD_outBuffer to = { out, cap, 0 };
	size_t status;

	if (c->is_between && !in->left)
		return in->is_last ? TS_END : TS_ITEM;
	status = ZSTD_decompressStream(c->zstd, &to, &from);
	in->p += from.pos;
	in->left -= from.pos;
	*got = to.pos;
	if (ZSTD_isError(status))
		return fail_zstd(c, status, err);
	c->is_between = status == 0;
	return status && !in->left && in->is_last && !to.pos ? fail_truncated(c, err) : TS_ITEM;
}

enum ts_next ts_codec_decode(struct ts_codec *c, struct ts_codec_input *in, uint8_t *out, size_t cap,
			     size_t *got, struct ts_error *err)
{
	*got = 0;
	switch (c->kind) {
	case TS_CODEC_NONE: break;
	case TS_CODEC_GZIP: return decode_gzip(c, in, out, cap, got, err);
	case TS_CODEC_XZ: return decode_xz(c, in, out, cap, got, err);
	case TS_CODEC_ZSTD: return decode_zstd(c, in, out, cap, got, err);
	}
	return TS_END;
}
