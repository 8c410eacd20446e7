/** The unsaved text of a procedure, edited as source and as a form; the service converts between the two. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { path } from "../../api/client.ts";
import { useServices } from "../../services.ts";
import { type Action, useAction } from "../../state/use-action.ts";
import { remember, remembered } from "../../state/tab-memory.ts";
import type { FormEdit, SopDraft, SopEdit, SopSource, SopText } from "./shapes.ts";
import { t } from "../../texts/texts.ts";

export interface Draft {
  readonly text: SopText;
  /** The report on the current text; undefined until its first check ends. */
  readonly report: SopDraft | undefined;
  /** The report is of an older text. */
  readonly isChecking: boolean;
  readonly isChanged: boolean;
  /** What an edit of the form was refused with. */
  readonly refused: ApiError | undefined;
  readonly write: (text: Partial<SopText>) => void;
  readonly edit: (edit: FormEdit) => void;
  readonly save: Action<[]>;
  /** Discards unsaved changes. */
  readonly discard: () => void;
}

const SOON_MS = 300;

/** `source`: the files as they are; of a new one its template, with a blank revision. */
export function useDraft(source: SopSource): Draft {
  const { api, live, announcer } = useServices();
  const key = `sop-draft:${source.name}`;
  const [saved, setSaved] = useState({ toml: source.toml, markdown: source.markdown, revision: source.revision });
  const [text, setText] = useState<SopText>(() => keptText(key, source) ?? textOf(source));
  const [report, setReport] = useState<SopDraft | undefined>(source);
  const [isChecking, setChecking] = useState(false);
  const [refused, setRefused] = useState<ApiError>();
  /** The current draft, to detect late answers. */
  const now = useRef(text);
  const latest = useRef<SopDraft | undefined>(source);
  const edits = useRef<Promise<void>>(Promise.resolve());
  const isChanged = text.toml !== saved.toml || text.markdown !== saved.markdown;

  const show = useCallback((next: SopText): void => {
    now.current = next;
    setText(next);
  }, []);
  const tell = useCallback((checked: SopDraft): void => {
    latest.current = checked;
    setReport(checked);
    setChecking(false);
  }, []);
  const check = (asked: SopText, more: readonly SopEdit[], signal?: AbortSignal): Promise<SopDraft> =>
    api.call<SopDraft>("/api/sop-drafts", {
      method: "POST",
      body: { name: source.name, ...asked, edits: more },
      ...(signal && { signal }),
    });

  useEffect(() => {
    remember(key, isChanged ? JSON.stringify({ ...text, revision: saved.revision }) : undefined);
  }, [text, saved]);
  useEffect(() => {
    if (report && report.toml === text.toml && report.markdown === text.markdown) return;
    setChecking(true);
    const call = new AbortController();
    const timer = setTimeout(() => {
      check(text, [], call.signal).then(
        tell,
        // Saving reports connection errors.
        () => undefined,
      );
    }, SOON_MS);
    return () => {
      clearTimeout(timer);
      call.abort();
    };
  }, [text]);

  /** One after the other, each on what the one before has made. What was typed meanwhile is edited too. */
  const edit = (asked: FormEdit): void => {
    edits.current = edits.current.then(async () => {
      try {
        for (;;) {
          const before = now.current;
          const known = latest.current;
          const isKnown = known?.toml === before.toml && known.markdown === before.markdown;
          const { form } = typeof asked === "function" && !isKnown ? await check(before, []) : (known ?? source);
          const wanted = typeof asked === "function" ? form && asked(form) : asked;
          if (!wanted) return;
          const made = await check(before, [wanted]);
          if (now.current !== before) continue;
          setRefused(undefined);
          tell(made);
          return show(textOf(made));
        }
      } catch (error) {
        setRefused(asApiError(error));
      }
    });
  };
  const save = useAction(async () => {
    await edits.current;
    const sent = now.current;
    const body = { ...sent, revision: saved.revision === "" ? null : saved.revision };
    const { revision } = await api.call<{ revision: string }>(path`/api/sops/${source.name}`, { method: "PUT", body });
    setSaved({ ...sent, revision });
    live.markStale(["procedures"]);
    announcer.say(t("procedures.saved-and-in-force"));
  });
  return {
    text,
    report,
    isChecking,
    isChanged,
    refused,
    write: (part) => show({ ...now.current, ...part }),
    edit,
    save,
    discard: () => {
      setRefused(undefined);
      save.clear();
      show(saved);
    },
  };
}

const textOf = ({ toml, markdown }: SopText): SopText => ({ toml, markdown });

/** Of the same files alone: what others wrote meanwhile is not written over. */
function keptText(key: string, { revision }: SopSource): SopText | undefined {
  try {
    const kept = JSON.parse(remembered(key) ?? "null") as (SopText & { revision: string }) | null;
    return kept?.revision === revision ? textOf(kept) : undefined;
  } catch {
    return undefined;
  }
}
