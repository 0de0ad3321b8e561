/* SPDX-License-Identifier: MIT */
/*
 * Random or handwritten x86-64 programs of a few kinds of instructions, by several threads, and what `why`
 * answers about them.
 */
#ifndef TESTS_WHY_CASE_H
#define TESTS_WHY_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "ask_text.h"
#include "script.h"

#define CODE      UINT64_C(0x401000)
#define SLOTS     UINT64_C(0x5000) /* memory of programs: r15 points there */
#define N_SLOTS   6u
#define N_REGS    4u /* rax, rcx, rdx, rbx, as their numbers in instructions are */
#define MAX_STEPS 12000u

#define N_THREADS 3u

/* Places: registers of the first thread, then slots, then registers of the other threads. */
#define N_PLACES (N_REGS + N_SLOTS + (N_THREADS - 1) * N_REGS)
#define NO_PLACE N_PLACES

/* A step of the program: the place it writes, and what its value is made of. */
struct made {
	unsigned writes;    /* NO_PLACE: none */
	unsigned inputs[2]; /* n of them, in the order of the operands */
	unsigned n;
	bool is_constant;
	uint64_t constant;
	bool is_syscall;
	char text[48];
	uint64_t value; /* that it leaves */
};

/* The program that is being made, and what it has come to. */
struct program {
	struct script *s;
	struct made steps[MAX_STEPS];
	uint32_t threads[MAX_STEPS];
	uint64_t n;
	uint64_t now[N_PLACES];
	uint32_t thread; /* that runs */
};

extern struct program p;
extern struct ask_text a;

/* Effects of the step that is being made, or of the state at the start. */
void put_word(struct ts_steps *to, uint64_t addr, uint64_t value);
void put_reg(struct ts_steps *to, const char *name, uint64_t value);

/* The bytes at @pc are an instruction. */
void put_code(uint64_t pc, const void *bytes, unsigned len);

/* Is the place a slot? */
bool is_slot(unsigned place);

/* The place of a register of the thread that runs. */
unsigned reg_place(unsigned reg);

/* A new program without steps; every place has a value of its own. */
void begin(void);
void finish(void);

/* The step is over: what it wrote is an effect. */
void close_step(const struct made *m, uint64_t pc, unsigned len);

/* One instruction at @pc, of a random kind.  Returns its length. */
unsigned make_step(struct script_random *rnd, uint64_t pc);

/* A step of an instruction whose code is put at @pc. */
void run(uint64_t pc, const void *code, unsigned len, unsigned writes, uint64_t value);

/* The place as a question names it. */
const char *name_of(unsigned place);

enum { DEPTH, POSITION, THREAD, PC, FUNCTION, FILE_NAME, LINE, INSTRUCTION, KIND, PLACE, VALUE, COUNT };

/* Cell @i of a line of TSV. */
const char *cell(const char *line, unsigned i, char *out, size_t size);

/* The answer's "depth position kind place value" by line, without the line of column names. */
char *got(const char *question);

/* What `why $REG` at the end takes of a budget: about a unit for each chunk that is decoded. */
uint32_t cost_of(const char *reg);

#endif
