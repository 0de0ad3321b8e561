/* SPDX-License-Identifier: MIT */
/*
 * A timeline is made, configured, measured, and freed.
 */
#include <stdlib.h>

#include "backfill.h"
#include "builder.h"
#include "src/calls/calls.h"
#include "src/calls/tracker.h"

/* The first segment can be asked about before it is complete: at this many chunks, then at double, ... */
#define FIRST_COPY 64

/*
 * The registers of all threads.  Each is a part of its line, so that the chunks that write it alone are
 * found.
 */
static struct ts_space *new_regs(const struct ts_regset *set)
{
	size_t n = set->g_len / TS_LINE_LEN + 1;
	uint16_t *starts = calloc(n, sizeof(*starts));
	struct ts_space *sp = starts ? ts_space_new(NULL, NULL, 0) : NULL;

	for (unsigned i = 0; starts && i < set->n_regs; i++)
		starts[set->regs[i].off / TS_LINE_LEN] |= (uint16_t)(1u << set->regs[i].off % TS_LINE_LEN);
	if (sp && !ts_space_divide(sp, TS_REGS_STRIDE, starts, n)) {
		ts_space_free(sp);
		sp = NULL;
	}
	free(starts);
	return sp;
}

struct ts_timeline *ts_timeline_new(struct ts_recording *rec, struct ts_image *image, struct ts_error *err)
{
	struct ts_timeline *tl = calloc(1, sizeof(*tl));
	struct ts_builder *bd = calloc(1, sizeof(*bd));

	if (!tl || !bd)
		goto out_of_memory;
	tl->rec = rec;
	tl->image = image;
	tl->builder = bd;
	tl->sections = ts_sections;
	for (unsigned i = 0; ts_sections[i]; i++)
		tl->lacks |= (uint32_t)ts_sections[i]->is_on_demand << i;
	ts_task_init(&bd->task);
	ts_buf_init(&bd->here);
	ts_buf_init(&bd->journal);
	ts_buf_init(&bd->files);
	bd->last_thread = bd->target.thread = TS_NO_THREAD;
	bd->next_copy = FIRST_COPY < TS_SEGMENT_CHUNKS ? FIRST_COPY : 1;
	tl->max_memory = UINT64_MAX;
	tl->n_jobs = 1;
	ts_error_reset(&tl->damage);
	ts_error_reset(&bd->damage);
	ts_error_reset(&tl->file_error);
	ts_world_init(&tl->world);
	ts_world_builder_init(&bd->world, &tl->world);
	ts_runs_builder_init(&bd->runs, &tl->runs);
	tl->regs = new_regs(&rec->regs);
	ts_space_builder_init(&bd->regs, tl->regs);
	if (!tl->regs || (rec->is_physical && !ts_modes_builder_init(&bd->modes, &tl->modes, &rec->regs)) ||
	    !ts_builder_apply_initial(tl))
		goto out_of_memory;
	for (uint32_t i = 0; i < tl->n_memory; i++)
		ts_space_set_clean(bd->memory[i]);
	ts_space_set_clean(&bd->regs);
	if (rec->is_physical)
		ts_modes_set_clean(&bd->modes);
	bd->feed = ts_feed_new(rec, err);
	if (!bd->feed) {
		ts_timeline_free(tl);
		return NULL;
	}
	ts_feed_start(bd->feed, &bd->here);
	if (ts_buf_ok(&bd->here))
		return tl;

out_of_memory:
	ts_no_memory(err, "the index");
	if (tl && tl->builder)
		ts_timeline_free(tl);
	else {
		free(bd);
		free(tl);
	}
	return NULL;
}

void ts_timeline_free(struct ts_timeline *tl)
{
	if (!tl)
		return;
	ts_builder_free(tl);
	ts_backfill_free(tl->backfill);
	for (uint32_t i = 0; i < tl->n_memory; i++)
		ts_space_free(tl->memory[i]);
	free(tl->memory);
	ts_space_free(tl->regs);
	ts_runs_fini(&tl->runs);
	ts_world_fini(&tl->world);
	ts_modes_fini(&tl->modes);
	ts_calls_free(tl->calls);
	ts_call_tracker_free(tl->tracker);
	ts_digests_fini(&tl->digests);
	ts_sketches_free(tl->sketches);
	for (size_t i = 0; i < tl->n_points; i++)
		ts_points_fini(&tl->points[i]);
	free(tl->points);
	for (unsigned i = 0; i < TS_MAX_SECTIONS; i++)
		ts_index_close(tl->siblings[i]);
	ts_index_close(tl->file);
	free(tl);
}

bool ts_timeline_read_ahead(struct ts_timeline *tl, struct ts_recording *twin, struct ts_error *err)
{
	bool done = ts_feed_go_ahead(tl->builder->feed, twin, err);

	tl->builder->is_aside |= done;
	return done;
}

void ts_timeline_take_from(struct ts_timeline *tl, const struct ts_batch_store *store)
{
	ts_feed_take_from(tl->builder->feed, store);
}

uint64_t ts_timeline_n_chunks_read(const struct ts_timeline *tl)
{
	return tl->builder->n_chunks;
}

unsigned ts_timeline_n_twins(const struct ts_timeline *tl)
{
	return ts_feed_n_twins(tl->builder->feed, tl->n_jobs);
}

void ts_timeline_leave_reads_out(struct ts_timeline *tl)
{
	tl->has_no_reads = true;
	tl->rec->has_reads = false;
}

void ts_timeline_read_whole(struct ts_timeline *tl)
{
	tl->is_read_whole = true;
}

void ts_timeline_make_digests(struct ts_timeline *tl)
{
	tl->sections = ts_sections_digested;
}

void ts_timeline_stats(const struct ts_timeline *tl, struct ts_timeline_stats *stats)
{
	struct ts_space_stats s;

	ts_space_stats(tl->regs, &s);
	*stats = (struct ts_timeline_stats){
		.regs_len = s.index_len,
		.single_regs_len = s.n_divided * 2,
		.runs_len = ts_runs_mem(&tl->runs),
		.n_inferred = s.n_inferred,
		.n_unexplained = s.n_unexplained,
		.n_runs = tl->runs.n,
		.n_segments = tl->n_points,
	};
	for (size_t i = 0; i < tl->n_points; i++)
		stats->points_len += ts_points_mem(&tl->points[i]);
	for (uint32_t i = 0; i < tl->n_memory; i++) {
		ts_space_stats(tl->memory[i], &s);
		stats->memory_len += s.index_len;
		stats->reads_len += s.reads_len;
		stats->n_inferred += s.n_inferred;
		stats->n_unexplained += s.n_unexplained;
		stats->n_pages += s.n_pages;
	}
}
