/* SPDX-License-Identifier: MIT */
#include "ax.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ax_format.h"

/*
 * The instructions, numbered as in gdb's manual, "The Agent Expression Mechanism".  Operands follow in the
 * code, big-endian.
 */
enum opcode {
	OP_FLOAT = 0x01,
	OP_ADD = 0x02,
	OP_SUB = 0x03,
	OP_MUL = 0x04,
	OP_DIV_SIGNED = 0x05,
	OP_DIV_UNSIGNED = 0x06,
	OP_REM_SIGNED = 0x07,
	OP_REM_UNSIGNED = 0x08,
	OP_LSH = 0x09,
	OP_RSH_SIGNED = 0x0a,
	OP_RSH_UNSIGNED = 0x0b,
	OP_TRACE = 0x0c,
	OP_TRACE_QUICK = 0x0d,
	OP_LOG_NOT = 0x0e,
	OP_BIT_AND = 0x0f,
	OP_BIT_OR = 0x10,
	OP_BIT_XOR = 0x11,
	OP_BIT_NOT = 0x12,
	OP_EQUAL = 0x13,
	OP_LESS_SIGNED = 0x14,
	OP_LESS_UNSIGNED = 0x15,
	OP_EXT = 0x16,
	OP_REF8 = 0x17,
	OP_REF16 = 0x18,
	OP_REF32 = 0x19,
	OP_REF64 = 0x1a,
	OP_REF_FLOAT = 0x1b,
	OP_REF_DOUBLE = 0x1c,
	OP_REF_LONG_DOUBLE = 0x1d,
	OP_L_TO_D = 0x1e,
	OP_D_TO_L = 0x1f,
	OP_IF_GOTO = 0x20,
	OP_GOTO = 0x21,
	OP_CONST8 = 0x22,
	OP_CONST16 = 0x23,
	OP_CONST32 = 0x24,
	OP_CONST64 = 0x25,
	OP_REG = 0x26,
	OP_END = 0x27,
	OP_DUP = 0x28,
	OP_POP = 0x29,
	OP_ZERO_EXT = 0x2a,
	OP_SWAP = 0x2b,
	OP_GETV = 0x2c,
	OP_SETV = 0x2d,
	OP_TRACEV = 0x2e,
	OP_TRACENZ = 0x2f,
	OP_TRACE16 = 0x30,
	OP_PICK = 0x32,
	OP_ROT = 0x33,
	OP_PRINTF = 0x34,
};

#define N_OPCODES (OP_PRINTF + 1)

/* Operands of a printf before its format: the number of arguments, the format's length. */
#define PRINTF_HEADER 3

/* The needs of an instruction, as far as they follow from its opcode alone. */
struct shape {
	bool is_legal;
	uint8_t operands; /* bytes */
	uint8_t pops;
	uint8_t pushes;
};

static const struct shape shapes[N_OPCODES] = {
	[OP_ADD] = { true, 0, 2, 1 },
	[OP_SUB] = { true, 0, 2, 1 },
	[OP_MUL] = { true, 0, 2, 1 },
	[OP_DIV_SIGNED] = { true, 0, 2, 1 },
	[OP_DIV_UNSIGNED] = { true, 0, 2, 1 },
	[OP_REM_SIGNED] = { true, 0, 2, 1 },
	[OP_REM_UNSIGNED] = { true, 0, 2, 1 },
	[OP_LSH] = { true, 0, 2, 1 },
	[OP_RSH_SIGNED] = { true, 0, 2, 1 },
	[OP_RSH_UNSIGNED] = { true, 0, 2, 1 },
	[OP_TRACE] = { true, 0, 2, 0 },
	[OP_TRACE_QUICK] = { true, 1, 1, 1 },
	[OP_LOG_NOT] = { true, 0, 1, 1 },
	[OP_BIT_AND] = { true, 0, 2, 1 },
	[OP_BIT_OR] = { true, 0, 2, 1 },
	[OP_BIT_XOR] = { true, 0, 2, 1 },
	[OP_BIT_NOT] = { true, 0, 1, 1 },
	[OP_EQUAL] = { true, 0, 2, 1 },
	[OP_LESS_SIGNED] = { true, 0, 2, 1 },
	[OP_LESS_UNSIGNED] = { true, 0, 2, 1 },
	[OP_EXT] = { true, 1, 1, 1 },
	[OP_REF8] = { true, 0, 1, 1 },
	[OP_REF16] = { true, 0, 1, 1 },
	[OP_REF32] = { true, 0, 1, 1 },
	[OP_REF64] = { true, 0, 1, 1 },
	[OP_IF_GOTO] = { true, 2, 1, 0 },
	[OP_GOTO] = { true, 2, 0, 0 },
	[OP_CONST8] = { true, 1, 0, 1 },
	[OP_CONST16] = { true, 2, 0, 1 },
	[OP_CONST32] = { true, 4, 0, 1 },
	[OP_CONST64] = { true, 8, 0, 1 },
	[OP_REG] = { true, 2, 0, 1 },
	[OP_END] = { true, 0, 0, 0 },
	[OP_DUP] = { true, 0, 1, 2 },
	[OP_POP] = { true, 0, 1, 0 },
	[OP_ZERO_EXT] = { true, 1, 1, 1 },
	[OP_SWAP] = { true, 0, 2, 2 },
	[OP_GETV] = { true, 2, 0, 1 },
	[OP_SETV] = { true, 2, 1, 1 },
	[OP_TRACEV] = { true, 2, 0, 0 },
	[OP_TRACENZ] = { true, 0, 2, 0 },
	[OP_TRACE16] = { true, 2, 1, 1 },
	[OP_PICK] = { true, 1, 0, 1 },                /* needs as many as its operand says */
	[OP_ROT] = { true, 0, 3, 3 },
	[OP_PRINTF] = { true, PRINTF_HEADER, 2, 0 }, /* and its arguments, and its format */
};

struct ts_ax {
	size_t len;
	uint8_t code[]; /* checked */
};

/* The big-endian operand of @len bytes at @p. */
static uint64_t operand(const uint8_t *p, unsigned len)
{
	uint64_t value = 0;

	while (len--)
		value = value << 8 | *p++;
	return value;
}

static unsigned operand16(const uint8_t *p)
{
	return (unsigned)operand(p, 2);
}

/* Length of an instruction whose fixed operands lie in the code. */
static size_t insn_len(const uint8_t *insn)
{
	size_t len = 1 + (size_t)shapes[*insn].operands;

	return *insn == OP_PRINTF ? len + operand16(insn + 2) : len;
}

/*
 * The check.  For each byte of code: the beginning of an instruction that was not reached yet, part of an
 * instruction, or the height of the stack with which the instruction is reached.
 */
#define HEIGHT_UNSEEN 0xff
#define HEIGHT_INSIDE 0xfe

/* A path that has not been followed yet. */
struct branch {
	uint16_t target;
	uint8_t height;
};

struct check {
	const uint8_t *code;
	size_t len;
	uint8_t *heights;
	struct branch *pending; /* room for one for each if_goto */
	size_t n_pending;
};

static bool is_float(uint8_t op)
{
	return op == OP_FLOAT || (op >= OP_REF_FLOAT && op <= OP_D_TO_L);
}

static enum ts_ax_error check_insn(const uint8_t *insn, size_t left)
{
	if (is_float(*insn))
		return TS_AX_FLOAT;
	if (*insn >= N_OPCODES || !shapes[*insn].is_legal)
		return TS_AX_BAD_OPCODE;
	if (left < 1 + (size_t)shapes[*insn].operands || left < insn_len(insn))
		return TS_AX_TRUNCATED;
	if (*insn == OP_PRINTF &&
	    !ts_ax_format_check(insn + 1 + PRINTF_HEADER, operand16(insn + 2), insn[1]))
		return ts_ax_format_has_float(insn + 1 + PRINTF_HEADER, operand16(insn + 2))
			       ? TS_AX_FLOAT_FORMAT
			       : TS_AX_BAD_FORMAT;
	return TS_AX_OK;
}

/* From the first byte to the last, reached or not, so that each byte belongs to one instruction. */
static enum ts_ax_error check_insns(struct check *c)
{
	memset(c->heights, HEIGHT_INSIDE, c->len);
	for (size_t pc = 0; pc < c->len; pc += insn_len(c->code + pc)) {
		enum ts_ax_error error = check_insn(c->code + pc, c->len - pc);

		if (error)
			return error;
		c->heights[pc] = HEIGHT_UNSEEN;
	}
	return TS_AX_OK;
}

/* *height is the height of the stack before the instruction, and gets that after it. */
static enum ts_ax_error check_stack(const uint8_t *insn, unsigned *height)
{
	unsigned pops = shapes[*insn].pops;
	unsigned needs = pops;

	if (*insn == OP_PICK)
		needs = insn[1] + 1u;
	if (*insn == OP_PRINTF)
		needs = pops += insn[1];
	if (*height < needs)
		return TS_AX_UNDERFLOW;
	*height = *height - pops + shapes[*insn].pushes;
	return *height > TS_AX_MAX_STACK ? TS_AX_OVERFLOW : TS_AX_OK;
}

/* Can the instruction at @target be reached with this height? */
static enum ts_ax_error check_target(const struct check *c, size_t target, unsigned height)
{
	if (target >= c->len || c->heights[target] == HEIGHT_INSIDE)
		return TS_AX_BAD_JUMP;
	if (c->heights[target] != HEIGHT_UNSEEN && c->heights[target] != height)
		return TS_AX_HEIGHT;
	return TS_AX_OK;
}

/* Follow the code from @pc on, to an end or to code already followed. */
static enum ts_ax_error check_path(struct check *c, size_t pc, unsigned height)
{
	enum ts_ax_error error = TS_AX_OK;

	while (!error && c->heights[pc] == HEIGHT_UNSEEN) {
		const uint8_t *insn = c->code + pc;

		c->heights[pc] = (uint8_t)height;
		error = check_stack(insn, &height);
		if (error || *insn == OP_END)
			return error;
		pc += insn_len(insn);
		if (*insn == OP_GOTO)
			pc = operand16(insn + 1);
		if (*insn == OP_IF_GOTO) {
			c->pending[c->n_pending++] =
				(struct branch){ (uint16_t)operand16(insn + 1), (uint8_t)height };
		}
		if (*insn != OP_GOTO && pc == c->len)
			return TS_AX_NO_END;
		error = check_target(c, pc, height);
	}
	return error;
}

static enum ts_ax_error check_paths(struct check *c)
{
	enum ts_ax_error error = check_path(c, 0, 0);

	while (!error && c->n_pending) {
		struct branch next = c->pending[--c->n_pending];

		error = check_target(c, next.target, next.height);
		if (!error)
			error = check_path(c, next.target, next.height);
	}
	return error;
}

static enum ts_ax_error check(const uint8_t *code, size_t len)
{
	struct check c = { .code = code, .len = len };
	enum ts_ax_error error = TS_AX_NO_MEMORY;

	c.heights = malloc(len);
	c.pending = calloc(len / 3 + 1, sizeof *c.pending); /* an if_goto is 3 bytes */
	if (c.heights && c.pending) {
		error = check_insns(&c);
		if (!error)
			error = check_paths(&c);
	}
	free(c.heights);
	free(c.pending);
	return error;
}

struct ts_ax *ts_ax_new(const uint8_t *code, size_t len, enum ts_ax_error *error)
{
	struct ts_ax *ax;

	*error = len ? check(code, len) : TS_AX_EMPTY;
	if (*error)
		return NULL;
	ax = malloc(sizeof *ax + len);
	if (!ax) {
		*error = TS_AX_NO_MEMORY;
		return NULL;
	}
	ax->len = len;
	memcpy(ax->code, code, len);
	return ax;
}

void ts_ax_free(struct ts_ax *ax)
{
	free(ax);
}

const uint8_t *ts_ax_code(const struct ts_ax *ax, size_t *len)
{
	*len = ax->len;
	return ax->code;
}

/* The evaluation.  The code has been checked: only unknown data and bad numbers can make it fail. */
struct machine {
	const struct ts_ax_env *env;
	uint32_t budget; /* steps left */
};

/* A step is one instruction, or one block of memory searched for the end of a string. */
static bool spend_step(struct machine *m)
{
	if (!m->budget)
		return false;
	m->budget--;
	return true;
}

/* @b is not 0.  The smallest signed number divided by -1 is itself. */
static uint64_t divide(enum opcode op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_DIV_SIGNED: return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
	case OP_REM_SIGNED: return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
	case OP_DIV_UNSIGNED: return a / b;
	default: return a % b;
	}
}

static uint64_t shift_left(uint64_t a, uint64_t n)
{
	return n < 64 ? a << n : 0;
}

static uint64_t shift_right(uint64_t a, uint64_t n)
{
	return n < 64 ? a >> n : 0;
}

static uint64_t shift_right_signed(uint64_t a, uint64_t n)
{
	/* cppcheck-suppress shiftTooManyBitsSigned; gcc and clang define it as arithmetic */
	return (uint64_t)((int64_t)a >> (n < 64 ? n : 63));
}

static uint64_t zero_extend(uint64_t value, unsigned bits)
{
	return bits < 64 ? value & (((uint64_t)1 << bits) - 1) : value;
}

static uint64_t sign_extend(uint64_t value, unsigned bits)
{
	if (!bits)
		return 0;
	return bits < 64 ? shift_right_signed(value << (64 - bits), 64 - bits) : value;
}

static enum ts_ax_error fail_at(const struct ts_ax_env *env, enum ts_ax_error error, uint64_t what)
{
	if (env->failed_at)
		*env->failed_at = what;
	return error;
}

/* *value is the address and gets the @len bytes there; after a failure it is the first unknown one's. */
static bool load(const struct ts_ax_env *env, uint64_t *value, unsigned len)
{
	uint8_t bytes[8];
	uint64_t sum = 0;
	size_t got = env->mem(env->user, *value & env->addr_mask, bytes, len);

	if (got < len) {
		*value = (*value + got) & env->addr_mask;
		return false;
	}
	for (unsigned i = 0; i < len; i++)
		sum = sum << 8 | bytes[env->is_big_endian ? i : len - 1 - i];
	*value = sum;
	return true;
}

static bool trace(const struct ts_ax_env *env, uint64_t addr, uint64_t len)
{
	return !env->trace || env->trace(env->user, addr & env->addr_mask, len);
}

/* Collect a string with its NUL, @max bytes of it or as much as is known. */
static enum ts_ax_error trace_string(struct machine *m, uint64_t addr, uint64_t max)
{
	uint64_t len = 0;
	bool is_at_end = false;

	if (!m->env->trace)
		return TS_AX_OK;
	while (!is_at_end && len < max) {
		uint8_t block[64];
		size_t want = max - len < sizeof block ? (size_t)(max - len) : sizeof block;
		size_t got = m->env->mem(m->env->user, (addr + len) & m->env->addr_mask, block, want);
		const uint8_t *nul = memchr(block, '\0', got);

		if (!spend_step(m))
			return TS_AX_ENDLESS;
		len += nul ? (size_t)(nul - block) + 1 : got;
		is_at_end = nul || got < want;
	}
	if (!len || trace(m->env, addr, len))
		return TS_AX_OK;
	return fail_at(m->env, TS_AX_NOT_TRACED, addr & m->env->addr_mask);
}

/*
 * The first argument is below @top, then the second...; above it were channel and function, which do not
 * exist here.
 */
static void print(const struct ts_ax_env *env, const uint8_t *insn, const uint64_t *top)
{
	uint64_t args[TS_AX_MAX_STACK];
	char text[TS_AX_MAX_TEXT];
	size_t len;

	if (!env->print)
		return;
	for (unsigned i = 0; i < insn[1]; i++)
		args[i] = *--top;
	len = ts_ax_format(env, (const char *)insn + 1 + PRINTF_HEADER, args, text, sizeof text);
	env->print(env->user, text, len);
}

/* One case an instruction, in the manual's order.  @s points one past the stack's top, which is s[-1]. */
static enum ts_ax_error run(const struct ts_ax *ax, struct machine *m, uint64_t *result)
{
	const struct ts_ax_env *env = m->env;
	uint64_t stack[TS_AX_MAX_STACK];
	uint64_t *s = stack;
	uint64_t top;
	enum ts_ax_error error;
	size_t pc = 0;

	while (spend_step(m)) {
		const uint8_t *insn = ax->code + pc;

		pc += insn_len(insn);
		switch ((enum opcode)*insn) {
		case OP_ADD: s--, s[-1] += s[0]; break;
		case OP_SUB: s--, s[-1] -= s[0]; break;
		case OP_MUL: s--, s[-1] *= s[0]; break;
		case OP_DIV_SIGNED:
		case OP_DIV_UNSIGNED:
		case OP_REM_SIGNED:
		case OP_REM_UNSIGNED:
			s--;
			if (!s[0])
				return TS_AX_DIVIDE;
			s[-1] = divide((enum opcode)*insn, s[-1], s[0]);
			break;
		case OP_LSH: s--, s[-1] = shift_left(s[-1], s[0]); break;
		case OP_RSH_SIGNED: s--, s[-1] = shift_right_signed(s[-1], s[0]); break;
		case OP_RSH_UNSIGNED: s--, s[-1] = shift_right(s[-1], s[0]); break;
		case OP_TRACE:
			s -= 2;
			if (!trace(env, s[0], s[1]))
				return fail_at(env, TS_AX_NOT_TRACED, s[0] & env->addr_mask);
			break;
		case OP_TRACE_QUICK:
		case OP_TRACE16:
			if (!trace(env, s[-1], operand(insn + 1, shapes[*insn].operands)))
				return fail_at(env, TS_AX_NOT_TRACED, s[-1] & env->addr_mask);
			break;
		case OP_TRACENZ:
			s -= 2;
			error = trace_string(m, s[0], s[1]);
			if (error)
				return error;
			break;
		case OP_LOG_NOT: s[-1] = !s[-1]; break;
		case OP_BIT_AND: s--, s[-1] &= s[0]; break;
		case OP_BIT_OR: s--, s[-1] |= s[0]; break;
		case OP_BIT_XOR: s--, s[-1] ^= s[0]; break;
		case OP_BIT_NOT: s[-1] = ~s[-1]; break;
		case OP_EQUAL: s--, s[-1] = s[-1] == s[0]; break;
		case OP_LESS_SIGNED: s--, s[-1] = (int64_t)s[-1] < (int64_t)s[0]; break;
		case OP_LESS_UNSIGNED: s--, s[-1] = s[-1] < s[0]; break;
		case OP_EXT: s[-1] = sign_extend(s[-1], insn[1]); break;
		case OP_ZERO_EXT: s[-1] = zero_extend(s[-1], insn[1]); break;
		case OP_REF8:
		case OP_REF16:
		case OP_REF32:
		case OP_REF64:
			if (!load(env, &s[-1], 1u << (*insn - OP_REF8)))
				return fail_at(env, TS_AX_UNKNOWN_MEM, s[-1]);
			break;
		case OP_IF_GOTO:
			if (*--s)
				pc = operand16(insn + 1);
			break;
		case OP_GOTO: pc = operand16(insn + 1); break;
		case OP_CONST8:
		case OP_CONST16:
		case OP_CONST32:
		case OP_CONST64: *s++ = operand(insn + 1, shapes[*insn].operands); break;
		case OP_REG:
			if (!env->reg(env->user, operand16(insn + 1), s++))
				return fail_at(env, TS_AX_UNKNOWN_REG, operand16(insn + 1));
			break;
		case OP_END:
			if (result && s == stack)
				return TS_AX_NO_VALUE;
			if (result)
				*result = s[-1];
			return TS_AX_OK;
		case OP_DUP: s[0] = s[-1], s++; break;
		case OP_POP: s--; break;
		case OP_SWAP:
			top = s[-1];
			s[-1] = s[-2];
			s[-2] = top;
			break;
		case OP_PICK: s[0] = s[-1 - insn[1]], s++; break;
		case OP_ROT:
			top = s[-1];
			s[-1] = s[-2];
			s[-2] = s[-3];
			s[-3] = top;
			break;
		case OP_GETV:
			if (!env->get_var || !env->get_var(env->user, operand16(insn + 1), s++))
				return fail_at(env, TS_AX_UNKNOWN_VAR, operand16(insn + 1));
			break;
		case OP_SETV:
			if (!env->set_var || !env->set_var(env->user, operand16(insn + 1), s[-1]))
				return fail_at(env, TS_AX_NOT_SET, operand16(insn + 1));
			break;
		case OP_TRACEV:
			if (env->trace_var && !env->trace_var(env->user, operand16(insn + 1)))
				return fail_at(env, TS_AX_VAR_NOT_TRACED, operand16(insn + 1));
			break;
		case OP_PRINTF:
			print(env, insn, s - 2);
			s -= 2 + insn[1];
			break;
		case OP_FLOAT:
		case OP_REF_FLOAT:
		case OP_REF_DOUBLE:
		case OP_REF_LONG_DOUBLE:
		case OP_L_TO_D:
		case OP_D_TO_L: assert(!"a checked expression has none of them");
		}
	}
	return TS_AX_ENDLESS;
}

enum ts_ax_error ts_ax_eval(const struct ts_ax *ax, const struct ts_ax_env *env, uint64_t *result)
{
	const uint32_t budget = env->budget ? env->budget : TS_AX_DEFAULT_BUDGET;
	struct machine m = { env, budget };
	enum ts_ax_error error = run(ax, &m, result);

	if (env->n_run)
		*env->n_run = budget - m.budget;
	return error;
}

bool ts_ax_is_unknown(enum ts_ax_error error)
{
	return error == TS_AX_UNKNOWN_REG || error == TS_AX_UNKNOWN_MEM || error == TS_AX_UNKNOWN_VAR;
}

const char *ts_ax_error_text(enum ts_ax_error error)
{
	static const char *const texts[] = {
		[TS_AX_OK] = "no error",
		[TS_AX_SYNTAX] = "the expression is not of the form Xlen,hex",
		[TS_AX_NO_MEMORY] = "no memory for the expression",
		[TS_AX_EMPTY] = "empty expression",
		[TS_AX_BAD_OPCODE] = "unrecognized opcode",
		[TS_AX_FLOAT] = "unhandled opcode: floating point",
		[TS_AX_TRUNCATED] = "the expression ends within an instruction",
		[TS_AX_BAD_JUMP] = "a jump does not lead to an instruction",
		[TS_AX_NO_END] = "the expression has no end",
		[TS_AX_UNDERFLOW] = "stack underflow",
		[TS_AX_OVERFLOW] = "stack overflow",
		[TS_AX_HEIGHT] = "paths meet with different stack heights",
		[TS_AX_BAD_FORMAT] = "a printf format cannot be printed",
		[TS_AX_FLOAT_FORMAT] = "floating-point numbers cannot be printed here; use \"set dprintf-style gdb\"",
		[TS_AX_NO_VALUE] = "empty stack",
		[TS_AX_DIVIDE] = "divide by zero",
		[TS_AX_UNKNOWN_REG] = "cannot read register",
		[TS_AX_UNKNOWN_MEM] = "cannot read memory",
		[TS_AX_UNKNOWN_VAR] = "cannot read trace state variable",
		[TS_AX_NOT_SET] = "cannot set trace state variable",
		[TS_AX_NOT_TRACED] = "cannot collect memory",
		[TS_AX_VAR_NOT_TRACED] = "cannot collect trace state variable",
		[TS_AX_ENDLESS] = "the expression never ends",
	};

	return (size_t)error < sizeof(texts) / sizeof(texts[0]) ? texts[error] : "unknown error";
}
