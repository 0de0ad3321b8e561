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

/* gdb keeps process ids in an int; other clients do so with thread ids. */
#define MAX_ID INT32_MAX

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

/* ------------------------------------------------------------------------------------------------ names */

/* A recorded id and whose it is. */
struct claim {
	uint64_t id;
	uint32_t ordinal;
};

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a;
	const struct claim *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->ordinal < y->ordinal ? -1 : 1;
}

/*
 * Give each of @n a number of its own: the first to claim an id gets it if gdb can show it, the others get
 * the smallest numbers that nobody claims.  @claims is sorted on the way.
 */
static void give_ids(struct claim *claims, uint32_t n, int64_t *ids)
{
	int64_t next = 1;
	uint32_t at = 0;

	qsort(claims, n, sizeof(*claims), compare_claims);
	for (uint32_t i = 0; i < n; i++) {
		const struct claim *c = &claims[i];
		bool is_first = !i || claims[i - 1].id != c->id;

		ids[c->ordinal] = is_first && c->id && c->id <= MAX_ID ? (int64_t)c->id : RSP_TID_ANY;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (ids[i] != RSP_TID_ANY)
			continue;
		while (at < n && claims[at].id <= (uint64_t)next) {
			if (claims[at++].id == (uint64_t)next)
				next++;
		}
		ids[i] = next++;
	}
}

/* The pid of a process is that of its first thread. */
static void claim_pids(const struct ts_query *q, struct claim *claims, uint32_t n_pids)
{
	for (uint32_t i = 0; i < n_pids; i++)
		claims[i] = (struct claim){ 0, i };
	for (uint32_t t = ts_query_n_threads(q); t-- > 0;)
		claims[ts_query_process(q, t)].id = ts_query_thread_facts(q, t)->pid;
}

static bool names_init(struct rsp_names *names, const struct ts_query *q, struct ts_error *err)
{
	uint32_t n_pids = ts_query_n_processes(q), n_tids = ts_query_n_threads(q);
	struct claim *claims = calloc((size_t)(n_pids > n_tids ? n_pids : n_tids) + 1, sizeof(*claims));

	names->pids = calloc((size_t)n_pids + 1, sizeof(*names->pids));
	names->tids = calloc((size_t)n_tids + 1, sizeof(*names->tids));
	names->n_pids = n_pids;
	names->n_tids = n_tids;
	if (!claims || !names->pids || !names->tids) {
		free(claims);
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the names of %u threads", n_tids);
	}
	claim_pids(q, claims, n_pids);
	give_ids(claims, n_pids, names->pids);
	for (uint32_t t = 0; t < n_tids; t++)
		claims[t] = (struct claim){ ts_query_thread_facts(q, t)->tid, t };
	give_ids(claims, n_tids, names->tids);
	free(claims);
	return true;
}

static bool is_taken(const int64_t *ids, uint32_t n, int64_t id)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

/* A number for item @n, whose recorded id is @wanted: those before keep theirs. */
static int64_t id_for_late(const int64_t *ids, uint32_t n, uint64_t wanted)
{
	int64_t id = wanted && wanted <= MAX_ID ? (int64_t)wanted : 1;

	while (is_taken(ids, n, id))
		id = id < MAX_ID ? id + 1 : 1;
	return id;
}

static const struct ts_thread *first_of(const struct ts_query *q, uint32_t process)
{
	uint32_t thread = 0;

	while (ts_query_process(q, thread) != process)
		thread++;
	return ts_query_thread_facts(q, thread);
}

bool rsp_shared_grow(struct rsp_shared *sh)
{
	uint32_t n_pids = ts_query_n_processes(sh->q), n_tids = ts_query_n_threads(sh->q);
	struct rsp_names *names = &sh->names;
	int64_t *pids, *tids;

	if (names->n_tids == n_tids && names->n_pids == n_pids)
		return true;
	pids = realloc(names->pids, ((size_t)n_pids + 1) * sizeof(*pids));
	if (pids)
		names->pids = pids;
	tids = pids ? realloc(names->tids, ((size_t)n_tids + 1) * sizeof(*tids)) : NULL;
	if (!tids)
		return false;
	names->tids = tids;
	for (uint32_t *n = &names->n_pids; *n < n_pids; ++*n)
		pids[*n] = id_for_late(pids, *n, first_of(sh->q, *n)->pid);
	for (uint32_t *n = &names->n_tids; *n < n_tids; ++*n)
		tids[*n] = id_for_late(tids, *n, ts_query_thread_facts(sh->q, *n)->tid);
	return true;
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
	    names_init(&sh->names, q, err) && exec_init(sh, exec, err) &&
	    ts_tdesc_write(ts_query_regset(q), ts_query_facts(q)->osabi, &sh->target_xml, err) && views_init(sh, err))
		return true;
	rsp_shared_fini(sh);
	return false;
}

void rsp_shared_fini(struct rsp_shared *sh)
{
	rsp_table_fini(&sh->table);
	free(sh->names.pids);
	free(sh->names.tids);
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
