/* SPDX-License-Identifier: MIT */
#include "writes.h"

#include <stdlib.h>
#include <string.h>

bool ts_step_has_event(const struct ts_steps *b, const struct ts_step *st, uint32_t kinds)
{
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_EVENT && kinds >> b->events[e->item].kind & 1)
			return true;
	}
	return false;
}

bool ts_step_is_syscall(const struct ts_query *q, const struct ts_steps *b, const struct ts_step *st,
			const struct ts_decoded *d)
{
	if (ts_query_facts(q)->is_physical)
		return false;
	return (d && d->is_insn && d->ops.flow == TS_OP_SYSCALL) ||
	       ts_step_has_event(b, st, 1u << TS_EV_SYSCALL);
}

/* -------------------------------------------------------------------------------------------- by operands */

static uint64_t overlap(const struct ts_location *loc, const struct ts_op_place *to)
{
	if (loc->kind == TS_IN_FLAGS)
		return to->kind == TS_AT_FLAGS ? loc->mask & to->flags : 0;
	if (loc->kind == TS_IN_PC)
		return to->kind == TS_AT_PC ? loc->mask : 0;
	return to->kind == TS_AT_REG ? ts_location_overlap(loc, to->off, to->len) : 0;
}

/*
 * In a machine's recording: did the system call run in the machine?  Its next step is in the kernel then; else it is the
 * instruction after the call, with the result.  The last step of a chunk is taken for one that did: the callers' steps
 * stay only while no other chunk is looked at.
 */
static bool is_inside(struct ts_query *q, uint64_t pos, const struct ts_decoded *d, bool *is_it, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st;

	*is_it = true;
	if (pos + 1 >= ts_query_n_steps(q) || (pos + 1) % TS_CHUNK_STEPS == 0)
		return true;
	st = ts_query_step(q, pos + 1, &b, err);
	if (st)
		*is_it = st->pc != d->pc + d->ops.len;
	return st != NULL;
}

static bool has_call(const struct ts_query *q, uint32_t thread, uint64_t pos)
{
	const struct ts_event_at *h;

	for (uint64_t i = ts_query_n_events_below(q, TS_EV_SYSCALL, pos);
	     (h = ts_query_event(q, TS_EV_SYSCALL, i)) && h->step == pos; i++) {
		if (h->thread == thread)
			return true;
	}
	return false;
}

/*
 * A system call in which the program ends, or from which its thread does not return, has no result.  Where other threads ran
 * before it returned its result comes with the last step of these.
 */
static bool ends_inside(struct ts_query *q, uint64_t pos, bool *is_it, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(q, pos, &b, err);
	uint64_t next = st ? ts_query_next_step(q, st->thread, pos + 1) : pos + 1;

	*is_it = st && (ts_step_has_event(b, st, 1u << TS_EV_EXIT) || next == TS_NO_POS ||
			(next > pos + 1 && has_call(q, st->thread, next - 1)));
	return st != NULL;
}

bool ts_late_result(struct ts_query *q, uint64_t pos, const struct ts_decoded *d, const struct ts_location *loc,
		    uint64_t *at, uint64_t *mask)
{
	*at = d->ops.flow == TS_OP_SYSCALL && !ts_query_facts(q)->is_physical ?
		      ts_query_next_step(q, loc->owner, pos + 1) : TS_NO_POS;
	*mask = 0;
	if (*at == TS_NO_POS || *at == pos + 1 || !has_call(q, loc->owner, --*at))
		return false;
	for (unsigned i = 0; i < d->ops.n; i++) {
		if (d->ops.transfers[i].way == TS_WAY_SYSTEM)
			*mask |= overlap(loc, &d->ops.transfers[i].to);
	}
	return *mask;
}

bool ts_operands_may_write(const struct ts_decoded *d, const struct ts_location *loc)
{
	for (unsigned i = 0; i < d->ops.n; i++) {
		if (overlap(loc, &d->ops.transfers[i].to))
			return true;
	}
	return false;
}

bool ts_writes_by_operands(struct ts_query *q, uint64_t pos, const struct ts_decoded *d,
			   const struct ts_location *loc, uint64_t *mask, struct ts_error *err)
{
	bool is_physical = ts_query_facts(q)->is_physical, has_no_result = false;
	enum ts_op_happens happens;
	uint64_t maybe = 0;

	*mask = 0;
	if (d->ops.flow == TS_OP_SYSCALL &&
	    !(is_physical ? is_inside(q, pos, d, &has_no_result, err) : ends_inside(q, pos, &has_no_result, err)))
		return false;
	for (unsigned i = 0; i < d->ops.n; i++) {
		const struct ts_transfer *t = &d->ops.transfers[i];

		if (t->way == TS_WAY_SYSTEM && has_no_result)
			continue;
		*(t->is_conditional ? &maybe : mask) |= overlap(loc, &t->to);
	}
	if (!(maybe & ~*mask))
		return true;
	if (!ts_query_happens(q, pos, d, &happens, err))
		return false;
	if (happens != TS_HAPPENS_NOT)
		*mask |= maybe;
	return true;
}

/* ----------------------------------------------------------------------------------------------- registers */

/* The flags register as bytes. */
static struct ts_location as_bytes(const struct ts_query *q, const struct ts_location *loc)
{
	const struct ts_regset *set = ts_query_regset(q);
	struct ts_location bytes = *loc;

	if (loc->kind != TS_IN_FLAGS)
		return bytes;
	bytes.kind = TS_IN_REGS;
	bytes.base = set->regs[set->flags].off;
	bytes.mask = 0;
	for (unsigned i = 0; i < 4; i++) {
		unsigned byte = set->arch->is_big_endian ? 3 - i : i;

		bytes.mask |= (uint64_t)(loc->mask >> 8 * i & 255 ? 1 : 0) << byte;
	}
	return bytes;
}

/*
 * What the step's own effects say: bytes that it wrote, those of them whose value it does not show, and
 * whether all registers became unknown.
 */
static uint64_t effects_on(const struct ts_steps *b, const struct ts_step *st, const struct ts_location *loc,
			   uint64_t *unseen, bool *is_lost)
{
	struct ts_step_effects all = ts_step_effects(b, st);
	const struct ts_effect *e;
	uint64_t mask = 0;

	while ((e = ts_step_effects_next(&all))) {
		*is_lost |= e->kind == TS_FX_FORGET_REGS;
		if (e->kind == TS_FX_REG_WRITE && all.thread == loc->owner) {
			uint64_t more = ts_location_overlap(loc, e->addr, e->len);

			mask |= more;
			*unseen = ts_effect_data(b, e) ? *unseen & ~more : *unseen | more;
		}
	}
	return mask;
}

static bool reads_register(const struct ts_steps *b, const struct ts_step *st, const struct ts_location *loc)
{
	struct ts_step_effects all = ts_step_effects(b, st);
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		if (e->kind == TS_FX_REG_READ && all.thread == loc->owner && ts_location_overlap(loc, e->addr, e->len))
			return true;
	}
	return false;
}

/*
 * Which bytes (or flags) have another value at @pos + 1 than at @pos.  Bytes that are unknown at @pos + 1 do not count;
 * those that are unknown at @pos count if @with_unknown.
 */
static bool find_changed(struct ts_query *q, uint64_t pos, const struct ts_location *loc, bool with_unknown,
			 uint64_t *mask, struct ts_error *err)
{
	struct ts_location bytes = as_bytes(q, loc);
	size_t g_len = ts_query_regset(q)->g_len;
	uint8_t *old = malloc(4 * g_len), *new = old ? old + 2 * g_len : NULL;
	bool done;

	*mask = 0;
	if (!old)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory exhausted: registers");
	done = ts_query_regs(q, pos, loc->owner, old, old + g_len, err) &&
	       ts_query_regs(q, pos + 1, loc->owner, new, new + g_len, err);
	for (unsigned i = 0; done && i < 64; i++) {
		uint64_t at = bytes.base + i;
		uint8_t diff;

		if (!(bytes.mask >> i & 1))
			continue;
		if (!new[g_len + at])
			continue;
		diff = old[g_len + at] ? old[at] ^ new[at] : with_unknown ? UINT8_MAX : 0;
		if (loc->kind == TS_IN_FLAGS)
			*mask |= (uint64_t)diff << 8 * i & loc->mask;
		else if (diff)
			*mask |= UINT64_C(1) << i;
	}
	free(old);
	return done;
}

enum ts_writer_kind ts_step_other_writer(const struct ts_query *q, const struct ts_steps *b,
					 const struct ts_step *st, const struct ts_decoded *d, uint32_t owner)
{
	if (ts_step_is_syscall(q, b, st, d))
		return TS_WRITER_INPUT;
	if (st->thread != owner || ts_step_has_event(b, st, 1u << TS_EV_GAP))
		return TS_WRITER_UNEXPLAINED;
	if (!d->is_insn || !d->ops.is_complete || ts_query_facts(q)->is_physical ||
	    ts_step_has_event(b, st, ~(1u << TS_EV_GAP)))
		return TS_WRITER_STEP;
	return TS_WRITER_UNEXPLAINED;
}

enum ts_writer_kind ts_step_change_writer(const struct ts_query *q, const struct ts_steps *b, const struct ts_step *st,
					  const struct ts_decoded *d, const struct ts_location *loc,
					  uint64_t changed)
{
	enum ts_writer_kind kind = ts_step_other_writer(q, b, st, d, loc->owner);
	bool is_own = st->thread == loc->owner && !ts_step_has_event(b, st, 1u << TS_EV_GAP);

	if (kind == TS_WRITER_UNEXPLAINED && is_own && loc->kind == TS_IN_FLAGS &&
	    !(changed & ts_operands_flags(ts_query_regset(q)->arch)))
		return TS_WRITER_STEP;
	return kind;
}

bool ts_writes_may_contradict(const struct ts_query *q)
{
	struct ts_index_stats stats;

	ts_query_stats(q, &stats);
	return stats.n_unexplained;
}

static bool next_reads(struct ts_query *q, uint64_t pos, const struct ts_location *loc, bool *reads,
		       struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st;

	*reads = false;
	if (pos + 1 >= ts_query_n_steps(q))
		return true;
	st = ts_query_step(q, pos + 1, &b, err);
	*reads = st && reads_register(b, st, loc);
	return st != NULL;
}

/* A step of which one asks, and its instruction. */
struct view {
	const struct ts_steps *b;
	const struct ts_step *st;
	struct ts_decoded *d;
};

static bool look(struct ts_query *q, uint64_t pos, struct view *v, struct ts_error *err)
{
	v->d = ts_query_insn(q, pos, err);
	v->st = v->d ? ts_query_step(q, pos, &v->b, err) : NULL;
	return v->st != NULL;
}

/* What changed beside what the operands write: by an effect of the step, or seen by the next one. */
static bool add_changes(struct ts_query *q, uint64_t pos, const struct ts_location *loc, bool is_effect,
			struct ts_written *w, struct ts_error *err)
{
	struct view v;
	uint64_t changed;

	if (!find_changed(q, pos, loc, false, &changed, err) || !look(q, pos, &v, err))
		return false;
	if (!(changed & ~w->mask))
		return true;
	if (!w->mask)
		w->kind = is_effect ? ts_step_change_writer(q, v.b, v.st, v.d, loc, changed) : TS_WRITER_UNEXPLAINED;
	w->mask |= changed;
	return true;
}

/*
 * What a system call of the thread wrote beside what the operands write: each range that the recording lists, if a byte
 * of it changed, or was unknown before.  gdb's record also lists registers that the call does not change: AArch64's x30.
 */
static bool add_results(struct ts_query *q, uint64_t pos, const struct ts_location *loc, struct ts_written *w,
			struct ts_error *err)
{
	struct ts_location bytes = as_bytes(q, loc);
	uint64_t changed;
	struct view v;

	for (uint32_t i = 0; look(q, pos, &v, err); i++) {
		struct ts_step_effects all = ts_step_effects(v.b, v.st);
		const struct ts_effect *e = NULL;
		uint64_t mask = 0;

		for (uint32_t n = 0; n <= i && (e = ts_step_effects_next(&all)); n += mask != 0)
			mask = e->kind == TS_FX_REG_WRITE && all.thread == loc->owner ?
				       ts_location_overlap(&bytes, e->addr, e->len) : 0;
		if (!e)
			return true;
		changed = e->len > 64 || !ts_effect_data(v.b, e);
		if (!changed && !find_changed(q, pos, &(struct ts_location){ TS_IN_REGS, loc->owner, e->addr, ts_mask(0, e->len) },
					      true, &changed, err))
			return false;
		if (changed)
			w->mask |= loc->kind == TS_IN_FLAGS ? loc->mask : mask;
	}
	return false;
}

static bool register_writes(struct ts_query *q, uint64_t pos, const struct ts_location *loc,
			    bool may_contradict, struct ts_written *w, struct ts_error *err)
{
	struct ts_location bytes = as_bytes(q, loc);
	bool is_lost = false, reads = false, is_own;
	uint64_t by_effects, unseen = 0;
	struct view v;

	*w = (struct ts_written){ .mask = 0 };
	if (!look(q, pos, &v, err))
		return false;
	by_effects = effects_on(v.b, v.st, &bytes, &unseen, &is_lost);
	is_own = v.st->thread == loc->owner;
	w->kind = ts_step_is_syscall(q, v.b, v.st, v.d) ? TS_WRITER_INPUT : TS_WRITER_STEP;
	if (is_lost) {
		*w = (struct ts_written){ loc->mask, TS_WRITER_UNEXPLAINED };
		return true;
	}
	if (is_own && v.d->is_insn && !ts_writes_by_operands(q, pos, v.d, loc, &w->mask, err))
		return false;
	if (by_effects && v.d->is_insn && is_own && w->kind == TS_WRITER_INPUT)
		return add_results(q, pos, loc, w, err);
	if (by_effects && !v.d->is_insn) {
		w->mask |= loc->kind == TS_IN_FLAGS ? loc->mask : by_effects;
		return true;
	}
	if (unseen && !w->mask)
		w->kind = ts_step_other_writer(q, v.b, v.st, v.d, loc->owner);
	w->mask |= loc->kind == TS_IN_FLAGS && unseen ? loc->mask : unseen;
	if (!(loc->mask & ~w->mask))
		return true;
	if (!by_effects && may_contradict && !next_reads(q, pos, &bytes, &reads, err))
		return false;
	return (!by_effects && !reads) || add_changes(q, pos, loc, by_effects, w, err);
}

/* -------------------------------------------------------------------------------------------------- memory */

/* What the effects of step @st do to memory; those of one step count from the last one on. */
static void memory_writes(struct ts_query *q, const struct ts_steps *b, const struct ts_step *st,
			  const struct ts_location *loc, struct ts_written *w)
{
	struct ts_step_effects all = ts_step_effects(b, st);
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		enum ts_writer_kind kind;
		uint64_t mask;

		if (!ts_effect_is_on_memory(e) || e->kind == TS_FX_READ || ts_query_process(q, all.thread) != loc->owner)
			continue;
		mask = ts_location_overlap(loc, e->addr, e->len);
		if (!mask)
			continue;
		kind = e->kind == TS_FX_FORGET || e->is_inferred ? TS_WRITER_UNEXPLAINED
		       : e->kind != TS_FX_WRITE ? TS_WRITER_MAP
		       : e->is_hidden		? TS_WRITER_INPUT
						: TS_WRITER_STEP;
		if (w->mask && w->kind != kind && w->mask & ~mask)
			w->mask = 0;
		w->mask |= mask;
		w->kind = kind;
	}
	if (w->mask && w->kind == TS_WRITER_STEP && ts_step_is_syscall(q, b, st, NULL))
		w->kind = TS_WRITER_INPUT;
}

/* Does the step show other bytes than those that were known, though nothing wrote them? */
static bool contradicts(struct ts_query *q, const struct ts_steps *b, const struct ts_step *st,
			const struct ts_location *loc)
{
	struct ts_step_effects all = ts_step_effects(b, st);
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		if (e->kind == TS_FX_READ && ts_effect_data(b, e) && ts_query_process(q, all.thread) == loc->owner &&
		    ts_location_overlap(loc, e->addr, e->len))
			return true;
	}
	return false;
}

static bool find_changed_memory(struct ts_query *q, uint64_t pos, const struct ts_location *loc,
				uint64_t *mask, struct ts_error *err)
{
	uint8_t old[2][64], new[2][64];

	*mask = 0;
	if (!ts_query_mem(q, pos, loc->owner, loc->base, 64, old[0], old[1], err) ||
	    !ts_query_mem(q, pos + 1, loc->owner, loc->base, 64, new[0], new[1], err))
		return false;
	for (unsigned i = 0; i < 64; i++) {
		if (new[1][i] && (!old[1][i] || old[0][i] != new[0][i]))
			*mask |= UINT64_C(1) << i & loc->mask;
	}
	return true;
}

static bool all_memory_writes(struct ts_query *q, uint64_t pos, const struct ts_location *loc,
			      bool may_contradict, struct ts_written *w, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(q, pos, &b, err);

	*w = (struct ts_written){ .mask = 0 };
	if (!st)
		return false;
	memory_writes(q, b, st, loc, w);
	if (w->mask || !may_contradict || pos + 1 >= ts_query_n_steps(q))
		return true;
	st = ts_query_step(q, pos + 1, &b, err);
	if (!st)
		return false;
	if (!contradicts(q, b, st, loc))
		return true;
	w->kind = TS_WRITER_UNEXPLAINED;
	return find_changed_memory(q, pos, loc, &w->mask, err);
}

bool ts_step_writes(struct ts_query *q, uint64_t pos, const struct ts_location *loc, bool may_contradict,
		    struct ts_written *w, struct ts_error *err)
{
	return (loc->kind == TS_IN_MEMORY ? all_memory_writes : register_writes)(q, pos, loc, may_contradict, w,
										 err);
}
