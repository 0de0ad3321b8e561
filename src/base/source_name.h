/* SPDX-License-Identifier: MIT */
/* Names of files with source code. */
#ifndef TS_SOURCE_NAME_H
#define TS_SOURCE_NAME_H

#include <stdbool.h>

/* Does the path end as that of a source file does: .c, .cc, .h, .rs, .go, ...? */
bool ts_is_source_name(const char *path);

#endif
