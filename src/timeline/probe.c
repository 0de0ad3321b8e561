/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include <stdlib.h>
#include <string.h>

#include "sketch.h"

#define MAX_TERMS 4

/* One of the ways in which the value may begin to stand: all traits must be there. */
struct clause {
	uint32_t keys[MAX_TERMS];
	unsigned n;
};

struct ts_probe {
	uint8_t *bytes, *mask; /* owned; one allocation, at bytes */
	uint32_t len;
	uint32_t *keys;        /* owned; those of all clauses, ascending */
	uint64_t *groups;      /* owned; of each key */
	size_t n_keys;
	uint64_t segment, found; /* the last answer */
	uint32_t n;
	struct clause clauses[];
};

/* ------------------------------------------------------------------------------------------------- making */

/* The change begins at byte @i of the value, or (@i is 0) perhaps before it.  Returns false if that tells nothing. */
static bool add_clause(struct ts_probe *p, const struct ts_trait_bytes *v, unsigned i)
{
	struct clause *c = &p->clauses[p->n++];
	bool is_first = v->known[i] && i; /* else perhaps it only reaches the next byte that counts */

	while (!v->known[i])
		i++;
	c->n += ts_trait_ahead(v, i, &c->keys[c->n]);
	if (is_first) {
		c->n += ts_trait_around(v, i, &c->keys[c->n]);
		c->n += ts_trait_next(v, i, &c->keys[c->n]);
		c->n += ts_trait_before(v, i, &c->keys[c->n]);
	}
	return c->n;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool gather_keys(struct ts_probe *p)
{
	size_t n = 0;

	p->keys = malloc((size_t)p->n * MAX_TERMS * sizeof(*p->keys));
	p->groups = malloc((size_t)p->n * MAX_TERMS * sizeof(*p->groups));
	if (!p->keys || !p->groups)
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		for (unsigned k = 0; k < p->clauses[i].n; k++)
			p->keys[n++] = p->clauses[i].keys[k];
	}
	qsort(p->keys, n, sizeof(*p->keys), compare);
	for (size_t i = 0; i < n; i++) {
		if (!i || p->keys[i] != p->keys[i - 1])
			p->keys[p->n_keys++] = p->keys[i];
	}
	return true;
}

static bool copy_value(struct ts_probe *p, const struct ts_trait_bytes *v)
{
	p->bytes = malloc(2 * (size_t)v->n + 1);
	if (!p->bytes)
		return false;
	p->mask = p->bytes + v->n;
	p->len = v->n;
	memcpy(p->bytes, v->data, v->n);
	memcpy(p->mask, v->known, v->n);
	return true;
}

struct ts_probe *ts_probe_new(const uint8_t *bytes, const uint8_t *mask, uint32_t len)
{
	struct ts_trait_bytes v = { bytes, mask, len };
	struct ts_probe *p = calloc(1, sizeof(*p) + len * sizeof(p->clauses[0]));
	bool is_sharp = p;

	for (; v.n && !v.known[v.n - 1]; v.n--)
		continue;
	for (; v.n && !v.known[0]; v.n--, v.data++, v.known++)
		continue;
	for (unsigned i = 0; is_sharp && i < v.n; i++)
		is_sharp = add_clause(p, &v, i);
	if (is_sharp && v.n && copy_value(p, &v) && gather_keys(p)) {
		p->segment = UINT64_MAX;
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
	free(p->keys);
	free(p->groups);
	free(p);
}

/* ------------------------------------------------------------------------------------------------- asking */

static uint64_t groups_of(const struct ts_probe *p, uint32_t key)
{
	const uint32_t *at = bsearch(&key, p->keys, p->n_keys, sizeof(key), compare);

	return at ? p->groups[at - p->keys] : 0;
}

uint64_t ts_probe_groups(struct ts_probe *p, const struct ts_sketch *s, uint64_t segment)
{
	if (p->segment == segment)
		return p->found;
	ts_sketch_look_up(s, p->keys, p->n_keys, p->groups);
	p->segment = segment;
	p->found = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t groups = UINT64_MAX;

		for (unsigned k = 0; k < p->clauses[i].n && groups; k++)
			groups &= groups_of(p, p->clauses[i].keys[k]);
		p->found |= groups;
	}
	return p->found;
}

/* Can the value stand so that its byte @at is the first of @late, or (@at < 0) -@at bytes after it? */
static bool agrees(const struct ts_probe *p, const struct ts_late *late, int64_t at)
{
	for (uint32_t i = 0; i < late->len; i++) {
		int64_t k = at + i;

		if (k >= 0 && k < p->len && p->mask[k] && p->bytes[k] != late->data[i])
			return false;
	}
	return true;
}

bool ts_probe_late(const struct ts_probe *p, const struct ts_sketch *s, uint32_t process, struct ts_probe_range *ranges,
		   size_t *n, size_t max)
{
	for (size_t i = 0; i < s->n_late; i++) {
		const struct ts_late *late = &s->late[i];

		for (int64_t at = 1 - (int64_t)late->len; late->process == process && at < p->len; at++) {
			uint64_t addr = late->addr - (uint64_t)at;

			if (!agrees(p, late, at) || addr + (p->len - 1) < addr)
				continue;
			if (*n == max)
				return false;
			ranges[(*n)++] = (struct ts_probe_range){ addr, addr + (p->len - 1) };
		}
	}
	return !s->is_cut;
}
