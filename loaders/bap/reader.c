/* SPDX-License-Identifier: MIT */
/*
 * Frames into steps.
 *
 * Step k is the k-th std frame, and all other frames behind it up to the next std frame: those say what is so
 * before the next instruction.  Only a system call's frame belongs to the std frame after it that has its
 * address.
 *
 * Every BAP_FORGET steps the reader forgets what it told the model of the registers, which keeps decode
 * points there small.
 */
#include "reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "insn.h"
#include "schema.h"
#include "toc.h"

#define BAP_FORGET 1024
#define BUF_LEN    (256u << 10)

/* -------------------------------------------------------------------------------------------------- bytes */

/* Bytes that can be read behind those of the file: a value is read as a word, wherever it ends. */
#define BUF_PAD 8

/* Have the @len bytes at file offset @off, which are there, in the buffer, and some more. */
static bool fill_buf(struct bap_reader *r, uint64_t off, uint64_t len, struct ts_error *err)
{
	size_t want = len > BUF_LEN ? (size_t)len : BUF_LEN;

	if (want > r->rec->end - off)
		want = (size_t)(r->rec->end - off);
	if (want > r->buf_cap) {
		uint8_t *p = realloc(r->buf, want + BUF_PAD);

		if (!p)
			return ts_fail(err, TS_ENOMEM, off, "no memory for a frame of %" PRIu64 " bytes",
				       len);
		memset(p + want, 0, BUF_PAD);
		r->buf = p;
		r->buf_cap = want;
	}
	r->buf_len = 0;
	if (!ts_source_read_all(r->rec->src, off, r->buf, want, err))
		return false;
	r->buf_off = off;
	r->buf_len = want;
	return true;
}

/*
 * The @len bytes at file offset @off, valid until the next call, and BUF_PAD more; there are so many.  NULL
 * on failure.
 */
static inline const uint8_t *bytes_at(struct bap_reader *r, uint64_t off, uint64_t len, struct ts_error *err)
{
	bool is_there =
		off >= r->buf_off && off - r->buf_off <= r->buf_len && len <= r->buf_len - (off - r->buf_off);

	if (__builtin_expect(!is_there, 0) && !fill_buf(r, off, len, err))
		return NULL;
	return r->buf + (off - r->buf_off);
}

static uint64_t le64(const uint8_t *p)
{
	struct ts_cursor c = ts_cursor(p, 8, 0, "", NULL);

	return ts_u64le(&c);
}

static bool fail_cut(const struct bap_reader *r, uint64_t left, const char *what, struct ts_error *err)
{
	return ts_fail(err, TS_ETRUNC, r->off, "frame %" PRIu64 ": %s, but %" PRIu64 " bytes are left%s",
		       r->n_frames, what, left,
		       r->rec->is_closed ? " before the index" : ": the recording was not finished");
}

/* The next frame's bytes to @c, not taken yet.  Returns TS_END behind the last frame. */
static inline enum ts_next peek_frame(struct bap_reader *r, struct ts_cursor *c, struct ts_error *err)
{
	uint64_t left = r->rec->end - r->off, len;
	const uint8_t *p;
	char text[64];

	if (!left)
		return TS_END;
	if (left < BAP_LEN_LEN) {
		fail_cut(r, left, "a length has 8 bytes", err);
		return TS_FAIL;
	}
	p = bytes_at(r, r->off, BAP_LEN_LEN, err);
	if (!p)
		return TS_FAIL;
	len = le64(p);
	if (!len || len > BAP_MAX_FRAME) {
		ts_fail(err, TS_ECORRUPT, r->off, "frame %" PRIu64 ": its length is %" PRIu64 " bytes",
			r->n_frames, len);
		return TS_FAIL;
	}
	if (len > left - BAP_LEN_LEN) {
		snprintf(text, sizeof(text), "its length is %" PRIu64 " bytes", len);
		fail_cut(r, left - BAP_LEN_LEN, text, err);
		return TS_FAIL;
	}
	p = bytes_at(r, r->off, BAP_LEN_LEN + len, err);
	if (!p)
		return TS_FAIL;
	*c = ts_cursor(p + BAP_LEN_LEN, (size_t)len, r->off + BAP_LEN_LEN, "frame", err);
	return TS_ITEM;
}

void bap_take_frame(struct bap_reader *r)
{
	struct bap *rec = r->rec;

	if (rec->toc.step && r->is_first_time && r->n_frames == rec->toc.due)
		bap_toc_compare(rec, r->off);
	r->off += BAP_LEN_LEN + r->opened.len;
	r->n_frames++;
	if (r->off > rec->read_until) {
		rec->read_until = r->off;
		rec->n_walked = r->n_frames;
	}
}

/* ------------------------------------------------------------------------------------------------- frames */

/* Which kind of frame it is; 0: none that is known. */
static unsigned frame_kind(const struct pb_message *m)
{
	unsigned kind = 0;

	for (unsigned i = 1; i <= FRAME_KEY; i++)
		if (pb_has(m, i) && (!kind || m->v[i - 1].p > m->v[kind - 1].p))
			kind = i;
	return kind;
}

/* From a frame @c to the message in it, whose kind goes to *kind. */
static inline bool open_message(struct ts_cursor *c, unsigned *kind)
{
	struct ts_cursor frame = *c;
	struct pb_message m;
	const uint8_t *p;
	uint64_t n;

	/* nearly all are one field, of an instruction, and nothing else */
	if (*c->p == (FRAME_STD << 3 | PB_BYTES)) {
		p = pb_get_varint(c->p + 1, c->p + c->left, &n);
		if (p && n == (size_t)(c->p + c->left - p)) {
			ts_take(c, (uint64_t)(p - c->p));
			*kind = FRAME_STD;
			return true;
		}
	}
	if (!pb_read(c, &bap_frame, &m))
		return false;
	*kind = frame_kind(&m);
	if (*kind)
		*c = pb_sub(&m, *kind, &frame);
	return true;
}

static enum ts_next open_frame(struct bap_reader *r, struct ts_error *err)
{
	struct bap_opened *o = &r->opened;
	enum ts_next next;

	o->len = 0;
	next = peek_frame(r, &o->body, err);
	if (next != TS_ITEM)
		return next;
	o->off = r->off;
	o->has_std = false;
	o->len = o->body.left;
	if (open_message(&o->body, &o->kind))
		return TS_ITEM;
	o->len = 0;
	ts_fail_prefix(err, "frame %" PRIu64, r->n_frames);
	return TS_FAIL;
}

enum ts_next bap_open_frame(struct bap_reader *r, struct ts_error *err)
{
	struct bap_opened *o = &r->opened;

	r->is_first_time = r->off >= r->rec->read_until;
	if (!o->len || o->off != r->off)
		return open_frame(r, err);
	o->body.err = err;
	return TS_ITEM;
}

/* pb_read() of a std frame with its fields in order, and nothing else.  False: it is another, or damaged. */
static inline bool read_usual_std(const struct ts_cursor *body, struct pb_message *std)
{
	const uint8_t *p = body->p, *end = p + body->left;

	std->present = 0;
	p = pb_get_field(p, end, STD_ADDRESS, PB_VARINT, std);
	p = pb_get_field(p, end, STD_THREAD_ID, PB_VARINT, std);
	p = pb_get_field(p, end, STD_RAWBYTES, PB_BYTES, std);
	p = pb_get_field(p, end, STD_PRE_LIST, PB_BYTES, std);
	p = pb_get_field(p, end, STD_POST_LIST, PB_BYTES, std);
	p = pb_get_field(p, end, STD_MODE, PB_BYTES, std);
	return p == end && pb_has(std, STD_ADDRESS);
}

const struct pb_message *bap_open_std(struct bap_reader *r)
{
	struct bap_opened *o = &r->opened;

	if (!o->has_std)
		o->has_std = read_usual_std(&o->body, &o->std);
	if (!o->has_std) {
		struct ts_cursor c = o->body;

		o->has_std = pb_read(&c, &bap_std, &o->std);
	}
	return o->has_std ? &o->std : NULL;
}

/* Where a batch stood, to go back if a frame turns out to be damaged. */
struct mark {
	uint32_t n_effects, n_data, n_modules, n_events;
};

static struct mark mark_of(const struct ts_steps *b)
{
	return (struct mark){ b->n_effects, b->n_data, b->n_modules, b->n_events };
}

static void go_back(struct ts_steps *b, const struct mark *m)
{
	b->n_effects = m->n_effects;
	b->n_data = m->n_data;
	b->n_modules = m->n_modules;
	b->n_events = m->n_events;
}

/* Nothing is known any more, of registers and memory. */
static void lose_everything(struct bap_reader *r)
{
	uint64_t half = r->rec->addr_mask / 2 + 1;

	ts_steps_event(r->out, TS_EV_GAP);
	ts_steps_effect(r->out, TS_FX_FORGET, 0, half);
	ts_steps_effect(r->out, TS_FX_FORGET, half, half);
	for (uint32_t i = 0; i < r->n_threads; i++) {
		bap_switch_thread(r, r->threads[i]);
		bap_lose_all(r, r->threads[i]);
	}
	bap_switch_thread(r, r->now);
	r->n_pending = 0;
}

/*
 * A frame is damaged: where the index knows one behind it, the trace goes on there.
 *
 * Returns true with everything unknown, as part of the open step.
 */
static bool go_on_behind(struct bap_reader *r, const struct ts_error *damage)
{
	uint64_t frame, off;

	if ((damage->code != TS_ECORRUPT && damage->code != TS_ETRUNC) ||
	    !bap_toc_behind(r->rec, r->off, &frame, &off))
		return false;
	bap_warn(r, "%s; by the index the trace goes on at frame %" PRIu64, damage->text, frame);
	r->off = off;
	r->n_frames = frame;
	if (r->off > r->rec->read_until) {
		r->rec->read_until = r->off;
		r->rec->toc.due = frame;
	}
	lose_everything(r);
	return true;
}

/*
 * Take in the frames up to the next std frame, which say what is so before it.  A damaged one that nothing
 * leads on behind is left for the next call of next(), which reports it.
 *
 * Returns TS_ITEM if there is a std frame; TS_END or TS_FAIL if the step is the last one.
 */
static enum ts_next read_others(struct bap_reader *r)
{
	for (;;) {
		struct mark mark;
		enum ts_next found;

		ts_error_reset(&r->ahead);
		found = bap_open_frame(r, &r->ahead);
		if (found == TS_END || (found == TS_ITEM && r->opened.kind == FRAME_STD))
			return found;
		mark = mark_of(r->out);
		if (found == TS_ITEM && bap_read_other(r)) {
			bap_take_frame(r);
			continue;
		}
		go_back(r->out, &mark);
		if (!go_on_behind(r, &r->ahead))
			return TS_FAIL;
	}
}

/*
 * A std frame is damaged, but its address can be read: an instruction that did nobody knows what, if the
 * index knows a frame behind it.
 */
static bool read_damaged(struct bap_reader *r, const struct ts_error *damage, uint64_t *pc)
{
	const struct ts_cursor *body = &r->opened.body;
	const uint8_t *p = body->p;

	if (body->left < 2 || *p != (STD_ADDRESS << 3 | PB_VARINT) || !r->now ||
	    !pb_get_varint(p + 1, p + body->left, pc))
		return false;
	*pc &= r->rec->addr_mask;
	return go_on_behind(r, damage);
}

/* ARM: the next frame of the thread tells the instruction set that this instruction changed to. */
static void look_at_next_mode(struct bap_reader *r, struct bap_thread *t)
{
	const struct pb_message *std;
	uint32_t bit;

	ts_error_reset(&r->ahead);
	if (bap_open_frame(r, &r->ahead) != TS_ITEM || r->opened.kind != FRAME_STD)
		return;
	std = bap_open_std(r);
	if (!std || std->v[STD_THREAD_ID - 1].n != t->id || !pb_has(std, STD_MODE))
		return;
	bit = bap_arm_t(&std->v[STD_MODE - 1]);
	if ((t->flags[0].value & BAP_ARM_T) == bit)
		return;
	bap_write_flags(t, 0, BAP_ARM_T, bit);
	bap_tell_flags(r, t, 0, BAP_ARM_T, true);
}

/* The instruction at @pc is the last one: where it leads is known if it cannot lead elsewhere. */
static void tell_end(struct bap_reader *r, uint64_t pc)
{
	struct ts_end *end = &r->base.end;

	if (!end->has_pc && bap_goes_on(r->rec, pc, r->last_insn, r->last_len))
		*end = (struct ts_end){ .pc = (pc + r->last_len) & r->rec->addr_mask, .has_pc = true };
}

/* Say at the end what the walk over all frames found. */
static void end_walk(struct bap_reader *r)
{
	struct bap *rec = r->rec;

	if (rec->is_walked)
		return;
	rec->is_walked = true;
	if (r->n_pending)
		ts_recording_warn(&rec->base, "system calls without their instruction are left out");
	if (rec->is_closed && rec->n_frames != rec->n_walked)
		ts_recording_warn(&rec->base, "the header says %" PRIu64 " frames, there are %" PRIu64,
				  rec->n_frames, rec->n_walked);
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct bap_reader *r = (struct bap_reader *)base;
	struct mark mark = mark_of(out);
	struct bap_thread *t;
	uint16_t insn_len;
	enum ts_next found;
	bool is_std;
	uint64_t pc;

	r->out = out;
	found = bap_open_frame(r, err);
	if (found != TS_ITEM) {
		if (found == TS_END)
			end_walk(r);
		return found;
	}
	if (r->n_steps % BAP_FORGET == 0)
		bap_forget_told(r);
	is_std = r->opened.kind == FRAME_STD;
	if (is_std ? bap_read_std(r, &t, &pc, &insn_len) : bap_read_other(r)) {
		bap_take_frame(r);
	} else {
		go_back(out, &mark);
		ts_fail_prefix(err, "frame %" PRIu64, r->n_frames);
		if (!is_std || !read_damaged(r, err, &pc))
			return TS_FAIL;
		ts_error_reset(err);
		t = r->now;
		insn_len = 0;
	}
	if (!is_std) /* only after a resume() at the very start */
		return next(base, out, err);
	if (read_others(r) != TS_ITEM)
		tell_end(r, pc);
	if (r->rec->has_modes)
		look_at_next_mode(r, t);
	r->n_steps++;
	ts_steps_close(out, pc, insn_len, t->ordinal);
	return TS_ITEM;
}

/* ------------------------------------------------------------------------------------------ decode points */

/*
 * A decode point: offset, frame, step, modules, then the system calls that wait, then each thread's id,
 * flags, and what was told of its registers: runs of offset, length, data; those that the last instruction
 * wrote first.
 */
static void put64(struct ts_buf *b, uint64_t n)
{
	ts_buf_put(b, &n, sizeof(n));
}

static void put_run(struct ts_buf *b, const struct bap_thread *t, uint32_t off, uint32_t len)
{
	put64(b, off);
	put64(b, len);
	ts_buf_put(b, t->data + off, len);
}

static bool is_written(const struct bap_thread *t, const struct bap_extent *e)
{
	return !memchr(t->state + e->off, BAP_UNTOLD, e->len);
}

static void save_thread(const struct bap_reader *r, const struct bap_thread *t, struct ts_buf *b)
{
	uint32_t g_len = r->rec->base.regs.g_len, end;
	uint64_t n_last = 0;

	put64(b, t->id);
	ts_buf_put(b, t->flags, sizeof(t->flags));
	for (unsigned i = 0; i < t->n_last; i++)
		n_last += is_written(t, &t->last[i]);
	put64(b, n_last);
	for (unsigned i = 0; i < t->n_last; i++)
		if (is_written(t, &t->last[i]))
			put_run(b, t, t->last[i].off, t->last[i].len);
	for (uint32_t i = 0; r->n_steps % BAP_FORGET && i < g_len; i = end) {
		end = i + 1;
		if (t->state[i] != BAP_TOLD)
			continue;
		while (end < g_len && t->state[end] == BAP_TOLD)
			end++;
		put_run(b, t, i, end - i);
	}
	put64(b, UINT64_MAX);
}

static void save(const struct ts_reader *base, struct ts_buf *b)
{
	const struct bap_reader *r = (const struct bap_reader *)base;

	put64(b, r->off);
	put64(b, r->n_frames);
	put64(b, r->n_steps);
	put64(b, r->n_modules);
	ts_buf_put(b, &r->base.end, sizeof(r->base.end));
	put64(b, r->n_pending);
	ts_buf_put(b, r->pending, r->n_pending * sizeof(r->pending[0]));
	put64(b, r->now ? r->now->id : 0);
	put64(b, r->n_threads);
	for (uint32_t i = 0; i < r->n_threads; i++)
		save_thread(r, r->threads[i], b);
}

static void get(struct ts_cursor *c, void *data, size_t len)
{
	const uint8_t *p = ts_take(c, len);

	if (p)
		memcpy(data, p, len);
}

static uint64_t get64(struct ts_cursor *c)
{
	uint64_t n = 0;

	get(c, &n, sizeof(n));
	return n;
}

/* A run of register bytes; false when there is none. */
static bool get_run(struct bap_reader *r, struct bap_thread *t, struct ts_cursor *c, enum bap_byte state,
		    struct bap_extent *run)
{
	uint32_t g_len = r->rec->base.regs.g_len;
	uint64_t off = get64(c), len;

	if (off >= g_len)
		return false;
	len = get64(c);
	if (len > g_len - off || len > c->left)
		return ts_fail(c->err, TS_ECORRUPT, TS_NO_OFF,
			       "a decode point has registers beyond the last");
	get(c, t->data + off, (size_t)len);
	memset(t->state + off, (int)state, (size_t)len);
	*run = (struct bap_extent){ (uint32_t)off, (uint32_t)len };
	return true;
}

static bool resume_thread(struct bap_reader *r, struct ts_cursor *c)
{
	struct bap_thread *t = bap_find_thread(r, get64(c), c->err);
	uint64_t n_last;
	struct bap_extent run;

	if (!t)
		return false;
	get(c, t->flags, sizeof(t->flags));
	n_last = get64(c);
	while (n_last-- && t->n_last < BAP_MAX_LAST && get_run(r, t, c, BAP_WRITTEN, &run))
		t->last[t->n_last++] = run;
	while (get_run(r, t, c, BAP_TOLD, &run))
		;
	return ts_ok(c);
}

static bool resume(struct ts_reader *base, const uint8_t *point, size_t len, struct ts_error *err)
{
	struct bap_reader *r = (struct bap_reader *)base;
	struct ts_cursor c = ts_cursor(point, len, 0, "decode point", err);
	uint64_t now, n;

	bap_forget_threads(r);
	r->off = get64(&c);
	r->n_frames = get64(&c);
	r->n_steps = get64(&c);
	r->n_modules = get64(&c);
	get(&c, &r->base.end, sizeof(r->base.end));
	n = get64(&c);
	r->n_pending = n < BAP_MAX_PENDING ? (unsigned)n : BAP_MAX_PENDING;
	get(&c, r->pending, r->n_pending * sizeof(r->pending[0]));
	now = get64(&c);
	for (n = get64(&c); n && ts_ok(&c); n--)
		resume_thread(r, &c);
	if (ts_ok(&c) && (c.left || r->off < r->rec->first || r->off > r->rec->end))
		ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "a decode point that is none of this trace");
	r->now = r->n_threads ? bap_find_thread(r, now, err) : NULL;
	return ts_ok(&c);
}

static void close_reader(struct ts_reader *base)
{
	struct bap_reader *r = (struct bap_reader *)base;

	bap_forget_threads(r);
	free(r->threads);
	free(r->shown);
	free(r->buf);
	free(r);
}

/* ---------------------------------------------------------------------------------------------- the start */

struct bap_reader *bap_reader_at_start(struct bap *rec, struct ts_error *err)
{
	static const struct ts_reader_ops ops = {
		.next = next, .save = save, .resume = resume, .close = close_reader
	};
	struct bap_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a reader");
		return NULL;
	}
	r->base.ops = &ops;
	r->serial = 1;
	r->rec = rec;
	r->off = rec->first;
	return r;
}

bool bap_skip_to_first(struct bap_reader *r, struct ts_steps *out, struct ts_error *err)
{
	struct ts_steps ignored;
	enum ts_next found;

	ts_steps_init(&ignored);
	r->out = out ? out : &ignored;
	for (;;) {
		found = bap_open_frame(r, err);
		if (found != TS_ITEM || r->opened.kind == FRAME_STD)
			break;
		if (!bap_read_other(r)) {
			ts_fail_prefix(err, "frame %" PRIu64, r->n_frames);
			found = TS_FAIL;
			break;
		}
		bap_take_frame(r);
		ts_steps_reset(&ignored);
	}
	ts_steps_fini(&ignored);
	if (found == TS_END)
		ts_fail(err, TS_EUNSUPPORTED, r->rec->end,
			"no instructions: %" PRIu64 " frames, none of an instruction", r->n_frames);
	return found == TS_ITEM;
}

struct ts_reader *bap_reader_new(struct bap *rec, struct ts_error *err)
{
	struct bap_reader *r = bap_reader_at_start(rec, err);

	if (r)
		r->now = bap_find_thread(r, rec->first_thread, err);
	if (r && r->now && bap_skip_to_first(r, NULL, err))
		return &r->base;
	if (r)
		ts_reader_close(&r->base);
	return NULL;
}

bool bap_read_initial(struct bap *rec, struct ts_error *err)
{
	struct bap_reader *r = bap_reader_at_start(rec, err);
	bool done = false;

	if (!r)
		return false;
	r->now = bap_find_thread(r, rec->first_thread, err);
	if (r->now)
		done = bap_skip_to_first(r, &rec->base.initial, err);
	ts_reader_close(&r->base);
	return done;
}
