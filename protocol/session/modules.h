/* SPDX-License-Identifier: MIT */
/*
 * What a client is told about the modules at a session's position.
 */
#ifndef RSP_MODULES_H
#define RSP_MODULES_H

struct rsp_session;
struct rsp_shared;
struct ts_buf;

/* The list of libraries that a client reads; each system has one. */
enum rsp_module_list {
	RSP_MODULES_NONE, /* there is nothing to list */
	RSP_MODULES_ANY,  /* qXfer:libraries: where each library begins */
	RSP_MODULES_SVR4, /* qXfer:libraries-svr4, of GNU/Linux: where its dynamic section is too */
};

/*
 * The list for the recording.  On GNU/Linux it is claimed where libraries can be placed, and, empty, where the
 * program has none: without a list gdb looks for a link map in memory, and takes the text of a static program
 * for a dynamic linker in which reverse execution is not possible.
 */
enum rsp_module_list rsp_module_list(const struct rsp_shared *sh);

/* Append the lists: the libraries of the current process at the session's position, without the program. */
void rsp_modules_any_xml(const struct rsp_session *s, struct ts_buf *out);

/*
 * On GNU/Linux the list holds those whose dynamic section is known, from the ELF headers that are in memory at the position
 * (recorded, or of a file that the user gave) or those of their file beneath the sysroot.
 */
void rsp_modules_svr4_xml(const struct rsp_session *s, struct ts_buf *out);

#endif
