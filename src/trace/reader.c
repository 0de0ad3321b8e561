/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "point.h"
#include "src/base/collections/vec.h"

void ts_recording_init(struct ts_recording *rec, const struct ts_recording_ops *ops, const char *format)
{
	*rec = (struct ts_recording){ .ops = ops, .format = format };
	ts_steps_init(&rec->initial);
	ts_image_init(&rec->memory);
	ts_buf_init(&rec->cmdline);
	ts_buf_init(&rec->notes);
}

void ts_recording_fini(struct ts_recording *rec)
{
	ts_regset_fini(&rec->regs);
	ts_steps_fini(&rec->initial);
	ts_image_fini(&rec->memory);
	ts_buf_fini(&rec->cmdline);
	ts_buf_fini(&rec->notes);
	free(rec->threads);
	free(rec->auxv);
	free(rec->exec_path);
	free(rec->folder);
}

void ts_recording_close(struct ts_recording *rec)
{
	size_t size = rec ? rec->ops->size : 0;

	if (rec && rec->ops->close)
		rec->ops->close(rec);
	if (!size)
		return;
	ts_recording_fini(rec);
	free(rec);
}

void *ts_reader_new(const struct ts_reader_ops *ops, struct ts_error *err)
{
	struct ts_reader *r = calloc(1, ops->size);

	if (r)
		r->ops = ops;
	else
		ts_no_memory(err, "a reader");
	return r;
}

void ts_point_end(struct ts_point *p, struct ts_end *end)
{
	bool is_absent = end->is_absent && p->to;

	TS_POINT_FLAGS(p, &end->has_pc, &end->has_exit, &end->is_fault, &end->is_assumed);
	TS_POINT(p, end->pc, UINT64_MAX);
	end->is_absent = is_absent;
}

void ts_reader_save(struct ts_reader *r, struct ts_buf *point)
{
	struct ts_point p = ts_point_write(point);

	r->ops->point(r, &p);
}

bool ts_reader_resume(struct ts_reader *r, const uint8_t *point, size_t len, struct ts_error *err)
{
	struct ts_point p = ts_point_open(point, len, err);

	return r->ops->point(r, &p);
}

void ts_reader_close(struct ts_reader *r)
{
	size_t size = r ? r->ops->size : 0;

	if (r)
		r->ops->close(r);
	if (size)
		free(r);
}

static struct ts_thread *add_thread(struct ts_recording *rec)
{
	if (!ts_vec_reserve(&rec->threads, rec->n_threads, &rec->cap_threads, 1, sizeof(*rec->threads)))
		return NULL;
	return &rec->threads[rec->n_threads++];
}

uint32_t ts_recording_thread(struct ts_recording *rec, uint32_t process, uint64_t pid, uint64_t tid)
{
	for (uint32_t i = rec->n_threads; i-- > 0;) {
		if (rec->threads[i].process == process && rec->threads[i].tid == tid)
			return i;
	}
	return ts_recording_add_thread(rec, process, pid, tid);
}

uint32_t ts_recording_add_thread(struct ts_recording *rec, uint32_t process, uint64_t pid, uint64_t tid)
{
	struct ts_thread *t = add_thread(rec);

	if (!t)
		return TS_NO_THREAD;
	*t = (struct ts_thread){ .process = process, .pid = pid, .tid = tid, .end_pc = TS_NO_PC };
	rec->n_learned++;
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
	rec->n_learned++;
}

/* --------------------------------------------------------------------------------------- what was learned */

void ts_learned_init(struct ts_learned *l)
{
	*l = (struct ts_learned){ 0 };
}

void ts_learned_fini(struct ts_learned *l)
{
	free(l->threads);
}

/*
 * Make @to, which has room for *cap threads, a copy of the @n threads.  Returns false if memory is exhausted.
 */
static bool copy_threads(struct ts_thread **to, size_t *cap, const struct ts_thread *threads, uint32_t n)
{
	if (!ts_vec_reserve(to, 0, cap, n, sizeof(**to)))
		return false;
	if (n)
		memcpy(*to, threads, n * sizeof(*threads));
	return true;
}

bool ts_learned_take(struct ts_learned *l, const struct ts_recording *rec)
{
	if (!copy_threads(&l->threads, &l->cap_threads, rec->threads, rec->n_threads))
		return false;
	l->n_threads = rec->n_threads;
	l->n_processes = rec->n_processes;
	l->n_warnings = rec->n_warnings;
	memcpy(l->warnings, rec->warnings, rec->n_warnings * sizeof(rec->warnings[0]));
	return true;
}

bool ts_learned_give(const struct ts_learned *l, struct ts_recording *rec)
{
	if (!copy_threads(&rec->threads, &rec->cap_threads, l->threads, l->n_threads))
		return false;
	rec->n_threads = l->n_threads;
	rec->n_processes = l->n_processes;
	rec->n_warnings = l->n_warnings;
	memcpy(rec->warnings, l->warnings, l->n_warnings * sizeof(l->warnings[0]));
	rec->n_learned++;
	return true;
}

/* -------------------------------------------------------------------------------- what it is at the start */

static void hash_number(uint64_t *hash, uint64_t number)
{
	*hash = XXH3_64bits_withSeed(&number, sizeof(number), *hash);
}

static void hash_effects(uint64_t *hash, const struct ts_steps *b)
{
	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];
		const uint32_t data = e->kind <= TS_FX_READ ? e->data : TS_NO_DATA;
		const uint64_t numbers[] = { e->addr, e->len, data, ts_effect_item(e), e->kind, e->is_hidden };

		*hash = XXH3_64bits_withSeed(numbers, sizeof(numbers), *hash);
	}
	*hash = XXH3_64bits_withSeed(b->data, b->n_data, *hash);
	for (uint32_t i = 0; i < b->n_maps; i++) {
		const struct ts_map *m = &b->maps[i];
		const uint64_t numbers[] = { m->addr, m->len,  m->file_off, m->prot,
					     m->desc, m->file, m->fill };

		*hash = XXH3_64bits_withSeed(numbers, sizeof(numbers), *hash);
	}
	for (uint32_t i = 0; i < b->n_modules; i++) {
		const uint64_t numbers[] = { b->modules[i].addr, b->modules[i].len, b->modules[i].file };

		*hash = XXH3_64bits_withSeed(numbers, sizeof(numbers), *hash);
	}
}

uint64_t ts_recording_hash_start(const struct ts_recording *rec)
{
	const char *arch = rec->regs.arch->name;
	uint64_t hash = XXH3_64bits(arch, strlen(arch));

	hash_effects(&hash, &rec->initial);
	for (size_t i = 0; i < rec->memory.n_ranges; i++) {
		const struct ts_image_range *r = &rec->memory.ranges[i];
		const uint64_t numbers[] = { r->map, r->first, r->last, r->off, r->source };

		hash = XXH3_64bits_withSeed(numbers, sizeof(numbers), hash);
	}
	for (uint32_t i = 0; i < rec->n_threads; i++)
		hash_number(&hash, rec->threads[i].process);
	hash_number(&hash, rec->regs.features);
	hash_number(&hash, rec->regs.n_regs);
	hash_number(&hash, rec->regs.g_len);
	hash_number(&hash, rec->n_processes);
	hash_number(&hash, rec->is_physical);
	hash_number(&hash, rec->is_before);
	hash_number(&hash, rec->guesses_lengths);
	if (rec->other_files)
		hash_number(&hash, rec->other_files);
	return hash;
}
