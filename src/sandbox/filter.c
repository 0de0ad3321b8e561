/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),
	SCMP_SYS(getsockopt),
	/* until the sandbox is entered: ts_filter_finish() */
	SCMP_SYS(sendmsg),
	SCMP_SYS(landlock_create_ruleset),
	SCMP_SYS(landlock_restrict_self),
	SCMP_SYS(seccomp),
};

/* Calls that the broker makes. */
static const int brokered[] = {
	SCMP_SYS(open),   SCMP_SYS(openat),   SCMP_SYS(creat),     SCMP_SYS(unlink),    SCMP_SYS(unlinkat),
	SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(link),      SCMP_SYS(linkat),
	SCMP_SYS(openat2), SCMP_SYS(fchmod),  SCMP_SYS(utimensat),
};

/* Calls that the C library, or ours, replaces by others when the kernel has them not. */
static const int unknown[] = { SCMP_SYS(clone3), SCMP_SYS(io_uring_setup) };

static bool add_all(scmp_filter_ctx ctx, uint32_t action, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (seccomp_rule_add(ctx, action, calls[i], 0))
			return false;
	}
	return true;
}

#define ALL_BITS UINT64_MAX
#define INT_BITS UINT64_C(0xffffffff) /* the kernel takes no notice of the others */

/* Allow @call if its argument @arg, masked, is @value. */
static bool add_if(scmp_filter_ctx ctx, int call, unsigned arg, uint64_t mask, uint64_t value)
{
	const struct scmp_arg_cmp cmp = { arg, SCMP_CMP_MASKED_EQ, mask, value };

	return !seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, call, 1, &cmp);
}

/* As above, of two arguments. */
static bool add_if_both(scmp_filter_ctx ctx, int call, struct scmp_arg_cmp a, struct scmp_arg_cmp b)
{
	return !seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, call, 2, (const struct scmp_arg_cmp[]){ a, b });
}

static struct scmp_arg_cmp equals(unsigned arg, uint64_t mask, uint64_t value)
{
	return (struct scmp_arg_cmp){ arg, SCMP_CMP_MASKED_EQ, mask, value };
}

/*
 * What the C libraries' pthread_create() asks for, with musl's CLONE_DETACHED, which has no effect; nothing else, so
 * that no process and no namespace is made.
 */
#define THREAD_FLAGS \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | \
	 CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

/* Threads but no processes, signals and limits of this process alone. */
static bool add_threads(scmp_filter_ctx ctx, pid_t process)
{
	return add_if(ctx, SCMP_SYS(clone), 0, ALL_BITS & ~(uint64_t)CLONE_DETACHED, THREAD_FLAGS) &&
	       add_if(ctx, SCMP_SYS(tgkill), 0, INT_BITS, (uint64_t)process) &&
	       add_if(ctx, SCMP_SYS(kill), 0, INT_BITS, (uint64_t)process) &&
	       add_if_both(ctx, SCMP_SYS(prlimit64), equals(0, INT_BITS, 0), equals(2, ALL_BITS, 0)) &&
	       add_if_both(ctx, SCMP_SYS(prlimit64), equals(0, INT_BITS, (uint64_t)process), equals(2, ALL_BITS, 0)) &&
	       add_if(ctx, SCMP_SYS(prctl), 0, INT_BITS, PR_GET_SECCOMP) &&
	       add_if(ctx, SCMP_SYS(prctl), 0, INT_BITS, PR_SET_NAME);
}

/*
 * Data to the other end of a connection.  With an address, or MSG_FASTOPEN, a socket that has no other end would get
 * one; so it would with other options.  sendmsg() has its address in memory, where it cannot be seen.
 */
static bool add_sockets(scmp_filter_ctx ctx)
{
	static const struct {
		int level, name;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY },  { IPPROTO_TCP, TCP_KEEPIDLE }, { IPPROTO_TCP, TCP_KEEPINTVL },
		{ IPPROTO_TCP, TCP_KEEPCNT },  { SOL_SOCKET, SO_KEEPALIVE },
	};
	bool done = add_if_both(ctx, SCMP_SYS(sendto), equals(3, MSG_FASTOPEN, 0), equals(4, ALL_BITS, 0));

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		done = done && add_if_both(ctx, SCMP_SYS(setsockopt), equals(1, INT_BITS, (uint64_t)options[i].level),
					   equals(2, INT_BITS, (uint64_t)options[i].name));
	return done;
}

/* No new code; of descriptors and terminals only queries. */
static bool add_others(scmp_filter_ctx ctx)
{
	static const int no_code[] = { SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect) };
	/* F_SETOWN would have the kernel send signals to others */
	static const unsigned descriptor[] = { F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL,
					       F_SETFL, F_GETLK,         F_SETLK, F_SETLKW };
	/* isatty() of glibc 2.42 and later asks by TCGETS2, of earlier ones by TCGETS */
	static const unsigned terminal[] = { 0x5401 /* TCGETS */, 0x802c542a /* TCGETS2 */, 0x5413 /* TIOCGWINSZ */, FIONREAD,
					     FIONBIO };
	bool done = true;

	for (size_t i = 0; i < sizeof(no_code) / sizeof(no_code[0]); i++)
		done = done && add_if(ctx, no_code[i], 2, PROT_EXEC, 0);
	for (size_t i = 0; i < sizeof(descriptor) / sizeof(descriptor[0]); i++)
		done = done && add_if(ctx, SCMP_SYS(fcntl), 1, INT_BITS, descriptor[i]) &&
		       add_if(ctx, SCMP_SYS(fcntl64), 1, INT_BITS, descriptor[i]);
	for (size_t i = 0; i < sizeof(terminal) / sizeof(terminal[0]); i++)
		done = done && add_if(ctx, SCMP_SYS(ioctl), 1, INT_BITS, terminal[i]);
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
	    ADD_ALL(ctx, SCMP_ACT_ERRNO(ENOSYS), unknown) && add_threads(ctx, process) && add_sockets(ctx) &&
	    add_others(ctx))
		return ctx;
	seccomp_release(ctx);
	return NULL;
}

/* Read to the end; the number of bytes. */
static uint32_t read_all(int fd, void *to, size_t len)
{
	size_t n = 0;
	ssize_t got;

	do {
		got = read(fd, (char *)to + n, len - n);
		n += got > 0 ? (size_t)got : 0;
	} while (got > 0 && n < len);
	return (uint32_t)n;
}

/*
 * A pipe holds the largest filter without a reader, and is not a file: a limit on the length of files, which the
 * user may have set, has no effect.
 */
static bool export_filter(scmp_filter_ctx ctx, struct ts_filter *f)
{
	int ends[2];
	bool done;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	done = fcntl(ends[1], F_SETPIPE_SZ, (int)sizeof(f->code)) >= (int)sizeof(f->code) &&
	       !seccomp_export_bpf(ctx, ends[1]);
	close(ends[1]);
	f->len = done ? read_all(ends[0], f->code, sizeof(f->code)) : 0;
	close(ends[0]);
	return f->len > 0;
}

static bool make_filter(struct ts_filter *f, pid_t process)
{
	scmp_filter_ctx ctx = make_rules(process);
	bool done = ctx && export_filter(ctx, f);

	if (ctx)
		seccomp_release(ctx);
	return done;
}

bool ts_filter_make(struct ts_filter *f, pid_t process)
{
	static struct ts_filter again;

	return make_filter(f, process) && make_filter(&again, process) && f->len == again.len &&
	       !memcmp(f->code, again.code, f->len);
}

/* ------------------------------------------------------------------------------------- what is over */

/* If the call is number @nr, it fails. */
#define REFUSE(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

bool ts_filter_finish(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(SYS_sendmsg),
		REFUSE(SYS_landlock_create_ruleset),
		REFUSE(SYS_landlock_restrict_self),
		REFUSE(SYS_seccomp),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}
