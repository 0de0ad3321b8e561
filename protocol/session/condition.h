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
 * It does without conditions, when any condition is not zero, and when one cannot be evaluated: what the
 * recording does not know is for the user to judge.  One that has commands does not stop: they are run
 * instead, if the client moves forwards, and what they print goes to its console.
 */
bool rsp_condition_holds(struct rsp_session *s, const struct ts_found *found, bool is_reverse);

#endif
