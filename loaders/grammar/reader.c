/* SPDX-License-Identifier: MIT */
/*
 * Readers of text traces: how one begins, is saved and goes on.
 *
 * A decode point is the offset of the line that begins the next group, where modules are, and of states the
 * position and the registers of all threads.
 */
#include "reader.h"

#include <stdio.h>
#include <string.h>

#include "src/trace/point.h"

/* ------------------------------------------------------------------------------------------------- reader */

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct grammar_reader *r = (struct grammar_reader *)base;

	return r->log->g.is_state ? grammar_next_state(r, out, err) : grammar_next_step(r, out, err);
}

static bool point(struct ts_reader *base, struct ts_point *p)
{
	struct grammar_reader *r = (struct grammar_reader *)base;
	const uint64_t source_len = ts_source_len(r->log->src), last = r->log->base.n_threads - 1;
	struct grammar_lines_place place;

	grammar_lines_place(&r->lines, &place);
	place.done_until -= place.off;
	place.off = ts_point_between(p, place.off, r->log->first, source_len);
	place.done_until = place.off + ts_point_number(p, place.done_until, source_len);
	TS_POINT(p, place.images_left, r->log->max_images);
	grammar_tags_point(&place.tags, p);
	TS_POINT(p, r->thread, last);
	TS_POINT(p, r->part, r->log->parts.n - 1);
	TS_POINT(p, r->at.pc, UINT64_MAX);
	TS_POINT(p, r->at.thread, last);
	TS_POINT(p, r->at.has_event, 1);
	TS_POINT(p, r->at.has_gap, 1);
	TS_POINT(p, r->at.is_sight, 1);
	TS_POINT(p, r->at.n_code, GRAMMAR_MAX_CODE);
	for (unsigned i = 0; i < r->at.n_code; i++)
		TS_POINT(p, r->at.code[i], UINT8_MAX);
	grammar_shown_point(&r->lines.shown, p);
	TS_POINT(p, r->is_lost, 1);
	TS_POINT(p, r->n_modules, GRAMMAR_MAX_MODULES);
	for (unsigned i = 0; i < r->n_modules; i++) {
		TS_POINT(p, r->modules[i].key, UINT64_MAX);
		TS_POINT(p, r->modules[i].base, UINT64_MAX);
		TS_POINT(p, r->modules[i].len, UINT64_MAX);
	}
	if (!grammar_files_point(&r->files, p, r->log->base.n_threads))
		return ts_no_memory(p->err, "registers");
	ts_point_end(p, &r->base.end);
	if (!ts_point_close(p))
		return false;
	if (!p->to)
		grammar_lines_go(&r->lines, &place);
	return true;
}

static void close_reader(struct ts_reader *base)
{
	struct grammar_reader *r = (struct grammar_reader *)base;

	grammar_lines_fini(&r->lines);
	grammar_files_fini(&r->files);
	grammar_fill_fini(&r->fill);
	grammar_later_fini(&r->later);
	threads_fini(&r->threads);
}

static const struct ts_reader_ops ops = {
	.size = sizeof(struct grammar_reader), .next = next, .point = point, .close = close_reader
};

static struct grammar_reader *reader_at(struct grammar_log *log, uint64_t off, struct ts_error *err)
{
	struct grammar_reader *r = ts_reader_new(&ops, err);

	if (!r)
		return NULL;
	r->log = log;
	grammar_lines_init(&r->lines, log, off);
	grammar_files_init(&r->files, &log->g, &log->base.regs);
	grammar_later_init(&r->later, log);
	if (grammar_fill_init(&r->fill, log, err)) {
		r->lines.decoder = r->fill.decoder;
		return r;
	}
	ts_reader_close(&r->base);
	return NULL;
}

struct ts_reader *grammar_reader_new(struct grammar_log *log, struct ts_error *err)
{
	struct grammar_reader *r = reader_at(log, log->first, err);

	if (!r)
		return NULL;
	r->at = log->start;
	r->lines.images_left = log->first_images;
	r->lines.done_until = log->first_done;
	r->lines.shown = log->shown;
	grammar_tags_copy(&r->lines.tags, &log->first_tags);
	memcpy(r->modules, log->modules, sizeof(r->modules));
	r->n_modules = log->n_modules;
	if (!log->g.is_state || grammar_files_copy(&r->files, &log->files))
		return &r->base;
	ts_reader_close(&r->base);
	return ts_no_memory(err, "a reader");
}

bool grammar_read_start(struct grammar_log *log, struct ts_error *err)
{
	struct grammar_reader *r = reader_at(log, 0, err);
	bool done;

	if (!r)
		return false;
	done = log->g.is_state ? grammar_start_states(r, err) : grammar_start_steps(r, err);
	memcpy(log->modules, r->modules, sizeof(r->modules));
	log->n_modules = r->n_modules;
	log->first_images = r->lines.images_left;
	log->shown = r->lines.shown;
	ts_reader_close(&r->base);
	return done;
}
