/* SPDX-License-Identifier: MIT */
#include "unfinished.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "loaders/usercorn/op_write.h"

#define MAX_FRAME_LEN (UCIR_PUT_FRAME_LEN + UCIR_PUT_SYSCALL_LEN + 8 * TS_RING_N_ARGS + 1)

static bool add_call(struct ucir_writer *w, const struct ts_ring_call *c, struct ts_error *err)
{
	uint8_t bytes[MAX_FRAME_LEN], *p = ucir_put_frame(bytes, UCIR_FRAME, atomic_load(&c->pid), 1);

	p = ucir_put_syscall(p, c->num, 0, c->args, TS_RING_N_ARGS, 1);
	*p++ = UCIR_EXIT;
	return ucir_writer_add(w, bytes, (size_t)(p - bytes), err);
}

/* Does an instruction raise the signal with its own address? */
static bool is_of_instruction(int sig)
{
	return sig == SIGILL || sig == SIGFPE || sig == SIGTRAP;
}

/* The host delivered the signal.  One of an access that QEMU dealt with, and steps followed, is another one. */
static bool is_delivered(const struct ts_ring *ring, int sig)
{
	const struct ts_ring_signal *s = &ring->signal;

	return s->num == sig && (!s->is_fault || s->n_steps == atomic_load(&ring->n_steps));
}

static bool add_signal(struct ucir_writer *w, const struct ts_ring *ring, const struct ts_emulated *e, int sig,
		       struct ts_error *err)
{
	const struct ts_ring_signal *s = &ring->signal;
	uint8_t bytes[MAX_FRAME_LEN], *p, flags = UCIR_SIGNAL_KILLED;
	bool is_known = is_delivered(ring, sig);
	uint64_t pid = is_known && s->pid ? s->pid : ring->open_pid;

	if (!pid || (!is_known && !is_of_instruction(sig)))
		return true;
	flags |= is_known ? UCIR_SIGNAL_HAS_CODE | UCIR_SIGNAL_HAS_ADDR : UCIR_SIGNAL_AT_PC;
	p = ucir_put_frame(bytes, UCIR_FRAME, pid, 1);
	p = ucir_put_signal(p, (uint16_t)ts_emulated_signal(e, sig), is_known ? s->code : 0, is_known ? s->addr : 0,
			    flags, 0);
	return ucir_writer_add(w, bytes, (size_t)(p - bytes), err);
}

bool ts_unfinished_add(struct ucir_writer *w, const struct ts_ring *ring, const struct ts_emulated *e, int status,
		       struct ts_error *err)
{
	for (unsigned i = 0; i < TS_RING_MAX_CALLS; i++) {
		const struct ts_ring_call *c = &ring->calls[i];

		if (atomic_load(&c->pid) && !add_call(w, c, err))
			return false;
	}
	return !WIFSIGNALED(status) || add_signal(w, ring, e, WTERMSIG(status), err);
}
