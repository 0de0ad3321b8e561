/* SPDX-License-Identifier: MIT */
/*
 * REVEN traces that are damaged, cut, not finished, or no traces: each case is refused, or served up to the
 * damage, with a sentence that names the place; and nothing that a file says makes the loader crash, hang or
 * take memory beyond reason.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rvn_encode.h"
#include "src/timeline/timeline.h"
#include "ucir_text.h"

static struct ucir_trace t;
static struct rvn_parts p;
static struct ts_buf steps;

#define THREE_EVENTS \
	"\x10\x0a"   \
	"\x10\x0a"   \
	"\x11\x02\x10\0\0\0\2\xaa\xbb\x0a"
#define THREE_STEPS "401000/1@0\n401001/1@0\n401002/1@0 W1002=aabb\n"

static void setup(void)
{
	t = (struct ucir_trace){ .format = "rvnbintrace" };
	ts_buf_init(&steps);
	rvn_small(&p);
	p.container = RVN_HEADER_1;
	ts_buf_put(&p.events.bytes, THREE_EVENTS, sizeof(THREE_EVENTS) - 1);
	p.events.n = 3;
}

static void teardown(void)
{
	ucir_close(&t);
	rvn_parts_fini(&p);
	ts_buf_fini(&steps);
}

static void close_trace(void)
{
	ucir_close(&t);
	t.format = "rvnbintrace";
	ts_buf_reset(&steps);
}

/* What the file in t.bytes fails with, or is read to its end without (TS_OK). */
static enum ts_code read_file(void)
{
	ts_buf_reset(&steps);
	if (ucir_open(&t, NULL))
		ucir_read_all(&t, &steps);
	return t.err.code;
}

static void expect_error(enum ts_code code, uint64_t off, const char *word)
{
	ck_assert_msg(read_file() == code, "%s: %s", unit_code_name(t.err.code), t.err.text);
	ck_assert_msg(t.err.off == off, "offset 0x%" PRIx64 ", not 0x%" PRIx64 ": %s", t.err.off, off,
		      t.err.text);
	ck_assert_msg(strstr(t.err.text, word) != NULL, "no \"%s\" in: %s", word, t.err.text);
}

static void put_number(uint64_t at, uint64_t value, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		t.bytes.data[at + i] = (uint8_t)(value >> 8 * i);
}

/* The trace of @p, with a number of @len bytes changed, is refused with this. */
static void expect_patched(uint64_t at, uint64_t value, unsigned len, enum ts_code code, uint64_t off,
			   const char *word)
{
	rvn_assemble(&p, &t.bytes);
	put_number(at, value, len);
	expect_error(code, off, word);
	close_trace();
}

static void expect_refused(enum ts_code code, uint64_t off, const char *word)
{
	rvn_assemble(&p, &t.bytes);
	expect_error(code, off, word);
}

/* Where things are in the small trace's machine description, from its length on. */
#define REGIONS_AT 13
#define REGS_AT    (REGIONS_AT + 4 + 10)
#define OPS_AT     (REGS_AT + 4 + 8 + 8 + 11 + 8)
#define STATICS_AT (OPS_AT + 4 + 12 + 8)

/* ---------------------------------------------------------------------------------------- resource header */

START_TEST(what_is_no_trace_is_refused)
{
	expect_error(TS_ETRUNC, 0, "0 bytes");
	close_trace();
	ts_buf_puts(&t.bytes, "srnib");
	expect_error(TS_ETRUNC, 0, "5 bytes");
	close_trace();
	ts_buf_puts(&t.bytes, "srnibnvx and more than eight bytes of it");
	expect_error(TS_EUNSUPPORTED, 0, "neither");
}
END_TEST

START_TEST(other_resources_and_versions_are_refused)
{
	expect_patched(8, 2, 4, TS_EUNSUPPORTED, 8, "version 2");
	expect_patched(12, 2, 4, TS_EUNSUPPORTED, 12, "cache");
	expect_patched(12, 7, 4, TS_EUNSUPPORTED, 12, "type 7");
	p.container = RVN_OLD_HEADER;
	expect_patched(8, 0, 4, TS_EUNSUPPORTED, 8, "type 0");
}
END_TEST

START_TEST(other_versions_of_the_format_are_refused)
{
	static const struct {
		const char *version;
		enum ts_code code;
		const char *word;
	} versions[] = {
		{ "2.0.0", TS_EUNSUPPORTED, "version 2.0.0" },
		{ "0.9.1", TS_EUNSUPPORTED, "1.x" },
		{ "10.0.0", TS_EUNSUPPORTED, "10.0.0" },
		{ "18446744073709551617.0.0", TS_EUNSUPPORTED, "1844" },
		{ "one", TS_ECORRUPT, "\"one\" is not a version" },
		{ "1.0", TS_ECORRUPT, "not a version" },
		{ "1.0.", TS_ECORRUPT, "not a version" },
		{ "1.0.0.0", TS_ECORRUPT, "not a version" },
		{ "1.0.0 ", TS_ECORRUPT, "not a version" },
	};

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		p.format = versions[i].version;
		expect_refused(versions[i].code, 24, versions[i].word);
		close_trace();
	}
}
END_TEST

START_TEST(a_text_longer_than_its_field_is_refused)
{
	expect_patched(16, 513, 8, TS_ECORRUPT, 16, "513 bytes in a field of 512");
	expect_patched(536, UINT64_MAX, 8, TS_ECORRUPT, 536, "tool's name");
	expect_patched(1056, 600, 8, TS_ECORRUPT, 1056, "tool's version");
	expect_patched(1576, 2049, 8, TS_ECORRUPT, 1576, "2049 bytes in a field of 2048");
}
END_TEST

/* ----------------------------------------------------------------------------------------------- sections */

START_TEST(lengths_beyond_the_file_are_one_sentence)
{
	const uint64_t huge = UINT64_C(1) << 62;

	rvn_assemble(&p, &t.bytes);
	expect_patched(p.header_at, huge, 8, TS_ETRUNC, p.header_at,
		       "header: its length is 4611686018427387904 bytes but");
	expect_patched(p.machine_at, huge, 8, TS_ETRUNC, p.machine_at,
		       "machine description: its length is 4611686018427387904");
	expect_patched(p.memory_at, huge, 8, TS_ECORRUPT, p.memory_at,
		       "4611686018427387904 bytes, but the regions have 16");
	expect_patched(p.initial_at, huge, 8, TS_ETRUNC, p.initial_at,
		       "initial registers: its length is 4611686018427387904");
	expect_patched(p.machine_at, UINT64_MAX, 8, TS_ETRUNC, p.machine_at, "18446744073709551615");
}
END_TEST

START_TEST(sections_shorter_than_their_fields_are_refused)
{
	rvn_assemble(&p, &t.bytes);
	expect_patched(p.header_at, 0, 8, TS_ECORRUPT, p.header_at, "header");
	expect_patched(p.machine_at, 4, 8, TS_ETRUNC, p.machine_at + 8 + 4,
		       "machine description: 1 bytes needed but 0 left");
	expect_patched(p.machine_at, STATICS_AT - 8 + 4, 8, TS_ETRUNC, p.machine_at + STATICS_AT + 4,
		       "machine description");
	expect_patched(p.initial_at, 5, 8, TS_ETRUNC, p.initial_at + 12, "initial registers");
	expect_patched(p.events_at, 7, 8, TS_ECORRUPT, p.events_at, "7 bytes");
}
END_TEST

START_TEST(compression_is_refused)
{
	p.header.data[0] = 1;
	expect_refused(TS_EUNSUPPORTED, 3648, "compression 1");
}
END_TEST

START_TEST(memory_must_be_as_long_as_the_regions)
{
	ts_buf_putc(&p.memory, 0);
	rvn_assemble(&p, &t.bytes);
	expect_refused(TS_ECORRUPT, p.memory_at, "17 bytes, but the regions have 16");
}
END_TEST

/* ------------------------------------------------------------------------------------ machine description */

START_TEST(unknown_machines_are_refused)
{
	rvn_assemble(&p, &t.bytes);
	expect_patched(p.machine_at + 8, 0x32343678, 4, TS_EUNSUPPORTED, p.machine_at + 8, "\"x642\"");
	expect_patched(p.machine_at + 12, 0, 1, TS_ECORRUPT, p.machine_at + 12, "0 bytes");
	expect_patched(p.machine_at + 12, 9, 1, TS_ECORRUPT, p.machine_at + 12, "9 bytes");
}
END_TEST

START_TEST(a_region_past_the_last_address_is_refused)
{
	rvn_assemble(&p, &t.bytes);
	expect_patched(p.machine_at + REGIONS_AT + 4, UINT64_C(0xfffffffff1), 5, TS_ECORRUPT,
		       p.machine_at + REGIONS_AT + 4, "16 bytes at 0xfffffffff1 passes");
}
END_TEST

START_TEST(regions_of_more_than_all_memory_are_refused)
{
	p.addr_len = 8;
	ts_buf_reset(&p.regions.bytes);
	p.regions.n = 0;
	rvn_region(&p, 0, UINT64_MAX);
	rvn_region(&p, 0x1000, 16);
	rvn_assemble(&p, &t.bytes);
	expect_refused(TS_ECORRUPT, p.machine_at + REGIONS_AT + 4 + 16, "2^64");
}
END_TEST

START_TEST(counts_that_cannot_fit_are_refused_before_anything_is_taken_for_them)
{
	static const uint64_t at[] = { REGIONS_AT, REGS_AT, OPS_AT, STATICS_AT };

	rvn_assemble(&p, &t.bytes);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		expect_patched(p.machine_at + at[i], UINT32_MAX, 4, TS_ETRUNC, p.machine_at + at[i] + 4,
			       "4294967295 items");
	expect_patched(p.initial_at + 8, UINT32_MAX, 4, TS_ETRUNC, p.initial_at + 12, "4294967295 items");
}
END_TEST

START_TEST(more_than_any_machine_has_is_refused)
{
	char name[8];

	p.addr_len = 1;
	ts_buf_reset(&p.regions.bytes);
	p.regions.n = 0;
	for (unsigned i = 0; i <= 65536; i++)
		rvn_region(&p, 0, 0);
	rvn_assemble(&p, &t.bytes);
	expect_refused(TS_ELIMIT, p.machine_at + REGIONS_AT, "65537 regions");
	close_trace();
	rvn_parts_fini(&p);
	rvn_small(&p);
	ts_buf_reset(&p.regs.bytes);
	p.regs.n = 0;
	for (unsigned i = 0; i <= 65535; i++) {
		snprintf(name, sizeof(name), "r%x", i);
		rvn_register(&p, (uint16_t)i, 8, name);
	}
	rvn_assemble(&p, &t.bytes);
	expect_refused(TS_ELIMIT, p.machine_at + REGS_AT, "65536 registers");
}
END_TEST

/* A file with a hole of a gigabyte behind its bytes. */
static void expect_large(enum ts_code code, uint64_t off, const char *word)
{
	struct ts_error err = { 0 };
	FILE *f = fopen("large", "wb");
	struct ts_recording *rec;
	struct ts_reader *reader;
	struct ts_source *src;

	ck_assert_ptr_nonnull(f);
	fwrite(t.bytes.data, 1, t.bytes.len, f);
	fflush(f);
	ck_assert_int_eq(ftruncate(fileno(f), 1 << 30), 0);
	fclose(f);
	src = ts_source_open("large", &err);
	rec = ts_loader_open(ts_loader_find("rvnbintrace"), src, &(struct ts_loader_options){ 0 }, &err);
	reader = rec ? rec->ops->reader(rec, &err) : NULL;
	ts_steps_init(&t.steps);
	if (reader)
		reader->ops->next(reader, &t.steps, &err);
	ts_reader_close(reader);
	ts_recording_close(rec);
	ts_source_close(src);
	ck_assert_msg(err.code == code && err.off == off && strstr(err.text, word), "%s at 0x%" PRIx64 ": %s",
		      unit_code_name(err.code), err.off, err.text);
}

START_TEST(bytes_that_are_there_are_not_taken_in_any_number)
{
	rvn_assemble(&p, &t.bytes);
	put_number(p.machine_at, UINT64_C(100) << 20, 8);
	expect_large(TS_ELIMIT, p.machine_at, "104857600 bytes, more than any real one");
	ts_buf_reset(&p.events.bytes);
	ts_buf_put(&p.events.bytes, "\x01\0\x10\0\0\0\xff\1\0\0\x10\0", 12);
	p.is_unfinished = true;
	rvn_assemble(&p, &t.bytes);
	expect_large(TS_ELIMIT, p.events_at + 17, "more than 268435456 bytes");
}
END_TEST

START_TEST(registers_that_are_there_twice_are_refused)
{
	rvn_register(&p, 2, 4, "other");
	rvn_assemble(&p, &t.bytes);
	expect_refused(TS_ECORRUPT, p.machine_at + OPS_AT, "two registers of id 2");
	close_trace();
	ts_buf_reset(&p.regs.bytes);
	p.regs.n = 0;
	rvn_register(&p, 0, 8, "rax");
	rvn_register(&p, 1, 8, "rip");
	rvn_register(&p, 2, 4, "eflags");
	rvn_register(&p, 3, 8, "rip");
	rvn_assemble(&p, &t.bytes);
	expect_refused(TS_ECORRUPT, p.machine_at + REGS_AT + 4 + 8 + 8 + 11 + 4, "two registers \"rip\"");
}
END_TEST

START_TEST(registers_of_absurd_lengths_are_refused)
{
	rvn_assemble(&p, &t.bytes);
	expect_patched(p.machine_at + REGS_AT + 4 + 2, 0, 2, TS_ECORRUPT, p.machine_at + REGS_AT + 4,
		       "length of 0");
	expect_patched(p.machine_at + REGS_AT + 4 + 2, 1025, 2, TS_ELIMIT, p.machine_at + REGS_AT + 4,
		       "1025 bytes");
}
END_TEST

START_TEST(registers_whose_length_does_not_fit_their_use_are_refused)
{
	rvn_register(&p, 9, 2, "eax"); /* is none of the set */
	rvn_register(&p, 10, 4, "rcx");
	ts_buf_reset(&p.ops.bytes);
	p.ops.n = 0;
	expect_refused(TS_EUNSUPPORTED, TS_NO_OFF, "\"rcx\" has 4 bytes, where 8 are known");
}
END_TEST

START_TEST(a_trace_without_a_program_counter_is_refused)
{
	memcpy(strstr((char *)p.regs.bytes.data + 13, "rip"), "rix", 3);
	expect_refused(TS_EUNSUPPORTED, TS_NO_OFF, "no register \"rip\"");
}
END_TEST

START_TEST(bad_operations_are_refused)
{
	const uint64_t first = OPS_AT + 4, second = first + 12;

	rvn_assemble(&p, &t.bytes);
	expect_patched(p.machine_at + first, 255, 1, TS_ECORRUPT, p.machine_at + first, "id 255");
	expect_patched(p.machine_at + second, 10, 1, TS_ECORRUPT, p.machine_at + second,
		       "id 10 of an operation is that of another one");
	expect_patched(p.machine_at + first, 2, 1, TS_ECORRUPT, p.machine_at + first,
		       "that of another register");
	expect_patched(p.machine_at + first + 1, 77, 2, TS_ECORRUPT, p.machine_at + first,
		       "an unknown register");
	expect_patched(p.machine_at + first + 3, 4, 1, TS_ECORRUPT, p.machine_at + first, "kind 4");
}
END_TEST

START_TEST(operations_on_more_than_any_machine_has_are_refused)
{
	static const uint8_t operand[1024];
	char name[8];

	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "big%u", i);
		rvn_register(&p, (uint16_t)(400 + i), 1024, name);
		rvn_operation(&p, (uint8_t)(100 + i), (uint16_t)(400 + i), 1, operand, 1024);
	}
	expect_refused(TS_ELIMIT, TS_NO_OFF, "more than 16384 bytes");
}
END_TEST

START_TEST(static_registers_that_are_there_twice_are_refused)
{
	rvn_static(&p, "cpuid_max_phy_addr", "\x20", 1);
	rvn_assemble(&p, &t.bytes);
	expect_refused(TS_ECORRUPT, p.machine_at + STATICS_AT + 4 + 21,
		       "two static registers \"cpuid_max_phy_addr\"");
}
END_TEST

/* -------------------------------------------------------------------------------------- initial registers */

START_TEST(initial_registers_must_be_all_registers_once)
{
	rvn_assemble(&p, &t.bytes);
	expect_patched(p.initial_at + 12, 77, 2, TS_ECORRUPT, p.initial_at + 12, "unknown register id 77");
	expect_patched(p.initial_at + 12 + 10, 1, 2, TS_ECORRUPT, p.initial_at + 12 + 10,
		       "\"rip\" is listed twice");
	expect_patched(p.initial_at + 8, 3, 4, TS_ECORRUPT, p.initial_at + 8 + 4 + 30,
		       "\"eflags\" is missing");
}
END_TEST

/* ------------------------------------------------------------------------------------------------ events */

/* Events that begin after the two good ones and are bad at this distance. */
static void expect_bad_event(const void *bytes, size_t len, uint64_t at, enum ts_code code, const char *word)
{
	ts_buf_reset(&p.events.bytes);
	ts_buf_put(&p.events.bytes, "\x10\x0a\x10\x0a", 4);
	ts_buf_put(&p.events.bytes, bytes, len);
	p.events.n = 3;
	rvn_assemble(&p, &t.bytes);
	expect_error(code, p.events_at + 16 + 4 + at, word);
	ck_assert_ptr_nonnull(strstr(t.err.text, "2 events are kept; event 2"));
	ck_assert_str_eq(ts_buf_text(&steps), "401000/1@0\n401001/1@0\n");
	close_trace();
}

START_TEST(bad_events_end_the_recording_where_they_are)
{
	expect_bad_event("\xff\x01", 2, 1, TS_ECORRUPT, "type 1");
	expect_bad_event("\x10\x63", 2, 1, TS_ECORRUPT, "unknown register id 99");
	expect_bad_event("\x10\xff\x99\x99", 4, 1, TS_ECORRUPT, "unknown register id 39321");
	expect_bad_event("\xf0\n\n\n\n\n\n\n\n\n\n\n\n\n\n\xff", 16, 15, TS_ECORRUPT, "continuation");
}
END_TEST

START_TEST(an_entry_longer_than_what_is_left_is_refused)
{
	expect_bad_event("\x01\0\x10\0\0\0\4\1\2\3", 10, 1, TS_ETRUNC,
			 "4 bytes of memory at 0x1000 but 3 are left");
	expect_bad_event("\x01\0\x10\0\0\0\xff\xff\xff\xff\xff\xff\1", 13, 1, TS_ETRUNC,
			 "1099511627775 bytes of memory");
	expect_bad_event("\x01\0\x10\0", 4, 1, TS_ETRUNC, "6 bytes needed but 3 left");
	expect_bad_event("\x10\0\1\2\3", 5, 2, TS_ETRUNC, "8 bytes needed but 3 left");
	expect_bad_event("\xff\xff\x05"
			 "abc",
			 6, 3, TS_ETRUNC, "5 bytes needed but 3 left");
}
END_TEST

START_TEST(what_a_bad_event_did_is_not_told)
{
	struct ts_timeline *tl;
	enum ts_next grow;

	ts_buf_reset(&p.events.bytes);
	ts_buf_put(&p.events.bytes,
		   "\x10\x0a"
		   "\xff\xff\1x\x11\0\x10\0\0\0\1\x99\x63",
		   15);
	p.events.n = 2;
	rvn_assemble(&p, &t.bytes);
	ck_assert(ucir_open(&t, NULL));
	tl = ts_timeline_new(t.rec, NULL, &t.err);
	do {
		grow = ts_timeline_grow(tl, 1000, &t.err);
	} while (grow == TS_MORE);
	ck_assert_int_eq(grow, TS_END);
	ck_assert_uint_eq(tl->n_steps, 1);
	ck_assert_uint_eq(tl->end_pc, 0x401001);
	ck_assert_int_eq(tl->damage.code, TS_ECORRUPT);
	ck_assert_ptr_null(ts_world_find_event(&tl->world, TS_EV_INTERRUPT, 0, false));
	ts_timeline_free(tl);
}
END_TEST

START_TEST(bytes_behind_the_last_event_are_ignored)
{
	ts_buf_put(&p.events.bytes, "\xff\1\2\3", 4);
	rvn_assemble(&p, &t.bytes);
	ck_assert_int_eq(read_file(), TS_OK);
	ck_assert_str_eq(ts_buf_text(&steps), THREE_STEPS);
}
END_TEST

START_TEST(no_events_at_all_are_legal)
{
	ts_buf_reset(&p.events.bytes);
	p.events.n = 0;
	rvn_assemble(&p, &t.bytes);
	ck_assert_int_eq(read_file(), TS_OK);
	ck_assert_uint_eq(steps.len, 0);
}
END_TEST

/* ------------------------------------------------------------------------------------- unfinished and cut */

START_TEST(an_unfinished_recording_is_read_as_far_as_it_goes)
{
	p.is_unfinished = true;
	rvn_assemble(&p, &t.bytes);
	expect_error(TS_ETRUNC, t.bytes.len, "not finished: it ends after 3 events");
	ck_assert_str_eq(ts_buf_text(&steps), THREE_STEPS);
}
END_TEST

START_TEST(the_last_event_of_a_killed_recorder_is_dropped_if_it_is_partial)
{
	p.is_unfinished = true;
	ts_buf_put(&p.events.bytes, "\x01\0\x10", 3);
	rvn_assemble(&p, &t.bytes);
	expect_error(TS_ETRUNC, t.bytes.len - 2, "event 3");
	ck_assert_str_eq(ts_buf_text(&steps), THREE_STEPS);
}
END_TEST

START_TEST(a_young_recording_may_end_before_its_events)
{
	rvn_assemble(&p, &t.bytes);
	for (uint64_t len = p.events_at; len < p.events_at + 16; len++) {
		p.is_unfinished = true;
		rvn_assemble(&p, &t.bytes);
		t.bytes.len = (size_t)len;
		expect_error(TS_ETRUNC, len, "not finished: it ends after 0 events");
		close_trace();
	}
}
END_TEST

START_TEST(a_count_of_0_before_events_does_not_count)
{
	rvn_assemble(&p, &t.bytes);
	memset(t.bytes.data + p.events_at + 8, 0, 8);
	ck_assert_int_eq(read_file(), TS_OK);
	ck_assert_str_eq(ts_buf_text(&steps), THREE_STEPS);
	ck_assert_uint_eq(ucir_warned(t.rec, "events: their count is 0"), 1);
}
END_TEST

START_TEST(a_length_of_0_before_counted_events_is_said)
{
	rvn_assemble(&p, &t.bytes);
	put_number(p.events_at, 0, 8);
	ck_assert_int_eq(read_file(), TS_OK);
	ck_assert_str_eq(ts_buf_text(&steps), THREE_STEPS);
	ck_assert_uint_eq(ucir_warned(t.rec, "their length is 0 though their count is 3"), 1);
}
END_TEST

START_TEST(a_length_beyond_the_file_before_counted_events_is_said)
{
	uint64_t left;

	rvn_assemble(&p, &t.bytes);
	left = t.bytes.len - p.events_at - 8;
	put_number(p.events_at, left + 1, 8);
	ck_assert_int_eq(read_file(), TS_OK);
	ck_assert_str_eq(ts_buf_text(&steps), THREE_STEPS);
	ck_assert_uint_eq(ucir_warned(t.rec, "events: their length is"), 1);
	close_trace();
	rvn_assemble(&p, &t.bytes);
	put_number(p.events_at, left, 8);
	ck_assert_int_eq(read_file(), TS_OK);
	ck_assert_uint_eq(ucir_warned(t.rec, "events:"), 0);
}
END_TEST

START_TEST(a_count_of_more_events_than_there_are_is_said)
{
	p.events.n = 1000;
	rvn_assemble(&p, &t.bytes);
	expect_error(TS_ETRUNC, t.bytes.len, "1000 are promised, but the bytes end after 3");
	ck_assert_str_eq(ts_buf_text(&steps), THREE_STEPS);
}
END_TEST

START_TEST(events_end_with_their_section)
{
	p.events.n = 1000;
	rvn_assemble(&p, &t.bytes);
	ts_buf_put(&t.bytes, "\0\0\0", 3);
	expect_error(TS_ETRUNC, t.bytes.len - 3, "1000 are promised, but the bytes end after 3");
	ck_assert_uint_eq(ucir_warned(t.rec, "3 bytes are ignored"), 1);
}
END_TEST

START_TEST(a_copy_may_be_cut_at_any_byte)
{
	size_t whole;

	rvn_assemble(&p, &t.bytes);
	whole = t.bytes.len;
	for (size_t len = 0; len < whole; len++) {
		rvn_assemble(&p, &t.bytes);
		t.bytes.len = len;
		ck_assert_msg(read_file() == TS_ETRUNC, "%zu: %s: %s", len, unit_code_name(t.err.code),
			      t.err.text);
		ck_assert_msg(t.err.off <= len, "%zu: 0x%" PRIx64, len, t.err.off);
		ck_assert_int_eq(strncmp(ts_buf_text(&steps), THREE_STEPS, steps.len), 0);
		if (len >= p.events_at + 16 + 4)
			ck_assert_uint_eq(steps.len, strlen("401000/1@0\n401001/1@0\n"));
		close_trace();
	}
}
END_TEST

/* ----------------------------------------------------------------------------------------------- anything */

/* With sanitizers freed memory is kept for a while. */
#ifdef __SANITIZE_ADDRESS__
#define MAX_GROWTH_KIB (1L << 20)
#else
#define MAX_GROWTH_KIB 8192
#endif

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

START_TEST(every_flipped_bit_is_survived)
{
	struct ts_buf file;
	long before;

	ts_buf_init(&file);
	rvn_assemble(&p, &file);
	read_file();
	close_trace();
	before = peak_kib();
	for (size_t bit = 0; bit < file.len * 8; bit++) {
		if (bit / 8 > 24 && bit / 8 < p.header_at && !file.data[bit / 8])
			continue; /* padding */
		ts_buf_put(&t.bytes, file.data, file.len);
		t.bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		read_file();
		close_trace();
	}
	ck_assert_int_lt(peak_kib() - before, MAX_GROWTH_KIB);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(an_event_cannot_be_made_to_need_much_memory)
{
	long before;

	/* one event of a megabyte of operations: each is a byte */
	ts_buf_reset(&p.events.bytes);
	for (unsigned i = 0; i < 70000; i++)
		ts_buf_put(&p.events.bytes, "\xf0\x0a\x0b\x0a\x0b\x0a\x0b\x0a\x0b\x0a\x0b\x0a\x0b\x0a\x0b",
			   15);
	ts_buf_put(&p.events.bytes, "\0", 1);
	p.events.n = 1;
	rvn_assemble(&p, &t.bytes);
	before = peak_kib();
	ck_assert_int_eq(read_file(), TS_OK);
	ck_assert_int_lt(peak_kib() - before, MAX_GROWTH_KIB);
	ck_assert_str_eq(ts_buf_text(&steps), "401000/0@0 eflags=3\n");
}
END_TEST

UNIT_FIXTURE_SUITE("rvnbintrace_bad", setup, teardown, what_is_no_trace_is_refused,
		   other_resources_and_versions_are_refused, other_versions_of_the_format_are_refused,
		   a_text_longer_than_its_field_is_refused, lengths_beyond_the_file_are_one_sentence,
		   sections_shorter_than_their_fields_are_refused, compression_is_refused,
		   memory_must_be_as_long_as_the_regions, unknown_machines_are_refused,
		   a_region_past_the_last_address_is_refused, regions_of_more_than_all_memory_are_refused,
		   counts_that_cannot_fit_are_refused_before_anything_is_taken_for_them,
		   registers_that_are_there_twice_are_refused, registers_of_absurd_lengths_are_refused,
		   registers_whose_length_does_not_fit_their_use_are_refused,
		   a_trace_without_a_program_counter_is_refused, bad_operations_are_refused,
		   operations_on_more_than_any_machine_has_are_refused,
		   static_registers_that_are_there_twice_are_refused,
		   initial_registers_must_be_all_registers_once, bad_events_end_the_recording_where_they_are,
		   an_entry_longer_than_what_is_left_is_refused, what_a_bad_event_did_is_not_told,
		   bytes_behind_the_last_event_are_ignored, no_events_at_all_are_legal,
		   an_unfinished_recording_is_read_as_far_as_it_goes,
		   the_last_event_of_a_killed_recorder_is_dropped_if_it_is_partial,
		   a_young_recording_may_end_before_its_events, a_count_of_0_before_events_does_not_count,
		   a_length_of_0_before_counted_events_is_said,
		   a_length_beyond_the_file_before_counted_events_is_said,
		   a_count_of_more_events_than_there_are_is_said, events_end_with_their_section,
		   more_than_any_machine_has_is_refused, bytes_that_are_there_are_not_taken_in_any_number,
		   a_copy_may_be_cut_at_any_byte, every_flipped_bit_is_survived,
		   an_event_cannot_be_made_to_need_much_memory)
