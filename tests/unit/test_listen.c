/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "bad_calls.h"
#include "protocol/server/listen.h"
#include "src/base/log.h"

static struct rsp_listener l, other;
static struct ts_error err;

static bool try_listen(const char *comm)
{
	ts_error_reset(&err);
	return rsp_listen(&l, comm, &err);
}

static void must_listen(const char *comm)
{
	ck_assert_msg(try_listen(comm), "%s: %s", comm, err.text);
	ck_assert_int_ge(l.fd, 0);
}

/* Nobody is there, and nothing is left behind. */
static void refuses(const char *comm, enum ts_code code)
{
	ck_assert_msg(!try_listen(comm), "%s", comm);
	ck_assert_msg(err.code == code, "%s: %d: %s", comm, err.code, err.text);
	ck_assert_int_eq(l.fd, -1);
}

static int connect_to(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(addr.sun_path, path);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

START_TEST(a_port_alone_is_of_the_loopback)
{
	must_listen(":0");
	ck_assert_msg(!strncmp(l.address, "127.0.0.1:", 10), "%s", l.address);
	ck_assert_int_gt(atoi(l.address + 10), 0);
	rsp_listener_fini(&l);
	ck_assert_int_eq(l.fd, -1);
}
END_TEST

START_TEST(the_address_is_the_one_that_clients_reach)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	must_listen("localhost:0");
	rsp_listener_fini(&l);
	must_listen("127.0.0.1:0");
	addr.sin_port = htons((uint16_t)atoi(strchr(l.address, ':') + 1));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	rsp_listener_fini(&l);
}
END_TEST

START_TEST(a_port_that_is_taken_cannot_be_had)
{
	char comm[64];

	must_listen("127.0.0.1:0");
	snprintf(comm, sizeof(comm), "%.60s", l.address);
	other = l;
	refuses(comm, TS_EIO);
	rsp_listener_fini(&other);
	must_listen(comm);
	rsp_listener_fini(&l);
}
END_TEST

START_TEST(what_makes_no_sense_is_the_users_fault)
{
	static const char *const comms[] = {
		"",
		":",
		"1234",
		"localhost",
		"localhost:",
		":x",
		":12x",
		":-1",
		": 80",
		":65536",
		":99999",
		":4294967376",
		":+80",
		"no such host.invalid:0",
		"[::1:0",
		":0x50",
		"256.256.256.256:0",
		"--",
		"-1",
		":18446744073709551616",
	};

	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++)
		refuses(comms[i], TS_EUSAGE);
}
END_TEST

START_TEST(a_name_without_an_end_is_refused)
{
	char comm[1000];

	memset(comm, 'a', sizeof(comm));
	memcpy(comm + sizeof(comm) - 3, ":0", 3);
	refuses(comm, TS_EUSAGE);
	comm[0] = '/';
	refuses(comm, TS_EUSAGE);
}
END_TEST

START_TEST(a_dash_listens_to_nothing)
{
	ck_assert(try_listen("-"));
	ck_assert(l.is_stdio);
	ck_assert_int_eq(l.fd, -1);
	ck_assert_str_eq(l.address, "-");
	rsp_listener_fini(&l);
}
END_TEST

START_TEST(a_unix_socket_is_for_its_owner_and_goes_with_the_server)
{
	mode_t before = umask(0);
	struct stat st;
	int fd;

	must_listen("./socket");
	ck_assert_int_eq(stat("socket", &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(umask(before), 0); /* and the process's own mask is as it was */
	fd = connect_to("socket");
	ck_assert_int_ge(fd, 0);
	close(fd);
	rsp_listener_fini(&l);
	ck_assert(!is_there("socket"));
}
END_TEST

START_TEST(a_stale_socket_is_replaced)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	ck_assert(is_there("socket"));
	must_listen("./socket");
	fd = connect_to("socket");
	ck_assert_int_ge(fd, 0);
	close(fd);
	rsp_listener_fini(&l);
}
END_TEST

START_TEST(a_socket_that_another_server_listens_at_is_not)
{
	int fd;

	must_listen("./socket");
	other = l;
	refuses("./socket", TS_EIO);
	fd = connect_to("socket");
	ck_assert_int_ge(fd, 0);
	close(fd);
	rsp_listener_fini(&other);
}
END_TEST

START_TEST(a_server_too_busy_to_take_clients_keeps_its_socket)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), clients[2], n = 0;

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(fd, 0), 0);
	for (; n < 2; n++) {
		clients[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(clients[n], (struct sockaddr *)&addr, sizeof(addr)) < 0)
			break;
	}
	ck_assert_int_lt(n, 2); /* now its backlog is full */
	refuses("./socket", TS_EIO);
	ck_assert(is_there("socket"));
	while (n >= 0)
		close(clients[n--]);
	close(fd);
}
END_TEST

START_TEST(a_file_that_is_no_socket_is_not_touched)
{
	static const char text[] = "keep me";
	char found[sizeof(text)] = "";
	FILE *f = fopen("file", "w");

	fputs(text, f);
	fclose(f);
	refuses("./file", TS_EIO);
	f = fopen("file", "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(found, sizeof(found), f));
	fclose(f);
	ck_assert_str_eq(found, text);

	ck_assert_int_eq(mkdir("dir", 0700), 0);
	refuses("./dir", TS_EIO);
	ck_assert(is_there("dir"));
}
END_TEST

START_TEST(a_link_to_a_socket_is_not_followed)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "stale" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	ck_assert_int_eq(symlink("stale", "link"), 0);
	refuses("./link", TS_EIO);
	ck_assert(is_there("stale"));
	ck_assert(is_there("link"));
}
END_TEST

/* The name is somebody else's by now. */
START_TEST(what_has_taken_the_place_of_the_socket_stays)
{
	FILE *f;
	int fd;

	must_listen("./socket");
	ck_assert_int_eq(unlink("socket"), 0);
	other = l;
	must_listen("./socket");
	rsp_listener_fini(&other);
	fd = connect_to("socket");
	ck_assert_int_ge(fd, 0);
	close(fd);

	ck_assert_int_eq(unlink("socket"), 0);
	f = fopen("socket", "w");
	ck_assert_ptr_nonnull(f);
	fclose(f);
	rsp_listener_fini(&l);
	ck_assert(is_there("socket"));
	ck_assert_int_eq(unlink("socket"), 0);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_no_place)
{
	refuses("./no/such/socket", TS_EIO);
}
END_TEST

START_TEST(a_socket_that_others_could_replace_is_refused)
{
	ck_assert_int_eq(mkdir("shared", 0700), 0);
	ck_assert_int_eq(chmod("shared", 0777), 0);
	refuses("shared/socket", TS_EUSAGE);
	ck_assert_int_eq(chmod("shared", 0707), 0);
	refuses("shared/socket", TS_EUSAGE);
	ck_assert_int_eq(chmod("shared", 01777), 0); /* as /tmp: only the owner can remove it */
	must_listen("shared/socket");
	rsp_listener_fini(&l);
	ck_assert_int_eq(chmod("shared", 0755), 0);
	must_listen("shared/socket");
	rsp_listener_fini(&l);
	ck_assert_int_eq(rmdir("shared"), 0);
}
END_TEST

/* Not every machine has the second kind of address. */
START_TEST(an_address_is_written_as_it_is_given)
{
	must_listen("0.0.0.0:0"); /* warns: any machine can connect */
	ck_assert_int_eq(strncmp(l.address, "0.0.0.0:", 8), 0);
	rsp_listener_fini(&l);
	if (try_listen("[::1]:0")) {
		ck_assert_int_eq(strncmp(l.address, "[::1]:", 6), 0);
		rsp_listener_fini(&l);
	}
	if (try_listen("[::]:0")) {
		ck_assert_int_eq(strncmp(l.address, "[::]:", 5), 0);
		rsp_listener_fini(&l);
	}
	refuses("[]:0x", TS_EUSAGE);
	refuses("]:0", TS_EUSAGE);
	refuses("[:0", TS_EUSAGE);
}
END_TEST

/* There is a listener, or a reason and nothing that is left. */
static void fail_each_call(const char *comm, const char *path)
{
	uint64_t n_all = 1;

	ts_log_set_level(TS_LOG_ERROR);
	for (uint64_t n = 0; n < n_all; n++) {
		bool done;

		bad_calls_start(n, EMFILE);
		done = try_listen(comm);
		n_all = bad_calls_end() + 1;
		if (!done) {
			ck_assert_msg(err.code == TS_EIO && *err.text, "call %lu", (unsigned long)n);
			ck_assert_int_eq(l.fd, -1);
		}
		ck_assert(done == (l.fd >= 0));
		rsp_listener_fini(&l);
		ck_assert_msg(!path || !is_there(path), "call %lu", (unsigned long)n);
		if (n + 1 == n_all)
			ck_assert(done);
	}
}

START_TEST(every_call_may_fail)
{
	fail_each_call("127.0.0.1:0", NULL);
	fail_each_call("./mine", "mine");
}
END_TEST

START_TEST(a_listener_that_never_listened_may_be_given_back)
{
	refuses("", TS_EUSAGE);
	rsp_listener_fini(&l);
	rsp_listener_fini(&l);
	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
}
END_TEST

/* With umask 002 a user's folders are writable for the group, which on Debian is the user's own. */
START_TEST(a_folder_of_the_users_own_group_is_one)
{
	if (geteuid())
		return; /* only root can give a folder to another group */
	ck_assert_int_eq(mkdir("group", 0700), 0);
	ck_assert_int_eq(chmod("group", 0770), 0);
	must_listen("group/socket");
	rsp_listener_fini(&l);
	ck_assert_int_eq(chown("group", (uid_t)-1, 1), 0);
	refuses("group/socket", TS_EUSAGE);
	ck_assert_int_eq(chmod("group", 0750), 0);
	must_listen("group/socket");
	rsp_listener_fini(&l);
	ck_assert_int_eq(chown("group", (uid_t)-1, 0), 0);
	ck_assert_int_eq(chmod("group", 0772), 0);
	refuses("group/socket", TS_EUSAGE);
}
END_TEST

UNIT_SUITE("listen", a_port_alone_is_of_the_loopback, the_address_is_the_one_that_clients_reach,
	   a_port_that_is_taken_cannot_be_had, what_makes_no_sense_is_the_users_fault,
	   a_name_without_an_end_is_refused, a_dash_listens_to_nothing,
	   a_unix_socket_is_for_its_owner_and_goes_with_the_server, a_stale_socket_is_replaced,
	   a_socket_that_another_server_listens_at_is_not, a_server_too_busy_to_take_clients_keeps_its_socket,
	   a_file_that_is_no_socket_is_not_touched, a_link_to_a_socket_is_not_followed,
	   what_has_taken_the_place_of_the_socket_stays, a_folder_that_is_not_there_is_no_place,
	   a_socket_that_others_could_replace_is_refused, a_folder_of_the_users_own_group_is_one,
	   an_address_is_written_as_it_is_given, every_call_may_fail,
	   a_listener_that_never_listened_may_be_given_back)
