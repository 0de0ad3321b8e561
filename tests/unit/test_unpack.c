/* SPDX-License-Identifier: MIT */
/*
 * Traces as the user names them: plain, compressed, through a pipe; unpacked once, and bounded.
 */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "src/source/spool.h"
#include "src/source/unpack.h"

/* More than stays in memory. */
#define LEN (3 * TS_SPOOL_IN_MEMORY / 2)

static struct ts_unpack_options opt;
static struct ts_source *src;
static struct ts_error err;
static uint8_t *plain;
static unsigned n_told, n_checked;

static void tell(void *user, const struct ts_unpacking *at)
{
	(void)user;
	n_told++;
	ck_assert_str_eq(at->name, "trace.gz");
	ck_assert_uint_le(at->n_in, at->in_len);
}

static bool check(void *user, const uint8_t *head, size_t len, struct ts_error *e)
{
	(void)user;
	n_checked++;
	ck_assert_uint_eq(len, 8192);
	ck_assert_int_eq(memcmp(head, plain, len), 0);
	return ts_fail(e, TS_EUNSUPPORTED, 0, "not a trace");
}

/* Tests share the folder that they run in. */
static void empty_cache(void)
{
	DIR *dir = opendir("cache");
	struct dirent *e;

	while ((e = readdir(dir)))
		unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
}

static void setup(void)
{
	uint32_t x = 1;

	ts_error_reset(&err);
	plain = malloc(LEN);
	ck_assert_ptr_nonnull(plain);
	for (size_t i = 0; i < LEN; i++) {
		x = x * 1664525u + 1013904223u;
		plain[i] = (uint8_t)(x >> 24 & 3);
	}
	opt = (struct ts_unpack_options){ .dir = "cache" };
	mkdir("cache", 0700);
	empty_cache();
	unlink("pipe");
	src = NULL;
	n_told = n_checked = 0;
}

static void close_it(void)
{
	ts_source_close(src);
	src = NULL;
}

static void teardown(void)
{
	close_it();
	free(plain);
}

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, len, f), len);
	fclose(f);
}

static void write_gz(const char *path, size_t len)
{
	gzFile f = gzopen(path, "wb1");

	ck_assert_int_eq(gzwrite(f, plain, (unsigned)len), (int)len);
	gzclose(f);
}

static void open_it(const char *path)
{
	src = ts_trace_open(path, &opt, &err);
	ck_assert_msg(src, "%s", err.text);
}

static void check_bytes(size_t len)
{
	uint8_t *bytes = malloc(len + 1);
	size_t got;

	ck_assert_uint_eq(ts_source_len(src), len);
	ck_assert(ts_source_read(src, 0, bytes, len + 1, &got, &err));
	ck_assert_uint_eq(got, len);
	ck_assert_int_eq(memcmp(bytes, plain, len), 0);
	free(bytes);
}

static unsigned n_kept(void)
{
	DIR *dir = opendir("cache");
	struct dirent *e;
	unsigned n = 0;

	while ((e = readdir(dir)))
		n += *e->d_name != '.';
	closedir(dir);
	return n;
}

START_TEST(a_plain_file_is_itself)
{
	write_file("trace.gz", plain, 5000); /* the name says nothing */
	open_it("trace.gz");
	check_bytes(5000);
	ck_assert(!ts_source_is_fleeting(src));
}
END_TEST

START_TEST(little_is_unpacked_in_memory)
{
	write_gz("trace.bin", 100000);
	open_it("trace.bin");
	check_bytes(100000);
	ck_assert_str_eq(ts_source_name(src), "trace.bin");
	ck_assert_int_eq(ts_source_damage(src)->code, TS_OK);
	ck_assert_uint_eq(n_kept(), 0);
}
END_TEST

START_TEST(much_is_unpacked_once)
{
	struct stat st;

	opt.progress = tell;
	write_gz("trace.gz", LEN);
	open_it("trace.gz");
	check_bytes(LEN);
	ck_assert_uint_eq(n_kept(), 1);
	ck_assert_uint_gt(n_told, 1);
	ck_assert_int_eq(stat("trace.gz", &st), 0);
	ck_assert_uint_eq(ts_source_mtime(src),
			  (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec);
	close_it();
	n_told = 0;
	open_it("trace.gz");
	check_bytes(LEN);
	ck_assert_uint_eq(n_told, 0);
	ck_assert_uint_eq(n_kept(), 1);
}
END_TEST

START_TEST(a_file_that_changed_is_unpacked_again)
{
	write_gz("trace.gz", LEN);
	open_it("trace.gz");
	close_it();
	plain[LEN / 2] ^= 1;
	write_gz("trace.gz", LEN);
	open_it("trace.gz");
	check_bytes(LEN);
}
END_TEST

START_TEST(another_source_of_it_is_as_long)
{
	struct ts_source *first;

	write_gz("trace.gz", LEN);
	open_it("trace.gz");
	first = src;
	src = ts_source_dup(first, &err);
	ts_source_close(first);
	check_bytes(LEN);
}
END_TEST

/* Path of the one kept file. */
static const char *kept(void)
{
	static char path[300];
	DIR *dir = opendir("cache");
	struct dirent *e;

	while ((e = readdir(dir)))
		if (*e->d_name != '.')
			snprintf(path, sizeof(path), "cache/%s", e->d_name);
	closedir(dir);
	return path;
}

START_TEST(a_kept_file_that_is_not_whole_is_made_again)
{
	opt.progress = tell;
	write_gz("trace.gz", LEN);
	open_it("trace.gz");
	close_it();
	n_told = 0;
	ck_assert_int_eq(truncate(kept(), LEN), 0);
	open_it("trace.gz");
	check_bytes(LEN);
	ck_assert_uint_gt(n_told, 0);
	close_it();
	n_told = 0;
	open_it("trace.gz");
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

START_TEST(truncated_data_is_served_as_far_as_it_is_good)
{
	struct stat st;

	write_gz("trace.gz", LEN);
	ck_assert_int_eq(stat("trace.gz", &st), 0);
	ck_assert_int_eq(truncate("trace.gz", st.st_size - 1000), 0);
	for (unsigned i = 0; i < 2; i++) { /* unpacked, and found again */
		uint8_t byte;

		open_it("trace.gz");
		ck_assert_uint_gt(ts_source_len(src), LEN - 100000);
		ck_assert_uint_lt(ts_source_len(src), LEN);
		ck_assert_int_eq(ts_source_damage(src)->code, TS_ETRUNC);
		ck_assert_ptr_nonnull(strstr(ts_source_damage(src)->text, "gzip data is truncated"));
		ck_assert(ts_source_read_all(src, ts_source_len(src) - 1, &byte, 1, &err));
		ck_assert_uint_eq(byte, plain[ts_source_len(src) - 1]);
		close_it();
	}
	ck_assert_int_eq(truncate("trace.gz", 10), 0);
	src = ts_trace_open("trace.gz", &opt, &err);
	ck_assert_ptr_null(src);
	ck_assert_int_eq(err.code, TS_ETRUNC);
}
END_TEST

START_TEST(more_than_the_limit_is_refused_and_leaves_nothing)
{
	write_gz("trace.gz", LEN);
	opt.max_len = LEN - 1;
	src = ts_trace_open("trace.gz", &opt, &err);
	ck_assert_ptr_null(src);
	ck_assert_int_eq(err.code, TS_ELIMIT);
	ck_assert_uint_eq(n_kept(), 0);
	opt.max_len = 1000;
	ts_error_reset(&err);
	ck_assert_ptr_null(ts_trace_open("trace.gz", &opt, &err));
	ck_assert_int_eq(err.code, TS_ELIMIT);
}
END_TEST

START_TEST(what_does_not_look_like_a_trace_is_refused_at_once)
{
	opt.check = check;
	write_gz("trace.gz", LEN);
	src = ts_trace_open("trace.gz", &opt, &err);
	ck_assert_ptr_null(src);
	ck_assert_int_eq(err.code, TS_EUNSUPPORTED);
	ck_assert_uint_eq(n_checked, 1);
	ck_assert_uint_eq(n_kept(), 0);
}
END_TEST

START_TEST(without_a_cache_folder_nothing_is_kept)
{
	opt.dir = NULL;
	write_gz("trace.gz", LEN);
	open_it("trace.gz");
	check_bytes(LEN);
	close_it();
	opt.dir = "/proc/nowhere";
	open_it("trace.gz");
	check_bytes(LEN);
	ck_assert_uint_eq(n_kept(), 0);
}
END_TEST

struct writing {
	const char *from, *to;
};

static void *write_pipe(void *user)
{
	const struct writing *w = user;
	FILE *from = fopen(w->from, "rb"), *to = fopen(w->to, "wb");
	char piece[1000];
	size_t n;

	while ((n = fread(piece, 1, sizeof(piece), from)) > 0)
		fwrite(piece, 1, n, to);
	fclose(from);
	fclose(to);
	return NULL;
}

static void pass_through_pipe(const char *from)
{
	struct writing w = { from, "pipe" };
	pthread_t writer;

	ck_assert_int_eq(pthread_create(&writer, NULL, write_pipe, &w), 0);
	open_it("pipe");
	pthread_join(writer, NULL);
	check_bytes(LEN);
	ck_assert(ts_source_is_fleeting(src));
	ck_assert_uint_eq(n_kept(), 0);
	close_it();
}

START_TEST(a_pipe_is_spooled)
{
	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
	write_file("plain", plain, LEN);
	write_gz("packed", LEN);
	pass_through_pipe("plain");
	pass_through_pipe("packed");
}
END_TEST

START_TEST(folders_and_devices_are_refused)
{
	static const char *const paths[] = { "cache", "/dev/zero" };

	for (size_t i = 0; i < 2; i++) {
		ts_error_reset(&err);
		ck_assert_ptr_null(ts_trace_open(paths[i], &opt, &err));
		ck_assert_int_eq(err.code, TS_EUSAGE);
	}
	ts_error_reset(&err);
	ck_assert_ptr_null(ts_trace_open("missing", &opt, &err));
	ck_assert_int_eq(err.code, TS_EIO);
}
END_TEST

/* The last one: what is in memory is counted for the whole process. */
START_TEST(many_are_unpacked_in_memory_only_up_to_a_limit)
{
	const uint64_t len = 3 * TS_SPOOL_IN_MEMORY / 4, n = TS_SPOOLS_IN_MEMORY / len;

	for (uint64_t i = 0; i < n + 3; i++) {
		struct ts_spool spool;

		ck_assert(ts_spool_init(&spool, "cache", UINT64_MAX, &err));
		ck_assert(ts_spool_write(&spool, plain, len, &err));
		ck_assert_int_eq(spool.is_in_memory, i < n);
		src = ts_spool_take(&spool, "trace", &err);
		check_bytes(len);
		ts_spool_fini(&spool);
		close_it();
	}
}
END_TEST

UNIT_FIXTURE_SUITE("unpack", setup, teardown, a_plain_file_is_itself, little_is_unpacked_in_memory,
		   much_is_unpacked_once, a_file_that_changed_is_unpacked_again,
		   another_source_of_it_is_as_long, a_kept_file_that_is_not_whole_is_made_again,
		   truncated_data_is_served_as_far_as_it_is_good,
		   more_than_the_limit_is_refused_and_leaves_nothing,
		   what_does_not_look_like_a_trace_is_refused_at_once, without_a_cache_folder_nothing_is_kept,
		   a_pipe_is_spooled, folders_and_devices_are_refused,
		   many_are_unpacked_in_memory_only_up_to_a_limit)
