/* SPDX-License-Identifier: MIT */
/*
 * The names that a process in the sandbox gives to the broker.  A name that a rule allows to be written is that of a file in
 * the folder of the rule; no other folder is reached by any spelling.
 */
#include "fuzz.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/sandbox/rules.h"

static char top[32], kept[64], other[64]; /* kept: the folder of the rules; other: a folder beside it */

static void make(void)
{
	char link[96];

	strcpy(top, "/tmp/fuzz-places.XXXXXX");
	if (!mkdtemp(top))
		abort();
	snprintf(kept, sizeof(kept), "%s/kept", top);
	snprintf(other, sizeof(other), "%s/other", top);
	snprintf(link, sizeof(link), "%s/link", kept);
	if (mkdir(kept, 0700) || mkdir(other, 0700) || symlink("../other", link))
		abort();
}

static void drop(void)
{
	char link[96];

	snprintf(link, sizeof(link), "%s/link", kept);
	unlink(link);
	rmdir(kept);
	rmdir(other);
	rmdir(top);
}

static void allow(struct ts_sandbox_rules *rules, enum ts_rule_kind kind, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", kept, name);
	ts_sandbox_allow(rules, kind, path);
}

static bool is_kept(const struct ts_place *place)
{
	struct stat st;

	return !stat(kept, &st) && place->dev == st.st_dev && place->ino == st.st_ino;
}

static void check(const struct ts_sandbox_rules *rules, const struct ts_place *place)
{
	static const enum ts_use writing[] = { TS_USE_CREATE, TS_USE_WRITE, TS_USE_REMOVE };

	for (size_t i = 0; i < sizeof(writing) / sizeof(writing[0]); i++) {
		if (!ts_sandbox_find_rule(rules, place, writing[i]))
			continue;
		assert(place->dir >= 0 && is_kept(place) && *place->name && !strchr(place->name, '/'));
		assert(strcmp(place->name, ".") && strcmp(place->name, ".."));
		assert(!strncmp(place->name, "t.tsmarks", 9) || !strncmp(place->name, "t.tsindex", 9) ||
		       !strncmp(place->name, "0123-", 5) || strstr(place->name, ".unpacked"));
	}
}

/* One name, relative to the folder of the rules, to the folder above, or as it is. */
static void ask(const struct ts_sandbox_rules *rules, const char *name, size_t len)
{
	const char *const before[] = { "", kept, top, "/proc/self/cwd" };

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		struct ts_place place = { .dir = -1 };

		if (snprintf(place.path, sizeof(place.path), "%s%s%.*s", before[i], i ? "/" : "", (int)len, name) >=
		    (int)sizeof(place.path))
			return;
		ts_place_open(&place, AT_FDCWD, false);
		check(rules, &place);
		ts_place_close(&place);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ts_sandbox_rules rules = { 0 };

	make();
	allow(&rules, TS_RULE_BESIDE, "/t.tsmarks");
	allow(&rules, TS_RULE_WRITE, "/t.tsindex");
	allow(&rules, TS_RULE_KEPT, "/0123-");
	allow(&rules, TS_RULE_SPARE, "/.unpacked");
	if (!ts_sandbox_rules_open(&rules))
		abort();
	for (size_t at = 0, n; at < len; at += n + 1) {
		const uint8_t *end = memchr(bytes + at, '\n', len - at);

		n = end ? (size_t)(end - bytes) - at : len - at;
		ask(&rules, (const char *)bytes + at, n);
	}
	ts_sandbox_rules_fini(&rules);
	drop();
	return 0;
}
