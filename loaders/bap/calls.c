/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <string.h>

void bap_calls_add(struct bap_calls *calls, const struct bap_look *look, const struct bap_call *call)
{
	if (calls->n == BAP_MAX_CALLS) {
		bap_warn(look, "system calls without their instruction are ignored");
		memmove(calls->items, calls->items + 1, --calls->n * sizeof(*call));
	}
	calls->items[calls->n++] = *call;
}

/* The number that the instruction's own registers show, where a recorder stored the address instead. */
static bool syscall_number(const struct bap_known *k, const struct bap_thread *t, uint64_t *number)
{
	const char *reg = k->rec->addr_mask == UINT64_MAX ? "rax" : "eax";
	const struct regmap_slot *s = regmap_find(&k->rec->names, reg, 3);

	if (s->kind != REGMAP_REG || memchr(t->state + s->off, BAP_UNTOLD, s->len))
		return false;
	*number = ts_arch_get(k->rec->base.regs.arch, t->data + s->off, s->len);
	return true;
}

void bap_calls_take(struct bap_calls *calls, struct bap_known *k, const struct bap_thread *t,
		    uint64_t address)
{
	for (uint32_t i = 0; i < calls->n; i++) {
		struct bap_call *c = &calls->items[i];
		struct ts_event *ev;

		if (c->address != address || c->thread_id != t->id)
			continue;
		ev = ts_steps_event(k->out, TS_EV_SYSCALL);
		if (ev) {
			ev->number = c->number;
			if (c->number == c->address && !syscall_number(k, t, &ev->number))
				ev->number = UINT64_MAX;
			ev->n_args = (uint8_t)c->n_args;
			memcpy(ev->args, c->args, sizeof(ev->args));
		}
		ts_steps_effect(k->out, TS_FX_UNSEEN, 0, 0);
		memmove(c, c + 1, (--calls->n - i) * sizeof(*c));
		return;
	}
}
