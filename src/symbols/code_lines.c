/* SPDX-License-Identifier: MIT */
#include "code_lines.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/buf.h"
#include "src/base/collections/hash.h"
#include "src/base/collections/hash_table.h"
#include "src/base/collections/vec.h"
#include "src/object/debug/linetab.h"

struct file {
	struct ts_source *src; /* owned */
	uint64_t bias;
};

struct ts_code_lines {
	struct file *files;         /* owned; those that have not been read yet */
	size_t n_files, cap_files;
	struct ts_code_line *items; /* owned; by address once all were read */
	size_t n, cap;
	char **names;               /* owned, and the names too */
	size_t n_names, cap_names;
	struct ts_hash_table by_name;
	struct ts_buf path;         /* the name that is looked up */
	uint64_t bias;              /* of the file that is being read */
	bool is_failed;             /* memory ran out: lines are missing */
};

struct ts_code_lines *ts_code_lines_new(void)
{
	struct ts_code_lines *l = calloc(1, sizeof(*l));

	if (l)
		ts_buf_init(&l->path);
	return l;
}

void ts_code_lines_free(struct ts_code_lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_files; i++)
		ts_source_close(l->files[i].src);
	for (size_t i = 0; i < l->n_names; i++)
		free(l->names[i]);
	free(l->files);
	free(l->items);
	free(l->names);
	ts_hash_table_fini(&l->by_name);
	ts_buf_fini(&l->path);
	free(l);
}

bool ts_code_lines_add_file(struct ts_code_lines *l, struct ts_source *src, uint64_t bias)
{
	if (!ts_vec_reserve(&l->files, l->n_files, &l->cap_files, 1, sizeof(*l->files))) {
		ts_source_close(src);
		return false;
	}
	l->files[l->n_files++] = (struct file){ src, bias };
	return true;
}

/* ------------------------------------------------------------------------------------------------ names */

static bool is_name(const void *user, uint32_t i, const void *name)
{
	return !strcmp(((const struct ts_code_lines *)user)->names[i], name);
}

static uint64_t hash(const char *name)
{
	return ts_hash_bytes(name, strlen(name));
}

static uint64_t hash_of_name(const void *user, uint32_t i)
{
	return hash(((const struct ts_code_lines *)user)->names[i]);
}

/* Packages are built with names in place of folders: "./stdlib" is part of the path "./stdlib/exit.c" then. */
static bool begins_in_folder(const struct ts_linetab_entry *e)
{
	size_t len = e->folder ? strlen(e->folder) : 0;

	return *e->file == '/' || !len || (*e->folder != '/' && !strncmp(e->file, e->folder, len) && e->file[len] == '/');
}

/* The one copy of the path; NULL if memory is exhausted. */
static const char *name_of(struct ts_code_lines *l, const struct ts_linetab_entry *e)
{
	uint32_t *slot;
	char *name;

	ts_buf_reset(&l->path);
	if (!begins_in_folder(e))
		ts_buf_printf(&l->path, "%s/", e->folder);
	ts_buf_puts(&l->path, e->file);
	if (!ts_buf_ok(&l->path) || !ts_vec_reserve(&l->names, l->n_names, &l->cap_names, 1, sizeof(char *)) ||
	    !ts_hash_table_reserve(&l->by_name, l->n_names, 1, hash_of_name, l))
		return NULL;
	slot = ts_hash_table_slot(&l->by_name, hash(ts_buf_text(&l->path)), is_name, l, ts_buf_text(&l->path));
	if (*slot)
		return l->names[*slot - 1];
	name = strdup(ts_buf_text(&l->path));
	if (!name)
		return NULL;
	l->names[l->n_names++] = name;
	*slot = (uint32_t)l->n_names;
	return name;
}

/* ----------------------------------------------------------------------------------------------- reading */

static void add(void *user, const struct ts_linetab_entry *e)
{
	struct ts_code_lines *l = user;
	const char *file = l->is_failed ? NULL : name_of(l, e);

	l->is_failed |= !file || !ts_vec_reserve(&l->items, l->n, &l->cap, 1, sizeof(*l->items));
	if (!l->is_failed)
		l->items[l->n++] = (struct ts_code_line){
			.addr = e->addr + l->bias, .len = e->len, .file = file, .line = e->line
		};
}

bool ts_code_lines_read(struct ts_code_lines *l)
{
	if (!l->n_files)
		return !l->is_failed;
	while (l->n_files) {
		const struct file *f = &l->files[--l->n_files];

		l->bias = f->bias;
		ts_linetab_walk(f->src, add, l);
		ts_source_close(f->src);
	}
	if (l->n)
		qsort(l->items, l->n, sizeof(*l->items), ts_by_u64);
	return !l->is_failed;
}

const struct ts_code_line *ts_code_lines_all(struct ts_code_lines *l, size_t *n)
{
	ts_code_lines_read(l);
	*n = l->n;
	return l->items;
}

const struct ts_code_line *ts_code_lines_at(struct ts_code_lines *l, uint64_t addr)
{
	size_t at = 0;

	ts_code_lines_read(l);
	TS_BISECT(at, l->n, i, l->items[i].addr <= addr);
	return at && addr - l->items[at - 1].addr < l->items[at - 1].len ? &l->items[at - 1] : NULL;
}

/* Is it the path, or the end of it after a slash? */
static bool is_called(const char *path, const char *name, size_t len)
{
	size_t n = strlen(path);

	return n >= len && !memcmp(path + n - len, name, len) && (n == len || path[n - len - 1] == '/');
}

size_t ts_code_lines_find(struct ts_code_lines *l, const char *name, size_t len, uint32_t line, uint64_t *addrs,
			  uint64_t *lens, size_t cap, bool *is_file)
{
	const char *file = NULL; /* the one that was compared last: they are the same pointers */
	bool is_same = false;
	uint64_t end = 0;
	size_t n = 0;

	*is_file = false;
	ts_code_lines_read(l);
	for (size_t i = 0; i < l->n; i++) {
		const struct ts_code_line *x = &l->items[i];

		if (x->file != file)
			is_same = is_called(x->file, name, len);
		file = x->file;
		*is_file |= is_same;
		if (!is_same || x->line != line)
			continue;
		if (n && x->addr == end && n <= cap) {
			lens[n - 1] += x->len;
		} else if (n++ < cap) {
			addrs[n - 1] = x->addr;
			lens[n - 1] = x->len;
		}
		end = x->addr + x->len;
	}
	return n;
}
