/* SPDX-License-Identifier: MIT */
/*
 * A memory slot holds a word of the target's width, whatever the operand's size.  Some words are known to be
 * wrong and are not believed:
 *
 *      - the old word of what push and call write: many recorders took it one slot too high;
 *      - the old word's part after an operand that is larger than a word, but no multiple of it: 0;
 *      - both words from the first byte on that could not be read.
 *
 * The last cannot be distinguished from zeros.  An operand that was accessed could be read, and so could the rest of
 * its page; elsewhere trailing zeros are not believed.
 */
#include "access.h"

#include <string.h>

/* The largest area that xsave writes by default: up to AVX-512 and protection keys; and with tiles. */
#define XSAVE_LEN 11008u

/* ------------------------------------------------------------------------------------------------ ranges */

/* The bytes of [addr, addr + len) until the end of the address space. */
static uint32_t clip(const struct x64dbg_insns *c, uint64_t addr, uint32_t len)
{
	uint64_t room = (c->x.is_64 ? UINT64_MAX : UINT32_MAX) - addr;

	return len - 1 <= room ? len : (uint32_t)room + 1;
}

static bool overlaps(const struct x64dbg_range *r, uint64_t addr, unsigned width)
{
	return addr < r->addr ? r->addr - addr < width : addr - r->addr < r->len;
}

static bool is_claimed(const struct x64dbg_accesses *a, uint64_t addr, unsigned width)
{
	for (unsigned i = 0; i < a->n_ranges; i++) {
		if (overlaps(&a->ranges[i], addr, width))
			return true;
	}
	return false;
}

/*
 * The address of an operand in a segment whose base is unknown: the first slot that no other operand claims.
 */
static bool find_based(const struct x64dbg_accesses *a, const struct x64dbg_block *b, unsigned width,
		       uint64_t *addr)
{
	for (unsigned i = 0; i < b->n_mem; i++) {
		if (!is_claimed(a, b->mem[i].addr, width)) {
			*addr = b->mem[i].addr;
			return true;
		}
	}
	return false;
}

static void add_range(struct x64dbg_accesses *a, const struct x64dbg_insns *c, uint64_t addr, uint32_t len,
		      uint8_t access)
{
	a->ranges[a->n_ranges++] = (struct x64dbg_range){ addr, clip(c, addr, len), access };
}

static void find_ranges(struct x64dbg_accesses *a, const struct x64dbg_block *b,
			const struct x64dbg_insn *insn, const struct x64dbg_insns *c, const uint8_t *g)
{
	bool is_idle = insn->x.count_len && !ts_x86_count(&insn->x, &c->x, g);
	const struct ts_x86_mem *based = NULL;
	uint64_t addr;

	for (unsigned i = 0; i < insn->x.n_mem; i++) {
		const struct ts_x86_mem *m = &insn->x.mem[i];

		if (x64dbg_is_based(c, m))
			based = m;
		else
			add_range(a, c, ts_x86_mem_addr(&insn->x, m, &c->x, g), m->size,
				  is_idle ? 0 : m->access);
	}
	if (based && find_based(a, b, c->layout->width, &addr))
		add_range(a, c, addr, based->size, is_idle ? 0 : based->access);
}

/* The old byte at @addr as a slot shows it; -1 if none does. */
static int old_byte(const struct x64dbg_block *b, uint64_t addr, unsigned width)
{
	for (unsigned i = 0; i < b->n_mem; i++) {
		if (addr - b->mem[i].addr < width)
			return b->mem[i].old >> 8 * (addr - b->mem[i].addr) & 0xff;
	}
	return -1;
}

/* Byte @i of what compare-and-exchange compares its operand of @len bytes with: rax, or rdx and rax in halves. */
static uint8_t compared_byte(const struct x64dbg_insns *c, const uint8_t *g, unsigned i, unsigned len, bool is_pair)
{
	enum { RAX = 0, RDX = 2 };
	unsigned half = is_pair ? len / 2 : len;

	return g[c->x.gprs[i < half ? RAX : RDX] + i % half];
}

/*
 * Compare-and-exchange writes its whole operand if it held what is expected, else nothing of it.  Left open where the
 * slots do not show all of it.
 */
static void decide_exchange(struct x64dbg_accesses *a, const struct x64dbg_block *b, const struct x64dbg_insn *insn,
			    const struct x64dbg_insns *c, const uint8_t *g)
{
	struct x64dbg_range *r = &a->ranges[0];
	bool is_equal = true, is_pair = insn->x.exchange == TS_X86_EXCHANGE_PAIR;

	for (unsigned i = 0; i < r->len; i++) {
		int byte = old_byte(b, r->addr + i, c->layout->width);

		if (byte < 0)
			return;
		is_equal &= byte == compared_byte(c, g, i, r->len, is_pair);
	}
	r->access &= (uint8_t)~(is_equal ? TS_X86_IF_WRITE : TS_X86_WRITE | TS_X86_IF_WRITE);
}

/* What is written that no operand says. */
static void find_lost(struct x64dbg_accesses *a, const struct x64dbg_insn *insn, const struct x64dbg_insns *c)
{
	const struct x64dbg_range *r = &a->ranges[0];

	a->loses_all = insn->x.is_scatter;
	if (insn->x.is_scatter) {
		a->lost = (struct x64dbg_lost){ 0, UINT64_MAX };
	} else if (insn->x.is_xsave && a->n_ranges && r->access & TS_X86_WRITE && r->len < XSAVE_LEN) {
		uint64_t end = r->addr + r->len;

		a->lost = (struct x64dbg_lost){ end, end ? clip(c, end, XSAVE_LEN - r->len) : 0 };
	}
}

/* ------------------------------------------------------------------------------------------------ trust */

/* How many low bytes of a word there are up to its last one that is not 0. */
static unsigned n_low_bytes(uint64_t word)
{
	return word ? 8 - (unsigned)__builtin_clzll(word) / 8 : 0;
}

/* Does an access, which may have a condition on a part of it, reach all bytes of its range? */
static bool is_sure(const struct x64dbg_range *r)
{
	return (r->access & TS_X86_READ && !(r->access & TS_X86_IF_READ)) ||
	       (r->access & TS_X86_WRITE && !(r->access & TS_X86_IF_WRITE));
}

/* Past the page that an access proves to be readable, trailing zeros may be the recorder's. */
static unsigned readable_len(const struct x64dbg_mem *m, const struct x64dbg_range *r, unsigned len)
{
	uint64_t sure = 0, last;

	if (r && is_sure(r)) {
		last = r->addr + (r->len - 1);
		if (last - m->addr < len) /* the operand ends within the slot */
			sure = (last | (X64DBG_PAGE_LEN - 1)) - m->addr + 1;
		else
			sure = len;
	}
	if (sure >= len)
		return len;
	return n_low_bytes(m->old) > sure ? n_low_bytes(m->old) : (unsigned)sure;
}

/*
 * In the last slot of a large operand the old word ends with the operand.  The recorder's sizes are those
 * modulo 256.
 */
static unsigned tail_len(const struct x64dbg_mem *m, const struct x64dbg_range *r, unsigned width)
{
	unsigned len = r->len & 0xff, rest = len % width;

	return len > width && rest && m->addr - r->addr == len - rest ? rest : width;
}

static const struct x64dbg_range *range_at(const struct x64dbg_accesses *a, uint64_t addr, unsigned width)
{
	for (unsigned i = 0; i < a->n_ranges; i++) {
		if (overlaps(&a->ranges[i], addr, width))
			return &a->ranges[i];
	}
	return NULL;
}

static struct x64dbg_trust trust_in(const struct x64dbg_accesses *a, const struct x64dbg_mem *m,
				    uint64_t pushed, const struct x64dbg_insns *c)
{
	const struct x64dbg_range *r = range_at(a, m->addr, c->layout->width);
	unsigned width = clip(c, m->addr, c->layout->width), len = readable_len(m, r, width), old = len;

	if (r && old > tail_len(m, r, c->layout->width))
		old = tail_len(m, r, c->layout->width);
	if (m->addr == pushed)
		old = 0;
	return (struct x64dbg_trust){ (uint8_t)old, (uint8_t)len };
}

/* Where the stack slot lies whose old word is not believed; a place where no slot is, for others. */
static uint64_t pushed_slot(const struct x64dbg_insn *insn, const struct x64dbg_insns *c, const uint8_t *g,
			    bool *is_push)
{
	for (unsigned i = 0; i < insn->x.n_mem; i++) {
		const struct ts_x86_mem *m = &insn->x.mem[i];

		if (m->place == TS_X86_PUSHED) {
			*is_push = true;
			return (ts_x86_mem_addr(&insn->x, m, &c->x, g) + m->size - c->layout->width) &
			       insn->x.addr_mask;
		}
	}
	return 0;
}

void x64dbg_access_find_some(struct x64dbg_accesses *a, const struct x64dbg_block *b,
			     const struct x64dbg_insn *insn, const struct x64dbg_insns *c, const uint8_t *g)
{
	bool is_push = false;
	uint64_t pushed;

	find_ranges(a, b, insn, c, g);
	if (insn->x.exchange && a->n_ranges)
		decide_exchange(a, b, insn, c, g);
	find_lost(a, insn, c);
	pushed = pushed_slot(insn, c, g, &is_push);
	for (unsigned i = 0; i < b->n_mem; i++)
		a->trust[i] = trust_in(a, &b->mem[i], is_push ? pushed : ~b->mem[i].addr, c);
}

void x64dbg_access_cancel(struct x64dbg_accesses *a, const struct x64dbg_block *b)
{
	a->n_ranges = 0;
	a->lost.len = 0;
	a->is_simple = false;
	memset(a->trust, 0, b->n_mem * sizeof(a->trust[0]));
}

/* ------------------------------------------------------------------------------------------------ effects */

/* Does a byte of the word at @addr differ before and after? */
static bool is_changed(const struct x64dbg_mem *m, unsigned i)
{
	return (m->old ^ m->now) >> 8 * i & 0xff;
}

/*
 * The first slot with a believed byte of the @left bytes at @addr; *skip gets how many bytes lie before it.
 * n_mem if none is found.
 */
static unsigned slot_with(const struct x64dbg_accesses *a, const struct x64dbg_block *b, uint64_t addr,
			  uint64_t left, uint64_t *skip)
{
	unsigned best = b->n_mem;

	*skip = left;
	for (unsigned i = 0; i < b->n_mem; i++) {
		const struct x64dbg_mem *m = &b->mem[i];
		uint64_t before = m->addr - addr;

		if (addr - m->addr < a->trust[i].now)
			before = 0;
		if (a->trust[i].now && before < *skip) {
			*skip = before;
			best = i;
		}
	}
	return best;
}

/* Bytes of a slot that are not what they were. */
static void tell_changed(const struct x64dbg_mem *m, unsigned from, unsigned len, struct ts_steps *out)
{
	for (unsigned i = from; i < from + len; i++) {
		if (is_changed(m, i))
			x64dbg_access_append_word(out, TS_FX_WRITE, m->addr, m->now, i, 1, false);
	}
}

/* The written range in parts: those that a slot shows, and the others. */
static void tell_written(const struct x64dbg_accesses *a, const struct x64dbg_block *b,
			 const struct x64dbg_range *r, struct ts_steps *out)
{
	uint64_t addr = r->addr, left = r->len, skip;

	while (left) {
		unsigned i = slot_with(a, b, addr, left, &skip), from, len;

		if (skip)
			ts_steps_effect(out, TS_FX_WRITE, addr, skip);
		addr += skip;
		left -= skip;
		if (!left)
			return;
		from = (unsigned)(addr - b->mem[i].addr);
		len = a->trust[i].now - from;
		if (len > left)
			len = (unsigned)left;
		if (r->access & TS_X86_IF_WRITE)
			tell_changed(&b->mem[i], from, len, out);
		else
			x64dbg_access_append_word(out, TS_FX_WRITE, b->mem[i].addr, b->mem[i].now, from, len,
						false);
		addr += len;
		left -= len;
	}
}

static bool is_written(const struct x64dbg_accesses *a, uint64_t addr)
{
	for (unsigned i = 0; i < a->n_ranges; i++) {
		if (a->ranges[i].access & TS_X86_WRITE && addr - a->ranges[i].addr < a->ranges[i].len)
			return true;
	}
	return false;
}

/* A byte of a slot may show something in addition to what the instruction wrote. */
enum rest {
	REST_NONE,
	REST_CHANGED, /* other code wrote it */
	REST_SEEN,    /* nothing said what was there before: it was there all the time */
};

static enum rest rest_of(const struct x64dbg_accesses *a, const struct x64dbg_mem *m,
			 const struct x64dbg_trust *t, unsigned i)
{
	if (i >= t->now || (i < t->old && !is_changed(m, i)) || is_written(a, m->addr + i))
		return REST_NONE;
	return i < t->old ? REST_CHANGED : REST_SEEN;
}

static void tell_rest(const struct x64dbg_accesses *a, const struct x64dbg_mem *m,
		      const struct x64dbg_trust *t, struct ts_steps *out)
{
	unsigned from = 0;

	if (m->old == m->now && t->old >= t->now)
		return;
	while (from < t->now) {
		enum rest rest = rest_of(a, m, t, from);
		unsigned end = from + 1;

		while (end < t->now && rest_of(a, m, t, end) == rest)
			end++;
		if (rest != REST_NONE)
			x64dbg_access_append_word(out, rest == REST_CHANGED ? TS_FX_WRITE : TS_FX_READ, m->addr,
						m->now, from, end - from, true);
		from = end;
	}
}

void x64dbg_access_append_some(const struct x64dbg_accesses *a, const struct x64dbg_block *b,
			     struct ts_steps *out)
{
	for (unsigned i = 0; i < a->n_ranges; i++) {
		const struct x64dbg_range *r = &a->ranges[i];

		if (r->access & TS_X86_READ)
			ts_steps_effect(out, TS_FX_READ, r->addr, r->len);
	}
	for (unsigned i = 0; i < a->n_ranges; i++) {
		const struct x64dbg_range *r = &a->ranges[i];

		if (r->access & TS_X86_WRITE)
			tell_written(a, b, r, out);
	}
	for (unsigned i = 0; i < b->n_mem; i++)
		tell_rest(a, &b->mem[i], &a->trust[i], out);
	if (a->lost.len) {
		struct ts_effect *e = ts_steps_effect(out, a->loses_all ? TS_FX_FORGET : TS_FX_WRITE,
						      a->lost.addr, a->lost.len);

		if (e)
			e->is_hidden = true;
	}
}
