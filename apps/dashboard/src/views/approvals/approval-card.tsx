/** One approval request with its buttons, or with its answer. */
import type { Approval, ApprovalDetail, FileChange } from "@svc/api";
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { Actor, Name, Prose, visible } from "../../components/text.tsx";
import { Ago, Badge } from "../../components/values.tsx";
import { hrefOf } from "../../state/route.ts";
import { type PlainKey, rich, t, wordOf } from "../../texts/texts.ts";
import { AnswerForm } from "./answer-form.tsx";

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
        channels: prompts.map(({ channel, conversation }, index) => (
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

const MOST_CHARS = 280;
const MOST_LINES = 4;

/** Shows the beginning, and the rest on demand, so that lists stay short. */
function LongProse({ text, of }: { readonly text: string; readonly of: string }) {
  const [isWhole, setWhole] = useState(false);
  const beginning = text.split("\n").slice(0, MOST_LINES).join("\n").slice(0, MOST_CHARS);
  if (isWhole || beginning.length === text.length) return <Prose>{text}</Prose>;
  return (
    <div>
      <Prose>{`${beginning.trimEnd()} …`}</Prose>
      <Button label={t("parts.show-all-of", { of })} onPress={() => setWhole(true)}>
        {t("parts.show-all")}
      </Button>
    </div>
  );
}

/** The same for Markdown. It is cut between lines, so that the visible part parses correctly. */
function LongMarkdown({ text, of }: { readonly text: string; readonly of: string }) {
  const [isWhole, setWhole] = useState(false);
  const beginning = text
    .slice(0, MOST_CHARS * 2)
    .split("\n")
    .slice(0, MOST_LINES * 2)
    .join("\n");
  if (isWhole || beginning.length === text.length) return <Markdown text={text} />;
  return (
    <div>
      <Markdown text={`${beginning.trimEnd()} …`} />
      <Button label={t("parts.show-all-of", { of })} onPress={() => setWhole(true)}>
        {t("parts.show-all")}
      </Button>
    </div>
  );
}

/** The effect of a tool call: its command in monospace, file changes as a diff, and other arguments as JSON. */
function Call({ detail, title }: { readonly detail: ApprovalDetail; readonly title: string }) {
  const { command, folder, change, input, reason } = detail;
  return (
    <>
      <p class="hint">{visible(reason)}</p>
      {command !== undefined && (
        <pre class="command" tabIndex={0} role="group" aria-label={t("approvals.command", { title })}>
          <code dir="ltr">{visible(command)}</code>
        </pre>
      )}
      {folder !== undefined && (
        <p class="hint">{rich("approvals.in-the-folder", { folder: <code dir="ltr">{visible(folder)}</code> })}</p>
      )}
      {change && <Change change={change} title={title} />}
      {input !== undefined && (
        <pre class="command" tabIndex={0} role="group" aria-label={t("approvals.arguments", { title })}>
          <code dir="ltr">{visible(input)}</code>
        </pre>
      )}
    </>
  );
}

const BEFORE: Readonly<Partial<Record<FileChange["before"], PlainKey>>> = {
  missing: "approvals.the-file-does-not-exist",
  binary: "approvals.the-file-is-binary-and",
  large: "approvals.the-file-is-too-large",
  unreadable: "approvals.the-file-could-not-be",
};

const BEFORE_APPEND: typeof BEFORE = {
  ...BEFORE,
  binary: "approvals.the-file-is-binary-the",
  large: "approvals.the-file-is-large-the",
};

const KINDS: Readonly<Record<string, string>> = { "+": "added", "-": "removed", "@": "left-out" };

function Change({ change, title }: { readonly change: FileChange; readonly title: string }) {
  const { path, mode, before, lines, added, removed, cut } = change;
  const note = (mode === "append" ? BEFORE_APPEND : BEFORE)[before];
  const sum = {
    added: t("approvals.lines-added", { n: added }),
    rest: mode === "append" ? t("approvals.at-the-end") : t("approvals.lines-removed", { n: removed }),
  };
  return (
    <>
      <p class="change-of">
        <code dir="ltr">{visible(path)}</code> <span class="hint">{t("approvals.line-sum", sum)}</span>
      </p>
      {note !== undefined && <p class="hint">{t(note)}</p>}
      <pre class="command diff" tabIndex={0} role="group" aria-label={t("approvals.change", { title })}>
        {lines.length === 0 && <span class="left-out">{t("approvals.no-line-changes")}</span>}
        {lines.map((line, index) => (
          <span key={index} class={KINDS[line.slice(0, 1)] ?? "same"} dir="ltr">
            {line === "@" ? "…" : visible(line)}
            {"\n"}
          </span>
        ))}
      </pre>
      {cut > 0 && <p class="hint">{t("approvals.lines-cut", { n: cut })}</p>}
    </>
  );
}
