/* SPDX-License-Identifier: MIT */
#include "loaded_files.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

/* Modules may overlap: at most this many before an address are examined. */
#define MAX_BACK 64u

void ts_loaded_fini(struct ts_loaded_files *m)
{
	for (size_t i = 0; i < m->n; i++)
		free((char *)m->items[i].path);
	free(m->items);
	*m = (struct ts_loaded_files){ 0 };
}

bool ts_loaded_add(struct ts_loaded_files *m, const struct ts_loaded_file *module)
{
	char *path = strdup(module->path);

	if (!path || !ts_vec_reserve(&m->items, m->n, &m->cap, 1, sizeof(*m->items))) {
		free(path);
		return false;
	}
	m->items[m->n] = *module;
	m->items[m->n++].path = path;
	m->is_sorted = false;
	return true;
}

/* Of several at one address the user's own comes first, then the larger one. */
static int by_address(const void *a, const void *b)
{
	const struct ts_loaded_file *x = a;
	const struct ts_loaded_file *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->is_own != y->is_own)
		return x->is_own ? -1 : 1;
	return x->last > y->last ? -1 : x->last < y->last;
}

static void sort(struct ts_loaded_files *m)
{
	if (!m->is_sorted && m->n)
		qsort(m->items, m->n, sizeof(*m->items), by_address);
	m->is_sorted = true;
}

const struct ts_loaded_file *ts_loaded_get(struct ts_loaded_files *m, size_t i)
{
	sort(m);
	return i < m->n ? &m->items[i] : NULL;
}

const struct ts_loaded_file *ts_loaded_at(struct ts_loaded_files *m, uint64_t addr)
{
	const struct ts_loaded_file *found = NULL;
	size_t at = 0;

	sort(m);
	TS_BISECT(at, m->n, i, m->items[i].first <= addr);
	for (size_t n = 0; at-- > 0 && n < MAX_BACK; n++) {
		if (m->items[at].last >= addr && (!found || (!found->is_own && m->items[at].first == found->first)))
			found = &m->items[at];
	}
	return found;
}

/* ------------------------------------------------------------------------------------------------- names */

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcasecmp(text + len - n, end);
}

static bool is_windows(const char *path)
{
	return strchr(path, '\\') || ends_with(path, ".exe") || ends_with(path, ".dll") || ends_with(path, ".sys");
}

static const char *last_part(const char *path)
{
	for (const char *p = path; *p; p++) {
		if (*p == '/' || *p == '\\')
			path = p + 1;
	}
	return path;
}

/* The bytes of a file's name before ".so" or the last dot. */
static size_t stem_len(const char *name)
{
	const char *so = strstr(name, ".so"), *dot = strrchr(name, '.');

	if (so && so > name && (!so[3] || so[3] == '.'))
		return (size_t)(so - name);
	return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

static bool is_text(const char *text, size_t text_len, const char *name, size_t len, bool any_case)
{
	return text_len == len && !(any_case ? strncasecmp(text, name, len) : strncmp(text, name, len));
}

bool ts_loaded_is_called(const struct ts_loaded_file *module, const char *name, size_t len)
{
	const char *base = last_part(module->path);
	bool any_case = is_windows(module->path);

	return len && (is_text(module->path, strlen(module->path), name, len, any_case) ||
		       is_text(base, strlen(base), name, len, any_case) ||
		       is_text(base, stem_len(base), name, len, any_case));
}

const struct ts_loaded_file *ts_loaded_find(struct ts_loaded_files *m, const char *name, size_t len, unsigned *n)
{
	const struct ts_loaded_file *found = NULL;

	*n = 0;
	sort(m);
	for (size_t i = 0; i < m->n; i++) {
		const struct ts_loaded_file *x = &m->items[i];

		if (x->is_part || !ts_loaded_is_called(x, name, len) || (found && found->first == x->first) ||
		    (found && found->is_own && !x->is_own))
			continue;
		*n = found && found->is_own == x->is_own ? *n + 1 : 1;
		found = x;
	}
	return *n == 1 ? found : NULL;
}
