/* SPDX-License-Identifier: MIT */
#include "load_base.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/bytes.h"
#include "src/base/collections/vec.h"

#define PAGE_LEN UINT64_C(0x1000)
#define IN_PAGE (PAGE_LEN - 1)

/* No more of a segment is compared. */
#define MAX_CODE (UINT64_C(256) << 20)

/* A sample of fewer bytes occurs at too many places. */
#define MIN_SAMPLE 8u

/* At most this many places are counted; a file of equal bytes would fit everywhere. */
#define MAX_VOTES ((size_t)1 << 20)

/* The bytes of one executable segment. */
struct code {
	uint64_t addr; /* as linked */
	uint64_t len;
	uint8_t *bytes; /* owned */
};

static bool code_init(struct code *c, const struct ts_source *src, const struct ts_elf_load *load,
		      struct ts_error *err)
{
	*c = (struct code){ .addr = load->addr, .len = load->file_len < MAX_CODE ? load->file_len : MAX_CODE };
	c->bytes = malloc((size_t)c->len + 1);
	if (!c->bytes)
		return ts_no_memory(err, "the program's code");
	if (ts_source_read_all(src, load->file_off, c->bytes, (size_t)c->len, err))
		return true;
	free(c->bytes);
	return false;
}

/* As much of @s as lies in the segment at @off from its beginning. */
static size_t overlap(const struct code *c, const struct ts_code_sample *s, uint64_t off)
{
	return c->len - off < s->len ? (size_t)(c->len - off) : s->len;
}

bool ts_is_moved_word(const uint8_t *file, const uint8_t *data, size_t len, size_t at, uint64_t moved)
{
	for (size_t k = at < 3 ? 0 : at - 3; k <= at && k + 4 <= len; k++) {
		uint64_t by = ts_number(data + k, 4, false) - ts_number(file + k, 4, false);

		if ((uint32_t)by == (uint32_t)moved)
			return true;
	}
	return false;
}

/*
 * Are the bytes of @data, which lie at @off of the segment, those of the word at @at + @off there, moved?  The word may
 * begin before the data, or end after it.
 */
static bool is_moved_word_at(const struct code *c, uint64_t off, const uint8_t *data, size_t len, size_t at, uint64_t moved)
{
	uint32_t word = (uint32_t)(ts_number(c->bytes + at, 4, false) + moved);

	for (unsigned i = 0; i < 4; i++) {
		if (at + i >= off && at + i < off + len && data[at + i - off] != (uint8_t)(word >> 8 * i))
			return false;
	}
	return true;
}

/* Is the byte at @i of @data part of a word that was moved? */
static bool is_moved(const struct code *c, uint64_t off, const uint8_t *data, size_t len, size_t i, uint64_t moved)
{
	for (uint64_t k = 0; k < 4 && k <= off + i; k++) {
		if (off + i - k + 4 <= c->len && is_moved_word_at(c, off, data, len, off + i - k, moved))
			return true;
	}
	return false;
}

static bool is_same(const struct code *c, uint64_t off, const uint8_t *data, size_t len, bool has_words, uint64_t moved)
{
	if (!has_words)
		return !memcmp(c->bytes + off, data, len);
	for (size_t i = 0; i < len; i++) {
		if (c->bytes[off + i] != data[i] && !is_moved(c, off, data, len, i, moved))
			return false;
	}
	return true;
}

static void compare(const struct code *c, const struct ts_code_samples *samples, bool has_words, uint64_t moved,
		    struct ts_code_match *match)
{
	for (size_t i = 0; i < samples->n; i++) {
		const struct ts_code_sample *s = &samples->items[i];
		uint64_t off = s->addr - moved - c->addr;

		if (off >= c->len)
			continue;
		if (is_same(c, off, s->bytes, overlap(c, s, off), has_words, moved))
			match->n_same++;
		else
			match->n_different++;
	}
}

bool ts_code_match(const struct ts_code_samples *samples, const struct ts_source *src,
		   const struct ts_object *o, uint64_t moved, struct ts_code_match *match,
		   struct ts_error *err)
{
	*match = (struct ts_code_match){ 0 };
	for (size_t i = 0; i < o->n_loads; i++) {
		struct code c;

		if (!(o->loads[i].prot & TS_PROT_EXEC))
			continue;
		if (!code_init(&c, src, &o->loads[i], err))
			return false;
		compare(&c, samples, o->is_pe && moved, moved, match);
		free(c.bytes);
	}
	return true;
}

/* Load bases, one entry for each sample that matches at it. */
struct votes {
	uint64_t *items; /* owned */
	size_t n, cap;
};

/* Where the bytes of @s occur in the segment, at the same offset within a page. */
static bool vote_sample(struct votes *v, const struct code *c, const struct ts_code_sample *s)
{
	for (uint64_t off = (s->addr - c->addr) & IN_PAGE; off < c->len && v->n < MAX_VOTES;
	     off += PAGE_LEN) {
		if (overlap(c, s, off) == s->len && !memcmp(c->bytes + off, s->bytes, s->len) &&
		    !TS_PUSH(v->items, v->n, v->cap, s->addr - off - c->addr))
			return false;
	}
	return true;
}

static bool collect(struct votes *v, const struct ts_code_samples *samples, const struct ts_source *src,
		    const struct ts_object *o, struct ts_error *err)
{
	for (size_t i = 0; i < o->n_loads; i++) {
		struct code c;
		bool done = true;

		if (!(o->loads[i].prot & TS_PROT_EXEC))
			continue;
		if (!code_init(&c, src, &o->loads[i], err))
			return false;
		for (size_t k = 0; k < samples->n && done; k++) {
			if (samples->items[k].len >= MIN_SAMPLE)
				done = vote_sample(v, &c, &samples->items[k]);
		}
		free(c.bytes);
		if (!done)
			return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to find the program");
	}
	return true;
}

/* The place with the most votes, and whether no other has as many.  Sorts the votes. */
static bool elect(struct votes *v, uint64_t *moved)
{
	size_t best = 0;
	bool is_alone = false;

	qsort(v->items, v->n, sizeof(*v->items), ts_by_u64);
	for (size_t i = 0, n; i < v->n; i += n) {
		for (n = 1; i + n < v->n && v->items[i + n] == v->items[i]; n++)
			;
		if (n >= best)
			is_alone = n > best;
		if (n > best) {
			best = n;
			*moved = v->items[i];
		}
	}
	return best && is_alone;
}

bool ts_load_base_by_code(const struct ts_code_samples *samples, const struct ts_source *src,
			  const struct ts_object *o, uint64_t *moved, struct ts_error *err)
{
	struct votes votes = { 0 };
	struct ts_code_match match;
	bool found;

	found = collect(&votes, samples, src, o, err) && votes.n && elect(&votes, moved) &&
		ts_code_match(samples, src, o, *moved, &match, err) && ts_code_is_match(&match);
	free(votes.items);
	return found;
}
