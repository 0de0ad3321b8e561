/* SPDX-License-Identifier: MIT */
#include "find_symbols.h"

#include "src/query/local_files.h"
#include "src/query/locate.h"
#include "src/trace/object.h"
#include "src/trace/source.h"

bool ts_find_symbols_of_file(struct ts_symbols *s, const char *path, const uint64_t *base,
			     struct ts_error *err)
{
	struct ts_source *src = ts_source_open(path, err);
	bool done = src && ts_symbols_add_file(s, src, base, err);

	ts_source_close(src);
	return done || ts_fail_prefix(err, "%s", path);
}

/* The program's file, moved to where it is in memory. */
static bool add_program(struct ts_symbols *s, struct ts_query *q, const struct ts_source *src,
			const uint64_t *base, struct ts_error *err)
{
	uint32_t process = ts_query_process(q, ts_query_thread(q, 0));
	struct ts_error ignored;
	struct ts_located at;
	struct ts_object object;
	bool done;

	ts_error_reset(&ignored);
	if (!ts_object_init(&object, src, &ignored))
		return ts_symbols_add_file(s, src, base, err);
	done = ts_locate(q, src, &object, process, base, &at, err);
	ts_object_fini(&object);
	return done && ts_symbols_add_file(s, src, &at.first, err);
}

/* If a file is mapped in parts, the part with its beginning gives its address. */
static bool add_regions(struct ts_symbols *s, struct ts_query *q, struct ts_error *err)
{
	struct ts_region_info r;

	for (size_t i = 0; ts_query_region(q, i, &r); i++) {
		const struct ts_source *src = r.file && !r.file_off ? ts_query_file(q, r.file) : NULL;

		if (src && !ts_symbols_add_file(s, src, &r.first, err))
			return false;
	}
	return true;
}

static bool add_modules(struct ts_symbols *s, struct ts_query *q, struct ts_local_files *local,
			struct ts_error *err)
{
	struct ts_module_info m;

	for (size_t i = 0; ts_query_module(q, i, &m); i++) {
		const struct ts_source *src = m.file ? ts_query_file(q, m.file) : NULL;

		if (!src && m.file && local)
			src = ts_local_file(local, m.file);
		if (src && !ts_symbols_add_file(s, src, &m.first, err))
			return false;
	}
	return true;
}

bool ts_find_symbols(struct ts_symbols *s, struct ts_query *q, const char *exec, const uint64_t *base,
		     struct ts_local_files *local, struct ts_error *err)
{
	struct ts_source *src = exec ? ts_source_open(exec, err) : NULL;
	bool done = !exec || (src && add_program(s, q, src, base, err));

	ts_source_close(src);
	return done && add_modules(s, q, local, err) && add_regions(s, q, err);
}
