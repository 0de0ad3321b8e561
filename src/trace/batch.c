/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include <inttypes.h>

#include "chunk.h"

void ts_batch_init(struct ts_batch *b)
{
	ts_steps_init(&b->steps);
	ts_buf_init(&b->after);
	ts_learned_init(&b->learned);
}

void ts_batch_fini(struct ts_batch *b)
{
	ts_steps_fini(&b->steps);
	ts_buf_fini(&b->after);
	ts_learned_fini(&b->learned);
}

static uint64_t bytes_of(uint32_t n_steps, uint32_t n_effects, uint32_t n_data)
{
	return n_steps * (uint64_t)sizeof(struct ts_step) + n_effects * (uint64_t)sizeof(struct ts_effect) +
	       n_data;
}

uint64_t ts_batch_bytes(const struct ts_steps *b)
{
	return bytes_of(b->n_steps, b->n_effects, b->n_data);
}

void ts_batch_give_back(struct ts_steps *b, uint64_t max)
{
	if (bytes_of(b->cap_steps, b->cap_effects, b->cap_data) > max)
		ts_steps_fini(b);
}

void ts_batch_fail_for_memory(struct ts_batch *b)
{
	ts_error_reset(&b->err);
	ts_no_memory(&b->err, "the steps of a chunk");
	b->next = TS_FAIL;
}

/* The steps that are whole: the last one may be incomplete, if memory was exhausted while effects were added to it. */
static void end_at_limit(struct ts_batch *b, struct ts_reader *r, struct ts_steps *out, uint32_t n_whole)
{
	uint64_t pc = n_whole ? out->steps[n_whole - 1].pc : TS_NO_PC;

	out->n_steps = n_whole ? n_whole - 1 : 0;
	out->is_failed = false;
	b->is_limited = true;
	b->next = TS_FAIL;
	ts_error_reset(&b->err);
	ts_fail(&b->err, TS_ELIMIT, TS_NO_OFF, "an instruction needs more memory than the limit (%" PRIu64 " bytes) allows",
		b->max_memory);
	r->end = (struct ts_end){ .pc = pc, .has_pc = pc != TS_NO_PC };
}

void ts_batch_read_steps(struct ts_batch *b, struct ts_reader *r, struct ts_steps *out)
{
	uint32_t n_whole;

	ts_steps_reset(out);
	b->is_limited = false;
	ts_steps_bound(out, b->max_memory);
	do {
		n_whole = out->n_steps;
		b->next = ts_reader_next_steps(r, TS_CHUNK_STEPS - out->n_steps, out, &b->err);
	} while (b->next == TS_ITEM && out->n_steps < TS_CHUNK_STEPS && !out->is_failed);
	if (out->is_limited)
		end_at_limit(b, r, out, n_whole);
}

static void pack_learned(struct ts_batch *b, const struct ts_recording *rec, uint64_t *n_learned)
{
	b->has_learned = rec && rec->n_learned != *n_learned;
	if (!b->has_learned)
		return;
	*n_learned = rec->n_learned;
	if (!ts_learned_take(&b->learned, rec))
		ts_batch_fail_for_memory(b);
}

void ts_batch_close(struct ts_batch *b, struct ts_reader *r, const struct ts_recording *rec, uint64_t *n_learned)
{
	b->end = r->end;
	ts_buf_reset(&b->after);
	ts_reader_save(r, &b->after);
	if (b->steps.is_failed || !ts_buf_ok(&b->after))
		ts_batch_fail_for_memory(b);
	pack_learned(b, rec, n_learned);
}
