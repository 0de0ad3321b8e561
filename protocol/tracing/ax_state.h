/* SPDX-License-Identifier: MIT */
/*
 * What an agent expression sees of the recording: the state of one thread at one position.
 *
 * Registers are fetched when they are first asked for.  Memory may be looked at a bounded number of times,
 * for a look goes through the steps of a chunk and there is no slice within an expression.
 */
#ifndef RSP_AX_STATE_H
#define RSP_AX_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ax.h"
#include "src/arch/regview.h"
#include "src/query/query.h"

/*
 * How many instructions the expressions of one hit may run, together: as many as the longest packet can hold.
 * More would be a loop, which gdb does not make, and for which other clients would wait.
 */
#define RSP_AX_STATE_BUDGET 16384u

struct rsp_ax_state {
	struct ts_query *q; /* borrowed */
	uint64_t pos;
	uint32_t thread;
	bool is_physical; /* addresses are not translated; false at first */
	/* how expressions count registers, NULL: as recorded; set before rsp_ax_state_env() */
	const struct ts_regview *view;
	bool has_regs;
	unsigned n_looks;
	uint8_t *data, *known; /* borrowed room for the registers */
};

/* Look at @thread at position @pos; @room has 2 * g_len bytes and stays borrowed. */
void rsp_ax_state_init(struct rsp_ax_state *state, struct ts_query *q, uint64_t pos, uint32_t thread,
		    uint8_t *room);

/* The expression's environment over it: registers and memory; the rest of @env is empty.  user is @state. */
void rsp_ax_state_env(struct rsp_ax_state *state, struct rsp_ax_env *env);

/* *value gets gdb's register @regnum, zero-extended.  False: unknown, or none of at most 64 bits. */
bool rsp_ax_state_reg(struct rsp_ax_state *state, unsigned regnum, uint64_t *value);

#endif
