/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include <stdlib.h>
#include <string.h>

#include "sketch.h"
#include "src/base/collections/bisect.h"

#define N_WORDS ((TS_SEGMENT_CHUNKS + 63u) / 64u)

/* A window of the value of which all bytes count. */
struct window {
	uint32_t hash;
	uint32_t at; /* the ordinal of its first byte */
};

struct ts_probe {
	uint32_t len;
	uint8_t *bytes, *mask;   /* owned, in one allocation; of the value */
	struct window *windows;  /* owned; by hash */
	uint32_t *hashes;        /* owned; of the windows */
	uint64_t *groups;        /* owned; of the windows, in the segment that was asked last */
	uint64_t *all;           /* owned; of each byte: the groups of all pairs and windows that have it */
	uint32_t n;
	uint64_t segment;        /* that was asked last; the chunks of it that were found */
	uint64_t found[N_WORDS];
};

static int compare(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return TS_ORDER(x->hash, y->hash);
}

/* Do all @n bytes from ordinal @at on count? */
static bool counts(const struct ts_probe *p, uint32_t at, uint32_t n)
{
	return at + n <= p->len && !memchr(p->mask + at, 0, n);
}

static void gather(struct ts_probe *p)
{
	for (uint32_t at = 0; at < p->len; at++) {
		const uint8_t *b = p->bytes + at;

		if (counts(p, at, TS_GRAM_LEN))
			p->windows[p->n++] = (struct window){
				ts_gram_hash(b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
					     (uint32_t)b[3] << 24),
				at
			};
	}
	qsort(p->windows, p->n, sizeof(*p->windows), compare);
	for (uint32_t i = 0; i < p->n; i++)
		p->hashes[i] = p->windows[i].hash;
}

struct ts_probe *ts_probe_new(const uint8_t *bytes, const uint8_t *mask, uint32_t len)
{
	struct ts_probe *p = memchr(mask, 1, len) ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->len = len;
	p->segment = UINT64_MAX;
	p->bytes = malloc(2 * (size_t)len);
	p->windows = calloc(len, sizeof(*p->windows));
	p->hashes = calloc(len, sizeof(*p->hashes));
	p->groups = calloc(len, sizeof(*p->groups));
	p->all = calloc(len, sizeof(*p->all));
	if (p->bytes && p->windows && p->hashes && p->groups && p->all) {
		p->mask = p->bytes + len;
		memcpy(p->bytes, bytes, len);
		memcpy(p->mask, mask, len);
		gather(p);
		return p;
	}
	ts_probe_free(p);
	return NULL;
}

void ts_probe_free(struct ts_probe *p)
{
	if (!p)
		return;
	free(p->bytes);
	free(p->windows);
	free(p->hashes);
	free(p->groups);
	free(p->all);
	free(p);
}

/* Only in @groups all @n bytes from ordinal @at on were left. */
static void restrict_to(struct ts_probe *p, uint32_t at, uint32_t n, uint64_t groups)
{
	for (uint32_t i = at; i < at + n; i++)
		p->all[i] &= groups;
}

/* The groups in which any of its bytes may have been the last to come. */
static uint64_t any_group(const struct ts_probe *p)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < p->len; i++)
		any |= p->all[i];
	return any;
}

/*
 * For each byte the groups in which it may have been the last to come: all pairs and windows that have it
 * were noted then.  Returns false if none is found.
 */
static bool find_groups(struct ts_probe *p, const struct ts_sketch *s)
{
	for (uint32_t i = 0; i < p->len; i++)
		p->all[i] = p->mask[i] ? UINT64_MAX : 0;
	for (uint32_t i = 0; i < p->len; i++) {
		if (counts(p, i, 2))
			restrict_to(p, i, 2, ts_sketch_pair_groups(s, ts_sketch_pair(p->bytes + i)));
	}
	if (!p->n || !any_group(p))
		return any_group(p);
	ts_sketch_look_up(s, p->hashes, p->n, p->groups);
	for (uint32_t i = 0; i < p->n; i++)
		restrict_to(p, p->windows[i].at, TS_GRAM_LEN, p->groups[i]);
	return any_group(p);
}

/* The chunks of @groups that left byte @b, or (NULL) any byte, may have made it: @chunks of a sketch. */
static void add_chunks(struct ts_probe *p, const uint8_t *chunks, uint64_t groups)
{
	for (; groups; groups &= groups - 1) {
		unsigned first = (unsigned)__builtin_ctzll(groups) * TS_SKETCH_GROUP;

		for (unsigned c = first; c < first + TS_SKETCH_GROUP && c < TS_SEGMENT_CHUNKS; c++) {
			if (!chunks || chunks[c / 8] >> c % 8 & 1)
				p->found[c / 64] |= UINT64_C(1) << c % 64;
		}
	}
}

/* The chunks in which one of its bytes may have been the last to come: it was left then. */
static void find_chunks(struct ts_probe *p, const struct ts_sketch *s)
{
	uint64_t by_byte[256] = { 0 };

	memset(p->found, 0, sizeof(p->found));
	if (!find_groups(p, s))
		return;
	for (uint32_t i = 0; i < p->len; i++)
		by_byte[p->bytes[i]] |= p->all[i];
	for (unsigned b = 0; b < 256; b++) {
		if (by_byte[b])
			add_chunks(p, ts_sketch_chunks(s, (uint8_t)b), by_byte[b]);
	}
}

static uint32_t next_wild(const struct ts_sketch *s, uint32_t chunk)
{
	size_t at = 0;

	TS_BISECT(at, s->n_wild, i, s->wild[i] < chunk);
	return at < s->n_wild ? s->wild[at] : TS_SEGMENT_CHUNKS;
}

static uint32_t next_found(const struct ts_probe *p, uint32_t chunk)
{
	uint32_t word = chunk / 64;
	uint64_t rest = p->found[word] >> chunk % 64 << chunk % 64;

	while (!rest && ++word < N_WORDS)
		rest = p->found[word];
	return rest ? word * 64 + (uint32_t)__builtin_ctzll(rest) : TS_SEGMENT_CHUNKS;
}

uint32_t ts_probe_next(struct ts_probe *p, const struct ts_sketch *s, uint64_t segment, uint32_t chunk)
{
	uint32_t wild = next_wild(s, chunk), next;

	if (p->segment != segment)
		find_chunks(p, s);
	p->segment = segment;
	next = next_found(p, chunk);
	return next < wild ? next : wild;
}
