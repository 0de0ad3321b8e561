/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "src/base/source_name.h"
#include "src/base/text/suffix.h"
#include "src/base/collections/vec.h"

/* Is the rule one for all files of a folder? */
static bool is_of_folder(enum ts_rule_kind kind)
{
	return kind == TS_RULE_FOLDER || kind == TS_RULE_TEMPORARY || kind == TS_RULE_ROOT;
}

/* Is it about files wherever they are? */
static bool has_no_path(enum ts_rule_kind kind)
{
	return kind == TS_RULE_IMAGES || kind == TS_RULE_SOURCES;
}

static const char *name_in(enum ts_rule_kind kind, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (is_of_folder(kind))
		return path + strlen(path);
	return slash ? slash + 1 : path;
}

void ts_sandbox_allow(struct ts_sandbox_rules *rules, enum ts_rule_kind kind, const char *path)
{
	char *copy;

	if (has_no_path(kind))
		path = "";
	if (!path)
		return;
	if (!ts_vec_reserve(&rules->items, rules->n, &rules->cap, 1, sizeof(*rules->items))) {
		rules->is_failed = true;
		return;
	}
	copy = strdup(path);
	if (!copy) {
		rules->is_failed = true;
		return;
	}
	rules->items[rules->n++] = (struct ts_rule){ .kind = kind, .path = copy, .name = name_in(kind, copy), .dir = -1 };
}

void ts_sandbox_rules_fini(struct ts_sandbox_rules *rules)
{
	while (rules->n) {
		struct ts_rule *rule = &rules->items[--rules->n];

		if (rule->dir >= 0 && !rule->is_shared)
			close(rule->dir);
		free(rule->path);
	}
	free(rules->items);
	*rules = (struct ts_sandbox_rules){ 0 };
}

/* --------------------------------------------------------------------------------------------- folders */

/* Returns false, with errno, if there are too many open files. */
static bool open_rule(struct ts_rule *rule)
{
	struct ts_place place;

	if (has_no_path(rule->kind))
		return true;
	rule->error = ENAMETOOLONG;
	if (strlen(rule->path) >= sizeof(place.path))
		return true;
	strcpy(place.path, rule->path);
	ts_place_open(&place, AT_FDCWD, is_of_folder(rule->kind));
	rule->dir = place.dir;
	rule->error = place.error;
	rule->dev = place.dev;
	rule->ino = place.ino;
	errno = place.error;
	return place.dir >= 0 || (place.error != EMFILE && place.error != ENFILE);
}

static bool is_same_folder(const struct ts_rule *a, const struct ts_rule *b)
{
	return a->dir >= 0 && b->dir >= 0 && a->dev == b->dev && a->ino == b->ino;
}

/* Rules of the same folder share a descriptor: a command may have thousands of traces. */
static void share_folder(const struct ts_sandbox_rules *rules, struct ts_rule *rule)
{
	for (const struct ts_rule *other = rules->items; other < rule; other++) {
		if (!is_same_folder(other, rule))
			continue;
		close(rule->dir);
		rule->dir = other->dir;
		rule->is_shared = true;
		return;
	}
}

bool ts_sandbox_rules_open(struct ts_sandbox_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		if (!open_rule(&rules->items[i]))
			return false;
		share_folder(rules, &rules->items[i]);
	}
	return true;
}

/* ----------------------------------------------------------------------------------------------- names */

static bool is_text_of(const char *text, size_t len, int (*is_one)(int c))
{
	size_t n = 0;

	while (is_one((unsigned char)text[n]))
		n++;
	return n == len && !text[len];
}

static bool has_random_end(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return !strncmp(text, prefix, len) && is_text_of(text + len, 6, isalnum);
}

/* ".segment-12", ".segment-12.part": a part of a recording, of an index that several machines build. */
static bool is_segment(const char *suffix)
{
	static const char word[] = ".segment-";
	size_t i = strlen(word);

	if (strncmp(suffix, word, i))
		return false;
	while (isdigit((unsigned char)suffix[i]) && i < strlen(word) + 6)
		i++;
	return i > strlen(word) && (!suffix[i] || !strcmp(suffix + i, ".part"));
}

/*
 * Is @name that of a file that is written aside of @file, or of a section of an index that has its own file?
 */
static bool is_aside(const char *name, const char *file)
{
	static const char *const suffixes[] = { "",           ".part",       ".lock",
						".calls",     ".calls.part", ".find",
						".find.part", ".digests",    ".digests.part",
						".layout",    ".layout.part" };
	size_t len = strlen(file), i = 0;

	if (strncmp(name, file, len))
		return false;
	if (name[len] == '-') { /* an index of other options: -XXXXXXXX */
		while (i < 8 && isxdigit((unsigned char)name[len + 1 + i]))
			i++;
		len += i == 8 ? 9 : 0;
	}
	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (!strcmp(name + len, suffixes[i]))
			return true;
	}
	return has_random_end(name + len, ".") || is_segment(name + len);
}

/* Equal paths are the same folder even if it could not be opened: the call then reports why. */
static bool is_in_folder(const struct ts_rule *rule, const struct ts_place *place)
{
	if (place->dir >= 0 && rule->dir >= 0)
		return place->dev == rule->dev && place->ino == rule->ino;
	return !place->is_relative && rule->dir < 0 && rule->name - rule->path == place->name - place->path &&
	       !strncmp(place->path, rule->path, (size_t)(rule->name - rule->path));
}

bool ts_rule_is_named(const struct ts_rule *rule, const struct ts_place *place)
{
	if (!place->is_relative && !strcmp(place->path, rule->path))
		return true;
	return !strcmp(place->name, rule->name) && is_in_folder(rule, place);
}

const char *ts_sandbox_below(const struct ts_rule *root, const struct ts_place *place)
{
	size_t len = strlen(root->path);

	if (place->is_relative)
		return place->dir >= 0 && is_in_folder(root, place) ? place->path : NULL;
	while (len > 1 && root->path[len - 1] == '/')
		len--;
	if (strncmp(place->path, root->path, len))
		return NULL;
	return place->path[len] == '/' || (len == 1 && *place->path == '/') ? place->path + len : NULL;
}

/* ----------------------------------------------------------------------------------------------- rules */

bool ts_use_is_of_folder(enum ts_use use)
{
	return use == TS_USE_FOLDER || use == TS_USE_UNNAMED;
}

static bool allows_aside(const struct ts_rule *rule, const struct ts_place *place, enum ts_use use)
{
	if (use == TS_USE_UNNAMED)
		return false;
	return is_in_folder(rule, place) && (use == TS_USE_FOLDER || is_aside(place->name, rule->name));
}

/* Any of these names; one that begins with a dot would be read by other programs of the user. */
static bool allows_in_folder(const struct ts_rule *rule, const struct ts_place *place)
{
	return *place->name != '.' && is_in_folder(rule, place);
}

static bool allows_temporary(const struct ts_rule *rule, const struct ts_place *place, enum ts_use use)
{
	if (use == TS_USE_UNNAMED)
		return is_in_folder(rule, place);
	return (use == TS_USE_CREATE || use == TS_USE_REMOVE) && has_random_end(place->name, "unpacking-") &&
	       is_in_folder(rule, place);
}

static bool allows_spare(const struct ts_rule *rule, const struct ts_place *place, enum ts_use use)
{
	if (use != TS_USE_REMOVE)
		return use == TS_USE_FOLDER && is_in_folder(rule, place);
	return ts_has_suffix(place->name, rule->name) && is_in_folder(rule, place);
}

static bool allows_kept(const struct ts_rule *rule, const struct ts_place *place, enum ts_use use)
{
	if (ts_use_is_of_folder(use))
		return is_in_folder(rule, place);
	return !strncmp(place->name, rule->name, strlen(rule->name)) && is_in_folder(rule, place);
}

static bool allows_root(const struct ts_rule *rule, const struct ts_place *place, enum ts_use use)
{
	if (use == TS_USE_FOLDER)
		return is_in_folder(rule, place);
	return use == TS_USE_READ && ts_sandbox_below(rule, place);
}

static bool allows(const struct ts_rule *rule, const struct ts_place *place, enum ts_use use)
{
	switch (rule->kind) {
	case TS_RULE_READ:
	case TS_RULE_SEE:
		return use == TS_USE_READ && ts_rule_is_named(rule, place);
	case TS_RULE_WRITE:
	case TS_RULE_BESIDE:
		return allows_aside(rule, place, use);
	case TS_RULE_REMOVE:
		return use == TS_USE_REMOVE && ts_rule_is_named(rule, place);
	case TS_RULE_FOLDER:
		return allows_in_folder(rule, place);
	case TS_RULE_KEPT:
		return allows_kept(rule, place, use);
	case TS_RULE_SPARE:
		return allows_spare(rule, place, use);
	case TS_RULE_TEMPORARY:
		return allows_temporary(rule, place, use);
	case TS_RULE_ROOT:
		return allows_root(rule, place, use);
	case TS_RULE_SOURCES:
		return use == TS_USE_READ && !place->is_relative && *place->path == '/' && ts_is_source_name(place->path);
	case TS_RULE_IMAGES:
		return use == TS_USE_READ && !place->is_relative && *place->path == '/';
	}
	return false;
}

const struct ts_rule *ts_sandbox_find_rule(const struct ts_sandbox_rules *rules, const struct ts_place *place,
					   enum ts_use use)
{
	for (size_t i = 0; i < rules->n; i++) {
		if (allows(&rules->items[i], place, use))
			return &rules->items[i];
	}
	return NULL;
}

/* ----------------------------------------------------------------------------------------- places */

/* Is the file on a file system of the kernel's, such as /proc or /sys? */
static bool is_of_kernel(int fd)
{
	static const unsigned long types[] = { PROC_SUPER_MAGIC, SYSFS_MAGIC,  DEBUGFS_MAGIC,	   TRACEFS_MAGIC,
					       SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC };
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if ((unsigned long)fs.f_type == types[i])
			return true;
	}
	return false;
}

int ts_place_resolve(int base, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_PATH | O_CLOEXEC), .resolve = RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, base, path, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* an old kernel, or a container's filter */
		fd = openat(base, path, flags | O_PATH | O_CLOEXEC);
	if (fd < 0 || !is_of_kernel(fd))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

/* Open the folder, whose path ends at @end. */
static void open_folder(struct ts_place *place, int base, const char *path)
{
	struct stat st;

	place->dir = ts_place_resolve(base, path, O_DIRECTORY);
	if (place->dir < 0 || fstat(place->dir, &st)) {
		place->error = errno;
		ts_place_close(place);
		return;
	}
	place->dev = st.st_dev;
	place->ino = st.st_ino;
}

void ts_place_open(struct ts_place *place, int base, bool is_folder)
{
	char *slash = is_folder ? NULL : strrchr(place->path, '/'), folder[PATH_MAX];
	size_t len = slash ? (size_t)(slash - place->path) : 0;

	place->dir = -1;
	place->error = EACCES;
	place->name = is_folder ? "" : slash ? slash + 1 : place->path;
	if (is_folder) {
		open_folder(place, base, place->path);
		return;
	}
	if (!*place->name || !strcmp(place->name, ".") || !strcmp(place->name, ".."))
		return;
	memcpy(folder, place->path, len);
	folder[len] = '\0';
	open_folder(place, base, len ? folder : slash ? "/" : ".");
}

void ts_place_close(struct ts_place *place)
{
	if (place->dir >= 0)
		close(place->dir);
	place->dir = -1;
}
