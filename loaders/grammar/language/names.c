/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <stdio.h>
#include <string.h>

/* Of all names of a grammar, with those between first and last. */
#define MAX_EXPANDED 600u

/*
 * Usual names beside gdb's, as in a grammar: NAME=REGISTER, FIRST-LAST=REGISTER counts both up, ".4" are the low
 * four bytes, "z" says that a write clears the bytes above.
 */
static const struct {
	const char *arch;
	const char *names;
} usual[] = {
	{ "aarch64", "fp=x29 lr=x30 w0-w30=x0.4z wsp=sp.4z xsp=sp e0-e30=x0 sp_el0=sp q0-q31=v0 d0-d31=v0.8z "
		     "s0-s31=v0.4z h0-h31=v0.2z b0-b31=v0.1z pstate=cpsr" },
	{ "arm", "fp=r11 ip=r12 r13=sp r14=lr sb=r9 sl=r10 psr=cpsr" },
	{ "riscv", "x0=zero x1=ra x2=sp x3=gp x4=tp x5-x7=t0 x8=fp s0=fp x9=s1 x10-x17=a0 x18-x27=s2 x28-x31=t3 "
		   "f0-f7=ft0 f8-f9=fs0 f10-f17=fa0 f18-f27=fs2 f28-f31=ft8" },
	{ "mips", "zero=r0 at=r1 v0-v1=r2 a0-a3=r4 t0-t7=r8 s0-s7=r16 t8-t9=r24 k0-k1=r26 gp=r28 sp=r29 s8=r30 fp=r30 ra=r31" },
};

/* A name, and the number at its end. */
struct numbered {
	char stem[16];
	unsigned number;
	int width; /* of the number with its zeros, 0 without a number */
};

static bool split(const char *text, size_t len, struct numbered *n)
{
	size_t digits = 0;

	while (digits < len && text[len - 1 - digits] >= '0' && text[len - 1 - digits] <= '9')
		digits++;
	if (!len || len - digits >= sizeof(n->stem) || digits > 3)
		return false;
	memcpy(n->stem, text, len - digits);
	n->stem[len - digits] = 0;
	n->width = (int)digits;
	n->number = 0;
	for (size_t i = len - digits; i < len; i++)
		n->number = n->number * 10 + (unsigned)(text[i] - '0');
	return true;
}

static void show(const struct numbered *n, unsigned more, char name[24])
{
	if (n->width)
		snprintf(name, 24, "%s%0*u", n->stem, n->width, n->number + more);
	else
		snprintf(name, 24, "%s", n->stem);
}

/* "REGISTER[.BYTES][z]": returns false if it is not that. */
static bool split_target(const char *text, size_t len, struct numbered *reg, uint16_t *bytes, bool *is_zeroing)
{
	const char *dot = memchr(text, '.', len);
	size_t end = dot ? (size_t)(dot - text) : len;

	*bytes = 0;
	*is_zeroing = dot && text[len - 1] == 'z';
	for (size_t i = end + 1; i < len - (*is_zeroing ? 1 : 0); i++) {
		if (text[i] < '0' || text[i] > '9' || *bytes > 99)
			return false;
		*bytes = (uint16_t)(*bytes * 10 + (text[i] - '0'));
	}
	return split(text, end, reg) && (!dot || *bytes);
}

/* "NAME=TARGET" or "FIRST-LAST=TARGET".  Returns false if it is not that, or names no register of the set. */
static bool add_names(struct regmap *map, const struct ts_regset *set, const char *text, size_t len,
		      unsigned *n_added)
{
	const char *is = memchr(text, '=', len), *dash = is ? memchr(text, '-', (size_t)(is - text)) : NULL;
	struct numbered first, last, reg;
	uint16_t bytes;
	bool is_zeroing;

	if (!is || !split(text, (size_t)((dash ? dash : is) - text), &first) ||
	    !split_target(is + 1, len - (size_t)(is + 1 - text), &reg, &bytes, &is_zeroing))
		return false;
	last = first;
	if (dash && (!split(dash + 1, (size_t)(is - dash - 1), &last) || last.number < first.number))
		return false;
	for (unsigned i = 0; i <= last.number - first.number && *n_added < MAX_EXPANDED; i++, (*n_added)++) {
		char name[24], target[24];
		int r;

		show(&first, i, name);
		show(&reg, i, target);
		r = ts_regset_find(set, target);
		if (r < 0)
			return false;
		if (r == set->pc)
			regmap_add_other(map, name, REGMAP_PC);
		regmap_add_part(map, set, name, target, 0, bytes, is_zeroing ? set->regs[r].len : 0);
	}
	return true;
}

static void add_usual(struct regmap *map, const struct ts_regset *set, const char *names)
{
	unsigned n = 0;

	while (*names) {
		size_t len = strcspn(names, " ");

		add_names(map, set, names, len, &n);
		names += len + (names[len] == ' ');
	}
}

/* An architecture's name, or the beginning of one: "riscv" is "riscv32" and "riscv64". */
static bool is_of(const struct grammar *g, const struct grammar_name *n, const struct ts_regset *set)
{
	return !n->arch_len || !strncmp(set->arch->name, g->texts + n->arch, n->arch_len);
}

static bool add_own(struct regmap *map, const struct grammar *g, const struct ts_regset *set, struct ts_error *err)
{
	unsigned n_added = 0;

	for (unsigned i = 0; i < g->n_names; i++) {
		const struct grammar_name *n = &g->names[i];
		const char *text = g->texts + n->at;
		char name[REGMAP_MAX_NAME + 1] = "";

		if (!is_of(g, n, set))
			continue;
		if (memchr(text, '=', n->len)) {
			if (!add_names(map, set, text, n->len, &n_added) && (n->arch_len || g->n_archs == 1))
				return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
					       "line %u, column %u of the grammar: name %.*s: no NAME=REGISTER with a register of %s",
					       n->line, n->column, (int)n->len, text, set->arch->name);
			continue;
		}
		if (n->len <= REGMAP_MAX_NAME) {
			memcpy(name, text, n->len);
			regmap_add_other(map, name, REGMAP_IGNORE);
			n_added++;
		}
	}
	return n_added < MAX_EXPANDED ||
	       ts_fail(err, TS_EUSAGE, TS_NO_OFF, "more than %u names of registers", MAX_EXPANDED);
}

bool grammar_names(struct regmap *map, const struct grammar *g, const struct ts_regset *set, struct ts_error *err)
{
	regmap_init(map, NULL);
	if (!add_own(map, g, set, err))
		return false;
	regmap_add_other(map, set->regs[set->pc].name, REGMAP_PC);
	regmap_add_set(map, set);
	if (!strcmp(set->arch->name, "x86_64") || !strcmp(set->arch->name, "i386"))
		regmap_add_x86(map, set);
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		if (!strncmp(set->arch->name, usual[i].arch, strlen(usual[i].arch)))
			add_usual(map, set, usual[i].names);
	}
	return true;
}

bool grammar_ignores(const struct grammar *g, const char *name, size_t len)
{
	for (unsigned i = 0; i < g->n_names; i++) {
		const char *text = g->texts + g->names[i].at;
		size_t n = g->names[i].len;

		if (n && text[n - 1] == '*' && len >= n - 1 && !memcmp(text, name, n - 1))
			return true;
	}
	return false;
}
