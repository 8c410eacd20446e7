/** The channel as the tests set it up: the section, and the feature in this process, with or without its platform. */
import type { Channel, Ingress, OutgoingMessage, Parsed, RawRequest, SvcError } from "@svc/contract";
import type { Section } from "@svc/testkit/conformance/channel-conformance";
import { openChannel, type OpenedChannel } from "@svc/testkit/open-channel";
import { type Slack, startSlack } from "@svc/testkit/platforms/slack/server";
import type { Config } from "../src/config.ts";
import definition from "../src/index.ts";
import { create } from "../src/slack.ts";

export const TOKENS = { botToken: "xoxb-12-34-bot-token", appToken: "xapp-1-A0APP-34-app-token" };
export const SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
export const PERSON = "U0PERSON1";
export const STRANGER = "U0STRANGE";
const PEOPLE = [
  { id: PERSON, name: "ada", displayName: "Ada" },
  { id: STRANGER, name: "eve" },
];

/** As TOML gives it. */
export const SECTION = {
  bot_token: TOKENS.botToken,
  app_token: TOKENS.appToken,
  signing_secret: SIGNING_SECRET,
  allowed_users: [PERSON],
};

/** When the tests play. */
export const NOW_MS = Date.UTC(2026, 5, 1);

export const never = new AbortController().signal;

export const platform = (): Promise<Slack> => startSlack({ ...TOKENS, people: PEOPLE });

type Needed = "typing" | "readMarks" | "media" | "prompts" | "drafts" | "check" | "setup";

export interface Fixture extends Omit<OpenedChannel<Config>, "channel"> {
  readonly channel: Channel & Required<Pick<Channel, Needed>>;
}

/** `section`: what is different in it; `undefined` takes a key away. */
export function fixture(section: Section = {}, given: Parameters<typeof openChannel<Config>>[2] = {}): Fixture {
  return openChannel<Config>(
    { definition, create },
    { ...SECTION, ...section },
    { nowMs: NOW_MS, ...given },
  ) as Fixture;
}

/** The channel and a platform that knows it. */
export async function fixtureAndPlatform(
  section: Section = {},
  given: Parameters<typeof openChannel<Config>>[2] = {},
): Promise<Fixture & { slack: Slack } & AsyncDisposable> {
  const slack = await platform();
  const made = fixture({ api_url: slack.apiUrl, ...section }, given);
  await made.made.register?.(never);
  return { ...made, slack, [Symbol.asyncDispose]: () => slack.close() };
}

export const ingressAt = ({ ingress }: Pick<Fixture, "ingress">, path = "/slack/events"): Ingress =>
  ingress.find((one) => one.path === path)!;

/** What is posted in the mode "events". */
export function posted(body: string | Uint8Array, headers: RawRequest["headers"] = {}): RawRequest {
  return {
    method: "POST",
    query: new URLSearchParams(),
    target: "/slack/events",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? Buffer.from(body) : body,
    receivedAtMs: NOW_MS,
  };
}

/** What is made of a payload. */
export const parsed = (payload: unknown, section: Section = {}): Parsed =>
  ingressAt(fixture({ mode: "events", ...section })).parse(posted(JSON.stringify(payload)));

export const message = (text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  conversation: { channel: "slack", id: `D${PERSON.slice(1)}` },
  text,
  deliveryId: "delivery-1",
  ...more,
});

/** What something that has to fail fails with. */
export const failure = async (work: Promise<unknown>): Promise<SvcError> => {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) throw new Error("it succeeds");
  return error as SvcError;
};
