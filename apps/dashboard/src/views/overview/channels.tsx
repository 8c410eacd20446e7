import type { Channel } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Name } from "../../parts/name.tsx";
import { Section } from "../../parts/section.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { MicrophoneState } from "./microphone-state.tsx";
import { VerifyDevice } from "./verify-device.tsx";

const COLUMNS: readonly Column<Channel>[] = [
  {
    label: "Channel",
    cell: ({ id }) => (
      <>
        <Name>{id}</Name> <VerifyDevice channel={id} /> <MicrophoneState channel={id} />
      </>
    ),
  },
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
    cell: LastError,
  },
];

/** Of the channel itself or of a message, whichever is newer. The channel's stays there when all is well again. */
function LastError({ last_failure: failure, last_error: error }: Channel) {
  if (failure && failure.at > (error?.at ?? "")) {
    return (
      <>
        <Name>{failure.reason}</Name> <Ago at={failure.at} />
      </>
    );
  }
  if (!error) return "none";
  return (
    <>
      <code>{error.code}</code> <Ago at={error.at} /> <Name>{error.message}</Name>
    </>
  );
}

export function Channels({ channels }: { readonly channels: readonly Channel[] }) {
  return (
    <Section title="Channels">
      {channels.length === 0 ? (
        <Empty title="No channel is on.">
          <a href={hrefOf("channels")}>Set one up</a>
        </Empty>
      ) : (
        <Table label="Channels" columns={COLUMNS} rows={channels} keyOf={({ id }) => id} />
      )}
    </Section>
  );
}
