/* SPDX-License-Identifier: MIT */
/*
 * lldb's additional packets: qHostInfo qProcessInfo qMemoryRegionInfo jThreadsInfo QListThreadsInStopReply.
 *
 * They are described in docs/lldb-gdb-remote.txt in lldb's source.
 */
#include "packets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session/session.h"
#include "protocol/session/documents/threads.h"
#include "src/base/text/json.h"

/*
 * The machine.  No triple: with one of Linux, lldb 14 stops at the program's entry by itself, and continues
 * to the end of the recording when it connects.
 */
static enum rsp_done pkt_host_info(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	const struct ts_arch *arch = rsp_regset(s)->arch;

	return rsp_reply_printf(r, "ptrsize:%u;endian:%s;", arch->addr_bits / 8, arch->is_big_endian ? "big" : "little");
}

/* The process of the current thread, by its id for the client. */
static enum rsp_done pkt_process_info(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	const struct ts_arch *arch = rsp_regset(s)->arch;
	const char *osabi = ts_query_facts(s->target->q)->osabi;

	rsp_reply_printf(r, "pid:%" PRIx64 ";ptrsize:%u;endian:%s;",
			 (uint64_t)s->target->names.pids[rsp_process(s)], arch->addr_bits / 8,
			 arch->is_big_endian ? "big" : "little");
	if (osabi)
		rsp_reply_printf(r, "ostype:%s;", strcmp(osabi, "Windows") ? "linux" : "windows");
	return RSP_REPLIED;
}

/* ---------------------------------------------------------------------------------------- memory regions */

/*
 * The gap at @addr, which is in no region: from there to the next region, or to the end of the address space.
 */
static void reply_gap(struct rsp_reply *r, uint64_t addr, uint64_t mask, const struct ts_region_info *regions,
		      size_t n)
{
	uint64_t last = mask;

	for (size_t i = 0; i < n; i++) {
		if (regions[i].first > addr && regions[i].first - 1 < last)
			last = regions[i].first - 1;
	}
	rsp_reply_printf(r, "start:%" PRIx64 ";size:%" PRIx64 ";", addr,
			 last - addr + (last - addr < UINT64_MAX));
}

static void reply_region(struct rsp_reply *r, const struct ts_region_info *m)
{
	rsp_reply_printf(r, "start:%" PRIx64 ";size:%" PRIx64 ";permissions:%s%s%s;", m->first,
			 m->last - m->first + (m->last - m->first < UINT64_MAX), m->prot & TS_PROT_READ ? "r" : "",
			 m->prot & TS_PROT_WRITE ? "w" : "", m->prot & TS_PROT_EXEC ? "x" : "");
	if (m->file && *m->file) {
		rsp_reply_puts(r, "name:");
		rsp_reply_hex_text(r, m->file);
		rsp_reply_putc(r, ';');
	}
}

/* The map at the session's position.  The packet is not supported for a recording without one. */
static enum rsp_done pkt_region(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	uint64_t addr = rsp_args_u64(a), mask = ts_arch_addr_mask(rsp_regset(s)->arch);
	struct ts_region_info *regions, *m = NULL;
	size_t n;

	if (!rsp_args_done(a) || addr > mask)
		return RSP_BAD;
	n = ts_query_regions(s->target->q, rsp_process(s), s->pos, NULL, 0);
	regions = calloc(n + 1, sizeof(*regions));
	if (!regions)
		return rsp_reply_error(r, RSP_ERROR_PLAIN);
	ts_query_regions(s->target->q, rsp_process(s), s->pos, regions, n);
	for (size_t i = 0; i < n && !m; i++)
		m = regions[i].first <= addr && addr <= regions[i].last ? &regions[i] : NULL;
	if (!n)
		rsp_reply_error_text(r, "the recording has no memory map at this position");
	else if (m)
		reply_region(r, m);
	else
		reply_gap(r, addr, mask, regions, n);
	free(regions);
	return RSP_REPLIED;
}

/* --------------------------------------------------------------------------------------------- threads */

static json_t *thread_json(const struct rsp_session *s, uint32_t thread)
{
	const char *name = ts_query_thread_facts(s->target->q, thread)->name;
	json_t *t = json_pack("{s:I, s:s}", "tid", (json_int_t)rsp_session_tid(s, thread).tid, "reason",
			      thread == s->stopped ? "trace" : "none");

	if (t && *name)
		json_object_set_new(t, "name", json_string(name));
	return t;
}

/* The threads at the session's position.  '}' is escaped as in all binary data. */
static enum rsp_done pkt_threads(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	json_t *list = json_array();
	struct ts_buf text;

	for (uint32_t i = 0; list && i < ts_query_n_threads(s->target->q); i++) {
		if (rsp_thread_exists(s, i) && json_array_append_new(list, thread_json(s, i)) < 0) {
			json_decref(list);
			list = NULL;
		}
	}
	ts_buf_init(&text);
	ts_json_put(&text, list, JSON_COMPACT);
	json_decref(list);
	if (ts_buf_ok(&text) && rsp_reply_fit(r, text.data, text.len) == text.len)
		rsp_reply_binary(r, text.data, text.len);
	else
		rsp_reply_error(r, RSP_ERROR_PLAIN);
	ts_buf_fini(&text);
	return RSP_REPLIED;
}

static enum rsp_done pkt_list_threads(struct rsp_session *s, struct rsp_args *, struct rsp_reply *)
{
	s->lists_threads = true;
	return RSP_OK;
}

static const struct rsp_packet packets[] = {
	{ "qHostInfo", RSP_EXACT, .handler = pkt_host_info },
	{ "qProcessInfo", RSP_EXACT, .handler = pkt_process_info },
	{ "qMemoryRegionInfo", RSP_ARGS, .handler = pkt_region },
	{ "jThreadsInfo", RSP_EXACT, .handler = pkt_threads },
	{ "QListThreadsInStopReply", RSP_EXACT, .handler = pkt_list_threads },
};
const struct rsp_packets rsp_lldb_packets = RSP_PACKETS(packets);
