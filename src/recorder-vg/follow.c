/* SPDX-License-Identifier: MIT */
/*
 * --follow: each process, and each program that it becomes, has a log of its own, in memory that it makes itself and
 * announces to the recorder through a FIFO.
 */
#include "tool.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_options.h>
#include "calls.h"

#define FUTEX_WAIT 0
#define WAIT_NS 100000000l
#define AT_FDCWD (-100)
#define MAX_PATH 4096

static Int recorder;      /* its process */
static UInt n_chunks;
static ULong chunk_len;
static const HChar *fifo; /* NULL: processes are not followed */

Bool ts_follow_take(const HChar *text)
{
	ULong pid, n;

	if (!ts_take_number(&text, &pid) || !ts_take_number(&text, &n) || !ts_take_number(&text, &chunk_len) || *text != '/')
		return False;
	recorder = (Int)pid;
	n_chunks = (UInt)n;
	fifo = text;
	return True;
}

Bool ts_follow_is_on(void)
{
	return fifo != NULL;
}

static Bool announce(Int fd, Bool is_fork)
{
	struct ts_log_process p = { TS_LOG_PROCESS_MAGIC, VG_(getpid)(), VG_(getppid)(), fd, is_fork };
	SysRes to = VG_(open)(fifo, VKI_O_WRONLY, 0);
	Bool is_done;

	if (sr_isError(to))
		return False;
	is_done = VG_(write)((Int)sr_Res(to), &p, sizeof(p)) == sizeof(p);
	VG_(close)((Int)sr_Res(to));
	return is_done;
}

/* The reader has opened the memory when it has written its process id there. */
static Bool await_reader(void)
{
	struct {
		Word s, ns;
	} limit = { 0, WAIT_NS };

	while (!__atomic_load_n(&ts_log->reader, __ATOMIC_ACQUIRE)) {
		if (!ts_is_alive(recorder) || ts_log->is_stopped)
			return False;
		ts_syscall(__NR_futex, (Word)&ts_log->reader, FUTEX_WAIT, 0, (Word)&limit, 0, 0);
	}
	return True;
}

Bool ts_follow_begin(Bool is_fork)
{
	Int fd = ts_log_create(n_chunks, chunk_len);
	Bool is_read;

	if (fd < 0)
		return False;
	ts_log->is_followed = 1;
	is_read = announce(fd, is_fork) && await_reader();
	VG_(close)(fd);
	return is_read;
}

/* The core's descriptor of the program's file; no header of its tools has it. */
extern Int VG_(cl_exec_fd);

/* Is it the link to the file that this process executes?  To the kernel that is the tool. */
static Bool is_own_link(const HChar *path)
{
	HChar own[64];

	VG_(sprintf)(own, "/proc/%d/exe", VG_(getpid)());
	return VG_(strcmp)(path, "/proc/self/exe") == 0 || VG_(strcmp)(path, "/proc/thread-self/exe") == 0 ||
	       VG_(strcmp)(path, own) == 0;
}

void ts_follow_exec(Addr path)
{
	HChar text[64], program[MAX_PATH], link[MAX_PATH + 32];
	SizeT n = fifo ? ts_memory_read(path, text, sizeof(text) - 1) : 0;
	Word len;

	text[n] = '\0';
	if (!n || !is_own_link(text))
		return;
	VG_(sprintf)(text, "/proc/self/fd/%d", VG_(cl_exec_fd));
	len = ts_syscall(__NR_readlinkat, AT_FDCWD, (Word)text, (Word)program, sizeof(program) - 1, 0, 0);
	if (len <= 0 || VG_(strlen)(fifo) >= MAX_PATH)
		return;
	program[len] = '\0';
	VG_(sprintf)(link, "%s" TS_LOG_OWN_PROGRAM "%d", fifo, VG_(getpid)());
	ts_syscall(__NR_unlinkat, AT_FDCWD, (Word)link, 0, 0, 0, 0);
	ts_syscall(__NR_symlinkat, (Word)program, AT_FDCWD, (Word)link, 0, 0, 0);
}
