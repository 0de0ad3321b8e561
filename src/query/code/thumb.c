/* SPDX-License-Identifier: MIT */
#include "thumb.h"

/* How many neighbours are examined in each direction. */
#define MAX_NEIGHBOURS 64

/* Halfwords with at least this value begin a Thumb instruction of four bytes. */
#define FIRST_LONG 0xe800u

enum state {
	STATE_UNKNOWN,
	STATE_ARM,
	STATE_THUMB,
	STATE_FAILED, /* to be read */
};

/* The facts about a step that are needed after the next question has reused its batch. */
struct insn {
	uint64_t pc;
	uint32_t thread;
	uint16_t len;
};

static bool read_insn(struct ts_query *q, uint64_t step, struct insn *insn, struct ts_error *err)
{
	const struct ts_steps *batch;
	const struct ts_step *st = ts_query_step(q, step, &batch, err);

	if (st)
		*insn = (struct insn){ st->pc, st->thread, st->insn_len };
	return st != NULL;
}

static enum state state_of(struct ts_query *q, uint64_t step, const struct insn *insn, struct ts_error *err)
{
	uint8_t bytes[2], known[2];

	if (insn->len == 2 || insn->pc % 4 == 2)
		return STATE_THUMB;
	if (insn->len != 4 || ts_query_regset(q)->arch->is_big_endian)
		return STATE_UNKNOWN; /* code of a big-endian processor may be of either order */
	if (!ts_query_mem(q, step, ts_query_process(q, insn->thread), insn->pc, 2, bytes, known, err))
		return STATE_FAILED;
	if (!known[0] || !known[1])
		return STATE_UNKNOWN;
	return (bytes[0] | (unsigned)bytes[1] << 8) < FIRST_LONG ? STATE_ARM : STATE_UNKNOWN;
}

/*
 * Examine the instructions from @step on, in one direction, as long as each is adjacent to the previous one
 * in memory.
 */
static enum state ask(struct ts_query *q, uint64_t step, bool is_forward, struct ts_error *err)
{
	uint64_t n_steps = ts_query_n_steps(q);
	struct insn here, next;

	if (!read_insn(q, step, &here, err))
		return STATE_FAILED;
	for (unsigned i = 0; i < MAX_NEIGHBOURS; i++) {
		enum state state = state_of(q, step, &here, err);
		/* cppcheck-suppress uninitvar; @next is read before they are examined */
		const struct insn *low = is_forward ? &here : &next, *high = is_forward ? &next : &here;

		if (state != STATE_UNKNOWN || (is_forward ? step + 1 >= n_steps : !step))
			return state;
		step = is_forward ? step + 1 : step - 1;
		if (!read_insn(q, step, &next, err))
			return STATE_FAILED;
		if (low->thread != high->thread || low->pc + low->len != high->pc)
			return STATE_UNKNOWN;
		here = next;
	}
	return STATE_UNKNOWN;
}

bool ts_thumb_at(struct ts_query *q, uint64_t pos, uint32_t thread, bool *is_thumb, struct ts_error *err)
{
	uint64_t step = ts_query_next_step(q, thread, pos);
	enum state state;

	*is_thumb = false;
	if (step == TS_NO_POS && pos)
		step = ts_query_prev_step(q, thread, pos - 1);
	if (step == TS_NO_POS)
		return true;
	state = ask(q, step, true, err);
	if (state == STATE_UNKNOWN)
		state = ask(q, step, false, err);
	*is_thumb = state == STATE_THUMB;
	return state != STATE_FAILED;
}
