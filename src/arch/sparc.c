/* SPDX-License-Identifier: MIT */
/*
 * Registers of SPARC, 32 bits (V8) and 64 bits (V9).
 *
 * gdb wants all three features; the program counters are in cp0, after the floating-point registers.  o6 and
 * i6 are called sp and fp.  V9's upper floating-point registers are f32, f34, ... f62, of 64 bits each.
 */
#include "tables.h"

#define CPU(bits, type)                                                                                     \
	REG_AT(0, "g0", bits, type), REGS_1_7("g", "", bits, type), REG("o0", bits, type),                  \
		REG("o1", bits, type), REG("o2", bits, type), REG("o3", bits, type), REG("o4", bits, type), \
		REG("o5", bits, type), REG_AS(TS_ROLE_SP, "sp", bits, type), REG("o7", bits, type),         \
		REGS_0_7("l", "", bits, type), REG("i0", bits, type), REG("i1", bits, type),                \
		REG("i2", bits, type), REG("i3", bits, type), REG("i4", bits, type), REG("i5", bits, type), \
		REG_AS(TS_ROLE_FP, "fp", bits, type), REG("i7", bits, type)

#define FPU REG_AT(32, "f0", 32, "ieee_single"), REGS_1_31("f", "", 32, "ieee_single")

static const struct ts_reg_def cpu32[] = { CPU(32, "uint32") };
static const struct ts_reg_def fpu32[] = { FPU };

static const struct ts_reg_def cp032[] = {
	REG_AT(64, "y", 32, "uint32"),
	REG_AS(TS_ROLE_FLAGS, "psr", 32, "uint32"),
	REG("wim", 32, "uint32"),
	REG("tbr", 32, "uint32"),
	REG_AS(TS_ROLE_PC, "pc", 32, "code_ptr"),
	REG("npc", 32, "code_ptr"),
	REG("fsr", 32, "uint32"),
	REG("csr", 32, "uint32"),
};

static const struct ts_feature_def features32[] = {
	{ .name = "org.gnu.gdb.sparc.cpu", WITH_REGS(cpu32) },
	{ .name = "org.gnu.gdb.sparc.cp0", WITH_REGS(cp032) },
	{ .name = "org.gnu.gdb.sparc.fpu", WITH_REGS(fpu32) },
};

static const struct ts_reg_def cpu64[] = { CPU(64, "uint64") };

static const struct ts_reg_def fpu64[] = {
	FPU,
	REG("f32", 64, "ieee_double"),
	REG("f34", 64, "ieee_double"),
	REG("f36", 64, "ieee_double"),
	REG("f38", 64, "ieee_double"),
	REG("f40", 64, "ieee_double"),
	REG("f42", 64, "ieee_double"),
	REG("f44", 64, "ieee_double"),
	REG("f46", 64, "ieee_double"),
	REG("f48", 64, "ieee_double"),
	REG("f50", 64, "ieee_double"),
	REG("f52", 64, "ieee_double"),
	REG("f54", 64, "ieee_double"),
	REG("f56", 64, "ieee_double"),
	REG("f58", 64, "ieee_double"),
	REG("f60", 64, "ieee_double"),
	REG("f62", 64, "ieee_double"),
};

static const struct ts_reg_def cp064[] = {
	REG_AT_AS(80, TS_ROLE_PC, "pc", 64, "code_ptr"),
	REG("npc", 64, "code_ptr"),
	REG_AS(TS_ROLE_FLAGS, "state", 64, "uint64"),
	REG("fsr", 64, "uint64"),
	REG("fprs", 64, "uint64"),
	REG("y", 64, "uint64"),
};

static const struct ts_feature_def features64[] = {
	{ .name = "org.gnu.gdb.sparc.cpu", WITH_REGS(cpu64) },
	{ .name = "org.gnu.gdb.sparc.cp0", WITH_REGS(cp064) },
	{ .name = "org.gnu.gdb.sparc.fpu", WITH_REGS(fpu64) },
};

const struct ts_arch ts_arch_sparc = {
	.name = "sparc",
	.gdb_name = "sparc",
	.is_big_endian = true,
	.addr_bits = 32,
	.min_insn_len = 4,
	.is_fixed_insn = true,
	.has_delay_slots = true,
	.features = features32,
	.n_features = COUNT(features32),
};

const struct ts_arch ts_arch_sparc64 = {
	.name = "sparc64",
	.gdb_name = "sparc:v9",
	.is_big_endian = true,
	.addr_bits = 64,
	.min_insn_len = 4,
	.is_fixed_insn = true,
	.has_delay_slots = true,
	.features = features64,
	.n_features = COUNT(features64),
};
