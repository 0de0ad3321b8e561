/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded: one call of a process fails.
 *
 *      FAULT=KIND:N:ERRNO  the N-th call of KIND, from 1, fails with that error number; ERRNO 0: it does half
 *                          of its work
 *      FAULT=clock:N:S     from the N-th question on the time is S seconds later; earlier: the date alone, as
 *                          in life
 *      FAULT=files:N:0     the process may have N open files
 *      FAULT_TRACE=1       its callers are written to stderr
 *      FAULT_FD=FD         there the number of calls of each kind is written at the end: "KIND N" lines; by
 *                          each copy, if it forks
 *      FAULT_SERVER=FD     the process stays before its main(), and is copied for each request from that
 *                          socket
 *
 * Whatever fails: a file that gets its name (rename, link) before all its bytes are synced ends the process with
 * SIGABRT and a line on stderr; so does, where no call fails, a folder with a new name that is not synced at
 * the end.
 *
 * KIND is alloc, library, read, write, sync, rename, open, map, thread or accept.  Only calls of the program
 * itself and of the C library on its behalf count; library: allocations of whatever library, too.  In a
 * program with AddressSanitizer its allocator is the one that fails; this library comes first all the same
 * (ASAN_OPTIONS=verify_asan_link_order=0).  There the calls of the C library do not count: the sanitizer has
 * some of its own made by it, and cannot do without.
 *
 * A request is one message, with descriptors for stdin, stdout, stderr and, if there is a fourth, FAULT_FD;
 * its text is that of FAULT, or nothing.  What comes back: the number of the process that runs then, and,
 * when it has ended, the status that waitpid() gave, both as int.  So most of a short run's time, that of the
 * dynamic linker, is spent once.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t len);
void *__libc_calloc(size_t n, size_t len);
void *__libc_realloc(void *p, size_t len);
void *__libc_memalign(size_t align, size_t len);

/* AddressSanitizer's, where the program has it. */
#define WEAK __attribute__((weak))
WEAK void *__interceptor_malloc(size_t len);
WEAK void *__interceptor_calloc(size_t n, size_t len);
WEAK void *__interceptor_realloc(void *p, size_t len);
WEAK void *__interceptor_aligned_alloc(size_t align, size_t len);

enum kind { ALLOC, LIBRARY, READ, WRITE, SYNC, RENAME, OPEN, MAP, THREAD, ACCEPT, CLOCK, N_KINDS };

static const char *const names[N_KINDS] = { "alloc", "library", "read", "write", "sync", "rename", "open", "map", "thread", "accept",
					    "clock" };

static atomic_ulong counts[N_KINDS];
static unsigned long fails_at[N_KINDS];
static int error;
static int report_fd = -1;
static bool is_tracing;
static bool has_fault;
static atomic_bool is_on;

/* Address ranges of the program and of the C library. */
static struct {
	uintptr_t from, to;
} ours[2];

static int find_object(struct dl_phdr_info *info, size_t size, void *user)
{
	unsigned i = *info->dlpi_name ? 1 : 0;

	(void)size;
	(void)user;
	if (i && (!strstr(info->dlpi_name, "/libc.so") || __interceptor_malloc))
		return 0;
	ours[i].from = UINTPTR_MAX;
	for (unsigned k = 0; k < info->dlpi_phnum; k++) {
		uintptr_t from = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr,
			  to = from + info->dlpi_phdr[k].p_memsz;

		if (info->dlpi_phdr[k].p_type != PT_LOAD)
			continue;
		ours[i].from = from < ours[i].from ? from : ours[i].from;
		ours[i].to = to > ours[i].to ? to : ours[i].to;
	}
	return 0;
}

static bool is_ours(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;

	return (at >= ours[0].from && at < ours[0].to) || (at >= ours[1].from && at < ours[1].to);
}

/* Is this the call that fails? */
#define fails(kind) call_fails(kind, __builtin_return_address(0))

static bool call_fails(enum kind kind, const void *caller)
{
	bool is_it = kind == ALLOC && is_on && ++counts[LIBRARY] == fails_at[LIBRARY];

	if (is_on && is_ours(caller) && ++counts[kind] == fails_at[kind])
		is_it = true;
	if (!is_it)
		return false;
	if (is_tracing) {
		void *callers[32];

		is_on = false; /* this allocates */
		backtrace_symbols_fd(callers, backtrace(callers, 32), STDERR_FILENO);
		is_on = true;
	}
	errno = error;
	return true;
}

static void choose(const char *fault)
{
	char name[16];
	unsigned long n;

	if (sscanf(fault, "%15[a-z]:%lu:%d", name, &n, &error) != 3)
		return;
	for (unsigned i = 0; i < N_KINDS; i++)
		fails_at[i] = strcmp(name, names[i]) ? 0 : n;
	has_fault = true;
	if (!strcmp(name, "files"))
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ n, n });
}

/* ------------------------------------------------------------------------------ what must be synced before */

#define MAX_UNSYNCED 64

/* Files with bytes, and folders with names, that a power cut may take. */
static struct unsynced {
	dev_t dev;
	ino_t ino;
	bool is_folder;
} unsynced[MAX_UNSYNCED];

static unsigned n_unsynced;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both */

static bool is_of(const struct unsynced *u, const struct stat *st)
{
	return u->dev == st->st_dev && u->ino == st->st_ino;
}

/* Note whether the file is @is_unsynced now.  Returns whether it was. */
static bool note(const struct stat *st, bool is_unsynced)
{
	bool is_folder = S_ISDIR(st->st_mode);
	unsigned i = 0;
	bool was;

	if (!is_on || (!is_folder && !S_ISREG(st->st_mode)))
		return false;
	pthread_mutex_lock(&lock);
	while (i < n_unsynced && !is_of(&unsynced[i], st))
		i++;
	was = i < n_unsynced;
	if (was && !is_unsynced)
		unsynced[i] = unsynced[--n_unsynced];
	else if (!was && is_unsynced && n_unsynced < MAX_UNSYNCED)
		unsynced[n_unsynced++] = (struct unsynced){ st->st_dev, st->st_ino, is_folder };
	pthread_mutex_unlock(&lock);
	return was;
}

static void note_fd(int fd, bool is_unsynced)
{
	struct stat st;

	if (!fstat(fd, &st))
		note(&st, is_unsynced);
}

static void complain(const char *what, const char *path)
{
	char line[4200];
	int len = snprintf(line, sizeof(line), "faults.so: %s %s\n", what, path);

	syscall(SYS_write, STDERR_FILENO, line, len);
	abort();
}

/* Before @path gets another name. */
static void check_synced(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && note(&st, false))
		complain("it gets its name before it is synced:", path);
}

/* @path is a new name. */
static void note_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s/.", slash ? (int)(slash - path) : 1, slash ? path : ".");
	if (!stat(folder, &st))
		note(&st, true);
}

static void check_folders(void)
{
	for (unsigned i = 0; i < n_unsynced && !has_fault; i++) {
		if (unsynced[i].is_folder)
			complain("a folder is not synced, which has a new name", "");
	}
}

/* ----------------------------------------------------------------------------------------------- a process */

#define MAX_FDS 4

/* Returns the number of descriptors in the next request, 0 if there is none. */
static unsigned receive(int from, char *text, size_t len, int fds[MAX_FDS])
{
	union {
		char bytes[CMSG_SPACE(MAX_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { text, len - 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	unsigned n = c ? (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;

	text[got > 0 ? got : 0] = '\0';
	if (c)
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	return n;
}

/* In the process that runs: what the request says. */
static void take_over(int from, const char *text, int *fds, unsigned n_fds)
{
	close(from);
	for (int i = 0; i < 3; i++) {
		dup2(fds[i], i);
		close(fds[i]);
	}
	if (n_fds > 3)
		report_fd = fds[3];
	choose(text);
}

/* Returns in each process that runs. */
static void serve(int from)
{
	for (;;) {
		char text[64];
		int fds[MAX_FDS], pid, status;
		unsigned n_fds = receive(from, text, sizeof(text), fds);

		if (n_fds < 3)
			_exit(0);
		pid = fork();
		if (!pid) {
			take_over(from, text, fds, n_fds);
			return;
		}
		for (unsigned i = 0; i < n_fds; i++)
			close(fds[i]);
		if (send(from, &pid, sizeof(pid), MSG_NOSIGNAL) < 0 || waitpid(pid, &status, 0) < 0 ||
		    send(from, &status, sizeof(status), MSG_NOSIGNAL) < 0)
			_exit(1);
	}
}

__attribute__((constructor)) static void begin(void)
{
	const char *fault = getenv("FAULT"), *fd = getenv("FAULT_FD"), *server = getenv("FAULT_SERVER");

	dl_iterate_phdr(find_object, NULL);
	is_tracing = getenv("FAULT_TRACE") != NULL;
	report_fd = fd ? atoi(fd) : -1;
	unsetenv("LD_PRELOAD"); /* a program that this one starts is another one */
	if (server)
		serve(atoi(server));
	else if (fault)
		choose(fault);
	is_on = true;
}

__attribute__((destructor)) static void end(void)
{
	char line[64];

	if (is_on)
		check_folders();
	is_on = false;
	for (unsigned i = 0; report_fd >= 0 && i < N_KINDS; i++) {
		int len = snprintf(line, sizeof(line), "%s %lu\n", names[i], (unsigned long)counts[i]);

		syscall(SYS_write, report_fd, line, len);
	}
}

/* Copies of the process end so, too. */
void _exit(int status)
{
	end();
	for (;;)
		syscall(SYS_exit_group, status);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *malloc(size_t len)
{
	if (fails(ALLOC))
		return NULL;
	return __interceptor_malloc ? __interceptor_malloc(len) : __libc_malloc(len);
}

void *calloc(size_t n, size_t len)
{
	if (fails(ALLOC))
		return NULL;
	return __interceptor_calloc ? __interceptor_calloc(n, len) : __libc_calloc(n, len);
}

void *realloc(void *p, size_t len)
{
	if (fails(ALLOC))
		return NULL;
	return __interceptor_realloc ? __interceptor_realloc(p, len) : __libc_realloc(p, len);
}

static void *allocate_aligned(size_t align, size_t len)
{
	return __interceptor_aligned_alloc ? __interceptor_aligned_alloc(align, len) : __libc_memalign(align, len);
}

void *aligned_alloc(size_t align, size_t len)
{
	return fails(ALLOC) ? NULL : allocate_aligned(align, len);
}

int posix_memalign(void **p, size_t align, size_t len)
{
	if (fails(ALLOC))
		return ENOMEM;
	*p = allocate_aligned(align, len);
	return *p ? 0 : ENOMEM;
}

/* A transfer of @len bytes that fails, or does half of its work. */
#define TRANSFER(kind, nr, ...)                              \
	do {                                                 \
		if (!fails(kind))                            \
			return syscall(nr, __VA_ARGS__);     \
		if (error)                                   \
			return -1;                           \
		len -= len / 2;                              \
		return syscall(nr, __VA_ARGS__);             \
	} while (0)

ssize_t read(int fd, void *to, size_t len)
{
	TRANSFER(READ, SYS_read, fd, to, len);
}

ssize_t pread64(int fd, void *to, size_t len, off64_t off)
{
	TRANSFER(READ, SYS_pread64, fd, to, len, off);
}

ssize_t pread(int fd, void *to, size_t len, off_t off)
{
	TRANSFER(READ, SYS_pread64, fd, to, len, off);
}

ssize_t write(int fd, const void *from, size_t len)
{
	note_fd(fd, true);
	TRANSFER(WRITE, SYS_write, fd, from, len);
}

ssize_t pwrite64(int fd, const void *from, size_t len, off64_t off)
{
	note_fd(fd, true);
	TRANSFER(WRITE, SYS_pwrite64, fd, from, len, off);
}

ssize_t pwrite(int fd, const void *from, size_t len, off_t off)
{
	note_fd(fd, true);
	TRANSFER(WRITE, SYS_pwrite64, fd, from, len, off);
}

int fsync(int fd)
{
	if (fails(SYNC))
		return -1;
	note_fd(fd, false);
	return 0; /* nobody pulls the plug: no need to wait for the disk */
}

int rename(const char *from, const char *to)
{
	int got;

	check_synced(from);
	got = fails(RENAME) ? -1 : (int)syscall(SYS_rename, from, to);
	if (!got)
		note_name(to);
	return got;
}

int link(const char *from, const char *to)
{
	int got;

	check_synced(from);
	got = (int)syscall(SYS_link, from, to);
	if (!got)
		note_name(to);
	return got;
}

#define OPEN_MODE(flags)                                      \
	mode_t mode = 0;                                      \
	va_list ap;                                           \
	if ((flags) & (O_CREAT | __O_TMPFILE)) {              \
		va_start(ap, flags);                          \
		mode = va_arg(ap, mode_t);                    \
		va_end(ap);                                   \
	}

int open(const char *path, int flags, ...)
{
	OPEN_MODE(flags)
	return fails(OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	OPEN_MODE(flags)
	return fails(OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int fd, const char *path, int flags, ...)
{
	OPEN_MODE(flags)
	return fails(OPEN) ? -1 : (int)syscall(SYS_openat, fd, path, flags, mode);
}

void *mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t off)
{
	return fails(MAP) ? MAP_FAILED : (void *)syscall(SYS_mmap, at, len, prot, flags, fd, off);
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	return fails(MAP) ? MAP_FAILED : (void *)syscall(SYS_mmap, at, len, prot, flags, fd, off);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	return fails(THREAD) ? error : NEXT(pthread_create)(thread, attr, run, arg);
}

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	return fails(ACCEPT) ? -1 : (int)syscall(SYS_accept4, fd, addr, len, flags);
}

/* Seconds by which this question is answered wrongly. */
static int shift(bool is_date, const void *caller)
{
	bool is_later = is_on && is_ours(caller) && ++counts[CLOCK] >= fails_at[CLOCK] && fails_at[CLOCK];

	return is_later && (is_date || error > 0) ? error : 0;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	int got = (int)syscall(SYS_clock_gettime, id, t);

	t->tv_sec += shift(id == CLOCK_REALTIME, __builtin_return_address(0));
	return got;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	int got = (int)syscall(SYS_gettimeofday, t, zone);

	t->tv_sec += shift(true, __builtin_return_address(0));
	return got;
}
