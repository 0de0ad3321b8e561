/* SPDX-License-Identifier: MIT */
#include "tool.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_vkiscnums.h>

#if defined(VGA_x86)
#define NR_MMAP __NR_mmap2
#else
#define NR_MMAP __NR_mmap
#endif
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

struct ts_log *ts_log;
Bool ts_is_on;

static SizeT log_len;
static UInt n_blocks; /* described since the log was empty */

#if defined(VGA_amd64)
Word ts_syscall(Word num, Word a, Word b, Word c, Word d, Word e, Word f)
{
	register Word r10 __asm__("r10") = d;
	register Word r8 __asm__("r8") = e;
	register Word r9 __asm__("r9") = f;
	Word ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(num), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(VGA_x86)
Word ts_syscall(Word num, Word a, Word b, Word c, Word d, Word e, Word f)
{
	const struct {
		Word num, f;
	} rest = { num, f };
	Word ret;

	__asm__ volatile("pushl %%ebp\n\tmovl 4(%%eax), %%ebp\n\tmovl (%%eax), %%eax\n\tint $0x80\n\tpopl %%ebp"
			 : "=a"(ret)
			 : "a"(&rest), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return ret;
}
#elif defined(VGA_arm64)
Word ts_syscall(Word num, Word a, Word b, Word c, Word d, Word e, Word f)
{
	register Word x8 __asm__("x8") = num;
	register Word x0 __asm__("x0") = a;
	register Word x1 __asm__("x1") = b;
	register Word x2 __asm__("x2") = c;
	register Word x3 __asm__("x3") = d;
	register Word x4 __asm__("x4") = e;
	register Word x5 __asm__("x5") = f;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
}
#else
#error no system call for this processor
#endif

Bool ts_is_alive(Int pid)
{
	return ts_syscall(__NR_kill, pid, 0, 0, 0, 0, 0) != -VKI_ESRCH;
}

static void *shadow_result(void *at)
{
	return at;
}

static void *shadow_sysres(SysRes res)
{
	return sr_isError(res) ? NULL : (void *)sr_Res(res);
}

/* Room in Valgrind's part of the address space, which the program cannot map: 3.24 changed what it returns. */
static void *reserve(SizeT len)
{
	return _Generic(VG_(am_shadow_alloc)(0), void *: shadow_result, SysRes: shadow_sysres)(VG_(am_shadow_alloc)(len));
}

static Bool map_at(void *at, SizeT len, Int flags, Int fd)
{
	return ts_syscall(NR_MMAP, (Word)at, (Word)len, VKI_PROT_READ | VKI_PROT_WRITE, flags | VKI_MAP_FIXED, fd,
			  0) == (Word)at;
}

static Addr chunk_at(UInt i)
{
	return (Addr)ts_log + TS_LOG_HEAD_LEN + (Addr)(i % ts_log->n_chunks) * (Addr)ts_log->chunk_len;
}

/* Translated code uses a word of it, too: the upper half of a short one stays 0. */
static void set_cur(Addr cur)
{
	__atomic_store_n((volatile Addr *)&ts_log->cur, cur, __ATOMIC_RELEASE);
}

static void use_chunk(UInt i)
{
	ts_log->limit = chunk_at(i) + ts_log->chunk_len - TS_LOG_MAX_BLOCK;
	set_cur(chunk_at(i));
}

static Bool is_mapped(Int fd, SizeT len)
{
	void *at = ts_log ? ts_log : reserve(len);

	if (!at || !map_at(at, len, VKI_MAP_SHARED, fd))
		return False;
	ts_log = at;
	log_len = len;
	return True;
}

Int ts_log_create(UInt n_chunks, ULong chunk_len)
{
	SizeT len = TS_LOG_HEAD_LEN + n_chunks * chunk_len;
	Word fd = ts_syscall(__NR_memfd_create, (Word)"tracestub", 0, 0, 0, 0, 0);

	if (fd < 0)
		return -1;
	if (ts_syscall(__NR_ftruncate, fd, (Word)len, 0, 0, 0, 0) != 0 || !is_mapped((Int)fd, len)) {
		VG_(close)((Int)fd);
		return -1;
	}
	ts_log->magic = TS_LOG_MAGIC;
	ts_log->chunk_len = chunk_len;
	ts_log->n_chunks = n_chunks;
	ts_log->base = (Addr)ts_log;
	use_chunk(0);
	return (Int)fd;
}

void ts_log_rewind(void)
{
	n_blocks = 0;
	use_chunk(0);
}

UInt ts_log_next_block(void)
{
	return ++n_blocks;
}

void ts_log_open(Int fd)
{
	struct vg_stat st;
	void *at;

	if (VG_(fstat)(fd, &st) != 0 || st.size < TS_LOG_HEAD_LEN + TS_LOG_MIN_CHUNK)
		VG_(tool_panic)("tracestub: no shared memory");
	log_len = (SizeT)st.size;
	at = reserve(log_len);
	if (!at || !map_at(at, log_len, VKI_MAP_SHARED, fd))
		VG_(tool_panic)("tracestub: the shared memory cannot be mapped");
	VG_(close)(fd);
	ts_log = at;
	ts_log->base = (Addr)at;
	use_chunk(0);
}

void ts_log_detach(void)
{
	struct ts_log head = { .magic = TS_LOG_MAGIC, .chunk_len = TS_LOG_MIN_CHUNK, .n_chunks = 2 };
	void *at = ts_log;

	ts_is_on = False;
	if (at) {
		VG_(memcpy)(&head, at, sizeof(head));
	} else {
		log_len = TS_LOG_HEAD_LEN + head.n_chunks * head.chunk_len;
		at = reserve(log_len);
	}
	if (!at || !map_at(at, log_len, VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS, -1))
		VG_(tool_panic)("tracestub: memory is exhausted");
	ts_log = at;
	VG_(memcpy)(ts_log, &head, sizeof(head));
	ts_log->is_stopped = 1;
	use_chunk(0);
}

static void futex(volatile UInt *word, Int op, UInt val, Word ms)
{
	struct {
		Word s, ns;
	} limit = { ms / 1000, ms % 1000 * 1000000 };

	ts_syscall(__NR_futex, (Word)word, op, (Word)val, (Word)&limit, 0, 0);
}

/* The reader is the parent, or, of a process that is followed, any process. */
static Bool has_reader(void)
{
	return ts_log->is_followed ? ts_is_alive(ts_log->reader) : VG_(getppid)() == ts_log->reader;
}

/*
 * Returns False if the reader has ended.  A reader that was stopped is continued (the reason is in
 * src/recorder/ring.c).
 */
static Bool wait_for_room(void)
{
	for (UInt n = 1;; n++) {
		UInt taken = __atomic_load_n(&ts_log->n_taken, __ATOMIC_ACQUIRE);

		if (ts_log->is_stopped || !has_reader())
			return False;
		if (ts_log->n_filled - taken < ts_log->n_chunks)
			return True;
		futex(&ts_log->n_taken, FUTEX_WAIT, taken, 100);
		if (n % 10 == 0)
			ts_syscall(__NR_kill, ts_log->reader, VKI_SIGCONT, 0, 0, 0, 0);
	}
}

/* Translated code may be running, which cannot be discarded here: ts_window_poll() does. */
static Bool is_to_stop;

Bool ts_log_must_stop(void)
{
	return ts_is_on && (is_to_stop || ts_log->is_stopped);
}

void ts_log_stop(void)
{
	ts_is_on = False;
	ts_log->is_stopped = 1;
}

void ts_log_next_chunk(void)
{
	UInt i = ts_log->n_filled;

	if (!ts_is_on) {
		use_chunk(0);
		return;
	}
	ts_log->used[i % ts_log->n_chunks] = (UInt)(ts_log->cur - chunk_at(i));
	__atomic_store_n(&ts_log->n_filled, i + 1, __ATOMIC_RELEASE);
	futex(&ts_log->n_filled, FUTEX_WAKE, 1, 0);
	if (wait_for_room()) {
		use_chunk(i + 1);
		return;
	}
	is_to_stop = True;
	use_chunk(i + 1);
}

void *ts_log_room(enum ts_log_kind kind, SizeT len)
{
	SizeT all = (8 + len + 7) & ~(SizeT)7;
	Addr end;
	UInt *head;

	if (!ts_is_on || is_to_stop)
		return NULL;
	tl_assert(all <= TS_LOG_MAX_CONTROL);
	end = chunk_at(ts_log->n_filled) + ts_log->chunk_len;
	if (end - ts_log->cur < all) {
		ts_log_next_chunk();
		if (is_to_stop)
			return NULL;
	}
	head = (UInt *)(Addr)ts_log->cur;
	((ULong *)head)[all / 8 - 1] = 0;
	head[0] = TS_LOG_CONTROL | kind;
	head[1] = (UInt)all;
	set_cur((Addr)head + all);
	return head + 2;
}
