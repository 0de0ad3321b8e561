/* SPDX-License-Identifier: MIT */
/* A handler of SIGFPE: exits 0 if si_addr is the instruction that failed, as sigaction(2) has it. */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__i386__)
#define PC REG_EIP
#else
#define PC REG_RIP
#endif

static volatile int zero;

static void handler(int num, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	_exit(info->si_addr != (void *)c->uc_mcontext.gregs[PC]);
}

int main(void)
{
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	sigaction(SIGFPE, &a, NULL);
	return 1000 / zero;
}
