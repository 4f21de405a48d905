//! Machine code of x86-64 with labels.

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

/// A place in the code, known when it is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(u32);

/// The code so far. Addresses are relative to its first byte.
pub(super) struct Assembler {
    encoder: Encoder,
    at: u64,
    /// Where labels are bound.
    places: Vec<Option<u64>>,
    /// Ends of branches, and of what takes an address, whose last four bytes are the distance to a label.
    branches: Vec<(u64, Label)>,
    failed: Option<IcedError>,
    /// Instructions.
    count: u32,
}

impl Assembler {
    /// Code that begins with `data`.
    pub fn new(data: Vec<u8>) -> Assembler {
        let mut encoder = Encoder::new(64);
        let at = data.len() as u64;
        encoder.set_buffer(data);
        Assembler { encoder, at, places: Vec::new(), branches: Vec::new(), failed: None, count: 0 }
    }

    /// Bytes so far.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Instructions so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// A label that is bound later.
    pub fn label(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() as u32 - 1)
    }

    /// The label is here.
    pub fn bind(&mut self, label: Label) {
        self.places[label.0 as usize] = Some(self.at);
    }

    /// Where a label is bound.
    pub fn place(&self, label: Label) -> Option<u64> {
        self.places[label.0 as usize]
    }

    /// Appends an instruction. The first that cannot be encoded is what [`Assembler::finish`] returns.
    pub fn put(&mut self, instruction: Result<Instruction, IcedError>) {
        self.count += 1;
        match instruction.and_then(|instruction| self.encoder.encode(&instruction, self.at)) {
            Ok(length) => self.at += length as u64,
            Err(error) => _ = self.failed.get_or_insert(error),
        }
    }

    /// A jump or conditional jump with a distance of 32 bits.
    pub fn branch(&mut self, code: Code, to: Label) {
        self.put(Instruction::with_branch(code, self.at));
        self.branches.push((self.at, to));
    }

    /// A register becomes the address of a label.
    pub fn address(&mut self, to: Register, label: Label) {
        // As of a jump, the last four bytes are the distance.
        self.load(Code::Lea_r64_m, to, MemoryOperand::with_base_displ(Register::RIP, self.at as i64));
        self.branches.push((self.at, label));
    }

    /// An instruction of two registers.
    pub fn registers(&mut self, code: Code, to: Register, from: Register) {
        self.put(Instruction::with2(code, to, from));
    }

    /// An instruction that reads memory.
    pub fn load(&mut self, code: Code, to: Register, from: MemoryOperand) {
        self.put(Instruction::with2(code, to, from));
    }

    /// An instruction that writes memory.
    pub fn store(&mut self, code: Code, to: MemoryOperand, from: Register) {
        self.put(Instruction::with2(code, to, from));
    }

    /// An instruction of a register and a number.
    pub fn immediate(&mut self, code: Code, to: Register, number: i32) {
        self.put(Instruction::with2(code, to, number));
    }

    /// The bytes, all branches resolved; nothing if one leads nowhere.
    pub fn finish(mut self) -> Result<Option<Vec<u8>>, IcedError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut bytes = self.encoder.take_buffer();
        for (end, label) in self.branches {
            let Some(place) = self.places[label.0 as usize] else { return Ok(None) };
            let distance = (place as i64 - end as i64) as i32;
            bytes[end as usize - 4..end as usize].copy_from_slice(&distance.to_le_bytes());
        }
        Ok(Some(bytes))
    }
}
