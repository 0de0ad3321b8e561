/* SPDX-License-Identifier: MIT */
/*
 * regs.h for QEMU 7.2, whose plugin API gives no registers.
 *
 * Two patterns are written to a register with the function of QEMU's gdb stub, and searched for in the
 * processor's object: the only offset that holds first the one and then the other is that of the register,
 * which is read there from then on.  A register without an offset of its own is read with the stub's function
 * each time.
 */
#include "regs.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/usercorn/op_write.h"
#include "qemu7.h"

#define CODES 0xe0000000u /* bits that every register of condition codes has */

struct reg {
	uint32_t off; /* in the processor's object; of those with a place */
	uint16_t num;
	uint16_t num_wide; /* of the register with its upper half; 0: none */
	int16_t gdb;
	uint8_t len, how, group;
	bool has_place;
	bool is_in_run;
	uint16_t at; /* of its last value in places, if it is in a run */
};

static struct reg regs[TS_MAX_REGS];
static unsigned n_regs;

/* Their ordinals, by group; without those in runs. */
static struct {
	unsigned n;
	uint8_t of[TS_MAX_REGS];
} grouped[TS_N_GROUPS];

/* Registers of TS_GENERAL that lie side by side: they are compared most often, several at once. */
static struct run {
	uint32_t off, at, len; /* in the object; in places; bytes */
	uint8_t width;         /* of each */
	uint16_t nums[TS_MAX_REGS];
} runs[TS_MAX_REGS];
static unsigned n_runs;

/*
 * A register that is read with the stub's function, if one of the words that it is computed from has changed.
 */
static struct sourced {
	uint8_t reg;
	uint8_t n;
	uint32_t off[TS_MAX_SOURCES];
} sourced[TS_MAX_SOURCED];
static unsigned n_sourced;

static const struct ts_guest *guest;
static uint32_t env_off;           /* of QEMU's env in the object, where it is needed */
static uint32_t block_off, block_len;
static unsigned n_in_block; /* the first of the vector registers */

/* -------------------------------------------------------------------------------- finding */

static bool is_host_order(void)
{
	return !guest->is_big_endian;
}

/* The bytes of a word in the order of the target and of this machine. */
static void swap_order(uint8_t *bytes, unsigned len)
{
	for (unsigned i = 0; i < len / 2 && !is_host_order(); i++) {
		uint8_t byte = bytes[i];

		bytes[i] = bytes[len - 1 - i];
		bytes[len - 1 - i] = byte;
	}
}

static void make_pattern(uint8_t *bytes, unsigned len, unsigned which, unsigned n)
{
	for (unsigned i = 0; i < len; i++)
		bytes[i] = (uint8_t)(0x15 + 29 * i + 71 * which + 13 * n);
	if (len >= 8 && which)
		bytes[7] = bytes[0] ^ 0x2a;
}

typedef void writer(void *cpu, int gdb, uint8_t *bytes);

static void write_register(void *cpu, int gdb, uint8_t *bytes)
{
	ts_qemu.write_register(cpu, bytes, gdb);
}

static void write_fpu(void *cpu, int gdb, uint8_t *bytes)
{
	ts_qemu.fpu_write((uint8_t *)cpu + env_off, bytes, gdb);
}

static unsigned read_any(void *cpu, const struct reg *r, uint8_t *bytes)
{
	if (r->how == TS_BY_FPU || r->how == TS_BY_FPU_CALL)
		return ts_qemu_fpu_read((uint8_t *)cpu + env_off, r->gdb, bytes, TS_MAX_REG_LEN);
	return ts_qemu_read(cpu, r->gdb, bytes, TS_MAX_REG_LEN);
}

static const uint8_t *called(void *cpu, const struct reg *r, uint8_t *bytes)
{
	unsigned n = read_any(cpu, r, bytes);

	swap_order(bytes, n);
	return bytes;
}

/* Offsets in the object that hold @want; those of @found that still do, if it is the second time. */
static unsigned look_for(const uint8_t *object, size_t size, const uint8_t *want, unsigned len,
			 uint32_t *found, unsigned n_found, bool is_first)
{
	unsigned n = 0;

	if (is_first) {
		for (size_t off = 0; off + len <= size && n < 16; off += 4) {
			if (memcmp(object + off, want, len) == 0)
				found[n++] = (uint32_t)off;
		}
		return n;
	}
	for (unsigned i = 0; i < n_found; i++) {
		if (memcmp(object + found[i], want, len) == 0)
			found[n++] = found[i];
	}
	return n;
}

/*
 * Write two patterns, look where they appear, put the value back.  Returns whether there is exactly one
 * place.
 */
static bool find_place(void *cpu, struct reg *r, writer *write)
{
	uint8_t old[TS_MAX_REG_LEN] = { 0 }, pattern[TS_MAX_REG_LEN], host[TS_MAX_REG_LEN];
	size_t size = malloc_usable_size(cpu);
	uint32_t found[16];
	unsigned n = 0;

	if (read_any(cpu, r, old) != r->len)
		return false;
	for (unsigned which = 0; which < 2; which++) {
		make_pattern(pattern, r->len, which, (unsigned)r->gdb);
		memcpy(host, pattern, r->len);
		if (r->len <= 8)
			swap_order(host, r->len);
		write(cpu, r->gdb, pattern);
		n = look_for(cpu, size, host, r->len, found, n, !which);
	}
	write(cpu, r->gdb, old);
	r->off = found[0];
	r->has_place = n == 1;
	return r->has_place;
}

/* ------------------------------------------------------------- registers that only a dump shows */

/* The first number of 16 hexadecimal digits after @name in @text. */
static bool dumped_value(const char *text, const char *name, uint64_t *value)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *at = strstr(text, name);
	size_t n;

	for (at = at ? at + strlen(name) : ""; *at; at += n ? n : 1) {
		n = strspn(at, digits);
		if (n == 16) {
			*value = strtoull(at, NULL, 16);
			return true;
		}
	}
	return false;
}

static bool dump_has(void *cpu, const char *name, uint64_t want)
{
	static char text[65536];
	FILE *f = fmemopen(text, sizeof(text) - 1, "w");
	uint64_t value = 0;
	bool is_there;

	if (!f)
		return false;
	ts_qemu.dump_state(cpu, f, QEMU_DUMP_FPU);
	fputc(0, f);
	(void)fclose(f);
	is_there = dumped_value(text, name, &value) && value == want;
	return is_there;
}

/* Does the dump follow what is written at @off? */
static bool is_dumped_at(void *cpu, uint32_t off, const char *name)
{
	/*
	 * the bytes in the middle stay 0: one is ARM's "is 64-bit code", with which the dump would end QEMU
	 */
	static const uint64_t patterns[] = { 0x3ff1230000890abc, 0x4005fe0000987654 };
	uint8_t *at = (uint8_t *)cpu + off;
	uint64_t old;
	bool is_there = true;

	memcpy(&old, at, 8);
	for (unsigned i = 0; i < 2 && is_there; i++) {
		memcpy(at, &patterns[i], 8);
		is_there = dump_has(cpu, name, patterns[i]);
	}
	memcpy(at, &old, 8);
	return is_there;
}

/* A pointer must not be changed while the dump looks around. */
static bool may_be_pointer(uint64_t word)
{
	return word >> 40 && !(word >> 48);
}

/* The first register is looked for in the object; the others follow at one of the usual distances. */
static bool find_dumped(void *cpu, const struct ts_reg_range *range, uint32_t *first, uint32_t *stride)
{
	static const uint32_t strides[] = { 8, 16, 32 };
	char zero[16], one[16], last[16];
	size_t size = malloc_usable_size(cpu);
	uint64_t word;

	snprintf(zero, sizeof(zero), range->dumped, 0);
	snprintf(one, sizeof(one), range->dumped, 1);
	snprintf(last, sizeof(last), range->dumped, range->n - 1u);
	for (uint32_t off = 0; off + 8 <= size; off += 8) {
		memcpy(&word, (uint8_t *)cpu + off, 8);
		if (may_be_pointer(word) || !is_dumped_at(cpu, off, zero))
			continue;
		for (unsigned i = 0; i < 3; i++) {
			uint32_t end = off + strides[i] * (range->n - 1u);

			if (end + 8 <= size && is_dumped_at(cpu, off + strides[i], one) &&
			    is_dumped_at(cpu, end, last)) {
				*first = off;
				*stride = strides[i];
				return true;
			}
		}
	}
	return false;
}

/* -------------------------------------------------------------------------------- x86 */

/* QEMU keeps the condition codes apart from the other flags. */
static uint32_t x86_flags(const uint8_t *cpu)
{
	const uint8_t *env = cpu + env_off;
	unsigned n = guest->word == 8 ? 16 : 8;
	uint32_t flags;
	int32_t op, df;

	memcpy(&flags, env + (n + 1) * guest->word, 4);
	memcpy(&op, env + (n + 5) * guest->word, 4);
	memcpy(&df, env + (n + 5) * guest->word + 4, 4);
	return flags | ts_qemu.cc_compute_all((void *)(uintptr_t)env, op) | ((uint32_t)df & 0x400);
}

/*
 * Compare x86_flags() with a dump: with what is there, and with every combination of codes that is put there.
 */
static bool are_flags_right(uint8_t *cpu)
{
	static char text[16384];
	uint8_t *src = cpu + env_off + ((guest->word == 8 ? 16u : 8u) + 3) * guest->word, old[8];
	bool is_right = true;

	memcpy(old, src, guest->word);
	for (unsigned try = 0; try < 8 && is_right; try++) {
		uint64_t codes = try & 1 ? 0x8d5 : 0x40 << (try / 2);
		FILE *f = fmemopen(text, sizeof(text) - 1, "w");
		const char *at;

		if (!f)
			return false;
		memcpy(src, &codes, guest->word);
		ts_qemu.dump_state(cpu, f, 0);
		fputc(0, f);
		(void)fclose(f);
		at = strstr(text, guest->word == 8 ? "RFL=" : "EFL=");
		is_right = at && strtoul(at + 4, NULL, 16) == x86_flags(cpu);
	}
	memcpy(src, old, guest->word);
	return is_right;
}

/*
 * The env begins with the general registers, of which the first is number 0 of the stub, and eip follows
 * them.
 */
static bool find_x86_env(void *cpu)
{
	struct reg ip = { .gdb = guest->word == 8 ? 16 : 8, .len = guest->word };
	struct reg flags = { .gdb = (int16_t)(ip.gdb + 1), .len = 4 };
	unsigned n = guest->word == 8 ? 16 : 8;

	env_off = regs[0].off;
	return regs[0].has_place && find_place(cpu, &ip, write_register) &&
	       ip.off == env_off + n * guest->word && find_place(cpu, &flags, write_register) &&
	       flags.off == env_off + (n + 1) * guest->word && are_flags_right(cpu);
}

/* -------------------------------------------------------------------------------- all registers */

static bool find_one(void *cpu, struct reg *r)
{
	uint8_t bytes[TS_MAX_REG_LEN];

	switch ((enum ts_how)r->how) {
	case TS_BY_SEARCH:
	case TS_BY_XMM:
		return find_place(cpu, r, write_register);
	case TS_BY_FPU:
		return find_place(cpu, r, write_fpu);
	case TS_BY_CALL:
	case TS_BY_X87:
	case TS_BY_FPU_CALL:
		return read_any(cpu, r, bytes) == r->len ||
		       (r->how == TS_BY_CALL && read_any(cpu, r, bytes) == 8);
	case TS_BY_FLAGS:
		return find_x86_env(cpu);
	case TS_BY_DUMP:
		break; /* as a range */
	}
	return r->has_place;
}

/* Add the registers of @range.  Returns false if one of them cannot be found; none is then recorded. */
static bool add_range(void *cpu, const struct ts_reg_range *range)
{
	uint32_t first = 0, stride = 0;
	unsigned before = n_regs;

	if (range->how == TS_BY_DUMP && !find_dumped(cpu, range, &first, &stride))
		return false;
	for (unsigned i = 0; i < range->n && n_regs < TS_MAX_REGS; i++) {
		struct reg *r = &regs[n_regs];

		*r = (struct reg){ .num = (uint16_t)(range->num + i),
				   .gdb = (int16_t)(range->gdb + (int)i),
				   .len = range->len,
				   .how = range->how,
				   .group = range->group };
		r->off = first + stride * i;
		r->has_place = range->how == TS_BY_DUMP;
		if (!find_one(cpu, r)) {
			n_regs = before;
			return false;
		}
		if (range->how == TS_BY_XMM)
			r->num_wide = (uint16_t)(154 + i);
		n_regs++;
	}
	return true;
}

/* What is compared at once after an instruction: from the first to the last vector register with a place. */
static void find_block(size_t size)
{
	uint32_t lo = UINT32_MAX, hi = 0;

	for (unsigned i = 0; i < n_regs; i++) {
		const struct reg *r = &regs[i];
		uint32_t end = r->off + (r->how == TS_BY_XMM ? 32 : r->len);

		if (r->group != TS_VECTOR || !r->has_place)
			continue;
		lo = r->off < lo ? r->off : lo;
		hi = end > hi ? end : hi;
	}
	block_off = lo;
	block_len = hi > lo && hi <= size && hi - lo <= TS_MAX_BLOCK ? hi - lo : 0;
}

static bool is_sourced(unsigned i)
{
	for (unsigned k = 0; k < n_sourced; k++) {
		if (sourced[k].reg == i)
			return true;
	}
	return false;
}

static int by_place(const void *a, const void *b)
{
	const struct reg *x = &regs[*(const uint8_t *)a], *y = &regs[*(const uint8_t *)b];

	if (x->len != y->len)
		return x->len < y->len ? 1 : -1;
	return x->off < y->off ? -1 : x->off > y->off;
}

static void add_to_runs(struct reg *r, uint32_t *at)
{
	struct run *run = n_runs ? &runs[n_runs - 1] : NULL;

	if (!run || run->width != r->len || run->off + run->len != r->off) {
		run = &runs[n_runs++];
		*run = (struct run){ .off = r->off, .at = *at, .width = r->len };
	}
	run->nums[run->len / run->width] = r->num;
	run->len += r->len;
	r->is_in_run = true;
	r->at = (uint16_t)*at;
	*at += r->len;
}

static void sort_groups(void)
{
	uint8_t placed[TS_MAX_REGS];
	unsigned n_placed = 0;
	uint32_t at = 0;

	n_runs = 0;
	for (unsigned i = 0; i < n_regs; i++) {
		const struct reg *r = &regs[i];

		if (r->group == TS_GENERAL && r->has_place && (r->len == 8 || r->len == 4))
			placed[n_placed++] = (uint8_t)i;
		else if (!is_sourced(i))
			grouped[r->group].of[grouped[r->group].n++] = (uint8_t)i;
	}
	while (n_in_block < grouped[TS_VECTOR].n && regs[grouped[TS_VECTOR].of[n_in_block]].has_place)
		n_in_block++;
	/* cppcheck-suppress uninitvar; the first @n_placed are filled */
	qsort(placed, n_placed, 1, by_place);
	for (unsigned k = 0; k < n_placed; k++)
		add_to_runs(&regs[placed[k]], &at);
}

/* ------------------------------------------------------------- what registers are made from */

#define ARM_NUMBERS_LEN 512u

/* The bits of the register that follow the word at @off: of values that are put there. */
static uint32_t bits_of_source(void *cpu, const struct reg *r, uint32_t off, uint32_t now)
{
	static const uint32_t tries[] = { 0, UINT32_MAX, 1, 0x80000000 };
	uint8_t *at = (uint8_t *)cpu + off, bytes[TS_MAX_REG_LEN] = { 0 };
	uint32_t old, bits = 0;

	memcpy(&old, at, 4);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t value;

		memcpy(at, &tries[i], 4);
		called(cpu, r, bytes);
		memcpy(&value, bytes, 4);
		bits |= value ^ now;
	}
	memcpy(at, &old, 4);
	return bits;
}

/*
 * Other values may be put there without harm.  ARM: QEMU's env begins with the general registers, and the words after them
 * are numbers, also where two of them look like a pointer, as the Thumb bit does after pstate (target/arm/cpu.h).
 */
static bool is_number(uint64_t word, uint32_t off)
{
	return !may_be_pointer(word) || (guest->is_arm && regs[0].has_place && off - regs[0].off < ARM_NUMBERS_LEN);
}

/*
 * A condition register: its upper bits change all the time.  Returns false if not all of them are accounted
 * for.
 */
static bool find_sources(void *cpu, unsigned i, struct sourced *s)
{
	size_t size = malloc_usable_size(cpu) & ~(size_t)7;
	uint8_t bytes[TS_MAX_REG_LEN] = { 0 };
	uint32_t now, bits = 0;

	*s = (struct sourced){ .reg = (uint8_t)i };
	called(cpu, &regs[i], bytes);
	memcpy(&now, bytes, 4);
	for (uint32_t off = 0; off < size; off += 4) {
		uint32_t found;
		uint64_t word;

		memcpy(&word, (uint8_t *)cpu + (off & ~7u), 8);
		found = is_number(word, off) ? bits_of_source(cpu, &regs[i], off, now) : 0;
		if (found && s->n == TS_MAX_SOURCES)
			return false;
		if (found)
			s->off[s->n++] = off;
		bits |= found;
	}
	return (bits & CODES) == CODES;
}

/* x86's flags: from eflags to df, as x86_flags() reads them. */
static bool find_flag_sources(unsigned i, struct sourced *s)
{
	unsigned n = guest->word == 8 ? 16 : 8;

	*s = (struct sourced){ .reg = (uint8_t)i };
	for (uint32_t off = (n + 1) * guest->word; off < (n + 5) * guest->word + 8; off += 4)
		s->off[s->n++] = env_off + off;
	return true;
}

static void find_all_sources(void *cpu)
{
	n_sourced = 0;
	for (unsigned i = 0; i < n_regs && n_sourced < TS_MAX_SOURCED; i++) {
		const struct reg *r = &regs[i];
		bool is_one = false;

		if (r->how == TS_BY_FLAGS)
			is_one = find_flag_sources(i, &sourced[n_sourced]);
		else if (r->how == TS_BY_CALL && !guest->has_cc &&
			 (r->group == TS_GENERAL || r->group == TS_VECTOR))
			is_one = find_sources(cpu, i, &sourced[n_sourced]);
		n_sourced += is_one;
	}
}

const char *ts_regs_find(const struct ts_guest *g, void *cpu, char *missing, size_t n_missing)
{
	guest = g;
	n_regs = 0;
	*missing = '\0';
	for (size_t i = 0; i < g->n_ranges; i++) {
		const struct ts_reg_range *range = &g->ranges[i];

		if (!add_range(cpu, range)) {
			if (range->how == TS_BY_SEARCH && range->group == TS_GENERAL)
				return "the general registers are not where they can be found";
			ts_regs_name_missing(range, missing, n_missing);
		}
		if (i == 0 && g->has_fpu)
			env_off = regs[0].off - 64; /* AArch64: after 16 registers of 32 bits */
	}
	find_block(malloc_usable_size(cpu));
	find_all_sources(cpu);
	sort_groups();
	return NULL;
}

/* -------------------------------------------------------------------------------- reading */

static const uint8_t *top_of_stack(void *cpu, const struct reg *r, uint8_t *bytes)
{
	uint8_t status[TS_MAX_REG_LEN] = { 0 };
	int base = 0;

	for (unsigned i = 0; i < guest->n_ranges; i++) {
		if (guest->ranges[i].how == TS_BY_X87)
			base = guest->ranges[i].gdb;
	}
	ts_qemu_read(cpu, base + 9, status, sizeof(status));
	ts_qemu_read(cpu, base + ((r->gdb - base + (status[1] >> 3)) & 7), bytes, TS_MAX_REG_LEN);
	return bytes;
}

/* The value of @r in the order of this machine; in @bytes, or where it is. */
static const uint8_t *value_of(void *cpu, const struct reg *r, const struct ts_values *v, uint8_t *bytes)
{
	uint32_t word;

	if (r->has_place)
		return (const uint8_t *)cpu + r->off;
	switch ((enum ts_how)r->how) {
	case TS_BY_FLAGS:
		word = x86_flags(cpu);
		return memcpy(bytes, &word, 4);
	case TS_BY_X87:
		return top_of_stack(cpu, r, bytes);
	default:
		break;
	}
	called(cpu, r, bytes);
	if (guest->is_arm && r->num == TS_ARM_CPSR)
		ts_regs_put_it(v, bytes);
	return bytes;
}

/* Where the last value of register @i is. */
static uint8_t *last_of(struct ts_values *v, unsigned i)
{
	return regs[i].is_in_run ? v->places + regs[i].at : v->of[i];
}

static uint8_t *put_value(const struct reg *r, const uint8_t *now, bool is_high, uint8_t *p)
{
	uint64_t val = 0;

	if (r->len > 8)
		return ucir_put_spreg(p, is_high ? r->num_wide : r->num, now, is_high ? 32 : r->len);
	memcpy(&val, now, r->len);
	return ucir_put_reg(p, r->num, val);
}

static uint8_t *compare(void *cpu, unsigned i, struct ts_values *v, uint8_t *p, uint32_t *n_ops)
{
	const struct reg *r = &regs[i];
	unsigned len = r->num_wide ? 32 : r->len;
	uint8_t bytes[TS_MAX_REG_LEN];
	const uint8_t *now = value_of(cpu, r, v, bytes);
	bool is_high;

	if (memcmp(v->of[i], now, len) == 0)
		return p;
	is_high = r->num_wide && memcmp(v->of[i] + 16, now + 16, 16) != 0;
	memcpy(v->of[i], now, len);
	(*n_ops)++;
	return put_value(r, now, is_high, p);
}

/* Runs have registers of 8 or of 4 bytes. */
static inline uint64_t load(const uint8_t *at, unsigned width)
{
	uint64_t wide;
	uint32_t narrow;

	if (width == 8) {
		memcpy(&wide, at, 8);
		return wide;
	}
	memcpy(&narrow, at, 4);
	return narrow;
}

static inline uint8_t *put_changed(const struct run *run, unsigned width, uint32_t from, uint32_t n,
				   const uint8_t *now, uint8_t *last, uint8_t *p, uint32_t *n_ops)
{
	for (uint32_t i = from; i < from + n; i += width) {
		uint64_t val = load(now + i, width);

		if (val == load(last + i, width))
			continue;
		memcpy(last + i, now + i, width);
		p = ucir_put_reg(p, run->nums[i / width], val);
		++*n_ops;
	}
	return p;
}

#define PIECE 32u /* bytes that are compared at once */

static bool is_same_piece(const uint8_t *a, const uint8_t *b)
{
	uint64_t x[PIECE / 8], y[PIECE / 8];

	memcpy(x, a, PIECE);
	memcpy(y, b, PIECE);
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]));
}

static inline uint8_t *compare_run(const struct run *run, unsigned width, const uint8_t *now, uint8_t *last,
				   uint8_t *p, uint32_t *n_ops)
{
	uint32_t i = 0;

	for (; i + PIECE <= run->len; i += PIECE) {
		if (!is_same_piece(now + i, last + i))
			p = put_changed(run, width, i, PIECE, now, last, p, n_ops);
	}
	return put_changed(run, width, i, run->len - i, now, last, p, n_ops);
}

static uint8_t *compare_places(const uint8_t *cpu, struct ts_values *v, uint8_t *p, uint32_t *n_ops)
{
	for (unsigned k = 0; k < n_runs; k++) {
		const struct run *run = &runs[k];

		if (run->width == 8)
			p = compare_run(run, 8, cpu + run->off, v->places + run->at, p, n_ops);
		else
			p = compare_run(run, 4, cpu + run->off, v->places + run->at, p, n_ops);
	}
	return p;
}

/* Returns whether a word that the register is made from is another one, and takes them over. */
static bool take_sources(const uint8_t *cpu, const struct sourced *s, uint32_t *seen)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < s->n; i++) {
		uint32_t now;

		memcpy(&now, cpu + s->off[i], 4);
		bits |= now ^ seen[i];
		seen[i] = now;
	}
	return bits != 0;
}

static uint8_t *compare_sourced(void *cpu, struct ts_values *v, uint8_t *p, uint32_t *n_ops)
{
	bool is_it = v->told_it != v->it;

	v->told_it = v->it;
	for (unsigned k = 0; k < n_sourced; k++) {
		if (take_sources(cpu, &sourced[k], v->sources[k]) || is_it)
			p = compare(cpu, sourced[k].reg, v, p, n_ops);
	}
	return p;
}

/*
 * Vector registers with a place are examined one by one only if the block that holds them all is different.
 */
static uint8_t *compare_vectors(void *cpu, struct ts_values *v, uint8_t *p, uint32_t *n_ops)
{
	const uint8_t *block = (const uint8_t *)cpu + block_off;
	bool is_same = memcmp(v->block, block, block_len) == 0;

	for (unsigned k = is_same ? n_in_block : 0; k < grouped[TS_VECTOR].n; k++)
		p = compare(cpu, grouped[TS_VECTOR].of[k], v, p, n_ops);
	if (!is_same)
		memcpy(v->block, block, block_len);
	return p;
}

uint8_t *ts_regs_changes(void *cpu, struct ts_values *v, unsigned groups, uint8_t *p, uint32_t *n_ops)
{
	p = compare_places(cpu, v, p, n_ops);
	p = compare_sourced(cpu, v, p, n_ops);
	for (unsigned g = 0; g < TS_N_GROUPS; g++) {
		if (!(groups >> g & 1))
			continue;
		if (g == TS_VECTOR && block_len) {
			p = compare_vectors(cpu, v, p, n_ops);
			continue;
		}
		for (unsigned k = 0; k < grouped[g].n; k++)
			p = compare(cpu, grouped[g].of[k], v, p, n_ops);
	}
	return p;
}

uint8_t *ts_regs_all(void *cpu, struct ts_values *v, uint8_t *p, uint32_t *n_ops)
{
	for (unsigned i = 0; i < n_regs; i++) {
		uint8_t bytes[TS_MAX_REG_LEN] = { 0 };
		const uint8_t *now = value_of(cpu, &regs[i], v, bytes);

		memcpy(last_of(v, i), now, regs[i].num_wide ? 32 : regs[i].len);
		p = put_value(&regs[i], last_of(v, i), regs[i].num_wide != 0, p);
	}
	for (unsigned k = 0; k < n_sourced; k++)
		take_sources(cpu, &sourced[k], v->sources[k]);
	v->told_it = v->it;
	memcpy(v->block, (const uint8_t *)cpu + block_off, block_len);
	*n_ops += n_regs;
	return p;
}

uint64_t ts_regs_get(void *cpu, uint16_t num)
{
	uint64_t val = 0;

	for (unsigned i = 0; i < n_regs; i++) {
		if (regs[i].num == num && regs[i].has_place && regs[i].len <= 8)
			memcpy(&val, (const uint8_t *)cpu + regs[i].off, regs[i].len);
	}
	return val;
}

uint64_t ts_regs_last(const struct ts_values *v, uint16_t num)
{
	uint64_t val = 0;

	for (unsigned i = 0; i < n_regs; i++) {
		if (regs[i].num == num && regs[i].len <= 8)
			memcpy(&val, regs[i].is_in_run ? v->places + regs[i].at : v->of[i], regs[i].len);
	}
	return val;
}
