/* SPDX-License-Identifier: MIT */
/*
 * QEMU 7.2: functions that it exports without their being part of the plugin API.
 *
 * They are looked up by name at the start.  If one is missing, recording is refused.
 */
#ifndef TS_RECORDER_QEMU7_H
#define TS_RECORDER_QEMU7_H

#include <stdint.h>
#include <stdio.h>

#include "qemu.h"

struct qemu {
	/* Registers by the gdb stub's numbers, in the target's byte order. */
	int (*read_register)(void *cpu, struct qemu_bytes *to, int n);
	int (*write_register)(void *cpu, uint8_t *from, int n);
	struct qemu_bytes *(*bytes_new)(void);
	struct qemu_bytes *(*bytes_set_size)(struct qemu_bytes *bytes, unsigned len);
	void (*dump_state)(void *cpu, FILE *to, int flags);
	int (*page_get_flags)(uint64_t addr);
	void (*cpu_exit)(void *cpu);
	void (*cpu_loop_exit_noexc)(void *cpu);
	void (*cpu_exec_start)(void *cpu);
	void (*cpu_exec_end)(void *cpu);
	/* x86: the condition codes of its env; AArch64: vector registers of its env. */
	uint32_t (*cc_compute_all)(void *env, int op);
	int (*fpu_read)(void *env, struct qemu_bytes *to, int n);
	int (*fpu_write)(void *env, uint8_t *from, int n);
};

extern struct qemu ts_qemu;

#define QEMU_DUMP_FPU 0x20000

/*
 * Read the bytes of register @n, at most @cap, as the gdb stub has them.  Returns their number; 0 if the processor has no such
 * register.
 */
unsigned ts_qemu_read(void *cpu, int n, uint8_t *bytes, unsigned cap);
unsigned ts_qemu_fpu_read(void *env, int n, uint8_t *bytes, unsigned cap);

#endif
