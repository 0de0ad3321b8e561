/* SPDX-License-Identifier: MIT */
#include "plain.h"

#include <string.h>

#include "x87.h"

/* Longer accesses, and steps with more effects, are next()'s. */
#define MAX_LEN TS_WINDOW_PAD

/* A place in the ops, and what they have changed so far.  A step that is not plain is undone by copying one back. */
struct place {
	const uint8_t *p;    /* the next op */
	uint32_t left;       /* ops left in the frame */
	uint32_t n_effects, n_data;
	uint64_t pc;
	const uint8_t *frame; /* the header of the frame that was entered last, NULL: none was */
	uint32_t n_frames;
};

/* The general registers that the open step changed, as they were. */
struct undo {
	uint64_t value[TS_MANY_EFFECTS];
	uint8_t gpr[TS_MANY_EFFECTS];
	uint32_t n;
};

/* The state that does not change while plain steps are read. */
struct plain {
	struct ucir_reader *r;
	struct ucir_task *t;
	struct undo *undo;
	const struct ucir_slot *slots;
	const uint8_t *end; /* of the window */
	uint64_t pid, mask;
	uint32_t max_insn_len, thread;
	bool has_jumps;     /* a JMP after a STEP belongs to it */
	struct ts_steps *out;
	struct ts_effect *effects; /* and the others as in out */
	uint8_t *data;
	uint32_t cap_effects, cap_data;
};

static inline uint64_t address(const struct plain *x, const uint8_t *p)
{
	return ucir_u64(p) & x->mask;
}

static inline bool has_room(const struct plain *x, const struct place *at)
{
	return x->cap_effects > at->n_effects && x->cap_data - at->n_data >= MAX_LEN;
}

static inline void put(const struct plain *x, struct place *at, enum ts_effect_kind kind, uint64_t addr, uint64_t len,
		       uint32_t data)
{
	x->effects[at->n_effects++] =
		(struct ts_effect){ .addr = addr, .len = len, .data = data, .kind = kind };
}

static inline void keep(struct undo *u, uint8_t gpr, const uint64_t *gprs)
{
	u->gpr[u->n] = gpr;
	u->value[u->n++] = gprs[gpr];
}

static void give_back(struct undo *u, uint64_t *gprs)
{
	for (; u->n; u->n--)
		gprs[u->gpr[u->n - 1]] = u->value[u->n - 1];
}

static inline bool take_frame(const struct plain *x, struct place *at)
{
	if (*at->p != UCIR_FRAME || ucir_u64(at->p + 1) != x->pid)
		return false;
	at->left = ucir_u32(at->p + 9);
	at->frame = at->p;
	at->n_frames++;
	at->p += UCIR_FRAME_LEN;
	return true;
}

static inline bool take_reg(const struct plain *x, struct place *at)
{
	uint16_t num;
	const struct ucir_slot *slot;

	memcpy(&num, at->p + 1, 2);
	num = le16toh(num);
	slot = &x->slots[num < UCIR_N_REGS ? num : 0];
	if (__builtin_expect(num >= UCIR_N_REGS || slot->kind != UCIR_SLOT_REG || slot->len > 8 || x->undo->n == TS_MANY_EFFECTS, 0))
		return false;
	keep(x->undo, slot->gpr, x->t->gprs);
	x->t->gprs[slot->gpr] = ucir_u64(at->p + 3);
	memcpy(x->data + at->n_data, at->p + 3, 8);
	put(x, at, TS_FX_REG_WRITE, slot->off, slot->len, at->n_data);
	at->n_data += slot->len;
	at->p += UCIR_REG_LEN;
	return true;
}

static inline bool take_access(const struct plain *x, struct place *at, enum ts_effect_kind kind)
{
	uint64_t addr = address(x, at->p + 1), raw = ucir_u64(at->p + 1);
	uint32_t len = ucir_u32(at->p + 9);

	if (__builtin_expect(len - 1 >= MAX_LEN || raw + (len - 1) < raw || len - 1 > x->mask - addr, 0))
		return false;
	at->p += UCIR_ACCESS_LEN;
	if (kind == TS_FX_READ) {
		put(x, at, TS_FX_READ, addr, len, TS_NO_DATA);
		return true;
	}
	if (__builtin_expect(at->p + len > x->end, 0))
		return false;
	if (__builtin_expect(len <= 8, 1)) /* more may be read and written than counts */
		memcpy(x->data + at->n_data, at->p, 8);
	else
		memcpy(x->data + at->n_data, at->p, len);
	put(x, at, TS_FX_WRITE, addr, len, at->n_data);
	at->n_data += len;
	at->p += len;
	return true;
}

/* Take the ops before the STEP.  Returns false if the step is not plain. */
static inline bool take_group(const struct plain *x, struct place *at)
{
	while (has_room(x, at) && x->end - at->p >= (ptrdiff_t)UCIR_ACCESS_LEN) {
		if (!at->left) {
			if (!take_frame(x, at))
				return false;
			continue;
		}
		at->left--;
		switch (*at->p) {
		case UCIR_STEP: return true;
		case UCIR_REG:
			if (!take_reg(x, at))
				return false;
			break;
		case UCIR_JMP:
			at->pc = address(x, at->p + 1);
			at->p += UCIR_JMP_LEN;
			break;
		case UCIR_READ:
			if (!take_access(x, at, TS_FX_READ))
				return false;
			break;
		case UCIR_WRITE:
			if (!take_access(x, at, TS_FX_WRITE))
				return false;
			break;
		default: return false;
		}
	}
	return false;
}

/* What of the next ops belongs to the step that was taken.  Returns false if that is more than frames and jumps. */
static inline bool take_tail(const struct plain *x, struct place *at, bool *has_jumped)
{
	for (*has_jumped = false; x->end - at->p >= (ptrdiff_t)UCIR_ACCESS_LEN;) {
		if (!at->left) {
			if (!take_frame(x, at))
				return false;
			continue;
		}
		if (__builtin_expect(*at->p != UCIR_JMP, 1))
			return *at->p != UCIR_NOP && *at->p < UCIR_SYSCALL;
		if (!x->has_jumps)
			return true;
		at->pc = address(x, at->p + 1);
		at->p += UCIR_JMP_LEN;
		at->left--;
		*has_jumped = true;
	}
	return false;
}

/* The most effects that ucir_x87_look() adds. */
#define MAX_UNSEEN 256u

/* Add the effects that the ops do not show.  Returns false if no space is left for them. */
static inline bool add_unseen(const struct plain *x, struct place *at, uint64_t pc, uint64_t insn_len)
{
	struct ts_steps *out = x->out;

	if (x->cap_effects - at->n_effects < MAX_UNSEEN)
		return false;
	x->t->pc = pc;
	x->r->mark = out->n_closed;
	out->n_effects = at->n_effects;
	ucir_x87_look(x->r, insn_len, out);
	at->n_effects = out->n_effects;
	return true;
}

/* Take one plain step. */
static inline bool take_step(const struct plain *x, struct place *at, bool *has_jumped)
{
	struct ts_steps *out = x->out;
	uint64_t pc;
	uint8_t len;

	x->undo->n = 0;
	if (!take_group(x, at))
		return false;
	pc = at->pc;
	len = at->p[1];
	at->p += UCIR_STEP_LEN;
	if (__builtin_expect(!ucir_x87_is_other(x->r, x->t, pc), 0) && !add_unseen(x, at, pc, len))
		return false;
	at->pc = (pc + len) & x->mask;
	if (at->n_effects - out->n_closed > TS_MANY_EFFECTS || !take_tail(x, at, has_jumped))
		return false;
	out->steps[out->n_steps++] = (struct ts_step){
		.pc = pc,
		.thread = x->thread,
		.first = out->n_closed,
		.n_effects = at->n_effects - out->n_closed,
		.insn_len = len <= x->max_insn_len ? len : 0,
	};
	out->n_closed = at->n_effects;
	return true;
}

/* Is the reader between two steps of a thread that is in no state but having a pc? */
static bool may_be_plain(const struct ucir_reader *r, const struct ts_steps *out)
{
	const struct ucir_task *t = r->task;

	return r->w.s.w.buf && r->failed.code == TS_OK && t && t->has_pc && !t->has_next_pc && !t->is_exiting &&
	       !ucir_parts_any(&t->parts) && !r->w.rec->model->is_big_endian && !r->w.seen && !out->is_failed &&
	       out->n_effects == out->n_closed;
}

/* The reader is after the last plain step, of @n. */
static void commit(struct ucir_reader *r, const struct place *last, uint32_t n, bool is_assumed)
{
	struct ts_window *w = &r->w.s.w;

	r->w.s.at = (size_t)(last->p - w->buf);
	r->left = last->left;
	r->w.n_frames += last->n_frames;
	if (last->frame)
		r->w.frame_off = w->off + (uint64_t)(last->frame - w->buf);
	r->w.n_steps += n;
	r->last_thread = r->task->thread;
	r->task->had_pc = r->task->has_stepped = true;
	r->base.end.is_fault = false;
	r->base.end.has_pc = true;
	r->base.end.is_assumed = is_assumed;
	r->base.end.pc = last->pc;
}

void ucir_plain_steps(struct ucir_reader *r, uint32_t max, struct ts_steps *out)
{
	const struct ts_window *w = &r->w.s.w;
	const uint32_t n_before = out->n_steps;
	struct place at = { .left = r->left, .n_effects = out->n_effects, .n_data = out->n_data }, last;
	struct undo undo = { .n = 0 };
	struct plain x = { .r = r, .t = r->task, .out = out, .slots = r->w.rec->slots, .pid = r->pid, .undo = &undo };
	bool has_jumped = false, is_assumed = true;

	if (!may_be_plain(r, out))
		return;
	x.mask = r->w.rec->addr_mask;
	x.end = w->buf + w->len;
	x.max_insn_len = r->w.rec->arch->max_insn_len;
	x.thread = r->task->thread;
	x.has_jumps = r->w.rec->version == 2;
	x.effects = out->effects;
	x.data = out->data;
	x.cap_effects = out->cap_effects;
	x.cap_data = out->cap_data;
	at.p = w->buf + r->w.s.at;
	at.pc = r->task->pc;
	max = max < out->cap_steps - n_before ? max : out->cap_steps - n_before;
	for (last = at; out->n_steps - n_before < max && take_step(&x, &at, &has_jumped); last = at)
		is_assumed = !has_jumped;
	if (at.p != last.p)
		give_back(&undo, r->task->gprs);
	out->n_effects = last.n_effects;
	out->n_data = last.n_data;
	r->task->pc = last.pc;
	if (out->n_steps > n_before)
		commit(r, &last, out->n_steps - n_before, is_assumed);
}
