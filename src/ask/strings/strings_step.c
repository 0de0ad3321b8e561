/* SPDX-License-Identifier: MIT */
/*
 * What a step reads and writes: the texts that are there after it, and those that it extends.
 */
#include "src/ask/grammar/question.h"

#include "strings_parts.h"

#include "src/ask/grammar/state.h"
#include "src/query/query.h"

/* A window on memory around an access grows up to this many bytes to each side. */
#define FIRST_REACH 64u
#define MAX_REACH   (UINT64_C(1) << 20)

/*
 * A growing text is examined in one width only: in the other one its characters are no texts, if those are
 * as long.
 */
#define MIN_GROWING 2u

/* -------------------------------------------------------------------------------- memory around an access */

/* Does a run of characters that overlaps [@first, @last] reach the edge of the window? */
static bool is_short(const struct ts_strings *x, uint64_t first, uint64_t last)
{
	for (unsigned width = 1; width <= 2; width++) {
		for (size_t parity = 0; parity < width; parity++) {
			size_t i = (size_t)(first - x->addr), k = (size_t)(last - x->addr);

			i -= i >= width && i % width != parity ? 1 : 0;
			k += k % width != parity ? 1 : 0;
			while (i >= width && ts_strings_is_char(x, i - width, width) &&
			       (ts_strings_is_char(x, i, width) || i > first - x->addr))
				i -= width;
			while (k + width <= x->len && ts_strings_is_char(x, k, width))
				k += width;
			if ((i < width && x->addr) || k + width > x->len)
				return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------------------------------------------- a step */

/* A text of the window, which the access touched: it is noted, or (the access wrote its end) may grow. */
static void take_text(struct ts_strings *x, size_t i, size_t end, unsigned width, uint64_t last, bool is_read)
{
	uint64_t addr = x->addr + i;

	ts_buf_reset(&x->text);
	for (size_t k = i; k < end; k += width)
		ts_buf_putc(&x->text, x->data[k]);
	x->is_failed |= !ts_buf_ok(&x->text);
	if (x->is_failed)
		return;
	/* one that reaches the end of the address space cannot grow */
	if (x->ranges)
		ts_strings_seen_before(x, addr, (const char *)x->text.data, x->text.len, width == 2);
	else if (!is_read && last < UINT64_MAX && x->addr + end == last + 1 && x->min >= MIN_GROWING)
		ts_strings_begin_growth(x, addr, (const char *)x->text.data, x->text.len, width == 2);
	else
		ts_strings_note(x, addr, x->pos, (const char *)x->text.data, x->text.len, width == 2,
				is_read);
}

/* Texts of one width and parity that have a byte in [first, last]. */
static void take_texts(struct ts_strings *x, uint64_t first, uint64_t last, unsigned width, size_t parity,
		       bool is_read)
{
	size_t lo = (size_t)(first - x->addr), hi = (size_t)(last - x->addr);

	size_t i = lo < parity ? parity : lo - (lo - parity) % width;

	while (i >= width && ts_strings_is_char(x, i, width) && ts_strings_is_char(x, i - width, width))
		i -= width;
	for (size_t end; i < x->len && i <= hi; i = end + width) {
		for (end = i; ts_strings_is_char(x, end, width);)
			end += width;
		if (end > i && end > lo && (end - i) / width >= x->min)
			take_text(x, i, end, width, last, is_read);
	}
}

static bool look(struct ts_strings *x, uint64_t first, uint64_t last, bool is_read, struct ts_error *err)
{
	uint64_t reach = FIRST_REACH;

	do {
		if (!ts_strings_read_window(x, first, last, reach, reach, err))
			return false;
		reach *= 8;
	} while (reach < MAX_REACH && is_short(x, first, last));
	take_texts(x, first, last, 1, 0, is_read);
	take_texts(x, first, last, 2, 0, is_read);
	take_texts(x, first, last, 2, 1, is_read);
	return !x->is_failed || ts_no_memory(err, "texts");
}

/* An access to bytes of which none is a character has no text. */
static bool may_have_text(const struct ts_steps *batch, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(batch, e);

	for (uint64_t i = 0; value && i < e->len; i++) {
		if (ts_strings_is_printable(value[i]) || !value[i])
			return true;
	}
	return !value;
}

/* The access to @value, or to something unknown (NULL), after the whole step. */
static bool look_at_access(struct ts_strings *x, const struct ts_steps *batch, const struct ts_effect *e,
			   struct ts_error *err)
{
	const uint8_t *value = ts_effect_data(batch, e);
	uint64_t last = e->addr + (e->len - 1);
	const struct ts_growth *grown = NULL;

	for (unsigned i = 0; value && e->kind == TS_FX_WRITE && i < TS_STRINGS_N_GROWTHS && !grown; i++) {
		bool has_grown;

		if (!ts_strings_grow(x, &x->growths[i], e, value, &has_grown, err))
			return false;
		grown = has_grown ? &x->growths[i] : NULL;
	}
	ts_strings_end_growths(x, e->addr, last, value ? value[0] : 0, grown);
	if (grown)
		return true;
	return !may_have_text(batch, e) || look(x, e->addr, last, e->kind == TS_FX_READ, err);
}

/* An access that has no texts of its own. */
static void pass_over(struct ts_strings *x, const struct ts_steps *batch, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(batch, e);

	if (e->kind == TS_FX_WRITE)
		ts_strings_end_growths(x, e->addr, e->addr + (e->len - 1), value ? value[0] : 0, NULL);
}

/* An effect on memory: the mirror follows. */
static void follow(struct ts_strings *x, const struct ts_steps *batch, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(batch, e);
	uint64_t last = e->addr + (e->len - 1);

	if (e->kind != TS_FX_READ)
		ts_strings_forget_recent(x, e);
	if (value)
		ts_mirror_change(&x->mirror, e->addr, last, value);
	else if (e->kind != TS_FX_READ)
		ts_mirror_forget(&x->mirror, e->addr, last);
	if (e->kind > TS_FX_READ)
		ts_strings_end_growths(x, e->addr, last, 0, NULL);
	for (unsigned i = 0; i < TS_STRINGS_N_GROWTHS; i++)
		x->growths[i].n_touches +=
			ts_strings_touches(&x->growths[i], e->addr, last, value ? value[0] : 0);
}

static bool is_wanted(const struct ts_strings *x, const struct ts_steps *batch, const struct ts_effect *e)
{
	if (x->ranges && !ts_strings_is_young(x, e))
		return false;
	if (e->kind == TS_FX_READ && (e->is_hidden || (!x->ranges && ts_strings_is_recent(x, e, ts_effect_data(batch, e)))))
		return false;
	return e->kind <= TS_FX_READ && e->len < MAX_REACH && e->addr <= x->last &&
	       e->addr + (e->len - 1) >= x->first;
}

bool ts_strings_look_at_step(struct ts_strings *x, const struct ts_steps *batch, struct ts_error *err)
{
	const struct ts_step *s = &batch->steps[x->pos % TS_CHUNK_STEPS];
	bool is_asked = x->rows.qn->thread == TS_NO_THREAD || s->thread == x->rows.qn->thread;

	for (unsigned i = 0; i < TS_STRINGS_N_GROWTHS; i++)
		x->growths[i].n_touches = 0;
	for (unsigned pass = 0; pass < 2; pass++) {
		struct ts_step_effects all = ts_step_effects(batch, s);
		const struct ts_effect *e;

		while ((e = ts_step_effects_next(&all))) {
			if (!ts_effect_is_on_memory(e) || ts_query_process(x->rows.ask->q, all.thread) != x->process)
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
