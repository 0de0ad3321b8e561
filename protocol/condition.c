/* SPDX-License-Identifier: MIT */
#include "condition.h"

#include <string.h>

#include "ax.h"
#include "breaks.h"
#include "session.h"

/*
 * How many instructions the conditions of one hit may run, together: as many as the longest packet can hold.
 * More would be a loop, which gdb does not make, and for which other clients would wait: there is no slice
 * within a hit.
 */
#define BUDGET (RSP_PACKET_SIZE / 2)

/* How often they may look at memory, which is what takes time: each goes through a chunk up to the hit. */
#define MAX_LOOKS 256

/*
 * The state that an expression sees: that of a thread at a position.  Registers are fetched when they are
 * first asked for.
 */
struct sight {
	struct ts_query *q;
	const struct ts_timeline *tl;
	uint64_t pos;
	uint32_t thread;
	bool has_regs;
	unsigned n_looks;
	uint8_t *data, *known; /* borrowed room for the registers */
};

static bool see_reg(void *user, unsigned regnum, uint64_t *value)
{
	struct sight *sight = user;
	const struct ts_regset *set = &sight->tl->rec->regs;
	struct ts_error err = { 0 };
	int i = ts_regset_by_num(set, regnum);

	if (i < 0 || set->regs[i].len > sizeof(*value))
		return false;
	if (!sight->has_regs &&
	    !ts_query_regs(sight->q, sight->pos, sight->thread, sight->data, sight->known, &err))
		return false;
	sight->has_regs = true;
	if (memchr(sight->known + set->regs[i].off, 0, set->regs[i].len))
		return false;
	*value = ts_arch_get(set->arch, sight->data + set->regs[i].off, set->regs[i].len);
	return true;
}

static size_t see_mem(void *user, uint64_t addr, uint8_t *bytes, size_t len)
{
	struct sight *sight = user;
	uint32_t process = ts_timeline_process(sight->tl, sight->thread);
	struct ts_error err = { 0 };
	size_t done = 0;

	while (done < len && sight->n_looks++ < MAX_LOOKS) {
		uint8_t known[256];
		size_t n = len - done < sizeof(known) ? len - done : sizeof(known), i = 0;

		if (!ts_query_mem(sight->q, sight->pos, process, addr + done, n, bytes + done, known, &err))
			break;
		while (i < n && known[i])
			i++;
		done += i;
		if (i < n)
			break;
	}
	return done;
}

static bool holds(const struct rsp_break *br, struct rsp_ax_env *env)
{
	if (!br)
		return false;
	if (br->n_conditions)
		env->budget = (uint32_t)(BUDGET / br->n_conditions);
	for (size_t i = 0; i < br->n_conditions; i++) {
		uint64_t value;

		if (rsp_ax_eval(br->conditions[i], env, &value) != RSP_AX_OK || value)
			return true;
	}
	return !br->n_conditions;
}

bool rsp_condition_holds(const struct rsp_session *s, const struct ts_found *found)
{
	const struct ts_timeline *tl = rsp_timeline(s);
	uint32_t len = tl->rec->regs.g_len;
	struct sight sight = { .q = s->sh->q, .tl = tl, .pos = found->pos, .thread = found->thread };
	struct rsp_ax_env env = {
		.user = &sight,
		.addr_mask = ts_arch_addr_mask(tl->rec->regs.arch),
		.is_big_endian = tl->rec->regs.arch->is_big_endian,
		.reg = see_reg,
		.mem = see_mem,
	};
	struct ts_break at = { ts_timeline_process(tl, found->thread), 0 };
	struct ts_error err = { 0 };
	bool has_pc;

	if (!ts_query_pc(s->sh->q, found->pos, found->thread, &at.addr, &has_pc, &err))
		return true;
	sight.data = s->scratch;
	sight.known = s->scratch + len;
	return holds(rsp_breaks_at(&s->breaks, RSP_BREAK_SOFT, at), &env) ||
	       holds(rsp_breaks_at(&s->breaks, RSP_BREAK_HARD, at), &env);
}
