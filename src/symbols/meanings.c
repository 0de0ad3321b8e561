/* SPDX-License-Identifier: MIT */
#include "meanings.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "demangle.h"
#include "symbols_parts.h"

/* A name as a user writes it, in parts. */
struct parts {
	const char *module, *file, *name; /* no module, no file: of any */
	size_t module_len, file_len, name_len;
	size_t base_len; /* of the name without parameters */
	bool has_params;
};

/* ------------------------------------------------------------------------------------------------- parts */

/* The bytes of ns::fn in ns::fn(int); operator() has parentheses of its own. */
static size_t base_len(const char *name, size_t len)
{
	size_t depth = 0;

	if (!len || name[len - 1] != ')')
		return len;
	for (size_t i = len; i-- > 0;) {
		depth += name[i] == ')';
		depth -= name[i] == '(';
		if (!depth)
			return i >= 8 && !memcmp(name + i - 8, "operator", 8) ? len : i;
	}
	return len;
}

static void set_name(struct parts *p, const char *name, size_t len)
{
	p->name = name;
	p->name_len = len;
	p->base_len = base_len(name, len);
	p->has_params = p->base_len < len;
}

/* Is any module called so? */
static bool is_module(struct ts_symbols *s, const char *name, size_t len)
{
	const struct ts_loaded_file *m;

	for (size_t i = 0; (m = ts_loaded_get(&s->loaded, i)); i++) {
		if (ts_loaded_is_called(m, name, len))
			return true;
	}
	return false;
}

static void split_module(struct ts_symbols *s, struct parts *p)
{
	const char *mark = p->name_len ? memchr(p->name, '!', p->name_len) : NULL;
	size_t len = mark ? (size_t)(mark - p->name) : 0;

	if (!len || !is_module(s, p->name, len))
		return;
	p->module = p->name;
	p->module_len = len;
	set_name(p, mark + 1, p->name_len - len - 1);
}

/* FILE::NAME, 'FILE'::NAME and ::NAME, where no symbol has the whole as its name. */
static void split_file(struct parts *p)
{
	for (size_t i = p->base_len; i-- > 1;) {
		if (p->name[i] != ':' || p->name[i - 1] != ':')
			continue;
		p->file = p->name;
		p->file_len = i - 1;
		set_name(p, p->name + i + 1, p->name_len - i - 1);
		break;
	}
	if (p->file_len > 1 && *p->file == '\'' && p->file[p->file_len - 1] == '\'') {
		p->file++;
		p->file_len -= 2;
	}
}

/* ----------------------------------------------------------------------------------------------- matches */

/* Are they the same but for blanks? */
static bool is_same_text(const char *text, const char *name, size_t len)
{
	size_t i = 0;

	for (; *text; text++) {
		if (isspace((unsigned char)*text))
			continue;
		while (i < len && isspace((unsigned char)name[i]))
			i++;
		if (i == len || name[i++] != *text)
			return false;
	}
	while (i < len && isspace((unsigned char)name[i]))
		i++;
	return i == len;
}

static bool has_params(const struct ts_symbols *s, const struct ts_symbols_entry *e, const struct parts *p)
{
	char text[TS_MAX_DEMANGLED];

	return !p->has_params ||
	       (ts_demangle_whole(ts_symbols_text(s, e->name), text) && is_same_text(text, p->name, p->name_len));
}

static bool is_of_file(const struct ts_symbols *s, const struct ts_symbols_entry *e, const struct parts *p)
{
	const char *file = e->file ? ts_symbols_text(s, e->file - 1) : "";

	return !p->file_len || (strlen(file) == p->file_len && !memcmp(file, p->file, p->file_len));
}

static bool is_of_module(struct ts_symbols *s, const struct ts_symbols_entry *e, const struct parts *p)
{
	const struct ts_loaded_file *m = p->module ? ts_loaded_at(&s->loaded, e->addr) : NULL;

	return !p->module || (m && ts_loaded_is_called(m, p->module, p->module_len));
}

/* A part of a function, "f.cold", which the function's own name does not mean. */
static bool is_other_part(struct ts_symbols *s, const struct ts_symbols_entry *e, const struct parts *p)
{
	return strstr((const char *)s->names.data + e->name, ".cold") && !memmem(p->name, p->name_len, "cold", 4);
}

/* The next one from *i on that the parts fit; NULL after the last. */
static const struct ts_symbols_entry *next_match(struct ts_symbols *s, const struct parts *p, size_t *i)
{
	const struct ts_symbols_entry *e;

	while ((e = ts_symbols_next_named(s, p->name, p->base_len, i))) {
		if (!is_other_part(s, e, p) && is_of_file(s, e, p) && is_of_module(s, e, p) && has_params(s, e, p))
			return e;
	}
	return NULL;
}

/*
 * How well it answers a question about code, or about memory.  An indirect function of a library is the one that programs
 * call by its name: ld.so has functions of its own with names of libc's.
 */
static int rank(const struct ts_symbols_entry *e, bool is_code)
{
	return 4 * e->is_own + 2 * (e->is_function == is_code) + (is_code && e->is_indirect);
}

/* The first of those that answer best. */
static const struct ts_symbols_entry *find_best(struct ts_symbols *s, const struct parts *p, bool is_code)
{
	const struct ts_symbols_entry *best = NULL, *e;
	size_t i = 0;

	while ((e = next_match(s, p, &i))) {
		if (!best || rank(e, is_code) > rank(best, is_code))
			best = e;
	}
	return best;
}

/* ---------------------------------------------------------------------------------------------- meanings */

static bool is_listed(const struct ts_meanings *all, uint64_t addr)
{
	for (unsigned i = 0; i < all->n && i < TS_MAX_MEANINGS; i++) {
		if (all->items[i].addr == addr)
			return true;
	}
	return false;
}

static struct ts_meaning *list(struct ts_meanings *all, uint64_t addr)
{
	if (all->n++ >= TS_MAX_MEANINGS)
		return NULL;
	all->items[all->n - 1].addr = addr;
	return &all->items[all->n - 1];
}

/* The form that distinguishes it: FILE::NAME, or ns::fn(int), or NAME. */
static void tell_apart(const struct ts_symbols *s, const struct ts_symbols_entry *e, struct ts_meaning *m)
{
	const char *name = ts_symbols_text(s, e->name);
	char text[TS_MAX_DEMANGLED];

	snprintf(m->text, sizeof(m->text), "%s%s%.200s", e->file ? ts_symbols_text(s, e->file - 1) : "",
		 e->file ? "::" : "", ts_demangle_whole(name, text) ? text : name);
}

static void list_symbol(const struct ts_symbols *s, const struct ts_symbols_entry *e, struct ts_meanings *all)
{
	struct ts_meaning *m = list(all, e->addr);

	if (m)
		tell_apart(s, e, m);
}

/* Does it count beside the best one?  Of libraries only what is demangled: of others the first is taken. */
static bool is_rival(const struct ts_symbols_entry *best, const struct ts_symbols_entry *e)
{
	return e->is_own == best->is_own && e->is_function == best->is_function && (best->is_own || e->shown);
}

static void list_rivals(struct ts_symbols *s, const struct parts *p, const struct ts_symbols_entry *best,
			struct ts_meanings *all)
{
	const struct ts_symbols_entry *e;
	size_t i = 0;

	all->n = 0;
	while ((e = next_match(s, p, &i))) {
		if (!is_rival(best, e) || is_listed(all, e->addr))
			continue;
		list_symbol(s, e, all);
	}
	if (!all->n)
		list(all, best->addr);
}

/* After the parameters that begin at @c, if "::" follows them; else @c. */
static const char *skip_params(const char *c)
{
	size_t depth = 0, i = 0;

	if (*c != '(')
		return c;
	do {
		depth += c[i] == '(';
		depth -= c[i] == ')';
		i++;
	} while (depth && c[i]);
	return !depth && c[i] == ':' ? c + i : c;
}

/* one::calls for what is one(int)::calls, a static variable in a function. */
static bool is_inside(const char *shown, const char *name, size_t len)
{
	size_t n = 0;

	for (const char *c = shown; *c;) {
		const char *after = skip_params(c);

		if (after > c)
			c = after;
		else if (n == len || name[n++] != *c++)
			return false;
	}
	return n == len;
}

static const struct ts_symbols_entry *find_inside(struct ts_symbols *s, const struct parts *p, struct ts_meanings *all)
{
	const struct ts_symbols_entry *e, *found = NULL;

	for (size_t i = 0; (e = ts_symbols_demangled(s, i)); i++) {
		if (!strstr(e->shown, ")::") || !is_inside(e->shown, p->name, p->name_len) || is_listed(all, e->addr))
			continue;
		found = e;
		list_symbol(s, e, all);
	}
	return found;
}

/* Is the demangled name, without parameters, the name in a namespace, a module or a class: r::total? */
static bool is_qualified(const char *shown, const char *name, size_t len)
{
	size_t n = strcspn(shown, "(");

	return n > len + 2 && !memcmp(shown + n - len, name, len) && shown[n - len - 1] == ':' && shown[n - len - 2] == ':';
}

static const struct ts_symbols_entry *find_qualified(struct ts_symbols *s, const struct parts *p, bool is_code, struct ts_meanings *all)
{
	const struct ts_symbols_entry *e, *found = NULL;

	for (size_t i = 0; (e = ts_symbols_demangled(s, i)); i++) {
		if (!e->is_own || e->is_function != is_code || is_other_part(s, e, p) || !is_qualified(e->shown, p->name, p->name_len) ||
		    !is_of_file(s, e, p) || !is_of_module(s, e, p) || is_listed(all, e->addr))
			continue;
		found = e;
		list_symbol(s, e, all);
	}
	return found;
}

/* count.0 and count.1: static variables in functions of C are data with the name, a dot and a number. */
static const struct ts_symbols_entry *find_numbered(struct ts_symbols *s, const struct parts *p, struct ts_meanings *all)
{
	const struct ts_symbols_entry *e, *found = NULL;
	size_t i = 0;

	while ((e = ts_symbols_next_numbered(s, p->name, p->name_len, &i))) {
		if (!e->is_own || e->is_function || !is_of_file(s, e, p) || !is_of_module(s, e, p) || is_listed(all, e->addr))
			continue;
		found = e;
		list_symbol(s, e, all);
	}
	return found;
}

/* A function of which only a copy is left: unescape.constprop.0. */
static const struct ts_symbols_entry *find_clone(struct ts_symbols *s, const struct parts *p, struct ts_meanings *all)
{
	const struct ts_symbols_entry *e, *found = NULL;
	size_t i = 0;

	while ((e = ts_symbols_next_clone(s, p->name, p->name_len, &i))) {
		if (!e->is_own || !e->is_function || !is_of_file(s, e, p) || !is_of_module(s, e, p) || is_listed(all, e->addr))
			continue;
		found = e;
		list_symbol(s, e, all);
	}
	return found;
}

static bool has_colons(const struct parts *p)
{
	for (size_t i = 0; i + 1 < p->name_len; i++) {
		if (p->name[i] == ':' && p->name[i + 1] == ':')
			return true;
	}
	return false;
}

/* Returns false if nothing can be found. */
static bool begin(struct ts_symbols *s, struct parts *p, const char *name, size_t len, struct ts_meanings *all)
{
	*p = (struct parts){ 0 };
	all->n = 0;
	set_name(p, name, len);
	if (!len || !ts_symbols_sort(s))
		return false;
	split_module(s, p);
	return true;
}

const struct ts_symbol *ts_symbols_mean(struct ts_symbols *s, const char *name, size_t len, bool is_code,
					struct ts_meanings *all)
{
	const struct ts_symbols_entry *best;
	struct parts p;

	if (!begin(s, &p, name, len, all))
		return NULL;
	best = find_best(s, &p, is_code);
	if (!best && has_colons(&p))
		best = find_inside(s, &p, all);
	if (best && all->n)
		return all->n == 1 ? ts_symbols_show(s, best) : NULL;
	if (!best) {
		split_file(&p);
		best = find_best(s, &p, is_code);
	}
	if (!best && ((best = find_numbered(s, &p, all)) || (best = find_clone(s, &p, all))))
		return all->n == 1 ? ts_symbols_show(s, best) : NULL;
	if (!best)
		return NULL;
	list_rivals(s, &p, best, all);
	return all->n == 1 ? ts_symbols_show(s, best) : NULL;
}

const struct ts_symbol *ts_symbols_mean_qualified(struct ts_symbols *s, const char *name, size_t len, bool is_code,
						  struct ts_meanings *all)
{
	struct parts p;
	const struct ts_symbols_entry *found = begin(s, &p, name, len, all) ? find_qualified(s, &p, is_code, all) : NULL;

	return found && all->n == 1 ? ts_symbols_show(s, found) : NULL;
}

const struct ts_loaded_file *ts_symbols_mean_module(struct ts_symbols *s, const char *name, size_t len,
					       struct ts_meanings *all)
{
	const struct ts_loaded_file *found = ts_loaded_find(&s->loaded, name, len, &all->n), *x;
	struct ts_meaning *m;

	if (all->n < 2)
		return found;
	all->n = 0;
	for (size_t i = 0; (x = ts_loaded_get(&s->loaded, i)); i++) {
		if (x->is_part || !ts_loaded_is_called(x, name, len) || is_listed(all, x->first))
			continue;
		m = list(all, x->first);
		if (m)
			snprintf(m->text, sizeof(m->text), "%.200s", x->path);
	}
	return NULL;
}

static void list_inlined(void *user, uint64_t addr, const char *function)
{
	struct ts_meanings *all = user;
	struct ts_meaning *m = is_listed(all, addr) ? NULL : list(all, addr);

	if (m)
		snprintf(m->text, sizeof(m->text), "in %.200s", function ? function : "a function without a name");
}

void ts_symbols_mean_inlined(struct ts_symbols *s, const char *name, size_t len, struct ts_meanings *all)
{
	all->n = 0;
	ts_signatures_inlined(&s->signatures, name, len, list_inlined, all);
}

void ts_symbols_mean_copies(struct ts_symbols *s, const char *name, size_t len, struct ts_meanings *all)
{
	const struct ts_symbols_entry *e;
	size_t i = 0;

	all->n = 0;
	while (len && ts_symbols_sort(s) && (e = ts_symbols_next_clone(s, name, len, &i))) {
		if (e->is_own && e->is_function && !is_listed(all, e->addr))
			list_symbol(s, e, all);
	}
}
