/* SPDX-License-Identifier: MIT */
#include "anchors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "question.h"
#include "src/ask/verb.h"
#include "src/arch/dwarf_regs.h"
#include "src/query/search/call_list.h"
#include "src/query/paging.h"
#include "src/query/files/tls.h"
#include "src/symbols/meanings.h"
#include "state.h"
#include "src/object/debug/variables.h"
#include "src/query/code/handlers.h"

/* More of the user's text is not repeated in a sentence. */
#define SHOWN(qn) (int)((qn)->local_len < 100 ? (qn)->local_len : 100), (qn)->local

/* ------------------------------------------------------------------------------------------- the position */

struct moment {
	struct ts_ask *ask;
	uint64_t pos;
	uint32_t thread;
	struct ts_error *err;
};

static bool read_register(void *user, unsigned number, uint64_t *value)
{
	const struct moment *m = user;
	int i = ts_regset_by_dwarf(ts_query_regset(m->ask->q), number);

	return ts_query_reg(m->ask->q, m->pos, m->thread, i, value, m->err);
}

static bool read_memory(void *user, uint64_t addr, unsigned len, uint64_t *value)
{
	const struct moment *m = user;
	const struct ts_arch *arch = ts_query_regset(m->ask->q)->arch;
	uint8_t data[8], known[8];

	if (len > sizeof(data) || !ts_virtual_mem(m->ask->q, m->pos, ts_query_process(m->ask->q, m->thread),
						  addr & ts_arch_addr_mask(arch), len, data, known, m->err) ||
	    memchr(known, 0, len))
		return false;
	*value = ts_arch_get(arch, data, len);
	return true;
}

/* ------------------------------------------------------------------------------------------- the frame */

/*
 * The range of positions in which the frame of a function exists.  One call may execute several functions: a function that is
 * about to return jumps to another one (a tail call, a linkage table), whose frame replaces its own.
 */
struct extent {
	uint64_t begin, end;     /* positions; the last frame of a call ends with the call */
	bool ends_by_jump;
	bool is_unsure;          /* both ends: the function's code is unknown, or its executions are too many to be searched */
};

/* Executions that are examined for the one that began or ended a frame. */
#define MAX_LOOKS 64u

struct frame {
	const struct ts_ask *ask;
	const struct ts_call *call;
	const struct ts_variable *v;
	uint32_t process;
	unsigned n_looks;
};

static bool look(struct frame *f)
{
	return f->n_looks++ < MAX_LOOKS;
}

static bool is_in_code(const struct ts_variable *v, uint64_t pc)
{
	for (unsigned i = 0; i < v->n_code; i++) {
		if (pc >= v->code[i].first && pc <= v->code[i].last)
			return true;
	}
	return false;
}

/*
 * Is position @pos in the frame's call, and in none that was made during it?  If not, *from and *to are positions around it
 * between which nothing is.
 */
static bool is_in_call(const struct frame *f, uint64_t pos, uint64_t *from, uint64_t *to)
{
	struct ts_call inner, outer;

	*from = *to = pos;
	if (ts_query_thread(f->ask->q, pos) != f->call->thread)
		return false;
	if (!ts_query_innermost_call(f->ask->q, f->call->thread, pos, &inner))
		return false;
	if (inner.ordinal == f->call->ordinal)
		return true;
	for (outer = inner; ts_query_outer_call(f->ask->q, &outer) && outer.ordinal != f->call->ordinal;)
		inner = outer;
	*from = inner.pos + 1;
	*to = inner.end == TS_NO_END ? pos : inner.end - 1;
	return false;
}

/* The last execution of the function's code in [at, end) by the call itself; TS_NO_POS if there were too many others. */
static uint64_t last_execution(struct frame *f, uint64_t at, uint64_t end)
{
	uint64_t pos = end - 1;

	while (look(f)) {
		uint64_t found = at, to;

		for (unsigned i = 0; i < f->v->n_code; i++) {
			uint64_t p = ts_query_find_execution(f->ask->q, f->process, f->v->code[i].first, f->v->code[i].last, pos, TS_BACKWARDS);

			if (p != TS_NO_POS && p > found)
				found = p;
		}
		if (found <= at || is_in_call(f, found, &pos, &to))
			return found;
		pos--;
	}
	return TS_NO_POS;
}

/* Was the function entered at @pos, where its first instruction is, from other code?  A loop may begin there, too. */
static bool is_entry(const struct frame *f, uint64_t pos, struct ts_error *err)
{
	uint64_t pc;
	bool has_pc;

	if (pos == f->call->pos + 1 || !f->v->n_code)
		return true;
	pos = ts_query_prev_step(f->ask->q, f->call->thread, pos - 1);
	return !ts_query_pc(f->ask->q, pos, f->call->thread, &pc, &has_pc, err) || !has_pc || !is_in_code(f->v, pc);
}

/*
 * Where after @at the function was entered again by a jump from other code, in the same call; @end if it was not; TS_NO_POS
 * if there were too many other executions of its first instruction.
 */
static uint64_t next_entry(struct frame *f, uint64_t at, uint64_t end, struct ts_error *err)
{
	uint64_t pos = at + 1, from;

	while (f->v->entry && look(f)) {
		pos = ts_query_find_execution(f->ask->q, f->process, f->v->entry, f->v->entry, pos, TS_FORWARDS);
		if (pos >= end)
			return end;
		if (is_in_call(f, pos, &from, &pos) && is_entry(f, pos, err))
			return pos;
		pos++;
	}
	return f->v->entry ? TS_NO_POS : end;
}

/* Did the call go on after @last with other code than the function's, of which it is the last execution? */
static bool jumps_away(const struct frame *f, uint64_t last, uint64_t end, struct ts_error *err)
{
	uint64_t next = ts_query_next_step(f->ask->q, f->call->thread, last + 1), from, to;
	struct ts_handler handler;

	return next < end && is_in_call(f, next, &from, &to) &&
	       !ts_query_handler_after(f->ask->q, f->call->thread, last, &handler, err) && err->code == TS_OK;
}

static bool find_end(struct frame *f, uint64_t at, struct extent *x, struct ts_error *err)
{
	uint64_t end = f->call->end < f->ask->n_steps ? f->call->end : f->ask->n_steps, last = TS_NO_POS;

	if (f->v->n_code && end > at)
		end = next_entry(f, at, end, err);
	if (f->v->n_code && end != TS_NO_POS && end > at)
		last = last_execution(f, at, end);
	x->end = f->call->end;
	x->is_unsure = last == TS_NO_POS;
	x->ends_by_jump = !x->is_unsure && jumps_away(f, last, end, err);
	if (x->ends_by_jump)
		x->end = last + 1;
	return err->code == TS_OK;
}

/* Where the frame begins: at the call, or where its function was entered last in it. */
static uint64_t find_begin(struct frame *f, uint64_t at, bool *is_found, struct ts_error *err)
{
	uint64_t pos = at, entry = f->v->entry, to;

	*is_found = !entry || (!f->v->n_code && entry == f->call->target);
	while (!*is_found && look(f)) {
		pos = ts_query_find_execution(f->ask->q, f->process, entry, entry, pos, TS_BACKWARDS);
		*is_found = pos == TS_NO_POS || pos <= f->call->pos;
		if (!*is_found && is_in_call(f, pos, &pos, &to) && is_entry(f, pos, err)) {
			*is_found = true;
			return pos;
		}
		pos--;
	}
	return f->call->pos + 1;
}

/*
 * The frame, at position @at, of the function of the variable @v.  @call is the innermost open call at @at.
 * ts_ask_need_calls() must have succeeded before.
 *
 * Returns false if the trace cannot be read.
 */
static bool find_extent(struct ts_ask *ask, const struct ts_call *call, const struct ts_variable *v, uint64_t at,
			struct extent *extent, struct ts_error *err)
{
	struct frame f = { .ask = ask, .call = call, .v = v, .process = ts_query_process(ask->q, call->thread) };

	bool is_begin_known;

	*extent = (struct extent){ .begin = find_begin(&f, at, &is_begin_known, err) };
	f.n_looks = 0;
	if (err->code != TS_OK || !find_end(&f, at, extent, err))
		return false;
	extent->is_unsure |= !is_begin_known;
	return true;
}

/* ---------------------------------------------------------------------------------------------- the place */

static bool set_register(struct ts_question *qn, const struct ts_regset *set, const struct ts_variable *v, struct ts_error *err)
{
	int i = ts_regset_by_dwarf(set, v->reg);
	const struct ts_reg *r = i < 0 ? NULL : &set->regs[i];

	if (!r || v->off + v->len > r->len)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' lies in a register that this recording does not have", SHOWN(qn));
	if (qn->verb->operand == TS_OPERAND_MEMORY && qn->verb->is_of_moment)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is in $%s at position %" PRIu64 ", not in memory; example: registers %s at %" PRIu64,
			       SHOWN(qn), r->name, qn->at, r->name, qn->at);
	if (qn->local_take && qn->local_take != v->len)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is in $%s at position %" PRIu64 ", and has %" PRIu64 " bytes", SHOWN(qn), r->name,
			       qn->at, v->len);
	if (qn->verb->operand != TS_OPERAND_WHAT || !qn->verb->is_of_moment)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "'%.*s' is in $%s at position %" PRIu64 ", which holds other values before and after; example: why %.*s at %" PRIu64,
			       SHOWN(qn), r->name, qn->at, SHOWN(qn), qn->at);
	qn->what = (struct ts_what){ .kind = TS_WHAT_REG, .len = (uint32_t)v->len, .off = r->off + v->off };
	if (set->arch->is_big_endian)
		qn->what.off = r->off + r->len - v->off - (uint32_t)v->len;
	snprintf(qn->local_note, sizeof(qn->local_note), "%.*s is in $%s at position %" PRIu64, SHOWN(qn), r->name, qn->at);
	return true;
}

static bool set_memory(struct ts_question *qn, const struct ts_regset *set, const struct ts_variable *v, struct ts_error *err)
{
	uint64_t mask = ts_arch_addr_mask(set->arch), addr = v->addr & mask, len = qn->local_take ? qn->local_take : v->len;

	if (len - 1 > mask - addr)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' passes the end of the address space", SHOWN(qn));
	qn->what = (struct ts_what){ .kind = TS_WHAT_MEM, .addr = addr, .last = addr + len - 1 };
	snprintf(qn->local_note, sizeof(qn->local_note), "%.*s is 0x%" PRIx64 ",%" PRIu64 " at position %" PRIu64, SHOWN(qn), addr,
		 v->len, qn->at);
	return true;
}

/* The frame is the variable's during the call in which the position is. */
static enum ts_next narrow(struct ts_ask *ask, struct ts_question *qn, const struct ts_variable *v, uint32_t thread, struct ts_budget *budget,
			   struct ts_error *err)
{
	enum ts_next got = ts_ask_need_calls(ask, budget, err);
	size_t n = strlen(qn->local_note);
	struct extent frame;
	struct ts_call call;

	if (got != TS_ITEM)
		return got;
	if (!ts_query_innermost_call(ask->q, thread, qn->at, &call)) {
		snprintf(qn->local_note + n, sizeof(qn->local_note) - n,
			 "; the call is not in the recording, and rows are of everything that lay there");
		return TS_ITEM;
	}
	if (!find_extent(ask, &call, v, qn->at, &frame, err))
		return TS_FAIL;
	if (qn->from < frame.begin)
		qn->from = frame.begin;
	if (qn->to > frame.end)
		qn->to = frame.end;
	n += (size_t)snprintf(qn->local_note + n, sizeof(qn->local_note) - n, ", and rows are those of the call from %" PRIu64 " on",
			      frame.begin);
	if (frame.ends_by_jump)
		n += (size_t)snprintf(qn->local_note + n, sizeof(qn->local_note) - n,
				      ", up to %" PRIu64 ", where the function jumped to another one", frame.end);
	if (frame.is_unsure)
		snprintf(qn->local_note + n, sizeof(qn->local_note) - n,
			 ", and may be of other functions that shared this call by jumps");
	return TS_ITEM;
}

/* Several meanings are the parser's to list. */
static enum ts_next refuse_unknown(const struct ts_ask *ask, struct ts_question *qn, const char *why, struct ts_error *err)
{
	struct ts_meanings all;

	if (!ts_symbols_mean(ask->symbols, qn->local, qn->local_len, false, &all) && !all.n)
		ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			"'%.*s' %s %" PRIu64, SHOWN(qn), why ? why : "is neither an address nor a known symbol, nor a variable in scope at position",
			qn->at);
	else
		ts_what_parse(&qn->what, qn->local, qn->local_len, ts_query_regset(ask->q), ask->symbols, err);
	return TS_FAIL;
}

/* Where the variable is of which each thread has one: that of the question's thread. */
static bool place_thread_local(struct ts_ask *ask, const struct ts_question *qn, const struct ts_thread_local *t, unsigned n,
			       uint32_t thread, uint64_t *addr, struct ts_error *err)
{
	const struct ts_tls_object object = { .moved = t->moved, .dynamic = t->dynamic };
	struct ts_error why = { 0 };
	bool is_placed;

	if (n > 1)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' names %u thread-local variables", SHOWN(qn), n);
	if (t->is_program)
		is_placed = ts_tls_program_block(ask->q, qn->at, thread, t->block_len, t->block_align, addr, &why);
	else
		is_placed = ts_tls_block(ask->q, qn->at, thread, ts_symbols_tls_facts(ask->symbols), &object, addr, &why);
	if (!is_placed)
		return ts_fail(err, why.code == TS_EUNSUPPORTED ? TS_EUSAGE : why.code, TS_NO_OFF,
			       "'%.*s' is a thread-local variable of %s: %s", SHOWN(qn), t->file, why.text);
	*addr += t->off;
	return true;
}

static bool set_thread_local(struct ts_ask *ask, struct ts_question *qn, const struct ts_variable *v, uint32_t thread, struct ts_error *err)
{
	size_t end;

	if (!set_memory(qn, ts_query_regset(ask->q), v, err))
		return false;
	end = strlen(qn->local_note);
	snprintf(qn->local_note + end, sizeof(qn->local_note) - end, ", of thread %" PRIu64,
		 ts_query_thread_facts(ask->q, thread)->tid);
	return true;
}

/* The characters before the first of .MEMBER, ->MEMBER and [INDEX]. */
static size_t base_len(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] != '.' && text[n] != '[' && text[n] != '-')
		n++;
	return n;
}

/* Find the variable outside of functions, and the member of it, that the text names.  TS_END: no variable has that name. */
static enum ts_next use_global(struct ts_ask *ask, struct ts_question *qn, struct ts_variable_frame *frame, uint32_t thread,
			       struct ts_error *err)
{
	size_t len = base_len(qn->local, qn->local_len);
	const struct ts_thread_local *t;
	const struct ts_symbol *symbol;
	struct ts_global g = { 0 };
	struct ts_variable v;
	struct ts_meanings all;
	unsigned n;

	t = ts_symbols_thread_local(ask->symbols, qn->local, len, &n);
	symbol = t ? NULL : ts_symbols_mean(ask->symbols, qn->local, len, false, &all);
	if (!t && !symbol && all.n > 1) {
		ts_what_parse(&qn->what, qn->local, len, ts_query_regset(ask->q), ask->symbols, err);
		return TS_FAIL;
	}
	if (!t && !symbol)
		return TS_END;
	g.is_thread_local = t;
	g.off = t ? t->off : 0;
	g.addr = symbol ? symbol->addr : 0;
	if (t && !place_thread_local(ask, qn, t, n, thread, &g.addr, err))
		return TS_FAIL;
	v = (struct ts_variable){ .kind = TS_VARIABLE_MEMORY, .addr = g.addr, .len = t ? t->len : 0 };
	if (len < qn->local_len)
		ts_symbols_in_global(ask->symbols, frame, &g, qn->local, qn->local_len, &v);
	if (v.kind == TS_VARIABLE_NONE || (v.kind == TS_VARIABLE_MEMORY && !v.len))
		return TS_END;
	if (v.kind != TS_VARIABLE_MEMORY) {
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' %s (position %" PRIu64 ")", SHOWN(qn), v.why, qn->at);
		return TS_FAIL;
	}
	if (t ? set_thread_local(ask, qn, &v, thread, err) : set_memory(qn, ts_query_regset(ask->q), &v, err))
		return TS_ITEM;
	return TS_FAIL;
}

static enum ts_next use(struct ts_ask *ask, struct ts_question *qn, struct ts_variable_frame *frame, const struct ts_variable *v, uint32_t thread,
			struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(ask->q);
	enum ts_next got;

	switch (v->kind) {
	case TS_VARIABLE_MEMORY:
		if (!set_memory(qn, set, v, err))
			return TS_FAIL;
		return v->is_in_frame && !qn->verb->is_of_moment ? narrow(ask, qn, v, thread, budget, err) : TS_ITEM;
	case TS_VARIABLE_REGISTER: return set_register(qn, set, v, err) ? TS_ITEM : TS_FAIL;
	case TS_VARIABLE_NOWHERE:
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' %s (position %" PRIu64 ")", SHOWN(qn), v->why, qn->at);
		return TS_FAIL;
	case TS_VARIABLE_NONE: break;
	}
	if (qn->what.kind != TS_WHAT_NONE)
		return TS_ITEM;
	got = ask->symbols ? use_global(ask, qn, frame, thread, err) : TS_END;
	return got != TS_END ? got : refuse_unknown(ask, qn, v->why, err);
}

/*
 * Set qn->what to the place of the variable that qn->local names, if it is in scope at the question's position, and
 * qn->local_note to a sentence about it.  The position must be known.  A variable takes precedence over a symbol of the
 * same name.  A place in the function's frame belongs to the variable only during this call: the question's range is
 * narrowed to the call, except for questions about earlier positions.
 *
 * Returns TS_ITEM when qn->what is valid, TS_MORE if the budget is used up, TS_FAIL if there is neither a
 * variable nor a symbol of the name, or the variable has no place there (TS_EUSAGE), or the trace cannot be read.
 */
static enum ts_next find_local(struct ts_ask *ask, struct ts_question *qn, struct ts_budget *budget, struct ts_error *err)
{
	struct moment m = { .ask = ask, .pos = qn->at, .err = err };
	struct ts_variable_frame frame = { .reg = read_register, .mem = read_memory, .user = &m };
	struct ts_variable v = { .kind = TS_VARIABLE_NONE };
	bool has_pc;

	if (!qn->local_len)
		return TS_ITEM;
	m.thread = ts_ask_thread(ask, qn);
	if (!ts_query_pc(ask->q, m.pos, m.thread, &frame.pc, &has_pc, err))
		return TS_FAIL;
	if (has_pc && ask->symbols)
		ts_symbols_variable(ask->symbols, &frame, qn->local, qn->local_len, &v);
	if (err->code != TS_OK)
		return TS_FAIL;
	return use(ask, qn, &frame, &v, m.thread, budget, err);
}

void ts_anchors_init(struct ts_anchors *a, struct ts_ask *ask, struct ts_question *qn)
{
	*a = (struct ts_anchors){ .qn = qn, .ask = ask };
}

void ts_anchors_fini(struct ts_anchors *a)
{
	if (a->is_seeking)
		ts_seek_fini(&a->seek);
	a->is_seeking = false;
}

static uint64_t *position_of(struct ts_question *qn, unsigned kind)
{
	switch (kind) {
	case TS_ANCHOR_AT: return &qn->at;
	case TS_ANCHOR_FROM: return &qn->from;
	case TS_ANCHOR_TO: return &qn->to;
	case TS_ANCHOR_MINUS_FROM: return &qn->minus_from;
	default: return &qn->minus_to;
	}
}

/* Find the next one, if the question has it. */
static enum ts_next find_one(struct ts_anchors *a, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_anchor *anchor = &a->qn->anchors[a->at];
	uint64_t pos = TS_NO_POS;
	bool is_done;

	if (!anchor->len)
		return TS_ITEM;
	is_done = !a->is_seeking && !ts_seek_init(&a->seek, a->ask, &anchor->place, a->qn->at, err);
	a->is_seeking = true;
	if (!is_done && !ts_seek_run(&a->seek, budget, &pos, err))
		return TS_MORE;
	ts_anchors_fini(a);
	if (err->code == TS_OK && pos == TS_NO_POS)
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "there is no place '%.*s' from position %" PRIu64 "%s", (int)anchor->len, anchor->text,
			a->qn->at, a->qn->at == a->ask->n_steps ? ", the end" : "");
	if (err->code != TS_OK)
		return TS_FAIL;
	*position_of(a->qn, a->at) = pos;
	return TS_ITEM;
}

static bool is_range(const struct ts_question *qn, struct ts_error *err)
{
	if (qn->has_minus && qn->minus_from >= qn->minus_to)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the range after 'minus' is %s",
			       qn->minus_from == qn->minus_to ? "empty" : "reversed");
	if (!qn->has_range || qn->from < qn->to)
		return true;
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is %s range", (int)qn->range_len, qn->range,
		       qn->from == qn->to ? "an empty" : "a reversed");
}

enum ts_next ts_anchors_find(struct ts_anchors *a, struct ts_budget *budget, struct ts_error *err)
{
	for (; a->at < TS_N_ANCHORS; a->at++) {
		enum ts_next got = find_one(a, budget, err);

		if (got != TS_ITEM)
			return got;
	}
	return is_range(a->qn, err) ? find_local(a->ask, a->qn, budget, err) : TS_FAIL;
}

uint64_t ts_anchors_at(const struct ts_anchors *a)
{
	return a->is_seeking && a->seek.rows ? a->seek.rows->at : a->qn->at;
}

uint64_t ts_anchors_prepared(const struct ts_anchors *a)
{
	return a->is_seeking && a->seek.rows ? a->seek.rows->n_prepared : 0;
}

static enum ts_next find_ends(struct ts_ask *ask, struct ts_question *qn, struct ts_error *err)
{
	struct ts_budget budget = { UINT32_MAX };
	struct ts_anchors anchors;
	enum ts_next got;

	ts_anchors_init(&anchors, ask, qn);
	while ((got = ts_anchors_find(&anchors, &budget, err)) == TS_MORE)
		budget.left = UINT32_MAX;
	ts_anchors_fini(&anchors);
	return got;
}

bool ts_range_find(struct ts_ask *ask, const char *text, uint64_t *from, uint64_t *to, struct ts_error *err)
{
	const struct ts_argument range = { .kind = TS_ARGUMENT_WORD, .word = "in", .value = text };
	const struct ts_verb *verb = ts_verb_find("steps", strlen("steps")); /* any that takes a range, and nothing else */
	struct ts_question *qn = calloc(1, sizeof(*qn));
	bool done;

	if (!qn)
		return ts_no_memory(err, "a question");
	done = ts_question_parse_arguments(qn, ask, verb, &range, 1, err) && find_ends(ask, qn, err) == TS_ITEM;
	if (done) {
		*from = qn->from;
		*to = qn->to;
	}
	ts_question_fini(qn);
	free(qn);
	return done;
}
