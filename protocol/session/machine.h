/* SPDX-License-Identifier: MIT */
/*
 * Sessions with the recording of a whole machine: the meaning of addresses, and the positions that runs skip.
 */
#ifndef RSP_MACHINE_H
#define RSP_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct rsp_session;
struct ts_buf;
struct ts_filter;

/* Are the client's addresses translated? */
bool rsp_machine_is_virtual(const struct rsp_session *s);

/*
 * Returns the filter of positions at which runs of the session may stop, borrowed; NULL: they may stop at
 * all.
 */
const struct ts_filter *rsp_machine_filter(const struct rsp_session *s);

/* Append the part of "monitor info" about the machine; nothing for the recording of a program. */
void rsp_machine_info(const struct rsp_session *s, struct ts_buf *out);

/* The monitor commands "filter", "physical" and "translate".  Return false as run() of struct rsp_command. */
bool rsp_machine_run_filter(struct rsp_session *s, const char *arg, struct ts_buf *out);
bool rsp_machine_run_physical(struct rsp_session *s, const char *arg, struct ts_buf *out);
bool rsp_machine_run_translate(struct rsp_session *s, const char *arg, struct ts_buf *out);

#endif
