/** Lines of an answer that name a file of the workspace: `[IMAGE:charts/june.png]`. In a code block they are only text. */

export interface AnswerLine {
  readonly line: string;
  /** Inside of a code block. */
  readonly isCode: boolean;
  /** What a line that is nothing else names. */
  readonly names: { readonly kind: string; readonly path: string } | undefined;
}

const MARKER = /^\s*\[(IMAGE|AUDIO|VIDEO|DOCUMENT):([^[\]]+)\]\s*$/;
const KINDS = ["IMAGE", "AUDIO", "VIDEO", "DOCUMENT"] as const;

export function linesOf(text: string): AnswerLine[] {
  let isCode = false;
  return text.split("\n").map((line) => {
    if (line.trimStart().startsWith("```")) isCode = !isCode;
    const [, kind, path] = (!isCode && MARKER.exec(line)) || [];
    const names = kind === undefined || path === undefined ? undefined : { kind, path: path.trim() };
    return { line, isCode, names };
  });
}

/** Whether a line that is not complete yet may become one. */
export function isMarkerBegun(line: string): boolean {
  const begun = line.trimStart();
  return KINDS.map((kind) => `[${kind}:`).some(
    (opening) => opening.startsWith(begun) || (begun.startsWith(opening) && !/[[\]]/.test(begun.slice(1))),
  );
}
