/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ts_recording_init(struct ts_recording *rec, const struct ts_recording_ops *ops, const char *format)
{
	*rec = (struct ts_recording){ .ops = ops, .format = format };
	ts_steps_init(&rec->initial);
	ts_image_init(&rec->memory);
	ts_buf_init(&rec->cmdline);
}

void ts_recording_fini(struct ts_recording *rec)
{
	ts_regset_fini(&rec->regs);
	ts_steps_fini(&rec->initial);
	ts_image_fini(&rec->memory);
	ts_buf_fini(&rec->cmdline);
	free(rec->threads);
	free(rec->auxv);
	free(rec->exec_path);
}

static struct ts_thread *add_thread(struct ts_recording *rec)
{
	if (rec->n_threads == rec->cap_threads) {
		uint32_t cap = rec->cap_threads ? rec->cap_threads * 2 : 4;
		struct ts_thread *p = realloc(rec->threads, cap * sizeof(*p));

		if (!p)
			return NULL;
		rec->threads = p;
		rec->cap_threads = cap;
	}
	return &rec->threads[rec->n_threads++];
}

uint32_t ts_recording_thread(struct ts_recording *rec, uint32_t process, uint64_t pid, uint64_t tid)
{
	struct ts_thread *t;

	for (uint32_t i = rec->n_threads; i-- > 0;) {
		t = &rec->threads[i];
		if (t->process == process && t->tid == tid)
			return i;
	}
	t = add_thread(rec);
	if (!t)
		return TS_NO_THREAD;
	*t = (struct ts_thread){ .process = process, .pid = pid, .tid = tid };
	if (process >= rec->n_processes)
		rec->n_processes = process + 1;
	return rec->n_threads - 1;
}

void ts_recording_warn(struct ts_recording *rec, const char *fmt, ...)
{
	char text[sizeof(rec->warnings[0].text)];
	struct ts_warning *w = rec->warnings;
	va_list ap;

	if (rec->is_read)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	while (w < rec->warnings + rec->n_warnings && strcmp(w->text, text))
		w++;
	if (w == rec->warnings + TS_MAX_WARNINGS) {
		w--;
		snprintf(w->text, sizeof(w->text), "other oddities");
	} else if (w == rec->warnings + rec->n_warnings) {
		memcpy(w->text, text, sizeof(text));
		rec->n_warnings++;
	}
	w->count++;
}
