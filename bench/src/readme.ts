/**
 * The tables of `bench/README.md`. Each stands between `<!-- bench:name -->` and `<!-- /bench:name -->`, and what is between
 * them is replaced by a run with `--write`.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const README = resolve(ROOT, "bench/README.md");

/** Tables by the name of their place. */
export function writeTables(tables: ReadonlyMap<string, string>): void {
  let text = readFileSync(README, "utf8");
  for (const [name, table] of tables) text = withTable(text, name, table);
  writeFileSync(README, text);
  const { status, stderr } = spawnSync(resolve(ROOT, "node_modules/.bin/oxfmt"), [README], { encoding: "utf8" });
  if (status !== 0) throw new Error(`bench/README.md was written and could not be formatted: ${stderr}`);
}

/** @throws Error when the text has no such place, or more than one. */
export function withTable(text: string, name: string, table: string): string {
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [before, after, ...others] = text.split(begin);
  const rest = after?.split(end);
  if (before === undefined || rest?.length !== 2 || others.length > 0) {
    throw new Error(`bench/README.md needs one place for the tables of "${name}": ${begin} and, below it, ${end}`);
  }
  return `${before}${begin}\n\n${table}\n\n${end}${rest[1]}`;
}

/** Lines of tables that no run would replace. */
export function handWrittenRows(text: string): string[] {
  return text.replaceAll(/<!-- bench:([a-z-]+) -->.*?<!-- \/bench:\1 -->/gs, "").match(/^\|.*$/gm) ?? [];
}
