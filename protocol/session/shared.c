/* SPDX-License-Identifier: MIT */
/*
 * What sessions share: the table of packets, gdb's names of threads, the documents that never change, the
 * program's file.
 */
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/packets/packets.h"
#include "src/arch/tdesc.h"
#include "src/base/log.h"
#include "src/query/local_files.h"
#include "src/query/paging.h"
#include "src/trace/source.h"

static const struct rsp_packets *const topics[] = {
	&rsp_regs_packets,
	&rsp_mem_packets,
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

bool rsp_shared_grow(struct rsp_shared *sh)
{
	return ts_names_grow(&sh->names, sh->q);
}

/* -------------------------------------------------------------------------------------------- the program */

/*
 * The client is told where the file lies that the user gave, or that lies beneath the sysroot; where there is
 * neither, what the recorder called it.
 */
static bool exec_init(struct rsp_shared *sh, const char *exec, struct ts_error *err)
{
	const char *recorded = ts_query_facts(sh->q)->exec_path;
	const struct ts_source *mapped =
		ts_query_file(sh->q, recorded);

	if (!exec && mapped)
		exec = ts_source_name(mapped);
	if (exec) {
		sh->exec = ts_source_open(exec, err);
		if (!sh->exec)
			return ts_fail_prefix(err, "%s", exec);
		sh->exec_path = realpath(exec, NULL);
		if (!sh->exec_path)
			return ts_fail_errno(err, "%s", exec);
	} else if (recorded) {
		sh->exec_path = strdup(recorded);
		if (!sh->exec_path)
			return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the program's name");
	}
	return true;
}

/* What the user should know of where the program was found. */
static void say_located(const struct rsp_shared *sh)
{
	const struct ts_located *at = &sh->located;

	if (at->by == TS_LOCATED_NOT)
		ts_log(TS_LOG_WARN,
		       "%s: position-independent, and %s; --exec FILE@BASE says where it lies", sh->exec_path,
		       ts_located_text(at->by));
	else if (at->n_samples && !at->match.n_same && !at->match.n_different)
		ts_log(TS_LOG_WARN, "%s: at 0x%" PRIx64 ", %s, but none of its code was executed there",
		       sh->exec_path, at->first, ts_located_text(at->by));
	else if (at->match.n_different && !ts_code_is_match(&at->match))
		ts_log(TS_LOG_WARN,
		       "%s: not the recorded program: its code differs in %zu of %zu places that were executed",
		       sh->exec_path, at->match.n_different, at->match.n_different + at->match.n_same);
	else
		ts_log(TS_LOG_INFO, "%s: at 0x%" PRIx64 ", %s", sh->exec_path, at->first,
		       ts_located_text(at->by));
}

bool rsp_shared_locate(struct rsp_shared *sh, const uint64_t *base, struct ts_error *err)
{
	uint32_t process = ts_query_process(sh->q, ts_query_thread(sh->q, 0));
	struct ts_error other = { 0 };
	struct ts_elf elf;
	bool done;

	if (!sh->exec || !ts_query_n_steps(sh->q) || !ts_elf_init(&elf, sh->exec, &other))
		return true; /* not an ELF file: gdb says so better */
	done = ts_locate(sh->q, sh->exec, &elf, process, base, &sh->located, err);
	if (done)
		say_located(sh);
	ts_elf_fini(&elf);
	return done;
}

bool rsp_shared_use_local_files(struct rsp_shared *sh, struct ts_error *err)
{
	sh->local = malloc(sizeof(*sh->local));
	if (!sh->local)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the list of local files");
	ts_local_files_init(sh->local, sh->q);
	return true;
}

const struct ts_source *rsp_shared_file(const struct rsp_shared *sh, const char *path)
{
	const struct ts_source *file = path ? ts_query_file(sh->q, path) : NULL;

	return file || !sh->local || !path ? file : ts_local_file(sh->local, path);
}

/* -------------------------------------------------------------------------------------------- views */

static bool view_init(struct rsp_shared *sh, enum rsp_view_kind kind, const struct ts_arch *arch,
		      struct ts_error *err)
{
	struct rsp_view *view = &sh->views[kind];

	return ts_regview_init(&view->regs, ts_query_regset(sh->q), arch, err) &&
	       ts_tdesc_write(&view->regs.set, ts_query_facts(sh->q)->osabi, &view->target_xml, err);
}

/* Code of a 64-bit processor may be narrower; of others it is as recorded. */
static bool views_init(struct rsp_shared *sh, struct ts_error *err)
{
	const struct ts_facts *facts = ts_query_facts(sh->q);

	if (!facts->is_physical || facts->regs->arch != ts_arch_find("x86_64"))
		return true;
	return view_init(sh, RSP_VIEW_32, ts_arch_find("i386"), err) &&
	       view_init(sh, RSP_VIEW_16, ts_arch_find("i8086"), err);
}

bool rsp_shared_force_arch(struct rsp_shared *sh, const struct ts_arch *arch, struct ts_error *err)
{
	const struct ts_arch *recorded = ts_query_regset(sh->q)->arch;

	sh->is_forced = true;
	if (arch == recorded || ts_arch_in_order(arch, recorded->is_big_endian) == recorded)
		return true;
	if (!view_init(sh, RSP_VIEW_FORCED, arch, err)) {
		err->code = err->code == TS_EUNSUPPORTED ? TS_EUSAGE : err->code;
		return false;
	}
	return true;
}

const struct rsp_view *rsp_shared_view(const struct rsp_shared *sh, uint64_t pos)
{
	enum rsp_view_kind kind = RSP_VIEW_FORCED;

	if (!sh->is_forced) {
		const struct ts_mode *mode = ts_query_mode(sh->q, pos);
		enum ts_code_size size = mode ? ts_mode_code_size(mode) : TS_CODE_UNKNOWN;

		if (size != TS_CODE_32 && size != TS_CODE_16)
			return NULL;
		kind = size == TS_CODE_32 ? RSP_VIEW_32 : RSP_VIEW_16;
	}
	return sh->views[kind].target_xml.len ? &sh->views[kind] : NULL;
}

bool rsp_shared_init(struct rsp_shared *sh, struct ts_query *q, const char *exec, struct ts_error *err)
{
	*sh = (struct rsp_shared){ .q = q, .has_paging = ts_paging_is_known(q) };
	ts_buf_init(&sh->target_xml);
	for (unsigned i = 0; i < RSP_N_VIEWS; i++)
		ts_buf_init(&sh->views[i].target_xml);
	if (rsp_table_init(&sh->table, topics, sizeof(topics) / sizeof(topics[0]), err) &&
	    ts_names_init(&sh->names, q, err) && exec_init(sh, exec, err) &&
	    ts_tdesc_write(ts_query_regset(q), ts_query_facts(q)->osabi, &sh->target_xml, err) && views_init(sh, err))
		return true;
	rsp_shared_fini(sh);
	return false;
}

void rsp_shared_fini(struct rsp_shared *sh)
{
	rsp_table_fini(&sh->table);
	ts_names_fini(&sh->names);
	ts_buf_fini(&sh->target_xml);
	for (unsigned i = 0; i < RSP_N_VIEWS; i++) {
		ts_regview_fini(&sh->views[i].regs);
		ts_buf_fini(&sh->views[i].target_xml);
	}
	if (sh->local)
		ts_local_files_fini(sh->local);
	free(sh->local);
	ts_source_close(sh->exec);
	free(sh->exec_path);
	*sh = (struct rsp_shared){ 0 };
}
