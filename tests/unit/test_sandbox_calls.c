/* SPDX-License-Identifier: MIT */
/*
 * What the kernel does for a process in the sandbox: each call of the table is made inside, by number, and its outcome is
 * compared with the expected one.  Arguments that the filter compares have lines of their own.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/sandbox/sandbox.h"

enum outcome {
	DONE,	 /* the kernel does it, or has a reason of its own not to */
	REFUSED, /* EPERM: it is not on the list */
	DENIED,	 /* EACCES: the broker does not make it */
	UNKNOWN, /* ENOSYS */
	KILLED,	 /* the process is ended */
};

#define FLAGS \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | \
	 CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)
#define BAD (-1L)    /* no descriptor, no address: what is allowed fails for that reason */
#define X32 0x40000000
#define ELSEWHERE 1L /* another process */

static char text[] = "/nonexistent/file";
#define NAME (long)text

static const struct call {
	const char *name;
	long nr, args[6];
	enum outcome outcome;
} calls[] = {
	/* programs and processes */
	{ "execve", SYS_execve, { NAME }, REFUSED },
	{ "execveat", SYS_execveat, { AT_FDCWD, NAME }, REFUSED },
	{ "fork by clone", SYS_clone, { SIGCHLD }, REFUSED },
	{ "clone of a thread with a network of its own", SYS_clone, { FLAGS | CLONE_NEWNET }, REFUSED },
	{ "clone of a thread with mounts of its own", SYS_clone, { FLAGS | CLONE_NEWNS }, REFUSED },
	{ "clone of a thread with users of its own", SYS_clone, { FLAGS | CLONE_NEWUSER }, REFUSED },
	{ "clone of a thread with a signal at its end", SYS_clone, { FLAGS | SIGCHLD }, REFUSED },
	{ "clone that is traced", SYS_clone, { FLAGS | CLONE_PTRACE }, REFUSED },
	{ "clone with a pidfd", SYS_clone, { FLAGS | CLONE_PIDFD }, REFUSED },
	{ "clone with less than a thread has", SYS_clone, { CLONE_VM | CLONE_THREAD | CLONE_SIGHAND }, REFUSED },
	{ "clone with high bits", SYS_clone, { FLAGS | 1L << 33 }, REFUSED },
	{ "clone3", SYS_clone3, { 0 }, UNKNOWN },
	{ "unshare", SYS_unshare, { CLONE_NEWUSER }, REFUSED },
	{ "setns", SYS_setns, { BAD }, REFUSED },
	{ "ptrace", SYS_ptrace, { 16, ELSEWHERE }, REFUSED },
	{ "process_vm_readv", SYS_process_vm_readv, { ELSEWHERE }, REFUSED },
	{ "process_vm_writev", SYS_process_vm_writev, { ELSEWHERE }, REFUSED },
	{ "pidfd_open", SYS_pidfd_open, { ELSEWHERE }, REFUSED },
	{ "pidfd_getfd", SYS_pidfd_getfd, { BAD }, REFUSED },
	{ "kcmp", SYS_kcmp, { ELSEWHERE, ELSEWHERE }, REFUSED },
	{ "kill of another", SYS_kill, { ELSEWHERE, 0 }, REFUSED },
	{ "kill of the group", SYS_kill, { 0, 0 }, REFUSED },
	{ "kill of all", SYS_kill, { -1, 0 }, REFUSED },
	{ "tgkill of another", SYS_tgkill, { ELSEWHERE, ELSEWHERE, 0 }, REFUSED },
	{ "tkill", SYS_tkill, { ELSEWHERE, 0 }, REFUSED },
	{ "rt_sigqueueinfo", SYS_rt_sigqueueinfo, { ELSEWHERE }, REFUSED },
	{ "prlimit of another", SYS_prlimit64, { ELSEWHERE, 7, 0, 0 }, REFUSED },
	{ "prlimit that sets", SYS_prlimit64, { 0, 7, NAME, 0 }, REFUSED },
	{ "prlimit that asks", SYS_prlimit64, { 0, 7, 0, 0 }, DONE },
	{ "setrlimit", SYS_setrlimit, { 7, NAME }, REFUSED },
	{ "setpriority", SYS_setpriority, { 0, 0, 1 }, REFUSED },
	{ "sched_setaffinity", SYS_sched_setaffinity, { 0 }, REFUSED },
	{ "personality", SYS_personality, { 0 }, REFUSED },
	{ "prctl of dumps", SYS_prctl, { PR_SET_DUMPABLE, 1 }, REFUSED },
	{ "prctl of a tracer", SYS_prctl, { PR_SET_PTRACER, -1 }, REFUSED },
	{ "prctl of a name", SYS_prctl, { PR_SET_NAME, NAME }, DONE },
	{ "seccomp", SYS_seccomp, { 1, 8, 0 }, REFUSED },
	{ "landlock_create_ruleset", SYS_landlock_create_ruleset, { 0, 0, 1 }, REFUSED },
	{ "landlock_restrict_self", SYS_landlock_restrict_self, { BAD }, REFUSED },
	{ "setuid", SYS_setuid, { 0 }, REFUSED },
	{ "setgroups", SYS_setgroups, { 0 }, REFUSED },
	{ "capset", SYS_capset, { 0 }, REFUSED },
	{ "chroot", SYS_chroot, { NAME }, REFUSED },
	{ "chdir", SYS_chdir, { NAME }, REFUSED },
	{ "fchdir", SYS_fchdir, { BAD }, REFUSED },
	/* sockets */
	{ "socket", SYS_socket, { AF_INET, SOCK_STREAM, 0 }, REFUSED },
	{ "unix socket", SYS_socket, { AF_UNIX, SOCK_STREAM, 0 }, REFUSED },
	{ "socketpair", SYS_socketpair, { AF_UNIX, SOCK_STREAM, 0 }, REFUSED },
	{ "connect", SYS_connect, { BAD, NAME, 16 }, REFUSED },
	{ "bind", SYS_bind, { BAD, NAME, 16 }, REFUSED },
	{ "listen", SYS_listen, { BAD, 1 }, REFUSED },
	{ "shutdown", SYS_shutdown, { BAD, SHUT_RDWR }, REFUSED },
	{ "sendmsg", SYS_sendmsg, { BAD, NAME, 0 }, REFUSED },
	{ "sendmmsg", SYS_sendmmsg, { BAD, NAME, 1, 0 }, REFUSED },
	{ "recvmsg", SYS_recvmsg, { BAD, NAME, 0 }, REFUSED },
	{ "sendto", SYS_sendto, { BAD, NAME, 1, MSG_NOSIGNAL, 0, 0 }, DONE },
	{ "sendto with an address", SYS_sendto, { BAD, NAME, 1, 0, NAME, 16 }, REFUSED },
	{ "sendto with MSG_FASTOPEN", SYS_sendto, { BAD, NAME, 1, MSG_FASTOPEN, 0, 0 }, REFUSED },
	{ "sendto with both", SYS_sendto, { BAD, NAME, 1, MSG_FASTOPEN | MSG_NOSIGNAL, NAME, 16 }, REFUSED },
	{ "recvfrom", SYS_recvfrom, { BAD, NAME, 1, 0, 0, 0 }, DONE },
	{ "accept4", SYS_accept4, { BAD, 0, 0, 0 }, DONE },
	{ "setsockopt of TCP_NODELAY", SYS_setsockopt, { BAD, IPPROTO_TCP, TCP_NODELAY, NAME, 4 }, DONE },
	{ "setsockopt of SO_KEEPALIVE", SYS_setsockopt, { BAD, SOL_SOCKET, SO_KEEPALIVE, NAME, 4 }, DONE },
	{ "setsockopt of TCP_REPAIR", SYS_setsockopt, { BAD, IPPROTO_TCP, TCP_REPAIR, NAME, 4 }, REFUSED },
	{ "setsockopt of TCP_FASTOPEN_CONNECT", SYS_setsockopt, { BAD, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, NAME, 4 }, REFUSED },
	{ "setsockopt of SO_ATTACH_FILTER", SYS_setsockopt, { BAD, SOL_SOCKET, SO_ATTACH_FILTER, NAME, 4 }, REFUSED },
	{ "setsockopt of another level", SYS_setsockopt, { BAD, IPPROTO_IP, TCP_NODELAY, NAME, 4 }, REFUSED },
	/* files */
	{ "open", SYS_openat, { AT_FDCWD, NAME, O_RDONLY }, DENIED },
	{ "open for writing", SYS_openat, { AT_FDCWD, NAME, O_WRONLY }, DENIED },
	{ "openat2", SYS_openat2, { AT_FDCWD, NAME, 0, 24 }, DONE }, /* without its structure */
	{ "open_by_handle_at", SYS_open_by_handle_at, { BAD }, REFUSED },
	{ "name_to_handle_at", SYS_name_to_handle_at, { AT_FDCWD, NAME }, REFUSED },
	{ "unlink", SYS_unlinkat, { AT_FDCWD, NAME, 0 }, DENIED },
	{ "rmdir", SYS_unlinkat, { AT_FDCWD, NAME, AT_REMOVEDIR }, DENIED },
	{ "rename", SYS_renameat2, { AT_FDCWD, NAME, AT_FDCWD, NAME, 0 }, DENIED },
	{ "rename that exchanges", SYS_renameat2, { AT_FDCWD, NAME, AT_FDCWD, NAME, 2 }, DENIED },
	{ "link", SYS_linkat, { AT_FDCWD, NAME, AT_FDCWD, NAME, 0 }, DENIED },
	{ "symlink", SYS_symlinkat, { NAME, AT_FDCWD, NAME }, REFUSED },
	{ "mkdir", SYS_mkdirat, { AT_FDCWD, NAME, 0700 }, REFUSED },
	{ "mknod", SYS_mknodat, { AT_FDCWD, NAME, 0600, 0 }, REFUSED },
	{ "chmod", SYS_fchmodat, { AT_FDCWD, NAME, 0777 }, REFUSED },
	{ "chown", SYS_fchownat, { AT_FDCWD, NAME, 0, 0, 0 }, REFUSED },
	{ "fchown", SYS_fchown, { BAD, 0, 0 }, REFUSED },
	{ "fchmod with setuid", SYS_fchmod, { 0, 04755 }, DENIED },
	{ "truncate", SYS_truncate, { NAME, 0 }, REFUSED },
	{ "setxattr", SYS_setxattr, { NAME, NAME }, REFUSED },
	{ "fsetxattr", SYS_fsetxattr, { BAD, NAME }, REFUSED },
	{ "mount", SYS_mount, { NAME, NAME }, REFUSED },
	{ "fsopen", SYS_fsopen, { NAME }, REFUSED },
	{ "open_tree", SYS_open_tree, { AT_FDCWD, NAME }, REFUSED },
	{ "pivot_root", SYS_pivot_root, { NAME, NAME }, REFUSED },
	{ "quotactl", SYS_quotactl, { 0, NAME }, REFUSED },
	{ "splice", SYS_splice, { BAD, 0, BAD }, REFUSED },
	{ "vmsplice", SYS_vmsplice, { BAD }, REFUSED },
	{ "inotify_init1", SYS_inotify_init1, { 0 }, REFUSED },
	{ "fanotify_init", SYS_fanotify_init, { 0 }, REFUSED },
	{ "fcntl of an owner", SYS_fcntl, { 0, F_SETOWN, ELSEWHERE }, REFUSED },
	{ "fcntl of a signal", SYS_fcntl, { 0, F_SETSIG, 9 }, REFUSED },
	{ "fcntl of a folder's events", SYS_fcntl, { 0, F_NOTIFY, 1 }, REFUSED },
	{ "fcntl of a lease", SYS_fcntl, { 0, F_SETLEASE, 0 }, REFUSED },
	{ "fcntl of flags", SYS_fcntl, { 0, F_GETFL }, DONE },
	{ "ioctl that types", SYS_ioctl, { 0, TIOCSTI, NAME }, REFUSED },
	{ "ioctl of a console", SYS_ioctl, { 0, 0x541c, NAME }, REFUSED },
	{ "ioctl of a terminal's owner", SYS_ioctl, { 0, TIOCSCTTY, 0 }, REFUSED },
	{ "ioctl of isatty()", SYS_ioctl, { 0, 0x5401, NAME }, DONE },
	{ "ioctl of isatty() since glibc 2.42", SYS_ioctl, { 0, 0x802c542a, NAME }, DONE },
	{ "read", SYS_read, { BAD, NAME, 1 }, DONE },
	{ "stat", SYS_newfstatat, { AT_FDCWD, NAME, BAD, 0 }, DONE },
	/* memory */
	{ "mmap of code", SYS_mmap, { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 }, REFUSED },
	{ "mmap", SYS_mmap, { 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 }, DONE },
	{ "mprotect to code", SYS_mprotect, { 0, 4096, PROT_EXEC }, REFUSED },
	{ "pkey_mprotect", SYS_pkey_mprotect, { 0, 4096, PROT_READ, -1 }, REFUSED },
	{ "remap_file_pages", SYS_remap_file_pages, { 0 }, REFUSED },
	{ "shmget", SYS_shmget, { 0, 4096, 01600 }, REFUSED },
	{ "mlock", SYS_mlock, { NAME, 1 }, REFUSED },
	{ "memfd_create", SYS_memfd_create, { NAME, 0 }, DONE },
	{ "userfaultfd", SYS_userfaultfd, { 0 }, REFUSED },
	{ "process_madvise", SYS_process_madvise, { BAD }, REFUSED },
	/* the kernel */
	{ "bpf", SYS_bpf, { 0 }, REFUSED },
	{ "perf_event_open", SYS_perf_event_open, { 0 }, REFUSED },
	{ "io_uring_setup", SYS_io_uring_setup, { 1, 0 }, UNKNOWN },
	{ "io_uring_enter", SYS_io_uring_enter, { BAD }, REFUSED },
	{ "keyctl", SYS_keyctl, { 0 }, REFUSED },
	{ "add_key", SYS_add_key, { NAME, NAME }, REFUSED },
	{ "syslog", SYS_syslog, { 3, 0, 0 }, REFUSED },
	{ "reboot", SYS_reboot, { 1, 2, 3, 4 }, REFUSED },
	{ "init_module", SYS_init_module, { 0 }, REFUSED },
	{ "finit_module", SYS_finit_module, { BAD }, REFUSED },
	{ "kexec_load", SYS_kexec_load, { 0 }, REFUSED },
	{ "swapon", SYS_swapon, { NAME }, REFUSED },
	{ "sethostname", SYS_sethostname, { NAME, BAD }, REFUSED },
	{ "settimeofday", SYS_settimeofday, { 0 }, REFUSED },
	{ "clock_settime", SYS_clock_settime, { 0, 0 }, REFUSED },
	{ "adjtimex", SYS_adjtimex, { 0 }, REFUSED },
	{ "mq_open", SYS_mq_open, { NAME }, REFUSED },
	{ "a number that no call has", 100000, { 0 }, REFUSED },
#ifdef __x86_64__
	{ "x32", X32 | SYS_getpid, { 0 }, KILLED },
	{ "arch_prctl", SYS_arch_prctl, { 0 }, REFUSED },
	{ "iopl", SYS_iopl, { 3 }, REFUSED },
	{ "vfork", SYS_vfork, { 0 }, REFUSED },
	{ "fork", SYS_fork, { 0 }, REFUSED },
#endif
};
#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

static bool has_landlock;

/* A process in the sandbox; it exits with 77 if there is none. */
static pid_t fork_inside(void)
{
	struct ts_sandbox_rules rules = { 0 };
	struct ts_error err = { 0 };
	pid_t pid = fork();

	if (pid)
		return pid;
	signal(SIGSYS, SIG_DFL);
	if (!ts_sandbox_enter(&rules, &has_landlock, &err))
		_exit(err.code == TS_ENOMEM ? 78 : 77);
	return 0;
}

static bool is_as_expected(const struct call *c)
{
	const long *a = c->args;
	long got = (errno = 0, syscall(c->nr, a[0], a[1], a[2], a[3], a[4], a[5]));
	int error = got == -1 ? errno : 0;

	switch (c->outcome) {
	case DONE:
		return error != EPERM && error != ENOSYS && (error != EACCES);
	case REFUSED:
		return error == EPERM;
	case DENIED:
		return error == EACCES;
	case UNKNOWN:
		return error == ENOSYS;
	case KILLED:
		break;
	}
	return false;
}

/* Those that the process survives; returns how many are not as expected. */
static int make_calls(void)
{
	int n_wrong = 0;

	for (size_t i = 0; i < N_CALLS; i++) {
		if (calls[i].outcome == KILLED || is_as_expected(&calls[i]))
			continue;
		fprintf(stderr, "%s: %s\n", calls[i].name, strerror(errno));
		n_wrong++;
	}
	return n_wrong;
}

static bool has_none(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 77;
}

START_TEST(each_call_has_the_expected_outcome)
{
	int status;
	pid_t pid;

	ck_assert(!setenv("ASAN_OPTIONS", "detect_leaks=0", 1));
	ck_assert_uint_ge(N_CALLS, 100);
	pid = fork_inside();
	if (!pid)
		_exit(make_calls() ? 1 : 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (!has_none(status))
		ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "status %#x", (unsigned)status);
}
END_TEST

START_TEST(calls_of_another_table_end_the_process)
{
	ck_assert(!setenv("ASAN_OPTIONS", "detect_leaks=0", 1));
	for (size_t i = 0; i < N_CALLS; i++) {
		int status;
		pid_t pid = calls[i].outcome == KILLED ? fork_inside() : -1;

		if (!pid) {
			syscall(calls[i].nr, 0, 0, 0, 0, 0, 0);
			_exit(0);
		}
		if (pid < 0)
			continue;
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		if (!has_none(status))
			ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s: %#x", calls[i].name,
				      (unsigned)status);
	}
}
END_TEST

/* Where the kernel has landlock, it is in force. */
START_TEST(landlock_is_in_force)
{
	bool is_in_kernel = syscall(SYS_landlock_create_ruleset, NULL, 0, 1u) >= 1;
	int status;
	pid_t pid;

	ck_assert(!setenv("ASAN_OPTIONS", "detect_leaks=0", 1));
	pid = fork_inside();
	if (!pid)
		_exit(has_landlock ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (!has_none(status))
		ck_assert_int_eq(WEXITSTATUS(status), is_in_kernel ? 0 : 1);
}
END_TEST

static void *run(void *user)
{
	*(int *)user = 1;
	return NULL;
}

START_TEST(threads_are_made)
{
	int status;
	pid_t pid;

	ck_assert(!setenv("ASAN_OPTIONS", "detect_leaks=0", 1));
	pid = fork_inside();
	if (!pid) {
		pthread_t thread;
		int has_run = 0;

		_exit(pthread_create(&thread, NULL, run, &has_run) || pthread_join(thread, NULL) || !has_run);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(has_none(status) || (WIFEXITED(status) && !WEXITSTATUS(status)));
}
END_TEST

UNIT_SUITE("sandbox_calls", each_call_has_the_expected_outcome, calls_of_another_table_end_the_process, landlock_is_in_force,
	   threads_are_made)
