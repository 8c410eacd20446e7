/**
 * What a page of the guide asks a person to type, and what its author says of it in HTML comments above the block:
 *
 *     <!-- prints: listening on -->        the output has this text; may be repeated
 *     <!-- exits: 1 -->                    it ends with this code, not with 0
 *     <!-- keeps-running: listening on --> it goes on in the background once its output has this text
 *     <!-- types: Name => kitchen -->      it runs at a terminal, and this and Enter are typed when that is seen; may be
 *                                          repeated; Enter and Ctrl-D are those keys alone
 *     <!-- remembers: 123456 = code: (\d{6}) -->  from here on the pages' 123456 is what the output had there
 *     <!-- saved-as: config.toml -->       a file that is no command: it is written, and checked by whoever reads such files
 *     <!-- not-run: why -->                it can't run in a test
 *
 * and, of the page rather than of a block:
 *
 *     <!-- ctrl-c -->                      what keeps running is interrupted, as the text around it says
 *     <!-- stands-in: svc daemon => listening on -->  this runs in the background, as what the page has installed would
 */
export interface Block {
  readonly kind: "block";
  readonly page: string;
  /** Of its first line, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly prints: readonly string[];
  readonly exits: number;
  readonly keepsRunning?: string;
  readonly types: readonly (readonly [prompt: string, answer: string])[];
  readonly remembers: readonly (readonly [name: string, pattern: RegExp])[];
  readonly savedAs?: string;
  readonly notRun?: string;
}

export interface Interrupt {
  readonly kind: "ctrl-c";
  readonly page: string;
  readonly line: number;
}

export type Step = Block | Interrupt;

/** Throws for a comment that is none of these and for one that no block follows: a typo must not turn a test off. */
export function readBlocks(page: string, text: string): Step[] {
  const found: Step[] = [];
  let said: [name: string, value: string][] = [];
  let open:
    | { readonly fence: string; readonly language: string; readonly line: number; readonly body: string[] }
    | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const place = `${page}:${index + 1}`;
    if (open) {
      if (line.trim() === open.fence) {
        found.push(blockOf({ page, line: open.line, language: open.language, text: open.body.join("\n") }, said));
        [open, said] = [undefined, []];
      } else open.body.push(line);
      continue;
    }
    const fence = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(line);
    const comment = /^<!-- (?!Made by)(.*) -->$/.exec(line)?.[1];
    if (fence) open = { fence: fence[1] ?? "", language: fence[2] ?? "", line: index + 2, body: [] };
    else if (comment === "ctrl-c") found.push({ kind: "ctrl-c", page, line: index + 1 });
    else if (comment?.startsWith("stands-in: ")) found.push(standIn(comment, { page, line: index + 1 }));
    else if (comment !== undefined) said.push(directive(comment, place));
    else if (line !== "" && said.length > 0)
      throw new Error(`${place}: a comment above it belongs to a block, and there is none.`);
    else if (line.startsWith("<!--") && comment === undefined && !line.startsWith("<!-- Made by")) {
      throw new Error(`${place}: a comment has one line.`);
    }
  }
  if (open) throw new Error(`${page}:${open.line}: the block does not end.`);
  if (said.length > 0) throw new Error(`${page}: the last comment belongs to a block, and there is none.`);
  return found;
}

const NAMES = ["prints", "exits", "keeps-running", "types", "remembers", "saved-as", "not-run"];

function directive(comment: string, place: string): [string, string] {
  const [, name = "", value = ""] = /^([a-z-]+): (.+)$/.exec(comment) ?? [];
  if (!NAMES.includes(name)) throw new Error(`${place}: "${comment}" is none of ${NAMES.join(", ")}, ctrl-c.`);
  return [name, value];
}

function blockOf(
  where: Pick<Block, "page" | "line" | "language" | "text">,
  said: readonly (readonly [string, string])[],
): Block {
  const all = (name: string): string[] => said.filter(([one]) => one === name).map(([, value]) => value);
  const [keepsRunning, savedAs, notRun] = ["keeps-running", "saved-as", "not-run"].map((name) => all(name)[0]);
  return {
    kind: "block",
    ...where,
    prints: all("prints"),
    exits: exitCode(all("exits")[0] ?? "0"),
    types: all("types").map((value) => halves(value, " => ")),
    remembers: all("remembers").map((value) => {
      const [name, pattern] = halves(value, " = ");
      return [name, new RegExp(pattern, "m")];
    }),
    ...(keepsRunning !== undefined && { keepsRunning }),
    ...(savedAs !== undefined && { savedAs }),
    ...(notRun !== undefined && { notRun }),
  };
}

function exitCode(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new Error(`"${text}" is no exit code.`);
  return Number(text);
}

function standIn(comment: string, where: Pick<Block, "page" | "line">): Block {
  const [text, keepsRunning] = halves(comment.slice("stands-in: ".length), " => ");
  return { ...blockOf({ ...where, language: "sh", text }, []), keepsRunning };
}

function halves(value: string, between: string): [string, string] {
  const at = value.indexOf(between);
  if (at < 0) throw new Error(`"${value}" has no "${between.trim()}".`);
  return [value.slice(0, at), value.slice(at + between.length)];
}
