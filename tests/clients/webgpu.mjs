// One dispatch over 1,000 values through WebGPU: Dawn's, under Node (package webgpu), or wgpu's, under Deno.
const dawn = typeof Deno === 'undefined';
let gpu = globalThis.navigator?.gpu;
if (dawn) {
    const { create, globals } = await import(process.env.WEBGPU_MODULE ?? 'webgpu');
    Object.assign(globalThis, globals);
    gpu = create(['backend=vulkan']);
}
const exit = dawn ? process.exit : Deno.exit;

const adapter = await gpu.requestAdapter();
if (!adapter) {
    console.log('no adapter');
    exit(1);
}
console.log('adapter:', adapter.info.device, adapter.info.description);
if (!adapter.info.description.startsWith('Pellucid')) {
    exit(1);
}
const device = await adapter.requestDevice();
const module = device.createShaderModule({
    code: `
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
var<workgroup> part: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) at: u32) {
    part[at] = select(0u, a[id.x], id.x < arrayLength(&a));
    workgroupBarrier();
    if (id.x < arrayLength(&b)) {
        b[id.x] = part[at] * part[at] + part[63u - at];
    }
}`,
});
const values = Uint32Array.from({ length: 1000 }, (_, n) => n);
const size = values.byteLength;
const source = device.createBuffer({ size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
const target = device.createBuffer({ size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
const read = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
device.queue.writeBuffer(source, 0, values);
const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint: 'main' } });
const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [
        { binding: 0, resource: { buffer: source } },
        { binding: 1, resource: { buffer: target } },
    ],
});
const encoder = device.createCommandEncoder();
const pass = encoder.beginComputePass();
pass.setPipeline(pipeline);
pass.setBindGroup(0, group);
pass.dispatchWorkgroups(Math.ceil(values.length / 64));
pass.end();
encoder.copyBufferToBuffer(target, 0, read, 0, size);
device.queue.submit([encoder.finish()]);
await read.mapAsync(GPUMapMode.READ);
const result = new Uint32Array(read.getMappedRange());
const wrong = values.find((v) => {
    const partner = (v & ~63) + 63 - (v & 63);
    return result[v] !== v * v + (partner < values.length ? partner : 0);
});
console.log(wrong === undefined ? 'webgpu: ok' : `webgpu: wrong at ${wrong}: ${result[wrong]}`);
exit(wrong === undefined ? 0 : 1);
