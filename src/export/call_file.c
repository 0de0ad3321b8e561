/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks: between two positions at which a call begins or ends, or the thread moves to another stack, its
 * instructions are those of the innermost call.  Trace events nest in a row of the viewer: calls on another stack, as
 * those of a coroutine, are a row of their own.
 */
#include "call_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/atomic_file.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/buf.h"
#include "src/base/text/json_text.h"
#include "src/base/text/utf8.h"
#include "src/base/collections/vec.h"
#include "src/query/search/call_list.h"
#include "src/base/collections/hash_table.h"
#include "src/base/collections/hash.h"

#define MAX_WAITING  (1u << 16)
#define STEPS_A_TURN (1u << 16)
#define DEEPER       UINT64_MAX /* the key of the frame "..." */

enum stage {
	NEEDING,  /* the calls are not there yet */
	LISTING,  /* the calls of a thread are examined */
	COUNTING, /* its instructions are given to stacks */
	PRINTING, /* stacks become lines */
};

/* A row of a viewer. */
struct row {
	uint64_t until; /* the end of its last outermost call */
};

/* --------------------------------------------------------------------------------------- different stacks */

#define NO_FOLD UINT32_MAX

struct fold {
	uint32_t parent;  /* NO_FOLD: a thread's own */
	uint32_t depth;   /* of calls: 0 is a thread's own */
	uint64_t key;     /* the address of the function, or the thread */
	uint64_t n_steps; /* of the innermost function itself */
};

struct folds {
	struct fold *items; /* owned */
	size_t n, cap;
	struct ts_hash_table by_stack;
};

static void folds_fini(struct folds *folds)
{
	free(folds->items);
	ts_hash_table_fini(&folds->by_stack);
	*folds = (struct folds){ 0 };
}

static bool is_stack(const void *user, uint32_t i, const void *key)
{
	const struct fold *x = &((const struct folds *)user)->items[i], *y = key;

	return x->parent == y->parent && x->key == y->key;
}

static uint64_t hash_of_item(const void *user, uint32_t i)
{
	const struct fold *x = &((const struct folds *)user)->items[i];

	return ts_hash(x->parent, x->key);
}

/*
 * The ordinal of the stack of @key on @parent; one that is not there yet is added with no steps.
 *
 * Returns NO_FOLD if memory is exhausted, or if there are 2^32 - 1 stacks already.
 */
static uint32_t get_fold(struct folds *folds, uint32_t parent, uint64_t key)
{
	struct fold wanted = { .parent = parent, .key = key };
	uint32_t *slot;

	if (folds->n >= NO_FOLD || !ts_hash_table_reserve(&folds->by_stack, folds->n, 1, hash_of_item, folds))
		return NO_FOLD;
	slot = ts_hash_table_slot(&folds->by_stack, ts_hash(parent, key), is_stack, folds, &wanted);
	if (*slot)
		return *slot - 1;
	wanted.depth = parent == NO_FOLD ? 0 : folds->items[parent].depth + 1;
	if (!TS_PUSH(folds->items, folds->n, folds->cap, wanted))
		return NO_FOLD;
	*slot = (uint32_t)folds->n;
	return *slot - 1;
}

struct ts_call_file {
	struct ts_query *q; /* borrowed */
	enum ts_call_form form;
	struct ts_call_names names;
	struct ts_atomic_file file;
	struct ts_buf text;
	enum stage stage;
	uint32_t thread, next, n; /* the thread, the ordinal of its next call, how many it has */
	uint64_t n_calls, n_deeper;
	bool has_event;
	bool has_slots; /* the instruction after a call may be one of the caller */

	uint32_t *places; /* owned; of each call of the thread: its fold, or its row */
	size_t n_places, cap_places;
	uint32_t root;    /* the thread's own fold */
	struct row *rows; /* owned; of the thread */
	size_t n_rows, cap_rows;
	uint64_t n_rows_before; /* of the threads before */

	uint64_t *edges; /* owned; positions at which the innermost call may change */
	size_t n_edges, cap_edges, next_edge;
	struct folds folds;
	size_t next_fold;
};

bool ts_call_form_find(const char *name, enum ts_call_form *form)
{
	*form = !strcmp(name, "folded") ? TS_CALLS_FOLDED : TS_CALLS_EVENTS;
	return *form == TS_CALLS_FOLDED || !strcmp(name, "chrome");
}

static bool fail_memory(struct ts_error *err)
{
	return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
}

static uint64_t end_of(const struct ts_call_file *f, const struct ts_call *x)
{
	return x->end == TS_NO_END ? ts_query_end(f->q) : x->end;
}

/* Its place among those of the thread's calls before it; TS_NO_CALL: it is outermost. */
static uint32_t place_of_parent(const struct ts_call_file *f, const struct ts_call *x)
{
	return x->parent < f->n_places ? f->places[x->parent] : TS_NO_CALL;
}

/* ------------------------------------------------------------------------------------------- trace events */

static void begin_event(struct ts_call_file *f)
{
	ts_buf_puts(&f->text, f->has_event ? ",\n" : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	f->has_event = true;
}

static void put_numbers(struct ts_call_file *f, uint32_t row)
{
	ts_buf_printf(&f->text, "\"pid\":%" PRIu64 ",\"tid\":%" PRIu64,
		      f->names.process(f->names.user, ts_query_process(f->q, f->thread)), f->n_rows_before + row + 1);
}

static void put_row_name(struct ts_call_file *f, uint32_t row)
{
	begin_event(f);
	ts_buf_puts(&f->text, "{\"ph\":\"M\",\"name\":\"thread_name\",");
	put_numbers(f, row);
	ts_buf_printf(&f->text, ",\"args\":{\"name\":\"thread %" PRIu64, f->names.thread(f->names.user, f->thread));
	if (row)
		ts_buf_printf(&f->text, ", stack %" PRIu32, row + 1);
	ts_buf_puts(&f->text, "\"}}");
}

/* The first row in which no call is open at @pos; it may be a new one. */
static uint32_t free_row(struct ts_call_file *f, uint64_t pos, struct ts_error *err)
{
	size_t i = 0;

	while (i < f->n_rows && f->rows[i].until > pos)
		i++;
	if (i < f->n_rows)
		return (uint32_t)i;
	if (!TS_PUSH(f->rows, f->n_rows, f->cap_rows, (struct row){ 0 })) {
		fail_memory(err);
		return TS_NO_CALL;
	}
	put_row_name(f, (uint32_t)i);
	return (uint32_t)i;
}

static bool put_event(struct ts_call_file *f, const struct ts_call *x, struct ts_error *err)
{
	uint64_t begin = x->pos + 1, end = end_of(f, x);
	const char *name = f->names.function(f->names.user, x->target);
	uint32_t row = place_of_parent(f, x);

	if (row == TS_NO_CALL)
		row = free_row(f, begin, err);
	if (row == TS_NO_CALL)
		return false;
	f->places[f->n_places] = row;
	if (f->rows[row].until < end)
		f->rows[row].until = end;
	begin_event(f);
	ts_buf_puts(&f->text, "{\"ph\":\"X\",\"name\":");
	if (name)
		ts_json_put_text(&f->text, name, strlen(name));
	else
		ts_buf_printf(&f->text, "\"0x%" PRIx64 "\"", x->target);
	ts_buf_printf(&f->text, ",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",", begin, end > begin ? end - begin : 0);
	put_numbers(f, row);
	ts_buf_printf(&f->text, ",\"args\":{\"address\":\"0x%" PRIx64 "\",\"from\":\"0x%" PRIx64 "\",\"kind\":\"%s\"}}",
		      x->target, x->pc,
		      x->kind == TS_CALL_RETURN ? "return" : x->kind == TS_CALL_OPEN ? "open" : "unwound");
	return true;
}

/* ------------------------------------------------------------------------------------------ folded stacks */

static bool add_edge(struct ts_call_file *f, uint64_t pos)
{
	return TS_PUSH(f->edges, f->n_edges, f->cap_edges, pos);
}

/* The stack that a call makes on @parent; what is too deep is one frame more. */
static uint32_t fold_on(struct ts_call_file *f, uint32_t parent, uint64_t target)
{
	const struct fold *p = &f->folds.items[parent];

	if (p->parent != NO_FOLD && p->key == DEEPER)
		return parent;
	return get_fold(&f->folds, parent, p->depth >= TS_MAX_FOLDED ? DEEPER : target);
}

static bool note_call(struct ts_call_file *f, const struct ts_call *x, struct ts_error *err)
{
	uint32_t parent = place_of_parent(f, x);

	f->places[f->n_places] = fold_on(f, parent == TS_NO_CALL ? f->root : parent, x->target);
	if (f->places[f->n_places] == NO_FOLD || !add_edge(f, x->pos + 1) ||
	    (f->has_slots && !add_edge(f, x->pos + 2)) || !add_edge(f, end_of(f, x)))
		return fail_memory(err);
	return true;
}

/* All edges of the thread are known: the recording's ends are two more. */
static bool begin_to_count(struct ts_call_file *f, struct ts_error *err)
{
	if (!add_edge(f, 0) || !add_edge(f, ts_query_end(f->q)))
		return fail_memory(err);
	qsort(f->edges, f->n_edges, sizeof(*f->edges), ts_by_u64);
	f->next_edge = 0;
	f->stage = COUNTING;
	return true;
}

/* The instructions of the thread between two edges. */
static void count_between(struct ts_call_file *f, uint64_t first, uint64_t last)
{
	uint64_t n = ts_query_n_steps_of(f->q, f->thread, last) - ts_query_n_steps_of(f->q, f->thread, first);
	uint32_t fold = NO_FOLD;
	struct ts_call x;

	if (!n)
		return;
	if (ts_query_innermost_call(f->q, f->thread, first, &x) && x.ordinal < f->n_places)
		fold = f->places[x.ordinal];
	if (fold == NO_FOLD)
		fold = f->root;
	f->folds.items[fold].n_steps += n;
	if (f->folds.items[fold].parent != NO_FOLD && f->folds.items[fold].key == DEEPER)
		f->n_deeper += n;
}

static void put_frame(struct ts_call_file *f, const struct fold *fold)
{
	const char *name = NULL;
	size_t from = f->text.len;

	if (fold->parent == NO_FOLD) {
		ts_buf_printf(&f->text, "thread %" PRIu64, f->names.thread(f->names.user, (uint32_t)fold->key));
		return;
	}
	ts_buf_putc(&f->text, ';');
	if (fold->key != DEEPER)
		name = f->names.function(f->names.user, fold->key);
	if (fold->key == DEEPER)
		ts_buf_puts(&f->text, "...");
	else if (name)
		ts_utf8_put_shown(&f->text, name);
	else
		ts_buf_printf(&f->text, "0x%" PRIx64, fold->key);
	for (size_t i = from + 1; i < f->text.len && ts_buf_ok(&f->text); i++) {
		if (f->text.data[i] == ';' || f->text.data[i] == '\n') /* separators of this format */
			f->text.data[i] = ':';
	}
}

static void put_stack(struct ts_call_file *f, const struct fold *fold)
{
	const struct fold *frames[TS_MAX_FOLDED + 2];
	unsigned n = 0;

	if (!fold->n_steps)
		return;
	for (frames[n++] = fold; fold->parent != NO_FOLD && n < TS_MAX_FOLDED + 2; n++)
		fold = frames[n] = &f->folds.items[fold->parent];
	while (n)
		put_frame(f, frames[--n]);
	ts_buf_printf(&f->text, " %" PRIu64 "\n", frames[0]->n_steps);
}

/* ----------------------------------------------------------------------------------------------- the file */

static bool write_text(struct ts_call_file *f, size_t limit, struct ts_error *err)
{
	if (!ts_buf_ok(&f->text))
		return fail_memory(err);
	if (f->text.len <= limit)
		return true;
	if (!ts_atomic_file_write(&f->file, f->text.data, f->text.len, err))
		return false;
	ts_buf_reset(&f->text);
	return true;
}

/* The next thread, or what follows the last one. */
static bool begin_thread(struct ts_call_file *f, struct ts_error *err)
{
	f->n_rows_before += f->n_rows;
	f->n_rows = f->n_edges = f->n_places = 0;
	f->next = 0;
	if (f->thread >= ts_query_n_threads(f->q)) {
		f->stage = PRINTING;
		return true;
	}
	f->stage = LISTING;
	f->n = ts_query_n_calls(f->q, f->thread);
	if (f->form == TS_CALLS_FOLDED)
		f->root = get_fold(&f->folds, NO_FOLD, f->thread);
	return f->root != NO_FOLD || fail_memory(err);
}

/* A call of the thread, or a note that the thread moved to another stack. */
static bool list_call(struct ts_call_file *f, const struct ts_call *x, struct ts_error *err)
{
	bool is_folded = f->form == TS_CALLS_FOLDED;

	f->places[f->n_places] = TS_NO_CALL;
	if (x->kind == TS_CALL_SWITCH)
		return !is_folded || (add_edge(f, x->pos) && add_edge(f, x->pos + 1)) || fail_memory(err);
	f->n_calls++;
	return is_folded ? note_call(f, x, err) : put_event(f, x, err);
}

static bool list_block(struct ts_call_file *f, struct ts_error *err)
{
	struct ts_call calls[TS_CALL_BLOCK];
	uint32_t n = f->next < f->n ? ts_query_call_block(f->q, f->thread, f->next, calls) : 0;

	if (!ts_vec_reserve(&f->places, f->n_places, &f->cap_places, n, sizeof(*f->places)))
		return fail_memory(err);
	for (uint32_t i = 0; i < n && f->n_places < f->n; i++, f->n_places++) {
		if (!list_call(f, &calls[i], err))
			return false;
	}
	f->next = n ? f->next + n : f->n;
	if (f->next < f->n)
		return true;
	if (f->form == TS_CALLS_FOLDED)
		return begin_to_count(f, err);
	f->thread++;
	return begin_thread(f, err);
}

static bool count_some(struct ts_call_file *f, struct ts_error *err)
{
	for (unsigned i = 0; i < TS_CALL_BLOCK && f->next_edge + 1 < f->n_edges; i++, f->next_edge++)
		count_between(f, f->edges[f->next_edge], f->edges[f->next_edge + 1]);
	if (f->next_edge + 1 < f->n_edges)
		return true;
	f->thread++;
	return begin_thread(f, err);
}

static enum ts_next print_some(struct ts_call_file *f, struct ts_error *err)
{
	if (f->next_fold < f->folds.n) {
		put_stack(f, &f->folds.items[f->next_fold++]);
		return write_text(f, MAX_WAITING, err) ? TS_MORE : TS_FAIL;
	}
	if (f->form == TS_CALLS_EVENTS)
		ts_buf_puts(&f->text, f->has_event ? "\n]}\n" : "{\"traceEvents\":[]}\n");
	return write_text(f, 0, err) && ts_atomic_file_finish(&f->file, err) ? TS_END : TS_FAIL;
}

static enum ts_next run_once(struct ts_call_file *f, struct ts_error *err)
{
	enum ts_next need;

	switch (f->stage) {
	case NEEDING:
		need = ts_query_need_calls(f->q, STEPS_A_TURN, err);
		if (need == TS_END)
			return begin_thread(f, err) ? TS_MORE : TS_FAIL;
		return need;
	case LISTING: return list_block(f, err) && write_text(f, MAX_WAITING, err) ? TS_MORE : TS_FAIL;
	case COUNTING: return count_some(f, err) ? TS_MORE : TS_FAIL;
	default: return print_some(f, err);
	}
}

struct ts_call_file *ts_call_file_new(struct ts_query *q, enum ts_call_form form, const struct ts_call_names *names,
				      const char *path, struct ts_error *err)
{
	struct ts_call_file *f = calloc(1, sizeof(*f));

	if (!f) {
		fail_memory(err);
		return NULL;
	}
	f->q = q;
	f->form = form;
	f->has_slots = ts_query_regset(q)->arch->has_delay_slots;
	f->names = *names;
	f->file.fd = -1;
	ts_buf_init(&f->text);
	if (ts_atomic_file_init(&f->file, path, err))
		return f;
	ts_call_file_free(f);
	return NULL;
}

void ts_call_file_free(struct ts_call_file *f)
{
	if (!f)
		return;
	ts_atomic_file_fini(&f->file);
	ts_buf_fini(&f->text);
	folds_fini(&f->folds);
	free(f->places);
	free(f->edges);
	free(f->rows);
	free(f);
}

enum ts_next ts_call_file_run(struct ts_call_file *f, uint32_t n, struct ts_error *err)
{
	enum ts_next next = TS_MORE;

	for (uint32_t i = 0; i < n && next == TS_MORE; i += TS_CALL_BLOCK)
		next = run_once(f, err);
	return next;
}

uint64_t ts_call_file_n_calls(const struct ts_call_file *f)
{
	return f->n_calls;
}

uint64_t ts_call_file_n_deeper(const struct ts_call_file *f)
{
	return f->n_deeper;
}
