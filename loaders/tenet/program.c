/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <elf.h>

#include "src/trace/elf.h"

#define PAGE_MASK UINT64_C(0xfff)

/* How far the file is moved from where it is linked, so that the page of its lowest segment is at @base. */
static uint64_t moved_to(const struct ts_elf *elf, uint64_t base)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < elf->n_loads; i++) {
		if (elf->loads[i].addr < lowest)
			lowest = elf->loads[i].addr;
	}
	return base - (lowest & ~PAGE_MASK);
}

static bool add_segments(struct ts_image *memory, struct ts_source *src, const struct ts_elf *elf, uint64_t moved,
			 struct ts_error *err)
{
	uint32_t source = ts_image_add_source(memory, src);
	bool done = source != UINT32_MAX || ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no code");

	for (size_t i = 0; i < elf->n_loads && done; i++) {
		const struct ts_elf_load *load = &elf->loads[i];

		if (!(load->prot & TS_PROT_WRITE) && load->file_len)
			done = ts_image_add(memory, 0, load->addr + moved, load->file_len, source, load->file_off, err);
	}
	return done;
}

bool tenet_add_program(struct ts_image *memory, const struct ts_loader_options *opt, struct ts_error *err)
{
	struct ts_source *src = opt->exec ? ts_source_open(opt->exec, err) : NULL;
	struct ts_error odd;
	struct ts_elf elf;
	bool done;

	ts_error_reset(&odd);
	if (!src || !ts_elf_init(&elf, src, &odd)) {
		ts_source_close(src);
		if (odd.code == TS_EIO || odd.code == TS_ENOMEM)
			*err = odd;
		return err->code == TS_OK;
	}
	if (!opt->exec_base && elf.type != ET_EXEC) {
		ts_source_close(src);
		done = true;
	} else {
		done = add_segments(memory, src, &elf, opt->exec_base ? moved_to(&elf, *opt->exec_base) : 0, err);
	}
	ts_elf_fini(&elf);
	return done;
}
