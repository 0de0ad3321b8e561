/* SPDX-License-Identifier: MIT */
#include "mapped.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"

void ts_mapped_fini(struct ts_mapped *m)
{
	free(m->items);
	*m = (struct ts_mapped){ 0 };
}

static bool is_named(const struct ts_world *w, const struct ts_region *r)
{
	const char *file = ts_world_text(w, r->file);

	return file && *file == '/';
}

/* By process, file and first address, then by time. */
static int compare_places(const void *a, const void *b)
{
	const struct ts_module_span *x = a, *y = b;

	return TS_ORDER(x->process, y->process) ?: TS_ORDER(x->file, y->file) ?: TS_ORDER(x->first, y->first) ?:
	       TS_ORDER(x->from, y->from);
}

static int compare_times(const void *a, const void *b)
{
	const struct ts_module_span *x = a, *y = b;

	return TS_ORDER(x->from, y->from) ?: compare_places(a, b);
}

/*
 * Each name has one offset, by which files can be distinguished: that of the first region with this name.
 * Regions that are split keep their offset; the same file mapped anew may have another one.
 */
struct name {
	const char *text;
	uint32_t file;
	bool is_code; /* of the first one of a text: some region of that name is executable */
};

static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return strcmp(x->text, y->text) ?: TS_ORDER(x->file, y->file);
}

static const struct name *first_of(const struct name *names, size_t n, const char *text)
{
	size_t at = 0;

	TS_BISECT(at, n, i, strcmp(names[i].text, text) < 0);
	return &names[at];
}

/* A region with a file, as a module of its own. */
static struct ts_module_span module_of(const struct ts_world *w, const struct ts_region *r,
					 const struct name *names, size_t n_names)
{
	return (struct ts_module_span){
		.from = r->from,
		.until = r->until,
		.first = r->first,
		.last = r->last,
		.process = r->process,
		.file = first_of(names, n_names, ts_world_text(w, r->file))->file,
	};
}

/* Is @b the next stretch of time of module @a: a region that was split or protected anew? */
static bool goes_on(const struct ts_module_span *a, const struct ts_module_span *b)
{
	return a->process == b->process && a->file == b->file && a->first == b->first && b->from <= a->until;
}

static void join(struct ts_module_span *a, const struct ts_module_span *b)
{
	if (b->until > a->until)
		a->until = b->until;
}

/* Regions with the same beginning of file, while they follow each other in time, are one module. */
static size_t merge(struct ts_module_span *all, size_t n)
{
	size_t n_merged = 0;

	for (size_t i = 0; i < n; i++) {
		if (n_merged && goes_on(&all[n_merged - 1], &all[i]))
			join(&all[n_merged - 1], &all[i]);
		else
			all[n_merged++] = all[i];
	}
	return n_merged;
}

/* With many files of one name the right one may be further away; then its module ends too early. */
#define MAX_LOOKS 16

/*
 * Module @part is a later part of the file: if it is mapped when the module that begins below it appears,
 * that reaches to its end.  What is mapped later does not count: a module's place is one for all of its time.
 */
static void extend(struct ts_module_span *all, size_t n, const struct ts_module_span *part)
{
	size_t at = 0;

	TS_BISECT(at, n, i, compare_places(&all[i], part) < 0);
	for (size_t i = at; i > 0 && at - i < MAX_LOOKS; i--) {
		struct ts_module_span *m = &all[i - 1];

		if (m->process != part->process || m->file != part->file)
			return;
		if (part->from <= m->from && m->from < part->until) {
			m->last = m->last > part->last ? m->last : part->last;
			return;
		}
	}
}

/* Those of the regions that have names. */
static size_t list_named(const struct ts_world *w, size_t n_regions, const struct ts_region **named)
{
	const struct ts_region *r;
	size_t n = 0;

	for (size_t at = 0; (r = ts_world_next_with_file(w, n_regions, &at));) {
		if (is_named(w, r))
			named[n++] = r;
	}
	return n;
}

static void list_names(const struct ts_world *w, const struct ts_region *const *named, size_t n,
		       struct name *names)
{
	for (size_t i = 0; i < n; i++)
		names[i] = (struct name){ ts_world_text(w, named[i]->file), named[i]->file,
					  named[i]->prot & TS_PROT_EXEC };
	qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 1, first = 0; i < n; i++) {
		if (strcmp(names[first].text, names[i].text))
			first = i;
		names[first].is_code |= names[i].is_code;
	}
}

/* Can a module begin with the region?  Caches and locales are mapped as well. */
static bool is_beginning(const struct ts_world *w, const struct ts_region *r, const struct name *names,
			 size_t n)
{
	return !r->file_off && first_of(names, n, ts_world_text(w, r->file))->is_code;
}

/*
 * Modules begin where a file is mapped from its beginning, and reach as far as the rest of it does.  @named
 * are the @n regions that have @names.
 */
static size_t list_modules(const struct ts_world *w, const struct ts_region *const *named, size_t n,
			   const struct name *names, struct ts_module_span *all)
{
	size_t n_modules = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_beginning(w, named[i], names, n))
			all[n_modules++] = module_of(w, named[i], names, n);
	}
	qsort(all, n_modules, sizeof(*all), compare_places);
	n_modules = merge(all, n_modules);
	for (size_t i = 0; i < n; i++) {
		if (named[i]->file_off) {
			struct ts_module_span part = module_of(w, named[i], names, n);

			extend(all, n_modules, &part);
		}
	}
	qsort(all, n_modules, sizeof(*all), compare_times);
	return n_modules;
}

bool ts_mapped_build(struct ts_mapped *m, const struct ts_world *w, size_t n_regions)
{
	const struct ts_region **named = malloc((n_regions + 1) * sizeof(const struct ts_region *));
	size_t n = named ? list_named(w, n_regions, named) : 0;
	struct ts_module_span *all = malloc((n + 1) * sizeof(*all));
	struct name *names = malloc((n + 1) * sizeof(*names));
	bool done = named && all && names;

	if (done) {
		list_names(w, named, n, names);
		free(m->items);
		m->items = all;
		m->n = list_modules(w, named, n, names, all);
		all = NULL;
	}
	free(all);
	free(names);
	free(named);
	return done;
}
