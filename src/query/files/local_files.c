/* SPDX-License-Identifier: MIT */
#include "local_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/log.h"
#include "src/base/collections/vec.h"
#include "locate.h"
#include "src/query/paging.h"

/* Headers and the build-id lie in the first page of a file, which no program changes. */
#define HEAD_LEN 4096u

/* So much of it known from the beginning includes the build-id of any usual linker. */
#define ENOUGH_HEAD 1024u

/* A hostile client may ask for any number of names. */
#define MAX_FILES 4096u

void ts_local_files_init(struct ts_local_files *files, struct ts_query *q)
{
	*files = (struct ts_local_files){ .q = q };
}

void ts_local_files_fini(struct ts_local_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		free(files->items[i].path);
		free(files->items[i].copy);
		ts_source_close(files->items[i].src);
	}
	free(files->items);
	if (files->has_samples)
		ts_code_samples_fini(&files->samples);
	*files = (struct ts_local_files){ 0 };
}

enum verdict {
	OTHER_FILE,
	SAME_FILE,
	UNDECIDED, /* the recording shows too little */
};

/* Compare the beginning of the file with memory at @pos. */
static enum verdict compare_heads(struct ts_query *q, const struct ts_module_info *m, uint64_t pos,
				  const struct ts_source *src)
{
	uint8_t data[HEAD_LEN], known[HEAD_LEN], head[HEAD_LEN];
	struct ts_error ignored = { 0 };
	size_t got, n_known = 0;

	if (!ts_virtual_mem(q, pos, m->process, m->first, HEAD_LEN, data, known, &ignored) ||
	    !ts_source_read(src, 0, head, HEAD_LEN, &got, &ignored))
		return UNDECIDED;
	for (size_t i = 0; i < got; i++) {
		if (known[i] && data[i] != head[i])
			return OTHER_FILE;
		n_known += known[i] && n_known == i;
	}
	return n_known >= ENOUGH_HEAD ? SAME_FILE : UNDECIDED;
}

bool ts_local_file_is_program(struct ts_query *q, const struct ts_source *src)
{
	struct ts_module_info m = { .process = ts_query_process(q, ts_query_thread(q, 0)) };
	struct ts_error ignored = { 0 };
	struct ts_object object;
	struct ts_located at;
	bool is_it;

	if (!ts_object_init(&object, src, &ignored))
		return false;
	is_it = ts_locate(q, src, &object, m.process, NULL, &at, &ignored) && at.by != TS_LOCATED_NOT &&
		at.match.n_same && !at.match.n_different;
	m.first = at.first;
	ts_object_fini(&object);
	return is_it && compare_heads(q, &m, 0, src) != OTHER_FILE;
}

static bool take_samples(struct ts_local_files *files, uint32_t process)
{
	struct ts_error ignored = { 0 };

	if (files->has_samples && files->process == process)
		return true;
	if (files->has_samples)
		ts_code_samples_fini(&files->samples);
	files->process = process;
	files->has_samples = ts_code_samples_init(&files->samples, files->q, process, &ignored);
	return files->has_samples;
}

/* By the code that was executed in it. */
static enum verdict compare_code(struct ts_local_files *files, const struct ts_module_info *m,
				 const struct ts_source *src)
{
	struct ts_error ignored = { 0 };
	struct ts_code_match match = { 0 };
	struct ts_object object;
	bool done;

	if (!take_samples(files, m->process) || !ts_object_init(&object, src, &ignored))
		return OTHER_FILE;
	done = ts_code_match(&files->samples, src, &object, m->first - object.first, &match, &ignored);
	ts_object_fini(&object);
	if (!done || !(match.n_same + match.n_different))
		return UNDECIDED;
	return ts_code_is_match(&match) ? SAME_FILE : OTHER_FILE;
}

/* ELF or PE: a program may map any file of its user as code. */
static bool is_image(const struct ts_source *src)
{
	struct ts_error ignored = { 0 };
	uint8_t head[4] = { 0 };
	size_t got;

	return ts_source_read(src, 0, head, sizeof(head), &got, &ignored) &&
	       (!memcmp(head, "\x7f" "ELF", 4) || !memcmp(head, "MZ", 2));
}

static bool is_recorded(struct ts_local_files *files, const struct ts_module_info *m,
			const struct ts_source *src)
{
	enum verdict v = is_image(src) ? compare_heads(files->q, m, m->from, src) : OTHER_FILE;

	if (v == UNDECIDED)
		v = compare_heads(files->q, m, ts_query_end(files->q), src);
	if (v == UNDECIDED)
		v = compare_code(files, m, src);
	return v == SAME_FILE;
}

/*
 * The module of this file, or of another name of the file on this machine.  A recording may have thousands of
 * modules: system calls are made only for names that no module has.
 */
static bool find_module(const struct ts_query *q, const char *path, struct ts_module_info *m)
{
	struct stat st, other;

	for (size_t i = 0; ts_query_module(q, i, m); i++) {
		if (m->file && strcmp(m->file, path) == 0)
			return true;
	}
	if (stat(path, &st))
		return false;
	for (size_t i = 0; ts_query_module(q, i, m); i++) {
		if (m->file && *m->file == '/' && !stat(m->file, &other) && st.st_dev == other.st_dev &&
		    st.st_ino == other.st_ino)
			return true;
	}
	return false;
}

bool ts_kept_name(const char *path, char name[NAME_MAX + 1])
{
	size_t n = 0;

	for (; *path && n <= NAME_MAX; path++) {
		bool is_coded = *path == '/' || *path == '%';

		n += (size_t)snprintf(name + n, NAME_MAX + 1 - n, is_coded ? "%%%02X" : "%c", (unsigned char)*path);
	}
	return n && n <= NAME_MAX;
}

/* The copy of the module that was made when it was recorded; NULL if none is found, or it is another file. */
static struct ts_source *open_kept(struct ts_local_files *files, const struct ts_module_info *m, char **copy)
{
	struct ts_error ignored = { 0 };
	char name[NAME_MAX + 1], path[PATH_MAX + NAME_MAX + 2];
	struct ts_source *src;

	if (!files->kept || !m->file || !ts_kept_name(m->file, name))
		return NULL;
	snprintf(path, sizeof(path), "%s%s", files->kept, name);
	src = ts_source_open(path, &ignored);
	if (src && is_recorded(files, m, src)) {
		*copy = strdup(path);
		return src;
	}
	ts_source_close(src);
	return NULL;
}

/* The copy of the module that came with the recording; NULL if none is found, or it is another file. */
static struct ts_source *open_packed(struct ts_local_files *files, const struct ts_module_info *m, char **copy)
{
	struct ts_error ignored = { 0 };
	struct ts_source *src = NULL;
	const char *path = NULL;

	for (size_t i = 0; i < files->n_packed && !src; i++) {
		path = files->packed[i].path;
		if (files->packed[i].first == m->first)
			src = ts_source_open(path, &ignored);
	}
	if (src && is_recorded(files, m, src)) {
		*copy = strdup(path);
		return src;
	}
	ts_source_close(src);
	return NULL;
}

static struct ts_source *open_recorded(struct ts_local_files *files, const char *path, char **copy)
{
	struct ts_error err = { 0 };
	struct ts_module_info m;
	struct ts_source *src;

	if (*path != '/' || !find_module(files->q, path, &m))
		return NULL;
	src = open_packed(files, &m, copy);
	if (!src)
		src = open_kept(files, &m, copy);
	if (src)
		return src;
	src = ts_source_open(path, &err);
	if (!src) {
		ts_log(TS_LOG_INFO, "%s: %s", path, err.text);
		return NULL;
	}
	if (is_recorded(files, &m, src)) {
		ts_log(TS_LOG_INFO, "%s: the recorded file; used for symbols", path);
		return src;
	}
	ts_log(TS_LOG_WARN,
	       "%s: not the file that was recorded; ignored (--sysroot DIR names another folder)", path);
	ts_source_close(src);
	return NULL;
}

/* NULL: the file was not examined, and cannot be. */
static const struct ts_local_file *find_file(struct ts_local_files *files, const char *path)
{
	struct ts_local_file *item;

	for (size_t i = 0; i < files->n; i++) {
		if (strcmp(files->items[i].path, path) == 0)
			return &files->items[i];
	}
	if (files->n >= MAX_FILES || !ts_vec_reserve(&files->items, files->n, &files->cap, 1, sizeof(*files->items)))
		return NULL;
	item = &files->items[files->n];
	item->path = strdup(path);
	if (!item->path)
		return NULL;
	item->copy = NULL;
	item->src = open_recorded(files, path, &item->copy);
	files->n++;
	return item;
}

const struct ts_source *ts_local_file(struct ts_local_files *files, const char *path)
{
	const struct ts_local_file *item = find_file(files, path);

	return item ? item->src : NULL;
}

const char *ts_local_copy(struct ts_local_files *files, const char *path)
{
	const struct ts_local_file *item = find_file(files, path);

	return item ? item->copy : NULL;
}
