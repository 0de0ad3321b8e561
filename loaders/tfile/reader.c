/* SPDX-License-Identifier: MIT */
/*
 * A trace file as steps: from each frame to the next.
 *
 * Position k is what frame k collected.  Between two frames anything may have happened: what the next frame
 * does not show again is unknown there, except the parts of the program that it cannot write.
 */
#include "trace.h"

#include "src/trace/point.h"
#include "loaders/kit/window.h"

struct tfile_reader {
	struct ts_reader base;
	struct tfile *t;           /* borrowed */
	struct ts_window window;   /* of the frames' reading */
	uint64_t pos;
	struct tfile_frame frames[2];
	struct tfile_frame *here;  /* of these, the one at pos */
	struct tfile_frame *there; /* the other */
};

/* Memory [first, last] is unknown from here on, except the program's read-only bytes. */
static void forget(const struct tfile *t, uint64_t first, uint64_t last, struct ts_steps *out)
{
	const struct ts_steps *program = &t->base.initial;
	struct ts_effect *e = ts_steps_effect(out, TS_FX_WRITE, first, last - first + 1);

	if (e)
		e->is_hidden = true;
	for (uint32_t i = 0; i < t->n_program; i++) {
		const struct ts_effect *p = &program->effects[i];
		uint64_t from = p->addr > first ? p->addr : first;
		uint64_t to = p->addr + (p->len - 1) < last ? p->addr + (p->len - 1) : last;

		if (p->kind != TS_FX_WRITE || from > to)
			continue;
		e = ts_steps_value(out, TS_FX_WRITE, from, ts_effect_data(program, p) + (from - p->addr),
				   (uint32_t)(to - from + 1));
		if (e)
			e->is_hidden = true;
	}
}

/* Forget what is in @from and not in @to; both without overlap, by address. */
static void forget_difference(const struct tfile *t, const struct tfile_frame *from,
			      const struct tfile_frame *to, struct ts_steps *out)
{
	size_t j = 0;

	for (size_t i = 0; i < from->n_covered; i++) {
		uint64_t first = from->covered[i].addr, last = first + (from->covered[i].len - 1);
		bool is_over = false;

		while (j < to->n_covered && to->covered[j].addr + (to->covered[j].len - 1) < first)
			j++;
		for (size_t k = j; k < to->n_covered && to->covered[k].addr <= last && !is_over; k++) {
			uint64_t to_last = to->covered[k].addr + (to->covered[k].len - 1);

			if (to->covered[k].addr > first)
				forget(t, first, to->covered[k].addr - 1, out);
			is_over = to_last >= last;
			first = to_last + 1;
		}
		if (!is_over)
			forget(t, first, last, out);
	}
}

void tfile_put_change(const struct tfile *t, const struct tfile_frame *from, const struct tfile_frame *to,
		      struct ts_steps *out)
{
	if (from)
		forget_difference(t, from, to, out);
	for (size_t i = to->n_memory; i-- > 0;) { /* of several blocks over one address the first counts */
		const struct tfile_memory *m = &to->memory[i];
		struct ts_effect *e;

		if (!m->len)
			continue;
		e = ts_steps_value(out, TS_FX_WRITE, m->addr, m->data, (uint32_t)m->len);
		if (e)
			e->is_hidden = true;
	}
	if (to->regs && t->known_len)
		ts_steps_value(out, TS_FX_REG_WRITE, 0, to->regs, t->known_len);
	else if (from && from->regs && t->known_len)
		ts_steps_effect(out, TS_FX_REG_WRITE, 0, t->known_len);
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct tfile_reader *r = (struct tfile_reader *)base;
	struct tfile *t = r->t;
	struct tfile_frame *was = r->here;

	base->end = (struct ts_end){ .is_absent = true };
	if (r->pos == tfile_n_steps(t)) {
		if (t->damage.code == TS_OK)
			return TS_END;
		*err = t->damage;
		return TS_FAIL;
	}
	if (r->pos + 1 < t->frames.n_frames) {
		if (!tfile_load(t, r->pos + 1, r->there, err))
			return TS_FAIL;
		tfile_put_change(t, was, r->there, out);
		r->here = r->there;
		r->there = was;
	}
	ts_steps_close(out, was->pc, 0, 0);
	r->pos++;
	return TS_ITEM;
}

/* Load the frame at r->pos; at the end, the last one. */
static bool load_here(struct tfile_reader *r, struct ts_error *err)
{
	uint64_t n = r->t->frames.n_frames;

	r->here->pc = TS_NO_PC;
	return !n || tfile_load(r->t, r->pos < n ? r->pos : n - 1, r->here, err);
}

/* A decode point: the position. */
static bool point(struct ts_reader *base, struct ts_point *p)
{
	struct tfile_reader *r = (struct tfile_reader *)base;

	TS_POINT(p, r->pos, tfile_n_steps(r->t));
	return ts_point_close(p) && (p->to || load_here(r, p->err));
}

static void close_reader(struct ts_reader *base)
{
	struct tfile_reader *r = (struct tfile_reader *)base;

	tfile_frame_fini(&r->frames[0]);
	tfile_frame_fini(&r->frames[1]);
	ts_window_fini(&r->window);
}

static const struct ts_reader_ops ops = {
	.size = sizeof(struct tfile_reader), .next = next, .point = point, .close = close_reader
};

struct ts_reader *tfile_reader(struct ts_recording *rec, struct ts_error *err)
{
	struct tfile_reader *r = ts_reader_new(&ops, err);

	if (!r)
		return NULL;
	r->t = (struct tfile *)rec;
	ts_window_init(&r->window, r->t->src, ts_source_len(r->t->src));
	for (unsigned i = 0; i < 2; i++)
		r->frames[i].window = &r->window;
	r->here = &r->frames[0];
	r->there = &r->frames[1];
	if (!load_here(r, err)) {
		ts_reader_close(&r->base);
		return NULL;
	}
	return &r->base;
}
