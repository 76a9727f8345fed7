// Reads and writes the state of the page as the part of the address after "#": "#round&rule=block&gamma=2". Values that are
// as at the start are left out.

const read = (text, like) => {
  if (Array.isArray(like)) {
    const numbers = text.split(",").map(Number);
    return numbers.every(Number.isFinite) && numbers.length > 0 ? numbers : like;
  }
  if (typeof like !== "number") return text;
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : like;
};

// rooms: { name: { start: {...}, mend(state) } }. `mend` changes values that a user typed into allowed ones.
export function stateOf(rooms, hash) {
  const [name, ...rest] = hash.replace(/^#/, "").split("&");
  const room = Object.hasOwn(rooms, name) ? name : Object.keys(rooms)[0];
  const start = rooms[room].start;
  const state = structuredClone(start);
  if (room === name) {
    for (const [key, value] of new URLSearchParams(rest.join("&"))) {
      if (Object.hasOwn(start, key)) state[key] = read(value, start[key]);
    }
  }
  return { room, state: rooms[room].mend(state) };
}

export function hashOf(room, state, start) {
  const changed = Object.entries(state).filter(([key, value]) => Object.hasOwn(start, key) && String(value) !== String(start[key]));
  const words = changed.map(([key, value]) => `${key}=${encodeURIComponent(String(value)).replaceAll("%2C", ",")}`);
  return `#${[room, ...words].join("&")}`;
}

export const within = (value, least, most) => Math.min(most, Math.max(least, value));

// Returns a state's numbers within their ranges { name: [least, most, step] }; whole ones if the step is 1 or more. A value that
// is no number becomes the start's.
export function withinRanges(state, start, ranges) {
  return Object.fromEntries(Object.entries(ranges).map(([name, [least, most, step]]) => {
    const value = Number.isFinite(state[name]) ? within(state[name], least, most) : start[name];
    return [name, step < 1 ? value : Math.round(value)];
  }));
}
