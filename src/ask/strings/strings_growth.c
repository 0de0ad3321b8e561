/* SPDX-License-Identifier: MIT */
/*
 * Texts that are written piece by piece, until something else happens to them.
 */
#include "strings_parts.h"

#include <string.h>

/* A text that has not grown for so many chunks grows no more. */
#define PAUSE_CHUNKS 64u

/* What the text was on the way.  @root: ordinal of the whole text. */
static void note_beginnings(struct ts_strings *x, const struct ts_growth *g, uint32_t root)
{
	const struct ts_growth_point *points = (const struct ts_growth_point *)g->points.data;
	const char *chars = (const char *)g->chars.data;
	uint64_t hash = ts_text_hash(g->addr), first = TS_NO_POS;
	size_t n = 0;

	for (size_t i = 0; i + 1 < g->points.len / sizeof(*points) && !x->is_failed; i++) {
		struct ts_text new = { .addr = g->addr,
				       .pos = points[i].pos,
				       .n = points[i].n,
				       .root = root,
				       .off = x->texts.items[root].off,
				       .is_wide = g->is_wide,
				       .is_hidden = true };

		hash = ts_text_hash_more(hash, chars + n, points[i].n - n);
		n = points[i].n;
		new.hash = hash;
		if (!ts_strings_is_in_what(x, new.addr, n, new.is_wide) ||
		    ts_texts_find(&x->texts, chars, &new))
			continue;
		x->is_failed |= !ts_texts_add(&x->texts, chars, &new);
		first = first == TS_NO_POS ? new.pos : first;
	}
	if (first != TS_NO_POS && !x->is_failed)
		ts_strings_begin_doubt(x, &x->texts.items[root], first);
}

/* It grows no more. */
static void end_growth(struct ts_strings *x, struct ts_growth *g)
{
	const struct ts_growth_point *points = (const struct ts_growth_point *)g->points.data;
	size_t n = g->points.len / sizeof(*points);
	struct ts_text *t;

	g->is_there = false;
	x->is_failed |= !ts_buf_ok(&g->chars) || !ts_buf_ok(&g->points);
	if (x->is_failed)
		return;
	t = ts_strings_note(x, g->addr, points[n - 1].pos, (const char *)g->chars.data, g->chars.len,
			    g->is_wide, false);
	if (t)
		note_beginnings(x, g, t->root);
}

static void add_point(struct ts_strings *x, struct ts_growth *g)
{
	const struct ts_growth_point p = { x->pos, (uint32_t)g->chars.len };

	ts_buf_put(&g->points, &p, sizeof(p));
	g->used = ++x->clock;
}

void ts_strings_begin_growth(struct ts_strings *x, uint64_t addr, const char *chars, size_t n, bool is_wide)
{
	struct ts_growth *g = x->growths;

	for (unsigned i = 1; i < TS_STRINGS_N_GROWTHS; i++) {
		if (g->is_there && (!x->growths[i].is_there || x->growths[i].used < g->used))
			g = &x->growths[i];
	}
	if (g->is_there)
		end_growth(x, g);
	g->is_there = true;
	g->addr = addr;
	g->end = addr + (n << is_wide);
	g->is_wide = is_wide;
	ts_buf_reset(&g->chars);
	ts_buf_reset(&g->points);
	ts_buf_put(&g->chars, chars, n);
	add_point(x, g);
}

/* Is what the write has of the text what stands there already?  It may overlap its end. */
static bool repeats(const struct ts_growth *g, const struct ts_effect *e, const uint8_t *value)
{
	unsigned width = g->is_wide ? 2 : 1;
	size_t at = (size_t)(e->addr - g->addr) / width, n = (size_t)(g->end - e->addr);

	for (size_t i = 0; i < n; i += width) {
		if (value[i] != g->chars.data[at + i / width] || (g->is_wide && value[i + 1]))
			return false;
	}
	return true;
}

/* May the write go on with the text? */
static bool may_go_on(const struct ts_growth *g, const struct ts_effect *e)
{
	return g->is_there && g->n_touches == 1 && e->addr >= g->addr && e->addr <= g->end &&
	       e->len > g->end - e->addr && e->len <= TS_STRINGS_MAX_MIRRORED &&
	       !(g->is_wide && ((e->len | (e->addr - g->addr)) & 1));
}

bool ts_strings_grow(struct ts_strings *x, struct ts_growth *g, const struct ts_effect *e,
		     const uint8_t *value, bool *has_grown, struct ts_error *err)
{
	unsigned width = g->is_wide ? 2 : 1;
	size_t n, at = 1;

	*has_grown = false;
	if (!may_go_on(g, e) || !repeats(g, e, value))
		return true;
	n = (size_t)(e->len - (g->end - e->addr));
	if (!ts_strings_read_window(x, g->end, g->end + (n - 1), at, 3, err))
		return false;
	if (x->len != at + n + 3)
		return true;
	for (size_t i = 0; i < n; i += width) {
		if (!ts_strings_is_char(x, at + i, width) ||
		    memcmp(x->data + at + i, value + (e->len - n) + i, width))
			return true;
	}
	/* what follows could belong to it, or the last character could begin a text of the other width */
	if (ts_strings_is_char(x, at + n, width) || ts_strings_is_char(x, at + n + 1, 2))
		return true;
	for (size_t i = 0; i < n; i += width)
		ts_buf_putc(&g->chars, x->data[at + i]);
	g->end += n;
	add_point(x, g);
	*has_grown = true;
	return true;
}

void ts_strings_end_growths(struct ts_strings *x, uint64_t first, uint64_t last, uint8_t begins,
			    const struct ts_growth *grown)
{
	for (unsigned i = 0; i < TS_STRINGS_N_GROWTHS; i++) {
		if (&x->growths[i] != grown && ts_strings_touches(&x->growths[i], first, last, begins))
			end_growth(x, &x->growths[i]);
	}
}

void ts_strings_end_old_growths(struct ts_strings *x, bool is_end)
{
	for (unsigned i = 0; i < TS_STRINGS_N_GROWTHS; i++) {
		struct ts_growth *g = &x->growths[i];
		const struct ts_growth_point *points = (const struct ts_growth_point *)g->points.data;
		size_t n = g->points.len / sizeof(*points);

		if (g->is_there &&
		    (is_end || !n || x->pos - points[n - 1].pos > PAUSE_CHUNKS * TS_CHUNK_STEPS))
			end_growth(x, g);
	}
}
