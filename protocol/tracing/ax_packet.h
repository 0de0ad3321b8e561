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
 * Returns the expression as ts_ax_new() does; NULL with the reason in *error, and @a is bad if that is
 * TS_AX_SYNTAX.
 */
struct ts_ax *rsp_ax_parse(struct rsp_args *a, enum ts_ax_error *error);

#endif
