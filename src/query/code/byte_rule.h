/* SPDX-License-Identifier: MIT */
/*
 * The rule by which the effects of a step determine single bytes of the state: of registers and of memory.
 *
 * A byte that the step reads before it writes it had that value when the step began, even if another value was known.  Later
 * reads of the same step are ignored for a byte that it has read or written: they do not show the state before the step.
 */
#ifndef TS_BYTE_RULE_H
#define TS_BYTE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_space;

/*
 * A value of a known flag beside 0 and 1: an unknown value was written in this chunk.  If the next effect on the byte is a
 * read, it shows the value.
 */
#define TS_LOST 2

/* The step writes @n bytes.  ts_known_see() ignores them until ts_known_end_step(). */
void ts_known_pass(uint8_t *known, uint64_t n);

/* End the step: ts_known_see() no longer ignores bytes that the step has seen or written. */
void ts_known_end_step(uint8_t *known, uint64_t n);

/*
 * The step sees @n bytes.  Returns true if a known byte differs, or if @known of a byte was 0: it may
 * have changed in a gap.
 */
bool ts_known_see(uint8_t *data, uint8_t *known, uint64_t n, const uint8_t *value);

/*
 * Decide the lost ones among @n bytes by the next effect on them: it shows their values, or (@shown is NULL) it overwrites
 * them, and they are unknown.
 */
void ts_known_settle(uint8_t *data, uint8_t *known, size_t n, const uint8_t *shown);

/* Decide the bytes that are still lost at the end of the chunk: they have the values that they have there. */
void ts_known_settle_at_end(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint8_t *data,
			    uint8_t *known, size_t len);

#endif
