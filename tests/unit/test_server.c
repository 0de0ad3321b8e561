/* SPDX-License-Identifier: MIT */
/*
 * A server answers its clients, by sockets or by its input and output, and it begins and ends as it should.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "no_memory.h"
#include "server_case.h"
#include "src/base/log.h"

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
	ck_assert_msg(err.code == code, "%s: %s", unit_code_name(err.code), err.text);
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

UNIT_FIXTURE_SUITE("server", setup, fake_end, clients_of_both_kinds_of_socket_are_answered,
		   a_client_of_another_protocol_is_disconnected, a_client_that_says_nothing_is_disconnected,
		   acknowledgements_are_asked_for_and_ended, a_packet_that_is_too_long_is_refused,
		   detaching_ends_the_connection, a_client_that_has_closed_its_end_gets_its_answers,
		   a_client_that_is_gone_harms_nobody, a_server_for_one_client_ends_with_it,
		   an_interrupt_of_the_terminal_ends_it, what_cannot_be_served_is_refused,
		   a_file_that_is_not_here_is_not_offered, standard_input_and_output_are_one_client,
		   without_memory_it_refuses_or_ends)
