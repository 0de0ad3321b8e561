/* SPDX-License-Identifier: MIT */
/*
 * Beginnings of texts that grew: which of them are shown, and when is that known?
 */
#include "strings_parts.h"

#include <stdlib.h>

#include "src/query/query.h"

/* The last chunk in which [@first, @last] is accessed so; 0 also if no chunk does that. */
static uint64_t last_access(const struct ts_strings *x, unsigned accesses, uint64_t first, uint64_t last)
{
	uint64_t chunk = ts_query_find_access(x->rows.ask->q, accesses, x->process, first, last,
					      (x->rows.ask->n_steps - 1) / TS_CHUNK_STEPS, TS_BACKWARDS);

	return chunk == TS_NO_CHUNK ? 0 : chunk;
}

void ts_strings_begin_doubt(struct ts_strings *x, const struct ts_text *root, uint64_t pos)
{
	uint64_t last = root->addr + ((uint64_t)root->n << root->is_wide) - 1;
	struct ts_doubt d = { .pos = pos,
			      .chunk = last_access(x, TS_ACCESS_CHANGE | TS_ACCESS_REPLACE, root->addr, last),
			      .root = ts_text_ordinal(&x->texts, root) };

	if (d.chunk >= x->pos / TS_CHUNK_STEPS)
		x->is_failed |= !ts_heap_put(&x->doubts, &d);
}

/* How many characters of a text stand at the last position, and what comes after them. */
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
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
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
 * The text changes no more: a beginning that stands with a NUL after it is shown, one with something else if
 * it is read.  Returns false if the trace cannot be read, or memory is exhausted.
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
	return !x->is_failed || ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
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
