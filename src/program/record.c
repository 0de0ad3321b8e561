/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator.h"
#include "installed.h"
#include "loaders/usercorn/op_write.h"
#include "loaders/usercorn/write.h"
#include "message.h"
#include "report.h"
#include "src/recorder/ring.h"
#include "unfinished.h"

#define RING_LEN (UINT64_C(8) << 20)
#define MIN_RING_LEN (UINT64_C(64) << 10)

/* The plugin is built for two interfaces of QEMU. */
#define PLUGIN_7 "tracestub-record.so"
#define PLUGIN_9 "tracestub-record9.so"

struct recorder {
	const struct ts_cli *cli;
	struct ts_program program;
	char out[PATH_MAX];
	char plugin[PATH_MAX];
	char version[64]; /* of QEMU */
	bool is_new;      /* it is 9.2 or later */
	struct ucir_writer *writer; /* owned */
	int out_fd, memory_fd;
	struct ts_ring *ring; /* mapped */
	uint64_t ring_len; /* TRACESTUB_RING, for tests of a ring that is full all the time */
	struct ts_error err;
	bool is_cut;      /* --limit was reached; what follows after stream byte cut_at is dropped */
	uint64_t cut_at;
	pid_t pid;
	int status; /* of waitpid(), when is_dead */
	_Atomic bool is_dead;
};

/* -------------------------------------------------------------------------------- before it runs */

/* "7.2.22": what the plugins use is there in 7, and from 9.2 on. */
static bool take_version(struct recorder *r, const char *line)
{
	const char *at = strstr(line, "version ");
	unsigned long major = 0, minor = 0;
	char *end;

	if (at && sscanf(at, "version %63[0-9.]", r->version) == 1) {
		major = strtoul(r->version, &end, 10);
		minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	}
	r->is_new = major > 9 || (major == 9 && minor >= 2);
	if (major == 7 || r->is_new)
		return true;
	return ts_fail(&r->err, TS_EUNSUPPORTED, TS_NO_OFF,
		       "%s is version %s: recording works with QEMU 7.2, that of Debian 12, and with 9.2 or later",
		       r->program.emulator, *r->version ? r->version : "unknown");
}

/* "qemu-x86_64 version 7.2.22 (Debian ...)" */
static bool check_version(struct recorder *r)
{
	char line[256] = "";
	int ends[2];
	pid_t pid;
	FILE *f;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return ts_fail_errno(&r->err, "cannot start %s", r->program.emulator);
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		execl(r->program.emulator, r->program.emulator, "--version", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	f = fdopen(ends[0], "r");
	if (!f || !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		(void)fclose(f);
	waitpid(pid, NULL, 0);
	return take_version(r, line);
}

/* The plugin lies beside the program in a build directory, else where it was installed. */
static bool find_plugin(struct recorder *r)
{
	const char *name = r->is_new ? PLUGIN_9 : PLUGIN_7;
	const char *fixed = r->is_new ? PKGLIBDIR "/" PLUGIN_9 : PKGLIBDIR "/" PLUGIN_7;

	if (ts_installed_find(name, fixed, r->plugin, sizeof(r->plugin)))
		return true;
	return ts_fail(&r->err, TS_EIO, TS_NO_OFF, "%s is missing: tracestub was not installed as a whole",
		       r->plugin);
}

/* There are so many names for the recordings of one program. */
#define MAX_RUNS 100000u

/*
 * PROGRAM.ucir, where that exists PROGRAM.1.ucir, and so on: the recording that shows a rare bug is not lost by
 * the next try.
 */
static int open_next(struct recorder *r)
{
	const char *slash = strrchr(r->cli->program[0], '/'), *name = slash ? slash + 1 : r->cli->program[0];
	int fd = -1;

	for (unsigned i = 0; fd < 0 && i < MAX_RUNS; i++) {
		if (i)
			snprintf(r->out, sizeof(r->out), "%s.%u.ucir", name, i);
		else
			snprintf(r->out, sizeof(r->out), "%s.ucir", name);
		fd = open(r->out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

/* What -o names is replaced. */
static int open_named(struct recorder *r)
{
	snprintf(r->out, sizeof(r->out), "%s", r->cli->output);
	return open(r->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* It holds all the program's memory: for its owner only. */
static bool open_output(struct recorder *r)
{
	r->out_fd = r->cli->output ? open_named(r) : open_next(r);
	if (r->out_fd < 0)
		return ts_fail_errno(&r->err, "cannot be written");
	if (fchmod(r->out_fd, 0600) < 0 && errno != EPERM && errno != EINVAL)
		return ts_fail_errno(&r->err, "its mode cannot be changed");
	/* of a file that becomes shorter the length tells: nothing is written after a hole */
	fcntl(r->out_fd, F_SETFL, fcntl(r->out_fd, F_GETFL) | O_APPEND);
	r->writer = calloc(1, sizeof(*r->writer));
	if (!r->writer)
		return ts_fail(&r->err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted");
	return ucir_writer_begin(r->writer, r->out_fd, r->program.emulated->arch,
				 r->program.emulated->is_big_endian, &r->err);
}

/*
 * What is in the ring when --limit is reached is still written: the ring is at most an eighth of the limit.
 */
static uint64_t choose_ring_len(uint64_t limit)
{
	uint64_t len = RING_LEN;

	while (len > MIN_RING_LEN && len > limit / 8)
		len /= 2;
	return len;
}

/* Not closed at exec: the emulator inherits it, and the plugin closes it before the program begins. */
static bool open_ring(struct recorder *r)
{
	const char *len = getenv("TRACESTUB_RING");
	void *at;

	r->ring_len = len ? strtoull(len, NULL, 10) : 0;
	if (r->ring_len < 4096)
		r->ring_len = choose_ring_len(r->cli->limit);
	r->memory_fd = memfd_create("tracestub", 0);
	if (r->memory_fd < 0 || ftruncate(r->memory_fd, (off_t)ts_ring_size(r->ring_len)) < 0)
		return ts_fail_errno(&r->err, "cannot create shared memory");
	at = mmap(NULL, ts_ring_size(r->ring_len), PROT_READ | PROT_WRITE, MAP_SHARED, r->memory_fd, 0);
	if (at == MAP_FAILED)
		return ts_fail_errno(&r->err, "cannot map shared memory");
	r->ring = at;
	r->ring->len = r->ring_len;
	return true;
}

static bool add_note(struct recorder *r, uint8_t key, const void *bytes, size_t len)
{
	uint8_t head[UCIR_PUT_NOTE_LEN];

	ucir_put_note(head, key, "", 0);
	ucir_put_u32(head + 2, (uint32_t)len);
	return ucir_writer_add(r->writer, head, sizeof(head), &r->err) &&
	       ucir_writer_add(r->writer, bytes, len, &r->err);
}

static bool add_text(struct recorder *r, uint8_t key, const char *text)
{
	return add_note(r, key, text, strlen(text));
}

static bool add_arguments(struct recorder *r)
{
	size_t len = 0, at = 0;
	char *text;
	bool is_added;

	for (char **arg = r->program.argv; *arg; arg++)
		len += strlen(*arg) + 1;
	text = malloc(len);
	if (!text)
		return ts_fail(&r->err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted");
	for (char **arg = r->program.argv; *arg; arg++) {
		strcpy(text + at, *arg);
		at += strlen(*arg) + 1;
	}
	is_added = add_note(r, UCIR_NOTE_ARGUMENTS, text, len);
	free(text);
	return is_added;
}

static const char *model(const struct recorder *r)
{
	return r->cli->cpu ? r->cli->cpu : r->program.emulated->model;
}

static bool add_facts(struct recorder *r)
{
	char folder[PATH_MAX], path[PATH_MAX], emulator[128];

	snprintf(emulator, sizeof(emulator), "%s %s", r->program.emulated->qemu, r->version);
	return add_arguments(r) &&
	       (!getcwd(folder, sizeof(folder)) || add_text(r, UCIR_NOTE_FOLDER, folder)) &&
	       add_text(r, UCIR_NOTE_PROGRAM, realpath(r->program.path, path) ? path : r->program.path) &&
	       add_text(r, UCIR_NOTE_RECORDER, "tracestub record " PACKAGE_VERSION) &&
	       add_text(r, UCIR_NOTE_EMULATOR, emulator) &&
	       (!model(r) || add_text(r, UCIR_NOTE_PROCESSOR, model(r)));
}

/* -------------------------------------------------------------------------------- running it */

/* The plugin's path in an option of QEMU: a comma is doubled. */
static void quote(char *to, size_t cap, const char *path)
{
	size_t n = 0;

	for (; *path && n + 2 < cap; path++) {
		to[n++] = *path;
		if (*path == ',')
			to[n++] = ',';
	}
	to[n] = '\0';
}

static _Noreturn void be_emulator(const struct recorder *r, pid_t reader)
{
	char plugin[2 * PATH_MAX], option[2 * PATH_MAX + 128];
	const char **args;
	size_t n = 0, k = 0;

	while (r->program.argv[n])
		n++;
	args = calloc(n + 16, sizeof(*args));
	if (!args)
		_exit(EXIT_FAILURE);
	quote(plugin, sizeof(plugin), r->plugin);
	snprintf(option, sizeof(option), "%s,fd=%d,size=%zu,reader=%d", plugin, r->memory_fd,
		 ts_ring_size(r->ring_len), (int)reader);
	args[k++] = r->program.emulated->qemu;
	args[k++] = r->is_new ? "-one-insn-per-tb" : "-singlestep";
	if (model(r)) {
		args[k++] = "-cpu";
		args[k++] = model(r);
	}
	if (r->cli->sysroot) {
		args[k++] = "-L";
		args[k++] = r->cli->sysroot;
	}
	args[k++] = "-0";
	args[k++] = r->program.argv[0];
	args[k++] = "-plugin";
	args[k++] = option;
	args[k++] = r->program.path;
	memcpy(args + k, r->program.argv + 1, n * sizeof(*args));
	execv(r->program.emulator, (char *const *)args);
	ts_message(stderr, "tracestub: cannot start %s: %s", r->program.emulator, strerror(errno));
	_exit(127);
}

static volatile sig_atomic_t program_pid;

/* The terminal's signals reach the program anyway; what somebody sends to this process is for it. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0 && program_pid)
		kill((pid_t)program_pid, sig);
}

static const int ignored[] = { SIGINT, SIGQUIT, SIGTSTP };
static const int passed[] = { SIGHUP, SIGTERM, SIGUSR1, SIGUSR2 };
#define N_IGNORED (sizeof(ignored) / sizeof(ignored[0]))
#define N_PASSED (sizeof(passed) / sizeof(passed[0]))

static bool start(struct recorder *r)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old[N_IGNORED];
	struct sigaction pass = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART }, was;
	pid_t reader = getpid();

	for (size_t i = 0; i < N_IGNORED; i++)
		sigaction(ignored[i], &ignore, &old[i]);
	r->pid = fork();
	if (r->pid < 0)
		return ts_fail_errno(&r->err, "cannot start the emulator");
	if (!r->pid) {
		for (size_t i = 0; i < N_IGNORED; i++)
			sigaction(ignored[i], &old[i], NULL);
		be_emulator(r, reader);
	}
	program_pid = r->pid;
	for (size_t i = 0; i < N_PASSED; i++) {
		if (sigaction(passed[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(passed[i], &pass, NULL);
	}
	close(r->memory_fd);
	return true;
}

/*
 * A thread: waits for the program's end.  When the program stops, so does this process, for the shell to see.
 */
static void *wait_for_end(void *user)
{
	struct recorder *r = user;
	int status = 0;

	for (;;) {
		if (waitpid(r->pid, &status, WUNTRACED) < 0 && errno != EINTR)
			break;
		if (WIFEXITED(status) || WIFSIGNALED(status))
			break;
		if (WIFSTOPPED(status)) {
			kill(getpid(), SIGSTOP);
			kill(r->pid, SIGCONT);
		}
	}
	r->status = status;
	atomic_store(&r->is_dead, true);
	ts_ring_wake(r->ring);
	return NULL;
}

/* -------------------------------------------------------------------------------- the stream */

/*
 * With --limit: the stream ends after the frame in which the file gets too long.
 *
 * To be called when bytes have come: the frame before them has been sealed then, which it may not have been
 * when its last byte was taken.
 */
static void limit(struct recorder *r)
{
	if (r->is_cut || r->writer->n_file < r->cli->limit ||
	    atomic_load(&r->ring->tail) > atomic_load(&r->ring->boundary))
		return;
	r->is_cut = true;
	r->cut_at = atomic_load(&r->ring->boundary);
	atomic_store(&r->ring->is_stopped, 1);
}

/* Write what came.  A file that cannot be written ends the recording, not the program. */
static void take(struct recorder *r, const uint8_t *bytes, size_t len)
{
	uint64_t at = atomic_load(&r->ring->tail);
	size_t n = len;

	limit(r);
	if (r->is_cut)
		n = at >= r->cut_at ? 0 : at + len > r->cut_at ? (size_t)(r->cut_at - at) : len;
	if (r->err.code == TS_OK && !ucir_writer_add(r->writer, bytes, n, &r->err))
		atomic_store(&r->ring->is_stopped, 1);
	ts_ring_take(r->ring, len);
}

static void read_stream(struct recorder *r)
{
	for (;;) {
		bool is_dead = atomic_load(&r->is_dead);
		const uint8_t *bytes;
		size_t n = ts_ring_peek(r->ring, &bytes, !is_dead);

		if (n)
			take(r, bytes, n);
		else if (is_dead)
			return;
	}
}

/* The frame that was open when the program died. */
static void add_open_frame(struct recorder *r)
{
	uint64_t state = atomic_load(&r->ring->open_state);
	uint8_t head[UCIR_PUT_FRAME_LEN];

	if (r->is_cut || !state || r->ring->open_base != r->ring->head || (state >> 32) > TS_RING_OPEN_CAP)
		return;
	ucir_put_frame(head, UCIR_FRAME, r->ring->open_pid, (uint32_t)state);
	if (ucir_writer_add(r->writer, head, sizeof(head), &r->err))
		ucir_writer_add(r->writer, r->ring->open, state >> 32, &r->err);
}

static bool is_in_exec(const struct recorder *r)
{
	return atomic_load(&r->ring->is_in_exec) != 0;
}

static void add_end(struct recorder *r)
{
	uint8_t op[UCIR_PUT_END_LEN];
	char number[24];

	if (is_in_exec(r))
		add_text(r, UCIR_NOTE_BECAME, r->ring->exec_path);
	snprintf(number, sizeof(number), "%" PRIu64, atomic_load(&r->ring->n_unexplained));
	add_text(r, UCIR_NOTE_UNEXPLAINED, number);
	if (r->is_cut)
		ucir_put_end(op, UCIR_END_CUT, 0);
	else if (is_in_exec(r))
		ucir_put_end(op, UCIR_END_EXEC, 0);
	else if (WIFSIGNALED(r->status))
		ucir_put_end(op, UCIR_END_SIGNAL,
			     (uint32_t)ts_emulated_signal(r->program.emulated, WTERMSIG(r->status)));
	else
		ucir_put_end(op, UCIR_END_EXIT, (uint32_t)WEXITSTATUS(r->status));
	ucir_writer_add(r->writer, op, sizeof(op), &r->err);
}

/*
 * The program was killed while its plugin put something into the ring.  If that is the open frame, which is
 * still there as a whole, the rest of it is written; else the file ends inside of a long frame.
 *
 * Returns whether the stream ends after a frame.
 */
static bool complete_frame(struct recorder *r)
{
	uint64_t boundary = atomic_load(&r->ring->boundary), n_put = atomic_load(&r->ring->head) - boundary;
	uint64_t state = atomic_load(&r->ring->open_state), len = state >> 32;
	uint8_t head[UCIR_PUT_FRAME_LEN];

	if (!n_put)
		return true;
	if (!state || r->ring->open_base != boundary || len > TS_RING_OPEN_CAP || n_put > sizeof(head) + len)
		return false;
	ucir_put_frame(head, UCIR_FRAME, r->ring->open_pid, (uint32_t)state);
	if (n_put < sizeof(head)) {
		ucir_writer_add(r->writer, head + n_put, sizeof(head) - n_put, &r->err);
		n_put = sizeof(head);
	}
	return ucir_writer_add(r->writer, r->ring->open + (n_put - sizeof(head)), sizeof(head) + len - n_put,
			       &r->err);
}

static void finish_stream(struct recorder *r)
{
	if (r->is_cut || complete_frame(r)) {
		add_open_frame(r);
		if (!r->is_cut)
			ts_unfinished_add(r->writer, r->ring, r->program.emulated, r->status, &r->err);
		add_end(r);
	}
	if (r->err.code == TS_OK)
		ucir_writer_flush(r->writer, &r->err);
}

/* -------------------------------------------------------------------------------- after it ran */

/* Is the file as it was written?  The program may have truncated or removed it. */
static bool check_output(struct recorder *r)
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

static void summarize(const struct recorder *r)
{
	uint64_t n = atomic_load(&r->ring->n_steps);
	unsigned n_children = atomic_load(&r->ring->n_children);

	if (r->cli->is_quiet)
		return;
	ts_message(stderr,
		   "tracestub: %s: %" PRIu64 " instructions in %" PRIu64 " bytes (%.1f each), unexplained %" PRIu64 "",
		   r->out, n, r->writer->n_file, n ? (double)r->writer->n_file / (double)n : 0.0,
		   atomic_load(&r->ring->n_unexplained));
	if (r->is_cut)
		fputs("tracestub: the recording ended at --limit, the program did not\n", stderr);
	if (WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGINT)
		ts_message(stderr,
			   "tracestub: the program was interrupted; what it did until then is recorded: tracestub gdb %s",
			   r->out);
	if (n_children)
		ts_message(stderr, "tracestub: %u child process%s not recorded", n_children,
			   n_children == 1 ? " was" : "es were");
	if (is_in_exec(r))
		ts_message(stderr, "tracestub: the program became %s, which was not recorded",
			   r->ring->exec_path);
}

/* As the program ended, so does this process. */
static int end_alike(int status)
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

static int finish(struct recorder *r)
{
	bool is_there;

	if (!atomic_load(&r->ring->is_started))
		unlink(r->out);
	if (atomic_load(&r->ring->is_refused)) {
		ts_fail(&r->err, TS_EUNSUPPORTED, TS_NO_OFF, "%s", r->ring->refusal);
		return (int)ts_report_failure(r->program.path, &r->err);
	}
	if (!atomic_load(&r->ring->is_started))
		return end_alike(r->status); /* QEMU has said why */
	finish_stream(r);
	is_there = check_output(r);
	if (r->err.code != TS_OK)
		ts_report_failure(r->out, &r->err);
	if (is_there)
		summarize(r);
	return end_alike(r->status);
}

static bool prepare(struct recorder *r, const char **file)
{
	*file = NULL;
	if (!check_version(r) || !find_plugin(r))
		return false;
	*file = r->out;
	return open_output(r) && open_ring(r) && add_facts(r);
}

static int run(struct recorder *r)
{
	pthread_t waiter;
	const char *file;
	int status;

	if (!prepare(r, &file) || !start(r)) {
		status = (int)ts_report_failure(file, &r->err);
	} else {
		if (pthread_create(&waiter, NULL, wait_for_end, r) != 0)
			abort();
		read_stream(r);
		pthread_join(waiter, NULL);
		return finish(r);
	}
	return status;
}

int ts_run_record(const struct ts_cli *cli)
{
	struct recorder r = { .cli = cli, .out_fd = -1 };
	int status = ts_program_find(&r.program, cli->program);

	if (!status)
		status = run(&r);
	free(r.writer);
	ts_program_fini(&r.program);
	return status;
}
