/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

#include "src/object/section.h"
#include "src/object/symtab.h"
#include "src/program/cli/message.h"
#include "src/program/cli/report.h"
#include "src/source/source.h"

#define MAX_SEARCHED (128u << 20) /* bytes of a program */
#define CHUNK (1u << 20)

/* The entry, and what only the run-time library says: it is all that tells of a library that is a part of a stripped program. */
static const struct {
	const char *entry, *name, *text;
} sanitizers[] = {
	{ "__asan_init", "AddressSanitizer", "Shadow memory range interleaves with an existing memory mapping. ASan cannot proceed" },
	{ "__tsan_init", "ThreadSanitizer", "ThreadSanitizer: unexpected memory mapping" },
	{ "__msan_init", "MemorySanitizer", "MemorySanitizer can not mmap the shadow memory" },
	{ "__hwasan_init", "HWAddressSanitizer", "HWAddressSanitizer failed to enable tagged address syscall ABI" },
};
#define N_SANITIZERS (sizeof(sanitizers) / sizeof(sanitizers[0]))
#define MAX_TEXT 128u

static const char *find_in(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < N_SANITIZERS; i++) {
		if (memmem(bytes, n, sanitizers[i].text, strlen(sanitizers[i].text)))
			return sanitizers[i].name;
	}
	return NULL;
}

static const char *search(const struct ts_source *src)
{
	uint8_t *bytes = malloc(CHUNK + MAX_TEXT);
	size_t got = 0, kept = 0, n;
	const char *found = NULL;
	struct ts_error err = { 0 };

	for (uint64_t off = 0; bytes && !found && off < MAX_SEARCHED; off += got) {
		if (!ts_source_read(src, off, bytes + kept, CHUNK, &got, &err) || !got)
			break;
		found = find_in(bytes, kept + got);
		n = kept + got;
		kept = n < MAX_TEXT ? n : MAX_TEXT; /* a text may lie across two chunks */
		memmove(bytes, bytes + n - kept, kept);
	}
	free(bytes);
	return found;
}

static const char *find_by_symbol(const struct ts_source *src)
{
	const char *entries[N_SANITIZERS], *found;

	for (size_t i = 0; i < N_SANITIZERS; i++)
		entries[i] = sanitizers[i].entry;
	found = ts_symtab_mentions(src, entries, N_SANITIZERS);
	for (size_t i = 0; found && i < N_SANITIZERS; i++) {
		if (!strcmp(found, entries[i]))
			return sanitizers[i].name;
	}
	return NULL;
}

/*
 * The sanitizer with which the ELF file at @path was built: AddressSanitizer, ThreadSanitizer, MemorySanitizer or
 * HWAddressSanitizer.  Their runtimes are entered by functions of fixed names (LLVM's compiler-rt: __asan_init,
 * ...), which the program needs from a library or has itself.
 *
 * Returns the name, a constant; NULL if there is none, if the file has no symbols, or if it cannot be read.
 */
static const char *sanitizer_of(const char *path)
{
	struct ts_error err = { 0 };
	struct ts_source *src;
	const char *found;
	uint8_t first;

	src = ts_source_open(path, &err);
	if (!src)
		return NULL;
	found = find_by_symbol(src);
	if (!found && !ts_section_read(src, ".symtab", &first, 1))
		found = search(src);
	ts_source_close(src);
	return found;
}

static int refuse(struct ts_recorder *r, const char *why)
{
	ts_fail(&r->err, TS_EUNSUPPORTED, TS_NO_OFF, "%s", why);
	return (int)ts_report_failure(r->program.path, &r->err);
}

static int refuse_sanitizer(struct ts_recorder *r, const char *name)
{
	ts_fail(&r->err, TS_EUNSUPPORTED, TS_NO_OFF,
		"it is built with %s, which reserves more addresses than a recorder has: build it without -fsanitize to record it",
		name);
	return (int)ts_report_failure(r->program.path, &r->err);
}

void ts_record_warn(const struct ts_recorder *r)
{
	const char *sanitizer = sanitizer_of(r->program.path);

	if (sanitizer)
		ts_message(stderr,
			   "tracestub: warn: %s: it is built with %s, which reserves more addresses than a recorder has: it fails there; build it without -fsanitize to record it",
			   r->program.path, sanitizer);
}

/* Are there options that only the tool of Valgrind has? */
static bool wants_part(const struct ts_cli *cli)
{
	return cli->from.kind != TS_AT_NOTHING || cli->until.kind != TS_AT_NOTHING || cli->last ||
	       cli->is_following || cli->modules[0];
}

/* Can the tool of Valgrind record the program? */
static bool is_own(const struct ts_recorder *r)
{
	return r->program.emulated->vg_arch && !r->cli->qemu && !r->cli->cpu && !r->cli->sysroot;
}

/* Valgrind records programs of the machine's own processor: it is faster, and knows AVX2. */
static bool is_for_valgrind(const struct ts_recorder *r)
{
	return HAVE_VALGRIND && ts_emulated_is_own(r->program.emulated) && is_own(r);
}

/* The processor of the program, as its QEMU is called. */
static const char *processor(const struct ts_recorder *r)
{
	return r->program.emulated->qemu + strlen("qemu-");
}

/* Of the processors that Valgrind's tools were built for. */
#ifdef __aarch64__
#define OWN_PROCESSORS "aarch64"
#else
#define OWN_PROCESSORS (HAVE_VALGRIND_X86 ? "x86_64 and i386" : "x86_64")
#endif

static int refuse_processor(struct ts_recorder *r)
{
	ts_fail(&r->err, TS_EUNSUPPORTED, TS_NO_OFF,
		"it is a program for %s, and Valgrind's tool records programs for %s only: QEMU records it (--with qemu, with %s)",
		processor(r), OWN_PROCESSORS, r->program.emulated->qemu);
	return (int)ts_report_failure(r->program.path, &r->err);
}

static int refuse_option(struct ts_recorder *r)
{
	const char *option = r->cli->qemu ? "--qemu" : r->cli->cpu ? "--cpu" : "--sysroot";

	ts_fail(&r->err, TS_EUNSUPPORTED, TS_NO_OFF, "%s is QEMU's, not Valgrind's: omit it or --with valgrind", option);
	return (int)ts_report_failure(r->program.path, &r->err);
}

static int choose_valgrind(struct ts_recorder *r)
{
	if (!r->program.emulated->vg_arch)
		return refuse_processor(r);
	if (!HAVE_VALGRIND)
		return refuse(r, "tracestub was built without Valgrind: install Debian's package valgrind, and build it again");
	if (!is_own(r))
		return refuse_option(r);
	r->engine = &ts_record_valgrind;
	return ts_emulated_is_own(r->program.emulated) ? 0 : ts_program_find_emulator(&r->program, NULL);
}

static int refuse_part(struct ts_recorder *r)
{
	ts_fail(&r->err, TS_EUNSUPPORTED, TS_NO_OFF,
		"--from, --until, --last, --module and --follow are Valgrind's, which records programs for %s, %s%s; QEMU records from the start, up to --limit",
		OWN_PROCESSORS,
		r->program.emulated->vg_arch ? "without --with qemu, --cpu, --qemu and --sysroot" : "and this one is for ",
		r->program.emulated->vg_arch ? "" : processor(r));
	return (int)ts_report_failure(r->program.path, &r->err);
}

int ts_record_choose(struct ts_recorder *r)
{
	const char *sanitizer = sanitizer_of(r->program.path);

	if (sanitizer)
		return refuse_sanitizer(r, sanitizer);
	if (r->cli->with == TS_WITH_VALGRIND || (r->cli->with == TS_WITH_DEFAULT && is_for_valgrind(r)))
		return choose_valgrind(r);
	if (wants_part(r->cli))
		return refuse_part(r);
	r->engine = &ts_record_qemu;
	return ts_program_find_emulator(&r->program, r->cli->qemu);
}
