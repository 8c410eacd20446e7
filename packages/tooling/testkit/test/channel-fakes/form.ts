/** The same channel where the platform posts forms: what is JSON elsewhere is one field of them. */
import type { RawRequest, SampleDelivery } from "@svc/contract";
import type { ChannelSubject, DeliverySubject } from "../../src/conformance/channel-conformance.ts";
import type { ChatPlatform } from "./platform.ts";
import { type Broken, inIngress, inParse, type Spoil } from "./spoil.ts";

const SHAPE = "a form of an unknown shape holds no messages";
const WHATEVER = "whatever form comes, parse does not fail, and what it finds is sound";
const CHANGED = "one that was changed on the way is not, where a delivery proves its body";

export const FORM_RULES: readonly string[] = [SHAPE, WHATEVER];

const payloadOf = (request: RawRequest): RawRequest => {
  const payload = new URLSearchParams(Buffer.from(request.body).toString("utf8")).get("payload") ?? "{}";
  return { ...request, body: Buffer.from(payload) };
};

/** A sound one. */
export const reading =
  (spoil: Spoil = (parts) => parts): Spoil =>
  (parts, context) => {
    const forms = inIngress(({ parse, sample }) => ({
      parse(request) {
        if (request.method === "GET") return parse(request);
        try {
          return parse(payloadOf(request));
        } catch {
          return {};
        }
      },
      sample: (message) => sample!(message),
    }));
    return spoil(forms(parts, context), context);
  };

export function formSubject(subject: ChannelSubject<ChatPlatform> & { readonly deliveries: DeliverySubject }) {
  const { deliveries } = subject;
  const written = (delivery: SampleDelivery, section: Parameters<DeliverySubject["signed"]>[1], atMs: number) =>
    deliveries.signed(
      Buffer.from(new URLSearchParams({ payload: Buffer.from(delivery.body).toString() }).toString()),
      section,
      atMs,
    );
  return {
    ...subject,
    deliveries: {
      ...deliveries,
      encoding: "form" as const,
      message: (told, section) => written(deliveries.message(told, section), section, told.atMs),
      own: (told, section) => written(deliveries.own!(told, section), section, told.atMs),
    } satisfies DeliverySubject,
  };
}

const found = { id: "x", sender: "alice", conversation: { channel: "chat", id: "room-1" }, text: "x" };

export const BROKEN_FORMS: readonly Broken[] = [
  [
    "a message in every form",
    SHAPE,
    reading(inParse((parse) => (request) => ({ inbound: [found], ...parse(request) }))),
  ],
  [
    "an error for a form without its field",
    SHAPE,
    reading(
      inParse((parse) => (request) => {
        if (!Buffer.from(request.body).includes("payload")) throw new Error("no payload");
        return parse(request);
      }),
    ),
  ],
  ["an error for a value that is no JSON", WHATEVER, inParse((parse) => (request) => parse(payloadOf(request)))],
  [
    "what it finds in an odd form can't be kept",
    WHATEVER,
    reading(
      inParse((parse) => (request) => {
        const isOdd = Buffer.from(request.body).includes("__proto__");
        return isOdd ? { inbound: [{ ...found, text: "" }] } : parse(request);
      }),
    ),
  ],
  ["anything is taken for genuine", CHANGED, reading(inIngress(() => ({ verify: () => ({ ok: true }) })))],
];
