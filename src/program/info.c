/* SPDX-License-Identifier: MIT */
#include "info.h"

#include <stdlib.h>
#include <string.h>

/* Take in which registers are known at @pos, in the thread that runs there. */
static bool find_known(struct ts_info *info, struct ts_query *q, uint64_t pos, enum ts_info_known kind,
		       struct ts_error *err)
{
	const struct ts_regset *set = &info->tl->rec->regs;
	uint8_t *data = malloc(2 * (size_t)set->g_len), *mask = data + set->g_len;
	bool done;

	if (!data)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the registers");
	done = ts_query_regs(q, pos, ts_query_thread(q, pos), data, mask, err);
	for (unsigned i = 0; i < set->n_regs && done; i++) {
		const struct ts_reg *r = &set->regs[i];

		if (info->known[i] == TS_KNOWN_NEVER && !memchr(mask + r->off, 0, r->len))
			info->known[i] = kind;
	}
	free(data);
	return done;
}

static bool find_registers(struct ts_info *info, struct ts_query *q, struct ts_error *err)
{
	info->known = calloc(info->tl->rec->regs.n_regs, sizeof(*info->known));
	if (!info->known)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the registers");
	return find_known(info, q, 0, TS_KNOWN_FIRST, err) &&
	       find_known(info, q, info->tl->n_steps, TS_KNOWN_LATER, err);
}

static bool count_steps(struct ts_info *info, struct ts_error *err)
{
	const struct ts_timeline *tl = info->tl;
	const struct ts_world *w = &tl->world;

	info->thread_steps = calloc(tl->rec->n_threads, sizeof(*info->thread_steps));
	if (!info->thread_steps)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the threads");
	for (size_t i = 0; i < w->n_slices; i++) {
		uint64_t end = i + 1 < w->n_slices ? w->slices[i + 1].pos : tl->n_steps;

		info->thread_steps[w->slices[i].thread] += end - w->slices[i].pos;
	}
	return true;
}

static bool find_regions(struct ts_info *info, struct ts_error *err)
{
	const struct ts_world *w = &info->tl->world;
	uint32_t n_processes = info->tl->rec->n_processes;

	info->regions = calloc(w->n_regions + 1, sizeof(*info->regions));
	if (!info->regions)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the regions");
	for (uint32_t p = 0; p < n_processes; p++)
		info->n_regions += ts_world_regions(w, p, 0, info->regions + info->n_regions,
						    w->n_regions - info->n_regions);
	return true;
}

bool ts_info_init(struct ts_info *info, struct ts_query *q, const char *path, struct ts_error *err)
{
	const struct ts_timeline *tl = ts_query_timeline(q);
	uint64_t n = tl->n_steps;

	*info = (struct ts_info){ .path = path, .q = q, .tl = tl };
	ts_timeline_stats(tl, &info->stats);
	if (ts_query_pc(q, 0, ts_query_thread(q, 0), &info->pc_first, &info->has_pc_first, err) &&
	    ts_query_pc(q, n, ts_query_thread(q, n), &info->pc_last, &info->has_pc_last, err) &&
	    find_registers(info, q, err) && count_steps(info, err) && find_regions(info, err))
		return true;
	ts_info_fini(info);
	return false;
}

void ts_info_fini(struct ts_info *info)
{
	free(info->known);
	free(info->thread_steps);
	free(info->regions);
}

bool ts_info_is_damaged(const struct ts_info *info)
{
	switch (info->tl->damage.code) {
	case TS_OK:
	case TS_EIO:
	case TS_ELIMIT:
	case TS_ENOMEM:
		return false;
	default:
		return true;
	}
}

const char *ts_info_end(const struct ts_info *info)
{
	const struct ts_timeline *tl = info->tl;

	if (tl->damage.code != TS_OK)
		return ts_info_is_damaged(info) ? "damage" : "unread";
	if (tl->is_fault)
		return "fault";
	return tl->has_exit ? "exit" : "none";
}
