/* SPDX-License-Identifier: MIT */
#include "linetab.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

/* A larger file is not read. */
#define MAX_FILE (UINT64_C(2) << 30)

struct walk {
	void (*use)(void *user, const struct ts_linetab_entry *e);
	void *user;
};

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

static void use_unit(const struct walk *w, Dwarf_Die *unit)
{
	Dwarf_Attribute folder;
	const char *name = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &folder));
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n))
		return;
	for (size_t i = 0; i + 1 < n; i++)
		use_row(w, lines, i, name);
}

static void walk_elf(const struct walk *w, Elf *elf)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		if (dwarf_tag(&die) == DW_TAG_compile_unit || dwarf_tag(&die) == DW_TAG_skeleton_unit)
			use_unit(w, &die);
	}
	dwarf_end(dwarf);
}

void ts_linetab_walk(const struct ts_source *src, void (*use)(void *user, const struct ts_linetab_entry *e),
		     void *user)
{
	const struct walk w = { use, user };
	uint64_t len = ts_source_len(src);
	char *bytes = len && len <= MAX_FILE ? malloc((size_t)len) : NULL;
	struct ts_error ignored;
	Elf *elf = NULL;

	ts_error_reset(&ignored);
	elf_version(EV_CURRENT);
	if (bytes && ts_source_read_all(src, 0, bytes, (size_t)len, &ignored))
		elf = elf_memory(bytes, (size_t)len);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		walk_elf(&w, elf);
	elf_end(elf);
	free(bytes);
}
