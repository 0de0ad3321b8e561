/* SPDX-License-Identifier: MIT */
/*
 * Recording with the Valgrind tool of src/recorder-vg: its log comes through shared memory and is decoded here,
 * and compressed by another thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loaders/usercorn/op_write.h"
#include "recorder.h"
#include "src/program/cli/message.h"
#include "src/record/decoder.h"
#include "src/record/log.h"
#include "src/record/press.h"

#define CHUNK_LEN (UINT64_C(1) << 20)
#define N_CHUNKS 32u
#define MAX_TEXT 65536u /* of what the engine says */
#define WAIT_NS 20000000

struct ts_record_log {
	struct ts_log *log; /* mapped */
	size_t len;
	int text_fd;        /* what the engine says */
	uint32_t n_taken, n_chunks;
	uint64_t chunk_len;
	bool is_begun;      /* the decoder and the press are there */
	bool has_press;     /* its thread runs */
	const char *fault;  /* of the log */
	char exec_path[4096];
	char note[256];
	char text[MAX_TEXT];
	struct ts_log_decoder *decoder; /* owned */
	struct ts_op_frames frames;
	uint8_t ops[TS_OP_FRAMES_CAP]; /* the frames' */
	struct ts_press press;
	struct ts_record_last last; /* with --last */
};

/* -------------------------------------------------------------------------------- before it runs */

static bool find(struct ts_recorder *r)
{
	char name[64];

	snprintf(name, sizeof(name), "tracestub-record-vg-%s", r->program.emulated->vg_arch);
	return ts_recorder_find_file(r, name, r->plugin) &&
	       (!r->cli->is_following || ts_recorder_find_file(r, "tracestub-record-vg-exec", r->launcher));
}

/* A number of chunks for as many bytes as the tests want; a small one is full all the time. */
static uint32_t choose_chunks(void)
{
	const char *len = getenv("TRACESTUB_RING");
	uint64_t n = len ? strtoull(len, NULL, 10) / CHUNK_LEN : N_CHUNKS;

	return n < 2 ? 2 : n > TS_LOG_MAX_CHUNKS ? TS_LOG_MAX_CHUNKS : (uint32_t)n;
}

static bool map_log(struct ts_recorder *r, int fd)
{
	struct ts_record_log *l = r->log;

	l->log = mmap(NULL, l->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return l->log != MAP_FAILED || ts_fail_errno(&r->err, "cannot map shared memory");
}

/* The tool inherits both files, and closes or hides them before the program begins. */
static bool create_log(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;

	l->text_fd = memfd_create("tracestub-text", 0);
	r->memory_fd = memfd_create("tracestub", 0);
	if (l->text_fd < 0 || r->memory_fd < 0 || ftruncate(r->memory_fd, (off_t)l->len) < 0)
		return ts_fail_errno(&r->err, "cannot create shared memory");
	if (!map_log(r, r->memory_fd))
		return false;
	*l->log = (struct ts_log){ .magic = TS_LOG_MAGIC, .chunk_len = l->chunk_len, .n_chunks = l->n_chunks,
				   .reader = getpid() };
	return true;
}

/* The tool made it, and waits until it has a reader. */
static bool join_log(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;
	struct stat st;

	l->text_fd = -1;
	if (fstat(r->engine_fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != l->len)
		return ts_fail(&r->err, TS_ECORRUPT, TS_NO_OFF, "the engine's log has another size");
	return map_log(r, r->engine_fd);
}

static bool open_log(struct ts_recorder *r)
{
	struct ts_record_log *l = calloc(1, sizeof(*l));

	r->log = l;
	if (!l)
		return ts_no_memory(&r->err, "the recording");
	l->n_chunks = choose_chunks();
	l->chunk_len = CHUNK_LEN;
	l->len = TS_LOG_HEAD_LEN + l->n_chunks * l->chunk_len;
	return r->is_followed ? join_log(r) : create_log(r);
}

static bool add_facts(struct ts_recorder *r)
{
	for (const char *const *m = r->cli->modules; *m; m++) {
		char text[PATH_MAX + 64];

		snprintf(text, sizeof(text), "--module %s: only instructions of such modules are recorded", *m);
		if (!ts_recorder_add_text(r, UCIR_NOTE_TEXT, text))
			return false;
	}
	return ts_recorder_add_text(r, UCIR_NOTE_EMULATOR, "Valgrind " VALGRIND_VERSION);
}

/* A place as the tool reads it; src/recorder-vg/tool.h. */
static char *place_option(const char *option, const struct ts_record_place *p)
{
	char *text = NULL;
	int len = -1;

	switch (p->kind) {
	case TS_AT_ADDRESS:
		len = asprintf(&text, "%s=addr:%" PRIu64 ":%" PRIu64, option, p->count, p->addr);
		break;
	case TS_AT_FUNCTION:
		len = asprintf(&text, "%s=func:%" PRIu64 ":%.*s", option, p->count, p->n_name, p->name);
		break;
	case TS_AT_LINE:
		len = asprintf(&text, "%s=line:%" PRIu64 ":%" PRIu64 ":%.*s", option, p->count, p->line, p->n_name, p->name);
		break;
	default:
		len = asprintf(&text, "%s=signal:1:", option);
	}
	return len < 0 ? NULL : text;
}

/* Valgrind replaces %p in the name of a file by the process id, and %% by %. */
static void text_option(char *to, size_t cap, const char *folder)
{
	size_t n = (size_t)snprintf(to, cap, "--log-file=");

	for (; *folder && n + 2 < cap; folder++) {
		to[n++] = *folder;
		if (*folder == '%')
			to[n++] = '%';
	}
	snprintf(to + n, cap - n, "/" TS_FOLLOW_TEXT "%%p");
}

/* Where the engine's log is, and what it says; --follow: each process makes its own. */
static size_t log_options(const struct ts_recorder *r, pid_t reader, const char **args)
{
	static char log[PATH_MAX + 64], text[2 * PATH_MAX + 64], close_it[32];

	if (r->follow) {
		snprintf(log, sizeof(log), "--follow=%d:%u:%" PRIu64 ":%s/" TS_FOLLOW_FIFO, (int)reader, choose_chunks(),
			 (uint64_t)CHUNK_LEN, r->follow);
		text_option(text, sizeof(text), r->follow);
		args[2] = "--trace-children=yes";
	} else {
		snprintf(log, sizeof(log), "--log=%d", r->memory_fd);
		snprintf(text, sizeof(text), "--log-fd=%d", r->log->text_fd);
		snprintf(close_it, sizeof(close_it), "--text=%d", r->log->text_fd);
		args[2] = close_it;
	}
	args[0] = log;
	args[1] = text;
	return 3;
}

/* Valgrind starts the programs that this one becomes, and its children, by this one. */
static const char *launcher(const struct ts_recorder *r)
{
	return r->follow ? r->launcher : "/";
}

static _Noreturn void become(const struct ts_recorder *r, pid_t reader)
{
	const char **args;
	size_t n = 0, k = 0;

	while (r->program.argv[n])
		n++;
	args = calloc(n + 24, sizeof(*args));
	if (!args || setenv("VALGRIND_LAUNCHER", launcher(r), 1) < 0)
		_exit(EXIT_FAILURE);
	if (!ts_emulated_is_own(r->program.emulated)) {
		args[k++] = r->program.emulator;
		args[k++] = "-cpu";
		args[k++] = r->program.emulated->model;
	}
	args[k++] = r->plugin;
	args[k++] = "-q";
	args[k++] = "--command-line-only=yes";
	args[k++] = "--vgdb=no";
	args[k++] = "--tool=tracestub";
	args[k++] = "--sigill-diagnostics=yes";
	args[k++] = "--read-inline-info=no";
	args[k++] = "--show-below-main=yes"; /* else functions before main lose their names */
	args[k++] = "--enable-debuginfod=no";
	args[k++] = "--max-threads=4096"; /* as many as the decoder has; Valgrind's own bound is 500 */
	if (strcmp(r->program.emulated->vg_arch, "arm64") == 0)
		args[k++] = "--sim-hints=fallback-llsc"; /* what is logged between the two would end the processor's own exclusive access */
	k += log_options(r, reader, args + k);
	if (r->cli->from.kind != TS_AT_NOTHING)
		args[k++] = place_option("--from", &r->cli->from);
	if (r->cli->until.kind != TS_AT_NOTHING)
		args[k++] = place_option("--until", &r->cli->until);
	if (!args[k - 1])
		_exit(EXIT_FAILURE);
	memcpy(args + k, r->program.argv, n * sizeof(*args));
	execv(args[0], (char *const *)args);
	ts_message(stderr, "tracestub: cannot start %s: %s", args[0], strerror(errno));
	_exit(127);
}

/* -------------------------------------------------------------------------------- the log */

static void futex(volatile uint32_t *word, int op, uint32_t val)
{
	struct timespec limit = { 0, WAIT_NS };

	syscall(SYS_futex, word, op, val, &limit, NULL, 0);
}

static void wake(struct ts_recorder *r)
{
	futex(&r->log->log->n_filled, FUTEX_WAKE, 1);
}

static bool put(void *user, const uint8_t *bytes, size_t len)
{
	struct ts_recorder *r = user;

	return ts_press_add(&r->log->press, bytes, len);
}

static bool begin(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;
	struct ucir_writer *w = r->writer;

	if (r->cli->last && !ts_record_last_init(&l->last, r->cli->last, r->out, &r->err))
		return false;
	if (r->cli->last)
		w = ts_record_last_begin(&l->last, 0, &r->err);
	l->frames.put = put;
	l->frames.user = r;
	l->frames.ops = l->ops;
	l->frames.cap = sizeof(l->ops);
	l->decoder = ts_log_decoder_new(r->program.emulated->arch, (uint32_t)r->pid, &l->frames);
	if (l->decoder && r->is_followed)
		ts_log_decoder_follow(l->decoder);
	if (l->decoder && r->cli->modules[0])
		ts_log_decoder_only(l->decoder, r->cli->modules);
	l->is_begun = l->has_press = l->decoder && w && ts_press_begin(&l->press, w);
	return l->is_begun || ts_no_memory(&r->err, "the recording");
}

/* The state goes into the new part without the thread of the press. */
static bool put_state(void *user, const uint8_t *bytes, size_t len)
{
	struct ts_recorder *r = user;
	struct ts_record_last *last = &r->log->last;

	return ucir_writer_add(&last->parts[(last->n - 1) % 2].writer, bytes, len, &r->err);
}

static bool end_press(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;
	bool is_good = !l->has_press || ts_press_end(&l->press, &r->err);

	l->has_press = false;
	return is_good;
}

/* What was decoded is written, and a new part begins with the state of the program. */
static bool begin_part(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;
	struct ts_log_decoder_counts counts;
	struct ucir_writer *w;

	ts_log_decoder_count(l->decoder, &counts);
	ts_log_decoder_put_gaps(l->decoder);
	ts_op_frames_close(&l->frames);
	if (!end_press(r) || !ucir_writer_flush(l->press.writer, &r->err))
		return false;
	w = ts_record_last_begin(&l->last, counts.n_steps, &r->err);
	if (!w)
		return false;
	l->frames.put = put_state;
	ts_log_decoder_put_state(l->decoder);
	l->frames.put = put;
	if (l->frames.is_ended || !ucir_writer_flush(w, &r->err))
		return false;
	ts_record_last_end_state(&l->last);
	l->has_press = ts_press_begin(&l->press, w);
	return l->has_press || ts_no_memory(&r->err, "the recording");
}

static void stop(struct ts_recorder *r)
{
	r->log->log->is_stopped = 1;
}

static bool has_written(struct ts_record_log *l, uint64_t n)
{
	return l->has_press && ts_press_is_beyond(&l->press, n);
}

/* A part of the log: the chunk that was filled as the n-th, or what there is of it. */
static void decode(struct ts_recorder *r, uint32_t n, uint64_t len)
{
	struct ts_record_log *l = r->log;
	const uint8_t *chunk = (const uint8_t *)l->log + TS_LOG_HEAD_LEN + n % l->n_chunks * l->chunk_len;

	if (l->fault || r->is_cut)
		return;
	l->fault = len > l->chunk_len ? "a chunk's length is wrong" : ts_log_decoder_take(l->decoder, chunk, len);
	r->is_cut = has_written(l, r->cli->limit);
	r->cut_at = r->is_cut ? "--limit" : NULL;
	if (r->cli->last && !l->fault && has_written(l, ts_record_last_bound(&l->last)) &&
	    ts_log_decoder_is_settled(l->decoder) && !begin_part(r))
		l->frames.is_ended = true;
	if (l->fault || r->is_cut || l->frames.is_ended)
		stop(r);
}

/* The chunks that are complete.  Returns whether there were any. */
static bool take_chunks(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;
	uint32_t n_filled = __atomic_load_n(&l->log->n_filled, __ATOMIC_ACQUIRE), n = n_filled - l->n_taken;

	if (n > l->n_chunks && !l->fault) {
		l->fault = "the number of chunks is wrong";
		stop(r);
	}
	if (!n || l->fault)
		return false;
	decode(r, l->n_taken, l->log->used[l->n_taken % l->n_chunks]);
	l->n_taken++;
	__atomic_store_n(&l->log->n_taken, l->n_taken, __ATOMIC_RELEASE);
	futex(&l->log->n_taken, FUTEX_WAKE, 1);
	return true;
}

/* Take the part of its last chunk that the dead tool has written.  The last record may be incomplete. */
static void take_rest(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;
	uint64_t start = l->log->base + TS_LOG_HEAD_LEN + l->n_taken % l->n_chunks * l->chunk_len, len = l->log->cur - start;
	bool had_fault = l->fault != NULL;

	if (!l->is_begun || had_fault || len > l->chunk_len)
		return;
	decode(r, l->n_taken, len);
	if (l->fault && ts_log_decoder_is_last_damaged(l->decoder))
		l->fault = NULL;
}

/* The tool waits for a reader. */
static void accept_log(struct ts_log *log)
{
	__atomic_store_n(&log->reader, getpid(), __ATOMIC_RELEASE);
	futex((volatile uint32_t *)&log->reader, FUTEX_WAKE, 1);
}

static void show_progress(struct ts_recorder *r)
{
	struct ts_log_decoder_counts counts = { 0 };

	if (r->log->is_begun)
		ts_log_decoder_count(r->log->decoder, &counts);
	ts_record_progress_show(r, counts.n_steps, r->log->has_press ? atomic_load(&r->log->press.n_file) : 0);
}

static void read_log(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;

	if (!begin(r))
		stop(r);
	if (r->is_followed)
		accept_log(l->log);
	for (;;) {
		bool is_dead = atomic_load(&r->is_dead);
		uint32_t seen = l->log->n_filled;

		show_progress(r);
		if (l->is_begun && take_chunks(r))
			continue;
		if (is_dead) {
			take_rest(r);
			return;
		}
		if (l->log->n_filled == seen)
			futex(&l->log->n_filled, FUTEX_WAIT, seen);
	}
}

/* -------------------------------------------------------------------------------- what the engine said */

/* Of --follow, a process has a file of its own in the folder of the recordings. */
static int open_text(const struct ts_recorder *r)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%.*s" TS_FOLLOW_TEXT "%d", (int)(strrchr(r->out, '/') + 1 - r->out), r->out, (int)r->pid);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static void read_text(const struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;
	ssize_t n;

	if (r->is_followed && l->text_fd < 0)
		l->text_fd = open_text(r);
	n = pread(l->text_fd, l->text, sizeof(l->text) - 1, 0);

	l->text[n > 0 ? n : 0] = '\0';
}

static const struct {
	const char *text; /* Valgrind's words */
	int32_t code;
} causes[] = {
	{ "Access not within mapped region", 1 }, /* SEGV_MAPERR */
	{ "Bad permissions for mapped region", 2 }, /* SEGV_ACCERR */
	{ "General Protection Fault", SI_KERNEL },
	{ "Integer divide by zero", 1 },          /* FPE_INTDIV */
	{ "Integer overflow", 2 },
	{ "Illegal opcode", 1 },                  /* ILL_ILLOPC */
	{ "Invalid address alignment", 1 },       /* BUS_ADRALN */
	{ "Non-existent physical address", 2 },   /* BUS_ADRERR */
};

/* Valgrind reports a fatal signal of the kernel with its cause and, for faults, its address. */
static void tell_fatal(struct ts_recorder *r)
{
	const char *at = strstr(r->log->text, "Process terminating with default action of signal");
	uint8_t flags = 0;
	uint64_t addr = 0;
	int32_t code = 0;

	if (!WIFSIGNALED(r->status))
		return;
	for (size_t i = 0; at && i < sizeof(causes) / sizeof(causes[0]); i++) {
		const char *cause = strstr(at, causes[i].text), *where;

		if (!cause)
			continue;
		code = causes[i].code;
		flags = UCIR_SIGNAL_HAS_CODE;
		where = strstr(cause, "at address 0x");
		if (where && strchr(cause, '\n') > where) {
			addr = strtoull(where + strlen("at address "), NULL, 16);
			flags |= UCIR_SIGNAL_HAS_ADDR;
		}
		if (code == SI_KERNEL) /* si_addr is 0 */
			flags |= UCIR_SIGNAL_HAS_ADDR;
		break;
	}
	ts_log_decoder_set_fatal(r->log->decoder, (uint16_t)WTERMSIG(r->status), code, addr, flags);
}

/*
 * How a program ended that another process waited for: by its call of exit_group, by a signal that the engine reported,
 * or by SIGKILL, which the engine cannot report.
 */
static void find_status(struct ts_recorder *r)
{
	static const char report[] = "Process terminating with default action of signal ";
	const char *at = strstr(r->log->text, report);
	struct ts_log_decoder_counts counts;

	ts_log_decoder_count(r->log->decoder, &counts);
	if (counts.has_exit)
		r->status = (int)counts.exit_status << 8;
	else
		r->status = at ? (int)strtoul(at + strlen(report), NULL, 10) & 0x7f : SIGKILL;
}

/*
 * Valgrind ends the program when it fails itself, and says why in lines of its own.  Returns why; NULL: it did not fail, or the
 * recording had ended before.
 */
static const char *find_failure(const struct ts_recorder *r)
{
	static const char mark[] = "\nvalgrind: ", impossible[] = "the 'impossible' happened:\n   ";
	const char *at = strstr(r->log->text, impossible), *line = strstr(r->log->text, mark);
	const char *exec = strstr(r->log->text, "EXEC FAILED"); /* of --follow, e.g. after chroot(2) */
	struct ts_log_decoder_counts counts;

	ts_log_decoder_count(r->log->decoder, &counts);
	if (counts.has_exit || r->is_cut)
		return NULL;
	return at ? at + strlen(impossible) : line ? line + strlen(mark) : exec;
}

/* The end of the program is not one of its own: the recording ends before it. */
static void tell_failure(struct ts_recorder *r)
{
	const char *why = find_failure(r);

	if (!why)
		return;
	ts_message(stderr, "tracestub: Valgrind failed and ended the program: %.*s; --with qemu may record it",
		   (int)strcspn(why, "\n"), why);
	r->is_cut = true;
	r->cut_at = "a failure of Valgrind";
}

/* Its bytes; NULL: none.  The last word is AArch64's. */
static const char *unknown_instruction(const struct ts_recorder *r)
{
	static const char *const words[] = { "unhandled instruction bytes:", "disInstr(arm64): unhandled instruction" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *at = strstr(r->log->text, words[i]);

		if (at)
			return at + strlen(words[i]);
	}
	return NULL;
}

static void explain(const struct ts_recorder *r)
{
	const char *at = unknown_instruction(r);

	if (!at)
		return;
	ts_message(stderr, "tracestub: Valgrind does not know an instruction of the program:%.*s", (int)strcspn(at, "\n"), at);
	if (strstr(at, " 0x62 ") == at)
		fputs("tracestub: it is one of AVX-512, which neither engine knows: build without -march=native, or with -mno-avx512f\n",
		      stderr);
	else if (!r->program.emulated->is_64 && (strstr(at, " 0xC4 ") == at || strstr(at, " 0xC5 ") == at))
		fputs("tracestub: it is one of AVX, which Valgrind has for 64-bit programs only: build with -mno-avx, or record with --with qemu\n",
		      stderr);
	else
		fputs("tracestub: --with qemu may record it\n", stderr);
}

/* -------------------------------------------------------------------------------- the end */

/*
 * A filter of the program's system calls judges those of the engine, too.  Which of them it forbade is not known, but that
 * the program may not end so by itself.
 */
static void explain_filter(struct ts_recorder *r, const struct ts_log_decoder_counts *counts)
{
	static const char text[] = "a filter of seccomp(2), which the program has set, judges Valgrind's own system calls, too "
				   "(gettid, read, write, rt_sigprocmask, futex), and may have ended it";
	int sig = WIFSIGNALED(r->status) ? WTERMSIG(r->status) : 0;

	if (!counts->has_filter || (sig != SIGSYS && sig != SIGKILL))
		return;
	ts_recorder_add_text(r, UCIR_NOTE_TEXT, text);
	ts_message(stderr, "tracestub: %s", text);
}

/* A link to the file that the process executes: the tool, not the program. */
static bool is_own_link(const char *path)
{
	int pid = 0, end = 0;

	return strcmp(path, "/proc/self/exe") == 0 || strcmp(path, "/proc/thread-self/exe") == 0 ||
	       (sscanf(path, "/proc/%d/exe%n", &pid, &end) == 1 && end && !path[end]);
}

static void count(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;
	struct ts_log_decoder_counts counts;

	ts_log_decoder_count(l->decoder, &counts);
	r->counts.n_steps = counts.n_steps - r->counts.n_lost;
	r->counts.n_unexplained = counts.n_unexplained;
	r->counts.n_children = counts.n_children;
	r->counts.n_elsewhere = counts.n_elsewhere;
	if (counts.exec_path && !r->is_cut) {
		snprintf(l->exec_path, sizeof(l->exec_path), "%s", counts.exec_path);
		r->counts.exec_path = l->exec_path;
		if (is_own_link(l->exec_path) && !r->is_followed)
			r->counts.note = "the program executed a link to its own file, which is Valgrind here: it did not go on, "
					 "and its status is Valgrind's; execute it by its name, or record with --with qemu";
	}
	explain_filter(r, &counts);
	if (counts.n_x87) {
		snprintf(l->note, sizeof(l->note),
			 "x87 arithmetic (long double) was computed with 64 bits instead of 80, by %" PRIu64
			 " instructions: --with qemu has all 80", counts.n_x87);
		ts_recorder_add_text(r, UCIR_NOTE_TEXT, l->note);
		r->counts.note = l->note;
	}
}

/* The recording ended before the program: all until then is to be written. */
static void cut(struct ts_recorder *r)
{
	uint32_t why = r->log->log->ended_by;

	if (!r->is_cut && (why == TS_LOG_ENDED_BY_UNTIL || why == TS_LOG_ENDED_BY_SIGNAL)) {
		r->is_cut = true;
		r->cut_at = why == TS_LOG_ENDED_BY_UNTIL ? "--until" : "SIGUSR1";
	}
	if (!r->is_cut)
		return;
	ts_log_decoder_put_gaps(r->log->decoder);
	ts_op_frames_close(&r->log->frames);
}

/* With --last: the parts that are kept become the recording. */
static void take_parts(struct ts_recorder *r)
{
	struct ts_record_last *last = &r->log->last;
	uint64_t n_lost = ts_record_last_n_lost(last);
	char text[128];

	snprintf(text, sizeof(text), "--last: the first %" PRIu64 " instructions of the run are not in the recording", n_lost);
	if (n_lost)
		ts_recorder_add_text(r, UCIR_NOTE_TEXT, text);
	if (ucir_writer_flush(r->log->press.writer, &r->err))
		ts_record_last_copy(last, r->writer, &r->err);
	r->counts.n_lost = n_lost;
}

static void keep_library(void *user, const char *path)
{
	ts_recorder_keep_library(user, path);
}

static bool finish(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;

	if (!l->is_begun)
		return false;
	read_text(r);
	if (r->is_followed && !r->has_status)
		find_status(r);
	tell_failure(r);
	tell_fatal(r);
	cut(r);
	if (!r->is_cut && !l->fault)
		ts_log_decoder_finish(l->decoder);
	end_press(r);
	if (r->cli->last)
		take_parts(r);
	if (l->fault)
		ts_fail(&r->err, TS_ECORRUPT, TS_NO_OFF, "the recording ends early: the engine's log is damaged (%s)", l->fault);
	explain(r);
	count(r);
	if (r->counts.n_steps)
		ts_log_decoder_files(l->decoder, keep_library, r);
	ts_log_decoder_free(l->decoder);
	l->decoder = NULL;
	if (r->cli->last)
		ts_record_last_fini(&l->last);
	return true;
}

static bool is_started(const struct ts_recorder *r)
{
	if (r->log->log->is_started)
		return true;
	read_text(r);
	fputs(r->log->text, stderr);
	return false;
}

/* The first signal ends a recording that has begun, or begins one that waits; the next one ends that. */
static void toggle(struct ts_recorder *r)
{
	struct ts_log *log = r->log->log;

	log->wanted = log->is_begun || log->wanted == TS_LOG_WANTS_BEGIN ? TS_LOG_WANTS_END : TS_LOG_WANTS_BEGIN;
}

static const char *nothing(struct ts_recorder *r)
{
	const struct ts_record_place *from = &r->cli->from;

	if (r->log->decoder && ts_log_decoder_is_waiting(r->log->decoder))
		snprintf(r->log->note, sizeof(r->log->note), "no instruction of a module %.180s was executed", r->cli->modules[0]);
	else if (r->log->log->is_begun)
		return NULL;
	else if (from->kind == TS_AT_SIGNAL)
		snprintf(r->log->note, sizeof(r->log->note), "no SIGUSR1 began it");
	else
		snprintf(r->log->note, sizeof(r->log->note), "%.180s was not reached", from->text);
	return r->log->note;
}

const struct ts_record_engine ts_record_valgrind = {
	.name = "Valgrind",
	.find = find,
	.open = open_log,
	.add_facts = add_facts,
	.become = become,
	.wake = wake,
	.read = read_log,
	.toggle = toggle,
	.nothing = nothing,
	.is_started = is_started,
	.finish = finish,
};
