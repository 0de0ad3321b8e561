/* SPDX-License-Identifier: MIT */
/*
 * The set of texts at addresses, each with the step at which it was first seen.
 *
 * A text that is a prefix of another one shares its characters.
 */
#ifndef TS_ASK_TEXTS_H
#define TS_ASK_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/hash_table.h"

#define TS_NO_ROOT UINT32_MAX

/* A text at an address. */
struct ts_text {
	uint64_t addr;
	uint64_t pos;       /* the first step that wrote or read one of its bytes while it was there */
	uint64_t hash;      /* of its address and its characters */
	size_t off;         /* of its characters */
	/* ordinal of the text of which it is a prefix, and whose characters it shares; or its own ordinal */
	uint32_t root;
	uint32_t n;         /* characters */
	bool is_wide;       /* UTF-16LE */
	bool is_read;       /* that step read it */
	bool is_hidden;     /* it was only a prefix while its root was written */
	bool is_old;        /* it was seen before the part of the question */
};

struct ts_texts {
	struct ts_text *items; /* owned */
	size_t n, cap;
	struct ts_hash_table by_text;
	struct ts_buf chars;
	bool is_failed;        /* memory was exhausted */
};

void ts_texts_init(struct ts_texts *x);
void ts_texts_fini(struct ts_texts *x);

/* The hash of an empty text at @addr; of a text with hash @hash and @n more characters. */
uint64_t ts_text_hash(uint64_t addr);
uint64_t ts_text_hash_more(uint64_t hash, const char *chars, size_t n);

/* Returns the characters of @t, not terminated, borrowed until the next addition. */
static inline const char *ts_text_chars(const struct ts_texts *x, const struct ts_text *t)
{
	return (const char *)x->chars.data + t->off;
}

/* Returns the index of @t in x->items. */
static inline uint32_t ts_text_ordinal(const struct ts_texts *x, const struct ts_text *t)
{
	return (uint32_t)(t - x->items);
}

/*
 * The text equal to @new, whose characters are @chars; NULL if the set does not have it.  Borrowed until the
 * next addition.
 */
struct ts_text *ts_texts_find(struct ts_texts *x, const char *chars, const struct ts_text *new);

/*
 * Add a text that is not in the set.  Its characters are copied if it has no root.
 *
 * Returns the text, borrowed as from ts_texts_find().
 * Returns NULL if memory is exhausted.
 */
struct ts_text *ts_texts_add(struct ts_texts *x, const char *chars, const struct ts_text *new);

#endif
