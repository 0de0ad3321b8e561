/* SPDX-License-Identifier: MIT */
/*
 * The operations' numbers are Valgrind's: 0 is a copy; then families of one operation for each operand size.
 * The formulas are those of the processor's manual.
 */
#include "vex_flags.h"

#define CF 1u
#define PF 4u
#define AF 16u
#define ZF 64u
#define SF 128u
#define OF 2048u
#define ALL (CF | PF | AF | ZF | SF | OF)

enum family { ADD, SUB, ADC, SBB, LOGIC, INC, DEC, SHL, SHR, ROL, ROR, UMUL, SMUL, ANDN, BLSI, BLSMSK, BLSR, ADCX, ADOX };

/* An operation with operands cut to its size. */
struct op {
	enum family family;
	unsigned bits;
	uint64_t mask, sign;
	uint64_t a, b, n;
};

static uint64_t parity(uint64_t res)
{
	return __builtin_parity((unsigned)res & 0xff) ? 0 : PF;
}

static uint64_t of_result(const struct op *o, uint64_t res)
{
	return parity(res) | (res & o->mask ? 0 : ZF) | (res & o->sign ? SF : 0);
}

static uint64_t add(const struct op *o, uint64_t carry)
{
	uint64_t b = o->b, res = (o->a + b + carry) & o->mask;
	bool is_carry = carry ? res <= o->a : res < o->a;

	return of_result(o, res) | (is_carry ? CF : 0) | ((res ^ o->a ^ b) & AF) |
	       (~(o->a ^ b) & (o->a ^ res) & o->sign ? OF : 0);
}

static uint64_t sub(const struct op *o, uint64_t borrow)
{
	uint64_t b = o->b, res = (o->a - b - borrow) & o->mask;
	bool is_borrow = borrow ? o->a <= b : o->a < b;

	return of_result(o, res) | (is_borrow ? CF : 0) | ((res ^ o->a ^ b) & AF) |
	       ((o->a ^ b) & (o->a ^ res) & o->sign ? OF : 0);
}

/* The second operand of a sum with carry is kept with the carry exclusive-ored into it. */
static uint64_t with_carry(struct op *o)
{
	uint64_t carry = o->n & CF;

	o->b = (o->b ^ carry) & o->mask;
	return o->family == ADC ? add(o, carry) : sub(o, carry);
}

static uint64_t increment(const struct op *o)
{
	bool is_up = o->family == INC;
	uint64_t before = is_up ? o->a - 1 : o->a + 1;

	return of_result(o, o->a) | (o->n & CF) | ((o->a ^ before ^ 1) & AF) |
	       (o->a == (is_up ? o->sign : o->sign - 1) ? OF : 0);
}

/* b: the value before the last bit was shifted out. */
static uint64_t shift(const struct op *o)
{
	uint64_t out = o->family == SHL ? o->b >> (o->bits - 1) : o->b;

	return of_result(o, o->a) | (out & 1 ? CF : 0) | ((o->a ^ o->b) & o->sign ? OF : 0);
}

static uint64_t rotate(const struct op *o)
{
	uint64_t old = o->n & ALL & ~(uint64_t)(OF | CF);
	uint64_t high = o->a >> (o->bits - 1) & 1, next = o->a >> (o->bits - 2) & 1;

	if (o->family == ROL)
		return old | (o->a & 1 ? CF : 0) | ((high ^ (o->a & 1)) ? OF : 0);
	return old | (high ? CF : 0) | ((high ^ next) ? OF : 0);
}

static int64_t extend(const struct op *o, uint64_t val)
{
	return (int64_t)(val << (64 - o->bits)) >> (64 - o->bits);
}

static uint64_t multiply(const struct op *o)
{
	bool is_wide;
	uint64_t low;

	if (o->family == UMUL) {
		unsigned __int128 all = (unsigned __int128)o->a * o->b;

		low = (uint64_t)all & o->mask;
		is_wide = (all >> o->bits) != 0;
	} else {
		__int128 all = (__int128)extend(o, o->a) * extend(o, o->b);

		low = (uint64_t)all & o->mask;
		is_wide = all != extend(o, low);
	}
	return of_result(o, low) | (is_wide ? CF | OF : 0);
}

/* Bits that BMI and ADX define; the others are 0. */
static uint64_t bits_of(const struct op *o)
{
	uint64_t sign_zero = of_result(o, o->a) & (SF | ZF);

	switch (o->family) {
	case BLSI:
		return sign_zero | (o->b ? CF : 0);
	case BLSMSK:
		return (sign_zero & SF) | (o->b ? 0 : CF);
	case BLSR:
		return sign_zero | (o->b ? 0 : CF);
	default:
		return sign_zero;
	}
}

static uint64_t add_with(const struct op *o, unsigned flag)
{
	uint64_t carry = o->n & flag ? 1 : 0, b = (o->b ^ carry) & o->mask, res = (o->a + b + carry) & o->mask;
	bool is_carry = carry ? res <= o->a : res < o->a;

	return (o->n & ALL & ~(uint64_t)flag) | (is_carry ? flag : 0);
}

static uint64_t compute(struct op *o)
{
	switch (o->family) {
	case ADD:
		return add(o, 0);
	case SUB:
		return sub(o, 0);
	case ADC:
	case SBB:
		return with_carry(o);
	case LOGIC:
		return of_result(o, o->a);
	case INC:
	case DEC:
		return increment(o);
	case SHL:
	case SHR:
		return shift(o);
	case ROL:
	case ROR:
		return rotate(o);
	case UMUL:
	case SMUL:
		return multiply(o);
	case ANDN:
	case BLSI:
	case BLSMSK:
	case BLSR:
		return bits_of(o);
	case ADCX:
		return add_with(o, CF);
	case ADOX:
		return add_with(o, OF);
	}
	return 0;
}

/* Families of four sizes from 1 on, then of two (32, 64) from 53 on. */
uint64_t ts_vex_flags(uint64_t op, uint64_t dep1, uint64_t dep2, uint64_t ndep)
{
	bool has_all_sizes = op < 53;
	struct op o = { .n = ndep };

	if (!op)
		return dep1 & ALL;
	o.family = (enum family)(has_all_sizes ? (op - 1) / 4 : ANDN + (op - 53) / 2);
	o.bits = has_all_sizes ? 8u << ((op - 1) & 3) : 32u << ((op - 53) & 1);
	o.mask = ~UINT64_C(0) >> (64 - o.bits);
	o.sign = UINT64_C(1) << (o.bits - 1);
	o.a = dep1 & o.mask;
	o.b = dep2 & o.mask;
	return compute(&o);
}

/* The families are the same, each of three sizes instead of four. */
uint64_t ts_vex_op_of_32(uint64_t op)
{
	return op ? 1 + (op - 1) / 3 * 4 + (op - 1) % 3 : 0;
}

/* -------------------------------------------------------------------------------- AArch64 */

#define ARM64_N (UINT64_C(1) << 31)
#define ARM64_Z (UINT64_C(1) << 30)
#define ARM64_C (UINT64_C(1) << 29)
#define ARM64_V (UINT64_C(1) << 28)
#define ARM64_ALL (ARM64_N | ARM64_Z | ARM64_C | ARM64_V)

/* a + b + carry in @bits bits; a difference is a sum with the complement of b. */
static uint64_t add_arm64(unsigned bits, uint64_t a, uint64_t b, uint64_t carry)
{
	uint64_t mask = ~UINT64_C(0) >> (64 - bits), sign = UINT64_C(1) << (bits - 1), res;
	bool is_carry;

	a &= mask;
	b &= mask;
	res = (a + b + carry) & mask;
	is_carry = carry ? res <= a : res < a;
	return (res & sign ? ARM64_N : 0) | (res ? 0 : ARM64_Z) | (is_carry ? ARM64_C : 0) |
	       ((res ^ a) & (res ^ b) & sign ? ARM64_V : 0);
}

/* After the copy, families of two sizes, 32 and 64 bits. */
uint64_t ts_vex_flags_arm64(uint64_t op, uint64_t dep1, uint64_t dep2, uint64_t ndep)
{
	enum { COPY, SUM, DIFFERENCE, SUM_WITH, DIFFERENCE_WITH, BITS } family = (op + 1) / 2;
	unsigned bits = op & 1 ? 32 : 64;

	switch (family) {
	case COPY:
		return dep1 & ARM64_ALL;
	case SUM:
		return add_arm64(bits, dep1, dep2, 0);
	case DIFFERENCE:
		return add_arm64(bits, dep1, ~dep2, 1);
	case SUM_WITH:
		return add_arm64(bits, dep1, dep2, ndep & 1);
	case DIFFERENCE_WITH:
		return add_arm64(bits, dep1, ~dep2, ndep & 1);
	default:
		return add_arm64(bits, dep1, 0, 0);
	}
}
