/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints, trace state variables and the status of a trace run, as data.
 *
 * Their texts are the same in gdb's packets (qTfP, qTfV, qTStatus, and in pieces QTDP, QTDPsrc, QTDV) and in
 * its trace files, so both read and write them here.  All numbers in them are hex without 0x.  The contents of a set
 * are in its arena, and live as long as the set.
 */
#ifndef TS_TRACEPOINT_H
#define TS_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/arena.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"

enum ts_action_kind {
	/* R: registers, bytes = mask, most significant byte first, bit n = gdb's register n */
	TS_ACTION_REGS,
	TS_ACTION_MEM,    /* M: len bytes at addr, or at register base plus addr */
	TS_ACTION_EXPR,   /* X: bytes = agent expression that collects */
	TS_ACTION_STATIC, /* L: data of a static marker */
};

#define TS_NO_BASE (-1)

/* The data that a hit of a tracepoint collects. */
struct ts_action {
	enum ts_action_kind kind;
	bool is_stepping;     /* at each step after the hit, not at the hit */
	int32_t base;         /* M: gdb's register number, or TS_NO_BASE */
	uint64_t addr, len;   /* M */
	const uint8_t *bytes; /* R, X */
	size_t n_bytes;
	struct ts_action *next;
};

/* A piece of what the user typed. */
struct ts_tp_source {
	const char *type;     /* "at", "cond", "cmd" */
	/* where the piece begins in the whole text, and the whole text's length, as announced */
	uint64_t start, len;
	const uint8_t *text;
	size_t n_text;
	struct ts_tp_source *next;
};

/* One location of a tracepoint: the pair of number and address is unique. */
struct ts_tracepoint {
	uint32_t number;
	uint64_t addr;
	bool is_enabled;
	bool is_static;
	bool is_fast;
	bool has_step_actions; /* an action of stepping was defined */
	uint64_t n_steps;      /* while-stepping; 0: none */
	uint64_t pass_count;   /* the run stops at this hit; 0: never */
	uint64_t fast_len;     /* bytes of the instruction that a fast tracepoint displaces */
	const uint8_t *cond;   /* agent expression; NULL: none */
	size_t n_cond;
	struct ts_action *actions, **actions_end;    /* in order */
	struct ts_tp_source *sources, **sources_end; /* in order */
	bool has_use;          /* n_hits and n_bytes are known */
	uint64_t n_hits;
	uint64_t n_bytes;      /* that its frames take */
	struct ts_tracepoint *next;
	struct ts_tracepoint *next_alike; /* of the same chain */
};

/* A trace state variable. */
struct ts_tvar {
	uint32_t number;
	int64_t initial;
	bool is_builtin;
	const char *name; /* without $; may be "" */
	struct ts_tvar *next;
};

enum ts_run_end {
	TS_RUN_NOT_RUN,
	TS_RUN_STOPPED,      /* by the user; text is the user's note */
	TS_RUN_FULL,
	TS_RUN_DISCONNECTED,
	TS_RUN_PASS_COUNT,   /* of tracepoint number */
	TS_RUN_ERROR,        /* in tracepoint number; text is what */
	TS_RUN_UNKNOWN,
};

#define TS_NO_COUNT UINT64_MAX

/* Status of a run; a count of TS_NO_COUNT is not known.  Texts may be NULL. */
struct ts_run_status {
	bool is_running;
	enum ts_run_end end;
	const char *text;
	uint32_t number;
	uint64_t n_frames, n_created;   /* in the buffer; ever made */
	uint64_t n_free, n_bytes;       /* of the buffer */
	bool is_circular;
	bool is_disconnected;           /* it goes on when gdb leaves */
	uint64_t start_time, stop_time; /* microseconds; 0: unknown */
	const char *user, *notes;
};

/* All of a run. */
#define TS_N_CHAINS 1024u

struct ts_tracing {
	struct ts_tracepoint *points, **points_end; /* in order of definition */
	uint32_t n_points;
	struct ts_tracepoint *chains[TS_N_CHAINS]; /* by a hash of number and address */
	struct ts_tvar *vars, **vars_end;           /* in order of definition */
	uint32_t n_vars;
	struct ts_run_status status;
	struct ts_arena arena;
};

/* Limits on both; no real run reaches them. */
#define TS_MAX_TRACEPOINTS 4096
#define TS_MAX_TVARS 4096

void ts_tracing_init(struct ts_tracing *t);
void ts_tracing_fini(struct ts_tracing *t);

/* Forget all tracepoints; their memory is freed with the rest. */
void ts_tracing_drop_points(struct ts_tracing *t);

/*
 * The location @number at @addr, the first one of @number, and the variable @number, borrowed until the next change; NULL if it
 * does not exist.
 */
struct ts_tracepoint *ts_tracing_find(const struct ts_tracing *t, uint32_t number, uint64_t addr);
struct ts_tracepoint *ts_tracing_find_number(const struct ts_tracing *t, uint32_t number);
struct ts_tvar *ts_tracing_find_var(const struct ts_tracing *t, uint32_t number);

/* Kinds of pieces of a tracepoint's definition. */
enum ts_piece {
	TS_PIECE_DEFINE,         /* T  N:ADDR:E|D:STEP:PASS[:FLEN][:S][:XLEN,BYTES] */
	TS_PIECE_ACTIONS,        /* A  N:ADDR:ACTION... */
	TS_PIECE_STEP_ACTIONS,   /* S  N:ADDR:ACTION... */
	TS_PIECE_SOURCE,         /* Z  N:ADDR:TYPE:START:LEN:HEX */
	TS_PIECE_USE,            /* V  N:ADDR:HITS:BYTES */
	/* N:ADDR:[S]ACTION... of QTDP: from an S on, all later ones of this location are of stepping */
	TS_PIECE_PACKET_ACTIONS,
};

/* Which piece the letter at the start of a line or of a qTfP reply announces.  Returns false if none. */
bool ts_piece_of_letter(char letter, enum ts_piece *piece);

/*
 * Process a piece; @text of @len bytes follows its letter, or its sign in a packet (no trailing '-').
 *
 * Returns false, and @t is as before, if the text is malformed, names a location that does not exist, or
 * defines one that does (TS_ECORRUPT; @off is where the text lies, for the error), if there are too many
 * (TS_ELIMIT), or if memory is exhausted (TS_ENOMEM).  Returns false with TS_EUNSUPPORTED at an unknown
 * optional field: the location is defined without it and without what follows it.
 */
bool ts_tracing_piece(struct ts_tracing *t, enum ts_piece piece, const char *text, size_t len, uint64_t off,
		      struct ts_error *err);

/*
 * Parse a variable, N:INITIAL:BUILTIN:HEXNAME, and add it.  A variable of the same number is replaced.
 *
 * Returns false if the text is malformed (TS_ECORRUPT, TS_ETRUNC).
 * Returns false if there are TS_MAX_TVARS already (TS_ELIMIT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_tracing_var(struct ts_tracing *t, const char *text, size_t len, uint64_t off, struct ts_error *err);

/*
 * Take in a status: RUN;REASON:...;KEY:VALUE...  Unknown keys are skipped.
 *
 * Returns false if it is malformed (TS_ECORRUPT); the status then holds what came before, or if memory is
 * exhausted (TS_ENOMEM).
 */
bool ts_tracing_status(struct ts_tracing *t, const char *text, size_t len, uint64_t off,
		       struct ts_error *err);

/*
 * Append piece @i of a location with its letter: T, then each A, each S, each Z.
 *
 * Returns false after the last one.
 */
bool ts_tracepoint_format(const struct ts_tracepoint *tp, unsigned i, struct ts_buf *out);

/* Append one piece of source, and the use, with their letters. */
void ts_tp_source_format(const struct ts_tracepoint *tp, const struct ts_tp_source *s, struct ts_buf *out);
void ts_tracepoint_use_format(const struct ts_tracepoint *tp, struct ts_buf *out);

/* Append a variable, and a status, as read above. */
void ts_tvar_format(const struct ts_tvar *v, struct ts_buf *out);
void ts_run_status_format(const struct ts_run_status *s, struct ts_buf *out);

#endif
