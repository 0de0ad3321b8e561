/* SPDX-License-Identifier: MIT */
/*
 * Shows the register tables to tests that compare them with what gdb makes of them.
 *
 *      tdesc_dump list                       a line an architecture: name, gdb's name, byte order, optional
 *features tdesc_dump regs ARCH FEATURES         a line a register: number, offset, bytes, name, role
 *      tdesc_dump xml ARCH FEATURES [OSABI]  the target description
 *
 * FEATURES is the mask of optional features in hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/arch/arch.h"
#include "src/arch/tdesc.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"

static int list(void)
{
	unsigned n;
	const struct ts_arch *const *all = ts_arch_all(&n);

	for (unsigned i = 0; i < n; i++) {
		printf("%s %s %s", all[i]->name, all[i]->gdb_name, all[i]->is_big_endian ? "big" : "little");
		for (unsigned j = 0; j < all[i]->n_features; j++)
			if (all[i]->features[j].is_optional)
				printf(" %x=%s", 1u << j, all[i]->features[j].name);
		printf("\n");
	}
	return EXIT_SUCCESS;
}

static void print_regs(const struct ts_regset *set)
{
	static const char *const roles[TS_N_ROLES] = { "-", "pc", "sp", "fp", "flags", "restart" };

	for (unsigned i = 0; i < set->n_regs; i++)
		printf("%u %u %u %s %s\n", (unsigned)set->regs[i].regnum, (unsigned)set->regs[i].off,
		       set->regs[i].len, set->regs[i].name, roles[set->regs[i].role]);
}

static bool print_xml(const struct ts_regset *set, const char *osabi, struct ts_error *err)
{
	struct ts_buf xml;
	bool is_done;

	ts_buf_init(&xml);
	is_done = ts_tdesc_write(set, osabi, &xml, err);
	if (is_done)
		fwrite(xml.data, 1, xml.len, stdout);
	ts_buf_fini(&xml);
	return is_done;
}

int main(int argc, char **argv)
{
	const struct ts_arch *arch = argc > 3 ? ts_arch_find(argv[2]) : NULL;
	struct ts_regset set;
	struct ts_error err;
	bool is_done = true;

	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list();
	if (!arch || (strcmp(argv[1], "regs") != 0 && strcmp(argv[1], "xml") != 0))
		return EXIT_FAILURE;
	ts_error_reset(&err);
	if (!ts_regset_init(&set, arch, (uint32_t)strtoul(argv[3], NULL, 16), &err)) {
		fprintf(stderr, "tdesc_dump: %s\n", err.text);
		return EXIT_FAILURE;
	}
	if (strcmp(argv[1], "regs") == 0)
		print_regs(&set);
	else
		is_done = print_xml(&set, argc > 4 ? argv[4] : NULL, &err);
	ts_regset_fini(&set);
	if (!is_done)
		fprintf(stderr, "tdesc_dump: %s\n", err.text);
	return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}
