/* SPDX-License-Identifier: MIT */
/*
 * Only some modules are recorded: what is executed elsewhere writes no steps.
 *
 * Until an instruction of such a module is executed, what would be written is dropped.  The recording begins there, with
 * the state of the program.  From then on the registers and the memory that changed elsewhere are written in a GAP before the
 * next record: an instruction of such a module, a system call, a signal.
 */
#include <fnmatch.h>
#include <string.h>

#include "decoder_parts.h"
#include "loaders/usercorn/op_write.h"

static bool drop(void *, const uint8_t *, size_t)
{
	return true;
}

void ts_log_decoder_only(struct ts_log_decoder *d, const char *const *modules)
{
	d->modules = modules;
	d->is_waiting = true;
	d->put = d->frames->put;
	d->frames->put = drop;
}

bool ts_log_decoder_is_waiting(const struct ts_log_decoder *d)
{
	return d->is_waiting;
}

/* A pattern matches the name of a file, its path, or, if it has a slash, the end of its path. */
static bool is_match(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/'), *end = path + strlen(path);
	bool is_path = strchr(pattern, '/');

	if (fnmatch(pattern, path, 0) == 0 || (slash && fnmatch(pattern, slash + 1, 0) == 0))
		return true;
	if (strncmp(pattern, "./", 2) == 0)
		pattern += 2;
	for (const char *at = path; is_path && at < end; at++) {
		if (*at == '/' && fnmatch(pattern, at + 1, 0) == 0)
			return true;
	}
	return false;
}

bool ts_decode_is_elsewhere(const struct ts_log_decoder *d, uint64_t addr)
{
	const struct ts_region *r = d->modules ? ts_regions_find(&d->regions, addr) : NULL;

	if (!d->modules)
		return false;
	for (const char *const *m = d->modules; r && r->file && *m; m++) {
		if (is_match(*m, r->file))
			return false;
	}
	return true;
}

void ts_decode_leave(const struct ts_log_decoder *d, struct ts_log_task *t)
{
	if (t->is_elsewhere || d->is_waiting)
		return;
	memcpy(t->shown, t->state, d->guest->n_state);
	t->is_elsewhere = true;
	t->n_elsewhere = 0;
}

/* All that was dropped is in the state. */
static void begin(struct ts_log_decoder *d)
{
	ts_decode_settle(d, d->now);
	ts_gap_reset(&d->gap);
	ts_op_frames_close(d->frames);
	d->frames->put = d->put;
	d->is_waiting = false;
	d->counts.n_unexplained = 0;
	for (unsigned i = 0; i < TS_MAX_THREADS; i++) {
		if (d->tasks[i])
			ts_op_piece_reset(&d->tasks[i]->call.ops);
	}
	ts_log_decoder_put_state(d);
}

/* Append the registers of @t that changed elsewhere. */
static void put_registers(struct ts_log_decoder *d, struct ts_log_task *t, struct ts_op_piece *p)
{
	uint8_t state[TS_LOG_MAX_STATE];

	memcpy(state, t->state, d->guest->n_state);
	memcpy(t->state, t->shown, d->guest->n_state);
	ts_decode_registers_as(d, t, p, state, t->mmx, false);
}

void ts_decode_put_gap(struct ts_log_decoder *d, struct ts_log_task *t)
{
	struct ts_op_piece *inner = &d->gap.ops, piece = { 0 };
	uint8_t *p;

	if (d->is_waiting || (!t->is_elsewhere && ts_gap_is_empty(&d->gap)))
		return;
	ts_gap_settle(&d->gap);
	if (t->is_elsewhere)
		put_registers(d, t, inner);
	if (ts_op_piece_gap(&piece, t->is_elsewhere ? t->n_elsewhere : 0, inner))
		ts_op_frames_piece(d->frames, t->pid, UCIR_FRAME, &piece);
	else
		d->gap.is_failed = true;
	ts_op_piece_fini(&piece);
	ts_op_piece_reset(inner);
	if (!t->is_elsewhere)
		return;
	t->is_elsewhere = false;
	p = ts_op_frames_room(d->frames, t->pid, UCIR_PUT_JMP_LEN);
	ts_op_frames_done(d->frames, ucir_put_jmp(p, t->at), 1);
}

void ts_log_decoder_put_gaps(struct ts_log_decoder *d)
{
	for (unsigned i = 0; i < TS_MAX_THREADS; i++) {
		if (d->tasks[i] && d->tasks[i]->is_known)
			ts_decode_put_gap(d, d->tasks[i]);
	}
}

void ts_decode_enter(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_code *b)
{
	if (b->is_elsewhere) {
		ts_decode_leave(d, t);
		return;
	}
	if (d->is_waiting || t->is_elsewhere)
		t->at = b->addr;
	if (d->is_waiting)
		begin(d);
	ts_decode_put_gap(d, t);
}
