/* SPDX-License-Identifier: MIT */
/*
 * What lldb asks beside gdb's packets.
 */
#include "fake_session.h"
#include "script.h"

#include <string.h>

#define TOP UINT64_C(0xfffffffffffff000)

/* Two regions with a gap between them, one of a file, and the last page of all. */
static void add_maps(struct ts_recording *rec)
{
	struct ts_steps *b = &rec->initial;

	ts_steps_map(b, 0x400000, 0x3000, NULL, 0, "/bin/a", 6)->prot = TS_PROT_READ | TS_PROT_EXEC;
	ts_steps_map(b, 0x500000, 0x1000, "heap", 4, NULL, 0)->prot = TS_PROT_READ | TS_PROT_WRITE;
	ts_steps_map(b, TOP, 0x1000, NULL, 0, NULL, 0)->prot = 0;
}

static const struct fake_options with_maps = { .change = add_maps };

START_TEST(a_region_is_told_with_permissions_and_file)
{
	fake_again(&with_maps);
	ck_assert_str_eq(fake_send("qMemoryRegionInfo:401234"),
			 "start:400000;size:3000;permissions:rx;name:2f62696e2f61;");
	ck_assert_str_eq(fake_send("qMemoryRegionInfo:400000"), fake_send("qMemoryRegionInfo:402fff"));
	ck_assert_str_eq(fake_send("qMemoryRegionInfo:500000"), "start:500000;size:1000;permissions:rw;");
	ck_assert_str_eq(fake_send("qMemoryRegionInfo:ffffffffffffffff"),
			 "start:fffffffffffff000;size:1000;permissions:;");
}
END_TEST

START_TEST(a_gap_reaches_to_the_next_region)
{
	fake_again(&with_maps);
	ck_assert_str_eq(fake_send("qMemoryRegionInfo:403000"), "start:403000;size:fd000;");
	ck_assert_str_eq(fake_send("qMemoryRegionInfo:0"), "start:0;size:400000;");
	/* the session's own recording has one at 0x602000 */
	ck_assert_str_eq(fake_send("qMemoryRegionInfo:501000"), "start:501000;size:101000;");
}
END_TEST

START_TEST(bad_addresses_are_errors)
{
	ck_assert_int_eq(fake_send("qMemoryRegionInfo:")[0], 'E');
	ck_assert_int_eq(fake_send("qMemoryRegionInfo:1;2")[0], 'E');
}
END_TEST

START_TEST(the_process_is_described_by_the_recording)
{
	ck_assert_ptr_nonnull(strstr(fake_send("qProcessInfo"), "ptrsize:8;endian:little;"));
	ck_assert_int_eq(strncmp(fake.text, "pid:64;", 7), 0); /* 100, as recorded */
}
END_TEST

START_TEST(threads_are_those_of_the_position)
{
	/* after the binary escape of '}' */
	ck_assert_ptr_nonnull(strstr(fake_send("jThreadsInfo"), "\"tid\":"));
	ck_assert_ptr_nonnull(strstr(fake.text, "\"reason\":\"trace\"}]"));
	ck_assert_int_eq(fake.text[0], '[');
}
END_TEST

static void set_windows(struct ts_recording *rec)
{
	rec->osabi = "Windows";
}

static void set_no_system(struct ts_recording *rec)
{
	rec->osabi = NULL;
}

START_TEST(the_system_is_told_if_it_is_known)
{
	static const struct fake_options windows = { .change = set_windows }, none = { .change = set_no_system };

	ck_assert_ptr_nonnull(strstr(fake_send("qProcessInfo"), ";ostype:linux;"));
	fake_again(&windows);
	ck_assert_ptr_nonnull(strstr(fake_send("qProcessInfo"), ";ostype:windows;"));
	fake_again(&none);
	ck_assert_ptr_null(strstr(fake_send("qProcessInfo"), "ostype"));
}
END_TEST

/* 32 bits, big-endian, without a map. */
static struct script *make_mips(void)
{
	static const uint32_t process_of[] = { 0 };
	struct script *s = script_new("mips", 1, process_of);

	ts_steps_close(&s->steps, 0x8000, 4, 0);
	return s;
}

START_TEST(another_machine_is_told_as_it_is)
{
	static const struct fake_options mips = { .make = make_mips };

	fake_again(&mips);
	fake_send("qSupported:error-message+");
	ck_assert_str_eq(fake_send("qHostInfo"), "ptrsize:4;endian:big;");
	ck_assert_ptr_nonnull(strstr(fake_send("qProcessInfo"), ";ptrsize:4;endian:big;"));
	ck_assert_ptr_nonnull(strstr(fake_send("qMemoryRegionInfo:ffffffff"), "no memory map"));
	ck_assert_int_eq(fake_send("qMemoryRegionInfo:100000000")[0], 'E'); /* beyond its last address */
	ck_assert_ptr_null(strstr(fake.text, "no memory map"));
}
END_TEST

START_TEST(a_thread_with_a_name_is_told_with_it)
{
	rsp_session_go(&fake.session, 4);
	ck_assert_ptr_nonnull(strstr(fake_send("jThreadsInfo"), "\"name\":\"w<&>\""));
	fake_send("Hg3e9");
	ck_assert_ptr_nonnull(strstr(fake_send("jThreadsInfo"), "\"reason\":\"none\""));
}
END_TEST

START_TEST(the_machine_is_told_without_a_system)
{
	ck_assert_str_eq(fake_send("qHostInfo"), "ptrsize:8;endian:little;");
}
END_TEST

START_TEST(a_stop_names_the_threads_if_the_client_wants_that)
{
	rsp_session_go(&fake.session, 4); /* the second thread begins at 3 */
	ck_assert_ptr_null(strstr(fake_send("?"), "threads:"));
	ck_assert_str_eq(fake_send("QListThreadsInStopReply"), "OK");
	ck_assert_msg(strstr(fake_send("?"), ";threads:3e8,3e9;"), "%s", fake.text);
	rsp_session_go(&fake.session, 0);
	ck_assert_msg(strstr(fake_resume("s"), ";threads:3e8;"), "%s", fake.text);
	fake_send("qSupported:");
	ck_assert_ptr_null(strstr(fake_send("?"), "threads:"));
}
END_TEST

FAKE_SUITE("pkt_lldb", the_machine_is_told_without_a_system,
	   a_stop_names_the_threads_if_the_client_wants_that, a_region_is_told_with_permissions_and_file,
	   a_gap_reaches_to_the_next_region, bad_addresses_are_errors,
	   the_process_is_described_by_the_recording, threads_are_those_of_the_position,
	   the_system_is_told_if_it_is_known, another_machine_is_told_as_it_is, a_thread_with_a_name_is_told_with_it)
