/** One question, and either the buttons or who has answered it. */
import type { Approval } from "../../api/governed-shapes.ts";
import { Actor } from "../../parts/actor.tsx";
import { Badge } from "../../parts/badge.tsx";
import { LongMarkdown, LongProse } from "../../parts/long-prose.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Name, Prose } from "../../parts/name.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { AnswerForm } from "./answer-form.tsx";
import { Call } from "./call-detail.tsx";
import { rich, t, wordOf } from "../../texts/texts.ts";

const ORIGINS = {
  external: "approvals.outside-workflow",
  sop: "approvals.procedure-step",
  tool: "approvals.tool-call",
} as const;

export function ApprovalCard({ approval }: { readonly approval: Approval }) {
  const {
    n,
    title,
    message,
    status,
    origin,
    run_id: runId,
    asked_by: by,
    created_at: at,
    expires_at: until,
  } = approval;
  return (
    <article class={`card approval ${status}`} aria-label={t("approvals.approval", { n: String(n), title })}>
      <header>
        <Badge state={status} />
        <h3>
          <Name>{headingOf(approval)}</Name>
        </h3>
        <span class="hint">#{n}</span>
      </header>
      {approval.detail === null ? (
        message === "" || message === title ? null : (
          <Message approval={approval} />
        )
      ) : (
        <Call detail={approval.detail} title={title} />
      )}
      <p class="hint">
        {rich("approvals.requested-by", { origin: t(ORIGINS[origin]), by: <Actor>{by}</Actor>, when: <Ago at={at} /> })}
        {status === "waiting" && <> {rich("approvals.expires", { when: <Ago at={until} /> })}</>}
        {origin === "sop" && (
          <>
            {" · "}
            <a href={hrefOf("runs", runId)}>{t("approvals.open-the-run")}</a>
          </>
        )}
      </p>
      <Asked approval={approval} />
      {status === "waiting" ? <AnswerForm approval={approval} /> : <Answered approval={approval} />}
    </article>
  );
}

function headingOf({ title, detail }: Approval): string {
  if (detail === null) return title;
  if (detail.command !== undefined) return t("approvals.run-a-command");
  return detail.change ? t("approvals.write-a-file") : title;
}

/**
 * A pending request shows its full text; an answered one may be short. A step of a procedure is Markdown; the command of a tool
 * call is shown verbatim.
 */
function Message({ approval: { message, title, status, origin } }: { readonly approval: Approval }) {
  if (status !== "waiting" && origin === "sop") return <LongMarkdown text={message} of={title} />;
  if (status !== "waiting") return <LongProse text={message} of={title} />;
  return (
    <div class="asked" role="group" aria-label={t("approvals.what-is-asked", { title })} tabIndex={0}>
      {origin === "sop" ? <Markdown text={message} /> : <Prose>{message}</Prose>}
    </div>
  );
}

function Asked({ approval: { prompts } }: { readonly approval: Approval }) {
  if (prompts.length === 0) return null;
  return (
    <p class="hint">
      {rich("approvals.also-requested-in", {
        places: prompts.map(({ channel, conversation }, index) => (
          <>
            {index === 0 ? "" : ", "}
            <Name>{`${channel} ${conversation}`}</Name>
          </>
        )),
      })}
    </p>
  );
}

function Answered({ approval: { answer } }: { readonly approval: Approval }) {
  if (answer === null) return null;
  return (
    <>
      <p class="answer">
        {rich("approvals.by", {
          by: <Actor>{answer.by}</Actor>,
          via: wordOf(answer.via),
          when: <Ago at={answer.at} />,
        })}
        {answer.holds === "conversation" && t("approvals.for-this-conversation")}
        {answer.holds === "always" && t("approvals.and-always")}
      </p>
      {answer.feedback === null ? null : <Prose>{answer.feedback}</Prose>}
    </>
  );
}
