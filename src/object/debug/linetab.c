/* SPDX-License-Identifier: MIT */
#include "linetab.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "src/object/unpack_bound.h"
#include "src/base/bytes.h"
#include "src/base/cursor.h"

/* A larger file is not read. */
#define MAX_FILE (UINT64_C(2) << 30)

/*
 * Limits for a file of @len bytes, beside that of unpack_bound.h.  A byte of a line program may make a row, which takes libdw
 * 72 bytes; units may share a program; and a read of an attribute passes those before it, which take no room in a unit.  So a
 * small file could fill the memory, or take hours.  In real files a byte of line programs comes with ten others.
 */
#define PROGRAMS(len)   ((UINT64_C(64) << 20) + 2 * (len))
#define ATTRIBUTES(len) ((UINT64_C(1) << 20) + (len))
#define ROWS(len)       ((UINT64_C(1) << 20) + (len) / 4)
#define MAX_ROWS        (UINT64_C(1) << 26)

/* The line program of a unit is left out if it is longer.  After this many bytes libdw's memory is freed. */
#define MAX_PROGRAM (UINT64_C(8) << 20)

struct walk {
	void (*use)(void *user, const struct ts_linetab_entry *e);
	void *user;
	Elf *elf;
	const Elf_Data *programs; /* .debug_line, unpacked */
	bool is_big_endian;
	uint64_t n_attributes, n_rows, n_bytes; /* of line programs: that may still be examined */
	uint64_t n_held;                        /* bytes of programs that libdw has made rows of and holds */
};

/* ------------------------------------------------------------------------------------------ what it takes */

static bool is_named(Elf *elf, const GElf_Shdr *h, const char *start)
{
	size_t names;
	const char *name = elf_getshdrstrndx(elf, &names) ? NULL : elf_strptr(elf, names, h->sh_name);

	return name && !strncmp(name, start, strlen(start));
}

/* The contents of .debug_line, decompressed by libdw; NULL if the section is missing or empty. */
static const Elf_Data *find_programs(Elf *elf)
{
	const Elf_Data *data;
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, &h) &&
		    (is_named(elf, &h, ".debug_line") || is_named(elf, &h, ".zdebug_line")) &&
		    !is_named(elf, &h, ".debug_line_str"))
			break;
	}
	data = scn ? elf_getdata(scn, NULL) : NULL;
	return data && data->d_buf ? data : NULL;
}

/* The length in the header of the line program at @off; UINT64_MAX if the header is truncated. */
static uint64_t read_program_len(const Elf_Data *data, uint64_t off, bool is_big)
{
	const uint8_t *bytes = data->d_buf;
	struct ts_error ignored = { 0 };
	struct ts_cursor c = ts_cursor(bytes + off, data->d_size - off, off, "line program", &ignored);
	const uint8_t *p = ts_take(&c, 4);
	uint64_t len = p ? ts_number(p, 4, is_big) : UINT64_MAX;

	if (len != UINT32_MAX)
		return len;
	p = ts_take(&c, 8); /* of the 64-bit format */
	return p ? ts_number(p, 8, is_big) : UINT64_MAX;
}

/* The attributes of a unit. */
struct unit {
	struct walk *w;
	uint64_t len; /* of the line program; UINT64_MAX if the unit has none */
	const char *folder;
};

static int look_at_attribute(Dwarf_Attribute *at, void *user)
{
	struct unit *u = user;
	const Elf_Data *programs = u->w->programs;
	Dwarf_Word off;

	if (!u->w->n_attributes)
		return DWARF_CB_ABORT;
	u->w->n_attributes--;
	if (dwarf_whatattr(at) == DW_AT_comp_dir)
		u->folder = dwarf_formstring(at);
	if (dwarf_whatattr(at) == DW_AT_stmt_list && !dwarf_formudata(at, &off) && off <= programs->d_size)
		u->len = read_program_len(programs, off, u->w->is_big_endian);
	return DWARF_CB_OK;
}

/* ----------------------------------------------------------------------------------------------- the walk */

/* The range of row @i of a unit; the next row ends it. */
static void use_row(const struct walk *w, Dwarf_Lines *lines, size_t i, const char *folder)
{
	Dwarf_Line *row = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
	struct ts_linetab_entry e = { .file = row ? dwarf_linesrc(row, NULL, NULL) : NULL, .folder = folder };
	Dwarf_Addr first, end;
	bool is_end;
	int line;

	if (!e.file || !next || dwarf_lineendsequence(row, &is_end) || is_end ||
	    dwarf_lineaddr(row, &first) || dwarf_lineaddr(next, &end) || dwarf_lineno(row, &line) ||
	    line <= 0 || end <= first)
		return;
	e.addr = first;
	e.len = end - first;
	e.line = (uint32_t)line;
	w->use(w->user, &e);
}

static void use_unit(struct walk *w, Dwarf_Die *die)
{
	struct unit u = { .w = w, .len = UINT64_MAX };
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_getattrs(die, look_at_attribute, &u, 0) != 1 || u.len > MAX_PROGRAM)
		return;
	w->n_held += u.len;
	w->n_bytes = u.len < w->n_bytes ? w->n_bytes - u.len : 0;
	if (!w->n_bytes || dwarf_getsrclines(die, &lines, &n))
		return;
	for (size_t i = 0; i + 1 < n && w->n_rows; i++, w->n_rows--)
		use_row(w, lines, i, u.folder);
}

/* Begin anew, with nothing in memory, after the unit of @die.  Returns NULL on failure. */
static Dwarf *forget(struct walk *w, Dwarf *dwarf, Dwarf_Die *die, Dwarf_CU **unit)
{
	Dwarf_Off off = dwarf_dieoffset(die);

	dwarf_end(dwarf);
	w->n_held = 0;
	dwarf = dwarf_begin_elf(w->elf, DWARF_C_READ, NULL);
	if (dwarf && dwarf_offdie(dwarf, off, die)) {
		*unit = die->cu;
		return dwarf;
	}
	dwarf_end(dwarf);
	return NULL;
}

static void walk_elf(struct walk *w)
{
	const char *ident = elf_getident(w->elf, NULL);
	Dwarf *dwarf = dwarf_begin_elf(w->elf, DWARF_C_READ, NULL);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	w->programs = find_programs(w->elf);
	w->is_big_endian = ident && ident[EI_DATA] == ELFDATA2MSB;
	while (dwarf && w->programs && w->n_attributes && w->n_rows && w->n_bytes &&
	       !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		if (dwarf_tag(&die) == DW_TAG_compile_unit || dwarf_tag(&die) == DW_TAG_skeleton_unit)
			use_unit(w, &die);
		if (w->n_held > MAX_PROGRAM)
			dwarf = forget(w, dwarf, &die, &unit);
	}
	dwarf_end(dwarf);
}

void ts_linetab_walk(const struct ts_source *src, void (*use)(void *user, const struct ts_linetab_entry *e),
		     void *user)
{
	uint64_t len = ts_source_len(src);
	struct walk w = { .use = use,
			  .user = user,
			  .n_attributes = ATTRIBUTES(len),
			  .n_rows = ROWS(len) < MAX_ROWS ? ROWS(len) : MAX_ROWS,
			  .n_bytes = PROGRAMS(len) };
	char *bytes = len && len <= MAX_FILE ? malloc((size_t)len) : NULL;
	struct ts_error ignored = { 0 };

	elf_version(EV_CURRENT);
	if (bytes && ts_source_read_all(src, 0, bytes, (size_t)len, &ignored))
		w.elf = elf_memory(bytes, (size_t)len);
	if (w.elf && elf_kind(w.elf) == ELF_K_ELF && ts_elf_may_unpack(w.elf, len))
		walk_elf(&w);
	elf_end(w.elf);
	free(bytes);
}
