/* SPDX-License-Identifier: MIT */
/* Functions with parameters and results of all kinds that the calling convention distinguishes; main has their values. */
#include <stdio.h>

struct pair { double x, y; };
struct mixed { int a; double b; };
struct large { long items[5]; };
struct floats { float a, b, c; };
struct text { char chars[5]; };
struct three { float items[3]; };
union either { long i; double x; };
struct bits { unsigned low : 3, high : 7; };

__attribute__((noinline)) double mean(const double *v, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += v[i];
	return sum / n;
}

__attribute__((noinline)) float half(float x) { return x / 2; }
__attribute__((noinline)) struct pair make_pair(double x, double y) { return (struct pair){ x, y }; }
__attribute__((noinline)) double area(struct pair a, struct pair b) { return a.x * b.y - a.y * b.x; }
__attribute__((noinline)) struct mixed make_mixed(int a, double b, char c, float f) { return (struct mixed){ a + c, b + f }; }
__attribute__((noinline)) struct large make_large(int k) { return (struct large){ { k, k + 1, k + 2, 3, 4 } }; }
__attribute__((noinline)) void nothing(short s, unsigned char u, _Bool b) { __asm__ volatile("" ::"r"(s), "r"(u), "r"(b)); }
__attribute__((noinline)) long many(int a, int b, int c, int d, int e, int f, long g, double h, int i)
{
	return a + b + c + d + e + f + g + (long)h + i;
}
__attribute__((noinline)) long double twice(long double x) { return x * 2; }
__attribute__((noinline)) int none(void) { __asm__ volatile(""); return 5; }
__attribute__((noinline)) struct floats next(struct floats x) { x.a += 1; return x; }
__attribute__((noinline)) int of_large(int before, struct large l, int after) { return (int)l.items[1] + before + after; }
__attribute__((noinline)) unsigned of_bits(struct bits b) { return b.high; }
__attribute__((noinline)) struct text make_text(char c) { return (struct text){ { c, 'b', 'c', 0, 5 } }; }
__attribute__((noinline)) struct three make_three(float x) { return (struct three){ { x, 2, 3 } }; }
__attribute__((noinline)) union either make_either(double x) { return (union either){ .x = x }; }
__attribute__((noinline)) int length(const char *text) { int n = 0; while (text[n]) n++; return n; }

int main(int argc, char **argv)
{
	volatile double v[3] = { 1.5, 2.5, 4.25 };
	struct pair p = make_pair(1.25, -2), q = make_pair(3, 4.5);
	struct large l = make_large(argc);
	struct bits b = { 5, 77 };

	(void)argv;
	printf("%g %g %g\n", mean((const double *)v, 3), half(3.5f), area(p, q));
	printf("%g\n", make_mixed(3, 2.5, 'a', 0.5f).b);
	nothing(-3, 200, 1);
	printf("%ld %Lg %d\n", many(1, 2, 3, 4, 5, 6, 7, 8.5, 9), twice(1.5L), none());
	printf("%s %g %g\n", make_text('a').chars, make_three(1).items[0], make_either(2.5).x);
	printf("%g %d %u %d\n", next((struct floats){ 1, 2, 3 }).a, of_large(10, l, 20), of_bits(b), length("some text"));
	return 0;
}
