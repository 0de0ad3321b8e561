/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "maps.h"
#include "out.h"
#include "qemu.h"
#include "ring.h"

#define N_SIGNALS 65

typedef void handler(int sig, siginfo_t *info, void *context);

static handler *of_qemu[N_SIGNALS];

static __thread bool is_recorded __attribute__((tls_model("initial-exec")));

/* The last signal that this thread got from the host; its handler writes it at any time. */
struct last {
	uint64_t addr;
	int32_t num, code;
};

static __thread volatile struct last last __attribute__((tls_model("initial-exec")));

void ts_siginfo_begin_thread(void)
{
	is_recorded = true;
}

static bool is_access(const siginfo_t *info)
{
	return (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) && info->si_code > 0;
}

/*
 * A page that QEMU has reserved and the program has not mapped: for the host it is mapped without
 * permissions.
 */
static int code_of(const siginfo_t *info, uint64_t addr)
{
	if (info->si_signo == SIGSEGV && info->si_code == SEGV_ACCERR && !ts_maps_is_mapped(addr))
		return SEGV_MAPERR;
	return info->si_code;
}

bool ts_siginfo_last(int num, int32_t *code, uint64_t *addr)
{
	const struct last found = { last.addr, last.num, last.code };
	bool is_whole = last.num == found.num && last.code == found.code && last.addr == found.addr;

	last.num = 0;
	if (!is_whole || found.num != num)
		return false;
	*code = found.code;
	*addr = found.addr;
	return true;
}

static void keep(const siginfo_t *info)
{
	struct ts_ring *r = ts_out_ring();
	uint64_t addr = (uintptr_t)info->si_addr - (info->si_code == SI_KERNEL ? 0 : *ts_guest_base);
	bool is_fault = is_access(info);
	int32_t code = is_fault ? code_of(info, addr) : info->si_code;

	r->signal = (struct ts_ring_signal){
		.pid = is_recorded ? (uint64_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid) : 0,
		.addr = is_fault ? addr : (uint32_t)info->si_pid,
		.n_steps = atomic_load(&r->n_steps),
		.num = info->si_signo,
		.code = code,
		.is_fault = is_fault,
	};
	last.num = 0;
	last.addr = addr;
	last.code = code;
	last.num = is_fault ? info->si_signo : 0;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	if (ts_out_is_on())
		keep(info);
	of_qemu[sig](sig, info, context);
}

void ts_siginfo_watch(void)
{
	for (int sig = 1; sig < N_SIGNALS; sig++) {
		struct sigaction act;

		if (sigaction(sig, NULL, &act) || act.sa_handler == SIG_DFL || act.sa_handler == SIG_IGN ||
		    act.sa_sigaction == on_signal || !(act.sa_flags & SA_SIGINFO))
			continue;
		of_qemu[sig] = act.sa_sigaction;
		act.sa_sigaction = on_signal;
		sigaction(sig, &act, NULL);
	}
}
