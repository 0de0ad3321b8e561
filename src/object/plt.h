/* SPDX-License-Identifier: MIT */
/*
 * Procedure linkage tables of ELF files: the symbol to which each entry jumps, for x86-64, i386 and AArch64.
 */
#ifndef TS_PLT_H
#define TS_PLT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word that the dynamic linker fills with a symbol's address. */
struct ts_plt_slot {
	uint64_t addr;
	uint32_t symbol; /* its number in the dynamic symbols */
};

struct ts_plt_slots {
	struct ts_plt_slot *items; /* owned */
	size_t n, cap;
};

/* Returns false if memory is exhausted. */
bool ts_plt_slots_add(struct ts_plt_slots *s, uint64_t addr, uint32_t symbol);

/* Sort the slots.  Called after the last ts_plt_slots_add(). */
void ts_plt_slots_sort(struct ts_plt_slots *s);

/* One section of entries. */
struct ts_plt {
	uint16_t machine;     /* EM_... */
	uint64_t addr;        /* as linked */
	const uint8_t *bytes; /* borrowed */
	uint64_t len;
	uint64_t entry_len;   /* as the section's header says */
	uint64_t got;         /* i386: the global offset table, to which entries of position-independent code refer */
	struct ts_plt_slots slots; /* borrowed; sorted */
};

typedef void (*ts_plt_use)(void *user, uint64_t addr, uint64_t len, uint32_t symbol);

/* Call @use with each entry whose word has a symbol.  Other processors have none. */
void ts_plt_walk(const struct ts_plt *t, ts_plt_use use, void *user);

#endif
