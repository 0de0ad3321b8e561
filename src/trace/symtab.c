/* SPDX-License-Identifier: MIT */
/*
 * ELF, from its sections of types 2 (symbols) and 11 (dynamic symbols); each names the section of its texts.
 * PE, from its export directory, at address e relative to the image's base:
 *
 *      offset
 *       e+20   number of addresses (4), number of names (4), the addresses' address (4), the names' (4), the
 *              ordinals' (4); an ordinal (2) a name is the index of its address
 *
 * The optional header says at 96 (32 bits) or 112 (64 bits) where the directory is: address (4), length (4).
 */
#include "symtab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf.h"
#include "pe.h"
#include "src/base/cursor.h"
#include "step.h"

/* A table of symbols or their texts that is longer is not read. */
#define MAX_TABLE (UINT64_C(256) << 20)

/* What a walk is about. */
struct walk {
	const struct ts_source *src;
	void (*use)(void *user, const struct ts_symtab_entry *e);
	void *user;
	struct ts_elf elf;
};

/* Bytes of the file, with a NUL after them; to be freed.  NULL if they are not there. */
static uint8_t *read_bytes(const struct ts_source *src, uint64_t off, uint64_t len)
{
	struct ts_error err;
	uint8_t *bytes;

	ts_error_reset(&err);
	if (len > MAX_TABLE || off > ts_source_len(src) || len > ts_source_len(src) - off)
		return NULL;
	bytes = malloc((size_t)len + 1);
	if (!bytes)
		return NULL;
	bytes[len] = 0;
	if (ts_source_read_all(src, off, bytes, (size_t)len, &err))
		return bytes;
	free(bytes);
	return NULL;
}

/* --------------------------------------------------------------------------------------------------- ELF */

struct section {
	uint32_t type, link;
	uint64_t off, len, entry_len;
};

/* A number of @len bytes of the file's byte order. */
static uint64_t number(const struct ts_elf *elf, const uint8_t *p, unsigned len)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < len; i++)
		n |= (uint64_t)p[i] << 8 * (elf->is_big_endian ? len - 1 - i : i);
	return n;
}

static struct section section_at(const struct ts_elf *elf, const uint8_t *p)
{
	if (elf->is_64)
		return (struct section){ .type = (uint32_t)number(elf, p + 4, 4),
					 .link = (uint32_t)number(elf, p + 40, 4),
					 .off = number(elf, p + 24, 8),
					 .len = number(elf, p + 32, 8),
					 .entry_len = number(elf, p + 56, 8) };
	return (struct section){ .type = (uint32_t)number(elf, p + 4, 4),
				 .link = (uint32_t)number(elf, p + 24, 4),
				 .off = number(elf, p + 16, 4),
				 .len = number(elf, p + 20, 4),
				 .entry_len = number(elf, p + 36, 4) };
}

/* Bytes from @addr to the end of its segment. */
static uint64_t room_in_elf(const struct ts_elf *elf, uint64_t addr)
{
	for (size_t i = 0; i < elf->n_loads; i++) {
		if (addr - elf->loads[i].addr < elf->loads[i].mem_len)
			return elf->loads[i].mem_len - (addr - elf->loads[i].addr);
	}
	return 0;
}

static uint64_t room_in_pe(const struct ts_pe *pe, uint64_t addr)
{
	for (size_t i = 0; i < pe->n_sections; i++) {
		if (addr - pe->sections[i].addr < pe->sections[i].file_len)
			return pe->sections[i].file_len - (addr - pe->sections[i].addr);
	}
	return 0;
}

/* The symbol at @p, whose texts are the @texts_len bytes at @texts. */
static void use_symbol(const struct walk *w, const uint8_t *p, const char *texts, uint64_t texts_len)
{
	const struct ts_elf *elf = &w->elf;
	uint32_t name = (uint32_t)number(elf, p, 4);
	uint8_t info = p[elf->is_64 ? 4 : 12], type = info & 15;
	uint16_t section = (uint16_t)number(elf, p + (elf->is_64 ? 6 : 14), 2);
	struct ts_symtab_entry e = {
		.addr = number(elf, p + (elf->is_64 ? 8 : 4), elf->is_64 ? 8 : 4),
		.len = number(elf, p + (elf->is_64 ? 16 : 8), elf->is_64 ? 8 : 4),
		.is_function = type == STT_FUNC || type == STT_GNU_IFUNC,
	};

	if (section == SHN_UNDEF || section == SHN_ABS || name >= texts_len || !texts[name])
		return;
	if (!e.is_function && type != STT_OBJECT && type != STT_NOTYPE)
		return;
	if (elf->machine == EM_ARM && texts[name] == '$')
		return; /* a mark of the instruction set, not a name */
	if (elf->machine == EM_ARM && e.is_function)
		e.addr &= ~UINT64_C(1);
	e.name = texts + name;
	e.room = room_in_elf(elf, e.addr);
	w->use(w->user, &e);
}

static void use_table(const struct walk *w, const struct section *table, const struct section *strings)
{
	uint64_t entry_len = w->elf.is_64 ? 24 : 16;
	uint8_t *symbols = read_bytes(w->src, table->off, table->len);
	uint8_t *texts = read_bytes(w->src, strings->off, strings->len);

	for (uint64_t at = entry_len; symbols && texts && at + entry_len <= table->len; at += entry_len)
		use_symbol(w, symbols + at, (const char *)texts, strings->len);
	free(symbols);
	free(texts);
}

/* .symtab has what .dynsym has and more: both are walked, equal names at equal places do no harm. */
static void walk_elf(struct walk *w)
{
	const struct ts_elf *elf = &w->elf;
	uint8_t *head = read_bytes(w->src, 0, elf->is_64 ? 64 : 52), *sections = NULL;
	uint64_t off = 0, n = 0, len = 0;

	if (head) {
		off = number(elf, head + (elf->is_64 ? 40 : 32), elf->is_64 ? 8 : 4);
		len = number(elf, head + (elf->is_64 ? 58 : 46), 2);
		n = number(elf, head + (elf->is_64 ? 60 : 48), 2);
	}
	free(head);
	if (len == (elf->is_64 ? 64 : 40))
		sections = read_bytes(w->src, off, n * len);
	for (uint64_t i = 0; sections && i < n; i++) {
		struct section table = section_at(elf, sections + i * len), strings;

		if ((table.type != SHT_SYMTAB && table.type != SHT_DYNSYM) || table.link >= n)
			continue;
		strings = section_at(elf, sections + table.link * len);
		use_table(w, &table, &strings);
	}
	free(sections);
}

/* ---------------------------------------------------------------------------------------------------- PE */

/* The offset in the file of @len bytes at an address relative to the base; UINT64_MAX if it does not hold them. */
static uint64_t pe_offset(const struct ts_pe *pe, uint64_t addr, uint64_t len)
{
	for (size_t i = pe->n_sections; i-- > 0;) {
		const struct ts_pe_section *s = &pe->sections[i];

		if (addr >= s->addr && addr - s->addr <= s->file_len && len <= s->file_len - (addr - s->addr))
			return s->file_off + (addr - s->addr);
	}
	return UINT64_MAX;
}

static uint8_t *read_pe(const struct ts_source *src, const struct ts_pe *pe, uint64_t addr, uint64_t len)
{
	uint64_t off = pe_offset(pe, addr, len);

	return off == UINT64_MAX ? NULL : read_bytes(src, off, len);
}

static uint32_t u32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

#define MAX_NAME 255u

/* A terminated text; false if it is not there. */
static bool read_name(const struct ts_source *src, const struct ts_pe *pe, uint64_t addr, char *name)
{
	uint64_t off = pe_offset(pe, addr, 1);
	struct ts_error err;
	size_t got;

	ts_error_reset(&err);
	if (off == UINT64_MAX || !ts_source_read(src, off, name, MAX_NAME, &got, &err))
		return false;
	name[got] = 0;
	return *name && strlen(name) < got;
}

/* The export directory: address and length; zeros if there is none. */
static bool find_exports(const struct ts_source *src, const struct ts_pe *pe, uint32_t *addr, uint32_t *len)
{
	uint8_t *dos = read_bytes(src, 0, 64), *optional = NULL;
	unsigned at = pe->is_64 ? 112 : 96;

	if (dos)
		optional = read_bytes(src, (uint64_t)u32(dos + 60) + 24, at + 8);
	*addr = optional && u32(optional + at - 4) ? u32(optional + at) : 0;
	*len = optional ? u32(optional + at + 4) : 0;
	free(optional);
	free(dos);
	return *addr && *len;
}

static void walk_pe(const struct walk *w, const struct ts_pe *pe)
{
	uint32_t dir_addr, dir_len, n_addrs, n_names;
	uint8_t *dir = NULL, *addrs = NULL, *names = NULL, *ordinals = NULL;
	char name[MAX_NAME + 1];

	if (find_exports(w->src, pe, &dir_addr, &dir_len))
		dir = read_pe(w->src, pe, dir_addr, 40);
	if (!dir)
		return;
	n_addrs = u32(dir + 20);
	n_names = u32(dir + 24);
	addrs = read_pe(w->src, pe, u32(dir + 28), (uint64_t)n_addrs * 4);
	names = read_pe(w->src, pe, u32(dir + 32), (uint64_t)n_names * 4);
	ordinals = read_pe(w->src, pe, u32(dir + 36), (uint64_t)n_names * 2);
	for (uint64_t i = 0; addrs && names && ordinals && i < n_names; i++) {
		uint32_t ordinal = ordinals[2 * i] | (uint32_t)ordinals[2 * i + 1] << 8;
		struct ts_symtab_entry e = { .name = name, .is_function = true };

		if (ordinal >= n_addrs || !read_name(w->src, pe, u32(names + 4 * i), name))
			continue;
		e.addr = u32(addrs + 4 * (size_t)ordinal);
		if (e.addr - dir_addr < dir_len)
			continue; /* a name of another module's export */
		e.room = room_in_pe(pe, e.addr);
		e.addr += pe->base;
		w->use(w->user, &e);
	}
	free(dir);
	free(addrs);
	free(names);
	free(ordinals);
}

/* ------------------------------------------------------------------------------------------------- files */

void ts_symtab_walk(const struct ts_source *src, void (*use)(void *user, const struct ts_symtab_entry *e),
		    void *user)
{
	struct walk w = { .src = src, .use = use, .user = user };
	struct ts_error err;
	struct ts_pe pe;

	ts_error_reset(&err);
	if (ts_elf_init(&w.elf, src, &err)) {
		walk_elf(&w);
		ts_elf_fini(&w.elf);
		return;
	}
	ts_error_reset(&err);
	if (ts_pe_init(&pe, src, &err)) {
		walk_pe(&w, &pe);
		ts_pe_fini(&pe);
	}
}
