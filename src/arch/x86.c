/* SPDX-License-Identifier: MIT */
/*
 * Registers of x86: x86_64, i386 and 16-bit code (i8086, which has i386's registers).
 *
 * gdb wants all of the core feature, x87 included.  Under <osabi>GNU/Linux</osabi> it sets up system calls
 * and signals only if the "linux" feature is there too.  The "control" feature is tracestub's own, for
 * recordings of whole machines: what the processor translates addresses by.
 */
#include "tables.h"

enum { CORE, SSE, LINUX, SEGMENTS, AVX, CONTROL };

static const struct ts_field_def eflags_fields[] = {
	BIT("CF", 0),  BIT("", 1),    BIT("PF", 2),   BIT("AF", 4),   BIT("ZF", 6),  BIT("SF", 7),
	BIT("TF", 8),  BIT("IF", 9),  BIT("DF", 10),  BIT("OF", 11),  BIT("NT", 14), BIT("RF", 16),
	BIT("VM", 17), BIT("AC", 18), BIT("VIF", 19), BIT("VIP", 20), BIT("ID", 21),
};

static const struct ts_type_def core_types[] = {
	FLAGS("i386_eflags", 4, eflags_fields),
};

static const struct ts_field_def vec128_fields[] = {
	MEMBER("v8_bfloat16", "v8bf16"), MEMBER("v8_half", "v8h"),    MEMBER("v4_float", "v4f"),
	MEMBER("v2_double", "v2d"),	 MEMBER("v16_int8", "v16i8"), MEMBER("v8_int16", "v8i16"),
	MEMBER("v4_int32", "v4i32"),	 MEMBER("v2_int64", "v2i64"), MEMBER("uint128", "uint128"),
};

static const struct ts_field_def mxcsr_fields[] = {
	BIT("IE", 0), BIT("DE", 1), BIT("ZE", 2), BIT("OE", 3),	 BIT("UE", 4),	BIT("PE", 5),  BIT("DAZ", 6),
	BIT("IM", 7), BIT("DM", 8), BIT("ZM", 9), BIT("OM", 10), BIT("UM", 11), BIT("PM", 12), BIT("FZ", 15),
};

static const struct ts_type_def sse_types[] = {
	VECTOR("v8bf16", "bfloat16", 8),      VECTOR("v8h", "ieee_half", 8), VECTOR("v4f", "ieee_single", 4),
	VECTOR("v2d", "ieee_double", 2),      VECTOR("v16i8", "int8", 16),   VECTOR("v8i16", "int16", 8),
	VECTOR("v4i32", "int32", 4),	      VECTOR("v2i64", "int64", 2),   UNION("vec128", vec128_fields),
	FLAGS("i386_mxcsr", 4, mxcsr_fields),
};

#define SEGMENT_SELECTORS                                                                               \
	REG("cs", 32, "int32"), REG("ss", 32, "int32"), REG("ds", 32, "int32"), REG("es", 32, "int32"), \
		REG("fs", 32, "int32"), REG("gs", 32, "int32")

#define X87                                                                               \
	REGS_0_7("st", "", 80, "i387_ext"), REG_IN("float", "fctrl", 32, "int"),          \
		REG_IN("float", "fstat", 32, "int"), REG_IN("float", "ftag", 32, "int"),  \
		REG_IN("float", "fiseg", 32, "int"), REG_IN("float", "fioff", 32, "int"), \
		REG_IN("float", "foseg", 32, "int"), REG_IN("float", "fooff", 32, "int"), \
		REG_IN("float", "fop", 32, "int")

/* cs_shadow is the descriptor that the processor keeps beside cs, as it would lie in memory. */
#define CONTROL_AT(num)                                                                                    \
	REG_AT(num, "cr0", 64, "uint64"), REG("cr2", 64, "uint64"), REG("cr3", 64, "uint64"),              \
		REG("cr4", 64, "uint64"), REG("cr8", 64, "uint64"), REG("efer", 64, "uint64"), \
		REG("cs_shadow", 64, "uint64")

static const struct ts_reg_def core64[] = {
	REG_AT(0, "rax", 64, "int64"),
	REG("rbx", 64, "int64"),
	REG("rcx", 64, "int64"),
	REG("rdx", 64, "int64"),
	REG("rsi", 64, "int64"),
	REG("rdi", 64, "int64"),
	REG_AS(TS_ROLE_FP, "rbp", 64, "data_ptr"),
	REG_AS(TS_ROLE_SP, "rsp", 64, "data_ptr"),
	REGS_8_15("r", "", 64, "int64"),
	REG_AS(TS_ROLE_PC, "rip", 64, "code_ptr"),
	REG_AS(TS_ROLE_FLAGS, "eflags", 32, "i386_eflags"),
	SEGMENT_SELECTORS,
	X87,
};

static const struct ts_reg_def sse64[] = {
	REG_AT(40, "xmm0", 128, "vec128"),
	REGS_1_15("xmm", "", 128, "vec128"),
	REG_IN("vector", "mxcsr", 32, "i386_mxcsr"),
};

static const struct ts_reg_def linux64[] = {
	REG_AT_AS(57, TS_ROLE_RESTART, "orig_rax", 64, "int"),
};

static const struct ts_reg_def segments64[] = {
	REG_AT(58, "fs_base", 64, "int"),
	REG("gs_base", 64, "int"),
};

static const struct ts_reg_def avx64[] = {
	REG_AT(60, "ymm0h", 128, "uint128"),
	REGS_1_15("ymm", "h", 128, "uint128"),
};

static const struct ts_reg_def control64[] = {
	CONTROL_AT(76),
};

/* SSE belongs to the ABI: without it gdb 13 aborts when it writes a core file. */
static const struct ts_feature_def features64[] = {
	[CORE] = { .name = "org.gnu.gdb.i386.core", WITH_REGS(core64), WITH_TYPES(core_types) },
	[SSE] = { .name = "org.gnu.gdb.i386.sse", WITH_REGS(sse64), WITH_TYPES(sse_types) },
	[LINUX] = { .name = "org.gnu.gdb.i386.linux", .is_optional = true, WITH_REGS(linux64) },
	[SEGMENTS] = { .name = "org.gnu.gdb.i386.segments", .is_optional = true, WITH_REGS(segments64) },
	[AVX] = { .name = "org.gnu.gdb.i386.avx", .is_optional = true, WITH_REGS(avx64) },
	[CONTROL] = { .name = "org.tracestub.i386.control", .is_optional = true, WITH_REGS(control64) },
};

static const struct ts_reg_def core32[] = {
	REG_AT(0, "eax", 32, "int32"),
	REG("ecx", 32, "int32"),
	REG("edx", 32, "int32"),
	REG("ebx", 32, "int32"),
	REG_AS(TS_ROLE_SP, "esp", 32, "data_ptr"),
	REG_AS(TS_ROLE_FP, "ebp", 32, "data_ptr"),
	REG("esi", 32, "int32"),
	REG("edi", 32, "int32"),
	REG_AS(TS_ROLE_PC, "eip", 32, "code_ptr"),
	REG_AS(TS_ROLE_FLAGS, "eflags", 32, "i386_eflags"),
	SEGMENT_SELECTORS,
	X87,
};

static const struct ts_reg_def sse32[] = {
	REG_AT(32, "xmm0", 128, "vec128"),
	REGS_1_7("xmm", "", 128, "vec128"),
	REG_IN("vector", "mxcsr", 32, "i386_mxcsr"),
};

static const struct ts_reg_def linux32[] = {
	REG_AT_AS(41, TS_ROLE_RESTART, "orig_eax", 32, "int"),
};

static const struct ts_reg_def segments32[] = {
	REG_AT(42, "fs_base", 32, "int"),
	REG("gs_base", 32, "int"),
};

static const struct ts_reg_def avx32[] = {
	REG_AT(44, "ymm0h", 128, "uint128"),
	REGS_1_7("ymm", "h", 128, "uint128"),
};

static const struct ts_reg_def control32[] = {
	CONTROL_AT(52),
};

static const struct ts_feature_def features32[] = {
	[CORE] = { .name = "org.gnu.gdb.i386.core", WITH_REGS(core32), WITH_TYPES(core_types) },
	[SSE] = { .name = "org.gnu.gdb.i386.sse",
		  .is_optional = true,
		  WITH_REGS(sse32),
		  WITH_TYPES(sse_types) },
	[LINUX] = { .name = "org.gnu.gdb.i386.linux", .is_optional = true, WITH_REGS(linux32) },
	[SEGMENTS] = { .name = "org.tracestub.i386.segments", .is_optional = true, WITH_REGS(segments32) },
	[AVX] = { .name = "org.gnu.gdb.i386.avx", .is_optional = true, .needs = 1u << SSE, WITH_REGS(avx32) },
	[CONTROL] = { .name = "org.tracestub.i386.control", .is_optional = true, WITH_REGS(control32) },
};

const struct ts_arch ts_arch_x86_64 = {
	.name = "x86_64",
	.gdb_name = "i386:x86-64",
	.addr_bits = 64,
	.min_insn_len = 1,
	.features = features64,
	.n_features = COUNT(features64),
};

const struct ts_arch ts_arch_i386 = {
	.name = "i386",
	.gdb_name = "i386",
	.addr_bits = 32,
	.min_insn_len = 1,
	.features = features32,
	.n_features = COUNT(features32),
};

const struct ts_arch ts_arch_i8086 = {
	.name = "i8086",
	.gdb_name = "i8086",
	.addr_bits = 32,
	.min_insn_len = 1,
	.features = features32,
	.n_features = COUNT(features32),
};
