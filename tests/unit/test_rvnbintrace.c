/* SPDX-License-Identifier: MIT */
/*
 * REVEN traces: what their bytes mean.  Files are written by rvn_encode from the format's description: from
 * text (rvn_text.h), or byte by byte where the form of an event matters.  Real executions are in
 * test_rvnbintrace_machine, damage in test_rvnbintrace_bad.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/trace/point.h"
#include "rvn_encode.h"
#include "rvn_text.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"
#include "ucir_text.h"

static struct ucir_trace t;
static struct rvn_parts p;
static struct ts_buf steps;

static void setup(void)
{
	t = (struct ucir_trace){ .format = "rvnbintrace" };
	ts_buf_init(&steps);
	rvn_small(&p);
}

static void teardown(void)
{
	ucir_close(&t);
	rvn_parts_fini(&p);
	ts_buf_fini(&steps);
}

/* Bytes of events in hexadecimal; blanks are skipped. */
static void events(uint32_t n, const char *hex)
{
	unsigned digit[2];

	p.events.n = n;
	for (const char *c = hex; *c; c++) {
		if (*c == ' ')
			continue;
		for (unsigned i = 0; i < 2; i++)
			digit[i] = c[i] <= '9' ? (unsigned)(c[i] - '0') : (unsigned)(c[i] - 'a') + 10;
		ts_buf_putc(&p.events.bytes, (uint8_t)(digit[0] << 4 | digit[1]));
		c++;
	}
}

static const char *read_steps(void)
{
	rvn_assemble(&p, &t.bytes);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	ck_assert_msg(ucir_read_all(&t, &steps) == TS_END, "%s", t.err.text);
	return ts_buf_text(&steps);
}

/* A value of the initial state, or "?". */
static const char *initial(const char *name)
{
	static char text[160];
	const struct ts_regset *set = &t.rec->regs;
	int reg = ts_regset_find(set, name);
	size_t at = 0;

	ck_assert_msg(reg >= 0, "no %s", name);
	strcpy(text, "?");
	for (uint32_t i = 0; i < t.rec->initial.n_effects; i++) {
		const struct ts_effect *e = &t.rec->initial.effects[i];

		if (e->kind != TS_FX_REG_WRITE || e->addr != set->regs[reg].off)
			continue;
		ck_assert_uint_eq(e->len, set->regs[reg].len);
		for (uint64_t j = e->len; j--;)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%02x",
					       ts_effect_data(&t.rec->initial, e)[j]);
	}
	return text;
}

/* --------------------------------------------------------------------------------------------- containers */

START_TEST(every_container_holds_the_same_trace)
{
	static const struct {
		enum rvn_container container;
		uint64_t first_section;
		const char *variant;
	} containers[] = {
		{ RVN_BARE, 0, "no resource header" },
		{ RVN_OLD_HEADER, 3116, "version 1.0.1, panda" },
		{ RVN_HEADER_0, 3120, "version 1.0.1, panda" },
		{ RVN_HEADER_1, 3640, "version 1.0.1, panda 1.3.0" },
	};

	events(1, "00");
	for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++) {
		struct ts_error err = { 0 };

		p.container = containers[i].container;
		ck_assert_str_eq(read_steps(), "401000/0@0\n");
		ck_assert_uint_eq(p.header_at, containers[i].first_section);
		ck_assert_str_eq(t.rec->variant, containers[i].variant);
		ck_assert_str_eq(ts_loader_probe(t.src, &err)->name, "rvnbintrace");
		ts_buf_reset(&steps);
		ucir_close(&t);
		t.format = "rvnbintrace";
	}
}
END_TEST

START_TEST(any_version_1_of_the_format_is_read)
{
	static const char *const versions[] = { "1.0.0", "1.1.0", "1.20.3-rc1", "1.0.1+x", "" };

	p.container = RVN_HEADER_1;
	events(1, "00");
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		p.format = versions[i];
		ck_assert_str_eq(read_steps(), "401000/0@0\n");
		ts_buf_reset(&steps);
		ucir_close(&t);
		t.format = "rvnbintrace";
	}
}
END_TEST

START_TEST(sections_may_be_longer_than_their_fields)
{
	struct ts_error err = { 0 };

	for (unsigned i = 1; i < 4096; i++) {
		ts_buf_putc(&p.header, 0xff);
		ts_buf_putc(&p.padding, 0xff);
	}
	events(1, "00 ff ff ff");
	ck_assert_str_eq(read_steps(), "401000/0@0\n");
	ck_assert_str_eq(ts_loader_probe(t.src, &err)->name, "rvnbintrace");
}
END_TEST

/* -------------------------------------------------------------------------------------------- the machine */

START_TEST(memory_stays_in_the_file_and_the_last_region_over_a_byte_counts)
{
	uint8_t data[8], known[8] = { 0 };

	rvn_add(&p, "region 100e aabbccdd\n"
		    "event\n");
	read_steps();
	ck_assert(t.rec->is_physical);
	ck_assert_uint_eq(t.rec->phys_bits, 40);
	ts_image_fill(&t.rec->memory, 0, 0x100c, 8, data, known);
	ck_assert_int_eq(memcmp(data, "\x0c\x0d\xaa\xbb\xcc\xdd", 6), 0);
	ck_assert_int_eq(memcmp(known, "\1\1\1\1\1\1\0\0", 8), 0);
	for (uint32_t i = 0; i < t.rec->initial.n_effects; i++)
		ck_assert_int_eq(t.rec->initial.effects[i].kind, TS_FX_REG_WRITE);
}
END_TEST

START_TEST(addresses_have_one_to_eight_bytes)
{
	for (uint8_t len = 1; len <= 8; len++) {
		char expected[64];
		uint64_t start =
			UINT64_MAX >> (64 - 8 * len) ^ 0x0f; /* the last sixteen bytes that there are */

		rvn_parts_fini(&p);
		rvn_small(&p);
		p.addr_len = len;
		ts_buf_reset(&p.regions.bytes);
		p.regions.n = 0;
		rvn_region(&p, start, 16);
		rvn_number(&p.events.bytes, 1, 1);
		rvn_number(&p.events.bytes, start + 15, len);
		rvn_number(&p.events.bytes, 0xaa01, 2);
		p.events.n = 1;
		snprintf(expected, sizeof(expected), "401000/0@0 W%" PRIx64 "=aa\n", start + 15);
		ck_assert_str_eq(read_steps(), expected);
		ts_buf_reset(&steps);
		ucir_close(&t);
		t.format = "rvnbintrace";
	}
}
END_TEST

START_TEST(registers_that_every_trace_should_have_may_be_missing)
{
	events(1, "00");
	read_steps();
	ck_assert_uint_eq(ucir_warned(t.rec, "missing: rcx, rdx, rsi"), 1);
	ck_assert_str_eq(initial("rax"), "0000000000000011");
	ck_assert_str_eq(initial("rcx"), "?");
}
END_TEST

START_TEST(a_register_without_a_name_is_odd)
{
	rvn_add(&p, "register 7 /3=:616263\n"
		    "event =:78797a\n");
	ck_assert_str_eq(read_steps(), "401000/0@0\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "no name"), 1);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ events */

START_TEST(memory_comes_before_registers)
{
	events(1, "11 0010000000 02 aabb 00 3300000000000000");
	ck_assert_str_eq(read_steps(), "401000/0@0 W1000=aabb rax=33\n");
}
END_TEST

START_TEST(lengths_and_ids_have_two_forms)
{
	events(4, "02 0010000000 ff 0100000000 aa 0310000000 00"
		  "10 ff 2c01 4400000000000000"
		  "10 ff 0000 5500000000000000"
		  "10 ff 0a00");
	ck_assert_str_eq(read_steps(), "401000/0@0 W1000=aa\n"
				       "401000/0@0 rbx=44\n"
				       "401000/0@0 rax=55\n"
				       "401000/1@0\n");
}
END_TEST

START_TEST(an_event_goes_on_after_fourteen_entries)
{
	/* 14 times the operation rip += 1, then: nothing more; one more */
	events(2, "f0 0a0a0a0a0a0a0a0a0a0a0a0a0a0a 00"
		  "f0 0a0a0a0a0a0a0a0a0a0a0a0a0a0a 11 0110000000 01 ee 0a");
	ck_assert_str_eq(read_steps(), "401000/14@0\n40100e/15@0 W1001=ee\n");
	ck_assert_uint_eq(t.reader->end.pc, 0x40101d);
}
END_TEST

START_TEST(an_event_may_go_on_any_number_of_times)
{
	ts_buf_reset(&p.events.bytes);
	p.events.n = 1;
	for (unsigned i = 0; i < 1000; i++) {
		ts_buf_put(&p.events.bytes, "\x0f", 1);
		for (unsigned j = 0; j < 14; j++)
			ts_buf_put(&p.events.bytes, "\x05\x10\0\0\0\1\x99", 7);
	}
	ts_buf_putc(&p.events.bytes, 0);
	read_steps();
	ck_assert_uint_eq(steps.len, strlen("401000/0@0") + 14000 * strlen(" W1005=99") + 1);
}
END_TEST

START_TEST(a_call_over_a_few_bytes_is_as_long_as_its_return_address_tells)
{
	events(4, "11 0010000000 08 0510400000000000 01 0910400000000000"  /* a call of five bytes */
		  "11 0010000000 08 0510400000000000 01 1010400000000000"  /* an address below */
		  "11 0010000000 08 1810400000000000 01 1810400000000000"  /* the next address itself */
		  "f0 0a0a0a0a0a0a0a0a0a0a0a0a0a0a 00");                   /* no memory */
	ck_assert_str_eq(read_steps(), "401000/5@0 W1000=0510400000000000\n"
				       "401009/7@0 W1000=0510400000000000\n"
				       "401010/8@0 W1000=1810400000000000\n"
				       "401018/14@0\n");
}
END_TEST

START_TEST(operations_act_on_the_value_so_far)
{
	/* 10: rip += 1, 11: eflags |= 1 */
	rvn_add(&p, "event rip=10 *10 *10 *11 eflags=8 *11\n"
		    "event\n");
	ck_assert_str_eq(read_steps(), "401000/0@0 eflags=9\n12/0@0\n");
}
END_TEST

START_TEST(operations_are_as_wide_as_their_register)
{
	rvn_add(&p, "register 7 zmm3/64=:ffffffffffffffffffffffffffffffff"
		    "ffffffffffffffffffffffffffffff7f\n"
		    "operation 20 zmm3 + 1\n"
		    "operation 21 rbx + ffffffffffffffff\n"
		    "operation 22 rbx & fffffffffffffffe\n"
		    "operation 23 rbx = 0\n"
		    "event *20\n"
		    "event *21\n"
		    "event *22\n"
		    "event *23 *21\n");
	ck_assert_str_eq(
		read_steps(),
		"401000/0@0 xmm3=00000000000000000000000000000000 ymm3h=00000000000000000000000000000080\n"
		"401000/0@0 rbx=21\n"
		"401000/0@0 rbx=20\n"
		"401000/0@0 rbx=ffffffffffffffff\n");
}
END_TEST

/*
 * The same where more bytes follow than entries with a short form have: the steps that are read with many bytes
 * ahead, and the last ones, with few, are the same.  All lengths that registers have, next to each other in what
 * is kept; changes must not reach the neighbours.
 */
START_TEST(operations_and_values_are_the_same_wherever_they_are)
{
	static const char events[] = "event *20 *23 *26\n"
				     "event *21 *24 *27 rip=401000\n"
				     "event *22 *25 *20 @1000=4243 rip=401000\n"
				     "event cs=fffe ss=ff rbx=10 rdx=7 @1008=11223344 @100c=55 @1001=112233445566778899 @100e=aabbcc rip=401000\n"
				     "event *20 *21 rdx=8 *23 rbx=1 @1000=0102030405060708 rip=401000\n"
				     "event cs=1 ss=2 rbx=ffffffff00000000 rip=401000\n";
	static const unsigned n_rounds = 12;
	const char *first, *at;
	size_t len;

	rvn_add(&p, "register 3 cs/2=ffff\nregister 4 ss/2=0\nregister 6 rdx/8=5\n"
		    "operation 20 cs + 1\noperation 21 cs & ff0f\noperation 22 cs = 1234\n"
		    "operation 23 ss + ffff\noperation 24 ss | f0\noperation 25 ss & fff\n"
		    "operation 26 rbx + ffffffffffffffff\noperation 27 rbx | 8000000000000000\n");
	for (unsigned i = 0; i < n_rounds; i++)
		rvn_add(&p, events);
	first = read_steps();
	first = strstr(first, "rbx=ffffffff00000000\n"); /* from here on all rounds begin with the same values */
	ck_assert_ptr_nonnull(first);
	first = strchr(first, '\n') + 1;
	at = strstr(first, "rbx=ffffffff00000000\n");
	ck_assert_ptr_nonnull(at);
	len = (size_t)(strchr(at, '\n') + 1 - first);
	ck_assert_uint_eq(strlen(first), len * (n_rounds - 1));
	for (unsigned i = 1; i + 1 < n_rounds; i++)
		ck_assert(!memcmp(first, first + i * len, len));
	/* cs=1 ss=2: cs + 1, ss + ffff, rbx - 1 */
	ck_assert_ptr_nonnull(strstr(first, "cs=2 ss=1 rbx=fffffffeffffffff\n"));
	ck_assert_ptr_nonnull(strstr(first, "cs=2 ss=f1 rbx=fffffffeffffffff\n"));
	ck_assert_ptr_nonnull(strstr(first, "W1000=4243 cs=1235 ss=f1\n"));
	ck_assert_ptr_nonnull(strstr(first, "W1008=11223344 W100c=55 W1001=112233445566778899 W100e=aabb "));
}
END_TEST

START_TEST(an_id_of_one_is_that_of_an_operation_before_that_of_a_register)
{
	events(1, "20 ff 0a00 ff 0b00");
	ck_assert_str_eq(read_steps(), "401000/1@0 eflags=3\n");
}
END_TEST

START_TEST(a_register_may_have_the_id_that_says_that_two_bytes_follow)
{
	rvn_register(&p, 255, 8, "rcx");
	rvn_initial(&p, 255, "\0\0\0\0\0\0\0\0", 8);
	events(1, "10 ff ff00 6600000000000000");
	ck_assert_str_eq(read_steps(), "401000/0@0 rcx=66\n");
}
END_TEST

START_TEST(interrupts_are_positions_and_events)
{
	events(5, "10 0a"
		  "ffff 0a 70616765206661756c74 11 0210000000 01 99 01 0000200000000000"
		  "ffff 00 00"
		  "ffff 02 410a ff" /* 14 and 14, and then the end */
		  "0010000000 00 0010000000 00 0010000000 00 0010000000 00 0010000000 00 0010000000 00 "
		  "0010000000 00"
		  "0010000000 00 0010000000 00 0010000000 00 0010000000 00 0010000000 00 0010000000 00 "
		  "0010000000 00"
		  "0b0b0b0b0b0b0b0b0b0b0b0b0b0b 00"
		  "ffff 00 10 0a"); /* goes on no further than an instruction would */
	ck_assert_str_eq(read_steps(), "401000/1@0\n"
				       "401001/0@0 interrupt(page fault) W1002=99\n"
				       "200000/0@0 interrupt\n"
				       "200000/0@0 interrupt(A?) eflags=3\n"
				       "200000/0@0 interrupt\n");
}
END_TEST

START_TEST(long_descriptions_are_cut)
{
	char expected[128];

	events(1, "ffff ff");
	for (unsigned i = 0; i < 255; i++)
		ts_buf_putc(&p.events.bytes, 'x');
	ts_buf_putc(&p.events.bytes, 0);
	snprintf(expected, sizeof(expected), "401000/0@0 interrupt(%.47s)\n",
		 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	ck_assert_str_eq(read_steps(), expected);
}
END_TEST

START_TEST(an_error_code_that_the_recorder_makes_up_is_not_shown)
{
	rvn_add(&p, "interrupt page_fault_with_error_code_4\n");
	ck_assert_str_eq(read_steps(), "401000/0@0 interrupt(page fault)\n");
}
END_TEST

START_TEST(what_is_written_outside_of_all_regions_is_left_out)
{
	rvn_add(&p, "region 1020 0000\n"
		    "region ffffffffff 00\n"
		    "event @ffe=01020304\n"                                     /* into it */
		    "event @100e=000102030405060708090a0b0c0d0e0f10111213\n" /* out of it and into the next */
		    "event @90000000=0102\n"
		    "event @ffffffffff=0102\n");
	ck_assert_str_eq(read_steps(), "401000/0@0 W1000=0304\n"
				       "401000/0@0 W100e=0001 W1020=1213\n"
				       "401000/0@0\n"
				       "401000/0@0 Wffffffffff=01\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "outside"), 4);
}
END_TEST

START_TEST(regions_side_by_side_and_within_each_other_are_one)
{
	rvn_add(&p, "region 1010 +64\n"
		    "region 1020 +2\n"
		    "event @100e=01020304\n"
		    "event @104e=0506\n");
	ck_assert_str_eq(read_steps(), "401000/0@0 W100e=01020304\n401000/0@0 W104e=0506\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "outside"), 0);
}
END_TEST

START_TEST(a_long_write_past_the_last_address_does_not_go_on_at_the_first)
{
	enum { LEN = 600000, RAM_LEN = 700000 };

	p.addr_len = 8;
	ts_buf_reset(&p.regions.bytes);
	p.regions.n = 0;
	rvn_region(&p, 0, RAM_LEN);
	rvn_region(&p, UINT64_MAX - 7, 8);
	ts_buf_reset(&p.memory);
	for (unsigned i = 0; i < RAM_LEN + 8; i++)
		ts_buf_putc(&p.memory, 0);
	events(1, "01 feffffffffffffff ff c027090000000000");
	for (unsigned i = 0; i < LEN; i++)
		ts_buf_putc(&p.events.bytes, 0x77);
	ck_assert_str_eq(read_steps(), "401000/0@0 Wfffffffffffffffe=7777\n");
}
END_TEST

START_TEST(physical_addresses_have_at_most_52_bits)
{
	p.statics.n = 0;
	ts_buf_reset(&p.statics.bytes);
	events(1, "00");
	read_steps();
	ck_assert_uint_eq(t.rec->phys_bits, 0);
	ucir_close(&t);
	t.format = "rvnbintrace";
	rvn_add(&p, "static cpuid_max_phy_addr 40\n");
	read_steps();
	ck_assert_uint_eq(t.rec->phys_bits, 52);
}
END_TEST

START_TEST(a_write_longer_than_any_buffer_is_one_event)
{
	enum { LEN = 1000000 };
	uint64_t n = 0;

	rvn_parts_fini(&p);
	rvn_small(&p);
	rvn_region(&p, 0x100000, LEN);
	for (unsigned i = 0; i < LEN; i++)
		ts_buf_putc(&p.memory, 0);
	events(2, "01 0000100000 ff 40420f0000");
	for (unsigned i = 0; i < LEN; i++)
		ts_buf_putc(&p.events.bytes, (uint8_t)(i % 251));
	events(2, "10 0a");
	rvn_assemble(&p, &t.bytes);
	ck_assert(ucir_open(&t, NULL));
	ck_assert_int_eq(t.reader->ops->next(t.reader, &t.steps, &t.err), TS_ITEM);
	for (uint32_t i = 0; i < t.steps.n_effects; i++) {
		const struct ts_effect *e = &t.steps.effects[i];

		ck_assert_uint_eq(e->addr, 0x100000 + n);
		for (uint64_t j = 0; j < e->len; j++)
			if (ts_effect_data(&t.steps, e)[j] != (n + j) % 251)
				ck_abort_msg("byte %" PRIu64, n + j);
		n += e->len;
	}
	ck_assert_uint_eq(n, LEN);
	ck_assert_int_eq(t.reader->ops->next(t.reader, &t.steps, &t.err), TS_ITEM);
	ck_assert_uint_eq(t.reader->end.pc, 0x401001);
}
END_TEST

/* ---------------------------------------------------------------------------------------------- registers */

static void add_register(uint16_t id, const char *name, const char *value, unsigned len)
{
	rvn_register(&p, id, (uint16_t)len, name);
	rvn_initial(&p, id, value, len);
}

/*
 * Eight x87 registers with ids from 30 on: 1.0, 0, infinity, a denormal, an unnormal, and three with their
 * number as mantissa.
 */
static void add_x87(const char *status, const char *tags)
{
	static const char values[8][11] = {
		"\0\0\0\0\0\0\0\x80\xff\x3f", "\0\0\0\0\0\0\0\0\0\0",	"\0\0\0\0\0\0\0\x80\xff\x7f",
		"\1\0\0\0\0\0\0\x80\0\0",     "\4\0\0\0\0\0\0\0\4\0",	"\5\0\0\0\0\0\0\x80\5\0",
		"\6\0\0\0\0\0\0\x80\6\x80",   "\7\0\0\0\0\0\0\x80\7\0",
	};
	char name[8];

	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "x87r%u", i);
		add_register((uint16_t)(30 + i), name, values[i], 10);
	}
	add_register(40, "x87status", status, 2);
	add_register(41, "x87tags", tags, 2);
	add_register(42, "x87control", "\x7f\x03", 2);
	add_register(43, "x87opcode", "\xff\xff", 2);
	add_register(44, "x87lastip", "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
	add_register(45, "x87lastdp", "\x11\x12\x13\x14\x15\x16\x17\x18", 8);
}

START_TEST(x87_with_a_register_for_top_has_a_tag_bit_for_each_register)
{
	add_x87("\x41\x3a", "\x5f\0"); /* TOP's bits in status are not TOP */
	rvn_add(&p, "register 46 top/1=fd\n"
		    "event\n");
	read_steps();
	ck_assert_str_eq(initial("st0"), "00058000000000000005"); /* r5 */
	ck_assert_str_eq(initial("st3"), "3fff8000000000000000"); /* r0 */
	ck_assert_str_eq(initial("st7"), "00040000000000000004"); /* r4 */
	ck_assert_str_eq(initial("fstat"), "00002a41");
	/* r0 valid, r1 zero, r2 to r4 special, r5 empty, r6 valid, r7 empty */
	ck_assert_str_eq(initial("ftag"), "0000cea4");
	ck_assert_str_eq(initial("fctrl"), "0000037f");
	ck_assert_str_eq(initial("fop"), "000007ff");
	ck_assert_str_eq(initial("fioff"), "04030201");
	ck_assert_str_eq(initial("fiseg"), "00000605");
	ck_assert_str_eq(initial("fooff"), "14131211");
	ck_assert_str_eq(initial("foseg"), "00001615");
}
END_TEST

START_TEST(x87_without_one_has_top_in_its_status_and_a_tag_word)
{
	add_x87("\x41\x3a", "\x5a\xa5"); /* TOP 7 */
	events(1, "00");
	read_steps();
	ck_assert_str_eq(initial("st0"), "00078000000000000007");
	ck_assert_str_eq(initial("st1"), "3fff8000000000000000");
	ck_assert_str_eq(initial("fstat"), "00003a41");
	ck_assert_str_eq(initial("ftag"), "0000a55a");
}
END_TEST

START_TEST(a_new_top_moves_all_of_the_stack)
{
	add_x87("\0\0", "\xff\0");
	add_register(46, "top", "\0", 1);
	rvn_add(&p, "event top=1\n"
		    "event\n");
	read_steps();
	ck_assert_str_eq(
		ts_buf_text(&steps),
		"401000/0@0 st0=00000000000000000000 st1=0000000000000080ff7f st2=01000000000000800000 "
		"st3=04000000000000000400 st4=05000000000000800500 st5=06000000000000800680 "
		"st6=07000000000000800700 st7=0000000000000080ff3f fstat=800\n401000/0@0\n");
}
END_TEST

START_TEST(selectors_bases_and_control_registers_are_gdbs)
{
	rvn_add(&p, "register 50 cs/2=33\n"
		    "register 51 msr_c0000100/8=1122334455667788\n"
		    "register 52 msr_c0000101/8=1\n"
		    "register 53 msr_c0000080/8=d01\n"
		    "register 54 cr3/8=125000\n"
		    "register 55 cs_shadow/8=affb000000ffff\n"
		    "register 56 gs_shadow/8=3837363534333231\n"
		    "register 57 zmm15/64=:303132333435363738396162636465666768696a6b6c6d6e6f70717273747576\n"
		    "register 58 zmm16/64=:3031\n"
		    "event cs=2b gs_shadow=3837363534333231\n");
	ck_assert_str_eq(read_steps(), "401000/0@0 cs=2b\n");
	ck_assert_str_eq(initial("cs"), "00000033");
	ck_assert_str_eq(initial("fs_base"), "1122334455667788");
	ck_assert_str_eq(initial("gs_base"), "0000000000000001");
	ck_assert_str_eq(initial("efer"), "0000000000000d01");
	ck_assert_str_eq(initial("cr3"), "0000000000125000");
	ck_assert_str_eq(initial("cr0"), "?");
	ck_assert_str_eq(initial("cs_shadow"), "00affb000000ffff");
	ck_assert_str_eq(initial("xmm15"), "66656463626139383736353433323130");
	ck_assert_str_eq(initial("ymm15h"), "767574737271706f6e6d6c6b6a696867");
}
END_TEST

START_TEST(features_are_those_that_the_trace_has_registers_of)
{
	events(1, "00");
	read_steps();
	ck_assert_int_lt(ts_regset_find(&t.rec->regs, "cr0"), 0);
	ck_assert_int_lt(ts_regset_find(&t.rec->regs, "fs_base"), 0);
	ck_assert_int_lt(ts_regset_find(&t.rec->regs, "ymm0h"), 0);
}
END_TEST

static void arm_machine(unsigned n_x)
{
	char name[8];

	rvn_parts_fini(&p);
	rvn_parts_init(&p);
	rvn_add(&p, "arch arm1\n");
	for (unsigned i = 0; i < n_x; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		add_register((uint16_t)i, name, "\7\0\0\0\0\0\0\0", 8);
	}
	rvn_add(&p, "register 40 pc/8=400000\n"
		    "register 41 sp/8=0\n"
		    "register 42 v31/16=:30313233343536373839616263646566\n"
		    "operation 100 pc + 4\n");
}

START_TEST(arm_traces_with_the_registers_of_aarch64_are_read)
{
	arm_machine(31);
	rvn_add(&p, "event *100 x30=9\n"
		    "event\n");
	ck_assert_str_eq(read_steps(), "400000/4@0 x30=9\n400004/0@0\n");
	ck_assert_str_eq(t.rec->regs.arch->name, "aarch64");
	ck_assert_str_eq(initial("x7"), "0000000000000007");
	ck_assert_str_eq(initial("v31"), "66656463626139383736353433323130");
	ck_assert_str_eq(initial("cpsr"), "?");
}
END_TEST

START_TEST(arm_traces_with_other_registers_are_refused)
{
	arm_machine(30);
	rvn_assemble(&p, &t.bytes);
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_int_eq(t.err.code, TS_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(t.err.text, "arm1 without a register \"x30\""));
}
END_TEST

/* ------------------------------------------------------------------------------------------------ places */

START_TEST(a_reader_goes_on_from_every_decode_point)
{
	struct ts_buf points[8], whole;
	uint32_t n = 0;

	add_x87("\0\0", "\xff\0");
	add_register(46, "top", "\0", 1);
	rvn_add(&p, "event *10 *11\n"
		    "event top=3\n"
		    "event @1000=42 *10\n"
		    "interrupt A\n"
		    "event x87r0=:11111111111111111111\n"
		    "event top=5\n");
	read_steps();
	ts_buf_init(&whole);
	ts_buf_put(&whole, steps.data, steps.len);
	ts_reader_close(t.reader);
	t.reader = t.rec->ops->reader(t.rec, &t.err);
	do {
		ts_buf_init(&points[n]);
		ts_reader_save(t.reader, &points[n++]);
		ts_steps_reset(&t.steps);
	} while (t.reader->ops->next(t.reader, &t.steps, &t.err) == TS_ITEM);
	ck_assert_uint_eq(n, 7);
	while (n-- > 0) {
		const char *line = ts_buf_text(&whole);

		for (uint32_t i = 0; i < n; i++)
			line = strchr(line, '\n') + 1;
		ck_assert(ts_reader_resume(t.reader, points[n].data, points[n].len, &t.err));
		ts_buf_reset(&steps);
		ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
		ck_assert_str_eq(ts_buf_text(&steps), line);
		ts_buf_fini(&points[n]);
	}
	ts_buf_fini(&whole);
}
END_TEST

static void refuse_point(const struct ts_buf *point, size_t len)
{
	ts_error_reset(&t.err);
	ck_assert(!ts_reader_resume(t.reader, point->data, len, &t.err));
	ck_assert_int_eq(t.err.code, TS_ECORRUPT);
}

START_TEST(decode_points_of_other_traces_are_refused)
{
	struct ts_buf point;
	struct ts_point to;
	uint64_t len;

	events(2, "10 0a"
		  "10 0a");
	read_steps();
	len = t.bytes.len - p.events_at - 16;
	ts_buf_init(&point);
	to = ts_point_write(&point);
	ts_point_number(&to, len + 1, UINT64_MAX); /* after the last event */
	ts_point_number(&to, 0, UINT64_MAX);
	refuse_point(&point, point.len);
	ts_buf_reset(&point);
	ts_point_number(&to, 2, UINT64_MAX);
	ts_point_number(&to, 3, UINT64_MAX); /* more events than bytes, and than there are */
	refuse_point(&point, point.len);
	ts_buf_reset(&point);
	ts_reader_save(t.reader, &point);
	for (size_t n = 0; n < point.len; n++)
		refuse_point(&point, n);
	ts_buf_putc(&point, 0);
	refuse_point(&point, point.len);
	ts_error_reset(&t.err);
	ck_assert(ts_reader_resume(t.reader, point.data, point.len - 1, &t.err));
	ts_buf_fini(&point);
}
END_TEST

START_TEST(a_cache_beside_the_trace_changes_nothing)
{
	static const char *const caches[] = { "", "srnibnvr\1\0\0\0\2\0\0\0", "srnibnvr nonsense" };
	struct ts_error err = { 0 };

	events(1, "10 0a");
	rvn_assemble(&p, &t.bytes);
	for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		FILE *f = fopen("trace.bin", "wb");
		struct ts_recording *rec;
		struct ts_source *src;

		fwrite(t.bytes.data, 1, t.bytes.len, f);
		fclose(f);
		f = fopen("trace.cache", "wb");
		fwrite(caches[i], 1, i ? 17 : 0, f);
		fclose(f);
		src = ts_source_open("trace.bin", &err);
		rec = ts_loader_open(ts_loader_probe(src, &err), src, &(struct ts_loader_options){ 0 }, &err);
		ck_assert_ptr_nonnull(rec);
		ck_assert_uint_eq(rec->n_warnings, 1);
		ts_recording_close(rec);
		ts_source_close(src);
	}
	ck_assert(ucir_open(&t, NULL));
}
END_TEST

UNIT_FIXTURE_SUITE(
	"rvnbintrace", setup, teardown, every_container_holds_the_same_trace,
	any_version_1_of_the_format_is_read, sections_may_be_longer_than_their_fields,
	memory_stays_in_the_file_and_the_last_region_over_a_byte_counts, addresses_have_one_to_eight_bytes,
	registers_that_every_trace_should_have_may_be_missing, a_register_without_a_name_is_odd,
	memory_comes_before_registers, lengths_and_ids_have_two_forms,
	an_event_goes_on_after_fourteen_entries, an_event_may_go_on_any_number_of_times,
	a_call_over_a_few_bytes_is_as_long_as_its_return_address_tells,
	operations_act_on_the_value_so_far, operations_are_as_wide_as_their_register,
	operations_and_values_are_the_same_wherever_they_are,
	an_id_of_one_is_that_of_an_operation_before_that_of_a_register,
	a_register_may_have_the_id_that_says_that_two_bytes_follow, interrupts_are_positions_and_events,
	long_descriptions_are_cut, an_error_code_that_the_recorder_makes_up_is_not_shown,
	what_is_written_outside_of_all_regions_is_left_out,
	regions_side_by_side_and_within_each_other_are_one,
	a_long_write_past_the_last_address_does_not_go_on_at_the_first,
	physical_addresses_have_at_most_52_bits, a_write_longer_than_any_buffer_is_one_event,
	x87_with_a_register_for_top_has_a_tag_bit_for_each_register,
	x87_without_one_has_top_in_its_status_and_a_tag_word, a_new_top_moves_all_of_the_stack,
	selectors_bases_and_control_registers_are_gdbs, features_are_those_that_the_trace_has_registers_of,
	arm_traces_with_the_registers_of_aarch64_are_read, arm_traces_with_other_registers_are_refused,
	a_reader_goes_on_from_every_decode_point,
		   decode_points_of_other_traces_are_refused, a_cache_beside_the_trace_changes_nothing)
