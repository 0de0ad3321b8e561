/* SPDX-License-Identifier: MIT */
#include "src/program/cli/cli_commands.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/collections/buf.h"
#include "src/base/text/json.h"
#include "src/program/cli/message.h"
#include "src/program/cli/report.h"
#include "src/program/open/processes.h"

#define MAX_INDENT 32u /* levels of the tree */

static int read_folder(struct ts_processes *all, const char *path)
{
	struct ts_error err = { 0 };

	if (ts_processes_read(all, path, &err))
		return 0;
	ts_processes_fini(all);
	return (int)ts_report_failure(path, &err);
}

/* -------------------------------------------------------------------------------- arguments */

/* As a shell would take them: in quotes where there are other characters than those of names. */
static void put_arguments(struct ts_buf *to, const char *text)
{
	while (*text) {
		const char *end = strchrnul(text, ' ');
		bool is_quoted = memchr(text, '%', (size_t)(end - text)) || text == end;

		ts_buf_puts(to, is_quoted ? " '" : " ");
		while (text < end) {
			unsigned char c = ts_process_byte(&text);

			if (c < ' ' || c > '~')
				ts_buf_printf(to, "\\x%02x", c);
			else
				ts_buf_putc(to, c);
		}
		ts_buf_puts(to, is_quoted ? "'" : "");
		text = *end ? end + 1 : end;
	}
}

/* -------------------------------------------------------------------------------- as text */

static void put_end(struct ts_buf *to, const struct ts_process *p)
{
	const char *name = p->end == TS_PROCESS_KILLED ? strsignal((int)(p->value & 0x7f)) : NULL;

	switch (p->end) {
	case TS_PROCESS_EXITED:
		ts_buf_printf(to, "exited with %u", p->value);
		break;
	case TS_PROCESS_KILLED:
		ts_buf_printf(to, "killed by signal %u (%s)", p->value, name);
		break;
	case TS_PROCESS_BECAME:
		ts_buf_puts(to, "became the next");
		break;
	default:
		ts_buf_puts(to, "end unknown");
	}
}

static unsigned depth_of(const struct ts_processes *all, const struct ts_process *p)
{
	unsigned depth = 0;

	for (; p->origin != TS_NO_ORIGIN; p = &all->at[p->origin])
		depth++;
	return depth;
}

static void put_line(struct ts_buf *to, const struct ts_processes *all, const struct ts_process *p)
{
	unsigned depth = depth_of(all, p);
	char name[64];

	ts_process_file(p, name);
	ts_buf_printf(to, "%*s%s  ", (int)(2 * (depth < MAX_INDENT ? depth : MAX_INDENT)), "", name);
	put_end(to, p);
	ts_buf_puts(to, " ");
	put_arguments(to, p->arguments);
	ts_buf_putc(to, '\n');
}

/* A process, then what it led to, in the order in which that began. */
static void put_tree(struct ts_buf *to, const struct ts_processes *all, size_t *children, const size_t *next)
{
	size_t n = 0;

	for (size_t i = all->n; i-- > 0;) {
		if (all->at[i].origin == TS_NO_ORIGIN)
			children[n++] = i;
	}
	while (n) {
		size_t i = children[--n];

		put_line(to, all, &all->at[i]);
		/* the list has the last one first, and so the first one is on top */
		for (size_t k = next[i]; k != TS_NO_ORIGIN; k = next[all->n + k])
			children[n++] = k;
	}
}

/* For each its child that began last, and then for each the child of its origin that began before it. */
static size_t *link_children(const struct ts_processes *all)
{
	size_t *next = malloc((2 * all->n + 1) * sizeof(*next));

	for (size_t i = 0; next && i < 2 * all->n; i++)
		next[i] = TS_NO_ORIGIN;
	for (size_t i = 0; next && i < all->n; i++) {
		size_t origin = all->at[i].origin;

		if (origin == TS_NO_ORIGIN)
			continue;
		next[all->n + i] = next[origin];
		next[origin] = i;
	}
	return next;
}

static bool put_list(struct ts_buf *to, const struct ts_processes *all)
{
	size_t *next = link_children(all), *stack = malloc((all->n + 1) * sizeof(*stack));

	if (next && stack)
		put_tree(to, all, stack, next);
	free(stack);
	free(next);
	return next && stack && ts_buf_ok(to);
}

/* -------------------------------------------------------------------------------- as JSON */

static json_t *arguments_as_json(const char *text)
{
	json_t *list = json_array();
	char *arg = malloc(4 * strlen(text) + 1);

	while (arg && *text) {
		const char *end = strchrnul(text, ' ');
		size_t n = 0;

		while (text < end) {
			unsigned char c = ts_process_byte(&text);

			/* bytes beyond ASCII as they are in Latin-1: JSON has no bytes */
			if (c >= 0x80)
				arg[n++] = (char)(0xc0 | c >> 6);
			arg[n++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
		}
		json_array_append_new(list, json_stringn(arg, n));
		text = *end ? end + 1 : end;
	}
	free(arg);
	return list;
}

static json_t *process_as_json(const struct ts_process *p)
{
	char name[64];

	ts_process_file(p, name);
	return json_pack("{s:s, s:i, s:i, s:s, s:s, s:I, s:o}", "file", name, "pid", p->pid, "parent", p->parent, "began",
			 ts_process_began_words[p->began], "end", ts_process_end_words[p->end], "value", (json_int_t)p->value, "arguments",
			 arguments_as_json(p->arguments));
}

/* Append the recordings of the folder @path as a JSON object.  Returns false if memory is exhausted. */
static bool put_json(struct ts_buf *to, const struct ts_processes *all, const char *path)
{
	json_t *list = json_array(), *object = json_pack("{s:s?, s:o}", "folder", path, "recordings", list);

	for (size_t i = 0; object && i < all->n; i++)
		json_array_append_new(list, process_as_json(&all->at[i]));
	if (object)
		ts_json_put(to, object, JSON_INDENT(2));
	json_decref(object);
	ts_buf_putc(to, '\n');
	return object && ts_buf_ok(to);
}

/* -------------------------------------------------------------------------------- commands */

int ts_run_folder_info(const struct ts_cli *cli)
{
	struct ts_processes all;
	int status = read_folder(&all, cli->trace);
	struct ts_buf text;

	if (status)
		return status;
	ts_buf_init(&text);
	if (cli->is_json ? put_json(&text, &all, cli->trace) : put_list(&text, &all)) {
		fwrite(text.data, 1, text.len, stdout);
	} else {
		ts_message(stderr, "tracestub: %s: memory is exhausted", cli->trace);
		status = TS_STATUS_FAILED;
	}
	ts_buf_fini(&text);
	ts_processes_fini(&all);
	return status;
}

/* The recording is in the folder; its name comes from numbers. */
static int take(struct ts_cli *cli, const struct ts_process *p)
{
	char name[64], *path;

	ts_process_file(p, name);
	if (asprintf(&path, "%s/%s", cli->trace, name) < 0) {
		ts_message(stderr, "tracestub: memory is exhausted");
		return TS_STATUS_FAILED;
	}
	if (!cli->is_quiet)
		ts_message(stderr, "tracestub: %s", path);
	free(cli->newest);
	cli->trace = cli->newest = path;
	return 0;
}

static const struct ts_process *named(const struct ts_processes *all, char *line)
{
	line[strcspn(line, "\n")] = '\0';
	for (size_t i = 0; i < all->n; i++) {
		char name[64];

		ts_process_file(&all->at[i], name);
		if (!strcmp(line, name) || (strlen(line) + 5 == strlen(name) && !strncmp(line, name, strlen(line))))
			return &all->at[i];
	}
	return NULL;
}

/* None failed: which one is meant? */
static int ask(struct ts_cli *cli, const struct ts_processes *all)
{
	const struct ts_process *p = NULL;
	struct ts_buf text;
	char line[64];

	ts_buf_init(&text);
	put_list(&text, all);
	fwrite(text.data, 1, text.len, stderr);
	ts_buf_fini(&text);
	if (!isatty(STDIN_FILENO)) {
		ts_message(stderr, "tracestub: %s: none of its programs failed: name one of its recordings", cli->trace);
		return TS_STATUS_USAGE;
	}
	while (!p) {
		fputs("which one? ", stderr);
		if (!fgets(line, sizeof(line), stdin))
			return TS_STATUS_USAGE;
		p = named(all, line);
	}
	return take(cli, p);
}

int ts_folder_choose(struct ts_cli *cli)
{
	const struct ts_process *p;
	struct ts_processes all;
	int status;

	if (!ts_processes_is_folder(cli->trace))
		return 0;
	status = read_folder(&all, cli->trace);
	if (status)
		return status;
	p = ts_processes_failed(&all);
	status = p ? take(cli, p) : ask(cli, &all);
	ts_processes_fini(&all);
	return status;
}
