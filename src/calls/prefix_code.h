/* SPDX-License-Identifier: MIT */
/*
 * A prefix code: frequent symbols have short codes, and no code is a prefix of another one.
 *
 * The length of a symbol's code is the Shannon length: the negative logarithm of its frequency, rounded up.  The code
 * is canonical, so that only the number of codes of each length is stored.
 */
#ifndef TS_PREFIX_CODE_H
#define TS_PREFIX_CODE_H

#include <stdbool.h>
#include <stdint.h>

#define TS_MAX_CODE_LEN 32u
#define TS_NO_SYMBOL    UINT32_MAX

/*
 * Codes as bits 31 and down of a number.  Those of length l are below limit[l], and not below limit[l - 1].
 */
struct ts_prefix_code {
	uint64_t limit[TS_MAX_CODE_LEN + 1];
	uint32_t first[TS_MAX_CODE_LEN + 1]; /* the ordinal of the first symbol of each length */
};

/* The code length in bits of a symbol with the frequency @n of @total; 1 <= @n <= @total. */
unsigned ts_code_len(uint32_t n, uint32_t total);

/*
 * The code that has @n_of_len[l] symbols of length l; symbols are numbered by length.
 *
 * Returns false if there are more symbols than codes.
 */
bool ts_prefix_code_init(struct ts_prefix_code *code, const uint32_t n_of_len[TS_MAX_CODE_LEN + 1]);

/* The code of a symbol whose code has @len bits. */
static inline uint32_t ts_prefix_code_of(const struct ts_prefix_code *code, uint32_t symbol, unsigned len)
{
	return (uint32_t)(code->limit[len - 1] >> (TS_MAX_CODE_LEN - len)) + (symbol - code->first[len]);
}

/*
 * The symbol whose code is at the beginning of @bits, from bit 31 down; *len is set to its length in bits.  Returns
 * TS_NO_SYMBOL if the bits are not the code of a symbol.
 */
static inline uint32_t ts_prefix_code_find(const struct ts_prefix_code *code, uint32_t bits, unsigned *len)
{
	for (unsigned i = 1; i <= TS_MAX_CODE_LEN; i++) {
		if (bits >= code->limit[i])
			continue;
		*len = i;
		return code->first[i] + (uint32_t)((bits - code->limit[i - 1]) >> (TS_MAX_CODE_LEN - i));
	}
	return TS_NO_SYMBOL;
}

#endif
