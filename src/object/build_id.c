/* SPDX-License-Identifier: MIT */
#include "build_id.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf_image.h"
#include "src/base/cursor.h"

/* A file has some ten program headers and short notes; no more is read of either. */
#define MAX_HEADERS 1024u
#define NOTES_LEN   0x10000u

static const char owner[] = "GNU";

/* Look through the notes in @bytes, which lie at @addr in memory. */
static bool find_note(const uint8_t *bytes, size_t len, bool is_big_endian, uint64_t addr, struct ts_build_id *id)
{
	struct ts_error ignored = { 0 };
	struct ts_cursor c = ts_cursor(bytes, len, 0, "ELF notes", &ignored);
	uint32_t (*number)(struct ts_cursor *c) = is_big_endian ? ts_u32be : ts_u32le;

	while (c.left) {
		uint32_t name_len = number(&c), desc_len = number(&c), type = number(&c);
		const uint8_t *name = ts_take(&c, ((uint64_t)name_len + 3) & ~UINT64_C(3));
		uint64_t at = len - c.left;
		const uint8_t *desc = ts_take(&c, ((uint64_t)desc_len + 3) & ~UINT64_C(3));

		if (!ts_ok(&c))
			return false;
		if (type != NT_GNU_BUILD_ID || name_len != sizeof(owner) || memcmp(name, owner, sizeof(owner)) ||
		    !desc_len || desc_len > TS_MAX_BUILD_ID)
			continue;
		id->addr = addr + at;
		id->len = desc_len;
		memcpy(id->bytes, desc, desc_len);
		return true;
	}
	return false;
}

static bool read_notes(const struct ts_source *src, const struct ts_elf_header *h, bool is_big_endian,
		       struct ts_build_id *id)
{
	struct ts_error ignored = { 0 };
	uint8_t *bytes = malloc(NOTES_LEN);
	size_t want = h->file_len < NOTES_LEN ? (size_t)h->file_len : NOTES_LEN, got;
	bool found = bytes && ts_source_read(src, h->off, bytes, want, &got, &ignored) &&
		     find_note(bytes, got, is_big_endian, h->addr, id);

	free(bytes);
	return found;
}

bool ts_build_id_find(const struct ts_source *src, struct ts_build_id *id)
{
	struct ts_error ignored = { 0 };
	struct ts_elf_header h;
	struct ts_elf elf;
	bool found = false;

	*id = (struct ts_build_id){ 0 };
	if (!ts_elf_read_head(&elf, src, &ignored))
		return false;
	for (uint64_t i = 0; i < elf.n_headers && i < MAX_HEADERS && !found; i++)
		found = ts_elf_read_header(&elf, src, i, &h, &ignored) && h.type == PT_NOTE &&
			read_notes(src, &h, elf.is_big_endian, id);
	return found;
}

void ts_build_id_text(const struct ts_build_id *id, unsigned n, char *text)
{
	*text = '\0';
	for (unsigned i = 0; i < id->len && i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
}
