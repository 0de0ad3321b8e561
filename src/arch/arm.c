/* SPDX-License-Identifier: MIT */
/*
 * Registers of ARM (A32 and Thumb, both byte orders) and AArch64 (both byte orders).
 *
 * ARM's cpsr is number 25: gdb keeps 16..24 for registers of an extinct floating-point unit.  The "neon"
 * feature has no register: it makes gdb show q0..q15, and needs all 32 d registers.
 */
#include "tables.h"

enum { ARM_CORE, ARM_VFP, ARM_NEON };

static const struct ts_reg_def arm_core[] = {
	REG_AT(0, "r0", 32, "uint32"),
	REGS_1_7("r", "", 32, "uint32"),
	REGS_8_9("r", "", 32, "uint32"),
	REG("r10", 32, "uint32"),
	REG_AS(TS_ROLE_FP, "r11", 32, "uint32"),
	REG("r12", 32, "uint32"),
	REG_AS(TS_ROLE_SP, "sp", 32, "data_ptr"),
	REG("lr", 32, NULL),
	REG_AS(TS_ROLE_PC, "pc", 32, "code_ptr"),
	REG_AT_AS(25, TS_ROLE_FLAGS, "cpsr", 32, NULL),
};

static const struct ts_reg_def arm_vfp[] = {
	REG_AT(26, "d0", 64, "ieee_double"),
	REGS_1_31("d", "", 64, "ieee_double"),
	REG_IN("float", "fpscr", 32, "int"),
};

static const struct ts_feature_def arm_features[] = {
	[ARM_CORE] = { .name = "org.gnu.gdb.arm.core", WITH_REGS(arm_core) },
	[ARM_VFP] = { .name = "org.gnu.gdb.arm.vfp", .is_optional = true, WITH_REGS(arm_vfp) },
	[ARM_NEON] = { .name = "org.gnu.gdb.arm.neon", .is_optional = true, .needs = 1u << ARM_VFP },
};

static const struct ts_field_def cpsr_fields[] = {
	BIT("SP", 0),  BITS("EL", 2, 3), BIT("nRW", 4),		BIT("F", 6),	 BIT("I", 7),
	BIT("A", 8),   BIT("D", 9),	 BITS("BTYPE", 10, 11), BIT("SSBS", 12), BIT("IL", 20),
	BIT("SS", 21), BIT("PAN", 22),	 BIT("UAO", 23),	BIT("DIT", 24),	 BIT("TCO", 25),
	BIT("V", 28),  BIT("C", 29),	 BIT("Z", 30),		BIT("N", 31),
};

static const struct ts_type_def a64_core_types[] = {
	FLAGS("cpsr_flags", 4, cpsr_fields),
};

static const struct ts_reg_def a64_core[] = {
	REG_AT(0, "x0", 64, NULL),
	REGS_1_15("x", "", 64, NULL),
	REGS_16_19("x", "", 64, NULL),
	REGS_0_7("x2", "", 64, NULL),
	REG("x28", 64, NULL),
	REG_AS(TS_ROLE_FP, "x29", 64, NULL),
	REG("x30", 64, NULL),
	REG_AS(TS_ROLE_SP, "sp", 64, "data_ptr"),
	REG_AS(TS_ROLE_PC, "pc", 64, "code_ptr"),
	REG_AS(TS_ROLE_FLAGS, "cpsr", 32, "cpsr_flags"),
};

static const struct ts_field_def vnd_fields[] = { MEMBER("f", "v2d"), MEMBER("u", "v2u"),
						  MEMBER("s", "v2i") };
static const struct ts_field_def vns_fields[] = { MEMBER("f", "v4f"), MEMBER("u", "v4u"),
						  MEMBER("s", "v4i") };
static const struct ts_field_def vnh_fields[] = { MEMBER("bf", "v8bf16"), MEMBER("f", "v8f"),
						  MEMBER("u", "v8u"), MEMBER("s", "v8i") };
static const struct ts_field_def vnb_fields[] = { MEMBER("u", "v16u"), MEMBER("s", "v16i") };
static const struct ts_field_def vnq_fields[] = { MEMBER("u", "v1u"), MEMBER("s", "v1i") };
static const struct ts_field_def v_fields[] = { MEMBER("d", "vnd"), MEMBER("s", "vns"), MEMBER("h", "vnh"),
						MEMBER("b", "vnb"), MEMBER("q", "vnq") };

static const struct ts_field_def fpsr_fields[] = {
	BIT("IOC", 0), BIT("DZC", 1), BIT("OFC", 2), BIT("UFC", 3), BIT("IXC", 4), BIT("IDC", 7),
	BIT("QC", 27), BIT("V", 28),  BIT("C", 29),  BIT("Z", 30),  BIT("N", 31),
};

static const struct ts_field_def fpcr_fields[] = {
	BIT("FIZ", 0),	     BIT("AH", 1),    BIT("NEP", 2),	      BIT("IOE", 8),	     BIT("DZE", 9),
	BIT("OFE", 10),	     BIT("UFE", 11),  BIT("IXE", 12),	      BIT("EBF", 13),	     BIT("IDE", 15),
	BITS("Len", 16, 18), BIT("FZ16", 19), BITS("Stride", 20, 21), BITS("RMode", 22, 23), BIT("FZ", 24),
	BIT("DN", 25),	     BIT("AHP", 26),
};

static const struct ts_type_def a64_fpu_types[] = {
	VECTOR("v2d", "ieee_double", 2),
	VECTOR("v2u", "uint64", 2),
	VECTOR("v2i", "int64", 2),
	VECTOR("v4f", "ieee_single", 4),
	VECTOR("v4u", "uint32", 4),
	VECTOR("v4i", "int32", 4),
	VECTOR("v8f", "ieee_half", 8),
	VECTOR("v8u", "uint16", 8),
	VECTOR("v8i", "int16", 8),
	VECTOR("v8bf16", "bfloat16", 8),
	VECTOR("v16u", "uint8", 16),
	VECTOR("v16i", "int8", 16),
	VECTOR("v1u", "uint128", 1),
	VECTOR("v1i", "int128", 1),
	UNION("vnd", vnd_fields),
	UNION("vns", vns_fields),
	UNION("vnh", vnh_fields),
	UNION("vnb", vnb_fields),
	UNION("vnq", vnq_fields),
	UNION("aarch64v", v_fields),
	FLAGS("fpsr_flags", 4, fpsr_fields),
	FLAGS("fpcr_flags", 4, fpcr_fields),
};

static const struct ts_reg_def a64_fpu[] = {
	REG_AT(34, "v0", 128, "aarch64v"),
	REGS_1_31("v", "", 128, "aarch64v"),
	REG("fpsr", 32, "fpsr_flags"),
	REG("fpcr", 32, "fpcr_flags"),
};

/* Without the vector registers, which every program may use, gdb 13 aborts when it writes a core file. */
static const struct ts_feature_def a64_features[] = {
	{ .name = "org.gnu.gdb.aarch64.core", WITH_REGS(a64_core), WITH_TYPES(a64_core_types) },
	{ .name = "org.gnu.gdb.aarch64.fpu", WITH_REGS(a64_fpu), WITH_TYPES(a64_fpu_types) },
};

/* Both byte orders. */
#define ARM \
	.gdb_name = "arm", .addr_bits = 32, .min_insn_len = 2, .has_thumb = true, .is_trap_early = true, \
	.features = arm_features, .n_features = COUNT(arm_features)

const struct ts_arch ts_arch_arm = { .name = "arm", ARM };
const struct ts_arch ts_arch_armeb = { .name = "armeb", .is_big_endian = true, ARM };

/* Both byte orders. */
#define AARCH64 \
	.gdb_name = "aarch64", .addr_bits = 64, .min_insn_len = 4, .is_fixed_insn = true, \
	.is_trap_early = true, .features = a64_features, .n_features = COUNT(a64_features)

const struct ts_arch ts_arch_aarch64 = { .name = "aarch64", AARCH64 };
const struct ts_arch ts_arch_aarch64_be = { .name = "aarch64_be", .is_big_endian = true, AARCH64 };
