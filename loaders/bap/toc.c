/* SPDX-License-Identifier: MIT */
/*
 * The index after the frames: a number m, then the file offsets of frames m, 2m, ...
 *
 * Four revisions of recorders write it in four forms: at its end there may be entries that equal T, and a first entry may
 * be the offset of the meta frame.  So a file is not refused for the size of its index.  The index is used only to find the
 * next frame after a damaged one.
 */
#include "trace.h"

#include <inttypes.h>

#include "schema.h"
#include "src/base/cursor.h"

#define HEADER_LEN 48

/* The number of entries that are examined to decide whether the index is sane. */
#define N_PROBES 64u

static bool read_part(const struct bap *rec, uint64_t off, uint8_t *bytes, size_t len, struct ts_error *err)
{
	return ts_source_read_all(rec->src, off, bytes, len, err) || ts_fail_prefix(err, "the index");
}

static uint64_t entry_off(const struct bap *rec, uint64_t i)
{
	return rec->end + BAP_ENTRY_LEN + i * BAP_ENTRY_LEN;
}

static uint64_t parse_entry(const uint8_t bytes[BAP_ENTRY_LEN])
{
	struct ts_cursor c = ts_cursor(bytes, BAP_ENTRY_LEN, 0, "index", NULL);

	return ts_u64le(&c);
}

/* *entry gets entry @i < toc.n.  Returns false if it cannot be read. */
static bool entry_at(const struct bap *rec, uint64_t i, uint64_t *entry, struct ts_error *err)
{
	uint8_t bytes[BAP_ENTRY_LEN];

	if (!read_part(rec, entry_off(rec, i), bytes, sizeof(bytes), err))
		return false;
	*entry = parse_entry(bytes);
	return true;
}

/* As above, for entries in order: up to BAP_TOC_PIECE of them are read at once. */
static bool next_entry(struct bap *rec, uint64_t i, uint64_t *entry, struct ts_error *err)
{
	struct bap_toc *toc = &rec->toc;
	struct ts_error ignored = { 0 };
	size_t got;

	if (i - toc->piece_first >= toc->n_piece) {
		if (!ts_source_read(rec->src, entry_off(rec, i), toc->piece, sizeof(toc->piece), &got,
				    &ignored))
			got = 0;
		toc->piece_first = i;
		toc->n_piece = got / BAP_ENTRY_LEN;
	}
	if (!toc->n_piece)
		return entry_at(rec, i, entry, err);
	*entry = parse_entry(toc->piece + (i - toc->piece_first) * BAP_ENTRY_LEN);
	return true;
}

/*
 * Can a frame begin at @off?  The end of all frames will do.  *is_frame says so; returns false if the trace
 * cannot be read.
 */
static bool look_at_frame(const struct bap *rec, uint64_t off, bool *is_frame, struct ts_error *err)
{
	uint8_t bytes[BAP_LEN_LEN + 1];
	struct ts_cursor c = ts_cursor(bytes, sizeof(bytes), off, "frame", err);
	uint64_t len;
	uint8_t key;

	*is_frame = off == rec->end;
	if (off < rec->first || off > rec->end - sizeof(bytes))
		return true;
	if (!read_part(rec, off, bytes, sizeof(bytes), err))
		return false;
	len = ts_u64le(&c);
	key = ts_u8(&c);
	*is_frame = len && len <= BAP_MAX_FRAME && len <= rec->end - off - BAP_LEN_LEN &&
		    (key & 7) == PB_BYTES && key >> 3 >= FRAME_STD && key >> 3 <= FRAME_KEY;
	return true;
}

/* Set toc.is_sane.  Returns false if the trace cannot be read. */
static bool probe(struct bap *rec, struct ts_error *err)
{
	uint64_t n = rec->toc.n, n_probes = n < N_PROBES ? n : N_PROBES, last = 0;

	for (uint64_t k = rec->toc.first ? 0 : 1; k < n_probes; k++) {
		bool is_frame;
		uint64_t off;

		if (!entry_at(rec, n_probes == n ? k : n / n_probes * k, &off, err) ||
		    !look_at_frame(rec, off, &is_frame, err))
			return false;
		if (off < last || !is_frame)
			return true;
		last = off;
	}
	rec->toc.is_sane = n > 0;
	return true;
}

bool bap_toc_open(struct bap *rec, struct ts_error *err)
{
	uint64_t left = ts_source_len(rec->src) - rec->end - BAP_ENTRY_LEN;
	struct bap_toc *toc = &rec->toc;
	uint8_t bytes[BAP_ENTRY_LEN];
	struct ts_cursor c = ts_cursor(bytes, sizeof(bytes), rec->end, "index", err);
	uint64_t meta = 0;

	if (!read_part(rec, rec->end, bytes, sizeof(bytes), err))
		return false;
	toc->step = ts_u64le(&c);
	toc->n = left / BAP_ENTRY_LEN;
	if (toc->n && !entry_at(rec, 0, &meta, err))
		return false;
	toc->first = meta != HEADER_LEN;
	toc->due = toc->step ? toc->step : UINT64_MAX;
	if (!toc->step)
		ts_recording_warn(&rec->base, "the index has an entry every 0 frames; it is ignored");
	else if (!probe(rec, err))
		return false;
	if (left % BAP_ENTRY_LEN)
		ts_recording_warn(&rec->base, "%" PRIu64 " bytes follow the index", left % BAP_ENTRY_LEN);
	if (toc->step && toc->n > rec->n_frames / toc->step + 1)
		ts_recording_warn(&rec->base,
				  "the index has %" PRIu64 " entries for %" PRIu64
				  " frames, one for every %" PRIu64,
				  toc->n, rec->n_frames, toc->step);
	return true;
}

bool bap_toc_compare(struct bap *rec, uint64_t off, struct ts_error *err)
{
	struct bap_toc *toc = &rec->toc;
	uint64_t i = toc->due / toc->step - toc->first, entry;

	toc->due += toc->step;
	if (i >= toc->n)
		return true;
	if (!next_entry(rec, i, &entry, err))
		return false;
	if (entry != off)
		ts_recording_warn(&rec->base, "an entry of the index does not point at the start of a frame");
	return true;
}

bool bap_toc_after(const struct bap *rec, uint64_t off, uint64_t *frame, uint64_t *frame_off,
		   struct ts_error *err)
{
	uint64_t low = rec->toc.first ? 0 : 1, high = rec->toc.n, entry;
	bool is_frame;

	if (!rec->toc.is_sane)
		return false;
	*frame_off = rec->end;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!entry_at(rec, middle, &entry, err))
			return false;
		if (entry > off) {
			high = middle;
			*frame_off = entry;
		} else {
			low = middle + 1;
		}
	}
	*frame = (low + rec->toc.first) * rec->toc.step;
	return *frame_off < rec->end && look_at_frame(rec, *frame_off, &is_frame, err) && is_frame;
}
