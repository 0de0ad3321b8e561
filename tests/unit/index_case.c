/* SPDX-License-Identifier: MIT */
#include "index_case.h"

#include <stdio.h>
#include <sys/stat.h>

#include "unit.h"
#include "world_lists.h"

const struct ts_index_key the_key = { 10, 20, 30, 40, 50, { .id = 60 }, 0, 0 };

void use_index(struct ts_timeline *tl, bool is_finished)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f = is_finished ? ts_index_open(PATH, &the_key, &err) : ts_index_create(PATH, &the_key, &err);

	ck_assert_msg(f && ts_timeline_use_file(tl, f, &err), "%s", err.text);
}

void grow(struct ts_timeline *tl, uint64_t n_steps)
{
	struct ts_error err = { 0 };

	ck_assert_msg(ts_timeline_grow(tl, n_steps, &err) != TS_FAIL, "%s", err.text);
}

void open_script(struct opened *o, uint64_t seed)
{
	struct ts_error err = { 0 };

	*o = (struct opened){ .s = script_random_new(seed, N_STEPS) };
	o->tl = ts_timeline_new(&o->s->rec, NULL, &err);
	ck_assert_ptr_nonnull(o->tl);
}

void finish(struct opened *o)
{
	struct ts_error err = { 0 };

	ck_assert_int_eq(ts_timeline_grow(o->tl, UINT64_MAX, &err), TS_END);
	o->q = ts_query_new(o->tl, &err);
	ck_assert_ptr_nonnull(o->q);
}

void close_script(struct opened *o)
{
	ts_query_free(o->q);
	ts_timeline_free(o->tl);
	script_free(o->s);
}

void build(struct opened *o, uint64_t seed)
{
	open_script(o, seed);
	use_index(o->tl, false);
	finish(o);
	ck_assert_msg(o->tl->file_error.code == TS_OK, "%s", o->tl->file_error.text);
}

void build_and_close(uint64_t seed)
{
	struct opened o;

	remove(PATH);
	remove(PART);
	build(&o, seed);
	close_script(&o);
}

void compare_state(const struct opened *a, const struct opened *b, uint64_t pos)
{
	static uint8_t bytes[2][4 * 4096];
	uint32_t g_len = a->s->rec.regs.g_len;
	struct ts_error err = { 0 };

	for (uint32_t t = 0; t < a->s->rec.n_threads; t++) {
		ck_assert(ts_query_regs(a->q, pos, t, bytes[0], bytes[0] + g_len, &err));
		ck_assert(ts_query_regs(b->q, pos, t, bytes[1], bytes[1] + g_len, &err));
		ck_assert_mem_eq(bytes[0], bytes[1], 2 * g_len);
	}
	for (unsigned i = 0; i < SCRIPT_N_ARENAS; i++) {
		const struct script_arena *m = &script_arenas[i];
		size_t len = (size_t)(m->last - m->first) + 1;

		for (uint32_t p = 0; p < SCRIPT_MAX_PROCESSES; p++) {
			ck_assert(ts_query_mem(a->q, pos, p, m->first, len, bytes[0], bytes[0] + len, &err));
			ck_assert(ts_query_mem(b->q, pos, p, m->first, len, bytes[1], bytes[1] + len, &err));
			ck_assert_mem_eq(bytes[0], bytes[1], 2 * len);
		}
	}
}

static void compare_worlds(const struct opened *a, const struct opened *b, uint64_t pos, uint64_t pc)
{
	const struct ts_world *v = &a->tl->world, *w = &b->tl->world;

	ck_assert_uint_eq(ts_query_thread(a->q, pos), ts_query_thread(b->q, pos));
	for (uint32_t t = 0; t < a->s->rec.n_threads; t++) {
		ck_assert(ts_query_is_alive(a->q, t, pos) == ts_query_is_alive(b->q, t, pos));
		ck_assert_uint_eq(ts_world_next_step(v, t, pos, N_STEPS),
				  ts_world_next_step(w, t, pos, N_STEPS));
		ck_assert_uint_eq(ts_world_prev_step(v, t, pos, N_STEPS),
				  ts_world_prev_step(w, t, pos, N_STEPS));
		ck_assert_uint_eq(ts_world_n_steps(v, t, pos), ts_world_n_steps(w, t, pos));
	}
	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		const struct ts_event_at *x = ts_world_find_event(v, kind, pos, false),
					  *y = ts_world_find_event(w, kind, pos, false);

		ck_assert_int_eq(!x, !y);
		ck_assert(!x || (x->step == y->step && x->event.number == y->event.number));
	}
	for (uint32_t p = 0; p < SCRIPT_MAX_PROCESSES; p++) {
		const struct ts_region *none[1];

		ck_assert_uint_eq(world_regions(v, p, pos, none, 0), world_regions(w, p, pos, none, 0));
		ck_assert_uint_eq(ts_runs_find(&a->tl->runs, p, pc, pc, pos, TS_FORWARDS),
				  ts_runs_find(&b->tl->runs, p, pc, pc, pos, TS_FORWARDS));
		ck_assert_uint_eq(ts_runs_find(&a->tl->runs, p, pc, pc, pos, TS_BACKWARDS),
				  ts_runs_find(&b->tl->runs, p, pc, pc, pos, TS_BACKWARDS));
	}
}

void compare(const struct opened *a, const struct opened *b, unsigned n)
{
	struct ts_timeline_stats x, y;
	struct script_random r = { n };

	ck_assert_uint_eq(a->tl->n_steps, b->tl->n_steps);
	ck_assert_uint_eq(a->tl->end_pc, b->tl->end_pc);
	ck_assert(a->tl->is_end_assumed == b->tl->is_end_assumed);
	ck_assert_uint_eq(a->s->rec.n_threads, b->s->rec.n_threads);
	ts_timeline_stats(a->tl, &x);
	ts_timeline_stats(b->tl, &y);
	ck_assert_uint_eq(x.n_inferred, y.n_inferred);
	ck_assert_uint_eq(x.n_unexplained, y.n_unexplained);
	for (unsigned i = 0; i < n; i++) {
		uint64_t pc = a->s->steps.steps[script_below(&r, N_STEPS)].pc;

		compare_state(a, b, script_below(&r, N_STEPS + 1));
		compare_worlds(a, b, script_below(&r, N_STEPS + 1), pc);
	}
}

uint64_t file_len(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}
