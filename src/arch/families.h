/* SPDX-License-Identifier: MIT */
/*
 * The tables of all architectures, a file a family, for arch.c, which finds them.
 */
#ifndef TS_ARCH_FAMILIES_H
#define TS_ARCH_FAMILIES_H

struct ts_arch;

extern const struct ts_arch ts_arch_x86_64, ts_arch_i386, ts_arch_i8086;
extern const struct ts_arch ts_arch_arm, ts_arch_armeb, ts_arch_aarch64, ts_arch_aarch64_be;
extern const struct ts_arch ts_arch_mips, ts_arch_mipsel, ts_arch_mips64, ts_arch_mips64el;
extern const struct ts_arch ts_arch_sparc, ts_arch_sparc64;
extern const struct ts_arch ts_arch_m68k;
extern const struct ts_arch ts_arch_ppc, ts_arch_ppc64, ts_arch_ppc64le;
extern const struct ts_arch ts_arch_riscv32, ts_arch_riscv64;
extern const struct ts_arch ts_arch_s390, ts_arch_s390x;

#endif
