/* SPDX-License-Identifier: MIT */
/*
 * A client's connection, and the server that schedules it.  Private to server.c and connection.c.
 */
#ifndef RSP_CONNECTION_H
#define RSP_CONNECTION_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "protocol/session/session.h"
#include "protocol/wire/framing.h"

/* One client. */
struct rsp_connection {
	struct rsp_server *server;
	struct rsp_connection *next, **link; /* in the server's list */
	int in_fd, out_fd;               /* owned; equal, except for stdio */
	struct ev_io reader, writer;
	struct ev_timer greeting; /* runs until the client sends its first byte */
	struct rsp_framing frame;
	struct rsp_session session;
	struct rsp_reply reply;
	struct ts_buf waiting; /* packets not handled yet (connection.c) */
	bool is_known;         /* its first byte was valid in the protocol */
	bool has_lost_text;    /* memory was exhausted for console output */
	bool is_eof;           /* no more input; received packets are still answered */
	uint64_t turn;         /* the ordinal of its last turn */
};

struct rsp_server {
	struct ev_loop *loop;
	struct rsp_target target;
	struct ev_io acceptor;
	int reserved_fd; /* closed when no other descriptor is free, to accept and refuse a client; -1: none */
	struct ev_timer worker; /* fires at once while a connection has work to do */
	uint64_t turns;
	struct ev_signal interrupted, terminated;
	struct ev_async symbols_read; /* sent by the thread that has read a table */
	struct ev_timer teller; /* runs while a job is stuck, to send its client the progress */
	struct ev_idle grower; /* continues reading the recording when no client has work */
	bool is_growing;
	const struct rsp_server_options *opt;
	struct rsp_connection *connections; /* owned */
	struct rsp_frame_budget budget; /* of all clients' trace frames */
	struct rsp_collector *kept; /* owned; the run of a disconnected client */
	bool is_once;
	unsigned n_connections;
	bool is_full; /* no more clients or descriptors, until a client disconnects */
};

/*
 * Add a client that sends to @in_fd and reads from @out_fd.  Takes ownership of the descriptors, on failure, too.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rsp_connection_open(struct rsp_server *sv, int in_fd, int out_fd, struct ts_error *err);

/* Close the connection and free @c; a server for one client ends. */
void rsp_connection_close(struct rsp_connection *c);

/* Returns true if @c has work (a run, packets that can be answered) or chores, and needs a turn. */
bool rsp_connection_wants_turn(const struct rsp_connection *c);

/* One turn: a slice of a run, or the waiting packets, as far as time allows, and a slice of other work. */
void rsp_connection_work(struct rsp_connection *c);

/*
 * After any event on a connection: send, schedule work, or end.
 *
 * Returns false if the connection is gone.
 */
bool rsp_connection_settle(struct rsp_connection *c);

/* Send the progress of a job that waits for the recording to be read; @now is ts_now_ns().  The connection may be gone. */
void rsp_connection_report(struct rsp_connection *c, int64_t now);

/* Schedule a turn if a connection wants one. */
void rsp_server_wake(struct rsp_server *sv);

/*
 * Returns the connection that has waited longest for a turn, borrowed from the server.
 * Returns NULL if no connection wants one.
 */
struct rsp_connection *rsp_server_whose_turn(const struct rsp_server *sv);

/* Does a job of any connection wait for the recording to be read? */
bool rsp_server_has_stuck_job(const struct rsp_server *sv);

/* Leave the event loop after the current event. */
void rsp_server_end_loop(struct rsp_server *sv);

#endif
