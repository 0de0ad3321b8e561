/* SPDX-License-Identifier: MIT */
/*
 * Does the kernel run programs for i386?  Most kernels for x86-64 do.  Those without CONFIG_IA32_EMULATION, those started
 * with ia32_emulation=0, and guests of some virtual machines do not, and no file or call says so: execute one.
 */
#include "recorder.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BASE 0x8048000u /* where linkers place programs for i386 */

static const struct {
	Elf32_Ehdr file;
	Elf32_Phdr segment;
	uint8_t code[7];
} program = {
	.file = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_386,
		.e_version = EV_CURRENT,
		.e_entry = BASE + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
		.e_phoff = sizeof(Elf32_Ehdr),
		.e_ehsize = sizeof(Elf32_Ehdr),
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = 1,
	},
	.segment = {
		.p_type = PT_LOAD,
		.p_vaddr = BASE,
		.p_filesz = sizeof(program),
		.p_memsz = sizeof(program),
		.p_flags = PF_R | PF_X,
		.p_align = 0x1000,
	},
	.code = { 0x31, 0xdb, 0x31, 0xc0, 0x40, 0xcd, 0x80 }, /* xor ebx, ebx; xor eax, eax; inc eax; int 0x80: exit(0) */
};

static bool executes(int fd)
{
	char *const none[] = { NULL };
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		fexecve(fd, none, none);
		_exit(1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

bool ts_kernel_runs_i386(void)
{
	int fd = memfd_create("tracestub-i386", MFD_CLOEXEC);
	bool is_run = fd >= 0 && write(fd, &program, sizeof(program)) == (ssize_t)sizeof(program) && executes(fd);

	if (fd >= 0)
		close(fd);
	return is_run;
}
