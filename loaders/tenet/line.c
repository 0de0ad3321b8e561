/* SPDX-License-Identifier: MIT */
/*
 * What one line of a Tenet log says, as effects.
 *
 *      line = item { "," item }
 *      item = REGISTER "=" HEX  |  ("mr" | "mw" | "mrw") "=" HEX ":" BYTES { ";" HEX ":" BYTES }
 *
 * HEX may begin with 0x and has any number of digits, BYTES are two digits each; all in either case.  Blanks
 * around items, and empty items, say nothing.  Damage is found item by item and counted by kind.
 */
#include "log.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/text/hex.h"

/* ------------------------------------------------------------------------------------------------ damage */

void tenet_damages_init(struct tenet_damages *d, struct ts_recording *rec)
{
	*d = (struct tenet_damages){ 0 };
	for (unsigned i = 0; i < TENET_N_DAMAGES; i++)
		ts_warner_init(&d->warners[i], rec);
}

void tenet_damaged(struct tenet_damages *d, enum tenet_damage kind, uint32_t part, uint64_t number,
		   uint64_t off)
{
	static const char *const texts[] = {
		[TENET_BAD_REGISTER] = "a register's value cannot be read: the register is unknown until it is listed again",
		[TENET_BAD_PC] = "the program counter cannot be read: the line is ignored as a position, its other items count for the next line",
		[TENET_BAD_MEMORY] = "an access cannot be read: it is ignored",
		[TENET_UNKNOWN_NAME] = "",
		[TENET_LOST_LINE] = "the line is damaged: it is ignored, all registers are unknown until they are listed again",
		[TENET_LONG_LINE] = "the line has more than 1 MiB: it is ignored, all registers are unknown until they are listed again",
		[TENET_OPEN_LINE] = "the last line has no line end: it is ignored",
		[TENET_OTHER_SPACE] = "the line is of another address space (asid): memory and registers of all are shown as one program's",
	};

	if (!d)
		return;
	if (!d->is_seen[kind]) {
		d->is_seen[kind] = true;
		d->first_line[kind] = number;
		d->first_off[kind] = off;
	}
	/* the files of a recording come one after the other */
	if (kind == TENET_UNKNOWN_NAME) {
		ts_warn_at(&d->warners[kind], (uint64_t)part << 48 | (off + 1),
			   "first in line %" PRIu64 ", offset 0x%" PRIx64 ": a name is unknown, '%s' the first: the item is ignored",
			   d->first_line[kind], d->first_off[kind], d->unknown);
		return;
	}
	ts_warn_at(&d->warners[kind], (uint64_t)part << 48 | (off + 1),
		   "first in line %" PRIu64 ", offset 0x%" PRIx64 ": %s", d->first_line[kind],
		   d->first_off[kind], texts[kind]);
}

/* ------------------------------------------------------------------------------------------------- names */

static void add_range(struct tenet_names *n, const struct ts_regset *set, const char *prefix, unsigned first,
		      unsigned last)
{
	char name[8];

	for (unsigned i = first; i <= last; i++) {
		snprintf(name, sizeof(name), "%s%u", prefix, i);
		regmap_add_alias(&n->map, set, name, name);
	}
}

static void add_names(struct tenet_names *n, const struct ts_regset *set, const char *const (*names)[2])
{
	for (; (*names)[0]; names++)
		regmap_add_alias(&n->map, set, (*names)[0], (*names)[1]);
}

static void add_x86(struct tenet_names *n, const struct ts_regset *set, char size)
{
	static const char *const names[] = { "ax", "bx", "cx", "dx", "bp", "sp", "si", "di" };
	char name[4];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), "%c%s", size, names[i]);
		regmap_add_alias(&n->map, set, name, name);
	}
}

/* The registers that show a system call: the number's, or rcx; and up to three that it changes. */
static void add_call(struct tenet_names *n, const struct ts_regset *set, const char *call,
		     const char *const results[3])
{
	n->results = 0;
	n->call_off = set->regs[ts_regset_find(set, call)].off;
	for (unsigned i = 0; i < 3 && results[i]; i++)
		n->results |= tenet_bit(n, set->regs[ts_regset_find(set, results[i])].off);
}

void tenet_names_init(struct tenet_names *n, const struct ts_regset *set)
{
	static const char *const arm64[][2] = {
		{ "fp", "x29" }, { "lr", "x30" }, { "sp", "sp" }, { "cpsr", "cpsr" }, { "pstate", "cpsr" }, { NULL, NULL }
	};
	static const char *const arm[][2] = { { "fp", "r11" }, { "ip", "r12" }, { "sp", "sp" }, { "r13", "sp" },
					      { "lr", "lr" }, { "r14", "lr" }, { "cpsr", "cpsr" }, { NULL, NULL } };
	const char *arch = set->arch->name;

	regmap_init(&n->map, NULL);
	n->arch = set->arch;
	n->sp_off = set->regs[set->sp].off;
	n->word = set->arch->addr_bits / 8;
	if (!strcmp(arch, "x86_64")) {
		add_x86(n, set, 'r');
		add_range(n, set, "r", 8, 15);
		regmap_add_other(&n->map, "rip", REGMAP_PC);
		add_call(n, set, "rcx", (const char *const[3]){ "rax", "rcx", "r11" });
	} else if (!strcmp(arch, "i386")) {
		add_x86(n, set, 'e');
		regmap_add_other(&n->map, "eip", REGMAP_PC);
		add_call(n, set, "eax", (const char *const[3]){ "eax" });
	} else if (!strcmp(arch, "aarch64")) {
		add_range(n, set, "x", 0, 30);
		add_names(n, set, arm64);
		regmap_add_other(&n->map, "pc", REGMAP_PC);
		add_call(n, set, "x8", (const char *const[3]){ "x0" });
	} else {
		add_range(n, set, "r", 0, 12);
		add_names(n, set, arm);
		regmap_add_other(&n->map, "pc", REGMAP_PC);
		regmap_add_other(&n->map, "r15", REGMAP_PC);
		add_call(n, set, "r7", (const char *const[3]){ "r0" });
	}
	regmap_add_other(&n->map, "asid", REGMAP_IGNORE);
	regmap_add_other(&n->map, "kernel", REGMAP_IGNORE);
}

/* ------------------------------------------------------------------------------------------------- items */

/* Digits and 16, letters of names and 32; 64: what is between items. */
#define DIGIT 16
#define NAME  32
#define BLANK 64
#define D(n) (DIGIT | NAME | (n))

static const uint8_t classes[256] = {
	['0'] = D(0), ['1'] = D(1), ['2'] = D(2), ['3'] = D(3), ['4'] = D(4), ['5'] = D(5), ['6'] = D(6), ['7'] = D(7),
	['8'] = D(8), ['9'] = D(9), ['a'] = D(10), ['b'] = D(11), ['c'] = D(12), ['d'] = D(13), ['e'] = D(14),
	['f'] = D(15), ['A'] = D(10), ['B'] = D(11), ['C'] = D(12), ['D'] = D(13), ['E'] = D(14), ['F'] = D(15),
	['g'] = NAME, ['h'] = NAME, ['i'] = NAME, ['j'] = NAME, ['k'] = NAME, ['l'] = NAME, ['m'] = NAME, ['n'] = NAME,
	['o'] = NAME, ['p'] = NAME, ['q'] = NAME, ['r'] = NAME, ['s'] = NAME, ['t'] = NAME, ['u'] = NAME, ['v'] = NAME,
	['w'] = NAME, ['x'] = NAME, ['y'] = NAME, ['z'] = NAME, ['G'] = NAME, ['H'] = NAME, ['I'] = NAME, ['J'] = NAME,
	['K'] = NAME, ['L'] = NAME, ['M'] = NAME, ['N'] = NAME, ['O'] = NAME, ['P'] = NAME, ['Q'] = NAME, ['R'] = NAME,
	['S'] = NAME, ['T'] = NAME, ['U'] = NAME, ['V'] = NAME, ['W'] = NAME, ['X'] = NAME, ['Y'] = NAME, ['Z'] = NAME,
	['_'] = NAME, [' '] = BLANK, ['\t'] = BLANK, ['\r'] = BLANK,
};

/* A line while it is parsed. */
struct scan {
	const uint8_t *p, *end;
	const struct tenet_names *names;
	enum tenet_what what;
	struct tenet_line *line;
	struct ts_steps *out;
	struct tenet_damages *damages;
	const struct ts_text_line *text;
	uint32_t part;
	uint64_t number;
	bool has_nul;
	bool is_step;         /* what comes now belongs to the step of the line's position */
	uint64_t registers;   /* those that were listed, a bit each */
};

/* A NUL byte makes the whole line invalid: what can be read of it may be wrong. */
static void damaged(struct scan *s, enum tenet_damage kind, const uint8_t *at)
{
	s->has_nul = memchr(s->text->text, 0, s->text->len);
	if (!s->has_nul || kind == TENET_LOST_LINE)
		tenet_damaged(s->damages, kind, s->part, s->number,
			      s->text->off + (uint64_t)(at - (const uint8_t *)s->text->text));
}

static inline void skip_blanks(struct scan *s)
{
	while (s->p < s->end && classes[*s->p] & BLANK)
		s->p++;
}

/* After an item that cannot be read. */
static void skip_item(struct scan *s)
{
	const uint8_t *comma = memchr(s->p, ',', (size_t)(s->end - s->p));

	s->p = comma ? comma : s->end;
}

/* Nothing but blanks follows up to the next item? */
static inline bool is_at_end(struct scan *s)
{
	skip_blanks(s);
	return s->p == s->end || *s->p == ',';
}

/* take_number() of any number of digits from @p on. */
static __attribute__((noinline)) bool take_long_number(struct scan *s, const uint8_t *p, unsigned bits, uint64_t *value)
{
	const uint8_t *first = p, *most;
	uint64_t v = 0;

	while (p < s->end && *p == '0')
		p++;
	for (most = p; p < s->end && classes[*p] & DIGIT; p++)
		v = v << 4 | (classes[*p] & 15);
	s->p = p;
	*value = v;
	return p > first && (size_t)(p - most) <= bits / 4;
}

/*
 * Are the @n digits that ts_hex_number() found at @p all that are there, and on this line?  The text may end, without a
 * line end, before them.
 */
static inline bool has_all_digits(const struct scan *s, const uint8_t *p, unsigned n)
{
	return __builtin_expect(n <= (size_t)(s->end - p) && (n < 16 || !(classes[p[16]] & DIGIT)), 1);
}

/* A number of at most @bits bits, 32 or 64.  Returns false if no digits follow, or too many. */
static inline bool take_number(struct scan *s, unsigned bits, uint64_t *value)
{
	const uint8_t *p = s->p;
	unsigned n;

	if (s->end - p > 2 && *p == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	*value = ts_hex_number((const char *)p, &n);
	if (!has_all_digits(s, p, n))
		return take_long_number(s, p, bits, value);
	s->p = p + n;
	return n && (bits == 64 || *value <= UINT32_MAX);
}

static inline void take_pc(struct scan *s)
{
	struct tenet_line *l = s->line;
	const uint8_t *at = s->p;

	l->has_pc = take_number(s, s->names->arch->addr_bits, &l->pc) && is_at_end(s);
	l->is_pc_bad = !l->has_pc;
	if (l->has_pc)
		return;
	damaged(s, TENET_BAD_PC, at);
	skip_item(s);
}

/* Is the register, or what follows it, to be taken? */
static inline bool is_wanted(struct scan *s, const struct regmap_slot *slot)
{
	uint64_t bit = tenet_bit(s->names, slot->off);

	if (s->what == TENET_ALL)
		return true;
	s->is_step |= s->registers & bit || s->line->n_accesses || (s->names->is_pc_last && s->line->has_pc);
	s->registers |= bit;
	return s->is_step == (s->what == TENET_STEP);
}

static inline void take_register(struct scan *s, const struct regmap_slot *slot)
{
	struct tenet_line *l = s->line;
	bool is_sp = slot->off == s->names->sp_off, is_good;
	const uint8_t *at = s->p;
	uint64_t value, bytes;

	is_good = take_number(s, s->names->word * 8u, &value) && is_at_end(s);
	l->n_regs++;
	l->has_reg_after |= l->has_pc;
	if (is_sp) {
		l->sp = value;
		l->has_sp = is_good;
		l->is_sp_bad = !is_good;
	}
	if (slot->off == s->names->call_off) {
		l->call = value;
		l->has_call = true; /* a bad value does not come from a system call */
	}
	if (__builtin_expect(!is_good, 0)) {
		damaged(s, TENET_BAD_REGISTER, at);
		skip_item(s);
	}
	if (!is_wanted(s, slot))
		return;
	l->registers |= tenet_bit(s->names, slot->off);
	l->has_zero |= is_good && !value;
	bytes = htole64(value);
	if (is_good)
		ts_steps_word(s->out, TS_FX_REG_WRITE, slot->off, (const uint8_t *)&bytes, slot->len);
	else
		ts_steps_effect(s->out, TS_FX_REG_WRITE, slot->off, slot->len);
}

/* The bytes at s->p, to the batch's data.  Returns their number; 0 if no pair of digits follows. */
static inline size_t take_bytes(struct scan *s)
{
	struct ts_steps *out = s->out;
	const uint8_t *p = s->p;
	size_t n, max = (size_t)(s->end - p) / 2;
	unsigned n_digits;
	uint64_t eight;

	if (__builtin_expect(out->cap_data - out->n_data < max + sizeof(eight), 0) &&
	    !ts_steps_grow_data(out, max + sizeof(eight)))
		return 0;
	eight = ts_hex_number((const char *)p, &n_digits);
	if (has_all_digits(s, p, n_digits)) {
		n = n_digits / 2;
		eight = htobe64(n ? eight << (64 - 4 * n_digits) : 0);
		memcpy(out->data + out->n_data, &eight, sizeof(eight));
	} else {
		n = ts_hex_bytes((const char *)p, 2 * max, out->data + out->n_data, max);
	}
	s->p = p += 2 * n;
	return p < s->end && classes[*p] & DIGIT ? 0 : n;
}

enum access {
	ACCESS_READ = 1,
	ACCESS_WRITE = 2,
};

/* Blanks in place of digits, two a byte: the bytes are not known.  Returns how many bytes these are. */
static __attribute__((noinline)) size_t count_unknown(const struct scan *s, const uint8_t *from)
{
	const uint8_t *p = from;

	while (p < s->end && *p == ' ')
		p++;
	return s->p == s->end || *s->p == ',' || *s->p == ';' ? (size_t)(p - from) / 2 : 0;
}

/* "HEX:BYTES" */
static inline bool take_access(struct scan *s, unsigned access)
{
	struct ts_steps *out = s->out;
	bool is_unknown;
	const uint8_t *from;
	struct ts_effect *e;
	uint64_t addr;
	size_t len;

	skip_blanks(s);
	if (!take_number(s, s->names->arch->addr_bits, &addr))
		return false;
	skip_blanks(s);
	if (s->p == s->end || *s->p != ':')
		return false;
	from = ++s->p;
	skip_blanks(s);
	len = take_bytes(s);
	is_unknown = __builtin_expect(!len, 0) && s->p > from;
	if (is_unknown)
		len = count_unknown(s, from);
	if (!len || addr > ts_arch_addr_mask(s->names->arch) - (len - 1))
		return false;
	s->line->n_accesses++;
	if (s->what == TENET_POSITION)
		return true;
	if (access == (ACCESS_READ | ACCESS_WRITE))
		ts_steps_effect(out, TS_FX_READ, addr, len);
	e = ts_steps_effect(out, access & ACCESS_WRITE ? TS_FX_WRITE : TS_FX_READ, addr, len);
	if (e && !is_unknown) {
		e->data = out->n_data;
		out->n_data += (uint32_t)len;
	}
	return true;
}

static inline void take_accesses(struct scan *s, unsigned access)
{
	uint32_t n = s->out->n_effects, n_accesses = s->line->n_accesses;
	const uint8_t *at = s->p;
	bool is_good;

	for (;;) {
		is_good = take_access(s, access) && (is_at_end(s) || *s->p == ';');
		if (!is_good || s->p == s->end || *s->p == ',')
			break;
		s->p++;
	}
	if (__builtin_expect(is_good, 1))
		return;
	ts_steps_rollback(s->out, n);
	s->line->n_accesses = n_accesses;
	damaged(s, TENET_BAD_MEMORY, at);
	skip_item(s);
}

/* "mr", "mw", "mrw" as bits; 0 for other names. */
static inline unsigned find_access(const uint8_t *name, size_t len)
{
	if ((name[0] | 0x20) != 'm' || len < 2 || len > 3)
		return 0;
	if (len == 3)
		return (name[1] | 0x20) == 'r' && (name[2] | 0x20) == 'w' ? ACCESS_READ | ACCESS_WRITE : 0;
	return (name[1] | 0x20) == 'r' ? ACCESS_READ : (name[1] | 0x20) == 'w' ? ACCESS_WRITE : 0;
}

/* The address space that the line is of: that of the first line is the recording's. */
static void take_space(struct scan *s)
{
	const uint8_t *at = s->p;
	uint64_t space;

	if (!s->damages || !take_number(s, 64, &space))
		return;
	if (!s->damages->has_space && s->number == 1 && !s->part) {
		s->damages->has_space = true;
		s->damages->space = space;
	}
	if (s->damages->has_space && space != s->damages->space)
		damaged(s, TENET_OTHER_SPACE, at);
}

static void take_unknown(struct scan *s, const struct regmap_slot *slot, const uint8_t *name, size_t len)
{
	if (slot->kind == REGMAP_NONE && s->damages && !s->damages->is_seen[TENET_UNKNOWN_NAME])
		snprintf(s->damages->unknown, sizeof(s->damages->unknown), "%.*s", (int)(len < 24 ? len : 24), (const char *)name);
	if (slot->kind == REGMAP_NONE)
		damaged(s, TENET_UNKNOWN_NAME, name);
	else if (len == 4 && !strncasecmp((const char *)name, "asid", 4))
		take_space(s);
	skip_item(s);
}

/* "NAME=...".  Returns false if it has no "=". */
static inline bool take_item(struct scan *s)
{
	const uint8_t *name = s->p;
	const struct regmap_slot *slot;
	static const struct regmap_slot none = { .kind = REGMAP_NONE };
	unsigned access;
	uint64_t key[2];
	size_t len;

	while (s->p < s->end && classes[*s->p] & NAME)
		s->p++;
	len = (size_t)(s->p - name);
	skip_blanks(s);
	if (s->p == s->end || *s->p != '=' || !len)
		return false;
	s->p++;
	skip_blanks(s);
	access = find_access(name, len);
	if (access) {
		take_accesses(s, access);
		return true;
	}
	slot = &none;
	if (len <= REGMAP_MAX_NAME) {
		regmap_key(name, len, key);
		slot = regmap_find_key(&s->names->map, key);
	}
	if (slot->kind == REGMAP_REG)
		take_register(s, slot);
	else if (slot->kind == REGMAP_PC)
		take_pc(s);
	else
		take_unknown(s, slot, name, len);
	return true;
}

void tenet_line_parse(const struct tenet_names *names, const struct ts_text_line *text, uint32_t part,
		      uint64_t number, enum tenet_what what, struct tenet_line *line, struct ts_steps *out,
		      struct tenet_damages *damages)
{
	const uint8_t *bytes = (const uint8_t *)text->text;
	struct scan s = { .p = bytes, .end = bytes + text->len, .names = names, .what = what, .line = line, .out = out,
			  .damages = damages, .text = text, .part = part, .number = number };
	uint32_t n = out->n_effects;
	bool is_good = true;

	*line = (struct tenet_line){ 0 };
	if (__builtin_expect(!text->off, 0))
		s.p += tenet_mark_len(bytes, text->len);
	skip_blanks(&s);
	if (s.p < s.end && *s.p == '#')
		return;
	while (is_good && s.p < s.end) {
		if (*s.p == ',' || classes[*s.p] & BLANK)
			s.p++;
		else
			is_good = take_item(&s) && !s.has_nul;
	}
	if (__builtin_expect(is_good, 1))
		return;
	ts_steps_rollback(out, n);
	*line = (struct tenet_line){ .is_lost = true };
	damaged(&s, TENET_LOST_LINE, bytes);
}
