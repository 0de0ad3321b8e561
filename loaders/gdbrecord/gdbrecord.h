/* SPDX-License-Identifier: MIT */
/*
 * An open recording of gdb, shared by the files of this folder.
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
	uint8_t mode; /* 0: the entry is empty; 1: not Thumb; 2: Thumb */
	uint8_t len;  /* bytes; 0: unknown */
	bool is_syscall;
	uint8_t n_bytes; /* how many are known */
	uint8_t bytes[TS_X86_MAX_INSN];
};

/* The code of the recording, shared by all readers. */
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

/* The instructions that a reader has decoded. */
struct insn_cache {
	struct insn items[INSN_N_CACHED]; /* all zero bytes at the beginning */
	struct insn_written written;
};

/* Initialize an empty cache. */
void insn_cache_init(struct insn_cache *cache);

/* Record that memory [addr, addr + len), which may contain code, was written; @len is not 0. */
void insn_note_write(struct insn_cache *cache, uint64_t addr, uint64_t len);

/*
 * Decode the instruction at @pc.  @is_thumb is for ARM only.
 *
 * Returns the instruction, valid until the next call.
 * Returns NULL if the file cannot be read (TS_EIO).
 */
const struct insn *insn_at(struct insn_cache *cache, const struct insn_code *code, uint64_t pc, bool is_thumb,
			   struct ts_error *err);

/* The number of registers of a system call: that of its number, then those of its arguments. */
#define GDBRECORD_N_ABI 7u

/* Values of struct gdbrecord.kept for registers that other members have: the program counter; ARM's cpsr. */
#define GDBRECORD_KEPT_PC     0xfeu
#define GDBRECORD_KEPT_STATUS 0xffu

struct gdbrecord_abi {
	const char *arch;
	uint8_t regs[GDBRECORD_N_ABI];
	uint8_t result_at;       /* index in regs of the register that receives the result */
	bool is_result_unlogged; /* gdb does not log the result */
};

struct gdbrecord {
	struct ts_recording base;
	struct ts_warner warner;
	struct core core;
	struct regs regs;
	struct insn_code code;
	const struct gdbrecord_abi *abi;
	/* by gdb's number: 1 + the index of the register in abi->regs, or GDBRECORD_KEPT_...; 0: not kept */
	uint8_t kept[REGS_N_NUMBERS];
	uint64_t first;                   /* file offset of the first group */
	uint64_t pc;                      /* at position 0 */
	uint64_t values[GDBRECORD_N_ABI]; /* of the ABI's registers at position 0 */
	uint64_t status;                  /* ARM: cpsr at position 0 */
	bool has_number;                  /* values[0] is not the result of a later system call */
	bool is_18;                       /* gdb 18 wrote the log */
	bool has_files; /* the core lists mapped files; regions that it does not list were unmapped */
};

/*
 * Returns a reader at position 0, which the caller closes with its close().
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_reader *gdbrecord_reader(struct ts_recording *base, struct ts_error *err);

#endif
