/** The two files of a procedure as text, with the lines that are wrong marked. */
import { useEffect, useRef } from "preact/hooks";
import type { SopProblem, SopText } from "./shapes.ts";
import { t } from "../../texts/texts.ts";

export type FileName = "SOP.toml" | "SOP.md";
const FILES: readonly FileName[] = ["SOP.toml", "SOP.md"];

interface Props {
  readonly text: SopText;
  readonly file: FileName;
  readonly onFile: (file: FileName) => void;
  readonly problems: readonly SopProblem[];
  /** A line that is to be shown; another `at`: again. */
  readonly jump: { readonly line: number; readonly at: number } | undefined;
  readonly isReadOnly: boolean;
  readonly onWrite: (text: Partial<SopText>) => void;
}

export function SourcePane({ text, file, onFile, problems, jump, isReadOnly, onWrite }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLPreElement>(null);
  const shown = file === "SOP.toml" ? text.toml : (text.markdown ?? "");
  const lines = shown.split("\n");
  const wrong = new Set(
    problems.flatMap((problem) => (problem.file === file && problem.line !== null ? [problem.line] : [])),
  );
  useEffect(() => {
    const { current } = area;
    if (jump === undefined || current === null) return;
    const start = lines.slice(0, jump.line - 1).reduce((length, line) => length + line.length + 1, 0);
    current.focus();
    current.setSelectionRange(start, start + (lines[jump.line - 1]?.length ?? 0));
    current.scrollTop = Math.max(0, (jump.line - 4) * Number.parseFloat(getComputedStyle(current).lineHeight));
  }, [jump?.at]);
  const write = (value: string): void => {
    if (file === "SOP.toml") onWrite({ toml: value });
    // Blank is as good as none, and there may be steps in SOP.toml.
    else onWrite({ markdown: value === "" ? null : value });
  };
  return (
    <section class="sop-source-pane" aria-label={t("procedures.source")}>
      <div class="sop-files" role="group" aria-label={t("procedures.file")}>
        {FILES.map((one) => (
          <button key={one} type="button" class="chip" aria-pressed={one === file} onClick={() => onFile(one)}>
            {one}
            {problems.some((problem) => problem.file === one) && (
              <span class="unseen"> {t("procedures.has-problems")}</span>
            )}
            {problems.some((problem) => problem.file === one) && <span aria-hidden="true"> •</span>}
          </button>
        ))}
      </div>
      <div class="sop-source">
        <pre ref={gutter} class="sop-gutter" aria-hidden="true">
          {lines.map((_, index) => (
            <span key={index} class={wrong.has(index + 1) ? "bad" : undefined}>
              {`${index + 1}\n`}
            </span>
          ))}
        </pre>
        <textarea
          ref={area}
          class="mono"
          aria-label={file}
          wrap="off"
          spellcheck={false}
          autocapitalize="none"
          readOnly={isReadOnly}
          value={shown}
          onInput={({ currentTarget }) => write(currentTarget.value)}
          onScroll={({ currentTarget }) => {
            if (gutter.current) gutter.current.scrollTop = currentTarget.scrollTop;
          }}
        />
      </div>
    </section>
  );
}
