/* SPDX-License-Identifier: MIT */
#include "debug_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "src/base/bytes.h"
#include "src/object/build_id.h"
#include "src/object/elf_image.h"
#include "src/object/section.h"

#define MAX_PATH 4096u

/* The name in .gnu_debuglink and the checksum after it, which is aligned to 4 bytes. */
#define MAX_LINK 1024u
#define CHUNK    65536u

/* ------------------------------------------------------------------------------------------ is it the one? */

/* Program headers of a debug file point to no contents: the section has the note (12 bytes, "GNU" and its NUL, the id). */
static bool has_same_id(const struct ts_source *file, const struct ts_build_id *id)
{
	uint8_t note[16 + TS_MAX_BUILD_ID];

	return ts_section_read(file, ".note.gnu.build-id", note, sizeof(note)) >= 16 + id->len &&
	       !memcmp(note + 16, id->bytes, id->len);
}

static bool has_checksum(const struct ts_source *file, uint32_t wanted)
{
	uint8_t *bytes = malloc(CHUNK);
	uLong crc = crc32(0, NULL, 0);
	struct ts_error ignored = { 0 };
	uint64_t off = 0;
	size_t got = 1;

	for (; bytes && got && ts_source_read(file, off, bytes, CHUNK, &got, &ignored); off += got)
		crc = crc32(crc, bytes, (uInt)got);
	free(bytes);
	return off == ts_source_len(file) && off && crc == wanted;
}

/* ---------------------------------------------------------------------------------------- where is it? */

static struct ts_source *open_if_same(const char *path, const struct ts_build_id *id)
{
	struct ts_error ignored = { 0 };
	struct ts_source *file = ts_source_open(path, &ignored);

	if (file && has_same_id(file, id))
		return file;
	ts_source_close(file);
	return NULL;
}

/* FOLDER/.build-id/ab/cdef.debug */
static struct ts_source *open_by_id(const struct ts_build_id *id, const char *folder)
{
	char hex[2 * TS_MAX_BUILD_ID + 1], path[MAX_PATH];

	ts_build_id_text(id, id->len, hex);
	if (id->len < 2 || (size_t)snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", folder, hex, hex + 2) >=
				   sizeof(path))
		return NULL;
	return open_if_same(path, id);
}

static struct ts_source *open_packed(const struct ts_build_id *id, const struct ts_packed_debug *packed, size_t n)
{
	char hex[2 * TS_MAX_BUILD_ID + 1];
	struct ts_source *file = NULL;

	ts_build_id_text(id, id->len, hex);
	for (size_t i = 0; i < n && !file; i++)
		file = strcmp(packed[i].id, hex) ? NULL : open_if_same(packed[i].path, id);
	return file;
}

/* Read .gnu_debuglink.  Returns false if none is found. */
static bool read_link(const struct ts_source *src, char name[MAX_LINK], uint32_t *checksum)
{
	uint8_t bytes[MAX_LINK + 8];
	struct ts_error ignored = { 0 };
	struct ts_elf elf;
	size_t len, at;
	bool is_big;

	if (!ts_elf_init(&elf, src, &ignored))
		return false;
	is_big = elf.is_big_endian;
	ts_elf_fini(&elf);
	len = ts_section_read(src, ".gnu_debuglink", bytes, sizeof(bytes));
	at = len ? (strnlen((const char *)bytes, len) + 4) & ~(size_t)3 : 0;
	if (!at || at + 4 > len || at > MAX_LINK || !*bytes || memchr(bytes, '/', strlen((const char *)bytes)))
		return false;
	memcpy(name, bytes, strlen((const char *)bytes) + 1);
	*checksum = (uint32_t)ts_number(bytes + at, 4, is_big);
	return true;
}

/* @own: where @src lies, or lay. */
static struct ts_source *open_by_link(const struct ts_source *src, const char *own, const char *folder)
{
	const char *slash = strrchr(own, '/');
	int dir_len = slash ? (int)(slash - own) : 0;
	const char *dir = slash ? own : ".";
	char name[MAX_LINK], path[MAX_PATH];
	uint32_t checksum;

	if (!read_link(src, name, &checksum))
		return NULL;
	dir_len = slash ? dir_len : 1;
	for (unsigned i = 0; i < 3; i++) {
		struct ts_error ignored = { 0 };
		struct ts_source *file;
		int n = snprintf(path, sizeof(path), "%s%.*s%s/%s", i == 2 ? folder : "", dir_len, dir,
				 i == 1 ? "/.debug" : "", name);

		if (n < 0 || (size_t)n >= sizeof(path) || !strcmp(path, own) || (i == 2 && *dir != '/'))
			continue;
		file = ts_source_open(path, &ignored);
		if (file && has_checksum(file, checksum))
			return file;
		ts_source_close(file);
	}
	return NULL;
}

struct ts_source *ts_debug_file_open(const struct ts_source *src, const char *path, const struct ts_packed_debug *packed,
				     size_t n_packed, const char *folder)
{
	struct ts_build_id id;
	bool has_id = ts_build_id_find(src, &id);
	struct ts_source *file = has_id ? open_packed(&id, packed, n_packed) : NULL;

	if (has_id && !file)
		file = open_by_id(&id, folder);
	if (!file)
		file = open_by_link(src, ts_source_name(src), folder);
	return file || !path ? file : open_by_link(src, path, folder);
}
