/* SPDX-License-Identifier: MIT */
/*
 * Two passes over the frames: which registers are known in all of them, then the file.
 *
 * What gdb 13 needs: text lines of less than 1,000 bytes; no command that its reader would not take as an
 * action; registers that lie beyond the block come after all others in gdb's own order, since it looks no
 * further than the first of them.
 */
#include "export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frame_bytes.h"
#include "src/arch/tdesc.h"
#include "src/base/atomic_file.h"

/* Lines of text are shorter than this. */
#define LINE_LEN 990u

#define FRAME_HEAD_LEN 6

enum pass {
	PASS_LOOK,
	PASS_WRITE,
	PASS_DONE,
};

struct ts_export {
	struct ts_query *q;               /* borrowed */
	struct ts_frames *frames;         /* borrowed */
	const struct ts_tracing *tracing; /* borrowed */
	const struct ts_regset *set;      /* borrowed from the recording */
	struct ts_atomic_file file;
	enum pass pass;
	uint64_t at;          /* frames done in this pass */
	bool *is_known;       /* owned; by register: in every frame with registers so far */
	unsigned n_needed;    /* the first registers, which are in the block whether they are known or not */
	bool has_regs;        /* some frame has registers */
	uint32_t *numbers;    /* owned; by register: its number in the file */
	uint32_t block_len;   /* bytes of a register block */
	uint8_t *regs, *known; /* owned; of one frame, 'g' layout; one allocation, at regs */
	struct ts_frame frame;
	struct ts_buf bytes;  /* of one frame, or of the text */
};

/*
 * Up to the pc and the stack pointer; on ARM to the status register, without which gdb unwinds no frame, and
 * so cannot even leave one.
 */
static unsigned n_needed(const struct ts_regset *set)
{
	int last = set->sp > set->pc ? set->sp : set->pc;

	if (set->arch->has_thumb && set->flags > last)
		last = set->flags;
	return (unsigned)last + 1;
}

struct ts_export *ts_export_new(struct ts_query *q, struct ts_frames *frames,
				const struct ts_tracing *tracing, const char *path, struct ts_error *err)
{
	struct ts_export *e = calloc(1, sizeof(*e));

	if (!e) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
		return NULL;
	}
	e->q = q;
	e->frames = frames;
	e->tracing = tracing;
	e->set = ts_query_regset(q);
	ts_frame_init(&e->frame);
	ts_buf_init(&e->bytes);
	e->is_known = malloc(e->set->n_regs + 1);
	e->numbers = calloc(e->set->n_regs + 1, sizeof(*e->numbers));
	e->regs = malloc(2 * (size_t)e->set->g_len + 1);
	e->file.fd = -1;
	e->n_needed = n_needed(e->set);
	if (!e->is_known || !e->numbers || !e->regs)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
	else if (ts_atomic_file_init(&e->file, path, err)) {
		memset(e->is_known, true, e->set->n_regs);
		e->known = e->regs + e->set->g_len;
		return e;
	}
	ts_export_free(e);
	return NULL;
}

void ts_export_free(struct ts_export *e)
{
	if (!e)
		return;
	ts_atomic_file_fini(&e->file);
	ts_frame_fini(&e->frame);
	ts_buf_fini(&e->bytes);
	free(e->is_known);
	free(e->numbers);
	free(e->regs);
	free(e);
}

/* ---------------------------------------------------------------------------------------------- registers */

static bool get_regs(struct ts_export *e, struct ts_error *err)
{
	uint64_t pos = e->frame.pos;

	return ts_query_regs(e->q, pos, ts_query_thread(e->q, pos), e->regs, e->known, err);
}

/* The first pass, for one frame. */
static bool look(struct ts_export *e, struct ts_error *err)
{
	if (!e->frame.has_regs)
		return true;
	if (!get_regs(e, err))
		return false;
	e->has_regs = true;
	for (unsigned i = 0; i < e->set->n_regs; i++) {
		const struct ts_reg *r = &e->set->regs[i];

		e->is_known[i] = e->is_known[i] && !memchr(e->known + r->off, 0, r->len);
	}
	return true;
}

/* Is register @i in the block? */
static bool is_in_block(const struct ts_export *e, unsigned i)
{
	return e->is_known[i] || i < e->n_needed;
}

/* Is the block the 'g' layout, unchanged? */
static bool is_whole_block(const struct ts_export *e)
{
	return e->block_len == e->set->g_len;
}

static void put_names(const struct ts_export *e, bool is_in, struct ts_buf *names)
{
	for (unsigned i = 0; i < e->set->n_regs; i++) {
		if (!e->is_known[i] && is_in_block(e, i) == is_in)
			ts_buf_printf(names, " %s", e->set->regs[i].name);
	}
}

void ts_export_left_out(const struct ts_export *e, struct ts_buf *names)
{
	put_names(e, false, names);
}

void ts_export_zeros(const struct ts_export *e, struct ts_buf *names)
{
	put_names(e, true, names);
}

/*
 * It is now known what a block has: set its length and the registers' numbers, first of those in the block.
 */
static void measure_block(struct ts_export *e)
{
	uint32_t n = 0;

	if (!e->has_regs)
		memset(e->is_known, true, e->set->n_regs);
	for (unsigned i = 0; i < e->set->n_regs; i++) {
		if (!is_in_block(e, i))
			continue;
		e->block_len += e->set->regs[i].len;
		e->numbers[i] = n++;
	}
	if (n == e->set->n_regs)
		e->block_len = e->set->g_len;
	for (unsigned i = 0; i < e->set->n_regs; i++) {
		if (!is_in_block(e, i))
			e->numbers[i] = n++;
	}
}

/* --------------------------------------------------------------------------------------- the text section */

/* The same features with the file's numbers; what it points at is in @arena. */
static bool renumber(const struct ts_export *e, struct ts_arena *arena, struct ts_regset *out)
{
	const struct ts_feature_def *f;
	struct ts_feature_def *own;
	unsigned at = 0, n = 0;

	while (ts_regset_next_feature(e->set, &at))
		n++;
	own = ts_arena_alloc(arena, n * sizeof(*own));
	*out = (struct ts_regset){
		.arch = e->set->arch, .own = own, .n_own = n, .gdb_name = e->set->gdb_name
	};
	at = 0;
	for (unsigned i = 0; own && (f = ts_regset_next_feature(e->set, &at)); i++) {
		struct ts_reg_def *regs = ts_arena_alloc(arena, f->n_regs * sizeof(*regs));

		if (!regs)
			return false;
		for (unsigned j = 0; j < f->n_regs; j++) {
			regs[j] = f->regs[j];
			regs[j].regnum = (int32_t)e->numbers[ts_regset_find(e->set, regs[j].name)];
		}
		own[i] = *f;
		own[i].regs = regs;
	}
	return own != NULL;
}

/* The description, line by line; a line that is too long is continued after a blank. */
static bool put_description(struct ts_export *e, struct ts_buf *out, struct ts_error *err)
{
	const char *osabi = ts_query_facts(e->q)->osabi;
	struct ts_arena arena = { 0 };
	struct ts_regset set = *e->set;
	struct ts_buf xml;
	bool done;

	ts_buf_init(&xml);
	done = is_whole_block(e) || renumber(e, &arena, &set) ||
	       ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
	done = done && ts_tdesc_write(&set, osabi, &xml, err);
	for (size_t at = 0, len; done && at < xml.len; at += len + 1) {
		const uint8_t *line = xml.data + at, *end = memchr(line, '\n', xml.len - at);

		len = end ? (size_t)(end - line) : xml.len - at;
		if (len > LINE_LEN) {
			for (len = LINE_LEN; len && line[len] != ' ';)
				len--;
		}
		if (!len && line != end)
			done = ts_fail(err, TS_ELIMIT, TS_NO_OFF,
				       "a word of the target description is too long for a line");
		ts_buf_puts(out, "tdesc ");
		ts_buf_put(out, line, len);
		ts_buf_putc(out, '\n');
	}
	ts_buf_fini(&xml);
	ts_arena_fini(&arena);
	return done;
}

/* Begin a line; close_line() ends it, or drops it if gdb could not read it. */
static size_t open_line(struct ts_buf *out, const char *word)
{
	size_t start = out->len;

	ts_buf_puts(out, word);
	return start;
}

static bool close_line(struct ts_buf *out, size_t start)
{
	if (out->len - start > LINE_LEN) {
		out->len = start;
		return false;
	}
	ts_buf_putc(out, '\n');
	return true;
}

/* Where in "collect/s X" the modifier is: gdb's reader rejects it.  The plain command shows the same. */
static struct ts_tp_source plain_command(const struct ts_tp_source *s, char *text)
{
	static const char word[] = "collect";
	size_t at = 0, end;
	struct ts_tp_source plain = *s;

	while (at < s->n_text && (s->text[at] == ' ' || s->text[at] == '\t'))
		at++;
	if (strcmp(s->type, "cmd") || s->n_text > LINE_LEN || s->n_text - at < sizeof(word) ||
	    memcmp(s->text + at, word, sizeof(word) - 1))
		return plain;
	at += sizeof(word) - 1;
	for (end = at; end < s->n_text && s->text[end] == ' ';)
		end++;
	if (end == s->n_text || s->text[end] != '/')
		return plain;
	while (end < s->n_text && s->text[end] != ' ')
		end++;
	memcpy(text, s->text, at);
	memcpy(text + at, s->text + end, s->n_text - end);
	plain.text = (const uint8_t *)text;
	plain.n_text = at + s->n_text - end;
	plain.start = 0;
	plain.len = plain.n_text;
	return plain;
}

static void put_tracepoint(const struct ts_tracepoint *tp, struct ts_buf *out)
{
	struct ts_tracepoint bare = *tp;
	size_t start = open_line(out, "tp ");

	bare.sources = NULL;
	ts_tracepoint_format(&bare, 0, out);
	if (!close_line(out, start)) {
		bare.cond = NULL;
		start = open_line(out, "tp ");
		ts_tracepoint_format(&bare, 0, out);
		close_line(out, start);
	}
	for (unsigned i = 1; start = open_line(out, "tp "), ts_tracepoint_format(&bare, i, out); i++)
		close_line(out, start);
	out->len = start;
	for (const struct ts_tp_source *s = tp->sources; s; s = s->next) {
		char text[LINE_LEN];
		struct ts_tp_source plain = plain_command(s, text);

		start = open_line(out, "tp ");
		ts_tp_source_format(tp, &plain, out);
		close_line(out, start);
	}
	if (tp->has_use) {
		start = open_line(out, "tp ");
		ts_tracepoint_use_format(tp, out);
		close_line(out, start);
	}
}

/* gdb reverses the order of a file. */
static void put_tracepoints(const struct ts_tracepoint *tp, struct ts_buf *out)
{
	const struct ts_tracepoint *list[TS_MAX_TRACEPOINTS];
	unsigned n = 0;

	for (; tp && n < TS_MAX_TRACEPOINTS; tp = tp->next)
		list[n++] = tp;
	while (n--)
		put_tracepoint(list[n], out);
}

/* The notes of the run, and which registers are zeros. */
static void put_notes(const struct ts_export *e, struct ts_buf *notes)
{
	size_t start;

	ts_buf_puts(notes, e->tracing->status.notes ? e->tracing->status.notes : "");
	start = notes->len;
	ts_buf_puts(notes, start ? "; not known but 0:" : "not known but 0:");
	ts_export_zeros(e, notes);
	if (notes->data && notes->data[notes->len - 1] == ':')
		notes->len = start;
}

static void put_status(const struct ts_export *e, struct ts_buf *out)
{
	struct ts_run_status s = e->tracing->status;
	size_t start = open_line(out, "status ");
	struct ts_buf notes;

	ts_buf_init(&notes);
	put_notes(e, &notes);
	s.notes = ts_buf_text(&notes);
	if (s.is_running) {
		s.is_running = false; /* gdb shows no frame of a run that goes on */
		s.end = TS_RUN_UNKNOWN;
	}
	s.n_frames = e->frames->n_frames;
	if (s.n_created == TS_NO_COUNT || s.n_created < s.n_frames)
		s.n_created = s.n_frames;
	ts_run_status_format(&s, out);
	if (!close_line(out, start)) {
		s.text = s.user = s.notes = NULL; /* the user's texts are too long */
		start = open_line(out, "status ");
		ts_run_status_format(&s, out);
		close_line(out, start);
	}
	out->is_failed |= !ts_buf_ok(&notes);
	ts_buf_fini(&notes);
}

static bool write_text(struct ts_export *e, struct ts_error *err)
{
	struct ts_buf *out = &e->bytes;

	ts_buf_reset(out);
	ts_buf_printf(out, "\x7fTRACE0\nR %" PRIx32 "\n", e->block_len);
	if (!put_description(e, out, err))
		return false;
	put_status(e, out);
	for (const struct ts_tvar *v = e->tracing->vars; v; v = v->next) {
		size_t start = open_line(out, "tsv ");

		ts_tvar_format(v, out);
		close_line(out, start);
	}
	put_tracepoints(e->tracing->points, out);
	ts_buf_putc(out, '\n');
	if (!ts_buf_ok(out))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
	return ts_atomic_file_write(&e->file, out->data, out->len, err);
}

/* ------------------------------------------------------------------------------------------------ frames */

/* The register block of the frame, which has registers. */
static bool put_regs(struct ts_export *e, struct ts_buf *out, struct ts_error *err)
{
	if (!get_regs(e, err) || !ts_frame_fill_regs(e->q, e->frame.pos, e->regs, e->known, err))
		return false;
	ts_buf_putc(out, 'R');
	if (is_whole_block(e)) {
		ts_buf_put(out, e->regs, e->set->g_len);
		return true;
	}
	for (unsigned i = 0; i < e->set->n_regs; i++) {
		if (is_in_block(e, i))
			ts_buf_put(out, e->regs + e->set->regs[i].off, e->set->regs[i].len);
	}
	return true;
}

/* The second pass, for one frame: its header, registers, and the other blocks unchanged. */
static bool write_frame(struct ts_export *e, struct ts_error *err)
{
	const struct ts_arch *arch = e->set->arch;
	bool has_regs = e->frame.has_regs;
	uint8_t head[FRAME_HEAD_LEN];
	struct ts_buf *out = &e->bytes;
	size_t len;

	if (!e->frame.tracepoint || e->frame.tracepoint > UINT16_MAX)
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "a trace file has no tracepoint %" PRIu32,
			       e->frame.tracepoint);
	ts_buf_reset(out);
	e->frame.has_regs = false;
	if (!ts_frame_bytes(e->q, &e->frame, out, err))
		return false;
	len = out->len;
	if (has_regs && !put_regs(e, out, err))
		return false;
	if (!ts_buf_ok(out))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
	if (out->len - sizeof(head) > UINT32_MAX)
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "frame %" PRIu64 " would have %zu bytes", e->at,
			       out->len);
	ts_arch_put(arch, head, 2, e->frame.tracepoint);
	ts_arch_put(arch, head + 2, 4, out->len - sizeof(head));
	return ts_atomic_file_write(&e->file, head, sizeof(head), err) &&
	       ts_atomic_file_write(&e->file, out->data + len, out->len - len, err) &&
	       ts_atomic_file_write(&e->file, out->data + sizeof(head), len - sizeof(head), err);
}

static bool end_pass(struct ts_export *e, struct ts_error *err)
{
	static const uint8_t end[4];

	e->at = 0;
	if (e->pass++ == PASS_LOOK) {
		measure_block(e);
		return write_text(e, err);
	}
	return ts_atomic_file_write(&e->file, end, sizeof(end), err) && ts_atomic_file_finish(&e->file, err);
}

enum ts_next ts_export_run(struct ts_export *e, uint64_t n_frames, struct ts_error *err)
{
	while (e->pass != PASS_DONE) {
		if (e->at == e->frames->n_frames) {
			if (!end_pass(e, err))
				return TS_FAIL;
			continue;
		}
		if (!n_frames--)
			return TS_MORE;
		if (!ts_frames_get(e->frames, e->at, &e->frame, err) ||
		    !(e->pass == PASS_LOOK ? look(e, err) : write_frame(e, err)))
			return TS_FAIL;
		e->at++;
	}
	return TS_END;
}

double ts_export_progress(const struct ts_export *e)
{
	double done = e->frames->n_frames ? (double)e->at / (double)e->frames->n_frames : 0;

	return e->pass == PASS_DONE ? 1 : (e->pass + done) / 2;
}
