/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>

#include "src/arch/arch.h"
#include "src/query/paging.h"
#include "what.h"

#define NO_FLUSH (UINT64_C(1) << 63)
#define FLAGS    UINT64_C(0xfff)

static int find(const struct ts_query *q, const char *name)
{
	return ts_regset_find(ts_query_regset(q), name);
}

bool ts_machine_is_known(const struct ts_query *q)
{
	return ts_query_facts(q)->is_physical && find(q, "cr3") >= 0 && find(q, "cs") >= 0;
}

bool ts_machine_never_runs(const struct ts_query *q, uint64_t process)
{
	const struct ts_filter only = { .has_root = true, .root = process };

	return ts_query_is_complete(q) && ts_query_find_admitted(q, &only, 0, TS_FORWARDS) == TS_NO_POS;
}

bool ts_machine_check_process(const struct ts_query *q, uint64_t process, struct ts_error *err)
{
	if (!ts_machine_is_known(q))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "--process is about cr3, and only recordings of whole machines have it");
	if (ts_machine_never_runs(q, process))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "--process 0x%" PRIx64 ": that process never runs in this recording; 'query TRACE processes' lists those that do",
			       process);
	return true;
}

static bool touches(const struct ts_effect *e, const struct ts_reg *r)
{
	return e->addr < r->off + r->len && r->off < e->addr + e->len;
}

bool ts_machine_process(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t *process, struct ts_error *err)
{
	if (!ts_query_reg(q, pos, thread, find(q, "cr3"), process, err))
		return false;
	*process &= ~(FLAGS | NO_FLUSH);
	return true;
}

uint64_t ts_machine_next_change(const struct ts_query *q, uint32_t thread, uint64_t chunk)
{
	const struct ts_reg *r = &ts_query_regset(q)->regs[find(q, "cr3")];

	return ts_query_find_register(q, TS_ACCESS_WRITE | TS_ACCESS_CHANGE | TS_ACCESS_REPLACE, thread, r->off,
				      r->off + r->len - 1, chunk, TS_FORWARDS);
}

bool ts_machine_may_change(const struct ts_query *q, const struct ts_steps *b, const struct ts_step *s)
{
	const struct ts_regset *set = ts_query_regset(q);
	const struct ts_reg *cr3 = &set->regs[find(q, "cr3")], *cs = &set->regs[find(q, "cs")];
	bool may = false;

	for (uint32_t i = 0; i < s->n_effects && !may; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];

		may = e->kind == TS_FX_FORGET_REGS ||
		      ((e->kind == TS_FX_REG_WRITE || e->kind == TS_FX_REG_READ) && (touches(e, cr3) || touches(e, cs)));
	}
	return may;
}

/* Examine the registers. */
static bool look(const struct ts_machine *m, struct ts_query *q, uint64_t pos, bool *holds, struct ts_error *err)
{
	uint32_t thread = ts_query_thread(q, pos);
	uint64_t cr3 = 0, cs = 0;
	bool has_cr3 = !m->has_process || ts_query_reg(q, pos, thread, find(q, "cr3"), &cr3, err);
	bool has_cs = !m->has_ring || ts_query_reg(q, pos, thread, find(q, "cs"), &cs, err);

	*holds = has_cr3 && has_cs && (!m->has_process || (cr3 & ~(FLAGS | NO_FLUSH)) == m->process) &&
		 (!m->has_ring || (cs & 3) == m->ring);
	return err->code == TS_OK;
}

bool ts_machine_holds(const struct ts_machine *m, struct ts_query *q, struct ts_machine_at *at, uint64_t pos, bool *holds,
		      struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *s = NULL;

	if (at->next && pos == at->next) {
		s = ts_query_step(q, pos - 1, &b, err);
		if (!s)
			return false;
	}
	if ((!s || ts_machine_may_change(q, b, s)) && !look(m, q, pos, &at->holds, err))
		return false;
	at->next = pos + 1;
	*holds = at->holds;
	return true;
}

/* The position whose page tables translate: @at, or of a process the nearest one at which it runs, those before @at first. */
static uint64_t tables_at(const struct ts_query *q, const struct ts_machine *m, uint64_t at)
{
	const struct ts_filter only = { .has_root = true, .root = m->process };
	uint64_t pos = m->has_process ? ts_query_find_admitted(q, &only, at, true) : at;

	if (pos == TS_NO_POS)
		pos = ts_query_find_admitted(q, &only, at, false);
	return pos == TS_NO_POS ? at : pos;
}

bool ts_machine_what(struct ts_query *q, const struct ts_machine *m, uint64_t at, uint32_t process, const struct ts_what *what,
		     struct ts_what *to, bool *is_mapped, char *note, size_t size, struct ts_error *err)
{
	uint64_t len = what->last - what->addr;
	struct ts_translation t;

	*to = *what;
	*is_mapped = true;
	if (what->kind != TS_WHAT_MEM || what->is_physical || !ts_paging_is_known(q))
		return true;
	at = tables_at(q, m, at);
	if (!ts_translate_at(q, at, process, what->addr, &t, err))
		return false;
	*is_mapped = t.mapping == TS_MAPPED && (what->addr & (t.page_len - 1)) + len < t.page_len;
	if (!*is_mapped) {
		snprintf(note, size, "%s at position %" PRIu64,
			 t.mapping == TS_MAPPED ? "WHAT crosses the end of its page" :
						  "the page tables do not map this address, or are not known,",
			 at);
		return true;
	}
	to->addr = t.phys;
	to->last = t.phys + len;
	snprintf(note, size, "physical address 0x%" PRIx64 ", as the page tables are at position %" PRIu64, t.phys, at);
	return true;
}
