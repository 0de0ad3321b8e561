/* SPDX-License-Identifier: MIT */
#include "syscall_flags.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

struct flag {
	uint32_t bits;
	const char *name;
};

struct flags {
	uint32_t choice;           /* these bits are one of several values, whose names are in @values */
	const struct flag *values; /* up to one without a name; NULL: there is no choice */
	const struct flag *bits;   /* up to one without a name; NULL: there are no others */
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

static const struct flag map_types[] = {
	{ 1, "MAP_SHARED" }, { 2, "MAP_PRIVATE" }, { 3, "MAP_SHARED_VALIDATE" }, END,
};
static const struct flag map_bits[] = {
	{ 0x10, "MAP_FIXED" }, { 0x20, "MAP_ANONYMOUS" }, { 0x100, "MAP_GROWSDOWN" }, { 0x800, "MAP_DENYWRITE" },
	{ 0x1000, "MAP_EXECUTABLE" }, { 0x2000, "MAP_LOCKED" }, { 0x4000, "MAP_NORESERVE" }, { 0x8000, "MAP_POPULATE" },
	{ 0x10000, "MAP_NONBLOCK" }, { 0x20000, "MAP_STACK" }, { 0x40000, "MAP_HUGETLB" }, { 0x80000, "MAP_SYNC" },
	{ 0x100000, "MAP_FIXED_NOREPLACE" }, END,
};

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
	{ 6, "F_SETLK" }, { 7, "F_SETLKW" }, { 1030, "F_DUPFD_CLOEXEC" }, END,
};

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

/* The numbers of MIPS, PowerPC, SPARC and others are their own. */
static bool is_known(const struct ts_arch *arch)
{
	return is_arm(arch) || is_of(arch, "x86_64") || is_of(arch, "i386") || is_of(arch, "riscv");
}

static struct flags flags_of(const struct ts_arch *arch, char kind)
{
	switch (kind) {
	case 'o': return (struct flags){ 3, open_modes, is_arm(arch) ? open_bits_arm : open_bits };
	case 'p': return (struct flags){ UINT32_MAX, no_protection, protections };
	case 'm': return (struct flags){ 15, map_types, map_bits };
	case 'a': return (struct flags){ UINT32_MAX, no_access, accesses };
	case 'A': return (struct flags){ 0, NULL, at_bits };
	case 'S': return (struct flags){ UINT32_MAX, whences, NULL };
	case 'F': return (struct flags){ UINT32_MAX, commands, NULL };
	case 'n': return (struct flags){ UINT32_MAX, families, NULL };
	case 't': return (struct flags){ 15, types, type_bits };
	default: return (struct flags){ 0, NULL, NULL };
	}
}

static void put(struct ts_buf *out, size_t start, const char *text)
{
	if (out->len > start)
		ts_buf_putc(out, '|');
	ts_buf_puts(out, text);
}

bool ts_syscall_put_flags(const struct ts_arch *arch, char kind, uint64_t value, struct ts_buf *out)
{
	struct flags f = is_known(arch) ? flags_of(arch, kind) : (struct flags){ 0, NULL, NULL };
	uint32_t left = (uint32_t)value;
	size_t start = out->len;

	if (kind == 'e') {
		ts_buf_printf(out, left ? "0%" PRIo32 : "000", left);
		return true;
	}
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

bool ts_syscall_creates(const struct ts_arch *arch, uint64_t flags)
{
	uint32_t o_creat = is_of(arch, "mips") ? 0x100 : is_of(arch, "sparc") ? 0x200 : 0x40;

	return flags & o_creat || flags & 0x400000; /* O_TMPFILE */
}
