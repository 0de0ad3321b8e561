/* SPDX-License-Identifier: MIT */
#include "thread_locals.h"

#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "src/base/collections/vec.h"
#include "src/object/elf_image.h"
#include "src/object/symtab.h"

void ts_thread_locals_fini(struct ts_thread_locals *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].name);
		free(l->items[i].file);
	}
	free(l->items);
	*l = (struct ts_thread_locals){ 0 };
}

struct adding {
	struct ts_thread_locals *list;
	struct ts_thread_local like; /* what all of the file share; file is borrowed */
	bool is_failed;
};

static void add_one(void *user, const struct ts_symtab_entry *e)
{
	struct adding *a = user;
	struct ts_thread_local v = a->like;

	if (e->addr > v.block_len || e->len > v.block_len - e->addr || !e->len)
		return;
	v.off = e->addr;
	v.len = e->len;
	v.name = strdup(e->name);
	v.file = strdup(a->like.file);
	if (v.name && v.file && ts_vec_reserve(&a->list->items, a->list->n, &a->list->cap, 1, sizeof(v))) {
		a->list->items[a->list->n++] = v;
		return;
	}
	free(v.name);
	free(v.file);
	a->is_failed = true;
}

bool ts_thread_locals_add_file(struct ts_thread_locals *l, const struct ts_source *src, const char *path, uint64_t moved,
			       bool is_program)
{
	const char *slash = strrchr(path, '/');
	struct adding a = { .list = l };
	struct ts_error ignored = { 0 };
	struct ts_elf elf;

	if (!ts_elf_init(&elf, src, &ignored))
		return true;
	a.like = (struct ts_thread_local){ .block_len = elf.tls_len, .block_align = elf.tls_align, .is_program = is_program };
	a.like.moved = moved;
	a.like.dynamic = moved + elf.dynamic;
	a.like.file = (char *)(slash ? slash + 1 : path);
	ts_elf_fini(&elf);
	if (a.like.block_len)
		ts_symtab_walk_thread_locals(src, add_one, &a);
	return !a.is_failed;
}

static bool is_called(const struct ts_thread_local *v, const char *name, size_t len)
{
	char text[TS_MAX_DEMANGLED];

	if (strlen(v->name) == len && !memcmp(v->name, name, len))
		return true;
	return ts_demangle(v->name, text) && strlen(text) == len && !memcmp(text, name, len);
}

const struct ts_thread_local *ts_thread_locals_find(const struct ts_thread_locals *l, const char *name, size_t len,
						    unsigned *n)
{
	const struct ts_thread_local *best = NULL;

	*n = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct ts_thread_local *v = &l->items[i];

		if (!is_called(v, name, len) || (best && best->is_program > v->is_program))
			continue;
		if (best && best->is_program == v->is_program) {
			*n += best->off != v->off || best->moved != v->moved || strcmp(best->file, v->file) != 0;
			continue;
		}
		best = v;
		*n = 1;
	}
	return best;
}
