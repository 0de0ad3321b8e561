/* SPDX-License-Identifier: MIT */
/*
 * The turns of threads: which thread runs at each step.
 *
 * A turn is a sequence of consecutive steps of one thread.  Turns are stored in blocks.  A block has two
 * columns: the lengths of its turns, and their threads.  A block has turns of one segment only, so that it is
 * written once, with its segment.  Each thread has a list of the blocks in which it begins a turn.
 */
#ifndef TS_TURNS_H
#define TS_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_index_arrays;
struct ts_index_blocks;
struct ts_index_file;

/* The most turns of a block.  Tests use fewer, to cross many boundaries. */
#ifndef TS_TURN_BLOCK
#define TS_TURN_BLOCK 1024u
#endif

/*
 * A block; it goes to index files.  Its bytes are the lengths of all its turns but the last one, then the threads of all.
 * The numbers of a column have the same width: a row has their first bytes, the lowest, the next row their second bytes.
 */
struct ts_turn_block {
	uint64_t pos; /* where its first turn begins */
	uint32_t at;  /* of its bytes, among those of the piece */
	uint16_t n;   /* turns, at least one */
	uint8_t len_width, thread_width; /* 1, 2, 4 or 8 bytes */
};

/* A block in which a thread begins a turn; it goes to index files. */
struct ts_turn_place {
	uint64_t n_before; /* steps of the thread before its first turn there */
	uint32_t block;
	uint32_t zero; /* no padding */
};

/* The turns of a thread. */
struct ts_thread_turns {
	struct ts_turn_place *places; /* in the order of blocks */
	uint32_t n;        /* 0: it never runs, and the positions below say nothing */
	size_t cap;
	uint64_t first;    /* where its first turn begins */
	uint64_t end;      /* where its last turn ends, UINT64_MAX if no other one follows */
	uint64_t n_steps;  /* of its turns that have ended, while they are added */
	uint64_t end_step; /* the first step that ended the thread since it ran last, UINT64_MAX if none did */
};

/* The blocks of a segment that has any. */
struct ts_turn_piece {
	struct ts_turn_block *blocks;
	uint8_t *bytes;
	size_t n, len, cap_blocks, cap_bytes;
	uint64_t end;                 /* its turns begin below */
	uint64_t first;               /* the number of its first block */
	struct ts_index_blocks *file; /* borrowed; where the arrays lie; NULL: they are owned */
};

/* The columns of a block, where they lie. */
struct ts_turn_columns {
	uint64_t pos; /* where its first turn begins */
	uint64_t end; /* all begin below */
	const uint8_t *lens, *threads;
	uint32_t n;
	uint32_t len_row, thread_row; /* numbers of a row */
	unsigned len_width, thread_width;
};

/* The last block, to which turns are added: its columns have the greatest widths. */
struct ts_open_turns {
	uint64_t pos;
	uint8_t lens[TS_TURN_BLOCK * sizeof(uint64_t)];
	uint8_t threads[TS_TURN_BLOCK * sizeof(uint32_t)];
	uint32_t n, max_thread;
	uint64_t max_len;
};

struct ts_turns {
	struct ts_thread_turns *threads; /* owned, by thread; their places are borrowed if is_in_file */
	uint32_t n_threads;
	bool is_in_file;
	struct ts_turn_piece *pieces; /* owned */
	size_t n_pieces, cap_pieces;
	uint64_t n_blocks;            /* of all pieces */
	struct ts_open_turns open;    /* the turns that follow, which become a block of the last piece */
	uint64_t last_pos;            /* of the last turn that was added */
	uint32_t last_thread;
	struct ts_index_blocks *places_file; /* borrowed; where the places lie; NULL: in memory */
};

void ts_turns_fini(struct ts_turns *s);

/* Is there no turn? */
bool ts_turns_are_empty(const struct ts_turns *s);

/* The bytes of memory that are in use. */
uint64_t ts_turns_mem(const struct ts_turns *s);

/*
 * Add a turn of @thread at @pos, which is above all positions so far; the first one is at 0.  Nothing changes if the
 * thread runs already.  Returns false if memory is exhausted.
 */
bool ts_turns_add(struct ts_turns *s, uint64_t pos, uint32_t thread);

/* If the index file is damaged, the functions below mark it so and return a meaningless number. */

/* The thread of step @pos, or of the last one.  There must be a step. */
uint32_t ts_turns_thread(const struct ts_turns *s, uint64_t pos);

/* Returns the first step after the turn of step @pos; UINT64_MAX if it is the last turn. */
uint64_t ts_turns_end(const struct ts_turns *s, uint64_t pos);

/* The first step >= @pos (the last one <= @pos) of the thread; UINT64_MAX if it has no such step. */
uint64_t ts_turns_next(const struct ts_turns *s, uint32_t thread, uint64_t pos);
uint64_t ts_turns_prev(const struct ts_turns *s, uint32_t thread, uint64_t pos);

/* The number of the thread's steps among the first @n_steps, at least one. */
uint64_t ts_turns_n_steps(const struct ts_turns *s, uint32_t thread, uint64_t n_steps);

/*
 * The columns of a block of a piece: valid until memory of index files is given back.  Returns false if they are damaged;
 * the file is then marked so.  The numbers in them are not checked.
 */
bool ts_turns_columns(const struct ts_turn_piece *piece, size_t i, struct ts_turn_columns *c);

/* Returns number @i of a column whose rows have @row bytes. */
static inline uint64_t ts_turn_number(const uint8_t *column, uint32_t i, uint32_t row, unsigned width)
{
	uint64_t v = 0;

	for (unsigned k = 0; k < width; k++)
		v |= (uint64_t)column[(size_t)k * row + i] << 8 * k;
	return v;
}

/* Returns the thread of turn @i of a block. */
static inline uint32_t ts_turn_thread(const struct ts_turn_columns *c, uint32_t i)
{
	return c->thread_width == 1 ? c->threads[i] : (uint32_t)ts_turn_number(c->threads, i, c->thread_row, c->thread_width);
}

/* Returns the length of turn @i of a block in steps; @i is not the last one. */
static inline uint64_t ts_turn_len(const struct ts_turn_columns *c, uint32_t i)
{
	return c->len_width == 1 ? c->lens[i] : ts_turn_number(c->lens, i, c->len_row, c->len_width);
}

/*
 * End the block that is not full.  Returns false if memory is exhausted.
 */
bool ts_turns_end_block(struct ts_turns *s);

/* ------------------------------------------------------------------------------------ index files: turns_file.c */

/* Save the turns that begin at steps [@from, @end), which are those of a segment.  No such turn may be added later. */
void ts_turns_save(struct ts_turns *s, uint64_t from, uint64_t end, struct ts_index_file *f);

/* Save what is known of each thread: an array that is read when the file is opened, and one that is not. */
void ts_turns_save_threads(const struct ts_turns *s, struct ts_index_file *f);
void ts_turns_save_places(const struct ts_turns *s, struct ts_index_file *f);

/*
 * The blocks of a segment that ends at @end, as ts_turns_save() has put them.  They stay in the file, and are checked
 * when they are used.  Returns false if the arrays are invalid.
 */
bool ts_turns_take(struct ts_turn_piece *piece, struct ts_index_arrays *a, uint64_t end);

/* Add such a piece to turns that are to be read from a file.  Returns false if memory is exhausted. */
bool ts_turns_use(struct ts_turns *s, const struct ts_turn_piece *piece);

/*
 * Take the threads, of which there are at most @n_threads, then their places, of turns whose pieces were all
 * added.
 *
 * Return false if the arrays are invalid.
 * Return false if memory is exhausted.
 */
bool ts_turns_take_threads(struct ts_turns *s, struct ts_index_arrays *a, uint32_t n_threads);
bool ts_turns_take_places(struct ts_turns *s, struct ts_index_arrays *a);

#endif
