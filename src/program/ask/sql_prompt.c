/* SPDX-License-Identifier: MIT */
#include "sql_prompt.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "src/base/collections/buf.h"
#include "src/base/io_full.h"
#include "src/program/cli/interrupt.h"
#include "src/program/cli/report.h"
#include "src/sql/sql.h"

#if HAVE_LIBEDIT
#include <histedit.h>
#endif

/* The limit on a typed statement. */
#define MAX_TYPED (16u * 1024 * 1024)

/* The child says that it waits for a statement. */
#define WAITS 'w'

struct prompt {
	int fd;            /* to the child */
	struct ts_buf typed; /* a statement that has not ended */
	char history_path[PATH_MAX]; /* "": there is no place */
	char line[PATH_MAX]; /* without libedit */
#if HAVE_LIBEDIT
	EditLine *el;
	History *history;
#endif
};

/* ------------------------------------------------------------------------------------------------ to the child */

/* Wait until the child is done with what it got.  Returns false if it has ended. */
static bool wait_for_child(const struct prompt *p)
{
	char byte;
	ssize_t n;

	do {
		n = read(p->fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	return n == 1 && byte == WAITS;
}

static bool send_typed(struct prompt *p)
{
	uint32_t len = (uint32_t)p->typed.len;

	return send(p->fd, &len, sizeof(len), MSG_NOSIGNAL) == sizeof(len) && ts_write_whole(p->fd, p->typed.data, len);
}

char *ts_prompt_read(void)
{
	uint32_t len = 0;
	ssize_t n = 0;
	size_t at = 0;
	char *text = NULL;

	signal(SIGINT, SIG_IGN); /* it is meant for a line, or for a statement */
	if (fflush(stdout) || write(STDIN_FILENO, &(char){ WAITS }, 1) != 1 || read(STDIN_FILENO, &len, sizeof(len)) != sizeof(len) ||
	    len > MAX_TYPED || !(text = malloc((size_t)len + 1)))
		return NULL;
	while (at < len && (n = read(STDIN_FILENO, text + at, len - at)) > 0)
		at += (size_t)n;
	text[at] = 0;
	return text;
}

/* ----------------------------------------------------------------------------------------------------- history */

#if HAVE_LIBEDIT
#define MAX_HISTORY 1000

static bool find_history(char path[PATH_MAX])
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char folder[PATH_MAX];
	int len;

	if (state && *state == '/')
		len = snprintf(folder, sizeof(folder), "%s/tracestub", state);
	else if (home && *home == '/')
		len = snprintf(folder, sizeof(folder), "%s/.local/state/tracestub", home);
	else
		return false;
	if (len >= (int)sizeof(folder) || snprintf(path, PATH_MAX, "%s/sql_history", folder) >= PATH_MAX)
		return false;
	for (char *p = strchr(folder + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(folder, 0700);
		*p = '/';
	}
	mkdir(folder, 0700);
	return true;
}

static void open_history(struct prompt *p)
{
	HistEvent event;

	if (!find_history(p->history_path))
		p->history_path[0] = 0;
	history(p->history, &event, H_SETSIZE, MAX_HISTORY);
	history(p->history, &event, H_SETUNIQUE, 1);
	if (p->history_path[0])
		history(p->history, &event, H_LOAD, p->history_path);
}

static void save_history(const struct prompt *p)
{
	HistEvent event;
	mode_t mask = umask(077);

	if (p->history_path[0])
		history(p->history, &event, H_SAVE, p->history_path);
	umask(mask);
}

/* -------------------------------------------------------------------------------------------------- completion */

static const char *const words[] = {
	"SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "OFFSET", "JOIN", "LEFT JOIN", "USING", "BETWEEN",
	"DISTINCT", "UNION", "EXCEPT", "INTERSECT", "WITH", "RECURSIVE", "VALUES", "GLOB", "LIKE", "IS NULL", "IS NOT NULL", "NOT",
	"AND", "OR", "CASE", "WHEN", "THEN", "ELSE", "END", "EXISTS", "DESC", "EXPLAIN QUERY PLAN", "count(", "sum(", "min(", "max(",
	"avg(", "printf(", "hex(", "substr(", "length(", "group_concat(", "reg(", "mem(", "u8(", "u16(", "u32(", "u64(", "i8(", "i16(",
	"i32(", "i64(", "f32(", "f64(", "cstr(", "sym(", "addr(", "ult(", ".tables", ".schema", ".help", ".quit",
};

/* Words that could be meant: one by one.  Names of tables and columns are those of this program, not of a recording. */
struct choices {
	const char *begin;
	size_t len;
	struct ts_buf found; /* each terminated */
	size_t n;
};

static void choose(struct choices *c, const char *word, size_t len)
{
	if (len < c->len || strncasecmp(word, c->begin, c->len) != 0)
		return;
	for (size_t at = 0; at < c->found.len; at += strlen((char *)c->found.data + at) + 1) {
		if (!strncmp((char *)c->found.data + at, word, len) && !c->found.data[at + len])
			return;
	}
	ts_buf_put(&c->found, word, len);
	ts_buf_putc(&c->found, 0);
	c->n++;
}

/* The table's name, and its columns: "CREATE TABLE step("position", ...)". */
static void choose_names(struct choices *c, const char *declaration, bool is_function)
{
	const char *name = declaration + strlen("CREATE TABLE "), *p = name + strcspn(name, "(");
	char word[64];

	snprintf(word, sizeof(word), "%.*s%s", (int)(p - name), name, is_function ? "(" : "");
	choose(c, word, strlen(word));
	while (*p && *p != ')') {
		p += strspn(p, "(,\" ");
		if (!strstr(p, "HIDDEN") || strcspn(p, ",)") < (size_t)(strstr(p, "HIDDEN") - p))
			choose(c, p, strcspn(p, "\", )"));
		p += strcspn(p, ",)");
	}
}

static void choose_all(struct choices *c)
{
	struct ts_buf text;
	bool is_function;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		choose(c, words[i], strlen(words[i]));
	ts_buf_init(&text);
	for (size_t i = 0; ts_sql_declaration(i, &text, &is_function); i++)
		choose_names(c, ts_buf_text(&text), is_function);
	ts_buf_fini(&text);
}

/* How far the choices are the same. */
static size_t common_length(const struct choices *c)
{
	const char *first = (const char *)c->found.data;
	size_t common = strlen(first);

	for (size_t at = 0; at < c->found.len; at += strlen((char *)c->found.data + at) + 1) {
		size_t n = 0;

		while (n < common && tolower((unsigned char)first[n]) == tolower((unsigned char)c->found.data[at + n]))
			n++;
		common = n;
	}
	return common;
}

static unsigned char complete(EditLine *el, int)
{
	const LineInfo *line = el_line(el);
	const char *begin = line->cursor;
	struct choices c;
	unsigned char done = CC_ERROR;
	char *rest;

	while (begin > line->buffer && (isalnum((unsigned char)begin[-1]) || strchr("_.", begin[-1])))
		begin--;
	c = (struct choices){ begin, (size_t)(line->cursor - begin), { 0 }, 0 };
	ts_buf_init(&c.found);
	choose_all(&c);
	if (c.n && ts_buf_ok(&c.found) && common_length(&c) >= c.len) {
		size_t common = common_length(&c);

		if (common > c.len || c.n == 1) {
			rest = strndup((char *)c.found.data, common);
			el_deletestr(el, (int)c.len);
			done = rest && !el_insertstr(el, rest) ? CC_REFRESH : CC_ERROR;
			free(rest);
		} else {
			printf("\n");
			for (size_t at = 0; at < c.found.len; at += strlen((char *)c.found.data + at) + 1)
				printf("%s  ", (char *)c.found.data + at);
			printf("\n");
			done = CC_REDISPLAY;
		}
	}
	ts_buf_fini(&c.found);
	return done;
}
#endif

/* ------------------------------------------------------------------------------------------------------- lines */

static volatile sig_atomic_t is_line_left; /* ^C: the line that is being typed is left */

static void on_interrupt(int)
{
	is_line_left = 1;
}

static const char *prompt_text(const struct prompt *p)
{
	return p->typed.len ? "   ...> " : "sql> ";
}

#if HAVE_LIBEDIT
static char *prompt_of(EditLine *el)
{
	void *p = NULL;

	el_get(el, EL_CLIENTDATA, &p);
	return (char *)(uintptr_t)prompt_text(p);
}

/*
 * The next character.  SIGINT is blocked but while this waits, so that none is lost between two keys.  Returns 1, 0 at the
 * end, -1 if a signal came.
 */
static int read_key(EditLine *, wchar_t *key)
{
	struct pollfd terminal = { .fd = STDIN_FILENO, .events = POLLIN };
	mbstate_t state = { 0 };
	sigset_t none;
	size_t len = (size_t)-2; /* the character is not whole */
	char byte;
	ssize_t n;

	sigemptyset(&none);
	while (len == (size_t)-2) {
		if (ppoll(&terminal, 1, NULL, &none) < 0)
			return -1;
		n = read(STDIN_FILENO, &byte, 1);
		if (n <= 0)
			return (int)n;
		len = mbrtowc(key, &byte, 1, &state);
	}
	if (len == (size_t)-1)
		*key = L'?';
	return 1;
}

static bool open_lines(struct prompt *p)
{
	setlocale(LC_CTYPE, "");
	p->history = history_init();
	p->el = el_init("tracestub", stdin, stdout, stderr);
	if (!p->history || !p->el)
		return false;
	open_history(p);
	el_set(p->el, EL_CLIENTDATA, p);
	el_set(p->el, EL_PROMPT, prompt_of);
	el_set(p->el, EL_GETCFN, read_key);
	el_set(p->el, EL_EDITOR, "emacs");
	el_set(p->el, EL_HIST, history, p->history);
	el_set(p->el, EL_ADDFN, "complete", "complete a word", complete);
	el_set(p->el, EL_BIND, "^I", "complete", NULL);
	el_set(p->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
	return true;
}

static void close_lines(struct prompt *p)
{
	if (p->history && p->el)
		save_history(p);
	if (p->el)
		el_end(p->el);
	if (p->history)
		history_end(p->history);
}

static const char *read_line(struct prompt *p)
{
	sigset_t interrupt, before;
	const char *line;
	int n = 0;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	el_set(p->el, EL_PREP_TERM, 1); /* before the prompt is shown: then the user may type any key */
	line = el_gets(p->el, &n);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return line && n > 0 ? line : NULL;
}

/* A statement is one entry, on one line. */
static void remember(struct prompt *p)
{
	HistEvent event;
	char *line = strdup(ts_buf_text(&p->typed));

	for (char *c = line; c && *c; c++)
		*c = *c != '\n' ? *c : c[1] ? ' ' : 0;
	if (line && strspn(line, " ") < strlen(line))
		history(p->history, &event, H_ENTER, line);
	free(line);
}
#else
static bool open_lines(struct prompt *)
{
	return true;
}

static void close_lines(struct prompt *)
{
}

static const char *read_line(struct prompt *p)
{
	printf("%s", prompt_text(p));
	return fflush(stdout) == 0 ? fgets(p->line, sizeof(p->line), stdin) : NULL;
}

static void remember(struct prompt *)
{
}
#endif

/* Has the statement, or the command, ended? */
static bool is_whole(struct prompt *p)
{
	const char *text = ts_buf_text(&p->typed);

	text += strspn(text, " \t\r\n");
	return !*text || *text == '.' || sqlite3_complete(text);
}

static bool is_quit(struct prompt *p)
{
	const char *text = ts_buf_text(&p->typed);

	return !strncmp(text, ".quit", 5) || !strncmp(text, ".exit", 5);
}

/* A line is typed.  Returns false at the end. */
static bool take_line(struct prompt *p)
{
	const struct sigaction caught = { .sa_handler = on_interrupt };
	const char *line;

	is_line_left = 0;
	sigaction(SIGINT, &caught, NULL);
	line = read_line(p);
	signal(SIGINT, SIG_IGN); /* it is meant for the statement */
	if (is_line_left) {
		ts_buf_reset(&p->typed);
		clearerr(stdin);
		printf("\n");
		return true;
	}
	if (!line) {
		printf("\n");
		return false;
	}
	ts_buf_puts(&p->typed, line);
	return ts_buf_ok(&p->typed) && p->typed.len <= MAX_TYPED && !is_quit(p);
}

static void prompt(struct prompt *p)
{
	bool goes_on = wait_for_child(p);

	while (goes_on && take_line(p)) {
		if (!p->typed.len || !is_whole(p))
			continue;
		if (strspn(ts_buf_text(&p->typed), " \t\r\n") < p->typed.len) {
			remember(p);
			goes_on = send_typed(p) && wait_for_child(p);
		}
		ts_buf_reset(&p->typed);
	}
}

/* The status that the child exits with; what ends by ^C while it reads the recording ends both. */
static int finish(struct prompt *p, pid_t pid)
{
	int status = 0;

	close(p->fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		ts_interrupt_end();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int prompt_until_end(int fd, pid_t pid)
{
	struct prompt p = { .fd = fd };
	struct ts_error err = { 0 };

	signal(SIGINT, SIG_IGN);
	ts_buf_init(&p.typed);
	if (open_lines(&p)) {
		prompt(&p);
	} else {
		ts_fail(&err, TS_ENOMEM, TS_NO_OFF, "no prompt on this terminal");
		ts_report_failure(NULL, &err);
	}
	close_lines(&p);
	ts_buf_fini(&p.typed);
	return finish(&p, pid);
}

/* For the child the socket is the standard input, and the terminal is none that it reads. */
static bool start(struct ts_cli *cli, int fds[2])
{
	cli->is_prompted = true;
	return dup2(fds[1], STDIN_FILENO) == STDIN_FILENO && !close(fds[0]) && !close(fds[1]);
}

bool ts_prompt_sql(struct ts_cli *cli, int *status)
{
	struct ts_error err = { 0 };
	int fds[2];
	pid_t pid;

	if (cli->command != TS_CMD_SQL || cli->question || cli->statements || cli->is_for_sqlite || !isatty(STDIN_FILENO))
		return false;
	pid = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) ? -1 : fork();
	if (!pid && start(cli, fds))
		return false;
	if (pid <= 0) {
		ts_fail_errno(&err, "a process for the recording");
		*status = (int)ts_report_failure(NULL, &err);
		return true;
	}
	close(fds[1]);
	*status = prompt_until_end(fds[0], pid);
	return true;
}
