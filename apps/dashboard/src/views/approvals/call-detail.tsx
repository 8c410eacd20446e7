/** What a tool call would do: its command in monospace, what it writes as a diff, and anything else of it as JSON. */
import type { CallDetail, FileChange } from "../../api/governed-shapes.ts";
import { count } from "../../text/words.ts";
import { visible } from "../../text/visible.ts";

export function Call({ detail, title }: { readonly detail: CallDetail; readonly title: string }) {
  const { command, folder, change, input, reason } = detail;
  return (
    <>
      <p class="hint">{visible(reason)}</p>
      {command !== undefined && (
        <pre class="command" tabIndex={0} role="group" aria-label={`Command: ${title}`}>
          <code dir="ltr">{visible(command)}</code>
        </pre>
      )}
      {folder !== undefined && (
        <p class="hint">
          In the folder <code dir="ltr">{visible(folder)}</code>
        </p>
      )}
      {change && <Change change={change} title={title} />}
      {input !== undefined && (
        <pre class="command" tabIndex={0} role="group" aria-label={`Arguments: ${title}`}>
          <code dir="ltr">{visible(input)}</code>
        </pre>
      )}
    </>
  );
}

const BEFORE: Readonly<Record<FileChange["before"], string>> = {
  text: "",
  missing: "The file does not exist yet.",
  binary: "The file is binary and is not shown. All of it is replaced by the lines below.",
  large: "The file is too large to compare. All of it is replaced by the lines below.",
  unreadable: "The file could not be read, so there is nothing to compare with.",
};

const BEFORE_APPEND: typeof BEFORE = {
  ...BEFORE,
  binary: "The file is binary. The lines below are added at its end.",
  large: "The file is large. The lines below are added at its end.",
};

const KINDS: Readonly<Record<string, string>> = { "+": "added", "-": "removed", "@": "left-out" };

function Change({ change, title }: { readonly change: FileChange; readonly title: string }) {
  const { path, mode, before, lines, added, removed, cut } = change;
  const note = (mode === "append" ? BEFORE_APPEND : BEFORE)[before];
  const sum = [`${count(added, "line")} added`, ...(mode === "append" ? ["at the end"] : [`${removed} removed`])];
  return (
    <>
      <p class="change-of">
        <code dir="ltr">{visible(path)}</code> <span class="hint">{sum.join(", ")}</span>
      </p>
      {note !== "" && <p class="hint">{note}</p>}
      <pre class="command diff" tabIndex={0} role="group" aria-label={`Change: ${title}`}>
        {lines.length === 0 && <span class="left-out">No line changes.</span>}
        {lines.map((line, index) => (
          <span key={index} class={KINDS[line.slice(0, 1)] ?? "same"} dir="ltr">
            {line === "@" ? "…" : visible(line)}
            {"\n"}
          </span>
        ))}
      </pre>
      {cut > 0 && <p class="hint">{count(cut, "more line")} not shown: read the file before you allow this.</p>}
    </>
  );
}
