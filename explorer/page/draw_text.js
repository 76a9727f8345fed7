// Describes one draw of a round in words.
import { shown } from "./dom.js";

export const letters = ["a", "b", "c", "d", "e", "f"];
const uses = ["draft", "accept", "replace", "bonus"];

// Returns { text, kind } for draw number `at` of the engine's `draws`.
export function drawText(draws, at) {
  const use = uses[draws.use[at]];
  const u = `u = ${shown(draws.uniform[at], 6)}`;
  const token = letters[draws.result[at]] ?? draws.result[at];
  const probability = shown(draws.probability[at], 4);
  if (use === "draft") return { text: `Draft ${draws.slot[at] + 1}: ${u} draws ${token} (probability ${probability})`, kind: "" };
  if (use === "accept" && draws.categorical[at]) {
    return { text: `Target's choice: ${u} draws ${token} (probability ${probability})`, kind: "" };
  }
  if (use === "accept") {
    const accepted = draws.result[at] === 1;
    return {
      text: `Accept? ${u} is ${accepted ? "below" : "not below"} ${probability}: ${accepted ? "accepted" : "rejected"}`,
      kind: accepted ? "accepted" : "rejected",
    };
  }
  return use === "replace"
    ? { text: `Correction: ${u} draws ${token} (probability ${probability})`, kind: "correction" }
    : { text: `Bonus: ${u} draws ${token} (probability ${probability})`, kind: "bonus" };
}
