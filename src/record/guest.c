/* SPDX-License-Identifier: MIT */
#include "guest.h"

#include <string.h>

#include "vex_flags.h"
#include "loaders/usercorn/op_write.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { EFLAGS = 25, FCTRL = 246, FSTAT = 31, FTAG = 247, ST0 = 114 };

enum { ARM64_ALL_FLAGS = 0xf0u << 24 };

#define PLAIN(num, off) { TS_GUEST_PLAIN, 0, num, off }

/* -------------------------------------------------------------------------------- amd64 */

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

static unsigned amd64_reg(unsigned off, unsigned len)
{
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

/* cs ss ds es fs gs of every 64-bit program. */
static const uint16_t amd64_constants[][2] = { { 11, 0x33 }, { 49, 0x2b }, { 17, 0 }, { 28, 0 }, { 32, 0 }, { 33, 0 } };

static const struct ts_log_guest amd64 = {
	.arch = "x86_64", .word = 8, .n_state = AMD64_STATE, .sp = RSP, .result = RAX, .arg = { 72, 64 },
	.regs = amd64_regs, .n_regs = COUNT(amd64_regs), .reg = amd64_reg,
	.constants = amd64_constants, .n_constants = COUNT(amd64_constants),
	.cc = CC_OP, .dflag = DFLAG, .acflag = ACFLAG, .idflag = ACFLAG + 8,
	.x87 = FTOP, .end_x87 = FP_END, .ftop = FTOP, .fpreg = FPREG, .fptag = FPTAG, .fpround = FPROUND, .fc3210 = FC3210,
	.calls = { 59, 322, 60, 231, 56, 435, 57, 58, 62, 234, 157, 317 },
};

/* -------------------------------------------------------------------------------- x86 */

/* Offsets in the guest state of x86. */
enum {
	X86_EAX = 8,
	X86_ESP = 24,
	X86_CC_OP = 40,
	X86_DFLAG = 56,
	X86_IDFLAG = 60,
	X86_ACFLAG = 64,
	X86_EIP = 68,
	X86_FPREG = 72,
	X86_FPTAG = 136,
	X86_FPROUND = 144,
	X86_FC3210 = 148,
	X86_FTOP = 152,
	X86_SSEROUND = 156,
	X86_XMM0 = 160,
	X86_CS = 288,
	X86_SEGMENTS_END = 300,
	X86_STATE = 352,
};

#define X86_XMM(n) { TS_GUEST_XMM_ONLY, n, 122 + (n), X86_XMM0 + 16 * (n) }
#define SEGMENT(num, n) { TS_GUEST_SHORT, n, num, X86_CS + 2 * (n) }

static const struct ts_guest_reg x86_regs[] = {
	PLAIN(19, 8), PLAIN(22, 12), PLAIN(24, 16), PLAIN(21, 20), PLAIN(30, 24), PLAIN(20, 28), PLAIN(29, 32), PLAIN(23, 36),
	{ TS_GUEST_FLAGS, 0, EFLAGS, X86_CC_OP },
	{ TS_GUEST_X87, 0, ST0, X86_FPREG },
	{ TS_GUEST_MXCSR, 0, 249, X86_SSEROUND },
	X86_XMM(0), X86_XMM(1), X86_XMM(2), X86_XMM(3), X86_XMM(4), X86_XMM(5), X86_XMM(6), X86_XMM(7),
	SEGMENT(11, 0), SEGMENT(17, 1), SEGMENT(28, 2), SEGMENT(32, 3), SEGMENT(33, 4), SEGMENT(49, 5), /* cs ds es fs gs ss */
};

enum { X86_AT_FLAGS = 8, X86_AT_X87 = 9, X86_AT_MXCSR = 10, X86_AT_XMM = 11, X86_AT_CS = 19 };

static unsigned x86_reg(unsigned off, unsigned)
{
	if (off < X86_EAX || (off >= X86_EIP && off < X86_FPREG) || off >= X86_SEGMENTS_END)
		return TS_GUEST_NO_REG;
	if (off < X86_CC_OP)
		return (off - X86_EAX) / 4;
	if (off < X86_EIP)
		return X86_AT_FLAGS;
	if (off < X86_SSEROUND)
		return X86_AT_X87;
	if (off < X86_XMM0)
		return X86_AT_MXCSR;
	return off < X86_CS ? X86_AT_XMM + (off - X86_XMM0) / 16 : X86_AT_CS + (off - X86_CS) / 2;
}

static const struct ts_log_guest x86 = {
	.arch = "x86", .word = 4, .n_state = X86_STATE, .sp = X86_ESP, .result = X86_EAX,
	.regs = x86_regs, .n_regs = COUNT(x86_regs), .reg = x86_reg,
	.cc = X86_CC_OP, .dflag = X86_DFLAG, .acflag = X86_ACFLAG, .idflag = X86_IDFLAG,
	.x87 = X86_FPREG, .end_x87 = X86_SSEROUND, .ftop = X86_FTOP, .fpreg = X86_FPREG, .fptag = X86_FPTAG,
	.fpround = X86_FPROUND, .fc3210 = X86_FC3210,
	.calls = { 11, 358, 1, 252, 120, 435, 2, 190, 37, 270, 172, 354 },
};

/* -------------------------------------------------------------------------------- arm64 */

/* Offsets in the guest state of arm64. */
enum {
	ARM64_X0 = 16,
	ARM64_SP = 264,
	ARM64_CC_OP = 280,
	ARM64_Q0 = 320,
	ARM64_QCFLAG = 832,
	ARM64_FPCR = 888,
	ARM64_STATE = 928,
};

#define ARM64_X(n) PLAIN(199 + (n), ARM64_X0 + 8 * (n))
#define ARM64_V(n) { TS_GUEST_XMM_ONLY, n, 228 + (n), ARM64_Q0 + 16 * (n) }
#define EIGHT(reg, n) reg(n), reg(n + 1), reg(n + 2), reg(n + 3), reg(n + 4), reg(n + 5), reg(n + 6), reg(n + 7)

/* x29 and x30 have numbers of their own. */
static const struct ts_guest_reg arm64_regs[] = {
	EIGHT(ARM64_X, 0), EIGHT(ARM64_X, 8), EIGHT(ARM64_X, 16), ARM64_X(24), ARM64_X(25), ARM64_X(26), ARM64_X(27), ARM64_X(28),
	PLAIN(1, 248), PLAIN(2, 256), PLAIN(4, ARM64_SP),
	{ TS_GUEST_FLAGS, 0, 265, ARM64_CC_OP },
	EIGHT(ARM64_V, 0), EIGHT(ARM64_V, 8), EIGHT(ARM64_V, 16), EIGHT(ARM64_V, 24),
	{ TS_GUEST_SATURATED, 0, 292, ARM64_QCFLAG },
	{ TS_GUEST_HALF, 0, 291, ARM64_FPCR },
};

enum { ARM64_AT_FLAGS = 32, ARM64_AT_V = 33, ARM64_AT_FPSR = 65, ARM64_AT_FPCR = 66 };

static unsigned arm64_reg(unsigned off, unsigned)
{
	if (off >= ARM64_X0 && off < ARM64_SP + 8)
		return (off - ARM64_X0) / 8;
	if (off >= ARM64_CC_OP && off < ARM64_CC_OP + 32)
		return ARM64_AT_FLAGS;
	if (off >= ARM64_Q0 && off < ARM64_QCFLAG)
		return ARM64_AT_V + (off - ARM64_Q0) / 16;
	if (off >= ARM64_QCFLAG && off < ARM64_QCFLAG + 16)
		return ARM64_AT_FPSR;
	return off >= ARM64_FPCR && off < ARM64_FPCR + 4 ? ARM64_AT_FPCR : TS_GUEST_NO_REG;
}

static const struct ts_log_guest arm64 = {
	.arch = "arm64", .word = 8, .is_arm64 = true, .n_state = ARM64_STATE, .sp = ARM64_SP, .result = ARM64_X0, .arg = { 16, 24 },
	.regs = arm64_regs, .n_regs = COUNT(arm64_regs), .reg = arm64_reg,
	.cc = ARM64_CC_OP,
	.calls = { 221, 281, 93, 94, 220, 435, TS_GUEST_NO_CALL, TS_GUEST_NO_CALL, 129, 131, 167, 277 },
};

/* -------------------------------------------------------------------------------- parts of the state */

const struct ts_log_guest *ts_log_guest_find(const char *arch)
{
	static const struct ts_log_guest *const guests[] = { &amd64, &x86, &arm64 };

	for (size_t i = 0; i < COUNT(guests); i++) {
		if (strcmp(arch, guests[i]->arch) == 0)
			return guests[i];
	}
	return NULL;
}

unsigned ts_log_guest_reg(const struct ts_log_guest *g, unsigned off, unsigned len)
{
	return g->reg(off, len);
}

bool ts_log_guest_knows(const struct ts_log_guest *g, const struct ts_log_flags *f)
{
	uint64_t op = g->word == 8 ? f->op : ts_vex_op_of_32(f->op);

	if (g->is_arm64)
		return f->op < TS_VEX_N_OPS_ARM64 &&
		       ts_vex_flags_arm64(f->op, f->dep1, f->dep2, f->ndep) == (f->flags & ARM64_ALL_FLAGS);
	return f->op < (g->word == 8 ? TS_VEX_N_OPS_64 : TS_VEX_N_OPS_32) &&
	       ts_vex_flags(op, f->dep1, f->dep2, f->ndep) == (f->flags & 0x8d5);
}

static uint64_t u64_at(const uint8_t *state, unsigned off)
{
	uint64_t val;

	memcpy(&val, state + off, sizeof(val));
	return val;
}

static uint32_t u32_at(const uint8_t *state, unsigned off)
{
	uint32_t val;

	memcpy(&val, state + off, sizeof(val));
	return val;
}

static uint64_t word_at(const struct ts_log_guest *g, const uint8_t *state, unsigned off)
{
	return g->word == 8 ? u64_at(state, off) : u32_at(state, off);
}

static uint16_t short_at(const uint8_t *state, unsigned off)
{
	uint16_t val;

	memcpy(&val, state + off, sizeof(val));
	return val;
}

static uint32_t arm64_flags_at(const struct ts_log_guest *g, const uint8_t *state)
{
	uint64_t op = u64_at(state, g->cc);

	if (op >= TS_VEX_N_OPS_ARM64)
		return 0;
	return (uint32_t)ts_vex_flags_arm64(op, u64_at(state, g->cc + 8u), u64_at(state, g->cc + 16u), u64_at(state, g->cc + 24u));
}

/* FPSR of AArch64, of which Valgrind has one bit: QC, set if any of these bytes is. */
static uint32_t saturated_at(const uint8_t *state, unsigned off)
{
	return u64_at(state, off) | u64_at(state, off + 8) ? UINT32_C(1) << 27 : 0;
}

/* x86: bits 1 and IF, which Valgrind leaves out, are always set in a program. */
static uint32_t x86_flags_at(const struct ts_log_guest *g, const uint8_t *state)
{
	uint64_t op = word_at(g, state, g->cc);
	uint64_t flags = ts_vex_flags(g->word == 8 ? op : ts_vex_op_of_32(op), word_at(g, state, g->cc + g->word),
				      word_at(g, state, g->cc + 2 * g->word), word_at(g, state, g->cc + 3 * g->word));

	flags |= u32_at(state, g->dflag) >> 31 ? 0x400 : 0; /* 1 or -1 */
	flags |= (word_at(g, state, g->acflag) & 1) << 18 | (word_at(g, state, g->idflag) & 1) << 21;
	return (uint32_t)flags | 0x202;
}

static uint32_t flags_at(const struct ts_log_guest *g, const uint8_t *state)
{
	return g->is_arm64 ? arm64_flags_at(g, state) : x86_flags_at(g, state);
}

static uint32_t mxcsr_at(const uint8_t *state, unsigned off)
{
	return 0x1f80 | (u32_at(state, off) & 3) << 13;
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

static uint32_t tags_of(const uint8_t *tag)
{
	uint32_t tags = 0;

	for (unsigned i = 0; i < 8; i++)
		tags |= tag[i] ? 0 : 3u << 2 * i;
	return tags;
}

/* Intel's manual, volume 1, 9.5.1: bits 64 to 79 become ones. */
static void extend_mmx(uint64_t bits, uint8_t to[10])
{
	ucir_put_u64(to, bits);
	ucir_put_u16(to + 8, 0xffff);
}

int ts_log_guest_x87_place(const struct ts_log_guest *g, unsigned off)
{
	return g->fpreg && off >= g->fpreg && off < g->fpreg + 64u && !(off & 7) ? (int)(off - g->fpreg) / 8 : -1;
}

uint8_t ts_log_guest_same_mmx(const struct ts_log_guest *g, uint8_t mmx, const uint8_t *a, const uint8_t *b)
{
	for (unsigned i = 0; mmx && i < 8; i++) {
		if (u64_at(a, g->fpreg + 8 * i) != u64_at(b, g->fpreg + 8 * i))
			mmx &= (uint8_t)~(1u << i);
	}
	return mmx;
}

static uint8_t *put_x87(const struct ts_log_guest *g, const uint8_t *state, uint8_t mmx, uint8_t *p, uint32_t *n_ops)
{
	unsigned top = state[g->ftop] & 7;
	uint8_t st[10];

	for (unsigned i = 0; i < 8; i++) {
		unsigned place = (top + i) & 7;
		uint64_t bits = u64_at(state, g->fpreg + 8 * place);

		if (mmx >> place & 1)
			extend_mmx(bits, st);
		else
			extend_double(bits, st);
		p = ucir_put_spreg(p, (uint16_t)(ST0 + i), st, sizeof(st));
	}
	p = ucir_put_reg(p, FCTRL, 0x37f | (u32_at(state, g->fpround) & 3) << 10);
	p = ucir_put_reg(p, FSTAT, (u32_at(state, g->fc3210) & 0x4700) | top << 11);
	p = ucir_put_reg(p, FTAG, tags_of(state + g->fptag));
	*n_ops += 11;
	return p;
}

/* -------------------------------------------------------------------------------- ops */

/* The number of a register that a recording has as a REG. */
static uint64_t number_at(const struct ts_log_guest *g, const struct ts_guest_reg *r, const uint8_t *state)
{
	switch (r->kind) {
	case TS_GUEST_FLAGS: return flags_at(g, state);
	case TS_GUEST_MXCSR: return mxcsr_at(state, r->off);
	case TS_GUEST_HALF: return u32_at(state, r->off);
	case TS_GUEST_SATURATED: return saturated_at(state, r->off);
	case TS_GUEST_SHORT: return short_at(state, r->off);
	default: return word_at(g, state, r->off);
	}
}

/* The bytes of a register that a recording has as an SPREG; 0: it is not one. */
static uint16_t vector_len(const struct ts_guest_reg *r)
{
	return r->kind == TS_GUEST_YMM ? 32 : r->kind == TS_GUEST_XMM || r->kind == TS_GUEST_XMM_ONLY ? 16 : 0;
}

uint8_t *ts_log_guest_put(const struct ts_log_guest *g, const struct ts_guest_reg *r, const uint8_t *state, uint8_t mmx,
			  uint8_t *p, uint32_t *n_ops)
{
	if (r->kind == TS_GUEST_X87)
		return put_x87(g, state, mmx, p, n_ops);
	++*n_ops;
	return vector_len(r) ? ucir_put_spreg(p, r->num, state + r->off, vector_len(r)) :
			       ucir_put_reg(p, r->num, number_at(g, r, state));
}

bool ts_log_guest_differs(const struct ts_log_guest *g, const struct ts_guest_reg *r, const uint8_t *a, const uint8_t *b)
{
	if (r->kind == TS_GUEST_XMM)
		return false; /* ymm has it */
	if (r->kind == TS_GUEST_X87)
		return memcmp(a + g->x87, b + g->x87, (size_t)(g->end_x87 - g->x87)) != 0;
	return vector_len(r) ? memcmp(a + r->off, b + r->off, vector_len(r)) != 0 : number_at(g, r, a) != number_at(g, r, b);
}

uint8_t *ts_log_guest_put_constants(const struct ts_log_guest *g, uint8_t *p, uint32_t *n_ops)
{
	for (unsigned i = 0; i < g->n_constants; i++)
		p = ucir_put_reg(p, g->constants[i][0], g->constants[i][1]);
	*n_ops += g->n_constants;
	return p;
}
