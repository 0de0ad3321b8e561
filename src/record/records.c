/* SPDX-License-Identifier: MIT */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#include "decoder_parts.h"
#include "loaders/usercorn/op_write.h"
#include "shadow.h"

#define MAX_BLOCKS (UINT32_C(1) << 22)

struct ts_log_decoder *ts_log_decoder_new(const char *arch, uint32_t process, struct ts_op_frames *frames)
{
	const struct ts_log_guest *guest = ts_log_guest_find(arch);
	struct ts_log_decoder *d = guest ? calloc(1, sizeof(*d)) : NULL;

	if (!d)
		return NULL;
	d->guest = guest;
	d->process = process;
	d->frames = frames;
	return d;
}

static void free_task(struct ts_log_task *t)
{
	if (!t)
		return;
	ts_op_piece_fini(&t->call.ops);
	free(t->open_record);
	free(t);
}

void ts_log_decoder_free(struct ts_log_decoder *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->n_blocks; i++)
		ts_log_code_fini(&d->blocks[i]);
	for (unsigned i = 0; i < TS_MAX_THREADS; i++)
		free_task(d->tasks[i]);
	for (size_t i = 0; i < d->n_code_files; i++)
		free(d->code_files[i]);
	ts_op_piece_fini(&d->loose);
	ts_gap_fini(&d->gap);
	ts_regions_fini(&d->regions);
	ts_shadow_fini();
	free(d->scratch);
	free(d->blocks);
	free(d);
}

void ts_log_decoder_follow(struct ts_log_decoder *d)
{
	d->is_followed = true;
}

/* -------------------------------------------------------------------------------- blocks */

/* Numbers go up by one. */
static const char *describe(struct ts_log_decoder *d, const uint8_t *bytes, size_t len)
{
	if (d->n_blocks == d->cap_blocks) {
		uint32_t cap = d->cap_blocks ? 2 * d->cap_blocks : 4096;
		struct ts_log_code *blocks = cap > MAX_BLOCKS ? NULL : realloc(d->blocks, cap * sizeof(*blocks));

		if (!blocks)
			return "memory is exhausted";
		/* executions that are open point into it */
		for (unsigned i = 0; i < TS_MAX_THREADS; i++) {
			if (d->tasks[i] && d->tasks[i]->open)
				d->tasks[i]->open = blocks + (d->tasks[i]->open - d->blocks);
		}
		d->blocks = blocks;
		d->cap_blocks = cap;
	}
	if (!d->scratch)
		d->scratch = malloc(TS_LOG_MAX_CONTROL);
	if (!d->scratch)
		return "memory is exhausted";
	if (len > TS_LOG_MAX_CONTROL)
		return "the description of a block is too long";
	memcpy(d->scratch, bytes, len); /* the program could change it meanwhile */
	if (!ts_log_code_take(&d->blocks[d->n_blocks], d->guest, d->scratch, len))
		return "the description of a block is malformed";
	if (d->blocks[d->n_blocks].num != d->n_blocks + 1) {
		ts_log_code_fini(&d->blocks[d->n_blocks]);
		return "blocks are not in order";
	}
	d->blocks[d->n_blocks].is_elsewhere = ts_decode_is_elsewhere(d, d->blocks[d->n_blocks].addr);
	d->n_blocks++;
	return NULL;
}

static const char *keep_open(struct ts_log_task *t, const struct ts_log_code *b, const uint8_t *record)
{
	if (!t->open_record)
		t->open_record = malloc(TS_LOG_MAX_BLOCK);
	if (!t->open_record)
		return "memory is exhausted";
	memcpy(t->open_record, record, b->len);
	t->open = b;
	return NULL;
}

/* Returns what is wrong; *len is the record's length. */
static const char *execution(struct ts_log_decoder *d, uint32_t num, uint32_t exit, const uint8_t *record, size_t left,
			     size_t *len)
{
	struct ts_log_task *t = d->now;
	const struct ts_log_code *b;

	if (!num || num > d->n_blocks)
		return "a block is unknown";
	b = &d->blocks[num - 1];
	*len = b->len;
	if (b->len > left)
		return "an execution is cut short";
	if (!t || !t->is_known)
		return "no thread runs";
	if (d->loose.n_ops)
		ts_decode_settle(d, t);
	t->open = NULL;
	if (exit == TS_LOG_IN_BLOCK)
		return keep_open(t, b, record);
	if (d->gap.is_failed)
		return "memory is exhausted";
	return ts_execute(d, t, b, record, exit) ? NULL : "an exit is not one of its block";
}

/* -------------------------------------------------------------------------------- threads */

static struct ts_log_task *task(struct ts_log_decoder *d, uint32_t tid)
{
	if (!tid || tid >= TS_MAX_THREADS)
		return NULL;
	if (!d->tasks[tid])
		d->tasks[tid] = calloc(1, sizeof(*d->tasks[tid]));
	return d->tasks[tid];
}

/* A record that begins with a struct ts_log_thread.  Returns NULL, or what is wrong. */
static const char *take_thread(const uint8_t *bytes, size_t len, struct ts_log_thread *th)
{
	if (len < sizeof(*th))
		return "a thread's record is cut short";
	memcpy(th, bytes, sizeof(*th));
	return th->tid < TS_MAX_THREADS ? NULL : "a thread's number is too large";
}

/* The first thread's KEYFRAME has all memory. */
static void begin_thread(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_thread *th,
			 const uint8_t *state)
{
	if (d->is_begun)
		ts_decode_settle(d, d->now);
	t->pid = (uint64_t)d->process << 32 | th->lwp;
	ts_decode_put_keyframe(d, t, state, th->pc, d->is_begun ? NULL : &d->loose);
	ts_op_piece_reset(&d->loose);
	t->at = th->pc;
	t->last_step = 0;
	t->is_known = d->is_begun = true;
}

/* Registers that changed for no recorded reason. */
static void correct_registers(struct ts_log_decoder *d, struct ts_log_task *t, const uint8_t *state)
{
	struct ts_op_piece piece = { 0 };

	if (d->modules) {
		ts_decode_leave(d, t);
		t->mmx = ts_log_guest_same_mmx(d->guest, t->mmx, t->state, state);
		memcpy(t->state, state, d->guest->n_state);
		return;
	}
	ts_decode_registers(d, t, &piece, state, false);
	if (piece.n_ops)
		ts_op_frames_piece(d->frames, t->pid, UCIR_FRAME, &piece);
	ts_op_piece_fini(&piece);
}

static const char *run_thread(struct ts_log_decoder *d, uint32_t kind, const uint8_t *bytes, size_t len)
{
	struct ts_log_thread th;
	const char *why = take_thread(bytes, len, &th);
	struct ts_log_task *t = why ? NULL : task(d, th.tid);

	if (why)
		return why;
	if (kind == TS_LOG_STATE && len - sizeof(th) < d->guest->n_state)
		return "a thread's record is cut short";
	if (!t)
		return "a thread's number is too large";
	if (t->is_known)
		ts_execute_until(d, t, th.pc);
	if (kind == TS_LOG_STATE && !t->is_known)
		begin_thread(d, t, &th, bytes + sizeof(th));
	else if (kind == TS_LOG_STATE && t->has_signal)
		ts_decode_signal_state(d, t, bytes + sizeof(th), th.pc);
	else if (kind == TS_LOG_STATE)
		correct_registers(d, t, bytes + sizeof(th));
	if (!t->is_known)
		return "a thread begins without registers";
	if (t != d->now)
		ts_decode_settle(d, d->now);
	d->now = t;
	return NULL;
}

static const char *new_thread(struct ts_log_decoder *d, const uint8_t *bytes, size_t len)
{
	struct ts_log_task *child;
	struct ts_log_thread th;
	const char *why = take_thread(bytes, len, &th);

	if (why)
		return why;
	child = th.pc < TS_MAX_THREADS ? task(d, (uint32_t)th.pc) : NULL;
	if (!child)
		return "a thread's number is too large";
	child->is_known = child->has_signal = child->call.is_open = false;
	child->mmx = 0;
	child->name[0] = '\0';
	child->open = NULL;
	child->tid_word = 0;
	return NULL;
}

static const char *take_tid_word(struct ts_log_decoder *d, const uint8_t *bytes, size_t len)
{
	struct ts_log_thread th;
	const char *why = take_thread(bytes, len, &th);
	struct ts_log_task *t = why ? NULL : task(d, th.tid);

	if (why)
		return why;
	if (t)
		t->tid_word = th.pc;
	else
		ts_log_decoder_add_tid_word(d, th.pc);
	return NULL;
}

static const char *end_thread(struct ts_log_decoder *d, const uint8_t *bytes, size_t len)
{
	struct ts_log_thread th;
	const char *why = take_thread(bytes, len, &th);
	struct ts_log_task *t = why ? NULL : task(d, th.tid);

	if (!t || !t->is_known)
		return why;
	if (t->open) {
		ts_execute_until(d, t, th.pc);
		t->signal.pc = th.pc;
		d->dead = t;
	} else if (t->last_step != th.pc && t->at != th.pc && !t->call.is_open) {
		t->signal.pc = th.pc;
		d->dead = t;
	}
	if (!d->is_exiting && t->call.is_open && t->call.num == d->guest->calls.exit) {
		ts_decode_thread_end(d, t);
		t->is_known = false;
	}
	if (d->now == t)
		d->now = NULL;
	return NULL;
}

/* -------------------------------------------------------------------------------- the kernel */

static const char *system_call(struct ts_log_decoder *d, uint32_t kind, const uint8_t *bytes, size_t len)
{
	struct ts_log_task *t;
	struct ts_log_call c;

	if (len < sizeof(c) + (kind == TS_LOG_RETURN ? d->guest->n_state : 0))
		return "a system call is cut short";
	memcpy(&c, bytes, sizeof(c));
	t = task(d, c.tid);
	if (!t || !t->is_known)
		return NULL;
	if (kind == TS_LOG_CALL)
		ts_decode_call(d, t, &c);
	else
		ts_decode_return(d, t, &c, bytes + sizeof(c));
	return NULL;
}

static const char *signal_comes(struct ts_log_decoder *d, const uint8_t *bytes, size_t len)
{
	struct ts_log_signal s;
	struct ts_log_task *t;

	if (len < sizeof(s))
		return "a signal is cut short";
	memcpy(&s, bytes, sizeof(s));
	t = task(d, s.tid);
	if (!t || !t->is_known)
		return NULL;
	ts_execute_until(d, t, s.pc);
	ts_decode_settle(d, t);
	t->signal = s;
	t->has_signal = true;
	return NULL;
}

static const char *name_thread(struct ts_log_decoder *d, const uint8_t *bytes, size_t len)
{
	struct ts_log_task *t;
	struct ts_log_name n;

	if (len < sizeof(n))
		return "a thread's name is cut short";
	memcpy(&n, bytes, sizeof(n));
	t = task(d, n.tid);
	if (!t || !t->is_known)
		return NULL;
	memcpy(t->name, n.name, sizeof(n.name));
	ts_decode_put_name(d, t);
	return NULL;
}

static const char *check_flags(const struct ts_log_decoder *d, const uint8_t *bytes, size_t len)
{
	struct ts_log_flags f;

	if (len < sizeof(f))
		return "a sample of flags is cut short";
	memcpy(&f, bytes, sizeof(f));
	if (!ts_log_guest_knows(d->guest, &f))
		return "this Valgrind keeps the flags in another way: it was built with a version that is not supported";
	return NULL;
}

static const char *control(struct ts_log_decoder *d, uint32_t kind, const uint8_t *bytes, size_t len)
{
	switch (kind) {
	case TS_LOG_DESCRIBE:
		return describe(d, bytes, len);
	case TS_LOG_SWITCH:
	case TS_LOG_STATE:
		return run_thread(d, kind, bytes, len);
	case TS_LOG_CALL:
	case TS_LOG_RETURN:
		return system_call(d, kind, bytes, len);
	case TS_LOG_MAP:
	case TS_LOG_UNMAP:
	case TS_LOG_PROTECT:
	case TS_LOG_ZERO:
	case TS_LOG_FORGET:
		return ts_decode_map(d, kind, bytes, len);
	case TS_LOG_MEMORY:
	case TS_LOG_COMPARE:
		return ts_decode_memory(d, kind, bytes, len);
	case TS_LOG_SIGNAL:
		return signal_comes(d, bytes, len);
	case TS_LOG_NEW_THREAD:
		return new_thread(d, bytes, len);
	case TS_LOG_TID_WORD:
		return take_tid_word(d, bytes, len);
	case TS_LOG_THREAD_END:
		return end_thread(d, bytes, len);
	case TS_LOG_NAME:
		return name_thread(d, bytes, len);
	case TS_LOG_FLAGS:
		return check_flags(d, bytes, len);
	default:
		return "a record is of an unknown kind";
	}
}

const char *ts_log_decoder_take(struct ts_log_decoder *d, const uint8_t *bytes, size_t len)
{
	while (len >= 8) {
		const char *why;
		uint32_t head[2];
		size_t n = len;

		memcpy(head, bytes, sizeof(head));
		if (head[0] & TS_LOG_CONTROL) {
			n = head[1];
			if (n < 8 || n & 7 || n > len)
				return "a record's length is wrong";
			why = control(d, head[0] & ~TS_LOG_CONTROL, bytes + 8, n - 8);
		} else {
			why = execution(d, head[0], head[1], bytes, len, &n);
		}
		d->is_last_damaged = why && n >= len;
		if (why)
			return why;
		bytes += n;
		len -= n;
	}
	return NULL;
}

bool ts_log_decoder_is_last_damaged(const struct ts_log_decoder *d)
{
	return d->is_last_damaged;
}

/* -------------------------------------------------------------------------------- the end */

void ts_log_decoder_set_fatal(struct ts_log_decoder *d, uint16_t num, int32_t code, uint64_t addr, uint8_t flags)
{
	d->fatal.num = num;
	d->fatal.code = code;
	d->fatal.addr = addr;
	d->fatal.flags = flags;
}

/*
 * The address of SIGFPE and SIGILL is that of the instruction that failed, sigaction(2).  The engine reports the address
 * of its own translation of the instruction for SIGFPE.
 */
static uint64_t fatal_addr(const struct ts_log_decoder *d, const struct ts_log_task *t)
{
	bool is_of_instruction = (d->fatal.num == 4 || d->fatal.num == 8) && d->fatal.code > 0;

	return is_of_instruction ? t->signal.pc : d->fatal.addr;
}

/* The thread that the signal killed is at the instruction that failed. */
static void put_fatal(struct ts_log_decoder *d, struct ts_log_task *t)
{
	uint8_t *p = ts_op_frames_room(d->frames, t->pid, UCIR_PUT_SIGNAL_LEN + UCIR_PUT_JMP_LEN), *end = p;
	uint32_t n = 0;

	if (d->fatal.num) {
		end = ucir_put_signal(end, d->fatal.num, d->fatal.code, fatal_addr(d, t),
				      UCIR_SIGNAL_KILLED | d->fatal.flags, 0);
		n++;
	}
	if (t->signal.pc != t->at) {
		end = ucir_put_jmp(end, t->signal.pc);
		n++;
	}
	if (n)
		ts_op_frames_done(d->frames, end, n);
}

/* The sender is known if a process sent itself the signal that killed it: siginfo_t, kill(2), tgkill(2). */
static void settle_killer(struct ts_log_decoder *d)
{
	const struct ts_call_returned *r = &d->returned;
	bool is_kill = r->task && r->num == d->guest->calls.kill && r->args[0] == d->process && r->args[1] == d->fatal.num;
	bool is_tgkill = r->task && r->num == d->guest->calls.tgkill && r->args[0] == d->process && r->args[2] == d->fatal.num;

	if (d->dead || !d->fatal.num || !(is_kill || is_tgkill))
		return;
	d->dead = r->task;
	d->dead->signal.pc = d->dead->at;
	d->fatal.code = is_kill ? 0 : -6; /* SI_USER, SI_TKILL */
	d->fatal.addr = d->process;
	d->fatal.flags = UCIR_SIGNAL_HAS_CODE | UCIR_SIGNAL_HAS_ADDR;
}

void ts_log_decoder_finish(struct ts_log_decoder *d)
{
	if (!d->is_begun)
		return;
	ts_decode_settle(d, d->now);
	ts_log_decoder_put_gaps(d);
	if (d->fatal.num) {
		ts_decode_unreturn(d);
		settle_killer(d);
	}
	for (unsigned i = 0; i < TS_MAX_THREADS; i++) {
		struct ts_log_task *t = d->tasks[i];

		if (t && t->is_known && t->call.is_open)
			ts_decode_put_exit(d, t);
	}
	if (d->dead)
		put_fatal(d, d->dead);
	ts_op_frames_close(d->frames);
}

void ts_log_decoder_files(struct ts_log_decoder *d, void (*tell)(void *user, const char *path), void *user)
{
	for (size_t i = 0; i < d->regions.n; i++) {
		if (d->regions.at[i].prot & 4)
			ts_decode_keep_code_file(d, d->regions.at[i].file);
	}
	for (size_t i = 0; i < d->n_code_files; i++)
		tell(user, d->code_files[i]);
}

void ts_log_decoder_count(const struct ts_log_decoder *d, struct ts_log_decoder_counts *counts)
{
	*counts = d->counts;
}
