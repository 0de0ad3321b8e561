/* SPDX-License-Identifier: MIT */
/*
 * Machines and register names of BAP's frames: from the header's numbers and the recorders' names to the
 * model's registers.
 */
#ifndef LOADERS_BAP_ARCH_H
#define LOADERS_BAP_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/arch/arch.h"

/* The architectures that something depends on, by the format's numbers. */
enum {
	BAP_ARCH_M68K = 2,
	BAP_ARCH_SPARC = 6,
	BAP_ARCH_MIPS = 8,
	BAP_ARCH_X86 = 9,
	BAP_ARCH_POWERPC = 23,
	BAP_ARCH_RS6000 = 24,
	BAP_ARCH_ARM = 35,
	BAP_ARCH_S390 = 66,
	BAP_ARCH_AARCH64 = 78,
};

/* A machine of x86. */
#define BAP_I8086 2

enum bap_slot_kind {
	BAP_SLOT_NONE,  /* no such name */
	BAP_SLOT_REG,   /* bytes of a register */
	BAP_SLOT_FLAG,  /* bits of a flag register */
	BAP_SLOT_FLAGS, /* a whole flag register */
	BAP_SLOT_PC,
	BAP_SLOT_IGNORE, /* known, but nothing that the model or gdb has */
};

/* Where an operand's value goes. */
struct bap_slot {
	uint64_t key[2];
	enum bap_slot_kind kind;
	uint32_t off;      /* of the register, or of a part of it, in the 'g' layout */
	uint16_t len;      /* bytes there */
	uint16_t extend;   /* a write also clears what lies above, up to this many bytes; 0: it does not */
	uint32_t off_high; /* of bytes 16 and up (ymm), 0: none */
	uint8_t shift;     /* FLAG: of the value, at most a byte, in the flag register */
	uint32_t mask;     /* FLAG: its bits there */
	uint8_t group;     /* FLAG, FLAGS: ordinal of the flag register */
	uint16_t feature;  /* of the architecture, that has the register */
};

/*
 * A register that recorders log bit by bit.  A byte of it is known when all its needed bits are; the others,
 * which no recorder logs, are those of the default.
 */
struct bap_flags {
	uint32_t off, len; /* in the 'g' layout; at most 4 bytes */
	uint32_t usual, need;
};

#define BAP_MAX_FLAGS 2
#define BAP_MAX_NAME  16
#define BAP_N_SLOTS   8192u

struct bap_names {
	struct bap_slot slots[BAP_N_SLOTS];
	struct bap_flags flags[BAP_MAX_FLAGS];
	unsigned n_flags;
};

/* The name of an architecture's number, NULL for a number that the format does not define. */
const char *bap_arch_name(uint64_t number);

/*
 * The model's architecture for the header's numbers, NULL if the model has none.  *is_order_open is set when
 * the file does not tell the byte order and machines of both orders exist; what is returned then is the usual
 * one.
 */
const struct ts_arch *bap_arch_model(uint64_t number, uint64_t machine, bool *is_order_open);

/*
 * What gdb calls the machine, where it knows it better than the model, whose set of registers it shares;
 * NULL: as the model does.
 */
const char *bap_arch_gdb_name(uint64_t number, uint64_t machine);

/*
 * Learn all names of registers for a set; @is_snapshot: the recorder's program counter and x86 flags are
 * stale.
 */
void bap_names_init(struct bap_names *t, const struct ts_regset *set, bool is_snapshot);

/* The features of the architecture (a bit each, by ordinal) that have a register with a name. */
uint32_t bap_names_features(const struct bap_names *t);

/* The hash of a name's key. */
static inline uint32_t bap_name_hash(const uint64_t key[2])
{
	return (uint32_t)((key[0] * UINT64_C(0x9e3779b97f4a7c15) ^ key[1] * UINT64_C(0xc2b2ae3d27d4eb4f)) >>
			  51);
}

/*
 * The key of a name of @len bytes, at most BAP_MAX_NAME; so many bytes can be read at @name, whatever they
 * are.
 */
static inline void bap_name_key(const uint8_t *name, size_t len, uint64_t key[2])
{
	static const uint8_t masks[2 * BAP_MAX_NAME] = { 255, 255, 255, 255, 255, 255, 255, 255,
							 255, 255, 255, 255, 255, 255, 255, 255 };
	uint64_t mask[2];

	memcpy(key, name, BAP_MAX_NAME);
	memcpy(mask, masks + BAP_MAX_NAME - len, BAP_MAX_NAME);
	key[0] = (key[0] & mask[0]) | UINT64_C(0x2020202020202020);
	key[1] = (key[1] & mask[1]) | UINT64_C(0x2020202020202020);
}

/* The slot with a name's key; one of kind BAP_SLOT_NONE if there is none. */
static inline const struct bap_slot *bap_names_find_key(const struct bap_names *t, const uint64_t key[2])
{
	for (uint32_t i = bap_name_hash(key);; i++) {
		const struct bap_slot *s = &t->slots[i % BAP_N_SLOTS];

		if (s->kind == BAP_SLOT_NONE || (s->key[0] == key[0] && s->key[1] == key[1]))
			return s;
	}
}

/* The slot of a name in any case; one of kind BAP_SLOT_NONE if it is unknown. */
static inline const struct bap_slot *bap_names_find(const struct bap_names *t, const void *name, size_t len)
{
	static const struct bap_slot none = { .kind = BAP_SLOT_NONE };
	uint8_t bytes[BAP_MAX_NAME] = { 0 };
	uint64_t key[2];

	if (!len || len > BAP_MAX_NAME)
		return &none;
	memcpy(bytes, name, len);
	bap_name_key(bytes, len, key);
	return bap_names_find_key(t, key);
}

#endif
