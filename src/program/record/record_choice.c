/* SPDX-License-Identifier: MIT */
#include "src/program/cli/cli_commands.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"
#include "src/program/cli/report.h"

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

/* Valgrind's tool for i386 does not run in QEMU: its scheduler fails. */
static bool lacks_kernel(const struct ts_recorder *r)
{
	const struct ts_emulated *e = r->program.emulated;

	return e->machine == EM_386 && e->vg_arch && !ts_emulated_is_own(e);
}

static int refuse_kernel(struct ts_recorder *r)
{
	ts_fail(&r->err, TS_EUNSUPPORTED, TS_NO_OFF,
		"this machine's kernel runs no programs for i386, which Valgrind's tool needs: QEMU records it (--with qemu), from the start, up to --limit");
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
	if (lacks_kernel(r))
		return refuse_kernel(r);
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

static int choose(struct ts_recorder *r)
{
	const char *sanitizer = ts_sanitizer_of(r->program.path);

	if (sanitizer)
		return refuse_sanitizer(r, sanitizer);
	if (r->cli->with == TS_WITH_VALGRIND || (r->cli->with == TS_WITH_DEFAULT && is_for_valgrind(r)))
		return choose_valgrind(r);
	if (wants_part(r->cli))
		return is_own(r) && lacks_kernel(r) ? refuse_kernel(r) : refuse_part(r);
	r->engine = &ts_record_qemu;
	return ts_program_find_emulator(&r->program, r->cli->qemu);
}

int ts_run_record(const struct ts_cli *cli)
{
	struct ts_recorder r = { .cli = cli, .out_fd = -1, .memory_fd = -1 };
	int status = ts_program_find(&r.program, cli->program);

	if (!status)
		status = choose(&r);
	if (!status)
		status = cli->is_following ? ts_run_follow(&r) : ts_recorder_run(&r);
	free(r.log);
	free(r.writer);
	ts_program_fini(&r.program);
	return status;
}
