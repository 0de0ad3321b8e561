/* SPDX-License-Identifier: MIT */
#include "entries.h"

#include <string.h>

#include "handlers.h"
#include "src/symbols/symbols.h"

/* Of a function: where it is executed next. */
struct item {
	uint64_t pos, addr;
};

static bool is_before(const void *user, const void *x, const void *y)
{
	const struct ts_entries *e = user;
	const struct item *a = x, *b = y;

	if (a->pos != b->pos)
		return (a->pos < b->pos) != e->is_reverse;
	return a->addr < b->addr;
}

void ts_entries_init(struct ts_entries *e, struct ts_ask *ask, uint32_t process, uint32_t thread, uint64_t from,
		     uint64_t to, bool is_reverse, bool has_linked)
{
	*e = (struct ts_entries){
		.ask = ask,
		.process = process,
		.thread = thread,
		.from = from,
		.to = to,
		.is_reverse = is_reverse,
		.has_linked = has_linked,
	};
	ts_heap_init(&e->heap, sizeof(struct item), is_before, e);
}

void ts_entries_fini(struct ts_entries *e)
{
	ts_heap_fini(&e->heap);
}

/* The execution of the function at @addr that follows @pos in the direction of the cursor, which excludes it. */
static bool put_next(struct ts_entries *e, uint64_t addr, uint64_t pos)
{
	const struct ts_query *q = e->ask->q;
	uint64_t next;

	if (e->is_reverse)
		next = pos ? ts_query_prev_execution(q, e->process, addr, addr, pos - 1) : TS_NO_POS;
	else
		next = ts_query_next_execution(q, e->process, addr, addr, pos);
	if (next == TS_NO_POS || next < e->from || next > e->to || next >= e->ask->n_steps)
		return true;
	return ts_heap_put(&e->heap, &(struct item){ next, addr });
}

bool ts_entries_add(struct ts_entries *e, uint64_t addr)
{
	return put_next(e, addr, !e->is_reverse ? e->from : e->to < e->ask->n_steps ? e->to + 1 : e->ask->n_steps);
}

/* Is @call that of an entry of a linkage table which leads to the function at @addr? */
static bool is_linked(const struct ts_entries *e, const struct ts_call *call, uint64_t addr)
{
	struct ts_symbols *symbols = e->ask->symbols;
	const struct ts_symbol *s = symbols ? ts_symbols_function_at(symbols, call->target) : NULL;
	size_t len = s ? strlen(s->mangled) : 0, n = strlen(TS_LINKED);
	char name[256];

	if (len <= n || len - n >= sizeof(name) || strcmp(s->mangled + len - n, TS_LINKED) != 0)
		return false;
	memcpy(name, s->mangled, len - n);
	name[len - n] = '\0';
	return ts_symbols_is_at(symbols, name, addr);
}

/* Has the function been entered before in this call? */
static bool is_again(const struct ts_entries *e, const struct ts_call *call, uint64_t addr, uint64_t pos)
{
	uint64_t before = pos ? ts_query_prev_execution(e->ask->q, e->process, addr, addr, pos - 1) : TS_NO_POS;
	struct ts_call other;

	while (before != TS_NO_POS && before > call->pos) {
		if (ts_query_thread(e->ask->q, before) == call->thread &&
		    ts_query_innermost_call(e->ask->q, call->thread, before, &other) &&
		    other.ordinal == call->ordinal)
			return true;
		before = before ? ts_query_prev_execution(e->ask->q, e->process, addr, addr, before - 1) : TS_NO_POS;
	}
	return false;
}

/* Did the call instruction of @call, or the one in its delay slot at step @from, lead to its target? */
static bool is_made_by(const struct ts_entries *e, const struct ts_call *call, uint64_t from)
{
	const struct ts_query *q = e->ask->q;

	return call->pos == from || (ts_query_regset(q)->arch->has_delay_slots && from &&
				     call->pos == ts_query_prev_step(q, call->thread, from - 1));
}

/* The entry at @pos, by step @from of the thread, in or by the innermost open call if @has_call. */
static bool classify(const struct ts_entries *e, uint64_t pos, uint64_t from, uint64_t addr, bool has_call,
		     struct ts_entry *entry, struct ts_error *err)
{
	struct ts_call *call = &entry->call;
	struct ts_handler h;

	if (has_call && call->target == addr && is_made_by(e, call, from))
		return false;
	if (ts_handler_after(e->ask, call->thread, from, &h, err)) {
		call->depth = has_call ? call->depth + 1 : 1;
		call->end = h.end == TS_NO_POS ? TS_NO_END : h.end;
		call->kind = TS_CALL_OPEN;
		entry->kind = TS_ENTRY_HANDLER;
	} else if (has_call && is_linked(e, call, addr) && !is_again(e, call, addr, pos)) {
		entry->kind = TS_ENTRY_LINKED;
		call->target = addr;
		return e->has_linked;
	}
	call->pos = from;
	call->target = addr;
	return true;
}

/* Returns false if @it is not an entry, or if the trace cannot be read: then err->code is set. */
static bool look(const struct ts_entries *e, const struct item *it, struct ts_entry *entry, struct ts_error *err)
{
	struct ts_query *q = e->ask->q;
	uint32_t thread = ts_query_thread(q, it->pos);
	uint64_t from = it->pos ? ts_query_prev_step(q, thread, it->pos - 1) : TS_NO_POS;
	const struct ts_steps *batch;
	const struct ts_step *s;
	struct ts_call call;
	bool has_call;

	if (e->thread != TS_NO_THREAD && thread != e->thread)
		return false;
	*entry = (struct ts_entry){ .call = { .pos = it->pos, .end = TS_NO_END, .target = it->addr, .thread = thread,
					      .depth = 1, .kind = TS_CALL_OPEN },
				    .kind = from == TS_NO_POS ? TS_ENTRY_FIRST : TS_ENTRY_TAIL };
	if (from == TS_NO_POS)
		return e->has_linked && it->pos >= e->from && it->pos < e->to;
	has_call = ts_query_innermost_call(q, thread, from + 1, &call);
	if (has_call)
		entry->call = call;
	if (!classify(e, it->pos, from, it->addr, has_call, entry, err))
		return false;
	if (entry->kind == TS_ENTRY_LINKED)
		return entry->call.pos >= e->from && entry->call.pos < e->to;
	s = ts_query_step(q, from, &batch, err);
	if (!s)
		return false;
	entry->call.pc = s->pc;
	return from >= e->from && from < e->to;
}

enum ts_got ts_entries_next(struct ts_entries *e, struct ts_entry *entry, struct ts_budget *budget,
			    struct ts_error *err)
{
	struct item it;

	for (;;) {
		bool is_entry;

		if (!ts_heap_first(&e->heap))
			return TS_GOT_END;
		if (!ts_budget_take(budget))
			return TS_GOT_PENDING;
		ts_heap_take(&e->heap, &it);
		if (!put_next(e, it.addr, e->is_reverse ? it.pos : it.pos + 1)) {
			ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
			return TS_GOT_FAIL;
		}
		is_entry = look(e, &it, entry, err);
		if (err->code != TS_OK)
			return TS_GOT_FAIL;
		if (is_entry)
			return TS_GOT_ROW;
	}
}
