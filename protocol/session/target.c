/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/arch/tdesc.h"
#include "src/base/log.h"
#include "src/query/files/file_match.h"
#include "src/query/files/local_files.h"
#include "src/query/paging.h"
#include "src/source/source.h"
#include "protocol/session/documents/symbol_tables.h"

bool rsp_target_grow(struct rsp_target *target)
{
	return ts_names_grow(&target->names, target->q);
}

/* -------------------------------------------------------------------------------------------- the program */

/* The file that the user gave: its path is reported to the client. */
static bool open_exec(struct rsp_target *target, const char *exec, struct ts_error *err)
{
	target->exec = ts_source_open(exec, err);
	if (!target->exec)
		return ts_fail_prefix(err, "%s", exec);
	target->exec_path = realpath(exec, NULL);
	return target->exec_path || ts_fail_errno(err, "%s", exec);
}

/*
 * Without a file of the user's the program is the one under the sysroot, if it is there.  It was found beneath that root
 * and is not opened again by its path, where a link would lead elsewhere.  The recorded path is reported to the client.
 */
static bool exec_init(struct rsp_target *target, const char *exec, struct ts_error *err)
{
	const char *recorded = ts_query_facts(target->q)->exec_path;
	const struct ts_source *mapped = ts_query_file(target->q, recorded);

	if (exec)
		return open_exec(target, exec, err);
	if (mapped) {
		target->exec = ts_source_dup(mapped, err);
		if (!target->exec)
			return ts_fail_prefix(err, "%s", ts_source_name(mapped));
	}
	if (recorded) {
		target->exec_path = strdup(recorded);
		if (!target->exec_path)
			return ts_no_memory(err, "the program's name");
	}
	return true;
}

/* Log how the program's address was found if that is unreliable. */
static void say_located(const struct rsp_target *target, bool begins_as_file)
{
	const struct ts_located *at = &target->located;

	if (at->by == TS_LOCATED_NOT)
		ts_log(TS_LOG_WARN, "%s: position-independent, and %s; give its address with --exec FILE@BASE",
		       target->exec_path, ts_located_text(at->by));
	else if (at->match.n_different && !ts_code_is_match(&at->match) && !begins_as_file)
		ts_log(TS_LOG_WARN,
		       "%s: not the recorded program: its code differs in %zu of %zu places that were "
		       "executed",
		       target->exec_path, at->match.n_different, at->match.n_different + at->match.n_same);
	else
		ts_log(TS_LOG_INFO, "%s: at 0x%" PRIx64 ", %s", target->exec_path, at->first,
		       ts_located_text(at->by));
}

bool rsp_target_locate(struct rsp_target *target, const uint64_t *base, struct ts_error *err)
{
	uint32_t process = ts_query_process(target->q, ts_query_thread(target->q, 0));
	struct ts_error other = { 0 };
	struct ts_file_match match;
	struct ts_object object;
	bool done;

	if (!target->exec || !ts_query_n_steps(target->q) || !ts_object_init(&object, target->exec, &other))
		return true; /* not an object file: gdb reports that better */
	done = ts_locate(target->q, target->exec, &object, process, base, &target->located, err);
	done = done && ts_file_match(target->q, target->exec, &object, process, target->located.moved, &match, err);
	if (done)
		say_located(target, match.n_same && !match.n_different);
	ts_object_fini(&object);
	return done;
}

bool rsp_target_use_local_files(struct rsp_target *target, struct ts_error *err)
{
	target->local = malloc(sizeof(*target->local));
	if (!target->local)
		return ts_no_memory(err, "the list of local files");
	ts_local_files_init(target->local, target->q);
	return true;
}

const struct ts_source *rsp_target_file(const struct rsp_target *target, const char *path)
{
	const struct ts_source *file = path ? ts_query_file(target->q, path) : NULL;

	return file || !target->local || !path ? file : ts_local_file(target->local, path);
}

const char *rsp_target_exec_path(const struct rsp_target *target)
{
	const char *path = target->exec_path;

	return path && *path == '/' && (target->exec || rsp_target_file(target, path)) ? path : NULL;
}

void rsp_target_put_read(const struct rsp_target *target, struct ts_buf *out)
{
	unsigned share = ts_query_permille(target->q);

	if (!ts_query_is_complete(target->q))
		ts_buf_printf(out, "read so far: %u %%", share / 10);
}

struct ts_symbols *rsp_target_symbols(const struct rsp_target *target, struct ts_error *err)
{
	const bool is_located = target->located.by != TS_LOCATED_NOT;
	const struct ts_symbols_places places = {
		.images = target->images,
		.n_images = target->n_images,
		.names = target->name_list,
		.program = target->exec,
		.base = is_located ? &target->located.first : NULL,
		.is_located = is_located,
		.local = target->local,
		.process = target->process,
	};

	return rsp_symbol_tables_get(target->symbols, target->q, &places, err);
}

/* -------------------------------------------------------------------------------------------- layouts */

static bool layout_init(struct rsp_target *target, enum rsp_layout_kind kind, const struct ts_arch *arch,
			struct ts_error *err)
{
	struct rsp_layout *layout = &target->layouts[kind];

	return ts_regview_init(&layout->regs, ts_query_regset(target->q), arch, err) &&
	       ts_tdesc_write(&layout->regs.set, ts_query_facts(target->q)->osabi, &layout->target_xml, err);
}

/* A 64-bit processor may run narrower code; other registers are shown as recorded. */
static bool layouts_init(struct rsp_target *target, struct ts_error *err)
{
	const struct ts_facts *facts = ts_query_facts(target->q);

	if (!facts->is_physical || facts->regs->arch != ts_arch_find("x86_64"))
		return true;
	return layout_init(target, RSP_LAYOUT_32, ts_arch_find("i386"), err) &&
	       layout_init(target, RSP_LAYOUT_16, ts_arch_find("i8086"), err);
}

bool rsp_target_force_arch(struct rsp_target *target, const struct ts_arch *arch, struct ts_error *err)
{
	const struct ts_arch *recorded = ts_query_regset(target->q)->arch;

	target->is_forced = true;
	if (arch == recorded || ts_arch_in_order(arch, recorded->is_big_endian) == recorded)
		return true;
	if (!layout_init(target, RSP_LAYOUT_FORCED, arch, err)) {
		err->code = err->code == TS_EUNSUPPORTED ? TS_EUSAGE : err->code;
		return false;
	}
	return true;
}

const struct rsp_layout *rsp_target_layout(const struct rsp_target *target, uint64_t pos)
{
	enum rsp_layout_kind kind = RSP_LAYOUT_FORCED;

	if (!target->is_forced) {
		const struct ts_mode *mode = ts_query_mode(target->q, pos);
		enum ts_code_size size = mode ? ts_mode_code_size(mode) : TS_CODE_UNKNOWN;

		if (size != TS_CODE_32 && size != TS_CODE_16)
			return NULL;
		kind = size == TS_CODE_32 ? RSP_LAYOUT_32 : RSP_LAYOUT_16;
	}
	return target->layouts[kind].target_xml.len ? &target->layouts[kind] : NULL;
}

bool rsp_target_init(struct rsp_target *target, struct ts_query *q, const char *exec, struct ts_error *err)
{
	*target = (struct rsp_target){ .q = q, .has_paging = ts_paging_is_known(q) };
	ts_buf_init(&target->target_xml);
	for (unsigned i = 0; i < RSP_N_LAYOUTS; i++)
		ts_buf_init(&target->layouts[i].target_xml);
	target->symbols = rsp_symbol_tables_new();
	if (!target->symbols)
		ts_no_memory(err, "symbols");
	else if (ts_names_init(&target->names, q, err) && exec_init(target, exec, err) &&
		 ts_tdesc_write(ts_query_regset(q), ts_query_facts(q)->osabi, &target->target_xml, err) &&
		 layouts_init(target, err))
		return true;
	rsp_target_fini(target);
	return false;
}

void rsp_target_fini(struct rsp_target *target)
{
	rsp_table_fini(&target->table);
	ts_names_fini(&target->names);
	ts_buf_fini(&target->target_xml);
	for (unsigned i = 0; i < RSP_N_LAYOUTS; i++) {
		ts_regview_fini(&target->layouts[i].regs);
		ts_buf_fini(&target->layouts[i].target_xml);
	}
	if (target->local)
		ts_local_files_fini(target->local);
	free(target->local);
	rsp_symbol_tables_free(target->symbols);
	ts_source_close(target->exec);
	free(target->exec_path);
	*target = (struct rsp_target){ 0 };
}
