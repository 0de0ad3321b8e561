/* SPDX-License-Identifier: MIT */
/*
 * Index files, and the sketches beside them, whose numbers are changed anywhere and that are signed again:
 * they are refused, or noticed when they are asked, or what they say cannot hurt.
 */
#include "unit.h"

#include "forge.h"
#include "script.h"

#include <stdlib.h>
#include <string.h>

#define PATH     "forged.tsindex"
#define N_SEEDS  6
#define N_FORGED 400 /* of each */

START_TEST(a_file_that_is_signed_again_is_as_good_as_before)
{
	uint8_t *file;
	size_t len;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		file = forge_original(PATH, seed, &len);
		ck_assert_int_eq(forge_ask(PATH, file, len, seed), FORGED_BELIEVED);
		forge(file, len, NULL, 0);
		ck_assert_int_eq(forge_ask(PATH, file, len, seed), FORGED_BELIEVED);
		free(file);
		file = forge_find_original(PATH, seed, &len);
		ck_assert_int_eq(forge_find_ask(PATH, file, len, seed), FORGED_BELIEVED);
		forge(file, len, NULL, 0);
		ck_assert_int_eq(forge_find_ask(PATH, file, len, seed), FORGED_BELIEVED);
		free(file);
	}
}
END_TEST

/* A file of an index, or of sketches: how one is made, and asked. */
struct kind {
	uint8_t *(*original)(const char *path, uint64_t seed, size_t *len);
	enum forged (*ask)(const char *path, const uint8_t *file, size_t len, uint64_t seed);
};
static const struct kind an_index = { forge_original, forge_ask },
			 sketches = { forge_find_original, forge_find_ask };

static void forge_many(const struct kind *kind, uint64_t seed, unsigned n_edits)
{
	struct script_random r = { seed };
	unsigned n_of[3] = { 0 };
	uint8_t edits[4 * FORGE_EDIT_LEN], *file, *forged;
	size_t len;

	file = kind->original(PATH, seed, &len);
	forged = malloc(len);
	ck_assert_ptr_nonnull(forged);
	for (unsigned i = 0; i < N_FORGED / n_edits; i++) {
		for (size_t j = 0; j < sizeof(edits); j++)
			edits[j] = (uint8_t)script_random(&r);
		memcpy(forged, file, len);
		forge(forged, len, edits, n_edits);
		n_of[kind->ask(PATH, forged, len, seed)]++;
	}
	ck_assert_uint_gt(n_of[FORGED_REFUSED], N_FORGED / n_edits / 40);
	ck_assert_uint_gt(n_of[FORGED_NOTICED], N_FORGED / n_edits / 80);
	ck_assert_uint_gt(n_of[FORGED_BELIEVED], 0);
	free(forged);
	free(file);
}

START_TEST(a_number_that_lies_leads_nowhere)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
		forge_many(&an_index, seed, 1);
}
END_TEST

START_TEST(several_numbers_that_lie_lead_nowhere)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
		forge_many(&an_index, seed, 3);
}
END_TEST

START_TEST(numbers_of_sketches_that_lie_lead_nowhere)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		forge_many(&sketches, seed, 1);
		forge_many(&sketches, seed, 3);
	}
}
END_TEST

UNIT_SUITE("index_forged", a_file_that_is_signed_again_is_as_good_as_before, a_number_that_lies_leads_nowhere,
	   several_numbers_that_lie_lead_nowhere, numbers_of_sketches_that_lie_lead_nowhere)
