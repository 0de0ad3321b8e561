/* SPDX-License-Identifier: MIT */
/*
 * The index names the chunks that may access WHAT.  Each is decoded, its accesses are listed (hits.h), and become rows with the
 * values before and after.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/cells.h"
#include "hits.h"
#include "src/ask/verbs/steps/reg_values.h"
#include "src/ask/calls/ifunc.h"
#include "src/query/code/insn_reads.h"
#include "src/query/code/insns.h"
#include "src/query/paging.h"
#include "src/ask/grammar/machine.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"
#include "src/ask/verb.h"
#include "src/ask/verbs/notes.h"

/* A WHAT of at most this many bytes is shown as a whole in each row. */
#define MAX_WHOLE 16u

/* The number of bytes of a longer value that are read for a cell: one more than it shows. */
#define MAX_SHOWN (TS_SHOWN_BYTES + 1)

/* The number of runs of instructions that are decoded for one unit of the budget. */
#define RUNS_A_BUDGET 4u

#define CHANGES (1u << TS_HIT_WRITE | 1u << TS_HIT_MAP | 1u << TS_HIT_UNEXPLAINED)

/* The arg of the verbs of this file. */
enum kind {
	HISTORY,
	ACCESSES,
	WRITE,
	READ,
	ACCESS,
	CHANGE,
	EXEC,
	NEAREST = 7,  /* mask of the above */
	IS_LAST = 8,
	IS_NEXT = 16,
};

enum {
	POSITION,
	THREAD,
	PC,
	FUNCTION,
	FILE_NAME,
	LINE,
	KIND,
	ADDRESS,
	LENGTH,
	OLD,
	NEW,
};

static const struct ts_column columns[] = {
	TS_PLACE_COLUMNS(POSITION),
	[KIND] = { .name = "kind", .type = TS_COLUMN_TEXT },
	[ADDRESS] = { .name = "address", .type = TS_COLUMN_ADDR },
	[LENGTH] = { .name = "length", .type = TS_COLUMN_NUMBER },
	[OLD] = { .name = "old", .type = TS_COLUMN_VALUE, .is_kept = true },
	[NEW] = { .name = "new", .type = TS_COLUMN_VALUE, .is_kept = true },
};

static const char *const kind_names[] = {
	[TS_HIT_READ] = "read", [TS_HIT_WRITE] = "write", [TS_HIT_EXEC] = "exec",
	[TS_HIT_MAP] = "map",	[TS_HIT_UNEXPLAINED] = "unexplained",
};

struct accesses {
	struct ts_rows rows;
	struct ts_hits hits;
	struct ts_what what;   /* in the form that effects have: of a machine, physical addresses */
	struct ts_what code;   /* while it is an indirect function, the executions are not those of the function that runs */
	uint64_t moved;        /* the difference between the address of the question and this one */
	size_t at;             /* the next hit, in the direction of the cursor */
	bool is_last, is_next; /* only the rows of one step are wanted */
	uint64_t step;         /* of is_last and is_next: the step that was found; TS_NO_POS: none yet */
	uint64_t chunk;        /* the next chunk to search; TS_NO_CHUNK: none */
	uint64_t from, to;     /* positions */
	uint64_t n_rows;
	uint8_t *old, *new;    /* owned; values, then known flags; for a register, those of all registers */
	size_t room;           /* the number of bytes for values in each of the two */
	size_t max_value;      /* the maximum number of bytes that are read of a part of WHAT */
};

/* ------------------------------------------------------------------------------------------------ values */

/* A value of the row that is being made. */
struct value {
	const uint8_t *data, *known;
	size_t len;
};

/* Read WHAT, or the part of it that the hit is about, as it is at a position. */
static bool read_state(struct accesses *a, uint64_t pos, const struct ts_hit *hit, uint8_t *to,
		       struct value *value, struct ts_error *err)
{
	const struct ts_what *what = &a->rows.qn->what;

	if (what->kind == TS_WHAT_MEM) {
		value->len = hit->last - hit->first < a->max_value ? (size_t)(hit->last - hit->first) + 1 : a->max_value;
		value->data = to;
		value->known = to + a->room;
		return ts_query_mem(a->rows.ask->q, pos, a->hits.process, hit->first, value->len, to, to + a->room,
				    err);
	}
	value->len = what->len;
	value->data = to + what->off;
	value->known = to + a->room + what->off;
	if (!ts_hits_read_register(&a->hits, pos, to, to + a->room, err))
		return false;
	if (what->is_flag)
		to[what->off] = to[what->off] >> what->bit & 1;
	return true;
}

/* Use the values that the hit has. */
static void take_values(struct accesses *a, const struct ts_hit *hit, struct value *old, struct value *new)
{
	const struct ts_what *what = &a->rows.qn->what;
	size_t len = what->kind == TS_WHAT_MEM ? (size_t)(hit->last - hit->first) + 1 : what->len;
	const uint8_t *values = a->hits.bytes.data + hit->values;

	memcpy(a->old, values, len);
	memcpy(a->new, values + len, len);
	memset(a->old + a->room, 1, len);
	if (what->is_flag) {
		a->old[0] = a->old[0] >> what->bit & 1;
		a->new[0] = a->new[0] >> what->bit & 1;
	}
	*old = (struct value){ a->old, a->old + a->room, len };
	*new = (struct value){ a->new, a->old + a->room, len };
}

static bool is_same(const struct value *x, const struct value *y)
{
	return !memchr(x->known, 0, x->len) && !memchr(y->known, 0, y->len) &&
	       !memcmp(x->data, y->data, x->len);
}

/*
 * Does a byte of @y differ from @x, or (@is_memory: a gap may have changed it) is it known only in @y?
 */
static bool is_contradiction(const struct value *x, const struct value *y, bool is_memory)
{
	for (size_t i = 0; i < x->len; i++) {
		if (y->known[i] && (x->known[i] ? x->data[i] != y->data[i] : is_memory))
			return true;
	}
	return false;
}

/* Do the values of the hit make it a row? */
static bool is_row(const struct accesses *a, const struct ts_hit *hit, const struct value *old,
		   const struct value *new)
{
	bool is_whole = new->len == hit->last - hit->first + 1 || a->rows.qn->what.kind == TS_WHAT_REG;

	switch (hit->kind) {
	case TS_HIT_UNEXPLAINED:
		if (is_whole && hit->is_maybe && !is_contradiction(old, new, a->rows.qn->what.kind == TS_WHAT_MEM))
			return false;
		break;
	case TS_HIT_MAP:
		if (is_whole && is_same(old, new))
			return false;
		break;
	case TS_HIT_WRITE:
		if (is_whole && a->hits.only_changes && is_same(old, new))
			return false;
		break;
	case TS_HIT_READ:
	case TS_HIT_EXEC:
		break;
	}
	if (!a->rows.qn->cond.n)
		return true;
	if (!is_whole || (a->rows.qn->what.kind == TS_WHAT_MEM && (new->len & (new->len - 1) || new->len > 8)))
		return false;
	return ts_value_holds(a->rows.ask, &a->rows.qn->cond, new->data, new->known, new->len, a->rows.qn->what.is_flag);
}

static void put_value(const struct accesses *a, struct ts_row *row, unsigned i, const struct ts_hit *hit,
		      const struct value *value)
{
	bool is_big = ts_query_regset(a->rows.ask->q)->arch->is_big_endian;
	uint64_t len = hit->last - hit->first + 1;
	bool is_number = a->rows.qn->what.kind == TS_WHAT_REG || len == 1 || len == 2 || len == 4 || len == 8;

	ts_row_value(row, i, value->data, value->known, value->len, is_number, is_big);
}

/* ------------------------------------------------------------------------------------------------- rows */

static bool put_step(const struct accesses *a, struct ts_row *row, const struct ts_hit *hit, struct ts_error *err)
{
	uint16_t len = 0;

	ts_row_number(row, POSITION, hit->pos);
	ts_row_pc(row, PC, hit->pc);
	ts_row_text(row, KIND, kind_names[hit->kind]);
	if (a->rows.is_bare)
		return true;
	ts_cell_thread(row, THREAD, a->rows.ask, hit->thread);
	ts_cell_function(row, FUNCTION, a->rows.ask, hit->pc);
	ts_cell_line(row, FILE_NAME, a->rows.ask, hit->pc);
	if (a->rows.qn->what.kind == TS_WHAT_MEM)
		ts_cell_addr(row, ADDRESS, hit->kind == TS_HIT_EXEC ? hit->first : hit->first + a->moved, a->rows.qn->what.is_physical);
	if (hit->kind != TS_HIT_EXEC)
		ts_row_number(row, LENGTH, hit->last - hit->first + 1);
	else if (!ts_query_insn_len(a->rows.ask->q, hit->pos, hit->insn_len, &len, err))
		return false;
	if (len)
		ts_row_number(row, LENGTH, len);
	return true;
}

/*
 * The value that a read saw: the one that the recording has, otherwise the known bytes of memory before the step.
 */
static bool read_seen(struct accesses *a, const struct ts_hit *hit, struct value *value, struct ts_error *err)
{
	const uint8_t *seen = a->hits.bytes.data + hit->seen;
	size_t len = (size_t)(hit->last - hit->first) + 1;

	if (!read_state(a, hit->pos, hit, a->old, value, err))
		return false;
	for (size_t i = 0; i < value->len; i++) {
		if (!seen[len + i])
			continue;
		a->old[i] = seen[i];
		a->old[a->room + i] = 1;
	}
	return true;
}

/* Is the hit a row whatever its values are, and are these not shown? */
static bool is_without_values(const struct accesses *a, const struct ts_hit *hit)
{
	if (hit->kind == TS_HIT_EXEC)
		return true;
	return a->rows.is_bare && !a->rows.qn->cond.n &&
	       (hit->kind == TS_HIT_READ || (hit->kind == TS_HIT_WRITE && !a->hits.only_changes));
}

/* Do the values decide whether the hit is a row?  Then all of their bytes must be read. */
static bool is_compared(const struct accesses *a, const struct ts_hit *hit)
{
	return hit->kind == TS_HIT_MAP || hit->kind == TS_HIT_UNEXPLAINED || a->hits.only_changes;
}

/* Fill @row with the hit.  *has_row is false if its values show that it is no row. */
static bool put_row(struct accesses *a, struct ts_row *row, const struct ts_hit *hit, bool *has_row,
		    struct ts_error *err)
{
	struct value old, new;

	*has_row = true;
	a->max_value = row->keeps_bytes || is_compared(a, hit) ? a->room : MAX_SHOWN;
	if (is_without_values(a, hit)) {
		*has_row = !a->rows.qn->cond.n;
	} else if (hit->kind == TS_HIT_READ) {
		if (!read_seen(a, hit, &new, err))
			return false;
		old = new;
		*has_row = is_row(a, hit, &old, &new);
	} else if (hit->has_values) {
		take_values(a, hit, &old, &new);
		*has_row = is_row(a, hit, &old, &new);
	} else {
		if (!read_state(a, hit->pos, hit, a->old, &old, err) ||
		    !read_state(a, hit->pos + 1, hit, a->new, &new, err))
			return false;
		*has_row = is_row(a, hit, &old, &new);
	}
	if (!*has_row)
		return true;
	if (!put_step(a, row, hit, err))
		return false;
	if (hit->kind != TS_HIT_EXEC && !a->rows.is_bare) {
		put_value(a, row, OLD, hit, &old);
		put_value(a, row, NEW, hit, &new);
	}
	return true;
}

/* The destination of -go: as for a watchpoint, after the step forwards, before it backwards. */
static void set_go(struct accesses *a, uint64_t pos)
{
	bool is_exec = (a->rows.qn->verb->arg & NEAREST) == EXEC;

	if (a->rows.qn->goes)
		a->rows.go = a->is_next && !is_exec ? pos + 1 : pos;
}

/* -------------------------------------------------------------------------------------------- the cursor */

/* Is the search backward, because rows are reversed, or because the question is about the last access? */
static bool is_backward(const struct accesses *a)
{
	return a->rows.is_reverse || a->is_last;
}

/*
 * Decode the runs of instructions, if the search needs them.  Returns false and sets *got if the budget is used up, or on
 * failure.
 */
static bool need_runs(struct accesses *a, struct ts_budget *budget, enum ts_next *got, struct ts_error *err)
{
	while (ts_reg_chunks_want_runs(&a->hits.reg_chunks, a->rows.ask->q)) {
		enum ts_next need = ts_query_need_write_runs(a->rows.ask->q, RUNS_A_BUDGET, err);

		if (need == TS_END) {
			a->hits.reg_chunks.is_ready = true;
		} else if (need == TS_FAIL || !ts_budget_take(budget)) {
			*got = need;
			return false;
		}
	}
	return true;
}

/* Can a row of the chunk satisfy the condition? */
static bool may_have_rows(struct accesses *a, uint64_t chunk, bool *may, struct ts_error *err)
{
	const struct ts_what *what = &a->rows.qn->what;

	*may = true;
	if (!a->rows.qn->cond.n || what->kind != TS_WHAT_REG || what->is_pc)
		return true;
	return ts_reg_values_may_hold(a->rows.ask, &a->rows.qn->cond, what, a->hits.thread, chunk, a->old, may, err);
}

/*
 * List the hits of the next chunk, or of earlier steps of the last one.  Returns false and sets *got if none is found, if the
 * budget is used up, or on failure.
 */
static bool next_chunk(struct accesses *a, struct ts_budget *budget, enum ts_next *got, struct ts_error *err)
{
	bool is_back = is_backward(a), has_more = ts_hits_have_more(&a->hits), may;
	uint64_t from = has_more ? a->hits.taken_start / TS_CHUNK_STEPS : a->chunk, chunk;

	*got = TS_END;
	if (from == TS_NO_CHUNK || !need_runs(a, budget, got, err))
		return false;
	a->hits.is_late_first = is_back && !a->n_rows;
	chunk = ts_hits_find_chunk(&a->hits, from, is_back);
	/* an unexplained change of a chunk's first step is the row of the step before */
	if (chunk == TS_NO_CHUNK || (is_back ? (chunk + 1) * TS_CHUNK_STEPS <= a->from
					     : chunk * TS_CHUNK_STEPS > a->to))
		return false;
	if (has_more && chunk == from) {
		*got = TS_FAIL;
		a->at = 0;
		return ts_hits_take_more(&a->hits, err);
	}
	*got = TS_MORE;
	if (!ts_budget_take(budget))
		return false;
	*got = TS_FAIL;
	if (!may_have_rows(a, chunk, &may, err))
		return false;
	ts_hits_drop(&a->hits);
	a->at = 0;
	if (may && !ts_hits_take(&a->hits, chunk, err))
		return false;
	a->chunk = !is_back ? chunk + 1 : chunk ? chunk - 1 : TS_NO_CHUNK;
	a->rows.at = chunk * TS_CHUNK_STEPS;
	return true;
}

static bool is_wanted(const struct accesses *a, const struct ts_hit *hit)
{
	if (hit->pos < a->from || hit->pos >= a->to)
		return false;
	return a->rows.qn->thread == TS_NO_THREAD || hit->thread == a->rows.qn->thread ||
	       a->rows.qn->what.kind == TS_WHAT_REG;
}

/* The next hit of the chunk in the direction of the search; NULL after the last one. */
static const struct ts_hit *next_hit(struct accesses *a)
{
	size_t i = a->at;

	if (i >= a->hits.n)
		return NULL;
	a->at++;
	if (!is_backward(a))
		return &a->hits.items[i];
	return &a->hits.items[a->hits.n - 1 - i];
}

/* Reverse the order of the hits of each step, so that a backward search returns them in order. */
static void turn_step(struct accesses *a)
{
	struct ts_hit *items = a->hits.items;
	size_t n = a->hits.n;

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && items[end].pos == items[i].pos;)
			end++;
		for (size_t x = i, y = end - 1; x < y; x++, y--) {
			struct ts_hit hit = items[x];

			items[x] = items[y];
			items[y] = hit;
		}
	}
}

/* A condition never holds for a value whose length is not that of a number: say so in the note. */
static bool note_not_compared(struct accesses *a)
{
	const struct ts_what *what = &a->rows.qn->what;
	uint64_t len = what->kind == TS_WHAT_MEM ? what->last - what->addr + 1 : what->len;

	if (!a->rows.qn->cond.n || !a->hits.is_whole || len == 1 || len == 2 || len == 4 || len == 8)
		return false;
	snprintf(a->rows.note, sizeof(a->rows.note),
		 "value is compared where it has 1, 2, 4 or 8 bytes, and here it has %" PRIu64, len);
	return true;
}

/* May WHAT have changed without an access that is a row: by a system call that the format does not record, or in a gap? */
static bool may_change_unseen(const struct accesses *a)
{
	const struct ts_query *q = a->rows.ask->q;

	return (a->rows.qn->verb->arg & NEAREST) == ACCESSES && a->hits.kinds & 1u << TS_HIT_WRITE &&
	       (!ts_query_facts(q)->has_syscalls || ts_query_n_events(q, TS_EV_GAP));
}

/* If the question covers the whole recording and has no rows, say why in the note. */
static void note_none(struct accesses *a)
{
	const struct ts_question *qn = a->rows.qn;
	bool is_exec = a->hits.kinds == 1u << TS_HIT_EXEC;

	if (note_not_compared(a))
		return;
	if (a->n_rows || *a->rows.note || qn->cond.n || qn->thread != TS_NO_THREAD || a->from ||
	    a->to < a->rows.ask->n_steps || a->rows.ask->is_reading)
		return;
	if (ts_note_unmapped(a->rows.ask->q, &qn->what, a->hits.process, a->rows.note, sizeof(a->rows.note)))
		return;
	snprintf(a->rows.note, sizeof(a->rows.note), "never %s in this recording%s",
		 is_exec			    ? "executed" :
		 a->hits.kinds == 1u << TS_HIT_READ ? "read" :
		 a->hits.only_changes		    ? "changed" :
		 a->hits.kinds & 1u << TS_HIT_READ  ? "accessed" :
						      "written",
		 is_exec && ts_query_n_events(a->rows.ask->q, TS_EV_GAP) ? ", which has gaps: what ran there is not recorded" :
		 may_change_unseen(a) ? " by an instruction; history also has changes that no recorded instruction made" :
					"");
}

static enum ts_next next_row(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			     struct ts_error *err)
{
	struct accesses *a = (struct accesses *)rows;
	const struct ts_hit *hit;
	enum ts_next got;
	bool has_row;

	for (;;) {
		hit = next_hit(a);
		if (!hit && a->step != TS_NO_POS)
			return TS_END;
		if (!hit) {
			if (!next_chunk(a, budget, &got, err))
				return got;
			if (a->is_last && !rows->is_reverse)
				turn_step(a);
			continue;
		}
		if (a->step != TS_NO_POS && hit->pos != a->step)
			return TS_END;
		if (!is_wanted(a, hit))
			continue;
		if (!put_row(a, row, hit, &has_row, err))
			return TS_FAIL;
		if (!has_row)
			continue;
		if (a->is_last || a->is_next) {
			a->step = hit->pos;
			set_go(a, hit->pos);
		}
		rows->at = hit->pos;
		return TS_ITEM;
	}
}

/* The answer is incomplete: some steps may have read WHAT, and their reads cannot be derived. */
static void note_open(struct accesses *a)
{
	const struct ts_query *q = a->rows.ask->q;

	a->rows.is_cut = true;
	snprintf(a->rows.note, sizeof(a->rows.note),
		 "%s not recorded in this %s recording; of some steps the code or the address is not known: they "
		 "may have read it", ts_query_lacking_reads(q), ts_query_facts(q)->format);
}

/* A function is executed where its first instruction is. */
static bool is_entry(const struct ts_question *qn)
{
	return qn->what.is_function && (qn->verb->arg & NEAREST) == EXEC;
}

/* The executions of an indirect function are those of the function that runs. */
static enum ts_next resolve(struct accesses *a, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = ts_ifunc_resolve(&a->rows, &a->code, budget, err);

	if (got != TS_ITEM)
		return got;
	a->hits.exec_first = a->code.addr;
	a->hits.exec_last = is_entry(a->rows.qn) ? a->code.addr : a->code.last;
	return TS_ITEM;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct accesses *a = (struct accesses *)rows;
	enum ts_next got = a->code.is_indirect ? resolve(a, budget, err) : TS_ITEM;

	if (got == TS_ITEM)
		got = next_row(rows, row, budget, err);

	a->n_rows += got == TS_ITEM;
	if (got == TS_END)
		note_none(a);
	if (got == TS_END && a->hits.infers_reads && a->hits.is_open)
		note_open(a);
	return got;
}

static void close_accesses(struct ts_rows *rows)
{
	struct accesses *a = (struct accesses *)rows;

	ts_hits_fini(&a->hits);
	free(a->old);
	free(a->new);
}

/* ---------------------------------------------------------------------------------------------- opening */

/* Set the kinds of hits that the verb lists. */
static void set_kinds(struct accesses *a)
{
	const struct ts_question *qn = a->rows.qn;
	unsigned verb = qn->verb->arg & NEAREST;
	uint64_t len = qn->what.last - qn->what.addr;

	a->hits.only_changes = qn->only_changes || verb == CHANGE;
	if (verb == HISTORY || verb == WRITE || verb == CHANGE || qn->what.kind == TS_WHAT_REG) {
		a->hits.kinds = CHANGES;
		a->hits.is_whole = qn->what.kind == TS_WHAT_REG || len < MAX_WHOLE;
		return;
	}
	if (verb == READ || verb == ACCESS || verb == EXEC)
		a->hits.kinds = verb == READ ? 1u << TS_HIT_READ :
				verb == EXEC ? 1u << TS_HIT_EXEC :
					       1u << TS_HIT_READ | 1u << TS_HIT_WRITE;
	else if (!qn->accesses)
		a->hits.kinds = 1u << TS_HIT_READ | 1u << TS_HIT_WRITE;
	if (qn->accesses & TS_DID_READ)
		a->hits.kinds |= 1u << TS_HIT_READ;
	if (qn->accesses & TS_DID_WRITE)
		a->hits.kinds |= 1u << TS_HIT_WRITE;
	if (qn->accesses & TS_DID_EXEC)
		a->hits.kinds |= 1u << TS_HIT_EXEC;
}

static void set_positions(struct accesses *a)
{
	const struct ts_question *qn = a->rows.qn;
	uint64_t n = a->rows.ask->n_steps, at = qn->at;

	a->from = qn->from;
	a->to = qn->to < n ? qn->to : n;
	if (a->is_last && at < a->to)
		a->to = at;
	if (a->is_next && (qn->verb->arg & NEAREST) == EXEC)
		at++;
	if (a->is_next && at > a->from)
		a->from = at;
	a->rows.at = is_backward(a) ? a->to : a->from;
	a->hits.end = a->to + 1; /* the step at a->to shows what the one before it changed */
	a->chunk = TS_NO_CHUNK;
	if (a->from < a->to)
		/* a chunk further, for a change that shows in its first step */
		a->chunk = is_backward(a) ? a->to / TS_CHUNK_STEPS : a->from / TS_CHUNK_STEPS;
}

/* Translate WHAT to the form that effects have: of a machine, physical addresses. */
static bool translate(struct accesses *a, bool *is_mapped, struct ts_error *err)
{
	const struct ts_what *what = &a->rows.qn->what;
	bool is_virtual = what->kind == TS_WHAT_MEM && !what->is_physical && ts_paging_is_known(a->rows.ask->q);
	size_t len;

	if (!ts_machine_what(a->rows.ask->q, &a->rows.qn->machine, a->rows.qn->at, a->hits.process, what, &a->what, is_mapped,
			     a->rows.note, sizeof(a->rows.note), err))
		return false;
	if (!is_virtual || !*is_mapped)
		return true;
	a->moved = what->addr - a->what.addr;
	len = strlen(a->rows.note);
	if (a->hits.kinds >> TS_HIT_READ & 1 && ts_query_infers_reads(a->rows.ask->q))
		snprintf(a->rows.note + len, sizeof(a->rows.note) - len,
			 "; reads are not recorded: these are those of the instructions' operands");
	return true;
}

static bool check(const struct ts_question *qn, struct ts_error *err)
{
	unsigned verb = qn->verb->arg & NEAREST;

	if (qn->what.kind == TS_WHAT_REG &&
	    (verb == READ || verb == ACCESS || verb == EXEC || verb == ACCESSES))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%s' is about memory, and a register is asked for",
			       qn->verb->name);
	if (qn->what.is_physical && (verb == EXEC || qn->accesses & TS_DID_EXEC))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "instructions are executed at virtual addresses, and a physical one is asked for");
	return true;
}

static void set_note(struct accesses *a)
{
	const struct ts_query *q = a->rows.ask->q;
	const char *lacking = ts_query_lacking_reads(q);

	if (!(a->hits.kinds >> TS_HIT_READ & 1) || !*lacking)
		return;
	a->rows.is_cut = !ts_query_infers_reads(q);
	snprintf(a->rows.note, sizeof(a->rows.note), "%s not recorded in this %s recording%s", lacking, ts_query_facts(q)->format,
		 a->rows.is_cut ? "" : ": these are those of the instructions' operands");
}

/* One byte more than a value is shown with, so that a longer one is seen to be cut. */
static size_t room_of(const struct accesses *a)
{
	const struct ts_what *what = &a->rows.qn->what;

	if (what->kind == TS_WHAT_REG)
		return ts_query_regset(a->rows.ask->q)->g_len;
	if (what->last - what->addr >= TS_MAX_VALUE_BYTES)
		return TS_MAX_VALUE_BYTES + 1;
	return what->last - what->addr < MAX_SHOWN ? MAX_SHOWN : (size_t)(what->last - what->addr) + 1;
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct accesses *a = (struct accesses *)rows;
	const struct ts_question *qn = rows->qn;
	bool is_mapped;

	if (!check(qn, err))
		return false;
	a->step = TS_NO_POS;
	a->is_last = qn->verb->arg & IS_LAST;
	a->is_next = qn->verb->arg & IS_NEXT;
	a->hits.q = rows->ask->q;
	a->hits.what = &a->what;
	a->hits.exec_first = qn->what.addr;
	a->hits.exec_last = is_entry(qn) ? qn->what.addr : qn->what.last;
	a->hits.process = ts_ask_process(rows->ask, qn);
	a->hits.thread = ts_ask_thread(rows->ask, qn);
	a->room = room_of(a);
	a->old = malloc(2 * a->room);
	a->new = malloc(2 * a->room);
	set_kinds(a);
	a->code = qn->what;
	a->code.is_indirect &= a->hits.kinds == 1u << TS_HIT_EXEC;
	set_positions(a);
	set_note(a);
	if (!translate(a, &is_mapped, err) || !ts_hits_init(&a->hits, err) || !a->old || !a->new)
		return ts_no_memory(err, "a question");
	if (!is_mapped && a->hits.kinds != 1u << TS_HIT_EXEC)
		a->chunk = TS_NO_CHUNK;
	return true;
}

static const struct ts_rows_ops ops = { sizeof(struct accesses), begin, next, close_accesses };

#define ACCESS_VERB(verb_name, verb_arg, ask_help, ask_example)                                            \
	.name = (verb_name), .synopsis = "WHAT", .help = (ask_help), .example = (ask_example), .arg = (verb_arg), \
	TS_COLUMNS(columns), .operand = TS_OPERAND_WHAT,       \
	.rows = &ops
#define TAKES (TS_TAKES_PHYSICAL | TS_TAKES_RANGE | TS_TAKES_COND | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_CHANGES)

const struct ts_verb ts_verb_history = {
	ACCESS_VERB("history", HISTORY, "List what wrote a register or memory, and its values.",
		    "history $pc first 5"),
	.takes = TAKES | TS_TAKES_MACHINE,
	.is_reversible = true,
};

const struct ts_verb ts_verb_accesses = {
	ACCESS_VERB("accesses", ACCESSES, "List what read, wrote or executed memory.",
		    "accesses 0x401000,8 rw first 5"),
	.takes = TAKES | TS_TAKES_MACHINE | TS_TAKES_KINDS,
	.is_reversible = true,
};

#define LAST(id, kind, what)                                                                                        \
	const struct ts_verb ts_verb_last_##id = {                                                                  \
		ACCESS_VERB("last-" #id, (kind) | IS_LAST, "Show what " what " last before the position.",          \
			    "last-" #id " 0x401000"),                                                               \
		.takes = TAKES | TS_TAKES_GO,                                                                       \
		.is_of_moment = true,                                                                               \
	}
#define NEXT(id, kind, what)                                                                                        \
	const struct ts_verb ts_verb_next_##id = {                                                                  \
		ACCESS_VERB("next-" #id, (kind) | IS_NEXT, "Show what " what " next, from the position on.",        \
			    "next-" #id " 0x401000"),                                                               \
		.takes = TAKES | TS_TAKES_GO,                                                                       \
		.is_forward = true,                                                                                 \
	}

LAST(write, WRITE, "wrote a register or memory");
LAST(read, READ, "read memory");
LAST(access, ACCESS, "read or wrote memory");
LAST(change, CHANGE, "changed a register or memory");
LAST(exec, EXEC, "executed an instruction in memory");
NEXT(write, WRITE, "writes a register or memory");
NEXT(read, READ, "reads memory");
NEXT(access, ACCESS, "reads or writes memory");
NEXT(change, CHANGE, "changes a register or memory");
NEXT(exec, EXEC, "executes an instruction in memory");
