/* SPDX-License-Identifier: MIT */
#include "ax_state.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/collections/buf.h"
#include "src/query/paging.h"

/* The number of memory reads allowed to the expressions of one hit. */
#define MAX_LOOKS 256

void ts_ax_state_init(struct ts_ax_state *state, struct ts_query *q, uint64_t pos, uint32_t thread,
		      uint8_t *room)
{
	*state = (struct ts_ax_state){
		.q = q,
		.pos = pos,
		.thread = thread,
		.data = room,
		.known = room + ts_query_regset(q)->g_len,
	};
}

static const struct ts_regset *regset(const struct ts_ax_state *state)
{
	return state->view ? &state->view->set : ts_query_regset(state->q);
}

bool ts_ax_state_reg(struct ts_ax_state *state, unsigned regnum, uint64_t *value)
{
	const struct ts_regset *set = regset(state);
	struct ts_error err = { 0 };
	int i = ts_regset_by_num(set, regnum);
	uint32_t off;

	if (i < 0 || set->regs[i].len > sizeof(*value))
		return false;
	if (!state->has_regs &&
	    !ts_query_regs(state->q, state->pos, state->thread, state->data, state->known, &err))
		return false;
	state->has_regs = true;
	off = state->view ? state->view->from[i] : set->regs[i].off;
	if (off == TS_NO_REG || memchr(state->known + off, 0, set->regs[i].len))
		return false;
	*value = ts_arch_get(set->arch, state->data + off, set->regs[i].len);
	return true;
}

static bool see_reg(void *user, unsigned regnum, uint64_t *value)
{
	return ts_ax_state_reg(user, regnum, value);
}

static bool see_bytes(const struct ts_ax_state *state, uint64_t addr, size_t len, uint8_t *bytes,
		      uint8_t *known, struct ts_error *err)
{
	uint32_t process = ts_query_process(state->q, state->thread);

	if (state->is_physical)
		return ts_query_mem(state->q, state->pos, process, addr, len, bytes, known, err);
	return ts_virtual_mem(state->q, state->pos, process, addr, len, bytes, known, err);
}

static size_t see_mem(void *user, uint64_t addr, uint8_t *bytes, size_t len)
{
	struct ts_ax_state *state = user;
	struct ts_error err = { 0 };
	size_t done = 0;

	while (done < len && state->n_looks++ < MAX_LOOKS) {
		uint8_t known[256];
		size_t n = len - done < sizeof(known) ? len - done : sizeof(known), i = 0;

		if (!see_bytes(state, addr + done, n, bytes + done, known, &err))
			break;
		while (i < n && known[i])
			i++;
		done += i;
		if (i < n)
			break;
	}
	return done;
}

void ts_ax_state_env(struct ts_ax_state *state, struct ts_ax_env *env)
{
	const struct ts_arch *arch = regset(state)->arch;

	*env = (struct ts_ax_env){
		.user = state,
		.addr_mask = ts_arch_addr_mask(arch),
		.is_big_endian = arch->is_big_endian,
		.reg = see_reg,
		.mem = see_mem,
		.failed_at = &state->failed_at,
	};
}

static void put_reg(const struct ts_ax_state *state, struct ts_buf *out)
{
	int i = ts_regset_by_num(regset(state), (unsigned)state->failed_at);

	if (i < 0)
		ts_buf_printf(out, " %" PRIu64, state->failed_at);
	else
		ts_buf_printf(out, " %s", regset(state)->regs[i].name);
}

void ts_ax_state_put_error(const struct ts_ax_state *state, enum ts_ax_error error, struct ts_buf *out)
{
	ts_buf_puts(out, ts_ax_error_text(error));
	switch (error) {
	case TS_AX_UNKNOWN_MEM:
	case TS_AX_NOT_TRACED:
		ts_buf_printf(out, " at 0x%" PRIx64, state->failed_at);
		break;
	case TS_AX_UNKNOWN_REG:
		put_reg(state, out);
		break;
	case TS_AX_UNKNOWN_VAR:
	case TS_AX_NOT_SET:
	case TS_AX_VAR_NOT_TRACED:
		ts_buf_printf(out, " %" PRIu64, state->failed_at);
		break;
	default:
		break;
	}
	ts_buf_printf(out, ", position %" PRIu64, state->pos);
}
