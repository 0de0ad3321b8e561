/* SPDX-License-Identifier: MIT */
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "src/ask/grammar/machine_names.h"
#include "src/ask/grammar/question.h"
#include "src/query/paging.h"
#include "src/ask/grammar/state.h"
#include "src/ask/grammar/what.h"

/* The bytes of a row, and of one read of memory. */
#define ROW_LEN  16u
#define LOOK_LEN 4096u

/* ------------------------------------------------------------------------------------------------- memory */

struct memory {
	struct ts_rows rows;
	uint32_t process;
	uint64_t next;      /* the address of the next row */
	bool is_over;       /* the last byte was passed */
	uint64_t n_unknown; /* bytes in rows that are left out */
	uint64_t look;      /* the address of the bytes that were read last, */
	size_t look_len;    /* how many; 0: none yet */
	uint8_t data[LOOK_LEN], known[LOOK_LEN];
};

static const struct ts_column memory_columns[] = {
	{ .name = "address", .type = TS_COLUMN_ADDR },
	{ .name = "length", .type = TS_COLUMN_NUMBER },
	{ .name = "bytes", .type = TS_COLUMN_TEXT },
	{ .name = "text", .type = TS_COLUMN_TEXT },
};

/* The bytes from the next row on.  Returns false if the trace cannot be read. */
static bool look(struct memory *m, struct ts_error *err)
{
	uint64_t left = m->rows.qn->what.last - m->next;

	m->look = m->next;
	m->look_len = left < LOOK_LEN ? (size_t)left + 1 : LOOK_LEN;
	if (m->rows.qn->what.is_physical)
		return ts_query_mem(m->rows.ask->q, m->rows.qn->at, m->process, m->look, m->look_len, m->data, m->known, err);
	return ts_virtual_mem(m->rows.ask->q, m->rows.qn->at, m->process, m->look, m->look_len, m->data, m->known, err);
}

static bool is_any_known(const uint8_t *known, size_t len)
{
	return memchr(known, 1, len) != NULL;
}

static void put_memory_row(const struct memory *m, size_t at, size_t len, struct ts_row *row)
{
	bool is_big_endian = ts_query_regset(m->rows.ask->q)->arch->is_big_endian;
	char text[ROW_LEN];

	for (size_t i = 0; i < len; i++) {
		uint8_t c = m->data[at + i];

		text[i] = '.';
		if (m->known[at + i] && c >= 0x20 && c < 0x7f)
			text[i] = (char)c;
	}
	ts_cell_addr(row, 0, m->look + at, m->rows.qn->what.is_physical);
	ts_row_number(row, 1, len);
	ts_row_value(row, 2, m->data + at, m->known + at, len, false, is_big_endian);
	ts_row_text_len(row, 3, text, len);
}

static void note_unknown(struct memory *m)
{
	if (m->n_unknown)
		snprintf(m->rows.note, sizeof(m->rows.note),
			 "%" PRIu64 " bytes are left out: the recording does not show them up to this position", m->n_unknown);
}

static enum ts_next next_memory(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
				struct ts_error *err)
{
	struct memory *m = (struct memory *)rows;

	while (!m->is_over) {
		uint64_t left = m->rows.qn->what.last - m->next;
		size_t len = left < ROW_LEN ? (size_t)left + 1 : ROW_LEN, at;

		if (!m->look_len || m->next - m->look >= m->look_len) {
			if (!ts_budget_take(budget))
				return TS_MORE;
			if (!look(m, err))
				return TS_FAIL;
		}
		at = (size_t)(m->next - m->look);
		m->is_over = left < ROW_LEN;
		m->next += len;
		if (is_any_known(m->known + at, len)) {
			put_memory_row(m, at, len, row);
			return TS_ITEM;
		}
		m->n_unknown += len;
	}
	note_unknown(m);
	return TS_END;
}

static bool begin_memory(struct ts_rows *rows, struct ts_error *err)
{
	struct memory *m = (struct memory *)rows;

	(void)err;
	rows->at = rows->qn->at;
	m->process = ts_ask_process(rows->ask, rows->qn);
	m->next = rows->qn->what.addr;
	return true;
}

static const struct ts_rows_ops memory_ops = { sizeof(struct memory), begin_memory, next_memory, NULL };

const struct ts_verb ts_verb_memory = {
	.name = "memory",
	.synopsis = "ADDR,LEN",
	.help = "Show the bytes of memory at a position, sixteen in a row.",
	.example = "memory 0x401000,64 at 50%",
	TS_COLUMNS(memory_columns),
	.operand = TS_OPERAND_MEMORY,
	.is_of_moment = true,
	.takes = TS_TAKES_PHYSICAL | TS_TAKES_AT | TS_TAKES_THREAD | TS_TAKES_BOUND,
	.rows = &memory_ops,
};

/* ---------------------------------------------------------------------------------------------- registers */

struct registers {
	struct ts_rows rows;
	uint32_t thread;
	bool has_names;       /* of functions */
	const char *names;    /* borrowed from the question: those that are left, NULL: all registers are shown */
	unsigned next;        /* the next one of all */
	uint8_t *data, *known; /* owned, in one piece; NULL: not read yet */
};

static const struct ts_column register_columns[] = {
	{ .name = "register", .type = TS_COLUMN_TEXT },
	{ .name = "length", .type = TS_COLUMN_NUMBER },
	{ .name = "value", .type = TS_COLUMN_VALUE, .is_kept = true },
	{ .name = "text", .type = TS_COLUMN_TEXT },
};

/* The address in a register of at most eight bytes, all of them known. */
static bool get_address(const struct registers *r, const struct ts_what *what, uint64_t *addr)
{
	bool is_big_endian = ts_query_regset(r->rows.ask->q)->arch->is_big_endian;

	*addr = 0;
	if (what->is_flag || what->len < 4 || what->len > 8)
		return false;
	for (uint32_t i = 0; i < what->len; i++) {
		uint32_t at = what->off + (is_big_endian ? i : what->len - 1 - i);

		if (!r->known[at])
			return false;
		*addr = *addr << 8 | r->data[at];
	}
	return true;
}

static void put_register_row(const struct registers *r, const char *name, size_t len, const struct ts_what *what,
			     struct ts_row *row)
{
	bool is_big_endian = ts_query_regset(r->rows.ask->q)->arch->is_big_endian;
	uint8_t bit = (uint8_t)(r->data[what->off] >> what->bit & 1);
	uint64_t addr;

	ts_row_text_len(row, 0, name, len);
	ts_row_number(row, 1, what->len);
	ts_row_value(row, 2, what->is_flag ? &bit : r->data + what->off, r->known + what->off, what->len, true,
		     is_big_endian);
	if (r->has_names && get_address(r, what, &addr))
		ts_cell_function(row, 3, r->rows.ask, addr);
}

/* Set the next name and the register that it names.  Returns false after the last one. */
static bool take_name(struct registers *r, const char **name, size_t *len, struct ts_what *what)
{
	const struct ts_regset *regs = ts_query_regset(r->rows.ask->q);

	if (r->names) {
		r->names += strspn(r->names, " ");
		*name = r->names;
		*len = strcspn(r->names, " ");
		r->names += *len;
		return *len && ts_what_register(what, *name, *len, regs);
	}
	if (r->next >= regs->n_regs)
		return false;
	*name = regs->regs[r->next].name;
	*len = strlen(*name);
	*what = (struct ts_what){ .kind = TS_WHAT_REG, .off = regs->regs[r->next].off, .len = regs->regs[r->next].len };
	r->next++;
	return true;
}

/* Returns false if the trace cannot be read, or memory is exhausted. */
static bool read_registers(struct registers *r, struct ts_error *err)
{
	uint32_t len = ts_query_regset(r->rows.ask->q)->g_len;

	r->data = malloc(2 * (size_t)len);
	r->known = r->data ? r->data + len : NULL;
	return (r->data || ts_no_memory(err, "a question")) &&
	       ts_query_regs(r->rows.ask->q, r->rows.qn->at, r->thread, r->data, r->known, err);
}

static enum ts_next next_register(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
				  struct ts_error *err)
{
	struct registers *r = (struct registers *)rows;
	struct ts_what what;
	const char *name;
	size_t len;

	if (!r->data) {
		if (!ts_budget_take(budget))
			return TS_MORE;
		if (!read_registers(r, err))
			return TS_FAIL;
	}
	if (!take_name(r, &name, &len, &what))
		return TS_END;
	put_register_row(r, name, len, &what, row);
	return TS_ITEM;
}

static void close_registers(struct ts_rows *rows)
{
	free(((struct registers *)rows)->data);
}

static bool begin_registers(struct ts_rows *rows, struct ts_error *err)
{
	struct registers *r = (struct registers *)rows;

	(void)err;
	rows->at = rows->qn->at;
	r->thread = ts_ask_thread(rows->ask, rows->qn);
	r->has_names = ts_machine_names_hold(rows->ask, rows->at, r->thread);
	r->names = *rows->qn->operand ? rows->qn->operand : NULL;
	return true;
}

static const struct ts_rows_ops register_ops = { sizeof(struct registers), begin_registers, next_register, close_registers };

const struct ts_verb ts_verb_registers = {
	.name = "registers",
	.synopsis = "[REG ...]",
	.help = "Show the registers at a position: all of them, or those that are named.",
	.example = "registers pc sp at 50%",
	TS_COLUMNS(register_columns),
	.operand = TS_OPERAND_REGISTERS_OR_NONE,
	.takes = TS_TAKES_AT | TS_TAKES_THREAD | TS_TAKES_BOUND,
	.rows = &register_ops,
};
