/* SPDX-License-Identifier: MIT */
/*
 * The modules at a session's position, as reported to a client.
 */
#ifndef RSP_MODULES_H
#define RSP_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rsp_session;
struct rsp_target;
struct ts_buf;

/* The list of libraries that a client reads; it depends on the system. */
enum rsp_module_list {
	RSP_MODULES_NONE, /* there is nothing to list */
	RSP_MODULES_ANY,  /* qXfer:libraries: where each library begins */
	RSP_MODULES_SVR4, /* qXfer:libraries-svr4, of GNU/Linux: also where its dynamic section is */
};

/*
 * The list for the recording.  On GNU/Linux it is claimed if libraries can be placed, and, empty, if the
 * program has none: without a list gdb looks for a link map in memory, and mistakes the text of a static
 * program for a dynamic linker in which reverse execution is not possible.
 */
enum rsp_module_list rsp_module_list(const struct rsp_target *target);

/*
 * Are other modules loaded in the current process at the session's position than at the one for which the
 * client read the list?  False if it has read none, or takes no notice of changes: only gdb does.
 */
bool rsp_modules_have_changed(const struct rsp_session *s);

/*
 * gdb is told that the recorded file of libraries at the session's position is not here: of those at @path, or,
 * if that is NULL, of all whose name in the list says so.  It prints two to four lines for each, and again
 * wherever they appear once more; from now on their coming and going changes nothing for the client, which has
 * no symbols of them.  Does nothing for other clients, and if memory is exhausted.
 */
void rsp_modules_are_missing(struct rsp_session *s, const char *path);

/* Append the lists: the libraries of the current process at the session's position, without the program. */
void rsp_modules_any_xml(const struct rsp_session *s, struct ts_buf *out);

/* The program's address at the session's position, which is its main-lm for gdb; 0 if it is not known. */
uint64_t rsp_modules_program(const struct rsp_session *s);

/*
 * On GNU/Linux the list holds the libraries whose dynamic section is known, either from the ELF headers in
 * memory at the position (recorded, or from a file that the user gave) or from those of their file under the
 * sysroot.
 */
void rsp_modules_svr4_xml(const struct rsp_session *s, struct ts_buf *out);

/* A library of GNU/Linux in memory. */
struct rsp_library {
	const char *file; /* its path at recording time; borrowed from the recording */
	uint64_t first;   /* its lowest address; in the list for gdb it serves as the address of its link map */
	uint64_t moved;   /* difference from its link address */
	uint64_t dynamic; /* its dynamic section */
};

/*
 * The next library of rsp_modules_svr4_xml() after the one before *at, which is 0 for the first call.
 *
 * Returns false after the last.
 */
bool rsp_modules_next_library(const struct rsp_session *s, size_t *at, struct rsp_library *library);

#endif
