/* SPDX-License-Identifier: MIT */
/*
 * A trace written by hand and a program's file, between which a byte 0xff stands: where the file lies in the recording, what its
 * code and symbols say, and files of coverage of it.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_opened.h"
#include "src/ask/output/answer.h"
#include "src/base/log.h"
#include "src/query/files/local_files.h"
#include "src/query/files/locate.h"
#include "src/symbols/find_symbols.h"

static char out_path[64];

static void locate(struct fuzz_opened *o, const struct ts_source *src)
{
	static const uint64_t bases[] = { 0, 0x400000, UINT64_MAX - 0xfff };
	struct ts_error err = { 0 };
	struct ts_object object;
	struct ts_located at;

	if (!ts_object_init(&object, src, &err))
		return;
	for (size_t i = 0; i <= sizeof(bases) / sizeof(bases[0]); i++) {
		ts_error_reset(&err);
		if (ts_locate(o->q, src, &object, 0, i ? &bases[i - 1] : NULL, &at, &err))
			fuzz_require(at.match.n_same + at.match.n_different <= at.n_samples && ts_located_text(at.by));
		else
			fuzz_require(err.text[0]);
	}
	ts_object_fini(&object);
}

static void ask(struct fuzz_opened *o, const char *question)
{
	struct ts_error err = { 0 };
	struct ts_answer *answer = ts_answer_new(&o->ask, question, TS_FORM_TSV, &err);
	enum ts_next got = TS_MORE;
	struct ts_buf out;

	ts_buf_init(&out);
	fuzz_require(answer || err.text[0]);
	while (answer && got == TS_MORE)
		got = ts_answer_run(answer, 4, &out, &out, &err);
	fuzz_require(!answer || got == TS_END || err.text[0]);
	ts_answer_free(answer);
	ts_buf_fini(&out);
}

/* Questions that need the program; the last two write files. */
static void ask_all(struct fuzz_opened *o)
{
	static const char *const questions[] = { "hot", "stack at 1", "calls first 5", "executions main first 3", "events", "coverage",
						 "coverage --lcov ", "coverage --drcov " };
	char question[128];

	o->ask.may_write_files = true;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		snprintf(question, sizeof(question), "%s%s", questions[i], i < 6 ? "" : out_path);
		ask(o, question);
	}
	unlink(out_path);
}

static void use(struct fuzz_opened *o, const uint8_t *program, size_t len)
{
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_from_memory(program, len, "program", &err);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ts_symbols_places places = { 0 };
	struct ts_local_files local;
	char path[64];

	fuzz_require(src && fd >= 0 && write(fd, program, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	locate(o, src);
	ts_local_file_is_program(o->q, src);
	ts_local_files_init(&local, o->q);
	ts_local_file(&local, path);
	places.exec = path;
	places.local = &local;
	if (ts_find_symbols(o->symbols, o->q, &places, &err))
		ask_all(o);
	ts_local_files_fini(&local);
	ts_source_close(src);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	size_t n = fuzz_first_part(bytes, len);
	struct fuzz_opened o;

	ts_log_set_level(TS_LOG_ERROR);
	snprintf(out_path, sizeof(out_path), "/tmp/fuzz-program-%d", (int)getpid());
	if (fuzz_opened_init(&o, bytes, n) && n < len)
		use(&o, bytes + n + 1, len - n - 1);
	fuzz_opened_fini(&o);
	return 0;
}
