/* SPDX-License-Identifier: MIT */
/*
 * The choice of the emulator for a program.  The program is searched as a shell does, in PATH and through the first
 * lines of scripts, and its ELF header determines the processor.
 */
#include "recorder.h"
#include "src/program/cli/message.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_LEN 256 /* of a file, as much as the kernel examines for "#!" */

/* Valgrind's name of the processor, if this program was built for it, too. */
#ifdef __x86_64__
#define VG_X86_64 "amd64"
#else
#define VG_X86_64 NULL
#endif
#if HAVE_VALGRIND_ARM64 || defined(__aarch64__)
#define VG_ARM64 "arm64"
#else
#define VG_ARM64 NULL
#endif
#if HAVE_VALGRIND_X86
#define VG_X86 "x86"
#else
#define VG_X86 NULL
#endif

/*
 * SVE and SME loads and stores are not shown to plugins of QEMU 7.2, so a model without them is the default.
 */
static const struct ts_emulated emulated[] = {
	{ 62, true, false, "qemu-x86_64", "x86_64", NULL, VG_X86_64 },
	{ 3, false, false, "qemu-i386", "x86", NULL, VG_X86 },
	{ 183, true, false, "qemu-aarch64", "arm64", "max,sve=off,sme=off", VG_ARM64 },
	{ 40, false, false, "qemu-arm", "arm", NULL, NULL },
	{ 243, true, false, "qemu-riscv64", "riscv64", NULL, NULL },
	{ 8, false, true, "qemu-mips", "mips", NULL, NULL },
	{ 8, false, false, "qemu-mipsel", "mips", NULL, NULL },
	{ 21, true, true, "qemu-ppc64", "ppc64", NULL, NULL },
	{ 21, true, false, "qemu-ppc64le", "ppc64", NULL, NULL },
};
#define N_EMULATED (sizeof(emulated) / sizeof(emulated[0]))

static bool is_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* @name as a path: itself if it has a slash, else the first executable of that name in PATH. */
static bool look_up(const char *name, char path[PATH_MAX])
{
	const char *at = getenv("PATH"), *end;

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	for (at = at ? at : "/bin:/usr/bin"; *name; at = end + 1) {
		int n;

		end = strchrnul(at, ':');
		n = end == at ? snprintf(path, PATH_MAX, "./%s", name) :
				snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - at), at, name);
		if (n < PATH_MAX && is_executable(path))
			return true;
		if (!*end)
			break;
	}
	return false;
}

static int fail(int status, const char *name, const char *why)
{
	ts_message(stderr, "tracestub: %s: %s", name, why);
	return status;
}

/* The first bytes of the file at p->path, terminated.  Returns 0, or the status to exit with. */
static int read_head(const struct ts_program *p, char head[HEAD_LEN + 1])
{
	ssize_t n;
	int fd;

	if (access(p->path, F_OK) != 0)
		return fail(127, p->path, strerror(errno));
	if (!is_executable(p->path))
		return fail(126, p->path, "cannot be executed");
	memset(head, 0, HEAD_LEN + 1);
	fd = open(p->path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, head, HEAD_LEN);
	if (fd >= 0)
		close(fd);
	return n < 0 ? fail(126, p->path, strerror(errno)) : 0;
}

/*
 * The script at p->path begins with @head: its interpreter runs it, with at most one argument before its
 * path.
 */
static bool enter_script(struct ts_program *p, const char *head)
{
	size_t n = 0, k = 0;
	char **argv, *line = strndup(head + 2, strcspn(head + 2, "\n")), *arg;

	p->scripts[p->n_scripts] = strdup(p->path);
	p->lines[p->n_scripts++] = line;
	while (p->argv[n])
		n++;
	argv = calloc(n + 4, sizeof(*argv));
	if (!line || !argv)
		return false;
	for (size_t len = strlen(line); len && strchr(" \t", line[len - 1]);)
		line[--len] = '\0';
	line += strspn(line, " \t");
	arg = line + strcspn(line, " \t");
	argv[k++] = line;
	if (*arg) {
		*arg++ = '\0';
		argv[k++] = arg + strspn(arg, " \t");
	}
	argv[k++] = p->scripts[p->n_scripts - 1];
	memcpy(argv + k, p->argv + 1, n * sizeof(*argv));
	free(p->argv);
	p->argv = argv;
	return argv[k - 1] && snprintf(p->path, sizeof(p->path), "%s", line) < PATH_MAX;
}

static int find_emulated(struct ts_program *p, const uint8_t *head)
{
	bool is_big = head[5] == 2;
	unsigned machine = is_big ? head[18] << 8 | head[19] : head[19] << 8 | head[18];

	if (memcmp(head, "\x7f"
			 "ELF",
		   4) != 0)
		return fail(126, p->path, "neither an ELF program nor a script that begins with #!");
	for (size_t i = 0; i < N_EMULATED; i++) {
		const struct ts_emulated *e = &emulated[i];

		if (e->machine == machine && e->is_64 == (head[4] == 2) && e->is_big_endian == is_big)
			p->emulated = e;
	}
	return p->emulated ? 0 : fail(1, p->path, "programs for this processor cannot be recorded");
}

/*
 * Is it an ELF program without an interpreter?  A QEMU of that kind loads no plugins, and Debian 13's is one.
 */
static bool is_static(const char *path)
{
	uint8_t head[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));
	Elf64_Phdr segment;
	Elf64_Ehdr elf;

	if (fd >= 0)
		close(fd);
	if (n < (ssize_t)sizeof(elf))
		return false;
	memcpy(&elf, head, sizeof(elf));
	if (memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.e_phoff > sizeof(head))
		return false;
	for (size_t i = 0; i < elf.e_phnum; i++) {
		size_t off = (size_t)elf.e_phoff + i * sizeof(segment);

		if (off + sizeof(segment) > (size_t)n)
			return false;
		memcpy(&segment, head + off, sizeof(segment));
		if (segment.p_type == PT_INTERP)
			return false;
	}
	return true;
}

/* Another way to record a program of @e, without QEMU, as the end of a sentence. */
static const char *other_engine(const struct ts_emulated *e)
{
	if (!e->vg_arch)
		return "";
	return HAVE_VALGRIND ? ", and --with valgrind needs none" :
			       ", and tracestub built with Debian's package valgrind needs none";
}

/* @found: a QEMU that is static; NULL: none. */
static int refuse_emulator(const struct ts_emulated *e, const char *found)
{
	ts_message(stderr,
		   "tracestub: recording needs a %s that loads plugins%s%s%s: apt-get install qemu-user on Debian 12; "
		   "Debian 13 and later have none, but --qemu FILE takes another%s",
		   e->qemu, found ? " (" : "", found ? found : "", found ? " is static and loads none)" : "", other_engine(e));
	return 1;
}

int ts_program_find_emulator(struct ts_program *p, const char *path_of_it)
{
	const char *name = p->emulated->qemu;
	char other[64], path[PATH_MAX];
	bool is_there = look_up(path_of_it ? path_of_it : name, p->emulator);

	if (path_of_it && !is_there)
		return fail(1, path_of_it, "there is no such program");
	if (path_of_it && !is_executable(p->emulator))
		return fail(1, path_of_it, strerror(errno));
	if (is_there && !is_static(p->emulator))
		return 0;
	snprintf(other, sizeof(other), "%s-static", name);
	if (is_there)
		return refuse_emulator(p->emulated, p->emulator);
	return refuse_emulator(p->emulated, look_up(other, path) ? path : NULL);
}

int ts_program_find(struct ts_program *p, char **argv)
{
	char head[HEAD_LEN + 1];
	size_t n = 0;
	int status;

	*p = (struct ts_program){ 0 };
	if (!look_up(argv[0], p->path))
		return fail(127, argv[0], "command not found");
	while (argv[n])
		n++;
	p->argv = calloc(n + 1, sizeof(*argv));
	if (!p->argv)
		return fail(1, argv[0], strerror(errno));
	memcpy(p->argv, argv, n * sizeof(*argv));
	while (!(status = read_head(p, head)) && !strncmp(head, "#!", 2)) {
		if (p->n_scripts == TS_MAX_SCRIPTS)
			return fail(126, p->path, "the interpreters of scripts form a loop");
		if (!enter_script(p, head))
			return fail(126, p->path, "its first line cannot be used");
	}
	if (!status)
		status = find_emulated(p, (const uint8_t *)head);
	return status;
}

void ts_program_fini(struct ts_program *p)
{
	for (unsigned i = 0; i < p->n_scripts; i++) {
		free(p->lines[i]);
		free(p->scripts[i]);
	}
	free(p->argv);
	*p = (struct ts_program){ 0 };
}

bool ts_emulated_is_own(const struct ts_emulated *e)
{
#ifdef __aarch64__
	return e->machine == EM_AARCH64;
#else
	return e->machine == EM_X86_64 || (e->machine == EM_386 && ts_kernel_runs_i386());
#endif
}

int ts_emulated_signal(const struct ts_emulated *e, int sig)
{
	static const unsigned char mips[] = {
		[SIGBUS] = 10,	[SIGUSR1] = 16, [SIGUSR2] = 17,	  [SIGSTKFLT] = 7, [SIGIO] = 22, [SIGPWR] = 19,
		[SIGSYS] = 12,	[SIGXCPU] = 30, [SIGXFSZ] = 31,	  [SIGVTALRM] = 28, [SIGPROF] = 29,
	};
	bool is_mips = e->machine == 8;

	return is_mips && sig > 0 && (size_t)sig < sizeof(mips) && mips[sig] ? mips[sig] : sig;
}
