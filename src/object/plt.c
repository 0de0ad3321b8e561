/* SPDX-License-Identifier: MIT */
/*
 * An entry of a procedure linkage table jumps through a word, which a relocation with a symbol fills:
 *
 *      x86-64    ff 25 D      jmp *D(%rip)          the word is at the next instruction + D
 *      i386      ff 25 A      jmp *A                the word is at A
 *                ff a3 D      jmp *D(%ebx)          at the global offset table + D
 *      AArch64   adrp x16, P; ldr x17, [x16, O]     at P + O
 *
 * Relocations: offset, info (the symbol's number from bit 32 or, of 32 bits, 8 on), and with types RELA an
 * addend.
 */
#include "plt.h"

#include <elf.h>
#include <stdlib.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

#define PAGE_MASK UINT64_C(0xfff)

bool ts_plt_slots_add(struct ts_plt_slots *s, uint64_t addr, uint32_t symbol)
{
	if (!ts_vec_reserve(&s->items, s->n, &s->cap, 1, sizeof(*s->items)))
		return false;
	s->items[s->n++] = (struct ts_plt_slot){ addr, symbol };
	return true;
}

void ts_plt_slots_sort(struct ts_plt_slots *s)
{
	if (s->n)
		qsort(s->items, s->n, sizeof(*s->items), ts_by_u64);
}

static const struct ts_plt_slot *find_slot(const struct ts_plt_slots *s, uint64_t addr)
{
	const struct ts_plt_slot key = { .addr = addr };

	return s->n ? bsearch(&key, s->items, s->n, sizeof(key), ts_by_u64) : NULL;
}

static uint32_t u32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The word of the entry of x86 whose jump is at @p, address @addr; false if none is found. */
static bool x86_word(const struct ts_plt *t, const uint8_t *p, uint64_t addr, uint64_t *word)
{
	bool is_64 = t->machine == EM_X86_64;

	if (p[0] != 0xff || (p[1] != 0x25 && (is_64 || p[1] != 0xa3)))
		return false;
	if (is_64)
		*word = addr + 6 + (uint64_t)(int64_t)(int32_t)u32(p + 2);
	else
		*word = (uint32_t)(u32(p + 2) + (p[1] == 0xa3 ? (uint32_t)t->got : 0));
	return true;
}

static void walk_x86(const struct ts_plt *t, ts_plt_use use, void *user)
{
	/* other sizes of entries in .plt.got than 16 are 8; of i386's .plt the header says 4 */
	unsigned len = t->entry_len == 8 ? 8 : 16;

	for (uint64_t at = 0; at + len <= t->len; at += len) {
		for (unsigned i = 0; i + 6 <= len; i++) {
			const struct ts_plt_slot *slot;
			uint64_t word;

			if (!x86_word(t, t->bytes + at + i, t->addr + at + i, &word))
				continue;
			slot = find_slot(&t->slots, word);
			if (slot)
				use(user, t->addr + at, len, slot->symbol);
			break;
		}
	}
}

static bool is_adrp_x16(uint32_t insn)
{
	return (insn & 0x9f00001f) == 0x90000010;
}

static bool is_ldr_x17_x16(uint32_t insn)
{
	return (insn & 0xffc003ff) == 0xf9400211;
}

static uint64_t adrp_page(uint32_t insn, uint64_t addr)
{
	uint64_t pages = (insn >> 29 & 3) | (uint64_t)(insn >> 5 & 0x7ffff) << 2;

	pages = (pages ^ UINT64_C(0x100000)) - UINT64_C(0x100000); /* 21 bits with a sign */
	return (addr & ~PAGE_MASK) + (pages << 12);
}

static void walk_aarch64(const struct ts_plt *t, ts_plt_use use, void *user)
{
	static const uint32_t bti_c = 0xd503245f;

	for (uint64_t at = 0; at + 16 <= t->len; at += 4) {
		uint32_t adrp = u32(t->bytes + at), ldr = u32(t->bytes + at + 4);
		bool has_bti = at >= 4 && u32(t->bytes + at - 4) == bti_c;
		const struct ts_plt_slot *slot;

		if (!is_adrp_x16(adrp) || !is_ldr_x17_x16(ldr))
			continue;
		slot = find_slot(&t->slots,
				 adrp_page(adrp, t->addr + at) + (ldr >> 10 & 0xfff) * UINT64_C(8));
		if (slot)
			use(user, t->addr + at - (has_bti ? 4 : 0), has_bti ? 20 : 16, slot->symbol);
	}
}

void ts_plt_walk(const struct ts_plt *t, ts_plt_use use, void *user)
{
	if (t->machine == EM_X86_64 || t->machine == EM_386)
		walk_x86(t, use, user);
	else if (t->machine == EM_AARCH64)
		walk_aarch64(t, use, user);
}
