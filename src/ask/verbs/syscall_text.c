/* SPDX-License-Identifier: MIT */
#include "syscall_text.h"

#include <inttypes.h>
#include <string.h>

#include "src/arch/arch.h"
#include "src/arch/signals.h"
#include "src/base/collections/buf.h"
#include "src/query/paging.h"

/* Characters of one string or buffer. */
#define MAX_SHOWN 160u

#define AT_FDCWD (-100)

/*
 * The kinds of arguments, a letter each:
 *
 *      s  a string
 *      d  an int
 *      l  a signed number of the width of a register
 *      f  a descriptor or AT_FDCWD
 *      u  an unsigned number in decimal
 *      x  an unsigned number in hexadecimal
 *      w  a buffer; the next argument is its length
 *      r  a buffer that the call filled; the result is its length
 *      q  64 bits, which are two registers on a 32-bit processor: there the call has no text
 *      P  an offset in units of 4,096 bytes
 *      X  the argument of fcntl, which depends on the command
 *      c  permissions, if the flags before them create a file
 *
 * Other letters are those of put_flags().
 */
static const struct {
	const char *name, *arguments;
} calls[] = {
	{ "access", "sa" },	  { "arch_prctl", "xx" },    { "bind", "dxu" },	     { "brk", "x" },	      { "chdir", "s" },
	{ "chmod", "se" },	  { "chown", "sdd" },	     { "close", "d" },	      { "connect", "dxu" },
	{ "_llseek", "dxxxS" },	  { "clone", "Cxxxx" },	     { "fcntl64", "dFX" },    { "futex", "xUdxxx" },
	{ "madvise", "xuV" },	  { "mmap2", "xupmdP" },     { "pipe", "x" },	      { "pipe2", "xO" },
	{ "rt_sigaction", "gxxu" }, { "rt_sigprocmask", "Mxxu" }, { "socketpair", "ntdx" }, { "wait4", "dxWx" },
	{ "creat", "se" },	  { "dup", "d" },	     { "dup2", "dd" },	      { "dup3", "ddO" },
	{ "execve", "sxx" },	  { "execveat", "fsxxx" },   { "exit", "d" },	      { "exit_group", "d" },
	{ "faccessat", "fsa" },	  { "faccessat2", "fsaE" },  { "fchmodat", "fse" },   { "fchownat", "fsddx" },
	{ "fcntl", "dFX" },	  { "fstat", "dx" },	     { "fstatat64", "fsxA" }, { "ftruncate", "du" },
	{ "getcwd", "ru" },	  { "getdents64", "dxu" },   { "getrandom", "ruG" },  { "ioctl", "dxx" },
	{ "kill", "dg" },	  { "link", "ss" },	     { "linkat", "fsfsA" },   { "lseek", "dlS" },
	{ "lstat", "sx" },	  { "mkdir", "se" },	     { "mkdirat", "fse" },    { "mmap", "xupmdx" },
	{ "mprotect", "xup" },	  { "munmap", "xu" },	     { "newfstatat", "fsxA" }, { "open", "soc" },
	{ "openat", "fsoc" },	  { "pread64", "druq" },     { "prlimit64", "ddxx" }, { "pwrite64", "dwuq" },
	{ "read", "dru" },	  { "readlink", "sru" },     { "readlinkat", "fsru" }, { "recvfrom", "druxxx" },
	{ "rename", "ss" },	  { "renameat", "fsfs" },    { "renameat2", "fsfsx" }, { "rmdir", "s" },
	{ "sendto", "dwuxxu" },	  { "socket", "ntd" },	     { "stat", "sx" },	      { "statfs", "sx" },
	{ "statx", "fsATx" },	  { "symlink", "ss" },	     { "symlinkat", "sfs" },  { "tgkill", "ddg" },
	{ "truncate", "su" },	  { "unlink", "s" },	     { "unlinkat", "fsR" },   { "utimensat", "fsxx" },
	{ "write", "dwu" },
};

struct flag {
	uint32_t bits;
	const char *name;
};

struct flags {
	uint32_t choice;           /* these bits are one of several values, whose names are in @values */
	const struct flag *values; /* up to one without a name; NULL: none */
	const struct flag *bits;   /* up to one without a name; NULL: none */
};

/* ------------------------------------------------------------------------------------ Linux's include/uapi */

#define END { 0, NULL }

static const struct flag open_modes[] = { { 0, "O_RDONLY" }, { 1, "O_WRONLY" }, { 2, "O_RDWR" }, { 3, "O_ACCMODE" }, END };

#define OPEN_BITS                                                                                                   \
	{ 0x40, "O_CREAT" }, { 0x80, "O_EXCL" }, { 0x100, "O_NOCTTY" }, { 0x200, "O_TRUNC" }, { 0x400, "O_APPEND" },  \
	{ 0x800, "O_NONBLOCK" }, { 0x101000, "O_SYNC" }, { 0x1000, "O_DSYNC" }, { 0x2000, "O_ASYNC" }
#define MORE_OPEN_BITS { 0x40000, "O_NOATIME" }, { 0x80000, "O_CLOEXEC" }, { 0x200000, "O_PATH" }

/* asm-generic/fcntl.h */
static const struct flag open_bits[] = {
	OPEN_BITS, { 0x4000, "O_DIRECT" }, { 0x8000, "O_LARGEFILE" }, { 0x410000, "O_TMPFILE" },
	{ 0x10000, "O_DIRECTORY" }, { 0x20000, "O_NOFOLLOW" }, MORE_OPEN_BITS, END,
};

/* arch/arm/include/uapi/asm/fcntl.h, and that of arm64 */
static const struct flag open_bits_arm[] = {
	OPEN_BITS, { 0x404000, "O_TMPFILE" }, { 0x4000, "O_DIRECTORY" }, { 0x8000, "O_NOFOLLOW" },
	{ 0x10000, "O_DIRECT" }, { 0x20000, "O_LARGEFILE" }, MORE_OPEN_BITS, END,
};

static const struct flag no_protection[] = { { 0, "PROT_NONE" }, END };
static const struct flag protections[] = {
	{ 1, "PROT_READ" }, { 2, "PROT_WRITE" }, { 4, "PROT_EXEC" },
	{ 0x1000000, "PROT_GROWSDOWN" }, { 0x2000000, "PROT_GROWSUP" }, END,
};

/* arch/arm64/include/uapi/asm/mman.h */
static const struct flag protections_arm64[] = {
	{ 1, "PROT_READ" }, { 2, "PROT_WRITE" }, { 4, "PROT_EXEC" }, { 0x10, "PROT_BTI" }, { 0x20, "PROT_MTE" },
	{ 0x1000000, "PROT_GROWSDOWN" }, { 0x2000000, "PROT_GROWSUP" }, END,
};

static const struct flag map_types[] = {
	{ 1, "MAP_SHARED" }, { 2, "MAP_PRIVATE" }, { 3, "MAP_SHARED_VALIDATE" }, END,
};
#define MAP_BITS                                                                                                    \
	{ 0x10, "MAP_FIXED" }, { 0x20, "MAP_ANONYMOUS" }, { 0x100, "MAP_GROWSDOWN" }, { 0x800, "MAP_DENYWRITE" },     \
	{ 0x1000, "MAP_EXECUTABLE" }, { 0x2000, "MAP_LOCKED" }, { 0x4000, "MAP_NORESERVE" },                          \
	{ 0x8000, "MAP_POPULATE" }, { 0x10000, "MAP_NONBLOCK" }, { 0x20000, "MAP_STACK" }, { 0x40000, "MAP_HUGETLB" }, \
	{ 0x80000, "MAP_SYNC" }, { 0x100000, "MAP_FIXED_NOREPLACE" }, { 0x4000000, "MAP_UNINITIALIZED" }
static const struct flag map_bits[] = { MAP_BITS, END };

/* arch/x86/include/uapi/asm/mman.h */
static const struct flag map_bits_x86[] = { MAP_BITS, { 0x40, "MAP_32BIT" }, END };

static const struct flag no_access[] = { { 0, "F_OK" }, END };
static const struct flag accesses[] = { { 4, "R_OK" }, { 2, "W_OK" }, { 1, "X_OK" }, END };

static const struct flag at_bits[] = {
	{ 0x100, "AT_SYMLINK_NOFOLLOW" }, { 0x400, "AT_SYMLINK_FOLLOW" }, { 0x800, "AT_NO_AUTOMOUNT" },
	{ 0x1000, "AT_EMPTY_PATH" }, END,
};

static const struct flag whences[] = {
	{ 0, "SEEK_SET" }, { 1, "SEEK_CUR" }, { 2, "SEEK_END" }, { 3, "SEEK_DATA" }, { 4, "SEEK_HOLE" }, END,
};

static const struct flag commands[] = {
	{ 0, "F_DUPFD" }, { 1, "F_GETFD" }, { 2, "F_SETFD" }, { 3, "F_GETFL" }, { 4, "F_SETFL" }, { 5, "F_GETLK" },
	{ 6, "F_SETLK" }, { 7, "F_SETLKW" }, { 8, "F_SETOWN" }, { 9, "F_GETOWN" }, { 10, "F_SETSIG" }, { 11, "F_GETSIG" },
	{ 12, "F_GETLK64" }, { 13, "F_SETLK64" }, { 14, "F_SETLKW64" }, { 15, "F_SETOWN_EX" }, { 16, "F_GETOWN_EX" }, { 17, "F_GETOWNER_UIDS" },
	{ 36, "F_OFD_GETLK" }, { 37, "F_OFD_SETLK" }, { 38, "F_OFD_SETLKW" }, { 1024, "F_SETLEASE" },
	{ 1025, "F_GETLEASE" }, { 1026, "F_NOTIFY" }, { 1030, "F_DUPFD_CLOEXEC" }, { 1031, "F_SETPIPE_SZ" },
	{ 1032, "F_GETPIPE_SZ" }, { 1033, "F_ADD_SEALS" }, { 1034, "F_GET_SEALS" }, END,
};
static const struct flag no_descriptor_flag[] = { { 0, "0" }, END };
static const struct flag descriptor_flags[] = { { 1, "FD_CLOEXEC" }, END };

/* linux/sched.h; the lowest byte is a signal. */
static const struct flag clone_signals[] = { { 17, "SIGCHLD" }, END };
static const struct flag clone_bits[] = {
	{ 0x100, "CLONE_VM" }, { 0x200, "CLONE_FS" }, { 0x400, "CLONE_FILES" }, { 0x800, "CLONE_SIGHAND" },
	{ 0x1000, "CLONE_PIDFD" }, { 0x2000, "CLONE_PTRACE" }, { 0x4000, "CLONE_VFORK" }, { 0x8000, "CLONE_PARENT" },
	{ 0x10000, "CLONE_THREAD" }, { 0x20000, "CLONE_NEWNS" }, { 0x40000, "CLONE_SYSVSEM" }, { 0x80000, "CLONE_SETTLS" },
	{ 0x100000, "CLONE_PARENT_SETTID" }, { 0x200000, "CLONE_CHILD_CLEARTID" }, { 0x400000, "CLONE_DETACHED" },
	{ 0x800000, "CLONE_UNTRACED" }, { 0x1000000, "CLONE_CHILD_SETTID" }, { 0x2000000, "CLONE_NEWCGROUP" },
	{ 0x4000000, "CLONE_NEWUTS" }, { 0x8000000, "CLONE_NEWIPC" }, { 0x10000000, "CLONE_NEWUSER" },
	{ 0x20000000, "CLONE_NEWPID" }, { 0x40000000, "CLONE_NEWNET" }, { 0x80000000, "CLONE_IO" }, END,
};

/* linux/futex.h */
static const struct flag futex_operations[] = {
	{ 0, "FUTEX_WAIT" }, { 1, "FUTEX_WAKE" }, { 2, "FUTEX_FD" }, { 3, "FUTEX_REQUEUE" }, { 4, "FUTEX_CMP_REQUEUE" }, { 5, "FUTEX_WAKE_OP" },
	{ 6, "FUTEX_LOCK_PI" }, { 7, "FUTEX_UNLOCK_PI" }, { 8, "FUTEX_TRYLOCK_PI" }, { 9, "FUTEX_WAIT_BITSET" },
	{ 10, "FUTEX_WAKE_BITSET" }, { 11, "FUTEX_WAIT_REQUEUE_PI" }, { 12, "FUTEX_CMP_REQUEUE_PI" },
	{ 13, "FUTEX_LOCK_PI2" }, END,
};
static const struct flag futex_bits[] = { { 0x80, "FUTEX_PRIVATE_FLAG" }, { 0x100, "FUTEX_CLOCK_REALTIME" }, END };

/* asm-generic/mman-common.h */
static const struct flag advices[] = {
	{ 0, "MADV_NORMAL" }, { 1, "MADV_RANDOM" }, { 2, "MADV_SEQUENTIAL" }, { 3, "MADV_WILLNEED" }, { 4, "MADV_DONTNEED" },
	{ 8, "MADV_FREE" }, { 9, "MADV_REMOVE" }, { 10, "MADV_DONTFORK" }, { 11, "MADV_DOFORK" }, { 12, "MADV_MERGEABLE" },
	{ 13, "MADV_UNMERGEABLE" }, { 14, "MADV_HUGEPAGE" }, { 15, "MADV_NOHUGEPAGE" }, { 16, "MADV_DONTDUMP" },
	{ 17, "MADV_DODUMP" }, { 18, "MADV_WIPEONFORK" }, { 19, "MADV_KEEPONFORK" }, { 20, "MADV_COLD" },
	{ 21, "MADV_PAGEOUT" }, { 22, "MADV_POPULATE_READ" }, { 23, "MADV_POPULATE_WRITE" },
	{ 24, "MADV_DONTNEED_LOCKED" }, { 25, "MADV_COLLAPSE" }, { 100, "MADV_HWPOISON" }, { 101, "MADV_SOFT_OFFLINE" }, END,
};

/* asm-generic/signal-defs.h */
static const struct flag mask_changes[] = { { 0, "SIG_BLOCK" }, { 1, "SIG_UNBLOCK" }, { 2, "SIG_SETMASK" }, END };

static const struct flag no_wait_option[] = { { 0, "0" }, END };
static const struct flag wait_options[] = {
	{ 1, "WNOHANG" }, { 2, "WUNTRACED" }, { 8, "WCONTINUED" }, { 0x1000000, "WNOWAIT" }, { 0x20000000, "__WNOTHREAD" }, { 0x40000000, "__WALL" },
	{ 0x80000000, "__WCLONE" }, END,
};

/* linux/stat.h */
static const struct flag stat_masks[] = { { 0x7ff, "STATX_BASIC_STATS" }, { 0x800, "STATX_BTIME" }, END };

static const struct flag unlink_bits[] = { { 0x200, "AT_REMOVEDIR" }, END };
static const struct flag access_bits[] = { { 0x100, "AT_SYMLINK_NOFOLLOW" }, { 0x200, "AT_EACCESS" }, { 0x1000, "AT_EMPTY_PATH" }, END };
static const struct flag random_bits[] = { { 1, "GRND_NONBLOCK" }, { 2, "GRND_RANDOM" }, { 4, "GRND_INSECURE" }, END };

static const struct flag families[] = {
	{ 1, "AF_UNIX" }, { 2, "AF_INET" }, { 10, "AF_INET6" }, { 16, "AF_NETLINK" }, { 17, "AF_PACKET" }, END,
};

static const struct flag types[] = {
	{ 1, "SOCK_STREAM" }, { 2, "SOCK_DGRAM" }, { 3, "SOCK_RAW" }, { 5, "SOCK_SEQPACKET" }, END,
};
static const struct flag type_bits[] = { { 0x800, "SOCK_NONBLOCK" }, { 0x80000, "SOCK_CLOEXEC" }, END };

/* ---------------------------------------------------------------------------------------------------- texts */

static bool is_of(const struct ts_arch *arch, const char *family)
{
	return !strncmp(arch->name, family, strlen(family));
}

static bool is_arm(const struct ts_arch *arch)
{
	return is_of(arch, "arm") || is_of(arch, "aarch64");
}

static bool is_x86(const struct ts_arch *arch)
{
	return is_of(arch, "x86_64") || is_of(arch, "i386");
}

/* The numbers of MIPS, PowerPC, SPARC and others are their own. */
static bool is_known(const struct ts_arch *arch)
{
	return is_arm(arch) || is_x86(arch) || is_of(arch, "riscv");
}

static struct flags flags_of(const struct ts_arch *arch, char kind)
{
	switch (kind) {
	case 'o': return (struct flags){ 3, open_modes, is_arm(arch) ? open_bits_arm : open_bits };
	case 'p': return (struct flags){ UINT32_MAX, no_protection, is_of(arch, "aarch64") ? protections_arm64 : protections };
	case 'm': return (struct flags){ 15, map_types, is_x86(arch) ? map_bits_x86 : map_bits };
	case 'a': return (struct flags){ UINT32_MAX, no_access, accesses };
	case 'A': return (struct flags){ 0, NULL, at_bits };
	case 'S': return (struct flags){ UINT32_MAX, whences, NULL };
	case 'F': return (struct flags){ UINT32_MAX, commands, NULL };
	case 'n': return (struct flags){ UINT32_MAX, families, NULL };
	case 't': return (struct flags){ 15, types, type_bits };
	case 'O': return (struct flags){ 0, NULL, is_arm(arch) ? open_bits_arm : open_bits };
	case 'D': return (struct flags){ UINT32_MAX, no_descriptor_flag, descriptor_flags };
	case 'C': return (struct flags){ 255, clone_signals, clone_bits };
	case 'U': return (struct flags){ 127, futex_operations, futex_bits };
	case 'V': return (struct flags){ UINT32_MAX, advices, NULL };
	case 'M': return (struct flags){ UINT32_MAX, mask_changes, NULL };
	case 'W': return (struct flags){ UINT32_MAX, no_wait_option, wait_options };
	case 'T': return (struct flags){ 0, NULL, stat_masks };
	case 'R': return (struct flags){ 0, NULL, unlink_bits };
	case 'E': return (struct flags){ 0, NULL, access_bits };
	case 'G': return (struct flags){ 0, NULL, random_bits };
	default: return (struct flags){ 0, NULL, NULL };
	}
}

/* The kind of the third argument of fcntl(), d a number, x another one; 0 if the command has none. */
static char fcntl_kind(const struct ts_arch *arch, uint64_t command)
{
	if (!is_known(arch))
		return 'x';
	switch (command) {
	case 1: case 3: case 9: case 11: case 1025: case 1032: case 1034: return 0;
	case 0: case 8: case 1030: case 1031: return 'd';
	case 2: return 'D';
	case 4: return 'o';
	case 10: return 'g';
	default: return 'x';
	}
}

static bool put_signal(const struct ts_arch *arch, uint32_t number, struct ts_buf *out)
{
	uint32_t gdbs = ts_signal_from_linux(arch, number);

	if (!number || gdbs == TS_SIGNAL_UNKNOWN || !ts_signal_name(gdbs))
		return false;
	ts_buf_puts(out, ts_signal_name(gdbs));
	return true;
}

static void put(struct ts_buf *out, size_t start, const char *text)
{
	if (out->len > start)
		ts_buf_putc(out, '|');
	ts_buf_puts(out, text);
}

/*
 * Append the argument @value of a call on processor @arch.  @kind: o flags of open, p memory protection, m flags of mmap,
 * a mode of access(), A flags of calls that end with "at", S whence of lseek, F command of fcntl, n address family,
 * t socket type, e permissions, O bits of open without its mode, D flags of a descriptor, C flags of clone, U operation of
 * futex, V advice of madvise, M change of a signal mask, W options of wait, T mask of statx, R flags of unlinkat, E flags of
 * faccessat2, G flags of getrandom, g a signal.  Bits without a name are appended as a number: PROT_READ|0x40.
 *
 * Returns false, and appends nothing, if @kind is none of these, or if that processor uses other numbers.
 */
static bool put_flags(const struct ts_arch *arch, char kind, uint64_t value, struct ts_buf *out)
{
	struct flags f = is_known(arch) ? flags_of(arch, kind) : (struct flags){ 0, NULL, NULL };
	uint32_t left = (uint32_t)value;
	size_t start = out->len;

	if (kind == 'e') {
		ts_buf_printf(out, left ? "0%" PRIo32 : "000", left);
		return true;
	}
	if (kind == 'g' && put_signal(arch, left, out))
		return true;
	if (!f.values && !f.bits)
		return false;
	for (const struct flag *v = f.values; v && v->name; v++) {
		if ((left & f.choice) != v->bits)
			continue;
		put(out, start, v->name);
		left &= ~f.choice;
		break;
	}
	for (const struct flag *b = f.bits; b && b->name; b++) {
		if ((left & b->bits) != b->bits)
			continue;
		put(out, start, b->name);
		left &= ~b->bits;
	}
	if (left || out->len == start) {
		put(out, start, "");
		ts_buf_printf(out, left ? "0x%" PRIx32 : "0", left);
	}
	return true;
}

/* Returns true if open with these flags on processor @arch creates a file, whose permissions are its next argument. */
static bool creates(const struct ts_arch *arch, uint64_t flags)
{
	uint32_t o_creat = is_of(arch, "mips") ? 0x100 : is_of(arch, "sparc") ? 0x200 : 0x40;

	return flags & o_creat || flags & 0x400000; /* O_TMPFILE */
}

static bool is_wide(const struct ts_query *q)
{
	return ts_query_regset(q)->arch->addr_bits == 64;
}

static const char *arguments_of(const struct ts_query *q, const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(calls[i].name, name))
			return is_wide(q) || !strchr(calls[i].arguments, 'q') ? calls[i].arguments : NULL;
	}
	return NULL;
}

static void put_char(struct ts_buf *out, uint8_t c)
{
	if (c == '"' || c == '\\')
		ts_buf_printf(out, "\\%c", c);
	else if (c >= ' ' && c <= '~')
		ts_buf_putc(out, c);
	else if (c == '\n' || c == '\t')
		ts_buf_puts(out, c == '\n' ? "\\n" : "\\t");
	else
		ts_buf_printf(out, "\\x%02x", c);
}

/* Append @len bytes at @addr, or a shorter string; if not all of them are known, append the address. */
static bool put_bytes(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, uint64_t len, bool is_string,
		      struct ts_buf *out, struct ts_error *err)
{
	uint8_t data[MAX_SHOWN], known[MAX_SHOWN];
	size_t n = len < MAX_SHOWN ? (size_t)len : MAX_SHOWN, end;

	if (!n || n - 1 > UINT64_MAX - addr) {
		ts_buf_printf(out, n ? "0x%" PRIx64 : "\"\"", addr);
		return true;
	}
	if (!ts_virtual_mem(q, pos, process, addr, n, data, known, err))
		return false;
	for (end = 0; end < n && known[end] && !(is_string && !data[end]);)
		end++;
	if (end < n && !known[end]) {
		ts_buf_printf(out, "0x%" PRIx64, addr);
		return true;
	}
	ts_buf_putc(out, '"');
	for (size_t i = 0; i < end; i++)
		put_char(out, data[i]);
	ts_buf_puts(out, end == n && (is_string || len > n) ? "\"..." : "\"");
	return true;
}

static bool put_argument(struct ts_query *q, const struct ts_event_at *h, unsigned i, char kind, bool has_failed,
			 struct ts_buf *out, struct ts_error *err)
{
	const struct ts_event *e = &h->event;
	uint32_t process = ts_query_process(q, h->thread);
	uint64_t value = e->args[i];

	if (kind == 's' && value)
		return put_bytes(q, h->step, process, value, UINT64_MAX, true, out, err);
	if (kind == 'w' && i + 1 < e->n_args)
		return put_bytes(q, h->step, process, value, e->args[i + 1], false, out, err);
	if (kind == 'r' && e->has_ret && !has_failed)
		return put_bytes(q, h->step + 1, process, value, e->ret, false, out, err);
	if (put_flags(ts_query_regset(q)->arch, kind, value, out))
		return true;
	if (kind == 'f' && (int32_t)value == AT_FDCWD)
		ts_buf_puts(out, "AT_FDCWD");
	else if (kind == 'l' && is_wide(q))
		ts_buf_printf(out, "%" PRId64, (int64_t)value);
	else if (kind == 'P')
		ts_buf_printf(out, "0x%" PRIx64, value << 12);
	else if (kind == 'd' || kind == 'f' || kind == 'l' || kind == 'g')
		ts_buf_printf(out, "%" PRId32, (int32_t)value);
	else if (kind == 'u' || kind == 'q')
		ts_buf_printf(out, "%" PRIu64, value);
	else
		ts_buf_printf(out, "0x%" PRIx64, value);
	return true;
}

bool ts_syscall_text(struct ts_query *q, const struct ts_event_at *h, const char *name, const char *error,
		     struct ts_buf *out, struct ts_error *err)
{
	const struct ts_event *e = &h->event;
	const char *arguments = arguments_of(q, name);

	if (!arguments)
		return true;
	ts_buf_printf(out, "%s(", name);
	for (unsigned i = 0; arguments[i] && i < e->n_args; i++) {
		char kind = arguments[i];

		if (kind == 'X')
			kind = fcntl_kind(ts_query_regset(q)->arch, e->args[1]);
		if (!kind)
			break;
		if (kind == 'c' && !creates(ts_query_regset(q)->arch, e->args[i - 1]))
			break;
		ts_buf_puts(out, i ? ", " : "");
		if (!put_argument(q, h, i, kind == 'c' ? 'e' : kind, error != NULL, out, err))
			return false;
	}
	if (error)
		ts_buf_printf(out, ") = -1 %s", error);
	else if (e->has_ret && e->ret <= INT32_MAX && strncmp(name, "mmap", 4) != 0 && strcmp(name, "brk") != 0)
		ts_buf_printf(out, ") = %" PRIu64, e->ret);
	else if (e->has_ret)
		ts_buf_printf(out, ") = 0x%" PRIx64, e->ret);
	else
		ts_buf_puts(out, ")");
	return true;
}
