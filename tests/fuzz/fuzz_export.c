/* SPDX-License-Identifier: MIT */
/*
 * A trace written by hand, in each form that is exported: lines of text, trace frames of gdb, calls.  What is written in the
 * forms that are read, too, is opened again.
 */
#include "fuzz.h"

#include <stdio.h>
#include <unistd.h>

#include "fuzz_opened.h"
#include "loaders/loader.h"
#include "src/export/call_file.h"
#include "src/export/export.h"
#include "src/export/listing.h"
#include "src/export/selection.h"

static char path[64];

static void open_again(bool must_open)
{
	const struct ts_loader_options opt = { 0 };
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_open(path, &err);
	const struct ts_loader *loader = src ? ts_loader_probe(src, &err) : NULL;
	struct ts_recording *rec = loader ? ts_loader_open(loader, src, &opt, &err) : NULL;

	fuzz_require(!must_open || rec);
	ts_recording_close(rec);
	ts_source_close(src);
}

static void list(struct fuzz_opened *o, enum ts_listing_form form)
{
	struct ts_error err = { 0 };
	struct ts_listing *l = ts_listing_new(o->q, form, path, 0, UINT64_MAX, &err);
	enum ts_next next = TS_MORE;

	fuzz_require(l || err.text[0]);
	if (!l)
		return;
	while (next == TS_MORE)
		next = ts_listing_run(l, 64, &err);
	fuzz_require(next == TS_END || err.text[0]);
	ts_listing_free(l);
	if (next == TS_END && form != TS_LISTING_CSV)
		open_again(false);
}

static void export_frames(struct fuzz_opened *o, uint8_t bits)
{
	struct ts_selection_options options;
	struct ts_error err = { 0 };
	struct ts_selection s;
	struct ts_export *e = NULL;
	enum ts_next next = TS_MORE;

	ts_selection_options_init(&options);
	if (bits & 1)
		fuzz_require(ts_selection_collect(&options, "regs,stack:64,accessed,code,mem:0x1000+16", &err));
	if (ts_selection_init(&s, o->q, &options, &err))
		e = ts_export_new(o->q, &s.frames, &s.tracing, path, &err);
	fuzz_require(e || err.text[0]);
	while (e && next == TS_MORE)
		next = ts_export_run(e, 64, &err);
	fuzz_require(!e || next == TS_END || err.text[0]);
	if (e)
		ts_export_free(e);
	ts_selection_fini(&s);
	if (next == TS_END)
		open_again(true);
}

/* What a symbol may be called. */
static const char *function_at(void *user, uint64_t addr)
{
	static const char *const names[] = { "main", "a;b 1\n\"", "\xff\x1b[2J", "" };

	(void)user;
	return addr % 5 == 4 ? NULL : names[addr % 5];
}

static uint64_t number_of(void *user, uint32_t ordinal)
{
	(void)user;
	return ordinal;
}

/* Each line ends with a number. */
static void check_folded(void)
{
	FILE *f = fopen(path, "r");
	int c, before = 0;

	fuzz_require(f != NULL);
	for (; (c = fgetc(f)) != EOF; before = c)
		fuzz_require(c != '\n' || (before >= '0' && before <= '9'));
	fuzz_require(!before || before == '\n');
	fclose(f);
}

static void export_calls(struct fuzz_opened *o, enum ts_call_form form)
{
	const struct ts_call_names names = { function_at, number_of, number_of, NULL };
	struct ts_error err = { 0 };
	struct ts_call_file *f = ts_call_file_new(o->q, form, &names, path, &err);
	enum ts_next next = TS_MORE;

	while (f && next == TS_MORE)
		next = ts_call_file_run(f, 64, &err);
	fuzz_require(next == TS_END || err.text[0]);
	ts_call_file_free(f);
	if (next == TS_END && form == TS_CALLS_FOLDED)
		check_folded();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_opened o;
	uint8_t bits = len ? *bytes : 0;

	if (!len)
		return 0;
	snprintf(path, sizeof(path), "/tmp/fuzz-export-%d", (int)getpid());
	if (fuzz_opened_init(&o, bytes + 1, len - 1)) {
		for (unsigned form = TS_LISTING_TENET; form <= TS_LISTING_CSV; form++)
			list(&o, form);
		export_frames(&o, bits);
		export_calls(&o, TS_CALLS_FOLDED);
		export_calls(&o, TS_CALLS_EVENTS);
	}
	fuzz_opened_fini(&o);
	unlink(path);
	return 0;
}
