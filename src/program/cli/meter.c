/* SPDX-License-Identifier: MIT */
#include "meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/text/utf8.h"

#define NS_A_SECOND INT64_C(1000000000)
#define USUAL_S 1

/* Of a terminal that does not determine its width. */
#define USUAL_WIDTH 80

int64_t ts_meter_interval_ns(int64_t usual_s)
{
	const char *seconds = getenv("TRACESTUB_PROGRESS");

	return (seconds ? strtol(seconds, NULL, 10) : usual_s) * NS_A_SECOND;
}

void ts_meter_init(struct ts_meter *m, const struct ts_cli *cli, const char *file, const char *doing,
		   const char *unit)
{
	const char *slash = strrchr(file, '/');

	*m = (struct ts_meter){ .file = slash ? slash + 1 : file, .doing = doing, .unit = unit, .is_quiet = cli->is_quiet };
}

/* A line that is longer than the terminal would stay there. */
static size_t terminal_width(void)
{
	struct winsize size = { 0 };

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? USUAL_WIDTH : size.ws_col;
}

static void print(struct ts_meter *m, double share, uint64_t n, int64_t now)
{
	bool is_terminal = isatty(STDERR_FILENO);
	size_t width = is_terminal ? terminal_width() - 1 : SIZE_MAX;
	struct ts_buf line;

	ts_buf_init(&line);
	ts_buf_printf(&line, "%s: %s: ", m->file, m->doing);
	ts_progress_put(&m->begun, share, n, m->unit, now, &line);
	if (line.len < width)
		width = line.len;
	ts_utf8_make_shown((char *)line.data, line.len, false);
	if (ts_buf_ok(&line))
		fprintf(stderr, is_terminal ? "\r%.*s\033[K" : "%.*s\n", (int)width, ts_buf_text(&line));
	m->is_shown = is_terminal;
	ts_buf_fini(&line);
}

void ts_meter_show(struct ts_meter *m, double share, uint64_t n)
{
	int64_t now = ts_now_ns();

	if (m->is_quiet)
		return;
	if (!m->is_begun || (m->begun.share < 0 && share >= 0)) {
		m->begun = (struct ts_progress){ now, share, n };
		m->last_ns = m->is_begun ? m->last_ns : now;
		m->is_begun = true;
	}
	if (now - m->last_ns < ts_meter_interval_ns(USUAL_S))
		return;
	m->last_ns = now;
	print(m, share, n, now);
}

void ts_meter_clear(struct ts_meter *m)
{
	if (m->is_shown)
		fputs("\r\033[K", stderr);
	m->is_shown = false;
}
