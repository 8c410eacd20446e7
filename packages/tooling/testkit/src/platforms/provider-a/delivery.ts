/** Deliveries as the platform posts them: signed over the bytes with the app secret. */
import type { Json, SampleDelivery } from "@svc/contract";
import { createHmac } from "node:crypto";

export interface ProviderANumber {
  readonly phoneNumberId: string;
  /** Default: a number of the documents. */
  readonly displayPhoneNumber?: string;
  /** Signs; without one the delivery is not signed. */
  readonly appSecret: string | undefined;
}

export interface ProviderAMessage {
  readonly id: string;
  /** A phone number, with or without the `+`. */
  readonly from: string;
  readonly atMs: number;
  /** Default: "Sheena Nelson". */
  readonly name?: string;
  /** Of a text. */
  readonly text?: string;
  /** Of another type: `{ type: "image", image: { … } }`; also `context`, `group_id` and the like. */
  readonly content?: Readonly<Record<string, Json>>;
}

export interface ProviderAStatus {
  readonly id: string;
  readonly status: string;
  readonly recipient: string;
  readonly atMs: number;
  /** Number of the error, with `failed`. */
  readonly errorCode?: number;
}

export const providerADelivery = (number: ProviderANumber, message: ProviderAMessage): SampleDelivery =>
  signedByProviderA(number, Buffer.from(JSON.stringify(payload(number, messagesValue([message])))));

/** Several messages in one delivery, as the platform batches them. */
export const providerABatch = (number: ProviderANumber, messages: readonly ProviderAMessage[]): SampleDelivery =>
  signedByProviderA(number, Buffer.from(JSON.stringify(payload(number, messagesValue(messages)))));

export const providerAStatus = (number: ProviderANumber, status: ProviderAStatus): SampleDelivery =>
  signedByProviderA(number, Buffer.from(JSON.stringify(payload(number, { statuses: [statusJson(status)] }))));

/** Any bytes, signed. */
export function signedByProviderA({ appSecret }: Pick<ProviderANumber, "appSecret">, body: Uint8Array): SampleDelivery {
  const signed =
    appSecret === undefined
      ? {}
      : { "x-hub-signature-256": `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}` };
  const headers = { "content-type": "application/json", "user-agent": "facebookexternalua", ...signed };
  return { method: "POST", query: "", headers, body };
}

function payload({ phoneNumberId, displayPhoneNumber = "15550783881" }: ProviderANumber, value: Fields): Json {
  const metadata = { display_phone_number: displayPhoneNumber, phone_number_id: phoneNumberId };
  const change = { value: { messaging_product: "whatsapp", metadata, ...value }, field: "messages" };
  return { object: "whatsapp_business_account", entry: [{ id: "102290129340398", changes: [change] }] };
}

type Fields = Readonly<Record<string, Json>>;

const messagesValue = (messages: readonly ProviderAMessage[]): Fields => ({
  contacts: messages.map(({ from, name = "Sheena Nelson" }) => ({ profile: { name }, wa_id: digits(from) })),
  messages: messages.map(({ id, from, atMs, text, content }) => ({
    from: digits(from),
    id,
    timestamp: seconds(atMs),
    ...(content ?? { type: "text", text: { body: text ?? "" } }),
  })),
});

const statusJson = ({ id, status, recipient, atMs, errorCode }: ProviderAStatus): Json => ({
  id,
  status,
  timestamp: seconds(atMs),
  recipient_id: digits(recipient),
  ...(status === "failed" ? { errors: [errorJson(errorCode ?? 131000)] } : CHARGED),
});

const CHARGED = {
  conversation: { id: "bd2c1ae6bc4b1c6bbd2c1ae6bc4b1c6b", origin: { type: "service" } },
  pricing: { billable: false, pricing_model: "PMP", category: "service", type: "free_customer_service" },
};

const errorJson = (code: number): Json => ({
  code,
  title: "Title of the platform's",
  message: "Message of the platform's",
  error_data: { details: "Details of the platform's" },
  href: "/documentation/business-messaging/whatsapp/support/error-codes",
});

const digits = (number: string): string => number.replace(/^\+/, "");
const seconds = (ms: number): string => String(Math.floor(ms / 1000));
