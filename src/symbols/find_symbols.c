/* SPDX-License-Identifier: MIT */
#include "find_symbols.h"

#include <string.h>

#include "src/base/bytes.h"
#include "src/base/log.h"
#include "src/object/object.h"
#include "src/object/pe_symbols.h"
#include "src/query/files/locate.h"
#include "src/query/paging.h"
#include "src/source/source.h"

/* No function lies in the first pages of the address space. */
#define MIN_FUNCTION UINT64_C(0x10000)

static bool add_image(struct ts_symbols *s, const struct ts_symbols_file *image, struct ts_error *err)
{
	struct ts_source *src = ts_source_open(image->path, err);
	bool done = src && ts_symbols_add_file(s, src, NULL, image->base, err);

	ts_source_close(src);
	return done || ts_fail_prefix(err, "%s", image->path);
}

static bool add_names(struct ts_symbols *s, const struct ts_symbols_file *names, struct ts_error *err)
{
	struct ts_source *src = ts_source_open(names->path, err);
	bool done = src && ts_name_list_read(s, src, names->base ? *names->base : 0, err);

	ts_source_close(src);
	return done || ts_fail_prefix(err, "%s", names->path);
}

/* Where the program's imports lead: what names their functions, whose own files may not be there. */
struct imports {
	const struct ts_symbols_search *search;
	uint64_t moved;
	bool is_failed; /* memory ran out */
};

/*
 * A word of the import table that was read or written holds the address of the function.  It has no end: of the code there
 * only the first instruction has its name.
 */
static void name_import(void *user, const struct ts_pe_import *import)
{
	struct imports *x = user;
	struct ts_query *q = x->search->q;
	struct ts_symbols *s = x->search->symbols;
	uint32_t process = ts_query_process(q, ts_query_thread(q, 0));
	uint8_t data[8], known[8];
	struct ts_error ignored = { 0 };
	uint64_t addr;

	if (!ts_virtual_mem(q, ts_query_end(q), process, import->slot + x->moved, import->slot_len, data, known,
			    &ignored) ||
	    memchr(known, 0, import->slot_len))
		return;
	addr = ts_number(data, import->slot_len, false);
	if (addr < MIN_FUNCTION)
		return; /* not filled yet: the offset of the name in the file */
	x->is_failed |= !ts_symbols_add(s, addr, 1, 1, import->name, true) ||
			!ts_symbols_add_module(s, &(struct ts_loaded_file){ .first = addr, .last = addr,
									   .path = import->module, .is_part = true });
}

static bool add_imports(const struct ts_symbols_search *f, const struct ts_source *src, uint64_t base,
			struct ts_error *err)
{
	struct imports x = { .search = f };
	struct ts_error ignored = { 0 };
	struct ts_pe pe;

	if (!ts_pe_init(&pe, src, &ignored))
		return true;
	x.moved = base - pe.base;
	ts_pe_imports_walk(src, &pe, name_import, &x);
	ts_pe_fini(&pe);
	return !x.is_failed || ts_no_memory(err, "symbols");
}

/* The program's file, moved to where it is in memory. */
static bool add_located(const struct ts_symbols_search *f, const struct ts_source *src, struct ts_error *err)
{
	uint32_t process = ts_query_process(f->q, ts_query_thread(f->q, 0));
	const struct ts_symbols_places *p = &f->places;
	struct ts_error ignored = { 0 };
	struct ts_located at;
	struct ts_object object;
	bool done;

	if (p->is_located || !ts_object_init(&object, src, &ignored))
		return ts_symbols_add_file(f->symbols, src, NULL, p->base, err) &&
		       (!p->base || add_imports(f, src, *p->base, err));
	done = ts_locate(f->q, src, &object, process, p->base, &at, err);
	ts_object_fini(&object);
	if (done && at.by == TS_LOCATED_NOT && ts_query_n_steps(f->q))
		ts_log(TS_LOG_WARN,
		       "%s: position-independent, and it was not found in the recording; give its address with --exec FILE@BASE",
		       ts_source_name(src));
	return done && ts_symbols_add_file(f->symbols, src, NULL, &at.first, err) &&
	       add_imports(f, src, at.first, err);
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

/* A file of which nothing is known but where it lies. */
static bool add_bare(const struct ts_symbols_search *f, uint64_t first, uint64_t last, const char *path, bool is_part,
		     struct ts_error *err)
{
	const struct ts_loaded_file m = { .first = first, .last = last, .path = path, .is_part = is_part };

	return !path || ts_symbols_add_module(f->symbols, &m) || ts_no_memory(err, "symbols");
}

static bool add_module(const struct ts_symbols_search *f, const struct ts_module_info *m, struct ts_error *err)
{
	const struct ts_source *src = m->file ? ts_query_file(f->q, m->file) : NULL;

	if (!src && m->file && f->places.local)
		src = ts_local_file(f->places.local, m->file);
	return src ? ts_symbols_add_file(f->symbols, src, m->file, &m->first, err) :
		     add_bare(f, m->first, m->last, m->file, false, err);
}

/* If a file is mapped in parts, the part with its beginning gives its address. */
static bool add_region(const struct ts_symbols_search *f, const struct ts_region_info *r, struct ts_error *err)
{
	const struct ts_source *src = r->file && !r->file_off ? ts_query_file(f->q, r->file) : NULL;

	return src ? ts_symbols_add_file(f->symbols, src, r->file, &r->first, err) :
		     add_bare(f, r->first, r->last, r->file, r->file_off != 0, err);
}

enum ts_next ts_symbols_search_next(struct ts_symbols_search *f, struct ts_error *err)
{
	struct ts_module_info m;
	struct ts_region_info r;
	bool done = true;

	if (f->places.process)
		ts_symbols_set_process(f->symbols, *f->places.process);
	if (f->places.names && !f->has_names) {
		f->has_names = true;
		done = add_names(f->symbols, f->places.names, err);
	} else if (f->n_images < f->places.n_images) {
		done = add_image(f->symbols, &f->places.images[f->n_images++], err);
	} else if (!f->has_program) {
		f->has_program = true;
		if (f->places.local)
			ts_symbols_use_debug(f->symbols, f->places.local->debug, f->places.local->n_debug);
		done = add_program(f, err);
		ts_symbols_end_own(f->symbols);
	} else if (ts_query_module(f->q, f->n_modules, &m)) {
		f->n_modules++;
		done = add_module(f, &m, err);
	} else if (ts_query_region(f->q, f->n_regions, &r)) {
		f->n_regions++;
		done = add_region(f, &r, err);
	} else {
		return TS_END;
	}
	return done ? TS_MORE : TS_FAIL;
}

bool ts_find_symbols(struct ts_symbols *s, struct ts_query *q, const struct ts_symbols_places *places,
		     struct ts_error *err)
{
	struct ts_symbols_search f = { .symbols = s, .q = q, .places = *places };
	enum ts_next got;

	while ((got = ts_symbols_search_next(&f, err)) == TS_MORE)
		;
	return got == TS_END && ts_symbols_read(s, err);
}
