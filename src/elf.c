/* SPDX-License-Identifier: MIT */
#include "elf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "step.h"

#define IDENT_LEN 16
#define HEADER_LEN_32 52
#define HEADER_LEN_64 64
#define PHDR_LEN_32 32
#define PHDR_LEN_64 56
#define PT_LOAD 1
#define PT_DYNAMIC 2

/* A cursor that knows the file's class and byte order. */
struct in {
	struct ts_cursor c;
	bool is_64;
	bool is_swapped;
};

static uint16_t half(struct in *in)
{
	uint16_t v = ts_u16le(&in->c);

	return in->is_swapped ? __builtin_bswap16(v) : v;
}

static uint32_t word(struct in *in)
{
	uint32_t v = ts_u32le(&in->c);

	return in->is_swapped ? __builtin_bswap32(v) : v;
}

/* An address, offset or length: as wide as the class. */
static uint64_t wide(struct in *in)
{
	uint64_t v;

	if (!in->is_64)
		return word(in);
	v = ts_u64le(&in->c);
	return in->is_swapped ? __builtin_bswap64(v) : v;
}

/* Where the program headers are. */
struct table {
	uint64_t off;
	uint16_t item_len;
	uint16_t n;
};

static bool read_header(struct ts_elf *elf, const struct ts_source *src, struct table *t,
			struct ts_error *err)
{
	uint8_t bytes[HEADER_LEN_64];
	struct in in = { 0 };
	size_t got;

	if (!ts_source_read(src, 0, bytes, sizeof(bytes), &got, err))
		return false;
	if (got < IDENT_LEN || memcmp(bytes, "\177ELF", 4) != 0)
		return ts_fail(err, TS_EUNSUPPORTED, 0, "not an ELF file");
	if (bytes[4] < 1 || bytes[4] > 2 || bytes[5] < 1 || bytes[5] > 2)
		return ts_fail(err, TS_ECORRUPT, 4, "ELF of class %u and byte order %u", bytes[4], bytes[5]);
	elf->is_64 = in.is_64 = bytes[4] == 2;
	elf->is_big_endian = in.is_swapped = bytes[5] == 2;
	if (got > HEADER_LEN_32 && !elf->is_64)
		got = HEADER_LEN_32;
	in.c = ts_cursor(bytes, got, 0, "ELF header", err);
	ts_take(&in.c, IDENT_LEN);
	elf->type = half(&in);
	elf->machine = half(&in);
	word(&in); /* e_version */
	elf->entry = wide(&in);
	t->off = wide(&in);
	wide(&in); /* e_shoff */
	word(&in); /* e_flags */
	half(&in); /* e_ehsize */
	t->item_len = half(&in);
	t->n = half(&in);
	return ts_ok(&in.c);
}

static uint32_t prot_of(uint32_t flags)
{
	return (flags & 4 ? TS_PROT_READ : 0) | (flags & 2 ? TS_PROT_WRITE : 0) |
	       (flags & 1 ? TS_PROT_EXEC : 0);
}

/* Enter one program header: a PT_LOAD, or the PT_DYNAMIC. */
static bool add_header(struct ts_elf *elf, struct in *in, uint64_t file_len, struct ts_error *err)
{
	uint64_t at = in->c.off, end;
	struct ts_elf_load load = { 0 };
	uint32_t type = word(in), flags = 0;

	if (in->is_64)
		flags = word(in);
	load.file_off = wide(in);
	load.addr = wide(in);
	wide(in); /* p_paddr */
	load.file_len = wide(in);
	load.mem_len = wide(in);
	if (!in->is_64)
		flags = word(in);
	if (type == PT_DYNAMIC) {
		elf->dynamic = load.addr;
		elf->has_dynamic = true;
	}
	if (type != PT_LOAD)
		return true;
	load.prot = prot_of(flags);
	if (load.file_len > load.mem_len || !ts_add(load.file_off, load.file_len, &end) ||
	    (load.mem_len && !ts_add(load.addr, load.mem_len - 1, &end)))
		return ts_fail(err, TS_ECORRUPT, at,
			       "ELF segment at 0x%" PRIx64 " of 0x%" PRIx64 " bytes, 0x%" PRIx64
			       " of them in the file",
			       load.addr, load.mem_len, load.file_len);
	if (load.file_off > file_len)
		load.file_len = 0;
	else if (load.file_len > file_len - load.file_off)
		load.file_len = file_len - load.file_off;
	elf->loads[elf->n_loads++] = load;
	return true;
}

static bool read_headers(struct ts_elf *elf, const struct ts_source *src, const struct table *t, uint8_t *bytes,
		       struct ts_error *err)
{
	size_t len = elf->is_64 ? PHDR_LEN_64 : PHDR_LEN_32;

	for (size_t i = 0; i < t->n; i++) {
		uint64_t at = i * t->item_len;
		struct in in = { .is_64 = elf->is_64, .is_swapped = elf->is_big_endian };

		in.c = ts_cursor(bytes + at, len, t->off + at, "ELF program header", err);
		if (!add_header(elf, &in, ts_source_len(src), err))
			return false;
	}
	return true;
}

bool ts_elf_init(struct ts_elf *elf, const struct ts_source *src, struct ts_error *err)
{
	struct table t = { 0 };
	uint8_t *bytes;
	size_t len;
	bool done;

	*elf = (struct ts_elf){ 0 };
	if (!read_header(elf, src, &t, err))
		return false;
	len = (size_t)t.n * t.item_len;
	if (t.n && t.item_len < (elf->is_64 ? PHDR_LEN_64 : PHDR_LEN_32))
		return ts_fail(err, TS_ECORRUPT, 0, "ELF program headers of %u bytes", t.item_len);
	if (t.off > ts_source_len(src) || len > ts_source_len(src) - t.off)
		return ts_fail(err, TS_ETRUNC, 0,
			       "%u ELF program headers at 0x%" PRIx64 " pass the end of the file", t.n,
			       t.off);
	bytes = malloc(len + 1);
	elf->loads = calloc((size_t)t.n + 1, sizeof(*elf->loads));
	if (!bytes || !elf->loads)
		done = ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for %u program headers", t.n);
	else
		done = ts_source_read_all(src, t.off, bytes, len, err) &&
		       read_headers(elf, src, &t, bytes, err);
	free(bytes);
	if (!done)
		ts_elf_fini(elf);
	return done;
}

void ts_elf_fini(struct ts_elf *elf)
{
	free(elf->loads);
	*elf = (struct ts_elf){ 0 };
}
