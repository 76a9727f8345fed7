// The compiled engine: calls its functions and reads its records (explorer/engine/record.hpp). Runs in the worker, and
// in the tests under node.

const decoder = new TextDecoder();
const encoder = new TextEncoder();

// Answers the requests of the C++ library to its host. The engine neither prints nor reads files, so every call is refused.
const refused = 52;
const host = new Proxy({}, {
  get: (_, name) => name === "proc_exit" ? code => { throw new Error(`the engine ended with ${code}`); } : () => refused,
});

export async function startEngine(bytes) {
  const module = await WebAssembly.compile(bytes);
  const imports = {};
  for (const { module: from } of WebAssembly.Module.imports(module)) imports[from] = host;
  const { exports: engine } = await WebAssembly.instantiate(module, imports);
  if (engine._initialize) engine._initialize();

  const bytesAt = (at, size) => new Uint8Array(engine.memory.buffer, at, size);

  function record() {
    const names = decoder.decode(bytesAt(engine.names_data(), engine.names_size()));
    let number = engine.numbers_data() / 8;
    let text = engine.text_data();
    const numbers = new Float64Array(engine.memory.buffer);
    const result = {};
    for (const line of names.split("\n")) {
      if (!line) continue;
      const [kind, name, size] = line.split(" ");
      const count = Number(size);
      if (kind === "n") result[name] = numbers[number++];
      else if (kind === "l") result[name] = Array.from(numbers.subarray(number, number += count));
      else {
        const value = decoder.decode(bytesAt(text, count));
        text += count;
        result[name] = kind === "t" ? value : value.split("\n").slice(0, -1);
      }
    }
    return result;
  }

  function done(fine) {
    const result = record();
    if (!fine) throw new Error(result.error);
    return result;
  }

  // Writes texts, or bytes, one after the other; returns their sizes in bytes.
  const textInput = (...texts) => {
    const all = texts.map(text => (typeof text === "string" ? encoder.encode(text) : text));
    let at = engine.reserve_input(all.reduce((sum, bytes) => sum + bytes.length, 0));
    for (const bytes of all) {
      bytesAt(at, bytes.length).set(bytes);
      at += bytes.length;
    }
    return all.map(bytes => bytes.length);
  };

  // Writes a task of room 1: { rule, parameter, gamma, target, draft }; rows have integer weights.
  const roundInput = task => {
    const name = encoder.encode(task.rule);
    const weights = Int32Array.from([...task.target, ...task.draft]);
    const at = engine.reserve_input(weights.byteLength + name.length);
    bytesAt(at, weights.byteLength).set(new Uint8Array(weights.buffer));
    bytesAt(at + weights.byteLength, name.length).set(name);
    return [task.target.length, name.length, task.parameter, task.gamma];
  };

  return {
    list_rules: () => done(engine.list_rules()),
    philox: q => done(engine.philox(q.seed, q.trial, q.round, q.use, q.slot)),
    rows: q => done(engine.rows(...roundInput(q))),
    prove: q => done(engine.prove(...roundInput(q))),
    draws: q => done(engine.draws(...roundInput(q), q.seed, q.round)),
    rounds: q => done(engine.rounds(...roundInput(q), q.seed, q.anew, q.count)),
    predict: q => done(engine.predict(q.alpha, q.c, q.c_hat ?? 0, q.gamma ?? -1)),
    curves: q => done(engine.curves(q.alpha, q.c, q.c_hat ?? 0, q.most)),
    best_by_alpha: q => done(engine.best_by_alpha(q.c)),
    iid_distribution: q => done(engine.iid_distribution(q.alpha, q.gamma)),
    iid_rounds: q => done(engine.iid_rounds(q.alpha, q.gamma, q.seed, q.length, q.anew, q.count)),
    stretches: q => done(engine.stretches(q.easy, q.hard, q.stay, q.gamma)),
    stretch_rounds: q => done(engine.stretch_rounds(q.easy, q.hard, q.stay, q.gamma, q.seed, q.length, q.anew, q.count)),
    list_presets: () => done(engine.list_presets()),
    plan_on_device: q => done(engine.plan_on_device(...textInput(q.device, q.target, q.draft), q.alpha, q.devices, q.batch, q.context)),
    load_text: buffer => {
      bytesAt(engine.reserve_input(buffer.byteLength), buffer.byteLength).set(new Uint8Array(buffer));
      return done(engine.load_text(buffer.byteLength));
    },
    decode_text: q => done(engine.decode_text(...textInput(q.prompt), q.target, q.draft, q.gamma, q.tokens, q.c, q.seed)),
    decode_recording: q => done(engine.decode_recording(...textInput(q.text, q.name, q.column ?? ""), q.sequence, q.gamma, q.tokens, q.c, q.seed)),
    names_in_file: q => done(engine.names_in_file(...textInput(q.text, q.name), q.draft ? 1 : 0)),
    plan_from_file: q => done(engine.plan_from_file(...textInput(q.text, q.name, q.draft?.text ?? "", q.draft?.name ?? "", q.model ?? ""), q.cell ?? 0, q.c)),
  };
}
