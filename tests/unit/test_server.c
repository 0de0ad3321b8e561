/* SPDX-License-Identifier: MIT */
/*
 * A server and its clients: the server runs in a thread, the test is the clients.
 *
 * What a client waits for is an answer or the end of its connection, never a time; that something does not
 * come is known from an answer to another client that was sent later.
 */
#include "fake_session.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bad_calls.h"
#include "no_memory.h"
#include "protocol/server/server.h"
#include "script.h"
#include "src/base/clock.h"
#include "src/base/log.h"

#define PATIENCE_MS 60000

/* --------------------------------------------------------------------------------------------- the server */

static struct rsp_listener listener;
static struct rsp_server_options opt;
static pthread_t thread;
static sem_t is_ready;
static struct ts_error result;
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

/* Serve at @comm, with the options as set. */
static void start(const char *comm)
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

/* Wait for the server's end, which is a good one. */
static void join(void)
{
	pthread_join(thread, NULL);
	ck_assert_msg(is_done, "%s", result.text);
	rsp_listener_fini(&listener);
}

static void stop(void)
{
	kill(getpid(), SIGTERM);
	join();
}

/* -------------------------------------------------------------------------------------------- the clients */

struct client {
	int fd;
	uint8_t bytes[0x20000];
	size_t n, at; /* received, and looked at */
	char reply[0x10000];
};

static struct client a, b;

static void open_socket(struct client *c, int domain)
{
	c->n = c->at = 0;
	c->fd = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(c->fd, 0);
}

static void connect_socket(struct client *c)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	strcpy(addr.sun_path, listener.address);
	ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
}

/*
 * A call of the server fails now: until it has answered, or ended the connection, nothing here uses one, nor
 * memory, as assertions do.
 */
static bool try_qc(struct client *c)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct pollfd p = { c->fd, POLLIN, 0 };

	strcpy(addr.sun_path, listener.address);
	return !connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)) &&
	       (send(c->fd, "$qC#b4", 6, MSG_NOSIGNAL) == 6 || errno == EPIPE) && poll(&p, 1, PATIENCE_MS) == 1;
}

static void dial(struct client *c)
{
	open_socket(c, AF_UNIX);
	connect_socket(c);
}

static void dial_tcp(struct client *c)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	addr.sin_port = htons((uint16_t)atoi(strrchr(listener.address, ':') + 1));
	open_socket(c, AF_INET);
	ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
}

static void hang_up(struct client *c)
{
	close(c->fd);
}

static void send_bytes(struct client *c, const void *bytes, size_t len)
{
	ck_assert_int_eq(send(c->fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* @payload as a packet; returns its length. */
static size_t frame(char *packet, const char *payload)
{
	unsigned sum = 0;

	for (const char *p = payload; *p; p++)
		sum += (uint8_t)*p;
	return (size_t)sprintf(packet, "$%s#%02x", payload, sum & 0xff);
}

static void say(struct client *c, const char *payload)
{
	char packet[256];

	send_bytes(c, packet, frame(packet, payload));
}

/* The next byte; -1 at the end of the connection. */
static int next_byte(struct client *c)
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

/* The payload of the next packet as it was sent; "(end)" if the connection ends first. */
static const char *hear(struct client *c)
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

static const char *ask(struct client *c, const char *payload)
{
	say(c, payload);
	return hear(c);
}

/*
 * The client is answered, and what the server had to do for others before is done by then: it stays with one
 * client no longer than a slice.
 */
static void expect_served(struct client *c)
{
	int64_t end = ts_now_ns() + 5 * TS_SLICE_NS;

	for (unsigned n = 0; n < 5 || ts_now_ns() < end; n++)
		ck_assert_str_eq(ask(c, "qC"), "QC3e8");
}

/* Nothing but acknowledgements has come. */
static void expect_silent(struct client *c)
{
	uint8_t byte = '+';

	while (c->at < c->n)
		ck_assert_int_eq(c->bytes[c->at++], '+');
	while (recv(c->fd, &byte, 1, MSG_DONTWAIT) == 1)
		ck_assert_int_eq(byte, '+');
	ck_assert_int_eq(errno, EAGAIN);
}

static void expect_end(struct client *c)
{
	ck_assert_str_eq(hear(c), "(end)");
	hang_up(c);
}

/* ------------------------------------------------------------------------------------------------ clients */

START_TEST(clients_of_both_kinds_of_socket_are_answered)
{
	start("127.0.0.1:0");
	dial_tcp(&a);
	dial_tcp(&b);
	expect_served(&a);
	expect_served(&b);
	hang_up(&a);
	expect_served(&b);
	hang_up(&b);
	stop();
	start("./socket");
	dial(&a);
	expect_served(&a);
	stop();
	expect_end(&a);
	ck_assert_int_lt(access("socket", F_OK), 0);
}
END_TEST

START_TEST(a_client_of_another_protocol_is_disconnected)
{
	static const char request[] = "GET / HTTP/1.1\r\n\r\n$?#3f";

	start("./socket");
	dial(&b);
	expect_served(&b);
	dial(&a);
	send_bytes(&a, request, strlen(request));
	expect_end(&a);
	dial(&a);
	send_bytes(&a, "+", 1);
	expect_served(&a);
	send_bytes(&a, "GET", 3); /* after a valid beginning it is noise */
	expect_served(&a);
	expect_served(&b);
	stop();
}
END_TEST

START_TEST(a_client_that_says_nothing_is_disconnected)
{
	opt.silence_s = 0.02;
	start("./socket");
	dial(&a);
	expect_end(&a);
	stop();
}
END_TEST

START_TEST(acknowledgements_are_asked_for_and_ended)
{
	start("./socket");
	dial(&a);
	send_bytes(&a, "$?#00", 5); /* a wrong checksum */
	ck_assert_int_eq(next_byte(&a), '-');
	ck_assert_str_eq(ask(&a, "qC"), "QC3e8");
	send_bytes(&a, "-", 1);
	ck_assert_str_eq(hear(&a), "QC3e8");
	ck_assert_str_eq(ask(&a, "QStartNoAckMode"), "OK");
	send_bytes(&a, "+", 1);
	say(&a, "qC");
	ck_assert_int_eq(next_byte(&a), '$');
	stop();
}
END_TEST

START_TEST(a_packet_that_is_too_long_is_refused)
{
	static char payload[RSP_PACKET_SIZE + 2], packet[sizeof(payload) + 4];

	start("./socket");
	dial(&a);
	memset(payload, 'm', sizeof(payload) - 1);
	send_bytes(&a, packet, frame(packet, payload));
	ck_assert_int_eq(hear(&a)[0], 'E');
	expect_served(&a);
	stop();
}
END_TEST

START_TEST(detaching_ends_the_connection)
{
	start("./socket");
	dial(&a);
	ck_assert_str_eq(ask(&a, "D"), "OK");
	expect_end(&a);
	stop();
}
END_TEST

START_TEST(a_client_that_has_closed_its_end_gets_its_answers)
{
	char text[400];
	size_t len = 0;

	start("./socket");
	dial(&a);
	len += frame(text, "?");
	len += frame(text + len, "vCont;c");
	len += frame(text + len, "qC");
	send_bytes(&a, text, len);
	shutdown(a.fd, SHUT_WR);
	ck_assert_int_eq(strncmp(hear(&a), "T05", 3), 0);
	ck_assert_int_eq(strncmp(hear(&a), "T0", 2), 0);
	ck_assert_str_eq(hear(&a), "QC3e8");
	expect_end(&a);
	stop();
}
END_TEST

START_TEST(a_client_that_is_gone_harms_nobody)
{
	struct linger at_once = { .l_onoff = 1 };

	start("127.0.0.1:0");
	dial_tcp(&b);
	expect_served(&b);
	for (unsigned i = 0; i < 3; i++) {
		dial_tcp(&a);
		expect_served(&a);
		for (unsigned k = 0; k < i * 20; k++)
			say(&a, "qXfer:features:read:target.xml:0,7000");
		setsockopt(a.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		hang_up(&a); /* a reset */
		expect_served(&b);
	}
	stop();
}
END_TEST

/* ------------------------------------------------------------------------------------------------- limits */

START_TEST(more_clients_than_the_limit_have_to_wait)
{
	opt.max_clients = 1;
	start("./socket");
	dial(&a);
	expect_served(&a);
	dial(&b);
	say(&b, "qC");
	expect_served(&a);
	expect_silent(&b);
	hang_up(&a);
	ck_assert_str_eq(hear(&b), "QC3e8");
	stop();
}
END_TEST

/*
 * Send @packet as long as the server takes it, at most @max times.  Returns how often it was sent as a whole.
 */
static unsigned push(struct client *from, struct client *other, const char *packet, size_t len, unsigned max)
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

START_TEST(a_client_that_does_not_read_is_not_read_either)
{
	static char packet[64], whole[0x10000];
	size_t len = frame(packet, "qXfer:features:read:target.xml:0,7000");
	unsigned n;

	start("./socket");
	dial(&b);
	expect_served(&b);
	dial(&a);
	strcpy(whole, ask(&a, "qXfer:features:read:target.xml:0,7000"));
	n = push(&a, &b, packet, len, 1000000);
	ck_assert_uint_lt(n, 1000000);
	ck_assert_uint_gt(n, 100);
	for (unsigned i = 0; i < n; i++)
		ck_assert_str_eq(hear(&a), whole);
	stop();
}
END_TEST

static struct rlimit limit;
static int used[4096];
static size_t n_used;

/* All descriptors are in use. */
static void use_up(void)
{
	struct rlimit few;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){ 256, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	while ((used[n_used] = dup(STDERR_FILENO)) >= 0)
		n_used++;
	ck_assert_int_eq(errno, EMFILE);
}

static void give_back(void)
{
	if (n_used)
		setrlimit(RLIMIT_NOFILE, &limit);
	while (n_used)
		close(used[--n_used]);
}

START_TEST(without_descriptors_a_client_waits_for_another_one_s_end)
{
	start("./socket");
	dial(&a);
	expect_served(&a);
	open_socket(&b, AF_UNIX);
	use_up();
	connect_socket(&b);
	say(&b, "qC");
	expect_served(&a);
	expect_silent(&b);
	hang_up(&a); /* the server closes its end, too */
	ck_assert_str_eq(hear(&b), "QC3e8");
	stop();
	give_back();
}
END_TEST

START_TEST(without_descriptors_the_only_client_is_refused)
{
	start("./socket");
	open_socket(&a, AF_UNIX);
	open_socket(&b, AF_UNIX);
	use_up();
	connect_socket(&a);
	expect_end(&a); /* which makes room for one, but not for the reserved one */
	connect_socket(&b);
	expect_served(&b);
	stop();
	give_back();
}
END_TEST

START_TEST(without_memory_a_client_is_refused_and_the_next_one_served)
{
	uint64_t n_calls = 1, n_refused = 0;
	int64_t n_lost;

	start("./socket");
	dial(&b);
	dial(&a);
	expect_served(&a); /* libev has room for both from now on */
	hang_up(&a);
	expect_served(&b);
	for (uint64_t n = 0; n <= n_calls; n++) {
		bool is_answered;

		open_socket(&a, AF_UNIX);
		no_memory_start(n, n + 1);
		is_answered = try_qc(&a);
		n_calls = no_memory_end(&n_lost);
		ck_assert(is_answered);
		n_refused += strcmp(hear(&a), "QC3e8") != 0;
		ck_assert_msg(a.reply[0] == 'Q' || next_byte(&a) < 0, "allocation %lu: %s", (unsigned long)n, a.reply);
		hang_up(&a);
		expect_served(&b);
	}
	ck_assert_uint_gt(n_refused, 2);
	stop();
}
END_TEST

/* ---------------------------------------------------------------------------------------- calls that fail */

/* The server's @n-th call for a new client fails: it accepts, reads and writes. */
static void fail_call(uint64_t n, int error)
{
	bool is_answered;

	open_socket(&a, AF_UNIX);
	bad_calls_start(n, error);
	is_answered = try_qc(&a);
	ck_assert_uint_gt(bad_calls_end(), n);
	ck_assert(is_answered);
}

START_TEST(a_call_that_was_interrupted_is_made_again)
{
	for (uint64_t n = 0; n < 3; n++) {
		start("./socket");
		fail_call(n, EINTR);
		ck_assert_str_eq(hear(&a), "QC3e8");
		stop();
	}
}
END_TEST

START_TEST(a_client_that_could_not_be_accepted_is_accepted_later)
{
	static const int errors[] = { ECONNABORTED, ENFILE };

	for (unsigned i = 0; i < 2; i++) {
		start("./socket");
		fail_call(0, errors[i]);
		ck_assert_str_eq(hear(&a), "QC3e8");
		stop();
	}
}
END_TEST

/* Of two others, for which the server does not poll: its calls are those for the new one. */
START_TEST(a_connection_that_fails_ends_and_no_other)
{
	static const int errors[] = { EIO, ECONNRESET };
	static struct client c;

	for (unsigned i = 0; i < 4; i++) {
		start("./socket");
		dial(&b);
		dial(&c);
		expect_served(&b);
		expect_served(&c);
		fail_call(1 + i / 2, errors[i % 2]);
		expect_end(&a);
		expect_served(&b);
		expect_served(&c);
		stop();
		hang_up(&c);
	}
}
END_TEST

/* --------------------------------------------------------------------------------- while it is being read */

static atomic_bool may_read;

static struct script *make_long(void)
{
	static const uint32_t process_of[] = { 0 };
	struct script *s = script_new("x86_64", 1, process_of);

	for (unsigned i = 0; i < 300000; i++)
		ts_steps_close(&s->steps, 0x401000 + i % 8, 1, 0);
	s->end = (struct ts_end){ .pc = 0x401000, .has_pc = true };
	return s;
}

static bool read_some(void *user)
{
	struct ts_error err = { 0 };
	bool has_more;

	(void)user;
	if (!atomic_load(&may_read)) {
		usleep(1000);
		return true;
	}
	has_more = ts_timeline_grow(fake.tl, 4096, &err) == TS_GROW_MORE;
	ts_query_refresh(fake.q);
	return has_more;
}

static void start_reading(void)
{
	const struct fake_options growing = { .make = make_long, .n_read = 1 };

	fake_again(&growing);
	opt.grow = read_some;
	start("./socket");
	dial(&a);
	dial(&b);
	expect_served(&b);
}

START_TEST(a_run_waits_for_what_is_not_read_and_can_be_interrupted)
{
	start_reading();
	say(&a, "vCont;c");
	expect_served(&b);
	expect_silent(&a);
	send_bytes(&a, "\x03", 1);
	ck_assert_int_eq(strncmp(hear(&a), "T02", 3), 0);
	say(&a, "vCont;c");
	say(&a, "qC"); /* is answered after it */
	expect_served(&b);
	expect_silent(&a);
	atomic_store(&may_read, true);
	ck_assert_int_eq(strncmp(hear(&a), "T05replaylog:end;", 17), 0);
	ck_assert_str_eq(hear(&a), "QC3e8");
	stop();
}
END_TEST

START_TEST(a_client_that_waits_is_told_how_far_it_is)
{
	start_reading();
	say(&a, "qRcmd,77616974"); /* wait */
	ck_assert_msg(!strncmp(hear(&a), "O7265616420736f206661723a20", 27), "%s", a.reply); /* "read so far: " */
	atomic_store(&may_read, true);
	while (hear(&a)[0] == 'O' && a.reply[1] != 'K')
		;
	ck_assert_int_eq(a.reply[0], '7'); /* "the recording has been read" in hex */
	stop();
}
END_TEST

START_TEST(packets_wait_up_to_a_limit)
{
	char payload[201], packet[256];
	unsigned n;

	memset(payload, 'u', 200); /* known by nobody */
	payload[200] = '\0';
	start_reading();
	say(&a, "vCont;c");
	n = push(&a, &b, packet, frame(packet, payload), 1000000);
	ck_assert_uint_lt(n, 1000000);
	ck_assert_uint_gt(n, (1 << 20) / 250); /* it took a MiB and is read no more */
	atomic_store(&may_read, true);
	ck_assert_int_eq(strncmp(hear(&a), "T05replaylog:end;", 17), 0);
	for (unsigned i = 0; i < n; i++)
		ck_assert_str_eq(hear(&a), "");
	stop();
}
END_TEST

START_TEST(a_client_that_goes_while_it_waits_is_forgotten)
{
	start_reading();
	say(&a, "vCont;c");
	expect_served(&b);
	hang_up(&a);
	expect_served(&b);
	dial(&a);
	say(&a, "vCont;c");
	say(&a, "vCont;c");
	expect_served(&b);
	shutdown(a.fd, SHUT_WR); /* its runs are ended */
	ck_assert_int_eq(strncmp(hear(&a), "T02", 3), 0);
	ck_assert_int_eq(strncmp(hear(&a), "T02", 3), 0);
	expect_end(&a);
	stop();
}
END_TEST

START_TEST(an_interrupt_is_for_the_packet_before_it)
{
	char text[100];
	size_t len;

	start_reading();
	len = frame(text, "vCont;c");
	text[len++] = 3;
	len += frame(text + len, "qC");
	send_bytes(&a, text, len); /* all at once */
	ck_assert_int_eq(strncmp(hear(&a), "T02", 3), 0);
	ck_assert_str_eq(hear(&a), "QC3e8");
	stop();
}
END_TEST

/* -------------------------------------------------------------------------------------- beginning and end */

START_TEST(a_server_for_one_client_ends_with_it)
{
	opt.is_once = true;
	start("./socket");
	dial(&a);
	expect_served(&a);
	hang_up(&a);
	join();
}
END_TEST

START_TEST(an_interrupt_of_the_terminal_ends_it)
{
	start("./socket");
	kill(getpid(), SIGINT);
	join();
}
END_TEST

static void expect_refused(enum ts_code code)
{
	struct ts_error err = { 0 };

	ck_assert(rsp_listen(&listener, "./socket", &err));
	opt.listener = &listener;
	ck_assert(!rsp_server_run(fake.q, &opt, &err));
	ck_assert_msg(err.code == code, "%s: %s", ts_code_name(err.code), err.text);
	rsp_listener_fini(&listener);
}

START_TEST(what_cannot_be_served_is_refused)
{
	opt.exec = "no/such/file";
	expect_refused(TS_EIO);
	opt.exec = NULL;
	opt.arch = ts_arch_find("arm");
	expect_refused(TS_EUSAGE);
	opt.arch = ts_arch_find("x86_64");
	setenv("LIBEV_FLAGS", "8", 1); /* kqueue */
	expect_refused(TS_EIO);
	unsetenv("LIBEV_FLAGS");
}
END_TEST

/* A server needs another descriptor: of its socket, or of its input and its output. */
START_TEST(a_server_without_descriptors_ends_at_once)
{
	struct rsp_listener stdio = { .fd = -1, .is_stdio = true, .address = "-" };
	struct ts_error err = { 0 };

	ck_assert(rsp_listen(&listener, "./socket", &err));
	for (unsigned i = 0; i < 3; i++) {
		ts_error_reset(&err);
		opt.listener = i ? &stdio : &listener;
		bad_calls_start(i / 2, EMFILE);
		ck_assert(!rsp_server_run(fake.q, &opt, &err));
		ck_assert_uint_eq(bad_calls_end(), i / 2 + 1);
		ck_assert_msg(strstr(err.text, "another descriptor") && strstr(err.text, strerror(EMFILE)), "%s", err.text);
	}
	rsp_listener_fini(&listener);
}
END_TEST

/*
 * The positions 0, 8 and so on up to 300,000 have one: more than one slice's.  When both clients have begun, nothing but
 * position 0 has been read.
 */
START_TEST(clients_collect_frames_side_by_side)
{
	static const char *const packets[] = { "QTinit", "QTDP:1:0000000000401000:E:0:0", "QTStart" };
	struct client *const both[] = { &a, &b };

	start_reading();
	for (unsigned i = 0; i < 2; i++) {
		ask(both[i], "qRcmd,636f6c6c65637420616c6c"); /* collect all */
		for (unsigned k = 0; k < 3; k++)
			ck_assert_str_eq(ask(both[i], packets[k]), "OK");
	}
	for (unsigned i = 0; i < 2; i++) /* both wait for the rest of the recording, and begin then */
		ck_assert_int_eq(strncmp(ask(both[i], "qTStatus"), "T1;tnotrun:0;tframes:0;", 23), 0);
	atomic_store(&may_read, true);
	for (unsigned i = 0; i < 2; i++) {
		while (!strncmp(ask(both[i], "qTStatus"), "T1", 2))
			;
		ck_assert_msg(strstr(both[i]->reply, ";tframes:927d;") != NULL, "%s", both[i]->reply);
	}
	stop();
}
END_TEST

/* A file of this machine is offered if it is the recorded one; there is none. */
START_TEST(a_file_that_is_not_here_is_not_offered)
{
	opt.has_local_files = true;
	start("./socket");
	dial(&a);
	ck_assert_str_eq(ask(&a, "vFile:setfs:0"), "F0");
	ck_assert_int_eq(strncmp(ask(&a, "vFile:open:2f7573722f62696e2f66616b65,0,0"), "F-1", 3), 0); /* /usr/bin/fake */
	stop();
}
END_TEST

/* ---------------------------------------------------------------------------- standard input and output */

#define TALK_LEN 4096

/*
 * How a server ended: it had all allocations; one failed, which also libev's exit() tells; or another error.
 */
enum { WHOLE, TRIED = EXIT_FAILURE, BAD };

/*
 * Give the server @text as its input, up to its end; the allocations [from, until) fail.  Returns its exit
 * status; *len gets the length of what it said.
 */
static int talk(const char *text, char *said, size_t *len, uint64_t from, uint64_t until)
{
	int ends[2], status;
	int64_t n_lost;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	ck_assert_int_eq(write(ends[0], text, strlen(text)), (ssize_t)strlen(text));
	pid = fork();
	if (!pid) {
		struct rsp_listener stdio = { .fd = -1, .is_stdio = true, .address = "-" };
		bool done;

		dup2(ends[1], STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		opt.listener = &stdio;
		no_memory_start(from, until);
		done = rsp_server_run(fake.q, &opt, &result);
		if (done)
			exit(no_memory_end(&n_lost) > from ? TRIED : WHOLE);
		exit(result.code == TS_ENOMEM ? TRIED : BAD);
	}
	close(ends[1]);
	for (*len = 0;; *len += (size_t)n) {
		struct pollfd p = { ends[0], POLLIN, 0 };

		ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "allocation %lu: no end", (unsigned long)from);
		n = read(ends[0], said + *len, TALK_LEN - *len);
		if (n <= 0)
			break;
	}
	close(ends[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "allocation %lu: signal %d", (unsigned long)from, WTERMSIG(status));
	return WEXITSTATUS(status);
}

static const char words[] = "+$qC#b4$?#3f$qXfer:threads:read::0,100#57$qC#b4$D#44";

START_TEST(standard_input_and_output_are_one_client)
{
	char said[TALK_LEN + 1];
	size_t len;

	ck_assert_int_eq(talk(words, said, &len, UINT64_MAX, UINT64_MAX), WHOLE);
	said[len] = '\0';
	ck_assert_msg(strstr(said, "+$QC3e8#") != NULL, "%s", said);
	ck_assert_msg(len > 6 && !strcmp(said + len - 6, "$OK#9a"), "%s", said);
}
END_TEST

/* What it says before its memory is exhausted is what it says otherwise; then it ends, and says so. */
START_TEST(without_memory_it_refuses_or_ends)
{
	char whole[TALK_LEN], said[TALK_LEN];
	size_t whole_len, len, n_ended = 0;
	int status = TRIED;

	ts_log_set_level(TS_LOG_ERROR);
	ck_assert_int_eq(talk(words, whole, &whole_len, UINT64_MAX, UINT64_MAX), WHOLE);
	for (uint64_t n = 0; status == TRIED; n++) {
		status = talk(words, said, &len, n, n + 1);
		ck_assert_msg(status != BAD, "allocation %lu: another error", (unsigned long)n);
		ck_assert_msg(len <= whole_len && (!memcmp(said, whole, len) || memmem(said, len, "$E", 2)),
			      "allocation %lu: %.*s", (unsigned long)n, (int)len, said);
		n_ended += len < whole_len;
	}
	ck_assert_uint_gt(n_ended, 10);
}
END_TEST

static void setup(void)
{
	static const struct fake_options usual;

	opt = (struct rsp_server_options){ .silence_s = 0 };
	atomic_store(&may_read, false);
	fake_begin(&usual);
}

UNIT_FIXTURE_SUITE("server", setup, fake_end, clients_of_both_kinds_of_socket_are_answered,
		   a_client_of_another_protocol_is_disconnected, a_client_that_says_nothing_is_disconnected,
		   acknowledgements_are_asked_for_and_ended, a_packet_that_is_too_long_is_refused,
		   detaching_ends_the_connection, a_client_that_has_closed_its_end_gets_its_answers,
		   a_client_that_is_gone_harms_nobody, more_clients_than_the_limit_have_to_wait,
		   a_client_that_does_not_read_is_not_read_either,
		   without_descriptors_a_client_waits_for_another_one_s_end,
		   without_descriptors_the_only_client_is_refused,
		   without_memory_a_client_is_refused_and_the_next_one_served,
		   a_call_that_was_interrupted_is_made_again, a_connection_that_fails_ends_and_no_other,
		   a_client_that_could_not_be_accepted_is_accepted_later, packets_wait_up_to_a_limit,
		   a_server_without_descriptors_ends_at_once, clients_collect_frames_side_by_side,
		   a_file_that_is_not_here_is_not_offered,
		   a_run_waits_for_what_is_not_read_and_can_be_interrupted,
		   a_client_that_waits_is_told_how_far_it_is, a_client_that_goes_while_it_waits_is_forgotten,
		   an_interrupt_is_for_the_packet_before_it, a_server_for_one_client_ends_with_it,
		   an_interrupt_of_the_terminal_ends_it, what_cannot_be_served_is_refused,
		   standard_input_and_output_are_one_client, without_memory_it_refuses_or_ends)
