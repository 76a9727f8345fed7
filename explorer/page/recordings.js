// The recording that rooms 4 and 5 show: the last that was dropped, or the shipped one where the page was built with it.
import { recordedText } from "./recorded_example.js";

const encoder = new TextEncoder();
const shipped = recordedText ? { name: "example_recording.csv", text: encoder.encode(recordedText), column: "" } : null;
let dropped = null;

export const shippedRecording = () => shipped;
export const currentRecording = () => dropped ?? shipped;
export function keepRecording(file) { dropped = file; }

// The tokens of a recording in CSV or JSON lines, as the file writes them; empty for other formats.
export function recordedTokens(file) {
  const lines = new TextDecoder().decode(file.text).split("\n").filter(line => line.trim() !== "");
  if (lines[0]?.startsWith("{")) return lines.map(line => String(JSON.parse(line).token ?? ""));
  const at = (lines[0] ?? "").split(",").map(name => name.trim()).indexOf("token");
  if (at < 0) return [];
  const field = /("(?:[^"]|"")*"|[^,]*)(?:,|$)/g;
  return lines.slice(1).map(line => {
    const fields = [...line.matchAll(field)].map(match => match[1]);
    const text = (fields[at] ?? "").trim();
    return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
  });
}
