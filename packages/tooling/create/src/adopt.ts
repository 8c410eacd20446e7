/** A planned feature that gets its package: its table leaves planned.toml, its id moves in the profiles that wait for it. */
import { SvcError } from "@svc/contract";
import { PLANNED_FILE } from "./fixture.ts";

/** New texts of the profile files that change. Comments and the order of everything else stay. */
export function adopt(id: string, profiles: ReadonlyMap<string, string>): Map<string, string> {
  const changes = new Map<string, string>();
  for (const [file, text] of profiles) {
    const changed = file === PLANNED_FILE ? withoutTable(text, id) : moved(text, id, file);
    if (changed !== text) changes.set(file, changed);
  }
  return changes;
}

/** Removes the table's header and keys, and the blank lines before it; comments above the next table are its own. */
function withoutTable(text: string, id: string): string {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.trim() === `[${id}]`);
  if (start < 0) return text;
  let end = start + 1;
  while (end < lines.length && lines[end]?.trim() !== "" && !/^\s*[[#]/.test(lines[end] ?? "")) end += 1;
  while (lines[end]?.trim() === "" && lines[end + 1]?.trim() === "") end += 1;
  const before = lines.slice(0, start);
  while (before.at(-1)?.trim() === "") before.pop();
  return [...before, ...lines.slice(end)].join("\n");
}

function moved(text: string, id: string, file: string): string {
  const planned = listOf(text, "planned", file);
  if (!planned.includes(id)) return text;
  const features = [...listOf(text, "features", file), id].toSorted();
  const without = withList(
    text,
    "planned",
    planned.filter((one) => one !== id),
  );
  return withList(without, "features", features);
}

const pattern = (key: string): RegExp => new RegExp(`^${key} = \\[([^\\]]*)\\]`, "m");

/** Throws INTERNAL for a list that can't be rewritten without losing something. */
function listOf(text: string, key: string, file: string): string[] {
  const body = pattern(key).exec(text)?.[1];
  if (body === undefined) return [];
  if (!/^[\s,]*(?:"[^"\\]*"[\s,]*)*$/.test(body)) {
    throw new SvcError("INTERNAL", `${file} has more than names in the list "${key}".`, {
      hint: `Move the id from "planned" to "features" by hand, then start again.`,
    });
  }
  return [...body.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? "");
}

const WIDTH = 120;

/** On one line where it fits, as the formatter would. */
function withList(text: string, key: string, names: readonly string[]): string {
  const quoted = names.map((name) => JSON.stringify(name));
  const line = `${key} = [${quoted.join(", ")}]`;
  const list = line.length <= WIDTH ? line : `${key} = [\n${quoted.map((name) => `  ${name},\n`).join("")}]`;
  return text.replace(pattern(key), () => list);
}
