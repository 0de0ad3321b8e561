/* SPDX-License-Identifier: MIT */
#include "qemu9.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest.h"

#define MAX_SEGMENTS 64u

/* The plugin API's description of a register. */
struct register_name {
	struct qemu_plugin_register *handle;
	const char *name, *feature;
};

/* glib's. */
struct register_names {
	struct register_name *of;
	unsigned n;
};

/* The loaded or stored value, in the byte order of this machine.  The callback has its length. */
struct memory_value {
	int type;
	uint64_t words[2]; /* low, high */
};

struct register_names *qemu_plugin_get_registers(void);
struct memory_value qemu_plugin_mem_get_value(uint32_t info);
int qemu_plugin_read_register(struct qemu_plugin_register *handle, struct qemu_bytes *to);
bool qemu_plugin_read_memory_vaddr(uint64_t addr, struct qemu_bytes *to, size_t len);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t len);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
struct qemu_bytes *g_byte_array_new(void);
struct qemu_bytes *g_byte_array_set_size(struct qemu_bytes *bytes, unsigned len);

const int ts_qemu_insn_flags = QEMU_PLUGIN_CB_R_REGS;

static uintptr_t guest_base;
static bool has_guest_base;

static struct register_names *names;
static bool is_big_endian;
static struct qemu_bytes *scratch;

const char *ts_qemu_find(const struct ts_guest *guest)
{
	ts_guest_base = &guest_base;
	scratch = g_byte_array_new();
	is_big_endian = guest->is_big_endian;
	return guest->is_mips ? "QEMU names no registers of MIPS to plugins; QEMU 7.2 of Debian 12 lets them be found" : NULL;
}

/* Nothing to find: this version writes frames where no callback sees it. */
const char *ts_qemu_begin(void *)
{
	return NULL;
}

void *ts_qemu_current_cpu(void)
{
	return NULL;
}

/* Instructions lie where memory does: the difference is the same for all of them. */
void ts_qemu_insn_bytes(const struct qemu_plugin_insn *insn, uint8_t *bytes, size_t cap)
{
	const uint8_t *host = has_guest_base ? NULL : qemu_plugin_insn_haddr(insn);

	if (host) {
		guest_base = (uintptr_t)host - qemu_plugin_insn_vaddr(insn);
		has_guest_base = true;
	}
	qemu_plugin_insn_data(insn, bytes, cap);
}

const uint8_t *ts_qemu_loaded(uint32_t info, uint64_t, uint8_t bytes[16])
{
	struct memory_value value = qemu_plugin_mem_get_value(info);
	unsigned len = 1u << qemu_plugin_mem_size_shift(info);

	for (unsigned i = 0; i < len && i < 16; i++) {
		unsigned k = is_big_endian ? len - 1 - i : i;

		bytes[i] = (uint8_t)(value.words[k / 8] >> 8 * (k % 8));
	}
	return bytes;
}

void ts_qemu_leave(void *)
{
}

/* -------------------------------------------------------------------------------- registers */

struct qemu_plugin_register *ts_qemu_register(const char *name)
{
	if (!names)
		names = qemu_plugin_get_registers();
	for (unsigned i = 0; i < names->n; i++) {
		if (strcmp(names->of[i].name, name) == 0)
			return names->of[i].handle;
	}
	return NULL;
}

static unsigned take(uint8_t *bytes, unsigned cap)
{
	unsigned n = scratch->len < cap ? scratch->len : cap;

	memcpy(bytes, scratch->data, n);
	g_byte_array_set_size(scratch, 0);
	return n;
}

unsigned ts_qemu_register_bytes(struct qemu_plugin_register *reg, uint8_t *bytes, unsigned cap)
{
	qemu_plugin_read_register(reg, scratch);
	return take(bytes, cap);
}

/* -------------------------------------------------------------------------------- pages */

/* The executable parts of the ELF file that was examined last. */
static struct {
	char file[4096];
	unsigned n;
	struct {
		uint64_t start, end;
	} code[MAX_SEGMENTS];
} image;

static uint64_t field(const uint8_t *at, unsigned len, bool is_big)
{
	uint64_t val = 0;

	for (unsigned i = 0; i < len; i++)
		val |= (uint64_t)at[i] << 8 * (is_big ? len - 1 - i : i);
	return val;
}

static void add_segment(const uint8_t *p, bool is_64, bool is_big)
{
	uint64_t flags = field(p + (is_64 ? 4 : 24), 4, is_big);
	uint64_t off = is_64 ? field(p + 8, 8, is_big) : field(p + 4, 4, is_big);
	uint64_t len = is_64 ? field(p + 32, 8, is_big) : field(p + 16, 4, is_big);

	if (field(p, 4, is_big) != PT_LOAD || !(flags & PF_X) || image.n == MAX_SEGMENTS)
		return;
	image.code[image.n].start = off;
	image.code[image.n++].end = off + len;
}

static void read_segments(int fd)
{
	uint8_t head[64] = { 0 }, segment[64];
	bool is_64, is_big;
	uint64_t at, n, len;

	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return;
	is_64 = head[EI_CLASS] == ELFCLASS64;
	is_big = head[EI_DATA] == ELFDATA2MSB;
	at = is_64 ? field(head + 32, 8, is_big) : field(head + 28, 4, is_big);
	len = field(head + (is_64 ? 54 : 42), 2, is_big);
	n = field(head + (is_64 ? 56 : 44), 2, is_big);
	for (uint64_t i = 0; i < n && i < MAX_SEGMENTS && len <= sizeof(segment); i++) {
		memset(segment, 0, sizeof(segment));
		if (pread(fd, segment, len, (off_t)(at + i * len)) == (ssize_t)len)
			add_segment(segment, is_64, is_big);
	}
}

/*
 * Is the page at @off of @file executable according to its program headers?  The plugin API does not report
 * the permissions of pages.
 */
static bool is_code(const char *file, uint64_t off)
{
	if (!*file || strlen(file) >= sizeof(image.file))
		return false;
	if (strcmp(file, image.file) != 0) {
		int fd = open(file, O_RDONLY | O_CLOEXEC);

		strcpy(image.file, file);
		image.n = 0;
		if (fd >= 0) {
			read_segments(fd);
			close(fd);
		}
	}
	for (unsigned i = 0; i < image.n; i++) {
		if (off + 4096 > image.code[i].start && off < image.code[i].end)
			return true;
	}
	return false;
}

/* Can the page be read, that is: does it not lie after the end of its file? */
static bool is_backed(uint64_t addr)
{
	uint8_t byte;
	struct iovec here = { &byte, 1 }, there = { ts_host(addr), 1 };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

/*
 * The program's pages can be read by the API; others of this process cannot.  A mapping of a file is the
 * program's as a whole or not at all, and QEMU itself must not touch those of its pages that the file does
 * not reach.
 */
int ts_qemu_page(uint64_t addr, const struct ts_mapping *m, uint64_t from)
{
	uint64_t asked = *m->file ? addr - from : addr;
	bool is_readable = m->perms[0] == 'r', is_there;
	int flags = QEMU_PAGE_VALID;

	if (is_readable && *m->file && !is_backed(asked))
		return 0;
	is_there = qemu_plugin_read_memory_vaddr(asked, scratch, 1);
	g_byte_array_set_size(scratch, 0);
	if (!is_there)
		return 0;
	if (is_readable)
		flags |= QEMU_PAGE_R | (is_code(m->file, m->off + from) ? QEMU_PAGE_X : 0);
	return m->perms[1] == 'w' ? flags | QEMU_PAGE_W : flags;
}
