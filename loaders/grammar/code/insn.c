/* SPDX-License-Identifier: MIT */
/*
 * RISC-V: by the encoding (The RISC-V Instruction Set Manual, volume I, chapters "RV32/64G Instruction Set
 * Listings" and "C").  AArch64: flow by the encoding (Arm ARM, C4.1), sizes by the disassembly, which all
 * AArch64 text traces have.
 */
#include "insn.h"

#include <endian.h>
#include <string.h>

#include "src/arch/traps.h"
#include "src/base/text/hex.h"

/* The bits [@low, @low + @n) of @code. */
static uint32_t bits(uint32_t code, unsigned low, unsigned n)
{
	return code >> low & ((1u << n) - 1);
}

/* The low @n bits as a signed number. */
static uint64_t extend(uint64_t value, unsigned n)
{
	uint64_t sign = UINT64_C(1) << (n - 1);

	return ((value & ((sign << 1) - 1)) ^ sign) - sign;
}

static uint32_t code_of(const struct grammar_line *line)
{
	uint8_t bytes[4] = { 0 };
	uint32_t code;

	memcpy(bytes, line->code, line->n_code < 4 ? line->n_code : 4);
	memcpy(&code, bytes, 4);
	return le32toh(code);
}

/* ------------------------------------------------------------------------------------------------ AArch64 */

static void look_aarch64_code(uint32_t code, uint64_t pc, struct grammar_insn *insn)
{
	insn->flow = GRAMMAR_FLOW_NEXT;
	if ((code & 0x7c000000) == 0x14000000) { /* b, bl */
		insn->flow = code >> 31 ? GRAMMAR_FLOW_CALL : GRAMMAR_FLOW_JUMP;
		insn->target = pc + extend((uint64_t)bits(code, 0, 26) << 2, 28);
	} else if ((code & 0xff000000) == 0x54000000 || (code & 0x7e000000) == 0x34000000) { /* b.c, cbz, cbnz */
		insn->flow = GRAMMAR_FLOW_BRANCH;
		insn->target = pc + extend((uint64_t)bits(code, 5, 19) << 2, 21);
	} else if ((code & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		insn->flow = GRAMMAR_FLOW_BRANCH;
		insn->target = pc + extend((uint64_t)bits(code, 5, 14) << 2, 16);
	} else if ((code & 0xfe000000) == 0xd6000000) { /* br, blr, ret, eret */
		insn->flow = bits(code, 21, 2) == 1 ? GRAMMAR_FLOW_CALL_ANY : GRAMMAR_FLOW_ANY;
	} else if ((code & 0xff000000) == 0xd4000000) { /* svc, hvc, smc, brk */
		insn->flow = (code & 0x1f) == 1 ? GRAMMAR_FLOW_SYSCALL : GRAMMAR_FLOW_ANY;
	}
}

/* Is the disassembly's mnemonic @word? */
static inline bool is_mnemonic(const struct grammar_span *text, const char *word)
{
	size_t n = *text->text == *word ? strlen(word) : 0;

	return n && text->len >= n && !memcmp(text->text, word, n) &&
	       (text->len == n || text->text[n] == ' ' || text->text[n] == '\t' || text->text[n] == '.');
}

static void look_aarch64_text(const struct grammar_span *text, struct grammar_insn *insn)
{
	static const char *const any[] = { "b", "br", "ret", "eret", "cbz", "cbnz", "tbz", "tbnz", "brk" };

	insn->flow = GRAMMAR_FLOW_NEXT;
	if (!memchr("brects", text->text[0], 6))
		return;
	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
		if (is_mnemonic(text, any[i]))
			insn->flow = GRAMMAR_FLOW_ANY;
	}
	if (text->len > 4 && !memcmp(text->text, "bra", 3))
		insn->flow = GRAMMAR_FLOW_ANY;
	if (is_mnemonic(text, "bl") || is_mnemonic(text, "blr"))
		insn->flow = GRAMMAR_FLOW_CALL_ANY;
	if (is_mnemonic(text, "svc"))
		insn->flow = GRAMMAR_FLOW_SYSCALL;
}

/* Find the register that operand @i of the disassembly names.  Returns false if the operand is not a register. */
static bool operand(const struct grammar_span *text, unsigned i, char name[8])
{
	const char *p = text->text, *end = p + text->len;
	size_t n = 0;

	while (p < end && *p != ' ' && *p != '\t')
		p++;
	for (; p < end && i; p++)
		i -= *p == ',';
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (p + n < end && n < 7 && ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= '0' && p[n] <= '9'))) {
		name[n] = p[n];
		n++;
	}
	name[n] = 0;
	return n && !i;
}

static uint8_t size_of_register(const char *name)
{
	switch (name[0]) {
	case 'b': return 1;
	case 'h': return 2;
	case 's': return 4;
	case 'w': return 4;
	case 'd': return 8;
	case 'x':
	case 'f':
	case 'l': return 8;
	case 'q': return 16;
	default: return 0;
	}
}

static void add_value(const struct regmap *map, const char *name, struct grammar_insn *insn)
{
	const struct regmap_slot *slot = regmap_find(map, name, strlen(name));

	if (!strcmp(name, "xzr") || !strcmp(name, "wzr"))
		insn->values[insn->n_values++] = NULL;
	else if (slot->kind == REGMAP_REG)
		insn->values[insn->n_values++] = slot;
}

/* "[x1, #8]!" and "[x1], #8": the base is written, too. */
static void look_aarch64_base(const struct regmap *map, const struct grammar_span *text, struct grammar_insn *insn)
{
	const char *open = memchr(text->text, '[', text->len), *end = text->text + text->len;
	const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL, *p, *name;
	bool is_pre = close && close + 1 < end && close[1] == '!', is_post = close && close + 1 < end && close[1] == ',';
	const struct regmap_slot *slot;
	int64_t n = 0;

	if (!is_pre && !is_post)
		return;
	for (name = p = open + 1; p < end && *p != ',' && *p != ']'; p++)
		;
	slot = regmap_find(map, name, (size_t)(p - name));
	if (slot->kind != REGMAP_REG)
		return;
	insn->base = slot;
	p = memchr(is_pre ? p : close, '#', (size_t)(end - (is_pre ? p : close)));
	insn->has_step = p && end - p > 1;
	if (!insn->has_step)
		return;
	for (p++; p < end && strchr("-0x123456789abcdef", *p); p++) {
		int digit = ts_hex_digit((uint8_t)*p);

		n = digit >= 0 && n <= INT32_MAX ? n * 16 + digit : n;
	}
	insn->step = (int32_t)(memchr(open, '-', (size_t)(end - open)) ? -n : n);
	insn->has_step = n <= INT32_MAX && (memmem(open, (size_t)(end - open), "0x", 2) != NULL || n < 10);
}

/* Loads and stores of plain registers: ldr, ldur, ldrb, ldrsw, ldp, str, stp, ... */
static void look_aarch64_access(const struct regmap *map, const struct grammar_span *text,
				struct grammar_insn *insn)
{
	size_t n = 0;
	char name[8];
	bool is_pair, is_byte, is_half, is_sw;

	while (n < text->len && text->text[n] != ' ' && text->text[n] != '\t')
		n++;
	if (n < 3 || n > 7)
		return;
	insn->is_load = !memcmp(text->text, "ld", 2);
	insn->is_store = !memcmp(text->text, "st", 2);
	if ((!insn->is_load && !insn->is_store) || !strchr("rpun", text->text[2]) || !operand(text, 0, name)) {
		insn->is_load = insn->is_store = false;
		return;
	}
	look_aarch64_base(map, text, insn);
	is_pair = text->text[2] == 'p' || text->text[n - 1] == 'p';
	is_sw = text->text[n - 1] == 'w';
	is_byte = text->text[n - 1] == 'b';
	is_half = text->text[n - 1] == 'h';
	insn->size = is_byte ? 1 : is_half ? 2 : is_sw ? 4 : size_of_register(name);
	add_value(map, name, insn);
	if (is_pair && operand(text, 1, name))
		add_value(map, name, insn);
}

/* ------------------------------------------------------------------------------------------------- RISC-V */

static const struct regmap_slot *riscv_register(const struct regmap *map, char letter, uint32_t n)
{
	const char low = (char)('0' + n % 10);
	const char name[3] = { letter, n < 10 ? low : (char)('0' + n / 10), low };

	return regmap_find(map, name, n < 10 ? 2 : 3);
}

static void set_access(const struct regmap *map, struct grammar_insn *insn, bool is_store, uint8_t size,
		       char letter, uint32_t reg)
{
	const struct regmap_slot *slot = riscv_register(map, letter, reg);

	insn->is_store = is_store;
	insn->is_load = !is_store;
	insn->size = size;
	if (slot->kind != REGMAP_REG && !(letter == 'x' && !reg))
		return;
	insn->values[insn->n_values++] = letter == 'x' && !reg ? NULL : slot;
}

static void look_riscv_wide(const struct regmap *map, uint32_t code, uint64_t pc, struct grammar_insn *insn)
{
	uint32_t size = 1u << (bits(code, 12, 3) & 3), rd = bits(code, 7, 5), rs2 = bits(code, 20, 5);

	switch (code & 0x7f) {
	case 0x03: set_access(map, insn, false, (uint8_t)size, 'x', rd); break;
	case 0x07: set_access(map, insn, false, (uint8_t)size, 'f', rd); break;
	case 0x23: set_access(map, insn, true, (uint8_t)size, 'x', rs2); break;
	case 0x27: set_access(map, insn, true, (uint8_t)size, 'f', rs2); break;
	case 0x2f: /* atomics: what is loaded is rd; what is stored is not a register */
		set_access(map, insn, false, (uint8_t)size, 'x', rd);
		insn->is_store = bits(code, 27, 5) != 2;
		break;
	case 0x63:
		insn->flow = GRAMMAR_FLOW_BRANCH;
		insn->target = pc + extend(bits(code, 31, 1) << 12 | bits(code, 7, 1) << 11 |
						   bits(code, 25, 6) << 5 | bits(code, 8, 4) << 1, 13);
		break;
	case 0x67: insn->flow = GRAMMAR_FLOW_ANY; break;
	case 0x6f:
		insn->flow = rd ? GRAMMAR_FLOW_CALL : GRAMMAR_FLOW_JUMP;
		insn->target = pc + extend(bits(code, 31, 1) << 20 | bits(code, 12, 8) << 12 |
						   bits(code, 20, 1) << 11 | bits(code, 21, 10) << 1, 21);
		break;
	case 0x73:
		if (code == 0x73)
			insn->flow = GRAMMAR_FLOW_SYSCALL;
		else if (!bits(code, 12, 3))
			insn->flow = GRAMMAR_FLOW_ANY;
		break;
	default: break;
	}
}

/* Loads and stores of quadrants 0 and 2, by bits 15 to 13. */
static void look_riscv_short_access(const struct regmap *map, uint32_t code, bool is_64, struct grammar_insn *insn)
{
	bool is_stack = (code & 3) == 2;
	uint32_t which = bits(code, 13, 3), reg = is_stack ? bits(code, 7, 5) : bits(code, 2, 3) + 8;
	bool is_store = which >= 5;
	uint8_t size = which == 2 || which == 6 || ((which == 3 || which == 7) && !is_64) ? 4 : 8;
	bool is_float = which == 1 || which == 5 || ((which == 3 || which == 7) && !is_64);

	if (which == 0 || which == 4)
		return;
	if (is_stack && is_store)
		reg = bits(code, 2, 5);
	set_access(map, insn, is_store, size, is_float ? 'f' : 'x', reg);
}

static void look_riscv_short(const struct regmap *map, uint32_t code, bool is_64, uint64_t pc,
			     struct grammar_insn *insn)
{
	uint32_t which = bits(code, 13, 3);

	if ((code & 3) != 1)
		look_riscv_short_access(map, code, is_64, insn);
	if ((code & 3) == 1 && (which == 5 || (which == 1 && !is_64))) { /* c.j, c.jal */
		insn->flow = which == 5 ? GRAMMAR_FLOW_JUMP : GRAMMAR_FLOW_CALL;
		insn->target = pc + extend(bits(code, 12, 1) << 11 | bits(code, 11, 1) << 4 | bits(code, 9, 2) << 8 |
						   bits(code, 8, 1) << 10 | bits(code, 7, 1) << 6 |
						   bits(code, 6, 1) << 7 | bits(code, 3, 3) << 1 |
						   bits(code, 2, 1) << 5, 12);
	} else if ((code & 3) == 1 && which >= 6) { /* c.beqz, c.bnez */
		insn->flow = GRAMMAR_FLOW_BRANCH;
		insn->target = pc + extend(bits(code, 12, 1) << 8 | bits(code, 10, 2) << 3 | bits(code, 5, 2) << 6 |
						   bits(code, 3, 2) << 1 | bits(code, 2, 1) << 5, 9);
	} else if ((code & 3) == 2 && which == 4 && !bits(code, 2, 5)) { /* c.jr, c.jalr, c.ebreak */
		insn->flow = GRAMMAR_FLOW_ANY;
	}
}

/* ------------------------------------------------------------------------------------------------- looking */

enum grammar_family grammar_family_of(const struct ts_arch *arch)
{
	if (!strcmp(arch->name, "aarch64"))
		return GRAMMAR_AARCH64;
	if (!strcmp(arch->name, "x86_64") || !strcmp(arch->name, "i386"))
		return GRAMMAR_X86;
	return !strncmp(arch->name, "riscv", 5) ? GRAMMAR_RISCV : GRAMMAR_OTHER;
}

void grammar_insn_look(const struct ts_arch *arch, enum grammar_family family, const struct regmap *map, const struct grammar_line *line,
		       struct grammar_insn *insn)
{
	bool is_aarch64 = family == GRAMMAR_AARCH64, is_riscv = family == GRAMMAR_RISCV;
	bool is_whole = line->n_code && !line->is_head;

	*insn = (struct grammar_insn){ .len = is_whole ? line->n_code : 0 };
	if (arch->is_fixed_insn)
		insn->len = arch->min_insn_len;
	if (is_aarch64 && line->n_code == 4)
		look_aarch64_code(code_of(line), line->pc, insn);
	else if (is_aarch64 && line->has & HAS_TEXT && line->text.len)
		look_aarch64_text(&line->text, insn);
	if (is_aarch64 && line->has & HAS_TEXT)
		look_aarch64_access(map, &line->text, insn);
	if (is_aarch64 && (insn->flow == GRAMMAR_FLOW_CALL || insn->flow == GRAMMAR_FLOW_CALL_ANY))
		insn->link = regmap_find(map, "x30", 3);
	if (is_riscv && is_whole) {
		insn->flow = GRAMMAR_FLOW_NEXT;
		if (line->n_code == 4 && line->has & HAS_TEXT && line->text.len > 2 && !memcmp(line->text.text, "c.", 2)) {
			insn->is_expanded = true;
			insn->len = 2;
		}
		if ((line->code[0] & 3) == 3 && line->n_code == 4)
			look_riscv_wide(map, code_of(line), line->pc, insn);
		else if (line->n_code == 2)
			look_riscv_short(map, code_of(line), arch->addr_bits == 64, line->pc, insn);
	}
	if (insn->flow == GRAMMAR_FLOW_UNKNOWN && is_whole &&
	    ts_insn_trap(arch, line->n_code == 2, line->code, line->n_code) != TS_TRAP_NONE)
		insn->flow = GRAMMAR_FLOW_SYSCALL;
}

bool grammar_insn_leads(const struct grammar_insn *insn, uint64_t pc, uint64_t next)
{
	uint64_t after = pc + insn->len;

	switch (insn->flow) {
	case GRAMMAR_FLOW_NEXT: return !insn->len || next == after;
	case GRAMMAR_FLOW_BRANCH: return next == after || next == insn->target;
	case GRAMMAR_FLOW_JUMP:
	case GRAMMAR_FLOW_CALL: return next == insn->target;
	case GRAMMAR_FLOW_CALL_ANY: return !insn->len || next != after;
	default: return true;
	}
}

/* -------------------------------------------------------------------------------------------- completing */

/* The value of the register that effects of the line from @n on show, in their order of the target. */
static const uint8_t *shown_value(const struct ts_steps *out, uint32_t n, enum ts_effect_kind kind,
				  const struct regmap_slot *slot, uint64_t len)
{
	for (; n < out->n_effects; n++) {
		const struct ts_effect *e = &out->effects[n];

		if (e->kind == kind && e->data != TS_NO_DATA && e->addr <= slot->off &&
		    slot->off + len <= e->addr + e->len)
			return out->data + e->data + (slot->off - e->addr);
	}
	return NULL;
}

static bool is_listed(const struct ts_steps *listed, uint64_t off)
{
	for (uint32_t i = 0; i < listed->n_effects; i++) {
		const struct ts_effect *e = &listed->effects[i];

		if (e->kind == TS_FX_REG_WRITE && off - e->addr < e->len)
			return true;
	}
	return false;
}

void grammar_insn_write(const struct ts_arch *arch, const struct grammar_insn *insn, uint64_t pc,
			const struct ts_steps *listed, struct ts_steps *out)
{
	uint8_t bytes[8];
	const uint8_t *before;

	if (insn->link && insn->len && !is_listed(listed, insn->link->off)) {
		ts_arch_put(arch, bytes, sizeof(bytes), pc + insn->len);
		ts_steps_word(out, TS_FX_REG_WRITE, insn->link->off, bytes, insn->link->len);
	}
	if (!insn->base || is_listed(listed, insn->base->off))
		return;
	before = shown_value(listed, 0, TS_FX_REG_READ, insn->base, insn->base->len);
	if (before && insn->has_step && insn->base->len == sizeof(bytes)) {
		ts_arch_put(arch, bytes, sizeof(bytes), ts_arch_get(arch, before, 8) + (uint64_t)insn->step);
		ts_steps_word(out, TS_FX_REG_WRITE, insn->base->off, bytes, sizeof(bytes));
	} else {
		ts_steps_effect(out, TS_FX_REG_WRITE, insn->base->off, insn->base->len);
	}
}

void grammar_insn_return(const struct ts_regset *set, const struct ts_steps *listed, struct ts_steps *out)
{
	static const char *const names[] = { "x0", "x1", "a0", "a1", "r0", "r1", "rax", "rcx", "r11", "eax", "edx", "r2",
					     "r3", "r7" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int r = ts_regset_find(set, names[i]);

		if (r >= 0 && !is_listed(listed, set->regs[r].off))
			ts_steps_effect(out, TS_FX_REG_WRITE, set->regs[r].off, set->regs[r].len);
	}
}

/* The bytes of an access that are those of register @i of the instruction: from the line's other effects. */
static void fill_value(const struct grammar_insn *insn, struct ts_steps *out, uint32_t n, uint32_t at, unsigned i)
{
	static const uint8_t zeros[16];
	enum ts_effect_kind kind = out->effects[at].kind == TS_FX_WRITE ? TS_FX_REG_READ : TS_FX_REG_WRITE;
	const struct regmap_slot *slot = insn->values[i];
	uint64_t len = out->effects[at].len;
	const uint8_t *value;
	uint8_t bytes[16];

	if (len > sizeof(bytes) || (kind == TS_FX_REG_WRITE && !slot))
		return;
	value = slot ? shown_value(out, n, kind, slot, len) : zeros;
	if (!value)
		return;
	memcpy(bytes, value, len);
	if (!ts_steps_room(out, 0, (uint32_t)len))
		return;
	memcpy(out->data + out->n_data, bytes, len);
	out->effects[at].data = out->n_data;
	out->n_data += (uint32_t)len;
}

/* The address that a call pushes. */
static void fill_pushed(const struct ts_arch *arch, uint64_t pushed, struct ts_steps *out, uint32_t at)
{
	uint64_t len = out->effects[at].len;

	if (out->effects[at].kind != TS_FX_WRITE || len != arch->addr_bits / 8u || !ts_steps_room(out, 0, 8))
		return;
	ts_arch_put(arch, out->data + out->n_data, len, pushed);
	out->effects[at].data = out->n_data;
	out->n_data += (uint32_t)len;
}

/* An access of a pair at one address is two, one after the other. */
static void add_second(const struct grammar_insn *insn, struct ts_steps *out, uint32_t n, uint32_t at,
		       uint32_t n_accesses)
{
	struct ts_effect *e;

	if (n_accesses > 1 || insn->n_values < 2)
		return;
	e = ts_steps_effect(out, out->effects[at].kind, out->effects[at].addr + insn->size, insn->size);
	if (e)
		fill_value(insn, out, n, out->n_effects - 1, 1);
}

void grammar_insn_complete(const struct ts_arch *arch, const struct grammar_insn *insn, uint64_t pc, struct ts_steps *out,
			   uint32_t n)
{
	uint32_t end = out->n_effects, n_accesses = 0, ordinal = 0;
	bool is_atomic = insn->is_load && insn->is_store;

	for (uint32_t i = n; i < end; i++) {
		if (out->effects[i].is_inferred && insn->is_store && !insn->is_load)
			out->effects[i].kind = TS_FX_WRITE;
		out->effects[i].is_inferred = false;
	}
	if (arch->is_big_endian || !insn->size)
		return;
	for (uint32_t i = n; i < end; i++)
		n_accesses += out->effects[i].kind == TS_FX_READ || out->effects[i].kind == TS_FX_WRITE;
	for (uint32_t i = n; i < end && n_accesses; i++) {
		struct ts_effect *e = &out->effects[i];
		bool is_read = e->kind == TS_FX_READ;

		if ((!is_read && e->kind != TS_FX_WRITE) || e->is_hidden)
			continue;
		if (is_read ? !insn->is_load : !insn->is_store)
			continue;
		if (!e->len || e->len > insn->size) /* a bus shows more than what was stored */
			e->len = insn->size;
		if (e->data == TS_NO_DATA && ordinal < insn->n_values && !(is_atomic && !is_read))
			fill_value(insn, out, n, i, ordinal);
		if (insn->is_push && e->data == TS_NO_DATA)
			fill_pushed(arch, pc + insn->len, out, i);
		ordinal++;
		if (!is_atomic)
			add_second(insn, out, n, i, n_accesses);
	}
}
