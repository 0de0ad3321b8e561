/* SPDX-License-Identifier: MIT */
/*
 * The facts that a server passes to its debugger; all are borrowed.
 */
#ifndef TS_SERVED_H
#define TS_SERVED_H

#include "src/arch/arch.h"
#include "src/query/local_files.h"

struct ts_served {
	const struct ts_arch *arch;          /* of the recording */
	const char *exec;                    /* the program's file; NULL: none was found */
	const struct ts_packed_debug *debug; /* debug files that were packed with the recording */
	size_t n_debug;
	struct ts_local_files *copies;       /* of libraries, in place of the files at their paths; NULL: there are none */
};

#endif
