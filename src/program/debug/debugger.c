/* SPDX-License-Identifier: MIT */
#include "debugger.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "relay.h"
#include "src/base/collections/buf.h"
#include "src/base/io_full.h"
#include "src/base/log.h"
#include "src/object/build_id.h"
#include "src/program/cli/installed.h"
#include "src/program/cli/message.h"

/* The directory's name must leave room in the address of a unix socket; gdb takes a ':' for TCP. */
#define MAX_TMPDIR_LEN 60

#define ROOT "/root" /* in the folder of the meeting */
#define MAX_SERVED (1u << 20) /* bytes that a server says */

struct meeting {
	char folder[MAX_TMPDIR_LEN + 32]; /* with .build-id/ab/cdef.debug for the debugger, if there are packed debug files */
	char socket[MAX_TMPDIR_LEN + 48]; /* for the debugger: the relay's */
	char server[MAX_TMPDIR_LEN + 48];
};

static bool meeting_open(struct meeting *m, struct ts_error *err)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp || !*tmp || strlen(tmp) > MAX_TMPDIR_LEN || strpbrk(tmp, ": \t"))
		tmp = "/tmp";
	/* cppcheck-suppress ctuuninitvar; it is filled here */
	snprintf(m->folder, sizeof(m->folder), "%s/tracestub-XXXXXX", tmp);
	if (!mkdtemp(m->folder))
		return ts_fail_errno(err, "cannot create a directory in %s", tmp);
	snprintf(m->socket, sizeof(m->socket), "%s/gdb", m->folder);
	snprintf(m->server, sizeof(m->server), "%s/server", m->folder);
	return true;
}

static int remove_one(const char *path, const struct stat *, int, struct FTW *)
{
	return remove(path);
}

static void meeting_close(const struct meeting *m)
{
	char links[sizeof(m->folder) + 16];

	snprintf(links, sizeof(links), "%s/.build-id", m->folder);
	nftw(links, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	snprintf(links, sizeof(links), "%s" ROOT, m->folder);
	nftw(links, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	unlink(m->server);
	rmdir(m->folder);
}

/* ----------------------------------------------------------------------------------------- the server */

static void tell_pair(struct ts_buf *text, const char *first, const char *second)
{
	ts_buf_put(text, first, strlen(first) + 1);
	ts_buf_put(text, second, strlen(second) + 1);
}

/* From here on ^C is for the debugger; before, it ends the reading. */
static void tell_parent(void *user, const struct ts_served *served)
{
	const int *fd = user;
	struct ts_module_info m;
	struct ts_buf text;

	setsid();
	ts_buf_init(&text);
	ts_buf_put(&text, served->arch->name, strlen(served->arch->name) + 1);
	ts_buf_put(&text, served->exec ? served->exec : "", served->exec ? strlen(served->exec) + 1 : 1);
	for (size_t i = 0; i < served->n_debug; i++)
		tell_pair(&text, served->debug[i].id, served->debug[i].path);
	for (size_t i = 0; served->copies && ts_query_module(served->copies->q, i, &m); i++) {
		const char *copy = m.file ? ts_local_copy(served->copies, m.file) : NULL;

		if (copy)
			tell_pair(&text, m.file, copy);
	}
	if (!ts_buf_ok(&text) || !ts_write_whole(*fd, text.data, text.len)) {
		ts_log(TS_LOG_ERROR, "cannot notify the debugger that the recording has been read: %s",
		       strerror(errno));
		_exit(EXIT_FAILURE);
	}
	ts_buf_fini(&text);
	close(*fd);
}

static _Noreturn void be_server(const struct ts_debugger_options *opt, const struct meeting *m, pid_t parent,
				int ready_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	_exit(opt->serve(opt->user, m->server, tell_parent, &ready_fd));
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return EXIT_FAILURE;
	}
	return exit_status(status);
}

/* The server's message that it is ready. */
struct served {
	const struct ts_arch *arch; /* NULL: it has ended before */
	char exec[PATH_MAX];        /* the program's file, empty: none was found */
	bool has_debug;             /* the debugger finds debug files in the folder of the meeting */
	bool has_root;              /* ... and libraries, in its folder root, by their paths */
};

/* A link for the debugger, which finds it by the build-id.  What the server says may be a lie. */
static bool link_debug(const struct meeting *m, const char *id, const char *path)
{
	char link[sizeof(m->folder) + 2 * TS_MAX_BUILD_ID + 32];
	size_t len = strlen(id);
	int n;

	if (len < 4 || len > 2 * TS_MAX_BUILD_ID || strspn(id, "0123456789abcdef") != len || *path != '/')
		return false;
	n = snprintf(link, sizeof(link), "%s/.build-id", m->folder);
	mkdir(link, 0700);
	n += snprintf(link + n, sizeof(link) - (size_t)n, "/%.2s", id);
	mkdir(link, 0700);
	snprintf(link + n, sizeof(link) - (size_t)n, "/%s.debug", id + 2);
	return !symlink(path, link);
}

/* The folders of @path, from its character @from on. */
static void make_folders(char *path, size_t from)
{
	for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

/* A link at the place that the library has below the folder root.  What the server says may be a lie. */
static bool link_library(const struct meeting *m, const char *path, const char *copy)
{
	char link[sizeof(m->folder) + PATH_MAX + 16];
	int n = snprintf(link, sizeof(link), "%s" ROOT, m->folder);

	if (*copy != '/' || strlen(path) >= PATH_MAX || strstr(path, "/../") || strstr(path, "/./"))
		return false;
	snprintf(link + n, sizeof(link) - (size_t)n, "%s", path);
	make_folders(link, (size_t)n);
	return !symlink(copy, link);
}

/* The text from *@at on, up to its NUL; "" after the last. */
static const char *next_text(const struct ts_buf *texts, size_t *at)
{
	const char *text = *at < texts->len ? (const char *)texts->data + *at : "";

	*at += strlen(text) + 1;
	return text;
}

static void read_served(int fd, const struct meeting *m, struct served *served)
{
	struct ts_buf texts;
	char part[4096];
	size_t at = 0;
	ssize_t got;

	ts_buf_init(&texts);
	do {
		got = read(fd, part, sizeof(part));
		if (got > 0)
			ts_buf_put(&texts, part, (size_t)got);
	} while ((got > 0 && texts.len < MAX_SERVED) || (got < 0 && errno == EINTR));
	*served = (struct served){ 0 };
	if (texts.len && ts_buf_ok(&texts)) {
		ts_buf_put(&texts, "", 1);
		served->arch = ts_arch_find(next_text(&texts, &at));
		snprintf(served->exec, sizeof(served->exec), "%s", next_text(&texts, &at));
		while (at + 1 < texts.len) {
			const char *id = next_text(&texts, &at);

			if (*id == '/')
				served->has_root |= link_library(m, id, next_text(&texts, &at));
			else
				served->has_debug |= link_debug(m, id, next_text(&texts, &at));
		}
	}
	ts_buf_fini(&texts);
}

static const int from_terminal[] = { SIGINT, SIGQUIT };

/* The terminal sends its signals to the whole group: ignore them here, the other process decides. */
static void ignore_terminal(struct sigaction old[2])
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (int i = 0; i < 2; i++)
		sigaction(from_terminal[i], &ignore, &old[i]);
}

static void heed_terminal(const struct sigaction old[2])
{
	for (int i = 0; i < 2; i++)
		sigaction(from_terminal[i], &old[i], NULL);
}

/*
 * Returns the server's pid when it is ready, and what it said; 0 when it ended before, *status is its own; -1
 * with @err.
 */
static pid_t start_server(const struct ts_debugger_options *opt, const struct meeting *m,
			  struct served *served, int *status, struct ts_error *err)
{
	pid_t pid, parent = getpid();
	struct sigaction old[2];
	int ends[2];

	if (pipe(ends) < 0 || (pid = fork()) < 0) {
		ts_fail_errno(err, "cannot start a server");
		return -1;
	}
	if (!pid) {
		close(ends[0]);
		be_server(opt, m, parent, ends[1]);
	}
	ignore_terminal(old);
	close(ends[1]);
	read_served(ends[0], m, served);
	close(ends[0]);
	heed_terminal(old);
	if (served->arch)
		return pid;
	*status = wait_for(pid);
	return 0;
}

/* ------------------------------------------------------------------------------------------------ gdb */

/* Does the gdb of this machine know the recording's processor? */
static bool is_native(const struct ts_arch *arch)
{
	static const char *const known[][2] = {
		{ "x86_64", "x86_64" }, { "x86_64", "i386" }, { "aarch64", "aarch64" }, { "aarch64", "arm" },
		{ "i686", "i386" }, { "armv7l", "arm" }, { "ppc64le", "ppc64le" }, { "riscv64", "riscv64" },
	};
	struct utsname host;

	if (uname(&host) < 0)
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(host.machine, known[i][0]) && !strcmp(arch->name, known[i][1]))
			return true;
	}
	return false;
}

/* The candidates: @variable names another one instead. */
static void choose_own(const char **candidates, const char *variable)
{
	const char *own = getenv(variable);

	if (own && *own) {
		candidates[0] = own;
		candidates[1] = NULL;
	}
}

/* Printed by a gdb whose Python has the adapter's package. */
#define ANSWER "tracestub-has-dap"

static _Noreturn void be_answering_gdb(const char *gdb, int out)
{
	const char *args[] = { gdb,   "-nx", "-nh", "-batch", "-ex", "python import gdb.dap; print('" ANSWER "')",
			       NULL };
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDERR_FILENO);
	dup2(out, STDOUT_FILENO);
	execvp(gdb, (char *const *)args);
	_exit(127);
}

/* Does the text that comes from @fd contain the answer?  It is read to its end. */
static bool is_answered(int fd)
{
	char text[1024];
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0 || (n < 0 && errno == EINTR)) {
		len += n > 0 ? (size_t)n : 0;
		if (len == sizeof(text) - 1) { /* of a long text, the end */
			memmove(text, text + len / 2, len - len / 2);
			len -= len / 2;
		}
	}
	text[len] = '\0';
	return strstr(text, ANSWER) != NULL;
}

/*
 * Does the program @gdb (a path, or a name in PATH) have an adapter?  The function starts it.
 *
 * Returns false if it has none, or if it cannot be started.
 */
static bool has_adapter(const char *gdb)
{
	bool is_in;
	int ends[2];
	pid_t pid;

	if (pipe(ends) < 0)
		return false;
	pid = fork();
	if (!pid) {
		close(ends[0]);
		be_answering_gdb(gdb, ends[1]);
	}
	close(ends[1]);
	is_in = pid > 0 && is_answered(ends[0]);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return is_in;
}

/* Only the candidates that have an adapter are left; without one, the process ends. */
static void keep_adapters(const char **candidates)
{
	const char *first = candidates[0], **kept = candidates;

	for (const char **c = candidates; *c; c++) {
		if (has_adapter(*c))
			*kept++ = *c;
	}
	*kept = NULL;
	if (kept != candidates)
		return;
	fprintf(stderr,
		"tracestub: %s has no adapter for editors: that needs gdb 14 or later, built with Python "
		"(the variable TRACESTUB_GDB may name another one)\n",
		first);
	_exit(EXIT_FAILURE);
}

/* Try the programs in turn. */
static _Noreturn void be_one_of(const char **candidates, const char *variable, const char **args)
{
	for (const char **c = candidates; *c; c++) {
		args[0] = *c;
		execvp(*c, (char *const *)args);
		if (errno != ENOENT)
			break;
	}
	ts_message(stderr, "tracestub: cannot start %s: %s (the variable %s may name another one)",
		   candidates[0], strerror(errno), variable);
	_exit(EXIT_FAILURE);
}

static _Noreturn void be_debugger(const struct ts_debugger_options *opt, const struct ts_arch *arch,
				  const char **args)
{
	const char *first = is_native(arch) ? "gdb" : "gdb-multiarch";
	const char *gdbs[] = { first, strcmp(first, "gdb") ? "gdb" : "gdb-multiarch", NULL };
	const char *lldbs[] = { "lldb", NULL };

	if (opt->kind == TS_DEBUGGER_LLDB) {
		choose_own(lldbs, "TRACESTUB_LLDB");
		be_one_of(lldbs, "TRACESTUB_LLDB", args);
	}
	choose_own(gdbs, "TRACESTUB_GDB");
	if (opt->kind == TS_DEBUGGER_DAP)
		keep_adapters(gdbs);
	be_one_of(gdbs, "TRACESTUB_GDB", args);
}

static size_t count(char **args)
{
	size_t n = 0;

	while (args[n])
		n++;
	return n;
}

/*
 * Without a connection gdb would start the program natively for "run", and attach to processes of this
 * machine.  The setting is here too because gdb must have it when gdbinit is not found.
 */
static const char never_native[] = "set auto-connect-native-target off";

/*
 * lldb's commands for positions, directions and questions; it has none of its own, and gdb's come with
 * gdbinit. It would show the old place after a move that it does not know of, so goto leaves the move to the
 * next resume.
 */
static const char *const lldb_commands[] = {
	"command regex when 's/^$/process plugin packet monitor when/'",
	"command regex goto 's/^(.+)$/process plugin packet monitor announce goto %1/'",
	"command regex reverse-next 's/^$/process plugin packet monitor announce goto previous line/'",
	"command regex reverse-finish 's/^$/process plugin packet monitor announce goto caller/'",
	"command regex ts 's/^(.+)$/process plugin packet monitor %1/'",
	"command regex direction 's/^(reverse|forward)$/process plugin packet monitor direction %1/'",
};
#define N_LLDB_COMMANDS (sizeof(lldb_commands) / sizeof(lldb_commands[0]))

/* lldb's arguments, as make_args(). */
static const char **make_lldb_args(const struct ts_debugger_options *opt, const struct served *served,
				   const char *debug, const char *root, const char *connect)
{
	size_t n_user = count(opt->args), n = 1;
	const char **args = calloc(n_user + 2 * N_LLDB_COMMANDS + 10, sizeof(*args));

	if (!args)
		return NULL;
	if (served->has_debug) { /* before the program's file is read */
		args[n++] = "-O";
		args[n++] = debug;
	}
	if (served->has_root) {
		args[n++] = "-O";
		args[n++] = root;
	}
	for (size_t i = 0; i < N_LLDB_COMMANDS; i++) {
		args[n++] = "-o";
		args[n++] = lldb_commands[i];
	}
	args[n++] = "-o";
	args[n++] = connect;
	memcpy(args + n, opt->args, n_user * sizeof(*args));
	n += n_user;
	if (*served->exec)
		args[n++] = served->exec;
	return args;
}

/*
 * gdb's arguments; args[0] is filled later.  The strings are the caller's.  Returns NULL if memory is
 * exhausted.
 */
static const char **make_args(const struct ts_debugger_options *opt, const struct served *served,
			      const char *gdbinit, const char *debug, const char *connect)
{
	size_t n_user = count(opt->args), n = 1;
	const char **args = calloc(n_user + 20, sizeof(*args));

	if (!args)
		return NULL;
	args[n++] = "-q";
	if (opt->kind == TS_DEBUGGER_DAP) {
		args[n++] = "-i";
		args[n++] = "dap";
	}
	args[n++] = "-iex";
	args[n++] = never_native;
	if (served->has_debug) {
		args[n++] = "-iex";
		args[n++] = debug;
	}
	if (gdbinit) {
		args[n++] = "-x";
		args[n++] = gdbinit;
	}
	if (*served->exec) {
		args[n++] = "-se";
		args[n++] = served->exec;
	} else if (served->arch->is_big_endian) {
		args[n++] = "-ex";
		args[n++] = "set endian big";
	}
	if (opt->kind != TS_DEBUGGER_DAP) { /* its client attaches */
		args[n++] = "-ex";
		args[n++] = connect;
	}
	memcpy(args + n, opt->args, n_user * sizeof(*args));
	return args;
}

static volatile sig_atomic_t debugger_pid;

static void pass_on(int sig)
{
	kill((pid_t)debugger_pid, sig);
}

/* It interrupts the relay. */
static void note_child(int)
{
}

/* Signals that are taken while the relay waits. */
static const int taken[] = { SIGHUP, SIGTERM, SIGCHLD };
#define N_TAKEN (sizeof(taken) / sizeof(taken[0]))

/* Block the signals, *before being what was blocked. */
static void block_taken(sigset_t *before)
{
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < N_TAKEN; i++)
		sigaddset(&held, taken[i]);
	sigprocmask(SIG_BLOCK, &held, before);
}

/* Relay for the debugger @pid; signals that only this process gets are passed on to it. */
static int relay_for(struct ts_relay *relay, pid_t pid, const sigset_t *before)
{
	struct sigaction pass = { .sa_handler = pass_on }, note = { .sa_handler = note_child };
	sigset_t waiting = *before;

	debugger_pid = pid;
	for (size_t i = 0; i < N_TAKEN; i++) {
		sigaction(taken[i], taken[i] == SIGCHLD ? &note : &pass, NULL);
		sigdelset(&waiting, taken[i]);
	}
	return exit_status(ts_relay_run(relay, pid, &waiting));
}

static int run_debugger(const struct ts_debugger_options *opt, const struct ts_arch *arch, const char **args,
			struct ts_relay *relay, struct ts_error *err)
{
	struct sigaction old[2];
	sigset_t before;
	int status = -1;
	pid_t pid;

	ignore_terminal(old);
	block_taken(&before); /* until there is a process to which they can be passed */
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		heed_terminal(old);
		be_debugger(opt, arch, args);
	}
	if (pid < 0)
		ts_fail_errno(err, "cannot start the debugger");
	else
		status = relay_for(relay, pid, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

static const char **args_of_gdb(const struct ts_debugger_options *opt, const struct served *served,
				const char *gdbinit, const char *debug, const char *connect)
{
	if (!gdbinit)
		ts_log(TS_LOG_WARN, "gdb has no 'when' and 'goto': " PKGDATADIR "/gdbinit does not exist");
	return make_args(opt, served, gdbinit, debug, connect);
}

static int run_connected(const struct ts_debugger_options *opt, const struct served *served,
			 const struct meeting *m, struct ts_error *err)
{
	char path[PATH_MAX], connect[sizeof(m->socket) + 64], debug[sizeof(m->folder) + 64], root[sizeof(m->folder) + 64];
	struct ts_relay *relay = ts_relay_new(m->socket, m->server, err);
	const char **args;
	bool is_found;
	int status = -1;

	if (!relay)
		return -1;

	if (opt->kind == TS_DEBUGGER_DAP)
		setenv("TRACESTUB_SOCKET", m->socket, 1); /* for gdbinit */
	setenv("TRACESTUB_LOCAL_FILES", opt->has_sysroot ? "0" : "1", 1); /* for gdbinit */
	if (opt->kind == TS_DEBUGGER_LLDB) {
		snprintf(connect, sizeof(connect), "process connect --plugin gdb-remote unix-connect://%s",
			 m->socket);
		snprintf(debug, sizeof(debug), "settings append target.debug-file-search-paths %s", m->folder);
		snprintf(root, sizeof(root), "platform select --sysroot %s" ROOT " remote-linux", m->folder);
		args = make_lldb_args(opt, served, debug, root, connect);
	} else {
		snprintf(connect, sizeof(connect), "target extended-remote %s", m->socket);
		is_found = ts_installed_find("src/gdbinit", PKGDATADIR "/gdbinit", path, sizeof(path));
		snprintf(debug, sizeof(debug), "set debug-file-directory %s:/usr/lib/debug", m->folder);
		args = args_of_gdb(opt, served, is_found ? path : NULL, debug, connect);
	}
	if (args)
		status = run_debugger(opt, served->arch, args, relay, err);
	else
		ts_no_memory(err, "the debugger's arguments");
	free(args);
	ts_relay_free(relay);
	return status;
}

int ts_debugger_run(const struct ts_debugger_options *opt, struct ts_error *err)
{
	struct served served;
	struct meeting m;
	int status = -1;
	pid_t server;

	if (!meeting_open(&m, err))
		return -1;
	server = start_server(opt, &m, &served, &status, err);
	if (server > 0) {
		status = run_connected(opt, &served, &m, err);
		kill(server, SIGTERM);
		wait_for(server);
	}
	meeting_close(&m);
	return status;
}
