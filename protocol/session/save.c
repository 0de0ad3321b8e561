/* SPDX-License-Identifier: MIT */
#include "save.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "src/base/atomic_file.h"
#include "src/base/clock.h"
#include "src/base/utf8.h"
#include "src/export/export.h"
#include "src/source/source.h"

/* Between two looks at the clock. */
#define FRAMES_A_TURN 16

struct save {
	struct ts_export *export; /* owned */
	bool is_command;          /* requested by a monitor command, not by a packet of its own */
};

/* The name relative to the directory, NULL if it is elsewhere or would not be one line of a list of files. */
static const char *plain_name(const char *dir, const char *name)
{
	size_t len = strlen(dir);

	if (!strncmp(name, dir, len) && name[len] == '/')
		name += len + 1;
	if (!*name || *name == '.' || strchr(name, '/'))
		return NULL;
	for (const char *p = name; *p;) {
		size_t n = ts_utf8_shown_len(p, strnlen(p, 4));

		if (!n)
			return NULL;
		p += n;
	}
	return name;
}

static struct ts_export *export_of(const struct rsp_session *s)
{
	return ((const struct save *)s->job.state)->export;
}

static bool check(const struct rsp_session *s, const char *name, struct ts_error *err)
{
	if (!s->target->export_dir)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "the server was started without --export-dir, so it writes no files");
	if (!plain_name(s->target->export_dir, name))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "files are saved under plain names, in %s",
			       s->target->export_dir);
	if (rsp_tracing_is_collecting(&s->tracing))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "the run is still collecting: tstatus shows its progress, tstop ends it");
	return true;
}

/* The served recording must not be overwritten. */
static bool is_served(const struct rsp_target *target, const char *path)
{
	return (target->trace && ts_atomic_file_is_same(path, target->trace)) ||
	       (target->exec && ts_atomic_file_is_same(path, ts_source_name(target->exec)));
}

/* An incomplete file is dropped. */
static void cancel(struct rsp_session *s)
{
	struct save *save = s->job.state;

	ts_export_free(save->export);
	free(save);
	s->job.state = NULL;
}

/* Lists the unknown registers that the file format cannot mark as unknown. */
static void put_left_out(struct rsp_session *s)
{
	struct ts_buf names;

	ts_buf_init(&names);
	ts_export_zeros(export_of(s), &names);
	if (names.len || !ts_buf_ok(&names))
		ts_buf_printf(&s->console, "Unknown in some frames, and saved as zeros:%s\n",
			      ts_buf_ok(&names) ? ts_buf_text(&names) : " (no memory to list them)");
	ts_buf_fini(&names);
}

static enum ts_next write_frames(struct rsp_session *s, int64_t end_ns, struct ts_error *err)
{
	enum ts_next next;

	if (s->job.is_interrupted) {
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "interrupted at %u %%: nothing was saved",
			(unsigned)(100 * ts_export_progress(export_of(s))));
		return TS_FAIL;
	}
	do
		next = ts_export_run(export_of(s), FRAMES_A_TURN, err);
	while (next == TS_MORE && ts_now_ns() < end_ns);
	return next;
}

static bool slice(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r)
{
	struct ts_error err = { 0 };
	enum ts_next next;

	next = write_frames(s, end_ns, &err);
	if (next == TS_MORE)
		return false;
	if (next == TS_END) {
		put_left_out(s);
		rsp_reply_ok(r);
	} else if (err.code == TS_EUSAGE) {
		rsp_session_refuse(s, r, err.text, ((struct save *)s->job.state)->is_command);
	} else {
		rsp_reply_failure(r, NULL, &err);
	}
	cancel(s);
	return true;
}

static void put_progress(const struct rsp_session *s, struct ts_buf *out)
{
	ts_buf_printf(out, "saving: %u%%\n", (unsigned)(100 * ts_export_progress(export_of(s))));
}

static const struct rsp_job_ops ops = {
	.slice = slice,
	.cancel = cancel,
	.progress = put_progress,
};

/* The export to a file of that plain name; NULL on failure. */
static struct ts_export *begin_export(struct rsp_session *s, const char *name, struct ts_error *err)
{
	struct ts_export *export = NULL;
	struct ts_buf path;

	ts_buf_init(&path);
	ts_buf_printf(&path, "%s/%s", s->target->export_dir, plain_name(s->target->export_dir, name));
	if (ts_buf_ok(&path) && is_served(s->target, ts_buf_text(&path)))
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "%s is the recording that is served here", name);
	else if (ts_buf_ok(&path))
		export = ts_export_new(s->target->q, rsp_tracing_frames(&s->tracing),
				       rsp_tracing_shown(&s->tracing), ts_buf_text(&path), err);
	else
		ts_no_memory(err, "a file's name");
	ts_buf_fini(&path);
	return export;
}

bool rsp_save_start(struct rsp_session *s, const char *name, bool is_command, struct ts_error *err)
{
	struct save *save;

	if (!check(s, name, err) || !rsp_tracing_imply(&s->tracing, err))
		return false;
	if (s->tracing.collector)
		rsp_collector_status(s->tracing.collector);
	save = malloc(sizeof(*save));
	if (!save)
		return ts_no_memory(err, "saving frames");
	*save = (struct save){ .export = begin_export(s, name, err), .is_command = is_command };
	if (!save->export) {
		free(save);
		return false;
	}
	rsp_job_start(&s->job, &ops, save);
	return true;
}
