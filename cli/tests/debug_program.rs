//! The debugger on a dispatch of a program: what it shows is what the program's dispatch does.

mod common;

use ash::vk;
use pellucid_test_host::Vulkan;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PELLUCID: &str = env!("CARGO_BIN_EXE_pellucid");
const FLAG: &str = "tests/planted/message_passing/buffer.no-make-visible.spv";
const SUM: &str = "cli/src/demo/reduce.spv";
const CASE: &str = "DEBUG_PROGRAM_CASE";

/// A program whose dispatch goes over memory that is not coherent: the host has written 7 to its first word,
/// and flushed nothing.
#[test]
fn program_that_does_not_flush() {
    if std::env::var_os(CASE).is_none() {
        return;
    }
    let v = Vulkan::open(&pellucid::driver::library().unwrap()).unwrap();
    let device = &v.device;
    let cached = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_CACHED;
    let (buffer, _, mapped) = v.buffer(512, v.memory_type(!0, cached).unwrap()).unwrap();
    let words: Vec<u32> = std::fs::read(root().join(FLAG))
        .unwrap()
        .as_chunks()
        .0
        .iter()
        .map(|w| u32::from_le_bytes(*w))
        .collect();
    let kind = vk::DescriptorType::STORAGE_BUFFER;
    let bindings = [0, 1].map(|number| {
        let binding = vk::DescriptorSetLayoutBinding::default().binding(number).descriptor_type(kind);
        binding.descriptor_count(1).stage_flags(vk::ShaderStageFlags::COMPUTE)
    });
    let size = [vk::DescriptorPoolSize::default().ty(kind).descriptor_count(2)];
    // SAFETY: live handles; the flush that is missing is what the test is about.
    unsafe {
        mapped.cast::<u32>().write_volatile(7);
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layouts = [device.create_descriptor_set_layout(&info, None).unwrap()];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        let layout = device.create_pipeline_layout(&info, None).unwrap();
        let pipeline = v.pipeline(&words, c"main", layout).unwrap();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&size);
        let pool = device.create_descriptor_pool(&info, None).unwrap();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let sets = device.allocate_descriptor_sets(&info).unwrap();
        let parts =
            [0, 256].map(|at| vk::DescriptorBufferInfo::default().buffer(buffer).offset(at).range(256));
        let write = vk::WriteDescriptorSet::default().dst_set(sets[0]).descriptor_type(kind);
        device.update_descriptor_sets(&[write.buffer_info(&parts)], &[]);
        let bind = vk::PipelineBindPoint::COMPUTE;
        let commands = v.record(|commands| {
            device.cmd_bind_pipeline(commands, bind, pipeline);
            device.cmd_bind_descriptor_sets(commands, bind, layout, 0, &sets, &[]);
            device.cmd_dispatch(commands, 2, 1, 1);
        });
        v.run(commands.unwrap()).unwrap();
    }
}

/// A program whose dispatch goes over a picture of four components, which is black before.
#[test]
fn program_with_a_picture() {
    if std::env::var_os(CASE).is_some() {
        picture("colours", vk::DescriptorType::STORAGE_IMAGE);
    }
}

/// A shader that reads the image through a sampler.
#[test]
fn program_that_samples_a_picture() {
    if std::env::var_os(CASE).is_some() {
        picture("sampled", vk::DescriptorType::COMBINED_IMAGE_SAMPLER);
    }
}

fn picture(shader: &str, kind: vk::DescriptorType) {
    let v = Vulkan::open(&pellucid::driver::library().unwrap()).unwrap();
    let device = &v.device;
    let (buffer, ..) =
        v.buffer(512, v.memory_type(!0, vk::MemoryPropertyFlags::DEVICE_LOCAL).unwrap()).unwrap();
    let words: Vec<u32> = std::fs::read(root().join("cli/tests/compute").join(format!("{shader}.spv")))
        .unwrap()
        .as_chunks()
        .0
        .iter()
        .map(|w| u32::from_le_bytes(*w))
        .collect();
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width: 4, height: 1, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(
            vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
        );
    let image = v.image(&info, v.memory_type(!0, vk::MemoryPropertyFlags::DEVICE_LOCAL).unwrap()).unwrap();
    let whole = vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(1)
        .layer_count(1);
    let kinds = [kind, vk::DescriptorType::STORAGE_BUFFER];
    let binding = |number: u32, kind: vk::DescriptorType| {
        let binding = vk::DescriptorSetLayoutBinding::default().binding(number).descriptor_type(kind);
        binding.descriptor_count(1).stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings = [binding(0, kinds[0]), binding(1, kinds[1]), binding(2, kinds[1])];
    let sizes = kinds.map(|kind| vk::DescriptorPoolSize::default().ty(kind).descriptor_count(2));
    // SAFETY: live handles, one submission that is waited for.
    unsafe {
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(whole);
        let view = device.create_image_view(&info, None).unwrap();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layouts = [device.create_descriptor_set_layout(&info, None).unwrap()];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        let layout = device.create_pipeline_layout(&info, None).unwrap();
        let pipeline = v.pipeline(&words, c"main", layout).unwrap();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None).unwrap();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let sets = device.allocate_descriptor_sets(&info).unwrap();
        let general = vk::ImageLayout::GENERAL;
        let sampler = device.create_sampler(&vk::SamplerCreateInfo::default(), None).unwrap();
        let shown = vk::DescriptorImageInfo::default().sampler(sampler).image_view(view);
        let shown = [shown.image_layout(general)];
        let parts =
            [0, 256].map(|at| vk::DescriptorBufferInfo::default().buffer(buffer).offset(at).range(256));
        let write = vk::WriteDescriptorSet::default().dst_set(sets[0]);
        let image_write = write.descriptor_type(kinds[0]).image_info(&shown);
        let buffer_write = write.dst_binding(1).descriptor_type(kinds[1]).buffer_info(&parts);
        device.update_descriptor_sets(&[image_write, buffer_write], &[]);
        let commands = v.record(|c| {
            let barrier = |from, to| {
                let barrier = vk::ImageMemoryBarrier::default().image(image).subresource_range(whole);
                barrier.old_layout(from).new_layout(general).dst_access_mask(to)
            };
            let (transfer, compute) =
                (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::COMPUTE_SHADER);
            let none = vk::DependencyFlags::empty();
            let first = barrier(vk::ImageLayout::UNDEFINED, vk::AccessFlags::TRANSFER_WRITE);
            let top = vk::PipelineStageFlags::TOP_OF_PIPE;
            device.cmd_pipeline_barrier(c, top, transfer, none, &[], &[], &[first]);
            let black = vk::ClearColorValue { float32: [0.0; 4] };
            device.cmd_clear_color_image(c, image, general, &black, &[whole]);
            device.cmd_fill_buffer(c, buffer, 0, 512, 0);
            let cleared = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE);
            device.cmd_pipeline_barrier(c, transfer, compute, none, &[cleared], &[], &[]);
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_pipeline(c, point, pipeline);
            device.cmd_bind_descriptor_sets(c, point, layout, 0, &sets, &[]);
            device.cmd_dispatch(c, 2, 1, 1);
        });
        v.run(commands.unwrap()).unwrap();
    }
}

#[test]
fn what_the_load_of_a_texel_of_four_components_returns_can_be_chosen() {
    let this = std::env::current_exe().unwrap();
    let program = ["--", this.to_str().unwrap(), "--exact", "program_with_a_picture"];
    let arguments = [&["--run", "--dispatch", "0"][..], &program].concat();
    let commands = "choose 1\nchoose 1, 1, 1, 1\nchoose 0.25, 0, 0, x\nchoose 1, 0.2, 0, 1\nfindings off\ncontinue\n\
                    print received\nfindings on\ncontinue back\nchoose 0, 0, 0, 0\nfindings off\ncontinue\nprint received\nquit\n";
    let output = session(&arguments, commands);
    let printed = text(&output.stdout);
    for expected in [
        "a texel of R8G8B8A8_UNORM has 4 components, such as 0, 0, 0, 0",
        "the memory model does not allow (1, 1, 1, 1) here, only (0.0, 0.0, 0.0, 0.0), (1.0, 0.2, 0.0, 1.0)",
        "\"x\" is no f32",
        "the load returns (1, 0.2, 0, 1) (the memory model allows (0.0, 0.0, 0.0, 0.0), (1.0, 0.2, 0.0, 1.0))",
        "received = (1.0, 0.2, 0.0, 1.0)",
        "the load returns (0, 0, 0, 0)",
        "received = (0.0, 0.0, 0.0, 0.0)",
    ] {
        assert!(printed.contains(expected), "{expected:?} is not in\n{printed}\n{}", text(&output.stderr));
    }
}

#[test]
fn sampling_stops_at_data_breakpoints_of_texels_that_it_weighs() {
    let this = std::env::current_exe().unwrap();
    let program = ["--", this.to_str().unwrap(), "--exact", "program_that_samples_a_picture"];
    let arguments = [&["--dispatch", "0"][..], &program].concat();
    // Line 7 samples texel 2, line 8 fetches texel 1, and nothing reads texel 0.
    let commands = "findings off\nwatch picture[1,0] write\nwatch picture[1,0] read\n\
                    watch picture[2,0] any on 1 0\nwatch picture[0,0] any\n\
                    continue\ncontinue\ncontinue\ncontinue\ncontinue back\ncontinue back\nchoose 0, 0, 0, 0\nquit\n";
    let output = session(&arguments, commands);
    let printed = text(&output.stdout);
    let lines: Vec<&str> = printed.lines().collect();
    let stops: Vec<[&str; 2]> = lines.windows(2).map(|two| [two[0], two[1]]).collect();
    let stops: Vec<[&str; 2]> =
        stops.into_iter().filter(|[stop, _]| stop.contains(" is about to ")).collect();
    let fetch = "data breakpoint 2: picture[1,0] is about to be read";
    let sample = "data breakpoint 3: picture[2,0] is about to be read";
    let first = "invocation 0 of workgroup (0,0,0) at sampled.comp:8 in main";
    let [samples, fetches] =
        [7, 8].map(|at| format!("invocation 0 of workgroup (1,0,0) at sampled.comp:{at} in main"));
    let (samples, fetches) = ([sample, &samples], [fetch, &fetches]);
    assert_eq!(stops, [[fetch, first], samples, fetches, fetches, samples], "{printed}");
    let told = "not implemented in Pellucid: choosing the texels that a sampling instruction reads\n";
    assert!(printed.contains(told), "{printed}");
}

#[test]
fn what_the_hosts_cache_holds_of_a_programs_memory_is_told() {
    let this = std::env::current_exe().unwrap();
    let program = ["--", this.to_str().unwrap(), "--exact", "program_that_does_not_flush"];
    for (machine, told) in [("tiled", true), ("integrated", false)] {
        let arguments = [&["--dispatch", "0", "--machine", machine][..], &program].concat();
        let output = session(&arguments, "caches data\nquit\n");
        let printed = text(&output.stdout);
        let held = printed.contains("host's cache: 7, not written back\npoint of coherency: 0\n");
        assert_eq!(held, told, "{machine}: {printed}{}", text(&output.stderr));
        assert_eq!(printed.contains("point of coherency: 7\n"), !told, "{machine}: {printed}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// What the debugger prints for these commands, without the echo of its environment's totals.
fn session(arguments: &[&str], commands: &str) -> Output {
    let mut child = Command::new(PELLUCID)
        .arg("debug")
        .args(arguments)
        .current_dir(root())
        .env(CASE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    common::tell(&mut child, commands);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A program that dispatches a shader of the repository: `pellucid exec` as the program that it starts.
fn program<'a>(shader: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["--", PELLUCID, "exec-here", shader], more].concat()
}

#[test]
fn a_captured_dispatch_is_the_dispatch() {
    let commands = "threads\nbt\nstep\nstep\nsubgroup\nfocus 1 0\nwhere\nbuffers\ncontinue\nfindings\nsees data\nreads data\n\
                    before data #1 now\nwrote data\ncontinue\nchoose 0\ncontinue\nprint received\ncontinue back\nquit\n";
    let flag = ["--groups", "2", "--repeat", "4"];
    // Data that a dispatch before this one has left, and workgroups that compute.
    let sum = ["--groups", "4", "--buffer", "0:0=u32x256=iota", "--repeat", "3"];
    let sums = "break 13 if me == 5\ncontinue\nlocals\nprint values[me]\nset me 9\nprint values[me]\nnext\nbt\nshared\n\
                wg\nthreads\nnext back\nnext back\nbt\nfindings off\nleave\n";
    for (shader, more, commands) in [(FLAG, &flag[..], commands), (SUM, &sum[..], sums)] {
        for (number, seed) in [("0", "0"), ("2", "3"), ("2", "11")] {
            let own = [&["--skip", number, shader, "--seed", seed], more].concat();
            let captured = [&["--dispatch", number, "--seed", seed][..], &program(shader, more)].concat();
            let (own, captured) = (session(&own, commands), session(&captured, commands));
            let (own, captured) = (text(&own.stdout), text(&captured.stdout));
            assert!(own.lines().count() > 20, "{own}");
            // What comes behind `leave` is of the next dispatch, which is not captured.
            let own = own.split_inclusive("leave\n").next().unwrap();
            assert_eq!(own, captured, "dispatch {number} of {shader}, seed {seed}");
        }
    }
}

#[test]
fn the_program_goes_on_when_the_dispatch_was_looked_at() {
    let program =
        program(FLAG, &["--groups", "2", "--repeat", "2", "--buffer", "0:0=u32x3", "--dump", "0:0"]);
    let arguments = [&["--dispatch", "1"][..], &program].concat();
    let output = session(&arguments, "findings off\ncontinue\ncontinue\n");
    let (out, told) = (text(&output.stdout), text(&output.stderr));
    assert!(out.ends_with("(end) continue\n0:0\n     0: 42 1 0\n"), "{out}");
    assert!(told.contains("error[race-not-visible]") && told.contains("2 dispatches checked"), "{told}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_is_not_there_is_said() {
    let refused = |number: &str, program: &[&str]| {
        let output = session(&[&["--dispatch", number], program].concat(), "quit\n");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
        text(&output.stderr).to_owned()
    };
    let told = refused("5", &program(SUM, &["--repeat", "3"]));
    assert!(told.contains("no dispatch 5: the program ended after 3 (they count from 0)"), "{told}");
    let told = refused("0", &["--", "true"]);
    assert!(told.contains("no dispatch 0") && told.contains("did not use this driver"), "{told}");
    let told = refused("0", &program(SUM, &["--groups", "0"]));
    assert!(told.contains("dispatch 0 has no workgroups"), "{told}");
    let told = refused("0", &[&["--shaders", "nothing"][..], &program(SUM, &[])].concat());
    assert!(told.contains("the shader of dispatch 0 is left out of the checks"), "{told}");
    let told = refused("0", &["--", "/nonexistent/program"]);
    assert!(told.contains("cannot start /nonexistent/program"), "{told}");
    let told = refused("0", &[&["--mode", "run"][..], &program(SUM, &[])].concat());
    assert!(told.contains("the debugger is for check mode"), "{told}");
}

/// A report of a program with a finding in its second dispatch.
fn report(folder: &Path) -> String {
    let report = folder.join("report.json").display().to_string();
    let status = Command::new(PELLUCID)
        .args(["run", "--seed", "3", "--rehearsals", "0", "--report", &report])
        .args(program(FLAG, &["--groups", "2", "--repeat", "2"]))
        .current_dir(root())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(66));
    report
}

#[test]
fn a_finding_of_a_programs_report_is_where_the_debugger_stops() {
    let folder = tempfile::tempdir().unwrap();
    let named = format!("{}:1", report(folder.path()));
    let program = program(FLAG, &["--groups", "2", "--repeat", "2"]);
    let output = session(&[&["--finding", &named][..], &program].concat(), "sees data\nquit\n");
    let printed = text(&output.stdout);
    assert!(printed.starts_with("finding 1 (race-not-visible) is about to happen"), "{printed}");
    assert!(printed.contains("may read 0 or 42 now"), "{printed}");
    let told = session(&["--finding", &named], "quit\n");
    let told = text(&told.stderr);
    assert!(told.contains("a program has to be named: pellucid debug --finding"), "{told}");
    assert!(told.contains("exec-here"), "{told}");
}

#[test]
fn quit_ends_the_program_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let mark = folder.path().join("mark");
    let then = format!("{PELLUCID} exec-here {FLAG} --groups 2 && touch {}", mark.display());
    for commands in ["quit\n", "continue\nquit\n", ""] {
        let mut child = Command::new(PELLUCID)
            .args(["debug", "--dispatch", "0", "--", "sh", "-c", &then])
            .current_dir(root())
            .env("TMPDIR", &temporary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        common::tell(&mut child, commands);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("checked"), "{}", text(&output.stderr));
        let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().collect();
        assert!(left.is_empty() && !mark.exists(), "{left:?}");
    }
}

#[test]
fn texels_are_variables() {
    let blur = std::env::current_exe().unwrap().parent().unwrap().join("../examples/blur");
    assert!(blur.exists(), "{}: build it with cargo build -p pellucid --examples", blur.display());
    let arguments = ["--dispatch", "1", "--", blur.to_str().unwrap()];
    let commands = "images\nprint picture\nprint picture[3,2]\nprint picture[8,0]\nprint picture[1]\nprint picture[-1,0]\n\
                    sees picture[3,2]\nfocus 0 19\nbreak 9 on 0 19\ncontinue\nprint at\nprint picture[at]\n\
                    watch picture[at]\ncontinue\nsees picture[2,2]\nreads picture[2,2]\nbefore picture[2,2] #1 now\n\
                    continue\ncontinue\nfindings off\nprint picture[3,2]\nwrote picture[3,2]\nstepi\nsees picture[3,2]\n";
    let output = session(&arguments, commands);
    let printed = text(&output.stdout);
    for expected in [
        "picture: 2D image = the image has 8x4 texels (R32_UINT)",
        "picture[3,2] = 23",
        "there is no texel (8, 0): the image has 8x4 texels (R32_UINT)",
        "a texel is named by x, y: 1 were given",
        "memory holds 23 in picture[3,2]",
        "#0 23 from before anything that is remembered",
        "at = (3, 2)",
        "picture[at] = 23",
        "finding",
        "this is the write",
        "picture[3,2] = 22",
        "#1 22 by invocation 19 of workgroup (0,0,0) at blur.comp:9",
    ] {
        assert!(printed.contains(expected), "{expected:?} is not in\n{printed}\n{}", text(&output.stderr));
    }
}
