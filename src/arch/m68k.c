/* SPDX-License-Identifier: MIT */
/*
 * Registers of the 68000 family.
 *
 * The optional floating-point feature has ColdFire's name but, beside the m68k core feature, the 68881's
 * 96-bit registers: gdb takes "float" of that width for its own long double.
 */
#include "tables.h"

static const struct ts_reg_def core[] = {
	REG_AT(0, "d0", 32, NULL),
	REGS_1_7("d", "", 32, NULL),
	REG("a0", 32, "data_ptr"),
	REG("a1", 32, "data_ptr"),
	REG("a2", 32, "data_ptr"),
	REG("a3", 32, "data_ptr"),
	REG("a4", 32, "data_ptr"),
	REG("a5", 32, "data_ptr"),
	REG_AS(TS_ROLE_FP, "fp", 32, "data_ptr"),
	REG_AS(TS_ROLE_SP, "sp", 32, "data_ptr"),
	REG_AS(TS_ROLE_FLAGS, "ps", 32, NULL),
	REG_AS(TS_ROLE_PC, "pc", 32, "code_ptr"),
};

static const struct ts_reg_def fp[] = {
	REG_AT(18, "fp0", 96, "float"),
	REGS_1_7("fp", "", 96, "float"),
	REG_IN("float", "fpcontrol", 32, NULL),
	REG_IN("float", "fpstatus", 32, NULL),
	REG_IN("float", "fpiaddr", 32, "code_ptr"),
};

static const struct ts_feature_def features[] = {
	{ .name = "org.gnu.gdb.m68k.core", WITH_REGS(core) },
	{ .name = "org.gnu.gdb.coldfire.fp", .is_optional = true, WITH_REGS(fp) },
};

const struct ts_arch ts_arch_m68k = {
	.name = "m68k",
	.gdb_name = "m68k",
	.is_big_endian = true,
	.addr_bits = 32,
	.min_insn_len = 2,
	.features = features,
	.n_features = COUNT(features),
};
