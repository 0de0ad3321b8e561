/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <stdbool.h>
#include <stdlib.h>

#include "src/base/hash.h"

#define MIN_SLOTS 64u

void threads_fini(struct threads *t)
{
	free(t->slots);
	*t = (struct threads){ 0 };
}

/* Where the thread's slots begin. */
static uint32_t hash(const struct threads *t, uint32_t process, uint64_t tid)
{
	return (uint32_t)ts_hash(tid, process) & (t->n_slots - 1);
}

/* The slot of the thread, or the free one where it belongs. */
static uint32_t *slot_of(const struct threads *t, const struct ts_recording *rec, uint32_t process,
			 uint64_t tid)
{
	uint32_t i = hash(t, process, tid);

	while (t->slots[i]) {
		const struct ts_thread *other = &rec->threads[t->slots[i] - 1];

		if (other->tid == tid && other->process == process)
			break;
		i = (i + 1) & (t->n_slots - 1);
	}
	return &t->slots[i];
}

/* If two threads have the same ids, the later one is found. */
static void take_in(struct threads *t, const struct ts_recording *rec)
{
	for (; t->n < rec->n_threads; t->n++)
		*slot_of(t, rec, rec->threads[t->n].process, rec->threads[t->n].tid) = t->n + 1;
}

/* Room for all threads of the recording and one more, with half of the slots free. */
static bool grow(struct threads *t, const struct ts_recording *rec)
{
	uint32_t n_slots = t->n_slots ? t->n_slots : MIN_SLOTS, *slots;

	while (n_slots < 2 * ((uint64_t)rec->n_threads + 1))
		n_slots *= 2;
	if (n_slots == t->n_slots)
		return true;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return false;
	threads_fini(t);
	t->slots = slots;
	t->n_slots = n_slots;
	return true;
}

uint32_t threads_find(struct threads *t, struct ts_recording *rec, uint32_t process, uint64_t pid,
		      uint64_t tid, uint64_t off, struct ts_error *err)
{
	uint32_t *slot, ordinal;

	if (!grow(t, rec)) {
		ts_fail(err, TS_ENOMEM, off, "no memory for a thread");
		return TS_NO_THREAD;
	}
	take_in(t, rec);
	slot = slot_of(t, rec, process, tid);
	if (*slot)
		return *slot - 1;
	if (rec->n_threads >= THREADS_MAX) {
		ts_fail(err, TS_ELIMIT, off, "more than %u threads", THREADS_MAX);
		return TS_NO_THREAD;
	}
	ordinal = ts_recording_add_thread(rec, process, pid, tid);
	if (ordinal == TS_NO_THREAD)
		ts_fail(err, TS_ENOMEM, off, "no memory for a thread");
	return ordinal;
}
