/* SPDX-License-Identifier: MIT */
#include "effects.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/arch/signals.h"
#include "src/base/bytes.h"
#include "src/base/cursor.h"

/* -------------------------------------------------------------------------------- messages */

#define PLACE_LEN 64

/* " (stream offset ...)" for a framed trace, whose file offsets name a chunk only. */
static const char *stream_place(const struct ucir_walk *w, uint64_t off, char text[PLACE_LEN])
{
	text[0] = '\0';
	if (w->rec->bytes.is_framed)
		snprintf(text, PLACE_LEN, " (stream offset 0x%" PRIx64 ")", off);
	return text;
}

static const char *frame_place(const struct ucir_walk *w, char text[PLACE_LEN])
{
	if (!w->n_frames)
		return "before the first frame";
	snprintf(text, PLACE_LEN, "frame %" PRIu64, w->n_frames);
	return text;
}

bool ucir_bad(const struct ucir_walk *w, uint64_t off, enum ts_code code, struct ts_error *err,
	      const char *fmt, ...)
{
	char what[256], frame[PLACE_LEN], place[PLACE_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return ts_fail(err, code, ucir_bytes_file_off(&w->rec->bytes, off), "%s: %s%s", frame_place(w, frame),
		       what, stream_place(w, off, place));
}

/* Did the writer close the file, so that a truncation is damage and not the sign of a killed recorder? */
static bool was_closed(const struct ucir_bytes *b)
{
	return b->is_framed && b->frames.end.code == TS_OK && b->frames.n &&
	       snappy_frames_decoded_len(&b->frames, b->frames.n - 1) < SNAPPY_MAX_DECODED;
}

/* The stream ends inside @op, or where the current frame promises more. */
static bool explain_cut(const struct ucir_walk *w, const struct ucir_op *op, uint32_t left_ops,
			struct ts_error *err)
{
	const struct ucir_bytes *b = &w->rec->bytes;
	const struct ts_error why = *err;
	char frame[PLACE_LEN], place[PLACE_LEN], what[240];

	if (op->kind < UCIR_N_KINDS)
		snprintf(what, sizeof(what), "%s at %s0x%" PRIx64 " is incomplete, %s",
			 ucir_kind_name(op->kind), b->is_framed ? "stream offset " : "",
			 op->off, why.text);
	else if (left_ops)
		snprintf(what, sizeof(what), "%" PRIu32 " more ops are promised there", left_ops);
	else
		snprintf(what, sizeof(what), "%s", b->frames.end.text);
	ts_error_reset(err);
	return ts_fail(err, TS_ETRUNC, ucir_bytes_file_off(b, b->end),
		       "loaded %" PRIu64 " steps, truncated at 0x%" PRIx64 "%s, %s: %s%s", w->n_steps,
		       ucir_bytes_file_off(b, b->end), stream_place(w, b->end, place), frame_place(w, frame),
		       what,
		       was_closed(b) ? "; the writer had closed the file, so it was damaged later" : "");
}

bool ucir_explain(const struct ucir_walk *w, const struct ucir_op *op, uint32_t left_ops,
		  struct ts_error *err)
{
	const struct snappy_frames *frames = &w->rec->bytes.frames;
	char frame[PLACE_LEN], place[PLACE_LEN];

	if (err->code == TS_ETRUNC && frames->end.code == TS_ECORRUPT)
		*err = frames->end; /* nothing follows because the next chunk is damaged */
	else if (err->code == TS_ETRUNC)
		return explain_cut(w, op, left_ops, err);
	if (err->code == TS_ECORRUPT) {
		char text[sizeof(err->text)];

		memcpy(text, err->text, sizeof(text));
		snprintf(err->text, sizeof(err->text), "%s: %s%s", frame_place(w, frame), text,
			 stream_place(w, op->off, place));
	}
	return false;
}

/* -------------------------------------------------------------------------------- registers */

static const struct ucir_slot *slot_of(const struct ucir_walk *w, uint32_t num)
{
	static const struct ucir_slot none;

	return num < UCIR_N_REGS ? &w->rec->slots[num] : &none;
}

/* A register that is not kept, or a value of another width than the register's. */
static void odd_reg(const struct ucir_walk *w, const struct ucir_op *op, const struct ucir_slot *slot,
		    uint64_t len)
{
	if (slot->kind == UCIR_SLOT_NONE)
		ucir_warn(w, op->off,
			  "register number %" PRIu32
			  " is left out: not a whole register that gdb knows for %s",
			  op->num, w->rec->arch->name);
	else
		ucir_warn(w, op->off,
			  "register number %" PRIu32 " has %u bytes but was recorded with %" PRIu64
			  " of them",
			  op->num, slot->len, len);
}

/* @len bytes at @bytes, in target order, are the low part of a register of @reg_len at @off. */
static void put_low(const struct ucir_walk *w, struct ts_steps *to, uint32_t off, uint32_t reg_len,
		    const uint8_t *bytes, uint64_t len)
{
	bool is_big = w->rec->model->is_big_endian;

	if (len > reg_len) {
		bytes += is_big ? len - reg_len : 0;
		len = reg_len;
	}
	ts_steps_value(to, TS_FX_REG_WRITE, off + (is_big ? reg_len - len : 0), bytes, (uint32_t)len);
}

static void put_ymm(const struct ucir_walk *w, struct ts_steps *to, const struct ucir_slot *slot,
		    const uint8_t *bytes, uint64_t len)
{
	put_low(w, to, slot->off, 16, bytes, len < 16 ? len : 16);
	if (len > 16)
		put_low(w, to, slot->high, 16, bytes + 16, len - 16);
}

/* SPREG: as many bytes as the op says, in target order. */
static void put_special(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			struct ts_steps *to)
{
	const struct ucir_slot *slot = slot_of(w, op->num);

	if (w->seen && op->num < UCIR_N_REGS)
		w->seen[op->num] = true;
	if (slot->kind == UCIR_SLOT_PC && op->len && op->len <= 8) {
		t->next_pc = ts_arch_get(w->rec->model, op->bytes, (size_t)op->len) & w->rec->addr_mask;
		t->has_next_pc = true;
		return;
	}
	if (slot->gpr && op->len <= 8)
		t->gprs[slot->gpr] = ts_arch_get(w->rec->model, op->bytes, (size_t)op->len);
	if (!to)
		return;
	if (slot->kind == UCIR_SLOT_NONE || op->len != slot->len)
		odd_reg(w, op, slot, op->len);
	if (slot->kind == UCIR_SLOT_REG)
		put_low(w, to, slot->off, slot->len, op->bytes, op->len);
	else if (slot->kind == UCIR_SLOT_YMM)
		put_ymm(w, to, slot, op->bytes, op->len);
}

/* REG of anything but a register of at most eight bytes. */
static void put_odd_reg(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			struct ts_steps *to)
{
	const struct ucir_slot *slot = slot_of(w, op->num);

	if (w->seen && op->num < UCIR_N_REGS)
		w->seen[op->num] = true;
	if (slot->kind == UCIR_SLOT_PC) {
		t->next_pc = op->val & w->rec->addr_mask;
		t->has_next_pc = true;
	} else if (to) {
		odd_reg(w, op, slot, 8);
	}
}

/* A word of a big-endian machine.  Not in line: its array would cost the others. */
static __attribute__((noinline)) void put_reversed(const struct ucir_slot *slot, const struct ucir_op *op,
						   struct ts_steps *to)
{
	uint8_t bytes[8];

	memcpy(bytes, op->bytes, 8);
	ts_reverse_bytes(bytes, slot->len);
	ts_steps_value(to, TS_FX_REG_WRITE, slot->off, bytes, slot->len);
}

static inline void put_reg(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			   struct ts_steps *to)
{
	const struct ucir_slot *slot = slot_of(w, op->num);

	t->gprs[slot->gpr] = op->val;
	if (__builtin_expect(!to || slot->kind != UCIR_SLOT_REG || slot->len > 8, 0)) {
		put_odd_reg(w, t, op, to);
	} else if (__builtin_expect(w->rec->model->is_big_endian, 0)) {
		put_reversed(slot, op, to);
	} else if (slot->len == 8) {
		ts_steps_value(to, TS_FX_REG_WRITE, slot->off, op->bytes, 8);
	} else {
		ts_steps_value(to, TS_FX_REG_WRITE, slot->off, op->bytes, slot->len);
	}
}

/*
 * Recorded registers that the keyframe does not name are zero (in version 2 they are unknown); a register
 * that is wired to zero always is.
 */
static void put_zeros(const struct ucir_walk *w, const bool given[UCIR_N_REGS], struct ts_steps *to)
{
	static const uint8_t zeros[64];
	const struct ts_regset *regs = &w->rec->base.regs;
	int zero = w->rec->arch->zero ? ts_regset_find(regs, w->rec->arch->zero) : -1;

	for (unsigned num = 0; num < UCIR_N_REGS && w->rec->version < 2; num++) {
		const struct ucir_slot *slot = &w->rec->slots[num];

		if (slot->is_recorded && slot->kind == UCIR_SLOT_REG && !given[num])
			ts_steps_value(to, TS_FX_REG_WRITE, slot->off, zeros, slot->len);
	}
	if (zero >= 0)
		ts_steps_value(to, TS_FX_REG_WRITE, regs->regs[zero].off, zeros, regs->regs[zero].len);
}

/* -------------------------------------------------------------------------------- memory */

static inline bool put_access(struct ucir_walk *w, const struct ucir_task *t, const struct ucir_op *op,
			      struct ts_steps *to, struct ts_error *err)
{
	uint64_t addr = op->addr & w->rec->addr_mask, len = op->len;

	if (!len)
		return true;
	if (__builtin_expect(op->addr + (len - 1) < op->addr, 0))
		return ucir_bad(w, op->off, TS_ECORRUPT, err,
				"%s of 0x%" PRIx64 " bytes at 0x%" PRIx64
				" passes the end of the address space",
				ucir_kind_name(op->kind), len, op->addr);
	if (!to)
		return true;
	if (__builtin_expect(len - 1 > w->rec->addr_mask - addr, 0)) {
		ucir_warn(w, op->off,
			  "an access that passes the end of the 32-bit address space is truncated there");
		len = w->rec->addr_mask - addr + 1;
	}
	if (op->kind == UCIR_WRITE && len == 8)
		ts_steps_value(to, TS_FX_WRITE, addr, op->bytes, 8);
	else if (op->kind == UCIR_WRITE)
		ts_steps_value(to, TS_FX_WRITE, addr, op->bytes, (uint32_t)len);
	else if (t->has_pc)
		ts_steps_effect(to, TS_FX_READ, addr, len);
	return true;
}

/* Returns false if the range of the op is not in the address space. */
static bool check_range(const struct ucir_walk *w, const struct ucir_op *op, struct ts_error *err)
{
	if (!op->len || (op->addr <= w->rec->addr_mask && op->len - 1 <= w->rec->addr_mask - op->addr))
		return true;
	return ucir_bad(w, op->off, TS_ECORRUPT, err,
			"%s of 0x%" PRIx64 " bytes at 0x%" PRIx64 " passes the end of the address space",
			ucir_kind_name(op->kind), op->len, op->addr);
}

/* FORGET: unknown from here.  CHANGED: already so when the coming instruction began. */
static bool put_unseen(const struct ucir_walk *w, const struct ucir_op *op, struct ts_steps *to,
		       struct ts_error *err)
{
	struct ts_effect *e;

	if (!op->len)
		return true;
	if (!check_range(w, op, err))
		return false;
	if (!to)
		return true;
	if (op->kind == UCIR_FORGET) {
		ts_steps_effect(to, TS_FX_FORGET, op->addr, op->len);
		return true;
	}
	e = ts_steps_value(to, TS_FX_READ, op->addr, op->bytes, (uint32_t)op->len);
	if (e)
		e->is_hidden = true;
	return true;
}

/* The length of a text in a trace, which ends at its first NUL. */
static size_t text_len(const char *text, size_t len)
{
	const char *nul = len ? memchr(text, 0, len) : NULL;

	return nul ? (size_t)(nul - text) : len;
}

static void put_map(const struct ucir_op *op, uint32_t prot, struct ts_steps *to)
{
	size_t n_desc = text_len(op->desc, op->n_desc), n_file = text_len(op->file, op->n_file);
	struct ts_map *m = ts_steps_map(to, op->addr, op->len, n_desc ? op->desc : NULL, n_desc,
					n_file ? op->file : NULL, n_file);

	if (!m)
		return;
	m->prot = prot;
	m->file_off = op->file_off;
	m->fill = TS_FILL_ZERO;
}

static bool put_region(struct ucir_walk *w, const struct ucir_op *op, struct ts_steps *to,
		       struct ts_error *err)
{
	uint32_t prot = op->prot & (TS_PROT_READ | TS_PROT_WRITE | TS_PROT_EXEC);
	struct ts_effect *e;

	if (!check_range(w, op, err))
		return false;
	if (!to)
		return true;
	if (op->kind != UCIR_UNMAP && prot != op->prot)
		ucir_warn(w, op->off, "a protection above 7 is masked");
	if (!op->len) {
		ucir_warn(w, op->off, "%s of no bytes is ignored", ucir_kind_name(op->kind));
	} else if (op->kind == UCIR_MAP) {
		put_map(op, prot, to);
	} else if (op->kind == UCIR_UNMAP) {
		ts_steps_effect(to, TS_FX_UNMAP, op->addr, op->len);
	} else {
		e = ts_steps_effect(to, TS_FX_PROTECT, op->addr, op->len);
		if (e)
			e->item = prot;
	}
	return true;
}

/* -------------------------------------------------------------------------------- all of them */

bool ucir_apply(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op, struct ts_steps *to,
		struct ts_error *err)
{
	switch (op->kind) {
	case UCIR_NOP:
		return true;
	case UCIR_REG:
		put_reg(w, t, op, to);
		return true;
	case UCIR_SPREG:
		put_special(w, t, op, to);
		return true;
	case UCIR_READ:
	case UCIR_WRITE:
		return put_access(w, t, op, to, err);
	case UCIR_MAP:
	case UCIR_UNMAP:
	case UCIR_PROT:
		return put_region(w, op, to, err);
	case UCIR_FORGET:
	case UCIR_CHANGED:
		return put_unseen(w, op, to, err);
	default: /* the callers handle the others, where they are allowed */
		return ucir_bad(w, op->off, TS_ECORRUPT, err, "%s inside the frame at 0x%" PRIx64,
				ucir_kind_name(op->kind), w->frame_off);
	}
}

void ucir_add_exit(struct ts_steps *to, const uint64_t *status)
{
	struct ts_event *ev = ts_steps_event(to, TS_EV_EXIT);

	if (ev && status) {
		ev->number = *status;
		ev->has_ret = true;
	}
}

/*
 * What QEMU's calls return when the program sees no result of them: the call will be made again (ERESTARTSYS), or
 * it was sigreturn, which gives back the registers that a signal interrupted.
 */
static bool is_no_result(uint64_t result)
{
	return (int32_t)result == -512 || (int32_t)result == -513;
}

static void put_syscall(const struct ucir_walk *w, const struct ucir_op *op, struct ts_steps *to)
{
	struct ts_event *ev = ts_steps_event(to, TS_EV_SYSCALL);
	struct ts_error err = { 0 };
	struct ts_cursor c = ts_cursor(op->bytes, op->n_args * (size_t)8, 0, "arguments", &err);

	if (!ev)
		return;
	ev->number = op->num;
	ev->ret = op->val & w->rec->addr_mask;
	ev->has_ret = w->rec->version < 2 || !is_no_result(op->val);
	ev->n_args = op->n_args < TS_MAX_SYSCALL_ARGS ? op->n_args : TS_MAX_SYSCALL_ARGS;
	for (unsigned i = 0; i < ev->n_args; i++)
		ev->args[i] = ts_u64le(&c) & w->rec->addr_mask;
}

/*
 * The call did not return; before version 2, if it is one that ends a Linux process, its first argument is
 * the status.
 */
static void end_syscall(const struct ucir_walk *w, struct ts_steps *to, uint32_t event)
{
	struct ts_event *ev = &to->events[event];
	const uint32_t *exits = w->rec->arch->exits;
	bool is_exit = strcmp(w->rec->base.os, "linux") == 0 && ev->n_args &&
		       (ev->number == exits[0] || ev->number == exits[1]);
	uint64_t status = ev->args[0] & 0xff;

	ev->has_ret = false;
	if (w->rec->version < 2)
		ucir_add_exit(to, is_exit ? &status : NULL);
}

/* Is an op of @kind allowed in one of @holder? */
static bool may_be_inside(unsigned kind, unsigned holder)
{
	switch (kind) {
	case UCIR_EXIT:
		return holder == UCIR_SYSCALL;
	case UCIR_JMP:
	case UCIR_STEP:
	case UCIR_THREAD_END:
	case UCIR_NOTE:
	case UCIR_END:
		return false;
	default:
		return !ucir_is_holder(kind);
	}
}

/* The ops in a SYSCALL, a SIGNAL or a GAP; *has_exit determines whether one of them is EXIT. */
static bool apply_inner(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			struct ts_steps *to, bool *has_exit, struct ts_error *err)
{
	const uint32_t n_ops = op->n_ops;
	const unsigned holder = op->kind;
	const uint64_t off = op->off;
	struct ucir_op inner;

	*has_exit = false;
	for (uint32_t i = 0; i < n_ops; i++) {
		if (!ucir_read(w, &inner, n_ops - i, err))
			return false;
		if (!may_be_inside(inner.kind, holder))
			return ucir_bad(w, inner.off, TS_ECORRUPT, err, "%s inside the %s at 0x%" PRIx64,
					ucir_kind_name(inner.kind), ucir_kind_name(holder),
					off);
		if (inner.kind == UCIR_EXIT)
			*has_exit = true;
		else if (!ucir_apply(w, t, &inner, to, err))
			return false;
	}
	return true;
}

bool ucir_apply_syscall(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			struct ts_steps *to, bool *has_exit, struct ts_error *err)
{
	uint32_t event = to ? to->n_events : 0;

	if (to)
		put_syscall(w, op, to);
	if (!apply_inner(w, t, op, to, has_exit, err))
		return false;
	if (to && *has_exit && event < to->n_events)
		end_syscall(w, to, event);
	*has_exit &= w->rec->version < 2;
	return true;
}

static void put_signal(const struct ucir_walk *w, const struct ucir_task *t, const struct ucir_op *op,
		       unsigned flags, struct ts_steps *to)
{
	bool is_fault = flags & UCIR_SIGNAL_FAULT;
	struct ts_event *ev =
		ts_steps_event(to, is_fault && flags & UCIR_SIGNAL_KILLED ? TS_EV_FAULT : TS_EV_SIGNAL);

	if (!ev)
		return;
	ev->number = ts_signal_from_linux(w->rec->model, op->num);
	ev->is_after = !is_fault;
	ev->has_addr = flags & UCIR_SIGNAL_HAS_ADDR;
	ev->addr = ev->has_addr ? op->addr & w->rec->addr_mask : 0;
	if (flags & UCIR_SIGNAL_AT_PC && t->has_pc) {
		ev->has_addr = true;
		ev->addr = t->pc;
	}
	ev->has_ret = flags & UCIR_SIGNAL_HAS_CODE;
	ev->ret = ev->has_ret ? (uint64_t)(int64_t)op->code : 0;
	ev->args[0] = op->num;
	ev->n_args = 1;
}

/*
 * Did the signal's frame, effects from @first on, set registers of the thread of the step: does its handler begin there?
 * Those of the step before @first name another thread if it is not the same one.
 */
static bool has_handler(const struct ts_steps *to, uint32_t first)
{
	const struct ts_step *last = to->n_steps ? &to->steps[to->n_steps - 1] : NULL;

	for (uint32_t i = last ? last->first + last->n_effects : 0; i < first; i++) {
		if (to->effects[i].kind == TS_FX_THREAD)
			return false;
	}
	for (uint32_t i = first; i < to->n_effects; i++) {
		if (to->effects[i].kind == TS_FX_REG_WRITE)
			return true;
	}
	return false;
}

/*
 * A signal whose handler begins after the step is delivered at the step: the position after it is the handler's first
 * instruction, and no position between them has the state that was interrupted.  Of a thread that does not run at the step
 * no position before the handler has the pc: its signal is after the step.
 */
bool ucir_apply_signal(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op, unsigned flags,
		       struct ts_steps *to, struct ts_error *err)
{
	uint32_t first = to ? to->n_effects : 0, event = to ? to->n_events : 0;
	bool has_exit;

	if (to)
		put_signal(w, t, op, flags, to);
	if (!apply_inner(w, t, op, to, &has_exit, err))
		return false;
	if (to && event < to->n_events && has_handler(to, first))
		to->events[event].is_after = false;
	for (uint32_t i = first; to && i < to->n_effects; i++)
		to->effects[i].is_hidden = to->effects[i].kind != TS_FX_EVENT;
	return true;
}

bool ucir_apply_gap(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op, struct ts_steps *to,
		    struct ts_error *err)
{
	struct ts_event *ev = to ? ts_steps_event(to, TS_EV_GAP) : NULL;
	bool has_exit;

	if (ev)
		snprintf(ev->text, sizeof(ev->text), "%" PRIu64 " instruction%s not recorded", op->val,
			 op->val == 1 ? "" : "s");
	return apply_inner(w, t, op, to, &has_exit, err);
}

/* An op of a keyframe: state, not an access. */
static bool apply_to_state(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			   struct ts_steps *to, struct ts_error *err)
{
	bool has_exit;

	switch (op->kind) {
	case UCIR_JMP:
		t->next_pc = op->addr & w->rec->addr_mask;
		t->has_next_pc = true;
		return true;
	case UCIR_SYSCALL:
		return ucir_apply_syscall(w, t, op, NULL, &has_exit, err);
	case UCIR_SIGNAL:
		return ucir_apply_signal(w, t, op, 0, NULL, err);
	case UCIR_GAP:
		return ucir_apply_gap(w, t, op, NULL, err);
	case UCIR_STEP:
	case UCIR_EXIT:
	case UCIR_READ:
		return true;
	default:
		return ucir_apply(w, t, op, to, err);
	}
}

bool ucir_apply_keyframe(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			 struct ts_steps *to, struct ts_error *err)
{
	bool given[UCIR_N_REGS] = { false };
	uint32_t n_ops = op->n_ops;
	struct ucir_op inner;

	w->n_frames++;
	w->frame_off = op->off;
	memset(t->gprs, 0, sizeof(t->gprs));
	for (uint32_t left = n_ops; left > 0; left--) {
		if (!ucir_read(w, &inner, left, err) || !apply_to_state(w, t, &inner, to, err))
			return false;
		if ((inner.kind == UCIR_REG || inner.kind == UCIR_SPREG) && inner.num < UCIR_N_REGS)
			given[inner.num] = true;
	}
	if (to)
		put_zeros(w, given, to);
	if (t->has_next_pc) {
		t->pc = t->next_pc;
		t->has_pc = t->had_pc = true;
		t->has_next_pc = false;
	}
	return true;
}
