/* SPDX-License-Identifier: MIT */
/*
 * System calls whose frames were read: each waits for the std frame of its instruction, which comes after it.
 */
#ifndef LOADERS_BAP_CALLS_H
#define LOADERS_BAP_CALLS_H

#include "state.h"

#define BAP_MAX_CALLS 8

struct bap_call {
	uint64_t address, thread_id;
	uint64_t number, args[TS_MAX_SYSCALL_ARGS];
	uint32_t n_args;
};

/* Those that wait. */
struct bap_calls {
	struct bap_call items[BAP_MAX_CALLS];
	uint32_t n;
};

/* One more; of too many the first is left out. */
void bap_calls_add(struct bap_calls *calls, const struct bap_look *look, const struct bap_call *call);

/* Take the one for the instruction of @t at @address, if there is one: an event of the open step. */
void bap_calls_take(struct bap_calls *calls, struct bap_known *k, const struct bap_thread *t,
		    uint64_t address);

#endif
