/* SPDX-License-Identifier: MIT */
/*
 * Search for the recorded program if the command line does not name it: a file beside the trace, in the current folder,
 * or the copy from the time of the recording (kept.h).
 *
 * Its name is the program's name in the recording, or the trace's name without suffixes (run.ucir.gz: run,
 * run.exe).  It is used only if its contents agree with the recording.
 */
#include "opening.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kept.h"
#include "src/base/log.h"
#include "src/base/suffix.h"
#include "src/program/cli/message.h"
#include "src/query/file_match.h"
#include "src/query/local_files.h"
#include "src/query/locate.h"
#include "src/source/source.h"
#include "src/source/unpack.h"

/* After the last '/' or, of Windows, '\\'. */
static const char *last_part(const char *path)
{
	const char *part = path;

	for (; *path; path++) {
		if (*path == '/' || *path == '\\')
			part = path + 1;
	}
	return part;
}

/*
 * How many characters of the trace's name are left without its suffixes: of a compressor, and of its format.
 */
static int stem_len(const char *name)
{
	static const char *const packed[] = { ".gz", ".xz", ".zst" };
	size_t len = strlen(name);
	const char *dot;

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		len -= ts_suffix_len(name, len, packed[i]);
	dot = memrchr(name, '.', len);
	return dot && dot > name ? (int)(dot - name) : 0;
}

/* As far as the recording shows it; *at: where the file lies in it. */
static bool compare(struct ts_query *q, const uint64_t *base, const struct ts_source *src,
		    struct ts_located *at, struct ts_file_match *match)
{
	uint32_t process = ts_query_process(q, ts_query_thread(q, 0));
	struct ts_error ignored = { 0 };
	struct ts_object o;
	bool done;

	if (!ts_object_init(&o, src, &ignored))
		return false;
	done = ts_locate(q, src, &o, process, base, at, &ignored) &&
	       at->by != TS_LOCATED_NOT && ts_file_match(q, src, &o, process, at->moved, match, &ignored);
	ts_object_fini(&o);
	return done;
}

/* Did the system fail to open the file, which may be there?  Others are missing, or not for us. */
static bool has_system_failed(int number)
{
	return number == EMFILE || number == ENFILE || number == ENOMEM || number == EIO;
}

/* Returns a copy of @path, if the file there is the recorded program. */
static char *try_file(struct ts_query *q, const char *path)
{
	struct ts_error ignored = { 0 };
	struct ts_source *src = ts_source_open(path, &ignored);
	bool has_failed = !src && has_system_failed(errno);
	struct ts_file_match match;
	struct ts_located at;
	bool is_it = src && (ts_local_file_is_program(q, src) || /* its code may not have been read yet */
			     (compare(q, NULL, src, &at, &match) && match.build == TS_BUILD_SAME && !match.n_different));

	if (has_failed)
		ts_log(TS_LOG_WARN, "%s: %s; it is unknown whether it is the recorded program", path, ignored.text);
	ts_source_close(src);
	return is_it ? strdup(path) : NULL;
}

/* In @folder, which ends with '/'. */
static char *try_folder(const struct ts_cli *cli, struct ts_query *q, const char *folder)
{
	const char *recorded = ts_query_facts(q)->exec_path, *name = last_part(cli->trace);
	int len = ts_is_stdin(cli->trace) ? 0 : stem_len(name);
	const struct {
		const char *name, *suffix;
		int len;
	} candidates[] = {
		{ recorded ? last_part(recorded) : "", "", INT_MAX },
		{ name, "", len },
		{ name, ".exe", len },
	};
	char path[PATH_MAX], *found = NULL;

	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]) && !found; i++) {
		if (!candidates[i].len || !*candidates[i].name)
			continue;
		if (snprintf(path, sizeof(path), "%s%.*s%s", folder, candidates[i].len, candidates[i].name,
			     candidates[i].suffix) < (int)sizeof(path))
			found = try_file(q, path);
	}
	return found;
}

/* The copy that `tracestub record` made. */
static char *try_kept(const struct ts_cli *cli, struct ts_query *q)
{
	char folder[2 * PATH_MAX];

	return ts_kept_find(cli->trace, folder) ? try_folder(cli, q, folder) : NULL;
}

void ts_beside_check(struct ts_cli *cli, struct ts_query *q)
{
	const char *path = cli->exec.path;
	struct ts_error ignored = { 0 };
	struct ts_source *src = path && !cli->has_process ? ts_source_open(path, &ignored) : NULL;
	struct ts_file_match match;
	struct ts_located at;

	if (src && compare(q, cli->exec.has_base ? &cli->exec.base : NULL, src, &at, &match)) {
		if (match.build == TS_BUILD_OTHER)
			ts_log(TS_LOG_WARN, "%s: not the recorded program: its build-id differs; ignored", path);
		else if (match.n_different)
			ts_log(TS_LOG_WARN,
			       "%s: not the recorded program: its code differs in %" PRIu64 " of %" PRIu64
			       " bytes, the first at 0x%" PRIx64 "%s",
			       path, match.n_different, match.n_different + match.n_same, match.first_different,
			       ts_file_is_other(&match) ? "; ignored" : "");
		else if (match.build == TS_BUILD_UNKNOWN && !match.n_same && at.n_samples && ts_query_is_complete(q))
			ts_log(TS_LOG_WARN, "%s: at 0x%" PRIx64 ", %s, but none of its code was executed there", path, at.first,
			       ts_located_text(at.by));
		if (ts_file_is_other(&match))
			cli->exec = (struct ts_file_option){ 0 };
	}
	ts_source_close(src);
}

char *ts_beside_find(struct ts_cli *cli, struct ts_query *q)
{
	int folder_len = (int)(last_part(cli->trace) - cli->trace);
	char here[PATH_MAX], folder[2 * PATH_MAX], *found;

	if (cli->exec.path || cli->sysroot || !getcwd(here, sizeof(here)))
		return NULL;
	/* a path from the root: the sandbox opens no others that the command line does not name */
	snprintf(folder, sizeof(folder), "%s/%.*s", *cli->trace == '/' ? "" : here, folder_len, cli->trace);
	found = try_folder(cli, q, folder);
	snprintf(folder, sizeof(folder), "%s/", here);
	if (!found && folder_len)
		found = try_folder(cli, q, folder);
	if (!found)
		found = try_kept(cli, q);
	if (!found)
		return NULL;
	cli->exec.path = found;
	if (!cli->is_quiet)
		ts_message(stderr,
			   "tracestub: %s: the recorded program, by its contents; --exec names another one",
			   found);
	return found;
}
