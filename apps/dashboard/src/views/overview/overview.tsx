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

/** Uptime, memory and the picture change without an event. */
const AGAIN_MS = 15_000;

export function Overview() {
  const status = useList<Status>("/api/status", ["status"]);
  useTick(AGAIN_MS, () => void status.refresh());
  const mayOperate = useMayOperate();
  return (
    <>
      <Heading title="Overview" />
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
    <section class={`health ${status.status}`} aria-label="Health">
      <p class="health-word">
        {status.status === "ok" && isEchoOnly(status) ? (
          <>
            <Badge state="waiting" /> Only the built-in echo answers. <a href={hrefOf("setup")}>Connect a model</a>{" "}
          </>
        ) : (
          <>
            <Badge state={status.status} /> {status.status === "ok" ? "All parts are up." : "A part is not up."}{" "}
          </>
        )}
        {status.turns.running === 0
          ? "No turn runs."
          : `Turns that run: ${status.turns.running}, waiting: ${status.turns.waiting}.`}
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
  const checks = { fix: "Run the checks", href: hrefOf("doctor") };
  return [
    ...features
      .filter(({ state, reason }) => state === "failed" || (state === "waiting" && reason !== null))
      .map(({ id, state, reason }) => {
        const channel = channels.find(({ feature }) => feature === id);
        const what = state === "failed" ? "does not run" : "is not connected";
        const then = channel === undefined ? "" : " Messages wait and will be sent.";
        return {
          text: `${channel?.id ?? id} ${what}: ${reason ?? "see the log"}${then}`,
          ...(channel === undefined
            ? { fix: "Read its log", href: hrefOf("logs", undefined, { text: id }) }
            : { fix: "Fix the channel", href: hrefOf("channels", channel.id) }),
        };
      }),
    ...(database.writable ? [] : [{ text: "Nothing can be written to the database: is the disk full?", ...checks }]),
    ...unsigned.map((id) => ({
      text: `${id} takes messages without checking a signature.`,
      fix: "Set its secret",
      href: hrefOf("channels", id),
    })),
    ...warnings.map((text) => ({ text, ...checks })),
    ...(sandbox.warning === null
      ? []
      : [{ text: sandboxText(sandbox), fix: "Choose a sandbox", href: hrefOf("settings", "security.sandbox") }]),
  ];
}

/** No agent has a real model. */
const isEchoOnly = ({ model, agents }: Status): boolean =>
  model.provider === "builtin" && agents.every(({ provider }) => provider === "builtin");

const sandboxText = ({ summary, fix }: Status["sandbox"]): string =>
  fix === null ? summary : `${summary} To confine commands: ${fix}`;

function Service({ status }: { readonly status: Status }) {
  const agents = status.agents.map(({ name, cost_today_usd, price_known }) =>
    price_known ? `${name}: ${dollars(cost_today_usd)}` : `${name}: price unknown`,
  );
  return (
    <Section title="The service">
      <Facts
        facts={[
          ["Version", `${status.version} (${status.commit}), ${status.profile}`],
          ["Up for", duration(status.uptime_secs * 1000)],
          ["Model", <Name>{`${status.model.provider} / ${status.model.name}`}</Name>],
          ["Spent today", <Name>{agents.join(", ")}</Name>],
          ["Sandbox", <Name>{status.sandbox.confined ? status.sandbox.effective : sandboxText(status.sandbox)}</Name>],
          ["Address", <SafeLink url={status.public_url ?? status.url} />],
          ["Memory", bytes(status.memory_rss_bytes)],
          ["Database", bytes(status.database.bytes)],
        ]}
      />
    </Section>
  );
}
