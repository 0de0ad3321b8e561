/* SPDX-License-Identifier: MIT */
#include "index_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index_blocks.h"
#include "index_parts_form.h"
#include "src/trace/chunk.h"

/* A record's arrays, and which of their items come next. */
struct record {
	const struct part_head *head;
	const uint8_t *point;
	const char *text;
	struct part_batch *batches;
	uint8_t *points, *data;
	struct part_step *steps;
	struct part_effect *effects;
	struct ts_map *maps;
	struct ts_module *modules;
	struct ts_event *events;
	struct ts_thread *threads;
	struct ts_warning *warnings;
	size_t point_len, text_len, n_batches, n_points, n_data, n_steps, n_effects, n_maps, n_modules, n_events, n_threads, n_warnings;
	size_t batch; /* the one that is next */
};

struct ts_parts {
	struct ts_batch_store store;
	struct ts_index_file **files; /* owned; n of them */
	uint32_t n;
	uint32_t part;                /* of the record that is next */
	size_t next_record;
	struct record at;
	uint64_t left_out;            /* batches that are passed over first */
};

bool ts_part_places(struct ts_index_places *p, const struct ts_index_places *index, uint32_t i)
{
	*p = (struct ts_index_places){ 0 };
	for (; p->n < index->n; p->n++) {
		if (asprintf(&p->paths[p->n], "%s.segment-%" PRIu32, index->paths[p->n], i) < 0) {
			ts_index_places_fini(p);
			return false;
		}
	}
	return true;
}

/* ----------------------------------------------------------------------------------------------- records */

/* The next array, verified and unpacked. */
static void *take(struct ts_index_arrays *a, size_t item_len, size_t *n)
{
	void *items = ts_index_take_unread(a, item_len, n);

	a->is_bad = a->is_bad || !ts_index_blocks_use(a->blocks, items, *n * item_len);
	if (a->is_bad)
		*n = 0;
	return items;
}

static bool load(const struct ts_index_file *f, size_t record, struct record *r, struct ts_error *err)
{
	struct ts_index_arrays a = ts_index_find(f, record, PART_KIND, 0);

	*r = (struct record){ .head = ts_index_take_n(&a, sizeof(*r->head), 1) };
	r->point = ts_index_take(&a, 1, &r->point_len);
	r->text = ts_index_take(&a, 1, &r->text_len);
	r->batches = take(&a, sizeof(*r->batches), &r->n_batches);
	r->points = take(&a, 1, &r->n_points);
	r->steps = take(&a, sizeof(*r->steps), &r->n_steps);
	r->effects = take(&a, sizeof(*r->effects), &r->n_effects);
	r->data = take(&a, 1, &r->n_data);
	r->maps = take(&a, sizeof(*r->maps), &r->n_maps);
	r->modules = take(&a, sizeof(*r->modules), &r->n_modules);
	r->events = take(&a, sizeof(*r->events), &r->n_events);
	r->threads = take(&a, sizeof(*r->threads), &r->n_threads);
	r->warnings = take(&a, sizeof(*r->warnings), &r->n_warnings);
	return (!a.is_bad && r->head->n_batches == r->n_batches) ||
	       ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "%s: it is damaged", ts_index_path(f));
}

/* The point after the last batch of a record; its beginning's, if it has none. */
static const uint8_t *last_point(const struct record *r, size_t *len)
{
	*len = r->n_batches ? r->batches[r->n_batches - 1].point_len : r->point_len;
	if (!r->n_batches)
		return r->point;
	return *len <= r->n_points ? r->points + r->n_points - *len : NULL;
}

/* ----------------------------------------------------------------------------------------------- batches */

/* Does the effect name what the batch has?  Threads are the feed's to check. */
static bool is_effect(const struct part_batch *b, const struct part_effect *e)
{
	if (e->kind > TS_FX_UNSEEN || e->is_hidden > 1 || e->is_inferred > 1 || e->is_code > 1)
		return false;
	switch ((enum ts_effect_kind)e->kind) {
	case TS_FX_REG_WRITE:
	case TS_FX_REG_READ:
	case TS_FX_WRITE:
	case TS_FX_READ: return e->item == TS_NO_DATA || (e->item <= b->n_data && e->len <= b->n_data - e->item);
	case TS_FX_MAP: return e->item < b->n_maps;
	case TS_FX_EVENT: return e->item < b->n_events;
	case TS_FX_LOAD: return e->item < b->n_modules;
	case TS_FX_UNMAP:
	case TS_FX_PROTECT:
	case TS_FX_FORGET:
	case TS_FX_THREAD:
	case TS_FX_UNLOAD:
	case TS_FX_FORGET_REGS:
	case TS_FX_UNSEEN: break;
	}
	return true;
}

/* Is there a text at @off of the data? */
static bool is_text(const struct ts_steps *s, uint32_t off)
{
	return off == TS_NO_DATA || (off < s->n_data && memchr(s->data + off, 0, s->n_data - off));
}

static bool are_items(const struct ts_steps *s)
{
	bool are_good = true;

	for (uint32_t i = 0; i < s->n_maps; i++)
		are_good = are_good && is_text(s, s->maps[i].desc) && is_text(s, s->maps[i].file);
	for (uint32_t i = 0; i < s->n_modules; i++)
		are_good = are_good && is_text(s, s->modules[i].file);
	for (uint32_t i = 0; i < s->n_events; i++)
		are_good = are_good && s->events[i].n_args <= TS_MAX_SYSCALL_ARGS && s->events[i].kind < TS_N_EVENT_KINDS &&
			   memchr(s->events[i].text, 0, sizeof(s->events[i].text));
	return are_good;
}

/* The data, regions, modules and events of the batch, which lie one after the other in the record. */
static bool put_items(struct record *r, const struct part_batch *b, struct ts_steps *s)
{
	struct ts_steps from = {
		.data = r->data, .maps = r->maps, .modules = r->modules, .events = r->events,
		.n_data = b->n_data, .n_maps = b->n_maps, .n_modules = b->n_modules, .n_events = b->n_events,
	};

	if (b->n_data > r->n_data || b->n_maps > r->n_maps || b->n_modules > r->n_modules || b->n_events > r->n_events ||
	    !are_items(&from))
		return false;
	ts_steps_copy(s, &from);
	r->data += b->n_data;
	r->n_data -= b->n_data;
	r->maps += b->n_maps;
	r->n_maps -= b->n_maps;
	r->modules += b->n_modules;
	r->n_modules -= b->n_modules;
	r->events += b->n_events;
	r->n_events -= b->n_events;
	return true;
}

static bool put_effects(struct record *r, const struct part_batch *b, struct ts_steps *s)
{
	if (b->n_effects > r->n_effects)
		return false;
	for (uint32_t i = 0; i < b->n_effects && !s->is_failed; i++) {
		const struct part_effect *in = r->effects++;
		struct ts_effect *e = ts_steps_effect(s, (enum ts_effect_kind)in->kind, in->addr, in->len);

		if (!is_effect(b, in))
			return false;
		if (!e)
			break;
		e->data = in->item;
		e->is_hidden = in->is_hidden;
		e->is_inferred = in->is_inferred;
		e->is_code = in->is_code;
	}
	r->n_effects -= b->n_effects;
	return true;
}

/* The effects are there: whose they are. */
static bool put_steps(struct record *r, const struct part_batch *b, struct ts_steps *s)
{
	if (b->n_steps > r->n_steps || b->n_steps > TS_CHUNK_STEPS)
		return false;
	for (uint32_t i = 0; i < b->n_steps && !s->is_failed; i++) {
		const struct part_step *in = r->steps++;

		if (in->n_effects > s->n_effects - s->n_closed || in->insn_len > UINT16_MAX)
			return false;
		if (s->n_steps == s->cap_steps && !ts_steps_grow_steps(s))
			break;
		s->steps[s->n_steps++] = (struct ts_step){ .pc = in->pc, .thread = in->thread, .first = s->n_closed,
							  .n_effects = in->n_effects, .insn_len = (uint16_t)in->insn_len };
		s->n_closed += in->n_effects;
	}
	r->n_steps -= b->n_steps;
	return s->is_failed || s->n_closed == s->n_effects;
}

static bool put_learned(struct record *r, const struct part_batch *in, struct ts_batch *b)
{
	struct ts_recording as = { .threads = r->threads, .n_threads = in->n_threads, .n_processes = in->n_processes,
				   .n_warnings = in->n_warnings };

	b->has_learned = in->has_learned;
	if (!b->has_learned)
		return true;
	if (in->n_threads > r->n_threads || in->n_warnings > r->n_warnings || in->n_warnings > TS_MAX_WARNINGS)
		return false;
	for (uint32_t i = 0; i < in->n_threads; i++) {
		if (r->threads[i].process >= in->n_processes || !memchr(r->threads[i].name, 0, sizeof(r->threads[i].name)))
			return false;
	}
	memcpy(as.warnings, r->warnings, in->n_warnings * sizeof(as.warnings[0]));
	for (uint32_t i = 0; i < in->n_warnings; i++)
		as.warnings[i].text[sizeof(as.warnings[i].text) - 1] = 0;
	if (!ts_learned_take(&b->learned, &as))
		ts_batch_fail_for_memory(b);
	r->threads += in->n_threads;
	r->n_threads -= in->n_threads;
	r->warnings += in->n_warnings;
	r->n_warnings -= in->n_warnings;
	return true;
}

static bool put_end(struct record *r, const struct part_batch *in, struct ts_batch *b)
{
	if (in->point_len > r->n_points || in->next > TS_FAIL || in->code > TS_EUSAGE)
		return false;
	b->next = (enum ts_next)in->next;
	if (b->next == TS_FAIL)
		ts_fail(&b->err, (enum ts_code)in->code, in->off, "%.*s", (int)r->text_len, r->text);
	b->end = (struct ts_end){
		.pc = in->end_pc,
		.has_pc = in->end_flags & PART_END_HAS_PC,
		.is_assumed = in->end_flags & PART_END_ASSUMED,
		.is_absent = in->end_flags & PART_END_ABSENT,
		.has_exit = in->end_flags & PART_END_HAS_EXIT,
		.is_fault = in->end_flags & PART_END_FAULT,
	};
	ts_buf_reset(&b->after);
	ts_buf_put(&b->after, r->points, in->point_len);
	r->points += in->point_len;
	r->n_points -= in->point_len;
	return true;
}

static bool put_batch(struct record *r, struct ts_batch *b)
{
	const struct part_batch *in = &r->batches[r->batch++];

	if (!put_items(r, in, &b->steps) || !put_effects(r, in, &b->steps) || !put_steps(r, in, &b->steps) ||
	    !put_end(r, in, b) || !put_learned(r, in, b))
		return false;
	if (b->steps.is_failed || !ts_buf_ok(&b->after))
		ts_batch_fail_for_memory(b);
	return true;
}

/* ------------------------------------------------------------------------------------------------- parts */

/* The record that is next.  Returns false at the end of the last part. */
static bool next_record(struct ts_parts *p, struct ts_error *err)
{
	struct ts_index_file *f;

	if (p->next_record) {
		f = p->files[p->part];
		ts_index_let_go(f, p->next_record - 1);
		ts_index_give_back(f);
	}
	while (p->part < p->n && p->next_record == ts_index_n_records(p->files[p->part])) {
		p->part++;
		p->next_record = 0;
	}
	if (p->part == p->n)
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "the last segment has no end");
	return load(p->files[p->part], p->next_record++, &p->at, err);
}

static bool next_batch(void *user, struct ts_batch *b, struct ts_error *err)
{
	struct ts_parts *p = user;

	for (;;) {
		while (p->at.batch == p->at.n_batches) {
			if (!next_record(p, err))
				return false;
		}
		if (!put_batch(&p->at, b))
			return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "%s: its numbers contradict each other",
				       ts_index_path(p->files[p->part]));
		if (!p->left_out)
			return true;
		p->left_out--;
		ts_error_reset(err);
	}
}

/* The file of part @i, at any place. */
static struct ts_index_file *open_part(const struct ts_index_places *index, const struct ts_index_key *key, uint32_t i,
				       struct ts_error *err)
{
	struct ts_index_places places;
	struct ts_index_file *f = NULL;

	if (!ts_part_places(&places, index, i))
		return ts_no_memory(err, "the segments");
	for (unsigned at = 0; at < places.n && !f && err->code == TS_OK; at++) {
		f = ts_index_open(places.paths[at], key, err);
		if (!f)
			ts_fail_prefix(err, "%s", places.paths[at]);
	}
	if (!f && places.n)
		ts_fail(err, TS_EIO, TS_NO_OFF, "%s: there is no such file; create it with tracestub index TRACE --segment %" PRIu32 "/N",
			places.paths[0], i);
	ts_index_places_fini(&places);
	return f;
}

/* Does part @i begin where the one before it ended?  *first and @point get where it ends itself. */
static bool follows(struct ts_parts *p, uint32_t i, uint64_t *first, struct ts_buf *point, struct ts_error *err)
{
	const struct ts_index_file *f = p->files[i];
	struct record r;
	const uint8_t *last;
	size_t len, n = ts_index_n_records(f);

	if (!load(f, 0, &r, err))
		return false;
	if (r.head->i != i + 1 || r.head->n != p->n)
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "%s: it is segment %" PRIu32 "/%" PRIu32 ", not %" PRIu32 "/%" PRIu32,
			       ts_index_path(f), r.head->i, r.head->n, i + 1, p->n);
	if (r.head->first != *first || (i && (r.point_len != point->len || memcmp(r.point, point->data, point->len))))
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "%s: it does not begin where the segment before it ends", ts_index_path(f));
	if (n > 1 && !load(f, n - 1, &r, err))
		return false;
	*first = r.head->first + r.n_batches;
	last = last_point(&r, &len);
	ts_buf_reset(point);
	ts_buf_put(point, last, last ? len : 0);
	ts_index_let_go(f, n - 1);
	ts_index_give_back(p->files[i]);
	return ts_buf_ok(point) || ts_no_memory(err, "the segments");
}

/* All of them, of which the first says how many there are. */
static bool open_all(struct ts_parts *p, const struct ts_index_places *index, const struct ts_index_key *key, struct ts_error *err)
{
	struct ts_index_file *first = open_part(index, key, 1, err);
	struct record r;

	if (!first || !load(first, 0, &r, err) || !r.head->n || r.head->n > TS_MAX_PARTS) {
		ts_index_close(first);
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "segment 1 does not list the other segments");
	}
	p->n = r.head->n;
	p->files = calloc(p->n, sizeof(struct ts_index_file *));
	if (!p->files) {
		ts_index_close(first);
		return ts_no_memory(err, "the segments");
	}
	p->files[0] = first;
	for (uint32_t i = 1; i < p->n; i++) {
		p->files[i] = open_part(index, key, i + 1, err);
		if (!p->files[i])
			return false;
	}
	return true;
}

static bool are_in_order(struct ts_parts *p, struct ts_error *err)
{
	struct ts_buf point;
	uint64_t first = 0;
	bool done = true;

	ts_buf_init(&point);
	for (uint32_t i = 0; i < p->n && done; i++)
		done = follows(p, i, &first, &point, err);
	ts_buf_fini(&point);
	return done;
}

struct ts_parts *ts_parts_open(const struct ts_index_places *index, const struct ts_index_key *key, uint64_t first,
			       struct ts_error *err)
{
	struct ts_parts *p = calloc(1, sizeof(*p));

	if (!p)
		return ts_no_memory(err, "the segments");
	*p = (struct ts_parts){ .store = { next_batch, p }, .left_out = first };
	if (open_all(p, index, key, err) && are_in_order(p, err))
		return p;
	ts_parts_free(p);
	return NULL;
}

void ts_parts_free(struct ts_parts *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n && p->files; i++)
		ts_index_close(p->files[i]);
	free(p->files);
	free(p);
}

const struct ts_batch_store *ts_parts_store(struct ts_parts *p)
{
	return &p->store;
}

void ts_parts_remove(struct ts_parts *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		ts_index_remove(p->files[i]);
}
