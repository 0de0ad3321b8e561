/* SPDX-License-Identifier: MIT */
/*
 * The threads of a trace.
 *
 * A trace may have thousands, and a decode point holds what is known of each.  So only the BAP_MAX_LIVE
 * threads that were met last are kept; of one that is met again after that many others nothing is known to
 * the reader (the model still has its registers), as of a new one.
 */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#include "snapshot.h"
/* gdb's numbers begin with 1, as tracewrap's do; Pin's and the plugin's begin with 0. */
static uint64_t gdb_id(const struct bap *rec, uint64_t id)
{
	bool is_one_based = rec->recorder == BAP_TRACEWRAP || rec->recorder == BAP_OLD_TRACEWRAP;

	if (is_one_based && id)
		return id;
	return id + 1 ? id + 1 : 1;
}

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
	uint32_t last = k->n_live - 1;
	uint32_t ordinal = threads_find(&k->threads, &k->rec->base, 0, 1, gdb_id(k->rec, id), off, err);

	if (ordinal == TS_NO_THREAD)
		return NULL;
	if (k->n_live < BAP_MAX_LIVE) {
		struct bap_thread *t = alloc_thread(k->rec->base.regs.g_len);

		if (!t)
			return ts_no_memory(err, "a thread");
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

struct bap_thread *bap_threads_add(struct bap_known *k, uint64_t id, struct ts_error *err)
{
	uint32_t ordinal = threads_known(&k->threads, &k->rec->base, 0, gdb_id(k->rec, id), err);

	if (k->n_live == BAP_MAX_LIVE || ordinal == TS_NO_THREAD) {
		ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "the decode point belongs to another trace");
		return NULL;
	}
	k->live[k->n_live] = alloc_thread(k->rec->base.regs.g_len);
	if (!k->live[k->n_live])
		return ts_no_memory(err, "a thread");
	reset_thread(k, k->live[k->n_live], id, ordinal);
	return k->live[k->n_live++];
}
