/* SPDX-License-Identifier: MIT */
/*
 * What the first lines of a log show of its writer: whose accesses a line lists, whether their bytes were
 * fetched afterwards, and what a register is that the first line leaves out.
 *
 * Whose: a push or a call moves the stack pointer and writes there.  The line that shows the lower stack
 * pointer has the write if accesses are those of the previous instruction; the line before it if they are the
 * line's own.
 */
#include "log.h"

#include <string.h>

/* The number of lines that are examined. */
#define MAX_LINES 8192u

/* Names of registers in the order of a writer that lists on the first line those that are not 0. */
static const char *const orders[][20] = {
	{ "rdi", "rsi", "rbp", "rsp", "rbx", "rdx", "rcx", "rax", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	  "rip", NULL }, /* pintenet */
	{ "edi", "esi", "ebp", "esp", "ebx", "edx", "ecx", "eax", "eip", NULL },
	{ "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip", NULL }, /* tenet.c */
	{ "eax", "ecx", "edx", "ebx", "ebp", "esp", "esi", "edi", "eip", NULL },
};
#define N_ORDERS (sizeof(orders) / sizeof(orders[0]))

struct vote {
	struct tenet *rec;
	struct ts_steps lines[2]; /* what this line and the one before it list */
	struct tenet_writer *w;
	uint64_t sp;
	bool has_sp, is_first, has_first_zero;
	uint32_t n_first;         /* registers on the first line that has the program counter */
	bool is_ordered[N_ORDERS];
	uint32_t n_ordered;       /* lines with more than one register */
	uint32_t n_positions;
	bool is_different;        /* a read beside a write of the same bytes showed others */
};

static bool has_write_at(const struct ts_steps *b, uint64_t addr)
{
	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];

		if (e->kind == TS_FX_WRITE && addr - e->addr < e->len)
			return true;
	}
	return false;
}

/* Does the line show that a read beside a write is shown as it was read? */
static bool has_true_read(const struct ts_steps *b)
{
	for (uint32_t i = 0; i + 1 < b->n_effects && i < 16; i++) {
		const struct ts_effect *r = &b->effects[i];

		for (uint32_t j = i + 1;
		     j < b->n_effects && j < 16 && r->kind == TS_FX_READ && r->data != TS_NO_DATA; j++) {
			const struct ts_effect *w = &b->effects[j];

			if (w->kind == TS_FX_WRITE && w->addr == r->addr && w->len == r->len &&
			    memcmp(b->data + r->data, b->data + w->data, r->len))
				return true;
		}
	}
	return false;
}

static int rank(const char *const *order, const struct ts_reg *reg)
{
	for (int i = 0; order[i]; i++) {
		if (!strcmp(order[i], reg->name))
			return i;
	}
	return -1;
}

/* Which register has this place in the 'g' layout? */
static const struct ts_reg *reg_at(const struct ts_regset *set, uint64_t off)
{
	for (unsigned i = 0; i < set->n_regs; i++) {
		if (set->regs[i].off == off)
			return &set->regs[i];
	}
	return &set->regs[set->pc];
}

/* Do the registers of a line are in this order? */
static bool is_in_order(const struct vote *v, const char *const *order, const struct ts_steps *b)
{
	int last = -1;

	for (uint32_t i = 0; i < b->n_effects; i++) {
		int at;

		if (b->effects[i].kind != TS_FX_REG_WRITE)
			continue;
		at = rank(order, reg_at(&v->rec->base.regs, b->effects[i].addr));
		if (at <= last)
			return false;
		last = at;
	}
	return true;
}

static void note_order(struct vote *v, const struct ts_steps *b, const struct tenet_line *l)
{
	if (l->n_regs < 2)
		return;
	v->n_ordered++;
	for (size_t i = 0; i < N_ORDERS; i++)
		v->is_ordered[i] &= !l->has_reg_after && is_in_order(v, orders[i], b);
}

static void vote(struct vote *v, const struct ts_steps *before, const struct ts_steps *b,
		 const struct tenet_line *l)
{
	bool has_fallen = v->has_sp && l->has_sp && l->sp < v->sp;

	if (has_fallen && has_write_at(b, l->sp))
		v->w->n_previous++;
	if (has_fallen && has_write_at(before, l->sp))
		v->w->n_own++;
	for (uint32_t i = 0; i < b->n_effects; i++)
		v->w->has_reads |= b->effects[i].kind == TS_FX_READ;
	v->is_different |= has_true_read(b);
	if (v->is_first && l->has_pc) {
		v->is_first = false;
		v->n_first = l->n_regs;
		v->has_first_zero = l->has_zero;
		v->w->is_pc_last = l->n_regs > 1 && !l->has_reg_after;
	}
	note_order(v, b, l);
	if (l->has_sp) {
		v->sp = l->sp;
		v->has_sp = true;
	}
	v->n_positions += l->has_pc || (!v->is_first && (l->n_regs || l->n_accesses));
}

static enum ts_next read_lines(struct vote *v, struct ts_line_reader *lines, struct ts_error *err)
{
	enum ts_next next = TS_ITEM;

	for (uint32_t i = 0; i < MAX_LINES; i++) {
		struct ts_steps *b = &v->lines[i % 2];
		struct ts_text_line text;
		struct tenet_line l;

		next = ts_line_reader_next(lines, &text, err);
		if (next == TS_ITEM && !text.is_whole)
			next = TS_END;
		if (next != TS_ITEM)
			break;
		ts_steps_reset(b);
		tenet_line_parse(&v->rec->names, &text, 0, 0, TENET_ALL, &l, b, NULL);
		if (b->is_failed) {
			ts_no_memory(err, "a line");
			return TS_FAIL;
		}
		vote(v, &v->lines[(i + 1) % 2], b, &l);
	}
	if (next == TS_FAIL && err->code == TS_ELIMIT) { /* the text before it is enough, or nothing is */
		ts_error_reset(err);
		next = TS_ITEM;
	}
	return next;
}

static void decide(struct vote *v)
{
	struct tenet_writer *w = v->w;
	bool is_ordered = false;

	for (size_t i = 0; i < N_ORDERS; i++)
		is_ordered |= v->is_ordered[i];
	w->is_own = w->n_own > w->n_previous;
	v->rec->names.is_pc_last = w->is_pc_last;
	w->is_true = w->is_own || v->is_different;
	w->is_zero_absent = is_ordered && v->n_ordered && v->n_first && !v->has_first_zero && !w->is_own;
}

bool tenet_writer_find(struct tenet *rec, struct ts_error *err)
{
	struct vote v = { .rec = rec, .w = &rec->writer, .is_first = true };
	struct ts_line_reader lines;
	enum ts_next next;

	rec->writer = (struct tenet_writer){ 0 };
	for (size_t i = 0; i < N_ORDERS; i++)
		v.is_ordered[i] = true;
	ts_line_reader_init(&lines, rec->parts[0].src, 0, TENET_MAX_LINE);
	ts_steps_init(&v.lines[0]);
	ts_steps_init(&v.lines[1]);
	next = read_lines(&v, &lines, err);
	ts_steps_fini(&v.lines[0]);
	ts_steps_fini(&v.lines[1]);
	ts_line_reader_fini(&lines);
	if (next == TS_FAIL)
		return false;
	if (next == TS_END && v.n_positions < 2)
		return ts_fail(err, TS_EUNSUPPORTED, lines.off, "one line only: there is no step");
	decide(&v);
	return true;
}
