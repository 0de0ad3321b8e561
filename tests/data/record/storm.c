/* SPDX-License-Identifier: MIT */
/*
 * Signals that come between any two instructions; the first argument says how. Prints how often the handlers were called.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST 40
#define N_KINDS 20
#define COPIED 1024

static volatile int n_alarms, n_children, n_others, n_wanted;
static unsigned char other_stack[1 << 18] __attribute__((aligned(4096)));
uint32_t copy[COPIED / 4];

/* ---------------------------------------------------------------- a timer, and children that end */

/* The frame at @context is in copy. */
void __attribute__((noinline, noclone)) frame_is_copied(void *context)
{
	__asm__ volatile("" : : "r"(context) : "memory");
}

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	for (unsigned i = 0; i < COPIED / 4; i++)
		((volatile uint32_t *)copy)[i] = ((volatile uint32_t *)context)[i];
	if (++n_alarms == n_wanted)
		frame_is_copied(context);
}

static void on_child(int sig)
{
	n_children++;
}

/* After the instructions that an emulator has a function for, stores of its own are seen where theirs are. */
static void compute(void)
{
	static unsigned char from[600] __attribute__((aligned(64))), to[600] __attribute__((aligned(64)));
	static volatile double real = 1;
	volatile uint64_t a = 1234567, b = 7;

	a = a / b + a % b;
	real = real * 1.5 / 1.25;
#if defined(__x86_64__) || defined(__i386__)
	uint32_t eax = 0, ebx, ecx = 0, edx;
	const void *source = from;
	void *target = to;
	long n = 100;

	__asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	__asm__ volatile("fld1; fstpt (%0); fxsave (%1)" : : "r"(from), "r"(to) : "memory");
	__asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(n) : : "memory");
#else
	memcpy(to, from, sizeof(to));
#endif
}

static void storm(void)
{
	struct sigaction alarm = { .sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0 } };
	int n_forked = 0;

	sigaction(SIGALRM, &alarm, NULL);
	signal(SIGCHLD, on_child);
	setitimer(ITIMER_REAL, &often, NULL);
	while (n_alarms < n_wanted) {
		compute();
		if (n_alarms / 10 > n_forked && (n_forked++, !fork()))
			_exit(0);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

/* ---------------------------------------------------------------- many at once */

static unsigned char *frames_end;

/* Every other time it sends its signal again, which comes when the handler returns: its frame lies where this one was. */
static void on_other(int sig, siginfo_t *info, void *context)
{
	static int n_of[FIRST + N_KINDS];
	volatile uint32_t *word = context;
	uint32_t sum = 0;

	/* the first one finds the frames of all */
	for (; n_others % (2 * N_KINDS) == 0 && (unsigned char *)word < frames_end; word += 16)
		sum += *word;
	copy[0] = sum;
	n_others++;
	if (++n_of[sig] % 2)
		kill(getpid(), sig);
}

/* They wait, and come together: the frame of each is made before the handler of any begins. */
static void pending(int flags)
{
	struct sigaction other = { .sa_sigaction = on_other, .sa_flags = SA_SIGINFO | flags };
	sigset_t all;

	frames_end = flags ? other_stack + sizeof(other_stack) : (unsigned char *)&all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < N_KINDS; i++) {
		sigaction(FIRST + i, &other, NULL);
		kill(getpid(), FIRST + i);
	}
	sigprocmask(SIG_UNBLOCK, &all, NULL);
}

/* ---------------------------------------------------------------- a handler after an endless loop */

#if defined(__x86_64__)
void spin(void), behind(void);

/* The handler lets the interrupted function, of which rip is in the frame, go on with a return. */
__asm__(".text; spin: jmp spin; behind: incl n_behind(%rip); lea back(%rip), %rax; mov %rax, 168(%rdx); ret; back: ret");
#endif
int n_behind;

static void neighbour(void)
{
#if defined(__x86_64__)
	struct sigaction alarm = { .sa_sigaction = (void *)behind, .sa_flags = SA_SIGINFO };
	struct itimerval once = { { 0, 0 }, { 0, 20000 } };

	sigaction(SIGALRM, &alarm, NULL);
	setitimer(ITIMER_REAL, &once, NULL);
	spin();
#endif
}

int main(int argc, char **argv)
{
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };

	sigaltstack(&stack, NULL);
	if (!strcmp(argv[1], "storm")) {
		n_wanted = atoi(argv[2]);
		storm();
	} else if (!strcmp(argv[1], "pending")) {
		for (int i = 0; i < 4; i++)
			pending(i & 1 ? SA_ONSTACK : 0);
	} else {
		neighbour();
	}
	printf("%d %d %d %d\n", n_alarms, n_children, n_others, n_behind);
	return 0;
}
