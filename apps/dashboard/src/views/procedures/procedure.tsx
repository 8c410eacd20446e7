/** One procedure: definition, actions, manual and test runs, past runs. */
import type { Sop, SopList, SopRunStarted, SopTrigger } from "@svc/api";
import { useId, useState } from "preact/hooks";
import { ApiError, path } from "../../client/api.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Facts, Heading, Section } from "../../components/layout.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { Problem, Shown } from "../../components/shown.tsx";
import { Name, ServiceText } from "../../components/text.tsx";
import { useMayOperate, useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { duration } from "../../texts/format.ts";
import { rich, t, wordOf } from "../../texts/texts.ts";
import { Times } from "./calendar.tsx";
import { Triggers } from "./procedures.tsx";
import { Runs } from "./runs.tsx";

export function Procedure({ id: name }: { readonly id: string }) {
  const procedures = useList<SopList>("/api/sops", ["procedures"]);
  const mayOperate = useMayOperate();
  return (
    <>
      <Heading title={name} />
      <Shown read={procedures}>
        {({ sops, broken }) => {
          const found = sops.find((one) => one.name === name);
          if (found) return <Definition procedure={found} />;
          const wrong = broken.find((one) => one.name === name);
          return wrong ? (
            <Wrong name={name} problem={wrong.problem} />
          ) : (
            <p>{t("procedures.no-procedure-has-this-name")}</p>
          );
        }}
      </Shown>
      {mayOperate && (
        <Section title={t("common.runs")}>
          <Runs sop={name} />
        </Section>
      )}
      <p>
        <a href={hrefOf("procedures")}>{t("procedures.all-procedures")}</a>
      </p>
    </>
  );
}

function Wrong({ name, problem }: { readonly name: string; readonly problem: string }) {
  const mayOperate = useMayOperate();
  return (
    <div class="problem" role="alert">
      <p>{rich("procedures.its-files-are-wrong-so", { problem: <ServiceText>{problem}</ServiceText> })}</p>
      {mayOperate && (
        <div class="buttons">
          <a class="button" href={hrefOf("edit-procedure", name)}>
            {t("procedures.correct-them")}
          </a>
          <a class="button" href={hrefOf("procedure-changes", name)}>
            {t("common.saved-changes")}
          </a>
        </div>
      )}
    </div>
  );
}

function Definition({ procedure }: { readonly procedure: Sop }) {
  const mayOperate = useMayOperate();
  const { description, version, priority, execution_mode: mode, agent, steps, triggers, problem } = procedure;
  return (
    <>
      {problem === null ? null : (
        <p class="problem" role="alert">
          {rich("procedures.the-files-are-wrong-since", { problem: <ServiceText>{problem}</ServiceText> })}
        </p>
      )}
      {!procedure.enabled && <p class="notice">{t("procedures.disabled-nothing-starts-it-but")}</p>}
      <Markdown text={description} />
      {mayOperate && <ProcedureActions procedure={procedure} />}
      <Facts
        facts={[
          [t("procedures.version"), <Name>{version}</Name>],
          [t("common.mode"), wordOf(mode)],
          [t("procedures.priority"), wordOf(priority)],
          [t("common.agent"), agent === null ? t("procedures.the-default-one") : <Name>{agent}</Name>],
          [t("procedures.at-once"), t("procedures.n-runs", { n: procedure.max_concurrent })],
          [
            t("procedures.pause-after-a-run"),
            procedure.cooldown_secs === 0 ? t("common.none") : duration(procedure.cooldown_secs * 1000),
          ],
          [t("common.started-by"), <Triggers triggers={triggers} />],
        ]}
      />
      {mayOperate && procedure.enabled && triggers.some(({ type }) => type === "manual") && (
        <RunByHand name={procedure.name} />
      )}
      {mayOperate && <TestRun key={procedure.name} procedure={procedure} />}
      <Section title={t("common.steps")}>
        <ol>
          {steps.map(({ number, title, tools, requires_confirmation: asks, kind }) => (
            <li key={number}>
              <Name>{title}</Name> {kind === "checkpoint" && <span class="mark">{t("procedures.checkpoint")}</span>}{" "}
              {asks && <span class="mark">{t("procedures.asks-first")}</span>}{" "}
              {tools.length > 0 && <span class="hint">{t("procedures.uses", { tools: tools.join(", ") })}</span>}
            </li>
          ))}
        </ol>
      </Section>
      {procedure.enabled && triggers.some(({ type }) => type === "cron") && (
        <Section title={t("procedures.the-clock-starts-it")}>
          <Times days="7" sop={procedure.name} />
        </Section>
      )}
    </>
  );
}

function RunByHand({ name }: { readonly name: string }) {
  const { api } = useServices();
  const [payload, setPayload] = useState("");
  const id = useId();
  const start = useAction(async () => {
    const body = payload.trim() === "" ? {} : { body: parsed(payload) };
    const { run_id: run } = await api.call<SopRunStarted>(path`/api/sops/${name}/runs`, {
      method: "POST",
      ...body,
    });
    location.hash = hrefOf("runs", run);
  });
  return (
    <Section title={t("procedures.run-it-now")}>
      <label for={id}>{t("procedures.payload-json-optional")}</label>
      <textarea
        id={id}
        rows={3}
        spellcheck={false}
        class="mono"
        value={payload}
        onInput={({ currentTarget }) => setPayload(currentTarget.value)}
      />
      <Problem error={start.error} />
      <div class="buttons">
        <Button kind="main" busy={start.isRunning} onPress={() => void start.run()}>
          {t("procedures.run")}
        </Button>
      </div>
    </Section>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError("BAD_JSON", t("procedures.the-payload-is-not-json"));
  }
}

/** Starts a test run with a given event. */
function TestRun({ procedure: { name, triggers } }: { readonly procedure: Sop }) {
  const { api } = useServices();
  const [trigger, setTrigger] = useState("");
  const [payload, setPayload] = useState("");
  const [chosen, text] = [useId(), useId()];
  const start = useAction(async () => {
    const body = {
      ...(trigger !== "" && { trigger: Number(trigger) }),
      ...(payload.trim() !== "" && { payload: parsed(payload) }),
    };
    const { run_id: run } = await api.call<SopRunStarted>(path`/api/sops/${name}/test-runs`, {
      method: "POST",
      body,
    });
    location.hash = hrefOf("runs", run);
  });
  return (
    <Section title={t("procedures.test-it")}>
      <p class="hint">{t("procedures.the-run-is-marked-as")}</p>
      <div class="setting-form">
        <div class="setting">
          <label for={chosen}>{t("procedures.as-if-started-by")}</label>
          <select id={chosen} value={trigger} onChange={({ currentTarget }) => setTrigger(currentTarget.value)}>
            <option value="">{t("procedures.a-person-whatever-the-conditions")}</option>
            {triggers.map((one, index) => (
              <option key={index} value={String(index)}>
                {wordsOf(one)}
              </option>
            ))}
          </select>
        </div>
        <div class="setting">
          <label for={text}>{t("procedures.event-payload-json-optional")}</label>
          <textarea
            id={text}
            rows={3}
            spellcheck={false}
            class="mono"
            value={payload}
            onInput={({ currentTarget }) => setPayload(currentTarget.value)}
          />
        </div>
      </div>
      <Problem error={start.error} />
      <div class="buttons">
        <Button busy={start.isRunning} onPress={() => void start.run()}>
          {t("procedures.start-a-test-run")}
        </Button>
      </div>
    </Section>
  );
}

function wordsOf({ type, path: route, expression, event, topic, board, signal, condition }: SopTrigger): string {
  const what = route ?? expression ?? event ?? topic ?? (board === undefined ? "" : `${board} ${signal}`);
  const words = { type: wordOf(type), what };
  return condition === null
    ? t("procedures.trigger-words", words)
    : t("procedures.trigger-words-if", { ...words, condition });
}

/** Actions on a whole procedure: edit, copy, rename, switch on and off, delete. */
function ProcedureActions({ procedure: { name, enabled } }: { readonly procedure: Pick<Sop, "name" | "enabled"> }) {
  const { api, live } = useServices();
  const [asking, setAsking] = useState<"copy" | "rename" | "delete">();
  const turn = useAction(() =>
    api
      .call(path`/api/sops/${name}`, { method: "PATCH", body: { enabled: !enabled } })
      .finally(() => live.markStale(["procedures"])),
  );
  return (
    <>
      <div class="buttons sop-actions">
        <a class="button" href={hrefOf("edit-procedure", name)}>
          {t("procedures.edit-2")}
        </a>
        <Button onPress={() => setAsking("copy")}>{t("common.duplicate")}</Button>
        <Button onPress={() => setAsking("rename")}>{t("common.rename")}</Button>
        <Button kind={enabled ? "plain" : "main"} busy={turn.isRunning} onPress={() => void turn.run()}>
          {enabled ? t("procedures.disable") : t("procedures.enable")}
        </Button>
        <Button onPress={() => setAsking("delete")}>{t("procedures.delete")}</Button>
        <a class="button" href={hrefOf("procedure-changes", name)}>
          {t("common.saved-changes")}
        </a>
      </div>
      <Problem error={turn.error} />
      {asking === "copy" && <CopyDialog name={name} onClose={() => setAsking(undefined)} />}
      {asking === "rename" && <RenameDialog name={name} onClose={() => setAsking(undefined)} />}
      {asking === "delete" && <DeleteDialog name={name} onClose={() => setAsking(undefined)} />}
    </>
  );
}

const CopyDialog = ({ name, onClose }: DialogProps) => (
  <NameDialog
    title={t("procedures.duplicate-this-procedure")}
    action={t("common.duplicate")}
    hint={t("procedures.the-copy-is-disabled-until")}
    label={t("procedures.name-of-the-copy")}
    first={`${name.slice(0, 59)}-copy`}
    path={path`/api/sops/${name}/copies`}
    view="edit-procedure"
    onClose={onClose}
  />
);

const RenameDialog = ({ name, onClose }: DialogProps) => (
  <NameDialog
    title={t("procedures.rename-this-procedure")}
    action={t("common.rename")}
    hint={t("procedures.its-runs-keep-the-name")}
    label={t("procedures.new-name")}
    first={name}
    path={path`/api/sops/${name}/rename`}
    view="procedures"
    onClose={onClose}
  />
);

interface DialogProps {
  readonly name: string;
  readonly onClose: () => void;
}

interface NameDialogProps {
  readonly title: string;
  readonly action: string;
  readonly hint: string;
  readonly label: string;
  readonly first: string;
  /** Takes `{"name"}`. */
  readonly path: string;
  /** Opens the procedure with the new name. */
  readonly view: string;
  readonly onClose: () => void;
}

function NameDialog({ title, action, hint, label, first, path: to, view, onClose }: NameDialogProps) {
  const { api, live } = useServices();
  const [text, setText] = useState(first);
  const field = useId();
  const name = text.trim();
  const act = useAction(() => api.call(to, { method: "POST", body: { name } }));
  const confirm = async (): Promise<void> => {
    if (!(await act.run())) return;
    live.markStale(["procedures"]);
    location.hash = hrefOf(view, name);
  };
  return (
    <Dialog
      title={title}
      action={action}
      kind="main"
      busy={act.isRunning}
      error={act.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p class="hint">{hint}</p>
      <label for={field}>{label}</label>
      <input
        id={field}
        value={text}
        maxLength={64}
        spellcheck={false}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.isComposing && void confirm()}
      />
    </Dialog>
  );
}

function DeleteDialog({ name, onClose }: DialogProps) {
  const { api, live } = useServices();
  const act = useAction(() => api.call(path`/api/sops/${name}`, { method: "DELETE" }));
  const confirm = async (): Promise<void> => {
    if (!(await act.run())) return;
    location.hash = hrefOf("procedure-changes");
    live.markStale(["procedures"]);
  };
  return (
    <Dialog
      title={t("procedures.delete-2", { name })}
      action={t("procedures.delete")}
      busy={act.isRunning}
      error={act.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p class="hint">{t("procedures.runs-that-have-begun-go")}</p>
    </Dialog>
  );
}
