/* SPDX-License-Identifier: MIT */
#include "prototypes_parts.h"

#include "prototypes.h"

#include <gelf.h>
#include <string.h>

/* Types refer to others, and structures have members: the maximum depth, and their maximum number. */
#define MAX_DEPTH   16u
#define MAX_MEMBERS 64u

/* The maximum number of references from a definition to its declarations. */
#define MAX_ORIGINS 4u

/* ------------------------------------------------------------------------------------------------- the entry */

struct collecting {
	struct ts_type_budget *budget;
	struct ts_die_facts *f;
};

static void take_number(Dwarf_Attribute *at, Dwarf_Word *to, bool *has)
{
	*has = !dwarf_formudata(at, to);
}

static int take_attribute(Dwarf_Attribute *at, void *user)
{
	struct collecting *c = user;
	struct ts_die_facts *f = c->f;

	if (!ts_type_spend(c->budget, 1))
		return DWARF_CB_ABORT;
	switch (dwarf_whatattr(at)) {
	case DW_AT_name: f->name = dwarf_formstring(at); break;
	case DW_AT_type: f->has_type = dwarf_formref_die(at, &f->type); break;
	case DW_AT_abstract_origin:
	case DW_AT_specification: f->has_origin = dwarf_formref_die(at, &f->origin); break;
	case DW_AT_low_pc:
	case DW_AT_ranges: f->has_code = true; break;
	case DW_AT_byte_size: take_number(at, &f->size, &f->has_size); break;
	case DW_AT_encoding: dwarf_formudata(at, &f->encoding); break;
	case DW_AT_data_member_location: take_number(at, &f->offset, &f->has_offset); break;
	case DW_AT_upper_bound:
		take_number(at, &f->count, &f->has_count);
		f->count++;
		break;
	case DW_AT_count: take_number(at, &f->count, &f->has_count); break;
	case DW_AT_calling_convention: take_number(at, &f->convention, &f->has_convention); break;
	case DW_AT_bit_size: f->is_bits = true; break;
	case DW_AT_data_bit_offset: take_number(at, &f->bit_offset, &f->is_bits); break;
	case DW_AT_GNU_vector: f->is_vector = true; break;
	case DW_AT_external: f->is_static = true; break;
	case DW_AT_variable_parameter: dwarf_formflag(at, &f->is_result); break;
	default: break;
	}
	return DWARF_CB_OK;
}

void ts_die_facts(struct ts_type_budget *b, Dwarf_Die *die, struct ts_die_facts *f)
{
	struct collecting c = { b, f };

	memset(f, 0, sizeof(*f));
	dwarf_getattrs(die, take_attribute, &c, 0);
}

void ts_die_collect(struct ts_type_budget *b, Dwarf_Die *die, struct ts_die_facts *f)
{
	Dwarf_Die at = *die;

	ts_die_facts(b, &at, f);
	for (unsigned i = 0; i < MAX_ORIGINS && f->has_origin; i++) {
		struct ts_die_facts more;

		at = f->origin;
		ts_die_facts(b, &at, &more);
		if (!f->name)
			f->name = more.name;
		if (!f->has_type) {
			f->has_type = more.has_type;
			f->type = more.type;
		}
		if (!f->has_convention) {
			f->has_convention = more.has_convention;
			f->convention = more.convention;
		}
		f->is_static |= more.is_static;
		f->has_origin = more.has_origin;
		f->origin = more.origin;
	}
}

static int register_of(const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return op->atom - DW_OP_reg0;
	return op->atom == DW_OP_regx && op->number < 256 ? (int)op->number : -1;
}

unsigned ts_die_registers_at(Dwarf_Die *die, uint64_t addr, struct ts_register_piece *pieces)
{
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &at) || dwarf_getlocation_addr(&at, addr, &ops, &n, 1) != 1 || !n)
		return 0;
	if (n == 1) {
		pieces[0] = (struct ts_register_piece){ (int16_t)register_of(ops), 0 };
		return pieces[0].reg >= 0;
	}
	if (n % 2 || n / 2 > TS_MAX_PIECES)
		return 0;
	for (size_t i = 0; i < n; i += 2) {
		int reg = register_of(&ops[i]);

		if (reg < 0 || ops[i + 1].atom != DW_OP_piece || !ops[i + 1].number || ops[i + 1].number > 16)
			return 0;
		pieces[i / 2] = (struct ts_register_piece){ (int16_t)reg, (uint16_t)ops[i + 1].number };
	}
	return (unsigned)(n / 2);
}

bool ts_die_is_in_frame(Dwarf_Die *die)
{
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n;

	return dwarf_attr(die, DW_AT_location, &at) && dwarf_whatform(&at) == DW_FORM_exprloc && !dwarf_getlocation(&at, &ops, &n) && n == 1 &&
	       ops->atom == DW_OP_fbreg;
}

unsigned ts_type_addr_len(Elf *elf)
{
	return gelf_getclass(elf) == ELFCLASS32 ? 4 : 8;
}

unsigned ts_type_machine(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) ? header.e_machine : EM_NONE;
}

/* ------------------------------------------------------------------------------------------------ the type */

struct classifying {
	struct ts_type_budget *budget;
	struct ts_value_type *type;
	unsigned n_members;
	bool is_unknown;
};

static bool is_alias(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

void ts_type_strip(struct ts_type_budget *b, Dwarf_Die *die, struct ts_die_facts *f)
{
	for (unsigned i = 0;; i++) {
		int tag = dwarf_tag(die);

		ts_die_facts(b, die, f);
		if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type ||
		    tag == DW_TAG_unspecified_type)
			f->size = f->has_size ? f->size : 8;
		if (!is_alias(tag) || !f->has_type || i == MAX_DEPTH)
			return;
		*die = f->type;
	}
}

/* Two classes meet in one eightbyte: section 3.2.3, step 4. */
static uint8_t merge(uint8_t a, uint8_t b)
{
	if (a == b || b == TS_CLASS_NONE)
		return a;
	if (a == TS_CLASS_NONE)
		return b;
	if (a == TS_CLASS_MEMORY || b == TS_CLASS_MEMORY)
		return TS_CLASS_MEMORY;
	if (a == TS_CLASS_INTEGER || b == TS_CLASS_INTEGER)
		return TS_CLASS_INTEGER;
	return a == TS_CLASS_X87 || b == TS_CLASS_X87 ? TS_CLASS_MEMORY : TS_CLASS_SSE;
}

/* [@off, @off + @size) is of class @class. */
static void mark(struct classifying *c, uint64_t off, uint64_t size, uint8_t class)
{
	for (uint64_t i = off / 8; i < 2 && i * 8 < off + size; i++)
		c->type->classes[i] = merge(c->type->classes[i], class);
}

static void mark_base(struct classifying *c, uint64_t off, const struct ts_die_facts *f)
{
	bool is_float = f->encoding == DW_ATE_float || f->encoding == DW_ATE_complex_float;

	if (f->encoding == DW_ATE_decimal_float || (is_float && f->size == 2)) {
		c->is_unknown = true;
	} else if (is_float && f->size == 16 && f->encoding == DW_ATE_float) {
		bool is_x87 = f->name && !strcmp(f->name, "long double");

		mark(c, off, 8, is_x87 ? TS_CLASS_X87 : TS_CLASS_SSE);
		if (!is_x87)
			mark(c, off + 8, 8, TS_CLASS_SSE_UP);
	} else {
		mark(c, off, f->size, is_float ? TS_CLASS_SSE : TS_CLASS_INTEGER);
	}
}

static void mark_type(struct classifying *c, Dwarf_Die *die, uint64_t off, unsigned depth);

static void mark_members(struct classifying *c, Dwarf_Die *die, uint64_t off, bool has_convention, unsigned depth)
{
	Dwarf_Die child;

	for (int got = dwarf_child(die, &child); !got && !c->is_unknown && ts_type_spend(c->budget, 1);
	     got = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		struct ts_die_facts f;

		/* it may have a destructor, and where its convention is not said it is not known how it is passed */
		if (tag == DW_TAG_subprogram && !has_convention)
			c->is_unknown = true;
		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		ts_die_facts(c->budget, &child, &f);
		if (f.is_static)
			continue;
		if (!f.has_type || ++c->n_members > MAX_MEMBERS)
			c->is_unknown = true;
		else if (f.is_bits)
			mark(c, off + f.offset + f.bit_offset / 8, 1, TS_CLASS_INTEGER);
		else
			mark_type(c, &f.type, off + f.offset, depth + 1);
	}
}

static uint64_t count_items(struct ts_type_budget *b, Dwarf_Die *die)
{
	struct ts_die_facts range;
	uint64_t n = 1;
	Dwarf_Die child;

	for (int got = dwarf_child(die, &child); !got && ts_type_spend(b, 1); got = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		ts_die_facts(b, &child, &range);
		n = range.has_count && range.count <= TS_MAX_ITEMS && n <= TS_MAX_ITEMS ? n * range.count : TS_MAX_ITEMS + 1;
	}
	return n;
}

uint64_t ts_type_array(struct ts_type_budget *b, Dwarf_Die *die, const struct ts_die_facts *f, Dwarf_Die *type,
		       struct ts_die_facts *item)
{
	uint64_t n = count_items(b, die);

	*type = f->type;
	*item = (struct ts_die_facts){ 0 };
	if (f->has_type)
		ts_type_strip(b, type, item);
	return n;
}

static void mark_array(struct classifying *c, Dwarf_Die *die, const struct ts_die_facts *f, uint64_t off, unsigned depth)
{
	struct ts_die_facts item;
	Dwarf_Die type;
	uint64_t n = ts_type_array(c->budget, die, f, &type, &item);

	if (!item.size || item.size > 16 || n > TS_MAX_ITEMS) {
		c->is_unknown = true;
	} else if (f->is_vector) {
		mark(c, off, 8, TS_CLASS_SSE);
		if (n * item.size > 8)
			mark(c, off + 8, 8, TS_CLASS_SSE_UP);
	}
	for (uint64_t i = 0; i < n && !f->is_vector && !c->is_unknown; i++)
		mark_type(c, &type, off + i * item.size, depth + 1);
}

static void mark_type(struct classifying *c, Dwarf_Die *die, uint64_t off, unsigned depth)
{
	struct ts_die_facts f;

	ts_type_strip(c->budget, die, &f);
	if (depth > MAX_DEPTH || off >= 16) {
		c->is_unknown = true;
		return;
	}
	switch (dwarf_tag(die)) {
	case DW_TAG_base_type: mark_base(c, off, &f); break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type: mark(c, off, 8, TS_CLASS_INTEGER); break;
	case DW_TAG_unspecified_type: mark(c, off, 8, TS_CLASS_INTEGER); break; /* nullptr_t */
	case DW_TAG_enumeration_type: mark(c, off, f.size, TS_CLASS_INTEGER); break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type: mark_members(c, die, off, f.has_convention, depth); break;
	case DW_TAG_array_type: mark_array(c, die, &f, off, depth); break;
	default: c->is_unknown = true; break;
	}
}

/* A value in two registers, or in memory, is shown as bytes. */
static enum ts_value_form form_of(int tag, const struct ts_die_facts *f, const struct ts_value_type *type)
{
	if (tag == DW_TAG_base_type && (f->encoding == DW_ATE_float || f->encoding == DW_ATE_complex_float))
		return f->encoding == DW_ATE_float && (f->size != 16 || type->classes[0] == TS_CLASS_X87) ? TS_FORM_FLOAT :
												       TS_FORM_BYTES;
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
			       tag == DW_TAG_array_type || type->size > 8 ?
		       TS_FORM_BYTES :
		       TS_FORM_NUMBER;
}

void ts_type_classify(struct ts_type_budget *b, Dwarf_Die *die, struct ts_value_type *type)
{
	struct classifying c = { .budget = b, .type = type };
	struct ts_die_facts f;
	Dwarf_Die at = *die;
	int tag;

	*type = (struct ts_value_type){ .form = TS_FORM_UNKNOWN };
	ts_type_strip(b, &at, &f);
	tag = dwarf_tag(&at);
	if (is_alias(tag)) /* of void */
		type->form = f.has_type ? TS_FORM_UNKNOWN : TS_FORM_NONE;
	if (!f.size || f.size > UINT32_MAX || is_alias(tag))
		return;
	type->size = (uint32_t)f.size;
	type->is_by_reference = f.has_convention && f.convention == DW_CC_pass_by_reference;
	if (type->is_by_reference)
		type->classes[0] = TS_CLASS_INTEGER;
	else if (f.size > 16)
		type->classes[0] = type->classes[1] = TS_CLASS_MEMORY;
	else
		mark_type(&c, &at, 0, 0);
	if (!type->is_by_reference && (type->classes[0] == TS_CLASS_MEMORY || type->classes[1] == TS_CLASS_MEMORY))
		type->classes[0] = type->classes[1] = TS_CLASS_MEMORY;
	if (!c.is_unknown && type->classes[0] != TS_CLASS_NONE)
		type->form = form_of(tag, &f, type);
}
