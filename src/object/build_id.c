/* SPDX-License-Identifier: MIT */
#include "build_id.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cursor.h"

/* Program headers and notes lie near the beginning; no more is read of either. */
#define HEAD_LEN  0x10000u
#define NOTES_LEN 0x10000u

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

static bool read_notes(const struct ts_source *src, const GElf_Phdr *h, bool is_big_endian, struct ts_build_id *id)
{
	struct ts_error ignored = { 0 };
	uint8_t *bytes = malloc(NOTES_LEN);
	size_t want = h->p_filesz < NOTES_LEN ? (size_t)h->p_filesz : NOTES_LEN, got;
	bool found = bytes && ts_source_read(src, h->p_offset, bytes, want, &got, &ignored) &&
		     find_note(bytes, got, is_big_endian, h->p_vaddr, id);

	free(bytes);
	return found;
}

static bool find_in_headers(Elf *e, const struct ts_source *src, struct ts_build_id *id)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(e, &header))
		return false;
	for (int i = 0; i < header.e_phnum; i++) {
		GElf_Phdr h;

		if (!gelf_getphdr(e, i, &h))
			return false;
		if (h.p_type == PT_NOTE && read_notes(src, &h, header.e_ident[EI_DATA] == ELFDATA2MSB, id))
			return true;
	}
	return false;
}

bool ts_build_id_find(const struct ts_source *src, struct ts_build_id *id)
{
	struct ts_error ignored = { 0 };
	uint8_t *head = malloc(HEAD_LEN);
	size_t got;
	bool found = false;
	Elf *e;

	*id = (struct ts_build_id){ 0 };
	elf_version(EV_CURRENT);
	if (head && ts_source_read(src, 0, head, HEAD_LEN, &got, &ignored) && got > EI_NIDENT &&
	    !memcmp(head, ELFMAG, SELFMAG)) {
		e = elf_memory((char *)head, got);
		found = e && find_in_headers(e, src, id);
		elf_end(e);
	}
	free(head);
	return found;
}

void ts_build_id_text(const struct ts_build_id *id, unsigned n, char *text)
{
	*text = '\0';
	for (unsigned i = 0; i < id->len && i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
}
