/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a compressed trace or a packed recording: what is unpacked is the same in whatever pieces it
 * is read.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/source/codec.h"
#include "src/source/pack.h"
#include "src/source/unpack.h"

#define MAX_LEN (UINT64_C(1) << 18)

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* All decoded bytes, at most MAX_LEN, of input that comes in pieces of @piece bytes. */
static enum ts_next decode(enum ts_codec_kind kind, const uint8_t *bytes, size_t len, size_t piece,
			   struct ts_buf *out)
{
	struct ts_error err = { 0 };
	struct ts_codec *c = ts_codec_new(kind, &err);
	struct ts_codec_input in = { .p = bytes };
	enum ts_next next;

	require(c);
	do {
		uint8_t some[1000];
		size_t got = 0;

		if (!in.left) {
			in.left = len < piece ? len : piece;
			len -= in.left;
			in.is_last = !len;
		}
		next = ts_codec_decode(c, &in, some, sizeof(some), &got, &err);
		require(got <= sizeof(some));
		ts_buf_put(out, some, got);
	} while (next == TS_ITEM && out->len < MAX_LEN);
	require((next == TS_FAIL) == (err.code != TS_OK));
	ts_codec_free(c);
	return next;
}

static void decode_in_pieces(const uint8_t *bytes, size_t len)
{
	enum ts_codec_kind kind = ts_codec_detect(bytes, len);
	enum ts_next next;
	struct ts_buf a, b;
	size_t n;

	if (kind == TS_CODEC_NONE)
		return;
	ts_buf_init(&a);
	ts_buf_init(&b);
	next = decode(kind, bytes, len, len, &a);
	require(decode(kind, bytes, len, 7, &b) == next);
	/* how much of damaged data comes before the damage is the library's to say */
	require(next == TS_FAIL || a.len == b.len);
	n = a.len < b.len ? a.len : b.len;
	require(!n || !memcmp(a.data, b.data, n));
	ts_buf_fini(&a);
	ts_buf_fini(&b);
}

/* Bytes from the end to the beginning are those from the beginning to the end. */
static void read_both_ways(const struct ts_source *src)
{
	uint64_t len = ts_source_len(src);
	struct ts_error err = { 0 };
	uint8_t *whole = malloc(len + 1), some[999];
	size_t n, got;

	require(whole && len <= MAX_LEN);
	if (ts_source_read(src, 0, whole, len + 1, &n, &err)) {
		require(n <= len);
		for (uint64_t off = n - n % sizeof(some);; off -= sizeof(some)) {
			require(ts_source_read(src, off, some, sizeof(some), &got, &err));
			require(off + got <= n && !memcmp(some, whole + off, got));
			if (!off)
				break;
		}
	}
	free(whole);
}

static void list_members(const struct ts_source *archive)
{
	struct ts_error err = { 0 };
	struct ts_pack p;

	if (ts_pack_init(&p, archive, &err)) {
		require(p.n > 0);
		for (size_t i = 0; i < p.n; i++) {
			struct ts_source *member = ts_pack_open(&p, &p.members[i], &err);

			require(member && ts_source_len(member) == p.members[i].len);
			read_both_ways(member);
			ts_source_close(member);
		}
	} else {
		require(err.code != TS_OK && err.text[0]);
	}
	ts_pack_fini(&p);
}

static void open_path(const char *path)
{
	const struct ts_unpack_options opt = { .max_len = MAX_LEN };
	struct ts_error err = { 0 };
	struct ts_source *src = ts_trace_open(path, &opt, &err);

	require(src || (err.code != TS_OK && err.text[0]));
	if (src && ts_source_len(src) <= MAX_LEN)
		read_both_ways(src);
	if (src && ts_source_archive(src) && ts_source_len(ts_source_archive(src)) <= MAX_LEN)
		list_members(ts_source_archive(src));
	ts_source_close(src);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ts_error err = { 0 };
	struct ts_source *plain = ts_source_from_memory(bytes, len, "fuzz", &err);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	require(plain && fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	decode_in_pieces(bytes, len);
	open_path(path);
	if (len <= MAX_LEN)
		list_members(plain);
	ts_source_close(plain);
	close(fd);
	return 0;
}
