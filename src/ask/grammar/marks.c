/* SPDX-License-Identifier: MIT */
#include "marks.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/atomic_file.h"
#include "src/base/collections/bisect.h"
#include "src/base/cache_dir.h"
#include "src/base/collections/vec.h"

/* A larger file is not one of marks: it is refused, and never replaced. */
#define MAX_FILE (4u << 20)

#define HEAD "# tracestub marks\n"

struct mark {
	uint64_t pos;
	char *name; /* owned; the text is in the same allocation */
	char *text;
	size_t order; /* in which it was read */
};

struct ts_marks {
	char *paths[2];     /* owned; beside the trace, and in the cache directory; NULL: not available */
	struct mark *items; /* owned; by position, then name */
	size_t n, cap;
};

bool ts_marks_is_name(const char *text, size_t len)
{
	static const char *const grammar[] = { "begin", "start",    "end", "last", "first", "frame",
					       "next",  "previous", "in",  "if",   "at",    "thread" };

	if (!len || !(isalpha((unsigned char)*text) || *text == '_'))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
			return false;
	}
	for (size_t i = 0; i < sizeof(grammar) / sizeof(grammar[0]); i++) {
		if (strlen(grammar[i]) == len && !memcmp(grammar[i], text, len))
			return false;
	}
	return true;
}

static char *cache_path(const char *trace)
{
	char name[PATH_MAX], *path = NULL;

	if (!ts_cache_dir_name(trace, false, name) || asprintf(&path, "%s.tsmarks", name) < 0)
		return NULL;
	return path;
}

struct ts_marks *ts_marks_new(const char *trace)
{
	struct ts_marks *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	if (asprintf(&m->paths[0], "%s.tsmarks", trace) < 0) {
		free(m);
		return NULL;
	}
	m->paths[1] = cache_path(trace);
	return m;
}

static void drop_all(struct ts_marks *m)
{
	while (m->n)
		free(m->items[--m->n].name);
}

void ts_marks_free(struct ts_marks *m)
{
	if (!m)
		return;
	drop_all(m);
	free(m->items);
	free(m->paths[0]);
	free(m->paths[1]);
	free(m);
}

/* ----------------------------------------------------------------------------------------------- the list */

static void drop(struct ts_marks *m, size_t i)
{
	free(m->items[i].name);
	memmove(&m->items[i], &m->items[i + 1], (m->n - i - 1) * sizeof(*m->items));
	m->n--;
}

static size_t find(const struct ts_marks *m, const char *name, size_t len)
{
	size_t i = 0;

	while (i < m->n && (strlen(m->items[i].name) != len || memcmp(m->items[i].name, name, len)))
		i++;
	return i;
}

/* Append one; they are not in order then.  Returns false if memory is exhausted. */
static bool append(struct ts_marks *m, uint64_t pos, const char *name, size_t name_len, const char *text,
		   size_t len)
{
	struct mark mark = { .pos = pos, .name = malloc(name_len + len + 2), .order = m->n };

	if (!mark.name || !ts_vec_reserve(&m->items, m->n, &m->cap, 1, sizeof(*m->items))) {
		free(mark.name);
		return false;
	}
	memcpy(mark.name, name, name_len);
	mark.name[name_len] = 0;
	mark.text = mark.name + name_len + 1;
	memcpy(mark.text, text, len);
	mark.text[len] = 0;
	m->items[m->n++] = mark;
	return true;
}

/* Those of one name beside each other, the one that was read last first. */
static int by_name(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return strcmp(x->name, y->name) ?: TS_ORDER(y->order, x->order);
}

static int by_position(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return TS_ORDER(x->pos, y->pos) ?: strcmp(x->name, y->name);
}

/* In order again, and of those of one name the one that was appended last. */
static void settle(struct ts_marks *m)
{
	size_t n = 0;

	if (!m->n)
		return;
	qsort(m->items, m->n, sizeof(*m->items), by_name);
	for (size_t i = 0; i < m->n; i++) {
		if (n && !strcmp(m->items[n - 1].name, m->items[i].name))
			free(m->items[i].name);
		else
			m->items[n++] = m->items[i];
	}
	m->n = n;
	qsort(m->items, m->n, sizeof(*m->items), by_position);
	for (size_t i = 0; i < m->n; i++)
		m->items[i].order = i;
}

/* Put one in its place, instead of one of the same name. */
static bool put(struct ts_marks *m, uint64_t pos, const char *name, const char *text, struct ts_error *err)
{
	if (m->n >= TS_MAX_MARKS && find(m, name, strlen(name)) == m->n)
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "a recording has at most %u marks", TS_MAX_MARKS);
	if (!append(m, pos, name, strlen(name), text, strlen(text)))
		return ts_no_memory(err, "marks");
	settle(m);
	return true;
}

/* --------------------------------------------------------------------------------------------- the file */

/*
 * "POSITION NAME TEXT"; malformed lines are ignored, and those beyond the limit.  Returns false if memory is
 * exhausted.
 */
static bool take_line(struct ts_marks *m, const char *line, size_t len)
{
	const char *end = line + len, *name, *text;
	char *after;
	uint64_t pos;

	if (m->n == TS_MAX_MARKS || !len || *line < '0' || *line > '9')
		return true;
	errno = 0;
	pos = strtoull(line, &after, 10);
	if (errno || *after != ' ')
		return true;
	name = after + 1;
	text = memchr(name, ' ', (size_t)(end - name));
	if (!text)
		text = end;
	return !ts_marks_is_name(name, (size_t)(text - name)) ||
	       append(m, pos, name, (size_t)(text - name), text + (text < end),
		      (size_t)(end - text) - (text < end));
}

static bool take_text(struct ts_marks *m, const char *text)
{
	bool done = true;

	for (const char *line = text, *end; done && line && *line; line = *end ? end + 1 : NULL) {
		end = line + strcspn(line, "\n");
		done = take_line(m, line, (size_t)(end - line));
	}
	return done;
}

/*
 * NULL if the file does not exist.  The sender of a trace may put a pipe there, on which a read would wait, or a link
 * to a file of this user.
 */
static FILE *open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *f = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;

	if (!f && fd >= 0)
		close(fd);
	return f;
}

/* The text of a file of @n bytes, with a terminating null byte.  What is no file of marks is refused whole. */
static bool take_whole(struct ts_marks *m, const char *path, const char *text, size_t n, struct ts_error *err)
{
	if (n > MAX_FILE)
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "%s: a file of marks has at most %u bytes", path,
			       MAX_FILE);
	if (strlen(text) < n)
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "%s: byte %zu of the marks is zero", path,
			       strlen(text));
	return take_text(m, text) || ts_no_memory(err, "marks");
}

/* What is not there, or cannot be opened, or is not a file, has no marks. */
static bool take_file(struct ts_marks *m, const char *path, struct ts_error *err)
{
	FILE *f = path ? open_file(path) : NULL;
	char *text = f ? malloc(MAX_FILE + 2) : NULL;
	bool done;

	if (!f)
		return true;
	done = text || ts_no_memory(err, "marks");
	if (done) {
		size_t n = fread(text, 1, MAX_FILE + 1, f);

		text[n] = 0;
		done = ferror(f) ? ts_fail_errno(err, "%s", path) : take_whole(m, path, text, n, err);
	}
	(void)fclose(f);
	free(text);
	return done;
}

bool ts_marks_read(struct ts_marks *m, size_t *n, struct ts_error *err)
{
	bool done;

	drop_all(m);
	done = take_file(m, m->paths[1], err) && take_file(m, m->paths[0], err);
	settle(m);
	*n = m->n;
	return done;
}

static void put_all(const struct ts_marks *m, struct ts_buf *out)
{
	ts_buf_puts(out, HEAD);
	for (size_t i = 0; i < m->n; i++)
		ts_buf_printf(out, "%" PRIu64 " %s%s%s\n", m->items[i].pos, m->items[i].name,
			      *m->items[i].text ? " " : "", m->items[i].text);
}

static bool write_file(const struct ts_marks *m, const char *path, struct ts_error *err)
{
	struct ts_atomic_file f;
	struct ts_buf text;
	bool done;

	ts_buf_init(&text);
	put_all(m, &text);
	done = ts_buf_ok(&text) || ts_no_memory(err, "marks");
	if (done) {
		done = ts_atomic_file_init(&f, path, err) &&
		       ts_atomic_file_write(&f, text.data, text.len, err) && ts_atomic_file_finish(&f, err);
		ts_atomic_file_fini(&f);
	}
	ts_buf_fini(&text);
	return done;
}

static bool make_folder(const char *path)
{
	char folder[PATH_MAX];

	if (snprintf(folder, sizeof(folder), "%s", path) >= (int)sizeof(folder))
		return false;
	for (char *p = folder + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		mkdir(folder, 0777); /* a failure shows when it is used */
		*p = '/';
	}
	return true;
}

/* The lock is a file of its own: the marks' file is replaced.  Returns -1 if it cannot be had. */
static int lock(const char *path, struct ts_error *err)
{
	char name[PATH_MAX];
	int fd;

	if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name)) {
		ts_fail(err, TS_EIO, TS_NO_OFF, "the name of the marks' file is too long: %.200s...", path);
		return -1;
	}
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd >= 0 && !flock(fd, LOCK_EX))
		return fd;
	ts_fail_errno(err, "%s", name);
	if (fd >= 0)
		close(fd);
	return -1;
}

typedef bool apply_fn(struct ts_marks *m, const void *user, struct ts_error *err);

/* Is there a second file, in the cache directory? */
static bool has_second(const struct ts_marks *m)
{
	return m->paths[1] && !access(m->paths[1], F_OK);
}

static bool empty_second(const struct ts_marks *m, struct ts_error *err)
{
	const struct ts_marks none = { 0 };

	return write_file(&none, m->paths[1], err);
}

/*
 * Apply the change to what both files hold, and write that to one of them, under its lock.  If that is the
 * one beside the trace, the one in the cache directory holds nothing afterwards.
 */
static bool change_file(struct ts_marks *m, unsigned which, apply_fn *apply, const void *user,
			struct ts_error *err)
{
	int fd = lock(m->paths[which], err), second = -1;
	bool is_merged = !which && has_second(m), done = fd >= 0;
	size_t n;

	if (done && is_merged) {
		second = lock(m->paths[1], err);
		done = second >= 0;
	}
	done = done && ts_marks_read(m, &n, err) && apply(m, user, err) && write_file(m, m->paths[which], err) &&
	       (!is_merged || empty_second(m, err));
	if (second >= 0)
		close(second);
	if (fd >= 0)
		close(fd);
	return done;
}

/* A change, written to the first place that can be. */
static bool change(struct ts_marks *m, apply_fn *apply, const void *user, struct ts_error *err)
{
	struct ts_error first;
	bool done = false;

	ts_error_reset(&first);
	for (unsigned i = 0; i < 2 && m->paths[i] && !done; i++) {
		struct ts_error here;

		ts_error_reset(&here);
		if (i)
			make_folder(m->paths[i]);
		done = change_file(m, i, apply, user, &here);
		if (!done && first.code == TS_OK)
			first = here;
	}
	if (!done)
		*err = first;
	return done;
}

struct setting {
	uint64_t pos;
	const char *name, *text;
};

static bool apply_set(struct ts_marks *m, const void *user, struct ts_error *err)
{
	const struct setting *s = user;

	return put(m, s->pos, s->name, s->text, err);
}

bool ts_marks_set(struct ts_marks *m, const char *name, uint64_t pos, const char *text, struct ts_error *err)
{
	const struct setting s = { pos, name, text };

	return change(m, apply_set, &s, err);
}

/* Is there a file, though all marks in it may have been removed? */
static bool has_file(const struct ts_marks *m)
{
	return !access(m->paths[0], F_OK) || (m->paths[1] && !access(m->paths[1], F_OK));
}

static bool apply_adopt(struct ts_marks *m, const void *user, struct ts_error *err)
{
	if (m->n)
		return true;
	if (!take_text(m, user))
		return ts_no_memory(err, "marks");
	settle(m);
	return true;
}

bool ts_marks_adopt(struct ts_marks *m, const char *text, struct ts_error *err)
{
	return has_file(m) || change(m, apply_adopt, text, err);
}

void ts_marks_put(const struct ts_marks *m, struct ts_buf *out)
{
	put_all(m, out);
}

struct adding {
	uint64_t pos;
	const char *prefix, *text;
	unsigned *number;
};

/* The lowest number, from 1, that no mark with this prefix has; 0 if memory is exhausted. */
static unsigned free_number(const struct ts_marks *m, const char *prefix)
{
	bool *used = calloc(m->n + 2, sizeof(*used));
	unsigned number = 1;

	if (!used)
		return 0;
	for (size_t i = 0; i < m->n; i++) {
		const char *digits = m->items[i].name + strlen(prefix);
		unsigned long n;
		char *end;

		if (strncmp(m->items[i].name, prefix, strlen(prefix)) || *digits < '1' || *digits > '9')
			continue;
		n = strtoul(digits, &end, 10);
		if (!*end && n <= m->n)
			used[n] = true;
	}
	while (used[number])
		number++;
	free(used);
	return number;
}

static bool apply_add(struct ts_marks *m, const void *user, struct ts_error *err)
{
	const struct adding *a = user;
	char *name;
	bool done;

	*a->number = free_number(m, a->prefix);
	if (!*a->number || asprintf(&name, "%s%u", a->prefix, *a->number) < 0)
		return ts_no_memory(err, "marks");
	done = put(m, a->pos, name, a->text, err);
	free(name);
	return done;
}

bool ts_marks_add(struct ts_marks *m, const char *prefix, uint64_t pos, const char *text, unsigned *number,
		  struct ts_error *err)
{
	const struct adding a = { pos, prefix, text, number };

	return change(m, apply_add, &a, err);
}

static bool apply_remove(struct ts_marks *m, const void *user, struct ts_error *err)
{
	size_t i = find(m, user, strlen(user));

	(void)err;
	if (i < m->n)
		drop(m, i);
	return true;
}

bool ts_marks_remove(struct ts_marks *m, const char *name, bool *found, struct ts_error *err)
{
	uint64_t pos;
	enum ts_next there = ts_marks_find(m, name, strlen(name), &pos, err);

	*found = there == TS_ITEM;
	if (there != TS_ITEM)
		return there == TS_END;
	if (!change(m, apply_remove, name, err))
		return false;
	there = ts_marks_find(m, name, strlen(name), &pos, err);
	return there == TS_END || (there == TS_ITEM && ts_fail(err, TS_EIO, TS_NO_OFF,
							       "%s cannot be written: the mark is still there", m->paths[0]));
}

enum ts_next ts_marks_find(struct ts_marks *m, const char *name, size_t len, uint64_t *pos,
			   struct ts_error *err)
{
	size_t n, i;

	if (!ts_marks_read(m, &n, err))
		return TS_FAIL;
	i = find(m, name, len);
	if (i == n)
		return TS_END;
	*pos = m->items[i].pos;
	return TS_ITEM;
}

struct ts_mark ts_marks_get(const struct ts_marks *m, size_t i)
{
	return (struct ts_mark){ m->items[i].pos, m->items[i].name, m->items[i].text };
}
