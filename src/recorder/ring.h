/* SPDX-License-Identifier: MIT */
/*
 * The shared memory between `tracestub record` and its plugin in the emulator.
 *
 * The plugin writes the stream of ops (loaders/usercorn/op_write.h) into a ring of bytes.  The command reads the ring
 * and writes the file.  The open frame is beside the ring, and is copied into the ring when it is full.  If the program
 * dies, the command also reads the open frame, so that no executed instruction is missing.
 *
 * One thread writes at a time; one process reads.
 */
#ifndef TS_RECORDER_RING_H
#define TS_RECORDER_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TS_RING_OPEN_CAP 65536u
#define TS_RING_TEXT 4096u
#define TS_RING_MAX_CALLS 1024u
#define TS_RING_N_ARGS 6u
#define TS_RING_CODE_FILES 65536u

/* A system call that has begun and is not in the stream. */
struct ts_ring_call {
	_Atomic uint64_t pid; /* process << 32 | thread; 0: the entry is free */
	uint32_t num;
	uint64_t args[TS_RING_N_ARGS];
};

/* The last signal that the host delivered to the emulator; it may be the signal that ends the program. */
struct ts_ring_signal {
	uint64_t pid;    /* of the receiving thread; 0: that thread is not recorded */
	uint64_t addr;   /* the program's address, or the process id of the sender */
	uint64_t n_steps;
	int32_t num, code; /* the host's; 0: no signal */
	bool is_fault;   /* addr is the address of an access */
};

struct ts_ring {
	uint64_t len;              /* bytes of data; constant */
	_Atomic uint64_t head;     /* bytes written since the start */
	_Atomic uint64_t tail;     /* bytes taken */
	_Atomic uint64_t boundary; /* head after the last complete frame or note */
	_Atomic uint64_t boundary_steps; /* instructions before boundary */
	_Atomic uint32_t n_seals; /* odd while these two change */
	_Atomic uint32_t written;  /* futex: changes with head, and by ts_ring_wake() */
	_Atomic uint32_t taken;    /* futex: changes with tail */
	_Atomic uint32_t is_reader_waiting, is_writer_waiting;
	_Atomic uint32_t is_stopped; /* set by either side: nothing more is recorded */
	_Atomic uint32_t is_started; /* the first instruction is about to be executed */

	/* Facts from the plugin, for messages and notes; texts end with NUL. */
	_Atomic uint64_t n_steps, n_unexplained;
	_Atomic uint32_t n_children;
	_Atomic uint32_t is_in_exec; /* a call of execve, of the file exec_path, has not returned */
	char exec_path[TS_RING_TEXT];
	/* Paths of the files that were mapped as code, each with its NUL, as far as they fit. */
	_Atomic uint32_t n_code_files; /* bytes */
	char code_files[TS_RING_CODE_FILES];
	struct ts_ring_call calls[TS_RING_MAX_CALLS];
	struct ts_ring_signal signal;
	_Atomic uint32_t is_refused; /* the plugin cannot record, for this reason */
	char refusal[512];

	/* The open frame.  It belongs after byte open_base of the stream; it is void if head is another number. */
	_Atomic uint64_t open_base;
	_Atomic uint64_t open_state; /* bytes << 32 | ops */
	uint64_t open_pid;
	uint8_t open[TS_RING_OPEN_CAP];

	uint8_t data[];
};

/* Bytes of the shared memory for a ring of @len bytes. */
static inline size_t ts_ring_size(uint64_t len)
{
	return sizeof(struct ts_ring) + len;
}

/*
 * Append @len bytes.  Waits while the ring is full, as long as the process @reader lives.
 *
 * Returns false if the ring is stopped or @reader is not the parent of this process any more.
 */
bool ts_ring_put(struct ts_ring *r, const uint8_t *bytes, size_t len, pid_t reader);

/* Mark a boundary: a frame or a note ends here. */
void ts_ring_seal(struct ts_ring *r);

/* The last boundary; *n_steps is set to the number of instructions before it. */
uint64_t ts_ring_boundary(const struct ts_ring *r, uint64_t *n_steps);

/*
 * Set *bytes to the contiguous bytes that can be read.  With @may_wait the function waits up to a second for the first.
 *
 * Returns the number of bytes; 0 if the ring is empty.
 */
size_t ts_ring_peek(struct ts_ring *r, const uint8_t **bytes, bool may_wait);

/* Remove the first @len of these bytes; the writer may use their room. */
void ts_ring_take(struct ts_ring *r, size_t len);

/* End a wait of the reader. */
void ts_ring_wake(struct ts_ring *r);

#endif
