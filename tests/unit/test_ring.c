/* SPDX-License-Identifier: MIT */
/*
 * The ring between the recorder and its plugin: two processes, and a ring that is full most of the time.
 */
#include "src/recorder/ring.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define RING_LEN 64u

static struct ts_ring *new_ring(void)
{
	struct ts_ring *r =
		mmap(NULL, ts_ring_size(RING_LEN), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(r, MAP_FAILED);
	r->len = RING_LEN;
	return r;
}

/* A child writes 0, 1, 2, ... in pieces of 1, 2, 3, ... bytes. */
static pid_t start_writer(struct ts_ring *r, size_t total)
{
	pid_t reader = getpid(), pid = fork();
	uint8_t piece[256];

	if (pid)
		return pid;
	for (size_t at = 0, n = 1; at < total; at += n, n = n % sizeof(piece) + 1) {
		n = n < total - at ? n : total - at;
		for (size_t i = 0; i < n; i++)
			piece[i] = (uint8_t)(at + i);
		if (!ts_ring_put(r, piece, n, reader))
			_exit(1);
	}
	_exit(0);
}

START_TEST(bytes_come_out_as_they_went_in)
{
	struct ts_ring *r = new_ring();
	const size_t total = 100000;
	pid_t pid = start_writer(r, total);
	const uint8_t *bytes;
	size_t at = 0;
	int status;

	while (at < total) {
		size_t n = ts_ring_peek(r, &bytes, true);

		ck_assert_uint_le(n, RING_LEN);
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_eq(bytes[i], (uint8_t)(at + i));
		ts_ring_take(r, n);
		at += n;
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(ts_ring_peek(r, &bytes, false), 0);
}
END_TEST

START_TEST(a_ring_that_is_stopped_takes_nothing_more)
{
	struct ts_ring *r = new_ring();
	pid_t pid = start_writer(r, 1000);
	int status;

	while (r->head != RING_LEN) /* it is full: the writer waits, or will */
		usleep(100);
	atomic_store(&r->is_stopped, 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}
END_TEST

START_TEST(the_boundary_is_where_it_was_sealed)
{
	struct ts_ring *r = new_ring();

	ck_assert(ts_ring_put(r, (const uint8_t *)"frame", 5, getppid()));
	ts_ring_seal(r);
	ck_assert(ts_ring_put(r, (const uint8_t *)"half", 4, getppid()));
	ck_assert_uint_eq(r->boundary, 5);
	ck_assert_uint_eq(r->head, 9);
}
END_TEST

UNIT_SUITE("ring", bytes_come_out_as_they_went_in, a_ring_that_is_stopped_takes_nothing_more,
	   the_boundary_is_where_it_was_sealed)
