/* SPDX-License-Identifier: MIT */
/*
 * Instructions that enter the kernel or a hypervisor by themselves.
 */
#ifndef TS_TRAPS_H
#define TS_TRAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

enum ts_trap {
	TS_TRAP_NONE,    /* another instruction, or not enough of it */
	TS_TRAP_SYSCALL, /* the system call of programs: syscall, sysenter, int 0x80, svc, ecall, ... */
	TS_TRAP_OTHER,   /* another software interrupt, or a call of a hypervisor or of a monitor */
};

/*
 * Returns the kind of trap of the instruction whose @n bytes are at @bytes, in the order of memory.
 * @is_thumb: it is one of ARM's Thumb instructions.  More bytes than the instruction has do not matter.
 */
enum ts_trap ts_insn_trap(const struct ts_arch *arch, bool is_thumb, const uint8_t *bytes, size_t n);

#endif
