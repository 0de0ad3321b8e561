/* SPDX-License-Identifier: MIT */
#include "event_list.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/buf.h"
#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"

void ts_event_list_fini(struct ts_event_list *list)
{
	for (size_t i = 0; i < list->n_pieces; i++) {
		if (!list->pieces[i].file)
			free((void *)list->pieces[i].items);
	}
	free(list->pieces);
	free(list->items);
	*list = (struct ts_event_list){ 0 };
}

/* ------------------------------------------------------------------------------------------- one event */

void ts_event_clean(struct ts_event *to, const struct ts_event *from)
{
	memset(to, 0, sizeof(*to));
	to->kind = from->kind;
	to->number = from->number;
	to->addr = from->addr;
	to->ret = from->ret;
	memcpy(to->args, from->args, sizeof(to->args));
	to->n_args = from->n_args;
	to->has_ret = from->has_ret;
	to->has_addr = from->has_addr;
	to->is_after = from->is_after;
	memcpy(to->text, from->text, strnlen(from->text, sizeof(to->text) - 1));
}

/* Another value than these must not even be read as a bool. */
static bool is_bool(const uint8_t *p)
{
	return *p <= 1;
}

bool ts_event_is_valid(const uint8_t *p)
{
	uint32_t kind;

	memcpy(&kind, p + offsetof(struct ts_event, kind), sizeof(kind));
	return kind < TS_N_EVENT_KINDS && is_bool(p + offsetof(struct ts_event, has_ret)) &&
	       is_bool(p + offsetof(struct ts_event, has_addr)) &&
	       is_bool(p + offsetof(struct ts_event, is_after)) &&
	       p[offsetof(struct ts_event, n_args)] <= TS_MAX_SYSCALL_ARGS &&
	       memchr(p + offsetof(struct ts_event, text), '\0', sizeof(((struct ts_event *)0)->text));
}

/* ------------------------------------------------------------------------------------------ the list */

bool ts_event_list_add(struct ts_event_list *list, uint64_t step, uint32_t thread, const struct ts_event *ev)
{
	if (!ts_vec_reserve(&list->items, list->n_items, &list->cap_items, 1, sizeof(*list->items)))
		return false;
	/* no padding: they go to index files */
	memset(&list->items[list->n_items], 0, sizeof(*list->items));
	list->items[list->n_items].step = step;
	list->items[list->n_items].thread = thread;
	ts_event_clean(&list->items[list->n_items].event, ev);
	list->n_items++;
	list->n++;
	return true;
}

uint64_t ts_event_list_mem(const struct ts_event_list *list)
{
	uint64_t sum = list->cap_pieces * sizeof(*list->pieces) + list->cap_items * sizeof(*list->items);

	for (size_t i = 0; i < list->n_pieces; i++)
		sum += list->pieces[i].file ? 0 : list->pieces[i].n * sizeof(*list->items);
	return sum;
}

/* The items that follow the pieces, as one. */
static struct ts_event_piece tail_of(const struct ts_event_list *list)
{
	return (struct ts_event_piece){ .items = list->items, .n = list->n_items,
					.first = list->n - list->n_items };
}

static uint64_t step_of(const struct ts_event_piece *piece, size_t i)
{
	ts_index_blocks_use(piece->file, &piece->items[i].step, sizeof(piece->items[i].step));
	return piece->items[i].step;
}

static size_t below_in(const struct ts_event_piece *piece, uint64_t step)
{
	size_t at = 0;

	TS_BISECT(at, piece->n, i, step_of(piece, i) < step);
	return at;
}

uint64_t ts_event_list_below(const struct ts_event_list *list, uint64_t step)
{
	size_t lo = 0;
	struct ts_event_piece piece;

	/* the first piece that may have one at @step */
	TS_BISECT(lo, list->n_pieces, i, list->pieces[i].end_step <= step);
	piece = lo < list->n_pieces ? list->pieces[lo] : tail_of(list);
	return piece.first + below_in(&piece, step);
}

/* The piece in which event @i lies. */
static struct ts_event_piece piece_of(const struct ts_event_list *list, uint64_t i)
{
	size_t at = 1;

	if (i >= list->n - list->n_items)
		return tail_of(list);
	TS_BISECT(at, list->n_pieces, k, list->pieces[k].first <= i);
	return list->pieces[at - 1];
}

static bool is_good(const struct ts_event_piece *piece, const struct ts_event_at *h)
{
	return ts_event_is_valid((const uint8_t *)&h->event) && h->step < piece->end_step &&
	       h->thread < piece->n_threads;
}

const struct ts_event_at *ts_event_list_at(const struct ts_event_list *list, uint64_t i)
{
	static const struct ts_event_at nothing;
	struct ts_event_piece piece = piece_of(list, i);
	const struct ts_event_at *h = piece.items + (i - piece.first);

	if (!piece.file)
		return h;
	if (!ts_index_blocks_use(piece.file, h, sizeof(*h)))
		return &nothing;
	if (is_good(&piece, h))
		return h;
	ts_index_blocks_note_damage(piece.file);
	return &nothing;
}

/* --------------------------------------------------------------------------------------- index files */

static bool add_piece(struct ts_event_list *list, const struct ts_event_piece *piece)
{
	return TS_PUSH(list->pieces, list->n_pieces, list->cap_pieces, *piece);
}

bool ts_event_list_begin(struct ts_event_list *list)
{
	struct ts_event_piece piece = tail_of(list);

	piece.end_step = 1;
	if (!list->n_items)
		return true;
	if (!add_piece(list, &piece))
		return false;
	list->items = NULL;
	list->n_items = list->cap_items = 0;
	return true;
}

void ts_event_list_save(const struct ts_event_list *list, struct ts_index_file *f)
{
	ts_index_put_unread(f, list->items, list->n_items, sizeof(*list->items));
}

void ts_event_list_save_all(const struct ts_event_list *list, struct ts_index_file *f)
{
	struct ts_buf b;

	ts_buf_init(&b);
	for (uint64_t i = 0; i < list->n; i++)
		ts_buf_put(&b, ts_event_list_at(list, i), sizeof(*list->items));
	ts_index_put_unread(f, b.data, b.len / sizeof(*list->items), sizeof(*list->items));
	if (!ts_buf_ok(&b))
		ts_index_fail(f);
	ts_buf_fini(&b);
}

bool ts_event_list_load(struct ts_event_list *list, struct ts_index_arrays *a, uint64_t end_step,
			uint32_t n_threads)
{
	struct ts_event_piece piece = { .first = list->n - list->n_items, .end_step = end_step,
					.n_threads = n_threads, .file = a->blocks };

	piece.items = ts_index_take_unread(a, sizeof(*piece.items), &piece.n);
	if (!piece.items || (piece.n && !add_piece(list, &piece)))
		return false;
	list->n = piece.first + piece.n;
	list->n_items = 0;
	return true;
}
