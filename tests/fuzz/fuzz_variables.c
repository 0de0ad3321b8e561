/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a program's debugging information: parameters of functions, and where variables lie.  The last byte of the
 * input chooses the place in its code.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "src/object/object.h"
#include "src/object/debug/prototypes.h"
#include "src/object/debug/variables.h"

static bool read_register(void *user, unsigned number, uint64_t *value)
{
	(void)user;
	*value = 0x7fff0000u + number * 64;
	return number != 9;
}

static bool read_memory(void *user, uint64_t addr, unsigned len, uint64_t *value)
{
	(void)user;
	if (!len || len > 8)
		abort();
	*value = addr ^ 0x1234;
	return addr % 16 != 15;
}

static void check(const struct ts_variable *v)
{
	if (v->kind == TS_VARIABLE_NOWHERE && !v->why)
		abort();
	if ((v->kind == TS_VARIABLE_MEMORY || v->kind == TS_VARIABLE_REGISTER) && !v->len)
		abort();
}

static void look(struct ts_prototypes *p, uint64_t pc)
{
	static const char *const names[] = { "items", "items[1].at.y[1][0]", "items->next->at.x", "n", "sum", "each", "copy[2]" };
	struct ts_variable_frame frame = { .pc = pc, .bias = 0x10000, .reg = read_register, .mem = read_memory };
	const struct ts_prototype *f = ts_prototypes_find(p, pc);

	if (f && f->n > TS_MAX_PARAMETERS)
		abort();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct ts_variable v;

		ts_variables_find(p, &frame, names[i], strlen(names[i]), &v);
		check(&v);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_from_memory(bytes, len, "fuzz", &err);
	struct ts_prototypes *p = src ? ts_prototypes_new(src) : NULL;

	if (p && len) {
		for (unsigned i = 0; i < 8; i++)
			look(p, 0x401000 + bytes[len - 1] + 16 * i);
	}
	ts_prototypes_free(p);
	return 0;
}
