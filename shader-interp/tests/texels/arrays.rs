//! Images of arrays, of which invocations choose elements, in both tiers.

use super::samples::texel_words;
use super::*;

/// What a dispatch leaves in arrays of images, and what it has seen, where invocations choose among them.
fn run_arrays(
    program: &Program,
    infos: [&FormatInfo; 2],
    odd: usize,
    count: usize,
    tier: Tier,
    seed: u64,
) -> Vec<Vec<u32>> {
    let mut random = Random::new(seed);
    let places: Vec<u32> =
        (0..4 * 32 * 8u32).map(|_| (random.below(1200u32) as f32 / 1000.0 - 0.1).to_bits()).collect();
    let seen = store(vec![0; 4 * 16 * 32 * 8]);
    let buffers = [store(places), seen.clone()];
    let word = format("R32_UINT");
    let mut written = vec![seen];
    launch(program, tier, |set, binding| {
        let samplers = [SAMPLER, Sampler { mag_linear: true, min_linear: true, ..SAMPLER }];
        let mut image = |n: usize, info: &FormatInfo| {
            let extent = if set < 3 { [12 + n as u32, 9, 1] } else { [300, 30, 1] };
            let view = apart(extent, 1, info, |count| texel_words(&mut random, info, count));
            written.push(view.memory.clone());
            view
        };
        // Of one element the format is another.
        let info = |n: usize| infos[usize::from(n == odd)];
        match (set, binding) {
            (0, k) => vec![Descriptor::Buffer(buffers[k as usize].clone())],
            (1, 0) => (0..count).map(|n| Descriptor::ImageSampler(image(n, info(n)), samplers[1])).collect(),
            (1, _) => (0..4).map(|n| Descriptor::Image(image(n, info(n)))).collect(),
            (2, _) => samplers.into_iter().map(Descriptor::Sampler).collect(),
            (3, _) => (0..3).map(|n| Descriptor::Image(image(n, info(n)))).collect(),
            _ => (0..3).map(|n| Descriptor::Image(image(n, word))).collect(),
        }
    });
    written.iter().map(MemoryRange::words).collect()
}

#[test]
fn chosen_images_are_the_same_in_both_tiers() {
    let words = words(include_bytes!("../shaders/texel_arrays.spv"));
    let names = ["R8G8B8A8_UNORM", "R32G32B32A32_SFLOAT", "R16G16_SFLOAT", "R32_SFLOAT"];
    for (n, name) in names.into_iter().enumerate() {
        let infos = [format(name), format(names[(n + 1) % 4])];
        let program = compile(&words, &CompileOptions::default()).expect("the shader compiles");
        for seed in 0..12 {
            // All of one format, or one of another; as many as the shader says, less, or more than
            // code chooses among.
            let (odd, count) = ([9, 1, 0, 2][seed as usize % 4], [5, 3, 300][seed as usize % 3]);
            let run = |tier| run_arrays(&program, infos, odd, count, tier, seed);
            let [should, is] = [Tier::Interpreter, Tier::Compiled].map(run);
            assert_compiled(&program);
            assert!(should[0].iter().any(|word| *word != 0), "the shader has seen nothing");
            for (k, (should, is)) in should.iter().zip(&is).enumerate() {
                assert_same(should, is, |at| format!("{name}, seed {seed}: memory {k}, word {at}"));
            }
        }
    }
}
