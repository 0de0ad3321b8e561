/* SPDX-License-Identifier: MIT */
/*
 * The matched lines of a text trace in groups.  A group is the line that begins a step or a state, and the lines that add
 * to it.
 */
#ifndef LOADERS_GRAMMAR_LINES_H
#define LOADERS_GRAMMAR_LINES_H

#include "loaders/grammar/code/decoder.h"
#include "loaders/kit/line_reader.h"
#include "log.h"
#include "loaders/grammar/language/match.h"
#include "loaders/grammar/code/shown_code.h"
#include "tags.h"

/* A line that begins a step or a state, with its effects in a batch of its own. */
struct grammar_head {
	struct grammar_line line;
	struct grammar_insn insn;
	struct ts_steps fx;
	uint64_t off;
	uint64_t begin; /* of the group's first line, which may precede the line at off */
	bool is_there;  /* the other members are valid */
	char module[GRAMMAR_MAX_PATH]; /* of a step; "" for none */
	unsigned n_regs; /* of a state: registers in all of its lines */
	bool has_memory; /* its lines show memory */
	bool is_unsure;  /* of a state: its registers may be another thread's */
	uint32_t part;   /* its file */
};

struct grammar_lines {
	struct grammar_log *log; /* borrowed */
	struct ts_line_reader lines;
	struct grammar_matcher matcher;
	struct grammar_head heads[2];
	struct grammar_head *group; /* one of heads; with the effects of all lines of the group */
	struct grammar_head *ahead; /* the other one: the line that begins the next group, if is_there */
	uint32_t part;             /* the file of the last line */
	uint64_t images_left;      /* bytes of modules that may still be kept */
	bool is_skipping;          /* lines are ignored up to one that ends the skipping */
	struct grammar_decoder *decoder; /* borrowed; NULL: no instruction is decoded */
	struct grammar_tags tags, tags_before; /* after the last line, and before the line ahead */
	struct grammar_shown_code shown;
	/* effects of lines that add to the step or state after them; the first such line is at next_off */
	struct ts_steps next_fx;
	uint64_t next_off;
	unsigned next_n_regs;
	bool has_next;
	bool takes_effects;        /* effects after them belong to that step or state, too */
	uint64_t code_end;         /* where the code of the last line with code ends */
	bool has_code_end;
	/* lines before this offset were processed before; only their additions to later lines count */
	uint64_t done_until;
	bool is_lost;              /* a line of the group was lost: only the listed registers are known */
	bool has_gap;              /* code that is not listed ran after the group */
	bool has_event;            /* an exception or an interrupt came after the group */
};

/* Begin with the line at file offset @off.  @log is borrowed until grammar_lines_fini(). */
void grammar_lines_init(struct grammar_lines *l, struct grammar_log *log, uint64_t off);
void grammar_lines_fini(struct grammar_lines *l);

/*
 * A place at which reading can resume: the line that begins the next group, and the state before that line.
 */
struct grammar_lines_place {
	uint64_t off;
	uint64_t done_until;
	uint64_t images_left;
	struct grammar_tags tags;
};

/* Set *place to the place after the current group. */
static inline void grammar_lines_place(const struct grammar_lines *l, struct grammar_lines_place *place)
{
	const bool is_ahead = l->ahead->is_there;

	place->off = is_ahead ? l->ahead->begin : l->lines.off;
	place->done_until = is_ahead ? l->ahead->off : l->lines.off;
	place->images_left = l->images_left;
	grammar_tags_copy(&place->tags, is_ahead ? &l->tags_before : &l->tags);
}

/* Resume reading at @place. */
void grammar_lines_go(struct grammar_lines *l, const struct grammar_lines_place *place);

/*
 * Read the next group, up to the line that begins the group after it.  The effects of code lines, of module
 * lines and of lines before the first group are appended to @out.
 *
 * Returns TS_ITEM with the group in l->group.
 * Returns TS_END after the last group.
 * Returns TS_FAIL if the source cannot be read (TS_EIO, TS_ETRUNC).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 * After a failure the caller returns to an earlier place with grammar_lines_go().
 */
enum ts_next grammar_lines_next(struct grammar_lines *l, struct ts_steps *out, struct ts_error *err);

/* Append to @out the code among the effects of @fx.  Such effects come from lines that list only code. */
void grammar_append_code(const struct ts_steps *fx, struct ts_steps *out);

/* Append effect @e of @from to @to. */
void grammar_append(struct ts_steps *to, const struct ts_steps *from, const struct ts_effect *e);

#endif
