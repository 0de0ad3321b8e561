/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <stdlib.h>
#include <string.h>

#define N_BITS 8

struct bap_results {
	struct bap_result items[1u << N_BITS]; /* by a hash of the address */
};

static void decode(struct bap_result *r, const struct ts_x86 *x)
{
	r->is_insn = ts_x86_results(x, r->bytes, r->len, &r->results) &&
		     ts_x86_decode(x, r->pc, r->bytes, r->len, &r->insn);
}

const struct bap_result *bap_results_find(struct bap_results **table, const struct ts_x86 *x, uint64_t pc,
					  const uint8_t *bytes, uint64_t len)
{
	uint8_t n = (uint8_t)(len < TS_X86_MAX_INSN ? len : TS_X86_MAX_INSN);
	uint8_t padded[TS_X86_MAX_INSN + 1] = { 0 };
	struct bap_result *r;

	memcpy(padded, bytes, n);
	if (!*table)
		*table = calloc(1, sizeof(**table));
	if (!*table)
		return NULL;
	r = &(*table)->items[pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - N_BITS)];
	if (r->pc != pc || r->len != n || memcmp(r->bytes, padded, sizeof(padded))) {
		r->pc = pc;
		r->len = n;
		memcpy(r->bytes, padded, sizeof(padded));
		decode(r, x);
	}
	return r;
}
