/* SPDX-License-Identifier: MIT */
/* Made-up programs that call, and their calls by the words of the definition. */
#ifndef TESTS_CALLS_CASE_H
#define TESTS_CALLS_CASE_H

#include "script.h"
#include "src/calls/tracker.h"

#define MAX_STEPS     6000
#define MAX_THREADS   3
#define MAX_STACKS_OF 4
#define MAX_DEPTH     40
#define NO_POS        UINT64_MAX
#define END_PC        4

struct kind_of_processor {
	const char *arch, *sp, *link; /* link: NULL where calls push */
	unsigned word, insn, behind;  /* behind: bytes from the call to its return address */
	unsigned add;                 /* the link register holds the return address less this */
};

#define N_PROCESSORS 10u
extern const struct kind_of_processor processors[N_PROCESSORS];

/* One position of a thread, after one of its steps: the state there, and what that step did. */
struct place {
	uint64_t pos;         /* the step's + 1 */
	uint64_t pc, next_pc; /* of the step; of the thread's next one */
	uint64_t sp, lr;
	uint64_t top; /* word at sp, 0 unknown */
	unsigned stack;
	bool has_next, no_call;
};

struct frame {
	uint64_t ret, sp; /* where it returns; the stack pointer at its beginning */
	uint64_t body;    /* and in its body */
};

struct program {
	const struct kind_of_processor *cpu;
	struct script *s;
	struct script_random rnd;
	struct range_of {
		uint32_t off, len;
	} sp, lr;
	uint64_t n;
	struct thread_of {
		struct place places[MAX_STEPS];
		uint64_t n;
		uint64_t pc, sp, lr;
		unsigned stack;
		struct frame frames[MAX_STACKS_OF][MAX_DEPTH];
		unsigned depth[MAX_STACKS_OF];
		uint64_t left_sp[MAX_STACKS_OF], left_pc[MAX_STACKS_OF]; /* 0: the stack is new */
	} threads[MAX_THREADS];
};

extern struct program prog;

/* Of the program's recording. */
struct range_of find_reg(const char *name);

/* Effects of the step that is being made. */
void put_reg(struct range_of r, uint64_t value);
void put_word(uint64_t addr, uint64_t value);

/* The thread's step from its pc to @next, with the effects that were put, and the state after it. */
void step(unsigned thread, uint64_t next, uint64_t sp, uint64_t lr, uint64_t top);
uint64_t random_pc(void);
void plain(unsigned thread);
void call(unsigned thread, bool goes_on);
void ret(unsigned thread);
uint64_t stack_top(unsigned thread, unsigned stack);

/* End the program: the position of the thread that ran last is known. */
void end_program(void);

/* A program of random steps, calls, returns, jumps out of calls, changes of stack, interrupts and signals. */
void random_program(uint64_t seed, const struct kind_of_processor *cpu, uint64_t n_steps);

/* Add the calls of one thread by the definition: each ends by itself, or where one outside of it on its stack does. */
void find_calls(unsigned thread);

struct naive_call {
	uint64_t begin, end, pc, target, slot, ret;
	unsigned stack, thread, depth;
	enum ts_call_kind kind;
};

extern struct naive_call calls[MAX_STEPS];
extern unsigned n_calls;

#endif
