/* SPDX-License-Identifier: MIT */
/*
 * Texts at addresses, each once: which there were, and where each was first seen.
 *
 * Texts that are beginnings of another one share its characters.
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
	uint64_t pos;       /* the first step that wrote or read one of its bytes when it stood there */
	uint64_t hash;      /* of its address and its characters */
	size_t off;         /* of its characters */
	/* ordinal of the text of which it is the beginning, and whose characters it shares; or its own */
	uint32_t root;
	uint32_t n;         /* characters */
	bool is_wide;       /* UTF-16LE */
	bool is_read;       /* that step read it */
	bool is_hidden;     /* it was only a beginning, on the way to its root */
	bool is_old;        /* it was seen before the part that is asked about */
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

/* The hash of no characters at @addr; and of @n more. */
uint64_t ts_text_hash(uint64_t addr);
uint64_t ts_text_hash_more(uint64_t hash, const char *chars, size_t n);

static inline const char *ts_text_chars(const struct ts_texts *x, const struct ts_text *t)
{
	return (const char *)x->chars.data + t->off;
}

static inline uint32_t ts_text_ordinal(const struct ts_texts *x, const struct ts_text *t)
{
	return (uint32_t)(t - x->items);
}

/* The text like @new, whose characters are @chars; NULL if there is none.  Borrowed until the next one is added. */
struct ts_text *ts_texts_find(struct ts_texts *x, const char *chars, const struct ts_text *new);

/*
 * Add a text that is not there; without a root it gets characters of its own.  Returns it, as ts_texts_find(); NULL
 * if memory is exhausted.
 */
struct ts_text *ts_texts_add(struct ts_texts *x, const char *chars, const struct ts_text *new);

#endif
