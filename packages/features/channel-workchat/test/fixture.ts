/** The channel as the tests set it up: the section, and the feature in this process, with or without its platform. */
import type { Channel, Inbound, Ingress, Json, OutgoingMessage, SvcError } from "@svc/contract";
import type { Section } from "@svc/testkit/conformance/channel-conformance";
import { openChannel, type OpenedChannel } from "@svc/testkit/open-channel";
import { WORKCHAT_APP, workchatDmOf, workchatId } from "@svc/testkit/platforms/workchat/events";
import { startWorkchat, type Workchat } from "@svc/testkit/platforms/workchat/server";
import type { Config } from "../src/config.ts";
import definitions from "../src/index.ts";
import { create } from "../src/workchat.ts";

export const [WORKCHAT, WORKCHAT_CN] = definitions;

export const SECRETS = {
  app_secret: "app-secret-of-the-workchat-tests",
  encrypt_key: "encrypt-key-of-the-workchat-tests",
  verification_token: "verification-token-of-the-tests",
};
export const PERSON = workchatId("ou", "ada");
export const STRANGER = workchatId("ou", "eve");
export const DM = workchatDmOf(PERSON);

/** As TOML gives it. */
export const SECTION = { app_id: WORKCHAT_APP.appId, ...SECRETS, allowed_users: [PERSON] };

/** When the tests play. */
export const NOW_MS = Date.UTC(2026, 5, 1);
export const never = new AbortController().signal;

export const platform = (): Promise<Workchat> =>
  startWorkchat({ appSecret: SECRETS.app_secret, people: [PERSON, STRANGER] });

type Needed = "readMarks" | "media" | "prompts" | "drafts" | "check" | "setup";

export interface Fixture extends Omit<OpenedChannel<Config>, "channel"> {
  readonly channel: Channel & Required<Pick<Channel, Needed>>;
}

/** `section`: what is different in it; `undefined` takes a key away. */
export function fixture(
  section: Section = {},
  given: Parameters<typeof openChannel<Config>>[2] = {},
  channel: "workchat" | "workchat_cn" = "workchat",
): Fixture {
  const definition = channel === "workchat" ? WORKCHAT : WORKCHAT_CN;
  const opened = { definition, create: create(channel) };
  return openChannel<Config>(opened, { ...SECTION, ...section }, { nowMs: NOW_MS, ...given }) as Fixture;
}

/** The channel and a platform that knows it. */
export async function withPlatform(
  section: Section = {},
  given: Parameters<typeof openChannel<Config>>[2] = {},
): Promise<Fixture & { workchat: Workchat } & AsyncDisposable> {
  const workchat = await platform();
  const made = fixture({ api_url: workchat.url, ...section }, given);
  await made.made.register?.(never);
  return { ...made, workchat, [Symbol.asyncDispose]: () => workchat.close() };
}

/** In the mode "webhook", without secrets: what is made of a payload. */
export function inboundOf(payload: Json, section: Section = {}): readonly Inbound[] {
  const keys = { receive_mode: "webhook", encrypt_key: undefined, verification_token: undefined, mention_only: false };
  return ingressOf({ ...keys, ...section }).parse(posted(JSON.stringify(payload))).inbound ?? [];
}

export const ingressOf = (section: Section = {}): Ingress =>
  fixture({ receive_mode: "webhook", ...section }).ingress[0]!;

export const posted = (
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Parameters<Ingress["parse"]>[0] => ({
  method: "POST",
  query: new URLSearchParams(),
  target: "/workchat",
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" ? Buffer.from(body) : body,
  receivedAtMs: NOW_MS,
});

export const message = (text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  conversation: { channel: "workchat", id: DM },
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
