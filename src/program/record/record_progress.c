/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <inttypes.h>
#include <termios.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/program/cli/message.h"
#include "src/program/cli/meter.h"

#define USUAL_S 10

static bool is_free_terminal(void)
{
	struct termios state;

	return tcgetpgrp(STDERR_FILENO) == getpgrp() && !tcgetattr(STDERR_FILENO, &state) && state.c_lflag & ICANON &&
	       state.c_lflag & ECHO;
}

void ts_record_progress_show(struct ts_recorder *r, uint64_t n_steps, uint64_t n_bytes)
{
	int64_t now = ts_now_ns();

	if (!r->told_ns)
		r->told_ns = now;
	if (r->cli->is_quiet || r->is_followed || now - r->told_ns < ts_meter_interval_ns(USUAL_S))
		return;
	r->told_ns = now;
	if (!is_free_terminal())
		return;
	if (n_steps)
		ts_message(stderr, "tracestub: %s: %" PRIu64 " instructions so far, in %" PRIu64 " MiB", r->out, n_steps,
			   n_bytes >> 20);
	else
		ts_message(stderr, "tracestub: %s: nothing is recorded yet", r->out);
}
