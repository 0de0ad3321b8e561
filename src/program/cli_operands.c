/* SPDX-License-Identifier: MIT */
#include "cli_operands.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "src/base/atomic_file.h"
#include "src/program/cli/cli_commands.h"
#include "src/program/cli/cli_options.h"
#include "src/program/cli/thread_logs.h"
#include "src/program/open/folder_list.h"
#include "src/source/unpack.h"

/* The files of the first trace's other threads.  Returns how many operands they are. */
static int set_threads(struct ts_cli *cli, int n, char **operands)
{
	cli->trace = operands[0];
	cli->threads = operands + 1;
	cli->n_threads = ts_cli_count_threads(operands, (size_t)n);
	return (int)cli->n_threads;
}

/* A trace that comes through the standard input must have it for itself. */
static bool check_stdin(const struct ts_cli *cli)
{
	for (size_t i = 1; i < cli->n_traces; i++) {
		if (ts_is_stdin(cli->traces[i]))
			return ts_cli_usage_error(
				"%s: the standard input cannot be one of several: save the trace in a file",
				cli->traces[i]);
	}
	if (!ts_is_stdin(cli->trace))
		return true;
	if (ts_cli_is_debugger(cli))
		return ts_cli_usage_error("%s: %s needs the standard input: save the trace in a file", cli->trace,
					  ts_cli_commands[cli->command].name);
	if (cli->command == TS_CMD_MCP || cli->n_traces > 1)
		return ts_cli_usage_error(
			"%s: the standard input cannot be one of several, or the client's: save the trace in a file",
			cli->trace);
	if (cli->command == TS_CMD_SERVE && !strcmp(cli->comm, "-"))
		return ts_cli_usage_error("%s: the client and the trace cannot both be at the standard input",
					  cli->trace);
	if (cli->command == TS_CMD_DIFF && cli->trace2 && ts_is_stdin(cli->trace2))
		return ts_cli_usage_error("diff: only one of the traces can be at the standard input");
	if (cli->segment || cli->is_merged)
		return ts_cli_usage_error("%s: several machines cannot read the standard input: save the trace in a file", cli->trace);
	return cli->command != TS_CMD_INDEX || cli->index ||
	       ts_cli_usage_error("%s: give the path of its index with --index PATH", cli->trace);
}

int ts_cli_find_dashes(int n, char **words)
{
	int i = 0;

	while (i < n && strcmp(words[i], "--") != 0)
		i++;
	return i;
}

struct ts_cli ts_cli_of_trace(const struct ts_cli *cli, size_t i)
{
	struct ts_cli one = *cli;

	one.trace = cli->traces[i];
	if (cli->n_traces > 1) {
		one.threads = cli->traces + i + 1;
		one.n_threads = ts_cli_count_threads(cli->traces + i, cli->n_traces - i);
	}
	return one;
}

/* The words of a question, with a blank between them. */
static bool join_question(struct ts_cli *cli, int n, char **words)
{
	size_t len = 1;

	for (int i = 0; i < n; i++)
		len += strlen(words[i]) + 1;
	cli->question = calloc(1, len);
	if (!cli->question)
		return ts_cli_usage_error("no memory");
	for (int i = 0; i < n; i++) {
		strcat(cli->question, i ? " " : "");
		strcat(cli->question, words[i]);
		cli->is_partial |= !strcmp(words[i], "--partial");
	}
	return true;
}

/* Each of several recordings has the index that its name leads to. */
static bool check_several(const struct ts_cli *cli)
{
	size_t first = 1 + ts_cli_count_threads(cli->traces, cli->n_traces);

	return first >= cli->n_traces || !cli->index || !strcmp(cli->index, "none") ||
	       ts_cli_usage_error("--index %s: several recordings cannot have one index", cli->index);
}

/* Does the text begin as a statement, or a command of the prompt, does? */
static bool begins_statement(const char *text)
{
	static const char *const words[] = { "select", "with", "values", "explain", "pragma", "attach", "detach", "insert",
					     "replace", "update", "delete", "create", "drop", "alter", "begin", "commit",
					     "end", "rollback", "savepoint", "release", "analyze", "vacuum", "reindex" };
	size_t len;

	text += strspn(text, " \t\r\n;(");
	len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i]) == len && !strncasecmp(words[i], text, len) && text[len] != '.' && text[len] != '/')
			return true;
	}
	return !strncmp(text, "--", 2) || !strncmp(text, "/*", 2) || (*text == '.' && !strchr(text, '/'));
}

/* A word that names no file is a statement, unless it looks like the name of one. */
static bool is_statement(const char *text)
{
	if (ts_is_stdin(text) || !access(text, F_OK))
		return false;
	return begins_statement(text) || (strpbrk(text, " \t\n") && !strchr(text, '/'));
}

/* Traces, and a statement. */
static bool set_statement(struct ts_cli *cli, int n, char **operands)
{
	bool has_statement = n > 1 && is_statement(operands[n - 1]);

	if (!n || (has_statement && cli->statements) ||
	    (cli->is_for_sqlite && (has_statement || cli->statements || cli->save || ts_is_stdin(operands[0]))))
		return ts_cli_usage_error("sql: usage: tracestub sql %s", ts_cli_commands[TS_CMD_SQL].synopsis);
	set_threads(cli, n - has_statement, operands);
	cli->traces = operands;
	cli->n_traces = cli->n_threads + 1 == (size_t)(n - has_statement) ? 1 : (size_t)(n - has_statement);
	if (has_statement)
		cli->question = strdup(operands[n - 1]);
	if (has_statement && !cli->question)
		return ts_cli_usage_error("no memory");
	if (cli->n_traces > 1 && (!check_several(cli) || !check_stdin(cli)))
		return false;
	return !ts_is_stdin(cli->trace) || cli->question || (cli->statements && strcmp(cli->statements, "-") != 0) ||
	       ts_cli_usage_error("%s: the trace and the statements cannot both be at the standard input", cli->trace);
}

/* TRACE and the words of a question, or any number of traces and "--" before these words. */
static bool set_question(struct ts_cli *cli, int n, char **operands)
{
	int dashes = ts_cli_find_dashes(n, operands), first = n ? 1 + set_threads(cli, n, operands) : 1;

	cli->names_recordings = dashes < n;
	if (dashes < n)
		first = dashes + 1;
	if (n <= first || !dashes) {
		fprintf(stderr, "usage: tracestub query %s\n", ts_cli_commands[TS_CMD_QUERY].synopsis);
		ts_verb_help_list(stderr);
		return false;
	}
	cli->traces = operands;
	cli->n_traces = dashes < n ? (size_t)dashes : 1;
	if (dashes < n && (!check_several(cli) || !check_stdin(cli)))
		return false;
	return join_question(cli, n - first, operands + first);
}

/* `gdb TRACE PROG` is `gdb TRACE --exec PROG`. */
static bool set_program(struct ts_cli *cli, const char *prog)
{
	if (cli->exec.path)
		return ts_cli_usage_error("%s: the program is named twice, also by --exec", prog);
	return ts_cli_parse_file(&cli->exec, "PROG", prog);
}

/* Of the debuggers' ts_cli_commands. */
static bool set_newest(struct ts_cli *cli)
{
	cli->newest = ts_newest_recording();
	if (!cli->newest)
		return ts_cli_usage_error("there is no recording (NAME.ucir) in this folder: usage: tracestub %s %s",
					  ts_cli_commands[cli->command].name, ts_cli_commands[cli->command].synopsis);
	cli->trace = cli->newest;
	if (!cli->is_quiet)
		fprintf(stderr, "tracestub: %s: the newest recording in this folder\n", cli->newest);
	return true;
}

/* The traces are the one that is given, and those of the folder. */
static bool set_against(struct ts_cli *cli)
{
	struct ts_error err = { 0 };
	size_t n;
	char **list;

	list = ts_folder_list(cli->trace, cli->against, &n, &err);
	if (!list)
		return ts_cli_usage_error("--against %s: %s", cli->against, err.text);
	cli->compared = list;
	cli->traces = list;
	cli->n_traces = n;
	return true;
}

/* Of diff: TRACE, TRACE2, and words as questions have them: in A:B, first N, only KIND, function PATTERN. */
static bool set_compared(struct ts_cli *cli, int n, char **operands)
{
	static const struct {
		const char *word;
		int id;
	} words[] = { { "first", TS_OPT_FIRST }, { "function", TS_OPT_FUNCTION }, { "in", TS_OPT_IN }, { "only", TS_OPT_ONLY } };
	const size_t n_words = sizeof(words) / sizeof(*words);

	cli->trace = operands[0];
	if (cli->against ? !set_against(cli) : n < 2)
		return cli->against ? false : ts_cli_usage_error("too few arguments: usage: tracestub diff %s", ts_cli_commands[TS_CMD_DIFF].synopsis);
	cli->trace2 = cli->against ? NULL : operands[1];
	for (int i = cli->against ? 1 : 2; i < n; i += 2) {
		size_t k = 0;

		while (k < n_words && strcmp(words[k].word, operands[i]) != 0)
			k++;
		if (k == n_words || i + 1 == n)
			return ts_cli_usage_error("%s: usage: tracestub diff %s", k == n_words ? "too many arguments" : "too few arguments",
						  ts_cli_commands[TS_CMD_DIFF].synopsis);
		optarg = operands[i + 1];
		if (!ts_cli_set_option(cli, words[k].id))
			return false;
	}
	return true;
}

bool ts_cli_set_operands(struct ts_cli *cli, int n, char **operands)
{
	const struct ts_cli_command *c = &ts_cli_commands[cli->command];
	const int first = cli->command == TS_CMD_SERVE;
	int n_threads = 0;

	if (cli->command == TS_CMD_QUERY)
		return set_question(cli, n, operands);
	if (cli->command == TS_CMD_SQL)
		return set_statement(cli, n, operands);
	if (ts_cli_is_debugger(cli) && !n)
		return set_newest(cli);
	if (n > first && c->n_optional != INT_MAX)
		n_threads = set_threads(cli, n - first, operands + first);
	if (n < c->n_operands || n - n_threads - c->n_operands > c->n_optional)
		return ts_cli_usage_error("%s: usage: tracestub %s %s", n < c->n_operands ? "too few arguments" :
					  "too many arguments", c->name, c->synopsis);
	if (first)
		cli->comm = *operands++;
	cli->traces = operands;
	cli->n_traces = c->n_optional == INT_MAX && cli->command != TS_CMD_DIFF ? (size_t)n : 1;
	cli->trace = operands[0];
	if (cli->command == TS_CMD_DIFF && !set_compared(cli, n, operands))
		return false;
	if (ts_cli_is_debugger(cli) && n > 1 + n_threads && !set_program(cli, operands[1 + n_threads]))
		return false;
	return check_stdin(cli);
}

/* The output must not replace an input. */
static bool check_written(const struct ts_cli *cli, const char *option, const char *path)
{
	bool is_read = ts_atomic_file_is_same(path, cli->trace) ||
		       (cli->exec.path && ts_atomic_file_is_same(path, cli->exec.path));

	for (unsigned i = 0; i < cli->n_images; i++)
		is_read |= ts_atomic_file_is_same(path, cli->images[i].path);
	return !is_read || ts_cli_usage_error("%s %s: that file is an input, not an output", option, path);
}

bool ts_cli_check_outputs(const struct ts_cli *cli)
{
	char part[PATH_MAX];

	if (cli->output && !check_written(cli, "-o", cli->output))
		return false;
	if (cli->save && !check_written(cli, "--save", cli->save))
		return false;
	if (!cli->index || !strcmp(cli->index, "none"))
		return true;
	if (snprintf(part, sizeof(part), "%s.part", cli->index) >= (int)sizeof(part))
		return true;
	return check_written(cli, "--index", cli->index) && check_written(cli, "--index", part);
}
