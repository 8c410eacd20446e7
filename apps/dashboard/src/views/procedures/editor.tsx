/** The procedure editor: fields on one side, the source of its two files on the other, errors between them. */
import { useId, useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Shown } from "../../parts/shown.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useReader } from "../../state/use-reader.ts";
import type { OnEdit, SopDraft, SopProblem, SopSource } from "./shapes.ts";
import { SopFields } from "./sop-fields.tsx";
import { type FileName, SourcePane } from "./source-pane.tsx";
import { useDraft } from "./use-draft.ts";
import { rich, t } from "../../texts/texts.ts";
import { ServiceText } from "../../parts/service-text.tsx";

/** One that there is. */
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

/** A new one: its name first, since its folder is called so. */
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
  /** On a phone one of the two is shown. */
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
  /** The source shows the file that is edited. */
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
