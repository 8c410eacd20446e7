import type { RunDetail, RunStep } from "../../api/governed-shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Json } from "../../parts/json.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Name } from "../../parts/name.tsx";
import { Took } from "../../parts/time.tsx";
import { useMayOperate } from "../../session/use-device.ts";
import { ApprovalCard } from "../approvals/approval-card.tsx";
import { RetryStep } from "./retry-step.tsx";
import { t } from "../../texts/texts.ts";

export function RunLine({ run: { id, ended_at: endedAt, steps } }: { readonly run: RunDetail }) {
  const mayOperate = useMayOperate();
  // Results are taken over up to the first that is missing.
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
  readonly step: RunStep;
  /** The run, where it can be retried from this step. */
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
function Output({ output }: Pick<RunStep, "output">) {
  if (output === null || output === undefined) return null;
  if (typeof output !== "string") return <Json label={t("common.output")} value={output} />;
  return (
    <details class="json">
      <summary>{t("common.output")}</summary>
      <Markdown text={output} />
    </details>
  );
}
