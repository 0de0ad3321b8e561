/* SPDX-License-Identifier: MIT */
/*
 * A file of marks, as somebody else could leave it beside a trace: what is read has valid names and is written so that it
 * is read back equal.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/ask/grammar/marks.h"

struct folder {
	char path[32], trace[48], file[64];
};

static void make(struct folder *f)
{
	strcpy(f->path, "/tmp/fuzz-marks.XXXXXX");
	if (!mkdtemp(f->path))
		abort();
	snprintf(f->trace, sizeof(f->trace), "%s/t", f->path);
	snprintf(f->file, sizeof(f->file), "%s/t.tsmarks", f->path);
}

static void drop(struct folder *f)
{
	char lock[80];

	snprintf(lock, sizeof(lock), "%s.lock", f->file);
	unlink(lock);
	unlink(f->file);
	rmdir(f->path);
}

static void put(const char *path, const uint8_t *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file))
		abort();
}

static void check_names(struct ts_marks *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ts_mark mark = ts_marks_get(m, i);

		assert(ts_marks_is_name(mark.name, strlen(mark.name)));
		assert(!strpbrk(mark.text, "\n"));
	}
}

/* The text of @m becomes the marks of another trace, which are the same. */
static void check_adopted(struct ts_marks *m, size_t n)
{
	struct ts_error err = { 0 };
	struct ts_marks *other;
	struct folder f;
	struct ts_buf text;
	size_t n_other;

	make(&f);
	other = ts_marks_new(f.trace);
	ts_buf_init(&text);
	ts_marks_put(m, &text);
	assert(other && ts_buf_ok(&text));
	assert(ts_marks_adopt(other, ts_buf_text(&text), &err));
	assert(ts_marks_read(other, &n_other, &err) && n_other == n);
	for (size_t i = 0; i < n; i++) {
		struct ts_mark a = ts_marks_get(m, i), b = ts_marks_get(other, i);

		assert(a.pos == b.pos && !strcmp(a.name, b.name) && !strcmp(a.text, b.text));
	}
	ts_buf_fini(&text);
	ts_marks_free(other);
	drop(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ts_error err = { 0 };
	struct ts_marks *m;
	struct folder f;
	size_t n;

	unsetenv("XDG_CACHE_HOME"); /* this trace's marks lie beside it alone */
	unsetenv("HOME");
	make(&f);
	put(f.file, bytes, len);
	m = ts_marks_new(f.trace);
	if (!m)
		abort();
	if (ts_marks_read(m, &n, &err)) {
		check_names(m, n);
		check_adopted(m, n);
	}
	ts_marks_free(m);
	drop(&f);
	return 0;
}
