/* SPDX-License-Identifier: MIT */
#include "section.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"

static unsigned header_len(const struct ts_elf *elf)
{
	return elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

/* Returns false if they are not there. */
static bool read_at(const struct ts_source *src, uint64_t off, void *to, size_t len)
{
	struct ts_error ignored = { 0 };

	return ts_source_read_all(src, off, to, len, &ignored);
}

void ts_elf_sections_init(struct ts_elf_sections *s, const struct ts_elf *elf, const struct ts_source *src)
{
	size_t len = (size_t)elf->n_sections * header_len(elf);

	*s = (struct ts_elf_sections){ .elf = elf, .bytes = len ? malloc(len) : NULL };
	if (s->bytes && read_at(src, elf->sections_off, s->bytes, len))
		s->n = elf->n_sections;
}

void ts_elf_sections_fini(struct ts_elf_sections *s)
{
	free(s->bytes);
}

/* System V gABI, chapter 4: offsets in the headers of both classes. */
struct ts_elf_section ts_elf_section_at(const struct ts_elf_sections *s, uint64_t i)
{
	const uint8_t *p = s->bytes + i * header_len(s->elf);
	bool is_64 = s->elf->is_64, is_big = s->elf->is_big_endian;
	unsigned word = is_64 ? 8 : 4;

	return (struct ts_elf_section){ .name = (uint32_t)ts_number(p, 4, is_big),
					.type = (uint32_t)ts_number(p + 4, 4, is_big),
					.flags = ts_number(p + 8, word, is_big),
					.addr = ts_number(p + (is_64 ? 16 : 12), word, is_big),
					.off = ts_number(p + (is_64 ? 24 : 16), word, is_big),
					.len = ts_number(p + (is_64 ? 32 : 20), word, is_big),
					.link = (uint32_t)ts_number(p + (is_64 ? 40 : 24), 4, is_big),
					.entry_len = ts_number(p + (is_64 ? 56 : 36), word, is_big) };
}

/* Is the section called @name, by the table of names? */
static bool is_called(const struct ts_source *src, const struct ts_elf_section *s, const char *name,
		      const struct ts_elf_section *names)
{
	char text[64];
	size_t len = strlen(name) + 1;

	return len <= sizeof(text) && s->name < names->len && names->len - s->name >= len &&
	       read_at(src, names->off + s->name, text, len) && !memcmp(text, name, len);
}

static bool has_contents(const struct ts_elf_section *s)
{
	return s->type != SHT_NOBITS && s->len;
}

size_t ts_section_read(const struct ts_source *src, const char *name, uint8_t *bytes, size_t size)
{
	struct ts_error ignored = { 0 };
	struct ts_elf_sections all;
	struct ts_elf_section names = { 0 };
	struct ts_elf elf;
	size_t got = 0;

	if (!ts_elf_read_head(&elf, src, &ignored))
		return 0;
	ts_elf_sections_init(&all, &elf, src);
	if (elf.names < all.n)
		names = ts_elf_section_at(&all, elf.names);
	for (uint64_t i = 0; i < all.n && !got && has_contents(&names); i++) {
		struct ts_elf_section s = ts_elf_section_at(&all, i);
		size_t len = s.len < size ? (size_t)s.len : size;

		if (is_called(src, &s, name, &names) && has_contents(&s))
			got = read_at(src, s.off, bytes, len) ? len : 0;
	}
	ts_elf_sections_fini(&all);
	return got;
}
