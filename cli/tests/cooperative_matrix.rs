//! Cooperative matrices through the whole driver, by `pellucid exec`: products of all types against the
//! host's, in each mode and tier and for other subgroup sizes, and what check mode says of how they are
//! accessed.

mod common;

use common::{dumped, errors, exec};
use std::path::PathBuf;
use std::process::Output;

fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// Text of a shader in a file of its own, which lives as long as the first part.
fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shader.spvasm");
    std::fs::write(&path, text).expect("a file");
    (folder, path)
}

/// Modes; the last option is the subgroup size.
const MODES: &[&[&str]] = &[
    &["--mode", "run", "--tier", "interpreter", "--subgroup-size", "32"],
    &["--mode", "run", "--tier", "compiled", "--subgroup-size", "32"],
    &["--mode", "run", "--subgroup-size", "8"],
    &["--mode", "check", "--subgroup-size", "32"],
    &["--mode", "check", "--values", "seeded", "--seed", "5", "--subgroup-size", "4"],
];

fn tiles() -> (String, Vec<f64>) {
    let a: Vec<i32> = (0..1024).map(|i| i * 7 % 5 - 2).collect();
    let b: Vec<i32> = (0..1024).map(|i| i * 5 % 7 - 3).collect();
    let c: Vec<i32> = (0..1024).map(|i| i * 3 % 11).collect();
    let product = |i: usize| (0..32).map(|k| a[i / 32 * 32 + k] * b[i % 32 * 32 + k]).sum::<i32>();
    let d: Vec<f64> = (0..1024).map(|i| f64::from(2 * (product(i) + c[i]) + 1)).collect();
    let arguments = format!(
        "--buffer 0:0=f16x1024={} --buffer 0:1=f16x1024={} --buffer 0:2=f32x1024={} --buffer 0:3=f32x1024 \
         --buffer 0:4=f16x1024 --dump 0:3 --dump 0:4",
        list(&a),
        list(&b),
        list(&c)
    );
    (arguments, d.iter().copied().chain(d.iter().map(|x| -x)).collect())
}

#[test]
fn tiles_through_workgroup_memory() {
    let (arguments, expected) = tiles();
    for options in MODES {
        let output = exec("matrix_tiles.spvasm", options, &arguments);
        assert_eq!(output.status.code(), Some(0), "{options:?}:\n{}", errors(&output));
        assert!(dumped::<f64>(&output) == expected, "{options:?}");
        if options.contains(&"check") {
            assert!(errors(&output).contains("pellucid: 0 findings, 0 suppressed"), "{}", errors(&output));
        }
    }
}

#[test]
fn a_barrier_that_is_left_out_is_a_race_of_the_load() {
    let (arguments, _) = tiles();
    let output =
        exec("matrix_tiles.spvasm", &["--mode", "check"], &format!("--spec 0=0 {arguments} --seed 3"));
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{errors}");
    assert!(errors.contains("error[race-unordered]"), "{errors}");
    assert!(errors.contains("OpCooperativeMatrixLoadKHR %mat_b %bp %u1 %u32 NonPrivatePointer"), "{errors}");
    assert!(errors.contains("both in workgroup variable \"shared\""), "{errors}");
}

/// A type of components: its name in options, and in SPIR-V.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Float(u32),
    Signed(u32),
    Unsigned(u32),
    Bfloat16,
    E4m3,
    E5m2,
}
use Kind::{Bfloat16, E4m3, E5m2, Float, Signed, Unsigned};

impl Kind {
    fn bits(self) -> u32 {
        match self {
            Float(bits) | Signed(bits) | Unsigned(bits) => bits,
            Bfloat16 => 16,
            E4m3 | E5m2 => 8,
        }
    }

    fn option(self) -> String {
        match self {
            Float(bits) => format!("f{bits}"),
            Signed(bits) => format!("i{bits}"),
            Unsigned(bits) => format!("u{bits}"),
            // By their bits.
            Bfloat16 => "u16".to_owned(),
            E4m3 | E5m2 => "u8".to_owned(),
        }
    }

    /// A number as it comes back: of bfloat16 by its bits, rounded.
    fn rounded(self, number: i128) -> i128 {
        let bits = (number as f32).to_bits();
        if self == Bfloat16 { i128::from((bits + 0x7fff + (bits >> 16 & 1)) >> 16) } else { number }
    }

    /// Of the type in a shader.
    fn name(self) -> String {
        match self {
            Bfloat16 => "bf16".to_owned(),
            E4m3 => "e4m3".to_owned(),
            E5m2 => "e5m2".to_owned(),
            other => other.option(),
        }
    }

    /// A number as a buffer takes it.
    fn encoded(self, number: i128) -> i128 {
        const OF_E4M3: [i128; 9] = [0, 0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c, 0x4e, 0x50];
        const OF_E5M2: [i128; 5] = [0, 0x3c, 0x40, 0x42, 0x44];
        let sign = if number < 0 { 0x80 } else { 0 };
        match self {
            Bfloat16 => i128::from((number as f32).to_bits() >> 16),
            E4m3 => sign | OF_E4M3[number.unsigned_abs() as usize],
            E5m2 => sign | OF_E5M2[number.unsigned_abs() as usize],
            _ => number,
        }
    }

    fn spirv(self) -> String {
        match self {
            Float(bits) => format!("OpTypeFloat {bits}"),
            Signed(bits) => format!("OpTypeInt {bits} 1"),
            Unsigned(bits) => format!("OpTypeInt {bits} 0"),
            Bfloat16 => "OpTypeFloat !16 !0".to_owned(),
            E4m3 => "OpTypeFloat !8 !4214".to_owned(),
            E5m2 => "OpTypeFloat !8 !4215".to_owned(),
        }
    }

    fn range(self) -> (i128, i128) {
        match self {
            Float(_) | Bfloat16 | E4m3 => (-8, 8),
            E5m2 => (-4, 4),
            Signed(bits) => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
            Unsigned(bits) => (0, (1 << bits) - 1),
        }
    }

    /// A number of the type: the `i`th.
    fn number(self, i: usize) -> i128 {
        let (least, most) = self.range();
        let random = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        least + i128::from(random) % (most - least + 1)
    }
}

/// d = a b + c, of which a is row-major with rows 3 components apart, b column-major with a stride that is
/// loaded, c row-major, d column-major.
fn product(kinds: [Kind; 3], [m, n, k]: [usize; 3], saturating: bool) -> String {
    // Of floats it says nothing.
    let signed = |kind: Kind, bit: u32| if matches!(kind, Signed(_) | Float(32)) { bit } else { 0 };
    let [a, b, c] = kinds;
    let operands = signed(a, 1) | signed(b, 2) | signed(c, 4 | 8) | if saturating { 0x10 } else { 0 };
    let names = [
        "MatrixASignedComponentsKHR",
        "MatrixBSignedComponentsKHR",
        "MatrixCSignedComponentsKHR",
        "MatrixResultSignedComponentsKHR",
        "SaturatingAccumulationKHR",
    ];
    let flags: Vec<&str> = (0..5).filter(|bit| operands >> bit & 1 == 1).map(|bit| names[bit]).collect();
    let mut types: Vec<Kind> = vec![Unsigned(32)];
    for kind in kinds {
        if !types.contains(&kind) {
            types.push(kind);
        }
    }
    let name = Kind::name;
    let mut text = String::from(
        "OpCapability Shader
         OpCapability Float16
         OpCapability Float64
         OpCapability Int8
         OpCapability Int16
         OpCapability Int64
         OpCapability StorageBuffer8BitAccess
         OpCapability StorageBuffer16BitAccess
         OpCapability VulkanMemoryModel
         OpCapability CooperativeMatrixKHR
         OpCapability BFloat16CooperativeMatrixKHR
         OpCapability Float8CooperativeMatrixEXT
         OpExtension \"SPV_KHR_cooperative_matrix\"
         OpMemoryModel Logical Vulkan
         OpEntryPoint GLCompute %main \"main\" %a %b %c %d %s
         OpExecutionModeId %main LocalSizeId %size %one %one
         OpDecorate %size SpecId 0\n",
    );
    for (k, buffer) in ["a", "b", "c", "d", "s"].iter().enumerate() {
        text += &format!("OpDecorate %{buffer} DescriptorSet 0\nOpDecorate %{buffer} Binding {k}\n");
    }
    for kind in &types {
        let name = name(*kind);
        text += &format!(
            "OpDecorate %{name}_array ArrayStride {}\nOpMemberDecorate %{name}_block 0 Offset 0
             OpDecorate %{name}_block Block\n",
            kind.bits() / 8
        );
    }
    text += "%void = OpTypeVoid\n%entry = OpTypeFunction %void\n";
    for kind in &types {
        let name = name(*kind);
        text += &format!(
            "%{name} = {}\n%{name}_array = OpTypeRuntimeArray %{name}\n%{name}_block = OpTypeStruct %{name}_array
             %{name}_p = OpTypePointer StorageBuffer %{name}
             %{name}_blocks = OpTypePointer StorageBuffer %{name}_block\n",
            kind.spirv()
        );
    }
    let constants = [("zero", 0), ("one", 1), ("two", 2), ("scope", 3), ("m", m), ("n", n), ("k", k)];
    for (constant, value) in constants.iter().chain(&[("a_stride", k + 3)]) {
        text += &format!("%{constant} = OpConstant %u32 {value}\n");
    }
    text += "%size = OpSpecConstant %u32 32\n";
    let buffers = [("a", a), ("b", b), ("c", c), ("d", c), ("s", Unsigned(32))];
    for (buffer, kind) in buffers {
        text += &format!("%{buffer} = OpVariable %{}_blocks StorageBuffer\n", name(kind));
    }
    let matrices =
        [("mat_a", a, "m", "k", "zero"), ("mat_b", b, "k", "n", "one"), ("mat_c", c, "m", "n", "two")];
    for (matrix, kind, rows, columns, matrix_use) in matrices {
        let kind = name(kind);
        text += &format!(
            "%{matrix} = OpTypeCooperativeMatrixKHR %{kind} %scope %{rows} %{columns} %{matrix_use}\n"
        );
    }
    text += "%main = OpFunction %void None %entry\n%start = OpLabel\n";
    for (buffer, kind) in buffers {
        text += &format!("%{buffer}_at = OpAccessChain %{}_p %{buffer} %zero %zero\n", name(kind));
    }
    text += &format!(
        "%stride = OpLoad %u32 %s_at
         %va = OpCooperativeMatrixLoadKHR %mat_a %a_at %zero %a_stride
         %vb = OpCooperativeMatrixLoadKHR %mat_b %b_at %one %stride
         %vc = OpCooperativeMatrixLoadKHR %mat_c %c_at %zero %n
         %vd = OpCooperativeMatrixMulAddKHR %mat_c %va %vb %vc {}
         OpCooperativeMatrixStoreKHR %d_at %vd %one %m
         OpReturn\nOpFunctionEnd\n",
        flags.join("|")
    );
    text
}

/// The product on the host, column-major.
fn expected(kinds: [Kind; 3], [m, n, k]: [usize; 3], saturating: bool) -> Vec<i128> {
    let [a, b, c] = kinds;
    let at = |row: usize, column: usize| {
        let sum: i128 =
            (0..k).map(|x| a.number(row * (k + 3) + x) * b.number(column * (k + 1) + x)).sum::<i128>();
        let sum = sum + c.number(row * n + column);
        let (least, most) = c.range();
        match c {
            Float(_) | Bfloat16 | E4m3 | E5m2 => sum,
            _ if saturating => sum.clamp(least, most),
            _ => (sum - least).rem_euclid(1 << c.bits()) + least,
        }
    };
    (0..n)
        .flat_map(|column| (0..m).map(move |row| (row, column)))
        .map(|(row, column)| at(row, column))
        .collect()
}

#[test]
fn products_of_all_types() {
    let cases: &[([Kind; 3], [usize; 3], bool)] = &[
        ([Float(16), Float(16), Float(32)], [16, 16, 16], false),
        ([Float(16), Float(16), Float(16)], [16, 8, 8], false),
        ([Float(32), Float(32), Float(32)], [16, 16, 16], false),
        ([Float(64), Float(64), Float(64)], [16, 16, 16], false),
        ([Signed(8), Signed(8), Signed(32)], [16, 16, 32], false),
        ([Signed(8), Signed(8), Signed(32)], [16, 16, 16], true),
        ([Unsigned(8), Unsigned(8), Unsigned(32)], [8, 16, 32], false),
        ([Unsigned(8), Signed(8), Signed(32)], [16, 16, 16], false),
        ([Signed(8), Signed(8), Signed(8)], [16, 16, 16], true),
        ([Unsigned(8), Unsigned(8), Unsigned(8)], [16, 16, 16], false),
        ([Signed(16), Signed(16), Signed(32)], [16, 16, 16], true),
        ([Unsigned(16), Unsigned(16), Unsigned(16)], [16, 16, 16], false),
        ([Signed(32), Signed(32), Signed(32)], [16, 16, 16], false),
        ([Unsigned(32), Unsigned(32), Unsigned(32)], [16, 16, 16], false),
        ([Bfloat16, Bfloat16, Float(32)], [16, 16, 16], false),
        ([E4m3, E4m3, Float(32)], [16, 16, 16], false),
        ([E5m2, E5m2, Float(16)], [16, 16, 16], false),
        ([Bfloat16, Bfloat16, Bfloat16], [16, 8, 8], false),
    ];
    for &(kinds, [m, n, k], saturating) in cases {
        let (_folder, shader) = written(&product(kinds, [m, n, k], saturating));
        let buffer = |binding: usize, kind: Kind, count: usize| {
            let numbers: Vec<i128> = (0..count).map(|i| kind.encoded(kind.number(i))).collect();
            format!("--buffer 0:{binding}={}x{count}={} ", kind.option(), list(&numbers))
        };
        let [a, b, c] = kinds;
        let arguments = buffer(0, a, m * (k + 3))
            + &buffer(1, b, n * (k + 1))
            + &buffer(2, c, m * n)
            + &format!("--buffer 0:3={}x{} --buffer 0:4=u32x1={} --dump 0:3", c.option(), m * n, k + 1);
        let expected: Vec<f64> =
            expected(kinds, [m, n, k], saturating).into_iter().map(|x| c.rounded(x) as f64).collect();
        for options in MODES {
            let size = options[options.len() - 1];
            let output = exec(&shader, options, &format!("--spec 0={size} {arguments}"));
            let what = format!("{:?} {m}x{n}x{k} {options:?}", kinds.map(Kind::option));
            assert_eq!(output.status.code(), Some(0), "{what}:\n{}", errors(&output));
            let found = dumped::<f64>(&output);
            let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
            let shown = differs.map(|k| (k, found[k], expected[k]));
            assert_eq!((found.len(), shown), (expected.len(), None), "{what}");
        }
    }
}

#[test]
fn sums_of_floats_are_added_in_order() {
    let kinds = [Float(32); 3];
    let (m, n, k) = (16, 16, 16);
    let (_folder, shader) = written(&product(kinds, [m, n, k], false));
    let number = |i: usize| (i as f32 * 0.37).sin() * 10f32.powi(i as i32 % 7 - 3);
    let numbers = |count: usize| (0..count).map(number).collect::<Vec<f32>>();
    let arguments = format!(
        "--buffer 0:0=f32x304={} --buffer 0:1=f32x272={} --buffer 0:2=f32x256={} --buffer 0:3=f32x256 \
         --buffer 0:4=u32x1=17 --dump 0:3",
        list(&numbers(304)),
        list(&numbers(272)),
        list(&numbers(256))
    );
    let at = |row: usize, column: usize| {
        (0..k).fold(number(row * n + column), |sum, x| {
            sum + number(row * (k + 3) + x) * number(column * (k + 1) + x)
        })
    };
    let expected: Vec<f32> = (0..256).map(|i| at(i % m, i / m)).collect();
    for options in MODES {
        let size = options[options.len() - 1];
        let output = exec(&shader, options, &format!("--spec 0={size} {arguments}"));
        let found: Vec<f32> = dumped::<f64>(&output).into_iter().map(|x| x as f32).collect();
        assert!(found == expected, "{options:?}\n{}", errors(&output));
    }
}

/// The product of bytes, with the lines between the loads and the product, and after it, replaced.
fn bytes(loads: &str) -> String {
    let text = product([Signed(8), Signed(8), Signed(32)], [16, 16, 16], false);
    let line = "%va = OpCooperativeMatrixLoadKHR %mat_a %a_at %zero %a_stride\n";
    assert!(text.contains(line));
    text.replace(line, loads)
}

const BYTES: &str = "--buffer 0:0=i8x304 --buffer 0:1=i8x272 --buffer 0:2=i32x256=iota \
                     --buffer 0:3=i32x256 --buffer 0:4=u32x1=17";

#[test]
fn a_component_that_nothing_has_written_is_followed_through_a_product() {
    let variable = |stored: &str| {
        let text = bytes(&format!("{stored}%va = OpLoad %mat_a %var\n"));
        let text = text.replace("%main = ", "%mats = OpTypePointer Function %mat_a\n%main = ");
        text.replace("%start = OpLabel\n", "%start = OpLabel\n%var = OpVariable %mats Function\n")
    };
    let whole = "%init = OpCooperativeMatrixLoadKHR %mat_a %a_at %zero %a_stride\nOpStore %var %init\n";
    let part = "%ones = OpTypePointer Function %i8\n";
    let parts: String = (0..7)
        .map(|k| {
            let index = ["zero", "one", "two", "scope", "four", "five", "six"][k];
            format!("%to{k} = OpAccessChain %ones %var %{index}\nOpStore %to{k} %i8_1\n")
        })
        .collect();
    let constants = "%four = OpConstant %u32 4\n%five = OpConstant %u32 5\n%six = OpConstant %u32 6\n\
                     %i8_1 = OpConstant %i8 1\n";
    let partly = variable(&parts).replace("%main = ", &format!("{part}{constants}%main = "));
    for (text, finding) in [(variable(whole), false), (variable(""), true), (partly, true)] {
        let (_folder, shader) = written(&text);
        let output = exec(&shader, &["--mode", "check"], BYTES);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(if finding { 66 } else { 0 }), "{errors}");
        assert_eq!(errors.contains("error[uninitialised-read]"), finding, "{errors}");
    }
}

#[test]
fn what_lies_outside_of_a_buffer_is_named_and_zero() {
    let (_folder, shader) =
        written(&bytes("%va = OpCooperativeMatrixLoadKHR %mat_a %a_at %zero %a_stride\n"));
    let short = BYTES.replace("0:0=i8x304", "0:0=i8x290");
    let output = exec(&shader, &["--mode", "check"], &short);
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{errors}");
    assert!(errors.contains("error[out-of-bounds]"), "{errors}");
    assert!(errors.contains("%va = OpCooperativeMatrixLoadKHR"), "{errors}");
}

#[test]
fn a_matrix_may_be_loaded_from_words() {
    // A row is 5 words, of which 4 are the matrix's.
    let loads = "%words = OpAccessChain %u32_p %w %zero %zero\n\
                 %five = OpIAdd %u32 %two %scope\n\
                 %va = OpCooperativeMatrixLoadKHR %mat_a %words %zero %five\n";
    let text = bytes(loads)
        .replace("%main \"main\" %a", "%main \"main\" %w")
        .replace("OpDecorate %a Binding 0", "OpDecorate %w DescriptorSet 0\nOpDecorate %w Binding 0")
        .replace("OpDecorate %a DescriptorSet 0\n", "")
        .replace("%a = OpVariable %i8_blocks StorageBuffer", "%w = OpVariable %u32_blocks StorageBuffer")
        .replace("%a_at = OpAccessChain %i8_p %a %zero %zero\n", "");
    let (_folder, shader) = written(&text);
    let a = |i: usize| (i * 37 % 251) as u8 as i8;
    let words: Vec<u32> =
        (0..80).map(|w| u32::from_le_bytes(std::array::from_fn(|byte| a(4 * w + byte) as u8))).collect();
    let b: Vec<i32> = (0..272).map(|i| i * 11 % 256 - 128).collect();
    let arguments = format!(
        "--buffer 0:0=u32x80={} --buffer 0:1=i8x272={} --buffer 0:2=i32x256 --buffer 0:3=i32x256 \
         --buffer 0:4=u32x1=17 --dump 0:3",
        list(&words),
        list(&b)
    );
    let at = |row: usize, column: usize| {
        (0..16).map(|x| i32::from(a(row * 20 + x)) * b[column * 17 + x]).sum::<i32>()
    };
    let expected: Vec<f64> = (0..256).map(|i| f64::from(at(i % 16, i / 16))).collect();
    for mode in ["run", "check"] {
        let output = exec(&shader, &["--mode", mode], &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        assert!(dumped::<f64>(&output) == expected, "{mode}");
    }
}

/// A tile that is stored is loaded again, by the same subgroup, and stored where another was loaded from.
fn stored_and_loaded(between: &str) -> Output {
    let text = bytes("%va = OpCooperativeMatrixLoadKHR %mat_a %a_at %zero %a_stride\n")
        .replace("%c_at %zero %n", "%c_at %zero %n NonPrivatePointer")
        .replace(
            "%d_at %vd %one %m\n",
            &format!(
                "%d_at %vd %one %m NonPrivatePointer\n{between}
                 %ve = OpCooperativeMatrixLoadKHR %mat_c %d_at %one %m NonPrivatePointer
                 OpCooperativeMatrixStoreKHR %c_at %ve %one %m NonPrivatePointer\n"
            ),
        )
        .replace("%main = ", "%sem = OpConstant %u32 0x6048\n%main = ");
    let (_folder, shader) = written(&text);
    exec(&shader, &["--mode", "check"], &format!("{BYTES} --dump 0:2"))
}

#[test]
fn a_tile_that_a_subgroup_stores_and_loads_needs_a_barrier() {
    let output = stored_and_loaded("");
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{errors}");
    assert!(errors.contains("error[race-unordered]"), "{errors}");
    assert!(errors.contains("%ve = OpCooperativeMatrixLoadKHR %mat_c %d_at"), "{errors}");
    assert!(errors.contains("OpCooperativeMatrixStoreKHR %d_at %vd"), "{errors}");
    // The tile of c is written after the subgroup loaded it, as products in place do.
    assert!(errors.contains("warning[race-same-subgroup]"), "{errors}");
    assert!(errors.contains("OpCooperativeMatrixStoreKHR %c_at %ve"), "{errors}");
}

/// The most natural order of a fill is that in which a device may deal out the components.
#[test]
fn a_tile_that_the_lanes_fill_needs_a_barrier_whichever_fill_which_component() {
    // The invocation's own component: row lane / 16, column lane % 16; or that of the last lane first.
    for from in ["OpIAdd %u32 %lane %zero", "OpISub %u32 %thirty_one %lane"] {
        for (barrier, races) in [("", true), ("OpControlBarrier %scope %scope %sem\n", false)] {
            let text = bytes(&format!(
                "%lane = OpLoad %u32 %lane_of
                 %fills = {from}
                 %row = OpUDiv %u32 %fills %sixteen
                 %column = OpUMod %u32 %fills %sixteen
                 %rows = OpIMul %u32 %row %a_stride
                 %at = OpIAdd %u32 %rows %column
                 %filled = OpAccessChain %i8_p %a %zero %at
                 OpStore %filled %i8_7 NonPrivatePointer
                 {barrier}
                 %va = OpCooperativeMatrixLoadKHR %mat_a %a_at %zero %a_stride NonPrivatePointer\n"
            ))
            .replace("%a %b %c %d %s", "%a %b %c %d %s %lane_of")
            .replace("OpDecorate %size SpecId 0", "OpDecorate %size SpecId 0\nOpDecorate %lane_of BuiltIn LocalInvocationIndex")
            .replace(
                "%main = ",
                "%sem = OpConstant %u32 0x6048\n%sixteen = OpConstant %u32 16\n%thirty_one = OpConstant %u32 31
                 %i8_7 = OpConstant %i8 7\n%inputs = OpTypePointer Input %u32\n%lane_of = OpVariable %inputs Input
                 %main = ",
            );
            let (_folder, shader) = written(&text);
            let output = exec(&shader, &["--mode", "check"], BYTES);
            let errors = errors(&output);
            assert_eq!(output.status.code(), Some(if races { 66 } else { 0 }), "{from}:\n{errors}");
            assert_eq!(errors.contains("error[race-unordered]"), races, "{from}:\n{errors}");
        }
    }
}

#[test]
fn with_a_barrier_of_the_subgroup_it_is_right() {
    let output = stored_and_loaded("OpControlBarrier %scope %scope %sem\n");
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let transposed: Vec<f64> = (0..256).map(|i| f64::from(i % 16 * 16 + i / 16)).collect();
    assert!(dumped::<f64>(&output) == transposed);
}

#[test]
fn all_invocations_of_the_subgroup_execute_the_same() {
    let load = "%va = OpCooperativeMatrixLoadKHR %mat_a %a_at %zero STRIDE\n";
    let part = "%lane = OpLoad %u32 %id
                %few = OpULessThan %bool %lane %m
                OpSelectionMerge %after None
                OpBranchConditional %few %some %after\n%some = OpLabel
                %vp = OpCooperativeMatrixLoadKHR %mat_a %a_at %zero %a_stride
                OpBranch %after\n%after = OpLabel\n";
    let all = load.replace("STRIDE", "%a_stride");
    let own = format!("%lane = OpLoad %u32 %id\n{}", load.replace("STRIDE", "%lane"));
    for (loads, line) in [(all.clone(), ""), (part.to_owned() + &all, "%vp ="), (own, "%va =")] {
        let text = bytes(&loads)
            .replace("%main \"main\"", "%main \"main\" %id")
            .replace("OpDecorate %size", "OpDecorate %id BuiltIn SubgroupLocalInvocationId\nOpDecorate %size")
            .replace("OpCapability Float16", "OpCapability Float16\nOpCapability GroupNonUniform")
            .replace(
                "%main = ",
                "%bool = OpTypeBool\n%ids = OpTypePointer Input %u32\n%id = OpVariable %ids Input\n%main = ",
            );
        let (_folder, shader) = written(&text);
        let output = exec(&shader, &["--mode", "check"], BYTES);
        let errors = errors(&output);
        let found = !line.is_empty();
        assert_eq!(output.status.code(), Some(if found { 66 } else { 0 }), "{errors}");
        assert_eq!(errors.contains("error[cooperative-matrix-divergence]"), found, "{errors}");
        assert!(errors.contains(line), "{errors}");
    }
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    let text = product([Float(32); 3], [16, 16, 16], false);
    let cases = [
        (text.replace("%scope = OpConstant %u32 3", "%scope = OpConstant %u32 2"), "which is not Subgroup"),
        (text.replace("%m = OpConstant %u32 16", "%m = OpConstant %u32 9"), "of 9 rows and 16 columns"),
        (product([Float(16); 3], [8, 8, 8], false), "of 8 rows and 8 columns, use 0"),
        (
            product([Float(16), Float(16), Signed(32)], [16, 16, 16], false),
            "OpCooperativeMatrixMulAddKHR of 16x16x16 of FLOAT16, FLOAT16, SINT32, SINT32: no",
        ),
        (
            product([Signed(8); 3], [16, 16, 16], false),
            "of 16x16x16 of SINT8, SINT8, SINT8, SINT8: no VkCooperativeMatrixPropertiesKHR",
        ),
        (
            product([Float(32); 3], [16, 16, 16], true),
            "FLOAT32, FLOAT32, FLOAT32, FLOAT32, with SaturatingAccumulationKHR: no",
        ),
        (
            text.replace("%one %one\n", "%two %one\n")
                .replace("%size = OpSpecConstant %u32 32", "%size = OpSpecConstant %u32 16"),
            "VUID-VkPipelineShaderStageCreateInfo-module-08987",
        ),
        (text.replace("%va %vb %vc", "%vb %va %vc"), "other sizes or uses"),
    ];
    let buffers = (0..4).map(|k| format!("--buffer 0:{k}=f32x304 ")).collect::<String>();
    let buffers = format!("{buffers} --buffer 0:4=u32x1=17");
    for (text, message) in cases {
        let (_folder, shader) = written(&text);
        let output = exec(&shader, &["--mode", "run"], &buffers);
        let errors = errors(&output);
        assert_ne!(output.status.code(), Some(0), "{errors}");
        assert!(errors.contains(message), "{message}: {errors}");
    }
}
