/* SPDX-License-Identifier: MIT */
/*
 * What a step touches: places where the value appears or disappears.
 */
#include "find_parts.h"

#include <string.h>

#include "src/query/search/scan.h"
#include "src/ask/grammar/question.h"

/* Addresses around an access that are examined together. */
#define WINDOW 128u

/* A part of WHAT an effect touched, and its value. */
struct touch {
	uint64_t first, last;
	const uint8_t *value; /* NULL: unknown */
};

/* Memory at @pos at a few addresses. */
struct window {
	uint64_t addr;
	size_t len; /* 0: it has not been read */
	uint8_t data[WINDOW + TS_MAX_VALUE], known[WINDOW + TS_MAX_VALUE];
};

/* Does the read show something else than the window has? */
static bool contradicts(const struct window *w, const struct ts_effect *e, const uint8_t *value, uint64_t addr,
			size_t len)
{
	for (uint32_t i = 0; i < e->len; i++) {
		uint64_t at = e->addr + i - addr;

		if (at < len && (!w->known[at] || w->data[at] != value[i]))
			return true;
	}
	return false;
}

/*
 * Has memory changed after the step before @pos, so that the reads of step @pos show something else?  It is so
 * at @pos already.
 */
static bool is_outdated(struct ts_find *f, const struct window *w, uint64_t addr, size_t len, uint64_t pos,
			bool *outdated, struct ts_error *err)
{
	struct ts_step_effects all;
	const struct ts_steps *batch;
	const struct ts_effect *e;
	const struct ts_step *s;

	*outdated = false;
	if (pos >= ts_query_end(f->rows.ask->q))
		return true;
	s = ts_query_step_whole(f->rows.ask->q, pos, &batch, err);
	if (!s)
		return false;
	all = ts_step_effects(batch, s);
	while (!*outdated && (e = ts_step_effects_next(&all))) {
		const uint8_t *value = ts_effect_data(batch, e);

		if (e->kind == TS_FX_READ && value && ts_query_process(f->rows.ask->q, all.thread) == f->process)
			*outdated = contradicts(w, e, value, addr, len);
	}
	return true;
}

/* Read the window from the mirror.  *done is false if the mirror does not have it; *w is unchanged then. */
static bool copy_window(struct ts_find *f, struct window *w, uint64_t addr, size_t len, uint64_t pos,
			bool *done, struct ts_error *err)
{
	const struct ts_steps *batch;
	bool outdated;

	*done = false;
	if (!ts_query_step_whole(f->rows.ask->q, pos - 1, &batch, err))
		return false;
	for (size_t i = 0, n; i < len; i += n) {
		struct ts_mirror_line *line = ts_mirror_find(&f->sieve.mirror, addr + i);
		size_t at = (addr + i) % TS_MIRROR_LINE;

		if (!line && !ts_sieve_line(&f->sieve, batch, pos - 1, addr + i, &line, err))
			return false;
		if (!line)
			return true;
		n = TS_MIRROR_LINE - at < len - i ? TS_MIRROR_LINE - at : len - i;
		memcpy(w->data + i, line->data + at, n);
		memcpy(w->known + i, line->known + at, n);
	}
	if (!is_outdated(f, w, addr, len, pos, &outdated, err))
		return false;
	*done = !outdated;
	return true;
}

/*
 * Read the bytes of values that begin in [@addr, @last], at most a window's length.  If the sieve followed the last step, the
 * mirror has them.
 */
static bool read_window(struct ts_find *f, struct window *w, uint64_t addr, uint64_t last, uint64_t pos,
			struct ts_error *err)
{
	size_t len = last - addr < WINDOW ? (size_t)(last - addr) + 1 : WINDOW;
	bool done = false;

	len += f->rows.qn->value.len - 1;
	if (f->is_plain && !copy_window(f, w, addr, len, pos, &done, err))
		return false;
	f->n_looks += !done;
	w->addr = addr;
	w->len = len;
	return done || ts_query_mem(f->rows.ask->q, pos, f->process, addr, len, w->data, w->known, err);
}

/* Record the matches that begin or end at @pos because of the touch. */
static bool look_at_touch(struct ts_find *f, const struct touch *t, uint64_t pos, struct ts_error *err)
{
	uint64_t before = f->rows.qn->value.len - 1;
	uint64_t first = t->first - f->first < before ? f->first : t->first - before;
	uint64_t last = f->last - t->last < before ? f->last - before : t->last;
	struct window w;

	w.len = 0;
	if (f->last - f->first < before || first > last)
		return true;
	for (uint64_t a = first;; a++) {
		bool is_new = t->value && ts_value_agrees(&f->rows.qn->value, a, t->value, t->first, t->last),
		     stands = ts_matches_stands(&f->matches, a);

		if (!t->value || is_new != stands) {
			if ((!w.len || a - w.addr > w.len - f->rows.qn->value.len) &&
			    !read_window(f, &w, a, last, pos, err))
				return false;
			stands = ts_value_is(&f->rows.qn->value, w.data + (a - w.addr), w.known + (a - w.addr));
			if (!ts_find_note(f, a, pos, stands, err))
				return false;
		}
		if (a == last)
			return true;
	}
}

/* What the effect of the step that begins or ends at @pos shows there. */
static bool look_at_effect(struct ts_find *f, const struct ts_steps *batch, const struct ts_effect *e,
			   uint64_t pos, struct ts_error *err)
{
	uint64_t e_last = e->addr + (e->len - 1);
	const uint8_t *value = ts_effect_data(batch, e);
	struct touch t;
	bool is_bare;

	if (!ts_effect_is_on_memory(e) || (e->kind == TS_FX_READ && !value))
		return true;
	t.first = e->addr > f->first ? e->addr : f->first;
	t.last = e_last < f->last ? e_last : f->last;
	if (t.first > t.last)
		return true;
	t.value = value ? value + (t.first - e->addr) : NULL;
	if (e->kind == TS_FX_READ || e->kind == TS_FX_WRITE)
		return look_at_touch(f, &t, pos, err);
	if (!f->rows.qn->value.mask[f->rare])
		is_bare = false;
	else if (e->kind == TS_FX_MAP && batch->maps[e->item].fill == TS_FILL_ZERO)
		is_bare = f->rows.qn->value.bytes[f->rare];
	else
		is_bare = ts_query_is_blank(f->rows.ask->q, f->process, t.first, t.last, pos);
	return ts_find_add_range(f, t.first, t.last, is_bare, err);
}

/*
 * Reads show the contents before the step; then the effects are applied.  Of a plain step only writes
 * matter.
 */
bool ts_find_look_at_step(struct ts_find *f, uint64_t pos, struct ts_error *err)
{
	for (unsigned pass = f->is_plain; pass < 2; pass++) {
		const struct ts_steps *batch;
		const struct ts_step *s = ts_query_step_whole(f->rows.ask->q, pos, &batch, err);
		struct ts_step_effects all;
		const struct ts_effect *e;

		if (!s)
			return false;
		all = ts_step_effects(batch, s);
		while ((e = ts_step_effects_next(&all))) {
			if ((f->is_plain ? e->kind == TS_FX_WRITE : pass || e->kind == TS_FX_READ) &&
			    ts_query_process(f->rows.ask->q, all.thread) == f->process &&
			    !look_at_effect(f, batch, e, pos + pass, err))
				return false;
		}
	}
	return true;
}

/* The mirror may not have followed what the effect did. */
static void forget(struct ts_find *f, const struct ts_effect *e)
{
	ts_mirror_forget(&f->sieve.mirror, e->addr, e->addr + (e->len - 1));
	f->is_plain = false;
}

/* May the access end a match that it seems to overlap?  A read of what was there anyway does not. */
static bool may_end(struct ts_find *f, const struct ts_steps *batch, uint64_t pos, uint32_t i, bool *may,
		    struct ts_error *err)
{
	const struct ts_effect *e = &batch->effects[batch->steps[pos % TS_CHUNK_STEPS].first + i];
	bool is_same = false;

	if (e->kind == TS_FX_READ && !ts_sieve_is_same(&f->sieve, batch, pos, i, &is_same, err))
		return false;
	if (e->kind == TS_FX_READ && !is_same)
		forget(f, e);
	*may |= !is_same;
	return true;
}

/* May the access begin or end a match? */
static bool may_matter(struct ts_find *f, const struct ts_steps *batch, uint64_t pos, uint32_t i, bool *may,
		       struct ts_error *err)
{
	const struct ts_effect *e = &batch->effects[batch->steps[pos % TS_CHUNK_STEPS].first + i];
	uint64_t last = e->addr + (e->len - 1);
	enum ts_sieved sieved;

	if (last < f->first || e->addr > f->last || (e->kind == TS_FX_READ && e->data == TS_NO_DATA))
		return true;
	if ((e->kind != TS_FX_READ && e->kind != TS_FX_WRITE) || e->data == TS_NO_DATA) {
		forget(f, e);
		*may = true;
		return true;
	}
	if (!ts_sieve_take(&f->sieve, batch, pos, i, &sieved, err))
		return false;
	if (sieved == TS_SIEVED_OTHER && ts_matches_may_overlap(&f->matches, e->addr, last))
		return may_end(f, batch, pos, i, may, err);
	if (sieved == TS_SIEVED_DIFFERS && ts_matches_may_overlap(&f->matches, e->addr, last))
		sieved = TS_SIEVED_MAY_BEGIN;
	if (sieved == TS_SIEVED_MAY_BEGIN && e->kind == TS_FX_READ)
		forget(f, e);
	*may |= sieved == TS_SIEVED_MAY_BEGIN;
	return true;
}

bool ts_find_pass_step(struct ts_find *f, const struct ts_steps *batch, uint64_t pos, bool *may,
		       struct ts_error *err)
{
	const struct ts_step *s = &batch->steps[pos % TS_CHUNK_STEPS];
	struct ts_step_effects all = ts_step_effects(batch, s);
	const struct ts_effect *e;

	*may = false;
	f->is_plain = true;
	while ((e = ts_step_effects_next(&all))) {
		uint32_t i = (uint32_t)(e - batch->effects) - s->first;

		if (ts_effect_is_on_memory(e) && ts_query_process(f->rows.ask->q, all.thread) == f->process &&
		    !may_matter(f, batch, pos, i, may, err))
			return false;
	}
	return true;
}
