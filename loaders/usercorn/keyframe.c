/* SPDX-License-Identifier: MIT */
#include "group.h"

/* Does a process get its state from a keyframe here: it is new, or has neither a state nor a step yet? */
static bool wants_state(const struct ucir_task *t)
{
	return !t || (!t->has_state && !t->has_stepped);
}

static void give_role(struct ts_steps *b, uint32_t from, enum ucir_role role)
{
	for (uint32_t i = from; i < b->n_effects && role != UCIR_AT_START; i++) {
		b->effects[i].is_hidden = true;
		if (role == UCIR_IN_STEP && b->effects[i].kind == TS_FX_REG_WRITE)
			b->effects[i].kind = TS_FX_REG_READ; /* what is seen was there before */
	}
}

/*
 * A keyframe at @op: the first of its process gives its state to @to (NULL: the state is discarded), any later one is only
 * checked, since it sums up what follows.
 */
bool ucir_keyframe(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *to, enum ucir_role role,
		   struct ts_error *err)
{
	struct ucir_task *t = ucir_tasks_find(&r->tasks, op->val), scratch = { 0 };
	uint32_t from;

	if (t && t->is_exiting) {
		ucir_end_task(r, t);
		t = NULL;
	}
	r->w.frame_off = op->off;
	if (!wants_state(t))
		return ucir_apply_keyframe(&r->w, &scratch, op, NULL, err);
	if (!t)
		t = ucir_begin_task(r, op->val, err);
	if (!t)
		return false;
	t->has_state = true;
	if (!to)
		return ucir_apply_keyframe(&r->w, t, op, NULL, err);
	from = to->n_effects;
	ucir_put_thread(t->thread, to);
	r->acting = t->thread;
	if (!ucir_apply_keyframe(&r->w, t, op, to, err))
		return false;
	give_role(to, from, role);
	return true;
}

/* A keyframe while a group may be open: its effects come before those of the group. */
bool ucir_keyframe_in_group(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
			    struct ts_error *err)
{
	/* Those before the first step are in the recording's initial state. */
	bool is_leading = !r->w.n_steps;

	if (!ucir_leave(r, op->off, out, err) ||
	    !ucir_keyframe(r, op, is_leading ? NULL : out, UCIR_IN_STEP, err))
		return false;
	r->mark = out->n_effects;
	r->pid = op->val;
	r->task = ucir_tasks_find(&r->tasks, r->pid);
	ucir_take_up(r);
	return true;
}
