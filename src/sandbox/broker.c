/* SPDX-License-Identifier: MIT */
/*
 * The broker: a process that opens files for a sandboxed process.
 */
#include "rules.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/base/bytes.h"
#include "src/base/source_name.h"
#include "src/source/rooted.h"

/* Where ELF has the type of the file, and DOS the offset of the header that counts. */
#define ELF_TYPE_AT   16
#define PE_OFFSET_AT  0x3c
#define HEAD_LEN      0x40

static bool is_elf_image(const uint8_t *head)
{
	uint64_t type = ts_number(head + ELF_TYPE_AT, 2, head[EI_DATA] == ELFDATA2MSB);

	return !memcmp(head, ELFMAG, SELFMAG) && (type == ET_EXEC || type == ET_DYN || type == ET_REL);
}

static bool is_pe_image(int fd, const uint8_t *head)
{
	char magic[4];

	return !memcmp(head, "MZ", 2) &&
	       pread(fd, magic, sizeof(magic), (off_t)ts_number(head + PE_OFFSET_AT, 4, false)) == (ssize_t)sizeof(magic) &&
	       !memcmp(magic, "PE\0\0", 4);
}

static bool is_image(int fd)
{
	uint8_t head[HEAD_LEN];

	return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) && (is_elf_image(head) || is_pe_image(fd, head));
}

/* The file that @held names, for reading. */
static int reopen(int held)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", held);
	return open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The regular file that @held names, for reading; the descriptor is closed. */
static int open_regular(int held)
{
	int fd = -1, error = EACCES;
	struct stat st;

	if (!fstat(held, &st) && S_ISREG(st.st_mode)) {
		fd = reopen(held);
		error = errno;
	}
	close(held);
	errno = error;
	return fd;
}

/*
 * Open the file @path for reading if it is a program, a library or an object file (ELF, PE).  Core dumps and files
 * below /proc or /sys are refused.  Devices and pipes are not even opened, because that has effects.
 *
 * Returns a descriptor, to be closed by the caller; -1 with errno, EACCES for a file that is no image.
 */
static int open_image(const char *path)
{
	int held = ts_place_resolve(AT_FDCWD, path, 0), fd = held < 0 ? -1 : open_regular(held);

	if (fd < 0 || is_image(fd))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

/* What the file is called in truth, behind symbolic links. */
static bool is_source(int held)
{
	char self[32], path[PATH_MAX];
	ssize_t len;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", held);
	len = readlink(self, path, sizeof(path) - 1);
	path[len > 0 ? len : 0] = '\0';
	return ts_is_source_name(path);
}

/*
 * Open the file @path for reading if it is a regular file with the name of a source file.  If @path is a symbolic link,
 * the name of its target must be one, too.
 *
 * Returns as open_image().
 */
static int open_source(const char *path)
{
	int held = ts_place_resolve(AT_FDCWD, path, 0);

	if (held < 0)
		return -1;
	if (is_source(held))
		return open_regular(held);
	close(held);
	errno = EACCES;
	return -1;
}

#define PAGE 4096u

/* No file is made that runs as its owner. */
#define PERMISSIONS 0777u

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

/* The folder that a name in the process is relative to: AT_FDCWD, or a descriptor to close; -1 if it is not one. */
static int take_base(const struct call *c, int dir)
{
	char link[64];

	if (dir < 0 || (int)c->args[dir] == AT_FDCWD)
		return AT_FDCWD;
	snprintf(link, sizeof(link), "/proc/%ld/fd/%d", (long)c->pid, (int)c->args[dir]);
	return open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * The place that the arguments number @dir, -1 for none, and @name give.  Returns 0 or an error number; the place is
 * to be closed in any case.
 */
static int take_place(const struct call *c, int dir, int name, bool is_folder, struct ts_place *place)
{
	int error = take_name(c, c->args[name], place->path), base;

	place->dir = -1;
	place->is_relative = false;
	if (error)
		return error;
	base = *place->path == '/' ? AT_FDCWD : take_base(c, dir);
	if (base == -1)
		return EBADF;
	place->is_relative = base != AT_FDCWD;
	ts_place_open(place, base, is_folder);
	if (place->is_relative)
		close(base);
	return 0;
}

/* The folder to use for a place that the rule allows; -1 with errno. */
static int folder_of(const struct ts_rule *rule)
{
	errno = rule->error;
	return rule->dir;
}

/* ---------------------------------------------------------------------------------------------- opening */

static enum ts_use use_of(int flags)
{
	bool is_written = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC | O_APPEND);

	if ((flags & O_TMPFILE) == O_TMPFILE)
		return TS_USE_UNNAMED;
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return TS_USE_CREATE;
	if (is_written)
		return TS_USE_WRITE;
	return flags & O_DIRECTORY ? TS_USE_FOLDER : TS_USE_READ;
}

/* A descriptor of the broker's, an entry of /dev/fd: the user named it, and it is no file of a folder. */
static int open_descriptor(const struct ts_rule *rule, int flags)
{
	return rule->kind == TS_RULE_READ ? open(rule->path, flags) : -1;
}

static int open_by_rule(const struct ts_rule *rule, const struct ts_place *place, int flags, mode_t mode)
{
	bool is_file = !ts_use_is_of_folder(use_of(flags)), is_named = ts_rule_is_named(rule, place);

	if (rule->kind == TS_RULE_IMAGES)
		return open_image(place->path);
	if (rule->kind == TS_RULE_SOURCES)
		return open_source(place->path);
	if (rule->kind == TS_RULE_ROOT && is_file)
		return ts_rooted_open_at(rule->dir, ts_sandbox_below(rule, place));
	if (folder_of(rule) < 0)
		return open_descriptor(rule, flags);
	if (is_file && !(is_named && (rule->kind == TS_RULE_READ || rule->kind == TS_RULE_WRITE)))
		flags |= O_NOFOLLOW; /* the user did not name it */
	return openat(rule->dir, is_file ? place->name : ".", flags, mode);
}

/* What a process may ask for.  O_PATH is left out: such a descriptor cannot be handed over. */
#define OPEN_FLAGS \
	(O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_TMPFILE | O_DSYNC | \
	 O_SYNC)

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

static int64_t do_open(const struct call *c, const struct ts_place *place, int flags, mode_t mode)
{
	enum ts_use use = use_of(flags);
	const struct ts_rule *rule = ts_sandbox_find_rule(c->rules, place, use);
	int64_t got;
	int fd;

	if (!rule)
		return -EACCES;
	fd = open_by_rule(rule, place, (flags & OPEN_FLAGS) | O_CLOEXEC, mode & PERMISSIONS);
	if (fd < 0)
		return -errno;
	got = hand_over(c, fd, flags);
	if (got < 0 && use == TS_USE_CREATE)
		unlinkat(rule->dir, place->name, 0); /* the process does not know that it was made */
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

/* The rule by which the file may be written; NULL if none does. */
static const struct ts_rule *find_writable(const struct call *c, const struct ts_place *place)
{
	return ts_sandbox_find_rule(c->rules, place, TS_USE_WRITE);
}

/* A symbolic link that got the name of a file which is followed would lead anywhere. */
static bool is_regular(int dir, const char *name)
{
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
}

static int64_t do_rename(const struct call *c, const struct ts_place *from, const struct ts_place *to)
{
	const struct ts_rule *a = find_writable(c, from), *b = find_writable(c, to);

	if (!a || !b)
		return -EACCES;
	if (folder_of(a) < 0 || folder_of(b) < 0)
		return -errno;
	if (!is_regular(a->dir, from->name))
		return -EACCES;
	return renameat(a->dir, from->name, b->dir, to->name) ? -errno : 0;
}

/*
 * A name for a file that the process has open, "/proc/self/fd/3", and that has none.  One that has a name it
 * may have for reading only: by another name, which it may write, it would be written.
 */
static int64_t do_link_open(const struct call *c, unsigned fd, int dir, const char *name)
{
	struct held h;
	int64_t got = hold(c, fd, &h);

	if (got)
		return got;
	got = h.st.st_nlink ? -EACCES : 0;
	if (!got && linkat(AT_FDCWD, h.self, dir, name, AT_SYMLINK_FOLLOW))
		got = -errno;
	close(h.fd);
	return got;
}

/* One more name for a file that it may write. */
static int64_t do_link(const struct call *c, const struct ts_place *from, const struct ts_place *to, int flags)
{
	const struct ts_rule *a, *b = find_writable(c, to);
	unsigned fd;
	int end = 0;

	if (!b)
		return -EACCES;
	if (folder_of(b) < 0)
		return -errno;
	/* NOLINTNEXTLINE(cert-err34-c): nine digits fit */
	if (sscanf(from->path, "/proc/self/fd/%9u%n", &fd, &end) == 1 && !from->path[end])
		return do_link_open(c, fd, b->dir, to->name);
	a = find_writable(c, from);
	if (!a || flags || a->dir < 0 || !is_regular(a->dir, from->name))
		return -EACCES;
	return linkat(a->dir, from->name, b->dir, to->name, 0) ? -errno : 0;
}

static int64_t do_unlink(const struct call *c, const struct ts_place *place)
{
	const struct ts_rule *rule = ts_sandbox_find_rule(c->rules, place, TS_USE_REMOVE);

	if (!rule)
		return -EACCES;
	return folder_of(rule) < 0 || unlinkat(rule->dir, place->name, 0) ? -errno : 0;
}

/* May the process write the file by the name that it has, and is it still that file's name? */
static bool may_write_held(const struct call *c, const struct held *h)
{
	struct ts_place place = { .dir = -1 };
	ssize_t len = readlink(h->self, place.path, sizeof(place.path) - 1);
	const struct ts_rule *rule;
	struct stat st;
	bool may;

	if (len < 0)
		return false;
	place.path[len] = '\0';
	ts_place_open(&place, AT_FDCWD, false);
	rule = find_writable(c, &place);
	may = rule && rule->dir >= 0 && !fstatat(rule->dir, place.name, &st, AT_SYMLINK_NOFOLLOW) &&
	      st.st_dev == h->st.st_dev && st.st_ino == h->st.st_ino;
	ts_place_close(&place);
	return may;
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
 * only for reading: so of the user's files hostile code in here changes only those that it may write.
 */
static int64_t do_attributes(const struct call *c)
{
	struct held h;
	int64_t got;

	if (c->nr == SCMP_SYS(fchmod) ? c->args[1] & ~(uint64_t)PERMISSIONS : c->args[1] || c->args[3])
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

static int64_t do_two_names(const struct call *c, const struct ts_place *a, const struct ts_place *b)
{
	if (c->nr == SCMP_SYS(link) || c->nr == SCMP_SYS(linkat))
		return do_link(c, a, b, c->nr == SCMP_SYS(linkat) ? (int)c->args[4] : 0);
	return c->nr == SCMP_SYS(renameat2) && c->args[4] ? -EACCES : do_rename(c, a, b);
}

/* Where the arguments of the calls are; -1: it has none. */
static const struct shape {
	int nr, dir, name, dir2, name2;
} shapes[] = {
	{ SCMP_SYS(open), -1, 0, -1, -1 },     { SCMP_SYS(creat), -1, 0, -1, -1 },
	{ SCMP_SYS(openat), 0, 1, -1, -1 },    { SCMP_SYS(unlink), -1, 0, -1, -1 },
	{ SCMP_SYS(unlinkat), 0, 1, -1, -1 },  { SCMP_SYS(rename), -1, 0, -1, 1 },
	{ SCMP_SYS(renameat), 0, 1, 2, 3 },    { SCMP_SYS(renameat2), 0, 1, 2, 3 },
	{ SCMP_SYS(link), -1, 0, -1, 1 },      { SCMP_SYS(linkat), 0, 1, 2, 3 },
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static bool is_open(const struct call *c)
{
	return c->nr == SCMP_SYS(open) || c->nr == SCMP_SYS(openat);
}

/* @rest: the arguments after the name. */
static int64_t do_one_name(const struct call *c, const struct ts_place *place, const uint64_t *rest)
{
	if (is_open(c))
		return do_open(c, place, (int)rest[0], (mode_t)rest[1]);
	if (c->nr == SCMP_SYS(creat))
		return do_open(c, place, O_WRONLY | O_CREAT | O_TRUNC, (mode_t)rest[0]);
	return c->nr == SCMP_SYS(unlinkat) && rest[0] ? -EACCES : do_unlink(c, place);
}

static int64_t do_shape(const struct call *c, const struct shape *s)
{
	const uint64_t *rest = c->args + s->name + 1;
	struct ts_place a = { .dir = -1 }, b = { .dir = -1 };
	int error = take_place(c, s->dir, s->name, is_open(c) && ts_use_is_of_folder(use_of((int)rest[0])), &a);
	int64_t got;

	if (!error && s->name2 >= 0)
		error = take_place(c, s->dir2, s->name2, false, &b);
	if (error)
		got = -error;
	else
		got = s->name2 < 0 ? do_one_name(c, &a, rest) : do_two_names(c, &a, &b);
	ts_place_close(&a);
	ts_place_close(&b);
	return got;
}

/* The rule of the root that @dir is; NULL if it is not one. */
static const struct ts_rule *find_root(const struct call *c, int dir)
{
	struct stat st;

	if (dir < 0 || fstat(dir, &st))
		return NULL;
	for (size_t i = 0; i < c->rules->n; i++) {
		const struct ts_rule *rule = &c->rules->items[i];

		if (rule->kind == TS_RULE_ROOT && rule->dir >= 0 && rule->dev == st.st_dev && rule->ino == st.st_ino)
			return rule;
	}
	return NULL;
}

static int64_t open_in_root(const struct call *c, int dir, const char *path, int flags)
{
	const struct ts_rule *rule = find_root(c, dir);
	int fd = rule ? ts_rooted_open_at(rule->dir, path) : -1;

	if (!rule)
		return -EACCES;
	return fd < 0 ? -errno : hand_over(c, fd, flags);
}

/* openat2() of a file in a root: a folder that is open, and a path that ends there.  Its other uses are not known. */
static int64_t do_open_in_root(const struct call *c)
{
	int root = take_base(c, 0);
	struct open_how how;
	struct iovec to = { &how, sizeof(how) }, from = { (void *)(uintptr_t)c->args[2], sizeof(how) };
	char path[PATH_MAX];
	int error = take_name(c, c->args[1], path);
	int64_t got = -ENOSYS;

	if (error || c->args[3] != sizeof(how) || process_vm_readv(c->pid, &to, 1, &from, 1, 0) != (ssize_t)sizeof(how))
		got = error ? -error : -EINVAL;
	else if (how.resolve & RESOLVE_IN_ROOT && use_of((int)how.flags) == TS_USE_READ)
		got = open_in_root(c, root, path, (int)how.flags);
	if (root >= 0)
		close(root);
	return got;
}

/* Returns the call's value, or a negative error number. */
static int64_t do_call(const struct call *c)
{
	if (c->nr == SCMP_SYS(fchmod) || c->nr == SCMP_SYS(utimensat))
		return do_attributes(c);
	if (c->nr == SCMP_SYS(openat2))
		return do_open_in_root(c);
	for (size_t i = 0; i < N_SHAPES; i++) {
		if (shapes[i].nr == c->nr)
			return do_shape(c, &shapes[i]);
	}
	return -EPERM;
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
