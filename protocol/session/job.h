/* SPDX-License-Identifier: MIT */
/*
 * Work that a client waits for: a resumed program, a run of tracepoints, a file that is saved, a part of the recording
 * that must be read first, a long question.
 *
 * A session has at most one job.  The job runs in slices, which the server paces, so that other clients are
 * served and a ^C is seen in between.  Work that no client waits for
 * is done by rsp_session_do_background().
 */
#ifndef RSP_JOB_H
#define RSP_JOB_H

#include <stdbool.h>
#include <stdint.h>

struct rsp_reply;
struct rsp_session;
struct ts_buf;

/*
 * Interval at which a waiting client is told the progress of its job: gdb gives up after six seconds of
 * silence.
 */
#define RSP_NOTE_NS INT64_C(1000000000)

struct rsp_job_ops {
	/*
	 * Continue until @end_ns by ts_now_ns(), or a little longer.  May add text to the client's console.
	 *
	 * Returns true if the job is over and @r (empty before) holds the reply; the job's resources are
	 * freed then.  Returns false if there is more to do, also if the job has started another one in its
	 * place.
	 */
	bool (*slice)(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r);
	/*
	 * ^C; is_interrupted is set.  The next slice must end the job, unless it is over anyway.  May be
	 * NULL.
	 */
	void (*interrupt)(struct rsp_session *s);
	/* Drop the job and its resources: its reply is no longer wanted. */
	void (*cancel)(struct rsp_session *s);
	/* Can nothing be done until more of the recording, or a table of symbols, has been read?  NULL: never. */
	bool (*is_stuck)(const struct rsp_session *s);
	/* Append one line with the progress, or nothing.  NULL: nothing. */
	void (*progress)(const struct rsp_session *s, struct ts_buf *out);
};

struct rsp_job {
	const struct rsp_job_ops *ops; /* NULL: there is no job */
	void *state;                   /* the job's own; NULL if it keeps none here */
	bool is_interrupted;           /* by the client */
	int64_t next_note;             /* when the client is next told its progress, by ts_now_ns() */
};

/* Begin a job with @state, which its ops free.  A previous job must be over; it is replaced. */
void rsp_job_start(struct rsp_job *job, const struct rsp_job_ops *ops, void *state);

/* Drop the job of session @s, if there is one. */
void rsp_job_cancel(struct rsp_job *job, struct rsp_session *s);

/* Run the job of session @s for one slice, its progress goes to @console; returns as its slice() does. */
bool rsp_job_run(struct rsp_job *job, struct rsp_session *s, struct ts_buf *console, struct rsp_reply *r);

/* Is there a job that is stuck? */
bool rsp_job_is_stuck(const struct rsp_job *job, const struct rsp_session *s);

/* Append the job's progress to @console, if it is due. */
void rsp_job_tell(struct rsp_job *job, const struct rsp_session *s, struct ts_buf *console, int64_t now);

/* ^C for a job that is not over. */
void rsp_job_interrupt(struct rsp_job *job, struct rsp_session *s);

#endif
