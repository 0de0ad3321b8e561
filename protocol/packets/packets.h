/* SPDX-License-Identifier: MIT */
/*
 * The packets that tracestub supports, by the topics of gdb's manual.
 *
 * A packet consists of a handler and a line in the array of its topic's file, which exports the array with
 * its length.
 */
#ifndef RSP_PACKETS_H
#define RSP_PACKETS_H

#include "protocol/wire/table.h"

extern const struct rsp_packets rsp_regs_packets; /* regs.c */
extern const struct rsp_packets rsp_mem_packets;  /* mem.c */
extern const struct rsp_packets rsp_scan_packets; /* scan.c */
extern const struct rsp_packets rsp_resume_packets; /* run.c */
extern const struct rsp_packets rsp_break_packets; /* break.c */
extern const struct rsp_packets rsp_thread_packets; /* thread.c */
extern const struct rsp_packets rsp_query_packets; /* query.c */
extern const struct rsp_packets rsp_xfer_packets; /* xfer.c */
extern const struct rsp_packets rsp_tls_packets;  /* tls.c */
extern const struct rsp_packets rsp_file_packets; /* file.c */
extern const struct rsp_packets rsp_lldb_packets; /* lldb.c */
extern const struct rsp_packets rsp_monitor_packets; /* monitor.c */
extern const struct rsp_packets rsp_tracepoint_packets; /* tracepoint.c */
extern const struct rsp_packets rsp_traceframe_packets; /* traceframe.c */

/*
 * Join them to @table.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rsp_packets_init(struct rsp_table *table, struct ts_error *err);

#endif
