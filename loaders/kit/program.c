/* SPDX-License-Identifier: MIT */
#include "program.h"

#include "src/object/elf_image.h"
#include "src/object/object.h"
#include "src/trace/step.h"

#define PAGE_MASK UINT64_C(0xfff)

uint64_t kit_program_moved(const struct ts_elf *elf, uint64_t base)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < elf->n_loads; i++) {
		if (elf->loads[i].addr < lowest)
			lowest = elf->loads[i].addr;
	}
	return base - (lowest & ~PAGE_MASK);
}

/* A segment that the program cannot write. */
static bool is_constant(const struct ts_elf_load *load)
{
	return !(load->prot & TS_PROT_WRITE) && load->file_len;
}

static bool add_segments(struct ts_image *memory, struct ts_source *src, const struct ts_object *o,
			 uint64_t moved, struct ts_error *err)
{
	uint32_t source = ts_image_add_source(memory, src);
	bool done =
		source != UINT32_MAX || ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for code");

	for (size_t i = 0; i < o->n_loads && done; i++) {
		const struct ts_elf_load *load = &o->loads[i];

		if (is_constant(load))
			done = ts_image_add(memory, 0, load->addr + moved, load->file_len, source,
					    load->file_off, err);
	}
	return done;
}

/*
 * How far the file is moved from where it is linked.  Returns false if that is not known, or if its code is then another
 * one than in the file: the loader of a PE file changes words in it.
 */
static bool find_move(const struct ts_object *o, const uint64_t *base, const uint64_t *entry, uint64_t *moved)
{
	*moved = base ? *base - o->first : entry ? *entry - o->entry : 0;
	if (o->is_pe)
		return !*moved && (base || !o->is_movable);
	return base || entry || !o->is_movable;
}

/* May all segments be the program's?  Returns false if they cannot be read. */
static bool compare_segments(const struct ts_source *src, const struct ts_object *o, uint64_t moved,
			     kit_program_compare *compare, void *user, bool *is_same, struct ts_error *err)
{
	bool done = true;

	*is_same = true;
	for (size_t i = 0; i < o->n_loads && done && *is_same; i++) {
		const struct ts_elf_load *load = &o->loads[i];

		if (is_constant(load))
			done = compare(user, load->addr + moved, load->file_len, src, load->file_off, is_same,
				       err);
	}
	return done;
}

bool kit_program_add(struct ts_image *memory, const char *path, const uint64_t *base, const uint64_t *entry,
		     kit_program_compare *compare, void *user, struct ts_error *err)
{
	struct ts_source *src = path ? ts_source_open(path, err) : NULL;
	bool is_used, done = true;
	struct ts_error odd = { 0 };
	struct ts_object o;
	uint64_t moved;

	if (!src || !ts_object_init(&o, src, &odd)) {
		ts_source_close(src);
		if (odd.code == TS_EIO || odd.code == TS_ENOMEM)
			*err = odd;
		return err->code == TS_OK;
	}
	is_used = find_move(&o, base, entry, &moved);
	if (is_used && compare)
		done = compare_segments(src, &o, moved, compare, user, &is_used, err);
	if (done && is_used)
		done = add_segments(memory, src, &o, moved, err);
	else
		ts_source_close(src);
	ts_object_fini(&o);
	return done;
}

void kit_program_forget(const struct ts_image *memory, struct ts_steps *out)
{
	uint64_t addr = 0;

	for (;;) {
		uint64_t first = UINT64_MAX, last = UINT64_MAX;

		for (size_t i = 0; i < memory->n_ranges; i++) {
			if (memory->ranges[i].last >= addr && memory->ranges[i].first < first) {
				first = memory->ranges[i].first;
				last = memory->ranges[i].last;
			}
		}
		if (first > addr)
			ts_steps_effect(out, TS_FX_FORGET, addr, first - addr);
		if (last == UINT64_MAX)
			break;
		addr = last + 1;
	}
}
