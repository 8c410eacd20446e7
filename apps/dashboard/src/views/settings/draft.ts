/** The settings and a draft of them: read, checked as it changes, saved, undone. */
import type { Settings, SettingsEdit, SettingsPreview, SettingsProblem, SettingsSaved } from "@svc/api";
import { useEffect, useState } from "preact/hooks";
import { useServices } from "../../services.ts";
import { type Action, useAction } from "../../state/use-action.ts";
import { type Read, useList } from "../../state/use-reader.ts";
import { type Json, type Path, type SettingValue, keyOf, valueAt } from "./keys.ts";

export interface SettingsEditor {
  readonly read: Read<Settings>;
  readonly draft: Draft;
  readonly set: (path: Path, value: SettingValue | undefined) => void;
  readonly replace: (draft: Draft) => void;
  readonly discard: () => void;
  /** Preview of the current draft; undefined during the check. */
  readonly preview: SettingsPreview | undefined;
  readonly problems: readonly SettingsProblem[];
  readonly save: Action<[]>;
  readonly undo: Action<[]>;
  /** Result of the last save. */
  readonly saved: SettingsSaved | undefined;
}

const DEBOUNCE_MS = 250;

export function useSettings(): SettingsEditor {
  const { api } = useServices();
  const read = useList<Settings>("/api/settings", []);
  const [draft, setDraft] = useState(() => new Draft());
  const [preview, setPreview] = useState<SettingsPreview>();
  const [saved, setSaved] = useState<SettingsSaved>();
  const state = read.data;
  useEffect(() => {
    setPreview(undefined);
    if (draft.size === 0) return;
    const call = new AbortController();
    const timer = setTimeout(() => {
      const body = { edits: draft.edits() };
      api
        .call<SettingsPreview>("/api/settings/preview", { method: "POST", body, signal: call.signal })
        // Saving reports connection errors.
        .then(setPreview, () => {});
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      call.abort();
    };
  }, [draft, state?.revision]);
  const save = useAction(async () => {
    const body = { revision: preview?.revision ?? state?.revision, edits: draft.edits() };
    try {
      setSaved(await api.call<SettingsSaved>("/api/settings", { method: "PATCH", body }));
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

/** Unsaved changes by path. Forms show the file's values with these on top. */
export class Draft {
  readonly #edits: ReadonlyMap<string, SettingsEdit>;

  constructor(edits: ReadonlyMap<string, SettingsEdit> = new Map()) {
    this.#edits = edits;
  }

  get size(): number {
    return this.#edits.size;
  }

  /** Values first: removing an item shifts later items of its list. */
  edits(): SettingsEdit[] {
    const all = [...this.#edits.values()];
    const removed = all.filter((edit) => "remove" in edit).toSorted(byLastIndex);
    return [...all.filter((edit) => !("remove" in edit)), ...removed];
  }

  /** Whether the path or a parent of it is changed. */
  has(path: Path): boolean {
    return this.#around(path) !== undefined;
  }

  value({ values }: Settings, path: Path): Json | undefined {
    const around = this.#around(path);
    if (around === undefined) return valueAt(values, path);
    if ("remove" in around) return undefined;
    return valueAt(around.value, path.slice(around.path.length));
  }

  /** `undefined` removes the key. The file's own value is no change. */
  set(state: Settings, path: Path, value: SettingValue | undefined): Draft {
    const around = this.#around(path);
    if (around !== undefined && !("remove" in around) && around.path.length < path.length) {
      return this.#with({ path: around.path, value: changed(around.value, path.slice(around.path.length), value) });
    }
    const inFile = valueAt(state.values, path);
    const isSecret = state.secrets.includes(keyOf(path));
    if (!isSecret && JSON.stringify(inFile) === JSON.stringify(value)) return this.forget(path);
    return value === undefined ? this.#with({ path, remove: true }) : this.#with({ path, value });
  }

  forget(path: Path): Draft {
    const edits = new Map(this.#edits);
    edits.delete(JSON.stringify(path));
    return new Draft(edits);
  }

  /** New items by index. */
  added(list: Path, from: number): number[] {
    const indexes = this.edits().flatMap((edit) => {
      const index = edit.path[list.length];
      const isOfList = edit.path.length === list.length + 1 && list.every((name, depth) => edit.path[depth] === name);
      return isOfList && typeof index === "number" && index >= from && !("remove" in edit) ? [index] : [];
    });
    return indexes.toSorted((a, b) => a - b);
  }

  #with(edit: SettingsEdit): Draft {
    return new Draft(new Map([...this.#edits, [JSON.stringify(edit.path), edit]]));
  }

  #around(path: Path): SettingsEdit | undefined {
    for (let length = path.length; length > 0; length -= 1) {
      const edit = this.#edits.get(JSON.stringify(path.slice(0, length)));
      if (edit) return edit;
    }
    return undefined;
  }
}

const byLastIndex = (one: SettingsEdit, other: SettingsEdit): number =>
  Number(other.path.at(-1)) - Number(one.path.at(-1)) || 0;

/** The table with one value in it set, or removed. */
function changed(
  holder: Json | undefined,
  [name, ...rest]: Path,
  value: SettingValue | undefined,
): { readonly [key: string]: Json } {
  const table = typeof holder === "object" && holder !== null ? { ...(holder as Record<string, Json>) } : {};
  if (name === undefined) return table;
  const inner = rest.length === 0 ? value : changed(table[name], rest, value);
  if (inner === undefined) delete table[name];
  else table[name] = inner;
  return table;
}
