/* SPDX-License-Identifier: MIT */
/*
 * Instructions of a recording, by their address: length, and whether they are system calls.
 *
 * Their bytes are those of the core file.  Where they are not known, or the program has written, nothing is
 * said about them.
 */
#ifndef GDBRECORD_INSN_H
#define GDBRECORD_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"
#include "src/arch/x86_insn.h"

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

#endif
