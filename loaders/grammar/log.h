/* SPDX-License-Identifier: MIT */
/*
 * An open text trace.
 */
#ifndef LOADERS_GRAMMAR_LOG_H
#define LOADERS_GRAMMAR_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grammar.h"
#include "insn.h"
#include "line.h"
#include "loaders/kit/regmap.h"
#include "loaders/kit/warn.h"
#include "shown_code.h"
#include "src/source/source.h"
#include "src/trace/reader.h"
#include "states.h"
#include "tags.h"

/* The maximum number of threads of a file whose lines have thread ids, too. */
#define GRAMMAR_PART_THREADS 4096u

struct grammar_parts {
	struct ts_source *joined; /* owned; NULL: it is one file */
	const char **names;       /* owned; of the files, which are borrowed; NULL: it is one file */
	uint64_t *ends;           /* owned; of the newline after each file in the joined ones */
	uint32_t n;               /* at least 1 */
};

/*
 * The files @src and @others, @n of them, borrowed until grammar_parts_fini().
 *
 * Returns the source to read, borrowed; NULL if there are too many (TS_ELIMIT), or memory is exhausted (TS_ENOMEM).
 */
const struct ts_source *grammar_parts_init(struct grammar_parts *p, const struct ts_source *src,
					   const struct ts_source *const *others, size_t n, struct ts_error *err);
void grammar_parts_fini(struct grammar_parts *p);

/* The ordinal of the file that has the byte at @off. */
uint32_t grammar_part_at(const struct grammar_parts *p, uint64_t off);

/* Offset of the first byte of the file of ordinal @part. */
uint64_t grammar_part_begin(const struct grammar_parts *p, uint32_t part);

/* Returns true if the byte at @off is the newline inserted after a file. */
bool grammar_part_ends(const struct grammar_parts *p, uint64_t off);

/* The maximum length of a line; longer lines are skipped. */
#define GRAMMAR_MAX_LINE (UINT32_C(1) << 20)

/* The maximum number of modules whose addresses a reader keeps. */
#define GRAMMAR_MAX_MODULES 64u
#define GRAMMAR_MAX_PATH    256u

/* The kinds of damage of a line.  Each kind is one warning, with the first place. */
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

/* The place of a thread's instruction. */
struct grammar_place {
	uint64_t pc;
	uint32_t thread; /* ordinal */
	bool is_there;   /* false: before the first position */
	bool has_event;  /* an exception or an interrupt came after its state */
	bool has_gap;    /* code that is not listed ran after its state */
	bool is_sight;   /* the code is from lines before the state, and is not an effect yet */
	uint8_t n_code;  /* bytes of the instruction that the state itself, or lines before it, show as memory */
	uint8_t code[GRAMMAR_MAX_CODE];
};

/* A module, as step lines name it. */
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
	uint64_t first_told;         /* lines before this offset are in the initial state, except for their additions to first */
	struct grammar_tags first_tags; /* before that line */
	enum grammar_family family;
	uint64_t max_images;         /* the most bytes of all modules that are kept */
	uint64_t first_images;       /* bytes of modules that may still be kept after the first line */
	bool is_blocks;              /* of states: several instructions are executed between two states */
	bool has_registers;          /* the head lists some */
	bool is_threadless;          /* of states: the log begins after the lines that name the thread */
	bool has_tags;               /* of states: a line tells the thread of a dump of registers that comes later */
	struct grammar_place start;  /* of states: position 0 */
	struct grammar_shown_code shown; /* there */
	struct grammar_files files;  /* of states: registers at position 0 */
	struct grammar_module modules[GRAMMAR_MAX_MODULES]; /* at position 0 */
	unsigned n_modules;
};

void grammar_damages_init(struct grammar_damages *d, struct ts_recording *rec, const struct grammar_parts *parts);

/* The line at @off is damaged. */
void grammar_damaged(struct grammar_damages *d, enum grammar_damage kind, uint64_t off);

/* Read the lines up to the first step or state. */
bool grammar_read_start(struct grammar_log *log, struct ts_error *err);

/* A reader at position 0; NULL if memory is exhausted (TS_ENOMEM). */
struct ts_reader *grammar_reader_new(struct grammar_log *log, struct ts_error *err);

/* --------------------------------------------------------------------------------------- blocks.c */

/*
 * Set log->is_blocks from the first states: are most instructions without a branch followed by a state other than that of
 * the next instruction?  Without code in the log it is false.
 *
 * Returns false if the source cannot be read (TS_EIO, TS_ETRUNC) or memory is exhausted (TS_ENOMEM).
 */
bool grammar_find_blocks(struct grammar_log *log, struct ts_error *err);

/* ---------------------------------------------------------------------------------------- count.c */

/*
 * Add two notes for the author of a grammar: "lines", the number of the first lines that each line of the grammar matches,
 * and "no pattern", the first lines that no pattern matches.
 *
 * Returns false if the trace cannot be read (TS_EIO) or memory is exhausted (TS_ENOMEM).
 */
bool grammar_count_lines(struct grammar_log *log, struct ts_error *err);

#endif
