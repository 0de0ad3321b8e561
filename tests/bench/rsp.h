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
	double back_s;   /* bc from the end to the only write to an address; 0: there is none */
};

/* What is asked: a recording, or a program that is live. */
struct bench_served {
	const char *path;
	uint64_t hot;   /* reached often */
	uint64_t mark;  /* of a recording: written once; 0: nothing is */
	bool has_index; /* of a recording: it keeps one, which then lies beside it */
};

/*
 * Ask tracestub over @recording and in between gdbserver over a copy of @program, which may be NULL; nothing
 * goes back there.
 */
void bench_round_trips(const struct bench_served *recording, const struct bench_served *program,
		       struct bench_round_trips *stub, struct bench_round_trips *live);
bool bench_has_gdbserver(void);

#endif
