/* SPDX-License-Identifier: MIT */
/*
 * Instructions of AArch64 that compilers seldom make, without a C library: flags of all kinds, exclusive and atomic accesses,
 * vectors and their structure loads, saturation, the floating-point registers.
 */
#include <asm/unistd.h>

static unsigned char bytes[256] __attribute__((aligned(64)));
static unsigned long words[8] __attribute__((aligned(64))) = { 1, 2, 3, 4, 5, 6, 7, 8 };

#define RUN(text, ...) __asm__ volatile(text : : "r"(words), "r"(bytes), ##__VA_ARGS__ \
	: "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "cc", "memory")

static void flags(unsigned long a, unsigned long b)
{
	RUN("adds x2, %2, %3; adcs x3, %2, %3; adcs w3, %w2, %w3; subs x4, %2, %3; sbcs x5, %2, %3; sbcs w5, %w2, %w3", "r"(a), "r"(b));
	RUN("adds w2, %w2, %w3; adc x3, %2, %3; subs w4, %w2, %w3; sbc x5, %2, %3; ngcs x6, %2; ands x7, %2, %3; bics w8, %w2, %w3",
	    "r"(a), "r"(b));
	RUN("cmp %2, %3; ccmp %2, #3, #5, ne; ccmn %w2, %w3, #10, lt; csel x2, %2, %3, hi; csinc x3, %2, %3, ge; cset x4, vs", "r"(a), "r"(b));
	RUN("mrs x2, nzcv; eor x2, x2, #0xf0000000; msr nzcv, x2; csinv x3, %2, %3, pl; csneg x4, %2, %3, mi; tst %2, #0xff", "r"(a), "r"(b));
	RUN("cls x2, %2; clz w3, %w2; rbit x4, %2; rev x5, %2; rev16 w6, %w2; extr x7, %2, %3, #13; umulh x8, %2, %3; smulh x9, %2, %3",
	    "r"(a), "r"(b));
	RUN("sdiv x2, %2, %3; udiv w3, %w2, %w3; madd x4, %2, %3, x2; smaddl x5, %w2, %w3, x4; umsubl x6, %w2, %w3, x5", "r"(a), "r"(b));
}

static void accesses(void)
{
	RUN("ldxr x2, [%0]; add x2, x2, #1; stxr w3, x2, [%0]; ldaxrb w4, [%1]; stlxrb w5, w2, [%1]; ldaxrh w6, [%1]; stlxrh w7, w2, [%1]");
	RUN("ldxr x2, [%0]; clrex; stxr w3, x2, [%0]; stxr w4, x2, [%0]; ldar x5, [%0]; stlr x5, [%0]; ldarb w6, [%1]; stlrh w6, [%1]");
	RUN("ldp x2, x3, [%0], #16; stp x3, x2, [%0, #-16]!; ldpsw x4, x5, [%0]; ldrsb w6, [%1, #3]; ldursh x7, [%1, #5]; prfm pldl1keep, [%1]");
	RUN("ldnp q0, q1, [%1]; stnp q1, q0, [%1, #32]; ldr b2, [%1, #1]; ldr h3, [%1, #2]; str s2, [%1, #4]; str d3, [%1, #8]!; ldr q4, [%1], #-8");
	RUN("ld1 {v0.16b, v1.16b, v2.16b}, [%1]; st1 {v0.8h, v1.8h}, [%1]; ld2 {v4.4s, v5.4s}, [%1]; st2 {v4.4s, v5.4s}, [%1]");
	RUN("ld3 {v0.8b, v1.8b, v2.8b}, [%1]; st3 {v0.8b, v1.8b, v2.8b}, [%1]; ld4 {v4.2d, v5.2d, v6.2d, v7.2d}, [%1]; st4 {v4.16b, v5.16b, v6.16b, v7.16b}, [%1]");
	RUN("ld1r {v3.4h}, [%1]; ld1 {v3.b}[5], [%1]; st1 {v3.s}[2], [%1]; ld2 {v4.h, v5.h}[3], [%1]; st2 {v4.d, v5.d}[1], [%1]");
#ifdef WITH_ATOMICS
	RUN(".arch_extension lse; ldadd x2, x3, [%0]; ldclrb w2, w4, [%1]; ldseth w2, w5, [%1]; swp x2, x6, [%0]; ldeor w2, w7, [%0]; "
	    "ldsmax x2, x8, [%0]; ldumin w2, w9, [%0]; stadd w2, [%0]; ldr x3, [%0]; cas x3, x2, [%0]; ldrb w4, [%1]; casb w4, w5, [%1]");
#endif
}

static void vectors(void)
{
	RUN("movi v0.16b, #0x7f; movi v1.4s, #1, msl #16; mvni v2.8h, #3; fmov v3.2d, #1.5; dup v4.4s, %w0; ins v4.d[1], %1; umov w2, v4.s[1]; smov x3, v0.b[3]");
	RUN("mrs x2, fpsr; sqadd v5.16b, v0.16b, v0.16b; mrs x3, fpsr; uqsub v6.4s, v1.4s, v4.4s; sqdmulh v7.4s, v4.4s, v4.4s; msr fpsr, xzr; mrs x4, fpsr");
	RUN("tbl v5.16b, {v0.16b, v1.16b}, v2.16b; tbx v6.8b, {v4.16b}, v2.8b; zip1 v7.4s, v0.4s, v1.4s; uzp2 v5.8h, v4.8h, v1.8h; trn1 v6.2d, v0.2d, v4.2d; ext v7.16b, v0.16b, v1.16b, #5");
	RUN("addv s5, v4.4s; umaxv b6, v4.16b; saddlp v7.8h, v0.16b; uabdl v5.8h, v0.8b, v4.8b; pmull v6.8h, v0.8b, v4.8b; sshl v7.2d, v0.2d, v1.2d; rbit v5.16b, v4.16b; cnt v6.8b, v4.8b");
	RUN("fadd v5.2d, v3.2d, v3.2d; fmla v5.2d, v3.2d, v3.2d; fdiv d6, d3, d5; fsqrt s7, s3; fcvtzs x2, d5; scvtf d6, x2; fcvt s7, d5; fcvt h7, d5; frinta d5, d6");
	RUN("fcmp d3, d5; fccmp d5, d3, #7, gt; fcsel d6, d3, d5, le; fcmeq v7.2d, v3.2d, v5.2d; fmin d5, d3, d6; fnmadd d5, d3, d6, d5; fabs d6, d5; fneg s7, s6");
	RUN("mrs x2, fpcr; mov x3, #0x400000; msr fpcr, x3; fdiv d5, d3, d6; msr fpcr, x2; mrs x4, tpidr_el0; msr tpidr_el0, x4; isb; dmb ish");
}

void _start(void)
{
	static const unsigned long some[] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 1ul << 63, ~0ul, 0x123456789abcdef };

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 37 + 5);
	for (unsigned i = 0; i < 10; i++) {
		for (unsigned k = 0; k < 10; k++)
			flags(some[i], some[k]);
	}
	accesses();
	vectors();
	register long x8 __asm__("x8") = __NR_exit_group, x0 __asm__("x0") = 5;

	__asm__ volatile("svc #0" : : "r"(x8), "r"(x0));
	__builtin_unreachable();
}
