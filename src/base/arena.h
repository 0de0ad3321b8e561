/* SPDX-License-Identifier: MIT */
/*
 * Memory that is freed as a whole: many small pieces with one owner and one lifetime.
 *
 * Pieces never move and are not freed singly, so they may point at each other.
 */
#ifndef TS_ARENA_H
#define TS_ARENA_H

#include <stddef.h>

struct ts_arena_block;

struct ts_arena {
	struct ts_arena_block *blocks; /* owned; newest first */
	size_t used;                   /* bytes of the newest block */
	size_t total;                  /* bytes of all blocks */
};

/* An arena of all zero bytes is empty and ready for use. */

/* Free everything; the arena is empty afterwards. */
void ts_arena_fini(struct ts_arena *a);

/*
 * @len bytes, all zero, aligned for any type; valid until ts_arena_fini().
 *
 * Returns NULL if memory is exhausted.
 */
void *ts_arena_alloc(struct ts_arena *a, size_t len);

/* Returns a terminated copy of the @len bytes at @text, owned by the arena; NULL if memory is exhausted. */
char *ts_arena_text(struct ts_arena *a, const char *text, size_t len);

#endif
