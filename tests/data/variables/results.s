# SPDX-License-Identifier: MIT
# Functions whose debugging information says Go, Rust or C, with known values in the registers of results.
	.macro returns name, rax=1, rbx=2, rcx=3, rdi=4, rdx=5
	.globl \name
	.type \name, @function
\name:
	mov $\rax, %rax
	mov $\rbx, %rbx
	mov $\rcx, %rcx
	mov $\rdi, %rdi
	mov $\rdx, %rdx
	ret
	.size \name, . - \name
	.endm
	.macro calls names:vararg
	.irp name, \names
	call \name
	.endr
	.endm
	.text
	.globl _start
_start:
	mov $0x4004000000000000, %rax		# 2.5
	movq %rax, %xmm0
	calls several, padded, full, blank, twice, disorder, pair, halves, truth, real, tagged, option, dropped, old, changed, kept
	mov $60, %eax
	xor %edi, %edi
	syscall
.Lgo:
	returns several
	returns padded
	returns full
	returns blank
	returns twice
	returns disorder
.Lrust:
	returns pair
	returns halves
	returns truth
	returns real
	returns tagged
	returns option
	returns dropped
.Lold:
	returns old
.Lc:
	returns changed
	returns kept
.Lend:
	.section .debug_abbrev,"",@progbits
.Labbrev:
	.uleb128 1, 0x11			# DW_TAG_compile_unit
	.byte 1
	.uleb128 0x25, 0x08, 0x13, 0x0b, 0x11, 0x01, 0x12, 0x07, 0, 0	# producer, language, low_pc, high_pc
	.uleb128 2, 0x24			# DW_TAG_base_type
	.byte 0
	.uleb128 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0	# name, encoding, byte_size
	.uleb128 3, 0x0f			# DW_TAG_pointer_type
	.byte 0
	.uleb128 0, 0
	.uleb128 4, 0x13			# DW_TAG_structure_type
	.byte 1
	.uleb128 0x0b, 0x0b, 0, 0		# byte_size
	.uleb128 5, 0x0d			# DW_TAG_member
	.byte 0
	.uleb128 0x03, 0x08, 0x49, 0x10, 0x38, 0x0b, 0, 0	# name, type, data_member_location
	.uleb128 6, 0x01			# DW_TAG_array_type
	.byte 0
	.uleb128 0x49, 0x10, 0x0b, 0x0b, 0, 0	# type, byte_size
	.uleb128 7, 0x2e			# DW_TAG_subprogram
	.byte 1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0	# name, low_pc, high_pc
	.uleb128 8, 0x2e			# DW_TAG_subprogram
	.byte 1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0x49, 0x10, 0x36, 0x0b, 0, 0	# ..., type, calling_convention
	.uleb128 9, 0x05			# DW_TAG_formal_parameter
	.byte 0
	.uleb128 0x03, 0x08, 0x4b, 0x0c, 0x49, 0x10, 0, 0	# name, variable_parameter, type
	.uleb128 10, 0x33			# DW_TAG_variant_part
	.byte 1
	.uleb128 0, 0, 0

	.macro unit number, producer, language, first, end
	.long .Lunit_end\number - .Lunit\number
.Lunit\number:
	.value 4
	.long .Labbrev
	.byte 8
	.uleb128 1
	.asciz "\producer"
	.byte \language
	.quad \first, \end - \first
	.endm
	.macro unit_ends number
	.byte 0
.Lunit_end\number:
	.endm
	.macro base label, encoding, size
\label:	.uleb128 2
	.asciz "\label"
	.byte \encoding, \size
	.endm
	.macro structure label, size
\label:	.uleb128 4
	.byte \size
	.endm
	.macro member type, off, name="m"
	.uleb128 5
	.asciz "\name"
	.long \type
	.byte \off
	.endm
	.macro array label, type, size
\label:	.uleb128 6
	.long \type
	.byte \size
	.endm
	.macro go_function name, results:vararg	# their types
	.uleb128 7
	.asciz "main.\name"
	.quad \name, 24
	.altmacro
	.set n, 0
	.irp type, \results
	result %n, \type
	.set n, n + 1
	.endr
	.noaltmacro
	.byte 0
	.endm
	.macro result n, type
	.uleb128 9
	.asciz "~r\n"
	.byte 1
	.long \type
	.endm
	.macro function name, type, convention=1
	.uleb128 8
	.asciz "\name"
	.quad \name, 24
	.long \type
	.byte \convention
	.endm
	.macro parameter type
	.uleb128 9
	.asciz "x"
	.byte 0
	.long \type
	.endm

	.section .debug_info,"",@progbits
	unit 1, "Go cmd/compile go1.19.8; regabi", 0x16, .Lgo, .Lrust
	base int, 5, 8
	base byte, 7, 1
	base float64, 4, 8
	base none, 7, 0
address: .uleb128 3
	structure string, 16
	member address, 0
	member int, 8
	.byte 0
	structure byte_and_int, 16
	member byte, 0
	member none, 8
	member int, 8
	.byte 0
	array ints, int, 16
	array one, int, 8
	structure ten, 80
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	member int, \i*8
	.endr
	.byte 0
	structure gap, 16
	member int, 0, "_"
	member int, 8
	.byte 0
	go_function several, int, string, float64, ints, byte
	go_function padded, byte_and_int
	go_function full, ten, one, none
	go_function blank, int, gap, int
	.uleb128 7
	.asciz "main.twice"
	.quad twice, 24
	result 0, int
	result 0, int
	.byte 0
	.uleb128 7
	.asciz "main.disorder"
	.quad disorder, 24
	result 1, int
	result 0, int
	.byte 0
	unit_ends 1

	unit 2, "clang LLVM (rustc version 1.70.0)", 0x1c, .Lrust, .Lold
	base u64, 7, 8
	base u32, 7, 4
	base bool, 2, 1
	base f64, 4, 8
pointer: .uleb128 3
	structure str, 16
	member u64, 8
	member pointer, 0
	.byte 0
	structure two_u32, 8
	member u32, 0
	member u32, 4
	.byte 0
	structure tag_is_all, 8
	.uleb128 10
	member u64, 0
	.byte 0, 0
	structure tag_and_more, 16
	.uleb128 10
	member u64, 0
	.byte 0, 0
	function pair, str
	.byte 0
	function halves, two_u32
	.byte 0
	function truth, bool
	.byte 0
	function real, f64
	.byte 0
	function tagged, tag_is_all
	.byte 0
	function option, tag_and_more
	.byte 0
	function dropped, u64, 3		# DW_CC_nocall
	.byte 0
	unit_ends 2

	unit 3, "clang LLVM (rustc version 1.69.0)", 0x1c, .Lold, .Lc
	base old_u64, 7, 8
	function old, old_u64
	.byte 0
	unit_ends 3

	unit 4, "clang version 16.0.0", 0x0c, .Lc, .Lend
	base long, 5, 8
	function changed, long, 3
	parameter long
	.byte 0
	function kept, long
	parameter long
	.byte 0
	unit_ends 4
