/* SPDX-License-Identifier: MIT */
/*
 * Builds the world around the machine state while a recording is read, or from an index file.
 */
#ifndef TS_WORLD_BUILDER_H
#define TS_WORLD_BUILDER_H

#include "src/timeline/space/ranges.h"
#include "world.h"

struct ts_world_builder {
	struct ts_world *world; /* borrowed; the world that is built */
	size_t cap_regions, cap_with_file, cap_modules;
	struct ts_ranges live_regions, live_modules; /* those at the end of what was read: ordinals */
	void *texts;                                 /* owned; the offset of each text: a tree (tsearch(3)) */
	size_t n_texts;
	bool is_failed; /* memory is exhausted */
};

/* Begin to build @world, which is empty. */
void ts_world_builder_init(struct ts_world_builder *wb, struct ts_world *world);
void ts_world_builder_fini(struct ts_world_builder *wb);

/* Add effects, in the order of positions.  A function that exhausts memory sets is_failed. */
void ts_world_run(struct ts_world_builder *wb, uint64_t pos, uint32_t thread);
void ts_world_event(struct ts_world_builder *wb, uint64_t step, uint32_t thread, const struct ts_event *ev);
void ts_world_end_thread(struct ts_world_builder *wb, uint64_t step, uint32_t thread);
void ts_world_map(struct ts_world_builder *wb, uint64_t pos, uint32_t process, const struct ts_steps *b,
		  const struct ts_map *m);
void ts_world_unmap(struct ts_world_builder *wb, uint64_t pos, uint32_t process, uint64_t addr, uint64_t len);
void ts_world_protect(struct ts_world_builder *wb, uint64_t pos, uint32_t process, uint64_t addr,
		      uint64_t len, uint32_t prot);

/*
 * Is the byte in a region that has been mapped without write permission since position @pos?
 */
bool ts_world_is_constant(const struct ts_world_builder *wb, uint32_t process, uint64_t pos, uint64_t addr);

/* Add a text to the world, if it does not have it, and return its offset; TS_NO_DATA for NULL. */
uint32_t ts_world_add_text(struct ts_world_builder *wb, const char *text);

/* Add that a module was loaded; that the modules in a range of addresses were unloaded. */
void ts_world_load(struct ts_world_builder *wb, uint64_t pos, uint32_t process, const struct ts_steps *b,
		   const struct ts_module *m);
void ts_world_unload(struct ts_world_builder *wb, uint64_t pos, uint32_t process, uint64_t addr,
		     uint64_t len);

/* The approximate memory of the world and its builder in bytes, without events that are in an index file. */
uint64_t ts_world_mem(const struct ts_world_builder *wb);

#endif
