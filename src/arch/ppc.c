/* SPDX-License-Identifier: MIT */
/*
 * Registers of PowerPC: 32 bits, 64 bits big-endian and little-endian.
 *
 * The floating-point registers' numbers (32..63) lie inside the core feature's, so that order in a 'g' packet
 * is not order in the description.  No register is set aside for a frame pointer.
 */
#include "tables.h"

enum { CORE, FPU, LINUX, ALTIVEC, VSX };

#define POWER_CORE(bits, type)                                                                              \
	REG_AT(0, "r0", bits, type), REG_AS(TS_ROLE_SP, "r1", bits, type), REG("r2", bits, type),           \
		REG("r3", bits, type), REG("r4", bits, type), REG("r5", bits, type), REG("r6", bits, type), \
		REG("r7", bits, type), REGS_8_15("r", "", bits, type), REGS_16_31("r", "", bits, type),     \
		REG_AT_AS(64, TS_ROLE_PC, "pc", bits, "code_ptr"), REG("msr", bits, type),                  \
		REG_AS(TS_ROLE_FLAGS, "cr", 32, "uint32"), REG("lr", bits, "code_ptr"),                     \
		REG("ctr", bits, type), REG("xer", 32, "uint32")

#define POWER_LINUX(bits) REG_AT(71, "orig_r3", bits, NULL), REG_AS(TS_ROLE_RESTART, "trap", bits, NULL)

static const struct ts_reg_def core32[] = { POWER_CORE(32, "uint32") };
static const struct ts_reg_def core64[] = { POWER_CORE(64, "uint64") };
static const struct ts_reg_def linux32[] = { POWER_LINUX(32) };
static const struct ts_reg_def linux64[] = { POWER_LINUX(64) };

static const struct ts_reg_def fpu[] = {
	REG_AT(32, "f0", 64, "ieee_double"),
	REGS_1_31("f", "", 64, "ieee_double"),
	{ .name = "fpscr", .bits = 32, .regnum = 70, .group = "float" },
};

static const struct ts_field_def vec128_fields[] = {
	MEMBER("uint128", "uint128"), MEMBER("v4_float", "v4f"),   MEMBER("v4_int32", "v4i32"),
	MEMBER("v8_int16", "v8i16"),  MEMBER("v16_int8", "v16i8"),
};

static const struct ts_type_def altivec_types[] = {
	VECTOR("v4f", "ieee_single", 4), VECTOR("v4i32", "int32", 4),	 VECTOR("v8i16", "int16", 8),
	VECTOR("v16i8", "int8", 16),	 UNION("vec128", vec128_fields),
};

static const struct ts_reg_def altivec[] = {
	REG_AT(73, "vr0", 128, "vec128"),
	REGS_1_31("vr", "", 128, "vec128"),
	REG_IN("vector", "vscr", 32, NULL),
	REG_IN("vector", "vrsave", 32, NULL),
};

static const struct ts_reg_def vsx[] = {
	REG_AT(107, "vs0h", 64, "uint64"),
	REGS_1_31("vs", "h", 64, "uint64"),
};

#define FEATURES(core, linux)                                                                   \
	[CORE] = { .name = "org.gnu.gdb.power.core", WITH_REGS(core) },                         \
	[FPU] = { .name = "org.gnu.gdb.power.fpu", .is_optional = true, WITH_REGS(fpu) },       \
	[LINUX] = { .name = "org.gnu.gdb.power.linux", .is_optional = true, WITH_REGS(linux) }, \
	[ALTIVEC] = { .name = "org.gnu.gdb.power.altivec",                                      \
		      .is_optional = true,                                                      \
		      WITH_REGS(altivec),                                                       \
		      WITH_TYPES(altivec_types) },                                              \
	[VSX] = { .name = "org.gnu.gdb.power.vsx",                                              \
		  .is_optional = true,                                                          \
		  .needs = 1u << FPU | 1u << ALTIVEC,                                           \
		  WITH_REGS(vsx) }

static const struct ts_feature_def features32[] = { FEATURES(core32, linux32) };
static const struct ts_feature_def features64[] = { FEATURES(core64, linux64) };

const struct ts_arch ts_arch_ppc = {
	.name = "ppc",
	.gdb_name = "powerpc:common",
	.is_big_endian = true,
	.addr_bits = 32,
	.min_insn_len = 4,
	.is_fixed_insn = true,
	.is_trap_early = true,
	.features = features32,
	.n_features = COUNT(features32),
};

/* Both byte orders.  Not fixed: Power10 has prefixed instructions of eight bytes. */
#define PPC64 \
	.gdb_name = "powerpc:common64", .addr_bits = 64, .min_insn_len = 4, .is_trap_early = true, \
	.features = features64, .n_features = COUNT(features64)

const struct ts_arch ts_arch_ppc64 = { .name = "ppc64", .is_big_endian = true, PPC64 };
const struct ts_arch ts_arch_ppc64le = { .name = "ppc64le", PPC64 };
