/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/program/cli/interrupt.h"
#include "src/program/cli/meter.h"

/* Between two looks at whether ^C was pressed. */
#define CHUNKS_A_SLICE 4

static bool flush(struct ts_buf *out, FILE *to, struct ts_error *err)
{
	bool done = (!out->len || fwrite(out->data, 1, out->len, to) == out->len) && fflush(to) == 0;

	if (!ts_buf_ok(out))
		return ts_no_memory(err, "the rows of an answer");
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
	switch (cli->rows_form) {
	case TS_FORM_OPTION_BOX: return TS_FORM_TEXT;
	case TS_FORM_OPTION_CSV: return TS_FORM_CSV;
	case TS_FORM_OPTION_TSV: return TS_FORM_TSV;
	case TS_FORM_OPTION_DEFAULT: break;
	}
	return cli->is_json ? TS_FORM_JSON : isatty(STDOUT_FILENO) ? TS_FORM_TEXT : TS_FORM_TSV;
}

unsigned ts_show_width(const struct ts_cli *cli)
{
	struct winsize size = { 0 };

	return cli->is_full || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

/* @preparing is the meter of what comes before the search. */
static void tell(struct ts_meter *meter, struct ts_meter *preparing, const struct ts_answer *a)
{
	uint64_t all, n = ts_answer_searched(a, &all);

	if (ts_answer_prepared(a)) {
		ts_meter_show(preparing, TS_NO_SHARE, ts_answer_prepared(a));
		return;
	}
	ts_meter_show(meter, n && all ? (double)n / (double)all : TS_NO_SHARE, n);
}

bool ts_show_answer(struct ts_answer *a, const struct ts_cli *cli, const char *doing, bool *is_stopped,
		    struct ts_error *err)
{
	enum ts_next got = TS_MORE;
	struct ts_meter meter, preparing;
	struct ts_buf out, end;
	bool done = true;

	ts_answer_fit(a, ts_show_width(cli));
	ts_interrupt_catch();
	ts_meter_init(&meter, cli, cli->trace, doing, "positions");
	ts_meter_init(&preparing, cli, cli->trace, "preparing", "positions");
	ts_buf_init(&out);
	ts_buf_init(&end);
	while (done && got == TS_MORE) {
		*is_stopped = ts_is_interrupted();
		if (*is_stopped && ts_has_lost_reader())
			ts_interrupt_end();
		if (*is_stopped)
			ts_answer_stop(a);
		got = ts_answer_run(a, CHUNKS_A_SLICE, &out, &end, err);
		if (out.len || end.len || got != TS_MORE) {
			ts_meter_clear(&preparing);
			ts_meter_clear(&meter);
		}
		done = got != TS_FAIL && show(&out, &end, ts_show_form(cli), err);
		if (got == TS_MORE)
			tell(&meter, &preparing, a);
	}
	ts_interrupt_release();
	if (*is_stopped && !cli->is_quiet)
		fprintf(stderr, "tracestub: %s: the answer ends where it was; \"in A:B\" asks about fewer positions\n",
			ts_interrupt_text());
	ts_buf_fini(&out);
	ts_buf_fini(&end);
	return done;
}
