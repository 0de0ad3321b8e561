/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <stdio.h>
#include <sys/stat.h>

#include "message.h"
#include "report.h"
#include "src/arch/arch.h"
#include "src/source/source.h"

bool ts_files_is_arch(const char *name)
{
	const struct ts_arch *const *all;
	struct ts_buf line;
	unsigned n;

	if (!name || ts_arch_find(name))
		return true;
	all = ts_arch_all(&n);
	ts_buf_init(&line);
	for (unsigned i = 0; i < n; i++)
		ts_buf_printf(&line, "%s %s", i ? "," : "", all[i]->name);
	ts_message(stderr, "tracestub: --arch %s: the architectures are%s", name, ts_buf_text(&line));
	ts_buf_fini(&line);
	return false;
}

/* A directory that an option names; @path is NULL if it does not. */
static bool check_folder(const char *path, const char *use, enum ts_status *status)
{
	struct ts_error err = { 0 };
	struct stat st;

	if (!path || (!stat(path, &st) && S_ISDIR(st.st_mode)))
		return true;
	if (stat(path, &st) < 0)
		ts_fail_errno(&err, "is not a directory to %s", use);
	else
		ts_fail(&err, TS_EIO, TS_NO_OFF, "is not a directory to %s", use);
	*status = ts_report_failure(path, &err);
	return false;
}

static bool check_file(const char *path, enum ts_status *status)
{
	struct ts_error err = { 0 };

	if (!path)
		return true;
	ts_source_close(ts_source_open(path, &err));
	if (err.code != TS_OK)
		*status = ts_report_failure(path, &err);
	return err.code == TS_OK;
}

bool ts_files_add(struct ts_model *m, const struct ts_cli *cli, enum ts_status *status)
{
	for (unsigned i = 0; i < cli->n_images; i++) {
		const struct ts_file_option *o = &cli->images[i];
		struct ts_error err;

		ts_error_reset(&err);
		if (!ts_model_add_file(m, o->path, o->has_base ? &o->base : NULL, &err)) {
			*status = ts_report_failure(o->path, &err);
			return false;
		}
	}
	return check_file(cli->exec.path, status) && check_file(cli->grammar, status) &&
	       check_folder(cli->export_dir, "save files in", status) &&
	       check_folder(cli->sysroot, "look for files in", status);
}
