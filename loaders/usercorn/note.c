/* SPDX-License-Identifier: MIT */
#include "note.h"

#include <string.h>

#include "src/base/cursor.h"

/* As much of a note as a warning or a line of `info` shows. */
#define MAX_TEXT 1024u
#define MAX_WARNED 120

/* The maximum number of warnings about children, to leave room for other kinds; further children are counted together. */
#define MAX_CHILD_WARNINGS (TS_MAX_WARNINGS / 2)

/* The label under which `info` prints a fact. */
static const char *label_of(uint32_t key)
{
	switch (key) {
	case UCIR_NOTE_FOLDER: return "folder";
	case UCIR_NOTE_BUILD_ID: return "build id";
	case UCIR_NOTE_RECORDER: return "recorder";
	case UCIR_NOTE_EMULATOR: return "emulator";
	case UCIR_NOTE_PROCESSOR: return "processor";
	case UCIR_NOTE_UNRECORDED: return "not recorded";
	case UCIR_NOTE_TEXT: return "note";
	default: return NULL;
	}
}

/* The first note of a path counts. */
static bool take_path(char **path, const struct ucir_op *op, struct ts_error *err)
{
	if (*path || !op->len || memchr(op->bytes, 0, (size_t)op->len))
		return true;
	*path = strndup((const char *)op->bytes, (size_t)op->len);
	return *path || ts_no_memory(err, "the notes of the trace");
}

static bool take_arguments(struct usercorn *rec, const struct ucir_op *op, struct ts_error *err)
{
	if (rec->base.cmdline.len || !op->len)
		return true;
	ts_buf_put(&rec->base.cmdline, op->bytes, (size_t)op->len);
	if (op->bytes[op->len - 1])
		ts_buf_putc(&rec->base.cmdline, 0);
	return ts_buf_ok(&rec->base.cmdline) || ts_no_memory(err, "the notes of the trace");
}

bool ucir_note_fact(struct usercorn *rec, const struct ucir_op *op, struct ts_error *err)
{
	const char *label = label_of(op->num);
	size_t len = op->len < MAX_TEXT ? (size_t)op->len : MAX_TEXT;
	struct ts_buf *notes = &rec->base.notes;

	if (op->num == UCIR_NOTE_PROGRAM)
		return take_path(&rec->base.exec_path, op, err);
	if (op->num == UCIR_NOTE_FOLDER && !take_path(&rec->base.folder, op, err))
		return false;
	if (op->num == UCIR_NOTE_ARGUMENTS)
		return take_arguments(rec, op, err);
	if (!label)
		return true;
	ts_buf_put(notes, label, strlen(label) + 1);
	if (op->num == UCIR_NOTE_BUILD_ID)
		ts_buf_hex(notes, op->bytes, len);
	else
		ts_buf_put(notes, op->bytes, strnlen((const char *)op->bytes, len));
	ts_buf_putc(notes, 0);
	return ts_buf_ok(notes) || ts_no_memory(err, "the notes of the trace");
}

/* The thread that has the id now; NULL: the recording has none. */
static struct ts_thread *find_thread(struct usercorn *rec, uint64_t pid)
{
	const uint64_t process = ucir_process_id(rec, pid);

	for (uint32_t i = rec->base.n_threads; i-- > 0;) {
		if (rec->base.threads[i].pid == process && rec->base.threads[i].tid == (pid & UINT32_MAX))
			return &rec->base.threads[i];
	}
	return NULL;
}

/*
 * The last name counts.  Notes are read again by questions about earlier positions, which change nothing: an
 * index has brought the name back, or the note lies before the last one that was read.
 */
static void take_thread_name(struct usercorn *rec, const struct ucir_op *op)
{
	struct ts_error err = { 0 };
	struct ts_cursor c = ts_cursor(op->bytes, (size_t)op->len, 0, "a thread's name", &err);
	const uint64_t pid = ts_u64le(&c);
	struct ts_thread *t = err.code == TS_OK ? find_thread(rec, pid) : NULL;
	size_t len;

	if (!t || op->off <= rec->last_name || (*t->name && !rec->last_name))
		return;
	rec->last_name = op->off;
	len = strnlen((const char *)op->bytes + 8, (size_t)op->len - 8);
	len = len < sizeof(t->name) - 1 ? len : sizeof(t->name) - 1;
	memset(t->name, 0, sizeof(t->name));
	memcpy(t->name, op->bytes + 8, len);
	rec->base.n_learned++;
}

void ucir_note(const struct ucir_walk *w, const struct ucir_op *op)
{
	const char *text = (const char *)op->bytes;
	int len = op->len < MAX_WARNED ? (int)op->len : MAX_WARNED;

	if (!w->n_steps)
		return;
	switch (op->num) {
	case UCIR_NOTE_CHILD:
		if (w->rec->base.n_warnings < MAX_CHILD_WARNINGS)
			ucir_warn(w, op->off, "child process %.*s was not recorded", len, text);
		else
			ucir_warn(w, op->off, "further child processes were not recorded");
		break;
	case UCIR_NOTE_BECAME:
		ucir_warn(w, op->off, "the program became %.*s, which is not in this recording", len, text);
		break;
	case UCIR_NOTE_UNEXPLAINED:
		if (len && strncmp(text, "0", (size_t)len))
			ucir_warn(w, op->off, "%.*s loads read values that no recorded write had stored", len,
				  text);
		break;
	case UCIR_NOTE_UNRECORDED:
		ucir_warn(w, op->off, "registers that are not recorded: %.*s", len, text);
		break;
	case UCIR_NOTE_THREAD_NAME:
		take_thread_name(w->rec, op);
		break;
	case UCIR_NOTE_TEXT:
		ucir_warn(w, op->off, "%.*s", len, text);
		break;
	}
}
