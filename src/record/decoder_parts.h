/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the decoder's files share: records.c reads records, execute.c executions of blocks, kernel_ops.c the
 * kernel's.
 */
#ifndef TS_RECORD_DECODER_PARTS_H
#define TS_RECORD_DECODER_PARTS_H

#include "code.h"
#include "decoder.h"
#include "gap.h"
#include "regions.h"

#define TS_MAX_THREADS 4096u
#define TS_MAX_UNKNOWN 64u
#define TS_MAX_CODE_FILES 1024u
#define TS_MAX_TID_WORDS 64u

struct ts_call_begun {
	bool is_open;
	uint32_t num;
	uint64_t args[TS_LOG_N_ARGS];
	struct ts_op_piece ops; /* owned */
};

struct ts_log_task {
	uint64_t pid;       /* process << 32 | thread */
	bool is_known;      /* its KEYFRAME is written */
	uint64_t at;        /* its pc according to the ops written so far */
	uint64_t last_step; /* pc of its last STEP */
	uint64_t tid_word;  /* cleared when the thread ends; 0: none */
	char name[24];      /* its name; "": unknown */
	struct ts_call_begun call;
	bool has_signal;    /* a signal handler is about to begin */
	struct ts_log_signal signal;
	/* An incomplete execution of a block: the instruction at which it ended is not known yet. */
	const struct ts_log_code *open;
	uint64_t failed_pc;     /* the instruction that did not complete, if it was executed last */
	uint8_t failed_len;     /* its bytes; 0: no instruction failed */
	uint8_t *open_record; /* owned; TS_LOG_MAX_BLOCK bytes */
	uint8_t mmx; /* a bit for each place of the x87 unit that holds no double but an integer */
	uint8_t state[TS_LOG_MAX_STATE + 32];
	/* It has executed instructions of modules that are not recorded, and no GAP has them yet. */
	bool is_elsewhere;
	uint64_t n_elsewhere;             /* how many */
	uint8_t shown[TS_LOG_MAX_STATE];  /* its state as it was written */
};

/* The system call that returned last, and its op in the open frame. */
struct ts_call_returned {
	struct ts_log_task *task; /* NULL: no call has returned */
	uint32_t num;
	uint64_t args[TS_LOG_N_ARGS];
	size_t start, end; /* in the frame, which had n_ops ops then; thread task->pid's */
	uint32_t n_ops;
};

struct ts_log_decoder {
	const struct ts_log_guest *guest;
	uint32_t process;
	struct ts_op_frames *frames; /* borrowed */
	struct ts_log_code *blocks;  /* owned; by number */
	uint32_t n_blocks, cap_blocks;
	struct ts_log_task *tasks[TS_MAX_THREADS]; /* owned; by Valgrind's number */
	struct ts_log_task *now;  /* the thread that runs */
	uint8_t *scratch;         /* owned; a description, as it was when it was checked */
	struct ts_op_piece loose;    /* changes by the kernel whose system call is not known yet */
	struct ts_regions regions; /* what is mapped */
	char *code_files[TS_MAX_CODE_FILES]; /* owned; paths of what was mapped as code, also if it is unmapped now */
	size_t n_code_files;
	bool is_begun;            /* the first KEYFRAME is written */
	bool is_exiting;          /* a thread called exit_group */
	bool is_followed;         /* children have recordings of their own */
	uint64_t stack_low, stack_high, stack_min; /* the main stack; it may grow down to stack_min */
	struct {
		uint64_t start, end;
	} unknown[TS_MAX_UNKNOWN];
	unsigned n_unknown;
	uint64_t tid_words[TS_MAX_TID_WORDS]; /* of threads that ended last: the kernel clears them a little later */
	unsigned n_tid_words;
	bool is_last_damaged; /* what could not be decoded was the last record there */
	struct ts_log_decoder_counts counts;
	char exec_path[4096];
	struct {
		uint16_t num;
		int32_t code;
		uint64_t addr;
		uint8_t flags;
	} fatal;
	struct ts_call_returned returned;
	size_t last_call_len; /* bytes of the SYSCALL that was written last */
	const char *const *modules; /* borrowed; NULL: all are recorded */
	bool is_waiting;            /* for an instruction of these modules: frames are dropped */
	bool (*put)(void *user, const uint8_t *bytes, size_t len); /* the frames', for then */
	struct ts_gap gap;
	uint8_t unused[TS_OP_FRAMES_CAP]; /* ops of an instruction that is not recorded */
	struct ts_log_task *dead; /* the thread that a fatal signal ended */
};

/* -------------------------------------------------------------------------------- keyframe.c */

/* The KEYFRAME of thread @t with the registers of @state, at @pc.  The first one has @memory, too; else NULL. */
void ts_decode_put_keyframe(struct ts_log_decoder *d, struct ts_log_task *t, const uint8_t *state, uint64_t pc,
			    const struct ts_op_piece *memory);

/* The NOTE of the thread's name. */
void ts_decode_put_name(struct ts_log_decoder *d, const struct ts_log_task *t);

/* -------------------------------------------------------------------------------- elsewhere.c */

/* Is code at @addr excluded from the recording? */
bool ts_decode_is_elsewhere(const struct ts_log_decoder *d, uint64_t addr);

/* @t is about to execute @b. */
void ts_decode_enter(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_code *b);

/* @t enters code that is not recorded: its changes are collected until ts_decode_put_gap(). */
void ts_decode_leave(const struct ts_log_decoder *d, struct ts_log_task *t);

/* Called before anything is written for @t: write the changes that unrecorded code has made. */
void ts_decode_put_gap(struct ts_log_decoder *d, struct ts_log_task *t);

/* -------------------------------------------------------------------------------- execute.c */

/*
 * Write the execution @record of the block @b, which ended at its exit number @exit; 0: at the end of the block.
 *
 * Returns false if the block has no such exit.
 */
bool ts_execute(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_code *b, const uint8_t *record,
		uint32_t exit);

/* Write the instructions before @pc of the incomplete execution of @t, if there is one. */
void ts_execute_until(struct ts_log_decoder *d, struct ts_log_task *t, uint64_t pc);

/* -------------------------------------------------------------------------------- changes.c */

/* Write d->loose as changes of thread @t. */
void ts_decode_settle(struct ts_log_decoder *d, struct ts_log_task *t);

/* Append the registers of @t that differ from @state to @p (all with @is_all), and store @state as the thread's state. */
void ts_decode_registers(struct ts_log_decoder *d, struct ts_log_task *t, struct ts_op_piece *p, const uint8_t *state,
			 bool is_all);

/* As ts_decode_registers(), with the MMX bits of @state. */
void ts_decode_registers_as(struct ts_log_decoder *d, struct ts_log_task *t, struct ts_op_piece *p, const uint8_t *state,
			    uint8_t mmx, bool is_all);

/* -------------------------------------------------------------------------------- kernel_ops.c */

/* Add @file to the files that were mapped as code; NULL is ignored. */
void ts_decode_keep_code_file(struct ts_log_decoder *d, const char *file);

/*
 * Take in the body of a control record of @kind, about a mapping or about changed memory.
 *
 * Return NULL on success.
 * Return a sentence, a literal, if the record is damaged or memory is exhausted.
 */
const char *ts_decode_map(struct ts_log_decoder *d, uint32_t kind, const uint8_t *bytes, size_t len);
const char *ts_decode_memory(struct ts_log_decoder *d, uint32_t kind, const uint8_t *bytes, size_t len);

void ts_decode_call(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_call *c);
void ts_decode_return(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_call *c, const uint8_t *state);

/* A fatal signal was delivered in the system call that returned last: rewrite it as one that does not return. */
void ts_decode_unreturn(struct ts_log_decoder *d);

/* Write the open system call of @t as one that does not return. */
void ts_decode_put_exit(struct ts_log_decoder *d, struct ts_log_task *t);
void ts_decode_thread_end(struct ts_log_decoder *d, struct ts_log_task *t);
void ts_decode_signal_state(struct ts_log_decoder *d, struct ts_log_task *t, const uint8_t *state, uint64_t pc);

static inline void ts_log_decoder_add_tid_word(struct ts_log_decoder *d, uint64_t addr)
{
	d->tid_words[d->n_tid_words++ % TS_MAX_TID_WORDS] = addr;
}

/* Is the access of at most 4 bytes in one of the d->tid_words? */
static inline bool ts_log_decoder_is_tid_word(const struct ts_log_decoder *d, uint64_t addr, uint32_t len)
{
	for (unsigned i = 0; i < TS_MAX_TID_WORDS && i < d->n_tid_words; i++) {
		if (addr - d->tid_words[i] < 4 && len <= 4)
			return true;
	}
	return false;
}

/* Is the byte at @addr in a range whose contents are not recorded? */
static inline bool ts_log_decoder_is_unknown(const struct ts_log_decoder *d, uint64_t addr)
{
	for (unsigned i = 0; i < d->n_unknown; i++) {
		if (addr >= d->unknown[i].start && addr < d->unknown[i].end)
			return true;
	}
	return false;
}

#endif
