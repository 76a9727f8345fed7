// Elements, controls and other parts that all rooms (views) share.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// Formats a number for readers. The full digits are in the element's title.
export function shown(value, digits = 4) {
  if (value === undefined || value === null) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  return String(Number(value.toPrecision(digits)));
}

let controls = 0;

// Makes a labelled slider. `set` gets its value as a number while it moves.
export function slider({ label, least, most, step, format = shown, set }) {
  const id = `control-${++controls}`;
  const input = element("input", { id, type: "range", min: least, max: most, step });
  const output = element("output", { for: id });
  const show = value => {
    output.textContent = format(value);
    input.setAttribute("aria-valuetext", format(value));
  };
  input.addEventListener("input", () => {
    show(Number(input.value));
    set(Number(input.value));
  });
  const box = element("div", { class: "control" }, element("label", { for: id }, label), input, output);
  return {
    box,
    input,
    show(value) {
      if (Number(input.value) !== value) input.value = value;
      show(value);
    },
    limits(least, most, step) {
      Object.assign(input, { min: least, max: most, step });
    },
    rename(text) {
      box.firstChild.textContent = text;
    },
  };
}

// Makes sliders for the numbers of a state: labels { name: label } and their ranges { name: [least, most, step] }.
export function sliders(labels, ranges, set) {
  const made = Object.entries(labels).map(([name, label]) => {
    const [least, most, step] = ranges[name];
    return [name, slider({ label, least, most, step, set: value => set({ [name]: value }) })];
  });
  return {
    boxes: made.map(([, { box }]) => box),
    show(state) { for (const [name, control] of made) control.show(state[name]); },
  };
}

export function choice({ label, options = [], set }) {
  const id = `control-${++controls}`;
  const select = element("select", { id });
  const offer = options => select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
  offer(options);
  select.addEventListener("change", () => set(select.value));
  return {
    box: element("div", { class: "control" }, element("label", { for: id }, label), select),
    offer,
    show(value) { select.value = value; },
  };
}

export function wholeNumber({ label, least, most, set }) {
  const id = `control-${++controls}`;
  const input = element("input", { id, type: "number", min: least, max: most, step: 1 });
  input.addEventListener("change", () => {
    const value = Math.round(Number(input.value));
    if (Number.isFinite(value)) set(Math.min(most, Math.max(least, value)));
  });
  return {
    box: element("div", { class: "control" }, element("label", { for: id }, label), input),
    show(value) { if (Number(input.value) !== value || input.value === "") input.value = value; },
  };
}

export const button = (text, onclick) => element("button", { type: "button", onclick }, text);

// Shows on a button whether what it starts is running.
export function press(start, text, running) {
  start.textContent = text;
  start.setAttribute("aria-pressed", String(running));
}

// Puts parts side by side: [title, ...elements] each.
export const columns = (...parts) => element("div", { class: "columns" },
  ...parts.map(([title, ...content]) => element("div", {}, element("h3", {}, title), ...content)));

// Makes a legend of colours, [class, text] each.
export const legendOf = entries => element("div", { class: "legend" },
  ...entries.map(([kind, text]) => element("span", {}, element("i", { class: kind }), text)));

// Returns a word for a shell, quoted if needed.
export const shellWord = word => (/^[\w.,:\/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export function copied(name) {
  const code = element("code", { tabindex: 0, "aria-label": name });
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      copy.textContent = "Selected";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  });
  return { code, box: element("div", { class: "shell" }, code, copy) };
}

// Makes a box with a command and a Python call to copy, and a sentence that says what they give.
export function commandBox() {
  const shell = copied("command");
  const python = copied("Python call");
  const about = element("p", {});
  const box = element("div", { class: "command" }, about, shell.box, python.box);
  return {
    box,
    show(command, call, ...sentence) {
      about.replaceChildren(...(sentence.length ? sentence : ["The same numbers from the program, and from Python:"]));
      shell.code.textContent = command;
      python.code.textContent = call;
    },
  };
}

// Makes a list of names and values in two columns.
export function facts(entries) {
  const list = element("dl", { class: "facts" });
  for (const [name, value, kind] of entries) {
    const text = typeof value === "number" ? shown(value, 6) : value ?? "–";
    list.append(element("dt", {}, name),
      element("dd", { class: kind, title: typeof value === "number" ? value : undefined }, text));
  }
  return list;
}

// Formats [value, low, high]. Bounds are infinite or missing if the error is unknown.
export const interval = ([value, low, high]) => (Number.isFinite(low) && Number.isFinite(high) ? `${shown(value, 5)} (${shown(low)} to ${shown(high)})` : shown(value, 5));

// Makes a link that saves a file.
export const saveLink = (name, content, text) => element("a", { href: URL.createObjectURL(new Blob([content])), download: name }, text);

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
