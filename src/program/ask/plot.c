/* SPDX-License-Identifier: MIT */
#include "src/program/cli/cli_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "asker.h"
#include "src/ask/grammar/anchors.h"
#include "src/base/atomic_file.h"
#include "src/plot/plot.h"
#include "src/program/cli/cli_options.h"
#include "src/program/cli/interrupt.h"
#include "src/program/cli/message.h"
#include "src/program/cli/meter.h"
#include "src/program/cli/report.h"

/* The range of --in, in the words of questions; without it all. */
static bool find_range(const struct ts_cli *cli, struct ts_ask *ask, uint64_t *from, uint64_t *to,
		       struct ts_error *err)
{
	*from = 0;
	*to = ask->n_steps;
	if (!ask->n_steps)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "the recording has no steps to draw");
	return !cli->range || ts_range_find(ask, cli->range, from, to, err);
}

static bool write_file(const char *path, const struct ts_buf *bytes, struct ts_error *err)
{
	struct ts_atomic_file f;
	bool done = ts_atomic_file_init(&f, path, err) &&
		    ts_atomic_file_write(&f, bytes->data, bytes->len, err) && ts_atomic_file_finish(&f, err);

	ts_atomic_file_fini(&f);
	return done;
}

static bool draw(const struct ts_cli *cli, const struct ts_plot *p, struct ts_error *err)
{
	const char *slash = strrchr(cli->trace, '/'), *title = slash ? slash + 1 : cli->trace;
	struct ts_buf out;
	bool done;

	ts_buf_init(&out);
	if (ts_picture_is_svg(cli->output))
		ts_svg_put(&out, p, title);
	else
		ts_html_put(&out, p, title);
	done = (ts_buf_ok(&out) || ts_no_memory(err, "a picture")) && write_file(cli->output, &out, err);
	if (done && !cli->is_quiet)
		ts_message(stdout, "%s: positions %" PRIu64 " to %" PRIu64 ", %zu bytes", cli->output,
			   p->from, p->to, out.len);
	ts_buf_fini(&out);
	return done;
}

struct drawing {
	struct ts_meter meter;
	uint64_t n_positions;
};

static bool show_drawing(void *user, double share)
{
	struct drawing *d = user;

	ts_meter_show(&d->meter, share, (uint64_t)(share * (double)d->n_positions));
	return !ts_is_interrupted();
}

/* ^C ends the process here. */
static bool gather(struct ts_plot *p, struct ts_asker *a, const struct ts_cli *cli, uint64_t from,
		   uint64_t to, struct ts_error *err)
{
	const struct ts_plot_bounds *bounds = ts_picture_is_svg(cli->output) ? &ts_svg_bounds : &ts_html_bounds;
	struct drawing d = { .n_positions = to - from };
	const struct ts_plot_watcher watcher = { show_drawing, &d };
	bool done;

	ts_meter_init(&d.meter, cli, cli->output, "drawing", "positions");
	ts_interrupt_catch();
	done = ts_plot_init(p, &a->ask, from, to, bounds, &watcher, err);
	ts_meter_clear(&d.meter);
	if (!done && err->code == TS_OK) {
		ts_message(stderr,
			   "tracestub: %s: %s; it was not written, and --in A:B draws a part",
			   cli->output, ts_interrupt_text());
		ts_interrupt_end();
	}
	ts_interrupt_release();
	return done;
}

static bool run(struct ts_asker *a, const struct ts_cli *cli, struct ts_error *err)
{
	struct ts_plot p = { 0 };
	uint64_t from, to;
	bool done = find_range(cli, &a->ask, &from, &to, err) && gather(&p, a, cli, from, to, err) &&
		    draw(cli, &p, err);

	ts_plot_fini(&p);
	return done;
}

enum ts_status ts_run_plot(struct ts_query *q, const struct ts_cli *cli)
{
	struct ts_asker a;
	struct ts_error err = { 0 };
	bool done;

	done = ts_asker_init(&a, q, cli, &err) && run(&a, cli, &err);
	ts_asker_fini(&a);
	if (!done && err.code == TS_EUSAGE) {
		ts_report_failure(NULL, &err);
		return TS_STATUS_USAGE;
	}
	return done ? TS_STATUS_OK : ts_report_failure(NULL, &err);
}
