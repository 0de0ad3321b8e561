/* SPDX-License-Identifier: MIT */
/*
 * A server and its clients: the server runs in a thread, the test is the clients.
 *
 * What a client waits for is an answer or the end of its connection, never a time; that something does not
 * come is known from an answer to another client that was sent later.
 */
#ifndef TESTS_SERVER_CASE_H
#define TESTS_SERVER_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fake_session.h"
#include "protocol/server/server.h"

#define PATIENCE_MS 60000

extern struct rsp_listener listener;
extern struct rsp_server_options opt;
extern struct ts_error result; /* why the server ended, if it is not a good end */

/* A recording, and the usual options; fake_end() is the teardown. */
void setup(void);

/* Serve at @comm, with the options as set. */
void start(const char *comm);

/* Wait for the server's end, which is a good one. */
void join(void);

/* Ask the server to end, and wait for that. */
void stop(void);

struct client {
	int fd;
	uint8_t bytes[0x20000];
	size_t n, at; /* received, and looked at */
	char reply[0x10000];
};

extern struct client a, b;

/* A socket that is not connected yet. */
void open_socket(struct client *c, int domain);
void connect_socket(struct client *c);

/*
 * Connect and ask qC.  A call of the server fails now: until it has answered, or ended the connection,
 * nothing here uses one, nor memory, as assertions do.
 */
bool try_qc(struct client *c);

/* Connect to a socket of the file system, or to one of TCP. */
void dial(struct client *c);
void dial_tcp(struct client *c);
void hang_up(struct client *c);
void send_bytes(struct client *c, const void *bytes, size_t len);

/* @payload as a packet; returns its length. */
size_t frame(char *packet, const char *payload);

/* Send it. */
void say(struct client *c, const char *payload);

/* The next byte; -1 at the end of the connection. */
int next_byte(struct client *c);

/* The payload of the next packet as it was sent; "(end)" if the connection ends first. */
const char *hear(struct client *c);

/* The payload of the answer to @payload. */
const char *ask(struct client *c, const char *payload);

/*
 * The client is answered, and what the server had to do for others before is done by then: it stays with one
 * client no longer than a slice.
 */
void expect_served(struct client *c);

/* Nothing but acknowledgements has come. */
void expect_silent(struct client *c);

/* The connection ends before anything else comes. */
void expect_end(struct client *c);

/*
 * Send @packet to @from's connection as long as the server takes it, at most @max times.  Returns how often
 * it was sent as a whole.
 */
unsigned push(struct client *from, struct client *other, const char *packet, size_t len, unsigned max);

#endif
