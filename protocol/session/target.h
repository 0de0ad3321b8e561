/* SPDX-License-Identifier: MIT */
/*
 * The state of a recording that all sessions share: packets, names of threads, documents and files.
 */
#ifndef RSP_TARGET_H
#define RSP_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/wire/table.h"
#include "src/arch/regview.h"
#include "src/symbols/names.h"
#include "src/base/collections/buf.h"
#include "src/query/files/locate.h"
#include "src/query/query.h"

struct rsp_collector;
struct rsp_frame_budget;
struct rsp_symbol_tables;
struct ts_symbols;
struct ts_local_files;
struct ts_process_names;
struct ts_symbols_file;

/* Registers shown for another architecture than the recorded one; present if target_xml is not empty. */
struct rsp_layout {
	struct ts_regview regs;
	struct ts_buf target_xml;
};

enum rsp_layout_kind {
	RSP_LAYOUT_32, /* in the recording of a machine, for 32-bit and 16-bit code */
	RSP_LAYOUT_16,
	RSP_LAYOUT_FORCED,
};
#define RSP_N_LAYOUTS (RSP_LAYOUT_FORCED + 1)

/* State shared by all sessions of a server; constant while serving. */
struct rsp_target {
	struct ts_query *q;             /* borrowed */
	struct rsp_table table;
	struct ts_names names;          /* gdb's names of processes and threads */
	struct ts_buf target_xml;       /* of the registers as recorded */
	struct rsp_layout layouts[RSP_N_LAYOUTS];
	/*
	 * the user chose the view of registers: layouts[RSP_LAYOUT_FORCED] if present, else as recorded
	 */
	bool is_forced;
	struct ts_source *exec;         /* owned; the program's file as the user gave it, NULL for none */
	/* borrowed; keeps the run of a disconnected client for the next client; NULL: runs are not kept */
	struct rsp_collector **kept;
	struct rsp_frame_budget *budget; /* borrowed; of the trace frames of all sessions; NULL: any */
	/* borrowed; the recording's file, and the directory in which clients may save files, NULL for none */
	const char *trace, *export_dir;
	char *exec_path;                /* owned; its path as reported to the client, NULL if unknown */
	struct ts_located located;      /* the program's place in memory */
	/* owned; files of this machine that the recording names; NULL: none are used */
	struct ts_local_files *local;
	bool is_client_local;           /* the client opens the files of libraries itself, without vFile */
	/* borrowed; the files of --image, whose symbols questions use */
	const struct ts_symbols_file *images;
	size_t n_images;
	const struct ts_symbols_file *name_list; /* borrowed; NULL: none */
	const uint64_t *process;        /* borrowed; see the server's options */
	const struct ts_process_names *process_names; /* borrowed; the same */
	struct rsp_symbol_tables *symbols; /* owned */
	/* the recording of a machine in which the translation of addresses is known */
	bool has_paging;
};

/*
 * Prepare the shared state, but for the table of packets, which the caller fills.  @q is borrowed and must outlive it;
 * @exec (path of the program's file, may be NULL) is opened.
 *
 * Returns false if @exec cannot be opened (TS_EIO, TS_EUSAGE) or memory is exhausted (TS_ENOMEM); @target
 * then needs no fini.
 */
bool rsp_target_init(struct rsp_target *target, struct ts_query *q, const char *exec, struct ts_error *err);

/*
 * Find the program's address: @base (its lowest page; may be NULL) if the user gave it.  Inconsistencies are
 * logged.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Returns false if the trace or the program's file can no longer be read.
 */
bool rsp_target_locate(struct rsp_target *target, const uint64_t *base, struct ts_error *err);

/*
 * Also use files of this machine that the recording names, if they are the recorded ones (local_files.h).
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rsp_target_use_local_files(struct rsp_target *target, struct ts_error *err);

/*
 * The file for the recorded path @path: under the sysroot, or on this machine.
 *
 * Returns the file (borrowed).
 * Returns NULL if no such file was found.
 */
const struct ts_source *rsp_target_file(const struct rsp_target *target, const char *path);

/*
 * Returns the program's path for clients, borrowed; NULL if it is unknown or relative, or if its file cannot
 * be served.
 */
const char *rsp_target_exec_path(const struct rsp_target *target);

/*
 * The current table of symbols for a question.
 *
 * Returns the table, borrowed until rsp_symbol_tables_free().
 * Returns NULL, with err->code TS_OK, if the table is not ready: the caller calls again, as for rsp_symbol_tables_get().
 * Returns NULL if a file cannot be read (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_symbols *rsp_target_symbols(const struct rsp_target *target, struct ts_error *err);

/* After more has been read: add the names of new threads.  Returns false if memory is exhausted. */
bool rsp_target_grow(struct rsp_target *target);
void rsp_target_fini(struct rsp_target *target);

/*
 * Show registers to all clients as those of @arch; by default the registers of a machine are those of the
 * code at the position where the client connects.
 *
 * Returns false if the recorded registers cannot be shown like this (TS_EUSAGE).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rsp_target_force_arch(struct rsp_target *target, const struct ts_arch *arch, struct ts_error *err);

/* Returns the layout of the registers for a client that connects at @pos, borrowed; NULL: as recorded. */
const struct rsp_layout *rsp_target_layout(const struct rsp_target *target, uint64_t pos);

/* Append "read so far: 7 %"; nothing if all has been read. */
void rsp_target_put_read(const struct rsp_target *target, struct ts_buf *out);

/*
 * Does the recording have system calls to catch, or may it have some?  In some formats only a recorded call shows that
 * calls are recorded.
 */
static inline bool rsp_has_syscalls(const struct rsp_target *target)
{
	return ts_query_facts(target->q)->has_syscalls &&
	       (!ts_query_is_complete(target->q) || ts_query_n_events(target->q, TS_EV_SYSCALL));
}

#endif
