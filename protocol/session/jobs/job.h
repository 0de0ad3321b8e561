/* SPDX-License-Identifier: MIT */
/*
 * Work for which a client waits: a resumed program, a run of tracepoints, a file that is saved, a part of the recording
 * that must be read first, a long question.
 *
 * A session has at most one job.  The server runs it in slices, so that other clients are served and ^C is handled in
 * between.  rsp_session_do_background() does the work for which no client waits.
 */
#ifndef RSP_JOB_H
#define RSP_JOB_H

#include <stdbool.h>
#include <stdint.h>

struct rsp_reply;
struct rsp_session;
struct ts_buf;

/*
 * Interval at which a waiting client receives the progress of its job: gdb gives up after six seconds of
 * silence.
 */
#define RSP_NOTE_NS INT64_C(1000000000)

struct rsp_job_ops {
	/*
	 * Continue until @end_ns by ts_now_ns(), or a little longer.  May add text to the client's console.
	 *
	 * Returns true if the job has ended, with the reply in @r (empty before); the job's resources are
	 * freed then.  Returns false if there is more to do, also if the job was replaced by another one.
	 */
	bool (*slice)(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r);
	/*
	 * Handle ^C; is_interrupted is set.  The next slice must end the job.  May be NULL.
	 */
	void (*interrupt)(struct rsp_session *s);
	/* Drop the job and its resources: its reply is no longer wanted. */
	void (*cancel)(struct rsp_session *s);
	/* Must the job wait until more of the recording, or a table of symbols, has been read?  NULL: never. */
	bool (*is_stuck)(const struct rsp_session *s);
	/* Append one line with the progress, or nothing.  NULL: nothing. */
	void (*progress)(const struct rsp_session *s, struct ts_buf *out);
};

struct rsp_job {
	const struct rsp_job_ops *ops; /* NULL: no job runs */
	void *state;                   /* private to the job; may be NULL */
	bool is_interrupted;           /* by the client */
	int64_t next_note;             /* the time of the next progress message, by ts_now_ns() */
};

/* Begin a job with @state, which its ops free.  A previous job must have ended. */
void rsp_job_start(struct rsp_job *job, const struct rsp_job_ops *ops, void *state);

/* Drop the job of session @s, if there is one. */
void rsp_job_cancel(struct rsp_job *job, struct rsp_session *s);

/*
 * Run the job of session @s for one slice.  Its progress is appended to @console.
 *
 * Returns true if the job has ended: @r has its reply, and *job is empty.
 * Returns false if another slice is needed.
 */
bool rsp_job_run(struct rsp_job *job, struct rsp_session *s, struct ts_buf *console, struct rsp_reply *r);

/* Is there a job that is stuck? */
bool rsp_job_is_stuck(const struct rsp_job *job, const struct rsp_session *s);

/* Append the job's progress to @console, if it is due. */
void rsp_job_report(struct rsp_job *job, const struct rsp_session *s, struct ts_buf *console, int64_t now);

/* Handle ^C for a running job. */
void rsp_job_interrupt(struct rsp_job *job, struct rsp_session *s);

#endif
