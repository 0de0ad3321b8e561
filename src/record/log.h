/* SPDX-License-Identifier: MIT */
/*
 * The log that the Valgrind tool writes and `tracestub record` decodes, in memory that both share.
 *
 * The shared memory is a struct ts_log and then n_chunks chunks.  The tool fills chunk i % n_chunks, waits
 * while the reader is n_chunks behind, and publishes the length of a chunk when it is full.  `cur` is the
 * address after the last record, in the tool's address space, so that the reader of a dead tool's memory knows
 * how much of the last chunk is there.
 *
 * A record is a multiple of 8 bytes.  It begins with two u32:
 *
 *   an execution of a block    its number; how it was left: 0 at its end, k by its k-th exit, TS_LOG_IN_BLOCK if it
 *                              was not left.  Values follow at the places that the block's description names.
 *   anything else              TS_LOG_CONTROL | enum ts_log_kind; bytes of the record with this head
 *
 * The recorded program runs in the same address space and can write to this memory.  The reader therefore checks
 * everything.
 */
#ifndef TS_RECORD_LOG_H
#define TS_RECORD_LOG_H

#include <stdint.h>

#define TS_LOG_MAGIC 0x31676f6c76747374u
#define TS_LOG_HEAD_LEN 8192u        /* bytes before the first chunk */
#define TS_LOG_CONTROL 0x80000000u
#define TS_LOG_IN_BLOCK 0xffffffffu
#define TS_LOG_MAX_BLOCK 65536u      /* bytes of an execution of a block */
#define TS_LOG_MAX_CONTROL 131072u   /* bytes of another record */
#define TS_LOG_MIN_CHUNK 262144u
#define TS_LOG_MAX_CHUNKS 1024u
#define TS_LOG_MAX_STATE 1024u       /* bytes of the guest state that are recorded */
#define TS_LOG_MAX_INSNS 64u         /* instructions of a block */
#define TS_LOG_N_ARGS 6u
#define TS_LOG_MAX_PIECE 65536u      /* bytes of memory in one record */

struct ts_log {
	uint64_t magic;
	uint64_t chunk_len;
	uint32_t n_chunks;
	volatile int32_t reader; /* futex: process id of the reader; written by it */
	uint64_t base;           /* the struct's address in the tool */
	volatile uint64_t cur;   /* the tool's: address after the last record */
	volatile uint64_t limit; /* beyond it a block needs a new chunk */
	volatile uint32_t n_filled; /* futex: chunks that are complete */
	volatile uint32_t n_taken;  /* futex: chunks that the reader has released */
	volatile uint32_t is_stopped; /* by either side: nothing more is recorded */
	volatile uint32_t is_started; /* the first instruction is about to be executed */
	volatile uint32_t is_begun;   /* the recording has begun: at once, or where --from says */
	volatile uint32_t wanted;     /* the reader's: enum ts_log_wanted */
	volatile uint32_t ended_by;   /* the tool's: enum ts_log_ended_by */
	uint32_t is_followed;         /* the tool's: the reader need not be its parent */
	volatile uint32_t used[TS_LOG_MAX_CHUNKS]; /* bytes of each complete chunk */
};

/* --follow: FIFO-NAME.own.PID is a symbolic link to the program that process PID executes next. */
#define TS_LOG_OWN_PROGRAM ".own."

#define TS_LOG_PROCESS_MAGIC 0x31707374u

/* With --follow: the message of a process whose log is the memory at its descriptor @fd. */
struct ts_log_process {
	uint32_t magic;
	int32_t pid, parent, fd;
	uint32_t is_fork; /* the process was forked; else it has executed a program */
};

/* Requests that the user made by a signal, since the start. */
enum ts_log_wanted { TS_LOG_WANTS_NOTHING, TS_LOG_WANTS_BEGIN, TS_LOG_WANTS_END };

/* The reason for which the recording has ended although the program continues. */
enum ts_log_ended_by { TS_LOG_NOT_ENDED, TS_LOG_ENDED_BY_UNTIL, TS_LOG_ENDED_BY_SIGNAL };

enum ts_log_kind {
	TS_LOG_DESCRIBE = 1, /* struct ts_log_block, instructions, exits, events */
	TS_LOG_SWITCH,       /* struct ts_log_thread: this thread is scheduled */
	TS_LOG_STATE,        /* struct ts_log_thread, guest state: all registers */
	TS_LOG_CALL,         /* struct ts_log_call: a system call begins */
	TS_LOG_RETURN,       /* struct ts_log_call, guest state: it has returned */
	TS_LOG_MAP,          /* struct ts_log_map, path */
	TS_LOG_UNMAP,        /* struct ts_log_map */
	TS_LOG_PROTECT,      /* struct ts_log_map */
	TS_LOG_MEMORY,       /* struct ts_log_memory, bytes: the kernel wrote them */
	TS_LOG_COMPARE,      /* the same; the kernel wrote only the bytes that differ from before */
	TS_LOG_ZERO,         /* struct ts_log_map: the range is zero, except for the bytes of the following COMPAREs */
	TS_LOG_FORGET,       /* struct ts_log_map: the contents of the range are unknown */
	TS_LOG_SIGNAL,       /* struct ts_log_signal: a handler will run; records of its frame and a STATE follow */
	TS_LOG_NEW_THREAD,   /* struct ts_log_thread; pc: its number in Valgrind */
	TS_LOG_THREAD_END,   /* struct ts_log_thread */
	TS_LOG_NAME,         /* struct ts_log_name: the thread's new name */
	TS_LOG_FLAGS,        /* struct ts_log_flags: samples of the flags' computation */
	TS_LOG_TID_WORD,     /* struct ts_log_thread; pc: address of the word that the kernel clears at the thread's end; tid 0: it has ended */
	TS_LOG_N_KINDS
};

struct ts_log_thread {
	uint32_t tid; /* Valgrind's number, from 1 on */
	uint32_t lwp; /* the system's */
	uint64_t pc;
};

struct ts_log_call {
	uint32_t tid;
	uint32_t num;
	uint64_t pc; /* after the instruction */
	uint64_t ret;
	uint64_t args[TS_LOG_N_ARGS];
};

struct ts_log_map {
	uint64_t addr, len, file_off;
	uint32_t prot; /* R 1, W 2, X 4 */
	uint32_t is_stack;
};

struct ts_log_memory {
	uint64_t addr;
	uint64_t len; /* bytes that follow, then zeros to a multiple of 8 */
};

struct ts_log_signal {
	uint32_t tid;
	uint32_t num;
	uint64_t pc; /* the thread's pc when the signal was delivered */
};

struct ts_log_name {
	uint32_t tid; /* Valgrind's */
	char name[20]; /* NULs after it */
};

struct ts_log_flags {
	uint64_t op, dep1, dep2, ndep, flags;
};

/* -------------------------------------------------------------------------------- blocks */

struct ts_log_block {
	uint32_t num; /* consecutive, from 1 */
	uint32_t len; /* bytes of an execution's record */
	uint64_t addr;
	uint16_t n_insns, n_exits;
	uint32_t n_events;
};

enum ts_log_insn_flag {
	TS_LOG_INSN_REP = 1,   /* a string instruction with rep: VEX makes a pass for a count of zero */
	TS_LOG_INSN_FAULT = 2, /* the instruction does not complete; a signal follows */
	TS_LOG_INSN_X87 = 4,   /* x87 arithmetic */
};

struct ts_log_insn {
	uint16_t off; /* address - the block's */
	uint8_t len, flags;
	uint32_t n_events; /* of those after the instruction before */
};

/* Taken in instruction @insn after the first @n_events events of the block. */
struct ts_log_exit {
	uint16_t insn, is_fault;
	uint32_t n_events;
};

enum ts_log_event_kind {
	TS_LOG_PUT = 1, /* guest state from @off on is set to the value */
	TS_LOG_PUTI,    /* element (@index + bias) % n of the array at @off of elements of @len bytes */
	TS_LOG_LOAD,
	TS_LOG_STORE,
};

enum ts_log_event_flag {
	TS_LOG_CONST_ADDR = 1,  /* addr is the address; else addr is its offset in the record */
	TS_LOG_CONST_VALUE = 2, /* value is the value, zero-extended from 8 bytes; else value is its offset in the record */
	TS_LOG_GUARDED = 4,     /* only if the byte at @guard in the record is not 0 */
};

struct ts_log_event {
	uint8_t kind, flags;
	uint16_t len;   /* bytes of the value */
	uint16_t off;   /* PUT, PUTI: in the guest state */
	uint16_t guard;
	uint64_t addr;  /* LOAD, STORE; PUTI: where the record has the index, a u32 */
	uint64_t value;
	uint32_t n_elements; /* PUTI */
	int32_t bias;        /* PUTI */
};

#endif
