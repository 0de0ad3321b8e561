/* SPDX-License-Identifier: MIT */
#include "symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug_file.h"
#include "demangle.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/object/object.h"
#include "src/object/symtab.h"
#include "symbols_parts.h"

/*
 * Bytes of all names, and of all names as they are shown, where one that cannot be shown counts as the longest: any
 * number of symbols may have one string of a table for their names, and it may take long to find that it is too long.
 * Those beyond are left out, or shown as they are in the file.
 */
#define MAX_NAMES (UINT64_C(256) << 20)
#define MAX_SHOWN (UINT64_C(128) << 20)

#define PAGE_LEN UINT64_C(4096)

struct ts_symbols *ts_symbols_new(void)
{
	struct ts_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	ts_buf_init(&s->names);
	s->lines = ts_code_lines_new();
	if (s->lines)
		return s;
	ts_symbols_free(s);
	return NULL;
}

void ts_symbols_free(struct ts_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_files; i++) {
		ts_source_close(s->files[i].src);
		free(s->files[i].path);
	}
	ts_loaded_fini(&s->loaded);
	free(s->files);
	free(s->items);
	free(s->by_name);
	free(s->by_shown);
	ts_arena_fini(&s->shown);
	ts_code_lines_free(s->lines);
	ts_signatures_fini(&s->signatures);
	ts_thread_locals_fini(&s->thread_locals);
	ts_buf_fini(&s->names);
	free(s);
}

void ts_symbols_set_process(struct ts_symbols *s, uint64_t root)
{
	s->has_process = true;
	s->process = root;
}

bool ts_symbols_process(const struct ts_symbols *s, uint64_t *root)
{
	*root = s->process;
	return s->has_process;
}

const struct ts_prototype *ts_symbols_prototype(struct ts_symbols *s, uint64_t addr)
{
	return ts_signatures_find(&s->signatures, addr);
}

void ts_symbols_variable(struct ts_symbols *s, struct ts_variable_frame *frame, const char *text, size_t len,
			 struct ts_variable *v)
{
	ts_signatures_variable(&s->signatures, frame, text, len, v);
}

void ts_symbols_in_global(struct ts_symbols *s, struct ts_variable_frame *frame, const struct ts_global *g, const char *text, size_t len,
			  struct ts_variable *v)
{
	ts_signatures_in_global(&s->signatures, frame, g, text, len, v);
}

const struct ts_thread_local *ts_symbols_thread_local(struct ts_symbols *s, const char *name, size_t len, unsigned *n)
{
	return ts_thread_locals_find(&s->thread_locals, name, len, n);
}

const struct ts_tls_facts *ts_symbols_tls_facts(const struct ts_symbols *s)
{
	return &s->tls_facts;
}

struct ts_code_lines *ts_symbols_lines(struct ts_symbols *s)
{
	return s->lines;
}

bool ts_symbols_add(struct ts_symbols *s, uint64_t addr, uint64_t len, uint64_t room, const char *name,
		    bool is_function)
{
	if (s->n == UINT32_MAX || s->names.len + strlen(name) >= MAX_NAMES)
		return true;
	if (!ts_vec_reserve(&s->items, s->n, &s->cap, 1, sizeof(*s->items)))
		return false;
	if (len && len - 1 > UINT64_MAX - addr)
		len = 0;
	s->items[s->n] = (struct ts_symbols_entry){ .addr = addr,
					 .len = len,
					 .room = room,
					 .name = s->names.len,
					 .order = s->n,
					 .is_function = is_function,
					 .is_own = !s->is_adding_other };
	s->n++;
	s->is_sorted = false;
	ts_buf_put(&s->names, name, strlen(name) + 1);
	return ts_buf_ok(&s->names);
}

void ts_symbols_end_own(struct ts_symbols *s)
{
	s->is_own_over = true;
}

static int by_addr(const void *a, const void *b)
{
	const struct ts_symbols_entry *x = a;
	const struct ts_symbols_entry *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->is_function != y->is_function)
		return x->is_function ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_name(const void *a, const void *b, void *user)
{
	const struct ts_symbols *s = user;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = strcmp((const char *)s->names.data + s->items[i].name,
			   (const char *)s->names.data + s->items[j].name);

	if (order)
		return order;
	if (s->items[i].is_own != s->items[j].is_own)
		return s->items[i].is_own ? -1 : 1;
	if (s->items[i].is_function != s->items[j].is_function)
		return s->items[i].is_function ? -1 : 1;
	return s->items[i].order < s->items[j].order ? -1 : 1;
}

/* Returns false if @s has no symbols, or if memory is exhausted. */
static bool sort(struct ts_symbols *s)
{
	if (s->is_sorted || !s->n)
		return s->n && s->by_name;
	free(s->by_name);
	free(s->by_shown);
	s->by_shown = NULL;
	s->by_name = malloc(s->n * sizeof(*s->by_name));
	s->is_sorted = true;
	if (!s->by_name)
		return false;
	qsort(s->items, s->n, sizeof(*s->items), by_addr);
	for (size_t i = 0; i < s->n; i++)
		s->by_name[i] = (uint32_t)i;
	qsort_r(s->by_name, s->n, sizeof(*s->by_name), by_name, s);
	return true;
}

/* The name as people write it; NULL if it is not another one than in the file. */
static const char *demangled(struct ts_symbols *s, struct ts_symbols_entry *e)
{
	const char *name = (const char *)s->names.data + e->name;
	char text[TS_MAX_DEMANGLED];

	if (e->is_demangled || s->shown_len >= MAX_SHOWN)
		return e->shown;
	e->is_demangled = true;
	if (ts_demangle(name, text)) {
		e->shown = ts_arena_text(&s->shown, text, strlen(text));
		s->shown_len += strlen(text);
	} else if (ts_is_mangled(name)) {
		s->shown_len += TS_MAX_DEMANGLED;
	}
	return e->shown;
}

static const struct ts_symbol *show(struct ts_symbols *s, size_t i)
{
	struct ts_symbols_entry *e = &s->items[i];
	const char *mangled = (const char *)s->names.data + e->name, *name = demangled(s, e);

	s->found = (struct ts_symbol){ .addr = e->addr, .len = e->len, .is_function = e->is_function,
				       .is_indirect = e->is_indirect, .is_open = e->is_open,
				       .name = name ? name : mangled, .mangled = mangled };
	return &s->found;
}

const struct ts_symbol *ts_symbols_get(struct ts_symbols *s, size_t i)
{
	return sort(s) && i < s->n ? show(s, i) : NULL;
}

/*
 * Does the function hold the address?  One of unknown size reaches up to the next symbol of code, but not out
 * of its segment.
 */
static bool has_addr(const struct ts_symbols_entry *e, uint64_t addr)
{
	return e->is_function && e->addr <= addr && addr - e->addr < (e->len ? e->len : e->room);
}

/* Functions may be inside others; this is the maximum number that is examined. */
#define MAX_BACK 64u

/* The function with the address, as its name is shown there. */
static const struct ts_symbol *show_at(struct ts_symbols *s, size_t i, uint64_t addr)
{
	show(s, i);
	if (s->found.is_open && addr != s->found.addr) {
		snprintf(s->inside, sizeof(s->inside), "%.256s+0x%" PRIx64, s->found.name, addr - s->found.addr);
		s->found.name = s->inside;
	}
	return &s->found;
}

const struct ts_symbol *ts_symbols_function_at(struct ts_symbols *s, uint64_t addr)
{
	size_t at = 0;

	if (!sort(s))
		return NULL;
	TS_BISECT(at, s->n, i, s->items[i].addr <= addr);
	for (size_t i = at, n = 0; i-- > 0 && n < MAX_BACK; n++) {
		if (!has_addr(&s->items[i], addr))
			continue;
		while (i && s->items[i - 1].addr == s->items[i].addr && has_addr(&s->items[i - 1], addr))
			i--;
		return show_at(s, i, addr);
	}
	return NULL;
}

uint64_t ts_symbols_function_last(struct ts_symbols *s, uint64_t addr)
{
	const struct ts_symbol *found = ts_symbols_function_at(s, addr);
	uint64_t room = 0;
	size_t at = 0;

	if (!found || found->addr != addr || found->is_open)
		return addr;
	if (found->len)
		return addr + (found->len - 1);
	TS_BISECT(at, s->n, i, s->items[i].addr <= addr);
	for (size_t i = at; i-- > 0 && s->items[i].addr == addr;)
		room = s->items[i].is_function && s->items[i].room > room ? s->items[i].room : room;
	while (at < s->n && !s->items[at].is_function)
		at++;
	if (at < s->n && s->items[at].addr - addr < room)
		room = s->items[at].addr - addr;
	return room ? addr + (room - 1) : addr;
}

/* How a name is compared with the first @len bytes of another one. */
static int compare_name(const char *text, const char *name, size_t len)
{
	int order = strncmp(text, name, len);

	return order ? order : text[len] != 0;
}

static const char *name_of(const struct ts_symbols *s, size_t i)
{
	return (const char *)s->names.data + s->items[s->by_name[i]].name;
}

/* The first symbol, in by_name, whose name does not sort before this one; n if none is found. */
static size_t first_from(const struct ts_symbols *s, const char *name, size_t len)
{
	size_t at = 0;

	TS_BISECT(at, s->n, i, compare_name(name_of(s, i), name, len) < 0);
	return at;
}

/* The first of those with this name, in by_name; n if none is found. */
static size_t find_name(const struct ts_symbols *s, const char *name, size_t len)
{
	size_t i = first_from(s, name, len);

	return i < s->n && !compare_name(name_of(s, i), name, len) ? i : s->n;
}

static const struct ts_symbol *find_in_file(struct ts_symbols *s, const char *name, size_t len)
{
	size_t i = find_name(s, name, len);

	return i < s->n ? show(s, s->by_name[i]) : NULL;
}

bool ts_symbols_is_at(struct ts_symbols *s, const char *name, uint64_t addr)
{
	size_t len = strlen(name);

	if (!sort(s))
		return false;
	for (size_t i = find_name(s, name, len); i < s->n && !compare_name(name_of(s, i), name, len); i++) {
		if (s->items[s->by_name[i]].addr == addr)
			return true;
	}
	return false;
}

/* The first symbol with an address that is not below @addr; n if none is found. */
static size_t find_addr(const struct ts_symbols *s, uint64_t addr)
{
	size_t at = 0;

	TS_BISECT(at, s->n, i, s->items[i].addr < addr);
	return at;
}

/* The @i-th symbol that is called like one at @addr with @suffix; NULL after the last. */
static const struct ts_symbols_entry *find_kin(struct ts_symbols *s, uint64_t addr, const char *suffix, bool is_indirect, unsigned i)
{
	char name[256];

	for (size_t at = sort(s) ? find_addr(s, addr) : s->n; at < s->n && s->items[at].addr == addr; at++) {
		int len = snprintf(name, sizeof(name), "%s%s", (const char *)s->names.data + s->items[at].name, suffix);
		size_t k = (size_t)len < sizeof(name) ? find_name(s, name, (size_t)len) : s->n;

		for (; k < s->n && !compare_name(name_of(s, k), name, (size_t)len); k++) {
			const struct ts_symbols_entry *e = &s->items[s->by_name[k]];

			if (e->is_indirect >= is_indirect && !i--)
				return e;
		}
	}
	return NULL;
}

bool ts_symbols_get_link(struct ts_symbols *s, uint64_t addr, unsigned i, uint64_t *link)
{
	const struct ts_symbols_entry *e = find_kin(s, addr, TS_LINKED, false, i);

	if (e)
		*link = e->addr;
	return e;
}

bool ts_symbols_get_version(struct ts_symbols *s, uint64_t addr, unsigned i, uint64_t *other)
{
	const struct ts_symbols_entry *e = find_kin(s, addr, "", true, i);

	if (e)
		*other = e->addr;
	return e;
}

static int by_shown(const void *a, const void *b, void *user)
{
	const struct ts_symbols *s = user;
	const struct ts_symbols_entry *x = &s->items[*(const uint32_t *)a], *y = &s->items[*(const uint32_t *)b];
	int order = strcmp(x->shown, y->shown);

	if (order)
		return order;
	return by_addr(x, y);
}

/* Demangle all, once.  Returns false if memory is exhausted. */
static bool sort_shown(struct ts_symbols *s)
{
	if (s->by_shown)
		return true;
	s->by_shown = malloc((s->n + 1) * sizeof(*s->by_shown));
	if (!s->by_shown)
		return false;
	s->n_shown = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (demangled(s, &s->items[i]))
			s->by_shown[s->n_shown++] = (uint32_t)i;
	}
	qsort_r(s->by_shown, s->n_shown, sizeof(*s->by_shown), by_shown, s);
	return true;
}

/* The first of those with this demangled name, in by_shown; n_shown if none is found. */
static size_t find_shown(struct ts_symbols *s, const char *name, size_t len)
{
	size_t at = 0;

	TS_BISECT(at, sort_shown(s) ? s->n_shown : 0, i, compare_name(s->items[s->by_shown[i]].shown, name, len) < 0);
	return at < s->n_shown && !compare_name(s->items[s->by_shown[at]].shown, name, len) ? at : s->n_shown;
}

const struct ts_symbol *ts_symbols_find(struct ts_symbols *s, const char *name, size_t len)
{
	const struct ts_symbol *found;
	size_t i;

	if (!sort(s))
		return NULL;
	found = find_in_file(s, name, len);
	if (found)
		return found;
	i = find_shown(s, name, len);
	return i < s->n_shown ? show(s, s->by_shown[i]) : NULL;
}

bool ts_symbols_is_overloaded(struct ts_symbols *s, const char *name, size_t len)
{
	size_t first;

	if (!sort(s) || find_in_file(s, name, len))
		return false;
	first = find_shown(s, name, len);
	for (size_t i = first; i < s->n_shown && !compare_name(s->items[s->by_shown[i]].shown, name, len);
	     i++) {
		if (s->items[s->by_shown[i]].addr != s->items[s->by_shown[first]].addr)
			return true;
	}
	return false;
}

/* The context of the walk over a file's symbols. */
struct adding {
	struct ts_symbols *symbols;
	uint64_t bias; /* added to addresses */
	bool is_failed;
};

/* The source file of the local symbol @e, which was added last.  Returns false if memory is exhausted. */
static bool set_file(struct ts_symbols *s, struct ts_symbols_entry *e, const char *file)
{
	if (s->names.len + strlen(file) >= MAX_NAMES)
		return true;
	if (!s->last_file || strcmp((const char *)s->names.data + s->last_file - 1, file) != 0) {
		s->last_file = s->names.len + 1;
		ts_buf_put(&s->names, file, strlen(file) + 1);
	}
	e->file = s->last_file;
	return ts_buf_ok(&s->names);
}

static void add_one(void *user, const struct ts_symtab_entry *e)
{
	struct adding *a = user;
	struct ts_symbols_entry *added;
	size_t n = a->symbols->n;

	a->is_failed |= !ts_symbols_add(a->symbols, e->addr + a->bias, e->len, e->room, e->name, e->is_function);
	if (a->symbols->n == n)
		return;
	added = &a->symbols->items[n];
	added->is_indirect = e->is_indirect;
	added->is_open = e->is_open;
	a->is_failed |= e->file && !set_file(a->symbols, added, e->file);
}

/*
 * How far the file is moved, and where it lies in memory: *at gets it.  It is a module of the table from now on.  Returns
 * false if memory is exhausted.
 */
static bool place_file(struct ts_symbols *s, const struct ts_symbols_noted *f, uint64_t *bias, struct ts_loaded_file *at)
{
	struct ts_loaded_file m = { .path = f->path, .is_own = f->is_own };
	struct ts_error ignored = { 0 };
	struct ts_object o;
	bool done = true;

	*bias = f->has_base ? f->base : 0;
	*at = (struct ts_loaded_file){ .first = 1 };
	if (!ts_object_init(&o, f->src, &ignored))
		return true;
	*bias = f->has_base ? f->base - o.first : 0;
	m.is_pe = o.is_pe;
	m.first = m.last = o.first + *bias;
	for (size_t i = 0; i < o.n_loads; i++) {
		uint64_t last = o.loads[i].addr + *bias + (o.loads[i].mem_len ? o.loads[i].mem_len - 1 : 0);

		m.last = last > m.last ? last : m.last;
	}
	m.last |= PAGE_LEN - 1;
	if (o.n_loads)
		done = ts_loaded_add(&s->loaded, &m);
	at->first = m.first;
	at->last = m.last;
	ts_object_fini(&o);
	return done;
}

/* Is it the program, which a recording may list among its modules, too? */
static bool is_own_file(const struct ts_symbols *s, const struct ts_source *src, const uint64_t *base)
{
	for (size_t i = 0; base && i < s->n_files && s->files[i].is_own; i++) {
		const struct ts_symbols_noted *f = &s->files[i];

		if (f->has_base && f->base == *base && ts_source_len(f->src) == ts_source_len(src))
			return true;
	}
	return false;
}

void ts_symbols_use_debug(struct ts_symbols *s, const struct ts_packed_debug *debug, size_t n)
{
	s->debug = debug;
	s->n_debug = n;
}

bool ts_symbols_add_file(struct ts_symbols *s, const struct ts_source *src, const char *path, const uint64_t *base,
			 struct ts_error *err)
{
	struct ts_source *dup;
	char *name;

	if (is_own_file(s, src, base))
		return true;
	if (!ts_vec_reserve(&s->files, s->n_files, &s->cap_files, 1, sizeof(*s->files)))
		return ts_no_memory(err, "symbols");
	dup = ts_source_dup(src, err);
	if (!dup)
		return false;
	name = strdup(path ? path : ts_source_name(src));
	if (!name) {
		ts_source_close(dup);
		return ts_no_memory(err, "symbols");
	}
	s->files[s->n_files++] =
		(struct ts_symbols_noted){ dup, base ? *base : 0, base != NULL, !s->is_own_over, name };
	return true;
}

/* Returns false if memory is exhausted. */
static bool read_file(struct ts_symbols *s, struct ts_symbols_noted *f)
{
	struct ts_source *debug = ts_debug_file_open(f->src, f->path, s->debug, s->n_debug, TS_DEBUG_FOLDER);
	struct adding a = { .symbols = s };
	struct ts_loaded_file at;

	a.is_failed = !place_file(s, f, &a.bias, &at) ||
		      !ts_signatures_add_file(&s->signatures, f->src, debug, a.bias, at.first, at.last, f->is_own);
	a.is_failed |= !ts_thread_locals_add_file(&s->thread_locals, debug ? debug : f->src, f->path, a.bias, f == s->files && f->is_own);
	if (ts_tls_is_of_glibc(f->path))
		ts_tls_learn(&s->tls_facts, f->src, a.bias);
	free(f->path);
	s->is_adding_other = !f->is_own;
	ts_symtab_walk(f->src, add_one, &a);
	if (debug)
		ts_symtab_walk(debug, add_one, &a);
	s->is_adding_other = false;
	if (debug && !ts_code_lines_add_file(s->lines, debug, a.bias))
		a.is_failed = true;
	return ts_code_lines_add_file(s->lines, f->src, a.bias) && !a.is_failed;
}

bool ts_symbols_read(struct ts_symbols *s, struct ts_error *err)
{
	bool done = true;

	for (size_t i = 0; i < s->n_files; i++)
		done &= read_file(s, &s->files[i]);
	s->n_files = 0;
	return done || ts_no_memory(err, "symbols");
}

bool ts_symbols_read_all(struct ts_symbols *s, struct ts_error *err)
{
	if (!ts_symbols_read(s, err))
		return false;
	if ((s->n && (!sort(s) || !sort_shown(s))) || !ts_code_lines_read(s->lines))
		return ts_no_memory(err, "symbols");
	return true;
}

/* --------------------------------------------------------------------------------- for meanings of names */

bool ts_symbols_sort(struct ts_symbols *s)
{
	return sort(s);
}

struct ts_symbols_entry *ts_symbols_next_named(struct ts_symbols *s, const char *name, size_t len, size_t *i)
{
	size_t at = find_name(s, name, len);

	if (at < s->n) {
		at += (*i)++;
		return at < s->n && !compare_name(name_of(s, at), name, len) ? &s->items[s->by_name[at]] : NULL;
	}
	at = find_shown(s, name, len) + (*i)++;
	return at < s->n_shown && !compare_name(s->items[s->by_shown[at]].shown, name, len) ?
		       &s->items[s->by_shown[at]] :
		       NULL;
}

/* Is the text the name, a dot and digits? */
static bool is_numbered(const char *text, const char *name, size_t len)
{
	return !strncmp(text, name, len) && text[len] == '.' && text[len + 1] &&
	       strspn(text + len + 1, "0123456789") == strlen(text + len + 1);
}

struct ts_symbols_entry *ts_symbols_next_numbered(struct ts_symbols *s, const char *name, size_t len, size_t *i)
{
	for (size_t at = first_from(s, name, len) + *i; at < s->n && !strncmp(name_of(s, at), name, len); at++) {
		++*i;
		if (is_numbered(name_of(s, at), name, len))
			return &s->items[s->by_name[at]];
	}
	return NULL;
}

/* Is the text the name, and then .constprop.0, .isra.0 or .lto_priv.0, once or several times? */
static bool is_clone(const char *text, const char *name, size_t len)
{
	static const char *const copies[] = { "constprop", "isra", "lto_priv" };
	const char *p = text + len;

	if (strncmp(text, name, len) != 0 || !*p)
		return false;
	while (*p == '.') {
		size_t n = strcspn(++p, ".");
		bool is_known = n && strspn(p, "0123456789") == n;

		for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++)
			is_known |= n == strlen(copies[i]) && !strncmp(p, copies[i], n);
		if (!is_known)
			return false;
		p += n;
	}
	return !*p;
}

struct ts_symbols_entry *ts_symbols_next_clone(struct ts_symbols *s, const char *name, size_t len, size_t *i)
{
	for (size_t at = first_from(s, name, len) + *i; at < s->n && !strncmp(name_of(s, at), name, len); at++) {
		++*i;
		if (is_clone(name_of(s, at), name, len))
			return &s->items[s->by_name[at]];
	}
	return NULL;
}

struct ts_symbols_entry *ts_symbols_demangled(struct ts_symbols *s, size_t i)
{
	return sort_shown(s) && i < s->n_shown ? &s->items[s->by_shown[i]] : NULL;
}

const struct ts_symbol *ts_symbols_show(struct ts_symbols *s, const struct ts_symbols_entry *e)
{
	return show(s, (size_t)(e - s->items));
}

bool ts_symbols_add_module(struct ts_symbols *s, const struct ts_loaded_file *module)
{
	return ts_loaded_add(&s->loaded, module);
}

struct ts_loaded_files *ts_symbols_loaded(struct ts_symbols *s)
{
	return &s->loaded;
}
