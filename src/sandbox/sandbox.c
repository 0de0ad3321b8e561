/* SPDX-License-Identifier: MIT */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "filter.h"
#include "rules.h"
#include "src/base/io_full.h"

#if defined(__SANITIZE_THREAD__) || defined(TS_NO_SANDBOX)
#define IS_BUILT false
#else
#define IS_BUILT true
#endif

/* LeakSanitizer opens files and traces all threads at the end of the process. */
static bool looks_for_leaks(void)
{
#ifdef __SANITIZE_ADDRESS__
	const char *options = getenv("ASAN_OPTIONS");

	return !options || !strstr(options, "detect_leaks=0");
#else
	return false;
#endif
}

/* ------------------------------------------------------------------------------------------- the filter */

/* Returns the descriptor of the notifications; -1 with errno. */
static int install(struct ts_filter *f)
{
	struct sock_fprog program = { (unsigned short)(f->len / sizeof(f->code[0])), f->code };
	const unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | /* the process runs no code of others: */
			       SECCOMP_FILTER_FLAG_SPEC_ALLOW;

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* --------------------------------------------------------------------------------------------- landlock */

/* The later headers' struct landlock_ruleset_attr; a kernel takes as much of it as it knows. */
struct ruleset {
	uint64_t files, net, scoped;
};

/* Without a rule everything that landlock knows is forbidden.  Returns false if the kernel has none. */
static bool enter_landlock(void)
{
	static const struct {
		struct ruleset forbidden;
		size_t len;
	} by_version[] = {
		{ { 0x1fff, 0, 0 }, 8 }, { { 0x3fff, 0, 0 }, 8 },  { { 0x7fff, 0, 0 }, 8 },
		{ { 0x7fff, 3, 0 }, 16 }, { { 0x7fff, 3, 0 }, 16 }, { { 0x7fff, 3, 3 }, 24 },
	};
	const long newest = sizeof(by_version) / sizeof(by_version[0]);
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1u /* LANDLOCK_CREATE_RULESET_VERSION */);
	bool done;
	int fd;

	if (version < 1)
		return false;
	version = version < newest ? version : newest;
	fd = (int)syscall(SYS_landlock_create_ruleset, &by_version[version - 1].forbidden,
			  by_version[version - 1].len, 0u);
	done = fd >= 0 && !syscall(SYS_landlock_restrict_self, fd, 0u);
	if (fd >= 0)
		close(fd);
	return done;
}

/* ------------------------------------------------------------------------------------------- the broker */

static bool send_fd(int socket, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec byte = { "", 1 };
	struct msghdr m = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };

	control.head = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(socket, &m, MSG_NOSIGNAL) == 1;
}

/* -1 if the other side gave up. */
static int receive_fd(int socket)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec to = { &byte, 1 };
	struct msghdr m = { .msg_iov = &to, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != 1 || m.msg_controllen < sizeof(control))
		return -1;
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

/* A name of an open file of the process means the same file to the broker only while it has it, too. */
static bool names_descriptor(const struct ts_sandbox_rules *rules)
{
	static const char *const of_descriptors[] = { "/dev/fd/", "/dev/std", "/proc/" };

	for (size_t i = 0; i < rules->n; i++) {
		for (size_t k = 0; k < sizeof(of_descriptors) / sizeof(of_descriptors[0]); k++) {
			if (!strncmp(rules->items[i].path, of_descriptors[k], strlen(of_descriptors[k])))
				return true;
		}
	}
	return false;
}

/* Clients and pipes of the process must end with the process. */
static void close_others(int keep)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (keep > 3)
		close_range(3, (unsigned)keep - 1, 0);
	close_range((unsigned)keep + 1, ~0u, 0);
}

/* A folder stays open for each rule. */
static void allow_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* A process, or files, that the system has not got now. */
static void fail_for_want(struct ts_error *err)
{
	bool is_short = errno == EAGAIN || errno == ENOMEM || errno == EMFILE || errno == ENFILE;

	ts_fail(err, is_short ? TS_ENOMEM : TS_EIO, TS_NO_OFF, "no process can be started that opens files for it: %s",
		strerror(errno));
}

/* Seconds of the processor's time within which the broker says it; it takes some milliseconds. */
#define GREETING_S 2

/* The broker's first message. */
enum hello {
	HELLO_FILTER,	 /* a struct ts_filter follows */
	HELLO_FORBIDDEN, /* the system does not let it read the process's memory */
	HELLO_FILES,	 /* it cannot open all the folders at once */
};

static bool greet(int socket, pid_t process, struct ts_sandbox_rules *rules)
{
	static struct ts_filter filter;
	uint8_t hello = ts_broker_can_read(process) ? HELLO_FILTER : HELLO_FORBIDDEN;

	if (hello == HELLO_FILTER && !ts_sandbox_rules_open(rules))
		hello = HELLO_FILES;
	errno = 0;
	if (hello == HELLO_FILTER && !ts_filter_make(&filter, process)) {
		if (errno != EMFILE && errno != ENFILE)
			return false;
		hello = HELLO_FILES;
	}
	return ts_write_whole(socket, &hello, 1) && hello == HELLO_FILTER &&
	       ts_write_whole(socket, &filter, offsetof(struct ts_filter, code) + filter.len);
}

static _Noreturn void be_broker(int socket, pid_t process, struct ts_sandbox_rules rules)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };
	const uint8_t too_few = HELLO_FILES;
	int fd, kept;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	kept = fcntl(socket, F_DUPFD_CLOEXEC, 3); /* the first three may have been closed when the program started */
	if (kept < 0) {
		ts_write_whole(socket, &too_few, 1);
		_exit(1);
	}
	socket = kept;
	if (!names_descriptor(&rules))
		close_others(socket);
	allow_files();
	signal(SIGVTALRM, SIG_DFL);
	/* libseccomp may not come to an end where its memory is short */
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){ .it_value.tv_sec = GREETING_S }, NULL);
	if (getppid() != process || !greet(socket, process, &rules))
		_exit(1);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){ 0 }, NULL);
	fd = receive_fd(socket);
	close(socket);
	if (fd >= 0)
		ts_broker_run(fd, &rules);
	_exit(0);
}

static bool receive(int socket, void *to, size_t len)
{
	return recv(socket, to, len, MSG_WAITALL) == (ssize_t)len;
}

/* Take the filter that the broker sends, of whole instructions. */
static bool take_filter(int socket, struct ts_filter *f, struct ts_error *err)
{
	uint8_t hello;

	if (!receive(socket, &hello, 1))
		return ts_no_memory(err, "its rules");
	if (hello == HELLO_FORBIDDEN)
		return ts_fail(err, TS_EIO, TS_NO_OFF, "the system does not let a process open files for it");
	if (hello == HELLO_FILES)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "too few files may be open");
	if (receive(socket, &f->len, sizeof(f->len)) && f->len <= sizeof(f->code) &&
	    f->len % sizeof(f->code[0]) == 0 && receive(socket, f->code, f->len))
		return true;
	return ts_no_memory(err, "its rules");
}

/* Returns the socket to a broker that can do its work, and its filter; -1 with @err. */
static int start_broker(const struct ts_sandbox_rules *rules, struct ts_filter *f, struct ts_error *err)
{
	pid_t process = getpid(), broker;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		fail_for_want(err);
		return -1;
	}
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* until the broker is known; no effect without Yama */
	broker = fork();
	if (!broker)
		be_broker(ends[1], process, *rules);
	if (broker < 0)
		fail_for_want(err);
	close(ends[1]);
	if (broker > 0 && take_filter(ends[0], f, err)) {
		prctl(PR_SET_PTRACER, broker);
		return ends[0];
	}
	close(ends[0]);
	return -1;
}

/* ------------------------------------------------------------------------------------------- the sandbox */

/* Hand the notifications to the broker.  Without it nothing could be opened any more. */
static bool hand_over(int fd, int socket, struct ts_error *err)
{
	bool done = send_fd(socket, fd);

	close(fd); /* its owner can answer in place of the broker */
	return done || ts_fail(err, TS_ENOMEM, TS_NO_OFF, "its broker has ended");
}

static bool finish(bool *has_landlock, struct ts_error *err)
{
	*has_landlock = enter_landlock();
	return ts_filter_finish() ||
	       ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for its last filter: %s", strerror(errno));
}

bool ts_sandbox_enter(const struct ts_sandbox_rules *rules, bool *has_landlock, struct ts_error *err)
{
	static struct ts_filter filter;
	int socket, fd;
	bool done;

	if (!IS_BUILT || looks_for_leaks())
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "this build has none");
	if (rules->is_failed)
		return ts_no_memory(err, "its rules");
	socket = start_broker(rules, &filter, err);
	if (socket < 0)
		return false;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	fd = install(&filter);
	if (fd < 0)
		done = ts_fail_errno(err, "the system does not allow a filter of system calls");
	else
		done = hand_over(fd, socket, err) && finish(has_landlock, err);
	close(socket);
	return done;
}
