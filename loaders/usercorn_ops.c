/* SPDX-License-Identifier: MIT */
#include "usercorn_ops.h"

#include <string.h>

const char *ucir_kind_name(unsigned kind)
{
	static const char *const names[UCIR_N_KINDS] = {
		"NOP",      "FRAME",     "KEYFRAME", "JMP",       "STEP",     "REG",     "SPREG",
		"MEM_READ", "MEM_WRITE", "MEM_MAP",  "MEM_UNMAP", "MEM_PROT", "SYSCALL", "EXIT",
	};

	return kind < UCIR_N_KINDS ? names[kind] : "unknown op";
}

/*
 * Little-endian numbers at a fixed place of bytes that ucir_stream_need() gave: that is the gate here, one
 * check an op, as ts_take() is elsewhere.
 */
static inline uint16_t u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap32(v);
}

static inline uint64_t u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

/* The op has @len bytes and @tail more: check that they are there, and pass them.  Returns the tail. */
static const uint8_t *pass(struct ucir_stream *s, size_t len, uint64_t tail, struct ts_error *err)
{
	const uint8_t *p = ucir_stream_need(s, len + tail, err);

	if (!p)
		return NULL;
	ucir_stream_skip(s, len + (size_t)tail);
	return p + len;
}

static bool read_special(struct ucir_stream *s, struct ucir_op *op, struct ts_error *err)
{
	const uint8_t *p = ucir_stream_need(s, 5, err);

	if (!p)
		return false;
	op->num = u16(p + 1);
	op->len = u16(p + 3);
	op->bytes = pass(s, 5, op->len, err);
	return op->bytes != NULL;
}

static bool read_map(struct ucir_stream *s, bool is_v0, struct ucir_op *op, struct ts_error *err)
{
	size_t len = is_v0 ? 34 : 38;
	const uint8_t *p = ucir_stream_need(s, len, err);

	if (!p)
		return false;
	op->addr = u64(p + 1);
	op->len = is_v0 ? u32(p + 9) : u64(p + 9);
	p += len;
	op->prot = p[-21];
	op->file_off = u64(p - 20);
	op->file_len = u64(p - 12);
	op->n_desc = u16(p - 4);
	op->n_file = u16(p - 2);
	op->desc = (const char *)pass(s, len, (uint64_t)op->n_desc + op->n_file, err);
	if (!op->desc)
		return false;
	op->file = op->desc + op->n_desc;
	return true;
}

/* MEM_UNMAP and MEM_PROT. */
static bool read_region(struct ucir_stream *s, bool is_v0, bool has_prot, struct ucir_op *op,
			struct ts_error *err)
{
	size_t len = is_v0 ? 13 : 17;
	const uint8_t *p = ucir_stream_need(s, len + has_prot, err);

	if (!p)
		return false;
	op->addr = u64(p + 1);
	op->len = is_v0 ? u32(p + 9) : u64(p + 9);
	op->prot = has_prot ? p[len] : 0;
	ucir_stream_skip(s, len + has_prot);
	return true;
}

static bool read_syscall(struct ucir_stream *s, bool is_v0, struct ucir_op *op, struct ts_error *err)
{
	size_t len = is_v0 ? 14 : 16;
	const uint8_t *p = ucir_stream_need(s, len, err);

	if (!p)
		return false;
	op->num = is_v0 ? u16(p + 1) : u32(p + 1);
	p += len;
	op->val = u64(p - 11);
	op->n_args = p[-3];
	op->n_ops = u16(p - 2);
	op->bytes = pass(s, len, op->n_args * UINT64_C(8), err);
	return op->bytes != NULL;
}

bool ucir_op_read(struct ucir_stream *s, bool is_v0, struct ucir_op *op, struct ts_error *err)
{
	const uint8_t *p = ucir_stream_need(s, 1, err);

	op->off = ucir_stream_tell(s);
	op->kind = p ? *p : UCIR_N_KINDS;
	if (!p)
		return false;
	switch (*p) {
	case UCIR_NOP:
	case UCIR_EXIT:
		ucir_stream_skip(s, 1);
		return true;
	case UCIR_FRAME:
	case UCIR_KEYFRAME:
		p = ucir_stream_need(s, 13, err);
		if (!p)
			return false;
		op->val = u64(p + 1);
		op->n_ops = u32(p + 9);
		ucir_stream_skip(s, 13);
		return true;
	case UCIR_JMP:
	case UCIR_READ:
		p = ucir_stream_need(s, 13, err);
		if (!p)
			return false;
		op->addr = u64(p + 1);
		op->len = u32(p + 9);
		ucir_stream_skip(s, 13);
		return true;
	case UCIR_STEP:
		p = ucir_stream_need(s, 2, err);
		if (!p)
			return false;
		op->len = p[1];
		ucir_stream_skip(s, 2);
		return true;
	case UCIR_REG:
		p = ucir_stream_need(s, 11, err);
		if (!p)
			return false;
		op->num = u16(p + 1);
		op->bytes = p + 3;
		op->val = u64(p + 3);
		ucir_stream_skip(s, 11);
		return true;
	case UCIR_WRITE:
		p = ucir_stream_need(s, 13, err);
		if (!p)
			return false;
		op->addr = u64(p + 1);
		op->len = u32(p + 9);
		op->bytes = pass(s, 13, op->len, err);
		return op->bytes != NULL;
	case UCIR_SPREG:
		return read_special(s, op, err);
	case UCIR_MAP:
		return read_map(s, is_v0, op, err);
	case UCIR_UNMAP:
	case UCIR_PROT:
		return read_region(s, is_v0, *p == UCIR_PROT, op, err);
	case UCIR_SYSCALL:
		return read_syscall(s, is_v0, op, err);
	}
	return ts_fail(err, TS_ECORRUPT, ucir_bytes_file_off(s->bytes, op->off), "unknown op %u", *p);
}
