/* SPDX-License-Identifier: MIT */
/*
 * --follow: each process, and each program that it becomes, has a log of its own, in memory that it makes itself and
 * announces to the recorder through a FIFO.
 */
#include "tool.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_options.h>
#include <pub_tool_vkiscnums.h>

#define FUTEX_WAIT 0
#define WAIT_NS 100000000l

static Int recorder;      /* its process */
static UInt n_chunks;
static ULong chunk_len;
static const HChar *fifo; /* NULL: processes are not followed */

static Bool take_number(const HChar **at, ULong *n)
{
	HChar *end;

	*n = VG_(strtoull10)(*at, &end);
	if (end == *at || *end != ':')
		return False;
	*at = end + 1;
	return True;
}

Bool ts_follow_take(const HChar *text)
{
	ULong pid, n;

	if (!take_number(&text, &pid) || !take_number(&text, &n) || !take_number(&text, &chunk_len) || *text != '/')
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
