/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ENOENT_REPLY "F-1,2"
#define EBADF_REPLY  "F-1,9"
#define EINVAL_REPLY "F-1,16"
#define EMFILE_REPLY "F-1,18"
#define EROFS_REPLY  "F-1,1e"

static const char program[] = "\x7f"
			      "ELF and some more \0 }#$* bytes";

/* A session with a program's file, "prog" in the test's own folder. */
static void with_program(void)
{
	const struct fake_options with_exec = { .exec = "prog" };
	FILE *file = fopen("prog", "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(program, 1, sizeof(program), file), sizeof(program));
	fclose(file);
	fake_again(&with_exec);
}

/* All that a file holds, read at once. */
static const char *contents(const char *path)
{
	const char *at;

	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,1c0", path), "F3");
	fake_send("vFile:pread:3,8000,0");
	at = strchr(fake.text, ';');
	ck_assert_ptr_nonnull(at);
	memmove(fake.text, at + 1, strlen(at + 1) + 1);
	return fake.text;
}

START_TEST(the_programs_file_is_read_by_the_name_that_the_client_was_told)
{
	char reply[128];

	with_program();
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", fake.target.exec_path), "F3");
	fake_send("vFile:pread:3,8000,0");
	snprintf(reply, sizeof(reply), "F%zx;", sizeof(program));
	ck_assert_uint_eq(fake.reply.len, strlen(reply) + sizeof(program));
	ck_assert_mem_eq(fake.text, reply, strlen(reply));
	ck_assert_mem_eq(fake.text + strlen(reply), program, sizeof(program));
	ck_assert(fake.reply.is_binary);
	ck_assert_str_eq(fake_send("vFile:close:3"), "F0");
	ck_assert_str_eq(fake_send("vFile:pread:3,10,0"), EBADF_REPLY);
}
END_TEST

START_TEST(the_programs_file_goes_by_its_recorded_name_too)
{
	with_program();
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/usr/bin/fake"), "F3");
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/exe"), "F4");
	ck_assert_str_eq(fake_send("vFile:pread:4,4,0"), "F4;\x7f"
							 "ELF");
}
END_TEST

static void map_a_library(struct ts_recording *rec)
{
	ts_steps_map(&rec->initial, 0x800000, 0x1000, "lib", 3, "/lib/libfake.so", 15);
}

START_TEST(a_file_that_the_recording_maps_is_there_if_it_is_beneath_the_sysroot)
{
	const struct fake_options with_sysroot = { .sysroot = "root", .change = map_a_library };
	FILE *file;

	ck_assert(!mkdir("root", 0777) && !mkdir("root/lib", 0777));
	file = fopen("root/lib/libfake.so", "wb");
	ck_assert(file && fputs("beneath", file) >= 0 && !fclose(file));
	file = fopen("root/lib/other", "wb");
	ck_assert(file && !fclose(file));

	fake_again(&with_sysroot);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/lib/libfake.so"), "F3");
	ck_assert_str_eq(fake_send("vFile:pread:3,100,0"), "F7;beneath");
	ck_assert_str_eq(fake_send_hex("vFile:readlink:%s", "/lib/libfake.so"), EINVAL_REPLY);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/lib/other"), ENOENT_REPLY);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "root/lib/libfake.so"), ENOENT_REPLY);
}
END_TEST

START_TEST(a_program_that_nobody_gave_is_not_there)
{
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/usr/bin/fake"), ENOENT_REPLY);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/exe"), ENOENT_REPLY);
}
END_TEST

START_TEST(no_other_file_is_there)
{
	static const char *const paths[] = {
		"/etc/passwd",
		"/proc/self/maps",
		"/proc/1/maps",
		"/proc/100/mem",
		"/proc/100/environ",
		"/proc/100/../100/maps",
		"/proc/0100/maps",
		"/proc/100/task/7/maps",
		"/proc/100/task/1001/maps",
		"/proc/100/task/1002/maps",
		"/proc/100",
		"/proc/100/",
		"/proc/100/mapsx",
		"/proc/99999999999999999999/maps",
		"prog",
		"just probing",
	};

	with_program();
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", paths[i]), ENOENT_REPLY);
		ck_assert_str_eq(fake_send_hex("vFile:stat:%s", paths[i]), ENOENT_REPLY);
		ck_assert_str_eq(fake_send_hex("vFile:readlink:%s", paths[i]), ENOENT_REPLY);
	}
}
END_TEST

START_TEST(reading_stops_at_the_end)
{
	with_program();
	fake_send_hex("vFile:open:%s,0,0", fake.target.exec_path);
	ck_assert_str_eq(fake_send("vFile:pread:3,100,1a"), "F6;bytes");
	ck_assert_str_eq(fake_send("vFile:pread:3,100,20"), "F0;");
	ck_assert_str_eq(fake_send("vFile:pread:3,ffffffffffffffff,ffffffffffffffff"), "F0;");
	ck_assert_str_eq(fake_send("vFile:pread:3,0,0"), "F0;");
}
END_TEST

START_TEST(a_piece_fits_into_a_packet_with_its_escapes)
{
	const struct fake_options small = { .packet_size = 64 };
	const struct rsp_file *file = &fake.session.files[0];

	fake_again(&small);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/maps"), "F3");
	fake_send("vFile:pread:3,1000,0");
	ck_assert_uint_eq(fake.reply.len, 64);
	ck_assert_mem_eq(fake.text, "F3c;00401000", 12); /* four characters, and 60 bytes */
	memset(file->text.data, '#', file->text.len);
	fake_send("vFile:pread:3,1000,0");
	ck_assert_mem_eq(fake.text, "F1e;####", 8); /* half as many */
	ck_assert_uint_eq(fake.reply.len, 4 + 30);
}
END_TEST

START_TEST(maps_are_those_of_the_position_as_the_kernel_writes_them)
{
	static const char before[] =
		"00401000-00403000 r-xp 00001000 00:00 1                                  /usr/bin/fake\n"
		"00602000-00603000 rw-p 00000000 00:00 0                                  [data]\n"
		"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n";

	ck_assert_str_eq(contents("/proc/100/maps"), before);
	fake_send("vFile:close:3");
	rsp_session_go(&fake.session, 8);
	ck_assert_ptr_nonnull(
		strstr(contents("/proc/100/task/1000/maps"),
		       "00700000-00701000 rw-p 00000000 00:00 0                                  [heap]\n"));
}
END_TEST

static void map_oddly(struct ts_recording *rec)
{
	ts_steps_map(&rec->initial, 0x800000, 0x1000, "mmap", 4, NULL, 0);
	ts_steps_map(&rec->initial, 0x900000, 0x1000, NULL, 0, NULL, 0);
	ts_steps_map(&rec->initial, 0xa00000, 0x1000, "", 0, "", 0);
	ts_steps_map(&rec->initial, 0xb00000, 0x1000, NULL, 0, "/a\nb\\c", 6);
	ts_steps_map(&rec->initial, UINT64_MAX - 0xfff, 0x1000, "end", 3, NULL, 0);
}

START_TEST(regions_that_have_no_name_and_odd_ones_have_a_line_too)
{
	const struct fake_options odd = { .change = map_oddly };

	fake_again(&odd);
	contents("/proc/100/maps");
	ck_assert_ptr_nonnull(strstr(fake.text, "\n00800000-00801000 ---p 00000000 00:00 0 \n"
						"00900000-00901000 ---p 00000000 00:00 0 \n"
						"00a00000-00a01000 ---p 00000000 00:00 0 \n"
						"00b00000-00b01000 ---p 00000000 00:00 1 "));
	ck_assert_ptr_nonnull(strstr(fake.text, " /a\\012b\\134c\n"));
	ck_assert_ptr_nonnull(
		strstr(fake.text, "\nfffffffffffff000-ffffffffffffffff ---p 00000000 00:00 0 "));
}
END_TEST

START_TEST(a_process_without_known_regions_has_no_maps)
{
	rsp_session_go(&fake.session, 9);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/101/maps"), ENOENT_REPLY);
}
END_TEST

START_TEST(a_file_is_frozen_when_it_is_opened)
{
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/maps"), "F3");
	rsp_session_go(&fake.session, 8);
	ck_assert_ptr_null(strstr(fake_send("vFile:pread:3,1000,0"), "[heap]"));
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/maps"), "F4");
	ck_assert_ptr_nonnull(strstr(fake_send("vFile:pread:4,1000,0"), "[heap]"));
}
END_TEST

START_TEST(what_is_known_of_a_process_is_in_its_files)
{
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/cmdline"), "F3");
	fake_send("vFile:pread:3,100,0");
	ck_assert_uint_eq(fake.reply.len, 3 + 8);
	ck_assert_mem_eq(fake.text, "F8;fake\0-v\0", 11);
	fake_send("vFile:close:3");
	ck_assert_str_eq(contents("/proc/100/comm"), "fake\n");
	fake_send("vFile:close:3");
	ck_assert_str_eq(contents("/proc/100/status"),
			 "Name:\tfake\nState:\tt (tracing stop)\nTgid:\t100\nPid:\t100\nThreads:\t1\n");
	fake_send("vFile:close:3");
	ck_assert_str_eq(contents("/proc/100/stat"), "100 (fake) t");
	fake_send("vFile:close:3");
	rsp_session_go(&fake.session, 4);
	ck_assert_str_eq(contents("/proc/100/task/1001/status"),
			 "Name:\tw<&>\nState:\tt (tracing stop)\nTgid:\t100\nPid:\t1001\nThreads:\t2\n");
	fake_send("vFile:close:3");
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/auxv"), "F3");
	fake_send("vFile:pread:3,100,0");
	ck_assert_mem_eq(fake.text, "F10;\6\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0", 20);
}
END_TEST

#define ENV_SP UINT64_C(0x7ffffffff000)

/* The stack of a program that begins with one argument and two variables, and the folder in which it does. */
static void add_beginning(struct ts_recording *rec)
{
	static const char strings[] = "fake\0HOME=/h\0A=\0332";
	const uint64_t text = ENV_SP + 8 * 8;
	uint64_t words[8] = { 1, text, 0, text + 5, text + 13, 0 };
	const struct ts_reg *sp = &rec->regs.regs[rec->regs.sp];
	uint8_t bytes[8];

	memcpy(words + 6, rec->auxv, 16);
	ts_arch_put(rec->regs.arch, bytes, sizeof(bytes), ENV_SP);
	ts_steps_value(&rec->initial, TS_FX_REG_WRITE, sp->off, bytes, sizeof(bytes));
	ts_steps_value(&rec->initial, TS_FX_WRITE, ENV_SP, (const uint8_t *)words, sizeof(words));
	ts_steps_value(&rec->initial, TS_FX_WRITE, text, (const uint8_t *)strings, sizeof(strings));
	rec->folder = strdup("/home/me");
}

/* As above, but the program does not begin there: another vector follows the variables. */
static void add_later_stack(struct ts_recording *rec)
{
	add_beginning(rec);
	ts_steps_value(&rec->initial, TS_FX_WRITE, ENV_SP + 6 * 8, (const uint8_t *)"\7", 1);
}

START_TEST(environment_and_folder_are_those_of_the_beginning)
{
	const struct fake_options begins = { .change = add_beginning }, later = { .change = add_later_stack };

	fake_again(&begins);
	rsp_session_go(&fake.session, 7);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/environ"), "F3");
	fake_send("vFile:pread:3,100,0");
	ck_assert_mem_eq(fake.text, "Fd;HOME=/h\0A=?2", 3 + 13);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/101/environ"), ENOENT_REPLY);
	ck_assert_str_eq(fake_send_hex("vFile:readlink:%s", "/proc/100/cwd"), "F8;/home/me");
	fake_again(&later);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/environ"), ENOENT_REPLY);
}
END_TEST

static void know_nothing(struct ts_recording *rec)
{
	free(rec->exec_path);
	free(rec->auxv);
	rec->exec_path = NULL;
	rec->auxv = NULL;
	rec->auxv_len = 0;
	ts_buf_reset(&rec->cmdline);
}

START_TEST(what_is_not_known_is_not_there)
{
	static const char *const paths[] = { "/proc/100/cmdline", "/proc/100/exe", "/proc/100/auxv",
					     "/proc/100/comm", "/proc/100/cwd", "/proc/100/environ" };
	const struct fake_options poor = { .change = know_nothing };

	fake_again(&poor);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", paths[i]), ENOENT_REPLY);
		ck_assert_str_eq(fake_send_hex("vFile:readlink:%s", paths[i]), ENOENT_REPLY);
	}
	ck_assert_str_eq(contents("/proc/100/status"),
			 "State:\tt (tracing stop)\nTgid:\t100\nPid:\t100\nThreads:\t1\n");
}
END_TEST

START_TEST(exe_is_a_link_and_nothing_else_is)
{
	ck_assert_str_eq(fake_send_hex("vFile:readlink:%s", "/proc/100/exe"), "Fd;/usr/bin/fake");
	ck_assert_str_eq(fake_send_hex("vFile:readlink:%s", "/proc/100/maps"), EINVAL_REPLY);
	with_program();
	ck_assert_str_eq(fake_send_hex("vFile:readlink:%s", fake.target.exec_path), EINVAL_REPLY);
}
END_TEST

START_TEST(stat_has_the_length_in_big_endian)
{
	with_program();
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", fake.target.exec_path), "F3");
	fake_send("vFile:fstat:3");
	ck_assert_uint_eq(fake.reply.len, 4 + 64);
	ck_assert_mem_eq(fake.text, "F40;", 4);
	ck_assert_mem_eq(fake.text + 4 + 8, "\0\0\x81\x6d", 4); /* mode: a regular file, r-xr-xr-x */
	ck_assert_mem_eq(fake.text + 4 + 28, "\0\0\0\0\0\0\0\x20", 8);
	ck_assert_mem_eq(fake.text + 4 + 44, "\0\0\0\0\0\0\0\x01", 8); /* blocks of 512 bytes */
	fake_send_hex("vFile:stat:%s", "/proc/100/comm");
	ck_assert_uint_eq(fake.reply.len, 4 + 64);
	ck_assert_mem_eq(fake.text + 4 + 8, "\0\0\x81\x24", 4);
	ck_assert_mem_eq(fake.text + 4 + 28, "\0\0\0\0\0\0\0\x05", 8);
}
END_TEST

START_TEST(so_many_files_may_be_open)
{
	for (unsigned i = 0; i < RSP_MAX_FILES; i++) {
		char expected[8];

		snprintf(expected, sizeof(expected), "F%x", i + 3);
		ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/comm"), expected);
	}
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/comm"), EMFILE_REPLY);
	ck_assert_str_eq(fake_send("vFile:close:5"), "F0");
	ck_assert_str_eq(fake_send("vFile:close:5"), EBADF_REPLY);
	ck_assert_str_eq(fake_send("vFile:close:2"), EBADF_REPLY);
	ck_assert_str_eq(fake_send("vFile:close:43"), EBADF_REPLY); /* one after the last, 0x40 + 3 */
	ck_assert_str_eq(fake_send("vFile:close:ffffffffffffffff"), EBADF_REPLY);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/comm"), "F5");
}
END_TEST

START_TEST(nothing_can_be_changed)
{
	with_program();
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,1,0", fake.target.exec_path), EROFS_REPLY);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,601,1a4", "/tmp/new"), EROFS_REPLY);
	ck_assert_str_eq(fake_send("vFile:pwrite:3,0,abc"), EROFS_REPLY);
	ck_assert_str_eq(fake_send_hex("vFile:unlink:%s", fake.target.exec_path), EROFS_REPLY);
}
END_TEST

START_TEST(malformed_packets_are_errors)
{
	static const char *const packets[] = {
		"vFile:setfs",	     "vFile:setfs:",	    "vFile:setfs:zz",	   "vFile:setfs:0,1",
		"vFile:open",	     "vFile:open:",	    "vFile:open:,0,0",	   "vFile:open:2f",
		"vFile:open:2f,0",   "vFile:open:2f,0,",    "vFile:open:2f,0,0,",  "vFile:open:2,0,0",
		"vFile:open:zz,0,0", "vFile:open:2f00,0,0", "vFile:close",	   "vFile:close:",
		"vFile:close:zz",    "vFile:close:3,",	    "vFile:pread",	   "vFile:pread:3",
		"vFile:pread:3,10",  "vFile:pread:3,10,",   "vFile:pread:3,10,0,", "vFile:pread:,10,0",
		"vFile:fstat",	     "vFile:fstat:",	    "vFile:fstat:zz",	   "vFile:stat",
		"vFile:stat:",	     "vFile:stat:2",	    "vFile:readlink",	   "vFile:readlink:zz",
		"vFile:pwrite",	     "vFile:pwrite:3",	    "vFile:pwrite:3,0",	   "vFile:unlink",
		"vFile:unlink:2f,0",
	};
	char packet[13 + 2 * PATH_MAX + 1];

	fake_send("qSupported"); /* refusals of well-formed packets have a text then */
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		ck_assert_msg(strcmp(fake_send(packets[i]), "E16") == 0, "%s: %s", packets[i], fake.text);
	memset(packet, '4', sizeof(packet));
	memcpy(packet, "vFile:unlink:", 13);
	packet[13 + 2 * PATH_MAX] = '\0';
	ck_assert_str_eq(fake_send(packet), "E16");
	packet[13 + 2 * (PATH_MAX - 1)] = '\0';
	ck_assert_str_eq(fake_send(packet), EROFS_REPLY);
}
END_TEST

START_TEST(there_is_one_file_system_and_no_other_operation)
{
	ck_assert_str_eq(fake_send("vFile:setfs:0"), "F0");
	ck_assert_str_eq(fake_send("vFile:setfs:64"), "F0");
	ck_assert_str_eq(fake_send("vFile:mkdir:2f,0"), "");
}
END_TEST

FAKE_SUITE("pkt_file", regions_that_have_no_name_and_odd_ones_have_a_line_too,
	   the_programs_file_is_read_by_the_name_that_the_client_was_told,
	   the_programs_file_goes_by_its_recorded_name_too, a_program_that_nobody_gave_is_not_there,
	   a_file_that_the_recording_maps_is_there_if_it_is_beneath_the_sysroot, no_other_file_is_there,
	   reading_stops_at_the_end, a_piece_fits_into_a_packet_with_its_escapes,
	   maps_are_those_of_the_position_as_the_kernel_writes_them,
	   a_process_without_known_regions_has_no_maps, a_file_is_frozen_when_it_is_opened,
	   what_is_known_of_a_process_is_in_its_files, environment_and_folder_are_those_of_the_beginning,
	   what_is_not_known_is_not_there,
	   exe_is_a_link_and_nothing_else_is, stat_has_the_length_in_big_endian, so_many_files_may_be_open,
	   nothing_can_be_changed, malformed_packets_are_errors,
	   there_is_one_file_system_and_no_other_operation)
