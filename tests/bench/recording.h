/* SPDX-License-Identifier: MIT */
/*
 * Long Usercorn recordings for the benchmarks, made from a short real one.
 *
 * The leading keyframe is written once, then the frames of the short recording again and again, up to the one
 * that ends the program.  What the steps do is thus what a real program did; only the memory that they touch
 * does not grow.  One write to an address that nothing else touches stands near the beginning: a watchpoint
 * there is hit once.
 */
#ifndef BENCH_RECORDING_H
#define BENCH_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

/* The two layouts of a Usercorn trace. */
enum bench_layout {
	BENCH_PLAIN,  /* version 0, not compressed */
	BENCH_FRAMED, /* version 1 in snappy framing, as the tool writes it */
};

struct bench_recording {
	uint64_t n_steps;
	uint64_t file_len;
	uint64_t mark; /* the address that is written once */
	uint64_t hot;  /* the instruction that runs most often */
};

/* Say what went wrong and end the program. */
_Noreturn void bench_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Path of the bundled recording to repeat (a string that stays), and its short name to *name. */
const char *bench_source(const char **name);

/*
 * Make @path a recording of at least @n_steps steps (to the end of a frame) from the real one in @source.
 * Dies on failure.
 */
void bench_record(const char *source, const char *path, enum bench_layout layout, uint64_t n_steps,
		  struct bench_recording *rec);

/* A path for a recording in the build folder, to be freed; it is removed when the program ends. */
char *bench_temp(const char *name);

/* Seconds of a clock that does not jump; processor seconds of this process. */
double bench_now(void);
double bench_cpu(void);

#endif
