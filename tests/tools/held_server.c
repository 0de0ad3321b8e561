/* SPDX-License-Identifier: MIT */
/*
 * A server that holds reading the recording where a test wants it.
 *
 *      held_server TRACE SOCKET STEPS FILE   serves TRACE at SOCKET when at least STEPS steps have been read;
 *                                            it reads the rest when FILE exists.  Ends with its first client.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "loaders/loader.h"
#include "protocol/server/server.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

#define STEPS_A_GROW 4096

static struct {
	struct ts_source *src;
	struct ts_recording *rec;
	struct ts_timeline *tl;
	struct ts_query *q;
	struct ts_error err;
	const char *file;
} job;

static bool read_some(void *user)
{
	(void)user;
	if (access(job.file, F_OK) < 0) {
		usleep(1000);
		return true;
	}
	bool has_more = ts_timeline_grow(job.tl, STEPS_A_GROW, &job.err) == TS_MORE;

	ts_query_refresh(job.q);
	return has_more;
}

static bool start(const char *path, uint64_t n_steps)
{
	const struct ts_loader_options opt = { 0 };
	const struct ts_loader *loader;

	job.src = ts_source_open(path, &job.err);
	loader = job.src ? ts_loader_probe(job.src, &job.err) : NULL;
	job.rec = loader ? ts_loader_open(loader, job.src, &opt, &job.err) : NULL;
	job.tl = job.rec ? ts_timeline_new(job.rec, NULL, &job.err) : NULL;
	while (job.tl && ts_timeline_n_read(job.tl) < n_steps) {
		if (ts_timeline_grow(job.tl, STEPS_A_GROW, &job.err) != TS_MORE) {
			fprintf(stderr, "held_server: the recording is shorter\n");
			return false;
		}
	}
	job.q = job.tl ? ts_query_new(job.tl, &job.err) : NULL;
	return job.q != NULL;
}

static void say_ready(void *user, const char *address)
{
	(void)user;
	fprintf(stderr, "Listening on %s\n", address);
}

int main(int argc, char **argv)
{
	struct rsp_server_options opt = { .grow = read_some, .is_once = true, .max_memory = UINT64_MAX,
					  .ready = say_ready };
	struct rsp_listener listener = { .fd = -1 };
	bool done = argc == 5;

	if (done) {
		opt.listener = &listener;
		opt.trace = argv[1];
		opt.export_dir = getenv("HELD_EXPORT_DIR");
		job.file = argv[4];
		done = start(argv[1], strtoull(argv[3], NULL, 10)) &&
		       rsp_listen(&listener, argv[2], &job.err) && rsp_server_run(job.q, &opt, &job.err);
	}
	if (!done)
		fprintf(stderr, "held_server: %s\n", job.err.text);
	rsp_listener_fini(&listener);
	ts_query_free(job.q);
	ts_timeline_free(job.tl);
	ts_recording_close(job.rec);
	ts_source_close(job.src);
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
