/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READS (TS_X86_READ | TS_X86_IF_READ)

/* Bits of eflags that have a name in questions. */
static const struct {
	const char *name;
	uint8_t bit;
} flags[] = { { "CF", 0 }, { "PF", 2 }, { "AF", 4 }, { "ZF", 6 }, { "SF", 7 }, { "DF", 10 }, { "OF", 11 } };

/* ---------------------------------------------------------------------------------------------- names */

/* Parts of general registers, by the first letters of the 64-bit name. */
static bool is_part(const struct ts_what *place, const char *name, size_t len, const struct ts_regset *set)
{
	struct ts_what what;

	return ts_what_register(&what, name, len, set) && what.off == place->off && what.len == place->len &&
	       what.is_flag == place->is_flag && what.bit == place->bit;
}

static bool name_part(const struct ts_what *place, const struct ts_regset *set, char *text, size_t size)
{
	static const char *const names[] = {
		"eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp", "ax",  "bx",  "cx", "dx", "si", "di",
		"bp",  "sp",  "al",  "bl",  "cl",  "dl",  "sil", "dil", "bpl", "spl", "ah", "bh", "ch", "dh",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (is_part(place, names[i], strlen(names[i]), set))
			return snprintf(text, size, "$%s", names[i]) > 0;
	}
	for (unsigned i = 8; i < 16; i++) {
		for (const char *z = "dwb"; *z; z++) {
			char name[8];

			snprintf(name, sizeof(name), "r%u%c", i, *z);
			if (is_part(place, name, strlen(name), set))
				return snprintf(text, size, "$%s", name) > 0;
		}
	}
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (is_part(place, flags[i].name, 2, set))
			return snprintf(text, size, "$%s", flags[i].name) > 0;
	}
	return false;
}

void ts_place_text(const struct ts_what *place, const struct ts_regset *set, char *text, size_t size)
{
	if (place->kind == TS_WHAT_MEM) {
		snprintf(text, size, "0x%" PRIx64 ",%" PRIu64, place->addr, place->last - place->addr + 1);
		return;
	}
	for (unsigned i = 0; i < set->n_regs && !place->is_flag; i++) {
		if (set->regs[i].off == place->off && set->regs[i].len == place->len) {
			snprintf(text, size, "$%s", set->regs[i].name);
			return;
		}
	}
	if (name_part(place, set, text, size))
		return;
	for (unsigned i = 0; i < set->n_regs; i++) {
		if (place->off >= set->regs[i].off && place->off < set->regs[i].off + set->regs[i].len)
			snprintf(text, size, "$%s", set->regs[i].name);
	}
}

/* --------------------------------------------------------------------------------------------- inputs */

static void add(struct ts_inputs *in, struct ts_what place, uint64_t constant)
{
	for (unsigned i = 0; i < in->n; i++) {
		const struct ts_what *x = &in->items[i].place;

		if (x->kind != TS_WHAT_NONE && x->kind == place.kind && x->off == place.off &&
		    x->len == place.len && x->addr == place.addr && x->last == place.last &&
		    x->bit == place.bit)
			return;
	}
	if (in->n < TS_MAX_INPUTS)
		in->items[in->n++] = (struct ts_input){ place, constant, constant != UINT64_MAX, false };
}

static void add_reg(struct ts_inputs *in, uint32_t off, uint32_t len)
{
	add(in, (struct ts_what){ .kind = TS_WHAT_REG, .off = off, .len = len }, 0);
}

static void add_mem(struct ts_inputs *in, uint64_t addr, uint64_t len)
{
	if (len)
		add(in, (struct ts_what){ .kind = TS_WHAT_MEM, .addr = addr, .last = addr + (len - 1) }, 0);
}

static void add_flags(struct ts_inputs *in, const struct ts_regset *set, uint32_t bits)
{
	const struct ts_reg *r = set->flags < 0 ? NULL : &set->regs[set->flags];

	for (size_t i = 0; r && i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct ts_what what;

		if (bits == UINT32_C(1) << flags[i].bit && ts_what_register(&what, flags[i].name, 2, set)) {
			add(in, what, 0);
			return;
		}
	}
	if (r && bits)
		add_reg(in, r->off, r->len);
}

/* What of the recording's own reads is an input, where operands are not known. */
static void add_reads(struct ts_inputs *in, const struct ts_steps *b, const struct ts_step *st)
{
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			return;
		if (e->is_hidden || (e->kind == TS_FX_READ && e->addr <= st->pc && st->pc - e->addr < e->len))
			continue; /* the instruction itself */
		if (e->kind == TS_FX_READ)
			add_mem(in, e->addr, e->len);
		else if (e->kind == TS_FX_REG_READ)
			add_reg(in, (uint32_t)e->addr, (uint32_t)e->len);
	}
	in->is_known = in->n;
}

/* ------------------------------------------------------------------------------------------------ x86 */

#define MAX_READS 4u

/* A read that the recording shows. */
struct read {
	uint64_t addr, len;
};

/* A step of an x86 processor. */
struct step {
	const struct ts_regset *set;
	const struct ts_decoded *d;
	const uint8_t *g;            /* where it has memory operands: registers before it, and which bytes are known */
	struct read reads[MAX_READS]; /* at virtual addresses */
	unsigned n_reads;
	const struct ts_what *place; /* what it wrote */
};

static bool knows(const struct step *s, uint16_t off, unsigned len)
{
	return off != TS_X86_NO_REG && !memchr(s->g + s->set->g_len + off, 0, len);
}

/* The address of an operand.  Returns false if a register that it is made of is not known. */
static bool find_address(const struct step *s, const struct ts_x86_mem *m, uint64_t *addr)
{
	const struct ts_x86 *x = &s->d->x86;
	unsigned len = x->is_64 ? 8 : 4;
	uint16_t segment = m->segment == TS_X86_FS ? x->fs_base : x->gs_base;

	if ((m->base != TS_X86_NO_REG && !knows(s, m->base, len)) ||
	    (m->index != TS_X86_NO_REG && !knows(s, m->index, len)) ||
	    (m->place == TS_X86_BIT && !knows(s, m->bit, m->bit_len)) ||
	    (m->place == TS_X86_TABLE && !knows(s, x->gprs[0], 1)) ||
	    (m->segment != TS_X86_FLAT && !knows(s, segment, len)))
		return false;
	*addr = ts_x86_mem_addr(&s->d->insn, m, x, s->g);
	if (m->segment != TS_X86_FLAT)
		*addr += ts_x86_value(x, s->g, segment);
	return true;
}

/*
 * Memory that an operand reads: where the registers say, else where the recording says, else it is unknown
 * where.
 */
static void add_operand(struct ts_inputs *in, const struct step *s, const struct ts_x86_mem *m)
{
	uint64_t addr;

	if (find_address(s, m, &addr)) {
		add_mem(in, addr, m->size);
		return;
	}
	for (unsigned i = 0; i < s->n_reads; i++) {
		if (s->reads[i].len == m->size) {
			add_mem(in, s->reads[i].addr, m->size);
			return;
		}
	}
	add(in, (struct ts_what){ .kind = TS_WHAT_NONE }, UINT64_MAX);
	in->items[in->n - 1].is_unknown = true;
}

static bool overlaps(const struct ts_what *place, uint32_t off, uint32_t len)
{
	return place->kind == TS_WHAT_REG && off < place->off + place->len && place->off < off + len;
}

/* Is the register an input: read, and not only for an address? */
static bool is_data(const struct step *s, uint32_t off, uint32_t len, bool is_lea)
{
	for (unsigned i = 0; i < s->d->fields.n; i++) {
		const struct ts_x86_field *f = &s->d->fields.fields[i];

		if (f->off < off + len && off < (uint32_t)f->off + f->len && f->access & READS)
			return is_lea || !(f->access & TS_X86_ADDRESS);
	}
	return false;
}

/* One operand of the text: a register, an immediate, or memory (@mem counts those). */
static void take_operand(struct ts_inputs *in, const struct step *s, const char *text, size_t len,
			 unsigned *mem, bool has_immediates)
{
	struct ts_what what;
	char *end;
	uint64_t value;

	if (memchr(text, '[', len)) {
		while (*mem < s->d->insn.n_mem && !s->d->insn.mem[*mem].access)
			++*mem;
		if (*mem < s->d->insn.n_mem && s->d->insn.mem[*mem].access & READS)
			add_operand(in, s, &s->d->insn.mem[*mem]);
		++*mem;
		return;
	}
	value = strtoull(text, &end, 0);
	if (end != text && (size_t)(end - text) == len) {
		if (has_immediates)
			add(in, (struct ts_what){ .kind = TS_WHAT_NONE }, value);
	} else if (ts_what_register(&what, text, len, s->set) && is_data(s, what.off, what.len, false)) {
		add(in, what, 0);
	}
}

static bool is_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(text, word, len) && (text[len] == ' ' || !text[len]);
}

/* Numbers of general registers, in the processor's order. */
enum gpr { RCX = 1, RSP = 4, RBP = 5, RSI = 6, RDI = 7 };

static bool is_place(const struct step *s, enum gpr gpr)
{
	return overlaps(s->place, s->d->x86.gprs[gpr], 1);
}

/* Does it move the stack pointer on its way?  Not "pop rsp", which loads it. */
static bool is_stack_insn(const char *text)
{
	static const char *const words[] = { "push",   "pop",   "call",   "ret",
					     "pushfq", "popfq", "pushfd", "popfd" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (is_word(text, words[i]))
			return strcmp(text, "pop rsp") && strcmp(text, "pop esp");
	}
	return false;
}

/* A string instruction, which has no operands in its text, unlike those on vectors. */
static bool is_string_insn(const char *text)
{
	static const char *const words[] = { "movs", "stos", "lods", "cmps", "scas", "ins", "outs" };
	const char *last = strrchr(text, ' ');

	text = !strncmp(text, "rep", 3) && last ? last + 1 : text;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i]);

		if (!strncmp(text, words[i], len) && text[len] && strchr("bwdq", text[len]) && !text[len + 1])
			return true;
	}
	return false;
}

/*
 * A pointer that an instruction moves on, or a count, is made of itself, whatever else the instruction
 * carries: *gpr gets what the place is made of.
 */
static bool is_moved(const struct step *s, const char *text, enum gpr *gpr)
{
	static const enum gpr of_strings[] = { RCX, RSI, RDI };

	*gpr = is_word(text, "leave") ? RBP : RSP;
	if (is_place(s, RSP))
		return *gpr == RBP || is_stack_insn(text);
	for (size_t i = 0; i < 3 && is_string_insn(text); i++) {
		*gpr = of_strings[i];
		if (is_place(s, *gpr))
			return true;
	}
	return false;
}

/* Pointers, and how often a string instruction is still repeated, are no inputs of what an instruction carries. */
static bool is_aside(const struct step *s, const char *text, uint32_t off)
{
	bool is_leave = is_word(text, "leave");

	return (off == s->d->x86.gprs[RSP] && (is_leave || is_stack_insn(text))) ||
	       (off == s->d->x86.gprs[RBP] && is_leave) ||
	       (off == s->d->x86.gprs[RCX] && s->d->insn.count_len && is_string_insn(text));
}

/* Operands that the text does not show: registers, memory. */
static void take_implicit(struct ts_inputs *in, const struct step *s, bool is_lea, unsigned mem)
{
	for (unsigned i = mem; i < s->d->insn.n_mem; i++) {
		if (s->d->insn.mem[i].access & READS)
			add_operand(in, s, &s->d->insn.mem[i]);
	}
	for (unsigned i = 0; i < s->d->fields.n; i++) {
		const struct ts_x86_field *f = &s->d->fields.fields[i];
		bool is_there = false;

		if (!(f->access & READS) || (f->access & TS_X86_ADDRESS && !is_lea) ||
		    is_aside(s, in->text, f->off))
			continue;
		for (unsigned k = 0; k < in->n; k++)
			is_there |= overlaps(&in->items[k].place, f->off, f->len);
		if (!is_there)
			add_reg(in, f->off, f->len);
	}
}

/* What xchg writes to one operand is the other one. */
static void drop_own(struct ts_inputs *in, const struct step *s)
{
	if (in->n != 2 || s->place->kind == TS_WHAT_NONE)
		return;
	for (unsigned i = 0; i < 2; i++) {
		const struct ts_what *x = &in->items[i].place;
		bool is_own = x->kind == TS_WHAT_MEM && s->place->kind == TS_WHAT_MEM
				      ? x->addr <= s->place->last && s->place->addr <= x->last
				      : x->kind == TS_WHAT_REG && overlaps(s->place, x->off, x->len);

		if (is_own) {
			in->items[0] = in->items[1 - i];
			in->n = 1;
			return;
		}
	}
}

static void take_all(struct ts_inputs *in, const struct step *s)
{
	const char *p = strchr(in->text, ' ');
	bool is_lea = is_word(in->text, "lea"),
	     is_jump = s->d->insn.flow != TS_X86_NEXT && s->d->insn.flow != TS_X86_REPEAT;
	unsigned mem = 0;

	while (p && *p) {
		size_t len;

		p += strspn(p, " ,");
		len = strcspn(p, ",");
		if (len)
			take_operand(in, s, p, len, &mem, !is_jump && !is_lea);
		p += len;
	}
	take_implicit(in, s, is_lea, mem);
	if (is_word(in->text, "xchg"))
		drop_own(in, s);
}

static void take_operands(struct ts_inputs *in, const struct step *s)
{
	uint32_t bits = s->d->fields.flags_read & ~UINT32_C(0x3302); /* those that systems use left out */
	enum gpr gpr;

	if (!is_moved(s, in->text, &gpr))
		take_all(in, s);
	else
		add_reg(in, s->d->x86.gprs[gpr], s->d->x86.is_64 ? 8 : 4);
	if (!is_place(s, RCX) || !is_string_insn(in->text))
		add_flags(in, s->set, bits);
	if (!in->n) /* xor eax, eax; a return address */
		add(in, (struct ts_what){ .kind = TS_WHAT_NONE }, UINT64_MAX);
	in->is_known = true;
}

/* The recording says what was read. */
static bool find_reads(struct ts_inputs *in, struct ts_query *q, uint64_t pos, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(q, pos, &b, err);

	if (st)
		add_reads(in, b, st);
	return st != NULL;
}

/* What the recording says was read, besides the instruction. */
static bool list_reads(struct step *s, struct ts_query *q, uint64_t pos, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(q, pos, &b, err);

	for (uint32_t i = 0; st && i < st->n_effects && s->n_reads < MAX_READS; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD || ts_query_facts(q)->is_physical)
			break;
		if (e->kind == TS_FX_READ && !e->is_hidden && st->pc - e->addr >= e->len)
			s->reads[s->n_reads++] = (struct read){ e->addr, e->len };
	}
	return st != NULL;
}

/* Do addresses of the instruction's operands depend on registers? */
static bool needs_registers(const struct ts_x86_insn *insn)
{
	for (unsigned i = 0; i < insn->n_mem; i++) {
		const struct ts_x86_mem *m = &insn->mem[i];

		if (m->base != TS_X86_NO_REG || m->index != TS_X86_NO_REG || m->segment != TS_X86_FLAT ||
		    m->place != TS_X86_PLAIN)
			return true;
	}
	return false;
}

bool ts_inputs_find(struct ts_inputs *in, struct ts_query *q, uint64_t pos, const struct ts_what *place,
		    struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(q);
	struct step s = { .set = set, .place = place };
	struct ts_decoded *d;
	uint8_t *g;
	bool done;

	*in = (struct ts_inputs){ 0 };
	if (!ts_query_is_x86(q))
		return find_reads(in, q, pos, err);
	d = ts_query_insn(q, pos, err);
	if (!d || !*ts_decoded_text(d))
		return d != NULL;
	s.d = d;
	memcpy(in->text, d->text, sizeof(in->text));
	in->code_len = d->insn.len;
	memcpy(in->code, d->bytes, d->insn.len);
	g = malloc(2 * (size_t)set->g_len);
	if (!g)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the registers");
	done = !needs_registers(&d->insn) || (ts_query_regs(q, pos, ts_query_thread(q, pos), g, g + set->g_len, err) &&
				  list_reads(&s, q, pos, err));
	s.g = g;
	in->is_syscall = !ts_query_facts(q)->is_physical &&
			 (is_word(in->text, "syscall") || is_word(in->text, "sysenter") ||
			  !strcmp(in->text, "int 0x80"));
	if (done)
		take_operands(in, &s);
	free(g);
	return done;
}
