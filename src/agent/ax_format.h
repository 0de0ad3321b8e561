/* SPDX-License-Identifier: MIT */
/*
 * The printf of agent expressions: gdb's dynamic printf formats, printed from 64-bit arguments and the
 * recording's memory.
 *
 * A format is C source text between its quotes, with the backslashes still in it.  It may have gdb's own
 * conversions of integers, characters, pointers and strings; '*', %n, wide and floating-point conversions are
 * not supported.
 */
#ifndef TS_AX_FORMAT_H
#define TS_AX_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_ax_env;

/*
 * Can the format of @len bytes, whose last is its only NUL, be printed with @n_args arguments?  Additional
 * arguments are allowed.
 */
bool ts_ax_format_check(const uint8_t *format, size_t len, unsigned n_args);

/* Is the first conversion of @format that cannot be printed one of floating-point numbers? */
bool ts_ax_format_has_float(const uint8_t *format, size_t len);

/*
 * Print into @text of @max bytes (at least 4) with a checked format.
 *
 * Strings are read from memory; one that the recording does not know entirely shows "<unavailable>" there.
 *
 * Returns the number of bytes written, without terminator.  Text that does not fit is truncated and then ends
 * in "...".
 */
size_t ts_ax_format(const struct ts_ax_env *env, const char *format, const uint64_t *args, char *text,
		     size_t max);

#endif
