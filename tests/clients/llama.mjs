// llama.cpp's Vulkan back end continues a text with the same tokens as its CPU back end:
// node llama.mjs MODEL [flash]. LLAMA_MODULE: where node-llama-cpp is. flash: with flash attention.
import { pathToFileURL } from "node:url";

const [, , modelPath, flash] = process.argv;
const { getLlama } = await import(pathToFileURL(process.env.LLAMA_MODULE));

async function continued(gpu) {
    const llama = await getLlama({ gpu, build: "never", skipDownload: true, logLevel: "error" });
    const used = `${llama.gpu} ${await llama.getGpuDeviceNames()}`;
    const model = await llama.loadModel({ modelPath, gpuLayers: gpu ? "max" : 0 });
    const options = { contextSize: 256, threads: 1, flashAttention: flash === "flash" };
    const context = await model.createContext(options);
    const tokens = [];
    const text = model.tokenize("a text of some words, which a model continues");
    for await (const token of context.getSequence().evaluate(text, { temperature: 0 })) {
        if (tokens.push(token) === 16) break;
    }
    await llama.dispose();
    return [used, tokens.join(" ")];
}

const [, expected] = await continued(false);
const [used, tokens] = await continued("vulkan");
const same = used === "vulkan Pellucid" && tokens === expected;
console.log(`llama.cpp: ${used}, ${tokens}: ${same ? "ok" : `expected ${expected}`}`);
process.exitCode = same ? 0 : 1;
