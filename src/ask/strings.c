/* SPDX-License-Identifier: MIT */
/*
 * Each read and write is looked at with what stands around it just after its step.  A text that is being written
 * character by character is shown when it is complete: what was only a beginning of a longer text at the same
 * address is left out, unless somebody read it.
 */
#include "strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "state.h"

#define MIN_CHARS 4u

/* A window on memory around an access grows up to this many bytes to each side. */
#define FIRST_REACH 64u
#define MAX_REACH (UINT64_C(1) << 20)

#define LOOKS_A_CHUNK 16u

/* A text at an address. */
struct text {
	uint64_t addr;
	uint64_t pos;       /* the first step that wrote or read one of its bytes when it stood there */
	size_t off;         /* of its characters */
	uint32_t n;         /* characters */
	uint32_t next;      /* ordinal + 1 of the next one in its slot */
	bool is_wide;       /* UTF-16LE */
	bool is_read;       /* that step read it */
	bool was_read;      /* some step did */
	bool is_left_out;   /* it was a beginning of another one */
};

/* Long texts that were read lately and have not changed since: ordinals in items, plus 1. */
#define N_RECENT 16u
#define MIN_RECENT 32u

struct strings {
	struct ts_rows rows;
	uint32_t recent[N_RECENT];
	unsigned at_recent;
	struct ts_ask *ask;
	const struct ts_question *qn;
	uint32_t process;
	uint64_t first, last, min; /* addresses; characters */
	struct text *items;        /* owned */
	size_t n, cap;
	uint32_t *slots;           /* owned; by address, a power of two */
	size_t n_slots;
	struct ts_buf chars, text;
	uint8_t *data;             /* owned; the window: values, then known flags */
	size_t cap_data;
	uint64_t addr;             /* of the window */
	size_t len;
	uint64_t pos, to;          /* the next step, and where they end */
	uint64_t n_looks;
	bool is_over, is_failed;
	size_t at;
};

/* -------------------------------------------------------------------------------------------- the list */

static size_t slot_of(const struct strings *x, uint64_t addr)
{
	return (size_t)((addr * UINT64_C(0x9e3779b97f4a7c15)) >> 24) & (x->n_slots - 1);
}

static void grow_slots(struct strings *x)
{
	size_t n = x->n_slots ? 2 * x->n_slots : 1024;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots) {
		x->is_failed = true;
		return;
	}
	free(x->slots);
	x->slots = slots;
	x->n_slots = n;
	for (size_t i = 0; i < x->n; i++) {
		size_t slot = slot_of(x, x->items[i].addr);

		x->items[i].next = slots[slot];
		slots[slot] = (uint32_t)i + 1;
	}
}

static const char *chars_of(const struct strings *x, const struct text *t)
{
	return (const char *)x->chars.data + t->off;
}

/* What was only written so far, and is a beginning of the new text, was on the way to it. */
static void leave_out_beginnings(struct strings *x, const char *chars, const struct text *new)
{
	for (uint32_t i = x->slots[slot_of(x, new->addr)]; i; i = x->items[i - 1].next) {
		struct text *t = &x->items[i - 1];

		if (t->addr == new->addr && t->is_wide == new->is_wide && !t->was_read && t->n < new->n &&
		    !memcmp(chars_of(x, t), chars, t->n))
			t->is_left_out = true;
	}
}

static struct text *find_text(struct strings *x, const char *chars, const struct text *new)
{
	for (uint32_t i = x->slots[slot_of(x, new->addr)]; i; i = x->items[i - 1].next) {
		struct text *t = &x->items[i - 1];

		if (t->addr == new->addr && t->is_wide == new->is_wide && t->n == new->n &&
		    !memcmp(chars_of(x, t), chars, t->n))
			return t;
	}
	return NULL;
}

static void add_text(struct strings *x, const char *chars, struct text *new)
{
	size_t slot;

	if (x->n == x->cap) {
		size_t cap = x->cap ? 2 * x->cap : 256;
		struct text *items = cap < UINT32_MAX ? realloc(x->items, cap * sizeof(*items)) : NULL;

		if (!items) {
			x->is_failed = true;
			return;
		}
		x->items = items;
		x->cap = cap;
	}
	slot = slot_of(x, new->addr);
	new->off = x->chars.len;
	new->next = x->slots[slot];
	ts_buf_put(&x->chars, chars, new->n);
	x->is_failed |= !ts_buf_ok(&x->chars);
	x->items[x->n++] = *new;
	x->slots[slot] = (uint32_t)x->n;
}

/* A text stands at @addr just after a step that read or wrote a byte of it. */
static void note(struct strings *x, uint64_t addr, const char *chars, size_t n, bool is_wide, bool is_read)
{
	struct text new = { .addr = addr, .pos = x->pos, .n = (uint32_t)n, .is_wide = is_wide, .is_read = is_read,
			    .was_read = is_read };
	struct text *t;

	if (addr > x->last || addr + (n << is_wide) - 1 < x->first)
		return;
	if (x->n >= x->n_slots)
		grow_slots(x);
	if (x->is_failed)
		return;
	if (!is_read)
		leave_out_beginnings(x, chars, &new);
	t = find_text(x, chars, &new);
	if (!t) {
		add_text(x, chars, &new);
		t = &x->items[x->n - 1];
	}
	if (x->is_failed)
		return;
	t->was_read |= is_read;
	t->is_left_out = false;
	if (is_read && !is_wide && n >= MIN_RECENT)
		x->recent[x->at_recent++ % N_RECENT] = (uint32_t)(t - x->items) + 1;
}

/*
 * Was what is read here read before, as a part of a long text that is still the same?  Its last byte is left out: it
 * may begin a wide text.
 */
static bool is_recent(const struct strings *x, const struct ts_effect *e, const uint8_t *value)
{
	for (unsigned i = 0; i < N_RECENT; i++) {
		const struct text *t = x->recent[i] ? &x->items[x->recent[i] - 1] : NULL;

		if (t && e->addr >= t->addr && e->addr - t->addr < t->n && e->len < t->n - (e->addr - t->addr) &&
		    (!value || !memcmp(value, chars_of(x, t) + (e->addr - t->addr), e->len)))
			return true;
	}
	return false;
}

/* Texts that the effect touches, or stands next to, are looked at again. */
static void forget_recent(struct strings *x, const struct ts_effect *e)
{
	for (unsigned i = 0; i < N_RECENT; i++) {
		const struct text *t = x->recent[i] ? &x->items[x->recent[i] - 1] : NULL;
		uint64_t last = e->addr + (e->len - 1);

		if (t && e->addr <= t->addr + t->n + 1 && last >= (t->addr > 2 ? t->addr - 2 : 0))
			x->recent[i] = 0;
	}
}

/* --------------------------------------------------------------------------------------------- one access */

static bool is_printable(uint8_t c)
{
	return (c >= 0x20 && c <= 0x7e) || c == '\t';
}

/* Is there a character of @width bytes at offset @i of the window? */
static bool is_char(const struct strings *x, size_t i, unsigned width)
{
	const uint8_t *known = x->data + x->len;

	if (i + width > x->len || !known[i] || !is_printable(x->data[i]))
		return false;
	return width == 1 || (known[i + 1] && !x->data[i + 1]);
}

/* Read memory from @before bytes before the access to @after bytes after it, as it is at @pos. */
static bool read_window(struct strings *x, uint64_t first, uint64_t last, uint64_t before, uint64_t after,
			struct ts_error *err)
{
	uint64_t mask = ts_arch_addr_mask(ts_query_regset(x->ask->q)->arch), lo, hi;

	lo = first > before ? first - before : 0;
	hi = mask - last > after ? last + after : mask;
	x->addr = lo;
	x->len = (size_t)(hi - lo) + 1;
	x->n_looks += 1 + x->len / 512;
	if (2 * x->len > x->cap_data) {
		free(x->data);
		x->cap_data = 2 * x->len;
		x->data = malloc(x->cap_data);
		if (!x->data) {
			x->cap_data = 0;
			return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
		}
	}
	return ts_query_mem(x->ask->q, x->pos + 1, x->process, lo, x->len, x->data, x->data + x->len, err);
}

/* Does a run of characters that meets [first, last] reach the window's edge? */
static bool is_short(const struct strings *x, uint64_t first, uint64_t last)
{
	for (unsigned width = 1; width <= 2; width++) {
		for (size_t parity = 0; parity < width; parity++) {
			size_t i = (size_t)(first - x->addr), k = (size_t)(last - x->addr);

			i -= i >= width && i % width != parity ? 1 : 0;
			k += k % width != parity ? 1 : 0;
			while (i >= width && is_char(x, i - width, width) && (is_char(x, i, width) || i > first - x->addr))
				i -= width;
			while (k + width <= x->len && is_char(x, k, width))
				k += width;
			if ((i < width && x->addr) || k + width > x->len)
				return true;
		}
	}
	return false;
}

/* Texts of one width and parity that have a byte in [first, last]. */
static void take_texts(struct strings *x, uint64_t first, uint64_t last, unsigned width, size_t parity, bool is_read)
{
	size_t lo = (size_t)(first - x->addr), hi = (size_t)(last - x->addr);

	for (size_t i = parity, end; i < x->len && i <= hi; i = end + width) {
		for (end = i; is_char(x, end, width);)
			end += width;
		if (end > i && end > lo && (end - i) / width >= x->min) {
			ts_buf_reset(&x->text);
			for (size_t k = i; k < end; k += width)
				ts_buf_putc(&x->text, x->data[k]);
			x->is_failed |= !ts_buf_ok(&x->text);
			if (!x->is_failed)
				note(x, x->addr + i, (const char *)x->text.data, x->text.len, width == 2, is_read);
		}
	}
}

static bool look(struct strings *x, uint64_t first, uint64_t last, bool is_read, struct ts_error *err)
{
	uint64_t reach = FIRST_REACH;

	do {
		if (!read_window(x, first, last, reach, reach, err))
			return false;
		reach *= 8;
	} while (reach < MAX_REACH && is_short(x, first, last));
	take_texts(x, first, last, 1, 0, is_read);
	take_texts(x, first, last, 2, 0, is_read);
	take_texts(x, first, last, 2, 1, is_read);
	return !x->is_failed || ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
}

/* An access to bytes of which none is a character has no text. */
static bool may_have_text(const struct ts_steps *batch, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(batch, e);

	for (uint64_t i = 0; value && i < e->len; i++) {
		if (is_printable(value[i]) || !value[i])
			return true;
	}
	return !value;
}

static bool look_at_step(struct strings *x, struct ts_error *err)
{
	const struct ts_steps *batch;
	const struct ts_step *s = ts_ask_step(x->ask, x->pos, &batch, err);
	uint32_t thread;

	if (!s)
		return false;
	thread = s->thread;
	if (x->qn->thread != TS_NO_THREAD && thread != x->qn->thread)
		return true;
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &batch->effects[s->first + i];
		bool is_access = e->kind == TS_FX_WRITE || (e->kind == TS_FX_READ && !e->is_hidden);
		uint64_t e_last = e->addr + (e->len - 1);

		if (e->kind >= TS_FX_WRITE && e->kind <= TS_FX_FORGET && e->kind != TS_FX_READ && e->len)
			forget_recent(x, e);
		if (e->kind == TS_FX_READ && is_recent(x, e, ts_effect_data(batch, e)))
			continue;
		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		else if (is_access && e->len && e->len < MAX_REACH && ts_query_process(x->ask->q, thread) == x->process &&
			 e->addr <= x->last && e_last >= x->first && may_have_text(batch, e) &&
			 !look(x, e->addr, e_last, e->kind == TS_FX_READ, err))
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------------------------------------- the cursor */

static int compare(const void *a, const void *b)
{
	const struct text *x = a;
	const struct text *y = b;

	if (x->pos != y->pos)
		return x->pos < y->pos ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->is_wide - y->is_wide;
}

/* Does the text stand at the last position, with a NUL after it? */
static bool stands_at_end(struct strings *x, const struct text *t, bool *stands, struct ts_error *err)
{
	size_t width = t->is_wide ? 2 : 1, len = (t->n + 1) * width;
	uint8_t *data = malloc(2 * len);

	*stands = true;
	if (!data)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
	if (!ts_query_mem(x->ask->q, x->ask->n_steps, x->process, t->addr, len, data, data + len, err)) {
		free(data);
		return false;
	}
	for (size_t i = 0; i < len && *stands; i++) {
		char want = i % width || i / width == t->n ? 0 : chars_of(x, t)[i / width];

		*stands = data[len + i] && (char)data[i] == want;
	}
	free(data);
	return true;
}

static bool put_in_order(struct strings *x, struct ts_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		bool stands;

		if (x->items[i].is_left_out) {
			if (!stands_at_end(x, &x->items[i], &stands, err))
				return false;
			x->items[i].is_left_out = !stands;
		}
		if (!x->items[i].is_left_out && x->items[i].pos >= x->qn->from && x->items[i].pos < x->qn->to)
			x->items[n++] = x->items[i];
	}
	x->n = n;
	if (n)
		qsort(x->items, n, sizeof(*x->items), compare);
	x->is_over = true;
	return true;
}

static bool has_budget(struct strings *x, struct ts_budget *budget)
{
	while (x->n_looks >= LOOKS_A_CHUNK && ts_budget_take(budget))
		x->n_looks -= LOOKS_A_CHUNK;
	return x->n_looks < LOOKS_A_CHUNK;
}

static enum ts_got scan(struct strings *x, struct ts_budget *budget, struct ts_error *err)
{
	for (; x->pos < x->to; x->pos++) {
		if (!has_budget(x, budget) || (x->pos % TS_CHUNK_STEPS == 0 && !ts_budget_take(budget)))
			return TS_GOT_PENDING;
		if (!look_at_step(x, err))
			return TS_GOT_FAIL;
		x->rows.at = x->pos;
	}
	return put_in_order(x, err) ? TS_GOT_END : TS_GOT_FAIL;
}

static bool put_row(const struct strings *x, const struct text *t, struct ts_row *row, struct ts_error *err)
{
	const struct ts_steps *batch;
	const struct ts_step *s = ts_query_step(x->ask->q, t->pos, &batch, err);

	if (!s)
		return false;
	ts_row_number(row, 0, t->pos);
	ts_cell_thread(row, 1, x->ask, s->thread);
	ts_row_pc(row, 2, s->pc);
	ts_cell_function(row, 3, x->ask, s->pc);
	ts_row_text(row, 4, t->is_read ? "read" : "write");
	ts_row_addr(row, 5, t->addr);
	ts_row_number(row, 6, (uint64_t)t->n << t->is_wide);
	ts_row_text(row, 7, t->is_wide ? "utf-16le" : "ascii");
	ts_row_text_len(row, 8, chars_of(x, t), t->n);
	return true;
}

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	struct strings *x = (struct strings *)rows;
	enum ts_got got = x->is_over ? TS_GOT_END : scan(x, budget, err);
	const struct text *t;

	if (got != TS_GOT_END || x->at == x->n)
		return got;
	t = &x->items[rows->is_reverse ? x->n - 1 - x->at : x->at];
	x->at++;
	return put_row(x, t, row, err) ? TS_GOT_ROW : TS_GOT_FAIL;
}

static void close_strings(struct ts_rows *rows)
{
	struct strings *x = (struct strings *)rows;

	ts_buf_fini(&x->chars);
	ts_buf_fini(&x->text);
	free(x->items);
	free(x->slots);
	free(x->data);
	free(x);
}

static const struct ts_rows_ops ops = { .next = next, .close = close_strings };

static struct ts_rows *open_strings(struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
				    struct ts_error *err)
{
	struct strings *x;

	if (!qn->min) {
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'min 0' is not a length of a text");
		return NULL;
	}
	x = calloc(1, sizeof(*x));
	if (!x) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		return NULL;
	}
	x->rows = (struct ts_rows){ .ops = &ops, .is_reverse = is_reverse, .go = TS_NO_POS };
	x->ask = ask;
	x->qn = qn;
	x->process = ts_ask_process(ask, qn);
	x->last = ts_arch_addr_mask(ts_query_regset(ask->q)->arch);
	if (qn->what.kind == TS_WHAT_MEM) {
		x->first = qn->what.addr;
		x->last = qn->what.last;
	}
	x->min = qn->min == TS_NO_LIMIT ? MIN_CHARS : qn->min;
	x->to = qn->to < ask->n_steps ? qn->to : ask->n_steps;
	ts_buf_init(&x->chars);
	ts_buf_init(&x->text);
	if (!ts_query_facts(ask->q)->has_reads)
		snprintf(x->rows.note, sizeof(x->rows.note), "reads of memory are not recorded in this %s recording",
			 ts_query_facts(ask->q)->format);
	return &x->rows;
}

static const struct ts_column columns[] = {
	{ .name = "position", .type = TS_COLUMN_NUMBER }, { .name = "thread", .type = TS_COLUMN_NUMBER },
	{ .name = "pc", .type = TS_COLUMN_ADDR },	  { .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "kind", .type = TS_COLUMN_TEXT },	  { .name = "address", .type = TS_COLUMN_ADDR },
	{ .name = "length", .type = TS_COLUMN_NUMBER },	  { .name = "encoding", .type = TS_COLUMN_TEXT },
	{ .name = "text", .type = TS_COLUMN_TEXT },
};

const struct ts_verb ts_verb_strings = {
	.name = "strings",
	.synopsis = "[WHAT] [min N]",
	.help = "List the texts that were written and read.",
	.example = "strings min 6 first 10",
	.columns = columns,
	.n_columns = sizeof(columns) / sizeof(columns[0]),
	.operand = TS_OPERAND_MEMORY_OR_NONE,
	.takes = TS_TAKES_RANGE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_MIN,
	.is_reversible = true,
	.open = open_strings,
};
