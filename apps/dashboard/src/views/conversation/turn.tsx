/** One turn: its message, its answer, why that is not whole, and what can be done about it. */
import { useMemo, useState } from "preact/hooks";
import { path } from "../../client/api.ts";
import { Button } from "../../components/button.tsx";
import { Problem } from "../../components/shown.tsx";
import { ServiceText } from "../../components/text.tsx";
import { useServices } from "../../services.ts";
import { remember, remembered } from "../../state/tab-memory.ts";
import { useAction } from "../../state/use-action.ts";
import { language, rich, t, wordOf } from "../../texts/texts.ts";
import { type LiveTurn, partsOf } from "./live-turns.ts";
import { Answering, Message } from "./message.tsx";
import type { FollowUp, Turn as StoredTurn } from "./transcript.ts";

interface Props {
  readonly turn: StoredTurn;
  readonly live: LiveTurn | undefined;
  /** None: nothing can be done, or not by this device. */
  readonly ways: readonly FollowUp[];
  readonly conversation: string;
  /** Reads the conversation again. */
  readonly onSent: () => Promise<void>;
}

/** In a long conversation only the changing turn renders again. */
export function Turn({ turn, live, ways, conversation, onSent }: Props) {
  const props = { turn, live, ways, conversation, onSent };
  return useMemo(() => <Drawn {...props} />, [...Object.values(props), language()]);
}

function Drawn({ turn, live, ways, conversation, onSent }: Props) {
  const { messages } = turn;
  const [first] = messages;
  if (first === undefined) return null;
  if (first.replaced) {
    return (
      <li class="replaced">
        <details>
          <summary>{t("sessions.earlier-attempt", { state: wordOf(first.state) })}</summary>
          <ol class="thread">
            <Messages turn={turn} conversation={conversation} />
            <Why turn={turn} />
          </ol>
        </details>
      </li>
    );
  }
  if (first.state === "running") {
    const asked = messages.filter(({ role }) => role === "user");
    return (
      <>
        {asked.map((message, index) => (
          <Message key={index} message={message} conversation={conversation} />
        ))}
        <Answering parts={partsOf(messages, live)} waiting={live?.waiting} />
      </>
    );
  }
  return (
    <>
      <Messages turn={turn} conversation={conversation} />
      <Why turn={turn}>
        {ways.length > 0 && <FollowUps turn={turn} ways={ways} conversation={conversation} onSent={onSent} />}
      </Why>
    </>
  );
}

const Messages = ({ turn: { messages }, conversation }: Pick<Props, "turn" | "conversation">) => (
  <>
    {messages.map((message, index) => (
      <Message key={index} message={message} conversation={conversation} />
    ))}
  </>
);

function Why({ turn: { messages }, children }: Pick<Props, "turn"> & { readonly children?: preact.ComponentChildren }) {
  const [first] = messages;
  if (!first?.problem) return null;
  const { state, problem } = first;
  return (
    <li class={`why ${state}`}>
      <p>
        <strong>{state === "stopped" ? t("sessions.stopped") : t("sessions.failed")}</strong>{" "}
        <ServiceText>{problem.reason}</ServiceText> <code>{problem.code}</code>
      </p>
      {problem.said !== null && <p>{rich("common.the-provider-says", { said: <q dir="auto">{problem.said}</q> })}</p>}
      {problem.fix !== null && (
        <p>
          <strong>{t("common.fix")}</strong> <ServiceText>{problem.fix}</ServiceText>
        </p>
      )}
      {children}
    </li>
  );
}

function FollowUps({ turn, ways, conversation, onSent }: Omit<Props, "live">) {
  const { api } = useServices();
  const asked = turn.messages.find(({ role, kind }) => role === "user" && kind === "message");
  // They come with it again.
  const files = asked?.files.map(({ id }) => id) ?? [];
  const draft = `edit.${turn.id}`;
  const [edited, showEdited] = useState(() => remembered(draft));
  const edit = (text: string | undefined): void => {
    remember(draft, text);
    showEdited(text);
  };
  const base = path`/api/sessions/${conversation}/turns/${turn.id}`;
  const follow = useAction(async (how: FollowUp) => {
    await api.call(`${base}/${how}`, { method: "POST", ...(how === "edit" && { body: { message: edited, files } }) });
    remember(draft, undefined);
    await onSent();
  });
  if (edited !== undefined) {
    const isBlank = edited.trim() === "" && files.length === 0;
    return (
      <form
        class="edit"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBlank) void follow.run("edit");
        }}
      >
        <label for={draft}>{t("sessions.edited-message")}</label>
        <textarea id={draft} rows={3} value={edited} onInput={({ currentTarget }) => edit(currentTarget.value)} />
        <Problem error={follow.error} what={t("sessions.it-was-not-sent")} />
        <div class="buttons">
          <Button onPress={() => edit(undefined)}>{t("common.cancel")}</Button>
          <button type="submit" class="button main" aria-busy={follow.isRunning} disabled={isBlank}>
            {t("sessions.resend")}
          </button>
        </div>
      </form>
    );
  }
  const press = (how: FollowUp): void => void follow.run(how);
  return (
    <>
      <Problem error={follow.error} what={t("sessions.it-was-not-sent")} />
      <div class="buttons">
        {ways.includes("continue") && (
          <Button busy={follow.isRunning} onPress={() => press("continue")}>
            {t("sessions.continue")}
          </Button>
        )}
        <Button busy={follow.isRunning} onPress={() => press("retry")}>
          {t("sessions.retry")}
        </Button>
        {ways.includes("edit") && asked && (
          <Button disabled={follow.isRunning} onPress={() => edit(asked.text)}>
            {t("sessions.edit-and-resend")}
          </Button>
        )}
      </div>
    </>
  );
}
