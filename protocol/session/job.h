/* SPDX-License-Identifier: MIT */
/*
 * What a client waits for: a program that was resumed, tracepoints that run, a file that is being saved, a part
 * of the recording that has not been read yet, a question that takes long.
 *
 * A session has at most one job.  The job goes on in slices, which the server paces, so that other clients are
 * served and a ^C is seen in between.  What a client does not wait for is no job (rsp_session_do_chores()).
 */
#ifndef RSP_JOB_H
#define RSP_JOB_H

#include <stdbool.h>
#include <stdint.h>

struct rsp_reply;
struct rsp_session;
struct ts_buf;

/* How often a client that waits is told how far its job is: gdb gives up after six seconds of silence. */
#define RSP_NOTE_NS INT64_C(1000000000)

struct rsp_job_ops {
	/*
	 * Go on until @end_ns by ts_now_ns(), or a little longer.  Text for the client's console may be added to
	 * it.
	 *
	 * Returns true when the job is over and @r (empty before) holds the reply; what the job owned is free
	 * then.  Returns false when there is more to do, also if the job has started another one in its place.
	 */
	bool (*slice)(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r);
	/* ^C: the next slice is to end the job, unless it is over anyway. */
	void (*interrupt)(struct rsp_session *s);
	/* Drop the job and what it owns: nobody waits for the reply any more. */
	void (*cancel)(struct rsp_session *s);
	/* Can nothing be done until more of the recording has been read?  NULL: there is always something. */
	bool (*is_stuck)(const struct rsp_session *s);
	/* Append one line that says how far it is, or nothing.  NULL: nothing. */
	void (*progress)(const struct rsp_session *s, struct ts_buf *out);
};

struct rsp_job {
	const struct rsp_job_ops *ops; /* NULL: there is no job */
	bool is_interrupted;           /* by the client; for those whose interrupt() is rsp_job_note_interrupt() */
	int64_t next_note;             /* when the client is told how far it is, by ts_now_ns() */
};

/* Give the session a job.  One that it has must be over; its place is taken. */
void rsp_job_start(struct rsp_session *s, const struct rsp_job_ops *ops);

/* Drop the session's job, if it has one. */
void rsp_job_cancel(struct rsp_session *s);

/* Go on with the session's job for one slice; returns as its slice() does. */
bool rsp_job_run(struct rsp_session *s, struct rsp_reply *r);

/* Does the session have a job that can do nothing until more has been read? */
bool rsp_job_is_stuck(const struct rsp_session *s);

/* Tell the client how far its job is, if it is time to. */
void rsp_job_tell(struct rsp_session *s, int64_t now);

/* An interrupt() that sets is_interrupted and no more. */
void rsp_job_note_interrupt(struct rsp_session *s);

#endif
