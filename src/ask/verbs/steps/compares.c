/* SPDX-License-Identifier: MIT */
#include "src/ask/verbs/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/cells.h"
#include "src/ask/verbs/code_places.h"
#include "src/ask/verbs/notes.h"
#include "src/ask/grammar/number.h"
#include "src/ask/grammar/question.h"
#include "step_places.h"
#include "step_walk.h"

/* A branch that tests the flags of a comparison follows it within this many steps of its thread. */
#define MAX_DISTANCE 32u

enum column {
	COL_POSITION,
	COL_THREAD,
	COL_PC,
	COL_FUNCTION,
	COL_FILE,
	COL_LINE,
	COL_INSTRUCTION,
	COL_LEFT,
	COL_RIGHT,
	COL_TAKEN,
	COL_TARGET,
	COL_COUNT,
};

static const struct ts_column columns[] = {
	TS_PLACE_COLUMNS(COL_POSITION),
	[COL_INSTRUCTION] = { .name = "instruction", .type = TS_COLUMN_TEXT },
	[COL_LEFT] = { .name = "left", .type = TS_COLUMN_AMOUNT, .is_kept = true },
	[COL_RIGHT] = { .name = "right", .type = TS_COLUMN_AMOUNT, .is_kept = true },
	[COL_TAKEN] = { .name = "taken", .type = TS_COLUMN_NUMBER },
	[COL_TARGET] = { .name = "target", .type = TS_COLUMN_ADDR },
	[COL_COUNT] = { .name = "count", .type = TS_COLUMN_NUMBER },
};

/* A comparison and its branch. */
struct compare {
	uint64_t pos, pc;
	uint32_t thread;
	uint64_t branch; /* its position; the same if the branch compares by itself */
	char instruction[2 * TS_MAX_OP_TEXT + 4];
	char value[2][80]; /* left, right; "": not known */
	uint16_t len[2];   /* bytes of the values */
	bool is_taken, has_taken;
	bool has_target;
	uint64_t target, count;
};

struct compares {
	struct ts_rows rows;
	struct ts_step_walk walk;
	struct ts_code_places *code;   /* owned */
	struct ts_step_places *places; /* owned */
	struct ts_buf text;
	struct compare kept;           /* the row that waits: equal ones that follow are counted in it */
	bool has_kept, is_over;
	unsigned n_decoded;
	uint64_t n_unknown;            /* steps whose instruction's bytes are not known */
};

/* --------------------------------------------------------------------------------------------- which steps */

/* Is it an instruction that compares, by the first word of its text? */
static bool is_comparison(const char *text)
{
	static const char *const words[] = { "cmp", "test", "sub", "subs", "cmn", "tst", "teq", "bt", "comiss", "comisd",
					     "ucomiss", "ucomisd", "vcomiss", "vcomisd", "vucomiss", "vucomisd", "fcmp",
					     "fcmpe", "ccmp", "cmpsb", "cmpsw", "cmpsd", "cmpsq", "scasb", "scasw",
					     "scasd", "scasq" };
	size_t len = strcspn(text, " ");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i]) == len && !memcmp(words[i], text, len))
			return true;
	}
	return false;
}

/* Returns the flags that the instruction writes, or, if @is_read, on which the next address depends. */
static uint32_t flags_of(const struct ts_operands *ops, bool is_read)
{
	uint32_t flags = 0;

	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_transfer *t = &ops->transfers[i];

		if (is_read && t->to.kind == TS_AT_PC && t->from.kind == TS_AT_FLAGS)
			flags |= t->from.flags;
		if (!is_read && t->to.kind == TS_AT_FLAGS)
			flags |= t->to.flags;
	}
	return flags;
}

/* Does the branch compare registers by itself: cbz, beq a0,a1, jrcxz? */
static bool compares_itself(const struct ts_operands *ops)
{
	bool has_register = false;

	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_transfer *t = &ops->transfers[i];

		has_register |= t->to.kind == TS_AT_PC && t->from.kind == TS_AT_REG;
	}
	return ops->flow == TS_OP_BRANCH && has_register && !flags_of(ops, true);
}

/* The flags that step @pos, of instruction *d, writes: none if its condition does not hold.  Returns false as a query does. */
static bool find_written_flags(struct compares *x, uint64_t pos, struct ts_decoded **d, uint32_t *flags, struct ts_error *err)
{
	struct ts_query *q = x->rows.ask->q;
	enum ts_op_happens happens;

	*flags = (*d)->is_insn ? flags_of(&(*d)->ops, false) : 0;
	if (!*flags || (*d)->ops.condition == TS_IF_ALWAYS)
		return true;
	if (!ts_query_happens(q, pos, *d, &happens, err))
		return false;
	*d = ts_query_insn(q, pos, err); /* the question may have ended the loan */
	*flags = happens == TS_HAPPENS_NOT ? 0 : *flags;
	return *d != NULL;
}

/*
 * Set c->branch to the position of the branch that tests @flags, which step c->pos wrote.
 *
 * Returns TS_ITEM, TS_END if none is found, TS_FAIL.
 */
static enum ts_next find_branch(struct compares *x, struct compare *c, uint32_t flags, struct ts_error *err)
{
	uint64_t pos = c->pos;

	for (unsigned i = 0; i < MAX_DISTANCE && flags; i++) {
		struct ts_decoded *d;
		uint32_t written;

		pos = ts_query_next_step(x->rows.ask->q, c->thread, pos + 1);
		if (pos == TS_NO_POS || pos >= x->rows.ask->n_steps)
			return TS_END;
		d = ts_query_insn(x->rows.ask->q, pos, err);
		x->n_decoded++;
		if (!d)
			return TS_FAIL;
		if (!d->is_insn)
			return TS_END;
		if (d->ops.flow == TS_OP_BRANCH && flags_of(&d->ops, true) & flags) {
			c->branch = pos;
			return TS_ITEM;
		}
		if (!find_written_flags(x, pos, &d, &written, err))
			return TS_FAIL;
		flags &= ~written;
	}
	return TS_END;
}

/* ------------------------------------------------------------------------------------------------- values */

/*
 * Returns the transfer to flags from operand @order of the comparison, NULL if none is found.  An instruction
 * may also clear flags independent of its operands; these are fewer than the flags that depend on the
 * operands.
 */
static const struct ts_transfer *find_operand(const struct ts_operands *ops, unsigned order, bool is_branch)
{
	const struct ts_transfer *best = NULL;

	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_transfer *t = &ops->transfers[i];

		if (t->to.kind == (is_branch ? TS_AT_PC : TS_AT_FLAGS) && t->order == order &&
		    t->from.kind != TS_AT_FLAGS &&
		    (!best || __builtin_popcount(t->to.flags) > __builtin_popcount(best->to.flags)))
			best = t;
	}
	return best;
}

/* The left one (@i is 0) or the right one: subs r2, r1, #8 has its destination before both. */
static const struct ts_transfer *find_side(const struct ts_operands *ops, unsigned i, bool is_branch)
{
	for (unsigned order = 0; order < TS_MAX_TRANSFERS; order++) {
		const struct ts_transfer *t = find_operand(ops, order, is_branch);

		if (t && !i--)
			return t;
	}
	return NULL;
}

static bool put_operand(struct compares *x, struct compare *c, unsigned i, const struct ts_operands *ops,
			struct ts_error *err)
{
	const struct ts_transfer *t = find_side(ops, i, c->branch == c->pos);

	*c->value[i] = 0;
	c->len[i] = t ? t->from.len : 0;
	if (!t || ops->is_repeated)
		return true;
	ts_buf_reset(&x->text);
	if (t->from.kind == TS_AT_NOWHERE && (t->way == TS_WAY_CONSTANT || t->way == TS_WAY_PART))
		ts_put_hex(&x->text, t->constant);
	else if (!ts_step_places_value(x->places, c->pos, ops, &t->from, &x->text, err))
		return false;
	snprintf(c->value[i], sizeof(c->value[i]), "%s", ts_buf_text(&x->text));
	return true;
}

static bool put_branch(struct compares *x, struct compare *c, struct ts_error *err)
{
	struct ts_decoded *d = ts_query_insn(x->rows.ask->q, c->branch, err);
	uint64_t pc, behind;
	bool has_pc;

	if (!d)
		return false;
	c->has_target = d->ops.has_target;
	c->target = d->ops.target;
	behind = d->pc + d->ops.len;
	if (c->branch != c->pos) {
		size_t len = strlen(c->instruction);

		snprintf(c->instruction + len, sizeof(c->instruction) - len, "; %s",
			 ts_decoded_text(x->rows.ask->q, d));
	}
	if (!ts_query_pc(x->rows.ask->q, c->branch + 1, c->thread, &pc, &has_pc, err))
		return false;
	c->has_taken = has_pc;
	c->is_taken = pc != behind;
	if (!c->has_target && has_pc && c->is_taken) {
		c->has_target = true;
		c->target = pc;
	}
	return true;
}

/* Is the value equal to the number of the question?  A negative number has the length of the value. */
static bool is_equal(const struct compares *x, const struct compare *c, unsigned i)
{
	uint64_t mask = c->len[i] && c->len[i] < 8 ? (UINT64_C(1) << 8 * c->len[i]) - 1 : UINT64_MAX;
	bool is_negative = x->rows.qn->equal >> 63;
	uint64_t value;
	bool is_large;

	if (strncmp(c->value[i], "0x", 2) != 0 || !ts_number_parse(c->value[i], strlen(c->value[i]), TS_COMMAS_END, &value, &is_large))
		return false;
	if (!c->len[i] && c->len[!i] && c->len[!i] < 8 && is_negative) /* a constant is as long as the other one */
		mask = (UINT64_C(1) << 8 * c->len[!i]) - 1;
	return value == (is_negative ? x->rows.qn->equal & mask : x->rows.qn->equal);
}

static bool is_wanted(const struct compares *x, const struct compare *c)
{
	return !x->rows.qn->has_equal || is_equal(x, c, 0) || is_equal(x, c, 1);
}

/* Set the comparison of step @pos.  Returns as find_branch(); TS_END if the step is not a comparison. */
static enum ts_next take_step(struct compares *x, uint64_t pos, struct compare *c, struct ts_error *err)
{
	struct ts_decoded *d = ts_query_insn(x->rows.ask->q, pos, err);
	struct ts_operands ops;
	enum ts_next got = TS_ITEM;
	uint32_t flags;

	x->n_decoded++;
	if (!d)
		return TS_FAIL;
	x->n_unknown += !d->is_insn && !d->is_stopped;
	if (!find_written_flags(x, pos, &d, &flags, err))
		return TS_FAIL;
	if (!d->is_insn || !(compares_itself(&d->ops) || (flags && is_comparison(ts_decoded_text(x->rows.ask->q, d)))))
		return TS_END;
	c->pos = c->branch = pos;
	c->pc = d->pc;
	c->thread = ts_query_thread(x->rows.ask->q, pos);
	c->count = 1;
	ops = d->ops;
	snprintf(c->instruction, sizeof(c->instruction), "%s", ts_decoded_text(x->rows.ask->q, d));
	if (!compares_itself(&ops))
		got = find_branch(x, c, flags, err);
	if (got != TS_ITEM)
		return got;
	if (!put_operand(x, c, 0, &ops, err) || !put_operand(x, c, 1, &ops, err) || !put_branch(x, c, err))
		return TS_FAIL;
	return is_wanted(x, c) ? TS_ITEM : TS_END;
}

/* -------------------------------------------------------------------------------------------------- rows */

static bool is_same(const struct compare *a, const struct compare *b)
{
	return a->pc == b->pc && a->thread == b->thread && a->is_taken == b->is_taken &&
	       a->has_taken == b->has_taken && !strcmp(a->value[0], b->value[0]) &&
	       !strcmp(a->value[1], b->value[1]);
}

static void put_row(struct compares *x, const struct compare *c, struct ts_row *row)
{
	ts_row_number(row, COL_POSITION, c->pos);
	ts_cell_thread(row, COL_THREAD, x->rows.ask, c->thread);
	ts_row_pc(row, COL_PC, c->pc);
	ts_code_places_line(x->code, row, COL_FUNCTION, c->pc);
	ts_row_text(row, COL_INSTRUCTION, c->instruction);
	if (*c->value[0])
		ts_row_text(row, COL_LEFT, c->value[0]);
	if (*c->value[1])
		ts_row_text(row, COL_RIGHT, c->value[1]);
	if (c->has_taken)
		ts_row_number(row, COL_TAKEN, c->is_taken);
	if (c->has_target)
		ts_row_addr(row, COL_TARGET, c->target);
	ts_row_number(row, COL_COUNT, c->count);
}

static enum ts_next end(struct compares *x, struct ts_row *row)
{
	bool is_undecoded;

	x->is_over = true;
	if (x->has_kept) {
		x->has_kept = false;
		put_row(x, &x->kept, row);
		return TS_ITEM;
	}
	is_undecoded = ts_note_undecoded(&x->rows, "their comparisons are not known");
	if (!is_undecoded && x->n_unknown)
		snprintf(x->rows.note, sizeof(x->rows.note),
			 "of %" PRIu64 " steps the instruction is not known: they may have compared; --exec or --image may have their bytes",
			 x->n_unknown);
	x->rows.is_cut |= x->n_unknown || is_undecoded;
	return TS_END;
}

/* Add a comparison to the pending row, or complete that row.  Returns true if @row was filled. */
static bool fold(struct compares *x, const struct compare *c, struct ts_row *row)
{
	bool has_row = x->has_kept && !is_same(&x->kept, c);

	if (x->has_kept && !has_row) {
		x->kept.count++;
		return false;
	}
	if (has_row)
		put_row(x, &x->kept, row);
	x->kept = *c;
	x->has_kept = true;
	return has_row;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	struct compares *x = (struct compares *)rows;
	struct compare c;
	uint64_t pos;

	while (!x->is_over && ts_query_has_operands(x->rows.ask->q)) {
		enum ts_next got;

		if (x->n_decoded >= TS_CHUNK_STEPS) {
			x->n_decoded = 0;
			if (!ts_budget_take(budget))
				return TS_MORE;
		}
		got = ts_step_walk_next(&x->walk, &pos, budget, err);
		if (got == TS_MORE)
			return got;
		if (got == TS_END)
			break;
		got = take_step(x, pos, &c, err);
		if (got == TS_FAIL || (got == TS_ITEM && fold(x, &c, row)))
			return got;
	}
	return x->is_over ? TS_END : end(x, row);
}

static void close_compares(struct ts_rows *rows)
{
	struct compares *x = (struct compares *)rows;

	ts_step_walk_fini(&x->walk);
	ts_code_places_free(x->code);
	ts_step_places_free(x->places);
	ts_buf_fini(&x->text);
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct compares *x = (struct compares *)rows;

	rows->at = rows->qn->from;
	ts_buf_init(&x->text);
	if (!ts_step_walk_init(&x->walk, rows, err))
		return false;
	x->code = ts_code_places_new(rows->ask, err);
	x->places = x->code ? ts_step_places_new(rows->ask->q, err) : NULL;
	return x->places;
}

static const struct ts_rows_ops ops = { sizeof(struct compares), begin, next, close_compares };

const struct ts_verb ts_verb_compares = {
	.name = "compares",
	.synopsis = "[WHAT] [== N]",
	.help = "List the comparisons that decided a branch, with both values: of code in WHAT, or with N.",
	.example = "compares first 10",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_CODE_OR_NONE,
	.takes = TS_TAKES_MACHINE | TS_TAKES_RANGE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_EQUAL,
	.rows = &ops,
};
