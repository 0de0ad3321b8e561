/* SPDX-License-Identifier: MIT */
/*
 * The packets that tracestub knows, by the topics of gdb's manual.
 *
 * A packet is a handler and its line in the array of its topic's file, which exports the array with its
 * length.
 */
#ifndef RSP_PACKETS_H
#define RSP_PACKETS_H

#include "table.h"

extern const struct rsp_packets rsp_regs_packets; /* pkt_regs.c */
extern const struct rsp_packets rsp_mem_packets;  /* pkt_mem.c */
extern const struct rsp_packets rsp_resume_packets; /* pkt_resume.c */
extern const struct rsp_packets rsp_break_packets; /* pkt_break.c */
extern const struct rsp_packets rsp_thread_packets; /* pkt_thread.c */
extern const struct rsp_packets rsp_query_packets; /* pkt_query.c */
extern const struct rsp_packets rsp_xfer_packets; /* pkt_xfer.c */
extern const struct rsp_packets rsp_file_packets; /* pkt_file.c */
extern const struct rsp_packets rsp_monitor_packets; /* pkt_monitor.c */
extern const struct rsp_packets rsp_tracepoint_packets; /* pkt_tracepoint.c */
extern const struct rsp_packets rsp_traceframe_packets; /* pkt_traceframe.c */

#endif
