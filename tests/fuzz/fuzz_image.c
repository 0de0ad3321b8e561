/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a program's file, ELF or PE: its parts, symbols and lines, and memory that it fills.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/object/image.h"
#include "src/object/debug/linetab.h"
#include "src/object/object.h"
#include "src/object/symtab.h"

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void use_symbol(void *user, const struct ts_symtab_entry *e)
{
	(void)user;
	require(e->name[0] && strlen(e->name) > 0);
}

static void use_line(void *user, const struct ts_linetab_entry *e)
{
	(void)user;
	require(e->len && e->line && e->file[strlen(e->file)] == '\0' &&
		(!e->folder || !e->folder[strlen(e->folder)]));
}

/* Its parts lie in the file, and memory that the file fills has the file's bytes. */
static void read_parts(const struct ts_source *src, const struct ts_image *img, const struct ts_object *o)
{
	for (size_t i = 0; i < o->n_loads; i++) {
		const struct ts_elf_load *l = &o->loads[i];
		uint8_t data[64], known[64];

		require(!l->file_len || (l->file_off < ts_source_len(src) &&
					 l->file_len <= ts_source_len(src) - l->file_off));
		require(l->file_len <= l->mem_len && (!l->mem_len || l->mem_len - 1 <= UINT64_MAX - l->addr));
		memset(known, 0, sizeof(known));
		ts_image_fill(img, 0, l->addr, sizeof(data), data, known);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_from_memory(bytes, len, "fuzz", &err);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ts_image img;
	struct ts_object o;
	char path[64];

	require(src && fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ts_image_init(&img);
	if (ts_object_init(&o, src, &err)) {
		ts_image_add_file(&img, path, NULL, &err);
		read_parts(src, &img, &o);
		ts_object_fini(&o);
	} else {
		require(err.code != TS_OK && err.text[0]);
	}
	ts_symtab_walk(src, use_symbol, NULL);
	ts_linetab_walk(src, use_line, NULL);
	ts_image_fini(&img);
	ts_source_close(src);
	close(fd);
	return 0;
}
