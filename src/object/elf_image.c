/* SPDX-License-Identifier: MIT */
#include "elf_image.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cursor.h"
#include "prot.h"

/* Program headers lie near the beginning of a file; no more of it is read for them than this. */
#define MAX_HEAD (UINT64_C(16) << 20)

static uint32_t prot_of(uint32_t flags)
{
	return (flags & 4 ? TS_PROT_READ : 0) | (flags & 2 ? TS_PROT_WRITE : 0) |
	       (flags & 1 ? TS_PROT_EXEC : 0);
}

/* Enter one program header, which is at @at: a PT_LOAD, or the PT_DYNAMIC. */
static bool add_header(struct ts_elf *elf, const GElf_Phdr *h, uint64_t at, uint64_t file_len,
		       struct ts_error *err)
{
	struct ts_elf_load load = {
		.addr = h->p_vaddr,
		.mem_len = h->p_memsz,
		.file_off = h->p_offset,
		.file_len = h->p_filesz,
		.prot = prot_of(h->p_flags),
	};
	uint64_t end;

	if (h->p_type == PT_DYNAMIC) {
		elf->dynamic = load.addr;
		elf->has_dynamic = true;
	}
	if (h->p_type == PT_TLS) {
		elf->tls_len = h->p_memsz;
		elf->tls_align = h->p_align ? h->p_align : 1;
	}
	if (h->p_type != PT_LOAD)
		return true;
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

/* libelf's view of the first @len bytes, NULL with the reason in @err. */
static Elf *open_head(uint8_t *bytes, size_t len, GElf_Ehdr *header, struct ts_error *err)
{
	Elf *e;

	elf_version(EV_CURRENT);
	e = elf_memory((char *)bytes, len);
	if (e && gelf_getehdr(e, header))
		return e;
	elf_end(e);
	ts_fail(err, TS_ETRUNC, 0, "no whole ELF header: %s", elf_errmsg(-1));
	return NULL;
}

static bool read_header(struct ts_elf *elf, const struct ts_source *src, GElf_Ehdr *header,
			struct ts_error *err)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)];
	size_t got;
	Elf *e;

	if (!ts_source_read(src, 0, bytes, sizeof(bytes), &got, err))
		return false;
	if (got < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return ts_fail(err, TS_EUNSUPPORTED, 0, "not an ELF file");
	if (bytes[EI_CLASS] < ELFCLASS32 || bytes[EI_CLASS] > ELFCLASS64 || bytes[EI_DATA] < ELFDATA2LSB ||
	    bytes[EI_DATA] > ELFDATA2MSB)
		return ts_fail(err, TS_ECORRUPT, EI_CLASS, "ELF of class %u and byte order %u",
			       bytes[EI_CLASS], bytes[EI_DATA]);
	e = open_head(bytes, got, header, err);
	if (!e)
		return false;
	elf_end(e);
	elf->is_64 = bytes[EI_CLASS] == ELFCLASS64;
	elf->is_big_endian = bytes[EI_DATA] == ELFDATA2MSB;
	elf->type = header->e_type;
	elf->machine = header->e_machine;
	elf->entry = header->e_entry;
	return true;
}

/* @bytes are the file up to the end of its program headers. */
static bool read_headers(struct ts_elf *elf, uint8_t *bytes, size_t len, uint64_t file_len,
			 struct ts_error *err)
{
	GElf_Ehdr header;
	Elf *e = open_head(bytes, len, &header, err);
	bool done = e != NULL;

	for (int i = 0; done && i < header.e_phnum; i++) {
		GElf_Phdr h;
		uint64_t at = header.e_phoff + (uint64_t)i * header.e_phentsize;

		done = gelf_getphdr(e, i, &h) ? add_header(elf, &h, at, file_len, err)
					      : ts_fail(err, TS_ECORRUPT, at, "ELF program header %d: %s", i,
							elf_errmsg(-1));
	}
	elf_end(e);
	return done;
}

static bool check_table(const struct ts_elf *elf, const GElf_Ehdr *h, uint64_t file_len, uint64_t *end,
			struct ts_error *err)
{
	uint64_t len = (uint64_t)h->e_phnum * h->e_phentsize;

	*end = 0;
	if (h->e_phnum && h->e_phentsize != (elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return ts_fail(err, TS_ECORRUPT, 0, "ELF program headers of %u bytes", h->e_phentsize);
	if (h->e_phoff > file_len || len > file_len - h->e_phoff)
		return ts_fail(err, TS_ETRUNC, 0,
			       "%u ELF program headers at 0x%" PRIx64 " pass the end of the file", h->e_phnum,
			       h->e_phoff);
	*end = h->e_phoff + len;
	if (*end > MAX_HEAD)
		return ts_fail(err, TS_ELIMIT, 0, "ELF program headers at 0x%" PRIx64, h->e_phoff);
	return true;
}

bool ts_elf_init(struct ts_elf *elf, const struct ts_source *src, struct ts_error *err)
{
	uint64_t file_len = ts_source_len(src), end;
	GElf_Ehdr header = { 0 };
	uint8_t *bytes;
	bool done;

	*elf = (struct ts_elf){ 0 };
	if (!read_header(elf, src, &header, err) || !check_table(elf, &header, file_len, &end, err))
		return false;
	if (!header.e_phnum)
		return true;
	bytes = malloc((size_t)end);
	elf->loads = calloc(header.e_phnum, sizeof(*elf->loads));
	if (!bytes || !elf->loads)
		done = ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for %u program headers", header.e_phnum);
	else
		done = ts_source_read_all(src, 0, bytes, (size_t)end, err) &&
		       read_headers(elf, bytes, (size_t)end, file_len, err);
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
