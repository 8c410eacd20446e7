/** Unsaved changes, the diff before saving, and the undo afterwards. */
import type { SettingsProblem } from "@svc/api";
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Command } from "../../components/layout.tsx";
import { Diff } from "../../components/saved-changes.tsx";
import { Problem } from "../../components/shown.tsx";
import { ServiceText } from "../../components/text.tsx";
import { rich, t } from "../../texts/texts.ts";
import type { SettingsEditor } from "./draft.ts";
import { sentence } from "./field.tsx";

export function SaveBar({ settings }: { readonly settings: SettingsEditor }) {
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
            {saved?.version === null ? t("settings.the-file-says-so-already") : t("settings.saved-and-in-force")}{" "}
            {saved !== undefined && saved.restart.length > 0 && (
              <>
                {rich("settings.in-force-after", {
                  restart: <code>{saved.restart.join(", ")}</code>,
                  command: <Command>svc restart</Command>,
                })}
              </>
            )}
          </p>
          {saved?.version !== null && (
            <Button busy={undo.isRunning} onPress={() => void undo.run()}>
              {t("common.undo")}
            </Button>
          )}
          <Problem error={undo.error} />
        </>
      ) : (
        <>
          <p>{unwritable ?? t("settings.n-changes", { n: draft.size })}</p>
          <Button onPress={settings.discard}>{t("common.discard")}</Button>
          <Button kind="main" disabled={unwritable !== null || preview === undefined} onPress={() => setOpen(true)}>
            {t("settings.review-changes")}
          </Button>
        </>
      )}
      {isOpen && draft.size > 0 && (
        <Dialog
          title={t("settings.save-these-changes")}
          action={t("common.save")}
          kind="main"
          busy={save.isRunning}
          error={save.error}
          onConfirm={() => void confirm()}
          onClose={() => {
            save.clear();
            setOpen(false);
          }}
        >
          <p class="hint">{rich("settings.this-is-written-to-comments", { file: <code>{read.data?.file}</code> })}</p>
          {preview === undefined ? <p class="reading">{t("common.checking")}</p> : <Diff lines={preview.diff} />}
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
          {line !== null && `${t("settings.line", { line: String(line) })} `}
          {key !== "" && <code>{key}</code>} <ServiceText>{sentence(message, allowed)}</ServiceText>
          {guess !== null && <> {rich("settings.did-you-mean", { guess: <code>{guess}</code> })}</>}
          {env !== null && <code> {env}</code>}
        </li>
      ))}
    </ul>
  );
}
