/* SPDX-License-Identifier: MIT */
/*
 * Where calls have their integer arguments and their result, by the usual calling convention.
 */
#ifndef TS_ASK_ABI_H
#define TS_ASK_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/ask/grammar/what.h"
#include "src/ask/verb.h"

#define TS_MAX_ARGUMENTS 8u
#define TS_MAX_VECTORS   8u

struct ts_abi {
	int regs[TS_MAX_ARGUMENTS]; /* indices into the register set; n_regs of them */
	unsigned n_regs;
	unsigned n_words; /* arguments are so many words above the return address instead */
	int result;       /* index of the result's register, -1 if there is none */
	uint32_t len;     /* all of these registers, and the stack pointer, are in the first bytes of the layout */
	/* where values of known types are, besides (typed.h): */
	bool is_sysv64;   /* x86-64 System V */
	int vectors[TS_MAX_VECTORS], result2, st0; /* registers as above */
	uint32_t len_typed; /* the registers for values of known types, too, are in the first bytes of this number */
	uint8_t *data, *known; /* owned, one allocation: these bytes at a position */
};

/*
 * The convention of a recording: of Windows where the format, the recording or the program's file (PE) says so.  Returns
 * false if memory is exhausted.
 */
bool ts_abi_init(struct ts_abi *abi, const struct ts_ask *ask);
void ts_abi_fini(struct ts_abi *abi);

static inline unsigned ts_abi_n_arguments(const struct ts_abi *abi)
{
	return abi->n_regs + abi->n_words;
}

/* Where the result is; of kind TS_WHAT_NONE if that is not known. */
struct ts_what ts_abi_result_place(const struct ts_abi *abi, const struct ts_regset *set);

/*
 * Append the arguments of the call that begins at @pos on @thread to @out, each as a text with its NUL; an
 * unknown one is empty.  The string that one points to follows after TS_ROW_ASIDE: as it is, or in quotes if
 * @is_for_people.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_abi_arguments(const struct ts_abi *abi, struct ts_ask *ask, uint64_t pos, uint32_t thread,
		      bool is_for_people, struct ts_buf *out, struct ts_error *err);

/* The same of the one result of a call that returned to @pos. */
bool ts_abi_result(const struct ts_abi *abi, struct ts_ask *ask, uint64_t pos, uint32_t thread,
		   bool is_for_people, struct ts_buf *out, struct ts_error *err);

/*
 * Append @value as a row has it, nothing if not @has_value, and the NUL; the string that it points to follows as above.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_abi_put_value(struct ts_buf *out, struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t value,
		      bool has_value, bool is_for_people, struct ts_error *err);

/* The same as a number; *has_value is false if it is not known. */
bool ts_abi_result_value(const struct ts_abi *abi, struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t *value,
			 bool *has_value, struct ts_error *err);

#endif
