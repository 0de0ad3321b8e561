/* SPDX-License-Identifier: MIT */
#include "thread_logs.h"

#include <stdio.h>
#include <string.h>

#include "src/base/text/suffix.h"

size_t ts_cli_thread_number(const char *path)
{
	static const char *const suffixes[] = { ".gz", ".xz", ".zst", ".log" };
	size_t len = strlen(path), digits;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t n = ts_suffix_len(path, len, suffixes[i]);

		len -= n;
		if (!n && i == 3)
			return 0;
	}
	for (digits = len; digits && path[digits - 1] >= '0' && path[digits - 1] <= '9'; digits--)
		continue;
	return digits < len && digits > 1 && path[digits - 1] == '.' ? digits : 0;
}

char *ts_cli_images_of(const char *path)
{
	size_t number = ts_cli_thread_number(path);
	char *list;

	return number && asprintf(&list, "%.*slog", (int)number, path) >= 0 ? list : NULL;
}

/* As ts_cli_thread_number(), of "..._core_NUMBER.log" and "..._hart_NUMBER.dasm", as RTL test benches name them. */
static size_t core_number(const char *path)
{
	static const char *const ends[][2] = { { "_core_", ".log" }, { "_hart_", ".dasm" } };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *word = strstr(path, ends[i][0]), *next;

		while (word && (next = strstr(word + 1, ends[i][0])))
			word = next;
		word = word ? word + strlen(ends[i][0]) : "";
		if (strspn(word, "0123456789") && !strncmp(word + strspn(word, "0123456789"), ends[i][1], strlen(ends[i][1])))
			return (size_t)(word - path);
	}
	return 0;
}

/* Where the number of its thread begins in a file's name; 0: it has none. */
static size_t number_of(const char *path)
{
	size_t number = ts_cli_thread_number(path);

	return number ? number : core_number(path);
}

size_t ts_cli_count_threads(char **operands, size_t n)
{
	size_t len = n ? number_of(operands[0]) : 0, i = 1;

	while (len && i < n && number_of(operands[i]) == len &&
	       !strncmp(operands[0], operands[i], len) && strcmp(operands[0], operands[i]))
		i++;
	return n ? i - 1 : 0;
}
