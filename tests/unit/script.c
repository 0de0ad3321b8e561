/* SPDX-License-Identifier: MIT */
#include "script.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "settle.h"
#include "src/base/collections/vec.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"
#include "src/trace/point.h"

const struct script_arena script_arenas[SCRIPT_N_ARENAS] = {
	{ 0, 95 },
	{ 0x1000 - 56, 0x1000 + 55 },
	{ 0x5000, 0x5000 + 79 },
	{ 0x7ffff7a3, 0x7ffff7a3 + 60 },
	{ UINT64_C(0xffffffd0), UINT64_C(0x10000002f) },
	{ UINT64_C(0x7fffffffeff0), UINT64_C(0x7ffffffff00f) },
	{ UINT64_MAX - 95, UINT64_MAX },
};

uint64_t script_random(struct script_random *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void script_range(struct script_random *r, unsigned max_len, uint64_t *addr, uint64_t *len)
{
	const struct script_arena *a = &script_arenas[script_below(r, SCRIPT_N_ARENAS)];
	uint64_t room;

	*addr = a->first + script_below(r, a->last - a->first + 1);
	room = a->last - *addr + 1;
	*len = 1 + script_below(r, max_len);
	if (*len > room)
		*len = room;
}

uint8_t script_file_byte(uint64_t off)
{
	return (uint8_t)(200 + off % 50);
}

/* ------------------------------------------------------------------------------------------ the recording */

struct script_reader {
	struct ts_reader base; /* first */
	struct script *s;
	uint64_t step;
};

/* Copy one effect of the script, with what belongs to it, to another batch. */
static void copy_effect(struct ts_steps *out, const struct ts_steps *from, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(from, e);
	struct ts_effect *copy = NULL;

	if (e->kind == TS_FX_MAP) {
		const struct ts_map *m = &from->maps[e->item];
		const char *desc = ts_steps_text(from, m->desc), *file = ts_steps_text(from, m->file);
		struct ts_map *to = ts_steps_map(out, m->addr, m->len, desc, desc ? strlen(desc) : 0, file,
						 file ? strlen(file) : 0);

		if (to) {
			to->file_off = m->file_off;
			to->prot = m->prot;
			to->fill = m->fill;
		}
	} else if (e->kind == TS_FX_EVENT) {
		struct ts_event *to = ts_steps_event(out, from->events[e->item].kind);

		if (to)
			*to = from->events[e->item];
	} else if (e->kind == TS_FX_LOAD) {
		const char *file = ts_steps_text(from, from->modules[e->item].file);

		ts_steps_load(out, e->addr, e->len, file, file ? strlen(file) : 0);
	} else if (value) {
		copy = ts_steps_value(out, e->kind, e->addr, value, (uint32_t)e->len);
	} else {
		copy = ts_steps_effect(out, e->kind, e->addr, e->len);
	}
	if (copy) {
		if (!value)
			copy->item = e->item;
		copy->is_hidden = e->is_hidden;
	}
}

static bool learn_threads(struct script *s, uint32_t n)
{
	while (s->rec.n_threads < n) {
		uint32_t i = s->rec.n_threads;

		if (ts_recording_thread(&s->rec, s->process_of[i], 100 + s->process_of[i], 1000 + i) ==
		    TS_NO_THREAD)
			return false;
	}
	return true;
}

/* Warn if the step is odd, and no reader looked at it before. */
static void look_at(struct script *s, uint64_t step)
{
	if (!s->odd_every || step % s->odd_every || step < s->odd_until)
		return;
	s->odd_until = step + 1;
	ts_recording_warn(&s->rec, "an odd step");
}

static enum ts_next next_step(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct script_reader *r = (struct script_reader *)base;
	struct script *s = r->s;
	const struct ts_step *st = &s->steps.steps[r->step];

	if (r->step == s->fail_at) {
		ts_steps_event(out, TS_EV_GAP); /* as far as it was read */
		ts_fail(err, TS_EIO, TS_NO_OFF, "the script's trace is gone");
		return TS_FAIL;
	}
	base->end = s->end;
	if (r->step == s->steps.n_steps && s->ending == TS_FAIL) {
		ts_steps_effect(out, TS_FX_WRITE, 0, 16);
		ts_fail(err, s->damage, r->step, "the script is damaged after %u steps", s->steps.n_steps);
		return TS_FAIL;
	}
	if (r->step == s->steps.n_steps)
		return TS_END;
	if (!learn_threads(s, st->thread + 1)) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a thread");
		return TS_FAIL;
	}
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];

		if (e->kind == TS_FX_THREAD && !learn_threads(s, e->item + 1)) {
			ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a thread");
			return TS_FAIL;
		}
		copy_effect(out, &s->steps, e);
	}
	ts_steps_close(out, st->pc, st->insn_len, st->thread);
	look_at(s, r->step++);
	s->n_reads++;
	return TS_ITEM;
}

static bool point(struct ts_reader *base, struct ts_point *p)
{
	struct script_reader *r = (struct script_reader *)base;

	if (!ts_point_fixed(p, &r->step, sizeof(r->step)) || r->step > r->s->steps.n_steps)
		return ts_point_fail(p);
	for (uint64_t i = 0; i < r->step % 5; i++) {
		uint8_t byte = (uint8_t)r->step;

		if (!ts_point_fixed(p, &byte, 1) || byte != (uint8_t)r->step)
			return ts_point_fail(p);
	}
	for (uint64_t i = r->step < 3 ? 0 : r->step - 3; i < r->step && !p->to; i++)
		look_at(r->s, i); /* as loaders that begin to read before the point */
	return ts_point_close(p);
}

/* It knows of threads, but not of what is odd. */
static bool skip(struct ts_reader *base, uint64_t n)
{
	struct script_reader *r = (struct script_reader *)base;
	struct script *s = r->s;

	if (n > s->steps.n_steps - r->step)
		return false;
	for (uint64_t i = r->step; i < r->step + n; i++) {
		if (s->steps.steps[i].thread >= s->rec.n_threads)
			return false;
	}
	r->step += n;
	if (s->lie_every && ++s->n_skips % s->lie_every == 0)
		r->step--;
	return true;
}

static void close_reader(struct ts_reader *base)
{
	free(base);
}

static struct ts_reader *open_reader(struct ts_recording *rec, struct ts_error *err)
{
	static const struct ts_reader_ops ops = {
		.next = next_step, .point = point, .skip = skip, .close = close_reader
	};
	struct script_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a reader");
		return NULL;
	}
	r->base.ops = &ops;
	r->s = (struct script *)rec;
	return &r->base;
}

static void close_recording(struct ts_recording *rec)
{
	struct script *s = (struct script *)rec;

	ts_recording_fini(rec);
	ts_steps_fini(&s->steps);
	free(s->bytes);
	free(s);
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void add_bytes(struct script *s, uint64_t addr, uint64_t len)
{
	for (uint64_t i = 0; i < len; i++) {
		bool has_room = ts_vec_reserve(&s->bytes, s->n_bytes, &s->cap_bytes, 1, sizeof(*s->bytes));

		assert(has_room);
		(void)has_room;
		s->bytes[s->n_bytes++] = addr + i;
	}
}

static void sort_bytes(struct script *s)
{
	size_t n = 0;

	if (s->n_bytes)
		qsort(s->bytes, s->n_bytes, sizeof(*s->bytes), compare_addresses);
	for (size_t i = 0; i < s->n_bytes; i++) {
		if (!n || s->bytes[n - 1] != s->bytes[i])
			s->bytes[n++] = s->bytes[i];
	}
	s->n_bytes = n;
}

struct script *script_new(const char *arch, uint32_t n_threads, const uint32_t *process_of)
{
	static const struct ts_recording_ops ops = { .reader = open_reader, .close = close_recording };
	struct script *s = calloc(1, sizeof(*s));
	struct ts_error err;

	if (!s)
		return NULL;
	ts_error_reset(&err);
	ts_recording_init(&s->rec, &ops, "script");
	ts_steps_init(&s->steps);
	s->ending = TS_END;
	s->fail_at = UINT64_MAX;
	s->n_threads = n_threads;
	for (uint32_t i = 0; process_of && i < n_threads; i++)
		s->process_of[i] = process_of[i];
	for (unsigned i = 0; i < SCRIPT_N_ARENAS; i++)
		add_bytes(s, script_arenas[i].first, script_arenas[i].last - script_arenas[i].first + 1);
	sort_bytes(s);
	if (ts_regset_init(&s->rec.regs, ts_arch_find(arch), 0, &err) && learn_threads(s, n_threads))
		return s;
	script_free(s);
	return NULL;
}

void script_step(struct script *s, uint32_t thread)
{
	ts_steps_close(&s->steps, 16 * (uint64_t)s->steps.n_steps, 16, thread);
}

void script_steps(struct script *s, unsigned n)
{
	while (n--)
		script_step(s, 0);
}

struct ts_query *script_query(struct script *s, struct ts_timeline **tl, struct ts_error *err)
{
	*tl = ts_timeline_new(&s->rec, NULL, err);
	if (!*tl || ts_timeline_grow(*tl, UINT64_MAX, err) != TS_END)
		return NULL;
	return ts_query_new(*tl, err);
}

void script_free(struct script *s)
{
	if (s)
		ts_recording_close(&s->rec);
}

/* ----------------------------------------------------------------------------------- a loader's recording */

static void close_copy(struct ts_recording *rec)
{
	struct script *s = (struct script *)rec;

	ts_steps_fini(&s->steps);
	free(rec->threads);
	free(s->bytes);
	free(s);
}

static void add_touched(struct script *s, const struct ts_steps *b)
{
	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];

		if (e->kind == TS_FX_READ || e->kind == TS_FX_WRITE) { /* and what a text there may end with */
			uint64_t before = e->addr < 2 ? e->addr : 2, left = UINT64_MAX - (e->addr + (e->len - 1));

			add_bytes(s, e->addr - before, before + e->len + (left < 2 ? left : 2));
		}
		if (e->kind >= TS_FX_MAP && e->kind <= TS_FX_PROTECT) { /* where it ends, and what lies beside it */
			add_bytes(s, e->addr - (e->addr > 0), 1 + (e->addr > 0));
			add_bytes(s, e->addr + (e->len - 1), 1 + (e->addr + e->len > 0));
		}
	}
	sort_bytes(s);
}

struct script *script_read(struct ts_recording *rec)
{
	static const struct ts_recording_ops ops = { .reader = open_reader, .close = close_copy };
	struct script *s = calloc(1, sizeof(*s));
	struct ts_steps settled;
	struct ts_error err;
	struct ts_reader *r;

	assert(s);
	ts_error_reset(&err);
	ts_steps_init(&s->steps);
	r = rec->ops->reader(rec, &err);
	assert(r);
	while (ts_reader_next(r, &s->steps, &err) == TS_ITEM)
		;
	s->end = r->end;
	ts_reader_close(r);
	if (s->end.is_absent) { /* the recording ends before the last step */
		s->end.pc = s->steps.steps[--s->steps.n_steps].pc;
		s->end.has_pc = true;
	}
	s->rec = *rec;
	s->rec.ops = &ops;
	s->rec.threads = malloc(rec->n_threads * sizeof(*rec->threads)); /* the recording's own may move */
	assert(s->rec.threads);
	memcpy(s->rec.threads, rec->threads, rec->n_threads * sizeof(*rec->threads));
	assert(rec->n_threads <= SCRIPT_MAX_THREADS && s->steps.n_steps);
	s->n_threads = rec->n_threads;
	for (uint32_t i = 0; i < rec->n_threads; i++)
		s->process_of[i] = rec->threads[i].process;
	add_touched(s, &rec->initial);
	add_touched(s, &s->steps);
	while (s->bytes[s->n_bytes - 1] > ts_arch_addr_mask(rec->regs.arch)) /* beside the last byte */
		s->n_bytes--;
	ts_steps_init(&settled);
	settle(s, &settled);
	ts_steps_fini(&s->steps);
	s->steps = settled;
	return s;
}

void script_bytes(const struct script *s, struct script_random *r, unsigned max_len, uint64_t *addr,
		  uint64_t *len)
{
	size_t first = (size_t)script_below(r, s->n_bytes), n = 1,
	       wanted = 1 + (size_t)script_below(r, max_len);

	while (n < wanted && first + n < s->n_bytes && s->bytes[first + n] == s->bytes[first] + n)
		n++;
	*addr = s->bytes[first];
	*len = n;
}

/* ----------------------------------------------------------------------------------------- random effects */

#define N_ARENA_BYTES 128 /* at the most */
#define N_BLOCKS 5
#define MAX_BLOCK_INSNS 300

struct now_byte {
	uint8_t value;
	bool is_known;
};

/* Straight code; threads run through it and jump about. */
struct block {
	uint64_t pc[MAX_BLOCK_INSNS];
	uint16_t len[MAX_BLOCK_INSNS];
	unsigned n;
};

struct maker {
	struct script *s;
	struct ts_steps *out; /* where effects go: the initial ones or the steps */
	struct script_random rnd;
	struct block blocks[N_BLOCKS];
	unsigned block_of[SCRIPT_MAX_THREADS], insn_of[SCRIPT_MAX_THREADS];
	struct now_byte mem[SCRIPT_MAX_PROCESSES][SCRIPT_N_ARENAS][N_ARENA_BYTES];
	struct now_byte regs[SCRIPT_MAX_THREADS][1024];
	uint32_t thread; /* whose effects are made */
	/* the recording's temper, in percent */
	unsigned switches, jumps, busy, fills, unknowns, lies, n_values, unseen;
};

static struct now_byte *now_at(struct maker *m, uint64_t addr)
{
	unsigned a = 0;

	while (addr < script_arenas[a].first || addr > script_arenas[a].last)
		a++;
	return &m->mem[m->s->process_of[m->thread]][a][addr - script_arenas[a].first];
}

static void forget_range(struct maker *m, uint64_t addr, uint64_t len, bool is_zero)
{
	for (unsigned a = 0; a < SCRIPT_N_ARENAS; a++) {
		for (uint64_t i = script_arenas[a].first;; i++) {
			if (i >= addr && i - addr < len)
				*now_at(m, i) = (struct now_byte){ 0, is_zero };
			if (i == script_arenas[a].last)
				break;
		}
	}
}

static uint8_t random_value(struct maker *m)
{
	return (uint8_t)script_below(&m->rnd, m->n_values);
}

/* A value for a read of @now: what is there, in a few cases something else. */
static void see_value(struct maker *m, struct now_byte *now, uint8_t *value)
{
	if (!now->is_known || script_chance(&m->rnd, m->lies))
		now->value = random_value(m);
	now->is_known = true;
	*value = now->value;
}

static void write_value(struct maker *m, struct now_byte *now, uint8_t *value)
{
	*value = now->value = random_value(m);
	now->is_known = true;
}

static void make_reg(struct maker *m)
{
	uint64_t g_len = m->s->rec.regs.g_len, off = script_below(&m->rnd, g_len);
	uint64_t len = 1 + script_below(&m->rnd, g_len - off < 16 ? g_len - off : 16);
	bool is_write = m->out == &m->s->rec.initial || script_chance(&m->rnd, 60);
	enum ts_effect_kind kind = is_write ? TS_FX_REG_WRITE : TS_FX_REG_READ;
	uint8_t value[16];

	if (script_chance(&m->rnd, m->unknowns)) {
		ts_steps_effect(m->out, kind, off, len);
		for (uint64_t i = 0; is_write && i < len; i++)
			m->regs[m->thread][off + i].is_known = false;
		return;
	}
	for (uint64_t i = 0; i < len; i++)
		(is_write ? write_value : see_value)(m, &m->regs[m->thread][off + i], &value[i]);
	ts_steps_value(m->out, kind, off, value, (uint32_t)len);
}

static void make_access(struct maker *m)
{
	bool is_write = m->out == &m->s->rec.initial || script_chance(&m->rnd, 50);
	enum ts_effect_kind kind = is_write ? TS_FX_WRITE : TS_FX_READ;
	struct ts_effect *e;
	uint64_t addr, len;
	uint8_t value[40];

	script_range(&m->rnd, script_chance(&m->rnd, 80) ? 8 : 40, &addr, &len);
	if (script_chance(&m->rnd, m->unknowns)) {
		e = ts_steps_effect(m->out, kind, addr, len);
		if (is_write)
			forget_range(m, addr, len, false);
	} else {
		for (uint64_t i = 0; i < len; i++)
			(is_write ? write_value : see_value)(m, now_at(m, addr + i), &value[i]);
		e = ts_steps_value(m->out, kind, addr, value, (uint32_t)len);
	}
	e->is_hidden = script_chance(&m->rnd, 10);
}

/* A range for a map: within an arena, of whole pages, or nearly everything. */
static void make_region(struct maker *m, uint64_t *addr, uint64_t *len)
{
	unsigned how = (unsigned)script_below(&m->rnd, 10);

	script_range(&m->rnd, 60, addr, len);
	if (how < 3) {
		*addr &= ~UINT64_C(4095);
		*len = *addr > UINT64_MAX - 0xffff ? UINT64_MAX - *addr + 1 : 4096 * (1 + script_below(&m->rnd, 5));
	} else if (how == 3) {
		*len = UINT64_MAX - *addr + (*addr > 0);
	} else if (how == 4) {
		*addr = 0;
		*len = UINT64_MAX;
	}
}

static void make_map(struct maker *m)
{
	static const char *const descs[] = { NULL, "stack", "a program" };
	static const char *const files[] = { NULL, "/" SCRIPT_FILE, "/" SCRIPT_FILE, "/nowhere/else.so" };
	const char *desc = descs[script_below(&m->rnd, 3)], *file = files[script_below(&m->rnd, 4)];
	uint64_t addr, len;
	struct ts_map *map;

	make_region(m, &addr, &len);
	map = ts_steps_map(m->out, addr, len, desc, desc ? strlen(desc) : 0, file, file ? strlen(file) : 0);
	map->file_off = script_below(&m->rnd, 2) * script_below(&m->rnd, SCRIPT_FILE_LEN + 20);
	map->prot = (uint32_t)script_below(&m->rnd, 8);
	map->fill = script_chance(&m->rnd, 40) ? TS_FILL_ZERO : TS_FILL_UNKNOWN;
	forget_range(m, addr, len, map->fill == TS_FILL_ZERO);
}

static void make_unknown_regs(struct maker *m)
{
	ts_steps_effect(m->out, TS_FX_FORGET_REGS, 0, m->s->rec.regs.g_len);
	for (uint32_t i = 0; i < SCRIPT_MAX_THREADS; i++) {
		for (uint32_t off = 0; off < m->s->rec.regs.g_len; off++)
			m->regs[i][off].is_known = false;
	}
}

static void make_fill(struct maker *m)
{
	static const enum ts_effect_kind kinds[] = { TS_FX_UNMAP, TS_FX_PROTECT, TS_FX_FORGET };
	enum ts_effect_kind kind = kinds[script_below(&m->rnd, 3)];
	uint64_t addr, len;

	if (script_chance(&m->rnd, 40)) {
		make_map(m);
		return;
	}
	if (script_chance(&m->rnd, 10)) {
		make_unknown_regs(m);
		return;
	}
	make_region(m, &addr, &len);
	ts_steps_effect(m->out, kind, addr, len)->item = (uint32_t)script_below(&m->rnd, 8);
	if (kind != TS_FX_PROTECT)
		forget_range(m, addr, len, false);
}

static void make_module(struct maker *m)
{
	static const char *const files[] = { "/bin/program", "/lib/a.so", "/lib/b.so" };
	const char *file = files[script_below(&m->rnd, 3)];
	uint64_t addr, len;

	script_range(&m->rnd, 60, &addr, &len);
	if (script_chance(&m->rnd, 70))
		ts_steps_load(m->out, addr, len, file, strlen(file));
	else
		ts_steps_effect(m->out, TS_FX_UNLOAD, addr, len);
}

static void make_event(struct maker *m)
{
	enum ts_event_kind kind =
		script_chance(&m->rnd, 70) ? TS_EV_SYSCALL : script_below(&m->rnd, TS_N_EVENT_KINDS);
	struct ts_event *ev = ts_steps_event(m->out, kind);

	ev->number = script_below(&m->rnd, 4);
	ev->has_ret = script_chance(&m->rnd, 60);
	ev->ret = script_random(&m->rnd);
	ev->n_args = (uint8_t)script_below(&m->rnd, TS_MAX_SYSCALL_ARGS + 1);
	for (unsigned i = 0; i < ev->n_args; i++)
		ev->args[i] = script_random(&m->rnd);
}

static void make_effect(struct maker *m)
{
	unsigned what = (unsigned)script_below(&m->rnd, 100);

	if (what < m->fills)
		make_fill(m);
	else if (what < 30)
		make_reg(m);
	else if (what < 94)
		make_access(m);
	else if (what < 95)
		make_module(m);
	else if (what < 97 && m->out == &m->s->steps)
		make_event(m);
	else if (m->out == &m->s->steps || m->s->rec.n_threads == m->s->n_threads)
		ts_steps_effect(m->out, TS_FX_THREAD, 0, 0)->item = m->thread =
			(uint32_t)script_below(&m->rnd, m->s->n_threads);
}

static void make_block(struct maker *m, struct block *b, uint64_t start)
{
	b->n = script_chance(&m->rnd, 30) ? MAX_BLOCK_INSNS : 1 + (unsigned)script_below(&m->rnd, 20);
	for (unsigned i = 0; i < b->n; i++) {
		b->pc[i] = start;
		b->len[i] = (uint16_t)(1 + script_below(&m->rnd, 15));
		if (script_chance(&m->rnd, 5))
			b->len[i] = script_chance(&m->rnd, 70) ? 0 : 255 + (uint16_t)script_below(&m->rnd, 3);
		start += b->len[i];
	}
}

static void make_code(struct maker *m)
{
	uint64_t starts[N_BLOCKS] = { 0, 0x400000, 0x400003, 0, UINT64_MAX - 30 };

	starts[3] = starts[1] + 300 + script_below(&m->rnd, 300);
	for (unsigned i = 0; i < N_BLOCKS; i++)
		make_block(m, &m->blocks[i], starts[i]);
}

bool script_has_no_unseen;

static void make_step(struct maker *m, uint32_t thread)
{
	struct block *b;
	unsigned i;

	if (script_chance(&m->rnd, m->jumps) || m->insn_of[thread] >= m->blocks[m->block_of[thread]].n) {
		m->block_of[thread] = (unsigned)script_below(&m->rnd, N_BLOCKS);
		m->insn_of[thread] =
			script_chance(&m->rnd, 70)
				? 0
				: (unsigned)script_below(&m->rnd, m->blocks[m->block_of[thread]].n);
	}
	b = &m->blocks[m->block_of[thread]];
	i = m->insn_of[thread]++;
	m->thread = thread;
	while (script_chance(&m->rnd, m->busy))
		make_effect(m);
	if (!script_has_no_unseen && script_chance(&m->rnd, m->unseen))
		ts_steps_effect(m->out, TS_FX_UNSEEN, 0, 0);
	ts_steps_close(&m->s->steps, b->pc[i], b->len[i], thread);
}

static unsigned one_of(struct maker *m, unsigned a, unsigned b, unsigned c)
{
	unsigned which = (unsigned)script_below(&m->rnd, 3);

	return which == 0 ? a : which == 1 ? b : c;
}

static void choose_temper(struct maker *m)
{
	m->switches = one_of(m, 0, 3, 40);
	m->jumps = one_of(m, 1, 10, 50);
	m->busy = one_of(m, 20, 50, 75);
	m->fills = one_of(m, 0, 1, 12);
	m->unknowns = one_of(m, 0, 4, 30);
	m->lies = one_of(m, 0, 0, 2);
	m->n_values = one_of(m, 2, 4, 256);
	m->unseen = script_has_no_unseen ? 0 : one_of(m, 0, 1, 5);
}

static void make_initial(struct maker *m)
{
	m->out = &m->s->rec.initial;
	m->thread = 0;
	for (uint64_t n = script_below(&m->rnd, 40); n; n--)
		make_effect(m);
	m->out = &m->s->steps;
}

uint8_t script_memory_byte(uint64_t off)
{
	return (uint8_t)(off * 5 % 4); /* as other values are */
}

static void lay_memory(struct script *s)
{
	static uint8_t bytes[SCRIPT_MEMORY_LEN];
	struct ts_error err = { 0 };
	uint32_t source;

	for (unsigned i = 0; i < SCRIPT_MEMORY_LEN; i++)
		bytes[i] = script_memory_byte(i);
	source = ts_image_add_source(&s->rec.memory,
				     ts_source_from_memory(bytes, sizeof(bytes), "trace", &err));
	if (!ts_image_add(&s->rec.memory, 0, SCRIPT_MEMORY_ADDR, SCRIPT_MEMORY_LEN, source, 0, &err))
		assert(false);
}

struct script *script_random_new(uint64_t seed, uint64_t n_steps)
{
	static const char *const archs[] = { "x86_64", "i386", "m68k" };
	struct maker *m = calloc(1, sizeof(*m));
	uint32_t process_of[SCRIPT_MAX_THREADS], n_threads, thread;
	struct script *s;

	assert(m);
	m->rnd.state = seed;
	choose_temper(m);
	n_threads = 1 + (uint32_t)script_below(&m->rnd, SCRIPT_MAX_THREADS);
	for (uint32_t i = 0; i < SCRIPT_MAX_THREADS; i++)
		process_of[i] =
			(uint32_t)script_below(&m->rnd, 1 + script_below(&m->rnd, SCRIPT_MAX_PROCESSES));
	m->s = s = script_new(archs[script_below(&m->rnd, 3)], n_threads, process_of);
	assert(s && s->rec.regs.g_len <= sizeof(m->regs[0]) / sizeof(m->regs[0][0]));
	if (script_chance(&m->rnd, 30))
		s->rec.n_threads = 1; /* the others appear while it is read */
	make_initial(m);
	make_code(m);
	thread = (uint32_t)script_below(&m->rnd, n_threads);
	for (uint64_t i = 0; i < n_steps; i++) {
		if (script_chance(&m->rnd, m->switches))
			thread = (uint32_t)script_below(&m->rnd, n_threads);
		make_step(m, thread);
	}
	s->end = (struct ts_end){ .pc = m->blocks[0].pc[0],
				  .has_pc = script_chance(&m->rnd, 50),
				  .is_assumed = script_chance(&m->rnd, 50) };
	if (script_chance(&m->rnd, 40))
		lay_memory(s);
	assert(!s->steps.is_failed && !s->rec.initial.is_failed);
	free(m);
	return s;
}
