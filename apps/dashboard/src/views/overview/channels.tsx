import type { ChannelStatus } from "@svc/api";
import { Empty, Section } from "../../components/layout.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Name, ServiceText } from "../../components/text.tsx";
import { Ago, Badge } from "../../components/values.tsx";
import { hrefOf } from "../../state/route.ts";
import { useList, useRunningFeatures } from "../../state/use-reader.ts";
import { dollars } from "../../texts/format.ts";
import { number, t } from "../../texts/texts.ts";
import { LinkDevice } from "./link-device.tsx";
import { VerifyDevice } from "./verify-device.tsx";

const COLUMNS: readonly Column<ChannelStatus>[] = [
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

/** The newer error of the channel or of a message. The channel's stays after a recovery. */
function LastError({ last_failure: failure, last_error: error }: ChannelStatus) {
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

export function Channels({ channels }: { readonly channels: readonly ChannelStatus[] }) {
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

/** Feature and channel of the microphone. */
const FEATURE = "voice-wake";
const CHANNEL = "voice_wake";

interface Microphone {
  readonly state: string;
  readonly transcriptions: number;
  readonly limit: number;
  readonly cost_usd: number | null;
}

/** State of the microphone, and its cost in the last hour. */
function MicrophoneState({ channel }: { readonly channel: string }) {
  const running = useRunningFeatures();
  return channel === CHANNEL && running.has(FEATURE) ? <Listening /> : null;
}

function Listening() {
  const { data } = useList<Microphone>("/api/voice-wake", ["voice", "status"]);
  if (!data) return null;
  return (
    <p role="status">
      <Badge state={data.state} />{" "}
      {t("overview.transcriptions", { count: number(data.transcriptions), limit: number(data.limit) })}
      {data.cost_usd !== null && `, ${dollars(data.cost_usd)}`}
    </p>
  );
}
