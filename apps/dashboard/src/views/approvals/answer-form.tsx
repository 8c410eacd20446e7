/** The buttons of a pending approval: approve, reject, with a comment or for longer. */
import type { Approval } from "@svc/api";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ApiError, path } from "../../client/api.ts";
import { Button } from "../../components/button.tsx";
import { Problem } from "../../components/shown.tsx";
import { visible } from "../../components/text.tsx";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { isTyping } from "../../state/use-window.ts";
import type { MessageKey } from "../../texts/en.ts";
import { relative } from "../../texts/format.ts";
import { rich, t } from "../../texts/texts.ts";

type Holds = NonNullable<NonNullable<Approval["answer"]>["holds"]>;

const SAID = {
  once: "approvals.said-once",
  conversation: "approvals.said-conversation",
  always: "approvals.said-always",
} as const satisfies Readonly<Record<Holds, MessageKey>>;

export function AnswerForm({ approval }: { readonly approval: Approval }) {
  const { api, live, announcer } = useServices();
  const [feedback, setFeedback] = useState("");
  const id = useId();
  const { n, title, run_id: run, step_id: step, origin } = approval;
  const {
    run: answer,
    isRunning,
    error,
  } = useAction(async (holds: Holds | undefined) => {
    const approved = holds !== undefined;
    const body = { approved, ...(approved && { holds }), ...(feedback.trim() !== "" && { feedback }) };
    try {
      await api.call(path`/api/approvals/${run}/${step}`, { method: "POST", body });
      announcer.say(t(approved ? SAID[holds] : "approvals.said-no", { title }), run);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "APPROVAL_RESOLVED") throw error;
      // Not a failure: another answer was first. The card shows it in a moment.
      announcer.say(tooLate(error));
    } finally {
      live.markStale(["approvals", "procedures", "rules"]);
    }
  });
  const yes = origin === "tool" ? t("approvals.allow-once") : t("approvals.approve");
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const card = form.current?.closest("article");
    const press = (event: KeyboardEvent): void => {
      if (isRunning || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const key = event.key.toLowerCase();
      if (key === "a") void answer("once");
      else if (key === "r") void answer(undefined);
    };
    card?.addEventListener("keydown", press);
    return () => card?.removeEventListener("keydown", press);
  });
  return (
    <div class="answer-form" ref={form}>
      <label for={id}>{t("approvals.feedback-optional")}</label>
      <input
        id={id}
        value={feedback}
        maxLength={4096}
        onInput={({ currentTarget }) => setFeedback(currentTarget.value)}
      />
      <div class="buttons answers">
        <Button
          kind="main"
          label={t(origin === "tool" ? "approvals.allow-once-which" : "approvals.approve-which", {
            n: String(n),
            title,
          })}
          busy={isRunning}
          onPress={() => void answer("once")}
        >
          {yes}
        </Button>
        <Button
          kind="danger"
          label={t("approvals.reject-2", { n: String(n), title })}
          busy={isRunning}
          onPress={() => void answer(undefined)}
        >
          {t("approvals.reject")}
        </Button>
      </div>
      {origin === "tool" && (
        <LastingApproval approval={approval} busy={isRunning} onChoose={(holds) => void answer(holds)} />
      )}
      <Problem error={error} />
    </div>
  );
}

interface LastingApprovalProps {
  readonly approval: Approval;
  readonly busy: boolean;
  readonly onChoose: (holds: Holds) => void;
}

/** A lasting approval. The pattern it covers is above its button, so that it is read first. */
function LastingApproval({ approval: { n, title, detail, offers }, busy, onChoose }: LastingApprovalProps) {
  const { conversation, always, reason } = offers;
  if (conversation === null && always === null) {
    return reason === null ? null : (
      <p class="hint">{t("approvals.this-call-can-be-allowed", { reason: visible(reason) })}</p>
    );
  }
  return (
    <details class="longer">
      <summary>{t("approvals.allow-for-longer")}</summary>
      {conversation !== null && (
        <div class="offer">
          <p>{t("approvals.in-this-conversation-allow-exactly")}</p>
          <Pattern text={conversation} />
          <Button
            label={t("approvals.allow-in-this-conversation-2", { n: String(n), title })}
            busy={busy}
            onPress={() => onChoose("conversation")}
          >
            {t("approvals.allow-in-this-conversation")}
          </Button>
        </div>
      )}
      {always !== null && (
        <div class="offer">
          <p>
            {rich("approvals.in-every-conversation-of-the", { agent: <code>{visible(detail?.agent ?? "")}</code> })}
          </p>
          <Pattern text={always} />
          <Button
            label={t("approvals.always-allow-2", { n: String(n), title })}
            busy={busy}
            onPress={() => onChoose("always")}
          >
            {t("approvals.always-allow")}
          </Button>
        </div>
      )}
      {always === null && reason !== null && <p class="hint">{visible(reason)}</p>}
    </details>
  );
}

const Pattern = ({ text }: { readonly text: string }) => (
  <pre class="command">
    <code dir="ltr">{visible(text)}</code>
  </pre>
);

function tooLate({ fields: { by, at }, message }: ApiError): string {
  if (typeof by !== "string" || typeof at !== "string") return message;
  return t("approvals.was-first-your-answer-changed", { by, relative: relative(Date.parse(at), Date.now()) });
}
