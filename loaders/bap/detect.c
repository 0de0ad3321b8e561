/* SPDX-License-Identifier: MIT */
/*
 * Facts from the first frames, before the trace is read: see trace.h.
 */
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decoder.h"
#include "operand.h"
#include "schema.h"
#include "stream.h"

#define SCAN_FRAMES  4096
#define NAMED_FRAMES 256 /* whose names identify the recorder */

/* The state of a scan of the first frames. */
struct scan {
	struct bap_stream stream;
	struct bap_parser in;
	bool has_first; /* std frame */
	bool is_over;   /* more frames would not add anything */
};

typedef void look_fn(struct scan *s, const struct pb_message *std, struct ts_cursor *body, void *user);

static bool is_failure(const struct ts_error *err)
{
	return err->code == TS_EIO || err->code == TS_ENOMEM;
}

/*
 * Examine up to @n frames: @look is called with each std frame, and with others, where @std is NULL.  Frames
 * with damaged contents are passed over.
 */
static bool look_at_frames(struct scan *s, unsigned n, look_fn *look, void *user, struct ts_error *err)
{
	bool has_std = false;

	for (unsigned i = 0; (i < n && !s->is_over) || !has_std; i++) {
		enum ts_next found = bap_stream_open(&s->stream, err);
		const struct pb_message *std;
		bool is_std = found == TS_ITEM && s->stream.opened.kind == FRAME_STD;

		if (found == TS_END && !has_std)
			ts_fail(err, TS_EUNSUPPORTED, s->stream.rec->end,
				"no instructions: %" PRIu64 " frames, but none of an instruction",
				s->stream.n_frames);
		if (found != TS_ITEM)
			break;
		std = is_std ? bap_stream_std(&s->stream) : NULL;
		has_std |= is_std;
		if (std || !is_std)
			look(s, std, &s->stream.opened.body, user);
		bap_stream_take(&s->stream);
		if (is_failure(err))
			break;
		ts_error_reset(err);
	}
	return has_std;
}

/*
 * An inspection of the first frames.  Returns false if none of them is a std frame, if they cannot be read, or
 * if memory is exhausted.
 */
static bool scan(struct bap *rec, unsigned n, look_fn *look, void *user, struct ts_error *err)
{
	struct scan *s = calloc(1, sizeof(*s));
	struct ts_error stop = { 0 };
	bool has_std;

	if (!s)
		return ts_no_memory(err, "looking at the trace");
	rec->read_until = UINT64_MAX; /* nothing is compared: a reader does that */
	bap_stream_init(&s->stream, rec);
	s->stream.look.is_silent = true;
	s->in.rec = rec;
	s->in.look = &s->stream.look;
	has_std = look_at_frames(s, n, look, user, &stop);
	if (!s->is_over)
		rec->is_scanned = s->stream.off == rec->end || stop.code == TS_ETRUNC;
	rec->read_until = 0;
	rec->n_walked = 0;
	bap_stream_fini(&s->stream);
	free(s);
	if (has_std && !is_failure(&stop))
		return true;
	*err = stop;
	return false;
}

/* As above, but a trace without instructions, or with damaged frames, is no failure: nothing is found. */
static bool scan_for_hints(struct bap *rec, unsigned n, look_fn *look, void *user, struct ts_error *err)
{
	struct ts_error stop = { 0 };

	if (scan(rec, n, look, user, &stop) || !is_failure(&stop))
		return true;
	*err = stop;
	return false;
}

static void note_feature(const struct bap_op *op, uint32_t *features)
{
	if (op->slot && (op->slot->kind == REGMAP_REG || op->slot->kind == REGMAP_FLAGS))
		*features |= 1u << op->slot->feature;
}

/* Mark the features of the registers that a list of operands names. */
static void note_features(struct scan *s, struct ts_cursor list, uint32_t *features)
{
	struct bap_op op;

	while (bap_op_next(&s->in, &list, &op))
		note_feature(&op, features);
}

/* As above, for the list of values of a key frame. */
static void note_key_features(struct scan *s, struct ts_cursor c, uint32_t *features)
{
	struct ts_cursor lists, list, tagged, item;
	struct pb_message m;

	if (!pb_read(&c, &bap_key, &m))
		return;
	lists = pb_sub(&m, 1, &c);
	while (pb_next_item(&lists, &bap_tagged_lists, &tagged)) {
		if (!pb_read(&tagged, &bap_tagged, &m))
			return;
		list = pb_sub(&m, TAGGED_VALUES, &tagged);
		while (pb_next_item(&list, &bap_value_list, &item)) {
			struct bap_op op = { 0 };

			if (pb_read(&item, &bap_value, &m) && bap_op_place(&s->in, &m, &item, &op))
				note_feature(&op, features);
		}
	}
}

static void look_at_features(struct scan *s, const struct pb_message *std, struct ts_cursor *body, void *user)
{
	if (!std && s->stream.opened.kind == FRAME_KEY)
		note_key_features(s, *body, user);
	if (!std)
		return;
	if (!s->has_first)
		s->in.rec->first_thread = std->v[STD_THREAD_ID - 1].n;
	s->has_first = true;
	note_features(s, pb_sub(std, STD_PRE_LIST, body), user);
	note_features(s, pb_sub(std, STD_POST_LIST, body), user);
	s->in.rec->has_modes |= s->in.rec->arch == BAP_ARCH_ARM && pb_has(std, STD_MODE);
}

bool bap_scan(struct bap *rec, uint32_t *features, struct ts_error *err)
{
	*features = 0;
	return scan(rec, SCAN_FRAMES, look_at_features, features, err);
}

/* -------------------------------------------------------------------------------------------------- flags */

struct flags_look {
	struct bap_course course;
	struct ts_steps steps; /* of no use */
};

static bool has_open_bits(const struct bap *rec)
{
	uint32_t open = 0;

	for (unsigned i = 0; i < rec->names.n_flags; i++)
		open |= rec->first_flags[i].open;
	return open;
}

/* Take in a frame as a reader does, up to the first one of another thread. */
static void look_at_flags(struct scan *s, const struct pb_message *std, struct ts_cursor *, void *user)
{
	struct bap *rec = s->stream.rec;
	struct flags_look *look = user;
	struct bap_thread *t;
	uint16_t insn_len;
	uint64_t pc;

	s->is_over |= !has_open_bits(rec) || (std && std->v[STD_THREAD_ID - 1].n != rec->first_thread);
	if (s->is_over)
		return;
	ts_steps_reset(&look->steps);
	s->is_over = std ? !bap_read_std(&look->course, &s->stream, &t, &pc, &insn_len)
			 : !bap_read_other(&look->course, &s->stream);
}

bool bap_scan_flags(struct bap *rec, struct ts_error *err)
{
	struct bap_look silent = { .rec = rec, .is_silent = true };
	struct ts_end end = { 0 };
	struct flags_look *look;
	bool done;

	if (rec->recorder == BAP_SNAPSHOT) /* which has no single flags */
		return true;
	look = calloc(1, sizeof(*look));
	if (!look)
		return ts_no_memory(err, "looking at the trace");
	for (unsigned i = 0; i < rec->names.n_flags; i++)
		rec->first_flags[i] = (struct bap_first_flags){ .open = rec->names.flags[i].need };
	ts_steps_init(&look->steps);
	bap_course_init(&look->course, rec, &silent, &end);
	look->course.known.out = &look->steps;
	look->course.known.notes_first = true;
	done = bap_course_thread(&look->course, rec->first_thread, rec->first, err) &&
	       scan_for_hints(rec, SCAN_FRAMES, look_at_flags, look, err);
	bap_course_fini(&look->course);
	ts_steps_fini(&look->steps);
	free(look);
	return done;
}

/* --------------------------------------------------------------------------------------------- byte order */

/* Major opcodes that most of a MIPS program consists of. */
static bool is_mips_opcode(uint8_t top)
{
	switch (top >> 2) {
	case 0x03: /* jal */
	case 0x04: /* beq */
	case 0x05: /* bne */
	case 0x09: /* addiu */
	case 0x0f: /* lui */
	case 0x23: /* lw */
	case 0x2b: /* sw */ return true;
	default: return false;
	}
}

static void look_at_code(struct scan *, const struct pb_message *std, struct ts_cursor *, void *user)
{
	const struct pb_value *raw = std ? &std->v[STD_RAWBYTES - 1] : NULL;
	int *lead = user;

	if (raw && raw->n == 4)
		*lead += is_mips_opcode(raw->p[0]) - is_mips_opcode(raw->p[3]);
}

bool bap_is_code_big_endian(struct bap *rec, bool *is_big, struct ts_error *err)
{
	int lead = 0;

	if (!scan_for_hints(rec, SCAN_FRAMES, look_at_code, &lead, err))
		return false;
	*is_big = lead >= 0;
	return true;
}

/* A byte of memory as both orders have it. */
struct both {
	uint64_t addr;
	uint8_t bytes[2];
	bool is_there;
};

#define N_BOTH 4096

struct vote {
	struct both seen[N_BOTH];
	uint64_t n_against[2]; /* contradictions: memory order, reversed */
};

static void vote_operand(struct vote *v, const struct bap_op *op, bool is_read)
{
	for (uint32_t i = 0; i < op->len; i++) {
		struct both *b = &v->seen[(op->addr + i) % N_BOTH];
		const uint8_t bytes[2] = { op->value[i], op->value[op->len - 1 - i] };

		for (unsigned k = 0; is_read && b->is_there && b->addr == op->addr + i && k < 2; k++)
			v->n_against[k] += b->bytes[k] != bytes[k];
		*b = (struct both){ op->addr + i, { bytes[0], bytes[1] }, true };
	}
}

static void look_at_memory(struct scan *s, const struct pb_message *std, struct ts_cursor *body, void *user)
{
	for (unsigned field = STD_PRE_LIST; std && field <= STD_POST_LIST; field++) {
		struct ts_cursor list = pb_sub(std, field, body);
		struct bap_op op = { 0 };

		while (bap_op_next(&s->in, &list, &op))
			if (!op.slot && op.len <= 64)
				vote_operand(user, &op, field == STD_PRE_LIST);
	}
}

bool bap_vote_memory_order(struct bap *rec, struct ts_error *err)
{
	struct vote *v = calloc(1, sizeof(*v));
	bool done;

	if (!v)
		return ts_no_memory(err, "looking at the trace");
	done = scan_for_hints(rec, SCAN_FRAMES, look_at_memory, v, err);
	if (done && v->n_against[0] != v->n_against[1])
		rec->is_mem_reversed = v->n_against[1] < v->n_against[0];
	free(v);
	return done;
}

/* ----------------------------------------------------------------------------------------------- recorder */

struct spelling {
	uint64_t n_lower, n_upper;
	bool has_flags_after; /* a list after an instruction names x86's flags */
};

/* The name of the register that an operand is. */
static bool register_name(struct ts_cursor item, const struct pb_value **name, struct pb_message *reg)
{
	struct pb_message m;
	struct ts_cursor c;

	if (!pb_read(&item, &bap_operand, &m))
		return false;
	c = pb_sub(&m, OPERAND_SPECIFIC, &item);
	if (!pb_read(&c, &bap_specific, &m) || !pb_has(&m, SPECIFIC_REG))
		return false;
	c = pb_sub(&m, SPECIFIC_REG, &c);
	if (!pb_read(&c, &bap_reg, reg) || !reg->v[0].n)
		return false;
	*name = &reg->v[0];
	return true;
}

static void look_at_names(struct scan *, const struct pb_message *std, struct ts_cursor *body, void *user)
{
	struct spelling *found = user;

	for (unsigned field = STD_PRE_LIST; std && field <= STD_POST_LIST; field++) {
		struct ts_cursor list = pb_sub(std, field, body), item;

		while (pb_next_item(&list, &bap_operand_list, &item)) {
			const struct pb_value *name;
			struct pb_message reg;

			if (!register_name(item, &name, &reg))
				continue;
			found->n_lower += name->p[0] >= 'a' && name->p[0] <= 'z';
			found->n_upper += name->p[0] >= 'A' && name->p[0] <= 'Z';
			found->has_flags_after |=
				field == STD_POST_LIST && name->n == 6 &&
				(!memcmp(name->p, "eflags", 6) || !memcmp(name->p, "rflags", 6));
		}
	}
}

bool bap_is_snapshot(struct bap *rec, bool *is_snapshot, struct ts_error *err)
{
	struct spelling s = { 0 };

	if (!scan_for_hints(rec, NAMED_FRAMES, look_at_names, &s, err))
		return false;
	*is_snapshot = s.n_lower >= s.n_upper && !s.has_flags_after;
	return true;
}
