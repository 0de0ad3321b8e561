/* SPDX-License-Identifier: MIT */
/*
 * What the effects of steps tell about single bytes of the state, of registers and of memory alike.
 *
 * What a step saw before it changed anything was there when it began, whatever was known of it.  A byte that
 * the step has seen or written is passed over from there on: it says nothing more about the state before.
 */
#ifndef TS_BYTE_RULE_H
#define TS_BYTE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_space;

/*
 * Beside 0 and 1: something unknown was written in this chunk; if what comes next is a read, it shows what.
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
 * The next effect on @n bytes shows what the lost ones among them held, or (@shown is NULL) overwrites them
 * unseen.
 */
void ts_known_settle(uint8_t *data, uint8_t *known, size_t n, const uint8_t *shown);

/* No effect concerned the lost bytes up to the chunk's end: they have the values that they have there. */
void ts_known_settle_at_end(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint8_t *data,
			    uint8_t *known, size_t len);

#endif
