/* SPDX-License-Identifier: MIT */
/*
 * The files that a command may use, by name.
 *
 * The folder of a rule is opened once, before the sandboxed process can send a request.  A request names a file by the
 * descriptor of a folder and a name in it.  Folders are compared by device and inode, and the file is opened
 * through the descriptor that was compared.
 */
#ifndef TS_SANDBOX_RULES_H
#define TS_SANDBOX_RULES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The place of a file: an open folder, and a name in it.
 *
 * A path is resolved once, because its meaning may change at any time; the folder of a descriptor does not change.
 */
struct ts_place {
	char path[PATH_MAX]; /* the caller's path */
	const char *name;    /* in path: the last component; "" if the path is that of a folder */
	bool is_relative;    /* the path is relative to a descriptor */
	int dir;	     /* owned; the folder, opened with O_PATH; -1: not open */
	int error;	     /* errno if dir is -1 */
	dev_t dev;	     /* the folder's identity, with ino */
	ino_t ino;
};

/*
 * Open @path with O_PATH, relative to @base (AT_FDCWD or a folder) if it is not absolute.  Links that the kernel makes
 * up (/proc/PID/fd/N, /proc/PID/root) are not followed, and files below /proc and /sys are refused.
 *
 * Returns the descriptor, to be closed by the caller; -1 with errno.
 */
int ts_place_resolve(int base, const char *path, int flags);

/*
 * Look up the folder of place->path, which is filled, relative to @base; with @is_folder the path is the folder's.
 * AT_FDCWD is the working directory.
 *
 * The place is always filled: dir is -1 if the folder cannot be opened, or if the name is not valid for a file.
 */
void ts_place_open(struct ts_place *place, int base, bool is_folder);

void ts_place_close(struct ts_place *place);

enum ts_rule_kind {
	TS_RULE_READ,	   /* this file, named by the user, for reading */
	TS_RULE_SEE,	   /* as READ, but not named by the user: never through a symbolic link */
	TS_RULE_WRITE,	   /* this file, named by the user, and its temporary files NAME.part, .lock, .XXXXXX */
	TS_RULE_BESIDE,	   /* as WRITE, but not named by the user: never through a symbolic link */
	TS_RULE_REMOVE,	   /* this file may be removed */
	TS_RULE_FOLDER,	   /* the files in this folder whose names do not begin with a dot, and the folder itself */
	TS_RULE_KEPT,	   /* the files FOLDER/PREFIX*: its path is FOLDER/PREFIX */
	TS_RULE_SPARE,	   /* the files FOLDER/x*SUFFIX may be removed, and the folder listed: FOLDER/SUFFIX */
	TS_RULE_TEMPORARY, /* new files in this folder, without a name or with one that is unpacking-XXXXXX */
	TS_RULE_ROOT,	   /* files in the system with this root, for reading */
	TS_RULE_IMAGES,	   /* ELF and PE files, for reading; its path is not used */
	TS_RULE_SOURCES,   /* files with the name of a source, for reading; its path is not used */
};

struct ts_rule {
	enum ts_rule_kind kind;
	char *path;	  /* owned */
	const char *name; /* in path: the name in the folder; "" of a rule for a whole folder */
	int dir;	  /* owned; the folder, opened with O_PATH; -1: it could not be opened, or has not been */
	bool is_shared;	  /* dir is an earlier rule's */
	int error;	  /* errno if dir is -1 */
	dev_t dev;	  /* the folder's identity, with ino */
	ino_t ino;
};

/* All zero: no file. */
struct ts_sandbox_rules {
	struct ts_rule *items; /* owned */
	size_t n, cap;
	bool is_failed; /* memory was exhausted: a rule is missing */
};

/* Add a rule; a NULL @path adds none, unless the kind has no path. */
void ts_sandbox_allow(struct ts_sandbox_rules *rules, enum ts_rule_kind kind, const char *path);

/*
 * Open the folders of the rules.  A folder that cannot be opened is noted in its rule.
 *
 * Returns false, with errno, if the process or the system has too many open files.
 */
bool ts_sandbox_rules_open(struct ts_sandbox_rules *rules);

void ts_sandbox_rules_fini(struct ts_sandbox_rules *rules);

/* The requested use of a file. */
enum ts_use {
	TS_USE_READ,	/* open it for reading */
	TS_USE_FOLDER,	/* open a folder, to sync or to list it */
	TS_USE_UNNAMED, /* make a file without a name in it */
	TS_USE_CREATE,	/* make it: it does not exist yet */
	TS_USE_WRITE,	/* open it for writing, rename or link it */
	TS_USE_REMOVE,
};

/* Does the use concern the folder that its path names, and not a file in it? */
bool ts_use_is_of_folder(enum ts_use use);

/* Returns the first rule that permits the use, borrowed; NULL if no rule does. */
const struct ts_rule *ts_sandbox_find_rule(const struct ts_sandbox_rules *rules, const struct ts_place *place,
					   enum ts_use use);

/* Is @place the rule's own file, which the user named? */
bool ts_rule_is_named(const struct ts_rule *rule, const struct ts_place *place);

/*
 * Returns the part of the place's path that is below the root of a rule of that kind, "/lib/x.so", borrowed from @place.
 * Returns NULL if the place is outside of it.
 */
const char *ts_sandbox_below(const struct ts_rule *root, const struct ts_place *place);

/* --------------------------------------------------------------------------------------- broker.c */

/* Can this process read the memory of process @pid? */
bool ts_broker_can_read(pid_t pid);

/*
 * Answer the notifications of @fd (seccomp_unotify(2)) by @rules, until the last process of that filter has
 * ended.
 */
void ts_broker_run(int fd, const struct ts_sandbox_rules *rules);

#endif
