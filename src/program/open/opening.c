/* SPDX-License-Identifier: MIT */
#include "opening.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loaders/loader.h"
#include "loaders/unread.h"
#include "processes.h"
#include "src/base/cache_dir.h"
#include "src/index/keys/trace_keys.h"
#include "src/model/part.h"
#include "src/object/elf_image.h"
#include "src/program/cli/files.h"
#include "src/program/cli/message.h"
#include "src/program/cli/report.h"
#include "src/source/pack.h"
#include "src/source/unpack.h"

/* The message of the signal handler. */
static char missing_page[4400];

static void on_missing_page(int)
{
	ssize_t ignored = write(STDERR_FILENO, missing_page, strlen(missing_page));

	(void)ignored;
	_exit(TS_STATUS_FAILED);
}

/*
 * Guard the mapped index file @path.  If the file is truncated, or its disk fails, the process prints a message on
 * stderr and exits with TS_STATUS_FAILED, instead of dying by SIGBUS.
 */
static void guard_index(const char *path)
{
	const struct sigaction action = { .sa_handler = on_missing_page };

	snprintf(missing_page, sizeof(missing_page),
		 "tracestub: %s: truncated or unreadable while in use; the next run rebuilds it\n", path);
	sigaction(SIGBUS, &action, NULL);
}

bool ts_opening_knows_format(const struct ts_cli *cli)
{
	const char *name = cli->format;
	struct ts_buf line;

	if (!name || ts_loader_find(name))
		return true;
	ts_buf_init(&line);
	for (size_t i = 0; ts_loader_at(i); i++)
		ts_buf_printf(&line, "%s %s", i ? "," : "", ts_loader_at(i)->name);
	ts_message(stderr, "tracestub: --format %s: the formats are%s", name, ts_buf_text(&line));
	ts_buf_fini(&line);
	return false;
}

void ts_opening_list_formats(void)
{
	const struct ts_loader *l;

	for (size_t i = 0; (l = ts_loader_at(i)); i++)
		printf("%-12s %s\n", l->name, l->summary);
}

/* A folder that is given as a trace: one sentence says what it is.  Returns whether it is one. */
static bool is_folder(const char *path)
{
	struct ts_error err = { 0 };

	if (!path || !ts_is_folder(path))
		return false;
	ts_fail(&err, TS_EUNSUPPORTED, TS_NO_OFF, "%s",
		ts_processes_is_folder(path) ? "a folder of recordings: name one of them; tracestub info lists them"
					     : loaders_unread_folder(path));
	ts_report_failure(path, &err);
	return true;
}

/* Is the trace a folder of record --follow, for a command that takes one (open/processes.h)? */
static bool is_followed(const struct ts_cli *cli)
{
	bool takes_one = cli->command == TS_CMD_INFO || cli->command == TS_CMD_GDB || cli->command == TS_CMD_LLDB ||
			 cli->command == TS_CMD_DAP;

	return takes_one && cli->trace && cli->n_traces <= 1 && ts_processes_is_folder(cli->trace);
}

bool ts_opening_is_no_folder(const struct ts_cli *cli, enum ts_status *status)
{
	bool is_one = cli->command != TS_CMD_RECORD &&
		      ((!is_followed(cli) && is_folder(cli->trace)) || is_folder(cli->trace2));

	for (size_t i = 0; i < cli->n_threads && !is_one; i++)
		is_one = is_folder(cli->threads[i]);
	for (size_t i = 1; i < cli->n_traces && !is_one; i++)
		is_one = is_folder(cli->traces[i]);
	*status = is_one ? TS_STATUS_FAILED : *status;
	return !is_one;
}

/* Is it worth while to unpack data that begins like this? */
static bool check_head(void *user, const uint8_t *head, size_t len, struct ts_error *err)
{
	const struct ts_opened *o = user;
	struct ts_source *src;
	bool is_known;

	if (o->cli.format || o->cli.grammar)
		return true;
	src = ts_source_from_memory(head, len, o->cli.trace, err);
	is_known = src && ts_loader_probe(src, err);
	ts_source_close(src);
	return is_known;
}

static void show_unpacking(void *user, const struct ts_unpacking *at)
{
	struct ts_opened *o = user;

	if (at->is_done)
		ts_meter_clear(&o->meter);
	else
		ts_meter_show(&o->meter, at->in_len ? (double)at->n_in / (double)at->in_len : TS_NO_SHARE,
			      at->n_out);
}

/* A packed recording is not packed again: a packed recording in a packed recording is not opened. */
static bool check_unpacked(const struct ts_opened *o, const struct ts_source *src, struct ts_error *err)
{
	return o->cli.command != TS_CMD_PACK || !ts_source_archive(src) ||
	       ts_fail(err, TS_EUSAGE, TS_NO_OFF, "it is a packed recording already");
}

/* A file of another thread, which is taken: its format must be the same. */
static bool add_thread(struct ts_opened *o, struct ts_source *src, struct ts_error *err)
{
	const struct ts_loader *loader = o->loader;
	struct ts_source **threads = realloc(o->threads, (o->n_threads + 1) * sizeof(struct ts_source *));

	if (threads)
		o->threads = threads;
	if (src && !threads)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for %zu files", o->n_threads + 1);
	if (src && threads && check_unpacked(o, src, err) && !o->cli.format && !o->cli.grammar)
		loader = ts_loader_probe(src, err);
	if (err->code == TS_OK && loader != o->loader)
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "its format is %s, not %s", loader->name, o->loader->name);
	if (err->code != TS_OK) {
		ts_source_close(src);
		return false;
	}
	o->threads[o->n_threads++] = src;
	return true;
}

/* The files of other threads that were packed with the trace. */
static bool open_packed_threads(struct ts_opened *o, const struct ts_unpack_options *opt, struct ts_error *err)
{
	const struct ts_source *archive = ts_source_archive(o->src);
	const struct ts_pack_member *m = NULL;
	struct ts_pack p = { 0 };
	bool done = !archive || ts_pack_init(&p, archive, err);

	while (done && o->loader->has_thread_files && (m = ts_pack_next(&p, m, "thread/"))) {
		done = add_thread(o, ts_trace_open_packed(&p, m, opt, err), err) ||
		       ts_fail_prefix(err, "%s", m->name);
	}
	ts_pack_fini(&p);
	return done;
}

static bool open_threads(struct ts_opened *o, const struct ts_unpack_options *opt, struct ts_error *err)
{
	const struct ts_cli *cli = &o->cli;

	if (cli->n_threads && !o->loader->has_thread_files)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "%s: a recording of format %s is one file",
			       cli->threads[0], o->loader->name);
	for (size_t i = 0; i < cli->n_threads; i++) {
		if (!add_thread(o, ts_trace_open(cli->threads[i], opt, err), err))
			return ts_fail_prefix(err, "%s", cli->threads[i]);
	}
	return open_packed_threads(o, opt, err);
}

/* The files beneath the recording that were packed with it; those of the command line were added before. */
static bool add_packed_images(struct ts_opened *o, struct ts_error *err)
{
	for (unsigned i = 0; i < o->packed.n_images; i++) {
		const struct ts_file_option *image = &o->cli.images[i];

		if (!ts_model_add_file(o->model, image->path, image->has_base ? &image->base : NULL, err))
			return ts_fail_prefix(err, "%s", image->path);
	}
	return true;
}

/* By --grammar, --format, or the contents. */
static const struct ts_loader *choose_loader(const struct ts_opened *o, struct ts_error *err)
{
	if (o->cli.grammar)
		return ts_loader_find("grammar");
	return o->cli.format ? ts_loader_find(o->cli.format) : ts_loader_probe(o->src, err);
}

static bool open_source(struct ts_opened *o, struct ts_error *err)
{
	char dir[PATH_MAX];
	struct ts_trace_keys keys;
	struct ts_error no_keys = { 0 };
	bool is_kept = ts_cache_dir(dir) && ts_trace_keys(o->cli.trace, &keys, &no_keys);
	const struct ts_unpack_options opt = {
		.dir = is_kept ? dir : NULL,
		.tag = is_kept ? keys.tag : NULL,
		.check = check_head,
		.progress = show_unpacking,
		.user = o,
	};

	o->src = ts_trace_open(o->cli.trace, &opt, err);
	if (o->src && (!check_unpacked(o, o->src, err) || !ts_packed_adopt(&o->cli, o->src, &o->packed, err) ||
		       !add_packed_images(o, err)))
		return false;
	if (o->src)
		o->loader = choose_loader(o, err);
	return o->loader && open_threads(o, &opt, err);
}

/* gdb names a family of processors, and one of them after a colon: "i386", "i386:x86-64". */
static bool is_same_family(const struct ts_arch *a, const struct ts_arch *b)
{
	size_t len = strcspn(a->gdb_name, ":");

	return len == strcspn(b->gdb_name, ":") && !strncmp(a->gdb_name, b->gdb_name, len);
}

/*
 * The program that --exec names is refused if another processor would run it.  What is not an ELF file
 * passes.
 */
static bool check_processor(const struct ts_cli *cli, const struct ts_arch *recorded, struct ts_error *err)
{
	struct ts_source *src = cli->exec.path ? ts_source_open(cli->exec.path, err) : NULL;
	const struct ts_arch *arch = NULL;
	struct ts_error ignored = { 0 };
	struct ts_elf elf;

	if (src && ts_elf_init(&elf, src, &ignored)) {
		arch = ts_elf_arch(&elf);
		ts_elf_fini(&elf);
	}
	ts_source_close(src);
	if (err->code != TS_OK)
		return false;
	return !arch || is_same_family(arch, recorded) ||
	       ts_fail(err, TS_EUSAGE, TS_NO_OFF, "--exec %s is a program for %s, but the recording is of %s",
		       cli->exec.path, arch->name, recorded->name);
}

/* For the model: its recording. */
static struct ts_recording *load(void *user, const struct ts_recording *like, struct ts_error *err)
{
	const struct ts_opened *o = user;
	struct ts_source *grammar = o->cli.grammar ? ts_source_open(o->cli.grammar, err) : NULL;
	const struct ts_loader_options opt = {
		.grammar = grammar,
		.exec = o->cli.exec.path,
		.exec_base = o->cli.exec.has_base ? &o->cli.exec.base : NULL,
		.threads = (const struct ts_source *const *)o->threads,
		.n_threads = o->n_threads,
		.max_memory = o->cli.max_memory == UINT64_MAX ? 0 : o->cli.max_memory,
		.arch = o->cli.arch,
		.like = like,
	};
	const struct ts_error *damage = ts_source_damage(o->src);
	struct ts_recording *rec = NULL;

	if (grammar || !o->cli.grammar)
		rec = ts_loader_open(o->loader, o->src, &opt, err);
	ts_source_close(grammar);
	if (!rec)
		ts_fail_prefix(err, "%s", o->loader->name);
	else if (damage->code != TS_OK)
		ts_recording_warn(rec, "%.180s; the part before it is served", damage->text);
	if (rec && !check_processor(&o->cli, rec->regs.arch, err)) {
		ts_recording_close(rec);
		return NULL;
	}
	return rec;
}

static struct ts_model_options model_options(struct ts_opened *o)
{
	const struct ts_cli *cli = &o->cli;

	return (struct ts_model_options){
		.trace = cli->trace,
		.load = load,
		.user = o,
		.sysroot = cli->sysroot,
		.index = {
			.path = cli->index,
			.is_merged = cli->is_merged,
			.is_wanted = cli->command == TS_CMD_INDEX,
			.has_no_reads = cli->has_no_reads,
		},
		.max_memory = cli->max_memory,
		.n_jobs = cli->n_jobs,
		.is_served = ts_cli_is_server(cli),
		.is_whole = !ts_cli_is_server(cli) && !cli->is_partial,
		.is_compared = cli->command == TS_CMD_DIFF || cli->command == TS_CMD_INDEX ||
			       cli->command == TS_CMD_MCP,
	};
}

static bool open_model(struct ts_opened *o, enum ts_status *status)
{
	const struct ts_cli *cli = &o->cli;
	const struct ts_model_options opt = model_options(o);
	struct ts_index_facts index;
	struct ts_error err = { 0 };

	ts_meter_init(&o->meter, cli, cli->trace, "unpacking", "bytes");
	o->model = ts_model_new(&opt, &err);
	if (o->model && !ts_files_add(o->model, cli, status))
		return false;
	if (!o->model || !open_source(o, &err) || !ts_model_open(o->model, o->src, &err)) {
		*status = ts_report_failure(cli->trace, &err);
		return false;
	}
	index = ts_model_index(o->model);
	if (index.path)
		guard_index(index.path);
	if (!index.path && cli->command == TS_CMD_INDEX && !ts_model_has_frames(o->model)) { /* why not has been said; reading would be in vain */
		ts_fail(&err, TS_EIO, TS_NO_OFF, "its index has no path: give one with --index PATH");
		*status = ts_report_failure(cli->trace, &err);
		return false;
	}
	return true;
}

bool ts_opened_init(struct ts_opened *o, const struct ts_cli *cli, enum ts_status *status)
{
	*o = (struct ts_opened){ .cli = *cli };
	return open_model(o, status);
}

bool ts_opened_init_part(struct ts_opened *o, const struct ts_cli *cli, struct ts_part **part, enum ts_status *status)
{
	const struct ts_part_number number = { cli->segment, cli->n_segments };
	struct ts_model_options opt;
	struct ts_error err = { 0 };

	*o = (struct ts_opened){ .cli = *cli };
	ts_meter_init(&o->meter, cli, cli->trace, "unpacking", "bytes");
	opt = model_options(o);
	o->model = ts_model_new(&opt, &err);
	if (o->model && !ts_files_add(o->model, cli, status))
		return false;
	*part = o->model && open_source(o, &err) ? ts_part_new(&opt, o->src, &number, &err) : NULL;
	if (!*part)
		*status = ts_report_failure(cli->trace, &err);
	return *part != NULL;
}

void ts_opened_fini(struct ts_opened *o)
{
	ts_model_free(o->model);
	for (size_t i = 0; i < o->n_threads; i++)
		ts_source_close(o->threads[i]);
	free(o->threads);
	ts_source_close(o->src);
	ts_packed_files_fini(&o->packed);
	*o = (struct ts_opened){ 0 };
}
