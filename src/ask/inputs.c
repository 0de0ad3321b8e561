/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/query/paging.h"

#define READS (TS_X86_READ | TS_X86_IF_READ)

/* Bits of eflags that have a name in questions. */
static const struct {
	const char *name;
	uint8_t bit;
} flags[] = { { "CF", 0 }, { "PF", 2 }, { "AF", 4 }, { "ZF", 6 }, { "SF", 7 }, { "DF", 10 }, { "OF", 11 } };

bool ts_inputs_has_operands(const struct ts_query *q)
{
	const char *name = ts_query_regset(q)->arch->name;

	return !strcmp(name, "x86_64") || !strcmp(name, "i386");
}

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

/* The stack pointer is no input of what goes to and from the stack. */
static bool is_stack_only(const struct step *s, const char *text, uint32_t off)
{
	static const char *const words[] = { "push",   "pop",   "call",   "ret",
					     "pushfq", "popfq", "pushfd", "popfd" };
	uint32_t sp = s->set->sp < 0 ? UINT32_MAX : s->set->regs[s->set->sp].off;

	if (off != sp || overlaps(s->place, sp, 1))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (is_word(text, words[i]))
			return true;
	}
	return false;
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
		    is_stack_only(s, in->text, f->off))
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

static void take_operands(struct ts_inputs *in, const struct step *s)
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
	add_flags(in, s->set, s->d->fields.flags_read & ~UINT32_C(0x3302)); /* those that systems use left out */
	if (!in->n)                                                      /* xor eax, eax; a return address */
		add(in, (struct ts_what){ .kind = TS_WHAT_NONE }, UINT64_MAX);
	in->is_known = true;
}

bool ts_inputs_begin(struct ts_inputs_from *from, struct ts_query *q)
{
	*from = (struct ts_inputs_from){ .q = q };
	if (!ts_inputs_has_operands(q))
		return true;
	ts_x86_init(&from->x86, ts_query_regset(q));
	from->decoded = calloc(TS_N_DECODED, sizeof(*from->decoded));
	return from->decoded != NULL;
}

void ts_inputs_end(struct ts_inputs_from *from)
{
	free(from->decoded);
}

/* The later of two chunks, of which TS_NO_CHUNK is none. */
static uint64_t later(uint64_t a, uint64_t b)
{
	if (a == TS_NO_CHUNK || b == TS_NO_CHUNK)
		return a == TS_NO_CHUNK ? b : a;
	return a > b ? a : b;
}

/*
 * The last chunk up to @chunk in which one of @len bytes at @addr may have become another one; TS_NO_CHUNK if
 * there is none.
 */
static uint64_t last_change(const struct ts_query *q, uint32_t process, uint64_t addr, unsigned len,
			    uint64_t chunk)
{
	uint64_t last = addr > UINT64_MAX - len ? UINT64_MAX : addr + len - 1;

	return later(ts_query_prev_access(q, TS_ACCESS_CHANGE, process, addr, last, chunk),
		     ts_query_prev_access(q, TS_ACCESS_REPLACE, process, addr, last, chunk));
}

/* The first chunk >= @first from which on a machine's mode is the same to the end of @chunk; chunk + 1: none. */
static uint64_t first_of_mode(const struct ts_query *q, uint64_t first, uint64_t chunk)
{
	uint64_t end = (chunk + 1) * TS_CHUNK_STEPS;

	if (first <= chunk && ts_query_next_mode(q, first * TS_CHUNK_STEPS) < end)
		first = ts_query_next_mode(q, chunk * TS_CHUNK_STEPS) < end ? chunk + 1 : chunk;
	return first;
}

/*
 * From which chunk on the bytes at @pc are, to the end of @pos's chunk, what they are at @pos.  *first gets that,
 * or the chunk after that of @pos where nothing tells.  Of a machine the page tables and the mode must be the
 * same, too.
 *
 * Returns false if the trace cannot be read.
 */
static bool find_first_chunk(struct ts_query *q, uint32_t process, uint64_t pc, uint64_t pos, uint64_t *first,
			     struct ts_error *err)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS, changed;
	struct ts_translation t;

	if (!ts_query_mode(q, pos)) {
		changed = last_change(q, process, pc, TS_X86_MAX_INSN, chunk);
		*first = changed == TS_NO_CHUNK ? 0 : changed + 1;
		return true;
	}
	*first = chunk + 1;
	if (!ts_translate_at(q, pos, process, pc, &t, err))
		return false;
	if (t.mapping != TS_MAPPED || (pc & (t.page_len - 1)) > t.page_len - TS_X86_MAX_INSN)
		return true;
	changed = last_change(q, process, t.phys, TS_X86_MAX_INSN, chunk);
	for (unsigned i = 0; i < t.n_entries; i++)
		changed = later(changed, last_change(q, process, t.entries[i].addr, t.entry_len, chunk));
	*first = first_of_mode(q, changed == TS_NO_CHUNK ? 0 : changed + 1, chunk);
	return true;
}

/* The bytes at the instruction in memory of position @at, as far as they are known, in the mode of step @pos. */
static bool decode(struct ts_decoded *d, const struct ts_inputs_from *from, uint64_t pos, uint64_t at,
		   struct ts_error *err)
{
	const struct ts_mode *mode = ts_query_mode(from->q, pos);
	enum ts_code_size size = mode ? ts_mode_code_size(mode) : TS_CODE_UNKNOWN;
	uint8_t known[TS_X86_MAX_INSN];

	if (!ts_virtual_mem(from->q, at, d->process, d->pc, sizeof(d->bytes), d->bytes, known, err))
		return false;
	for (d->len = 0; d->len < sizeof(known) && known[d->len];)
		d->len++;
	d->x86 = from->x86;
	if (size != TS_CODE_UNKNOWN)
		d->x86.is_64 = size == TS_CODE_64;
	d->is_insn = size != TS_CODE_16 && ts_x86_decode(&d->x86, d->pc, d->bytes, d->len, &d->insn) &&
		     ts_x86_registers(&d->x86, d->bytes, d->len, &d->fields);
	*d->text = 0;
	return true;
}

static struct ts_decoded *find_room(const struct ts_inputs_from *from, uint64_t pc)
{
	return &from->decoded[(pc ^ pc >> 10) % TS_N_DECODED];
}

/*
 * The instruction of step @pos; d->is_insn is false if there is none, or one of 16-bit code.  What was
 * decoded before is used again where its bytes cannot have changed.  Memory at the beginning of a chunk is read without replaying steps of it.
 *
 * Returns NULL if the trace cannot be read.
 */
static struct ts_decoded *find_insn(const struct ts_inputs_from *from, uint64_t pos, struct ts_error *err)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS, first;
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(from->q, pos, &b, err);
	struct ts_decoded *d;
	uint32_t process;

	if (!st)
		return NULL;
	d = find_room(from, st->pc);
	process = ts_query_process(from->q, st->thread);
	if (d->pc == st->pc && d->process == process && chunk >= d->first_chunk && chunk < d->end_chunk)
		return d;
	d->pc = st->pc;
	d->process = process;
	d->first_chunk = d->end_chunk = 0;
	if (!find_first_chunk(from->q, process, d->pc, pos, &first, err) ||
	    !decode(d, from, pos, first <= chunk ? chunk * TS_CHUNK_STEPS : pos, err))
		return NULL;
	d->first_chunk = first;
	d->end_chunk = chunk + 1;
	return d;
}

/* The text of the instruction, "" if there is none. */
static const char *text_of(struct ts_decoded *d)
{
	if (!*d->text &&
	    (!d->is_insn || !ts_x86_text(&d->x86, d->pc, d->bytes, d->len, d->text, sizeof(d->text))))
		*d->text = 0;
	return d->text;
}

static void take_facts(struct ts_inputs *in, const struct ts_decoded *d)
{
	in->is_branch = d->insn.flow == TS_X86_BRANCH;
	in->flags_written = d->fields.flags_written;
}

bool ts_inputs_glance(struct ts_inputs *in, const struct ts_inputs_from *from, uint64_t pos,
		      struct ts_error *err)
{
	const struct ts_decoded *d = find_insn(from, pos, err);

	*in = (struct ts_inputs){ 0 };
	if (d && d->is_insn)
		take_facts(in, d);
	return d != NULL;
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

bool ts_inputs_find(struct ts_inputs *in, const struct ts_inputs_from *from, uint64_t pos,
		    const struct ts_what *place, struct ts_error *err)
{
	struct ts_query *q = from->q;
	const struct ts_regset *set = ts_query_regset(q);
	struct step s = { .set = set, .place = place };
	struct ts_decoded *d;
	uint8_t *g;
	bool done;

	*in = (struct ts_inputs){ 0 };
	if (!ts_inputs_has_operands(q))
		return find_reads(in, q, pos, err);
	d = find_insn(from, pos, err);
	if (!d || !*text_of(d))
		return d != NULL;
	s.d = d;
	memcpy(in->text, d->text, sizeof(in->text));
	g = malloc(2 * (size_t)set->g_len);
	if (!g)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the registers");
	done = !d->insn.n_mem || (ts_query_regs(q, pos, ts_query_thread(q, pos), g, g + set->g_len, err) &&
				  list_reads(&s, q, pos, err));
	s.g = g;
	in->is_syscall = !ts_query_facts(q)->is_physical &&
			 (is_word(in->text, "syscall") || is_word(in->text, "sysenter") ||
			  !strcmp(in->text, "int 0x80"));
	if (done) {
		take_facts(in, d);
		take_operands(in, &s);
	}
	free(g);
	return done;
}
