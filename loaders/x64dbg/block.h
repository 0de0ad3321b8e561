/* SPDX-License-Identifier: MIT */
/*
 * One block of a trace: its bytes into fields, checked.
 */
#ifndef LOADERS_X64DBG_BLOCK_H
#define LOADERS_X64DBG_BLOCK_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "regs.h"
#include "src/base/cursor.h"

#define X64DBG_MAX_MEM 32u

/* Bytes before the thread id, or the instruction. */
#define X64DBG_BLOCK_HEAD 4u

/*
 * What stands there: is a thread id announced; is the word of a memory slot with these flags another one
 * after it?
 */
#define X64DBG_TID_LEN 4u
#define X64DBG_HAS_TID 0x80u
#define X64DBG_IS_UNCHANGED 1u

static inline bool x64dbg_has_tid(const uint8_t *block)
{
	return block[3] & X64DBG_HAS_TID;
}

static inline bool x64dbg_is_changed(uint8_t flags)
{
	return !(flags & X64DBG_IS_UNCHANGED);
}

/* The largest instruction block, and four bytes that should not be there. */
#define X64DBG_MAX_BLOCK 2400u

/*
 * This many bytes after those from which a block is read must be readable: most lists are short,
 * and are copied along with some of the following bytes.
 */
#define X64DBG_SLACK 64u

/* From this type on a block is a plugin's: its length (4) and as many bytes. */
#define X64DBG_USER 0x80u
#define X64DBG_USER_HEAD 5u

/* A word of memory before and after the instruction. */
struct x64dbg_mem {
	uint64_t addr, old, now;
};

struct x64dbg_block {
	uint64_t off; /* in the file */
	uint32_t len;
	uint32_t tid; /* if has_tid */
	bool has_tid;
	bool is_flagged; /* the thread id is announced, as it should be */
	bool is_strict;  /* nothing reserved is set, and the program counter is there */
	bool has_pc;
	uint8_t n_opcode, n_regs, n_mem;
	uint64_t pc;     /* if has_pc */
	uint8_t opcode[16];                   /* zeros after it */
	uint8_t slots[X64DBG_MAX_SLOTS];      /* ascending; anything after the last */
	uint8_t values[X64DBG_MAX_SLOTS * 8]; /* a word each, side by side; the same */
	struct x64dbg_mem mem[X64DBG_MAX_MEM];
};

/*
 * Read the instruction block at @p, which is at b->off in the file, and whose type byte is the first of @left
 * bytes; with @has_unflagged_tid a thread id stands there though no flag says so.  X64DBG_SLACK bytes more
 * are there.
 *
 * Returns false if the bytes end before the block (TS_ETRUNC) or the block contradicts its format
 * (TS_ECORRUPT).
 */
bool x64dbg_block_read(struct x64dbg_block *b, const uint8_t *p, size_t left, const struct x64dbg_layout *l,
		       bool has_unflagged_tid, struct ts_error *err);

/* How many bytes there are of new words, after memory slots with these flags. */
uint32_t x64dbg_block_changed_len(struct x64dbg_block *b, const uint8_t *flags,
				  const struct x64dbg_layout *l);

/* The word at @p, where 8 bytes are readable. */
static inline uint64_t x64dbg_word(const uint8_t *p, const struct x64dbg_layout *l)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word) & l->word_mask;
}

/*
 * What follows the values of a block, from its memory slots' flags on: what the slots hold, all bytes of
 * which must be readable.
 */
static inline void x64dbg_block_read_mem(struct x64dbg_block *b, const uint8_t *flags,
					 const struct x64dbg_layout *l)
{
	const uint8_t *words = flags + b->n_mem, *now = words + 2 * b->n_mem * l->width;

	for (unsigned i = 0; i < b->n_mem; i++) {
		struct x64dbg_mem *m = &b->mem[i];

		m->addr = x64dbg_word(words + i * l->width, l);
		m->old = x64dbg_word(words + (b->n_mem + i) * l->width, l);
		m->now = m->old;
		if (x64dbg_is_changed(flags[i])) {
			m->now = x64dbg_word(now, l);
			now += l->width;
		}
	}
}

/* Returns true if the block holds all registers. */
static inline bool x64dbg_block_is_full(const struct x64dbg_block *b, const struct x64dbg_layout *l)
{
	return b->n_regs == l->n_slots;
}

#endif
