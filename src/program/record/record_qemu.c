/* SPDX-License-Identifier: MIT */
/*
 * Recording in QEMU's user mode, with the plugin of src/recorder.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaders/usercorn/op_write.h"
#include "recorder.h"
#include "src/program/cli/message.h"
#include "src/recorder/ring.h"

#define MAX_FRAME_LEN (UCIR_PUT_FRAME_LEN + UCIR_PUT_SYSCALL_LEN + 8 * TS_RING_N_ARGS + 1)

static bool add_call(struct ucir_writer *w, const struct ts_ring_call *c, struct ts_error *err)
{
	uint8_t bytes[MAX_FRAME_LEN], *p = ucir_put_frame(bytes, UCIR_FRAME, atomic_load(&c->pid), 1);

	p = ucir_put_syscall(p, c->num, 0, c->args, TS_RING_N_ARGS, 1);
	*p++ = UCIR_EXIT;
	return ucir_writer_add(w, bytes, (size_t)(p - bytes), err);
}

/* Does an instruction raise the signal with its own address? */
static bool is_of_instruction(int sig)
{
	return sig == SIGILL || sig == SIGFPE || sig == SIGTRAP;
}

/* The host delivered the signal.  One of an access that QEMU dealt with, and steps followed, is another one. */
static bool is_delivered(const struct ts_ring *ring, int sig)
{
	const struct ts_ring_signal *s = &ring->signal;

	return s->num == sig && (!s->is_fault || s->n_steps == atomic_load(&ring->n_steps));
}

static bool add_signal(struct ucir_writer *w, const struct ts_ring *ring, const struct ts_emulated *e, int sig,
		       struct ts_error *err)
{
	const struct ts_ring_signal *s = &ring->signal;
	uint8_t bytes[MAX_FRAME_LEN], *p, flags = UCIR_SIGNAL_KILLED;
	bool is_known = is_delivered(ring, sig);
	uint64_t pid = is_known && s->pid ? s->pid : ring->open_pid;

	if (!pid || (!is_known && !is_of_instruction(sig)))
		return true;
	flags |= is_known ? UCIR_SIGNAL_HAS_CODE | UCIR_SIGNAL_HAS_ADDR : UCIR_SIGNAL_AT_PC;
	p = ucir_put_frame(bytes, UCIR_FRAME, pid, 1);
	p = ucir_put_signal(p, (uint16_t)ts_emulated_signal(e, sig), is_known ? s->code : 0, is_known ? s->addr : 0,
			    flags, 0);
	return ucir_writer_add(w, bytes, (size_t)(p - bytes), err);
}

/*
 * After the program has ended with @status of waitpid() and its last frame was written: write a frame for each call
 * that has not returned, then one for the signal, if it is in the ring.
 *
 * Returns false if the file cannot be written (TS_EIO).
 */
static bool add_unfinished(struct ucir_writer *w, const struct ts_ring *ring, const struct ts_emulated *e, int status,
		       struct ts_error *err)
{
	for (unsigned i = 0; i < TS_RING_MAX_CALLS; i++) {
		const struct ts_ring_call *c = &ring->calls[i];

		if (atomic_load(&c->pid) && !add_call(w, c, err))
			return false;
	}
	return !WIFSIGNALED(status) || add_signal(w, ring, e, WTERMSIG(status), err);
}

#define RING_LEN (UINT64_C(8) << 20)
#define MIN_RING_LEN (UINT64_C(64) << 10)

/* The plugin is built for two interfaces of QEMU. */
#define PLUGIN_7 "tracestub-record.so"
#define PLUGIN_9 "tracestub-record9.so"

/* "7.2.22": what the plugins use is there in 7, and from 9.2 on. */
static bool take_version(struct ts_recorder *r, const char *line)
{
	const char *at = strstr(line, "version ");
	unsigned long major = 0, minor = 0;
	char *end;

	if (at && sscanf(at, "version %63[0-9.]", r->version) == 1) {
		major = strtoul(r->version, &end, 10);
		minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	}
	r->is_new = major > 9 || (major == 9 && minor >= 2);
	if (major == 7 || r->is_new)
		return true;
	return ts_fail(&r->err, TS_EUNSUPPORTED, TS_NO_OFF,
		       "%s is version %s: recording works with QEMU 7.2, that of Debian 12, and with 9.2 or later",
		       r->program.emulator, *r->version ? r->version : "unknown");
}

/* "qemu-x86_64 version 7.2.22 (Debian ...)" */
static bool check_version(struct ts_recorder *r)
{
	char line[256] = "";
	int ends[2];
	pid_t pid;
	FILE *f;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return ts_fail_errno(&r->err, "cannot start %s", r->program.emulator);
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		execl(r->program.emulator, r->program.emulator, "--version", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	f = fdopen(ends[0], "r");
	if (!f || !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		(void)fclose(f);
	waitpid(pid, NULL, 0);
	return take_version(r, line);
}

static bool find(struct ts_recorder *r)
{
	return check_version(r) && ts_recorder_find_file(r, r->is_new ? PLUGIN_9 : PLUGIN_7, r->plugin);
}

/*
 * What is in the ring when --limit is reached is still written: the ring is at most an eighth of the limit.
 */
static uint64_t choose_ring_len(uint64_t limit)
{
	uint64_t len = RING_LEN;

	while (len > MIN_RING_LEN && len > limit / 8)
		len /= 2;
	return len;
}

/* Not closed at exec: the emulator inherits it, and the plugin closes it before the program begins. */
static bool open_ring(struct ts_recorder *r)
{
	const char *len = getenv("TRACESTUB_RING");
	void *at;

	r->ring_len = len ? strtoull(len, NULL, 10) : 0;
	if (r->ring_len < 4096)
		r->ring_len = choose_ring_len(r->cli->limit);
	r->memory_fd = memfd_create("tracestub", 0);
	if (r->memory_fd < 0 || ftruncate(r->memory_fd, (off_t)ts_ring_size(r->ring_len)) < 0)
		return ts_fail_errno(&r->err, "cannot create shared memory");
	at = mmap(NULL, ts_ring_size(r->ring_len), PROT_READ | PROT_WRITE, MAP_SHARED, r->memory_fd, 0);
	if (at == MAP_FAILED)
		return ts_fail_errno(&r->err, "cannot map shared memory");
	r->ring = at;
	r->ring->len = r->ring_len;
	return true;
}

static const char *model(const struct ts_recorder *r)
{
	return r->cli->cpu ? r->cli->cpu : r->program.emulated->model;
}

static bool add_facts(struct ts_recorder *r)
{
	char emulator[128];

	snprintf(emulator, sizeof(emulator), "%s %s", r->program.emulated->qemu, r->version);
	return ts_recorder_add_text(r, UCIR_NOTE_EMULATOR, emulator) &&
	       (!model(r) || ts_recorder_add_text(r, UCIR_NOTE_PROCESSOR, model(r)));
}

/* The plugin's path in an option of QEMU: a comma is doubled. */
static void quote(char *to, size_t cap, const char *path)
{
	size_t n = 0;

	for (; *path && n + 2 < cap; path++) {
		to[n++] = *path;
		if (*path == ',')
			to[n++] = ',';
	}
	to[n] = '\0';
}

static _Noreturn void be_emulator(const struct ts_recorder *r, pid_t reader)
{
	char plugin[2 * PATH_MAX], option[2 * PATH_MAX + 128];
	const char **args;
	size_t n = 0, k = 0;

	while (r->program.argv[n])
		n++;
	args = calloc(n + 16, sizeof(*args));
	if (!args)
		_exit(EXIT_FAILURE);
	quote(plugin, sizeof(plugin), r->plugin);
	snprintf(option, sizeof(option), "%s,fd=%d,size=%zu,reader=%d", plugin, r->memory_fd,
		 ts_ring_size(r->ring_len), (int)reader);
	args[k++] = r->program.emulated->qemu;
	args[k++] = r->is_new ? "-one-insn-per-tb" : "-singlestep";
	if (model(r)) {
		args[k++] = "-cpu";
		args[k++] = model(r);
	}
	if (r->cli->sysroot) {
		args[k++] = "-L";
		args[k++] = r->cli->sysroot;
	}
	args[k++] = "-0";
	args[k++] = r->program.argv[0];
	args[k++] = "-plugin";
	args[k++] = option;
	args[k++] = r->program.path;
	memcpy(args + k, r->program.argv + 1, n * sizeof(*args));
	execv(r->program.emulator, (char *const *)args);
	ts_message(stderr, "tracestub: cannot start %s: %s", r->program.emulator, strerror(errno));
	_exit(127);
}

/*
 * With --limit: the stream ends after the frame in which the file gets too long.
 *
 * To be called when bytes have come: the frame before them has been sealed then, which it may not have been
 * when its last byte was taken.
 */
static void limit(struct ts_recorder *r)
{
	if (r->is_cut || r->writer->n_file < r->cli->limit ||
	    atomic_load(&r->ring->tail) > atomic_load(&r->ring->boundary))
		return;
	r->is_cut = true;
	r->cut_at = "--limit";
	r->n_kept = ts_ring_boundary(r->ring, &r->n_kept_steps);
	atomic_store(&r->ring->is_stopped, 1);
}

/* Write what came.  A file that cannot be written ends the recording, not the program. */
static void take(struct ts_recorder *r, const uint8_t *bytes, size_t len)
{
	uint64_t at = atomic_load(&r->ring->tail);
	size_t n = len;

	limit(r);
	if (r->is_cut)
		n = at >= r->n_kept ? 0 : at + len > r->n_kept ? (size_t)(r->n_kept - at) : len;
	if (r->err.code == TS_OK && !ucir_writer_add(r->writer, bytes, n, &r->err))
		atomic_store(&r->ring->is_stopped, 1);
	ts_ring_take(r->ring, len);
}

static void read_stream(struct ts_recorder *r)
{
	for (;;) {
		bool is_dead = atomic_load(&r->is_dead);
		const uint8_t *bytes;
		size_t n = ts_ring_peek(r->ring, &bytes, !is_dead);

		ts_record_progress_show(r, atomic_load(&r->ring->n_steps), r->writer->n_file);
		if (n)
			take(r, bytes, n);
		else if (is_dead)
			return;
	}
}

/* The frame that was open when the program died. */
static void add_open_frame(struct ts_recorder *r)
{
	uint64_t state = atomic_load(&r->ring->open_state);
	uint8_t head[UCIR_PUT_FRAME_LEN];

	if (r->is_cut || !state || r->ring->open_base != r->ring->head || (state >> 32) > TS_RING_OPEN_CAP)
		return;
	ucir_put_frame(head, UCIR_FRAME, r->ring->open_pid, (uint32_t)state);
	if (ucir_writer_add(r->writer, head, sizeof(head), &r->err))
		ucir_writer_add(r->writer, r->ring->open, state >> 32, &r->err);
}

/*
 * The program was killed while its plugin put something into the ring.  If that is the open frame, which is
 * still there as a whole, the rest of it is written; else the file ends inside of a long frame.
 *
 * Returns whether the stream ends after a frame.
 */
static bool complete_frame(struct ts_recorder *r)
{
	uint64_t boundary = atomic_load(&r->ring->boundary), n_put = atomic_load(&r->ring->head) - boundary;
	uint64_t state = atomic_load(&r->ring->open_state), len = state >> 32;
	uint8_t head[UCIR_PUT_FRAME_LEN];

	if (!n_put)
		return true;
	if (!state || r->ring->open_base != boundary || len > TS_RING_OPEN_CAP || n_put > sizeof(head) + len)
		return false;
	ucir_put_frame(head, UCIR_FRAME, r->ring->open_pid, (uint32_t)state);
	if (n_put < sizeof(head)) {
		ucir_writer_add(r->writer, head + n_put, sizeof(head) - n_put, &r->err);
		n_put = sizeof(head);
	}
	return ucir_writer_add(r->writer, r->ring->open + (n_put - sizeof(head)), sizeof(head) + len - n_put,
			       &r->err);
}

/* The recorded program can write there: the last text may be cut. */
static void keep_libraries(const struct ts_recorder *r)
{
	const struct ts_ring *ring = r->ring;
	size_t n = atomic_load(&ring->n_code_files), at = 0;
	char path[PATH_MAX];

	n = n < sizeof(ring->code_files) ? n : sizeof(ring->code_files);
	for (size_t len; at < n; at += len + 1) {
		len = strnlen(ring->code_files + at, n - at);
		if (len < sizeof(path)) {
			memcpy(path, ring->code_files + at, len);
			path[len] = '\0';
			ts_recorder_keep_library(r, path);
		}
	}
}

static bool finish(struct ts_recorder *r)
{
	r->counts.n_steps = r->is_cut ? r->n_kept_steps : atomic_load(&r->ring->n_steps);
	r->counts.n_unexplained = atomic_load(&r->ring->n_unexplained);
	r->counts.n_children = atomic_load(&r->ring->n_children);
	r->counts.exec_path = atomic_load(&r->ring->is_in_exec) ? r->ring->exec_path : NULL;
	if (!r->is_cut && !complete_frame(r))
		return false;
	add_open_frame(r);
	if (!r->is_cut)
		add_unfinished(r->writer, r->ring, r->program.emulated, r->status, &r->err);
	if (WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGILL)
		r->counts.note = "an instruction is unknown to QEMU's processor, which has no AVX-512, and AVX2 only with --cpu max";
	if (r->counts.n_steps)
		keep_libraries(r);
	return true;
}

static void wake(struct ts_recorder *r)
{
	ts_ring_wake(r->ring);
}

static bool is_started(const struct ts_recorder *r)
{
	return atomic_load(&r->ring->is_started) != 0;
}

static const char *refusal(const struct ts_recorder *r)
{
	return atomic_load(&r->ring->is_refused) ? r->ring->refusal : NULL;
}

const struct ts_record_engine ts_record_qemu = {
	.name = "the emulator",
	.find = find,
	.open = open_ring,
	.add_facts = add_facts,
	.become = be_emulator,
	.wake = wake,
	.read = read_stream,
	.is_started = is_started,
	.refusal = refusal,
	.finish = finish,
};
