/* SPDX-License-Identifier: MIT */
#include "taint.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

#define LINE_LEN 16u

bool ts_taint_init(struct ts_taint *t, const struct ts_regset *set, uint32_t n_threads)
{
	*t = (struct ts_taint){ .set = set, .n_threads = n_threads };
	t->threads = calloc((size_t)n_threads + 1, sizeof(*t->threads));
	return t->threads != NULL;
}

void ts_taint_fini(struct ts_taint *t)
{
	for (uint32_t i = 0; t->threads && i < t->n_threads; i++)
		free(t->threads[i].regs);
	free(t->threads);
	free(t->lines);
}

/* ------------------------------------------------------------------------------------------------ registers */

/* The index of a register's byte, or of a flag, in the list of a thread. */
static size_t slot_of(const struct ts_taint *t, const struct ts_location *loc, unsigned i)
{
	return loc->kind == TS_IN_FLAGS ? t->set->g_len + i : (size_t)loc->base + i;
}

static void mark_unit(const struct ts_taint *t, struct ts_taint_thread *th, const struct ts_location *loc, unsigned i)
{
	size_t off = loc->kind == TS_IN_FLAGS ? t->set->regs[t->set->flags].off : (size_t)loc->base + i;
	size_t unit = off / TS_TAINT_UNIT % (64 * TS_TAINT_WORDS);

	th->mask[unit / 64] |= UINT64_C(1) << unit % 64;
}

static bool set_register(struct ts_taint *t, const struct ts_location *loc, unsigned i, uint64_t from)
{
	struct ts_taint_thread *th = &t->threads[loc->owner];
	uint64_t *slot;

	if (!th->regs && !from)
		return true;
	if (!th->regs)
		th->regs = calloc((size_t)t->set->g_len + 64, sizeof(*th->regs));
	if (!th->regs)
		return false;
	slot = &th->regs[slot_of(t, loc, i)];
	th->n += from && !*slot;
	th->n -= !from && *slot;
	*slot = from;
	if (from)
		mark_unit(t, th, loc, i);
	else if (!th->n)
		memset(th->mask, 0, sizeof(th->mask));
	return true;
}

/* --------------------------------------------------------------------------------------------------- memory */

/* The first line that is not before the one at @addr. */
static size_t find_line(const struct ts_taint *t, uint32_t process, uint64_t addr)
{
	size_t at = 0;

	TS_BISECT(at, t->n_lines, i,
		  t->lines[i].process < process || (t->lines[i].process == process && t->lines[i].addr < addr));
	return at;
}

static bool is_line(const struct ts_taint *t, size_t i, uint32_t process, uint64_t addr)
{
	return i < t->n_lines && t->lines[i].process == process && t->lines[i].addr == addr;
}

static bool set_memory(struct ts_taint *t, uint32_t process, uint64_t addr, uint64_t from)
{
	uint64_t first = addr & ~(uint64_t)(LINE_LEN - 1), *slot;
	size_t i = find_line(t, process, first);

	if (!is_line(t, i, process, first)) {
		if (!from)
			return true;
		if (t->n_lines == TS_TAINT_MAX_LINES) {
			t->is_cut = true;
			return true;
		}
		if (!ts_vec_reserve(&t->lines, t->n_lines, &t->cap_lines, 1, sizeof(*t->lines)))
			return false;
		memmove(t->lines + i + 1, t->lines + i, (t->n_lines - i) * sizeof(*t->lines));
		t->lines[i] = (struct ts_taint_line){ .addr = first, .process = process };
		t->n_lines++;
	}
	slot = &t->lines[i].from[addr - first];
	t->lines[i].n += from && !*slot;
	t->n_memory += from && !*slot;
	t->lines[i].n -= !from && *slot;
	t->n_memory -= !from && *slot;
	*slot = from;
	return true;
}

struct ts_taint_line *ts_taint_line(const struct ts_taint *t, uint32_t process, uint64_t first, uint64_t last)
{
	size_t i = t->n_memory ? find_line(t, process, first & ~(uint64_t)(LINE_LEN - 1)) : t->n_lines;

	for (; i < t->n_lines && t->lines[i].process == process && t->lines[i].addr <= last; i++) {
		for (unsigned k = 0; t->lines[i].n && k < LINE_LEN; k++) {
			uint64_t addr = t->lines[i].addr + k;

			if (t->lines[i].from[k] && addr >= first && addr <= last)
				return &t->lines[i];
		}
	}
	return NULL;
}

/* ------------------------------------------------------------------------------------------------ locations */

bool ts_taint_set(struct ts_taint *t, const struct ts_location *loc, unsigned i, uint64_t from)
{
	if (loc->kind == TS_IN_MEMORY)
		return set_memory(t, loc->owner, loc->base + i, from);
	return set_register(t, loc, i, from);
}

uint64_t ts_taint_get(const struct ts_taint *t, const struct ts_location *loc, unsigned i)
{
	uint64_t addr = loc->base + i, first = addr & ~(uint64_t)(LINE_LEN - 1);
	size_t line;

	if (loc->kind != TS_IN_MEMORY)
		return t->threads[loc->owner].regs ? t->threads[loc->owner].regs[slot_of(t, loc, i)] : 0;
	if (!t->n_memory)
		return 0;
	line = find_line(t, loc->owner, first);
	return is_line(t, line, loc->owner, first) ? t->lines[line].from[addr - first] : 0;
}

uint64_t ts_taint_any(const struct ts_taint *t, const struct ts_location *loc, unsigned *i)
{
	uint64_t from = 0;

	for (uint64_t rest = loc->mask; rest && !from; rest &= rest - 1) {
		*i = (unsigned)__builtin_ctzll(rest);
		from = ts_taint_get(t, loc, *i);
	}
	return from;
}

bool ts_taint_is_empty(const struct ts_taint *t)
{
	bool is_any = t->n_memory != 0;

	for (uint32_t i = 0; i < t->n_threads; i++)
		is_any |= t->threads[i].n != 0;
	return !is_any;
}
