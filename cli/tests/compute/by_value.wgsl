@group(0) @binding(0) var<storage, read_write> out: array<vec3<f32>>;

fn scaled(at: vec3<f32>, by: f32) -> vec3<f32> {
    let twice = by * 2.0;
    let moved = at + 1.0;
    return moved * twice;
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let by = f32(i) + 0.5;
    let first = scaled(vec3<f32>(by, 1.0, 2.0), 3.0);
    let second = scaled(first, by);
    out[i] = second + first;
}
