/* SPDX-License-Identifier: MIT */
#include "fuzz_words.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define MAX_LINES 40u
#define MAX_TURNS 400u

uint64_t fuzz_number(const struct fuzz_words *w, int i, uint64_t otherwise)
{
	char *end;
	uint64_t value;

	if (i >= w->n)
		return otherwise;
	if (w->items[i][0] == '@')
		return w->turn + strtoull(w->items[i] + 1, NULL, 10);
	value = strtoull(w->items[i], &end, 10);
	return end == w->items[i] ? otherwise : value;
}

const char *fuzz_word(const struct fuzz_words *w, int i)
{
	return i < w->n ? w->items[i] : "";
}

/* The words of the line at @bytes.  Returns where the next line is. */
static const uint8_t *take_words(struct fuzz_words *w, const uint8_t *bytes, const uint8_t *end)
{
	const uint8_t *next = memchr(bytes, '\n', (size_t)(end - bytes));
	size_t len = (size_t)((next ? next : end) - bytes);
	char *at = w->text, *word;

	w->n = 0;
	len = len < sizeof(w->text) ? len : sizeof(w->text) - 1;
	memcpy(w->text, bytes, len);
	w->text[len] = '\0';
	while (w->n < FUZZ_MAX_WORDS && (word = strsep(&at, " "))) {
		if (*word)
			w->items[w->n++] = word;
	}
	return next ? next + 1 : end;
}

void fuzz_each_line(const uint8_t *bytes, size_t len, uint64_t turn,
		    void (*do_line)(void *user, const struct fuzz_words *w), void *user)
{
	const uint8_t *end = bytes + len;
	struct fuzz_words w = { .turn = turn };

	for (unsigned n = 0; bytes < end && n < MAX_LINES; n++) {
		bytes = take_words(&w, bytes, end);
		if (w.n)
			do_line(user, &w);
	}
}

void fuzz_each_turn(const uint8_t *bytes, size_t len,
		    void (*live)(const uint8_t *bytes, size_t len, uint64_t turn))
{
	const uint8_t *end = bytes + len, *next = end;
	uint64_t first = 0, last = 0, step = 1;
	struct fuzz_words w = { 0 };

	if (len)
		next = take_words(&w, bytes, end);
	if (!strcmp(fuzz_word(&w, 0), "for")) {
		bytes = next;
		first = fuzz_number(&w, 1, 0);
		last = fuzz_number(&w, 2, 0);
		step = fuzz_number(&w, 3, 1);
	}
	if (FUZZ_SHARE > 1)
		first += fuzz_turn(bytes, (size_t)(end - bytes)) % 8;
	for (unsigned n = 0; first <= last && step && n < MAX_TURNS / (FUZZ_SHARE * FUZZ_SHARE);
	     first += step, n++)
		live(bytes, (size_t)(end - bytes), first);
}
