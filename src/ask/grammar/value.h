/* SPDX-License-Identifier: MIT */
/*
 * A VALUE to be found: a pattern of bytes.
 */
#ifndef TS_ASK_VALUE_H
#define TS_ASK_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

#define TS_MAX_VALUE 256u

struct ts_value {
	uint32_t len;                /* bytes; not 0 after parsing */
	uint8_t bytes[TS_MAX_VALUE];
	uint8_t mask[TS_MAX_VALUE];  /* 1: this byte; 0: any byte, known or not */
};

/*
 * Parse a value at the start of @text: 41 41 ?? 42, "text", u16"text", u32:N, f64:X ...  A value of hex bytes ends at
 * the first word that is no such byte.
 *
 * Returns the number of bytes of @text that were parsed.  Returns 0 if they are no value, or the value is longer than
 * TS_MAX_VALUE (TS_EUSAGE); the message quotes the text.
 */
size_t ts_value_parse(struct ts_value *value, const char *text, bool is_big_endian, struct ts_error *err);

/* Do these bytes match the value?  An unknown byte matches only a `??`. */
bool ts_value_is(const struct ts_value *v, const uint8_t *data, const uint8_t *known);

/*
 * Do the bytes @data at [@first, @last] match the value at @addr, in the bytes that both cover?
 */
bool ts_value_agrees(const struct ts_value *v, uint64_t addr, const uint8_t *data, uint64_t first,
		     uint64_t last);

#endif
