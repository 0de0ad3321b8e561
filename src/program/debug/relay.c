/* SPDX-License-Identifier: MIT */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/wire/guard.h"
#include "src/base/log.h"

/* A debugger has one connection; others may be made by its user. */
#define MAX_PAIRS 16
#define PIECE_LEN 65536u

/* Bytes on their way, not sent yet. */
struct lane {
	uint8_t bytes[PIECE_LEN + RSP_GUARD_HEAD];
	size_t first, n; /* which of them */
};

struct pair {
	int debugger, server; /* owned */
	struct lane to_server, to_debugger;
	struct rsp_guard guard; /* of to_debugger */
	bool is_ending; /* the server has ended: what is on its way is still delivered */
};

struct ts_relay {
	int listener;	  /* owned */
	struct sockaddr_un front, back;
	struct pair *pairs[MAX_PAIRS]; /* owned */
	size_t n;
	uint8_t piece[PIECE_LEN];
};

static bool name_socket(struct sockaddr_un *addr, const char *path, struct ts_error *err)
{
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(addr->sun_path))
		return ts_fail(err, TS_EIO, TS_NO_OFF, "%s: too long for the name of a socket", path);
	strcpy(addr->sun_path, path);
	return true;
}

static bool relay_listen(struct ts_relay *r, struct ts_error *err)
{
	mode_t mask = umask(0177); /* the socket is this user's */
	bool done;

	r->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	done = r->listener >= 0 && !bind(r->listener, (struct sockaddr *)&r->front, sizeof(r->front)) &&
	       !listen(r->listener, MAX_PAIRS);
	umask(mask);
	return done || ts_fail_errno(err, "cannot listen at %s", r->front.sun_path);
}

struct ts_relay *ts_relay_new(const char *front, const char *back, struct ts_error *err)
{
	struct ts_relay *r = calloc(1, sizeof(*r));

	if (!r)
		return ts_no_memory(err, "a connection");
	r->listener = -1;
	if (name_socket(&r->front, front, err) && name_socket(&r->back, back, err) && relay_listen(r, err))
		return r;
	ts_relay_free(r);
	return NULL;
}

static void pair_free(struct pair *p)
{
	close(p->debugger);
	close(p->server);
	free(p);
}

void ts_relay_free(struct ts_relay *r)
{
	if (!r)
		return;
	while (r->n)
		pair_free(r->pairs[--r->n]);
	if (r->listener >= 0)
		close(r->listener);
	unlink(r->front.sun_path);
	free(r);
}

/* ------------------------------------------------------------------------------------------- connections */

/* -1 if the server is gone. */
static int connect_server(const struct ts_relay *r)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || (!connect(fd, (const struct sockaddr *)&r->back, sizeof(r->back)) &&
		       fcntl(fd, F_SETFL, O_NONBLOCK) >= 0))
		return fd;
	close(fd);
	return -1;
}

static void accept_debugger(struct ts_relay *r)
{
	int debugger = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int server = debugger < 0 ? -1 : connect_server(r);
	struct pair *p = server < 0 ? NULL : calloc(1, sizeof(*p));

	if (p) {
		p->debugger = debugger;
		p->server = server;
		r->pairs[r->n++] = p;
		return;
	}
	if (debugger >= 0)
		close(debugger);
	if (server >= 0)
		close(server);
}

/* ------------------------------------------------------------------------------------------------- lanes */

static bool is_transient(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* Returns false if the other end is gone. */
static bool lane_send(struct lane *l, int fd)
{
	ssize_t n = l->n ? send(fd, l->bytes + l->first, l->n, MSG_NOSIGNAL) : 0;

	if (n < 0)
		return is_transient();
	l->first += (size_t)n;
	l->n -= (size_t)n;
	return true;
}

/* Returns false if the debugger is gone. */
static bool take_from_debugger(struct pair *p)
{
	ssize_t n = read(p->debugger, p->to_server.bytes, PIECE_LEN);

	if (n <= 0)
		return n < 0 && is_transient();
	p->to_server.first = 0;
	p->to_server.n = (size_t)n;
	return lane_send(&p->to_server, p->server);
}

/* Returns false if the debugger is gone. */
static bool take_from_server(struct ts_relay *r, struct pair *p)
{
	ssize_t n = read(p->server, r->piece, PIECE_LEN);

	if (n < 0 && is_transient())
		return true;
	p->to_debugger.first = 0;
	p->to_debugger.n = 0;
	p->is_ending = n <= 0;
	if (n > 0 && !rsp_guard_take(&p->guard, r->piece, (size_t)n, p->to_debugger.bytes, &p->to_debugger.n)) {
		ts_log(TS_LOG_ERROR, "the server sent %s: its connection to the debugger is closed", p->guard.why);
		p->is_ending = true;
	}
	return lane_send(&p->to_debugger, p->debugger);
}

/* Move data as the events of both sockets allow.  Returns false if the connection is over. */
static bool pair_run(struct ts_relay *r, struct pair *p, const struct pollfd *debugger, const struct pollfd *server)
{
	const int arrived = POLLIN | POLLHUP | POLLERR;

	if (p->to_server.n && server->revents & (POLLOUT | POLLERR) && !lane_send(&p->to_server, p->server))
		return false;
	if (p->to_debugger.n && debugger->revents & (POLLOUT | POLLERR) && !lane_send(&p->to_debugger, p->debugger))
		return false;
	if (!p->to_server.n && debugger->revents & arrived && !take_from_debugger(p))
		return false;
	if (!p->to_debugger.n && !p->is_ending && server->revents & arrived && !take_from_server(r, p))
		return false;
	return !p->is_ending || p->to_debugger.n;
}

/* A side is read when what it sent before has been delivered: the relay holds a piece of each, and no more. */
static struct pollfd watch(int fd, const struct lane *from, const struct lane *to)
{
	short events = (short)((from->n ? 0 : POLLIN) | (to->n ? POLLOUT : 0));

	return (struct pollfd){ .fd = events ? fd : -1, .events = events }; /* poll() always reports that it was closed */
}

static size_t fill(const struct ts_relay *r, struct pollfd *fds)
{
	size_t n = 0;

	fds[n++] = (struct pollfd){ .fd = r->n < MAX_PAIRS ? r->listener : -1, .events = POLLIN };
	for (size_t i = 0; i < r->n; i++) {
		const struct pair *p = r->pairs[i];

		fds[n++] = watch(p->debugger, &p->to_server, &p->to_debugger);
		fds[n++] = watch(p->is_ending ? -1 : p->server, &p->to_debugger, &p->to_server);
	}
	return n;
}

static void run_pairs(struct ts_relay *r, const struct pollfd *fds)
{
	size_t kept = 0, n = r->n;

	for (size_t i = 0; i < n; i++) {
		struct pair *p = r->pairs[i];

		if (pair_run(r, p, &fds[2 * i + 1], &fds[2 * i + 2]))
			r->pairs[kept++] = p;
		else
			pair_free(p);
	}
	r->n = kept;
}

int ts_relay_run(struct ts_relay *r, pid_t pid, const sigset_t *waiting)
{
	struct pollfd fds[1 + 2 * MAX_PAIRS];
	int status = EXIT_FAILURE << 8;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (ppoll(fds, fill(r, fds), NULL, waiting) < 0)
			continue; /* a child has ended, or a signal was passed on */
		run_pairs(r, fds);
		if (fds[0].revents & POLLIN)
			accept_debugger(r);
	}
	return status;
}
