/** Deliveries as bytes on the wire, each with an id and a signature of its own, made before anything is measured. */
import type { SampleDelivery } from "@svc/contract";
import { PROVIDERS } from "./providers.ts";

export interface DeliveryBatch {
  readonly provider: string;
  readonly count: number;
  /** How many conversations they belong to, by turns. */
  readonly conversations: number;
  /** Number of the first one; deliveries of one number are one message. */
  readonly from: number;
}

export function deliveryRequests({ provider, count, conversations, from }: DeliveryBatch, port: number): Buffer[] {
  const { path, delivery } = PROVIDERS[provider]!;
  const nowMs = Date.now();
  return Array.from({ length: count }, (_, index) =>
    requestBytes(path, port, delivery(from + index, index % conversations, nowMs)),
  );
}

function requestBytes(path: string, port: number, { method, query, headers, body }: SampleDelivery): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path}${query} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join("")}content-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
