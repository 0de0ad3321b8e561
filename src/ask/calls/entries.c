/* SPDX-License-Identifier: MIT */
#include "entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/query/code/handlers.h"
#include "src/query/paging.h"
#include "src/symbols/symbols.h"
#include "src/query/search/scan.h"
#include "src/arch/arch.h"
#include "src/base/collections/bisect.h"
#include "src/base/text/suffix.h"
#include "src/base/collections/vec.h"
#include "src/query/search/call_list.h"

/* The executions, and the part of the calls, that are examined before the functions worth a search are counted. */
#define MIN_LOOKED 256u
#define CALLS_A_LOOK 64u

/* Executions inside of a call that are examined before it is said that the call does not lead to a function. */
#define MAX_LOOKS 4096u

/* What stubs that jump to a function have at most: that of AArch64 with branch target identification. */
#define MAX_STUB 5u

/* Of a function: where it is executed next. */
struct item {
	uint64_t pos, addr;
};

/* --------------------------------------------------------------- functions that are entered by calls only */

/*
 * The number of calls of such a function equals the number of executions of its first instruction: no other entries of it
 * need to be searched for.
 */

/* Blocks of calls that are counted in the time of a chunk that is decoded. */
#define BLOCKS_A_CHUNK 8u

/* Add the function that begins at @addr; addresses ascend.  Returns false if memory is exhausted. */
static bool add_function(struct ts_entries *e, uint64_t addr)
{
	struct ts_entry_counts *c = &e->counts;

	return TS_PUSH(c->items, c->n, c->cap, (struct ts_entry_count){ .addr = addr });
}

/* The function that begins at @addr; NULL if it was not added. */
static struct ts_entry_count *find_function(const struct ts_entries *e, uint64_t addr)
{
	const struct ts_entry_counts *c = &e->counts;
	size_t at = 0;

	TS_BISECT(at, c->n, i, c->items[i].addr < addr);
	return at < c->n && c->items[at].addr == addr ? &c->items[at] : NULL;
}

static void add_executed(void *user, const struct ts_executed *x)
{
	const struct ts_entries *e = user;
	struct ts_entry_count *found = x->process == e->process ? find_function(e, x->pc) : NULL;

	if (found)
		found->n += x->n;
}

/*
 * The last step of the thread that can have called and be followed by the callee's first instruction, TS_NO_POS if
 * none is found.
 */
static uint64_t last_caller(const struct ts_entries *e, uint32_t thread)
{
	const struct ts_query *q = e->ask->q;
	unsigned n = 1 + ts_query_regset(q)->arch->has_delay_slots;
	uint64_t pos = e->ask->n_steps ? ts_query_prev_step(q, thread, e->ask->n_steps - 1) : TS_NO_POS;

	while (n-- && pos != TS_NO_POS)
		pos = pos ? ts_query_prev_step(q, thread, pos - 1) : TS_NO_POS;
	return pos;
}

static void count_block(struct ts_entries *e, uint32_t n_calls)
{
	struct ts_entry_counts *c = &e->counts;
	struct ts_call calls[TS_CALL_BLOCK];
	uint64_t last = last_caller(e, c->thread);
	uint32_t n = ts_query_call_block(e->ask->q, c->thread, c->ordinal, calls);

	for (uint32_t i = 0; i < n && calls[i].ordinal < n_calls; i++) {
		struct ts_entry_count *found;

		if (calls[i].kind == TS_CALL_SWITCH || last == TS_NO_POS || calls[i].pos > last)
			continue;
		found = find_function(e, calls[i].target);
		if (found)
			found->n--;
	}
	c->ordinal += n;
}

/*
 * Continue to count, in the whole recording.  All functions must have been added, and the index must have its
 * calls.
 *
 * Returns true when the counts are complete, false if the budget is used up.
 */
static bool count(struct ts_entries *e, struct ts_budget *budget)
{
	struct ts_entry_counts *c = &e->counts;
	struct ts_query *q = e->ask->q;
	unsigned n = 0;

	while (!c->has_executed) {
		if (!ts_budget_take(budget))
			return false;
		c->has_executed = !ts_query_each_executed(q, 0, e->ask->n_steps, &c->executed, add_executed, e);
	}
	while (c->thread < ts_query_n_threads(q)) {
		uint32_t n_calls = ts_query_process(q, c->thread) == e->process
					   ? ts_query_n_calls_before(q, c->thread, e->ask->n_steps) : 0;

		if (c->ordinal >= n_calls) {
			c->thread++;
			c->ordinal = 0;
			continue;
		}
		if (n++ % BLOCKS_A_CHUNK == 0 && !ts_budget_take(budget))
			return false;
		count_block(e, n_calls);
	}
	return true;
}

/* Was the function at @addr, which was added, also entered without a call?  The counts must be complete. */
static bool has_other_entries(const struct ts_entries *e, uint64_t addr)
{
	const struct ts_entry_count *found = find_function(e, addr);

	return !found || found->n;
}

static bool is_before(const void *user, const void *x, const void *y)
{
	const struct ts_entries *e = user;
	const struct item *a = x, *b = y;

	if (a->pos != b->pos)
		return (a->pos < b->pos) != e->is_reverse;
	return a->addr < b->addr;
}

/* By the step that led to it; a thread's first instruction is entered before it is executed. */
static bool is_found_before(const void *user, const void *x, const void *y)
{
	const struct ts_entries *e = user;
	const struct ts_entry *a = x, *b = y;

	if (a->call.pos != b->call.pos)
		return (a->call.pos < b->call.pos) != e->is_reverse;
	return (a->kind == TS_ENTRY_FIRST && b->kind != TS_ENTRY_FIRST) != e->is_reverse;
}

bool ts_entries_init(struct ts_entries *e, struct ts_ask *ask, uint32_t process, uint32_t thread, uint64_t from,
		     uint64_t to, bool is_reverse, bool is_of_one, uint64_t alias)
{
	*e = (struct ts_entries){
		.ask = ask,
		.process = process,
		.thread = thread,
		.from = from,
		.to = to,
		.is_reverse = is_reverse,
		.is_of_one = is_of_one,
		.alias = alias,
		.n_resumes = ts_query_n_threads(ask->q),
	};
	ts_heap_init(&e->heap, sizeof(struct item), is_before, e);
	ts_heap_init(&e->found, sizeof(struct ts_entry), is_found_before, e);
	e->resumes = calloc(e->n_resumes + 1, sizeof(*e->resumes));
	return e->resumes != NULL;
}

void ts_entries_fini(struct ts_entries *e)
{
	free(e->counts.items);
	ts_heap_fini(&e->heap);
	ts_heap_fini(&e->found);
	free(e->resumes);
}

/* The execution of the function at @addr that follows @pos in the direction of the cursor, which excludes it. */
static bool put_next(struct ts_entries *e, uint64_t addr, uint64_t pos)
{
	const struct ts_query *q = e->ask->q;
	uint64_t next;

	if (e->is_reverse && !pos--)
		return true;
	next = ts_query_find_execution(q, e->process, addr, addr, pos, e->is_reverse);
	if (next == TS_NO_POS || next < e->from || next > e->to || next >= e->ask->n_steps)
		return true;
	return ts_heap_put(&e->heap, &(struct item){ next, addr });
}

bool ts_entries_add(struct ts_entries *e, uint64_t addr)
{
	return add_function(e, addr) &&
	       put_next(e, addr, !e->is_reverse ? e->from : e->to < e->ask->n_steps ? e->to + 1 : e->ask->n_steps);
}

/* --------------------------------------------------------------------------------------------- what it is */

bool ts_entries_linked_name(const char *name, char *to, size_t size)
{
	size_t len = strlen(name), n = ts_suffix_len(name, len, TS_LINKED);

	return n && snprintf(to, size, "%.*s", (int)(len - n), name) < (int)size;
}

/* Is @call, by its name, that of an entry of a linkage table which leads to the function at @addr? */
static bool is_named_link(const struct ts_entries *e, const struct ts_call *call, uint64_t addr)
{
	const struct ts_ask *ask = e->ask;
	const struct ts_symbol *s = ask->symbols ? ts_symbols_function_at(ask->symbols, call->target) : NULL;
	char name[256];

	return s && s->addr == call->target && ts_entries_linked_name(s->mangled, name, sizeof(name)) &&
	       (ts_symbols_is_at(ask->symbols, name, addr) || (e->alias && ts_symbols_is_at(ask->symbols, name, e->alias)));
}

/* The first step of the function at @addr in @call itself, not in those that it made; TS_NO_POS: none. */
static uint64_t first_in_call(const struct ts_ask *ask, const struct ts_call *call, uint64_t addr)
{
	uint32_t process = ts_query_process(ask->q, call->thread);
	uint64_t pos = call->pos;
	struct ts_call inner;

	for (unsigned n = 0; n < MAX_LOOKS; n++) {
		pos = ts_query_find_execution(ask->q, process, addr, addr, pos + 1, TS_FORWARDS);
		if (pos == TS_NO_POS || pos >= call->end)
			return TS_NO_POS;
		if (ts_query_thread(ask->q, pos) == call->thread &&
		    ts_query_innermost_call(ask->q, call->thread, pos, &inner) && inner.ordinal == call->ordinal)
			return pos;
	}
	return TS_NO_POS;
}

/* Did the thread execute what is not recorded after step @step? */
static bool has_gap(const struct ts_query *q, uint32_t thread, uint64_t step)
{
	uint64_t n = ts_query_n_events(q, TS_EV_GAP);

	for (uint64_t i = ts_query_n_events_below(q, TS_EV_GAP, step); i < n; i++) {
		const struct ts_event_at *e = ts_query_event(q, TS_EV_GAP, i);

		if (e->step != step)
			break;
		if (e->thread == thread)
			return true;
	}
	return false;
}

/* Does control go from @call, through a few steps, to what is not recorded? */
static bool leads_away(const struct ts_query *q, const struct ts_call *call)
{
	for (uint64_t at = call->pos; at <= call->pos + MAX_STUB + 1 && at < call->end; at++) {
		if (ts_query_thread(q, at) == call->thread && has_gap(q, call->thread, at))
			return true;
	}
	return false;
}

bool ts_entries_is_link(const struct ts_entries *e, const struct ts_call *call, uint64_t addr)
{
	return is_named_link(e, call, addr) &&
	       (first_in_call(e->ask, call, addr) != TS_NO_POS || leads_away(e->ask->q, call));
}

/* Do the symbols have a function at @addr that is not an entry of a linkage table? */
static bool is_function(const struct ts_ask *ask, uint64_t addr)
{
	const struct ts_symbol *s = ask->symbols ? ts_symbols_function_at(ask->symbols, addr) : NULL;

	return s && s->addr == addr && !ts_has_suffix(s->mangled, TS_LINKED);
}

/*
 * Does @call reach the function @addr at @pos through a stub of the static linker?  A stub has at most MAX_STUB steps and
 * no symbol; the function has a symbol.
 */
static bool is_stub(const struct ts_entries *e, const struct ts_call *call, uint64_t pos, uint64_t addr)
{
	if (pos - call->pos > MAX_STUB + 1 || is_function(e->ask, call->target) || !is_function(e->ask, addr))
		return false;
	for (uint64_t at = call->pos; at < pos; at++) {
		if (ts_query_thread(e->ask->q, at) != call->thread)
			return false;
	}
	return true;
}

/* Did the call instruction of @call, or the one in its delay slot at step @from, lead to its target? */
static bool is_made_by(const struct ts_entries *e, const struct ts_call *call, uint64_t from)
{
	const struct ts_query *q = e->ask->q;

	return call->pos == from || (ts_query_regset(q)->arch->has_delay_slots && from &&
				     call->pos == ts_query_prev_step(q, call->thread, from - 1));
}

/* The caller is not recorded, nor where it ends: inside the calls that are open. */
static void set_unseen(struct ts_entry *entry, bool has_call)
{
	entry->kind = TS_ENTRY_UNSEEN;
	entry->call.depth = has_call ? entry->call.depth + 1 : 1;
	entry->call.end = TS_NO_END;
	entry->call.kind = TS_CALL_OPEN;
}

/* The caller of a handler that follows another one is what that one interrupted. */
static bool set_interrupted(const struct ts_entries *e, const struct ts_handler *h, struct ts_call *call, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *s = ts_query_step(e->ask->q, h->interrupted, &b, err);

	if (s)
		call->pc = s->pc;
	return s;
}

/* Where the handler is over: by sigreturn, or by longjmp out of the call that it interrupted, which ends there. */
static uint64_t handler_end(const struct ts_entries *e, uint32_t thread, const struct ts_handler *h)
{
	struct ts_call interrupted;

	if (!ts_query_innermost_call(e->ask->q, thread, h->interrupted, &interrupted))
		return h->end == TS_NO_POS ? TS_NO_END : h->end;
	return h->end < interrupted.end ? h->end : interrupted.end;
}

/*
 * The entry at @pos, by step @from of the thread, in or by the innermost open call if @has_call.  Returns false if it is
 * none: a call led to it, by itself or through an entry of a linkage table.
 */
static bool classify(const struct ts_entries *e, uint64_t pos, uint64_t from, uint64_t addr, bool has_call,
		     struct ts_entry *entry, struct ts_error *err)
{
	struct ts_call *call = &entry->call;
	struct ts_handler h;

	if (has_call && call->target == addr && is_made_by(e, call, from))
		return false;
	if (ts_query_handler_after(e->ask->q, call->thread, from, &h, err)) {
		call->depth = has_call ? call->depth + 1 : 1;
		call->end = handler_end(e, call->thread, &h);
		call->kind = TS_CALL_OPEN;
		entry->kind = TS_ENTRY_HANDLER;
	} else if (has_call && is_named_link(e, call, addr) && first_in_call(e->ask, call, addr) == pos) {
		return false;
	} else if (has_call && e->is_of_one && is_stub(e, call, pos, addr) &&
		   !has_gap(e->ask->q, call->thread, from)) {
		entry->kind = TS_ENTRY_STUB;
		call->target = addr;
		return call->pos >= e->from && call->pos < e->to;
	} else if (ts_query_is_handler_return(e->ask->q, call->thread, pos)) {
		return false; /* the handler of a signal returned to where the system wanted it to */
	} else if (has_gap(e->ask->q, call->thread, from)) {
		set_unseen(entry, has_call);
	}
	call->pos = from;
	call->pc = TS_NO_PC;
	call->target = addr;
	return entry->kind != TS_ENTRY_HANDLER || h.interrupted == from || set_interrupted(e, &h, call, err);
}

bool ts_entries_first_return(struct ts_query *q, uint32_t thread, uint64_t pos, uint64_t *sp, uint64_t *ret,
			     struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(q);
	size_t word = set->arch->addr_bits / 8;
	uint8_t data[8], known[8];

	*ret = 0;
	if (strcmp(set->arch->name, "x86_64") && strcmp(set->arch->name, "i386"))
		return true;
	if (!ts_query_reg(q, pos, thread, set->sp, sp, err))
		return err->code == TS_OK;
	if (!ts_virtual_mem(q, pos, ts_query_process(q, thread), *sp, word, data, known, err))
		return false;
	if (!memchr(known, 0, word))
		*ret = ts_arch_get(set->arch, data, word);
	return true;
}

/* The maximum number of arrivals at the return address that are examined. */
#define MAX_ARRIVALS 256u

/* A function that the thread was in from the first: it may return while it is recorded. */
static bool find_first_end(const struct ts_entries *e, struct ts_call *call, struct ts_error *err)
{
	struct ts_query *q = e->ask->q;
	uint64_t pos = call->pos, sp, now, ret;

	if (!ts_entries_first_return(q, call->thread, pos, &sp, &ret, err))
		return false;
	for (unsigned i = 0; ret && i < MAX_ARRIVALS; i++) {
		pos = ts_query_find_arrival(q, e->process, ret, ret, pos + 1, TS_FORWARDS);
		if (pos == TS_NO_POS)
			break;
		if (ts_query_thread(q, pos) != call->thread)
			continue;
		if (!ts_query_reg(q, pos, call->thread, ts_query_regset(q)->sp, &now, err))
			return err->code == TS_OK;
		if (now > sp) {
			call->end = pos;
			call->kind = TS_CALL_RETURN;
			break;
		}
	}
	return true;
}

/* Is the execution at @pos an entry?  Returns false if not, or if the trace cannot be read: then err->code is set. */
static bool look(const struct ts_entries *e, uint32_t thread, uint64_t pos, uint64_t addr, struct ts_entry *entry,
		 struct ts_error *err)
{
	struct ts_query *q = e->ask->q;
	uint64_t from = pos ? ts_query_prev_step(q, thread, pos - 1) : TS_NO_POS;
	struct ts_call call;
	bool has_call;

	*entry = (struct ts_entry){ .call = { .pos = pos, .end = TS_NO_END, .target = addr, .thread = thread,
					      .depth = 1, .kind = TS_CALL_OPEN },
				    .kind = from == TS_NO_POS ? TS_ENTRY_FIRST : TS_ENTRY_TAIL };
	if (from == TS_NO_POS)
		return e->is_of_one && pos >= e->from && pos < e->to && find_first_end(e, &entry->call, err);
	if (from < e->from || from >= e->to)
		return false;
	has_call = ts_query_innermost_call(q, thread, from + 1, &call);
	if (has_call)
		entry->call = call;
	return classify(e, pos, from, addr, has_call, entry, err);
}

/* -------------------------------------------------------------------------------------------------- order */

/* Add the execution at @pos to what was found if it is an entry.  Returns false if it fails (*err). */
static bool find(struct ts_entries *e, uint32_t thread, uint64_t pos, uint64_t addr, struct ts_error *err)
{
	struct ts_entry entry;

	if (!look(e, thread, pos, addr, &entry, err))
		return err->code == TS_OK;
	return ts_heap_put(&e->found, &entry) || ts_no_memory(err, "a question");
}

/*
 * Find the entries by which other threads than @except go on after @pos: the step that led to such an entry is before
 * @pos.
 */
static bool find_resumed(struct ts_entries *e, uint64_t pos, uint32_t except, struct ts_error *err)
{
	struct ts_query *q = e->ask->q;

	for (uint32_t i = 0; i < e->n_resumes && e->n_resumes > 1; i++) {
		bool is_asked = e->thread == TS_NO_THREAD || e->thread == i;
		uint64_t next, pc;
		bool has_pc;

		if (i == except || !is_asked || pos < e->resumes[i] || ts_query_process(q, i) != e->process)
			continue;
		next = e->resumes[i] = ts_query_next_step(q, i, pos + 1);
		if (next >= e->ask->n_steps)
			continue;
		if (!ts_query_pc(q, next, i, &pc, &has_pc, err))
			return false;
		if (has_pc && find_function(e, pc) && !find(e, i, next, pc, err))
			return false;
	}
	return true;
}

/*
 * What is in found comes before all that is found later.  Forwards each look finds what the steps before its position led
 * to; backwards the steps that led to the executions that follow lie before these.
 */
static bool is_ready(const struct ts_entries *e)
{
	const struct ts_entry *first = ts_heap_first(&e->found);
	const struct item *next = ts_heap_first(&e->heap);

	return first && (!e->is_reverse || !next || first->call.pos >= next->pos);
}

/* Examine an execution. */
static bool look_at(struct ts_entries *e, const struct item *it, struct ts_error *err)
{
	uint32_t thread = ts_query_thread(e->ask->q, it->pos);
	bool is_asked = e->thread == TS_NO_THREAD || e->thread == thread;
	bool was_found = !e->is_reverse && it->pos && e->resumes[thread] == it->pos;

	if (is_asked && !was_found && !find(e, thread, it->pos, it->addr, err))
		return false;
	return e->is_reverse || e->thread != TS_NO_THREAD || find_resumed(e, it->pos, thread, err);
}

/* The range ends while threads wait. */
static bool look_at_end(struct ts_entries *e, struct ts_error *err)
{
	e->has_ends = true;
	return e->to >= e->ask->n_steps || find_resumed(e, e->to, TS_NO_THREAD, err);
}

/* -------------------------------------------------------------------------------------------------- costs */

/* Is it time to know which functions are entered by calls alone? */
static bool is_worth_counting(const struct ts_entries *e)
{
	uint64_t n_calls = 0;

	if (e->is_counted || e->n_looked < MIN_LOOKED)
		return false;
	for (uint32_t i = 0; i < e->n_resumes; i++)
		n_calls += ts_query_n_calls(e->ask->q, i);
	return e->n_looked >= n_calls / CALLS_A_LOOK;
}

/*
 * Leave out the functions that are entered by calls alone.
 *
 * Returns TS_ITEM when that is done, TS_MORE if the budget is used up, TS_FAIL if memory is exhausted.
 */
static enum ts_next leave_out(struct ts_entries *e, struct ts_budget *budget)
{
	struct ts_heap kept;
	struct item it;

	if (!count(e, budget))
		return TS_MORE;
	e->is_counted = true;
	ts_heap_init(&kept, sizeof(struct item), is_before, e);
	while (ts_heap_take(&e->heap, &it)) {
		if (has_other_entries(e, it.addr) && !ts_heap_put(&kept, &it)) {
			ts_heap_fini(&kept);
			return TS_FAIL;
		}
	}
	ts_heap_fini(&e->heap);
	e->heap = kept;
	return TS_ITEM;
}

/* Examine the next execution.  Returns TS_ITEM when that is done, TS_END after the last one. */
static enum ts_next look_at_next(struct ts_entries *e, struct ts_budget *budget, struct ts_error *err)
{
	struct item it;

	if (!e->has_ends && (e->is_reverse || !ts_heap_first(&e->heap)))
		return look_at_end(e, err) ? TS_ITEM : TS_FAIL;
	if (!ts_heap_first(&e->heap))
		return TS_END;
	if (is_worth_counting(e))
		return leave_out(e, budget);
	if (!ts_budget_take(budget))
		return TS_MORE;
	ts_heap_take(&e->heap, &it);
	e->n_looked++;
	return put_next(e, it.addr, e->is_reverse ? it.pos : it.pos + 1) && look_at(e, &it, err) ? TS_ITEM : TS_FAIL;
}

enum ts_next ts_entries_next(struct ts_entries *e, struct ts_entry *entry, struct ts_budget *budget,
			     struct ts_error *err)
{
	while (!is_ready(e)) {
		enum ts_next got = look_at_next(e, budget, err);

		if (got == TS_FAIL && err->code == TS_OK)
			ts_no_memory(err, "a question");
		if (got != TS_ITEM)
			return got;
	}
	ts_heap_take(&e->found, entry);
	return TS_ITEM;
}
