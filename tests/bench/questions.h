/* SPDX-License-Identifier: MIT */
/*
 * Random questions to an indexed trace, and how long the answers take.
 */
#ifndef BENCH_QUESTIONS_H
#define BENCH_QUESTIONS_H

#include "pass.h"

#define BENCH_N_QUESTIONS 10000

enum bench_question { ASK_REGS, ASK_STACK, ASK_PREV_WRITE, ASK_PREV_EXEC, ASK_NEXT_READ, N_QUESTION_KINDS };

extern const char *const bench_question_names[N_QUESTION_KINDS];

/* Processor seconds; 0 if the recording has nothing of this kind to ask for. */
struct bench_times {
	double p50[N_QUESTION_KINDS], p99[N_QUESTION_KINDS];
};

/*
 * Ask BENCH_N_QUESTIONS of each kind, at random positions, about addresses that the recording uses at others.
 */
void bench_questions(const struct bench_trace *t, struct bench_times *times);

/* Processor seconds of going backwards from the end to the only write to @mark. */
double bench_find_mark(const struct bench_trace *t, uint64_t mark);

#endif
