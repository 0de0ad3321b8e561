/* SPDX-License-Identifier: MIT */
/*
 * Finds the place in a region of bytes that were recorded without it, from the execution: from what
 * instructions load from the region before anything was written there, and from the form of calls and jumps
 * in it.
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "group.h"

/* How far is looked: steps, bytes of evidence a region, shifts a region, and comparisons in all. */
#define MAX_STEPS 200000
#define BATCH_STEPS 4096
#define MAX_CLUES 4096
#define MAX_SHIFTS (UINT64_C(1) << 20)
#define MAX_WORK (UINT64_C(1) << 28)

/*
 * What decides: loads or branches that showed something, bytes that fit more than not, and lead over the
 * second best.
 */
#define MIN_SIGHTS 2
#define MIN_SCORE 4
#define MIN_LEAD 2

/* The region's byte at @off was this when the trace began. */
struct clue {
	uint64_t off;
	uint8_t byte;
};

struct box {
	struct ucir_vote *vote; /* borrowed */
	uint64_t n_shifts;      /* shifts 0 .. n_shifts - 1 are examined */
	uint64_t span;          /* bytes of the region in which data may lie then */
	uint8_t *settled;       /* owned; a bit a byte: written, or in the clues already */
	struct clue *clues;     /* owned */
	size_t n_clues;
	uint32_t n_sights; /* loads and branches that gave clues */
	uint64_t first_pc,
		last_pc; /* offsets of the lowest and the highest instruction executed; first > last: none */
	bool is_gone;    /* the region was unmapped or replaced */
};

/* The step before, as far as it may have been a branch. */
struct branch {
	uint64_t pc;
	uint16_t insn_len;
	uint32_t thread;
	bool is_call; /* it stored the address after it */
	bool is_set;
};

static bool box_init(struct box *b, struct ucir_vote *vote)
{
	uint64_t n_shifts = vote->len - vote->data_len + 1;

	*b = (struct box){ .vote = vote, .first_pc = UINT64_MAX };
	b->n_shifts = n_shifts < MAX_SHIFTS ? n_shifts : MAX_SHIFTS;
	b->span = vote->data_len + b->n_shifts - 1;
	b->settled = calloc((size_t)(b->span / 8 + 1), 1);
	b->clues = malloc(MAX_CLUES * sizeof(*b->clues));
	return b->settled && b->clues;
}

static void box_fini(struct box *b)
{
	free(b->settled);
	free(b->clues);
}

/* -------------------------------------------------------------------------------- collecting */

/* Offset of @addr in the box; at least its span where it is elsewhere. */
static uint64_t off_in(const struct box *b, uint32_t thread, uint64_t addr)
{
	return thread == b->vote->thread && addr >= b->vote->addr ? addr - b->vote->addr : UINT64_MAX;
}

static bool is_settled(const struct box *b, uint64_t off)
{
	return b->settled[off / 8] >> off % 8 & 1;
}

static void settle(struct box *b, uint64_t off, uint64_t len)
{
	for (uint64_t i = off; i < b->span && len; i++, len--)
		b->settled[i / 8] |= (uint8_t)(1 << i % 8);
}

/* @len bytes at @off are @bytes; @mask determines which of them (bit 0 the first) are meant. */
static void add_clues(struct box *b, uint64_t off, const uint8_t *bytes, size_t len, unsigned mask)
{
	bool is_new = false;

	if (off >= b->span || len > b->span - off)
		return;
	for (size_t i = 0; i < len; i++) {
		if (!(mask >> i & 1) || is_settled(b, off + i) || b->n_clues == MAX_CLUES)
			continue;
		b->clues[b->n_clues++] = (struct clue){ off + i, bytes[i] };
		settle(b, off + i, 1);
		is_new |= bytes[i] != 0;
	}
	b->n_sights += is_new;
}

/* The only load of a step, whose only other effect is a register: that most likely got what memory held. */
static void add_load(struct box *boxes, size_t n, const struct usercorn *rec, uint32_t thread,
		     const struct ts_effect *load, const struct ts_effect *reg, const uint8_t *value)
{
	if (load->len > reg->len || (load->len != 1 && load->len != 2 && load->len != 4 && load->len != 8))
		return;
	if (rec->model->is_big_endian)
		value += reg->len - load->len;
	for (size_t i = 0; i < n; i++) {
		uint64_t off = off_in(&boxes[i], thread, load->addr);

		if (off < boxes[i].span && !boxes[i].is_gone)
			add_clues(&boxes[i], off, value, (size_t)load->len, 0xff);
	}
}

static bool overlaps(const struct box *b, uint32_t thread, const struct ts_effect *e)
{
	uint64_t last = b->vote->addr + (b->vote->len - 1);

	return thread == b->vote->thread && e->addr <= last && e->addr + (e->len - 1) >= b->vote->addr;
}

static void see_change(struct box *b, uint32_t thread, const struct ts_effect *e)
{
	if (!overlaps(b, thread, e))
		return;
	if (e->kind == TS_FX_MAP || e->kind == TS_FX_UNMAP)
		b->is_gone = true;
	else if (e->addr >= b->vote->addr)
		settle(b, e->addr - b->vote->addr, e->len);
	else
		settle(b, 0, e->addr + (e->len - 1) - b->vote->addr + 1);
}

/* The bytes of a taken x86 branch with a distance in it: call, jmp and jcc of their two lengths. */
static size_t x86_branch(const struct branch *br, uint64_t to, uint8_t insn[6], unsigned *mask)
{
	uint64_t distance = to - (br->pc + br->insn_len);
	size_t at = br->insn_len - 4u;

	if (br->insn_len == 2 && distance != 0 && distance + 128 < 256) {
		insn[1] = (uint8_t)distance;
		*mask = 2;
		return 2;
	}
	if ((br->insn_len != 5 && br->insn_len != 6) || distance == 0 || distance + 0x80000000u > 0xffffffffu)
		return 0;
	for (int i = 0; i < 4; i++)
		insn[at + i] = (uint8_t)(distance >> 8 * i);
	insn[0] = br->insn_len == 6 ? 0x0f : br->is_call ? 0xe8 : 0xe9;
	*mask = br->insn_len == 6 ? 0x3d : 0x1f;
	return br->insn_len;
}

static void see_branch(struct box *boxes, size_t n, const struct branch *br, const struct ts_step *to)
{
	uint8_t insn[6] = { 0 };
	unsigned mask = 0;
	size_t len;

	if (!br->is_set || br->thread != to->thread)
		return;
	len = x86_branch(br, to->pc, insn, &mask);
	for (size_t i = 0; i < n && len; i++) {
		uint64_t off = off_in(&boxes[i], br->thread, br->pc);

		if (off < boxes[i].span && !boxes[i].is_gone)
			add_clues(&boxes[i], off, insn, len, mask);
	}
}

static void see_pc(struct box *boxes, size_t n, const struct ts_step *s)
{
	for (size_t i = 0; i < n; i++) {
		struct box *b = &boxes[i];
		uint64_t off = off_in(b, s->thread, s->pc);

		if (off >= b->vote->len || b->is_gone)
			continue;
		if (off < b->first_pc)
			b->first_pc = off;
		if (off > b->last_pc)
			b->last_pc = off;
	}
}

/* Did the step store the address after its instruction? */
static bool is_return_address(const struct usercorn *rec, const struct ts_steps *b, const struct ts_step *s,
			      const struct ts_effect *e)
{
	const uint8_t *data = ts_effect_data(b, e);

	return data && e->len == rec->model->addr_bits / 8u &&
	       ts_arch_get(rec->model, data, (size_t)e->len) == ((s->pc + s->insn_len) & rec->addr_mask);
}

static void see_step(struct box *boxes, size_t n, const struct usercorn *rec, const struct ts_steps *b,
		     const struct ts_step *s, struct branch *br)
{
	const struct ts_effect *load = NULL, *reg = NULL;
	unsigned n_loads = 0, n_regs = 0, n_others = 0;

	see_pc(boxes, n, s);
	see_branch(boxes, n, br, s);
	*br = (struct branch){ .pc = s->pc, .insn_len = s->insn_len, .thread = s->thread, .is_set = true };
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];

		if (e->kind == TS_FX_THREAD)
			break;
		if (e->kind == TS_FX_READ) {
			load = e;
			n_loads++;
		} else if (e->kind == TS_FX_REG_WRITE) {
			reg = e;
			n_regs++;
		} else {
			n_others++;
			br->is_call |= e->kind == TS_FX_WRITE && is_return_address(rec, b, s, e);
		}
	}
	if (n_loads == 1 && n_regs == 1 && n_others == 0)
		add_load(boxes, n, rec, s->thread, load, reg, ts_effect_data(b, reg));
	for (uint32_t i = 0; i < s->n_effects && n_others; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];

		if (e->kind != TS_FX_WRITE && e->kind != TS_FX_MAP && e->kind != TS_FX_UNMAP)
			continue;
		for (size_t j = 0; j < n; j++)
			see_change(&boxes[j], s->thread, e);
	}
}

static bool is_enough(const struct box *boxes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (boxes[i].n_clues < MAX_CLUES && !boxes[i].is_gone)
			return false;
	return true;
}

static bool collect(struct usercorn *rec, struct box *boxes, size_t n, struct ts_error *err)
{
	struct ts_reader *reader = ucir_reader_new(rec, err);
	struct branch br = { 0 };
	struct ts_steps b;
	enum ts_next result = TS_ITEM;
	struct ts_error failed = { 0 };
	bool is_x86 = strncmp(rec->arch->name, "x86", 3) == 0;

	if (!reader)
		return false;
	ts_steps_init(&b);
	ts_steps_bound(&b, rec->base.max_memory);
	for (size_t n_steps = 0; result == TS_ITEM && n_steps < MAX_STEPS && !is_enough(boxes, n);
	     n_steps += b.n_steps) {
		ts_steps_reset(&b);
		while (result == TS_ITEM && b.n_steps < BATCH_STEPS && !b.is_failed)
			result = ts_reader_next_steps(reader, BATCH_STEPS - b.n_steps, &b, &failed);
		if (b.is_limited) { /* what was seen before is the evidence */
			ts_error_reset(&failed);
			break;
		}
		if (b.is_failed && failed.code == TS_OK) {
			ts_no_memory(&failed, "the steps of a chunk");
			break;
		}
		for (uint32_t i = 0; i < b.n_steps; i++) {
			see_step(boxes, n, rec, &b, &b.steps[i], &br);
			br.is_set &= is_x86;
		}
	}
	ts_steps_fini(&b);
	ts_reader_close(reader);
	if (failed.code == TS_EIO || failed.code == TS_ENOMEM) {
		*err = failed;
		return false;
	}
	return true; /* damage is reported when the trace is read */
}

/* -------------------------------------------------------------------------------- deciding */

struct score {
	uint32_t n_for, n_against;
};

static struct score score_of(const struct box *b, uint64_t shift, size_t n_clues)
{
	const struct ucir_vote *v = b->vote;
	struct score s = { 0 };

	for (size_t i = 0; i < n_clues; i++) {
		uint64_t at = b->clues[i].off - shift;
		uint8_t have = at < v->data_len ? v->data[at] : 0;

		s.n_against += have != b->clues[i].byte;
		s.n_for += have == b->clues[i].byte && have != 0;
	}
	return s;
}

static int64_t net(const struct score *s)
{
	return (int64_t)s->n_for - s->n_against;
}

static void decide(struct box *b, uint64_t max_work)
{
	struct ucir_vote *v = b->vote;
	uint64_t first = 0, last = b->n_shifts - 1;
	size_t n_clues = b->n_clues;
	struct score best = { 0 };
	int64_t second = INT64_MIN;

	/* Instructions do not consist of the zeros that were removed. */
	if (b->first_pc <= b->last_pc) {
		last = b->first_pc < last ? b->first_pc : last;
		first = b->last_pc >= v->data_len ? b->last_pc - v->data_len + 1 : 0;
	}
	if (first > last)
		return;
	if (n_clues > max_work / (last - first + 1))
		n_clues = (size_t)(max_work / (last - first + 1));
	v->shift = first;
	best = score_of(b, first, n_clues);
	for (uint64_t shift = first + 1; shift <= last; shift++) {
		struct score s = score_of(b, shift, n_clues);

		if (net(&s) > net(&best)) {
			second = net(&best);
			best = s;
			v->shift = shift;
		} else if (net(&s) > second) {
			second = net(&s);
		}
	}
	v->n_for = best.n_for;
	v->n_against = best.n_against;
	v->is_decided = first == last || (b->n_sights >= MIN_SIGHTS && net(&best) >= MIN_SCORE &&
					  net(&best) - second >= MIN_LEAD);
}

bool ucir_vote(struct usercorn *rec, struct ucir_vote *votes, size_t n, struct ts_error *err)
{
	struct box boxes[UCIR_MAX_VOTES];
	bool done = true;

	memset(boxes, 0, sizeof(boxes));
	for (size_t i = 0; i < n; i++)
		done &= box_init(&boxes[i], &votes[i]);
	if (!done)
		ts_no_memory(err, "the places of the regions' contents");
	done = done && collect(rec, boxes, n, err);
	for (size_t i = 0; i < n; i++) {
		if (done && !boxes[i].is_gone)
			decide(&boxes[i], MAX_WORK / n);
		box_fini(&boxes[i]);
	}
	return done;
}
