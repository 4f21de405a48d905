//! Descriptors that come back from their bytes, and bytes that are none.

use super::*;

const ALL: [Encoded; 6] = [
    Encoded::Null,
    Encoded::Buffer { address: 0x1_0000_0040, range: u64::MAX },
    Encoded::Texels { address: 64, range: 1 << 40, format: 1_000_156_000 },
    Encoded::Image { view: u64::MAX - 7, layout: 1_000_241_000 },
    Encoded::Sampler { sampler: 0x1234_5678_9abc_def0 },
    Encoded::ImageSampler { view: 1, layout: 5, sampler: 2 },
];

#[test]
fn a_descriptor_comes_back() {
    for descriptor in ALL {
        assert_eq!(Encoded::of(&descriptor.bytes()), Some(descriptor));
    }
}

#[test]
fn other_bytes_are_no_descriptor() {
    for byte in [0, 0xcc, 0xff] {
        assert_eq!(Encoded::of(&[byte; SIZE as usize]), None);
    }
    for descriptor in ALL {
        for bit in 0..SIZE as usize * 8 {
            let mut bytes = descriptor.bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Encoded::of(&bytes), None, "{descriptor:?} with bit {bit}");
        }
    }
}
