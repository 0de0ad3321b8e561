/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define MAX_ARGUMENTS 64

/* How often l->is_stopped() is asked while an answer is waited for. */
#define WAIT_US 50000

/* ------------------------------------------------------------------------------------------------- the process */

static bool is_program(const char *path)
{
	return !access(path, X_OK);
}

/* The program beside this object, or where it was installed. */
static void find_program(char path[PATH_MAX])
{
	Dl_info self;
	const char *slash = dladdr((void *)(uintptr_t)ts_link_new, &self) ? strrchr(self.dli_fname, '/') : NULL;
	int len = slash ? (int)(slash - self.dli_fname) : 0;

	if (slash && snprintf(path, PATH_MAX, "%.*s/tracestub", len, self.dli_fname) < PATH_MAX && is_program(path))
		return;
	if (slash && snprintf(path, PATH_MAX, "%.*s/../../bin/tracestub", len, self.dli_fname) < PATH_MAX && is_program(path))
		return;
	snprintf(path, PATH_MAX, "%s/tracestub", BINDIR);
}

static bool spawn(struct ts_link *l, const char *program, char **argv, int fd, struct ts_error *why)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, usual;
	int result;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGINT);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	result = posix_spawn_file_actions_adddup2(&actions, fd, 0) || posix_spawn_file_actions_adddup2(&actions, fd, 1) ||
		 posix_spawn_file_actions_adddup2(&actions, l->messages, 2) ||
		 posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	errno = ENOMEM;
	if (!result) {
		errno = posix_spawn(&l->pid, program, &actions, &attributes, argv, environ);
		result = errno;
	}
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return !result || ts_fail_errno(why, "%.300s cannot be started", program);
}

static bool start(struct ts_link *l, const char *const *arguments, int n, struct ts_error *why)
{
	char program[PATH_MAX], *argv[MAX_ARGUMENTS + 4] = { "tracestub", "sql", "--for-sqlite" };
	const struct timeval wait = { .tv_usec = WAIT_US };
	int fds[2];
	bool done;

	find_program(program);
	for (int i = 0; i < n && i < MAX_ARGUMENTS; i++)
		argv[3 + i] = (char *)(uintptr_t)arguments[i];
	l->messages = memfd_create("tracestub", MFD_CLOEXEC);
	if (l->messages < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return ts_fail_errno(why, "a process for the recording");
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	done = spawn(l, program, argv, fds[1], why);
	close(fds[1]);
	if (done)
		l->fd = fds[0];
	else
		close(fds[0]);
	return done;
}

/* The process ends when its reader has closed the socket. */
static void stop(struct ts_link *l)
{
	if (l->fd < 0)
		return;
	close(l->fd);
	l->fd = -1;
	if (l->owner != getpid())
		return;
	while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Pass on what the process wrote to its standard error: warnings about the recording. */
static void show_messages(struct ts_link *l)
{
	char piece[1024];
	ssize_t n;

	while ((n = pread(l->messages, piece, sizeof(piece), (off_t)l->n_shown)) > 0) {
		fwrite(piece, 1, (size_t)n, stderr);
		l->n_shown += (uint64_t)n;
	}
}

/* The lines of @text as one, without the program's name and without a hint at --help. */
static void join_lines(char *text, char *line, size_t len)
{
	char *save = NULL;
	size_t n = 0;

	*line = 0;
	for (char *p = strtok_r(text, "\n", &save); p && n < len; p = strtok_r(NULL, "\n", &save)) {
		p += strncmp(p, "tracestub: ", strlen("tracestub: ")) ? 0 : strlen("tracestub: ");
		if (!strstr(p, "--help' explains"))
			n += (size_t)snprintf(line + n, len - n, "%s%s", n ? "; " : "", p);
	}
}

/* The process has ended: what it wrote says why. */
static void fail_by_messages(struct ts_link *l, struct ts_error *why)
{
	char text[sizeof(why->text)] = "";
	ssize_t n = 0;
	off_t len = lseek(l->messages, 0, SEEK_END), from = len > (off_t)sizeof(text) - 1 ? len - (off_t)sizeof(text) + 1 : 0;
	char line[sizeof(text)];

	if (len > (off_t)l->n_shown)
		n = pread(l->messages, text, sizeof(text) - 1, from > (off_t)l->n_shown ? from : (off_t)l->n_shown);
	text[n > 0 ? n : 0] = 0;
	join_lines(text, line, sizeof(line));
	ts_fail(why, TS_EIO, TS_NO_OFF, "%s", *line ? line : "the process that reads the recording has ended");
	stop(l);
}

/* ------------------------------------------------------------------------------------------------- messages */

static bool send_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* The process takes SIGINT for the statement that it answers, and not at all between two, nor while it opens recordings. */
static void pass_on_stop(const struct ts_link *l)
{
	if (l->is_stopped(l->user))
		kill(l->pid, l->is_opening ? SIGTERM : SIGINT);
}

static bool receive(const struct ts_link *l, uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = read(l->fd, data, len);

		if (n < 0 && errno == EAGAIN)
			pass_on_stop(l);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* The next message.  Returns SQLite's result. */
static int read_reply(struct ts_link *l, struct ts_buf *reply, struct ts_cursor *c, struct ts_error *err)
{
	uint8_t head[4];
	uint32_t len, text_len;
	const char *text;
	int result;

	ts_error_reset(err);
	ts_buf_reset(reply);
	if (!receive(l, head, sizeof(head))) {
		fail_by_messages(l, err);
		return SQLITE_ERROR;
	}
	len = (uint32_t)head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
	if (len > TS_WIRE_MAX || !ts_buf_add(reply, len) || !receive(l, reply->data, len)) {
		stop(l);
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "an answer of %u bytes about the recording cannot be read", len);
		return SQLITE_ERROR;
	}
	show_messages(l);
	*c = ts_cursor(reply->data, len, 0, "answer about the recording", err);
	result = (int)ts_u32le(c);
	if (ts_ok(c) && result == SQLITE_OK)
		return SQLITE_OK;
	text = ts_wire_text(c, &text_len);
	ts_fail(err, TS_EUSAGE, TS_NO_OFF, "%.*s", (int)(text_len < sizeof(err->text) ? text_len : sizeof(err->text) - 1), text);
	return result == SQLITE_OK ? SQLITE_ERROR : result;
}

int ts_link_ask(struct ts_link *l, struct ts_buf *reply, struct ts_cursor *c, struct ts_error *err)
{
	ts_error_reset(err);
	ts_wire_finish(&l->request);
	if (l->owner != getpid()) {
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "this process is a copy of the one that opened the recording: open it again");
		return SQLITE_ERROR;
	}
	if (!ts_buf_ok(&l->request))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question"), SQLITE_NOMEM;
	if (l->fd < 0 || !send_all(l->fd, l->request.data, l->request.len)) {
		fail_by_messages(l, err);
		return SQLITE_ERROR;
	}
	return read_reply(l, reply, c, err);
}

/* -------------------------------------------------------------------------------------------------- its life */

static char *take_name(struct ts_cursor *c, struct ts_error *err)
{
	uint32_t len;
	const char *text = ts_wire_text(c, &len);
	char *copy = strndup(text, len);

	if (!copy)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for tables of the recording");
	return copy;
}

static bool take_hello(struct ts_link *l, struct ts_error *err)
{
	struct ts_buf hello;
	struct ts_cursor c;
	bool done;

	ts_buf_init(&hello);
	done = read_reply(l, &hello, &c, err) == SQLITE_OK;
	if (done) {
		l->n_tables = (uint32_t)ts_count(&c, ts_u32le(&c), 8);
		l->tables = calloc(l->n_tables + 1, sizeof(*l->tables));
		for (uint32_t i = 0; l->tables && i < l->n_tables && ts_ok(&c); i++) {
			l->tables[i].name = take_name(&c, err);
			l->tables[i].declaration = take_name(&c, err);
		}
		l->n_functions = (uint32_t)ts_count(&c, ts_u32le(&c), 5);
		l->functions = calloc(l->n_functions + 1, sizeof(*l->functions));
		for (uint32_t i = 0; l->functions && i < l->n_functions && ts_ok(&c); i++) {
			l->functions[i].name = take_name(&c, err);
			l->functions[i].n_arguments = ts_u8(&c);
		}
		if (!l->tables || !l->functions)
			ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for tables of the recording");
		done = ts_ok(&c);
	}
	ts_buf_fini(&hello);
	return done;
}

struct ts_link *ts_link_new(const char *const *arguments, int n, bool (*is_stopped)(void *user), void *user, struct ts_error *why)
{
	struct ts_link *l = calloc(1, sizeof(*l));

	if (!l) {
		ts_fail(why, TS_ENOMEM, TS_NO_OFF, "memory exhausted");
		return NULL;
	}
	*l = (struct ts_link){ .n_users = 1, .fd = -1, .messages = -1, .owner = getpid() };
	l->is_stopped = is_stopped;
	l->user = user;
	l->is_opening = true;
	ts_buf_init(&l->request);
	if (start(l, arguments, n, why) && take_hello(l, why)) {
		l->is_opening = false;
		return l;
	}
	ts_link_release(l);
	return NULL;
}

struct ts_link *ts_link_use(struct ts_link *l)
{
	l->n_users++;
	return l;
}

void ts_link_release(struct ts_link *l)
{
	if (!l || --l->n_users)
		return;
	stop(l);
	if (l->messages >= 0)
		close(l->messages);
	for (uint32_t i = 0; l->tables && i < l->n_tables; i++) {
		free(l->tables[i].name);
		free(l->tables[i].declaration);
	}
	for (uint32_t i = 0; l->functions && i < l->n_functions; i++)
		free(l->functions[i].name);
	free(l->tables);
	free(l->functions);
	ts_buf_fini(&l->request);
	free(l);
}

bool ts_link_take_cursor(struct ts_link *l, uint32_t *i)
{
	for (*i = 0; *i < sizeof(l->cursors) * 8; ++*i) {
		if (!(l->cursors[*i / 64] >> *i % 64 & 1)) {
			l->cursors[*i / 64] |= UINT64_C(1) << *i % 64;
			return true;
		}
	}
	return false;
}

void ts_link_return_cursor(struct ts_link *l, uint32_t i)
{
	l->cursors[i / 64] &= ~(UINT64_C(1) << i % 64);
}
