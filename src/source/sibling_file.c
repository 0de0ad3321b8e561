/* SPDX-License-Identifier: MIT */
#include "sibling_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "pack.h"

/* The file @file that was packed with @src. */
static struct ts_source *open_packed(const struct ts_source *src, const char *file, struct ts_error *err)
{
	const struct ts_pack_member *m = NULL;
	struct ts_source *beside = NULL;
	struct ts_pack p;

	if (ts_pack_init(&p, src->archive, err)) {
		while ((m = ts_pack_next(&p, m, "beside/")) && strcmp(m->name + strlen("beside/"), file))
			continue;
		if (m)
			beside = ts_pack_open(&p, m, err);
		else
			ts_fail(err, TS_EIO, TS_NO_OFF, "%s was not packed with it", file);
	}
	ts_pack_fini(&p);
	return beside;
}

struct ts_source *ts_source_open_beside(const struct ts_source *src, const char *file, struct ts_error *err)
{
	const char *slash = strrchr(src->name, '/');
	char path[PATH_MAX];
	int dir_len = slash ? (int)(slash - src->name) + 1 : 0;
	struct ts_source *beside = NULL;

	if (!*file || strchr(file, '/') || !strcmp(file, ".") || !strcmp(file, ".."))
		ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "\"%s\" is not the name of a file", file);
	else if (src->archive)
		beside = open_packed(src, file, err);
	else if (src->is_fleeting || !src->mtime)
		ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			"%s must be in its directory, which is unknown", file);
	else if (snprintf(path, sizeof(path), "%.*s%s", dir_len, src->name, file) >= PATH_MAX)
		ts_fail(err, TS_ELIMIT, TS_NO_OFF, "the path of %s is too long", file);
	else
		beside = ts_source_open_unlinked(path, err);
	if (beside)
		beside->is_read_ahead = src->is_read_ahead;
	return beside;
}
