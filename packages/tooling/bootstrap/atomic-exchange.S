/*
 * __atomic_compare_exchange(size, object, expected, desired, ...) of libatomic, for 8 bytes: the one function and the one size
 * for which Node 26 needs that library (V8 compares 8-byte words that it declares unaligned). Any other size is a trap.
 *
 * atomic-exchange.mjs holds what an assembler makes of this. After a change:
 *   gcc -c atomic-exchange.S -o a.o && objcopy -O binary -j .text a.o a.bin && xxd -p -c 99 a.bin
 * and the same with aarch64-linux-gnu-gcc and aarch64-linux-gnu-objcopy.
 */
	.text
#if defined(__x86_64__)
	.intel_syntax noprefix
	cmp rdi, 8
	jne 2f
	mov rax, [rdx]
	mov rcx, [rcx]
	lock cmpxchg [rsi], rcx
	sete cl
	je 1f
	mov [rdx], rax
1:	movzx eax, cl
	ret
2:	ud2
#elif defined(__aarch64__)
	cmp x0, #8
	b.ne 4f
	ldr x4, [x2]
	ldr x3, [x3]
1:	ldaxr x5, [x1]
	cmp x5, x4
	b.ne 2f
	stlxr w6, x3, [x1]
	cbnz w6, 1b
	mov w0, #1
	ret
2:	clrex
	str x5, [x2]
	mov w0, wzr
	ret
4:	brk #0
#endif
