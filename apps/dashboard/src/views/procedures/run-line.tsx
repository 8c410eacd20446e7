import type { RunStep } from "../../api/governed-shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Json } from "../../parts/json.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Name } from "../../parts/name.tsx";
import { Took } from "../../parts/time.tsx";
import { ApprovalCard } from "../approvals/approval-card.tsx";

export function RunLine({ steps }: { readonly steps: readonly RunStep[] }) {
  return (
    <ol class="line">
      {steps.map((step) => (
        <Step key={step.number} step={step} />
      ))}
    </ol>
  );
}

function Step({
  step: { number, title, kind, status, started_at: from, ended_at: to, output, approval },
}: {
  readonly step: RunStep;
}) {
  const isNow = status === "running" || status === "waiting_approval";
  return (
    <li class={`stop ${status}`} aria-current={isNow ? "step" : undefined}>
      <p class="stop-head">
        <strong>
          {number}. <Name>{title}</Name>
        </strong>
        <Badge state={status} busy={status === "running"} />
        {kind === "checkpoint" && <span class="mark">checkpoint</span>}
        {from === null ? null : (
          <span class="hint">
            <Took from={from} to={to} />
          </span>
        )}
      </p>
      {approval === null ? null : <ApprovalCard approval={approval} />}
      <Output output={output} />
    </li>
  );
}

/** Of a step that the model did it is a text; of one without a model, a value. */
function Output({ output }: Pick<RunStep, "output">) {
  if (output === null || output === undefined) return null;
  if (typeof output !== "string") return <Json label="Output" value={output} />;
  return (
    <details class="json">
      <summary>Output</summary>
      <Markdown text={output} />
    </details>
  );
}
