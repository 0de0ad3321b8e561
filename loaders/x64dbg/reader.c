/* SPDX-License-Identifier: MIT */
/*
 * Blocks into steps.
 *
 * A block holds registers and memory before its instruction, so that step k is the instruction of block k,
 * and what it did is in block k + 1: N blocks are N positions and N - 1 steps.  A step is read with two
 * blocks in sight: the next one, which it leads to, and the one after that, which determines whether the next
 * one's instruction completes.  Nearly all of a trace are streaks of usual blocks: streak.c.
 *
 * The file does not show what ran between two blocks.  Where the second cannot follow the first, because a
 * session begins, a call was stepped over, or other code ran, that is a gap: an event.  Memory after it is
 * shown as it was seen last, but a new session forgets everything.
 *
 * A decode point is a mark and a number of steps to skip from there: the mark is the last block that holds
 * all registers, or, if that is far away, another block, with the registers saved in the point.
 *
 * Between two full blocks nothing but the lengths of blocks and their threads decides where a decode point
 * is: skip() reads no more than that.
 */
#include "x64dbg.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "src/trace/point.h"
#include "reader_parts.h"
#include "src/base/bytes.h"

#define ECX_SLOT 1u
#define EFLAGS_DF 0x400u

/*
 * A repeated instruction may run many iterations between two blocks.  Where it wrote more bytes than this is
 * forgotten; reads of more are not reported.
 */
#define MAX_REPEATED (UINT64_C(1) << 20)

/* ------------------------------------------------------------------------------------ from block to block */

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get_word(const uint8_t *p, unsigned width)
{
	return width == 8 ? get32(p) | (uint64_t)get32(p + 4) << 32 : get32(p);
}

/* A register slot of a block, if it is listed. */
static bool find_slot(const struct x64dbg_block *b, unsigned slot, unsigned width, uint64_t *value)
{
	for (unsigned i = 0; i < b->n_regs; i++) {
		if (b->slots[i] == slot) {
			*value = get_word(b->values + i * width, width);
			return true;
		}
	}
	return false;
}

/* Did a call, before which the registers were read, leave a return address, so that @after is what it called? */
static bool has_called(const struct x64dbg_reader *r, const struct x64dbg_stage *after)
{
	const struct x64dbg_layout *l = &r->rec->layout;
	const struct ts_regset *set = &r->rec->base.regs;
	uint64_t sp = get_word(r->regs.g + set->regs[set->sp].off, l->width), now = sp;

	find_slot(&after->at.b, l->sp, l->width, &now);
	sp -= now;
	return (sp & l->word_mask) == l->width || (sp & l->word_mask) == 2 * l->width; /* a far one: cs, too */
}

/* Can the block after @s follow its instruction? */
static enum x64dbg_gap gap_after(const struct x64dbg_reader *r, const struct x64dbg_stage *s, const struct x64dbg_insn *insn,
			  const struct x64dbg_stage *after)
{
	uint64_t next = after->at.pc;

	if (after->at.is_session)
		return X64DBG_GAP_SESSION;
	if (after->at.tid != s->at.tid)
		return X64DBG_GAP_NONE;
	if (x64dbg_insn_leads_to(insn, next))
		return x64dbg_insn_is_near_call(insn, next) && !has_called(r, after) ? X64DBG_GAP_OVER : X64DBG_GAP_NONE;
	if ((insn->x.flow == TS_X86_CALL || insn->x.flow == TS_X86_CALL_ANY) && next == s->at.pc + insn->len)
		return X64DBG_GAP_OVER;
	return next == s->at.pc ? X64DBG_GAP_RETRY : X64DBG_GAP_BREAK;
}

/* A thread that has run for the first time gets the name that it is known to have. */
static void name_thread(struct x64dbg *rec, uint32_t thread)
{
	struct ts_thread *t = &rec->base.threads[thread];

	for (unsigned i = 0; i < rec->n_names; i++) {
		if (rec->names[i].tid == t->tid)
			memcpy(t->name, rec->names[i].text, sizeof(t->name));
	}
}

/* The ordinal of the block's thread; TS_NO_THREAD as threads_find() fails. */
static uint32_t thread_of(struct x64dbg_reader *r, const struct x64dbg_stage *s, struct ts_error *err)
{
	uint32_t thread;

	if (r->n_threads && s->at.tid == r->thread_tid)
		return r->thread;
	thread = threads_find(&r->threads, &r->rec->base, 0, r->rec->pid, s->at.tid, s->at.b.off, err);
	if (thread == TS_NO_THREAD)
		return thread;
	r->thread = thread;
	r->thread_tid = s->at.tid;
	if (thread >= r->n_threads) {
		r->n_threads = thread + 1;
		name_thread(r->rec, thread);
	}
	return thread;
}

/* The effects after this one are those of @thread. */
static void tell_thread(uint32_t thread, struct ts_steps *out)
{
	struct ts_effect *e = ts_steps_effect(out, TS_FX_THREAD, 0, 0);

	if (e)
		e->item = thread;
}

/* Where reading can begin again. */
static __attribute__((noinline)) void set_mark(struct x64dbg_reader *r, const struct x64dbg_stage *s, bool is_full)
{
	r->skip = 0;
	r->window++;
	r->mark = (struct x64dbg_mark){
		.off = s->at.b.off,
		.n_steps = r->n_steps,
		.session_at = s->at.session_at,
		.tid = s->at.tid,
		.n_threads = r->n_threads,
		.is_shifted = s->at.is_shifted,
		.is_session = s->at.is_session,
		.is_alone = s->is_alone,
		.has_regs = !is_full,
	};
	if (!is_full)
		r->mark.regs = r->regs;
}

/* What the block shows of memory before its instruction, whose bytes are memory too: they once a window. */
static void tell_before(struct x64dbg_reader *r, const struct x64dbg_stage *s, struct ts_steps *out)
{
	if (s->insn->told != r->window)
		x64dbg_insn_append(s->insn, r->window, out);
	if (s->at.b.n_mem)
		x64dbg_access_append_old(&s->accesses, &s->at.b, out);
}

/* A repeated instruction's iterations. */
static void note_repeats(const struct x64dbg_reader *r, struct x64dbg_stage *s, const struct x64dbg_insn *insn)
{
	const struct ts_regset *set = &r->rec->base.regs;

	s->count_mask = UINT64_MAX >> (64 - 8 * insn->x.count_len);
	s->count = ts_x86_count(&insn->x, &r->insns.x, r->regs.g);
	s->is_down = get32(r->regs.g + set->regs[set->flags].off) & EFLAGS_DF;
}

/*
 * The rare cases of arrive(): another thread than that of @before, a new session, or all registers.  Takes in
 * the registers.
 */
static __attribute__((noinline)) bool arrive_anew(struct x64dbg_reader *r, struct x64dbg_stage *s,
						  const struct x64dbg_stage *before, bool is_new_context,
						  bool is_full, struct ts_steps *out, struct ts_error *err)
{
	const struct x64dbg_layout *l = &r->rec->layout;
	uint32_t mark;

	if (before)
		s->is_alone = before->at.tid != s->at.tid;
	s->thread = thread_of(r, s, err);
	if (s->thread == TS_NO_THREAD)
		return false;
	if (is_full || r->skip >= X64DBG_MARK_STEPS)
		set_mark(r, s, is_full);
	if (before && is_new_context)
		tell_thread(s->thread, out);
	mark = out->n_effects;
	x64dbg_regs_take(&r->regs, l, s->at.b.slots, s->at.b.n_regs, s->at.b.values, out);
	if (is_new_context) { /* what changed is not what the thread's registers were before */
		ts_steps_rollback(out, mark);
		x64dbg_regs_append(&r->regs, l, out);
	}
	return true;
}

/*
 * The block @s is the thread's current one, @before was it until now (NULL: none): what is
 * so before its instruction.  @after is the next block, NULL if none is found.  Returns false as
 * threads_find() fails.
 */
static bool arrive(struct x64dbg_reader *r, struct x64dbg_stage *s, const struct x64dbg_stage *before, const struct x64dbg_stage *after,
		   struct ts_steps *out, struct ts_error *err)
{
	const struct x64dbg_layout *l = &r->rec->layout;
	bool is_full = x64dbg_block_is_full(&s->at.b, l),
	     is_new_context = !before || before->at.tid != s->at.tid || s->at.is_session;
	struct x64dbg_insn *insn;

	if (__builtin_expect(is_full || is_new_context, 0)) {
		if (!arrive_anew(r, s, before, is_new_context, is_full, out, err))
			return false;
	} else {
		s->is_alone = false;
		s->thread = before->thread;
		if (__builtin_expect(r->skip >= X64DBG_MARK_STEPS, 0))
			set_mark(r, s, false);
		x64dbg_regs_take(&r->regs, l, s->at.b.slots, s->at.b.n_regs, s->at.b.values, out);
	}
	insn = x64dbg_stop_insn(&s->at, &r->insns);
	s->insn = insn;
	x64dbg_access_find(&s->accesses, &s->at.b, insn, &r->insns, r->regs.g);
	s->gap = after ? gap_after(r, s, insn, after) : X64DBG_GAP_NONE;
	if (s->gap == X64DBG_GAP_BREAK || s->gap == X64DBG_GAP_RETRY)
		x64dbg_access_cancel(&s->accesses, &s->at.b);
	s->count_mask = 0;
	if (insn->x.count_len)
		note_repeats(r, s, insn);
	return true;
}

/* ------------------------------------------------------------------------------------------------ steps */

/* A repeated instruction that was not stepped into: the iterations after the first. */
static __attribute__((noinline)) void tell_repeats(const struct x64dbg_reader *r, const struct x64dbg_stage *s,
						   const struct x64dbg_stage *next, struct ts_steps *out)
{
	uint64_t count = s->count, n, len;

	if (s->at.tid != next->at.tid || s->gap != X64DBG_GAP_NONE ||
	    !find_slot(&next->at.b, ECX_SLOT, r->rec->layout.width, &count))
		return;
	n = (s->count - count) & s->count_mask;
	for (unsigned i = 0; i < s->accesses.n_ranges && n > 1; i++) {
		const struct x64dbg_range *x = &s->accesses.ranges[i];
		uint64_t addr, room;

		if (!x->access)
			continue;
		room = s->is_down ? x->addr
				  : ts_arch_addr_mask(r->rec->base.regs.arch) - x->addr - (x->len - 1);
		if (!ts_mul(n - 1, x->len, &len) || len > room)
			len = room;
		addr = s->is_down ? x->addr - len : x->addr + x->len;
		if (!len)
			continue;
		if (x->access & TS_X86_WRITE)
			ts_steps_effect(out, len > MAX_REPEATED ? TS_FX_FORGET : TS_FX_WRITE, addr, len);
		else if (len <= MAX_REPEATED)
			ts_steps_effect(out, TS_FX_READ, addr, len);
	}
}

/*
 * Code that was not recorded ran here.  Within a session memory and registers of other threads are shown as
 * they were seen last; a new session may be another run of the program, of which nothing is known.
 */
static __attribute__((noinline)) void tell_gap(struct x64dbg_reader *r, const struct x64dbg_stage *s, struct ts_steps *out)
{
	if (s->gap == X64DBG_GAP_RETRY)
		return;
	ts_steps_event(out, TS_EV_GAP);
	ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
	if (s->gap == X64DBG_GAP_OVER)
		return;
	r->window++; /* code is reported again */
	if (s->gap == X64DBG_GAP_BREAK)
		return;
	ts_steps_effect(out, TS_FX_FORGET, 0, UINT64_MAX);
	ts_steps_effect(out, TS_FX_FORGET_REGS, 0, r->rec->base.regs.g_len);
}

/* Is the last block, the current one of its thread, a step of its own?  See end_steps(). */
static bool is_step(const struct x64dbg_reader *r, const struct x64dbg_stage *last)
{
	return !r->n_steps || last->is_alone;
}

/*
 * The last block's instruction as a step of its own: what it did to memory is there, what it did to registers
 * is not.
 */
static enum ts_next last_step(struct x64dbg_reader *r, struct ts_steps *out)
{
	tell_before(r, r->cur, out);
	x64dbg_access_append(&r->cur->accesses, &r->cur->at.b, out);
	ts_steps_effect(out, TS_FX_REG_WRITE, 0, r->rec->base.regs.g_len);
	ts_steps_close(out, r->cur->at.pc, r->cur->at.b.n_opcode, r->cur->thread);
	r->is_done = true;
	r->n_steps++;
	r->skip++;
	r->base.end.has_pc = false;
	return TS_ITEM;
}

/*
 * No block follows.  The last one is the state at the end; only where it is the only one, or the only
 * one of its thread's turn, its instruction is a step, so that its registers belong to a position.
 */
static __attribute__((noinline)) enum ts_next end_steps(struct x64dbg_reader *r, struct ts_steps *out,
							struct ts_error *err)
{
	if (!r->is_done && is_step(r, r->cur))
		return last_step(r, out);
	if (r->ahead_state == TS_FAIL)
		*err = r->ahead_err;
	return r->ahead_state;
}

/* A block that cannot be read may be of any kind: no step is made without knowing the next block. */
static __attribute__((noinline)) bool has_failed(struct x64dbg_reader *r, struct ts_error *err)
{
	if (r->ahead_err.code != TS_EIO && r->ahead_err.code != TS_ENOMEM)
		return false;
	r->ahead_state = TS_FAIL;
	r->is_done = true;
	*err = r->ahead_err;
	return true;
}

/*
 * Begin a streak at the two blocks in sight, if they are usual ones in the window.  A block with a form has few
 * registers, so that it begins no session, and without an id its thread is that of the block before.
 */
static bool begin_streak(struct x64dbg_reader *r)
{
	const struct ts_window *w = &r->blocks.window;
	const struct x64dbg_located_block *s = &r->ahead->at;
	uint64_t at = s->b.off - w->off;

	if (r->cur->gap != X64DBG_GAP_NONE || r->cur->count_mask || s->b.has_tid || !s->insn || at >= w->len ||
	    w->len - at < X64DBG_MAX_BLOCK)
		return false;
	r->streak.insns = &r->insns;
	r->streak.regs = &r->regs;
	r->streak.thread = r->cur->thread;
	r->streak.window = r->window;
	r->streak.last = w->buf + (w->len - X64DBG_MAX_BLOCK);
	r->streak.cur = r->cur->insn;
	r->streak_from = r->n_steps;
	r->streak.accesses = &r->cur->accesses;
	r->streak.slots = &r->cur->at.b;
	return x64dbg_streak_begin(&r->streak, w->buf + at, s->insn);
}

/* Fill a stage with a block of a streak. */
static void put_stage(struct x64dbg_reader *r, struct x64dbg_stage *s, const uint8_t *p, struct x64dbg_insn *insn,
		      uint64_t session_at)
{
	const struct ts_window *w = &r->blocks.window;
	struct ts_error err = { 0 };
	bool is_read;

	s->at.b.off = w->off + (uint64_t)(p - w->buf);
	s->at.tid = r->blocks.tid;
	s->at.is_shifted = s->at.is_session = false;
	s->at.session_at = session_at;
	s->at.pc = insn->x.pc;
	s->at.insn = insn;
	s->at.insn_until = r->insns.n_decoded;
	is_read = x64dbg_block_read(&s->at.b, p, X64DBG_MAX_BLOCK, &r->rec->layout, false, &err);
	assert(is_read); /* it has a form */
	s->is_alone = false;
	s->thread = r->streak.thread;
	s->gap = X64DBG_GAP_NONE;
	s->count_mask = 0;
	s->insn = insn;
}

/* Go on without the streak: the stages are filled as if its blocks had been read one by one. */
static void end_streak(struct x64dbg_reader *r)
{
	uint64_t n = r->n_steps - r->streak_from, session_at = r->ahead->at.session_at + n;

	r->streak.is_on = false;
	if (!n)
		return;
	put_stage(r, r->cur, r->streak.cur_p, r->streak.cur, session_at - 1);
	x64dbg_access_find(&r->cur->accesses, &r->cur->at.b, r->cur->insn, &r->insns, r->regs.g);
	put_stage(r, r->ahead, r->streak.ahead_p, r->streak.ahead, session_at);
	x64dbg_blocks_pass(&r->blocks, &r->ahead->at);
}

/* Append the next step by the streak.  Returns false, and appends nothing, if the block is not usual. */
static inline bool next_usual(struct x64dbg_reader *r, struct ts_steps *out)
{
	if (r->skip + 1 >= X64DBG_MARK_STEPS || !x64dbg_streak_step(&r->streak, out))
		return false;
	r->n_steps++;
	r->skip++;
	r->base.end.pc = r->streak.cur->x.pc;
	return true;
}

/* The next step, block by block. */
static enum ts_next next_any(struct x64dbg_reader *r, struct ts_steps *out, struct ts_error *err)
{
	struct x64dbg_stage *done = r->cur;
	enum ts_next state;

	tell_before(r, r->cur, out);
	state = x64dbg_blocks_next(&r->blocks, &r->after->at, &r->ahead_err);
	if (state == TS_FAIL && has_failed(r, err))
		return TS_FAIL;
	x64dbg_access_append(&r->cur->accesses, &r->cur->at.b, out);
	if (r->cur->count_mask)
		tell_repeats(r, r->cur, r->ahead, out);
	if (r->cur->gap != X64DBG_GAP_NONE)
		tell_gap(r, r->cur, out);
	r->n_steps++;
	r->skip++;
	if (!arrive(r, r->ahead, r->cur, state == TS_ITEM ? r->after : NULL, out, err)) {
		r->n_steps--;
		r->skip--;
		return TS_FAIL;
	}
	if (state != TS_ITEM && !is_step(r, r->ahead)) /* no later step can show it */
		tell_before(r, r->ahead, out);
	x64dbg_insn_append_unseen(r->cur->insn, out);
	ts_steps_close(out, r->cur->at.pc, r->cur->at.b.n_opcode, r->cur->thread);
	r->base.end.pc = r->ahead->at.pc;
	r->base.end.has_pc = true;
	r->cur = r->ahead;
	r->ahead = r->after;
	r->after = done;
	r->ahead_state = state;
	return TS_ITEM;
}

/* The next step if it is not the streak's: that ends, if one is on; else another one may begin. */
static __attribute__((noinline)) enum ts_next next_unusual(struct x64dbg_reader *r, struct ts_steps *out,
							   struct ts_error *err)
{
	if (r->streak.is_on)
		end_streak(r);
	else if (r->ahead_state != TS_ITEM)
		return end_steps(r, out, err);
	else if (begin_streak(r) && next_usual(r, out))
		return TS_ITEM;
	r->streak.is_on = false;
	return next_any(r, out, err);
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct x64dbg_reader *r = (struct x64dbg_reader *)base;

	return r->streak.is_on && next_usual(r, out) ? TS_ITEM : next_unusual(r, out, err);
}

/* ------------------------------------------------------------------------------------------ decode points */

/* Read the block at the mark and the one after it; the facts there go to @out. */
static bool start_at_mark(struct x64dbg_reader *r, struct ts_steps *out, struct ts_error *err)
{
	const struct x64dbg_mark m = r->mark;
	struct x64dbg_stage *s = r->cur;

	if (m.has_regs)
		r->regs = m.regs;
	s->at.b.off = m.off;
	s->at.tid = m.tid;
	s->at.is_shifted = m.is_shifted;
	s->at.is_session = m.is_session;
	s->at.session_at = m.session_at;
	s->is_alone = m.is_alone;
	if (!x64dbg_blocks_again(&r->blocks, &s->at,
				 get_word(r->regs.g + r->rec->layout.pc_off, r->rec->layout.width), err))
		return false;
	r->n_steps = m.n_steps;
	r->n_threads = m.n_threads;
	r->thread_tid = ~m.tid;
	ts_error_reset(&r->ahead_err);
	r->ahead_state = x64dbg_blocks_next(&r->blocks, &r->ahead->at, &r->ahead_err);
	if (r->ahead_state == TS_FAIL && has_failed(r, err))
		return false;
	if (!arrive(r, s, NULL, r->ahead_state == TS_ITEM ? r->ahead : NULL, out, err))
		return false;
	if (m.has_regs) { /* as it was set there */
		r->mark = m;
		r->skip = 0;
	}
	r->is_done = false;
	r->base.end = (struct ts_end){ .pc = s->at.pc, .has_pc = true };
	return true;
}

/* What of the registers is state. */
#define REGS_LEN offsetof(struct x64dbg_regs, slack)

/* Go on @skip steps after the mark.  Returns false if the trace cannot be read there. */
static bool go_to(struct x64dbg_reader *r, uint64_t skip, struct ts_error *err)
{
	struct ts_steps ignored;
	bool done;

	ts_steps_init(&ignored);
	done = start_at_mark(r, &ignored, err);
	for (; done && skip; skip--) {
		ts_steps_reset(&ignored);
		done = next(&r->base, &ignored, err) == TS_ITEM;
	}
	ts_steps_fini(&ignored);
	if (!done && err->code == TS_OK)
		ts_fail(err, TS_ETRUNC, r->mark.off, "the trace has become shorter");
	return done;
}

static bool point(struct ts_reader *base, struct ts_point *p)
{
	struct x64dbg_reader *r = (struct x64dbg_reader *)base;
	struct x64dbg_mark *m = &r->mark;
	uint64_t skip = ts_point_number(p, r->skip, X64DBG_MARK_STEPS);

	m->off = ts_point_between(p, m->off, r->rec->first, ts_source_len(r->rec->src));
	TS_POINT(p, m->n_steps, UINT64_MAX);
	TS_POINT(p, m->session_at, UINT64_MAX);
	TS_POINT(p, m->tid, UINT32_MAX);
	TS_POINT(p, m->n_threads, r->rec->base.n_threads);
	TS_POINT_FLAGS(p, &m->is_shifted, &m->is_session, &m->is_alone, &m->has_regs);
	if (m->has_regs)
		ts_point_fixed(p, &m->regs, REGS_LEN);
	if (p->to)
		return true;
	r->skim.is_on = r->streak.is_on = false;
	if (ts_point_close(p) && go_to(r, skip, p->err))
		return true;
	r->is_done = true; /* nothing can be read from here */
	r->ahead_state = TS_FAIL;
	r->ahead_err = *p->err;
	return false;
}

/* ----------------------------------------------------------------------------------------------- skipping */

static bool skip(struct ts_reader *base, uint64_t n)
{
	struct x64dbg_reader *r = (struct x64dbg_reader *)base;
	uint64_t n_passed = 1;

	if (r->ahead_state != TS_ITEM)
		return false;
	if (r->streak.is_on)
		end_streak(r);
	if (!r->skim.is_on)
		r->skim = (struct x64dbg_skim){ true, r->ahead->at.b.off, r->cur->at.tid, r->cur->at.session_at };
	for (; n && n_passed; n -= n_passed)
		n_passed = x64dbg_skim(r, n);
	return !n;
}

static void close_reader(struct ts_reader *base)
{
	struct x64dbg_reader *r = (struct x64dbg_reader *)base;

	x64dbg_blocks_fini(&r->blocks);
	x64dbg_insns_fini(&r->insns);
	threads_fini(&r->threads);
}

static const struct ts_reader_ops ops = {
	.size = sizeof(struct x64dbg_reader), .next = next, .point = point, .skip = skip, .close = close_reader
};

/* ---------------------------------------------------------------------------------------------- the start */

/* Read the first two blocks. */
static bool start(struct x64dbg_reader *r, struct ts_steps *initial, struct ts_error *err)
{
	struct x64dbg_located_block *first = &r->cur->at;
	enum ts_next next = x64dbg_blocks_next(&r->blocks, first, err);

	if (next == TS_END)
		ts_fail(err, TS_EUNSUPPORTED, r->blocks.off, "no instruction was recorded");
	if (next != TS_ITEM)
		return false;
	r->mark = (struct x64dbg_mark){ .off = first->b.off, .tid = first->tid, .is_shifted = first->is_shifted };
	return start_at_mark(r, initial, err);
}

struct ts_reader *x64dbg_reader_new(struct x64dbg *rec, struct ts_steps *initial, struct ts_error *err)
{
	struct x64dbg_reader *r = ts_reader_new(&ops, err);
	struct ts_steps ignored;
	bool done;

	if (!r)
		return NULL;
	r->rec = rec;
	r->cur = &r->stages[0];
	r->ahead = &r->stages[1];
	r->after = &r->stages[2];
	x64dbg_blocks_init(&r->blocks, rec, &r->insns);
	ts_steps_init(&ignored);
	done = (x64dbg_insns_init(&r->insns, &rec->layout, &rec->base.regs) || ts_no_memory(err, "a reader")) &&
	       start(r, initial ? initial : &ignored, err);
	ts_steps_fini(&ignored);
	if (done)
		return &r->base;
	ts_reader_close(&r->base);
	return NULL;
}
