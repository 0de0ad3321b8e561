/* SPDX-License-Identifier: MIT */
/*
 * Registers of MIPS, 32 and 64 bits, both byte orders.
 *
 * gdb wants all three features: a description without cp0 or fpu is refused.  Numbers interleave: the cpu
 * feature leaves 32, 35 and 36 to cp0.  gdb shows r0..r31 under the names of the ABI (zero, at, v0, ...).
 * MIPS16 and microMIPS code has two-byte instructions.
 *
 * gdb chooses the ABI by the program.  Without one it takes o32, shows half of each 64-bit register and cuts
 * addresses, unless the processor is one that it knows to have a 64-bit ABI: so mips64 says that it is an
 * R5000.  A program's own processor comes before that.
 */
#include "tables.h"

#define CPU(bits)                                                                                     \
	REG_AT(0, "r0", bits, NULL), REGS_1_15("r", "", bits, NULL), REGS_16_19("r", "", bits, NULL), \
		REGS_0_7("r2", "", bits, NULL), REG("r28", bits, NULL),                               \
		REG_AS(TS_ROLE_SP, "r29", bits, NULL), REG_AS(TS_ROLE_FP, "r30", bits, NULL),         \
		REG("r31", bits, NULL), REG_AT(33, "lo", bits, NULL), REG("hi", bits, NULL),          \
		REG_AT_AS(37, TS_ROLE_PC, "pc", bits, NULL)

#define CP0(bits) \
	REG_AT(32, "status", bits, NULL), REG_AT(35, "badvaddr", bits, NULL), REG("cause", bits, NULL)

#define FPU(bits, type)                                                                                    \
	REG_AT(38, "f0", bits, type), REGS_1_31("f", "", bits, type), REG_IN("float", "fcsr", bits, NULL), \
		REG_IN("float", "fir", bits, NULL)

static const struct ts_reg_def cpu32[] = { CPU(32) };
static const struct ts_reg_def cp032[] = { CP0(32) };
static const struct ts_reg_def fpu32[] = { FPU(32, "ieee_single") };

static const struct ts_feature_def features32[] = {
	{ .name = "org.gnu.gdb.mips.cpu", WITH_REGS(cpu32) },
	{ .name = "org.gnu.gdb.mips.cp0", WITH_REGS(cp032) },
	{ .name = "org.gnu.gdb.mips.fpu", WITH_REGS(fpu32) },
};

static const struct ts_reg_def cpu64[] = { CPU(64) };
static const struct ts_reg_def cp064[] = { CP0(64) };
static const struct ts_reg_def fpu64[] = { FPU(64, "ieee_double") };

static const struct ts_feature_def features64[] = {
	{ .name = "org.gnu.gdb.mips.cpu", WITH_REGS(cpu64) },
	{ .name = "org.gnu.gdb.mips.cp0", WITH_REGS(cp064) },
	{ .name = "org.gnu.gdb.mips.fpu", WITH_REGS(fpu64) },
};

/* Both byte orders. */
#define MIPS \
	.gdb_name = "mips", .addr_bits = 32, .has_signed_addrs = true, .min_insn_len = 2, \
	.is_trap_early = true, .has_delay_slots = true, .features = features32, \
	.n_features = COUNT(features32)

const struct ts_arch ts_arch_mips = { .name = "mips", .is_big_endian = true, MIPS };
const struct ts_arch ts_arch_mipsel = { .name = "mipsel", MIPS };

/* Both byte orders. */
#define MIPS64 \
	.gdb_name = "mips:5000", .addr_bits = 64, .min_insn_len = 2, .is_trap_early = true, \
	.has_delay_slots = true, .features = features64, .n_features = COUNT(features64)

const struct ts_arch ts_arch_mips64 = { .name = "mips64", .is_big_endian = true, MIPS64 };
const struct ts_arch ts_arch_mips64el = { .name = "mips64el", MIPS64 };
