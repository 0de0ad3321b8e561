/* SPDX-License-Identifier: MIT */
#include "settle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum what {
	NOTHING, /* nothing is known since the byte started afresh */
	KNOWN,
	LOST,    /* something unknown was written: what is seen later tells only of the time since then */
};

/* A byte in the walk over the steps. */
struct byte {
	enum what what;
	bool is_constant;   /* it lies in a region that cannot be written, */
	uint32_t since;     /* since before this step, 0: from the start on */
	uint32_t afresh;    /* the number of steps done when it started afresh */
};

/* A byte that is to be written at the end of a step. */
struct late {
	uint32_t step, process;
	size_t order; /* in which they are seen */
	uint64_t addr;
	uint32_t afresh; /* of the byte */
	uint8_t value;
};

struct walk {
	const struct script *s;
	struct byte *bytes; /* owned; by process, then byte of the script */
	struct late *items; /* owned */
	size_t n, cap;
	uint32_t step;      /* the number of steps that are done */
	uint32_t gap;       /* the number of steps done when memory may have changed last, 0: never */
	uint64_t pc;
};

static struct byte *find_byte(struct walk *w, uint32_t process, uint64_t addr)
{
	for (size_t lo = 0, hi = w->s->n_bytes; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->s->bytes[mid] == addr)
			return &w->bytes[process * w->s->n_bytes + mid];
		if (w->s->bytes[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static void add_late(struct walk *w, const struct byte *b, uint32_t process, uint64_t addr, uint8_t value)
{
	if (w->n == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 64;
		w->items = realloc(w->items, w->cap * sizeof(*w->items));
		assert(w->items);
	}
	w->items[w->n] = (struct late){ w->gap - 1, process, w->n, addr, b->afresh, value };
	w->n++;
}

/* Nothing was known of the byte, and it is seen. */
static void settle_byte(struct walk *w, const struct byte *b, bool is_code, uint32_t process, uint64_t addr,
			uint8_t value)
{
	bool is_constant = b->is_constant && b->since <= b->afresh;

	if (w->gap > b->afresh && !is_code && !is_constant)
		add_late(w, b, process, addr, value);
}

static void take_access(struct walk *w, const struct ts_effect *e, const uint8_t *value, bool is_initial,
			uint32_t process)
{
	bool is_code = e->is_hidden && (e->addr == w->pc || e->is_code) && !is_initial;

	for (uint64_t i = 0; i < e->len; i++) {
		struct byte *b = find_byte(w, process, e->addr + i);

		if (e->kind == TS_FX_READ && !value)
			continue;
		if (e->kind == TS_FX_READ && b->what == NOTHING)
			settle_byte(w, b, is_code, process, e->addr + i, value[i]);
		if (!value)
			b->afresh = w->step;
		b->what = value ? KNOWN : is_initial ? NOTHING : LOST;
	}
}

/* A map, unmap, protection or forgetting, as one byte sees it when the step is over. */
static void take_range(struct walk *w, const struct ts_steps *s, const struct ts_effect *e, bool is_initial,
		       struct byte *b)
{
	const struct ts_map *m = e->kind == TS_FX_MAP ? &s->maps[e->item] : NULL;
	uint32_t now = is_initial ? 0 : w->step + 1;

	if (e->kind != TS_FX_PROTECT) {
		b->what = m && m->fill == TS_FILL_ZERO ? KNOWN : NOTHING;
		b->afresh = now;
	}
	if (e->kind == TS_FX_UNMAP)
		b->is_constant = false;
	if (m || (e->kind == TS_FX_PROTECT && b->since != UINT32_MAX)) {
		b->is_constant = !((m ? m->prot : e->item) & TS_PROT_WRITE);
		b->since = now;
	}
	if (e->kind == TS_FX_UNMAP)
		b->since = UINT32_MAX; /* not mapped */
}

static void take(struct walk *w, const struct ts_steps *s, const struct ts_effect *e, bool is_initial,
		 uint32_t process)
{
	if (e->kind == TS_FX_READ || e->kind == TS_FX_WRITE)
		take_access(w, e, ts_effect_data(s, e), is_initial, process);
	if (e->kind < TS_FX_MAP || e->kind > TS_FX_FORGET)
		return;
	for (size_t i = 0; i < w->s->n_bytes; i++) {
		uint64_t addr = w->s->bytes[i];

		if (addr >= e->addr && addr - e->addr < e->len)
			take_range(w, s, e, is_initial, &w->bytes[process * w->s->n_bytes + i]);
	}
}

/* Effects [first, first + n) of a batch, which begin as those of @thread.  Were there unseen changes? */
static bool take_all(struct walk *w, const struct ts_steps *s, uint32_t first, uint32_t n, uint32_t thread,
		     bool is_initial)
{
	bool is_unseen = false;

	for (uint32_t i = first; i < first + n; i++) {
		is_unseen |= s->effects[i].kind == TS_FX_UNSEEN;
		if (s->effects[i].kind == TS_FX_THREAD)
			thread = s->effects[i].item;
		take(w, s, &s->effects[i], is_initial, w->s->process_of[thread]);
	}
	return is_unseen;
}

/* What is left in the trace is known from the start on, where nothing else is said of it. */
static void take_memory(struct walk *w)
{
	const struct ts_image *img = &w->s->rec.memory;

	for (size_t i = 0; img->n_ranges && i < SCRIPT_MAX_PROCESSES * w->s->n_bytes; i++) {
		uint8_t data, known = 0;

		ts_image_fill(img, 0, w->s->bytes[i % w->s->n_bytes], 1, &data, &known);
		if (known && w->bytes[i].what == NOTHING && !w->bytes[i].afresh)
			w->bytes[i].what = KNOWN;
	}
}

static int compare(const void *a, const void *b)
{
	const struct late *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The thread whose effects would follow in the open step, which began as one of @thread. */
static uint32_t last_thread(const struct ts_steps *out, uint32_t thread)
{
	for (uint32_t i = out->n_closed; i < out->n_effects; i++) {
		if (out->effects[i].kind == TS_FX_THREAD)
			thread = out->effects[i].item;
	}
	return thread;
}

/* Neighbours of one page that are seen together are written together. */
static bool continues(const struct late *x, const struct late *y)
{
	return x->step == y->step && x->process == y->process && x->addr + 1 == y->addr &&
	       y->addr % 4096 && x->afresh == y->afresh;
}

/* The bytes of a step that is over. */
static void write_late(const struct walk *w, size_t *at, uint32_t step, uint32_t thread, struct ts_steps *out)
{
	uint32_t process = w->s->process_of[last_thread(out, thread)];

	for (; *at < w->n && w->items[*at].step == step; ++*at) {
		const struct late *x = &w->items[*at];
		struct ts_effect *e;

		for (uint32_t i = 0; process != x->process; i++) {
			if (w->s->process_of[i] != x->process)
				continue;
			ts_steps_effect(out, TS_FX_THREAD, 0, 0)->item = i;
			process = x->process;
		}
		if (*at && out->n_effects > out->n_closed && continues(x - 1, x)) {
			ts_steps_grow_data(out, 1);
			out->effects[out->n_effects - 1].len++;
			out->data[out->n_data++] = x->value;
			continue;
		}
		e = ts_steps_value(out, TS_FX_WRITE, x->addr, &x->value, 1);
		e->is_hidden = e->is_inferred = true;
	}
}

static void rebuild(const struct walk *w, struct ts_steps *out)
{
	const struct ts_steps *b = &w->s->steps;
	size_t at = 0;

	ts_steps_copy(out, b);
	out->n_steps = out->n_effects = out->n_closed = 0;
	for (uint32_t i = 0; i < b->n_steps; i++) {
		for (uint32_t k = 0; k < b->steps[i].n_effects; k++) {
			const struct ts_effect *e = &b->effects[b->steps[i].first + k];

			*ts_steps_effect(out, e->kind, e->addr, e->len) = *e;
		}
		write_late(w, &at, i, b->steps[i].thread, out);
		ts_steps_close(out, b->steps[i].pc, b->steps[i].insn_len, b->steps[i].thread);
	}
	assert(!out->is_failed && at == w->n);
}

uint64_t settle(const struct script *s, struct ts_steps *out)
{
	struct walk w = { .s = s, .pc = TS_NO_PC };
	uint64_t n;

	w.bytes = calloc(SCRIPT_MAX_PROCESSES * s->n_bytes, sizeof(*w.bytes));
	assert(w.bytes);
	for (size_t i = 0; i < SCRIPT_MAX_PROCESSES * s->n_bytes; i++)
		w.bytes[i].since = UINT32_MAX;
	take_all(&w, &s->rec.initial, 0, s->rec.initial.n_effects, 0, true);
	take_memory(&w);
	for (; w.step < s->steps.n_steps; w.step++) {
		const struct ts_step *st = &s->steps.steps[w.step];

		w.pc = st->pc;
		if (take_all(&w, &s->steps, st->first, st->n_effects, st->thread, false))
			w.gap = w.step + 1;
	}
	n = w.n;
	if (w.n)
		qsort(w.items, w.n, sizeof(*w.items), compare);
	rebuild(&w, out);
	free(w.items);
	free(w.bytes);
	return n;
}
