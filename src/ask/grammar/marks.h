/* SPDX-License-Identifier: MIT */
/*
 * Marks: named positions of a recording, kept in a file beside its trace.
 *
 * The file is TRACE.tsmarks, or one in the user's cache directory if that cannot be written.  It has one line
 * for each mark: position, name, text.  Several processes may use it: each change is applied under a lock to
 * the current contents of the file, and the file is replaced as a whole.
 */
#ifndef TS_ASK_MARKS_H
#define TS_ASK_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/error.h"
#include "src/base/next.h"

/* Further marks in a file are ignored. */
#define TS_MAX_MARKS 10000u

struct ts_marks;

struct ts_mark {
	uint64_t pos;
	const char *name, *text; /* borrowed; valid until the next call */
};

/* Is @text a valid name of a mark?  Words of the grammar are not. */
bool ts_marks_is_name(const char *text, size_t len);

/*
 * The marks of the trace at @trace.  No file is read or written yet.
 *
 * Returns the marks, which the caller frees with ts_marks_free().
 * Returns NULL if memory is exhausted.
 */
struct ts_marks *ts_marks_new(const char *trace);
void ts_marks_free(struct ts_marks *m);

/*
 * The position of the mark called @name (of @len bytes).
 *
 * Returns TS_ITEM on success.
 * Returns TS_END if no mark has this name.
 * Returns TS_FAIL if a file cannot be read (TS_EIO).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_marks_find(struct ts_marks *m, const char *name, size_t len, uint64_t *pos,
			   struct ts_error *err);

/*
 * Set a mark.  It replaces a mark of the same name.
 *
 * Returns false if there are TS_MAX_MARKS already (TS_ELIMIT).
 * Returns false if no file can be written (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_marks_set(struct ts_marks *m, const char *name, uint64_t pos, const char *text, struct ts_error *err);

/*
 * Set a mark named @prefix and the lowest number, from 1, that makes a new name.  *number is set to the number.
 *
 * Returns false if there are TS_MAX_MARKS already (TS_ELIMIT).
 * Returns false if no file can be written (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_marks_add(struct ts_marks *m, const char *prefix, uint64_t pos, const char *text, unsigned *number,
		  struct ts_error *err);

/*
 * Remove the mark called @name; *found is set to whether it existed.
 *
 * Returns false if a file cannot be read or written, or still has the mark afterwards (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_marks_remove(struct ts_marks *m, const char *name, bool *found, struct ts_error *err);

/*
 * Append the marks that were read to @out, in the form of the file; ts_marks_adopt() accepts this form.
 */
void ts_marks_put(const struct ts_marks *m, struct ts_buf *out);

/*
 * Set all marks in @text, the contents of a file of marks, if the trace has no such file yet.
 *
 * Returns false if no file can be written (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_marks_adopt(struct ts_marks *m, const char *text, struct ts_error *err);

/*
 * Read the marks again from the files, sorted by position, then by name; *n is set to their number.
 *
 * Returns false if a file cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_marks_read(struct ts_marks *m, size_t *n, struct ts_error *err);

/* Returns mark @i of the last ts_marks_read(). */
struct ts_mark ts_marks_get(const struct ts_marks *m, size_t i);

#endif
