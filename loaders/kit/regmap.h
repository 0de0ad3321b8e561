/* SPDX-License-Identifier: MIT */
/*
 * A map from a recorder's names of registers to bytes of the 'g' layout.
 *
 * Recorders use their emulator's names of registers, and log parts of them ("al", "w3", "s1"), single bits of
 * flag registers ("zf"), or registers that the layout has in two pieces ("ymm0").  A loader adds all names
 * that it knows when it opens a trace and then looks up each value's name.  Names are not case-sensitive; a
 * name that is added twice keeps its first meaning.
 *
 * Recorders that number registers add the numbers as names of two characters or more ("44"), or keep slots in
 * a table of their own, filled by regmap_find().
 */
#ifndef LOADERS_KIT_REGMAP_H
#define LOADERS_KIT_REGMAP_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/arch/arch.h"

enum regmap_kind {
	REGMAP_NONE,  /* no such name */
	REGMAP_REG,   /* bytes of a register */
	REGMAP_FLAG,  /* bits of a flag register */
	REGMAP_FLAGS, /* a whole flag register */
	REGMAP_PC,
	REGMAP_IGNORE, /* a known register that neither the model nor gdb has */
};

/* The place of a register's value in the 'g' layout. */
struct regmap_slot {
	uint64_t key[2];
	enum regmap_kind kind;
	uint32_t off;      /* of the register, or of a part of it, in the 'g' layout */
	uint16_t len;      /* bytes there */
	uint16_t extend;   /* a write also clears higher bytes, up to this many; 0: it does not */
	uint32_t off_high; /* of bytes 16 and up (ymm), 0: none */
	uint8_t shift;     /* FLAG: the lowest bit of the value, at most a byte, in the flag register */
	uint32_t mask;     /* FLAG: the bits of the value in the flag register */
	uint8_t group;     /* FLAG, FLAGS: ordinal of the flag register */
	uint16_t feature;  /* of the architecture, that has the register */
};

/*
 * A register that recorders log bit by bit.  A byte of it is known if all its bits in `need` are known.  The
 * bits that recorders do not log have their values in `usual`.
 */
struct regmap_flags {
	uint32_t off, len; /* in the 'g' layout; at most 4 bytes */
	uint32_t usual, need;
};

#define REGMAP_MAX_FLAGS 2
#define REGMAP_MAX_NAME  16
#define REGMAP_MAX_SLOTS 1280u /* aarch64 has 1,064 in the spellings of BAP's recorders */
#define REGMAP_N_PLACES  4096u

/* A spelling of every name. */
struct regmap_form {
	const char *prefix, *suffix; /* prefix NULL: end of the list */
};

struct regmap {
	struct regmap_slot slots[REGMAP_MAX_SLOTS]; /* in the order of addition; slot 0 has no name */
	uint32_t n_slots;
	uint16_t places[REGMAP_N_PLACES]; /* hash table with linear probing: ordinals of slots; 0: free */
	struct regmap_flags flags[REGMAP_MAX_FLAGS];
	unsigned n_flags;
	const struct regmap_form *forms; /* borrowed */
};

/* --------------------------------------------------------------------------------------------- to fill it */

/*
 * Initialize an empty map.  @forms are the spellings of each name, borrowed as long as names are added; NULL:
 * names are used unchanged.
 */
void regmap_init(struct regmap *t, const struct regmap_form *forms);

/* Add a name in all its spellings.  Names longer than REGMAP_MAX_NAME are ignored. */
void regmap_add(struct regmap *t, const char *name, const struct regmap_slot *slot);

/* Add a name that has no bytes in the layout; @kind is REGMAP_PC or REGMAP_IGNORE. */
void regmap_add_other(struct regmap *t, const char *name, enum regmap_kind kind);

/*
 * Add @name for @len bytes (0: all) of register @reg, from byte @at on (0: the lowest).  @extend is the
 * number of bytes that a write changes; those above the value become zero.  Nothing is added if the set has
 * no such bytes.
 */
void regmap_add_part(struct regmap *t, const struct ts_regset *set, const char *name, const char *reg,
		     uint16_t at, uint16_t len, uint16_t extend);

/* Add @name for the whole register @reg. */
void regmap_add_alias(struct regmap *t, const struct ts_regset *set, const char *name, const char *reg);

/*
 * Add a flag register of at most 4 bytes that is logged in bits; @name is its name as a whole.  @usual has
 * the values of the bits that are not logged.  @need has the bits that must all be known.
 */
void regmap_add_group(struct regmap *t, const struct ts_regset *set, const char *reg, uint32_t usual,
		      uint32_t need, const char *name);

/* Add @name for @bits bits, from bit @shift on, of the flag register that was added last. */
void regmap_add_flag(struct regmap *t, const char *name, uint8_t shift, uint8_t bits);

/* Add every register of the set under its own name. */
void regmap_add_set(struct regmap *t, const struct ts_regset *set);

/* For x86, add eflags and its bits; al, ah, ax, eax and the like; ymm, as xmm and the bytes above it. */
void regmap_add_x86(struct regmap *t, const struct ts_regset *set);

/* -------------------------------------------------------------------------------------- to look it up */

/* Returns the features of the architecture, a bit each by ordinal, that have a register with a name. */
uint32_t regmap_features(const struct regmap *t);

/* The hash of a name's key. */
static inline uint32_t regmap_hash(const uint64_t key[2])
{
	return (uint32_t)((key[0] * UINT64_C(0x9e3779b97f4a7c15) ^ key[1] * UINT64_C(0xc2b2ae3d27d4eb4f)) >>
			  52);
}

/*
 * The key of a name of @len bytes, at most REGMAP_MAX_NAME; REGMAP_MAX_NAME bytes must be readable at @name.
 */
static inline void regmap_key(const uint8_t *name, size_t len, uint64_t key[2])
{
	const uint64_t all = UINT64_MAX;
	uint64_t mask[2] = { len >= 8 ? all : ~(all << 8 * len), len <= 8 ? 0 : len == 16 ? all : ~(all << 8 * (len - 8)) };

	memcpy(&key[0], name, 8);
	memcpy(&key[1], name + 8, 8);
	mask[0] = htole64(mask[0]);
	mask[1] = htole64(mask[1]);
	key[0] = (key[0] & mask[0]) | UINT64_C(0x2020202020202020);
	key[1] = (key[1] & mask[1]) | UINT64_C(0x2020202020202020);
}

/*
 * Returns the slot of the name with this key, borrowed from the map; a slot of kind REGMAP_NONE if it is
 * unknown.
 */
static inline const struct regmap_slot *regmap_find_key(const struct regmap *t, const uint64_t key[2])
{
	for (uint32_t i = regmap_hash(key);; i++) {
		const struct regmap_slot *s = &t->slots[t->places[i % REGMAP_N_PLACES]];

		if ((s->key[0] == key[0] && s->key[1] == key[1]) || s->kind == REGMAP_NONE)
			return s;
	}
}

/*
 * Returns the slot of a name, in upper or lower case, borrowed from the map; a slot of kind REGMAP_NONE if it
 * is unknown.
 */
static inline const struct regmap_slot *regmap_find(const struct regmap *t, const void *name, size_t len)
{
	static const struct regmap_slot none = { .kind = REGMAP_NONE };
	uint8_t bytes[REGMAP_MAX_NAME] = { 0 };
	uint64_t key[2];

	if (!len || len > REGMAP_MAX_NAME)
		return &none;
	memcpy(bytes, name, len);
	regmap_key(bytes, len, key);
	return regmap_find_key(t, key);
}

#endif
