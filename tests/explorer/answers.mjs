// The page's engine under node. usage: node answers.mjs SOURCE_DIR EXPLORER.html [--seconds] <queries >answers
// Queries are a JSON list of [function, query]; answers are their results, or {"error": sentence}; or what each took.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const [source, page, seconds] = process.argv.slice(2);
// Read as text, so that node takes it for a module whatever lies beside it.
const module = readFileSync(`${source}/explorer/page/wasm.js`, "utf8");
const { startEngine } = await import(`data:text/javascript;base64,${Buffer.from(module).toString("base64")}`);
const html = readFileSync(page, "utf8");
const unpacked = id => gunzipSync(Buffer.from(html.match(new RegExp(`id="${id}">([^<]*)<`))[1].trim(), "base64"));
const engine = await startEngine(unpacked("engine"));
const text = unpacked("text");
engine.load_text(text.buffer.slice(text.byteOffset, text.byteOffset + text.byteLength));

// Files come as texts, or as lists of bytes.
const withBytes = query => {
  for (const file of [query, query.draft ?? {}]) if (file.bytes) file.text = Uint8Array.from(file.bytes);
  return query;
};

const answers = JSON.parse(readFileSync(0, "utf8")).map(([name, query]) => {
  const start = performance.now();
  if (seconds) {
    engine[name](withBytes(query));
    return (performance.now() - start) / 1000;
  }
  try {
    return engine[name](withBytes(query));
  } catch (error) {
    return { error: error.message };
  }
});
process.stdout.write(JSON.stringify(answers));
