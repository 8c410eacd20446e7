/** What is on a page. Texts are cut in the page already: a huge one never comes over whole. */
import { noSuchElement } from "@svc/kit/browser";
import type { Frame, Locator } from "playwright-core";
import { elementOf } from "../session/target.ts";
import type { ActionOf, Place, Told } from "./actions.ts";

export const nothing = async (): Promise<Told> => ({ result: {} });

/** More than the tool tells. */
const MAX_TEXT_CHARS = 100_000;

export async function snapshot(
  { target, interactive }: ActionOf<"snapshot">,
  { tab: { page }, call }: Place,
): Promise<Told> {
  const options = { mode: "ai", timeout: call.timeoutMs, signal: call.signal } as const;
  const root = target === undefined ? page : await elementOf(page, target, call);
  const tree = withRefs(await root.ariaSnapshot(options));
  return { result: { content: interactive === true ? onlyInteractive(tree) : tree } };
}

/** `[ref=e3]` of the library is `@e3` of the tool. */
const withRefs = (tree: string): string => tree.replaceAll(/\[ref=(?=(?:f[0-9]+)?e[0-9]+\])/g, "[ref=@");

const INTERACTIVE: ReadonlySet<string | undefined> = new Set([
  "button",
  "link",
  "textbox",
  "searchbox",
  "checkbox",
  "radio",
  "combobox",
  "listbox",
  "option",
  "menuitem",
  "menuitemcheckbox",
  "menuitemradio",
  "tab",
  "slider",
  "spinbutton",
  "switch",
  "treeitem",
]);

const isInteractive = (line: string): boolean =>
  line.includes("[cursor=pointer]") || (line.includes("[ref=") && INTERACTIVE.has(/^\s*- ['"]?(\w+)/.exec(line)?.[1]));

const onlyInteractive = (tree: string): string =>
  tree
    .split("\n")
    .filter(isInteractive)
    .map((line) => line.trimStart())
    .join("\n");

export async function getText({ target }: ActionOf<"get_text">, { tab: { page }, call }: Place): Promise<Told> {
  const element = target === undefined ? page.locator("body") : await elementOf(page, target, call);
  const content = await element.evaluate(
    (node, max) => ((node as { innerText?: string }).innerText ?? node.textContent ?? "").slice(0, max),
    MAX_TEXT_CHARS,
    { timeout: call.timeoutMs, signal: call.signal },
  );
  return { result: { content } };
}

export async function find(action: ActionOf<"find">, { tab: { page }, call }: Place): Promise<Told> {
  const options = { mode: "ai", timeout: call.timeoutMs, signal: call.signal } as const;
  const found: string[] = [];
  for (const frame of page.frames().slice(0, MAX_FRAMES)) {
    const fitting = locatorOf(frame, action);
    const count = await fitting.count();
    for (let index = 0; index < count && found.length < MAX_FOUND; index += 1) {
      const element = fitting.nth(index);
      if (!(await element.isVisible())) continue;
      found.push(firstLine(withRefs(await element.ariaSnapshot(options))));
    }
  }
  if (found.length === 0) throw noSuchElement();
  // The last snapshot is the one that refs are of: the whole page again, in which they are the same.
  await page.ariaSnapshot(options);
  return { result: { content: found.join("\n") } };
}

const MAX_FRAMES = 20;
const MAX_FOUND = 20;

const firstLine = (tree: string): string => tree.slice(0, 500).split("\n", 1)[0] ?? "";

function locatorOf(frame: Frame, { by, value, name }: ActionOf<"find">): Locator {
  if (by === "label") return frame.getByLabel(value);
  if (by === "text") return frame.getByText(value);
  return frame.getByRole(value as Parameters<Frame["getByRole"]>[0], name === undefined ? {} : { name });
}
