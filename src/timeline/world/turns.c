/* SPDX-License-Identifier: MIT */
#include "turns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"
#include "src/trace/chunk.h"

#define SEGMENT_STEPS ((uint64_t)TS_SEGMENT_CHUNKS * TS_CHUNK_STEPS)

_Static_assert(TS_TURN_BLOCK <= UINT16_MAX, "struct ts_turn_block has the number");
_Static_assert(sizeof(struct ts_turn_block) == 16 && sizeof(struct ts_turn_place) == 16, "no padding in files");

void ts_turns_fini(struct ts_turns *s)
{
	for (uint32_t i = 0; !s->is_in_file && i < s->n_threads; i++)
		free(s->threads[i].places);
	for (size_t i = 0; i < s->n_pieces; i++) {
		if (s->pieces[i].file)
			continue;
		free(s->pieces[i].blocks);
		free(s->pieces[i].bytes);
	}
	free(s->threads);
	free(s->pieces);
	memset(s, 0, sizeof(*s));
}

bool ts_turns_are_empty(const struct ts_turns *s)
{
	return !s->n_blocks && !s->open.n;
}

uint64_t ts_turns_mem(const struct ts_turns *s)
{
	uint64_t sum = s->n_threads * sizeof(*s->threads) + s->cap_pieces * sizeof(*s->pieces);

	for (uint32_t i = 0; i < s->n_threads; i++)
		sum += s->threads[i].cap * sizeof(*s->threads[i].places);
	for (size_t i = 0; i < s->n_pieces; i++)
		sum += s->pieces[i].cap_blocks * sizeof(*s->pieces[i].blocks) + s->pieces[i].cap_bytes;
	return sum;
}

/* ------------------------------------------------------------------------------------------------ columns */

/* The least width for numbers up to @max. */
static unsigned width_of(uint64_t max)
{
	return max <= UINT8_MAX ? 1 : max <= UINT16_MAX ? 2 : max <= UINT32_MAX ? 4 : 8;
}

static void put(uint8_t *column, uint32_t i, uint32_t row, uint64_t v, unsigned width)
{
	for (unsigned k = 0; k < width; k++)
		column[(size_t)k * row + i] = (uint8_t)(v >> 8 * k);
}

static bool is_width(unsigned width, unsigned most)
{
	return width && width <= most && !(width & (width - 1));
}

static size_t bytes_of(const struct ts_turn_block *b)
{
	return (size_t)(b->n - 1) * b->len_width + (size_t)b->n * b->thread_width;
}

bool ts_turns_columns(const struct ts_turn_piece *piece, size_t i, struct ts_turn_columns *c)
{
	const struct ts_turn_block *b = &piece->blocks[i];

	if (!ts_index_blocks_use(piece->file, b, sizeof(*b)))
		return false;
	if (!b->n || b->n > TS_TURN_BLOCK || !is_width(b->len_width, 8) || !is_width(b->thread_width, 4) ||
	    b->at > piece->len || bytes_of(b) > piece->len - b->at || b->pos >= piece->end) {
		ts_index_blocks_note_damage(piece->file);
		return false;
	}
	*c = (struct ts_turn_columns){
		.pos = b->pos,
		.end = piece->end,
		.lens = piece->bytes + b->at,
		.threads = piece->bytes + b->at + (size_t)(b->n - 1) * b->len_width,
		.n = b->n,
		.len_row = b->n - 1u,
		.thread_row = b->n,
		.len_width = b->len_width,
		.thread_width = b->thread_width,
	};
	return ts_index_blocks_use(piece->file, c->lens, bytes_of(b));
}

/* ------------------------------------------------------------------------------------------------ adding */

static bool add_piece(struct ts_turns *s, uint64_t pos)
{
	return TS_PUSH(s->pieces, s->n_pieces, s->cap_pieces, (struct ts_turn_piece){
		.first = s->n_blocks,
		.end = (pos / SEGMENT_STEPS + 1) * SEGMENT_STEPS,
	});
}

static struct ts_turn_columns open_columns(const struct ts_turns *s)
{
	return (struct ts_turn_columns){
		.pos = s->open.pos,
		.end = UINT64_MAX,
		.lens = s->open.lens,
		.threads = s->open.threads,
		.n = s->open.n,
		.len_row = TS_TURN_BLOCK,
		.thread_row = TS_TURN_BLOCK,
		.len_width = sizeof(uint64_t),
		.thread_width = sizeof(uint32_t),
	};
}

bool ts_turns_end_block(struct ts_turns *s)
{
	struct ts_turn_piece *piece = &s->pieces[s->n_pieces - 1];
	struct ts_turn_columns open = open_columns(s);
	struct ts_turn_block b = {
		.pos = open.pos,
		.at = (uint32_t)piece->len,
		.n = (uint16_t)open.n,
		.len_width = (uint8_t)width_of(s->open.max_len),
		.thread_width = (uint8_t)width_of(s->open.max_thread),
	};
	uint8_t *p;

	if (!open.n)
		return true;
	if (!ts_vec_reserve(&piece->blocks, piece->n, &piece->cap_blocks, 1, sizeof(b)) ||
	    !ts_vec_reserve(&piece->bytes, piece->len, &piece->cap_bytes, bytes_of(&b), 1))
		return false;
	p = piece->bytes + piece->len;
	for (uint32_t i = 0; i + 1 < open.n; i++)
		put(p, i, open.n - 1, ts_turn_len(&open, i), b.len_width);
	p += (size_t)(open.n - 1) * b.len_width;
	for (uint32_t i = 0; i < open.n; i++)
		put(p, i, open.n, ts_turn_thread(&open, i), b.thread_width);
	piece->blocks[piece->n++] = b;
	piece->len += bytes_of(&b);
	s->n_blocks++;
	s->open.n = 0;
	return true;
}

static struct ts_thread_turns *thread_at(struct ts_turns *s, uint32_t thread)
{
	size_t n = s->n_threads;

	if (thread >= n) {
		if (!ts_vec_extend(&s->threads, &n, thread, sizeof(*s->threads)))
			return NULL;
		for (; s->n_threads < n; s->n_threads++)
			s->threads[s->n_threads].end_step = UINT64_MAX;
	}
	return &s->threads[thread];
}

/* The thread begins a turn in the open block. */
static bool add_place(struct ts_turns *s, struct ts_thread_turns *t)
{
	if (t->n && t->places[t->n - 1].block == s->n_blocks)
		return true;
	return s->n_blocks < UINT32_MAX && t->n < UINT32_MAX &&
	       TS_PUSH(t->places, t->n, t->cap, (struct ts_turn_place){ t->n_steps, (uint32_t)s->n_blocks, 0 });
}

/* Have a block that is not full, in the piece of the segment of @pos. */
static bool make_room(struct ts_turns *s, uint64_t pos)
{
	bool has_piece = s->n_pieces && pos < s->pieces[s->n_pieces - 1].end;

	if ((!has_piece || s->open.n == TS_TURN_BLOCK) && s->n_pieces && !ts_turns_end_block(s))
		return false;
	return has_piece || add_piece(s, pos);
}

static void append(struct ts_open_turns *open, uint64_t pos, uint32_t thread)
{
	if (!open->n) {
		open->pos = pos;
		open->max_len = open->max_thread = 0;
	}
	if (thread > open->max_thread)
		open->max_thread = thread;
	put(open->threads, open->n++, TS_TURN_BLOCK, thread, sizeof(thread));
}

/* The last turn ends at @pos. */
static void end_turn(struct ts_turns *s, uint64_t pos)
{
	struct ts_thread_turns *last = &s->threads[s->last_thread];
	uint64_t len = pos - s->last_pos;

	last->end = pos;
	last->n_steps += len;
	if (!s->open.n)
		return; /* it is the last one of its block, which has no length of it */
	put(s->open.lens, s->open.n - 1, TS_TURN_BLOCK, len, sizeof(len));
	if (s->open.n < TS_TURN_BLOCK && len > s->open.max_len)
		s->open.max_len = len;
}

bool ts_turns_add(struct ts_turns *s, uint64_t pos, uint32_t thread)
{
	bool is_first = ts_turns_are_empty(s);
	struct ts_thread_turns *t;

	if (!is_first && s->last_thread == thread)
		return true;
	t = thread_at(s, thread);
	if (!t || !make_room(s, pos) || !add_place(s, t))
		return false;
	if (!is_first)
		end_turn(s, pos);
	if (t->n == 1 && !t->n_steps)
		t->first = pos;
	t->end = UINT64_MAX;
	append(&s->open, pos, thread);
	s->last_pos = pos;
	s->last_thread = thread;
	return true;
}

/* ------------------------------------------------------------------------------------------------ finding */

/* A block, and one of its turns. */
struct view {
	struct ts_turn_columns c;
	uint64_t block;
	uint32_t k;   /* the turn */
	uint64_t pos; /* where it begins */
};

/* The piece that has the block, which is not the open one. */
static const struct ts_turn_piece *piece_of(const struct ts_turns *s, uint64_t block)
{
	size_t at = 1;

	TS_BISECT(at, s->n_pieces, i, s->pieces[i].first <= block);
	return &s->pieces[at - 1];
}

static void note_damage(const struct ts_turns *s, uint64_t block)
{
	if (block < s->n_blocks)
		ts_index_blocks_note_damage(piece_of(s, block)->file);
}

static bool exists(const struct ts_turns *s, uint64_t block)
{
	return block < s->n_blocks || (block == s->n_blocks && s->open.n);
}

/* Where the block begins, which exists; UINT64_MAX if its head is damaged. */
static uint64_t begin_of(const struct ts_turns *s, uint64_t block)
{
	const struct ts_turn_piece *piece;
	const struct ts_turn_block *b;

	if (block == s->n_blocks)
		return s->open.pos;
	piece = piece_of(s, block);
	b = &piece->blocks[block - piece->first];
	return ts_index_blocks_use(piece->file, b, sizeof(*b)) ? b->pos : UINT64_MAX;
}

/* The number of the block in which step @pos lies, by the beginnings of blocks. */
static uint64_t block_of(const struct ts_turns *s, uint64_t pos)
{
	uint64_t lo, end = s->n_blocks + (s->open.n != 0);
	size_t at = 0;

	/* the first piece that may have a turn after @pos; those of the one before begin below it */
	TS_BISECT(at, s->n_pieces, i, s->pieces[i].end <= pos);
	lo = at < s->n_pieces ? s->pieces[at].first : end;
	end = at + 1 < s->n_pieces ? s->pieces[at + 1].first : end;
	TS_BISECT(lo, end, i, begin_of(s, i) <= pos);
	return lo ? lo - 1 : 0;
}

/* See the first turn of the block.  Returns false if the file is damaged. */
static bool view(const struct ts_turns *s, uint64_t block, struct view *v)
{
	const struct ts_turn_piece *piece;

	v->block = block;
	v->k = 0;
	if (block == s->n_blocks) {
		v->c = open_columns(s);
	} else {
		piece = piece_of(s, block);
		if (!ts_turns_columns(piece, (size_t)(block - piece->first), &v->c))
			return false;
	}
	v->pos = v->c.pos;
	return true;
}

#define GROUP 16u /* turns whose lengths are added at once */

/* Returns the sum of GROUP bytes. */
static inline uint64_t sum_of_bytes(const uint8_t *p)
{
#ifdef __SSE2__
	const __m128i sums = _mm_sad_epu8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_setzero_si128());

	return (uint64_t)_mm_cvtsi128_si32(sums) + (uint64_t)_mm_extract_epi16(sums, 4);
#else
	const uint64_t even = UINT64_C(0x00ff00ff00ff00ff);
	uint64_t x[2];

	memcpy(x, p, sizeof(x));
	x[0] = (x[0] & even) + (x[0] >> 8 & even) + (x[1] & even) + (x[1] >> 8 & even);
	return x[0] * UINT64_C(0x0001000100010001) >> 48;
#endif
}

/* Returns the steps of the GROUP turns from @k on, which the column has; UINT64_MAX if they may be more than fit. */
static inline uint64_t group_len(const struct ts_turn_columns *c, uint32_t k, unsigned width)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < width; i++) {
		uint64_t row = sum_of_bytes(c->lens + (size_t)i * c->len_row + k);

		if (i == 7 && row)
			return UINT64_MAX;
		sum += row << 8 * i;
	}
	return sum;
}

/* Go to the last turn that begins at @pos or before, and not after turn @max. */
static inline void advance(struct view *v, uint64_t pos, uint32_t max, unsigned width)
{
	uint64_t at = v->pos;
	uint32_t k = v->k;

	while (k + GROUP <= max) {
		uint64_t len = group_len(&v->c, k, width);

		if (len >= pos - at)
			break;
		at += len;
		k += GROUP;
	}
	for (; k < max; k++) {
		uint64_t len = ts_turn_number(v->c.lens, k, v->c.len_row, width);

		if (len > pos - at)
			break;
		at += len;
	}
	v->k = k;
	v->pos = at;
}

/* Returns false if a file is damaged: the block has no turns that begin there. */
static bool go(const struct ts_turns *s, struct view *v, uint64_t pos, uint32_t max)
{
	if (pos >= v->pos) {
		switch (v->c.len_width) { /* constants: a fraction of the time */
		case 1: advance(v, pos, max, 1); break;
		case 2: advance(v, pos, max, 2); break;
		default: advance(v, pos, max, v->c.len_width); break;
		}
		if (v->pos < v->c.end)
			return true;
	}
	note_damage(s, v->block);
	return false;
}

/* Go to turn @k of the block, which has it. */
static bool go_to_turn(const struct ts_turns *s, struct view *v, uint32_t k)
{
	if (!go(s, v, UINT64_MAX, k))
		return false;
	if (v->k == k)
		return true;
	note_damage(s, v->block);
	return false;
}

/* See the turn of step @pos. */
static bool find(const struct ts_turns *s, uint64_t pos, struct view *v)
{
	assert(!ts_turns_are_empty(s));
	return view(s, block_of(s, pos), v) && go(s, v, pos, v->c.n - 1);
}

/* Where the turn ends; UINT64_MAX if it is the last one. */
static uint64_t end_of(const struct ts_turns *s, const struct view *v)
{
	uint64_t end = UINT64_MAX;

	if (v->k + 1 < v->c.n)
		end = v->pos + ts_turn_len(&v->c, v->k);
	else if (exists(s, v->block + 1))
		end = begin_of(s, v->block + 1);
	if (end > v->pos)
		return end;
	note_damage(s, v->block);
	return UINT64_MAX;
}

uint32_t ts_turns_thread(const struct ts_turns *s, uint64_t pos)
{
	struct view v = { 0 };
	uint32_t thread = s->n_threads != 1 && find(s, pos, &v) ? ts_turn_thread(&v.c, v.k) : 0;

	if (thread < s->n_threads)
		return thread;
	note_damage(s, v.block);
	return 0;
}

uint64_t ts_turns_end(const struct ts_turns *s, uint64_t pos)
{
	struct view v;

	return find(s, pos, &v) ? end_of(s, &v) : UINT64_MAX;
}

/* ------------------------------------------------------------------------------------------------ one thread */

/* A place; of one that is damaged the block is the first one. */
static struct ts_turn_place place_at(const struct ts_turns *s, const struct ts_thread_turns *t, uint32_t i)
{
	const struct ts_turn_place *p = &t->places[i];

	if (!s->is_in_file)
		return *p;
	if (!ts_index_blocks_use(s->places_file, p, sizeof(*p)))
		return (struct ts_turn_place){ 0 };
	if (p->block < s->n_blocks)
		return *p;
	ts_index_blocks_note_damage(s->places_file);
	return (struct ts_turn_place){ 0 };
}

/* How many of the thread's places are before the block. */
static uint32_t places_below(const struct ts_turns *s, const struct ts_thread_turns *t, uint64_t block)
{
	uint32_t at = 0;

	TS_BISECT(at, t->n, i, place_at(s, t, i).block < block);
	return at;
}

/* The first turn of the thread from @k on; the number of turns if none is found. */
static uint32_t first_of(const struct ts_turn_columns *c, uint32_t thread, uint32_t k)
{
	while (k < c->n && ts_turn_thread(c, k) != thread)
		k++;
	return k;
}

/* The number after the last of the first @n turns that is the thread's; 0 if none is. */
static uint32_t after_last_of(const struct ts_turn_columns *c, uint32_t thread, uint32_t n)
{
	while (n && ts_turn_thread(c, n - 1) != thread)
		n--;
	return n;
}

uint64_t ts_turns_next(const struct ts_turns *s, uint32_t thread, uint64_t pos)
{
	const struct ts_thread_turns *t = &s->threads[thread];
	struct view v;
	uint32_t k, i;

	if (!find(s, pos, &v))
		return UINT64_MAX;
	if (ts_turn_thread(&v.c, v.k) == thread)
		return pos;
	k = first_of(&v.c, thread, v.k);
	if (k < v.c.n)
		return go_to_turn(s, &v, k) ? v.pos : UINT64_MAX;
	i = places_below(s, t, v.block + 1);
	if (i == t->n || !view(s, place_at(s, t, i).block, &v))
		return UINT64_MAX;
	k = first_of(&v.c, thread, 0);
	if (k < v.c.n && go_to_turn(s, &v, k) && v.pos > pos)
		return v.pos;
	note_damage(s, v.block);
	return UINT64_MAX;
}

uint64_t ts_turns_prev(const struct ts_turns *s, uint32_t thread, uint64_t pos)
{
	const struct ts_thread_turns *t = &s->threads[thread];
	struct view v;
	uint64_t end;
	uint32_t n, i;

	if (!find(s, pos, &v))
		return UINT64_MAX;
	if (ts_turn_thread(&v.c, v.k) == thread)
		return pos;
	n = after_last_of(&v.c, thread, v.k);
	if (!n) {
		i = places_below(s, t, v.block);
		if (!i || !view(s, place_at(s, t, i - 1).block, &v))
			return UINT64_MAX;
		n = after_last_of(&v.c, thread, v.c.n);
	} else {
		v.k = 0;
		v.pos = v.c.pos;
	}
	end = n && go_to_turn(s, &v, n - 1) ? end_of(s, &v) : UINT64_MAX;
	if (end <= pos)
		return end - 1;
	note_damage(s, v.block);
	return UINT64_MAX;
}

uint64_t ts_turns_n_steps(const struct ts_turns *s, uint32_t thread, uint64_t n_steps)
{
	const struct ts_thread_turns *t = &s->threads[thread];
	uint32_t i = places_below(s, t, block_of(s, n_steps - 1) + 1);
	struct ts_turn_place place;
	struct view v;
	uint64_t sum;

	if (!i)
		return 0;
	place = place_at(s, t, i - 1);
	if (!view(s, place.block, &v))
		return 0;
	sum = place.n_before;
	for (uint32_t k = first_of(&v.c, thread, 0); k < v.c.n; k = first_of(&v.c, thread, k + 1)) {
		uint64_t end;

		if (!go_to_turn(s, &v, k))
			return 0;
		if (v.pos >= n_steps)
			break;
		end = end_of(s, &v);
		sum += (end < n_steps ? end : n_steps) - v.pos;
	}
	return sum;
}
