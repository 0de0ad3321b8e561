/* SPDX-License-Identifier: MIT */
/*
 * Arguments and results of functions whose parameters are known, from where the calling convention has them: x86-64 System V
 * ABI 3.2.3, i386's stack; elsewhere integers that are in the first registers.
 */
#ifndef TS_ASK_TYPED_H
#define TS_ASK_TYPED_H

#include "abi.h"
#include "src/object/prototypes.h"

/*
 * As ts_abi_arguments(), of a function with prototype @f: each argument is NAME=VALUE if @is_for_people, else VALUE.
 * @is_clone: the compiler has changed its convention, so only registers count in which its debugging information has a
 * parameter.  *n gets how many there are.
 */
bool ts_typed_arguments(const struct ts_abi *abi, struct ts_ask *ask, const struct ts_prototype *f, bool is_clone,
			uint64_t pos, uint32_t thread, bool is_for_people, struct ts_buf *out, unsigned *n,
			struct ts_error *err);

/* As ts_abi_result(): nothing is appended but the NUL if the function has no result, or it is not known where it is. */
bool ts_typed_result(const struct ts_abi *abi, struct ts_ask *ask, const struct ts_prototype *f, bool is_clone,
		     uint64_t pos, uint32_t thread, bool is_for_people, struct ts_buf *out, struct ts_error *err);

/* Is the function at @target a copy that the compiler made for some calls, which may leave out arguments? */
bool ts_typed_is_clone(const struct ts_ask *ask, uint64_t target);

#endif
