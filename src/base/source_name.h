/* SPDX-License-Identifier: MIT */
/* Names of files with source code. */
#ifndef TS_SOURCE_NAME_H
#define TS_SOURCE_NAME_H

#include <stdbool.h>

/* Does the path have the suffix of a source file: .c, .cc, .h, .rs, .go, ...? */
bool ts_is_source_name(const char *path);

#endif
