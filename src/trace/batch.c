/* SPDX-License-Identifier: MIT */
#include "batch.h"

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
	ts_fail(&b->err, TS_ENOMEM, TS_NO_OFF, "no memory for the steps of a chunk");
	b->next = TS_FAIL;
}

void ts_batch_read_steps(struct ts_batch *b, struct ts_reader *r, struct ts_steps *out)
{
	ts_steps_reset(out);
	do {
		b->next = ts_reader_next(r, out, &b->err);
	} while (b->next == TS_ITEM && out->n_steps < TS_CHUNK_STEPS && !out->is_failed);
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

void ts_batch_close(struct ts_batch *b, const struct ts_reader *r, const struct ts_recording *rec, uint64_t *n_learned)
{
	b->end = r->end;
	ts_buf_reset(&b->after);
	r->ops->save(r, &b->after);
	if (b->steps.is_failed || !ts_buf_ok(&b->after))
		ts_batch_fail_for_memory(b);
	pack_learned(b, rec, n_learned);
}
