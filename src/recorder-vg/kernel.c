/* SPDX-License-Identifier: MIT */
/*
 * What the kernel and the scheduler do: threads, system calls, signals.
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

#define MAX_THREADS 65536u
#define PAUSE_NS    50000
#define MAX_PAUSES  4000u /* then something else keeps the word: it is not waited for any longer */
#define N_ENDED	    16u /* threads that ended last: the kernel clears their words a little later */
#define MAX_FRAME 65536u /* bytes of a signal's frame */
#define MAX_ROBUST 2048u /* ROBUST_LIST_LIMIT of <linux/futex.h>: the kernel looks at no more */
#define OWN_LEN 2048u    /* bytes that Valgrind keeps above a frame, at most; changes in them are not recorded */

static struct {
	Bool is_known;      /* its registers are in the log */
	Bool has_signal;    /* a handler is to run */
	UInt signal;        /* its number */
	Addr interrupted;   /* the stack pointer when it came */
	Addr failed;        /* the instruction at which it came */
	UInt lwp;           /* the system's number; 0: it has not run yet */
	Addr tid_word;      /* the kernel clears it when the thread ends; 0: none */
	Addr robust;        /* struct robust_list_head of <linux/futex.h>; 0: none */
	Bool is_in_call;
	struct ts_log_call call; /* which one */
} threads[MAX_THREADS];
static Addr ended[N_ENDED]; /* tid_word of threads */
static UInt n_ended;
static Addr ended_word; /* of the thread that ended last, until it was seen cleared; 0: none */
static Addr first_sp;
static ThreadId running;
static Addr frame_start, frame_end; /* what Valgrind wrote of a signal's frame */

static struct ts_log_thread thread(ThreadId tid)
{
	return (struct ts_log_thread){ tid, threads[tid].lwp, VG_(get_IP)(tid) };
}

static void log_thread(enum ts_log_kind kind, ThreadId tid)
{
	struct ts_log_thread t = thread(tid);
	void *to = ts_log_room(kind, sizeof(t));

	if (to)
		VG_(memcpy)(to, &t, sizeof(t));
}

static void log_state(ThreadId tid)
{
	struct ts_log_thread t = thread(tid);
	UChar *to = ts_log_room(TS_LOG_STATE, sizeof(t) + TS_STATE_LEN);

	if (!to)
		return;
	VG_(memcpy)(to, &t, sizeof(t));
	ts_guest_read(tid, to + sizeof(t));
}

static void log_call(ThreadId tid)
{
	void *to = ts_log_room(TS_LOG_CALL, sizeof(threads[tid].call));

	if (to)
		VG_(memcpy)(to, &threads[tid].call, sizeof(threads[tid].call));
}

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

	if (threads[tid].signal != VKI_SIGFPE)
		return;
	info = second_argument(tid);
	if ((Addr)info < VG_(get_SP)(tid) || (Addr)info - VG_(get_SP)(tid) > MAX_FRAME || info->si_signo != VKI_SIGFPE)
		return;
	if (info->si_code > 0 && info->si_code < 0x80) /* 0x80: SI_KERNEL */
		info->_sifields._sigfault._addr = (void *)threads[tid].failed;
}

static void log_signal_frame(ThreadId tid)
{
	Addr sp = VG_(get_SP)(tid), old = threads[tid].interrupted;

	mend_fault_address(tid);
	if (old - sp < MAX_FRAME)
		ts_memory_log(TS_LOG_COMPARE, sp, old - sp);
	else if (frame_end > frame_start && frame_start - sp < MAX_FRAME && frame_end - sp < MAX_FRAME)
		ts_memory_log(TS_LOG_COMPARE, sp, frame_end - sp + OWN_LEN);
	else
		ts_memory_log(TS_LOG_COMPARE, sp, 4096);
	threads[tid].has_signal = False;
	frame_start = frame_end = 0;
	log_state(tid);
}

static void log_tid_word(ThreadId tid, Addr word)
{
	struct ts_log_thread t = { tid, 0, word };
	void *to = word ? ts_log_room(TS_LOG_TID_WORD, sizeof(t)) : NULL;

	if (to)
		VG_(memcpy)(to, &t, sizeof(t));
}

void ts_kernel_log_threads(ThreadId now)
{
	Addr low, high;
	ThreadId tid;

	VG_(thread_stack_reset_iter)(&tid);
	while (VG_(thread_stack_next)(&tid, &low, &high)) {
		threads[tid].is_known = False;
		if (tid == now || tid >= MAX_THREADS)
			continue;
		log_tid_word(tid, threads[tid].tid_word);
		if (!threads[tid].lwp)
			continue;
		log_state(tid);
		threads[tid].is_known = True;
		if (threads[tid].is_in_call)
			log_call(tid);
	}
	log_state(now);
	log_tid_word(now, threads[now].tid_word);
	for (UInt i = 0; i < N_ENDED; i++)
		log_tid_word(0, ended[i]);
	threads[now].is_known = True;
	running = now;
}

UInt ts_kernel_lwp(ThreadId tid)
{
	return tid < MAX_THREADS ? threads[tid].lwp : 0;
}

Addr ts_kernel_first_sp(void)
{
	return first_sp;
}

static void begin(ThreadId tid)
{
	first_sp = VG_(get_SP)(tid);
	ts_clean_environment(first_sp);
	if (ts_is_on) {
		ts_guest_log_flags();
		ts_memory_log_all(first_sp);
	}
	ts_log->is_started = 1;
}

/*
 * The recording has the word of an ended thread cleared.  The kernel does it when the thread is gone, a little later: no
 * other thread is to see what was there before.
 */
static void await_cleared(void)
{
	UInt word = 1;

	for (UInt i = 0; ended_word && i < MAX_PAUSES && ts_memory_read(ended_word, &word, sizeof(word)) == sizeof(word) && word; i++)
		ts_syscall(__NR_nanosleep, (Word) & (struct vki_timespec){ 0, PAUSE_NS }, 0, 0, 0, 0, 0);
	ended_word = 0;
}

static void on_start(ThreadId tid, ULong)
{
	if (ended_word)
		await_cleared();
	tl_assert(tid < MAX_THREADS);
	if (!threads[tid].lwp)
		threads[tid].lwp = (UInt)VG_(gettid)();
	if (!ts_log->is_started)
		begin(tid);
	ts_window_poll();
	if (!ts_is_on)
		return;
	if (threads[tid].has_signal)
		log_signal_frame(tid);
	else if (!threads[tid].is_known)
		log_state(tid);
	else if (tid != running)
		log_thread(TS_LOG_SWITCH, tid);
	threads[tid].is_known = True;
	running = tid;
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
	tl_assert(tid < MAX_THREADS);
	threads[tid].call = call(tid, num, args, n_args);
	threads[tid].is_in_call = True;
	log_call(tid);
	if (num == __NR_execve)
		ts_follow_exec(args[0]);
	else if (num == __NR_set_robust_list)
		threads[tid].robust = args[0];
	if (num != __NR_set_tid_address)
		return;
	threads[tid].tid_word = args[0];
	log_tid_word(tid, args[0]);
}

static void log_return(ThreadId tid, UInt num, UWord *args, UInt n_args, SysRes res)
{
	struct ts_log_call c = call(tid, num, args, n_args);
	UChar *to;

	threads[tid].is_in_call = False;
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

	if (tid < MAX_THREADS && threads[tid].has_signal)
		log_signal_frame(tid); /* another one before the handler of the last has begun */
	to = ts_log_room(TS_LOG_SIGNAL, sizeof(s));
	if (to)
		VG_(memcpy)(to, &s, sizeof(s));
	threads[tid].has_signal = True;
	threads[tid].signal = (UInt)num;
	threads[tid].failed = s.pc;
	threads[tid].interrupted = VG_(get_SP)(tid);
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
	const struct ts_log_call *c = &threads[parent].call;

	if (!threads[parent].is_in_call || c->num != __NR_clone || !(c->args[0] & VKI_CLONE_CHILD_CLEARTID))
		return 0;
	return (Addr)c->args[CLONE_TID];
}

static void before_thread(ThreadId tid, ThreadId child)
{
	struct ts_log_thread t = { tid, 0, child };
	void *to;

	if (!ts_log->is_started)
		return; /* the first thread */
	threads[child].is_known = threads[child].has_signal = threads[child].is_in_call = False;
	threads[child].lwp = 0;
	threads[child].robust = 0;
	threads[child].tid_word = tid_word_of_child(tid);
	to = ts_log_room(TS_LOG_NEW_THREAD, sizeof(t));
	if (to)
		VG_(memcpy)(to, &t, sizeof(t));
	log_tid_word(child, threads[child].tid_word);
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

	if (!threads[tid].robust || ts_memory_read(threads[tid].robust, &head, sizeof(head)) != sizeof(head))
		return;
	at = head.next;
	for (UInt i = 0; i < MAX_ROBUST && (at & ~(Addr)1) != threads[tid].robust; i++) {
		Addr entry = at & ~(Addr)1; /* the lowest bit: it passes on priorities */

		log_orphan(entry + (Addr)head.offset, threads[tid].lwp);
		if (ts_memory_read(entry, &at, sizeof(at)) != sizeof(at))
			break;
	}
	if (head.pending)
		log_orphan((head.pending & ~(Addr)1) + (Addr)head.offset, threads[tid].lwp);
}

static void before_thread_end(ThreadId tid)
{
	log_orphans(tid);
	log_thread(TS_LOG_THREAD_END, tid);
	ended[n_ended++ % N_ENDED] = threads[tid].tid_word;
	ended_word = threads[tid].tid_word;
	threads[tid].is_known = threads[tid].has_signal = threads[tid].is_in_call = False;
	threads[tid].lwp = 0;
	running = VG_INVALID_THREADID;
}

static void in_child(ThreadId tid)
{
	threads[tid].lwp = 0;
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
