/* SPDX-License-Identifier: MIT */
#include "ask.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asker.h"
#include "report.h"
#include "src/ask/answer.h"

/* Between two looks at whether ^C was pressed. */
#define CHUNKS_A_SLICE 16

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

static bool drive(struct ts_answer *a, enum ts_form_kind form, struct ts_error *err)
{
	enum ts_got got = TS_GOT_PENDING;
	struct ts_buf out, end;
	bool done = true;

	ts_buf_init(&out);
	ts_buf_init(&end);
	while (done && got == TS_GOT_PENDING) {
		if (is_interrupted) {
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

static int fail(const struct ts_cli *cli, const struct ts_error *err)
{
	enum ts_status status = ts_report_failure(err->code == TS_EUSAGE ? NULL : cli->trace, err);

	return status == TS_STATUS_USAGE ? TS_STATUS_USAGE : TS_STATUS_UNREADABLE;
}

int ts_ask_run(struct ts_query *q, const struct ts_cli *cli)
{
	enum ts_form_kind form = cli->is_json ? TS_FORM_JSON : isatty(STDOUT_FILENO) ? TS_FORM_TEXT : TS_FORM_TSV;
	const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND };
	struct ts_answer *answer = NULL;
	struct ts_asker asker;
	struct ts_error err;
	int status = TS_STATUS_UNREADABLE;

	ts_error_reset(&err);
	sigaction(SIGINT, &action, NULL);
	if (ts_asker_init(&asker, q, cli, &err))
		answer = ts_answer_new(&asker.ask, cli->question, form, &err);
	if (answer && drive(answer, form, &err))
		status = ts_answer_n_rows(answer) ? TS_STATUS_OK : TS_STATUS_NO_ROWS;
	else
		status = fail(cli, &err);
	ts_answer_free(answer);
	ts_asker_fini(&asker);
	return status;
}
