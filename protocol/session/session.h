/* SPDX-License-Identifier: MIT */
/*
 * One client: its position in the recording and its settings.
 *
 * All state that changes during a session is here; the state of the recorded machine is represented by the position
 * alone.  All sessions share the query object, the documents and the names of struct rsp_target, which are constant.
 * A session does no I/O: it processes payloads and fills replies, and the server runs it in slices.
 */
#ifndef RSP_SESSION_H
#define RSP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "breaks.h"
#include "protocol/session/jobs/goto_parse.h"
#include "protocol/session/jobs/job.h"
#include "protocol/tracing/tracing.h"
#include "protocol/wire/args.h"
#include "protocol/wire/reply.h"
#include "src/query/query.h"
#include "target.h"

/* The PacketSize in the reply to qSupported, in characters. */
#define RSP_PACKET_SIZE 0x8000u

/* A document that a client reads in pieces: its text is frozen meanwhile. */
struct rsp_document {
	struct ts_buf text;
	char name[64]; /* "threads", "" for none */
};

#define RSP_MAX_FILES 64
#define RSP_MAX_FILE_TEXT (UINT64_C(16) << 20) /* bytes of the texts of a client's files, unless there is one only */

/* A file that a client opened with vFile:open. */
struct rsp_file {
	bool is_open;
	const struct ts_source *source; /* borrowed from the target: exec or the image; NULL: text */
	struct ts_buf text;       /* owned; a synthetic file, frozen when it was opened */
	uint64_t counted;         /* its bytes that are charged to the target's budget */
};

struct rsp_asking;
struct rsp_session;

/* The answer to a packet that is interrupted. */
enum rsp_wait_kind {
	RSP_WAIT_QUERY,   /* an error */
	RSP_WAIT_COMMAND, /* that of a refused monitor command */
	RSP_WAIT_RESUME,  /* a stop at the session's position */
};

/* A packet that asks about something not available yet, see wait.h. */
struct rsp_wait {
	struct ts_buf packet; /* owned; the waiting packet */
	/* answers the packet when it is run again */
	bool (*handle)(struct rsp_session *s, const uint8_t *payload, size_t len, struct rsp_reply *r);
	enum rsp_wait_kind kind;
	uint64_t pos;         /* it waits until this position has been read, TS_NO_POS: for any more */
	bool is_for_symbols;  /* it waits for the table of symbols instead (symbol_tables.h) */
	uint64_t tried;       /* the last position that was read when it was last run */
	int64_t next_try;     /* it is not run again before this time, to limit the load */
};

/* The error for packets about the child of a fork, which gdb may follow if its user wants that. */
#define RSP_NO_CHILD "the child of the fork is not in this recording"
#define RSP_NO_WRITE "a recording can't be changed"

struct rsp_session {
	const struct rsp_target *target; /* borrowed */
	uint64_t pos;                /* the position; 0..N */
	uint32_t thread;             /* ordinal: of registers and memory (H g), of the last stop otherwise */
	uint32_t stopped;            /* ordinal: the thread of the last stop, whichever ones were selected since */
	const struct rsp_layout *layout; /* the view of the registers, NULL: as recorded; borrowed */
	uint32_t step_thread;        /* ordinal: for s, bs (H c); TS_NO_THREAD: the one that stopped last */
	uint64_t reported_pos;       /* the position of the last stop reply, which the client assumes */
	uint8_t *listed_threads;       /* owned; a bit for each thread that a list or a stop reply has named */
	uint32_t n_listed_threads;     /* bits of listed_threads */
	bool is_backwards;           /* s, c and vCont go backwards: "monitor direction" */

	/* the client's features and settings */
	bool is_greeted;             /* its qSupported was received */
	bool has_forks, has_vforks, has_execs; /* the client announced these stops; has_forks then represents all of them */
	bool owes_vfork_done;      /* a vfork was reported: the next resume is answered with vforkdone first */
	int64_t child;             /* the child of the last reported fork, until the client detaches it; 0: none */
	bool is_in_child;          /* breakpoint packets are about the child, which is not in the recording */
	bool has_multiprocess, has_swbreak, has_hwbreak, has_error_message;
	bool has_watches;            /* multi-wp-addr+: a stop may name several watchpoints */
	bool claims_siginfo;         /* qXfer:siginfo:read was announced: it is then never refused as unknown */
	bool is_lldb;
	bool lists_threads;          /* stop replies name the threads (QListThreadsInStopReply) */
	/* it claims to read descriptions of registers, as only gdb and lldb do */
	bool is_gdb;
	bool wants_noack;            /* set by QStartNoAckMode; the server applies it after the OK */
	bool is_extended;
	/* an extended client has detached from the program: no threads until it runs or attaches */
	bool is_detached;
	bool catches_syscalls;
	uint64_t *syscalls;          /* owned; numbers to catch, empty: all */
	size_t n_syscalls;
	uint64_t passed_signals[TS_N_SIGNALS / 64]; /* that do not stop; bit N: gdb's signal N */

	/* for the recording of a machine, see machine.h */
	bool is_physical;            /* addresses are not translated, as set by the user */
	struct ts_filter filter;

	struct rsp_breaks breaks;
	struct rsp_tracing tracing;
	struct rsp_job job;          /* the work for which the client waits */
	struct rsp_asking *asking;   /* owned; state kept between questions, NULL until the first */
	void (*free_asking)(struct rsp_asking *asking); /* set with it */
	struct rsp_wait wait;
	uint64_t modules_at;         /* the position whose list of libraries the client has; TS_NO_POS: none */
	struct ts_buf missing;       /* a bit for each module: gdb was informed that its file is missing */
	bool is_stop_unseen;         /* the last job was a run whose stop the client has not shown yet */
	bool has_ended;              /* that stop was an end of the recording */
	bool has_reported_reads;         /* the client has been informed that the recording lacks reads */
	bool is_interrupt_pending;   /* a ^C arrived between two runs: it applies to the next one */
	uint32_t alone;        /* the thread that the last resume steps while no other may run; TS_NO_THREAD: none */
	bool has_stepped_over; /* such a step at the end was reported as done since the last shown stop */
	/* the next resume stops at the announced position */
	bool is_announcing;
	struct rsp_destination announced;
	struct rsp_document document;
	struct rsp_file files[RSP_MAX_FILES];

	/* console output ("O" packets) to be sent before the reply, by the server */
	struct ts_buf console;
	/* owned; room for registers and their known flags, twice 2 * g_len bytes; the second for layouts */
	uint8_t *scratch;
	bool is_closing;             /* the connection ends when all output is sent */
};

/*
 * Begin a session at position 0.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rsp_session_init(struct rsp_session *s, const struct rsp_target *target, struct ts_error *err);
void rsp_session_fini(struct rsp_session *s);

/* Reset breakpoints, features and open files, as for a new client; the position is kept. */
void rsp_session_reset(struct rsp_session *s);

/* Go to the beginning of the recording, or to the first step of the server's process. */
void rsp_session_go_first(struct rsp_session *s);

/*
 * Open @f, of @s, whose source or text is set.
 *
 * Returns false, with @f closed, if the texts of the client's open files would exceed their limit, or the target's
 * budget would be exceeded.
 */
bool rsp_session_open(struct rsp_session *s, struct rsp_file *f);

/* Close @f, of @s, if it is open, and free its text. */
void rsp_session_close(struct rsp_session *s, struct rsp_file *f);

/* Does the client wait for a job, which rsp_session_run() continues? */
static inline bool rsp_session_is_running(const struct rsp_session *s)
{
	return s->job.ops != NULL;
}

/*
 * Run the job for one slice of about two milliseconds.
 *
 * Returns true if the job has ended, with the reply in @r (empty before).
 */
static inline bool rsp_session_run(struct rsp_session *s, struct rsp_reply *r)
{
	return rsp_job_run(&s->job, s, &s->console, r);
}

/* Is there work for which the client does not wait?  rsp_session_do_background() does one slice of it. */
static inline bool rsp_session_has_background(const struct rsp_session *s)
{
	return !rsp_session_is_running(s) && rsp_tracing_has_chores(&s->tracing);
}
void rsp_session_do_background(struct rsp_session *s);

/*
 * Handle ^C: the job ends; a run stops at the position that it has reached.  Between two runs, unless the client has
 * shown the last stop, the ^C applies to the next run, because a client that steps many times ("stepi 10000") is
 * mostly between runs.  At any other time ^C is ignored: its job has already ended.
 */
void rsp_session_interrupt(struct rsp_session *s);

/*
 * Called when the client lists threads, which it does when it shows a stop to its user, or forwards user input: a ^C
 * that was too late for the last run is discarded.
 */
void rsp_session_shown(struct rsp_session *s);

/* --------------------------------------------------------------------------------------- for the handlers */

/* Returns the client's view of the registers, borrowed from the target or the query object. */
static inline const struct ts_regset *rsp_regset(const struct rsp_session *s)
{
	return s->layout ? &s->layout->regs.set : ts_query_regset(s->target->q);
}

/* Has the recording been read to its end, or up to its damage? */
static inline bool rsp_is_complete(const struct rsp_session *s)
{
	return ts_query_is_complete(s->target->q);
}

/*
 * The last position that a session may have: N, or, while the recording is being read, the last one that can
 * be queried.
 */
static inline uint64_t rsp_last(const struct rsp_session *s)
{
	return ts_query_end(s->target->q);
}

/*
 * Must changes of the list of libraries be reported to the client?  True for gdb and lldb after they have read the
 * list, if the recording has one process: gdb has a list for each process, and reads only the current one.
 */
static inline bool rsp_session_follows_modules(const struct rsp_session *s)
{
	return (s->is_gdb || s->is_lldb) && s->modules_at != TS_NO_POS &&
	       ts_query_n_processes(s->target->q) == 1;
}

/* The process (ordinal) whose memory the client sees. */
static inline uint32_t rsp_process(const struct rsp_session *s)
{
	return ts_query_process(s->target->q, s->thread);
}

/* Move to a position: the thread that runs there becomes the current one, as after a stop. */
void rsp_session_go(struct rsp_session *s, uint64_t pos);

/*
 * The session stops in @thread (ordinal), which becomes the current thread, and the thread that steps if the client
 * names none.  "Hg" does not change the latter: gdb selects each thread that it lists, and does not select the stopped
 * thread again before it steps.
 */
static inline void rsp_session_stop_in(struct rsp_session *s, uint32_t thread)
{
	s->thread = s->stopped = thread;
}

/* Answer the next resume with a stop at @d.  gdbinit resumes by itself; a user of lldb must resume. */
void rsp_session_announce(struct rsp_session *s, const struct rsp_destination *d);

/* Does @thread (ordinal) begin after the session's position? */
bool rsp_session_begins_later(const struct rsp_session *s, uint32_t thread);

/*
 * As ts_query_regs(), for a client.  There are two exceptions for gdb.  An unknown status register of ARM has
 * the Thumb bit and zeros, because otherwise gdb can neither step nor unwind code without debug information.
 * The unknown pc of the running thread is all ones, because otherwise gdb neither connects nor stops.  For
 * other clients they are unknown.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool rsp_session_regs(const struct rsp_session *s, uint64_t pos, uint32_t thread, uint8_t *data,
		      uint8_t *known, struct ts_error *err);

/*
 * As ts_query_mem(), for the addresses that the client uses: virtual ones are translated (machine.h).
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool rsp_session_mem(const struct rsp_session *s, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		     uint8_t *data, uint8_t *known, struct ts_error *err);

/*
 * Is the instruction of @thread at @pos in the delay slot of a branch that was taken?  Returns false for
 * architectures without delay slots.
 */
bool rsp_session_is_delay_slot(const struct rsp_session *s, uint64_t pos, uint32_t thread);

/* A thread's id for the client, with its process if the client supports multiprocess. */
struct rsp_tid rsp_session_tid(const struct rsp_session *s, uint32_t thread);

/*
 * The thread (ordinal) of a client's id: "any" is the current one.
 *
 * Returns TS_NO_THREAD if the thread does not exist.
 */
uint32_t rsp_session_find_thread(const struct rsp_session *s, struct rsp_tid tid);

/*
 * Make an error reply with the reason @text.  For a refused monitor command (@is_command) the reason is sent as console
 * output if the client cannot show it in an error: gdb before 16 shows no such text, later versions show no '$', '#',
 * '}' and '*' in it.
 */
void rsp_session_refuse(struct rsp_session *s, struct rsp_reply *r, const char *text, bool is_command);

/*
 * Make an error reply for @err, of any code but TS_OK, about @file; NULL: the sentence names its file.
 *
 * Returns RSP_REPLIED.
 */
enum rsp_done rsp_reply_failure(struct rsp_reply *r, const char *file, const struct ts_error *err);

/* ------------------------------------------------------------------------------------- dispatch.c */

/*
 * Answer one packet: the reply is added to @r, which must be empty.
 *
 * Returns true if there is a reply to send.
 * Returns false if not: a stop reply comes later, or the session ends (is_closing).
 */
bool rsp_dispatch_packet(struct rsp_session *s, const uint8_t *payload, size_t len, struct rsp_reply *r);

/* ------------------------------------------------------------------------------------- goto_run.c */

enum rsp_reach {
	RSP_REACHED, /* *pos has the position */
	RSP_UNREACHABLE, /* the position does not exist; @why is set to the reason, one sentence */
	RSP_LATER,   /* more of the recording must be read first: the handler must return RSP_WAIT */
};

/* Find the destination's position, starting from the session's position.  Returns what was found, as enum rsp_reach lists it. */
enum rsp_reach rsp_reach(struct rsp_session *s, const struct rsp_destination *d, uint64_t *pos,
				    struct ts_buf *why);

#endif
