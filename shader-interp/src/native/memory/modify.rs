//! 32-bit read-modify-writes: one for all lanes where all add to one word, else lane by lane.

use super::*;

/// What read-modify-writes of all lanes do.
pub(in crate::native) struct Modified {
    /// Host registers.
    pub value: u8,
    pub comparator: Option<u8>,
    /// Other threads may reach the words.
    pub locked: bool,
    /// Whether some instruction reads the original values: what none does need not be there, though the
    /// interpreter has it.
    pub wanted: bool,
}

impl Part<'_> {
    pub(super) fn modify(&mut self, access: &Access, op: AtomicOp) {
        let (Some(value), [result]) = (access.value, &access.words[..]) else { return };
        let running = self.condition(RUNNING_MASK);
        let [t, u, v, r] = std::array::from_fn(|_| self.temporary());
        self.scaled(access, t);
        let value = self.read(value);
        let comparator = access.comparator.map(|register| self.read(register));
        self.locate(access);
        self.add_immediate(t, u, access.immediate);
        let locked = !matches!(access.space, Space::Workgroup(_));
        let wanted = self.reads[*result as usize];
        self.modify_lanes(op, &Modified { value, comparator, locked, wanted }, [t, u, v, r], running);
        self.set(*result, r);
    }

    /// The lanes where `running` holds modify the words at the offsets in `t`; the original values are in `r`
    /// then, zero where there is no word. In other lanes `r` holds anything. `u` and `v` are for its use.
    pub(in crate::native) fn modify_lanes(
        &mut self,
        op: AtomicOp,
        how: &Modified,
        [t, u, v, r]: [u8; 4],
        running: u8,
    ) {
        let &Modified { value, comparator, locked, wanted } = how;
        let (k, k2) = (self.host_mask_but(running), self.host_mask_but(running));
        let (done, each) = (self.asm.label(), self.asm.label());
        if self.part == 0 {
            self.asm.put(Instruction::with2(X86::Add_rm64_imm8, field(state::CHANGES), 1));
        }
        self.zero_register(r);
        self.last_inside(4, done);
        self.spread_general(u, Register::EDX);
        self.compare_under(running, k, t, u, I_LESS_EQUAL, false);
        // Those that are not aligned do nothing, either.
        self.spread_general(u, Register::R8D);
        self.binary(ADD, u, u, Source::Host(t));
        let low_bits = self.constant(Constant::Three);
        let (to, from) = (Register::K0 + u32::from(k), self.host(u));
        let aligned = Instruction::with3(X86::EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32, to, from, low_bits);
        self.masked(k, aligned);
        if op == AtomicOp::IAdd {
            self.add_to_one((t, u, v, r), value, (running, k, k2), locked, (each, done));
            self.asm.bind(each);
        }
        for (field_at, k) in [(state::OFFSETS, t), (state::VALUES, value), (state::RESULTS, r)] {
            if field_at != state::RESULTS || wanted {
                self.asm.store(KEEP, field(field_at), self.host(k));
            }
        }
        if let Some(comparator) = comparator {
            self.asm.store(KEEP, field(state::COMPARATORS), self.host(comparator));
        }
        let (some, stored) = (self.asm.label(), self.asm.label());
        if locked {
            // A load has to wait for the locked instruction before it: offsets come from registers.
            let all = Register::K0 + u32::from(k);
            self.asm.registers(X86::VEX_Kortestw_kr_kr, all, all);
            self.jump(X86::Jae_rel32_64, some);
            self.modify_all(op, (t, u), (value, v), wanted);
            self.jump(X86::Jmp_rel32_64, stored);
            self.asm.bind(some);
        }
        self.each_lane(k, |part| {
            part.asm.load(X86::Mov_r32_rm32, Register::R10D, lane(state::OFFSETS));
            part.asm.load(X86::Mov_r32_rm32, Register::EDX, lane(state::VALUES));
            part.modify_lane(op, locked, lane(state::COMPARATORS), wanted.then(|| lane(state::RESULTS)));
        });
        self.asm.bind(stored);
        if wanted {
            let originals = self.host(r);
            self.asm.load(WHOLE, originals, field(state::RESULTS));
        }
        self.asm.bind(done);
    }

    /// If all lanes add to one word: one addition of the sum, and each lane sees what the lanes before it
    /// added.
    fn add_to_one(
        &mut self,
        (t, u, sum, r): (u8, u8, u8, u8),
        value: u8,
        (running, k, k2): (u8, u8, u8),
        lock: bool,
        (each, done): (Label, Label),
    ) {
        self.unless_equal(t, u, running, k2, each);
        let all = Register::K0 + u32::from(k);
        self.asm.registers(X86::VEX_Kortestw_kr_kr, all, all);
        self.jump(X86::Je_rel32_64, done);
        self.first(t, 0, 0);
        let (own, to, zero, sums) = (self.host(value), self.host(t), self.host(r), self.host(sum));
        self.masked_zero(k, Instruction::with2(X86::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, own));
        self.unary(LOAD, sum, Source::Host(t));
        let shifted = self.host(u);
        for by in [1, 2, 4, 8u32] {
            self.asm.put(Instruction::with4(ALIGN, shifted, sums, zero, 16 - by));
            self.binary(ADD, sum, sum, Source::Host(u));
        }
        self.asm.put(Instruction::with4(ALIGN, shifted, sums, sums, 15u32));
        let total = self.low(u);
        self.asm.registers(X86::EVEX_Vmovd_rm32_xmm, Register::EDX, total);
        self.locked(lock, Instruction::with2(X86::Xadd_rm32_r32, at(0), Register::EDX));
        self.spread_general(u, Register::EDX);
        self.binary(ADD, u, u, Source::Host(sum));
        self.binary(SUB, r, u, Source::Host(t));
        self.jump(X86::Jmp_rel32_64, done);
    }

    fn locked(&mut self, lock: bool, instruction: Result<Instruction, iced_x86::IcedError>) {
        self.asm.put(instruction.map(|mut instruction| {
            instruction.set_has_lock_prefix(lock);
            instruction
        }));
    }

    /// Read-modify-writes of all lanes: offsets in `t`, values in `value`; `u` and `v` are overwritten.
    fn modify_all(&mut self, op: AtomicOp, (t, u): (u8, u8), (value, v): (u8, u8), wanted: bool) {
        let quarter = X86::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8;
        for j in 0..16u32 {
            for (from, part, pair, to) in
                [(t, u, Register::RSI, Register::R10D), (value, v, Register::RDI, Register::EDX)]
            {
                let low = self.low(part);
                if j % 4 == 0 {
                    let from = self.host(from);
                    self.asm.put(Instruction::with3(quarter, low, from, j / 4));
                }
                match j % 4 {
                    0 => self.asm.registers(X86::EVEX_Vmovq_rm64_xmm, pair, low),
                    2 => {
                        let upper = Instruction::with3(X86::EVEX_Vpextrq_rm64_xmm_imm8, pair, low, 1u32);
                        self.asm.put(upper);
                    }
                    _ => self.general(X86::Shr_rm64_imm8, 32, pair),
                }
                let word = if pair == Register::RSI { Register::ESI } else { Register::EDI };
                self.asm.registers(X86::Mov_r32_rm32, to, word);
            }
            let of = |start: usize| field(start + 4 * j as usize);
            self.modify_lane(op, true, of(state::COMPARATORS), wanted.then(|| of(state::RESULTS)));
        }
    }

    /// The read-modify-write of one lane, whose offset is in R10 and whose value in EDX.
    fn modify_lane(
        &mut self,
        op: AtomicOp,
        lock: bool,
        comparator: MemoryOperand,
        result: Option<MemoryOperand>,
    ) {
        let (old, operand, new) = (Register::EAX, Register::EDX, Register::R11D);
        let place = || based(HOST, Register::R10, 0);
        if op == AtomicOp::ISub {
            self.asm.put(Instruction::with1(X86::Neg_rm32, operand));
        }
        let (compute, replace) = match op {
            AtomicOp::IAdd | AtomicOp::ISub => (X86::Add_r32_rm32, None),
            AtomicOp::And => (X86::And_r32_rm32, None),
            AtomicOp::Or => (X86::Or_r32_rm32, None),
            AtomicOp::Xor => (X86::Xor_r32_rm32, None),
            AtomicOp::SMin => (X86::Cmp_r32_rm32, Some(X86::Cmovg_r32_rm32)),
            AtomicOp::SMax => (X86::Cmp_r32_rm32, Some(X86::Cmovl_r32_rm32)),
            AtomicOp::UMin => (X86::Cmp_r32_rm32, Some(X86::Cmova_r32_rm32)),
            AtomicOp::UMax => (X86::Cmp_r32_rm32, Some(X86::Cmovb_r32_rm32)),
            AtomicOp::Exchange => (X86::Mov_r32_rm32, None),
            _ => (X86::INVALID, None),
        };
        let adds = matches!(op, AtomicOp::IAdd | AtomicOp::ISub);
        if op == AtomicOp::CompareExchange {
            self.asm.load(X86::Mov_r32_rm32, old, comparator);
            self.locked(lock, Instruction::with2(X86::Cmpxchg_rm32_r32, place(), operand));
        } else if adds && result.is_none() {
            return self.locked(lock, Instruction::with2(X86::Add_rm32_r32, place(), operand));
        } else if adds && lock {
            self.locked(lock, Instruction::with2(X86::Xadd_rm32_r32, place(), operand));
            self.asm.registers(X86::Mov_r32_rm32, old, operand);
        } else {
            let again = self.asm.label();
            self.asm.load(X86::Mov_r32_rm32, old, place());
            self.asm.bind(again);
            self.asm.registers(X86::Mov_r32_rm32, new, old);
            self.asm.registers(compute, new, operand);
            if let Some(replace) = replace {
                self.asm.registers(replace, new, operand);
            }
            if lock {
                self.locked(lock, Instruction::with2(X86::Cmpxchg_rm32_r32, place(), new));
                self.jump(X86::Jne_rel32_64, again);
            } else {
                self.asm.store(X86::Mov_rm32_r32, place(), new);
            }
        }
        if let Some(result) = result {
            self.asm.store(X86::Mov_rm32_r32, result, old);
        }
    }
}
