/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include <inttypes.h>
#include <string.h>

#define LOOK_AHEAD 4

/* The maximum number of plugins' blocks that are skipped after damage, because each place may lead into the same long run. */
#define LOOK_AHEAD_USER 32u

void x64dbg_blocks_init(struct x64dbg_blocks *bl, struct x64dbg *rec, struct x64dbg_insns *insns)
{
	*bl = (struct x64dbg_blocks){ .rec = rec, .insns = insns, .off = rec->first, .is_first = true };
	_Static_assert(TS_WINDOW_PAD >= X64DBG_SLACK, "a block may be read past its end");
	bl->file_len = ts_source_len(rec->src);
	bl->bad_off = UINT64_MAX;
	ts_window_init(&bl->window, rec->src, bl->file_len);
	ts_window_init(&bl->ahead, rec->src, bl->file_len);
}

void x64dbg_blocks_fini(struct x64dbg_blocks *bl)
{
	ts_window_fini(&bl->window);
	ts_window_fini(&bl->ahead);
}

/* ------------------------------------------------------------------------------------ plugins' blocks */

/* The bytes at @off < bl->file_len: those in bl->window if it has them, else @w is moved. */
static inline const uint8_t *bytes_at(struct x64dbg_blocks *bl, struct ts_window *w, uint64_t off,
				      size_t want, size_t *len, struct ts_error *err)
{
	uint64_t at = off - bl->window.off;

	if (at < bl->window.len && bl->window.len - at >= want)
		w = &bl->window;
	return ts_window_at(w, off, want, len, err);
}

/*
 * Go on to the next instruction block at or after *off, over at most @max of those of plugins; if there are
 * more, *off is at one of them.
 */
static enum ts_next skip_user_blocks(struct x64dbg_blocks *bl, struct ts_window *w, uint64_t *off,
				     uint32_t max, struct ts_error *err)
{
	for (; *off < bl->file_len && max; max--) {
		struct ts_cursor c;
		const uint8_t *p;
		uint32_t n;
		size_t len;

		p = bytes_at(bl, w, *off, X64DBG_USER_HEAD, &len, err);
		if (!p)
			return TS_FAIL;
		if (*p < X64DBG_USER)
			return TS_ITEM;
		c = ts_cursor(p, len, *off, "user block", err);
		ts_u8(&c);
		n = ts_u32le(&c);
		if (!ts_ok(&c))
			return TS_FAIL;
		if (n > bl->file_len - *off - X64DBG_USER_HEAD) {
			ts_fail(err, TS_ETRUNC, *off,
				"a user block of %" PRIu32 " bytes, but %" PRIu64 " are left", n,
				bl->file_len - *off - X64DBG_USER_HEAD);
			return TS_FAIL;
		}
		*off += X64DBG_USER_HEAD + n;
	}
	return *off < bl->file_len ? TS_ITEM : TS_END;
}

/* ------------------------------------------------------------------------------------------ one block */

static inline bool read_at(struct x64dbg_blocks *bl, struct ts_window *w, uint64_t off, bool is_shifted,
			   struct x64dbg_block *b, struct ts_error *err)
{
	const uint8_t *p;
	size_t len;

	b->off = off;
	p = bytes_at(bl, w, off, X64DBG_MAX_BLOCK, &len, err);
	return p && x64dbg_block_read(b, p, len, &bl->rec->layout, is_shifted, err);
}

/* The block after the one that was read last; without a program counter it is where that one was. */
static inline bool read_stop(struct x64dbg_blocks *bl, uint64_t off, bool is_shifted, struct x64dbg_located_block *s,
			     struct ts_error *err)
{
	s->is_shifted = is_shifted;
	if (!read_at(bl, &bl->window, off, is_shifted, &s->b, err))
		return false;
	s->pc = s->b.has_pc ? s->b.pc : bl->pc;
	s->insn = NULL;
	return true;
}

/* -------------------------------------------------------------------------------------- looking ahead */

/* Is the instruction as long as it says?  One that cannot be decoded has length 1. */
static bool has_true_length(const struct x64dbg_blocks *bl, const struct x64dbg_block *b)
{
	unsigned len = ts_x86_length(&bl->insns->x, b->opcode, b->n_opcode);

	return len ? len == b->n_opcode : b->n_opcode == 1;
}

/* A failed read is not evidence of what the file contains. */
static void note_io(struct x64dbg_blocks *bl, const struct ts_error *err)
{
	if ((err->code == TS_EIO || err->code == TS_ENOMEM) && bl->io.code == TS_OK)
		bl->io = *err;
}

static bool looks_right(struct x64dbg_blocks *bl, uint64_t off, bool is_shifted, unsigned depth);

/* As goes_on(), which remembers what failed. */
static bool does_go_on(struct x64dbg_blocks *bl, uint64_t off, bool follows_flag, unsigned depth)
{
	struct ts_error err = { 0 };
	enum ts_next next = skip_user_blocks(bl, &bl->ahead, &off, LOOK_AHEAD_USER, &err);
	const uint8_t *p;
	size_t len;

	note_io(bl, &err);
	if (!depth || next == TS_END)
		return true;
	p = next == TS_ITEM ? bytes_at(bl, &bl->ahead, off, 1, &len, &err) : NULL;
	if (p && *p >= X64DBG_USER)
		return true; /* plugins' blocks as far as was looked */
	return next == TS_ITEM &&
	       (looks_right(bl, off, false, depth) || (follows_flag && looks_right(bl, off, true, depth)));
}

/*
 * Do @depth blocks from @off on look right?  The end of the file does.  Many places may lead to one that does
 * not.
 */
static bool goes_on(struct x64dbg_blocks *bl, uint64_t off, bool follows_flag, unsigned depth)
{
	uint64_t question = off << 4 | depth << 1 | follows_flag;
	uint64_t *failed = &bl->failed[question * UINT64_C(0x9e3779b97f4a7c15) >> 56];

	_Static_assert(X64DBG_N_FAILED == 256, "eight bits of a hash");
	if (off && *failed == question)
		return false;
	if (does_go_on(bl, off, follows_flag, depth))
		return true;
	*failed = question;
	return false;
}

/* Does the block at @off look right in this reading, and @depth - 1 after it? */
static bool looks_right(struct x64dbg_blocks *bl, uint64_t off, bool is_shifted, unsigned depth)
{
	struct x64dbg_block *b = &bl->scratch;
	struct ts_error err = { 0 };

	if (!read_at(bl, &bl->ahead, off, is_shifted, b, &err)) {
		note_io(bl, &err);
		return err.code == TS_ETRUNC && depth < LOOK_AHEAD;
	}
	return b->is_strict && !(is_shifted && b->is_flagged) && has_true_length(bl, b) &&
	       goes_on(bl, off + b->len, b->is_flagged, depth - 1);
}

/* -------------------------------------------------------------------------------------------- repairs */

/*
 * Recorders until 2026 write a thread's id without the flag that says so: in the first block after a switch.
 * Where that can be, the reading that works is taken.
 */
static __attribute__((noinline)) bool is_unflagged(struct x64dbg_blocks *bl, uint64_t off)
{
	return !looks_right(bl, off, false, LOOK_AHEAD) && looks_right(bl, off, true, LOOK_AHEAD);
}

/* Looking ahead failed to read the file: its result is not used. */
static bool has_failed(struct x64dbg_blocks *bl, struct ts_error *err)
{
	if (bl->io.code == TS_OK)
		return false;
	*err = bl->io;
	ts_error_reset(&bl->io);
	memset(bl->failed, 0, sizeof(bl->failed));
	bl->bad_off = UINT64_MAX;
	return true;
}

/* Is the instruction as long as the block says?  It is remembered. */
static inline bool is_usual(struct x64dbg_blocks *bl, struct x64dbg_located_block *s)
{
	s->insn = x64dbg_insns_at(bl->insns, s->pc, s->b.opcode, s->b.n_opcode);
	s->insn_until = bl->insns->n_decoded;
	return s->insn->x.len == s->b.n_opcode;
}

/* The block is a usual one: the next time it is read by its form. */
static void learn(struct x64dbg_blocks *bl, const struct x64dbg_located_block *s)
{
	const uint8_t *p = bl->window.buf + (s->b.off - bl->window.off);

	if (bl->rec->has_no_forms)
		return;
	if (!x64dbg_insn_form(s->insn, p)) {
		struct x64dbg_form was = s->insn->form;

		x64dbg_form_take(&s->insn->form, p, &s->b, &bl->rec->layout);
		if (x64dbg_form_is(&s->insn->form, p))
			s->insn->other = was;
	}
	if (bl->insn && bl->insn->next != s->insn && !x64dbg_insn_is_near_call(bl->insn, s->pc)) {
		bl->insn->other_next = bl->insn->next;
		bl->insn->next = s->insn;
	}
}

static bool read_repaired(struct x64dbg_blocks *bl, struct x64dbg_located_block *s, struct ts_error *err)
{
	uint64_t off = bl->off;
	bool done = read_stop(bl, off, false, s, err), is_shifted;

	if (done && s->b.is_flagged)
		return true;
	if (done && !bl->follows_flag && is_usual(bl, s)) {
		learn(bl, s);
		return true;
	}
	if (!done && err->code != TS_ECORRUPT && err->code != TS_ETRUNC)
		return false;
	is_shifted = is_unflagged(bl, off);
	if (has_failed(bl, err))
		return false;
	if (!is_shifted)
		return done;
	ts_error_reset(err);
	return read_stop(bl, off, true, s, err);
}

/*
 * Returns the offset, at or after @p, of bytes that may be a block with all registers; @len if there are
 * none.
 */
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
 * Damage at @off: bl->good_off gets the next block with all registers, after which the blocks look right; 0
 * if none is found.
 *
 * Returns false if the file cannot be read.
 */
static bool find_good(struct x64dbg_blocks *bl, uint64_t off, struct ts_error *err)
{
	bl->bad_off = off;
	bl->good_off = 0;
	for (off++; off < bl->file_len && !bl->good_off;) {
		size_t len, at;
		const uint8_t *p = bytes_at(bl, &bl->window, off, X64DBG_MAX_BLOCK, &len, err);

		if (!p) {
			bl->bad_off = UINT64_MAX;
			return false;
		}
		at = find_full(&bl->rec->layout, p, len);
		if (at == len) {
			off += len > X64DBG_MAX_BLOCK ? len - X64DBG_MAX_BLOCK : len;
			continue;
		}
		off += at;
		if (looks_right(bl, off, false, LOOK_AHEAD))
			bl->good_off = off;
		if (has_failed(bl, err))
			return false;
		off++;
	}
	return true;
}

/* A damaged block, which *err is about: go on after it.  Returns false if there is nothing after it. */
static __attribute__((noinline)) bool resume_after(struct x64dbg_blocks *bl, struct x64dbg_located_block *s,
						   struct ts_error *err)
{
	struct ts_error failed = { 0 };
	uint64_t bad = bl->off;

	if (err->code != TS_ECORRUPT || bl->is_first)
		return false;
	if (bad != bl->bad_off && !find_good(bl, bad, &failed)) {
		*err = failed;
		return false;
	}
	if (!bl->good_off)
		return false;
	ts_warn_at(&bl->rec->warner, bad,
		   "at 0x%" PRIx64 ", %.120s; %" PRIu64
		   " bytes are lost, up to the next block with all registers at 0x%" PRIx64,
		   bad, err->text, bl->good_off - bad, bl->good_off);
	ts_error_reset(err);
	bl->off = bl->good_off;
	return read_stop(bl, bl->off, false, s, err);
}

/* ---------------------------------------------------------------------------------------- blocks in order */

void x64dbg_blocks_pass(struct x64dbg_blocks *bl, const struct x64dbg_located_block *s)
{
	bl->off = s->b.off + s->b.len;
	bl->tid = s->tid;
	bl->pc = s->pc;
	bl->insn = s->b.is_flagged ? NULL : s->insn;
	bl->session_at = s->session_at;
	bl->follows_flag = s->b.is_flagged;
	bl->is_first = false;
}

/* What a block is in its session, and whose. */
static void place(struct x64dbg_blocks *bl, struct x64dbg_located_block *s, bool is_after_damage)
{
	bool is_full = x64dbg_block_is_full(&s->b, &bl->rec->layout);

	s->session_at = bl->is_first ? 0 : bl->session_at + 1;
	s->is_session = is_after_damage || (is_full && s->session_at % X64DBG_PAGE_BLOCKS);
	if (s->is_session)
		s->session_at = 0;
	s->tid = s->b.has_tid ? s->b.tid : bl->tid;
	if (s->is_shifted)
		ts_warn_at(
			&bl->rec->warner, s->b.off,
			"a thread id has no flag that announces it, a known fault of recorders");
	x64dbg_blocks_pass(bl, s);
}

/*
 * The next block if it is the one that came after the last one when that was read before, with other values,
 * and nothing is special about it.  Returns false, having passed nothing, in all other cases.
 */
static inline bool next_usual(struct x64dbg_blocks *bl, struct x64dbg_located_block *s)
{
	struct x64dbg_insn *insn = bl->insn ? bl->insn->next : NULL;
	uint64_t at = bl->off - bl->window.off;
	const struct x64dbg_form *form;
	const uint8_t *p;

	if (!insn || at >= bl->window.len || bl->window.len - at < X64DBG_MAX_BLOCK)
		return false;
	p = bl->window.buf + at;
	form = x64dbg_insn_form(insn, p);
	if (!form || !x64dbg_form_read(form, insn->bytes, &s->b, p, &bl->rec->layout) ||
	    insn->x.pc != s->b.pc)
		return false;
	s->b.off = bl->off;
	s->pc = s->b.pc;
	s->insn = insn;
	s->insn_until = bl->insns->n_decoded;
	s->is_shifted = false;
	s->is_session = false;
	s->session_at = bl->session_at + 1;
	s->tid = bl->tid;
	__builtin_prefetch(insn->next);
	__builtin_prefetch((const uint8_t *)insn->next + X64DBG_INSN_ALIGN);
	x64dbg_blocks_pass(bl, s);
	return true;
}

static __attribute__((noinline)) enum ts_next next_any(struct x64dbg_blocks *bl, struct x64dbg_located_block *s,
						       struct ts_error *err)
{
	bool is_after_damage = false;
	enum ts_next next = skip_user_blocks(bl, &bl->window, &bl->off, UINT32_MAX, err);

	if (next != TS_ITEM)
		return next;
	if (!read_repaired(bl, s, err)) {
		is_after_damage = resume_after(bl, s, err);
		if (!is_after_damage)
			return TS_FAIL;
	}
	if (bl->is_first && !x64dbg_block_is_full(&s->b, &bl->rec->layout)) {
		ts_fail(err, TS_ECORRUPT, s->b.off,
			"the first block lists %u registers: it should have all %u", s->b.n_regs,
			bl->rec->layout.n_slots);
		return TS_FAIL;
	}
	place(bl, s, is_after_damage);
	return TS_ITEM;
}

enum ts_next x64dbg_blocks_next(struct x64dbg_blocks *bl, struct x64dbg_located_block *s, struct ts_error *err)
{
	return __builtin_expect(next_usual(bl, s), 1) ? TS_ITEM : next_any(bl, s, err);
}

bool x64dbg_blocks_again(struct x64dbg_blocks *bl, struct x64dbg_located_block *s, uint64_t pc, struct ts_error *err)
{
	bl->pc = pc;
	bl->insn = NULL;
	if (!read_stop(bl, s->b.off, s->is_shifted, s, err))
		return false;
	x64dbg_blocks_pass(bl, s);
	return true;
}
