/* SPDX-License-Identifier: MIT */
/*
 * Instructions of x86 that compilers seldom make, on many operands, without a library: arithmetic of all widths with its
 * flags, string instructions with each kind of repetition, locked ones, decimal arithmetic (i386), SSE2 and, with -mavx2, AVX2.
 */
static unsigned char buf[512] __attribute__((aligned(32)));
static unsigned seed = 12345;

static unsigned number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

static void arithmetic(unsigned a, unsigned b)
{
	__asm__ volatile("addl %1, %0; adcb %b1, %b0; sbbw %w1, %w0; shll $3, %0; rolb $1, %b0; rorw $1, %w0; rcll $1, %0\n\t"
			 "incl %0; decb %b0; imull %1, %0; bsrl %1, %0; addl %1, %0; negl %0; notl %0; movb $5, %%cl\n\t"
			 "shrl %%cl, %0; sarw $1, %w0; shll $1, %0; bsfl %1, %0; andb %b1, %b0; stc; cmc; clc; bswapl %0"
			 : "+q"(a) : "q"(b) : "cc", "ecx");
	__asm__ volatile("mull %2; divl %3" : "=a"(a), "=d"(b) : "r"(b | 1), "r"(0x80000001u), "0"(a & 0x7fffffff), "1"(0) : "cc");
	__asm__ volatile("movl %0, %%eax; sahf; lahf; cwtl; cltd" : : "r"(a & 0xff) : "eax", "edx", "cc");
}

static void strings(unsigned n)
{
	unsigned char *from = buf + 64, *to = buf;
	unsigned long count = n;

	__asm__ volatile("cld; rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
	count = n;
	to = buf;
	__asm__ volatile("rep stosl" : "+D"(to), "+c"(count) : "a"(n) : "memory");
	count = 5;
	from = buf + 100;
	to = buf + 200;
	__asm__ volatile("std; rep movsw; cld" : "+S"(from), "+D"(to), "+c"(count) : : "memory", "cc");
	count = 20;
	to = buf;
	__asm__ volatile("repne scasb" : "+D"(to), "+c"(count) : "a"(n) : "cc");
	count = 9;
	from = buf;
	to = buf + 1;
	__asm__ volatile("repe cmpsb" : "+S"(from), "+D"(to), "+c"(count) : : "cc");
	count = 0;
	__asm__ volatile("rep stosb; lodsw" : "+S"(from), "+D"(to), "+c"(count) : "a"(n) : "cc");
}

static void locked(unsigned a, unsigned b)
{
	unsigned char is;

	__asm__ volatile("lock cmpxchg8b %0" : "+m"(buf[0]) : "a"(a), "d"(b), "b"(1), "c"(2) : "cc", "memory");
	__asm__ volatile("lock xaddl %1, %0; xchgl %1, %0; btsl $3, %0; lock btcl $4, %0; shldl $3, %1, %0; shrdl $5, %1, %0"
			 : "+m"(*(int *)(buf + 16)), "+r"(a) : : "cc");
	__asm__ volatile("lock cmpxchgl %2, %1; sete %0" : "=q"(is), "+m"(*(int *)(buf + 20)) : "r"(b), "a"(0) : "cc");
	__asm__ volatile("movl %0, %%ecx; jecxz 1f; 2: loop 2b; 1: cmovc %0, %%eax; movsbw %%al, %%ax" : : "r"(b % 7) : "eax", "ecx");
}

#if defined(__i386__)
static void of_32_bits(unsigned a)
{
	__asm__ volatile("movl %0, %%eax; daa; das; aaa; aas; aam; aad; xlatb" : : "r"(a & 0xff), "b"(buf) : "eax", "cc");
	__asm__ volatile("pushal; popal; pushl %%ds; popl %%ds; pushl %%es; popl %%es" : : : "memory");
}
#else
static void of_32_bits(unsigned a)
{
}
#endif

static void vectors(unsigned a)
{
	__asm__ volatile("movdqu (%0), %%xmm0; pshufd $27, %%xmm0, %%xmm1; paddd %%xmm0, %%xmm1; movups %%xmm1, 32(%0)\n\t"
			 "cvtsi2sd %1, %%xmm2; mulsd %%xmm2, %%xmm2; sqrtsd %%xmm2, %%xmm3; ucomisd %%xmm3, %%xmm2\n\t"
			 "movq %%xmm3, 48(%0); movd %%xmm1, %%eax; pmovmskb %%xmm1, %%edx; pcmpeqb %%xmm0, %%xmm1"
			 : : "r"(buf + 128), "r"(a) : "xmm0", "xmm1", "xmm2", "xmm3", "memory", "cc", "eax", "edx");
	__asm__ volatile("movd %0, %%mm0; paddb %%mm0, %%mm0; movd %%mm0, %1; emms" : : "r"(a), "m"(buf[80]) : "memory");
#if defined(__AVX2__)
	__asm__ volatile("vmovdqu (%0), %%ymm4; vpermq $27, %%ymm4, %%ymm5; vpaddd %%ymm4, %%ymm5, %%ymm6; vmovd %1, %%xmm7\n\t"
			 "vpbroadcastd %%xmm7, %%ymm8; vpsllvd %%ymm8, %%ymm6, %%ymm9; vpcmpgtd %%ymm9, %%ymm6, %%ymm10\n\t"
			 "vpmaskmovd %%ymm9, %%ymm10, 64(%0); vpgatherdd %%ymm10, (%0,%%ymm11,4), %%ymm12; vzeroupper"
			 : : "r"(buf + 128), "r"(a) : "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm12", "memory");
#endif
}

void _start(void)
{
	for (int i = 0; i < 100; i++) {
		arithmetic(number(), number());
		strings(number() % 16);
		locked(number(), number());
		of_32_bits(number());
		vectors(number());
	}
#if defined(__i386__)
	__asm__ volatile("int $0x80" : : "a"(1), "b"(7));
#else
	__asm__ volatile("syscall" : : "a"(231), "D"(7));
#endif
}
