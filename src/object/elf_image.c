/* SPDX-License-Identifier: MIT */
#include "elf_image.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/cursor.h"
#include "prot.h"

/* A program has some ten program headers. */
#define MAX_HEADERS (UINT64_C(1) << 18)

static uint32_t prot_of(uint32_t flags)
{
	return (flags & PF_R ? TS_PROT_READ : 0) | (flags & PF_W ? TS_PROT_WRITE : 0) |
	       (flags & PF_X ? TS_PROT_EXEC : 0);
}

static uint64_t take(const struct ts_elf *elf, struct ts_cursor *c, size_t len)
{
	const uint8_t *p = ts_take(c, len);

	return p ? ts_number(p, len, elf->is_big_endian) : 0;
}

static uint64_t take_word(const struct ts_elf *elf, struct ts_cursor *c)
{
	return take(elf, c, elf->is_64 ? 8 : 4);
}

static unsigned header_len(const struct ts_elf *elf)
{
	return elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
}

bool ts_elf_read_header(const struct ts_elf *elf, const struct ts_source *src, uint64_t i, struct ts_elf_header *h,
			struct ts_error *err)
{
	uint64_t at = elf->headers_off + i * header_len(elf);
	uint8_t bytes[sizeof(Elf64_Phdr)];
	struct ts_cursor c = ts_cursor(bytes, header_len(elf), at, "ELF program header", err);
	uint32_t flags = 0;

	if (!ts_source_read_all(src, at, bytes, header_len(elf), err))
		return false;
	*h = (struct ts_elf_header){ .type = (uint32_t)take(elf, &c, 4) };
	if (elf->is_64)
		flags = (uint32_t)take(elf, &c, 4);
	h->off = take_word(elf, &c);
	h->addr = take_word(elf, &c);
	take_word(elf, &c); /* physical address */
	h->file_len = take_word(elf, &c);
	h->mem_len = take_word(elf, &c);
	if (!elf->is_64)
		flags = (uint32_t)take(elf, &c, 4);
	h->align = take_word(elf, &c);
	h->prot = prot_of(flags);
	return ts_ok(&c);
}

/* More than 65,534 program headers are counted in the first section header. */
static bool count_headers(struct ts_elf *elf, const struct ts_source *src, struct ts_error *err)
{
	unsigned at = elf->is_64 ? offsetof(Elf64_Shdr, sh_info) : offsetof(Elf32_Shdr, sh_info);
	uint8_t bytes[sizeof(Elf64_Shdr)];

	if (!ts_source_read_all(src, elf->sections_off, bytes, at + 4, err))
		return ts_fail_prefix(err, "the number of program headers");
	elf->n_headers = ts_number(bytes + at, 4, elf->is_big_endian);
	return true;
}

static bool read_ident(struct ts_elf *elf, const uint8_t *ident, size_t len, struct ts_error *err)
{
	if (len < EI_NIDENT || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return ts_fail(err, TS_EUNSUPPORTED, 0, "not an ELF file");
	if (ident[EI_CLASS] < ELFCLASS32 || ident[EI_CLASS] > ELFCLASS64 || ident[EI_DATA] < ELFDATA2LSB ||
	    ident[EI_DATA] > ELFDATA2MSB)
		return ts_fail(err, TS_ECORRUPT, EI_CLASS, "ELF of class %u and byte order %u", ident[EI_CLASS],
			       ident[EI_DATA]);
	elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
	elf->is_big_endian = ident[EI_DATA] == ELFDATA2MSB;
	return true;
}

bool ts_elf_read_head(struct ts_elf *elf, const struct ts_source *src, struct ts_error *err)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)];
	uint64_t file_len = ts_source_len(src);
	unsigned entry_len, section_len;
	struct ts_cursor c;
	size_t got;

	*elf = (struct ts_elf){ 0 };
	if (!ts_source_read(src, 0, bytes, sizeof(bytes), &got, err) || !read_ident(elf, bytes, got, err))
		return false;
	if (got < (elf->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return ts_fail(err, TS_ETRUNC, 0, "no whole ELF header: the file has %zu bytes", got);
	c = ts_cursor(bytes, got, 0, "ELF header", err);
	ts_take(&c, EI_NIDENT);
	elf->type = (uint16_t)take(elf, &c, 2);
	elf->machine = (uint16_t)take(elf, &c, 2);
	take(elf, &c, 4); /* version */
	elf->entry = take_word(elf, &c);
	elf->headers_off = take_word(elf, &c);
	elf->sections_off = take_word(elf, &c);
	take(elf, &c, 4); /* flags */
	take(elf, &c, 2); /* the header's own length */
	entry_len = (unsigned)take(elf, &c, 2);
	elf->n_headers = take(elf, &c, 2);
	section_len = (unsigned)take(elf, &c, 2);
	elf->n_sections = (uint16_t)take(elf, &c, 2);
	elf->names = (uint16_t)take(elf, &c, 2);
	if (section_len != (elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		elf->n_sections = 0;
	if (elf->n_headers && entry_len != header_len(elf))
		return ts_fail(err, TS_ECORRUPT, 0, "ELF program headers of %u bytes", entry_len);
	if (elf->n_headers == PN_XNUM && !count_headers(elf, src, err))
		return false;
	if (elf->headers_off > file_len || elf->n_headers > (file_len - elf->headers_off) / header_len(elf))
		return ts_fail(err, TS_ETRUNC, 0,
			       "%" PRIu64 " ELF program headers at 0x%" PRIx64 " pass the end of the file",
			       elf->n_headers, elf->headers_off);
	return ts_ok(&c);
}

/* Enter a program header: a PT_LOAD, the PT_DYNAMIC, the PT_TLS. */
static bool add_header(struct ts_elf *elf, const struct ts_elf_header *h, uint64_t file_len, struct ts_error *err)
{
	struct ts_elf_load load = { h->addr, h->mem_len, h->off, h->file_len, h->prot };
	uint64_t end;

	if (h->type == PT_DYNAMIC) {
		elf->dynamic = load.addr;
		elf->has_dynamic = true;
	}
	if (h->type == PT_TLS) {
		elf->tls_len = h->mem_len;
		elf->tls_align = h->align ? h->align : 1;
	}
	if (h->type != PT_LOAD)
		return true;
	if (load.file_len > load.mem_len || !ts_add(load.file_off, load.file_len, &end) ||
	    (load.mem_len && !ts_add(load.addr, load.mem_len - 1, &end)))
		return ts_fail(err, TS_ECORRUPT, elf->headers_off,
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

bool ts_elf_init(struct ts_elf *elf, const struct ts_source *src, struct ts_error *err)
{
	bool done = true;

	if (!ts_elf_read_head(elf, src, err))
		return false;
	if (elf->n_headers > MAX_HEADERS)
		return ts_fail(err, TS_ELIMIT, 0, "%" PRIu64 " ELF program headers", elf->n_headers);
	elf->loads = calloc((size_t)elf->n_headers + 1, sizeof(*elf->loads));
	if (!elf->loads)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for %" PRIu64 " program headers", elf->n_headers);
	for (uint64_t i = 0; done && i < elf->n_headers; i++) {
		struct ts_elf_header h;

		done = ts_elf_read_header(elf, src, i, &h, err) && add_header(elf, &h, ts_source_len(src), err);
	}
	if (!done)
		ts_elf_fini(elf);
	return done;
}

void ts_elf_fini(struct ts_elf *elf)
{
	free(elf->loads);
	*elf = (struct ts_elf){ 0 };
}

const struct ts_arch *ts_elf_arch(const struct ts_elf *elf)
{
	/* names without a byte order have both */
	static const struct {
		uint16_t machine;
		bool is_64;
		const char *arch;
	} arches[] = {
		{ EM_X86_64, true, "x86_64" }, { EM_386, false, "i386" },        { EM_ARM, false, "arm" },
		{ EM_AARCH64, true, "aarch64" }, { EM_MIPS, false, "mips" },     { EM_MIPS, true, "mips64" },
		{ EM_SPARC, false, "sparc" },  { EM_SPARC32PLUS, false, "sparc" }, { EM_SPARCV9, true, "sparc64" },
		{ EM_68K, false, "m68k" },     { EM_PPC, false, "ppc" },         { EM_PPC64, true, "ppc64" },
		{ EM_RISCV, false, "riscv32" }, { EM_RISCV, true, "riscv64" },   { EM_S390, false, "s390" },
		{ EM_S390, true, "s390x" },
	};

	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		if (arches[i].machine == elf->machine && arches[i].is_64 == elf->is_64)
			return ts_arch_in_order(ts_arch_find(arches[i].arch), elf->is_big_endian);
	}
	return NULL;
}
