/* SPDX-License-Identifier: MIT */
#include "server_case.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/clock.h"

/* --------------------------------------------------------------------------------------------- the server */

struct rsp_listener listener;
struct rsp_server_options opt;
static pthread_t thread;
static sem_t is_ready;
struct ts_error result;
static bool is_done;

static void say_ready(void *user, const char *address)
{
	(void)user;
	(void)address;
	sem_post(&is_ready);
}

static void *run(void *user)
{
	(void)user;
	is_done = rsp_server_run(fake.q, &opt, &result);
	sem_post(&is_ready); /* if it never was */
	return NULL;
}

void start(const char *comm)
{
	struct ts_error err = { 0 };

	ck_assert_msg(rsp_listen(&listener, comm, &err), "%s", err.text);
	opt.listener = &listener;
	opt.ready = say_ready;
	opt.max_memory = UINT64_MAX;
	sem_init(&is_ready, 0, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
	sem_wait(&is_ready);
}

void join(void)
{
	pthread_join(thread, NULL);
	ck_assert_msg(is_done, "%s", result.text);
	rsp_listener_fini(&listener);
}

void stop(void)
{
	kill(getpid(), SIGTERM);
	join();
}

/* -------------------------------------------------------------------------------------------- the clients */

struct client a, b;

void open_socket(struct client *c, int domain)
{
	c->n = c->at = 0;
	c->fd = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(c->fd, 0);
}

void connect_socket(struct client *c)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	strcpy(addr.sun_path, listener.address);
	ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
}

bool try_qc(struct client *c)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct pollfd p = { c->fd, POLLIN, 0 };

	strcpy(addr.sun_path, listener.address);
	return !connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)) &&
	       (send(c->fd, "$qC#b4", 6, MSG_NOSIGNAL) == 6 || errno == EPIPE) &&
	       poll(&p, 1, PATIENCE_MS) == 1;
}

void dial(struct client *c)
{
	open_socket(c, AF_UNIX);
	connect_socket(c);
}

void dial_tcp(struct client *c)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	addr.sin_port = htons((uint16_t)atoi(strrchr(listener.address, ':') + 1));
	open_socket(c, AF_INET);
	ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
}

void hang_up(struct client *c)
{
	close(c->fd);
}

void send_bytes(struct client *c, const void *bytes, size_t len)
{
	ck_assert_int_eq(send(c->fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
}

size_t frame(char *packet, const char *payload)
{
	unsigned sum = 0;

	for (const char *p = payload; *p; p++)
		sum += (uint8_t)*p;
	return (size_t)sprintf(packet, "$%s#%02x", payload, sum & 0xff);
}

void say(struct client *c, const char *payload)
{
	char packet[256];

	send_bytes(c, packet, frame(packet, payload));
}

int next_byte(struct client *c)
{
	struct pollfd p = { c->fd, POLLIN, 0 };
	ssize_t n;

	if (c->at < c->n)
		return c->bytes[c->at++];
	ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "nothing comes");
	n = recv(c->fd, c->bytes, sizeof(c->bytes), 0);
	if (n <= 0)
		return -1;
	c->n = (size_t)n;
	c->at = 1;
	return c->bytes[0];
}

const char *hear(struct client *c)
{
	size_t len = 0;
	int byte;

	while ((byte = next_byte(c)) == '+' || byte == '-')
		;
	if (byte < 0)
		return "(end)";
	ck_assert_int_eq(byte, '$');
	while ((byte = next_byte(c)) >= 0 && byte != '#')
		c->reply[len++] = (char)byte;
	next_byte(c);
	c->reply[len] = '\0';
	return next_byte(c) < 0 ? "(end)" : c->reply;
}

const char *ask(struct client *c, const char *payload)
{
	say(c, payload);
	return hear(c);
}

void expect_served(struct client *c)
{
	int64_t end = ts_now_ns() + 5 * TS_SLICE_NS;

	for (unsigned n = 0; n < 5 || ts_now_ns() < end; n++)
		ck_assert_str_eq(ask(c, "qC"), "QC3e8");
}

void expect_silent(struct client *c)
{
	uint8_t byte = '+';

	while (c->at < c->n)
		ck_assert_int_eq(c->bytes[c->at++], '+');
	while (recv(c->fd, &byte, 1, MSG_DONTWAIT) == 1)
		ck_assert_int_eq(byte, '+');
	ck_assert_int_eq(errno, EAGAIN);
}

void expect_end(struct client *c)
{
	ck_assert_str_eq(hear(c), "(end)");
	hang_up(c);
}

unsigned push(struct client *from, struct client *other, const char *packet, size_t len, unsigned max)
{
	unsigned n = 0, n_refused = 0;
	size_t at = 0;

	while (n < max && n_refused < 3) {
		ssize_t sent = send(from->fd, packet + at, len - at, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0) {
			ck_assert_int_eq(errno, EAGAIN);
			expect_served(other); /* meanwhile the server has read what it wants to */
			n_refused++;
			continue;
		}
		n_refused = 0;
		at = (at + (size_t)sent) % len;
		n += !at;
	}
	return n;
}

void setup(void)
{
	static const struct fake_options usual;

	opt = (struct rsp_server_options){ .silence_s = 0 };
	fake_begin(&usual);
}
