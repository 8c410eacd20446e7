/** Incoming and outgoing messages of channels; failed ones first. */
import type { InboxList, InboxMessage, InboxMessageDetail } from "@svc/api";
import { useState } from "preact/hooks";
import { path } from "../client/api.ts";
import { Button } from "../components/button.tsx";
import { Confirmed } from "../components/dialog.tsx";
import { Choice, SearchField } from "../components/fields.tsx";
import { Command, Empty, Facts, Heading, Section } from "../components/layout.tsx";
import { Markdown } from "../components/markdown.tsx";
import { Problem, Shown } from "../components/shown.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Name, Prose } from "../components/text.tsx";
import { Ago, Badge, Json } from "../components/values.tsx";
import { useServices } from "../services.ts";
import { hrefOf } from "../state/route.ts";
import { useAction } from "../state/use-action.ts";
import { useList } from "../state/use-reader.ts";
import { number, rich, t, wordOf } from "../texts/texts.ts";

const LIMIT = 100;

const BOXES = ["", "in", "out"] as const;

const STATES = ["", "waiting", "done", "sent", "failed", "dead", "dropped"] as const;

type Box = (typeof BOXES)[number];

type State = (typeof STATES)[number];

export function Inbox() {
  const { query } = useServices().route.value;
  const [box, setBox] = useState<Box>("");
  const [state, setState] = useState<State>(STATES.find((known) => known === query["state"]) ?? "");
  const [channel, setChannel] = useState(query["channel"] ?? "");
  const inbox = useList<InboxList>("/api/inbox", ["inbox"], { box, state, channel: channel.trim(), limit: LIMIT });
  return (
    <>
      <Heading title={t("inbox.inbox-and-dead-letters")} />
      <div class="filters">
        <Choice label={t("inbox.box")} options={BOXES} value={box} onChoose={setBox} />
        <Choice label={t("common.state")} options={STATES} value={state} onChoose={setState} />
        <SearchField label={t("common.channel")} value={channel} onChange={setChannel} />
      </div>
      <Shown read={inbox}>
        {({ messages, counts }) => (
          <>
            <Counts counts={counts} />
            {messages.length === 0 ? (
              <Empty
                title={
                  box + state + channel === "" ? t("common.no-message-has-come-or") : t("inbox.nothing-fits-the-filter")
                }
              >
                {rich("inbox.send-one-as-a-platform", { command: <Command>svc webhook send</Command> })}
              </Empty>
            ) : (
              <Table label={t("common.messages")} columns={MESSAGE_COLUMNS} rows={messages} keyOf={({ id }) => id} />
            )}
            {messages.length === LIMIT && <p class="hint">{t("inbox.the-newest-the-filters-lead", { n: LIMIT })}</p>}
          </>
        )}
      </Shown>
    </>
  );
}

function Counts({ counts: { inbox, outbox } }: Pick<InboxList, "counts">) {
  const words = (box: Readonly<Record<string, number>>): string =>
    Object.entries(box)
      .map(([state, n]) => `${number(n)} ${wordOf(state)}`)
      .join(", ");
  return <p class="hint">{t("inbox.in-out", { inbox: words(inbox), outbox: words(outbox) })}</p>;
}

/** Includes the reason for waiting, unless it only waits for its turn. */
const shownState = ({ state, waits_for: what }: InboxMessage): string =>
  what === null ? state : `${state}_for_${what}`;

export const MESSAGE_COLUMNS: readonly Column<InboxMessage>[] = [
  {
    label: "common.message",
    cell: ({ id }) => (
      <a class="message-id" href={hrefOf("inbox", id)}>
        {id}
      </a>
    ),
    narrow: true,
  },
  { label: "common.state", cell: (message) => <Badge state={shownState(message)} />, narrow: true },
  {
    label: "inbox.where",
    cell: ({ channel, conversation, sender }) => (
      <>
        <Name>{channel}</Name> <span class="hint">{<Name>{sender ?? conversation?.id ?? ""}</Name>}</span>
      </>
    ),
  },
  { label: "inbox.text", cell: ({ text }) => <span class="clip">{<Name>{text}</Name>}</span> },
  {
    label: "common.problem",
    cell: ({ error, attempts }) =>
      error === null ? (
        t("common.none")
      ) : (
        <>
          <code>{error}</code> {t("inbox.attempts", { n: attempts })}
        </>
      ),
    narrow: true,
  },
  { label: "common.when", cell: ({ at }) => <Ago at={at} />, narrow: true },
];

/** States in which a message can be replayed or discarded. */
const REPLAYABLE = new Set(["failed", "dead", "dropped"]);

/** One message, its deliveries, and the actions on it. */
export function OneMessage({ id }: { readonly id: string }) {
  const { api, live } = useServices();
  const message = useList<InboxMessageDetail>(path`/api/inbox/${id}`, ["inbox"]);
  const changed = (): void => live.markStale(["inbox", "status"]);
  const replay = useAction(() => api.call(path`/api/inbox/${id}/replay`, { method: "POST" }).finally(changed));
  const drop = (): Promise<unknown> => api.call(path`/api/inbox/${id}`, { method: "DELETE" }).finally(changed);
  const undelivered = message.data?.deliveries.some(({ state }) => REPLAYABLE.has(state)) ?? false;
  const canReplay = message.data !== undefined && (REPLAYABLE.has(message.data.state) || undelivered);
  return (
    <>
      <Heading title={t("inbox.message", { id })}>
        {canReplay && (
          <Button kind="main" busy={replay.isRunning} onPress={() => void replay.run()}>
            {t("common.try-again")}
          </Button>
        )}
        {message.data !== undefined && ["waiting", "failed", "dead"].includes(message.data.state) && (
          <Confirmed text={t("inbox.drop")} question={t("inbox.give-this-message-up")} act={drop}>
            <p>{t("inbox.stopped-trying")}</p>
          </Confirmed>
        )}
      </Heading>
      <Problem error={replay.error} />
      <Shown read={message}>{(shown) => <Detail message={shown} />}</Shown>
      <p>
        <a href={hrefOf("inbox")}>{t("common.all-messages")}</a>
      </p>
    </>
  );
}

function Detail({ message }: { readonly message: InboxMessageDetail }) {
  const optional = (text: string | null) => (text === null ? undefined : <Name>{text}</Name>);
  return (
    <>
      <Facts
        facts={[
          [t("common.state"), <Badge state={shownState(message)} />],
          [t("common.kind"), wordOf(message.kind)],
          [t("common.channel"), <Name>{message.channel}</Name>],
          [t("common.conversation"), optional(message.conversation?.id ?? null)],
          [t("inbox.from"), optional(message.sender)],
          [t("common.when"), <Ago at={message.at} />],
          [t("inbox.attempts-made"), number(message.attempts)],
          [t("common.problem"), message.error === null ? undefined : <code>{message.error}</code>],
          [t("inbox.the-platform-says"), optional(message.platform_reason ?? message.platform_status)],
          [t("inbox.id-at-the-platform"), optional(message.platform_id)],
          [t("inbox.turn"), optional(message.turn_id)],
        ]}
      />
      <div class="card">
        {message.id.startsWith("out-") ? <Markdown text={message.text} /> : <Prose>{message.text}</Prose>}
      </div>
      {message.files.length > 0 && (
        <ul>
          {message.files.map(({ kind, name }, index) => (
            <li key={index}>
              {wordOf(kind)}: <Name>{name}</Name>
            </li>
          ))}
        </ul>
      )}
      {message.notice === null ? null : <Json label={t("inbox.the-notice")} value={message.notice} />}
      {message.deliveries.length > 0 && (
        <Section title={t("inbox.what-went-out-for-it")}>
          <Table
            label={t("inbox.deliveries")}
            columns={MESSAGE_COLUMNS}
            rows={message.deliveries}
            keyOf={({ id }) => id}
          />
        </Section>
      )}
    </>
  );
}
