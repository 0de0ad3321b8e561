/* SPDX-License-Identifier: MIT */
/*
 * Names and types of the parameters of functions, by the functions' addresses, from the files' debugging information.
 *
 * Files are noted; one is read when a function of it is asked for.
 */
#ifndef TS_SYMBOLS_SIGNATURES_H
#define TS_SYMBOLS_SIGNATURES_H

#include "src/object/inlined.h"
#include "src/object/prototypes.h"
#include "src/object/variables.h"

/* A power of two. */
#define TS_N_SIGNATURES 256u

struct ts_signature_file {
	struct ts_source *src; /* owned; NULL once it was read */
	struct ts_source *frames; /* owned; the program whose debugging information is apart, NULL once it was read, or if it is not */
	struct ts_prototypes *functions; /* owned; NULL before */
	uint64_t bias, first, last; /* where it lies in memory, both inclusive */
	bool is_own;                /* of the program, or a file that the user names */
};

struct ts_signatures {
	struct ts_signature_file *files; /* owned */
	size_t n, cap;
	/* what was found last, by address; addr 0: nothing */
	struct {
		uint64_t addr;
		const struct ts_prototype *found;
	} recent[TS_N_SIGNATURES];
};

void ts_signatures_fini(struct ts_signatures *s);

/*
 * Note the file @src (borrowed), or if @debug (borrowed) is not NULL, that one with its debugging information, which lies @bias bytes above where it is linked, at [@first, @last].
 *
 * Returns false if memory is exhausted, or @src cannot be opened again.
 */
bool ts_signatures_add_file(struct ts_signatures *s, const struct ts_source *src, const struct ts_source *debug, uint64_t bias,
			    uint64_t first, uint64_t last, bool is_own);

/* The function that begins at @addr; NULL if nothing is said of it.  Valid until ts_signatures_fini(). */
const struct ts_prototype *ts_signatures_find(struct ts_signatures *s, uint64_t addr);

/*
 * The variable @text where the instruction at frame->pc is the next one: src/object/variables.h.  Here frame->pc is the address
 * in memory; frame->bias is filled in.
 */
void ts_signatures_variable(struct ts_signatures *s, struct ts_variable_frame *frame, const char *text, size_t len,
			    struct ts_variable *v);

/* What @text is in the variable @g of some file, as ts_variables_find_in(); one that is thread-local is the program's. */
void ts_signatures_in_global(struct ts_signatures *s, struct ts_variable_frame *frame, const struct ts_global *g, const char *text,
			     size_t len, struct ts_variable *v);

/*
 * Call @found for each place at which the function @name was inlined into the program's own code: src/object/inlined.h, but
 * @addr is an address in memory.
 *
 * Returns false if there may be more places.
 */
bool ts_signatures_inlined(struct ts_signatures *s, const char *name, size_t len,
			   void (*found)(void *user, uint64_t addr, const char *function), void *user);

#endif
