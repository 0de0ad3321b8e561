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
	uint32_t len;                /* bytes, not 0 once it was parsed */
	uint8_t bytes[TS_MAX_VALUE];
	uint8_t mask[TS_MAX_VALUE];  /* 1: this byte; 0: any byte, known or not */
};

/*
 * Parse what stands at the start of @text: 41 41 ?? 42, "text", u16"text", u32:N, f64:X ...; bytes in hex go
 * on as long as words are such bytes.
 *
 * Returns how many bytes of the text it is.  Returns 0 if it is not understood or longer than TS_MAX_VALUE
 * (TS_EUSAGE): the sentence quotes it.
 */
size_t ts_value_parse(struct ts_value *value, const char *text, bool is_big_endian, struct ts_error *err);

/* Is it these bytes?  An unknown one is no byte of a value that counts. */
bool ts_value_is(const struct ts_value *v, const uint8_t *data, const uint8_t *known);

/*
 * Do the bytes at [@first, @last], which are @data, agree with the value at @addr as far as it covers them?
 */
bool ts_value_agrees(const struct ts_value *v, uint64_t addr, const uint8_t *data, uint64_t first,
		     uint64_t last);

#endif
