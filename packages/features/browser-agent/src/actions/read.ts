/** What the page says: as a tree, in parts, as text. */
import { type BrowserAction, noSuchElement, staleRef } from "@svc/kit/browser";
import { type TreeLine, linesOf, subtree, withRefs } from "./tree.ts";
import type { Outcome, Running } from "./perform.ts";
import { elementOf, isRef } from "./target.ts";

type Of<Name> = Extract<BrowserAction, { action: Name }>;

export async function snapshot({ target, interactive }: Of<"snapshot">, { run }: Running): Promise<Outcome> {
  const only = interactive === true ? ["--interactive"] : [];
  if (target !== undefined && !isRef(target)) {
    const [row] = await run(["snapshot", ...only, "--selector", elementOf(target)]);
    return { content: withRefs(textIn(row?.result["snapshot"])) };
  }
  const [row] = await run(["snapshot", ...only]);
  const lines = linesOf(textIn(row?.result["snapshot"]));
  if (target === undefined) return { content: shown(lines) };
  const part = subtree(lines, target.trim());
  // The program takes only selectors here: the part is cut out of the whole.
  if (part === undefined) throw staleRef();
  return { content: shown(part) };
}

export async function find({ by, value, name }: Of<"find">, { run }: Running): Promise<Outcome> {
  const [row] = await run(["snapshot"]);
  const wanted = folded(value);
  const fits = (line: TreeLine): boolean => {
    if (by === "text") return folded(line.name).includes(wanted) || folded(line.value).includes(wanted);
    if (line.ref === undefined) return false;
    if (by === "label") return FIELDS.has(line.role) && folded(line.name).includes(wanted);
    return folded(line.role) === wanted && (name === undefined || folded(line.name).includes(folded(name)));
  };
  const found = linesOf(textIn(row?.result["snapshot"])).filter(fits);
  if (found.length === 0) throw noSuchElement();
  return { content: shown(found.map((line) => ({ ...line, depth: 0 }))) };
}

/** Roles of what a label belongs to. */
const FIELDS = new Set(
  "textbox searchbox combobox listbox checkbox radio switch slider spinbutton button menuitemcheckbox".split(" "),
);

const folded = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, " ").trim();

export async function getText(target: string | undefined, { run }: Running): Promise<Outcome> {
  const [row] = await run(["get", "text", target === undefined ? "body" : elementOf(target)]);
  return { content: textIn(row?.result["text"]) };
}

const shown = (lines: readonly TreeLine[]): string =>
  lines.map(({ depth, text }) => `${"  ".repeat(depth)}${withRefs(text)}`).join("\n");

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
