/* SPDX-License-Identifier: MIT */
/*
 * The parts of a space, private to its files: space.c and space_search.c answer queries, space_builder.c and
 * space_file.c build it.
 */
#ifndef TS_SPACE_PARTS_H
#define TS_SPACE_PARTS_H

#include "groups.h"
#include "layers.h"
#include "pages.h"
#include "inferred.h"
#include "space_segment.h"

/* The lines that the segments of a group touch. */
struct ts_space_group {
	struct ts_group parts[TS_SPACE_PARTS];
};

struct ts_space {
	const struct ts_image *recorded, *image; /* borrowed; may be NULL */
	uint32_t id;
	uint16_t *starts;                  /* owned; of ts_space_divide(); NULL: each half of a line is a part */
	size_t n_starts;
	uint64_t stride;
	struct ts_layers layers;
	struct ts_pages base;              /* what layers are known to hold beyond their fill; keyed by layer */
	struct ts_inferred_list inferred; /* the bytes of base that are known only since a later position */
	struct ts_space_segment *segments; /* owned; by number */
	size_t n_segments;
	struct ts_space_group *groups;     /* owned; by number */
	size_t n_groups;
	uint64_t n_inferred, n_unexplained, n_pages; /* so far, as in struct ts_space_stats */
	uint64_t n_divided; /* the same, since the space was made or loaded */
};

/* Set group @group to *g.  Returns false if memory is exhausted. */
bool ts_space_set_group(struct ts_space *sp, size_t group, const struct ts_space_group *g);

/* A search in the segments of a space for touches of [addr, last]. */
struct ts_hunt {
	const struct ts_space *sp;
	unsigned parts; /* of which kinds; bit i: enum ts_space_part */
	uint64_t addr, last;
};

/* The segments of a group in which a struct ts_hunt may find some. */
ts_group_bits ts_space_hunt;

/* The number of a layer in the image's maps; not 0. */
uint64_t ts_space_map_of_layer(const struct ts_space *sp, uint32_t layer);

/* The sources of the bytes of ts_space_paint(). */
struct ts_painting {
	const struct ts_space *sp;
	const struct ts_image *image; /* below all layers; NULL: only what the recording shows */
	uint64_t until;               /* versions of chunks below this one count */
	uint64_t pos;                 /* what layers are known to hold at this position */
	uint8_t lost;                 /* what known gets for lost bytes */
};

/*
 * Copy the bytes [first, last] from the versions and the first @n layers.  A newer layer hides the bytes of older ones.
 */
void ts_space_paint(const struct ts_painting *p, uint32_t n, uint64_t first, uint64_t last, uint8_t *data,
		    uint8_t *known);

/*
 * The lost bytes of @c are known now.  Set them in the first @n_segments segments, from the newest to the one in which
 * they were lost.  Returns false if they were lost in none of them.
 */
bool ts_space_complete(struct ts_space *sp, size_t n_segments, const struct ts_completion *c);


#endif
