/* SPDX-License-Identifier: MIT */
#include "batch.h"

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
