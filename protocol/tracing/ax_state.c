/* SPDX-License-Identifier: MIT */
#include "sight.h"

#include <string.h>

#include "src/query/paging.h"

/* How often the expressions of one hit may look at memory. */
#define MAX_LOOKS 256

void rsp_sight_init(struct rsp_sight *sight, struct ts_query *q, uint64_t pos, uint32_t thread, uint8_t *room)
{
	*sight = (struct rsp_sight){
		.q = q,
		.pos = pos,
		.thread = thread,
		.data = room,
		.known = room + ts_query_regset(q)->g_len,
	};
}

static const struct ts_regset *regset(const struct rsp_sight *sight)
{
	return sight->view ? &sight->view->set : ts_query_regset(sight->q);
}

bool rsp_sight_reg(struct rsp_sight *sight, unsigned regnum, uint64_t *value)
{
	const struct ts_regset *set = regset(sight);
	struct ts_error err = { 0 };
	int i = ts_regset_by_num(set, regnum);
	uint32_t off;

	if (i < 0 || set->regs[i].len > sizeof(*value))
		return false;
	if (!sight->has_regs &&
	    !ts_query_regs(sight->q, sight->pos, sight->thread, sight->data, sight->known, &err))
		return false;
	sight->has_regs = true;
	off = sight->view ? sight->view->from[i] : set->regs[i].off;
	if (off == TS_NO_REG || memchr(sight->known + off, 0, set->regs[i].len))
		return false;
	*value = ts_arch_get(set->arch, sight->data + off, set->regs[i].len);
	return true;
}

static bool see_reg(void *user, unsigned regnum, uint64_t *value)
{
	return rsp_sight_reg(user, regnum, value);
}

static bool see_bytes(const struct rsp_sight *sight, uint64_t addr, size_t len, uint8_t *bytes,
		      uint8_t *known, struct ts_error *err)
{
	uint32_t process = ts_query_process(sight->q, sight->thread);

	if (sight->is_physical)
		return ts_query_mem(sight->q, sight->pos, process, addr, len, bytes, known, err);
	return ts_virtual_mem(sight->q, sight->pos, process, addr, len, bytes, known, err);
}

static size_t see_mem(void *user, uint64_t addr, uint8_t *bytes, size_t len)
{
	struct rsp_sight *sight = user;
	struct ts_error err = { 0 };
	size_t done = 0;

	while (done < len && sight->n_looks++ < MAX_LOOKS) {
		uint8_t known[256];
		size_t n = len - done < sizeof(known) ? len - done : sizeof(known), i = 0;

		if (!see_bytes(sight, addr + done, n, bytes + done, known, &err))
			break;
		while (i < n && known[i])
			i++;
		done += i;
		if (i < n)
			break;
	}
	return done;
}

void rsp_sight_env(struct rsp_sight *sight, struct rsp_ax_env *env)
{
	const struct ts_arch *arch = regset(sight)->arch;

	*env = (struct rsp_ax_env){
		.user = sight,
		.addr_mask = ts_arch_addr_mask(arch),
		.is_big_endian = arch->is_big_endian,
		.reg = see_reg,
		.mem = see_mem,
	};
}
