/* SPDX-License-Identifier: MIT */
/*
 * Every allocation and every read of every loader fails once: the trace gives what it always gives, or fewer
 * steps and an error.  Decode points with any byte changed are refused or read on; nothing crashes.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"
#include "no_memory.h"
#include "src/frames/frames.h"

static const struct sample {
	const char *format, *file;
	const char *exec; /* the program's file, which is read as it is; NULL: none */
} samples[] = {
	{ "bap", "bap/all-frames", NULL },
	{ "bap", "bap/closed", NULL },
	{ "bap", "bap/plug-i386-head", NULL },
	{ "bap", "bap/gap-frame-of-no-bytes", NULL },
	{ "bap", "bap/gap-damaged-instruction", NULL },
	{ "bap", "bap/tw-arm-head", NULL },
	{ "bap", "bap/found-d710efa1", NULL },
	{ "bap", "bap/tw-ppc-head", NULL },
	{ "gdbrecord", "gdbrecord/list-aarch64-head", NULL },
	{ "gdbrecord", "gdbrecord/list-arm-head", NULL },
	{ "gdbrecord", "gdbrecord/ring64-head", NULL },
	{ "gdbrecord", "gdbrecord/xsave-core", NULL },
	{ "rvnbintrace", "rvnbintrace/arm.bin", NULL },
	{ "rvnbintrace", "rvnbintrace/bare.bin", NULL },
	{ "rvnbintrace", "rvnbintrace/container.bin", NULL },
	{ "rvnbintrace", "rvnbintrace/long-events.bin", NULL },
	{ "rvnbintrace", "rvnbintrace/x87.bin", NULL },
	{ "tenet", "tenet/damage", NULL },
	{ "tenet", "tenet/gaps", NULL },
	{ "tenet", "tenet/overlaps", NULL },
	{ "execlog", "grammar/execlog", NULL },
	{ "qemu", "grammar/qemu-riscv64", NULL },
	{ "tenetpp", "grammar/tenetpp", NULL },
	{ "unidbg", "grammar/unidbg", NULL },
	{ "tenet", "tenet/pin-head", NULL },
	{ "tenet", "tenet/qiling-head", NULL },
	{ "text", "text/example", NULL },
	{ "text", "text/threads", NULL },
	{ "tfile", "tfile/powerpc.tf", NULL },
	{ "tfile", "tfile/undescribed.tf", NULL },
	{ "tfile", "tfile/x86_64.tf", NULL },
	{ "usercorn", "usercorn/found-0845869d", NULL },
	{ "usercorn", "usercorn/found-6106f4ee", NULL },
	{ "usercorn", "usercorn/found-d502c842", NULL },
	{ "usercorn", "usercorn/tasks-fork.ucir", NULL },
	{ "usercorn", "usercorn/v2_threads.ucir", NULL },
	{ "usercorn", "usercorn/x64_crash.ucir", NULL },
	{ "usercorn", "usercorn/x64_fpu.ucir", "usercorn/x64_fpu.elf" },
	{ "usercorn", "usercorn/mips_walk.ucir", "usercorn/mips_walk.elf" },
	{ "x64dbg", "x64dbg/fib32-head", NULL },
	{ "x64dbg", "x64dbg/found-5d46a9f4", NULL },
	{ "x64dbg", "x64dbg/plugin-block", NULL },
	{ "x64dbg", "x64dbg/unflagged-thread", NULL },
};

#define N_SAMPLES (int)(sizeof(samples) / sizeof(samples[0]))
#define MAX_STEPS 20000u

/* ------------------------------------------------------------------------------------------- a bad source */

enum fault {
	FAULT_NONE,
	FAULT_EIO,   /* the read fails */
	FAULT_SHORT, /* the file ends in the middle of what is read, from now on */
};

struct bad_source {
	struct ts_source base;
	const uint8_t *bytes;
	enum fault fault;
	uint64_t at;      /* ordinal of the read that fails */
	uint64_t n_reads;
	uint64_t end;     /* where the file ends now */
};

static struct bad_source *now; /* of the run: what is a copy of it fails with it */

static bool read_badly(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
		       struct ts_error *err)
{
	bool is_bad = now->n_reads++ == now->at;

	(void)src;
	if (is_bad && now->fault == FAULT_EIO)
		return ts_fail(err, TS_EIO, off, "cannot read it: a test");
	if (is_bad && now->fault == FAULT_SHORT)
		now->end = off + len / 2;
	*got = off >= now->end ? 0 : len < now->end - off ? len : (size_t)(now->end - off);
	memcpy(data, now->bytes + off, *got);
	return true;
}

static struct ts_source *dup_badly(const struct ts_source *src, struct ts_error *err);

static void close_badly(struct ts_source *src)
{
	(void)src;
}

static struct ts_source *bad_source_new(uint64_t len, struct ts_error *err)
{
	static const struct ts_source_ops ops = { .read = read_badly, .dup = dup_badly, .close = close_badly };
	struct bad_source *b = calloc(1, sizeof(*b));

	if (!b) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory");
		return NULL;
	}
	if (ts_source_init(&b->base, &ops, len, "sample", err))
		return &b->base;
	ts_source_close(&b->base);
	return NULL;
}

static struct ts_source *dup_badly(const struct ts_source *src, struct ts_error *err)
{
	return bad_source_new(src->len, err);
}

/* --------------------------------------------------------------------------------------- what a run gives */

/* Nothing here allocates: allocations fail while it is filled. */
struct result {
	enum ts_code code;
	bool is_open;
	uint64_t facts;             /* hash of what open() found */
	uint32_t n_steps;
	uint64_t steps[MAX_STEPS];  /* hash of each */
	struct ts_warning warnings[TS_MAX_WARNINGS];
	unsigned n_warnings;
	struct ts_end end;
	char text[480];
};

static struct result whole, other;
static uint8_t *bytes;
static size_t len;

static uint64_t hash(uint64_t h, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

static uint64_t hash_effects(const struct ts_steps *b, uint64_t h)
{
	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];
		const uint8_t *p = e->kind == TS_FX_EVENT ? NULL : ts_effect_data(b, e);
		uint64_t words[] = { e->addr, e->len, (uint64_t)e->kind, e->is_hidden, p != NULL };

		h = hash(h, words, sizeof(words));
		h = p ? hash(h, p, (size_t)e->len) : h;
	}
	for (uint32_t i = 0; i < b->n_events; i++)
		h = hash(h, &b->events[i].number, 8);
	return h;
}

static uint64_t hash_facts(const struct ts_recording *rec)
{
	uint64_t words[] = { rec->regs.g_len, rec->regs.n_regs, rec->has_reads, rec->has_syscalls, rec->is_physical,
			     rec->auxv_len, rec->cmdline.len, rec->memory.n_ranges,
			     rec->frames ? rec->frames->n_frames : 0 };
	uint64_t h = hash(hash_effects(&rec->initial, 14695981039346656037u), words, sizeof(words));

	h = hash(h, rec->variant, strlen(rec->variant));
	h = rec->exec_path ? hash(h, rec->exec_path, strlen(rec->exec_path)) : h;
	return hash(h, rec->regs.arch->name, strlen(rec->regs.arch->name));
}

static uint64_t hash_step(const struct ts_steps *b)
{
	uint64_t words[] = { b->steps[0].pc, b->steps[0].insn_len, b->steps[0].thread };

	return hash(hash_effects(b, 14695981039346656037u), words, sizeof(words));
}

static void read_steps(struct ts_recording *rec, struct result *out, struct ts_error *err)
{
	struct ts_reader *reader = rec->ops->reader(rec, err);
	enum ts_next next = reader ? TS_ITEM : TS_FAIL;
	struct ts_steps steps;

	ts_steps_init(&steps);
	while (next == TS_ITEM && out->n_steps < MAX_STEPS) {
		ts_steps_reset(&steps);
		next = ts_reader_next(reader, &steps, err);
		if (steps.is_failed) {
			ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a step");
			break;
		}
		if (next == TS_ITEM)
			out->steps[out->n_steps++] = hash_step(&steps);
		out->end = reader->end;
	}
	ts_steps_fini(&steps);
	ts_reader_close(reader);
}

static struct ts_loader_options options;

/* A trace file of gdb without a description says nothing of its processor. */
static void set_options(const struct sample *s)
{
	static char exec[4096];

	options = (struct ts_loader_options){ .arch = strcmp(s->format, "tfile") ? NULL : "x86_64" };
	if (!s->exec)
		return;
	ck_assert_int_lt(snprintf(exec, sizeof(exec), "%s", unit_data_path(s->exec)), sizeof(exec));
	options.exec = exec;
}

static void run(const struct sample *s, enum fault fault, uint64_t at, struct result *out)
{
	struct ts_recording *rec = NULL;
	struct ts_error err;
	struct ts_source *src;

	ts_error_reset(&err);
	memset(out, 0, offsetof(struct result, steps));
	out->n_warnings = 0;
	out->end = (struct ts_end){ 0 };
	src = bad_source_new(len, &err);
	now = (struct bad_source *)src;
	if (src) {
		now->bytes = bytes;
		now->fault = fault;
		now->at = at;
		now->end = len;
		rec = ts_loader_open(ts_loader_find(s->format), src, &options, &err);
	}
	out->is_open = rec != NULL;
	if (rec) {
		out->facts = hash_facts(rec);
		read_steps(rec, out, &err);
		out->n_warnings = rec->n_warnings;
		memcpy(out->warnings, rec->warnings, sizeof(rec->warnings));
	}
	out->code = err.code;
	memcpy(out->text, err.text, sizeof(out->text));
	ts_recording_close(rec);
	if (at == UINT64_MAX && src)
		other.facts = now->n_reads; /* of the run without a fault */
	ts_source_close(src);
}

static bool has_same_warnings(void)
{
	for (unsigned i = 0; i < whole.n_warnings && i < other.n_warnings; i++) {
		if (strcmp(whole.warnings[i].text, other.warnings[i].text) ||
		    whole.warnings[i].count != other.warnings[i].count)
			return false;
	}
	return whole.n_warnings == other.n_warnings;
}

/* What was read before must be as ever; without an error all must be. */
static void judge(const struct sample *s, const char *what, uint64_t n)
{
	bool has_failed = other.code != TS_OK && (other.code != whole.code || strcmp(other.text, whole.text));
	bool is_same = other.is_open == whole.is_open && other.code == whole.code &&
		       other.n_steps == whole.n_steps && other.facts == whole.facts &&
		       has_same_warnings() &&
		       other.end.pc == whole.end.pc && other.end.has_exit == whole.end.has_exit;

	if (other.is_open && other.facts != whole.facts && !has_failed)
		ck_abort_msg("%s, %s %" PRIu64 ": other facts, and %s: %s", s->file, what, n,
			     unit_code_name(other.code), other.text);
	if (other.n_steps > whole.n_steps ||
	    memcmp(other.steps, whole.steps, sizeof(other.steps[0]) * other.n_steps))
		ck_abort_msg("%s, %s %" PRIu64 ": other steps", s->file, what, n);
	if (!is_same && !has_failed)
		ck_abort_msg("%s, %s %" PRIu64
			     ": another result (%u of %u steps, %u warnings of %u), and %s: %s",
			     s->file, what, n, other.n_steps, whole.n_steps, other.n_warnings,
			     whole.n_warnings, unit_code_name(other.code), other.text);
}

/* Read the sample as it is.  Returns how many reads that took. */
static uint64_t read_whole(const struct sample *s)
{
	set_options(s);
	bytes = unit_data(s->file, &len);
	run(s, FAULT_NONE, UINT64_MAX, &whole);
	ck_assert_msg(whole.is_open && whole.n_steps, "%s: %s", s->file, whole.text);
	return other.facts;
}

START_TEST(every_read_may_fail)
{
	const struct sample *s = &samples[_i];
	uint64_t n_reads = read_whole(s);

	for (uint64_t n = 0; n < n_reads; n++) {
		run(s, FAULT_EIO, n, &other);
		judge(s, "EIO at read", n);
		ck_assert_msg(other.code == whole.code || other.code == TS_EIO, "%s: %s", s->file,
			      other.text);
		run(s, FAULT_SHORT, n, &other);
		judge(s, "short read", n);
		ck_assert_msg(other.code == whole.code || other.code == TS_EIO, "%s: %s", s->file,
			      other.text);
	}
	free(bytes);
}
END_TEST

/* With the allocations [from, until) failing.  Returns how many there were. */
static uint64_t run_without(const struct sample *s, uint64_t from, uint64_t until)
{
	uint64_t n_calls;
	int64_t n_lost;

	no_memory_start(from, until);
	run(s, FAULT_NONE, UINT64_MAX - 1, &other);
	n_calls = no_memory_end(&n_lost); /* below 0: libraries allocate what is freed here */
	ck_assert_msg(n_lost <= 0, "%s, allocation %" PRIu64 ": %" PRId64 " are lost", s->file, from, n_lost);
	return n_calls;
}

START_TEST(every_allocation_may_fail)
{
	const struct sample *s = &samples[_i];
	uint64_t n_all;

	read_whole(s);
	n_all = run_without(s, UINT64_MAX, UINT64_MAX);
	judge(s, "no allocation", 0);
	for (uint64_t n = 0; n < n_all; n++) {
		run_without(s, n, n + 1);
		judge(s, "allocation", n);
		ck_assert_msg(other.code == whole.code || other.code == TS_ENOMEM, "%s: %s", s->file,
			      other.text);
		run_without(s, n, UINT64_MAX);
		judge(s, "allocations from", n);
	}
	free(bytes);
}
END_TEST

/*
 * A step with the @n-th allocation failing, into nothing that was allocated before.  Returns how many there
 * were.
 */
static uint64_t read_short(struct ts_reader *r, uint64_t n, uint64_t *step, enum ts_code *code)
{
	struct ts_error err;
	struct ts_steps steps;
	enum ts_next next;
	uint64_t n_calls;
	int64_t n_lost;

	ts_error_reset(&err);
	ts_steps_init(&steps);
	no_memory_start(n, n + 1);
	next = ts_reader_next(r, &steps, &err);
	n_calls = no_memory_end(&n_lost);
	*code = next == TS_FAIL ? err.code : steps.is_failed ? TS_ENOMEM : TS_OK;
	*step = next == TS_ITEM && !steps.is_failed ? hash_step(&steps) : 0;
	ts_steps_fini(&steps);
	return n_calls;
}

#define MAX_SHORT_STEPS 400u

START_TEST(a_step_without_memory_can_be_read_again)
{
	const struct sample *s = &samples[_i];
	struct ts_error err = { 0 };
	struct ts_recording *rec;
	struct ts_reader *r;
	struct ts_source *src;
	struct ts_buf point;

	read_whole(s);
	src = ts_source_from_memory(bytes, len, s->file, &err);
	rec = ts_loader_open(ts_loader_find(s->format), src, &options, &err);
	r = rec->ops->reader(rec, &err);
	ts_buf_init(&point);
	for (uint32_t i = 0; i < whole.n_steps && i < MAX_SHORT_STEPS; i++) {
		enum ts_code code = TS_ENOMEM;
		uint64_t step;

		ts_buf_reset(&point);
		ts_reader_save(r, &point);
		for (uint64_t n = 0, n_calls = 1; n <= n_calls; n++) {
			n_calls = read_short(r, n, &step, &code);
			ck_assert_msg(code == TS_OK ? step == whole.steps[i] : code == TS_ENOMEM,
				      "%s, step %u, allocation %" PRIu64 ": %s, or another step", s->file, i, n,
				      unit_code_name(code));
			if (n < n_calls)
				ck_assert_msg(ts_reader_resume(r, point.data, point.len, &err), "%s", err.text);
		}
		ck_assert_int_eq(code, TS_OK);
	}
	ts_buf_fini(&point);
	ts_reader_close(r);
	ts_recording_close(rec);
	ts_source_close(src);
	free(bytes);
}
END_TEST

/* A point with one byte changed, or fewer, or more. */
static void forge(struct ts_reader *r, const struct ts_buf *point, size_t i, uint8_t change)
{
	struct ts_error err;
	struct ts_steps steps;
	struct ts_buf forged;
	bool done;

	ts_error_reset(&err);
	ts_buf_init(&forged);
	ts_steps_init(&steps);
	ts_buf_put(&forged, point->data, change ? point->len : i);
	if (change)
		forged.data[i] ^= change;
	done = ts_reader_resume(r, forged.data, forged.len, &err);
	ck_assert(done == (err.code == TS_OK));
	for (unsigned n = 0; done && n < 3; n++)
		done = ts_reader_next(r, &steps, &err) == TS_ITEM;
	ts_steps_fini(&steps);
	ts_buf_fini(&forged);
}

/* A byte too many is refused. */
static void lengthen(struct ts_reader *r, const struct ts_buf *point)
{
	struct ts_error err;
	struct ts_buf forged;

	ts_error_reset(&err);
	ts_buf_init(&forged);
	ts_buf_put(&forged, point->data, point->len);
	ts_buf_putc(&forged, 0);
	ck_assert(!ts_reader_resume(r, forged.data, forged.len, &err));
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	ts_buf_fini(&forged);
}

START_TEST(forged_decode_points_are_refused_or_read)
{
	const struct sample *s = &samples[_i];
	struct ts_error err = { 0 };
	struct ts_recording *rec;
	struct ts_reader *r, *forger;
	struct ts_source *src;
	struct ts_steps steps;
	struct ts_buf point;

	set_options(s);
	bytes = unit_data(s->file, &len);
	src = ts_source_from_memory(bytes, len, s->file, &err);
	rec = ts_loader_open(ts_loader_find(s->format), src, &options, &err);
	r = rec->ops->reader(rec, &err);
	forger = rec->ops->reader(rec, &err);
	ts_steps_init(&steps);
	ts_buf_init(&point);
	for (unsigned n = 0; n < 20; n++) {
		ts_buf_reset(&point);
		ts_reader_save(r, &point);
		for (size_t i = 0; i < point.len; i++) {
			forge(forger, &point, i, 0);
			forge(forger, &point, i, 0x01);
			forge(forger, &point, i, 0x80);
			forge(forger, &point, i, 0xff);
		}
		lengthen(forger, &point);
		ts_steps_reset(&steps);
		if (ts_reader_next(r, &steps, &err) != TS_ITEM)
			break;
	}
	ts_buf_fini(&point);
	ts_steps_fini(&steps);
	ts_reader_close(forger);
	ts_reader_close(r);
	ts_recording_close(rec);
	ts_source_close(src);
	free(bytes);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("faults");
	TCase *t = tcase_create("faults");

	tcase_add_loop_test(t, every_read_may_fail, 0, N_SAMPLES);
	tcase_add_loop_test(t, every_allocation_may_fail, 0, N_SAMPLES);
	tcase_add_loop_test(t, a_step_without_memory_can_be_read_again, 0, N_SAMPLES);
	tcase_add_loop_test(t, forged_decode_points_are_refused_or_read, 0, N_SAMPLES);
	tcase_set_timeout(t, 300);
	suite_add_tcase(s, t);
	return s;
}
