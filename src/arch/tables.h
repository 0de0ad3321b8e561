/* SPDX-License-Identifier: MIT */
/*
 * Macros for the tables of registers (arm.c, x86.c, ...).  Included only by them.
 *
 * The tables say what gdb's own feature files say (gdb 13, gdb/features): each register's name, width, type,
 * number and order. A wrong line here shifts every register after it.  The first register of each feature
 * has its number, so that numbers do not depend on which optional features a recording has.
 */
#ifndef TS_ARCH_TABLES_H
#define TS_ARCH_TABLES_H

#include "arch.h"
#include "families.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* One register: numbered after the one before it, at a number of its own, with a role, with a group. */
#define REG(name_, bits_, type_)                                          \
	{                                                                 \
		.name = name_, .bits = bits_, .regnum = -1, .type = type_ \
	}
#define REG_AT(num_, name_, bits_, type_)                                   \
	{                                                                   \
		.name = name_, .bits = bits_, .regnum = num_, .type = type_ \
	}
#define REG_AS(role_, name_, bits_, type_)                                               \
	{                                                                                \
		.name = name_, .bits = bits_, .regnum = -1, .type = type_, .role = role_ \
	}
#define REG_AT_AS(num_, role_, name_, bits_, type_)                                        \
	{                                                                                  \
		.name = name_, .bits = bits_, .regnum = num_, .type = type_, .role = role_ \
	}
#define REG_IN(group_, name_, bits_, type_)                                                \
	{                                                                                  \
		.name = name_, .bits = bits_, .regnum = -1, .type = type_, .group = group_ \
	}

/* Registers of one kind whose names count: "st" 0..7 and so on; z is what follows the digits. */
#define REGS_0_7(a, z, bits, type)                                                            \
	REG(a "0" z, bits, type), REG(a "1" z, bits, type), REG(a "2" z, bits, type),         \
		REG(a "3" z, bits, type), REG(a "4" z, bits, type), REG(a "5" z, bits, type), \
		REG(a "6" z, bits, type), REG(a "7" z, bits, type)
#define REGS_1_7(a, z, bits, type)                                                            \
	REG(a "1" z, bits, type), REG(a "2" z, bits, type), REG(a "3" z, bits, type),         \
		REG(a "4" z, bits, type), REG(a "5" z, bits, type), REG(a "6" z, bits, type), \
		REG(a "7" z, bits, type)
#define REGS_8_9(a, z, bits, type) REG(a "8" z, bits, type), REG(a "9" z, bits, type)
#define REGS_TEN(a, z, bits, type) REGS_0_7(a, z, bits, type), REGS_8_9(a, z, bits, type)
#define REGS_10_15(a, z, bits, type)                                                     \
	REG(a "10" z, bits, type), REG(a "11" z, bits, type), REG(a "12" z, bits, type), \
		REG(a "13" z, bits, type), REG(a "14" z, bits, type), REG(a "15" z, bits, type)
#define REGS_8_15(a, z, bits, type) REGS_8_9(a, z, bits, type), REGS_10_15(a, z, bits, type)
#define REGS_0_15(a, z, bits, type) REGS_0_7(a, z, bits, type), REGS_8_15(a, z, bits, type)
#define REGS_1_15(a, z, bits, type) REGS_1_7(a, z, bits, type), REGS_8_15(a, z, bits, type)
#define REGS_16_19(a, z, bits, type)                                                     \
	REG(a "16" z, bits, type), REG(a "17" z, bits, type), REG(a "18" z, bits, type), \
		REG(a "19" z, bits, type)
#define REGS_16_31(a, z, bits, type)                                                             \
	REGS_16_19(a, z, bits, type), REGS_TEN(a "2", z, bits, type), REG(a "30" z, bits, type), \
		REG(a "31" z, bits, type)
#define REGS_1_31(a, z, bits, type) REGS_1_15(a, z, bits, type), REGS_16_31(a, z, bits, type)

/* Types and their fields. */
#define BIT(name_, bit_)                                  \
	{                                                 \
		.name = name_, .start = bit_, .end = bit_ \
	}
#define BITS(name_, start_, end_)                           \
	{                                                   \
		.name = name_, .start = start_, .end = end_ \
	}
#define MEMBER(name_, type_)                                         \
	{                                                            \
		.name = name_, .type = type_, .start = -1, .end = -1 \
	}
#define VECTOR(id_, elem_, count_)                                                \
	{                                                                         \
		.id = id_, .kind = TS_TYPE_VECTOR, .elem = elem_, .count = count_ \
	}
#define UNION(id_, fields_)                                                                     \
	{                                                                                       \
		.id = id_, .kind = TS_TYPE_UNION, .fields = fields_, .n_fields = COUNT(fields_) \
	}
#define FLAGS(id_, len_, fields_)                                                   \
	{                                                                           \
		.id = id_, .kind = TS_TYPE_FLAGS, .count = len_, .fields = fields_, \
		.n_fields = COUNT(fields_)                                          \
	}

/* The list of registers and of types of a feature. */
#define WITH_REGS(table)  .regs = table, .n_regs = COUNT(table)
#define WITH_TYPES(table) .types = table, .n_types = COUNT(table)

#endif
