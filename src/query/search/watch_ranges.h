/* SPDX-License-Identifier: MIT */
/*
 * The physical places of watched ranges, and the span of steps for which they are valid.
 *
 * A span ends where the processor switches to other page tables, which is known in advance, and where a table entry changes
 * that the translation used.  These entries are places, too, so that a search finds their changes.
 */
#ifndef TS_WATCH_RANGES_H
#define TS_WATCH_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/query/query.h"

enum ts_watch_kind {
	TS_WATCH_WRITE,  /* a byte changes, or may (a value is unknown); hidden changes count */
	TS_WATCH_READ,   /* read; hidden reads do not count */
	TS_WATCH_ACCESS, /* read or written, changed or not; of what is hidden, changes count */
};

/* The longest range that can be watched, in bytes. */
#define TS_MAX_WATCH_LEN UINT64_C(1048576)

struct ts_watch {
	uint32_t process;
	uint64_t addr;
	uint64_t len; /* 1 .. TS_MAX_WATCH_LEN; addr + len does not pass the end of the address space */
	enum ts_watch_kind kind;
};

#define TS_NO_WATCH SIZE_MAX

struct ts_place {
	struct ts_watch at; /* as in the recording's effects */
	size_t watch;       /* ordinal of the watchpoint; TS_NO_WATCH: an entry, whose change ends the span */
	uint64_t addr;      /* the address of at.addr in the watchpoint */
};

struct ts_places {
	struct ts_place *items; /* owned */
	size_t n, cap;
	uint64_t first, end;    /* steps [first, end): only a change of an entry ends the span earlier */
};

/*
 * Find the places of @n watches for a span that has step @pos in it.  @pl is zero at first and keeps its
 * memory from call to call.
 *
 * Addresses are physical, or (@is_virtual) to be translated.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_places_find(struct ts_places *pl, struct ts_query *q, const struct ts_watch *watches, size_t n,
		    bool is_virtual, uint64_t pos, struct ts_error *err);
void ts_places_fini(struct ts_places *pl);

#endif
