/* SPDX-License-Identifier: MIT */
#include "asking.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "wait.h"
#include "src/ask/answer.h"
#include "src/ask/find_symbols.h"
#include "src/ask/marks.h"
#include "src/ask/symbols.h"
#include "src/base/clock.h"
#include "src/trace/source.h"

/* Between two looks at the clock. */
#define CHUNKS_A_TURN 4

/* The number of places that "back" remembers. */
#define MAX_BACK 64u

struct rsp_asking {
	struct ts_ask ask;
	struct ts_symbols *symbols; /* owned */
	struct ts_marks *marks;     /* owned; NULL: marks cannot be kept */
	struct ts_answer *answer;   /* owned; the job's */
	uint64_t *shown;            /* owned; positions of the table that was shown last */
	uint64_t back[MAX_BACK];    /* where goto left, oldest first; then, after back, where it came from */
};

void rsp_asking_free(struct rsp_asking *q)
{
	if (!q)
		return;
	ts_answer_free(q->answer);
	ts_symbols_free(q->symbols);
	ts_marks_free(q->marks);
	free(q->shown);
	free(q);
}

bool rsp_asking_is_verb(const char *name)
{
	return ts_verb_find(name, strlen(name)) != NULL;
}

void rsp_asking_help(const char *const *commands, size_t n, struct ts_buf *out)
{
	size_t n_verbs;
	const struct ts_verb *const *verbs = ts_verbs(&n_verbs);

	for (size_t i = 0; i < n_verbs; i++) {
		bool is_command = false;

		for (size_t k = 0; k < n; k++)
			is_command |= !strcmp(commands[k], verbs[i]->name);
		if (!is_command)
			ts_buf_printf(out, "monitor %s %-*s %s\n", verbs[i]->name, (int)(26 - strlen(verbs[i]->name)),
				      verbs[i]->synopsis, verbs[i]->help);
	}
}

/* ------------------------------------------------------------------------------------------- one session */

static bool find_symbols(const struct rsp_session *s, struct ts_symbols *symbols, struct ts_error *err)
{
	const struct rsp_target *target = s->target;
	const uint64_t *base = target->located.by == TS_LOCATED_NOT ? NULL : &target->located.first;

	return ts_find_symbols(symbols, target->q, target->exec ? ts_source_name(target->exec) : NULL, base,
			       target->local, err);
}

/* The state kept between questions; made with the first one. */
static bool prepare(struct rsp_session *s, struct ts_error *err)
{
	struct rsp_asking *q = s->asking;

	if (!q) {
		q = calloc(1, sizeof(*q));
		if (q) {
			q->symbols = ts_symbols_new();
			q->marks = s->target->trace ? ts_marks_new(s->target->trace) : NULL;
		}
		if (!q || !q->symbols || !find_symbols(s, q->symbols, err)) {
			rsp_asking_free(q);
			return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		}
		q->ask.back = q->back;
		s->asking = q;
		s->free_asking = rsp_asking_free;
	}
	q->ask.q = s->target->q;
	q->ask.names = &s->target->names;
	q->ask.symbols = q->symbols;
	q->ask.marks = q->marks;
	q->ask.n_steps = rsp_last(s);
	q->ask.is_reading = !rsp_is_complete(s);
	q->ask.has_here = true;
	q->ask.here = s->pos;
	q->ask.has_frame = rsp_tracing_is_looking(&s->tracing);
	q->ask.frame = s->tracing.frame.pos;
	q->ask.shown = q->shown;
	return true;
}

/* From now on #R refers to the table that was shown; an answer without positions keeps the previous one. */
static void keep_shown(struct rsp_asking *q)
{
	size_t n;
	const uint64_t *shown = ts_answer_shown(q->answer, &n);
	uint64_t *copy = n ? malloc(n * sizeof(*copy)) : NULL;

	if (!copy || ts_answer_question(q->answer)->verb->is_sentence)
		free(copy);
	else {
		memcpy(copy, shown, n * sizeof(*copy));
		free(q->shown);
		q->shown = copy;
		q->ask.n_shown = n;
	}
}

/* Going somewhere else forgets the places for "forward". */
static void note_left(struct ts_ask *ask, uint64_t pos)
{
	if (ask->at_back == MAX_BACK) {
		memmove(ask->back, ask->back + 1, (MAX_BACK - 1) * sizeof(*ask->back));
		ask->at_back--;
	}
	ask->back[ask->at_back++] = pos;
	ask->n_back = ask->at_back;
}

/* back[at_back] is the session's position, if it went back. */
static void go(struct rsp_session *s, const char *verb, uint64_t pos)
{
	struct ts_ask *ask = &s->asking->ask;

	if (!strcmp(verb, "back")) {
		if (ask->at_back < MAX_BACK && ask->n_back == ask->at_back)
			ask->back[ask->n_back++] = s->pos;
		ask->at_back--;
	} else if (!strcmp(verb, "forward")) {
		ask->at_back++;
	} else if (pos != s->pos) {
		note_left(ask, s->pos);
	}
	rsp_session_go(s, pos);
}

bool rsp_asking_position(struct rsp_session *s, const char *text, uint64_t *pos)
{
	struct ts_ask_place place;
	struct ts_error err;

	ts_error_reset(&err);
	if (!prepare(s, &err) || !ts_place_parse(&place, &s->asking->ask, text, strlen(text), s->pos, &err) ||
	    place.kind != TS_PLACE_POSITION)
		return false;
	*pos = place.pos;
	return true;
}

bool rsp_asking_checkpoint(struct rsp_session *s, const char *text, struct ts_buf *out)
{
	struct ts_error err;
	unsigned number;

	ts_error_reset(&err);
	if (strpbrk(text, "\r\n"))
		ts_fail(&err, TS_EUSAGE, TS_NO_OFF, "the text of a mark is one line");
	else if (prepare(s, &err) && !s->asking->marks)
		ts_fail(&err, TS_EIO, TS_NO_OFF, "marks cannot be kept for this recording");
	if (err.code == TS_OK && ts_marks_add(s->asking->marks, "checkpoint-", s->pos, text, &number, &err)) {
		ts_buf_printf(out, "Checkpoint %u: position %llu, the mark checkpoint-%u\n", number,
			      (unsigned long long)s->pos, number);
		return true;
	}
	ts_buf_puts(out, err.text);
	return false;
}

/* ------------------------------------------------------------------------------------------------ the job */

static void cancel(struct rsp_session *s)
{
	ts_answer_free(s->asking->answer);
	s->asking->answer = NULL;
}

static bool slice(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r)
{
	struct rsp_asking *q = s->asking;
	enum ts_got got = TS_GOT_END;
	struct ts_error err;
	uint64_t pos;

	ts_error_reset(&err);
	if (s->job.is_interrupted) {
		ts_answer_stop(q->answer, &s->console, &s->console);
	} else {
		do
			got = ts_answer_run(q->answer, CHUNKS_A_TURN, &s->console, &s->console, &err);
		while (got == TS_GOT_PENDING && ts_now_ns() < end_ns);
	}
	if (got == TS_GOT_PENDING)
		return false;
	if (got == TS_GOT_FAIL) {
		rsp_reply_failure(r, &err);
	} else {
		keep_shown(q);
		pos = ts_answer_go(q->answer);
		if (pos != TS_NO_POS)
			go(s, ts_answer_question(q->answer)->verb->name, pos);
		rsp_reply_ok(r);
	}
	cancel(s);
	return true;
}

static void put_progress(const struct rsp_session *s, struct ts_buf *out)
{
	ts_buf_printf(out, "looked through up to position %llu\n",
		      (unsigned long long)ts_answer_at(s->asking->answer));
}

static const struct rsp_job_ops ops = {
	.slice = slice,
	.cancel = cancel,
	.progress = put_progress,
};

enum rsp_command_end rsp_asking_start(struct rsp_session *s, const char *line, struct ts_buf *out)
{
	struct ts_error err;

	if (!strstr(line, "--partial") && !rsp_wait_until_complete(s))
		return RSP_COMMAND_LATER;
	ts_error_reset(&err);
	if (prepare(s, &err))
		s->asking->answer = ts_answer_new(&s->asking->ask, line, TS_FORM_TEXT, &err);
	if (err.code != TS_OK) {
		ts_buf_puts(out, err.text);
		return RSP_COMMAND_REFUSED;
	}
	rsp_job_start(&s->job, &ops, NULL);
	return RSP_COMMAND_JOB;
}
