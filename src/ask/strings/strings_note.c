/* SPDX-License-Identifier: MIT */
/*
 * Texts that were found: each becomes a row once, and the long ones that were read last are kept at hand.
 */
#include "strings_parts.h"

#include <string.h>

#include "src/ask/grammar/question.h"

/* A shorter text is not kept among those that were read lately. */
#define MIN_RECENT 32u

bool ts_strings_is_in_what(const struct ts_strings *x, uint64_t addr, size_t n, bool is_wide)
{
	return addr <= x->last && addr + (n << is_wide) - 1 >= x->first;
}

void ts_strings_show(struct ts_strings *x, struct ts_text *t)
{
	uint32_t ordinal = ts_text_ordinal(&x->texts, t);

	t->is_hidden = false;
	if (t->pos >= x->rows.qn->from && t->pos < x->rows.qn->to)
		x->is_failed |= !ts_heap_put(&x->ready, &ordinal);
}

struct ts_text *ts_strings_note(struct ts_strings *x, uint64_t addr, uint64_t pos, const char *chars,
				size_t n, bool is_wide, bool is_read)
{
	struct ts_text new = { .addr = addr,
			       .pos = pos,
			       .n = (uint32_t)n,
			       .root = TS_NO_ROOT,
			       .is_wide = is_wide,
			       .is_read = is_read,
			       .is_hidden = true };
	struct ts_text *t;

	if (!ts_strings_is_in_what(x, addr, n, is_wide) || x->is_failed)
		return NULL;
	new.hash = ts_text_hash_more(ts_text_hash(addr), chars, n);
	t = ts_texts_find(&x->texts, chars, &new);
	if (!t)
		t = ts_texts_add(&x->texts, chars, &new);
	x->is_failed |= !t;
	if (!t)
		return NULL;
	if (t->is_hidden)
		ts_strings_show(x, t);
	if (is_read && !is_wide && n >= MIN_RECENT)
		x->recent[x->at_recent++ % TS_STRINGS_N_RECENT] = ts_text_ordinal(&x->texts, t) + 1;
	return t;
}

bool ts_strings_is_recent(const struct ts_strings *x, const struct ts_effect *e, const uint8_t *value)
{
	for (unsigned i = 0; i < TS_STRINGS_N_RECENT; i++) {
		const struct ts_text *t = x->recent[i] ? &x->texts.items[x->recent[i] - 1] : NULL;

		if (t && e->addr >= t->addr && e->addr - t->addr < t->n &&
		    e->len < t->n - (e->addr - t->addr) &&
		    (!value || !memcmp(value, ts_text_chars(&x->texts, t) + (e->addr - t->addr), e->len)))
			return true;
	}
	return false;
}

void ts_strings_forget_recent(struct ts_strings *x, const struct ts_effect *e)
{
	for (unsigned i = 0; i < TS_STRINGS_N_RECENT; i++) {
		const struct ts_text *t = x->recent[i] ? &x->texts.items[x->recent[i] - 1] : NULL;
		uint64_t last = e->addr + (e->len - 1);

		if (t && e->addr <= t->addr + t->n + 1 && last >= (t->addr > 2 ? t->addr - 2 : 0))
			x->recent[i] = 0;
	}
}
