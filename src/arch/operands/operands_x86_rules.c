/* SPDX-License-Identifier: MIT */
/* Instructions that move bytes, or otherwise do not make everything that they write of all that they read. */
#include "operands_x86_parts.h"

/* The processor's numbers of registers. */
enum { AX = TS_X86_AX, CX = 1, SP = TS_X86_SP, BP = 5, SI = 6, DI = 7, R11 = 11 };

static struct ts_x86_operand gpr(const struct ts_x86_work *w, unsigned reg, unsigned size)
{
	struct ts_x86_operand o = { .size = (uint16_t)size, .n = 1, .is_read = true, .is_implicit = true };

	o.piece[0] = ts_op_reg(w->d->x86.gprs[reg], size);
	return o;
}

static unsigned word_of(const struct ts_x86_work *w)
{
	return w->is_64 ? 8 : 4;
}

/* A register that moves on from its own value. */
static void move_on(struct ts_x86_work *w, unsigned reg, bool is_conditional)
{
	struct ts_x86_operand o = gpr(w, reg, word_of(w));
	unsigned n = w->ops->n;

	ts_x86_carry(w, &o, 0, o.size, &o, 0, o.size, TS_WAY_MIX);
	for (; n < w->ops->n; n++)
		w->ops->transfers[n].is_conditional = is_conditional;
}

/* The first operand is the second one, with zeros above it. */
static void make_copy(struct ts_x86_work *w, unsigned)
{
	const struct ts_x86_operand *to = &w->op[0], *from = &w->op[1];
	unsigned n = from->is_constant || from->size > to->size ? to->size : from->size;

	ts_x86_carry(w, to, 0, n, from, 0, n, TS_WAY_COPY);
	if (n < to->size)
		ts_x86_fill(w, to, n, to->size - n, TS_WAY_ZERO);
	ts_x86_clear_above(w, to);
}

/* The first operand is the second one, whose sign fills the bytes above it. */
static void make_signed(struct ts_x86_work *w, unsigned)
{
	const struct ts_x86_operand *to = &w->op[0], *from = &w->op[1];
	unsigned n = from->size < to->size ? from->size : to->size;

	ts_x86_carry(w, to, 0, n, from, 0, n, TS_WAY_COPY);
	if (n < to->size)
		ts_x86_carry(w, to, n, to->size - n, from, n - 1, 1, TS_WAY_MIX);
	ts_x86_clear_above(w, to);
}

/* The first operand is made of the sign of the second one. */
static void make_sign(struct ts_x86_work *w, unsigned)
{
	ts_x86_carry(w, &w->op[0], 0, w->op[0].size, &w->op[1], w->op[1].size - 1u, 1, TS_WAY_MIX);
	ts_x86_clear_above(w, &w->op[0]);
}

static bool is_same_register(const struct ts_x86_work *w, unsigned a, unsigned b)
{
	return w->raw[a].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       w->raw[b].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       w->raw[a].reg.value == w->raw[b].reg.value;
}

/* Bytes that are made of the same bytes of both operands; nothing of two equal ones is left if they are cleared. */
static void make_bytes(struct ts_x86_work *w, unsigned clears)
{
	struct ts_x86_operand *to = &w->op[0];

	if (clears && is_same_register(w, 0, 1)) {
		ts_x86_fill(w, to, 0, to->size, TS_WAY_ZERO);
		ts_x86_clear_above(w, to);
		w->zeroed |= w->written;
		w->written = 0;
		ts_x86_mix_flags(w);
		return;
	}
	for (unsigned i = 0; i < 2; i++)
		if (w->op[i].is_read)
			ts_x86_carry(w, to, 0, to->size, &w->op[i], 0, to->size,
				     w->op[i].is_constant ? TS_WAY_MIX : TS_WAY_LANES);
	ts_x86_clear_above(w, to);
	ts_x86_mix_flags(w);
}

/* sub and sbb: of two equal operands only the flags that are read are left. */
static void make_difference(struct ts_x86_work *w, unsigned arg)
{
	if (is_same_register(w, 0, 1)) {
		if (!w->tested) {
			make_bytes(w, 1);
			return;
		}
		w->op[0].is_read = w->op[1].is_read = false;
	}
	ts_x86_mix(w, arg);
}

static void make_xchg(struct ts_x86_work *w, unsigned)
{
	for (unsigned i = 0; i < 2; i++) {
		ts_x86_carry(w, &w->op[i], 0, w->op[i].size, &w->op[1 - i], 0, w->op[i].size, TS_WAY_COPY);
		ts_x86_clear_above(w, &w->op[i]);
	}
}

static void make_xadd(struct ts_x86_work *w, unsigned)
{
	ts_x86_mix_into(w, &w->op[0]);
	ts_x86_carry(w, &w->op[1], 0, w->op[1].size, &w->op[0], 0, w->op[1].size, TS_WAY_COPY);
	ts_x86_clear_above(w, &w->op[1]);
	ts_x86_mix_flags(w);
}

/* bswap: the operand itself; movbe: the other one. */
static void make_reverse(struct ts_x86_work *w, unsigned from)
{
	ts_x86_carry(w, &w->op[0], 0, w->op[0].size, &w->op[from], 0, w->op[0].size, TS_WAY_REVERSE);
	ts_x86_clear_above(w, &w->op[0]);
}

static void add_address_register(struct ts_x86_work *w, uint16_t off, unsigned len)
{
	struct ts_x86_operand o = { .n = 1, .order = 1 };

	if (len > w->op[0].size) /* what is above it has no part in the lower bytes of a sum */
		len = w->op[0].size;
	o.size = (uint16_t)len;
	o.piece[0] = ts_op_reg(off, len);
	if (off != TS_NO_OFF16)
		ts_x86_carry(w, &w->op[0], 0, w->op[0].size, &o, 0, len, TS_WAY_MIX);
}

static void make_lea(struct ts_x86_work *w, unsigned)
{
	const ZydisDecodedOperand *raw = &w->raw[1];
	unsigned n = w->ops->n;
	uint8_t len;
	uint16_t off = ts_x86_off_of(w, raw->mem.base, &len);
	bool has_pc = raw->mem.base == ZYDIS_REGISTER_RIP || raw->mem.base == ZYDIS_REGISTER_EIP;
	struct ts_x86_operand c = { .is_constant = true };

	if (!has_pc)
		add_address_register(w, off, len);
	off = ts_x86_off_of(w, raw->mem.index, &len);
	add_address_register(w, off, len);
	if (w->ops->n == n) {
		c.constant = (uint64_t)raw->mem.disp.value + (has_pc ? w->pc + w->insn.length : 0);
		ts_x86_carry(w, &w->op[0], 0, w->op[0].size, &c, 0, w->op[0].size, TS_WAY_COPY);
	}
	ts_x86_clear_above(w, &w->op[0]);
}

/* The memory operand that no text shows: the top of the stack. */
static struct ts_x86_operand *stack_of(struct ts_x86_work *w)
{
	for (unsigned i = 0; i < w->n; i++) {
		if (w->op[i].is_implicit && w->op[i].n && w->op[i].piece[0].kind == TS_AT_MEM)
			return &w->op[i];
	}
	return NULL;
}

static void make_push(struct ts_x86_work *w, unsigned)
{
	struct ts_x86_operand *to = stack_of(w), *from = &w->op[0];

	move_on(w, SP, false);
	if (!to)
		return;
	ts_x86_carry(w, to, 0, from->is_constant || from->size > to->size ? to->size : from->size, from, 0,
		     from->size, TS_WAY_COPY);
	if (!from->is_constant && from->size < to->size)
		ts_x86_fill(w, to, from->size, to->size - from->size, TS_WAY_ZERO);
}

static void make_pop(struct ts_x86_work *w, unsigned)
{
	struct ts_x86_operand *from = stack_of(w), *to = &w->op[0];
	uint16_t sp = w->d->x86.gprs[SP];

	if (!from)
		return;
	ts_x86_carry(w, to, 0, to->size < from->size ? to->size : from->size, from, 0, to->size, TS_WAY_COPY);
	ts_x86_clear_above(w, to);
	if (!to->n || to->piece[0].kind != TS_AT_REG || to->piece[0].off != sp)
		move_on(w, SP, false);
}

static void make_call(struct ts_x86_work *w, unsigned)
{
	struct ts_x86_operand *to = stack_of(w),
			      back = { .is_constant = true, .constant = w->pc + w->insn.length };

	move_on(w, SP, false);
	if (to)
		ts_x86_carry(w, to, 0, to->size, &back, 0, to->size, TS_WAY_COPY);
	if (w->op[0].n)
		ts_x86_add(w, ts_op_pc(), w->op[0].piece[0], TS_WAY_MIX, 0);
	else
		ts_x86_add(w, ts_op_pc(), ts_op_nowhere(), w->op[0].is_constant ? TS_WAY_CONSTANT : TS_WAY_UNKNOWN, 0);
}

static void make_ret(struct ts_x86_work *w, unsigned)
{
	struct ts_x86_operand *from = stack_of(w);

	move_on(w, SP, false);
	if (from)
		ts_x86_add(w, ts_op_pc(), from->piece[0], TS_WAY_MIX, 0);
}

static void make_leave(struct ts_x86_work *w, unsigned)
{
	struct ts_x86_operand bp = gpr(w, BP, word_of(w)), sp = gpr(w, SP, word_of(w)), *from = stack_of(w);

	ts_x86_carry(w, &sp, 0, sp.size, &bp, 0, bp.size, TS_WAY_MIX);
	if (from)
		ts_x86_carry(w, &bp, 0, bp.size, from, 0, bp.size, TS_WAY_COPY);
}

/* Jumps: the next address is made of the target, or of the flags and registers that decide. */
void ts_x86_jump(struct ts_x86_work *w, unsigned)
{
	for (unsigned i = 0; i < w->n; i++)
		w->op[i].is_read &= !w->op[i].is_constant;
	for (unsigned i = 0; i < w->n; i++) {
		if (w->op[i].is_written)
			ts_x86_mix_into(w, &w->op[i]);
		for (unsigned k = 0; w->op[i].is_read && k < w->op[i].n; k++)
			ts_x86_add(w, ts_op_pc(), w->op[i].piece[k], TS_WAY_MIX, w->op[i].order);
	}
	ts_x86_mix_tested(w, ts_op_pc());
}

/* The flags as bytes: byte i of the operand has flags 8 i to 8 i + 7. */
static void make_from_flags(struct ts_x86_work *w, unsigned is_pushed)
{
	struct ts_x86_operand *to = is_pushed ? stack_of(w) : &w->op[0];

	if (is_pushed)
		move_on(w, SP, false);
	for (unsigned i = 0; to && to->n && i < to->size; i++) {
		struct ts_op_place byte = to->piece[0];
		uint32_t flags = i < 4 ? TS_X86_STATUS_FLAGS & UINT32_C(0xff) << 8 * i : 0;

		byte.off = (uint16_t)(byte.off + i);
		byte.len = 1;
		ts_x86_add(w, byte, flags ? ts_op_flags(flags) : ts_op_nowhere(), flags ? TS_WAY_MIX : TS_WAY_UNKNOWN, 0);
	}
}

static void make_to_flags(struct ts_x86_work *w, unsigned is_popped)
{
	struct ts_x86_operand *from = is_popped ? stack_of(w) : &w->op[0];

	if (is_popped)
		move_on(w, SP, false);
	for (unsigned i = 0; from && from->n && i < 2 && i < from->size; i++) {
		struct ts_op_place byte = from->piece[0];
		uint32_t flags = (w->written | w->zeroed) & UINT32_C(0xff) << 8 * i;

		byte.off = (uint16_t)(byte.off + i);
		byte.len = 1;
		if (flags)
			ts_x86_add(w, ts_op_flags(flags), byte, TS_WAY_MIX, 0);
	}
}

/* Everything is the processor's own. */
static void make_processor(struct ts_x86_work *w, unsigned)
{
	for (unsigned i = 0; i < w->n; i++) {
		if (!w->op[i].is_written)
			continue;
		ts_x86_fill(w, &w->op[i], 0, w->op[i].size, TS_WAY_PROCESSOR);
		ts_x86_clear_above(w, &w->op[i]);
	}
	if (w->written | w->zeroed)
		ts_x86_add(w, ts_op_flags(w->written | w->zeroed), ts_op_nowhere(), TS_WAY_PROCESSOR, 0);
}

/* ------------------------------------------------------------------------------------ string instructions */

enum { STORES = 1, LOADS = 2, COMPARES = 4, IS_PORT = 8 };

static const struct ts_x86_operand *string_memory(const struct ts_x86_work *w, bool is_written)
{
	for (unsigned i = 0; i < w->n; i++) {
		if (w->op[i].n && w->op[i].piece[0].kind == TS_AT_MEM && w->op[i].is_written == is_written)
			return &w->op[i];
	}
	return NULL;
}

/* Pointers, and the count, move on by themselves; those of a comparison that repeats by what was compared too. */
static void move_pointers(struct ts_x86_work *w, unsigned what)
{
	static const unsigned regs[] = { SI, DI, CX };
	bool is_repeated = w->ops->is_repeated;

	for (unsigned i = 0; i < 3; i++) {
		struct ts_x86_operand o = gpr(w, regs[i], word_of(w));
		bool moves = i == 0 ? what & LOADS : i == 1 ? what & (STORES | COMPARES) : is_repeated;
		unsigned n = w->ops->n;

		if (!moves)
			continue;
		move_on(w, regs[i], is_repeated);
		if (is_repeated && i < 2) {
			struct ts_x86_operand count = gpr(w, CX, word_of(w));

			ts_x86_carry(w, &o, 0, o.size, &count, 0, count.size, TS_WAY_MIX);
		}
		if (i < 2)
			ts_x86_add(w, o.piece[0], ts_op_flags(0x400), TS_WAY_MIX, ZYDIS_MAX_OPERAND_COUNT);
		for (unsigned k = 0; is_repeated && what & COMPARES && k < w->n; k++)
			if (w->op[k].is_read && w->op[k].n && w->op[k].piece[0].kind == TS_AT_MEM)
				ts_x86_carry(w, &o, 0, o.size, &w->op[k], 0, w->op[k].size, TS_WAY_MIX);
		for (; n < w->ops->n; n++)
			w->ops->transfers[n].is_conditional = is_repeated;
	}
}

static void make_string(struct ts_x86_work *w, unsigned what)
{
	const struct ts_x86_operand *to = string_memory(w, true), *from = string_memory(w, false);
	struct ts_x86_operand ax = gpr(w, AX, w->insn.operand_width / 8);
	unsigned n = w->ops->n;

	w->tested = 0;
	if (w->ops->is_repeated) {
		w->ops->condition = TS_IF_COUNT;
		w->ops->cond_off = w->d->x86.gprs[CX];
		w->ops->cond_len = (uint8_t)(w->insn.address_width / 8);
		w->ops->cond_mask = UINT64_MAX;
	}
	if (what & COMPARES) {
		for (unsigned i = 0; i < w->n; i++)
			w->op[i].is_read &= w->op[i].n && (w->op[i].piece[0].kind == TS_AT_MEM ||
							   w->op[i].piece[0].off == ax.piece[0].off);
		ts_x86_mix_flags(w);
	} else if (to && from && !(what & IS_PORT)) {
		ts_x86_carry(w, to, 0, to->size, from, 0, to->size, TS_WAY_COPY);
	} else if (to) {
		if (what & IS_PORT)
			ts_x86_fill(w, to, 0, to->size, TS_WAY_PROCESSOR);
		else
			ts_x86_carry(w, to, 0, to->size, &ax, 0, to->size, TS_WAY_COPY);
	} else if (from && !(what & IS_PORT)) {
		ts_x86_carry(w, &ax, 0, ax.size, from, 0, ax.size, TS_WAY_COPY);
		ts_x86_clear_above(w, &ax);
	}
	for (; n < w->ops->n; n++)
		w->ops->transfers[n].is_conditional = w->ops->is_repeated;
	move_pointers(w, what);
}

/* ------------------------------------------------------------------------------------------------- others */

/* A number of bits in cl that is 0 leaves the flags. */
static void make_shift(struct ts_x86_work *w, unsigned)
{
	unsigned n;

	for (unsigned i = 0; i < w->n; i++) {
		if (w->op[i].is_written)
			ts_x86_mix_into(w, &w->op[i]);
	}
	n = w->ops->n;
	ts_x86_mix_flags(w);
	if (w->op[w->n - 1].is_constant || !w->op[w->n - 1].n)
		return;
	w->ops->condition = TS_IF_COUNT;
	w->ops->cond_off = w->d->x86.gprs[CX];
	w->ops->cond_len = 1;
	w->ops->cond_mask = w->op[0].size == 8 ? 63 : 31;
	for (; n < w->ops->n; n++)
		w->ops->transfers[n].is_conditional = true;
}

/* blsi, blsr, blsmsk: CF determines whether the source was zero. */
static void make_lowest_bit(struct ts_x86_work *w, unsigned arg)
{
	w->written |= 1;
	w->zeroed &= ~1u;
	ts_x86_mix(w, arg);
}

/* bsf and bsr: of a source that is zero the destination keeps what it has. */
static void make_scan(struct ts_x86_work *w, unsigned)
{
	const struct ts_x86_operand *from = &w->op[1];
	unsigned n = w->ops->n;

	w->op[0].is_read = !from->n || from->piece[0].kind != TS_AT_REG;
	ts_x86_mix_into(w, &w->op[0]);
	if (!w->op[0].is_read) {
		w->ops->condition = TS_IF_COUNT;
		w->ops->cond_off = from->piece[0].off;
		w->ops->cond_len = (uint8_t)from->size;
		w->ops->cond_mask = UINT64_MAX;
		for (; n < w->ops->n; n++)
			w->ops->transfers[n].is_conditional = true;
	}
	w->op[0].is_read = false;
	ts_x86_mix_flags(w);
}

/* cmpxchg: whether the bytes above a result of 4 bytes become zero is up to the comparison. */
static void make_exchange_if_equal(struct ts_x86_work *w, unsigned arg)
{
	ts_x86_mix(w, arg);
	for (unsigned i = 0; i < w->n; i++) {
		struct ts_x86_operand o = w->op[i];

		if (!o.is_written || o.size != 4 || !o.n || o.piece[0].kind != TS_AT_REG || !w->is_64)
			continue;
		o.piece[0].off = (uint16_t)(o.piece[0].off + 4);
		ts_x86_carry(w, &o, 0, 4, &o, 0, 4, TS_WAY_MIX);
	}
}

/* A system call of a program: its result, and what the instruction itself leaves. */
static void make_syscall(struct ts_x86_work *w, unsigned is_sysenter)
{
	struct ts_x86_operand ax = gpr(w, AX, word_of(w)), cx = gpr(w, CX, 8), r11 = gpr(w, R11, 8);

	ts_x86_fill(w, &ax, 0, ax.size, TS_WAY_SYSTEM);
	if (is_sysenter || !w->is_64 || w->d->x86.gprs[R11] == TS_X86_NO_REG)
		return;
	ts_x86_fill(w, &cx, 0, 8, TS_WAY_SYSCALL);
	ts_x86_fill(w, &r11, 0, 8, TS_WAY_SYSCALL);
}

/* pusha, popa: all general registers; the order is that of the processor, the last one at the top. */
static void make_all(struct ts_x86_work *w, unsigned is_push)
{
	struct ts_x86_operand *mem = stack_of(w);
	unsigned size = w->insn.operand_width / 8;

	move_on(w, SP, false);
	for (unsigned i = 0; mem && i < 8 && (i + 1) * size <= mem->size; i++) {
		struct ts_x86_operand reg = gpr(w, 7 - i, size);

		if (is_push)
			ts_x86_carry(w, mem, i * size, size, &reg, 0, size, TS_WAY_COPY);
		else if (7 - i != SP)
			ts_x86_carry(w, &reg, 0, size, mem, i * size, size, TS_WAY_COPY);
	}
}

static void make_nothing(struct ts_x86_work *, unsigned)
{
}

static void make_trap(struct ts_x86_work *w, unsigned)
{
	w->ops->is_complete = false;
}

const struct ts_x86_rule ts_x86_rules[] = {
	{ "and", make_bytes, 0 },
	{ "andn", ts_x86_mix, 0 },
	{ "blsi", make_lowest_bit, 0 },
	{ "blsmsk", make_lowest_bit, 0 },
	{ "blsr", make_lowest_bit, 0 },
	{ "bsf", make_scan, 0 },
	{ "bsr", make_scan, 0 },
	{ "bswap", make_reverse, 0 },
	{ "call", make_call, 0 },
	{ "cbw", make_signed, 0 },
	{ "cdq", make_sign, 0 },
	{ "cdqe", make_signed, 0 },
	{ "cmpsb", make_string, COMPARES | LOADS },
	{ "cmpsd", make_string, COMPARES | LOADS },
	{ "cmpsq", make_string, COMPARES | LOADS },
	{ "cmpsw", make_string, COMPARES | LOADS },
	{ "cmpxchg", make_exchange_if_equal, 0 },
	{ "cpuid", make_processor, 0 },
	{ "cqo", make_sign, 0 },
	{ "cwd", make_sign, 0 },
	{ "cwde", make_signed, 0 },
	{ "in", make_processor, 0 },
	{ "insb", make_string, STORES | IS_PORT },
	{ "insd", make_string, STORES | IS_PORT },
	{ "insw", make_string, STORES | IS_PORT },
	{ "int", make_syscall, 1 },
	{ "int3", make_trap, 0 },
	{ "iret", make_trap, 0 },
	{ "iretd", make_trap, 0 },
	{ "iretq", make_trap, 0 },
	{ "lahf", make_from_flags, 0 },
	{ "lea", make_lea, 0 },
	{ "leave", make_leave, 0 },
	{ "lodsb", make_string, LOADS },
	{ "lodsd", make_string, LOADS },
	{ "lodsq", make_string, LOADS },
	{ "lodsw", make_string, LOADS },
	{ "mov", make_copy, 0 },
	{ "movbe", make_reverse, 1 },
	{ "movnti", make_copy, 0 },
	{ "movsb", make_string, STORES | LOADS },
	{ "movsd", make_string, STORES | LOADS },
	{ "movsq", make_string, STORES | LOADS },
	{ "movsw", make_string, STORES | LOADS },
	{ "movsx", make_signed, 0 },
	{ "movsxd", make_signed, 0 },
	{ "movzx", make_copy, 0 },
	{ "nop", make_nothing, 0 },
	{ "or", make_bytes, 0 },
	{ "outsb", make_string, LOADS | IS_PORT },
	{ "outsd", make_string, LOADS | IS_PORT },
	{ "outsw", make_string, LOADS | IS_PORT },
	{ "pop", make_pop, 0 },
	{ "popa", make_all, 0 },
	{ "popad", make_all, 0 },
	{ "popf", make_to_flags, 1 },
	{ "popfd", make_to_flags, 1 },
	{ "popfq", make_to_flags, 1 },
	{ "push", make_push, 0 },
	{ "pusha", make_all, 1 },
	{ "pushad", make_all, 1 },
	{ "pushf", make_from_flags, 1 },
	{ "pushfd", make_from_flags, 1 },
	{ "pushfq", make_from_flags, 1 },
	{ "rcl", make_shift, 0 },
	{ "rcr", make_shift, 0 },
	{ "rdmsr", make_processor, 0 },
	{ "rdpid", make_processor, 0 },
	{ "rdpmc", make_processor, 0 },
	{ "rdrand", make_processor, 0 },
	{ "rdseed", make_processor, 0 },
	{ "rdtsc", make_processor, 0 },
	{ "rdtscp", make_processor, 0 },
	{ "ret", make_ret, 0 },
	{ "rol", make_shift, 0 },
	{ "ror", make_shift, 0 },
	{ "sahf", make_to_flags, 0 },
	{ "sar", make_shift, 0 },
	{ "sbb", make_difference, 0 },
	{ "scasb", make_string, COMPARES },
	{ "scasd", make_string, COMPARES },
	{ "scasq", make_string, COMPARES },
	{ "scasw", make_string, COMPARES },
	{ "shl", make_shift, 0 },
	{ "shld", make_shift, 0 },
	{ "shr", make_shift, 0 },
	{ "shrd", make_shift, 0 },
	{ "sidt", make_processor, 0 },
	{ "sgdt", make_processor, 0 },
	{ "sldt", make_processor, 0 },
	{ "smsw", make_processor, 0 },
	{ "stosb", make_string, STORES },
	{ "stosd", make_string, STORES },
	{ "stosq", make_string, STORES },
	{ "stosw", make_string, STORES },
	{ "str", make_processor, 0 },
	{ "sub", make_difference, 0 },
	{ "syscall", make_syscall, 0 },
	{ "sysenter", make_syscall, 1 },
	{ "sysexit", make_trap, 0 },
	{ "sysret", make_trap, 0 },
	{ "xadd", make_xadd, 0 },
	{ "xchg", make_xchg, 0 },
	{ "xgetbv", make_processor, 0 },
	{ "xor", make_bytes, 1 },
};
const size_t ts_n_x86_rules = sizeof(ts_x86_rules) / sizeof(ts_x86_rules[0]);
