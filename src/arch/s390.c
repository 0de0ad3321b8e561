/* SPDX-License-Identifier: MIT */
/*
 * Registers of IBM's s390 in 31-bit and 64-bit mode, which gdb wants all of: general, access and
 * floating-point.
 *
 * There is no program counter but the address half of the program status word.
 */
#include "tables.h"

#define CORE(bits_, type_)                                                                    \
	REG_AT(0, "pswm", bits_, type_), REG_AS(TS_ROLE_PC, "pswa", bits_, type_),            \
		REG("r0", bits_, type_), REGS_1_7("r", "", bits_, type_),                     \
		REGS_8_9("r", "", bits_, type_), REG("r10", bits_, type_),                    \
		REG_AS(TS_ROLE_FP, "r11", bits_, type_), REG("r12", bits_, type_),            \
		REG("r13", bits_, type_), REG("r14", bits_, type_), REG_AS(TS_ROLE_SP, "r15", bits_, type_)

static const struct ts_reg_def core_31[] = { CORE(32, "uint32") };
static const struct ts_reg_def core_64[] = { CORE(64, "uint64") };

static const struct ts_reg_def access[] = {
	REG_AT(18, "acr0", 32, "uint32"),
	REGS_1_15("acr", "", 32, "uint32"),
};

static const struct ts_reg_def fpr[] = {
	REG_AT(34, "fpc", 32, "uint32"),
	REG("f0", 64, "ieee_double"),
	REGS_1_15("f", "", 64, "ieee_double"),
};

#define FEATURES(core_)                                                          \
	{ .name = "org.gnu.gdb.s390.core", WITH_REGS(core_) },                   \
		{ .name = "org.gnu.gdb.s390.acr", WITH_REGS(access) },           \
	{                                                                        \
		.name = "org.gnu.gdb.s390.fpr", WITH_REGS(fpr)                   \
	}

static const struct ts_feature_def features_31[] = { FEATURES(core_31) };
static const struct ts_feature_def features_64[] = { FEATURES(core_64) };

const struct ts_arch ts_arch_s390 = {
	.name = "s390",
	.gdb_name = "s390:31-bit",
	.is_big_endian = true,
	.addr_bits = 32,
	.min_insn_len = 2,
	.features = features_31,
	.n_features = COUNT(features_31),
};

const struct ts_arch ts_arch_s390x = {
	.name = "s390x",
	.gdb_name = "s390:64-bit",
	.is_big_endian = true,
	.addr_bits = 64,
	.min_insn_len = 2,
	.features = features_64,
	.n_features = COUNT(features_64),
};
