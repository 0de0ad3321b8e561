/* SPDX-License-Identifier: MIT */
/*
 * main() of the fuzz targets when they are built without a fuzzer: gives each
 * file of the corpus to the target once and prints TAP. Arguments are files and
 * folders of files; one that does not exist adds nothing. The empty input and
 * a few short ones are always tried. Whether an input is good or bad is not
 * judged here: the target's assertions, the sanitizers, a signal or the
 * runner's time limit do that. The same target links with libFuzzer when this
 * file is left out.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int n_replayed;

static void replay_bytes(const uint8_t *bytes, size_t len, const char *name)
{
	printf("# %s\n", name);
	fflush(stdout);
	LLVMFuzzerTestOneInput(bytes, len);
	printf("ok %d - %s\n", ++n_replayed, name);
	fflush(stdout);
}

/* In a block of exactly its length, so that a sanitizer sees the first byte read beyond it. */
static void replay_copy(const void *bytes, size_t len, const char *name)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (copy == NULL)
		abort();
	memcpy(copy, bytes, len);
	replay_bytes(copy, len, name);
	free(copy);
}

static void replay_file(const char *path, size_t len)
{
	const char *slash = strrchr(path, '/');
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(len ? len : 1);

	if (file == NULL || bytes == NULL || fread(bytes, 1, len, file) != len) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(EXIT_FAILURE);
	}
	fclose(file);
	replay_bytes(bytes, len, slash ? slash + 1 : path);
	free(bytes);
}

static void replay_path(const char *path);

static void replay_dir(const char *path)
{
	struct dirent **entries;
	int n_entries = scandir(path, &entries, NULL, alphasort);

	for (int i = 0; i < n_entries; i++) {
		char child[4096];

		if (entries[i]->d_name[0] != '.') {
			snprintf(child, sizeof(child), "%s/%s", path, entries[i]->d_name);
			replay_path(child);
		}
		free(entries[i]);
	}
	if (n_entries >= 0)
		free(entries);
}

static void replay_path(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		if (errno != ENOENT)
			perror(path);
		return;
	}
	if (S_ISDIR(st.st_mode))
		replay_dir(path);
	else if (S_ISREG(st.st_mode))
		replay_file(path, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
	uint8_t ones[64];

	memset(ones, 0xff, sizeof(ones));
	replay_copy("", 0, "nothing");
	replay_copy("\0", 1, "one zero byte");
	replay_copy(ones, sizeof(ones), "64 bytes of ones");
	for (int i = 1; i < argc; i++)
		replay_path(argv[i]);
	printf("1..%d\n", n_replayed);
	return EXIT_SUCCESS;
}
