/* SPDX-License-Identifier: MIT */
/*
 * The index after the frames: a number m, then the file offsets of frames m, 2m, ...
 *
 * Four revisions of recorders wrote four forms of it: entries that equal T may stand at its end, and a first
 * entry may say where the meta frame is.  Its size is thus no reason to refuse it.  Frames are found without
 * it; it is what leads on after a damaged one.
 */
#include "toc.h"

#include <inttypes.h>

#include "schema.h"
#include "src/base/cursor.h"

#define HEADER_LEN 48
#define ENTRY_LEN  8

/* Entries that are looked at to find out whether the index is sane. */
#define N_PROBES 64u

/* Entry @i, 0 if it cannot be read. */
static uint64_t entry_at(const struct bap *rec, uint64_t i)
{
	struct ts_error ignored = { 0 };
	uint8_t bytes[ENTRY_LEN];
	struct ts_cursor c = ts_cursor(bytes, sizeof(bytes), 0, "index", &ignored);

	if (!ts_source_read_all(rec->src, rec->end + ENTRY_LEN + i * ENTRY_LEN, bytes, sizeof(bytes),
				&ignored))
		return 0;
	return ts_u64le(&c);
}

/* Can a frame begin at @off?  The end of all frames will do. */
static bool is_frame(const struct bap *rec, uint64_t off)
{
	struct ts_error ignored = { 0 };
	uint8_t bytes[BAP_LEN_LEN + 1];
	struct ts_cursor c = ts_cursor(bytes, sizeof(bytes), off, "frame", &ignored);
	uint64_t len;
	uint8_t key;

	if (off == rec->end)
		return true;
	if (off < rec->first || off > rec->end - sizeof(bytes) ||
	    !ts_source_read_all(rec->src, off, bytes, sizeof(bytes), &ignored))
		return false;
	len = ts_u64le(&c);
	key = ts_u8(&c);
	return len && len <= BAP_MAX_FRAME && len <= rec->end - off - BAP_LEN_LEN && (key & 7) == PB_BYTES &&
	       key >> 3 >= FRAME_STD && key >> 3 <= FRAME_KEY;
}

static bool is_sane(const struct bap *rec)
{
	uint64_t n = rec->toc.n, n_probes = n < N_PROBES ? n : N_PROBES, last = 0;

	for (uint64_t k = rec->toc.first ? 0 : 1; k < n_probes; k++) {
		uint64_t off = entry_at(rec, n_probes == n ? k : n / n_probes * k);

		if (off < last || !is_frame(rec, off))
			return false;
		last = off;
	}
	return n > 0;
}

void bap_toc_open(struct bap *rec)
{
	uint64_t left = ts_source_len(rec->src) - rec->end - ENTRY_LEN;
	struct bap_toc *toc = &rec->toc;
	struct ts_error ignored = { 0 };
	uint8_t bytes[ENTRY_LEN];
	struct ts_cursor c = ts_cursor(bytes, sizeof(bytes), rec->end, "index", &ignored);

	if (!ts_source_read_all(rec->src, rec->end, bytes, sizeof(bytes), &ignored))
		return;
	toc->step = ts_u64le(&c);
	toc->n = left / ENTRY_LEN;
	toc->first = !toc->n || entry_at(rec, 0) != HEADER_LEN;
	toc->due = toc->step ? toc->step : UINT64_MAX;
	if (!toc->step)
		ts_recording_warn(&rec->base,
				  "the index says that it has an entry every 0 frames; ignored");
	else
		toc->is_sane = is_sane(rec);
	if (left % ENTRY_LEN)
		ts_recording_warn(&rec->base, "%" PRIu64 " bytes follow the index", left % ENTRY_LEN);
	if (toc->step && toc->n > rec->n_frames / toc->step + 1)
		ts_recording_warn(&rec->base,
				  "the index has %" PRIu64 " entries for %" PRIu64
				  " frames, one for every %" PRIu64,
				  toc->n, rec->n_frames, toc->step);
}

void bap_toc_compare(struct bap *rec, uint64_t off)
{
	struct bap_toc *toc = &rec->toc;
	uint64_t i = toc->due / toc->step - toc->first;

	toc->due += toc->step;
	if (i < toc->n && entry_at(rec, i) != off)
		ts_recording_warn(&rec->base, "an entry of the index does not point at the start of a frame");
}

bool bap_toc_after(const struct bap *rec, uint64_t off, uint64_t *frame, uint64_t *frame_off)
{
	uint64_t low = rec->toc.first ? 0 : 1, high = rec->toc.n;

	if (!rec->toc.is_sane)
		return false;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (entry_at(rec, middle) > off)
			high = middle;
		else
			low = middle + 1;
	}
	*frame = (low + rec->toc.first) * rec->toc.step;
	*frame_off = low < rec->toc.n ? entry_at(rec, low) : rec->end;
	return *frame_off > off && *frame_off < rec->end && is_frame(rec, *frame_off);
}
