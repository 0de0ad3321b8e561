/* SPDX-License-Identifier: MIT */
#include "cells.h"

#include <inttypes.h>
#include <stdio.h>

#include "places.h"
#include "src/query/code/insns.h"
#include "src/query/paging.h"
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

/* ------------------------------------------------------------------------------------------------- places */

void ts_cell_place_name(struct ts_row *row, unsigned i, const struct ts_ask *ask, const struct ts_cell_place *place)
{
	uint64_t len = place->last - place->first + 1;
	char text[64];

	if (place->kind == TS_IN_MEMORY)
		snprintf(text, sizeof(text), "0x%" PRIx64 ",%" PRIu64, place->first, len);
	else
		ts_register_text(ts_query_regset(ask->q), place->first, len,
				 place->kind == TS_IN_FLAGS ? (uint32_t)place->flags : 0, text, sizeof(text));
	ts_row_text(row, i, text);
}

static bool put_memory(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t pos, const struct ts_cell_place *place,
		       struct ts_cell_bytes *bytes, struct ts_error *err)
{
	uint64_t len = place->last - place->first + 1;
	size_t max = row->keeps_bytes ? sizeof(bytes->data) : TS_SHOWN_BYTES + 1, n = len < max ? (size_t)len : max;

	if (!ts_virtual_mem(ask->q, pos, place->owner, place->first, n, bytes->data, bytes->known, err))
		return false;
	ts_row_value(row, i, bytes->data, bytes->known, n, len == 1 || len == 2 || len == 4 || len == 8,
		     ts_query_regset(ask->q)->arch->is_big_endian);
	return true;
}

bool ts_cell_place_value(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t pos, const struct ts_cell_place *place,
			 struct ts_cell_bytes *bytes, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(ask->q);
	uint64_t off = place->first, len = place->last - place->first + 1;
	struct ts_op_state state;
	uint8_t bit;

	if (place->kind == TS_IN_MEMORY)
		return put_memory(row, i, ask, pos, place, bytes, err);
	if (!ts_query_op_state(ask->q, pos, place->owner, &state, err))
		return false;
	if (place->kind == TS_IN_FLAGS) {
		unsigned flag = (unsigned)__builtin_ctzll(place->flags);

		off = set->regs[set->flags].off;
		len = set->regs[set->flags].len;
		if (!(place->flags & (place->flags - 1))) {
			off += set->arch->is_big_endian ? len - 1 - flag / 8 : flag / 8;
			bit = state.g[off] >> flag % 8 & 1;
			ts_row_value(row, i, &bit, state.known + off, 1, true, false);
			return true;
		}
	}
	ts_row_value(row, i, state.g + off, state.known + off, (size_t)len, true, set->arch->is_big_endian);
	return true;
}
