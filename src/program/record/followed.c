/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/collections/buf.h"
#include "src/program/cli/report.h"
#include "src/program/open/processes.h"

#define WAIT_MS 50

static volatile sig_atomic_t has_become;
static int process_fd; /* of the process that is recorded */

static void on_become(int)
{
	has_become = 1;
}

/* -------------------------------------------------------------------------------- the process */

static bool read_file(const char *path, struct ts_buf *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		uint8_t *room = ts_buf_room(to, 4096);

		n = room ? read(fd, room, 4096) : -1;
		if (n > 0)
			ts_buf_add(to, (size_t)n);
	}
	if (fd >= 0)
		close(fd);
	return n == 0 && ts_buf_ok(to);
}

/* The engine's command line is its own options, then the program and its arguments. */
static char **program_of(int32_t pid, struct ts_buf *text)
{
	char path[64], **argv, *at, *end;
	size_t n = 0, k = 0;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	if (!read_file(path, text))
		return NULL;
	ts_buf_putc(text, '\0');
	argv = ts_buf_ok(text) ? calloc(text->len + 1, sizeof(*argv)) : NULL;
	at = (char *)text->data;
	end = at + text->len - 1;
	for (; argv && at < end; at += strlen(at) + 1, n++) {
		if (n && (k || *at != '-'))
			argv[k++] = at;
	}
	return argv;
}

static bool is_zombie(int32_t pid, int *status)
{
	char path[64], *after;
	struct ts_buf text;
	bool is_it;
	int field = 2;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	ts_buf_init(&text);
	read_file(path, &text);
	ts_buf_putc(&text, '\0');
	after = ts_buf_ok(&text) ? strrchr((char *)text.data, ')') : NULL;
	is_it = after && after[1] == ' ' && after[2] == 'Z';
	/* proc(5): the state is field 3, the status field 52 */
	for (; is_it && after && field < 52; field++)
		after = strchr(after + 1, ' ');
	is_it = is_it && after && sscanf(after, "%d", status) == 1;
	ts_buf_fini(&text);
	return is_it;
}

/* A thread, as ts_recorder_run_followed() wants it. */
static void *wait_for_end(void *user)
{
	struct pollfd wait = { .fd = process_fd, .events = POLLIN };
	struct ts_recorder *r = user;

	while (!has_become && poll(&wait, 1, WAIT_MS) <= 0)
		continue;
	r->has_status = has_become || is_zombie(r->pid, &r->status);
	r->is_too_large = ts_memory_cap_end(&r->memory);
	atomic_store(&r->is_dead, true);
	r->engine->wake(r);
	return NULL;
}

/* -------------------------------------------------------------------------------- its recording */

static void add_to_manifest(const struct ts_recorder *r, const char *folder, struct ts_process *p, char **argv)
{
	struct ts_error err = { 0 };

	if (has_become && r->counts.exec_path) {
		p->end = TS_PROCESS_BECAME;
	} else if (WIFSIGNALED(r->status)) {
		p->end = TS_PROCESS_KILLED;
		p->value = (uint32_t)WTERMSIG(r->status);
	} else {
		p->end = TS_PROCESS_EXITED;
		p->value = (uint32_t)WEXITSTATUS(r->status);
	}
	if (!ts_processes_append(folder, p, argv, &err))
		ts_report_failure(folder, &err);
}

static bool open_process(struct ts_recorder *r, const struct ts_log_process *p)
{
	char path[64];

	r->pid = p->pid;
	process_fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", p->pid, p->fd);
	r->engine_fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	snprintf(path, sizeof(path), "/proc/%d/cwd", p->pid);
	/* the program's own folder, from which its path may be relative */
	return process_fd >= 0 && r->engine_fd >= 0 && chdir(path) == 0;
}

static int record(struct ts_recorder *r, char **argv, const char *folder, struct ts_process *p)
{
	int status = ts_program_find(&r->program, argv);

	if (status)
		return status;
	r->engine = &ts_record_valgrind;
	if (p->began != TS_PROCESS_FORK)
		ts_record_warn(r);
	status = ts_recorder_run_followed(r, wait_for_end);
	if (r->is_recorded)
		add_to_manifest(r, folder, p, argv);
	return status < 0 ? 0 : status;
}

static void ignore_signals(void)
{
	static const int others[] = { SIGHUP, SIGTERM, SIGUSR1 };
	struct sigaction become = { .sa_handler = on_become, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		signal(others[i], SIG_IGN);
	sigaction(SIGUSR2, &become, NULL);
}

int ts_followed_run(const struct ts_recorder *first, const char *folder, const struct ts_log_process *announced,
		    uint32_t number, uint32_t image)
{
	struct ts_process p = { .number = number, .pid = announced->pid, .parent = announced->parent, .image = image,
				.began = !number ? TS_PROCESS_START : announced->is_fork ? TS_PROCESS_FORK : TS_PROCESS_EXEC };
	struct ts_cli cli = *first->cli;
	struct ts_recorder r = { .cli = &cli, .out_fd = -1, .memory_fd = -1, .engine_fd = -1, .is_followed = true };
	char name[64], path[PATH_MAX + 64], **argv;
	struct ts_buf text;
	int status = TS_STATUS_FAILED;

	ignore_signals();
	ts_process_file(&p, name);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	cli.output = path;
	cli.is_quiet = true;
	ts_buf_init(&text);
	argv = program_of(p.pid, &text);
	if (argv && *argv && open_process(&r, announced))
		status = record(&r, argv, folder, &p);
	free(argv);
	ts_buf_fini(&text);
	return status;
}
