/* SPDX-License-Identifier: MIT */
#include "ops.h"

#include <stddef.h>
#include <string.h>

const char *ucir_kind_name(unsigned kind)
{
	static const char *const names[UCIR_N_KINDS] = {
		"NOP",      "FRAME",     "KEYFRAME", "JMP",       "STEP",     "REG",     "SPREG",
		"MEM_READ", "MEM_WRITE", "MEM_MAP",  "MEM_UNMAP", "MEM_PROT", "SYSCALL", "EXIT",
		"SIGNAL",   "THREAD_END", "FORGET",  "CHANGED",   "NOTE",     "END",     "GAP",
	};

	return kind < UCIR_N_KINDS ? names[kind] : "unknown op";
}

/* Bytes of each kind that are always there, by version; 0: the version has no such op. */
static const uint8_t fixed_lens[3][UCIR_N_KINDS] = {
	{ 1, 13, 13, 13, 2, 11, 5, 13, 13, 34, 13, 14, 14, 1 },
	{ 1, 13, 13, 13, 2, 11, 5, 13, 13, 38, 17, 18, 16, 1 },
	{ 1, 13, 13, 13, 2, 11, 5, 13, 13, 38, 17, 18, 18, 1, 20, 5, 17, 13, 6, 6, 13 },
};

static __attribute__((noinline)) uint64_t decode_map(const uint8_t *p, size_t left, unsigned version,
						     struct ucir_op *op)
{
	size_t len = fixed_lens[version][UCIR_MAP];

	op->addr = ucir_u64(p + 1);
	op->len = version ? ucir_u64(p + 9) : ucir_u32(p + 9);
	p += len;
	op->prot = p[-21];
	op->file_off = ucir_u64(p - 20);
	op->file_len = ucir_u64(p - 12);
	op->n_desc = ucir_u16(p - 4);
	op->n_file = ucir_u16(p - 2);
	op->desc = (const char *)p;
	if (left - len >= op->n_desc)
		op->file = op->desc + op->n_desc;
	return len + (uint64_t)op->n_desc + op->n_file;
}

static __attribute__((noinline)) uint64_t decode_syscall(const uint8_t *p, unsigned version,
							 struct ucir_op *op)
{
	size_t len = fixed_lens[version][UCIR_SYSCALL], count_len = version < 2 ? 2 : 4;

	op->num = version ? ucir_u32(p + 1) : ucir_u16(p + 1);
	op->bytes = p + len;
	op->val = ucir_u64(op->bytes - count_len - 9);
	op->n_args = op->bytes[-(ptrdiff_t)count_len - 1];
	op->n_ops = version < 2 ? ucir_u16(op->bytes - 2) : ucir_u32(op->bytes - 4);
	return len + op->n_args * UINT64_C(8);
}

/* The kinds that version 2 alone has. */
static __attribute__((noinline)) uint64_t decode_new(const uint8_t *p, size_t len, struct ucir_op *op)
{
	switch (op->kind) {
	case UCIR_SIGNAL:
		op->num = ucir_u16(p + 1);
		op->code = (int32_t)ucir_u32(p + 3);
		op->addr = ucir_u64(p + 7);
		op->flags = p[15];
		op->n_ops = ucir_u32(p + 16);
		return len;
	case UCIR_THREAD_END:
		op->val = ucir_u32(p + 1);
		return len;
	case UCIR_FORGET:
		op->addr = ucir_u64(p + 1);
		op->len = ucir_u64(p + 9);
		return len;
	case UCIR_CHANGED:
		op->addr = ucir_u64(p + 1);
		op->len = ucir_u32(p + 9);
		op->bytes = p + len;
		return len + op->len;
	case UCIR_NOTE:
		op->num = p[1];
		op->len = ucir_u32(p + 2);
		op->bytes = p + len;
		return len + op->len;
	case UCIR_GAP:
		op->val = ucir_u64(p + 1);
		op->n_ops = ucir_u32(p + 9);
		return len;
	default: /* END */
		op->flags = p[1];
		op->val = ucir_u32(p + 2);
		return len;
	}
}

/*
 * Decode the op at @p, of which and of what follows @left (at least one) bytes are at hand.
 *
 * Returns its length; if that is more than @left, the caller must provide that many bytes first, and perhaps more then.
 * Returns 0 for an unknown op.
 */
static inline uint64_t decode(const uint8_t *p, size_t left, unsigned version, struct ucir_op *op)
{
	size_t len;

	op->kind = *p;
	if (op->kind >= UCIR_N_KINDS)
		return 0;
	len = fixed_lens[version][op->kind];
	if (left < len)
		return len;
	switch ((enum ucir_kind)op->kind) {
	case UCIR_FRAME:
	case UCIR_KEYFRAME:
		op->val = ucir_u64(p + 1);
		op->n_ops = ucir_u32(p + 9);
		return len;
	case UCIR_JMP:
	case UCIR_READ:
		op->addr = ucir_u64(p + 1);
		op->len = ucir_u32(p + 9);
		return len;
	case UCIR_STEP:
		op->len = p[1];
		return len;
	case UCIR_REG:
		ucir_op_take_reg(p, op);
		return len;
	case UCIR_SPREG:
		op->num = ucir_u16(p + 1);
		op->len = ucir_u16(p + 3);
		op->bytes = p + len;
		return len + op->len;
	case UCIR_WRITE:
		op->addr = ucir_u64(p + 1);
		op->len = ucir_u32(p + 9);
		op->bytes = p + len;
		return len + op->len;
	case UCIR_MAP:
		return decode_map(p, left, version, op);
	case UCIR_UNMAP:
	case UCIR_PROT:
		op->addr = ucir_u64(p + 1);
		op->len = version ? ucir_u64(p + 9) : ucir_u32(p + 9);
		op->prot = p[len - 1]; /* of no meaning to UNMAP */
		return len;
	case UCIR_SYSCALL:
		return decode_syscall(p, version, op);
	case UCIR_SIGNAL:
	case UCIR_THREAD_END:
	case UCIR_FORGET:
	case UCIR_CHANGED:
	case UCIR_NOTE:
	case UCIR_END:
	case UCIR_GAP:
		return len ? decode_new(p, len, op) : 0;
	case UCIR_NOP:
	case UCIR_EXIT:
	case UCIR_N_KINDS:
		break;
	}
	return len;
}

/* As ucir_op_read(), where the window ends before the op does. */
static __attribute__((noinline)) bool read_on(struct ucir_stream *s, unsigned version, struct ucir_op *op,
					      struct ts_error *err)
{
	uint64_t need = 1;

	op->kind = UCIR_N_KINDS;
	for (;;) {
		const uint8_t *p = ucir_stream_need(s, need, err);
		uint64_t len;
		size_t n;

		if (!p)
			return false;
		p = ucir_stream_at_hand(s, &n);
		len = decode(p, n, version, op);
		if (!len)
			return ts_fail(err, TS_ECORRUPT, ucir_bytes_file_off(s->bytes, op->off),
				       "unknown op %u", *p);
		if (len <= n) {
			ucir_stream_skip(s, (size_t)len);
			return true;
		}
		need = len;
	}
}

bool ucir_op_read_any(struct ucir_stream *s, unsigned version, struct ucir_op *op, struct ts_error *err)
{
	size_t left;
	const uint8_t *p = ucir_stream_at_hand(s, &left);
	uint64_t len = left ? decode(p, left, version, op) : 0;

	op->off = ucir_stream_tell(s);
	/* Nothing is at hand, it is unknown (len is 0), or it is longer than what is at hand. */
	if (__builtin_expect(len - 1 >= left, 0))
		return read_on(s, version, op, err);
	ucir_stream_skip(s, (size_t)len);
	return true;
}

/* ucir_ops_write_on(), inline: the compiler compares a head of constant length without a call. */
static inline uint32_t write_on(struct ucir_stream *s, const uint8_t *head, size_t head_len, uint64_t addr, uint32_t max,
				uint8_t *data)
{
	size_t len = head_len + UCIR_WORD_LEN, left;
	const uint8_t *p = ucir_stream_at_hand(s, &left);
	uint32_t n, n_left = left / len < max ? (uint32_t)(left / len) : max;

	for (n = 0; n < n_left; n++, addr += 8, p += len) {
		const uint8_t *word = p + head_len;

		if (*word != UCIR_WRITE || ucir_u64(word + 1) != addr || ucir_u32(word + 9) != 8 ||
		    (head_len && memcmp(p, head, head_len)))
			break;
		memcpy(data + n * 8, word + UCIR_WORD_LEN - 8, 8);
	}
	ucir_stream_skip(s, n * len);
	return n;
}

uint32_t ucir_ops_write_on(struct ucir_stream *s, const uint8_t *head, size_t head_len, uint64_t addr,
			   uint32_t max, uint8_t *data)
{
	switch (head_len) {
	case UCIR_FRAME_LEN:
		return write_on(s, head, UCIR_FRAME_LEN, addr, max, data);
	case UCIR_FRAME_LEN + UCIR_JMP_LEN:
		return write_on(s, head, UCIR_FRAME_LEN + UCIR_JMP_LEN, addr, max, data);
	default:
		return write_on(s, head, head_len, addr, max, data);
	}
}
