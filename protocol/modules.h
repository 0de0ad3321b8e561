/* SPDX-License-Identifier: MIT */
/*
 * What a client is told about the modules at a session's position.
 */
#ifndef RSP_MODULES_H
#define RSP_MODULES_H

#include <stdbool.h>

struct rsp_session;
struct rsp_shared;
struct ts_buf;

/*
 * Has the recording modules that a client can be told?  Not of GNU/Linux: there gdb reads the link map
 * instead, and believes the address of each library's dynamic section more than that of the library; a
 * recorder of modules does not know it.
 */
bool rsp_has_module_list(const struct rsp_shared *sh);

/*
 * Append the document that qXfer:libraries:read serves: the modules of the current process at the session's
 * position, but for the program itself.
 */
void rsp_modules_xml(const struct rsp_session *s, struct ts_buf *out);

#endif
