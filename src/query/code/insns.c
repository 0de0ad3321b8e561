/* SPDX-License-Identifier: MIT */
#include "insns.h"

#include <stdio.h>
#include <string.h>

#include "src/query/paging.h"

bool ts_query_op_state(struct ts_query *q, uint64_t pos, uint32_t thread, struct ts_op_state *state,
		       struct ts_error *err)
{
	const struct ts_insn_room *room = ts_query_insn_room(q, err);
	const struct ts_regset *set = ts_query_regset(q);
	uint8_t *g;

	if (!room)
		return false;
	g = room->g;
	*state = (struct ts_op_state){ .arch = set->arch, .g = g, .known = g + set->g_len };
	state->flags_off = set->flags < 0 ? TS_NO_OFF16 : (uint16_t)set->regs[set->flags].off;
	return ts_query_regs(q, pos, thread, g, g + set->g_len, err);
}

bool ts_query_happens(struct ts_query *q, uint64_t pos, const struct ts_decoded *d,
		      enum ts_op_happens *happens, struct ts_error *err)
{
	struct ts_op_state state;

	*happens = TS_HAPPENS;
	if (d->ops.condition == TS_IF_ALWAYS)
		return true;
	if (!ts_query_op_state(q, pos, ts_query_thread(q, pos), &state, err))
		return false;
	*happens = ts_operands_happen(&d->ops, &state);
	return true;
}

/* The event that came instead of what the instruction of the step does; NULL if none is found. */
static const struct ts_event *find_stop(const struct ts_steps *b, const struct ts_step *st)
{
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];
		const struct ts_event *ev = e->kind == TS_FX_EVENT ? &b->events[e->item] : NULL;

		if (ev && (ev->kind == TS_EV_INTERRUPT || ev->kind == TS_EV_FAULT || (ev->kind == TS_EV_SIGNAL && !ev->is_after)))
			return ev;
	}
	return NULL;
}

/*
 * Did the thread continue after the instruction nevertheless?  Some formats do not distinguish faults from
 * other signals.
 */
static bool goes_on(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t behind, bool *does, struct ts_error *err)
{
	uint64_t pc = 0;
	bool is_read = ts_query_pc(q, pos + 1, thread, &pc, does, err);

	*does &= pc == behind;
	return is_read;
}

struct ts_decoded *ts_query_insn(struct ts_query *q, uint64_t pos, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(q, pos, &b, err);
	const struct ts_event *ev = st && b->n_events ? find_stop(b, st) : NULL;
	enum ts_event_kind kind = ev ? ev->kind : TS_EV_SYSCALL;
	uint32_t thread = st ? st->thread : 0;
	bool is_undone = st && st->is_undone, does = false;
	struct ts_decoded *d = st ? ts_query_code(q, pos, err) : NULL, *x; /* @st is not used any more */

	if (!d || (!ev && !is_undone))
		return d;
	if (kind == TS_EV_SIGNAL && !goes_on(q, pos, thread, d->pc + d->ops.len, &does, err))
		return NULL;
	if (does)
		return d;
	x = &ts_query_insn_room(q, err)->stopped;
	*x = (struct ts_decoded){ .pc = d->pc, .process = d->process, .is_stopped = true, .mode = d->mode };
	if (kind == TS_EV_INTERRUPT || !d->is_insn)
		return x;
	memcpy(x->bytes, d->bytes, sizeof(x->bytes));
	x->len = d->len;
	x->ops.len = d->ops.len;
	snprintf(x->text, sizeof(x->text), "%s", ts_decoded_text(q, d));
	return x;
}

/* Is @virtual mapped to the page of @phys?  Then *addr gets the address of that byte in it. */
static bool try_page(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t virtual, uint64_t phys, uint64_t *addr,
		     bool *is_found, struct ts_error *err)
{
	struct ts_translation t;

	if (!ts_translate_at(q, pos, process, virtual, &t, err))
		return false;
	if (t.mapping == TS_MAPPED && (t.phys ^ phys) < t.page_len) {
		*addr = (virtual & ~(t.page_len - 1)) | (phys & (t.page_len - 1));
		*is_found = true;
	}
	return true;
}

bool ts_query_access_addr(struct ts_query *q, uint64_t pos, uint64_t phys, uint64_t *addr, bool *is_found,
			  struct ts_error *err)
{
	uint32_t thread = ts_query_thread(q, pos), process = ts_query_process(q, thread);
	struct ts_op_state state;
	struct ts_decoded *d;

	*is_found = false;
	if (!ts_paging_is_known(q))
		return true;
	if (!ts_query_has_operands(q))
		return ts_untranslate_at(q, pos, process, phys, addr, is_found, err);
	d = ts_query_insn(q, pos, err);
	if (!d || !ts_query_op_state(q, pos, thread, &state, err))
		return false;
	for (unsigned i = 0; d->is_insn && i < d->ops.n_mem && !*is_found; i++) {
		const struct ts_op_mem *m = &d->ops.mem[i];
		uint64_t first, last;

		if (!ts_operands_addr(&d->ops, i, &state, &first))
			continue;
		last = first + (m->size ? m->size - 1u : 0);
		if (!try_page(q, pos, process, first, phys, addr, is_found, err) ||
		    (!*is_found && !try_page(q, pos, process, last, phys, addr, is_found, err)))
			return false;
	}
	return *is_found || ts_untranslate_at(q, pos, process, phys, addr, is_found, err);
}
