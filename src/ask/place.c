/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "marks.h"
#include "number.h"
#include "src/query/call_list.h"
#include "state.h"
#include "verb.h"

static bool is_text(const char *word, const char *text, size_t len)
{
	return strlen(word) == len && !memcmp(word, text, len);
}

static bool misunderstood(const char *text, size_t len, const char *why, struct ts_error *err)
{
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' %s", (int)(len < 200 ? len : 200), text, why);
}

bool ts_place_is_name(const char *text, size_t len)
{
	static const char *const grammar[] = { "begin", "start", "end",	    "last", "first", "frame",
					       "next",	"previous", "in", "if",	  "at",	   "thread" };

	if (!len || !(isalpha((unsigned char)*text) || *text == '_'))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
			return false;
	}
	for (size_t i = 0; i < sizeof(grammar) / sizeof(grammar[0]); i++) {
		if (is_text(grammar[i], text, len))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------- positions */

static bool set_position(struct ts_ask_place *place, const struct ts_ask *ask, uint64_t pos, const char *text,
			 size_t len, struct ts_error *err)
{
	place->kind = TS_PLACE_POSITION;
	place->pos = pos;
	if (pos <= ask->n_steps)
		return true;
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is not a position: the last one is %" PRIu64,
		       (int)(len < 100 ? len : 100), text, ask->n_steps);
}

/* *pos gets the position @n away from @here.  Returns false if that is before the first. */
static bool add_steps(uint64_t here, uint64_t n, bool is_back, uint64_t *pos)
{
	return is_back ? !__builtin_sub_overflow(here, n, pos) : !__builtin_add_overflow(here, n, pos);
}

/* +N, -N: from here. */
static bool parse_relative(struct ts_ask_place *place, const struct ts_ask *ask, const char *text, size_t len,
			   uint64_t here, struct ts_error *err)
{
	uint64_t n, pos;
	bool is_large, is_back = *text == '-';

	if (!ts_number_parse(text + 1, len - 1, TS_COMMAS_GROUP, &n, &is_large) && !is_large)
		return misunderstood(text, len, "is not a place", err);
	if (here == TS_NO_POS && !is_large) {
		*place = (struct ts_ask_place){ .kind = TS_PLACE_RELATIVE, .pos = n, .is_reverse = is_back };
		return true;
	}
	if (is_large || !add_steps(here, n, is_back, &pos))
		pos = UINT64_MAX;
	return set_position(place, ask, pos, text, len, err);
}

static bool parse_percent(struct ts_ask_place *place, const struct ts_ask *ask, const char *text, size_t len,
			  struct ts_error *err)
{
	struct ts_percentage share;
	const char *why = ts_percentage_parse(text, len, &share);

	if (why)
		return misunderstood(text, len, why, err);
	return set_position(place, ask, ts_percentage_of(&share, ask->n_steps), text, len, err);
}

/* #R: a row of the table that was shown last. */
static bool parse_row(struct ts_ask_place *place, const struct ts_ask *ask, const char *text, size_t len,
		      struct ts_error *err)
{
	uint64_t row;
	bool is_large;

	if (!ts_number_parse(text + 1, len - 1, TS_COMMAS_GROUP, &row, &is_large) || !row ||
	    row > ask->n_shown)
		return misunderstood(text, len, ask->n_shown ? "is not a row of the last table" :
							       "is not a row: no table has been shown", err);
	if (ask->shown[row - 1] == TS_NO_POS)
		return misunderstood(text, len, "is a row without a position", err);
	return set_position(place, ask, ask->shown[row - 1], text, len, err);
}

static bool parse_name(struct ts_ask_place *place, const struct ts_ask *ask, const char *text, size_t len,
		       struct ts_error *err)
{
	enum ts_next mark = TS_END;
	uint64_t pos;

	if (is_text("begin", text, len) || is_text("start", text, len))
		return set_position(place, ask, 0, text, len, err);
	if (is_text("end", text, len) || is_text("last", text, len))
		return set_position(place, ask, ask->n_steps, text, len, err);
	if (is_text("frame", text, len))
		return ask->has_frame
			       ? set_position(place, ask, ask->frame, text, len, err)
			       : misunderstood(text, len, "is not a place: no trace frame is selected", err);
	if (ask->marks && ts_place_is_name(text, len))
		mark = ts_marks_find(ask->marks, text, len, &pos, err);
	if (mark == TS_END)
		return misunderstood(text, len, "is not a place, and no mark has this name", err);
	return mark == TS_ITEM && set_position(place, ask, pos, text, len, err);
}

/* ------------------------------------------------------------------------------------- next and previous */

static const char *skip_word(const char *text, const char *end)
{
	while (text < end && !isspace((unsigned char)*text))
		text++;
	return text;
}

static const char *skip_blanks(const char *text, const char *end)
{
	while (text < end && isspace((unsigned char)*text))
		text++;
	return text;
}

static bool set_word(struct ts_ask_place *place, enum ts_place_kind kind, const char *word, size_t len)
{
	place->kind = kind;
	memcpy(place->word, word, len);
	place->word[len] = 0;
	return true;
}

/* What follows next or previous, or "next-". */
static bool parse_nearest(struct ts_ask_place *place, struct ts_ask *ask, const char *text, const char *word,
			  const char *end, struct ts_error *err)
{
	static const char *const accesses[] = { "write", "read", "access", "change", "exec" };
	const char *word_end = skip_word(word, end), *what = skip_blanks(word_end, end);
	size_t len = (size_t)(word_end - word), all = (size_t)(end - text);

	for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
		if (!is_text(accesses[i], word, len))
			continue;
		set_word(place, TS_PLACE_ACCESS, word, len);
		if (!ts_what_parse(&place->what, what, (size_t)(end - what), ts_query_regset(ask->q),
				   ask->symbols, err))
			return false;
		if (place->what.kind == TS_WHAT_REG && strcmp(place->word, "write") &&
		    strcmp(place->word, "change"))
			return misunderstood(text, all, "asks for an access that registers do not have", err);
		return true;
	}
	if (what != end)
		return misunderstood(text, all, "is not a place", err);
	if (is_text("call", word, len))
		return set_word(place, TS_PLACE_CALL, word, len);
	if (is_text("return", word, len))
		return set_word(place, TS_PLACE_RETURN, word, len);
	if (is_text("switch", word, len))
		return set_word(place, TS_PLACE_SWITCH, word, len);
	if (len < sizeof(place->word) && ts_events_is_kind(word, len))
		return set_word(place, TS_PLACE_EVENT, word, len);
	return misunderstood(text, all,
			     "is not a place: next and previous take write, read, access, change, exec with an "
			     "address, a kind of event, call, return, or switch",
			     err);
}

bool ts_place_parse(struct ts_ask_place *place, struct ts_ask *ask, const char *text, size_t len,
		    uint64_t here, struct ts_error *err)
{
	static const char *const words[] = { "next", "previous" };
	uint64_t pos;
	bool is_large;

	*place = (struct ts_ask_place){ 0 };
	for (unsigned i = 0; i < 2; i++) {
		size_t n = strlen(words[i]);

		if (len > n && !memcmp(text, words[i], n) &&
		    (text[n] == '-' || isspace((unsigned char)text[n]))) {
			const char *end = text + len;

			place->is_reverse = i;
			return parse_nearest(place, ask, text, text[n] == '-' ? text + n + 1 : skip_blanks(text + n, end),
					     end, err);
		}
	}
	if (ts_number_parse(text, len, TS_COMMAS_GROUP, &pos, &is_large) || is_large)
		return set_position(place, ask, is_large ? UINT64_MAX : pos, text, len, err);
	if (len && (*text == '+' || *text == '-'))
		return parse_relative(place, ask, text, len, here, err);
	if (len && *text == '#')
		return parse_row(place, ask, text, len, err);
	if (len && text[len - 1] == '%')
		return parse_percent(place, ask, text, len, err);
	return parse_name(place, ask, text, len, err);
}

/* ---------------------------------------------------------------------------------------------- searches */

static void set_bounds(struct ts_seek *s)
{
	struct ts_question *qn = s->qn;

	qn->has_range = true;
	qn->from = s->place->is_reverse ? 0 : s->here + 1;
	qn->to = s->place->is_reverse ? s->here : s->ask->n_steps + 1;
}

/* The question of which one row is the place.  Returns the name of its verb, NULL if none is needed. */
static const char *make_question(struct ts_seek *s, char *name, size_t len)
{
	const struct ts_ask_place *place = s->place;
	struct ts_question *qn = s->qn;

	switch (place->kind) {
	case TS_PLACE_ACCESS:
		snprintf(name, len, "%s-%s", place->is_reverse ? "last" : "next", place->word);
		qn->what = place->what;
		return name;
	case TS_PLACE_EVENT:
		strcpy(qn->operand, place->word);
		set_bounds(s);
		return "events";
	case TS_PLACE_CALL:
		set_bounds(s);
		qn->from -= qn->from != 0; /* a call's position is one before its begin */
		qn->to -= qn->to != 0;
		return "calls";
	case TS_PLACE_POSITION:
	case TS_PLACE_RELATIVE:
	case TS_PLACE_RETURN:
	case TS_PLACE_SWITCH:
		break;
	}
	return NULL;
}

bool ts_seek_init(struct ts_seek *s, struct ts_ask *ask, const struct ts_ask_place *place, uint64_t here,
		  struct ts_error *err)
{
	const char *name;
	char text[32];

	*s = (struct ts_seek){ .place = place, .ask = ask, .here = here };
	s->qn = calloc(1, sizeof(*s->qn));
	if (!s->qn)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a search");
	*s->qn = (struct ts_question){ .thread = TS_NO_THREAD, .to = ask->n_steps + 1, .at = here,
				       .depth = TS_NO_LIMIT, .min = TS_NO_LIMIT, .count = TS_NO_LIMIT };
	name = make_question(s, text, sizeof(text));
	if (!name || (s->qn->from >= s->qn->to))
		return true;
	s->qn->verb = ts_verb_find(name, strlen(name));
	if (!s->qn->verb)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%s' is not a place that can be found",
			       place->word);
	s->rows = s->qn->verb->open(ask, s->qn, place->is_reverse && s->qn->verb->is_reversible, err);
	if (s->rows)
		s->rows->is_bare = true;
	return s->rows != NULL;
}

void ts_seek_fini(struct ts_seek *s)
{
	ts_rows_close(s->rows);
	free(s->qn);
	*s = (struct ts_seek){ 0 };
}

/*
 * The nearest position with another thread running than at the one before: after the last step of any other
 * thread.
 */
static enum ts_got find_previous_switch(struct ts_seek *s, struct ts_budget *budget, uint64_t *pos)
{
	const struct ts_query *q = s->ask->q;
	uint32_t running = s->here > 1 ? ts_query_thread(q, s->here - 1) : 0;

	for (; s->here > 1 && s->thread < ts_query_n_threads(q); s->thread++) {
		uint64_t step;

		if (s->thread == running)
			continue;
		if (!ts_budget_take(budget))
			return TS_GOT_PENDING;
		step = ts_query_prev_step(q, s->thread, s->here - 2);
		if (step != TS_NO_POS && step + 1 > s->nearest)
			s->nearest = step + 1;
	}
	if (s->nearest)
		*pos = s->nearest;
	return TS_GOT_ROW;
}

static enum ts_got find_switch(struct ts_seek *s, struct ts_budget *budget, uint64_t *pos)
{
	uint64_t end = s->ask->n_steps;

	if (s->place->is_reverse)
		return find_previous_switch(s, budget, pos);
	if (s->here < end)
		end = ts_query_slice_end(s->ask->q, s->here);
	if (end < s->ask->n_steps)
		*pos = end;
	return TS_GOT_ROW;
}

/* Where the row is: a row's position, or for what is arrived at, the position after it. */
static uint64_t place_of(const struct ts_seek *s, const struct ts_row *row)
{
	uint64_t pos = row->cells[0].number;

	switch (s->place->kind) {
	case TS_PLACE_ACCESS:
		return pos + (!s->place->is_reverse && strcmp(s->place->word, "exec"));
	case TS_PLACE_CALL:
		return pos + 1;
	default:
		return pos;
	}
}

/* The nearest position at which a call returned. */
static enum ts_got find_return(const struct ts_seek *s, struct ts_budget *budget, uint64_t *pos,
			       struct ts_error *err)
{
	enum ts_got got = ts_ask_need_calls(s->ask, budget, err);

	if (got == TS_GOT_ROW)
		*pos = s->place->is_reverse ? ts_query_prev_return(s->ask->q, s->here)
					    : ts_query_next_return(s->ask->q, s->here);
	return got;
}

/* A position that is @place->pos steps away from where the search begins. */
static uint64_t find_relative(const struct ts_seek *s, struct ts_error *err)
{
	const struct ts_ask_place *place = s->place;
	uint64_t pos;

	if (add_steps(s->here, place->pos, place->is_reverse, &pos) && pos <= s->ask->n_steps)
		return pos;
	ts_fail(err, TS_EUSAGE, TS_NO_OFF,
		"'%c%" PRIu64 "' from %" PRIu64 " is not a position: the last one is %" PRIu64,
		place->is_reverse ? '-' : '+', place->pos, s->here, s->ask->n_steps);
	return TS_NO_POS;
}

bool ts_seek_run(struct ts_seek *s, struct ts_budget *budget, uint64_t *pos, struct ts_error *err)
{
	struct ts_row row;
	enum ts_got got;

	*pos = s->place->kind == TS_PLACE_POSITION ? s->place->pos : TS_NO_POS;
	if (s->place->kind == TS_PLACE_RELATIVE)
		*pos = find_relative(s, err);
	if (s->place->kind == TS_PLACE_SWITCH)
		return find_switch(s, budget, pos) != TS_GOT_PENDING;
	if (s->place->kind == TS_PLACE_RETURN)
		return find_return(s, budget, pos, err) != TS_GOT_PENDING;
	if (!s->rows)
		return true;
	ts_row_init(&row);
	got = s->rows->ops->next(s->rows, &row, budget, err);
	if (got == TS_GOT_ROW)
		*pos = place_of(s, &row);
	ts_row_fini(&row);
	return got != TS_GOT_PENDING;
}
