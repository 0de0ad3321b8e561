/* SPDX-License-Identifier: MIT */
/*
 * Asks for a word and compares it: what a story of tracestub-queries(7) is about.  Without a C library:
 * gcc -g -O1 -static -nostdlib -fno-pie -no-pie -fno-stack-protector -fcf-protection=none -o gate gate.c;
 * echo sesamo | tracestub record -o gate.ucir ./gate
 */
static const char word[] = "sesame";
static char line[16];

static long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

__attribute__((noinline)) static int is_right(const char *a, const char *b)
{
	for (; *a; a++, b++) {
		if (*a != *b)
			return 0;
	}
	return 1;
}

__attribute__((force_align_arg_pointer)) void _start(void)
{
	call(0, 0, (long)line, sizeof(line));
	if (is_right(word, line))
		call(1, 1, (long)"yes\n", 4);
	else
		call(1, 1, (long)"no\n", 3);
	call(231, 0, 0, 0);
}
