/* SPDX-License-Identifier: MIT */
#include "cells.h"

#include <inttypes.h>
#include <stdio.h>

#include "src/query/code/insns.h"
#include "src/symbols/names.h"
#include "src/symbols/symbols.h"

void ts_cell_thread(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint32_t thread)
{
	if (thread < ask->names->n_tids)
		ts_row_number(row, i, (uint64_t)ask->names->tids[thread]);
}

void ts_cell_addr(struct ts_row *row, unsigned i, uint64_t addr, bool is_physical)
{
	char text[sizeof("phys:0x") + 16];

	if (!is_physical) {
		ts_row_addr(row, i, addr);
		return;
	}
	snprintf(text, sizeof(text), "phys:0x%" PRIx64, addr);
	ts_row_text(row, i, text);
}

bool ts_cell_virtual(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t pos, uint64_t phys, struct ts_error *err)
{
	uint64_t addr;
	bool is_found;

	if (!ts_query_facts(ask->q)->is_physical)
		return true;
	if (!ts_query_access_addr(ask->q, pos, phys, &addr, &is_found, err))
		return false;
	if (is_found)
		ts_row_addr(row, i, addr);
	return true;
}

void ts_cell_process(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint32_t process)
{
	if (process < ask->names->n_pids)
		ts_row_number(row, i, (uint64_t)ask->names->pids[process]);
}

const char *ts_ask_function(const struct ts_ask *ask, uint64_t addr)
{
	const struct ts_symbol *s = ask->symbols ? ts_symbols_function_at(ask->symbols, addr) : NULL;

	return s ? s->name : NULL;
}

void ts_cell_function(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t addr)
{
	ts_row_text(row, i, ts_ask_function(ask, addr));
}

void ts_cell_line(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t addr)
{
	const struct ts_code_line *l = ask->symbols ? ts_code_lines_at(ts_symbols_lines(ask->symbols), addr) : NULL;

	if (!l)
		return;
	ts_row_text(row, i, l->file);
	ts_row_number(row, i + 1, l->line);
}

bool ts_cell_step(struct ts_row *row, unsigned first, const struct ts_ask *ask, uint64_t pos, uint32_t thread,
		  struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(ask->q, pos, &b, err);
	struct ts_decoded *d;
	uint64_t pc;

	if (!st)
		return false;
	pc = st->pc;
	ts_row_number(row, first, pos);
	ts_cell_thread(row, first + 1, ask, thread == TS_NO_THREAD ? st->thread : thread);
	ts_row_pc(row, first + 2, pc);
	ts_cell_function(row, first + 3, ask, pc);
	ts_cell_line(row, first + 4, ask, pc);
	d = ts_query_insn(ask->q, pos, err);
	if (d && *ts_decoded_text(ask->q, d))
		ts_row_text(row, first + 6, d->text);
	return d;
}
