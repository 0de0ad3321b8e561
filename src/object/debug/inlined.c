/* SPDX-License-Identifier: MIT */
#include "prototypes.h"

#include <stdlib.h>
#include <string.h>

#include "prototypes_parts.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

#define MAX_SCOPES 64u

/* Attributes and entries that are examined: some tenths of a second. */
#define MAX_LOOKS (UINT64_C(1) << 22)

struct walk {
	struct ts_prototypes *p;
	struct ts_type_budget budget;
	const char *function; /* that has the code */
	bool has_failed;      /* memory is exhausted */
};

static void add(struct walk *w, Dwarf_Die *die, const char *name)
{
	struct ts_prototypes *p = w->p;
	Dwarf_Addr entry;

	if (!name || dwarf_entrypc(die, &entry))
		return;
	w->has_failed |= !ts_vec_reserve(&p->inlined, p->n_inlined, &p->cap_inlined, 1, sizeof(*p->inlined));
	if (!w->has_failed)
		p->inlined[p->n_inlined++] = (struct ts_prototype_inlined){ name, w->function, entry };
}

static void walk(struct walk *w, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;

	for (int got = dwarf_child(die, &child); !got && !w->has_failed && depth < MAX_SCOPES && ts_type_spend(&w->budget, 1);
	     got = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		const char *outer = w->function;
		struct ts_die_facts f;

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			ts_die_collect(&w->budget, &child, &f);
		if (tag == DW_TAG_subprogram)
			w->function = f.name;
		else if (tag == DW_TAG_inlined_subroutine)
			add(w, &child, f.name);
		walk(w, &child, depth + 1);
		w->function = outer;
	}
}

static int by_name(const void *a, const void *b)
{
	const struct ts_prototype_inlined *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void list(struct ts_prototypes *p)
{
	uint64_t allowance = ts_prototypes_allowance(p);
	struct walk w = { .p = p, .budget.left = allowance < MAX_LOOKS ? allowance : MAX_LOOKS };

	p->has_inlined = true;
	for (size_t i = 0; p->dwarf && i < p->n_units && !w.has_failed && ts_type_spend(&w.budget, 1); i++) {
		Dwarf_Die die;

		w.function = NULL;
		if (dwarf_offdie(p->dwarf, p->units[i].off, &die))
			walk(&w, &die, 0);
	}
	p->has_all_inlined = w.budget.left && !w.has_failed;
	if (p->n_inlined)
		qsort(p->inlined, p->n_inlined, sizeof(*p->inlined), by_name);
}

/* Is the name of the item before (-1) or after (1) the one that is looked for? */
static int compare(const struct ts_prototype_inlined *x, const char *name, size_t len)
{
	int order = strncmp(x->name, name, len);

	return order ? order : x->name[len] != '\0';
}

bool ts_inlined_find(struct ts_prototypes *p, const char *name, size_t len,
		     void (*found)(void *user, uint64_t addr, const char *function), void *user)
{
	const char *colon = len ? memrchr(name, ':', len) : NULL;
	size_t at = 0;

	if (!p->has_inlined)
		list(p);
	if (colon) {
		len -= (size_t)(colon + 1 - name);
		name = colon + 1;
	}
	TS_BISECT(at, p->n_inlined, i, compare(&p->inlined[i], name, len) < 0);
	for (; at < p->n_inlined && !compare(&p->inlined[at], name, len); at++)
		found(user, p->inlined[at].addr, p->inlined[at].function);
	return p->has_all_inlined;
}
