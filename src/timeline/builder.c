/* SPDX-License-Identifier: MIT */
#include "builder.h"

#include <inttypes.h>
#include <stdlib.h>

#include "src/base/collections/vec.h"

/* Room for one more address space in both arrays.  Returns false if memory is exhausted. */
static bool room_for_memory(struct ts_timeline *tl)
{
	size_t n_spaces = tl->n_memory, n_builders = tl->n_memory;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	return ts_vec_extend(&tl->memory, &n_spaces, tl->n_memory, sizeof(*tl->memory)) &&
	       /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	       ts_vec_extend(&tl->builder->memory, &n_builders, tl->n_memory, sizeof(*tl->builder->memory));
}

static bool add_memory(struct ts_timeline *tl)
{
	struct ts_space_builder *sb = room_for_memory(tl) ? malloc(sizeof(*sb)) : NULL;
	struct ts_space *sp = sb ? ts_space_new(&tl->rec->memory, tl->image, tl->n_memory) : NULL;

	if (!sp) {
		free(sb);
		return false;
	}
	ts_space_builder_init(sb, sp);
	sb->world = &tl->builder->world;
	if (tl->n_memory)
		ts_space_gap(sb, tl->builder->memory[0]->gap);
	tl->memory[tl->n_memory] = sp;
	tl->builder->memory[tl->n_memory++] = sb;
	return true;
}

struct ts_space_builder *ts_builder_memory(struct ts_timeline *tl, uint32_t process)
{
	while (tl->n_memory <= process) {
		if (!add_memory(tl))
			return NULL;
	}
	return tl->builder->memory[process];
}

bool ts_builder_room_for_points(struct ts_timeline *tl, size_t segment)
{
	if (!ts_vec_reserve(&tl->points, 0, &tl->cap_points, segment + 1, sizeof(*tl->points)))
		return false;
	while (tl->n_points <= segment)
		tl->points[tl->n_points++] = (struct ts_points){ 0 };
	return true;
}

void ts_builder_publish(struct ts_timeline *tl)
{
	tl->n_steps = tl->builder->n_steps;
	tl->n_chunks = tl->builder->n_chunks;
	tl->n_threads = tl->rec->n_threads;
	tl->n_processes = tl->rec->n_processes;
}

bool ts_builder_is_failed(const struct ts_timeline *tl)
{
	const struct ts_builder *bd = tl->builder;
	bool is_failed = bd->world.is_failed || bd->modes.is_failed || bd->regs.is_failed;

	for (uint32_t i = 0; i < tl->n_memory; i++)
		is_failed |= bd->memory[i]->is_failed;
	return is_failed;
}

void ts_builder_free(struct ts_timeline *tl)
{
	struct ts_builder *bd = tl->builder;

	if (!bd)
		return;
	ts_task_fini(&bd->task);
	ts_feed_free(bd->feed);
	ts_buf_fini(&bd->here);
	ts_points_packer_fini(&bd->packer);
	ts_buf_fini(&bd->journal);
	ts_buf_fini(&bd->files);
	ts_world_builder_fini(&bd->world);
	ts_runs_builder_fini(&bd->runs);
	ts_space_builder_fini(&bd->regs);
	for (uint32_t i = 0; i < tl->n_memory; i++) {
		ts_space_builder_fini(bd->memory[i]);
		free(bd->memory[i]);
	}
	free(bd->memory);
	free(bd);
	tl->builder = NULL;
}

enum ts_next ts_builder_no_memory(const struct ts_timeline *tl, struct ts_error *err)
{
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the index, after %" PRIu64 " steps",
		tl->builder->n_steps);
	return TS_FAIL;
}
