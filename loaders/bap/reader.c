/* SPDX-License-Identifier: MIT */
/*
 * Frames into steps.
 *
 * Step k is the k-th std frame, and all other frames after it up to the next std frame: those describe the
 * state before the next instruction.  Only a system call's frame belongs to the std frame after it that has
 * its address.
 *
 * Every BAP_FORGET steps the reader forgets the registers that it has reported to the model, which keeps decode
 * points there small.
 */
#include "trace.h"

#include <inttypes.h>

#include "decoder.h"
#include "insn.h"
#include "schema.h"
#include "stream.h"

#define BAP_FORGET 1024

struct bap_reader {
	struct ts_reader base;
	struct bap *rec; /* borrowed */
	struct bap_stream stream;
	struct bap_course course;
	struct ts_error ahead; /* of a frame that was looked ahead at; next() will say it */
	uint64_t n_steps;
};

/*
 * A frame is damaged: where the index knows a later one, the trace goes on there.
 *
 * Returns true with everything unknown, as part of the open step.  Returns false if none is found, or with
 * another *damage if the index cannot be read.
 */
static bool go_on_after(struct bap_reader *r, struct ts_error *damage)
{
	struct ts_error failed = { 0 };
	uint64_t frame, off;

	if (damage->code != TS_ECORRUPT && damage->code != TS_ETRUNC)
		return false;
	if (!bap_toc_after(r->rec, r->stream.off, &frame, &off, &failed)) {
		if (failed.code != TS_OK)
			*damage = failed;
		return false;
	}
	bap_warn(&r->stream.look, "%s; according to the index the trace goes on at frame %" PRIu64,
		 damage->text, frame);
	bap_stream_seek(&r->stream, off, frame);
	if (off > r->rec->read_until) {
		r->rec->read_until = off;
		r->rec->toc.due = frame;
	}
	bap_course_lose(&r->course);
	return true;
}

/*
 * Take in the frames up to the next std frame, which describe the state before it.  A damaged one that the
 * index does not lead past is left for the next call of next(), which reports it.
 *
 * Returns TS_ITEM if there is a std frame; TS_END or TS_FAIL if the step is the last one.
 */
static enum ts_next read_others(struct bap_reader *r)
{
	for (;;) {
		uint32_t mark;
		enum ts_next found;

		if (r->ahead.code != TS_OK)
			ts_error_reset(&r->ahead);
		found = bap_stream_open(&r->stream, &r->ahead);
		if (found == TS_END || (found == TS_ITEM && r->stream.opened.kind == FRAME_STD))
			return found;
		mark = r->course.known.out->n_effects;
		if (found == TS_ITEM && bap_read_other(&r->course, &r->stream)) {
			bap_stream_take(&r->stream);
			continue;
		}
		ts_steps_rollback(r->course.known.out, mark);
		if (!go_on_after(r, &r->ahead))
			return TS_FAIL;
	}
}

/*
 * A std frame is damaged, but its address can be read: an instruction whose effects are unknown, if the
 * index knows a later frame.
 */
static bool read_damaged(struct bap_reader *r, struct ts_error *damage, uint64_t *pc)
{
	const struct ts_cursor *body = &r->stream.opened.body;
	const uint8_t *p = body->p;

	if (body->left < 2 || *p != (STD_ADDRESS << 3 | PB_VARINT) || !r->course.now ||
	    !pb_get_varint(p + 1, p + body->left, pc))
		return false;
	*pc &= r->rec->addr_mask;
	return go_on_after(r, damage);
}

/* ARM: the next frame of the thread determines the instruction set that this instruction changed to. */
static void look_at_next_mode(struct bap_reader *r, struct bap_thread *t)
{
	const struct pb_message *std;
	uint32_t bit;

	ts_error_reset(&r->ahead);
	if (bap_stream_open(&r->stream, &r->ahead) != TS_ITEM || r->stream.opened.kind != FRAME_STD)
		return;
	std = bap_stream_std(&r->stream);
	if (!std || std->v[STD_THREAD_ID - 1].n != t->id || !pb_has(std, STD_MODE))
		return;
	bit = bap_arm_t(&std->v[STD_MODE - 1]);
	if ((t->flags[0].value & BAP_ARM_T) == bit)
		return;
	bap_write_flags(t, 0, BAP_ARM_T, bit);
	bap_report_flags(&r->course.known, t, 0, BAP_ARM_T, true);
}

/* The instruction at @pc is the last one: where it leads is known if it cannot lead elsewhere. */
static void tell_end(struct bap_reader *r, uint64_t pc)
{
	struct ts_end *end = &r->base.end;

	if (!end->has_pc && bap_goes_on(r->rec, pc, r->course.last_insn, r->course.last_len))
		*end = (struct ts_end){ .pc = (pc + r->course.last_len) & r->rec->addr_mask, .has_pc = true };
}

/* Say at the end what the walk over all frames found. */
static void end_walk(struct bap_reader *r)
{
	struct bap *rec = r->rec;

	if (rec->is_walked)
		return;
	rec->is_walked = true;
	if (r->course.calls.n)
		ts_recording_warn(&rec->base, "system calls without their instruction are ignored");
	if (rec->is_closed && rec->n_frames != rec->n_walked)
		ts_recording_warn(&rec->base, "the header says %" PRIu64 " frames, there are %" PRIu64,
				  rec->n_frames, rec->n_walked);
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct bap_reader *r = (struct bap_reader *)base;
	struct bap_thread *t;
	uint16_t insn_len;
	enum ts_next found;
	bool is_std;
	uint64_t pc;

	r->course.known.out = out;
	found = bap_stream_open(&r->stream, err);
	if (found != TS_ITEM) {
		if (found == TS_END)
			end_walk(r);
		return found;
	}
	if (r->n_steps % BAP_FORGET == 0)
		bap_forget_reported(&r->course.known);
	is_std = r->stream.opened.kind == FRAME_STD;
	if (is_std ? bap_read_std(&r->course, &r->stream, &t, &pc, &insn_len)
		   : bap_read_other(&r->course, &r->stream)) {
		bap_stream_take(&r->stream);
	} else {
		ts_steps_rollback(out, out->n_closed);
		ts_fail_prefix(err, "frame %" PRIu64, r->stream.n_frames);
		if (!is_std || !read_damaged(r, err, &pc))
			return TS_FAIL;
		ts_error_reset(err);
		t = r->course.now;
		insn_len = 0;
	}
	if (!is_std) /* only after a resume() at the very start */
		return next(base, out, err);
	if (read_others(r) != TS_ITEM) {
		if (r->ahead.code == TS_EIO || r->ahead.code == TS_ENOMEM) { /* that is not the trace's end */
			*err = r->ahead;
			return TS_FAIL;
		}
		tell_end(r, pc);
	}
	if (r->rec->has_modes)
		look_at_next_mode(r, t);
	r->n_steps++;
	ts_steps_close(out, pc, insn_len, t->ordinal);
	return TS_ITEM;
}

/* ------------------------------------------------------------------------------------------ decode points */

/*
 * A decode point: offset of the frame, from the first one on; frame, step, end; what the frames before it reported.
 */
static bool point(struct ts_reader *base, struct ts_point *p)
{
	struct bap_reader *r = (struct bap_reader *)base;
	uint64_t off = ts_point_number(p, r->stream.off - r->rec->first, r->rec->end - r->rec->first);
	uint64_t frame = ts_point_number(p, r->stream.n_frames, UINT64_MAX);

	if (!p->to)
		bap_stream_seek(&r->stream, r->rec->first + off, frame);
	TS_POINT(p, r->n_steps, UINT64_MAX);
	ts_point_end(p, &r->base.end);
	return bap_course_point(&r->course, r->n_steps % BAP_FORGET, p) && ts_point_close(p);
}

static void close_reader(struct ts_reader *base)
{
	struct bap_reader *r = (struct bap_reader *)base;

	bap_course_fini(&r->course);
	bap_stream_fini(&r->stream);
}

static const struct ts_reader_ops ops = {
	.size = sizeof(struct bap_reader), .next = next, .point = point, .close = close_reader
};

/* ---------------------------------------------------------------------------------------------- the start */

static struct bap_reader *at_start(struct bap *rec, struct ts_error *err)
{
	struct bap_reader *r = ts_reader_new(&ops, err);

	if (!r)
		return NULL;
	r->rec = rec;
	bap_stream_init(&r->stream, rec);
	bap_course_init(&r->course, rec, &r->stream.look, &r->base.end);
	if (!bap_course_thread(&r->course, rec->first_thread, rec->first, err)) {
		ts_reader_close(&r->base);
		return NULL;
	}
	for (unsigned i = 0; i < rec->names.n_flags; i++) {
		struct bap_flag_bits *f = &r->course.now->flags[i];

		f->known |= rec->first_flags[i].known;
		f->value |= rec->first_flags[i].value;
	}
	return r;
}

static bool skip_to_first(struct bap_reader *r, struct ts_steps *out, struct ts_error *err)
{
	struct ts_steps ignored;
	enum ts_next found;

	ts_steps_init(&ignored);
	r->course.known.out = out ? out : &ignored;
	for (;;) {
		found = bap_stream_open(&r->stream, err);
		if (found != TS_ITEM || r->stream.opened.kind == FRAME_STD)
			break;
		if (!bap_read_other(&r->course, &r->stream)) {
			ts_fail_prefix(err, "frame %" PRIu64, r->stream.n_frames);
			found = TS_FAIL;
			break;
		}
		bap_stream_take(&r->stream);
		ts_steps_reset(&ignored);
	}
	ts_steps_fini(&ignored);
	if (found == TS_END)
		ts_fail(err, TS_EUNSUPPORTED, r->rec->end,
			"no instructions: %" PRIu64 " frames, but none of an instruction", r->stream.n_frames);
	return found == TS_ITEM;
}

struct ts_reader *bap_reader_new(struct bap *rec, struct ts_error *err)
{
	struct bap_reader *r = at_start(rec, err);

	if (r && skip_to_first(r, NULL, err))
		return &r->base;
	if (r)
		ts_reader_close(&r->base);
	return NULL;
}

uint64_t bap_reader_n_followed(const struct ts_reader *base)
{
	return ((const struct bap_reader *)base)->course.plans.n_followed;
}

bool bap_read_initial(struct bap *rec, struct ts_error *err)
{
	struct bap_reader *r = at_start(rec, err);
	bool done;

	if (!r)
		return false;
	done = skip_to_first(r, &rec->base.initial, err);
	ts_reader_close(&r->base);
	if (done && rec->base.initial.is_failed)
		return ts_no_memory(err, "the initial state");
	return done;
}
