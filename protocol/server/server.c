/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listen.h"
#include "protocol/session/dispatch.h"
#include "protocol/session/symbol_tables.h"
#include "protocol/wire/framing.h"
#include "src/base/clock.h"
#include "src/base/log.h"

#define READ_LEN 65536

/* A client that does not read its replies, or sends far ahead of them, is not read for a while. */
#define MAX_UNSENT  (1u << 20)
#define MAX_WAITING (1u << 20)

/* A peer that has vanished is noticed after about two minutes of silence, in seconds and probes. */
#define KEEPALIVE_IDLE  60
#define KEEPALIVE_EVERY 15
#define KEEPALIVE_TIMES 4

/* One client. */
struct connection {
	struct server *server;
	struct connection *next, **link; /* in the server's list */
	int in_fd, out_fd;               /* owned; the same one but for stdio */
	struct ev_io reader, writer;
	struct ev_timer greeting; /* runs until the client says something */
	struct rsp_framing frame;
	struct rsp_session session;
	struct rsp_reply reply;
	struct ts_buf waiting; /* packets not handled yet, each a struct waiting_packet and its payload */
	bool is_known;         /* its first byte was valid in the protocol */
	bool has_lost_text;    /* memory was exhausted for console output */
	bool is_eof;           /* no more input: what was received is answered */
	uint64_t turn;         /* when it had its last turn */
};

struct waiting_packet {
	uint32_t len;
	bool is_oversize;  /* its payload was discarded */
	bool is_interrupt; /* not a packet, but a ^C that came after the previous packet */
};

struct server {
	struct ev_loop *loop;
	struct rsp_target target;
	struct ev_io acceptor;
	int reserved_fd; /* closed where all others are in use, to accept a client and refuse it; -1: none */
	struct ev_timer worker; /* fires at once while a connection has work to do */
	uint64_t turns;
	struct ev_signal interrupted, terminated;
	struct ev_async symbols_read; /* sent by the thread that has read a table */
	struct ev_timer teller; /* runs while a job is stuck, to tell its client the progress */
	struct ev_idle grower; /* continues reading the recording when no client has work */
	bool is_growing;
	const struct rsp_server_options *opt;
	struct connection *connections; /* owned */
	struct rsp_frame_budget budget; /* of all clients' trace frames */
	struct rsp_collector *kept; /* owned; the run of a client that has gone */
	bool is_once;
	unsigned n_connections;
	bool is_full; /* of clients, or out of descriptors: the next client that ends makes room */
	bool is_ending;
};

/* Leave the event loop, also those within it. */
static void end_loop(struct server *sv)
{
	sv->is_ending = true;
	ev_break(sv->loop, EVBREAK_ALL);
}

/* ------------------------------------------------------------------------------------ a connection's life */

static void close_connection(struct connection *c)
{
	struct server *sv = c->server;

	ev_io_stop(sv->loop, &c->reader);
	ev_io_stop(sv->loop, &c->writer);
	ev_timer_stop(sv->loop, &c->greeting);
	*c->link = c->next;
	sv->n_connections--;
	if (c->next)
		c->next->link = c->link;
	rsp_session_fini(&c->session);
	rsp_reply_fini(&c->reply);
	rsp_framing_fini(&c->frame);
	ts_buf_fini(&c->waiting);
	if (c->out_fd != c->in_fd)
		close(c->out_fd);
	close(c->in_fd);
	free(c);
	if (sv->is_once)
		end_loop(sv);
	if (sv->is_full)
		ev_io_start(sv->loop, &sv->acceptor);
	sv->is_full = false;
}

/* A connection that ended in another way than by a client that goes. */
static void warn_of_failure(void)
{
	if (errno != ECONNRESET && errno != EPIPE)
		ts_log(TS_LOG_WARN, "the connection to a client failed: %s", strerror(errno));
}

/* Send pending output.  Returns false if the connection has failed. */
static bool flush(struct connection *c)
{
	struct ts_buf *out = &c->frame.out;

	while (out->len) {
		ssize_t n = write(c->out_fd, out->data, out->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			warn_of_failure();
			return false;
		}
		if (n < 0)
			break;
		ts_buf_consume(out, (size_t)n);
	}
	if (out->len)
		ev_io_start(c->server->loop, &c->writer);
	else
		ev_io_stop(c->server->loop, &c->writer);
	if (c->is_eof || out->len > MAX_UNSENT || c->waiting.len > MAX_WAITING)
		ev_io_stop(c->server->loop, &c->reader);
	else
		ev_io_start(c->server->loop, &c->reader);
	return true;
}

/* Text for the client's console is sent before the reply, in "O" packets that fit its limit. */
static void send_console(struct connection *c)
{
	struct ts_buf *text = &c->session.console;
	size_t max = RSP_PACKET_SIZE / 2 - 1;

	c->has_lost_text |= !ts_buf_ok(text);
	for (size_t off = 0; off < text->len; off += max) {
		size_t n = text->len - off < max ? text->len - off : max;
		struct ts_buf packet;

		ts_buf_init(&packet);
		ts_buf_putc(&packet, 'O');
		ts_buf_hex(&packet, text->data + off, n);
		if (ts_buf_ok(&packet))
			rsp_framing_send(&c->frame, packet.data, packet.len, RSP_TEXT);
		else
			c->has_lost_text = true;
		ts_buf_fini(&packet);
	}
	ts_buf_reset(text);
}

static void send_reply(struct connection *c)
{
	send_console(c);
	rsp_reply_finish(&c->reply);
	ts_log(TS_LOG_DEBUG, "<- %.*s", (int)(c->reply.is_binary ? 0 : c->reply.len),
	       (const char *)c->reply.data);
	rsp_framing_send(&c->frame, c->reply.data, c->reply.len, c->reply.is_binary ? RSP_BINARY : RSP_TEXT);
	if (c->session.wants_noack) {
		rsp_framing_stop_acks(&c->frame);
		c->session.wants_noack = false;
	}
}

static void handle_packet(struct connection *c, const struct waiting_packet *packet, const uint8_t *payload)
{
	bool has_reply = true;

	rsp_reply_reset(&c->reply);
	if (packet->is_oversize) {
		rsp_reply_error_text(&c->reply, "a packet has at most %u characters", RSP_PACKET_SIZE);
	} else {
		ts_log(TS_LOG_DEBUG, "-> %.*s", (int)packet->len, (const char *)payload);
		has_reply = rsp_dispatch_packet(&c->session, payload, packet->len, &c->reply);
	}
	if (has_reply)
		send_reply(c);
	else
		send_console(c);
}

/* A ^C that came after the packet just handled is for its job.  Returns the offset of the next packet. */
static size_t take_interrupts(struct connection *c, size_t off)
{
	struct waiting_packet packet;

	while (off < c->waiting.len) {
		memcpy(&packet, c->waiting.data + off, sizeof(packet));
		if (!packet.is_interrupt)
			break;
		rsp_session_interrupt(&c->session);
		off += sizeof(packet);
	}
	return off;
}

/* Handle the packet at @off, and return the offset of the next one. */
static size_t handle_waiting(struct connection *c, size_t off)
{
	struct waiting_packet packet;

	memcpy(&packet, c->waiting.data + off, sizeof(packet));
	off += sizeof(packet);
	handle_packet(c, &packet, c->waiting.data + off);
	if (c->is_eof && rsp_session_is_running(&c->session))
		rsp_session_interrupt(&c->session);
	return take_interrupts(c, off + packet.len);
}

/* A client that does not read its output gets no more. */
static bool is_clogged(const struct connection *c)
{
	return c->frame.out.len > MAX_UNSENT;
}

static bool has_packets(const struct connection *c, size_t off)
{
	return off < c->waiting.len && !c->session.is_closing && !is_clogged(c);
}

/*
 * Packets are answered in order: they wait for the end of a run, and until the client has read its replies
 * and the output of a run.
 */
static bool has_work(const struct connection *c)
{
	return (rsp_session_is_running(&c->session) && !is_clogged(c) &&
		!rsp_job_is_stuck(&c->session.job, &c->session)) ||
	       (!rsp_session_is_running(&c->session) && has_packets(c, 0));
}

/* Work for which the client does not wait, and which ends with the client. */
static bool has_chores(const struct connection *c)
{
	return !c->is_eof && rsp_session_has_chores(&c->session);
}

/* One turn: a slice of a run, or the waiting packets, as far as time allows, and a slice of other work. */
static void work(struct connection *c)
{
	int64_t end = ts_now_ns() + TS_SLICE_NS;
	size_t off = 0;

	if (rsp_session_is_running(&c->session) && !is_clogged(c)) {
		rsp_reply_reset(&c->reply);
		if (rsp_session_run(&c->session, &c->reply))
			send_reply(c);
		else
			send_console(c);
	}
	while (!rsp_session_is_running(&c->session) && has_packets(c, off) && ts_now_ns() < end)
		off = handle_waiting(c, off);
	ts_buf_consume(&c->waiting, off);
	if (has_chores(c))
		rsp_session_do_chores(&c->session);
}

static void add_waiting(struct connection *c, bool is_oversize)
{
	struct waiting_packet packet = { is_oversize ? 0 : (uint32_t)c->frame.len, is_oversize, false };

	ts_buf_put(&c->waiting, &packet, sizeof(packet));
	ts_buf_put(&c->waiting, c->frame.payload, packet.len);
}

/* ^C is for the current job, or for that of the last waiting packet. */
static void interrupt(struct connection *c)
{
	static const struct waiting_packet mark = { .is_interrupt = true };

	if (c->waiting.len && !rsp_session_is_running(&c->session))
		ts_buf_put(&c->waiting, &mark, sizeof(mark));
	else
		rsp_session_interrupt(&c->session);
}

static void handle_event(struct connection *c, enum rsp_event ev)
{
	switch (ev) {
	case RSP_EV_PACKET: add_waiting(c, false); break;
	case RSP_EV_OVERSIZE: add_waiting(c, true); break;
	case RSP_EV_INTERRUPT: interrupt(c); break;
	case RSP_EV_NONE:
	case RSP_EV_ACK:
	case RSP_EV_NAK:
	case RSP_EV_BADSUM: break;
	}
}

static bool is_finished(const struct connection *c)
{
	return !c->frame.out.len && (c->session.is_closing || (c->is_eof && !has_work(c)));
}

/* The connection with work that has waited longest for its turn. */
static struct connection *whose_turn(const struct server *sv)
{
	struct connection *first = NULL;

	for (struct connection *c = sv->connections; c; c = c->next) {
		if ((has_work(c) || has_chores(c)) && (!first || c->turn < first->turn))
			first = c;
	}
	return first;
}

static bool has_stuck_job(const struct server *sv)
{
	for (const struct connection *c = sv->connections; c; c = c->next) {
		if (rsp_job_is_stuck(&c->session.job, &c->session))
			return true;
	}
	return false;
}

/* Schedule a turn if a connection has work. */
static void wake(struct server *sv)
{
	if (!ev_is_active(&sv->teller) && has_stuck_job(sv))
		ev_timer_again(sv->loop, &sv->teller);
	if (!whose_turn(sv) || ev_is_active(&sv->worker))
		return;
	ev_timer_set(&sv->worker, 0., 0.);
	ev_timer_start(sv->loop, &sv->worker);
}

/* Was something that the client said, or is told, lost?  It would take what follows for the answer. */
static bool has_lost(const struct connection *c)
{
	bool is_lost = c->has_lost_text || !rsp_framing_ok(&c->frame) || !ts_buf_ok(&c->waiting);

	if (is_lost)
		ts_log(TS_LOG_WARN, "no memory for the packets of a client: it was disconnected");
	return is_lost;
}

/*
 * After any event on a connection: send, schedule work, or end.
 *
 * Returns false if the connection is gone.
 */
static bool settle(struct connection *c)
{
	if (has_lost(c) || !flush(c) || is_finished(c)) {
		close_connection(c);
		return false;
	}
	wake(c->server);
	return true;
}

/* A client that has closed its end still gets its answers.  But it has probably gone, so its run is ended. */
static void end_input(struct connection *c)
{
	c->is_eof = true;
	if (rsp_session_is_running(&c->session))
		rsp_session_interrupt(&c->session);
}

/* Read; if there is no input yet, wait until @until. */
static ssize_t read_soon(int fd, uint8_t *bytes, size_t len, int64_t until)
{
	ssize_t n;

	while ((n = read(fd, bytes, len)) < 0 && errno == EAGAIN && ts_now_ns() < until)
		sched_yield();
	return n;
}

/*
 * Does a client that begins with this byte speak the protocol?  Any web page can send requests to a port of
 * this machine, with packets in their bodies; those begin with a letter.
 */
static bool is_known(struct connection *c, uint8_t first)
{
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes */
	if (!c->is_known && !memchr("+-$\x03", first, 4)) {
		ts_log(TS_LOG_WARN, "a client that does not speak the remote protocol was disconnected");
		return false;
	}
	c->is_known = true;
	ev_timer_stop(c->server->loop, &c->greeting);
	return true;
}

/*
 * Read the client's input, and answer it.
 *
 * Returns false if there was no input or it was the last, or if the connection is gone.
 */
static bool take_input(struct connection *c, int64_t until)
{
	uint8_t bytes[READ_LEN];
	const uint8_t *next = bytes;
	ssize_t n = read_soon(c->in_fd, bytes, sizeof(bytes), until);
	size_t left = n > 0 ? (size_t)n : 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < 0)
		warn_of_failure();
	if (n < 0 || (n > 0 && !is_known(c, bytes[0]))) {
		close_connection(c);
		return false;
	}
	while (left)
		handle_event(c, rsp_framing_feed(&c->frame, &next, &left));
	if (!n)
		end_input(c);
	if (ts_buf_ok(&c->waiting)) /* otherwise it may end in the middle of a packet */
		work(c);
	return settle(c) && n > 0;
}

/* Is there nothing to do except to wait for this client's next packet?  The connection may be gone. */
static bool is_idle(const struct server *sv, const struct connection *c)
{
	return sv->connections == c && !c->next && ev_is_active(&c->reader) && !sv->is_growing &&
	       !whose_turn(sv);
}

/*
 * How long the server polls for a client's next packet: packets come in dozens, and sleeping and waking up
 * takes longer than answering one.  On a busy machine the client has the processor meanwhile.
 */
#define LINGER_NS INT64_C(50000)

static void on_readable(struct ev_loop *loop, struct ev_io *w, int events)
{
	struct connection *c = w->data;
	struct server *sv = c->server;
	int64_t now = ts_now_ns(), end = now + TS_SLICE_NS; /* then signals and other clients are checked */
	bool has_input = take_input(c, 0);

	(void)loop;
	(void)events;
	while (has_input && is_idle(sv, c) && (now = ts_now_ns()) < end)
		has_input = take_input(c, now + LINGER_NS);
}

static void on_writable(struct ev_loop *loop, struct ev_io *w, int events)
{
	(void)loop;
	(void)events;
	settle(w->data);
}

/* One turn, so that input of other clients is read before the next. */
static void on_turn(struct ev_loop *loop, struct ev_timer *w, int events)
{
	struct server *sv = w->data;
	struct connection *c = whose_turn(sv);

	(void)loop;
	(void)events;
	if (!c)
		return;
	c->turn = ++sv->turns;
	work(c);
	settle(c);
	wake(sv);
}

static void on_silence(struct ev_loop *loop, struct ev_timer *w, int events)
{
	struct connection *c = w->data;

	(void)loop;
	(void)events;
	ts_log(TS_LOG_WARN, "a client that said nothing for %g s was disconnected",
	       c->server->opt->silence_s);
	close_connection(c);
}

static void set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static bool init_parts(struct connection *c, struct ts_error *err)
{
	if (!rsp_framing_init(&c->frame, RSP_PACKET_SIZE, err))
		return false;
	if (!rsp_reply_init(&c->reply, RSP_PACKET_SIZE, err)) {
		rsp_framing_fini(&c->frame);
		return false;
	}
	if (rsp_session_init(&c->session, &c->server->target, err))
		return true;
	rsp_reply_fini(&c->reply);
	rsp_framing_fini(&c->frame);
	return false;
}

/* Takes ownership of the descriptors, on failure too. */
static bool open_connection(struct server *sv, int in_fd, int out_fd, struct ts_error *err)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (c)
		c->server = sv;
	if (!c || !init_parts(c, err)) {
		free(c);
		close(in_fd);
		if (out_fd != in_fd)
			close(out_fd);
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for another client");
	}
	c->in_fd = in_fd;
	c->out_fd = out_fd;
	set_nonblocking(in_fd);
	set_nonblocking(out_fd);
	c->next = sv->connections;
	c->link = &sv->connections;
	if (c->next)
		c->next->link = &c->next;
	sv->connections = c;
	sv->n_connections++;
	ev_io_init(&c->reader, on_readable, in_fd, EV_READ);
	ev_io_init(&c->writer, on_writable, out_fd, EV_WRITE);
	ev_timer_init(&c->greeting, on_silence, sv->opt->silence_s, 0.);
	c->reader.data = c->writer.data = c->greeting.data = c;
	ev_io_start(sv->loop, &c->reader);
	if (!sv->opt->listener->is_stdio && sv->opt->silence_s > 0)
		ev_timer_start(sv->loop, &c->greeting);
	return true;
}

/* --------------------------------------------------------------------------------------------- the server */

/* New clients wait until one ends. */
static void accept_later(struct server *sv)
{
	sv->is_full = true;
	ev_io_stop(sv->loop, &sv->acceptor);
}

/*
 * No descriptor was free, and the loop would try it again at once, all the time.  A client that has to wait
 * gets its turn when another one ends; without others the reserved descriptor is for accepting it: to serve
 * it if one is free by now, else to say no.  Returns the client's descriptor, or -1.
 */
static int accept_anyway(struct server *sv)
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

static void on_connect(struct ev_loop *loop, struct ev_io *w, int events)
{
	struct server *sv = w->data;
	struct ts_error err;
	int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		fd = accept_anyway(sv);
	if (fd < 0)
		return;
	set_tcp_options(fd);
	ts_error_reset(&err);
	if (!open_connection(sv, fd, fd, &err))
		ts_log(TS_LOG_ERROR, "%s", err.text);
	else if (sv->is_once)
		ev_io_stop(loop, w);
	else if (sv->n_connections == sv->opt->max_clients) {
		ts_log(TS_LOG_WARN, "there are %u clients: more have to wait (--max-clients)",
		       sv->n_connections);
		accept_later(sv);
	}
}

static void on_signal(struct ev_loop *loop, struct ev_signal *w, int events)
{
	(void)loop;
	(void)events;
	end_loop(w->data);
}

/* Tell waiting clients the progress. */
static void tell(struct connection *c, int64_t now)
{
	if (!rsp_job_is_stuck(&c->session.job, &c->session) || is_clogged(c))
		return;
	rsp_job_tell(&c->session.job, &c->session, &c->session.console, now);
	if (!c->session.console.len)
		return;
	send_console(c);
	if (has_lost(c) || !flush(c))
		close_connection(c);
}

static void tell_all(struct server *sv)
{
	int64_t now = ts_now_ns();

	for (struct connection *c = sv->connections, *next; c; c = next) {
		next = c->next;
		tell(c, now);
	}
}

static void on_silent_job(struct ev_loop *loop, struct ev_timer *w, int events)
{
	struct server *sv = w->data;

	(void)events;
	tell_all(sv);
	if (!has_stuck_job(sv))
		ev_timer_stop(loop, w);
}

/* On any thread. */
static void send_symbols_read(void *user)
{
	struct server *sv = user;

	ev_async_send(sv->loop, &sv->symbols_read);
}

static void on_symbols_read(struct ev_loop *loop, struct ev_async *w, int events)
{
	(void)loop;
	(void)events;
	wake(w->data);
}

/* More has been read, or everything. */
static void has_grown(struct server *sv)
{
	if (!rsp_target_grow(&sv->target)) {
		ts_log(TS_LOG_ERROR, "no memory for the names of threads");
		end_loop(sv);
	}
	for (struct connection *c = sv->connections; c; c = c->next)
		rsp_tracing_grow(&c->session.tracing, sv->target.q);
}

static void on_idle(struct ev_loop *loop, struct ev_idle *w, int events)
{
	struct server *sv = w->data;
	uint64_t last = ts_query_end(sv->target.q);

	(void)events;
	sv->is_growing = sv->opt->grow(sv->opt->grow_user);
	tell_all(sv);
	if (!sv->is_growing)
		ev_idle_stop(loop, w);
	if (last != ts_query_end(sv->target.q) || !sv->is_growing)
		has_grown(sv);
	wake(sv); /* because more has been read, or a client has waited long enough */
}

static bool serve_stdio(struct server *sv, struct ts_error *err)
{
	int in = dup(STDIN_FILENO), out = in < 0 ? -1 : dup(STDOUT_FILENO);

	sv->is_once = true;
	if (out >= 0)
		return open_connection(sv, in, out, err);
	ts_fail_errno(err, "cannot have another descriptor");
	if (in >= 0)
		close(in);
	return false;
}

static bool start(struct server *sv, struct ts_error *err)
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
		return ts_fail_errno(err, "cannot have another descriptor");
	ev_io_init(&sv->acceptor, on_connect, sv->opt->listener->fd, EV_READ);
	sv->acceptor.data = sv;
	/* closed connections are handled before new ones, which may inherit their run */
	ev_set_priority(&sv->acceptor, EV_MINPRI + 1);
	ev_io_start(sv->loop, &sv->acceptor);
	return true;
}

static void stop(struct server *sv)
{
	ev_signal_stop(sv->loop, &sv->interrupted);
	ev_signal_stop(sv->loop, &sv->terminated);
	sv->is_once = false;
	ev_idle_stop(sv->loop, &sv->grower);
	while (sv->connections)
		close_connection(sv->connections);
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
	struct server sv = { .is_once = opt->is_once, .is_growing = opt->grow != NULL, .opt = opt, .reserved_fd = -1,
			     .budget.max = opt->max_memory };
	bool done = false;

	if (!rsp_target_init(&sv.target, q, opt->exec, err))
		return false;
	if ((opt->has_local_files && !rsp_target_use_local_files(&sv.target, err)) ||
	    !rsp_target_locate(&sv.target, opt->exec_base, err) ||
	    (opt->arch && !rsp_target_force_arch(&sv.target, opt->arch, err))) {
		rsp_target_fini(&sv.target);
		return false;
	}
	sv.target.trace = opt->trace;
	if (sv.target.local) {
		sv.target.local->packed = opt->libraries;
		sv.target.local->n_packed = opt->n_libraries;
	}
	sv.target.is_client_local = opt->is_client_local;
	sv.target.budget = &sv.budget;
	sv.target.export_dir = opt->export_dir;
	sv.target.images = opt->images;
	sv.target.n_images = opt->n_images;
	sv.target.name_list = opt->name_list;
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
