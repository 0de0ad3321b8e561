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
#define TS_INFO_OFF TS_GUEST_OFF(SI)  /* a signal handler's second argument */
#define TS_REQUEST_OFF TS_GUEST_OFF(AX) /* a request to Valgrind: its argument, and its result; valgrind.h */
#define TS_RESULT_OFF TS_GUEST_OFF(DX)
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
#define TS_REQUEST_OFF TS_GUEST_OFF(AX)
#define TS_RESULT_OFF TS_GUEST_OFF(DX)
#define TS_PIECE Ity_V128
#define TS_PREFIXES 0xf0 /* none: lock and rep, which are prefixes anyway */
#define TS_GET_FLAGS LibVEX_GuestX86_get_eflags

#define TS_N_FLAG_OPS 40u
#define TS_FIRST_INC 16u
#define TS_LAST_DEC 21u

#elif defined(VGA_arm64)
#include <libvex_guest_arm64.h>

typedef VexGuestARM64State TsGuest;

#define TS_GUEST_OFF(name) offsetof(VexGuestARM64State, guest_##name)
#define TS_FIRST_OFF TS_GUEST_OFF(X0)
#define TS_INFO_OFF TS_GUEST_OFF(X1)
#define TS_REQUEST_OFF TS_GUEST_OFF(X4)
#define TS_RESULT_OFF TS_GUEST_OFF(X3)
#define TS_PIECE Ity_V128
#define TS_GET_FLAGS LibVEX_GuestARM64_get_nzcv

#define TS_N_FLAG_OPS 11u
#define TS_FIRST_INC 5u /* sums and differences with a carry */
#define TS_LAST_DEC 8u

/* The decoder's offsets.  That of FPCR differs between versions of Valgrind; nothing that lies behind QCFLAG but FPCR is recorded. */
_Static_assert(TS_GUEST_OFF(XSP) == 264 && TS_GUEST_OFF(CC_OP) == 280 && TS_GUEST_OFF(Q0) == 320, "another guest state");
_Static_assert(TS_GUEST_OFF(QCFLAG) == 832 && TS_GUEST_OFF(FPCR) >= 848, "another guest state");
#define TS_LAST_SAME TS_GUEST_OFF(EMNOTE)
#define TS_FPCR_RECORDED 888

#else
#error no guest state of this processor
#endif

/* The operations of a word. */
#if defined(VGA_x86)
#define TS_WORD Ity_I32
#define TS_CONST IRConst_U32
#define TS_ADD Iop_Add32
#define TS_LESS Iop_CmpLT32U
#define TS_UNEQUAL Iop_CmpNE32
#define TS_EQUAL Iop_CmpEQ32
#define TS_AND Iop_And32
#define TS_OF_BIT Iop_1Uto32
#define TS_OF_SIZE { [1] = Iop_8Uto32, [2] = Iop_16Uto32 }
#define TS_LOW_BYTE Iop_32to8
#else
#define TS_WORD Ity_I64
#define TS_CONST IRConst_U64
#define TS_ADD Iop_Add64
#define TS_LESS Iop_CmpLT64U
#define TS_UNEQUAL Iop_CmpNE64
#define TS_EQUAL Iop_CmpEQ64
#define TS_AND Iop_And64
#define TS_OF_BIT Iop_1Uto64
#define TS_OF_SIZE { [1] = Iop_8Uto64, [2] = Iop_16Uto64, [4] = Iop_32Uto64 }
#define TS_LOW_BYTE Iop_64to8
#endif

#endif
