/** Each action of the tool, as commands of the program. */
import { type Clock, SvcError } from "@svc/contract";
import {
  type BrowserAction,
  type DriverCall,
  type DriverFile,
  type DriverResult,
  noSuchElement,
  pageUnreachable,
  sizeOf,
  staleRef,
} from "@svc/kit/browser";
import { createReadStream } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionFolder } from "./environment.ts";
import { DIALOG_STATUS, type Page } from "./page.ts";
import {
  type BatchOptions,
  type Command,
  PageStuck,
  type Program,
  type Row,
  failureOf,
  noDownload,
} from "./program.ts";

export interface ActionDeps {
  readonly its: Program;
  readonly page: Page;
  readonly folder: SessionFolder;
  readonly clock: Clock;
  /** Ends the browser at once. */
  kill(): Promise<void>;
}

/** What an action adds to where the browser is. */
type Outcome = Pick<DriverResult, "content" | "file" | "notes">;

interface Running extends ActionDeps {
  readonly call: DriverCall;
  readonly options: BatchOptions;
  /** Runs commands; throws if any of them fails. */
  run(...commands: Command[]): Promise<readonly Row[]>;
}

export async function perform(action: BrowserAction, call: DriverCall, deps: ActionDeps): Promise<DriverResult> {
  const options = { signal: call.signal, timeoutMs: call.timeoutMs };
  let status: Row | undefined;
  const running: Running = {
    ...deps,
    call,
    options,
    async run(...commands) {
      if (commands.length === 0) return [];
      const rows = await deps.its.batch([...commands, DIALOG_STATUS], options);
      const failed = rows.find(({ success }) => !success);
      if (failed !== undefined) throw failureOf(failed);
      status = rows.at(-1);
      return rows;
    },
  };
  const outcome = await outcomeOf(action, running);
  const { tabs: list, ...now } = await deps.page.look(options, status);
  const notes = [...(outcome.notes ?? []), ...(now.notes ?? [])];
  return { ...now, ...outcome, notes, ...(action.action === "tabs" && { tabs: list }) };
}

async function outcomeOf(action: BrowserAction, running: Running): Promise<Outcome> {
  switch (action.action) {
    case "open":
      return open(action.url, running);
    case "tabs":
      return tabs(action, running);
    case "snapshot":
      return snapshot(action, running);
    case "find":
      return find(action, running);
    case "get_text":
      return getText(action.target, running);
    case "wait":
      return wait(action, running);
    case "screenshot":
      return screenshot(action.full_page === true, running);
    case "pdf":
      return pdf(running);
    case "upload":
      return upload(action.target, running);
    case "download":
      return download(action, running);
    default:
      await running.run(...commandsOf(action));
      return {};
  }
}

/** Actions that are one command or two, and need nothing of their answers. */
type Simple = "click" | "fill" | "type" | "press" | "hover" | "scroll" | "select" | "get_title" | "get_url" | "close";

/** None where it is enough to see where the browser is. */
function commandsOf(action: Extract<BrowserAction, { action: Simple }>): readonly Command[] {
  switch (action.action) {
    case "click":
      return [[action.double === true ? "dblclick" : "click", elementOf(action.target)]];
    case "fill":
      return [["fill", elementOf(action.target), action.text]];
    case "type":
      return action.target === undefined
        ? [["keyboard", "type", action.text]]
        : [["type", elementOf(action.target), action.text]];
    case "press":
      return [
        ...(action.target === undefined ? [] : [["focus", elementOf(action.target)] as const]),
        ["press", keyOf(action.key)],
      ];
    case "hover":
      return [["hover", elementOf(action.target)]];
    case "select":
      return [["select", elementOf(action.target), ...action.values]];
    case "scroll":
      return [
        [
          "scroll",
          action.direction ?? "down",
          String(action.pixels ?? 600),
          ...(action.target === undefined ? [] : ["--selector", elementOf(action.target)]),
        ],
      ];
    default:
      return [];
  }
}

/** What the page says: as a tree, in parts, as text. */
type Of<Name> = Extract<BrowserAction, { action: Name }>;

async function snapshot({ target, interactive }: Of<"snapshot">, { run }: Running): Promise<Outcome> {
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

async function find({ by, value, name }: Of<"find">, { run }: Running): Promise<Outcome> {
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

async function getText(target: string | undefined, { run }: Running): Promise<Outcome> {
  const [row] = await run(["get", "text", target === undefined ? "body" : elementOf(target)]);
  return { content: textIn(row?.result["text"]) };
}

const shown = (lines: readonly TreeLine[]): string =>
  lines.map(({ depth, text }) => `${"  ".repeat(depth)}${withRefs(text)}`).join("\n");

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/** A page that has begun to show but waits for a part of itself is a page. */
async function open(url: string, running: Running): Promise<Outcome> {
  await checkPage(running);
  const [row] = await rowsOf(running, ["open", url]);
  if (row === undefined || row.success) return {};
  if (/^Timed out after \d+ms waiting for load/.test(row.error)) return { notes: ["The page is still loading."] };
  if (row.code === "outcome_unknown") {
    await running.kill();
    throw noAnswer();
  }
  // Only a tunnel that the proxy refused can belong to another host than the requested one.
  if (/^Navigation failed: (?!net::ERR_(?:ABORTED|TUNNEL_CONNECTION_FAILED))/.test(row.error))
    throw pageUnreachable(url);
  throw failureOf(row);
}

/** The page before has to answer, or the next one may never come. Throws PageStuck. */
async function checkPage({ its, options }: Running): Promise<void> {
  const [row] = await its.batch([["eval", "1"]], { ...options, timeoutMs: ANSWER_MS });
  const failure = row === undefined || row.success ? undefined : failureOf(row);
  if (failure instanceof PageStuck) throw failure;
}

/** A page may be busy for that long before it is given up for another one. */
const ANSWER_MS = 5000;

async function rowsOf({ its, options, kill }: Running, command: Command): Promise<readonly Row[]> {
  try {
    return await its.batch([command], options);
  } catch (error) {
    options.signal.throwIfAborted();
    // Nothing stops the program from waiting on: its browser is ended with it.
    await kill();
    throw error instanceof PageStuck ? noAnswer() : error;
  }
}

const noAnswer = (): SvcError =>
  new SvcError("REMOTE_TIMEOUT", "The page did not answer within the time limit; the browser was closed.", {
    hint: "Open another page: another browser is started for it.",
  });

async function tabs(
  { op, url, tab }: Extract<BrowserAction, { action: "tabs" }>,
  { run, page, options }: Running,
): Promise<Outcome> {
  if (op === "new") await run(["tab", "new", ...(url === undefined ? [] : [url])]);
  if (op === "switch" || op === "close") {
    // Places may have changed since: a tab has closed itself.
    await page.look(options);
    const id = page.tabId(tab ?? 0);
    if (id === undefined) throw noTab();
    await run(op === "switch" ? ["tab", id] : ["tab", "close", id]);
  }
  return {};
}

const noTab = (): SvcError =>
  new SvcError("BROWSER_FAILED", "There is no tab of this number.", { hint: "tabs list tells the numbers." });

/** In short pieces: the program can't be told to stop waiting, and does nothing else meanwhile. */
async function wait(
  { target, text, seconds }: Extract<BrowserAction, { action: "wait" }>,
  running: Running,
): Promise<Outcome> {
  const { clock, call } = running;
  const until = clock.monotonic() + call.timeoutMs - WAIT_MARGIN_MS;
  if (target !== undefined) await again(["wait", elementOf(target)], until, running);
  // An expression of ours with the text as a value in it: the command's own option would take some texts for options.
  if (text !== undefined) {
    await again(["wait", "--fn", `(document.body?.innerText ?? "").includes(${JSON.stringify(text)})`], until, running);
  }
  if (target === undefined && text === undefined) await clock.sleep((seconds ?? 1) * 1000, call.signal);
  return {};
}

async function again(command: Command, until: number, { its, options, clock }: Running): Promise<void> {
  for (;;) {
    const [row] = await its.batch([[...command, "--timeout", PIECE_MS]], options);
    if (row === undefined || row.success) return;
    if (!row.error.startsWith("Wait timed out") || clock.monotonic() > until) throw failureOf(row);
  }
}

const PIECE_MS = "700";
const WAIT_MARGIN_MS = 4000;

/** The file that comes when an element is clicked, or that is at an address. */
async function download(
  { target, url }: Extract<BrowserAction, { action: "download" }>,
  running: Running,
): Promise<Outcome> {
  const { folder, call, run } = running;
  // What pages have downloaded without being asked is no one's.
  for (const name of await readdir(folder.downloads)) await rm(join(folder.downloads, name), { force: true });
  if (url === undefined) await run(["click", elementOf(target ?? "")]);
  else await ask(url, running);
  const name = await arrived(running);
  return { file: await handedOver(join(folder.downloads, name), name, call.maxFileBytes) };
}

/**
 * In a new tab at the file's own site: browsers obey a link's `download` only within one site. It saves files that the browser
 * would display otherwise.
 */
async function ask(url: string, { its, options }: Running): Promise<void> {
  const script = `(() => { const link = document.createElement("a"); link.href = ${JSON.stringify(url)}; link.download = ""; link.click(); return true; })()`;
  // A site without a page at its root answers with some error, whose origin is as good.
  await its.batch(
    [
      ["tab", "new"],
      ["open", new URL("/", url).href],
      ["eval", script],
    ],
    { ...options, bail: false },
  );
}

/** Waits for a file that is complete. Throws BROWSER_FAILED, TOO_LARGE. */
async function arrived({ folder, call, clock, kill }: Running): Promise<string> {
  const until = clock.monotonic() + call.timeoutMs - MARGIN_MS;
  const begins = clock.monotonic() + BEGIN_MS;
  for (;;) {
    call.signal.throwIfAborted();
    const names = await readdir(folder.downloads);
    const whole = names.find((name) => !name.endsWith(".crdownload") && !name.startsWith(".com."));
    if (whole !== undefined && !names.includes(`${whole}.crdownload`)) return whole;
    if ((await sizeOf(folder.downloads)) > call.maxFileBytes) {
      // The program has no way to stop a download.
      await kill();
      throw new SvcError(
        "TOO_LARGE",
        `The file has more than ${Math.floor(call.maxFileBytes / 1_048_576)} MiB; the browser was closed.`,
      );
    }
    const now = clock.monotonic();
    if (now > until || (names.length === 0 && now > begins)) throw noDownload();
    await clock.sleep(LOOK_MS, call.signal);
  }
}

const LOOK_MS = 100;
const BEGIN_MS = 10_000;
const MARGIN_MS = 3000;

/** Copies stay until the browser is closed: a page reads them when it is submitted. */
async function upload(target: string, { run, folder, call }: Running): Promise<Outcome> {
  const element = elementOf(target);
  const batch = await mkdtemp(join(folder.files, "upload-"));
  const paths: string[] = [];
  for (const [place, { name, bytes }] of call.files.entries()) {
    // Two files of one name are two files.
    await mkdir(join(batch, String(place)));
    const path = join(batch, String(place), name);
    await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
    paths.push(path);
  }
  await run(["upload", element, ...paths]);
  return {};
}

/** Files between the session's folder and the tool: the program writes there, and nowhere else. */
async function screenshot(full: boolean, running: Running): Promise<Outcome> {
  const path = join(running.folder.files, "screenshot.png");
  await running.run(["screenshot", path, ...(full ? ["--full"] : [])]);
  return { file: await handedOver(path, "screenshot.png", running.call.maxFileBytes) };
}

async function pdf(running: Running): Promise<Outcome> {
  const path = join(running.folder.files, "page.pdf");
  await running.run(["pdf", path]);
  return { file: await handedOver(path, "page.pdf", running.call.maxFileBytes) };
}

/** A file that the program has written; it is gone once it was read. Throws TOO_LARGE, BROWSER_FAILED. */
async function handedOver(path: string, name: string, maxBytes: number): Promise<DriverFile> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isFile()) throw new SvcError("BROWSER_FAILED", "agent-browser did not write the file.");
  if (found.size > maxBytes) {
    await rm(path, { force: true });
    throw new SvcError("TOO_LARGE", `The file has more than ${Math.floor(maxBytes / 1_048_576)} MiB.`);
  }
  return {
    name,
    async fill(write) {
      for await (const chunk of createReadStream(path)) await write(chunk as Buffer);
      await rm(path, { force: true });
    },
  };
}

/**
 * A target in the program's form: `@e3`, or a CSS selector. Refuses text that the program would read as an option, a time or
 * something else. Throws BROWSER_FAILED.
 */
function elementOf(target: string): string {
  const word = target.trim();
  if (REF.test(word)) return word;
  if (word === "" || /^[-\d@]/.test(word) || /^(?:text|xpath)=/i.test(word) || word.includes("\0"))
    throw noSuchElement();
  return word;
}

const isRef = (target: string): boolean => REF.test(target.trim());

const REF = /^@e[0-9]{1,9}$/;

/** A key as the program takes it. It presses names that it does not know as if they were keys: they are refused here. */
function keyOf(key: string): string {
  const parts =
    key === "+" || key.endsWith("++") ? [...key.slice(0, -1).split("+").filter(Boolean), "+"] : key.split("+");
  const name = parts.at(-1) ?? "";
  const fits = parts.slice(0, -1).every((part) => MODIFIERS.has(part)) && ([...name].length === 1 || NAMED.test(name));
  if (fits) return key;
  throw new SvcError("BROWSER_FAILED", "There is no such key.", {
    hint: "Keys are named as in KeyboardEvent.key, e.g. Enter, ArrowDown, a; combinations as in Control+a.",
  });
}

const MODIFIERS = new Set(["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]);
const NAMED =
  /^(?:Enter|Tab|Escape|Backspace|Delete|Insert|Space|Home|End|PageUp|PageDown|Arrow(?:Up|Down|Left|Right)|F(?:[1-9]|1[0-9]|2[0-4])|Alt|Control|Meta|Shift|CapsLock|ContextMenu|Pause|PrintScreen)$/;

/** The program's snapshot: a line for each node, two spaces for each level, e.g. `- link "Learn more" [ref=e1]`. */
interface TreeLine {
  readonly depth: number;
  /** Without its indentation. */
  readonly text: string;
  readonly role: string;
  /** Empty without one. */
  readonly name: string;
  /** What stands behind the colon, e.g. the text in a field. */
  readonly value: string;
  /** e.g. `@e1`. */
  readonly ref: string | undefined;
}

function linesOf(snapshot: string): TreeLine[] {
  return snapshot.split("\n").map((line) => {
    const text = line.trimStart();
    const [, role = "", quoted, , attributes = "", value = ""] = NODE.exec(text) ?? [];
    const [, ref] = REF_ATTRIBUTE.exec(attributes) ?? [];
    return {
      depth: Math.floor((line.length - text.length) / 2),
      text,
      role,
      name: quoted === undefined ? "" : unquoted(quoted),
      value,
      ref: ref === undefined ? undefined : `@${ref}`,
    };
  });
}

/** A name is a JSON string, so that a page can't end it early and inject a ref. */
const NODE = /^- ([A-Za-z]+)(?: ("(?:[^"\\]|\\.)*"))?( \[([^\]"]*)\])?(?:: (.*))?$/s;
const REF_ATTRIBUTE = /(?:^|, )ref=(e[0-9]{1,9})(?:,|$)/;

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}

/** The node with a ref, and all below it. */
function subtree(lines: readonly TreeLine[], ref: string): TreeLine[] | undefined {
  const first = lines.findIndex((line) => line.ref === ref);
  const root = lines[first];
  if (root === undefined) return undefined;
  const end = lines.findIndex((line, place) => place > first && line.depth <= root.depth);
  const part = lines.slice(first, end === -1 ? undefined : end);
  return part.map((line) => ({ ...line, depth: line.depth - root.depth }));
}

/** Refs as the tool takes them: `@e1`. */
const withRefs = (text: string): string => text.replaceAll(/(\[|, )ref=(e[0-9]{1,9})(?=[,\]])/g, "$1ref=@$2");
