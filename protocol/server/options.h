/* SPDX-License-Identifier: MIT */
/*
 * The options of a server.
 */
#ifndef RSP_SERVER_OPTIONS_H
#define RSP_SERVER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "listen.h"

struct ts_process_names;
struct ts_symbols_file;

struct rsp_server_options {
	struct rsp_listener *listener; /* borrowed */
	const char *exec; /* the program's file for the client, NULL for none */
	/* address of the lowest page of that file as given by the user, NULL: to be found */
	const uint64_t *exec_base;
	const struct ts_symbols_file *images; /* borrowed; the files of --image */
	size_t n_images;
	const struct ts_symbols_file *name_list; /* borrowed; NULL: none */
	/* the page tables of the process of sessions in a machine, whose program is @exec; NULL: all processes */
	const uint64_t *process;
	const struct ts_process_names *process_names; /* borrowed; of the processes of a machine; NULL: none */
	/* libraries of this machine are used if they are the recorded ones */
	bool has_local_files;
	const struct ts_packed_library *libraries; /* borrowed; packed with the trace: they come before local files */
	size_t n_libraries;
	const struct ts_packed_debug *debug; /* borrowed; as those of struct ts_local_files */
	size_t n_debug;
	const char *kept; /* see struct ts_local_files */
	/*
	 * the client is on this machine and opens the reported files itself ("set sysroot /"), without vFile
	 */
	bool is_client_local;
	/* the client's view of registers, NULL: as recorded, or by the mode of a machine's processor */
	const struct ts_arch *arch;
	const char *trace;      /* the recording's file, NULL: none */
	const char *export_dir; /* the folder in which clients may save files, NULL: none */
	/*
	 * Reads for some milliseconds and refreshes the query; returns false when everything has been read.
	 * NULL: it already has.
	 */
	bool (*grow)(void *grow_user);
	void *grow_user;
	uint64_t max_memory; /* of the trace frames of all sessions, in bytes; UINT64_MAX: any */
	unsigned max_clients; /* further clients wait; 0: any number */
	double silence_s; /* a new client that sends nothing for this time is disconnected; 0: never */
	bool is_once;     /* end after the first session */
	void (*ready)(void *user, const char *address); /* called when the server listens; may be NULL */
	void *user;
};

#endif
