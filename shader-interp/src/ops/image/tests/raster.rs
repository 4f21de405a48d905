//! The fast case of two-dimensional images of 32-bit texels against the general one.

use super::*;
use crate::ops::image::raster;
use pellucid_memory::random::Random;

const EXTENT: [u32; 3] = [7, 5, 1];

fn operations() -> Vec<(OpKind, usize, usize)> {
    let image = operand(ImageDim::D2, false, Scalar::I32);
    let access = Access { atomic: Some(Scope::Device), ..ACCESS };
    let atomic = |op| OpKind::ImageAtomic { op, image, access };
    vec![
        (OpKind::ImageRead { image, access: ACCESS }, 0, 4),
        (OpKind::ImageRead { image, access: ACCESS }, 0, 1),
        (OpKind::ImageWrite { image, access: ACCESS }, 4, 0),
        (OpKind::ImageWrite { image, access: ACCESS }, 1, 0),
        (OpKind::ImageAtomicLoad { image, access }, 0, 1),
        (OpKind::ImageAtomicStore { image, access }, 1, 0),
        (atomic(AtomicOp::IAdd), 1, 1),
        (atomic(AtomicOp::CompareExchange), 2, 1),
    ]
}

#[test]
fn the_fast_case_does_what_the_general_one_does() {
    let mut random = Random::new(0);
    let mut next = |below: u32| random.below(below);
    for round in 0..600 {
        let info = info(["R32_UINT", "R32_SINT", "R32_SFLOAT"][round % 3]);
        let (kind, operands, results) = operations()[round % operations().len()].clone();
        let general = instruction(kind, results);
        let size = (EXTENT[0] * EXTENT[1] * 4) as usize;
        let bytes: Vec<u8> = (0..size).map(|_| next(3) as u8).collect();
        let mut memories = [Bytes::<false>::new(size), Bytes::<false>::new(size)];
        for memory in &mut memories {
            memory.bytes.copy_from_slice(&bytes);
        }
        let view = image(memories[0].range(), info, EXTENT, 1, 1, 1);
        let resources = one(Descriptor::Image(view));
        let mask = match next(3) {
            0 => Mask::MAX,
            _ => next(u32::MAX) | 1 << next(32),
        };
        // Some coordinates are outside.
        let mut vectors: Vec<Lanes> = vec![lanes(|_| next(EXTENT[0] + 1)), lanes(|_| next(EXTENT[1] + 1))];
        for _ in 0..operands {
            vectors.push(lanes(|_| next(0x0003_0000)));
        }
        let expected = run(&general, &mut memories[0], &resources, mask, &vectors);
        let count = vectors.len();
        vectors.resize(count + results, Lanes([7; LANES]));
        let entry = entry(general, count, results);
        let done = raster::execute(&entry, &resources, &mut vectors, mask, &mut memories[1]);
        let changed = done.expect("it is of the case").expect("nothing traps");
        assert_eq!(changed, operands > 0, "round {round}");
        assert_eq!(memories[0].bytes, memories[1].bytes, "round {round}");
        for (k, expected) in expected.iter().enumerate() {
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                assert_eq!(vectors[count + k].0[lane], expected.0[lane], "round {round}, result {k}");
            }
        }
    }
}
