/* SPDX-License-Identifier: MIT */
/*
 * Which files a command may use, by name.
 *
 * A folder is compared by what it is, not by its name: "./x", "x" and a path through a link are the same
 * file.
 */
#ifndef TS_SANDBOX_RULES_H
#define TS_SANDBOX_RULES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum ts_rule_kind {
	TS_RULE_READ,	   /* this file, named by the user, for reading */
	TS_RULE_SEE,	   /* the same, not named by the user: never through a symbolic link */
	TS_RULE_WRITE,	   /* this file, named by the user, and what is written aside: NAME.part, .lock, .XXXXXX */
	TS_RULE_BESIDE,	   /* the same, not named by the user: never through a symbolic link */
	TS_RULE_FOLDER,	   /* any file in this folder, and the folder itself */
	TS_RULE_TEMPORARY, /* files without a name in this folder */
	TS_RULE_ROOT,	   /* files in the system with this root, for reading */
	TS_RULE_IMAGES,	   /* ELF and PE files, for reading; its path is not used */
};

struct ts_rule {
	enum ts_rule_kind kind;
	char *path; /* owned */
};

/* All zero: no file. */
struct ts_sandbox_rules {
	struct ts_rule *items; /* owned */
	size_t n, cap;
	bool is_failed; /* memory was exhausted: a rule is missing */
};

/* Add a rule; a NULL @path adds none, unless the kind has no path. */
void ts_sandbox_allow(struct ts_sandbox_rules *rules, enum ts_rule_kind kind, const char *path);
void ts_sandbox_rules_fini(struct ts_sandbox_rules *rules);

/* What a process wants to do with a name. */
enum ts_use {
	TS_USE_READ,	  /* open it for reading */
	TS_USE_FOLDER, /* open a folder, to sync or to list it */
	TS_USE_UNNAMED, /* make a file without a name in it */
	TS_USE_WRITE,  /* open it for writing, create, rename, link or remove it */
	TS_USE_MKDIR,
};

/* The rule that allows it, the first one in their order; NULL if none does. */
const struct ts_rule *ts_sandbox_find_rule(const struct ts_sandbox_rules *rules, const char *path,
					   enum ts_use use);

/* The part of @path below the root of a rule of that kind, "/lib/x.so". */
const char *ts_sandbox_below(const struct ts_rule *root, const char *path);

#endif
