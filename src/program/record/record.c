/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaders/usercorn/op_write.h"
#include "src/program/cli/installed.h"
#include "src/program/cli/memory_cap.h"
#include "src/program/cli/message.h"
#include "src/program/cli/report.h"
#include "src/program/open/kept.h"

/* -------------------------------------------------------------------------------- before it runs */

bool ts_recorder_find_file(struct ts_recorder *r, const char *name, char path[PATH_MAX])
{
	char fixed[PATH_MAX];

	snprintf(fixed, sizeof(fixed), "%s/%s", PKGLIBDIR, name);
	if (ts_installed_find(name, fixed, path, PATH_MAX))
		return true;
	return ts_fail(&r->err, TS_EIO, TS_NO_OFF, "%s is missing: tracestub was not installed as a whole", path);
}

/* The maximum number of names for the recordings of one program. */
#define MAX_RUNS 100000u

int ts_recorder_make_next(struct ts_recorder *r, const char *suffix, int (*make)(const char *path))
{
	const char *slash = strrchr(r->cli->program[0], '/'), *name = slash ? slash + 1 : r->cli->program[0];
	int made = -1;

	for (unsigned i = 0; i < MAX_RUNS; i++) {
		if (i)
			snprintf(r->out, sizeof(r->out), "%s.%u%s", name, i, suffix);
		else
			snprintf(r->out, sizeof(r->out), "%s%s", name, suffix);
		made = make(r->out);
		if (made >= 0 || errno != EEXIST)
			break;
	}
	return made;
}

static int open_new(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* Open the file of -o, and replace its contents. */
static int open_named(struct ts_recorder *r)
{
	snprintf(r->out, sizeof(r->out), "%s", r->cli->output);
	return open(r->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* It holds all the program's memory: for its owner only. */
static bool open_output(struct ts_recorder *r)
{
	r->out_fd = r->cli->output ? open_named(r) : ts_recorder_make_next(r, ".ucir", open_new);
	if (r->out_fd < 0)
		return ts_fail_errno(&r->err, "cannot be written");
	if (fchmod(r->out_fd, 0600) < 0 && errno != EPERM && errno != EINVAL)
		return ts_fail_errno(&r->err, "its mode cannot be changed");
	/* the length shows that a file became shorter: nothing is written after a hole */
	fcntl(r->out_fd, F_SETFL, fcntl(r->out_fd, F_GETFL) | O_APPEND);
	r->writer = calloc(1, sizeof(*r->writer));
	if (!r->writer)
		return ts_no_memory(&r->err, "the recording");
	return ucir_writer_begin(r->writer, r->out_fd, r->program.emulated->arch,
				 r->program.emulated->is_big_endian, &r->err);
}

static bool add_note(struct ts_recorder *r, uint8_t key, const void *bytes, size_t len)
{
	uint8_t head[UCIR_PUT_NOTE_LEN];

	ucir_put_note(head, key, "", 0);
	ucir_put_u32(head + 2, (uint32_t)len);
	return ucir_writer_add(r->writer, head, sizeof(head), &r->err) &&
	       ucir_writer_add(r->writer, bytes, len, &r->err);
}

bool ts_recorder_add_text(struct ts_recorder *r, uint8_t key, const char *text)
{
	return add_note(r, key, text, strlen(text));
}

static bool add_arguments(struct ts_recorder *r)
{
	size_t len = 0, at = 0;
	char *text;
	bool is_added;

	for (char **arg = r->program.argv; *arg; arg++)
		len += strlen(*arg) + 1;
	text = malloc(len);
	if (!text)
		return ts_no_memory(&r->err, "the recording");
	for (char **arg = r->program.argv; *arg; arg++) {
		strcpy(text + at, *arg);
		at += strlen(*arg) + 1;
	}
	is_added = add_note(r, UCIR_NOTE_ARGUMENTS, text, len);
	free(text);
	return is_added;
}

static bool add_facts(struct ts_recorder *r)
{
	char folder[PATH_MAX], path[PATH_MAX];

	return add_arguments(r) &&
	       (!getcwd(folder, sizeof(folder)) || ts_recorder_add_text(r, UCIR_NOTE_FOLDER, folder)) &&
	       ts_recorder_add_text(r, UCIR_NOTE_PROGRAM, realpath(r->program.path, path) ? path : r->program.path) &&
	       ts_recorder_add_text(r, UCIR_NOTE_RECORDER, "tracestub record " PACKAGE_VERSION) &&
	       r->engine->add_facts(r);
}

void ts_recorder_keep_library(const struct ts_recorder *r, const char *path)
{
	char program[PATH_MAX], engine[PATH_MAX];

	if ((realpath(r->program.path, program) && !strcmp(path, program)) ||
	    (realpath(r->plugin, engine) && !strcmp(path, engine)))
		return;
	ts_kept_library(r->out, path);
}

/* -------------------------------------------------------------------------------- running it */

static volatile sig_atomic_t program_pid;
static struct ts_recorder *toggled; /* gets SIGUSR1; NULL: the program gets it */

/* The terminal's signals reach the program anyway; a signal that is sent to this process is for the program. */
static void pass_on(int sig, siginfo_t *info, void *)
{
	if (sig == SIGUSR1 && toggled)
		toggled->engine->toggle(toggled);
	else if (info->si_code <= 0 && program_pid)
		kill((pid_t)program_pid, sig);
}

static const int ignored[] = { SIGINT, SIGQUIT, SIGTSTP };
static const int passed[] = { SIGHUP, SIGTERM, SIGUSR1, SIGUSR2 };
#define N_IGNORED (sizeof(ignored) / sizeof(ignored[0]))
#define N_PASSED (sizeof(passed) / sizeof(passed[0]))

bool ts_recorder_start(struct ts_recorder *r)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old[N_IGNORED];
	struct sigaction pass = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART }, was;
	pid_t reader = getpid();

	for (size_t i = 0; i < N_IGNORED; i++)
		sigaction(ignored[i], &ignore, &old[i]);
	r->pid = fork();
	if (r->pid < 0)
		return ts_fail_errno(&r->err, "cannot start %s", r->engine->name);
	if (!r->pid) {
		for (size_t i = 0; i < N_IGNORED; i++)
			sigaction(ignored[i], &old[i], NULL);
		r->engine->become(r, reader);
	}
	program_pid = r->pid;
	toggled = r->engine->toggle && !r->follow ? r : NULL;
	for (size_t i = 0; i < N_PASSED; i++) {
		if (sigaction(passed[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(passed[i], &pass, NULL);
	}
	if (r->memory_fd >= 0)
		close(r->memory_fd);
	r->memory_fd = -1;
	return true;
}

/*
 * A thread: waits for the program's end.  When the program stops, so does this process, for the shell to see.
 */
static void *wait_for_end(void *user)
{
	struct ts_recorder *r = user;
	int status = 0;

	for (;;) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WSTOPPED | WNOWAIT) < 0 && errno != EINTR)
			break;
		if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
			break;
		if (info.si_code == CLD_STOPPED && waitpid(r->pid, &status, WUNTRACED | WNOHANG) == r->pid &&
		    WIFSTOPPED(status)) {
			kill(getpid(), SIGSTOP);
			kill(r->pid, SIGCONT);
		}
	}
	r->is_too_large = ts_memory_cap_end(&r->memory); /* while no other process can have its id */
	waitpid(r->pid, &status, 0);
	r->status = status;
	atomic_store(&r->is_dead, true);
	r->engine->wake(r);
	return NULL;
}

/* -------------------------------------------------------------------------------- the stream */

static void add_end(struct ts_recorder *r)
{
	uint8_t op[UCIR_PUT_END_LEN];
	char number[24];

	if (r->counts.exec_path)
		ts_recorder_add_text(r, UCIR_NOTE_BECAME, r->counts.exec_path);
	snprintf(number, sizeof(number), "%" PRIu64, r->counts.n_unexplained);
	ts_recorder_add_text(r, UCIR_NOTE_UNEXPLAINED, number);
	if (r->is_cut)
		ucir_put_end(op, UCIR_END_CUT, 0);
	else if (r->counts.exec_path)
		ucir_put_end(op, UCIR_END_EXEC, 0);
	else if (WIFSIGNALED(r->status))
		ucir_put_end(op, UCIR_END_SIGNAL,
			     (uint32_t)ts_emulated_signal(r->program.emulated, WTERMSIG(r->status)));
	else
		ucir_put_end(op, UCIR_END_EXIT, (uint32_t)WEXITSTATUS(r->status));
	ucir_writer_add(r->writer, op, sizeof(op), &r->err);
}

static void finish_stream(struct ts_recorder *r)
{
	if (r->engine->finish(r))
		add_end(r);
	if (r->err.code == TS_OK)
		ucir_writer_flush(r->writer, &r->err);
}

/* -------------------------------------------------------------------------------- after it ran */

/* Is the file as it was written?  The program may have truncated or removed it. */
static bool check_output(struct ts_recorder *r)
{
	struct stat st;

	if (r->err.code != TS_OK || fstat(r->writer->fd, &st) || !S_ISREG(st.st_mode))
		return true;
	if (!st.st_nlink)
		return ts_fail(&r->err, TS_EIO, TS_NO_OFF, "it was removed while it was written: there is no recording");
	return (uint64_t)st.st_size == r->writer->n_file ||
	       ts_fail(&r->err, TS_EIO, TS_NO_OFF,
		       "it was changed while it was written: it has %" PRIu64 " bytes instead of %" PRIu64,
		       (uint64_t)st.st_size, r->writer->n_file);
}

static void summarize(const struct ts_recorder *r)
{
	uint64_t n = r->counts.n_steps;
	unsigned n_children = r->counts.n_children;

	if (r->is_too_large)
		ts_message(stderr,
			   "tracestub: the program was killed: it and its recorder needed more than %" PRIu64
			   " MiB of memory; --max-memory SIZE allows more", r->memory.max >> 20);
	if (r->err.code != TS_OK) {
		ts_message(stderr, "tracestub: %s is cut: it holds what came first, %" PRIu64 " bytes; the program went on without it",
			   r->out, r->writer->n_file);
		return;
	}
	if (r->cli->is_quiet)
		return;
	if (r->counts.note)
		ts_message(stderr, "tracestub: %s", r->counts.note);
	ts_message(stderr,
		   "tracestub: %s: %" PRIu64 " instructions in %" PRIu64 " bytes (%.1f each), unexplained %" PRIu64 "",
		   r->out, n, r->writer->n_file, n ? (double)r->writer->n_file / (double)n : 0.0,
		r->counts.n_unexplained);
	if (r->counts.n_lost)
		ts_message(stderr, "tracestub: the %" PRIu64 " instructions before are not in the recording (--last)",
			   r->counts.n_lost);
	if (r->counts.n_elsewhere)
		ts_message(stderr, "tracestub: %" PRIu64 " instructions of other modules are not in the recording (--module)",
			   r->counts.n_elsewhere);
	if (r->is_cut)
		ts_message(stderr, "tracestub: the recording ended at %s, the program did not", r->cut_at);
	else if (r->cli->until.kind != TS_AT_NOTHING && r->cli->until.kind != TS_AT_SIGNAL)
		ts_message(stderr, "tracestub: %s was not reached: the recording ends with the program", r->cli->until.text);
	if (WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGINT)
		ts_message(stderr,
			"tracestub: the program was interrupted; what it did until then is recorded: tracestub gdb %s\n",
			r->out);
	if (n_children)
		ts_message(stderr, "tracestub: %u child process%s not recorded", n_children,
			n_children == 1 ? " was" : "es were");
	if (r->counts.exec_path)
		ts_message(stderr, "tracestub: the program became %s, which is not in this recording",
			r->counts.exec_path);
}

int ts_recorder_end_alike(int status)
{
	static const struct rlimit no_core;
	struct sigaction as_usual = { .sa_handler = SIG_DFL };
	sigset_t one;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &no_core);
	sigaction(WTERMSIG(status), &as_usual, NULL);
	sigemptyset(&one);
	sigaddset(&one, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static void remove_output(const struct ts_recorder *r)
{
	ts_kept_remove(r->out, r->program.path);
	unlink(r->out);
}

/* Why a recording without a failure has no instruction. */
static const char *why_none(const struct ts_recorder *r, char text[128])
{
	if (!r->is_cut)
		return "the program ended before its first instruction";
	snprintf(text, 128, "%s ended it before its first instruction%s", r->cut_at,
		 strcmp(r->cut_at, "--limit") ? "" : ", for the memory of the program comes first");
	return text;
}

/* The program ran, and there is no recording of it.  Returns the status to exit with, or -1: that of the program. */
static int end_without(const struct ts_recorder *r, const char *why)
{
	remove_output(r);
	if (!r->is_followed)
		ts_message(stderr, "tracestub: nothing is recorded: %s", why);
	return WIFEXITED(r->status) && !WEXITSTATUS(r->status) ? TS_STATUS_FAILED : -1;
}

/* Returns the status to exit with, or -1: that of the program. */
static int finish(struct ts_recorder *r)
{
	bool is_there;
	bool is_started = r->engine->is_started(r);
	const char *refusal = r->engine->refusal ? r->engine->refusal(r) : NULL;
	const char *nothing = is_started && r->engine->nothing ? r->engine->nothing(r) : NULL;
	char why[128];

	if (!is_started || refusal)
		remove_output(r);
	if (refusal) {
		ts_fail(&r->err, TS_EUNSUPPORTED, TS_NO_OFF, "%s", refusal);
		return (int)ts_report_failure(r->program.path, &r->err);
	}
	if (!is_started)
		return -1; /* the engine has said why */
	if (nothing)
		return end_without(r, nothing);
	finish_stream(r);
	if (r->err.code == TS_OK && !r->counts.n_steps)
		return end_without(r, why_none(r, why));
	is_there = check_output(r);
	if (r->err.code != TS_OK)
		ts_report_failure(r->out, &r->err);
	if (is_there)
		summarize(r);
	r->is_recorded = is_there;
	return -1;
}

static bool prepare(struct ts_recorder *r, const char **file)
{
	*file = NULL;
	if (!r->is_followed && !r->engine->find(r))
		return false;
	*file = r->out;
	if (!open_output(r) || !r->engine->open(r) || !add_facts(r))
		return false;
	ts_kept_make(r->out, r->program.path); /* before it runs: it may be built again while it does */
	return true;
}

static uint64_t memory_bound(const struct ts_recorder *r)
{
	return r->cli->max_memory == UINT64_MAX ? ts_memory_cap_default() : r->cli->max_memory;
}

/* The program runs; @wait is a thread that waits for its end. */
static int read_to_end(struct ts_recorder *r, void *(*wait)(void *r))
{
	pthread_t waiter;

	if (!ts_memory_cap_begin(&r->memory, r->pid, memory_bound(r)) || pthread_create(&waiter, NULL, wait, r) != 0)
		abort();
	r->engine->read(r);
	pthread_join(waiter, NULL);
	return finish(r);
}

int ts_recorder_run(struct ts_recorder *r)
{
	const char *file;
	int status;

	if (!prepare(r, &file) || !ts_recorder_start(r))
		return (int)ts_report_failure(file, &r->err);
	status = read_to_end(r, wait_for_end);
	return status < 0 ? ts_recorder_end_alike(r->status) : status;
}

int ts_recorder_run_followed(struct ts_recorder *r, void *(*wait)(void *r))
{
	const char *file;

	if (!prepare(r, &file))
		return (int)ts_report_failure(file, &r->err);
	return read_to_end(r, wait);
}
