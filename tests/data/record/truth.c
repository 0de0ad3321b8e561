/* SPDX-License-Identifier: MIT */
/*
 * A program without a C library, whose every register before every instruction is compared with QEMU's own log:
 * integers, floating point, recursion, strings, system calls.
 */
#include <asm/unistd.h>

static long call(long n, long a, long b, long c)
{
#if defined(__x86_64__)
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
#elif defined(__i386__)
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
	return r;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#elif defined(__arm__)
	register long r7 __asm__("r7") = n, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;

	__asm__ volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
	return r0;
#elif defined(__riscv)
	register long a7 __asm__("a7") = n, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
	return a0;
#elif defined(__mips__)
	register long v0 __asm__("$2") = n, a0 __asm__("$4") = a, a1 __asm__("$5") = b, a2 __asm__("$6") = c;
	register long a3 __asm__("$7");

	__asm__ volatile("syscall" : "+r"(v0), "=r"(a3) : "r"(a0), "r"(a1), "r"(a2)
			 : "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", "memory");
	return v0;
#elif defined(__powerpc64__)
	register long r0 __asm__("r0") = n, r3 __asm__("r3") = a, r4 __asm__("r4") = b, r5 __asm__("r5") = c;

	__asm__ volatile("sc" : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5)
			 : : "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cr0", "memory");
	return r3;
#endif
}

/* The compiler may ask for them. */
void *memcpy(void *to, const void *from, unsigned long n)
{
	volatile char *t = to;
	const char *f = from;

	while (n--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int c, unsigned long n)
{
	volatile char *t = to;

	while (n--)
		*t++ = (char)c;
	return to;
}

static unsigned char sieve[97];
static double values[16];
static float singles[16];
static volatile unsigned seed = 12345;

static unsigned __attribute__((noinline)) fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int __attribute__((noinline)) primes(void)
{
	int n = 0;

	for (unsigned i = 2; i < sizeof(sieve); i++) {
		if (sieve[i])
			continue;
		n++;
		for (unsigned k = 2 * i; k < sizeof(sieve); k += i)
			sieve[k] = 1;
	}
	return n;
}

static double __attribute__((noinline)) floats(double x)
{
	for (int i = 0; i < 16; i++) {
		x = x * 1.25 - i / 3.0;
		values[i] = x;
		singles[i] = (float)x * 0.5f + (float)i;
		x += (double)(long)x + singles[i];
		x = x < 1e6 ? x : -x / 7;
	}
	return x;
}

static long long __attribute__((noinline)) wide(long long a)
{
	for (int i = 0; i < 8; i++)
		a = a * 6364136223846793005LL + (a >> 7) / 3 + i;
	return a;
}

static int __attribute__((noinline)) choose(int a, int b)
{
	int r = 0;

	for (int i = 0; i < 12; i++) {
		if ((a ^ i) & 1)
			r += a;
		else
			r -= b;
		r = r > 100 ? r - b : r + i;
		a = (int)((unsigned)a << 1 ^ (unsigned)b);
	}
	return r;
}

#if defined(__x86_64__) || defined(__i386__)
static long double __attribute__((noinline)) x87(long double x)
{
	for (int i = 1; i < 6; i++)
		x = x * x / i + 1.5L - x;
	return x;
}

static char text[64];

static void strings(void)
{
	const void *from = "the quick brown fox jumps over";
	void *to = text;
	long n = 31;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	n = 7;
	__asm__ volatile("std; rep stosb; cld" : "+D"(to), "+c"(n) : "a"('x') : "memory");
}

#ifdef __AVX2__
static unsigned long long lanes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static void avx(void)
{
	__asm__ volatile("vmovdqu (%0), %%ymm3\n vpaddq 32(%0), %%ymm3, %%ymm4\n vperm2i128 $1, %%ymm4, %%ymm3, %%ymm5\n"
			 "vmovdqu %%ymm5, (%0)\n movq %%rax, %%xmm5\n vmovq %%rax, %%xmm4\n vpmaskmovq %%ymm3, %%ymm5, 32(%0)\n"
			 "vzeroupper" : : "r"(lanes), "a"(77L) : "memory", "xmm3", "xmm4", "xmm5");
}
#else
static void avx(void)
{
}
#endif

static void others(void)
{
	volatile long double x = x87(1.25L);

	(void)x;
	strings();
	avx();
	__asm__ volatile("movd %0, %%mm1; paddb %%mm1, %%mm1; emms" : : "r"(0x12345678));
}
#elif defined(__aarch64__) && !defined(WITHOUT_ZVA) /* which Valgrind does not know */
static char lines[1024] __attribute__((aligned(512)));

static void others(void)
{
	__asm__ volatile("dc zva, %0" : : "r"(lines + 600) : "memory");
}
#elif defined(__powerpc64__)
static double reals[2] = { 1.5, 2.5 };

/* loads of floating-point registers among the integer instructions of operation 31 */
static void others(void)
{
	double *at = reals;

	__asm__ volatile("lfdx 5, %0, %1; lfsx 6, %0, %1; lfiwax 7, %0, %1; lfdux 8, %0, %1"
			 : "+b"(at) : "r"(8L) : "memory", "fr5", "fr6", "fr7", "fr8");
}
#else
static void others(void)
{
}
#endif

#if defined(__x86_64__) || defined(__i386__)
__attribute__((force_align_arg_pointer))
#endif
void _start(void)
{
	static char names[400];
	volatile double d;
	volatile long long w;

	call(__NR_uname, (long)names, 0, 0);
	d = floats(seed * 1.0);
	w = wide((long long)seed << 20);
	others();
	(void)d;
	(void)w;
	seed = fib(9) + (unsigned)primes() + (unsigned)choose(3, (int)seed);
	call(__NR_write, 1, (long)names, 5);
	call(__NR_exit_group, (long)seed & 63, 0, 0);
	for (;;)
		;
}
