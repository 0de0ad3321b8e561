/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "src/base/collections/bisect.h"
#include "src/base/error.h"

#define NO_PARENT (-1)

/*
 * In a sorted list every name that is a prefix of a payload precedes it, and between such a name and the
 * payload are only names that begin with it.  So the candidates are the last name not after the payload, the
 * longest other name that is a prefix of that one (its parent), the parent's parent...: from the longest to
 * the shortest.
 */
struct rsp_entry {
	const struct rsp_packet *packet; /* borrowed */
	size_t len;                      /* of the name */
	int parent;                      /* ordinal of the longest name that is a prefix of this one */
};

static int compare_entries(const void *a, const void *b)
{
	const struct rsp_entry *x = a;
	const struct rsp_entry *y = b;

	return strcmp(x->packet->name, y->packet->name);
}

static bool is_prefix(const struct rsp_entry *e, const uint8_t *payload, size_t len)
{
	return e->len <= len && memcmp(e->packet->name, payload, e->len) == 0;
}

static void link_parents(struct rsp_table *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct rsp_entry *e = &t->entries[i];
		int parent = (int)i - 1;

		while (parent != NO_PARENT &&
		       !is_prefix(&t->entries[parent], (const uint8_t *)e->packet->name, e->len))
			parent = t->entries[parent].parent;
		e->parent = parent;
		assert(parent == NO_PARENT || t->entries[parent].len < e->len);
	}
}

static bool has_feature(const struct rsp_table *t, const char *feature)
{
	for (unsigned i = 0; i < t->n_features; i++) {
		if (strcmp(t->features[i], feature) == 0)
			return true;
	}
	return false;
}

static void add_packet(struct rsp_table *t, const struct rsp_packet *packet)
{
	assert(packet->name[0] && !packet->handler == (packet->reply != NULL));
	t->entries[t->n++] = (struct rsp_entry){ packet, strlen(packet->name), NO_PARENT };
	if (packet->feature && !has_feature(t, packet->feature))
		t->features[t->n_features++] = packet->feature;
}

bool rsp_table_init(struct rsp_table *t, const struct rsp_packets *const *topics, unsigned n_topics,
		    struct ts_error *err)
{
	size_t n = 0;

	for (unsigned i = 0; i < n_topics; i++)
		n += topics[i]->n;
	*t = (struct rsp_table){ 0 };
	t->entries = calloc(n + 1, sizeof *t->entries);
	t->features = calloc(n + 1, sizeof *t->features);
	if (!t->entries || !t->features) {
		rsp_table_fini(t);
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a table of %zu packets", n);
	}
	for (unsigned i = 0; i < n_topics; i++) {
		for (unsigned j = 0; j < topics[i]->n; j++)
			add_packet(t, &topics[i]->packets[j]);
	}
	qsort(t->entries, t->n, sizeof *t->entries, compare_entries);
	link_parents(t);
	return true;
}

void rsp_table_fini(struct rsp_table *t)
{
	free(t->entries);
	free(t->features);
	*t = (struct rsp_table){ 0 };
}

/* Is the name sorted after the payload?  A name that is a prefix of it, or equal, is not. */
static bool is_after(const struct rsp_entry *e, const uint8_t *payload, size_t len)
{
	int order = memcmp(e->packet->name, payload, e->len < len ? e->len : len);

	return order ? order > 0 : e->len > len;
}

/* The last entry that is not after the payload. */
static int last_not_after(const struct rsp_table *t, const uint8_t *payload, size_t len)
{
	unsigned at = 0;

	TS_BISECT(at, t->n, i, !is_after(&t->entries[i], payload, len));
	return (int)at - 1;
}

static bool is_separator(uint8_t c)
{
	return c == ':' || c == ';' || c == ',';
}

/* Is the payload, which begins with the name and continues with @a, this packet?  Takes the separator. */
static bool accepts(const struct rsp_packet *packet, struct rsp_args *a)
{
	if (!a->left || packet->kind == RSP_PREFIX)
		return true;
	if (packet->kind == RSP_ARGS && is_separator(*a->p)) {
		*a = rsp_args(a->p + 1, a->left - 1);
		return true;
	}
	if (is_separator(*a->p) || !packet->name[1]) {
		rsp_args_fail(a);
		return true;
	}
	return false;
}

const struct rsp_packet *rsp_table_find(const struct rsp_table *t, const uint8_t *payload, size_t len,
					struct rsp_args *a)
{
	for (int i = last_not_after(t, payload, len); i != NO_PARENT; i = t->entries[i].parent) {
		const struct rsp_entry *e = &t->entries[i];

		if (!is_prefix(e, payload, len))
			continue;
		*a = rsp_args(payload + e->len, len - e->len);
		if (accepts(e->packet, a))
			return e->packet;
	}
	return NULL;
}

enum rsp_done rsp_table_run(const struct rsp_table *t, struct rsp_session *s, const uint8_t *payload,
			    size_t len, struct rsp_reply *r)
{
	struct rsp_args a;
	const struct rsp_packet *packet = rsp_table_find(t, payload, len, &a);

	if (!packet)
		return RSP_UNSUPPORTED;
	if (!rsp_args_ok(&a))
		return RSP_BAD;
	a.arg = packet->arg;
	return packet->reply ? rsp_reply_puts(r, packet->reply) : packet->handler(s, &a, r);
}

void rsp_table_features(const struct rsp_table *t,
			bool (*is_wanted)(const struct rsp_session *s, const char *feature),
			const struct rsp_session *s, struct rsp_reply *r)
{
	for (unsigned i = 0; i < t->n_features; i++) {
		if (is_wanted && !is_wanted(s, t->features[i]))
			continue;
		rsp_reply_putc(r, ';');
		rsp_reply_puts(r, t->features[i]);
	}
}
