/* SPDX-License-Identifier: MIT */
/*
 * The contents of lines at the ends of the chunks of a segment that changed them.
 *
 * A version is the contents of a line at the end of a chunk.  A sealed version has only the bytes that the chunk
 * changed.  Every sixteenth version of a line has the whole line, so that reading a line takes at most sixteen versions.
 * Lines with bytes that became unknown are not packed, because values that are seen later can complete them.  Searches
 * for watchpoints also use the masks of changed bytes.
 */
#ifndef TS_VERSIONS_H
#define TS_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines.h"

#define TS_PLAIN_LINE (UINT32_C(1) << 31)

/* The number of versions from one with the whole line to the next. */
#define TS_VERSION_BLOCK 16u

struct ts_version {
	uint16_t known;   /* bit i: byte i */
	/* unknown, and what was known before does not count; known as well: lost by this very chunk */
	uint16_t lost;
	uint16_t changed;
	uint8_t data[TS_LINE_LEN];
};

/* A version that has lost bytes, and the previous one of the same line. */
struct ts_link {
	uint32_t item; /* ordinal in items and touches */
	uint32_t prev; /* ordinal of the link, plus 1; 0: none */
};

/* Versions as noted, one a touch. */
struct ts_changes {
	struct ts_touches touches;
	struct ts_version *items; /* owned */
	size_t cap;
	struct ts_link *links;    /* owned */
	size_t n_links, cap_links;
};

struct ts_versions {
	struct ts_lines lines;
	uint16_t *changed;           /* owned; the bytes of each item that were changed */
	/* owned; where each line's versions begin: in data, or (TS_PLAIN_LINE is set) in plain */
	uint32_t *offs;
	uint8_t *data;               /* owned; see versions.c */
	size_t data_len;
	/* owned; all versions of the lines of which one has bytes that were changed and are unknown */
	struct ts_version *plain;
	size_t n_plain;
	struct ts_index_blocks *file;      /* borrowed; the arrays are mapped from it; NULL: they are owned */
	bool has_own_plain;          /* if they are: but for plain, which was changed since */
};

/*
 * Note the version of a line at the end of a chunk; chunks must not descend.  If bytes of it are lost, *@chain (else
 * unused) links the line's versions with lost bytes.  It must be 0 initially, and again after the changes are reset.
 *
 * Returns false if memory is exhausted.
 */
bool ts_changes_add(struct ts_changes *c, uint32_t page, uint8_t line, uint16_t chunk,
		    const struct ts_version *v, uint32_t *chain);
void ts_changes_fini(struct ts_changes *c);

/* Remove all changes, and keep the memory. */
void ts_changes_reset(struct ts_changes *c);

/*
 * The lost bytes of a line that are in *@mask are found to have the values of @data (a whole line).  They become known
 * in the versions of the chain, from the newest to the version whose chunk lost them.  Bytes for which that version was
 * reached are removed from *@mask.
 */
void ts_changes_complete(struct ts_changes *c, uint32_t chain, const uint8_t *data, uint16_t *mask);

/*
 * Sort the versions by line; @c is unchanged.  @page_addrs is as for ts_lines_seal().
 *
 * Returns false if memory is exhausted or the versions are more than 2 GiB; @set is then empty.
 */
bool ts_versions_seal(struct ts_versions *set, const struct ts_changes *c, const uint64_t *page_addrs,
		      size_t n_pages);
void ts_versions_fini(struct ts_versions *set);

/*
 * As ts_changes_complete(), for the line at @addr.
 *
 * Returns false if its versions have not lost these bytes.
 * Returns false if memory is exhausted.
 */
bool ts_versions_complete(struct ts_versions *set, uint64_t addr, const uint8_t *data, uint16_t *mask);

/*
 * Read the line at @addr as it is before chunk @until, from versions of chunks >= @from.
 *
 * Returns true if it has a version below @until.  v->known then has the bytes that were changed since @from or are known
 * otherwise, v->lost those that were lost since then; v->changed is not set.
 */
bool ts_versions_read(const struct ts_versions *set, uint64_t addr, uint32_t from, uint32_t until,
		      struct ts_version *v);

/*
 * To an index file; from there, with its arrays, of a segment of @n_chunks chunks.  Loading returns false if
 * their lengths contradict each other.  Their contents are verified and bounded when it is read.
 */
void ts_versions_save(const struct ts_versions *set, struct ts_index_file *f);
bool ts_versions_load(struct ts_versions *set, struct ts_index_arrays *a, uint32_t n_chunks);

/* Bytes of memory that the set holds. */
size_t ts_versions_mem(const struct ts_versions *set);

#endif
