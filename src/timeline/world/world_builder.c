/* SPDX-License-Identifier: MIT */
#include "world_builder.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "src/base/collections/vec.h"

void ts_world_builder_init(struct ts_world_builder *wb, struct ts_world *world)
{
	*wb = (struct ts_world_builder){ .world = world };
}

void ts_world_builder_fini(struct ts_world_builder *wb)
{
	ts_ranges_fini(&wb->live_regions);
	ts_ranges_fini(&wb->live_modules);
	tdestroy(wb->texts, free);
	*wb = (struct ts_world_builder){ 0 };
}

void ts_world_run(struct ts_world_builder *wb, uint64_t pos, uint32_t thread)
{
	if (!ts_turns_add(&wb->world->turns, pos, thread))
		wb->is_failed = true;
}

void ts_world_end_thread(struct ts_world_builder *wb, uint64_t step, uint32_t thread)
{
	const struct ts_turns *turns = &wb->world->turns;
	struct ts_thread_turns *t;
	uint64_t last_step;

	if (thread >= turns->n_threads || !turns->threads[thread].n)
		return;
	t = &turns->threads[thread];
	last_step = t->end <= step ? t->end - 1 : step;
	if (t->end_step == UINT64_MAX || t->end_step < last_step)
		t->end_step = step;
}

void ts_world_event(struct ts_world_builder *wb, uint64_t step, uint32_t thread, const struct ts_event *ev)
{
	if (!ts_event_list_add(&wb->world->events[ev->kind], step, thread, ev))
		wb->is_failed = true;
}

/* @since: the position since which it has been there, as a part of larger ones too, with its protection. */
static void add_region(struct ts_world_builder *wb, const struct ts_region *r, uint64_t since)
{
	struct ts_world *w = wb->world;
	struct ts_range range = { r->first, r->last, r->process, (uint32_t)w->n_regions, since };

	wb->is_failed |= !TS_PUSH(w->regions, w->n_regions, wb->cap_regions, *r) ||
			 (r->file != TS_NO_DATA && !TS_PUSH(w->with_file, w->n_with_file, wb->cap_with_file, range.item)) ||
			 !ts_ranges_add(&wb->live_regions, range);
}

/* The part [first, last] of @r goes on as a region of its own from @pos. */
static void keep_part(struct ts_world_builder *wb, struct ts_region r, uint64_t since, uint64_t pos,
		      uint64_t first, uint64_t last)
{
	r.file_off += first - r.first;
	r.from = pos;
	r.first = first;
	r.last = last;
	add_region(wb, &r, since);
}

/*
 * Take [first, last] out of the live regions of a process; with @prot >= 0 the part goes on with that
 * protection.
 */
static void cut(struct ts_world_builder *wb, uint64_t pos, uint32_t process, uint64_t first, uint64_t last,
		int prot)
{
	const struct ts_range *live;

	while (!wb->is_failed && (live = ts_ranges_find(&wb->live_regions, process, first, last))) {
		struct ts_region *gone = &wb->world->regions[live->item], r = *gone;
		uint64_t since = live->since;
		uint64_t lo = first > r.first ? first : r.first, hi = last < r.last ? last : r.last;

		ts_ranges_remove(&wb->live_regions, live);
		gone->until = pos;
		if (r.first < lo)
			keep_part(wb, r, since, pos, r.first, lo - 1);
		if (hi < r.last)
			keep_part(wb, r, since, pos, hi + 1, r.last);
		if (prot >= 0) {
			r.prot = (uint32_t)prot;
			keep_part(wb, r, pos, pos, lo, hi);
		}
		if (hi == last)
			return;
		first = hi + 1;
	}
}

/* Is [@addr, @addr + @len) a range: not empty, and not beyond the end of the address space? */
static bool is_range(uint64_t addr, uint64_t len)
{
	return len && addr <= UINT64_MAX - (len - 1);
}

/* A text of the world, and its offset there. */
struct text {
	uint32_t off;
	char text[];
};

static int compare_texts(const void *a, const void *b)
{
	const struct text *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* Returns NULL if memory is exhausted. */
static struct text *new_text(const struct ts_world *w, const char *text)
{
	size_t len = strlen(text) + 1;
	struct text *t = w->texts.len < TS_NO_DATA ? malloc(offsetof(struct text, text) + len) : NULL;

	if (!t)
		return NULL;
	t->off = (uint32_t)w->texts.len;
	memcpy(t->text, text, len);
	return t;
}

uint32_t ts_world_add_text(struct ts_world_builder *wb, const char *text)
{
	struct ts_world *w = wb->world;
	struct text *t, *const *node;

	if (!text)
		return TS_NO_DATA;
	t = new_text(w, text);
	node = t ? tsearch(t, &wb->texts, compare_texts) : NULL;
	if (!node) {
		free(t);
		wb->is_failed = true;
		return TS_NO_DATA;
	}
	if (*node != t) {
		free(t);
		return (*node)->off;
	}
	wb->n_texts++;
	ts_buf_put(&w->texts, text, strlen(text) + 1);
	wb->is_failed |= !ts_buf_ok(&w->texts);
	return t->off;
}

void ts_world_map(struct ts_world_builder *wb, uint64_t pos, uint32_t process, const struct ts_steps *b,
		  const struct ts_map *m)
{
	struct ts_region r = {
		.from = pos,
		.until = UINT64_MAX,
		.first = m->addr,
		.last = m->addr + (m->len - 1),
		.file_off = m->file_off,
		.process = process,
		.prot = m->prot,
		.desc = ts_world_add_text(wb, ts_steps_text(b, m->desc)),
		.file = ts_world_add_text(wb, ts_steps_text(b, m->file)),
	};

	if (!is_range(m->addr, m->len))
		return;
	cut(wb, pos, process, r.first, r.last, -1);
	add_region(wb, &r, pos);
}

void ts_world_unmap(struct ts_world_builder *wb, uint64_t pos, uint32_t process, uint64_t addr, uint64_t len)
{
	if (is_range(addr, len))
		cut(wb, pos, process, addr, addr + (len - 1), -1);
}

void ts_world_protect(struct ts_world_builder *wb, uint64_t pos, uint32_t process, uint64_t addr,
		      uint64_t len, uint32_t prot)
{
	if (is_range(addr, len))
		cut(wb, pos, process, addr, addr + (len - 1), (int)prot);
}

void ts_world_unload(struct ts_world_builder *wb, uint64_t pos, uint32_t process, uint64_t addr, uint64_t len)
{
	const struct ts_range *live;

	if (!is_range(addr, len))
		return;
	while ((live = ts_ranges_find(&wb->live_modules, process, addr, addr + (len - 1)))) {
		wb->world->modules[live->item].until = pos;
		ts_ranges_remove(&wb->live_modules, live);
	}
}

void ts_world_load(struct ts_world_builder *wb, uint64_t pos, uint32_t process, const struct ts_steps *b,
		   const struct ts_module *m)
{
	struct ts_world *w = wb->world;
	struct ts_range range = { m->addr, m->addr + (m->len - 1), process, (uint32_t)w->n_modules, 0 };
	struct ts_module_span module = {
		.from = pos, .until = UINT64_MAX, .first = range.first, .last = range.last, .process = process,
	};

	if (!is_range(m->addr, m->len))
		return;
	ts_world_unload(wb, pos, process, m->addr, m->len);
	module.file = ts_world_add_text(wb, ts_steps_text(b, m->file));
	wb->is_failed |= !TS_PUSH(w->modules, w->n_modules, wb->cap_modules, module) || !ts_ranges_add(&wb->live_modules, range);
}

bool ts_world_is_constant(const struct ts_world_builder *wb, uint32_t process, uint64_t pos, uint64_t addr)
{
	const struct ts_range *live = ts_ranges_find(&wb->live_regions, process, addr, addr);
	const struct ts_region *r = live ? &wb->world->regions[live->item] : NULL;

	return r && !(r->prot & TS_PROT_WRITE) && live->since <= pos;
}

/* What malloc(3) and tsearch(3) take for an item of a tree, beside its bytes. */
#define TREE_ITEM_LEN 64u

uint64_t ts_world_mem(const struct ts_world_builder *wb)
{
	const struct ts_world *w = wb->world;
	uint64_t sum = ts_turns_mem(&w->turns);

	sum += wb->cap_regions * sizeof(*w->regions) + w->n_regions * (TREE_ITEM_LEN + sizeof(struct ts_range));
	sum += wb->cap_modules * sizeof(*w->modules) + w->n_modules * (TREE_ITEM_LEN + sizeof(struct ts_range));
	sum += wb->cap_with_file * sizeof(*w->with_file);
	sum += w->texts.cap + w->texts.len + wb->n_texts * TREE_ITEM_LEN;
	for (unsigned i = 0; i < TS_N_EVENT_KINDS; i++)
		sum += ts_event_list_mem(&w->events[i]);
	return sum;
}
