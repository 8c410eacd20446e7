/**
 * Formatting within a line or a paragraph: bold, italic, strike-through, code, links. What is not closed stays as it is
 * written: a draft ends wherever the model is just now.
 * https://spec.commonmark.org/0.31.2/#inlines
 */
import { emphasisEnd, opens, runAt } from "./emphasis.ts";
import { codeAt, isEscape } from "./literal.ts";
import { linkAt } from "./link.ts";
import type { Node } from "./node.ts";

/** More than anybody nests. */
const MAX_DEPTH = 8;

export function inlineNodes(text: string, depth = 0): Node[] {
  const nodes: Node[] = [];
  const unclosed = new Set<string>();
  let plain = "";
  for (let at = 0; at < text.length;) {
    const span = depth < MAX_DEPTH ? spanAt(text, at, depth, unclosed) : undefined;
    if (span === undefined) {
      const [literal, end] = literalAt(text, at);
      plain += literal;
      at = end;
    } else {
      if (plain !== "") nodes.push(plain);
      plain = "";
      nodes.push(...span.nodes);
      at = span.end;
    }
  }
  return plain === "" ? nodes : [...nodes, plain];
}

export interface Span {
  readonly nodes: readonly Node[];
  /** Behind its last character. */
  readonly end: number;
}

/** `unclosed`: runs of marks that nothing closes from here on. */
function spanAt(text: string, at: number, depth: number, unclosed: Set<string>): Span | undefined {
  const inner = (part: string): Node[] => inlineNodes(part, depth + 1);
  switch (text[at]) {
    case "`": {
      const code = codeAt(text, at);
      return code && { nodes: [{ kind: "code", text: code.text }], end: code.end };
    }
    case "[":
    case "!":
    case "<":
      return linkAt(text, at, inner);
    case "*":
    case "_":
    case "~":
      return emphasisAt(text, at, inner, unclosed);
    default:
      return undefined;
  }
}

/** Marks that open nothing are taken together: the rest of them must not open something either. */
function literalAt(text: string, at: number): [literal: string, end: number] {
  if (isEscape(text, at)) return [text[at + 1] as string, at + 2];
  const end = at + Math.max(1, runAt(text, at));
  return [text.slice(at, end), end];
}

const KINDS: Readonly<Record<string, "bold" | "italic" | "strike">> = {
  "*": "italic",
  _: "italic",
  "**": "bold",
  __: "bold",
  "~~": "strike",
};

function emphasisAt(
  text: string,
  at: number,
  inner: (part: string) => Node[],
  unclosed: Set<string>,
): Span | undefined {
  const length = runAt(text, at);
  const run = text.slice(at, at + length);
  const isBoth = run === "***" || run === "___";
  const kind = isBoth ? "bold" : KINDS[run];
  if (kind === undefined || unclosed.has(run) || !opens(text, at, length)) return undefined;
  const end = emphasisEnd(text, at, length);
  if (end === undefined) {
    // Looked for once: a text of nothing but such marks would take the square of its length.
    unclosed.add(run);
    return undefined;
  }
  const children = inner(text.slice(at + length, end - length));
  return { nodes: [{ kind, children: isBoth ? [{ kind: "italic", children }] : children }], end };
}
