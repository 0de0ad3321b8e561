/* SPDX-License-Identifier: MIT */
/*
 * From each position of a log to the next, as steps.
 *
 * A line with a program counter, or one that lists anything while the program counter is known, is a
 * position: the registers before the instruction there.  What is in lines between two positions belongs
 * to the later one.
 *
 *      accesses of the previous instruction     step k is all of line k + 1; a reader is after line k
 *      accesses of the line's own               step k is the accesses of line k and the registers of line k
 *                                               + 1; a reader is before line k, which is parsed twice.
 *                                               Such writers put instructions at one address on one line:
 *                                               registers that are listed again, or after an access, belong
 *                                               to step k too
 *
 * Code that the writer left out ("unlisted") has run between two lines
 *      - where the line's pc was read as a return address from where a call would have pushed it, and lies just
 *        after the previous line's instruction: that was a call.  The stack pointer is where it was before it,
 *        or above that by what the called code removed (stdcall);
 *      - where a return address was pushed that does not lie just after the previous line's instruction
 *      (x86);
 *      - where registers are after the program counter in a log that lists them before it: a writer sums
 *        such code up in one line.
 * What such a line says of memory is how it is there, not what an instruction did.
 *
 * What the kernel writes is not in a log.  A step that may be a system call, by its code where --exec shows
 * that, else by what it did to registers, is therefore one in which memory may have changed unseen.
 *
 * A decode point is a struct tenet_place, and the file that it is in.
 */
#include "log.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "loaders/kit/insn_len.h"
#include "src/trace/point.h"
#include "loaders/kit/program.h"
#include "src/arch/traps.h"

/* A return address lies at most this far after the call. */
#define MAX_CALL_LEN 16u
#define MAX_X86_LEN  15u

/* The maximum number of words of arguments that called code removes. */
#define MAX_REMOVED 64u

/* Of a step with more accesses, which share bytes is not looked up. */
#define MAX_COMPARED 64u

struct reader {
	struct ts_reader base;
	struct tenet *rec; /* borrowed */
	struct ts_line_reader lines;
	struct tenet_place at;
	uint32_t part;
};

/* ------------------------------------------------------------------------------------------------- lines */

/* Lines from one position to the next, together. */
struct group {
	struct tenet_line last; /* the line of the position */
	uint64_t last_off;
	uint64_t registers;
	uint32_t n_regs, n_accesses;
};

/* A line of more than a MiB: what it says is lost. */
static enum ts_next pass_long_line(struct reader *r, struct tenet_line *line, struct ts_error *err)
{
	uint64_t off = r->lines.off;
	enum ts_next next;

	ts_error_reset(err);
	next = ts_line_reader_pass(&r->lines, err);
	if (next == TS_END)
		tenet_damaged(&r->rec->damages, TENET_OPEN_LINE, r->part, r->at.number, off);
	if (next != TS_ITEM)
		return next;
	tenet_damaged(&r->rec->damages, TENET_LONG_LINE, r->part, r->at.number, off);
	*line = (struct tenet_line){ .is_lost = true };
	return TS_ITEM;
}

/* Parse the next line.  A last one without a line end may be half a line: it is dropped. */
static inline enum ts_next next_line(struct reader *r, enum tenet_what what, struct tenet_line *line,
				     struct ts_steps *out, struct ts_error *err)
{
	struct ts_text_line text;
	enum ts_next next = ts_line_reader_next(&r->lines, &text, err);

	if (next == TS_FAIL && err->code == TS_ELIMIT)
		next = pass_long_line(r, line, err);
	else if (next == TS_ITEM && text.is_whole)
		tenet_line_parse(&r->rec->names, &text, r->part, r->at.number, what, line, out,
				 &r->rec->damages);
	else if (next == TS_ITEM) {
		tenet_damaged(&r->rec->damages, TENET_OPEN_LINE, r->part, r->at.number, text.off);
		next = TS_END;
	}
	r->at.number += next == TS_ITEM;
	return next;
}

/* The part of the reader's position that a line changes.  Is it a position? */
static inline bool arrive(struct tenet_place *at, const struct tenet_line *l)
{
	bool is_position = l->has_pc || (at->has_pc && !l->is_pc_bad && (l->n_regs || l->n_accesses));

	if (l->is_lost)
		at->has_sp = false;
	if (l->is_lost || l->is_pc_bad)
		at->has_pc = false;
	if (l->has_pc) {
		at->pc = l->pc;
		at->has_pc = true;
	}
	if (l->has_sp) {
		at->sp = l->sp;
		at->has_sp = true;
	}
	at->has_sp &= !l->is_sp_bad;
	if (l->has_call || l->is_lost) {
		at->call = l->call;
		at->has_call = l->has_call;
	}
	return is_position && !l->is_lost;
}

/* Lines up to that of the next position, inclusive.  What they say is appended to @out. */
static enum ts_next read_group(struct reader *r, enum tenet_what what, struct group *g, struct ts_steps *out,
			       struct ts_error *err)
{
	bool is_position;

	g->registers = 0;
	g->n_regs = g->n_accesses = 0;
	do {
		enum ts_next next;

		g->last_off = r->lines.off;
		next = next_line(r, what, &g->last, out, err);
		if (next != TS_ITEM)
			return next;
		if (g->last.is_lost && what != TENET_STEP)
			ts_steps_effect(out, TS_FX_REG_WRITE, 0, r->rec->base.regs.g_len);
		g->registers |= g->last.registers;
		g->n_regs += g->last.n_regs;
		g->n_accesses += g->last.n_accesses;
		is_position = arrive(&r->at, &g->last);
	} while (!is_position);
	r->at.off = r->lines.off;
	return TS_ITEM;
}

/* --------------------------------------------------------------------------------------------------- gaps */

/* The word that the open step read, or wrote, at @addr.  Returns false if it did not. */
static bool find_word(const struct ts_steps *out, enum ts_effect_kind kind, uint64_t addr, unsigned word,
		      uint64_t *value)
{
	for (uint32_t i = out->n_closed; i < out->n_effects; i++) {
		const struct ts_effect *e = &out->effects[i];

		if (e->kind != kind || e->addr != addr || e->len != word || e->data == TS_NO_DATA)
			continue;
		*value = 0;
		memcpy(value, out->data + e->data, word);
		*value = le64toh(*value);
		return true;
	}
	return false;
}

static inline bool is_after_call(uint64_t addr, uint64_t call)
{
	return addr - call - 1 < MAX_CALL_LEN;
}

/* Has unlisted code run between the instruction at @from and the position that the reader has reached? */
static inline bool is_gap(const struct reader *r, const struct group *g, const struct tenet_place *from,
			  const struct ts_steps *out)
{
	const struct tenet_names *names = &r->rec->names;
	uint64_t value;

	if (r->rec->writer.is_own)
		return false;
	if (r->rec->writer.is_pc_last && g->last.has_reg_after)
		return true;
	if (!g->n_accesses || !r->at.has_sp)
		return false;
	if (is_after_call(r->at.pc, from->pc))
		return (!from->has_sp || r->at.sp - from->sp <= MAX_REMOVED * names->word) &&
		       find_word(out, TS_FX_READ, (from->has_sp ? from->sp : r->at.sp) - names->word, names->word,
				 &value) &&
		       value == r->at.pc;
	return names->arch->min_insn_len == 1 && find_word(out, TS_FX_WRITE, r->at.sp, names->word, &value) &&
	       r->at.pc != from->pc && !is_after_call(value, from->pc);
}

/* The accesses of the open step show memory as it is now; since when is not known. */
static void tell_gap(struct ts_steps *out)
{
	struct ts_event *ev;

	for (uint32_t i = out->n_closed; i < out->n_effects; i++) {
		struct ts_effect *e = &out->effects[i];

		if (e->kind != TS_FX_READ && e->kind != TS_FX_WRITE)
			continue;
		e->is_hidden = true;
		if (e->data != TS_NO_DATA)
			e->kind = TS_FX_WRITE;
	}
	ev = ts_steps_event(out, TS_EV_GAP);
	if (ev)
		snprintf(ev->text, sizeof(ev->text), "code that is not listed");
	ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
}

/* ------------------------------------------------------------------------------------------- system calls */

/* Linux's numbers are below this one, on all these processors. */
#define MAX_CALLS 600u
#define I386_READ 3u

/* What the code says, if it is known.  Returns false if it is not. */
static bool judge_code(const struct reader *r, uint64_t pc, uint64_t len, bool *is_trap)
{
	const struct ts_image *code = &r->rec->base.memory;
	uint8_t bytes[4] = { 0 }, known[4] = { 0 };

	if (!code->n_ranges)
		return false;
	ts_image_fill(code, 0, pc, (size_t)len, bytes, known);
	if (memchr(known, 0, (size_t)len))
		return false;
	*is_trap = ts_insn_trap(r->rec->names.arch, len == 2, bytes, (size_t)len) != TS_TRAP_NONE;
	return true;
}

/*
 * May the instruction at @from, which accessed no memory and is @len bytes long, have been a system call by
 * what it did to the @registers, a bit each?  On x86_64 it leaves the next address in rcx.  Elsewhere its
 * number is in a register: of i386 it is the one of the result, too.
 */
static bool looks_like_call(const struct reader *r, const struct tenet_place *from, uint64_t registers)
{
	const struct tenet_names *names = &r->rec->names;

	if (registers & ~names->results)
		return false;
	if (names->word == 8 && names->arch->min_insn_len == 1)
		return r->at.has_call && r->at.call == r->at.pc;
	if (!from->has_call || !from->call || from->call >= MAX_CALLS)
		return false;
	return registers || names->arch->min_insn_len > 1 || from->call == I386_READ;
}

/*
 * May the kernel have run during the step from the instruction at @from, which accessed no memory, to the
 * position that the reader has reached?
 */
static inline bool is_call(const struct reader *r, const struct tenet_place *from, uint64_t registers)
{
	const struct ts_arch *arch = r->rec->names.arch;
	uint64_t len = r->at.pc - from->pc;
	bool is_trap;

	if (len != (arch->min_insn_len == 4 ? 4 : 2) && !(arch->has_thumb && len == 4))
		return false;
	return judge_code(r, from->pc, len, &is_trap) ? is_trap : looks_like_call(r, from, registers);
}

/* ----------------------------------------------------------------------------------------------- accesses */

/*
 * Compare a read and a write of one step, both with values: 0: they do not overlap; 1: the bytes in which
 * they overlap are the same; 2: these differ.
 */
static int compare(const struct ts_steps *b, const struct ts_effect *read, const struct ts_effect *write)
{
	uint64_t first = read->addr > write->addr ? read->addr : write->addr;
	uint64_t last = read->addr + (read->len - 1);

	if (write->addr + (write->len - 1) < last)
		last = write->addr + (write->len - 1);
	if (first > last)
		return 0;
	return memcmp(b->data + read->data + (first - read->addr),
		      b->data + write->data + (first - write->addr), last - first + 1)
		       ? 2
		       : 1;
}

/* May the value of a read be that of a write of the step? */
static bool is_written(const struct ts_steps *out, uint32_t read)
{
	for (uint32_t i = out->n_closed; i < out->n_effects; i++) {
		if (out->effects[i].kind == TS_FX_WRITE &&
		    compare(out, &out->effects[read], &out->effects[i]) == 1)
			return true;
	}
	return false;
}

/*
 * Bytes that the writer fetched after the instruction: a read of bytes that the instruction wrote too is a
 * read whose value is not known; what it shows is there afterwards.
 */
static void tell_fetched(struct ts_steps *out)
{
	uint32_t n = out->n_effects, n_accesses = 0, n_writes = 0;

	for (uint32_t i = out->n_closed; i < n; i++) {
		n_accesses += out->effects[i].kind == TS_FX_READ || out->effects[i].kind == TS_FX_WRITE;
		n_writes += out->effects[i].kind == TS_FX_WRITE;
	}
	for (uint32_t i = out->n_closed; i < n && n_writes && n_writes < n_accesses; i++) {
		const struct ts_effect e = out->effects[i];
		struct ts_effect *after;

		if (e.kind != TS_FX_READ || e.data == TS_NO_DATA ||
		    (n_accesses <= MAX_COMPARED && !is_written(out, i)))
			continue;
		after = ts_steps_effect(out, TS_FX_READ, e.addr, e.len);
		if (!after)
			return;
		after->data = e.data;
		after->is_hidden = true;
		out->effects[i].data = TS_NO_DATA;
	}
}

/* -------------------------------------------------------------------------------------- from file to file */

/* Whether a position follows is looked up where so few bytes are left. */
#define NEAR_END TENET_MAX_LINE

static bool is_near_end(const struct reader *r)
{
	return ts_source_len(r->rec->parts[r->part].src) - r->at.off <= NEAR_END;
}

/* Does the file end at this position?  The reader goes back to it.  Returns TS_ITEM if it does not. */
static enum ts_next peek(struct reader *r, struct ts_steps *out, struct ts_error *err)
{
	const struct tenet_place here = r->at;
	uint32_t n = out->n_effects;
	struct group g;
	enum ts_next next = read_group(r, TENET_ALL, &g, out, err);

	if (next == TS_ITEM && r->rec->writer.is_own) /* the first group is that of this position */
		next = read_group(r, TENET_ALL, &g, out, err);
	ts_steps_rollback(out, n);
	r->at = here;
	r->lines.off = here.off;
	return next;
}

/*
 * The last step of a file that is not the last: its thread then waits, and is shown before its last
 * instruction, since what runs is the next file's thread.
 */
static bool end_file(struct reader *r, struct ts_steps *out, struct ts_error *err)
{
	enum ts_next next = TS_ITEM;
	uint32_t n = out->n_closed;

	if (r->part + 1 < r->rec->n_parts && is_near_end(r))
		next = peek(r, out, err);
	if (next != TS_END)
		return next == TS_ITEM;
	for (uint32_t i = out->n_closed; i < out->n_effects; i++) {
		if (out->effects[i].kind != TS_FX_REG_WRITE)
			out->effects[n++] = out->effects[i];
	}
	out->n_effects = n;
	kit_program_forget(&r->rec->base.memory, out);
	return true;
}

/* ------------------------------------------------------------------------------------------------- steps */

/*
 * The length of the instruction at @from, if the next address determines it; 0: unknown.  Short jumps forward
 * lead to addresses that might follow an instruction: but they change nothing, and have two bytes at least.
 */
static inline uint16_t insn_len(const struct ts_arch *arch, const struct ts_steps *out, uint64_t from, uint64_t to,
				uint32_t n_regs, uint32_t n_accesses)
{
	const bool has_effects = n_regs || n_accesses;
	uint64_t n = to - from;
	uint16_t len;

	if (arch->is_fixed_insn)
		return arch->min_insn_len;
	if (arch->has_thumb)
		return (n == 2 || n == 4) && has_effects ? (uint16_t)n : 0;
	if (n > 2 && (n > MAX_X86_LEN || !has_effects))
		return 0;
	if (n <= 2 || !n_accesses) /* a call writes memory, and leads further */
		return (uint16_t)n;
	len = ts_insn_len_of_call(out, from, to);
	return len ? len : (uint16_t)n;
}

/* The line that was read last is read again: its accesses belong to the next step. */
static void stand_before(struct reader *r, uint64_t off, uint64_t number)
{
	r->at.off = r->lines.off = off;
	r->at.number = number;
}

/* From @from, the reader's position, to the next position of this file.  TS_END: this was the last one. */
static enum ts_next step(struct reader *r, const struct tenet_place *from, struct ts_steps *out, struct ts_error *err)
{
	const struct tenet_writer *w = &r->rec->writer;
	enum ts_next next = TS_ITEM;
	struct group own, g;
	uint64_t off, number;

	own.registers = 0;
	own.n_accesses = 0;
	if (w->is_own)
		next = read_group(r, TENET_STEP, &own, out, err);
	off = r->at.off;
	number = r->at.number;
	if (next == TS_ITEM)
		next = read_group(r, w->is_own ? TENET_POSITION : TENET_ALL, &g, out, err);
	if (next != TS_ITEM)
		return next;
	if (w->is_own)
		stand_before(r, off, number);
	if (is_gap(r, &g, from, out))
		tell_gap(out);
	else if (!w->is_true && g.n_accesses > 1)
		tell_fetched(out);
	if (!(w->is_own ? own.n_accesses : g.n_accesses) && is_call(r, from, own.registers | g.registers))
		ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
	if (!end_file(r, out, err))
		return TS_FAIL;
	ts_steps_close(out, from->pc,
		       insn_len(r->rec->base.regs.arch, out, from->pc, r->at.pc, g.n_regs, g.n_accesses + own.n_accesses),
		       r->part);
	r->base.end = (struct ts_end){ .pc = r->at.pc, .has_pc = true };
	return TS_ITEM;
}

static void go_to(struct reader *r, uint32_t part, const struct tenet_place *place)
{
	if (part != r->part || !r->lines.window.src) {
		ts_line_reader_fini(&r->lines);
		ts_line_reader_init(&r->lines, r->rec->parts[part].src, place->off, TENET_MAX_LINE);
	}
	r->part = part;
	r->at = *place;
	r->lines.off = place->off;
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct reader *r = (struct reader *)base;
	const struct tenet_place was = r->at, *from = &was;
	uint32_t part = r->part;
	enum ts_next next;

	while ((next = step(r, from, out, err)) == TS_END && r->part + 1 < r->rec->n_parts) {
		bool is_told = is_near_end(r);

		ts_steps_rollback(out, out->n_closed);
		from = &r->rec->parts[r->part + 1].start;
		go_to(r, r->part + 1, from);
		if (!is_told)
			kit_program_forget(&r->rec->base.memory, out);
	}
	if (next != TS_ITEM)
		go_to(r, part, &was);
	return next;
}

/* ------------------------------------------------------------------------------------------ decode points */

static bool point(struct ts_reader *base, struct ts_point *p)
{
	struct reader *r = (struct reader *)base;
	struct tenet_place at = r->at;
	uint32_t part = r->part;

	TS_POINT(p, part, r->rec->n_parts - 1);
	TS_POINT(p, at.off, ts_source_len(r->rec->parts[part].src));
	TS_POINT(p, at.number, UINT64_MAX);
	TS_POINT(p, at.pc, UINT64_MAX);
	TS_POINT(p, at.sp, UINT64_MAX);
	TS_POINT(p, at.call, UINT64_MAX);
	TS_POINT_FLAGS(p, &at.has_pc, &at.has_sp, &at.has_call);
	ts_point_end(p, &r->base.end);
	if (!ts_point_close(p))
		return false;
	if (!p->to)
		go_to(r, part, &at);
	return true;
}

static void close_reader(struct ts_reader *base)
{
	struct reader *r = (struct reader *)base;

	ts_line_reader_fini(&r->lines);
}

static const struct ts_reader_ops ops = {
	.size = sizeof(struct reader), .next = next, .point = point, .close = close_reader
};

static struct reader *make_reader(struct tenet *rec, struct ts_error *err)
{
	struct reader *r = ts_reader_new(&ops, err);

	if (!r)
		return NULL;
	r->rec = rec;
	go_to(r, 0, &rec->parts[0].start);
	return r;
}

struct ts_reader *tenet_reader_new(struct tenet *rec, struct ts_error *err)
{
	struct reader *r = make_reader(rec, err);

	return r ? &r->base : NULL;
}

/* ---------------------------------------------------------------------------------------------- the start */

bool tenet_read_start(struct tenet *rec, uint32_t i, struct ts_steps *initial, struct ts_error *err)
{
	struct reader *r = make_reader(rec, err);
	struct tenet_place *start = &rec->parts[i].start;
	struct tenet_place before = { .number = 1 };
	enum tenet_what what = rec->writer.is_own ? TENET_POSITION : TENET_ALL;
	uint32_t n = initial->n_effects;
	struct group g = { 0 };
	enum ts_next next;

	if (!r)
		return false;
	go_to(r, i, &before);
	next = read_group(r, what, &g, initial, err);
	*start = r->at;
	if (rec->writer.is_own) { /* its accesses are read with its step */
		start->off = g.last_off;
		start->number--;
	}
	ts_reader_close(&r->base);
	for (; n < initial->n_effects; n++) {
		struct ts_effect *e = &initial->effects[n];
		bool is_access = e->kind == TS_FX_READ || e->kind == TS_FX_WRITE;

		if (is_access && (i || e->data == TS_NO_DATA)) /* of other threads it is unknown when it was so */
			*e = (struct ts_effect){
				.kind = TS_FX_READ, .addr = e->addr, .data = TS_NO_DATA, .is_hidden = true
			};
		else if (is_access)
			e->kind = TS_FX_WRITE;
	}
	return next == TS_ITEM ||
	       (next == TS_END && ts_fail(err, TS_EUNSUPPORTED, 0, "no line has a program counter"));
}
