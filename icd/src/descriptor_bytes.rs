//! Descriptors as bytes: what vkGetDescriptorEXT writes and dispatches read.
//!
//! A descriptor is eight little-endian words:
//!
//! | word | |
//! |---|---|
//! | 0 | what it is, and a mark that other bytes hardly have |
//! | 1 | a sum of the others |
//! | 2, 3 | the device address of a buffer, or the number of an image view |
//! | 4, 5 | the bytes of a buffer, or the number of a sampler |
//! | 6 | the VkFormat of texels, or the VkImageLayout of an image, which may be [`ANY_LAYOUT`] |
//! | 7 | 0 |
//!
//! It is the same for every type that takes the same things, so that a descriptor of a storage buffer may be
//! used for a uniform one, and any where the type is mutable.

/// Bytes of a descriptor of any type.
pub const SIZE: u64 = 32;

/// Bytes of what captures an object: its number.
pub const CAPTURE_BYTES: usize = 8;

/// The layout of an image whose descriptor names none.
pub const ANY_LAYOUT: i32 = i32::MIN;

const WORDS: usize = SIZE as usize / 4;
/// The upper three bytes of word 0.
const MARK: u32 = 0x4450_4c00;

/// A descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// A null descriptor.
    Null,
    /// A uniform or storage buffer: its device address and bytes.
    Buffer { address: u64, range: u64 },
    /// A texel buffer: its device address and bytes, and a VkFormat.
    Texels { address: u64, range: u64, format: i32 },
    /// An image: the number of its view, and a VkImageLayout.
    Image { view: u64, layout: i32 },
    /// A sampler: its number.
    Sampler { sampler: u64 },
    /// An image with a sampler: the number of its view, a VkImageLayout, and the sampler's number.
    ImageSampler { view: u64, layout: i32, sampler: u64 },
}

/// FNV-1a over the words but the second.
fn sum(words: &[u32; WORDS]) -> u32 {
    let others = words.iter().enumerate().filter(|(n, _)| *n != 1);
    let bytes = others.flat_map(|(_, word)| word.to_le_bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl Encoded {
    /// The words of the page's table, in little-endian order.
    pub fn bytes(self) -> [u8; SIZE as usize] {
        let (kind, first, second, more) = match self {
            Encoded::Null => (0, 0, 0, 0),
            Encoded::Buffer { address, range } => (1, address, range, 0),
            Encoded::Texels { address, range, format } => (2, address, range, format),
            Encoded::Image { view, layout } => (3, view, 0, layout),
            Encoded::Sampler { sampler } => (4, 0, sampler, 0),
            Encoded::ImageSampler { view, layout, sampler } => (5, view, sampler, layout),
        };
        let halves = |long: u64| [long as u32, (long >> 32) as u32];
        let ([a, b], [c, d]) = (halves(first), halves(second));
        let mut words = [MARK | kind, 0, a, b, c, d, more as u32, 0];
        words[1] = sum(&words);
        let mut out = [0; SIZE as usize];
        for (to, word) in out.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// The descriptor that these bytes are; `None` if they are none.
    pub fn of(bytes: &[u8; SIZE as usize]) -> Option<Encoded> {
        let words: [u32; WORDS] = std::array::from_fn(|n| {
            u32::from_le_bytes([bytes[4 * n], bytes[4 * n + 1], bytes[4 * n + 2], bytes[4 * n + 3]])
        });
        if words[0] & !0xff != MARK || words[1] != sum(&words) {
            return None;
        }
        let long = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        let (first, second, more) = (long(2), long(4), words[6] as i32);
        Some(match words[0] & 0xff {
            0 => Encoded::Null,
            1 => Encoded::Buffer { address: first, range: second },
            2 => Encoded::Texels { address: first, range: second, format: more },
            3 => Encoded::Image { view: first, layout: more },
            4 => Encoded::Sampler { sampler: second },
            5 => Encoded::ImageSampler { view: first, layout: more, sampler: second },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests;
