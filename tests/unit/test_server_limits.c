/* SPDX-License-Identifier: MIT */
/*
 * A server that has no room for a client, or whose calls fail, refuses it or lets it wait; the others are
 * served.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bad_calls.h"
#include "no_memory.h"
#include "server_case.h"

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
		ck_assert_msg(strstr(err.text, "duplicate the descriptor") && strstr(err.text, strerror(EMFILE)), "%s", err.text);
	}
	rsp_listener_fini(&listener);
}
END_TEST

UNIT_FIXTURE_SUITE("server_limits", setup, fake_end, more_clients_than_the_limit_have_to_wait,
		   a_client_that_does_not_read_is_not_read_either,
		   without_descriptors_a_client_waits_for_another_one_s_end,
		   without_descriptors_the_only_client_is_refused,
		   without_memory_a_client_is_refused_and_the_next_one_served,
		   a_call_that_was_interrupted_is_made_again,
		   a_client_that_could_not_be_accepted_is_accepted_later,
		   a_connection_that_fails_ends_and_no_other, a_server_without_descriptors_ends_at_once)
