/* SPDX-License-Identifier: MIT */
/* Memory that is freed later is freed, by another thread if it is large. */
#include "unit.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/collections/free_later.h"

/* Pages of this process in memory. */
static long n_resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long n = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%*d %ld", &n), 1);
	fclose(file);
	return n;
}

START_TEST(large_memory_is_freed)
{
	enum { LEN = 64 << 20 };
	long page = sysconf(_SC_PAGESIZE), before = n_resident();
	char *memory = malloc(LEN);

	ck_assert_ptr_nonnull(memory);
	memset(memory, 1, LEN);
	ck_assert_int_gt(n_resident(), before + LEN / page / 2);
	ts_free_later(memory, LEN);
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory for a while, and says itself if it was not freed */
	while (n_resident() > before + LEN / page / 2) /* the test's time limit ends it if that never comes */
		usleep(1000);
#endif
}
END_TEST

START_TEST(small_memory_is_freed_at_once)
{
	ts_free_later(NULL, TS_FREE_LATER_LEN);
	ts_free_later(malloc(1), 1); /* the leak sanitizer would say if it were not */
}
END_TEST

UNIT_SUITE("free_later", large_memory_is_freed, small_memory_is_freed_at_once)
