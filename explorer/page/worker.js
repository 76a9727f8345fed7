// The worker: unpacks and starts the engine, then answers { id, name, query } with { id, result } or { id, error }.
import { startEngine } from "./wasm.js";

let engine = null;
let text = null;

async function unpacked(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

onmessage = async ({ data }) => {
  try {
    if (data.name === "start") {
      engine = await startEngine(await unpacked(data.query.engine));
      text = await unpacked(data.query.text);
      engine.load_text(text);
      postMessage({ id: data.id, result: {} });
    } else if (data.name === "excerpt") {
      postMessage({ id: data.id, result: text });
    } else {
      postMessage({ id: data.id, result: engine[data.name](data.query) });
    }
  } catch (error) {
    postMessage({ id: data.id, error: error.message });
  }
};
