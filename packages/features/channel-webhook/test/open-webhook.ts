/** The channel as the kernel makes it, and what it sends. */
import type { OutgoingMessage } from "@svc/contract";
import type { Section } from "@svc/testkit/conformance/channel-conformance";
import { openChannel, type OpenedChannel } from "@svc/testkit/open-channel";
import definition, { type Config } from "../src/index.ts";
import { create } from "../src/webhook.ts";

export const SECRET = "whsec_b3V0Z29pbmctd2ViaG9vay1rZXktMDEyMzQ1";
export const never = new AbortController().signal;

export const open = (section: Section, given?: Parameters<typeof openChannel<Config>>[2]): OpenedChannel<Config> =>
  openChannel({ definition, create }, section, given);

export const message = (more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  conversation: { channel: "webhook", id: "operations" },
  text: "The backup is done.",
  deliveryId: "8a6f0a4e-5a8e-4a1e-9d0c-3f1f6f9f8c11",
  ...more,
});
