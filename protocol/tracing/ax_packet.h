/* SPDX-License-Identifier: MIT */
/*
 * Agent expressions in packets.
 */
#ifndef RSP_AX_PACKET_H
#define RSP_AX_PACKET_H

#include "src/agent/ax.h"

struct rsp_args;

/*
 * Parse and check "Xlen,hex" in a packet.
 *
 * Returns the expression, which the caller frees with ts_ax_free().
 * Returns NULL with *error set to TS_AX_SYNTAX if the packet is malformed; @a has failed then.
 * Returns NULL with *error set to another reason as ts_ax_new() does, or to TS_AX_NO_MEMORY.
 */
struct ts_ax *rsp_ax_parse(struct rsp_args *a, enum ts_ax_error *error);

#endif
