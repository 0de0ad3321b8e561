/* SPDX-License-Identifier: MIT */
/*
 * The actions of the kernel and the scheduler: Valgrind's callbacks for threads, system calls, signals.
 */
#include "tool.h"

#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_machine.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_vkiscnums.h>

#include "processor.h"

#if defined(VGA_amd64)
#define CLONE_TID 3 /* the argument of clone that says where the child's number is, clone(2) */
#else
#define CLONE_TID 4
#endif

#define MAX_FRAME 65536u /* bytes of a signal's frame */
#define MAX_ROBUST 2048u /* ROBUST_LIST_LIMIT of <linux/futex.h>: the kernel looks at no more */
#define OWN_LEN 2048u    /* bytes that Valgrind keeps above a frame, at most; changes in them are not recorded */

static Addr frame_start, frame_end; /* what Valgrind wrote of a signal's frame */

/* -------------------------------------------------------------------------------- running */

/* The handler's, which is about to run. */
static void *second_argument(ThreadId tid)
{
	void *arg = NULL;

#if defined(VGA_x86)
	ts_memory_read(VG_(get_SP)(tid) + 2 * sizeof(arg), &arg, sizeof(arg));
#else
	VG_(get_shadow_regs_area)(tid, (UChar *)&arg, 0, TS_INFO_OFF, sizeof(arg));
#endif
	return arg;
}

/*
 * si_addr of SIGFPE is the address of the instruction, sigaction(2).  Valgrind passes on the address of its own
 * translation of it: give the handler, and so the recording, what the kernel would.
 */
static void mend_fault_address(ThreadId tid)
{
	vki_siginfo_t *info;

	if (ts_threads[tid].signal != VKI_SIGFPE)
		return;
	info = second_argument(tid);
	if ((Addr)info < VG_(get_SP)(tid) || (Addr)info - VG_(get_SP)(tid) > MAX_FRAME || info->si_signo != VKI_SIGFPE)
		return;
	if (info->si_code > 0 && info->si_code < 0x80) /* 0x80: SI_KERNEL */
		info->_sifields._sigfault._addr = (void *)ts_threads[tid].failed;
}

static void log_signal_frame(ThreadId tid)
{
	Addr sp = VG_(get_SP)(tid), old = ts_threads[tid].interrupted;

	mend_fault_address(tid);
	if (old - sp < MAX_FRAME)
		ts_memory_log(TS_LOG_COMPARE, sp, old - sp);
	else if (frame_end > frame_start && frame_start - sp < MAX_FRAME && frame_end - sp < MAX_FRAME)
		ts_memory_log(TS_LOG_COMPARE, sp, frame_end - sp + OWN_LEN);
	else
		ts_memory_log(TS_LOG_COMPARE, sp, 4096);
	ts_threads[tid].has_signal = False;
	frame_start = frame_end = 0;
	ts_threads_log_state(tid);
}

static void begin(ThreadId tid)
{
	ts_first_sp = VG_(get_SP)(tid);
	ts_clean_environment(ts_first_sp);
	if (ts_is_on) {
		ts_guest_log_flags();
		ts_memory_log_all(ts_first_sp);
	}
	ts_log->is_started = 1;
}

static void on_start(ThreadId tid, ULong)
{
	Bool has_frame;

	ts_threads_await_cleared();
	tl_assert(tid < TS_MAX_THREADS);
	if (!ts_threads[tid].lwp)
		ts_threads[tid].lwp = (UInt)VG_(gettid)();
	if (!ts_log->is_started)
		begin(tid);
	ts_window_poll();
	if (!ts_is_on)
		return;
	has_frame = ts_threads[tid].has_signal;
	if (has_frame)
		log_signal_frame(tid);
	ts_threads_run(tid, has_frame);
}

/* -------------------------------------------------------------------------------- system calls */

static struct ts_log_call call(ThreadId tid, UInt num, const UWord *args, UInt n_args)
{
	struct ts_log_call c = { .tid = tid, .num = num, .pc = VG_(get_IP)(tid) };

	for (UInt i = 0; i < n_args && i < TS_LOG_N_ARGS; i++)
		c.args[i] = args[i];
	return c;
}

static void before_call(ThreadId tid, UInt num, UWord *args, UInt n_args)
{
	tl_assert(tid < TS_MAX_THREADS);
	ts_threads[tid].call = call(tid, num, args, n_args);
	ts_threads[tid].is_in_call = True;
	ts_threads_log_call(tid);
	if (num == __NR_execve)
		ts_follow_exec(args[0]);
	else if (num == __NR_set_robust_list)
		ts_threads[tid].robust = args[0];
	if (num != __NR_set_tid_address)
		return;
	ts_threads[tid].tid_word = args[0];
	ts_threads_log_word(tid, args[0]);
}

static void log_return(ThreadId tid, UInt num, UWord *args, UInt n_args, SysRes res)
{
	struct ts_log_call c = call(tid, num, args, n_args);
	UChar *to;

	ts_threads[tid].is_in_call = False;
	if (!ts_is_on) {
		ts_memory_after_call(num, args, n_args, sr_isError(res), sr_isError(res) ? 0 : sr_Res(res));
		return;
	}
	c.ret = sr_isError(res) ? (ULong) - (Long)sr_Err(res) : sr_Res(res);
	ts_memory_after_call(num, args, n_args, sr_isError(res), sr_isError(res) ? 0 : sr_Res(res));
	to = ts_log_room(TS_LOG_RETURN, sizeof(c) + TS_STATE_LEN);
	if (!to)
		return;
	VG_(memcpy)(to, &c, sizeof(c));
	ts_guest_read(tid, to + sizeof(c));
	if (!sr_isError(res))
		ts_names_after_call(tid, num, args);
}

/* The core's own; no header of its tools has it. */
void VG_(poll_signals)(ThreadId tid);

/*
 * A signal that a thread sends itself reaches it before the call returns, signal(7).  The core delivers signals after
 * kill and tgkill, but those of these calls only some thousand blocks later.
 */
static void after_call(ThreadId tid, UInt num, UWord *args, UInt n_args, SysRes res)
{
	log_return(tid, num, args, n_args, res);
	if (!sr_isError(res) && (num == __NR_rt_sigqueueinfo || num == __NR_rt_tgsigqueueinfo))
		VG_(poll_signals)(tid);
}

/* -------------------------------------------------------------------------------- signals */

static void before_signal(ThreadId tid, Int num, Bool)
{
	struct ts_log_signal s = { tid, (UInt)num, VG_(get_IP)(tid) };
	void *to;

	if (tid < TS_MAX_THREADS && ts_threads[tid].has_signal)
		log_signal_frame(tid); /* another one before the handler of the last has begun */
	to = ts_log_room(TS_LOG_SIGNAL, sizeof(s));
	if (to)
		VG_(memcpy)(to, &s, sizeof(s));
	ts_threads[tid].has_signal = True;
	ts_threads[tid].signal = (UInt)num;
	ts_threads[tid].failed = s.pc;
	ts_threads[tid].interrupted = VG_(get_SP)(tid);
	frame_start = frame_end = 0;
}

static void after_write(CorePart part, ThreadId, Addr addr, SizeT len)
{
	if (!ts_is_on || !len)
		return;
	if (part == Vg_CoreSysCall) {
		ts_memory_log(TS_LOG_MEMORY, addr, len);
	} else if (part == Vg_CoreSignal) {
		if (!frame_end || addr < frame_start)
			frame_start = addr;
		if (addr + len > frame_end)
			frame_end = addr + len;
	}
}

/* -------------------------------------------------------------------------------- threads and processes */

/* Of the thread that the call of @parent makes. */
static Addr tid_word_of_child(ThreadId parent)
{
	const struct ts_log_call *c = &ts_threads[parent].call;

	if (!ts_threads[parent].is_in_call || c->num != __NR_clone || !(c->args[0] & VKI_CLONE_CHILD_CLEARTID))
		return 0;
	return (Addr)c->args[CLONE_TID];
}

static void before_thread(ThreadId tid, ThreadId child)
{
	if (ts_log->is_started) /* otherwise it is the first thread */
		ts_threads_begin(tid, child, tid_word_of_child(tid));
}

/* If the thread has the lock at @addr, log what the kernel makes of it when the thread is gone. */
static void log_orphan(Addr addr, UInt lwp)
{
	enum { WAITERS = 0x80000000u, OWNER_DIED = 0x40000000u, OWNER = 0x3fffffffu };
	struct ts_log_memory *m;
	UInt word;

	if (ts_memory_read(addr, &word, sizeof(word)) != sizeof(word) || (word & OWNER) != lwp)
		return;
	m = ts_log_room(TS_LOG_MEMORY, sizeof(*m) + sizeof(word));
	if (!m)
		return;
	word = (word & WAITERS) | OWNER_DIED;
	*m = (struct ts_log_memory){ addr, sizeof(word) };
	VG_(memcpy)(m + 1, &word, sizeof(word));
}

/* The robust locks that the thread has, and the one that it was about to take, get_robust_list(2). */
static void log_orphans(ThreadId tid)
{
	struct {
		Addr next;
		Word offset;
		Addr pending;
	} head;
	Addr at;

	if (!ts_threads[tid].robust || ts_memory_read(ts_threads[tid].robust, &head, sizeof(head)) != sizeof(head))
		return;
	at = head.next;
	for (UInt i = 0; i < MAX_ROBUST && (at & ~(Addr)1) != ts_threads[tid].robust; i++) {
		Addr entry = at & ~(Addr)1; /* the lowest bit: it passes on priorities */

		log_orphan(entry + (Addr)head.offset, ts_threads[tid].lwp);
		if (ts_memory_read(entry, &at, sizeof(at)) != sizeof(at))
			break;
	}
	if (head.pending)
		log_orphan((head.pending & ~(Addr)1) + (Addr)head.offset, ts_threads[tid].lwp);
}

static void before_thread_end(ThreadId tid)
{
	log_orphans(tid);
	ts_threads_end(tid);
}

static void in_child(ThreadId tid)
{
	ts_threads[tid].lwp = 0;
	if (ts_follow_is_on() && ts_window_is_open() && ts_follow_begin(True)) {
		ts_log->is_started = 1;
		ts_window_fork();
	} else {
		ts_log_detach();
	}
}

void ts_kernel_track(void)
{
	VG_(needs_syscall_wrapper)(before_call, after_call);
	VG_(track_start_client_code)(on_start);
	VG_(track_pre_deliver_signal)(before_signal);
	VG_(track_post_mem_write)(after_write);
	VG_(track_pre_thread_ll_create)(before_thread);
	VG_(track_pre_thread_ll_exit)(before_thread_end);
	VG_(atfork)(NULL, NULL, in_child);
}
