# SPDX-License-Identifier: MIT
# Two functions whose frame bases are registers, as clang and rustc say it.
	.text
	.globl main, framed, frameless
	.type main, @function
	.type framed, @function
	.type frameless, @function
.Lbegin:
framed:
	.cfi_startproc
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	movl %edi, -4(%rbp)
	movl -4(%rbp), %eax
	addl $1, -4(%rbp)
	popq %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size framed, . - framed
frameless:
	.cfi_startproc
	subq $24, %rsp
	.cfi_def_cfa_offset 32
	movl %edi, 12(%rsp)
	call framed
	movl 12(%rsp), %eax
	addq $24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size frameless, . - frameless
main:
	.cfi_startproc
	movl $0, %edi
	subq $8, %rsp
	.cfi_def_cfa_offset 16
	call frameless
	addq $8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size main, . - main
.Lend:
	.section .debug_abbrev,"",@progbits
.Labbrev:
	.uleb128 1, 0x11			# DW_TAG_compile_unit, with children
	.byte 1
	.uleb128 0x13, 0x0b, 0x11, 0x01, 0x12, 0x07, 0, 0	# language, low_pc, high_pc
	.uleb128 2, 0x2e			# DW_TAG_subprogram
	.byte 1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0x40, 0x18, 0, 0	# name, low_pc, high_pc, frame_base
	.uleb128 3, 0x34			# DW_TAG_variable
	.byte 0
	.uleb128 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0	# name, type, location
	.uleb128 4, 0x24			# DW_TAG_base_type
	.byte 0
	.uleb128 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0	# name, byte_size, encoding
	.byte 0
	.section .debug_info,"",@progbits
.Lunit:
	.long .Lunit_end - .Lversion
.Lversion:
	.short 4
	.long .Labbrev
	.byte 8
	.uleb128 1
	.byte 0x0c
	.quad .Lbegin, .Lend - .Lbegin
	.uleb128 2
	.asciz "framed"
	.quad framed, frameless - framed
	.byte 1, 0x56				# DW_OP_reg6
	.uleb128 3
	.asciz "x"
	.long .Lint - .Lunit
	.byte 2, 0x91, 0x7c			# DW_OP_fbreg -4
	.byte 0
	.uleb128 2
	.asciz "frameless"
	.quad frameless, main - frameless
	.byte 1, 0x57				# DW_OP_reg7
	.uleb128 3
	.asciz "x"
	.long .Lint - .Lunit
	.byte 2, 0x91, 0x0c			# DW_OP_fbreg 12
	.byte 0
.Lint:
	.uleb128 4
	.asciz "int"
	.byte 4, 5
	.byte 0
.Lunit_end:
	.section .note.GNU-stack,"",@progbits
