/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <string.h>

#include "loaders/grammar/code/image.h"

void grammar_lines_init(struct grammar_lines *l, struct grammar_log *log, uint64_t off)
{
	l->log = log;
	ts_line_reader_init(&l->lines, log->src, off, GRAMMAR_MAX_LINE);
	grammar_matcher_init(&l->matcher, &log->g, &log->map, &log->base.regs);
	l->images_left = log->max_images;
	l->group = &l->heads[0];
	l->ahead = &l->heads[1];
	ts_steps_init(&l->group->fx);
	ts_steps_init(&l->ahead->fx);
	ts_steps_init(&l->next_fx);
}

void grammar_lines_fini(struct grammar_lines *l)
{
	ts_line_reader_fini(&l->lines);
	ts_steps_fini(&l->group->fx);
	ts_steps_fini(&l->ahead->fx);
	ts_steps_fini(&l->next_fx);
}

void grammar_lines_go(struct grammar_lines *l, const struct grammar_lines_place *place)
{
	l->lines.off = place->off;
	l->done_until = place->done_until;
	l->matcher.pictured = 0;
	l->has_next = l->takes_effects = l->has_code_end = false;
	l->images_left = place->images_left;
	grammar_tags_copy(&l->tags, &place->tags);
	l->ahead->is_there = false;
	l->is_lost = l->has_gap = l->has_event = l->is_skipping = false;
}

/* Values that a line has are followed by room for a word. */
static bool is_word(const struct ts_steps *from, const struct ts_effect *e)
{
	return e->len <= 8 && from->cap_data - e->data >= 8;
}

void grammar_append(struct ts_steps *to, const struct ts_steps *from, const struct ts_effect *e)
{
	const uint8_t *data = ts_effect_data(from, e);
	struct ts_effect *copy;

	if (!data)
		copy = ts_steps_effect(to, e->kind, e->addr, e->len);
	else if (is_word(from, e))
		copy = ts_steps_word(to, e->kind, e->addr, data, (uint32_t)e->len);
	else
		copy = ts_steps_value(to, e->kind, e->addr, data, (uint32_t)e->len);
	if (copy)
		copy->is_hidden = e->is_hidden;
}

/* ------------------------------------------------------------------------------------------------- a line */

static void note_damage(struct grammar_lines *l, const struct grammar_line *line, uint64_t off)
{
	struct grammar_damages *d = &l->log->damages;

	if (line->n_bad)
		grammar_damaged(d, GRAMMAR_BAD_ITEM, off);
	if (line->n_skipped)
		grammar_damaged(d, GRAMMAR_SKIPPED_WORD, off);
	if (!line->n_unknown)
		return;
	if (!d->name[0]) {
		size_t n = line->unknown.len < sizeof(d->name) - 1 ? line->unknown.len : sizeof(d->name) - 1;

		memcpy(d->name, line->unknown.text, n);
	}
	grammar_damaged(d, GRAMMAR_UNKNOWN_NAME, off);
}

/* Threads of another file are other threads. */
static void take_part(struct grammar_lines *l, struct grammar_head *head)
{
	uint32_t part = grammar_part_at(&l->log->parts, head->off);

	if (part != l->part)
		l->tags.n = 0;
	head->part = l->part = part;
	head->line.thread = part * (uint64_t)GRAMMAR_PART_THREADS +
			    (head->line.has & HAS_THREAD ? head->line.thread % GRAMMAR_PART_THREADS : 0);
	head->line.has |= HAS_THREAD;
}

static inline __attribute__((always_inline)) void match_text(struct grammar_lines *l, struct ts_text_line *text,
							     struct grammar_head *head)
{
	if (text->len && text->text[text->len - 1] == '\r')
		text->len--;
	ts_steps_reset(&head->fx);
	head->off = text->off;
	grammar_match(&l->matcher, text->text, text->len, &head->line, &head->fx);
	if (l->log->parts.n > 1)
		take_part(l, head);
	if (l->log->g.has_skips && grammar_skips(head->line.kind, &l->is_skipping)) {
		ts_steps_reset(&head->fx);
		head->line.kind = GRAMMAR_NOTE;
		return;
	}
	if (__builtin_expect(head->line.n_bad || head->line.n_skipped || head->line.n_unknown, 0))
		note_damage(l, &head->line, text->off);
}

/* ------------------------------------------------------------------------------------------ other lines */

/* The most effects of lines that add to one step or state after them. */
#define MAX_NEXT 65536u

/* The line adds to the step or state after it. */
static void add_next(struct grammar_lines *l, const struct grammar_head *head)
{
	if (!l->has_next) {
		ts_steps_reset(&l->next_fx);
		l->next_off = head->off;
		l->next_n_regs = 0;
		l->has_next = true;
	}
	if (l->next_fx.n_effects >= MAX_NEXT) {
		grammar_damaged(&l->log->damages, GRAMMAR_MANY_NEXT, head->off);
		return;
	}
	for (uint32_t i = 0; i < head->fx.n_effects; i++)
		grammar_append(&l->next_fx, &head->fx, &head->fx.effects[i]);
	l->next_fx.is_failed |= head->fx.is_failed;
	l->next_n_regs += head->line.n_regs;
}

/*
 * Code that a line of its own shows: a sight of memory, which no instruction asked for, when the step or state after it
 * begins.  A line without an address goes on where the one before it ended.
 */
static void add_code(struct grammar_lines *l, struct grammar_head *head)
{
	const struct grammar_line *line = &head->line;
	struct ts_effect *e = NULL;

	if (line->has & HAS_PC)
		l->code_end = line->pc;
	else if (!l->has_code_end)
		return;
	l->has_code_end = l->code_end <= l->matcher.mask - line->n_code;
	if (line->n_code && l->has_code_end)
		e = ts_steps_value(&head->fx, TS_FX_READ, l->code_end, line->code, line->n_code);
	if (e)
		e->is_hidden = true;
	l->code_end += line->n_code;
	add_next(l, head);
	l->next_fx.is_failed |= head->fx.is_failed;
}

void grammar_append_code(const struct ts_steps *fx, struct ts_steps *out)
{
	for (uint32_t i = 0; i < fx->n_effects; i++) {
		if (fx->effects[i].kind == TS_FX_READ && fx->effects[i].is_hidden)
			grammar_append(out, fx, &fx->effects[i]);
	}
}

/* What lines before it add to the step or state comes first in it. */
static void take_next(struct grammar_lines *l, struct grammar_head *head)
{
	const struct ts_steps own = head->fx;

	head->begin = head->off;
	if (!l->has_next)
		return;
	for (uint32_t i = 0; i < own.n_effects; i++)
		grammar_append(&l->next_fx, &own, &own.effects[i]);
	head->fx = l->next_fx;
	l->next_fx = own;
	head->begin = l->next_off;
	head->has_memory = true;
	head->n_regs += l->next_n_regs;
	l->has_next = l->takes_effects = false;
}

/* "base" and "last" or "length" of a module, and its bytes, in the line at @text. */
static bool tell_module(struct grammar_lines *l, const struct grammar_head *head, const char *text,
			struct ts_steps *out, struct ts_error *err)
{
	const struct grammar_line *line = &head->line;
	uint64_t len = line->has & HAS_LAST ? line->last - line->base + 1 : line->length;
	bool is_cut, done = true;

	if (!(line->has & HAS_BASE) || !len || line->base > l->matcher.mask || len - 1 > l->matcher.mask - line->base)
		return true;
	if (line->kind == GRAMMAR_UNLOAD) {
		grammar_shown_unload(&l->shown, line->base, len);
		ts_steps_effect(out, TS_FX_UNLOAD, line->base, len);
		return true;
	}
	ts_steps_load(out, line->base, len, line->module.text, line->has & HAS_MODULE ? line->module.len : 0);
	if (!line->image.text)
		return true;
	grammar_shown_load(&l->shown, line->base, len, head->off + (uint64_t)(line->image.text - text));
	done = grammar_image_append(&l->lines.window, head->off + (uint64_t)(line->image.text - text), line->base, len,
				  &l->images_left, out, &is_cut, err);
	if (done && is_cut)
		grammar_damaged(&l->log->damages, GRAMMAR_LONG_IMAGE, head->off);
	return done;
}

/* So much of a line that is too long is examined: it may be that of a module with its bytes. */
#define LONG_HEAD 4096u

/* A line that is longer than lines may be. */
static enum ts_next pass_long_line(struct grammar_lines *l, struct grammar_head *head, struct ts_steps *out,
				   struct ts_error *err)
{
	struct ts_text_line text = { .off = l->lines.off };
	enum ts_next next;
	size_t got;

	ts_error_reset(err);
	text.text = (const char *)ts_window_at(&l->lines.window, text.off, LONG_HEAD, &got, err);
	if (!text.text)
		return TS_FAIL;
	text.len = LONG_HEAD;
	match_text(l, &text, head);
	if (head->line.kind == GRAMMAR_LOAD && head->line.image.text) {
		if (!tell_module(l, head, text.text, out, err))
			return TS_FAIL;
		return ts_line_reader_pass(&l->lines, err);
	}
	next = ts_line_reader_pass(&l->lines, err);
	if (next == TS_FAIL)
		return next;
	grammar_damaged(&l->log->damages, GRAMMAR_LONG_LINE, text.off);
	l->is_lost = true;
	return next;
}

/* Has the line no line end of its own in its file? */
static bool is_open(const struct grammar_lines *l, const struct ts_text_line *text)
{
	return !text->is_whole || (l->log->parts.n > 1 && text->len && grammar_part_ends(&l->log->parts, text->off + text->len));
}

/* The next line, matched.  A last one without a line end may be half a line. */
static enum ts_next next_line(struct grammar_lines *l, struct grammar_head *head, struct ts_steps *out,
			      struct ts_error *err)
{
	struct ts_text_line text;
	enum ts_next next;

	for (;;) {
		next = ts_line_reader_next(&l->lines, &text, err);
		if (next == TS_FAIL && err->code == TS_ELIMIT) {
			next = pass_long_line(l, head, out, err);
			if (next != TS_ITEM)
				return next;
			continue;
		}
		if (next != TS_ITEM)
			return next;
		if (!l->log->g.is_open_end && is_open(l, &text)) {
			grammar_damaged(&l->log->damages, GRAMMAR_OPEN_LINE, text.off);
			if (!text.is_whole)
				return TS_END;
			continue;
		}
		match_text(l, &text, head);
		if ((head->line.kind == GRAMMAR_LOAD || head->line.kind == GRAMMAR_UNLOAD) && head->off >= l->done_until &&
		    !tell_module(l, head, text.text, out, err))
			return TS_FAIL;
		return head->fx.is_failed ? (ts_no_memory(err, "a step"), TS_FAIL)
					  : TS_ITEM;
	}
}

static void lose_line(struct grammar_lines *l, const struct grammar_head *head)
{
	bool is_lost = head->line.is_damaged;

	grammar_damaged(&l->log->damages, is_lost ? GRAMMAR_LOST_STEP : GRAMMAR_NOISE_LINE, head->off);
	l->is_lost |= is_lost;
}

/* The thread of a dump whose address is known now. */
static void take_tag(struct grammar_lines *l, struct grammar_head *head)
{
	bool is_found;

	if (!l->log->has_tags)
		return;
	is_found = grammar_tags_take(&l->tags, head->line.pc, &head->line.thread, &head->is_unsure);
	head->line.has = is_found ? head->line.has | HAS_THREAD : head->line.has & ~HAS_THREAD;
	if (!is_found)
		grammar_damaged(&l->log->damages, GRAMMAR_NOISE_LINE, head->off);
}

/* The address of a state that its first line does not have. */
static void take_pc(struct grammar_lines *l, const struct grammar_line *line)
{
	struct grammar_head *head = l->group;

	if (!head->is_there || !(line->has & HAS_PC) || head->line.has & HAS_PC)
		return;
	head->line.pc = line->pc;
	head->line.has |= HAS_PC;
	take_tag(l, head);
}

/* The state or step before the line did not come to pass, if it is at the line's address. */
static void undo(struct grammar_lines *l, const struct grammar_line *line, struct ts_steps *out)
{
	if (line->has & HAS_PC && line->pc != l->group->line.pc)
		return;
	if (l->group->is_there)
		grammar_append_code(&l->group->fx, out);
	l->group->is_there = false;
}

/* What a line that begins no group says. */
static void tell_line(struct grammar_lines *l, struct grammar_head *head, struct ts_steps *out)
{
	bool is_next = head->line.kind == GRAMMAR_NEXT || (l->takes_effects && head->line.kind == GRAMMAR_EFFECT);

	if (is_next) {
		add_next(l, head);
		l->takes_effects = true;
	}
	if (head->line.kind == GRAMMAR_CODE)
		add_code(l, head);
	if (is_next || head->off < l->done_until)
		return;
	switch (head->line.kind) {
	case GRAMMAR_EFFECT:
	case GRAMMAR_JOIN:
		for (uint32_t i = 0; i < head->fx.n_effects; i++)
			grammar_append(l->group->is_there ? &l->group->fx : out, &head->fx, &head->fx.effects[i]);
		l->group->n_regs += head->line.n_regs;
		l->group->has_memory |= head->line.n_accesses != 0;
		take_pc(l, &head->line);
		break;
	case GRAMMAR_STATE: grammar_tags_add(&l->tags, head->line.thread, head->line.pc); break;
	case GRAMMAR_GAP: l->has_gap = true; break;
	case GRAMMAR_EVENT: l->has_event = true; break;
	case GRAMMAR_UNDO: undo(l, &head->line, out); break;
	case GRAMMAR_NOISE: lose_line(l, head); break;
	default: break;
	}
}

/* ------------------------------------------------------------------------------------------------ groups */

/*
 * Does the line begin a group?  One that may join does not, where the group has no registers yet.  If lines name the threads of
 * dumps, each dump is a group, and these lines are not groups.
 */
static bool is_head(const struct grammar_lines *l, const struct grammar_head *head)
{
	const struct grammar_line *line = &head->line;

	if (head->off < l->done_until)
		return false;
	if (l->log->has_tags)
		return line->kind == GRAMMAR_JOIN;
	return line->kind == GRAMMAR_STEP || line->kind == GRAMMAR_STATE ||
	       (line->kind == GRAMMAR_JOIN && (l->group->n_regs || !l->group->is_there));
}

/* The module's name without the blanks that pad it. */
static void keep_module(struct grammar_head *head, const struct grammar_span *module)
{
	size_t len = module->len;

	while (len && module->text[len - 1] == ' ')
		len--;
	if (len >= GRAMMAR_MAX_PATH)
		len = 0;
	memcpy(head->module, module->text, len);
	head->module[len] = 0;
}

/* Code that is a number of two halfwords, the first one above. */
static void swap_halves(struct grammar_line *line)
{
	uint8_t half[2];

	if (!(line->says & GRAMMAR_THUMB) || line->n_code != 4)
		return;
	memcpy(half, line->code, 2);
	memcpy(line->code, line->code + 2, 2);
	memcpy(line->code + 2, half, 2);
}

/* A compressed instruction of RISC-V whose code is padded to that of others: its low bits determine its length. */
static void drop_padding(struct grammar_line *line)
{
	if (line->n_code == 4 && (line->code[0] & 3) != 3 && !line->code[2] && !line->code[3])
		line->n_code = 2;
}

/* Code on the line of a state is a sight of memory there, as that of lines before it. */
static void take_own_code(struct grammar_head *head)
{
	const struct grammar_line *line = &head->line;
	struct ts_effect *e;

	if (!line->n_code || line->is_head || !(line->has & HAS_PC))
		return;
	e = ts_steps_value(&head->fx, TS_FX_READ, line->pc, line->code, line->n_code);
	if (e)
		e->is_hidden = true;
	head->has_memory = true;
}

/* The bytes that a head has (enum grammar_order): zeros above those that are listed, of its instruction. */
static void cut_code(struct grammar_line *line, unsigned len)
{
	const unsigned n = len < 4 ? len : 4;

	if (line->n_code < n)
		memset(line->code + line->n_code, 0, n - line->n_code);
	line->n_code = (uint8_t)n;
}

/* What is needed of the line itself, which is borrowed, once the next line is read. */
static void keep_head(struct grammar_lines *l, struct grammar_head *head)
{
	const struct grammar_line *line = &head->line;

	head->is_there = true;
	l->matcher.pictured = 0;
	head->is_unsure = false;
	head->n_regs = line->n_regs;
	head->has_memory = line->n_accesses;
	take_next(l, head);
	if (line->has & HAS_PC)
		take_tag(l, head);
	head->module[0] = 0;
	if (line->has & HAS_MODULE)
		keep_module(head, &line->module);
	swap_halves(&head->line);
	if (l->log->family == GRAMMAR_RISCV)
		drop_padding(&head->line);
	if (l->log->g.is_state) {
		take_own_code(head);
		return;
	}
	grammar_insn_look(l->log->base.regs.arch, l->log->family, &l->log->map, line, &head->insn);
	if (l->decoder && l->log->family == GRAMMAR_X86)
		grammar_decoder_look(l->decoder, line, &head->insn);
	if (line->is_head && head->insn.len && head->line.n_code)
		cut_code(&head->line, head->insn.len);
	if (l->log->g.is_sized_by_insn && head->has_memory)
		grammar_insn_complete(l->log->base.regs.arch, &head->insn, line->pc, &head->fx, 0);
}

static void swap(struct grammar_lines *l)
{
	struct grammar_head *head = l->group;

	l->group = l->ahead;
	l->ahead = head;
	l->ahead->is_there = false;
}

static enum ts_next next_group(struct grammar_lines *l, struct ts_steps *out, struct ts_error *err)
{
	l->is_lost = l->has_gap = l->has_event = false;
	swap(l);
	for (;;) {
		enum ts_next next = next_line(l, l->ahead, out, err);

		if (next == TS_FAIL)
			return next;
		if (next == TS_END && l->group->is_there && l->has_next) {
			grammar_append_code(&l->next_fx, out);
			l->has_next = false;
		}
		if (next == TS_END)
			return l->group->is_there ? TS_ITEM : TS_END;
		if (!is_head(l, l->ahead)) {
			tell_line(l, l->ahead, out);
			continue;
		}
		grammar_tags_copy(&l->tags_before, &l->tags);
		keep_head(l, l->ahead);
		if (l->group->is_there)
			return TS_ITEM;
		swap(l);
	}
}

enum ts_next grammar_lines_next(struct grammar_lines *l, struct ts_steps *out, struct ts_error *err)
{
	enum ts_next next = next_group(l, out, err);

	if (next != TS_FAIL && (l->group->fx.is_failed || l->ahead->fx.is_failed || l->next_fx.is_failed)) {
		ts_no_memory(err, "a step");
		next = TS_FAIL;
	}
	return next;
}
