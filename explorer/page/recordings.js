// The recording that rooms 4 and 5 show: the last dropped one, or the shipped one.
import { recordedSequences } from "./recorded_example.js";

const encoder = new TextEncoder();

// Returns the shipped sequences as a recording in CSV (docs/recordings.md).
function shippedText() {
  const lines = recordedSequences.flatMap(({ task, rows }, sequence) => rows.split("\n").map((row, position) => {
    const [token, logp, logq] = row.split("\t");
    return `${sequence},${position},"${token.replaceAll('"', '""')}",${logp},${logq},${task}`;
  }));
  return `${["sequence,position,token,logp,logq,task", ...lines].join("\n")}\n`;
}
const shipped = { name: "neural_pair.csv", text: encoder.encode(shippedText()), column: "" };
let dropped = null;

export const shippedRecording = () => shipped;
export const currentRecording = () => dropped ?? shipped;
export function keepRecording(file) { dropped = file; }

// Returns the tokens of a recording in CSV or JSON lines, as written in the file; empty for other formats.
export function recordedTokens(file) {
  const lines = new TextDecoder().decode(file.text).split("\n").filter(line => line.trim() !== "");
  if (lines[0]?.startsWith("{")) return lines.map(line => String(JSON.parse(line).token ?? ""));
  const at = (lines[0] ?? "").split(",").map(name => name.trim()).indexOf("token");
  if (at < 0) return [];
  const field = /("(?:[^"]|"")*"|[^,]*)(?:,|$)/g;
  return lines.slice(1).map(line => {
    const fields = [...line.matchAll(field)].map(match => match[1]);
    const text = fields[at] ?? "";
    return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
  });
}
