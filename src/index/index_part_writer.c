/* SPDX-License-Identifier: MIT */
/*
 * A part is written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index_parts.h"
#include "index_parts_form.h"
#include "index_write.h"

/* Batches and bytes after which a record is written. */
#define MAX_BATCHES 64u
#define MAX_BYTES   ((size_t)16 << 20)

enum array { POINT, TEXT, BATCHES, POINTS, STEPS, EFFECTS, DATA, MAPS, MODULES, EVENTS, THREADS, WARNINGS, N_ARRAYS };

static const struct form {
	size_t item_len;
	bool is_packed;
} forms[N_ARRAYS] = {
	[POINT] = { 1, false },
	[TEXT] = { 1, false },
	[BATCHES] = { sizeof(struct part_batch), true },
	[POINTS] = { 1, true },
	[STEPS] = { sizeof(struct part_step), true },
	[EFFECTS] = { sizeof(struct part_effect), true },
	[DATA] = { 1, true },
	[MAPS] = { sizeof(struct ts_map), false },
	[MODULES] = { sizeof(struct ts_module), false },
	[EVENTS] = { sizeof(struct ts_event), true },
	[THREADS] = { sizeof(struct ts_thread), false },
	[WARNINGS] = { sizeof(struct ts_warning), false },
};

struct ts_part_writer {
	struct ts_index_file *file; /* owned */
	struct part_head head;
	struct ts_buf arrays[N_ARRAYS];
	struct ts_buf last; /* the point after the batch that was added last */
};

/* Begin the file, empty. */
static struct ts_index_file *begin(const struct ts_index_places *places, const struct ts_index_key *key, struct ts_error *err)
{
	struct ts_index_file *f = ts_index_places_create(places, key, err);

	if (!f || !ts_index_n_records(f))
		return f;
	ts_index_remove(f); /* of a run that was interrupted */
	ts_index_close(f);
	return ts_index_places_create(places, key, err);
}

struct ts_part_writer *ts_part_writer_new(const struct ts_index_places *index, const struct ts_index_key *key,
					  const struct ts_part_number *number, uint64_t first, const struct ts_buf *point,
					  struct ts_error *err)
{
	struct ts_part_writer *w = calloc(1, sizeof(*w));
	struct ts_index_places places;
	bool done = w && ts_part_places(&places, index, number->i);

	if (!done) {
		free(w);
		ts_no_memory(err, "the segment");
		return NULL;
	}
	for (unsigned i = 0; i < N_ARRAYS; i++)
		ts_buf_init(&w->arrays[i]);
	ts_buf_init(&w->last);
	w->head = (struct part_head){ .i = number->i, .n = number->n, .first = first };
	ts_buf_put(&w->arrays[POINT], point->data, point->len);
	w->file = begin(&places, key, err);
	ts_index_places_fini(&places);
	if (w->file)
		return w;
	ts_part_writer_free(w);
	return NULL;
}

void ts_part_writer_free(struct ts_part_writer *w)
{
	if (!w)
		return;
	ts_index_close(w->file);
	for (unsigned i = 0; i < N_ARRAYS; i++)
		ts_buf_fini(&w->arrays[i]);
	ts_buf_fini(&w->last);
	free(w);
}

static void put_steps(struct ts_part_writer *w, const struct ts_steps *b)
{
	for (uint32_t i = 0; i < b->n_steps; i++) {
		const struct ts_step *s = &b->steps[i];
		struct part_step out = { .pc = s->pc, .thread = s->thread, .n_effects = s->n_effects, .insn_len = s->insn_len };

		ts_buf_put(&w->arrays[STEPS], &out, sizeof(out));
	}
	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];
		struct part_effect out = { e->addr, e->len, e->item, (uint8_t)e->kind, e->is_hidden, e->is_inferred, e->is_code };

		ts_buf_put(&w->arrays[EFFECTS], &out, sizeof(out));
	}
	ts_buf_put(&w->arrays[DATA], b->data, b->n_data);
}

/* Without what is in its padding. */
static void put_event(struct ts_part_writer *w, const struct ts_event *ev)
{
	struct ts_event out;

	memset(&out, 0, sizeof(out));
	out.kind = ev->kind;
	out.number = ev->number;
	out.addr = ev->addr;
	out.ret = ev->ret;
	memcpy(out.args, ev->args, sizeof(out.args));
	out.n_args = ev->n_args;
	out.has_ret = ev->has_ret;
	out.has_addr = ev->has_addr;
	out.is_after = ev->is_after;
	memcpy(out.text, ev->text, strnlen(ev->text, sizeof(out.text) - 1));
	ts_buf_put(&w->arrays[EVENTS], &out, sizeof(out));
}

static void put_items(struct ts_part_writer *w, const struct ts_steps *b)
{
	ts_buf_put(&w->arrays[MAPS], b->maps, b->n_maps * sizeof(*b->maps));
	for (uint32_t i = 0; i < b->n_modules; i++) {
		struct ts_module out;

		memset(&out, 0, sizeof(out)); /* its padding, too */
		out.addr = b->modules[i].addr;
		out.len = b->modules[i].len;
		out.file = b->modules[i].file;
		ts_buf_put(&w->arrays[MODULES], &out, sizeof(out));
	}
	for (uint32_t i = 0; i < b->n_events; i++)
		put_event(w, &b->events[i]);
}

static uint8_t end_flags(const struct ts_end *e)
{
	return (uint8_t)((e->has_pc ? PART_END_HAS_PC : 0) | (e->is_assumed ? PART_END_ASSUMED : 0) |
			 (e->is_absent ? PART_END_ABSENT : 0) | (e->has_exit ? PART_END_HAS_EXIT : 0) |
			 (e->is_fault ? PART_END_FAULT : 0));
}

/* Without what is behind its text. */
static void put_warning(struct ts_part_writer *w, const struct ts_warning *warning)
{
	struct ts_warning out;

	memset(&out, 0, sizeof(out));
	memcpy(out.text, warning->text, strnlen(warning->text, sizeof(out.text) - 1));
	out.count = warning->count;
	ts_buf_put(&w->arrays[WARNINGS], &out, sizeof(out));
}

static void put_batch(struct ts_part_writer *w, const struct ts_batch *b)
{
	const struct ts_steps *s = &b->steps;
	struct part_batch out = {
		s->n_steps, s->n_effects, s->n_data, s->n_maps, s->n_modules, s->n_events, (uint32_t)b->after.len,
		.has_learned = b->has_learned, .next = (uint8_t)b->next, .end_flags = end_flags(&b->end),
		.code = (uint8_t)b->err.code, .end_pc = b->end.pc, .off = b->err.off,
	};

	if (b->next == TS_FAIL)
		ts_buf_puts(&w->arrays[TEXT], b->err.text);
	if (b->has_learned) {
		out.n_threads = b->learned.n_threads;
		out.n_warnings = b->learned.n_warnings;
		out.n_processes = b->learned.n_processes;
		ts_buf_put(&w->arrays[THREADS], b->learned.threads, out.n_threads * sizeof(*b->learned.threads));
		for (uint32_t i = 0; i < out.n_warnings; i++)
			put_warning(w, &b->learned.warnings[i]);
	}
	ts_buf_put(&w->arrays[BATCHES], &out, sizeof(out));
}

static void put_array(struct ts_part_writer *w, enum array i)
{
	const struct ts_buf *b = &w->arrays[i];

	if (!ts_buf_ok(b))
		ts_index_fail(w->file);
	else if (forms[i].is_packed)
		ts_index_put_packed(w->file, b->data, b->len / forms[i].item_len, forms[i].item_len);
	else if (i == POINT || i == TEXT)
		ts_index_put_buf(w->file, b);
	else
		ts_index_put_unread(w->file, b->data, b->len / forms[i].item_len, forms[i].item_len);
}

static bool write_record(struct ts_part_writer *w, bool is_last, struct ts_error *err)
{
	ts_index_begin(w->file, 1);
	ts_index_section(w->file, PART_KIND, 0);
	ts_index_put(w->file, &w->head, 1, sizeof(w->head));
	for (unsigned i = 0; i < N_ARRAYS; i++) {
		put_array(w, i);
		ts_buf_reset(&w->arrays[i]);
	}
	w->head.first += w->head.n_batches;
	w->head.n_batches = 0;
	return ts_index_commit(w->file, w->head.first, is_last, err);
}

static size_t bytes_of(const struct ts_part_writer *w)
{
	size_t n = 0;

	for (unsigned i = 0; i < N_ARRAYS; i++)
		n += w->arrays[i].len;
	return n;
}

bool ts_part_writer_add(struct ts_part_writer *w, const struct ts_batch *b, struct ts_error *err)
{
	if (w->head.n_batches == MAX_BATCHES || bytes_of(w) > MAX_BYTES) {
		struct ts_buf *point = &w->arrays[POINT];

		if (!write_record(w, false, err))
			return false;
		ts_buf_put(point, w->last.data, w->last.len);
	}
	put_steps(w, &b->steps);
	put_items(w, &b->steps);
	put_batch(w, b);
	ts_buf_put(&w->arrays[POINTS], b->after.data, b->after.len);
	ts_buf_reset(&w->last);
	ts_buf_put(&w->last, b->after.data, b->after.len);
	w->head.n_batches++;
	return true;
}

const char *ts_part_writer_finish(struct ts_part_writer *w, struct ts_error *err)
{
	return write_record(w, true, err) && ts_index_publish(w->file, err) ? ts_index_path(w->file) : NULL;
}

uint64_t ts_part_writer_len(const struct ts_part_writer *w)
{
	return ts_index_len(w->file);
}
