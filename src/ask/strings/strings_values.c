/* SPDX-License-Identifier: MIT */
/*
 * May a chunk have a text? In a chunk a byte of memory has only values that it has at the chunk's begin, or that an access of
 * the chunk reads or writes.  What changes without a record is unknown at the begin, or is seen by an access.  A chunk in
 * which some byte of the text never has the text's value cannot have it, and its steps are not examined.
 */
#include "strings_parts.h"

#include <stdlib.h>
#include <string.h>

#include "src/ask/grammar/question.h"
#include "src/query/query.h"

/* More ranges, bytes or texts would cost as much as the steps of the chunk. */
#define MAX_BYTES 1024u
#define MAX_TEXTS 1024u

/* The values of a byte: bit b of them all is set if it may have value b. */
struct ts_byte_values {
	uint64_t has[4];
};

/* The lines of [@first, @last] among 64. */
static uint64_t lines_of(uint64_t first, uint64_t last)
{
	uint64_t lines = 0;

	if (last - first >= 64 * 64)
		return UINT64_MAX;
	for (uint64_t line = first / 64; line <= last / 64; line++)
		lines |= UINT64_C(1) << line % 64;
	return lines;
}

/* The ranges that wait for @chunk leave the heap.  Returns false if there are too many. */
static bool take_due(struct ts_strings *x, uint64_t chunk)
{
	const size_t *first;
	size_t n_bytes = 0, n_texts = 0, range;

	x->n_due = 0;
	x->due_lines = 0;
	while ((first = ts_heap_first(&x->waiting)) && x->ranges[*first].chunk == chunk) {
		const struct ts_old_range *r = &x->ranges[*first];
		uint64_t len = r->last - r->first + 1;

		if (x->n_due == TS_STRINGS_MAX_DUE || len > MAX_BYTES - n_bytes || r->n_texts > MAX_TEXTS - n_texts)
			return false;
		x->due[x->n_due++] = (struct ts_due_range){ *first, n_bytes };
		x->due_lines |= lines_of(r->first, r->last);
		n_bytes += (size_t)len;
		n_texts += r->n_texts;
		ts_heap_take(&x->waiting, &range);
	}
	return true;
}

static bool put_back(struct ts_strings *x)
{
	bool done = true;

	for (size_t i = 0; i < x->n_due; i++)
		done &= ts_heap_put(&x->waiting, &x->due[i].range);
	return done;
}

static void allow(struct ts_byte_values *v, uint8_t value)
{
	v->has[value / 64] |= UINT64_C(1) << value % 64;
}

/* The bytes of the range have the values of @pos; what is unknown may be anything. */
static bool allow_state(struct ts_strings *x, const struct ts_due_range *due, uint64_t pos, struct ts_error *err)
{
	const struct ts_old_range *r = &x->ranges[due->range];
	size_t len = (size_t)(r->last - r->first + 1);
	uint8_t data[MAX_BYTES], known[MAX_BYTES];

	if (!ts_query_mem(x->rows.ask->q, pos, x->process, r->first, len, data, known, err))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (known[i])
			allow(&x->values[due->at + i], data[i]);
		else
			memset(&x->values[due->at + i], 0xff, sizeof(*x->values));
	}
	return true;
}

static void allow_access(struct ts_strings *x, const struct ts_effect *e, const uint8_t *data)
{
	uint64_t end = e->addr + (e->len - 1);

	for (size_t i = 0; i < x->n_due; i++) {
		const struct ts_old_range *r = &x->ranges[x->due[i].range];
		uint64_t lo = e->addr > r->first ? e->addr : r->first, hi = end < r->last ? end : r->last;

		for (uint64_t k = lo; k <= hi && k >= lo; k++) {
			struct ts_byte_values *v = &x->values[x->due[i].at + (k - r->first)];

			if (data)
				allow(v, data[k - e->addr]);
			else
				memset(v, 0xff, sizeof(*v));
		}
	}
}

static void allow_accesses(struct ts_strings *x, const struct ts_steps *batch)
{
	for (uint32_t i = 0; i < batch->n_effects; i++) {
		const struct ts_effect *e = &batch->effects[i];
		const uint8_t *data = ts_effect_data(batch, e);

		if (e->kind == TS_FX_READ && !data)
			continue; /* it read what was there */
		if (ts_effect_is_on_memory(e) && (lines_of(e->addr, e->addr + (e->len - 1)) & x->due_lines))
			allow_access(x, e, data);
	}
}

static bool may_be(const struct ts_strings *x, const struct ts_due_range *due, const struct ts_text *t)
{
	const struct ts_byte_values *v = &x->values[due->at + (t->addr - x->ranges[due->range].first)];
	const char *chars = ts_text_chars(&x->texts, t);

	for (size_t i = 0; i < (size_t)t->n << t->is_wide; i++) {
		uint8_t c = !t->is_wide ? (uint8_t)chars[i] : i % 2 ? 0 : (uint8_t)chars[i / 2];

		if (!(v[i].has[c / 64] >> c % 64 & 1))
			return false;
	}
	return true;
}

static bool may_have_one(const struct ts_strings *x)
{
	for (size_t i = 0; i < x->n_due; i++) {
		const struct ts_old_range *r = &x->ranges[x->due[i].range];

		for (size_t k = 0; k < r->n_texts; k++) {
			const struct ts_text *t = &x->texts.items[x->old_texts[r->text + k]];

			if (!t->is_old && may_be(x, &x->due[i], t))
				return true;
		}
	}
	return false;
}

static bool look_for_values(struct ts_strings *x, uint64_t chunk, const struct ts_steps *batch, bool *may, struct ts_error *err)
{
	if (!x->values)
		x->values = malloc(MAX_BYTES * sizeof(*x->values));
	if (!x->values)
		return ts_no_memory(err, "texts");
	memset(x->values, 0, MAX_BYTES * sizeof(*x->values));
	allow_accesses(x, batch);
	for (size_t i = 0; i < x->n_due; i++) {
		if (!allow_state(x, &x->due[i], chunk * TS_CHUNK_STEPS, err))
			return false;
	}
	*may = may_have_one(x);
	return true;
}

bool ts_strings_may_have(struct ts_strings *x, uint64_t chunk, const struct ts_steps *batch, bool *may, struct ts_error *err)
{
	bool done = true;

	*may = true;
	if (take_due(x, chunk))
		done = look_for_values(x, chunk, batch, may, err);
	if (!put_back(x))
		return ts_no_memory(err, "texts");
	return done;
}
