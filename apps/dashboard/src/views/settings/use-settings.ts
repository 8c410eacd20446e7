/** The settings and a draft of them: read, checked as it changes, saved, undone. */
import { useEffect, useState } from "preact/hooks";
import { useServices } from "../../services.ts";
import { type Action, useAction } from "../../state/use-action.ts";
import { type Read, useList } from "../../state/use-reader.ts";
import { Draft } from "./draft.ts";
import type { Path, Preview, Saved, SettingsProblem, SettingsState } from "./shapes.ts";

export interface Settings {
  readonly read: Read<SettingsState>;
  readonly draft: Draft;
  readonly set: (path: Path, value: unknown) => void;
  readonly replace: (draft: Draft) => void;
  readonly discard: () => void;
  /** Of the draft as it is; undefined while it is being checked. */
  readonly preview: Preview | undefined;
  readonly problems: readonly SettingsProblem[];
  readonly save: Action<[]>;
  readonly undo: Action<[]>;
  /** What was saved last. */
  readonly saved: Saved | undefined;
}

const SOON_MS = 250;

export function useSettings(): Settings {
  const { api } = useServices();
  const read = useList<SettingsState>("/api/settings", []);
  const [draft, setDraft] = useState(() => new Draft());
  const [preview, setPreview] = useState<Preview>();
  const [saved, setSaved] = useState<Saved>();
  const state = read.data;
  useEffect(() => {
    setPreview(undefined);
    if (draft.size === 0) return;
    const call = new AbortController();
    const timer = setTimeout(() => {
      const body = { edits: draft.edits() };
      api
        .call<Preview>("/api/settings/preview", { method: "POST", body, signal: call.signal })
        // Saving reports connection errors.
        .then(setPreview, () => {});
    }, SOON_MS);
    return () => {
      clearTimeout(timer);
      call.abort();
    };
  }, [draft, state?.revision]);
  const save = useAction(async () => {
    const body = { revision: preview?.revision ?? state?.revision, edits: draft.edits() };
    try {
      setSaved(await api.call<Saved>("/api/settings", { method: "PATCH", body }));
      setDraft(new Draft());
    } finally {
      await read.refresh();
    }
  });
  const undo = useAction(async () => {
    const path = `/api/settings/versions/${saved?.version ?? 0}/undo`;
    await api.call(path, { method: "POST", body: { revision: saved?.revision } });
    setSaved(undefined);
    await read.refresh();
  });
  return {
    read,
    draft,
    set: (path, value) => {
      if (state) setDraft((last) => last.set(state, path, value));
    },
    replace: setDraft,
    discard: () => setDraft(new Draft()),
    preview,
    problems: draft.size > 0 ? (preview?.problems ?? []) : (state?.problems ?? []),
    save,
    undo,
    saved,
  };
}
