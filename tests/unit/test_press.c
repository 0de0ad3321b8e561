/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "src/record/press.h"

#define N_BYTES (6u * TS_PRESS_LEN)

static struct ts_press press;
static struct ucir_writer writer;

/* Bytes that no compression makes fewer: Marsaglia's xorshift32. */
static void add_noise(size_t n)
{
	static uint8_t bytes[N_BYTES];
	uint32_t x = 2463534242u;

	for (size_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		bytes[i] = (uint8_t)x;
	}
	ck_assert(ts_press_add(&press, bytes, n));
}

static void begin(void)
{
	struct ts_error err;
	int fd = open("out", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ts_error_reset(&err);
	ck_assert_int_ge(fd, 0);
	ck_assert(ucir_writer_begin(&writer, fd, "x86_64", false, &err));
	ck_assert(ts_press_begin(&press, &writer));
}

static void end(void)
{
	struct ts_error err;

	ts_error_reset(&err);
	ck_assert(ts_press_end(&press, &err));
	close(writer.fd);
}

START_TEST(a_length_that_the_queue_may_reach_is_waited_for)
{
	begin();
	add_noise(N_BYTES);
	ck_assert(ts_press_is_beyond(&press, N_BYTES - 2 * TS_PRESS_LEN));
	end();
}
END_TEST

/* The writer keeps less than one of its chunks back. */
START_TEST(a_length_that_is_not_reached_is_waited_for_until_all_is_written)
{
	begin();
	add_noise(TS_PRESS_LEN);
	ck_assert(ts_press_is_beyond(&press, TS_PRESS_LEN - SNAPPY_MAX_DECODED));
	ck_assert(!ts_press_is_beyond(&press, 2 * TS_PRESS_LEN));
	end();
}
END_TEST

UNIT_SUITE("press", a_length_that_the_queue_may_reach_is_waited_for,
	   a_length_that_is_not_reached_is_waited_for_until_all_is_written)
