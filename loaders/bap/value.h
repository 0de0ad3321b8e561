/* SPDX-License-Identifier: MIT */
/*
 * Values of operands into effects.
 */
#ifndef LOADERS_BAP_VALUE_H
#define LOADERS_BAP_VALUE_H

#include "operand.h"
#include "state.h"

/* A register operand's value before the instruction, or after it. */
void bap_op_see(struct bap_known *k, struct bap_thread *t, const struct bap_op *op);
void bap_op_write(struct bap_known *k, struct bap_thread *t, const struct bap_op *op);

/*
 * The old recorder lists what is written, register or memory, with its old value: the new one is not there.
 */
void bap_op_lose(struct bap_known *k, struct bap_thread *t, const struct bap_op *op);

/* A memory operand's value as an effect of kind TS_FX_READ or TS_FX_WRITE. */
void bap_op_memory(struct bap_known *k, enum ts_effect_kind kind, const struct bap_op *op, bool is_hidden);

#endif
