/* SPDX-License-Identifier: MIT */
/*
 * The processors that can be recorded: their names, registers and system calls, and the instructions that need special
 * handling.
 */
#ifndef TS_RECORDER_GUEST_H
#define TS_RECORDER_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When a register is compared. */
enum ts_group {
	TS_GENERAL, /* after every instruction */
	TS_VECTOR,  /* after instructions with TS_INSN_VECTOR */
	TS_X87,
	TS_RARE, /* after TS_INSN_RARE, and after calls */
	TS_N_GROUPS,
};

/* The method by which a register's value is found. */
enum ts_how {
	TS_BY_SEARCH, /* write patterns with the gdb stub's function, and search QEMU's processor object for them */
	TS_BY_CALL,   /* by the gdb stub's function, each time */
	TS_BY_DUMP,   /* floating-point registers that only a dump of the state shows */
	TS_BY_FPU,    /* AArch64's v registers */
	TS_BY_FPU_CALL,
	TS_BY_FLAGS,  /* x86's flags */
	TS_BY_X87,    /* st(i): numbered physically by the stub */
	TS_BY_XMM,    /* by search; the upper half of ymm follows */
};

/* Registers @num, @num + 1, ... of a recording are the stub's @gdb, @gdb + 1, ... */
struct ts_reg_range {
	uint16_t num;
	uint8_t n, len; /* registers; bytes of each */
	int16_t gdb;    /* the stub's number */
	uint8_t group, how;
	const char *names;  /* gdb's: each, or the first one, which ends with a number */
	const char *dumped; /* TS_BY_DUMP: as the dump has it, with %u */
};

#define TS_REG_NAME_LEN 16

/* gdb's name of register @i of @range. */
void ts_reg_name(const struct ts_reg_range *range, unsigned i, char name[TS_REG_NAME_LEN]);

/* Facts about an instruction, for the callbacks. */
enum {
	TS_INSN_VECTOR = 1,
	TS_INSN_X87 = 2,
	TS_INSN_RARE = 4,
	TS_INSN_SELF = 8,   /* a branch to itself */
	TS_INSN_ZERO = 16,  /* AArch64: dc zva; PowerPC: dcbz: a store that no callback shows */
	TS_INSN_IT = 32,    /* Thumb: it */
	TS_INSN_UNSEEN = 64, /* its bytes differ from those in the recording */
	TS_INSN_ZERO_LEN = 128, /* AArch64: mrs of DCZID_EL0, the length of dc zva */
};

/* System calls that the recorder must know; -1: the processor has none. */
struct ts_calls {
	int exit, exit_group, execve, execveat, fork, vfork, clone, rt_sigaction, sigaction;
	const int *maps;   /* calls that change mappings; -1 at the end */
	const int *silent; /* calls that write no memory, except of mapped files; -1 at the end */
	int mmap[2];       /* calls whose result is a new mapping */
	int brk;
	int prctl, open, openat, write;
	int futex;
	int random, recvmsg; /* the buffer is the first argument; the second argument is a msghdr */
	/* Lists with -1 at the end. */
	const int *buffer;  /* the result is the number of bytes in the buffer, the second argument: read */
	const int *vector;  /* the same with the buffers of an iovec: readv */
	const int *files;   /* write to the file of the first or third argument */
	const int *truncate; /* truncate and its like, which have a path */
	const int *advises; /* may remove pages of [first argument, + second): madvise, mremap */
	unsigned clone_tid; /* index of clone's argument with the address of the thread's id */
};

/* Is @num in the list, which a negative number ends? */
static inline bool ts_calls_have(const int *list, int num)
{
	for (; *list >= 0; list++) {
		if (*list == num)
			return true;
	}
	return false;
}

struct ts_guest {
	const char *target; /* QEMU's name */
	const char *prefix; /* of its register functions */
	const char *ucir;   /* name in a recording */
	bool is_big_endian;
	uint8_t word; /* bytes of an address */
	const struct ts_reg_range *ranges;
	size_t n_ranges;
	unsigned (*classify)(const uint8_t *insn, size_t n, bool is_big_endian);
	/*
	 * Numbers in a recording: stack pointer, and the first two arguments of a function; 0: on the stack.
	 */
	uint16_t sp, arg[2];
	bool has_cc, has_fpu;
	bool is_arm;       /* pc of handlers has a Thumb bit, IT bits */
	bool is_mips;      /* order in siginfo and sigaction */
	bool is_ppc;       /* dcbz */
	bool has_descriptors; /* a handler is the address of a function's address */
	const struct ts_calls *calls;
};

/* Returns the processor that QEMU calls @target, a constant; NULL if it cannot be recorded. */
const struct ts_guest *ts_guest_find(const char *target);

/* The settings of the recording; constant after the first instruction. */
extern const struct ts_guest *ts_guest;

#endif
