/** What is not saved yet, the diff before it is, and the way back afterwards. */
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Command } from "../../parts/empty.tsx";
import { Name } from "../../parts/name.tsx";
import { Problem } from "../../parts/problem.tsx";
import { sentence } from "./field.tsx";
import type { DiffLine, SettingsProblem } from "./shapes.ts";
import type { Settings } from "./use-settings.ts";

export function SaveBar({ settings }: { readonly settings: Settings }) {
  const { draft, preview, read, save, undo, saved } = settings;
  const [isOpen, setOpen] = useState(false);
  const unwritable = read.data?.unwritable ?? null;
  const confirm = async (): Promise<void> => {
    if (await save.run()) setOpen(false);
  };
  if (draft.size === 0 && saved === undefined) return null;
  return (
    <div class="save-bar" role="status">
      {draft.size === 0 ? (
        <>
          <p>
            {saved?.version === null ? "The file says so already." : "Saved and in force."}{" "}
            {saved !== undefined && saved.restart.length > 0 && (
              <>
                <code>{saved.restart.join(", ")}</code>: in force after <Command>svc restart</Command>.
              </>
            )}
          </p>
          {saved?.version !== null && (
            <Button busy={undo.isRunning} onPress={() => void undo.run()}>
              Undo
            </Button>
          )}
          <Problem error={undo.error} />
        </>
      ) : (
        <>
          <p>{unwritable ?? (draft.size === 1 ? "1 change" : `${draft.size} changes`)}</p>
          <Button onPress={settings.discard}>Discard</Button>
          <Button kind="main" disabled={unwritable !== null || preview === undefined} onPress={() => setOpen(true)}>
            Review changes
          </Button>
        </>
      )}
      {isOpen && draft.size > 0 && (
        <Dialog
          title="Save these changes?"
          action="Save"
          kind="main"
          busy={save.isRunning}
          error={save.error}
          onConfirm={() => void confirm()}
          onClose={() => {
            save.clear();
            setOpen(false);
          }}
        >
          <p class="hint">
            This is written to <code>{read.data?.file}</code>; comments and everything else in it stay.
          </p>
          {preview === undefined ? <p class="reading">Checking…</p> : <Diff lines={preview.diff} />}
          <Problems problems={preview?.problems ?? []} />
        </Dialog>
      )}
    </div>
  );
}

export function Problems({ problems }: { readonly problems: readonly SettingsProblem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul class="setting-problems" role="alert">
      {problems.map(({ key, message, line, allowed, did_you_mean: guess, env }) => (
        <li key={`${key} ${message}`}>
          {line !== null && `Line ${line}: `}
          {key !== "" && <code>{key}</code>} <Name>{sentence(message, allowed)}</Name>
          {guess !== null && (
            <>
              {" "}
              Did you mean <code>{guess}</code>?
            </>
          )}
          {env !== null && <code> {env}</code>}
        </li>
      ))}
    </ul>
  );
}

const SIGNS = { same: " ", added: "+", removed: "−", gap: "⋯" } as const;
const MEANINGS = { same: "", added: "added: ", removed: "removed: ", gap: "" } as const;

export function Diff({ lines }: { readonly lines: readonly DiffLine[] }) {
  if (lines.length === 0) return <p class="hint">Nothing in the file changes.</p>;
  return (
    <div class="config-diff" role="region" aria-label="Changes of the file" tabIndex={0}>
      {lines.map(({ kind, line, text }, index) => (
        <div key={index} class={`diff-line ${kind}`}>
          <span class="diff-number" aria-hidden="true">
            {kind === "gap" ? "" : line}
          </span>
          <span aria-hidden="true">{SIGNS[kind]}</span>
          <span class="unseen">{MEANINGS[kind]}</span>
          <bdi>{text}</bdi>
        </div>
      ))}
    </div>
  );
}
