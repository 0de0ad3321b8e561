/* SPDX-License-Identifier: MIT */
/*
 * The index after BAP's frames: it is compared with the frames, and read in pieces.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "bap_text.h"
#include "loaders/bap/trace.h"
#include "loaders/loader.h"

extern const struct ts_loader bap_loader;

/* Frames, each of which has an entry: more than three pieces of the index. */
#define N_FRAMES (3 * BAP_TOC_PIECE + 10)

static struct ts_buf file;
static uint64_t toc;      /* file offset of the first entry */
static uint64_t readable; /* from this offset on nothing can be read, once the trace is open */
static bool is_open;
static unsigned n_reads;

static bool read_counted(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
			 struct ts_error *err)
{
	(void)src;
	n_reads++;
	if (is_open && off >= readable)
		return ts_fail(err, TS_EIO, off, "the disk is broken");
	*got = is_open && len > readable - off ? (size_t)(readable - off) : len;
	memcpy(data, file.data + off, *got);
	return true;
}

static void close_counted(struct ts_source *src)
{
	(void)src;
}

static uint64_t u64_at(uint64_t off)
{
	uint64_t n = 0;

	for (unsigned i = 8; i--;)
		n = n << 8 | file.data[off + i];
	return n;
}

static void setup(void)
{
	bap_text_line(&file, "3 9:64 qemu/6.2.0-tracewrap");
	for (unsigned i = 0; i < N_FRAMES; i++)
		bap_text_line(&file, "step %x 1 90", 0x1000 + i);
	bap_text_line(&file, "index 1");
	toc = u64_at(40) + BAP_ENTRY_LEN;
	readable = UINT64_MAX;
	n_reads = 0;
}

static void teardown(void)
{
	ts_buf_fini(&file);
	ts_buf_init(&file);
}

/* Read all steps: how many there are, and what the last one is followed by. */
static uint64_t read_all(unsigned *n_warnings, enum ts_next *end, struct ts_error *err)
{
	static const struct ts_source_ops ops = { .read = read_counted, .close = close_counted };
	struct ts_source *src = calloc(1, sizeof(*src));
	struct ts_reader *reader;
	struct ts_recording *rec;
	struct ts_steps steps;
	uint64_t n = 0;

	ck_assert(src && ts_source_init(src, &ops, file.len, "counted", err));
	rec = ts_loader_open(&bap_loader, src, NULL, err);
	ck_assert_msg(rec, "%s", err->text);
	is_open = true;
	reader = rec->ops->reader(rec, err);
	ts_steps_init(&steps);
	while ((*end = ts_reader_next(reader, &steps, err)) == TS_ITEM)
		n++;
	*n_warnings = rec->n_warnings;
	ts_steps_fini(&steps);
	ts_reader_close(reader);
	ts_recording_close(rec);
	ts_source_close(src);
	is_open = false;
	return n;
}

/* Read all steps, without damage; how many warnings there were. */
static unsigned count_warnings(void)
{
	struct ts_error err = { 0 };
	unsigned n_warnings;
	enum ts_next end;

	ck_assert_uint_eq(read_all(&n_warnings, &end, &err), N_FRAMES);
	ck_assert_int_eq(end, TS_END);
	return n_warnings;
}

START_TEST(every_entry_is_compared)
{
	static const unsigned entries[] = { 0,
					    BAP_TOC_PIECE - 1,
					    BAP_TOC_PIECE,
					    2 * BAP_TOC_PIECE - 1,
					    2 * BAP_TOC_PIECE,
					    3 * BAP_TOC_PIECE,
					    N_FRAMES - 2 };

	ck_assert_uint_eq(count_warnings(), 0);
	for (unsigned i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		uint8_t *entry = file.data + toc + entries[i] * BAP_ENTRY_LEN;

		*entry ^= 1;
		ck_assert_msg(count_warnings() == 1, "entry %u", entries[i]);
		*entry ^= 1;
	}
}
END_TEST

/* A system call each would take longer than decoding the frames. */
START_TEST(entries_are_read_many_at_once)
{
	count_warnings();
	ck_assert_uint_lt(n_reads, N_FRAMES / 4);
}
END_TEST

START_TEST(where_the_index_cannot_be_read_the_frames_before_it_are_served)
{
	struct ts_error err = { 0 };
	unsigned n_warnings;
	enum ts_next end;

	readable = toc + (BAP_TOC_PIECE + 7) * BAP_ENTRY_LEN + 3;
	ck_assert_uint_eq(read_all(&n_warnings, &end, &err), BAP_TOC_PIECE + 8);
	ck_assert_int_eq(end, TS_FAIL);
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_ptr_nonnull(strstr(err.text, "the index: "));
}
END_TEST

UNIT_FIXTURE_SUITE("bap_toc", setup, teardown, every_entry_is_compared, entries_are_read_many_at_once,
		   where_the_index_cannot_be_read_the_frames_before_it_are_served)
