/* SPDX-License-Identifier: MIT */
/*
 * From virtual to physical addresses, with the page tables as they were in memory at a position.
 *
 * The processor is x86: without paging, two levels (4 MiB pages by PSE), PAE, four and five levels.  Only
 * where something is mapped is answered, not who may access it: protection, execute-disable, accessed and
 * dirty bits are not looked at.  A table entry that the recording does not know gives an answer that is
 * unknown, not one that is unmapped.
 */
#ifndef TS_PAGING_H
#define TS_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query.h"

enum ts_paging_kind {
	TS_PAGING_UNKNOWN, /* the mode does not say */
	TS_PAGING_OFF,     /* physical is virtual, 32 bits */
	TS_PAGING_32,      /* two levels of 4-byte entries */
	TS_PAGING_PAE,
	TS_PAGING_4_LEVEL,
	TS_PAGING_5_LEVEL,
};

/* How a mode translates.  Two of them that are equal, member by member, find the same tables. */
struct ts_paging {
	enum ts_paging_kind kind;
	uint64_t root;     /* of the tables: a physical address */
	uint64_t phys_max; /* the highest physical address */
	bool has_pse;      /* 32: 4 MiB pages */
};

/* @phys_bits is the width of physical addresses, 0 if unknown. */
struct ts_paging ts_paging_of(const struct ts_mode *mode, unsigned phys_bits);

/* "four-level page tables" */
const char *ts_paging_text(enum ts_paging_kind kind);

bool ts_paging_is_same(const struct ts_paging *a, const struct ts_paging *b);

/* How the processor of the machine translates at @pos. */
struct ts_paging ts_paging_at(const struct ts_query *q, uint64_t pos);

/*
 * Does the recording, at its beginning or at its end, say how virtual addresses are translated?  The
 * recording of a program does not.
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
	uint64_t page_len; /* bytes: so aligned, a range has the same answer; a power of two */
	unsigned entry_len; /* bytes of an entry */
	unsigned n_entries;
	struct ts_table_entry entries[TS_MAX_LEVELS]; /* in the order of the walk; the last one decides */
};

/*
 * Translate @addr by the tables in the memory of @process at position @pos.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT); unmapped and unknown
 * are answers.
 */
bool ts_translate(struct ts_query *q, const struct ts_paging *paging, uint64_t pos, uint32_t process,
		  uint64_t addr, struct ts_translation *t, struct ts_error *err);

/* The same, as the processor of the machine translates at @pos. */
bool ts_translate_at(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr,
		     struct ts_translation *t, struct ts_error *err);

/*
 * The one virtual address that the page tables at @pos, as the processor of the machine uses them, map to @phys: *addr.
 * *is_found is false if they map none or several to it, an entry is not known, or there are more tables than are read for
 * one answer.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_untranslate_at(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t phys, uint64_t *addr,
		       bool *is_found, struct ts_error *err);

/*
 * Memory of @process at @pos by virtual addresses, otherwise as ts_query_mem(): what is not mapped is
 * unknown.  Without ts_paging_is_known() addresses are those of the recording.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_virtual_mem(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		    uint8_t *data, uint8_t *known, struct ts_error *err);

#endif
