/** `svc webhook send`: one delivery as the platform would make it, to try a set-up before the platform is connected. */
import { randomUUID } from "node:crypto";
import { loadConfig } from "@svc/config";
import { EXIT, type SampleMessage, SvcError, trimEndOf } from "@svc/contract";
import type { RegisteredIngress, Registry } from "@svc/runtime";
import { daemonAt } from "../service/control.ts";
import { channelName, unknownChannel } from "../service/channels.ts";
import { withOfflineChannels } from "../service/features.ts";
import type { CommandContext } from "../cli/command.ts";
import { type OfflineOptions, offlineOptions } from "../service/handlers/call-here.ts";
import { printable } from "../cli/output.ts";

/** Exit 0 when the delivery was answered 200, 1 when it was answered otherwise. */
export async function run(context: CommandContext): Promise<number> {
  const [, typed = ""] = context.args;
  const text = context.options.text("text");
  if (text === undefined || text.trim() === "") throw new SvcError("USAGE", "--text says what the message is to say.");
  const offline = await offlineOptions(context);
  const composition = await context.build.load();
  const config = await loadConfig({ home: offline.home, ...offline.config });
  const sample = { channel: channelName(typed), text, from: context.options.text("from") };
  const base = context.options.text("url") ?? (await daemonUrl(offline));
  if (!isBase(base)) throw new SvcError("USAGE", "--url takes an http:// or https:// URL without a query.");
  const answer = await withOfflineChannels({ home: offline.home, composition, config }, (registry) =>
    sendSample(registry, { ...sample, base }),
  );
  if (context.options.flag("json")) context.printJson(answer);
  else context.print(printable(textOf(answer)));
  return answer.status === 200 ? EXIT.ok : EXIT.failure;
}

/** Behind a query the channel's path would be a part of that. */
function isBase(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === "";
}

/** Throws NOT_RUNNING. */
async function daemonUrl({ home }: OfflineOptions): Promise<string> {
  try {
    return (await daemonAt(home.controlSocket)({ name: "status" })).url;
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "NOT_RUNNING") throw error;
    throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon; or say where it is with --url." });
  }
}

function textOf({ url, status, body, took_ms: tookMs }: SampleAnswer): string {
  const said = `${url} answered ${status} in ${tookMs} ms: ${body}`;
  if (status === 200)
    return `${said}\nWhat became of it: svc inbox list. Who is not on the channel's list is not in there.`;
  if (status === 401) return `${said}\nThe running service has another secret than this config.`;
  return said;
}

/** A delivery as a channel's platform would make it, signed from the config, and what becomes of it. */
interface SampleAnswer {
  readonly url: string;
  readonly status: number;
  readonly body: string;
  readonly took_ms: number;
}

/** A platform waits ten seconds and more; a service that is well answers in milliseconds. */
const LONGEST_MS = 30_000;
const MOST_CHARS = 2_000;

interface Sample {
  readonly channel: string;
  readonly text: string;
  readonly from: string | undefined;
  /** Where the service is, with or without the channel's path: people have the callback URL at hand. */
  readonly base: string;
}

/** Throws CHANNEL_UNKNOWN, CHANNEL_CANNOT, REMOTE_UNREACHABLE, REMOTE_TIMEOUT. */
async function sendSample(registry: Registry, { channel, text, from, base }: Sample): Promise<SampleAnswer> {
  const { ingress } = ingressOf(registry, channel);
  const message: SampleMessage = { text, id: `sample-${randomUUID()}`, atMs: Date.now(), ...(from && { from }) };
  const { method, query, headers, body } = ingress.sample!(message);
  const root = trimEndOf(base, "/");
  const url = new URL(`${root.endsWith(ingress.path) ? root : root + ingress.path}${query}`);
  const startedAt = performance.now();
  try {
    const response = await fetch(url, {
      method,
      headers,
      body: Buffer.from(body),
      redirect: "manual",
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    const answered = (await response.text()).slice(0, MOST_CHARS);
    const took = Math.round(performance.now() - startedAt);
    // A callback URL may carry a token; the query is not shown.
    return { url: `${url.origin}${url.pathname}`, status: response.status, body: answered, took_ms: took };
  } catch (cause) {
    const isLate = cause instanceof Error && cause.name === "TimeoutError";
    throw new SvcError(isLate ? "REMOTE_TIMEOUT" : "REMOTE_UNREACHABLE", undefined, {
      hint: `Is the service at ${url.origin}? See: svc status`,
      cause,
    });
  }
}

function ingressOf(registry: Registry, channel: string): RegisteredIngress {
  const ways = registry.ingress.filter((way) => way.channel === channel);
  const found = ways.find(({ ingress }) => ingress.sample !== undefined);
  if (found) return found;
  if (ways.length > 0) {
    throw new SvcError("CHANNEL_CANNOT", "Deliveries of this channel are signed by its platform alone.", {
      hint: "Set webhook_secret in its section: a delivery may present that instead of a signature.",
    });
  }
  if (registry.channels.get(channel)) {
    throw new SvcError("CHANNEL_CANNOT", "This channel takes no deliveries of a platform.");
  }
  throw unknownChannel(channel, registry);
}
