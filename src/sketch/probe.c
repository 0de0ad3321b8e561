/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include <stdlib.h>
#include <string.h>

#include "sketch.h"

/* A window of the value of which all bytes count. */
struct window {
	uint32_t hash;
	uint32_t at; /* the ordinal of its first byte */
};

struct ts_probe {
	uint32_t len;
	uint8_t *mask;           /* owned; of the value */
	struct window *windows;  /* owned; by hash */
	uint32_t *hashes;        /* owned; of the windows */
	uint64_t *groups;        /* owned; of the windows, in the segment that was asked last */
	uint64_t *all;           /* owned; of each byte: the groups of all windows that have it */
	uint32_t n;
	uint64_t segment, found; /* the last answer */
};

static int compare(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static bool counts(const uint8_t *mask, uint32_t len, uint32_t at)
{
	return at + TS_GRAM_LEN <= len && mask[at] && mask[at + 1] && mask[at + 2] && mask[at + 3];
}

static void gather(struct ts_probe *p, const uint8_t *bytes)
{
	for (uint32_t at = 0; at < p->len; at++) {
		uint32_t gram;

		if (!counts(p->mask, p->len, at))
			continue;
		gram = bytes[at] | (uint32_t)bytes[at + 1] << 8 | (uint32_t)bytes[at + 2] << 16 |
		       (uint32_t)bytes[at + 3] << 24;
		p->windows[p->n++] = (struct window){ ts_gram_hash(gram), at };
	}
	qsort(p->windows, p->n, sizeof(*p->windows), compare);
	for (uint32_t i = 0; i < p->n; i++)
		p->hashes[i] = p->windows[i].hash;
}

/* Has each byte that counts a window? */
static bool is_sharp(const struct ts_probe *p)
{
	bool is_some = false;

	for (uint32_t i = 0; i < p->len; i++) {
		bool has = !p->mask[i];

		for (uint32_t at = i < TS_GRAM_LEN - 1 ? 0 : i - (TS_GRAM_LEN - 1); at <= i; at++)
			has |= counts(p->mask, p->len, at);
		if (!has)
			return false;
		is_some |= p->mask[i];
	}
	return is_some;
}

struct ts_probe *ts_probe_new(const uint8_t *bytes, const uint8_t *mask, uint32_t len)
{
	struct ts_probe *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->len = len;
	p->segment = UINT64_MAX;
	p->mask = calloc(len + 1u, 1);
	p->windows = calloc(len + 1u, sizeof(*p->windows));
	p->hashes = calloc(len + 1u, sizeof(*p->hashes));
	p->groups = calloc(len + 1u, sizeof(*p->groups));
	p->all = calloc(len + 1u, sizeof(*p->all));
	if (p->mask && p->windows && p->hashes && p->groups && p->all) {
		memcpy(p->mask, mask, len);
		gather(p, bytes);
		if (is_sharp(p))
			return p;
	}
	ts_probe_free(p);
	return NULL;
}

void ts_probe_free(struct ts_probe *p)
{
	if (!p)
		return;
	free(p->mask);
	free(p->windows);
	free(p->hashes);
	free(p->groups);
	free(p->all);
	free(p);
}

/*
 * The groups in which one of its bytes may have been the last to come: all windows that have it were noted
 * then.
 */
static uint64_t groups_of(struct ts_probe *p, const struct ts_sketch *s)
{
	uint64_t found = 0;

	ts_sketch_look_up(s, p->hashes, p->n, p->groups);
	for (uint32_t i = 0; i < p->len; i++)
		p->all[i] = p->mask[i] ? UINT64_MAX : 0;
	for (uint32_t i = 0; i < p->n; i++) {
		for (uint32_t k = 0; k < TS_GRAM_LEN; k++)
			p->all[p->windows[i].at + k] &= p->groups[i];
	}
	for (uint32_t i = 0; i < p->len; i++)
		found |= p->all[i];
	return found;
}

static uint32_t next_wild(const struct ts_sketch *s, uint32_t chunk)
{
	size_t lo = 0, n = s->n_wild;

	while (n) {
		bool is_before = s->wild[lo + n / 2] < chunk;

		lo += is_before ? n / 2 + 1 : 0;
		n = is_before ? n - n / 2 - 1 : n / 2;
	}
	return lo < s->n_wild ? s->wild[lo] : TS_SEGMENT_CHUNKS;
}

uint32_t ts_probe_next(struct ts_probe *p, const struct ts_sketch *s, uint64_t segment, uint32_t chunk)
{
	uint32_t wild = next_wild(s, chunk), next;
	unsigned group = chunk / TS_SKETCH_GROUP;
	uint64_t rest;

	if (p->segment != segment)
		p->found = groups_of(p, s);
	p->segment = segment;
	rest = p->found >> group << group;
	if (!rest)
		return wild;
	next = (uint32_t)__builtin_ctzll(rest) * TS_SKETCH_GROUP;
	next = next > chunk ? next : chunk;
	return next < wild ? next : wild;
}
