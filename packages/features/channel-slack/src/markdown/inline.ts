/** Text of one block, as runs. */
import { type Inline, type Link, plainOf } from "@svc/kit/markdown";
import type { Run, Style } from "./types.ts";

export function runsOf(inlines: readonly Inline[], style: Style = {}): Run[] {
  const runs: Run[] = [];
  for (const run of inlines.flatMap((inline) => ofOne(inline, style))) add(runs, run);
  return runs;
}

function ofOne(inline: Inline, style: Style): Run[] {
  switch (inline.kind) {
    case "text":
      return [{ ...style, text: inline.text }];
    case "break":
      return [{ ...style, text: "\n" }];
    case "code":
      // Of nothing but spaces people would see nothing.
      return [
        inline.text.trim() === ""
          ? { ...style, text: `\`${inline.text}\`` }
          : { ...style, text: inline.text, code: true },
      ];
    case "link":
      return linkRuns(inline, style);
    default:
      return runsOf(inline.children, { ...style, [inline.kind]: true });
  }
}

/** What leads nowhere, people read. */
function linkRuns({ url, target, children }: Link, style: Style): Run[] {
  if (url === undefined) {
    const label = runsOf(children, style);
    return target === "" || plainOf(children) === target ? label : [...label, { ...style, text: ` (${target})` }];
  }
  const label = plainOf(children).replaceAll(/\s+/g, " ").trim();
  const safe = url.replaceAll(/["`|]/g, encodeURIComponent);
  return [{ ...style, text: label === "" || label === url ? safe : label, url: safe }];
}

/** Neighbours that look the same are one. */
function add(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  const isSame = last !== undefined && !run.code && !run.url && !last.code && !last.url && looks(last) === looks(run);
  if (isSame) runs[runs.length - 1] = { ...last, text: last.text + run.text };
  else runs.push(run);
}

const looks = ({ bold, italic, strike }: Style): string => [bold, italic, strike].join();
