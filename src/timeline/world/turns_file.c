/* SPDX-License-Identifier: MIT */
/*
 * Turns to index files and back: the blocks of a segment with its journal, the threads with the world after all steps.
 */
#include <stdlib.h>

#include "src/base/collections/buf.h"
#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"
#include "turns.h"

struct saved_thread {
	uint64_t first, end, end_step; /* as in struct ts_thread_turns */
	uint32_t n;                    /* its places */
	uint32_t zero;
};

/* ------------------------------------------------------------------------------------------------ saving */

void ts_turns_save(struct ts_turns *s, uint64_t from, uint64_t end, struct ts_index_file *f)
{
	static const struct ts_turn_piece none;
	const struct ts_turn_piece *piece = s->n_pieces ? &s->pieces[s->n_pieces - 1] : &none;

	if (s->n_pieces && !ts_turns_end_block(s))
		ts_index_fail(f);
	if (!piece->n || piece->blocks[0].pos < from || piece->blocks[0].pos >= end)
		piece = &none;
	ts_index_put_packed(f, piece->blocks, piece->n, sizeof(*piece->blocks));
	ts_index_put_packed(f, piece->bytes, piece->len, 1);
}

void ts_turns_save_threads(const struct ts_turns *s, struct ts_index_file *f)
{
	struct ts_buf b;

	ts_buf_init(&b);
	for (uint32_t i = 0; i < s->n_threads; i++) {
		const struct ts_thread_turns *t = &s->threads[i];
		struct saved_thread saved = { t->first, t->end, t->end_step, t->n, 0 };

		ts_buf_put(&b, &saved, sizeof(saved));
	}
	ts_index_put_buf(f, &b);
	ts_buf_fini(&b);
}

void ts_turns_save_places(const struct ts_turns *s, struct ts_index_file *f)
{
	struct ts_buf b;

	ts_buf_init(&b);
	for (uint32_t i = 0; i < s->n_threads; i++)
		ts_buf_put(&b, s->threads[i].places, s->threads[i].n * sizeof(*s->threads[i].places));
	ts_index_put_packed(f, b.data, b.len / sizeof(struct ts_turn_place), sizeof(struct ts_turn_place));
	if (!ts_buf_ok(&b))
		ts_index_fail(f);
	ts_buf_fini(&b);
}

/* ------------------------------------------------------------------------------------------------ loading */

bool ts_turns_take(struct ts_turn_piece *piece, struct ts_index_arrays *a, uint64_t end)
{
	*piece = (struct ts_turn_piece){ .end = end, .file = a->blocks };
	piece->blocks = ts_index_take_unread(a, sizeof(*piece->blocks), &piece->n);
	piece->bytes = ts_index_take_unread(a, 1, &piece->len);
	return !a->is_bad && piece->n <= UINT32_MAX;
}

bool ts_turns_use(struct ts_turns *s, const struct ts_turn_piece *piece)
{
	s->is_in_file = true;
	if (!piece->n)
		return true;
	if (!TS_PUSH(s->pieces, s->n_pieces, s->cap_pieces, *piece))
		return false;
	s->pieces[s->n_pieces - 1].first = s->n_blocks;
	s->n_blocks += piece->n;
	return true;
}

bool ts_turns_take_threads(struct ts_turns *s, struct ts_index_arrays *a, uint32_t n_threads)
{
	size_t n, room = 0;
	const struct saved_thread *saved = ts_index_take(a, sizeof(*saved), &n);

	if (!saved || n > n_threads || !s->n_blocks)
		return false;
	free(s->threads);
	s->threads = NULL;
	s->n_threads = ts_vec_extend(&s->threads, &room, n, sizeof(*s->threads)) ? (uint32_t)n : 0;
	for (uint32_t i = 0; i < s->n_threads; i++) {
		s->threads[i].first = saved[i].first;
		s->threads[i].end = saved[i].end;
		s->threads[i].end_step = saved[i].end_step;
		s->threads[i].n = saved[i].n;
		if (saved[i].n && saved[i].first >= saved[i].end)
			return false;
	}
	return s->threads;
}

bool ts_turns_take_places(struct ts_turns *s, struct ts_index_arrays *a)
{
	size_t n;
	struct ts_turn_place *places = ts_index_take_unread(a, sizeof(*places), &n);

	if (!places)
		return false;
	s->places_file = a->blocks;
	for (uint32_t i = 0; i < s->n_threads; i++) {
		if (s->threads[i].n > n)
			return false;
		s->threads[i].places = places;
		places += s->threads[i].n;
		n -= s->threads[i].n;
	}
	return !n;
}
