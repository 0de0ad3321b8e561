/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/collections/vec.h"
#include "src/program/cli/message.h"
#include "src/program/cli/report.h"
#include "src/program/open/processes.h"
#include "src/record/log.h"

#define WAIT_MS 50

/* A program that is, or was, recorded. */
struct recorded {
	int32_t pid, fd; /* fd: of its log, while it waits for its reader */
	uint32_t image;
	pid_t reader; /* 0: it has ended */
};

struct follow {
	struct ts_recorder *r; /* of the first process */
	char folder[PATH_MAX]; /* absolute */
	int fifo;
	struct recorded *at; /* owned; in the order in which they began */
	size_t n, cap, n_readers;
	bool is_dead;        /* the first process */
	bool is_full;        /* TS_MAX_PROCESSES were recorded */
};

/* -------------------------------------------------------------------------------- the folder */

static int make_new(const char *path)
{
	return mkdir(path, 0700);
}

/* It holds all the programs' memory: for its owner only. */
static bool make_folder(struct follow *f)
{
	struct ts_recorder *r = f->r;
	char fifo[PATH_MAX + 16];

	snprintf(r->out, sizeof(r->out), "%s", r->cli->output ? r->cli->output : "");
	if ((*r->out ? make_new(r->out) : ts_recorder_make_next(r, ".processes", make_new)) < 0)
		return ts_fail_errno(&r->err, "the folder of the recordings cannot be created");
	if (!realpath(r->out, f->folder))
		return ts_fail_errno(&r->err, "it cannot be found");
	snprintf(fifo, sizeof(fifo), "%s/" TS_FOLLOW_FIFO, f->folder);
	/* open for writing, too: it is never at its end */
	f->fifo = mkfifo(fifo, 0600) < 0 ? -1 : open(fifo, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	return f->fifo >= 0 ? ts_processes_create(f->folder, &r->err) : ts_fail_errno(&r->err, "%s cannot be made", fifo);
}

/* Remove the files that were needed while the programs ran. */
static void tidy(const struct follow *f)
{
	DIR *dir = opendir(f->folder);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (!strncmp(e->d_name, TS_FOLLOW_FIFO, strlen(TS_FOLLOW_FIFO)) ||
		    !strncmp(e->d_name, TS_FOLLOW_TEXT, strlen(TS_FOLLOW_TEXT)))
			unlinkat(dirfd(dir), e->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

/* -------------------------------------------------------------------------------- processes */

/* The recording of the program that the process was until now ends. */
static uint32_t end_image(struct follow *f, int32_t pid)
{
	for (size_t i = f->n; i-- > 0;) {
		if (f->at[i].pid != pid)
			continue;
		if (f->at[i].reader)
			kill(f->at[i].reader, SIGUSR2);
		return f->at[i].image + 1;
	}
	return 0;
}

/* A process may still wait for a reader of its log, which it will not get: it goes on unrecorded. */
static void release(int32_t pid, int32_t log_fd)
{
	struct ts_log *log;
	struct stat st;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, log_fd);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= TS_LOG_HEAD_LEN) {
		log = mmap(NULL, TS_LOG_HEAD_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (log != MAP_FAILED && log->magic == TS_LOG_MAGIC && !log->reader)
			log->is_stopped = 1;
		if (log != MAP_FAILED)
			munmap(log, TS_LOG_HEAD_LEN);
	}
	close(fd);
}

/* A process announced its log.  What it says is believed only as far as its reader can check it. */
static void begin_process(struct follow *f, const struct ts_log_process *p)
{
	struct recorded *new_one;
	uint32_t image;
	pid_t reader;

	if (p->magic != TS_LOG_PROCESS_MAGIC || p->pid <= 0)
		return;
	f->is_full = f->is_full || f->n == TS_MAX_PROCESSES || !ts_vec_reserve(&f->at, f->n, &f->cap, 1, sizeof(*f->at));
	if (f->is_full) {
		release(p->pid, p->fd);
		return;
	}
	image = p->is_fork ? 0 : end_image(f, p->pid);
	reader = fork();
	if (!reader)
		_exit(ts_followed_run(f->r, f->folder, p, (uint32_t)f->n, image));
	if (reader < 0) {
		release(p->pid, p->fd);
		return;
	}
	new_one = &f->at[f->n++];
	*new_one = (struct recorded){ p->pid, p->fd, image, reader };
	f->n_readers++;
}

static void take_announced(struct follow *f)
{
	struct pollfd wait = { .fd = f->fifo, .events = POLLIN };
	struct ts_log_process p;

	if (poll(&wait, 1, WAIT_MS) <= 0)
		return;
	while (read(f->fifo, &p, sizeof(p)) == (ssize_t)sizeof(p))
		begin_process(f, &p);
}

/* A process whose parent has ended is a child of this one: it is waited for when its reader has seen how it ended. */
static void reap(struct follow *f)
{
	for (size_t i = 0; i < f->n && f->n_readers; i++) {
		struct recorded *p = &f->at[i];

		if (!p->reader || waitpid(p->reader, NULL, WNOHANG) != p->reader)
			continue;
		p->reader = 0;
		f->n_readers--;
		release(p->pid, p->fd);
		if (p->pid != f->r->pid)
			waitpid(p->pid, NULL, WNOHANG);
	}
}

/* When the first process stops, so does this one, for the shell to see. */
static void look_at_first(struct follow *f)
{
	siginfo_t info = { 0 };
	pid_t pid = f->r->pid;
	int status;

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
		return;
	if (info.si_code != CLD_STOPPED) {
		f->is_dead = true;
	} else if (waitpid(pid, &status, WUNTRACED | WNOHANG) == pid && WIFSTOPPED(status)) {
		kill(getpid(), SIGSTOP);
		kill(pid, SIGCONT);
	}
}

/* -------------------------------------------------------------------------------- all of it */

static size_t count_recordings(const struct follow *f)
{
	struct ts_processes all;
	struct ts_error err = { 0 };
	size_t n = 0;

	if (ts_processes_read(&all, f->folder, &err))
		n = all.n;
	ts_processes_fini(&all);
	return n;
}

static void summarize(const struct follow *f, size_t n)
{
	const struct ts_recorder *r = f->r;

	if (f->is_full)
		ts_message(stderr, "tracestub: only the first %zu programs were recorded", f->n);
	if (n && !r->cli->is_quiet)
		ts_message(stderr, "tracestub: %s: %zu recording%s: tracestub info %s", r->out, n, n == 1 ? "" : "s", r->out);
}

/* No process has a recording.  Returns the status to exit with, or -1: that of the program. */
static int end_without(const struct follow *f)
{
	const struct ts_recorder *r = f->r;

	ts_processes_remove(f->folder);
	if (f->n) /* else the engine has said why */
		ts_message(stderr, "tracestub: nothing is recorded: no process executed what was to be recorded");
	return WIFEXITED(r->status) && !WEXITSTATUS(r->status) ? TS_STATUS_FAILED : -1;
}

static void follow(struct follow *f)
{
	bool is_over = false;

	while (!is_over) {
		is_over = f->is_dead && !f->n_readers;
		take_announced(f);
		reap(f);
		look_at_first(f);
		is_over = is_over && !f->n_readers;
	}
	waitpid(f->r->pid, &f->r->status, 0);
}

int ts_run_follow(struct ts_recorder *r)
{
	struct follow f = { .r = r, .fifo = -1 };
	size_t n_recordings = 0;
	int status = -1;

	if (!r->engine->find(r))
		return (int)ts_report_failure(NULL, &r->err);
	r->follow = f.folder;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (make_folder(&f) && ts_recorder_start(r)) {
		follow(&f);
		n_recordings = count_recordings(&f);
		summarize(&f, n_recordings);
	} else {
		status = (int)ts_report_failure(r->out, &r->err);
	}
	if (*f.folder)
		tidy(&f);
	if (status < 0 && !n_recordings)
		status = end_without(&f);
	free(f.at);
	return status < 0 ? ts_recorder_end_alike(r->status) : status;
}
