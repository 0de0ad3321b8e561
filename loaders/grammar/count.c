/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/kit/line_reader.h"
#include "loaders/grammar/language/match.h"

/* The number of counted lines, the number of shown lines that no pattern matches, and their characters. */
#define MAX_COUNTED 10000u
#define MAX_SHOWN   5u
#define MAX_TEXT    80u

struct counts {
	struct grammar_matcher matcher;
	struct ts_steps fx;
	uint32_t by_pattern[GRAMMAR_MAX_PATTERNS];
	uint32_t n, n_none, n_empty;
	struct ts_buf unmatched; /* notes, as of a recording */
};

/* The grammar's name for a kind of line. */
static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[GRAMMAR_STEP] = "step",     [GRAMMAR_STATE] = "state",	  [GRAMMAR_JOIN] = "join",
		[GRAMMAR_EFFECT] = "effect", [GRAMMAR_CODE] = "code",	  [GRAMMAR_LOAD] = "load",
		[GRAMMAR_UNLOAD] = "unload", [GRAMMAR_GAP] = "gap",	  [GRAMMAR_EVENT] = "event",
		[GRAMMAR_UNDO] = "undo",     [GRAMMAR_REFUSE] = "refuse", [GRAMMAR_NOTE] = "note",
		[GRAMMAR_SKIP] = "skip",     [GRAMMAR_TAKE] = "take",	  [GRAMMAR_NEXT] = "next",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "";
}

/* A line that no pattern matches, as a note. */
static void show_line(struct counts *c, const struct ts_text_line *text)
{
	size_t len = text->len < MAX_TEXT ? text->len : MAX_TEXT;
	const char *nul = memchr(text->text, 0, len);

	ts_buf_put(&c->unmatched, "no pattern", sizeof("no pattern"));
	ts_buf_printf(&c->unmatched, "line %" PRIu32 ": ", c->n);
	ts_buf_put(&c->unmatched, text->text, nul ? (size_t)(nul - text->text) : len);
	ts_buf_put(&c->unmatched, text->len > len ? "..." : "", text->len > len ? 4 : 1);
}

static void count_line(struct counts *c, struct ts_text_line *text)
{
	struct grammar_line line;

	text->len -= text->len && text->text[text->len - 1] == '\r';
	ts_steps_reset(&c->fx);
	grammar_match(&c->matcher, text->text, text->len, &line, &c->fx);
	c->n++;
	if (line.kind == GRAMMAR_NOISE && c->n_none++ < MAX_SHOWN)
		show_line(c, text);
	c->n_empty += line.kind == GRAMMAR_NOTE && line.pattern == GRAMMAR_MAX_PATTERNS;
	if (line.kind != GRAMMAR_NOISE && line.pattern < GRAMMAR_MAX_PATTERNS)
		c->by_pattern[line.pattern]++;
}

static bool count_lines(struct counts *c, const struct ts_source *src, struct ts_error *err)
{
	struct ts_line_reader lines;
	struct ts_text_line text;
	enum ts_next next = TS_ITEM;

	ts_line_reader_init(&lines, src, 0, GRAMMAR_MAX_LINE);
	while (next == TS_ITEM && c->n < MAX_COUNTED && !c->fx.is_failed) {
		next = ts_line_reader_next(&lines, &text, err);
		if (next == TS_ITEM) {
			count_line(c, &text);
		} else if (next == TS_FAIL && err->code == TS_ELIMIT) {
			ts_error_reset(err);
			next = ts_line_reader_pass(&lines, err);
		}
	}
	ts_line_reader_fini(&lines);
	return next != TS_FAIL;
}

/* Patterns on one line of the grammar are counted together. */
static void note_counts(const struct counts *c, const struct grammar *g, struct ts_buf *notes)
{
	ts_buf_put(notes, "lines", sizeof("lines"));
	ts_buf_printf(notes, "of the first %" PRIu32, c->n);
	for (unsigned i = 0, last = 0; i < g->n_patterns; last = g->patterns[i++].line) {
		uint32_t n = 0;

		if (g->patterns[i].line == last || g->patterns[i].kind == GRAMMAR_ITEM || g->patterns[i].kind == GRAMMAR_PREFIX)
			continue;
		for (unsigned k = i; k < g->n_patterns && g->patterns[k].line == g->patterns[i].line; k++)
			n += c->by_pattern[k];
		ts_buf_printf(notes, ", %" PRIu32 " by line %u (%s)", n, g->patterns[i].line, kind_name(g->patterns[i].kind));
	}
	if (c->n_empty)
		ts_buf_printf(notes, ", %" PRIu32 " empty", c->n_empty);
	ts_buf_printf(notes, ", %" PRIu32 " by no pattern", c->n_none);
	ts_buf_put(notes, "", 1);
}

bool grammar_count_lines(struct grammar_log *log, struct ts_error *err)
{
	struct counts *c = calloc(1, sizeof(*c));
	bool done;

	if (!c)
		return ts_no_memory(err, "counting lines");
	ts_steps_init(&c->fx);
	ts_buf_init(&c->unmatched);
	grammar_matcher_init(&c->matcher, &log->g, &log->map, &log->base.regs);
	done = count_lines(c, log->src, err);
	if (done && (c->fx.is_failed || !ts_buf_ok(&c->unmatched)))
		done = ts_no_memory(err, "counting lines");
	if (done) {
		note_counts(c, &log->g, &log->base.notes);
		ts_buf_put(&log->base.notes, c->unmatched.data, c->unmatched.len);
	}
	ts_steps_fini(&c->fx);
	ts_buf_fini(&c->unmatched);
	free(c);
	return done;
}
