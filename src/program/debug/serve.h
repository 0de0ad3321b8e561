/* SPDX-License-Identifier: MIT */
/*
 * The commands that serve clients: serve, and gdb and lldb, which start their client themselves.
 */
#ifndef TS_SERVE_H
#define TS_SERVE_H

#include "src/arch/arch.h"
#include "src/model/model.h"
#include "src/program/cli/cli.h"
#include "src/query/files/local_files.h"

/* The facts that a server passes to its debugger; all are borrowed. */
struct ts_served {
	const struct ts_arch *arch;          /* of the recording */
	const char *exec;                    /* the program's file; NULL: none was found */
	const struct ts_packed_debug *debug; /* debug files that were packed with the recording */
	size_t n_debug;
	struct ts_local_files *copies;       /* of libraries, in place of the files at their paths; NULL: no copies */
};

struct ts_service;

/*
 * The address of the server, and the caller's notification.
 */
struct ts_service_options {
	const char *comm;
	/* called when clients are served; NULL: the address is printed on stderr instead */
	void (*ready)(void *user, const struct ts_served *served);
	void *user;
};

/*
 * Listen, before the sandbox is entered; clients that connect wait.
 *
 * Returns the service, which the caller frees with ts_service_free().
 * Returns NULL after a message if the address cannot be listened on or memory is exhausted; *status is the exit status.
 */
struct ts_service *ts_service_new(const struct ts_service_options *opt, enum ts_status *status);
void ts_service_free(struct ts_service *s);

/* The unix socket that ts_service_free() removes; NULL if the service does not listen on one. */
const char *ts_service_socket(const struct ts_service *s);

/* Serve until SIGINT or SIGTERM, also while the recording is still being read.  Returns the status to exit with. */
int ts_service_run(struct ts_service *s, struct ts_model *m, const struct ts_cli *cli);

#endif
