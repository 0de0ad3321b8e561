/* SPDX-License-Identifier: MIT */
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/trace/rooted.h"

#define PAGE 4096u

/* A call, as the process made it. */
struct call {
	const struct ts_sandbox_rules *rules;
	int fd; /* of the notifications */
	uint64_t id;
	pid_t pid;
	int nr;
	const uint64_t *args;
};

bool ts_broker_can_read(pid_t pid)
{
	static const char here[] = "same";
	char there[sizeof(here)];
	struct iovec to = { there, sizeof(there) }, from = { (char *)here, sizeof(here) };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(here);
}

/* Copy the name at @addr.  Returns 0 or an error number. */
static int take_name(const struct call *c, uint64_t addr, char name[PATH_MAX])
{
	size_t len = 0;

	while (len < PATH_MAX) {
		size_t n = PAGE - (addr + len) % PAGE;
		struct iovec to = { name + len, n < PATH_MAX - len ? n : PATH_MAX - len };
		struct iovec from = { (void *)(uintptr_t)(addr + len), to.iov_len };
		ssize_t got = process_vm_readv(c->pid, &to, 1, &from, 1, 0);

		if (got <= 0)
			return EFAULT;
		if (memchr(name + len, '\0', (size_t)got))
			return ioctl(c->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &c->id) ? ESRCH : 0;
		len += (size_t)got;
	}
	return ENAMETOOLONG;
}

/* A name that is relative to a folder that the process has open gets that folder's path in front. */
static int take_name_at(const struct call *c, unsigned dir, unsigned name_arg, char name[PATH_MAX])
{
	char link[64], path[PATH_MAX];
	int error = take_name(c, c->args[name_arg], name);
	ssize_t len;

	if (error || *name == '/' || (int)c->args[dir] == AT_FDCWD)
		return error;
	snprintf(link, sizeof(link), "/proc/%ld/fd/%d", (long)c->pid, (int)c->args[dir]);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return EBADF;
	if ((size_t)snprintf(path + len, sizeof(path) - (size_t)len, "/%s", name) >=
	    sizeof(path) - (size_t)len)
		return ENAMETOOLONG;
	strcpy(name, path);
	return 0;
}

/* ---------------------------------------------------------------------------------------------- opening */

static bool is_image(int fd)
{
	unsigned char magic[4] = { 0 };
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       (!memcmp(magic, "\177ELF", 4) || !memcmp(magic, "MZ", 2));
}

/* Returns -1 with errno on failure.  The type is checked before open(): opening a device or a pipe has side effects. */
static int open_image(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st))
		return -1;
	if (S_ISREG(st.st_mode)) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0 || is_image(fd))
			return fd;
		close(fd);
	}
	errno = EACCES;
	return -1;
}

static enum ts_use use_of(int flags)
{
	bool is_written = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC | O_APPEND);

	if ((flags & O_TMPFILE) == O_TMPFILE)
		return TS_USE_UNNAMED;
	if (is_written)
		return TS_USE_WRITE;
	return flags & O_DIRECTORY ? TS_USE_FOLDER : TS_USE_READ;
}

static int open_by_rule(const struct ts_rule *rule, const char *path, int flags, mode_t mode)
{
	bool is_file = !(flags & O_DIRECTORY);

	if (rule->kind == TS_RULE_IMAGES)
		return open_image(path);
	if (rule->kind == TS_RULE_ROOT && is_file)
		return ts_rooted_open(rule->path, ts_sandbox_below(rule, path));
	if (is_file && rule->kind != TS_RULE_READ &&
	    (rule->kind != TS_RULE_WRITE || strcmp(path, rule->path) != 0))
		flags |= O_NOFOLLOW; /* the user did not name it */
	flags &= ~O_PATH; /* such a descriptor cannot be handed over */
	return open(path, flags | O_CLOEXEC, mode);
}

/* Returns the process's descriptor, or a negative error number. */
static int64_t hand_over(const struct call *c, int fd, int flags)
{
	struct seccomp_notif_addfd add = {
		.id = c->id,
		.srcfd = (uint32_t)fd,
		.newfd_flags = (uint32_t)(flags & O_CLOEXEC),
	};
	int got = ioctl(c->fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add), error = errno;

	close(fd);
	return got < 0 ? -error : got;
}

static int64_t do_open(const struct call *c, const char *path, int flags, mode_t mode)
{
	const struct ts_rule *rule = ts_sandbox_find_rule(c->rules, path, use_of(flags));
	int64_t got;
	int fd;

	if (!rule)
		return -EACCES;
	fd = open_by_rule(rule, path, flags, mode);
	if (fd < 0)
		return -errno;
	got = hand_over(c, fd, flags);
	if (got < 0 && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		unlink(path); /* the process does not know that it was made */
	return got;
}

/* ----------------------------------------------------------------------------------------- other calls */

/* A file that the process has open, of which the broker has a descriptor of its own: another thread may close
 * that. */
struct held {
	int fd;
	char self[32]; /* its name here */
	struct stat st;
};

/* Returns 0, or a negative error number. */
static int64_t hold(const struct call *c, unsigned fd, struct held *h)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/fd/%u", (long)c->pid, fd);
	h->fd = open(path, O_PATH | O_CLOEXEC);
	if (h->fd < 0)
		return -EBADF;
	snprintf(h->self, sizeof(h->self), "/proc/self/fd/%d", h->fd);
	if (!fstat(h->fd, &h->st) && S_ISREG(h->st.st_mode))
		return 0;
	close(h->fd);
	return -EACCES;
}

static bool may_write(const struct call *c, const char *path)
{
	return ts_sandbox_find_rule(c->rules, path, TS_USE_WRITE) != NULL;
}

/* A symbolic link that got the name of a file which is followed would lead anywhere. */
static bool is_regular(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode);
}

static int64_t do_rename(const struct call *c, const char *from, const char *to)
{
	if (!may_write(c, from) || !may_write(c, to) || !is_regular(from))
		return -EACCES;
	return rename(from, to) ? -errno : 0;
}

/*
 * A name for a file that the process has open, "/proc/self/fd/3", and that has none.  One that has a name it
 * may have for reading only: by another name, which it may write, it would be written.
 */
static int64_t do_link_open(const struct call *c, unsigned fd, const char *to)
{
	struct held h;
	int64_t got = hold(c, fd, &h);

	if (got)
		return got;
	got = h.st.st_nlink ? -EACCES : 0;
	if (!got && linkat(AT_FDCWD, h.self, AT_FDCWD, to, AT_SYMLINK_FOLLOW))
		got = -errno;
	close(h.fd);
	return got;
}

/* One more name for a file that it may write. */
static int64_t do_link(const struct call *c, const char *from, const char *to, int flags)
{
	unsigned fd;
	int end = 0;

	if (!may_write(c, to))
		return -EACCES;
	/* NOLINTNEXTLINE(cert-err34-c): nine digits fit */
	if (sscanf(from, "/proc/self/fd/%9u%n", &fd, &end) == 1 && !from[end])
		return do_link_open(c, fd, to);
	if (!may_write(c, from) || flags || !is_regular(from))
		return -EACCES;
	return linkat(AT_FDCWD, from, AT_FDCWD, to, 0) ? -errno : 0;
}

static int64_t do_unlink(const struct call *c, const char *path)
{
	if (!may_write(c, path))
		return -EACCES;
	return unlink(path) ? -errno : 0;
}

static int64_t do_mkdir(const struct call *c, const char *path, mode_t mode)
{
	if (!ts_sandbox_find_rule(c->rules, path, TS_USE_MKDIR))
		return -EACCES;
	return mkdir(path, mode) ? -errno : 0;
}

/* May the process write the file by the name that it has? */
static bool may_write_held(const struct call *c, const struct held *h)
{
	char path[PATH_MAX];
	ssize_t len = readlink(h->self, path, sizeof(path) - 1);

	if (len < 0)
		return false;
	path[len] = '\0';
	return may_write(c, path);
}

/* Two times at @addr; 0: now.  Returns 0 or a negative error number. */
static int64_t set_times(const struct call *c, uint64_t addr, const char *path)
{
	long v[4];
	struct iovec to = { v, sizeof(v) }, from = { (void *)(uintptr_t)addr, sizeof(v) };
	struct timespec times[2];

	if (addr && process_vm_readv(c->pid, &to, 1, &from, 1, 0) != (ssize_t)sizeof(v))
		return -EFAULT;
	for (unsigned i = 0; i < 2; i++)
		times[i] = (struct timespec){ .tv_sec = addr ? v[2 * i] : 0,
					      .tv_nsec = addr ? v[2 * i + 1] : UTIME_NOW };
	return utimensat(AT_FDCWD, path, times, 0) ? -errno : 0;
}

/*
 * The mode or the times of an open file.  The kernel lets its owner change them through a descriptor that is
 * only for reading: of the files of a user who runs hostile code in here, only those which it may write are
 * changed.
 */
static int64_t do_attributes(const struct call *c)
{
	struct held h;
	int64_t got;

	if (c->nr == SCMP_SYS(fchmod) ? c->args[1] & ~UINT64_C(0777) : c->args[1] || c->args[3])
		return -EACCES;
	got = hold(c, (unsigned)c->args[0], &h);
	if (got)
		return got;
	if (!may_write_held(c, &h))
		got = -EACCES;
	else if (c->nr == SCMP_SYS(fchmod))
		got = chmod(h.self, (mode_t)c->args[1]) ? -errno : 0;
	else
		got = set_times(c, c->args[2], h.self);
	close(h.fd);
	return got;
}

static int64_t do_two_names(const struct call *c, const char *a, const char *b)
{
	if (c->nr == SCMP_SYS(link) || c->nr == SCMP_SYS(linkat))
		return do_link(c, a, b, c->nr == SCMP_SYS(linkat) ? (int)c->args[4] : 0);
	return c->nr == SCMP_SYS(renameat2) && c->args[4] ? -EACCES : do_rename(c, a, b);
}

/* Where the arguments of the calls are; -1: it has none. */
static const struct {
	int nr, dir, name, dir2, name2;
} shapes[] = {
	{ SCMP_SYS(open), -1, 0, -1, -1 },	{ SCMP_SYS(creat), -1, 0, -1, -1 },
	{ SCMP_SYS(openat), 0, 1, -1, -1 },	{ SCMP_SYS(unlink), -1, 0, -1, -1 },
	{ SCMP_SYS(unlinkat), 0, 1, -1, -1 },	{ SCMP_SYS(mkdir), -1, 0, -1, -1 },
	{ SCMP_SYS(mkdirat), 0, 1, -1, -1 },	{ SCMP_SYS(rename), -1, 0, -1, 1 },
	{ SCMP_SYS(renameat), 0, 1, 2, 3 },	{ SCMP_SYS(renameat2), 0, 1, 2, 3 },
	{ SCMP_SYS(link), -1, 0, -1, 1 },	{ SCMP_SYS(linkat), 0, 1, 2, 3 },
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static int take_one(const struct call *c, int dir, int name, char path[PATH_MAX])
{
	return dir < 0 ? take_name(c, c->args[name], path) : take_name_at(c, (unsigned)dir, (unsigned)name, path);
}

static int64_t do_one_name(const struct call *c, const char *path, const uint64_t *rest)
{
	if (c->nr == SCMP_SYS(open) || c->nr == SCMP_SYS(openat))
		return do_open(c, path, (int)rest[0], (mode_t)rest[1]);
	if (c->nr == SCMP_SYS(creat))
		return do_open(c, path, O_WRONLY | O_CREAT | O_TRUNC, (mode_t)rest[0]);
	if (c->nr == SCMP_SYS(mkdir) || c->nr == SCMP_SYS(mkdirat))
		return do_mkdir(c, path, (mode_t)rest[0]);
	return c->nr == SCMP_SYS(unlinkat) && rest[0] ? -EACCES : do_unlink(c, path);
}

/* Returns the call's value, or a negative error number. */
static int64_t do_call(const struct call *c)
{
	char a[PATH_MAX], b[PATH_MAX];
	int error;
	size_t i = 0;

	if (c->nr == SCMP_SYS(fchmod) || c->nr == SCMP_SYS(utimensat))
		return do_attributes(c);
	while (i < N_SHAPES && shapes[i].nr != c->nr)
		i++;
	if (i == N_SHAPES)
		return -EPERM;
	error = take_one(c, shapes[i].dir, shapes[i].name, a);
	if (!error && shapes[i].name2 >= 0)
		error = take_one(c, shapes[i].dir2, shapes[i].name2, b);
	if (error)
		return -error;
	return shapes[i].name2 < 0 ? do_one_name(c, a, c->args + shapes[i].name + 1) : do_two_names(c, a, b);
}

/* ------------------------------------------------------------------------------------------- the process */

/* A later kernel may have longer structures. */
union request {
	struct seccomp_notif notif;
	char room[1024];
};

union response {
	struct seccomp_notif_resp resp;
	char room[1024];
};

static void answer(int fd, const struct ts_sandbox_rules *rules)
{
	union request request = { .room = { 0 } };
	union response response = { .room = { 0 } };
	int64_t got;

	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &request))
		return; /* the process was interrupted, or has ended */
	got = do_call(&(struct call){ rules, fd, request.notif.id, (pid_t)request.notif.pid,
				      request.notif.data.nr, (const uint64_t *)request.notif.data.args });
	response.resp.id = request.notif.id;
	response.resp.val = got < 0 ? 0 : got;
	response.resp.error = got < 0 ? (int32_t)got : 0;
	ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &response); /* fails if the process was interrupted */
}

void ts_broker_run(int fd, const struct ts_sandbox_rules *rules)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };

	for (;;) {
		if (poll(&poller, 1, -1) < 0 && errno != EINTR)
			return;
		if (poller.revents & POLLIN)
			answer(fd, rules);
		else if (poller.revents)
			return;
	}
}
