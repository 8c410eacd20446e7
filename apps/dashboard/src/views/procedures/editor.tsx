/** The procedure editor: fields on one side, the source of its two files on the other, errors between them. */
import type { SopDraft, SopEdit, SopProblem, SopSaved, SopSource } from "@svc/api";
import { useCallback, useEffect, useId, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError, path } from "../../client/api.ts";
import { Button } from "../../components/button.tsx";
import { Heading } from "../../components/layout.tsx";
import { Problem, Shown } from "../../components/shown.tsx";
import { Name, ServiceText } from "../../components/text.tsx";
import { useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { remember, remembered } from "../../state/tab-memory.ts";
import { type Action, useAction } from "../../state/use-action.ts";
import { useReader } from "../../state/use-reader.ts";
import { rich, t } from "../../texts/texts.ts";
import { type FormEdit, type OnEdit, SopFields } from "./sop-form.tsx";

/** The editor of an existing procedure. */
export function ProcedureEditor({ id: name }: { readonly id: string }) {
  const read = useReader<SopSource>(`sop-source ${name}`, [], (api, signal) =>
    api.get<SopSource>(path`/api/sops/${name}`, undefined, signal),
  );
  return (
    <>
      <Heading title={t("procedures.edit", { name })} start={<BackLink name={name} />} />
      <Shown read={read}>
        {(source) => <Editor key={source.revision} source={source} onReload={() => void read.refresh()} />}
      </Shown>
    </>
  );
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The editor of a new procedure: its name first, which is also its folder. */
export function NewProcedure() {
  const { api } = useServices();
  const [typed, setTyped] = useState("");
  const [template, setTemplate] = useState<SopSource>();
  const [error, setError] = useState<string>();
  const field = useId();
  const begin = async (): Promise<void> => {
    const name = typed.trim();
    if (!NAME.test(name)) return setError(t("procedures.a-name-has-a-to"));
    setError(undefined);
    const draft = await api.call<SopDraft>("/api/sop-drafts", { method: "POST", body: { name } });
    setTemplate({ ...draft, name, revision: "", unwritable: null });
  };
  if (template !== undefined) {
    return (
      <>
        <Heading title={t("procedures.edit", { name: template.name })} start={<BackLink />} />
        <Editor source={template} isNew />
      </>
    );
  }
  return (
    <>
      <Heading title={t("procedures.new-procedure")} start={<BackLink />} />
      <form
        class="setting-form"
        onSubmit={(event) => {
          event.preventDefault();
          begin().catch(() => setError(t("procedures.the-service-does-not-answer")));
        }}
      >
        <div class="setting">
          <label for={field}>{t("common.name")}</label>
          <input
            id={field}
            value={typed}
            maxLength={64}
            spellcheck={false}
            autocapitalize="none"
            placeholder={t("procedures.nightly-report")}
            aria-describedby={`${field}-help`}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          {error === undefined ? null : (
            <p class="setting-problem" role="alert">
              {error}
            </p>
          )}
          <p class="hint" id={`${field}-help`}>
            {t("procedures.also-the-name-of-its")}
          </p>
        </div>
        <div class="buttons">
          <button type="submit" class="button main">
            {t("procedures.create")}
          </button>
        </div>
      </form>
    </>
  );
}

const BackLink = ({ name }: { readonly name?: string }) => (
  <a class="heading-back" href={hrefOf("procedures", name)}>
    {name === undefined ? t("common.procedures") : <Name>{name}</Name>}
  </a>
);

interface EditorProps {
  readonly source: SopSource;
  readonly isNew?: boolean;
  readonly onReload?: () => void;
}

function Editor({ source, isNew = false, onReload }: EditorProps) {
  const draft = useDraft(source);
  const { text, report, isChecking, isChanged, refused, save } = draft;
  /** On a phone one of the two panes is shown. */
  const [side, setSide] = useState<"form" | "source">("form");
  const [file, setFile] = useState<FileName>("SOP.toml");
  const [jump, setJump] = useState<{ readonly line: number; readonly at: number }>();
  const problems = report?.problems ?? [];
  const unwritable = source.unwritable;
  const isStale = save.error?.code === "SOP_CHANGED" || save.error?.code === "SOP_EXISTS";
  const show = ({ file: where, line }: SopProblem): void => {
    setSide("source");
    setFile(where === "SOP.md" ? "SOP.md" : "SOP.toml");
    setJump({ line: line ?? 1, at: Date.now() });
  };
  /** The file that the source pane shows. */
  const edit: OnEdit = (asked) => {
    const isStep = typeof asked === "function" || "step" in asked;
    setFile(isStep && report?.form?.steps_in === "SOP.md" ? "SOP.md" : "SOP.toml");
    draft.edit(asked);
  };
  const submit = async (): Promise<void> => {
    if ((await save.run()) && isNew) location.hash = hrefOf("procedures", source.name);
  };
  return (
    <div class="sop-editor">
      <div class="save-bar">
        <p role="status">
          {unwritable ? (
            <ServiceText>{unwritable}</ServiceText>
          ) : isChecking ? (
            t("common.checking")
          ) : problems.length > 0 ? (
            t("procedures.nothing-is-saved-until-it", { n: problems.length })
          ) : isChanged || isNew ? (
            t("procedures.no-problems-not-saved-yet")
          ) : (
            t("procedures.no-problems-saved")
          )}
        </p>
        {isChanged && <Button onPress={draft.discard}>{t("common.discard")}</Button>}
        <Button
          kind="main"
          busy={save.isRunning}
          disabled={unwritable !== null || problems.length > 0 || isChecking || (!isChanged && !isNew)}
          onPress={() => void submit()}
        >
          {t("common.save")}
        </Button>
      </div>
      <Problem error={save.error} />
      {isStale && onReload !== undefined && (
        <div class="buttons">
          <Button
            onPress={() => {
              draft.discard();
              onReload();
            }}
          >
            {t("procedures.drop-my-changes-and-read")}
          </Button>
        </div>
      )}
      <ProblemList problems={problems} kind="problem" onShow={show} />
      <ProblemList problems={report?.warnings ?? []} kind="warning" onShow={show} />
      <div class="sides" role="group" aria-label={t("procedures.what-is-shown")}>
        {(["form", "source"] as const).map((one) => (
          <button key={one} type="button" class="chip" aria-pressed={side === one} onClick={() => setSide(one)}>
            {one === "form" ? t("procedures.form") : t("procedures.source")}
          </button>
        ))}
      </div>
      <div class={`sop-panes show-${side}`}>
        <section class="sop-form-pane" aria-label={t("procedures.form")}>
          <Problem error={refused} />
          {report === undefined ? null : report.form === null ? (
            <p class="notice">{t("procedures.sop-toml-is-not-toml")}</p>
          ) : (
            <SopFields form={report.form} onEdit={edit} />
          )}
        </section>
        <SourcePane
          text={text}
          file={file}
          onFile={setFile}
          problems={problems}
          jump={jump}
          isReadOnly={unwritable !== null}
          onWrite={draft.write}
        />
      </div>
    </div>
  );
}

interface ProblemListProps {
  readonly problems: readonly SopProblem[];
  readonly kind: "problem" | "warning";
  readonly onShow: (problem: SopProblem) => void;
}

const MOST_SHOWN = 20;

function ProblemList({ problems, kind, onShow }: ProblemListProps) {
  if (problems.length === 0) return null;
  return (
    <ul
      class={`sop-problems ${kind}`}
      aria-label={kind === "problem" ? t("procedures.problems") : t("procedures.warnings")}
    >
      {problems.slice(0, MOST_SHOWN).map((problem) => {
        const { file, line, key, message, allowed, did_you_mean: guess } = problem;
        return (
          <li key={`${file} ${line} ${key} ${message}`}>
            <button type="button" class="link" onClick={() => onShow(problem)}>
              {file}
              {line === null ? "" : `:${line}`}
            </button>{" "}
            {key !== "" && <code>{key}</code>} <ServiceText>{message}</ServiceText>
            {guess === null ? null : <>{rich("procedures.did-you-mean", { guess: <code>{guess}</code> })}</>}
            {allowed === null || guess !== null ? null : <span class="hint"> ({allowed})</span>}
          </li>
        );
      })}
    </ul>
  );
}

/** The two files of a procedure as text, with marked error lines. */
type FileName = "SOP.toml" | "SOP.md";
const FILES: readonly FileName[] = ["SOP.toml", "SOP.md"];

interface SourcePaneProps {
  readonly text: SopText;
  readonly file: FileName;
  readonly onFile: (file: FileName) => void;
  readonly problems: readonly SopProblem[];
  /** The line to scroll to; a new `at` scrolls again. */
  readonly jump: { readonly line: number; readonly at: number } | undefined;
  readonly isReadOnly: boolean;
  readonly onWrite: (text: Partial<SopText>) => void;
}

function SourcePane({ text, file, onFile, problems, jump, isReadOnly, onWrite }: SourcePaneProps) {
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
    // A blank SOP.md counts as none; the steps may be in SOP.toml.
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

type SopText = Pick<SopDraft, "toml" | "markdown">;

/** The unsaved text of a procedure, edited as source and as a form; the service converts between the two. */
interface Draft {
  readonly text: SopText;
  /** The report on the current text; undefined until its first check ends. */
  readonly report: SopDraft | undefined;
  /** The report is about an older text. */
  readonly isChecking: boolean;
  readonly isChanged: boolean;
  /** Error of the last form edit. */
  readonly refused: ApiError | undefined;
  readonly write: (text: Partial<SopText>) => void;
  readonly edit: (edit: FormEdit) => void;
  readonly save: Action<[]>;
  /** Discards unsaved changes. */
  readonly discard: () => void;
}

const DEBOUNCE_MS = 300;

/** `source`: the current files; for a new procedure its template with a blank revision. */
function useDraft(source: SopSource): Draft {
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
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      call.abort();
    };
  }, [text]);

  /** Applies edits in order, each to the result of the one before and to text typed meanwhile. */
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
    const { revision } = await api.call<SopSaved>(path`/api/sops/${source.name}`, { method: "PUT", body });
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

/** The remembered draft, if the files are unchanged since: changes of others must not be overwritten. */
function keptText(key: string, { revision }: SopSource): SopText | undefined {
  try {
    const stored = JSON.parse(remembered(key) ?? "null") as (SopText & { revision: string }) | null;
    return stored?.revision === revision ? textOf(stored) : undefined;
  } catch {
    return undefined;
  }
}
