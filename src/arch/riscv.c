/* SPDX-License-Identifier: MIT */
/*
 * Registers of RISC-V, 32 and 64 bits.
 *
 * The fpu feature is not marked optional: gdb takes a description without it, but then refuses every program
 * built for a floating-point ABI ("bfd requires flen 8, but target has flen 0").  It is 64 bits wide for
 * both: a program may need less than the target has, never more.
 */
#include "tables.h"

#define CPU(bits)                                                                                           \
	REG_AT(0, "zero", bits, "int"), REG("ra", bits, "code_ptr"),                                        \
		REG_AS(TS_ROLE_SP, "sp", bits, "data_ptr"), REG("gp", bits, "data_ptr"),                    \
		REG("tp", bits, "data_ptr"), REG("t0", bits, "int"), REG("t1", bits, "int"),                \
		REG("t2", bits, "int"), REG_AS(TS_ROLE_FP, "fp", bits, "data_ptr"), REG("s1", bits, "int"), \
		REGS_0_7("a", "", bits, "int"), REG("s2", bits, "int"), REG("s3", bits, "int"),             \
		REG("s4", bits, "int"), REG("s5", bits, "int"), REG("s6", bits, "int"),                     \
		REG("s7", bits, "int"), REG("s8", bits, "int"), REG("s9", bits, "int"),                     \
		REG("s10", bits, "int"), REG("s11", bits, "int"), REG("t3", bits, "int"),                   \
		REG("t4", bits, "int"), REG("t5", bits, "int"), REG("t6", bits, "int"),                     \
		REG_AS(TS_ROLE_PC, "pc", bits, "code_ptr")

static const struct ts_reg_def cpu32[] = { CPU(32) };
static const struct ts_reg_def cpu64[] = { CPU(64) };

static const struct ts_field_def double_fields[] = {
	MEMBER("float", "ieee_single"),
	MEMBER("double", "ieee_double"),
};

static const struct ts_type_def fpu_types[] = {
	UNION("riscv_double", double_fields),
};

/* fcsr has the number of control register 3; 66 and 67 are its parts, which gdb makes itself. */
static const struct ts_reg_def fpu[] = {
	REG_AT(33, "ft0", 64, "riscv_double"),	REGS_1_7("ft", "", 64, "riscv_double"),
	REG("fs0", 64, "riscv_double"),		REG("fs1", 64, "riscv_double"),
	REGS_0_7("fa", "", 64, "riscv_double"), REG("fs2", 64, "riscv_double"),
	REG("fs3", 64, "riscv_double"),		REG("fs4", 64, "riscv_double"),
	REG("fs5", 64, "riscv_double"),		REG("fs6", 64, "riscv_double"),
	REG("fs7", 64, "riscv_double"),		REG("fs8", 64, "riscv_double"),
	REG("fs9", 64, "riscv_double"),		REG("fs10", 64, "riscv_double"),
	REG("fs11", 64, "riscv_double"),	REG("ft8", 64, "riscv_double"),
	REG("ft9", 64, "riscv_double"),		REG("ft10", 64, "riscv_double"),
	REG("ft11", 64, "riscv_double"),	REG_AT(68, "fcsr", 32, "int"),
};

#define FEATURES(cpu)                                                                  \
	{ .name = "org.gnu.gdb.riscv.cpu", WITH_REGS(cpu) },                           \
	{                                                                              \
		.name = "org.gnu.gdb.riscv.fpu", WITH_REGS(fpu), WITH_TYPES(fpu_types) \
	}

static const struct ts_feature_def features32[] = { FEATURES(cpu32) };
static const struct ts_feature_def features64[] = { FEATURES(cpu64) };

const struct ts_arch ts_arch_riscv32 = {
	.name = "riscv32",
	.gdb_name = "riscv:rv32",
	.addr_bits = 32,
	.min_insn_len = 2,
	.is_trap_early = true,
	.features = features32,
	.n_features = COUNT(features32),
};

const struct ts_arch ts_arch_riscv64 = {
	.name = "riscv64",
	.gdb_name = "riscv:rv64",
	.addr_bits = 64,
	.min_insn_len = 2,
	.is_trap_early = true,
	.features = features64,
	.n_features = COUNT(features64),
};
