/* SPDX-License-Identifier: MIT */
#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/log.h"

#define READ_LEN 65536

/* A client that does not read its replies, or sends far ahead of them, is not read for a while. */
#define MAX_UNSENT  (1u << 20)
#define MAX_WAITING (1u << 20)

struct waiting_packet {
	uint32_t len;
	bool is_oversize;  /* its payload was discarded */
	bool is_interrupt; /* not a packet, but a ^C that came after the previous packet */
};

void rsp_server_end_loop(struct rsp_server *sv)
{
	ev_break(sv->loop, EVBREAK_ONE);
}


void rsp_connection_close(struct rsp_connection *c)
{
	struct rsp_server *sv = c->server;

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
		rsp_server_end_loop(sv);
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
static bool flush(struct rsp_connection *c)
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
static void send_console(struct rsp_connection *c)
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

static void send_reply(struct rsp_connection *c)
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

static void handle_packet(struct rsp_connection *c, const struct waiting_packet *packet, const uint8_t *payload)
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
static size_t take_interrupts(struct rsp_connection *c, size_t off)
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
static size_t handle_waiting(struct rsp_connection *c, size_t off)
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
static bool is_clogged(const struct rsp_connection *c)
{
	return c->frame.out.len > MAX_UNSENT;
}

static bool has_packets(const struct rsp_connection *c, size_t off)
{
	return off < c->waiting.len && !c->session.is_closing && !is_clogged(c);
}

/*
 * Packets are answered in order: they wait for the end of a run, and until the client has read its replies
 * and the output of a run.
 */
static bool has_work(const struct rsp_connection *c)
{
	return (rsp_session_is_running(&c->session) && !is_clogged(c) &&
		!rsp_job_is_stuck(&c->session.job, &c->session)) ||
	       (!rsp_session_is_running(&c->session) && has_packets(c, 0));
}

/* Work for which the client does not wait, and which ends with the client. */
static bool has_chores(const struct rsp_connection *c)
{
	return !c->is_eof && rsp_session_has_background(&c->session);
}

bool rsp_connection_wants_turn(const struct rsp_connection *c)
{
	return has_work(c) || has_chores(c);
}

void rsp_connection_work(struct rsp_connection *c)
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
		rsp_session_do_background(&c->session);
}

static void add_waiting(struct rsp_connection *c, bool is_oversize)
{
	struct waiting_packet packet = { is_oversize ? 0 : (uint32_t)c->frame.len, is_oversize, false };

	ts_buf_put(&c->waiting, &packet, sizeof(packet));
	ts_buf_put(&c->waiting, c->frame.payload, packet.len);
}

/* ^C is for the current job, or for that of the last waiting packet. */
static void interrupt(struct rsp_connection *c)
{
	static const struct waiting_packet mark = { .is_interrupt = true };

	if (c->waiting.len && !rsp_session_is_running(&c->session))
		ts_buf_put(&c->waiting, &mark, sizeof(mark));
	else
		rsp_session_interrupt(&c->session);
}

static void handle_event(struct rsp_connection *c, enum rsp_event ev)
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

static bool is_finished(const struct rsp_connection *c)
{
	return !c->frame.out.len && (c->session.is_closing || (c->is_eof && !has_work(c)));
}

/* Was a part of a packet or of a reply lost? The client would regard the next reply as the answer. */
static bool has_lost(const struct rsp_connection *c)
{
	bool is_lost = c->has_lost_text || !rsp_framing_ok(&c->frame) || !ts_buf_ok(&c->waiting);

	if (is_lost)
		ts_log(TS_LOG_WARN, "no memory for the packets of a client: it was disconnected");
	return is_lost;
}

/* ------------------------------------------------------------------------------------------------- turns */

struct rsp_connection *rsp_server_whose_turn(const struct rsp_server *sv)
{
	struct rsp_connection *first = NULL;

	for (struct rsp_connection *c = sv->connections; c; c = c->next) {
		if (rsp_connection_wants_turn(c) && (!first || c->turn < first->turn))
			first = c;
	}
	return first;
}

bool rsp_server_has_stuck_job(const struct rsp_server *sv)
{
	for (const struct rsp_connection *c = sv->connections; c; c = c->next) {
		if (rsp_job_is_stuck(&c->session.job, &c->session))
			return true;
	}
	return false;
}

void rsp_server_wake(struct rsp_server *sv)
{
	if (!ev_is_active(&sv->teller) && rsp_server_has_stuck_job(sv))
		ev_timer_again(sv->loop, &sv->teller);
	if (!rsp_server_whose_turn(sv) || ev_is_active(&sv->worker))
		return;
	ev_timer_set(&sv->worker, 0., 0.);
	ev_timer_start(sv->loop, &sv->worker);
}


bool rsp_connection_settle(struct rsp_connection *c)
{
	if (has_lost(c) || !flush(c) || is_finished(c)) {
		rsp_connection_close(c);
		return false;
	}
	rsp_server_wake(c->server);
	return true;
}

/* A client that has closed its end still gets its answers.  But it has probably gone, so its run is ended. */
static void end_input(struct rsp_connection *c)
{
	c->is_eof = true;
	if (rsp_session_is_running(&c->session))
		rsp_session_interrupt(&c->session);
}

/* Read; without input, wait until @until. */
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
static bool is_known(struct rsp_connection *c, uint8_t first)
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
 * Returns false if no input was read, if it was the last, or if the connection is closed.
 */
static bool take_input(struct rsp_connection *c, int64_t until)
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
		rsp_connection_close(c);
		return false;
	}
	while (left)
		handle_event(c, rsp_framing_feed(&c->frame, &next, &left));
	if (!n)
		end_input(c);
	if (ts_buf_ok(&c->waiting)) /* otherwise it may end in the middle of a packet */
		rsp_connection_work(c);
	return rsp_connection_settle(c) && n > 0;
}

/* Is there nothing to do except to wait for this client's next packet?  The connection may be gone. */
static bool is_idle(const struct rsp_server *sv, const struct rsp_connection *c)
{
	return sv->connections == c && !c->next && ev_is_active(&c->reader) && !sv->is_growing &&
	       !rsp_server_whose_turn(sv);
}

/*
 * How long the server polls for a client's next packet: packets come in dozens, and sleeping and waking up
 * takes longer than answering one.  On a busy machine the client has the processor meanwhile.
 */
#define LINGER_NS INT64_C(50000)

static void on_readable(struct ev_loop *, struct ev_io *w, int)
{
	struct rsp_connection *c = w->data;
	struct rsp_server *sv = c->server;
	int64_t now = ts_now_ns(), end = now + TS_SLICE_NS; /* then signals and other clients are checked */
	bool has_input = take_input(c, 0);

	while (has_input && is_idle(sv, c) && (now = ts_now_ns()) < end)
		has_input = take_input(c, now + LINGER_NS);
}

static void on_writable(struct ev_loop *, struct ev_io *w, int)
{
	rsp_connection_settle(w->data);
}

static void on_silence(struct ev_loop *, struct ev_timer *w, int)
{
	struct rsp_connection *c = w->data;

	ts_log(TS_LOG_WARN, "a client that sent nothing for %g s was disconnected",
	       c->server->opt->silence_s);
	rsp_connection_close(c);
}

void rsp_connection_report(struct rsp_connection *c, int64_t now)
{
	if (!rsp_job_is_stuck(&c->session.job, &c->session) || is_clogged(c))
		return;
	rsp_job_report(&c->session.job, &c->session, &c->session.console, now);
	if (!c->session.console.len)
		return;
	send_console(c);
	if (has_lost(c) || !flush(c))
		rsp_connection_close(c);
}

static void set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static bool init_parts(struct rsp_connection *c, struct ts_error *err)
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

bool rsp_connection_open(struct rsp_server *sv, int in_fd, int out_fd, struct ts_error *err)
{
	struct rsp_connection *c = calloc(1, sizeof(*c));

	if (c)
		c->server = sv;
	if (!c || !init_parts(c, err)) {
		free(c);
		close(in_fd);
		if (out_fd != in_fd)
			close(out_fd);
		return ts_no_memory(err, "another client");
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
