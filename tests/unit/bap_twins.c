/* SPDX-License-Identifier: MIT */
#include "bap_twins.h"

#include <string.h>

#include "loaders/bap/frame_template.h"
#include "loaders/bap/trace.h"
#include "loaders/loader.h"

/* Steps from one decode point that is compared to the next. */
#define POINT_STEPS 16u

static struct ts_recording *open_one(const struct ts_source *src, uint32_t plan_after)
{
	const struct ts_loader_options opt = { 0 };
	struct ts_error err = { 0 };
	struct ts_recording *rec = ts_loader_open(ts_loader_find("bap"), src, &opt, &err);

	if (rec)
		((struct bap *)rec)->plan_after = plan_after;
	return rec;
}

int bap_twins_open(struct bap_twins *w, const uint8_t *bytes, size_t len)
{
	struct ts_error err = { 0 };

	w->src = ts_source_from_memory(bytes, len, "twins", &err);
	w->plain = open_one(w->src, BAP_NO_PLANS);
	w->planned = open_one(w->src, 1);
	return w->plain && w->planned;
}

void bap_twins_close(struct bap_twins *w)
{
	ts_recording_close(w->plain);
	ts_recording_close(w->planned);
	ts_source_close(w->src);
}

static int is_same_effect(const struct ts_steps *a, const struct ts_steps *b, uint32_t i)
{
	const struct ts_effect *x = &a->effects[i], *y = &b->effects[i];
	const uint8_t *p = ts_effect_data(a, x), *q = ts_effect_data(b, y);

	return x->kind == y->kind && x->addr == y->addr && x->len == y->len && x->is_hidden == y->is_hidden &&
	       !p == !q && (!p || memcmp(p, q, x->len) == 0);
}

/* The batches have one step, or none, each. */
static const char *compare_step(const struct ts_steps *a, const struct ts_steps *b)
{
	if (a->n_steps != b->n_steps)
		return "one has a step more";
	if (a->n_steps && (a->steps[0].pc != b->steps[0].pc || a->steps[0].thread != b->steps[0].thread ||
			   a->steps[0].insn_len != b->steps[0].insn_len))
		return "an instruction";
	if (a->n_effects != b->n_effects)
		return "the number of effects";
	for (uint32_t i = 0; i < a->n_effects; i++)
		if (!is_same_effect(a, b, i))
			return "an effect";
	return NULL;
}

static const char *compare_points(struct ts_reader *a, struct ts_reader *b)
{
	struct ts_buf p = { 0 }, q = { 0 };
	int is_same;

	ts_reader_save(a, &p);
	ts_reader_save(b, &q);
	is_same = p.len == q.len && memcmp(p.data, q.data, p.len) == 0;
	ts_buf_fini(&p);
	ts_buf_fini(&q);
	return is_same ? NULL : "a decode point";
}

static const char *compare_errors(const struct ts_error *a, const struct ts_error *b)
{
	if (a->code != b->code || a->off != b->off || strcmp(a->text, b->text) != 0)
		return "the failure";
	return NULL;
}

static const char *compare(struct ts_reader *a, struct ts_reader *b, uint64_t max)
{
	struct ts_steps one, other;
	struct ts_error err[2] = { { 0 }, { 0 } };
	enum ts_next next = TS_ITEM;
	const char *differs = NULL;

	ts_steps_init(&one);
	ts_steps_init(&other);
	for (uint64_t n = 0; !differs && next == TS_ITEM && n < max; n++) {
		ts_steps_reset(&one);
		ts_steps_reset(&other);
		next = ts_reader_next(a, &one, &err[0]);
		if (next != ts_reader_next(b, &other, &err[1]))
			differs = "how it goes on";
		else
			differs = compare_step(&one, &other);
		if (!differs && n % POINT_STEPS == 0)
			differs = compare_points(a, b);
	}
	ts_steps_fini(&one);
	ts_steps_fini(&other);
	if (!differs)
		differs = compare_errors(&err[0], &err[1]);
	return differs ? differs : compare_points(a, b);
}

const char *bap_twins_differ(const struct bap_twins *w, uint64_t max, uint64_t *n_followed)
{
	struct ts_error err[2] = { { 0 }, { 0 } };
	struct ts_reader *a = w->plain->ops->reader(w->plain, &err[0]);
	struct ts_reader *b = w->planned->ops->reader(w->planned, &err[1]);
	const char *differs = compare_errors(&err[0], &err[1]);

	if (a && b)
		differs = compare(a, b, max);
	*n_followed = b ? bap_reader_n_followed(b) : 0;
	if (!differs && w->plain->n_warnings != w->planned->n_warnings)
		differs = "the number of warnings";
	ts_reader_close(a);
	ts_reader_close(b);
	return differs;
}
