/* SPDX-License-Identifier: MIT */
#include "guest.h"

#include <string.h>

#include "vex_flags.h"
#include "loaders/usercorn/op_write.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Offsets in the guest state of amd64. */
enum {
	RAX = 16,
	RSP = 48,
	CC_OP = 144,
	DFLAG = 176,
	ACFLAG = 192,
	FS_CONST = 208,
	SSEROUND = 216,
	YMM0 = 224,
	FTOP = 768,
	FPREG = 776,
	FPTAG = 840,
	FPROUND = 848,
	FC3210 = 856,
	FP_END = 864,
	GS_CONST = 904,
	AMD64_STATE = 928,
};

enum { EFLAGS = 25, FCTRL = 246, FSTAT = 31, FTAG = 247, ST0 = 114 };

#define PLAIN(num, off) { TS_GUEST_PLAIN, 0, num, off }
#define XMM(n) { TS_GUEST_XMM, n, 122 + (n), YMM0 + 32 * (n) }
#define YMM(n) { TS_GUEST_YMM, n, 154 + (n), YMM0 + 32 * (n) }

/* The order of the guest state; xmm before ymm. */
static const struct ts_guest_reg amd64_regs[] = {
	PLAIN(35, 16),	PLAIN(38, 24),	PLAIN(40, 32),	PLAIN(37, 40),	PLAIN(44, 48),	PLAIN(36, 56),
	PLAIN(43, 64),	PLAIN(39, 72),	PLAIN(106, 80), PLAIN(107, 88), PLAIN(108, 96), PLAIN(109, 104),
	PLAIN(110, 112), PLAIN(111, 120), PLAIN(112, 128), PLAIN(113, 136),
	{ TS_GUEST_FLAGS, 0, EFLAGS, CC_OP },
	PLAIN(250, FS_CONST),
	{ TS_GUEST_MXCSR, 0, 249, SSEROUND },
	XMM(0), XMM(1), XMM(2), XMM(3), XMM(4), XMM(5), XMM(6), XMM(7),
	XMM(8), XMM(9), XMM(10), XMM(11), XMM(12), XMM(13), XMM(14), XMM(15),
	YMM(0), YMM(1), YMM(2), YMM(3), YMM(4), YMM(5), YMM(6), YMM(7),
	YMM(8), YMM(9), YMM(10), YMM(11), YMM(12), YMM(13), YMM(14), YMM(15),
	{ TS_GUEST_X87, 0, ST0, FTOP },
	PLAIN(251, GS_CONST),
};

enum { AT_FLAGS = 16, AT_FS = 17, AT_MXCSR = 18, AT_XMM = 19, AT_YMM = 35, AT_X87 = 51, AT_GS = 52 };

static const struct ts_log_guest amd64 = {
	.arch = "x86_64", .word = 8, .n_state = AMD64_STATE, .sp = RSP, .result = RAX, .arg = { 72, 64 },
	.regs = amd64_regs, .n_regs = COUNT(amd64_regs),
	.calls = { 59, 322, 60, 231, 56, 435, 57, 58, 62, 234 },
};

const struct ts_log_guest *ts_log_guest_find(const char *arch)
{
	return strcmp(arch, amd64.arch) == 0 ? &amd64 : NULL;
}

unsigned ts_log_guest_reg(const struct ts_log_guest *g, unsigned off, unsigned len)
{
	(void)g;
	if (off < RAX)
		return TS_GUEST_NO_REG;
	if (off < CC_OP)
		return (off - RAX) / 8;
	if (off < DFLAG + 8 || (off >= ACFLAG && off < FS_CONST))
		return AT_FLAGS;
	if (off >= FS_CONST && off < SSEROUND)
		return AT_FS;
	if (off >= SSEROUND && off < YMM0)
		return AT_MXCSR;
	if (off >= YMM0 && off < YMM0 + 16 * 32)
		return (off - YMM0) % 32 + len > 16 ? AT_YMM + (off - YMM0) / 32 : AT_XMM + (off - YMM0) / 32;
	if (off >= FTOP && off < FP_END)
		return AT_X87;
	return off >= GS_CONST && off < GS_CONST + 8 ? AT_GS : TS_GUEST_NO_REG;
}

static uint64_t word_at(const uint8_t *state, unsigned off)
{
	uint64_t val;

	memcpy(&val, state + off, sizeof(val));
	return val;
}

/* Bits 1 and IF, which Valgrind leaves out, are always set in a program. */
static uint32_t flags_at(const uint8_t *state)
{
	uint64_t flags = ts_vex_flags(word_at(state, CC_OP), word_at(state, CC_OP + 8), word_at(state, CC_OP + 16),
				     word_at(state, CC_OP + 24));

	flags |= word_at(state, DFLAG) >> 63 ? 0x400 : 0;
	flags |= (word_at(state, ACFLAG) & 1) << 18 | (word_at(state, ACFLAG + 8) & 1) << 21;
	return (uint32_t)flags | 0x202;
}

static uint32_t mxcsr_at(const uint8_t *state)
{
	return 0x1f80 | (uint32_t)(word_at(state, SSEROUND) & 3) << 13;
}

/* -------------------------------------------------------------------------------- x87 */

/* Valgrind computes with doubles: the same number in the processor's ten bytes. */
static void extend_double(uint64_t bits, uint8_t to[10])
{
	uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1), mantissa;
	unsigned exponent = bits >> 52 & 0x7ff, wide;

	if (exponent == 0x7ff) {
		wide = 0x7fff;
		mantissa = UINT64_C(1) << 63 | fraction << 11;
	} else if (exponent) {
		wide = exponent - 1023 + 16383;
		mantissa = UINT64_C(1) << 63 | fraction << 11;
	} else if (fraction) {
		unsigned shift = (unsigned)__builtin_clzll(fraction);

		mantissa = fraction << shift;
		wide = 16383 - 1022 - (shift - 11);
	} else {
		wide = 0;
		mantissa = 0;
	}
	ucir_put_u64(to, mantissa);
	ucir_put_u16(to + 8, wide | (bits >> 63 ? 0x8000 : 0));
}

static unsigned top_of(const uint8_t *state)
{
	return state[FTOP] & 7;
}

static uint32_t tags_of(const uint8_t *state)
{
	uint32_t tags = 0;

	for (unsigned i = 0; i < 8; i++)
		tags |= state[FPTAG + i] ? 0 : 3u << 2 * i;
	return tags;
}

static uint8_t *put_x87(const uint8_t *state, uint8_t *p, uint32_t *n_ops)
{
	uint8_t st[10];

	for (unsigned i = 0; i < 8; i++) {
		extend_double(word_at(state, FPREG + 8 * ((top_of(state) + i) & 7)), st);
		p = ucir_put_spreg(p, (uint16_t)(ST0 + i), st, sizeof(st));
	}
	p = ucir_put_reg(p, FCTRL, 0x37f | (word_at(state, FPROUND) & 3) << 10);
	p = ucir_put_reg(p, FSTAT, (word_at(state, FC3210) & 0x4700) | top_of(state) << 11);
	p = ucir_put_reg(p, FTAG, tags_of(state));
	*n_ops += 11;
	return p;
}

/* -------------------------------------------------------------------------------- ops */

uint8_t *ts_log_guest_put(const struct ts_log_guest *g, const struct ts_guest_reg *r, const uint8_t *state, uint8_t *p,
			  uint32_t *n_ops)
{
	(void)g;
	switch (r->kind) {
	case TS_GUEST_FLAGS:
		p = ucir_put_reg(p, r->num, flags_at(state));
		break;
	case TS_GUEST_MXCSR:
		p = ucir_put_reg(p, r->num, mxcsr_at(state));
		break;
	case TS_GUEST_XMM:
		p = ucir_put_spreg(p, r->num, state + r->off, 16);
		break;
	case TS_GUEST_YMM:
		p = ucir_put_spreg(p, r->num, state + r->off, 32);
		break;
	case TS_GUEST_X87:
		return put_x87(state, p, n_ops);
	default:
		p = ucir_put_reg(p, r->num, word_at(state, r->off));
		break;
	}
	++*n_ops;
	return p;
}

bool ts_log_guest_differs(const struct ts_log_guest *g, const struct ts_guest_reg *r, const uint8_t *a, const uint8_t *b)
{
	(void)g;
	switch (r->kind) {
	case TS_GUEST_FLAGS:
		return flags_at(a) != flags_at(b);
	case TS_GUEST_XMM:
		return false; /* ymm has it */
	case TS_GUEST_YMM:
		return memcmp(a + r->off, b + r->off, 32) != 0;
	case TS_GUEST_X87:
		return memcmp(a + FTOP, b + FTOP, FP_END - FTOP) != 0;
	default:
		return word_at(a, r->off) != word_at(b, r->off);
	}
}

/* cs ss ds es fs gs of every 64-bit program. */
uint8_t *ts_log_guest_put_constants(const struct ts_log_guest *g, uint8_t *p, uint32_t *n_ops)
{
	static const uint16_t segments[][2] = { { 11, 0x33 }, { 49, 0x2b }, { 17, 0 }, { 28, 0 }, { 32, 0 }, { 33, 0 } };

	(void)g;
	for (size_t i = 0; i < COUNT(segments); i++)
		p = ucir_put_reg(p, segments[i][0], segments[i][1]);
	*n_ops += COUNT(segments);
	return p;
}
