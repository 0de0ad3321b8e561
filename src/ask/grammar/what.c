/* SPDX-License-Identifier: MIT */
#include "what.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "number.h"
#include "src/base/cursor.h"
#include "src/symbols/meanings.h"

/* ---------------------------------------------------------------------------------------------- registers */

/* A part of an x86 register: NAME is @len bytes from byte @off of the first of WHOLES that there is. */
struct part {
	const char *name;
	const char *wholes[2];
	uint8_t off, len;
};

#define PARTS_A_TO_D(x)                                          \
	{ "e" x "x", { "r" x "x", NULL }, 0, 4 },                \
	{ x "x", { "r" x "x", "e" x "x" }, 0, 2 },               \
	{ x "l", { "r" x "x", "e" x "x" }, 0, 1 },               \
	{ x "h", { "r" x "x", "e" x "x" }, 1, 1 }
#define PARTS_INDEX(x)                                           \
	{ "e" x, { "r" x, NULL }, 0, 4 },                        \
	{ x, { "r" x, "e" x }, 0, 2 },                           \
	{ x "l", { "r" x, NULL }, 0, 1 }
#define PARTS_NUMBERED(x)                                        \
	{ x "d", { x, NULL }, 0, 4 },                            \
	{ x "w", { x, NULL }, 0, 2 },                            \
	{ x "l", { x, NULL }, 0, 1 },                            \
	{ x "b", { x, NULL }, 0, 1 }

static const struct part parts[] = {
	PARTS_A_TO_D("a"),     PARTS_A_TO_D("b"),     PARTS_A_TO_D("c"),     PARTS_A_TO_D("d"),
	PARTS_INDEX("si"),     PARTS_INDEX("di"),     PARTS_INDEX("bp"),     PARTS_INDEX("sp"),
	PARTS_NUMBERED("r8"),  PARTS_NUMBERED("r9"),  PARTS_NUMBERED("r10"), PARTS_NUMBERED("r11"),
	PARTS_NUMBERED("r12"), PARTS_NUMBERED("r13"), PARTS_NUMBERED("r14"), PARTS_NUMBERED("r15"),
	{ "eip", { "rip", NULL }, 0, 4 },
};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

const struct ts_flag_name ts_flag_names[TS_N_FLAG_NAMES] = {
	{ "CF", 0 }, { "PF", 2 }, { "AF", 4 }, { "ZF", 6 }, { "SF", 7 }, { "DF", 10 }, { "OF", 11 },
};

static bool is_name(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && !memcmp(name, text, len);
}

static void set_reg(struct ts_what *what, const struct ts_regset *regs, int i, uint32_t off, uint32_t len)
{
	*what = (struct ts_what){ .kind = TS_WHAT_REG, .off = regs->regs[i].off + off, .len = len };
	what->is_pc = i == regs->pc;
}

static bool is_x86(const struct ts_arch *arch)
{
	return !strcmp(arch->name, "x86_64") || !strcmp(arch->name, "i386") || !strcmp(arch->name, "x32");
}

/* Is it what a manual, or another tool, calls the flags register? */
static bool is_flags(const char *name, size_t len, const struct ts_arch *arch)
{
	static const char *const x86[] = { "rflags", "eflags", NULL }, *const arm[] = { "cpsr", "apsr", "xpsr", "nzcv", NULL };
	const char *const *names = is_x86(arch) ? x86 : arm;

	if (!is_x86(arch) && strcmp(arch->name, "arm") != 0 && strcmp(arch->name, "aarch64") != 0)
		return false;
	while (*names && !is_name(*names, name, len))
		names++;
	return *names;
}

/* One of the words for a register of any architecture; -1 if it is not one, or the register does not exist. */
static int find_role(const char *name, size_t len, const struct ts_regset *regs)
{
	const struct {
		const char *name;
		int reg;
	} roles[] = { { "pc", regs->pc }, { "sp", regs->sp }, { "fp", regs->fp }, { "flags", regs->flags } };

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (is_name(roles[i].name, name, len))
			return roles[i].reg;
	}
	return is_flags(name, len, regs->arch) ? regs->flags : -1;
}

static bool find_flag(struct ts_what *what, const char *name, size_t len, const struct ts_regset *regs)
{
	for (size_t i = 0; i < TS_N_FLAG_NAMES && regs->flags >= 0; i++) {
		const struct ts_flag_name *f = &ts_flag_names[i];

		if (len != strlen(f->name) || strncasecmp(f->name, name, len))
			continue;
		set_reg(what, regs, regs->flags, f->bit / 8, 1);
		what->is_flag = true;
		what->bit = f->bit % 8;
		return true;
	}
	return false;
}

static bool find_part(struct ts_what *what, const char *name, size_t len, const struct ts_regset *regs)
{
	for (size_t i = 0; i < N_PARTS; i++) {
		const struct part *p = &parts[i];

		if (!is_name(p->name, name, len))
			continue;
		for (unsigned j = 0; j < 2 && p->wholes[j]; j++) {
			int reg = ts_regset_find(regs, p->wholes[j]);

			if (reg >= 0 && regs->regs[reg].len >= p->off + p->len) {
				set_reg(what, regs, reg, p->off, p->len);
				return true;
			}
		}
	}
	return false;
}

bool ts_what_register(struct ts_what *what, const char *name, size_t len, const struct ts_regset *regs)
{
	char word[64];
	int i;

	if (!len || len >= sizeof(word))
		return false;
	memcpy(word, name, len);
	word[len] = 0;
	i = ts_regset_find(regs, word);
	if (i < 0)
		i = find_role(name, len, regs);
	if (i >= 0) {
		set_reg(what, regs, i, 0, regs->regs[i].len);
		return true;
	}
	if (!is_x86(regs->arch))
		return false;
	return find_flag(what, name, len, regs) || find_part(what, name, len, regs);
}

/* ------------------------------------------------------------------------------------------------- memory */

static bool misunderstood(const char *text, size_t len, const char *why, struct ts_error *err)
{
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' %s", (int)len, text, why);
}

/* The name represents several things: say which, and how each is asked about. */
static size_t list_meanings(const struct ts_meanings *all, const char *name, size_t len, struct ts_error *err)
{
	char list[400] = "";
	size_t n = 0;
	unsigned i = 0;

	for (; i < all->n && i < TS_MAX_MEANINGS && n < 200; i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, *all->items[i].text ? "%s%.100s (0x%" PRIx64 ")" : "%s%s0x%" PRIx64,
				      i ? ", " : "", all->items[i].text, all->items[i].addr);
	ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is more than one thing: %s%s", (int)(len < 100 ? len : 100), name,
		list, i < all->n ? ", ..." : "");
	return 0;
}

static size_t unknown(const char *text, size_t len, const char *why, struct ts_error *err)
{
	misunderstood(text, len, why, err);
	return 0;
}

/*
 * Where a name ends: at a comma, or a single colon, outside of quotes and parentheses, and with @has_angles of
 * angle brackets; 0 if one of these is left open.
 */
static size_t name_len(const char *text, size_t len, bool has_angles)
{
	unsigned depth = 0;
	bool is_quoted = false;
	size_t n = 0;

	for (; n < len; n++) {
		bool is_colon = text[n] == ':' && !(n + 1 < len && text[n + 1] == ':') && !(n && text[n - 1] == ':');

		is_quoted ^= text[n] == '\'';
		if (is_quoted)
			continue;
		if (!depth && (text[n] == ',' || is_colon))
			break;
		depth += text[n] == '(' || (has_angles && text[n] == '<');
		depth -= depth && (text[n] == ')' || (has_angles && text[n] == '>'));
	}
	return depth || is_quoted ? 0 : n;
}

size_t ts_what_line_ranges(const char *text, size_t len, struct ts_symbols *symbols, uint64_t *addrs, uint64_t *lens, size_t cap)
{
	const char *colon = len ? memrchr(text, ':', len) : NULL;
	bool is_large, is_file;
	uint64_t line;

	if (!symbols || !colon || colon == text ||
	    !ts_number_parse(colon + 1, len - (size_t)(colon - text) - 1, TS_COMMAS_END, &line, &is_large) || line > UINT32_MAX)
		return 0;
	return ts_code_lines_find(ts_symbols_lines(symbols), text, (size_t)(colon - text), (uint32_t)line, addrs, lens, cap, &is_file);
}

bool ts_what_is_line(const char *text, size_t len, struct ts_symbols *symbols)
{
	return ts_what_line_ranges(text, len, symbols, NULL, NULL, 0) != 0;
}

/* FILE:LINE, the first instructions of a line of the source.  Returns its length, 0 without an error if it is not one. */
static size_t take_line(struct ts_what *what, const char *text, size_t len, size_t file_len,
			struct ts_symbols *symbols, struct ts_error *err)
{
	uint64_t line, addrs[TS_MAX_MEANINGS], lens[TS_MAX_MEANINGS];
	struct ts_meanings all = { 0 };
	bool is_large, is_file;
	size_t digits;

	if (!symbols || !file_len || file_len + 1 >= len || text[file_len] != ':')
		return 0;
	digits = ts_number_take(text + file_len + 1, len - file_len - 1, TS_COMMAS_END, &line, &is_large);
	if (!digits || is_large || line > UINT32_MAX)
		return 0;
	all.n = (unsigned)ts_code_lines_find(ts_symbols_lines(symbols), text, file_len, (uint32_t)line, addrs, lens,
					     TS_MAX_MEANINGS, &is_file);
	if (!is_file)
		return 0;
	if (!all.n)
		return unknown(text, file_len + 1 + digits, "is a line without code", err);
	for (unsigned i = 0; i < all.n && i < TS_MAX_MEANINGS; i++)
		all.items[i].addr = addrs[i];
	if (all.n > 1)
		return list_meanings(&all, text, file_len + 1 + digits, err);
	what->addr = addrs[0];
	what->last = addrs[0] + lens[0] - 1;
	what->is_function = true;
	return file_len + 1 + digits;
}

static bool take(struct ts_what *what, const struct ts_symbol *s, struct ts_symbols *symbols)
{
	bool is_sizeless = what->is_code && s->is_function && !s->len;

	what->addr = s->addr;
	what->last = s->addr + (s->len ? s->len - 1 : 0);
	what->is_function = s->is_function;
	what->is_indirect = s->is_indirect;
	what->is_inlined = false;
	what->is_open = is_sizeless && s->is_open;
	if (is_sizeless)
		what->last = ts_symbols_function_last(symbols, what->addr);
	return true;
}

/* What a name represents: a symbol, or with an offset a module, too. */
static bool find_name(struct ts_what *what, const char *text, size_t len, bool has_offset, struct ts_symbols *symbols,
		      struct ts_error *err)
{
	struct ts_meanings all;
	const struct ts_symbol *s = ts_symbols_mean(symbols, text, len, what->is_code, &all);
	bool may_be_inlined = what->is_code && (s ? !s->is_function : !all.n);
	const struct ts_loaded_file *m;
	struct ts_meanings places = { .n = 0 };

	/* the name of data may also be that of a function of the program's */
	if (may_be_inlined)
		ts_symbols_mean_inlined(symbols, text, len, &places);
	if (s && !places.n)
		return take(what, s, symbols);
	if (!places.n && all.n < 2 && has_offset) {
		m = ts_symbols_mean_module(symbols, text, len, &all);
		what->addr = what->last = m ? m->first : 0;
		what->is_function = what->is_indirect = false;
		if (m)
			return true;
	}
	if (may_be_inlined) {
		what->addr = what->last = places.n == 1 ? places.items[0].addr : 0;
		what->is_inlined = what->is_function = true;
		if (places.n == 1)
			return true;
	}
	if (!places.n && !all.n && (s = ts_symbols_mean_qualified(symbols, text, len, what->is_code, &all)))
		return take(what, s, symbols);
	if (places.n > 1)
		list_meanings(&places, text, len, err);
	else if (all.n > 1)
		list_meanings(&all, text, len, err);
	return false;
}

/*
 * SYMBOL, SYMBOL+OFF, MODULE+OFF or FILE:LINE.  Returns how long it is, 0 and an error if it is not known.
 */
static size_t take_symbol(struct ts_what *what, const char *text, size_t len,
			  struct ts_symbols *symbols, struct ts_error *err)
{
	size_t n = name_len(text, len, true), end, digits, line;
	const struct ts_symbol *s;
	uint64_t off;
	bool is_large;

	if (!n)
		n = name_len(text, len, false);
	s = symbols && n != len ? ts_symbols_find(symbols, text, len) : NULL;
	if (s) { /* its name contains what ends other names */
		take(what, s, symbols);
		return len;
	}
	line = take_line(what, text, len, n, symbols, err);
	if (line || err->code != TS_OK)
		return line;
	end = n;
	for (size_t i = 0; i + 1 < n; i++) {
		if (text[i] == '+' && text[i + 1] >= '0' && text[i + 1] <= '9')
			end = i;
	}
	if (!symbols || !end || !find_name(what, text, end, end < n, symbols, err))
		return err->code != TS_OK ? 0 :
					    unknown(text, n ? n : len, symbols ? "is neither an address nor a known symbol" :
								       "is not an address, and no symbols are known",
						    err);
	if (end == n)
		return n;
	digits = ts_number_take(text + end + 1, n - end - 1, TS_COMMAS_END, &off, &is_large);
	if (digits != n - end - 1 || !ts_add(what->addr, off, &what->addr))
		return unknown(text, n, "has an offset that is not a number", err);
	what->last = what->addr;
	what->is_function = what->is_indirect = what->is_open = false;
	return n;
}

static bool set_length(struct ts_what *what, const char *text, size_t len, const char *all, size_t all_len,
		       struct ts_error *err)
{
	uint64_t n;
	bool is_large;

	if (!ts_number_parse(text, len, TS_COMMAS_END, &n, &is_large))
		return misunderstood(all, all_len, is_large ? "has a length that is too large"
							    : "has a length that is not a number", err);
	if (!n)
		return misunderstood(all, all_len, "is an empty range", err);
	what->is_function = what->is_indirect = false;
	if (!ts_add(what->addr, n - 1, &what->last))
		return misunderstood(all, all_len, "passes the end of the address space", err);
	return true;
}

/* The end of a range: an address, or a symbol. */
static bool set_end(struct ts_what *what, const char *text, size_t len, const char *all, size_t all_len,
		    struct ts_symbols *symbols, struct ts_error *err)
{
	struct ts_what end = { 0 };
	bool is_large;

	if (!ts_number_parse(text, len, TS_COMMAS_END, &end.addr, &is_large)) {
		if (is_large)
			return misunderstood(all, all_len, "has an address that is too large", err);
		if (!len || (*text >= '0' && *text <= '9'))
			return misunderstood(all, all_len, "has no address at its end", err);
		if (take_symbol(&end, text, len, symbols, err) != len)
			return misunderstood(all, all_len, "is not a range", err);
	}
	what->is_function = what->is_indirect = false;
	if (end.addr <= what->addr)
		return misunderstood(all, all_len, end.addr < what->addr ? "is a reversed range"
									 : "is an empty range", err);
	what->last = end.addr - 1;
	return true;
}

static bool parse_memory(struct ts_what *what, const char *text, size_t len, const struct ts_regset *regs,
			 struct ts_symbols *symbols, struct ts_error *err)
{
	bool is_large;
	size_t n = ts_number_take(text, len, TS_COMMAS_END, &what->addr, &is_large);

	what->kind = TS_WHAT_MEM;
	what->last = what->addr;
	if (!n && is_large)
		return misunderstood(text, len, "is too large for an address", err);
	if (!n && (!len || (*text >= '0' && *text <= '9')))
		return misunderstood(text, len, "is not an address", err);
	if (!n) {
		n = take_symbol(what, text, len, symbols, err);
		what->is_named = n != 0;
	}
	if (!n)
		return false;
	if (n < len && text[n] == ',') {
		if (!set_length(what, text + n + 1, len - n - 1, text, len, err))
			return false;
	} else if (n < len && text[n] == ':') {
		if (!set_end(what, text + n + 1, len - n - 1, text, len, symbols, err))
			return false;
	} else if (n < len) {
		return misunderstood(text, len, "is not an address", err);
	}
	if (what->last > ts_arch_addr_mask(regs->arch))
		return misunderstood(text, len, "passes the end of the address space", err);
	return true;
}

static bool parse(struct ts_what *what, const char *text, size_t len, const struct ts_regset *regs,
		  struct ts_symbols *symbols, struct ts_error *err)
{
	static const char physical[] = "phys:";
	size_t n = sizeof(physical) - 1;

	if (len > n && !memcmp(text, physical, n)) {
		what->is_physical = true;
		return parse_memory(what, text + n, len - n, regs, NULL, err);
	}
	if (!len || *text != '$')
		return parse_memory(what, text, len, regs, symbols, err);
	return ts_what_register(what, text + 1, len - 1, regs) ||
	       misunderstood(text, len, "is not a register of this recording", err);
}

bool ts_what_parse(struct ts_what *what, const char *text, size_t len, const struct ts_regset *regs,
		   struct ts_symbols *symbols, struct ts_error *err)
{
	*what = (struct ts_what){ 0 };
	return parse(what, text, len, regs, symbols, err);
}

bool ts_what_parse_code(struct ts_what *what, const char *text, size_t len, const struct ts_regset *regs,
			struct ts_symbols *symbols, struct ts_error *err)
{
	*what = (struct ts_what){ .is_code = true };
	return parse(what, text, len, regs, symbols, err);
}

bool ts_what_may_be_variable(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)text[i]) && !strchr("_.[]->", text[i]) && (unsigned char)text[i] < 0x80)
			return false;
	}
	return len && (isalpha((unsigned char)*text) || *text == '_' || (unsigned char)*text >= 0x80);
}
