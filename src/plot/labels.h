/* SPDX-License-Identifier: MIT */
/*
 * The names in a picture, each once.  Their number and length are bounded, so that the picture's size is.
 */
#ifndef TS_PLOT_LABELS_H
#define TS_PLOT_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_table.h"

#define TS_NO_LABEL UINT32_MAX

/* A longer name is shortened, with an ellipsis at its end. */
#define TS_MAX_LABEL_LEN 100u
#define TS_MAX_LABELS    4000u
/* What all of them take in a file at most, in bytes; markup in a name takes six a character. */
#define TS_MAX_LABEL_BYTES 300000u

struct ts_labels {
	char **items; /* owned; by label */
	uint32_t n;
	struct ts_hash_table by_text;
	bool is_failed;  /* memory was exhausted */
	size_t n_bytes;  /* that they take in a file */
	bool is_full;    /* a name was left out */
};

/* Returns false if memory is exhausted; call ts_labels_fini() in both cases. */
bool ts_labels_init(struct ts_labels *l);
void ts_labels_fini(struct ts_labels *l);

/*
 * The label for @name; TS_NO_LABEL for NULL, and when there is no room for more of them or memory is
 * exhausted.
 */
uint32_t ts_labels_add(struct ts_labels *l, const char *name);

/* Its text, NULL for TS_NO_LABEL. */
const char *ts_labels_text(const struct ts_labels *l, uint32_t label);

#endif
