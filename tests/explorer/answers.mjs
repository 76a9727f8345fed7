// The page's engine under node. usage: node answers.mjs SOURCE_DIR EXPLORER.html <queries >answers
// Queries are a JSON list of [function, query]; answers are their results, or {"error": sentence}.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const [source, page] = process.argv.slice(2);
// Read as text, so that node takes it for a module whatever lies beside it.
const module = readFileSync(`${source}/explorer/page/wasm.js`, "utf8");
const { startEngine } = await import(`data:text/javascript;base64,${Buffer.from(module).toString("base64")}`);
const packed = readFileSync(page, "utf8").match(/id="engine">([^<]*)</)[1];
const engine = await startEngine(gunzipSync(Buffer.from(packed.trim(), "base64")));

const answers = JSON.parse(readFileSync(0, "utf8")).map(([name, query]) => {
  try {
    return engine[name](query);
  } catch (error) {
    return { error: error.message };
  }
});
process.stdout.write(JSON.stringify(answers));
