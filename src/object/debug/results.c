/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <stdio.h>
#include <string.h>

#define MAX_DEPTH  16u
#define MAX_PIECES 32u

/* The registers of results in their order, by DWARF's numbers. */
struct ts_result_registers {
	unsigned machine;
	uint8_t n_numbers, n_floats, first_float, second; /* second: of C, and of Rust */
	uint8_t numbers[16];
};

static const struct ts_result_registers conventions[] = {
	{ .machine = EM_X86_64, .n_numbers = 9, .n_floats = 15, .first_float = 17, .second = 1, .numbers = { 0, 3, 2, 5, 4, 8, 9, 10, 11 } },
	{ .machine = EM_AARCH64, .n_numbers = 16, .n_floats = 16, .first_float = 64, .second = 1,
	  .numbers = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
};

const struct ts_result_registers *ts_result_registers_of(Elf *elf)
{
	unsigned machine = ts_type_addr_len(elf) == 8 ? ts_type_machine(elf) : EM_NONE;

	for (size_t i = 0; i < sizeof(conventions) / sizeof(*conventions); i++) {
		if (machine == conventions[i].machine)
			return &conventions[i];
	}
	return NULL;
}

/* A scalar of a value. */
struct scalar {
	uint64_t off, size;
	bool is_float;
};

/* The scalars of a value, by offset as its type lists them. */
struct scalars {
	struct ts_type_budget *budget;
	struct scalar items[MAX_PIECES];
	unsigned n;
	bool is_go, is_c, is_lost; /* is_lost: the type does not say them all */
	bool is_long; /* there are more, or it has an array of several items */
};

static void add(struct scalars *s, uint64_t off, uint64_t size, bool is_float)
{
	s->is_lost |= size > 16 || off > UINT32_MAX;
	if (s->n == MAX_PIECES)
		s->is_long = true;
	else
		s->items[s->n++] = (struct scalar){ off, size, is_float };
}

static void add_base(struct scalars *s, uint64_t off, const struct ts_die_facts *f)
{
	bool is_complex = f->encoding == DW_ATE_complex_float;
	bool is_float = is_complex || f->encoding == DW_ATE_float;
	uint64_t size = is_complex ? f->size / 2 : f->size;

	s->is_lost |= f->encoding == DW_ATE_decimal_float || (is_float && size != 4 && size != 8 && (s->is_go || size != 16)) || size > (s->is_go ? 8 : 16);
	add(s, off, size, is_float);
	if (is_complex)
		add(s, off + size, size, true);
}

static void add_type(struct scalars *s, Dwarf_Die *die, uint64_t off, unsigned depth);

/* An enumeration of Rust whose variants lie in the number that distinguishes them has no other scalar. */
static void add_variants(struct scalars *s, Dwarf_Die *die, uint64_t off, uint64_t size, unsigned depth)
{
	struct ts_die_facts f = { 0 };
	unsigned n = s->n;
	Dwarf_Die child;

	if (!dwarf_child(die, &child) && dwarf_tag(&child) == DW_TAG_member)
		ts_die_facts(s->budget, &child, &f);
	s->is_lost |= !f.has_type || f.offset;
	if (!s->is_lost)
		add_type(s, &f.type, off, depth + 1);
	s->is_lost |= s->n != n + 1 || s->items[n].is_float || s->items[n].size != size;
}

/* A part of a structure of C or C++. One that is empty counts for some compilers. */
static void add_c_member(struct scalars *s, struct ts_die_facts *f, uint64_t off, unsigned depth)
{
	unsigned n = s->n;

	if (f->is_static)
		return;
	if (f->is_bits)
		add(s, off, 1, false);
	else
		add_type(s, &f->type, off + f->offset, depth + 1);
	s->is_lost |= s->n == n && !s->is_long;
}

static void add_members(struct scalars *s, Dwarf_Die *die, uint64_t off, uint64_t size, unsigned depth)
{
	Dwarf_Die child;

	for (int got = dwarf_child(die, &child); !got && !s->is_lost && !s->is_long; got = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		struct ts_die_facts f;

		s->is_lost |= !ts_type_spend(s->budget, 1);
		if (tag == DW_TAG_variant_part)
			add_variants(s, &child, off, size, depth);
		if (tag != DW_TAG_member && (!s->is_c || tag != DW_TAG_inheritance))
			continue;
		ts_die_facts(s->budget, &child, &f);
		if (s->is_c && f.has_type) {
			add_c_member(s, &f, off, depth);
			continue;
		}
		/* versions of Go differ in what they do with a field that has no name */
		s->is_lost |= !f.has_type || f.is_bits || f.offset > size || (s->is_go && f.name && !strcmp(f.name, "_"));
		if (!s->is_lost)
			add_type(s, &f.type, off + f.offset, depth + 1);
	}
}

/* Members that share their bytes: where they are is only known if one of them is no floating-point number. */
static void add_union(struct scalars *s, Dwarf_Die *die, uint64_t off, uint64_t size, unsigned depth)
{
	bool has_number = false;
	unsigned n = s->n;

	add_members(s, die, off, size, depth);
	for (; n < s->n; n++)
		has_number |= !s->items[n].is_float;
	s->is_lost |= !has_number;
}

static void add_c_array(struct scalars *s, Dwarf_Die *die, const struct ts_die_facts *f, uint64_t off, unsigned depth)
{
	struct ts_die_facts item;
	Dwarf_Die type;
	uint64_t n = ts_type_array(s->budget, die, f, &type, &item);

	s->is_lost |= !item.size || n > TS_MAX_ITEMS || f->is_vector;
	for (uint64_t i = 0; i < n && !s->is_lost && !s->is_long; i++)
		add_type(s, &type, off + i * item.size, depth + 1);
}

static void add_array(struct scalars *s, const struct ts_die_facts *f, uint64_t off, unsigned depth)
{
	struct ts_die_facts item = { 0 };
	Dwarf_Die type = f->type;

	if (f->has_type)
		ts_type_strip(s->budget, &type, &item);
	if (!s->is_go || (!item.size && !item.has_size) || (item.size && f->size % item.size))
		s->is_lost = true;
	else if (f->size > item.size)
		s->is_long = true;
	else if (f->size)
		add_type(s, &type, off, depth + 1);
}

static void add_type(struct scalars *s, Dwarf_Die *die, uint64_t off, unsigned depth)
{
	struct ts_die_facts f;
	int tag;

	ts_type_strip(s->budget, die, &f);
	tag = dwarf_tag(die);
	if (s->is_c && tag == DW_TAG_array_type && depth <= MAX_DEPTH && s->budget->left) {
		add_c_array(s, die, &f, off, depth);
		return;
	}
	s->is_lost |= depth > MAX_DEPTH || (!f.size && !f.has_size) || !s->budget->left;
	if (s->is_lost || !f.size)
		return;
	if (tag == DW_TAG_base_type)
		add_base(s, off, &f);
	else if (tag == DW_TAG_pointer_type || tag == DW_TAG_enumeration_type || (s->is_go && tag == DW_TAG_subroutine_type))
		add(s, off, f.size, false);
	else if (tag == DW_TAG_structure_type || (s->is_c && tag == DW_TAG_class_type))
		add_members(s, die, off, f.size, depth);
	else if (s->is_c && tag == DW_TAG_union_type)
		add_union(s, die, off, f.size, depth);
	else if (tag == DW_TAG_array_type)
		add_array(s, &f, off, depth);
	else
		s->is_lost = true;
}

/* The form in which a value is printed whose type has these scalars. */
static void classify(struct ts_type_budget *b, Dwarf_Die *die, const struct scalars *s, struct ts_value_type *type)
{
	struct ts_die_facts f;
	Dwarf_Die at = *die;
	int tag;

	ts_type_strip(b, &at, &f);
	tag = dwarf_tag(&at);
	*type = (struct ts_value_type){ .form = TS_FORM_BYTES, .size = f.size > UINT32_MAX ? UINT32_MAX : (uint32_t)f.size };
	if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_array_type || s->n != 1 || f.size > 8)
		return;
	type->form = s->items[0].is_float ? TS_FORM_FLOAT : TS_FORM_NUMBER;
}

bool ts_type_is_text(struct ts_type_budget *b, Dwarf_Die *type)
{
	struct ts_die_facts f;
	Dwarf_Die at = *type;

	ts_type_strip(b, &at, &f);
	return dwarf_tag(&at) == DW_TAG_structure_type && f.size == 16 && f.name && (!strcmp(f.name, "string") || !strcmp(f.name, "&str"));
}

static void put_piece(struct ts_placed_result *r, uint8_t reg, const struct scalar *item)
{
	r->pieces[r->n_pieces++] = (struct ts_result_piece){ .reg = reg, .len = (uint8_t)item->size, .off = (uint32_t)item->off };
}

/* -------------------------------------------------------------------------------------------------------- Go */

/* Are there registers for all of it?  Else it is on the stack, and takes none. */
static bool place_go(const struct ts_result_registers *c, const struct scalars *s, unsigned used[2], struct ts_placed_result *r)
{
	unsigned n_numbers = used[0], n_floats = used[1];

	if (s->is_long)
		return false;
	for (unsigned i = 0; i < s->n; i++) {
		bool is_float = s->items[i].is_float;

		if (is_float ? n_floats == c->n_floats : n_numbers == c->n_numbers)
			return false;
		put_piece(r, is_float ? (uint8_t)(c->first_float + n_floats++) : c->numbers[n_numbers++], &s->items[i]);
	}
	used[0] = n_numbers;
	used[1] = n_floats;
	return true;
}

static bool is_listed(const struct ts_go_results *g, const char *name)
{
	for (unsigned i = 0; i < g->n; i++) {
		if (!strcmp(g->names[i], name))
			return true;
	}
	return false;
}

/* Results without names are numbered. */
static bool is_in_order(const struct ts_go_results *g, const char *name)
{
	unsigned n;

	return sscanf(name, "~%*c%3u", &n) != 1 || n == g->n;
}

void ts_go_results_add(struct ts_go_results *g, struct ts_type_budget *b, struct ts_die_facts *f)
{
	struct scalars s = { .budget = b, .is_go = true };
	struct ts_placed_result *r;

	/* Go 1.19 lists some results twice */
	if (f->name && is_listed(g, f->name))
		return;
	if (g->n == TS_MAX_RESULTS || !f->name || !f->has_type || !is_in_order(g, f->name)) {
		g->is_lost = true;
		return;
	}
	g->names[g->n] = f->name;
	r = &g->items[g->n++];
	*r = (struct ts_placed_result){ .type = { .form = TS_FORM_UNKNOWN } };
	if (!g->is_unplaced)
		add_type(&s, &f->type, 0, 0);
	g->is_unplaced |= s.is_lost;
	if (g->is_unplaced)
		return;
	classify(b, &f->type, &s, &r->type);
	r->type.is_text = ts_type_is_text(b, &f->type);
	if (!place_go(g->registers, &s, g->used, r))
		*r = (struct ts_placed_result){ .type = { .form = TS_FORM_UNKNOWN } };
}

/* --------------------------------------------------------------------------------------------- C on AArch64 */

/* One to four floating-point numbers of one size, and nothing else: each has a register. */
static bool is_homogeneous(const struct scalars *s, uint64_t size)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (!s->items[i].is_float || s->items[i].size != s->items[0].size || s->items[i].off != i * s->items[0].size)
			return false;
	}
	return s->n && s->n <= 4 && size == s->n * s->items[0].size;
}

bool ts_arm64_result(const struct ts_result_registers *c, struct ts_type_budget *b, Dwarf_Die *type, struct ts_placed_result *r)
{
	struct scalars s = { .budget = b, .is_c = true };

	*r = (struct ts_placed_result){ .type = { .form = TS_FORM_UNKNOWN } };
	add_type(&s, type, 0, 0);
	if (c->machine != EM_AARCH64 || s.is_lost || s.is_long || !s.n)
		return false;
	classify(b, type, &s, &r->type);
	if (is_homogeneous(&s, r->type.size)) {
		for (unsigned i = 0; i < s.n; i++)
			put_piece(r, (uint8_t)(c->first_float + i), &s.items[i]);
		return true;
	}
	for (uint32_t at = 0; at < r->type.size && r->type.size <= 16; at += 8) {
		const struct scalar word = { at, r->type.size - at < 8 ? r->type.size - at : 8, false };

		put_piece(r, c->numbers[at / 8], &word);
	}
	return r->n_pieces;
}

/* ------------------------------------------------------------------------------------------------------ Rust */

bool ts_rust_result(const struct ts_result_registers *c, struct ts_type_budget *b, Dwarf_Die *type, struct ts_placed_result *r)
{
	struct scalars s = { .budget = b };
	bool is_pair;

	add_type(&s, type, 0, 0);
	*r = (struct ts_placed_result){ .type = { .form = TS_FORM_UNKNOWN } };
	if (s.n == 2 && s.items[1].off < s.items[0].off) { /* fields are listed in the order of the source */
		struct scalar first = s.items[1];

		s.items[1] = s.items[0];
		s.items[0] = first;
	}
	if (s.is_lost || s.is_long || !s.n || s.n > 2 || s.items[0].off)
		return false;
	classify(b, type, &s, &r->type);
	is_pair = s.n == 2 && s.items[0].size == 8 && s.items[1].off == 8;
	if (s.n == 1 && s.items[0].size == 16 && !s.items[0].is_float) {
		s.items[0].size = 8;
		s.items[1] = (struct scalar){ 8, 8, false };
		is_pair = true;
	} else if (s.n == 1 && s.items[0].is_float && r->type.form == TS_FORM_FLOAT) {
		put_piece(r, c->first_float, &s.items[0]);
		return true;
	}
	/*
	 * the C convention, which a function may have, puts smaller ones into one register, and numbers beside others into two
	 * files
	 */
	if (s.items[0].is_float || r->type.size != (is_pair ? 16 : s.items[0].size) || (s.n == 2 && !is_pair) || s.items[1].is_float ||
	    (is_pair && s.items[1].size != 8))
		return false;
	r->type.is_text = ts_type_is_text(b, type);
	put_piece(r, c->numbers[0], &s.items[0]);
	if (is_pair)
		put_piece(r, c->second, &s.items[1]);
	return true;
}
