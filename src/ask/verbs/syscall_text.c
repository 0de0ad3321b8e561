/* SPDX-License-Identifier: MIT */
#include "syscall_text.h"

#include <inttypes.h>
#include <string.h>

#include "src/query/paging.h"
#include "syscall_flags.h"

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
 * Other letters are those of ts_syscall_put_flags().
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
	if (ts_syscall_put_flags(ts_query_regset(q)->arch, kind, value, out))
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
			kind = ts_syscall_fcntl_kind(ts_query_regset(q)->arch, e->args[1]);
		if (!kind)
			break;
		if (kind == 'c' && !ts_syscall_creates(ts_query_regset(q)->arch, e->args[i - 1]))
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
