/* SPDX-License-Identifier: MIT */
/*
 * Blocks into steps.
 *
 * A block holds registers and memory before its instruction, so that step k is the instruction of block k,
 * and what it did is in block k + 1: N blocks are N positions and N - 1 steps.  A step is read with two
 * blocks in sight: the next one, which it leads to, and the one after that, which tells whether the next
 * one's instruction completes.
 *
 * The file tells nothing of what ran between two blocks.  Where the second can't follow the first, because a
 * session begins or other code ran, that is a gap: all memory may be different behind it.  A call that was
 * stepped over is a gap too, but there memory is shown as it was seen last.
 *
 * A decode point is a mark and a number of steps to skip from there: the mark is the last block that holds
 * all registers, or, where there is none for long, one with the registers beside it.
 */
#include "x64dbg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "block.h"
#include "insn.h"

#define BUF_LEN (128u << 10)
#define MARK_STEPS 1024u
#define LOOK_AHEAD 4
#define TID_LEN 4u
#define ECX_SLOT 1u
#define EFLAGS_DF 0x400u

/*
 * A repeated instruction of which more iterations ran unseen than this has bytes in reach: where it wrote is
 * forgotten.
 */
#define MAX_REPEATED (UINT64_C(1) << 20)

enum gap {
	GAP_NONE,
	GAP_RETRY,   /* the instruction did not complete, and is tried again */
	GAP_OVER,    /* a call was stepped over */
	GAP_BREAK,   /* the next block is no successor */
	GAP_SESSION, /* the next block begins a session */
};

/* A block on its way. */
struct stage {
	struct x64dbg_block b;
	uint32_t tid;
	bool is_shifted; /* its thread id is not announced */
	bool is_session; /* the first block of a session, but of the file's first */
	bool is_alone;   /* the block before is another thread's */
	uint64_t session_at; /* ordinal in its session */
	uint64_t pc;         /* of its instruction; where the block before was if it does not say */

	/* as of arrive() */
	uint32_t thread;
	enum gap gap; /* behind it */
	uint64_t count; /* iterations to go */
	uint64_t count_mask; /* 0: it is not repeated */
	bool is_down; /* iterations go to lower addresses */
	struct x64dbg_insn *insn; /* in the cache, until the next block is read */
	struct x64dbg_accesses accesses;
};

struct mark {
	uint64_t off;
	uint64_t n_steps;
	uint64_t session_at;
	uint32_t tid;
	uint32_t n_threads;
	bool is_shifted;
	bool is_session;
	bool is_alone;
	bool has_regs; /* else the block has them */
	struct x64dbg_regs regs;
};

struct reader {
	struct ts_reader base;
	struct x64dbg *rec; /* borrowed */
	struct x64dbg_insns insns;
	uint64_t file_len;
	uint8_t *buf; /* owned; bytes of the file from buf_off on, and room for X64DBG_SLACK more */
	size_t buf_len;
	uint64_t buf_off;

	/* reading blocks */
	uint64_t off; /* of the next one */
	uint64_t pc, session_at; /* of the one before it */
	uint32_t tid;
	bool follows_flag;
	bool is_first; /* none has been read */
	uint64_t bad_off, good_off; /* damage, and where reading goes on behind it */
	struct x64dbg_block scratch;

	/* making steps */
	struct stage stages[3];
	struct stage *cur, *ahead, *after; /* the instruction of the next step; the two blocks behind it */
	enum ts_next ahead_state;
	struct ts_error ahead_err; /* of TS_FAIL, else empty */
	struct x64dbg_regs regs;
	uint64_t n_steps, skip; /* steps made; since the mark */
	uint32_t window;        /* changes with each mark and gap */
	uint32_t n_threads;     /* seen so far */
	uint32_t thread, thread_tid;
	bool is_done;           /* the last block was made a step */
	struct mark mark;
};

/* ------------------------------------------------------------------------------------------------ bytes */

/* Those of the largest block, or all to the end of the file, are not in the buffer. */
static __attribute__((noinline)) const uint8_t *fill(struct reader *r, uint64_t off, size_t *len,
						     struct ts_error *err)
{
	uint64_t at = off - r->buf_off, left = r->file_len - off;
	size_t want = left < X64DBG_MAX_BLOCK ? (size_t)left : X64DBG_MAX_BLOCK;

	if (at > r->buf_len || r->buf_len - at < want) {
		r->buf_len = 0;
		if (!ts_source_read(r->rec->src, off, r->buf, BUF_LEN, &r->buf_len, err))
			return NULL;
		r->buf_off = off;
		at = 0;
		if (r->buf_len < want) {
			ts_fail(err, TS_ETRUNC, off, "the file has become shorter");
			return NULL;
		}
	}
	*len = r->buf_len - (size_t)at;
	return r->buf + at;
}

/*
 * The bytes at @off: at least those of the largest block, or all to the end of the file; *len gets how many.
 * NULL on failure.
 */
static inline const uint8_t *bytes_at(struct reader *r, uint64_t off, size_t *len, struct ts_error *err)
{
	uint64_t at = off - r->buf_off;

	if (__builtin_expect(at > r->buf_len || r->buf_len - at < X64DBG_MAX_BLOCK, 0))
		return fill(r, off, len, err);
	*len = r->buf_len - (size_t)at;
	return r->buf + at;
}

/* Is it seen without reading on that no plugin's block begins at @off? */
static inline bool is_no_user_block(const struct reader *r, uint64_t off)
{
	return off - r->buf_off < r->buf_len && r->buf[off - r->buf_off] < X64DBG_USER;
}

/* Go on to the next instruction block at or behind *off, over those of plugins. */
static enum ts_next skip_user_blocks(struct reader *r, uint64_t *off, struct ts_error *err)
{
	while (*off < r->file_len) {
		struct ts_cursor c;
		const uint8_t *p;
		uint32_t n;
		size_t len;

		p = bytes_at(r, *off, &len, err);
		if (!p)
			return TS_FAIL;
		if (*p < X64DBG_USER)
			return TS_ITEM;
		c = ts_cursor(p, len, *off, "user block", err);
		ts_u8(&c);
		n = ts_u32le(&c);
		if (!ts_ok(&c))
			return TS_FAIL;
		if (n > r->file_len - *off - X64DBG_USER_HEAD) {
			ts_fail(err, TS_ETRUNC, *off,
				"a user block of %" PRIu32 " bytes, but %" PRIu64 " are left", n,
				r->file_len - *off - X64DBG_USER_HEAD);
			return TS_FAIL;
		}
		*off += X64DBG_USER_HEAD + n;
	}
	return TS_END;
}

static inline bool read_at(struct reader *r, uint64_t off, bool is_shifted, struct x64dbg_block *b,
			   struct ts_error *err)
{
	struct ts_cursor c;
	const uint8_t *p;
	size_t len;

	p = bytes_at(r, off, &len, err);
	if (!p)
		return false;
	c = ts_cursor(p, len, off, "block", err);
	return x64dbg_block_read(b, &c, &r->rec->layout, is_shifted);
}

/* The block behind the one that was read last; without a program counter it is where that one was. */
static inline bool read_stage(struct reader *r, uint64_t off, bool is_shifted, struct stage *s,
			      struct ts_error *err)
{
	s->is_shifted = is_shifted;
	if (!read_at(r, off, is_shifted, &s->b, err))
		return false;
	s->pc = s->b.has_pc ? s->b.pc : r->pc;
	/* most likely the next one */
	__builtin_prefetch(x64dbg_insns_place(&r->insns, s->pc + s->b.n_opcode));
	return true;
}

/* ------------------------------------------------------------------------------------------------ repairs */

/* Is the instruction as long as it says?  One that is none has length 1. */
static bool has_true_length(const struct reader *r, const struct x64dbg_block *b)
{
	unsigned len = ts_x86_length(&r->insns.x, b->opcode, b->n_opcode);

	return len ? len == b->n_opcode : b->n_opcode == 1;
}

static bool looks_right(struct reader *r, uint64_t off, bool is_shifted, unsigned depth);

/* Do @depth blocks from @off on look right?  The end of the file does. */
static bool goes_on(struct reader *r, uint64_t off, bool follows_flag, unsigned depth)
{
	struct ts_error err = { 0 };
	enum ts_next next = skip_user_blocks(r, &off, &err);

	if (!depth || next == TS_END)
		return true;
	return next == TS_ITEM &&
	       (looks_right(r, off, false, depth) || (follows_flag && looks_right(r, off, true, depth)));
}

/* Does the block at @off look right in this reading, and @depth - 1 behind it? */
static bool looks_right(struct reader *r, uint64_t off, bool is_shifted, unsigned depth)
{
	struct x64dbg_block *b = &r->scratch;
	struct ts_error err = { 0 };

	if (!read_at(r, off, is_shifted, b, &err))
		return err.code == TS_ETRUNC && depth < LOOK_AHEAD;
	return b->is_strict && !(is_shifted && b->is_flagged) && has_true_length(r, b) &&
	       goes_on(r, off + b->len, b->is_flagged, depth - 1);
}

/*
 * Recorders until 2026 write a thread's id without the flag that says so: in the first block after a switch.
 * Where that can be, the reading that works is taken.
 */
static __attribute__((noinline)) bool is_unflagged(struct reader *r, uint64_t off)
{
	return !looks_right(r, off, false, LOOK_AHEAD) && looks_right(r, off, true, LOOK_AHEAD);
}

static bool read_repaired(struct reader *r, struct stage *s, struct ts_error *err)
{
	uint64_t off = r->off;
	bool done = read_stage(r, off, false, s, err);

	if (done && (s->b.is_flagged || (!r->follows_flag &&
	    x64dbg_insns_at(&r->insns, s->pc, s->b.opcode, s->b.n_opcode)->x.len == s->b.n_opcode)))
		return true;
	if ((!done && err->code == TS_EIO) || !is_unflagged(r, off))
		return done;
	ts_error_reset(err);
	return read_stage(r, off, true, s, err);
}

/* Where bytes that may be a block with all registers begin, at or behind @p; @len if nowhere. */
static size_t find_full(const struct x64dbg_layout *l, const uint8_t *p, size_t len)
{
	static const uint8_t zeros[X64DBG_MAX_SLOTS];

	for (size_t i = 0; i + 8 + 15 + l->n_slots <= len; i++) {
		unsigned n = p[i + 3] & 15;

		if (!p[i] && p[i + 1] == l->n_slots && p[i + 2] <= X64DBG_MAX_MEM &&
		    (p[i + 3] & 0xf0) == 0x80 && n && !memcmp(p + i + 8 + n, zeros, l->n_slots))
			return i;
	}
	return len;
}

/*
 * Damage at @off: the next block with all registers, behind which the blocks look right; false if there is
 * none.
 */
static bool find_good(struct reader *r, uint64_t off)
{
	struct ts_error err = { 0 };

	r->bad_off = off;
	for (off++; off < r->file_len;) {
		size_t len, at;
		const uint8_t *p = bytes_at(r, off, &len, &err);

		if (!p)
			break;
		at = find_full(&r->rec->layout, p, len);
		if (at == len) {
			off += len > X64DBG_MAX_BLOCK ? len - X64DBG_MAX_BLOCK : len;
			continue;
		}
		off += at;
		if (looks_right(r, off, false, LOOK_AHEAD)) {
			r->good_off = off;
			return true;
		}
		off++;
	}
	r->good_off = 0;
	return false;
}

/* Tell of something odd once, however often the place is read. */
static bool is_new(struct reader *r, uint64_t off)
{
	if (off < r->rec->seen)
		return false;
	r->rec->seen = off + 1;
	return true;
}

/* A damaged block, which *err is about: go on behind it. */
static bool resume_behind(struct reader *r, struct stage *s, struct ts_error *err)
{
	uint64_t bad = r->off;

	if (err->code != TS_ECORRUPT || r->is_first || (bad != r->bad_off && !find_good(r, bad)) ||
	    !r->good_off)
		return false;
	if (is_new(r, bad))
		ts_recording_warn(&r->rec->base,
				  "at 0x%" PRIx64 ", %.120s; %" PRIu64
				  " bytes are lost, up to the next block with all registers at 0x%" PRIx64,
				  bad, err->text, r->good_off - bad, r->good_off);
	ts_error_reset(err);
	r->off = r->good_off;
	return read_stage(r, r->off, false, s, err);
}

/* ---------------------------------------------------------------------------------------- blocks in order */

/* What a block is in its session, and whose. */
static void place_block(struct reader *r, struct stage *s, bool is_behind_damage)
{
	bool is_full = x64dbg_block_is_full(&s->b, &r->rec->layout);

	s->session_at = r->is_first ? 0 : r->session_at + 1;
	s->is_session = is_behind_damage || (is_full && s->session_at % X64DBG_PAGE_BLOCKS);
	if (s->is_session)
		s->session_at = 0;
	s->tid = s->b.has_tid ? s->b.tid : r->tid;
	if (s->is_shifted && is_new(r, s->b.off))
		ts_recording_warn(
			&r->rec->base,
			"a thread id stands without the flag that announces it, a known fault of recorders");
	r->off = s->b.off + s->b.len;
	r->tid = s->tid;
	r->pc = s->pc;
	r->session_at = s->session_at;
	r->follows_flag = s->b.is_flagged;
	r->is_first = false;
}

static enum ts_next read_block(struct reader *r, struct stage *s, struct ts_error *err)
{
	bool is_behind_damage = false;

	if (__builtin_expect(!is_no_user_block(r, r->off), 0)) {
		enum ts_next next = skip_user_blocks(r, &r->off, err);

		if (next != TS_ITEM)
			return next;
	}
	if (!read_repaired(r, s, err)) {
		is_behind_damage = resume_behind(r, s, err);
		if (!is_behind_damage)
			return TS_FAIL;
	}
	if (r->is_first && !x64dbg_block_is_full(&s->b, &r->rec->layout)) {
		ts_fail(err, TS_ECORRUPT, s->b.off,
			"the first block lists %u registers: it should have all %u", s->b.n_regs,
			r->rec->layout.n_slots);
		return TS_FAIL;
	}
	place_block(r, s, is_behind_damage);
	return TS_ITEM;
}

/* ------------------------------------------------------------------------------------ from block to block */

/* Can the block after @s follow its instruction? */
static enum gap gap_behind(const struct stage *s, const struct x64dbg_insn *insn, const struct stage *after)
{
	uint64_t next = after->pc, behind = s->pc + insn->len;
	bool is_behind = next == behind, is_target = next == insn->x.target;
	enum gap other = next == s->pc ? GAP_RETRY : GAP_BREAK;

	if (after->is_session)
		return GAP_SESSION;
	if (after->tid != s->tid)
		return GAP_NONE;
	switch ((enum ts_x86_flow)insn->x.flow) {
	case TS_X86_NEXT:
		return is_behind ? GAP_NONE : other;
	case TS_X86_REPEAT:
		return is_behind || next == s->pc ? GAP_NONE : other;
	case TS_X86_JUMP:
		return is_target ? GAP_NONE : other;
	case TS_X86_BRANCH:
		return is_target || is_behind ? GAP_NONE : other;
	case TS_X86_CALL:
		return is_target ? GAP_NONE : is_behind ? GAP_OVER : other;
	case TS_X86_CALL_ANY:
		return is_behind ? GAP_OVER : GAP_NONE;
	case TS_X86_RETURN:
	case TS_X86_ANY:
		break;
	}
	return GAP_NONE;
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get_word(const uint8_t *p, unsigned width)
{
	return width == 8 ? get32(p) | (uint64_t)get32(p + 4) << 32 : get32(p);
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

/* The ordinal of the block's thread; TS_NO_THREAD without memory. */
static uint32_t thread_of(struct reader *r, const struct stage *s)
{
	if (r->n_threads && s->tid == r->thread_tid)
		return r->thread;
	r->thread = ts_recording_thread(&r->rec->base, 0, r->rec->pid, s->tid);
	r->thread_tid = s->tid;
	if (r->thread != TS_NO_THREAD && r->thread >= r->n_threads) {
		r->n_threads = r->thread + 1;
		name_thread(r->rec, r->thread);
	}
	return r->thread;
}

/* The effects behind this one are those of @thread. */
static void tell_thread(uint32_t thread, struct ts_steps *out)
{
	struct ts_effect *e = ts_steps_effect(out, TS_FX_THREAD, 0, 0);

	if (e)
		e->item = thread;
}

/* Where reading can begin again. */
static void set_mark(struct reader *r, const struct stage *s, bool is_full)
{
	r->skip = 0;
	r->window++;
	r->mark = (struct mark){
		.off = s->b.off,
		.n_steps = r->n_steps,
		.session_at = s->session_at,
		.tid = s->tid,
		.n_threads = r->n_threads,
		.is_shifted = s->is_shifted,
		.is_session = s->is_session,
		.is_alone = s->is_alone,
		.has_regs = !is_full,
	};
	if (!is_full)
		r->mark.regs = r->regs;
}

/* What the block shows of memory before its instruction, whose bytes are memory too: they once a window. */
static void tell_before(struct reader *r, const struct stage *s, struct ts_steps *out)
{
	struct x64dbg_insn *insn = s->insn;
	struct ts_effect *e;

	if (insn->told != r->window) {
		insn->told = r->window;
		e = ts_steps_short(out, TS_FX_READ, insn->x.pc, insn->bytes, insn->n_seen,
				   sizeof(insn->bytes));
		if (e)
			e->is_hidden = true;
	}
	x64dbg_access_tell_old(&s->accesses, &s->b, out);
}

static void note_repeats(const struct reader *r, struct stage *s, const struct x64dbg_insn *insn)
{
	const struct ts_regset *set = &r->rec->base.regs;

	s->count_mask = 0;
	if (!insn->x.count_len)
		return;
	s->count_mask = UINT64_MAX >> (64 - 8 * insn->x.count_len);
	s->count = ts_x86_count(&insn->x, &r->insns.x, r->regs.g);
	s->is_down = get32(r->regs.g + set->regs[set->flags].off) & EFLAGS_DF;
}

/*
 * The block @s is where its thread stands now, the one of @before stood there until now (NULL: none): what is
 * so before its instruction.  @after is the next block, NULL if there is none.
 */
static bool arrive(struct reader *r, struct stage *s, const struct stage *before, const struct stage *after,
		   struct ts_steps *out)
{
	const struct x64dbg_layout *l = &r->rec->layout;
	bool is_full = x64dbg_block_is_full(&s->b, l),
	     is_new_context = !before || before->tid != s->tid || s->is_session;
	struct x64dbg_insn *insn;

	if (before)
		s->is_alone = before->tid != s->tid;
	s->thread = thread_of(r, s);
	if (s->thread == TS_NO_THREAD)
		return false;
	if (is_full || r->skip >= MARK_STEPS)
		set_mark(r, s, is_full);
	if (before && is_new_context)
		tell_thread(s->thread, out);
	x64dbg_regs_take(&r->regs, l, s->b.slots, s->b.n_regs, s->b.values, is_new_context ? NULL : out);
	if (is_new_context)
		x64dbg_regs_tell(&r->regs, l, out);
	insn = x64dbg_insns_at(&r->insns, s->pc, s->b.opcode, s->b.n_opcode);
	s->insn = insn;
	x64dbg_access_find(&s->accesses, &s->b, insn, &r->insns, r->regs.g);
	s->gap = after ? gap_behind(s, insn, after) : GAP_NONE;
	if (s->gap == GAP_BREAK || s->gap == GAP_RETRY)
		x64dbg_access_cancel(&s->accesses, &s->b);
	note_repeats(r, s, insn);
	return true;
}

/* ------------------------------------------------------------------------------------------------ steps */

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

/* A repeated instruction that was not stepped into: the iterations behind the first. */
static void tell_repeats(const struct reader *r, const struct stage *s, const struct stage *next,
			 struct ts_steps *out)
{
	uint64_t count = s->count, n, len;

	if (!s->count_mask || s->tid != next->tid || s->gap != GAP_NONE ||
	    !find_slot(&next->b, ECX_SLOT, r->rec->layout.width, &count))
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
		if (len > MAX_REPEATED)
			ts_steps_effect(out, TS_FX_FORGET, addr, len);
		else
			ts_steps_effect(out, x->access & TS_X86_WRITE ? TS_FX_WRITE : TS_FX_READ, addr, len);
	}
}

/* Nothing is sure behind it but what is recorded there. */
static void tell_gap(struct reader *r, const struct stage *s, struct ts_steps *out)
{
	if (s->gap == GAP_NONE || s->gap == GAP_RETRY)
		return;
	ts_steps_event(out, TS_EV_GAP);
	if (s->gap == GAP_OVER)
		return;
	r->window++;
	ts_steps_effect(out, TS_FX_FORGET, 0, UINT64_MAX);
	if (s->gap == GAP_SESSION)
		ts_steps_effect(out, TS_FX_FORGET_REGS, 0, r->rec->base.regs.g_len);
}

/* Is the last block, which is where its thread stands, a step of its own?  See end_steps(). */
static bool is_step(const struct reader *r, const struct stage *last)
{
	return !r->n_steps || last->is_alone;
}

/*
 * The last block's instruction as a step of its own: what it did to memory is there, what it did to registers
 * is not.
 */
static enum ts_next last_step(struct reader *r, struct ts_steps *out)
{
	tell_before(r, r->cur, out);
	x64dbg_access_tell(&r->cur->accesses, &r->cur->b, out);
	ts_steps_effect(out, TS_FX_REG_WRITE, 0, r->rec->base.regs.g_len);
	ts_steps_close(out, r->cur->pc, r->cur->b.n_opcode, r->cur->thread);
	r->is_done = true;
	r->n_steps++;
	r->skip++;
	r->base.end.has_pc = false;
	return TS_ITEM;
}

/*
 * There is no block ahead.  The last one is the state at the end; only where it is the only one, or the only
 * one of its thread's turn, its instruction is a step, so that its registers belong to a position.
 */
static enum ts_next end_steps(struct reader *r, struct ts_steps *out, struct ts_error *err)
{
	if (!r->is_done && is_step(r, r->cur))
		return last_step(r, out);
	if (r->ahead_state == TS_FAIL)
		*err = r->ahead_err;
	return r->ahead_state;
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct reader *r = (struct reader *)base;
	struct stage *done = r->cur;
	enum ts_next state;

	if (r->ahead_state != TS_ITEM)
		return end_steps(r, out, err);
	tell_before(r, r->cur, out);
	state = read_block(r, r->after, &r->ahead_err);
	x64dbg_access_tell(&r->cur->accesses, &r->cur->b, out);
	tell_repeats(r, r->cur, r->ahead, out);
	tell_gap(r, r->cur, out);
	r->n_steps++;
	r->skip++;
	if (!arrive(r, r->ahead, r->cur, state == TS_ITEM ? r->after : NULL, out)) {
		ts_fail(err, TS_ENOMEM, r->ahead->b.off, "no memory for a thread");
		return TS_FAIL;
	}
	if (state != TS_ITEM && !is_step(r, r->ahead)) /* there is no later step that could show it */
		tell_before(r, r->ahead, out);
	ts_steps_close(out, r->cur->pc, r->cur->b.n_opcode, r->cur->thread);
	r->base.end.pc = r->ahead->pc;
	r->base.end.has_pc = true;
	r->cur = r->ahead;
	r->ahead = r->after;
	r->after = done;
	r->ahead_state = state;
	return TS_ITEM;
}

/* ------------------------------------------------------------------------------------------ decode points */

/* Read the block at the mark and the one behind it; what is so there goes to @out. */
static bool start_at_mark(struct reader *r, struct ts_steps *out, struct ts_error *err)
{
	const struct mark m = r->mark;
	struct stage *s = r->cur;

	if (m.has_regs)
		r->regs = m.regs;
	r->pc = get_word(r->regs.g + r->rec->layout.pc_off, r->rec->layout.width);
	if (!read_stage(r, m.off, m.is_shifted, s, err))
		return false;
	s->tid = m.tid;
	s->is_session = m.is_session;
	s->is_alone = m.is_alone;
	s->session_at = m.session_at;
	r->off = m.off + s->b.len;
	r->pc = s->pc;
	r->tid = m.tid;
	r->session_at = m.session_at;
	r->follows_flag = s->b.is_flagged;
	r->is_first = false;
	r->n_steps = m.n_steps;
	r->n_threads = m.n_threads;
	r->thread_tid = ~m.tid;
	ts_error_reset(&r->ahead_err);
	r->ahead_state = read_block(r, r->ahead, &r->ahead_err);
	if (!arrive(r, s, NULL, r->ahead_state == TS_ITEM ? r->ahead : NULL, out))
		return ts_fail(err, TS_ENOMEM, m.off, "no memory for a thread");
	if (m.has_regs) { /* as it was set there */
		r->mark = m;
		r->skip = 0;
	}
	r->is_done = false;
	r->base.end = (struct ts_end){ .pc = s->pc, .has_pc = true };
	return true;
}

/* What of the registers is state. */
#define REGS_LEN offsetof(struct x64dbg_regs, slack)

static void save(const struct ts_reader *base, struct ts_buf *point)
{
	const struct reader *r = (const struct reader *)base;

	ts_buf_put(point, &r->skip, sizeof(r->skip));
	ts_buf_put(point, &r->mark, offsetof(struct mark, regs));
	if (r->mark.has_regs)
		ts_buf_put(point, &r->mark.regs, REGS_LEN);
}

static bool resume(struct ts_reader *base, const uint8_t *point, size_t len, struct ts_error *err)
{
	struct reader *r = (struct reader *)base;
	struct ts_cursor c = ts_cursor(point, len, 0, "decode point", err);
	size_t head = offsetof(struct mark, regs);
	struct ts_steps ignored;
	const uint8_t *p;
	uint64_t skip;
	bool done;

	p = ts_take(&c, sizeof(skip) + head);
	if (!p)
		return false;
	memcpy(&skip, p, sizeof(skip));
	memcpy(&r->mark, p + sizeof(skip), head);
	if (r->mark.has_regs) {
		p = ts_take(&c, REGS_LEN);
		if (!p)
			return false;
		memcpy(&r->mark.regs, p, REGS_LEN);
	}
	if (c.left || r->mark.off < r->rec->first || r->mark.off > r->file_len)
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "a decode point that is none of this trace");
	ts_steps_init(&ignored);
	done = start_at_mark(r, &ignored, err);
	for (; done && skip; skip--) {
		ts_steps_reset(&ignored);
		done = next(base, &ignored, err) == TS_ITEM;
	}
	ts_steps_fini(&ignored);
	if (!done && err->code == TS_OK)
		ts_fail(err, TS_ETRUNC, r->off, "the trace has become shorter");
	return done;
}

static void close_reader(struct ts_reader *base)
{
	struct reader *r = (struct reader *)base;

	x64dbg_insns_fini(&r->insns);
	free(r->buf);
	free(r);
}

/* ---------------------------------------------------------------------------------------------- the start */

/* Read the first two blocks. */
static bool start(struct reader *r, struct ts_steps *initial, struct ts_error *err)
{
	enum ts_next next = read_block(r, r->cur, err);

	if (next == TS_END)
		ts_fail(err, TS_EUNSUPPORTED, r->off, "no instruction was recorded");
	if (next != TS_ITEM)
		return false;
	r->mark = (struct mark){ .off = r->cur->b.off, .tid = r->cur->tid, .is_shifted = r->cur->is_shifted };
	return start_at_mark(r, initial, err);
}

struct ts_reader *x64dbg_reader_new(struct x64dbg *rec, struct ts_steps *initial, struct ts_error *err)
{
	static const struct ts_reader_ops ops = {
		.next = next, .save = save, .resume = resume, .close = close_reader
	};
	struct reader *r = calloc(1, sizeof(*r));
	struct ts_steps ignored;
	bool done;

	if (r) {
		r->base.ops = &ops;
		r->rec = rec;
		r->file_len = ts_source_len(rec->src);
		r->off = rec->first;
		r->is_first = true;
		r->bad_off = UINT64_MAX;
		r->cur = &r->stages[0];
		r->ahead = &r->stages[1];
		r->after = &r->stages[2];
		r->buf = calloc(1, BUF_LEN + X64DBG_SLACK);
	}
	if (!r || !r->buf || !x64dbg_insns_init(&r->insns, &rec->layout, &rec->base.regs)) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a reader");
		if (r)
			close_reader(&r->base);
		return NULL;
	}
	ts_steps_init(&ignored);
	done = start(r, initial ? initial : &ignored, err);
	ts_steps_fini(&ignored);
	if (done)
		return &r->base;
	close_reader(&r->base);
	return NULL;
}
