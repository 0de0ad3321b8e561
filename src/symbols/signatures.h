/* SPDX-License-Identifier: MIT */
/*
 * Names and types of the parameters of functions, by the functions' addresses, from the files' debugging information.
 *
 * Files are registered first; each is read at the first look-up of one of its functions.
 */
#ifndef TS_SYMBOLS_SIGNATURES_H
#define TS_SYMBOLS_SIGNATURES_H

#include "src/object/debug/prototypes.h"
#include "src/object/debug/variables.h"

/* A power of two. */
#define TS_N_SIGNATURES 256u

struct ts_signature_file {
	struct ts_source *src; /* owned; NULL after it was read */
	struct ts_source *frames; /* owned; the program if src is its separate debug file; NULL otherwise, or after it was read */
	struct ts_prototypes *functions; /* owned; NULL before src was read */
	uint64_t bias, first, last; /* its addresses in memory, both inclusive */
	bool is_own;                /* the program's file, or a file that the user names */
};

struct ts_signatures {
	struct ts_signature_file *files; /* owned */
	size_t n, cap;
	/* a cache of look-ups, by address; addr 0: empty */
	struct {
		uint64_t addr;
		const struct ts_prototype *found;
	} recent[TS_N_SIGNATURES];
};

void ts_signatures_fini(struct ts_signatures *s);

/*
 * Register the file @src (borrowed) at [@first, @last], @bias bytes above its linked address.  @debug (borrowed) is its
 * separate debug file, or NULL.
 *
 * Returns false if memory is exhausted, or @src cannot be opened again.
 */
bool ts_signatures_add_file(struct ts_signatures *s, const struct ts_source *src, const struct ts_source *debug, uint64_t bias,
			    uint64_t first, uint64_t last, bool is_own);

/* The function that begins at @addr; NULL if no file describes it.  Valid until ts_signatures_fini(). */
const struct ts_prototype *ts_signatures_find(struct ts_signatures *s, uint64_t addr);

/*
 * Find the variable @text at the instruction at frame->pc: src/object/debug/variables.h.  Here frame->pc is the address
 * in memory; frame->bias is filled in.
 */
void ts_signatures_variable(struct ts_signatures *s, struct ts_variable_frame *frame, const char *text, size_t len,
			    struct ts_variable *v);

/* As ts_variables_find_in(), for the variable @g of any file; a thread-local variable is the program's. */
void ts_signatures_in_global(struct ts_signatures *s, struct ts_variable_frame *frame, const struct ts_global *g, const char *text,
			     size_t len, struct ts_variable *v);

/*
 * Call @found for each place at which the function @name was inlined into the program's own code: src/object/debug/prototypes.h, but
 * @addr is an address in memory.
 *
 * Returns false if there may be more places.
 */
bool ts_signatures_inlined(struct ts_signatures *s, const char *name, size_t len,
			   void (*found)(void *user, uint64_t addr, const char *function), void *user);

#endif
