/* SPDX-License-Identifier: MIT */
/*
 * A trace file of gdb's, exported from a Usercorn recording: registers and 64 bytes of stack at every
 * position.
 */
#include <stdlib.h>

#include "bench.h"
#include "pass.h"
#include "recording.h"
#include "src/export/export.h"
#include "src/export/selection.h"

/* Write positions 0 to n_steps - 1 of the trace. */
static void export(struct bench_trace *t, const char *path, uint64_t n_steps)
{
	struct ts_selection_options opt;
	struct ts_error err = { 0 };
	struct ts_selection s;
	struct ts_export *e;
	enum ts_next next;

	ts_selection_options_init(&opt);
	opt.last = n_steps - 1;
	opt.has_positions = true;
	bench_check(ts_selection_collect(&opt, "regs,stack:64", &err), &err);
	bench_check(ts_selection_init(&s, t->q, &opt, &err), &err);
	e = ts_export_new(t->q, &s.frames, &s.tracing, path, &err);
	bench_check(e, &err);
	do {
		next = ts_export_run(e, 4096, &err);
	} while (next == TS_MORE);
	bench_check(next == TS_END, &err);
	ts_export_free(e);
	ts_selection_fini(&s);
}

static void record(const struct bench_format *format, const char *path, uint64_t n_steps,
		   struct bench_recording *rec)
{
	char *source = bench_temp("exported");
	struct bench_recording from = { 0 };
	struct bench_trace t;
	FILE *file;

	(void)format;
	bench_usercorn_v0.record(&bench_usercorn_v0, source, n_steps, &from);
	bench_build(&t, source, BENCH_IN_MEMORY);
	bench_ask(&t);
	export(&t, path, n_steps);
	bench_close(&t);
	bench_remove(source);
	free(source);
	file = fopen(path, "rb");
	if (!file)
		bench_die("%s cannot be read", path);
	rec->n_steps = n_steps; /* a frame is a step of the timeline; the last leads nowhere */
	rec->file_len = bench_finish(file);
}

const struct bench_format bench_tfile = {
	.name = "tfile",
	.about = "gdb's trace files: registers and 64 bytes of stack of x64_lib, its frames repeated",
	.max_steps = 1000000,
	.record = record,
};
