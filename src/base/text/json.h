/* SPDX-License-Identifier: MIT */
/*
 * JSON values as text.
 */
#ifndef TS_JSON_H
#define TS_JSON_H

#include <jansson.h>

#include "src/base/collections/buf.h"
#include "json_text.h"

/*
 * Append the text of @value, with control characters escaped.  @value may be NULL after a failed allocation.  @flags are
 * those of json_dumps(), which may silently omit a key when memory is exhausted.
 *
 * The buffer has failed afterwards if memory was exhausted or the value cannot be written.
 */
void ts_json_put(struct ts_buf *out, const json_t *value, size_t flags);

#endif
