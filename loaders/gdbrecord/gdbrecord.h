/* SPDX-License-Identifier: MIT */
/*
 * An open recording of gdb's, as its reader sees it.
 */
#ifndef GDBRECORD_H
#define GDBRECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"
#include "insn.h"
#include "loaders/kit/warn.h"
#include "regs.h"
#include "src/trace/reader.h"

/* The registers of system calls, as gdb numbers them: the number's, then those of the arguments. */
#define GDBRECORD_N_ABI 7u

/* Registers that are kept elsewhere: the program counter; ARM's cpsr. */
#define GDBRECORD_KEPT_PC     0xfeu
#define GDBRECORD_KEPT_STATUS 0xffu

struct gdbrecord_abi {
	const char *arch;
	uint8_t regs[GDBRECORD_N_ABI];
	uint8_t result_at;       /* which of them receives the result */
	bool is_result_unlogged; /* gdb does not log the result */
};

struct gdbrecord {
	struct ts_recording base;
	struct ts_warner warner;
	struct core core;
	struct regs regs;
	struct insn_code code;
	const struct gdbrecord_abi *abi;
	uint8_t kept[REGS_N_NUMBERS];     /* 1 + where the ABI has this register, or GDBRECORD_KEPT_...; 0: nowhere */
	uint64_t first;                   /* file offset of the first group */
	uint64_t pc;                      /* at position 0 */
	uint64_t values[GDBRECORD_N_ABI]; /* of the ABI's registers there */
	uint64_t status;                  /* ARM: cpsr there */
	bool has_number;                  /* values[0] is not the result of a system call that comes later */
	bool is_18;                       /* the log is that of gdb 18 */
	bool has_files; /* it lists mapped files: regions that the core does not have were unmapped */
};

/* Returns NULL if memory is exhausted. */
struct ts_reader *gdbrecord_reader(struct ts_recording *base, struct ts_error *err);

#endif
