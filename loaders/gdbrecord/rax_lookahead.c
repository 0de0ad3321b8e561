/* SPDX-License-Identifier: MIT */
#include "rax_lookahead.h"

#include "log.h"

/* The maximum number of examined bytes of the log; programs write rax every few instructions. */
#define MAX_AHEAD (UINT64_C(1) << 20)

void ahead_init(struct ahead *a, const struct regs *regs, const struct ts_source *src, uint64_t log_end,
		bool is_18)
{
	*a = (struct ahead){ .regs = regs, .is_18 = is_18, .from = UINT64_MAX };
	ts_window_init(&a->window, src, log_end);
}

void ahead_fini(struct ahead *a)
{
	ts_window_fini(&a->window);
}

/* One group; @c moves past it.  Returns false where the log ends. */
static bool look_at_group(struct ahead *a, struct ts_cursor *c, struct ahead_group *g)
{
	struct log_place at = { .is_18 = a->is_18 };
	struct log_record rec;

	*g = (struct ahead_group){ 0 };
	do {
		if (!log_take(&a->window, c, a->regs, &at, &rec))
			return false;
		if (rec.kind == LOG_REG)
			ahead_note(g, rec.number, rec.bytes);
		else if (rec.kind == LOG_MEM)
			log_skip(&a->window, c, rec.len);
	} while (rec.kind != LOG_END);
	return ts_ok(c);
}

/* Examine groups from @c on, until one decides. */
static void look(struct ahead *a, struct ts_cursor *c)
{
	uint64_t off = c->off;
	struct ahead_group g;

	a->from = a->until = off;
	a->found = AHEAD_FAR;
	while (a->until - off < MAX_AHEAD) {
		if (!look_at_group(a, c, &g)) {
			a->found = AHEAD_KEPT;
			return;
		}
		if (g.has_rax || ahead_is_syscall(&g)) {
			a->found = g.has_rax ? AHEAD_KEPT : AHEAD_SYSCALL;
			return;
		}
		a->until = c->off;
	}
	a->until = off; /* from another group on it may be near enough */
}

bool ahead_look(struct ahead *a, uint64_t off, enum ahead_rax *found, struct ts_error *err)
{
	struct ts_error odd;
	struct ts_cursor c;

	if (!(a->from <= off && off <= a->until)) {
		ts_error_reset(&odd);
		c = log_cursor(&a->window, off, &odd);
		look(a, &c);
		if (odd.code == TS_EIO || odd.code == TS_ENOMEM) {
			a->from = UINT64_MAX;
			*err = odd;
			return false;
		}
	}
	*found = a->found;
	return true;
}
