/* SPDX-License-Identifier: MIT */
#include "dialects.h"

#include <string.h>

#include "log.h"

const struct grammar_text *grammar_find(const char *name)
{
	for (const struct grammar_text *t = grammar_texts; t->name; t++) {
		if (!strcmp(t->name, name))
			return t;
	}
	return NULL;
}

#define LOADER(id, name_, summary_, probe_)                                               \
	extern const struct ts_loader id##_loader;                                        \
	const struct ts_loader id##_loader = {                                            \
		.name = name_,                                                            \
		.summary = summary_,                                                      \
		.probe = probe_,                                                          \
		.has_thread_files = true,                                                 \
		.len = sizeof(struct grammar_log),                                        \
		.ops = { .reader = grammar_reader, .close = grammar_close },              \
		.fill = grammar_fill,                                                     \
	};

#define DIALECT(id, name_, summary_)                                                        \
	static unsigned probe_##id(const uint8_t *head, size_t len, uint64_t file_len)      \
	{                                                                                   \
		(void)file_len;                                                             \
		return grammar_probe(name_, head, len);                                     \
	}                                                                                   \
	LOADER(id, name_, summary_, probe_##id)

/* By its own grammar, which only the user can name. */
static unsigned probe_nothing(const uint8_t *head, size_t len, uint64_t file_len)
{
	(void)head;
	(void)len;
	(void)file_len;
	return 0;
}

LOADER(grammar, "grammar", "text traces by the grammar of --grammar", probe_nothing)
DIALECT(cv32e40p, "cv32e40p", "CV32E40P and RI5CY tracer logs")
DIALECT(cva6, "cva6", "CVA6 test bench logs")
DIALECT(execlog, "execlog", "QEMU's execlog plugin")
DIALECT(gumtrace, "gumtrace", "GumTrace logs of Android and iOS")
DIALECT(ibex, "ibex", "Ibex tracer logs")
DIALECT(qbdi, "qbdi", "QBDI logs (AArch64)")
DIALECT(qemu, "qemu", "QEMU -d in_asm,exec,cpu logs")
DIALECT(spike, "spike", "Spike's --log-commits")
DIALECT(spike_list, "spike-list", "Spike's -l")
DIALECT(tarmac, "tarmac", "Arm Tarmac traces")
DIALECT(tenetpp, "tenetpp", "Tenet++ traces of Ghidra's Pin tool")
DIALECT(unidbg, "unidbg", "unidbg traceCode logs")
