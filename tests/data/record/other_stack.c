/* SPDX-License-Identifier: MIT */
/* A handler on a stack of its own: once it returns, once it jumps out. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static sigjmp_buf back;
volatile int n_seen, mode;
__attribute__((noinline)) void inner(int n) { n_seen += n; __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void handler(int sig) { inner(sig); n_seen++; if (mode) siglongjmp(back, 1); __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void level2(void) { raise(SIGUSR1); n_seen += 100; __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void level1(void) { level2(); n_seen += 1000; __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void after(int n) { n_seen += n; __asm__ volatile("" ::: "memory"); }
int main(void)
{
	stack_t st = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	sigaltstack(&st, 0);
	sigaction(SIGUSR1, &sa, 0);
	level1();
	after(1);
	mode = 1;
	if (!sigsetjmp(back, 1))
		level1();
	after(2);
	printf("%d\n", n_seen);
	return 0;
}
