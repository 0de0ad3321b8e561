/* SPDX-License-Identifier: MIT */
#include "regmap.h"

#include <assert.h>
#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void regmap_init(struct regmap *t, const struct regmap_form *forms)
{
	static const struct regmap_form plain[] = { { "", "" }, { NULL, NULL } };

	t->slots[0] = (struct regmap_slot){ .kind = REGMAP_NONE };
	t->n_slots = 1;
	t->n_flags = 0;
	memset(t->places, 0, sizeof(t->places));
	t->forms = forms ? forms : plain;
}

static void add_key(struct regmap *t, const uint64_t key[2], const struct regmap_slot *slot)
{
	uint32_t i = regmap_hash(key);
	struct regmap_slot *s;

	if (regmap_find_key(t, key)->kind != REGMAP_NONE)
		return;
	while (t->places[i % REGMAP_N_PLACES])
		i++;
	assert(t->n_slots < REGMAP_MAX_SLOTS);
	t->places[i % REGMAP_N_PLACES] = (uint16_t)t->n_slots;
	s = &t->slots[t->n_slots++];
	*s = *slot;
	memcpy(s->key, key, 2 * sizeof(key[0]));
}

void regmap_add(struct regmap *t, const char *name, const struct regmap_slot *slot)
{
	size_t len = strlen(name);

	for (const struct regmap_form *f = t->forms; f->prefix; f++) {
		size_t before = strlen(f->prefix), after = strlen(f->suffix);
		uint8_t text[REGMAP_MAX_NAME] = { 0 };
		uint64_t key[2];

		if (before + len + after > sizeof(text))
			continue;
		memcpy(text, f->prefix, before);
		/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes */
		memcpy(text + before, name, len);
		memcpy(text + before + len, f->suffix, after);
		regmap_key(text, before + len + after, key);
		add_key(t, key, slot);
	}
}

/* regmap_add_part() of a register of the set. */
static void add_bytes(struct regmap *t, const struct ts_regset *set, const char *name, const struct ts_reg *r,
		      uint16_t at, uint16_t len, uint16_t extend)
{
	struct regmap_slot slot = { .kind = REGMAP_REG, .len = len, .extend = extend };

	if (!slot.len)
		slot.len = r->len;
	if (at + slot.len > r->len)
		return;
	slot.off = r->off + (set->arch->is_big_endian ? r->len - at - slot.len : at);
	slot.feature = r->feature;
	regmap_add(t, name, &slot);
}

void regmap_add_part(struct regmap *t, const struct ts_regset *set, const char *name, const char *reg,
		     uint16_t at, uint16_t len, uint16_t extend)
{
	int i = ts_regset_find(set, reg);

	if (i >= 0)
		add_bytes(t, set, name, &set->regs[i], at, len, extend);
}

void regmap_add_alias(struct regmap *t, const struct ts_regset *set, const char *name, const char *reg)
{
	regmap_add_part(t, set, name, reg, 0, 0, 0);
}

void regmap_add_other(struct regmap *t, const char *name, enum regmap_kind kind)
{
	const struct regmap_slot slot = { .kind = kind };

	regmap_add(t, name, &slot);
}

/* A flag of the group that was added last. */
void regmap_add_flag(struct regmap *t, const char *name, uint8_t shift, uint8_t bits)
{
	const struct regmap_slot slot = {
		.kind = REGMAP_FLAG,
		.off = t->flags[t->n_flags - 1].off,
		.shift = shift,
		.mask = ((UINT32_C(1) << bits) - 1) << shift,
		.group = (uint8_t)(t->n_flags - 1),
	};

	regmap_add(t, name, &slot);
}

/* A register that is logged in bits; @names are those under which it comes whole. */
void regmap_add_group(struct regmap *t, const struct ts_regset *set, const char *reg, uint32_t usual,
		      uint32_t need, const char *name)
{
	const struct ts_reg *r = &set->regs[ts_regset_find(set, reg)];
	const struct regmap_slot slot = {
		.kind = REGMAP_FLAGS,
		.off = r->off,
		.len = r->len,
		.group = (uint8_t)t->n_flags,
		.feature = r->feature,
	};

	assert(r->len <= 4 && t->n_flags < REGMAP_MAX_FLAGS);
	t->flags[t->n_flags++] = (struct regmap_flags){ r->off, r->len, usual, need };
	regmap_add(t, reg, &slot);
	regmap_add(t, name, &slot);
}

void regmap_add_set(struct regmap *t, const struct ts_regset *set)
{
	for (unsigned i = 0; i < set->n_regs; i++)
		add_bytes(t, set, set->regs[i].name, &set->regs[i], 0, 0, 0);
}

uint32_t regmap_features(const struct regmap *t)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].kind == REGMAP_REG || t->slots[i].kind == REGMAP_FLAGS)
			mask |= 1u << t->slots[i].feature;
	return mask;
}

/* ------------------------------------------------------------------------------------------------- x86 */

static void add_x86_flags(struct regmap *t, const struct ts_regset *set)
{
	static const struct {
		const char *name;
		uint8_t bit;
	} flags[] = { { "cf", 0 },  { "pf", 2 },  { "af", 4 },  { "zf", 6 },  { "sf", 7 },
		      { "tf", 8 },  { "if", 9 },  { "df", 10 }, { "of", 11 }, { "nt", 14 },
		      { "rf", 16 }, { "vm", 17 }, { "ac", 18 } };

	regmap_add_group(t, set, "eflags", 0x202, 0x8d5, "rflags");
	for (size_t i = 0; i < COUNT(flags); i++)
		regmap_add_flag(t, flags[i].name, flags[i].bit, 1);
}

/* ymm: an xmm and what lies above it. */
static void add_ymm(struct regmap *t, const struct ts_regset *set)
{
	for (unsigned i = 0; i < 16; i++) {
		char low[8], high[8], name[8];
		struct regmap_slot slot = { .kind = REGMAP_REG, .len = 32 };
		int x, y;

		snprintf(low, sizeof(low), "xmm%u", i);
		snprintf(high, sizeof(high), "ymm%uh", i);
		snprintf(name, sizeof(name), "ymm%u", i);
		x = ts_regset_find(set, low);
		y = ts_regset_find(set, high);
		if (x < 0 || y < 0)
			return;
		slot.off = set->regs[x].off;
		slot.off_high = set->regs[y].off;
		slot.feature = set->regs[y].feature;
		regmap_add(t, name, &slot);
	}
}

void regmap_add_x86(struct regmap *t, const struct ts_regset *set)
{
	static const char letters[] = "abcd";
	static const char *const rest[] = { "si", "di", "bp", "sp" };
	bool is_64 = set->arch->addr_bits == 64;
	uint16_t extend = is_64 ? 8 : 0;
	char reg[8], name[8];

	add_x86_flags(t, set);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(reg, sizeof(reg), "%c%cx", is_64 ? 'r' : 'e', letters[i]);
		snprintf(name, sizeof(name), "e%cx", letters[i]);
		regmap_add_part(t, set, name, reg, 0, 4, extend);
		regmap_add_part(t, set, name + 1, reg, 0, 2, 0);
		snprintf(name, sizeof(name), "%cl", letters[i]);
		regmap_add_part(t, set, name, reg, 0, 1, 0);
		snprintf(name, sizeof(name), "%ch", letters[i]);
		regmap_add_part(t, set, name, reg, 1, 1, 0);
		snprintf(reg, sizeof(reg), "%c%s", is_64 ? 'r' : 'e', rest[i]);
		snprintf(name, sizeof(name), "e%s", rest[i]);
		regmap_add_part(t, set, name, reg, 0, 4, extend);
		regmap_add_part(t, set, rest[i], reg, 0, 2, 0);
		snprintf(name, sizeof(name), "%sl", rest[i]);
		regmap_add_part(t, set, name, reg, 0, 1, 0);
	}
	for (unsigned i = 8; i < 16; i++) {
		snprintf(reg, sizeof(reg), "r%u", i);
		snprintf(name, sizeof(name), "r%ud", i);
		regmap_add_part(t, set, name, reg, 0, 4, 8);
		snprintf(name, sizeof(name), "r%uw", i);
		regmap_add_part(t, set, name, reg, 0, 2, 0);
		snprintf(name, sizeof(name), "r%ub", i);
		regmap_add_part(t, set, name, reg, 0, 1, 0);
	}
	add_ymm(t, set);
}
