/* SPDX-License-Identifier: MIT */
#include "shorts.h"

#include <stdlib.h>
#include <string.h>

#define N_PAIRS 65536u
/* Most pairs never occur: those that none of their neighbours has are skipped together. */
#define BLOCK 64u

bool ts_shorts_init(struct ts_shorts *s)
{
	*s = (struct ts_shorts){ .group = 1 };
	s->chunks = calloc(1, TS_SKETCH_BYTES_LEN);
	s->groups = calloc(N_PAIRS, sizeof(*s->groups));
	return s->chunks && s->groups;
}

void ts_shorts_fini(struct ts_shorts *s)
{
	free(s->chunks);
	free(s->groups);
	*s = (struct ts_shorts){ 0 };
}

void ts_shorts_begin_chunk(struct ts_shorts *s, unsigned chunk)
{
	s->group = UINT64_C(1) << chunk / TS_SKETCH_GROUP;
}

void ts_shorts_end_chunk(struct ts_shorts *s, unsigned chunk)
{
	for (unsigned word = 0; word < 4; word++) {
		for (uint64_t bits = s->bytes[word]; bits; bits &= bits - 1) {
			unsigned b = word * 64 + (unsigned)__builtin_ctzll(bits);

			s->chunks[b * TS_SKETCH_BYTE_LEN + chunk / 8] |= (uint8_t)(1u << chunk % 8);
		}
		s->bytes[word] = 0;
	}
}

static bool is_empty(const uint64_t *block)
{
	static const uint64_t none[BLOCK];

	return !memcmp(block, none, sizeof(none));
}

static size_t count_pairs(const struct ts_shorts *s)
{
	size_t n = 0;

	for (unsigned first = 0; first < N_PAIRS; first += BLOCK) {
		if (is_empty(s->groups + first))
			continue;
		for (unsigned i = 0; i < BLOCK; i++)
			n += s->groups[first + i] != 0;
	}
	return n;
}

/* Move the pairs of a block that there are. */
static void move_pairs(uint64_t *groups, unsigned first, struct ts_sketch *sketch)
{
	for (unsigned i = 0; i < BLOCK; i++) {
		if (!groups[first + i])
			continue;
		sketch->pairs[sketch->n_pairs] = (uint16_t)(first + i);
		sketch->pair_groups[sketch->n_pairs++] = groups[first + i];
		groups[first + i] = 0;
	}
}

static bool put_pairs(struct ts_shorts *s, struct ts_sketch *sketch)
{
	size_t n = count_pairs(s);

	sketch->pairs = malloc((n + 1) * sizeof(*sketch->pairs));
	sketch->pair_groups = malloc((n + 1) * sizeof(*sketch->pair_groups));
	if (!sketch->pairs || !sketch->pair_groups)
		return false;
	for (unsigned first = 0; first < N_PAIRS; first += BLOCK) {
		if (!is_empty(s->groups + first))
			move_pairs(s->groups, first, sketch);
	}
	return true;
}

bool ts_shorts_seal(struct ts_shorts *s, struct ts_sketch *sketch)
{
	sketch->bytes = malloc(TS_SKETCH_BYTES_LEN);
	if (!sketch->bytes || !put_pairs(s, sketch))
		return false;
	memcpy(sketch->bytes, s->chunks, TS_SKETCH_BYTES_LEN);
	sketch->bytes_len = TS_SKETCH_BYTES_LEN;
	memset(s->chunks, 0, TS_SKETCH_BYTES_LEN);
	return true;
}
