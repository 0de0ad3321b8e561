/* SPDX-License-Identifier: MIT */
#include "src/ask/verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/cells.h"
#include "src/ask/verbs/code_places.h"
#include "src/ask/grammar/question.h"
#include "src/query/paging.h"
#include "step_places.h"
#include "step_walk.h"

enum column {
	COL_POSITION,
	COL_THREAD,
	COL_PC,
	COL_MODULE,
	COL_OFFSET,
	COL_FUNCTION,
	COL_FILE,
	COL_LINE,
	COL_LENGTH,
	COL_BYTES,
	COL_INSTRUCTION,
	COL_READS,
	COL_WRITES,
};

static const struct ts_column columns[] = {
	[COL_POSITION] = { .name = "position", .type = TS_COLUMN_NUMBER },
	[COL_THREAD] = { .name = "thread", .type = TS_COLUMN_NUMBER },
	TS_CODE_COLUMNS(COL_PC),
	[COL_LENGTH] = { .name = "length", .type = TS_COLUMN_NUMBER },
	[COL_BYTES] = { .name = "bytes", .type = TS_COLUMN_TEXT },
	[COL_INSTRUCTION] = { .name = "instruction", .type = TS_COLUMN_TEXT },
	[COL_READS] = { .name = "reads", .type = TS_COLUMN_LIST },
	[COL_WRITES] = { .name = "writes", .type = TS_COLUMN_LIST },
};

struct steps {
	struct ts_rows rows;
	struct ts_step_walk walk;
	struct ts_code_places *code;   /* owned */
	struct ts_step_places *places; /* owned */
	uint64_t n_rows;               /* with values, so far */
};

static bool is_wanted(const struct steps *x, unsigned column)
{
	return !(x->rows.unwanted >> column & 1);
}

/* The number of rows after which the whole chunk is decoded. */
#define FEW_ROWS 4u

/* Limit on the shown bytes of an instruction.  No processor has longer ones. */
#define MAX_CODE 32u

/*
 * The length of a step's instruction.  One inferred from the next step's address is not used: only the code
 * determines it.
 */
static size_t length_of(const struct steps *x, const struct ts_decoded *d, unsigned recorded)
{
	if (recorded && !(ts_query_facts(x->rows.ask->q)->guesses_lengths && ts_query_has_operands(x->rows.ask->q)))
		return recorded;
	return d->is_insn || d->is_stopped ? d->ops.len : 0;
}

/* The length of the instruction, and its bytes as far as they are known. */
static bool put_code(struct steps *x, uint64_t pos, const struct ts_decoded *d, unsigned recorded_len,
		     struct ts_row *row, struct ts_error *err)
{
	size_t len = length_of(x, d, recorded_len), n = len < MAX_CODE ? len : MAX_CODE;
	uint8_t code[MAX_CODE], known[MAX_CODE];

	if (!len)
		return true;
	memset(known, 1, n);
	if (n <= d->len)
		memcpy(code, d->bytes, n);
	else if (!ts_virtual_mem(x->rows.ask->q, pos, d->process, d->pc, n, code, known, err))
		return false;
	ts_row_number(row, COL_LENGTH, len);
	ts_row_value(row, COL_BYTES, code, known, n, false, false);
	return true;
}

static bool put_instruction(struct steps *x, uint64_t pos, unsigned len, struct ts_decoded *d, struct ts_row *row,
			    struct ts_error *err)
{
	if (!put_code(x, pos, d, len, row, err))
		return false;
	if (is_wanted(x, COL_INSTRUCTION) && *ts_decoded_text(x->rows.ask->q, d))
		ts_row_text(row, COL_INSTRUCTION, ts_decoded_text(x->rows.ask->q, d));
	return true;
}

#define CODE_COLUMNS                                                                                                \
	(1u << COL_LENGTH | 1u << COL_BYTES | 1u << COL_INSTRUCTION | 1u << COL_READS | 1u << COL_WRITES)
#define NAME_COLUMNS   (1u << COL_FUNCTION | 1u << COL_FILE | 1u << COL_LINE)
#define MODULE_COLUMNS (1u << COL_MODULE | 1u << COL_OFFSET)

/* Bits of an id, the lowest first: the instruction's serial number, its recorded length, and the module's number. */
#define SERIAL_BITS 40u
#define LENGTH_BITS 8u
#define MODULE_BITS (64 - SERIAL_BITS - LENGTH_BITS)

/*
 * The cells from the pc to the instruction's text are the same for the same decoded instruction in the same module: their
 * id, 0 if none is found or not all bytes are known.
 */
static uint64_t id_of(struct steps *x, uint64_t pos, const struct ts_decoded *d, unsigned len, struct ts_budget *budget)
{
	size_t module = ts_code_places_module_number(x->code, pos, d->process, d->pc, budget);

	if (!d->is_insn || len > d->len || d->serial >> SERIAL_BITS || module >> MODULE_BITS ||
	    len >> LENGTH_BITS)
		return 0;
	return ((uint64_t)module << LENGTH_BITS | len) << SERIAL_BITS | d->serial;
}

/* The cells of the instruction at @st, from the pc to its text.  @d is NULL if none of them is about the code. */
static bool put_place(struct steps *x, uint64_t pos, const struct ts_step *st, struct ts_decoded *d, struct ts_row *row,
		      struct ts_budget *budget, struct ts_error *err)
{
	uint32_t wanted = ~x->rows.unwanted, process = ts_query_process(x->rows.ask->q, st->thread);
	unsigned len = st->insn_len;

	if (d && ts_row_repeats(row, id_of(x, pos, d, len, budget), COL_PC, COL_READS - COL_PC))
		return true;
	ts_row_pc(row, COL_PC, st->pc);
	if (wanted & MODULE_COLUMNS)
		ts_code_places_module(x->code, row, COL_MODULE, pos, process, st->pc, budget);
	if (wanted & NAME_COLUMNS)
		ts_code_places_line(x->code, row, COL_FUNCTION, st->pc);
	return !d || put_instruction(x, pos, len, d, row, err);
}

static bool put_row(struct steps *x, uint64_t pos, struct ts_row *row, struct ts_budget *budget,
		    struct ts_error *err)
{
	const struct ts_steps *batch;
	uint32_t wanted = ~x->rows.unwanted;
	bool has_lists = wanted & (1u << COL_READS | 1u << COL_WRITES);
	/* decode the whole chunk, which makes values of memory cheap, unless there is only one row */
	bool has_values = !x->rows.is_counting && has_lists && x->n_rows++ > FEW_ROWS;
	const struct ts_step *st = (has_values ? ts_query_step_whole : ts_query_step)(x->rows.ask->q, pos, &batch, err);
	struct ts_decoded *d = NULL;
	struct ts_step step;

	if (!st)
		return false;
	step = *st;
	ts_row_number(row, COL_POSITION, pos);
	if (is_wanted(x, COL_THREAD))
		ts_cell_thread(row, COL_THREAD, x->rows.ask, step.thread);
	if (x->rows.is_counting || step.pc == TS_NO_PC || !(wanted & (MODULE_COLUMNS | NAME_COLUMNS | CODE_COLUMNS))) {
		ts_row_pc(row, COL_PC, step.pc);
		return true;
	}
	if (wanted & CODE_COLUMNS && !(d = ts_query_insn(x->rows.ask->q, pos, err)))
		return false;
	return put_place(x, pos, &step, d, row, budget, err) &&
	       (!d || !has_lists || ts_step_places_put(x->places, pos, d, row, COL_READS, COL_WRITES, err));
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	struct steps *x = (struct steps *)rows;
	uint64_t pos;
	enum ts_next got = ts_step_walk_next(&x->walk, &pos, budget, err);

	return got != TS_ITEM || put_row(x, pos, row, budget, err) ? got : TS_FAIL;
}

static void close_steps(struct ts_rows *rows)
{
	struct steps *x = (struct steps *)rows;

	ts_step_walk_fini(&x->walk);
	ts_code_places_free(x->code);
	ts_step_places_free(x->places);
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct steps *x = (struct steps *)rows;

	if (!ts_step_walk_init(&x->walk, rows, err))
		return false;
	x->code = ts_code_places_new(rows->ask, err);
	x->places = x->code ? ts_step_places_new(rows->ask->q, err) : NULL;
	return x->places;
}

static const struct ts_rows_ops ops = { sizeof(struct steps), begin, next, close_steps };

const struct ts_verb ts_verb_steps = {
	.name = "steps",
	.synopsis = "[WHAT]",
	.help = "List the steps that were executed, with their instructions and what these read and wrote.",
	.example = "steps in 100:110",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_CODE_OR_NONE,
	.takes = TS_TAKES_MACHINE | TS_TAKES_RANGE | TS_TAKES_STATE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT,
	.is_reversible = true,
	.rows = &ops,
};
