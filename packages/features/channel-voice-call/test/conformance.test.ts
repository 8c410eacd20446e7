// What every feature and every channel keeps, against a platform that takes only what its documents say.
import {
  channelConformance,
  type DeliverySubject,
  type PlatformMessage,
  type Section,
} from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { startVoicePlatform, type VoicePlatform } from "@svc/testkit/platforms/voice-call/server";
import { signedForm, voiceDelivery } from "@svc/testkit/platforms/voice-call/signed";
import { parseTwiml, type TwimlNode } from "@svc/testkit/platforms/voice-call/twiml";
import { createHash } from "node:crypto";
import definition from "../src/index.ts";
import { initialProgress, queryOf } from "../src/progress.ts";
import { ACCOUNT, NUMBER, PERSON, SECTION, STRANGER, TOKEN } from "./fixture.ts";

const root = `${import.meta.dirname}/..`;
const base = "https://svc.example.org";
const PATH = "/voice-call/speech";

featureConformance(definition, { root, config: SECTION });

/** What people hear of a call, and what its keys say. */
type Platform = VoicePlatform & {
  readonly sent: readonly { readonly text: string; readonly buttons: readonly string[] }[];
};

async function platform(): Promise<Platform> {
  const made = await startVoicePlatform({ accountSid: ACCOUNT, authToken: TOKEN, number: NUMBER, pace: "instant" });
  const calls = made.sent;
  return Object.defineProperty(made, "sent", {
    get: () => calls.map((call) => ({ ...call, buttons: keysIn(call.text) })),
  }) as Platform;
}

const keysIn = (text: string): string[] => /Press 1 for (.+), or 2 for (.+)\.$/.exec(text)?.slice(1) ?? [];

const tokenOf = (section: Section): string => String(section["auth_token"]);
const sidOf = (id: string): string => `CA${createHash("md5").update(id).digest("hex")}`;

function spoken(
  message: Omit<PlatformMessage, "text">,
  section: Section,
  query: string,
  fields: Record<string, string>,
) {
  const to = { authToken: tokenOf(section), base, path: PATH, query };
  const call = { AccountSid: ACCOUNT, ApiVersion: "2010-04-01", CallSid: sidOf(message.id), CallStatus: "in-progress" };
  return voiceDelivery(to, { ...call, Direction: "inbound", From: message.from, To: NUMBER, ...fields });
}

const deliveries: DeliverySubject = {
  path: PATH,
  person: PERSON,
  stranger: STRANGER,
  encoding: "form",
  message: (message, section) =>
    spoken(message, section, queryOf(initialProgress(message.atMs)), { SpeechResult: message.text, Confidence: "0.9" }),
  signed: (body, section, atMs) =>
    signedForm({ authToken: tokenOf(section), base, path: PATH, query: queryOf(initialProgress(atMs)) }, body),
  proves: "body",
  freshness: { by: "age" },
};

const actionOf = (verbs: readonly TwimlNode[]): string =>
  verbs.map(({ attributes, children }) => attributes["action"] ?? actionOf(children)).find((action) => action !== "") ??
  "";

for (const recognizer of ["platform", "transcription"] as const) {
  channelConformance<Platform>(definition, {
    root,
    platform,
    config: ({ url }) => ({
      ...SECTION,
      api_url: url,
      webhook_url: base,
      recognizer,
      // Who is on no one's mind is not called up: this is the number that is.
      notification_target: PERSON,
    }),
    conversation: () => ({ id: PERSON }),
    deliveries,
    prompts: {
      pressed({ sent }, { approved, ...press }, section) {
        const { search } = new URL(actionOf(parseTwiml(sent.at(-1)!.twiml)));
        return spoken(press, section, search, { Digits: approved ? "1" : "2" });
      },
    },
    ...(recognizer === "transcription" && {
      media: {
        file: ({ recordings }, bytes) => audio(recordings, bytes),
        leadingTo({ recordings, moved }, url) {
          const file = audio(recordings, new Uint8Array(1));
          moved.set(file.ref, url);
          return file;
        },
      },
    }),
    // What is longer could not be said by an update of a call.
    ownTextLimit: true,
    formats: true,
    idempotent: true,
  });
}

function audio(recordings: Map<string, Uint8Array>, bytes: Uint8Array) {
  const ref = `RE${createHash("md5").update(`${recordings.size}`).digest("hex")}`;
  recordings.set(ref, bytes);
  return { kind: "audio", ref, placeholder: "[audio]", mimeType: "audio/mpeg" } as const;
}
