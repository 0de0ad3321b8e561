/* SPDX-License-Identifier: MIT */
/*
 * A server that verifies no block of an index file before it is used, keeps next to nothing of what was
 * unpacked, and holds the building of a damaged segment where a test wants it.
 *
 *      mending_server TRACE SOCKET FILE JOBS [once]   serves TRACE at SOCKET; what is damaged in its index is
 * built again when FILE exists, or fails to be if that is not empty
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loaders/loader.h"
#include "protocol/server/server.h"
#include "src/model/model.h"
#include "src/trace/source.h"

static struct {
	struct ts_source *src;
	struct ts_model *m;
	struct ts_error err;
	const char *file;
	bool is_open;
} job;

static bool wait_for_file(struct ts_error *err)
{
	struct stat st;

	while (stat(job.file, &st) < 0)
		usleep(1000);
	return !st.st_size || ts_fail(err, TS_EIO, TS_NO_OFF, "the test does not want it");
}

static struct ts_recording *load(void *user, const struct ts_recording *like, struct ts_error *err)
{
	const struct ts_loader_options opt = { .like = like };
	const struct ts_loader *loader = ts_loader_probe(job.src, err);

	(void)user;
	return loader && (!job.is_open || wait_for_file(err)) ? ts_loader_open(loader, job.src, &opt, err)
							      : NULL;
}

static bool start(const char *path, unsigned n_jobs)
{
	const struct ts_model_options opt = {
		.trace = path,
		.load = load,
		.index.is_wanted = true,
		.max_memory = UINT64_MAX,
		.n_jobs = n_jobs,
		.is_served = true,
	};
	enum ts_next next = TS_ITEM;

	job.src = ts_source_open(path, &job.err);
	job.m = job.src ? ts_model_new(&opt, &job.err) : NULL;
	if (!job.m || !ts_model_open(job.m, job.src, &job.err))
		return false;
	while (next == TS_ITEM)
		next = ts_model_grow(job.m, UINT64_C(1) << 16, &job.err);
	job.is_open = true;
	return next == TS_END;
}

static void say_ready(void *user, const char *address)
{
	(void)user;
	fprintf(stderr, "Listening on %s\n", address);
}

int main(int argc, char **argv)
{
	struct rsp_server_options opt = { .max_memory = UINT64_MAX, .ready = say_ready };
	struct rsp_listener listener = { .fd = -1 };
	bool done = argc >= 5;

	if (done) {
		opt.listener = &listener;
		opt.is_once = argc > 5;
		job.file = argv[3];
		done = start(argv[1], (unsigned)atoi(argv[4])) && rsp_listen(&listener, argv[2], &job.err) &&
		       rsp_server_run(ts_model_query(job.m), &opt, &job.err);
	}
	if (!done)
		fprintf(stderr, "mending_server: %s\n", job.err.text);
	rsp_listener_fini(&listener);
	ts_model_free(job.m);
	ts_source_close(job.src);
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
