/* SPDX-License-Identifier: MIT */
#include "byte_rule.h"

#include "src/timeline/timeline.h"

/* Of a byte that the step has seen or written; it is cleared when the step ends. */
#define PASSED 4

void ts_known_pass(uint8_t *known, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		known[i] |= PASSED;
}

void ts_known_end_step(uint8_t *known, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		known[i] &= (uint8_t)~PASSED;
}

bool ts_known_see(uint8_t *data, uint8_t *known, uint64_t n, const uint8_t *value)
{
	bool is_change = false;

	for (uint64_t i = 0; i < n; i++) {
		if (known[i] & PASSED)
			continue;
		is_change |= known[i] == 1 ? data[i] != value[i] : !known[i];
		data[i] = value[i];
		known[i] = 1 | PASSED;
	}
	return is_change;
}

void ts_known_settle(uint8_t *data, uint8_t *known, size_t n, const uint8_t *shown)
{
	for (size_t i = 0; i < n; i++) {
		if (known[i] != TS_LOST)
			continue;
		known[i] = shown != NULL;
		data[i] = shown ? shown[i] : 0;
	}
}

void ts_known_settle_at_end(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint8_t *data,
			    uint8_t *known, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		for (n = 1; i + n < len && known[i + n] == known[i];)
			n++;
		if (known[i] == TS_LOST)
			ts_space_at(sp, chunk + 1, addr + i, n, data + i, known + i);
	}
}
