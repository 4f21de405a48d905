//! Derivative groups of compute shaders (VK_KHR_compute_shader_derivatives) through the whole driver.

use pellucid::assemble::assemble;
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_memory::finding::FindingId;
use pellucid_memory::progress::ProgressModel;
use pellucid_shader_interp::exec::modelled::{self, ModelledOptions};
use pellucid_shader_interp::exec::progress::ProgressScheduler;
use pellucid_shader_interp::interface::{Descriptor, Grid, Resources};
use pellucid_shader_interp::{CompileError, CompileOptions, Program, compile};
use std::path::Path;
use std::process::{Command, Output};

fn exec(shader: &str, options: &[&str], arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pellucid"));
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("PELLUCID_") {
            command.env_remove(variable);
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compute");
    command.current_dir(folder).args(["exec", "--mode"]).args(options).arg(shader);
    command.args(arguments.split_whitespace()).output().expect("pellucid starts")
}

/// The invocations of the quad of an invocation of 6 by 4 by 2, in order (*Quad* scope).
fn quad(index: u32, quads: bool) -> [u32; 4] {
    if !quads {
        return [0, 1, 2, 3].map(|k| index / 4 * 4 + k);
    }
    let (x, y, z) = (index % 6 / 2 * 2, index / 6 % 4 / 2 * 2, index / 24);
    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| x + dx + (y + dy) * 6 + z * 24)
}

#[test]
fn neighbours_are_those_of_the_mode() {
    for (shader, quads) in [("derivatives_linear.spv", false), ("derivatives_quads.spv", true)] {
        let mut expected = Vec::new();
        for index in 0..48 {
            let of = quad(index, quads);
            let value = of.map(|index| (index * index) as f32);
            let place = of.iter().position(|one| *one == index).unwrap();
            let (row, column) = (place & 2, place & 1);
            let dx = value[row + 1] - value[row];
            let dy = value[column + 2] - value[column];
            let floats = [dx, dy, value[1] - value[0], value[2] - value[0], dx.abs() + dy.abs()];
            let mut words = floats.map(f32::to_bits).to_vec();
            words.extend([of[place ^ 1], of[place ^ 2], of[3]]);
            expected.push((words, of));
        }
        for options in [
            &["run", "--tier", "interpreter"][..],
            &["run", "--tier", "compiled"],
            &["check"],
            &["check", "--seed", "3"],
        ] {
            let output = exec(shader, options, "--dump 0:0");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{shader} {options:?}:\n{errors}");
            let text = String::from_utf8_lossy(&output.stdout);
            let values = text.lines().filter_map(|line| line.split_once(": ")).map(|(_, values)| values);
            let values: Vec<u32> = values
                .flat_map(str::split_whitespace)
                .map(|value| value.parse().expect("a number"))
                .collect();
            assert_eq!(values.len(), 48 * 9);
            let lanes: Vec<u32> = values.chunks(9).map(|found| found[8]).collect();
            for (index, (words, of)) in expected.iter().enumerate() {
                assert_eq!(values[index * 9..][..8], words[..], "{shader} {options:?}: {index}");
                let first = lanes[of[0] as usize];
                assert!(first.is_multiple_of(4), "{index}: {first}");
                assert!((0..4).all(|k| lanes[of[k as usize] as usize] == first + k), "{index}");
            }
        }
    }
}

#[test]
fn findings_name_invocations_whatever_their_lanes_are() {
    for (shader, subgroups) in [("derivatives_linear.spv", [0, 1]), ("derivatives_quads.spv", [1, 0])] {
        let output = exec(shader, &["check"], "--spec 0=1");
        let errors = String::from_utf8_lossy(&output.stderr);
        for (index, subgroup) in [28, 32].into_iter().zip(subgroups) {
            let named = format!("invocation {index} (subgroup {subgroup})");
            assert!(errors.contains(&named), "{shader}: {named}\n{errors}");
        }
        assert_eq!(output.status.code(), Some(66), "{errors}");
    }
}

#[test]
fn derivatives_of_parts_of_a_quad_are_found() {
    let output = exec("derivatives_quads.spv", &["check"], "--spec 0=2");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("error[derivative-divergence]"), "{errors}");
    assert!(errors.contains("invocation 1 (subgroup 0)"), "{errors}");
    assert_eq!(output.status.code(), Some(66), "{errors}");
}

/// Samples an image, by an invocation in two.
const SAMPLES: &str = "
               OpCapability Shader
               OpCapability ComputeDerivativeGroupQuadsKHR
               OpCapability ComputeDerivativeGroupLinearKHR
               OpExtension \"SPV_KHR_compute_shader_derivatives\"
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main \"main\" %id
               OpExecutionMode %main LocalSize 4 2 1
               OpExecutionMode %main DerivativeGroupQuadsKHR
               OpDecorate %id BuiltIn LocalInvocationIndex
               OpDecorate %image DescriptorSet 0
               OpDecorate %image Binding 0
       %void = OpTypeVoid
   %function = OpTypeFunction %void
       %uint = OpTypeInt 32 0
      %float = OpTypeFloat 32
       %bool = OpTypeBool
         %v2 = OpTypeVector %float 2
         %v4 = OpTypeVector %float 4
         %of = OpTypeImage %float 2D 0 0 0 1 Unknown
    %sampled = OpTypeSampledImage %of
      %input = OpTypePointer Input %uint
   %constant = OpTypePointer UniformConstant %sampled
         %id = OpVariable %input Input
      %image = OpVariable %constant UniformConstant
        %one = OpConstant %uint 1
       %zero = OpConstant %uint 0
       %main = OpFunction %void None %function
      %entry = OpLabel
      %index = OpLoad %uint %id
      %value = OpConvertUToF %float %index
         %at = OpCompositeConstruct %v2 %value %value
         %by = OpLoad %sampled %image
        %bit = OpBitwiseAnd %uint %index %one
       %even = OpIEqual %bool %bit %zero
               OpSelectionMerge %end None
               OpBranchConditional %even %yes %end
        %yes = OpLabel
      %color = OpImageSampleImplicitLod %v4 %by %at
               OpBranch %end
        %end = OpLabel
               OpReturn
               OpFunctionEnd
";

fn compiled(text: &str, subgroup_size: u32, notes: bool) -> Result<Program, CompileError> {
    let options = CompileOptions { subgroup_size, modelled: true, notes, ..CompileOptions::default() };
    compile(&assemble(text).expect("a module"), &options)
}

#[test]
fn implicit_levels_of_parts_of_a_quad_are_a_note() {
    for (notes, invocations) in [(true, vec![0]), (false, vec![])] {
        let program = compiled(SAMPLES, 8, notes).expect("a shader");
        let resources = Resources { bindings: vec![vec![Descriptor::Missing]], ..Resources::default() };
        let grid = Grid { base: [0; 3], groups: [1; 3] };
        let mut memory = CheckedMemory::new(CheckOptions::default());
        memory.begin_dispatch(DispatchInfo {
            groups: grid.groups,
            workgroup_size: 8,
            placement: program.placement(),
            ..DispatchInfo::default()
        });
        let mut scheduler = ProgressScheduler::new(ProgressModel::Fair, 0);
        let options = ModelledOptions::default();
        modelled::dispatch(&program, &grid, &resources, &mut memory, &mut scheduler, &options).expect("ends");
        let found = memory.end_dispatch();
        let named: Vec<u32> = found
            .iter()
            .filter(|finding| finding.id == FindingId::ImplicitDerivativeDivergence)
            .map(|finding| finding.accesses[0].by.local_index)
            .collect();
        assert_eq!(named, invocations, "{found:?}");
    }
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    let error = |text: &str, subgroup_size| match compiled(text, subgroup_size, false) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{text}"),
    };
    let mode = "               OpExecutionMode %main DerivativeGroupQuadsKHR\n";
    let odd = SAMPLES.replace("LocalSize 4 2 1", "LocalSize 4 3 1");
    let linear = SAMPLES.replace("LocalSize 4 2 1", "LocalSize 3 2 1");
    let linear = linear.replace(mode, &mode.replace("Quads", "Linear"));
    let none = SAMPLES.replace(mode, "");
    assert!(error(&odd, 8).contains("DerivativeGroupQuadsKHR and a workgroup of [4, 3, 1]"));
    assert!(error(&linear, 8).contains("DerivativeGroupLinearKHR and a workgroup of [3, 2, 1]"));
    assert!(error(&none, 8).contains("without DerivativeGroupLinearKHR or -QuadsKHR"));
    assert!(error(SAMPLES, 2).contains("derivative groups in subgroups of 2"));
}
