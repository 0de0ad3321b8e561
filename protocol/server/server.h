/* SPDX-License-Identifier: MIT */
/*
 * Sockets and libev: passes bytes between clients and sessions.
 */
#ifndef RSP_SERVER_H
#define RSP_SERVER_H

#include <stdbool.h>

#include "options.h"
#include "src/base/error.h"
#include "src/query/query.h"

/*
 * Serve @q until a signal (SIGINT, SIGTERM) or, with is_once, the end of the first session.
 *
 * Returns true at such an end.
 * Returns false if the architecture is invalid (TS_EUSAGE).
 * Returns false if libev cannot wait for events (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rsp_server_run(struct ts_query *q, const struct rsp_server_options *opt, struct ts_error *err);

#endif
