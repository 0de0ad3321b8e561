/* SPDX-License-Identifier: MIT */
#include "writers.h"

#include <stdlib.h>
#include <string.h>

#include "question.h"
#include "setter.h"
#include "src/query/paging.h"
#include "state.h"

/* The verbs that find writers: all of them, or the last one. */
#define HISTORY    "history"
#define LAST_WRITE "last-write"

/* Places whose writers are followed at a time: those of a loop come again and again. */
#define N_TRAILS 32u

/* Up to so many bytes of memory have one row a step. */
#define MAX_WHOLE 16u

/* The writers of a place, from the last to the first. */
struct trail {
	struct ts_what place;
	uint32_t owner; /* the thread whose register it is */
	struct ts_question qn;
	struct ts_rows *rows; /* owned; NULL: there is no trail */
	uint32_t process;
	struct ts_writer
		writer; /* the last one before `before`, if has_writer; else none has been found yet */
	uint64_t before;
	bool has_writer, is_ended;
	uint64_t used; /* when */
};

struct ts_writers {
	struct ts_ask *ask;
	struct trail trails[N_TRAILS];
	uint64_t n_used;
	struct ts_row row;              /* of a trail, to be read */
	struct ts_setter setter;        /* of a flag, or the branch */
	uint64_t calm_first, calm_last; /* steps without a system call; none if the first is greater */
};

/* Did the system write what step @pos left?  The turns of a loop lie between the same system calls. */
static bool is_input(struct ts_writers *ws, uint64_t pos)
{
	const struct ts_happening *h;

	if (pos >= ws->calm_first && pos <= ws->calm_last)
		return false;
	h = ts_query_prev_event(ws->ask->q, TS_EV_SYSCALL, pos);
	if (h && h->step == pos)
		return true;
	ws->calm_first = h ? h->step + 1 : 0;
	ws->calm_last = pos;
	return false;
}

/*
 * Can the writers before a position be found by going on from a later one?  The rows of a longer place come
 * by parts, and where there are page tables, an address is another place at another position.
 */
static bool is_followed(const struct ts_writers *ws, const struct ts_what *place)
{
	return place->kind == TS_WHAT_REG ||
	       (place->last - place->addr < MAX_WHOLE && !ts_paging_is_known(ws->ask->q));
}

static uint32_t process_at(const struct ts_writers *ws, uint64_t pos)
{
	return ts_query_process(ws->ask->q, ts_query_thread(ws->ask->q, pos));
}

/* Is @before near where the trail has been followed to?  From far on, another one costs less. */
static bool is_near(const struct trail *t, uint64_t before)
{
	uint64_t at = t->has_writer ? t->writer.pos : t->before;

	return t->is_ended || at < before || at / TS_CHUNK_STEPS - before / TS_CHUNK_STEPS <= 1;
}

/* Does the trail tell who wrote the place before @before? */
static bool leads_from(const struct ts_writers *ws, const struct trail *t, const struct ts_what *place,
		       uint32_t owner, uint64_t before)
{
	if (!t->rows || !ts_what_is_same(&t->place, place) || before > t->before || !is_near(t, before))
		return false;
	if (before < t->before && !is_followed(ws, place))
		return false;
	return place->kind == TS_WHAT_REG ? t->owner == owner : process_at(ws, before) == t->process;
}

static bool begin_trail(struct ts_writers *ws, struct trail *t, const struct ts_what *place, uint32_t owner,
			uint64_t before, struct ts_error *err)
{
	bool is_reverse = is_followed(ws, place);
	const char *name = is_reverse ? HISTORY : LAST_WRITE;
	uint32_t thread = place->kind == TS_WHAT_REG ? owner : TS_NO_THREAD;

	ts_rows_close(t->rows);
	t->place = *place;
	t->owner = owner;
	t->qn = (struct ts_question){ .verb = ts_verb_find(name, strlen(name)),
				      .what = *place,
				      .to = before,
				      .thread = thread,
				      .at = before,
				      .depth = TS_NO_LIMIT,
				      .min = TS_NO_LIMIT,
				      .count = TS_NO_LIMIT };
	t->before = before;
	t->process = process_at(ws, before);
	t->has_writer = t->is_ended = false;
	t->rows = t->qn.verb->open(ws->ask, &t->qn, is_reverse, err);
	if (t->rows)
		t->rows->is_bare = true;
	return t->rows != NULL;
}

/* The trail from @before on, or a new one in place of the one that was not used for the longest time. */
static struct trail *find_trail(struct ts_writers *ws, const struct ts_what *place, uint32_t owner,
				uint64_t before, struct ts_error *err)
{
	struct trail *oldest = ws->trails;

	for (struct trail *t = ws->trails; t < ws->trails + N_TRAILS; t++) {
		if (leads_from(ws, t, place, owner, before)) {
			t->used = ++ws->n_used;
			return t;
		}
		if (t->used < oldest->used)
			oldest = t;
	}
	oldest->used = ++ws->n_used;
	return begin_trail(ws, oldest, place, owner, before, err) ? oldest : NULL;
}

/* Of a row of history. */
static enum ts_writer_kind kind_of(const char *name)
{
	static const char *const names[] = { "write", "map", "unexplained" };
	enum ts_writer_kind kind = TS_WRITER_STEP;

	while (kind < TS_WRITER_UNEXPLAINED && strcmp(names[kind], name))
		kind++;
	return kind;
}

/* The trail's next writer. */
static enum ts_got follow(struct ts_writers *ws, struct trail *t, struct ts_budget *budget,
			  struct ts_error *err)
{
	struct ts_writer *w = &t->writer;
	struct ts_row *row = &ws->row;
	enum ts_got got;

	ts_row_reset(row);
	got = t->rows->ops->next(t->rows, row, budget, err);
	if (got == TS_GOT_ROW && !ts_buf_ok(&row->texts)) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a row");
		got = TS_GOT_FAIL;
	} else if (got == TS_GOT_ROW) {
		if (t->has_writer)
			t->before = w->pos;
		t->has_writer = true;
		w->pos = row->cells[0].number;
		w->thread = ts_query_thread(ws->ask->q, w->pos);
		w->pc = row->cells[2].kind == TS_CELL_ADDR ? row->cells[2].number : TS_NO_PC;
		w->kind = kind_of(ts_row_get(row, 6));
		if (w->kind == TS_WRITER_STEP && is_input(ws, w->pos))
			w->kind = TS_WRITER_INPUT;
	}
	return got;
}

/* What wrote @place last before @before, by a trail. */
static enum ts_got find_by_trail(struct ts_writers *ws, const struct ts_what *place, uint32_t owner,
				 uint64_t before, struct ts_writer *w, struct ts_budget *budget,
				 struct ts_error *err)
{
	struct trail *t = find_trail(ws, place, owner, before, err);
	enum ts_got got = t ? TS_GOT_ROW : TS_GOT_FAIL;

	while (got == TS_GOT_ROW && !t->is_ended && (!t->has_writer || t->writer.pos >= before)) {
		got = follow(ws, t, budget, err);
		if (got == TS_GOT_END) {
			if (t->has_writer)
				t->before = t->writer.pos;
			t->is_ended = true;
		}
	}
	if (got == TS_GOT_ROW && t->is_ended)
		got = TS_GOT_END;
	if (got == TS_GOT_ROW)
		*w = t->writer;
	return got;
}

/* The last step of @thread before @before that does @does (setter.h). */
static enum ts_got find_setter(struct ts_writers *ws, uint32_t does, uint32_t thread, uint64_t before,
			       struct ts_writer *w, uint64_t *at, struct ts_budget *budget,
			       struct ts_error *err)
{
	enum ts_got got = ts_setter_find(&ws->setter, ws->ask->q, thread, before, does, budget, err);
	const struct ts_steps *b;
	const struct ts_step *st;

	*at = ws->setter.pos;
	if (got != TS_GOT_ROW)
		return got;
	st = ts_query_step(ws->ask->q, ws->setter.pos, &b, err);
	if (!st)
		return TS_GOT_FAIL;
	w->pos = ws->setter.pos;
	w->pc = st->pc;
	w->thread = thread;
	w->kind = is_input(ws, w->pos) ? TS_WRITER_INPUT : TS_WRITER_STEP;
	return TS_GOT_ROW;
}

/* The bits of x86's flags that @place has; 0 if it is something else. */
static uint32_t flags_in(const struct ts_writers *ws, const struct ts_what *place)
{
	const struct ts_regset *set = ts_query_regset(ws->ask->q);
	const struct ts_reg *r = set->flags < 0 ? NULL : &set->regs[set->flags];

	if (!r || place->kind != TS_WHAT_REG || place->off < r->off || place->off >= r->off + r->len ||
	    !ts_query_is_x86(ws->ask->q))
		return 0;
	return place->is_flag ? UINT32_C(1) << (8 * (place->off - r->off) + place->bit) : ~TS_FLAG_BRANCH;
}

enum ts_got ts_writers_find(struct ts_writers *ws, const struct ts_what *place, uint32_t owner,
			    uint64_t before, struct ts_writer *w, uint64_t *at, struct ts_budget *budget,
			    struct ts_error *err)
{
	uint32_t flags = flags_in(ws, place);

	return flags ? find_setter(ws, flags, owner, before, w, at, budget, err)
		     : find_by_trail(ws, place, owner, before, w, budget, err);
}

enum ts_got ts_writers_find_branch(struct ts_writers *ws, uint32_t thread, uint64_t before,
				   struct ts_writer *w, uint64_t *at, struct ts_budget *budget,
				   struct ts_error *err)
{
	return find_setter(ws, TS_FLAG_BRANCH, thread, before, w, at, budget, err);
}

struct ts_writers *ts_writers_new(struct ts_ask *ask)
{
	struct ts_writers *ws = calloc(1, sizeof(*ws));

	if (!ws)
		return NULL;
	ws->ask = ask;
	ws->calm_first = 1;
	ts_row_init(&ws->row);
	return ws;
}

void ts_writers_free(struct ts_writers *ws)
{
	if (!ws)
		return;
	for (unsigned i = 0; i < N_TRAILS; i++)
		ts_rows_close(ws->trails[i].rows);
	ts_setter_fini(&ws->setter);
	ts_row_fini(&ws->row);
	free(ws);
}
