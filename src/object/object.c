/* SPDX-License-Identifier: MIT */
#include "object.h"

#include <stdlib.h>

#include "pe.h"

#define PAGE_LEN UINT64_C(0x1000)
#define ET_EXEC 2

static void take_elf(struct ts_object *o, struct ts_elf *elf)
{
	uint64_t lowest = elf->n_loads ? UINT64_MAX : 0;

	for (size_t i = 0; i < elf->n_loads; i++)
		lowest = elf->loads[i].addr < lowest ? elf->loads[i].addr : lowest;
	*o = (struct ts_object){ .is_movable = elf->type != ET_EXEC, .entry = elf->entry, .loads = elf->loads,
				 .n_loads = elf->n_loads, .first = lowest & ~(PAGE_LEN - 1) };
	elf->loads = NULL;
	ts_elf_fini(elf);
}

static bool take_pe(struct ts_object *o, const struct ts_pe *pe, struct ts_error *err)
{
	*o = (struct ts_object){ .is_pe = true,
				 .is_movable = pe->has_relocations,
				 .entry = pe->base + pe->entry,
				 .first = pe->base & ~(PAGE_LEN - 1),
				 .n_loads = pe->n_sections };
	o->loads = calloc(pe->n_sections + 1, sizeof(*o->loads));
	if (!o->loads)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for %zu sections", pe->n_sections);
	for (size_t i = 0; i < pe->n_sections; i++) {
		const struct ts_pe_section *s = &pe->sections[i];

		o->loads[i] = (struct ts_elf_load){ .addr = pe->base + s->addr,
						    .mem_len = s->file_len,
						    .file_off = s->file_off,
						    .file_len = s->file_len,
						    .prot = s->prot };
	}
	return true;
}

bool ts_object_init(struct ts_object *o, const struct ts_source *src, struct ts_error *err)
{
	struct ts_elf elf;
	struct ts_pe pe;
	bool done;

	if (ts_elf_init(&elf, src, err)) {
		take_elf(o, &elf);
		return true;
	}
	if (err->code != TS_EUNSUPPORTED)
		return false;
	ts_error_reset(err);
	if (!ts_pe_init(&pe, src, err))
		return false;
	done = take_pe(o, &pe, err);
	ts_pe_fini(&pe);
	return done;
}

void ts_object_fini(struct ts_object *o)
{
	free(o->loads);
	*o = (struct ts_object){ 0 };
}
