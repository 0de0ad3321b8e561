/* SPDX-License-Identifier: MIT */
/*
 * The names in a picture, each stored once.  Their number and their length are bounded, which bounds the size
 * of the picture.
 */
#ifndef TS_PLOT_LABELS_H
#define TS_PLOT_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/hash_table.h"

#define TS_NO_LABEL UINT32_MAX

/* A longer name is shortened, with an ellipsis at its end. */
#define TS_MAX_LABEL_LEN 100u
#define TS_MAX_LABELS    4000u
/* Limit on the bytes of all names in a file.  A character that must be escaped counts as six bytes. */
#define TS_MAX_LABEL_BYTES 300000u

struct ts_labels {
	char **items; /* owned; by label */
	uint32_t n;
	struct ts_hash_table by_text;
	bool is_failed;  /* memory was exhausted */
	size_t n_bytes;  /* of all names in a file, escaped */
	bool is_full;    /* a name was left out */
};

/* Returns false if memory is exhausted; call ts_labels_fini() in both cases. */
bool ts_labels_init(struct ts_labels *l);
void ts_labels_fini(struct ts_labels *l);

/*
 * Returns the label of @name, which is added if it is new.
 * Returns TS_NO_LABEL if @name is NULL.
 * Returns TS_NO_LABEL if a limit is reached (is_full).
 * Returns TS_NO_LABEL if memory is exhausted (is_failed).
 */
uint32_t ts_labels_add(struct ts_labels *l, const char *name);

/*
 * Returns the text of a label, borrowed until ts_labels_fini().
 * Returns NULL for TS_NO_LABEL.
 */
const char *ts_labels_text(const struct ts_labels *l, uint32_t label);

#endif
