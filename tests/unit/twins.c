/* SPDX-License-Identifier: MIT */
#include "twins.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS_APART UINT64_C(1000000007)
#define SHORT_S     120

void __wrap__mark_point(const char *file, int line);

/*
 * In place of libcheck's, which writes the place of each assertion that holds to a file, for the message of a
 * crash: twins check each cell of each row.
 */
void __wrap__mark_point(const char *file, int line)
{
	(void)file;
	(void)line;
}

static uint64_t number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

uint64_t twins_n_questions(void)
{
	return number_of("TEST_QUESTIONS");
}

uint64_t twins_seed(uint64_t i)
{
	return i + SEEDS_APART * number_of("TEST_SEED");
}

bool twins_has_format(const char *name)
{
	const char *wanted = getenv("TEST_FORMAT");

	return !wanted || !strcmp(wanted, name);
}

TCase *twins_case(void)
{
	TCase *c = tcase_create("twins");

	tcase_set_timeout(c, twins_n_questions() ? 0 : SHORT_S);
	return c;
}

void twins_check_rows(const char *question, const char *got, const char *wanted)
{
	size_t i = 0;

	if (!strcmp(got, wanted))
		return;
	for (size_t k = 0; got[k] == wanted[k]; k++)
		i = got[k] == '\n' ? k + 1 : i;
	ck_abort_msg("%s\nexpected:\n%.1000s\ngot:\n%.1000s", question, wanted + i, got + i);
}
