/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses: the functions and data of the files that are in memory, and their lines of the source.
 *
 * Files are noted first; ts_symbols_read() or ts_symbols_read_all() reads them before anything is asked.
 */
#ifndef TS_SYMBOLS_SYMBOLS_H
#define TS_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_lines.h"
#include "loaded_files.h"
#include "src/base/error.h"
#include "src/object/prototypes.h"
#include "src/object/variables.h"
#include "src/source/source.h"
#include "symbol.h"
#include "thread_locals.h"

/* How the name of an entry of a procedure linkage table ends: that of the function stands before it. */
#define TS_LINKED "@plt"

struct ts_symbols;
struct ts_packed_debug;
struct ts_tls_facts;

/* An empty table; NULL if memory is exhausted. */
struct ts_symbols *ts_symbols_new(void);
void ts_symbols_free(struct ts_symbols *s);

/* The names are those of one process of a whole machine, whose page tables are at @root, as cr3 has it. */
void ts_symbols_set_process(struct ts_symbols *s, uint64_t root);

/* Returns false if names are not those of one process of a machine; else *root gets its page tables. */
bool ts_symbols_process(const struct ts_symbols *s, uint64_t *root);

/* Debug files of the files that are read; borrowed. */
void ts_symbols_use_debug(struct ts_symbols *s, const struct ts_packed_debug *debug, size_t n);

/*
 * Note the ELF or PE file @src, of which the lowest page lies at *@base; NULL: where it is linked.  A file that
 * is neither has no symbols, nor has one that is noted already as the program's own.  @path is what the recording calls it; NULL: as the source does.
 *
 * Returns false if memory is exhausted (TS_ENOMEM), or it cannot be opened again (TS_EIO).
 */
bool ts_symbols_add_file(struct ts_symbols *s, const struct ts_source *src, const char *path, const uint64_t *base,
			 struct ts_error *err);

/* Add a module of which no file is there.  Returns false if memory is exhausted. */
bool ts_symbols_add_module(struct ts_symbols *s, const struct ts_loaded_file *module);

/* The files in memory, noted ones after they were read, and other modules; borrowed. */
struct ts_loaded_files *ts_symbols_loaded(struct ts_symbols *s);

/*
 * Read the symbols of the files that were noted.  Returns false if memory is exhausted; the table is of no use
 * then.
 */
bool ts_symbols_read(struct ts_symbols *s, struct ts_error *err);

/*
 * The same, with what is otherwise read when it is first asked for: lines, and names as people write them.
 * No function below takes long then.  May be called on another thread than the others, before them.
 */
bool ts_symbols_read_all(struct ts_symbols *s, struct ts_error *err);

/*
 * Add one; @name is copied.  With @len 0 it reaches up to the next one, over at most @room bytes.  It is left out if
 * names have 256 MiB without it.
 *
 * Returns false if memory is exhausted.
 */
bool ts_symbols_add(struct ts_symbols *s, uint64_t addr, uint64_t len, uint64_t room, const char *name,
		    bool is_function);

/* The symbol that was added last is local to source file @file, which is copied.  Returns false if memory is exhausted. */
bool ts_symbols_set_file(struct ts_symbols *s, const char *file);

/* The symbol that was added last is that of an indirect function. */
void ts_symbols_set_indirect(struct ts_symbols *s);

/* Where the symbol that was added last ends is not known. */
void ts_symbols_set_open(struct ts_symbols *s);

/*
 * The files that were noted so far are the program's own, and those that the user names: their symbols come before those
 * of the files that follow.
 */
void ts_symbols_end_own(struct ts_symbols *s);

/*
 * The function that @addr is in, NULL if none is known.  After the first byte of an open one, which may have ended before,
 * its name is NAME+0x30.
 */
const struct ts_symbol *ts_symbols_function_at(struct ts_symbols *s, uint64_t addr);

/*
 * The symbol called @name (of @len bytes), as in the file or demangled; NULL if there is none.  A function
 * goes before data.
 */
const struct ts_symbol *ts_symbols_find(struct ts_symbols *s, const char *name, size_t len);

/* Is there a symbol called @name, as in the file, at @addr? */
bool ts_symbols_is_at(struct ts_symbols *s, const char *name, uint64_t addr);

/*
 * The @i-th of the entries of linkage tables that are called like a function at @addr: *link gets its address.  Returns
 * false after the last.
 */
bool ts_symbols_get_link(struct ts_symbols *s, uint64_t addr, unsigned i, uint64_t *link);

/*
 * The @i-th indirect function that has a name of the one at @addr: versions of one symbol have the same name.  Returns
 * false after the last.
 */
bool ts_symbols_get_version(struct ts_symbols *s, uint64_t addr, unsigned i, uint64_t *other);

/* Is @name a demangled one that symbols at several addresses have: functions with different parameters? */
bool ts_symbols_is_overloaded(struct ts_symbols *s, const char *name, size_t len);

/* The lines of the files; borrowed. */
struct ts_code_lines *ts_symbols_lines(struct ts_symbols *s);

/* The parameters and the result of the function that begins at @addr; NULL if no file tells; borrowed. */
const struct ts_prototype *ts_symbols_prototype(struct ts_symbols *s, uint64_t addr);

/* The variable @text where the instruction at frame->pc is the next one, as ts_signatures_variable(). */
void ts_symbols_variable(struct ts_symbols *s, struct ts_variable_frame *frame, const char *text, size_t len,
			 struct ts_variable *v);

/* What @text is in the variable @g outside of functions, as ts_signatures_in_global(). */
void ts_symbols_in_global(struct ts_symbols *s, struct ts_variable_frame *frame, const struct ts_global *g, const char *text, size_t len,
			  struct ts_variable *v);

/* The thread-local variable called @name, as ts_thread_locals_find(). */
const struct ts_thread_local *ts_symbols_thread_local(struct ts_symbols *s, const char *name, size_t len, unsigned *n);

/* What the files of glibc say about the places of those of libraries; borrowed. */
const struct ts_tls_facts *ts_symbols_tls_facts(const struct ts_symbols *s);

/* The @i-th symbol by address, NULL after the last. */
const struct ts_symbol *ts_symbols_get(struct ts_symbols *s, size_t i);

#endif
