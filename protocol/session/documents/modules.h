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
	RSP_MODULES_NONE, /* no list is announced */
	RSP_MODULES_ANY,  /* qXfer:libraries: the address of each library */
	RSP_MODULES_SVR4, /* qXfer:libraries-svr4, of GNU/Linux: also the address of its dynamic section */
};

/*
 * Returns the kind of list for the recording.  On GNU/Linux the list is announced if the addresses of libraries can be
 * determined, and also (empty) if the program has none: without a list gdb searches a link map in memory, and mistakes the
 * text of a static program for a dynamic linker, in which reverse execution is impossible.
 */
enum rsp_module_list rsp_module_list(const struct rsp_target *target);

/*
 * Do the modules of the current process at the session's position differ from the list that the client has read?  False
 * if it has read no list, or ignores changes, as all clients except gdb do.
 */
bool rsp_modules_have_changed(const struct rsp_session *s);

/*
 * Record that gdb was informed that the recorded files of libraries at the session's position are not on this machine:
 * the libraries at @path, or, if it is NULL, all libraries whose name in the list says so.  gdb prints two to four
 * lines for each, and again at each new appearance.  From now on their appearance and disappearance are not reported to
 * the client, which has no symbols of them.  Does nothing for other clients, and if memory is exhausted.
 */
void rsp_modules_are_missing(struct rsp_session *s, const char *path);

/* Append the lists: the libraries of the current process at the session's position, without the program. */
void rsp_modules_any_xml(const struct rsp_session *s, struct ts_buf *out);

/* The program's address at the session's position, which is the main-lm for gdb; 0 if unknown. */
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
 * Get the next library of rsp_modules_svr4_xml().  *at is 0 before the first call, and is advanced.
 *
 * Returns false after the last.
 */
bool rsp_modules_next_library(const struct rsp_session *s, size_t *at, struct rsp_library *library);

#endif
