/* SPDX-License-Identifier: MIT */
/*
 * The threads of the program: what the log knows of each, and the records that describe them.
 */
#include "tool.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_machine.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_vkiscnums.h>

#include "processor.h"

#define PAUSE_NS    50000
#define MAX_PAUSES  4000u /* then something else keeps the word: it is not waited for any longer */
#define N_ENDED	    16u /* threads that ended last: the kernel clears their words a little later */

struct ts_thread ts_threads[TS_MAX_THREADS];
Addr ts_first_sp;

static Addr ended[N_ENDED]; /* tid_word of threads */
static UInt n_ended;
static Addr ended_word; /* of the thread that ended last, until it was seen cleared; 0: none */
static ThreadId running;

UInt ts_threads_lwp(ThreadId tid)
{
	return tid < TS_MAX_THREADS ? ts_threads[tid].lwp : 0;
}

/* -------------------------------------------------------------------------------- records */

static struct ts_log_thread thread(ThreadId tid)
{
	return (struct ts_log_thread){ tid, ts_threads[tid].lwp, VG_(get_IP)(tid) };
}

static void log_thread(enum ts_log_kind kind, struct ts_log_thread t)
{
	void *to = ts_log_room(kind, sizeof(t));

	if (to)
		VG_(memcpy)(to, &t, sizeof(t));
}

void ts_threads_log_state(ThreadId tid)
{
	struct ts_log_thread t = thread(tid);
	UChar *to = ts_log_room(TS_LOG_STATE, sizeof(t) + TS_STATE_LEN);

	if (!to)
		return;
	VG_(memcpy)(to, &t, sizeof(t));
	ts_guest_read(tid, to + sizeof(t));
}

void ts_threads_log_call(ThreadId tid)
{
	void *to = ts_log_room(TS_LOG_CALL, sizeof(ts_threads[tid].call));

	if (to)
		VG_(memcpy)(to, &ts_threads[tid].call, sizeof(ts_threads[tid].call));
}

void ts_threads_log_word(ThreadId tid, Addr word)
{
	if (word)
		log_thread(TS_LOG_TID_WORD, (struct ts_log_thread){ tid, 0, word });
}

void ts_threads_log_all(ThreadId now)
{
	Addr low, high;
	ThreadId tid;

	VG_(thread_stack_reset_iter)(&tid);
	while (VG_(thread_stack_next)(&tid, &low, &high)) {
		ts_threads[tid].is_known = False;
		if (tid == now || tid >= TS_MAX_THREADS)
			continue;
		ts_threads_log_word(tid, ts_threads[tid].tid_word);
		if (!ts_threads[tid].lwp)
			continue;
		ts_threads_log_state(tid);
		ts_threads[tid].is_known = True;
		if (ts_threads[tid].is_in_call)
			ts_threads_log_call(tid);
	}
	ts_threads_log_state(now);
	ts_threads_log_word(now, ts_threads[now].tid_word);
	for (UInt i = 0; i < N_ENDED; i++)
		ts_threads_log_word(0, ended[i]);
	ts_threads[now].is_known = True;
	running = now;
}

/* -------------------------------------------------------------------------------- life */

void ts_threads_run(ThreadId tid, Bool has_state)
{
	if (!has_state && !ts_threads[tid].is_known)
		ts_threads_log_state(tid);
	else if (!has_state && tid != running)
		log_thread(TS_LOG_SWITCH, thread(tid));
	ts_threads[tid].is_known = True;
	running = tid;
}

void ts_threads_begin(ThreadId parent, ThreadId child, Addr tid_word)
{
	struct ts_thread *t = &ts_threads[child];

	t->is_known = t->has_signal = t->is_in_call = False;
	t->lwp = 0;
	t->robust = 0;
	t->tid_word = tid_word;
	log_thread(TS_LOG_NEW_THREAD, (struct ts_log_thread){ parent, 0, child });
	ts_threads_log_word(child, tid_word);
}

void ts_threads_end(ThreadId tid)
{
	struct ts_thread *t = &ts_threads[tid];

	log_thread(TS_LOG_THREAD_END, thread(tid));
	ended[n_ended++ % N_ENDED] = t->tid_word;
	ended_word = t->tid_word;
	t->is_known = t->has_signal = t->is_in_call = False;
	t->lwp = 0;
	running = VG_INVALID_THREADID;
}

/*
 * The recording has the word of an ended thread cleared.  The kernel does it when the thread is gone, a little later: no
 * other thread is to see what was there before.
 */
void ts_threads_await_cleared(void)
{
	UInt word = 1;

	for (UInt i = 0; ended_word && i < MAX_PAUSES && ts_memory_read(ended_word, &word, sizeof(word)) == sizeof(word) && word; i++)
		ts_syscall(__NR_nanosleep, (Word) & (struct vki_timespec){ 0, PAUSE_NS }, 0, 0, 0, 0, 0);
	ended_word = 0;
}
