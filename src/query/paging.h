/* SPDX-License-Identifier: MIT */
/*
 * Translates virtual to physical addresses by the page tables in memory at a position (Intel's manual, volume
 * 3A, chapter 4).
 *
 * The processor is x86: without paging, two levels (4 MiB pages by PSE), PAE, four and five levels.
 * Protection, execute-disable, accessed and dirty bits are ignored.  If a table entry is unknown, the result
 * is unknown, not unmapped.
 */
#ifndef TS_PAGING_H
#define TS_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query.h"

enum ts_paging_kind {
	TS_PAGING_UNKNOWN, /* unknown from the mode */
	TS_PAGING_OFF,     /* physical is virtual, 32 bits */
	TS_PAGING_32,      /* two levels of 4-byte entries */
	TS_PAGING_PAE,
	TS_PAGING_4_LEVEL,
	TS_PAGING_5_LEVEL,
};

/* The parameters of a translation.  Two that are equal in all members use the same tables. */
struct ts_paging {
	enum ts_paging_kind kind;
	uint64_t root;     /* of the tables: a physical address */
	uint64_t phys_max; /* the highest physical address */
	bool has_pse;      /* 32: 4 MiB pages */
};

/* @phys_bits is the width of physical addresses, 0 if unknown. */
struct ts_paging ts_paging_of(const struct ts_mode *mode, unsigned phys_bits);

/* Returns a name for users, a literal: "four-level page tables". */
const char *ts_paging_text(enum ts_paging_kind kind);

/* Are all members of @a and @b equal? */
bool ts_paging_is_same(const struct ts_paging *a, const struct ts_paging *b);

/* Returns the parameters of the machine's processor at @pos. */
struct ts_paging ts_paging_at(const struct ts_query *q, uint64_t pos);

/*
 * Does the recording determine, at its beginning or at its end, how virtual addresses are translated?  False
 * for the recording of a program.
 */
bool ts_paging_is_known(const struct ts_query *q);

enum ts_mapping {
	TS_MAPPED,
	TS_UNMAPPED,
	TS_MAPPING_UNKNOWN,
};

#define TS_MAX_LEVELS 5

/* A table entry that a translation depends on. */
struct ts_table_entry {
	uint64_t addr; /* physical */
	uint64_t value;
};

struct ts_translation {
	enum ts_mapping mapping;
	uint64_t phys;     /* MAPPED: the physical address */
	uint64_t page_len; /* bytes, a power of two: the aligned range of this length has the same result */
	unsigned entry_len; /* bytes of an entry */
	unsigned n_entries;
	struct ts_table_entry entries[TS_MAX_LEVELS]; /* in the order of the walk; the last one decides */
};

/*
 * Translate @addr by the tables in the memory of @process at position @pos, and set *t.  TS_UNMAPPED and
 * TS_MAPPING_UNKNOWN are not failures.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_translate(struct ts_query *q, const struct ts_paging *paging, uint64_t pos, uint32_t process,
		  uint64_t addr, struct ts_translation *t, struct ts_error *err);

/*
 * As ts_translate(), with the parameters of ts_paging_at().
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_translate_at(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr,
		     struct ts_translation *t, struct ts_error *err);

/*
 * Set *addr to the virtual address that the page tables at @pos map to @phys, with the parameters of
 * ts_paging_at().  *is_found is set to false if no address or more than one is mapped to it, if a table entry is unknown,
 * or if there are more tables than a fixed limit.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_untranslate_at(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t phys, uint64_t *addr,
		       bool *is_found, struct ts_error *err);

/*
 * As ts_query_mem(), for virtual addresses.  Bytes that are not mapped are unknown.  If not
 * ts_paging_is_known(), addresses are those of the recording.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_virtual_mem(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		    uint8_t *data, uint8_t *known, struct ts_error *err);

#endif
