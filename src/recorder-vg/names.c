/* SPDX-License-Identifier: MIT */
/*
 * Names of threads, which a program sets by prctl, or by writing to /proc/self/task/ID/comm, as pthread_setname_np does
 * for another thread.
 */
#include "tool.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>

#include "calls.h"

#define PR_SET_NAME 15
#define MAX_NAMED 4096u
#define MAX_COMM 16u

static struct {
	UInt lwp;
	HChar name[MAX_COMM];
} named[MAX_NAMED]; /* by Valgrind's number: what was logged last */
static Bool is_comm_open;

static Bool read_name(UInt lwp, HChar name[MAX_COMM])
{
	HChar path[64];
	SysRes fd;
	Int n;

	VG_(sprintf)(path, "/proc/self/task/%u/comm", lwp);
	fd = VG_(open)(path, VKI_O_RDONLY, 0);
	if (sr_isError(fd))
		return False;
	n = VG_(read)((Int)sr_Res(fd), name, MAX_COMM);
	VG_(close)((Int)sr_Res(fd));
	if (n <= 0)
		return False;
	name[n - 1] = '\0'; /* a line */
	return True;
}

static void log_name(ThreadId tid)
{
	UInt lwp = ts_threads_lwp(tid);
	HChar name[MAX_COMM] = "";
	struct ts_log_name *to;

	if (!lwp || !read_name(lwp, name))
		return;
	if (named[tid].lwp == lwp && VG_(strcmp)(named[tid].name, name) == 0)
		return;
	named[tid].lwp = lwp;
	VG_(strcpy)(named[tid].name, name);
	to = ts_log_room(TS_LOG_NAME, sizeof(*to));
	if (!to)
		return;
	VG_(memset)(to, 0, sizeof(*to));
	to->tid = tid;
	VG_(strcpy)(to->name, name);
}

/* Whose name was written is not looked up: those of all threads that have another one than the first are. */
static void log_changed(void)
{
	HChar first[MAX_COMM] = "", name[MAX_COMM];

	read_name(ts_threads_lwp(1), first);
	for (ThreadId tid = 1; tid < MAX_NAMED; tid++) {
		UInt lwp = ts_threads_lwp(tid);

		if (lwp && read_name(lwp, name) && VG_(strcmp)(name, first) != 0)
			log_name(tid);
	}
}

static Bool is_comm(Addr path)
{
	HChar text[256];
	SizeT n = ts_memory_read(path, text, sizeof(text) - 1), len;

	text[n] = '\0';
	len = VG_(strlen)(text);
	return len > 5 && VG_(strcmp)(text + len - 5, "/comm") == 0;
}

void ts_names_after_call(ThreadId tid, UInt num, const UWord *args)
{
	if (num == __NR_prctl && args[0] == PR_SET_NAME && tid < MAX_NAMED)
		log_name(tid);
	else if (num == __NR_openat || num == __NR_open)
		is_comm_open |= is_comm(args[num == __NR_openat]);
	else if (num == __NR_write && is_comm_open)
		log_changed();
}
