/* SPDX-License-Identifier: MIT */
/*
 * Debugging information is untrusted: whatever is walked costs the file's own budget, which is in proportion to its length.
 */
#include "prototypes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prototypes_parts.h"
#include "results.h"
#include "src/base/collections/bisect.h"
#include "src/object/unpack_bound.h"
#include "src/base/collections/vec.h"

/* A larger file is not read; nor one whose compressed sections would become larger. */
#define MAX_FILE (UINT64_C(1) << 30)

/* -------------------------------------------------------------------------------------------------- the file */

static bool add_unit(struct ts_prototypes *p, Dwarf_Die *die)
{
	ptrdiff_t at = 0;
	Dwarf_Addr base, first, end;

	if (!ts_vec_reserve(&p->units, p->n_units, &p->cap_units, 1, sizeof(*p->units)))
		return false;
	p->units[p->n_units] = (struct ts_prototype_unit){ .off = dwarf_dieoffset(die) };
	while (ts_type_spend(&p->budget, 1) && (at = dwarf_ranges(die, at, &base, &first, &end)) > 0) {
		if (first >= end)
			continue;
		if (!ts_vec_reserve(&p->ranges, p->n_ranges, &p->cap_ranges, 1, sizeof(*p->ranges)))
			return false;
		p->ranges[p->n_ranges++] = (struct ts_prototype_range){ first, end, (uint32_t)p->n_units };
	}
	p->n_units++;
	return true;
}

static void list_units(struct ts_prototypes *p)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (ts_type_spend(&p->budget, 1) && !dwarf_get_units(p->dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		if (dwarf_tag(&die) == DW_TAG_compile_unit && !add_unit(p, &die))
			return;
	}
}

/* The file in memory, *bytes, which is the caller's also on failure; NULL if it is no ELF file, or cannot be read. */
static Elf *read_elf(struct ts_source *src, char **bytes)
{
	uint64_t len = ts_source_len(src);
	struct ts_error ignored = { 0 };
	Elf *elf = NULL;

	elf_version(EV_CURRENT);
	*bytes = len && len <= MAX_FILE ? malloc((size_t)len) : NULL;
	if (*bytes && ts_source_read_all(src, 0, *bytes, (size_t)len, &ignored))
		elf = elf_memory(*bytes, (size_t)len);
	if (elf && elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		elf = NULL;
	}
	return elf;
}

struct ts_prototypes *ts_prototypes_new(struct ts_source *src)
{
	struct ts_prototypes *p = calloc(1, sizeof(*p));
	uint64_t len = ts_source_len(src);

	if (p)
		p->elf = read_elf(src, &p->bytes);
	if (p && p->elf && ts_elf_may_unpack(p->elf, len))
		p->dwarf = dwarf_begin_elf(p->elf, DWARF_C_READ, NULL);
	if (p && p->dwarf) {
		p->len = len;
		p->addr_len = ts_type_addr_len(p->elf);
		p->budget.left = ts_prototypes_allowance(p);
		list_units(p);
	}
	ts_source_close(src);
	return p;
}

void ts_prototypes_free(struct ts_prototypes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_units; i++)
		free(p->units[i].items);
	free(p->units);
	free(p->ranges);
	free(p->inlined);
	ts_arena_fini(&p->names);
	if (p->cfi)
		dwarf_cfi_end(p->cfi);
	dwarf_end(p->dwarf);
	elf_end(p->elf);
	elf_end(p->frame_elf);
	free(p->frame_bytes);
	free(p->bytes);
	free(p);
}

void ts_prototypes_add_frames(struct ts_prototypes *p, struct ts_source *src)
{
	if (!p->frame_bytes)
		p->frame_elf = read_elf(src, &p->frame_bytes);
	if (p->frame_elf && !ts_elf_may_unpack(p->frame_elf, ts_source_len(src))) {
		elf_end(p->frame_elf);
		p->frame_elf = NULL;
	}
	ts_source_close(src);
}

/* -------------------------------------------------------------------------------------------------- functions */

static bool add_parameter(struct ts_prototypes *p, struct ts_prototype *x, struct ts_go_results *go, Dwarf_Die *die)
{
	struct ts_parameter *to = &x->parameters[x->n];
	struct ts_die_facts f;

	ts_die_collect(&p->budget, die, &f);
	if (f.is_result && x->is_foreign) {
		if (go->registers)
			ts_go_results_add(go, &p->budget, &f);
		return true;
	}
	if (x->n == TS_MAX_PARAMETERS)
		return true;
	x->is_plain |= ts_die_is_in_frame(die);
	to->n_pieces = ts_die_registers_at(die, x->addr, to->pieces);
	to->type = (struct ts_value_type){ .form = TS_FORM_UNKNOWN };
	if (f.has_type)
		ts_type_classify(&p->budget, &f.type, &to->type);
	to->type.is_text = x->is_foreign && f.has_type && ts_type_is_text(&p->budget, &f.type);
	to->name = f.name ? ts_arena_text(&p->names, f.name, strlen(f.name)) : NULL;
	x->n++;
	return !f.name || to->name;
}

static bool keep_results(struct ts_prototypes *p, struct ts_prototype *x, const struct ts_placed_result *items, unsigned n)
{
	struct ts_placed_result *to = ts_arena_alloc(&p->names, n * sizeof(*items));

	if (to)
		memcpy(to, items, n * sizeof(*items));
	x->results = to;
	x->n_results = n;
	return to;
}

/* The results of another convention than x86's and C's. */
static bool add_results(struct ts_prototypes *p, const struct ts_prototype_unit *u, struct ts_prototype *x, struct ts_die_facts *f,
			const struct ts_go_results *go)
{
	struct ts_placed_result result;

	if (go->n && !go->is_lost)
		return keep_results(p, x, go->items, go->n);
	if (u->c && f->has_type && (x->result.form == TS_FORM_FLOAT || x->result.form == TS_FORM_BYTES) && !x->result.is_by_reference &&
	    ts_arm64_result(u->c, &p->budget, &f->type, &result))
		return keep_results(p, x, &result, 1);
	if (u->rust && f->has_type && ts_rust_result(u->rust, &p->budget, &f->type, &result))
		return keep_results(p, x, &result, 1);
	return true;
}

/* A function that has code of its own. */
static bool add_function(struct ts_prototypes *p, struct ts_prototype_unit *u, Dwarf_Die *die)
{
	struct ts_go_results go = { .registers = u->go };
	struct ts_prototype *x;
	struct ts_die_facts f;
	Dwarf_Addr entry;
	Dwarf_Die child;
	bool done = true;
	int got;

	ts_die_collect(&p->budget, die, &f);
	if (!f.has_code || dwarf_entrypc(die, &entry))
		return true;
	if (!ts_vec_reserve(&u->items, u->n, &u->cap, 1, sizeof(*u->items)))
		return false;
	x = &u->items[u->n];
	*x = (struct ts_prototype){ .addr = entry, .is_foreign = u->is_foreign };
	if (f.has_type)
		ts_type_classify(&p->budget, &f.type, &x->result);
	for (got = dwarf_child(die, &child); !got && done && ts_type_spend(&p->budget, 1);
	     got = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			done = add_parameter(p, x, &go, &child);
	}
	x->is_changed = (f.has_convention && f.convention == DW_CC_nocall) || (u->may_hide && !f.is_static && !x->is_plain);
	u->n++;
	return done && add_results(p, u, x, &f, &go);
}

/* Functions lie in units, in namespaces and in classes. */
static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_module;
}

#define MAX_SCOPES 16u

static bool read_scope(struct ts_prototypes *p, struct ts_prototype_unit *u, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;
	bool done = true;

	for (int got = dwarf_child(die, &child); !got && done && ts_type_spend(&p->budget, 1);
	     got = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram)
			done = add_function(p, u, &child);
		else if (is_scope(tag) && depth < MAX_SCOPES)
			done = read_scope(p, u, &child, depth + 1);
	}
	return done;
}

/* Go 1.17 and later say so, on processors on which they pass arguments in registers. */
static bool is_by_registers(const char *producer)
{
	return strstr(producer, "regabi");
}

/*
 * LLVM drops results and arguments that no caller uses; since version 16, which Rust 1.70 has, its debugging information says
 * of which functions.
 */
static bool is_clang_that_hides_changes(const char *producer)
{
	const char *text = strstr(producer, "clang version ");
	unsigned version;

	return text && sscanf(text, "clang version %3u", &version) == 1 && version < 16;
}

static bool is_rust_that_says_changes(const char *producer)
{
	const char *text = strstr(producer, "rustc version 1.");
	unsigned version;

	return text && sscanf(text, "rustc version 1.%3u", &version) == 1 && version >= 70;
}

static void learn_language(struct ts_prototypes *p, struct ts_prototype_unit *u, Dwarf_Die *die, int language)
{
	Dwarf_Attribute at;
	const char *producer = dwarf_attr(die, DW_AT_producer, &at) ? dwarf_formstring(&at) : NULL;

	u->is_foreign = language == DW_LANG_Go || language == DW_LANG_Rust;
	u->may_hide = producer && is_clang_that_hides_changes(producer);
	if (!u->is_foreign)
		u->c = ts_result_registers_of(p->elf);
	if (producer && language == DW_LANG_Go && is_by_registers(producer))
		u->go = ts_result_registers_of(p->elf);
	if (producer && language == DW_LANG_Rust && is_rust_that_says_changes(producer))
		u->rust = ts_result_registers_of(p->elf);
}

static void read_unit(struct ts_prototypes *p, struct ts_prototype_unit *u)
{
	Dwarf_Die die;
	int language;

	u->is_read = true;
	if (!dwarf_offdie(p->dwarf, u->off, &die))
		return;
	language = dwarf_srclang(&die);
	if (language == DW_LANG_Mips_Assembler)
		return; /* assemblers list functions, but not their parameters */
	learn_language(p, u, &die, language);
	read_scope(p, u, &die, 0);
	if (u->n)
		qsort(u->items, u->n, sizeof(*u->items), ts_by_u64);
}

const struct ts_prototype *ts_prototypes_find(struct ts_prototypes *p, uint64_t addr)
{
	const struct ts_prototype key = { .addr = addr };
	const struct ts_prototype *found = NULL;

	for (size_t i = 0; i < p->n_ranges && !found; i++) {
		struct ts_prototype_unit *u = &p->units[p->ranges[i].unit];

		if (addr < p->ranges[i].first || addr >= p->ranges[i].end)
			continue;
		if (!u->is_read)
			read_unit(p, u);
		if (u->n)
			found = bsearch(&key, u->items, u->n, sizeof(key), ts_by_u64);
	}
	return found;
}
