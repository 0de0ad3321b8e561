/* SPDX-License-Identifier: MIT */
/*
 * The processor that the tool is built for: its guest state, and VEX's types and operations of its words.
 */
#ifndef TS_RECORDER_VG_PROCESSOR_H
#define TS_RECORDER_VG_PROCESSOR_H

#if defined(VGA_amd64)
#include <libvex_guest_amd64.h>

typedef VexGuestAMD64State TsGuest;

#define TS_GUEST_OFF(name) offsetof(VexGuestAMD64State, guest_R##name)
#define TS_FIRST_OFF TS_GUEST_OFF(AX) /* what is before it is not the program's */
#define TS_WORD Ity_I64
#define TS_CONST IRConst_U64
#define TS_ADD Iop_Add64
#define TS_LESS Iop_CmpLT64U
#define TS_UNEQUAL Iop_CmpNE64
#define TS_PIECE Ity_V256 /* the largest part of the guest state that VEX moves */
#define TS_PREFIXES 0x40  /* 16 prefixes from here on: REX */
#define TS_GET_FLAGS LibVEX_GuestAMD64_get_rflags

/* Operations that flags are kept as, and which of them have the carry of before. */
#define TS_N_FLAG_OPS 65u
#define TS_FIRST_INC 21u
#define TS_LAST_DEC 28u

#elif defined(VGA_x86)
#include <libvex_guest_x86.h>

typedef VexGuestX86State TsGuest;

#define TS_GUEST_OFF(name) offsetof(VexGuestX86State, guest_E##name)
#define TS_FIRST_OFF TS_GUEST_OFF(AX)
#define TS_WORD Ity_I32
#define TS_CONST IRConst_U32
#define TS_ADD Iop_Add32
#define TS_LESS Iop_CmpLT32U
#define TS_UNEQUAL Iop_CmpNE32
#define TS_PIECE Ity_V128
#define TS_PREFIXES 0xf0 /* none: lock and rep, which are prefixes anyway */
#define TS_GET_FLAGS LibVEX_GuestX86_get_eflags

#define TS_N_FLAG_OPS 40u
#define TS_FIRST_INC 16u
#define TS_LAST_DEC 21u

#else
#error no guest state of this processor
#endif

#endif
