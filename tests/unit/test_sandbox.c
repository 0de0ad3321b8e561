/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/sandbox/sandbox.h"
#include "src/source/rooted.h"

static struct ts_sandbox_rules rules;
static char dir[64];

static const char *in_dir(const char *name)
{
	static char paths[4][160];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert(f && fputs(text, f) >= 0 && !fclose(f));
}

/* A file that begins as an ELF file of this type does. */
static void write_elf(const char *name, char type)
{
	const char head[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = type };
	int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert(fd >= 0 && write(fd, head, sizeof(head)) == (ssize_t)sizeof(head) && !close(fd));
}

static void make_dir(void)
{
	ck_assert(!setenv("ASAN_OPTIONS", "detect_leaks=0", 1)); /* of this process, too: the sandbox looks for it */
	strcpy(dir, "/tmp/test-sandbox-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(mkdir(in_dir("cache"), 0700), 0);
	write_file(in_dir("trace"), "trace");
	write_file(in_dir("secret"), "secret");
	write_elf("image", 3 /* ET_DYN */);
	write_elf("core", 4 /* ET_CORE */);
}

static void remove_dir(void)
{
	static const char *const names[] = { "trace", "secret",  "image",   "core",    "alias", "alias.part",
					     "link",  "cache/a", "cache/b", "cache/c", "pipe" };

	ts_sandbox_rules_fini(&rules);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(in_dir(names[i]));
	rmdir(in_dir("cache"));
	rmdir(dir);
}

/* Run @act in a sandbox, in a process of its own; it returns 0, or the line that it dislikes. */
static void run_inside(int (*act)(void))
{
	struct ts_error err;
	bool has_landlock;
	pid_t pid;
	int status;

	ts_error_reset(&err);
	pid = fork();
	if (!pid) {
		if (ts_sandbox_enter(&rules, &has_landlock, &err))
			_exit(act() ? 1 : 0);
		fprintf(stderr, "%s\n", err.text);
		_exit(err.code == TS_ENOMEM ? 78 : 77);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return; /* this build, or this system, has none */
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "status %#x", (unsigned)status);
}

#define MUST(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, strerror(errno)); \
			return __LINE__; \
		} \
	} while (0)

static bool fails(long got, int error)
{
	return got == -1 && errno == error;
}

static int use_files(void)
{
	char text[16] = "";
	int fd = open(in_dir("trace"), O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0 && read(fd, text, sizeof(text)) == 5 && !strcmp(text, "trace"));
	MUST(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	MUST(fails(open(in_dir("trace"), O_RDWR), EACCES));
	MUST(fails(open(in_dir("secret"), O_RDONLY), EACCES));
	MUST(fails(open(in_dir("nothing"), O_RDONLY), EACCES));
	MUST(fails(unlink(in_dir("secret")), EACCES));
	MUST(fails(rename(in_dir("secret"), in_dir("cache/a")), EACCES));
	MUST(fails(rename(in_dir("trace"), in_dir("secret")), EACCES));
	MUST(fails(link(in_dir("secret"), in_dir("cache/a")), EACCES));
	MUST(fails(mkdir(in_dir("folder"), 0700), EPERM));
	MUST(fails(symlink("x", in_dir("link")), EPERM));
	MUST(fails(open("/proc/self/status", O_RDONLY), EACCES));
	return 0;
}

START_TEST(only_files_of_rules_open)
{
	ts_sandbox_allow(&rules, TS_RULE_READ, in_dir("trace"));
	run_inside(use_files);
}
END_TEST

static int use_link(void)
{
	int fd = open(in_dir("alias"), O_RDONLY);

	MUST(fd >= 0);
	MUST(fails(open(in_dir("link"), O_RDONLY), ELOOP));
	return 0;
}

START_TEST(a_link_is_followed_only_if_the_user_named_it)
{
	ck_assert(!symlink("trace", in_dir("alias")) && !symlink("secret", in_dir("link")));
	ts_sandbox_allow(&rules, TS_RULE_READ, in_dir("alias"));
	ts_sandbox_allow(&rules, TS_RULE_SEE, in_dir("link"));
	run_inside(use_link);
}
END_TEST

static int use_folder(void)
{
	char self[64];
	int fd, folder;

	umask(022);
	fd = open(in_dir("cache/a"), O_RDWR | O_CREAT | O_EXCL, 0600);
	MUST(fd >= 0 && write(fd, "x", 1) == 1 && !ftruncate(fd, 0));
	MUST(fails(open(in_dir("cache/a"), O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST));
	MUST(!rename(in_dir("cache/a"), in_dir("cache/b")));
	MUST(!link(in_dir("cache/b"), in_dir("cache/a")));
	fd = open(in_dir("cache"), O_TMPFILE | O_RDWR, 0600);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	MUST(fd >= 0 && !linkat(AT_FDCWD, self, AT_FDCWD, in_dir("cache/c"), AT_SYMLINK_FOLLOW));
	folder = open(in_dir("cache"), O_RDONLY | O_DIRECTORY);
	MUST(folder >= 0 && !fsync(folder));
	MUST(!unlinkat(folder, "b", 0));
	MUST(fails(unlinkat(folder, "../secret", 0), EACCES));
	MUST(fails(openat(folder, "../secret", O_RDONLY), EACCES));
	MUST(!unlink(in_dir("cache/a")) && !unlink(in_dir("cache/c")));
	return 0;
}

START_TEST(a_folder_takes_all_that_a_cache_does)
{
	ts_sandbox_allow(&rules, TS_RULE_FOLDER, in_dir("cache"));
	run_inside(use_folder);
}
END_TEST

static int use_images(void)
{
	MUST(open(in_dir("image"), O_RDONLY) >= 0);
	MUST(fails(open(in_dir("core"), O_RDONLY), EACCES)); /* the memory of a process */
	MUST(fails(open("/proc/self/exe", O_RDONLY), ELOOP));
	MUST(fails(open("/proc/self/root/bin/true", O_RDONLY), ELOOP));
	MUST(fails(open("/proc/version", O_RDONLY), EACCES));
	MUST(fails(open("/sys/kernel/notes", O_RDONLY), EACCES) || errno == ENOENT); /* a chroot may have no /sys */
	MUST(fails(open(in_dir("secret"), O_RDONLY), EACCES));
	MUST(fails(open("/dev/zero", O_RDONLY), EACCES));
	MUST(fails(open(dir, O_RDONLY), EACCES));
	MUST(fails(open(in_dir("pipe"), O_RDONLY), EACCES));
	MUST(fails(open(in_dir("image"), O_RDWR), EACCES));
	return 0;
}

/* A pipe is refused before it is opened: opening it would wake its writer. */
START_TEST(programs_of_this_machine_open_and_nothing_else_does)
{
	struct inotify_event opened;
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	ck_assert_int_eq(mkfifo(in_dir("pipe"), 0600), 0);
	ck_assert_int_ge(inotify_add_watch(watch, in_dir("pipe"), IN_OPEN), 0);
	ts_sandbox_allow(&rules, TS_RULE_IMAGES, NULL);
	run_inside(use_images);
	ck_assert_int_lt(read(watch, &opened, sizeof(opened)), 0);
	close(watch);
}
END_TEST

/*
 * A program of this user, which is open for reading.  It keeps its mode, and gets no name by which it could
 * be written; nor does the kernel send signals to others.
 */
static int use_image_as_owner(void)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_NOW }, { .tv_sec = 1 } };
	char self[64];
	int fd = open(in_dir("image"), O_RDONLY);

	MUST(fd >= 0);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	MUST(fails(linkat(AT_FDCWD, self, AT_FDCWD, in_dir("cache/a"), AT_SYMLINK_FOLLOW), EACCES));
	MUST(fails(open(in_dir("cache/a"), O_RDWR), ENOENT));
	MUST(fails(fchmod(fd, 0777), EACCES));
	MUST(fails(futimens(fd, times), EACCES));
	MUST(fails(futimens(fd, NULL), EACCES));
	MUST(fails(fcntl(fd, F_SETOWN, getppid()), EPERM));
	MUST(fails(fcntl(fd, F_SETSIG, SIGKILL), EPERM));
	return 0;
}

START_TEST(a_file_that_is_only_read_stays_as_it_is)
{
	ts_sandbox_allow(&rules, TS_RULE_FOLDER, in_dir("cache"));
	ts_sandbox_allow(&rules, TS_RULE_IMAGES, NULL);
	run_inside(use_image_as_owner);
}
END_TEST

static int use_attributes(void)
{
	const struct timespec times[2] = { { .tv_sec = 2, .tv_nsec = 3 }, { .tv_sec = 4, .tv_nsec = 5 } };
	int fd = open(in_dir("cache/a"), O_RDWR | O_CREAT | O_EXCL, 0600);
	struct stat st;

	MUST(fd >= 0 && !fchmod(fd, 0640) && !futimens(fd, times) && !fstat(fd, &st));
	MUST((st.st_mode & 07777) == 0640 && st.st_atim.tv_sec == 2 && st.st_atim.tv_nsec == 3);
	MUST(st.st_mtim.tv_sec == 4 && st.st_mtim.tv_nsec == 5);
	MUST(!futimens(fd, NULL) && !fstat(fd, &st) && st.st_mtim.tv_sec > 1000000000);
	MUST(fails(syscall(SYS_utimensat, fd, NULL, 16L, 0), EFAULT));
	MUST(fails(fchmod(fd, 04755), EACCES));
	close(fd);
	fd = open(in_dir("cache/b"), O_RDWR | O_CREAT | O_EXCL, 06777); /* it runs as nobody else */
	MUST(fd >= 0 && !fstat(fd, &st) && !(st.st_mode & 07000));
	MUST(fails(fchmod(fd + 100, 0600), EBADF));
	return 0;
}

START_TEST(a_file_that_is_written_gets_a_mode_and_times)
{
	ts_sandbox_allow(&rules, TS_RULE_FOLDER, in_dir("cache"));
	run_inside(use_attributes);
}
END_TEST

/* The kernel calls a file without a name "a (deleted)": a file that has this name is another one. */
static int use_attributes_of_a_removed_file(void)
{
	const struct timespec times[2] = { { .tv_sec = 2 }, { .tv_sec = 4 } };
	int fd = open(in_dir("cache/a"), O_RDWR | O_CREAT | O_EXCL, 0600);
	struct stat st;

	MUST(fd >= 0 && !unlink(in_dir("cache/a")));
	MUST(fails(fchmod(fd, 0640), EACCES));
	MUST(open(in_dir("cache/a (deleted)"), O_RDWR | O_CREAT | O_EXCL, 0600) >= 0);
	MUST(fails(fchmod(fd, 0640), EACCES));
	MUST(fails(futimens(fd, times), EACCES));
	MUST(!fstat(fd, &st) && (st.st_mode & 07777) == 0600 && st.st_mtim.tv_sec != 4);
	MUST(!unlink(in_dir("cache/a (deleted)")));
	return 0;
}

START_TEST(another_file_of_its_name_gives_no_right_to_a_file)
{
	ts_sandbox_allow(&rules, TS_RULE_FOLDER, in_dir("cache"));
	run_inside(use_attributes_of_a_removed_file);
}
END_TEST

/* A link that lies in a folder for files does not get the name of a file that is followed. */
static int move_links(void)
{
	MUST(fails(rename(in_dir("cache/b"), in_dir("alias")), EACCES));
	MUST(fails(link(in_dir("cache/b"), in_dir("alias")), EACCES));
	MUST(fails(open(in_dir("alias.part"), O_WRONLY), ELOOP));
	MUST(fails(open(in_dir("cache/b"), O_WRONLY), ELOOP));
	return 0;
}

START_TEST(a_link_is_not_moved_to_where_it_is_followed)
{
	ck_assert(!symlink("../secret", in_dir("cache/b")) && !symlink("secret", in_dir("alias.part")));
	ts_sandbox_allow(&rules, TS_RULE_FOLDER, in_dir("cache"));
	ts_sandbox_allow(&rules, TS_RULE_WRITE, in_dir("alias"));
	run_inside(move_links);
}
END_TEST

static int use_root(void)
{
	MUST(open(in_dir("secret"), O_RDONLY) >= 0);
	MUST(ts_rooted_open(dir, "/cache/a") >= 0); /* in a folder that does not open */
	MUST(fails(ts_rooted_open(dir, "/cache/b"), ENOENT));
	MUST(fails(open(in_dir("../../etc/passwd"), O_RDONLY), ENOENT)); /* ".." ends at the root */
	MUST(fails(open("/etc/passwd", O_RDONLY), EACCES));
	return 0;
}

START_TEST(a_root_ends_where_it_ends)
{
	write_file(in_dir("cache/a"), "a library");
	ck_assert_int_eq(symlink("/etc/passwd", in_dir("cache/b")), 0);
	ts_sandbox_allow(&rules, TS_RULE_ROOT, dir);
	run_inside(use_root);
}
END_TEST

/* A name whose bytes lie in two pages, one that has no end, and one that is nowhere. */
static int use_odd_names(void)
{
	char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *name = pages + 4096 - 10;

	MUST(pages != MAP_FAILED && !munmap(pages + 2 * 4096, 4096));
	strcpy(name, in_dir("trace"));
	MUST(open(name, O_RDONLY) >= 0);
	memset(pages, 'a', 2 * 4096);
	MUST(fails(open(pages, O_RDONLY), ENAMETOOLONG));
	MUST(fails(open(pages + 4096 + 10, O_RDONLY), EFAULT));
	MUST(fails(open((char *)pages + 2 * 4096, O_RDONLY), EFAULT));
	return 0;
}

START_TEST(a_name_is_read_as_the_kernel_reads_it)
{
	ts_sandbox_allow(&rules, TS_RULE_READ, in_dir("trace"));
	run_inside(use_odd_names);
}
END_TEST

static void *open_often(void *user)
{
	size_t n_open = 0;

	for (int i = 0; i < 200; i++) {
		int fd = open(user, O_RDONLY);

		n_open += fd >= 0;
		close(fd);
	}
	return (void *)n_open;
}

static int use_threads(void)
{
	const char *path = in_dir("trace");
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		MUST(!pthread_create(&threads[i], NULL, open_often, (void *)path));
	for (int i = 0; i < 4; i++) {
		void *n;

		MUST(!pthread_join(threads[i], &n) && (size_t)n == 200);
	}
	MUST(fails(fork(), EPERM));
	return 0;
}

START_TEST(threads_are_made_and_processes_are_not)
{
	ts_sandbox_allow(&rules, TS_RULE_READ, in_dir("trace"));
	run_inside(use_threads);
}
END_TEST

UNIT_FIXTURE_SUITE("sandbox", make_dir, remove_dir, only_files_of_rules_open,
		   a_link_is_followed_only_if_the_user_named_it, a_folder_takes_all_that_a_cache_does,
		   programs_of_this_machine_open_and_nothing_else_does,
		   a_file_that_is_only_read_stays_as_it_is, a_file_that_is_written_gets_a_mode_and_times,
		   another_file_of_its_name_gives_no_right_to_a_file,
		   a_link_is_not_moved_to_where_it_is_followed, a_root_ends_where_it_ends,
		   a_name_is_read_as_the_kernel_reads_it, threads_are_made_and_processes_are_not)
