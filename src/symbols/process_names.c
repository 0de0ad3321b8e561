/* SPDX-License-Identifier: MIT */
#include "process_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/source/source.h"

#define MAX_FILE     (1u << 20)
#define MAX_PROCESSES 65536u

struct process {
	uint64_t root;
	char *name; /* owned */
	size_t line; /* of the file, from 1 */
};

struct ts_process_names {
	struct process *all; /* owned; by root */
	size_t n, cap;
};

void ts_process_names_free(struct ts_process_names *names)
{
	for (size_t i = 0; names && i < names->n; i++)
		free(names->all[i].name);
	free(names ? names->all : NULL);
	free(names);
}

static int by_root(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static bool add(struct ts_process_names *names, uint64_t root, const char *name, size_t line, struct ts_error *err)
{
	char *copy = names->n < MAX_PROCESSES ? strdup(name) : NULL;

	if (names->n == MAX_PROCESSES)
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "it has more than %u processes", MAX_PROCESSES);
	if (!copy || !ts_vec_reserve(&names->all, names->n, &names->cap, 1, sizeof(*names->all))) {
		free(copy);
		return ts_no_memory(err, "names of processes");
	}
	names->all[names->n++] = (struct process){ root, copy, line };
	return true;
}

/* Returns the length of the hexadecimal number "0x1f" at @text, 0 if none is found or it has more than 64 bits. */
static size_t read_address(const char *text, uint64_t *value)
{
	size_t n = !strncmp(text, "0x", 2) ? 2 : 0;

	*value = 0;
	for (; n && n < 18 && isxdigit((unsigned char)text[n]); n++) {
		char c = (char)tolower((unsigned char)text[n]);

		*value = *value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return n > 2 ? n : 0;
}

/* "CR3 NAME"; empty lines, and those that begin with #, are comments. */
static bool take_line(struct ts_process_names *names, char *text, size_t line, struct ts_error *err)
{
	size_t len = strlen(text);
	uint64_t root;
	char *end;

	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = 0;
	text += strspn(text, " \t");
	if (!*text || *text == '#')
		return true;
	end = text + read_address(text, &root);
	if (end == text || root & 0xfff || !isspace((unsigned char)*end))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "line %zu is not CR3 NAME: the address of a process's page tables (0x...000), a blank, and its name", line);
	end += strspn(end, " \t");
	if (end[strcspn(end, " \t")])
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "line %zu: the name of a process has no blanks", line);
	return add(names, root, end, line, err);
}

static bool take_lines(struct ts_process_names *names, char *text, size_t len, struct ts_error *err)
{
	size_t line = 1;

	if (memchr(text, 0, len))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "it is no text: its lines are CR3 NAME");
	for (char *end; *text; text = end + 1, line++) {
		end = strchrnul(text, '\n');
		if (!*end)
			return take_line(names, text, line, err);
		*end = 0;
		if (!take_line(names, text, line, err))
			return false;
	}
	return true;
}

static bool check(struct ts_process_names *names, struct ts_error *err)
{
	if (!names->n)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "it has no names: its lines are CR3 NAME");
	qsort(names->all, names->n, sizeof(*names->all), by_root);
	for (size_t i = 1; i < names->n; i++) {
		if (names->all[i].root == names->all[i - 1].root)
			return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "line %zu names the process of line %zu again", names->all[i].line,
				       names->all[i - 1].line);
	}
	return true;
}

static bool read_file(struct ts_process_names *names, const char *path, struct ts_error *err)
{
	struct ts_source *src = ts_source_open(path, err);
	uint64_t len = src ? ts_source_len(src) : 0;
	char *text = len <= MAX_FILE ? calloc(1, (size_t)len + 1) : NULL;
	bool done = src && text && ts_source_read_all(src, 0, text, (size_t)len, err) &&
		    take_lines(names, text, (size_t)len, err) && check(names, err);

	if (src && len > MAX_FILE)
		ts_fail(err, TS_ELIMIT, TS_NO_OFF, "a list of processes of more than 1 MiB is not read");
	else if (src && !text)
		ts_no_memory(err, "names of processes");
	free(text);
	ts_source_close(src);
	return done;
}

struct ts_process_names *ts_process_names_read(const char *path, struct ts_error *err)
{
	struct ts_process_names *names = calloc(1, sizeof(*names));

	if (!names)
		return ts_no_memory(err, "names of processes");
	if (read_file(names, path, err))
		return names;
	ts_process_names_free(names);
	return NULL;
}

const char *ts_process_names_get(const struct ts_process_names *names, uint64_t root)
{
	size_t at = 0;

	TS_BISECT(at, names ? names->n : 0, i, names->all[i].root < root);
	return names && at < names->n && names->all[at].root == root ? names->all[at].name : NULL;
}

size_t ts_process_names_find(const struct ts_process_names *names, const char *text, uint64_t *root)
{
	size_t n = 0;

	for (size_t i = names ? names->n : 0; i-- > 0;) {
		if (strcmp(names->all[i].name, text) != 0)
			continue;
		*root = names->all[i].root;
		n++;
	}
	return n;
}
