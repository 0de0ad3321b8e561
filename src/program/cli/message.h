/* SPDX-License-Identifier: MIT */
/*
 * Messages for people, which may quote names of any origin.
 */
#ifndef TS_MESSAGE_H
#define TS_MESSAGE_H

#include <stdio.h>

/*
 * Print one line, without the line's end in @format.  Names in it may have any bytes: those that a terminal
 * would obey are shown as '?'.
 */
void ts_message(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
