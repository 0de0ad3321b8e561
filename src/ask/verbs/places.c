/* SPDX-License-Identifier: MIT */
#include "places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/arch/operands/operands.h"

/* ---------------------------------------------------------------------------------------------- names */

/* Parts of general registers, by the first letters of the 64-bit name. */
static bool is_part(const struct ts_what *place, const char *name, size_t len, const struct ts_regset *set)
{
	struct ts_what what;

	return ts_what_register(&what, name, len, set) && what.off == place->off && what.len == place->len &&
	       what.is_flag == place->is_flag && what.bit == place->bit;
}

static bool name_part(const struct ts_what *place, const struct ts_regset *set, char *text, size_t size)
{
	static const char *const names[] = {
		"eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp", "ax",  "bx",  "cx", "dx", "si", "di",
		"bp",  "sp",  "al",  "bl",  "cl",  "dl",  "sil", "dil", "bpl", "spl", "ah", "bh", "ch", "dh",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (is_part(place, names[i], strlen(names[i]), set))
			return snprintf(text, size, "$%s", names[i]) > 0;
	}
	for (unsigned i = 8; i < 16; i++) {
		for (const char *z = "dwb"; *z; z++) {
			char name[8];

			snprintf(name, sizeof(name), "r%u%c", i, *z);
			if (is_part(place, name, strlen(name), set))
				return snprintf(text, size, "$%s", name) > 0;
		}
	}
	return false;
}

static void name_flags(const struct ts_regset *set, uint32_t bits, char *text, size_t size)
{
	snprintf(text, size, "$%s", set->regs[set->flags].name);
	for (size_t i = 0; i < TS_N_FLAG_NAMES; i++) {
		if (bits == UINT32_C(1) << ts_flag_names[i].bit)
			snprintf(text, size, "$%s", ts_flag_names[i].name);
	}
}

void ts_register_text(const struct ts_regset *set, uint64_t first, uint64_t len, uint32_t bits, char *text,
		      size_t size)
{
	struct ts_what place = { .kind = TS_WHAT_REG, .off = (uint32_t)first, .len = (uint32_t)len };
	const struct ts_reg *r = ts_regset_at(set, first);

	*text = 0;
	if (bits) {
		name_flags(set, bits, text, size);
		return;
	}
	if (r && r->off == first && r->len == len) {
		snprintf(text, size, "$%s", r->name);
		return;
	}
	if (name_part(&place, set, text, size))
		return;
	if (r)
		snprintf(text, size, "$%s[%" PRIu64 ":%" PRIu64 "]", r->name, first - r->off, first - r->off + len);
}

/* ARM's instruction set bit (CPSR.T) is no flag that a program sees. */
static uint32_t mode_bits(const struct ts_regset *set)
{
	return !strcmp(set->arch->name, "arm") ? UINT32_C(0x20) : 0;
}

/* The flags that a program sees among those of the flags register. */
static uint32_t status_flags(const struct ts_regset *set)
{
	return ts_operands_flags(set->arch) & ~mode_bits(set);
}

static uint32_t flags_of(const struct ts_what *what, const struct ts_regset *set)
{
	const struct ts_reg *r = set->flags < 0 ? NULL : &set->regs[set->flags];
	uint32_t byte;

	if (!r || what->kind != TS_WHAT_REG || what->off < r->off || what->off >= r->off + r->len)
		return 0;
	byte = what->off - r->off;
	if (what->is_flag)
		return UINT32_C(1) << (8 * (set->arch->is_big_endian ? r->len - 1 - byte : byte) + what->bit);
	return status_flags(set);
}

struct ts_location ts_what_register_location(const struct ts_what *what, const struct ts_regset *set,
					     uint32_t thread)
{
	uint32_t bits = flags_of(what, set);

	if (bits && !what->is_flag)
		bits = UINT32_MAX; /* history and last-write show changes of every bit */
	return (struct ts_location){ .kind = bits ? TS_IN_FLAGS : TS_IN_REGS,
				     .owner = thread,
				     .base = bits ? 0 : what->off,
				     .mask = bits ? bits : ts_mask(0, what->len) };
}

uint32_t ts_what_flags_off(const struct ts_what *what, const struct ts_regset *set)
{
	(void)what;
	return set->flags < 0 ? 0 : set->regs[set->flags].off;
}

struct ts_location *ts_what_locations(const struct ts_what *what, const struct ts_regset *set, uint32_t thread,
				      uint32_t process, size_t *n)
{
	bool is_mem = what->kind == TS_WHAT_MEM;
	uint32_t bits = flags_of(what, set);
	uint64_t first = is_mem ? what->addr : what->off, len = is_mem ? what->last - what->addr + 1 : what->len;
	struct ts_location *locs;

	if (bits)
		len = 1;
	*n = (size_t)(len / 32 + (len % 32 != 0));
	locs = calloc(*n ? *n : 1, sizeof(*locs));
	for (size_t i = 0; locs && i < *n; i++) {
		struct ts_location *l = &locs[i];
		uint64_t left = len - 32 * i;

		l->kind = bits ? TS_IN_FLAGS : is_mem ? TS_IN_MEMORY : TS_IN_REGS;
		l->owner = is_mem ? process : thread;
		l->base = bits ? 0 : first + 32 * i;
		l->mask = bits ? bits : ts_mask(0, left < 32 ? left : 32);
	}
	return locs;
}
