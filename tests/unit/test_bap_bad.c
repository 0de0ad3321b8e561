/* SPDX-License-Identifier: MIT */
/*
 * BAP's frames, damaged: what is said of them, and where reading goes on.
 */
#include "unit.h"

#include <inttypes.h>
#include <string.h>

#include "bap_bytes.h"

/* ---------------------------------------------------------------------------------------- a small encoder */

static void set_u64(struct ts_buf *file, size_t off, uint64_t n)
{
	for (unsigned i = 0; i < 8; i++)
		file->data[off + i] = (uint8_t)(n >> 8 * i);
}

/* Close the file: n, T and an index of @m frames an entry without entries. */
static void finish(struct ts_buf *file, uint64_t n, uint64_t m)
{
	set_u64(file, 32, n);
	set_u64(file, 40, file->len);
	u64(file, m);
}

/* ---------------------------------------------------------------------------------------------- bad input */

/* A whole small trace: three instructions, closed. */
static struct ts_buf small(void)
{
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };

	nop_frame(&file, 0x1000, 1);
	reg_op(&pre, "RBX", 1, 8, false);
	mem_op(&pre, 0x5000, "\1\2\3\4", 4, false);
	operand(&post, "ZF", 0, 1, false, true, "\1", 1);
	std_frame(&file, 0x1001, 1, "\x48\x03\x03", 3, &pre, &post);
	nop_frame(&file, 0x1004, 1);
	return file;
}

/* Nothing can be served: the error's code, offset and a word of it. */
static void check_refused(struct ts_buf *file, enum ts_code code, uint64_t off, const char *words)
{
	struct loaded l;

	ck_assert(!load(&l, file));
	ck_assert_msg(l.err.code == code && l.err.off == off && strstr(l.err.text, words),
		      "%s 0x%" PRIx64 " %s", unit_code_name(l.err.code), l.err.off, l.err.text);
	unload(&l);
	ts_buf_fini(file);
}

/* @n_steps are served, then comes damage. */
static void check_damage(struct ts_buf *file, uint64_t n_steps, enum ts_code code, uint64_t off,
			 const char *words)
{
	struct loaded l = loaded(file);
	const struct ts_error *d = &l.tl->damage;

	ck_assert_msg(l.tl->n_steps == n_steps && d->code == code && d->off == off && strstr(d->text, words),
		      "%" PRIu64 " steps, %s 0x%" PRIx64 " %s", l.tl->n_steps, unit_code_name(d->code), d->off,
		      d->text);
	unload(&l);
	ts_buf_fini(file);
}

START_TEST(headers_that_are_none_are_refused)
{
	struct ts_buf file = { 0 };

	ts_buf_put(&file, "\x25\x60", 2);
	check_refused(&file, TS_EUNSUPPORTED, 0, "magic");
	ts_buf_put(&file, "\x67\x7c\x28\x82\x8a\xaf\x60\x25", 8);
	check_refused(&file, TS_EUNSUPPORTED, 0, "wrong byte order");
	ts_buf_put(&file, "\x25\x60\xaf\x8a\x82\x28\x7c\x67\3", 9);
	check_refused(&file, TS_ETRUNC, 0, "48 bytes");
	header(&file, 4, 9, 64);
	check_refused(&file, TS_EUNSUPPORTED, 8, "version 4");
	header(&file, 3, 82, 0);
	check_refused(&file, TS_EUNSUPPORTED, 16, "architecture 82");
	header(&file, 3, 9, 64);
	u64(&file, 1000);
	check_refused(&file, TS_ETRUNC, 48, "1000 bytes");
	header(&file, 3, 9, 64);
	u64(&file, 2);
	ts_buf_put(&file, "\x0a\x05", 2);
	check_refused(&file, TS_ECORRUPT, 58, "meta frame");
	header(&file, 1, 9, 64);
	check_refused(&file, TS_EUNSUPPORTED, 48, "no instructions");
	file = start();
	modload(&file, "a", 1, 2);
	check_refused(&file, TS_EUNSUPPORTED, file.len, "no instructions");
}
END_TEST

START_TEST(lying_counts_and_offsets_are_said)
{
	struct ts_buf file = small();

	finish(&file, 5, 64);
	check_warned(&file, 3, "5 frames, there are 3");
	file = small();
	set_u64(&file, 32, 3);
	check_warned(&file, 3, "no offset of the index");
	file = small();
	finish(&file, 0, 64);
	check_warned(&file, 3, "no frames, but has an index");
	file = small();
	set_u64(&file, 40, 20);
	check_warned(&file, 3, "outside of the frames");
	file = small();
	set_u64(&file, 40, UINT64_MAX);
	check_warned(&file, 3, "outside of the frames");
	file = small();
	finish(&file, 3, 0);
	check_warned(&file, 3, "every 0 frames");
	file = small();
	finish(&file, 3, 1);
	u64(&file, 12345);
	check_warned(&file, 3, "does not point at the start");
	file = small();
	finish(&file, 3, 64);
	ts_buf_put(&file, "abc", 3);
	check_warned(&file, 3, "3 bytes follow");
	file = small();
	check_warned(&file, 3, "did not finish");
}
END_TEST

/* An index that points at these bytes of an instruction, which no frame can begin with. */
START_TEST(an_index_that_points_into_a_frame_is_warned_of)
{
	static const char *const bad[] = {
		"\0\0\0\0\0\0\0\0\x0a",       /* a frame without bytes */
		"\0\0\0\0\0\0\0\x40\x0a",    /* one that is too long */
		"\x00\x10\0\0\0\0\0\0\x0a", /* one that ends after the trace */
		"\x05\0\0\0\0\0\0\0\x08",    /* not a message */
		"\x05\0\0\0\0\0\0\0\x02",    /* kinds that there are not */
		"\x05\0\0\0\0\0\0\0\x7a",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ts_buf file = start(), pre = { 0 }, post = { 0 };
		uint64_t inside;

		nop_frame(&file, 0x1000, 1);
		std_frame(&file, 0x1001, 1, bad[i], 9, &pre, &post);
		inside = (uint64_t)((uint8_t *)memmem(file.data, file.len, bad[i], 9) - file.data);
		finish(&file, 2, 1);
		u64(&file, inside);
		set_u64(&file, 40, file.len - 16);
		check_warned(&file, 2, "does not point at the start");
	}
}
END_TEST

START_TEST(a_good_index_is_not_warned_of)
{
	struct ts_buf file = start();
	uint64_t second, third;
	struct loaded l;

	nop_frame(&file, 0x1000, 1);
	second = file.len;
	nop_frame(&file, 0x1001, 1);
	third = file.len;
	nop_frame(&file, 0x1002, 1);
	finish(&file, 3, 1);
	u64(&file, second);
	u64(&file, third);
	set_u64(&file, 40, file.len - 24);
	l = loaded(&file);
	ck_assert_uint_eq(l.tl->n_steps, 3);
	ck_assert_uint_eq(l.rec->n_warnings, 0);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(frames_that_do_not_fit_are_damage)
{
	struct ts_buf file = small();
	uint64_t off = file.len;

	u64(&file, 100);
	check_damage(&file, 3, TS_ETRUNC, off, "not finished");
	file = small();
	ts_buf_put(&file, "abc", 3);
	check_damage(&file, 3, TS_ETRUNC, off, "a length has 8 bytes");
	file = small();
	u64(&file, 0);
	check_damage(&file, 3, TS_ECORRUPT, off, "length is 0");
	file = small();
	u64(&file, UINT64_C(1) << 40);
	check_damage(&file, 3, TS_ECORRUPT, off, "1099511627776");
	file = small();
	u64(&file, 90);
	finish(&file, 4, 64);
	check_damage(&file, 3, TS_ETRUNC, off, "before the index");
}
END_TEST

/* A frame of these bytes behind three good ones is damage at the @at-th of them. */
static void check_bad_frame(const char *data, size_t len, size_t at, const char *words)
{
	struct ts_buf file = small();
	uint64_t off = file.len + 8;

	u64(&file, len);
	ts_buf_put(&file, data, len);
	check_damage(&file, 3, TS_ECORRUPT, off + at, words);
}

START_TEST(messages_that_are_none_are_damage)
{
	check_bad_frame("\x0a\x05\x08\x01", 4, 2, "5 bytes, but 2 bytes are left");
	check_bad_frame("\x0a\x0c\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14, 3, "longer than ten");
	check_bad_frame("\x0a\x02\x08\x80", 4, 3, "does not end");
	check_bad_frame("\x0b\x00", 2, 0, "wire type 3");
	check_bad_frame("\x0c\x00", 2, 0, "wire type 4");
	check_bad_frame("\x0e\x00", 2, 0, "wire type 6");
	check_bad_frame("\x0f\x00", 2, 0, "wire type 7");
	check_bad_frame("\x02\x00", 2, 0, "field number 0");
	check_bad_frame("\x08\x01", 2, 0, "std_frame of frame has wire type 0, not 2");
	check_bad_frame("\x0a\x02\x10\x01", 4, 2, "without its address");
	check_bad_frame("\x0a\x06\x08\x01\x22\x02\x0a\x05", 8, 8, "left around it");
	check_bad_frame("\x12\x02\x08\x01", 4, 2, "syscall_frame without its number");
	check_bad_frame("\x12\x08\x08\x01\x18\x02\x22\x02\x0a\x00", 10, 9,
			"argument of a system call has wire type 2");
	check_bad_frame("\x1a\x02\x10\x01", 4, 2, "exception_frame without its exception_number");
	check_bad_frame("\x22\x04\x0a\x02\x0a\x00", 6, 6, "taint_intro without its addr");
	check_bad_frame("\x2a\x05\x0a\x01x\x10\x01", 7, 2, "modload_frame without its high_address");
}
END_TEST

START_TEST(unknown_kinds_of_frames_are_skipped_and_said)
{
	struct ts_buf file = small();

	u64(&file, 3);
	ts_buf_put(&file, "\x42\x01x", 3);
	nop_frame(&file, 0x2000, 1);
	check_warned(&file, 4, "frames of an unknown kind");
}
END_TEST

START_TEST(unknown_fields_are_skipped)
{
	struct ts_buf file = small(), m = { 0 };
	struct loaded l;

	number(&m, 1, 0x1234);
	number(&m, 100, 7);
	bytes(&m, 101, "xyz", 3);
	varint(&m, 102 << 3 | 1);
	u64(&m, 7);
	varint(&m, 103 << 3 | 5);
	ts_buf_put(&m, "1234", 4);
	frame(&file, 1, &m);
	l = loaded(&file);
	ck_assert_uint_eq(l.tl->n_steps, 4);
	check_reg(&l, 3, l.rec->n_threads - 1, "rip", 0x1234); /* no thread id: thread 0 */
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

/* An operand that is left out, with a warning. */
static void check_left_out(const char *name, uint64_t addr, int64_t bits, const char *value, size_t len,
			   const char *words)
{
	struct ts_buf file = small(), pre = { 0 }, post = { 0 };

	operand(&post, name, addr, bits, false, true, value, len);
	std_frame(&file, 0x2000, 1, "\x90", 1, &pre, &post);
	check_warned(&file, 4, words);
}

/* The part that says where is empty, or of a kind that is not known. */
static void check_nowhere(const char *specific, size_t len)
{
	struct ts_buf file = small(), pre = { 0 }, post = { 0 }, op = { 0 };

	bytes(&op, 1, specific, len);
	number(&op, 2, 0);
	bytes(&op, 5, "12345678", 8);
	message(&post, 1, &op);
	std_frame(&file, 0x2000, 1, "\x90", 1, &pre, &post);
	check_warned(&file, 4, "neither register nor memory");
}

START_TEST(operands_without_sense_are_left_out_and_said)
{
	char name[70];

	check_nowhere("", 0);
	check_nowhere("\x1a\x03\x0a\x01x", 5);

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	check_left_out("RAX", 0, 0, "", 0, "without a value");
	check_left_out("RAX", 0, -3, "12345678", 8, "bit lengths");
	check_left_out("RAX", 0, 65, "12345678", 8, "bit lengths");
	check_left_out("", 0, 0, "1", 1, "empty or longer");
	check_left_out(name, 0, 0, "1", 1, "empty or longer");
	check_left_out("FOO", 0, 0, "1", 1, "\"FOO\"");
	check_left_out(NULL, 0x5000, 7, "1", 1, "not whole bytes");
	check_left_out(NULL, UINT64_MAX, 16, "12", 2, "end of the address space");
}
END_TEST

START_TEST(a_trace_cut_anywhere_keeps_its_whole_frames)
{
	struct ts_buf file = small();
	size_t len = file.len;

	for (size_t cut = 0; cut < len; cut++) {
		struct ts_buf part = { .data = file.data, .len = cut };
		struct loaded l;

		if (load(&l, &part))
			ck_assert_uint_lt(l.tl->n_steps, 3);
		unload(&l);
	}
	ts_buf_fini(&file);
}
END_TEST

START_TEST(no_flipped_bit_does_harm)
{
	struct ts_buf file = small();

	finish(&file, 3, 64);
	for (size_t i = 0; i < file.len * 8; i++) {
		struct loaded l;

		file.data[i / 8] ^= (uint8_t)(1 << i % 8);
		load(&l, &file);
		unload(&l);
		file.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	ts_buf_fini(&file);
}
END_TEST

/* ------------------------------------------------------------------------ the index behind damaged frames */

#define LONG_N    20

#define LONG_EACH 5

#define LONG_BAD  7

/*
 * Twenty instructions, each of which sets rax to its number and writes it to 0x5000; an index of every fifth.
 */
static struct ts_buf long_one(uint64_t offs[LONG_N + 1])
{
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };

	for (unsigned i = 0; i < LONG_N; i++) {
		uint8_t byte = (uint8_t)i;

		offs[i] = file.len;
		reg_op(&post, "RAX", i, 8, true);
		mem_op(&post, 0x5000, &byte, 1, true);
		std_frame(&file, 0x1000 + i, 1, "\x90", 1, &pre, &post);
	}
	offs[LONG_N] = file.len;
	finish(&file, LONG_N, LONG_EACH);
	for (unsigned i = LONG_EACH; i <= LONG_N; i += LONG_EACH)
		u64(&file, offs[i]);
	return file;
}

/* What is known around the gap: everything before it, nothing behind it until it is seen again. */
static void check_gap(struct ts_buf *file, uint64_t n_before, const char *words)
{
	struct loaded l = loaded(file);
	const struct ts_event_at *gap = ts_world_find_event(&l.tl->world, TS_EV_GAP, 0, false);

	ck_assert_int_eq(l.tl->damage.code, TS_OK);
	ck_assert_uint_eq(l.tl->n_steps, n_before + 10);
	ck_assert_msg(has_warning(&l, words) && has_warning(&l, "goes on at frame 10"), "%s",
		      l.rec->warnings[0].text);
	ck_assert_ptr_nonnull(gap);
	ck_assert_uint_eq(gap->step, n_before - 1);
	check_reg(&l, n_before - 1, 0, "rip", 0x1000 + n_before - 1);
	check_reg(&l, n_before, 0, "rip", 0x100a);
	check_reg(&l, LONG_BAD - 1, 0, "rax", 5);
	check_mem(&l, LONG_BAD - 1, 0x5000, "05......");
	check_no_reg(&l, n_before, 0, "rax");
	check_mem(&l, n_before, 0x5000, "........");
	check_reg(&l, n_before + 1, 0, "rax", 10);
	check_mem(&l, n_before + 1, 0x5000, "0a......");
	unload(&l);
	check_resuming(file, (uint32_t)n_before + 10);
	ts_buf_fini(file);
}

START_TEST(behind_a_damaged_frame_the_index_leads_on)
{
	static const uint64_t lengths[] = { 0, 1000000, UINT64_C(1) << 40 };
	uint64_t offs[LONG_N + 1];
	struct ts_buf file;

	for (unsigned i = 0; i < 3; i++) {
		file = long_one(offs);
		set_u64(&file, offs[LONG_BAD], lengths[i]);
		check_gap(&file, LONG_BAD, "frame 7: its length is");
	}
	file = long_one(offs);
	file.data[offs[LONG_BAD] + 8] = 0x0b; /* wire type 3 */
	check_gap(&file, LONG_BAD, "frame 7: frame: an invalid key in frame: field number 1, wire type 3");
}
END_TEST

/* Its address is good: it was executed. */
START_TEST(a_damaged_instruction_is_a_step_of_unknown_effects)
{
	uint64_t offs[LONG_N + 1];
	struct ts_buf file = long_one(offs);

	file.data[offs[LONG_BAD] + 8 + 2 + 3] ^= 3; /* the key of the thread's number */
	check_gap(&file, LONG_BAD + 1, "frame 7: ");
}
END_TEST

START_TEST(without_a_sane_index_the_trace_ends_at_damage)
{
	uint64_t offs[LONG_N + 1];
	struct ts_buf file = long_one(offs);

	set_u64(&file, offs[LONG_BAD], 0);
	set_u64(&file, 40, 0); /* no index: the bytes after the last frame are not a frame */
	check_damage(&file, LONG_BAD, TS_ECORRUPT, offs[LONG_BAD], "length is 0");
	file = long_one(offs);
	set_u64(&file, offs[LONG_BAD], 0);
	set_u64(&file, offs[LONG_N] + 16, offs[10] + 1); /* points into a frame */
	check_damage(&file, LONG_BAD, TS_ECORRUPT, offs[LONG_BAD], "length is 0");
	file = long_one(offs);
	set_u64(&file, offs[LONG_BAD], 0);
	set_u64(&file, offs[LONG_N] + 16, offs[5] - 9); /* does not ascend */
	check_damage(&file, LONG_BAD, TS_ECORRUPT, offs[LONG_BAD], "length is 0");
	file = long_one(offs);
	set_u64(&file, offs[17], 0); /* behind which there is no entry but that of the end */
	check_damage(&file, 17, TS_ECORRUPT, offs[17], "length is 0");
}
END_TEST

UNIT_SUITE("bap_bad", an_index_that_points_into_a_frame_is_warned_of, headers_that_are_none_are_refused,
	   lying_counts_and_offsets_are_said, a_good_index_is_not_warned_of,
	   frames_that_do_not_fit_are_damage, messages_that_are_none_are_damage,
	   unknown_kinds_of_frames_are_skipped_and_said, unknown_fields_are_skipped,
	   operands_without_sense_are_left_out_and_said, a_trace_cut_anywhere_keeps_its_whole_frames,
	   no_flipped_bit_does_harm, behind_a_damaged_frame_the_index_leads_on,
	   a_damaged_instruction_is_a_step_of_unknown_effects, without_a_sane_index_the_trace_ends_at_damage)
