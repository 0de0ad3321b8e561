/* SPDX-License-Identifier: MIT */
/*
 * Each read and write is looked at with what stands around it just after its step.  A text that is being
 * written piece by piece grows: it is noted when something else happens to it, so that each piece costs what
 * it is long.  What it was on the way there is noted too, but not shown unless it is read later, or stands at
 * the end.
 *
 * A row is told when no other can come before it: when no text grows that had begun before, and of no text that
 * grew a beginning may still be shown.  The index tells until when that is so: a beginning can only stand again
 * after a change of the text.
 */
#include "strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "heap.h"
#include "mirror.h"
#include "state.h"
#include "texts.h"

#define MIN_CHARS 4u

/* A window on memory around an access grows up to this many bytes to each side. */
#define FIRST_REACH 64u
#define MAX_REACH (UINT64_C(1) << 20)

#define LOOKS_A_CHUNK 16u

/* A longer window is not taken from the mirror. */
#define MAX_MIRRORED 4096u

/* How long a growing text was after a step. */
struct point {
	uint64_t pos;
	uint32_t n;
};

/* A text that the write at its end may go on with.  It has not been noted yet. */
struct growth {
	uint64_t addr, end; /* end: the address after it */
	uint64_t used;      /* when */
	struct ts_buf chars;
	struct ts_buf points; /* struct point */
	uint32_t n_touches;   /* effects of the step that touch it */
	bool is_wide;
	bool is_there;
};

#define N_GROWTHS 8u

/* A text that has not grown for so many chunks grows no more. */
#define PAUSE_CHUNKS 64u

/* Beginnings of a text that grew, which may still be shown. */
struct doubt {
	uint64_t pos;   /* of the first one */
	uint64_t chunk; /* the last one that may decide it */
	uint32_t root;  /* ordinal of the text */
};

/*
 * A growing text is looked at in one width only: in the other one its characters are no texts, if those are
 * as long.
 */
#define MIN_GROWING 2u

/* Long texts that were read lately and have not changed since: ordinals in items, plus 1. */
#define N_RECENT 16u
#define MIN_RECENT 32u

struct strings {
	struct ts_rows rows;
	uint32_t recent[N_RECENT];
	unsigned at_recent;
	struct growth growths[N_GROWTHS];
	uint64_t clock;
	struct ts_mirror mirror;
	struct ts_ask *ask;
	const struct ts_question *qn;
	uint32_t process;
	uint64_t first, last, min; /* addresses; characters */
	struct ts_texts texts;
	struct ts_buf text;
	struct ts_heap ready;      /* ordinals of the texts that are rows and have not been told, in the table's order */
	struct ts_heap doubts;     /* struct doubt; by position */
	uint8_t *data;             /* owned; the window: values, then known flags */
	size_t cap_data;
	uint64_t addr;             /* of the window */
	size_t len;
	uint64_t pos, to;          /* the next step, and where they end */
	uint64_t n_looks;
	bool is_over, is_failed;
};

/* -------------------------------------------------------------------------------------------- the list */

static const char *chars_of(const struct strings *x, const struct ts_text *t)
{
	return ts_text_chars(&x->texts, t);
}

/* Is a part of the text in WHAT? */
static bool is_in_what(const struct strings *x, uint64_t addr, size_t n, bool is_wide)
{
	return addr <= x->last && addr + (n << is_wide) - 1 >= x->first;
}

/* It is a row, if it is asked for. */
static void show(struct strings *x, struct ts_text *t)
{
	uint32_t ordinal = ts_text_ordinal(&x->texts, t);

	t->is_hidden = false;
	if (t->pos >= x->qn->from && t->pos < x->qn->to)
		x->is_failed |= !ts_heap_put(&x->ready, &ordinal);
}

/*
 * A text stands at @addr just after step @pos, which read or wrote a byte of it.  Returns NULL if it is not
 * in WHAT, or memory is exhausted.
 */
static struct ts_text *note(struct strings *x, uint64_t addr, uint64_t pos, const char *chars, size_t n,
			    bool is_wide, bool is_read)
{
	struct ts_text new = { .addr = addr, .pos = pos, .n = (uint32_t)n, .root = TS_NO_ROOT, .is_wide = is_wide,
			       .is_read = is_read, .is_hidden = true };
	struct ts_text *t;

	if (!is_in_what(x, addr, n, is_wide) || x->is_failed)
		return NULL;
	new.hash = ts_text_hash_more(ts_text_hash(addr), chars, n);
	t = ts_texts_find(&x->texts, chars, &new);
	if (!t)
		t = ts_texts_add(&x->texts, chars, &new);
	x->is_failed |= !t;
	if (!t)
		return NULL;
	if (t->is_hidden)
		show(x, t);
	if (is_read && !is_wide && n >= MIN_RECENT)
		x->recent[x->at_recent++ % N_RECENT] = ts_text_ordinal(&x->texts, t) + 1;
	return t;
}

/* ------------------------------------------------------------------------------------- texts that grow */

/* The last chunk in which [@first, @last] is accessed so; 0 also if no chunk does that. */
static uint64_t last_access(const struct strings *x, enum ts_access access, uint64_t first, uint64_t last)
{
	uint64_t chunk = ts_query_prev_access(x->ask->q, access, x->process, first, last,
					      (x->ask->n_steps - 1) / TS_CHUNK_STEPS);

	return chunk == TS_NO_CHUNK ? 0 : chunk;
}

/* Until its text is changed for the last time nobody knows whether one of them stands again. */
static void begin_doubt(struct strings *x, const struct ts_text *root, uint64_t pos)
{
	uint64_t last = root->addr + ((uint64_t)root->n << root->is_wide) - 1;
	uint64_t change = last_access(x, TS_ACCESS_CHANGE, root->addr, last);
	uint64_t replace = last_access(x, TS_ACCESS_REPLACE, root->addr, last);
	struct doubt d = { .pos = pos, .chunk = change > replace ? change : replace,
			   .root = ts_text_ordinal(&x->texts, root) };

	if (d.chunk >= x->pos / TS_CHUNK_STEPS)
		x->is_failed |= !ts_heap_put(&x->doubts, &d);
}

/* What the text was on the way.  @root: ordinal of the whole text. */
static void note_beginnings(struct strings *x, const struct growth *g, uint32_t root)
{
	const struct point *points = (const struct point *)g->points.data;
	const char *chars = (const char *)g->chars.data;
	uint64_t hash = ts_text_hash(g->addr), first = TS_NO_POS;
	size_t n = 0;

	for (size_t i = 0; i + 1 < g->points.len / sizeof(*points) && !x->is_failed; i++) {
		struct ts_text new = { .addr = g->addr, .pos = points[i].pos, .n = points[i].n, .root = root,
				       .off = x->texts.items[root].off, .is_wide = g->is_wide, .is_hidden = true };

		hash = ts_text_hash_more(hash, chars + n, points[i].n - n);
		n = points[i].n;
		new.hash = hash;
		if (!is_in_what(x, new.addr, n, new.is_wide) || ts_texts_find(&x->texts, chars, &new))
			continue;
		x->is_failed |= !ts_texts_add(&x->texts, chars, &new);
		first = first == TS_NO_POS ? new.pos : first;
	}
	if (first != TS_NO_POS && !x->is_failed)
		begin_doubt(x, &x->texts.items[root], first);
}

/* It grows no more. */
static void end_growth(struct strings *x, struct growth *g)
{
	const struct point *points = (const struct point *)g->points.data;
	size_t n = g->points.len / sizeof(*points);
	struct ts_text *t;

	g->is_there = false;
	x->is_failed |= !ts_buf_ok(&g->chars) || !ts_buf_ok(&g->points);
	if (x->is_failed)
		return;
	t = note(x, g->addr, points[n - 1].pos, (const char *)g->chars.data, g->chars.len, g->is_wide, false);
	if (t)
		note_beginnings(x, g, t->root);
}

static void add_point(struct strings *x, struct growth *g)
{
	const struct point p = { x->pos, (uint32_t)g->chars.len };

	ts_buf_put(&g->points, &p, sizeof(p));
	g->used = ++x->clock;
}

/* The text that step x->pos left may grow at its end. */
static void begin_growth(struct strings *x, uint64_t addr, const char *chars, size_t n, bool is_wide)
{
	struct growth *g = x->growths;

	for (unsigned i = 1; i < N_GROWTHS; i++) {
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

/*
 * Was what is read here read before, as a part of a long text that is still the same?  Its last byte is left
 * out: it may begin a wide text.
 */
static bool is_recent(const struct strings *x, const struct ts_effect *e, const uint8_t *value)
{
	for (unsigned i = 0; i < N_RECENT; i++) {
		const struct ts_text *t = x->recent[i] ? &x->texts.items[x->recent[i] - 1] : NULL;

		if (t && e->addr >= t->addr && e->addr - t->addr < t->n &&
		    e->len < t->n - (e->addr - t->addr) &&
		    (!value || !memcmp(value, chars_of(x, t) + (e->addr - t->addr), e->len)))
			return true;
	}
	return false;
}

/* Texts that the effect touches, or stands next to, are looked at again. */
static void forget_recent(struct strings *x, const struct ts_effect *e)
{
	for (unsigned i = 0; i < N_RECENT; i++) {
		const struct ts_text *t = x->recent[i] ? &x->texts.items[x->recent[i] - 1] : NULL;
		uint64_t last = e->addr + (e->len - 1);

		if (t && e->addr <= t->addr + t->n + 1 && last >= (t->addr > 2 ? t->addr - 2 : 0))
			x->recent[i] = 0;
	}
}

/* --------------------------------------------------------------------------------------------- one access */

static bool is_printable(uint8_t c)
{
	return (c >= 0x20 && c <= 0x7e) || c == '\t';
}

/* Is there a character of @width bytes at offset @i of the window? */
static bool is_char(const struct strings *x, size_t i, unsigned width)
{
	const uint8_t *known = x->data + x->len;

	if (i + width > x->len || !known[i] || !is_printable(x->data[i]))
		return false;
	return width == 1 || (known[i + 1] && !x->data[i + 1]);
}

/* The window as it is after the step, a line of the mirror after the other. */
static bool copy_window(struct strings *x, struct ts_error *err)
{
	if (x->len > MAX_MIRRORED)
		return ts_query_mem(x->ask->q, x->pos + 1, x->process, x->addr, x->len, x->data,
				    x->data + x->len, err);
	for (size_t i = 0, n; i < x->len; i += n) {
		const struct ts_mirror_line *line = ts_mirror_load(&x->mirror, x->pos + 1, x->addr + i, err);
		size_t at = (x->addr + i) % TS_MIRROR_LINE;

		if (!line)
			return false;
		n = TS_MIRROR_LINE - at < x->len - i ? TS_MIRROR_LINE - at : x->len - i;
		memcpy(x->data + i, line->data + at, n);
		memcpy(x->data + x->len + i, line->known + at, n);
	}
	return true;
}

/* Read memory from @before bytes before the access to @after bytes after it, as it is after the step. */
static bool read_window(struct strings *x, uint64_t first, uint64_t last, uint64_t before, uint64_t after,
			struct ts_error *err)
{
	uint64_t mask = ts_arch_addr_mask(ts_query_regset(x->ask->q)->arch), lo, hi;

	lo = first > before ? first - before : 0;
	hi = mask - last > after ? last + after : mask;
	x->addr = lo;
	x->len = (size_t)(hi - lo) + 1;
	x->n_looks += x->len / MAX_MIRRORED;
	if (2 * x->len > x->cap_data) {
		free(x->data);
		x->cap_data = 2 * x->len;
		x->data = malloc(x->cap_data);
		if (!x->data) {
			x->cap_data = 0;
			return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
		}
	}
	return copy_window(x, err);
}

/* Does a run of characters that meets [first, last] reach the window's edge? */
static bool is_short(const struct strings *x, uint64_t first, uint64_t last)
{
	for (unsigned width = 1; width <= 2; width++) {
		for (size_t parity = 0; parity < width; parity++) {
			size_t i = (size_t)(first - x->addr), k = (size_t)(last - x->addr);

			i -= i >= width && i % width != parity ? 1 : 0;
			k += k % width != parity ? 1 : 0;
			while (i >= width && is_char(x, i - width, width) &&
			       (is_char(x, i, width) || i > first - x->addr))
				i -= width;
			while (k + width <= x->len && is_char(x, k, width))
				k += width;
			if ((i < width && x->addr) || k + width > x->len)
				return true;
		}
	}
	return false;
}

/* A text of the window, which the access touched: it is noted, or (the access wrote its end) may grow. */
static void take_text(struct strings *x, size_t i, size_t end, unsigned width, uint64_t last, bool is_read)
{
	uint64_t addr = x->addr + i;

	ts_buf_reset(&x->text);
	for (size_t k = i; k < end; k += width)
		ts_buf_putc(&x->text, x->data[k]);
	x->is_failed |= !ts_buf_ok(&x->text);
	if (x->is_failed)
		return;
	if (!is_read && x->addr + end == last + 1 && x->min >= MIN_GROWING)
		begin_growth(x, addr, (const char *)x->text.data, x->text.len, width == 2);
	else
		note(x, addr, x->pos, (const char *)x->text.data, x->text.len, width == 2, is_read);
}

/* Texts of one width and parity that have a byte in [first, last]. */
static void take_texts(struct strings *x, uint64_t first, uint64_t last, unsigned width, size_t parity,
		       bool is_read)
{
	size_t lo = (size_t)(first - x->addr), hi = (size_t)(last - x->addr);

	size_t i = lo < parity ? parity : lo - (lo - parity) % width;

	while (i >= width && is_char(x, i, width) && is_char(x, i - width, width))
		i -= width;
	for (size_t end; i < x->len && i <= hi; i = end + width) {
		for (end = i; is_char(x, end, width);)
			end += width;
		if (end > i && end > lo && (end - i) / width >= x->min)
			take_text(x, i, end, width, last, is_read);
	}
}

static bool look(struct strings *x, uint64_t first, uint64_t last, bool is_read, struct ts_error *err)
{
	uint64_t reach = FIRST_REACH;

	do {
		if (!read_window(x, first, last, reach, reach, err))
			return false;
		reach *= 8;
	} while (reach < MAX_REACH && is_short(x, first, last));
	take_texts(x, first, last, 1, 0, is_read);
	take_texts(x, first, last, 2, 0, is_read);
	take_texts(x, first, last, 2, 1, is_read);
	return !x->is_failed || ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
}

/* An access to bytes of which none is a character has no text. */
static bool may_have_text(const struct ts_steps *batch, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(batch, e);

	for (uint64_t i = 0; value && i < e->len; i++) {
		if (is_printable(value[i]) || !value[i])
			return true;
	}
	return !value;
}

/* Is what the write has of the text what stands there already?  It may overlap its end. */
static bool repeats(const struct growth *g, const struct ts_effect *e, const uint8_t *value)
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
static bool may_go_on(const struct growth *g, const struct ts_effect *e)
{
	return g->is_there && g->n_touches == 1 && e->addr >= g->addr && e->addr <= g->end &&
	       e->len > g->end - e->addr && e->len <= MAX_MIRRORED &&
	       !(g->is_wide && ((e->len | (e->addr - g->addr)) & 1));
}

/* If the write goes on with the text, and does nothing else, the text becomes longer. */
static bool grow(struct strings *x, struct growth *g, const struct ts_effect *e, const uint8_t *value,
		 bool *has_grown, struct ts_error *err)
{
	unsigned width = g->is_wide ? 2 : 1;
	size_t n, at = 1;

	*has_grown = false;
	if (!may_go_on(g, e) || !repeats(g, e, value))
		return true;
	n = (size_t)(e->len - (g->end - e->addr));
	if (!read_window(x, g->end, g->end + (n - 1), at, 3, err))
		return false;
	if (x->len != at + n + 3)
		return true;
	for (size_t i = 0; i < n; i += width) {
		if (!is_char(x, at + i, width) || memcmp(x->data + at + i, value + (e->len - n) + i, width))
			return true;
	}
	/* what follows could belong to it, or the last character could begin a text of the other width */
	if (is_char(x, at + n, width) || is_char(x, at + n + 1, 2))
		return true;
	for (size_t i = 0; i < n; i += width)
		ts_buf_putc(&g->chars, x->data[at + i]);
	g->end += n;
	add_point(x, g);
	*has_grown = true;
	return true;
}

/*
 * Does a change of [@first, @last] touch it?  What ends a text, and begins with the byte @begins, does not.
 */
static bool touches(const struct growth *g, uint64_t first, uint64_t last, uint8_t begins)
{
	return g->is_there && last + 2 >= g->addr &&
	       (first < g->end || (first == g->end && is_printable(begins)));
}

/*
 * An access or another change of [@first, @last]: texts that it touches grow no more, but @grown (may be
 * NULL).
 */
static void end_growths(struct strings *x, uint64_t first, uint64_t last, uint8_t begins,
			const struct growth *grown)
{
	for (unsigned i = 0; i < N_GROWTHS; i++) {
		if (&x->growths[i] != grown && touches(&x->growths[i], first, last, begins))
			end_growth(x, &x->growths[i]);
	}
}

/* The access to @value, or to something unknown (NULL), after the whole step. */
static bool look_at_access(struct strings *x, const struct ts_steps *batch, const struct ts_effect *e,
			   struct ts_error *err)
{
	const uint8_t *value = ts_effect_data(batch, e);
	uint64_t last = e->addr + (e->len - 1);
	const struct growth *grown = NULL;

	for (unsigned i = 0; value && e->kind == TS_FX_WRITE && i < N_GROWTHS && !grown; i++) {
		bool has_grown;

		if (!grow(x, &x->growths[i], e, value, &has_grown, err))
			return false;
		grown = has_grown ? &x->growths[i] : NULL;
	}
	end_growths(x, e->addr, last, value ? value[0] : 0, grown);
	if (grown)
		return true;
	return !may_have_text(batch, e) || look(x, e->addr, last, e->kind == TS_FX_READ, err);
}

/* An access that has no texts of its own. */
static void pass_over(struct strings *x, const struct ts_steps *batch, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(batch, e);

	if (e->kind == TS_FX_WRITE)
		end_growths(x, e->addr, e->addr + (e->len - 1), value ? value[0] : 0, NULL);
}

/* An effect on memory: the mirror follows. */
static void follow(struct strings *x, const struct ts_steps *batch, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(batch, e);
	uint64_t last = e->addr + (e->len - 1);

	if (e->kind != TS_FX_READ)
		forget_recent(x, e);
	if (value)
		ts_mirror_change(&x->mirror, e->addr, last, value);
	else if (e->kind != TS_FX_READ)
		ts_mirror_forget(&x->mirror, e->addr, last);
	if (e->kind > TS_FX_READ)
		end_growths(x, e->addr, last, 0, NULL);
	for (unsigned i = 0; i < N_GROWTHS; i++)
		x->growths[i].n_touches += touches(&x->growths[i], e->addr, last, value ? value[0] : 0);
}

/* Does the effect concern memory that can be asked about? */
static bool is_on_memory(const struct ts_effect *e)
{
	return e->kind >= TS_FX_WRITE && e->kind <= TS_FX_FORGET && e->kind != TS_FX_PROTECT && e->len;
}

static bool is_wanted(const struct strings *x, const struct ts_steps *batch, const struct ts_effect *e)
{
	if (e->kind == TS_FX_READ && (e->is_hidden || is_recent(x, e, ts_effect_data(batch, e))))
		return false;
	return e->kind <= TS_FX_READ && e->len < MAX_REACH && e->addr <= x->last &&
	       e->addr + (e->len - 1) >= x->first;
}

static bool look_at_step(struct strings *x, const struct ts_steps *batch, struct ts_error *err)
{
	const struct ts_step *s = &batch->steps[x->pos % TS_CHUNK_STEPS];
	bool is_asked = x->qn->thread == TS_NO_THREAD || s->thread == x->qn->thread;

	for (unsigned i = 0; i < N_GROWTHS; i++)
		x->growths[i].n_touches = 0;
	for (unsigned pass = 0; pass < 2; pass++) {
		bool is_mine = ts_query_process(x->ask->q, s->thread) == x->process;

		for (uint32_t i = 0; i < s->n_effects; i++) {
			const struct ts_effect *e = &batch->effects[s->first + i];

			if (e->kind == TS_FX_THREAD)
				is_mine = ts_query_process(x->ask->q, e->item) == x->process;
			if (!is_mine || !is_on_memory(e))
				continue;
			if (!pass)
				follow(x, batch, e);
			else if (!is_asked || !is_wanted(x, batch, e))
				pass_over(x, batch, e);
			else if (!look_at_access(x, batch, e, err))
				return false;
		}
	}
	return true;
}

/* --------------------------------------------------------------------------------------------- the cursor */

static bool is_row_before(const void *user, const void *one, const void *other)
{
	const struct ts_texts *texts = user;
	const struct ts_text *a = &texts->items[*(const uint32_t *)one], *b = &texts->items[*(const uint32_t *)other];

	if (a->pos != b->pos)
		return a->pos < b->pos;
	return a->addr != b->addr ? a->addr < b->addr : a->is_wide < b->is_wide;
}

static bool is_doubt_before(const void *user, const void *one, const void *other)
{
	const struct doubt *a = one, *b = other;

	(void)user;
	return a->pos < b->pos;
}

/* How many characters of a text stand at the last position, and what comes after them. */
struct standing {
	uint32_t n;
	bool has_end; /* what comes after is known, and is no character: they are a text */
	bool has_nul; /* it is a NUL */
};

static bool look_at_end(struct strings *x, const struct ts_text *t, struct standing *st, struct ts_error *err)
{
	size_t width = t->is_wide ? 2 : 1, len = (t->n + (size_t)1) * width, i = 0;
	uint8_t *data = malloc(2 * len), *known;

	if (!data)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
	known = data + len;
	x->n_looks++;
	if (!ts_query_mem(x->ask->q, x->ask->n_steps, x->process, t->addr, len, data, known, err)) {
		free(data);
		return false;
	}
	while (i < t->n && known[i * width] && data[i * width] == (uint8_t)chars_of(x, t)[i] &&
	       (!t->is_wide || (known[i * 2 + 1] && !data[i * 2 + 1])))
		i++;
	*st = (struct standing){ .n = (uint32_t)i };
	st->has_nul = known[i * width] && !data[i * width] && (!t->is_wide || (known[i * 2 + 1] && !data[i * 2 + 1]));
	st->has_end = !known[i * width] || !is_printable(data[i * width]) ||
		      (t->is_wide && (!known[i * 2 + 1] || data[i * 2 + 1]));
	free(data);
	return true;
}

/* The beginning with @n characters of a text, if it was noted as one that is not shown; else NULL. */
static struct ts_text *find_hidden(struct strings *x, const struct ts_text *root, uint32_t n)
{
	struct ts_text like = { .addr = root->addr, .n = n, .root = root->root, .is_wide = root->is_wide };
	struct ts_text *t;

	like.hash = ts_text_hash_more(ts_text_hash(root->addr), chars_of(x, root), n);
	t = ts_texts_find(&x->texts, chars_of(x, root), &like);
	return t && t->is_hidden ? t : NULL;
}

/*
 * The text changes no more: a beginning that stands with a NUL after it is shown, one with something else if
 * it is read.  Returns false if the trace cannot be read, or memory is exhausted.
 */
static bool decide(struct strings *x, struct doubt d, struct ts_error *err)
{
	const struct ts_text *root = &x->texts.items[d.root];
	struct standing st = { 0 };
	struct ts_text *t;

	if (!look_at_end(x, root, &st, err))
		return false;
	t = st.n < root->n ? find_hidden(x, root, st.n) : NULL;
	if (t && st.has_nul) {
		show(x, t);
	} else if (t && st.has_end && !x->is_over) {
		d.chunk = last_access(x, TS_ACCESS_READ, root->addr,
				      root->addr + ((uint64_t)root->n << root->is_wide) - 1);
		if (d.chunk >= x->pos / TS_CHUNK_STEPS)
			x->is_failed |= !ts_heap_put(&x->doubts, &d);
	}
	return !x->is_failed || ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
}

/* It has been changed for the last time, and what is being written there is no beginning of it. */
static bool is_decidable(const struct strings *x, const struct doubt *d)
{
	bool is_growing = false;

	for (unsigned i = 0; i < N_GROWTHS; i++)
		is_growing |= x->growths[i].is_there && x->growths[i].addr == x->texts.items[d->root].addr;
	return x->is_over || (d->chunk < x->pos / TS_CHUNK_STEPS && !is_growing);
}

/* Decide what can be decided before the step that comes next. */
static bool decide_all(struct strings *x, struct ts_error *err)
{
	const struct doubt *first;
	struct doubt d;

	while ((first = ts_heap_first(&x->doubts)) && is_decidable(x, first)) {
		ts_heap_take(&x->doubts, &d);
		if (!decide(x, d, err))
			return false;
	}
	return true;
}

/* No text that has not been told yet was first seen before this position. */
static uint64_t settled(const struct strings *x)
{
	const struct doubt *first = ts_heap_first(&x->doubts);
	uint64_t pos = first && first->pos < x->pos ? first->pos : x->pos;

	if (x->is_over)
		return TS_NO_POS;
	for (unsigned i = 0; i < N_GROWTHS; i++) {
		const struct growth *g = &x->growths[i];
		const struct point *points = (const struct point *)g->points.data;

		if (g->is_there && g->points.len && points->pos < pos)
			pos = points->pos;
	}
	return pos;
}

/* Texts that have not grown for long; all when it @is_end. */
static void end_old_growths(struct strings *x, bool is_end)
{
	for (unsigned i = 0; i < N_GROWTHS; i++) {
		struct growth *g = &x->growths[i];
		const struct point *points = (const struct point *)g->points.data;
		size_t n = g->points.len / sizeof(*points);

		if (g->is_there &&
		    (is_end || !n || x->pos - points[n - 1].pos > PAUSE_CHUNKS * TS_CHUNK_STEPS))
			end_growth(x, g);
	}
}

static bool has_budget(struct strings *x, struct ts_budget *budget)
{
	x->n_looks += x->mirror.n_loads;
	x->mirror.n_loads = 0;
	while (x->n_looks >= LOOKS_A_CHUNK && ts_budget_take(budget))
		x->n_looks -= LOOKS_A_CHUNK;
	return x->n_looks < LOOKS_A_CHUNK;
}

/* Look at the steps up to the end of their chunk.  Returns TS_GOT_END if there are more. */
static enum ts_got scan_chunk(struct strings *x, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_steps *batch;
	uint64_t end = (x->pos / TS_CHUNK_STEPS + 1) * TS_CHUNK_STEPS;

	if (!ts_ask_step(x->ask, x->pos, &batch, err))
		return TS_GOT_FAIL;
	for (end = end < x->to ? end : x->to; x->pos < end; x->pos++) {
		if (!has_budget(x, budget))
			return TS_GOT_PENDING;
		if (!look_at_step(x, batch, err))
			return TS_GOT_FAIL;
	}
	return TS_GOT_END;
}

/* All steps have been looked at. */
static bool end_scan(struct strings *x, struct ts_error *err)
{
	end_old_growths(x, true);
	x->is_over = true;
	if (x->is_failed)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
	return decide_all(x, err);
}

/* A chunk, or the end.  Returns TS_GOT_END if that is done. */
static enum ts_got scan(struct strings *x, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_got got;

	if (x->pos >= x->to)
		return end_scan(x, err) ? TS_GOT_END : TS_GOT_FAIL;
	if (!ts_budget_take(budget))
		return TS_GOT_PENDING;
	if (x->pos % TS_CHUNK_STEPS == 0)
		end_old_growths(x, false);
	got = scan_chunk(x, budget, err);
	x->rows.at = x->pos;
	return got != TS_GOT_END || decide_all(x, err) ? got : TS_GOT_FAIL;
}

static bool put_row(const struct strings *x, const struct ts_text *t, struct ts_row *row, struct ts_error *err)
{
	const struct ts_steps *batch;
	const struct ts_step *s = ts_query_step(x->ask->q, t->pos, &batch, err);

	if (!s)
		return false;
	ts_row_number(row, 0, t->pos);
	ts_cell_thread(row, 1, x->ask, s->thread);
	ts_row_pc(row, 2, s->pc);
	ts_cell_function(row, 3, x->ask, s->pc);
	ts_row_text(row, 4, t->is_read ? "read" : "write");
	ts_row_addr(row, 5, t->addr);
	ts_row_number(row, 6, (uint64_t)t->n << t->is_wide);
	ts_row_text(row, 7, t->is_wide ? "utf-16le" : "ascii");
	ts_row_text_len(row, 8, chars_of(x, t), t->n);
	return true;
}

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			struct ts_error *err)
{
	struct strings *x = (struct strings *)rows;
	const uint32_t *first;
	uint32_t ordinal;

	for (;;) {
		uint64_t pos = settled(x);
		enum ts_got got;

		first = ts_heap_first(&x->ready);
		if (first && x->texts.items[*first].pos < pos) {
			ts_heap_take(&x->ready, &ordinal);
			return put_row(x, &x->texts.items[ordinal], row, err) ? TS_GOT_ROW : TS_GOT_FAIL;
		}
		rows->is_waiting = pos < x->pos;
		rows->waits_at = pos;
		if (x->is_over)
			return TS_GOT_END;
		got = scan(x, budget, err);
		if (got != TS_GOT_END)
			return got;
	}
}

static bool leave_some(struct ts_rows *rows)
{
	struct strings *x = (struct strings *)rows;

	return ts_texts_give_back_some(&x->texts) || ts_heap_give_back_some(&x->ready) ||
	       ts_heap_give_back_some(&x->doubts);
}

static void close_strings(struct ts_rows *rows)
{
	struct strings *x = (struct strings *)rows;

	for (unsigned i = 0; i < N_GROWTHS; i++) {
		ts_buf_fini(&x->growths[i].chars);
		ts_buf_fini(&x->growths[i].points);
	}
	ts_mirror_fini(&x->mirror);
	ts_texts_fini(&x->texts);
	ts_heap_fini(&x->ready);
	ts_heap_fini(&x->doubts);
	ts_buf_fini(&x->text);
	free(x->data);
	free(x);
}

static const struct ts_rows_ops ops = { .next = next, .leave_some = leave_some, .close = close_strings };

static struct ts_rows *open_strings(struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
				    struct ts_error *err)
{
	struct strings *x;

	(void)is_reverse;
	if (!qn->min) {
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'min 0' is not a length of a text");
		return NULL;
	}
	x = calloc(1, sizeof(*x));
	if (!x) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		return NULL;
	}
	x->rows = (struct ts_rows){ .ops = &ops, .go = TS_NO_POS };
	x->ask = ask;
	x->qn = qn;
	x->process = ts_ask_process(ask, qn);
	x->last = ts_arch_addr_mask(ts_query_regset(ask->q)->arch);
	if (qn->what.kind == TS_WHAT_MEM) {
		x->first = qn->what.addr;
		x->last = qn->what.last;
	}
	x->min = qn->min == TS_NO_LIMIT ? MIN_CHARS : qn->min;
	x->to = qn->to < ask->n_steps ? qn->to : ask->n_steps;
	ts_texts_init(&x->texts);
	ts_heap_init(&x->ready, sizeof(uint32_t), is_row_before, &x->texts);
	ts_heap_init(&x->doubts, sizeof(struct doubt), is_doubt_before, NULL);
	ts_buf_init(&x->text);
	for (unsigned i = 0; i < N_GROWTHS; i++) {
		ts_buf_init(&x->growths[i].chars);
		ts_buf_init(&x->growths[i].points);
	}
	if (!ts_mirror_init(&x->mirror, ask->q, x->process, err)) {
		close_strings(&x->rows);
		return NULL;
	}
	if (!ts_query_facts(ask->q)->has_reads)
		snprintf(x->rows.note, sizeof(x->rows.note),
			 "reads of memory are not recorded in this %s recording",
			 ts_query_facts(ask->q)->format);
	return &x->rows;
}

static const struct ts_column columns[] = {
	{ .name = "position", .type = TS_COLUMN_NUMBER }, { .name = "thread", .type = TS_COLUMN_NUMBER },
	{ .name = "pc", .type = TS_COLUMN_ADDR },	  { .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "kind", .type = TS_COLUMN_TEXT },	  { .name = "address", .type = TS_COLUMN_ADDR },
	{ .name = "length", .type = TS_COLUMN_NUMBER },	  { .name = "encoding", .type = TS_COLUMN_TEXT },
	{ .name = "text", .type = TS_COLUMN_TEXT },
};

const struct ts_verb ts_verb_strings = {
	.name = "strings",
	.synopsis = "[WHAT] [min N]",
	.help = "List the texts that were written and read.",
	.example = "strings min 6 first 10",
	.columns = columns,
	.n_columns = sizeof(columns) / sizeof(columns[0]),
	.operand = TS_OPERAND_MEMORY_OR_NONE,
	.takes = TS_TAKES_RANGE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_MIN,
	.open = open_strings,
};
