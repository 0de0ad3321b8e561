/* SPDX-License-Identifier: MIT */
/*
 * Arguments and results of functions with known parameter types, read from their places in the calling
 * convention: x86-64 System V ABI 3.2.3, the stack of i386; elsewhere integers in the first registers.
 */
#ifndef TS_ASK_TYPED_H
#define TS_ASK_TYPED_H

#include "abi.h"
#include "src/object/debug/prototypes.h"

/*
 * As ts_abi_arguments(), for a function with prototype @f: each argument is NAME=VALUE if @is_for_people,
 * else VALUE.  @is_clone: the compiler may have changed the convention, so only the registers that the
 * debugging information lists are used.  *n is set to the number of arguments.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_typed_arguments(const struct ts_abi *abi, struct ts_ask *ask, const struct ts_prototype *f, bool is_clone,
			uint64_t pos, uint32_t thread, bool is_for_people, struct ts_buf *out, unsigned *n,
			struct ts_error *err);

/*
 * As ts_abi_result().  Only the NUL is appended if the function has no result or its location is not known.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_typed_result(const struct ts_abi *abi, struct ts_ask *ask, const struct ts_prototype *f, bool is_clone,
		     uint64_t pos, uint32_t thread, bool is_for_people, struct ts_buf *out, struct ts_error *err);

/* Is the function at @target a clone, which the compiler made for some calls and which may lack arguments? */
bool ts_typed_is_clone(const struct ts_ask *ask, uint64_t target);

#endif
