/* SPDX-License-Identifier: MIT */
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/collections/buf.h"
#include "src/base/collections/vec.h"

#define MAX_LEN (16u << 20)
#define NAME "processes"

const char *const ts_process_began_words[TS_N_PROCESS_BEGAN] = { "start", "fork", "exec" };
const char *const ts_process_end_words[TS_N_PROCESS_ENDS] = { "exited", "killed", "became", "unknown" };

/* -------------------------------------------------------------------------------- writing */

static void put_argument(struct ts_buf *line, const char *arg)
{
	ts_buf_putc(line, ' ');
	for (; *arg; arg++) {
		unsigned char c = (unsigned char)*arg;

		if (c <= ' ' || c > '~' || c == '%')
			ts_buf_printf(line, "%%%02X", c);
		else
			ts_buf_putc(line, c);
	}
}

/* One write, so that lines of several writers do not mix. */
static bool write_line(const char *folder, int flags, const struct ts_buf *line, struct ts_error *err)
{
	char path[PATH_MAX];
	bool is_done;
	int fd;

	if (snprintf(path, sizeof(path), "%s/" NAME, folder) >= PATH_MAX)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the path is too long");
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0600);
	is_done = fd >= 0 && ts_buf_ok(line) && write(fd, line->data, line->len) == (ssize_t)line->len;
	if (!is_done)
		ts_fail_errno(err, "%s cannot be written", path);
	if (fd >= 0)
		close(fd);
	return is_done;
}

bool ts_processes_create(const char *folder, struct ts_error *err)
{
	struct ts_buf line;
	bool is_done;

	ts_buf_init(&line);
	ts_buf_puts(&line, TS_PROCESSES_HEAD "\n");
	is_done = write_line(folder, O_CREAT | O_EXCL, &line, err);
	ts_buf_fini(&line);
	return is_done;
}

void ts_processes_remove(const char *folder)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" NAME, folder) < (int)sizeof(path))
		unlink(path);
	rmdir(folder);
}

bool ts_processes_append(const char *folder, const struct ts_process *p, char **argv, struct ts_error *err)
{
	struct ts_buf line;
	bool is_done;

	ts_buf_init(&line);
	ts_buf_printf(&line, "%u %d %d %u %s %s %u", p->number, p->pid, p->parent, p->image, ts_process_began_words[p->began],
		      ts_process_end_words[p->end], p->value);
	for (; *argv; argv++)
		put_argument(&line, *argv);
	ts_buf_putc(&line, '\n');
	is_done = write_line(folder, 0, &line, err);
	ts_buf_fini(&line);
	return is_done;
}

/* -------------------------------------------------------------------------------- reading */

/* The index of @word in @words; @n if it is not in it. */
static unsigned word_of(const char *const *words, unsigned n, const char *word)
{
	unsigned i = 0;

	while (i < n && strcmp(words[i], word) != 0)
		i++;
	return i;
}

static bool parse(struct ts_process *p, const char *line)
{
	char began[16], end[16];
	int len = 0;

	if (sscanf(line, "%" SCNu32 " %" SCNd32 " %" SCNd32 " %" SCNu32 " %15s %15s %" SCNu32 "%n", &p->number, &p->pid,
		   &p->parent, &p->image, began, end, &p->value, &len) != 7 || p->pid <= 0)
		return false;
	p->began = word_of(ts_process_began_words, TS_N_PROCESS_BEGAN, began);
	p->end = word_of(ts_process_end_words, TS_N_PROCESS_ENDS, end);
	p->arguments = strdup(line + len + (line[len] == ' '));
	return p->began < TS_N_PROCESS_BEGAN && p->end < TS_N_PROCESS_ENDS && p->arguments;
}

static bool add(struct ts_processes *all, const char *line)
{
	if (!ts_vec_reserve(&all->at, all->n, &all->cap, 1, sizeof(*all->at)))
		return false;
	all->at[all->n] = (struct ts_process){ 0 };
	if (parse(&all->at[all->n], line)) {
		all->n++;
		return true;
	}
	free(all->at[all->n].arguments);
	return false;
}

/* The last that began before it with that id: an id may come again. */
static size_t find_origin(const struct ts_processes *all, size_t i)
{
	const struct ts_process *p = &all->at[i];
	int32_t pid = p->image ? p->pid : p->parent;

	while (i--) {
		if (all->at[i].pid == pid)
			return i;
	}
	return TS_NO_ORIGIN;
}

static int by_number(const void *a, const void *b)
{
	const struct ts_process *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* The last line may be incomplete: a recorder may be killed. */
static bool read_lines(struct ts_processes *all, char *text, struct ts_error *err)
{
	char *line = text, *end = strchr(text, '\n');

	if (!end || strncmp(text, TS_PROCESSES_HEAD "\n", strlen(TS_PROCESSES_HEAD) + 1) != 0)
		return ts_fail(err, TS_ECORRUPT, 0, "it is no manifest of recorded processes");
	while ((line = end + 1, end = strchr(line, '\n'))) {
		*end = '\0';
		if (all->n == TS_MAX_PROCESSES)
			return ts_fail(err, TS_ELIMIT, (uint64_t)(line - text), "it has more than %u processes", TS_MAX_PROCESSES);
		if (!add(all, line))
			return ts_fail(err, TS_ECORRUPT, (uint64_t)(line - text), "the line is malformed");
	}
	if (all->n)
		qsort(all->at, all->n, sizeof(*all->at), by_number);
	for (size_t i = 0; i < all->n; i++)
		all->at[i].origin = find_origin(all, i);
	return true;
}

static int open_manifest(const char *folder)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" NAME, folder) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

bool ts_processes_read(struct ts_processes *all, const char *folder, struct ts_error *err)
{
	struct stat st = { 0 };
	int fd = open_manifest(folder);
	char *text = NULL;
	bool is_read;
	ssize_t n;

	*all = (struct ts_processes){ 0 };
	if (fd < 0 || fstat(fd, &st) < 0)
		ts_fail_errno(err, "its manifest (" NAME ") cannot be read");
	else if (!S_ISREG(st.st_mode) || st.st_size > (off_t)MAX_LEN)
		ts_fail(err, TS_ELIMIT, TS_NO_OFF, "its manifest (" NAME ") is no file of at most 16 MiB");
	else if (!(text = calloc(1, (size_t)st.st_size + 1)))
		ts_no_memory(err, "the processes");
	n = text ? read(fd, text, (size_t)st.st_size) : -1;
	is_read = n >= 0 && read_lines(all, text, err);
	free(text);
	if (fd >= 0)
		close(fd);
	return is_read || ts_fail(err, TS_EIO, TS_NO_OFF, "its manifest (" NAME ") cannot be read");
}

void ts_processes_fini(struct ts_processes *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->at[i].arguments);
	free(all->at);
	*all = (struct ts_processes){ 0 };
}

bool ts_processes_is_folder(const char *path)
{
	int fd = open_manifest(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* -------------------------------------------------------------------------------- questions */

unsigned char ts_process_byte(const char **text)
{
	unsigned n = 0;

	if (**text == '%' && (*text)[1] && (*text)[2] && sscanf(*text, "%%%2x", &n) == 1) {
		*text += 3;
		return (unsigned char)n;
	}
	return (unsigned char)*(*text)++;
}

void ts_process_file(const struct ts_process *p, char name[64])
{
	if (p->image)
		snprintf(name, 64, "%d.%u.ucir", p->pid, p->image);
	else
		snprintf(name, 64, "%d.ucir", p->pid);
}

static bool is_origin(const struct ts_processes *all, const struct ts_process *origin, const struct ts_process *p)
{
	return p->origin == (size_t)(origin - all->at);
}

/* The last program of the process that @p is a program of. */
static const struct ts_process *last_image(const struct ts_processes *all, const struct ts_process *p)
{
	for (const struct ts_process *o = p; o < all->at + all->n; o++) {
		if (is_origin(all, p, o) && o->pid == p->pid)
			p = o;
	}
	return p;
}

/* The child that ended with the same status, which was begun last; NULL if none is found. */
static const struct ts_process *failed_child(const struct ts_processes *all, const struct ts_process *p)
{
	const struct ts_process *found = NULL;

	for (const struct ts_process *o = p; o < all->at + all->n; o++) {
		const struct ts_process *last;

		if (!is_origin(all, p, o) || o->pid == p->pid)
			continue;
		last = last_image(all, o);
		if (last->end == TS_PROCESS_EXITED && last->value == p->value)
			found = last;
	}
	return found;
}

const struct ts_process *ts_processes_failed(const struct ts_processes *all)
{
	const struct ts_process *p, *child;

	for (p = all->at; p < all->at + all->n; p++) {
		if (p->end == TS_PROCESS_KILLED)
			return p;
	}
	if (all->n == 1)
		return all->at;
	p = all->n ? last_image(all, all->at) : NULL;
	if (!p || p->end != TS_PROCESS_EXITED || !p->value)
		return NULL;
	while ((child = failed_child(all, p)))
		p = child;
	return p;
}
