/* SPDX-License-Identifier: MIT */
/*
 * The state of the program as ops: KEYFRAMEs.
 */
#include <string.h>

#include "decoder_parts.h"
#include "loaders/usercorn/op_write.h"
#include "resident.h"
#include "shadow.h"

#define PAGE 4096u
#define MAX_CONSTANTS 128u /* bytes */

void ts_decode_put_keyframe(struct ts_log_decoder *d, struct ts_log_task *t, const uint8_t *state, uint64_t pc,
			    const struct ts_op_piece *memory)
{
	struct ts_op_piece piece = { 0 };
	uint32_t n = 0;
	uint8_t *p;

	ts_decode_registers(d, t, &piece, state, true);
	p = ts_op_piece_room(&piece, MAX_CONSTANTS);
	if (p) {
		p = ts_log_guest_put_constants(d->guest, p, &n);
		ts_op_piece_done(&piece, p, n);
	}
	if (ts_op_piece_jmp(&piece, pc) && memory)
		ts_op_piece_append(&piece, memory);
	ts_op_frames_piece(d->frames, t->pid, UCIR_KEYFRAME, &piece);
	ts_op_piece_fini(&piece);
}

void ts_decode_put_name(struct ts_log_decoder *d, const struct ts_log_task *t)
{
	uint8_t note[8 + sizeof(t->name)];
	size_t len = strnlen(t->name, sizeof(t->name));

	ucir_put_u64(note, t->pid);
	memcpy(note + 8, t->name, len);
	ts_op_frames_note(d->frames, UCIR_NOTE_THREAD_NAME, note, (uint32_t)(8 + len));
}

/* -------------------------------------------------------------------------------- memory */

static void put_page(struct ts_op_piece *p, uint64_t addr, const uint8_t *page)
{
	static const uint8_t zeros[PAGE];

	if (memcmp(page, zeros, PAGE) != 0)
		ts_op_piece_contents(p, addr, page, PAGE);
}

/* Pages of one window of the shadow. */
static void put_pages(struct ts_op_piece *p, int map, uint64_t addr, uint64_t n_pages)
{
	const uint8_t *shadow = ts_shadow_peek(addr);
	uint64_t entries[TS_RESIDENT_N];

	for (uint64_t i = 0; shadow && i < n_pages; i++) {
		uint64_t left = n_pages - i, k = i % TS_RESIDENT_N;

		if (!k)
			ts_resident_read(map, shadow + i * PAGE, left < TS_RESIDENT_N ? left : TS_RESIDENT_N, entries);
		if (ts_resident_is(entries[k]))
			put_page(p, addr + i * PAGE, shadow + i * PAGE);
	}
}

/* Memory that has no window in the shadow is zero. */
static void put_contents(struct ts_op_piece *p, int map, const struct ts_region *r)
{
	for (uint64_t addr = r->start, n; addr < r->end; addr += n) {
		n = ts_shadow_run(addr, r->end - addr);
		put_pages(p, map, addr, n / PAGE);
	}
}

static void put_memory(const struct ts_log_decoder *d, struct ts_op_piece *p)
{
	int map = ts_resident_open();

	for (size_t i = 0; i < d->regions.n; i++) {
		ts_op_piece_map(p, &d->regions.at[i], d->regions.at[i].file);
		put_contents(p, map, &d->regions.at[i]);
	}
	for (unsigned i = 0; i < d->n_unknown; i++)
		ts_op_piece_range(p, UCIR_FORGET, d->unknown[i].start, d->unknown[i].end);
	if (map >= 0)
		close(map);
}

/* -------------------------------------------------------------------------------- all of it */

/* The kernel's changes are in the shadow before they are written: with the system call's return. */
bool ts_log_decoder_is_settled(const struct ts_log_decoder *d)
{
	if (!d->is_begun || d->loose.n_ops)
		return false;
	for (unsigned i = 0; i < TS_MAX_THREADS; i++) {
		const struct ts_log_task *t = d->tasks[i];

		if (t && t->is_known && (t->has_signal || (t->call.is_open && t->call.ops.n_ops)))
			return false;
	}
	return true;
}

void ts_log_decoder_put_state(struct ts_log_decoder *d)
{
	struct ts_op_piece memory = { 0 };
	bool is_first = true;

	ts_op_frames_close(d->frames);
	put_memory(d, &memory);
	for (unsigned i = 0; i < TS_MAX_THREADS; i++) {
		struct ts_log_task *t = d->tasks[i];

		if (!t || !t->is_known)
			continue;
		ts_decode_put_keyframe(d, t, t->state, t->at, is_first ? &memory : NULL);
		is_first = false;
		if (t->name[0])
			ts_decode_put_name(d, t);
	}
	ts_op_piece_fini(&memory);
}
