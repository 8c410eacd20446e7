/**
 * Reads the small part of the shell language whose meaning is the same in every `sh` and known before it runs: words,
 * quotes, lists, pipelines and plain redirections. Anything else is `unclear`, and an unclear line asks a person. The
 * test runs whatever is called clear under the real shell and looks at what was executed.
 */
export interface Word {
  readonly text: string;
  /** An unquoted `*`, `?` or `[`: the shell replaces the word by file names. */
  readonly glob: boolean;
  /** An unquoted `~`: the shell may replace it by a home folder. */
  readonly tilde: boolean;
}

export interface SimpleCommand {
  readonly words: readonly Word[];
  /** Files that are opened; `2>&1` and the like open none. */
  readonly redirects: readonly Word[];
}

export type ParsedLine =
  | {
      readonly commands: readonly SimpleCommand[];
      /** All of the line, each word in quotes: two lines that have it in common do the same, comments and spacing apart. */
      readonly canonical: string;
    }
  | { readonly unclear: string };

export function parseLine(line: string): ParsedLine {
  try {
    const tokens: string[] = [];
    return { commands: commandsOf(line, tokens), canonical: tokens.join(" ") };
  } catch (error) {
    if (error instanceof Unclear) return { unclear: error.message };
    throw error;
  }
}

class Unclear extends Error {}

const MAX_LINE_CHARS = 16_384;

interface Cursor {
  readonly line: string;
  at: number;
  readonly tokens: string[];
}

/** `tokens`: takes words in quotes and operators, in their order. */
function commandsOf(line: string, tokens: string[]): SimpleCommand[] {
  if (line.length > MAX_LINE_CHARS) throw new Unclear("The line is very long.");
  const cursor: Cursor = { line, at: 0, tokens };
  const commands: SimpleCommand[] = [];
  let joined = false; // after | && ||: another command must follow
  for (;;) {
    skipBlanks(cursor);
    const command = commandAt(cursor);
    if (command) commands.push(command);
    const operator = operatorAt(cursor);
    if (operator === "\n" && !command) continue;
    if (!command && (joined || operator !== "")) throw new Unclear("The line has an operator without a command.");
    joined = operator === "|" || operator === "&&" || operator === "||";
    if (operator === "") return commands;
    // A line break ends a command as a semicolon does.
    tokens.push(operator === "\n" ? ";" : operator);
  }
}

/** Blanks, a comment, and a continued line, which counts only between words: elsewhere it could glue operators together. */
function skipBlanks(cursor: Cursor): void {
  for (;;) {
    const here = cursor.line[cursor.at];
    if (here === " " || here === "\t") cursor.at += 1;
    else if (here === "\\" && cursor.line[cursor.at + 1] === "\n") {
      if (!/[ \t]/.test(cursor.line[cursor.at - 1] ?? " ")) throw new Unclear("A line is continued inside a word.");
      cursor.at += 2;
    } else if (here === "#") {
      const end = cursor.line.indexOf("\n", cursor.at);
      cursor.at = end === -1 ? cursor.line.length : end;
    } else return;
  }
}

/** The operator that ends a command: "\n", ";", "&", "|", "&&", "||", or "" at the end. */
function operatorAt(cursor: Cursor): string {
  const rest = cursor.line.slice(cursor.at, cursor.at + 2);
  if (rest === "") return "";
  if (rest === "&&" || rest === "||") {
    cursor.at += 2;
    return rest;
  }
  if (rest === ";;" || rest === ";&" || rest === "|&" || rest === "&>")
    throw new Unclear("The line uses a rare operator.");
  cursor.at += 1;
  return rest.slice(0, 1);
}

function commandAt(cursor: Cursor): SimpleCommand | undefined {
  const words: Word[] = [];
  const redirects: Word[] = [];
  for (;;) {
    const here = cursor.line[cursor.at];
    if (here === undefined || "\n;&|".includes(here)) break;
    const redirect = redirectAt(cursor);
    if (redirect === undefined) words.push(noted(cursor, wordAt(cursor)));
    else if (redirect !== "none") redirects.push(redirect);
    skipBlanks(cursor);
  }
  return words.length === 0 && redirects.length === 0 ? undefined : { words, redirects };
}

/** The file a redirection opens, `none` when it copies a descriptor, undefined when there is no redirection here. */
function redirectAt(cursor: Cursor): Word | "none" | undefined {
  const match = /^([0-9]*)(<<|<>|<&|>&|>>|>\||<|>)/.exec(cursor.line.slice(cursor.at, cursor.at + 8));
  if (!match) return undefined;
  const [whole, descriptor = "", operator = ""] = match;
  // Shells disagree about 12>file; a here-document brings text of its own, with expansions in it.
  if (descriptor.length > 1 || operator === "<<")
    throw new Unclear("The line uses a here-document or a rare redirection.");
  cursor.at += whole.length;
  while (/[ \t]/.test(cursor.line[cursor.at] ?? "")) cursor.at += 1;
  const next = cursor.line[cursor.at];
  if (next === undefined || "\n;&|<>#\\".includes(next)) throw new Unclear("A redirection has no plain target.");
  const start = cursor.at;
  const target = wordAt(cursor);
  cursor.tokens.push(whole);
  noted(cursor, target);
  if (!operator.endsWith("&")) return target;
  // `>&file` writes a file in some shells: only digits and - are descriptors everywhere.
  if (!/^(?:[0-9]|-)$/.test(cursor.line.slice(start, cursor.at)))
    throw new Unclear("The line uses a rare redirection.");
  return "none";
}

/** Patterns are told from words that only look like them. */
function noted({ tokens }: Cursor, word: Word): Word {
  tokens.push(`${word.glob ? "*" : ""}${word.tilde ? "~" : ""}${JSON.stringify(word.text)}`);
  return word;
}

function wordAt(cursor: Cursor): Word {
  let text = "";
  let glob = false;
  let tilde = false;
  for (;;) {
    const here = cursor.line[cursor.at];
    if (here === undefined || " \t\n;&|<>".includes(here)) break;
    cursor.at += 1;
    if (here === "'") text += singleQuoted(cursor);
    else if (here === '"') text += doubleQuoted(cursor);
    else if (here === "\\") text += escaped(cursor);
    else {
      glob ||= "*?[".includes(here);
      tilde ||= here === "~";
      text += plain(here);
    }
  }
  if (/^[0-9]+$/.test(text) && /[<>]/.test(cursor.line[cursor.at] ?? "")) {
    throw new Unclear("The line uses a here-document or a rare redirection.");
  }
  return { text, glob: glob && text !== "[", tilde };
}

function singleQuoted(cursor: Cursor): string {
  const end = cursor.line.indexOf("'", cursor.at);
  if (end === -1) throw new Unclear("A quote is not closed.");
  const text = printable(cursor.line.slice(cursor.at, end));
  cursor.at = end + 1;
  return text;
}

function doubleQuoted(cursor: Cursor): string {
  let text = "";
  for (;;) {
    const here = cursor.line[cursor.at];
    if (here === undefined) throw new Unclear("A quote is not closed.");
    cursor.at += 1;
    if (here === '"') return text;
    if (here === "$" || here === "`") throw new Unclear(SUBSTITUTION);
    if (here !== "\\") {
      text += printable(here);
      continue;
    }
    const next = cursor.line[cursor.at] ?? "";
    if (next === "\n") throw new Unclear("A line is continued inside a word.");
    const special = next !== "" && '$`"\\'.includes(next);
    text += special ? next : "\\";
    if (special) cursor.at += 1;
  }
}

function escaped(cursor: Cursor): string {
  const next = cursor.line[cursor.at];
  if (next === undefined || next === "\n") throw new Unclear("A line is continued inside a word.");
  cursor.at += 1;
  return plainAscii(next);
}

function plain(char: string): string {
  if (char === "$" || char === "`") throw new Unclear(SUBSTITUTION);
  if ("(){}".includes(char)) throw new Unclear("The line uses groups, functions or braces.");
  return plainAscii(char);
}

/** Some shells take single bytes of other scripts for blanks. */
function plainAscii(char: string): string {
  if (char > "\u007E" || char < " ") throw new Unclear("The line has unusual characters outside quotes.");
  return char;
}

/** NUL ends the line early, a carriage return hides the rest of it from whoever is asked. */
function printable(text: string): string {
  if (/[^\P{Cc}\t\n]/u.test(text)) throw new Unclear("The line has control characters.");
  return text;
}

const SUBSTITUTION = "The line uses variables or command substitution, whose result is not known before it runs.";
