/* SPDX-License-Identifier: MIT */
/*
 * The same BAP frames read twice: by plans (loaders/bap/frame_template.h) as soon as a frame was met once, and without.
 */
#ifndef TS_TESTS_BAP_TWINS_H
#define TS_TESTS_BAP_TWINS_H

#include <stddef.h>
#include <stdint.h>

#include "src/source/source.h"
#include "src/trace/reader.h"

struct bap_twins {
	struct ts_source *src;
	struct ts_recording *plain, *planned;
};

/*
 * Open the trace at @bytes (borrowed; its frames may be changed later) twice.  Returns false if it is
 * refused.
 */
int bap_twins_open(struct bap_twins *w, const uint8_t *bytes, size_t len);
void bap_twins_close(struct bap_twins *w);

/*
 * Read all steps of both, at most @max, and compare steps, effects, failures, decode points, and how many
 * warnings there are.
 *
 * Returns what differs; NULL if nothing does, with *n_followed the number of frames that were read by a plan.
 */
const char *bap_twins_differ(const struct bap_twins *w, uint64_t max, uint64_t *n_followed);

#endif
