/* SPDX-License-Identifier: MIT */
#include "pass.h"

#include "loaders/loader.h"
#include "recording.h"

void bench_check(bool done, const struct ts_error *err)
{
	if (!done)
		bench_die("%s", err->text);
}

struct ts_recording *bench_open(const char *path, struct ts_source **src)
{
	static const struct ts_loader_options options;
	struct ts_error err = { 0 };
	const struct ts_loader *loader;
	struct ts_recording *rec;

	*src = ts_source_open(path, &err);
	bench_check(*src, &err);
	loader = ts_loader_probe(*src, &err);
	bench_check(loader, &err);
	rec = loader->open(*src, &options, &err);
	bench_check(rec, &err);
	return rec;
}

void bench_pass_read(const char *path, uint64_t off)
{
	static uint8_t piece[1 << 18];
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_open(path, &err);
	size_t got = 1;

	bench_check(src, &err);
	for (; got; off += got)
		bench_check(ts_source_read(src, off, piece, sizeof(piece), &got, &err), &err);
	ts_source_close(src);
}

void bench_pass_decode(const char *path)
{
	struct ts_error err = { 0 };
	struct ts_reader *reader;
	enum ts_next next = TS_ITEM;
	struct ts_recording *rec;
	struct ts_source *src;
	struct ts_steps steps;

	rec = bench_open(path, &src);
	reader = rec->ops->reader(rec, &err);
	bench_check(reader, &err);
	ts_steps_init(&steps);
	while (next == TS_ITEM) {
		next = reader->ops->next(reader, &steps, &err);
		if (steps.n_steps == TS_CHUNK_STEPS)
			ts_steps_reset(&steps);
	}
	bench_check(next == TS_END, &err);
	ts_steps_fini(&steps);
	ts_reader_close(reader);
	ts_recording_close(rec);
	ts_source_close(src);
}

void bench_pass_index(const char *path, struct ts_timeline_stats *stats)
{
	struct ts_error err = { 0 };
	enum ts_grow grown = TS_GROW_MORE;
	struct ts_recording *rec;
	struct ts_timeline *tl;
	struct ts_source *src;

	rec = bench_open(path, &src);
	tl = ts_timeline_new(rec, NULL, &err);
	bench_check(tl, &err);
	while (grown == TS_GROW_MORE)
		grown = ts_timeline_grow(tl, 1 << 20, &err);
	bench_check(grown == TS_GROW_DONE, &err);
	bench_check(tl->damage.code == TS_OK, &tl->damage);
	if (stats)
		ts_timeline_stats(tl, stats);
	ts_timeline_free(tl);
	ts_recording_close(rec);
	ts_source_close(src);
}

double bench_best_of(unsigned n_runs, void (*pass)(const char *path), const char *path)
{
	double best = 0;

	for (unsigned i = 0; i < n_runs; i++) {
		double start = bench_cpu(), s;

		pass(path);
		s = bench_cpu() - start;
		if (!i || s < best)
			best = s;
	}
	return best;
}
