/* SPDX-License-Identifier: MIT */
#include "text_words.h"

#include "asserts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 4096

void text_lines(const char *text, void (*put)(void *arg, char *line), void *arg)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		char line[MAX_LINE];

		ck_assert_uint_lt(len, sizeof(line));
		memcpy(line, text, len);
		line[len] = '\0';
		put(arg, line);
		text += len + (text[len] == '\n');
	}
}

char *text_word(char **rest)
{
	static char none[1];
	char *word = strtok_r(NULL, " ", rest);

	return word ? word : none;
}

uint64_t text_hex(const char *word)
{
	char *end;
	uint64_t n = strtoull(word, &end, 16);

	ck_assert_msg(*word && !*end, "\"%s\" is not a number", word);
	return n;
}

void text_bytes(struct ts_buf *b, const char *word)
{
	unsigned byte;

	for (; *word && *word != '-' && *word != '!'; word += 2) {
		ck_assert_msg(sscanf(word, "%2x", &byte) == 1 && word[1], "\"%s\" are no bytes", word);
		ts_buf_putc(b, (uint8_t)byte);
	}
}
