import type { Channel } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Name } from "../../parts/name.tsx";
import { Section } from "../../parts/section.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { LinkDevice } from "./link-device.tsx";
import { MicrophoneState } from "./microphone-state.tsx";
import { VerifyDevice } from "./verify-device.tsx";
import { t } from "../../texts/texts.ts";
import { ServiceText } from "../../parts/service-text.tsx";

const COLUMNS: readonly Column<Channel>[] = [
  {
    label: "common.channel",
    cell: ({ id }) => (
      <>
        <Name>{id}</Name> <VerifyDevice channel={id} /> <LinkDevice channel={id} /> <MicrophoneState channel={id} />
      </>
    ),
  },
  {
    label: "common.state",
    cell: ({ state, reason }) => (
      <>
        <Badge state={state} /> {reason === null ? "" : <ServiceText>{reason}</ServiceText>}
      </>
    ),
  },
  {
    label: "common.last-message",
    cell: ({ last_message_at: at }) => (at ? <Ago at={at} /> : t("overview.none-yet")),
    narrow: true,
  },
  {
    label: "overview.last-error",
    cell: LastError,
  },
];

/** The newer error, of the channel itself or of a message. The channel's stays after it has recovered. */
function LastError({ last_failure: failure, last_error: error }: Channel) {
  if (failure && failure.at > (error?.at ?? "")) {
    return (
      <>
        <ServiceText>{failure.reason}</ServiceText> <Ago at={failure.at} />
      </>
    );
  }
  if (!error) return t("common.none");
  return (
    <>
      <code>{error.code}</code> <Ago at={error.at} /> <ServiceText>{error.message}</ServiceText>
    </>
  );
}

export function Channels({ channels }: { readonly channels: readonly Channel[] }) {
  return (
    <Section title={t("common.channels")}>
      {channels.length === 0 ? (
        <Empty title={t("overview.no-channel-is-on")}>
          <a href={hrefOf("channels")}>{t("overview.set-one-up")}</a>
        </Empty>
      ) : (
        <Table label={t("common.channels")} columns={COLUMNS} rows={channels} keyOf={({ id }) => id} />
      )}
    </Section>
  );
}
