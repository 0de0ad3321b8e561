/* SPDX-License-Identifier: MIT */
/*
 * What recorded programs do that is hard to record; the first argument says what.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

int *volatile nowhere = (int *)16;
static volatile int n_signals;
static sigjmp_buf back;

/* ---------------------------------------------------------------- crash */

static int __attribute__((noinline, noclone)) crash(void)
{
#if defined(__x86_64__)
	__asm__ volatile(".globl fault_here\nfault_here: movl $5, (%0)" : : "r"(nowhere) : "memory");
#else
	*nowhere = 5;
#endif
	return 0;
}

/* ---------------------------------------------------------------- signals */

static void on_fault(int sig, siginfo_t *info, void *context)
{
	n_signals += sig == SIGSEGV && info->si_addr == (void *)nowhere;
	siglongjmp(back, 1);
}

static void count(int sig)
{
	n_signals += 10;
}

static void count_sender(int sig, siginfo_t *info, void *context)
{
	n_signals += info->si_pid == getpid() ? 10 : 1000;
}

static int signals(void)
{
	struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct sigaction sent = { .sa_sigaction = count_sender, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGUSR1, &sent, NULL);
	signal(SIGCHLD, count);
	signal(SIGALRM, count);
	for (volatile int i = 0; i < 2; i++) {
		if (!sigsetjmp(back, 1))
			crash();
	}
	raise(SIGUSR1);
	if (!fork())
		_exit(0);
	wait(NULL);
	printf("%d\n", n_signals);
	return n_signals;
}

/* Two signals that are sent and handled, no process id in a register. */
static int handler(void)
{
	signal(SIGUSR1, count);
	for (volatile int i = 0; i < 2; i++)
		kill(0, 0), pthread_kill(pthread_self(), SIGUSR1);
	return n_signals;
}

/* ---------------------------------------------------------------- threads */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static volatile int go;

static void *work(void *user)
{
	while (!go)
		;
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		total += (long)user;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* They begin their work at once, or spin until all are there. */
static int threads(int n, int is_spinning)
{
	pthread_t all[64];

	go = !is_spinning;
	for (long i = 0; i < n; i++)
		pthread_create(&all[i], NULL, work, (void *)(i + 1));
	go = 1;
	for (int i = 0; i < n; i++)
		pthread_join(all[i], NULL);
	printf("%ld\n", total);
	return 0;
}

/* ---------------------------------------------------------------- memory */

struct {
	unsigned char bytes[8192] __attribute__((aligned(512)));
} scene;

static void read_into_pieces(void)
{
	struct iovec pieces[] = { { scene.bytes + 4100, 10 }, { scene.bytes + 4200, 20 } };
	int ends[2];

	if (pipe(ends) || write(ends[1], "thirty bytes of text for readv", 30) != 30)
		return;
	if (readv(ends[0], pieces, 2) != 30)
		abort();
}

static void store_oddly(void)
{
	unsigned char *at = scene.bytes;
	volatile long double wide = 1.0L / 3;

	memset(at + 100, 0x5a, 1000);
	memcpy(at + 2000, (void *)&wide, sizeof(wide) < 10 ? sizeof(wide) : 10);
#if defined(__x86_64__)
	__asm__ volatile("fld1; fldpi; fstpt (%0); fnstenv 64(%0); fxsave 512(%0)" : : "r"(at + 2048) : "memory");
	__asm__ volatile("lock cmpxchg16b (%0)" : : "r"(at + 3200), "a"(0L), "d"(0L), "b"(1L), "c"(2L) : "memory");
	__asm__ volatile("movdqu %0, %%xmm1; pcmpeqd %%xmm2, %%xmm2; maskmovdqu %%xmm2, %%xmm1"
			 : : "m"(at[100]), "D"(at + 3300) : "memory", "xmm1", "xmm2");
#elif defined(__aarch64__)
	__asm__ volatile("dc zva, %0" : : "r"(at + 600) : "memory");
	__asm__ volatile("mov x2, #1; mov x3, #2; 1: ldxp x4, x5, [%0]; stxp w6, x2, x3, [%0]; cbnz w6, 1b"
			 : : "r"(at + 3200) : "memory", "x2", "x3", "x4", "x5", "x6");
#endif
}

/* A store that the recorder did not see is found by a load, before a system call makes it look. */
static void load_all(void)
{
	for (unsigned i = 0; i < sizeof(scene); i += 8)
		(void)*(volatile uint64_t *)(scene.bytes + i);
}

/* Code that is written, executed, and written again. */
static int rewrite_code(void)
{
#if defined(__x86_64__)
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;

	memcpy(code, "\xb8\x00\x00\x00\x00\xc3", 6);
	for (int i = 1; i < 4; i++) {
		code[1] = (unsigned char)i;
		sum = 10 * sum + ((int (*)(void))code)();
	}
	munmap(code, 4096);
	return sum;
#else
	return 123;
#endif
}

static int memory(void)
{
	char *page = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	store_oddly();
	load_all();
	read_into_pieces();
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	strcpy(page, "written after mprotect");
	strcpy((char *)scene.bytes + 5000, page);
	snprintf((char *)scene.bytes + 6000, 100, "%d %g", rewrite_code(), 2.5);
	return write(1, &scene, sizeof(scene)) == sizeof(scene) ? 0 : 1;
}

/* Memory at two addresses: what is stored at one of them is found at the other. */
static int alias(void)
{
	int fd = memfd_create("twice", 0);
	volatile int *one, *two;

	ftruncate(fd, 4096);
	one = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	two = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*one = 0x1234567;
	return *two == 0x1234567 && *two == *one ? 9 : 1;
}

/* A file that is mapped, and written by system calls that write no memory of the program. */
static int written(void)
{
	int fd = memfd_create("written", 0);
	volatile int *map;
	int sum;

	ftruncate(fd, 4096);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	map[0] = 1;
	map[1] = 2;
	sum = map[0] + map[1];
	if (write(fd, &(int){ 40 }, sizeof(int)) != sizeof(int))
		return 1;
	sum += map[0];
	if (pwrite(fd, &(int){ 50 }, sizeof(int), sizeof(int)) != sizeof(int))
		return 2;
	return sum + map[1];
}

/* ---------------------------------------------------------------- the rest */

static int closefds(void)
{
	close(2);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	close_range(3, ~0u, 0);
	dup2(1, 7);
	return 4;
}

static volatile sig_atomic_t is_told;

static void tell(int sig)
{
	is_told = sig;
}

/* Says when it waits, and by what it was woken. */
static int wait_for_signal(int is_handled)
{
	sigset_t one;

	if (is_handled)
		signal(SIGINT, tell);
	sigemptyset(&one);
	puts("ready");
	fflush(stdout);
	while (!is_told)
		usleep(1000);
	printf("signal %d\n", is_told);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "crash"))
		return crash();
	if (!strcmp(what, "signals"))
		return signals();
	if (!strcmp(what, "handler"))
		return handler();
	if (!strcmp(what, "threads"))
		return threads(atoi(argv[2]), argc > 3);
	if (!strcmp(what, "memory"))
		return memory();
	if (!strcmp(what, "written"))
		return written();
	if (!strcmp(what, "alias"))
		return alias();
	if (!strcmp(what, "closefds"))
		return closefds();
	if (!strcmp(what, "wait"))
		return wait_for_signal(argc > 2);
	if (!strcmp(what, "exec"))
		execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
	for (volatile int i = 0; i < atoi(what) * 1000; i++)
		;
	return 7;
}
