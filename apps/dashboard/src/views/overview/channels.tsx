import type { Channel } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Name } from "../../parts/name.tsx";
import { Section } from "../../parts/section.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";

const COLUMNS: readonly Column<Channel>[] = [
  { label: "Channel", cell: ({ id }) => <Name>{id}</Name> },
  {
    label: "State",
    cell: ({ state, reason }) => (
      <>
        <Badge state={state} /> {reason === null ? "" : <Name>{reason}</Name>}
      </>
    ),
  },
  { label: "Last message", cell: ({ last_message_at: at }) => (at ? <Ago at={at} /> : "none yet"), narrow: true },
  {
    label: "Last error",
    cell: ({ last_error: error }) =>
      error ? (
        <>
          <code>{error.code}</code> <Ago at={error.at} /> <Name>{error.message}</Name>
        </>
      ) : (
        "none"
      ),
  },
];

export function Channels({ channels }: { readonly channels: readonly Channel[] }) {
  return (
    <Section title="Channels">
      {channels.length === 0 ? (
        <Empty title="No channel is on.">
          Write the section of one into the config, then: <Command>svc reload</Command>
        </Empty>
      ) : (
        <Table label="Channels" columns={COLUMNS} rows={channels} keyOf={({ id }) => id} />
      )}
    </Section>
  );
}
