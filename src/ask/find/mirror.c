/* SPDX-License-Identifier: MIT */
#include "mirror.h"

#include <stdlib.h>
#include <string.h>

#define NO_LINE 1u

void ts_mirror_clear(struct ts_mirror *m)
{
	for (size_t i = 0; i < TS_MIRROR_N_LINES; i++)
		m->lines[i].addr = NO_LINE;
}

bool ts_mirror_init(struct ts_mirror *m, struct ts_query *q, uint32_t process, struct ts_error *err)
{
	*m = (struct ts_mirror){ .q = q, .process = process };
	m->lines = malloc(TS_MIRROR_N_LINES * sizeof(*m->lines));
	if (!m->lines)
		return ts_no_memory(err, "a search");
	ts_mirror_clear(m);
	return true;
}

void ts_mirror_fini(struct ts_mirror *m)
{
	free(m->lines);
	m->lines = NULL;
}

bool ts_mirror_pay(struct ts_mirror *m, uint64_t *n_looks, struct ts_budget *budget)
{
	*n_looks += m->n_loads;
	m->n_loads = 0;
	while (*n_looks >= TS_LOOKS_A_CHUNK && ts_budget_take(budget))
		*n_looks -= TS_LOOKS_A_CHUNK;
	return *n_looks < TS_LOOKS_A_CHUNK;
}

void ts_mirror_forget(struct ts_mirror *m, uint64_t first, uint64_t last)
{
	if ((last - first) / TS_MIRROR_LINE >= TS_MIRROR_N_LINES) {
		ts_mirror_clear(m);
		return;
	}
	for (uint64_t line = first / TS_MIRROR_LINE; line <= last / TS_MIRROR_LINE; line++)
		m->lines[line % TS_MIRROR_N_LINES].addr = NO_LINE;
}

struct ts_mirror_line *ts_mirror_load(struct ts_mirror *m, uint64_t pos, uint64_t addr, struct ts_error *err)
{
	struct ts_mirror_line *line = ts_mirror_find(m, addr);

	if (line)
		return line;
	line = &m->lines[addr / TS_MIRROR_LINE % TS_MIRROR_N_LINES];
	addr &= ~(uint64_t)(TS_MIRROR_LINE - 1);
	line->addr = NO_LINE;
	m->n_loads++;
	if (!ts_query_mem(m->q, pos, m->process, addr, TS_MIRROR_LINE, line->data, line->known, err))
		return NULL;
	line->addr = addr;
	return line;
}

void ts_mirror_change_line(struct ts_mirror_line *line, uint64_t first, uint64_t last, const uint8_t *value)
{
	uint64_t end = line->addr + (TS_MIRROR_LINE - 1);
	uint64_t lo = first > line->addr ? first : line->addr, hi = last < end ? last : end;

	if (lo > hi)
		return;
	memcpy(line->data + (lo - line->addr), value + (lo - first), (size_t)(hi - lo) + 1);
	memset(line->known + (lo - line->addr), 1, (size_t)(hi - lo) + 1);
}

void ts_mirror_change(struct ts_mirror *m, uint64_t first, uint64_t last, const uint8_t *value)
{
	for (uint64_t addr = first & ~(uint64_t)(TS_MIRROR_LINE - 1);; addr += TS_MIRROR_LINE) {
		struct ts_mirror_line *line = ts_mirror_find(m, addr);

		if (line)
			ts_mirror_change_line(line, first, last, value);
		if (last - addr < TS_MIRROR_LINE)
			return;
	}
}
