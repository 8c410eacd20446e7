/** Messages of channels, those that came in and those that go out; what did not get through first of all. */
import { useState } from "preact/hooks";
import type { Inbox as Listed } from "../../api/shapes.ts";
import { Choice } from "../../parts/choice.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { useServices } from "../../services.ts";
import { useList } from "../../state/use-reader.ts";
import { MAIL_COLUMNS } from "./mail-columns.tsx";
import { number, rich, t, wordOf } from "../../texts/texts.ts";

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
  const inbox = useList<Listed>("/api/inbox", ["inbox"], { box, state, channel: channel.trim(), limit: LIMIT });
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
              <Table label={t("common.messages")} columns={MAIL_COLUMNS} rows={messages} keyOf={({ id }) => id} />
            )}
            {messages.length === LIMIT && <p class="hint">{t("inbox.the-newest-the-filters-lead", { n: LIMIT })}</p>}
          </>
        )}
      </Shown>
    </>
  );
}

function Counts({ counts: { inbox, outbox } }: Pick<Listed, "counts">) {
  const words = (box: Readonly<Record<string, number>>): string =>
    Object.entries(box)
      .map(([state, n]) => `${number(n)} ${wordOf(state)}`)
      .join(", ");
  return <p class="hint">{t("inbox.in-out", { inbox: words(inbox), outbox: words(outbox) })}</p>;
}
