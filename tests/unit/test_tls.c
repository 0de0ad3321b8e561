/* SPDX-License-Identifier: MIT */
/*
 * Thread-local blocks, by lists of a dynamic linker that are made up here: two objects after the program, and
 * the threads 1000 and 1001 of the fake session, each in one of glibc's two lists.
 */
#include "src/query/files/tls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fake_session.h"
#include "unit.h"

#define R_DEBUG 0x601000u
#define PROGRAM 0x601100u
#define LIBC 0x601200u
#define LAST 0x601300u
#define GLOBAL 0x601400u /* used's head at 0x10, user's at 0x20 */
#define FIRST_THREAD 0x601500u
#define OTHER_THREAD 0x601600u

static const struct ts_tls_facts all = {
	.values = {
		[TS_TLS_L_TLS_OFFSET] = 0x40,
		[TS_TLS_PTHREAD_LIST] = 0x30,
		[TS_TLS_PTHREAD_TID] = 0x48,
		[TS_TLS_STACK_USED] = 0x10,
		[TS_TLS_STACK_USER] = 0x20,
		[TS_TLS_SIZEOF_PTHREAD] = 0x80,
		[TS_TLS_RTLD_GLOBAL] = GLOBAL,
		[TS_TLS_R_DEBUG] = R_DEBUG,
	},
	.known = (1u << TS_TLS_N_FACTS) - 1,
};
static const struct ts_tls_object libc = { .moved = 0x7000, .dynamic = 0x7f00 };

/* A word that is left out of the recording. */
static uint64_t missing;

/* The link map to which the last one leads. */
static uint64_t after_last;

static void put(struct ts_recording *rec, uint64_t addr, uint64_t value)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	if (addr != missing)
		ts_steps_value(&rec->initial, TS_FX_WRITE, addr, bytes, sizeof(bytes));
}

static void put_object(struct ts_recording *rec, uint64_t at, uint64_t moved, uint64_t next, uint64_t offset)
{
	put(rec, at, moved);
	put(rec, at + 16, moved + 0xf00);
	put(rec, at + 24, next);
	put(rec, at + 0x40, offset);
}

static void put_lists(struct ts_recording *rec)
{
	put(rec, R_DEBUG + 8, PROGRAM);
	put_object(rec, PROGRAM, 0, LIBC, 0x10);
	put_object(rec, LIBC, 0x7000, LAST, 0x90);
	put_object(rec, LAST, 0x9000, after_last, 0); /* dlopen */
	put(rec, GLOBAL + 0x10, OTHER_THREAD + 0x30);
	put(rec, OTHER_THREAD + 0x30, GLOBAL + 0x10);
	put(rec, OTHER_THREAD + 0x48, 1001);
	put(rec, GLOBAL + 0x20, FIRST_THREAD + 0x30);
	put(rec, FIRST_THREAD + 0x30, GLOBAL + 0x20);
	put(rec, FIRST_THREAD + 0x48, 1000);
}

static void begin(uint64_t without)
{
	const struct fake_options options = { .change = put_lists };

	missing = without;
	fake_again(&options);
}

/* The block of @object in @thread; 0 with the sentence in *err if it is not told. */
static uint64_t block(uint32_t thread, const struct ts_tls_object *object, struct ts_error *err)
{
	uint64_t addr = 0;

	ts_error_reset(err);
	if (!ts_tls_block(fake.q, 4, thread, &all, object, &addr, err)) {
		ck_assert_int_eq(err->code, TS_EUNSUPPORTED);
		return 0;
	}
	return addr;
}

START_TEST(a_block_lies_below_its_threads_descriptor)
{
	static const struct ts_tls_object by_map = { .link_map = LIBC }, program = { .is_program = true };
	struct ts_error err;

	begin(0);
	ck_assert_uint_eq(block(0, &libc, &err), FIRST_THREAD - 0x90);
	ck_assert_uint_eq(block(1, &libc, &err), OTHER_THREAD - 0x90);
	ck_assert_uint_eq(block(1, &by_map, &err), OTHER_THREAD - 0x90);
	ck_assert_uint_eq(block(1, &program, &err), OTHER_THREAD - 0x10);
}
END_TEST

START_TEST(without_the_linkers_list_the_block_of_a_dlopen_is_refused)
{
	static const struct ts_tls_object last = { .moved = 0x9000, .dynamic = 0x9f00 };
	struct ts_error err;

	begin(0);
	ck_assert_uint_eq(block(0, &last, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "list of objects with thread-local storage"));
}
END_TEST

START_TEST(what_is_in_no_list_is_refused)
{
	static const struct ts_tls_object moved = { .moved = 0x8000, .dynamic = 0x7f00 }, map = { .link_map = LIBC + 8 };
	struct ts_error err;

	begin(0);
	ck_assert_uint_eq(block(0, &moved, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "does not list"));
	ck_assert_uint_eq(block(0, &map, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "does not list"));
	begin(OTHER_THREAD + 0x48);
	ck_assert_uint_eq(block(1, &libc, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "not known at position 4"));
}
END_TEST

/* Each word that is needed: without it the answer is its address, never a zero. */
START_TEST(an_unknown_word_is_named)
{
	static const uint64_t words[] = { R_DEBUG + 8, PROGRAM, PROGRAM + 16, PROGRAM + 24, LIBC + 0x40, GLOBAL + 0x10,
					  GLOBAL + 0x20, FIRST_THREAD + 0x30 };
	struct ts_error err;
	char text[40];

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		begin(words[i]);
		snprintf(text, sizeof(text), "at 0x%" PRIx64 " is not known", words[i]);
		ck_assert_uint_eq(block(1, &libc, &err), 0);
		ck_assert_msg(strstr(err.text, text) != NULL, "%s: %s", text, err.text);
	}
}
END_TEST

START_TEST(a_fact_that_no_file_tells_is_named)
{
	static const struct ts_tls_facts none = { .known = 0 };
	struct ts_error err = { 0 };
	uint64_t addr;

	begin(0);
	ck_assert(!ts_tls_block(fake.q, 4, 0, &none, &libc, &addr, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "_r_debug"));
}
END_TEST

START_TEST(a_list_that_never_ends_is_left)
{
	static const struct ts_tls_object none = { .moved = 1 };
	struct ts_error err;

	after_last = PROGRAM;
	begin(0);
	ck_assert_uint_eq(block(0, &none, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "more than 1024 entries"));
	after_last = 0;
}
END_TEST

START_TEST(a_file_of_another_kind_tells_nothing)
{
	struct ts_error err = { 0 };
	struct ts_source *text = ts_source_from_memory((const uint8_t *)"text", 4, "text", &err);
	struct ts_tls_facts facts = { .known = 0 };

	ck_assert_ptr_nonnull(text);
	ts_tls_learn(&facts, text, 0);
	ck_assert_uint_eq(facts.known, 0);
	ts_source_close(text);
}
END_TEST

FAKE_SUITE("tls", a_block_lies_below_its_threads_descriptor, without_the_linkers_list_the_block_of_a_dlopen_is_refused,
	   what_is_in_no_list_is_refused, an_unknown_word_is_named, a_fact_that_no_file_tells_is_named,
	   a_list_that_never_ends_is_left, a_file_of_another_kind_tells_nothing)
