/* SPDX-License-Identifier: MIT */
/*
 * Texts that are written piece by piece, until something else happens to them.
 */
#include "strings_parts.h"
#include "src/query/query.h"

#include <stdlib.h>
#include <string.h>

/* The number of chunks after which a text that has not grown is complete. */
#define PAUSE_CHUNKS 64u

/* ----------------------------------------------------------------------- beginnings of texts that grew */

/* The last chunk in which [@first, @last] is accessed so; 0 also if no chunk does that. */
static uint64_t last_access(const struct ts_strings *x, unsigned accesses, uint64_t first, uint64_t last)
{
	uint64_t chunk = ts_query_find_access(x->rows.ask->q, accesses, x->process, first, last,
					      (x->rows.ask->n_steps - 1) / TS_CHUNK_STEPS, TS_BACKWARDS);

	return chunk == TS_NO_CHUNK ? 0 : chunk;
}

/*
 * Prefixes of the text @root, the first one at @pos, may be rows.  This is decided after the last change of
 * the text, as a prefix may be in memory again until then.
 */
static void begin_doubt(struct ts_strings *x, const struct ts_text *root, uint64_t pos)
{
	uint64_t last = root->addr + ((uint64_t)root->n << root->is_wide) - 1;
	struct ts_doubt d = { .pos = pos,
			      .chunk = last_access(x, TS_ACCESS_CHANGE | TS_ACCESS_REPLACE, root->addr, last),
			      .root = ts_text_ordinal(&x->texts, root) };

	if (d.chunk >= x->pos / TS_CHUNK_STEPS)
		x->is_failed |= !ts_heap_put(&x->doubts, &d);
}

/* How many characters of a text are at the last position, and what comes after them. */
struct standing {
	uint32_t n;
	bool has_end; /* what comes after is known, and is no character: they are a text */
	bool has_nul; /* it is a NUL */
};

static bool look_at_end(struct ts_strings *x, const struct ts_text *t, struct standing *st,
			struct ts_error *err)
{
	size_t width = t->is_wide ? 2 : 1, len = (t->n + (size_t)1) * width, i = 0;
	uint8_t *data = malloc(2 * len), *known;

	if (!data)
		return ts_no_memory(err, "texts");
	known = data + len;
	x->n_looks++;
	if (!ts_query_mem(x->rows.ask->q, x->rows.ask->n_steps, x->process, t->addr, len, data, known, err)) {
		free(data);
		return false;
	}
	while (i < t->n && known[i * width] && data[i * width] == (uint8_t)ts_text_chars(&x->texts, t)[i] &&
	       (!t->is_wide || (known[i * 2 + 1] && !data[i * 2 + 1])))
		i++;
	*st = (struct standing){ .n = (uint32_t)i };
	st->has_nul = known[i * width] && !data[i * width] &&
		      (!t->is_wide || (known[i * 2 + 1] && !data[i * 2 + 1]));
	st->has_end = !known[i * width] || !ts_strings_is_printable(data[i * width]) ||
		      (t->is_wide && (!known[i * 2 + 1] || data[i * 2 + 1]));
	free(data);
	return true;
}

/* The beginning with @n characters of a text, if it was noted as one that is not shown; else NULL. */
static struct ts_text *find_hidden(struct ts_strings *x, const struct ts_text *root, uint32_t n)
{
	struct ts_text like = { .addr = root->addr, .n = n, .root = root->root, .is_wide = root->is_wide };
	struct ts_text *t;

	like.hash = ts_text_hash_more(ts_text_hash(root->addr), ts_text_chars(&x->texts, root), n);
	t = ts_texts_find(&x->texts, ts_text_chars(&x->texts, root), &like);
	return t && t->is_hidden ? t : NULL;
}

/*
 * The text changes no more: a beginning with a NUL after it is shown, any other one if it is read.  Returns false if the trace
 * cannot be read, or memory is exhausted.
 */
static bool decide(struct ts_strings *x, struct ts_doubt d, struct ts_error *err)
{
	const struct ts_text *root = &x->texts.items[d.root];
	struct standing st = { 0 };
	struct ts_text *t;

	if (!look_at_end(x, root, &st, err))
		return false;
	t = st.n < root->n ? find_hidden(x, root, st.n) : NULL;
	if (t && st.has_nul) {
		ts_strings_show(x, t);
	} else if (t && st.has_end && !x->is_over) {
		d.chunk = last_access(x, TS_ACCESS_READ, root->addr,
				      root->addr + ((uint64_t)root->n << root->is_wide) - 1);
		if (d.chunk >= x->pos / TS_CHUNK_STEPS)
			x->is_failed |= !ts_heap_put(&x->doubts, &d);
	}
	return !x->is_failed || ts_no_memory(err, "texts");
}

/* It has been changed for the last time, and what is being written there is no beginning of it. */
static bool is_decidable(const struct ts_strings *x, const struct ts_doubt *d)
{
	bool is_growing = false;

	for (unsigned i = 0; i < TS_STRINGS_N_GROWTHS; i++)
		is_growing |= x->growths[i].is_there && x->growths[i].addr == x->texts.items[d->root].addr;
	return x->is_over || (d->chunk < x->pos / TS_CHUNK_STEPS && !is_growing);
}

bool ts_strings_decide(struct ts_strings *x, struct ts_error *err)
{
	const struct ts_doubt *first;
	struct ts_doubt d;

	while ((first = ts_heap_first(&x->doubts)) && is_decidable(x, first)) {
		ts_heap_take(&x->doubts, &d);
		if (!decide(x, d, err))
			return false;
	}
	return true;
}

bool ts_strings_is_doubt_before(const void *user, const void *one, const void *other)
{
	const struct ts_doubt *a = one, *b = other;

	(void)user;
	return a->pos < b->pos;
}

/* ---------------------------------------------------------------------------------------- texts that grow */

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
		begin_doubt(x, &x->texts.items[root], first);
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

/* Is what the write has of the text what is there already?  It may overlap its end. */
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
