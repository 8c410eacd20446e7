/** Health of the service, and what needs a person. */
import type { ActivityMinute, StatusReport } from "@svc/api";
import { Facts, Heading, Section } from "../../components/layout.tsx";
import { Shown } from "../../components/shown.tsx";
import { Name } from "../../components/text.tsx";
import { Badge } from "../../components/values.tsx";
import { useMayOperate } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useList } from "../../state/use-reader.ts";
import { useTick } from "../../state/use-window.ts";
import { bytes, dollars, duration, exact } from "../../texts/format.ts";
import { number, t, wordOf } from "../../texts/texts.ts";
import { WaitingApprovals } from "../approvals/approvals.tsx";
import { Channels } from "./channels.tsx";

/** Uptime, memory and the picture change without an event. */
const REFRESH_MS = 15_000;

export function Overview() {
  const status = useList<StatusReport>("/api/status", ["status"]);
  useTick(REFRESH_MS, () => void status.refresh());
  const mayOperate = useMayOperate();
  return (
    <>
      <Heading title={t("overview.overview")} />
      <Shown read={status}>
        {(shown) => (
          <>
            <Health status={shown} />
            {mayOperate && <NeedsAttention messages={shown.messages} />}
            <Channels channels={shown.channels} />
            {shown.activity && <Throughput minutes={shown.activity.minutes} />}
            <Service status={shown} />
          </>
        )}
      </Shown>
    </>
  );
}

function Health({ status }: { readonly status: StatusReport }) {
  const healthProblems = healthProblemsOf(status);
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
      {healthProblems.length === 0 ? null : (
        <ul class="troubles">
          {healthProblems.map(({ text, fix, href }) => (
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

interface HealthProblem {
  readonly text: string;
  /** Text of the link to the fix. */
  readonly fix: string;
  readonly href: string;
}

/** Each problem, with a link to the view that fixes it. */
function healthProblemsOf({
  features,
  channels,
  database,
  unsigned,
  warnings,
  sandbox,
}: StatusReport): HealthProblem[] {
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
const isEchoOnly = ({ model, agents }: StatusReport): boolean =>
  model.provider === "builtin" && agents.every(({ provider }) => provider === "builtin");

const sandboxText = ({ summary, fix }: StatusReport["sandbox"]): string =>
  fix === null ? summary : t("overview.to-confine-commands", { summary, fix });

function Service({ status }: { readonly status: StatusReport }) {
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

/** A link only for http and https: an address from outside may be `javascript:`. */
function SafeLink({ url }: { readonly url: string }) {
  return isPage(url) ? (
    <a href={url} rel="noopener noreferrer" target="_blank">
      {url}
    </a>
  ) : (
    <span class="url">{url}</span>
  );
}

function isPage(url: string): boolean {
  return URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
}

/** Pending approvals and failed messages. */
function NeedsAttention({ messages }: { readonly messages: StatusReport["messages"] }) {
  const { dead, failed, waiting, outgoing, oldest_waiting_secs: oldest } = messages;
  return (
    <div class="pair">
      <Section
        title={t("overview.waiting-approvals")}
        aside={<a href={hrefOf("approvals")}>{t("overview.all-approvals")}</a>}
      >
        <WaitingApprovals most={3} />
      </Section>
      <Section title={t("common.messages")} aside={<a href={hrefOf("inbox")}>{t("overview.the-inbox")}</a>}>
        <ul class="figures">
          <Figure n={dead} what={t("overview.could-not-be-delivered")} state="dead" alarming />
          <Figure n={failed} what={t("overview.could-not-be-answered")} state="failed" alarming />
          <Figure n={waiting + outgoing} what={t("overview.on-their-way")} state="waiting" />
        </ul>
        {oldest === null ? null : (
          <p class="hint">{t("overview.the-oldest-has-waited-for", { duration: duration(oldest * 1000) })}</p>
        )}
      </Section>
    </div>
  );
}

interface FigureProps {
  readonly n: number;
  readonly what: string;
  readonly state: string;
  readonly alarming?: boolean;
}

function Figure({ n, what, state, alarming = false }: FigureProps) {
  return (
    <li class={alarming && n > 0 ? "figure alarming" : "figure"}>
      <a href={hrefOf("inbox", undefined, { state })}>
        <strong>{n}</strong> {what}
      </a>
    </li>
  );
}

/** The last hour, one column per minute: answers above the line, failures below, incoming messages as dots. */
const WIDTH = 10;
const ABOVE = 72;
const BELOW = 24;

type Count = "received" | "answered" | "delivered" | "failed";

function Throughput({ minutes }: { readonly minutes: readonly ActivityMinute[] }) {
  const total = (key: Count): number => minutes.reduce((sum, minute) => sum + minute[key], 0);
  const words = t("overview.minute-counts", {
    received: total("received"),
    answered: total("answered"),
    delivered: total("delivered"),
    failed: total("failed"),
  });
  const most = Math.max(1, ...minutes.map(({ received, answered, failed }) => Math.max(received, answered, failed)));
  return (
    <Section title={t("overview.the-last-hour")} aside={<Legend total={total} />}>
      <svg
        class="throughput"
        viewBox={`0 0 ${minutes.length * WIDTH} ${ABOVE + BELOW}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t("overview.the-last-hour-2", { words })}
      >
        <line class="axis" x1="0" x2={minutes.length * WIDTH} y1={ABOVE} y2={ABOVE} />
        {minutes.map((minute, index) => (
          <Column key={minute.at} minute={minute} x={index * WIDTH} most={most} />
        ))}
      </svg>
      <p class="scale">
        <span>{t("overview.an-hour-ago")}</span>
        <span>{t("overview.at-most-a-minute", { most })}</span>
        <span>{t("overview.now")}</span>
      </p>
    </Section>
  );
}

function Column({ minute, x, most }: { readonly minute: ActivityMinute; readonly x: number; readonly most: number }) {
  const { at, received, answered, delivered, failed } = minute;
  const up = (answered / most) * (ABOVE - 4);
  const down = (failed / most) * (BELOW - 2);
  return (
    <g>
      <title>{`${exact(Date.parse(at))}: ${t("overview.minute-counts", { received, answered, delivered, failed })}`}</title>
      <rect class="hover" x={x} y="0" width={WIDTH} height={ABOVE + BELOW} />
      {up > 0 && <rect class="answered" x={x + 1.5} y={ABOVE - up} width={WIDTH - 3} height={up} />}
      {down > 0 && <rect class="failed" x={x + 1.5} y={ABOVE + 1} width={WIDTH - 3} height={down} />}
      {received > 0 && (
        <rect
          class="received"
          x={x + 1.5}
          y={ABOVE - (received / most) * (ABOVE - 4) - 1}
          width={WIDTH - 3}
          height="2"
        />
      )}
    </g>
  );
}

function Legend({ total }: { readonly total: (key: Count) => number }) {
  return (
    <ul class="legend">
      {(["received", "answered", "delivered", "failed"] as const).map((key) => (
        <li key={key} class={key}>
          {number(total(key))} {wordOf(key)}
        </li>
      ))}
    </ul>
  );
}
