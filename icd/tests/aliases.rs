//! Memory that is bound to several sparse resources (*Sparse Memory Aliasing*): whoever accesses one of them
//! accesses the others, in values and in what check mode finds.
// What a test does in a process of its own is told apart by marks.
#![allow(clippy::print_stderr)]

mod common;

use ash::vk;
use common::{Vulkan, alone};

/// Bytes of a sparse block.
const BLOCK: u64 = 1 << 16;
/// Words of a sparse block.
const WORDS: u32 = (BLOCK / 4) as u32;
const NOTHING: vk::DependencyFlags = vk::DependencyFlags::empty();

/// What `aliases.comp` uses: two buffers of four blocks, and the memory of two. Block 0 of `a` is block 1 of
/// the memory, and its block 2 the memory's block 0; blocks 1 and 2 of `b` are the memory.
struct Shared {
    v: Vulkan,
    a: vk::Buffer,
    b: vk::Buffer,
    memory: vk::DeviceMemory,
    seen: *mut u8,
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

/// Of `aliases.comp`: `a[at_a + i] = i + 1`.
const WRITE_A: u32 = 0;
/// `seen[i] = b[at_b + i]`.
const READ_B: u32 = 1;
/// One is added atomically to `a[at_a]`, two to `b[at_b]`.
const ADD: u32 = 2;
/// Writes `a`, and reads another invocation's element of `b` behind a barrier.
const BOTH: u32 = 3;

fn part(at: u64, size: u64, memory: vk::DeviceMemory, offset: u64) -> vk::SparseMemoryBind {
    vk::SparseMemoryBind { resource_offset: at, size, memory, memory_offset: offset, ..Default::default() }
}

impl Shared {
    fn new() -> Shared {
        let v = Vulkan::new();
        // SAFETY: valid usage.
        let shared = unsafe {
            let info = vk::BufferCreateInfo::default()
                .flags(
                    vk::BufferCreateFlags::SPARSE_BINDING
                        | vk::BufferCreateFlags::SPARSE_RESIDENCY
                        | vk::BufferCreateFlags::SPARSE_ALIASED,
                )
                .size(4 * BLOCK)
                .usage(
                    vk::BufferUsageFlags::STORAGE_BUFFER
                        | vk::BufferUsageFlags::TRANSFER_SRC
                        | vk::BufferUsageFlags::TRANSFER_DST,
                );
            let [a, b] = [(); 2].map(|()| v.device.create_buffer(&info, None).unwrap());
            let info = vk::MemoryAllocateInfo::default().allocation_size(2 * BLOCK).memory_type_index(0);
            let memory = v.device.allocate_memory(&info, None).unwrap();
            let (results, _, seen) = v.buffer(256, 1);
            let (layout, set) = v.descriptors(&[vk::DescriptorType::STORAGE_BUFFER; 3], 12).unwrap();
            let code: &[u8] = include_bytes!("shaders/aliases.spv");
            let code = ash::util::read_spv(&mut std::io::Cursor::new(code)).unwrap();
            let pipeline = v.pipeline(&code, c"main", layout).unwrap();
            let buffers = [a, b, results]
                .map(|buffer| [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }]);
            let writes: Vec<_> = (0..)
                .zip(&buffers)
                .map(|(n, info)| {
                    vk::WriteDescriptorSet::default()
                        .dst_set(set)
                        .dst_binding(n)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .buffer_info(info)
                })
                .collect();
            v.device.update_descriptor_sets(&writes, &[]);
            Shared { v, a, b, memory, seen, pipeline, layout, set }
        };
        let Shared { a, b, memory, .. } = shared;
        shared.bind(a, &[part(0, BLOCK, memory, BLOCK), part(2 * BLOCK, BLOCK, memory, 0)]);
        shared.bind(b, &[part(BLOCK, 2 * BLOCK, memory, 0)]);
        shared
    }

    fn bind(&self, buffer: vk::Buffer, parts: &[vk::SparseMemoryBind]) {
        let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(buffer).binds(parts)];
        let info = vk::BindSparseInfo::default().buffer_binds(&buffers);
        let v = &self.v;
        // SAFETY: valid usage.
        unsafe {
            let fence = v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            v.device.queue_bind_sparse(v.queues[0], &[info], fence).unwrap();
            v.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        }
    }

    fn dispatch(&self, c: vk::CommandBuffer, mode: u32, at_a: u32, at_b: u32) {
        let push: Vec<u8> = [mode, at_a, at_b].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let (compute, device) = (vk::PipelineBindPoint::COMPUTE, &self.v.device);
        // SAFETY: valid usage.
        unsafe {
            device.cmd_bind_pipeline(c, compute, self.pipeline);
            device.cmd_bind_descriptor_sets(c, compute, self.layout, 0, &[self.set], &[]);
            device.cmd_push_constants(c, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &push);
            device.cmd_dispatch(c, 1, 1, 1);
        }
    }

    /// All that is written so far is there for all that follows.
    fn barrier(&self, c: vk::CommandBuffer) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
        let memory = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
        // SAFETY: valid usage.
        unsafe { self.v.device.cmd_pipeline_barrier(c, all, all, NOTHING, &memory, &[], &[]) };
    }

    /// What is written to bytes of a buffer is there for all that follows.
    fn barrier_of(&self, c: vk::CommandBuffer, buffer: vk::Buffer, offset: u64, size: u64) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let of = [vk::BufferMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
            .buffer(buffer)
            .offset(offset)
            .size(size)];
        // SAFETY: valid usage.
        unsafe { self.v.device.cmd_pipeline_barrier(c, all, all, NOTHING, &[], &of, &[]) };
    }

    fn fill(&self, c: vk::CommandBuffer, buffer: vk::Buffer, at: u64, size: u64, word: u32) {
        // SAFETY: valid usage.
        unsafe { self.v.device.cmd_fill_buffer(c, buffer, at, size, word) };
    }

    fn run(&self, record: impl FnOnce(vk::CommandBuffer)) {
        self.v.run(self.v.record(|c| {
            record(c);
            self.barrier(c);
        }));
    }

    /// The words at these places of a buffer.
    fn words(&self, buffer: vk::Buffer, places: &[u64]) -> Vec<u32> {
        let (to, _, mapped) = self.v.buffer(256, 1);
        let copies: Vec<_> = (0u64..)
            .zip(places)
            .map(|(n, at)| vk::BufferCopy { src_offset: *at, dst_offset: 4 * n, size: 4 })
            .collect();
        // SAFETY: valid usage.
        self.run(|c| unsafe { self.v.device.cmd_copy_buffer(c, buffer, to, &copies) });
        self.v.words(mapped, places.len())
    }
}

/// Runs a test in both modes, each in a process of its own, and hands back what it wrote in check mode,
/// between its marks.
fn checked(name: &str, body: impl FnOnce()) -> Option<Vec<String>> {
    let texts = ["run", "check"].map(|mode| alone(name, &[("PELLUCID_MODE", mode)]));
    let [Some(run), Some(check)] = texts else {
        body();
        return None;
    };
    assert!(!run.contains("pellucid: error"), "{run}");
    Some(format!("\n{check}").split("\n-- ").map(str::to_owned).collect())
}

/// The ids of the findings in a text.
fn ids(text: &str) -> Vec<&str> {
    let heads = text.lines().filter(|line| line.starts_with("error[") || line.starts_with("warning["));
    heads.filter_map(|line| line.split(['[', ']']).nth(1)).collect()
}

#[test]
fn all_show_the_same_bytes() {
    let body = || {
        let s = Shared::new();
        s.run(|c| s.fill(c, s.a, 0, BLOCK, 5));
        s.run(|c| {
            s.fill(c, s.b, BLOCK, BLOCK, 6);
            s.fill(c, s.b, 2 * BLOCK, 4, 7);
        });
        assert_eq!(s.words(s.a, &[0, 4, BLOCK, 2 * BLOCK, 3 * BLOCK - 4]), [7, 5, 0, 6, 6]);
        assert_eq!(s.words(s.b, &[0, BLOCK, 2 * BLOCK - 4, 2 * BLOCK + 4]), [0, 6, 6, 5]);
        s.run(|c| {
            s.dispatch(c, WRITE_A, 2 * WORDS, 0);
            s.barrier(c);
            s.dispatch(c, READ_B, 0, WORDS);
        });
        assert_eq!(s.v.words(s.seen, 64), (1..=64).collect::<Vec<_>>());
        // What moves takes along what it holds.
        let none = vk::DeviceMemory::null();
        s.bind(s.b, &[part(BLOCK, 2 * BLOCK, none, 0)]);
        s.bind(s.b, &[part(3 * BLOCK, BLOCK, s.memory, BLOCK)]);
        assert_eq!(s.words(s.b, &[BLOCK, 3 * BLOCK, 3 * BLOCK + 256]), [0, 7, 5]);
        eprintln!("-- atomics");
        s.bind(s.b, &[part(2 * BLOCK, BLOCK, s.memory, BLOCK)]);
        s.run(|c| s.dispatch(c, ADD, 64, 2 * WORDS + 64));
        assert_eq!(s.words(s.a, &[256]), [5 + 3 * 64]);
        eprintln!("-- end");
    };
    let Some(check) = checked("all_show_the_same_bytes", body) else { return };
    assert_eq!(ids(&check[0]), [""; 0], "{}", check[0]);
    // Through two references atomics are not ordered.
    assert!(ids(&check[1]).contains(&"race-reference"), "{}", check[1]);
}

#[test]
fn commands_on_one_are_ordered_with_those_on_the_other() {
    let body = || {
        let s = Shared::new();
        s.run(|c| s.fill(c, s.b, BLOCK, 2 * BLOCK, 0));
        eprintln!("-- no barrier");
        let (to, ..) = s.v.buffer(256, 1);
        let copy = [vk::BufferCopy { src_offset: BLOCK + 16, dst_offset: 0, size: 8 }];
        s.run(|c| {
            s.fill(c, s.a, 2 * BLOCK, 32, 4);
            // SAFETY: valid usage.
            unsafe { s.v.device.cmd_copy_buffer(c, s.b, to, &copy) };
        });
        eprintln!("-- a barrier of the other bytes");
        s.run(|c| {
            s.dispatch(c, WRITE_A, 2 * WORDS, 0);
            s.barrier_of(c, s.b, 2 * BLOCK, BLOCK);
            s.dispatch(c, READ_B, 0, WORDS);
        });
        eprintln!("-- a barrier of the same");
        s.run(|c| {
            s.dispatch(c, WRITE_A, 2 * WORDS, 0);
            s.barrier_of(c, s.b, BLOCK, BLOCK);
            s.dispatch(c, READ_B, 0, WORDS);
        });
        eprintln!("-- elsewhere");
        s.run(|c| {
            s.dispatch(c, WRITE_A, 0, 0);
            s.dispatch(c, READ_B, 0, WORDS);
        });
        eprintln!("-- over two blocks");
        s.run(|c| {
            s.fill(c, s.b, 2 * BLOCK - 8, 16, 1);
            s.fill(c, s.a, 0, 8, 2);
        });
        eprintln!("-- forgotten by nobody");
        s.run(|c| s.fill(c, s.a, 2 * BLOCK, 4, 9));
        s.bind(s.a, &[part(BLOCK, BLOCK, s.memory, 0)]);
        s.run(|c| {
            s.fill(c, s.a, BLOCK, 4, 8);
            s.dispatch(c, READ_B, 0, WORDS);
        });
        eprintln!("-- end");
    };
    let Some(check) = checked("commands_on_one_are_ordered_with_those_on_the_other", body) else { return };
    let hazard = "hazard-read-after-write";
    let found: Vec<Vec<&str>> = check.iter().map(|text| ids(text)).collect();
    let wrote = "hazard-write-after-write";
    assert_eq!(
        found[1..7],
        [vec![hazard], vec![hazard], vec![], vec![], vec![wrote], vec![hazard]],
        "{check:#?}"
    );
    assert!(check[1].contains("bytes 65552..65560"), "of b, as the second names it: {}", check[1]);
    assert!(check[5].contains("bytes 0..8"), "{}", check[5]);
}

#[test]
fn invocations_on_one_race_with_those_on_the_other() {
    let body = || {
        let s = Shared::new();
        s.run(|c| s.fill(c, s.b, BLOCK, 2 * BLOCK, 0));
        eprintln!("-- elsewhere");
        s.run(|c| s.dispatch(c, BOTH, 8, WORDS + 8));
        eprintln!("-- the same");
        s.run(|c| s.dispatch(c, BOTH, 2 * WORDS + 8, WORDS + 8));
        eprintln!("-- end");
    };
    let Some(check) = checked("invocations_on_one_race_with_those_on_the_other", body) else { return };
    assert_eq!(ids(&check[1]), [""; 0], "{}", check[1]);
    assert_eq!(ids(&check[2]), ["race-private"], "{}", check[2]);
    // Each access by its own buffer: element 8 + i of the block.
    let offset = |of: &str| -> u64 {
        let (_, rest) = check[2].split_once(of).unwrap();
        let (_, rest) = rest.split_once("bytes at offset ").unwrap();
        rest.lines().next().unwrap().parse().unwrap()
    };
    let (a, b) = (offset("binding 0: a["), offset("binding 1: b["));
    assert_eq!(a - 2 * BLOCK, b - BLOCK, "{}", check[2]);
}

#[test]
fn what_nobody_wrote_is_uninitialised_through_each() {
    let body = || {
        let s = Shared::new();
        eprintln!("-- nobody");
        s.run(|c| s.dispatch(c, READ_B, 0, WORDS));
        eprintln!("-- the other");
        s.run(|c| s.fill(c, s.a, 2 * BLOCK, BLOCK, 5));
        s.run(|c| s.dispatch(c, READ_B, 0, WORDS));
        assert_eq!(s.v.words(s.seen, 64), [5; 64]);
        eprintln!("-- end");
    };
    let Some(check) = checked("what_nobody_wrote_is_uninitialised_through_each", body) else { return };
    assert_eq!(ids(&check[1]), ["uninitialised-read"], "{}", check[1]);
    assert_eq!(ids(&check[2]), [""; 0], "{}", check[2]);
}
