/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listed.h"
#include "marks.h"
#include "number.h"
#include "src/ask/verb.h"
#include "src/symbols/symbols.h"

static bool is_text(const char *word, const char *text, size_t len)
{
	return strlen(word) == len && !memcmp(word, text, len);
}

static bool misunderstood(const char *text, size_t len, const char *why, struct ts_error *err)
{
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' %s", (int)(len < 200 ? len : 200), text, why);
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

bool ts_place_add_steps(uint64_t here, uint64_t n, bool is_back, uint64_t *pos)
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
	if (is_large || !ts_place_add_steps(here, n, is_back, &pos))
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

static bool has_names_of_process(const struct ts_ask *ask)
{
	uint64_t root;

	return ask->symbols && ts_symbols_process(ask->symbols, &root);
}

/* A name that is no mark: of a function, or FILE:LINE. */
static bool parse_code(struct ts_ask_place *place, const struct ts_ask *ask, const char *text, size_t len,
		       struct ts_error *err)
{
	struct ts_error why;

	ts_error_reset(&why);
	place->kind = TS_PLACE_FIRST;
	if (has_names_of_process(ask))
		return misunderstood(text, len, "is not a mark; a name of one process cannot be used as a place", err);
	if (ask->symbols && len && *text != '$' && !isdigit((unsigned char)*text) &&
	    ts_what_parse_code(&place->what, text, len, ts_query_regset(ask->q), ask->symbols, &why))
		return true;
	if (len < sizeof(place->line) && ts_what_is_line(text, len, ask->symbols)) {
		memcpy(place->line, text, len);
		place->line[len] = 0;
		return true;
	}
	if (why.code != TS_OK && !strstr(why.text, "is neither"))
		*err = why; /* it is several things, or a line without code */
	else
		misunderstood(text, len, "is not a place, and no mark has this name", err);
	return false;
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
	if (ask->marks && ts_marks_is_name(text, len))
		mark = ts_marks_find(ask->marks, text, len, &pos, err);
	if (mark == TS_END && (is_text("caller", text, len) || is_text("out", text, len))) {
		place->kind = *text == 'c' ? TS_PLACE_CALLER : TS_PLACE_OUT;
		return true;
	}
	if (mark == TS_END)
		return parse_code(place, ask, text, len, err);
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

/* Parse the text after next or previous, or "next-". */
static bool parse_nearest(struct ts_ask_place *place, struct ts_ask *ask, const char *text, const char *word,
			  const char *end, struct ts_error *err)
{
	static const char *const accesses[] = { "write", "read", "access", "change", "exec" };
	const char *word_end = skip_word(word, end), *what = skip_blanks(word_end, end);
	size_t len = (size_t)(word_end - word), all = (size_t)(end - text);

	for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
		if (!is_text(accesses[i], word, len))
			continue;
		if (what == end)
			return misunderstood(text, all, "is not a place: a register, an address or a symbol is missing",
					     err);
		set_word(place, TS_PLACE_ACCESS, word, len);
		if (!(is_text("exec", word, len) ? ts_what_parse_code : ts_what_parse)(&place->what, what, (size_t)(end - what), ts_query_regset(ask->q),
				   ask->symbols, err))
			return false;
		if (place->what.is_named && has_names_of_process(ask))
			return misunderstood(text, all, "has a name; a name of one process cannot be used in a place", err);
		if (place->what.is_physical && (!ts_query_facts(ask->q)->is_physical || is_text("exec", word, len)))
			return misunderstood(text, all, "asks for an access that physical addresses do not have here", err);
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
	if (place->is_reverse && is_text("line", word, len))
		return set_word(place, TS_PLACE_LINE, word, len);
	if (is_text("switch", word, len))
		return set_word(place, TS_PLACE_SWITCH, word, len);
	if (len < sizeof(place->word) && ts_listed_is_name(word, len))
		return set_word(place, TS_PLACE_EVENT, word, len);
	return misunderstood(text, all,
			     "is not a place: next and previous take write, read, access, change, exec with an "
			     "address, a kind of event, call, return, or switch",
			     err);
}

/* A mark may have a name like next-stop; next-syscall is the kind of event. */
static bool is_mark(const struct ts_ask *ask, const char *text, size_t len)
{
	struct ts_error err;
	uint64_t pos;

	ts_error_reset(&err);
	return ask->marks && ts_marks_is_name(text, len) &&
	       ts_marks_find(ask->marks, text, len, &pos, &err) == TS_ITEM;
}

/* A word that begins with "next-" or "previous-", or several of which the first is next or previous. */
static bool parse_direction(struct ts_ask_place *place, struct ts_ask *ask, const char *text, const char *word,
			    const char *end, struct ts_error *err)
{
	size_t len = (size_t)(end - text);

	if (parse_nearest(place, ask, text, word, end, err))
		return true;
	if (!is_mark(ask, text, len))
		return false;
	*place = (struct ts_ask_place){ 0 };
	ts_error_reset(err);
	return parse_name(place, ask, text, len, err);
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
			return parse_direction(place, ask, text, text[n] == '-' ? text + n + 1 : skip_blanks(text + n, end),
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
