/* SPDX-License-Identifier: MIT */
#include "labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/collections/hash.h"

bool ts_labels_init(struct ts_labels *l)
{
	*l = (struct ts_labels){ .items = calloc(TS_MAX_LABELS, sizeof(*l->items)) };
	return l->items;
}

void ts_labels_fini(struct ts_labels *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->items[i]);
	free(l->items);
	ts_hash_table_fini(&l->by_text);
	*l = (struct ts_labels){ 0 };
}

static bool is_label(const void *user, uint32_t i, const void *text)
{
	return !strcmp(((const struct ts_labels *)user)->items[i], text);
}

static uint64_t hash(const char *text)
{
	return ts_hash_bytes(text, strlen(text));
}

static uint64_t hash_of_item(const void *user, uint32_t i)
{
	return hash(((const struct ts_labels *)user)->items[i]);
}

/* Bytes of a name in a file, with its quotes and what is between names. */
static size_t cost(const char *text)
{
	size_t n = 4;

	for (; *text; text++)
		n += (uint8_t)*text < 0x20 || strchr("<>&\"'\\\x7f", *text) ? 6 : (uint8_t)*text >= 0x80 ? 3 : 1;
	return n;
}

uint32_t ts_labels_add(struct ts_labels *l, const char *name)
{
	char text[TS_MAX_LABEL_LEN + sizeof("…")];
	uint32_t *slot;

	if (!name)
		return TS_NO_LABEL;
	snprintf(text, sizeof(text), "%.*s%s", (int)TS_MAX_LABEL_LEN, name,
		 strnlen(name, TS_MAX_LABEL_LEN + 1) > TS_MAX_LABEL_LEN ? "…" : "");
	l->is_failed |= !ts_hash_table_reserve(&l->by_text, l->n, 1, hash_of_item, l);
	if (l->is_failed)
		return TS_NO_LABEL;
	slot = ts_hash_table_slot(&l->by_text, hash(text), is_label, l, text);
	if (*slot)
		return *slot - 1;
	if (l->n == TS_MAX_LABELS || l->n_bytes + cost(text) > TS_MAX_LABEL_BYTES) {
		l->is_full = true;
		return TS_NO_LABEL;
	}
	l->items[l->n] = strdup(text);
	l->is_failed |= !l->items[l->n];
	if (!l->items[l->n])
		return TS_NO_LABEL;
	l->n_bytes += cost(text);
	*slot = ++l->n;
	return l->n - 1;
}

const char *ts_labels_text(const struct ts_labels *l, uint32_t label)
{
	return label == TS_NO_LABEL ? NULL : l->items[label];
}
