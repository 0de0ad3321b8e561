/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Between two looks at whether ^C was pressed. */
#define CHUNKS_A_SLICE 4

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

static bool flush(struct ts_buf *out, FILE *to, struct ts_error *err)
{
	bool done = (!out->len || fwrite(out->data, 1, out->len, to) == out->len) && fflush(to) == 0;

	if (!ts_buf_ok(out))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the rows of an answer");
	ts_buf_reset(out);
	return done || ts_fail_errno(err, "cannot write to stdout");
}

/* Show what is there; the end of a table for programs goes to stderr. */
static bool show(struct ts_buf *out, struct ts_buf *end, enum ts_form_kind form, struct ts_error *err)
{
	struct ts_error ignored = { 0 };

	if (!flush(out, stdout, err))
		return false;
	return form == TS_FORM_TEXT ? flush(end, stdout, err) : (flush(end, stderr, &ignored), true);
}

enum ts_form_kind ts_show_form(const struct ts_cli *cli)
{
	return cli->is_json ? TS_FORM_JSON : isatty(STDOUT_FILENO) ? TS_FORM_TEXT : TS_FORM_TSV;
}

bool ts_show_answer(struct ts_answer *a, enum ts_form_kind form, bool *is_stopped, struct ts_error *err)
{
	const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART };
	enum ts_got got = TS_GOT_PENDING;
	struct ts_buf out, end;
	bool done = true;

	sigaction(SIGINT, &action, NULL);
	ts_buf_init(&out);
	ts_buf_init(&end);
	while (done && got == TS_GOT_PENDING) {
		*is_stopped = is_interrupted;
		if (*is_stopped) {
			ts_answer_stop(a, &out, &end);
			got = TS_GOT_END;
		} else {
			got = ts_answer_run(a, CHUNKS_A_SLICE, &out, &end, err);
		}
		done = got != TS_GOT_FAIL && show(&out, &end, form, err);
	}
	ts_buf_fini(&out);
	ts_buf_fini(&end);
	return done;
}
