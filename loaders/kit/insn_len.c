/* SPDX-License-Identifier: MIT */
#include "insn_len.h"

#include <endian.h>
#include <string.h>

/* The shortest call instruction has two bytes. */
#define MIN_CALL_LEN 2u

uint16_t ts_insn_len_of_call(const struct ts_steps *out, uint64_t from, uint64_t to)
{
	for (uint32_t i = out->n_closed; i < out->n_effects; i++) {
		const struct ts_effect *e = &out->effects[i];
		uint64_t value = 0;

		if (e->kind != TS_FX_WRITE || (e->len != 4 && e->len != 8) || e->data == TS_NO_DATA)
			continue;
		memcpy(&value, out->data + e->data, e->len);
		value = le64toh(value);
		if (value - from >= MIN_CALL_LEN && value - from < to - from)
			return (uint16_t)(value - from);
	}
	return 0;
}
