/* SPDX-License-Identifier: MIT */
/*
 * The program's mappings, and memory that changes without an instruction.
 */
#include "tool.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_mallocfree.h>

#include "calls.h"

#define PAGE 4096u
#define MAX_FILE (64ul << 20)    /* bytes of a mapping whose contents are logged at once */
#define MAX_SHARED 64u
#define MAX_MESSAGES 1024u /* UIO_MAXIOV: the kernel takes no more */
#define POINTED 256u /* bytes at an argument of a system call */
#define MAX_SHARED_LEN (16ul << 20)

typedef struct {
	Addr base;
	SizeT len;
} Iovec;

/* Where the system call is not there, or not allowed, as in some containers. */
static Word read_by_file(Addr addr, void *to, SizeT len)
{
	Word fd = ts_syscall(__NR_openat, VKI_AT_FDCWD, (Word)"/proc/self/mem", VKI_O_RDONLY, 0, 0, 0), n;

	if (fd < 0)
		return fd;
	n = ts_syscall(__NR_pread64, fd, (Word)to, (Word)len, (Word)addr, 0, 0);
	ts_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
	return n;
}

SizeT ts_memory_read(Addr addr, void *to, SizeT len)
{
	Iovec here = { (Addr)to, len }, there = { addr, len };
	Word n = ts_syscall(__NR_process_vm_readv, VG_(getpid)(), (Word)&here, 1, (Word)&there, 1, 0);

	if (n == -VKI_ENOSYS || n == -VKI_EPERM)
		n = read_by_file(addr, to, len);
	return n < 0 ? 0 : (SizeT)n;
}

void ts_memory_log(enum ts_log_kind kind, Addr addr, SizeT len)
{
	while (len && ts_is_on) {
		SizeT n = len < TS_LOG_MAX_PIECE ? len : TS_LOG_MAX_PIECE, got;
		struct ts_log_memory *m;

		m = ts_log_room(kind, sizeof(*m) + n);
		if (!m)
			return;
		got = ts_memory_read(addr, m + 1, n);
		VG_(memset)((UChar *)(m + 1) + got, 0, n - got);
		m->addr = got ? addr : 0; /* an argument that is a number need not be an address */
		m->len = got;
		if (got < n)
			return;
		addr += n;
		len -= n;
	}
}

static void log_range(enum ts_log_kind kind, Addr addr, SizeT len, UInt prot)
{
	struct ts_log_map *m = ts_log_room(kind, sizeof(*m));

	if (m)
		*m = (struct ts_log_map){ .addr = addr, .len = len, .prot = prot };
}

/* -------------------------------------------------------------------------------- contents */

static Bool is_zero(const UChar *page)
{
	const ULong *words = (const ULong *)page;

	for (UInt i = 0; i < PAGE / 8; i++) {
		if (words[i])
			return False;
	}
	return True;
}

/* The pages of [@addr, @addr + @len) that are not zero. */
static void log_contents(Addr addr, SizeT len)
{
	static UChar pages[16 * PAGE] __attribute__((aligned(8)));

	for (SizeT i = 0; i < len; i += sizeof(pages)) {
		SizeT n = len - i < sizeof(pages) ? len - i : sizeof(pages);
		SizeT got = ts_memory_read(addr + i, pages, n) & ~(SizeT)(PAGE - 1);

		for (SizeT k = 0; k < got; k += PAGE) {
			if (!is_zero(pages + k))
				ts_memory_log(TS_LOG_COMPARE, addr + i + k, PAGE);
		}
	}
}

static UInt prot_of(Bool r, Bool w, Bool x)
{
	return (r ? 1u : 0) | (w ? 2u : 0) | (x ? 4u : 0);
}

/* A mapping as it is now, with its contents if @has_contents. */
static void log_map(const NSegment *seg, Addr addr, SizeT len, Bool is_stack, Bool has_contents)
{
	const HChar *file = seg->kind == SkFileC ? VG_(am_get_filename)(seg) : NULL;
	SizeT n_file = file ? VG_(strlen)(file) : 0;
	struct ts_log_map *m = ts_log_room(TS_LOG_MAP, sizeof(*m) + n_file);

	if (!m)
		return;
	*m = (struct ts_log_map){ addr, len, file ? (ULong)seg->offset + (addr - seg->start) : 0,
				  prot_of(seg->hasR, seg->hasW, seg->hasX), is_stack };
	VG_(memcpy)(m + 1, file, n_file);
	if (!seg->hasR || !has_contents)
		return;
	if (len > MAX_FILE && seg->kind != SkAnonC)
		log_range(TS_LOG_FORGET, addr, len, 0);
	else
		log_contents(addr, len);
}

/* The addresses where mappings of @kinds begin; the caller frees them. */
static Addr *find_segments(UInt kinds, Int *n)
{
	Int cap = 256;
	Addr *starts = NULL;

	do {
		VG_(free)(starts);
		starts = VG_(malloc)("tracestub", (SizeT)cap * sizeof(*starts));
		*n = VG_(am_get_segment_starts)(kinds, starts, cap);
		cap = *n < 0 ? -*n : cap;
	} while (*n < 0);
	return starts;
}

void ts_memory_log_all(Addr sp)
{
	Int n;
	Addr *starts = find_segments(SkFileC | SkAnonC | SkShmC, &n);

	for (Int i = 0; i < n; i++) {
		const NSegment *seg = VG_(am_find_nsegment)(starts[i]);

		if (seg)
			log_map(seg, seg->start, seg->end + 1 - seg->start, sp >= seg->start && sp <= seg->end, True);
	}
	VG_(free)(starts);
}

/* -------------------------------------------------------------------------------- shared mappings */

/* Regions that other processes may write.  They are examined after each system call. */
static struct {
	Addr addr;
	SizeT len;
	ULong *sums; /* of pages */
} shared[MAX_SHARED];
static UInt n_shared;
static SizeT shared_len;

static void watch_shared(Addr addr, SizeT len)
{
	if (n_shared == MAX_SHARED || shared_len + len > MAX_SHARED_LEN)
		return;
	shared[n_shared].addr = addr;
	shared[n_shared].len = len;
	shared[n_shared++].sums = VG_(calloc)("tracestub", len / PAGE + 1, sizeof(ULong));
	shared_len += len;
}

static void forget_shared(Addr addr, SizeT len)
{
	for (UInt i = 0; i < n_shared; i++) {
		if (addr >= shared[i].addr + shared[i].len || addr + len <= shared[i].addr)
			continue;
		shared_len -= shared[i].len;
		VG_(free)(shared[i].sums);
		shared[i--] = shared[--n_shared];
	}
}

/* Is the file mapped, perhaps elsewhere, in a way that writes it? */
static Bool is_shared_file(const NSegment *seg)
{
	for (UInt i = 0; i < n_shared; i++) {
		const NSegment *s = VG_(am_find_nsegment)(shared[i].addr);

		if (s && s->kind == SkFileC && s->dev == seg->dev && s->ino == seg->ino)
			return True;
	}
	return False;
}

Bool ts_memory_is_written_code(Addr addr, Bool *is_unseen)
{
	const NSegment *seg = VG_(am_find_nsegment)(addr);
	Bool is_written = seg && (seg->hasW || (seg->kind == SkFileC && is_shared_file(seg)));

	*is_unseen = is_written && seg->kind == SkFileC;
	return is_written;
}

static ULong sum_of(const UChar *page)
{
	const ULong *words = (const ULong *)page;
	ULong sum = 0x9e3779b97f4a7c15u;

	for (UInt i = 0; i < PAGE / 8; i++)
		sum = (sum ^ words[i]) * 0x100000001b3u + (sum >> 29);
	return sum;
}

static void compare_shared(void)
{
	static UChar page[PAGE] __attribute__((aligned(8)));

	for (UInt i = 0; i < n_shared; i++) {
		for (SizeT k = 0; k < shared[i].len; k += PAGE) {
			ULong sum;

			if (ts_memory_read(shared[i].addr + k, page, PAGE) < PAGE)
				continue;
			sum = sum_of(page);
			if (sum != shared[i].sums[k / PAGE])
				ts_memory_log(TS_LOG_COMPARE, shared[i].addr + k, PAGE);
			shared[i].sums[k / PAGE] = sum;
		}
	}
}

/* -------------------------------------------------------------------------------- callbacks */

static void on_map(Addr addr, SizeT len, Bool, Bool, Bool, ULong)
{
	const NSegment *seg = VG_(am_find_nsegment)(addr);

	if (!ts_is_on || !seg)
		return;
	len = (len + PAGE - 1) & ~(SizeT)(PAGE - 1);
	forget_shared(addr, len);
	log_map(seg, addr, len, False, seg->kind != SkAnonC);
}

static void on_unmap(Addr addr, SizeT len)
{
	forget_shared(addr, len);
	log_range(TS_LOG_UNMAP, addr, (len + PAGE - 1) & ~(SizeT)(PAGE - 1), 0);
}

static void on_protect(Addr addr, SizeT len, Bool r, Bool w, Bool x)
{
	log_range(TS_LOG_PROTECT, addr, (len + PAGE - 1) & ~(SizeT)(PAGE - 1), prot_of(r, w, x));
}

static void on_move(Addr, Addr to, SizeT len)
{
	const NSegment *seg = VG_(am_find_nsegment)(to);

	if (ts_is_on && seg)
		log_map(seg, to, (len + PAGE - 1) & ~(SizeT)(PAGE - 1), False, True);
}

static Addr page_up(Addr addr)
{
	return (addr + PAGE - 1) & ~(Addr)(PAGE - 1);
}

/* The break may lie inside a page.  Valgrind then clears the rest of that page. */
static void on_brk(Addr addr, SizeT len, ThreadId)
{
	Addr start = page_up(addr), end = page_up(addr + len);
	const NSegment *seg = VG_(am_find_nsegment)(start);

	ts_memory_log(TS_LOG_COMPARE, addr, start - addr);
	if (ts_is_on && end > start && seg)
		log_map(seg, start, end - start, False, False);
}

static void on_brk_down(Addr addr, SizeT len)
{
	Addr start = page_up(addr), end = page_up(addr + len);

	ts_memory_log(TS_LOG_COMPARE, addr, start - addr);
	if (end > start)
		log_range(TS_LOG_UNMAP, start, end - start, 0);
}

void ts_memory_track(void)
{
	VG_(track_new_mem_mmap)(on_map);
	VG_(track_die_mem_munmap)(on_unmap);
	VG_(track_change_mem_mprotect)(on_protect);
	VG_(track_copy_mem_remap)(on_move);
	VG_(track_new_mem_brk)(on_brk);
	VG_(track_die_mem_brk)(on_brk_down);
}

/* -------------------------------------------------------------------------------- after system calls */

/* A range as it is now, whatever it was. */
static void log_again(Addr addr, SizeT len)
{
	Addr start = addr & ~(Addr)(PAGE - 1), end = page_up(addr + len);

	if (end - start > MAX_FILE) {
		log_range(TS_LOG_FORGET, start, end - start, 0);
		return;
	}
	log_range(TS_LOG_ZERO, start, end - start, 0);
	log_contents(start, end - start);
}

/* The value of a word of the program's memory; 0 if it cannot be read. */
static UWord word_at(Addr addr)
{
	UWord val;

	return ts_memory_read(addr, &val, sizeof(val)) == sizeof(val) ? val : 0;
}

static void compare(Addr addr, SizeT len)
{
	if (addr)
		ts_memory_log(TS_LOG_COMPARE, addr, len < TS_LOG_MAX_PIECE ? len : TS_LOG_MAX_PIECE);
}

/* A call changed a file: its mappings, too. */
static void compare_file(const struct vg_stat *st)
{
	Addr *starts;
	Int n;

	if (!VKI_S_ISREG(st->mode))
		return;
	starts = find_segments(SkFileC, &n);
	for (Int i = 0; i < n; i++) {
		const NSegment *seg = VG_(am_find_nsegment)(starts[i]);

		if (seg && seg->dev == st->dev && seg->ino == st->ino && seg->hasR)
			log_again(seg->start, seg->end + 1 - seg->start);
	}
	VG_(free)(starts);
}

static void compare_file_at(Int fd)
{
	struct vg_stat st;

	if (VG_(fstat)(fd, &st) == 0)
		compare_file(&st);
}

/* @len bytes were written at @fd; @where says at which offset the call does it, or is negative: where the last one ended. */
static void after_file_write(Int fd, Long where, UWord len)
{
	struct vg_stat st;

	if (VG_(fstat)(fd, &st) != 0 || !VKI_S_ISREG(st.mode))
		return;
	if (st.size || !len) {
		compare_file(&st);
		return;
	}
	/* nothing is stored in it: perhaps it is /proc/self/mem, where offsets are addresses */
	if (where < 0)
		where = VG_(lseek)(fd, 0, VKI_SEEK_CUR) - (Long)len;
	if (where > PAGE)
		compare((Addr)where, len);
}

static void after_truncation(Addr path)
{
	HChar name[PAGE];
	struct vg_stat st;

	name[ts_memory_read(path, name, sizeof(name) - 1)] = '\0';
	if (!sr_isError(VG_(stat)(name, &st)))
		compare_file(&st);
}

static void after_advice(const UWord *args)
{
	enum { DONTNEED = 4, FREE = 8, REMOVE = 9, DONTNEED_LOCKED = 24 };

	if (args[2] == DONTNEED || args[2] == REMOVE || args[2] == DONTNEED_LOCKED)
		log_again(args[0], args[1]);
	else if (args[2] == FREE)
		log_range(TS_LOG_FORGET, args[0] & ~(Addr)(PAGE - 1), page_up(args[1]), 0);
}

static void compare_sets(const UWord *args)
{
	SizeT n_bits = 8 * sizeof(UWord), len = (args[0] + n_bits - 1) / n_bits * sizeof(UWord);

	for (UInt i = 1; i <= 3; i++)
		compare(args[i], len < 1024 ? len : 1024);
	compare(args[4], 16);
}

static void compare_message(Addr header)
{
	compare(header, 7 * sizeof(UWord));
	compare(word_at(header + 4 * sizeof(UWord)), word_at(header + 5 * sizeof(UWord)));
}

/* A struct mmsghdr each: the header, and the length of the message. */
static void compare_messages(Addr headers, UWord n)
{
	for (UWord i = 0; i < n && i < MAX_MESSAGES; i++)
		compare_message(headers + i * 8 * sizeof(UWord));
}

/* @n struct iovec. */
static void compare_parts(Addr parts, UWord n)
{
	for (UWord i = 0; i < n && i < MAX_MESSAGES; i++)
		compare(word_at(parts + 2 * i * sizeof(UWord)), word_at(parts + (2 * i + 1) * sizeof(UWord)));
}

/*
 * What calls write without a callback of Valgrind's, or with a shorter one, is that which differs from what is recorded.
 * Any call may write at any of its arguments: most structs are shorter than POINTED, and the callbacks report buffers.
 */
static void compare_results(UInt num, const UWord *args, UWord n_args)
{
	for (UWord i = 0; i < n_args; i++) {
		if (args[i] > PAGE)
			compare(args[i], POINTED);
	}
	if ((num == __NR_select || num == __NR_pselect6) && n_args > 4)
		compare_sets(args);
	else if (num == __NR_recvmsg)
		compare_message(args[1]);
	else if (num == __NR_recvmmsg)
		compare_messages(args[1], args[2]);
	else if (num == __NR_readlink)
		compare(args[1], args[2] < PAGE ? args[2] : PAGE);
	else if (num == __NR_readlinkat)
		compare(args[2], args[3] < PAGE ? args[3] : PAGE);
	else if (num == __NR_process_vm_writev && (Int)args[0] == VG_(getpid)())
		compare_parts(args[3], args[4]);
}

#if defined(VGA_x86)
/* Calls of which 32-bit programs have another one: the number of that which 64-bit programs have. */
static const struct {
	UInt num, as;
} other_calls[] = {
	{ __NR__newselect, __NR_select }, { __NR_pselect6_time64, __NR_pselect6 }, { __NR_ppoll_time64, __NR_ppoll },
	{ __NR_fcntl64, __NR_fcntl }, { __NR_sendfile64, __NR_sendfile }, { __NR_ugetrlimit, __NR_getrlimit },
	{ __NR_ftruncate64, __NR_ftruncate }, { __NR_truncate64, __NR_truncate }, { __NR_mmap2, __NR_mmap }, { __NR_recvmmsg_time64, __NR_recvmmsg },
};

#define IPC_SHMAT 21

/* Numbers of <linux/net.h>: calls whose arguments are in memory. */
static const struct {
	UInt num, as, n_args;
} socket_calls[] = {
	{ 5, __NR_accept4, 3 },     { 6, __NR_getsockname, 3 },  { 7, __NR_getpeername, 3 }, { 12, __NR_recvfrom, 6 },
	{ 15, __NR_getsockopt, 5 }, { 17, __NR_recvmsg, 3 },     { 18, __NR_accept4, 4 },    { 19, __NR_recvmmsg, 5 },
};

/* The call as a 64-bit program makes it. */
static UInt as_wide(UInt num, UWord args[TS_LOG_N_ARGS], UWord *ret)
{
	if (num == __NR_select || num == __NR_mmap) { /* the old ones: the arguments are in memory */
		ts_memory_read(args[0], args, (num == __NR_mmap ? 6 : 5) * sizeof(UWord));
	} else if (num == __NR_socketcall) {
		for (UInt i = 0; i < sizeof(socket_calls) / sizeof(socket_calls[0]); i++) {
			if (socket_calls[i].num == args[0]) {
				ts_memory_read(args[1], args, socket_calls[i].n_args * sizeof(UWord));
				return socket_calls[i].as;
			}
		}
	} else if (num == __NR_ipc && (args[0] & 0xffff) == IPC_SHMAT) {
		*ret = word_at(args[3]);
		return __NR_shmat;
	}
	for (UInt i = 0; i < sizeof(other_calls) / sizeof(other_calls[0]); i++) {
		if (other_calls[i].num == num)
			return other_calls[i].as;
	}
	return num;
}
#else
static UInt as_wide(UInt num, UWord [TS_LOG_N_ARGS], UWord *)
{
	return num;
}
#endif

static void after_call(UInt num, const UWord *args, UWord n_args, UWord ret)
{
	if (!ts_is_on && num != __NR_mmap && num != __NR_shmat)
		return; /* what is shared is to be known when the recording begins */
	switch (num) {
	case __NR_mmap:
		if (args[3] & VKI_MAP_SHARED)
			watch_shared(ret, page_up(args[1]));
		break;
	case __NR_shmat: {
		const NSegment *seg = VG_(am_find_nsegment)(ret);

		if (seg)
			watch_shared(ret, seg->end + 1 - ret);
		break;
	}
	case __NR_madvise:
		after_advice(args);
		break;
	case __NR_write:
	case __NR_writev:
		after_file_write((Int)args[0], -1, ret);
		break;
	case __NR_pwrite64:
		after_file_write((Int)args[0], (Long)args[3], ret);
		break;
	case __NR_pwritev:
	case __NR_pwritev2:
	case __NR_sendfile:
	case __NR_ftruncate:
	case __NR_fallocate:
		compare_file_at((Int)args[0]);
		break;
	case __NR_splice:
	case __NR_copy_file_range:
		compare_file_at((Int)args[2]);
		break;
	case __NR_truncate:
		after_truncation(args[0]);
		break;
	case __NR_creat:
		compare_file_at((Int)ret);
		break;
	case __NR_open:
	case __NR_openat:
		if (args[num == __NR_openat ? 2 : 1] & VKI_O_TRUNC)
			compare_file_at((Int)ret);
		break;
	default:
		break;
	}
	if (!ts_is_on)
		return;
	compare_results(num, args, n_args);
	if (n_shared)
		compare_shared();
}

/* A call that fails may have done a part, madvise(2), or have written why, waitid(2). */
static void after_failure(UInt num, const UWord *args, UWord n_args)
{
	if (num == __NR_madvise)
		after_advice(args);
	compare_results(num, args, n_args);
}

void ts_memory_after_call(UInt num, const UWord *args, UWord n_args, Bool is_error, UWord ret)
{
	UWord wide[TS_LOG_N_ARGS] = { 0 };
	UInt as;

	if (n_args > TS_LOG_N_ARGS)
		n_args = TS_LOG_N_ARGS;
	VG_(memcpy)(wide, args, n_args * sizeof(*args));
	as = as_wide(num, wide, &ret);
	if (!is_error)
		after_call(as, wide, n_args, ret);
	else if (ts_is_on)
		after_failure(as, wide, n_args);
}
