/* SPDX-License-Identifier: MIT */
/*
 * Packets to the recording of a machine: two processes with four-level tables, user code and a kernel.
 *
 *      step    pc          mode        effects
 *      0..1    0x401000    user A      step 1 writes 0x11 at virtual 0x602000, physical 0x51000
 *      2       0x401002    user A      an interrupt: cs
 *      3       0xf000      kernel A    the page moves to 0x52000, which holds 0x22
 *      4       0xf001      kernel A    writes 0x33 there
 *      5       0xf002      kernel A    cr3
 *      6       0xf003      kernel B    cs
 *      7       0x401000    user B      writes 0x44 at the same virtual address, physical 0x53000
 *      8       0x401001    user B      cs, cr3
 *      9       0xf000      kernel A    cs
 *      10      0x401002    user A      writes 0x55 at virtual 0x602000
 *      11      0x401003    user A
 */
#include "fake_session.h"
#include "machine.h"

#include <stdio.h>
#include <string.h>

#define ROOT_A UINT64_C(0x10000)
#define ROOT_B UINT64_C(0x20000)
#define N_STEPS 12

static struct script *s;

/* Tables behind each other from @root on: pages 0x401000 and 0x602000 lie at @code and @data. */
static void put_tables(uint64_t root, uint64_t code, uint64_t data)
{
	struct ts_steps *to = &s->rec.initial;

	machine_put(to, root, (root + 0x1000) | PTE_P, 8);
	machine_put(to, root + 8, 0, 8);
	machine_put(to, root + 0x1000, (root + 0x2000) | PTE_P, 8);
	machine_put(to, root + 0x2000 + 8 * 2, (root + 0x3000) | PTE_P, 8);
	machine_put(to, root + 0x2000 + 8 * 3, (root + 0x4000) | PTE_P, 8);
	machine_put(to, root + 0x3000, 0, 8);
	machine_put(to, root + 0x3000 + 8 * 1, code | PTE_P, 8);
	machine_put(to, root + 0x4000 + 8 * 2, data | PTE_P, 8);
	machine_put(to, root + 0x4000 + 8 * 3, 0, 8);
}

static void step(uint64_t pc)
{
	ts_steps_close(&s->steps, pc, 1, 0);
}

static void reg(const char *name, uint64_t value)
{
	machine_reg(&s->steps, s, name, value);
}

static void put(uint64_t addr, uint64_t value)
{
	machine_put(&s->steps, addr, value, 1);
}

static struct script *make(void)
{
	s = machine_new(40);
	machine_long_mode(s, ROOT_A);
	put_tables(ROOT_A, 0x50000, 0x51000);
	put_tables(ROOT_B, 0x50000, 0x53000);
	machine_put(&s->rec.initial, 0x50ff8, UINT64_C(0x9090909090909090), 8);
	machine_put(&s->rec.initial, 0x51000, 0, 8);
	machine_put(&s->rec.initial, 0x52000, 0x22, 8);
	machine_put(&s->rec.initial, 0x53000, 0, 8);
	step(0x401000);
	put(0x51000, 0x11);
	step(0x401001);
	reg("cs", KERNEL_CS);
	step(0x401002);
	machine_put(&s->steps, ROOT_A + 0x4000 + 8 * 2, 0x52000 | PTE_P, 8);
	step(0xf000);
	put(0x52000, 0x33);
	step(0xf001);
	reg("cr3", ROOT_B);
	step(0xf002);
	reg("cs", USER_CS);
	step(0xf003);
	put(0x53000, 0x44);
	step(0x401000);
	reg("cs", KERNEL_CS);
	reg("cr3", ROOT_A);
	step(0x401001);
	reg("cs", USER_CS);
	step(0xf000);
	put(0x52000, 0x55);
	step(0x401002);
	step(0x401003);
	s->end = (struct ts_end){ .pc = 0x401004, .has_pc = true };
	return s;
}

static struct script *make_without_paging(void)
{
	s = machine_new(40);
	machine_put(&s->rec.initial, 0x51000, 0xab, 1);
	step(0x1000);
	return s;
}

static void setup(void)
{
	static const struct fake_options options = { .make = make };

	fake_again(&options);
}

/* The reply to a monitor command, as text. */
static const char *monitor(const char *command)
{
	static char text[1024];
	const char *hex = fake_send_hex("qRcmd,%s", command);
	unsigned byte;
	size_t n = 0;

	while (n + 1 < sizeof(text) && sscanf(hex + 2 * n, "%2x", &byte) == 1)
		text[n++] = (char)byte;
	text[n] = '\0';
	return text;
}

static void at(uint64_t pos)
{
	rsp_session_go(&fake.session, pos);
}

static uint64_t resume(const char *packet)
{
	fake_resume(packet);
	return fake.session.pos;
}

/* ------------------------------------------------------------------------------------------------ memory */

START_TEST(memory_is_that_of_virtual_addresses_at_the_position)
{
	setup();
	ck_assert_str_eq(fake_send("m602000,1"), "00");
	at(2);
	ck_assert_str_eq(fake_send("m602000,1"), "11");
	at(4);
	ck_assert_str_eq(fake_send("m602000,1"), "22");
	at(5);
	ck_assert_str_eq(fake_send("m602000,1"), "33");
	at(6);
	ck_assert_str_eq(fake_send("m602000,1"), "00");
	at(8);
	ck_assert_str_eq(fake_send("m602000,1"), "44");
	ck_assert_str_eq(fake_send("m603000,1"), "E14");
	ck_assert_str_eq(fake_send("m401ffc,10"), "90909090"); /* up to the end of what is mapped */
	ck_assert_str_eq(fake_send("x602000,1"), "bD");
}
END_TEST

START_TEST(searching_goes_by_virtual_addresses_too)
{
	setup();
	at(5);
	ck_assert_str_eq(fake_resume("qSearch:memory:400000;300000;Z"), "0");
	ck_assert_str_eq(fake_resume_bytes("qSearch:memory:400000;300000;\x33", 30), "1,602000");
	at(2);
	ck_assert_str_eq(fake_resume_bytes("qSearch:memory:400000;300000;\x33", 30), "0");
}
END_TEST

START_TEST(addresses_are_physical_when_the_user_wants_it)
{
	setup();
	at(2);
	ck_assert_str_eq(monitor("physical"), "addresses: virtual\n");
	ck_assert_str_eq(monitor("physical on"), "addresses: physical\n");
	ck_assert_str_eq(fake_send("m51000,1"), "11");
	ck_assert_str_eq(fake_send("m602000,1"), "E14");
	ck_assert_str_eq(fake_send("Z2,51000,1"), "OK");
	at(0);
	ck_assert_uint_eq(resume("c"), 2);
	ck_assert_str_eq(fake_send("z2,51000,1"), "OK");
	ck_assert_str_eq(monitor("physical off"), "addresses: virtual\n");
	ck_assert_str_eq(fake_send("m602000,1"), "11");
	monitor("physical maybe");
	ck_assert_str_eq(fake_console(), "physical takes on or off\n");
}
END_TEST

START_TEST(qemus_packets_say_and_set_the_same)
{
	setup();
	at(2);
	ck_assert_str_eq(fake_send("qqemu.Supported"), "PhyMemMode");
	ck_assert_str_eq(fake_send("qqemu.PhyMemMode"), "0");
	ck_assert_str_eq(fake_send("Qqemu.PhyMemMode:1"), "OK");
	ck_assert_str_eq(fake_send("qqemu.PhyMemMode"), "1");
	ck_assert_str_eq(fake_send("m51000,1"), "11");
	ck_assert_str_eq(fake_send("Qqemu.PhyMemMode:0"), "OK");
	ck_assert_str_eq(fake_send("m602000,1"), "11");
	ck_assert_str_eq(fake_send("Qqemu.PhyMemMode:2"), "OK");
	ck_assert_str_eq(fake_send("qqemu.PhyMemMode"), "1");
	ck_assert_str_eq(fake_send("Qqemu.PhyMemMode"), "E16");
	ck_assert_str_eq(fake_send("Qqemu.PhyMemMode:x"), "E16");
	fake_send("qSupported"); /* another client */
	ck_assert_str_eq(fake_send("qqemu.PhyMemMode"), "0");
}
END_TEST

START_TEST(translate_shows_the_walk)
{
	setup();
	ck_assert_str_eq(monitor("translate 0x602abc"), "virtual 0x602abc: physical 0x51abc, page of 4 KiB\n"
							"  entry at 0x10000: 0x0000000000011001\n"
							"  entry at 0x11000: 0x0000000000012001\n"
							"  entry at 0x12018: 0x0000000000014001\n"
							"  entry at 0x14010: 0x0000000000051001\n");
	at(4);
	ck_assert(!strncmp(monitor("translate 0x602abc"), "virtual 0x602abc: physical 0x52abc,", 35));
	ck_assert_str_eq(monitor("translate 0x8000000000"), "virtual 0x8000000000: not mapped\n"
							    "  entry at 0x10008: 0x0000000000000000\n");
	ck_assert_str_eq(monitor("translate 0x10000000000"), "virtual 0x10000000000: not known\n"
							     "  entry at 0x10010: not known\n");
	monitor("translate main");
	ck_assert_str_eq(fake_console(), "translate takes an address, a number\n");
}
END_TEST

/* The first two MiB and the second GiB are a page each. */
static struct script *make_large(void)
{
	struct script *m = machine_new(40);
	struct ts_steps *to = &m->rec.initial;

	machine_long_mode(m, 0x10000);
	machine_put(to, 0x10000, 0x11000 | PTE_P, 8);
	machine_put(to, 0x11000, 0x12000 | PTE_P, 8);
	machine_put(to, 0x11008, 0x40000000 | PTE_P | PTE_LARGE, 8);
	machine_put(to, 0x12000, 0x200000 | PTE_P | PTE_LARGE, 8);
	machine_step(m, 0x1000);
	return m;
}

START_TEST(a_large_page_is_told_in_its_unit)
{
	static const struct fake_options options = { .make = make_large };

	fake_again(&options);
	ck_assert(!strncmp(monitor("translate 0x1234"), "virtual 0x1234: physical 0x201234, page of 2 MiB\n", 49));
	ck_assert(!strncmp(monitor("translate 0x40001234"), "virtual 0x40001234: physical 0x40001234, page of 1 GiB\n", 55));
}
END_TEST

START_TEST(what_is_no_number_is_no_address)
{
	static const char *const words[] = { "", "/1", ":1", "1x", "0x1ffffffffffffffff" };
	char command[64];

	setup();
	for (unsigned i = 0; i < 5; i++) {
		snprintf(command, sizeof(command), "translate %s", words[i]);
		monitor(command);
		ck_assert_str_eq(fake_console(), "translate takes an address, a number\n");
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------------ running */

START_TEST(breakpoints_are_at_virtual_addresses_of_any_process)
{
	setup();
	fake_send("Z0,401000,1");
	ck_assert_uint_eq(resume("c"), 7);
	ck_assert_uint_eq(resume("c"), N_STEPS);
	ck_assert_uint_eq(resume("bc"), 7);
	ck_assert_uint_eq(resume("bc"), 0);
}
END_TEST

START_TEST(a_condition_reads_virtual_memory)
{
	setup();
	/*
	 * stop at 0x401002 if the byte at 0x602000 is 0x33: const32 0x602000, ref8, const8 0x33, equal, end
	 */
	ck_assert_str_eq(fake_send("Z0,401002,1;Xa,24006020001722331327"), "OK");
	ck_assert_uint_eq(resume("c"), 10);
	ck_assert_uint_eq(resume("bc"), 0);
}
END_TEST

START_TEST(a_watchpoint_follows_its_address_through_remapping_and_switches)
{
	setup();
	ck_assert_str_eq(fake_send("Z2,602000,1"), "OK");
	ck_assert_uint_eq(resume("c"), 2);
	ck_assert_uint_eq(resume("c"), 5); /* in the page's new place */
	ck_assert_uint_eq(resume("c"), 8); /* in another process */
	ck_assert_uint_eq(resume("c"), 11);
	ck_assert_ptr_nonnull(strstr(fake.text, "watch:602000;"));
	ck_assert_uint_eq(resume("c"), N_STEPS);
	ck_assert_uint_eq(resume("bc"), 10);
	ck_assert_uint_eq(resume("bc"), 7);
	ck_assert_uint_eq(resume("bc"), 4);
	ck_assert_uint_eq(resume("bc"), 1);
	ck_assert_uint_eq(resume("bc"), 0);
}
END_TEST

START_TEST(a_filter_for_user_code_passes_over_the_kernel)
{
	setup();
	ck_assert_str_eq(monitor("filter user"), "filter: user code\n");
	fake_send("Z0,f000,1");
	fake_send("Z2,602000,1");
	at(2);
	ck_assert_uint_eq(resume("s"), 7);
	ck_assert_uint_eq(resume("s"), 8);
	ck_assert_uint_eq(resume("s"), 10);
	ck_assert_uint_eq(resume("bs"), 8);
	ck_assert_uint_eq(resume("bs"), 7);
	ck_assert_uint_eq(resume("bs"), 2);
	at(0);
	ck_assert_uint_eq(resume("c"), 2);
	ck_assert_uint_eq(resume("c"), 8);
	ck_assert_uint_eq(resume("c"), 11);
	ck_assert_uint_eq(resume("bc"), 10);
	ck_assert_uint_eq(resume("bc"), 7);
	ck_assert_str_eq(monitor("filter off"), "filter: off\n");
	ck_assert_uint_eq(resume("bc"), 4);
	ck_assert_uint_eq(resume("bc"), 3); /* the breakpoint */
}
END_TEST

START_TEST(a_filter_for_a_process_passes_over_others)
{
	setup();
	ck_assert_str_eq(monitor("filter process"), "filter: process with cr3 0x10000\n");
	fake_send("Z0,401000,1");
	ck_assert_uint_eq(resume("c"), N_STEPS);
	ck_assert_uint_eq(resume("bc"), 0);
	at(5);
	ck_assert_uint_eq(resume("s"), 9);
	ck_assert_uint_eq(resume("bs"), 5);
	ck_assert_str_eq(monitor("filter user"), "filter: process with cr3 0x10000, user code\n");
	ck_assert_str_eq(monitor("filter"), "filter: process with cr3 0x10000, user code\n");
	at(2);
	ck_assert_uint_eq(resume("s"), 10);
	ck_assert_str_eq(monitor("filter process 0x20fff"), "filter: process with cr3 0x20000, user code\n");
	at(0);
	ck_assert_uint_eq(resume("c"), 7);
	ck_assert_uint_eq(resume("s"), 8);
	ck_assert_uint_eq(resume("s"), N_STEPS); /* none after it */
	ck_assert_ptr_nonnull(strstr(fake.text, "replaylog:end"));
	at(7);
	ck_assert_uint_eq(resume("bs"), 0);
	ck_assert_ptr_nonnull(strstr(fake.text, "replaylog:begin"));
}
END_TEST

START_TEST(a_range_step_passes_over_what_the_filter_does_not_admit)
{
	setup();
	at(0);
	ck_assert_uint_eq(resume("vCont;r401000,401003:3e8"), 3);
	monitor("filter process");
	monitor("filter user");
	at(0);
	ck_assert_uint_eq(resume("vCont;r401000,401003:3e8"), 11);
	monitor("filter process 0x20000");
	at(7);
	ck_assert_uint_eq(resume("vCont;r401000,401003:3e8"), N_STEPS);
}
END_TEST

START_TEST(a_filter_that_makes_no_sense_is_refused)
{
	setup();
	monitor("filter kernel");
	ck_assert_str_eq(fake_console(), "filter takes process, user or off\n");
	monitor("filter process bash");
	ck_assert_str_eq(fake_console(), "filter process takes a number, the process's cr3, or a name of --processes\n");
	monitor("filter processes");
	ck_assert_str_eq(fake_console(), "filter takes process, user or off\n");
	ck_assert_str_eq(monitor("filter"), "filter: off\n");
}
END_TEST

START_TEST(info_says_how_addresses_are_meant)
{
	setup();
	ck_assert_ptr_nonnull(strstr(
		monitor("info"), "addresses: virtual\nfilter: off\npaging: four-level page tables here\n"));
}
END_TEST

/* ------------------------------------------------------------------------------------------------ widths */

/* One step each in code of 64, 32 and 16 bits; rax is 0x1122334455667788. */
static struct script *make_widths(void)
{
	s = machine_new(40);
	machine_long_mode(s, ROOT_A);
	machine_reg(&s->rec.initial, s, "rax", UINT64_C(0x1122334455667788));
	reg("cs_shadow", SHADOW_D);
	step(UINT64_C(0xffff800000401000));
	reg("cs_shadow", 0);
	step(0x401001);
	step(0x401002);
	return s;
}

/* A client connects at a position; what it is told of the processor. */
static const char *connect_at(uint64_t pos)
{
	const char *xml;

	at(pos);
	fake_send("qSupported");
	xml = fake_send("qXfer:features:read:target.xml:0,4000");
	return strstr(xml, "<architecture>");
}

START_TEST(registers_are_those_of_the_code_where_a_client_connects)
{
	static const struct fake_options options = { .make = make_widths };

	fake_again(&options);
	ck_assert(!strncmp(connect_at(0), "<architecture>i386:x86-64<", 26));
	ck_assert_str_eq(fake_send("p0"), "8877665544332211");
	ck_assert(!strncmp(connect_at(1), "<architecture>i386<", 19));
	ck_assert_str_eq(fake_send("p0"), "88776655");
	ck_assert_str_eq(fake_send("p8"), "01104000"); /* eip */
	ck_assert_uint_eq(resume("s"), 2);
	ck_assert_str_eq(fake_send("p0"), "88776655"); /* for as long as it is connected */
	ck_assert_ptr_nonnull(strstr(fake_send("?"), "T05"));
	ck_assert_ptr_nonnull(strstr(fake.text, "08:02104000;"));
	/* the condition eax == 0x55667788, by its number in this width: reg 0, const32, equal, end */
	at(1);
	ck_assert_str_eq(fake_send("Z0,401002,1;Xa,2600002455667788" "1327"), "OK");
	ck_assert_uint_eq(resume("c"), 2);
	ck_assert(!strncmp(connect_at(2), "<architecture>i8086<", 20));
}
END_TEST

START_TEST(the_user_may_say_how_registers_are_shown)
{
	static const struct fake_options options = { .make = make_widths };
	struct ts_error error = { 0 };

	fake_again(&options);
	ck_assert(!rsp_target_force_arch(&fake.target, ts_arch_find("aarch64"), &error));
	ck_assert_int_eq(error.code, TS_EUSAGE);
	fake_again(&options);
	ck_assert(rsp_target_force_arch(&fake.target, ts_arch_find("i386"), &error));
	ck_assert(!strncmp(connect_at(0), "<architecture>i386<", 19));
	ck_assert_str_eq(fake_send_hex("qRcmd,%s", "history $eax first 1"), "OK");
	fake_again(&options);
	ck_assert(rsp_target_force_arch(&fake.target, ts_arch_find("x86_64"), &error));
	ck_assert(!strncmp(connect_at(1), "<architecture>i386:x86-64<", 26));
}
END_TEST

/* ------------------------------------------------------------------------------------------------ others */

START_TEST(without_control_registers_addresses_are_physical)
{
	static const struct fake_options options = { .make = make_without_paging };

	fake_again(&options);
	ck_assert_str_eq(fake_send("m51000,1"), "ab");
	ck_assert_str_eq(fake_send("qqemu.PhyMemMode"), "1");
	ck_assert_str_eq(fake_send("Qqemu.PhyMemMode:1"), "OK");
	ck_assert_str_eq(fake_send("Qqemu.PhyMemMode:0"), "E01");
	ck_assert_str_eq(fake_send("m51000,1"), "ab");
	monitor("physical off");
	ck_assert_str_eq(fake_console(),
			 "the recording does not show how addresses are translated: they are physical\n");
	monitor("translate 1");
	ck_assert_str_eq(fake_console(),
			 "the recording does not show how addresses are translated: they are physical\n");
	monitor("filter process");
	ck_assert_str_eq(fake_console(), "cr3 is not known here\n");
	ck_assert_ptr_nonnull(
		strstr(monitor("info"), "addresses: physical\nfilter: off\npaging: not recorded\n"));
}
END_TEST

START_TEST(the_recording_of_a_program_has_none_of_it)
{
	static const char refusal[] = "this is the recording of a program, not of a machine\n";

	ck_assert_str_eq(fake_send("qqemu.PhyMemMode"), "0");
	ck_assert_str_eq(fake_send("Qqemu.PhyMemMode:0"), "OK");
	ck_assert_str_eq(fake_send("Qqemu.PhyMemMode:1"), "E01");
	monitor("physical on");
	ck_assert_str_eq(fake_console(), refusal);
	monitor("translate 0x401000");
	ck_assert_str_eq(fake_console(), refusal);
	monitor("filter user");
	ck_assert_str_eq(fake_console(), refusal);
	ck_assert_ptr_null(strstr(monitor("info"), "addresses"));
}
END_TEST

FAKE_SUITE("machine",
	   memory_is_that_of_virtual_addresses_at_the_position,
	   searching_goes_by_virtual_addresses_too,
	   addresses_are_physical_when_the_user_wants_it,
	   qemus_packets_say_and_set_the_same,
	   translate_shows_the_walk,
	   a_large_page_is_told_in_its_unit,
	   what_is_no_number_is_no_address,
	   breakpoints_are_at_virtual_addresses_of_any_process,
	   a_condition_reads_virtual_memory,
	   a_watchpoint_follows_its_address_through_remapping_and_switches,
	   a_filter_for_user_code_passes_over_the_kernel,
	   a_filter_for_a_process_passes_over_others,
	   a_range_step_passes_over_what_the_filter_does_not_admit,
	   a_filter_that_makes_no_sense_is_refused,
	   info_says_how_addresses_are_meant,
	   registers_are_those_of_the_code_where_a_client_connects,
	   the_user_may_say_how_registers_are_shown,
	   without_control_registers_addresses_are_physical,
	   the_recording_of_a_program_has_none_of_it)
