// The page shows one of its rooms (views) and keeps its state in the address.
import { element } from "./dom.js";
import { startClient } from "./client.js";
import { stateOf, hashOf } from "./state.js";
import { roundRoom } from "./room_round.js";
import { tokensRoom } from "./room_tokens.js";
import { gammaRoom } from "./room_gamma.js";
import { textRoom } from "./room_text.js";
import { dataRoom } from "./room_data.js";
import { methodsRoom } from "./room_methods.js";

const rooms = { round: roundRoom, tokens: tokensRoom, gamma: gammaRoom, text: textRoom, data: dataRoom, methods: methodsRoom };

const textOf = id => document.getElementById(id).textContent;
const { ask, started } = startClient(textOf("worker"), { engine: textOf("engine"), text: textOf("text") });

const status = document.getElementById("status");
const fail = error => {
  status.textContent = error.message;
  status.className = "bad";
};
const quiet = () => {
  status.textContent = "";
  status.className = "";
};
addEventListener("unhandledrejection", event => fail(event.reason));

const views = {};
let current = null;

function show() {
  const { room, state } = stateOf(rooms, location.hash);
  const changedRoom = !current || current.room !== room;
  if (changedRoom && current) views[current.room].leave?.();
  quiet();
  current = { room, state };
  for (const [name, { section, link }] of Object.entries(views)) {
    section.hidden = name !== room;
    if (name === room) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${rooms[room].title} – speclab explorer`;
  views[room].update(state);
}

// Writes the address at most every 100 ms, as browsers limit how often it may change.
let written = null;
function write() {
  written ??= setTimeout(() => {
    written = null;
    history.replaceState(null, "", hashOf(current.room, current.state, rooms[current.room].start));
  }, 100);
}

function makeRooms() {
  const navigation = document.getElementById("rooms");
  const main = document.querySelector("main");
  for (const [name, room] of Object.entries(rooms)) {
    const section = element("section", { id: name, "aria-labelledby": `${name}-title`, hidden: true },
      element("h2", { id: `${name}-title`, tabindex: -1 }, room.title), element("p", {}, room.sentence));
    const link = element("a", { href: `#${name}` }, room.title);
    navigation.append(element("li", {}, link));
    main.append(section);
    const set = changes => {
      current.state = room.mend({ ...current.state, ...changes });
      write();
      quiet();
      views[name].update(current.state);
    };
    views[name] = { section, link, ...room.build(section, { ask, set, fail, state: () => current.state }) };
  }
}

try {
  await started;
  status.textContent = "";
  // Some rooms need lists from the engine for their controls.
  await Promise.all(Object.values(rooms).map(room => room.prepare?.(ask)));
  makeRooms();
  addEventListener("hashchange", () => {
    show();
    document.getElementById(`${current.room}-title`).focus({ preventScroll: true });
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (width === innerWidth) return;
    width = innerWidth;
    views[current.room].update(current.state);
  });
  show();
  document.body.dataset.ready = "yes";
} catch (error) {
  fail(new Error(`The explorer could not start: ${error.message}. It needs a browser with WebAssembly exceptions ` +
    "(Chrome or Edge 95, Firefox 113, Safari 16.4 or newer)."));
}
