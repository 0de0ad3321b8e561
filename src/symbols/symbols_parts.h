/* SPDX-License-Identifier: MIT */
/*
 * Private to symbols.c and meanings.c: the internals of a table of symbols.
 */
#ifndef TS_SYMBOLS_SYMBOLS_PARTS_H
#define TS_SYMBOLS_SYMBOLS_PARTS_H

#include "loaded_files.h"
#include "signatures.h"
#include "src/base/collections/arena.h"
#include "src/base/collections/buf.h"
#include "src/query/files/tls.h"
#include "symbol.h"
#include "thread_locals.h"

struct ts_code_lines;
struct ts_packed_debug;
struct ts_source;

/* A stored symbol: the name is an offset, because the texts move while they grow. */
struct ts_symbols_entry {
	uint64_t addr, len, room;
	uint64_t name;
	const char *shown; /* in the arena: demangled; NULL: not yet, or it is not mangled */
	uint64_t order; /* the order of addition: the first of several symbols at one address names it */
	uint64_t file;  /* 1 + the offset of the name of a local symbol's source file; 0: none */
	bool is_function, is_demangled; /* has been tried */
	bool is_open;
	bool is_indirect;
	bool is_own;    /* of the program, or a file that the user names */
};

/* A file that has not been read yet. */
struct ts_symbols_noted {
	struct ts_source *src; /* owned */
	uint64_t base;
	bool has_base, is_own;
	char *path; /* owned; the path in the recording, or the user's */
};

struct ts_symbols {
	struct ts_symbols_noted *files;   /* owned */
	const struct ts_packed_debug *debug; /* borrowed */
	size_t n_debug;
	size_t n_files, cap_files;
	struct ts_symbols_entry *items;  /* owned; by address once sorted */
	size_t n, cap;
	uint32_t *by_name;    /* owned; ordinals by name */
	uint32_t *by_shown;   /* owned; n_shown ordinals of symbols with demangled names, by these; NULL: not needed yet */
	size_t n_shown;
	struct ts_arena shown;
	uint64_t shown_len;   /* bytes that count towards MAX_SHOWN */
	struct ts_buf names;
	uint64_t last_file;   /* 1 + the offset of the last source file's name; 0: none */
	uint64_t process;     /* has_process: page tables of the process of a machine to which the names belong */
	bool has_process;
	bool is_sorted;
	bool is_own_over;     /* further files are not the program's own */
	bool is_adding_other; /* further symbols are not the program's own */
	struct ts_symbol found;
	char inside[300]; /* found.name if that is NAME+0x30 */
	struct ts_loaded_files loaded;
	struct ts_code_lines *lines; /* owned */
	struct ts_signatures signatures;
	struct ts_thread_locals thread_locals;
	struct ts_tls_facts tls_facts;
};

/*
 * Sort the symbols.
 *
 * Returns false if @s has no symbols.
 * Returns false if memory is exhausted.
 */
bool ts_symbols_sort(struct ts_symbols *s);

/*
 * The next symbol from *i on (0: the first) whose name in the file is the @len bytes at @name, or, if
 * no symbol has that name, whose demangled name without parameters is.  It is borrowed from @s.
 *
 * Returns NULL after the last.
 */
struct ts_symbols_entry *ts_symbols_next_named(struct ts_symbols *s, const char *name, size_t len, size_t *i);

/*
 * The next symbol from *i on (0: the first) whose name in the file is @name, a dot and digits, borrowed from @s; NULL after the
 * last.
 */
struct ts_symbols_entry *ts_symbols_next_numbered(struct ts_symbols *s, const char *name, size_t len, size_t *i);

/*
 * The next symbol from *i on (0: the first) that a compiler gave a copy of the function @name: NAME.constprop.0.isra.0.  Parts
 * of functions (NAME.part.0, NAME.cold) are not copies.  The symbol is borrowed from @s; NULL after the last.
 */
struct ts_symbols_entry *ts_symbols_next_clone(struct ts_symbols *s, const char *name, size_t len, size_t *i);

/*
 * Returns symbol @i of those with a demangled name, in the order of these, borrowed from @s.
 * Returns NULL after the last one, and if memory is exhausted.
 */
struct ts_symbols_entry *ts_symbols_demangled(struct ts_symbols *s, size_t i);

/* Returns the stored symbol as a struct ts_symbol, valid until the next call. */
const struct ts_symbol *ts_symbols_show(struct ts_symbols *s, const struct ts_symbols_entry *e);

/* Returns the text at offset @off of the names, borrowed until a name is added. */
static inline const char *ts_symbols_text(const struct ts_symbols *s, uint64_t off)
{
	return (const char *)s->names.data + off;
}

#endif
