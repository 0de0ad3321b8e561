/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "protocol/packets/packets.h"
#include "protocol/session/symbol_tables.h"
#include "src/base/clock.h"
#include "src/base/log.h"

/* A peer that has vanished is noticed after about two minutes of silence, in seconds and probes. */
#define KEEPALIVE_IDLE  60
#define KEEPALIVE_EVERY 15
#define KEEPALIVE_TIMES 4

/* ------------------------------------------------------------------------------------------------- turns */

/* One turn, so that input of other clients is read before the next. */
static void on_turn(struct ev_loop *, struct ev_timer *w, int)
{
	struct rsp_server *sv = w->data;
	struct rsp_connection *c = rsp_server_whose_turn(sv);

	if (!c)
		return;
	c->turn = ++sv->turns;
	rsp_connection_work(c);
	rsp_connection_settle(c);
	rsp_server_wake(sv);
}

/* ----------------------------------------------------------------------------------------------- clients */

/* New clients wait until one ends. */
static void accept_later(struct rsp_server *sv)
{
	sv->is_full = true;
	ev_io_stop(sv->loop, &sv->acceptor);
}

/*
 * No descriptor was free, and the loop would try it again at once, all the time.  A client that has to wait
 * gets its turn when another one ends; without others the reserved descriptor is for accepting it: to serve
 * it if one is free by now, else to say no.  Returns the client's descriptor, or -1.
 */
static int accept_anyway(struct rsp_server *sv)
{
	int fd;

	if (sv->connections) {
		ts_log(TS_LOG_WARN, "too many open files: some clients have to wait");
		accept_later(sv);
		return -1;
	}
	close(sv->reserved_fd);
	fd = accept4(sv->acceptor.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	sv->reserved_fd = dup(sv->acceptor.fd);
	if (fd < 0 || sv->reserved_fd >= 0)
		return fd;
	ts_log(TS_LOG_WARN, "too many open files: a client is refused");
	close(fd);
	sv->reserved_fd = dup(sv->acceptor.fd);
	return -1;
}

/* They have no effect on a unix socket. */
static void set_tcp_options(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE },
		{ IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY },
		{ IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_TIMES },
	};

	for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			   sizeof(options[i].value));
}

static void on_connect(struct ev_loop *loop, struct ev_io *w, int)
{
	struct rsp_server *sv = w->data;
	struct ts_error err = { 0 };
	int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		fd = accept_anyway(sv);
	if (fd < 0)
		return;
	set_tcp_options(fd);
	if (!rsp_connection_open(sv, fd, fd, &err))
		ts_log(TS_LOG_ERROR, "%s", err.text);
	else if (sv->is_once)
		ev_io_stop(loop, w);
	else if (sv->n_connections == sv->opt->max_clients) {
		ts_log(TS_LOG_WARN, "there are %u clients: more have to wait (--max-clients)",
		       sv->n_connections);
		accept_later(sv);
	}
}

static void on_signal(struct ev_loop *, struct ev_signal *w, int)
{
	rsp_server_end_loop(w->data);
}

static void tell_all(struct rsp_server *sv)
{
	int64_t now = ts_now_ns();

	for (struct rsp_connection *c = sv->connections, *next; c; c = next) {
		next = c->next;
		rsp_connection_report(c, now);
	}
}

static void on_silent_job(struct ev_loop *loop, struct ev_timer *w, int)
{
	struct rsp_server *sv = w->data;

	tell_all(sv);
	if (!rsp_server_has_stuck_job(sv))
		ev_timer_stop(loop, w);
}

/* On any thread. */
static void send_symbols_read(void *user)
{
	struct rsp_server *sv = user;

	ev_async_send(sv->loop, &sv->symbols_read);
}

static void on_symbols_read(struct ev_loop *, struct ev_async *w, int)
{
	rsp_server_wake(w->data);
}

/* More has been read, or everything. */
static void has_grown(struct rsp_server *sv)
{
	if (!rsp_target_grow(&sv->target)) {
		ts_log(TS_LOG_ERROR, "no memory for the names of threads");
		rsp_server_end_loop(sv);
	}
	for (struct rsp_connection *c = sv->connections; c; c = c->next)
		rsp_tracing_grow(&c->session.tracing, sv->target.q);
}

static void on_idle(struct ev_loop *loop, struct ev_idle *w, int)
{
	struct rsp_server *sv = w->data;
	uint64_t last = ts_query_end(sv->target.q);

	sv->is_growing = sv->opt->grow(sv->opt->grow_user);
	tell_all(sv);
	if (!sv->is_growing)
		ev_idle_stop(loop, w);
	if (last != ts_query_end(sv->target.q) || !sv->is_growing)
		has_grown(sv);
	rsp_server_wake(sv); /* because more has been read, or a client has waited long enough */
}

static bool serve_stdio(struct rsp_server *sv, struct ts_error *err)
{
	int in = dup(STDIN_FILENO), out = in < 0 ? -1 : dup(STDOUT_FILENO);

	sv->is_once = true;
	if (out >= 0)
		return rsp_connection_open(sv, in, out, err);
	ts_fail_errno(err, "cannot duplicate the descriptor");
	if (in >= 0)
		close(in);
	return false;
}

static bool start(struct rsp_server *sv, struct ts_error *err)
{
	ev_idle_init(&sv->grower, on_idle);
	sv->grower.data = sv;
	if (sv->is_growing)
		ev_idle_start(sv->loop, &sv->grower);

	ev_async_init(&sv->symbols_read, on_symbols_read);
	sv->symbols_read.data = sv;
	ev_async_start(sv->loop, &sv->symbols_read);
	rsp_symbol_tables_notify(sv->target.symbols, send_symbols_read, sv);

	signal(SIGPIPE, SIG_IGN);
	ev_signal_init(&sv->interrupted, on_signal, SIGINT);
	ev_signal_init(&sv->terminated, on_signal, SIGTERM);
	sv->interrupted.data = sv->terminated.data = sv;
	ev_signal_start(sv->loop, &sv->interrupted);
	ev_signal_start(sv->loop, &sv->terminated);
	if (sv->opt->listener->is_stdio)
		return serve_stdio(sv, err);
	sv->reserved_fd = dup(sv->opt->listener->fd);
	if (sv->reserved_fd < 0)
		return ts_fail_errno(err, "cannot duplicate the descriptor");
	ev_io_init(&sv->acceptor, on_connect, sv->opt->listener->fd, EV_READ);
	sv->acceptor.data = sv;
	/* closed connections are handled before new ones, which may inherit their run */
	ev_set_priority(&sv->acceptor, EV_MINPRI + 1);
	ev_io_start(sv->loop, &sv->acceptor);
	return true;
}

static void stop(struct rsp_server *sv)
{
	ev_signal_stop(sv->loop, &sv->interrupted);
	ev_signal_stop(sv->loop, &sv->terminated);
	sv->is_once = false;
	ev_idle_stop(sv->loop, &sv->grower);
	while (sv->connections)
		rsp_connection_close(sv->connections);
	ev_timer_stop(sv->loop, &sv->worker);
	ev_timer_stop(sv->loop, &sv->teller);
	ev_async_stop(sv->loop, &sv->symbols_read);
	ev_io_stop(sv->loop, &sv->acceptor);
	if (sv->reserved_fd >= 0)
		close(sv->reserved_fd);
}

/* ------------------------------------------------------------------------------------------------- libev */

/* libev cannot do without memory, or a pipe for signals: it would abort without this. */
static void end_without(const char *what)
{
	ts_log(TS_LOG_ERROR, "the server ends: %s: %s", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void *allocate(void *p, long len)
{
	void *moved = NULL;

	if (!len)
		free(p);
	else if (!(moved = realloc(p, (size_t)len)))
		end_without("no memory for its events");
	return moved;
}

bool rsp_server_run(struct ts_query *q, const struct rsp_server_options *opt, struct ts_error *err)
{
	struct rsp_server sv = { .is_once = opt->is_once, .is_growing = opt->grow != NULL, .opt = opt, .reserved_fd = -1,
			     .budget.max = opt->max_memory };
	bool done = false;

	if (!rsp_target_init(&sv.target, q, opt->exec, err))
		return false;
	if (!rsp_packets_init(&sv.target.table, err) || (opt->has_local_files && !rsp_target_use_local_files(&sv.target, err)) ||
	    !rsp_target_locate(&sv.target, opt->exec_base, err) ||
	    (opt->arch && !rsp_target_force_arch(&sv.target, opt->arch, err))) {
		rsp_target_fini(&sv.target);
		return false;
	}
	sv.target.trace = opt->trace;
	if (sv.target.local) {
		sv.target.local->packed = opt->libraries;
		sv.target.local->n_packed = opt->n_libraries;
		sv.target.local->debug = opt->debug;
		sv.target.local->n_debug = opt->n_debug;
		sv.target.local->kept = opt->kept;
	}
	sv.target.is_client_local = opt->is_client_local;
	sv.target.budget = &sv.budget;
	sv.target.export_dir = opt->export_dir;
	sv.target.images = opt->images;
	sv.target.n_images = opt->n_images;
	sv.target.name_list = opt->name_list;
	sv.target.process = opt->process;
	sv.target.process_names = opt->process_names;
	sv.target.kept = &sv.kept;
	ev_set_allocator(allocate);
	ev_set_syserr_cb(end_without);
	sv.loop = ev_loop_new(EVFLAG_AUTO);
	ev_timer_init(&sv.worker, on_turn, 0., 0.);
	ev_set_priority(&sv.worker, EV_MINPRI); /* what came in during a turn is read before the next */
	ev_timer_init(&sv.teller, on_silent_job, 0., (double)RSP_NOTE_NS / 1e9);
	sv.worker.data = sv.teller.data = &sv;
	if (!sv.loop) {
		ts_fail(err, TS_EIO, TS_NO_OFF, "libev has no usable way to wait for events");
	} else {
		done = start(&sv, err);
		if (done && opt->ready) /* from here on a signal ends it cleanly */
			opt->ready(opt->user, opt->listener->address);
		if (done)
			ev_run(sv.loop, 0);
		stop(&sv);
	}
	rsp_collector_free(sv.kept);
	rsp_target_fini(&sv.target); /* its thread uses the loop */
	if (sv.loop)
		ev_loop_destroy(sv.loop);
	return done;
}
