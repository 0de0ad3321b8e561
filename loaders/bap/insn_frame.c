/* SPDX-License-Identifier: MIT */
#include "decoder.h"

#include <string.h>

#include "insn.h"
#include "schema.h"
#include "snapshot.h"
#include "word_ops.h"

/* Did this frame's list see the same memory before?  Then that is not the value before the instruction. */
static bool is_seen_memory(const struct bap_course *co, const struct bap_op *op)
{
	const struct ts_steps *b = co->known.out;

	for (uint32_t i = b->n_closed; i < b->n_effects && i < b->n_closed + 16; i++)
		if (b->effects[i].kind == TS_FX_READ && b->effects[i].addr == op->addr &&
		    b->effects[i].len == op->len)
			return true;
	return false;
}

static inline void see(struct bap_course *co, struct bap_thread *t, const struct bap_op *op)
{
	if (op->slot)
		bap_op_see(&co->known, t, op);
	else if (!is_seen_memory(co, op))
		bap_op_memory(&co->known, TS_FX_READ, op, !op->is_read);
}

static void see_list(struct bap_course *co, struct bap_thread *t, struct ts_cursor *list)
{
	struct bap_op op;

	while (bap_op_next(&co->in, list, &op))
		see(co, t, &op);
}

/* As above, for a list of all registers, of which most are unchanged. */
static void see_snapshot(struct bap_course *co, struct bap_thread *t, struct ts_cursor *list)
{
	struct bap_op op;
	uint32_t i = 0;

	for (;;) {
		const uint8_t *p;

		bap_shown_skip(co->known.shown, list, &i);
		p = list->p;
		if (!bap_op_next(&co->in, list, &op))
			return;
		bap_shown_before(co->known.shown, t, co->known.serial, i, &op);
		see(co, t, &op);
		bap_shown_keep(co->known.shown, t, &i, p, (size_t)(list->p - p), &op);
	}
}

/*
 * ARM's carry contradicts what was known: tracewrap evaluates the carry out of a shifted or rotated operand
 * before it logs the flags, so that what it logs as the value before the instruction may be the result.  It
 * is regarded as that if the list after the instruction says the same.
 */
static void check_carry(struct bap_course *co, struct bap_thread *t, const struct pb_message *std,
			struct ts_cursor *frame)
{
	struct ts_cursor list = pb_sub(std, STD_POST_LIST, frame);
	struct bap_flag_bits *f = &t->flags[0];
	struct bap_op op;

	while (bap_op_next(&co->in, &list, &op)) {
		bool is_set = op.value[0] & 1;

		if (op.slot && op.slot->kind == REGMAP_FLAG && op.slot->mask == BAP_ARM_C &&
		    is_set == !!(f->value & BAP_ARM_C)) {
			f->value ^= BAP_ARM_C;
			bap_warn(co->known.look,
				 "carry flags before an instruction that contradict what is known and "
				 "equal its result are regarded as the result");
			return;
		}
	}
}

/* The list before the instruction. */
static bool read_pre_list(struct bap_course *co, struct bap_thread *t, const struct pb_message *std,
			  struct ts_cursor *frame, bool *has_operands)
{
	struct ts_cursor list = pb_sub(std, STD_PRE_LIST, frame);

	bap_start_list(&co->known);
	*has_operands |= list.left > 0;
	if (co->rec->recorder == BAP_SNAPSHOT && bap_shown_start(&co->known.shown, co->rec, t))
		see_snapshot(co, t, &list);
	else
		see_list(co, t, &list);
	if (co->rec->recorder == BAP_TRACEWRAP && co->rec->arch == BAP_ARCH_ARM &&
	    t->flags[0].contradicted & BAP_ARM_C)
		check_carry(co, t, std, frame);
	bap_see_all_flags(&co->known, t);
	return ts_ok(frame);
}

/* For a frame without a list of values after the instruction: the writes according to the list before it. */
static void lose_written(struct bap_course *co, struct bap_thread *t, const struct pb_message *std,
			 struct ts_cursor *frame)
{
	struct ts_cursor list = pb_sub(std, STD_PRE_LIST, frame);
	struct bap_op op;

	while (bap_op_next(&co->in, &list, &op))
		if (op.is_written)
			bap_op_lose(&co->known, t, &op);
}

static inline void write(struct bap_course *co, struct bap_thread *t, const struct bap_op *op)
{
	if (op->slot)
		bap_op_write(&co->known, t, op);
	else
		bap_op_memory(&co->known, TS_FX_WRITE, op, false);
}

static void tell_written_flags(struct bap_course *co, struct bap_thread *t)
{
	for (unsigned i = 0; i < co->rec->names.n_flags; i++)
		if (t->flags[i].last)
			bap_report_flags(&co->known, t, i, t->flags[i].last, true);
}

static bool read_post_list(struct bap_course *co, struct bap_thread *t, const struct pb_message *std,
			   struct ts_cursor *frame, bool *has_operands)
{
	struct ts_cursor list = pb_sub(std, STD_POST_LIST, frame);
	struct bap_op op;

	*has_operands |= list.left > 0;
	while (bap_op_next(&co->in, &list, &op))
		write(co, t, &op);
	tell_written_flags(co, t);
	return ts_ok(frame);
}

static inline __attribute__((always_inline)) void see_code(struct bap_course *co, uint64_t pc,
							   const struct pb_value *raw)
{
	struct ts_effect *e;

	if (!raw->p || !raw->n || raw->n > 64 || raw->n - 1 > co->rec->addr_mask - pc)
		return;
	if (raw->n <= TS_X86_MAX_INSN) /* that many bytes are readable: TS_WINDOW_PAD */
		e = ts_steps_short(co->known.out, TS_FX_READ, pc, raw->p, (uint32_t)raw->n, TS_X86_MAX_INSN);
	else
		e = ts_steps_value(co->known.out, TS_FX_READ, pc, raw->p, (uint32_t)raw->n);
	if (e)
		e->is_hidden = true;
}

/* What begins with a frame of an instruction, whatever it says: *raw are the instruction's bytes. */
static inline __attribute__((always_inline)) void begin_insn(struct bap_course *co, uint64_t pc,
							     const struct pb_value *raw)
{
	*co->known.end = (struct ts_end){ 0 };
	co->last_len = raw->n <= sizeof(co->last_insn) ? (uint8_t)raw->n : 0;
	if (co->last_len) /* as many bytes as there can be: the window has more of them (TS_WINDOW_PAD) */
		memcpy(co->last_insn, raw->p, sizeof(co->last_insn));
	see_code(co, pc, raw);
}

/* Any frame. */
static __attribute__((noinline)) bool read_any(struct bap_course *co, struct bap_stream *s,
					       struct bap_thread **t, uint64_t *pc, uint16_t *insn_len)
{
	struct ts_cursor *c = &s->opened.body;
	bool is_arm = co->rec->arch == BAP_ARCH_ARM && co->rec->names.n_flags;
	bool has_operands = false;
	const struct pb_message *std = bap_stream_std(s);
	const struct pb_value *raw;

	if (!std)
		return false;
	raw = &std->v[STD_RAWBYTES - 1];
	*t = bap_course_thread(co, std->v[STD_THREAD_ID - 1].n, s->off, c->err);
	if (!*t)
		return false;
	co->now = *t;
	*pc = std->v[STD_ADDRESS - 1].n & co->rec->addr_mask;
	*insn_len = raw->n <= 64 ? (uint16_t)raw->n : 0;
	begin_insn(co, *pc, raw);
	if (is_arm)
		bap_see_mode(&co->known, *t, std);
	if (!read_pre_list(co, *t, std, c, &has_operands))
		return false;
	if (co->calls.n)
		bap_calls_take(&co->calls, &co->known, *t, *pc);
	bap_age_writes(*t);
	if (!pb_has(std, STD_POST_LIST))
		lose_written(co, *t, std, c);
	if (!read_post_list(co, *t, std, c, &has_operands))
		return false;
	if (!has_operands)
		bap_lose_unlogged(&co->known, *t, *pc, raw);
	else if (co->rec->recorder == BAP_TRACEWRAP || co->rec->recorder == BAP_OLD_TRACEWRAP)
		bap_lose_helpers(&co->known, *t, raw);
	if (is_arm)
		bap_step_it(&co->known, *t, raw);
	if ((!raw->n && !has_operands) || bap_is_trap(co->rec, *t, raw))
		ts_steps_effect(co->known.out, TS_FX_UNSEEN, 0, 0);
	return ts_ok(c);
}

/* ------------------------------------------------------------------------------------------ by a plan */

/* A frame that a plan fits, with the addresses of its memory operands. */
struct planned {
	const struct bap_plan *plan;
	const uint8_t *tail;
	bool is_big_endian;
	uint64_t addrs[BAP_PLAN_MEMORY];
};

/* Read the addresses of memory.  Returns false if there is one that the general way ignores. */
static inline bool read_addresses(const struct bap *rec, struct planned *f)
{
	for (unsigned i = 0; i < f->plan->n_memory; i++) {
		const struct bap_plan_address *a = &f->plan->memory[i];

		pb_get_varint(f->tail + a->at, f->tail + f->plan->len, &f->addrs[i]);
		f->addrs[i] &= rec->addr_mask;
		if (a->room > rec->addr_mask - f->addrs[i])
			return false;
	}
	return true;
}

static inline uint64_t planned_word(const struct planned *f, const struct bap_plan_item *item)
{
	uint64_t word = ts_load(f->tail + item->value);

	return f->is_big_endian ? bap_reverse(word, item->len) : word;
}

/* An operand that is not a word, as the general way has it; memory takes the next address, *addr. */
static inline struct bap_op planned_op(const struct bap_course *co, const struct planned *f,
				       const struct bap_plan_item *item, const uint64_t **addr)
{
	return (struct bap_op){
		.slot = item->slot ? &co->rec->names.slots[item->slot] : NULL,
		.addr = item->slot ? 0 : *(*addr)++,
		.value = f->tail + item->value,
		.len = item->len,
		.bits = item->bits,
		.is_read = item->is_read,
	};
}

/* The flags from @i to @end. */
static inline uint64_t planned_flags(const struct planned *f, unsigned i, unsigned end)
{
	const struct bap_plan_flag *flag = f->plan->flags + i, *last = f->plan->flags + end;
	uint64_t all = 0;

	for (; flag < last; flag++)
		all |= (uint64_t)(f->tail[flag->value] & flag->mask) << flag->shift;
	return all;
}

static inline void follow_pre_list(struct bap_course *co, struct bap_thread *t, const struct planned *f,
				   const uint64_t **addr)
{
	const struct bap_plan *plan = f->plan;
	uint64_t flags;

	bap_start_list(&co->known);
	for (unsigned i = 0; i < plan->n_pre_items; i++) {
		const struct bap_plan_item *item = &plan->items[i];

		if (item->is_word) {
			bap_see_first(&co->known, t, item->off, planned_word(f, item), item->len);
		} else {
			struct bap_op op = planned_op(co, f, item, addr);

			see(co, t, &op);
		}
	}
	if (!plan->has_pre_flags)
		return;
	flags = planned_flags(f, 0, plan->n_pre_flags);
	for (unsigned i = 0; i < REGMAP_MAX_FLAGS; i++)
		if (bap_group_of(plan->pre_mask, i))
			bap_see_flags(&co->known, t, i, bap_group_of(plan->pre_mask, i),
				      bap_group_of(flags, i));
	bap_see_all_flags(&co->known, t);
}

static inline void follow_post_list(struct bap_course *co, struct bap_thread *t, const struct planned *f,
				    const uint64_t **addr)
{
	const struct bap_plan *plan = f->plan;
	uint64_t flags;

	for (unsigned i = plan->n_pre_items; i < plan->n_items; i++) {
		const struct bap_plan_item *item = &plan->items[i];

		if (item->is_word) {
			bap_write_word(&co->known, t, item->off, planned_word(f, item), item->len);
		} else {
			struct bap_op op = planned_op(co, f, item, addr);

			write(co, t, &op);
		}
	}
	if (!plan->has_post_flags)
		return;
	flags = planned_flags(f, plan->n_pre_flags, plan->n_flags);
	for (unsigned i = 0; i < REGMAP_MAX_FLAGS; i++)
		if (bap_group_of(plan->post_mask, i))
			bap_write_flags(t, i, bap_group_of(plan->post_mask, i), bap_group_of(flags, i));
	tell_written_flags(co, t);
}

/* read_any() for a frame of the current thread that a plan fits. */
static inline void follow(struct bap_course *co, struct bap_thread *t, const struct planned *f, uint64_t pc)
{
	struct pb_value raw = { f->plan->insn_len, f->tail + BAP_PLAN_RAW };
	const uint64_t *addr = f->addrs;

	begin_insn(co, pc, &raw);
	follow_pre_list(co, t, f, &addr);
	bap_age_writes(t);
	follow_post_list(co, t, f, &addr);
	if (!f->plan->has_operands)
		bap_lose_unlogged(&co->known, t, pc, &raw);
	else if (f->plan->loss)
		bap_lose_x86(&co->known, t, f->plan->loss);
	if (f->plan->is_trap)
		ts_steps_effect(co->known.out, TS_FX_UNSEEN, 0, 0);
	co->plans.n_followed++;
}

bool bap_read_std(struct bap_course *co, struct bap_stream *s, struct bap_thread **t, uint64_t *pc,
		  uint16_t *insn_len)
{
	struct planned f;
	struct bap_plan_frame head;
	bool has_head = bap_plan_split(&co->plans, &s->opened.body, &head);

	f.plan = has_head && co->now && co->now->id == head.thread_id && !co->calls.n
			 ? bap_plans_find(&co->plans, &head)
			 : NULL;
	f.tail = head.tail;
	f.is_big_endian = co->rec->base.regs.arch->is_big_endian;
	if (!f.plan || !read_addresses(co->rec, &f)) {
		bool done = read_any(co, s, t, pc, insn_len);

		if (done && has_head)
			bap_plans_note(&co->plans, &co->in, &head);
		return done;
	}
	*t = co->now;
	*pc = head.pc & co->rec->addr_mask;
	*insn_len = f.plan->insn_len;
	follow(co, co->now, &f, *pc);
	return true;
}
