/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD: at the end of the process, as an attacker would inside of it, it tries what the
 * sandbox forbids, and writes one line for each call to the descriptor PROBE_FD.
 *
 * A broker that has a limit of processor time while it opens files opens none.
 *
 *      PROBE_SPIN=1    what makes the filter does not come to an end until the limit has passed, which it does soon
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static void say(const char *what, long got)
{
	const char *fd = getenv("PROBE_FD");

	dprintf(fd ? atoi(fd) : 2, "%s %s\n", what, got < 0 ? strerrorname_np(errno) : "DONE");
}

/* A file that would tell, or be damage; PROBE_DIR has one with the name secret. */
static void try_files(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/secret", folder);
	say("read", open(path, O_RDONLY));
	say("write", open(path, O_WRONLY));
	say("unlink", unlink(path));
	say("truncate", truncate(path, 0));
	say("chmod", chmod(path, 0666));
	snprintf(path, sizeof(path), "%s/new", folder);
	say("create", open(path, O_WRONLY | O_CREAT, 0600));
	say("mkdir", mkdir(path, 0700));
	say("symlink", symlink("secret", path));
	say("proc", open("/proc/self/mem", O_RDWR));
	say("chdir", chdir("/"));
}

/* The secret that signs indexes, and the copies that other recordings use. */
static void try_cache(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/tracestub/key", getenv("XDG_CACHE_HOME"));
	say("key-read", open(path, O_RDONLY));
	say("key-write", open(path, O_WRONLY | O_TRUNC));
	say("key-remove", unlink(path));
	snprintf(path, sizeof(path), "%s/tracestub/evil.program", getenv("XDG_CACHE_HOME"));
	say("copy", open(path, O_WRONLY | O_CREAT, 0755));
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d/new", (long)getpid(), open(getenv("PROBE_DIR"), O_RDONLY | O_DIRECTORY));
	say("by-descriptor", open(path, O_WRONLY | O_CREAT, 0600));
}

static void try_processes(void)
{
	char *const args[] = { (char *)"/bin/true", NULL };

	say("kill", kill(getppid(), 0));
	say("ptrace", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	say("fork", syscall(SYS_clone, 0, NULL, NULL, NULL, NULL));
	say("mmap-code", (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	say("execve", execve(args[0], args, NULL));
}

/* PROBE_PORT is one of the loopback at which somebody listens; PROBE_SOCKET was made before. */
static int early_socket = -1;

static void try_sockets(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(getenv("PROBE_PORT"))),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	say("socket", socket(AF_INET, SOCK_STREAM, 0));
	say("unix-socket", socket(AF_UNIX, SOCK_STREAM, 0));
	say("connect", connect(early_socket, (struct sockaddr *)&addr, sizeof(addr)));
	say("fastopen", sendto(early_socket, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&addr, sizeof(addr)));
	say("shutdown", shutdown(early_socket, SHUT_RDWR));
	say("bind", bind(early_socket, (struct sockaddr *)&addr, sizeof(addr)));
}

static bool has_limit(void)
{
	struct itimerval left;

	return !getitimer(ITIMER_VIRTUAL, &left) && (left.it_value.tv_sec || left.it_value.tv_usec);
}

/* The limit passes soon, if there is one. */
static void spin(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 10000 };

	if (has_limit() && !setitimer(ITIMER_VIRTUAL, &soon, NULL)) {
		for (;;)
			continue;
	}
}

/* libseccomp's, which the broker calls to make the filter. */
int seccomp_export_bpf(void *ctx, int fd);

int seccomp_export_bpf(void *ctx, int fd)
{
	int (*next)(void *, int) = (int (*)(void *, int))dlsym(RTLD_NEXT, "seccomp_export_bpf");

	if (getenv("PROBE_SPIN"))
		spin();
	return next(ctx, fd);
}

/* The broker reads names in the process; the first time to see whether it can, before it makes the filter. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long n_to, const struct iovec *from, unsigned long n_from,
			 unsigned long flags)
{
	static unsigned n_calls;

	if (n_calls++ && has_limit()) {
		errno = EFAULT;
		return -1;
	}
	return syscall(SYS_process_vm_readv, pid, to, n_to, from, n_from, flags);
}

__attribute__((constructor)) static void begin(void)
{
	early_socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

__attribute__((destructor)) static void end(void)
{
	const char *folder = getenv("PROBE_DIR");
	bool is_inside = prctl(PR_GET_SECCOMP) == 2;

	if (!folder)
		return;
	say("seccomp", is_inside ? 0 : -1);
	try_sockets();
	if (!is_inside) /* the rest would be done */
		return;
	try_files(folder);
	try_cache();
	try_processes(); /* execve comes last */
}
