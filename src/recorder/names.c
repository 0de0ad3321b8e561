/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/usercorn/op_write.h"
#include "maps.h"

#define PR_SET_NAME 15
#define NAME_LEN 16u
#define MAX_THREADS 1024u
#define MAX_PATH 64u

/* The names that are in the recording. */
static struct {
	uint32_t tid;
	char name[NAME_LEN];
} known[MAX_THREADS];
static unsigned n_known;
static bool is_comm_open; /* a file of names was opened: what is written may be one */

static bool read_name(uint32_t tid, char name[NAME_LEN])
{
	char path[MAX_PATH];
	FILE *f;
	bool is_read;

	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	f = fopen(path, "re");
	is_read = f && fgets(name, NAME_LEN, f);
	if (f)
		(void)fclose(f);
	if (is_read)
		name[strcspn(name, "\n")] = '\0';
	return is_read;
}

/* Remember the name.  Returns whether it is new. */
static bool take_name(uint32_t tid, const char name[NAME_LEN])
{
	unsigned i = 0;

	while (i < n_known && known[i].tid != tid)
		i++;
	if (i == MAX_THREADS || (i < n_known && strcmp(known[i].name, name) == 0))
		return false;
	n_known += i == n_known;
	known[i].tid = tid;
	memcpy(known[i].name, name, NAME_LEN);
	return true;
}

static void note_name(uint64_t process, uint32_t tid)
{
	uint8_t bytes[8 + NAME_LEN];
	char name[NAME_LEN] = "";

	if (!read_name(tid, name) || !take_name(tid, name))
		return;
	ucir_put_u64(bytes, process << 32 | tid);
	memcpy(bytes + 8, name, strlen(name));
	ts_out_note(UCIR_NOTE_THREAD_NAME, bytes, (uint32_t)(8 + strlen(name)));
}

/* Whose name was written is not looked up: those of all threads that changed are. */
static void note_all(uint64_t process, const char *before)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *d;
	char name[NAME_LEN] = "";

	while (dir && (d = readdir(dir))) {
		uint32_t tid = (uint32_t)strtoul(d->d_name, NULL, 10);

		if (tid && read_name(tid, name) && strcmp(name, before) != 0)
			note_name(process, tid);
	}
	if (dir)
		closedir(dir);
}

/* The name that the emulator itself has. */
static char emulator[NAME_LEN];

static bool is_comm(uint64_t path)
{
	char text[MAX_PATH];
	size_t n = ts_maps_text(path, text, sizeof(text));

	return n > 5 && strcmp(text + n - 5, "/comm") == 0;
}

void ts_names_begin(const struct ts_task *t)
{
	char name[NAME_LEN] = "";

	if (!*emulator)
		read_name((uint32_t)t->pid, emulator);
	else if (n_known && read_name((uint32_t)t->pid, name) && strcmp(name, emulator) != 0)
		note_name(t->pid >> 32, (uint32_t)t->pid);
}

void ts_names_returned(const struct ts_task *t)
{
	const struct ts_calls *calls = ts_guest->calls;
	const struct ts_call *c = &t->call;

	if (c->num == calls->prctl && c->args[0] == PR_SET_NAME)
		note_name(t->pid >> 32, (uint32_t)t->pid);
	else if (c->num == calls->openat || c->num == calls->open)
		is_comm_open |= c->ret >= 0 && is_comm(c->args[c->num == calls->openat]);
	else if (c->num == calls->write && is_comm_open)
		note_all(t->pid >> 32, emulator);
}
