/* SPDX-License-Identifier: MIT */
#include "proc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session/bytes.h"
#include "protocol/session/session.h"
#include "src/base/bytes.h"
#include "src/base/text/utf8.h"
#include "threads.h"

struct rsp_session;
struct ts_buf;

/* No more of the stack is read: arguments and variables of most programs take a few KiB. */
#define MAX_STACK_LEN 0x40000u

/*
 * The stack at position 0, from the stack pointer up to the first unknown byte: the number of arguments, their
 * addresses, 0, the addresses of the variables, 0, the auxiliary vector, and somewhere after it the strings.
 */
struct stack {
	const struct ts_arch *arch;
	uint64_t sp;
	const uint8_t *bytes; /* borrowed */
	size_t len;           /* of them, known */
	size_t at;            /* where the next word is */
};

static bool take_word(struct stack *st, uint64_t *word)
{
	unsigned len = st->arch->addr_bits / 8;

	if (len > st->len - st->at)
		return false;
	*word = ts_number(st->bytes + st->at, len, st->arch->is_big_endian);
	st->at += len;
	return true;
}

/* Go to the addresses of the variables, after the arguments. */
static bool skip_arguments(struct stack *st)
{
	uint64_t n, word;

	if (!take_word(st, &n) || n > st->len)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (!take_word(st, &word) || !word)
			return false;
	}
	return take_word(st, &word) && !word;
}

static bool put_string(const struct stack *st, uint64_t addr, struct ts_buf *text)
{
	const uint8_t *string = st->bytes + (addr - st->sp), *end;

	if (addr < st->sp || addr - st->sp >= st->len)
		return false;
	end = memchr(string, 0, st->len - (size_t)(addr - st->sp));
	if (!end)
		return false;
	ts_buf_put(text, string, (size_t)(end - string) + 1);
	return true;
}

/* Only if the recorded auxiliary vector follows is this the stack of a program that begins. */
static bool is_at_auxv(const struct rsp_session *s, const struct stack *st)
{
	const struct ts_facts *facts = ts_query_facts(s->target->q);

	return facts->auxv && facts->auxv_len <= st->len - st->at &&
	       memcmp(st->bytes + st->at, facts->auxv, facts->auxv_len) == 0;
}

/* The strings together are not longer than the stack, whatever their addresses say. */
static bool put_variables(const struct rsp_session *s, struct stack *st, struct ts_buf *text)
{
	uint64_t addr;

	if (!skip_arguments(st))
		return false;
	while (take_word(st, &addr) && addr) {
		if (!put_string(st, addr, text) || text->len > MAX_STACK_LEN)
			return false;
	}
	return !addr && is_at_auxv(s, st);
}

/* The stack pointer at position 0; false if it is not known. */
static bool find_sp(const struct rsp_session *s, uint32_t thread, uint64_t *sp)
{
	const struct ts_regset *set = ts_query_regset(s->target->q);
	const struct ts_reg *reg = set->sp < 0 ? NULL : &set->regs[set->sp];
	struct ts_error ignored = { 0 };
	struct rsp_bytes all;
	bool is_known = false;

	if (!reg || reg->len > sizeof(*sp))
		return false;
	if (rsp_bytes_init(&all, set->g_len, &ignored) &&
	    ts_query_regs(s->target->q, 0, thread, all.data, all.known, &ignored)) {
		*sp = ts_number(all.data + reg->off, reg->len, set->arch->is_big_endian);
		is_known = !memchr(all.known + reg->off, 0, reg->len);
	}
	rsp_bytes_fini(&all);
	return is_known;
}

/*
 * Append the variables of a process (ordinal) to @text, each terminated by NUL.
 *
 * Returns false, with @text unchanged, if they are unknown: the recording does not begin with the program, its stack is
 * unknown, or the environment is too long.  Returns true with a failed @text if memory is exhausted.
 */
static bool put_environ(const struct rsp_session *s, uint32_t process, struct ts_buf *text)
{
	uint32_t thread = ts_query_thread(s->target->q, 0);
	struct stack st = { .arch = ts_query_regset(s->target->q)->arch };
	struct ts_error ignored = { 0 };
	struct ts_buf found;
	struct rsp_bytes b;
	bool done = false;

	if (ts_query_process(s->target->q, thread) != process || !find_sp(s, thread, &st.sp))
		return false;
	ts_buf_init(&found);
	if (rsp_bytes_init(&b, MAX_STACK_LEN, &ignored) &&
	    rsp_session_mem(s, 0, process, st.sp, MAX_STACK_LEN, b.data, b.known, &ignored)) {
		st.bytes = b.data;
		st.len = rsp_bytes_n_known(&b, MAX_STACK_LEN);
		done = put_variables(s, &st, &found);
	}
	if (done)
		ts_buf_put(text, found.data, found.len);
	rsp_bytes_fini(&b);
	ts_buf_fini(&found);
	return done;
}

/* Linux truncates the name of a task to this length. */
#define MAX_COMM 15

/* The process or thread of a path. */
struct task {
	uint32_t process;
	uint32_t thread;
	int64_t id; /* the number in the path: of the process, or of the thread */
};

/* ------------------------------------------------------------------------------------------------ maps */

/* No recording has inodes.  gdb's gcore notes the files only of regions whose inode is not 0. */
#define FILE_INODE 1u

/*
 * The name in brackets of Linux for a region without a file, from the recorder's name for it; "" for nothing.
 */
static const char *kernel_name(const char *desc)
{
	if (!desc || strcmp(desc, "mmap") == 0)
		return "";
	return strcmp(desc, "brk") == 0 ? "heap" : desc;
}

/*
 * A path as the kernel shows it, without line ends; and without what commands a terminal, for gdb shows it as it is.
 */
static void put_path(const char *path, struct ts_buf *text)
{
	while (*path) {
		size_t n = *path == '\\' ? 0 : ts_utf8_shown_len(path, strnlen(path, 4));

		if (n)
			ts_buf_put(text, path, n);
		else
			ts_buf_printf(text, "\\%03o", (unsigned)(uint8_t)*path);
		path += n ? n : 1;
	}
}

void rsp_proc_put_region(const struct rsp_session *s, const struct ts_region_info *region,
			 struct ts_buf *text)
{
	const char *file = region->file, *name = kernel_name(region->desc);
	const struct ts_arch *arch = rsp_regset(s)->arch;
	uint64_t end = region->last == ts_arch_addr_mask(arch) ? region->last : region->last + 1;
	size_t column = arch->addr_bits == 64 ? 73 : 49;
	size_t start = text->len;

	ts_buf_printf(text, "%08" PRIx64 "-%08" PRIx64 " %c%c%cp %08" PRIx64 " 00:00 %u ", region->first, end,
		      region->prot & TS_PROT_READ ? 'r' : '-', region->prot & TS_PROT_WRITE ? 'w' : '-',
		      region->prot & TS_PROT_EXEC ? 'x' : '-', region->file_off, file && *file ? FILE_INODE : 0);
	if ((file && *file) || *name) {
		while (ts_buf_ok(text) && text->len - start < column)
			ts_buf_putc(text, ' ');
	}
	if (file && *file) {
		put_path(file, text);
	} else if (*name) {
		ts_buf_putc(text, '[');
		put_path(name, text);
		ts_buf_putc(text, ']');
	}
	ts_buf_putc(text, '\n');
}

/* Append the regions of a process (ordinal) at the session's position, one line each as in /proc/PID/maps. */
static void put_maps(const struct rsp_session *s, uint32_t process, struct ts_buf *text)
{
	size_t n = ts_query_regions(s->target->q, process, s->pos, NULL, 0);
	struct ts_region_info *regions = calloc(n + 1, sizeof(*regions));

	if (!regions) {
		text->is_failed = true;
		return;
	}
	ts_query_regions(s->target->q, process, s->pos, regions, n);
	for (size_t i = 0; i < n; i++)
		rsp_proc_put_region(s, &regions[i], text);
	free(regions);
}

static enum rsp_proc read_maps(const struct rsp_session *s, const struct task *t, struct ts_buf *text)
{
	if (!ts_query_regions(s->target->q, t->process, s->pos, NULL, 0))
		return RSP_PROC_NONE;
	put_maps(s, t->process, text);
	return RSP_PROC_FILE;
}

/* --------------------------------------------------------------------------------------------- the others */

/* gdb shows the words, each terminated by NUL, as they are. */
static void make_words_shown(struct ts_buf *words)
{
	for (size_t i = 0; ts_buf_ok(words) && i < words->len; i += strlen((char *)words->data + i) + 1)
		ts_utf8_make_shown((char *)words->data + i, strlen((char *)words->data + i), false);
}

static enum rsp_proc read_cmdline(const struct rsp_session *s, const struct task *, struct ts_buf *text)
{
	const struct ts_buf *cmdline = ts_query_facts(s->target->q)->cmdline;

	if (!cmdline->len)
		return RSP_PROC_NONE;
	ts_buf_put(text, cmdline->data, cmdline->len);
	make_words_shown(text);
	return RSP_PROC_FILE;
}

static enum rsp_proc read_environ(const struct rsp_session *s, const struct task *t, struct ts_buf *text)
{
	if (!put_environ(s, t->process, text))
		return RSP_PROC_NONE;
	make_words_shown(text);
	return RSP_PROC_FILE;
}

/* The working directory in which the recording began. */
static enum rsp_proc read_cwd(const struct rsp_session *s, const struct task *, struct ts_buf *text)
{
	const char *folder = ts_query_facts(s->target->q)->folder;

	if (!folder)
		return RSP_PROC_NONE;
	ts_buf_puts(text, folder);
	return RSP_PROC_LINK;
}

static enum rsp_proc read_exe(const struct rsp_session *s, const struct task *, struct ts_buf *text)
{
	if (!s->target->exec_path)
		return RSP_PROC_NONE;
	ts_buf_puts(text, s->target->exec_path);
	return RSP_PROC_LINK;
}

static enum rsp_proc read_auxv(const struct rsp_session *s, const struct task *, struct ts_buf *text)
{
	const struct ts_facts *facts = ts_query_facts(s->target->q);

	if (!facts->auxv)
		return RSP_PROC_NONE;
	ts_buf_put(text, facts->auxv, facts->auxv_len);
	return RSP_PROC_FILE;
}

/* The thread's own name, else that of the program; NULL if neither is known. */
static const char *task_name(const struct rsp_session *s, const struct task *t)
{
	const char *name = ts_query_thread_facts(s->target->q, t->thread)->name;
	const char *path = s->target->exec_path;

	if (*name)
		return name;
	if (!path)
		return NULL;
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static void put_name(const char *name, struct ts_buf *text)
{
	char shown[MAX_COMM + 1];
	int len = snprintf(shown, sizeof(shown), "%s", name);

	ts_utf8_make_shown(shown, len < MAX_COMM ? (size_t)len : MAX_COMM, false);
	ts_buf_puts(text, shown);
}

static enum rsp_proc read_comm(const struct rsp_session *s, const struct task *t, struct ts_buf *text)
{
	const char *name = task_name(s, t);

	if (!name)
		return RSP_PROC_NONE;
	put_name(name, text);
	ts_buf_putc(text, '\n');
	return RSP_PROC_FILE;
}

static unsigned count_threads(const struct rsp_session *s, uint32_t process)
{
	const struct ts_query *q = s->target->q;
	unsigned n = 0;

	for (uint32_t i = 0; i < ts_query_n_threads(q); i++)
		n += ts_query_process(q, i) == process && rsp_thread_exists(s, i);
	return n;
}

/* A thread that a debugger examines is stopped by it. */
static enum rsp_proc read_status(const struct rsp_session *s, const struct task *t, struct ts_buf *text)
{
	const char *name = task_name(s, t);

	if (name) {
		ts_buf_puts(text, "Name:\t");
		put_name(name, text);
		ts_buf_putc(text, '\n');
	}
	ts_buf_puts(text, "State:\tt (tracing stop)\n");
	ts_buf_printf(text, "Tgid:\t%" PRId64 "\n", s->target->names.pids[t->process]);
	ts_buf_printf(text, "Pid:\t%" PRId64 "\n", t->id);
	ts_buf_printf(text, "Threads:\t%u\n", count_threads(s, t->process));
	return RSP_PROC_FILE;
}

/*
 * Its fields have no names: it ends before the first unknown one, the parent, without a line end, which gdb
 * would read as that field.
 */
static enum rsp_proc read_stat(const struct rsp_session *s, const struct task *t, struct ts_buf *text)
{
	const char *name = task_name(s, t);

	ts_buf_printf(text, "%" PRId64 " (", t->id);
	put_name(name ? name : "", text);
	ts_buf_puts(text, ") t");
	return RSP_PROC_FILE;
}

/* ------------------------------------------------------------------------------------------------ paths */

static const struct {
	const char *name;
	enum rsp_proc (*read)(const struct rsp_session *s, const struct task *t, struct ts_buf *text);
} files[] = {
	{ "auxv", read_auxv },       { "cmdline", read_cmdline }, { "comm", read_comm },
	{ "cwd", read_cwd },         { "environ", read_environ }, { "exe", read_exe },
	{ "maps", read_maps },       { "stat", read_stat },       { "status", read_status },
};

/* Take "PREFIX" and a number, in decimal as in a file name. */
static bool take_id(const char **path, const char *prefix, int64_t *id)
{
	size_t len = strlen(prefix);
	char *end;

	if (strncmp(*path, prefix, len) != 0 || (*path)[len] < '1' || (*path)[len] > '9')
		return false;
	*id = strtoll(*path + len, &end, 10);
	*path = end;
	return true;
}

static uint32_t find_process(const struct rsp_session *s, int64_t pid)
{
	const struct ts_names *names = &s->target->names;

	for (uint32_t i = 0; i < names->n_pids; i++) {
		if (names->pids[i] == pid)
			return i;
	}
	return UINT32_MAX;
}

/* The thread of that process with this id, or (RSP_TID_ANY) any existing one, preferably the current one. */
static uint32_t find_thread(const struct rsp_session *s, uint32_t process, int64_t tid)
{
	const struct ts_query *q = s->target->q;

	if (tid == RSP_TID_ANY && rsp_process(s) == process)
		return s->thread;
	for (uint32_t i = 0; i < ts_query_n_threads(q); i++) {
		if (ts_query_process(q, i) == process && rsp_thread_exists(s, i) &&
		    (tid == RSP_TID_ANY || s->target->names.tids[i] == tid))
			return i;
	}
	return TS_NO_THREAD;
}

/* Take "/proc/PID" and an optional "/task/TID". */
static bool take_task(const struct rsp_session *s, const char **path, struct task *t)
{
	int64_t pid, tid = RSP_TID_ANY;

	if (!take_id(path, "/proc/", &pid))
		return false;
	take_id(path, "/task/", &tid);
	t->process = find_process(s, pid);
	if (t->process == UINT32_MAX)
		return false;
	t->thread = find_thread(s, t->process, tid);
	t->id = tid == RSP_TID_ANY ? pid : tid;
	return t->thread != TS_NO_THREAD;
}

enum rsp_proc rsp_proc_read(const struct rsp_session *s, const char *path, struct ts_buf *text)
{
	struct task t;

	if (!take_task(s, &path, &t) || *path++ != '/')
		return RSP_PROC_NONE;
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (strcmp(path, files[i].name) == 0)
			return files[i].read(s, &t, text);
	}
	return RSP_PROC_NONE;
}

bool rsp_proc_is_smaps(const struct rsp_session *s, const char *path)
{
	struct task t;

	return !ts_query_facts(s->target->q)->is_physical && take_task(s, &path, &t) &&
	       t.process == rsp_process(s) && !strcmp(path, "/smaps");
}
