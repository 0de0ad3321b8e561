/* SPDX-License-Identifier: MIT */
#include "fake_session.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "script.h"

static const struct ts_reg *reg(const char *name)
{
	int i = ts_regset_find(rsp_regset(&fake.session), name);

	ck_assert_int_ge(i, 0);
	return &rsp_regset(&fake.session)->regs[i];
}

/* Is this register of a g reply known, and what is it? */
static const char *in_g(const char *name)
{
	static char value[128];

	snprintf(value, sizeof(value), "%.*s", 2 * (int)reg(name)->len, fake.text + 2 * reg(name)->off);
	return value;
}

static const char *send_p(const char *name)
{
	char packet[32];

	snprintf(packet, sizeof(packet), "p%x", reg(name)->regnum);
	return fake_send(packet);
}

START_TEST(g_has_all_registers_with_the_unknown_ones_as_x)
{
	fake_send("g");
	ck_assert_uint_eq(fake.reply.len, 2 * rsp_regset(&fake.session)->g_len);
	ck_assert_str_eq(in_g("rax"), "8877665544332211");
	ck_assert_str_eq(in_g("rip"), "0010400000000000");
	ck_assert_str_eq(in_g("rcx"), "xxxxxxxxxxxxxxxx");
}
END_TEST

START_TEST(a_register_known_in_part_is_sent_as_unknown)
{
	ck_assert_str_eq(send_p("rbx"), "xxxxxxxxxxxxxxxx");
	fake_send("g");
	ck_assert_str_eq(in_g("rbx"), "xxxxxxxxxxxxxxxx");
}
END_TEST

START_TEST(lldb_gets_an_error_for_an_unknown_register)
{
	fake_send("QThreadSuffixSupported");
	ck_assert_str_eq(send_p("rcx"), "E14");
	ck_assert_str_eq(send_p("rax"), "8877665544332211");
}
END_TEST

START_TEST(p_has_one_register_at_the_position)
{
	ck_assert_str_eq(send_p("rax"), "8877665544332211");
	ck_assert_str_eq(send_p("rip"), "0010400000000000");
	rsp_session_go(&fake.session, 4);
	ck_assert_str_eq(send_p("rip"), "0120400000000000");
	ck_assert_str_eq(send_p("rax"), "xxxxxxxxxxxxxxxx");
}
END_TEST

START_TEST(registers_are_those_of_the_selected_thread)
{
	rsp_session_go(&fake.session, 4);
	ck_assert_str_eq(fake_send("Hg3e8"), "OK");
	ck_assert_str_eq(send_p("rax"), "8877665544332211");
	ck_assert_str_eq(send_p("rip"), "0310400000000000");
}
END_TEST

START_TEST(a_thread_behind_the_packet_is_the_one_meant)
{
	char packet[64];

	rsp_session_go(&fake.session, 4);
	snprintf(packet, sizeof(packet), "p%x;thread:3e8;", reg("rip")->regnum);
	ck_assert_str_eq(fake_send(packet), "0310400000000000");
	fake_send("g;thread:3e8;");
	ck_assert_str_eq(in_g("rip"), "0310400000000000");
	fake_send("g");
	ck_assert_str_eq(in_g("rip"), "0120400000000000");
}
END_TEST

START_TEST(a_reply_without_room_for_all_ends_behind_a_whole_register)
{
	const struct fake_options small = { .packet_size = 101 };

	fake_again(&small);
	fake_send("g");
	ck_assert_uint_eq(fake.reply.len, 96); /* six registers of sixteen digits */
	ck_assert_str_eq(in_g("rax"), "8877665544332211");
}
END_TEST

START_TEST(a_trace_that_cannot_be_read_any_more_is_an_error_number)
{
	fake_send("qSupported"); /* gdb would read a text as the registers' values */
	fake.script->fail_at = 0;
	ck_assert_str_eq(fake_send("g"), "E05");
	ck_assert_str_eq(fake_send("p0"), "E05");
}
END_TEST

START_TEST(writing_is_refused_with_a_text_for_those_that_read_one)
{
	char packet[64], all[2 * 4096];

	snprintf(packet, sizeof(packet), "P%x=0000000000000000", reg("rax")->regnum);
	ck_assert_str_eq(fake_send(packet), "E01");
	fake_send("qSupported");
	ck_assert_str_eq(fake_send(packet), "E.a recording can't be changed");
	memset(all, '0', sizeof(all));
	all[0] = 'G';
	all[1 + 2 * rsp_regset(&fake.session)->g_len] = '\0';
	memcpy(all + 1, "xx", 2);
	ck_assert_str_eq(fake_send(all), "E.a recording can't be changed");
	ck_assert_str_eq(send_p("rax"), "8877665544332211");
}
END_TEST

static void make_linux(struct ts_recording *rec)
{
	struct ts_error err = { 0 };

	ts_regset_fini(&rec->regs);
	ck_assert(ts_regset_init(&rec->regs, ts_arch_find("x86_64"),
				 ts_arch_os_features(ts_arch_find("x86_64"), "GNU/Linux"), &err));
}

START_TEST(no_system_call_to_restart_may_be_written_as_gdb_does_to_run_again)
{
	const struct fake_options on_linux = { .change = make_linux };

	fake_again(&on_linux);
	ck_assert_str_eq(fake_send("P39=ffffffffffffffff"), "OK");
	ck_assert_str_eq(fake_send("P39=ffffffffffffff7f"), "E01");
	ck_assert_str_eq(fake_send("P0=ffffffffffffffff"), "E01");
	ck_assert_str_eq(send_p("orig_rax"), "xxxxxxxxxxxxxxxx");
}
END_TEST

START_TEST(malformed_packets_are_errors)
{
	static const char *const packets[] = {
		"p",
		"pzz",
		"pffffff",
		"p100000000",
		"p0,1",
		"p0;thread:7;",
		"p0;thread:3e8;x",
		"P",
		"P0",
		"P0=",
		"P0=1",
		"P0=00000000",
		"Pffffff=00",
		"P0=zz00000000000000",
		"P0=000000000000000000",
		"G",
		"Gzz",
		"G0",
		"Gx0",
		"g;thread:",
		"g;x",
		"g:1",
		"gg",
	};

	fake_send("qSupported"); /* refusals of well-formed packets have a text then */
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		ck_assert_msg(strcmp(fake_send(packets[i]), "E16") == 0, "%s: %s", packets[i], fake.text);
}
END_TEST

/* Steps of ARM by two threads, one of them without a pc; its status register is known, or not. */
static struct script *make_arm_of(bool has_status)
{
	static const uint32_t process_of[] = { 0, 0 };
	struct script *s = script_new("arm", 2, process_of);
	int cpsr = ts_regset_find(&s->rec.regs, "cpsr");

	if (has_status)
		ts_steps_value(&s->rec.initial, TS_FX_REG_WRITE, s->rec.regs.regs[cpsr].off, "\x1f\0\0\x60", 4);
	ts_steps_close(&s->steps, 0x8ffc, 4, 1);
	ts_steps_close(&s->steps, 0x8000, 4, 0);
	ts_steps_close(&s->steps, TS_NO_PC, 0, 0);
	ts_steps_close(&s->steps, 0x9000, 4, 1);
	return s;
}

static struct script *make_arm(void)
{
	return make_arm_of(false);
}

static struct script *make_arm_with_status(void)
{
	return make_arm_of(true);
}

/* gdb needs the mode of the code, and a pc, which are told if they are known, and made up if not. */
START_TEST(gdb_gets_a_status_register_and_a_pc)
{
	static const struct fake_options bare = { .make = make_arm }, whole = { .make = make_arm_with_status };

	fake_again(&bare);
	fake_send("g");
	ck_assert_str_eq(in_g("cpsr"), "xxxxxxxx"); /* to no gdb */
	fake_send("qSupported:xmlRegisters=arm");
	fake_send("g");
	ck_assert_str_eq(in_g("cpsr"), "00000000"); /* no Thumb: all addresses are even */
	rsp_session_go(&fake.session, 1);
	fake_send("g");
	ck_assert_str_eq(in_g("pc"), "00800000");
	rsp_session_go(&fake.session, 2);
	fake_send("g");
	ck_assert_str_eq(in_g("pc"), "ffffffff");
	fake.session.thread = 1;
	fake_send("g");
	ck_assert_str_eq(in_g("pc"), "00900000"); /* where the other thread goes on */

	fake_again(&whole);
	fake_send("qSupported:xmlRegisters=arm");
	rsp_session_go(&fake.session, 1);
	fake_send("g");
	ck_assert_str_eq(in_g("cpsr"), "1f000060");
}
END_TEST

FAKE_SUITE("pkt_regs", g_has_all_registers_with_the_unknown_ones_as_x,
	   a_register_known_in_part_is_sent_as_unknown, lldb_gets_an_error_for_an_unknown_register,
	   p_has_one_register_at_the_position, registers_are_those_of_the_selected_thread,
	   a_thread_behind_the_packet_is_the_one_meant,
	   a_reply_without_room_for_all_ends_behind_a_whole_register,
	   a_trace_that_cannot_be_read_any_more_is_an_error_number,
	   writing_is_refused_with_a_text_for_those_that_read_one,
	   no_system_call_to_restart_may_be_written_as_gdb_does_to_run_again, malformed_packets_are_errors,
	   gdb_gets_a_status_register_and_a_pc)
