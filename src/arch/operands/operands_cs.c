/* SPDX-License-Identifier: MIT */
#include "operands_cs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- the library */

static bool open_handle(csh *handle, cs_arch arch, cs_mode mode)
{
	if (cs_open(arch, mode, handle) != CS_ERR_OK)
		return false;
	return cs_option(*handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK;
}

void ts_cs_free(struct ts_capstone *cs)
{
	if (!cs)
		return;
	if (cs->insn)
		cs_free(cs->insn, 1);
	if (cs->other)
		cs_free(cs->other, 1);
	if (cs->handle)
		cs_close(&cs->handle);
	if (cs->thumb)
		cs_close(&cs->thumb);
	free(cs);
}

bool ts_cs_init(struct ts_decoder *d, cs_arch arch, cs_mode mode, bool has_thumb,
		bool (*find)(const struct ts_regset *set, const char *name, struct ts_cs_reg *reg), __typeof__(d->decode) decode)
{
	struct ts_capstone *cs = calloc(1, sizeof(*cs));

	if (!cs)
		return false;
	if (!open_handle(&cs->handle, arch, mode) ||
	    (has_thumb && !open_handle(&cs->thumb, arch, (cs_mode)((unsigned)mode | CS_MODE_THUMB))) ||
	    !(cs->insn = cs_malloc(cs->handle)) || !(cs->other = cs_malloc(cs->handle))) {
		ts_cs_free(cs);
		return false;
	}
	for (unsigned i = 0; i < TS_CS_MAX_REGS; i++) {
		const char *name = i ? cs_reg_name(cs->handle, i) : NULL;

		cs->regs[i] = (struct ts_cs_reg){ .off = TS_NO_OFF16 };
		if (i && !name)
			break; /* capstone looks beyond its table otherwise */
		if (i)
			find(d->set, name, &cs->regs[i]);
	}
	d->cs = cs;
	d->decode = decode;
	d->text = ts_cs_text;
	return true;
}

/* Decode one instruction of T32 whose text and meaning do not matter. */
static void pass(struct ts_capstone *cs, unsigned halfword)
{
	const uint8_t code[2] = { (uint8_t)halfword, (uint8_t)(halfword >> 8) };
	const uint8_t *at = code;
	size_t len = sizeof(code);
	uint64_t pc = 0;

	cs_disasm_iter(cs->thumb, &at, &len, &pc, cs->other);
}

#define IT        0xbf00u /* and a condition, and a mask that is not 0 */
#define THUMB_NOP 0xbf00u

/* The library keeps the block of an IT instruction between calls: it is made anew for each instruction. */
static const cs_insn *decode_thumb(struct ts_capstone *cs, unsigned it, uint64_t pc, const uint8_t *bytes, size_t len)
{
	bool is_it = len > 1 && bytes[1] == IT >> 8 && bytes[0] & 15, is_insn;

	if (it)
		pass(cs, IT | (it - 1) << 4 | 8);
	is_insn = cs_disasm_iter(cs->thumb, &bytes, &len, &pc, cs->insn);
	for (unsigned i = 0; i < 4 && (is_it || it); i++)
		pass(cs, THUMB_NOP);
	return is_insn ? cs->insn : NULL;
}

/* The instruction is borrowed from the decoder until the next call; NULL if the bytes are not an instruction. */
static const cs_insn *decode(const struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len)
{
	struct ts_capstone *cs = d->cs;

	if (mode.is_thumb && cs->thumb)
		return decode_thumb(cs, mode.it, pc, bytes, len);
	return cs_disasm_iter(cs->handle, &bytes, &len, &pc, cs->insn) ? cs->insn : NULL;
}

bool ts_cs_begin(struct ts_cs_work *w, const struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes,
		 size_t len, struct ts_operands *ops)
{
	*w = (struct ts_cs_work){ .d = d, .cs = d->cs, .ops = ops, .insn = decode(d, mode, pc, bytes, len) };
	if (!w->insn)
		return false;
	ops->len = (uint8_t)w->insn->size;
	return true;
}

bool ts_cs_text(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len,
		char *buf, size_t size)
{
	const cs_insn *insn = decode(d, mode, pc, bytes, len);
	int n = insn ? snprintf(buf, size, "%s%s%s", insn->mnemonic, *insn->op_str ? " " : "", insn->op_str) : -1;

	return n >= 0 && (size_t)n < size;
}

/* ---------------------------------------------------------------------------------------------- registers */

struct ts_cs_reg ts_cs_reg(const struct ts_cs_work *w, unsigned reg)
{
	return reg < TS_CS_MAX_REGS ? w->cs->regs[reg] : (struct ts_cs_reg){ .off = TS_NO_OFF16 };
}

bool ts_cs_place(const struct ts_regset *set, const char *name, unsigned len, struct ts_cs_reg *reg)
{
	int i = ts_regset_find(set, name);

	if (i < 0)
		return false;
	reg->is_zero = false;
	reg->whole = (uint8_t)set->regs[i].len;
	reg->len = (uint8_t)(len < reg->whole ? len : reg->whole);
	reg->off = (uint16_t)(set->regs[i].off + (set->arch->is_big_endian ? reg->whole - reg->len : 0));
	return true;
}

struct ts_op_place ts_cs_part(const struct ts_cs_work *w, const struct ts_cs_reg *r, unsigned at, unsigned len)
{
	bool is_big = w->d->set->arch->is_big_endian;

	if (!r->len)
		return ts_op_nowhere();
	return ts_op_reg((uint16_t)(is_big ? r->off + r->len - at - len : r->off + at), len);
}

struct ts_transfer *ts_cs_add(struct ts_cs_work *w, struct ts_op_place to, struct ts_op_place from, enum ts_way way)
{
	struct ts_transfer *t = ts_operands_add(w->ops, to, from, way);

	t->order = (uint8_t)w->order;
	t->unit = way == TS_WAY_LANES;
	t->is_conditional = w->is_conditional;
	return t;
}

void ts_cs_mix(struct ts_cs_work *w, struct ts_op_place to, const struct ts_cs_reg *from)
{
	if (from->is_zero)
		ts_cs_add(w, to, ts_op_nowhere(), TS_WAY_CONSTANT);
	else if (from->len)
		ts_cs_add(w, to, ts_cs_part(w, from, 0, from->len), TS_WAY_MIX);
	else
		ts_cs_add(w, to, ts_op_nowhere(), TS_WAY_UNKNOWN);
}

void ts_cs_clear_above(struct ts_cs_work *w, const struct ts_cs_reg *to)
{
	bool is_big = w->d->set->arch->is_big_endian;
	unsigned n = to->whole - to->len;

	if (to->len && to->whole > to->len)
		ts_cs_add(w, ts_op_reg((uint16_t)(is_big ? to->off - n : (unsigned)to->off + to->len), n),
			  ts_op_nowhere(), TS_WAY_ZERO);
}

void ts_cs_copy(struct ts_cs_work *w, const struct ts_cs_reg *to, const struct ts_cs_reg *from, unsigned n)
{
	if (!to->len)
		return;
	if (from->is_zero) {
		ts_cs_constant(w, to, 0);
		return;
	}
	n = n < to->len ? n : to->len;
	if (!from->len)
		ts_cs_add(w, ts_cs_part(w, to, 0, n), ts_op_nowhere(), TS_WAY_UNKNOWN);
	else
		ts_cs_add(w, ts_cs_part(w, to, 0, n), ts_cs_part(w, from, 0, n < from->len ? n : from->len), TS_WAY_COPY);
	if (n < to->len)
		ts_cs_add(w, ts_cs_part(w, to, n, to->len - n), ts_op_nowhere(), TS_WAY_ZERO);
	ts_cs_clear_above(w, to);
}

void ts_cs_constant(struct ts_cs_work *w, const struct ts_cs_reg *to, uint64_t value)
{
	if (!to->len)
		return;
	ts_cs_add(w, ts_cs_part(w, to, 0, to->len), ts_op_nowhere(), TS_WAY_PART)->constant = value;
	ts_cs_clear_above(w, to);
}

void ts_cs_call(struct ts_cs_work *w, uint64_t target)
{
	w->ops->flow = TS_OP_CALL;
	w->ops->has_target = true;
	w->ops->target = target & ts_arch_addr_mask(w->d->set->arch);
}

/* ---------------------------------------------------------------------------------------------- memory */

unsigned ts_cs_add_mem(struct ts_cs_work *w, const struct ts_cs_reg *base, int64_t disp, unsigned size)
{
	w->ops->mem[w->ops->n_mem] = (struct ts_op_mem){ .disp = disp,
							 .base = base->len ? base->off : TS_NO_OFF16,
							 .base_len = base->len,
							 .index = TS_NO_OFF16,
							 .segment = TS_NO_OFF16,
							 .extra = TS_NO_OFF16,
							 .size = (uint16_t)size,
							 .scale = 1 };
	return w->ops->n_mem++;
}

struct ts_op_place ts_cs_mem(unsigned mem, unsigned off, unsigned len)
{
	return (struct ts_op_place){
		.kind = TS_AT_MEM, .mem = (uint8_t)mem, .off = (uint16_t)off, .len = (uint16_t)len
	};
}

void ts_cs_load(struct ts_cs_work *w, const struct ts_cs_reg *to, unsigned mem, unsigned off, unsigned n,
		bool is_signed)
{
	bool is_big = w->d->set->arch->is_big_endian;

	if (!to->len)
		return;
	n = n < to->len ? n : to->len;
	ts_cs_add(w, ts_cs_part(w, to, 0, n), ts_cs_mem(mem, off, n), TS_WAY_COPY);
	if (n < to->len && is_signed)
		ts_cs_add(w, ts_cs_part(w, to, n, to->len - n), ts_cs_mem(mem, off + (is_big ? 0 : n - 1), 1), TS_WAY_MIX);
	else if (n < to->len)
		ts_cs_add(w, ts_cs_part(w, to, n, to->len - n), ts_op_nowhere(), TS_WAY_ZERO);
	ts_cs_clear_above(w, to);
}

void ts_cs_store(struct ts_cs_work *w, unsigned mem, unsigned off, const struct ts_cs_reg *from, unsigned n)
{
	struct ts_op_place to = ts_cs_mem(mem, off, n);

	if (from->is_zero)
		ts_cs_add(w, to, ts_op_nowhere(), TS_WAY_CONSTANT);
	else if (from->len >= n)
		ts_cs_add(w, to, ts_cs_part(w, from, 0, n), TS_WAY_COPY);
	else
		ts_cs_add(w, to, ts_op_nowhere(), TS_WAY_UNKNOWN);
}

/* ---------------------------------------------------------------------------------------------- mnemonics */

bool ts_cs_begins(const struct ts_cs_work *w, const char *word)
{
	return !strncmp(w->insn->mnemonic, word, strlen(word));
}

bool ts_cs_is(const struct ts_cs_work *w, const char *word)
{
	return !strcmp(w->insn->mnemonic, word);
}

bool ts_cs_is_one_of(const struct ts_cs_work *w, const char *words)
{
	size_t len = strlen(w->insn->mnemonic);

	for (const char *at = words; (at = strstr(at, w->insn->mnemonic)); at += len) {
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	}
	return false;
}
