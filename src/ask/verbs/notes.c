/* SPDX-License-Identifier: MIT */
#include "notes.h"

#include <inttypes.h>
#include <stdio.h>

#include "src/query/code/insns.h"
#include "src/query/paging.h"

/* Is a byte of the range known at the end although no region contains it? */
static bool is_shown(struct ts_query *q, const struct ts_what *what, uint32_t process)
{
	uint8_t data[16], known[16];
	size_t len = what->last - what->addr < sizeof(data) ? (size_t)(what->last - what->addr) + 1 : sizeof(data);
	struct ts_error ignored = { 0 };

	if (!ts_virtual_mem(q, ts_query_n_steps(q), process, what->addr, len, data, known, &ignored))
		return true;
	for (size_t i = 0; i < len; i++) {
		if (known[i])
			return true;
	}
	return false;
}

bool ts_note_unmapped(struct ts_query *q, const struct ts_what *what, uint32_t process, char *note, size_t size)
{
	struct ts_region_info r;
	size_t n = 0;

	if (what->kind != TS_WHAT_MEM || ts_query_facts(q)->is_physical || !ts_query_is_complete(q))
		return false;
	for (size_t i = 0; ts_query_region(q, i, &r); i++) {
		if (r.process != process)
			continue;
		if (r.first <= what->last && what->addr <= r.last)
			return false;
		n++;
	}
	if (!n || is_shown(q, what, process))
		return false;
	snprintf(note, size, "no memory was mapped at 0x%" PRIx64 " at any position", what->addr);
	return true;
}

bool ts_note_undecoded(struct ts_rows *rows, const char *consequence)
{
	const struct ts_query *q = rows->ask->q;

	if (ts_query_has_operands(q))
		return false;
	snprintf(rows->note, sizeof(rows->note), "instructions of %s are not decoded: %s", ts_query_regset(q)->arch->name, consequence);
	return true;
}
