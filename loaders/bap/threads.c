/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "snapshot.h"
#include "src/base/hash.h"
#include "src/base/vec.h"

#define MAX_THREADS 4096

/* ------------------------------------------------------------------------------------ ids to ordinals */

static bool is_id(const void *user, uint32_t i, const void *id)
{
	return ((const struct bap_ids *)user)->items[i].id == *(const uint64_t *)id;
}

static uint64_t hash_of_id(const void *user, uint32_t i)
{
	return ts_hash(((const struct bap_ids *)user)->items[i].id, 0);
}

static uint32_t *slot_of(const struct bap_ids *ids, uint64_t id)
{
	return ts_hash_table_slot(&ids->by_id, ts_hash(id, 0), is_id, ids, &id);
}

/* gdb's numbers begin with 1, as tracewrap's do; Pin's and the plugin's begin with 0. */
static uint64_t gdb_id(const struct bap *rec, uint64_t id)
{
	bool is_one_based = rec->recorder == BAP_TRACEWRAP || rec->recorder == BAP_OLD_TRACEWRAP;

	if (is_one_based && id)
		return id;
	return id + 1 ? id + 1 : 1;
}

static bool find_ordinal(struct bap_known *k, uint64_t id, uint32_t *ordinal, uint64_t off,
			 struct ts_error *err)
{
	struct bap_ids *ids = &k->ids;
	uint32_t *slot;

	if (!ts_vec_reserve(&ids->items, ids->n, &ids->cap, 1, sizeof(*ids->items)) ||
	    !ts_hash_table_reserve(&ids->by_id, ids->n, 1, hash_of_id, ids))
		return ts_fail(err, TS_ENOMEM, off, "no memory for a thread");
	slot = slot_of(ids, id);
	if (!*slot) {
		struct bap_id added = { .id = id };

		if (ids->n == MAX_THREADS)
			return ts_fail(err, TS_ELIMIT, off, "more than %d threads", MAX_THREADS);
		added.ordinal = ts_recording_thread(&k->rec->base, 0, 1, gdb_id(k->rec, id));
		if (added.ordinal == TS_NO_THREAD)
			return ts_fail(err, TS_ENOMEM, off, "no memory for a thread");
		ids->items[ids->n++] = added;
		*slot = (uint32_t)ids->n;
	}
	*ordinal = ids->items[*slot - 1].ordinal;
	return true;
}

/* -------------------------------------------------------------------------------------------- threads */

static struct bap_thread *alloc_thread(uint32_t g_len)
{
	struct bap_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->data = calloc(1, 3 * (size_t)g_len + sizeof(uint64_t));
	if (t->data)
		return t;
	free(t);
	return NULL;
}

/* The thread takes the place of one of which nothing is to be known any more. */
static void reset_thread(struct bap_known *k, struct bap_thread *t, uint64_t id, uint32_t ordinal)
{
	uint32_t len = k->rec->base.regs.g_len;
	uint8_t *data = t->data;

	if (k->shown && k->shown->of == t)
		bap_shown_forget(k->shown);
	memset(data, 0, 3 * (size_t)len);
	*t = (struct bap_thread){ .id = id, .ordinal = ordinal, .data = data };
	t->state = data + len;
	t->seen = t->state + len;
	bap_forget_flags(&k->rec->names, t);
}

/* The thread at @i comes first. */
static struct bap_thread *move_to_front(struct bap_known *k, uint32_t i)
{
	struct bap_thread *t = k->live[i];

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	memmove(k->live + 1, k->live, i * sizeof(k->live[0]));
	k->live[0] = t;
	return t;
}

static struct bap_thread *add_thread(struct bap_known *k, uint64_t id, const struct bap_thread *keep,
				     uint64_t off, struct ts_error *err)
{
	uint32_t ordinal, last = k->n_live - 1;

	if (!find_ordinal(k, id, &ordinal, off, err))
		return NULL;
	if (k->n_live < BAP_MAX_LIVE) {
		struct bap_thread *t = alloc_thread(k->rec->base.regs.g_len);

		if (!t) {
			ts_fail(err, TS_ENOMEM, off, "no memory for a thread");
			return NULL;
		}
		last = k->n_live++;
		k->live[last] = t;
	} else if (k->live[last] == keep) {
		last--;
	}
	reset_thread(k, k->live[last], id, ordinal);
	return move_to_front(k, last);
}

struct bap_thread *bap_threads_find(struct bap_known *k, uint64_t id, const struct bap_thread *keep,
				    uint64_t off, struct ts_error *err)
{
	for (uint32_t i = 0; i < k->n_live; i++)
		if (k->live[i]->id == id)
			return i ? move_to_front(k, i) : k->live[0];
	return add_thread(k, id, keep, off, err);
}

/* Is a thread with this id one of the recording?  Nothing is added to it. */
static bool is_of_recording(const struct bap_known *k, uint64_t id)
{
	const struct ts_recording *rec = &k->rec->base;
	uint64_t tid = gdb_id(k->rec, id);

	if (k->ids.by_id.n_slots && *slot_of(&k->ids, id))
		return true;
	for (uint32_t i = 0; i < rec->n_threads; i++)
		if (rec->threads[i].tid == tid)
			return true;
	return false;
}

struct bap_thread *bap_threads_add(struct bap_known *k, uint64_t id, struct ts_error *err)
{
	uint32_t ordinal;

	if (k->n_live == BAP_MAX_LIVE || !is_of_recording(k, id)) {
		ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "the decode point belongs to another trace");
		return NULL;
	}
	if (!find_ordinal(k, id, &ordinal, TS_NO_OFF, err))
		return NULL;
	k->live[k->n_live] = alloc_thread(k->rec->base.regs.g_len);
	if (!k->live[k->n_live]) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a thread");
		return NULL;
	}
	reset_thread(k, k->live[k->n_live], id, ordinal);
	return k->live[k->n_live++];
}
