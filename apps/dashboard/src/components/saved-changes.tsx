/** Saved changes of files and their diffs. */
import type { DiffLine, SettingsVersion } from "@svc/api";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Api } from "../client/api.ts";
import { useServices } from "../services.ts";
import { useAction } from "../state/use-action.ts";
import { type Read, useReader } from "../state/use-reader.ts";
import { t } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Empty, Heading } from "./layout.tsx";
import { Shown } from "./shown.tsx";
import { Actor } from "./text.tsx";
import { Ago } from "./values.tsx";

/** Of the config or of procedures. */
export type SavedChange = Pick<SettingsVersion, "version" | "at" | "by">;

export interface FileDiff {
  /** Undefined where there is one file only. */
  readonly file?: string;
  readonly lines: readonly DiffLine[];
}

export interface UndoPreview {
  /** Revision of the current files: the undo applies to the shown diff only. */
  readonly revision: string;
  readonly files: readonly FileDiff[];
  /** Why it can't be undone. */
  readonly problems?: ComponentChildren;
}

/** How to read one from the API. */
export interface SavedChangesSource {
  /** An undo is posted to `<path>/<version>/undo`. */
  readonly path: string;
  readonly readChange: (api: Api, version: number, signal: AbortSignal) => Promise<readonly FileDiff[]>;
  readonly readUndo: (api: Api, version: number, signal: AbortSignal) => Promise<UndoPreview>;
}

interface SavedChangesProps<Change extends SavedChange> {
  readonly source: SavedChangesSource;
  readonly versions: Read<{ readonly versions: readonly Change[] }>;
  readonly back: ComponentChildren;
  /** Hint in an empty list. */
  readonly hint: string;
  /** Asked before an undo. */
  readonly question: string;
  readonly summary: (change: Change) => ComponentChildren;
  readonly onUndone: () => void;
}

/** The list of saved changes, newest first, each with its diff and an undo. */
export function SavedChanges<Change extends SavedChange>(props: SavedChangesProps<Change>) {
  return (
    <>
      <Heading title={t("common.saved-changes")} start={props.back} />
      <Shown read={props.versions}>
        {({ versions }) =>
          versions.length === 0 ? (
            <Empty title={t("parts.no-saved-changes")}>{props.hint}</Empty>
          ) : (
            versions.map((change) => <Row key={change.version} change={change} {...props} />)
          )
        }
      </Shown>
    </>
  );
}

function Row<Change extends SavedChange>({
  change,
  source,
  question,
  summary,
  onUndone,
}: SavedChangesProps<Change> & { readonly change: Change }) {
  const { version, at, by } = change;
  const [isOpen, setOpen] = useState(false);
  const [isAsking, setAsking] = useState(false);
  return (
    <details class="setting-item" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {summary(change)}{" "}
        <span class="hint">
          <Ago at={at} />, <Actor>{by}</Actor>
        </span>
      </summary>
      {isOpen && <Changed source={source} version={version} />}
      <Button label={t("parts.undo-change", { version })} onPress={() => setAsking(true)}>
        {t("common.undo")}
      </Button>
      {isAsking && (
        <UndoDialog
          source={source}
          version={version}
          question={question}
          onClose={(isDone) => {
            setAsking(false);
            if (isDone) onUndone();
          }}
        />
      )}
    </details>
  );
}

interface VersionProps {
  readonly source: SavedChangesSource;
  readonly version: number;
}

function Changed({ source: { path, readChange }, version }: VersionProps) {
  const read = useReader(`${path} ${version}`, [], (api, signal) => readChange(api, version, signal));
  return <Shown read={read}>{(files) => <FileDiffs files={files} />}</Shown>;
}

function FileDiffs({ files }: { readonly files: readonly FileDiff[] }) {
  if (files.length === 0) return <p class="hint">{t("parts.nothing-in-the-files-changes")}</p>;
  return (
    <>
      {files.map(({ file, lines }) => (
        <div key={file}>
          {file !== undefined && (
            <p>
              <code>{file}</code>
            </p>
          )}
          <Diff lines={lines} />
        </div>
      ))}
    </>
  );
}

interface UndoDialogProps extends VersionProps {
  readonly question: string;
  readonly onClose: (isDone: boolean) => void;
}

function UndoDialog({ source: { path, readUndo }, version, question, onClose }: UndoDialogProps) {
  const { api } = useServices();
  const preview = useReader(`undo ${path} ${version}`, [], (reading, signal) => readUndo(reading, version, signal));
  const undo = useAction(async () => {
    const body = { revision: preview.data?.revision };
    await api.call(`${path}/${version}/undo`, { method: "POST", body });
  });
  const confirm = async (): Promise<void> => {
    if (await undo.run()) onClose(true);
  };
  return (
    <Dialog
      title={question}
      action={t("common.undo")}
      busy={undo.isRunning}
      error={undo.error}
      onConfirm={() => void confirm()}
      onClose={() => onClose(false)}
    >
      <Shown read={preview}>
        {({ files, problems }) => (
          <>
            <FileDiffs files={files} />
            {problems}
          </>
        )}
      </Shown>
    </Dialog>
  );
}

/** What a change does to a file, line by line. */
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
