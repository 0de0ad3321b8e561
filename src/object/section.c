/* SPDX-License-Identifier: MIT */
/*
 * ELF headers (System V gABI, chapter 4): at 40 (64 bits) or 32 the offset of the section headers, at 58 or 46 the length of
 * one (2), their number (2), and which one has the names (2).  A header: name (4), type (4), then of 64 bits at 24 offset
 * (8) and length (8), else at 16 offset (4) and length (4).
 */
#include "section.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"

struct headers {
	const struct ts_source *src;
	bool is_64, is_big;
	unsigned n, len, names;
	uint8_t *bytes; /* owned */
};

/* Returns false if they are not there. */
static bool read_at(const struct ts_source *src, uint64_t off, void *to, size_t len)
{
	struct ts_error ignored = { 0 };

	return ts_source_read_all(src, off, to, len, &ignored);
}

static bool read_headers(struct headers *h, const struct ts_source *src)
{
	uint8_t head[sizeof(Elf64_Ehdr)] = { 0 };
	uint64_t off;

	*h = (struct headers){ .src = src };
	if (!read_at(src, 0, head, sizeof(Elf32_Ehdr)) || memcmp(head, ELFMAG, SELFMAG))
		return false;
	h->is_64 = head[EI_CLASS] == ELFCLASS64;
	h->is_big = head[EI_DATA] == ELFDATA2MSB;
	if (h->is_64 && !read_at(src, 0, head, sizeof(head)))
		return false;
	off = ts_number(head + (h->is_64 ? 40 : 32), h->is_64 ? 8 : 4, h->is_big);
	h->len = (unsigned)ts_number(head + (h->is_64 ? 58 : 46), 2, h->is_big);
	h->n = (unsigned)ts_number(head + (h->is_64 ? 60 : 48), 2, h->is_big);
	h->names = (unsigned)ts_number(head + (h->is_64 ? 62 : 50), 2, h->is_big);
	if (h->len != (h->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) || h->names >= h->n)
		return false;
	h->bytes = malloc((size_t)h->n * h->len);
	return h->bytes && read_at(src, off, h->bytes, (size_t)h->n * h->len);
}

static uint32_t name_of(const struct headers *h, unsigned i)
{
	return (uint32_t)ts_number(h->bytes + (size_t)i * h->len, 4, h->is_big);
}

/* Where its contents are.  Returns false if it has none. */
static bool find_contents(const struct headers *h, unsigned i, uint64_t *off, uint64_t *len)
{
	const uint8_t *p = h->bytes + (size_t)i * h->len;
	unsigned word = h->is_64 ? 8 : 4;

	*off = ts_number(p + (h->is_64 ? 24 : 16), word, h->is_big);
	*len = ts_number(p + (h->is_64 ? 32 : 20), word, h->is_big);
	return ts_number(p + 4, 4, h->is_big) != SHT_NOBITS && *len;
}

/* Is the section called @name, by the table of names at @names_off of @names_len bytes? */
static bool is_called(const struct headers *h, unsigned i, const char *name, uint64_t names_off, uint64_t names_len)
{
	char text[64];
	size_t len = strlen(name) + 1;
	uint32_t at = name_of(h, i);

	return len <= sizeof(text) && at < names_len && names_len - at >= len &&
	       read_at(h->src, names_off + at, text, len) && !memcmp(text, name, len);
}

size_t ts_section_read(const struct ts_source *src, const char *name, uint8_t *bytes, size_t size)
{
	uint64_t names_off, names_len, off, len;
	struct headers h;
	size_t got = 0;

	if (read_headers(&h, src) && find_contents(&h, h.names, &names_off, &names_len)) {
		for (unsigned i = 0; i < h.n && !got; i++) {
			if (!is_called(&h, i, name, names_off, names_len) || !find_contents(&h, i, &off, &len))
				continue;
			len = len < size ? len : size;
			got = read_at(src, off, bytes, (size_t)len) ? (size_t)len : 0;
		}
	}
	free(h.bytes);
	return got;
}
