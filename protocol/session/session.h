/* SPDX-License-Identifier: MIT */
/*
 * One client: where it stands in the recording and what it asked for.
 *
 * Everything that serving changes is here, and of the machine's state it is one number: the position.  All
 * sessions share the query object, the documents and the names of struct rsp_shared, which are constant while
 * serving.  A session does no I/O: it takes payloads, fills replies, and when it runs it does so in slices
 * that the server paces.
 */
#ifndef RSP_SESSION_H
#define RSP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "breaks.h"
#include "destination.h"
#include "job.h"
#include "protocol/tracing/tracing.h"
#include "protocol/wire/args.h"
#include "protocol/wire/reply.h"
#include "protocol/wire/table.h"
#include "resume.h"
#include "save.h"
#include "src/arch/regview.h"
#include "src/query/locate.h"
#include "src/query/query.h"
#include "wait.h"

/* What qSupported claims as PacketSize, in characters. */
#define RSP_PACKET_SIZE 0x8000u

/*
 * gdb's names of processes and threads.  Recorded ids where they are positive and no other has them, else
 * free numbers.
 */
struct rsp_names {
	int64_t *pids; /* owned; by process ordinal */
	int64_t *tids; /* owned; by thread ordinal */
	uint32_t n_pids, n_tids;
};

/* Registers as something else than recorded; there if target_xml is not empty. */
struct rsp_view {
	struct ts_regview regs;
	struct ts_buf target_xml;
};

enum rsp_view_kind {
	RSP_VIEW_32, /* in the recording of a machine, for code of so many bits */
	RSP_VIEW_16,
	RSP_VIEW_FORCED,
};
#define RSP_N_VIEWS (RSP_VIEW_FORCED + 1)

/* What all sessions of a server share; constant while serving. */
struct rsp_shared {
	struct ts_query *q;             /* borrowed */
	struct rsp_table table;
	struct rsp_names names;
	struct ts_buf target_xml;       /* of the registers as recorded */
	struct rsp_view views[RSP_N_VIEWS];
	/* the user says how registers are shown: as views[RSP_VIEW_FORCED], if that is there */
	bool is_forced;
	struct ts_source *exec;         /* owned; the program's file as the user gave it, NULL for none */
	/* borrowed; where a run waits whose client has gone, for the next one; NULL: nowhere */
	struct rsp_collector **kept;
	/* borrowed; the recording's file, and the folder in which clients may save files, NULL for none */
	const char *trace, *export_dir;
	char *exec_path;                /* owned; what the client is told it is called, NULL if unknown */
	struct ts_located located;      /* where the program lies */
	/* owned; files of this machine that the recording names; NULL: none are used */
	struct ts_local_files *local;
	/* the recording of a machine that tells how addresses are translated */
	bool has_paging;
};

/*
 * Prepare what sessions share.  @q is borrowed and must outlive it; @exec (path of the program's file, may be
 * NULL) is opened.
 *
 * Returns false if @exec cannot be opened (TS_EIO, TS_EUSAGE) or memory is exhausted (TS_ENOMEM); @sh then
 * needs no fini.
 */
bool rsp_shared_init(struct rsp_shared *sh, struct ts_query *q, const char *exec, struct ts_error *err);

/*
 * Find where the program lies: at @base (its lowest page; may be NULL) if the user says so.  The log says what
 * is odd about it.
 *
 * Returns false if memory is exhausted (TS_ENOMEM), or if the trace or the program's file cannot be read any
 * more.
 */
bool rsp_shared_locate(struct rsp_shared *sh, const uint64_t *base, struct ts_error *err);

/*
 * Use files of this machine that the recording names, too, where they are the recorded ones (local_files.h).
 *
 * Returns false if memory is exhausted.
 */
bool rsp_shared_use_local_files(struct rsp_shared *sh, struct ts_error *err);

/*
 * The file that holds what the recording calls @path: beneath the sysroot, or of this machine.
 *
 * Returns it (borrowed), NULL if there is none.
 */
const struct ts_source *rsp_shared_file(const struct rsp_shared *sh, const char *path);

/* More has been read: threads that are new get names.  False: no memory. */
bool rsp_shared_grow(struct rsp_shared *sh);
void rsp_shared_fini(struct rsp_shared *sh);

/*
 * Show registers as those of @arch to all clients; else a machine's are those of the code that runs where the
 * client connects.
 *
 * Returns false if the recording's cannot be shown so (TS_EUSAGE), or if memory is exhausted.
 */
bool rsp_shared_force_arch(struct rsp_shared *sh, const struct ts_arch *arch, struct ts_error *err);

/* How registers are shown to a client that connects at @pos; NULL: as recorded. */
const struct rsp_view *rsp_shared_view(const struct rsp_shared *sh, uint64_t pos);

/* A document that a client reads in pieces: its text is frozen while it does. */
struct rsp_document {
	struct ts_buf text;
	char name[64]; /* "threads", "" for none */
};

#define RSP_MAX_FILES 64

/*
 * Are there system calls to catch, or may there be?  Some formats say only by having one that they are
 * traced.
 */
static inline bool rsp_has_syscalls(const struct rsp_shared *sh)
{
	return ts_query_facts(sh->q)->has_syscalls &&
	       (!ts_query_is_complete(sh->q) || ts_query_n_events(sh->q, TS_EV_SYSCALL));
}

/* A file that a client opened with vFile:open. */
struct rsp_file {
	bool is_open;
	const struct ts_source *source; /* borrowed from the shared exec or the image; NULL: text */
	struct ts_buf text;       /* owned; a synthetic file, frozen when it was opened */
};

struct rsp_asking;

struct rsp_session {
	const struct rsp_shared *sh; /* borrowed */
	uint64_t pos;                /* the position; 0..N */
	uint32_t thread;             /* ordinal: of registers and memory (H g), of the last stop otherwise */
	const struct rsp_view *view; /* how registers are shown, NULL: as recorded; borrowed */
	uint32_t step_thread;        /* ordinal: of s, bs (H c); TS_NO_THREAD: the one that runs */

	/* what the client said that it understands, and asked for */
	bool is_greeted;             /* its qSupported came */
	bool has_multiprocess, has_swbreak, has_hwbreak, has_error_message;
	bool is_lldb;
	/* it says that it reads descriptions of registers, as only gdb and lldb do */
	bool is_gdb;
	bool wants_noack;            /* set by QStartNoAckMode; the server tells the frame after the OK */
	bool is_extended;
	/* an extended client has let go of the program: no threads until it runs or attaches */
	bool is_away;
	bool catches_syscalls;
	uint64_t *syscalls;          /* owned; numbers to catch, none: all */
	size_t n_syscalls;
	uint64_t passed_signals[TS_N_SIGNALS / 64]; /* that do not stop; bit N of all: gdb's number N */

	/* of the recording of a machine, see machine.h */
	bool is_physical;            /* addresses are not translated: the user wants it so */
	struct ts_filter filter;

	struct rsp_breaks breaks;
	struct rsp_tracing tracing;
	struct rsp_job job;          /* what the client waits for; what each kind needs follows */
	struct rsp_resume resume;
	struct rsp_save save;
	struct rsp_asking *asking;   /* owned; what is kept from question to question, NULL until the first */
	struct rsp_wait wait;
	bool is_stop_unseen;         /* the last job was a run, and the client has not shown its stop yet */
	bool has_ended;              /* that stop was an end of the recording */
	bool is_interrupt_pending;   /* a ^C came between two runs: it is for the next one */
	bool is_alone;         /* what was resumed last is a step of one thread, and no other may run */
	bool has_stepped_over; /* such a step at the end was said to be done, since the last stop that was shown */
	/* the next resume is answered by a stop at the announced position */
	bool is_announcing;
	struct rsp_destination announced;
	struct rsp_document document;
	struct rsp_file files[RSP_MAX_FILES];

	/* console output ("O" packets) that goes out before the reply; the server sends it */
	struct ts_buf console;
	/* owned; room for registers and their known flags, twice 2 * g_len bytes; the second for views */
	uint8_t *scratch;
	bool is_closing;             /* the client is done; the connection ends when all is sent */
};

/* A session at position 0.  False: no memory. */
bool rsp_session_init(struct rsp_session *s, const struct rsp_shared *sh, struct ts_error *err);
void rsp_session_fini(struct rsp_session *s);

/* Forget breakpoints, features and open files, as for a new client; the position stays. */
void rsp_session_reset(struct rsp_session *s);

/*
 * Answer one packet: @r (empty) gets the reply.
 *
 * Returns true when there is a reply to send, false when there is none: a stop reply comes later, or the
 * session ends (is_closing).
 */
bool rsp_session_packet(struct rsp_session *s, const uint8_t *payload, size_t len, struct rsp_reply *r);

/*
 * Answer one packet as rsp_session_packet() does, but as part of the session's job: one that waited is run
 * again.
 */
bool rsp_session_handle(struct rsp_session *s, const uint8_t *payload, size_t len, struct rsp_reply *r);

/* Does the client wait for a job, which goes on by rsp_session_run()? */
static inline bool rsp_session_is_running(const struct rsp_session *s)
{
	return s->job.ops != NULL;
}

/*
 * Go on with the job for one slice of about two milliseconds.
 *
 * Returns true when it is over and @r (empty) holds the reply.
 */
static inline bool rsp_session_run(struct rsp_session *s, struct rsp_reply *r)
{
	return rsp_job_run(s, r);
}

/*
 * Is there work for which the client does not wait?  It goes on, a slice at a time, by
 * rsp_session_do_chores().
 */
static inline bool rsp_session_has_chores(const struct rsp_session *s)
{
	return !rsp_session_is_running(s) && rsp_tracing_has_chores(s);
}
void rsp_session_do_chores(struct rsp_session *s);

/*
 * ^C: ends the job; a run stops at the position that it has reached.  Between two runs it is kept for the next
 * one, because a client that steps many times ("stepi 10000") is mostly caught there, unless the client has
 * shown the last stop.  At any other time it is void: it came too late for the job it was meant for.
 */
void rsp_session_interrupt(struct rsp_session *s);

/*
 * The client lists threads, which it does when it shows a stop to its user, or passes on what a user types: a
 * ^C that came too late for the last run is void.
 */
void rsp_session_shown(struct rsp_session *s);

/* --------------------------------------------------------------------------------------- for the handlers */

/* The registers as the client has them. */
static inline const struct ts_regset *rsp_regset(const struct rsp_session *s)
{
	return s->view ? &s->view->regs.set : ts_query_regset(s->sh->q);
}

/* Has the recording been read to its end, or to its damage? */
static inline bool rsp_is_complete(const struct rsp_session *s)
{
	return ts_query_is_complete(s->sh->q);
}

/*
 * The last position where a session may stand: N, or while the recording is being read the last one that can
 * be asked about.
 */
static inline uint64_t rsp_last(const struct rsp_session *s)
{
	return ts_query_end(s->sh->q);
}

/* The process (ordinal) whose memory the client looks at. */
static inline uint32_t rsp_process(const struct rsp_session *s)
{
	return ts_query_process(s->sh->q, s->thread);
}

/* Move to a position: the thread that runs there becomes the current one, as after a stop. */
void rsp_session_go(struct rsp_session *s, uint64_t pos);

/*
 * The registers of @thread at @pos as a client is to see them: those of ts_query_regs(), but that gdb gets
 * for an unknown status register of ARM its Thumb bit and zeros.  Without it gdb can neither step nor unwind
 * where there is no debug information; any other client sees that it is unknown.
 *
 * Returns false if the trace cannot be read any more.
 */
bool rsp_session_regs(const struct rsp_session *s, uint64_t pos, uint32_t thread, uint8_t *data,
		      uint8_t *known, struct ts_error *err);

/*
 * Memory of @process at @pos by the client's addresses, otherwise as ts_query_mem().
 *
 * Returns false if the trace cannot be read any more.
 */
bool rsp_session_mem(const struct rsp_session *s, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		     uint8_t *data, uint8_t *known, struct ts_error *err);

/*
 * Is the instruction of @thread at @pos in the slot behind a branch that was taken?  False for architectures
 * without such.
 */
bool rsp_session_is_delay_slot(const struct rsp_session *s, uint64_t pos, uint32_t thread);

/* A thread's name for the client, with its process if the client knows of processes. */
struct rsp_tid rsp_session_tid(const struct rsp_session *s, uint32_t thread);

/*
 * The thread (ordinal) that a client means: "any" is the current one.
 *
 * Returns TS_NO_THREAD if there is none of that name.
 */
uint32_t rsp_session_find_thread(const struct rsp_session *s, struct rsp_tid tid);

/*
 * The stop reply for where the session stands, because of @found (NULL: it just stands there, as after '?').
 * @signal is gdb's number: 5 (SIGTRAP) but for an interrupt (2).
 */
void rsp_session_stop_reply(struct rsp_session *s, struct rsp_reply *r, uint8_t signal,
			    const struct ts_found *found);

/*
 * What a trace calls its things is for a terminal: of control characters in @text, from @off on, only the ends
 * of lines are left.
 */
void rsp_make_printable(struct ts_buf *text, size_t off);

/*
 * An error reply that says why something was not done.  A gdb that cannot show the text of an error to a
 * monitor command (@is_command) gets it as console output.
 */
void rsp_session_refuse(struct rsp_session *s, struct rsp_reply *r, const char *text, bool is_command);

/* A failure of the trace itself, as an error reply. */
void rsp_reply_failure(struct rsp_reply *r, const struct ts_error *err);

#endif
