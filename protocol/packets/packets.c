/* SPDX-License-Identifier: MIT */
#include "packets.h"

static const struct rsp_packets *const topics[] = {
	&rsp_regs_packets,
	&rsp_mem_packets,
	&rsp_scan_packets,
	&rsp_resume_packets,
	&rsp_break_packets,
	&rsp_thread_packets,
	&rsp_query_packets,
	&rsp_xfer_packets,
	&rsp_file_packets,
	&rsp_lldb_packets,
	&rsp_tls_packets,
	&rsp_monitor_packets,
	&rsp_tracepoint_packets,
	&rsp_traceframe_packets,
};

bool rsp_packets_init(struct rsp_table *table, struct ts_error *err)
{
	return rsp_table_init(table, topics, sizeof(topics) / sizeof(topics[0]), err);
}
