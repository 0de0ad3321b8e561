/* SPDX-License-Identifier: MIT */
#include "question_places.h"

#include <stdio.h>
#include <string.h>

#include "question.h"
#include "words.h"
#include "src/ask/verb.h"

/* How many words a PLACE has at most that begins here. */
static unsigned n_place_words(const struct ts_words *w)
{
	static const char *const with_what[] = { "write", "read", "access", "change", "exec" };
	struct ts_words second = *w;

	if (!ts_words_is(w, "next") && !ts_words_is(w, "previous"))
		return 1;
	ts_words_next(&second);
	for (size_t i = 0; i < sizeof(with_what) / sizeof(with_what[0]); i++) {
		if (ts_words_is(&second, with_what[i]))
			return 3;
	}
	return 2;
}

/* Skip a PLACE.  Returns the bytes from its first to its last word. */
static size_t skip_place(struct ts_words *w)
{
	const char *start = w->p, *end = start;

	for (unsigned n = n_place_words(w); n && w->len; n--) {
		end = w->p + w->len;
		ts_words_next(w);
	}
	return (size_t)(end - start);
}

uint64_t ts_question_here(const struct ts_ask *ask, const struct ts_verb *verb)
{
	if (ask->has_here)
		return ask->here;
	return verb->is_forward ? 0 : ask->n_steps;
}

/* The verb whose nearest row the place is; NULL: a position that needs none. */
static const struct ts_verb *verb_of(const struct ts_ask_place *place)
{
	char name[sizeof("next-") + sizeof(place->word)];

	switch (place->kind) {
	case TS_PLACE_ACCESS:
		snprintf(name, sizeof(name), "%s-%s", place->is_reverse ? "last" : "next", place->word);
		break;
	case TS_PLACE_FIRST:
		strcpy(name, "executions");
		break;
	case TS_PLACE_EVENT:
		strcpy(name, "events");
		break;
	case TS_PLACE_CALL:
		strcpy(name, "calls");
		break;
	default:
		return NULL;
	}
	return ts_verb_find(name, strlen(name));
}

static bool parse_place(struct ts_ask_place *place, struct ts_ask *ask, const char *text, size_t len, uint64_t here,
			struct ts_error *err)
{
	if (!ts_place_parse(place, ask, text, len, here, err))
		return false;
	place->verb = verb_of(place);
	return true;
}

bool ts_question_place(struct ts_ask_place *place, struct ts_ask *ask, struct ts_words *w, uint64_t here,
		       struct ts_error *err)
{
	const char *text = w->p;

	if (!w->len)
		return ts_words_fail(w, "a position or another place is missing", err);
	return parse_place(place, ask, text, skip_place(w), here, err);
}

/*
 * One of the places that the question is asked from, seen from @here; TS_NO_POS: that is to be found first.
 */
static bool parse_anchor(struct ts_anchor *anchor, struct ts_ask *ask, const char *text, size_t len,
			 uint64_t here, struct ts_error *err)
{
	anchor->text = text;
	anchor->len = len;
	return parse_place(&anchor->place, ask, text, len, here, err);
}

static bool fail_range(const struct ts_question *qn, const char *why, struct ts_error *err)
{
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is %s", (int)qn->range_len, qn->range, why);
}

bool ts_question_take_range(struct ts_question *qn, struct ts_words *w, struct ts_error *err)
{
	const char *end = NULL;
	const char *colon = NULL;
	unsigned n = n_place_words(w);

	qn->range = w->p;
	for (; n && w->len; n--) {
		if (n == 1)
			colon = memrchr(w->p, ':', w->len);
		end = w->p + w->len;
		if (colon && colon[1] && colon + 1 < end) {
			struct ts_words b = { .p = colon + 1, .len = (size_t)(end - colon) - 1 };
			unsigned n_b = n_place_words(&b);

			for (; n_b > 1 && w->len; n_b--) {
				ts_words_next(w);
				end = w->p + w->len;
			}
		}
		ts_words_next(w);
	}
	if (!end)
		return ts_words_fail(w, "a range A:B is missing", err);
	qn->has_range = true;
	qn->range_len = (size_t)(end - qn->range);
	return colon || fail_range(qn, "not a range A:B", err);
}

/* Where B begins: after the first colon that is followed by next or previous, else after the last one. */
static const char *find_colon(const struct ts_question *qn)
{
	const char *end = qn->range + qn->range_len;

	for (const char *p = qn->range; p < end; p++) {
		if (*p == ':' && ((size_t)(end - p) > 5 &&
				  (!strncmp(p + 1, "next ", 5) || !strncmp(p + 1, "previous ", 9))))
			return p;
	}
	return memrchr(qn->range, ':', qn->range_len);
}

/* Parse the range A:B, of which @colon is the separator. */
static bool parse_ends(struct ts_question *qn, struct ts_ask *ask, const char *colon, struct ts_error *err)
{
	const char *end = qn->range + qn->range_len;
	const struct ts_anchor *at = &qn->anchors[TS_ANCHOR_AT];
	uint64_t here = at->len && at->place.kind != TS_PLACE_POSITION ? TS_NO_POS : qn->at;

	qn->from = 0;
	qn->to = ask->n_steps;
	qn->anchors[TS_ANCHOR_FROM] = qn->anchors[TS_ANCHOR_TO] = (struct ts_anchor){ 0 };
	if (colon > qn->range && !parse_anchor(&qn->anchors[TS_ANCHOR_FROM], ask, qn->range,
					       (size_t)(colon - qn->range), here, err))
		return false;
	return colon + 1 == end ||
	       parse_anchor(&qn->anchors[TS_ANCHOR_TO], ask, colon + 1, (size_t)(end - colon) - 1, here, err);
}

/* The colons of FILE:LINE:FILE:LINE. */
#define MAX_COLONS 3u

bool ts_question_range(struct ts_question *qn, struct ts_ask *ask, struct ts_error *err)
{
	const char *colon = find_colon(qn);
	struct ts_error ignored;

	if (!colon)
		return fail_range(qn, "not a range A:B", err);
	if (parse_ends(qn, ask, colon, err) || err->code != TS_EUSAGE)
		return err->code == TS_OK;
	for (unsigned n = 1; n < MAX_COLONS && (colon = memrchr(qn->range, ':', (size_t)(colon - qn->range))); n++) {
		ts_error_reset(&ignored);
		if (!parse_ends(qn, ask, colon, &ignored))
			continue;
		ts_error_reset(err);
		return true;
	}
	return false;
}

bool ts_question_minus(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err)
{
	const char *text = w->p, *end = text + w->len, *colon = w->len ? memrchr(text, ':', w->len) : NULL;

	if (!colon)
		return ts_words_fail(w, w->len ? "is not a range A:B" : "a range A:B is missing", err);
	if (qn->has_minus)
		return ts_words_fail(w, "is a second range", err);
	qn->has_minus = true;
	qn->minus_from = 0;
	qn->minus_to = ask->n_steps;
	ts_words_next(w);
	if (colon > text && !parse_anchor(&qn->anchors[TS_ANCHOR_MINUS_FROM], ask, text, (size_t)(colon - text), qn->at, err))
		return false;
	return colon + 1 == end ||
	       parse_anchor(&qn->anchors[TS_ANCHOR_MINUS_TO], ask, colon + 1, (size_t)(end - colon) - 1, qn->at, err);
}

bool ts_question_at(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err)
{
	struct ts_anchor *at = &qn->anchors[TS_ANCHOR_AT];
	const char *text = w->p;

	if (!w->len)
		return ts_words_fail(w, "a position or another place is missing", err);
	if (!parse_anchor(at, ask, text, skip_place(w), qn->at, err))
		return false;
	if (at->place.kind == TS_PLACE_POSITION)
		qn->at = at->place.pos;
	return true;
}
