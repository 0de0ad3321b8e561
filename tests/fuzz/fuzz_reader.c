/* SPDX-License-Identifier: MIT */
#include "fuzz_reader.h"

#include "loaders/loader.h"

#include <stdlib.h>
#include <string.h>

/* So that one input does not take the whole time: steps, and the step where the decode point is. */
#define MAX_STEPS 300000u
#define POINT_STEP 5u
/* Effects and bytes; readers append no plain steps to a batch that may have to grow. */
#define PLAIN_ROOM 4096u

static void require(int condition)
{
	if (!condition)
		abort();
}

static void require_same(const struct ts_steps *a, const struct ts_steps *b)
{
	require(a->n_steps == b->n_steps && a->n_effects == b->n_effects);
	for (uint32_t i = 0; i < a->n_steps; i++)
		require(a->steps[i].pc == b->steps[i].pc && a->steps[i].thread == b->steps[i].thread &&
			a->steps[i].insn_len == b->steps[i].insn_len && a->steps[i].n_effects == b->steps[i].n_effects &&
			a->steps[i].first == b->steps[i].first);
	for (uint32_t i = 0; i < a->n_effects; i++) {
		const struct ts_effect *x = &a->effects[i], *y = &b->effects[i];
		const uint8_t *p = ts_effect_data(a, x), *q = ts_effect_data(b, y);

		require(x->kind == y->kind && x->addr == y->addr && x->len == y->len &&
			x->is_hidden == y->is_hidden && x->is_inferred == y->is_inferred && x->is_code == y->is_code);
		require(!p == !q && (!p || memcmp(p, q, x->len) == 0));
	}
}

static void require_same_place(struct ts_reader *a, struct ts_reader *b)
{
	struct ts_buf x, y;

	ts_buf_init(&x);
	ts_buf_init(&y);
	ts_reader_save(a, &x);
	ts_reader_save(b, &y);
	require(x.len == y.len && (!x.len || memcmp(x.data, y.data, x.len) == 0));
	require(a->end.pc == b->end.pc && a->end.has_pc == b->end.has_pc && a->end.is_assumed == b->end.is_assumed &&
		a->end.has_exit == b->end.has_exit && a->end.is_fault == b->end.is_fault);
	ts_buf_fini(&x);
	ts_buf_fini(&y);
}

/* Steps that @many appends at once are those that @one appends one by one, and both are then at the same place. */
static void read_plain(struct ts_reader *one, struct ts_reader *many)
{
	struct ts_error err = { 0 }, err_of_many = { 0 };
	struct ts_steps a, b;
	enum ts_next next = TS_ITEM;

	ts_steps_init(&a);
	ts_steps_init(&b);
	require(ts_steps_grow_steps(&b) && ts_steps_room(&b, PLAIN_ROOM, PLAIN_ROOM));
	for (unsigned n = 0, turn = 1; next == TS_ITEM && n < MAX_STEPS; n += b.n_steps, turn = turn * 5 % 257) {
		ts_steps_reset(&a);
		ts_steps_reset(&b);
		next = ts_reader_next_steps(many, turn, &b, &err_of_many);
		require(b.n_steps <= turn && (next == TS_ITEM) == (b.n_steps > 0));
		while (a.n_steps < b.n_steps)
			require(ts_reader_next(one, &a, &err) == TS_ITEM);
		if (next != TS_ITEM)
			require(ts_reader_next(one, &a, &err) == next && err.code == err_of_many.code);
		require_same(&a, &b);
		require_same_place(one, many);
	}
	ts_steps_fini(&a);
	ts_steps_fini(&b);
}

static void read_steps(struct ts_recording *rec, struct ts_reader *reader)
{
	struct ts_error err = { 0 };
	struct ts_steps steps, wanted;
	struct ts_buf point;
	enum ts_next next = TS_ITEM;

	ts_steps_init(&steps);
	ts_steps_init(&wanted);
	ts_buf_init(&point);
	for (unsigned n = 0; next == TS_ITEM && n < MAX_STEPS; n++) {
		struct ts_steps *out = n == POINT_STEP ? &wanted : &steps;

		if (n == POINT_STEP)
			ts_reader_save(reader, &point);
		ts_steps_reset(out);
		next = ts_reader_next(reader, out, &err);
		require(out->n_steps == (next == TS_ITEM) && out->n_effects == out->n_closed);
		for (uint32_t i = 0; i < out->n_steps; i++)
			require(out->steps[i].thread < rec->n_threads);
	}
	ts_error_reset(&err);
	if (wanted.n_steps) {
		require(ts_reader_resume(reader, point.data, point.len, &err));
		ts_steps_reset(&steps);
		require(ts_reader_next(reader, &steps, &err) == TS_ITEM);
		require_same(&steps, &wanted);
	}
	ts_buf_fini(&point);
	ts_steps_fini(&steps);
	ts_steps_fini(&wanted);
}

void fuzz_reader(const char *format, const uint8_t *bytes, size_t len)
{
	const struct ts_loader_options opt = { 0 };
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_from_memory(bytes, len, "fuzz", &err);
	const struct ts_loader *loader = ts_loader_find(format);
	struct ts_recording *rec = ts_loader_open(loader, src, &opt, &err);
	struct ts_reader *reader = rec ? rec->ops->reader(rec, &err) : NULL;

	require(!rec == (err.code != TS_OK));
	if (reader)
		read_steps(rec, reader);
	if (reader && reader->ops->next_plain) {
		struct ts_reader *one = rec->ops->reader(rec, &err), *many = rec->ops->reader(rec, &err);

		require(one && many);
		read_plain(one, many);
		ts_reader_close(one);
		ts_reader_close(many);
	}
	ts_reader_close(reader);
	ts_recording_close(rec);
	ts_source_close(src);
}
