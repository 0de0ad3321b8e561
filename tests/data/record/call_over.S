/* SPDX-License-Identifier: MIT */
/* Calls of what lies just after the call: two bytes on (a call), and the next instruction (which finds out its address). */
	.globl _start
_start:
	call 1f
1:	pop %rax
	call over
	jmp 9f			/* two bytes */
	.type over, @function
over:	call f
	call g
	ret
	.type f, @function
f:	nop
	ret
	.type g, @function
g:	call 4f
	ret
4:	nop
	ret
	.size over, 11
	.size f, 2
	.size g, 6
9:	xor %edi, %edi
	mov $60, %eax
	syscall
