/* SPDX-License-Identifier: MIT */
/*
 * What a process in the sandbox asks its broker for: each line of the input is a call of the system, made
 * inside.  Whatever the calls are, files outside of the rules stay as they are, their contents are not read,
 * and no file becomes another user's to write or to run.  Where the system forbids a sandbox nothing is
 * tried.
 *
 *      open FLAGS MODE NAME      openat2 FLAGS RESOLVE NAME    unlink FLAGS 0 NAME     chmod N MODE
 *      rename 0 0 NAME NAME      link FLAGS 0 NAME NAME        times N 0 [NAME]        close N
 *
 * Numbers are in hex; N counts what was opened.  A NAME may begin with "@N/": it is relative to that
 * descriptor, with
 * "~/": to the folder of the rules, with "^/": to the folder above it.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz_opened.h"
#include "src/sandbox/sandbox.h"

#define MAX_CALLS  24u
#define MAX_OPEN   16u
#define SECRET     "a secret that is not to be read"
#define NO_SANDBOX 77

static char top[32], kept[48];
static int opened[MAX_OPEN];
static unsigned n_opened;

struct line {
	char word[12], name[2][160];
	unsigned long a, b;
};

/* ------------------------------------------------------------------------------------------------- inside */

/* The name as the call gets it; *dir gets what it is relative to. */
static void place_of(const char *name, int *dir, char path[256])
{
	char *end;
	unsigned long n = name[0] == '@' ? strtoul(name + 1, &end, 16) : 0;

	*dir = AT_FDCWD;
	if (name[0] == '@' && *end == '/' && n < n_opened) {
		*dir = opened[n];
		snprintf(path, 256, "%s", end + 1);
	} else if (name[0] == '~' || name[0] == '^') {
		snprintf(path, 256, "%s%s", name[0] == '~' ? kept : top, name + 1);
	} else {
		snprintf(path, 256, "%s", name);
	}
}

/* The secret is in no file that the rules allow. */
static void check_opened(int fd)
{
	char bytes[sizeof(SECRET)] = "";

	if (pread(fd, bytes, sizeof(bytes) - 1, 0) > 0 && strstr(bytes, "secret"))
		_exit(1);
	if (n_opened < MAX_OPEN)
		opened[n_opened++] = fd;
	else
		close(fd);
}

static void make_call(const struct line *l)
{
	char a[256], b[256];
	int dir_a, dir_b, fd = -1, of = l->a < n_opened ? opened[l->a] : -1;
	struct open_how how = { .flags = l->a, .resolve = l->b };

	place_of(l->name[0], &dir_a, a);
	place_of(l->name[1], &dir_b, b);
	if (!strcmp(l->word, "open"))
		fd = openat(dir_a, a, (int)l->a | O_NONBLOCK, (mode_t)l->b);
	else if (!strcmp(l->word, "openat2"))
		fd = (int)syscall(SYS_openat2, dir_a, a, &how, sizeof(how));
	else if (!strcmp(l->word, "unlink"))
		unlinkat(dir_a, a, (int)l->a);
	else if (!strcmp(l->word, "rename"))
		renameat(dir_a, a, dir_b, b);
	else if (!strcmp(l->word, "link"))
		syscall(SYS_linkat, dir_a, a, dir_b, b, (int)l->a);
	else if (!strcmp(l->word, "chmod"))
		fchmod(of, (mode_t)l->b);
	else if (!strcmp(l->word, "times"))
		syscall(SYS_utimensat, of, *l->name[0] ? a : NULL, NULL, 0);
	else if (!strcmp(l->word, "close") && of >= 0)
		close(of);
	if (fd >= 0)
		check_opened(fd);
}

/* ------------------------------------------------------------------------------------------------- outside
 */

static void put(const char *folder, const char *name, const char *text)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	fuzz_require(f && fputs(text, f) >= 0 && !fclose(f));
}

static void make(void)
{
	char path[96];

	strcpy(top, "/tmp/fuzz-broker.XXXXXX");
	fuzz_require(mkdtemp(top) != NULL);
	snprintf(kept, sizeof(kept), "%s/kept", top);
	fuzz_require(!mkdir(kept, 0700));
	put(top, "secret", SECRET);
	put(kept, "trace", "trace");
	put(kept, "other", SECRET);
	snprintf(path, sizeof(path), "%s/link", kept);
	fuzz_require(!symlink("../secret", path));
	snprintf(path, sizeof(path), "%s/up", kept);
	fuzz_require(!symlink("..", path));
}

static void allow(struct ts_sandbox_rules *rules, enum ts_rule_kind kind, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", kept, name);
	ts_sandbox_allow(rules, kind, path);
}

/* Each file is what it was, or one that the rules allow to be made. */
static void check_file(const char *folder, const char *name)
{
	bool is_above = folder == top,
	     is_old = !strcmp(name, "secret") || !strcmp(name, "other") || !strcmp(name, "trace");
	char path[320], text[64] = "";
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fuzz_require(!lstat(path, &st));
	if (is_above ? !strcmp(name, "kept") : !strcmp(name, "link") || !strcmp(name, "up"))
		return;
	fuzz_require(is_old ||
		     (!is_above && (!strncmp(name, "t.tsindex", 9) || !strncmp(name, "t.tsmarks", 9))));
	fuzz_require(S_ISREG(st.st_mode) && !(st.st_mode & (S_ISUID | S_ISGID)));
	f = fopen(path, "r");
	fuzz_require(f && (fgets(text, sizeof(text), f) || !is_old));
	fclose(f);
	fuzz_require(!is_old || !strcmp(text, strcmp(name, "trace") ? SECRET : "trace"));
	fuzz_require(is_old || !strstr(text, "secret"));
}

static void check(const char *folder, unsigned n_least)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, NULL);

	fuzz_require(n >= (int)n_least + 2);
	for (int i = 0; i < n; i++) {
		if (strcmp(entries[i]->d_name, ".") && strcmp(entries[i]->d_name, ".."))
			check_file(folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

static void drop(const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, NULL);

	for (int i = 0; i < n; i++) {
		char path[320];

		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		unlink(path);
		free(entries[i]);
	}
	free(entries);
	rmdir(folder);
}

static void run(const struct line *lines, size_t n)
{
	struct ts_sandbox_rules rules = { 0 };
	struct ts_error err = { 0 };
	bool has_landlock;

	allow(&rules, TS_RULE_READ, "trace");
	allow(&rules, TS_RULE_WRITE, "t.tsindex");
	allow(&rules, TS_RULE_BESIDE, "t.tsmarks");
	ts_sandbox_allow(&rules, TS_RULE_IMAGES, NULL);
	if (!ts_sandbox_enter(&rules, &has_landlock, &err))
		_exit(NO_SANDBOX);
	for (size_t i = 0; i < n; i++)
		make_call(&lines[i]);
	_exit(0);
}

static size_t take_lines(struct line lines[MAX_CALLS], const uint8_t *bytes, size_t len)
{
	const uint8_t *end = bytes + len;
	size_t n = 0;

	for (; bytes < end && n < MAX_CALLS; n++) {
		const uint8_t *next = memchr(bytes, '\n', (size_t)(end - bytes));
		char text[400];

		next = next ? next : end;
		snprintf(text, sizeof(text), "%.*s", (int)(next - bytes), (const char *)bytes);
		lines[n] = (struct line){ .a = 0 };
		sscanf(text, "%11s %lx %lx %159s %159s", lines[n].word, &lines[n].a, &lines[n].b,
		       lines[n].name[0], lines[n].name[1]);
		bytes = next + 1;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct line lines[MAX_CALLS];
	size_t n = take_lines(lines, bytes, len);
	int status;
	pid_t pid;

	setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* the sandbox looks for it */
	make();
	pid = fork();
	fuzz_require(pid >= 0);
	if (!pid)
		run(lines, n);
	while (waitpid(pid, &status, 0) != pid)
		fuzz_require(errno == EINTR); /* the fuzzer's timer */
	fuzz_require(WIFSIGNALED(status) || WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == NO_SANDBOX);
	check(top, 2);
	check(kept, 4);
	drop(kept);
	drop(top);
	return 0;
}
