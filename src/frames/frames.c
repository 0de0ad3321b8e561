/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include <stdlib.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

void ts_frame_init(struct ts_frame *f)
{
	*f = (struct ts_frame){ 0 };
}

void ts_frame_fini(struct ts_frame *f)
{
	free(f->ranges);
	free(f->vars);
	ts_frame_init(f);
}

void ts_frame_reset(struct ts_frame *f)
{
	*f = (struct ts_frame){
		.ranges = f->ranges,
		.cap_ranges = f->cap_ranges,
		.vars = f->vars,
		.cap_vars = f->cap_vars,
	};
}

void ts_frame_add_range(struct ts_frame *f, uint64_t addr, uint64_t len)
{
	f->is_failed |= !TS_PUSH(f->ranges, f->n_ranges, f->cap_ranges, (struct ts_range){ addr, len });
}

void ts_frame_add_var(struct ts_frame *f, uint32_t number, int64_t value)
{
	f->is_failed |= !TS_PUSH(f->vars, f->n_vars, f->cap_vars, (struct ts_frame_var){ number, value });
}

bool ts_frames_get(struct ts_frames *f, uint64_t n, struct ts_frame *out, struct ts_error *err)
{
	ts_frame_reset(out);
	if (!f->ops->get(f, n, out, err))
		return false;
	return !out->is_failed || ts_no_memory(err, "a trace frame");
}

size_t ts_ranges_merge(struct ts_range *ranges, size_t n)
{
	size_t n_left = 0;

	TS_SORT_BY(ranges, n, addr);
	for (size_t i = 0; i < n; i++) {
		const struct ts_range r = ranges[i];
		struct ts_range *last = n_left ? &ranges[n_left - 1] : NULL;

		if (!r.len)
			continue;
		if (!last || r.addr - last->addr > last->len)
			ranges[n_left++] = r;
		else if (r.addr - last->addr + r.len > last->len)
			last->len = r.addr - last->addr + r.len;
	}
	return n_left;
}

void ts_frame_mask(const struct ts_frame *f, uint64_t addr, size_t len, uint8_t *known)
{
	enum { IN_FRAME = 2 };

	if (f->is_whole || !len)
		return;
	for (size_t i = 0; i < f->n_ranges; i++) {
		const struct ts_range *r = &f->ranges[i];
		uint64_t skip = r->addr < addr ? addr - r->addr : 0;
		uint64_t at = r->addr < addr ? 0 : r->addr - addr;

		for (uint64_t j = skip; j < r->len && at < len; j++, at++)
			known[at] |= known[at] ? IN_FRAME : 0;
	}
	for (size_t i = 0; i < len; i++)
		known[i] = (known[i] & IN_FRAME) != 0;
}

bool ts_frame_value(const struct ts_frame *f, uint32_t number, int64_t *value)
{
	for (size_t i = f->n_vars; i-- > 0;) {
		if (f->vars[i].number == number) {
			*value = f->vars[i].value;
			return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------------------------------- a frame a position */

static bool get_step(struct ts_frames *, uint64_t n, struct ts_frame *out, struct ts_error *)
{
	out->pos = n;
	out->tracepoint = 1;
	out->is_whole = true;
	out->has_regs = true;
	out->has_pc = true;
	out->is_step = n != 0;
	return true;
}

static uint64_t step_pos(const struct ts_frames *, uint64_t n)
{
	return n;
}

static uint64_t next_step_of(const struct ts_frames *f, uint32_t number, uint64_t from)
{
	return number == 1 && from < f->n_frames ? from : TS_NO_FRAME;
}

void ts_frames_of_steps(struct ts_frames *f, uint64_t n_steps)
{
	static const struct ts_frames_ops ops = { .get = get_step, .pos = step_pos, .next_of = next_step_of };

	*f = (struct ts_frames){ .ops = &ops, .n_frames = n_steps + 1 };
}
