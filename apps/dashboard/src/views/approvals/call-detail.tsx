/** The effect of a tool call: its command in monospace, file changes as a diff, and other arguments as JSON. */
import type { CallDetail, FileChange } from "../../api/governed-shapes.ts";
import { visible } from "../../text/visible.ts";
import { type PlainKey, rich, t } from "../../texts/texts.ts";

export function Call({ detail, title }: { readonly detail: CallDetail; readonly title: string }) {
  const { command, folder, change, input, reason } = detail;
  return (
    <>
      <p class="hint">{visible(reason)}</p>
      {command !== undefined && (
        <pre class="command" tabIndex={0} role="group" aria-label={t("approvals.command", { title })}>
          <code dir="ltr">{visible(command)}</code>
        </pre>
      )}
      {folder !== undefined && (
        <p class="hint">{rich("approvals.in-the-folder", { folder: <code dir="ltr">{visible(folder)}</code> })}</p>
      )}
      {change && <Change change={change} title={title} />}
      {input !== undefined && (
        <pre class="command" tabIndex={0} role="group" aria-label={t("approvals.arguments", { title })}>
          <code dir="ltr">{visible(input)}</code>
        </pre>
      )}
    </>
  );
}

const BEFORE: Readonly<Partial<Record<FileChange["before"], PlainKey>>> = {
  missing: "approvals.the-file-does-not-exist",
  binary: "approvals.the-file-is-binary-and",
  large: "approvals.the-file-is-too-large",
  unreadable: "approvals.the-file-could-not-be",
};

const BEFORE_APPEND: typeof BEFORE = {
  ...BEFORE,
  binary: "approvals.the-file-is-binary-the",
  large: "approvals.the-file-is-large-the",
};

const KINDS: Readonly<Record<string, string>> = { "+": "added", "-": "removed", "@": "left-out" };

function Change({ change, title }: { readonly change: FileChange; readonly title: string }) {
  const { path, mode, before, lines, added, removed, cut } = change;
  const note = (mode === "append" ? BEFORE_APPEND : BEFORE)[before];
  const sum = {
    added: t("approvals.lines-added", { n: added }),
    rest: mode === "append" ? t("approvals.at-the-end") : t("approvals.lines-removed", { n: removed }),
  };
  return (
    <>
      <p class="change-of">
        <code dir="ltr">{visible(path)}</code> <span class="hint">{t("approvals.line-sum", sum)}</span>
      </p>
      {note !== undefined && <p class="hint">{t(note)}</p>}
      <pre class="command diff" tabIndex={0} role="group" aria-label={t("approvals.change", { title })}>
        {lines.length === 0 && <span class="left-out">{t("approvals.no-line-changes")}</span>}
        {lines.map((line, index) => (
          <span key={index} class={KINDS[line.slice(0, 1)] ?? "same"} dir="ltr">
            {line === "@" ? "…" : visible(line)}
            {"\n"}
          </span>
        ))}
      </pre>
      {cut > 0 && <p class="hint">{t("approvals.lines-cut", { n: cut })}</p>}
    </>
  );
}
