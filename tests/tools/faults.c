/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded: one call of a process fails.
 *
 *      FAULT=KIND:N:ERRNO  the N-th call of KIND, from 1, fails with that error number; ERRNO 0: it does half of its work
 *      FAULT_TRACE=1       its callers are written to stderr
 *      FAULT_FD=FD         there the number of calls of each kind is written at the end: "KIND N" lines
 *
 * KIND is alloc, read, write, sync, rename, open, map or thread.  Only calls of the program itself and of the C library
 * on its behalf count: libseccomp leaves a rule out of its filter, libev and libgcrypt abort when their own fail.
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t len);
void *__libc_calloc(size_t n, size_t len);
void *__libc_realloc(void *p, size_t len);
void *__libc_memalign(size_t align, size_t len);

enum kind { ALLOC, READ, WRITE, SYNC, RENAME, OPEN, MAP, THREAD, N_KINDS };

static const char *const names[N_KINDS] = { "alloc", "read", "write", "sync", "rename", "open", "map", "thread" };

static atomic_ulong counts[N_KINDS];
static unsigned long fails_at[N_KINDS];
static int error;
static int report_fd = -1;
static bool is_tracing;
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
	if (i && !strstr(info->dlpi_name, "/libc.so"))
		return 0;
	ours[i].from = UINTPTR_MAX;
	for (unsigned k = 0; k < info->dlpi_phnum; k++) {
		uintptr_t from = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr, to = from + info->dlpi_phdr[k].p_memsz;

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
	if (!is_on || !is_ours(caller) || ++counts[kind] != fails_at[kind])
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

__attribute__((constructor)) static void begin(void)
{
	const char *fault = getenv("FAULT"), *fd = getenv("FAULT_FD");
	char name[16];
	unsigned long n;

	dl_iterate_phdr(find_object, NULL);
	is_tracing = getenv("FAULT_TRACE") != NULL;
	report_fd = fd ? atoi(fd) : -1;
	if (fault && sscanf(fault, "%15[a-z]:%lu:%d", name, &n, &error) == 3) {
		for (unsigned i = 0; i < N_KINDS; i++)
			fails_at[i] = strcmp(name, names[i]) ? 0 : n;
	}
	is_on = true;
}

__attribute__((destructor)) static void end(void)
{
	char line[64];

	is_on = false;
	for (unsigned i = 0; report_fd >= 0 && i < N_KINDS; i++) {
		int len = snprintf(line, sizeof(line), "%s %lu\n", names[i], (unsigned long)counts[i]);

		syscall(SYS_write, report_fd, line, len);
	}
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *malloc(size_t len)
{
	return fails(ALLOC) ? NULL : __libc_malloc(len);
}

void *calloc(size_t n, size_t len)
{
	return fails(ALLOC) ? NULL : __libc_calloc(n, len);
}

void *realloc(void *p, size_t len)
{
	return fails(ALLOC) ? NULL : __libc_realloc(p, len);
}

void *aligned_alloc(size_t align, size_t len)
{
	return fails(ALLOC) ? NULL : __libc_memalign(align, len);
}

int posix_memalign(void **p, size_t align, size_t len)
{
	if (fails(ALLOC))
		return ENOMEM;
	*p = __libc_memalign(align, len);
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
	TRANSFER(WRITE, SYS_write, fd, from, len);
}

ssize_t pwrite64(int fd, const void *from, size_t len, off64_t off)
{
	TRANSFER(WRITE, SYS_pwrite64, fd, from, len, off);
}

ssize_t pwrite(int fd, const void *from, size_t len, off_t off)
{
	TRANSFER(WRITE, SYS_pwrite64, fd, from, len, off);
}

int fsync(int fd)
{
	return fails(SYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
	return fails(RENAME) ? -1 : (int)syscall(SYS_rename, from, to);
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
