/* SPDX-License-Identifier: MIT */
#include "find_symbols.h"

#include "src/query/locate.h"
#include "src/trace/object.h"
#include "src/trace/source.h"

static bool add_image(struct ts_symbols *s, const struct ts_symbols_file *image, struct ts_error *err)
{
	struct ts_source *src = ts_source_open(image->path, err);
	bool done = src && ts_symbols_add_file(s, src, image->base, err);

	ts_source_close(src);
	return done || ts_fail_prefix(err, "%s", image->path);
}

/* The program's file, moved to where it is in memory. */
static bool add_located(const struct ts_symbols_search *f, const struct ts_source *src, struct ts_error *err)
{
	uint32_t process = ts_query_process(f->q, ts_query_thread(f->q, 0));
	const struct ts_symbols_places *p = &f->places;
	struct ts_error ignored;
	struct ts_located at;
	struct ts_object object;
	bool done;

	ts_error_reset(&ignored);
	if (p->is_located || !ts_object_init(&object, src, &ignored))
		return ts_symbols_add_file(f->symbols, src, p->base, err);
	done = ts_locate(f->q, src, &object, process, p->base, &at, err);
	ts_object_fini(&object);
	return done && ts_symbols_add_file(f->symbols, src, &at.first, err);
}

static bool add_program(const struct ts_symbols_search *f, struct ts_error *err)
{
	struct ts_source *src = NULL;
	bool done;

	if (f->places.program)
		return add_located(f, f->places.program, err);
	if (!f->places.exec)
		return true;
	src = ts_source_open(f->places.exec, err);
	done = src && add_located(f, src, err);
	ts_source_close(src);
	return done;
}

static bool add_module(const struct ts_symbols_search *f, const struct ts_module_info *m, struct ts_error *err)
{
	const struct ts_source *src = m->file ? ts_query_file(f->q, m->file) : NULL;

	if (!src && m->file && f->places.local)
		src = ts_local_file(f->places.local, m->file);
	return !src || ts_symbols_add_file(f->symbols, src, &m->first, err);
}

/* If a file is mapped in parts, the part with its beginning gives its address. */
static bool add_region(const struct ts_symbols_search *f, const struct ts_region_info *r, struct ts_error *err)
{
	const struct ts_source *src = r->file && !r->file_off ? ts_query_file(f->q, r->file) : NULL;

	return !src || ts_symbols_add_file(f->symbols, src, &r->first, err);
}

enum ts_got ts_symbols_search_next(struct ts_symbols_search *f, struct ts_error *err)
{
	struct ts_module_info m;
	struct ts_region_info r;
	bool done = true;

	if (f->n_images < f->places.n_images) {
		done = add_image(f->symbols, &f->places.images[f->n_images++], err);
	} else if (!f->has_program) {
		f->has_program = true;
		done = add_program(f, err);
		ts_symbols_end_own(f->symbols);
	} else if (ts_query_module(f->q, f->n_modules, &m)) {
		f->n_modules++;
		done = add_module(f, &m, err);
	} else if (ts_query_region(f->q, f->n_regions, &r)) {
		f->n_regions++;
		done = add_region(f, &r, err);
	} else {
		return TS_GOT_END;
	}
	return done ? TS_GOT_PENDING : TS_GOT_FAIL;
}

bool ts_find_symbols(struct ts_symbols *s, struct ts_query *q, const struct ts_symbols_places *places,
		     struct ts_error *err)
{
	struct ts_symbols_search f = { .symbols = s, .q = q, .places = *places };
	enum ts_got got;

	while ((got = ts_symbols_search_next(&f, err)) == TS_GOT_PENDING)
		;
	return got == TS_GOT_END && ts_symbols_read(s, err);
}
