/* SPDX-License-Identifier: MIT */
#include "prefix_code.h"

#define ALL_CODES (UINT64_C(1) << TS_MAX_CODE_LEN)

unsigned ts_code_len(uint32_t n, uint32_t total)
{
	unsigned len = 1;

	while ((uint64_t)n << len < total)
		len++;
	return len;
}

bool ts_prefix_code_init(struct ts_prefix_code *code, const uint32_t n_of_len[TS_MAX_CODE_LEN + 1])
{
	uint64_t end = 0;
	uint32_t n = 0;

	*code = (struct ts_prefix_code){ 0 };
	for (unsigned len = 1; len <= TS_MAX_CODE_LEN; len++) {
		uint64_t more = (uint64_t)n_of_len[len] << (TS_MAX_CODE_LEN - len);

		if (more > ALL_CODES - end)
			return false;
		code->first[len] = n;
		n += n_of_len[len];
		end += more;
		code->limit[len] = end;
	}
	return true;
}
