/** A run as a line of steps: status, pending approval and duration of each. */
import type { SopRetried, SopRunDetail, SopRunStep } from "@svc/api";
import { useState } from "preact/hooks";
import { path } from "../../client/api.ts";
import { Button } from "../../components/button.tsx";
import { Confirmed, Dialog } from "../../components/dialog.tsx";
import { Facts, Heading, Section } from "../../components/layout.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { Shown } from "../../components/shown.tsx";
import { Actor, Name, ServiceText } from "../../components/text.tsx";
import { Ago, Badge, Json, Took } from "../../components/values.tsx";
import { useMayOperate, useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { rich, t, wordOf } from "../../texts/texts.ts";
import { ApprovalCard } from "../approvals/approval-card.tsx";

export function Run({ id }: { readonly id: string }) {
  const { api, live } = useServices();
  const run = useList<SopRunDetail>(path`/api/sop-runs/${id}`, ["procedures", "approvals"]);
  const cancel = (): Promise<unknown> =>
    api
      .call(path`/api/sop-runs/${id}/cancel`, { method: "POST" })
      .finally(() => live.markStale(["procedures", "approvals"]));
  return (
    <>
      <Heading
        title={
          run.data
            ? t(run.data.test ? "procedures.test-run-of" : "procedures.run-of", {
                n: String(run.data.n),
                sop: run.data.sop,
              })
            : t("procedures.run")
        }
      >
        {run.data?.ended_at === null && (
          <Confirmed text={t("procedures.cancel-the-run")} question={t("procedures.cancel-this-run")} act={cancel}>
            <p>{t("procedures.the-step-that-runs-is")}</p>
          </Confirmed>
        )}
      </Heading>
      <Shown read={run}>
        {(shown) => (
          <>
            <About run={shown} />
            <Section title={t("common.steps")}>
              <RunLine run={shown} />
            </Section>
          </>
        )}
      </Shown>
      <p>
        <a href={run.data ? hrefOf("procedures", run.data.sop) : hrefOf("procedures")}>
          {t("procedures.the-procedure")}
        </a>
      </p>
    </>
  );
}

function About({ run }: { readonly run: SopRunDetail }) {
  return (
    <>
      <Facts
        facts={[
          [t("common.state"), <Badge state={run.status} busy={run.status === "running"} />],
          [t("procedures.why"), run.reason === null ? undefined : <ServiceText>{run.reason}</ServiceText>],
          [t("common.problem"), run.error === null ? undefined : <code>{run.error}</code>],
          [t("common.mode"), wordOf(run.mode)],
          [t("procedures.test-fact"), run.test ? t("procedures.a-test-run") : undefined],
          [
            t("procedures.goes-on-from"),
            run.retry_of === null ? undefined : (
              <>
                {rich("procedures.from-step", {
                  run: <a href={hrefOf("runs", run.retry_of)}>{t("procedures.the-run-before")}</a>,
                  step: run.first_step,
                })}
              </>
            ),
          ],
          [t("common.started-by"), <Actor>{run.started_by}</Actor>],
          [
            t("procedures.through"),
            <Name>{run.topic === run.sop ? wordOf(run.source) : `${wordOf(run.source)} ${run.topic}`}</Name>,
          ],
          [t("common.when"), <Ago at={run.started_at} />],
          [t("common.took"), <Took from={run.started_at} to={run.ended_at} />],
        ]}
      />
      {run.payload === null ? null : <Json label={t("procedures.payload")} value={run.payload} />}
    </>
  );
}

function RunLine({ run: { id, ended_at: endedAt, steps } }: { readonly run: SopRunDetail }) {
  const mayOperate = useMayOperate();
  // Results are reused up to the first missing one.
  const done = steps.findIndex(({ status }) => status !== "completed");
  const last = done < 0 ? steps.length : done + 1;
  const mayRetry = (number: number): boolean => mayOperate && endedAt !== null && number <= last;
  return (
    <ol class="line">
      {steps.map((step) => (
        <Step key={step.number} step={step} retryOf={mayRetry(step.number) ? id : undefined} />
      ))}
    </ol>
  );
}

function Step({
  step: { number, title, kind, status, started_at: from, ended_at: to, output, acted_in: actedIn, approval },
  retryOf,
}: {
  readonly step: SopRunStep;
  /** Set if the run can be retried from this step. */
  readonly retryOf: string | undefined;
}) {
  const isNow = status === "running" || status === "waiting_approval";
  return (
    <li class={`stop ${status}`} aria-current={isNow ? "step" : undefined}>
      <p class="stop-head">
        <strong>
          {number}. <Name>{title}</Name>
        </strong>
        <Badge state={status} busy={status === "running"} />
        {kind === "checkpoint" && <span class="mark">{t("procedures.checkpoint")}</span>}
        {from === null ? null : (
          <span class="hint">
            <Took from={from} to={to} />
          </span>
        )}
      </p>
      {actedIn === null ? null : <p class="hint">{t("procedures.it-may-have-acted-in")}</p>}
      {approval === null ? null : <ApprovalCard approval={approval} />}
      <Output output={output} />
      {retryOf === undefined ? null : <RetryStep runId={retryOf} step={number} title={title} />}
    </li>
  );
}

/** A model step outputs a text; a step without a model, a value. */
function Output({ output }: Pick<SopRunStep, "output">) {
  if (output === null || output === undefined) return null;
  if (typeof output !== "string") return <Json label={t("common.output")} value={output} />;
  return (
    <details class="json">
      <summary>{t("common.output")}</summary>
      <Markdown text={output} />
    </details>
  );
}

/** Retries an ended run from one of its steps. */
interface RetryStepProps {
  readonly runId: string;
  readonly step: number;
  readonly title: string;
}

function RetryStep({ runId, step, title }: RetryStepProps) {
  const { api, live } = useServices();
  const [isAsking, setAsking] = useState(false);
  const retry = useAction(async () => {
    const { id } = await api.call<SopRetried>(path`/api/sop-runs/${runId}/retry`, {
      method: "POST",
      body: { step },
    });
    live.markStale(["procedures"]);
    location.hash = hrefOf("runs", id);
  });
  return (
    <>
      <Button label={t("procedures.retry-from-step", { n: step, title })} onPress={() => setAsking(true)}>
        {t("procedures.retry-from-here")}
      </Button>
      {isAsking && (
        <Dialog
          title={t("procedures.retry-from-step-2", { n: step })}
          action={t("procedures.retry")}
          kind="main"
          busy={retry.isRunning}
          error={retry.error}
          onConfirm={() => void retry.run()}
          onClose={() => {
            retry.clear();
            setAsking(false);
          }}
        >
          <p>{t("procedures.a-new-run-takes-over")}</p>
        </Dialog>
      )}
    </>
  );
}
