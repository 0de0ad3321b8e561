/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses: the functions and data of the files that are in memory, and their source lines.
 *
 * Files are registered first; ts_symbols_read() or ts_symbols_read_all() must be called before any look-up.
 */
#ifndef TS_SYMBOLS_SYMBOLS_H
#define TS_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_lines.h"
#include "loaded_files.h"
#include "src/base/error.h"
#include "src/object/debug/prototypes.h"
#include "src/object/debug/variables.h"
#include "src/source/source.h"
#include "symbol.h"
#include "thread_locals.h"

/* The suffix of the names of entries of procedure linkage tables, after the function's name. */
#define TS_LINKED "@plt"

struct ts_symbols;
struct ts_packed_debug;
struct ts_tls_facts;

/* Returns an empty table, which the caller frees with ts_symbols_free(); NULL if memory is exhausted. */
struct ts_symbols *ts_symbols_new(void);
void ts_symbols_free(struct ts_symbols *s);

/* The names belong to one process of a whole machine, whose page tables are at @root, as in cr3. */
void ts_symbols_set_process(struct ts_symbols *s, uint64_t root);

/* Returns false if the names belong to all processes; otherwise *root is set to the page tables of the process. */
bool ts_symbols_process(const struct ts_symbols *s, uint64_t *root);

/* Use packed debug files of the files that are read; borrowed. */
void ts_symbols_use_debug(struct ts_symbols *s, const struct ts_packed_debug *debug, size_t n);

/*
 * Register the ELF or PE file @src, whose lowest page is at *@base; NULL: at its linked address.  Files of other kinds,
 * and files that are registered already as the program's own, are ignored.  @path is the recorded path; NULL: the
 * source's name.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Returns false if it cannot be opened again (TS_EIO).
 */
bool ts_symbols_add_file(struct ts_symbols *s, const struct ts_source *src, const char *path, const uint64_t *base,
			 struct ts_error *err);

/* Add a module without a file.  Returns false if memory is exhausted. */
bool ts_symbols_add_module(struct ts_symbols *s, const struct ts_loaded_file *module);

/*
 * Returns the files in memory: registered files after they were read, and other modules; borrowed from the
 * table.
 */
struct ts_loaded_files *ts_symbols_loaded(struct ts_symbols *s);

/*
 * Read the symbols of the registered files.
 *
 * Returns false if memory is exhausted (TS_ENOMEM); the table is then unusable.
 */
bool ts_symbols_read(struct ts_symbols *s, struct ts_error *err);

/*
 * As ts_symbols_read(), including the data that is otherwise read at the first look-up: lines and demangled
 * names.  The functions below are then fast.  May be called on another thread, before the functions below.
 *
 * Returns false if memory is exhausted (TS_ENOMEM); the table is then unusable.
 */
bool ts_symbols_read_all(struct ts_symbols *s, struct ts_error *err);

/*
 * Add a symbol; @name is copied.  With @len 0 it extends to the next symbol, over at most @room bytes.  It is ignored
 * if names already have 256 MiB.
 *
 * Returns false if memory is exhausted.
 */
bool ts_symbols_add(struct ts_symbols *s, uint64_t addr, uint64_t len, uint64_t room, const char *name,
		    bool is_function);

/*
 * The files that were registered so far are the program's own, and those that the user names: their symbols take
 * precedence over those of later files.
 */
void ts_symbols_end_own(struct ts_symbols *s);

/*
 * The function that contains @addr.  The end of an open function is unknown, and may be before @addr: after
 * its first byte its name is NAME+0x30.
 *
 * Returns the function, borrowed until the next call; NULL if none is known.
 */
const struct ts_symbol *ts_symbols_function_at(struct ts_symbols *s, uint64_t addr);

/*
 * The last address of the function that begins at @addr, as names of addresses show it: without a length it extends to the next
 * function.  Returns @addr if no function begins there, or if its end is unknown (is_open).
 */
uint64_t ts_symbols_function_last(struct ts_symbols *s, uint64_t addr);

/*
 * The symbol with the name @name (of @len bytes), as in the file or demangled.  Functions take precedence
 * over data.
 *
 * Returns the symbol, borrowed from the table; NULL if no symbol has this name.
 */
const struct ts_symbol *ts_symbols_find(struct ts_symbols *s, const char *name, size_t len);

/* Is there a symbol with the file's name @name at @addr? */
bool ts_symbols_is_at(struct ts_symbols *s, const char *name, uint64_t addr);

/*
 * Set *link to the address of the @i-th entry of linkage tables with the name of a function at @addr.  Returns
 * false after the last.
 */
bool ts_symbols_get_link(struct ts_symbols *s, uint64_t addr, unsigned i, uint64_t *link);

/*
 * Set *other to the address of the @i-th indirect function that shares a name with the one at @addr: versions of one
 * symbol have the same name.  Returns false after the last.
 */
bool ts_symbols_get_version(struct ts_symbols *s, uint64_t addr, unsigned i, uint64_t *other);

/* Is @name a demangled name of symbols at several addresses, as of functions with different parameters? */
bool ts_symbols_is_overloaded(struct ts_symbols *s, const char *name, size_t len);

/* Returns the lines of the files, borrowed from the table; never NULL. */
struct ts_code_lines *ts_symbols_lines(struct ts_symbols *s);

/*
 * Returns the parameters and the result of the function that begins at @addr, borrowed from the table; NULL
 * if no file describes it.
 */
const struct ts_prototype *ts_symbols_prototype(struct ts_symbols *s, uint64_t addr);

/* Find the variable @text at the instruction at frame->pc, as ts_signatures_variable(). */
void ts_symbols_variable(struct ts_symbols *s, struct ts_variable_frame *frame, const char *text, size_t len,
			 struct ts_variable *v);

/* Find the member @text of the variable @g outside functions, as ts_signatures_in_global(). */
void ts_symbols_in_global(struct ts_symbols *s, struct ts_variable_frame *frame, const struct ts_global *g, const char *text, size_t len,
			  struct ts_variable *v);

/* Returns the thread-local variable @name, borrowed from the table, as ts_thread_locals_find(). */
const struct ts_thread_local *ts_symbols_thread_local(struct ts_symbols *s, const char *name, size_t len, unsigned *n);

/*
 * Returns glibc's facts about the places of libraries' thread-local variables, from its files; borrowed;
 * never NULL.
 */
const struct ts_tls_facts *ts_symbols_tls_facts(const struct ts_symbols *s);

/* Returns the @i-th symbol by address, borrowed from the table; NULL after the last one. */
const struct ts_symbol *ts_symbols_get(struct ts_symbols *s, size_t i);

#endif
