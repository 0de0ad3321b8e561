/* SPDX-License-Identifier: MIT */
/*
 * Each kind of frame into effects and events of the open step.
 */
#include "frames.h"

#include <string.h>

#include "insn.h"
#include "operands.h"
#include "reader.h"
#include "schema.h"

#define MAX_MODULES 4096

/* --------------------------------------------------------------------------------------------- std frames */
/* Did this frame's list see the same memory before?  Then that is not the value before the instruction. */
static bool is_seen_memory(const struct bap_reader *r, const struct bap_op *op)
{
	const struct ts_steps *b = r->out;

	for (uint32_t i = b->n_closed; i < b->n_effects && i < b->n_closed + 16; i++)
		if (b->effects[i].kind == TS_FX_READ && b->effects[i].addr == op->addr &&
		    b->effects[i].len == op->len)
			return true;
	return false;
}

static inline void see(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op)
{
	if (op->slot)
		bap_op_see(r, t, op);
	else if (!is_seen_memory(r, op))
		bap_op_memory(r, TS_FX_READ, op, !op->is_read);
}

static void see_list(struct bap_reader *r, struct bap_thread *t, struct ts_cursor *list)
{
	struct bap_op op;

	while (bap_op_next(r, list, &op))
		see(r, t, &op);
}

/* The same of a list of all registers, of which most are what they were. */
static void see_snapshot(struct bap_reader *r, struct bap_thread *t, struct ts_cursor *list)
{
	struct bap_op op;
	uint32_t i = 0;

	for (;;) {
		const uint8_t *p;

		bap_shown_skip(r->shown, list, &i);
		p = list->p;
		if (!bap_op_next(r, list, &op))
			return;
		bap_shown_before(r, t, i, &op);
		see(r, t, &op);
		bap_shown_keep(r, t, &i, p, (size_t)(list->p - p), &op);
	}
}

/*
 * ARM's carry contradicts what was known: tracewrap evaluates the carry out of a shifted or rotated operand
 * before it logs the flags, so that what it logs as the value before the instruction may be the result.  It
 * is taken for that if the list after the instruction says the same.
 */
static void check_carry(struct bap_reader *r, struct bap_thread *t, const struct pb_message *std,
			struct ts_cursor *frame)
{
	struct ts_cursor list = pb_sub(std, STD_POST_LIST, frame);
	struct bap_flag_bits *f = &t->flags[0];
	struct bap_op op;

	while (bap_op_next(r, &list, &op)) {
		bool is_set = op.value[0] & 1;

		if (op.slot && op.slot->kind == BAP_SLOT_FLAG && op.slot->mask == BAP_ARM_C &&
		    is_set == !!(f->value & BAP_ARM_C)) {
			f->value ^= BAP_ARM_C;
			bap_warn(r, "carry flags before an instruction that contradict what is known and "
				    "equal its result are not believed");
			return;
		}
	}
}

/* The flags of the list before the instruction, put together. */
static void see_flags(struct bap_reader *r, struct bap_thread *t)
{
	for (unsigned i = 0; i < r->rec->names.n_flags; i++) {
		if (t->flags[i].seen)
			bap_tell_flags(r, t, i, t->flags[i].seen, false);
		t->flags[i].seen = t->flags[i].contradicted = 0;
	}
}

/* The list before the instruction. */
static bool read_pre_list(struct bap_reader *r, struct bap_thread *t, const struct pb_message *std,
			  struct ts_cursor *frame, bool *has_operands)
{
	struct ts_cursor list = pb_sub(std, STD_PRE_LIST, frame);

	bap_start_list(r);
	*has_operands |= list.left > 0;
	if (r->rec->recorder == BAP_SNAPSHOT && bap_shown_start(r, t))
		see_snapshot(r, t, &list);
	else
		see_list(r, t, &list);
	if (r->rec->recorder == BAP_TRACEWRAP && r->rec->arch == BAP_ARCH_ARM &&
	    t->flags[0].contradicted & BAP_ARM_C)
		check_carry(r, t, std, frame);
	see_flags(r, t);
	return ts_ok(frame);
}

/* Of a frame without a list of values after the instruction: what the list before it says to be written. */
static void lose_written(struct bap_reader *r, struct bap_thread *t, const struct pb_message *std,
			 struct ts_cursor *frame)
{
	struct ts_cursor list = pb_sub(std, STD_PRE_LIST, frame);
	struct bap_op op;

	while (bap_op_next(r, &list, &op))
		if (op.is_written)
			bap_op_lose(r, t, &op);
}

static bool read_post_list(struct bap_reader *r, struct bap_thread *t, const struct pb_message *std,
			   struct ts_cursor *frame, bool *has_operands)
{
	struct ts_cursor list = pb_sub(std, STD_POST_LIST, frame);
	struct bap_op op;

	*has_operands |= list.left > 0;
	while (bap_op_next(r, &list, &op)) {
		if (op.slot)
			bap_op_write(r, t, &op);
		else
			bap_op_memory(r, TS_FX_WRITE, &op, false);
	}
	for (unsigned i = 0; i < r->rec->names.n_flags; i++)
		if (t->flags[i].last)
			bap_tell_flags(r, t, i, t->flags[i].last, true);
	return ts_ok(frame);
}

/* The number that the instruction's own registers show, where a recorder stored the address instead. */
static bool syscall_number(struct bap_reader *r, const struct bap_thread *t, uint64_t *number)
{
	const char *reg = r->rec->addr_mask == UINT64_MAX ? "rax" : "eax";
	const struct bap_slot *s = bap_names_find(&r->rec->names, reg, 3);

	if (s->kind != BAP_SLOT_REG || memchr(t->state + s->off, BAP_UNTOLD, s->len))
		return false;
	*number = ts_arch_get(r->rec->base.regs.arch, t->data + s->off, s->len);
	return true;
}

/* The system call that was announced for this instruction, if one was. */
static void take_pending(struct bap_reader *r, const struct bap_thread *t, uint64_t address)
{
	for (unsigned i = 0; i < r->n_pending; i++) {
		struct bap_pending *p = &r->pending[i];
		struct ts_event *ev;

		if (p->address != address || p->thread_id != t->id)
			continue;
		ev = ts_steps_event(r->out, TS_EV_SYSCALL);
		if (ev) {
			ev->number = p->number;
			if (p->number == p->address && !syscall_number(r, t, &ev->number))
				ev->number = UINT64_MAX;
			ev->n_args = (uint8_t)p->n_args;
			memcpy(ev->args, p->args, sizeof(ev->args));
		}
		memmove(p, p + 1, (--r->n_pending - i) * sizeof(*p));
		return;
	}
}

static void see_code(struct bap_reader *r, uint64_t pc, const struct pb_value *raw)
{
	struct ts_effect *e;

	if (!raw->p || !raw->n || raw->n > 64 || raw->n - 1 > r->rec->addr_mask - pc)
		return;
	if (raw->n <= 8) /* as those of nearly all machines; more can be read behind them */
		e = ts_steps_word(r->out, TS_FX_READ, pc, raw->p, (uint32_t)raw->n);
	else
		e = ts_steps_value(r->out, TS_FX_READ, pc, raw->p, (uint32_t)raw->n);
	if (e)
		e->is_hidden = true;
}

bool bap_read_std(struct bap_reader *r, struct bap_thread **t, uint64_t *pc, uint16_t *insn_len)
{
	struct ts_cursor *c = &r->opened.body;
	bool is_arm = r->rec->arch == BAP_ARCH_ARM && r->rec->names.n_flags;
	bool has_operands = false;
	const struct pb_message *std = bap_open_std(r);
	const struct pb_value *raw;

	if (!std)
		return false;
	raw = &std->v[STD_RAWBYTES - 1];
	*t = bap_find_thread(r, std->v[STD_THREAD_ID - 1].n, c->err);
	if (!*t)
		return false;
	r->now = *t;
	*pc = std->v[STD_ADDRESS - 1].n & r->rec->addr_mask;
	*insn_len = raw->n <= 64 ? (uint16_t)raw->n : 0;
	r->base.end = (struct ts_end){ 0 };
	r->last_len = raw->n <= sizeof(r->last_insn) ? (uint8_t)raw->n : 0;
	if (r->last_len)
		memcpy(r->last_insn, raw->p, r->last_len);
	see_code(r, *pc, raw);
	if (is_arm)
		bap_see_mode(r, *t, std);
	if (!read_pre_list(r, *t, std, c, &has_operands))
		return false;
	take_pending(r, *t, *pc);
	bap_age_writes(*t);
	if (!pb_has(std, STD_POST_LIST))
		lose_written(r, *t, std, c);
	if (!read_post_list(r, *t, std, c, &has_operands))
		return false;
	if (!has_operands)
		bap_lose_unlogged(r, *t, *pc, raw);
	else if (r->rec->recorder == BAP_TRACEWRAP || r->rec->recorder == BAP_OLD_TRACEWRAP)
		bap_lose_helpers(r, *t, raw);
	if (is_arm)
		bap_step_it(r, *t, raw);
	return ts_ok(c);
}

/* ------------------------------------------------------------------------------------------- other frames */

static bool read_syscall(struct bap_reader *r, struct ts_cursor *c)
{
	struct bap_pending p = { 0 };
	struct pb_message m;
	struct ts_cursor list;
	uint64_t key;

	if (!pb_read(c, &bap_syscall, &m))
		return false;
	p.address = m.v[SYSCALL_ADDRESS - 1].n & r->rec->addr_mask;
	p.thread_id = m.v[SYSCALL_THREAD_ID - 1].n;
	p.number = m.v[SYSCALL_NUMBER - 1].n;
	list = pb_sub(&m, SYSCALL_ARGUMENTS, c);
	while (list.left && p.n_args < TS_MAX_SYSCALL_ARGS) {
		key = pb_varint(&list);
		if (ts_ok(&list) && key != (1 << 3 | PB_VARINT))
			return ts_fail(c->err, TS_ECORRUPT, list.off,
				       "frame: an argument of a system call has wire type %u",
				       (unsigned)(key & 7));
		p.args[p.n_args++] = (uint64_t)pb_zigzag(pb_varint(&list));
	}
	if (!ts_ok(c))
		return false;
	if (r->n_pending == BAP_MAX_PENDING) {
		bap_warn(r, "system calls without their instruction are left out");
		memmove(r->pending, r->pending + 1, --r->n_pending * sizeof(p));
	}
	r->pending[r->n_pending++] = p;
	return true;
}

/* gdb's number for what a recorder calls an exception: a signal of Linux, or a code of Windows. */
static uint64_t gdb_signal(uint64_t number)
{
	static const struct {
		uint32_t number;
		uint8_t gdb;
	} others[] = {
		{ 7, 10 },          { 10, 30 },        { 12, 31 },         { 17, 20 },
		{ 18, 19 },         { 19, 17 },        { 20, 18 },         { 23, 16 },
		{ 0xc0000005, 11 }, { 0xc000001d, 4 }, { 0x80000003, 5 },  { 0x80000004, 5 },
		{ 0xc0000094, 8 },  { 0xc0000096, 4 }, { 0xc00000fd, 11 }, { 0x80000002, 10 },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].number == number)
			return others[i].gdb;
	return number && number <= 15 ? number : 143; /* unknown */
}

static bool read_exception(struct bap_reader *r, struct ts_cursor *c)
{
	struct pb_message m;
	struct ts_event *ev;

	if (!pb_read(c, &bap_exception, &m))
		return false;
	ev = ts_steps_event(r->out, TS_EV_SIGNAL);
	if (ev) {
		ev->number = gdb_signal(m.v[EXCEPTION_NUMBER - 1].n);
		ev->has_addr = pb_has(&m, EXCEPTION_FROM);
		ev->addr = m.v[EXCEPTION_FROM - 1].n & r->rec->addr_mask;
	}
	return true;
}

/* Bytes of input: memory that is seen. */
static bool read_taint_intro(struct bap_reader *r, struct ts_cursor *c)
{
	struct pb_message m;
	struct ts_cursor list, item;

	if (!pb_read(c, &bap_taint_intro, &m))
		return false;
	list = pb_sub(&m, 1, c);
	while (pb_next_item(&list, &bap_taint_list, &item)) {
		struct bap_op op = { 0 };

		if (!pb_read(&item, &bap_taint, &m))
			return false;
		op.addr = m.v[TAINT_ADDR - 1].n & r->rec->addr_mask;
		op.value = m.v[TAINT_VALUE - 1].p;
		op.len = (uint32_t)m.v[TAINT_VALUE - 1].n;
		op.bits = op.len * 8;
		if (op.value && op.len && bap_op_check_memory(r, &op)) {
			struct ts_effect *e = ts_steps_value(r->out, TS_FX_WRITE, op.addr, op.value, op.len);

			if (e)
				e->is_hidden = true;
		}
	}
	return ts_ok(c);
}

static bool read_modload(struct bap_reader *r, struct ts_cursor *c)
{
	uint64_t low, high;
	struct pb_message m;

	if (!pb_read(c, &bap_modload, &m))
		return false;
	low = m.v[MODLOAD_LOW - 1].n & r->rec->addr_mask;
	high = m.v[MODLOAD_HIGH - 1].n & r->rec->addr_mask;
	/* Pin's is the last address, others may mean the first behind it */
	if (high % 4096 == 0 && high > low)
		high--;
	if (high < low || high - low == UINT64_MAX)
		bap_warn(r, "modules that end before they begin are left out");
	else if (++r->n_modules > MAX_MODULES)
		bap_warn(r, "modules beyond the first %d are left out", MAX_MODULES);
	else
		ts_steps_load(r->out, low, high - low + 1, (const char *)m.v[MODLOAD_NAME - 1].p,
			      (size_t)m.v[MODLOAD_NAME - 1].n);
	return true;
}

/* One value of a key frame. */
static bool read_key_value(struct bap_reader *r, struct bap_thread *t, struct ts_cursor *c)
{
	struct bap_op op = { 0 };
	struct pb_message m;

	if (!pb_read(c, &bap_value, &m))
		return false;
	op.value = m.v[VALUE_VALUE - 1].p;
	op.len = (uint32_t)m.v[VALUE_VALUE - 1].n;
	if (!op.value || !op.len || !bap_op_place(r, &m, c, &op))
		return ts_ok(c);
	op.bits = bap_op_bits(r, m.v[VALUE_BIT_LENGTH - 1].n, op.len);
	op.len = (op.bits + 7) / 8;
	if (op.slot)
		bap_op_see(r, t, &op);
	else if (bap_op_check_memory(r, &op))
		bap_op_memory(r, TS_FX_READ, &op, true);
	return true;
}

/* The values of one thread; one that is not named is the thread of the last instruction. */
static bool read_key_list(struct bap_reader *r, struct ts_cursor *c)
{
	struct bap_thread *t = r->now;
	struct pb_message m, source;
	struct ts_cursor tag, list, item;

	if (!pb_read(c, &bap_tagged, &m))
		return false;
	tag = pb_sub(&m, TAGGED_SOURCE, c);
	if (!pb_read(&tag, &bap_source, &source))
		return false;
	if (pb_has(&source, SOURCE_THREAD_ID)) {
		t = bap_find_thread(r, source.v[SOURCE_THREAD_ID - 1].n, c->err);
		if (!t)
			return false;
	}
	if (!t) /* a look ahead, which does not know yet whose the first instruction is */
		return true;
	bap_switch_thread(r, t);
	list = pb_sub(&m, TAGGED_VALUES, c);
	while (pb_next_item(&list, &bap_value_list, &item))
		if (!read_key_value(r, t, &item))
			return false;
	see_flags(r, t);
	if (r->now)
		bap_switch_thread(r, r->now);
	return ts_ok(c);
}

static bool read_key(struct bap_reader *r, struct ts_cursor *c)
{
	struct ts_cursor lists, item;
	struct pb_message m;

	if (!pb_read(c, &bap_key, &m))
		return false;
	bap_start_list(r);
	lists = pb_sub(&m, 1, c);
	while (pb_next_item(&lists, &bap_tagged_lists, &item))
		if (!read_key_list(r, &item))
			return false;
	return ts_ok(c);
}

bool bap_read_other(struct bap_reader *r)
{
	struct ts_cursor body = r->opened.body;

	switch (r->opened.kind) {
	case FRAME_SYSCALL: return read_syscall(r, &body);
	case FRAME_EXCEPTION: return read_exception(r, &body);
	case FRAME_TAINT_INTRO: return read_taint_intro(r, &body);
	case FRAME_MODLOAD: return read_modload(r, &body);
	case FRAME_KEY: return read_key(r, &body);
	default: bap_warn(r, "frames of a kind that is not known are left out"); return true;
	}
}
