/* SPDX-License-Identifier: MIT */
/*
 * Debugging information is untrusted: a lookup has a budget of its own, which is in proportion to the length of the file.
 */
#include "variables.h"

#include <ctype.h>
#include <string.h>

#include "prototypes_parts.h"

/* Scopes lie in one another, and so do members without a name and base classes: so deep at most. */
#define MAX_SCOPES	64u
#define MAX_MEMBER_DEPTH 8u
#define MAX_ALIASES	16u
#define MAX_DIMENSIONS	8u

/* Languages that libdw's header does not name. */
#define CXX_17 0x2b
#define CXX_20 0x2e

struct lookup {
	struct ts_prototypes *p;
	struct ts_type_budget budget;
	const struct ts_variable_frame *frame;
	const char *name;
	size_t name_len;
	Dwarf_Die found, function; /* function: that has the variable found */
	Dwarf_Die here;            /* the function that is walked */
	Dwarf_Die object, object_function; /* the variable `this` of a method */
	bool has_found, has_object, is_in_function;
	bool has_function;         /* the instruction's */
	bool is_deep;              /* functions in functions are walked, too */
	bool is_enclosing;         /* the variable found is of a function around that of the instruction */
	bool is_of_caller;         /* there is one of the function into which that of the instruction was inlined */
	bool is_lost;              /* a member on the way lies where only the object itself says */
};

/* ------------------------------------------------------------------------------------------------- scopes */

static bool has_pc(struct lookup *l, Dwarf_Die *die)
{
	ptrdiff_t at = 0;
	Dwarf_Addr base, first, end;

	while (ts_type_spend(&l->budget, 1) && (at = dwarf_ranges(die, at, &base, &first, &end)) > 0) {
		if (l->frame->pc >= first && l->frame->pc < end)
			return true;
	}
	return false;
}

static bool is_of_cxx(Dwarf_Die *die)
{
	Dwarf_Die unit;
	int language = dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;

	return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 || language == DW_LANG_C_plus_plus_11 ||
	       language == DW_LANG_C_plus_plus_14 || language == CXX_17 || language == CXX_20;
}

static bool is_variable(int tag)
{
	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

static bool is_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static bool is_space(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_module;
}

static void walk(struct lookup *l, Dwarf_Die *die, unsigned depth);

/* A scope of the function at the instruction: what is found in it comes before what is outside. */
static void enter(struct lookup *l, Dwarf_Die *die, int tag, unsigned depth)
{
	Dwarf_Die outer = l->here;
	bool was_in = l->is_in_function;

	if (tag == DW_TAG_subprogram) {
		l->here = *die;
		l->is_in_function = l->has_function = true;
	}
	/* the code of a function that was inlined does not see the variables around it */
	if (tag == DW_TAG_inlined_subroutine) {
		l->is_of_caller |= l->has_found;
		l->has_found = l->has_object = false;
	}
	walk(l, die, depth + 1);
	l->here = outer;
	l->is_in_function = was_in;
}

static void find_in(struct lookup *l, Dwarf_Die *scope)
{
	Dwarf_Die child;

	for (int got = dwarf_child(scope, &child); !got && ts_type_spend(&l->budget, 1); got = dwarf_siblingof(&child, &child)) {
		struct ts_die_facts f;

		if (!is_variable(dwarf_tag(&child)))
			continue;
		ts_die_collect(&l->budget, &child, &f);
		if (f.name && strlen(f.name) == l->name_len && !memcmp(f.name, l->name, l->name_len)) {
			l->found = child;
			l->function = l->here;
			/* `extern int x;` in a function means the x outside */
			l->has_found = !dwarf_hasattr_integrate(&child, DW_AT_declaration);
		} else if (f.name && !strcmp(f.name, "this") && is_of_cxx(&child)) {
			l->object = child;
			l->object_function = l->here;
			l->has_object = true;
		}
	}
}

/* Functions in functions: those of GNU C, and those of classes in functions, as C++'s lambdas are. */
static void walk_around(struct lookup *l, Dwarf_Die *die, unsigned depth)
{
	bool had_function = l->has_function;

	walk(l, die, depth + 1);
	if (had_function || !l->has_function || l->has_found)
		return;
	l->here = *die;
	find_in(l, die);
	l->is_enclosing = l->has_found;
}

static void walk(struct lookup *l, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;

	if (depth > MAX_SCOPES)
		return;
	/* the variables of a scope first: those of scopes in it replace them */
	if (l->is_in_function)
		find_in(l, die);
	for (int got = dwarf_child(die, &child); !got && ts_type_spend(&l->budget, 1); got = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		if (is_space(tag)) {
			if (!l->is_in_function)
				walk(l, &child, depth + 1);
		} else if (is_code(tag) && has_pc(l, &child)) {
			enter(l, &child, tag, depth);
		} else if (l->is_deep && !l->is_in_function && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block)) {
			walk_around(l, &child, depth);
		}
	}
}

static void walk_units(struct lookup *l)
{
	const struct ts_prototypes *p = l->p;

	for (size_t i = 0; i < p->n_ranges && !l->has_function; i++) {
		const struct ts_prototype_range *r = &p->ranges[i];
		Dwarf_Die die;

		if (l->frame->pc >= r->first && l->frame->pc < r->end && ts_type_spend(&l->budget, 1) &&
		    dwarf_offdie(p->dwarf, p->units[r->unit].off, &die))
			walk(l, &die, 0);
	}
}

/* The function at the instruction may lie in one that does not have the instruction. */
static void find_variable(struct lookup *l)
{
	walk_units(l);
	l->is_deep = !l->has_function;
	if (l->is_deep)
		walk_units(l);
}

/* ------------------------------------------------------------------------------------------------- types */

/* The type of a place, and how many dimensions of an array have been indexed already. */
struct typed {
	Dwarf_Die die;
	unsigned n_indexed;
	bool has_type;
};

static bool refuse(struct ts_variable *v, const char *why)
{
	v->kind = TS_VARIABLE_NOWHERE;
	v->why = why;
	return false;
}

#define UNKNOWN_TYPE "has a type that the debugging information does not describe"
#define UNKNOWN_LENGTH "is an array whose length the debugging information does not say; its items have places"

static bool is_alias(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* From names and qualifiers to the type that they are of; @f gets its facts. */
static bool strip(struct lookup *l, struct typed *t, struct ts_die_facts *f)
{
	for (unsigned i = 0; t->has_type && i < MAX_ALIASES; i++) {
		ts_die_collect(&l->budget, &t->die, f);
		if (!is_alias(dwarf_tag(&t->die)))
			return true;
		t->die = f->type;
		t->has_type = f->has_type;
	}
	return false;
}

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

/* The items of each dimension; returns how many dimensions there are, 0 if one has no size or they are too many. */
static unsigned dimensions_of(struct lookup *l, Dwarf_Die *array, uint64_t items[MAX_DIMENSIONS])
{
	Dwarf_Die child;
	unsigned n = 0;

	for (int got = dwarf_child(array, &child); !got && ts_type_spend(&l->budget, 1); got = dwarf_siblingof(&child, &child)) {
		struct ts_die_facts f;

		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		ts_die_collect(&l->budget, &child, &f);
		if (n == MAX_DIMENSIONS)
			return 0;
		items[n++] = f.has_count ? f.count : 0;
	}
	return n;
}

/* The bytes of the type; 0 if that is not known. */
static uint64_t size_of(struct lookup *l, const struct typed *type, unsigned depth)
{
	uint64_t items[MAX_DIMENSIONS], size;
	struct typed t = *type, item;
	struct ts_die_facts f;
	unsigned n;

	if (depth > MAX_MEMBER_DEPTH || !strip(l, &t, &f))
		return 0;
	if (is_pointer(dwarf_tag(&t.die)) && !f.has_size)
		return l->p->addr_len;
	if (dwarf_tag(&t.die) != DW_TAG_array_type)
		return f.has_size ? f.size : 0;
	n = dimensions_of(l, &t.die, items);
	item = (struct typed){ .die = f.type, .has_type = f.has_type };
	size = size_of(l, &item, depth + 1);
	for (unsigned i = t.n_indexed; i < n; i++) {
		if (__builtin_mul_overflow(size, items[i], &size))
			return 0;
	}
	return n ? size : 0;
}

/* --------------------------------------------------------------------------------------------- members */

/* Add @off to the place.  A register has at most as many bytes as its variable. */
static bool move(struct ts_variable *v, uint64_t off)
{
	if (v->kind == TS_VARIABLE_MEMORY)
		v->addr += off;
	else if (off > UINT8_MAX - v->off)
		return refuse(v, "is not in the register that holds the variable");
	else
		v->off += (uint32_t)off;
	return true;
}

/* The member called so, also of base classes and of members without a name.  *off gets where it is. */
static bool find_member(struct lookup *l, Dwarf_Die *structure, const char *name, size_t len, struct ts_die_facts *f,
			uint64_t *off, unsigned depth)
{
	Dwarf_Die child;

	for (int got = dwarf_child(structure, &child); !got && depth < MAX_MEMBER_DEPTH && ts_type_spend(&l->budget, 1);
	     got = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		struct ts_die_facts inner;
		bool is_computed;
		struct typed t;

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		ts_die_collect(&l->budget, &child, f);
		is_computed = !f->has_offset && dwarf_hasattr(&child, DW_AT_data_member_location);
		if (f->name && strlen(f->name) == len && !memcmp(f->name, name, len)) {
			*off += f->offset;
			l->is_lost |= is_computed;
			return true;
		}
		t = (struct typed){ .die = f->type, .has_type = f->has_type };
		if (!f->name && !f->is_static && strip(l, &t, &inner)) {
			uint64_t inside = *off + f->offset;

			if (find_member(l, &t.die, name, len, f, &inside, depth + 1)) {
				*off = inside;
				l->is_lost |= is_computed;
				return true;
			}
		}
	}
	return false;
}

/* From a pointer to what it points to. */
static bool follow(struct lookup *l, struct ts_variable *v, struct typed *t, const struct ts_die_facts *pointer)
{
	uint64_t addr;
	bool is_known;

	if (v->kind == TS_VARIABLE_REGISTER)
		is_known = !v->off && l->frame->reg(l->frame->user, v->reg, &addr);
	else
		is_known = l->frame->mem(l->frame->user, v->addr, l->p->addr_len, &addr);
	if (!is_known)
		return refuse(v, "is behind a pointer whose value is not known there");
	*t = (struct typed){ .die = pointer->type, .has_type = pointer->has_type };
	v->kind = TS_VARIABLE_MEMORY;
	v->addr = addr;
	v->off = 0;
	v->is_in_frame = false;
	return true;
}

/* From names and qualifiers to the type; from references, too, to what they refer to. */
static bool resolve(struct lookup *l, struct ts_variable *v, struct typed *t, struct ts_die_facts *f)
{
	for (unsigned i = 0; i < MAX_ALIASES; i++) {
		int tag;

		if (!strip(l, t, f))
			break;
		tag = dwarf_tag(&t->die);
		if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
			return true;
		if (!follow(l, v, t, f))
			return false;
	}
	return refuse(v, UNKNOWN_TYPE);
}

/* .NAME or ->NAME; with either, a pointer is followed first. */
static bool take_member(struct lookup *l, struct ts_variable *v, struct typed *t, const char *name, size_t len)
{
	struct ts_die_facts f;
	uint64_t off = 0;
	Dwarf_Die structure;

	if (!resolve(l, v, t, &f))
		return false;
	if (is_pointer(dwarf_tag(&t->die)) && (!follow(l, v, t, &f) || !resolve(l, v, t, &f)))
		return false;
	structure = t->die;
	if (!find_member(l, &structure, name, len, &f, &off, 0))
		return refuse(v, "is not a member of the variable's type");
	if (l->is_lost)
		return refuse(v, "is of a virtual base class, whose offset only the object itself contains");
	if (f.is_static)
		return refuse(v, "is a static member, which each object shares");
	if (f.is_bits)
		return refuse(v, "is a bit field, and only whole bytes are supported");
	*t = (struct typed){ .die = f.type, .has_type = f.has_type };
	return move(v, off);
}

static bool take_index(struct lookup *l, struct ts_variable *v, struct typed *t, uint64_t index)
{
	uint64_t items[MAX_DIMENSIONS], off;
	struct ts_die_facts f;
	unsigned n;

	if (!resolve(l, v, t, &f))
		return false;
	if (is_pointer(dwarf_tag(&t->die))) {
		if (!follow(l, v, t, &f))
			return false;
	} else if (dwarf_tag(&t->die) == DW_TAG_array_type) {
		n = dimensions_of(l, &t->die, items);
		if (!n)
			return refuse(v, UNKNOWN_TYPE);
		if (items[t->n_indexed] && index >= items[t->n_indexed])
			return refuse(v, "is past the end of the array");
		if (++t->n_indexed == n)
			*t = (struct typed){ .die = f.type, .has_type = f.has_type };
	} else {
		return refuse(v, "has an index, and the variable is no array");
	}
	if (__builtin_mul_overflow(size_of(l, t, 0), index, &off))
		return refuse(v, "is past the end of the address space");
	return move(v, off);
}

/* ------------------------------------------------------------------------------------------------ the text */

static size_t identifier_len(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '$' || (unsigned char)text[n] >= 0x80))
		n++;
	return n && !isdigit((unsigned char)*text) ? n : 0;
}

/* Parse [INDEX], decimal.  Returns its length; 0 if it is malformed. */
static size_t index_len(const char *text, size_t len, uint64_t *index)
{
	size_t n = 1;

	*index = 0;
	for (; n < len && isdigit((unsigned char)text[n]); n++) {
		if (n > 10)
			return 0;
		*index = *index * 10 + (uint64_t)(text[n] - '0');
	}
	return n > 1 && n < len && text[n] == ']' ? n + 1 : 0;
}

/* The members and indexes that follow the name. */
static bool take_path(struct lookup *l, struct ts_variable *v, struct typed *t, const char *text, size_t len)
{
	while (len) {
		bool is_arrow = len > 2 && text[0] == '-' && text[1] == '>', is_dot = *text == '.';
		size_t skip = is_arrow ? 2 : 1, n;
		uint64_t index;

		if (*text == '[') {
			skip = 0;
			n = index_len(text, len, &index);
			if (n && !take_index(l, v, t, index))
				return false;
		} else {
			n = is_arrow || is_dot ? identifier_len(text + skip, len - skip) : 0;
			if (n && !take_member(l, v, t, text + skip, n))
				return false;
		}
		if (!n)
			return refuse(v, "is not a variable with .MEMBER, ->MEMBER or [INDEX]");
		text += skip + n;
		len -= skip + n;
	}
	return true;
}

/* What is at the end of the path, the place of which is @v's. */
static void finish(struct lookup *l, struct ts_variable *v, struct typed *t, const char *rest, size_t len)
{
	struct ts_die_facts f;

	if (!take_path(l, v, t, rest, len) || !resolve(l, v, t, &f))
		return;
	v->len = size_of(l, t, 0);
	if (!v->len)
		refuse(v, dwarf_tag(&t->die) == DW_TAG_array_type ? UNKNOWN_LENGTH : UNKNOWN_TYPE);
}

/* In a method the members of its object have names of their own.  Returns false if the name is not one of them. */
static bool find_field(struct lookup *l, struct ts_variable *v, const char *text, size_t len)
{
	struct ts_die_facts f;
	struct typed t, object;
	uint64_t off = 0;

	if (!l->has_object || (l->has_found && !l->is_enclosing))
		return false;
	ts_die_collect(&l->budget, &l->object, &f);
	object = t = (struct typed){ .die = f.type, .has_type = f.has_type };
	if (!strip(l, &t, &f) || !is_pointer(dwarf_tag(&t.die)))
		return false;
	t = (struct typed){ .die = f.type, .has_type = f.has_type };
	if (!strip(l, &t, &f) || !find_member(l, &t.die, text, l->name_len, &f, &off, 0))
		return false;
	ts_location_find(l->p, l->frame, &l->object, &l->object_function, v);
	if (v->kind != TS_VARIABLE_NOWHERE && take_member(l, v, &object, text, l->name_len))
		finish(l, v, &object, text + l->name_len, len - l->name_len);
	return true;
}

/* Where the code of the variable's function lies. */
static void take_code(struct lookup *l, struct ts_variable *v)
{
	ptrdiff_t at = 0;
	Dwarf_Addr base, first, end;

	while (ts_type_spend(&l->budget, 1) && (at = dwarf_ranges(&l->function, at, &base, &first, &end)) > 0) {
		if (first >= end)
			continue;
		if (v->n_code == TS_VARIABLE_RANGES) {
			at = -1;
			break;
		}
		v->code[v->n_code].first = first + l->frame->bias;
		v->code[v->n_code++].last = end - 1 + l->frame->bias;
	}
	if (at)
		v->n_code = 0;
}

static void find_place(struct lookup *l, struct ts_variable *v, const char *text, size_t len)
{
	struct ts_die_facts f;
	Dwarf_Addr entry;
	struct typed t;

	ts_location_find(l->p, l->frame, &l->found, &l->function, v);
	if (!dwarf_entrypc(&l->function, &entry) && entry)
		v->entry = entry + l->frame->bias;
	take_code(l, v);
	if (l->is_enclosing && (v->is_in_frame || v->kind != TS_VARIABLE_MEMORY)) {
		refuse(v, "is a variable of the enclosing function, whose frame is not searched for");
		return;
	}
	if (v->kind == TS_VARIABLE_NOWHERE)
		return;
	ts_die_collect(&l->budget, &l->found, &f);
	t = (struct typed){ .die = f.type, .has_type = f.has_type };
	finish(l, v, &t, text + l->name_len, len - l->name_len);
}

void ts_variables_find(struct ts_prototypes *p, const struct ts_variable_frame *frame, const char *text, size_t len,
		       struct ts_variable *v)
{
	struct lookup l = { .p = p, .frame = frame, .name = text, .name_len = identifier_len(text, len) };

	*v = (struct ts_variable){ .kind = TS_VARIABLE_NONE };
	if (!p->dwarf || !l.name_len)
		return;
	l.budget.left = ts_prototypes_allowance(p);
	find_variable(&l);
	if (!l.budget.left)
		refuse(v, "cannot be found: the debugging information has more entries than its length allows");
	else if (find_field(&l, v, text, len))
		return;
	else if (l.has_found)
		find_place(&l, v, text, len);
	else if (l.is_of_caller)
		v->why = "is a variable of the function around; the code of one that was inlined into it runs at position";
}

/* --------------------------------------------------------------------------------- variables outside of functions */

/* Does the variable lie where @g says?  The file may have several of one name. */
static bool is_at(struct lookup *l, Dwarf_Die *die, Dwarf_Die *unit, const struct ts_global *g)
{
	struct ts_variable v = { .kind = TS_VARIABLE_NONE };
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n = 0;

	if (!g->is_thread_local) {
		ts_location_find(l->p, l->frame, die, unit, &v);
		return v.kind == TS_VARIABLE_MEMORY && v.addr == g->addr;
	}
	return dwarf_attr_integrate(die, DW_AT_location, &at) && !dwarf_getlocation(&at, &ops, &n) && n == 2 &&
	       (ops[1].atom == DW_OP_form_tls_address || ops[1].atom == DW_OP_GNU_push_tls_address) && ops[0].number == g->off;
}

static bool find_global(struct lookup *l, Dwarf_Die *scope, Dwarf_Die *unit, const struct ts_global *g, unsigned depth)
{
	Dwarf_Die child;

	for (int got = dwarf_child(scope, &child); !got && depth < MAX_SCOPES && ts_type_spend(&l->budget, 1);
	     got = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		struct ts_die_facts f;

		if (tag == DW_TAG_namespace && find_global(l, &child, unit, g, depth + 1))
			return true;
		if (tag != DW_TAG_variable)
			continue;
		ts_die_collect(&l->budget, &child, &f);
		if (f.name && strlen(f.name) == l->name_len && !memcmp(f.name, l->name, l->name_len) && is_at(l, &child, unit, g)) {
			l->found = child;
			return true;
		}
	}
	return false;
}

void ts_variables_find_in(struct ts_prototypes *p, const struct ts_variable_frame *frame, const struct ts_global *g,
			  const char *text, size_t len, struct ts_variable *v)
{
	struct lookup l = { .p = p, .frame = frame, .name = text, .name_len = identifier_len(text, len) };
	struct ts_die_facts f;
	Dwarf_Die unit;
	struct typed t;

	*v = (struct ts_variable){ .kind = TS_VARIABLE_NONE };
	if (!p->dwarf || !l.name_len)
		return;
	l.budget.left = ts_prototypes_allowance(p);
	for (size_t i = 0; i < p->n_units && !l.has_found; i++)
		l.has_found = ts_type_spend(&l.budget, 1) && dwarf_offdie(p->dwarf, p->units[i].off, &unit) &&
			      find_global(&l, &unit, &unit, g, 0);
	if (!l.has_found)
		return;
	ts_die_collect(&l.budget, &l.found, &f);
	t = (struct typed){ .die = f.type, .has_type = f.has_type };
	v->kind = TS_VARIABLE_MEMORY;
	v->addr = g->addr;
	finish(&l, v, &t, text + l.name_len, len - l.name_len);
}
