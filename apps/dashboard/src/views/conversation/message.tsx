/** One message, stored or growing. */
import type { MessageAuthor, SessionCall, SessionMessage } from "@svc/api";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Markdown } from "../../components/markdown.tsx";
import { Name, Prose, ServiceText } from "../../components/text.tsx";
import { Ago, Badge, Json } from "../../components/values.tsx";
import { useDevice } from "../../services.ts";
import { useTick } from "../../state/use-window.ts";
import { rich, t } from "../../texts/texts.ts";
import type { LivePart, Waiting } from "./live-turns.ts";
import { MessageFiles } from "./message-files.tsx";

export function Message({
  message,
  conversation,
}: {
  readonly message: SessionMessage;
  readonly conversation: string;
}) {
  const { turn_id: turn, role, text, files, at, calls, kind, author, state } = message;
  const aside = state === "waiting" ? t("sessions.queued-behind-the-current-answer") : <Ago at={at} />;
  if (kind === "continue" && role === "user") {
    return (
      <li class="note" data-turn={turn}>
        {rich("sessions.asked-for-the-rest-of", { writer: <Writer author={author} /> })}{" "}
        <span class="hint">{aside}</span>
      </li>
    );
  }
  const isUser = role === "user";
  const writer = isUser || kind === "by_hand" ? <Writer author={author} /> : t("common.agent");
  return (
    <Bubble role={role} turn={turn} writer={writer} aside={aside}>
      {calls.map((call) => (
        <Call key={call.call_id} call={call} />
      ))}
      <MessageFiles conversation={conversation} files={files} />
      {text === "" ? null : isUser ? <Prose>{text}</Prose> : <Markdown text={text} />}
      {kind === "by_hand" && !isUser && <p class="hint">{t("sessions.sent-by-hand-as-the")}</p>}
    </Bubble>
  );
}

/** The author of a message; unknown for messages of older versions. */
function Writer({ author }: { readonly author: MessageAuthor | null }) {
  const current = useDevice();
  if (author === null) return <>{t("common.person")}</>;
  switch (author.kind) {
    case "device":
      return (
        <>
          <Name>{author.name ?? t("sessions.removed-device")}</Name>
          {author.id === current?.id && <span class="mark"> {t("sessions.this-device")}</span>}
        </>
      );
    case "person":
      return <Name>{author.name ?? author.id ?? t("common.person")}</Name>;
    case "terminal":
      return <>{t("common.terminal")}</>;
    case "anonymous":
      return <>{t("sessions.webhook-without-a-token")}</>;
  }
}

interface BubbleProps {
  readonly role: SessionMessage["role"];
  readonly writer: ComponentChildren;
  /** Anchor for links. */
  readonly turn?: string;
  readonly aside: ComponentChildren;
  readonly children: ComponentChildren;
}

function Bubble({ role, writer, turn, aside, children }: BubbleProps) {
  return (
    <li class={`bubble ${role}`} data-turn={turn}>
      <p class="bubble-head">
        <strong>{writer}</strong> <span class="hint">{aside}</span>
      </p>
      {children}
    </li>
  );
}

function Call({ call: { tool, outcome, input, output } }: { readonly call: SessionCall }) {
  return (
    <div class="call">
      <Badge state={outcome} /> <code>{tool}</code>
      <Json label={t("sessions.input-and-output")} value={{ input, output }} />
    </div>
  );
}

/** A running answer. */
export function Answering({
  parts,
  waiting,
}: {
  readonly parts: readonly LivePart[];
  readonly waiting?: Waiting | undefined;
}) {
  return (
    <Bubble
      role="assistant"
      writer={t("common.agent")}
      aside={<span class="working">{waiting ? t("sessions.retrying") : t("sessions.answering")}</span>}
    >
      {parts.map((part, index) =>
        part.kind === "text" ? <Markdown key={index} text={part.text} /> : <LiveCall key={index} call={part} />,
      )}
      {waiting && <WaitingNote waiting={waiting} />}
    </Bubble>
  );
}

function LiveCall({ call: { tool, ok, isRejected } }: { readonly call: Extract<LivePart, { kind: "call" }> }) {
  const state = ok === undefined ? "running" : ok ? "done" : isRejected ? "rejected" : "failed";
  return (
    <p class="call">
      <Badge state={state} busy={ok === undefined} /> <code>{tool}</code>
    </p>
  );
}

/** The model call failed temporarily: the reason, and the time until the next attempt. */
const TICK_MS = 250;

function WaitingNote({ waiting }: { readonly waiting: Waiting }) {
  const { message, untilMs, attempt, attempts } = waiting;
  const [now, setNow] = useState(() => Date.now());
  useTick(TICK_MS, () => setNow(Date.now()));
  const left = Math.ceil((untilMs - now) / 1000);
  return (
    <p class="retry-note" role="status">
      <ServiceText>{message}</ServiceText> {/* Read out once, not every second. */}
      <span aria-live="off">
        {left > 0 ? t("sessions.trying-again-in-s", { n: left }) : t("sessions.trying-again")}
      </span>
      <span class="hint">{` ${t("sessions.try-of", { attempt, attempts })}`}</span>
    </p>
  );
}
