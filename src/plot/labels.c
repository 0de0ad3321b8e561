/* SPDX-License-Identifier: MIT */
#include "labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SLOTS 16384u /* a power of two, more than twice TS_MAX_LABELS */

bool ts_labels_init(struct ts_labels *l)
{
	*l = (struct ts_labels){ .items = calloc(TS_MAX_LABELS, sizeof(*l->items)),
				 .slots = malloc(N_SLOTS * sizeof(*l->slots)) };
	if (!l->items || !l->slots)
		return false;
	memset(l->slots, 0xff, N_SLOTS * sizeof(*l->slots));
	return true;
}

void ts_labels_fini(struct ts_labels *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->items[i]);
	free(l->items);
	free(l->slots);
	*l = (struct ts_labels){ 0 };
}

static uint32_t hash(const char *text)
{
	uint32_t h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 16777619u;
	return h;
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
	uint32_t slot;

	if (!name)
		return TS_NO_LABEL;
	snprintf(text, sizeof(text), "%.*s%s", (int)TS_MAX_LABEL_LEN, name,
		 strnlen(name, TS_MAX_LABEL_LEN + 1) > TS_MAX_LABEL_LEN ? "…" : "");
	for (slot = hash(text) % N_SLOTS; l->slots[slot] != TS_NO_LABEL; slot = (slot + 1) % N_SLOTS) {
		if (!strcmp(l->items[l->slots[slot]], text))
			return l->slots[slot];
	}
	if (l->n == TS_MAX_LABELS || l->n_bytes + cost(text) > TS_MAX_LABEL_BYTES) {
		l->is_full = true;
		return TS_NO_LABEL;
	}
	l->items[l->n] = strdup(text);
	l->is_failed |= !l->items[l->n];
	if (!l->items[l->n])
		return TS_NO_LABEL;
	l->n_bytes += cost(text);
	l->slots[slot] = l->n;
	return l->n++;
}

const char *ts_labels_text(const struct ts_labels *l, uint32_t label)
{
	return label == TS_NO_LABEL ? NULL : l->items[label];
}
