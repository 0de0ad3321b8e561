/* SPDX-License-Identifier: MIT */
/*
 * The section FIND: which values each segment may have made of memory (src/sketch).  It is built over a
 * complete timeline only, which determines what memory held at the start of a chunk, with the bytes of files that
 * lie beneath the recording.  So a segment's arrays are its sketch and the identity of these files.
 */
#include "sketch_section.h"

#include <stdlib.h>

#include "src/timeline/builder.h"
#include "src/base/collections/vec.h"
#include "src/index/index_write.h"
#include "src/sketch/sketch.h"
#include "src/sketch/sketcher.h"

struct ts_sketches {
	struct ts_sketch *items; /* owned; by segment */
	size_t n, cap;
	uint64_t image;          /* the identity of files with which they were made */
	struct ts_sketcher *sketcher; /* owned; NULL unless they are being made */
};

void ts_sketches_free(struct ts_sketches *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		ts_sketch_fini(&s->items[i]);
	free(s->items);
	ts_sketcher_free(s->sketcher);
	free(s);
}

/* ----------------------------------------------------------------------------------------------- identity */

static void mix(uint64_t *hash, uint64_t x)
{
	*hash = (*hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
	*hash ^= *hash >> 29;
}

/* A file that cannot be read is like no other. */
static void mix_source(uint64_t *hash, const struct ts_source *src)
{
	struct ts_index_key key = { 0 };
	struct ts_error err = { 0 };

	if (!ts_index_key(src, "", "", &key, &err))
		mix(hash, err.code);
	mix(hash, key.trace_len);
	mix(hash, key.trace_mtime);
	mix(hash, key.content);
	mix(hash, key.trace_inode);
	mix(hash, key.trace_ctime);
}

static uint64_t identity(const struct ts_image *img)
{
	uint64_t hash = 1;

	for (size_t i = 0; img && i < img->n_ranges; i++) {
		const struct ts_image_range *r = &img->ranges[i];

		mix(&hash, r->map);
		mix(&hash, r->first);
		mix(&hash, r->last);
		mix(&hash, r->off);
		mix(&hash, r->source);
	}
	for (uint32_t i = 0; img && img->n_ranges && i < img->n_sources; i++)
		mix_source(&hash, img->sources[i]);
	return hash;
}

/* ----------------------------------------------------------------------------------------------- building */

static void read_memory(void *user, uint32_t process, uint64_t chunk, uint64_t addr, size_t len,
			uint8_t *data, uint8_t *known)
{
	const struct ts_timeline *tl = user;

	if (process < tl->n_memory)
		ts_space_at(tl->memory[process], chunk, addr, len, data, known);
	else
		memset(known, 0, len);
}

static bool start(struct ts_timeline *tl, bool is_made)
{
	ts_sketches_free(tl->sketches);
	tl->sketches = calloc(1, sizeof(*tl->sketches));
	if (!tl->sketches || !is_made)
		return tl->sketches;
	tl->sketches->image = identity(tl->image);
	tl->sketches->sketcher = ts_sketcher_new(tl->rec, read_memory, tl);
	return tl->sketches->sketcher;
}

struct dropping {
	struct ts_sketcher *sketcher;
	uint32_t process;
};

static void drop_range(void *user, uint64_t first, uint64_t last)
{
	const struct dropping *d = user;

	ts_sketcher_drop(d->sketcher, d->process, first, last);
}

/* What is known only since a position of the chunk before @pos: no effect of the trace says it. */
static void drop_inferred(const struct ts_timeline *tl, uint64_t pos)
{
	for (uint32_t i = 0; pos && i < tl->n_memory; i++) {
		struct dropping d = { tl->sketches->sketcher, i };

		ts_space_each_inferred(tl->memory[i], pos - TS_CHUNK_STEPS + 1, pos, drop_range, &d);
	}
}

static bool take(struct ts_timeline *tl, uint64_t pos, const struct ts_steps *chunk)
{
	if (!pos && !start(tl, true))
		return false;
	drop_inferred(tl, pos);
	return ts_sketcher_take(tl->sketches->sketcher, pos / TS_CHUNK_STEPS, chunk);
}

/* Room for the sketch of one more segment.  Returns false if memory is exhausted. */
static bool grow(struct ts_sketches *s)
{
	return ts_vec_reserve(&s->items, s->n, &s->cap, 1, sizeof(*s->items));
}

static bool seal(struct ts_timeline *tl, uint64_t segment, bool is_copy)
{
	struct ts_sketches *s = tl->sketches;

	(void)is_copy; /* a complete timeline has no copies */
	if (!grow(s) || !ts_sketcher_seal(s->sketcher, &s->items[s->n]))
		return false;
	s->n++;
	if ((segment + 1) * TS_SEGMENT_CHUNKS >= tl->n_chunks) {
		ts_sketcher_free(s->sketcher);
		s->sketcher = NULL;
	}
	return true;
}

/* ----------------------------------------------------------------------------------------- the index file */

static void save(const struct ts_section_at *at, struct ts_index_file *f)
{
	const struct ts_sketches *s = at->tl->sketches;

	ts_index_put(f, &s->image, 1, sizeof(s->image));
	ts_sketch_save(&s->items[at->segment], f);
}

static bool load(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	const uint64_t *image = ts_index_take_n(a, sizeof(*image), 1);
	struct ts_timeline *tl = at->tl;
	struct ts_sketches *s;

	if (at->is_in_memory)
		return image && ts_sketch_load(&tl->sketches->items[at->segment], a);
	if (!image || (!at->segment && !start(tl, false)) || !grow(tl->sketches))
		return false;
	s = tl->sketches;
	if (at->segment && *image != s->image)
		return false;
	s->image = *image;
	s->items[s->n] = (struct ts_sketch){ 0 };
	return ts_sketch_load(&s->items[s->n++], a);
}

const struct ts_section ts_sketch_section = {
	.kind = TS_SECTION_KIND('F', 'I', 'N', 'D'),
	.name = "find",
	.is_on_demand = true,
	.save = save,
	.load = load,
	.take = take,
	.seal = seal,
};

/* ---------------------------------------------------------------------------------------------- questions */

bool ts_sketches_fit(const struct ts_timeline *tl)
{
	return tl->sketches->image == identity(tl->image);
}

uint64_t ts_sketches_next(const struct ts_timeline *tl, struct ts_probe *p, uint64_t chunk, uint64_t end)
{
	while (chunk < end) {
		uint64_t segment = chunk / TS_SEGMENT_CHUNKS, start = segment * TS_SEGMENT_CHUNKS;

		chunk = start +
			ts_probe_next(p, &tl->sketches->items[segment], segment, (uint32_t)(chunk - start));
		if (chunk < start + TS_SEGMENT_CHUNKS)
			break;
	}
	return chunk < end ? chunk : end;
}
