/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS	   100  /* of one check of the reader */
#define MAX_TRIES  100000
#define STOPPED_MS 1000 /* after which a reader that does not free space is continued */

/* Not private: the two sides are different processes. */
static void futex_wait(_Atomic uint32_t *word, uint32_t seen, long ms)
{
	struct timespec limit = { ms / 1000, ms % 1000 * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void ts_ring_wake(struct ts_ring *r)
{
	atomic_fetch_add(&r->written, 1);
	futex_wake(&r->written);
}

static uint64_t room(const struct ts_ring *r)
{
	return r->len - (atomic_load(&r->head) - atomic_load(&r->tail));
}

/*
 * Wait until there is space.  Returns false if the reader has ended.
 *
 * The reader is the parent of the recorded program, which may have stopped it: then both would wait for ever.  A reader
 * that frees no space for a second is sent SIGCONT; a reader that runs ignores it.
 */
static bool wait_for_room(struct ts_ring *r, pid_t reader)
{
	for (unsigned n = 1; !room(r); n++) {
		uint32_t seen = atomic_load(&r->taken);

		if (atomic_load(&r->is_stopped) || getppid() != reader)
			return false;
		atomic_store(&r->is_writer_waiting, 1);
		if (!room(r))
			futex_wait(&r->taken, seen, WAIT_MS);
		atomic_store(&r->is_writer_waiting, 0);
		if (n % (STOPPED_MS / WAIT_MS) == 0)
			kill(reader, SIGCONT);
	}
	return true;
}

bool ts_ring_put(struct ts_ring *r, const uint8_t *bytes, size_t len, pid_t reader)
{
	while (len) {
		uint64_t head = atomic_load(&r->head), at = head % r->len, n = room(r);

		if (!n) {
			if (!wait_for_room(r, reader))
				return false;
			continue;
		}
		n = n < len ? n : len;
		n = n < r->len - at ? n : r->len - at;
		memcpy(r->data + at, bytes, n);
		bytes += n;
		len -= n;
		atomic_store(&r->head, head + n);
		if (atomic_exchange(&r->is_reader_waiting, 0))
			ts_ring_wake(r);
	}
	return !atomic_load(&r->is_stopped);
}

void ts_ring_seal(struct ts_ring *r)
{
	atomic_fetch_add(&r->n_seals, 1);
	atomic_store(&r->boundary_steps, atomic_load(&r->n_steps));
	atomic_store(&r->boundary, atomic_load(&r->head));
	atomic_fetch_add(&r->n_seals, 1);
}

/* A writer that was killed in between leaves the number odd: the reader does not try for ever. */
uint64_t ts_ring_boundary(const struct ts_ring *r, uint64_t *n_steps)
{
	uint64_t boundary;
	uint32_t seen;

	for (unsigned i = 0; i < MAX_TRIES; i++) {
		seen = atomic_load(&r->n_seals);
		*n_steps = atomic_load(&r->boundary_steps);
		boundary = atomic_load(&r->boundary);
		if (!(seen & 1) && seen == atomic_load(&r->n_seals))
			break;
	}
	return boundary;
}

size_t ts_ring_peek(struct ts_ring *r, const uint8_t **bytes, bool may_wait)
{
	uint32_t seen = atomic_load(&r->written);
	uint64_t tail = atomic_load(&r->tail), at = tail % r->len, n = atomic_load(&r->head) - tail;

	if (!n && may_wait) {
		atomic_store(&r->is_reader_waiting, 1);
		if (atomic_load(&r->head) == tail)
			futex_wait(&r->written, seen, 1000);
		atomic_store(&r->is_reader_waiting, 0);
		n = atomic_load(&r->head) - tail;
	}
	*bytes = r->data + at;
	return n < r->len - at ? n : r->len - at;
}

void ts_ring_take(struct ts_ring *r, size_t len)
{
	atomic_fetch_add(&r->tail, len);
	if (atomic_exchange(&r->is_writer_waiting, 0)) {
		atomic_fetch_add(&r->taken, 1);
		futex_wake(&r->taken);
	}
}
