/* SPDX-License-Identifier: MIT */
/*
 * The register record is a C structure split into words of the target's width.  What is used of it (offset in
 * bytes, x64 and x86):
 *
 *        0   0  rax rcx rdx rbx rsp rbp rsi rdi, a word each; on x64 then r8 to r15
 *      128  32  program counter, flags
 *      144  40  gs fs es ds cs ss, 2 bytes each
 *      208  76  ST(0) to ST(7), 10 bytes each
 *      288 156  control, status and tag word of the x87, 2 bytes each; 2 bytes of nothing; then 4 bytes each:
 *               error offset, error selector, data offset, data selector, and one more
 *      316 184  mxcsr
 *      320 192  xmm registers, 16 bytes each
 *      576 320  ymm registers, 32 bytes each, of which the upper half counts
 *
 * What follows are copies in other forms.  Between the members lie holes with whatever was on the recorder's
 * stack.
 */
#include "regs.h"

#include <assert.h>
#include <endian.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "loaders/kit/x87.h"

/* ------------------------------------------------------------------------------------------------ layout */

/* Bytes of the record that are bytes of a register. */
struct span {
	uint16_t at, len; /* in the record */
	uint16_t off;     /* in struct x64dbg_regs */
};

struct spans {
	struct span items[128];
	unsigned n;
	const struct ts_regset *set;
};

static uint16_t offset_of(const struct ts_regset *set, const char *name)
{
	int i = ts_regset_find(set, name);

	assert(i >= 0);
	return (uint16_t)set->regs[i].off;
}

static void add_at(struct spans *s, size_t off, unsigned at, unsigned len)
{
	assert(s->n < sizeof(s->items) / sizeof(s->items[0]));
	s->items[s->n++] = (struct span){ (uint16_t)at, (uint16_t)len, (uint16_t)off };
}

static void add(struct spans *s, const char *name, unsigned at, unsigned len)
{
	add_at(s, offset_of(s->set, name), at, len);
}

static void add_numbered(struct spans *s, const char *fmt, unsigned n, unsigned at, unsigned len,
			 unsigned stride)
{
	char name[16];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), fmt, i);
		add(s, name, at + i * stride, len);
	}
}

static void list_spans(struct spans *s, bool is_64)
{
	static const char *const general[2][10] = {
		{ "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip", "eflags" },
		{ "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "rip", "eflags" },
	};
	static const char *const segments[6] = { "gs", "fs", "es", "ds", "cs", "ss" };
	static const char *const pointers[4] = { "fioff", "fiseg", "fooff", "foseg" };
	unsigned width = is_64 ? 8 : 4, x87 = is_64 ? 288 : 156;

	for (unsigned i = 0; i < 8; i++)
		add(s, general[is_64][i], i * width, width);
	if (is_64) {
		char name[8];

		for (unsigned i = 8; i < 16; i++) {
			snprintf(name, sizeof(name), "r%u", i);
			add(s, name, i * width, width);
		}
	}
	add(s, general[is_64][8], is_64 ? 128 : 32, width);
	add(s, "eflags", is_64 ? 136 : 36, 4);
	for (unsigned i = 0; i < 6; i++)
		add(s, segments[i], (is_64 ? 144 : 40) + i * 2, 2);
	add_numbered(s, "st%u", 8, is_64 ? 208 : 76, 10, 10);
	add(s, "fctrl", x87, 2);
	add(s, "fstat", x87 + 2, 2);
	add_at(s, offsetof(struct x64dbg_regs, tag), x87 + 4, 2);
	for (unsigned i = 0; i < 4; i++)
		add(s, pointers[i], x87 + 8 + i * 4, i % 2 ? 2 : 4);
	if (!is_64)
		add(s, "fop", x87 + 14, 2);
	add(s, "mxcsr", is_64 ? 316 : 184, 4);
	add_numbered(s, "xmm%u", is_64 ? 16 : 8, is_64 ? 320 : 192, 16, 16);
	add_numbered(s, "ymm%uh", is_64 ? 16 : 8, (is_64 ? 576 : 320) + 16, 16, 32);
}

/* The low bits of the error selector's upper half are the opcode. */
#define FOP_MASK 0x7ffu

/* Bytes [lo, hi) of the record, which lie in slot @slot, are some of span @x. */
static struct x64dbg_piece make_piece(const struct x64dbg_layout *l, const struct span *x, unsigned slot,
				      unsigned lo, unsigned hi)
{
	bool is_tag = x->off == offsetof(struct x64dbg_regs, tag),
	     is_st = x->off >= l->st_off && x->off < l->st_off + 8 * 10;

	return (struct x64dbg_piece){
		.mask = l->has_fop && x->off == l->fop_off ? FOP_MASK : UINT64_MAX >> (64 - 8 * (hi - lo)),
		.off = (uint16_t)(x->off + (lo - x->at)),
		.shift = (uint8_t)(8 * (lo - slot * l->width)),
		.len = (uint8_t)(hi - lo),
		.is_told = slot != l->pc && !is_tag,
		.is_x87 = is_tag || is_st || x->off == l->fstat_off,
	};
}

/* The pieces of slot @slot; those beyond the first become number @n and so on.  Returns the next number. */
static unsigned cut_slot(struct x64dbg_layout *l, const struct spans *s, unsigned slot, unsigned n)
{
	unsigned begin = slot * l->width, end = begin + l->width;
	struct x64dbg_piece *last = NULL;

	for (unsigned i = 0; i < s->n; i++) {
		const struct span *x = &s->items[i];
		unsigned lo = x->at > begin ? x->at : begin,
			 hi = x->at + x->len < (int)end ? x->at + x->len : end;

		if (lo >= hi)
			continue;
		assert(n < X64DBG_MAX_PIECES);
		if (last)
			last->more = (uint16_t)n;
		last = &l->pieces[last ? n++ : slot];
		*last = make_piece(l, x, slot, lo, hi);
	}
	return n;
}

/*
 * What the record holds of the 'g' layout, the upper halves of what it has in 16 bits included: those are 0.
 */
static void list_runs(struct x64dbg_layout *l, const struct ts_regset *set)
{
	bool was_held = false;

	for (unsigned i = 0; i < set->n_regs; i++) {
		const struct ts_reg *r = &set->regs[i];
		bool is_held = strcmp(r->name, "fs_base") && strcmp(r->name, "gs_base") &&
			       (l->has_fop || strcmp(r->name, "fop"));

		if (is_held && was_held) {
			l->runs[l->n_runs - 1].len = (uint16_t)(l->runs[l->n_runs - 1].len + r->len);
		} else if (is_held) {
			assert(l->n_runs < X64DBG_MAX_RUNS);
			l->runs[l->n_runs++] = (struct x64dbg_run){ (uint16_t)r->off, r->len };
		}
		was_held = is_held;
	}
}

void x64dbg_layout_init(struct x64dbg_layout *l, bool is_64, const struct ts_regset *set)
{
	struct spans s = { .set = set };
	unsigned n;

	assert(set->g_len <= X64DBG_MAX_G);
	*l = (struct x64dbg_layout){ .width = is_64 ? 8 : 4, .n_slots = is_64 ? 172 : 216 };
	l->word_mask = is_64 ? UINT64_MAX : UINT32_MAX;
	l->pc = is_64 ? 16 : 8;
	l->sp = 4;
	l->has_fop = !is_64;
	l->pc_off = (uint16_t)set->regs[set->pc].off;
	l->ftag_off = offset_of(set, "ftag");
	l->fop_off = offset_of(set, "fop");
	l->fstat_off = offset_of(set, "fstat");
	l->st_off = offset_of(set, "st0");
	list_spans(&s, is_64);
	n = l->n_slots;
	for (unsigned slot = 0; slot < l->n_slots; slot++)
		n = cut_slot(l, &s, slot, n);
	list_runs(l, set);
}

/* ------------------------------------------------------------------------------------------------ values */

/*
 * The tag word of two bits a register out of the one that x64 has: bit p is set if physical register p is in
 * use.  A word that does not fit into that form is the usual one.
 */
static unsigned full_tag(const struct x64dbg_regs *r, const struct x64dbg_layout *l)
{
	unsigned status = r->g[l->fstat_off] | r->g[l->fstat_off + 1] << 8, tag = r->tag[0] | r->tag[1] << 8;

	if (l->has_fop || tag > 0xff)
		return tag;
	return x87_full_tag(tag, status, r->g + l->st_off);
}

void x64dbg_regs_update_tag(struct x64dbg_regs *r, const struct x64dbg_layout *l, struct ts_steps *out)
{
	unsigned full = full_tag(r, l);
	uint8_t word[2] = { (uint8_t)full, (uint8_t)(full >> 8) };

	if (!memcmp(r->g + l->ftag_off, word, 2))
		return;
	memcpy(r->g + l->ftag_off, word, 2);
	ts_steps_value(out, TS_FX_REG_WRITE, l->ftag_off, word, 2);
}

void x64dbg_regs_append(const struct x64dbg_regs *r, const struct x64dbg_layout *l, struct ts_steps *out)
{
	for (unsigned i = 0; i < l->n_runs; i++)
		ts_steps_value(out, TS_FX_REG_WRITE, l->runs[i].off, r->g + l->runs[i].off, l->runs[i].len);
}
