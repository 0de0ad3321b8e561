/* SPDX-License-Identifier: MIT */
#include "syscall_name.h"

#include <errno.h>
#include <limits.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"

static const struct {
	const char *arch;
	uint32_t token;
} tokens[] = {
	{ "x86_64", SCMP_ARCH_X86_64 },   { "i386", SCMP_ARCH_X86 },
	{ "arm", SCMP_ARCH_ARM },         { "armeb", SCMP_ARCH_ARM },
	{ "aarch64", SCMP_ARCH_AARCH64 }, { "aarch64_be", SCMP_ARCH_AARCH64 },
	{ "mips", SCMP_ARCH_MIPS },       { "mipsel", SCMP_ARCH_MIPSEL },
	{ "mips64", SCMP_ARCH_MIPS64 },   { "mips64el", SCMP_ARCH_MIPSEL64 },
	{ "ppc", SCMP_ARCH_PPC },         { "ppc64", SCMP_ARCH_PPC64 },
	{ "ppc64le", SCMP_ARCH_PPC64LE }, { "riscv64", SCMP_ARCH_RISCV64 },
	{ "s390", SCMP_ARCH_S390 },       { "s390x", SCMP_ARCH_S390X },
};

/*
 * The name, to be freed; NULL if it has none.  For want of memory it is asked once more: a call has its name,
 * or not.
 */
static char *resolve(uint32_t token, int number)
{
	char *found;

	errno = 0;
	found = seccomp_syscall_resolve_num_arch(token, number);
	return found || errno != ENOMEM ? found : seccomp_syscall_resolve_num_arch(token, number);
}

const char *ts_syscall_name(const struct ts_arch *arch, uint64_t number, char *name, size_t size)
{
	char *found = NULL;

	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]) && !found && number <= INT_MAX; i++) {
		if (!strcmp(tokens[i].arch, arch->name))
			found = resolve(tokens[i].token, (int)number);
	}
	if (!found)
		return NULL;
	snprintf(name, size, "%s", found);
	free(found);
	return name;
}
