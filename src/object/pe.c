/* SPDX-License-Identifier: MIT */
/*
 *      offset
 *         0   "MZ"; at 0x3c (4) where the next is
 *         p   "PE\0\0"
 *       + 4   machine (2), number of sections n (2), 12 bytes, length o of the optional header (2), flags
 *             (2):
 *            1 if the file has no relocations
 *       +24   optional header: 0x10b (32 bits) or 0x20b (64 bits) (2); entry point at 16 (4); base at 28 (4)
 *             or 24 (8); at 60 (4) how long all headers are
 *       +24+o n sections, 40 bytes each: name (8), length in memory (4), address (4), length in the file (4),
 *             offset in the file (4), 12 bytes, flags (4): 0x20000000 executable, 0x40000000 readable,
 *             0x80000000 writable
 */
#include "pe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cursor.h"
#include "prot.h"

#define DOS_LEN 64
#define COFF_LEN 24
#define SECTION_LEN 40
#define MAGIC_32 0x10b
#define MAGIC_64 0x20b
#define PAGE_LEN UINT64_C(4096)
#define MAX_EXTENT (UINT64_C(1) << 33) /* address and length of a section have 32 bits each */
#define NO_RELOCATIONS 1u
#define SECTION_EXEC 0x20000000u
#define SECTION_READ 0x40000000u
#define SECTION_WRITE 0x80000000u

/* Where the headers are. */
struct table {
	uint64_t off; /* of "PE" */
	uint16_t n;
	uint16_t optional_len;
	uint16_t flags;
};

static bool not_pe(struct ts_error *err)
{
	return ts_fail(err, TS_EUNSUPPORTED, 0, "not a PE file");
}

static bool read_start(const struct ts_source *src, struct table *t, struct ts_error *err)
{
	uint8_t bytes[DOS_LEN], coff[COFF_LEN];
	struct ts_cursor c;
	size_t got;

	if (!ts_source_read(src, 0, bytes, sizeof(bytes), &got, err))
		return false;
	if (got < sizeof(bytes) || memcmp(bytes, "MZ", 2))
		return not_pe(err);
	c = ts_cursor(bytes + 60, 4, 60, "DOS header", err);
	t->off = ts_u32le(&c);
	if (!ts_source_read(src, t->off, coff, sizeof(coff), &got, err))
		return false;
	if (got < 4 || memcmp(coff, "PE\0\0", 4))
		return not_pe(err);
	c = ts_cursor(coff + 4, got - 4, t->off + 4, "PE header", err);
	ts_u16le(&c); /* machine */
	t->n = ts_u16le(&c);
	ts_take(&c, 12);
	t->optional_len = ts_u16le(&c);
	t->flags = ts_u16le(&c);
	return ts_ok(&c);
}

static void add_section(struct ts_pe *pe, uint64_t file_len, uint64_t addr, uint64_t mem_len, uint64_t off,
			uint64_t len, uint32_t prot)
{
	uint64_t most = (mem_len + PAGE_LEN - 1) / PAGE_LEN * PAGE_LEN;

	if (mem_len && len > most)
		len = most;
	if (off > file_len)
		len = 0;
	else if (len > file_len - off)
		len = file_len - off;
	if (len)
		pe->sections[pe->n_sections++] = (struct ts_pe_section){ addr, off, len, prot };
}

static bool read_optional(struct ts_pe *pe, struct ts_cursor c, uint64_t file_len)
{
	uint64_t at = c.off;
	unsigned magic = ts_u16le(&c);

	if (ts_ok(&c) && magic != MAGIC_32 && magic != MAGIC_64)
		return ts_fail(c.err, TS_ECORRUPT, at, "an optional header 0x%x in the PE file", magic);
	pe->is_64 = magic == MAGIC_64;
	ts_take(&c, 14);
	pe->entry = ts_u32le(&c);
	ts_take(&c, pe->is_64 ? 4 : 8);
	pe->base = pe->is_64 ? ts_u64le(&c) : ts_u32le(&c);
	if (pe->base > UINT64_MAX - MAX_EXTENT)
		return ts_fail(c.err, TS_ECORRUPT, at,
			       "an image base 0x%" PRIx64 " at the end of the address space", pe->base);
	ts_take(&c, 28);
	add_section(pe, file_len, 0, 0, 0, ts_u32le(&c), TS_PROT_READ);
	return ts_ok(&c);
}

static uint32_t prot_of(uint32_t flags)
{
	return (flags & SECTION_READ ? TS_PROT_READ : 0) | (flags & SECTION_WRITE ? TS_PROT_WRITE : 0) |
	       (flags & SECTION_EXEC ? TS_PROT_EXEC : 0);
}

static bool read_headers(struct ts_pe *pe, struct ts_cursor *c, const struct table *t, uint64_t file_len)
{
	struct ts_cursor optional = ts_sub(c, t->optional_len, "PE optional header");

	if (!read_optional(pe, optional, file_len))
		return false;
	for (unsigned i = 0; i < t->n; i++) {
		uint64_t mem_len, addr, len, off;
		uint32_t flags;

		ts_take(c, 8);
		mem_len = ts_u32le(c);
		addr = ts_u32le(c);
		len = ts_u32le(c);
		off = ts_u32le(c);
		ts_take(c, 12);
		flags = ts_u32le(c);
		if (!ts_ok(c))
			return false;
		add_section(pe, file_len, addr, mem_len, off, len, prot_of(flags));
	}
	return true;
}

bool ts_pe_init(struct ts_pe *pe, const struct ts_source *src, struct ts_error *err)
{
	struct table t = { 0 };
	struct ts_cursor c;
	uint8_t *bytes;
	size_t len, got;
	bool done;

	*pe = (struct ts_pe){ 0 };
	if (!read_start(src, &t, err))
		return false;
	len = t.optional_len + (size_t)t.n * SECTION_LEN;
	bytes = malloc(len + 1);
	pe->has_relocations = !(t.flags & NO_RELOCATIONS);
	pe->sections = calloc((size_t)t.n + 1, sizeof(*pe->sections));
	if (!bytes || !pe->sections) {
		done = ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for %u sections", t.n);
	} else {
		done = ts_source_read(src, t.off + COFF_LEN, bytes, len, &got, err);
		c = ts_cursor(bytes, done ? got : 0, t.off + COFF_LEN, "PE headers", err);
		done = done && read_headers(pe, &c, &t, ts_source_len(src));
	}
	free(bytes);
	if (!done)
		ts_pe_fini(pe);
	return done;
}

void ts_pe_fini(struct ts_pe *pe)
{
	free(pe->sections);
	*pe = (struct ts_pe){ 0 };
}
