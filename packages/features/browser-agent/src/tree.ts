/** The program's snapshot: a line for each node, two spaces for each level, e.g. `- link "Learn more" [ref=e1]`. */
export interface TreeLine {
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

export function linesOf(snapshot: string): TreeLine[] {
  return snapshot.split("\n").map((line) => {
    const text = line.trimStart();
    const [, role = "", quoted, , attributes = "", value = ""] = NODE.exec(text) ?? [];
    const [, ref] = REF.exec(attributes) ?? [];
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
const REF = /(?:^|, )ref=(e[0-9]{1,9})(?:,|$)/;

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}

/** The node with a ref, and all below it. */
export function subtree(lines: readonly TreeLine[], ref: string): TreeLine[] | undefined {
  const first = lines.findIndex((line) => line.ref === ref);
  const root = lines[first];
  if (root === undefined) return undefined;
  const end = lines.findIndex((line, place) => place > first && line.depth <= root.depth);
  const part = lines.slice(first, end === -1 ? undefined : end);
  return part.map((line) => ({ ...line, depth: line.depth - root.depth }));
}

/** Refs as the tool takes them: `@e1`. */
export const withRefs = (text: string): string => text.replaceAll(/(\[|, )ref=(e[0-9]{1,9})(?=[,\]])/g, "$1ref=@$2");
