/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "snapshot.h"
#include "src/base/hash.h"

#define MAX_THREADS 4096

/* ------------------------------------------------------------------------------------ ids to ordinals */

/* Where the id is, or an empty place for it. */
static struct bap_id *place_of(const struct bap_ids *ids, uint64_t id)
{
	for (uint64_t i = ts_hash(id, 0) >> 32;; i++) {
		struct bap_id *p = &ids->items[i % ids->cap];

		if (p->ordinal == TS_NO_THREAD || p->id == id)
			return p;
	}
}

static bool grow_ids(struct bap_ids *ids)
{
	struct bap_ids more = { .n = ids->n, .cap = ids->cap ? ids->cap * 2 : 16 };

	more.items = malloc(more.cap * sizeof(*more.items));
	if (!more.items)
		return false;
	for (uint32_t i = 0; i < more.cap; i++)
		more.items[i].ordinal = TS_NO_THREAD;
	for (uint32_t i = 0; i < ids->cap; i++)
		if (ids->items[i].ordinal != TS_NO_THREAD)
			*place_of(&more, ids->items[i].id) = ids->items[i];
	free(ids->items);
	*ids = more;
	return true;
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
	struct bap_id *p;

	if (k->ids.n * 2 >= k->ids.cap && !grow_ids(&k->ids))
		return ts_fail(err, TS_ENOMEM, off, "no memory for a thread");
	p = place_of(&k->ids, id);
	if (p->ordinal == TS_NO_THREAD) {
		if (k->ids.n == MAX_THREADS)
			return ts_fail(err, TS_ELIMIT, off, "more than %d threads", MAX_THREADS);
		*p = (struct bap_id){ id, ts_recording_thread(&k->rec->base, 0, 1, gdb_id(k->rec, id)) };
		if (p->ordinal == TS_NO_THREAD)
			return ts_fail(err, TS_ENOMEM, off, "no memory for a thread");
		k->ids.n++;
	}
	*ordinal = p->ordinal;
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

	if (k->ids.cap && place_of(&k->ids, id)->ordinal != TS_NO_THREAD)
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
