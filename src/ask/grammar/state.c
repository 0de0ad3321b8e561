/* SPDX-License-Identifier: MIT */
#include "state.h"

#include <stdlib.h>
#include <string.h>

#include "src/agent/ax_state.h"
#include "src/query/search/call_list.h"
#include "src/query/paging.h"
#include "question.h"

/* ------------------------------------------------------------------------------- activations of functions */

/*
 * A debugger stops a function after its prologue, because its variables are in their places only there.  A question has the
 * position of the function's first instruction.  Other threads and signal handlers may run between the two, and may call
 * the same function: their steps belong to other activations.
 */

/* An activation of a function. */
struct activation {
	const struct ts_ask *ask;
	uint32_t thread, process;
	struct ts_call call; /* the innermost open one */
	bool has_call;
};

/* Positions that are examined in the time of a chunk that is decoded. */
#define LOOKS_A_CHUNK 16u

static bool is_at(const struct activation *a, uint64_t pos)
{
	struct ts_call call;
	bool has_call;

	if (ts_query_thread(a->ask->q, pos) != a->thread)
		return false;
	has_call = ts_query_innermost_call(a->ask->q, a->thread, pos, &call);
	return has_call == a->has_call && (!has_call || call.ordinal == a->call.ordinal);
}

static uint64_t next_execution(const struct activation *a, uint64_t addr, uint64_t pos)
{
	return ts_query_find_execution(a->ask->q, a->process, addr, addr, pos, TS_FORWARDS);
}

/*
 * Find the first step at or after @pos at which @thread executes @addr in the activation that it executes at @pos:
 * the innermost open call is the same as at @pos.  The activation ends with this call, or when the call executes the
 * instruction of @pos again, which begins another activation by a jump (a tail call).
 *
 * The caller keeps @search while TS_MORE is returned.  ts_ask_need_calls() must have succeeded before.
 *
 * Returns TS_ITEM with *at set.  Returns TS_END if the activation does not execute @addr, TS_MORE if the
 * budget is used up, TS_FAIL if the trace cannot be read.
 */
static enum ts_next activation_reaches(const struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t addr,
				       struct ts_activation_search *search, uint64_t *at, struct ts_budget *budget,
				       struct ts_error *err)
{
	struct activation a = { .ask = ask, .thread = thread, .process = ts_query_process(ask->q, thread) };
	uint64_t pc, end = ask->n_steps;
	bool has_pc;

	if (!ts_query_pc(ask->q, pos, thread, &pc, &has_pc, err))
		return TS_FAIL;
	if (!has_pc)
		return TS_END;
	a.has_call = ts_query_innermost_call(ask->q, thread, pos, &a.call);
	if (a.has_call && a.call.end < end)
		end = a.call.end;
	if (search->from < pos)
		search->from = pos;
	for (unsigned n = 1;; n++) {
		uint64_t next = next_execution(&a, pc, search->from);

		*at = next_execution(&a, addr, search->from);
		if (*at >= end)
			return TS_END;
		next = next < *at ? next : *at;
		if (is_at(&a, next)) {
			if (next == *at)
				return TS_ITEM;
			if (search->has_begun)
				return TS_END;
			search->has_begun = true;
		}
		search->from = next + 1;
		if (n % LOOKS_A_CHUNK == 0 && !ts_budget_take(budget))
			return TS_MORE;
	}
}

uint32_t ts_ask_thread(const struct ts_ask *ask, const struct ts_question *qn)
{
	return qn->thread != TS_NO_THREAD ? qn->thread : ts_query_thread(ask->q, qn->at);
}

uint32_t ts_ask_process(const struct ts_ask *ask, const struct ts_question *qn)
{
	return ts_query_process(ask->q, ts_ask_thread(ask, qn));
}

/* The number that the bytes are, if they are all known. */
static bool number_of(const struct ts_ask *ask, const uint8_t *data, const uint8_t *known, size_t len,
		      uint64_t *number)
{
	if (!len || len > 8 || memchr(known, 0, len))
		return false;
	*number = ts_arch_get(ts_query_regset(ask->q)->arch, data, len);
	return true;
}

bool ts_value_holds(const struct ts_ask *ask, const struct ts_cond *cond, const uint8_t *data,
		    const uint8_t *known, size_t len, bool is_bit)
{
	uint64_t number;

	if (!cond->n)
		return true;
	return number_of(ask, data, known, len, &number) &&
	       ts_term_holds(&cond->terms[0], number, is_bit ? 8 : (unsigned)len * 8);
}

/* Registers of a thread at a position, read when the first term needs them. */
struct registers {
	uint8_t *data, *known; /* owned: one allocation */
	uint64_t pos;          /* TS_NO_POS: not read yet */
	uint32_t thread;
	uint32_t n_run;        /* instructions of expressions */
	unsigned n_looks;      /* at memory, by expressions */
};

static bool need_room(struct registers *r, const struct ts_ask *ask, struct ts_error *err)
{
	uint32_t len = ts_query_regset(ask->q)->g_len;

	if (!r->data)
		r->data = malloc(2 * (size_t)len);
	if (!r->data)
		return ts_no_memory(err, "the registers");
	r->known = r->data + len;
	return true;
}

static bool read_registers(struct registers *r, struct ts_ask *ask, uint64_t pos, struct ts_error *err)
{
	if (r->pos == pos)
		return true;
	if (!need_room(r, ask, err))
		return false;
	r->pos = pos;
	return ts_query_regs(ask->q, pos, r->thread, r->data, r->known, err);
}

/*
 * What cannot be evaluated does not hold: unknown registers or memory, a division by zero.  All expressions of a
 * position share the instructions and looks at memory that one may have.
 */
static bool agent_holds(const struct ts_term *t, struct registers *r, const struct ts_ask *ask, uint64_t pos,
			bool *holds, struct ts_error *err)
{
	struct ts_ax_state state;
	struct ts_ax_env env;
	uint64_t value = 0;
	uint32_t n_run = 0;

	if (!need_room(r, ask, err))
		return false;
	r->pos = TS_NO_POS;
	ts_ax_state_init(&state, ask->q, pos, r->thread, r->data);
	state.view = ask->view;
	state.n_looks = r->n_looks;
	ts_ax_state_env(&state, &env);
	env.budget = TS_AX_STATE_BUDGET - r->n_run;
	env.n_run = &n_run;
	*holds = r->n_run < TS_AX_STATE_BUDGET && ts_ax_eval(t->agent, &env, &value) == TS_AX_OK && value;
	r->n_run += n_run;
	r->n_looks = state.n_looks;
	return true;
}

/* The bytes of a register or flag at @pos. */
static bool read_register(const struct ts_what *place, struct registers *r, struct ts_ask *ask, uint64_t pos,
			  uint8_t data[8], uint8_t known[8], struct ts_error *err)
{
	if (!read_registers(r, ask, pos, err))
		return false;
	memcpy(data, r->data + place->off, place->len);
	memcpy(known, r->known + place->off, place->len);
	if (place->is_flag)
		data[0] = data[0] >> place->bit & 1;
	return true;
}

/* The address of a term about memory at @pos; *has_addr: the register that it is relative to is known. */
static bool find_address(const struct ts_term *t, struct registers *r, struct ts_ask *ask, uint64_t pos,
			 uint64_t *addr, bool *has_addr, struct ts_error *err)
{
	uint8_t data[8], known[8];

	*addr = t->place.addr;
	*has_addr = true;
	if (!t->has_base)
		return true;
	if (!read_register(&t->base, r, ask, pos, data, known, err))
		return false;
	*has_addr = number_of(ask, data, known, t->base.len, addr);
	*addr = (*addr + t->place.addr) & ts_arch_addr_mask(ts_query_regset(ask->q)->arch);
	return true;
}

static bool memory_holds(const struct ts_term *t, struct registers *r, struct ts_ask *ask, uint64_t pos,
			 bool *holds, struct ts_error *err)
{
	uint32_t process = ts_query_process(ask->q, r->thread);
	size_t len = (size_t)(t->place.last - t->place.addr) + 1;
	uint64_t addr, number;
	uint8_t data[8], known[8];
	bool has_addr;

	if (!find_address(t, r, ask, pos, &addr, &has_addr, err))
		return false;
	if (!has_addr)
		return true;
	if (!ts_virtual_mem(ask->q, pos, process, addr, len, data, known, err))
		return false;
	*holds = number_of(ask, data, known, len, &number) && ts_term_holds(t, number, (unsigned)len * 8);
	return true;
}

static bool term_holds(const struct ts_term *t, const struct ts_judged *judged, struct registers *r,
		       struct ts_ask *ask, uint64_t pos, bool *holds, struct ts_error *err)
{
	const struct ts_what *place = t->kind == TS_TERM_RESULT ? &judged->result : &t->place;
	uint8_t data[8], known[8];
	uint64_t number;

	if (t->kind == TS_TERM_AGENT)
		return agent_holds(t, r, ask, pos, holds, err);
	if (t->kind == TS_TERM_MEM)
		return memory_holds(t, r, ask, pos, holds, err);
	if (place->kind == TS_WHAT_NONE)
		return true;
	if (!read_register(place, r, ask, pos, data, known, err))
		return false;
	*holds = number_of(ask, data, known, place->len, &number) &&
		 ts_term_holds(t, number, (unsigned)place->len * 8);
	return true;
}

/* Find where each term is judged. */
static enum ts_next find_places(struct ts_judged *judged, const struct ts_ask *ask, const struct ts_cond *cond,
				uint64_t pos, uint32_t thread, struct ts_budget *budget, struct ts_error *err)
{
	for (; judged->n < cond->n; judged->n++) {
		const struct ts_term *t = &cond->terms[judged->n];
		uint64_t *at = &judged->at[judged->n];
		enum ts_next got = TS_ITEM;

		*at = t->kind == TS_TERM_RESULT ? judged->result_at : pos;
		if (t->has_addr)
			got = activation_reaches(ask, pos, thread, t->addr, &judged->search, at, budget,
						    err);
		if (got == TS_MORE || got == TS_FAIL)
			return got;
		if (got == TS_END)
			*at = TS_NO_POS;
		judged->search = (struct ts_activation_search){ 0 };
	}
	judged->n = 0;
	return TS_ITEM;
}

/* Work of expressions that takes as long as a chunk that is decoded: in instructions; a read of memory counts as this number. */
#define WORK_A_CHUNK 4096u
#define WORK_A_LOOK  256u

/* Charge the work of a position's expressions to the budget. */
static void charge(struct ts_judged *judged, const struct registers *r, struct ts_budget *budget)
{
	judged->work += r->n_run + r->n_looks * WORK_A_LOOK;
	for (; judged->work >= WORK_A_CHUNK; judged->work -= WORK_A_CHUNK)
		judged->is_overdrawn |= !ts_budget_take(budget);
}

enum ts_next ts_state_holds(struct ts_ask *ask, const struct ts_cond *cond, uint64_t pos, uint32_t thread,
			    struct ts_judged *judged, bool *holds, struct ts_budget *budget,
			    struct ts_error *err)
{
	struct registers r = { .pos = TS_NO_POS, .thread = thread };
	enum ts_next got = TS_MORE;
	bool is_done = true, all = true;

	if (!judged->is_overdrawn || ts_budget_take(budget))
		got = find_places(judged, ask, cond, pos, thread, budget, err);
	if (got != TS_ITEM)
		return got;
	judged->is_overdrawn = false;
	*holds = !cond->n;
	for (unsigned i = 0; i < cond->n && is_done && !*holds; i++) {
		const struct ts_term *t = &cond->terms[i];
		bool term = false;

		if (all && judged->at[i] != TS_NO_POS)
			is_done = term_holds(t, judged, &r, ask, judged->at[i], &term, err);
		all = all && term;
		if (t->ends_and) {
			*holds = all;
			all = true;
		}
	}
	free(r.data);
	charge(judged, &r, budget);
	return is_done ? TS_ITEM : TS_FAIL;
}

enum ts_next ts_ask_need_calls(struct ts_ask *ask, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next need = ts_query_need_calls(ask->q, (uint64_t)budget->left * TS_CHUNK_STEPS, err);

	if (need == TS_MORE)
		budget->left = 0;
	return need == TS_END ? TS_ITEM : need;
}

void ts_cell_caller(struct ts_row *row, unsigned i, struct ts_ask *ask, uint64_t pos)
{
	struct ts_call call;

	if (ts_query_innermost_call(ask->q, ts_query_thread(ask->q, pos), pos, &call))
		ts_row_addr(row, i, call.pc);
}
