/* SPDX-License-Identifier: MIT */
/* Which chunks may have hits: the index says. */
#include "hits_parts.h"

#include <string.h>

static uint64_t find_execution(const struct ts_hits *h, uint64_t chunk, bool is_reverse)
{
	uint64_t pos = chunk * TS_CHUNK_STEPS + (is_reverse ? TS_CHUNK_STEPS - 1 : 0);

	pos = ts_query_find_execution(h->q, h->process, h->exec_first, h->exec_last, pos, is_reverse);
	return pos == TS_NO_POS ? TS_NO_CHUNK : pos / TS_CHUNK_STEPS;
}

uint64_t ts_hits_find_part(const struct ts_hits *h, unsigned accesses, uint64_t first, uint64_t last, uint64_t chunk,
			  bool is_reverse)
{
	if (h->what->kind == TS_WHAT_MEM)
		return ts_query_find_access(h->q, accesses, h->process, first, last, chunk, is_reverse);
	return ts_query_find_register(h->q, accesses, h->thread, (uint32_t)first, (uint32_t)last, chunk, is_reverse);
}

static uint64_t find_chunk(const struct ts_hits *h, unsigned accesses, uint64_t chunk, bool is_reverse)
{
	return ts_hits_find_part(h, accesses, h->base, h->base + ts_hits_len(h) - 1, chunk, is_reverse);
}

bool ts_hits_read_register(const struct ts_hits *h, uint64_t pos, uint8_t *data, uint8_t *known, struct ts_error *err)
{
	const struct ts_what *what = h->what;

	if (what->is_pc)
		return ts_query_regs(h->q, pos, h->thread, data, known, err);
	return ts_query_first_regs(h->q, pos, h->thread, what->off + what->len, data, known, err);
}

bool ts_hits_read_what(struct ts_hits *h, uint64_t pos, struct ts_error *err)
{
	size_t len = (size_t)ts_hits_len(h), g_len = ts_query_regset(h->q)->g_len;

	if (h->what->kind == TS_WHAT_MEM)
		return ts_query_mem(h->q, pos, h->process, h->what->addr, len, h->data, h->known, err);
	if (!ts_hits_read_register(h, pos, h->regs, h->regs + g_len, err))
		return false;
	memcpy(h->data, h->regs + h->what->off, len);
	memcpy(h->known, h->regs + g_len + h->what->off, len);
	return true;
}

/*
 * Does a write of the known value count as no change at @pos?  If WHAT is shown as a whole and one of its bytes is unknown, the
 * write may be a change.
 */
static bool is_settled(struct ts_hits *h, uint64_t pos)
{
	struct ts_error ignored = { 0 };

	if (!h->is_whole)
		return true;
	return h->data && ts_hits_read_what(h, pos, &ignored) && !memchr(h->known, 0, (size_t)ts_hits_len(h));
}

/*
 * The nearest chunk with a write.  If only changes count, the nearest chunk in which a byte changes, or the chunk before
 * it: if the first step of a chunk sees another value, the change belongs to the step before.
 */
static uint64_t find_write(struct ts_hits *h, uint64_t chunk, bool is_reverse)
{
	uint64_t write = find_chunk(h, TS_ACCESS_WRITE, chunk, is_reverse), change, before;

	if (!h->only_changes || write == TS_NO_CHUNK ||
	    find_chunk(h, TS_ACCESS_CHANGE, write, false) <= write + 1 ||
	    !is_settled(h, write * TS_CHUNK_STEPS))
		return write;
	change = find_chunk(h, TS_ACCESS_CHANGE | TS_ACCESS_REPLACE, write, is_reverse);
	if (is_reverse || change == TS_NO_CHUNK || change == write)
		return change;
	before = find_chunk(h, TS_ACCESS_WRITE, change - 1, false);
	return before < change ? before : change;
}

struct ts_read_search ts_hits_read_search(const struct ts_hits *h, bool is_reverse)
{
	return (struct ts_read_search){ .process = h->process,
					.first = h->what->addr,
					.last = h->what->last,
					.is_reverse = is_reverse,
					.finds_open = !h->is_open };
}

static uint64_t find_memory(struct ts_hits *h, uint64_t chunk, bool is_reverse)
{
	unsigned accesses = (ts_hits_want(h, TS_HIT_READ) ? TS_ACCESS_READ : 0) |
			    (ts_hits_want(h, TS_HIT_MAP) ? TS_ACCESS_REPLACE : 0);
	struct ts_read_search reads = ts_hits_read_search(h, is_reverse);
	uint64_t best = find_chunk(h, accesses, chunk, is_reverse);

	if (ts_hits_want(h, TS_HIT_WRITE))
		best = ts_nearer(best, find_write(h, chunk, is_reverse), is_reverse);
	if (ts_hits_want(h, TS_HIT_EXEC))
		best = ts_nearer(best, find_execution(h, chunk, is_reverse), is_reverse);
	if (h->infers_reads)
		best = ts_nearer(best, ts_query_find_read(h->q, &reads, chunk, best), is_reverse);
	return best;
}

/* The chunks in which instructions write the register.  They are not needed for changes while the register's value is known. */
static uint64_t find_by_operands(struct ts_hits *h, uint64_t chunk, bool is_reverse)
{
	if (!ts_query_has_operands(h->q) || chunk == TS_NO_CHUNK ||
	    (!is_reverse && chunk * TS_CHUNK_STEPS >= ts_query_n_steps(h->q)) ||
	    (h->only_changes && !h->has_late && is_settled(h, chunk * TS_CHUNK_STEPS)))
		return TS_NO_CHUNK;
	return ts_reg_chunks_find(&h->reg_chunks, h->q, &h->loc, chunk, is_reverse);
}

/*
 * Where runs of instructions may write it is looked up if nothing else is in the chunk, and to find the last steps in it.  The last
 * steps of a chunk as a rule write a register that is written often: for one row, they are looked at before it is found out where
 * runs may write it in a group of chunks.
 */
static uint64_t find_register(struct ts_hits *h, uint64_t chunk, bool is_reverse)
{
	uint64_t best;

	if (h->what->is_pc) {
		uint64_t pos = chunk * TS_CHUNK_STEPS + (is_reverse ? TS_CHUNK_STEPS - 1 : 0);

		pos = (is_reverse ? ts_query_prev_step : ts_query_next_step)(h->q, h->thread, pos);
		return pos == TS_NO_POS ? TS_NO_CHUNK : pos / TS_CHUNK_STEPS;
	}
	best = find_write(h, chunk, is_reverse);
	if (best != chunk)
		best = ts_nearer(best, find_chunk(h, TS_ACCESS_REPLACE, chunk, is_reverse), is_reverse);
	if (ts_hits_have_more(h))
		h->reg_chunks.limit = h->left;
	h->reg_chunks.is_for_one = h->is_late_first;
	h->reg_chunks.is_enough = best == chunk && h->is_late_first && !ts_hits_have_more(h);
	if (best != chunk || is_reverse)
		best = ts_nearer(best, find_by_operands(h, chunk, is_reverse), is_reverse);
	return best;
}

uint64_t ts_hits_find_chunk(struct ts_hits *h, uint64_t chunk, bool is_reverse)
{
	return (h->what->kind == TS_WHAT_MEM ? find_memory : find_register)(h, chunk, is_reverse);
}
