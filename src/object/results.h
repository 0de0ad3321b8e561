/* SPDX-License-Identifier: MIT */
/*
 * The registers that hold the results of functions of Go and Rust, as far as the debugging information and the convention settle them.
 * Private to prototypes.c.
 *
 * Go (ABIInternal): the scalars of each result, in their order, take the next registers; a result that does not fit takes none, and is on
 * the stack at a place that the debugging information does not say.  Rust's convention is not fixed: a scalar, and a pair of two words,
 * are where C has them.
 */
#ifndef TS_OBJECT_RESULTS_H
#define TS_OBJECT_RESULTS_H

#include "prototypes_parts.h"
#include "value_type.h"

struct ts_result_registers;

/* The registers of the file's processor; NULL: they are not known. */
const struct ts_result_registers *ts_result_registers_of(Elf *elf);

/* Results of a function of Go while they are listed; all zero but for the registers at first. */
struct ts_go_results {
	const struct ts_result_registers *registers;
	const char *names[TS_MAX_RESULTS]; /* borrowed from the debugging information */
	struct ts_placed_result items[TS_MAX_RESULTS];
	unsigned n, used[2]; /* used: registers of numbers, of floating-point numbers */
	bool is_unplaced;    /* from here on their places are not known */
	bool is_lost;        /* there are more, or others, than are listed */
};

/* Append the next result, with facts @f. */
void ts_go_results_add(struct ts_go_results *g, struct ts_type_budget *b, struct ts_die_facts *f);

/* The result of a function of Rust.  Returns false if its place is not certain. */
bool ts_rust_result(const struct ts_result_registers *c, struct ts_type_budget *b, Dwarf_Die *type, struct ts_placed_result *r);

#endif
