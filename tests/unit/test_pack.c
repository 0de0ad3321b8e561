/* SPDX-License-Identifier: MIT */
/*
 * Packed recordings: what was put in comes out, and nothing that is not there.  tests/e2e/pack.py has tar(1)
 * read them.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/collections/buf.h"
#include "src/source/pack.h"
#include "src/source/unpack.h"
#include "src/source/zstd_frames.h"

#define TRACE_LEN 700001u /* several frames, and no whole blocks */
#define BLOCK     512u

static uint8_t trace[TRACE_LEN];
static struct ts_error err;

static void setup(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < TRACE_LEN; i++) {
		x = x * 1664525u + 1013904223u;
		trace[i] = (uint8_t)(x >> 28);
	}
	ts_error_reset(&err);
}

static bool add(struct ts_pack_writer *w, const char *folder, const char *path, const void *bytes, size_t len)
{
	struct ts_source *src = ts_source_from_memory(bytes, len, "x", &err);
	bool done = ts_pack_writer_add(w, folder, path, src, &err);

	ts_source_close(src);
	return done;
}

static void make(const char *path)
{
	const struct ts_pack_facts facts = { .mtime = UINT64_C(1700000000123456789),
					     .has_base = true,
					     .base = 0x400000 };
	struct ts_pack_writer w;

	ck_assert(ts_pack_writer_init(&w, path, &facts, &err));
	ck_assert(add(&w, "trace/", "/some/where/run.ucir", trace, TRACE_LEN));
	ck_assert(add(&w, "program/", "prog", "an ELF file", 11));
	ck_assert(add(&w, "marks", NULL, "", 0));
	ck_assert(ts_pack_writer_finish(&w, &err));
	ts_pack_writer_fini(&w);
}

static void check_member(const struct ts_pack *p, const char *find, const char *name, const void *bytes,
			 size_t len)
{
	const struct ts_pack_member *m = ts_pack_find(p, find);
	uint8_t *got = malloc(len + 1);
	struct ts_source *src;

	ck_assert_ptr_nonnull(m);
	ck_assert_str_eq(m->name, name);
	src = ts_pack_open(p, m, &err);
	ck_assert_ptr_nonnull(src);
	ck_assert_uint_eq(ts_source_len(src), len);
	ck_assert(ts_source_read_all(src, 0, got, len, &err));
	ck_assert_int_eq(memcmp(got, bytes, len), 0);
	ts_source_close(src);
	free(got);
}

START_TEST(members_come_out_as_they_went_in)
{
	struct ts_source *archive;
	struct ts_pack p;

	make("whole.tspack");
	archive = ts_pack_open_archive("whole.tspack", &err);
	ck_assert_ptr_nonnull(archive);
	ck_assert(ts_pack_init(&p, archive, &err));
	ck_assert_uint_eq(p.n, 4);
	ck_assert_uint_eq(p.facts.mtime, UINT64_C(1700000000123456789));
	ck_assert(p.facts.has_base);
	ck_assert_uint_eq(p.facts.base, 0x400000);
	check_member(&p, "trace/", "trace/run.ucir", trace, TRACE_LEN);
	check_member(&p, "program/", "program/prog", "an ELF file", 11);
	check_member(&p, "marks", "marks", "", 0);
	ck_assert_ptr_null(ts_pack_find(&p, "index"));
	ck_assert_ptr_null(ts_pack_find(&p, "trac"));
	ts_pack_fini(&p);
	ts_source_close(archive);
}
END_TEST

START_TEST(a_packed_trace_is_opened_in_place)
{
	const struct ts_unpack_options opt = { 0 };
	uint8_t got[5000];
	struct ts_source *src;
	size_t n;

	make("place.tspack");
	src = ts_trace_open("place.tspack", &opt, &err);
	ck_assert_ptr_nonnull(src);
	ck_assert_str_eq(ts_source_name(src), "place.tspack/run.ucir");
	ck_assert_uint_eq(ts_source_len(src), TRACE_LEN);
	ck_assert_uint_eq(ts_source_mtime(src), UINT64_C(1700000000123456789));
	ck_assert_ptr_nonnull(ts_source_archive(src));
	ck_assert(ts_source_read(src, TRACE_LEN - 100, got, sizeof(got), &n, &err));
	ck_assert_uint_eq(n, 100); /* not what follows it in the archive */
	ck_assert_int_eq(memcmp(got, trace + TRACE_LEN - 100, n), 0);
	ts_source_close(src);
}
END_TEST

START_TEST(a_long_name_loses_its_beginning)
{
	char path[400], wanted[TS_PACK_NAME_LEN];
	const struct ts_pack_facts facts = { 0 };
	struct ts_pack_writer w;
	struct ts_source *archive;
	struct ts_pack p;

	memset(path, 'a', sizeof(path) - 1);
	strcpy(path + sizeof(path) - sizeof("end.ucir"), "end.ucir");
	ck_assert(ts_pack_writer_init(&w, "long.tspack", &facts, &err));
	ck_assert(add(&w, "trace/", path, "t", 1));
	ck_assert(ts_pack_writer_finish(&w, &err));
	ts_pack_writer_fini(&w);
	archive = ts_pack_open_archive("long.tspack", &err);
	ck_assert(ts_pack_init(&p, archive, &err));
	snprintf(wanted, sizeof(wanted), "trace/%s", path + strlen(path) - 93);
	ck_assert_str_eq(ts_pack_find(&p, "trace/")->name, wanted);
	ts_pack_fini(&p);
	ts_source_close(archive);
}
END_TEST

/* ------------------------------------------------------------------------------------- what is not right */

/* The archive as bytes: this many of them. */
static uint8_t *archive_bytes(size_t *len)
{
	struct ts_source *archive;
	uint8_t *bytes;

	make("bytes.tspack");
	archive = ts_pack_open_archive("bytes.tspack", &err);
	*len = (size_t)ts_source_len(archive);
	bytes = malloc(*len);
	ck_assert(ts_source_read_all(archive, 0, bytes, *len, &err));
	ts_source_close(archive);
	return bytes;
}

static enum ts_code list(const uint8_t *bytes, size_t len)
{
	struct ts_source *src = ts_source_from_memory(bytes, len, "archive", &err);
	struct ts_pack p;
	bool done;

	ts_error_reset(&err);
	done = ts_pack_init(&p, src, &err);
	ck_assert_int_eq(done, err.code == TS_OK);
	ts_pack_fini(&p);
	ts_source_close(src);
	return err.code;
}

/* The checksum of ustar: the sum of the bytes, its own taken for blanks. */
static void sign(uint8_t *block)
{
	unsigned sum = 0;

	memset(block + 148, ' ', 8);
	for (unsigned i = 0; i < BLOCK; i++)
		sum += block[i];
	snprintf((char *)block + 148, 8, "%06o", sum);
}

START_TEST(a_truncated_archive_is_refused_wherever_it_ends)
{
	size_t len;
	uint8_t *bytes = archive_bytes(&len);

	ck_assert_int_eq(list(bytes, len), TS_OK);
	for (size_t cut = 0; cut < len - 2 * BLOCK; cut += cut < 4 * BLOCK ? 1 : 997)
		ck_assert_int_eq(list(bytes, cut), TS_ETRUNC);
	free(bytes);
}
END_TEST

START_TEST(a_damaged_header_is_refused)
{
	size_t len;
	uint8_t *bytes = archive_bytes(&len);

	for (size_t i = 0; i < BLOCK; i++) {
		if (i == 155)
			continue; /* after the checksum's end: no reader looks at it */
		bytes[2 * BLOCK + i] ^= 0x10;
		ck_assert_int_ne(list(bytes, len), TS_OK);
		bytes[2 * BLOCK + i] ^= 0x10;
	}
	ck_assert_int_eq(list(bytes, len), TS_OK);
	free(bytes);
}
END_TEST

START_TEST(a_length_that_lies_is_refused)
{
	static const char *const lengths[] = { "77777777777", "-0000000001", "00000000008", "           " };
	static const uint8_t huge[12] = { 0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t over[12] = { 0x80, 1 };
	size_t len;
	uint8_t *bytes = archive_bytes(&len), *header = bytes + 2 * BLOCK;

	for (unsigned i = 0; i < 4; i++) {
		memcpy(header + 124, lengths[i], 12);
		sign(header);
		ck_assert_int_eq(list(bytes, len), TS_ETRUNC);
	}
	memcpy(header + 124, huge, 12);
	sign(header);
	ck_assert_int_eq(list(bytes, len), TS_ETRUNC);
	memcpy(header + 124, over, 12);
	sign(header);
	ck_assert_int_eq(list(bytes, len), TS_ETRUNC);
	free(bytes);
}
END_TEST

START_TEST(a_binary_length_is_read)
{
	static const uint8_t number[12] = {
		0x80, 0, 0, 0, 0, 0, 0, 0, 0, TRACE_LEN >> 16, TRACE_LEN >> 8 & 0xff, TRACE_LEN & 0xff
	};
	size_t len;
	uint8_t *bytes = archive_bytes(&len), *header = bytes + 2 * BLOCK;

	memcpy(header + 124, number, 12);
	sign(header);
	ck_assert_int_eq(list(bytes, len), TS_OK);
	free(bytes);
}
END_TEST

START_TEST(other_versions_and_endless_lists_are_refused)
{
	enum { N = 20002 };
	size_t len, n = (size_t)N * BLOCK;
	uint8_t *bytes = archive_bytes(&len), *many = calloc(1, n);

	bytes[BLOCK + 8] = '2'; /* "version 1" */
	ck_assert_int_eq(list(bytes, len), TS_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.text, "version 2"));
	bytes[BLOCK + 8] = '1';
	for (unsigned i = 0; i < N - 1; i++) { /* empty members */
		memcpy(many + (size_t)i * BLOCK, bytes + 2 * BLOCK, BLOCK);
		memcpy(many + (size_t)i * BLOCK + 124, "00000000000", 12);
		sign(many + (size_t)i * BLOCK);
	}
	ck_assert_int_eq(list(many, n), TS_ELIMIT);
	ck_assert_int_eq(list(many + (size_t)(N - 2) * BLOCK, 2 * BLOCK),
			 TS_ECORRUPT); /* only a trace, nothing about it */
	memset(bytes + 2 * BLOCK, 0, BLOCK);
	ck_assert_int_eq(list(bytes, len), TS_ECORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "no trace"));
	free(many);
	free(bytes);
}
END_TEST

START_TEST(other_files_are_not_packed_recordings)
{
	FILE *f = fopen("other", "w");

	fputs("something else\n", f);
	fclose(f);
	ck_assert_ptr_null(ts_pack_open_archive("other", &err));
	ck_assert_int_eq(err.code, TS_EUSAGE);
	ts_error_reset(&err);
	ck_assert_ptr_null(ts_pack_open_archive("missing", &err));
	ck_assert_int_eq(err.code, TS_EIO);
}
END_TEST

/* A source that becomes shorter than its length. */
static bool read_half(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
		      struct ts_error *e)
{
	(void)e;
	memset(data, 0, len);
	*got = off + len > src->len / 2 ? 0 : len;
	return true;
}

static struct ts_source *dup_none(const struct ts_source *src, struct ts_error *e)
{
	(void)src;
	ts_fail(e, TS_EIO, TS_NO_OFF, "not this one");
	return NULL;
}

static void close_none(struct ts_source *src)
{
	(void)src;
}

START_TEST(a_file_that_fails_leaves_nothing)
{
	static const struct ts_source_ops ops = { .read = read_half, .dup = dup_none, .close = close_none };
	struct ts_source *src = calloc(1, sizeof(*src));
	const struct ts_pack_facts facts = { 0 };
	struct ts_pack_writer w;
	struct stat st;

	ck_assert(ts_source_init(src, &ops, 1 << 20, "shrinks", &err));
	ck_assert(ts_pack_writer_init(&w, "half.tspack", &facts, &err));
	ck_assert(!ts_pack_writer_add(&w, "trace/", "x", src, &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ts_pack_writer_fini(&w);
	ck_assert_int_ne(stat("half.tspack", &st), 0);
	ts_source_close(src);
	ts_error_reset(&err);
	ck_assert(!ts_pack_writer_init(&w, "/no/such/folder/x", &facts, &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ts_pack_writer_fini(&w);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = { members_come_out_as_they_went_in,
				       a_packed_trace_is_opened_in_place,
				       a_long_name_loses_its_beginning,
				       a_truncated_archive_is_refused_wherever_it_ends,
				       a_damaged_header_is_refused,
				       a_length_that_lies_is_refused,
				       a_binary_length_is_read,
				       other_versions_and_endless_lists_are_refused,
				       other_files_are_not_packed_recordings,
				       a_file_that_fails_leaves_nothing };

	return unit_suite_of("pack", setup, NULL, tests, sizeof(tests) / sizeof(tests[0]));
}
