/* SPDX-License-Identifier: MIT */
/*
 * An open text trace.
 */
#ifndef LOADERS_GRAMMAR_LOG_H
#define LOADERS_GRAMMAR_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/grammar/language/grammar.h"
#include "loaders/grammar/code/insn.h"
#include "loaders/grammar/language/line.h"
#include "loaders/kit/regmap.h"
#include "loaders/kit/warn.h"
#include "loaders/grammar/code/shown_code.h"
#include "src/source/source.h"
#include "src/trace/reader.h"
#include "states.h"
#include "tags.h"

/* The maximum number of threads of a file whose lines have thread ids, too. */
#define GRAMMAR_PART_THREADS 4096u

struct grammar_parts {
	struct ts_source *joined; /* owned; NULL: it is one file */
	const char **names;       /* owned; of the files, which are borrowed; NULL: it is one file */
	uint64_t *ends;           /* owned; offsets in joined of the newline after each file */
	uint32_t n;               /* at least 1 */
};

/*
 * Join the file @src and the @n files @others, all borrowed until grammar_parts_fini().
 *
 * Returns the source to read, borrowed until grammar_parts_fini().
 * Returns NULL if there are too many files (TS_ELIMIT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 * The caller calls grammar_parts_fini() in all cases.
 */
const struct ts_source *grammar_parts_init(struct grammar_parts *p, const struct ts_source *src,
					   const struct ts_source *const *others, size_t n, struct ts_error *err);
void grammar_parts_fini(struct grammar_parts *p);

/* Returns the ordinal of the file that contains the byte at @off. */
uint32_t grammar_part_at(const struct grammar_parts *p, uint64_t off);

/* Returns the offset of the first byte of file @part, an ordinal. */
uint64_t grammar_part_begin(const struct grammar_parts *p, uint32_t part);

/* Returns true if the byte at @off is the newline inserted after a file. */
bool grammar_part_ends(const struct grammar_parts *p, uint64_t off);

/* The maximum length of a line; longer lines are skipped. */
#define GRAMMAR_MAX_LINE (UINT32_C(1) << 20)

/* The maximum number of modules whose addresses a reader keeps. */
#define GRAMMAR_MAX_MODULES 64u
#define GRAMMAR_MAX_PATH    256u

/* The kinds of damage of a line.  Each kind has one warning, with the offset of the first such line. */
enum grammar_damage {
	GRAMMAR_NOISE_LINE,
	GRAMMAR_LOST_STEP,
	GRAMMAR_LONG_LINE,
	GRAMMAR_OPEN_LINE,
	GRAMMAR_BAD_ITEM,
	GRAMMAR_UNKNOWN_NAME,
	GRAMMAR_SKIPPED_WORD,
	GRAMMAR_LONG_IMAGE,
	GRAMMAR_MANY_NEXT,
	GRAMMAR_N_DAMAGES,
};

struct grammar_damages {
	struct ts_warner warners[GRAMMAR_N_DAMAGES];
	bool is_seen[GRAMMAR_N_DAMAGES];
	uint64_t first[GRAMMAR_N_DAMAGES]; /* file offset */
	char name[40];                     /* the first unknown name */
	const struct grammar_parts *parts; /* borrowed */
};

/* The instruction that a thread executes next, at a position. */
struct grammar_place {
	uint64_t pc;
	uint32_t thread; /* ordinal */
	bool is_there;   /* false: before the first position */
	bool has_event;  /* an exception or an interrupt came after its state */
	bool has_gap;    /* code that is not listed ran after its state */
	bool is_sight;   /* the code is from lines before the state, and no effect has it yet */
	uint8_t n_code;  /* bytes of the instruction that the state or lines before it list as memory */
	uint8_t code[GRAMMAR_MAX_CODE];
};

/* A module that step lines refer to by name. */
struct grammar_module {
	uint64_t key; /* of its name */
	uint64_t base;
	uint64_t len;
};

struct grammar_log {
	struct ts_recording base;
	const struct ts_source *src; /* borrowed; all files */
	struct grammar_parts parts;
	struct grammar g;
	struct regmap map;
	struct grammar_damages damages;
	uint64_t first;              /* file offset of the line that a new reader begins with */
	uint64_t first_done;         /* done_until of a new reader (lines.h) */
	struct grammar_tags first_tags; /* before that line */
	enum grammar_family family;
	uint64_t max_images;         /* limit on the bytes of all modules that are kept */
	uint64_t first_images;       /* bytes of modules that may still be kept after the first line */
	bool is_blocks;              /* of states: several instructions are executed between two states */
	bool has_registers;          /* the lines before position 0 list registers */
	bool is_threadless;          /* of states: the log begins after the lines that name the thread */
	bool has_tags;               /* of states: there are tags (tags.h) */
	struct grammar_place start;  /* of states: position 0 */
	struct grammar_shown_code shown; /* at position 0 */
	struct grammar_files files;  /* of states: registers at position 0 */
	struct grammar_module modules[GRAMMAR_MAX_MODULES]; /* at position 0 */
	unsigned n_modules;
};

/* @rec and @parts are borrowed as long as @d is used. */
void grammar_damages_init(struct grammar_damages *d, struct ts_recording *rec, const struct grammar_parts *parts);

/* Count a damaged line at file offset @off. */
void grammar_damaged(struct grammar_damages *d, enum grammar_damage kind, uint64_t off);

/*
 * Read the lines up to the first step or state, and set the state of position 0.
 *
 * Returns false if the log has no step and no state (TS_EUNSUPPORTED).
 * Returns false if the source cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool grammar_read_start(struct grammar_log *log, struct ts_error *err);

/*
 * Returns a reader at position 0, which the caller closes with its close().
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_reader *grammar_reader_new(struct grammar_log *log, struct ts_error *err);

/* --------------------------------------------------------------------------------------- blocks.c */

/*
 * Set log->is_blocks from the first states.  It is true if, after most instructions that are no branch, the
 * next state is not at the next instruction.  If the log has no code, it is false.
 *
 * Returns false if the source cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool grammar_find_blocks(struct grammar_log *log, struct ts_error *err);

/* ---------------------------------------------------------------------------------------- count.c */

/*
 * Add two notes for the author of a grammar: "lines", the number of the first lines that each line of the grammar matches,
 * and "no pattern", the first lines that no pattern matches.
 *
 * Returns false if the trace cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool grammar_count_lines(struct grammar_log *log, struct ts_error *err);

#endif
