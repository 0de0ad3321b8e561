/* SPDX-License-Identifier: MIT */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "broker.h"
#include "src/base/whole.h"

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

bool ts_sandbox_is_built(void)
{
	return IS_BUILT && !looks_for_leaks();
}

/* ------------------------------------------------------------------------------------------- the filter */

/* Calls on what the process has already, and questions about names. */
static const int allowed[] = {
	/* descriptors */
	SCMP_SYS(read),
	SCMP_SYS(write),
	SCMP_SYS(readv),
	SCMP_SYS(writev),
	SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),
	SCMP_SYS(preadv),
	SCMP_SYS(pwritev),
	SCMP_SYS(lseek),
	SCMP_SYS(close),
	SCMP_SYS(close_range),
	SCMP_SYS(dup),
	SCMP_SYS(dup2),
	SCMP_SYS(dup3),
	SCMP_SYS(flock),
	SCMP_SYS(fsync),
	SCMP_SYS(fdatasync),
	SCMP_SYS(ftruncate),
	SCMP_SYS(fallocate),
	SCMP_SYS(fadvise64),
	SCMP_SYS(getdents64),
	SCMP_SYS(fstat),
	SCMP_SYS(fstatfs),
	SCMP_SYS(copy_file_range),
	SCMP_SYS(sendfile),
	SCMP_SYS(readahead),
	SCMP_SYS(sync_file_range),
	SCMP_SYS(_llseek),
	SCMP_SYS(fstat64),
	SCMP_SYS(fstatfs64),
	SCMP_SYS(pipe),
	SCMP_SYS(pipe2),
	SCMP_SYS(memfd_create),
	/* names */
	SCMP_SYS(stat),
	SCMP_SYS(lstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(fstatat64),
	SCMP_SYS(statx),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(getcwd),
	SCMP_SYS(statfs),
	/* memory */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(msync),
	SCMP_SYS(mincore),
	SCMP_SYS(membarrier),
	/* threads and signals of this process */
	SCMP_SYS(futex),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(set_tid_address),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(gettid),
	SCMP_SYS(getpid),
	SCMP_SYS(getppid),
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getegid),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigreturn),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(umask),
	SCMP_SYS(getrlimit),
	SCMP_SYS(getrusage),
	SCMP_SYS(ugetrlimit),
	SCMP_SYS(sysinfo),
	SCMP_SYS(uname),
	SCMP_SYS(getrandom),
	SCMP_SYS(setsid),
	/* time and waiting */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_getres),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(time),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(select),
	SCMP_SYS(pselect6),
	SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_create),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(eventfd2),
	SCMP_SYS(timerfd_create),
	SCMP_SYS(timerfd_settime),
	SCMP_SYS(signalfd4),
	SCMP_SYS(clock_gettime64),
	SCMP_SYS(futex_time64),
	SCMP_SYS(ppoll_time64),
	SCMP_SYS(clock_nanosleep_time64),
	/* sockets that it has, and their clients */
	SCMP_SYS(accept4),
	SCMP_SYS(accept),
	SCMP_SYS(recvfrom),
	SCMP_SYS(sendto),
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg),
	SCMP_SYS(shutdown),
	SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),
	SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt),
	/* less still */
	SCMP_SYS(landlock_create_ruleset),
	SCMP_SYS(landlock_restrict_self),
};

/* Calls that the broker makes. */
static const int brokered[] = {
	SCMP_SYS(open),   SCMP_SYS(openat),   SCMP_SYS(creat),     SCMP_SYS(unlink),    SCMP_SYS(unlinkat),
	SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(link),      SCMP_SYS(linkat),
	SCMP_SYS(mkdir),  SCMP_SYS(mkdirat),  SCMP_SYS(fchmod),    SCMP_SYS(utimensat),
};

/* Calls that the C library, or ours, replaces by others when the kernel has them not. */
static const int unknown[] = { SCMP_SYS(clone3), SCMP_SYS(openat2), SCMP_SYS(io_uring_setup) };

static bool add_all(scmp_filter_ctx ctx, uint32_t action, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (seccomp_rule_add(ctx, action, calls[i], 0))
			return false;
	}
	return true;
}

/* Allow @call if its argument @arg, masked, is @value. */
static bool add_if(scmp_filter_ctx ctx, int call, unsigned arg, uint64_t mask, uint64_t value)
{
	const struct scmp_arg_cmp cmp = { arg, SCMP_CMP_MASKED_EQ, mask, value };

	return !seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, call, 1, &cmp);
}

/* What depends on arguments: threads but no processes, no new code, signals to this process alone. */
static bool add_conditional(scmp_filter_ctx ctx, pid_t process)
{
	static const int no_code[] = { SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect) };
	/* F_SETOWN would have the kernel send signals to others */
	static const unsigned descriptor[] = { F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL,
					       F_SETFL, F_GETLK,         F_SETLK, F_SETLKW };
	static const unsigned terminal[] = { 0x5401 /* TCGETS */, 0x5413 /* TIOCGWINSZ */, FIONREAD, FIONBIO };
	bool done = add_if(ctx, SCMP_SYS(clone), 0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM) &&
		    add_if(ctx, SCMP_SYS(tgkill), 0, UINT32_MAX, (uint64_t)process) &&
		    add_if(ctx, SCMP_SYS(kill), 0, UINT32_MAX, (uint64_t)process) &&
		    add_if(ctx, SCMP_SYS(prlimit64), 2, UINT64_MAX, 0) &&
		    add_if(ctx, SCMP_SYS(prctl), 0, UINT32_MAX, PR_GET_SECCOMP) &&
		    add_if(ctx, SCMP_SYS(prctl), 0, UINT32_MAX, PR_SET_NAME);

	for (size_t i = 0; i < sizeof(no_code) / sizeof(no_code[0]); i++)
		done = done && add_if(ctx, no_code[i], 2, PROT_EXEC, 0);
	for (size_t i = 0; i < sizeof(descriptor) / sizeof(descriptor[0]); i++)
		done = done && add_if(ctx, SCMP_SYS(fcntl), 1, UINT32_MAX, descriptor[i]) &&
		       add_if(ctx, SCMP_SYS(fcntl64), 1, UINT32_MAX, descriptor[i]);
	for (size_t i = 0; i < sizeof(terminal) / sizeof(terminal[0]); i++)
		done = done && add_if(ctx, SCMP_SYS(ioctl), 1, UINT32_MAX, terminal[i]);
	return done;
}

#define ADD_ALL(ctx, action, calls) add_all(ctx, action, calls, sizeof(calls) / sizeof((calls)[0]))

/* NULL if memory is exhausted, or if libseccomp is too old for the kernel. */
static scmp_filter_ctx make_rules(pid_t process)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));

	if (!ctx)
		return NULL;
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree: fewer comparisons for each call */
	if (ADD_ALL(ctx, SCMP_ACT_ALLOW, allowed) && ADD_ALL(ctx, SCMP_ACT_NOTIFY, brokered) &&
	    ADD_ALL(ctx, SCMP_ACT_ERRNO(ENOSYS), unknown) && add_conditional(ctx, process))
		return ctx;
	seccomp_release(ctx);
	return NULL;
}

/* A filter as the kernel takes it. */
struct filter {
	uint32_t len; /* bytes */
	struct sock_filter code[BPF_MAXINSNS];
};

static bool export_filter(scmp_filter_ctx ctx, struct filter *f)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	bool done = fd >= 0 && !seccomp_export_bpf(ctx, fd);
	off_t len = done ? lseek(fd, 0, SEEK_END) : 0;

	done = len > 0 && (size_t)len <= sizeof(f->code) && ts_read_whole(fd, f->code, (size_t)len, 0) == len;
	f->len = (uint32_t)len;
	if (fd >= 0)
		close(fd);
	return done;
}

static bool make_filter(struct filter *f, pid_t process)
{
	scmp_filter_ctx ctx = make_rules(process);
	bool done = ctx && export_filter(ctx, f);

	if (ctx)
		seccomp_release(ctx);
	return done;
}

/*
 * The filter for @process.  Where its own memory is short libseccomp leaves rules out, or crashes: therefore
 * it works twice, in a process that does nothing else, and only what it says twice is believed.
 */
static bool make_checked_filter(struct filter *f, pid_t process)
{
	static struct filter again;

	return make_filter(f, process) && make_filter(&again, process) && f->len == again.len &&
	       !memcmp(f->code, again.code, f->len);
}

/* Returns the descriptor of the notifications; -1 with errno. */
static int install(struct filter *f)
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

/* A process, or files, that the system has not got now. */
static void fail_for_want(struct ts_error *err)
{
	bool is_short = errno == EAGAIN || errno == ENOMEM || errno == EMFILE || errno == ENFILE;

	ts_fail(err, is_short ? TS_ENOMEM : TS_EIO, TS_NO_OFF, "no process can be started that opens files for it: %s",
		strerror(errno));
}

/* Seconds of the processor's time within which the broker says it; it takes some milliseconds. */
#define GREETING_S 2

/* What the broker says first. */
enum hello {
	HELLO_FILTER,	 /* a struct filter follows */
	HELLO_FORBIDDEN, /* the system does not let it read the process's memory */
};

static bool greet(int socket, pid_t process)
{
	static struct filter filter;
	uint8_t hello = ts_broker_can_read(process) ? HELLO_FILTER : HELLO_FORBIDDEN;

	if (hello == HELLO_FILTER && !make_checked_filter(&filter, process))
		return false;
	return ts_write_whole(socket, &hello, 1) && hello == HELLO_FILTER &&
	       ts_write_whole(socket, &filter, offsetof(struct filter, code) + filter.len);
}

static _Noreturn void be_broker(int socket, pid_t process, const struct ts_sandbox_rules *rules)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };
	int fd;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	if (!names_descriptor(rules))
		close_others(socket);
	signal(SIGVTALRM, SIG_DFL);
	/* libseccomp may not come to an end where its memory is short */
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){ .it_value.tv_sec = GREETING_S }, NULL);
	if (getppid() != process || !greet(socket, process))
		_exit(1);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){ 0 }, NULL);
	fd = receive_fd(socket);
	close(socket);
	if (fd >= 0)
		ts_broker_run(fd, rules);
	_exit(0);
}

static bool receive(int socket, void *to, size_t len)
{
	return recv(socket, to, len, MSG_WAITALL) == (ssize_t)len;
}

/* What the broker says: takes its filter, of whole instructions. */
static bool take_filter(int socket, struct filter *f, struct ts_error *err)
{
	uint8_t hello;

	if (receive(socket, &hello, 1) && hello == HELLO_FORBIDDEN)
		return ts_fail(err, TS_EIO, TS_NO_OFF, "the system does not let a process open files for it");
	if (receive(socket, &f->len, sizeof(f->len)) && f->len <= sizeof(f->code) &&
	    f->len % sizeof(f->code[0]) == 0 && receive(socket, f->code, f->len))
		return true;
	return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for its rules");
}

/* Returns the socket to a broker that can do its work, and its filter; -1 with @err. */
static int start_broker(const struct ts_sandbox_rules *rules, struct filter *f, struct ts_error *err)
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
		be_broker(ends[1], process, rules);
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

static bool load(struct filter *f, int socket)
{
	int fd = install(f);
	bool done = fd >= 0 && send_fd(socket, fd);

	if (fd >= 0)
		close(fd); /* who has it answers for the broker */
	return done;
}

bool ts_sandbox_enter(const struct ts_sandbox_rules *rules, bool *has_landlock, struct ts_error *err)
{
	static struct filter filter;
	int socket;
	bool done;

	if (!ts_sandbox_is_built())
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "this build has none");
	if (rules->is_failed)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for its rules");
	socket = start_broker(rules, &filter, err);
	if (socket < 0)
		return false;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	done = load(&filter, socket) ||
	       ts_fail_errno(err, "the system does not allow a filter of system calls");
	close(socket);
	*has_landlock = done && enter_landlock();
	return done;
}
