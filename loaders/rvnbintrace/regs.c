/* SPDX-License-Identifier: MIT */
/*
 * Recorded registers, found by their names, as gdb's registers.
 *
 * The two recorders differ in x87: one has a register "top" and a bit of x87tags for each register in use,
 * the other has TOP in x87status and the processor's own tag word.
 */
#include "regs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a recorded register of that many bytes becomes registers of the set. */
struct rule {
	const char *name; /* as recorded; with "%u" a number below n */
	uint8_t n;        /* 0: one register of just this name */
	uint16_t len;
	enum rvn_role role;
	const char *gdb;  /* name in the set, with "%u" for the number; NULL: as recorded */
	const char *high; /* VECTOR: name of the upper part */
	uint8_t x87;      /* X87: enum rvn_x87 of the first */
	bool is_wanted;   /* its absence is odd */
};

#define PLAIN(name_, len_)                                        \
	{                                                         \
		.name = (name_), .len = (len_), .role = RVN_PLAIN \
	}
#define WANTED(name_, len_)                                                          \
	{                                                                            \
		.name = (name_), .len = (len_), .role = RVN_PLAIN, .is_wanted = true \
	}
#define PLAINS(name_, n_, len_)                                              \
	{                                                                    \
		.name = (name_), .n = (n_), .len = (len_), .role = RVN_PLAIN \
	}
#define CALLED(name_, len_, gdb_)                                                \
	{                                                                        \
		.name = (name_), .len = (len_), .role = RVN_PLAIN, .gdb = (gdb_) \
	}
#define FOR_X87(name_, len_, x87_)                                             \
	{                                                                      \
		.name = (name_), .len = (len_), .role = RVN_X87, .x87 = (x87_) \
	}

static const struct rule x86_rules[] = {
	{ .name = "rip", .len = 8, .role = RVN_PC },
	WANTED("rax", 8),
	WANTED("rbx", 8),
	WANTED("rcx", 8),
	WANTED("rdx", 8),
	WANTED("rsi", 8),
	WANTED("rdi", 8),
	WANTED("rbp", 8),
	WANTED("rsp", 8),
	WANTED("r8", 8),
	WANTED("r9", 8),
	WANTED("r10", 8),
	WANTED("r11", 8),
	WANTED("r12", 8),
	WANTED("r13", 8),
	WANTED("r14", 8),
	WANTED("r15", 8),
	WANTED("eflags", 4),
	WANTED("cs", 2),
	WANTED("ss", 2),
	WANTED("ds", 2),
	WANTED("es", 2),
	WANTED("fs", 2),
	WANTED("gs", 2),
	{ .name = "x87r%u", .n = 8, .len = 10, .role = RVN_X87, .x87 = RVN_X87R },
	FOR_X87("x87status", 2, RVN_STATUS),
	FOR_X87("x87control", 2, RVN_CONTROL),
	FOR_X87("x87tags", 2, RVN_TAGS),
	FOR_X87("top", 1, RVN_TOP),
	FOR_X87("x87opcode", 2, RVN_OPCODE),
	FOR_X87("x87lastip", 8, RVN_LASTIP),
	FOR_X87("x87lastdp", 8, RVN_LASTDP),
	{ .name = "zmm%u", .n = 16, .len = 64, .role = RVN_VECTOR, .gdb = "xmm%u", .high = "ymm%uh" },
	PLAIN("mxcsr", 4),
	CALLED("msr_c0000100", 8, "fs_base"),
	CALLED("msr_c0000101", 8, "gs_base"),
	WANTED("cr0", 8),
	PLAIN("cr2", 8),
	WANTED("cr3", 8),
	WANTED("cr4", 8),
	PLAIN("cr8", 8),
	CALLED("msr_c0000080", 8, "efer"),
	PLAIN("cs_shadow", 8),
	{ .name = NULL },
};

static const struct rule arm64_rules[] = {
	{ .name = "pc", .len = 8, .role = RVN_PC },
	PLAIN("sp", 8),
	PLAINS("x%u", 31, 8),
	PLAIN("cpsr", 4),
	PLAINS("v%u", 32, 16),
	PLAIN("fpsr", 4),
	PLAIN("fpcr", 4),
	{ .name = NULL },
};

/* The trace is refused without these. */
static const char *const arm64_required[] = { "pc", "sp", "x0", "x1", "x30" };

/* ------------------------------------------------------------------------------------------------ rules */

static bool is_text(const struct rvn_reg *r, const char *text)
{
	return r->name_len == strlen(text) && !memcmp(r->name, text, r->name_len);
}

static void number_name(char *out, size_t out_len, const char *format, unsigned i)
{
	const char *at = strstr(format, "%u");

	if (at)
		snprintf(out, out_len, "%.*s%u%s", (int)(at - format), format, i, at + 2);
	else
		snprintf(out, out_len, "%s", format);
}

/* The rule for a register and its number in it; NULL if none is found. */
static const struct rule *find_rule(const struct rule *rules, const struct rvn_reg *r, unsigned *number)
{
	char name[32];

	for (const struct rule *rule = rules; rule->name; rule++) {
		for (*number = 0; *number < (rule->n ? rule->n : 1); ++*number) {
			number_name(name, sizeof(name), rule->name, *number);
			if (is_text(r, name))
				return rule;
		}
	}
	return NULL;
}

static int find_in_set(const struct rvn *rec, const char *format, unsigned number)
{
	char name[32];

	number_name(name, sizeof(name), format, number);
	return ts_regset_find(&rec->base.regs, name);
}

static bool apply_rule(struct rvn *rec, uint16_t ordinal, const struct rule *rule, unsigned number,
		       struct ts_error *err)
{
	struct rvn_reg *r = &rec->regs[ordinal];
	int reg = rule->role == RVN_X87 ? -1 : find_in_set(rec, rule->gdb ? rule->gdb : rule->name, number);

	if (r->len != rule->len)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "machine description: register \"%.*s\" has %u bytes, where %u are known",
			       r->name_len, (const char *)r->name, r->len, rule->len);
	r->role = rule->role;
	if (rule->role == RVN_X87)
		rec->x87[rule->x87 + number] = ordinal;
	if (rule->role == RVN_PC)
		rec->pc = ordinal;
	if (reg >= 0) {
		r->off = rec->base.regs.regs[reg].off;
		r->g_len = rec->base.regs.regs[reg].len;
	}
	if (rule->role == RVN_VECTOR)
		r->high = rec->base.regs.regs[find_in_set(rec, rule->high, number)].off;
	return true;
}

static bool apply_rules(struct rvn *rec, const struct rule *rules, struct ts_error *err)
{
	unsigned number;

	for (uint32_t i = 0; i < rec->n_regs; i++) {
		const struct rule *rule = find_rule(rules, &rec->regs[i], &number);

		if (rule && !apply_rule(rec, (uint16_t)i, rule, number, err))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------ what is there */

static bool has_register(const struct rvn *rec, const char *name)
{
	for (uint32_t i = 0; i < rec->n_regs; i++)
		if (is_text(&rec->regs[i], name))
			return true;
	return false;
}

/* The register of the set that a rule fills last: its feature needs those of the others. */
static const char *last_name(const struct rule *rule)
{
	if (rule->high)
		return rule->high;
	return rule->gdb ? rule->gdb : rule->name;
}

/* The optional features of which the trace has a register. */
static uint32_t find_features(const struct rvn *rec, const struct ts_arch *arch, const struct rule *rules)
{
	uint32_t features = 0;
	unsigned number;
	char name[32];

	for (uint32_t i = 0; i < rec->n_regs; i++) {
		const struct rule *rule = find_rule(rules, &rec->regs[i], &number);
		const char *last = rule ? last_name(rule) : NULL;
		int feature;

		if (!last || rule->role == RVN_X87)
			continue;
		number_name(name, sizeof(name), last, number);
		feature = ts_arch_feature_with(arch, name);
		if (feature >= 0)
			features |= UINT32_C(1) << feature;
	}
	return features;
}

static void warn_of_missing(struct rvn *rec, const struct rule *rules)
{
	char list[200] = "";
	size_t at = 0;

	for (const struct rule *rule = rules; rule->name; rule++)
		if (rule->is_wanted && !has_register(rec, rule->name) &&
		    at + strlen(rule->name) + 3 < sizeof(list))
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", at ? ", " : "",
					       rule->name);
	if (at)
		ts_recording_warn(&rec->base, "registers that every trace should have are missing: %s", list);
}

static bool check_required(const struct rvn *rec, bool is_arm, struct ts_error *err)
{
	if (!is_arm)
		return has_register(rec, "rip") || ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
							   "machine description: there is no register "
							   "\"rip\", so that no position has an address");
	for (size_t i = 0; i < sizeof(arm64_required) / sizeof(arm64_required[0]); i++)
		if (!has_register(rec, arm64_required[i]))
			return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
				       "machine description: architecture arm1 without a register \"%s\": "
				       "its registers are not those of aarch64",
				       arm64_required[i]);
	return true;
}

/* -------------------------------------------------------------------------------------- what readers keep */

static bool keep(struct rvn *rec, struct rvn_reg *r, struct ts_error *err)
{
	if (r->kept != RVN_NOT_KEPT)
		return true;
	r->kept = rec->kept_len;
	rec->kept_len += r->len;
	return rec->kept_len <= RVN_MAX_KEPT ||
	       ts_fail(err, TS_ELIMIT, TS_NO_OFF,
		       "machine description: operations change more than %u bytes of registers",
		       RVN_MAX_KEPT);
}

static bool place_kept(struct rvn *rec, struct ts_error *err)
{
	bool done = keep(rec, &rec->regs[rec->pc], err);
	uint8_t n_targets = 0;

	for (uint32_t i = 0; done && i < rec->n_regs; i++) {
		if (rec->regs[i].is_op_target) {
			rec->regs[i].target = n_targets++; /* there are 255 ids of operations */
			done = keep(rec, &rec->regs[i], err);
		}
	}
	for (unsigned i = 0; done && i < RVN_N_X87; i++)
		if (rec->x87[i] != RVN_NO_REG)
			done = keep(rec, &rec->regs[rec->x87[i]], err);
	if (!done)
		return false;
	rec->kept = calloc(1, rec->kept_len + RVN_KEPT_PAD);
	return rec->kept || ts_no_memory(err, "registers");
}

/* The short form of an entry of register @r, if it has one: the value, or operation @op if that is not NULL. */
static void shorten(struct rvn_short *s, const struct rvn *rec, const struct rvn_reg *r, const struct rvn_op *op)
{
	uint64_t operand = op && r->len <= 8 ? rvn_le(op->operand, r->len) : 0;

	if (!r->len || r->len > 8)
		return;
	s->ordinal = (uint16_t)(r - rec->regs);
	s->off = r->off;
	s->kept = r->kept;
	s->len = op ? 0 : (uint8_t)r->len;
	s->target = r->target;
	s->width = r->role == RVN_PLAIN && r->len == r->g_len ? (uint8_t)r->len : 0;
	s->mask = UINT64_MAX >> (64 - 8 * r->len);
	s->take = op ? 0 : s->mask;
	s->keep = !op || op->kind == RVN_SET ? 0 : op->kind == RVN_AND ? operand : UINT64_MAX;
	s->set = op && (op->kind == RVN_SET || op->kind == RVN_OR) ? operand : 0;
	s->add = op && op->kind == RVN_ADD ? operand : 0;
	if (r->role == RVN_PC || (r->role == RVN_LEFT_OUT && r->kept != RVN_NOT_KEPT))
		s->way = RVN_KEEP;
	else if (r->kept == RVN_NOT_KEPT && r->role == RVN_PLAIN && r->len == r->g_len)
		s->way = RVN_APPEND;
	else if (r->kept != RVN_NOT_KEPT && r->role != RVN_X87)
		s->way = RVN_KEEP_NOTE;
}

static void shorten_all(struct rvn *rec)
{
	for (unsigned id = 0; id < RVN_LONG_ID; id++) {
		const struct rvn_op *op = &rec->ops[id];
		uint16_t ordinal = op->reg != RVN_NO_REG ? op->reg : rec->reg_of_id[id];

		if (ordinal != RVN_NO_REG)
			shorten(&rec->shorts[id], rec, &rec->regs[ordinal],
				op->reg != RVN_NO_REG ? op : NULL);
	}
}

bool rvn_choose_registers(struct rvn *rec, struct ts_error *err)
{
	bool is_arm = !strcmp(rec->arch, "arm1");
	const struct rule *rules = is_arm ? arm64_rules : x86_rules;
	const struct ts_arch *arch = ts_arch_find(is_arm ? "aarch64" : "x86_64");
	int st;

	for (unsigned i = 0; i < RVN_N_X87; i++)
		rec->x87[i] = RVN_NO_REG;
	if (!check_required(rec, is_arm, err) ||
	    !ts_regset_init(&rec->base.regs, arch, find_features(rec, arch, rules), err) ||
	    !apply_rules(rec, rules, err))
		return false;
	warn_of_missing(rec, rules);
	st = ts_regset_find(&rec->base.regs, "st0");
	rec->x87_off = st >= 0 ? rec->base.regs.regs[st].off : 0;
	if (!place_kept(rec, err))
		return false;
	shorten_all(rec);
	return true;
}

/* ------------------------------------------------------------------------------------------------ values */

void rvn_append_register(const struct rvn_reg *reg, const uint8_t *value, struct ts_steps *out)
{
	uint8_t wide[16] = { 0 };

	if (reg->role == RVN_PLAIN && reg->len == reg->g_len) {
		ts_steps_value(out, TS_FX_REG_WRITE, reg->off, value, reg->len);
	} else if (reg->role == RVN_PLAIN) {
		memcpy(wide, value, reg->len);
		ts_steps_value(out, TS_FX_REG_WRITE, reg->off, wide, reg->g_len);
	} else if (reg->role == RVN_VECTOR) {
		ts_steps_value(out, TS_FX_REG_WRITE, reg->off, value, 16);
		ts_steps_value(out, TS_FX_REG_WRITE, reg->high, value + 16, 16);
	}
}

static bool has(const struct rvn *rec, enum rvn_x87 what)
{
	return rec->x87[what] != RVN_NO_REG;
}

static uint64_t value_of(const struct rvn *rec, const uint8_t *kept, enum rvn_x87 what)
{
	const struct rvn_reg *r = has(rec, what) ? &rec->regs[rec->x87[what]] : NULL;

	return r ? rvn_le(kept + r->kept, r->len) : 0;
}

static bool has_all_x87r(const struct rvn *rec)
{
	for (unsigned i = 0; i < 8; i++)
		if (!has(rec, RVN_X87R + i))
			return false;
	return true;
}

bool rvn_has_x87(const struct rvn *rec, unsigned i)
{
	static const enum rvn_x87 sources[] = { RVN_CONTROL, RVN_STATUS, RVN_TAGS,   RVN_LASTIP,
						RVN_LASTIP,  RVN_LASTDP, RVN_LASTDP, RVN_OPCODE };

	if (i < 8)
		return has_all_x87r(rec) && (has(rec, RVN_TOP) || has(rec, RVN_STATUS));
	if (sources[i - 8] == RVN_TAGS && has(rec, RVN_TOP) && !has_all_x87r(rec))
		return false;
	return has(rec, sources[i - 8]);
}

/* The tag of a register in use: 0 valid, 1 zero, 2 special. */
static unsigned tag_of(const uint8_t *st)
{
	uint64_t mantissa = rvn_le(st, 8);
	unsigned exponent = (unsigned)rvn_le(st + 8, 2) & 0x7fff;

	if (!exponent && !mantissa)
		return 1;
	return !exponent || exponent == 0x7fff || !(mantissa >> 63) ? 2 : 0;
}

/* The tag word, computed from one bit for each register in use. */
static unsigned tag_word(const struct rvn *rec, const uint8_t *kept, unsigned in_use)
{
	unsigned word = 0;

	for (unsigned i = 0; i < 8; i++)
		word |= (in_use >> i & 1 ? tag_of(kept + rec->regs[rec->x87[RVN_X87R + i]].kept) : 3u)
			<< 2 * i;
	return word;
}

static void put32(uint8_t *p, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

void rvn_make_x87(const struct rvn *rec, const uint8_t *kept, uint8_t out[RVN_X87_LEN])
{
	unsigned status = (unsigned)value_of(rec, kept, RVN_STATUS),
		 tags = (unsigned)value_of(rec, kept, RVN_TAGS);
	unsigned top = has(rec, RVN_TOP) ? (unsigned)value_of(rec, kept, RVN_TOP) & 7 : status >> 11 & 7;
	uint64_t ip = value_of(rec, kept, RVN_LASTIP), dp = value_of(rec, kept, RVN_LASTDP);
	uint8_t *control = out + 8 * RVN_ST_LEN;

	memset(out, 0, RVN_X87_LEN);
	for (unsigned i = 0; i < 8 && has_all_x87r(rec); i++)
		memcpy(out + i * RVN_ST_LEN, kept + rec->regs[rec->x87[RVN_X87R + ((top + i) & 7)]].kept,
		       RVN_ST_LEN);
	if (has(rec, RVN_TOP) && has_all_x87r(rec))
		tags = tag_word(rec, kept, tags);
	put32(control, value_of(rec, kept, RVN_CONTROL));
	put32(control + 4, (status & ~0x3800u) | top << 11);
	put32(control + 8, tags);
	put32(control + 12, ip >> 32 & 0xffff);
	put32(control + 16, ip);
	put32(control + 20, dp >> 32 & 0xffff);
	put32(control + 24, dp);
	put32(control + 28, value_of(rec, kept, RVN_OPCODE) & 0x7ff);
}
