/* SPDX-License-Identifier: MIT */
#include "asking.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session/session.h"
#include "wait.h"
#include "src/agent/ax.h"
#include "src/ask/output/answer.h"
#include "src/ask/grammar/marks.h"
#include "src/ask/grammar/question.h"
#include "src/ask/verbs/verbs.h"
#include "src/symbols/symbols.h"
#include "src/base/clock.h"

/* Between two looks at the clock. */
#define CHUNKS_A_TURN 4

/* A turn with that much text is over: to encode and to frame it takes longer than to print it. */
#define MAX_TEXT_A_TURN 65536u

/* What gdb makes of one condition, for all the places where it has it: not much longer than a packet. */
#define MAX_OFFERED (size_t)65536

struct rsp_asking {
	struct ts_ask ask;
	struct ts_marks *marks;     /* owned; NULL: none needed yet, or they cannot be kept */
	struct ts_answer *answer;   /* owned; the job's */
	bool is_announced;          /* it leads the session somewhere with its next resume, without a text */
	struct ts_buf wanted;       /* the question of which gdb compiles the condition; empty: none */
	size_t cond_at, cond_len;   /* where that is in it */
	uint64_t first, last;       /* addresses of the function, or the one that it is about */
	struct ts_buf offered;      /* it in the grammar's words, for each place where gdb has it */
	bool is_cut;                /* there are more places than that has room for */
	bool is_offered;            /* one of these is the function or address of the question */
};

static void asking_free(struct rsp_asking *q)
{
	if (!q)
		return;
	ts_answer_free(q->answer);
	ts_marks_free(q->marks);
	free(q->ask.shown);
	ts_buf_fini(&q->wanted);
	ts_buf_fini(&q->offered);
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
			ts_buf_printf(out, "monitor %s %-*s %s\n", verbs[i]->name,
				      (int)(26 - strlen(verbs[i]->name)), verbs[i]->synopsis, verbs[i]->help);
	}
}

/* ------------------------------------------------------------------------------------------- one session */

/* The state kept between questions.  Returns NULL if memory is exhausted. */
static struct rsp_asking *need_asking(struct rsp_session *s)
{
	if (!s->asking) {
		s->asking = calloc(1, sizeof(*s->asking));
		s->free_asking = asking_free;
		if (s->asking) {
			ts_buf_init(&s->asking->wanted);
			ts_buf_init(&s->asking->offered);
		}
	}
	return s->asking;
}

static bool prepare(struct rsp_session *s, struct ts_error *err)
{
	struct rsp_asking *q = need_asking(s);

	if (!q)
		return ts_no_memory(err, "a question");
	if (!q->marks && s->target->trace && !(q->marks = ts_marks_new(s->target->trace)))
		return ts_no_memory(err, "marks");
	q->ask.q = s->target->q;
	q->ask.names = &s->target->names;
	q->ask.process_names = s->target->process_names;
	q->ask.marks = q->marks;
	q->ask.view = s->layout ? &s->layout->regs : NULL;
	q->ask.n_steps = rsp_last(s);
	q->ask.is_reading = !rsp_is_complete(s);
	q->ask.has_here = true;
	q->ask.here = s->pos;
	q->ask.has_frame = rsp_tracing_is_looking(&s->tracing);
	q->ask.frame = s->tracing.frame.pos;
	return true;
}

/*
 * All that a question needs, of which @words are a part.
 *
 * Returns RSP_COMMAND_DONE if it is there, RSP_COMMAND_LATER, or RSP_COMMAND_REFUSED with the reason.
 */
static enum rsp_command_end prepare_question(struct rsp_session *s, const char *words, struct ts_error *err)
{
	struct ts_symbols *symbols;

	if (!strstr(words, "--partial") && !rsp_wait_until_complete(s))
		return RSP_COMMAND_LATER;
	if (!rsp_wait_until_symbols_read(s, &symbols, err))
		return RSP_COMMAND_LATER;
	if (!symbols || !prepare(s, err))
		return RSP_COMMAND_REFUSED;
	s->asking->ask.symbols = symbols;
	return RSP_COMMAND_DONE;
}

void rsp_asking_note_left(struct rsp_session *s, uint64_t pos)
{
	if (pos == s->pos || !need_asking(s))
		return;
	s->asking->ask.here = s->pos;
	ts_ask_move(&s->asking->ask, &ts_verb_goto, pos);
}

bool rsp_asking_checkpoint(struct rsp_session *s, const char *text, struct ts_buf *out)
{
	struct ts_error err = { 0 };
	unsigned number;

	if (strpbrk(text, "\r\n"))
		ts_fail(&err, TS_EUSAGE, TS_NO_OFF, "the text of a mark is one line");
	else if (prepare(s, &err) && !s->asking->marks)
		ts_fail(&err, TS_EIO, TS_NO_OFF, "marks cannot be kept for this recording");
	else if (err.code == TS_OK && !ts_buf_room(out, 128)) /* a mark that cannot be reported is not set */
		ts_no_memory(&err, "marks");
	if (err.code == TS_OK && ts_marks_add(s->asking->marks, "checkpoint-", s->pos, text, &number, &err)) {
		ts_buf_printf(out, "Checkpoint %u: position %llu, the mark checkpoint-%u\n", number,
			      (unsigned long long)s->pos, number);
		return true;
	}
	ts_buf_puts(out, err.text);
	return false;
}

/* ------------------------------------------------------------------------------ conditions that gdb compiles */

/* The last address of the function that begins at @addr; @addr if none does. */
static uint64_t last_of_function(const struct rsp_asking *q, uint64_t addr)
{
	const struct ts_symbol *f = ts_symbols_function_at(q->ask.symbols, addr);

	return f && f->addr == addr && f->len ? addr + f->len - 1 : addr;
}

/* What gdb is to compile, with where; nothing if it is not for one address: variables move with the pc. */
static void put_wanted(struct rsp_asking *q, const struct ts_question *qn, const char *question,
		       struct ts_buf *out)
{
	const struct ts_what *what = &qn->what;

	if (!qn->foreign || what->kind != TS_WHAT_MEM || (!what->is_function && what->addr != what->last))
		return;
	if (what->is_function)
		ts_buf_puts(out, "function");
	else
		ts_buf_printf(out, "0x%" PRIx64, what->addr);
	ts_buf_printf(out, " %.*s\n", (int)qn->foreign_len, qn->foreign);
	ts_buf_puts(&q->wanted, question);
	q->first = what->addr;
	q->last = what->is_function ? what->last : last_of_function(q, what->addr);
	q->cond_at = (size_t)(qn->foreign - question);
	q->cond_len = qn->foreign_len;
}

enum rsp_command_end rsp_asking_condition(struct rsp_session *s, const char *question, struct ts_buf *out)
{
	struct ts_question qn;
	struct ts_error err = { 0 };
	enum rsp_command_end end;

	end = prepare_question(s, question, &err);
	if (end == RSP_COMMAND_REFUSED)
		ts_buf_puts(out, err.text);
	if (end != RSP_COMMAND_DONE)
		return end;
	ts_buf_reset(&s->asking->wanted);
	ts_buf_reset(&s->asking->offered);
	s->asking->is_offered = s->asking->is_cut = false;
	if (!ts_question_parse(&qn, &s->asking->ask, question, &err))
		put_wanted(s->asking, &qn, question, out);
	ts_question_fini(&qn);
	return RSP_COMMAND_DONE;
}

/* Does the code begin with what gdb makes of "RSP_OFFERED_MARK,": const32, pop? */
static bool is_marked(const uint8_t *code, size_t len)
{
	static const uint8_t mark[] = { 0x24, RSP_OFFERED_MARK >> 24, RSP_OFFERED_MARK >> 16 & 0xff,
					RSP_OFFERED_MARK >> 8 & 0xff, RSP_OFFERED_MARK & 0xff, 0x29 };

	return len > sizeof(mark) && !memcmp(code, mark, sizeof(mark));
}

void rsp_asking_offer(struct rsp_session *s, uint64_t addr, const struct ts_ax *condition)
{
	size_t len;
	const uint8_t *code = ts_ax_code(condition, &len);
	struct ts_buf term, *out;
	bool is_new;

	if (!s->asking || !s->asking->wanted.len || !is_marked(code, len))
		return;
	ts_buf_init(&term);
	ts_buf_puts(&term, "agent ");
	ts_buf_hex(&term, code, len);
	ts_buf_printf(&term, "@0x%" PRIx64, addr);
	out = &s->asking->offered;
	is_new = !out->len || !strstr(ts_buf_text(out), ts_buf_text(&term));
	if (is_new && out->len + term.len > MAX_OFFERED) {
		s->asking->is_cut = true;
	} else if (is_new) {
		ts_buf_puts(out, out->len ? " || " : "");
		ts_buf_put(out, term.data, term.len);
	}
	out->is_failed |= !ts_buf_ok(&term);
	ts_buf_fini(&term);
	s->asking->is_offered |= addr >= s->asking->first && addr <= s->asking->last;
}

/*
 * If the question in @line is the one whose condition gdb was to compile, what gdb has made of it takes the place
 * of its text.  Returns false if gdb sent nothing for the function: it cannot evaluate that in a target.
 */
static bool put_offered(struct rsp_asking *q, struct ts_buf *line, struct ts_error *err)
{
	size_t end = q->cond_at + q->cond_len;
	bool is_wanted = q->wanted.len && !strcmp(ts_buf_text(line), ts_buf_text(&q->wanted));
	struct ts_buf question;

	if (is_wanted && q->is_cut) {
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'if %.*s': gdb has this condition at more places than tracestub supports",
			(int)q->cond_len, ts_buf_text(&q->wanted) + q->cond_at);
	} else if (is_wanted && q->is_offered) {
		ts_buf_init(&question);
		ts_buf_put(&question, line->data, q->cond_at);
		ts_buf_put(&question, q->offered.data, q->offered.len);
		ts_buf_put(&question, line->data + end, line->len - end);
		question.is_failed |= !ts_buf_ok(&q->offered);
		ts_buf_fini(line);
		*line = question;
	} else if (is_wanted) {
		ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			"'if %.*s': gdb sent no expression: it cannot compile calls, floating point and strings, nor a condition where another breakpoint is",
			(int)q->cond_len, ts_buf_text(&q->wanted) + q->cond_at);
	}
	ts_buf_reset(&q->wanted);
	ts_buf_reset(&q->offered);
	return !is_wanted || (q->is_offered && !q->is_cut);
}

/* ------------------------------------------------------------------------------------------------ the job */

static void cancel(struct rsp_session *s)
{
	ts_answer_free(s->asking->answer);
	s->asking->answer = NULL;
}

/* The answer is complete. */
static void finish(struct rsp_session *s, struct rsp_reply *r)
{
	struct rsp_asking *q = s->asking;
	uint64_t pos = ts_answer_go(q->answer);

	ts_answer_keep_shown(q->answer, &q->ask);
	if (pos != TS_NO_POS && q->is_announced) {
		rsp_session_announce(s, &(struct rsp_destination){ .kind = RSP_TO_POSITION, .pos = pos });
	} else if (pos != TS_NO_POS) {
		ts_ask_move(&q->ask, ts_answer_question(q->answer)->verb, pos);
		rsp_session_go(s, pos);
	}
	rsp_reply_ok(r);
}

/* Continue, with the rows and the end to @out. */
static enum ts_next run(struct rsp_session *s, int64_t end_ns, struct ts_buf *out, struct ts_error *err)
{
	struct rsp_asking *q = s->asking;
	enum ts_next got;

	if (s->job.is_interrupted)
		ts_answer_stop(q->answer);
	do
		got = ts_answer_run(q->answer, CHUNKS_A_TURN, out, out, err);
	while (got == TS_MORE && out->len < MAX_TEXT_A_TURN && ts_now_ns() < end_ns);
	return got;
}

/* The first line of a text, without its end. */
static const char *first_line(struct ts_buf *text)
{
	uint8_t *end = ts_buf_ok(text) && text->len ? memchr(text->data, '\n', text->len) : NULL;

	if (!ts_buf_ok(text))
		return "no memory";
	if (end)
		*end = '\0';
	return ts_buf_text(text);
}

/* The client's next stop reports the target of an announced goto; a goto without a target is reported here. */
static enum ts_next run_announced(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r,
				  struct ts_error *err)
{
	struct ts_buf text;
	enum ts_next got;

	ts_buf_init(&text);
	got = run(s, end_ns, &text, err);
	if (got == TS_END && ts_answer_go(s->asking->answer) == TS_NO_POS) {
		const char *why = first_line(&text);

		rsp_session_refuse(s, r, *why ? why : "there is no such place", true);
	}
	ts_buf_fini(&text);
	return got;
}

static bool slice(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r)
{
	struct ts_error err = { 0 };
	enum ts_next got;

	got = s->asking->is_announced ? run_announced(s, end_ns, r, &err) : run(s, end_ns, &s->console, &err);
	if (got == TS_MORE)
		return false;
	if (got == TS_FAIL && err.code == TS_EUSAGE)
		rsp_session_refuse(s, r, err.text, true);
	else if (got == TS_FAIL)
		rsp_reply_failure(r, s->target->trace, &err);
	else if (r->kind == RSP_REPLY_EMPTY)
		finish(s, r);
	cancel(s);
	return true;
}

static void put_progress(const struct rsp_session *s, struct ts_buf *out)
{
	const struct ts_answer *a = s->asking->answer;
	uint64_t n = ts_answer_prepared(a);

	ts_buf_printf(out, "%s up to position %" PRIu64 "\n", n ? "preparing: read" : "looked through",
		      n ? n : ts_answer_at(a));
}

static const struct rsp_job_ops ops = {
	.slice = slice,
	.cancel = cancel,
	.progress = put_progress,
};

static bool parse(struct rsp_session *s, const char *verb, const char *words, struct ts_error *err)
{
	struct ts_buf line;
	bool done;

	ts_buf_init(&line);
	ts_buf_printf(&line, "%s %s", verb, words);
	if (!put_offered(s->asking, &line, err)) {
		ts_buf_fini(&line);
		return false;
	}
	done = ts_buf_ok(&line) || ts_no_memory(err, "a question");
	if (done) {
		s->asking->answer = ts_answer_new(&s->asking->ask, ts_buf_text(&line), TS_FORM_TEXT, err);
		done = s->asking->answer != NULL;
	}
	ts_buf_fini(&line);
	return done;
}

static enum rsp_command_end start(struct rsp_session *s, const char *verb, const char *words,
				  bool is_announced, struct ts_error *err)
{
	enum rsp_command_end end = prepare_question(s, words, err);

	if (end != RSP_COMMAND_DONE)
		return end;
	if (!parse(s, verb, words, err))
		return RSP_COMMAND_REFUSED;
	s->asking->is_announced = is_announced;
	rsp_job_start(&s->job, &ops, NULL);
	return RSP_COMMAND_JOB;
}

enum rsp_command_end rsp_asking_start(struct rsp_session *s, const char *verb, const char *words,
				      struct ts_error *err)
{
	return start(s, verb, words, false, err);
}

enum rsp_command_end rsp_asking_announce(struct rsp_session *s, const char *place, struct ts_error *err)
{
	return start(s, "goto", place, true, err);
}
