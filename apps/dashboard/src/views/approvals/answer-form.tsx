import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/api-error.ts";
import { path } from "../../api/client.ts";
import type { Approval } from "../../api/governed-shapes.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { relative } from "../../text/time.ts";
import { visible } from "../../text/visible.ts";

type Holds = NonNullable<NonNullable<Approval["answer"]>["holds"]>;

const SAID: Readonly<Record<Holds, string>> = {
  once: "Approved",
  conversation: "Approved for this conversation",
  always: "Always approved",
};

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
      announcer.say(`${approved ? SAID[holds] : "Rejected"}: ${title}`, run);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "APPROVAL_RESOLVED") throw error;
      // Nothing went wrong. The card will show the answer in a moment; this says whose buttons were too late.
      announcer.say(tooLate(error));
    } finally {
      live.markStale(["approvals", "procedures", "rules"]);
    }
  });
  const yes = origin === "tool" ? "Allow once" : "Approve";
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
      <label for={id}>Feedback (optional)</label>
      <input
        id={id}
        value={feedback}
        maxLength={4096}
        onInput={({ currentTarget }) => setFeedback(currentTarget.value)}
      />
      <div class="buttons answers">
        <Button kind="main" label={`${yes} #${n}: ${title}`} busy={isRunning} onPress={() => void answer("once")}>
          {yes}
        </Button>
        <Button kind="danger" label={`Reject #${n}: ${title}`} busy={isRunning} onPress={() => void answer(undefined)}>
          Reject
        </Button>
      </div>
      {origin === "tool" && <Longer approval={approval} busy={isRunning} onChoose={(holds) => void answer(holds)} />}
      <Problem error={error} />
    </div>
  );
}

interface LongerProps {
  readonly approval: Approval;
  readonly busy: boolean;
  readonly onChoose: (holds: Holds) => void;
}

/** What a longer yes would cover stands above its button, so that it is read before it is chosen. */
function Longer({ approval: { n, title, detail, offers }, busy, onChoose }: LongerProps) {
  const { conversation, always, reason } = offers;
  if (conversation === null && always === null) {
    return reason === null ? null : <p class="hint">This call can be allowed only once. {visible(reason)}</p>;
  }
  return (
    <details class="longer">
      <summary>Allow for longer</summary>
      {conversation !== null && (
        <div class="offer">
          <p>In this conversation, allow exactly this without asking again:</p>
          <Pattern text={conversation} />
          <Button
            label={`Allow in this conversation #${n}: ${title}`}
            busy={busy}
            onPress={() => onChoose("conversation")}
          >
            Allow in this conversation
          </Button>
        </div>
      )}
      {always !== null && (
        <div class="offer">
          <p>
            In every conversation of the agent <code>{visible(detail?.agent ?? "")}</code>, allow exactly this until you
            revoke it:
          </p>
          <Pattern text={always} />
          <Button label={`Always allow #${n}: ${title}`} busy={busy} onPress={() => onChoose("always")}>
            Always allow
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

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;

function tooLate({ fields: { by, at }, message }: ApiError): string {
  if (typeof by !== "string" || typeof at !== "string") return message;
  return `${by} was first, ${relative(Date.parse(at), Date.now())}. Your answer changed nothing.`;
}
