/* SPDX-License-Identifier: MIT */
/*
 * Conditions and commands of breakpoints: agent expressions over the recording's state at a hit.
 */
#ifndef RSP_CONDITION_H
#define RSP_CONDITION_H

#include <stdbool.h>

struct rsp_session;
struct ts_found;

/*
 * Does the breakpoint that was hit stop the client?
 *
 * It stops if it has no conditions, if any condition is not zero, and if a condition cannot be evaluated, because the
 * user must decide about unknown values.  A breakpoint with commands does not stop: the commands are run instead, if
 * the client moves forwards, and their output goes to its console.
 */
bool rsp_condition_holds(struct rsp_session *s, const struct ts_found *found, bool is_reverse);

#endif
