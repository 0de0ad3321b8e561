/* SPDX-License-Identifier: MIT */
/*
 * See arena.h.  A list of blocks; pieces are taken from the newest one, a piece larger than a block gets one
 * of its own.
 */
#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_LEN 4096

struct ts_arena_block {
	struct ts_arena_block *next;
	size_t cap;
	alignas(max_align_t) uint8_t data[];
};

void ts_arena_fini(struct ts_arena *a)
{
	while (a->blocks) {
		struct ts_arena_block *b = a->blocks;

		a->blocks = b->next;
		free(b);
	}
	a->used = a->total = 0;
}

void *ts_arena_alloc(struct ts_arena *a, size_t len)
{
	size_t align = alignof(max_align_t);
	void *piece;

	if (len > SIZE_MAX / 2)
		return NULL;
	len = (len + align - 1) & ~(align - 1);
	if (!a->blocks || len > a->blocks->cap - a->used) {
		size_t cap = len > BLOCK_LEN ? len : BLOCK_LEN;
		struct ts_arena_block *b = calloc(1, sizeof(*b) + cap);

		if (!b)
			return NULL;
		b->cap = cap;
		b->next = a->blocks;
		a->blocks = b;
		a->used = 0;
		a->total += sizeof(*b) + cap;
	}
	piece = a->blocks->data + a->used;
	a->used += len;
	return piece;
}

char *ts_arena_text(struct ts_arena *a, const char *text, size_t len)
{
	char *copy = len < SIZE_MAX ? ts_arena_alloc(a, len + 1) : NULL;

	if (copy)
		memcpy(copy, text, len);
	return copy;
}
