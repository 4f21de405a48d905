//! Memory, semaphores and fences that are shared with other devices and processes, and memory of the
//! application itself.

mod common;

use ash::{khr, vk};
use common::{Vulkan, alone};
use std::ffi::CStr;
use std::time::Duration;

const EXTENSIONS: [&CStr; 4] = [
    khr::external_memory_fd::NAME,
    khr::external_semaphore_fd::NAME,
    khr::external_fence_fd::NAME,
    ash::ext::external_memory_host::NAME,
];
const MEMORY: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
const SEMAPHORE: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;
const FENCE: vk::ExternalFenceHandleTypeFlags = vk::ExternalFenceHandleTypeFlags::OPAQUE_FD;
const SIZE: u64 = 256;

/// A device, and its functions for descriptors.
struct Side {
    v: Vulkan,
    memory: khr::external_memory_fd::Device,
    semaphores: khr::external_semaphore_fd::Device,
    fences: khr::external_fence_fd::Device,
}

impl Side {
    fn new() -> Side {
        let mut features = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
        let v = Vulkan::with(&EXTENSIONS, &mut features);
        let memory = khr::external_memory_fd::Device::new(&v.instance, &v.device);
        let semaphores = khr::external_semaphore_fd::Device::new(&v.instance, &v.device);
        let fences = khr::external_fence_fd::Device::new(&v.instance, &v.device);
        Side { v, memory, semaphores, fences }
    }

    /// A buffer in memory that is allocated with what `extend` adds.
    fn buffer(
        &self,
        types: vk::ExternalMemoryHandleTypeFlags,
        extend: &mut dyn FnMut(&mut vk::MemoryAllocateInfo<'_>),
    ) -> (vk::Buffer, vk::DeviceMemory) {
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(types);
        let info = vk::BufferCreateInfo::default()
            .size(SIZE)
            .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST)
            .push_next(&mut external);
        // SAFETY: valid usage.
        unsafe {
            let buffer = self.v.device.create_buffer(&info, None).unwrap();
            let mut info = vk::MemoryAllocateInfo::default().allocation_size(4096).memory_type_index(1);
            extend(&mut info);
            let memory = self.v.device.allocate_memory(&info, None).unwrap();
            self.v.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            (buffer, memory)
        }
    }

    /// A buffer whose memory can be exported, and a descriptor of that.
    fn exported(&self) -> (vk::Buffer, i32) {
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(MEMORY);
        let (buffer, memory) =
            self.buffer(MEMORY, &mut |info| info.p_next = std::ptr::from_mut(&mut export).cast());
        let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(MEMORY);
        // SAFETY: valid usage.
        (buffer, unsafe { self.memory.get_memory_fd(&info).unwrap() })
    }

    fn imported(&self, fd: i32) -> vk::Buffer {
        let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(MEMORY).fd(fd);
        self.buffer(MEMORY, &mut |info| info.p_next = std::ptr::from_mut(&mut import).cast()).0
    }

    fn semaphore(&self, timeline: bool, exported: bool) -> vk::Semaphore {
        let kind = if timeline { vk::SemaphoreType::TIMELINE } else { vk::SemaphoreType::BINARY };
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(kind);
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(SEMAPHORE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let info = if exported { info.push_next(&mut export) } else { info };
        // SAFETY: valid usage.
        unsafe { self.v.device.create_semaphore(&info, None).unwrap() }
    }

    fn export(&self, semaphore: vk::Semaphore) -> i32 {
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(semaphore).handle_type(SEMAPHORE);
        // SAFETY: valid usage.
        unsafe { self.semaphores.get_semaphore_fd(&info).unwrap() }
    }

    fn import(
        &self,
        semaphore: vk::Semaphore,
        fd: i32,
        flags: vk::SemaphoreImportFlags,
    ) -> Result<(), vk::Result> {
        let info = vk::ImportSemaphoreFdInfoKHR::default()
            .semaphore(semaphore)
            .handle_type(SEMAPHORE)
            .fd(fd)
            .flags(flags);
        // SAFETY: valid usage.
        unsafe { self.semaphores.import_semaphore_fd(&info) }
    }

    /// Submits with one semaphore to wait for and one to signal, to the value 1.
    fn submit(
        &self,
        commands: vk::CommandBuffer,
        wait: Option<vk::Semaphore>,
        signal: Option<vk::Semaphore>,
    ) {
        let (waits, signals): (Vec<_>, Vec<_>) = (wait.into_iter().collect(), signal.into_iter().collect());
        let (one, stages, commands) = ([1], [vk::PipelineStageFlags::ALL_COMMANDS], [commands]);
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&one[..waits.len()])
            .signal_semaphore_values(&one[..signals.len()]);
        let info = vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages[..waits.len()])
            .command_buffers(&commands)
            .signal_semaphores(&signals)
            .push_next(&mut values);
        // SAFETY: valid usage.
        unsafe { self.v.device.queue_submit(self.v.queues[0], &[info], vk::Fence::null()).unwrap() };
    }

    /// A fill with 7, whose bytes then belong to somebody else, and one that takes them over and copies.
    fn fill(&self, buffer: vk::Buffer) -> vk::CommandBuffer {
        self.v.record(|c| {
            // SAFETY: valid usage.
            unsafe { self.v.device.cmd_fill_buffer(c, buffer, 0, SIZE, 7) };
            self.barrier(c, buffer, (0, vk::QUEUE_FAMILY_EXTERNAL));
        })
    }

    fn copy(&self, from: vk::Buffer, to: vk::Buffer) -> vk::CommandBuffer {
        self.v.record(|c| {
            self.barrier(c, from, (vk::QUEUE_FAMILY_EXTERNAL, 0));
            // SAFETY: valid usage.
            unsafe {
                let all = [vk::BufferCopy::default().size(SIZE)];
                self.v.device.cmd_copy_buffer(c, from, to, &all);
                let read = [vk::MemoryBarrier::default()
                    .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                    .dst_access_mask(vk::AccessFlags::HOST_READ)];
                let (from, to) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
                self.v.device.cmd_pipeline_barrier(
                    c,
                    from,
                    to,
                    vk::DependencyFlags::empty(),
                    &read,
                    &[],
                    &[],
                );
            }
        })
    }

    fn barrier(&self, c: vk::CommandBuffer, buffer: vk::Buffer, (from, to): (u32, u32)) {
        let transfer = vk::AccessFlags::TRANSFER_WRITE | vk::AccessFlags::TRANSFER_READ;
        let barrier = [vk::BufferMemoryBarrier::default()
            .src_access_mask(transfer)
            .dst_access_mask(transfer)
            .src_queue_family_index(from)
            .dst_queue_family_index(to)
            .buffer(buffer)
            .size(SIZE)];
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: valid usage.
        unsafe {
            self.v.device.cmd_pipeline_barrier(c, all, all, vk::DependencyFlags::empty(), &[], &barrier, &[])
        };
    }

    fn idle(&self) {
        // SAFETY: valid usage.
        unsafe { self.v.device.device_wait_idle().unwrap() };
    }
}

/// Runs a test in both modes; what it wrote to standard error has no finding.
fn both(name: &str, run: impl Fn()) {
    for mode in ["run", "check"] {
        match alone(name, &[("PELLUCID_MODE", mode)]) {
            Some(text) => assert!(!text.contains("error["), "{mode}: {text}"),
            None => return run(),
        }
    }
}

#[test]
fn devices_share_memory_and_semaphores() {
    both("devices_share_memory_and_semaphores", || {
        for timeline in [false, true] {
            let (a, b) = (Side::new(), Side::new());
            let (filled, fd) = a.exported();
            let taken = b.imported(fd);
            let (copied, _, words) = b.v.buffer(SIZE, 1);
            let (mine, theirs) = (a.semaphore(timeline, true), b.semaphore(timeline, false));
            b.import(theirs, a.export(mine), vk::SemaphoreImportFlags::empty()).unwrap();
            // Whoever waits has begun before.
            b.submit(b.copy(taken, copied), Some(theirs), None);
            std::thread::sleep(Duration::from_millis(20));
            a.submit(a.fill(filled), None, Some(mine));
            b.idle();
            assert_eq!(b.v.words(words, 64), [7; 64], "timeline: {timeline}");
            a.idle();
            if timeline {
                // SAFETY: valid usage.
                unsafe {
                    assert_eq!(b.v.device.get_semaphore_counter_value(theirs), Ok(1));
                    assert_eq!(a.v.device.get_semaphore_counter_value(mine), Ok(1));
                    let signal = vk::SemaphoreSignalInfo::default().semaphore(mine).value(5);
                    a.v.device.signal_semaphore(&signal).unwrap();
                    let (all, values) = ([theirs], [5]);
                    let wait = vk::SemaphoreWaitInfo::default().semaphores(&all).values(&values);
                    b.v.device.wait_semaphores(&wait, u64::MAX).unwrap();
                }
            }
        }
    });
}

#[test]
fn what_was_not_exported_orders_like_any_other() {
    const EXPORTED: &str = "TEST_EXPORTED";
    for exported in [false, true] {
        let set = [("PELLUCID_MODE", "check"), (EXPORTED, if exported { "1" } else { "0" })];
        let Some(text) = alone("what_was_not_exported_orders_like_any_other", &set) else {
            let side = Side::new();
            let ((from, ..), (to, ..)) = (side.v.buffer(SIZE, 0), side.v.buffer(SIZE, 0));
            let semaphore = side.semaphore(false, true);
            if std::env::var(EXPORTED).unwrap() == "1" {
                let fd = side.export(semaphore);
                // SAFETY: the descriptor is this process's.
                assert_eq!(unsafe { libc::close(fd) }, 0);
            }
            let device = &side.v.device;
            side.submit(side.v.record(|_| ()), None, Some(semaphore));
            let all = [vk::BufferCopy::default().size(SIZE)];
            // SAFETY: valid usage, but that the copy does not wait for the fill: the signal came before it.
            let (filled, copied) = unsafe {
                (
                    side.v.record(|c| device.cmd_fill_buffer(c, from, 0, SIZE, 7)),
                    side.v.record(|c| device.cmd_copy_buffer(c, from, to, &all)),
                )
            };
            side.submit(filled, None, None);
            side.submit(copied, Some(semaphore), None);
            return side.idle();
        };
        assert_eq!(text.contains("error[hazard-read-after-write]"), !exported, "{exported}: {text}");
    }
}

#[test]
fn processes_share_memory_and_semaphores() {
    const FDS: &str = "TEST_DESCRIPTORS";
    if let Some(fds) = std::env::var_os(FDS) {
        // The other process.
        let fds: Vec<i32> = fds.to_str().unwrap().split(',').map(|fd| fd.parse().unwrap()).collect();
        let side = Side::new();
        let buffer = side.imported(fds[0]);
        let semaphore = side.semaphore(false, false);
        side.import(semaphore, fds[1], vk::SemaphoreImportFlags::empty()).unwrap();
        side.submit(side.fill(buffer), None, Some(semaphore));
        return side.idle();
    }
    both("processes_share_memory_and_semaphores", || {
        let side = Side::new();
        let (shared, fd) = side.exported();
        let (copied, _, words) = side.v.buffer(SIZE, 1);
        let semaphore = side.semaphore(false, true);
        let fds = [fd, side.export(semaphore)];
        // SAFETY: plain system calls on descriptors of this process.
        fds.iter().for_each(|fd| assert_eq!(unsafe { libc::fcntl(*fd, libc::F_SETFD, 0) }, 0));
        side.submit(side.copy(shared, copied), Some(semaphore), None);
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "processes_share_memory_and_semaphores", "--nocapture"]);
        child.env(FDS, format!("{},{}", fds[0], fds[1]));
        assert!(child.status().unwrap().success());
        side.idle();
        assert_eq!(side.v.words(words, 64), [7; 64]);
    });
}

#[test]
fn a_temporary_payload_lasts_for_one_wait() {
    both("a_temporary_payload_lasts_for_one_wait", || {
        let (a, b) = (Side::new(), Side::new());
        let nothing = |side: &Side| side.v.record(|_| ());
        let (mine, theirs) = (a.semaphore(false, true), b.semaphore(false, false));
        a.submit(nothing(&a), None, Some(mine));
        b.import(theirs, a.export(mine), vk::SemaphoreImportFlags::TEMPORARY).unwrap();
        b.submit(nothing(&b), Some(theirs), None);
        b.idle();
        // It is b's own again.
        b.submit(nothing(&b), None, Some(theirs));
        b.submit(nothing(&b), Some(theirs), None);
        b.idle();
        // SAFETY: valid usage.
        unsafe {
            let mut export = vk::ExportFenceCreateInfo::default().handle_types(FENCE);
            let info = vk::FenceCreateInfo::default().push_next(&mut export);
            let fence = a.v.device.create_fence(&info, None).unwrap();
            let fd = a
                .fences
                .get_fence_fd(&vk::FenceGetFdInfoKHR::default().fence(fence).handle_type(FENCE))
                .unwrap();
            let other = b.v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            let import = vk::ImportFenceFdInfoKHR::default()
                .fence(other)
                .handle_type(FENCE)
                .fd(fd)
                .flags(vk::FenceImportFlags::TEMPORARY);
            b.fences.import_fence_fd(&import).unwrap();
            assert_eq!(b.v.device.get_fence_status(other), Ok(false));
            a.v.device.queue_submit(a.v.queues[0], &[], fence).unwrap();
            b.v.device.wait_for_fences(&[other], true, u64::MAX).unwrap();
            assert_eq!(a.v.device.get_fence_status(fence), Ok(true));
            b.v.device.reset_fences(&[other]).unwrap();
            assert_eq!(b.v.device.get_fence_status(other), Ok(false), "its own payload");
            assert_eq!(a.v.device.get_fence_status(fence), Ok(true), "which is another one");
        }
    });
}

#[test]
fn what_is_not_shared_is_refused() {
    let side = Side::new();
    let pipe = std::io::pipe().unwrap().0;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&pipe);
    let semaphore = side.semaphore(false, false);
    let none = vk::SemaphoreImportFlags::empty();
    assert_eq!(side.import(semaphore, fd, none), Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE));
    let timeline = side.export(side.semaphore(true, true));
    assert_eq!(side.import(semaphore, timeline, none), Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE));
    let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(semaphore).handle_type(SEMAPHORE);
    let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(MEMORY).fd(fd);
    let memory = vk::MemoryAllocateInfo::default().allocation_size(4096).push_next(&mut import);
    // SAFETY: valid usage, but for what is refused.
    unsafe {
        assert!(side.semaphores.get_semaphore_fd(&info).is_err());
        let refused = side.v.device.allocate_memory(&memory, None);
        assert_eq!(refused, Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE));
    }
}

#[test]
fn memory_of_the_application_is_device_memory() {
    both("memory_of_the_application_is_device_memory", || [1, 2].into_iter().for_each(imported_as));
}

/// Memory of the application as memory of a type.
fn imported_as(memory_type: u32) {
    let side = Side::new();
    let host = ash::ext::external_memory_host::Device::new(&side.v.instance, &side.v.device);
    let kind = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
    let layout = std::alloc::Layout::from_size_align(4096, 4096).unwrap();
    // SAFETY: valid usage; the memory stays until the process ends.
    unsafe {
        let pointer = std::alloc::alloc_zeroed(layout);
        let mut found = vk::MemoryHostPointerPropertiesEXT::default();
        let ask = host.fp().get_memory_host_pointer_properties_ext;
        let device = side.v.device.handle();
        assert_eq!(ask(device, kind, pointer.cast(), &mut found), vk::Result::SUCCESS);
        // Clients look for their device-local type, too.
        assert_eq!(found.memory_type_bits & 0b110, 0b110);
        let odd = pointer.wrapping_add(1);
        assert_ne!(ask(device, kind, odd.cast(), &mut found), vk::Result::SUCCESS);
        let mut import =
            vk::ImportMemoryHostPointerInfoEXT::default().handle_type(kind).host_pointer(pointer.cast());
        let extend = &mut |info: &mut vk::MemoryAllocateInfo<'_>| {
            info.p_next = std::ptr::from_mut(&mut import).cast();
            info.memory_type_index = memory_type;
        };
        let (buffer, memory) = side.buffer(kind, extend);
        let words = pointer.cast::<u32>();
        words.write(3);
        let (copied, _, seen) = side.v.buffer(SIZE, 1);
        side.v.run(side.copy(buffer, copied));
        assert_eq!(side.v.words(seen, 2), [3, 0]);
        side.v.run(side.fill(buffer));
        assert_eq!(words.add(63).read_volatile(), 7);
        let mapped = side.v.device.map_memory(memory, 0, 4096, vk::MemoryMapFlags::empty()).unwrap();
        assert_eq!(mapped.cast(), pointer);
    }
}
