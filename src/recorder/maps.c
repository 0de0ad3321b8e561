/* SPDX-License-Identifier: MIT */
#include "maps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loaders/usercorn/op_write.h"
#include "out.h"
#include "qemu.h"
#include "src/record/resident.h"
#include "src/record/shadow.h"
#include "thread.h"

#define PAGE 4096u
#define MAX_FILE (UINT64_C(64) << 20)     /* contents of a larger file mapping are unknown */
#define MAX_COMPARED (UINT64_C(256) << 20) /* resident; above it all memory is not compared */
#define MAX_RESERVED (UINT64_C(1) << 30)   /* an inaccessible mapping of the emulator's: not examined by pages */

struct region {
	uint64_t start, end, file_off;
	uint8_t prot;
	bool is_shared;   /* of a file: a write to the file changes it */
	const char *file; /* in the text that they were parsed from; "" */
};

/* One reading of the maps. */
struct maps {
	char *text;             /* owned */
	struct region *regions; /* owned; by address */
	size_t n, cap;
};

static struct maps now;
static struct {
	uint64_t start, end;
} unknown[256];
static unsigned n_unknown;

/* -------------------------------------------------------------------------------- reading maps */

static char *read_text(const char *path)
{
	size_t len = 0, cap = 1 << 16;
	char *text = malloc(cap + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : 1;

	while (text && got > 0) {
		if (cap - len < 4096) {
			char *more = realloc(text, 2 * cap + 1);

			if (!more)
				break;
			text = more;
			cap *= 2;
		}
		got = read(fd, text + len, cap - len);
		len += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[len] = '\0';
	return text;
}

static void add_region(struct maps *m, const struct region *r)
{
	struct region *last = m->n ? &m->regions[m->n - 1] : NULL;

	if (last && last->end == r->start && last->prot == r->prot && !*last->file && !*r->file) {
		last->end = r->end;
		return;
	}
	if (m->n == m->cap) {
		size_t cap = m->cap ? 2 * m->cap : 64;
		struct region *regions = realloc(m->regions, cap * sizeof(*regions));

		if (!regions)
			return;
		m->regions = regions;
		m->cap = cap;
	}
	m->regions[m->n++] = *r;
}

/* Add the program's pages of one mapping of this process. */
static void add_line(struct maps *m, uint64_t start, uint64_t end, const struct ts_mapping *line)
{
	struct region r = { .file = line->file, .is_shared = line->perms[3] == 's' && *line->file };

	for (uint64_t addr = start, copies; addr < end; addr += copies ? copies : PAGE) {
		int flags;
		uint8_t prot;

		copies = ts_shadow_left(ts_host(addr));
		flags = copies ? 0 : ts_qemu_page(addr, line, addr - start);
		prot = (uint8_t)(flags & (QEMU_PAGE_R | QEMU_PAGE_W | QEMU_PAGE_X));

		if (r.end > r.start && (!(flags & QEMU_PAGE_VALID) || prot != r.prot)) {
			add_region(m, &r);
			r.end = r.start = 0;
		}
		if (!(flags & QEMU_PAGE_VALID))
			continue;
		if (r.end == r.start) {
			r.start = addr;
			r.file_off = *line->file ? line->off + (addr - start) : 0;
			r.prot = prot;
		}
		r.end = addr + PAGE;
	}
	if (r.end > r.start)
		add_region(m, &r);
}

static void parse_line(struct maps *m, char *line, uint64_t addr_max)
{
	uint64_t base = *ts_guest_base, start, end;
	struct ts_mapping mapping;
	int name = 0;

	/* NOLINTNEXTLINE(cert-err34-c): the kernel writes it */
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start, &end, mapping.perms,
		   &mapping.off, &name) < 4)
		return;
	if (end <= base || start - base > addr_max || start < base)
		return;
	if (mapping.perms[0] == '-' && mapping.perms[1] == '-' && end - start > MAX_RESERVED)
		return;
	mapping.file = line[name] == '/' ? line + name : "";
	if (end - base - 1 > addr_max)
		end = base + addr_max + 1;
	add_line(m, start - base, end - base, &mapping);
}

static void read_maps(struct maps *m, uint64_t addr_max)
{
	char *line, *rest;

	*m = (struct maps){ .text = read_text("/proc/self/maps") };
	for (line = m->text ? strtok_r(m->text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
		parse_line(m, line, addr_max);
}

/* -------------------------------------------------------------------------------- unknown files */

bool ts_maps_is_unknown(uint64_t addr)
{
	for (unsigned i = 0; i < n_unknown; i++) {
		if (addr >= unknown[i].start && addr < unknown[i].end)
			return true;
	}
	return false;
}

static void forget(struct ts_op_piece *p, uint64_t start, uint64_t end)
{
	ts_op_piece_range(p, UCIR_FORGET, start, end);
	if (n_unknown < sizeof(unknown) / sizeof(unknown[0])) {
		unknown[n_unknown].start = start;
		unknown[n_unknown++].end = end;
	}
}

/* -------------------------------------------------------------------------------- contents */

bool ts_maps_read(uint64_t addr, void *to, size_t len)
{
	struct iovec here = { to, len }, there = { ts_host(addr), len };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)len;
}

typedef void visitor(struct ts_op_piece *p, uint64_t page);

/* Visit those pages of [@start, @end) that can hold something: all of them if @is_all. */
static uint64_t visit_pages(struct ts_op_piece *p, uint64_t start, uint64_t end, bool is_all, visitor *visit)
{
	int fd = is_all ? -1 : ts_resident_open();
	uint64_t entries[TS_RESIDENT_N], n_resident = 0;

	for (uint64_t addr = start; addr < end; addr += PAGE * TS_RESIDENT_N) {
		uint64_t left = (end - addr) / PAGE, n = left < TS_RESIDENT_N ? left : TS_RESIDENT_N;

		ts_resident_read(fd, ts_host(addr), n, entries);
		for (uint64_t i = 0; i < n; i++) {
			if (!ts_resident_is(entries[i]))
				continue;
			n_resident++;
			if (visit)
				visit(p, addr + i * PAGE);
		}
	}
	if (fd >= 0)
		close(fd);
	return n_resident;
}

static void visit_new_page(struct ts_op_piece *p, uint64_t addr)
{
	uint8_t page[PAGE];

	if (ts_maps_read(addr, page, PAGE))
		ts_op_piece_differences(p, addr, page, PAGE);
}

/* The page is resident, so it can be read directly. */
static void visit_old_page(struct ts_op_piece *p, uint64_t addr)
{
	ts_op_piece_differences(p, addr, ts_host(addr), PAGE);
}

/*
 * Compare pages that are in the shadow and not resident: the kernel has discarded them (MADV_DONTNEED, a hole in a file),
 * and they have zeros or the file's bytes.
 */
static void compare_gone(struct ts_op_piece *p, uint64_t addr, uint64_t n, const uint64_t *entries, int fd)
{
	const uint8_t *shadow = ts_shadow_peek(addr);
	uint64_t of_shadow[TS_RESIDENT_N];

	if (!shadow)
		return;
	ts_resident_read(fd, shadow, n, of_shadow);
	for (uint64_t i = 0; i < n; i++) {
		if (!ts_resident_is(entries[i]) && ts_resident_is(of_shadow[i]))
			visit_new_page(p, addr + i * PAGE);
	}
}

/* Add a WRITE for each piece of [@start, @end), pages of one region, that differs from the shadow. */
static void compare_pages(struct ts_op_piece *p, uint64_t start, uint64_t end)
{
	int fd = ts_resident_open();
	uint64_t entries[TS_RESIDENT_N], n;

	for (uint64_t addr = start; addr < end; addr += n * PAGE) {
		n = ts_shadow_run(addr, end - addr) / PAGE;
		n = n < TS_RESIDENT_N ? n : TS_RESIDENT_N;
		ts_resident_read(fd, ts_host(addr), n, entries);
		for (uint64_t i = 0; i < n && fd >= 0; i++) {
			if (ts_resident_is(entries[i]))
				visit_old_page(p, addr + i * PAGE);
		}
		if (fd >= 0)
			compare_gone(p, addr, n, entries, fd);
	}
	if (fd >= 0)
		close(fd);
	else
		visit_pages(p, start, end, true, visit_new_page);
}

/* -------------------------------------------------------------------------------- changes of maps */

static void add_contents(struct ts_op_piece *p, const struct region *r, uint64_t start, uint64_t end)
{
	ts_shadow_clear(start, end - start);
	if (!(r->prot & QEMU_PAGE_R))
		return;
	if (*r->file && r->end - r->start > MAX_FILE)
		forget(p, start, end);
	else
		visit_pages(p, start, end, *r->file, visit_new_page);
}

static void tell_code_file(const struct region *r)
{
	if (r->prot & QEMU_PAGE_X && *r->file)
		ts_out_code_file(r->file);
}

static void add_map(struct ts_op_piece *p, const struct region *r, uint64_t start, uint64_t end, uint64_t sp)
{
	struct ts_region part = { .start = start, .end = end, .prot = r->prot,
				  .file_off = *r->file ? r->file_off + (start - r->start) : 0,
				  .is_stack = sp >= r->start && sp < r->end && !*r->file };

	ts_op_piece_map(p, &part, r->file);
	add_contents(p, r, start, end);
	tell_code_file(r);
}

static void add_unmap(struct ts_op_piece *p, uint64_t start, uint64_t end)
{
	ts_op_piece_range(p, UCIR_UNMAP, start, end);
	ts_shadow_clear(start, end - start);
}

static void add_prot(struct ts_op_piece *p, const struct region *r, const struct region *old, uint64_t start,
		     uint64_t end)
{
	ts_op_piece_prot(p, start, end, r->prot);
	if (r->prot & QEMU_PAGE_R && !(old->prot & QEMU_PAGE_R))
		add_contents(p, r, start, end);
	tell_code_file(r);
}

static bool is_same_object(const struct region *a, const struct region *b)
{
	return strcmp(a->file, b->file) == 0 &&
	       (!*a->file || a->start - a->file_off == b->start - b->file_off);
}

/* Append the change of [@start, @end), which was in @old and is in @r; NULL: it was not, or is not, mapped. */
static void change(struct ts_op_piece *p, const struct region *old, const struct region *r, bool is_fresh,
		   uint64_t start, uint64_t end, uint64_t sp)
{
	if (!r && old)
		add_unmap(p, start, end);
	else if (r && (!old || is_fresh || !is_same_object(old, r)))
		add_map(p, r, start, end, sp);
	else if (r && old->prot != r->prot)
		add_prot(p, r, old, start, end);
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The next address after @addr where a region of @m begins or ends; @i: the region at or after it. */
static uint64_t next_bound(const struct maps *m, size_t i, uint64_t addr)
{
	if (i == m->n)
		return UINT64_MAX;
	return addr < m->regions[i].start ? m->regions[i].start : m->regions[i].end;
}

static const struct region *region_at(const struct maps *m, size_t *i, uint64_t addr)
{
	while (*i < m->n && m->regions[*i].end <= addr)
		++*i;
	return *i < m->n && m->regions[*i].start <= addr ? &m->regions[*i] : NULL;
}

void ts_maps_update(struct ts_op_piece *p, uint64_t fresh, uint64_t len, uint64_t addr_max, uint64_t sp)
{
	uint64_t addr = 0, fresh_end = (fresh + len + PAGE - 1) & ~(uint64_t)(PAGE - 1), end;
	struct maps old = now;
	size_t i = 0, k = 0;

	read_maps(&now, addr_max);
	while (i < old.n || k < now.n) {
		const struct region *before = region_at(&old, &i, addr), *after = region_at(&now, &k, addr);
		bool is_fresh = len && addr >= fresh && addr < fresh_end;

		end = min(next_bound(&old, i, addr), next_bound(&now, k, addr));
		if (len && addr < fresh)
			end = min(end, fresh);
		else if (is_fresh)
			end = min(end, fresh_end);
		if (end == UINT64_MAX)
			break;
		change(p, before, after, is_fresh, addr, end, sp);
		addr = end;
	}
	free(old.text);
	free(old.regions);
}

/* -------------------------------------------------------------------------------- changes of memory */

/* A shared mapping may change even where it is read only. */
static bool is_compared(const struct region *r)
{
	return r->prot & QEMU_PAGE_R && (r->prot & QEMU_PAGE_W || r->is_shared) && !ts_maps_is_unknown(r->start);
}

static uint64_t n_resident_pages(void)
{
	uint64_t n = 0, mapped = 0;

	for (size_t i = 0; i < now.n; i++) {
		if (is_compared(&now.regions[i]))
			mapped += now.regions[i].end - now.regions[i].start;
	}
	for (size_t i = 0; i < now.n && mapped > MAX_COMPARED; i++) {
		if (is_compared(&now.regions[i]))
			n += visit_pages(NULL, now.regions[i].start, now.regions[i].end, false, NULL);
	}
	return n;
}

static bool is_readable(const struct region *r)
{
	return r->prot & QEMU_PAGE_R && !ts_maps_is_unknown(r->start);
}

static void compare_range(struct ts_op_piece *p, uint64_t addr, uint64_t len, bool is_looked_at(const struct region *r))
{
	uint64_t start = addr & ~(uint64_t)(PAGE - 1), end = (addr + len + PAGE - 1) & ~(uint64_t)(PAGE - 1);

	for (size_t i = 0; i < now.n; i++) {
		const struct region *r = &now.regions[i];
		uint64_t from = start > r->start ? start : r->start, to = min(end, r->end);

		if (is_looked_at(r) && from < to)
			compare_pages(p, from, to);
	}
}

void ts_maps_compare_range(struct ts_op_piece *p, uint64_t addr, uint64_t len)
{
	compare_range(p, addr, len, is_compared);
}

void ts_maps_compare_readable(struct ts_op_piece *p, uint64_t addr, uint64_t len)
{
	compare_range(p, addr, len, is_readable);
}

bool ts_maps_compare(struct ts_op_piece *p)
{
	if (n_resident_pages() > MAX_COMPARED / PAGE)
		return false;
	for (size_t i = 0; i < now.n; i++) {
		if (is_compared(&now.regions[i]))
			compare_pages(p, now.regions[i].start, now.regions[i].end);
	}
	return true;
}

void ts_maps_compare_shared(struct ts_op_piece *p)
{
	for (size_t i = 0; i < now.n; i++) {
		if (now.regions[i].is_shared && is_compared(&now.regions[i]))
			compare_pages(p, now.regions[i].start, now.regions[i].end);
	}
}

static void compare_mappings_of(struct ts_op_piece *p, const char *path)
{
	for (size_t i = 0; i < now.n; i++) {
		const struct region *r = &now.regions[i];

		if (is_readable(r) && strcmp(r->file, path) == 0)
			visit_pages(p, r->start, r->end, true, visit_new_page);
	}
}

void ts_maps_compare_file(struct ts_op_piece *p, int fd)
{
	char link[32], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || *path != '/')
		return;
	path[n] = '\0';
	if (strncmp(path, "/proc/", 6) == 0 && n > 10 && strcmp(path + n - 4, "/mem") == 0)
		ts_maps_compare_readable(p, 0, UINT64_MAX - PAGE); /* offsets in it are addresses */
	else
		compare_mappings_of(p, path);
}

void ts_maps_compare_path(struct ts_op_piece *p, uint64_t path)
{
	char name[4096];
	int fd;

	ts_maps_text(path, name, sizeof(name));
	fd = open(name, O_PATH | O_CLOEXEC); /* the kernel's name of it, also of a file that is deleted */
	if (fd < 0)
		return;
	ts_maps_compare_file(p, fd);
	close(fd);
}

/* The region that contains @addr; NULL if it is not mapped. */
static const struct region *region_of(uint64_t addr)
{
	for (size_t i = 0; i < now.n; i++) {
		if (addr >= now.regions[i].start && addr < now.regions[i].end)
			return &now.regions[i];
	}
	return NULL;
}

/* The part of [@addr, @addr + @len) that is in one region and one window of the shadow; 0: it is not mapped. */
static uint64_t piece_len(uint64_t addr, uint64_t len)
{
	const struct region *r = region_of(addr);

	return r && is_readable(r) ? ts_shadow_run(addr, min(len, r->end - addr)) : 0;
}

void ts_maps_note_written(struct ts_op_piece *p, uint64_t addr, uint64_t len)
{
	uint8_t bytes[PAGE];

	while (len) {
		uint64_t n = piece_len(addr, min(len, PAGE - addr % PAGE));

		if (!n || !ts_maps_read(addr, bytes, n))
			return;
		ts_op_piece_write(p, addr, bytes, (uint32_t)n);
		addr += n;
		len -= n;
	}
}

bool ts_maps_is_mapped(uint64_t addr)
{
	return region_of(addr) != NULL;
}

bool ts_maps_is_readable(uint64_t addr, uint64_t len)
{
	const struct region *r = region_of(addr);

	return r && r->prot & QEMU_PAGE_R && len <= r->end - addr;
}

uint64_t ts_maps_word(uint64_t addr, unsigned len)
{
	uint64_t val = 0;

	if (!ts_maps_is_readable(addr, len))
		return 0;
	for (unsigned i = 0; i < len; i++)
		val |= (uint64_t)*ts_host(addr + i) << 8 * (ts_guest->is_big_endian ? len - 1 - i : i);
	return val;
}

size_t ts_maps_text(uint64_t addr, char *to, size_t cap)
{
	size_t n = 0;

	while (n < cap - 1 && ts_maps_is_readable(addr + n, 1) && *ts_host(addr + n)) {
		to[n] = (char)*ts_host(addr + n);
		n++;
	}
	to[n] = '\0';
	return n;
}
