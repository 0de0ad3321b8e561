/* SPDX-License-Identifier: MIT */
/*
 * Messages for users, which may quote untrusted names.
 */
#ifndef TS_MESSAGE_H
#define TS_MESSAGE_H

#include <stdio.h>

/*
 * Print one line; @format has no newline.  Names in it may have any bytes: control characters are printed as '?'.
 */
void ts_message(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
