/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out at any moment while a REVEN trace is opened and read: it fails with TS_ENOMEM, or
 * succeeds; nothing crashes, nothing is lost.
 */
#include "unit.h"

#include "loaders/loader.h"
#include "no_memory.h"

#include <stdio.h>
#include <stdlib.h>

static bool read_all(struct ts_recording *rec, struct ts_error *err)
{
	struct ts_reader *reader = rec->ops->reader(rec, err);
	enum ts_next next = TS_ITEM;
	struct ts_steps steps;

	if (!reader)
		return false;
	ts_steps_init(&steps);
	while (next == TS_ITEM && !steps.is_failed)
		next = reader->ops->next(reader, &steps, err);
	if (steps.is_failed)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the steps");
	ts_steps_fini(&steps);
	ts_reader_close(reader);
	return next == TS_END;
}

static bool open_and_read(const uint8_t *bytes, size_t len, struct ts_error *err)
{
	struct ts_source *src = ts_source_from_memory(bytes, len, "test", err);
	struct ts_recording *rec =
		src ? ts_loader_find("rvnbintrace")->open(src, &(struct ts_loader_options){ 0 }, err) : NULL;
	bool done = rec && read_all(rec, err);

	ts_recording_close(rec);
	ts_source_close(src);
	return done;
}

/* With the allocations [from, until) failing.  Returns how many there were. */
static uint64_t try_without(const uint8_t *bytes, size_t len, uint64_t from, uint64_t until)
{
	struct ts_error err = { 0 };
	uint64_t n_calls;
	int64_t n_lost;
	bool done;

	no_memory_start(from, until);
	done = open_and_read(bytes, len, &err);
	n_calls = no_memory_end(&n_lost);
	if (n_lost)
		ck_abort_msg("allocation %lu fails: %ld are lost", (long)from, (long)n_lost);
	if (err.code != (done ? TS_OK : TS_ENOMEM))
		ck_abort_msg("allocation %lu fails: %s: %s", (long)from, ts_code_name(err.code), err.text);
	return n_calls;
}

START_TEST(any_allocation_may_fail_alone_or_with_all_after_it)
{
	static const char *const files[] = { "bare", "container", "x87", "arm" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char name[64];
		size_t len;
		uint8_t *bytes;
		uint64_t n_all;

		snprintf(name, sizeof(name), "rvnbintrace/%s.bin", files[i]);
		bytes = unit_data(name, &len);
		n_all = try_without(bytes, len, UINT64_MAX, UINT64_MAX);
		ck_assert_uint_gt(n_all, 15);
		for (uint64_t n = 0; n < n_all; n++) {
			try_without(bytes, len, n, n + 1);
			try_without(bytes, len, n, UINT64_MAX);
		}
		free(bytes);
	}
}
END_TEST

UNIT_SUITE("rvnbintrace_no_memory", any_allocation_may_fail_alone_or_with_all_after_it)
