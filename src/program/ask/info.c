/* SPDX-License-Identifier: MIT */
#include "info.h"

#include <stdlib.h>
#include <string.h>

/* Take in which registers are known at @pos, in the thread that runs there. */
static bool find_known(struct ts_info *info, struct ts_query *q, uint64_t pos, enum ts_info_known kind,
		       struct ts_error *err)
{
	const struct ts_regset *set = info->facts->regs;
	uint8_t *data = malloc(2 * (size_t)set->g_len), *mask;
	bool done;

	if (!data)
		return ts_no_memory(err, "the registers");
	mask = data + set->g_len;
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
	info->known = calloc(info->facts->regs->n_regs, sizeof(*info->known));
	if (!info->known)
		return ts_no_memory(err, "the registers");
	return find_known(info, q, 0, TS_KNOWN_FIRST, err) &&
	       find_known(info, q, ts_query_end(q), TS_KNOWN_LATER, err);
}

static bool count_steps(struct ts_info *info, const struct ts_query *q, struct ts_error *err)
{
	info->thread_steps = calloc((size_t)ts_query_n_threads(q) + 1, sizeof(*info->thread_steps));
	if (!info->thread_steps)
		return ts_no_memory(err, "the threads");
	for (uint32_t i = 0; i < ts_query_n_threads(q); i++)
		info->thread_steps[i] = ts_query_n_steps_of(q, i, ts_query_end(q));
	return true;
}

static bool find_regions(struct ts_info *info, const struct ts_query *q, struct ts_error *err)
{
	uint32_t n_processes = ts_query_n_processes(q);
	size_t n = 0;

	for (uint32_t p = 0; p < n_processes; p++)
		n += ts_query_regions(q, p, 0, NULL, 0);
	info->regions = calloc(n + 1, sizeof(*info->regions));
	if (!info->regions)
		return ts_no_memory(err, "the regions");
	for (uint32_t p = 0; p < n_processes; p++)
		info->n_regions +=
			ts_query_regions(q, p, 0, info->regions + info->n_regions, n - info->n_regions);
	return true;
}

/* A signal of the same step is what ended the process, unless the program gave a status. */
static void find_exit(struct ts_info *info)
{
	const struct ts_query *q = info->q;
	uint64_t n = ts_query_n_events(q, TS_EV_EXIT);
	const struct ts_event_at *end = n ? ts_query_event(q, TS_EV_EXIT, n - 1) : NULL, *signal;

	if (!end)
		return;
	signal = ts_query_find_event(q, TS_EV_SIGNAL, end->step, true);
	_Static_assert(sizeof(info->exit_text) == sizeof(end->event.text), "the text is copied");
	memcpy(info->exit_text, end->event.text, sizeof(info->exit_text));
	info->is_killed = !end->event.has_ret && signal && signal->step == end->step;
}

bool ts_info_init(struct ts_info *info, struct ts_query *q, const char *path, struct ts_error *err)
{
	uint64_t n = ts_query_end(q);

	*info = (struct ts_info){ .path = path, .q = q, .facts = ts_query_facts(q) };
	ts_query_ending(q, &info->ending);
	find_exit(info);
	ts_query_stats(q, &info->stats);
	if (ts_query_pc(q, 0, ts_query_thread(q, 0), &info->pc_first, &info->has_pc_first, err) &&
	    ts_query_pc(q, n, ts_query_thread(q, n), &info->pc_last, &info->has_pc_last, err) &&
	    ts_names_init(&info->names, q, err) && find_registers(info, q, err) &&
	    count_steps(info, q, err) && find_regions(info, q, err))
		return true;
	ts_info_fini(info);
	return false;
}

void ts_info_fini(struct ts_info *info)
{
	free(info->known);
	ts_names_fini(&info->names);
	free(info->thread_steps);
	free(info->regions);
}

bool ts_info_is_damaged(const struct ts_info *info)
{
	switch (info->ending.damage.code) {
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
	if (info->ending.damage.code != TS_OK)
		return ts_info_is_damaged(info) ? "damage" : "unread";
	if (info->ending.is_fault)
		return "fault";
	if (!info->ending.has_exit)
		return "none";
	return info->is_killed ? "signal" : "exit";
}
