/* SPDX-License-Identifier: MIT */
/*
 * An open recording of gdb's, as its reader sees it.
 */
#ifndef GDBRECORD_H
#define GDBRECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"
#include "loaders/kit/warn.h"
#include "regs.h"
#include "src/arch/x86_insn.h"
#include "src/trace/reader.h"

struct insn {
	uint64_t pc;
	uint8_t mode; /* 0: nothing is here; 1 usual, 2 Thumb */
	uint8_t len;  /* bytes; 0: unknown */
	bool is_syscall;
	uint8_t n_bytes; /* how many are known */
	uint8_t bytes[TS_X86_MAX_INSN];
};

/* What all readers share. */
struct insn_code {
	const struct core *core; /* borrowed */
	struct ts_x86 x86;
	bool is_x86;
};

void insn_code_init(struct insn_code *code, const struct core *core, const struct ts_regset *set);

#define INSN_N_CACHED 4096u

/* Code that the program has written; first > last: none. */
struct insn_written {
	uint64_t first, last;
};

/* A reader's. */
struct insn_cache {
	struct insn items[INSN_N_CACHED]; /* all zero bytes at the beginning */
	struct insn_written written;
};

/* Nothing is cached or written. */
void insn_cache_init(struct insn_cache *cache);

/* Code may lie in memory [addr, addr + len), which was written; @len is not 0. */
void insn_note_write(struct insn_cache *cache, uint64_t addr, uint64_t len);

/*
 * The instruction at @pc; @is_thumb is for ARM alone.  Valid until the next call.
 *
 * Returns NULL if the file cannot be read.
 */
const struct insn *insn_at(struct insn_cache *cache, const struct insn_code *code, uint64_t pc, bool is_thumb,
			   struct ts_error *err);

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
