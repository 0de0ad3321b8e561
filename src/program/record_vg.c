/* SPDX-License-Identifier: MIT */
/*
 * Recording with the Valgrind tool of src/recorder-vg: its log comes through shared memory and is decoded here,
 * and compressed by another thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
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
#include "message.h"
#include "recorder.h"
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
	const char *fault;  /* of the log */
	char exec_path[4096];
	char note[256];
	char text[MAX_TEXT];
	struct ts_log_decoder *decoder; /* owned */
	struct ts_op_frames frames;
	struct ts_press press;
};

/* -------------------------------------------------------------------------------- before it runs */

static bool find(struct ts_recorder *r)
{
	char name[64];

	snprintf(name, sizeof(name), "tracestub-record-vg-%s", r->program.emulated->vg_arch);
	return ts_recorder_find_file(r, name, r->plugin);
}

/* A number of chunks for as many bytes as the tests want; a small one is full all the time. */
static uint32_t choose_chunks(void)
{
	const char *len = getenv("TRACESTUB_RING");
	uint64_t n = len ? strtoull(len, NULL, 10) / CHUNK_LEN : N_CHUNKS;

	return n < 2 ? 2 : n > TS_LOG_MAX_CHUNKS ? TS_LOG_MAX_CHUNKS : (uint32_t)n;
}

/* The tool inherits both files, and closes or hides them before the program begins. */
static bool open_log(struct ts_recorder *r)
{
	struct ts_record_log *l = calloc(1, sizeof(*l));

	r->log = l;
	if (!l)
		return ts_fail(&r->err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted");
	l->n_chunks = choose_chunks();
	l->chunk_len = CHUNK_LEN;
	l->len = TS_LOG_HEAD_LEN + l->n_chunks * l->chunk_len;
	l->text_fd = memfd_create("tracestub-text", 0);
	r->memory_fd = memfd_create("tracestub", 0);
	if (l->text_fd < 0 || r->memory_fd < 0 || ftruncate(r->memory_fd, (off_t)l->len) < 0)
		return ts_fail_errno(&r->err, "cannot create shared memory");
	l->log = mmap(NULL, l->len, PROT_READ | PROT_WRITE, MAP_SHARED, r->memory_fd, 0);
	if (l->log == MAP_FAILED)
		return ts_fail_errno(&r->err, "cannot map shared memory");
	*l->log = (struct ts_log){ .magic = TS_LOG_MAGIC, .chunk_len = l->chunk_len, .n_chunks = l->n_chunks,
				   .reader = getpid() };
	return true;
}

static bool add_facts(struct ts_recorder *r)
{
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

static _Noreturn void become(const struct ts_recorder *r, pid_t reader)
{
	char log[32], text[32];
	const char **args;
	size_t n = 0, k = 0;

	(void)reader;
	while (r->program.argv[n])
		n++;
	args = calloc(n + 16, sizeof(*args));
	if (!args || setenv("VALGRIND_LAUNCHER", "/", 1) < 0)
		_exit(EXIT_FAILURE);
	snprintf(log, sizeof(log), "--log=%d", r->memory_fd);
	snprintf(text, sizeof(text), "--log-fd=%d", r->log->text_fd);
	args[k++] = r->plugin;
	args[k++] = "-q";
	args[k++] = "--command-line-only=yes";
	args[k++] = "--vgdb=no";
	args[k++] = "--tool=tracestub";
	args[k++] = "--sigill-diagnostics=yes";
	args[k++] = "--read-inline-info=no";
#if VALGRIND_HAS_DEBUGINFOD
	args[k++] = "--enable-debuginfod=no";
#endif
	args[k++] = log;
	args[k++] = text;
	if (r->cli->from.kind != TS_AT_NOTHING)
		args[k++] = place_option("--from", &r->cli->from);
	if (r->cli->until.kind != TS_AT_NOTHING)
		args[k++] = place_option("--until", &r->cli->until);
	if (!args[k - 1])
		_exit(EXIT_FAILURE);
	memcpy(args + k, r->program.argv, n * sizeof(*args));
	execv(r->plugin, (char *const *)args);
	ts_message(stderr, "tracestub: cannot start %s: %s", r->plugin, strerror(errno));
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

	l->frames.put = put;
	l->frames.user = r;
	l->decoder = ts_log_decoder_new(r->program.emulated->arch, (uint32_t)r->pid, &l->frames);
	l->is_begun = l->decoder && ts_press_begin(&l->press, r->writer);
	return l->is_begun ? true : ts_fail(&r->err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted");
}

static void stop(struct ts_recorder *r)
{
	r->log->log->is_stopped = 1;
}

/* A part of the log: the chunk that was filled as the n-th, or what there is of it. */
static void decode(struct ts_recorder *r, uint32_t n, uint64_t len)
{
	struct ts_record_log *l = r->log;
	const uint8_t *chunk = (const uint8_t *)l->log + TS_LOG_HEAD_LEN + n % l->n_chunks * l->chunk_len;

	if (l->fault || r->is_cut)
		return;
	l->fault = len > l->chunk_len ? "a chunk's length is wrong" : ts_log_decoder_take(l->decoder, chunk, len);
	r->is_cut = atomic_load(&l->press.n_file) >= r->cli->limit;
	r->cut_at = "--limit";
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

static void read_log(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;

	if (!begin(r))
		stop(r);
	for (;;) {
		bool is_dead = atomic_load(&r->is_dead);
		uint32_t seen = l->log->n_filled;

		if (l->is_begun && take_chunks(r))
			continue;
		if (is_dead)
			return;
		if (l->log->n_filled == seen)
			futex(&l->log->n_filled, FUTEX_WAIT, seen);
	}
}

/* What the dead tool has written of its last chunk.  The last record may be incomplete. */
static void take_rest(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;
	uint64_t start = l->log->base + TS_LOG_HEAD_LEN + l->n_taken % l->n_chunks * l->chunk_len, len = l->log->cur - start;
	bool had_fault = l->fault != NULL;

	if (had_fault || len > l->chunk_len)
		return;
	decode(r, l->n_taken, len);
	l->fault = NULL;
}

/* -------------------------------------------------------------------------------- what the engine said */

static void read_text(struct ts_record_log *l)
{
	ssize_t n = pread(l->text_fd, l->text, sizeof(l->text) - 1, 0);

	l->text[n > 0 ? n : 0] = '\0';
}

static const struct {
	const char *text; /* Valgrind's words */
	int32_t code;
} causes[] = {
	{ "Access not within mapped region", 1 }, /* SEGV_MAPERR */
	{ "Bad permissions for mapped region", 2 }, /* SEGV_ACCERR */
	{ "General Protection Fault", 128 },      /* SI_KERNEL */
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
		break;
	}
	ts_log_decoder_set_fatal(r->log->decoder, (uint16_t)WTERMSIG(r->status), code, addr, flags);
}

static void explain(const struct ts_recorder *r)
{
	const char *at = strstr(r->log->text, "unhandled instruction bytes:");

	if (!at)
		return;
	at += strlen("unhandled instruction bytes:");
	ts_message(stderr, "tracestub: Valgrind does not know an instruction of the program:%.*s", (int)strcspn(at, "\n"), at);
	if (strstr(at, " 0x62 ") == at)
		fputs("tracestub: it is one of AVX-512, which neither engine knows: build without -march=native, or with -mno-avx512f\n",
		      stderr);
}

/* -------------------------------------------------------------------------------- the end */

static void count(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;
	struct ts_log_decoder_counts counts;

	ts_log_decoder_count(l->decoder, &counts);
	r->counts.n_steps = counts.n_steps;
	r->counts.n_unexplained = counts.n_unexplained;
	r->counts.n_children = counts.n_children;
	if (counts.exec_path && !r->is_cut) {
		snprintf(l->exec_path, sizeof(l->exec_path), "%s", counts.exec_path);
		r->counts.exec_path = l->exec_path;
	}
	if (counts.n_x87) {
		snprintf(l->note, sizeof(l->note),
			 "x87 arithmetic (long double) was computed with 64 bits instead of 80, by %" PRIu64
			 " instructions: --with qemu has all 80", counts.n_x87);
		ts_recorder_add_text(r, UCIR_NOTE_TEXT, l->note);
		r->counts.note = l->note;
	}
}

/* The tool ended the recording: all until then is to be written. */
static void cut(struct ts_recorder *r)
{
	uint32_t why = r->log->log->ended_by;

	if (r->is_cut || (why != TS_LOG_ENDED_BY_UNTIL && why != TS_LOG_ENDED_BY_SIGNAL))
		return;
	ts_op_frames_close(&r->log->frames);
	r->is_cut = true;
	r->cut_at = why == TS_LOG_ENDED_BY_UNTIL ? "--until" : "SIGUSR1";
}

static bool finish(struct ts_recorder *r)
{
	struct ts_record_log *l = r->log;

	if (!l->is_begun)
		return false;
	read_text(l);
	take_rest(r);
	tell_fatal(r);
	cut(r);
	if (!r->is_cut && !l->fault)
		ts_log_decoder_finish(l->decoder);
	ts_press_end(&l->press, &r->err);
	if (l->fault)
		ts_fail(&r->err, TS_ECORRUPT, TS_NO_OFF, "the recording ends early: the engine's log is damaged (%s)", l->fault);
	explain(r);
	count(r);
	ts_log_decoder_free(l->decoder);
	l->decoder = NULL;
	return true;
}

static bool is_started(const struct ts_recorder *r)
{
	if (r->log->log->is_started)
		return true;
	read_text(r->log);
	fputs(r->log->text, stderr);
	return false;
}

static const char *refusal(const struct ts_recorder *r)
{
	(void)r;
	return NULL;
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

	if (r->log->log->is_begun)
		return NULL;
	if (from->kind == TS_AT_SIGNAL)
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
	.refusal = refusal,
	.finish = finish,
};
