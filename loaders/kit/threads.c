/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <stdbool.h>

#include "src/base/collections/hash.h"

void threads_fini(struct threads *t)
{
	ts_hash_table_fini(&t->by_id);
	*t = (struct threads){ 0 };
}

/* The key of a thread. */
struct key {
	uint64_t tid;
	uint32_t process;
};

static bool is_thread(const void *user, uint32_t i, const void *key)
{
	const struct ts_thread *x = &((const struct ts_recording *)user)->threads[i];
	const struct key *y = key;

	return x->tid == y->tid && x->process == y->process;
}

static uint64_t hash_of_thread(const void *user, uint32_t i)
{
	const struct ts_thread *x = &((const struct ts_recording *)user)->threads[i];

	return ts_hash(x->tid, x->process);
}

static uint32_t *slot_of(const struct threads *t, const struct ts_recording *rec, uint32_t process, uint64_t tid)
{
	const struct key key = { tid, process };

	return ts_hash_table_slot(&t->by_id, ts_hash(tid, process), is_thread, rec, &key);
}

/*
 * The slot of the thread, when all threads of the recording are in the table and there is room for one more.  If two
 * threads have the same ids, the later one is found.  Returns NULL if memory is exhausted.
 */
static uint32_t *find_slot(struct threads *t, const struct ts_recording *rec, uint32_t process, uint64_t tid,
			   struct ts_error *err)
{
	if (!ts_hash_table_reserve(&t->by_id, t->n, rec->n_threads - t->n + 1, hash_of_thread, rec))
		return ts_no_memory(err, "a thread");
	for (; t->n < rec->n_threads; t->n++)
		*slot_of(t, rec, rec->threads[t->n].process, rec->threads[t->n].tid) = t->n + 1;
	return slot_of(t, rec, process, tid);
}

uint32_t threads_known(struct threads *t, const struct ts_recording *rec, uint32_t process, uint64_t tid,
		       struct ts_error *err)
{
	const uint32_t *slot = find_slot(t, rec, process, tid, err);

	return slot && *slot ? *slot - 1 : TS_NO_THREAD;
}

uint32_t threads_find(struct threads *t, struct ts_recording *rec, uint32_t process, uint64_t pid,
		      uint64_t tid, uint64_t off, struct ts_error *err)
{
	const uint32_t *slot = find_slot(t, rec, process, tid, err);
	uint32_t ordinal;

	if (!slot || *slot)
		return slot ? *slot - 1 : TS_NO_THREAD;
	if (rec->n_threads >= THREADS_MAX) {
		ts_fail(err, TS_ELIMIT, off, "more than %u threads", THREADS_MAX);
		return TS_NO_THREAD;
	}
	ordinal = ts_recording_add_thread(rec, process, pid, tid);
	if (ordinal == TS_NO_THREAD)
		ts_no_memory(err, "a thread");
	return ordinal;
}
