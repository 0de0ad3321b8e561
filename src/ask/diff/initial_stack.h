/* SPDX-License-Identifier: MIT */
/*
 * The initial stack of a new program, as the system fills it before the first instruction: the number of
 * arguments, pointers to the arguments and environment variables, the auxiliary vector, and the texts that
 * these point to (System V ABI, "Process Initialization").
 */
#ifndef TS_ASK_INITIAL_STACK_H
#define TS_ASK_INITIAL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/query.h"

enum ts_given_kind {
	TS_GIVEN_COUNT,     /* the number of arguments */
	TS_GIVEN_ARGUMENT,  /* key: its number; the last one is the null pointer */
	TS_GIVEN_VARIABLE,  /* name: that of the variable; the null pointer has none */
	TS_GIVEN_AUXILIARY, /* key: its type (elf.h) */
};

/* Types of the auxiliary vector (elf.h) that are compared. */
enum ts_auxiliary {
	TS_AUX_IGNORE = 1,
	TS_AUX_PLATFORM = 15,
	TS_AUX_BASE_PLATFORM = 24,
	TS_AUX_RANDOM = 25,
	TS_AUX_EXECFN = 31,
	TS_AUX_SYSINFO_EHDR = 33,
};

/* An entry, and the text that it points to. */
struct ts_given {
	enum ts_given_kind kind;
	uint64_t key;
	char name[64];          /* longer names are cut */
	uint64_t slot;          /* its address */
	uint32_t slot_len;      /* in bytes */
	uint64_t text, text_len; /* in bytes, with the NUL; 0: it points to no text */
};

struct ts_initial_stack {
	struct ts_given *items; /* owned; ascending by slot */
	size_t n, cap;
	uint64_t sp;
	bool is_whole; /* it was read up to the end of the auxiliary vector */
};

/*
 * Read the initial stack of @q's first thread at position 0, as far as the recording knows it.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Call ts_initial_stack_fini() in both cases.
 */
bool ts_initial_stack_read(struct ts_initial_stack *s, struct ts_query *q, struct ts_error *err);
void ts_initial_stack_fini(struct ts_initial_stack *s);

/* The order of entries that belong together in two recordings: by kind, key and name.  Returns as a comparison for qsort() does. */
int ts_given_compare(const void *a, const void *b);

#endif
