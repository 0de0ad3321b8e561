/* SPDX-License-Identifier: MIT */
/* Which x86 instructions have a memory operand that they do not access (Intel SDM vol. 2: NOP, PREFETCHh, CLFLUSH, ...). */
#ifndef TS_X86_HINT_H
#define TS_X86_HINT_H

#include <stdbool.h>

#include <Zydis/Zydis.h>

/* Is it a hint, or its like? */
static inline bool ts_x86_is_hint(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB: return true;
	default: return insn->mnemonic == ZYDIS_MNEMONIC_CLFLUSH || insn->mnemonic == ZYDIS_MNEMONIC_INVLPG;
	}
}

#endif
