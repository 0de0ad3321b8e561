/* SPDX-License-Identifier: MIT */
/* ARM: loads and stores of elements and structures, vld1 to vld4 and vst1 to vst4 (DDI 0406, A7.7). */
#include "operands_cs.h"

struct elements {
	unsigned n_regs; /* of the list */
	unsigned size;   /* bytes of an element */
	unsigned n;      /* elements of a structure: vldN */
	int lane;        /* the only one that takes part; -1: all */
	bool is_one;     /* one structure; lane -1: all lanes are loaded with it */
	bool is_load;
};

static bool find_elements(const struct ts_cs_work *w, bool is_thumb, unsigned n_regs, struct elements *e)
{
	const uint8_t *b = w->insn->bytes; /* T32: the halves are the other way round */
	unsigned low = is_thumb ? b[2] | (unsigned)b[3] << 8 : b[0] | (unsigned)b[1] << 8;
	bool is_one = (is_thumb ? b[0] : b[2]) & 0x80;
	unsigned size = low >> (is_one ? 10 : 6) & 3;

	e->is_load = w->insn->mnemonic[1] == 'l';
	e->n = (unsigned)w->insn->mnemonic[3] - '0';
	e->n_regs = n_regs;
	e->is_one = is_one;
	e->lane = is_one && size < 3 ? (int)((low >> 5 & 7) >> size) : -1;
	if (is_one && size == 3) /* all lanes; 3 are 4 bytes that are aligned */
		size = (low >> 6 & 3) == 3 ? 2 : low >> 6 & 3;
	e->size = 1u << size;
	return e->n >= 1 && e->n <= 4 && e->n_regs >= e->n && e->n_regs <= 4;
}

/* Bytes [@off, @off + @size) of register @reg of the list lie @at bytes in memory. */
static void carry_element(struct ts_cs_work *w, bool is_load, unsigned mem, unsigned reg, unsigned off, unsigned at, unsigned size)
{
	struct ts_cs_reg r = ts_cs_reg(w, (unsigned)w->insn->detail->arm.operands[reg].reg);
	struct ts_op_place in = ts_cs_part(w, &r, off, size), out = ts_cs_mem(mem, at, size);

	if (r.len == 8)
		ts_cs_add(w, is_load ? in : out, is_load ? out : in, TS_WAY_COPY);
	else if (!is_load)
		ts_cs_add(w, out, ts_op_nowhere(), TS_WAY_UNKNOWN);
}

/* One structure: each register has an element of it, but vld1 of all lanes the same one. */
static void carry_structure(struct ts_cs_work *w, unsigned mem, const struct elements *e)
{
	for (unsigned i = 0; i < e->n_regs; i++) {
		for (unsigned lane = 0; lane < 8 / e->size; lane++) {
			w->order = e->is_load ? e->n_regs : i;
			if (e->lane < 0 || e->lane == (int)lane)
				carry_element(w, e->is_load, mem, i, lane * e->size, e->n == 1 ? 0 : i * e->size, e->size);
		}
	}
}

/* As many structures as fill the registers; vld2 of four registers: the first and the third have pairs, then the others. */
static void carry_structures(struct ts_cs_work *w, unsigned mem, const struct elements *e)
{
	unsigned size = e->n == 1 ? 8 : e->size, groups = e->n_regs / e->n;

	for (unsigned i = 0; i < e->n_regs; i++) {
		for (unsigned lane = 0; lane < 8 / size; lane++) {
			unsigned structure = i % groups * (8 / size) + lane;

			w->order = e->is_load ? e->n_regs : i;
			carry_element(w, e->is_load, mem, i, lane * size, (structure * e->n + i / groups) * size, size);
		}
	}
}

void ts_operands_arm_elements(struct ts_cs_work *w, bool is_thumb, unsigned memory)
{
	struct ts_cs_reg base = ts_cs_reg(w, w->insn->detail->arm.operands[memory].mem.base);
	struct elements e;
	unsigned mem;

	if (!find_elements(w, is_thumb, memory, &e)) {
		w->ops->is_complete = false;
		return;
	}
	mem = ts_cs_add_mem(w, &base, 0, e.is_one ? e.size * e.n : 8 * e.n_regs);
	w->ops->reads_unnamed = e.is_load; /* no register of the list may be in the layout */
	if (e.is_one)
		carry_structure(w, mem, &e);
	else
		carry_structures(w, mem, &e);
}
