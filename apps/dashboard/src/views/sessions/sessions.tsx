/** Conversations of devices and of channels. */
import type { Conversation } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { useDevice, useMayOperate } from "../../session/use-device.ts";
import { useList } from "../../state/use-reader.ts";
import { Owner } from "./owner.tsx";

const LIMIT = 100;

const COLUMNS: readonly Column<Conversation>[] = [
  {
    label: "Conversation",
    cell: ({ id, session_id: name, channel }) => (
      <a href={hrefOf("sessions", id)}>
        <Name>{channel?.id ?? name}</Name>
      </a>
    ),
  },
  { label: "Whose", cell: (conversation) => <Owner of={conversation} /> },
  { label: "Turns", cell: ({ turns }) => turns, narrow: true },
  {
    label: "State",
    cell: ({ running }) => <Badge state={running ? "answering" : "quiet"} busy={running} />,
    narrow: true,
  },
  { label: "Active", cell: ({ updated_at: at }) => <Ago at={at} />, narrow: true },
];

export function Sessions() {
  const sessions = useList<{ readonly sessions: readonly Conversation[] }>("/api/sessions", ["sessions"], {
    limit: LIMIT,
  });
  const device = useDevice();
  const mayOperate = useMayOperate();
  return (
    <>
      <Heading title="Sessions">
        {mayOperate && (
          <a class="button main" href={hrefOf("chat")}>
            New chat
          </a>
        )}
      </Heading>
      <Shown read={sessions}>
        {({ sessions: rows }) =>
          rows.length === 0 ? (
            <Empty
              title={
                device?.scope === "read" ? "This device has had no conversation." : "Nobody has said anything yet."
              }
            >
              Say something: <Command>svc chat</Command>
            </Empty>
          ) : (
            <>
              <Table label="Conversations" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
              {rows.length === LIMIT && <p class="hint">The {LIMIT} most recent ones.</p>}
            </>
          )
        }
      </Shown>
    </>
  );
}
