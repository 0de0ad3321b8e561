/* SPDX-License-Identifier: MIT */
#include "fake_session.h"
#include "script.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

START_TEST(the_target_description_is_whole_and_the_last_piece)
{
	const struct ts_buf *xml = &fake.target.target_xml;

	ck_assert_uint_gt(xml->len, 1000);
	fake_send("qXfer:features:read:target.xml:0,100000");
	ck_assert_uint_eq(fake.reply.len, xml->len + 1);
	ck_assert_int_eq(fake.text[0], 'l');
	ck_assert_mem_eq(fake.text + 1, xml->data, xml->len);
	ck_assert(fake.reply.is_binary);
}
END_TEST

START_TEST(pieces_fit_together)
{
	static const char *const packets[] = { "0,400", "400,400", "800,10000" };
	const struct ts_buf *xml = &fake.target.target_xml;
	size_t at = 0;

	for (unsigned i = 0; i < 3; i++) {
		char packet[64] = "qXfer:features:read:target.xml:";

		fake_send(strcat(packet, packets[i]));
		ck_assert_int_eq(fake.text[0], i == 2 ? 'l' : 'm');
		ck_assert_mem_eq(fake.text + 1, xml->data + at, fake.reply.len - 1);
		at += fake.reply.len - 1;
	}
	ck_assert_uint_eq(at, xml->len);
}
END_TEST

START_TEST(a_piece_is_cut_to_the_packet_with_its_escapes)
{
	const struct fake_options small = { .packet_size = 64 };

	fake_again(&small);
	fake_send("qXfer:features:read:target.xml:0,100000");
	ck_assert_uint_eq(fake.reply.len, 64);
	ck_assert_int_eq(fake.text[0], 'm');
	memset(fake.target.target_xml.data, '}', 100);
	fake_send("qXfer:features:read:target.xml:0,100000");
	ck_assert_uint_eq(fake.reply.len, 32); /* "m" and 31 bytes of two characters */
}
END_TEST

START_TEST(a_piece_that_ends_with_the_document_is_the_last)
{
	const struct fake_options with_exec = { .exec = "/bin/sh" };
	char path[PATH_MAX], packet[64];
	size_t len;

	fake_again(&with_exec);
	ck_assert_ptr_nonnull(realpath("/bin/sh", path));
	len = strlen(path);
	snprintf(packet, sizeof(packet), "qXfer:exec-file:read:64:0,%zx", len);
	ck_assert_int_eq(fake_send(packet)[0], 'l');
	ck_assert_str_eq(fake.text + 1, path);
	snprintf(packet, sizeof(packet), "qXfer:exec-file:read:64:0,%zx", len - 1);
	ck_assert_int_eq(fake_send(packet)[0], 'm');
	ck_assert_uint_eq(fake.reply.len, len);
	snprintf(packet, sizeof(packet), "qXfer:exec-file:read:64:%zx,c", len - 1);
	fake_send(packet);
	ck_assert_int_eq(fake.text[0], 'l');
	ck_assert_str_eq(fake.text + 1, path + len - 1);
}
END_TEST

START_TEST(beyond_the_end_is_an_empty_last_piece)
{
	const struct fake_options with_exec = { .exec = "/bin/sh" };

	fake_again(&with_exec);
	ck_assert_str_eq(fake_send("qXfer:exec-file:read:64:1000,10"), "l");
	ck_assert_str_eq(fake_send("qXfer:exec-file:read:64:ffffffffffffffff,ffffffffffffffff"), "l");
	ck_assert_str_eq(fake_send("qXfer:threads:read::100000,10"), "l");
}
END_TEST

START_TEST(threads_have_names_and_the_position)
{
	fake_send("qSupported:multiprocess+");
	rsp_session_go(&fake.session, 4);
	ck_assert_str_eq(fake_send("qXfer:threads:read::0,1000"),
			 "l<?xml version=\"1.0\"?>\n<threads>\n"
			 "<thread id=\"p64.3e8\">runs again at position 6</thread>\n"
			 "<thread id=\"p64.3e9\" name=\"w&lt;&amp;&gt;\">position 4 of 10</thread>\n"
			 "</threads>\n");
}
END_TEST

/* It prints id_str where it names a thread, and would print the description once more after it. */
START_TEST(gdb_17_gets_the_position_in_the_name_of_a_thread)
{
	fake_send("qSupported:multiprocess+;multi-wp-addr+");
	rsp_session_go(&fake.session, 4);
	ck_assert_str_eq(fake_send("qXfer:threads:read::0,1000"),
			 "l<?xml version=\"1.0\"?>\n<threads>\n"
			 "<thread id=\"p64.3e8\" id_str=\"Thread 100.1000, runs again at position 6\"/>\n"
			 "<thread id=\"p64.3e9\" name=\"w&lt;&amp;&gt;\" id_str=\"Thread 100.1001, position 4 of 10\"/>\n"
			 "</threads>\n");
	rsp_session_go(&fake.session, 9);
	ck_assert_ptr_nonnull(strstr(fake_send("qXfer:threads:read::0,1000"), "\"Thread 101.1002, does not run again\""));
}
END_TEST

START_TEST(a_thread_list_is_frozen_between_its_pieces)
{
	fake_send("qXfer:threads:read::0,1000");
	ck_assert_ptr_nonnull(strstr(fake.text, "position 0 of 10"));
	fake_send("qXfer:threads:read::0,20");
	rsp_session_go(&fake.session, 4);
	fake_send("qXfer:threads:read::20,1000");
	ck_assert_ptr_nonnull(strstr(fake.text, "position 0 of 10"));
	fake_send("qXfer:threads:read::0,1000");
	ck_assert_ptr_nonnull(strstr(fake.text, "position 4 of 10"));
	ck_assert_ptr_null(strstr(fake.text, "position 0 of 10"));
}
END_TEST

START_TEST(another_document_in_between_is_no_piece_of_it)
{
	fake_send("qfThreadInfo");
	ck_assert_ptr_nonnull(strstr(fake_send("qXfer:threads:read::1,1000"), "threads"));
}
END_TEST

static void add_modules(struct ts_recording *rec)
{
	struct ts_steps *b = &fake.script->steps;
	uint32_t end = b->n_effects;
	struct ts_step *s;

	ts_steps_load(&rec->initial, 0x400000, 0x3000, "/usr/bin/fake", 13);
	ts_steps_load(&rec->initial, 0x7000000, 0x1000, "/lib/<a>.so", 11);
	ts_steps_load(b, 0x8000000, 0x2000, "/lib/b.so", 9); /* at the last step */
	ck_assert_uint_eq(b->n_effects, end + 1);
	s = &b->steps[b->n_steps - 1];
	s->first = s->n_effects ? s->first : end;
	s->n_effects++;
	b->n_closed = b->n_effects;
}

/* AT_BASE: a dynamic linker was loaded, but no library is known. */
static void add_linker(struct ts_recording *rec)
{
	rec->auxv[0] = 7;
}

/* gdb would look for these in the folder where it runs. */
static void add_relative_modules(struct ts_recording *rec)
{
	ts_steps_load(&rec->initial, 0x7000000, 0x1000, "a.so", 4);
	ts_steps_load(&rec->initial, 0x7100000, 0x1000, "../b.so", 7);
	ts_steps_load(&rec->initial, 0x7200000, 0x2000, "C:\\c.dll", 8);
	ts_steps_load(&rec->initial, 0x7300000, 0x2000, "C:d.dll", 7);
	ts_steps_load(&rec->initial, 0x7400000, 0x2000, "1:\\e.dll", 8);
	ts_steps_load(&rec->initial, 0x7500000, 0x2000, "z:/f.dll", 8);
	rec->osabi = "Windows";
}

/* For gdb a drive means nothing there. */
static void add_modules_of_an_unknown_system(struct ts_recording *rec)
{
	add_relative_modules(rec);
	rec->osabi = NULL;
}

START_TEST(relative_names_are_not_listed)
{
	const struct fake_options relative = { .change = add_relative_modules };

	fake_again(&relative);
	ck_assert_str_eq(fake_send("qXfer:libraries:read::0,1000"),
			 "l<library-list>\n"
			 "<library name=\"C:\\c.dll\"><segment address=\"0x7201000\"/></library>\n"
			 "<library name=\"z:/f.dll\"><segment address=\"0x7501000\"/></library>\n"
			 "</library-list>\n");
}
END_TEST

START_TEST(names_with_a_drive_are_listed_in_windows_only)
{
	const struct fake_options unknown = { .change = add_modules_of_an_unknown_system };

	fake_again(&unknown);
	ck_assert_str_eq(fake_send("qXfer:libraries:read::0,1000"), "l<library-list>\n</library-list>\n");
}
END_TEST

static void add_modules_of_windows(struct ts_recording *rec)
{
	add_modules(rec);
	rec->osabi = "Windows";
}

START_TEST(libraries_are_those_of_the_position_without_the_program)
{
	const struct fake_options with_modules = { .change = add_modules_of_windows };

	fake_again(&with_modules);
	ck_assert_str_eq(fake_send("qXfer:libraries:read::0,1000"),
			 "l<library-list>\n"
			 "<library name=\"/lib/&lt;a&gt;.so\"><segment address=\"0x7001000\"/></library>\n"
			 "</library-list>\n");
	rsp_session_go(&fake.session, 9);
	ck_assert_ptr_null(strstr(fake_send("qXfer:libraries:read::0,1000"), "b.so"));
	rsp_session_go(&fake.session, 10);
	ck_assert_ptr_nonnull(
		strstr(fake_send("qXfer:libraries:read::0,1000"), "<library name=\"/lib/b.so\">"));
	ck_assert_str_eq(fake_send("qXfer:libraries:read:1:0,1000"), "E00");
}
END_TEST

/* Four steps of one process; /lib/b.so is there from position 2 on. */
static struct script *make_one_process(void)
{
	static const uint32_t process_of[] = { 0 };
	struct script *s = script_new("x86_64", 1, process_of);

	s->rec.osabi = "Windows";
	for (unsigned i = 0; i < 4; i++) {
		if (i == 1)
			ts_steps_load(&s->steps, 0x8000000, 0x2000, "/lib/b.so", 9);
		ts_steps_close(&s->steps, 0x1000 + i, 1, 0);
	}
	return s;
}

/* The stop reply's signal and reason, and where the session stands. */
static bool is_stop(const char *expected, const char *reply, uint64_t pos)
{
	return !strncmp(reply, expected, strlen(expected)) && fake.session.pos == pos;
}

static bool is_library_stop(const char *reply, uint64_t pos)
{
	return is_stop("T05library:;", reply, pos);
}

START_TEST(gdb_is_told_of_libraries_before_it_goes_on_without_them)
{
	const struct fake_options options = { .make = make_one_process };

	fake_again(&options);
	fake_send("qSupported:xmlRegisters=i386");
	ck_assert(!is_library_stop(fake_resume("c"), 4)); /* it has read no list */
	fake_send("qXfer:libraries:read::0,1000");
	ck_assert(is_library_stop(fake_resume("bc"), 1));
	ck_assert(is_library_stop(fake_resume("c"), 2));
	ck_assert(!is_library_stop(fake_resume("bs"), 2));
	ck_assert_uint_eq(fake.session.pos, 1);
	ck_assert(is_library_stop(fake_resume("s"), 1)); /* it has not stepped yet */
	fake_resume("s");
	ck_assert_uint_eq(fake.session.pos, 2);
}
END_TEST

/* It would say so again wherever the library appears. */
START_TEST(gdb_is_told_once_of_a_library_whose_file_is_not_here)
{
	const struct fake_options options = { .make = make_one_process };

	fake_again(&options);
	fake_send("qSupported:xmlRegisters=i386");
	fake_send("qXfer:libraries:read::0,1000");
	ck_assert(is_library_stop(fake_resume("c"), 2));
	fake_send("qXfer:libraries:read::0,1000");
	ck_assert_str_eq(fake_send("vFile:open:2f6c69622f622e736f,0,0"), "F-1,2"); /* /lib/b.so */
	ck_assert(!is_library_stop(fake_resume("bc"), 0));
	ck_assert(!is_library_stop(fake_resume("c"), 4));
	fake_send("qXfer:libraries:read::0,1000");
	ck_assert_ptr_nonnull(strstr(fake.text, "b.so"));
}
END_TEST

START_TEST(lldb_is_told_of_libraries_by_a_stop_without_a_signal)
{
	const struct fake_options options = { .make = make_one_process };

	fake_again(&options);
	fake_send("QThreadSuffixSupported");
	fake_send("qSupported:xmlRegisters=i386");
	fake_resume("c"); /* it has read no list */
	ck_assert_uint_eq(fake.session.pos, 4);
	fake_send("qXfer:libraries:read::0,1000");
	ck_assert(is_stop("T00library:;", fake_resume("bc"), 1));
	ck_assert(is_stop("T05reason:exception;", fake_resume("bc"), 0));
}
END_TEST

/* The ELF headers of a library linked at 0x2000, with its dynamic section at 0x2e10. */
static const uint8_t library_headers[] = {
	0x7f, 'E', 'L', 'F', 2, 1,    1, 0, 0, 0, 0,    0,    0, 0, 0, 0, 3,    0,    62, 0,    1, 0,
	0,    0,   0,   0,   0, 0,    0, 0, 0, 0, 0x40, 0,    0, 0, 0, 0, 0,    0,    0,  0,    0, 0,
	0,    0,   0,   0,   0, 0,    0, 0, 0, 0, 56,   0,    2, 0, 0, 0, 0,    0,    0,  0, /* */
	1,    0,   0,   0,   5, 0,    0, 0, 0, 0, 0,    0,    0, 0, 0, 0, 0,    0x20, 0,  0,    0, 0,
	0,    0,   0,   0,   0, 0,    0, 0, 0, 0, 0,    0x10, 0, 0, 0, 0, 0,    0,    0,  0x10, 0, 0,
	0,    0,   0,   0,   0, 0x10, 0, 0, 0, 0, 0,    0, /* */
	2,    0,   0,   0,   6, 0,    0, 0, 0, 0, 0,    0,    0, 0, 0, 0, 0x10, 0x2e, 0,  0,    0, 0,
	0,    0,   0,   0,   0, 0,    0, 0, 0, 0, 0,    2,    0, 0, 0, 0, 0,    0,    0,  2,    0, 0,
	0,    0,   0,   0,   8, 0,    0, 0, 0, 0, 0,    0,
};

/* As above, with what is in memory where a.so begins. */
static void add_modules_with_headers(struct ts_recording *rec)
{
	add_modules(rec);
	ts_steps_value(&rec->initial, TS_FX_WRITE, 0x7000000, library_headers, sizeof(library_headers));
}

START_TEST(libraries_of_linux_are_those_whose_dynamic_section_is_known)
{
	const struct fake_options with_headers = { .change = add_modules_with_headers };

	fake_again(&with_headers);
	ck_assert_ptr_nonnull(strstr(fake_send("qSupported"), "qXfer:libraries-svr4:read+"));
	ck_assert_str_eq(fake_send("qXfer:libraries-svr4:read::0,1000"),
			 "l<library-list-svr4 version=\"1.0\" main-lm=\"0x400000\">\n"
			 "<library name=\"/lib/&lt;a&gt;.so\" lm=\"0x7000000\" l_addr=\"0x6ffe000\" "
			 "l_ld=\"0x7000e10\" lmid=\"0x0\"/>\n"
			 "</library-list-svr4>\n");
	rsp_session_go(&fake.session, 10);
	ck_assert_ptr_null(strstr(fake_send("qXfer:libraries-svr4:read::0,1000"), "b.so"));
}
END_TEST

START_TEST(lldb_is_told_by_its_first_stop_that_there_are_libraries)
{
	const struct fake_options with_headers = { .change = add_modules_with_headers };

	fake_again(&with_headers);
	ck_assert_ptr_null(strstr(fake_send("?"), "library:"));
	fake_send("QThreadSuffixSupported");
	ck_assert_ptr_nonnull(strstr(fake_send("?"), ";library:;"));
	ck_assert_int_eq(strncmp(fake.text, "T05", 3), 0);
}
END_TEST

START_TEST(a_library_beneath_the_sysroot_is_one_that_is_known)
{
	const struct fake_options with_file = { .change = add_modules, .sysroot = "root" };
	FILE *file;

	mkdir("root", 0777);
	mkdir("root/lib", 0777);
	file = fopen("root/lib/b.so", "wb");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(library_headers, 1, sizeof(library_headers), file), sizeof(library_headers));
	fclose(file);
	fake_again(&with_file);
	ck_assert_ptr_nonnull(strstr(fake_send("qSupported"), "qXfer:libraries-svr4:read+"));
	ck_assert_ptr_null(strstr(fake_send("qXfer:libraries-svr4:read::0,1000"), "b.so"));
	rsp_session_go(&fake.session, 10);
	ck_assert_ptr_nonnull(strstr(fake_send("qXfer:libraries-svr4:read::0,1000"),
				     "<library name=\"/lib/b.so\" lm=\"0x8000000\" l_addr=\"0x7ffe000\" "
				     "l_ld=\"0x8000e10\""));
	ck_assert_ptr_null(strstr(fake.text, "a&gt;.so"));
	ck_assert_int_eq(strncmp(fake_send_hex("vFile:open:%s,0,0", "/lib/b.so"), "F3", 2), 0);
}
END_TEST

START_TEST(libraries_are_claimed_where_gdb_reads_such_a_list)
{
	const struct fake_options linux_modules = { .change = add_modules };
	const struct fake_options with_linker = { .change = add_linker };
	const struct fake_options windows_modules = { .change = add_modules_of_windows };

	/* without the empty list gdb looks for a link map, and takes a static program for a dynamic linker */
	ck_assert_ptr_nonnull(strstr(fake_send("qSupported"), "qXfer:libraries-svr4:read+"));
	ck_assert_str_eq(fake_send("qXfer:libraries-svr4:read::0,1000"),
			 "l<library-list-svr4 version=\"1.0\">\n</library-list-svr4>\n");
	fake_again(&with_linker);
	ck_assert_ptr_null(strstr(fake_send("qSupported"), "libraries"));
	fake_again(&linux_modules);
	ck_assert_ptr_null(strstr(fake_send("qSupported"), "libraries"));
	ck_assert_str_eq(fake_send("qXfer:libraries:read::0,1000"), "");
	ck_assert_str_eq(fake_send("qXfer:libraries-svr4:read::0,1000"), "");
	fake_again(&windows_modules);
	ck_assert_ptr_nonnull(strstr(fake_send("qSupported"), "qXfer:libraries:read+"));
	ck_assert_ptr_null(strstr(fake.text, "svr4"));
}
END_TEST

START_TEST(the_auxiliary_vector_is_as_recorded)
{
	fake_send("qXfer:auxv:read::0,1000");
	ck_assert_uint_eq(fake.reply.len, 17);
	ck_assert_mem_eq(fake.text, "l\6\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0", 17);
}
END_TEST

START_TEST(the_program_is_the_one_given_if_one_is)
{
	const struct fake_options with_exec = { .exec = "/bin/sh" };

	fake_again(&with_exec);
	ck_assert_int_eq(fake_send("qXfer:exec-file:read:64:0,1000")[0], 'l');
	ck_assert_str_eq(fake.text + 1, fake.target.exec_path);
	ck_assert_int_eq(fake.text[1], '/');
	ck_assert_ptr_nonnull(fake.target.exec);
}
END_TEST

START_TEST(a_wrong_annex_is_error_0)
{
	ck_assert_str_eq(fake_send("qXfer:features:read:other.xml:0,100"), "E00");
	ck_assert_str_eq(fake_send("qXfer:features:read::0,100"), "E00");
	ck_assert_str_eq(fake_send("qXfer:threads:read:1:0,100"), "E00");
	ck_assert_str_eq(fake_send("qXfer:auxv:read:1:0,100"), "E00");
	ck_assert_str_eq(fake_send("qXfer:exec-file:read:zz:0,100"), "E00");
}
END_TEST

START_TEST(malformed_packets_are_errors)
{
	static const char *const objects[] = { "features", "threads", "exec-file", "auxv", "libraries",
						"libraries-svr4" };
	static const char *const args[] = { "",	      ":",	"::",	  "::0",   "::0,",  "::,1",
					    "::0,zz", "::zz,1", "::0,1,", "::0;1", "::0,1:" };
	char packet[64];

	fake_send("qSupported"); /* refusals of well-formed packets have a text then */
	for (unsigned i = 0; i < 6; i++) {
		for (size_t j = 0; j < sizeof(args) / sizeof(args[0]); j++) {
			snprintf(packet, sizeof(packet), "qXfer:%s:read%s", objects[i], args[j]);
			ck_assert_msg(strcmp(fake_send(packet), "E16") == 0, "%s: %s", packet, fake.text);
		}
	}
}
END_TEST

/* A feature that was claimed while the recording was read: gdb takes the empty reply for a contradiction. */
START_TEST(a_siginfo_that_was_claimed_is_an_error_where_there_is_none)
{
	fake_send("qSupported");
	ck_assert_str_eq(fake_send("qXfer:siginfo:read::0,100"), "");
	fake.session.claims_siginfo = true;
	ck_assert_str_eq(fake_send("qXfer:siginfo:read::0,100"),
			 "E.no signal with an address is recorded here");
}
END_TEST

START_TEST(writing_and_unknown_objects_are_unknown)
{
	ck_assert_str_eq(fake_send("qXfer:memory-map:read::0,100"), "");
	ck_assert_str_eq(fake_send("qXfer:siginfo:write::0:00"), "");
}
END_TEST

FAKE_SUITE("pkt_xfer", the_target_description_is_whole_and_the_last_piece, pieces_fit_together,
	   a_piece_is_cut_to_the_packet_with_its_escapes, a_piece_that_ends_with_the_document_is_the_last,
	   beyond_the_end_is_an_empty_last_piece, threads_have_names_and_the_position,
	   gdb_17_gets_the_position_in_the_name_of_a_thread,
	   a_thread_list_is_frozen_between_its_pieces, another_document_in_between_is_no_piece_of_it,
	   libraries_are_those_of_the_position_without_the_program,
	   gdb_is_told_of_libraries_before_it_goes_on_without_them,
	   gdb_is_told_once_of_a_library_whose_file_is_not_here,
	   lldb_is_told_of_libraries_by_a_stop_without_a_signal,
	   libraries_of_linux_are_those_whose_dynamic_section_is_known,
	   lldb_is_told_by_its_first_stop_that_there_are_libraries,
	   a_library_beneath_the_sysroot_is_one_that_is_known,
	   libraries_are_claimed_where_gdb_reads_such_a_list, relative_names_are_not_listed,
	   names_with_a_drive_are_listed_in_windows_only,
	   the_auxiliary_vector_is_as_recorded, the_program_is_the_one_given_if_one_is,
	   a_wrong_annex_is_error_0, malformed_packets_are_errors,
	   a_siginfo_that_was_claimed_is_an_error_where_there_is_none,
	   writing_and_unknown_objects_are_unknown)
