/* SPDX-License-Identifier: MIT */
/*
 * Code that stores write, x86-64 (e2e/record_valgrind.py): the next instruction of a straight line, in anonymous memory and in
 * the program's own file; a function of a file that is mapped twice, written by the other mapping.  It prints what the functions
 * return.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const unsigned char next[] = { 0x40, 0x88, 0x3d, 1, 0, 0, 0, /* mov [rip + 1], dil: into the next instruction */
				      0xb8, 0, 0, 0, 0, 0xc3 };     /* mov eax, 0; ret */

extern unsigned char own[];
__asm__(".text\n.globl own\nown: .byte 0x40,0x88,0x3d,1,0,0,0,0xb8,0,0,0,0,0xc3\n.p2align 4\n");

static void run(const char *name, const unsigned char *code)
{
	int (*f)(int) = (int (*)(int))(uintptr_t)code;

	printf("%s %d", name, f(3));
	printf(" %d", f(5));
	printf(" %d\n", f(5));
}

static void run_alias(void)
{
	int fd = memfd_create("code", 0);
	unsigned char *written, *run_there;
	int (*f)(void);

	if (fd < 0 || ftruncate(fd, 4096))
		return;
	written = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	run_there = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	memcpy(written, "\xb8\0\0\0\0\xc3", 6);
	f = (int (*)(void))(uintptr_t)run_there;
	printf("alias");
	for (unsigned char i = 7; i < 10; i++) {
		written[1] = i;
		printf(" %d", f());
	}
	printf("\n");
}

int main(void)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, next, sizeof(next));
	run("anonymous", page);
	if (mprotect((void *)((uintptr_t)own & ~(uintptr_t)4095), 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 1;
	run("own", own);
	run_alias();
	return 0;
}
