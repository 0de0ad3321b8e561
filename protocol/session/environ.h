/* SPDX-License-Identifier: MIT */
/*
 * The initial environment of a recorded Linux program, which is on the stack at position 0.
 */
#ifndef RSP_ENVIRON_H
#define RSP_ENVIRON_H

#include <stdbool.h>
#include <stdint.h>

struct rsp_session;
struct ts_buf;

/*
 * Append the variables of a process (ordinal) to @text, each terminated by NUL.
 *
 * Returns false, with @text unchanged, if they are unknown: the recording does not begin with the program, its stack is
 * unknown, or the environment is too long.  Returns true with a failed @text if memory is exhausted.
 */
bool rsp_environ_put(const struct rsp_session *s, uint32_t process, struct ts_buf *text);

#endif
