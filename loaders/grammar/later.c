/* SPDX-License-Identifier: MIT */
/*
 * Where a state lists the accesses of its thread's instruction before it, those of the last instruction before another
 * thread runs are on a later line: the next one of its thread.  They are looked up there when the other thread comes.
 */
#include "reader_parts.h"

/* The maximum number of examined bytes at each switch between threads. */
#define MAX_LOOKED 65536u

/* Is each state a line of its own, with its thread? */
static bool is_able(const struct grammar_log *log)
{
	const struct grammar *g = &log->g;

	if (!g->is_state || !g->has_accesses || !g->has_thread || g->has_skips || g->prefix >= 0 || log->parts.n > 1)
		return false;
	for (unsigned i = 0; i < g->n_patterns; i++) {
		if (g->patterns[i].kind == GRAMMAR_JOIN || g->patterns[i].kind == GRAMMAR_EFFECT || g->patterns[i].kind == GRAMMAR_NEXT)
			return false;
	}
	return true;
}

void grammar_later_init(struct grammar_later *l, const struct grammar_log *log)
{
	ts_line_reader_init(&l->lines, log->src, 0, MAX_LOOKED);
	grammar_matcher_init(&l->matcher, &log->g, &log->map, &log->base.regs);
	ts_steps_init(&l->fx);
	l->is_able = is_able(log);
}

void grammar_later_fini(struct grammar_later *l)
{
	ts_line_reader_fini(&l->lines);
	ts_steps_fini(&l->fx);
}

/* The meaning of a line in the search for the next line of a thread. */
enum look {
	LOOK_ON,
	LOOK_FOUND,
	LOOK_NO_MORE, /* it may be the thread's, or changes what comes after it */
};

static enum look look_at(struct grammar_later *l, uint64_t thread, const struct ts_text_line *text)
{
	const struct grammar_line *line = &l->line;
	uint64_t other;

	if (!text->is_whole)
		return LOOK_NO_MORE;
	if (grammar_match_thread(&l->matcher, text->text, text->len, &other) && other != thread)
		return LOOK_ON;
	ts_steps_reset(&l->fx);
	grammar_match(&l->matcher, text->text, text->len - (text->len && text->text[text->len - 1] == '\r'), &l->line, &l->fx);
	switch (line->kind) {
	case GRAMMAR_STATE:
		return line->has & HAS_PC && line->has & HAS_THREAD && line->thread == thread && !line->n_bad && !line->n_skipped ? LOOK_FOUND
																   : LOOK_NO_MORE;
	case GRAMMAR_NOISE: return line->is_damaged ? LOOK_NO_MORE : LOOK_ON;
	case GRAMMAR_NOTE:
	case GRAMMAR_CODE:
	case GRAMMAR_LOAD:
	case GRAMMAR_UNLOAD: return LOOK_ON;
	default: return LOOK_NO_MORE;
	}
}

/* Find the next line of the thread: l->fx gets what it says. */
static bool find(struct grammar_later *l, uint64_t thread, uint64_t off, bool *is_found, struct ts_error *err)
{
	enum look look = LOOK_ON;
	size_t got;

	/* all of them at once, so that the next search, which begins before the end of this one, finds them there */
	if (!ts_window_at(&l->lines.window, off, MAX_LOOKED, &got, err))
		return false;
	l->lines.off = off;
	while (l->lines.off - off < MAX_LOOKED && look == LOOK_ON) {
		struct ts_text_line text;
		enum ts_next next = ts_line_reader_next(&l->lines, &text, err);

		if (next == TS_FAIL && err->code != TS_ELIMIT)
			return false;
		if (next == TS_FAIL)
			ts_error_reset(err);
		look = next == TS_ITEM ? look_at(l, thread, &text) : LOOK_NO_MORE;
	}
	*is_found = look == LOOK_FOUND;
	return true;
}

/* Is it known how much each access of the line accessed? */
static bool has_sizes(const struct ts_steps *fx)
{
	for (uint32_t i = 0; i < fx->n_effects; i++) {
		if (!fx->effects[i].len)
			return false;
	}
	return true;
}

bool grammar_later_append(struct grammar_later *l, uint64_t thread, uint64_t off, struct ts_steps *out, bool *is_told,
			struct ts_error *err)
{
	*is_told = false;
	if (!l->is_able)
		return true;
	if (!find(l, thread, off, is_told, err))
		return false;
	*is_told = *is_told && has_sizes(&l->fx);
	if (*is_told && !l->line.n_accesses) /* it may have been a system call, of which no line lists what the kernel wrote */
		ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
	for (uint32_t i = 0; i < l->fx.n_effects && *is_told; i++) {
		const struct ts_effect *e = &l->fx.effects[i];
		struct ts_effect *write = e->kind == TS_FX_WRITE ? ts_steps_effect(out, TS_FX_WRITE, e->addr, e->len) : NULL;

		if (write)
			write->is_hidden = e->is_hidden;
	}
	return (!l->fx.is_failed && !out->is_failed) || ts_no_memory(err, "a step");
}
