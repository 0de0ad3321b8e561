/* SPDX-License-Identifier: MIT */
/*
 * The state of bytes at the borders of chunks, by hand; test_timeline asks at random.
 */
#include "unit.h"

#include "src/timeline/space/lines.h"
#include "src/timeline/space/inferred.h"
#include "src/timeline/space/space_builder.h"

#include <stdlib.h>
#include <string.h>

static struct ts_image recorded, img;
static struct ts_space *sp;
static struct ts_space_builder sb;
static uint64_t chunk; /* the one that is being read */
static struct ts_space_stats stats;

static void setup(void)
{
	ts_image_init(&recorded);
	ts_image_init(&img);
	sp = ts_space_new(&recorded, &img, 0);
	ck_assert_ptr_nonnull(sp);
	ts_space_builder_init(&sb, sp);
	chunk = 0;
}

static void teardown(void)
{
	ts_space_builder_fini(&sb);
	ts_space_free(sp);
	ts_image_fini(&recorded);
	ts_image_fini(&img);
}

static const uint8_t *bytes(const char *text)
{
	return (const uint8_t *)text;
}

static void write_text(uint64_t addr, const char *text)
{
	ts_space_write(&sb, addr, bytes(text), strlen(text));
}

static void see_text(uint64_t addr, const char *text)
{
	ts_space_see(&sb, addr, bytes(text), strlen(text));
}

/* The position to which the first step of this chunk leads. */
static uint64_t pos(void)
{
	return chunk * TS_CHUNK_STEPS + 1;
}

static void end_chunk(void)
{
	ck_assert(ts_space_end_chunk(&sb, chunk++));
}

static void end_recording(void)
{
	end_chunk();
	ck_assert(ts_space_seal(&sb, 0, false));
	ts_space_builder_fini(&sb);
	ts_space_stats(sp, &stats);
}

/* The state at a chunk's start as text, '.' where unknown, '0' for a zero. */
static const char *text_at(uint64_t at, uint64_t addr, size_t len)
{
	static char text[101];
	uint8_t data[100], known[100];

	ts_space_at(sp, at, addr, len, data, known);
	for (size_t i = 0; i < len; i++)
		text[i] = !known[i] ? '.' : data[i] ? (char)data[i] : '0';
	text[len] = '\0';
	return text;
}

START_TEST(a_write_shows_at_the_end_of_its_chunk_and_later)
{
	write_text(0x100, "ab");
	end_chunk();
	end_chunk();
	write_text(0x101, "c");
	end_recording();
	ck_assert_str_eq(text_at(0, 0xff, 4), "....");
	ck_assert_str_eq(text_at(1, 0xff, 4), ".ab.");
	ck_assert_str_eq(text_at(2, 0xff, 4), ".ab.");
	ck_assert_str_eq(text_at(3, 0xff, 4), ".ac.");
	ck_assert_uint_eq(stats.n_versions, 2);
}
END_TEST

START_TEST(a_value_seen_was_there_from_the_start)
{
	end_chunk();
	see_text(0xffe, "wxyz"); /* over a border of pages */
	end_recording();
	ck_assert_str_eq(text_at(0, 0xffd, 6), ".wxyz.");
	ck_assert_uint_eq(stats.n_inferred, 4);
	ck_assert_uint_eq(stats.n_unexplained, 0);
}
END_TEST

START_TEST(a_value_seen_after_a_write_says_nothing_of_before)
{
	write_text(0x100, "a");
	end_chunk();
	see_text(0x100, "ab");
	end_recording();
	ck_assert_str_eq(text_at(0, 0x100, 2), ".b");
	ck_assert_str_eq(text_at(1, 0x100, 2), "ab");
	ck_assert_uint_eq(stats.n_inferred, 1);
}
END_TEST

START_TEST(a_value_that_contradicts_is_a_change_where_it_was_seen)
{
	see_text(0x100, "a");
	end_chunk();
	see_text(0x100, "b");
	see_text(0x100, "b");
	end_recording();
	ck_assert_str_eq(text_at(0, 0x100, 1), "a");
	ck_assert_str_eq(text_at(1, 0x100, 1), "a");
	ck_assert_str_eq(text_at(2, 0x100, 1), "b");
	ck_assert_uint_eq(stats.n_unexplained, 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 0, 0x100, 0x100, TS_FORWARDS), 1);
}
END_TEST

START_TEST(what_is_inferred_goes_back_to_the_last_fresh_start_only)
{
	write_text(0x100, "a");
	end_chunk();
	ts_space_fill(&sb, pos(), 0x100, 2, TS_FILL_UNKNOWN);
	end_chunk();
	end_chunk();
	see_text(0x100, "bc");
	end_recording();
	ck_assert_str_eq(text_at(0, 0x100, 2), "..");
	ck_assert_str_eq(text_at(1, 0x100, 2), "a.");
	ck_assert_str_eq(text_at(2, 0x100, 2), "bc");
	ck_assert_str_eq(text_at(4, 0x100, 2), "bc");
}
END_TEST

START_TEST(a_fresh_start_with_zeros_is_known)
{
	write_text(0x100, "abcdef");
	end_chunk();
	ts_space_fill(&sb, pos(), 0x102, 2, TS_FILL_ZERO);
	write_text(0x103, "x");
	end_recording();
	ck_assert_str_eq(text_at(1, 0x100, 6), "abcdef");
	ck_assert_str_eq(text_at(2, 0x100, 6), "ab0xef");
}
END_TEST

START_TEST(an_unknown_write_is_found_as_a_write)
{
	write_text(0x100, "ab");
	end_chunk();
	ts_space_lose(&sb, 0x100, 1);
	end_chunk();
	ts_space_fill(&sb, pos(), 0x100, 1, TS_FILL_UNKNOWN);
	end_recording();
	ck_assert_str_eq(text_at(2, 0x100, 2), ".b");
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 9, 0x100, 0x100, TS_BACKWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 2, 0, UINT64_MAX, TS_FORWARDS), TS_NO_CHUNK);
}
END_TEST

START_TEST(initial_bytes_are_there_at_position_zero)
{
	ts_space_fill(&sb, 0, 0x200, 0x100, TS_FILL_ZERO);
	ts_space_initial(&sb, 0x1fe, bytes("abcd"), 4);
	end_recording();
	ck_assert_str_eq(text_at(0, 0x1fd, 6), ".abcd0");
	ck_assert_uint_eq(stats.n_inferred, 0);
}
END_TEST

START_TEST(a_value_seen_after_an_unknown_write_was_there_since_that_write)
{
	write_text(0x100, "abcd");
	end_chunk();
	ts_space_lose(&sb, 0x101, 2);
	end_chunk();
	write_text(0x100, "x"); /* another version of the line */
	end_chunk();
	write_text(0x102, "y"); /* overwritten, never seen */
	end_chunk();
	see_text(0x100, "xByd");
	end_recording();
	ck_assert_str_eq(text_at(1, 0x100, 4), "abcd");
	ck_assert_str_eq(text_at(2, 0x100, 4), "aB.d");
	ck_assert_str_eq(text_at(3, 0x100, 4), "xB.d");
	ck_assert_str_eq(text_at(4, 0x100, 4), "xByd");
	ck_assert_str_eq(text_at(5, 0x100, 4), "xByd");
	ck_assert_uint_eq(stats.n_inferred, 1);
	ck_assert_uint_eq(stats.n_unexplained, 0);
}
END_TEST

START_TEST(each_unknown_write_is_completed_by_what_is_seen_after_it)
{
	static const char *const texts[] = { "a", "b", NULL, "d", NULL, NULL, "g" };

	for (unsigned i = 0; i < 7; i++) {
		ts_space_lose(&sb, 0x100, 1);
		if (i % 2)
			end_chunk();
		if (texts[i])
			see_text(0x100, texts[i]);
		end_chunk();
	}
	end_recording();
	/* lost in chunks 0, 1, 3, 4, 6, 7 and 9; seen in 0, 2, 5 and 9 */
	ck_assert_str_eq(text_at(1, 0x100, 1), "a");
	ck_assert_str_eq(text_at(2, 0x100, 1), "b");
	ck_assert_str_eq(text_at(3, 0x100, 1), "b");
	ck_assert_str_eq(text_at(4, 0x100, 1), ".");
	ck_assert_str_eq(text_at(5, 0x100, 1), "d");
	ck_assert_str_eq(text_at(6, 0x100, 1), "d");
	ck_assert_str_eq(text_at(7, 0x100, 1), ".");
	ck_assert_str_eq(text_at(8, 0x100, 1), ".");
	ck_assert_str_eq(text_at(9, 0x100, 1), ".");
	ck_assert_str_eq(text_at(10, 0x100, 1), "g");
	ck_assert_uint_eq(stats.n_inferred, 4);
}
END_TEST

START_TEST(an_unknown_write_is_completed_in_sealed_segments_too)
{
	ts_space_lose(&sb, 0xffc, 8); /* two lines on two pages */
	for (unsigned seg = 0; seg < 3; seg++) {
		end_chunk();
		if (seg != 1)
			write_text(0xff0, "w");
		end_chunk();
		ck_assert(ts_space_seal(&sb, seg, false));
		chunk = (seg + 1) * TS_SEGMENT_CHUNKS;
	}
	see_text(0xffe, "abcd");
	end_chunk();
	ck_assert(ts_space_seal(&sb, 3, false));
	ck_assert_str_eq(text_at(0, 0xffc, 8), "........");
	ck_assert_str_eq(text_at(1, 0xffc, 8), "..abcd..");
	ck_assert_str_eq(text_at(2, 0xff0, 16), "w.............ab");
	ck_assert_str_eq(text_at(2 * TS_SEGMENT_CHUNKS, 0xffc, 8), "..abcd..");
	ck_assert_str_eq(text_at(4 * TS_SEGMENT_CHUNKS, 0xffc, 8), "..abcd..");
}
END_TEST

START_TEST(a_byte_that_starts_afresh_is_lost_no_more)
{
	ts_space_lose(&sb, 0x100, 3);
	end_chunk();
	ts_space_fill(&sb, pos(), 0x101, 1, TS_FILL_UNKNOWN);
	ts_space_fill(&sb, pos(), 0x102, 1, TS_FILL_ZERO);
	end_chunk();
	end_chunk();
	see_text(0x101, "b");
	end_recording();
	ck_assert_str_eq(text_at(1, 0x100, 3), "...");
	ck_assert_str_eq(text_at(2, 0x100, 3), ".b0");
}
END_TEST

START_TEST(reads_are_found_by_the_quarters_of_lines_that_they_overlap)
{
	end_chunk();
	ts_space_note_read(&sb, 0x10f, 2);
	end_recording();
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_READ, 0, 0x10c, 0x10c, TS_FORWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_READ, 0, 0x113, 0x113, TS_FORWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_READ, 0, 0x114, UINT64_MAX, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 0, 0, UINT64_MAX, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_READ, 0, 0x10f, 0x10f, TS_BACKWARDS), TS_NO_CHUNK);
}
END_TEST

static uint64_t n_pages(void)
{
	struct ts_space_stats st;

	ts_space_stats(sp, &st);
	return st.n_pages;
}

/* Reads are listed in a few bytes, however long they are. */
START_TEST(a_long_read_touches_no_more_memory_than_its_limits)
{
	const uint64_t gib = UINT64_C(1) << 30, limit = TS_FRESH_READS * UINT64_C(4096);

	write_text(3 * gib, "known"); /* memory that something else has touched does not count */
	ts_space_note_read(&sb, gib, 2 * gib + 3);
	ck_assert_uint_eq(n_pages(), TS_FRESH_READS + 1);
	ck_assert_uint_eq(sb.n_left_out, 2 * gib + 3 - limit - 3);
	end_chunk();
	ts_space_note_read(&sb, gib + limit, 2 * TS_FRESH_READS_MORE * UINT64_C(4096));
	ck_assert_uint_eq(n_pages(), TS_FRESH_READS + 1 + TS_FRESH_READS_MORE);
	end_recording();
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_READ, 0, gib, gib, TS_FORWARDS), 0);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_READ, 0, gib + limit - 1, gib + limit - 1, TS_FORWARDS), 0);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_READ, 0, 3 * gib + 2, 3 * gib + 2, TS_FORWARDS), 0);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_READ, 0, gib + limit, gib + limit, TS_FORWARDS), 1);
}
END_TEST

/* A read of 4 GiB is a byte or two of a file: it must not look at a million pages. */
START_TEST(reads_of_memory_that_nothing_touches_have_a_limit_of_pages)
{
	const uint64_t gib = UINT64_C(1) << 30;
	uint64_t left;

	ts_space_note_read(&sb, 0, 4 * gib - 1);
	ck_assert_uint_eq(sb.skipped_left, TS_SKIPPED_READS - ((4 * gib) / 4096 - TS_FRESH_READS));
	for (unsigned i = 1; i < 1000; i++)
		ts_space_note_read(&sb, 4 * gib * i, 4 * gib - 1);
	ck_assert_uint_eq(sb.skipped_left, 0);
	ck_assert_uint_eq(n_pages(), TS_FRESH_READS);
	ck_assert_uint_eq(sb.n_left_out, 1000 * (4 * gib - 1) - TS_FRESH_READS * UINT64_C(4096));
	left = sb.n_left_out;
	ts_space_note_read(&sb, 0, 4096); /* what an instruction may read has no limit */
	ck_assert_uint_eq(sb.n_left_out, left);
	end_chunk();
	ck_assert_uint_eq(sb.skipped_left, TS_SKIPPED_READS_MORE);
	end_recording();
}
END_TEST

START_TEST(long_reads_of_the_same_memory_have_a_limit_of_bytes)
{
	const uint64_t mib = UINT64_C(1) << 20;

	for (uint64_t n = 0; n < TS_LONG_READS; n += mib)
		ts_space_note_read(&sb, 0x10000, mib);
	ck_assert_uint_eq(sb.n_left_out, 0);
	ts_space_note_read(&sb, 0x10000, mib);
	ck_assert_uint_eq(sb.n_left_out, mib);
	ts_space_note_read(&sb, 0x10000, 4096); /* what an instruction may read has none */
	end_chunk();
	ts_space_note_read(&sb, 0x10000, mib);
	ck_assert_uint_eq(sb.n_left_out, mib);
	end_recording();
}
END_TEST

START_TEST(a_write_of_what_is_there_is_a_write_and_no_change)
{
	write_text(0x100, "same");
	end_chunk();
	write_text(0x100, "same");
	end_chunk();
	write_text(0x100, "sane");
	write_text(0x100, "same");
	end_recording();
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_CHANGED, 1, 0x100, 0x103, TS_FORWARDS), 2);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_CHANGED, 1, 0x100, 0x103, TS_BACKWARDS), 0);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x100, 0x100, TS_FORWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x103, 0x103, TS_BACKWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x107, 0x107, TS_BACKWARDS), 0);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x108, 0x10f, TS_BACKWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(stats.n_versions, 2);
	ck_assert_uint_eq(stats.n_silent, 1);
	ck_assert_str_eq(text_at(2, 0x100, 5), "same.");
}
END_TEST

START_TEST(a_change_is_found_by_its_bytes_and_a_write_by_its_half_of_the_line)
{
	write_text(0x100, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_");
	end_chunk();
	write_text(0x13e, "eF_");
	end_recording();
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_CHANGED, 1, 0x13f, 0x13f, TS_FORWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_CHANGED, 1, 0x13e, 0x13e, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_CHANGED, 1, 0x140, 0x140, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x13e, 0x13e, TS_FORWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x140, 0x140, TS_FORWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x120, 0x12f, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x138, 0x138, TS_FORWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x130, 0x137, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x148, 0x14f, TS_FORWARDS), TS_NO_CHUNK);
}
END_TEST

START_TEST(a_write_is_found_in_one_half_of_a_line_while_the_other_changes)
{
	write_text(0x100, "0123456789abcdef");
	end_chunk();
	write_text(0x107, "x");
	end_chunk();
	write_text(0x107, "y");
	write_text(0x10c, "c");
	end_chunk();
	write_text(0x108, "x");
	write_text(0x100, "0");
	end_recording();
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x10c, 0x10c, TS_FORWARDS), 2);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 2, 0x108, 0x10b, TS_BACKWARDS), 0);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 3, 0x100, 0x100, TS_BACKWARDS), 3);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_CHANGED, 1, 0x10c, 0x10c, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(stats.n_silent, 2);
}
END_TEST

/* Parts of 4, 8 and 4 bytes in the first of two lines, in each 0x40 bytes. */
START_TEST(a_write_is_found_by_all_of_its_part_where_lines_are_divided)
{
	static const uint16_t starts[] = { 1u << 4 | 1u << 12 };

	ck_assert(ts_space_divide(sp, 0x40, starts, 1));
	write_text(0x100, "0123456789abcdef0123456789abcdef");
	end_chunk();
	write_text(0x104, "4__78901"); /* of the second part, the first byte as it was */
	end_chunk();
	write_text(0x10c, "cdef");
	write_text(0x108, "x");
	write_text(0x110, "x");
	end_recording();
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x100, 0x103, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x104, 0x104, TS_FORWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x10b, 0x10b, TS_BACKWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 2, 0x10b, 0x10b, TS_BACKWARDS), 2);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x10d, 0x10d, TS_FORWARDS), 2);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x10d, 0x10d, TS_BACKWARDS), 0);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 1, 0x11f, 0x11f, TS_FORWARDS), 2);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_CHANGED, 1, 0x104, 0x104, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(stats.n_silent, 1);
}
END_TEST

START_TEST(the_parts_of_lines_repeat)
{
	static const uint16_t starts[] = { 1u << 4 | 1u << 12 };

	ck_assert(ts_space_divide(sp, 0x40, starts, 1));
	write_text(0x140, "0");
	write_text(0x1b4, "0");
	end_recording();
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 0, 0x143, 0x143, TS_FORWARDS), 0);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 0, 0x144, 0x14f, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 0, 0x1b0, 0x1b0, TS_FORWARDS), 0);
}
END_TEST

START_TEST(any_number_of_layers_side_by_side_is_painted)
{
	size_t len = 1 << 20;
	uint8_t *data = malloc(2 * len);

	ck_assert_ptr_nonnull(data);
	for (size_t i = 0; i < len; i += 4)
		ts_space_fill(&sb, pos(), 0x10000 + i, 4, TS_FILL_ZERO);
	end_recording();
	ts_space_at(sp, 1, 0x10000, len, data, data + len);
	for (size_t i = 0; i < len; i++)
		if (data[i] || data[len + i] != 1)
			ck_abort_msg("byte %zu", i);
	free(data);
}
END_TEST

START_TEST(both_ends_of_the_space_hold_bytes_and_nothing_lies_beyond)
{
	write_text(UINT64_MAX - 1, "yz");
	write_text(0, "ab");
	end_recording();
	ck_assert_str_eq(text_at(1, UINT64_MAX - 2, 6), ".yz...");
	ck_assert_str_eq(text_at(1, 0, 3), "ab.");
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 0, UINT64_MAX, UINT64_MAX, TS_FORWARDS), 0);
}
END_TEST

static void lay_text(struct ts_image *image, uint64_t map, const char *text)
{
	struct ts_error err = { 0 };
	uint32_t source = ts_image_add_source(image, ts_source_from_memory(text, strlen(text), text, &err));

	ck_assert(ts_image_add(image, map, 0x100, strlen(text), source, 0, &err));
}

START_TEST(a_file_fills_only_what_the_recording_never_shows)
{
	lay_text(&img, 0, "file");
	write_text(0x101, "W");
	end_chunk();
	see_text(0x102, "S"); /* the file was wrong from the start */
	end_recording();
	ck_assert_str_eq(text_at(0, 0x100, 5), "fiSe.");
	ck_assert_str_eq(text_at(1, 0x100, 5), "fWSe.");
	ck_assert_uint_eq(stats.n_unexplained, 0);
}
END_TEST

START_TEST(a_mapped_file_lies_under_its_map_and_nothing_after_it)
{
	lay_text(&img, 0, "older");
	lay_text(&img, ts_space_next_map(&sb), "mapped");
	ts_space_fill(&sb, pos(), 0x100, 0x100, TS_FILL_UNKNOWN);
	end_chunk();
	lay_text(&img, ts_space_next_map(&sb), "gone");
	ts_space_fill(&sb, pos(), 0x100, 4, TS_FILL_UNKNOWN);
	ts_space_fill(&sb, pos(), 0x100, 2, TS_FILL_UNKNOWN); /* in the same step */
	end_recording();
	ck_assert_str_eq(text_at(0, 0x100, 6), "older.");
	ck_assert_str_eq(text_at(1, 0x100, 6), "mapped");
	ck_assert_str_eq(text_at(2, 0x100, 6), "..need");
}
END_TEST

START_TEST(a_file_of_one_space_is_not_in_another)
{
	struct ts_space *other = ts_space_new(NULL, &img, 1);
	struct ts_space_builder other_builder;
	uint8_t data[4], known[4];

	ck_assert_ptr_nonnull(other);
	ts_space_builder_init(&other_builder, other);
	lay_text(&img, ts_space_next_map(&sb), "file");
	ts_space_fill(&sb, 0, 0x100, 4, TS_FILL_UNKNOWN);
	ts_space_fill(&other_builder, 0, 0x100, 4, TS_FILL_UNKNOWN);
	end_recording();
	ck_assert_str_eq(text_at(0, 0x100, 4), "file");
	ts_space_at(other, 0, 0x100, 4, data, known);
	ck_assert_uint_eq(known[0], 0);
	ts_space_builder_fini(&other_builder);
	ts_space_free(other);
}
END_TEST

START_TEST(bytes_left_in_the_trace_are_known_from_the_start)
{
	lay_text(&recorded, 0, "trace");
	lay_text(&img, 0, "filefile");
	write_text(0x100, "tr"); /* as it was */
	end_chunk();
	see_text(0x104, "x");    /* not as it was */
	see_text(0x105, "y");
	end_recording();
	ck_assert_str_eq(text_at(0, 0x100, 9), "traceyle.");
	ck_assert_str_eq(text_at(1, 0x100, 9), "traceyle.");
	ck_assert_str_eq(text_at(2, 0x100, 9), "tracxyle.");
	ck_assert_uint_eq(stats.n_silent, 1);
	ck_assert_uint_eq(stats.n_unexplained, 1);
	ck_assert_uint_eq(stats.n_inferred, 1);
}
END_TEST

START_TEST(bytes_left_in_the_trace_end_where_a_range_starts_afresh)
{
	lay_text(&recorded, 0, "trace");
	ts_space_fill(&sb, pos(), 0x101, 2, TS_FILL_UNKNOWN);
	end_recording();
	ck_assert_str_eq(text_at(0, 0x100, 5), "trace");
	ck_assert_str_eq(text_at(1, 0x100, 5), "t..ce");
}
END_TEST

START_TEST(what_is_first_seen_after_a_gap_was_so_since_the_gap)
{
	write_text(0x1000, "kept");
	see_text(0x1010, "seen");
	end_chunk();
	ts_space_gap(&sb, pos());
	end_chunk();
	see_text(0x1000, "keptnew.");
	see_text(0x1010, "SEEN");
	ts_space_fill(&sb, pos(), 0x2000, 16, TS_FILL_UNKNOWN);
	end_chunk();
	see_text(0x2000, "afresh");
	end_recording();
	ck_assert_str_eq(text_at(0, 0x1010, 4), "seen");
	ck_assert_str_eq(text_at(1, 0x1000, 8), "kept....");
	ck_assert_str_eq(text_at(2, 0x1000, 8), "keptnew.");
	ck_assert_str_eq(text_at(2, 0x1010, 4), "seen");
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_CHANGED, 0, 0x1004, 0x1006, TS_FORWARDS), 1);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_CHANGED, 4, 0x1006, 0x100f, TS_BACKWARDS), 1);
	ck_assert_str_eq(text_at(3, 0x1000, 8), "keptnew.");
	ck_assert_str_eq(text_at(3, 0x1010, 4), "SEEN");
	ck_assert_str_eq(text_at(3, 0x2000, 6), "afresh"); /* its range began after the gap */
	ck_assert_str_eq(text_at(4, 0x1000, 8), "keptnew.");
	ck_assert_uint_eq(stats.n_inferred, 4 + 4 + 6);
	ck_assert_uint_eq(stats.n_unexplained, 1);
}
END_TEST

START_TEST(a_space_that_came_late_has_nothing_before)
{
	write_text(0x100, "a");
	chunk = 5 * TS_SEGMENT_CHUNKS + 3;
	end_chunk();
	ck_assert(ts_space_seal(&sb, 5, false));
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 0, 0x100, 0x100, TS_FORWARDS), 5 * TS_SEGMENT_CHUNKS + 3);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, UINT64_MAX / TS_CHUNK_STEPS, 0x100, 0x100, TS_BACKWARDS),
			  5 * TS_SEGMENT_CHUNKS + 3);
	ck_assert_uint_eq(ts_space_find(sp, TS_SPACE_WRITTEN, 5 * TS_SEGMENT_CHUNKS, 0x100, 0x100, TS_BACKWARDS), TS_NO_CHUNK);
	ck_assert_str_eq(text_at(5 * TS_SEGMENT_CHUNKS + 3, 0x100, 1), ".");
	ck_assert_str_eq(text_at(5 * TS_SEGMENT_CHUNKS + 4, 0x100, 1), "a");
}
END_TEST

START_TEST(inferred_ranges_are_found_in_both_directions)
{
	/* the second and the third have the same bytes, the fourth is in another page */
	static const struct ts_inferred all[] = {
		{ 5, 0x100, 4, 0 }, { 10, 0x108, 4, 0 }, { 20, 0x108, 4, 0 }, { 30, 0x100 + TS_PAGE_LEN, 4, 0 },
	};
	struct ts_inferred_list s = { 0 };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		ck_assert(ts_inferred_add(&s, &all[i]));
	for (uint64_t at = 0; at < 40; at++) {
		for (uint64_t addr = 0x100; addr < 0x10c; addr += 4) {
			uint64_t next = UINT64_MAX, prev = UINT64_MAX;

			for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
				if (all[i].addr == addr && all[i].pos >= at && next == UINT64_MAX)
					next = all[i].pos;
				if (all[i].addr == addr && all[i].pos <= at)
					prev = all[i].pos;
			}
			ck_assert_uint_eq(ts_inferred_find(&s, at, addr, addr + 3, TS_FORWARDS), next);
			ck_assert_uint_eq(ts_inferred_find(&s, at, addr, addr + 3, TS_BACKWARDS), prev);
		}
	}
	ck_assert_uint_eq(ts_inferred_find(&s, UINT64_MAX, 0, UINT64_MAX, TS_BACKWARDS), 30);
	ck_assert_uint_eq(ts_inferred_find(&s, 0, 0, UINT64_MAX, TS_FORWARDS), 5);
	ts_inferred_fini(&s);
}
END_TEST

/* ------------------------------------------------------- a naive twin: ranges that start afresh, long and short */

enum { TWIN_PAGES = 64, TWIN_LEN = TWIN_PAGES * TS_PAGE_LEN, TWIN_CHUNKS = 40, TWIN_OPS = 30 };

static struct {
	uint8_t data[TWIN_LEN], known[TWIN_LEN];
} twin[TWIN_CHUNKS + 1];

static unsigned below(unsigned n)
{
	return (unsigned)rand() % n;
}

static void set_twin(unsigned from, unsigned to, uint8_t value, uint8_t known)
{
	memset(twin[chunk + 1].data + from, value, to - from);
	memset(twin[chunk + 1].known + from, known, to - from);
}

/* A range of the twin's that starts afresh: a few bytes, whole pages, or all there is. */
static void fill_at_random(unsigned op)
{
	enum ts_fill fill = below(2) ? TS_FILL_ZERO : TS_FILL_UNKNOWN;
	unsigned kind = below(8), from = below(TWIN_LEN), to = from + 1 + below(TWIN_LEN - from);

	if (kind < 4) {
		from -= from % TS_PAGE_LEN;
		to = to / TS_PAGE_LEN > from / TS_PAGE_LEN ? to - to % TS_PAGE_LEN : from + TS_PAGE_LEN;
	}
	if (kind == 7) {
		from = 0;
		to = TWIN_LEN;
		fill = TS_FILL_UNKNOWN;
	}
	ts_space_fill(&sb, pos() + op, from, kind == 7 ? UINT64_MAX : to - from, fill);
	set_twin(from, to, 0, fill == TS_FILL_ZERO);
}

static void write_at_random(void)
{
	uint8_t bytes_written[200];
	unsigned from = below(TWIN_LEN - 200), len = below(4) ? 1 + below(8) : 200;

	memset(bytes_written, (int)below(255) + 1, sizeof(bytes_written));
	if (below(8)) {
		ts_space_write(&sb, from, bytes_written, len);
		set_twin(from, from + len, bytes_written[0], 1);
	} else {
		ts_space_lose(&sb, from, len);
		set_twin(from, from + len, 0, 0);
	}
}

START_TEST(ranges_that_start_afresh_are_what_a_naive_twin_has)
{
	uint8_t *data = malloc(TWIN_LEN), *known = malloc(TWIN_LEN);

	srand(1);
	memset(twin, 0, sizeof(twin));
	while (chunk < TWIN_CHUNKS) {
		twin[chunk + 1] = twin[chunk];
		for (unsigned op = 0; op < TWIN_OPS; op++) {
			if (below(4))
				write_at_random();
			else
				fill_at_random(op);
		}
		end_chunk();
	}
	ck_assert(ts_space_seal(&sb, 0, false));
	for (unsigned at = 0; at <= TWIN_CHUNKS; at++) {
		ts_space_at(sp, at, 0, TWIN_LEN, data, known);
		ck_assert_mem_eq(known, twin[at].known, TWIN_LEN);
		ck_assert_mem_eq(data, twin[at].data, TWIN_LEN);
	}
	free(data);
	free(known);
}
END_TEST

UNIT_FIXTURE_SUITE("space", setup, teardown, a_write_shows_at_the_end_of_its_chunk_and_later,
		   a_value_seen_was_there_from_the_start, a_value_seen_after_a_write_says_nothing_of_before,
		   a_value_that_contradicts_is_a_change_where_it_was_seen,
		   what_is_inferred_goes_back_to_the_last_fresh_start_only, a_fresh_start_with_zeros_is_known,
		   an_unknown_write_is_found_as_a_write, initial_bytes_are_there_at_position_zero,
		   a_value_seen_after_an_unknown_write_was_there_since_that_write,
		   each_unknown_write_is_completed_by_what_is_seen_after_it,
		   an_unknown_write_is_completed_in_sealed_segments_too,
		   a_byte_that_starts_afresh_is_lost_no_more,
		   a_long_read_touches_no_more_memory_than_its_limits,
		   long_reads_of_the_same_memory_have_a_limit_of_bytes,
		   reads_of_memory_that_nothing_touches_have_a_limit_of_pages,
		   reads_are_found_by_the_quarters_of_lines_that_they_overlap,
		   a_write_of_what_is_there_is_a_write_and_no_change,
		   a_change_is_found_by_its_bytes_and_a_write_by_its_half_of_the_line,
		   a_write_is_found_in_one_half_of_a_line_while_the_other_changes,
		   a_write_is_found_by_all_of_its_part_where_lines_are_divided, the_parts_of_lines_repeat,
		   any_number_of_layers_side_by_side_is_painted,
		   both_ends_of_the_space_hold_bytes_and_nothing_lies_beyond,
		   a_file_fills_only_what_the_recording_never_shows,
		   a_mapped_file_lies_under_its_map_and_nothing_after_it,
		   a_file_of_one_space_is_not_in_another, bytes_left_in_the_trace_are_known_from_the_start,
		   bytes_left_in_the_trace_end_where_a_range_starts_afresh,
		   what_is_first_seen_after_a_gap_was_so_since_the_gap,
		   a_space_that_came_late_has_nothing_before, inferred_ranges_are_found_in_both_directions,
		   ranges_that_start_afresh_are_what_a_naive_twin_has)
