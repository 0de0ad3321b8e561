/* SPDX-License-Identifier: MIT */
#include "typed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/symbols/symbols.h"
#include "src/arch/dwarf_regs.h"
#include "src/base/bytes.h"
#include "src/query/paging.h"

/* The bytes that are read of a longer value: an answer shows no more. */
#define MAX_VALUE 65u

/* The size of an argument on the stack is a multiple of a word. */
#define ROUND(n, word) (((n) + (word) - 1) / (word) * (word))

/* A value, as far as it is known. */
struct value {
	uint8_t data[MAX_VALUE], known[MAX_VALUE];
	bool has_place; /* else nothing is known of it */
};

/* Where the next argument is. */
struct passing {
	const struct ts_abi *abi;
	struct ts_ask *ask;
	uint64_t pos, sp;
	uint32_t thread;
	bool has_sp, is_lost; /* is_lost: where the arguments that follow are is not known */
	unsigned n_regs, n_vectors;
	uint64_t n_stack; /* bytes */
};

static size_t shown_len(const struct ts_value_type *t)
{
	return t->size < MAX_VALUE ? t->size : MAX_VALUE;
}

static void take_register(const struct passing *p, int reg, size_t at, size_t len, struct value *v)
{
	const struct ts_regset *set = ts_query_regset(p->ask->q);
	const struct ts_reg *r = reg < 0 ? NULL : &set->regs[reg];
	size_t from;

	if (!r)
		return;
	len = len < r->len ? len : r->len;
	from = r->off + (set->arch->is_big_endian ? r->len - len : 0); /* the low bytes */
	memcpy(v->data + at, p->abi->data + from, len);
	memcpy(v->known + at, p->abi->known + from, len);
}

/* The register with DWARF's number @number; -1 if it is not among those that were read. */
static int dwarf_register(const struct passing *p, unsigned number)
{
	const struct ts_regset *set = ts_query_regset(p->ask->q);
	int reg = ts_regset_by_dwarf(set, number);

	return reg >= 0 && set->regs[reg].off + set->regs[reg].len <= p->abi->len_typed ? reg : -1;
}

static bool take_memory(const struct passing *p, uint64_t addr, size_t len, struct value *v, struct ts_error *err)
{
	v->has_place = true;
	return ts_virtual_mem(p->ask->q, p->pos, ts_query_process(p->ask->q, p->thread),
			      addr & ts_arch_addr_mask(ts_query_regset(p->ask->q)->arch), len, v->data, v->known, err);
}

static bool take_stack(struct passing *p, const struct ts_value_type *t, struct value *v, struct ts_error *err)
{
	unsigned word = ts_query_regset(p->ask->q)->arch->addr_bits / 8;
	uint64_t addr;

	if (t->classes[0] == TS_CLASS_X87 && word == 8)
		p->n_stack = ROUND(p->n_stack, 16);
	addr = p->sp + (p->abi->is_before ? 0 : word) + p->n_stack; /* above the return address */
	p->n_stack += ROUND((uint64_t)t->size, word);
	return !p->has_sp || take_memory(p, addr, shown_len(t), v, err);
}

/* In registers, if all of it fits into those that are left. */
static bool take_registers(struct passing *p, const struct ts_value_type *t, struct value *v)
{
	unsigned n_regs = 0, n_vectors = 0;

	for (unsigned i = 0; i < 2; i++) {
		n_regs += t->classes[i] == TS_CLASS_INTEGER;
		n_vectors += t->classes[i] == TS_CLASS_SSE;
	}
	if (t->classes[0] == TS_CLASS_MEMORY || t->classes[0] == TS_CLASS_X87 || p->n_regs + n_regs > p->abi->n_regs ||
	    p->n_vectors + n_vectors > TS_MAX_VECTORS)
		return false;
	v->has_place = true;
	for (unsigned i = 0; i < 2 && 8 * i < t->size; i++) {
		size_t len = t->size - 8 * i < 8 ? t->size - 8 * i : 8;

		if (t->classes[i] == TS_CLASS_INTEGER)
			take_register(p, p->abi->regs[p->n_regs++], 8 * i, len, v);
		else if (t->classes[i] == TS_CLASS_SSE)
			take_register(p, p->abi->vectors[p->n_vectors++], 8 * i, i ? len : t->size < 16 ? t->size : 16, v);
	}
	return true;
}

/* The next argument, of type @t. */
static bool take_next(struct passing *p, const struct ts_value_type *t, struct value *v, struct ts_error *err)
{
	const struct ts_arch *arch = ts_query_regset(p->ask->q)->arch;
	unsigned word = arch->addr_bits / 8;

	p->is_lost |= t->form == TS_FORM_UNKNOWN || (t->is_by_reference && !p->abi->is_sysv64);
	if (p->is_lost)
		return true;
	if (p->abi->is_sysv64)
		return take_registers(p, t, v) || take_stack(p, t, v, err);
	if (!p->abi->n_regs && p->abi->n_words)
		return take_stack(p, t, v, err);
	if (p->abi->is_arm64 && t->form == TS_FORM_FLOAT && t->size <= 8 && p->n_vectors < TS_MAX_VECTORS) {
		v->has_place = true;
		take_register(p, p->abi->vectors[p->n_vectors++], 0, t->size, v);
		return true;
	}
	if (t->form != TS_FORM_NUMBER || t->size > word || p->n_regs == p->abi->n_regs) {
		p->is_lost = true;
		return true;
	}
	v->has_place = true;
	take_register(p, p->abi->regs[p->n_regs++], 0, t->size, v);
	return true;
}

/* The registers that the debugging information names. */
static bool take_named(const struct passing *p, const struct ts_parameter *x, const struct ts_value_type *t, struct value *v)
{
	size_t at = 0, len = t->size;

	for (unsigned i = 0; i < x->n_pieces && x->pieces[i].len; i++)
		at += x->pieces[i].len;
	if (!x->n_pieces || t->size > (at ? sizeof(v->data) : 16) || (at && at != t->size))
		return false;
	v->has_place = true;
	at = 0;
	for (unsigned i = 0; i < x->n_pieces; i++, at += len) {
		len = x->pieces[i].len ? x->pieces[i].len : t->size;
		take_register(p, dwarf_register(p, (unsigned)x->pieces[i].reg), at, len, v);
	}
	return true;
}

/* -------------------------------------------------------------------------------------------------- texts */

/* x87's format: 64 bits with the one before the point, 15 of the exponent, the sign. */
static double extended(const uint8_t *data)
{
	uint64_t digits = ts_number(data, 8, false), exponent = ts_number(data + 8, 2, false);
	char text[40];
	double x;

	snprintf(text, sizeof(text), "0x%" PRIx64 "p%d", digits, (int)(exponent & 0x7fff) - 16383 - 63);
	x = strtod(text, NULL);
	if ((exponent & 0x7fff) == 0x7fff)
		x = digits << 1 ? (double)NAN : (double)INFINITY;
	return exponent >> 15 ? -x : x;
}

static double float_of(const uint8_t *data, uint32_t size, bool is_big)
{
	uint64_t bits = size > 8 ? 0 : ts_number(data, size, is_big);
	uint32_t low = (uint32_t)bits;
	float f;
	double d;

	if (size > 8)
		return extended(data);
	memcpy(&f, &low, sizeof(f));
	memcpy(&d, &bits, sizeof(d));
	return size == 4 ? (double)f : d;
}

/* The shortest text that reads as the same value; it has a point, an exponent or letters. */
static void put_float(struct ts_buf *out, double x, bool is_single)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, x);
		if (is_single ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x)
			break;
	}
	ts_buf_puts(out, text);
	if (!strpbrk(text, ".en"))
		ts_buf_puts(out, ".0");
}

static bool put(const struct passing *p, const struct ts_value_type *t, const struct value *v, bool is_for_people,
		struct ts_buf *out, struct ts_error *err)
{
	const struct ts_arch *arch = ts_query_regset(p->ask->q)->arch;
	size_t len = shown_len(t), read = t->form == TS_FORM_FLOAT && len > 8 && p->abi->st0 >= 0 ? 10 : len;
	bool is_whole = v->has_place && !memchr(v->known, 0, read);

	if (t->form == TS_FORM_NUMBER && len <= 8 && is_whole)
		return ts_abi_put_value(out, p->ask, p->pos, p->thread, ts_arch_get(arch, v->data, len), true, is_for_people, err);
	if (t->form == TS_FORM_FLOAT && is_whole && (t->size <= 8 || p->abi->st0 >= 0))
		put_float(out, float_of(v->data, t->size, arch->is_big_endian), t->size == 4);
	else if (v->has_place && memchr(v->known, 1, len))
		ts_put_value(out, v->data, v->known, len, false, arch->is_big_endian);
	if (t->is_text && is_whole && !ts_abi_put_text(out, p->ask, p->pos, p->thread, ts_arch_get(arch, v->data, 8),
						       ts_arch_get(arch, v->data + 8, 8), is_for_people, err))
		return false;
	ts_buf_putc(out, 0);
	return true;
}

/* ------------------------------------------------------------------------------------------------- the call */

static bool read_registers(struct passing *p, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(p->ask->q);
	const struct ts_reg *sp = set->sp < 0 ? NULL : &set->regs[set->sp];

	if (!ts_query_first_regs(p->ask->q, p->pos, p->thread, p->abi->len_typed, p->abi->data, p->abi->known, err))
		return false;
	p->has_sp = sp && sp->len <= 8 && !memchr(p->abi->known + sp->off, 0, sp->len);
	if (p->has_sp)
		p->sp = ts_arch_get(set->arch, p->abi->data + sp->off, sp->len);
	return true;
}

/* Does the caller pass the address at which the result is to be written? */
static bool has_result_address(const struct ts_abi *abi, const struct ts_value_type *t)
{
	if (t->form == TS_FORM_NONE)
		return false;
	if (abi->is_sysv64)
		return t->classes[0] == TS_CLASS_MEMORY || t->is_by_reference;
	return t->form == TS_FORM_BYTES && !abi->is_arm64; /* AArch64 has a register of its own for it */
}

bool ts_typed_arguments(const struct ts_abi *abi, struct ts_ask *ask, const struct ts_prototype *f, bool is_clone,
			uint64_t pos, uint32_t thread, bool is_for_people, struct ts_buf *out, unsigned *n,
			struct ts_error *err)
{
	struct passing p = { .abi = abi, .ask = ask, .pos = pos, .thread = thread };

	if (!read_registers(&p, err))
		return false;
	p.is_lost = f->is_foreign || is_clone || f->is_changed || (f->result.form == TS_FORM_UNKNOWN && f->result.size <= 16);
	if (has_result_address(abi, &f->result)) {
		p.n_regs = abi->n_regs ? 1 : 0;
		p.n_stack = abi->n_regs ? 0 : ts_query_regset(ask->q)->arch->addr_bits / 8;
		p.is_lost |= !abi->is_sysv64 && abi->n_regs;
	}
	for (unsigned i = 0; i < f->n; i++) {
		static const struct ts_value_type address = { .form = TS_FORM_NUMBER, .size = 8, .classes = { TS_CLASS_INTEGER } };
		const struct ts_parameter *x = &f->parameters[i];
		const struct ts_value_type *t = x->type.is_by_reference ? &address : &x->type;
		struct value v = { .has_place = false };

		if (!take_next(&p, t, &v, err))
			return false;
		if (!v.has_place)
			take_named(&p, x, t, &v);
		if (is_for_people && x->name)
			ts_buf_printf(out, "%.40s=", x->name);
		if (is_for_people && x->name && !v.has_place)
			ts_buf_puts(out, "?");
		if (!put(&p, t, &v, is_for_people, out, err))
			return false;
	}
	*n = f->n;
	return true;
}

/* A result in the registers of System V: each of its halves in the next one of the half's class. */
static void take_halves(const struct passing *p, const struct ts_value_type *t, struct value *v)
{
	const struct ts_abi *abi = p->abi;
	unsigned n_regs = 0, n_vectors = 0;

	v->has_place = true;
	for (unsigned i = 0; i < 2 && 8 * i < t->size; i++) {
		size_t len = t->size - 8 * i < 8 ? t->size - 8 * i : 8;

		if (t->classes[i] == TS_CLASS_INTEGER)
			take_register(p, n_regs++ ? abi->result2 : abi->result, 8 * i, len, v);
		else if (t->classes[i] == TS_CLASS_SSE)
			take_register(p, abi->vectors[n_vectors++], 8 * i, i ? len : t->size < 16 ? t->size : 16, v);
	}
}

/* A result in memory whose address is in register @reg. */
static bool take_pointed(const struct passing *p, const struct ts_reg *reg, const struct ts_value_type *t, struct value *v,
			 struct ts_error *err)
{
	const struct ts_abi *abi = p->abi;

	return !reg || memchr(abi->known + reg->off, 0, reg->len) ||
	       take_memory(p, ts_arch_get(ts_query_regset(p->ask->q)->arch, abi->data + reg->off, reg->len), shown_len(t), v, err);
}

/* The result, of type @t. */
static bool take_result(const struct passing *p, const struct ts_value_type *t, struct value *v, struct ts_error *err)
{
	const struct ts_abi *abi = p->abi;
	const struct ts_reg *reg = abi->result < 0 ? NULL : &ts_query_regset(p->ask->q)->regs[abi->result];

	if (t->form == TS_FORM_NUMBER && reg && t->size <= reg->len) {
		v->has_place = true;
		take_register(p, abi->result, 0, t->size, v);
	} else if (abi->is_sysv64 && has_result_address(abi, t)) {
		return take_pointed(p, reg, t, v, err);
	} else if (t->classes[0] == TS_CLASS_X87 && abi->st0 >= 0) {
		v->has_place = true;
		take_register(p, abi->st0, 0, 10, v);
	} else if (abi->is_sysv64) {
		take_halves(p, t, v);
	}
	return true;
}

/* How the result is held: i386 has all floating-point numbers in a register of x87. */
static const struct ts_value_type *result_type(const struct ts_abi *abi, const struct ts_prototype *f)
{
	static const struct ts_value_type x87 = { .form = TS_FORM_FLOAT, .size = 16, .classes = { TS_CLASS_X87 } };
	bool is_i386 = !abi->is_sysv64 && !abi->n_regs && abi->st0 >= 0;

	return is_i386 && f->result.form == TS_FORM_FLOAT ? &x87 : &f->result;
}

/* A result whose registers the prototype lists. */
static void take_placed(const struct passing *p, const struct ts_placed_result *r, struct value *v)
{
	v->has_place = r->type.form != TS_FORM_UNKNOWN;
	for (unsigned i = 0; i < r->n_pieces; i++) {
		const struct ts_result_piece *x = &r->pieces[i];

		if (x->off <= sizeof(v->data) && x->len <= sizeof(v->data) - x->off)
			take_register(p, dwarf_register(p, x->reg), x->off, x->len, v);
	}
}

/* Results of another language's convention: one as any value, several as a list of values. */
static bool put_placed(const struct passing *p, const struct ts_prototype *f, bool is_for_people, struct ts_buf *out, struct ts_error *err)
{
	for (unsigned i = 0; i < f->n_results; i++) {
		const struct ts_placed_result *r = &f->results[i];
		struct value v = { .has_place = false };
		size_t begin = out->len;
		const uint8_t *aside;

		take_placed(p, r, &v);
		if (!put(p, &r->type, &v, is_for_people, out, err))
			return false;
		if (f->n_results == 1 || !ts_buf_ok(out))
			return true;
		aside = memchr(out->data + begin, TS_ROW_ASIDE, out->len - begin);
		out->len = aside ? (size_t)(aside - out->data) : out->len - 1;
		ts_buf_puts(out, out->len == begin && (r->type.size || !v.has_place) ? "??" : "");
		ts_buf_puts(out, i + 1 < f->n_results ? ", " : "");
	}
	ts_buf_putc(out, 0);
	return true;
}

bool ts_typed_result(const struct ts_abi *abi, struct ts_ask *ask, const struct ts_prototype *f, bool is_clone,
		     uint64_t pos, uint32_t thread, bool is_for_people, struct ts_buf *out, struct ts_error *err)
{
	struct passing p = { .abi = abi, .ask = ask, .pos = pos, .thread = thread };
	const struct ts_value_type *t = result_type(abi, f);
	struct value v = { .has_place = false };

	is_clone |= f->is_changed;
	if (!is_clone && f->results)
		return read_registers(&p, err) && put_placed(&p, f, is_for_people, out, err);
	if (t->form == TS_FORM_NONE || t->form == TS_FORM_UNKNOWN || is_clone || f->is_foreign) {
		ts_buf_putc(out, 0);
		return true;
	}
	return read_registers(&p, err) && take_result(&p, t, &v, err) && put(&p, t, &v, is_for_people, out, err);
}

bool ts_typed_is_clone(const struct ts_ask *ask, uint64_t target)
{
	static const char *const suffixes[] = { ".isra.", ".constprop.", ".part." };
	const struct ts_symbol *s = ts_symbols_function_at(ask->symbols, target);

	for (size_t i = 0; s && i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (strstr(s->mangled, suffixes[i]))
			return true;
	}
	return false;
}
