/* SPDX-License-Identifier: MIT */
/*
 * stepper OUT PROGRAM: step through a program and write pc, rax rbx rcx rdx rsi rdi rbp rsp r8..r15 eflags before each
 * instruction, 8 bytes each.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	FILE *out = fopen(argv[1], "w");
	struct user_regs_struct r;
	pid_t pid = fork();
	int status;

	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	while (WIFSTOPPED(status)) {
		ptrace(PTRACE_GETREGS, pid, 0, &r);
		uint64_t row[18] = { r.rip, r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9,
				     r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.eflags };

		fwrite(row, sizeof(row), 1, out);
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		if (waitpid(pid, &status, 0) < 0)
			break;
	}
	return fclose(out) != 0;
}
