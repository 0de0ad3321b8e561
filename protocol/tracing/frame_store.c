/* SPDX-License-Identifier: MIT */
#include "frame_store.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/frames/tracepoint.h"

/* Limit on the memory of a run. */
#define MAX_MEM ((size_t)1 << 30)

/* Overhead of blocks in a trace file. */
#define FRAME_HEADER_LEN 6
#define REGS_HEADER_LEN  1
#define RANGE_HEADER_LEN 11
#define VAR_LEN          13
#define MAX_BLOCK_LEN    65535u

struct stored_frame {
	uint64_t pos;
	uint64_t item;   /* its first one; its items end before the next frame's */
	uint32_t number; /* of its tracepoint */
	uint32_t bytes : 30;
	bool has_regs : 1;
	bool is_step : 1;
};

struct stored_item {
	uint64_t value; /* address, or value of a variable */
	uint32_t len;   /* bytes; 0: a variable */
	uint32_t var;   /* its number */
};

/* ------------------------------------------------------------------------------------------------ sets */

static void sets_fini(struct rsp_frame_sets *sets)
{
	for (size_t i = 0; i < sets->n; i++)
		free(sets->items[i].ids);
	free(sets->items);
	*sets = (struct rsp_frame_sets){ 0 };
}

/* The first set with a key >= @key. */
static size_t find_set(const struct rsp_frame_sets *sets, uint64_t key)
{
	size_t at = 0;

	TS_BISECT(at, sets->n, i, sets->items[i].key < key);
	return at;
}

/* The set of a key, made if it is new.  Returns NULL if memory is exhausted. */
static struct rsp_frame_set *get_set(struct rsp_frame_sets *sets, uint64_t key)
{
	size_t at = sets->last;

	if (at >= sets->n || sets->items[at].key != key)
		at = find_set(sets, key);
	sets->last = at;
	if (at < sets->n && sets->items[at].key == key)
		return &sets->items[at];
	if (!ts_vec_reserve(&sets->items, sets->n, &sets->cap, 1, sizeof(*sets->items)))
		return NULL;
	memmove(sets->items + at + 1, sets->items + at, (sets->n - at) * sizeof(*sets->items));
	sets->items[at] = (struct rsp_frame_set){ .key = key };
	sets->n++;
	return &sets->items[at];
}

static bool add_to_set(struct rsp_frame_sets *sets, uint64_t key, uint64_t id)
{
	struct rsp_frame_set *set = get_set(sets, key);

	if (set && !ts_vec_reserve(&set->ids, set->n, &set->cap, 1, sizeof(*set->ids)))
		return false;
	if (set)
		set->ids[set->n++] = (uint32_t)id;
	return set != NULL;
}

/* Undo the last add_to_set(). */
static void take_back(struct rsp_frame_sets *sets)
{
	sets->items[sets->last].n--;
}

/* The number of ids of a set before @id. */
static uint32_t n_before(const struct rsp_frame_set *set, uint64_t id)
{
	uint32_t at = 0;

	TS_BISECT(at, set->n, i, set->ids[i] < id);
	return at;
}

/* The first id of a set >= @id, UINT64_MAX if none is found. */
static uint64_t next_in_set(const struct rsp_frame_set *set, uint64_t id)
{
	uint32_t i = n_before(set, id);

	return i < set->n ? set->ids[i] : UINT64_MAX;
}

static void drop_from_sets(struct rsp_frame_sets *sets, uint64_t first_id)
{
	for (size_t i = 0; i < sets->n; i++) {
		struct rsp_frame_set *set = &sets->items[i];
		uint32_t n = n_before(set, first_id);

		if (n)
			memmove(set->ids, set->ids + n, (set->n - n) * sizeof(*set->ids));
		set->n -= n;
	}
}

/* ---------------------------------------------------------------------------------------- what others see */

static const struct rsp_frame_store *store_of(const struct ts_frames *f)
{
	return (const struct rsp_frame_store *)f;
}

static const struct stored_frame *stored(const struct rsp_frame_store *st, uint64_t n)
{
	return &st->stored[st->n_dropped + n];
}

static uint64_t id_of(const struct rsp_frame_store *st, uint64_t n)
{
	return st->first_id + st->n_dropped + n;
}

static bool get_frame(struct ts_frames *f, uint64_t n, struct ts_frame *out, struct ts_error *)
{
	const struct rsp_frame_store *st = store_of(f);
	const struct stored_frame *frame = stored(st, n);
	bool is_last = st->n_dropped + n + 1 == st->n_stored;
	uint64_t end = is_last ? st->first_item + st->n_items : frame[1].item;

	out->pos = frame->pos;
	out->tracepoint = frame->number;
	out->has_regs = frame->has_regs;
	out->has_pc = true;
	out->is_step = frame->is_step;
	for (uint64_t i = frame->item; i < end; i++) {
		const struct stored_item *item = &st->items[i - st->first_item];

		if (item->len)
			ts_frame_add_range(out, item->value, item->len);
		else
			ts_frame_add_var(out, item->var, (int64_t)item->value);
	}
	return true;
}

static uint64_t frame_pos(const struct ts_frames *f, uint64_t n)
{
	return stored(store_of(f), n)->pos;
}

static uint64_t frame_of_id(const struct rsp_frame_store *st, uint64_t id)
{
	return id == UINT64_MAX ? TS_NO_FRAME : id - st->first_id - st->n_dropped;
}

static uint64_t next_of(const struct ts_frames *f, uint32_t number, uint64_t from)
{
	const struct rsp_frame_store *st = store_of(f);
	size_t at = find_set(&st->by_number, number);

	if (at == st->by_number.n || st->by_number.items[at].key != number)
		return TS_NO_FRAME;
	return frame_of_id(st, next_in_set(&st->by_number.items[at], id_of(st, from)));
}

uint64_t rsp_frame_store_next_pc(const struct rsp_frame_store *st, uint64_t first, uint64_t last,
				 bool is_outside, uint64_t from)
{
	uint64_t best = UINT64_MAX, id = id_of(st, from);

	for (size_t i = is_outside ? 0 : find_set(&st->by_pc, first); i < st->by_pc.n; i++) {
		const struct rsp_frame_set *set = &st->by_pc.items[i];
		uint64_t next;

		if (!is_outside && set->key > last)
			break;
		if (is_outside && set->key >= first && set->key <= last)
			continue;
		next = next_in_set(set, id);
		if (next < best)
			best = next;
	}
	return frame_of_id(st, best);
}

/* ---------------------------------------------------------------------------------------------- the store */

void rsp_frame_store_init(struct rsp_frame_store *st)
{
	static const struct ts_frames_ops ops = { .get = get_frame, .pos = frame_pos, .next_of = next_of };

	*st = (struct rsp_frame_store){ .frames.ops = &ops, .max_bytes = TS_NO_COUNT };
}

void rsp_frame_store_fini(struct rsp_frame_store *st)
{
	if (st->budget)
		st->budget->used -= st->counted;
	free(st->stored);
	free(st->items);
	sets_fini(&st->by_pc);
	sets_fini(&st->by_number);
	rsp_frame_store_init(st);
}

void rsp_frame_store_bound(struct rsp_frame_store *st, struct rsp_frame_budget *budget)
{
	st->budget = budget;
}

uint64_t rsp_frame_store_limit(const struct rsp_frame_store *st)
{
	return st->budget && st->budget->max / 2 < MAX_MEM ? st->budget->max / 2 : MAX_MEM;
}

void rsp_frame_store_reset(struct rsp_frame_store *st, uint64_t max_bytes, bool is_circular)
{
	struct rsp_frame_budget *budget = st->budget;

	rsp_frame_store_fini(st);
	st->budget = budget;
	st->max_bytes = max_bytes;
	st->is_circular = is_circular;
}

uint64_t rsp_frame_store_created(const struct rsp_frame_store *st)
{
	return st->first_id + st->n_stored;
}

/* Bytes of memory: frames, the two set entries of each, and items.  The budget learns of them. */
static void count(struct rsp_frame_store *st)
{
	uint64_t was = st->counted;

	st->counted = st->n_stored * (sizeof(struct stored_frame) + 2 * sizeof(uint32_t)) +
		      st->n_items * sizeof(struct stored_item);
	if (st->budget)
		st->budget->used += st->counted - was;
}

bool rsp_frame_store_is_full(const struct rsp_frame_store *st)
{
	return st->counted >= MAX_MEM || (st->budget && st->budget->used >= st->budget->max / 2);
}

/* Free the memory of the dropped frames. */
static void compact(struct rsp_frame_store *st)
{
	size_t n_items = st->n_dropped < st->n_stored
				 ? (size_t)(st->stored[st->n_dropped].item - st->first_item)
				 : st->n_items;

	st->n_stored -= st->n_dropped;
	memmove(st->stored, st->stored + st->n_dropped, st->n_stored * sizeof(*st->stored));
	st->n_items -= n_items;
	memmove(st->items, st->items + n_items, st->n_items * sizeof(*st->items));
	st->first_item += n_items;
	st->first_id += st->n_dropped;
	st->n_dropped = 0;
	drop_from_sets(&st->by_pc, st->first_id);
	drop_from_sets(&st->by_number, st->first_id);
	count(st);
}

static void drop_oldest(struct rsp_frame_store *st)
{
	st->n_bytes -= stored(st, 0)->bytes;
	st->n_dropped++;
	st->frames.n_frames--;
	if (st->n_dropped > 1024 && st->n_dropped > st->n_stored / 2)
		compact(st);
}

static struct stored_frame *open_frame(struct rsp_frame_store *st)
{
	return &st->stored[st->n_stored - 1];
}

/*
 * An array with room for one more item.  Returns NULL if memory is exhausted.  Growing it takes the same
 * again.
 */
static void *grow(void *items, size_t n, size_t *cap, size_t item_len)
{
	return ts_vec_reserve(&items, n, cap, 1, item_len) ? items : NULL;
}

bool rsp_frame_store_open(struct rsp_frame_store *st, uint64_t pos, uint64_t pc, uint32_t number,
			  bool is_step)
{
	uint64_t id = rsp_frame_store_created(st);
	struct stored_frame *p;

	if (rsp_frame_store_is_full(st) || id >= UINT32_MAX)
		return false;
	p = grow(st->stored, st->n_stored, &st->cap_stored, sizeof(*p));
	if (!p)
		return false;
	st->stored = p;
	if (!add_to_set(&st->by_pc, pc, id))
		return false;
	if (!add_to_set(&st->by_number, number, id)) {
		take_back(&st->by_pc);
		return false;
	}
	st->stored[st->n_stored++] = (struct stored_frame){
		.pos = pos,
		.item = st->first_item + st->n_items,
		.number = number,
		.bytes = FRAME_HEADER_LEN,
		.is_step = is_step,
	};
	st->in_frame = 0;
	count(st);
	return true;
}

void rsp_frame_store_regs(struct rsp_frame_store *st, uint32_t g_len)
{
	struct stored_frame *f = open_frame(st);

	if (!f->has_regs)
		f->bytes += REGS_HEADER_LEN + g_len;
	f->has_regs = true;
}

static bool add_item(struct rsp_frame_store *st, struct stored_item item)
{
	struct stored_item *p;

	if (rsp_frame_store_is_full(st))
		return false;
	p = grow(st->items, st->n_items, &st->cap_items, sizeof(*p));
	if (!p)
		return false;
	st->items = p;
	st->items[st->n_items++] = item;
	count(st);
	return true;
}

bool rsp_frame_store_range(struct rsp_frame_store *st, uint64_t addr, uint64_t len)
{
	uint64_t n_blocks = (len + MAX_BLOCK_LEN - 1) / MAX_BLOCK_LEN;

	if (!len)
		return true;
	if (len > RSP_MAX_RANGE || st->in_frame + len > RSP_MAX_IN_FRAME || len - 1 > UINT64_MAX - addr)
		return false;
	if (!add_item(st, (struct stored_item){ addr, (uint32_t)len, 0 }))
		return false;
	st->in_frame += len;
	open_frame(st)->bytes += (uint32_t)(len + n_blocks * RANGE_HEADER_LEN);
	return true;
}

bool rsp_frame_store_var(struct rsp_frame_store *st, uint32_t number, int64_t value)
{
	if (!add_item(st, (struct stored_item){ (uint64_t)value, 0, number }))
		return false;
	open_frame(st)->bytes += VAR_LEN;
	return true;
}

bool rsp_frame_store_close(struct rsp_frame_store *st, uint64_t *bytes)
{
	*bytes = open_frame(st)->bytes;
	st->frames.n_frames++;
	st->n_bytes += *bytes;
	while (st->is_circular && st->n_bytes > st->max_bytes && st->frames.n_frames > 1)
		drop_oldest(st);
	if (st->n_bytes <= st->max_bytes)
		return true;
	take_back(&st->by_pc);
	take_back(&st->by_number);
	st->n_items = (size_t)(open_frame(st)->item - st->first_item);
	st->n_stored--;
	st->frames.n_frames--;
	st->n_bytes -= *bytes;
	count(st);
	return false;
}
