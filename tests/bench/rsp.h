/* SPDX-License-Identifier: MIT */
/*
 * Round trips of a raw client: to tracestub over a recording, and to real gdbserver over a live program.
 *
 * The client sends a packet, waits for the whole reply, and sends the next: what a debugger does.  Both
 * servers are asked without acknowledgements, over TCP on the loopback address.  They are timed by the clock:
 * the best of some turns counts, so that what else the machine does matters less.
 */
#ifndef BENCH_RSP_H
#define BENCH_RSP_H

#include <stdbool.h>
#include <stdint.h>

enum bench_request {
	REQUEST_STEP,
	REQUEST_BACK,
	REQUEST_CONTINUE,
	REQUEST_REGISTERS,
	REQUEST_MEMORY,
	N_REQUESTS
};

const char *bench_request_name(enum bench_request request);

struct bench_round_trips {
	double rates[N_REQUESTS]; /* a second; 0: cannot be asked */
	double first_s,
		again_s; /* from the start of the server to its first answer: without an index, with */
	double back_s;	 /* bc from the end to the only write to an address; 0: there is none */
};

/*
 * Ask tracestub over @recording, which has reached @hot often and written @mark once (0: nothing was).
 * @has_index: it keeps an index, which then lies beside it.
 */
void bench_round_trips(const char *recording, bool has_index, uint64_t hot, uint64_t mark,
		       struct bench_round_trips *r);

/* Ask gdbserver over a copy of @program; nothing goes back there. */
void bench_live_round_trips(const char *program, uint64_t hot, struct bench_round_trips *r);
bool bench_has_gdbserver(void);

#endif
