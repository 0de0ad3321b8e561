/* SPDX-License-Identifier: MIT */
/*
 * The parser of one block of a trace.
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
 * The length of a thread id; the flag in the head of a block that has one; the flag of a slot whose word is
 * unchanged.
 */
#define X64DBG_TID_LEN 4u
#define X64DBG_HAS_TID 0x80u
#define X64DBG_IS_UNCHANGED 1u

/* Does the block name its thread? */
static inline bool x64dbg_has_tid(const uint8_t *block)
{
	return block[3] & X64DBG_HAS_TID;
}

/* Did the instruction change the memory of an access with @flags? */
static inline bool x64dbg_is_changed(uint8_t flags)
{
	return !(flags & X64DBG_IS_UNCHANGED);
}

/* The length of the largest instruction block with an unannounced thread id of four bytes. */
#define X64DBG_MAX_BLOCK 2400u

/*
 * This many bytes after the bytes of a block must be readable, with any contents.  Lists are copied in pieces
 * of fixed length, because most are short.
 */
#define X64DBG_SLACK 64u

/* Blocks of this type and above are those of plugins: a length (4) and as many bytes. */
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
	bool is_strict;  /* no reserved bit is set, and the program counter is listed */
	bool has_pc;
	uint8_t n_opcode, n_regs, n_mem;
	uint64_t pc;     /* if has_pc */
	uint8_t opcode[16];                   /* padded with zeros */
	uint8_t slots[X64DBG_MAX_SLOTS];      /* n_regs ordinals, ascending */
	uint8_t values[X64DBG_MAX_SLOTS * 8]; /* n_regs words without gaps */
	struct x64dbg_mem mem[X64DBG_MAX_MEM];
};

/*
 * Read the instruction block at @p, where @left bytes and X64DBG_SLACK more are readable.  @p is the type
 * byte; b->off is its file offset.  With @has_unflagged_tid the block has a thread id that no flag announces.
 *
 * Returns false if the bytes end before the block (TS_ETRUNC) or the block contradicts its format
 * (TS_ECORRUPT).
 */
bool x64dbg_block_read(struct x64dbg_block *b, const uint8_t *p, size_t left, const struct x64dbg_layout *l,
		       bool has_unflagged_tid, struct ts_error *err);

/* Returns the number of bytes of the new words that follow memory slots with these flags. */
uint32_t x64dbg_block_changed_len(struct x64dbg_block *b, const uint8_t *flags,
				  const struct x64dbg_layout *l);

/* Returns the word of a slot at @p, where 8 bytes must be readable. */
static inline uint64_t x64dbg_word(const uint8_t *p, const struct x64dbg_layout *l)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word) & l->word_mask;
}

/*
 * Read the memory slots of a block, which follow its values and begin with their flags at @flags.  All their
 * bytes must be readable.
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

/* Does the block have all registers? */
static inline bool x64dbg_block_is_full(const struct x64dbg_block *b, const struct x64dbg_layout *l)
{
	return b->n_regs == l->n_slots;
}

#endif
