/* SPDX-License-Identifier: MIT */
#include "writes.h"

#include <stdlib.h>
#include <string.h>

#include "src/arch/syscall_name.h"

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

bool ts_step_moves(const struct ts_query *q, uint64_t pos, struct ts_moved *m)
{
	enum { PAGE = 4096 }; /* the kernel moves whole pages; a result that is not a multiple of a page is an error */
	const struct ts_event_at *h = ts_query_find_event(q, TS_EV_SYSCALL, pos, false);
	const struct ts_event *e = h ? &h->event : NULL;
	char text[64];
	const char *name;

	if (!h || h->step != pos || !e->has_ret || e->n_args < 3 || e->ret % PAGE || e->ret == e->args[0])
		return false;
	name = ts_syscall_name(ts_query_regset(q)->arch, e->number, text, sizeof(text));
	if (!name || strcmp(name, "mremap") != 0)
		return false;
	*m = (struct ts_moved){ e->args[0], e->ret, e->args[1] < e->args[2] ? e->args[1] : e->args[2] };
	m->len += -m->len % PAGE;
	return m->len != 0;
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
 * instruction after the call, with the result.  The last step of a chunk is regarded as one that did: the callers' steps
 * stay only while no other chunk is examined.
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
 * In a program's recording: has the system call of step @pos no result there?  The program ended in it, its thread did not
 * return from it, or other threads ran before it returned (its result then comes with the last step of these).
 */
static bool has_no_result_at(struct ts_query *q, uint64_t pos, bool *has_none, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(q, pos, &b, err);
	uint64_t next = st ? ts_query_next_step(q, st->thread, pos + 1) : pos + 1;

	*has_none = st && (ts_step_has_event(b, st, 1u << TS_EV_EXIT) || next == TS_NO_POS ||
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

bool ts_late_result_at(struct ts_query *q, uint64_t pos, const struct ts_location *loc, uint64_t *mask, struct ts_error *err)
{
	const struct ts_decoded *d;
	uint64_t call, at;

	*mask = 0;
	if (ts_query_thread(q, pos) == loc->owner || ts_query_thread(q, pos + 1) != loc->owner || !has_call(q, loc->owner, pos))
		return true;
	call = ts_query_prev_step(q, loc->owner, pos);
	d = call == TS_NO_POS ? NULL : ts_query_insn(q, call, err);
	if (d && !ts_late_result(q, call, d, loc, &at, mask))
		*mask = 0;
	return d || call == TS_NO_POS;
}

uint64_t ts_operands_write(const struct ts_decoded *d, const struct ts_location *loc, bool has_result, uint64_t *maybe)
{
	uint64_t mask = 0;

	*maybe = 0;
	for (unsigned i = 0; i < d->ops.n; i++) {
		const struct ts_transfer *t = &d->ops.transfers[i];

		if (t->way != TS_WAY_SYSTEM || has_result)
			*(t->is_conditional ? maybe : &mask) |= overlap(loc, &t->to);
	}
	return mask;
}

bool ts_step_omits(struct ts_query *q, uint64_t pos, const struct ts_decoded *d, const struct ts_op_state *state,
		   unsigned *omits, struct ts_error *err)
{
	bool is_physical = ts_query_facts(q)->is_physical, has_no_result = false;
	enum ts_op_happens happens;

	*omits = 0;
	if (d->ops.flow == TS_OP_SYSCALL &&
	    !(is_physical ? is_inside(q, pos, d, &has_no_result, err) : has_no_result_at(q, pos, &has_no_result, err)))
		return false;
	if (state)
		happens = ts_operands_happen(&d->ops, state);
	else if (!ts_query_happens(q, pos, d, &happens, err))
		return false;
	*omits = (has_no_result ? TS_OMITS_RESULT : 0) | (happens == TS_HAPPENS_NOT ? TS_OMITS_CONDITIONAL : 0);
	return true;
}

bool ts_writes_by_operands(struct ts_query *q, uint64_t pos, const struct ts_decoded *d,
			   const struct ts_location *loc, uint64_t *mask, struct ts_error *err)
{
	uint64_t maybe;
	unsigned omits;

	*mask = ts_operands_write(d, loc, true, &maybe);
	if (!(maybe & ~*mask) && (!*mask || d->ops.flow != TS_OP_SYSCALL))
		return true;
	if (!ts_step_omits(q, pos, d, NULL, &omits, err))
		return false;
	*mask = ts_operands_write(d, loc, !(omits & TS_OMITS_RESULT), &maybe);
	if (!(omits & TS_OMITS_CONDITIONAL))
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
 * The effects listed for the step: bytes that it wrote, those of them whose value it does not show, and
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

/* The registers of a thread around a step.  Each array holds g_len values, then g_len known flags. */
struct around {
	uint8_t *old; /* owned */
	uint8_t *new; /* in the same allocation */
	size_t g_len;
};

/* Read them at @pos and at @pos + 1.  The caller frees a->old, also after a failure. */
static bool read_around(struct ts_query *q, uint64_t pos, uint32_t thread, struct around *a, struct ts_error *err)
{
	size_t g_len = ts_query_regset(q)->g_len;

	*a = (struct around){ malloc(4 * g_len), NULL, g_len };
	if (!a->old)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for registers");
	a->new = a->old + 2 * g_len;
	return ts_query_regs(q, pos, thread, a->old, a->old + g_len, err) &&
	       ts_query_regs(q, pos + 1, thread, a->new, a->new + g_len, err);
}

/*
 * The bits of byte @at that the step changed.  A byte that is unknown after the step did not change.  All bits of a byte
 * that became known changed if @with_unknown.
 */
static uint8_t byte_change(const struct around *a, uint64_t at, bool with_unknown)
{
	if (!a->new[a->g_len + at])
		return 0;
	if (!a->old[a->g_len + at])
		return with_unknown ? UINT8_MAX : 0;
	return a->old[at] ^ a->new[at];
}

/* The bytes (or flags) of @loc whose values at @pos and @pos + 1 are known and differ. */
static bool find_changed(struct ts_query *q, uint64_t pos, const struct ts_location *loc, uint64_t *mask,
			 struct ts_error *err)
{
	struct ts_location bytes = as_bytes(q, loc);
	struct around a;
	bool done = read_around(q, pos, loc->owner, &a, err);

	*mask = 0;
	for (unsigned i = 0; done && i < 64; i++) {
		uint8_t diff;

		if (!(bytes.mask >> i & 1))
			continue;
		diff = byte_change(&a, bytes.base + i, false);
		if (loc->kind == TS_IN_FLAGS)
			*mask |= (uint64_t)diff << 8 * i & loc->mask;
		else if (diff)
			*mask |= UINT64_C(1) << i;
	}
	free(a.old);
	return done;
}

/* Did the system act on @thread in the step, which may be another thread's? */
static bool is_by_system(const struct ts_steps *b, const struct ts_step *st, uint32_t thread)
{
	struct ts_step_effects all = ts_step_effects(b, st);
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		if (e->kind == TS_FX_EVENT && all.thread == thread &&
		    (1u << TS_EV_SYSCALL | 1u << TS_EV_SIGNAL) >> b->events[e->item].kind & 1)
			return true;
	}
	return false;
}

/*
 * The writer of those registers of thread @owner that step @st changed although the operands of its instruction, @d, do not
 * write them.
 */
static enum ts_writer_kind other_writer(const struct ts_query *q, const struct ts_steps *b,
					 const struct ts_step *st, const struct ts_decoded *d, uint32_t owner)
{
	if (st->thread != owner)
		return is_by_system(b, st, owner) ? TS_WRITER_INPUT : TS_WRITER_UNEXPLAINED;
	if (ts_step_is_syscall(q, b, st, d))
		return TS_WRITER_INPUT;
	if (ts_step_has_event(b, st, 1u << TS_EV_GAP))
		return TS_WRITER_UNEXPLAINED;
	if (!d->is_insn || !d->ops.is_complete || ts_query_facts(q)->is_physical ||
	    ts_step_has_event(b, st, ~(1u << TS_EV_GAP)))
		return TS_WRITER_STEP;
	return TS_WRITER_UNEXPLAINED;
}

/*
 * The writer of the bits @changed of @loc, which step @st changed although its operands do not write them.  Bits of the flags
 * register that operands do not describe (IF, AC, the IT state) are written by the instruction.
 */
static enum ts_writer_kind change_writer(const struct ts_query *q, const struct ts_steps *b, const struct ts_step *st,
					  const struct ts_decoded *d, const struct ts_location *loc,
					  uint64_t changed)
{
	enum ts_writer_kind kind = other_writer(q, b, st, d, loc->owner);
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
	struct ts_location bytes = as_bytes(q, loc);
	const struct ts_steps *b;
	const struct ts_step *st;

	*reads = false;
	if (pos + 1 >= ts_query_n_steps(q))
		return true;
	st = ts_query_step(q, pos + 1, &b, err);
	*reads = st && reads_register(b, st, &bytes);
	return st != NULL;
}

/* A step and its instruction. */
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

/*
 * Returns all bytes of the registers of which @changed has some: a change without an instruction sets the
 * whole register.
 */
static uint64_t whole_registers(const struct ts_query *q, const struct ts_location *loc, uint64_t changed)
{
	uint64_t mask = changed;

	for (unsigned i = 0; loc->kind == TS_IN_REGS && i < 64; i++) {
		const struct ts_reg *r = changed >> i & 1 ? ts_regset_at(ts_query_regset(q), loc->base + i) : NULL;

		if (r)
			mask |= ts_location_overlap(loc, r->off, r->len);
	}
	return loc->kind == TS_IN_FLAGS && changed ? loc->mask : mask;
}

/* Does the range that effect @e lists have a byte that the step changed, or whose value it does not show? */
static bool is_changed(const struct around *a, const struct ts_steps *b, const struct ts_effect *e)
{
	bool changed = !ts_effect_data(b, e);

	for (uint64_t i = 0; i < e->len && !changed; i++)
		changed = byte_change(a, e->addr + i, true);
	return changed;
}

/*
 * Set *mask to the bytes of @loc that the system call of step @pos wrote beside its operands: each range that the recording
 * lists, if a byte of it changed, became known, or has a value that the step does not show.  gdb's record also lists registers
 * that the call leaves as they are (AArch64's x30).
 */
static bool find_by_syscall(struct ts_query *q, uint64_t pos, const struct ts_location *loc, uint64_t *mask, struct ts_error *err)
{
	struct ts_location bytes = as_bytes(q, loc);
	struct ts_step_effects all;
	const struct ts_effect *e;
	struct around a;
	struct view v;
	bool done;

	*mask = 0;
	done = read_around(q, pos, loc->owner, &a, err) && look(q, pos, &v, err);
	if (done)
		all = ts_step_effects(v.b, v.st);
	while (done && (e = ts_step_effects_next(&all))) {
		if (e->kind == TS_FX_REG_WRITE && all.thread == loc->owner && is_changed(&a, v.b, e))
			*mask |= ts_location_overlap(&bytes, e->addr, e->len);
	}
	if (*mask && loc->kind == TS_IN_FLAGS)
		*mask = loc->mask;
	free(a.old);
	return done;
}

/* The registers that the effects of a step list, as masks of a location. */
struct listed {
	uint64_t bytes;   /* what they list */
	uint64_t changed; /* of which the value after the step is another one, or is not shown */
	bool is_lost;     /* all registers became unknown */
};

static inline struct listed find_listed(const struct ts_query *q, const struct view *v, const struct ts_location *loc)
{
	struct ts_location bytes = as_bytes(q, loc);
	struct listed x = { 0 };

	x.bytes = effects_on(v->b, v->st, &bytes, &x.changed, &x.is_lost);
	if (loc->kind == TS_IN_FLAGS)
		x = (struct listed){ x.bytes ? loc->mask : 0, x.changed ? loc->mask : 0, x.is_lost };
	return x;
}

/* ts_writes_by_insn() for step @v of the thread of @loc.  @is_listed: its effects list bytes of @loc. */
static inline bool find_by_insn(struct ts_query *q, uint64_t pos, const struct view *v, const struct ts_location *loc,
				bool is_listed, uint64_t *mask, struct ts_error *err)
{
	bool is_listed_call = is_listed && ts_step_is_syscall(q, v->b, v->st, v->d);
	uint64_t by_syscall = 0;

	if (!ts_writes_by_operands(q, pos, v->d, loc, mask, err) ||
	    (is_listed_call && !find_by_syscall(q, pos, loc, &by_syscall, err)))
		return false;
	*mask |= by_syscall;
	return true;
}

bool ts_writes_by_insn(struct ts_query *q, uint64_t pos, const struct ts_location *loc, const struct ts_decoded **d,
		       uint64_t *mask, struct ts_error *err)
{
	struct view v;

	*mask = 0;
	*d = NULL;
	if (!look(q, pos, &v, err))
		return false;
	*d = v.d;
	return v.st->thread != loc->owner || !v.d->is_insn ||
	       find_by_insn(q, pos, &v, loc, find_listed(q, &v, loc).bytes, mask, err);
}

struct ts_written ts_recorded_write(const struct ts_query *q, const struct ts_steps *b, const struct ts_step *st,
				    const struct ts_decoded *d, const struct ts_location *loc, uint64_t by_insn,
				    uint64_t listed, uint64_t changed)
{
	struct ts_written w = { changed & ~by_insn, TS_WRITER_STEP };

	if (st->thread == loc->owner && !st->is_undone && !(d && d->is_insn))
		return (struct ts_written){ listed, ts_step_is_syscall(q, b, st, d) ? TS_WRITER_INPUT : TS_WRITER_STEP };
	if (w.mask)
		w.kind = change_writer(q, b, st, d, loc, w.mask);
	return w;
}

/* Add what the recording shows beside @w, which the instruction wrote: by effects @x of the step, or seen by the next one. */
static bool add_recorded(struct ts_query *q, uint64_t pos, const struct ts_location *loc, const struct listed *x,
			 struct ts_written *w, struct ts_error *err)
{
	bool is_compared = loc->mask & ~(w->mask | x->changed);
	uint64_t differs = 0;
	struct ts_written more;
	struct view v;

	if (!look(q, pos, &v, err))
		return false;
	is_compared &= !x->bytes || v.st->thread != loc->owner || v.st->is_undone || v.d->is_insn;
	if (is_compared && (!find_changed(q, pos, loc, &differs, err) || !look(q, pos, &v, err)))
		return false;
	if (v.st->thread != loc->owner)
		differs = whole_registers(q, loc, differs);
	more = ts_recorded_write(q, v.b, v.st, v.d, loc, w->mask, x->bytes, x->changed | differs);
	if (!x->bytes)
		more = (struct ts_written){ differs & ~w->mask, TS_WRITER_UNEXPLAINED };
	if (!w->mask && more.mask)
		w->kind = more.kind;
	w->mask |= more.mask;
	return true;
}

static bool register_writes(struct ts_query *q, uint64_t pos, const struct ts_location *loc,
			    bool may_contradict, struct ts_written *w, struct ts_error *err)
{
	bool is_seen = false, is_own;
	struct listed x;
	struct view v;

	*w = (struct ts_written){ .mask = 0 };
	if (!look(q, pos, &v, err))
		return false;
	x = find_listed(q, &v, loc);
	is_own = v.st->thread == loc->owner && v.d->is_insn;
	w->kind = ts_step_is_syscall(q, v.b, v.st, v.d) ? TS_WRITER_INPUT : TS_WRITER_STEP;
	if (x.is_lost) {
		*w = (struct ts_written){ loc->mask, TS_WRITER_UNEXPLAINED };
		return true;
	}
	if (is_own && !find_by_insn(q, pos, &v, loc, x.bytes, &w->mask, err))
		return false;
	if (!(loc->mask & ~w->mask) || (x.bytes && is_own && w->kind == TS_WRITER_INPUT)) /* find_by_insn() has compared */
		return true;
	if (!x.bytes && may_contradict && !next_reads(q, pos, loc, &is_seen, err))
		return false;
	return !(x.bytes || is_seen) || add_recorded(q, pos, loc, &x, w, err);
}

/* -------------------------------------------------------------------------------------------------- memory */

/* Find the changes that step @st made to memory, by its effects; those of one step count from the last one on. */
static void memory_writes(struct ts_query *q, const struct ts_steps *b, const struct ts_step *st,
			  const struct ts_location *loc, struct ts_written *w)
{
	struct ts_step_effects all = ts_step_effects(b, st);
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		enum ts_writer_kind kind;
		uint64_t mask;

		if (!ts_effect_writes_memory(e, &kind) || ts_query_process(q, all.thread) != loc->owner)
			continue;
		mask = ts_location_overlap(loc, e->addr, e->len);
		if (!mask)
			continue;
		if (w->mask && w->kind != kind && w->mask & ~mask)
			w->mask = 0;
		w->mask |= mask;
		w->kind = kind;
	}
	if (w->mask && w->kind == TS_WRITER_STEP && ts_step_is_syscall(q, b, st, NULL))
		w->kind = TS_WRITER_INPUT;
}

/* Does the step show other bytes than the known ones, although no step wrote them? */
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
