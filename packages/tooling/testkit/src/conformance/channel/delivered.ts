/** Deliveries as the gateway hands them to an ingress. */
import type { Ingress, Parsed, RawRequest, SampleDelivery, Verdict } from "@svc/contract";
import { demand } from "../../check.ts";
import { ingressOf, type OpenChannel } from "./open.ts";
import type { ChannelSubject, DeliverySubject, PlatformMessage } from "./subject.ts";

export const NOW_MS = Date.UTC(2026, 0, 1, 12);

/** What checks of one ingress have in hand. */
export interface Endpoint {
  readonly opened: OpenChannel;
  readonly ingress: Ingress;
  readonly deliveries: DeliverySubject;
  /** A genuine delivery of a message of `deliveries.person`. */
  genuine(more?: Partial<PlatformMessage>): SampleDelivery;
  /** Of any body, as the platform would sign it. */
  signed(body: Uint8Array | string): SampleDelivery;
  verdict(delivery: SampleDelivery, atMs?: number): Verdict;
  parsed(delivery: SampleDelivery, atMs?: number): Parsed;
}

export function endpointOf(opened: OpenChannel, subject: ChannelSubject): Endpoint {
  const { deliveries } = subject;
  if (deliveries === undefined) throw new Error("the channel has an ingress, and its tests hand in no deliveries");
  const ingress = ingressOf(opened, subject);
  const { section } = opened;
  return {
    opened,
    ingress,
    deliveries,
    genuine: (more = {}) =>
      deliveries.message({ id: "message-1", text: "Hello", from: deliveries.person, atMs: NOW_MS, ...more }, section),
    signed: (body) => deliveries.signed(typeof body === "string" ? Buffer.from(body) : body, section, NOW_MS),
    verdict: (delivery, atMs = NOW_MS) => ingress.verify(rawOf(delivery, atMs, ingress.path)),
    parsed: (delivery, atMs = NOW_MS) => ingress.parse(rawOf(delivery, atMs, ingress.path)),
  };
}

/** What the gateway makes of a delivery. `path`: where it was posted. */
export function rawOf(
  { method, query, headers, body }: SampleDelivery,
  receivedAtMs: number,
  path: string = "/",
): RawRequest {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { method, query: new URLSearchParams(query), target: path + query, headers: lower, body, receivedAtMs };
}

/** All of a request, to see whether it was changed. */
export const stateOf = ({ method, query, headers, body }: RawRequest): string =>
  JSON.stringify([method, query.toString(), headers, Buffer.from(body).toString("base64")]);

export function demandRefused(verdict: Verdict, what: string): asserts verdict is Extract<Verdict, { ok: false }> {
  demand(!verdict.ok, `${what} is taken for genuine`);
  demand(REFUSALS.has(verdict.code), `${what} is refused with ${verdict.code}, which is no refusal of a delivery`);
}

const REFUSALS = new Set(["BAD_SIGNATURE", "UNAUTHORIZED", "BAD_VERIFY_TOKEN"]);

export function demandGenuine(verdict: Verdict, what: string): asserts verdict is Extract<Verdict, { ok: true }> {
  demand(verdict.ok, `${what} is refused: ${verdict.ok ? "" : verdict.why}`);
}

/** How many messages, or notices where a channel has none of its own. */
export const countOf = ({ inbound = [], notices = [] }: Parsed): number => inbound.length + notices.length;

export const idsOf = ({ inbound = [], notices = [] }: Parsed): (string | undefined)[] =>
  [...inbound, ...notices].map(({ id }) => id);
