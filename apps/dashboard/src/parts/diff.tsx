/** What a change does to a file, line by line. */
import { t } from "../texts/texts.ts";

export interface DiffLine {
  readonly kind: "same" | "added" | "removed" | "gap";
  readonly line: number;
  readonly text: string;
}

export function Diff({ lines }: { readonly lines: readonly DiffLine[] }) {
  if (lines.length === 0) return <p class="hint">{t("parts.nothing-in-the-file-changes")}</p>;
  return (
    <div class="config-diff" role="region" aria-label={t("parts.changes-of-the-file")} tabIndex={0}>
      {lines.map(({ kind, line, text }, index) => {
        const meaning = MEANINGS[kind];
        return (
          <div key={index} class={`diff-line ${kind}`}>
            <span class="diff-number" aria-hidden="true">
              {kind === "gap" ? "" : line}
            </span>
            <span aria-hidden="true">{SIGNS[kind]}</span>
            <span class="unseen">{meaning && `${t(meaning)} `}</span>
            <bdi>{text}</bdi>
          </div>
        );
      })}
    </div>
  );
}

const SIGNS = { same: " ", added: "+", removed: "−", gap: "⋯" } as const;
const MEANINGS = {
  same: undefined,
  added: "parts.line-added",
  removed: "parts.line-removed",
  gap: undefined,
} as const;
