/* SPDX-License-Identifier: MIT */
/*
 * The block of an executed instruction; W = 8 (x64) or 4 (x86) bytes:
 *
 *      1        type, 0
 *      1        R, how many slots of the register record are listed
 *      1        M, how many memory slots
 *      1        bit 7: a thread id follows; bits 0 to 3: n, length of the instruction
 *      0 or 4   thread id
 *      n        the instruction's bytes
 *      R        the slots' ordinals: each one more than the one before, and this byte more
 *      R * W    the slots' values
 *      M        bit 0: memory is unchanged
 *      M * W    addresses
 *      M * W    the words there before the instruction
 *      .. * W   the words there after it, of those that are not unchanged
 */
#include "block.h"

#include <endian.h>

#include "src/base/bytes.h"

#define HEAD_LEN X64DBG_BLOCK_HEAD
#define RESERVED 0x70u

static bool corrupt(struct ts_error *err, uint64_t off, const char *what, unsigned n, unsigned max)
{
	return ts_fail(err, TS_ECORRUPT, off, "%s %u, but the maximum is %u", what, n, max);
}

/* The block needs @len bytes, but only @left are there.  Returns false. */
static __attribute__((noinline)) bool too_short(const struct x64dbg_block *b, size_t left, size_t len,
						struct ts_error *err)
{
	struct ts_cursor c = ts_cursor(NULL, left, b->off, "block", err);

	return ts_cursor_short(&c, len);
}

/* Report what is wrong with the head, if anything is.  Returns false. */
static __attribute__((noinline)) bool refuse_head(const struct x64dbg_block *b, unsigned type,
						  const struct x64dbg_layout *l, struct ts_error *err)
{
	if (type)
		return ts_fail(err, TS_ECORRUPT, b->off, "a block of the unknown type 0x%02x", type);
	if (b->n_regs > l->n_slots)
		return corrupt(err, b->off + 1, "registers listed:", b->n_regs, l->n_slots);
	if (b->n_mem > X64DBG_MAX_MEM)
		return corrupt(err, b->off + 2, "memory slots:", b->n_mem, X64DBG_MAX_MEM);
	return ts_fail(err, TS_ECORRUPT, b->off + 3, "an instruction of length 0");
}

/* Slots one by one: those of blocks with all registers, and those that contradict the format. */
static __attribute__((noinline)) bool read_slots(struct x64dbg_block *b, const uint8_t *deltas, uint64_t off,
						 const struct x64dbg_layout *l, struct ts_error *err)
{
	unsigned slot = UINT32_MAX;

	b->has_pc = false;
	for (unsigned i = 0; i < b->n_regs; i++) {
		slot += 1u + deltas[i];
		if (slot >= l->n_slots)
			return corrupt(err, off + i, "register slot", slot, l->n_slots - 1);
		b->slots[i] = (uint8_t)slot;
		if (slot == l->pc) {
			b->pc = x64dbg_word(b->values + i * l->width, l);
			b->has_pc = true;
		}
	}
	return true;
}

/*
 * The same for the up to 8 slots of nearly every block, without a loop whose end cannot be predicted: a byte
 * of a word each.  Returns false if that is not possible, or something is wrong.
 *
 * Slot i is the sum of the first i + 1 steps, less 1.  The product with TS_EACH_BYTE(1) has those sums in its
 * bytes as long as none of them passes a byte; the last one, the largest, is summed apart in 16 bits.
 */
static bool read_few_slots(struct x64dbg_block *b, const uint8_t *deltas, const struct x64dbg_layout *l)
{
	const uint8_t *values = deltas + b->n_regs;
	uint64_t steps, slots, sum, other;
	unsigned at;

	if (b->n_regs - 1u >= 8)
		return false;
	memcpy(&steps, deltas, 8);
	steps = le64toh(steps) & UINT64_MAX >> (64 - 8 * b->n_regs);
	if (steps & TS_EACH_BYTE(0x80u))
		return false;
	steps += TS_EACH_BYTE(1u) >> (64 - 8 * b->n_regs);
	sum = (steps & UINT64_C(0x00ff00ff00ff00ff)) + (steps >> 8 & UINT64_C(0x00ff00ff00ff00ff));
	if (sum * UINT64_C(0x0001000100010001) >> 48 > l->n_slots)
		return false;
	slots = steps * TS_EACH_BYTE(1u) - TS_EACH_BYTE(1u);
	other = ts_zero_bytes(slots ^ TS_EACH_BYTE(l->pc));
	b->has_pc = other != 0;
	at = b->has_pc ? (unsigned)__builtin_ctzll(other) / 8 : 0;
	b->pc = x64dbg_word(values + at * l->width, l);
	slots = htole64(slots);
	memcpy(b->slots, &slots, 8);
	return true;
}

uint32_t x64dbg_block_changed_len(struct x64dbg_block *b, const uint8_t *flags, const struct x64dbg_layout *l)
{
	unsigned n_changed = 0;

	for (unsigned i = 0; i < b->n_mem; i++) {
		n_changed += x64dbg_is_changed(flags[i]);
		b->is_strict &= !(flags[i] & ~X64DBG_IS_UNCHANGED);
	}
	return n_changed * l->width;
}

/* The instruction's @n bytes at @p, and zeros up to 16. */
static void copy_opcode(uint8_t *to, const uint8_t *p, unsigned n)
{
	static const uint8_t masks[32] = { 255, 255, 255, 255, 255, 255, 255, 255,
					   255, 255, 255, 255, 255, 255, 255, 255 };

	for (unsigned i = 0; i < 16; i += 8) {
		uint64_t bytes, mask;

		memcpy(&bytes, p + i, 8);
		memcpy(&mask, masks + 16 - n + i, 8);
		bytes &= mask;
		memcpy(to + i, &bytes, 8);
	}
}

/* Values of most blocks go as one piece of fixed length. */
static void copy_values(uint8_t *to, const uint8_t *p, size_t len)
{
	if (__builtin_expect(len <= X64DBG_SLACK, 1))
		memcpy(to, p, X64DBG_SLACK);
	else
		memcpy(to, p, len);
}

bool x64dbg_block_read(struct x64dbg_block *b, const uint8_t *p, size_t left, const struct x64dbg_layout *l,
		       bool has_unflagged_tid, struct ts_error *err)
{
	const uint8_t *start = p;
	unsigned width = l->width;

	if (left < HEAD_LEN)
		return too_short(b, left, HEAD_LEN, err);
	b->n_regs = p[1];
	b->n_mem = p[2];
	b->n_opcode = p[3] & 15;
	b->is_flagged = x64dbg_has_tid(p);
	b->is_strict = !(p[3] & RESERVED);
	b->has_tid = b->is_flagged || has_unflagged_tid;
	if (p[0] || b->n_regs > l->n_slots || b->n_mem > X64DBG_MAX_MEM || !b->n_opcode)
		return refuse_head(b, p[0], l, err);
	b->len = HEAD_LEN + (b->has_tid ? X64DBG_TID_LEN : 0) + b->n_opcode + b->n_regs * (1 + width) +
		 b->n_mem * (1 + 2 * width);
	if (b->len > left)
		return too_short(b, left, b->len, err);
	p += HEAD_LEN;
	b->tid = 0;
	if (b->has_tid) {
		b->tid = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		p += X64DBG_TID_LEN;
	}
	copy_opcode(b->opcode, p, b->n_opcode);
	p += b->n_opcode;
	copy_values(b->values, p + b->n_regs, b->n_regs * (size_t)width);
	if (!read_few_slots(b, p, l) && !read_slots(b, p, b->off + (size_t)(p - start), l, err))
		return false;
	p += b->n_regs * (1 + width);
	b->len += x64dbg_block_changed_len(b, p, l);
	if (b->len > left)
		return too_short(b, left, b->len, err);
	x64dbg_block_read_mem(b, p, l);
	b->is_strict &= b->has_pc;
	return true;
}
