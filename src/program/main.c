/* SPDX-License-Identifier: MIT */
/*
 * The program: joins loaders, model and protocol, and runs one command.
 */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "cli.h"
#include "gdb.h"
#include "info.h"
#include "keep.h"
#include "loaders/loader.h"
#include "protocol/server/server.h"
#include "report.h"
#include "src/base/cache_dir.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/export/export.h"
#include "src/index/index_place.h"
#include "src/query/query.h"
#include "src/trace/unpack.h"

#define STEPS_A_GROW (UINT64_C(1) << 16)
#define FRAMES_A_TURN 4096

/* A recording on its way to be asked questions. */
struct job {
	struct ts_cli cli;
	struct ts_source *src;    /* owned; the trace */
	const struct ts_loader *loader;
	struct ts_image image;
	struct ts_recording *rec; /* owned */
	struct ts_timeline *tl;   /* owned */
	struct ts_query *q;       /* owned */
};

/* -------------------------------------------------------------------------- from a file to questions */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

static bool is_format_known(const char *name)
{
	if (!name || ts_loader_find(name))
		return true;
	fprintf(stderr, "tracestub: --format %s: the formats are", name);
	for (const struct ts_loader *const *l = ts_loaders; *l; l++)
		fprintf(stderr, "%s %s", l == ts_loaders ? "" : ",", (*l)->name);
	fputc('\n', stderr);
	return false;
}

static bool is_arch_known(const char *name)
{
	const struct ts_arch *const *all;
	unsigned n;

	if (!name || ts_arch_find(name))
		return true;
	all = ts_arch_all(&n);
	fprintf(stderr, "tracestub: --arch %s: the architectures are", name);
	for (unsigned i = 0; i < n; i++)
		fprintf(stderr, "%s %s", i ? "," : "", all[i]->name);
	fputc('\n', stderr);
	return false;
}

/* A folder that an option names, if it does; what for is said when it is none. */
static bool check_folder(const char *path, const char *use, enum ts_status *status)
{
	struct ts_error err;
	struct stat st;

	ts_error_reset(&err);
	if (!path || (!stat(path, &st) && S_ISDIR(st.st_mode)))
		return true;
	if (stat(path, &st) < 0)
		ts_fail_errno(&err, "it is no folder to %s", use);
	else
		ts_fail(&err, TS_EIO, TS_NO_OFF, "it is no folder to %s", use);
	*status = ts_report_failure(path, &err);
	return false;
}

/* The files that the user names besides the trace; says what is wrong with one itself. */
static bool add_files(struct job *job, enum ts_status *status)
{
	const struct ts_cli *cli = &job->cli;
	struct ts_error err;

	ts_error_reset(&err);
	job->image.sysroot = cli->sysroot;
	for (unsigned i = 0; i < cli->n_images; i++) {
		const struct ts_file_option *o = &cli->images[i];

		if (!ts_image_add_file(&job->image, o->path, o->has_base ? &o->base : NULL, &err)) {
			*status = ts_report_failure(o->path, &err);
			return false;
		}
	}
	if (cli->exec.path) {
		ts_source_close(ts_source_open(cli->exec.path, &err));
		if (err.code != TS_OK)
			*status = ts_report_failure(cli->exec.path, &err);
	}
	return err.code == TS_OK && check_folder(cli->export_dir, "save files in", status) &&
	       check_folder(cli->sysroot, "look for files in", status);
}

/* Is it worth while to unpack data that begins like this? */
static bool check_head(void *user, const uint8_t *head, size_t len, struct ts_error *err)
{
	const struct job *job = user;
	struct ts_source *src;
	bool is_known;

	if (job->cli.format)
		return true;
	src = ts_source_from_memory(head, len, job->cli.trace, err);
	is_known = src && ts_loader_probe(src, err);
	ts_source_close(src);
	return is_known;
}

static void show_unpacking(void *user, const struct ts_unpacking *at)
{
	const struct job *job = user;

	if (!job->cli.is_quiet)
		ts_report_unpacking(at);
}

static bool open_source(struct job *job, struct ts_error *err)
{
	char dir[PATH_MAX];
	const struct ts_unpack_options opt = {
		.dir = ts_cache_dir(dir) ? dir : NULL,
		.check = check_head,
		.progress = show_unpacking,
		.user = job,
	};

	job->src = ts_trace_open(job->cli.trace, &opt, err);
	return job->src != NULL;
}

static struct ts_recording *load(const struct job *job, struct ts_error *err)
{
	const struct ts_loader_options opt = { .exec = job->cli.exec.path, .arch = job->cli.arch };
	const struct ts_error *damage = ts_source_damage(job->src);
	struct ts_recording *rec = job->loader->open(job->src, &opt, err);

	if (rec && damage->code != TS_OK)
		ts_recording_warn(rec, "%.180s; what comes before it is served", damage->text);
	return rec;
}

static bool open_recording(struct job *job, struct ts_error *err)
{
	if (!job->src && !open_source(job, err))
		return false;
	job->loader = job->cli.format ? ts_loader_find(job->cli.format) : ts_loader_probe(job->src, err);
	if (!job->loader)
		return false;
	job->rec = load(job, err);
	return job->rec || ts_fail_prefix(err, "%s", job->loader->name);
}

/* How many processors this process may use. */
static int n_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

/* Shorter traces are read before a thread has begun. */
#define MIN_AHEAD (UINT64_C(1) << 20)

static bool is_server(const struct job *job)
{
	return job->cli.command == TS_CMD_SERVE || job->cli.command == TS_CMD_GDB;
}

/* Where there is a second processor it decodes while this one indexes; a server's clients never wait for long. */
static void read_ahead(struct job *job)
{
	struct ts_recording *twin;
	struct ts_error err;

	if (!job->tl->builder || job->rec->frames || ts_source_len(job->src) < MIN_AHEAD ||
	    (n_processors() < 2 && !is_server(job)))
		return;
	ts_error_reset(&err);
	twin = load(job, &err);
	if (!twin || !ts_timeline_read_ahead(job->tl, twin, &err))
		ts_log(TS_LOG_INFO, "%s: read without a thread of its own: %s", job->cli.trace, err.text);
}

/* What a signal handler says. */
static char missing_page[4400];

/*
 * An index file is mapped.  What somebody cuts off it, or its disk does not give back, is missing when it is
 * looked at: nothing can be answered any more.
 */
static void on_missing_page(int signal)
{
	ssize_t ignored = write(STDERR_FILENO, missing_page, strlen(missing_page));

	(void)signal;
	(void)ignored;
	_exit(TS_STATUS_FAILED);
}

static void expect_missing_page(const struct job *job)
{
	const struct sigaction action = { .sa_handler = on_missing_page };

	if (!job->tl->file)
		return;
	snprintf(missing_page, sizeof(missing_page),
		 "tracestub: %s: it was cut, or cannot be read any more, while it was in use: it will be built again\n",
		 ts_index_path(job->tl->file));
	sigaction(SIGBUS, &action, NULL);
}

/* A timeline with its index file. */
static bool begin_timeline(struct job *job, struct ts_error *err)
{
	bool is_bad_file = true;

	for (unsigned tries = 0; is_bad_file && tries < 1 + TS_INDEX_MAX_PLACES && !job->tl; tries++) {
		ts_recording_close(job->rec);
		job->rec = NULL;
		if (!open_recording(job, err))
			return false;
		job->tl = ts_keep_timeline(job->rec, &job->image, job->src, &job->cli, &is_bad_file, err);
	}
	if (!job->tl && err->code == TS_OK)
		ts_fail(err, TS_EIO, TS_NO_OFF, "its index file cannot be used, nor removed");
	if (!job->tl)
		return ts_fail_prefix(err, "%s", job->rec->format);
	expect_missing_page(job);
	read_ahead(job);
	return true;
}

/* What there is to say when the recording has been read. */
static void say_read(const struct job *job)
{
	ts_keep_report(job->tl);
	if (job->tl->damage.code != TS_OK)
		ts_fail_prefix(&job->tl->damage, "%s", job->rec->format);
	ts_report_warnings(job->q, job->cli.trace);
}

/* A server begins when this much time has passed and something can be asked about; it reads the rest. */
#define READ_FIRST_MS 250

static bool is_enough(const struct job *job, int64_t start)
{
	return is_server(job) && !job->rec->frames && job->tl->n_steps && now_ms() - start > READ_FIRST_MS;
}

/* Read the recording to its end or to its damage, or as far as is needed before one may ask. */
static bool build_timeline(struct job *job, struct ts_error *err)
{
	int64_t start = now_ms();
	enum ts_grow grow;

	do {
		grow = ts_timeline_grow(job->tl, STEPS_A_GROW, err);
		if (!job->cli.is_quiet)
			ts_report_progress(job->cli.trace, ts_timeline_n_read(job->tl), grow != TS_GROW_MORE);
	} while (grow == TS_GROW_MORE && !is_enough(job, start));
	if (grow == TS_GROW_FAILED)
		return ts_fail_prefix(err, "%s", job->rec->format);
	job->q = ts_query_new(job->tl, err);
	if (job->q && grow == TS_GROW_DONE)
		say_read(job);
	return job->q != NULL;
}

/* For a server: read on for this long at a time, when nobody wants anything. */
#define READ_ON_NS INT64_C(2000000)

static bool read_on(void *user)
{
	struct job *job = user;
	int64_t end = ts_now_ns() + READ_ON_NS;
	enum ts_grow grow;
	struct ts_error err;

	ts_error_reset(&err);
	do {
		grow = ts_timeline_grow(job->tl, TS_CHUNK_STEPS, &err);
	} while (grow == TS_GROW_MORE && ts_now_ns() < end);
	ts_query_refresh(job->q);
	if (grow != TS_GROW_MORE)
		say_read(job);
	return grow == TS_GROW_MORE;
}

static void job_fini(struct job *job)
{
	ts_query_free(job->q);
	ts_timeline_free(job->tl);
	ts_recording_close(job->rec);
	ts_image_fini(&job->image);
	ts_source_close(job->src);
	ts_cli_fini(&job->cli);
}

/* ------------------------------------------------------------------------------------------- commands */

static void say_listening(void *user, const char *address)
{
	(void)user;
	if (strcmp(address, "-"))
		fprintf(stderr, "Listening on %s\n", address);
}

static enum ts_status serve(struct job *job, const char *comm,
			    void (*ready)(void *user, const char *address), void *user)
{
	const struct rsp_server_options opt = {
		.comm = comm,
		.exec = job->cli.exec.path,
		.has_local_files = !job->cli.sysroot,
		.exec_base = job->cli.exec.has_base ? &job->cli.exec.base : NULL,
		.arch = job->cli.arch ? ts_arch_find(job->cli.arch) : NULL,
		.trace = job->cli.trace,
		.export_dir = job->cli.export_dir,
		.grow = ts_query_is_complete(job->q) ? NULL : read_on,
		.grow_user = job,
		.is_once = job->cli.is_once,
		.ready = ready,
		.user = user,
	};
	struct ts_error err;

	ts_error_reset(&err);
	return rsp_server_run(job->q, &opt, &err) ? TS_STATUS_OK : ts_report_failure(NULL, &err);
}

static int serve_gdb(void *user, const char *path, void (*ready)(void *ready_user, const char *path),
		     void *ready_user)
{
	return serve(user, path, ready, ready_user);
}

static int run_gdb(struct job *job)
{
	const struct ts_gdb_options opt = {
		.arch = job->rec->regs.arch,
		.exec = job->cli.exec.path,
		.args = job->cli.gdb_args,
		.serve = serve_gdb,
		.user = job,
	};
	struct ts_error err;
	int status;

	ts_error_reset(&err);
	ts_timeline_rest(job->tl); /* the server goes on in a process of its own */
	status = ts_gdb_run(&opt, &err);
	return status < 0 ? (int)ts_report_failure(NULL, &err) : status;
}

static enum ts_status run_info(struct job *job)
{
	struct ts_error err;
	struct ts_info info;
	bool done = true;

	ts_error_reset(&err);
	if (!ts_info_init(&info, job->q, job->cli.trace, &err))
		return ts_report_failure(job->cli.trace, &err);
	if (job->cli.is_json)
		done = ts_info_json(&info, &err);
	else
		ts_info_text(&info);
	ts_info_fini(&info);
	if (done && (fflush(stdout) || ferror(stdout)))
		done = ts_fail_errno(&err, "cannot write to stdout");
	return done ? TS_STATUS_OK : ts_report_failure(NULL, &err);
}

static enum ts_status run_index(const struct job *job)
{
	struct ts_error err;

	ts_error_reset(&err);
	return ts_keep_show(job->tl, &err) ? TS_STATUS_OK : ts_report_failure(job->cli.trace, &err);
}

/* What a file of gdb's cannot say of registers. */
static void warn_of_registers(const struct ts_export *e)
{
	struct ts_buf names;

	ts_buf_init(&names);
	ts_export_left_out(e, &names);
	if (names.len)
		ts_log(TS_LOG_WARN, "registers that some frame does not know are left out:%s",
		       ts_buf_text(&names));
	ts_buf_reset(&names);
	ts_export_zeros(e, &names);
	if (names.len)
		ts_log(TS_LOG_WARN, "registers that gdb cannot do without are 0 where they are not known:%s",
		       ts_buf_text(&names));
	ts_buf_fini(&names);
}

static bool write_frames(struct job *job, struct ts_selection *s, struct ts_error *err)
{
	struct ts_export *e = ts_export_new(job->q, &s->frames, &s->tracing, job->cli.output, err);
	enum ts_next next;

	if (!e)
		return false;
	do {
		next = ts_export_run(e, FRAMES_A_TURN, err);
	} while (next == TS_ITEM);
	if (next == TS_END)
		warn_of_registers(e);
	ts_export_free(e);
	return next == TS_END;
}

static enum ts_status run_export(struct job *job)
{
	struct ts_selection s;
	struct ts_error err;

	ts_error_reset(&err);
	if (!ts_selection_init(&s, job->q, &job->cli.selection, &err)) {
		ts_selection_fini(&s);
		return ts_report_failure(job->cli.trace, &err);
	}
	if (write_frames(job, &s, &err) && !job->cli.is_quiet)
		printf("%s: %" PRIu64 " frames\n", job->cli.output, s.frames.n_frames);
	ts_selection_fini(&s);
	return err.code == TS_OK ? TS_STATUS_OK : ts_report_failure(NULL, &err);
}

static int run_command(struct job *job)
{
	switch (job->cli.command) {
	case TS_CMD_SERVE:
		return serve(job, job->cli.comm, say_listening, NULL);
	case TS_CMD_GDB:
		return run_gdb(job);
	case TS_CMD_INFO:
		return run_info(job);
	case TS_CMD_INDEX:
		return run_index(job);
	case TS_CMD_EXPORT:
		return run_export(job);
	case TS_CMD_QUERY:
		return ts_ask_run(job->q, &job->cli);
	}
	abort();
}

int main(int argc, char **argv)
{
	enum ts_status status;
	struct job job = { 0 };
	struct ts_error err;
	int result;

	if (!ts_cli_parse(&job.cli, argc, argv, &status) || !is_format_known(job.cli.format) ||
	    !is_arch_known(job.cli.arch)) {
		ts_cli_fini(&job.cli);
		return status;
	}
	ts_log_set_level(job.cli.level);
	ts_error_reset(&err);
	if (!add_files(&job, &status)) {
		result = status;
	} else if (begin_timeline(&job, &err) && build_timeline(&job, &err)) {
		result = run_command(&job);
	} else {
		result = ts_report_failure(job.cli.trace, &err);
	}
	if (job.cli.command == TS_CMD_QUERY && !job.q && result == TS_STATUS_FAILED)
		result = TS_STATUS_UNREADABLE;
	job_fini(&job);
	return result;
}
