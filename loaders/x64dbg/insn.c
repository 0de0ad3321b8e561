/* SPDX-License-Identifier: MIT */
#include "insn.h"

#include <stdlib.h>

#include "src/arch/traps.h"

bool x64dbg_insns_init(struct x64dbg_insns *c, const struct x64dbg_layout *layout,
		       const struct ts_regset *set)
{
	*c = (struct x64dbg_insns){ .layout = layout, .arch = set->arch };
	ts_x86_init(&c->x, set);
	c->memory = calloc(X64DBG_N_INSNS + 2, sizeof(*c->items)); /* pages that are not there until needed */
	c->items = (struct x64dbg_insn *)(((uintptr_t)c->memory + X64DBG_INSN_ALIGN - 1) &
					  ~(uintptr_t)(X64DBG_INSN_ALIGN - 1));
	return c->memory != NULL;
}

void x64dbg_insns_fini(struct x64dbg_insns *c)
{
	free(c->memory);
	c->memory = NULL;
}

static bool is_simple(const struct x64dbg_insns *c, const struct ts_x86_insn *x)
{
	const struct ts_x86_mem *m = &x->mem[0];

	if (x->n_mem != 1 || !m->access || m->access & (TS_X86_IF_READ | TS_X86_IF_WRITE) || x->count_len ||
	    x->is_scatter || x->is_xsave || x64dbg_is_based(c, m))
		return false;
	return m->place == TS_X86_PLAIN ? m->size <= c->layout->width
					: m->place == TS_X86_PUSHED && m->size == c->layout->width;
}

static void decode(struct x64dbg_insns *c, struct x64dbg_insn *insn, uint64_t pc, const uint8_t *bytes,
		   unsigned len)
{
	uint64_t room = (c->x.is_64 ? UINT64_MAX : UINT32_MAX) - pc;

	*insn = (struct x64dbg_insn){ .len = (uint8_t)len };
	insn->n_seen = (uint8_t)(len - 1 > room ? room + 1 : len);
	memcpy(insn->bytes, bytes, sizeof(insn->bytes));
	if (ts_x86_decode(&c->x, pc, bytes, len, &insn->x) && insn->x.len != len)
		insn->x = (struct ts_x86_insn){ .pc = pc, .flow = TS_X86_ANY };
	insn->is_simple = is_simple(c, &insn->x);
	insn->is_trap = ts_insn_trap(c->arch, false, bytes, len) != TS_TRAP_NONE;
}

/* Where the instruction at @pc goes: to where it was, else to a place that is free, else to either. */
static uint16_t *choose(struct x64dbg_insns *c, uint16_t *first, uint16_t *second, uint64_t pc)
{
	if (!*first || c->items[*first].x.pc == pc)
		return first;
	if (!*second || c->items[*second].x.pc == pc)
		return second;
	return c->n_evicted++ % 2 ? first : second;
}

struct x64dbg_insn *x64dbg_insns_find(struct x64dbg_insns *c, unsigned place, uint64_t pc,
				      const uint8_t *bytes, unsigned len)
{
	uint16_t *second = &c->places[place ^ X64DBG_N_INSNS / 2], *to;

	if (x64dbg_insn_is(&c->items[*second], pc, bytes, len))
		return &c->items[*second];
	to = choose(c, &c->places[place], second, pc);
	if (!*to)
		*to = (uint16_t)++c->n_items; /* there are as many as places */
	c->n_decoded++;
	decode(c, &c->items[*to], pc, bytes, len);
	return &c->items[*to];
}
