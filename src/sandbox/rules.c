/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void ts_sandbox_allow(struct ts_sandbox_rules *rules, enum ts_rule_kind kind, const char *path)
{
	if (kind == TS_RULE_IMAGES)
		path = "";
	if (!path)
		return;
	if (rules->n == rules->cap) {
		size_t cap = rules->cap ? 2 * rules->cap : 16;
		struct ts_rule *items = realloc(rules->items, cap * sizeof(*items));

		if (!items) {
			rules->is_failed = true;
			return;
		}
		rules->items = items;
		rules->cap = cap;
	}
	rules->items[rules->n] = (struct ts_rule){ kind, strdup(path) };
	if (rules->items[rules->n].path)
		rules->n++;
	else
		rules->is_failed = true;
}

void ts_sandbox_rules_fini(struct ts_sandbox_rules *rules)
{
	while (rules->n)
		free(rules->items[--rules->n].path);
	free(rules->items);
	*rules = (struct ts_sandbox_rules){ 0 };
}

/* ---------------------------------------------------------------------------------------------- names */

/* The folder of a path, and the name in it.  Returns false for a name that cannot be a file's. */
static bool split(const char *path, char folder[PATH_MAX], const char **name)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	*name = slash ? slash + 1 : path;
	if (len >= PATH_MAX || !**name || !strcmp(*name, ".") || !strcmp(*name, ".."))
		return false;
	memcpy(folder, path, len);
	folder[len] = '\0';
	if (!len)
		strcpy(folder, slash ? "/" : ".");
	return true;
}

/* Equal names are the same folder even if it does not exist: the call that uses it then reports why. */
static bool is_same_folder(const char *a, const char *b)
{
	struct stat x, y;

	if (!strcmp(a, b))
		return true;
	return !stat(a, &x) && !stat(b, &y) && S_ISDIR(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static bool has_random_end(const char *text, const char *prefix)
{
	size_t len = strlen(prefix), n = 0;

	if (strncmp(text, prefix, len))
		return false;
	while (isalnum((unsigned char)text[len + n]))
		n++;
	return n == 6 && !text[len + n];
}

/*
 * Is @name that of a file, or of one that is written aside, or of a section of an index that has its own
 * file?
 */
static bool is_aside(const char *name, const char *file, bool may_be_aside)
{
	static const char *const suffixes[] = { "",           ".part",       ".lock",
						".calls",     ".calls.part", ".find",
						".find.part", ".digests",    ".digests.part",
						".layout",    ".layout.part" };
	size_t len = strlen(file), i = 0;

	if (strncmp(name, file, len))
		return false;
	if (name[len] == '-' && may_be_aside) { /* an index of other options: -XXXXXXXX */
		while (i < 8 && isxdigit((unsigned char)name[len + 1 + i]))
			i++;
		len += i == 8 ? 9 : 0;
	}
	for (i = 0; i < (may_be_aside ? sizeof(suffixes) / sizeof(suffixes[0]) : 1); i++) {
		if (!strcmp(name + len, suffixes[i]))
			return true;
	}
	return may_be_aside && has_random_end(name + len, ".");
}

/* Is @path the file that the rule names, or aside of it? */
static bool names_file(const struct ts_rule *rule, const char *path, bool may_be_aside)
{
	char folder[PATH_MAX], other[PATH_MAX];
	const char *name, *file;

	if (!strcmp(path, rule->path))
		return true;
	return split(path, folder, &name) && split(rule->path, other, &file) &&
	       is_aside(name, file, may_be_aside) && is_same_folder(folder, other);
}

static bool is_in_folder(const char *path, const char *of)
{
	char folder[PATH_MAX];
	const char *name;

	return split(path, folder, &name) && is_same_folder(folder, of);
}

static bool is_folder_of(const struct ts_rule *rule, const char *path)
{
	char folder[PATH_MAX];
	const char *name;

	return split(rule->path, folder, &name) && is_same_folder(folder, path);
}

const char *ts_sandbox_below(const struct ts_rule *root, const char *path)
{
	size_t len = strlen(root->path);

	while (len > 1 && root->path[len - 1] == '/')
		len--;
	return !strncmp(path, root->path, len) && (path[len] == '/' || (len == 1 && *path == '/')) ? path + len : NULL;
}

/* The folder itself, or one that it lies in. */
static bool is_on_way(const char *path, const char *folder)
{
	size_t len = strlen(path);

	return len && !strncmp(path, folder, len) && (!folder[len] || folder[len] == '/');
}

/* ---------------------------------------------------------------------------------------------- rules */

static bool allows_folder(const struct ts_rule *rule, const char *path, enum ts_use use)
{
	char folder[PATH_MAX];
	const char *name;

	switch (use) {
	case TS_USE_READ:
	case TS_USE_WRITE:
		if (rule->kind == TS_RULE_FOLDER)
			return is_in_folder(path, rule->path);
		return split(path, folder, &name) && has_random_end(name, "unpacking-") &&
		       is_same_folder(folder, rule->path);
	case TS_USE_UNNAMED:
		return is_same_folder(path, rule->path);
	case TS_USE_FOLDER:
		return rule->kind == TS_RULE_FOLDER && is_same_folder(path, rule->path);
	case TS_USE_MKDIR:
		return rule->kind == TS_RULE_FOLDER && is_on_way(path, rule->path);
	}
	return false;
}

static bool allows(const struct ts_rule *rule, const char *path, enum ts_use use)
{
	switch (rule->kind) {
	case TS_RULE_READ:
	case TS_RULE_SEE:
		return use == TS_USE_READ && names_file(rule, path, false);
	case TS_RULE_WRITE:
	case TS_RULE_BESIDE:
		if (use == TS_USE_FOLDER)
			return is_folder_of(rule, path);
		return (use == TS_USE_READ || use == TS_USE_WRITE) && names_file(rule, path, true);
	case TS_RULE_FOLDER:
	case TS_RULE_TEMPORARY:
		return allows_folder(rule, path, use);
	case TS_RULE_ROOT:
		if (use == TS_USE_FOLDER)
			return is_same_folder(path, rule->path);
		return use == TS_USE_READ && ts_sandbox_below(rule, path);
	case TS_RULE_IMAGES:
		return use == TS_USE_READ && *path == '/';
	}
	return false;
}

const struct ts_rule *ts_sandbox_find_rule(const struct ts_sandbox_rules *rules, const char *path,
					   enum ts_use use)
{
	for (size_t i = 0; i < rules->n; i++) {
		if (allows(&rules->items[i], path, use))
			return &rules->items[i];
	}
	return NULL;
}
