/* SPDX-License-Identifier: MIT */
/* Which sanitizer a program is built with: by the symbol of its entry, or by a text of its run-time library. */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

#include "src/object/section.h"
#include "src/object/symtab.h"
#include "src/program/cli/message.h"
#include "src/source/source.h"

#define MAX_SEARCHED (128u << 20) /* bytes of a program */
#define CHUNK (1u << 20)

/* The entry, and what only the run-time library says: only that shows a library that is linked into a stripped program. */
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
 * Returns the name, a constant; NULL if none is found, if the file has no symbols, or if it cannot be read.
 */
const char *ts_sanitizer_of(const char *path)
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

void ts_record_warn(const struct ts_recorder *r)
{
	const char *sanitizer = ts_sanitizer_of(r->program.path);

	if (sanitizer)
		ts_message(stderr,
			   "tracestub: warn: %s: it is built with %s, which reserves more addresses than a recorder has: it fails there; build it without -fsanitize to record it",
			   r->program.path, sanitizer);
}
