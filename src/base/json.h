/* SPDX-License-Identifier: MIT */
/*
 * JSON values as text.
 */
#ifndef TS_JSON_H
#define TS_JSON_H

#include <jansson.h>

#include "buf.h"
#include "json_text.h"

/*
 * Append the text of @value, in which characters that a terminal obeys are escaped, NULL after a failed allocation; @flags are those of json_dumps().  That function
 * may leave out a key when memory is short, and say nothing.
 *
 * The buffer has failed if memory is exhausted or the value cannot be written.
 */
void ts_json_put(struct ts_buf *out, const json_t *value, size_t flags);

#endif
