/* SPDX-License-Identifier: MIT */
/*
 * The locations of a call's integer arguments and of its result in the usual calling convention.
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
	unsigned n_words; /* the arguments are this many stack words above the return address instead */
	int result;       /* index of the result's register, -1 if the processor has none for results */
	uint32_t len;     /* the first bytes of the layout, up to the last of these registers and sp */
	/* further locations, for values of known types (typed.h): */
	bool is_sysv64;   /* x86-64 System V */
	int vectors[TS_MAX_VECTORS], result2, st0; /* registers as above */
	bool is_before;     /* arguments are read before the call instruction: no return address lies below them */
	uint32_t len_typed; /* as len, with the registers for values of known types */
	uint8_t *data, *known; /* owned, one allocation: these bytes at a position */
};

/*
 * Choose the convention of a recording: that of Windows if the format, the recording or the program's file
 * (PE) says so.
 *
 * Returns false if memory is exhausted.
 */
bool ts_abi_init(struct ts_abi *abi, const struct ts_ask *ask);
void ts_abi_fini(struct ts_abi *abi);

/* Returns the number of arguments that have a location. */
static inline unsigned ts_abi_n_arguments(const struct ts_abi *abi)
{
	return abi->n_regs + abi->n_words;
}

/* The location of the result; its kind is TS_WHAT_NONE if that is not known. */
struct ts_what ts_abi_result_place(const struct ts_abi *abi, const struct ts_regset *set);

/*
 * Append the arguments of the call that begins at @pos on @thread to @out, each as a NUL-terminated text; an
 * unknown argument is an empty text.  If an argument points to a string, the string follows after
 * TS_ROW_ASIDE, in quotes if @is_for_people.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_abi_arguments(const struct ts_abi *abi, struct ts_ask *ask, uint64_t pos, uint32_t thread,
		      bool is_for_people, struct ts_buf *out, struct ts_error *err);

/*
 * As ts_abi_arguments(), for the result of a call that returned to @pos.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_abi_result(const struct ts_abi *abi, struct ts_ask *ask, uint64_t pos, uint32_t thread,
		   bool is_for_people, struct ts_buf *out, struct ts_error *err);

/*
 * Append @value as a cell shows it (nothing if not @has_value) and the NUL.  The string that it points to
 * follows as in ts_abi_arguments().
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_abi_put_value(struct ts_buf *out, struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t value,
		      bool has_value, bool is_for_people, struct ts_error *err);

/*
 * Get the result as a number.  *has_value is set to false if it is not known.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_abi_result_value(const struct ts_abi *abi, struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t *value,
			 bool *has_value, struct ts_error *err);

#endif
