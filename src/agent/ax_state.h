/* SPDX-License-Identifier: MIT */
/*
 * The recording as seen by an agent expression: the state of one thread at one position.
 *
 * Registers are fetched on first use.  The number of memory reads is limited, because each goes through the
 * steps of a chunk and an expression is not interrupted for other clients.
 */
#ifndef TS_AX_STATE_H
#define TS_AX_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ax.h"
#include "src/arch/regview.h"
#include "src/query/query.h"

struct ts_buf;

/*
 * The number of instructions that all expressions of one hit may run together: as many as the longest packet
 * can hold.  More would be a loop, which gdb does not generate, and which would make other clients wait.
 */
#define TS_AX_STATE_BUDGET 16384u

struct ts_ax_state {
	struct ts_query *q; /* borrowed */
	uint64_t pos;
	uint32_t thread;
	bool is_physical; /* addresses are not translated; false at first */
	/* the register numbers of expressions, NULL: as recorded; set before ts_ax_state_env() */
	const struct ts_regview *view;
	bool has_regs;
	unsigned n_looks;
	uint64_t failed_at; /* operand of the last failed evaluation, as in struct ts_ax_env */
	uint8_t *data, *known; /* borrowed room for the registers */
};

/* Prepare to read @thread at position @pos; @room has 2 * g_len bytes and stays borrowed. */
void ts_ax_state_init(struct ts_ax_state *state, struct ts_query *q, uint64_t pos, uint32_t thread,
		      uint8_t *room);

/* Set @env to read registers and memory from @state, which is its user; the rest of @env is empty. */
void ts_ax_state_env(struct ts_ax_state *state, struct ts_ax_env *env);

/*
 * Append the error of the last evaluation with the address, register or variable that it asked for, and the
 * position: "cannot read memory at 0x10, position 3".
 */
void ts_ax_state_put_error(const struct ts_ax_state *state, enum ts_ax_error error, struct ts_buf *out);

/*
 * *value is set to gdb's register @regnum, zero-extended.  Returns false if it is unknown or longer than 64
 * bits.
 */
bool ts_ax_state_reg(struct ts_ax_state *state, unsigned regnum, uint64_t *value);

#endif
