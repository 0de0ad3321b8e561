/* SPDX-License-Identifier: MIT */
/*
 * Thousands of writes of a word at consecutive addresses: those of a string instruction.
 */
#ifndef LOADERS_USERCORN_BURST_H
#define LOADERS_USERCORN_BURST_H

#include "group.h"

/*
 * The open step has many effects, the last of which may be a write: the writes that continue it become part
 * of it.
 */
void ucir_write_on(struct ucir_reader *r, struct ts_steps *out);

#endif
