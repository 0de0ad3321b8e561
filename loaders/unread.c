/* SPDX-License-Identifier: MIT */
#include "unread.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define RECORD "record it with 'tracestub record PROGRAM' instead"

/* By the first bytes: perf's tools/perf/util/header.c, CTF 1.8.3 sections 5.1 and 7.1, execution-trace-viewer. */
static const struct {
	uint8_t len;
	uint8_t magic[8];
	const char *text;
} magics[] = {
	{ 8, { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' },
	  "perf.data of perf record: samples, not every instruction; " RECORD },
	{ 4, { 0xc1, 0x1f, 0xfc, 0xc1 }, "a CTF stream: events, not instructions; babeltrace2 shows it, and " RECORD },
	{ 4, { 0xc1, 0xfc, 0x1f, 0xc1 }, "a CTF stream: events, not instructions; babeltrace2 shows it, and " RECORD },
	{ 4, { 0x57, 0x1d, 0xd1, 0x75 }, "CTF metadata: events, not instructions; babeltrace2 shows it, and " RECORD },
	{ 4, { 0x75, 0xd1, 0x1d, 0x57 }, "CTF metadata: events, not instructions; babeltrace2 shows it, and " RECORD },
	{ 6, { '/', '*', ' ', 'C', 'T', 'F' },
	  "CTF metadata: events, not instructions; babeltrace2 shows it, and " RECORD },
	{ 4, { 'T', 'V', 'T', 'R' },
	  "a trace of execution-trace-viewer (.tvt): open the x64dbg trace (.trace32, .trace64) that it was made of" },
};

/* By the end of the name, where the bytes have no sign. */
static const struct {
	const char *suffix;
	const char *text;
} suffixes[] = {
	{ ".tt", "Tenet's own packed trace (.tt): open the text log that Tenet made it of" },
	{ ".tvt", "a trace of execution-trace-viewer (.tvt): open the x64dbg trace (.trace32, .trace64) that it was made of" },
	{ ".run", "a time travel recording of WinDbg (.run), which only WinDbg replays: example_tenet of ttd-bindings (github.com/commial/ttd-bindings) makes a Tenet trace of it, on Windows" },
	{ ".trace.zip", "a drmemtrace of DynamoRIO: addresses without values; " RECORD },
	{ ".trace.gz", "a drmemtrace of DynamoRIO: addresses without values; " RECORD },
	{ ".memtrace.gz", "a drmemtrace of DynamoRIO: addresses without values; " RECORD },
	{ ".raw.lz4", "a raw drmemtrace of DynamoRIO: addresses without values; " RECORD },
	{ ".raw.zlib", "a raw drmemtrace of DynamoRIO: addresses without values; " RECORD },
};

static bool ends_with(const char *name, const char *suffix)
{
	size_t len = strlen(name), n = strlen(suffix);

	return len > n && !strcasecmp(name + len - n, suffix);
}

/* Programs and core files, by e_type of the ELF header in its byte order. */
static const char *elf_text(const uint8_t *head, size_t len)
{
	unsigned type;

	if (len < 18 || memcmp(head, "\177ELF", 4))
		return NULL;
	type = head[5] == 2 ? (unsigned)(head[16] << 8 | head[17]) : (unsigned)(head[17] << 8 | head[16]);
	if (type == 2 || type == 3)
		return "an ELF program, not a recording of one: record it first, with 'tracestub record PROGRAM'";
	if (type == 4)
		return "a core file is one moment, not a recording; gdb's 'record save' makes one that has both";
	return "an ELF file, not a recording";
}

const char *loaders_unread(const uint8_t *head, size_t len, const char *name)
{
	for (size_t i = 0; i < COUNT(magics); i++) {
		if (len >= magics[i].len && !memcmp(head, magics[i].magic, magics[i].len))
			return magics[i].text;
	}
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		if (ends_with(name, suffixes[i].suffix))
			return suffixes[i].text;
	}
	if (len > 1 && !memcmp(head, "MZ", 2))
		return "a Windows program, not a recording of one: record it with x64dbg's trace";
	return elf_text(head, len);
}

#define CTF_FOLDER "a CTF or LTTng folder: events, not instructions; babeltrace2 shows it, and " RECORD
#define DRMEMTRACE_FOLDER "a drmemtrace folder of DynamoRIO: addresses without values; " RECORD

/* By files in them: rr's TraceStream.cc, CTF 1.8.3 section 7, DynamoRIO's raw2trace, perf's data.c. */
static const struct {
	const char *names[2]; /* both must be there; NULL: one is enough */
	const char *text;
} folders[] = {
	{ { "mmaps", "events" },
	  "a recording of rr, which 'rr replay' replays in gdb; for tracestub " RECORD },
	{ { "mmaps_0", "events_0" },
	  "a recording of rr, which 'rr replay' replays in gdb; for tracestub " RECORD },
	{ { "latest-trace", NULL },
	  "rr's folder of recordings, which 'rr replay' replays in gdb; for tracestub " RECORD },
	{ { "metadata", NULL }, CTF_FOLDER },
	{ { "ust", NULL }, CTF_FOLDER },
	{ { "kernel/metadata", NULL }, CTF_FOLDER },
	{ { "trace", "raw" }, DRMEMTRACE_FOLDER },
	{ { "raw/modules.log", NULL }, DRMEMTRACE_FOLDER },
	{ { "modules.log", NULL }, DRMEMTRACE_FOLDER },
	{ { "header", "data" }, "a perf.data folder of perf record: samples, not every instruction; " RECORD },
	{ { "data.0", NULL }, "a perf.data folder of perf record: samples, not every instruction; " RECORD },
};

static bool is_in(const char *folder, const char *name)
{
	char path[PATH_MAX];

	return !name || ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) < sizeof(path) &&
			 !faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW));
}

const char *loaders_unread_folder(const char *path)
{
	for (size_t i = 0; i < COUNT(folders); i++) {
		if (is_in(path, folders[i].names[0]) && is_in(path, folders[i].names[1]))
			return folders[i].text;
	}
	return "a folder, not a recording: name the file of the recording in it";
}
