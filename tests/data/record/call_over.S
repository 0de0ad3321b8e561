/* SPDX-License-Identifier: MIT */
/* Calls of what lies just after the call: two bytes on (a call), and the next instruction (which finds out its address). */
	.globl _start
_start:
	call 1f
1:	pop %rax
	call over
	jmp 9f			/* two bytes */
over:	call f
	call g
	ret
f:	nop
	ret
g:	call 4f
	ret
4:	nop
	ret
9:	xor %edi, %edi
	mov $60, %eax
	syscall
