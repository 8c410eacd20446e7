/** Whether all is well, and what wants a person. */
import type { Status } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { SafeLink } from "../../parts/safe-link.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { useMayOperate } from "../../session/use-device.ts";
import { useList } from "../../state/use-reader.ts";
import { hrefOf } from "../../route/route.ts";
import { bytes, dollars } from "../../text/words.ts";
import { duration } from "../../text/time.ts";
import { useTick } from "../../state/use-tick.ts";
import { Channels } from "./channels.tsx";
import { Throughput } from "./throughput.tsx";
import { Wanting } from "./wanting.tsx";
import { t } from "../../texts/texts.ts";

/** Uptime, memory and the picture change without an event. */
const AGAIN_MS = 15_000;

export function Overview() {
  const status = useList<Status>("/api/status", ["status"]);
  useTick(AGAIN_MS, () => void status.refresh());
  const mayOperate = useMayOperate();
  return (
    <>
      <Heading title={t("overview.overview")} />
      <Shown read={status}>
        {(shown) => (
          <>
            <Health status={shown} />
            {mayOperate && <Wanting messages={shown.messages} />}
            <Channels channels={shown.channels} />
            {shown.activity && <Throughput minutes={shown.activity.minutes} />}
            <Service status={shown} />
          </>
        )}
      </Shown>
    </>
  );
}

function Health({ status }: { readonly status: Status }) {
  const troubles = troublesOf(status);
  const mayOperate = useMayOperate();
  return (
    <section class={`health ${status.status}`} aria-label={t("overview.health")}>
      <p class="health-word">
        {status.status === "ok" && isEchoOnly(status) ? (
          <>
            <Badge state="waiting" /> {t("overview.only-the-built-in-echo")}{" "}
            <a href={hrefOf("setup")}>{t("common.connect-a-model")}</a>{" "}
          </>
        ) : (
          <>
            <Badge state={status.status} />{" "}
            {status.status === "ok" ? t("overview.all-parts-are-up") : t("overview.a-part-is-not-up")}{" "}
          </>
        )}
        {status.turns.running === 0
          ? t("overview.no-turn-runs")
          : t("overview.turns-that-run-waiting", { running: status.turns.running, waiting: status.turns.waiting })}
      </p>
      {troubles.length === 0 ? null : (
        <ul class="troubles">
          {troubles.map(({ text, fix, href }) => (
            <li key={text}>
              <span>
                <Name>{text}</Name>
              </span>
              {mayOperate && <a href={href}>{fix}</a>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface Trouble {
  readonly text: string;
  /** What to do about it, as the words of a link. */
  readonly fix: string;
  readonly href: string;
}

/** Each part that is not as it should be, with the place where that is put right. */
function troublesOf({ features, channels, database, unsigned, warnings, sandbox }: Status): Trouble[] {
  const checks = { fix: t("overview.run-the-checks"), href: hrefOf("doctor") };
  return [
    ...features
      .filter(({ state, reason }) => state === "failed" || (state === "waiting" && reason !== null))
      .map(({ id, state, reason }) => {
        const channel = channels.find(({ feature }) => feature === id);
        const what = state === "failed" ? "overview.does-not-run" : "overview.is-not-connected";
        const text = t(what, { id: channel?.id ?? id, reason: reason ?? t("overview.see-the-log") });
        return {
          text: channel === undefined ? text : `${text} ${t("overview.messages-wait-and-will-be")}`,
          ...(channel === undefined
            ? { fix: t("overview.read-its-log"), href: hrefOf("logs", undefined, { text: id }) }
            : { fix: t("overview.fix-the-channel"), href: hrefOf("channels", channel.id) }),
        };
      }),
    ...(database.writable ? [] : [{ text: t("overview.nothing-can-be-written-to"), ...checks }]),
    ...unsigned.map((id) => ({
      text: t("overview.takes-messages-without-checking-a", { id }),
      fix: t("overview.set-its-secret"),
      href: hrefOf("channels", id),
    })),
    ...warnings.map((text) => ({ text, ...checks })),
    ...(sandbox.warning === null
      ? []
      : [
          {
            text: sandboxText(sandbox),
            fix: t("overview.choose-a-sandbox"),
            href: hrefOf("settings", "security.sandbox"),
          },
        ]),
  ];
}

/** No agent has a real model. */
const isEchoOnly = ({ model, agents }: Status): boolean =>
  model.provider === "builtin" && agents.every(({ provider }) => provider === "builtin");

const sandboxText = ({ summary, fix }: Status["sandbox"]): string =>
  fix === null ? summary : t("overview.to-confine-commands", { summary, fix });

function Service({ status }: { readonly status: Status }) {
  const agents = status.agents.map(({ name, cost_today_usd, price_known }) =>
    price_known ? `${name}: ${dollars(cost_today_usd)}` : t("overview.price-unknown", { name }),
  );
  return (
    <Section title={t("overview.the-service")}>
      <Facts
        facts={[
          [t("overview.version"), `${status.version} (${status.commit}), ${status.profile}`],
          [t("overview.up-for"), duration(status.uptime_secs * 1000)],
          [t("common.model"), <Name>{`${status.model.provider} / ${status.model.name}`}</Name>],
          [t("overview.spent-today"), <Name>{agents.join(", ")}</Name>],
          [
            t("common.sandbox"),
            <Name>{status.sandbox.confined ? status.sandbox.effective : sandboxText(status.sandbox)}</Name>,
          ],
          [t("overview.address"), <SafeLink url={status.public_url ?? status.url} />],
          [t("overview.memory"), bytes(status.memory_rss_bytes)],
          [t("overview.database"), bytes(status.database.bytes)],
        ]}
      />
    </Section>
  );
}
