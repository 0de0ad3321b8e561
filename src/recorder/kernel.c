/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

#include "loaders/usercorn/op_write.h"
#include "maps.h"
#include "ring.h"
#include "src/record/shadow.h"

#define CLONE_THREAD 0x10000u
#define CLONE_CHILD_CLEARTID 0x200000u
#define MAX_TID_WORDS 1024u
#define MAX_LEAVING 64u
#define TID_LEN 4u
#define MAX_SIGNAL 64
#define FRAME_LEN (3u * 4096u) /* what a signal's frame can have, from the stack pointer on */
#define MAX_FRAMES (64u * FRAME_LEN) /* farther away is another stack */
#define NEAR 65536u            /* what an argument of a system call points to at the most */
#define DEPTH 2u               /* msghdr, iovec, buffer */
#define N_WORDS 16u            /* of a struct or an array that are examined */
#define FAR 256                /* bytes that no call moves the stack pointer by before a function's first instruction */
#define ALL_GROUPS ((1u << TS_N_GROUPS) - 1)

static uint64_t handlers[MAX_SIGNAL + 1];
extern uint64_t ts_kernel_handlers;
uint64_t ts_kernel_handlers;

/* The addresses that clone got for CLEARTID.  They are few, because stacks of threads are reused. */
static uint64_t tid_words[MAX_TID_WORDS];
static unsigned n_tid_words;

/* Threads that have ended.  Their ends are written when QEMU has cleared their words. */
static struct leaving {
	uint64_t pid, word;
	struct ts_call call;
} leaving[MAX_LEAVING];
unsigned ts_kernel_n_leaving;

static uint64_t addr_max(void)
{
	return ts_guest->word == 4 ? UINT32_MAX : (UINT64_C(1) << 47) - 1;
}

static void add_regs(struct ts_task *t, struct ts_op_piece *piece, bool is_all)
{
	uint8_t *p = ts_op_piece_room(piece, TS_REGS_ROOM);
	uint32_t n = 0;

	if (!p)
		return;
	p = is_all ? ts_regs_all(t->cpu, &t->values, p, &n) : ts_regs_changes(t->cpu, &t->values, ALL_GROUPS, p, &n);
	ts_op_piece_done(piece, p, n);
	t->is_stale = false;
}

/* -------------------------------------------------------------------------------- the beginning */

void ts_kernel_begin(struct ts_task *t, uint64_t pc, bool is_first)
{
	struct ts_op_piece piece = { 0 };

	add_regs(t, &piece, true);
	ts_op_piece_jmp(&piece, pc);
	if (is_first)
		ts_maps_update(&piece, 0, 0, addr_max(), ts_regs_get(t->cpu, ts_guest->sp));
	ts_out_piece(t->pid, UCIR_KEYFRAME, &piece);
	ts_op_piece_fini(&piece);
	ts_siginfo_begin_thread();
	ts_names_begin(t);
	t->at = pc;
	t->is_new = false;
}

/* -------------------------------------------------------------------------------- system calls */

bool ts_kernel_is_exit(int num)
{
	return num == ts_guest->calls->exit || num == ts_guest->calls->exit_group;
}

static void note_exec(uint64_t path)
{
	struct ts_ring *r = ts_out_ring();

	ts_maps_text(path, r->exec_path, sizeof(r->exec_path));
	atomic_store(&r->is_in_exec, 1);
}

bool ts_kernel_is_tid_word(uint64_t addr, uint32_t len)
{
	for (unsigned i = 0; i < n_tid_words; i++) {
		if (addr - tid_words[i] < 4 && addr + len - tid_words[i] <= 4)
			return true;
	}
	return false;
}

static void take_tid_word(const struct ts_call *c)
{
	uint64_t addr = c->args[ts_guest->calls->clone_tid];

	if (c->args[0] & CLONE_CHILD_CLEARTID && n_tid_words < MAX_TID_WORDS &&
	    !ts_kernel_is_tid_word(addr, 4))
		tid_words[n_tid_words++] = addr;
}

/*
 * The call goes into the ring: if it never returns, the command finds it there.  With all entries in use it is
 * not recorded unless it returns.
 */
static void begin_flight(struct ts_task *t)
{
	struct ts_ring *r = ts_out_ring();

	for (unsigned i = 0; i < TS_RING_MAX_CALLS; i++) {
		struct ts_ring_call *c = &r->calls[i];

		if (atomic_load_explicit(&c->pid, memory_order_relaxed))
			continue;
		c->num = (uint32_t)t->call.num;
		memcpy(c->args, t->call.args, sizeof(c->args));
		atomic_store(&c->pid, t->pid);
		t->in_flight = c;
		return;
	}
}

static void end_flight(struct ts_task *t)
{
	if (t->in_flight)
		atomic_store(&t->in_flight->pid, 0);
	t->in_flight = NULL;
}

void ts_kernel_call(struct ts_task *t, int num, const uint64_t args[TS_N_ARGS])
{
	const struct ts_calls *calls = ts_guest->calls;

	t->call.num = num;
	for (unsigned i = 0; i < TS_N_ARGS; i++)
		t->call.args[i] = ts_guest->word == 4 ? (uint32_t)args[i] : args[i];
	if (num == calls->clone)
		take_tid_word(&t->call);
	if (num == calls->execve)
		note_exec(t->call.args[0]);
	else if (num == calls->execveat)
		note_exec(t->call.args[1]);
	end_flight(t);
	if (!ts_kernel_is_exit(num))
		begin_flight(t);
}

static void put_call(uint64_t pid, const struct ts_call *c)
{
	struct ts_op_piece piece = { 0 };

	if (ts_op_piece_syscall(&piece, (uint32_t)c->num, (uint64_t)c->ret, c->args, &c->ops))
		ts_out_piece(pid, UCIR_FRAME, &piece);
	ts_op_piece_fini(&piece);
}

/* Write a call that does not return; its changes are in c->ops. */
static void put_exit(uint64_t pid, struct ts_call *c)
{
	ts_op_piece_exit(&c->ops);
	c->ret = 0;
	put_call(pid, c);
}

static bool is_tid(const uint8_t id[TID_LEN], uint64_t pid)
{
	uint32_t val = 0;

	for (unsigned i = 0; i < TID_LEN; i++)
		val |= (uint32_t)id[i] << 8 * (ts_guest->is_big_endian ? TID_LEN - 1 - i : i);
	return val == (uint32_t)pid;
}

static void put_thread_end(struct leaving *l)
{
	uint8_t *p;

	put_exit(l->pid, &l->call);
	p = ts_out_room(l->pid, 5);
	ts_out_publish(ucir_put_thread_end(p, (uint32_t)l->call.args[0] & 0xff), 1);
	ts_op_piece_fini(&l->call.ops);
}

/* Does the word still have the thread's id?  Its page may be unmapped now. */
static bool is_leaving(const struct leaving *l)
{
	uint8_t id[TID_LEN];

	return ts_maps_read(l->word, id, TID_LEN) && is_tid(id, l->pid);
}

/* Append the kernel's write of zero, if memory has it. */
static void add_cleared(struct leaving *l)
{
	static const uint8_t zero[TID_LEN];
	uint8_t id[TID_LEN];

	if (ts_maps_read(l->word, id, TID_LEN) && memcmp(id, zero, TID_LEN) == 0)
		ts_op_piece_write(&l->call.ops, l->word, zero, TID_LEN);
}

/* Write the ends of threads whose words are cleared, or with @is_last of all. */
static void settle(bool is_last)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ts_kernel_n_leaving; i++) {
		if (!is_last && is_leaving(&leaving[i])) {
			leaving[n++] = leaving[i];
			continue;
		}
		add_cleared(&leaving[i]);
		put_thread_end(&leaving[i]);
	}
	ts_kernel_n_leaving = n;
}

void ts_kernel_settle(void)
{
	settle(false);
}

void ts_kernel_exit(struct ts_task *t)
{
	settle(true);
	ts_op_piece_reset(&t->call.ops);
	put_exit(t->pid, &t->call);
}

/* The address of the word with this thread's id; 0 if none is found.  Words of other threads may be unmapped. */
static uint64_t tid_word(const struct ts_task *t)
{
	for (unsigned i = 0; i < n_tid_words; i++) {
		const uint8_t *id =
			ts_shadow_run(tid_words[i], TID_LEN) < TID_LEN ? NULL : ts_shadow_peek(tid_words[i]);

		if (id && is_tid(id, t->pid))
			return tid_words[i];
	}
	return 0;
}

void ts_kernel_thread_end(struct ts_task *t)
{
	struct leaving l = { t->pid, tid_word(t), t->call };

	t->call.ops = (struct ts_op_piece){ 0 };
	ts_op_piece_reset(&l.call.ops);
	if (l.word && ts_kernel_n_leaving < MAX_LEAVING)
		leaving[ts_kernel_n_leaving++] = l;
	else
		put_thread_end(&l);
}

/* sigaction: the handler is the first word of the struct, the second on MIPS. */
static void take_handler(const struct ts_call *c)
{
	uint64_t handler;
	int num = (int)c->args[0];

	if (c->ret || !c->args[1] || num < 1 || num > MAX_SIGNAL)
		return;
	handler = ts_maps_word(c->args[1] + (ts_guest->is_mips ? 4 : 0), ts_guest->word);
	if (ts_guest->has_descriptors && handler > 1)
		handler = ts_maps_word(handler, 8);
	handlers[num] = ts_guest->is_arm ? handler & ~UINT64_C(1) : handler;
	ts_kernel_handlers = 0;
	for (num = 1; num <= MAX_SIGNAL; num++)
		ts_kernel_handlers |= handlers[num] ? ts_kernel_handler_bit(handlers[num]) : 0;
}

static void note_child(const struct ts_call *c)
{
	char text[16];

	if (c->ret <= 0 || (c->num == ts_guest->calls->clone && c->args[0] & CLONE_THREAD))
		return;
	ts_out_ring()->n_children++;
	ts_out_note(UCIR_NOTE_CHILD, text, (uint32_t)snprintf(text, sizeof(text), "%d", (int)c->ret));
}

/* Compare the memory at @addr and, as for the structs of readv and recvmsg, at the addresses that it contains. */
static void compare_pointed(struct ts_op_piece *p, uint64_t addr, unsigned depth)
{
	if (!ts_maps_is_readable(addr, 1))
		return;
	ts_maps_compare_range(p, addr, NEAR);
	for (unsigned i = 0; i < N_WORDS && depth; i++)
		compare_pointed(p, ts_maps_word(addr + i * ts_guest->word, ts_guest->word), depth - 1);
}

/* QEMU keeps the pages below a lowered break, and clears them when the break is raised again. */
static void compare_break(struct ts_op_piece *p, uint64_t now)
{
	static uint64_t before;

	if (before && now > before)
		ts_maps_compare_range(p, before, now - before);
	before = now;
}

void ts_kernel_returned(struct ts_task *t, int64_t ret)
{
	const struct ts_calls *calls = ts_guest->calls;
	struct ts_call *c = &t->call;
	bool is_error = ret < 0 && ret > -4096;

	settle(false);
	c->ret = ret;
	c->is_over = true;
	t->is_stale = true;
	ts_out_ring()->is_in_exec = 0;
	ts_op_piece_reset(&c->ops);
	if (ts_calls_have(calls->maps, c->num) && !is_error) {
		bool is_new = c->num == calls->mmap[0] || c->num == calls->mmap[1];
		uint64_t start = ts_guest->word == 4 ? (uint32_t)ret : (uint64_t)ret;

		ts_maps_update(&c->ops, start, is_new ? c->args[1] : 0, addr_max(), 0);
		if (c->num == calls->brk)
			compare_break(&c->ops, start);
	}
	if (!is_error)
		ts_written_add(c);
	if (ts_calls_have(calls->silent, c->num)) {
		ts_maps_compare_shared(&c->ops);
	} else if (!ts_maps_compare(&c->ops)) {
		for (unsigned i = 0; i < TS_N_ARGS; i++)
			compare_pointed(&c->ops, c->args[i], DEPTH);
	}
	if (c->num == calls->rt_sigaction || c->num == calls->sigaction) {
		take_handler(c);
		ts_siginfo_watch();
	}
	if (c->num == calls->fork || c->num == calls->vfork || c->num == calls->clone)
		note_child(c);
	ts_names_returned(t);
}

void ts_kernel_write_call(struct ts_task *t, bool has_regs)
{
	if (has_regs)
		add_regs(t, &t->call.ops, false);
	put_call(t->pid, &t->call);
	end_flight(t);
	t->call.is_over = false;
}

/* -------------------------------------------------------------------------------- signals */

/* The @i-th argument of the handler; on i386 it is on the stack, after the return address. */
static uint64_t argument(const struct ts_task *t, unsigned i)
{
	if (ts_guest->arg[0])
		return ts_regs_get(t->cpu, ts_guest->arg[i]);
	return ts_maps_word(ts_regs_get(t->cpu, ts_guest->sp) + 4 * (i + 1), 4);
}

int ts_kernel_find_signal(const struct ts_task *t, uint64_t pc)
{
	uint64_t sp, num;
	int64_t moved;

	num = argument(t, 0);
	if (num < 1 || num > MAX_SIGNAL || handlers[num] != pc)
		return 0;
	if (t->call.is_over)
		return (int)num; /* after sigreturn the frame may lie where the last one was */
	sp = ts_regs_get(t->cpu, ts_guest->sp);
	moved = (int64_t)(ts_regs_last(&t->values, ts_guest->sp) - sp);
	return moved > FAR || moved < -FAR ? (int)num : 0;
}

/* SIGILL SIGTRAP SIGBUS SIGFPE SIGSEGV */
static bool is_fault(int num)
{
	return num == 4 || num == 5 || num == (ts_guest->is_mips ? 10 : 7) || num == 8 || num == 11;
}

/* Does the frame contain the address of the thread's last instruction, which will be executed again then? */
static bool is_pc_in_frame(const struct ts_task *t, uint64_t sp)
{
	for (uint64_t addr = sp & ~UINT64_C(7); addr < sp + FRAME_LEN; addr += ts_guest->word) {
		if (!ts_maps_is_readable(addr, ts_guest->word))
			break;
		if (ts_maps_word(addr, ts_guest->word) == t->pc)
			return true;
	}
	return false;
}

/*
 * Read the signal's code and address from the siginfo in the frame.  A siginfo begins with the signal's number; the code is
 * after the error number, on MIPS before it.
 */
static uint8_t read_info(const struct ts_task *t, int num, uint64_t sp, int32_t *code, uint64_t *addr)
{
	uint64_t info = argument(t, 1);

	if (info < sp || info - sp >= FRAME_LEN || ts_maps_word(info, 4) != (uint64_t)num)
		return 0;
	*code = (int32_t)ts_maps_word(info + (ts_guest->is_mips ? 4 : 8), 4);
	if (!is_fault(num) || *code <= 0)
		*addr = ts_maps_word(info + (ts_guest->word == 8 ? 16 : 12), 4);
	else
		*addr = ts_maps_word(info + (ts_guest->word == 8 ? 16 : 12), ts_guest->word);
	return UCIR_SIGNAL_HAS_CODE | UCIR_SIGNAL_HAS_ADDR;
}

/*
 * Compare the signal's frame, and the frames of signals that were delivered with it and whose handlers have not begun.  They
 * end near the last stack pointer.  On another stack their number is unknown.
 */
static void compare_frames(struct ts_op_piece *p, const struct ts_task *t, uint64_t sp)
{
	uint64_t moved = ts_regs_last(&t->values, ts_guest->sp) - sp;

	if (moved <= MAX_FRAMES)
		ts_maps_compare_range(p, sp, moved + FRAME_LEN);
	else if (!ts_maps_compare(p))
		ts_maps_compare_range(p, sp, FRAME_LEN);
}

void ts_kernel_write_signal(struct ts_task *t, int num, bool is_step)
{
	uint64_t sp = ts_regs_get(t->cpu, ts_guest->sp), addr = 0;
	struct ts_op_piece piece = { 0 }, inner = { 0 };
	uint8_t flags = UCIR_SIGNAL_HANDLER;
	int32_t code = 0;

	flags |= read_info(t, num, sp, &code, &addr);
	if (!(flags & UCIR_SIGNAL_HAS_CODE) && ts_siginfo_last(num, &code, &addr)) /* QEMU fills it in for SA_SIGINFO */
		flags |= UCIR_SIGNAL_HAS_CODE | UCIR_SIGNAL_HAS_ADDR;
	if (is_step && is_fault(num) && (!(flags & UCIR_SIGNAL_HAS_CODE) || code > 0) &&
	    is_pc_in_frame(t, sp))
		flags |= UCIR_SIGNAL_FAULT;
	compare_frames(&inner, t, sp);
	add_regs(t, &inner, false);
	if (ts_op_piece_signal(&piece, (uint16_t)num, code, addr, flags, &inner))
		ts_out_piece(t->pid, UCIR_FRAME, &piece);
	ts_op_piece_fini(&piece);
	ts_op_piece_fini(&inner);
}
